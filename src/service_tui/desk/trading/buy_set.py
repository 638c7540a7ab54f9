"""Buying a set of an event: a buy of each outcome, one after the other, each with its ticket."""

from collections.abc import Callable, Sequence
from typing import Final

from service_tui.desk.commands.trading import BuySet, PlaceTrade
from service_tui.desk.facts import Noticed
from service_tui.desk.ports import Ports
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.tickets import Ticket
from service_tui.terms import counted

_ENDS: Final = {
    TicketState.REFUSED: "refused",
    TicketState.FAILED: "failed",
    TicketState.UNKNOWN: "unknown: see the orders",
}


async def buy_set(order: BuySet, ports: Ports, submit: Callable[[PlaceTrade], Ticket]) -> None:
    """Buy leg by leg, and report what was bought in a notice.

    The first leg that is not bought ends the set: no leg behind it is sent, and none is sent again.

    Args:
        order: the legs as they were confirmed.
        ports: the outside.
        submit: the desk's own way to order something.
    """
    bought: list[TicketView] = []
    for leg in order.legs:
        view = await submit(leg).wait()
        if view.state is not TicketState.DONE:
            unsent = order.legs[len(bought) + 1 :]
            ports.emit(Noticed("bad", _broken_text(order, bought, view, unsent)))
            return
        bought.append(view)
    text = f"{order.describe()}: all {counted(len(bought), 'leg')} bought. {_bought_text(bought)}"
    ports.emit(Noticed("good", text))


def _broken_text(
    order: BuySet,
    bought: Sequence[TicketView],
    ended: TicketView,
    unsent: Sequence[PlaceTrade],
) -> str:
    """What is held of a set that came to an end, what ended it, and what was never sent."""
    is_known = ended.state is not TicketState.UNKNOWN
    held = f"Bought: {_bought_text(bought)}" if bought else "Nothing was bought." * is_known
    count = f"{'only' if is_known else 'at least'} {len(bought)}"
    why = f": {ended.outcome}" if ended.outcome else ""
    parts = [
        f"{order.describe()}: {count} of {counted(len(order.legs), 'leg')} bought.",
        f"{_ENDS.get(ended.state, ended.state.value).capitalize()}: {_name(ended)}{why}.",
        *([held] if held else []),
    ]
    if unsent:
        names = "; ".join(leg.question or leg.market_id for leg in unsent)
        parts.append(f"Not sent: {names}.")
    return " ".join(parts)


def _bought_text(bought: Sequence[TicketView]) -> str:
    # Without the average: its ticket has it, and twenty legs are long enough.
    ends = ((view, (view.outcome or view.what).partition(" (average")[0]) for view in bought)
    return "; ".join(f"{_name(view)} ({text})" for view, text in ends) + "."


def _name(view: TicketView) -> str:
    return view.question or view.market_id
