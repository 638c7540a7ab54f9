"""Redemptions on a local chain with the venue's contracts."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import pytest

from kit.chain.artifacts import artifacts
from kit.chain.counting import CountingSigner
from kit.chain.stand_in import TOKENS
from kit.chain.world import SHARES, World, adapter_code, call_data, creation
from service_tui.addresses import checksummed, keccak256
from service_tui.signing.approvals import approvals
from service_tui.signing.book import ExchangeVersion
from service_tui.signing.calls import (
    UINT_MAX,
    ZERO_32,
    Approve,
    RedeemNegRisk,
    RedeemPositions,
    decode_call,
    encode_call,
)
from service_tui.signing.chain import Receipt
from service_tui.signing.errors import (
    ChainError,
    NotEnoughGasError,
    NotRedeemableError,
    Obstacle,
)
from service_tui.signing.node import chain_of
from service_tui.signing.policy import Redemption, SignableCall, SigningPolicy, Unsigned
from service_tui.signing.redemption import Redeemable, check_redeemable
from service_tui.signing.transactions import SignedTransaction, sign_transaction

pytestmark = pytest.mark.chain


@pytest.fixture
def wallet(purse: Iterator[str]) -> CountingSigner:
    return CountingSigner(next(purse))


def asked_for(condition: bytes, *, is_yes: bool = True) -> Redemption:
    return Redemption(condition_id=condition, is_yes=is_yes, is_neg_risk=False)


def proposed(world: World, condition: bytes, wallet: CountingSigner) -> Unsigned:
    """What a service answers to `redeem`: both outcomes, as the published one does."""
    call = RedeemPositions(world.book.usdc_bridged, ZERO_32, condition, (1, 2))
    return Unsigned(
        to=world.book.conditional_tokens,
        data="0x" + encode_call(call).hex(),
        sender=wallet.address,
        chain_id=137,
    )


async def checked(world: World, asked: Redemption, wallet: CountingSigner) -> Redeemable:
    return await check_redeemable(
        world.contracts, asked, wallet.address, collateral=world.book.usdc_bridged
    )


async def signed(world: World, judged: SignableCall, wallet: CountingSigner) -> SignedTransaction:
    """Price, check the gas, sign: the last steps before the broadcast."""
    policy = SigningPolicy(book=world.book)
    price = await world.chain.price(judged, wallet.address)
    transaction = policy.transaction(judged, price, spent_today=0)
    await world.chain.check_gas(transaction, wallet.address)
    return sign_transaction(transaction, wallet)


async def redeemed(world: World, asked: Redemption, wallet: CountingSigner) -> Receipt:
    """The whole path: check, judge, price, sign, broadcast, confirm."""
    assert asked.condition_id is not None
    await checked(world, asked, wallet)
    unsigned = proposed(world, asked.condition_id, wallet)
    judged = SigningPolicy(book=world.book).redemption(asked, unsigned, wallet.address)
    tx = await signed(world, judged, wallet)
    assert await world.rpc("eth_sendRawTransaction", [tx.hex]) == tx.tx_hash
    receipt = await world.chain.receipt(world.mined(tx.tx_hash))
    assert receipt is not None
    return receipt


async def tokens(world: World, condition: bytes, wallet: CountingSigner, *, is_yes: bool) -> int:
    token = await world.contracts.token_id(
        condition, is_yes=is_yes, collateral=world.book.usdc_bridged, is_neg_risk=False
    )
    return await world.contracts.token_balance(wallet.address, token)


async def money(world: World, wallet: CountingSigner) -> int:
    return await world.contracts.money(world.book.usdc_bridged, wallet.address)


@pytest.mark.slow
def test_the_published_contract_is_used_where_it_is_there(world: World) -> None:
    code = world.node.ask("eth_getCode", [world.book.conditional_tokens, "latest"])
    assert code == "0x" + (artifacts().conditional_tokens if world.is_real else TOKENS).hex()


async def test_the_chain_is_137_and_no_other(world: World) -> None:
    await world.chain.check_chain()
    with pytest.raises(ChainError, match="137"):
        await chain_of(world.rpc, 1).check_chain()


@pytest.mark.slow
@pytest.mark.parametrize("is_yes", [True, False])
async def test_a_winner_becomes_money_and_the_loser_is_not_burned(
    world: World, wallet: CountingSigner, *, is_yes: bool
) -> None:
    condition = world.prepared()
    world.bought(wallet, condition)
    before = wallet.signatures
    world.reported([1, 0] if is_yes else [0, 1])
    asked = asked_for(condition, is_yes=is_yes)
    found = await checked(world, asked, wallet)
    assert (found.shares, found.payout) == (SHARES, SHARES)
    assert await money(world, wallet) == 0
    receipt = await redeemed(world, asked, wallet)
    assert receipt.succeeded
    assert receipt.cost > 0
    assert wallet.signatures == before + 1
    assert await money(world, wallet) == SHARES
    assert await tokens(world, condition, wallet, is_yes=is_yes) == 0
    assert await tokens(world, condition, wallet, is_yes=not is_yes) == SHARES


@pytest.mark.slow
async def test_a_second_redemption_is_found_out_before_it_is_signed(
    world: World, wallet: CountingSigner
) -> None:
    condition = world.prepared()
    world.bought(wallet, condition)
    world.reported([1, 0])
    await redeemed(world, asked_for(condition), wallet)
    before = wallet.signatures
    with pytest.raises(NotRedeemableError) as refused:
        await redeemed(world, asked_for(condition), wallet)
    assert refused.value.obstacle is Obstacle.ALREADY_REDEEMED
    assert wallet.signatures == before
    assert await money(world, wallet) == SHARES


@pytest.mark.slow
async def test_a_loser_is_found_out_before_it_is_burned(
    world: World, wallet: CountingSigner
) -> None:
    condition = world.prepared()
    world.bought(wallet, condition)
    world.reported([0, 1])
    before = wallet.signatures
    with pytest.raises(NotRedeemableError) as refused:
        await redeemed(world, asked_for(condition), wallet)
    assert refused.value.obstacle is Obstacle.POSITION_LOST
    assert wallet.signatures == before
    assert await tokens(world, condition, wallet, is_yes=True) == SHARES


@pytest.mark.slow
async def test_the_contract_itself_burns_a_loser_without_a_word(
    world: World, wallet: CountingSigner
) -> None:
    # Why the chain is asked first: this succeeds, and pays nothing.
    condition = world.prepared()
    world.bought(wallet, condition)
    world.reported([0, 1])
    signature = "redeemPositions(address,bytes32,bytes32,uint256[])"
    values = (world.book.usdc_bridged, ZERO_32, condition, [1])
    tx_hash = world.by_wallet(wallet, world.book.conditional_tokens, signature, *values)
    receipt = await world.chain.receipt(tx_hash)
    assert receipt is not None
    assert receipt.succeeded
    assert await tokens(world, condition, wallet, is_yes=True) == 0
    assert await money(world, wallet) == 0


@pytest.mark.slow
async def test_an_open_condition_is_not_finalized(world: World, wallet: CountingSigner) -> None:
    condition = world.prepared()
    world.bought(wallet, condition)
    before = wallet.signatures
    asked = asked_for(condition)
    with pytest.raises(NotRedeemableError) as refused:
        await redeemed(world, asked, wallet)
    assert refused.value.obstacle is Obstacle.NOT_FINALIZED
    # And whoever skips the check fails on trial, before anything is signed.
    unsigned = proposed(world, condition, wallet)
    judged = SigningPolicy(book=world.book).redemption(asked, unsigned, wallet.address)
    with pytest.raises(ChainError):
        await signed(world, judged, wallet)
    assert wallet.signatures == before


@pytest.mark.slow
async def test_a_divided_outcome_pays_each_side_its_part(
    world: World, wallet: CountingSigner
) -> None:
    condition = world.prepared()
    world.bought(wallet, condition)
    world.reported([3, 1])
    found = await checked(world, asked_for(condition, is_yes=False), wallet)
    assert found.payout == SHARES // 4
    await redeemed(world, asked_for(condition, is_yes=False), wallet)
    assert await money(world, wallet) == SHARES // 4
    await redeemed(world, asked_for(condition), wallet)
    assert await money(world, wallet) == SHARES


@pytest.mark.slow
async def test_a_token_of_another_condition_is_refused(
    world: World, wallet: CountingSigner
) -> None:
    condition = world.prepared()
    world.bought(wallet, condition)
    world.reported([1, 0])
    own = await checked(world, asked_for(condition), wallet)
    with pytest.raises(Exception, match="not that of its condition"):
        await check_redeemable(
            world.contracts,
            asked_for(condition),
            wallet.address,
            collateral=world.book.usdc_bridged,
            token_id=own.token_id + 1,
        )


@pytest.mark.slow
async def test_the_same_bytes_sent_twice_are_one_redemption(
    world: World, wallet: CountingSigner
) -> None:
    condition = world.prepared()
    world.bought(wallet, condition)
    world.reported([1, 0])
    asked = asked_for(condition)
    unsigned = proposed(world, condition, wallet)
    judged = SigningPolicy(book=world.book).redemption(asked, unsigned, wallet.address)
    tx = await signed(world, judged, wallet)
    world.node.stop(is_stopped=True)
    try:
        await world.rpc("eth_sendRawTransaction", [tx.hex])
        assert await world.chain.receipt(tx.tx_hash) is None
        # A node says that it knows these bytes, or takes them again: it is one transaction.
        with suppress(ChainError):
            assert await world.rpc("eth_sendRawTransaction", [tx.hex]) == tx.tx_hash
    finally:
        world.node.stop(is_stopped=False)
    receipt = await world.chain.receipt(world.mined(tx.tx_hash))
    assert receipt is not None
    assert receipt.succeeded
    assert receipt.block <= await world.chain.block()
    with pytest.raises(ChainError):
        await world.rpc("eth_sendRawTransaction", [tx.hex])
    assert await money(world, wallet) == SHARES


async def test_too_little_gas_is_found_before_the_signature(
    world: World, wallet: CountingSigner
) -> None:
    poor, policy = CountingSigner("77" * 32), SigningPolicy(book=world.book)
    judged = policy.approval(approvals(world.book, ExchangeVersion.V1)[0])
    price = await world.chain.price(judged, wallet.address)
    transaction = policy.transaction(judged, price, spent_today=0)
    with pytest.raises(NotEnoughGasError) as refused:
        await world.chain.check_gas(transaction, poor.address)
    assert refused.value.balance == 0
    assert refused.value.needed > 0
    assert poor.signatures == 0


@pytest.mark.slow
async def test_the_approvals_are_given_on_the_chain(world: World, wallet: CountingSigner) -> None:
    policy = SigningPolicy(book=world.book)
    wanted = approvals(world.book, ExchangeVersion.V1)

    async def answer(name: str, contract: str, owner: str, other: str) -> int:
        call = keccak256(f"{name}(address,address)".encode())[:4].hex()
        pair = "".join(one.removeprefix("0x").rjust(64, "0") for one in (owner, other))
        asked = {"to": contract, "data": f"0x{call}{pair}"}
        return int(str(await world.rpc("eth_call", [asked, "latest"])), 16)

    for approval in wanted:
        tx = await signed(world, policy.approval(approval), wallet)
        await world.rpc("eth_sendRawTransaction", [tx.hex])
        world.mined(tx.tx_hash)
    for approval in wanted:
        if isinstance(approval.call, Approve):
            given = await answer("allowance", approval.to, wallet.address, approval.spender)
            assert given == UINT_MAX
        else:
            tokens = world.book.conditional_tokens
            assert await answer("isApprovedForAll", tokens, wallet.address, approval.spender) == 1


@pytest.mark.slow
async def test_a_negative_risk_position_goes_to_its_adapter_with_one_side(
    world: World, wallet: CountingSigner
) -> None:
    # The adapter is a stand-in that keeps what it was called with: it is in no package.
    code = creation(adapter_code(world.book.usdc_bridged))
    made = {"from": world.oracle, "data": "0x" + code.hex(), "gas": hex(500_000)}
    tx_hash = world.mined(world.node.ask("eth_sendTransaction", [made]))
    receipt = world.node.ask("eth_getTransactionReceipt", [tx_hash])
    book = replace(world.book, neg_risk_adapter=checksummed(receipt["contractAddress"]))
    there = replace(world, book=book)
    condition = world.prepared()
    world.bought(wallet, condition)
    world.reported([1, 0])
    asked = Redemption(condition_id=condition, is_yes=True, is_neg_risk=True, shares=SHARES)
    found = await check_redeemable(
        there.contracts, asked, wallet.address, collateral=book.usdc_bridged
    )
    assert found.payout == SHARES
    data = encode_call(RedeemNegRisk(condition, (found.shares, found.shares)))
    unsigned = Unsigned(to=book.neg_risk_adapter, data="0x" + data.hex())
    judged = SigningPolicy(book=book).redemption(asked, unsigned, wallet.address)
    tx = await signed(there, judged, wallet)
    await world.rpc("eth_sendRawTransaction", [tx.hex])
    confirmed = await world.chain.receipt(world.mined(tx.tx_hash))
    assert confirmed is not None
    assert confirmed.succeeded
    assert decode_call(tx.transaction.data) == RedeemNegRisk(condition, (SHARES, 0))
    stored = await world.rpc("eth_getStorageAt", [book.neg_risk_adapter, "0x0", "latest"])
    assert isinstance(stored, str)
    expected = call_data("redeemPositions(bytes32,uint256[])", condition, [SHARES, 0])
    assert int(stored, 16) == int.from_bytes(keccak256(expected), "big")


async def test_an_address_without_a_contract_is_named(world: World) -> None:
    nowhere = replace(world, book=replace(world.book, conditional_tokens="0x" + "99" * 20))
    with pytest.raises(ChainError, match="no such contract"):
        await nowhere.contracts.payout_denominator(bytes(32))
