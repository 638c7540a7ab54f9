"""Which position a claim means, why it is refused, and what is paid by itself."""

from types import SimpleNamespace
from typing import Any, Final

import pytest

from kit.engine.bare import AT, bare_world
from service_tui.engine.books.venues import VenueAccount
from service_tui.engine.chain import redemption
from service_tui.engine.chain.redemption import (
    AccountPosition,
    check_chain,
    claim_position,
    claimed,
    found_in,
    redeem,
    redeem_managed,
    winning,
)
from service_tui.engine.errors import (
    AlreadyRedeemed,
    ManualOnly,
    NotFinalized,
    PositionLost,
    PositionNotFound,
)
from service_tui.engine.events import Claimed, PositionRedeemed
from service_tui.engine.position import Position
from service_tui.engine.transitions import PositionState
from service_tui.terms import Side, Venue, WalletKind
from service_tui.units import ONE, Micros, Timestamp

YES, NO = Side.YES, Side.NO
TIMES: Final = (AT, Timestamp(AT + 60))


class Holding:
    """A position on a real venue, as its state says."""

    def __init__(
        self, state: PositionState = PositionState.READY, winner: Side | None = NO
    ) -> None:
        self.state = state
        self._winner = winner
        self.gone: set[Side] = set()
        self.position = Position("ada", "m1")
        self.position.no.shares, self.position.no.cost = Micros(8 * ONE), Micros(3 * ONE)

    def winner(self) -> Side | None:
        return self._winner

    def on_chain(self, side: Side) -> bool:
        return side not in self.gone

    def payout(self) -> Micros:
        return Micros(8 * ONE if self.state is PositionState.READY else 0)


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
        holding = Holding()
        of = venues(holding, venue)
        assert found_in(of, ada(of), "m1") == AccountPosition(
            of.accounts["ada", venue],
            holding,  # pyright: ignore[reportArgumentType]
        )
        assert found_in(of, ada(of), "m2") is None
        assert found_in(of, of.agents["ben"], "m1") is None


@pytest.mark.parametrize(
    ("state", "winner", "side", "error"),
    [
        (PositionState.READY, NO, NO, None),
        (PositionState.READY, NO, YES, PositionNotFound),
        (PositionState.READY, YES, NO, PositionLost),
        (PositionState.ACTIVE, None, NO, NotFinalized),
        (PositionState.AWAITING, NO, NO, NotFinalized),
        (PositionState.REDEEMED, NO, NO, AlreadyRedeemed),
    ],
)
def test_only_a_side_that_won_and_is_not_redeemed_is_paid(
    state: PositionState, winner: Side | None, side: Side, *, error: type[Exception] | None
) -> None:
    of = venues(Holding(state, winner))
    if error is None:
        assert winning(of, ada(of), ("m1", side)) == found_in(of, ada(of), "m1")
        return
    for call in (winning, lambda *words: redeem(*words, TIMES)):
        with pytest.raises(error):
            call(of, ada(of), ("m1", side))
    assert of.applied == []


def test_a_redemption_pays_what_the_side_is_worth() -> None:
    both = Holding()
    # The other side has cost as well, and is worth nothing.
    both.position.yes.shares, both.position.yes.cost = Micros(5 * ONE), Micros(4 * ONE)
    of = venues(both)
    paid = PositionRedeemed(
        "ada", Venue.EVM, "m1", NO, Micros(8 * ONE), Micros(3 * ONE), Micros(8 * ONE), *TIMES
    )
    assert redeem(of, ada(of), ("m1", NO), TIMES) == [paid] == of.applied


def test_what_an_own_wallet_has_redeemed_is_not_paid_again() -> None:
    holding = Holding()
    holding.gone = {NO}
    of = venues(holding)
    with pytest.raises(AlreadyRedeemed):
        redeem(of, ada(of), ("m1", NO), TIMES)
    assert of.applied == []


def test_only_one_venue_redeems_here() -> None:
    check_chain(Venue.EVM)
    for venue in (Venue.SOL, Venue.SIM):
        with pytest.raises(ManualOnly):
            check_chain(venue)


@pytest.mark.parametrize(
    ("state", "gone", "is_claimed"),
    [
        (PositionState.READY, {NO}, True),
        (PositionState.READY, set(), False),
        (PositionState.READY, {YES}, False),
        (PositionState.AWAITING, {NO}, False),
        (PositionState.REDEEMED, {NO}, False),
    ],
)
def test_a_position_is_claimed_once_its_tokens_are_gone(
    state: PositionState, gone: set[Side], *, is_claimed: bool
) -> None:
    holding = Holding(state)
    holding.gone = gone
    of = venues(holding)
    found = found_in(of, ada(of), "m1")
    assert found is not None
    event = Claimed("ada", Venue.EVM, "m1", NO, *TIMES, "")
    assert claim_position(of, found, NO, TIMES) == ([event] if is_claimed else []) == of.applied
    assert claimed(of, found, NO, (TIMES, "0xab")) == event._replace(tx_hash="0xab")


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
    of = venues(Holding(), venue)
    ada(of).change(changes)
    of.accounts["ben", Venue.EVM] = other = VenueAccount("ben", Venue.EVM)
    other.holdings["m1"] = Holding()  # pyright: ignore[reportArgumentType]
    events = redeem_managed(of, TIMES)
    assert [event.agent_id for event in events] == (["ada"] if is_paid else [])
    assert events == of.applied
    of.payable = set()
    assert redeem_managed(of, TIMES) == []


def test_nothing_is_paid_of_what_is_not_due() -> None:
    of = venues(Holding(PositionState.AWAITING))
    assert redeem_managed(of, TIMES) == []
    assert redemption.REAL
