"""The simulated chain's node: what it answers to each method, called as a function."""

from typing import Any

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from service_tui.addresses import keccak256
from service_tui.engine.books.book import Resting
from service_tui.engine.books.catalogue import condition_of, token_of
from service_tui.engine.books.venues import VenueAccount, VenuePosition
from service_tui.engine.chain.chain import GWEI, Tx, managed_address
from service_tui.engine.chain_events import (
    CallKind,
    ChainCall,
    PlannedOutcome,
    TxMined,
    TxSent,
    TxStatus,
    WalletLinked,
)
from service_tui.engine.position import Position, SidePosition
from service_tui.engine.transitions import PositionState
from service_tui.engine.world import World
from service_tui.outcome import NO as ENDED_NO
from service_tui.outcome import VOID, Outcome
from service_tui.outcome import YES as ENDED_YES
from service_tui.server.chain_node.contract_calls import Reverted, agent_of, called
from service_tui.server.chain_node.node import PAYOUT_TOPIC, RpcFault, answer
from service_tui.signing import codec
from service_tui.signing.approvals import approvals
from service_tui.signing.book import POLYGON, ExchangeVersion
from service_tui.signing.calls import UINT_MAX, ZERO_32, RedeemPositions, encode_call
from service_tui.signing.tokens import collection_id, position_id
from service_tui.terms import Action, OrderType, Side, Venue, WalletKind
from service_tui.units import Micros, Timestamp

ADDRESS, OTHER = "0x" + "Ab" * 20, "0x" + "12" * 20
HASH = "0x" + "cd" * 32
CONDITION = condition_of("m1")
YES, NO = Side.YES, Side.NO


def linked() -> World:
    """An agent's own wallet, its address taken up by a chain that has run for a while."""
    world = bare_world("ada", "bea", wallet=WalletKind.EXTERNAL)
    world.apply(WalletLinked("ada", AT, ADDRESS, 123))
    wallet = world.chain.wallet_of("ada")
    assert wallet is not None
    wallet.nonce, wallet.native_usdc = 4, Micros(55)
    world.chain.pace = world.chain.pace.__class__(
        block_s=5.0, gas_price=70 * GWEI, base_at=Timestamp(AT - 20), base_block=900
    )
    return world


def sent(world: World, nonce: int = 4, **fields: Any) -> TxSent:
    call = ChainCall(CallKind.REDEEM, CONDITION, (1, 2))
    known: dict[str, Any] = {
        "tx_hash": HASH, "agent_id": "ada", "at": AT, "sender": ADDRESS, "nonce": nonce,
        "to": POLYGON.conditional_tokens, "call": call, "gas": 200_001, "max_fee": 9,
        "due": 905,
    }  # fmt: skip
    made = TxSent(**(known | fields))
    world.chain.txs[made.tx_hash] = Tx(made)
    return made


def mined(world: World, tx: TxSent, status: TxStatus = TxStatus.CONFIRMED) -> None:
    event = TxMined(tx.tx_hash, tx.agent_id, AT, status, 905, 150, 3_000, Micros(7_000_000))
    world.chain.txs[tx.tx_hash] = Tx(tx, event)


@pytest.mark.parametrize(
    ("method", "params", "result"),
    [
        ("eth_chainId", [], "0x89"),
        ("eth_blockNumber", [], hex(904)),
        ("eth_gasPrice", [], hex(70 * GWEI)),
        ("eth_maxPriorityFeePerGas", [], hex(30 * GWEI)),
        ("eth_getBalance", [ADDRESS.lower(), "latest"], hex(123)),
        ("eth_getBalance", [OTHER, "latest"], "0x0"),
        ("eth_getTransactionCount", [ADDRESS, "latest"], "0x4"),
        ("eth_getTransactionCount", [ADDRESS], "0x4"),
        ("eth_getTransactionCount", [ADDRESS, "pending"], "0x5"),
        ("eth_getTransactionCount", [OTHER, "latest"], "0x0"),
        ("eth_getTransactionCount", [OTHER, "pending"], "0x0"),
        (
            "eth_getBlockByNumber",
            ["latest", False],
            {
                "number": hex(904),
                "timestamp": hex(int(AT)),
                "baseFeePerGas": hex(70 * GWEI),
                "transactions": [],
            },
        ),
    ],
)
def test_a_reading_of_the_chain_is_its_figure(
    method: str, params: list[Any], result: object
) -> None:
    world = linked()
    sent(world)
    assert answer(world, method, params, AT) == result


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("eth_sendRawTransaction", ["0x00"], -32601),
        ("eth_getBalance", [], -32602),
        ("eth_getBalance", [7], -32602),
        ("eth_getBalance", ["me"], -32602),
        ("eth_getTransactionReceipt", [], -32602),
        ("eth_getTransactionReceipt", [HASH[:-1]], -32602),
        ("eth_call", ["0x"], -32602),
        ("eth_call", [{"to": "here", "data": "0x"}], -32602),
        ("eth_call", [{"to": OTHER, "data": "0xz"}], -32602),
        ("eth_call", [{"to": OTHER, "data": "0x"}, "latest"], 3),
    ],
)
def test_a_call_of_another_form_is_refused_by_its_number(
    method: str, params: list[Any], code: int
) -> None:
    with pytest.raises(RpcFault) as refused:
        answer(linked(), method, params, AT)
    assert refused.value.code == code


# -- receipts ------------------------------------------------------------------------------


def test_a_receipt_tells_what_became_of_a_transaction() -> None:
    world = linked()
    mined(world, sent(world))
    logs = [
        {
            "address": POLYGON.conditional_tokens,
            "topics": [
                PAYOUT_TOPIC,
                "0x" + "00" * 12 + "ab" * 20,
                "0x" + "00" * 12 + POLYGON.usdc_bridged[2:].lower(),
                "0x" + "00" * 32,
            ],
            "data": "0x"
            + codec.encode_values(
                ("bytes32", "uint256[]", "uint256"),
                (bytes.fromhex(CONDITION[2:]), (1, 2), 7_000_000),
            ).hex(),
            "blockNumber": hex(905),
            "transactionHash": HASH,
            "logIndex": "0x0",
        }
    ]
    assert answer(world, "eth_getTransactionReceipt", [HASH.upper().replace("X", "x")], AT) == {
        "transactionHash": HASH,
        "transactionIndex": "0x0",
        "blockNumber": hex(905),
        "blockHash": "0x" + keccak256(b"block 905").hex(),
        "from": ADDRESS,
        "to": POLYGON.conditional_tokens,
        "status": "0x1",
        "gasUsed": hex(150),
        "cumulativeGasUsed": hex(150),
        "effectiveGasPrice": hex(20),
        "type": "0x2",
        "contractAddress": None,
        "logs": logs,
    }


def test_a_failed_transaction_has_a_receipt_without_logs() -> None:
    world = linked()
    mined(world, sent(world), TxStatus.FAILED)
    told = answer(world, "eth_getTransactionReceipt", [HASH], AT)
    assert isinstance(told, dict)
    assert (told["status"], told["logs"]) == ("0x0", [])


@pytest.mark.parametrize(
    "fields",
    [
        {"to": POLYGON.neg_risk_adapter},
        {"call": ChainCall(CallKind.APPROVE, approval="ctf_x")},
    ],
)
def test_only_a_standard_redemption_logs_its_payout(fields: dict[str, Any]) -> None:
    world = linked()
    mined(world, sent(world, **fields))
    told = answer(world, "eth_getTransactionReceipt", [HASH], AT)
    assert isinstance(told, dict)
    assert (told["status"], told["logs"]) == ("0x1", [])


def test_what_is_on_its_way_or_lost_has_no_receipt() -> None:
    world = linked()
    assert answer(world, "eth_getTransactionReceipt", [HASH], AT) is None
    tx = sent(world)
    assert answer(world, "eth_getTransactionReceipt", [HASH], AT) is None
    mined(world, tx, TxStatus.DROPPED)
    assert answer(world, "eth_getTransactionReceipt", [HASH], AT) is None


@pytest.mark.parametrize(("shown_s", "is_shown"), [(-1, False), (0, False), (1, True)])
def test_a_receipt_is_held_back_until_the_operator_shows_it(
    *, shown_s: float, is_shown: bool
) -> None:
    world = linked()
    mined(world, sent(world, planned=PlannedOutcome.WITHHOLD))
    shown_at = Timestamp(AT + shown_s)
    world.chain.pace = world.chain.pace.__class__(shown_at=shown_at)
    told = answer(world, "eth_getTransactionReceipt", [HASH], AT)
    assert (told is not None) is is_shown


def test_a_transaction_is_told_as_it_was_sent() -> None:
    world = linked()
    tx = sent(world)
    wanted: dict[str, object] = {
        "hash": HASH,
        "from": ADDRESS,
        "to": POLYGON.conditional_tokens,
        "nonce": "0x4",
        "gas": hex(200_001),
        "maxFeePerGas": "0x9",
        "value": "0x0",
        "type": "0x2",
        "chainId": "0x89",
        "blockNumber": None,
    }
    assert answer(world, "eth_getTransactionByHash", [HASH], AT) == wanted
    mined(world, tx)
    in_block = wanted | {"blockNumber": hex(905)}
    assert answer(world, "eth_getTransactionByHash", [HASH], AT) == in_block
    mined(world, tx, TxStatus.DROPPED)
    assert answer(world, "eth_getTransactionByHash", [HASH], AT) is None
    assert answer(world, "eth_getTransactionByHash", ["0x" + "00" * 32], AT) is None


# -- contracts -----------------------------------------------------------------------------


def held(world: World, *, outcome: Outcome | None = ENDED_YES) -> VenuePosition:
    position = Position("ada", "m1")
    position.yes = SidePosition(Micros(8_000_000), Micros(1))
    position.no = SidePosition(Micros(5_000_000), Micros(1))
    state = PositionState.ACTIVE if outcome is None else PositionState.READY
    found = VenuePosition(
        position, "Held?", "politics", Timestamp(AT + HOUR), state, outcome=outcome
    )
    found.burned_no = Micros(1_000_000)
    world.venues.accounts["ada", Venue.EVM] = VenueAccount("ada", Venue.EVM, holdings={"m1": found})
    return found


def read(world: World, to: str, signature: str, *arguments: object) -> int:
    return int.from_bytes(called(world, to, codec.encode(signature, *arguments)), "big")


TOKENS, BALANCE = POLYGON.conditional_tokens, "balanceOf(address,uint256)"


def test_outcome_tokens_are_those_of_the_wallets_own_position() -> None:
    world = linked()
    held(world)
    yes, no = (int(token_of("m1", side, neg_risk=False)) for side in Side)
    assert read(world, TOKENS, BALANCE, ADDRESS, yes) == 8_000_000
    assert read(world, TOKENS, BALANCE, ADDRESS, no) == 4_000_000
    assert read(world, TOKENS, BALANCE, ADDRESS, 77) == 0
    assert read(world, TOKENS, BALANCE, OTHER, yes) == 0


@pytest.mark.parametrize(
    ("outcome", "parts"),
    [
        (ENDED_YES, (1, 1, 0)),
        (ENDED_NO, (1, 0, 1)),
        (None, (0, 0, 0)),
        (Outcome.at(0.35), (1_000_000, 350_000, 650_000)),
        (VOID, (2, 1, 1)),
    ],
)
def test_payouts_are_those_of_the_outcome(
    *, outcome: Outcome | None, parts: tuple[int, ...]
) -> None:
    world = linked()
    held(world, outcome=outcome)
    condition = bytes.fromhex(CONDITION[2:])
    numerator = "payoutNumerators(bytes32,uint256)"
    found = (
        read(world, TOKENS, "payoutDenominator(bytes32)", condition),
        *(read(world, TOKENS, numerator, condition, slot) for slot in (0, 1)),
    )
    assert found == parts
    with pytest.raises(Reverted):
        read(world, TOKENS, numerator, condition, 2)
    # The market itself is asked first, while it is there.
    listed(world, "m1").outcome = None if outcome is not None else ENDED_YES
    assert read(world, TOKENS, "payoutDenominator(bytes32)", condition) == int(outcome is None)


def test_a_condition_that_nobody_knows_is_not_resolved() -> None:
    assert read(linked(), TOKENS, "payoutDenominator(bytes32)", ZERO_32) == 0


def test_money_is_that_of_the_venues_account_and_native_dollars_are_apart() -> None:
    world = linked()
    balance = "balanceOf(address)"
    for token in (POLYGON.usdc_bridged, POLYGON.pusd):
        assert read(world, token, balance, ADDRESS) == 1_000_000_000
        assert read(world, token, balance, OTHER) == 0
    assert read(world, POLYGON.usdc_native, balance, ADDRESS) == 55
    assert read(world, POLYGON.usdc_native, balance, OTHER) == 0


@pytest.mark.slow
@pytest.mark.parametrize("exchange", ExchangeVersion)
def test_what_was_approved_is_told_of_its_own_token_and_spender_alone(
    exchange: ExchangeVersion,
) -> None:
    for given in approvals(POLYGON, exchange):
        world = linked()
        wallet = world.chain.wallet_of("ada")
        assert wallet is not None
        wallet.approvals.add(given.key)
        for one in approvals(POLYGON, exchange):
            is_given = one.key == given.key
            if one.to == TOKENS:
                name = "isApprovedForAll(address,address)"
                assert read(world, one.to, name, ADDRESS, one.spender) == is_given
            else:
                found = read(world, one.to, "allowance(address,address)", ADDRESS, one.spender)
                assert found == (UINT_MAX if is_given else 0)


def test_identities_are_derived_as_the_contracts_do() -> None:
    world, condition = linked(), bytes.fromhex(CONDITION[2:])
    collection = "getCollectionId(bytes32,bytes32,uint256)"
    expected = collection_id(condition, 2)
    found = read(world, TOKENS, collection, ZERO_32, condition, 2)
    assert found == int.from_bytes(expected, "big")
    token = read(world, TOKENS, "getPositionId(address,bytes32)", POLYGON.pusd, expected)
    assert token == position_id(POLYGON.pusd, expected)
    wrapped = read(world, POLYGON.neg_risk_adapter, "wcol()")
    assert wrapped == int(POLYGON.wrapped_collateral, 16)


@pytest.mark.parametrize(
    ("to", "signature"),
    [(OTHER, "wcol()"), (POLYGON.conditional_tokens, "wcol()")],
)
def test_another_contract_answers_nothing(to: str, signature: str) -> None:
    with pytest.raises(Reverted):
        called(linked(), to, codec.encode(signature))


def test_an_address_is_the_agents_whose_wallet_it_is_now() -> None:
    world = bare_world("ada", "bea", "cyd")
    for name in ("ada", "bea"):
        world.agents[name].change({"wallet": WalletKind.EXTERNAL})
    assert agent_of(world, managed_address("ada")) is None
    assert agent_of(world, managed_address("cyd").lower()) is world.agents["cyd"]
    world.apply(WalletLinked("ada", AT, ADDRESS))
    assert agent_of(world, ADDRESS.lower()) is world.agents["ada"]
    world.apply(WalletLinked("bea", AT, OTHER))
    assert agent_of(world, OTHER) is world.agents["bea"]
    world.apply(WalletLinked("ada", AT, ""))
    assert agent_of(world, ADDRESS) is None


@pytest.mark.slow
@pytest.mark.parametrize(("claimed", "count"), [(True, 20), (False, 0)])
def test_the_services_own_wallets_have_all_approvals_once_claimed(
    *, claimed: bool, count: int
) -> None:
    world = bare_world(claimed=claimed)
    every = {one for exchange in ExchangeVersion for one in approvals(POLYGON, exchange)}
    given = 0
    for one in every:
        name = (
            "isApprovedForAll(address,address)"
            if one.to == TOKENS
            else "allowance(address,address)"
        )
        given += read(world, one.to, name, managed_address("ada"), one.spender) > 0
    assert given == count


# -- calls on trial ------------------------------------------------------------------------

REDEEM = RedeemPositions(POLYGON.usdc_bridged, ZERO_32, bytes.fromhex(CONDITION[2:]), (1,))


def tried(world: World, method: str, data: str, **more: str) -> object:
    call: dict[str, Any] = {"to": TOKENS, "from": ADDRESS, "data": data} | more
    return answer(world, method, [call, "latest"], AT)


def test_a_redemption_that_pays_is_tried_without_effect() -> None:
    world = linked()
    holding = held(world)
    data = "0x" + encode_call(REDEEM).hex()
    assert tried(world, "eth_call", data) == "0x"
    assert tried(world, "eth_estimateGas", data) not in {hex(21_000), "0x0"}
    assert holding.burned_yes == 0
    assert world.chain.txs == {}


def test_an_approval_is_estimated_by_itself_and_anything_else_as_a_plain_transfer() -> None:
    world = linked()
    approval = approvals(POLYGON, ExchangeVersion.V1)[1]
    data = "0x" + encode_call(approval.call).hex()
    dear = tried(world, "eth_estimateGas", data, to=approval.to)
    redeem = tried(world, "eth_estimateGas", "0x" + encode_call(REDEEM).hex())
    assert len({dear, redeem, hex(21_000)}) == 3
    assert tried(world, "eth_estimateGas", "0x") == hex(21_000)
    assert tried(world, "eth_call", data, to=approval.to) == "0x"


def test_a_question_to_a_contract_is_answered_as_the_node_writes_it() -> None:
    world = linked()
    data = "0x" + codec.encode("balanceOf(address)", ADDRESS).hex()
    answered = tried(world, "eth_call", data, to=POLYGON.usdc_bridged)
    assert answered == f"0x{1_000_000_000:064x}"


def test_a_redemption_that_would_revert_says_why_and_is_nobodys_without_a_sender() -> None:
    world = linked()
    held(world, outcome=None)
    data = "0x" + encode_call(REDEEM).hex()
    for method in ("eth_call", "eth_estimateGas"):
        with pytest.raises(RpcFault) as refused:
            tried(world, method, data)
        assert refused.value.code == 3
        assert refused.value.message == "execution reverted: result for condition not received yet"
    # Nobody's tokens are burned for who does not say who asks.
    bare: dict[str, Any] = {"to": TOKENS, "data": data}
    assert answer(world, "eth_call", [bare], AT) == "0x"
    assert answer(world, "eth_call", [bare | {"from": "me"}], AT) == "0x"
    assert answer(world, "eth_call", [bare | {"from": 7}], AT) == "0x"


def test_the_older_name_of_the_data_is_read_as_well() -> None:
    world = linked()
    data = "0x" + codec.encode("balanceOf(address)", ADDRESS).hex()
    call: dict[str, Any] = {"to": POLYGON.usdc_bridged, "input": data}
    assert answer(world, "eth_call", [call], AT) == f"0x{1_000_000_000:064x}"


def test_money_that_open_buys_keep_is_still_in_the_wallet() -> None:
    world = linked()
    market = "10000000-0000-4000-8000-000000000001"
    listed(world, market, home=Venue.EVM)
    world.ledger.transfer("agent:ada:evm_venue", "orders:evm_venue", Micros(30_000_000))
    world.venues.book(market).orders["o1"] = Resting(
        "o1", "ada", Venue.EVM, market, YES, Action.BUY, OrderType.GTC, Micros(300_000),
        Micros(100_000_000), Micros(100_000_000), Micros(30_000_000), AT, AT,
    )  # fmt: skip
    assert world.venues.cash("ada", Venue.EVM) == 970_000_000
    assert read(world, POLYGON.usdc_bridged, "balanceOf(address)", ADDRESS) == 1_000_000_000


def test_an_address_of_nobody_has_approved_nothing() -> None:
    spender = POLYGON.v1_exchange
    name = "allowance(address,address)"
    assert read(linked(), POLYGON.usdc_bridged, name, OTHER, spender) == 0
