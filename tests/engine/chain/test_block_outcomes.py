"""What a redemption on the chain burns and pays, and what becomes of one that is lost."""

from typing import Any

import pytest

from kit.engine.bare import AT, HOUR, bare_world
from service_tui.engine.books.catalogue import condition_of
from service_tui.engine.books.venues import VenueAccount, VenuePosition
from service_tui.engine.chain.block_production import (
    NOT_APPROVED,
    TOO_MUCH,
    UNSETTLED,
    CallResult,
    outcome_of,
    produce_blocks,
)
from service_tui.engine.chain.chain import GAS_REDEEM, GWEI, WEI
from service_tui.engine.chain_events import (
    CallKind,
    ChainCall,
    PlannedOutcome,
    TxMined,
    TxSent,
    TxStatus,
    WalletLinked,
)
from service_tui.engine.events import PositionRedeemed
from service_tui.engine.position import Position, SidePosition
from service_tui.engine.transitions import PositionState
from service_tui.engine.world import World
from service_tui.outcome import YES as ENDED_YES
from service_tui.terms import Side, Venue
from service_tui.units import ONE, Micros, Timestamp

ADDRESS, HASH = "0x" + "ab" * 20, "0x" + "cd" * 32
CONDITION = condition_of("m1")
YES, NO = Side.YES, Side.NO
SETS = ChainCall(CallKind.REDEEM, CONDITION, (1, 2))
Burns = list[tuple[Side, int]]


def scene(**changes: Any) -> tuple[World, VenuePosition]:
    """A linked wallet with 8 YES that have won and 5 NO, of which one is burned."""
    world = bare_world("ada")
    world.apply(WalletLinked("ada", AT, ADDRESS, WEI))
    position = Position("ada", "m1")
    position.yes = SidePosition(Micros(8 * ONE), Micros(2 * ONE))
    position.no = SidePosition(Micros(5 * ONE), Micros(ONE))
    given: dict[str, Any] = {"outcome": ENDED_YES, "neg_risk": False, "burned_no": Micros(ONE)}
    holding = VenuePosition(
        position, "Did it?", "politics", Timestamp(AT + HOUR), PositionState.READY,
        **{**given, **changes},
    )  # fmt: skip
    world.venues.accounts["ada", Venue.EVM] = VenueAccount(
        "ada", Venue.EVM, holdings={"m1": holding}
    )
    return world, holding


def burned(result: CallResult) -> Burns:
    return [(burn.side, burn.shares) for burn in result.burns]


@pytest.mark.parametrize(
    ("numbers", "burns", "payout"),
    [
        ((1, 2), [(YES, 8 * ONE), (NO, 4 * ONE)], 8 * ONE),
        ((1,), [(YES, 8 * ONE)], 8 * ONE),
        ((2,), [(NO, 4 * ONE)], 0),
        ((4,), [], 0),
        ((), [], 0),
    ],
)
def test_the_standard_contract_burns_the_outcomes_that_are_named(
    numbers: tuple[int, ...], burns: Burns, payout: int
) -> None:
    world, _ = scene()

    result = outcome_of(world.chain, world.venues, ADDRESS, SETS._replace(numbers=numbers))

    assert (result.why, burned(result), result.payout()) == ("", burns, payout)


def adapter(*numbers: int, operator: str = "adapter") -> ChainCall:
    return ChainCall(CallKind.REDEEM_ADAPTER, CONDITION, numbers, operator=operator)


@pytest.mark.parametrize(
    ("numbers", "burns", "why"),
    [
        ((8 * ONE, 4 * ONE), [(YES, 8 * ONE), (NO, 4 * ONE)], ""),
        ((3 * ONE, 0), [(YES, 3 * ONE)], ""),
        ((0, 4 * ONE), [(NO, 4 * ONE)], ""),
        ((3 * ONE,), [(YES, 3 * ONE)], ""),
        ((), [], ""),
        ((8 * ONE + 1, 0), [], TOO_MUCH),
        ((0, 4 * ONE + 1), [], TOO_MUCH),
    ],
)
def test_the_adapter_burns_the_amounts_that_are_named(
    numbers: tuple[int, ...], burns: Burns, why: str
) -> None:
    world, _ = scene(neg_risk=True)
    wallet = world.chain.wallet_of("ada")
    assert wallet is not None
    wallet.approvals.add("adapter")

    result = outcome_of(world.chain, world.venues, ADDRESS, adapter(*numbers))

    assert (result.why, burned(result)) == (why, burns)


def test_the_adapter_needs_an_approval_and_finds_its_own_questions_only() -> None:
    world, _ = scene(neg_risk=True)
    call = adapter(ONE, 0)
    assert outcome_of(world.chain, world.venues, ADDRESS, call).why == NOT_APPROVED
    assert outcome_of(world.chain, world.venues, ADDRESS, SETS) == CallResult()

    world, _ = scene()
    wallet = world.chain.wallet_of("ada")
    assert wallet is not None
    wallet.approvals.add("adapter")
    assert outcome_of(world.chain, world.venues, ADDRESS, call).why == TOO_MUCH


def test_before_its_end_a_question_pays_nothing() -> None:
    world, _ = scene(outcome=None)

    assert outcome_of(world.chain, world.venues, ADDRESS, SETS).why == UNSETTLED
    stranger = "0x" + "11" * 20
    assert outcome_of(world.chain, world.venues, stranger, SETS) == CallResult()
    other = SETS._replace(condition=condition_of("m2"))
    assert outcome_of(world.chain, world.venues, ADDRESS, other) == CallResult()


def mined(planned: PlannedOutcome, gas: int = 900_000) -> tuple[World, list[Any]]:
    """What a redemption comes to in the block that is due."""
    world, _ = scene()
    due = world.chain.block_at(AT)
    sent = TxSent(HASH, "ada", AT, ADDRESS, 0, "0xto", SETS, gas, 100 * GWEI, due, planned, "")
    world.apply(sent)
    times = (Timestamp(AT + 60), Timestamp(AT + 90))
    return world, produce_blocks(world.chain, world.venues, times)


def test_a_transaction_that_is_lost_costs_nothing() -> None:
    world, (lost,) = mined(PlannedOutcome.DROP)

    assert lost == TxMined(HASH, "ada", Timestamp(AT + 60), TxStatus.DROPPED, 0, 0, 0)
    wallet = world.chain.wallet_of("ada")
    assert wallet is not None
    assert (wallet.gas, wallet.nonce) == (WEI, 0)


def test_a_transaction_that_is_carried_out_pays_and_burns_gas() -> None:
    world, (yes, no, end) = mined(PlannedOutcome.OK)

    assert isinstance(yes, PositionRedeemed)
    assert [(one.side, one.shares, one.payout, one.tx_hash) for one in (yes, no)] == [
        (YES, 8 * ONE, 8 * ONE, HASH), (NO, 4 * ONE, 0, HASH),
    ]  # fmt: skip
    assert (end.status, end.at, end.payout) == (TxStatus.CONFIRMED, AT + 60, 8 * ONE)
    wallet = world.chain.wallet_of("ada")
    assert wallet is not None
    assert wallet.gas == WEI - end.fee
    assert end.fee > 0
    assert wallet.nonce == 1


@pytest.mark.parametrize(
    ("planned", "gas", "why"),
    [
        (PlannedOutcome.REVERT, 900_000, "execution reverted"),
        (PlannedOutcome.OK, 1_000, "out of gas"),
    ],
)
def test_a_transaction_that_fails_burns_its_gas_alone(
    planned: PlannedOutcome, gas: int, why: str
) -> None:
    world, (end,) = mined(planned, gas)

    assert (end.status, end.payout, end.why) == (TxStatus.FAILED, 0, why)
    assert end.gas_used == min(gas, GAS_REDEEM)
    assert end.at == AT + 60
    wallet = world.chain.wallet_of("ada")
    assert wallet is not None
    assert wallet.gas < WEI
