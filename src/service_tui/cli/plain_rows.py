"""Numbered rows of the plain console: positions, approvals, monitors, signals, what to do with one.

A number means the row of the list as it was last printed, and no other one that has come since.
"""

import asyncio
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from textwrap import wrap
from types import MappingProxyType
from typing import Final, NamedTuple

from service_tui.app.output import print_text
from service_tui.app.typed_lines import typed_line
from service_tui.app.waiting import until
from service_tui.cli.parser import row_number
from service_tui.commands.plain import newest
from service_tui.console import formats
from service_tui.console.fields import FieldError, parse_percent
from service_tui.console.forms.approval import is_real
from service_tui.console.forms.monitor_draft import STOP_RULE, TARGET_RULE
from service_tui.console.table_spec import HasQuestion, listed_name
from service_tui.console.view_context import ViewContext
from service_tui.desk.command import Command
from service_tui.desk.commands.agents import ApproveTrade, RefuseTrade
from service_tui.desk.commands.reactor import DismissSignal, MirrorSignal
from service_tui.desk.commands.risk import RemoveMonitor, SetMonitor
from service_tui.desk.desk import Desk
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.reactor import SignalState, SignalView
from service_tui.desk.slices.risk import MonitorView
from service_tui.desk.slices.supervision import PendingTradeView
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import MONEY_OF, Action, Venue
from service_tui.toml_lines import printable
from service_tui.units import Timestamp

HELP: Final = (
    "positions, approvals, monitors, signals: numbered lists",
    "the numbers of the last three are for the commands below",
    "approve N, refuse N [REASON]: decides a waiting trade",
    "stop N PERCENT|off, target N PERCENT|off: changes a monitor",
    "mirror N, dismiss N: a signal",
)

WIDTH: Final = 80
"""Cells of a line: a terminal of the usual width wraps none."""

READ_S: Final = 15.0
RENEWED_S: Final = 3.0
"""How long positions may take at the start, and later, when those of before can be shown."""

NOTICED_S: Final = 1.0
TURNS: Final = 3
"""How long a notice may take after its command, and turns of the loop in which it is printed."""

REAL: Final = "real money: the screens show all that is signed; nothing was sent"
_YES: Final = frozenset({"y", "yes"})


class PlainError(Exception):
    """A line that does nothing; the sentence gives the reason."""


class NumberedRow(NamedTuple):
    """One row of a list: its identity, and its line."""

    key: str
    line: str


Listing = Callable[[DeskState, ViewContext], list[NumberedRow]]


@dataclass(frozen=True, slots=True)
class RowCommand:
    """A command for one row: the list it is of, and what it makes of the row and further words."""

    listing: str
    make: Callable[[DeskState, str, Sequence[str]], Command]
    needs_yes: bool = False


# -- the lists ------------------------------------------------------------------------------------


def _positions(state: DeskState, view: ViewContext) -> list[NumberedRow]:
    waits = (one for one in state.on_venues if not one.is_closed or one.to_redeem)
    held = (*state.positions, *waits)
    return [NumberedRow(one.key, _position(one, view)) for one in held]


def _position(one: PositionView, view: ViewContext) -> str:
    money = MONEY_OF[one.venue]
    if one.is_closed:
        return (
            f"{_name(one, view)} {one.side.value.upper()}, won: "
            f"{view.money(one.to_redeem).plain} {money} to redeem; realized P&L "
            f"{view.pnl(one.realized).plain} {money}"
        )
    return (
        f"{_name(one, view)} {one.side.value.upper()}, {view.shares(one.shares).plain} "
        f"shares; average {formats.price(one.average).plain}, now "
        f"{formats.price(one.mark_price).plain}; if sold now {view.money(one.exit_value).plain} "
        f"{money}; P&L {view.pnl(one.unrealized).plain} {money}"
    )


def _approvals(state: DeskState, view: ViewContext) -> list[NumberedRow]:
    return [
        NumberedRow(one.pending_id, _approval(one, view))
        for one in state.supervision.pending_trades
    ]


def _approval(trade: PendingTradeView, view: ViewContext) -> str:
    if trade.action is Action.BUY:
        size = f"{view.money(trade.amount).plain} {MONEY_OF[trade.venue]}"
    else:
        size = f"{view.shares(trade.shares).plain} shares"
    reason = view.sentence(trade.reasoning) or "no reason given"
    left = formats.duration(trade.left_s(view.now))
    return (
        f"{_name(trade, view)} {trade.side.value.upper()}, {trade.action.value} {size} for "
        f"{formats.plain(trade.agent_name, 40).plain}; price {formats.price(trade.price).plain}; "
        f"{left} left; {reason}"
    )


def _monitors(state: DeskState, view: ViewContext) -> list[NumberedRow]:
    return [
        NumberedRow(
            one.key,
            f"{_name(one, view)} {one.side.value.upper()}, now "
            f"{formats.price(one.mark).plain}: {one.thresholds.describe()}; {one.state.value}",
        )
        for one in state.risk.monitors
    ]


def _signals(state: DeskState, view: ViewContext) -> list[NumberedRow]:
    return [
        NumberedRow(one.signal_id, _signal(one, view))
        for one in state.reactor.signals
        if one.state is SignalState.PENDING
    ]


def _signal(one: SignalView, view: ViewContext) -> str:
    who = formats.plain(one.label, 40).plain or formats.address(one.wallet).plain
    left = formats.duration(max(0.0, one.expires_at - view.now))
    amount = f"{view.money(one.amount).plain} {MONEY_OF[one.venue]}"
    return (
        f"{_name(one, view)} {one.side.value.upper()}, bought by {who} at "
        f"{formats.price(one.price).plain}; now {formats.price(one.price_now).plain}; a mirror "
        f"spends {amount}; {left} left"
    )


def _name(row: HasQuestion, view: ViewContext) -> str:
    """What the lists of the screens call the market of a row; each line begins with it."""
    return listed_name(row.market_id, row.question, view.state)


LISTINGS: Final = MappingProxyType[str, Listing]({
    "positions": _positions,
    "approvals": _approvals,
    "monitors": _monitors,
    "signals": _signals,
})


# -- the commands ----------------------------------------------------------------------------------


def _pending_trade(state: DeskState, key: str) -> PendingTradeView:
    found = next((one for one in state.supervision.pending_trades if one.pending_id == key), None)
    if found is None:
        raise PlainError("this trade waits no more; approvals lists the others")
    return found


def _approve(state: DeskState, key: str, words: Sequence[str]) -> Command:
    trade = _pending_trade(state, key)
    _no_more(words)
    if is_real(trade, state):
        raise PlainError(REAL)
    return ApproveTrade(key, _what(trade))


def _refuse(state: DeskState, key: str, words: Sequence[str]) -> Command:
    return RefuseTrade(key, _what(_pending_trade(state, key)), " ".join(words))


def _what(trade: PendingTradeView) -> str:
    name = formats.plain(trade.agent_name, 40).plain
    question = formats.plain(trade.question, 120).plain
    return f"{name}: {trade.action.value} {trade.side.value.upper()}, {question}"


def _monitor(state: DeskState, key: str) -> MonitorView:
    found = next((one for one in state.risk.monitors if one.key == key), None)
    if found is None:
        raise PlainError("this position has no monitor any more; monitors lists the others")
    return found


def _threshold(name: str, state: DeskState, key: str, words: Sequence[str]) -> Command:
    one = _monitor(state, key)
    if len(words) != 1:
        raise PlainError(f"{name} N PERCENT, or {name} N off")
    try:
        rule = STOP_RULE if name == "stop" else TARGET_RULE
        value = None if words[0] == "off" else parse_percent(words[0], rule)
    except FieldError as error:
        raise PlainError(str(error)) from error
    known = one.thresholds
    wanted = (
        replace(known, stop_loss_pct=value)
        if name == "stop"
        else replace(known, take_profit_pct=value)
    )
    if wanted.is_empty:
        return RemoveMonitor(one.market_id, one.side, one.venue, one.question)
    return SetMonitor(one.market_id, one.side, one.venue, wanted, one.question)


def _waiting(state: DeskState, key: str) -> SignalView:
    for one in state.reactor.signals:
        if one.signal_id == key and one.state is SignalState.PENDING:
            return one
    raise PlainError("this signal waits no more; signals lists the others")


def _mirror(state: DeskState, key: str, words: Sequence[str]) -> Command:
    one = _waiting(state, key)
    _no_more(words)
    if one.venue is not Venue.SIM and not state.service.embedded:
        raise PlainError(REAL)
    return MirrorSignal(key, one.question)


def _dismiss(state: DeskState, key: str, words: Sequence[str]) -> Command:
    _no_more(words)
    return DismissSignal(_waiting(state, key).signal_id)


def _no_more(words: Sequence[str]) -> None:
    if words:
        raise PlainError(f"too many words: leave out {printable(' '.join(words))}")


ROW_COMMANDS: Final = MappingProxyType[str, RowCommand]({
    "approve": RowCommand("approvals", _approve, needs_yes=True),
    "refuse": RowCommand("approvals", _refuse),
    "stop": RowCommand("monitors", partial(_threshold, "stop")),
    "target": RowCommand("monitors", partial(_threshold, "target")),
    "mirror": RowCommand("signals", _mirror, needs_yes=True),
    "dismiss": RowCommand("signals", _dismiss),
})


class PlainRows:
    """The numbered lists of one plain console, as they were printed last."""

    def __init__(self) -> None:
        self._listed: dict[str, list[NumberedRow]] = {}

    async def answer(self, desk: Desk, words: Sequence[str]) -> Sequence[str]:
        """Carry out a line that begins with a name of `LISTINGS` or `ROW_COMMANDS`."""
        name, *rest = words
        try:
            if name in LISTINGS:
                _no_more(rest)
                return await self._list(name, desk)
            return await self._do(name, desk, rest)
        except PlainError as error:
            return (str(error),)

    async def _list(self, name: str, desk: Desk) -> Sequence[str]:
        if name == "positions" and not await _has_positions(desk):
            return ("positions not loaded yet",)
        view = ViewContext.of(desk.state, desk.ports.now())
        rows = self._listed[name] = LISTINGS[name](desk.state, view)
        return [_numbered(place, row) for place, row in enumerate(rows, 1)] or [f"no {name}"]

    async def _do(self, name: str, desk: Desk, words: Sequence[str]) -> Sequence[str]:
        row_command = ROW_COMMANDS[name]
        if not words or not words[0].isdecimal():
            raise PlainError(f"{name} N: the number in the list of {row_command.listing}")
        rows = self._listed.get(row_command.listing)
        number = row_number(words[0])
        if rows is None or not number or number > len(rows):
            raise PlainError(f"no such number: {row_command.listing} lists them")
        row, rest = rows[number - 1], words[1:]
        row_command.make(desk.state, row.key, rest)
        if row_command.needs_yes:
            print_text(f"{row.line}\n{name}? y: ")
            if (await typed_line(sys.stdin)).strip().lower() not in _YES:
                return ("nothing was sent",)
        # Again: while the person read, it may have been decided elsewhere.
        return await _sent(desk, row_command.make(desk.state, row.key, rest))


async def _has_positions(desk: Desk) -> bool:
    """Read the positions anew; False if they were never read."""
    requested_at, is_read = desk.ports.now(), Topic.POSITIONS in desk.state.seen
    desk.ports.refresh(Topic.POSITIONS)
    is_newer = await until(
        desk,
        lambda state: state.seen.get(Topic.POSITIONS, Timestamp(0.0)) >= requested_at,
        RENEWED_S if is_read else READ_S,
    )
    return is_read or is_newer


def _numbered(place: int, row: NumberedRow) -> str:
    """A row in lines of the width of a terminal, below its number."""
    number = f"{place}  "
    return "\n".join(
        wrap(
            row.line,
            WIDTH,
            initial_indent=number,
            subsequent_indent=" " * len(number),
            break_on_hyphens=False,
        )
    )


async def _sent(desk: Desk, command: Command) -> Sequence[str]:
    """Give a command and wait for its end; no line where a notice has the result."""
    before = newest(desk.state)
    view = await desk.submit(command).wait()
    if view.state is TicketState.QUEUED:
        # It writes no row of the blotter: its result is a notice, printed as all are.
        if not await until(desk, lambda state: newest(state) > before, NOTICED_S):
            return (f"{view.what}: accepted",)
        for _ in range(TURNS):
            await asyncio.sleep(0)
        return ()
    if view.state is TicketState.DONE:
        return (f"{view.what}: {view.outcome or 'done'}",)
    return (f"{view.what}: {view.state.value}{f': {view.outcome}' if view.outcome else ''}",)
