"""Which signed transactions the relay passes on, and what it makes of them."""

from dataclasses import replace

import pytest

from kit.chain.counting import CountingSigner
from kit.engine.bare import AT, bare_world
from service_tui.engine.chain.chain import GAS_REDEEM, GWEI, WEI, Wallet
from service_tui.engine.chain_events import (
    CallKind,
    ChainCall,
    PlannedOutcome,
    TxMined,
    TxSent,
    TxStatus,
    WalletLinked,
)
from service_tui.engine.world import World
from service_tui.server.chain_node.relay import (
    ADAPTER_KEY,
    Refused,
    Taken,
    chain_call,
    gas_needed,
    relay,
)
from service_tui.signing.approvals import approvals
from service_tui.signing.book import POLYGON, ExchangeVersion
from service_tui.signing.calls import (
    UINT_MAX,
    ZERO_32,
    Approve,
    Call,
    RedeemNegRisk,
    RedeemPositions,
    SetApprovalForAll,
    encode_call,
)
from service_tui.signing.transactions import Transaction, sign_transaction
from service_tui.terms import WalletKind
from service_tui.units import Micros, Timestamp

OWN = CountingSigner()
CONDITION = bytes(range(32))
REDEEM = RedeemPositions(POLYGON.usdc_bridged, ZERO_32, CONDITION, (1,))
FAIR = Transaction(
    chain_id=137,
    nonce=4,
    max_priority_fee=30 * GWEI,
    max_fee=120 * GWEI,
    gas=200_000,
    to=POLYGON.conditional_tokens,
    data=encode_call(REDEEM),
)


def linked() -> tuple[World, Wallet]:
    world = bare_world("ada", "bea", wallet=WalletKind.EXTERNAL)
    world.apply(WalletLinked("ada", AT, OWN.address, WEI))
    wallet = world.chain.wallet_of("ada")
    assert wallet is not None
    wallet.nonce = 4
    return world, wallet


def signed(transaction: Transaction = FAIR, signer: CountingSigner = OWN) -> str:
    return sign_transaction(transaction, signer).hex


def taken(world: World, text: str, at: float = AT) -> TxSent:
    found = relay(world, "ada", text, Timestamp(at))
    assert isinstance(found, Taken)
    return found.tx.sent


def refused(world: World, text: str, agent_id: str = "ada") -> Refused:
    found = relay(world, agent_id, text, AT)
    assert isinstance(found, Refused)
    assert world.chain.txs == {} or len(world.chain.txs) == 1
    return found


def test_a_wallet_is_known_in_whatever_letters_it_was_linked() -> None:
    world, wallet = linked()
    wallet.address = wallet.address.lower()
    assert taken(world, signed()).nonce == 4


def test_a_fair_transaction_waits_for_its_block_with_all_that_was_signed() -> None:
    world, _ = linked()
    pace = {"block_s": 5.0, "base_at": Timestamp(AT - 50), "base_block": 900, "delay_blocks": 3}
    faults = (PlannedOutcome.REVERT, PlannedOutcome.DROP)
    world.chain.pace = replace(world.chain.pace, faults=faults, **pace)
    transaction = sign_transaction(FAIR, OWN)
    found = relay(world, "ada", transaction.hex, AT)
    assert isinstance(found, Taken)
    expected = TxSent(
        tx_hash=transaction.tx_hash,
        agent_id="ada",
        at=AT,
        sender=OWN.address,
        nonce=4,
        to=POLYGON.conditional_tokens,
        call=ChainCall(CallKind.REDEEM, "0x" + CONDITION.hex(), (1,)),
        gas=200_000,
        max_fee=120 * GWEI,
        due=913,
        planned=PlannedOutcome.REVERT,
        replaces="",
    )
    assert found.tx.sent == expected
    assert found.events == (expected,)
    assert world.chain.pace.faults == (PlannedOutcome.DROP,)


def test_a_block_is_waited_for_even_without_a_delay() -> None:
    world, _ = linked()
    world.chain.pace = replace(world.chain.pace, delay_blocks=0, base_at=AT, base_block=7)
    sent = taken(world, signed())
    assert (sent.due, sent.planned) == (8, PlannedOutcome.OK)


def test_the_same_bytes_again_are_the_same_transaction() -> None:
    world, _ = linked()
    first = taken(world, signed())
    again = relay(world, "ada", signed(), Timestamp(AT + 9))
    assert isinstance(again, Taken)
    assert (again.tx.sent, again.events) == (first, ())
    assert refused(world, signed(), "bea").code == "WRONG_SIGNER"


def test_what_was_lost_may_be_sent_again() -> None:
    world, _ = linked()
    first = taken(world, signed())
    lost = TxMined(first.tx_hash, "ada", AT, TxStatus.DROPPED, 0, 0, 0, Micros(0))
    world.apply(lost)
    assert taken(world, signed(), AT + 9).at == AT + 9


@pytest.mark.parametrize(
    ("transaction", "code", "error"),
    [
        (replace(FAIR, chain_id=1), "WRONG_CHAIN", "chain 1 is not 137"),
        (replace(FAIR, value=1), "WRONG_VALUE", "the transaction moves POL"),
        (replace(FAIR, gas=1_500_001), "GAS_TOO_HIGH", "more than 1500000 gas"),
        (
            replace(FAIR, data=b"\xde\xad\xbe\xef"),
            "WRONG_CALL",
            "the call names the function 0xdeadbeef, which is unknown",
        ),
        (
            replace(FAIR, to=POLYGON.neg_risk_adapter),
            "WRONG_TARGET",
            f"{POLYGON.neg_risk_adapter} is no known redemption contract for this call",
        ),
        (
            replace(FAIR, max_fee=120 * GWEI - 1),
            "UNDERPRICED",
            "gas costs 120 gwei now",
        ),
        (replace(FAIR, nonce=3), "WRONG_NONCE", "nonce too low: the next one is 4"),
        (replace(FAIR, nonce=5), "WRONG_NONCE", "nonce too high: the next one is 4"),
    ],
)
def test_what_no_node_would_take_is_refused_with_why(
    transaction: Transaction, code: str, error: str
) -> None:
    world, _ = linked()
    found = refused(world, signed(transaction))
    assert (found.code, found.error) == (code, error)
    assert found.retryable is (code == "UNDERPRICED")
    assert found.fix


def test_gas_at_the_cap_and_at_the_price_of_now_is_taken() -> None:
    world, wallet = linked()
    dear = replace(FAIR, gas=1_500_000, max_priority_fee=120 * GWEI)
    wallet.gas = dear.cost_max
    assert taken(world, signed(dear)).gas == 1_500_000


def test_a_wallet_that_lacks_a_wei_sends_nothing() -> None:
    world, wallet = linked()
    wallet.gas = FAIR.cost_max - 1
    found = refused(world, signed())
    assert (found.code, found.retryable) == ("INSUFFICIENT_GAS", True)
    assert found.fix == "send a little POL to the wallet"


def test_only_the_linked_wallet_of_the_caller_signs() -> None:
    world, _ = linked()
    stranger = CountingSigner("5d" * 32)
    assert refused(world, signed(signer=stranger)).code == "WRONG_SIGNER"
    assert refused(world, signed(), "bea").code == "WRONG_SIGNER"


def test_what_is_no_transaction_is_named_by_its_fault() -> None:
    world, _ = linked()
    assert refused(world, "0x02c0").code == "MALFORMED"
    assert refused(world, "hello").code == "MALFORMED"
    assert refused(world, "0x01c0").code == "WRONG_TYPE"


def test_a_replacement_offers_a_tenth_more_and_drops_the_first() -> None:
    world, _ = linked()
    first = taken(world, signed())
    tenth = 132 * GWEI
    cheap = refused(world, signed(replace(FAIR, max_fee=tenth - 1)))
    assert (cheap.code, cheap.error) == ("UNDERPRICED", "replacement transaction underpriced")
    assert not cheap.retryable
    found = relay(world, "ada", signed(replace(FAIR, max_fee=tenth)), Timestamp(AT + 5))
    assert isinstance(found, Taken)
    assert found.tx.sent.replaces == first.tx_hash
    assert found.events[0] == TxMined(
        first.tx_hash,
        "ada",
        Timestamp(AT + 5),
        TxStatus.DROPPED,
        0,
        0,
        0,
        Micros(0),
        "replaced by another of the same nonce",
    )
    assert world.chain.txs[first.tx_hash].status is TxStatus.DROPPED


def test_the_next_transaction_may_wait_behind_the_first() -> None:
    world, _ = linked()
    taken(world, signed())
    second = taken(world, signed(replace(FAIR, nonce=5)))
    assert (second.nonce, second.replaces) == (5, "")
    assert world.chain.next_nonce(OWN.address) == 6


# -- calls ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "numbers"),
    [
        (REDEEM, (1,)),
        (replace(REDEEM, index_sets=(2, 1)), (2, 1)),
        # It would find nothing to burn.
        (replace(REDEEM, collateral=POLYGON.pusd), ()),
        (replace(REDEEM, parent_collection_id=CONDITION), ()),
    ],
)
def test_a_standard_redemption_burns_what_stands_on_the_venues_money(
    call: RedeemPositions, numbers: tuple[int, ...]
) -> None:
    found = chain_call(POLYGON.conditional_tokens, call)
    assert found == ChainCall(CallKind.REDEEM, "0x" + CONDITION.hex(), numbers)


def test_a_redemption_of_the_adapter_needs_its_approval() -> None:
    found = chain_call(POLYGON.neg_risk_adapter, RedeemNegRisk(CONDITION, (3, 4)))
    condition = "0x" + CONDITION.hex()
    assert found == ChainCall(CallKind.REDEEM_ADAPTER, condition, (3, 4), "", ADAPTER_KEY)
    assert f"ctf_{POLYGON.neg_risk_adapter.lower()}" == ADAPTER_KEY


@pytest.mark.parametrize("exchange", ExchangeVersion)
def test_every_approval_of_the_list_is_known_by_its_name(exchange: ExchangeVersion) -> None:
    for one in approvals(POLYGON, exchange):
        assert chain_call(one.to, one.call) == ChainCall(CallKind.APPROVE, approval=one.key)


@pytest.mark.parametrize(
    ("to", "call"),
    [
        (POLYGON.neg_risk_adapter, REDEEM),
        (POLYGON.conditional_tokens, RedeemNegRisk(CONDITION, (1, 0))),
        (POLYGON.usdc_bridged, Approve(POLYGON.v1_exchange, UINT_MAX - 1)),
        (POLYGON.usdc_bridged, Approve("0x" + "ab" * 20, UINT_MAX)),
        (POLYGON.pusd, Approve(POLYGON.v1_exchange, UINT_MAX)),
        (
            POLYGON.conditional_tokens,
            SetApprovalForAll(POLYGON.v1_exchange, is_approved=False),
        ),
    ],
)
def test_any_other_call_is_none_of_the_chains(to: str, call: Call) -> None:
    assert chain_call(to, call) is None


def test_a_redemption_needs_its_gas_with_a_third_to_spare_at_twice_the_price() -> None:
    world, _ = linked()
    first = gas_needed(world)
    assert first == GAS_REDEEM * 13 // 10 * 2 * 120 * GWEI
    world.chain.pace = replace(world.chain.pace, gas_price=240 * GWEI)
    assert gas_needed(world) == 2 * first
