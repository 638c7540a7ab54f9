"""What needs the person now, as rows: found in the state, gravest first. Pure.

Knows the desk's state. Must not know a widget or a clock: `now` is wall time, handed in.
Used by the attention screen, and by the app for the number beside its key.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.amounts import told
from service_tui.console.freshness import is_private, world_now
from service_tui.console.widgets.line_fit import WARN_FROM
from service_tui.desk.freshness import age_s
from service_tui.desk.records import (
    LimitsView,
    MarketView,
    MeanwhileView,
    PositionView,
    TicketState,
    TicketView,
    Topic,
)
from service_tui.desk.records_fleet import SkillRunState
from service_tui.desk.records_reactor import Policy
from service_tui.desk.records_redemption import ChainRunState
from service_tui.desk.records_risk import AlertState, AlertView
from service_tui.desk.reduce_fleet import order_in_words
from service_tui.desk.state import DeskState
from service_tui.terms import MarketStatus, Mode, Side
from service_tui.units import Micros, Timestamp

REFUSED_FOR_S: Final = 600.0
"""A refused or failed command is worth a look for ten minutes."""

RESOLVES_WITHIN_S: Final = 900.0
"""A position whose market resolves within so much world time can still be closed."""

MOVED_FROM: Final = 0.15
"""A position that moved by more than this part of itself since it was bought, or in 24 hours."""

SETTLED_FOR_S: Final = 3_600.0
"""What came to its end is told for so much world time."""

UNSOLD_FOR_S: Final = 86_400.0
"""An alert that expired unsold is told for a day."""

PRICE_TOLD_FOR_S: Final = 3_600.0
"""A price alert that fired is told for an hour."""

BRIEFED_WITHIN_S: Final = 1_800.0
"""Without a briefing for longer, alerts may have come and gone."""

_UNSOLD: Final = frozenset({AlertState.EXPIRED, AlertState.MISSED})

HURRY_S: Final = 60.0
"""A trade with less time left than this is about to be refused."""

MOVED_MAX: Final = 10
"""The largest moves; a list of everything needs nobody."""

DISMISSED: Final = "attention.dismissed"
AWAY: Final = "attention.away"
"""Preferences: keys of rows put aside, one a line; the absence put aside."""


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that needs the person.

    Args:
        key: names the row while the need lasts.
        tone: a name of a meaning, for the glyph and the word.
        glyph: one cell that says the same as the colour.
        word: the kind, in one or two words.
        what: which thing.
        figure: the one number that matters.
        advice: what can be done.
        screen: where Enter leads.
        row: the row there.
        is_dismissable: True if it stays until somebody has seen it.
    """

    key: str
    tone: str
    glyph: str
    word: str
    what: str
    figure: Text
    advice: str
    screen: str
    row: str | None = None
    is_dismissable: bool = False


def needs(state: DeskState, now: Timestamp) -> tuple[Need, ...]:
    """Everything that needs the person, gravest first.

    Args:
        state: the newest; what it knows from the cache alone asks for nothing.
        now: wall time.

    Returns:
        Rows, without those that the person has put aside; empty when all is calm.
    """
    if state.from_cache:
        return ()
    found = (
        *_alerts(state, now),
        *_signals(state, now),
        *_approvals(state, now),
        *_redeemable(state),
        *_open_ends(state, now),
        *_limits(state),
        *_resolving(state, now),
        *_bad_ends(state, now),
        *_fleet(state),
        *_moved(state),
        *_settled(state, now),
        *_prices_told(state, now),
    )
    aside = dismissed(state)
    return tuple(need for need in found if not (need.is_dismissable and need.key in aside))


def dismissed(state: DeskState) -> frozenset[str]:
    """Keys of the rows that the person has put aside."""
    return frozenset(state.preferences.get(DISMISSED, "").split("\n"))


def meanwhile(state: DeskState) -> MeanwhileView | None:
    """What happened while the desk was closed, unless the person has put it aside."""
    absence = None if state.world is None else state.world.meanwhile
    if absence is None or state.preferences.get(AWAY) == away_mark(absence):
        return None
    return absence


def away_mark(absence: MeanwhileView) -> str:
    """The value of the preference that puts this absence aside, and no later one."""
    return f"{absence.opened_at:.0f}"


def _alerts(state: DeskState, now: Timestamp) -> Iterator[Need]:
    """Breaches that wait for their exit, then those whose hour passed without one."""
    masked, risk = is_private(state), state.risk
    for alert in sorted(risk.open_alerts, key=lambda each: each.expires_at):
        advice = told(alert.words, masked=masked) or "x there exits now"
        yield Need(
            f"alert {alert.alert_id}", "breach", "▼", "alert", _about(alert),
            Text(formats.duration(alert.left_s(now)), "warn"), advice, "monitors", alert.alert_id,
        )  # fmt: skip
    if risk.briefing_late:
        # Source: spec, "Limits": at least every 30 minutes, or alerts come and go unseen.
        lost = (age_s(state, Topic.BRIEFING, now) or 0.0) > BRIEFED_WITHIN_S
        yield Need(
            "briefing", "breach" if lost else "warn", "✗" if lost else "!", "heartbeat",
            formats.plain(risk.briefing_late).plain, Text(),
            "alerts may expire unseen: r asks now", "settings",
        )  # fmt: skip
    for alert in risk.alerts:
        if alert.state in _UNSOLD and now - alert.expires_at <= UNSOLD_FOR_S:
            yield Need(
                f"alert {alert.alert_id}", "loss", "✗", alert.state.value, _about(alert),
                formats.age(alert.expires_at, now), "nothing was sold: 1 shows the position",
                "monitors", alert.alert_id, is_dismissable=True,
            )  # fmt: skip


def _signals(state: DeskState, now: Timestamp) -> Iterator[Need]:
    """A breaker that holds signals back, then the signals that wait for a person: one row each."""
    reactor = state.reactor
    if reactor.is_enabled and reactor.breaker.is_paused(now):
        left = reactor.breaker.left_s(now)
        yield Need(
            "breaker", "loss", "■", "breaker", "The reactor is paused: signals are skipped",
            Text("" if left is None else formats.duration(left)), "R there resets it", "reactor",
        )  # fmt: skip
    waiting = [
        one
        for one in reactor.waiting
        if one.left_s(now) > 0 and reactor.policy_of(one.wallet) is Policy.ASK
    ]
    if waiting:
        first = min(waiting, key=lambda one: one.expires_at)
        others = f", {len(waiting) - 1} more wait" if len(waiting) > 1 else ""
        yield Need(
            "signals", "warn", "○", "signal", f"{first.side.value.upper()} {first.question}",
            Text(formats.duration(first.left_s(now)), "warn"), f"f there mirrors it{others}",
            "reactor", first.signal_id,
        )  # fmt: skip


def _about(alert: AlertView) -> str:
    price = formats.price(alert.trigger_price).plain
    return f"{alert.side.value.upper()} {alert.reason} at {price}: {alert.question}"


def _approvals(state: DeskState, now: Timestamp) -> Iterator[Need]:
    """Trades that wait for the person, the nearest deadline first."""
    for held in state.supervision.held:
        left = held.left_s(now)
        yield Need(
            f"held {held.held_id}", "breach" if left < HURRY_S else "warn", "?", "approve",
            f"{held.agent_name}: {order_in_words(held)}", Text(formats.duration(left), "warn"),
            "& decides: approve, another size, or refuse", "agents", held.agent_id,
        )  # fmt: skip


def _fleet(state: DeskState) -> Iterator[Need]:
    """Skills that fell over, and budgets that are nearly spent."""
    for run in state.supervision.runs:
        if run.state is SkillRunState.CRASHED:
            yield Need(
                f"run {run.run_id} {run.ended_at}", "loss", "✗", "crashed",
                f"{run.skill_slug} as {run.agent_name}: {run.why}", Text(),
                "R there starts it again", "agents", run.agent_id, is_dismissable=True,
            )  # fmt: skip
    names = {} if state.fleet is None else {one.agent_id: one.name for one in state.fleet.agents}
    for leash in state.supervision.leashes:
        if leash.used is not None and leash.used > WARN_FROM:
            who = names.get(leash.agent_id, leash.agent_id)
            of = f" with {leash.skill_slug}" if leash.skill_slug else ""
            yield Need(
                f"budget {leash.agent_id} {leash.skill_slug}", "warn", "▲", "budget",
                f"{who}{of} has spent most of its day", formats.percent(leash.used, 0),
                "its buys are refused at the end of it", "agents", leash.agent_id,
            )  # fmt: skip


def _prices_told(state: DeskState, now: Timestamp) -> Iterator[Need]:
    """Price alerts that fired a short while ago."""
    for alert in state.risk.price_alerts:
        if alert.triggered_at is not None and now - alert.triggered_at <= PRICE_TOLD_FOR_S:
            yield Need(
                f"price {alert.alert_id}", "accent", "◷", "price",
                f"{alert.in_words()}: {alert.question}", formats.price(alert.triggered_price),
                "d there forgets it", "monitors", alert.alert_id, is_dismissable=True,
            )  # fmt: skip


def _redeemable(state: DeskState) -> Iterator[Need]:
    """What has won on a real venue and waits for its owner; by itself it needs nobody."""
    auto, masked = state.redemption.auto, is_private(state)
    goes_by_itself = auto.is_on and not auto.paused
    for row in state.redemption.rows:
        run = state.redemption.run(row.key)
        if run is not None and run.state is ChainRunState.UNCONFIRMED:
            yield Need(
                key=f"unconfirmed:{row.key}",
                tone="warn",
                glyph="◌",
                word="unconfirmed",
                what=row.question,
                figure=formats.money(run.amount, masked=masked),
                advice=run.fix or "it is looked for",
                screen="redemption",
                row=row.key,
            )
        elif row in state.redemption.ready and not goes_by_itself:
            yield Need(
                key=f"redeem:{row.key}",
                tone="profit",
                glyph="●",
                word="redeem",
                what=row.question,
                figure=formats.money(row.amount, masked=masked),
                advice=auto.paused or "t there turns it into money",
                screen="redemption",
                row=row.key,
                is_dismissable=True,
            )


def _open_ends(state: DeskState, now: Timestamp) -> Iterator[Need]:
    for ticket in state.tickets:
        if ticket.state is TicketState.UNKNOWN:
            advice = ticket.fix or "it is being looked up: do not send it again"
            figure = formats.age(ticket.sent_at or ticket.opened_at, now)
            what = _order(state, ticket)
            yield Need(
                f"ticket {ticket.ticket_id}", "breach", "?", "unknown", what, figure, advice,
                "blotter", ticket.ticket_id,
            )  # fmt: skip


def _bad_ends(state: DeskState, now: Timestamp) -> Iterator[Need]:
    for ticket in state.tickets:
        if ticket.state not in {TicketState.REFUSED, TicketState.FAILED}:
            continue
        ended = ticket.settled_at or ticket.opened_at
        if not now - ended <= REFUSED_FOR_S:
            continue
        advice = told(ticket.fix or ticket.outcome, masked=is_private(state))
        what = _order(state, ticket)
        yield Need(
            f"ticket {ticket.ticket_id}", "loss", "✗", ticket.state.value, what,
            formats.age(ended, now), advice, "blotter", ticket.ticket_id, is_dismissable=True,
        )  # fmt: skip


def _limits(state: DeskState) -> Iterator[Need]:
    limits = state.limits
    if state.halted_since is not None:
        yield Need(
            "halted", "loss", "■", "halted", "Every entry is blocked", Text(),
            "F9 shows who has acknowledged it, exits everything, or resumes", "settings",
        )  # fmt: skip
    if limits is None:
        return
    if limits.paused and state.halted_since is None:
        yield Need(
            "paused", "warn", "‖", "paused", "Trading is paused", Text(),
            "buys are refused, sales still pass", "settings",
        )  # fmt: skip
    part, left = _of_the_day(state, limits)
    if part > WARN_FROM:
        yield Need(
            "day", "warn", "▲", "day limit", "Most of the day's limit is used",
            formats.percent(part, 0), f"{left} left until midnight UTC", "settings",
        )  # fmt: skip


def _of_the_day(state: DeskState, limits: LimitsView) -> tuple[float, str]:
    """How much of the day's limit that binds here is used, and what is left of it."""
    if state.service.mode is Mode.SIM:
        # The day's spend binds real venues only, its number of buys every venue.
        if limits.day_trades is None or not limits.day_trades_max:
            return 0.0, ""
        unused = max(0, limits.day_trades_max - limits.day_trades)
        return limits.day_trades / limits.day_trades_max, f"{unused:,} buys"
    unspent = Micros(max(0, limits.day_spend_max - limits.day_spent))
    part = limits.day_spent / limits.day_spend_max if limits.day_spend_max > 0 else 1.0
    return part, formats.money(unspent, masked=is_private(state)).plain


def _resolving(state: DeskState, now: Timestamp) -> Iterator[Need]:
    world = world_now(state, now)
    due = [
        held
        for held in state.positions
        if held.status is MarketStatus.ACTIVE
        and held.resolves_at is not None
        and held.resolves_at - world <= RESOLVES_WITHIN_S
    ]
    for held in sorted(due, key=lambda each: each.resolves_at or 0.0):
        yield Need(
            f"resolves {held.key}", "accent", "◷", "resolves", _holding(held),
            formats.until(held.resolves_at, world), "x there sells while it is open",
            "portfolio", held.key,
        )  # fmt: skip


def _moved(state: DeskState) -> Iterator[Need]:
    moves = [
        (move, held)
        for held in state.positions
        if (move := _largest_move(held, state.markets.get(held.market_id))) is not None
        and abs(move[0]) > MOVED_FROM
    ]
    moves.sort(key=lambda each: -abs(each[0][0]))
    for (move, since), held in moves[:MOVED_MAX]:
        rose = move > 0
        yield Need(
            f"moved {held.key}", "profit" if rose else "loss", "▲" if rose else "▼", "moved",
            _holding(held), formats.percent_change(move), since, "portfolio", held.key,
        )  # fmt: skip


def _largest_move(held: PositionView, market: MarketView | None) -> tuple[float, str] | None:
    """How far a position moved, as a part of what it was: since it was bought, or in 24 hours."""
    moves: list[tuple[float, str]] = []
    if held.pnl_pct is not None:
        awaited = ", its outcome is awaited" if held.status is MarketStatus.CLOSED else ""
        moves.append((held.pnl_pct, f"since bought{awaited}"))
    if market is not None and market.price_24h_ago is not None and market.is_open:
        yes = market.price_24h_ago
        before = yes if held.side is Side.YES else 1.0 - yes
        if 0 < before < 1:
            moves.append((market.price_of(held.side) / before - 1.0, "price of the side, in 24 h"))
    return max(moves, key=lambda move: abs(move[0]), default=None)


def _settled(state: DeskState, now: Timestamp) -> Iterator[Need]:
    """Positions that came to their end a short while ago."""
    world, masked = world_now(state, now), is_private(state)
    for held in state.closed:
        if held.resolves_at is None or held.outcome is None or not held.shares:
            continue
        if 0 <= world - held.resolves_at <= SETTLED_FOR_S:
            won = held.realized > 0
            yield Need(
                f"settled {held.key}", "profit" if won else "loss", "▲" if won else "▼", "settled",
                _holding(held), formats.pnl(held.realized, masked=masked),
                f"resolved {'YES' if held.outcome else 'NO'}; o in the portfolio shows it",
                "portfolio", is_dismissable=True,
            )  # fmt: skip


def _order(state: DeskState, ticket: TicketView) -> str:
    about = state.question_of(ticket)
    what = told(ticket.what, masked=is_private(state))
    return f"{what}: {about}" if about else what


def _holding(held: PositionView) -> str:
    return f"{held.side.value.upper()}  {held.question}"
