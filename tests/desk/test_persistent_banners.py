"""Which banners stay on every screen, what they say, and in which order."""

from dataclasses import replace

import pytest

from kit.samples.desk import sample_state
from service_tui.desk.persistent_banners import REAL_MONEY, persistent_banners
from service_tui.desk.reasons import Fix, Reason
from service_tui.desk.slices.tickets import TicketState

FAIR = replace(sample_state(8), tickets=())


def test_in_fair_weather_there_is_none() -> None:
    assert list(persistent_banners(FAIR)) == []


def test_all_are_told_the_gravest_first() -> None:
    ticket = sample_state(8).tickets[0]
    tickets = (
        replace(ticket, ticket_id="k-1", what="buy YES for 9.00", state=TicketState.UNKNOWN),
        replace(ticket, ticket_id="k-2", what="sell 3.00 NO", state=TicketState.SENT),
        replace(ticket, ticket_id="k-3", what="buy NO for 7.00", state=TicketState.UNKNOWN),
    )
    state = replace(
        FAIR,
        tickets=tickets,
        service=replace(FAIR.service, lookup_problem="no list of trades", skew_s=9.4),
        wallet=replace(FAIR.wallet, live=True),
        redemption=replace(
            FAIR.redemption, auto=replace(FAIR.redemption.auto, paused="three failed")
        ),
        risk=replace(FAIR.risk, briefing_late="no briefing for 6 min"),
    )
    kept = "cannot be looked up, its amount stays reserved: no list of trades"
    assert list(persistent_banners(state)) == [
        ("unknown order", Reason(f"buy YES for 9.00 {kept}")),
        ("unknown order", Reason(f"buy NO for 7.00 {kept}")),
        (REAL_MONEY, Reason("live trading is on", Fix.SWITCH_OFF_REAL_MONEY)),
        ("auto-redeem paused", Reason("three failed")),
        ("no briefing", Reason("no briefing for 6 min")),
        ("clock", Reason(
            "the service's clock is 9 s behind this machine's: "
            "ages and deadlines may be wrong; check both clocks"
        )),
    ]  # fmt: skip


def test_an_unknown_order_that_is_being_looked_up_is_no_banner() -> None:
    ticket = replace(sample_state(8).tickets[0], state=TicketState.UNKNOWN)
    assert list(persistent_banners(replace(FAIR, tickets=(ticket,)))) == []


@pytest.mark.parametrize(
    ("skew_s", "words"),
    [
        (None, ""),
        (5.0, ""),
        (-5.0, ""),
        (5.6, "6 s behind this machine's"),
        (-5.6, "6 s ahead of this machine's"),
        (-3_600.0, "3,600 s ahead of this machine's"),
        (float("nan"), "nan s ahead of this machine's"),
    ],
)
def test_a_clock_that_is_off_says_by_how_much_and_which_way(
    skew_s: float | None, words: str
) -> None:
    state = replace(FAIR, service=replace(FAIR.service, skew_s=skew_s))
    texts = [reason.text for _, reason in persistent_banners(state)]
    assert [words in text for text in texts] == ([True] if words else [])
