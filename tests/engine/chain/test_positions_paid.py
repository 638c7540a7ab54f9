"""Which position is redeemed, why one is refused, and what is paid by itself."""

from types import SimpleNamespace
from typing import Any, Final

import pytest

from kit.engine.bare import AT, bare_world
from service_tui.engine.books.venues import VenueAccount, VenuePosition
from service_tui.engine.chain import redemption
from service_tui.engine.chain.redemption import (
    AccountPosition,
    check_chain,
    found_in,
    mark_redeemed,
    mark_what_is_gone,
    paying,
    redeem,
    redeem_managed,
)
from service_tui.engine.errors import (
    AlreadyRedeemed,
    ManualOnly,
    NotFinalized,
    PositionLost,
    PositionNotFound,
)
from service_tui.engine.events import MarkedRedeemed, PositionRedeemed
from service_tui.engine.position import Position
from service_tui.engine.transitions import PositionState
from service_tui.outcome import NO as ENDED_NO
from service_tui.outcome import VOID, Outcome
from service_tui.outcome import YES as ENDED_YES
from service_tui.terms import Side, Venue, WalletKind
from service_tui.units import ONE, Micros, Timestamp

YES, NO = Side.YES, Side.NO
TIMES: Final = (AT, Timestamp(AT + 60))


def holding_of(
    state: PositionState = PositionState.READY,
    outcome: Outcome | None = ENDED_NO,
    gone: int = 0,
    yes: int = 0,
) -> VenuePosition:
    """8 NO for 3 on a real venue, of which so many are gone from the chain; and YES for 4."""
    position = Position("ada", "m1")
    position.no.shares, position.no.cost = Micros(8 * ONE), Micros(3 * ONE)
    if yes:
        position.yes.shares, position.yes.cost = Micros(yes * ONE), Micros(4 * ONE)
    return VenuePosition(
        position, "Q?", "politics", AT, state, outcome=outcome, burned_no=Micros(gone * ONE)
    )


def venues(holding: Any, venue: Venue = Venue.EVM) -> Any:
    account = VenueAccount("ada", venue)
    account.holdings["m1"] = holding
    agents = bare_world("ada", "ben").agents
    applied: list[Any] = []
    return SimpleNamespace(
        accounts={("ada", venue): account}, agents=agents, applied=applied, apply=applied.append,
        payable={"ada"}, wallets={},
    )  # fmt: skip


def ada(of: Any) -> Any:
    return of.agents["ada"]


def test_a_position_is_found_on_whichever_real_venue_it_is() -> None:
    for venue in (Venue.EVM, Venue.SOL):
        holding = holding_of()
        of = venues(holding, venue)
        assert found_in(of, ada(of), "m1") == AccountPosition(
            of.accounts["ada", venue],
            holding,
        )
        assert found_in(of, ada(of), "m2") is None
        assert found_in(of, of.agents["ben"], "m1") is None


@pytest.mark.parametrize(
    ("state", "outcome", "side", "error"),
    [
        (PositionState.READY, ENDED_NO, NO, None),
        (PositionState.READY, ENDED_NO, YES, PositionNotFound),
        (PositionState.READY, ENDED_YES, NO, PositionLost),
        (PositionState.ACTIVE, None, NO, NotFinalized),
        (PositionState.READY, Outcome.at(0.35), NO, None),
        (PositionState.READY, VOID, NO, None),
        (PositionState.AWAITING, ENDED_NO, NO, NotFinalized),
        (PositionState.REDEEMED, ENDED_NO, NO, AlreadyRedeemed),
    ],
)
def test_only_a_side_that_won_and_is_not_redeemed_is_paid(
    state: PositionState, outcome: Outcome | None, side: Side, *, error: type[Exception] | None
) -> None:
    of = venues(holding_of(state, outcome))
    if error is None:
        assert paying(of, ada(of), ("m1", side)) == found_in(of, ada(of), "m1")
        return
    for call in (paying, lambda *words: redeem(*words, TIMES)):
        with pytest.raises(error):
            call(of, ada(of), ("m1", side))
    assert of.applied == []


def test_a_redemption_pays_what_the_side_is_worth() -> None:
    # The other side has cost as well, and is worth nothing.
    of = venues(holding_of(yes=5))
    paid = PositionRedeemed(
        "ada", Venue.EVM, "m1", NO, Micros(8 * ONE), Micros(3 * ONE), Micros(8 * ONE), *TIMES
    )
    assert redeem(of, ada(of), ("m1", NO), TIMES) == [paid] == of.applied


@pytest.mark.parametrize(
    ("outcome", "yes", "no"), [(Outcome.at(0.35), 1_750_000, 5_200_000), (VOID, 4 * ONE, 3 * ONE)]
)
def test_where_both_sides_pay_one_redemption_brings_both(
    outcome: Outcome, yes: int, no: int
) -> None:
    of = venues(holding_of(outcome=outcome, yes=5))
    paid = redeem(of, ada(of), ("m1", NO), TIMES)
    assert [(one.side, one.payout) for one in paid] == [(YES, yes), (NO, no)]


def test_what_an_own_wallet_has_redeemed_is_not_paid_again() -> None:
    of = venues(holding_of(gone=8))
    with pytest.raises(AlreadyRedeemed):
        redeem(of, ada(of), ("m1", NO), TIMES)
    assert of.applied == []


def test_only_one_venue_redeems_here() -> None:
    check_chain(Venue.EVM)
    for venue in (Venue.SOL, Venue.SIM):
        with pytest.raises(ManualOnly):
            check_chain(venue)


@pytest.mark.parametrize(
    ("state", "gone", "is_marked"),
    [
        (PositionState.READY, 8, True),
        (PositionState.READY, 0, False),
        (PositionState.AWAITING, 8, False),
        (PositionState.REDEEMED, 8, False),
    ],
)
def test_a_position_is_marked_once_its_tokens_are_gone(
    state: PositionState, gone: int, *, is_marked: bool
) -> None:
    of = venues(holding_of(state, gone=gone))
    found = found_in(of, ada(of), "m1")
    assert found is not None
    event = MarkedRedeemed("ada", Venue.EVM, "m1", NO, *TIMES, "")
    assert mark_what_is_gone(of, found, NO, TIMES) == ([event] if is_marked else []) == of.applied
    assert mark_redeemed(of, found, NO, (TIMES, "0xab")) == event._replace(tx_hash="0xab")


@pytest.mark.parametrize(
    ("changes", "venue", "is_paid"),
    [
        ({}, Venue.EVM, True),
        ({}, Venue.SOL, False),
        ({"auto_redeem_enabled": False}, Venue.EVM, False),
        ({"wallet": WalletKind.EXTERNAL}, Venue.EVM, False),
    ],
)
def test_the_service_redeems_what_it_holds_for_an_agent_that_wants_it(
    changes: dict[str, Any], venue: Venue, *, is_paid: bool
) -> None:
    of = venues(holding_of(), venue)
    ada(of).change(changes)
    of.accounts["ben", Venue.EVM] = other = VenueAccount("ben", Venue.EVM)
    other.holdings["m1"] = holding_of()
    events = redeem_managed(of, TIMES)
    assert [event.agent_id for event in events] == (["ada"] if is_paid else [])
    assert events == of.applied
    of.payable = set()
    assert redeem_managed(of, TIMES) == []


def test_nothing_is_paid_of_what_is_not_due() -> None:
    of = venues(holding_of(PositionState.AWAITING))
    assert redeem_managed(of, TIMES) == []
    assert redemption.REAL
