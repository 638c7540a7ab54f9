"""Needs of positions: to redeem, about to resolve, far moved, settled. Pure."""

from collections.abc import Iterator
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import is_private, of_world, world_now
from service_tui.console.keys import cap
from service_tui.console.questions import short_question, side_question
from service_tui.console.ranking import Need
from service_tui.console.reasons import fix_text
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.redemption import ChainRunState
from service_tui.desk.state import DeskState
from service_tui.terms import MarketStatus, Side, Venue
from service_tui.units import Timestamp

RESOLVES_WITHIN_S: Final = 900.0
"""A position whose market resolves within this world time can still be closed."""

MOVED_FROM: Final = 0.15
"""A move that needs a look, as a part of the position, since the buy or in 24 hours."""

DAY_S: Final = 86_400.0
"""A younger position counts the move since its buy alone; in world time."""

SETTLED_FOR_S: Final = 3_600.0
"""How long, in world time, a settled position stays listed."""

MOVED_MAX: Final = 10
"""Most moves listed: a longer list would hide the largest."""


def of_positions(state: DeskState, now: Timestamp) -> Iterator[Need]:
    """Rows about open, resolving and settled positions."""
    yield from _redeemable(state)
    yield from _resolving(state, now)
    yield from _moved(state, now)
    yield from _settled(state, now)


def _redeemable(state: DeskState) -> Iterator[Need]:
    """Winnings on a real venue that await redemption; automatic ones need nobody."""
    auto = state.redemption.auto
    is_automatic = auto.is_on and not auto.paused
    for row in state.redemption.rows:
        run = state.redemption.run(row.key)
        if run is not None and run.state is ChainRunState.UNCONFIRMED:
            yield Need(
                key=f"unconfirmed:{row.key}",
                tone="warn",
                glyph="◌",
                word="unconfirmed",
                what=short_question(row.question),
                figure=Text(),
                otherwise="looked up until it is confirmed",
                screen="redemption",
                row=row.key,
                note=f"in {run.money}{_after_colon(fix_text(run.fix))}",
                is_real=True,
                money=run.amount,
                is_pinned=True,
            )
        elif row in state.redemption.ready and not is_automatic:
            yield Need(
                key=f"redeem:{row.key}",
                tone="profit",
                glyph="●",
                word="redeem",
                what=short_question(row.question),
                figure=Text(),
                otherwise="stays unredeemed",
                screen="redemption",
                row=row.key,
                note=f"in {row.money}{_after_colon(auto.paused)}",
                is_real=True,
                is_dismissable=True,
                money=row.amount,
                verb="Redeem",
                act="redemption.redeem",
            )


def _after_colon(text: str) -> str:
    return f": {text}" if text else ""


def _resolving(state: DeskState, now: Timestamp) -> Iterator[Need]:
    world, pace = world_now(state, now), _pace(state)
    clock = of_world(state)
    for position in state.positions:
        if position.status is not MarketStatus.ACTIVE or position.resolves_at is None:
            continue
        left = position.resolves_at - world
        if left <= RESOLVES_WITHIN_S:
            yield Need(
                key=f"resolves {position.key}",
                tone="accent",
                glyph="◷",
                word="resolves",
                what=_position_text(position),
                figure=Text(),
                otherwise=f"held to resolution{clock}",
                screen="portfolio",
                row=position.key,
                left_s=max(0.0, left) / pace,
                is_real=position.venue is not Venue.SIM,
                money=position.mark_value,
                verb="Sell",
                act="portfolio.sell",
                topic="resolving positions",
            )


def _pace(state: DeskState) -> float:
    """Seconds of the world in a second of the person; a paused world is not waited for."""
    speed = state.world.speed if state.service.embedded and state.world is not None else 1
    return float(speed or 1)


def _moved(state: DeskState, now: Timestamp) -> Iterator[Need]:
    moves = [
        (move, position)
        for position in state.positions
        if (move := _largest_move(position, _held_for_a_day(position, state, now))) is not None
        and abs(move[0]) > MOVED_FROM
    ]
    moves.sort(key=lambda each: -abs(each[0][0]))
    for (move, since), held in moves[:MOVED_MAX]:
        rose = move > 0
        yield Need(
            key=f"moved {held.key}",
            tone="profit" if rose else "loss",
            glyph="▲" if rose else "▼",
            word="moved",
            what=_position_text(held),
            figure=formats.percent_change(move),
            otherwise="stays open",
            screen="portfolio",
            row=held.key,
            kind="positions moved",
            note=since,
            is_real=held.venue is not Venue.SIM,
            money=held.mark_value,
            topic="positions moved",
        )


def _held_for_a_day(position: PositionView, state: DeskState, now: Timestamp) -> MarketView | None:
    """The market of a position that had the price of 24 hours ago; None for a younger one."""
    opened_at = position.opened_at
    is_young = opened_at is not None and (now - opened_at) * max(1.0, _pace(state)) < DAY_S
    return None if is_young else state.markets.get(position.market_id)


def _largest_move(position: PositionView, market: MarketView | None) -> tuple[float, str] | None:
    """How far a position moved, as a part of its value: since the buy, or in 24 hours."""
    moves: list[tuple[float, str]] = []
    if position.pnl_pct is not None:
        awaited = ", awaiting resolution" if position.status is MarketStatus.CLOSED else ""
        moves.append((position.pnl_pct, f"since purchase{awaited}"))
    if market is not None and market.price_24h_ago is not None and market.is_open:
        yes = market.price_24h_ago
        before = yes if position.side is Side.YES else 1.0 - yes
        if 0 < before < 1:
            moves.append((
                market.price_of(position.side) / before - 1.0,
                "price change in 24 h",
            ))
    return max(moves, key=lambda move: abs(move[0]), default=None)


def _settled(state: DeskState, now: Timestamp) -> Iterator[Need]:
    """Positions settled a short while ago."""
    world, masked = world_now(state, now), is_private(state)
    for position in state.closed:
        if position.resolves_at is None or position.outcome is None or not position.shares:
            continue
        if 0 <= world - position.resolves_at <= SETTLED_FOR_S:
            won, even = position.realized > 0, not position.realized
            yield Need(
                key=f"settled {position.key}",
                tone="muted" if even else "profit" if won else "loss",
                glyph="·" if even else "▲" if won else "▼",
                word="settled",
                what=_position_text(position),
                figure=formats.pnl(position.realized, masked=masked),
                otherwise="leaves this list after an hour",
                screen="portfolio",
                kind="positions settled",
                note=f"resolved {position.outcome.word}; {cap('portfolio.list')} in "
                "Portfolio for details",
                is_real=position.venue is not Venue.SIM,
                is_dismissable=True,
                money=position.realized,
                topic="positions settled",
            )


def _position_text(position: PositionView) -> str:
    return side_question(position.side, position.question)
