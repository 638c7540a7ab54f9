"""Redemption and the simulated chain: each share pays once, and no micro is lost."""

import json
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.engine.ends import mixed
from kit.engine.topics import TOPICS
from kit.engine.venues import EVM, RICH, new_world, put, times, waiting_payouts
from kit.examples import examples
from service_tui.engine.books.catalogue import condition_of
from service_tui.engine.chain.block_production import TOO_MUCH, cost_of, outcome_of
from service_tui.engine.chain.chain import GAS_GRANT, GWEI, PAY_GRANT, Tx
from service_tui.engine.chain.redemption import found_in, mark_what_is_gone, redeem
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
from service_tui.engine.codec import snapshot
from service_tui.engine.codec.events import decode, dumps, encode
from service_tui.engine.errors import Refusal
from service_tui.engine.events import Event, PositionRedeemed, kind_of
from service_tui.engine.tick import advance, redeem_due
from service_tui.engine.transitions import PositionState
from service_tui.engine.world import World
from service_tui.outcome import YES as ENDED_YES
from service_tui.terms import Side, WalletKind
from service_tui.units import Micros, Timestamp

ADDRESSES = tuple(f"0x{number:040x}" for number in (0xA, 0xB, 0xC))
SETS = ((1,), (2,), (1, 2), ())


class Life:
    """Random things that happen to the wallets of one world; each gives its events."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.rng = random.Random(seed)
        self.count = 0

    def step(self) -> list[Event]:
        kinds = (self.link, self.send, self.send, self.go, self.claim, self.managed, self.other)
        return self.rng.choice(kinds)()

    def link(self) -> list[Event]:
        world, now = self.world, self.world.at
        own = world.chain.wallet_of("ada")
        if own is not None and world.chain.pending(own.address):
            return []
        address = self.rng.choice((*ADDRESSES, ""))
        known = world.chain.wallet(address)
        grant = (GAS_GRANT, PAY_GRANT) if address and known is None else (0, Micros(0))
        kind = WalletKind.EXTERNAL if address else WalletKind.MANAGED
        linked = world.note(WalletLinked("ada", now, address, *grant))
        return [*linked, *world.change(world.agents["ada"], {"wallet": kind}, now)]

    def send(self) -> list[Event]:
        world, chain, rng = self.world, self.world.chain, self.rng
        wallet = chain.wallet_of("ada")
        markets = list(world.venues.account("ada", EVM).holdings)
        if wallet is None or not markets:
            return []
        condition = condition_of(rng.choice(markets))
        by_adapter = rng.random() < 0.1
        self.count += 1
        call = ChainCall(
            CallKind.REDEEM_ADAPTER if by_adapter else CallKind.REDEEM,
            condition,
            (10**6, 10**6) if by_adapter else rng.choice(SETS),
            operator="ctf_x",
        )
        sent = TxSent(
            f"0x{self.count:064x}",
            "ada",
            world.at,
            wallet.address,
            chain.next_nonce(wallet.address),
            "0x",
            call,
            rng.choice((1_000, 234_000)),
            240 * GWEI,
            chain.block_at(world.at) + rng.randrange(1, 4),
            rng.choice((
                PlannedOutcome.OK,
                PlannedOutcome.OK,
                PlannedOutcome.OK,
                PlannedOutcome.REVERT,
                PlannedOutcome.DROP,
                PlannedOutcome.WITHHOLD,
            )),
        )
        return world.note(sent)

    def go(self) -> list[Event]:
        return advance(self.world, Timestamp(self.world.at + self.rng.choice((1.0, 4.0, 900.0))))

    def claim(self) -> list[Event]:
        world = self.world
        paying = [
            (found, side)
            for market_id, holding in world.venues.account("ada", EVM).holdings.items()
            if (found := found_in(world.venues, world.agents["ada"], market_id)) is not None
            for side in Side
            if holding.pays(side)
        ]
        for found, side in paying:
            events = mark_what_is_gone(world.venues, found, side, times(world))
            if events:
                return events
        return []

    def managed(self) -> list[Event]:
        world = self.world
        if world.agents["ada"].settings.wallet is not WalletKind.MANAGED:
            return []
        for market_id in world.venues.account("ada", EVM).holdings:
            side = self.rng.choice(list(Side))
            try:
                return [*redeem(world.venues, world.agents["ada"], (market_id, side), times(world))]
            except Refusal:
                continue
        return []

    def other(self) -> list[Event]:
        world, now = self.world, self.world.at
        wallet = world.chain.wallet_of("ada")
        if wallet is None:
            return world.note(ChainSet(now, {"delay_blocks": 2}))
        self.count += 1
        if world.chain.pay_balance(wallet.address) < PAY_GRANT // 2:
            return world.note(WalletFilled("ada", now, wallet.address, {"pay": PAY_GRANT}))
        return [
            *world.note(CredentialsKept("ada", now, wallet.address, "headers")),
            *world.note(OrderSigned("ada", now, f"{self.count:x}")),
            *world.note(
                CallPaid("ada", now, wallet.address, f"0x{self.count:x}", Micros(5_000), "")
            ),
        ]


def held(world: World) -> dict[str, dict[Side, int]]:
    """Both sides of the markets that end soonest."""
    soon = sorted(
        (one for one in world.markets.values() if one.listing.home is EVM),
        key=lambda one: one.listing.resolved_at,
    )
    for market in soon[:6]:
        for side in Side:
            try:
                put(world, "ada", market, side=side, size=20.0)
            except Refusal:
                continue
    holdings = world.venues.account("ada", EVM).holdings
    return {
        market_id: {side: one.position.shares(side) for side in Side}
        for market_id, one in holdings.items()
    }


@pytest.mark.slow
@given(seed=st.integers(0, 10**6))
@examples(8)
def test_each_share_pays_once_and_a_replay_makes_the_same_world(seed: int) -> None:
    world = mixed(new_world())
    shares = held(world)
    text = dumps(snapshot.fields_of(world))
    life, events = Life(world, seed), list[Event]()
    burned = Counter[tuple[str, Side]]()
    received = Counter[tuple[str, Side]]()
    cash = world.venues.cash("ada", EVM)
    given_gas = 0
    for _ in range(120):
        happened = life.step()
        events += happened
        assert world.ledger.total() == 0
        assert world.venues.payable == waiting_payouts(world)
        given_gas += sum(one.gas for one in happened if isinstance(one, WalletLinked))
        for one in happened:
            if isinstance(one, PositionRedeemed):
                burned[one.market_id, one.side] += one.shares
                ended = world.venues.account("ada", EVM).holdings[one.market_id].outcome
                assert ended is not None
                # A part may be a micro more or less than alone, the whole never is.
                alone = ended.paid(one.side, one.shares, one.cost)
                assert abs(one.payout - alone) <= (one.shares != shares[one.market_id][one.side])
                received[one.market_id, one.side] += one.payout
    paid = sum(one.payout for one in events if isinstance(one, PositionRedeemed))
    assert world.venues.cash("ada", EVM) == cash + paid
    for (market_id, side), count in burned.items():
        assert count <= shares[market_id][side]
        if count == shares[market_id][side]:
            holding = world.venues.account("ada", EVM).holdings[market_id]
            assert received[market_id, side] == holding.worth(side)
    fees = sum(one.fee for one in events if isinstance(one, TxMined))
    assert given_gas == fees + sum(wallet.gas for wallet in world.chain.wallets.values())
    for wallet in world.chain.wallets.values():
        mined = [
            tx.sent.nonce
            for tx in world.chain.txs.values()
            if tx.status in {TxStatus.CONFIRMED, TxStatus.FAILED}
            and tx.sent.sender == wallet.address
        ]
        assert sorted(mined) == list(range(wallet.nonce))
    again = snapshot.world_of(json.loads(text), TOPICS)
    for event in events:
        again.apply(decode(kind_of(event), encode(event)))
    assert dumps(snapshot.fields_of(again)) == dumps(snapshot.fields_of(world))


@pytest.mark.slow
def test_a_long_life_meets_every_way_that_a_redemption_can_go() -> None:
    world = new_world()
    held(world)
    life, events = Life(world, 3), list[Event]()
    for _ in range(600):
        events += life.step()
    kinds = Counter(kind_of(one) for one in events)
    states = Counter(one.status for one in events if isinstance(one, TxMined))
    assert kinds["redeemed"] > 2
    assert kinds["wallet"] > 3
    assert set(states) == {TxStatus.CONFIRMED, TxStatus.FAILED, TxStatus.DROPPED}
    redeemed = [one for one in events if isinstance(one, PositionRedeemed)]
    assert any(one.tx_hash for one in redeemed)


def test_a_lost_transaction_uses_no_nonce_and_one_without_gas_waits() -> None:
    world = new_world()
    held(world)
    world.note(WalletLinked("ada", world.at, ADDRESSES[0], GAS_GRANT, PAY_GRANT))
    life = Life(world, 1)
    (sent,) = life.send()
    assert isinstance(sent, TxSent)
    world.chain.txs.clear()
    world.note(replace_of(sent, planned=PlannedOutcome.DROP))
    redeem_due(world, Timestamp(world.at + 10))
    assert (world.chain.wallets[ADDRESSES[0]].nonce, world.chain.next_nonce(ADDRESSES[0])) == (0, 0)
    world.note(WalletFilled("ada", world.at, ADDRESSES[0], {"gas": 1}))
    world.note(replace_of(sent, planned=PlannedOutcome.OK))
    assert redeem_due(world, Timestamp(world.at + 20)) == []
    world.note(WalletFilled("ada", world.at, ADDRESSES[0], {"gas": GAS_GRANT}))
    assert [type(one) for one in redeem_due(world, Timestamp(world.at + 30))][-1] is TxMined
    assert world.chain.wallets[ADDRESSES[0]].nonce == 1


@pytest.mark.parametrize(
    ("gas", "price", "max_fee", "fee"),
    [
        (234_000, 30, 240, 180_000 * 30),
        (234_000, 241, 240, 180_000 * 240),
        (1_000, 30, 240, 1_000 * 30),
    ],
)
def test_gas_is_paid_as_used_at_the_price_of_now_within_both_bounds(
    gas: int, price: int, max_fee: int, fee: int
) -> None:
    call = ChainCall(CallKind.REDEEM)
    sent = TxSent("0x", "ada", Timestamp(0.0), ADDRESSES[0], 0, "0x", call, gas, max_fee, 1)
    assert cost_of(Tx(sent), price) == fee


def test_a_part_of_the_shares_takes_its_part_of_the_cost() -> None:
    world = new_world()
    held(world)
    market_id, holding = next(iter(world.venues.account("ada", EVM).holdings.items()))
    holding.outcome, holding.state, holding.neg_risk = ENDED_YES, PositionState.READY, True
    position = holding.position
    part = Micros(min(position.yes.shares, position.no.shares) // 4)
    call = ChainCall(
        CallKind.REDEEM_ADAPTER, condition_of(market_id), (part, 2 * part), operator="ctf_x"
    )
    sent = TxSent("0x1", "ada", world.at, ADDRESSES[0], 0, "0x", call, 234_000, 240 * GWEI, 1)
    fee = cost_of(Tx(sent), world.chain.pace.gas_price)
    # As much gas as it takes is enough.
    world.note(WalletLinked("ada", world.at, ADDRESSES[0], fee, PAY_GRANT))
    world.chain.wallets[ADDRESSES[0]].approvals.add("ctf_x")
    world.note(sent)
    events = redeem_due(world, Timestamp(world.at + 10))
    won, lost = (one for one in events if isinstance(one, PositionRedeemed))
    assert (won.side, won.shares, won.payout) == (Side.YES, part, part)
    assert won.cost == position.yes.cost_of(part) < position.yes.cost
    assert (lost.side, lost.shares, lost.payout) == (Side.NO, 2 * part, 0)
    assert lost.cost == position.no.cost_of(Micros(2 * part)) < position.no.cost
    mined = events[-1]
    assert isinstance(mined, TxMined)
    assert (mined.status, mined.payout, mined.fee) == (TxStatus.CONFIRMED, part, fee)
    # A contract knows a condition however it is written, and no more than is left of it.
    again = call._replace(condition=call.condition.upper().replace("0X", "0x"))
    assert outcome_of(world.chain, world.venues, ADDRESSES[0], again).payout() == part
    more = call._replace(numbers=(position.yes.shares, 0))
    assert outcome_of(world.chain, world.venues, ADDRESSES[0], more).why == TOO_MUCH


def replace_of(sent: TxSent, **changes: object) -> TxSent:
    return sent._replace(**changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("missing", ["chain", "burned"])
def test_a_snapshot_of_yesterday_has_no_chain(missing: str) -> None:
    world = new_world()
    held(world)
    fields = json.loads(dumps(snapshot.fields_of(world)))
    if missing == "chain":
        del fields["chain"]
    else:
        rows = [one for account in fields["venues"]["accounts"] for one in account["holdings"]]
        for one in rows:
            for name in ("burned_yes", "burned_no", "neg_risk", "redeemed_at", "paid"):
                del one[name]
    again = snapshot.world_of(fields, TOPICS)
    assert again.chain.wallets == {}
    assert RICH["auto_redeem_enabled"] is False
    assert again.venues.account("ada", EVM).holdings.keys() == (
        world.venues.account("ada", EVM).holdings.keys()
    )
