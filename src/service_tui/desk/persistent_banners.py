"""Banners that persist on every screen.

Real money, a wrong clock, an order that cannot be looked up.
"""

from collections.abc import Iterator
from typing import Final

from service_tui.desk.reasons import Fix, Reason
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.state import DeskState

SKEW_SHOWN_S: Final = 5.0
"""Source: failures, F-09."""

REAL_MONEY: Final = "REAL MONEY"
"""Label of the banner that is emphasised."""


def persistent_banners(state: DeskState) -> Iterator[tuple[str, Reason]]:
    """A label and a reason for each persistent banner.

    Yields:
        None in fair weather.
    """
    service = state.service
    if service.lookup_problem:
        unknown = (one for one in state.tickets if one.state is TicketState.UNKNOWN)
        for ticket in unknown:
            text = f"{ticket.what} cannot be looked up, its amount stays reserved"
            yield "unknown order", Reason(f"{text}: {service.lookup_problem}")
    if state.wallet.live:
        yield (
            REAL_MONEY,
            Reason("live trading is on", Fix.SWITCH_OFF_REAL_MONEY),
        )
    if state.redemption.auto.paused:
        yield "auto-redeem paused", Reason(state.redemption.auto.paused)
    if state.risk.briefing_late:
        yield "no briefing", Reason(state.risk.briefing_late)
    skew_s = service.skew_s
    if skew_s is not None and not abs(skew_s) <= SKEW_SHOWN_S:
        way = "behind" if skew_s > 0 else "ahead of"
        text = f"the service's clock is {abs(skew_s):,.0f} s {way} this machine's"
        why = "ages and deadlines may be wrong; check both clocks"
        yield "clock", Reason(f"{text}: {why}")
