"""A backtest, worked out: entries at the prices of now, under thresholds, as a body.

Knows engine values, rows of entries and wire bodies. Must not know HTTP.
Used by the route of the backtest.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service_tui.engine.backtest import (
    Point,
    Replay,
    Replayed,
    Threshold,
    sweep,
    threshold_of,
    thresholds_of,
)
from service_tui.engine.exit_values import mark_of
from service_tui.engine.world import World
from service_tui.storage.entries import Bound, Entries, Replayable, Sums, Wanted
from service_tui.terms import Side, Venue
from service_tui.units import Micros, decimal
from service_tui.wire.research import BacktestBody, BacktestPointBody, BacktestRequest

Prices = Mapping[str, float]
"""What a share of YES is worth now, by market; None of markets that are forgotten."""


@dataclass(frozen=True, slots=True)
class Found:
    """What the database holds for a backtest.

    `sums` are all entries added up, and those that pass its config; `rows` every single one, for a
    sweep only. `keys` are figures that the newest carry, `unknown` those that none carries though
    a threshold asks for them; `silent` counts the buys that came without a signal.
    """

    sums: Sequence[Sums]
    rows: Sequence[Replayable]
    keys: tuple[str, ...]
    unknown: tuple[str, ...]
    silent: int

    @property
    def total(self) -> int:
        """Entries that carry signals."""
        return sum(one.bought for one in self.sums)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """All of a request: those of its config, those that hold throughout, those that are swept."""

    config: tuple[Threshold, ...]
    fixed: tuple[Threshold, ...]
    swept: tuple[Threshold, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """Signals that are asked for, each once."""
        return tuple(dict.fromkeys(one.key for one in (*self.config, *self.swept)))


def thresholds_in(said: BacktestRequest) -> Thresholds:
    """What a request asks for: a key that is swept stands for itself, the others hold beside it."""
    grid = said.sweep or {}
    return Thresholds(
        config=thresholds_of(said.config),
        fixed=thresholds_of({key: one for key, one in said.config.items() if key not in grid}),
        swept=tuple(threshold_of(key, 0.0) for key in grid),
    )


def read(entries: Entries, wanted: Wanted, thresholds: Thresholds) -> Found:
    """Everything that is on disk for it; blocks."""
    bounds = [Bound(one.key, one.is_max, one.value) for one in thresholds.config]
    keys: set[str] = set()
    for signal in entries.signals_lately(wanted):
        keys |= json.loads(signal).keys()
    return Found(
        sums=entries.sums(wanted, bounds),
        rows=entries.replay(wanted) if thresholds.swept else (),
        keys=tuple(sorted(keys)),
        unknown=tuple(
            key for key in thresholds.keys if key not in keys and not entries.carries(wanted, key)
        ),
        silent=entries.silent(wanted),
    )


def prices_of(world: World, found: Found, venue: Venue) -> Prices:
    """What the markets are worth in which something is held still."""
    held = {one.market_id for one in found.sums if one.market_id is not None}
    times = (world.at, world.world_at)
    prices: dict[str, float] = {}
    for market_id in held:
        market = world.markets.get(market_id)
        if market is None:
            continue
        if market.outcome is not None:
            prices[market_id] = 1.0 if market.outcome else 0.0
        else:
            prices[market_id] = mark_of(world, venue, market_id, times)
    return prices


def weigh(
    said: BacktestRequest, thresholds: Thresholds, found: Found, prices: Prices
) -> BacktestBody:
    """The figures of a backtest; pure, and some tenths of a second for a sweep of very many."""
    original, chosen = _added_up(found.sums, prices)
    total = chosen.included + chosen.excluded
    unknown = found.unknown if total else ()
    body = BacktestBody(
        trades_total=total,
        trades_included=chosen.included,
        trades_excluded=chosen.excluded,
        simulated_pnl=decimal(chosen.pnl),
        original_pnl=decimal(original),
        win_rate=chosen.win_rate or 0.0,
        improvement_pct=chosen.improvement_pct(original),
        message=_message(said, found, unknown, chosen),
        trades_without_signal=found.silent,
        trades_open=sum(one.bought for one in found.sums if one.market_id is not None),
        unknown_keys=unknown,
        keys=found.keys,
        days=said.days,
        venue=said.venue,
        skill_slug=said.skill_slug,
    )
    if not said.sweep:
        return body
    passing = _passing(found.rows, thresholds, prices)
    tried = sweep(passing, thresholds.swept, list(said.sweep.values()))
    points = [_point(point, said, thresholds, (total, original)) for point in tried]
    best = max(points, key=lambda one: one.simulated_pnl)
    return body.model_copy(update={"points": tuple(points), "best": best})


def _added_up(sums: Sequence[Sums], prices: Prices) -> tuple[Micros, Replay]:
    """What all of it brought, and what passes; what is held counts at the price of now.

    What nobody can say the worth of is left out of both.

    Returns:
        The original P&L, and what passes.
    """
    original = pnl = included = excluded = decided = won = 0
    for one in sums:
        worth = _worth(one.market_id, one.side, prices)
        if worth is None:
            continue
        original += one.gained + int(one.held * worth)
        pnl += one.passed_gained + int(one.passed_held * worth)
        included += one.passed
        excluded += one.bought - one.passed
        if one.market_id is None:
            decided += one.passed
            won += one.won
    return Micros(original), Replay(included, excluded, Micros(pnl), decided, won)


def _worth(market_id: str | None, side: str | None, prices: Prices) -> float | None:
    """What a share of a side is worth; 0 of what is decided, None where nobody can say."""
    if market_id is None:
        return 0.0
    price = prices.get(market_id)
    if price is None:
        return None
    return price if side == Side.YES.value else 1.0 - price


def _passing(rows: Sequence[Replayable], thresholds: Thresholds, prices: Prices) -> list[Replayed]:
    """Trades that pass what holds throughout, with the signals of what is swept."""
    # One text is read much faster than a hundred thousand.
    signals: list[dict[str, float]] = json.loads(f"[{','.join([row[4] for row in rows])}]")
    keys = [one.key for one in thresholds.swept]
    found: list[Replayed] = []
    for (gained, held, market_id, side, _), carried in zip(rows, signals, strict=True):
        if not all(one.passes(carried.get(one.key)) for one in thresholds.fixed):
            continue
        worth = _worth(market_id, side, prices)
        if worth is not None:
            pnl = Micros(gained + int(held * worth))
            figures = tuple([carried.get(key) for key in keys])
            found.append(Replayed(pnl, is_open=bool(held), signals=figures))
    return found


def _point(
    point: Point, said: BacktestRequest, thresholds: Thresholds, of: tuple[int, Micros]
) -> BacktestPointBody:
    values, found = point
    total, original = of
    chosen = {one.name: value for one, value in zip(thresholds.swept, values, strict=True)}
    return BacktestPointBody(
        config={**said.config, **chosen},
        trades_included=found.included,
        trades_excluded=total - found.included,
        simulated_pnl=decimal(found.pnl),
        win_rate=found.win_rate,
        improvement_pct=found.improvement_pct(original),
    )


def _message(said: BacktestRequest, found: Found, unknown: Sequence[str], chosen: Replay) -> str:
    """What makes the figures mean something, or nothing."""
    where = f"{said.skill_slug} on {said.venue.value} in the last {said.days} days"
    if not found.total and not found.silent:
        return f"this agent has no trade of {where}: look at the slug, the venue and the days"
    if not found.total:
        return (
            f"none of the {found.silent} trades of {where} carries signal_data, so there is "
            "nothing to replay: pass signal_data to trade()"
        )
    told: list[str] = []
    if unknown:
        named = ", ".join(unknown)
        known = ", ".join(found.keys) or "none"
        told.append(f"no trade carries a figure named {named}, which excludes all; known: {known}")
    if found.silent:
        told.append(f"{found.silent} trades carry no signal_data and were left out")
    if chosen.included and not chosen.decided:
        told.append("nothing that passes is decided yet: it is valued at the prices of now")
    return "; ".join(told)
