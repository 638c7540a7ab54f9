"""What lasts and is nobody's screen: a clock that is off, an order that cannot be looked up."""

from collections.abc import Iterator
from typing import Final

from service_tui.desk.slices.records import TicketState
from service_tui.desk.state import DeskState

SKEW_SHOWN_S: Final = 5.0
"""Source: failures, F-09."""

REAL_MONEY: Final = "REAL MONEY"
"""The word for what is said louder than the rest."""


def lasting_words(state: DeskState) -> Iterator[tuple[str, str]]:
    """A word and a sentence for each thing that lasts.

    Yields:
        None in fair weather.
    """
    service = state.service
    if service.lookup_problem:
        unknown = (one for one in state.tickets if one.state is TicketState.UNKNOWN)
        for ticket in unknown:
            said = f"{ticket.what} cannot be looked up, what it may take stays reserved"
            yield "unknown order", f"{said}: {service.lookup_problem}"
    if state.wallet.live:
        yield REAL_MONEY, "orders for real money may leave this desk: 5, W, then L switches it off"
    if state.redemption.auto.paused:
        yield "auto-redeem rests", state.redemption.auto.paused
    if state.risk.briefing_late:
        yield "no briefing", state.risk.briefing_late
    skew_s = service.skew_s
    if skew_s is not None and not abs(skew_s) <= SKEW_SHOWN_S:
        way = "behind" if skew_s > 0 else "ahead of"
        said = f"the service's clock is {abs(skew_s):,.0f} s {way} this machine's"
        yield "clock", f"{said}: ages and times left may be wrong; see which of them is right"
