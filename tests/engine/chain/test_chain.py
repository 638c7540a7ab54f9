"""Wallets and transactions of the simulated chain: what each event leaves."""

from dataclasses import replace
from typing import Any

import pytest

from kit.engine.bare import AT, bare_world
from service_tui.engine.chain import chain as chain_room
from service_tui.engine.chain.block_production import cost_of, produce_blocks
from service_tui.engine.chain.chain import (
    GAS_APPROVE,
    GAS_REDEEM,
    Chain,
    approvals_set,
    gas_of,
    managed_address,
    pace_changes,
)
from service_tui.engine.chain_events import (
    CallKind,
    CallPaid,
    ChainCall,
    ChainSet,
    CredentialsKept,
    OrderSigned,
    PlannedOutcome,
    TxMined,
    TxSent,
    TxStatus,
    WalletFilled,
    WalletLinked,
)
from service_tui.engine.world import World
from service_tui.units import Micros, Timestamp

ADDRESS, OTHER = "0x" + "Ab" * 20, "0x" + "Cd" * 20
APPROVE = ChainCall(CallKind.APPROVE, approval="ctf_x")
REDEEM = ChainCall(CallKind.REDEEM, "0xc", (1,))


def linked(gas: int = 10**18) -> tuple[World, Chain]:
    world = bare_world("ada", "bea")
    world.apply(WalletLinked("ada", AT, ADDRESS, gas, Micros(30)))
    return world, world.chain


def sent(chain: Chain, tx_hash: str, nonce: int = 0, **fields: Any) -> TxSent:
    known: dict[str, Any] = {
        "agent_id": "ada", "at": AT, "sender": ADDRESS, "to": "0xto", "call": APPROVE,
        "gas": 60_000, "max_fee": 200 * 10**9, "due": 0,
    }  # fmt: skip
    event = TxSent(tx_hash=tx_hash, nonce=nonce, **(known | fields))
    chain.apply(event)
    return event


def test_a_wallet_that_is_linked_again_keeps_what_it_has() -> None:
    _, chain = linked(100)
    wallet = chain.wallet(ADDRESS)
    assert wallet is not None
    wallet.nonce = 5
    chain.apply(WalletLinked("ada", AT, ""))
    assert chain.wallet_of("ada") is None
    chain.apply(WalletLinked("bea", Timestamp(AT + 9), ADDRESS.lower(), 11))
    assert chain.wallet_of("bea") is wallet
    assert (wallet.agent_id, wallet.linked_at, wallet.gas, wallet.nonce) == ("bea", AT + 9, 111, 5)
    assert wallet.address == ADDRESS
    assert chain.wallet(ADDRESS.upper().replace("X", "x")) is wallet
    # To unlink nobody's wallet changes nothing.
    chain.apply(WalletLinked("ada", AT, ""))


@pytest.mark.parametrize("pay", [0, 12, 29, 30, 31, 99])
def test_an_operator_sets_what_a_wallet_holds(pay: int) -> None:
    world, chain = linked()
    changes = {"gas": 7, "pay": pay, "native_usdc": 8, "restricted": 1}
    chain.apply(WalletFilled("ada", AT, ADDRESS, changes))
    wallet = chain.wallet_of("ada")
    assert wallet is not None
    assert (wallet.gas, wallet.native_usdc, wallet.restricted) == (7, 8, True)
    assert chain.pay_balance(ADDRESS) == pay
    assert world.ledger.total() == 0
    chain.apply(WalletFilled("ada", AT, ADDRESS, {"restricted": 0}))
    assert (wallet.gas, wallet.restricted) == (7, False)


def test_each_address_pays_from_an_account_of_its_own() -> None:
    world, chain = linked()
    chain.apply(WalletLinked("bea", AT, OTHER, 0, Micros(7)))
    chain.apply(CallPaid("bea", AT, OTHER, "0x1", Micros(2), "url"))
    assert (chain.pay_balance(ADDRESS), chain.pay_balance(OTHER)) == (30, 5)
    # By this name it stands in every ledger that was written down.
    assert world.ledger.balance(f"pay:{ADDRESS.lower()}") == 30
    assert chain.pay_balance(OTHER.lower()) == chain.pay_balance(OTHER.upper())
    assert world.ledger.balance("issuer:pay") == -37


def test_a_call_that_was_paid_for_moves_its_money_and_is_remembered() -> None:
    world, chain = linked()
    chain.apply(CallPaid("ada", AT, ADDRESS, "0xNONCE", Micros(5), "url"))
    assert chain.pay_balance(ADDRESS) == 25
    assert world.ledger.balance("pay:service") == 5
    assert chain.paid == {f"{ADDRESS.lower()}:0xnonce": AT}


def test_credentials_and_signed_orders_are_noted_for_their_own() -> None:
    _, chain = linked()
    chain.apply(CredentialsKept("ada", Timestamp(AT + 3), ADDRESS.lower(), "derived"))
    wallet = chain.wallet_of("ada")
    assert wallet is not None
    assert wallet.credentials_at == AT + 3
    chain.apply(OrderSigned("ada", AT, "h1"))
    chain.apply(OrderSigned("bea", AT, "h2"))
    assert chain.hashes == {"ada": {"h1": AT}, "bea": {"h2": AT}}


def test_what_has_become_too_much_is_forgotten_the_oldest_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HASHES_KEPT", "PAID_KEPT", "TXS_KEPT"):
        monkeypatch.setattr(chain_room, name, 2)
    _, chain = linked()
    for number in range(3):
        chain.apply(OrderSigned("ada", AT, f"h{number}"))
        chain.apply(CallPaid("ada", AT, ADDRESS, f"n{number}", Micros(1), "url"))
    assert list(chain.hashes["ada"]) == ["h1", "h2"]
    assert [key[-2:] for key in chain.paid] == ["n1", "n2"]
    sent(chain, "waits", 0)
    sent(chain, "done", 1)
    chain.apply(TxMined("done", "ada", AT, TxStatus.CONFIRMED, 1, 1, 1))
    sent(chain, "third", 2)
    assert list(chain.txs) == ["waits", "done", "third"]
    sent(chain, "fourth", 3)
    # One that still waits is never forgotten.
    assert list(chain.txs) == ["waits", "third", "fourth"]


def test_the_next_nonce_is_behind_all_that_follow_each_other() -> None:
    _, chain = linked()
    wallet = chain.wallet_of("ada")
    assert wallet is not None
    wallet.nonce = 4
    assert (chain.next_nonce(ADDRESS), chain.next_nonce(OTHER)) == (4, 0)
    sent(chain, "b", 5)
    sent(chain, "a", 4, sender=ADDRESS.lower())
    sent(chain, "d", 8)
    assert [one.sent.tx_hash for one in chain.pending(ADDRESS)] == ["a", "b", "d"]
    assert chain.next_nonce(ADDRESS) == 6
    assert chain.pending(OTHER) == []


@pytest.mark.parametrize(
    ("status", "nonce", "gas", "approved"),
    [
        (TxStatus.CONFIRMED, 4, 93, {"ctf_x"}),
        (TxStatus.FAILED, 4, 93, set()),
        (TxStatus.DROPPED, 0, 100, set()),
    ],
)
def test_a_mined_transaction_takes_its_nonce_and_gas(
    status: TxStatus, nonce: int, gas: int, approved: set[str]
) -> None:
    _, chain = linked(100)
    sent(chain, "a", 3)
    mined = TxMined("a", "ada", AT, status, 9, 1, 7)
    chain.apply(mined)
    wallet = chain.wallet_of("ada")
    assert wallet is not None
    assert (wallet.nonce, wallet.gas, wallet.approvals) == (nonce, gas, approved)
    assert (chain.txs["a"].mined, chain.txs["a"].status) == (mined, status)


def test_blocks_are_counted_from_where_the_pace_was_set() -> None:
    _, chain = linked()
    changes = {"block_s": 5.0, "base_at": AT, "base_block": 100}
    chain.apply(ChainSet(AT, changes))
    counts = [chain.block_at(Timestamp(AT + seconds)) for seconds in (-60, 0, 4.9, 5, 26)]
    assert counts == [100, 100, 100, 101, 105]
    assert pace_changes(chain, {"block_s": 1.0}, Timestamp(AT + 26)) == {
        "block_s": 1.0,
        "base_at": AT + 26,
        "base_block": 105,
    }
    assert pace_changes(chain, {"faults": ()}, AT) == {"faults": (), "shown_at": AT}
    assert pace_changes(chain, {"gas_price": 5}, AT) == {"gas_price": 5}


def test_what_is_due_is_carried_out_in_the_order_of_its_nonce() -> None:
    world, chain = linked()
    chain.pace = replace(chain.pace, base_at=AT, base_block=10)
    sent(chain, "second", 1, due=10)
    sent(chain, "first", 0, due=10)
    sent(chain, "later", 2, due=11)
    assert [one.sent.tx_hash for one in chain.due(AT)] == ["first", "second"]
    events = produce_blocks(chain, world.venues, (AT, AT))
    fee = GAS_APPROVE * 120 * 10**9
    assert events == [
        TxMined("first", "ada", AT, TxStatus.CONFIRMED, 10, GAS_APPROVE, fee),
        TxMined("second", "ada", AT, TxStatus.CONFIRMED, 10, GAS_APPROVE, fee),
    ]
    wallet = chain.wallet_of("ada")
    assert wallet is not None
    assert (wallet.nonce, wallet.gas) == (2, 10**18 - 2 * fee)


@pytest.mark.parametrize(
    ("fields", "status", "why"),
    [
        ({"planned": PlannedOutcome.REVERT}, TxStatus.FAILED, "execution reverted"),
        ({"planned": PlannedOutcome.DROP}, TxStatus.DROPPED, ""),
        ({"gas": GAS_APPROVE - 1}, TxStatus.FAILED, "out of gas"),
        ({"gas": GAS_APPROVE}, TxStatus.CONFIRMED, ""),
        ({"planned": PlannedOutcome.WITHHOLD}, TxStatus.CONFIRMED, ""),
        # Nothing of the condition is held: it burns nothing, and succeeds.
        ({"call": REDEEM, "gas": GAS_REDEEM}, TxStatus.CONFIRMED, ""),
    ],
)
def test_a_transaction_ends_as_it_was_planned(
    fields: dict[str, Any], status: TxStatus, why: str
) -> None:
    world, chain = linked()
    sent(chain, "a", **fields)
    (mined,) = produce_blocks(chain, world.venues, (AT, AT))
    assert isinstance(mined, TxMined)
    assert (mined.status, mined.why, mined.payout) == (status, why, 0)


def test_a_transaction_waits_for_its_turn_and_for_its_gas() -> None:
    world, chain = linked(GAS_APPROVE * 120 * 10**9 - 1)
    sent(chain, "a", 0)
    assert produce_blocks(chain, world.venues, (AT, AT)) == []
    wallet = chain.wallet_of("ada")
    assert wallet is not None
    wallet.gas += 1
    assert len(produce_blocks(chain, world.venues, (AT, AT))) == 1
    wallet.gas = 10**18
    sent(chain, "c", 2)
    assert produce_blocks(chain, world.venues, (AT, AT)) == []


@pytest.mark.parametrize(
    ("gas", "max_fee", "price", "cost"),
    [
        (60_000, 9, 5, GAS_APPROVE * 5),
        (60_000, 4, 5, GAS_APPROVE * 4),
        (40_000, 9, 5, 40_000 * 5),
    ],
)
def test_a_transaction_costs_what_it_uses_within_its_bounds(
    gas: int, max_fee: int, price: int, cost: int
) -> None:
    _, chain = linked()
    sent(chain, "a", gas=gas, max_fee=max_fee)
    assert cost_of(chain.txs["a"], price) == cost


def test_each_fault_is_taken_by_one_transaction() -> None:
    _, chain = linked()
    faults = (PlannedOutcome.DROP, PlannedOutcome.REVERT)
    chain.pace = replace(chain.pace, faults=faults)
    sent(chain, "a")
    assert chain.pace.faults == faults[1:]
    sent(chain, "b", 1)
    sent(chain, "c", 2)
    assert chain.pace.faults == ()


def test_approvals_are_set_where_every_one_is_given() -> None:
    _, chain = linked()
    wallet = chain.wallet_of("ada")
    assert wallet is not None
    wallet.approvals = {"a", "b", "c"}
    assert approvals_set(wallet, ("a", "c"))
    assert not approvals_set(wallet, ("a", "d"))
    assert (gas_of(APPROVE), gas_of(REDEEM)) == (GAS_APPROVE, GAS_REDEEM)


def test_each_agent_has_one_managed_address_for_ever() -> None:
    assert managed_address("ada") == managed_address("ada")
    assert managed_address("ada") != managed_address("bea")
