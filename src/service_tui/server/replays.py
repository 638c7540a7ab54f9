"""A backtest, worked out: entries at the prices of now, under thresholds, as a body.

Knows engine values, rows of entries and wire bodies. Must not know HTTP.
Used by the route of the backtest.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from service_tui.engine.backtest import (
    Point,
    Replay,
    Replayed,
    Threshold,
    replay,
    sweep,
    threshold_of,
    thresholds_of,
)
from service_tui.engine.exits import mark_of
from service_tui.engine.world import World
from service_tui.storage.entries import Entries, Replayable, Wanted
from service_tui.terms import Side, Venue
from service_tui.units import Micros, decimal
from service_tui.wire.research import BacktestBody, BacktestPointBody, BacktestRequest

KEYS_OF: Final = 500
"""So many of the newest trades say which figures there are."""

Prices = Mapping[str, float]
"""What a share of YES is worth now, by market; None of markets that are forgotten."""


@dataclass(frozen=True, slots=True)
class Found:
    """What the database holds for a backtest; `silent` counts the buys that came without a signal.

    `signals` are the figures of `rows`, in the same order.
    """

    rows: Sequence[Replayable]
    signals: Sequence[Mapping[str, float]]
    silent: int

    def keys(self) -> tuple[str, ...]:
        """Names of the figures that the newest trades carry."""
        lately = self.signals[-KEYS_OF:]
        return tuple(sorted({key for one in lately for key in one}))


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


def read(entries: Entries, wanted: Wanted) -> Found:
    """Everything that is on disk for it; blocks."""
    rows = entries.replay(wanted)
    # One text is read much faster than a hundred thousand.
    signals: list[dict[str, float]] = json.loads(f"[{','.join([row[4] for row in rows])}]")
    return Found(rows, signals, entries.silent(wanted))


def prices_of(world: World, found: Found, venue: Venue) -> Prices:
    """What the markets are worth in which something is held still."""
    held = {row[2] for row in found.rows if row[2] is not None}
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
    """The figures of a backtest; pure, and some tenths of a second for very many trades."""
    keys = thresholds.keys
    columns = [[one.get(key) for one in found.signals] for key in keys]
    figures = list(zip(*columns, strict=True)) if keys else [()] * len(found.rows)
    trades = [
        Replayed(Micros(gained), is_open=False, signals=signals)
        if not held
        else _valued(row, signals, prices)
        for (row, signals) in zip(found.rows, figures, strict=True)
        for (gained, held) in (row[:2],)
    ]
    told = [one for one in trades if one is not None]
    original = Micros(sum(one.pnl for one in told))
    chosen = replay(_with(told, keys, thresholds.config), thresholds.config)
    unknown = tuple(
        key for place, key in enumerate(keys) if all(one.signals[place] is None for one in told)
    )
    body = BacktestBody(
        trades_total=len(told),
        trades_included=chosen.included,
        trades_excluded=chosen.excluded,
        simulated_pnl=decimal(chosen.pnl),
        original_pnl=decimal(original),
        win_rate=chosen.win_rate or 0.0,
        improvement_pct=chosen.improvement_pct(original),
        message=_message(said, found, unknown if told else (), chosen),
        trades_without_signal=found.silent,
        trades_open=sum(one.is_open for one in told),
        unknown_keys=unknown if told else (),
        keys=found.keys(),
        days=said.days,
        venue=said.venue,
        skill_slug=said.skill_slug,
    )
    if not said.sweep:
        return body
    passing = _passing(told, keys, thresholds)
    tried = sweep(passing, thresholds.swept, list(said.sweep.values()))
    points = [_point(point, said, thresholds, (len(told), original)) for point in tried]
    best = max(points, key=lambda one: one.simulated_pnl)
    return body.model_copy(update={"points": tuple(points), "best": best})


def _valued(row: Replayable, signals: tuple[float | None, ...], prices: Prices) -> Replayed | None:
    """A trade that is held still, at the price of now; None where nobody can say its worth."""
    gained, held, market_id, side, _ = row
    price = prices.get(market_id or "")
    if price is None:
        return None
    worth = price if side == Side.YES.value else 1.0 - price
    return Replayed(Micros(gained + int(held * worth)), is_open=True, signals=signals)


def _with(
    trades: Iterable[Replayed], keys: Sequence[str], wanted: Sequence[Threshold]
) -> list[Replayed]:
    """The same trades with the signals of these thresholds only, in their order."""
    places = [keys.index(one.key) for one in wanted]
    if places == list(range(len(keys))):
        return list(trades)
    return [
        Replayed(pnl, is_open, tuple(signals[place] for place in places))
        for pnl, is_open, signals in trades
    ]


def _passing(
    trades: Sequence[Replayed], keys: Sequence[str], thresholds: Thresholds
) -> list[Replayed]:
    """Trades that pass what holds throughout, with the signals of what is swept."""
    checks = [(keys.index(one.key), one) for one in thresholds.fixed]
    passing = [
        trade for trade in trades if all(one.passes(trade.signals[place]) for place, one in checks)
    ]
    return _with(passing, keys, thresholds.swept)


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
    if not found.rows and not found.silent:
        return f"there is no trade of {where}: look at the skill's slug, the venue and the days"
    if not found.rows:
        return (
            f"none of the {found.silent} trades of {where} carries signal_data, so there is "
            "nothing to replay: pass signal_data to trade()"
        )
    told: list[str] = []
    if unknown:
        named = ", ".join(unknown)
        known = ", ".join(found.keys()) or "none"
        told.append(f"no trade carries a figure named {named}, which excludes all; known: {known}")
    if found.silent:
        told.append(f"{found.silent} trades carry no signal_data and were left out")
    if chosen.included and not chosen.decided:
        told.append("nothing that passes is decided yet: it is valued at the prices of now")
    return "; ".join(told)
