"""The texts of a halt: acknowledgements, agents out of its reach, progress of the exits."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import is_private
from service_tui.console.keys import cap, with_keys
from service_tui.console.reasons import without_amounts
from service_tui.desk.slices.halt import AckState, AckView, ExitAllView, HaltView
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.state import DeskState
from service_tui.desk.trading.preflight import is_simulated
from service_tui.terms import MONEY_OF, MarketStatus, Venue, counted
from service_tui.units import Micros, Timestamp

DETAIL_MAX: Final = 160
LISTED_MAX: Final = 60
QUESTION_MAX: Final = 44
"""Letters of an answer; positions and letters of their questions that are listed."""

_SIGNS: Final = {
    AckState.WAITING: ("◌", "warn"),
    AckState.DONE: ("✓", "profit"),
    AckState.FAILED: ("✗", "loss"),
}
_ENDS: Final = {
    TicketState.QUEUED: ("…", "muted"),
    TicketState.SENT: ("→", "accent"),
    TicketState.DONE: ("✓", "profit"),
    TicketState.REFUSED: ("✗", "warn"),
    TicketState.FAILED: ("✗", "loss"),
    TicketState.UNKNOWN: ("?", "breach"),
}

UNSAVED: Final = "not saved on disk: in force while this runs"
PASSES: Final = "Sales and redemptions stay possible."
REACH: Final = (
    f"{PASSES} Agents not run by this desk stop only when the service acknowledges the pause: "
    "until then they may still buy."
)
REACHED: Final = (
    f"{PASSES} Agents not run by this desk are stopped by the service, which has acknowledged the "
    "pause."
)
ELSEWHERE: Final = (
    "Service halted from outside this desk. The buys of every agent are refused, and this desk "
    "sends none. {app.halt} halts this desk too; RESUME ends both."
)


def halt_text(state: DeskState, now: Timestamp) -> Text:
    """The text of the panel."""
    halt, since = state.halt, state.halted_since
    head = Text.assemble(
        (" HALTED ", "bold reverse loss"),
        " for ",
        formats.age(since, now),
        (", since ", "muted"),
        formats.moment_of(since, now),
    )
    if halt is None:
        return Text("\n\n").join([head, Text(with_keys(ELSEWHERE)), Text(REACHED, "muted")])
    parts = [head, Text("\n").join(_ack(ack) for ack in halt.acks), Text(_reach(halt), "muted")]
    if halt.exits is not None:
        parts.append(_exits(state, halt.exits))
    parts.append(Text(_next(state, halt), "bold" if halt.is_resuming else ""))
    return Text("\n\n").join(parts)


def _reach(halt: HaltView) -> str:
    """The effect of a halt on agents of others; another service only pauses this desk's."""
    is_known = any(ack.name == "service" and ack.state is AckState.DONE for ack in halt.acks)
    return REACHED if is_known else REACH


def _ack(ack: AckView) -> Text:
    sign, tone = _SIGNS[ack.state]
    is_unsaved = ack.name == "kept" and ack.state is AckState.FAILED
    line = Text.assemble((f" {sign} ", tone), UNSAVED if is_unsaved else ack.what)
    detail = formats.plain(ack.detail, DETAIL_MAX).plain
    if ack.state is AckState.FAILED:
        line.append(f"  failed {ack.tries}x, retrying", tone)
    elif ack.state is AckState.WAITING:
        line.append("  waiting", tone)
    if detail:
        # Trouble is a sentence of its own; a good answer stands beside its source.
        gap = "  " if ack.state is AckState.DONE else "\n     "
        line.append(f"{gap}{detail}", "muted")
    return line


def _next(state: DeskState, halt: HaltView) -> str:
    if halt.is_resuming:
        return "Resuming. Buys stay blocked until all sources have resumed."
    if halt.exits is not None and not halt.exits.is_over:
        return "Selling positions. Buys stay blocked."
    held = len(sold_and_kept(state)[0])
    open_ones = "the open position" if held == 1 else f"the {held} open positions"
    sells = f"{cap('halt.exit')} sells {open_ones}, " if held else ""
    resumes = f"{cap('halt.resume')} resumes (typed word)"
    return f"{sells}{resumes}, {cap('dialog.close')} stays halted."


def _exits(state: DeskState, exits: ExitAllView) -> Text:
    """The number of exits by result, and each exit."""
    tickets = exits_of(state, exits)
    counts = Counter(ticket.state for ticket in tickets)
    planned = len(exits.holdings) - exits.skipped
    text = f"Sales: {counts[TicketState.DONE]} of {planned} sold"
    for kind, word in ((TicketState.UNKNOWN, "unknown"), (TicketState.SENT, "pending")):
        text += f", {counts[kind]} {word}" if counts[kind] else ""
    not_sold = counts[TicketState.REFUSED] + counts[TicketState.FAILED]
    text += f", {not_sold} not sold" if not_sold else ""
    waiting = planned - len(tickets)
    text += f", {waiting} queued" if waiting > 0 else ""
    masked = is_private(state)
    lines = [_exit(state, ticket, masked=masked) for ticket in tickets]
    return Text("\n").join([Text(text, "bold"), *lines])


def exits_of(state: DeskState, exits: ExitAllView) -> list[TicketView]:
    """The orders of the exits, in their order."""
    known = {ticket.ticket_id: ticket for ticket in state.tickets}
    return [known[one] for one in exits.tickets if one in known]


def _exit(state: DeskState, ticket: TicketView, *, masked: bool) -> Text:
    sign, tone = _ENDS[ticket.state]
    question = formats.plain(state.question_of(ticket), QUESTION_MAX)
    outcome = formats.plain(
        without_amounts(ticket.outcome or ticket.state.value, masked=masked), DETAIL_MAX
    )
    return Text.assemble((f" {sign} ", tone), question, "  ", (outcome.plain, "muted"))


def sold_and_kept(
    state: DeskState,
) -> tuple[tuple[PositionView, ...], tuple[PositionView, ...]]:
    """The positions that the word EXIT sells, and the real ones that stay.

    Returns:
        The positions of both; real ones are sold while LIVE is on and their market is open.
    """
    real = [
        position for position in state.on_venues if not position.is_closed and position.shares > 0
    ]
    able = [
        position
        for position in real
        if state.wallet.live and position.status is MarketStatus.ACTIVE
    ]
    return (*state.positions, *able), tuple(position for position in real if position not in able)


def _by_venue(positions: Sequence[PositionView]) -> str:
    counts = Counter(trade.venue.value for trade in positions)
    return ", ".join(f"{count} on {venue}" for venue, count in counts.items())


def _sums(positions: Sequence[PositionView], *, masked: bool) -> Text:
    """The sale value by currency; two are never added."""
    sums = dict.fromkeys((MONEY_OF[trade.venue] for trade in positions), 0)
    for trade in positions:
        sums[MONEY_OF[trade.venue]] += int(trade.exit_value or 0)
    text = (
        Text.assemble(formats.money(Micros(total), masked=masked), f" {unit}")
        for unit, total in sums.items()
    )
    return Text(" and ").join(text)


def exits_question(state: DeskState, positions: Sequence[PositionView]) -> Text:
    """The positions to sell, and their sale value of now."""
    masked = is_private(state)
    unknown = sum(trade.exit_value is None for trade in positions)
    lines = [_position_line(trade, masked=masked) for trade in positions[:LISTED_MAX]]
    if len(positions) > LISTED_MAX:
        lines.append(Text(f"   and {len(positions) - LISTED_MAX} more", "muted"))
    played = [trade for trade in positions if trade.venue is Venue.SIM]
    real = [trade for trade in positions if trade.venue is not Venue.SIM]
    mode = state.service.mode.value
    kind = "simulated money" if is_simulated(state) else "real money"
    rests = any(order.holding in {trade.key for trade in positions} for order in state.orders)
    body = Text.assemble(
        f"Sells {counted(len(positions), 'position')} in full, one order each: ",
        (f"{_by_venue(played)} ({mode})" if played else "", mode.lower()),
        ", " if played and real else "",
        (f"{kind} {_by_venue(real)}" if real else "", "bold live"),
        ". Sale value now about ",
        _sums(positions, masked=masked),
        ", before fees" if real else "",
        f", plus {unknown} of unknown sale value" if unknown else "",
        ". Each sale moves its price. ",
        "Open sell orders are cancelled first. " if rests else "",
        "Buys stay blocked. This cannot be undone.\n\n",
    )
    body.append_text(Text("\n").join(lines))
    if kept := sold_and_kept(state)[1]:
        why = (
            "market closed"
            if state.wallet.live
            else f"LIVE is off: {cap('app.redemption')}, {cap('app.wallet')}, {cap('wallet.live')}"
        )
        body.append(f"\n\nNOT sold, {kind}, {_by_venue(kept)} ({why}):\n", "bold warn")
        body.append_text(
            Text("\n").join(_position_line(position, masked=masked) for position in kept)
        )
    return body


def _position_line(position: PositionView, *, masked: bool) -> Text:
    side = position.side.value
    brings = formats.money(position.exit_value, masked=masked)
    return Text.assemble(
        (f"   {side.upper():<4}", side),
        "" if position.venue is Venue.SIM else f"{position.venue.value}  ",
        formats.shares(position.shares, masked=masked),
        (" shares for ", "muted"),
        brings,
        "  ",
        formats.plain(position.question, QUESTION_MAX),
    )
