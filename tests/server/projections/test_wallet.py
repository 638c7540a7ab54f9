"""What the service says of a wallet, of redemptions and of the chain, field by field."""

from datetime import UTC, datetime

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from service_tui.engine.books.catalogue import condition_of, token_of, url_of
from service_tui.engine.books.venues import VenueAccount, VenuePosition
from service_tui.engine.chain.chain import GWEI, WEI, Tx, Wallet, managed_address
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
from service_tui.outcome import YES as ENDED_YES
from service_tui.outcome import Outcome
from service_tui.server.chain_node.relay import approval_keys, gas_needed, order_keys
from service_tui.server.projections.wallet import (
    NO_GAS,
    PositionSide,
    chain_body,
    checks_of,
    has_credentials,
    pause_of,
    redemption_body,
    redemptions_body,
    tx_of,
    versions_of,
    wallet_body,
    with_redeemed,
)
from service_tui.signing.approvals import approvals
from service_tui.signing.book import POLYGON, ExchangeVersion
from service_tui.terms import Side, Venue, WalletKind
from service_tui.units import Micros, Timestamp

YES, NO = Side.YES, Side.NO
V1, V2 = ExchangeVersion.V1, ExchangeVersion.V2
ADDRESS = "0x" + "Ab" * 20
HASH = "0x" + "cd" * 32


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(AT + seconds, UTC)


def linked(gas: int = 2 * WEI) -> tuple[World, Wallet]:
    """An agent that holds its own wallet, with all that real trades need."""
    world = bare_world(claimed=True, real_trading_enabled=True, wallet=WalletKind.EXTERNAL)
    world.apply(WalletLinked("ada", Timestamp(AT - 4), ADDRESS, gas, Micros(3_000_000)))
    wallet = world.chain.wallet_of("ada")
    assert wallet is not None
    wallet.approvals.update(approval_keys(V1))
    wallet.credentials_at = AT
    wallet.native_usdc = Micros(70_000_000)
    return world, wallet


# -- the wallet ----------------------------------------------------------------------------


def test_an_own_wallet_is_told_with_all_that_it_holds() -> None:
    world, _ = linked()
    told = wallet_body(world, world.agents["ada"], V2).model_dump(exclude={"checks"})
    # One approval is of both generations: it was given with the first.
    given = approval_keys(V1)
    missing = tuple(one.about for one in approvals(POLYGON, V2) if one.key not in given)
    assert told == {
        "wallet_address": ADDRESS,
        "wallet_ownership": "external",
        "usdc": 1_000.0,
        "pusd": 1_000.0,
        "native_usdc": 70.0,
        "gas": 2.0,
        "gas_needed": gas_needed(world) / WEI,
        "gas_enough": True,
        "pol_usd": 0.45,
        "pay_usdc": 3.0,
        "approvals_set": True,
        "approvals_missing": (),
        "by_version": {
            "v1": {"approvals_set": True, "missing": ()},
            "v2": {"approvals_set": False, "missing": missing},
        },
        "has_credentials": True,
        "restricted": False,
        "exchange_version": "v2",
        "ready": True,
        "auto_redeem_paused": None,
        "linked_at": at(-4),
        "simulated": True,
    }


def test_a_wallet_of_the_service_needs_no_gas_of_the_agent() -> None:
    world = bare_world(claimed=True, real_trading_enabled=True)
    body = wallet_body(world, world.agents["ada"], V1)
    assert (body.wallet_address, body.wallet_ownership) == (managed_address("ada"), "native")
    assert (body.gas, body.gas_needed, body.gas_enough, body.native_usdc) == (0, 0, True, 0)
    assert (body.pay_usdc, body.restricted, body.linked_at, body.auto_redeem_paused) == (
        0,
        False,
        None,
        None,
    )
    assert (body.approvals_set, body.has_credentials, body.ready) == (True, True, True)


def test_a_wallet_without_approvals_is_told_those_of_the_generation_asked_for() -> None:
    world, wallet = linked()
    wallet.approvals.clear()
    for exchange in ExchangeVersion:
        body = wallet_body(world, world.agents["ada"], exchange)
        wanted = [one for one in approvals(POLYGON, exchange) if "native" not in one.key]
        assert body.approvals_missing == tuple(one.about for one in wanted)
        assert (body.approvals_set, body.ready) == (False, False)


def test_an_agent_without_a_wallet_is_told_no_approvals() -> None:
    world = bare_world(wallet=WalletKind.EXTERNAL)
    body = wallet_body(world, world.agents["ada"], V1)
    assert (body.wallet_address, body.approvals_missing, body.approvals_set) == (None, (), False)
    assert (body.has_credentials, body.ready) == (False, False)


@pytest.mark.parametrize(("less", "paused"), [(0, None), (1, NO_GAS)])
def test_auto_redeem_stands_still_below_the_gas_that_is_needed(
    less: int, paused: str | None
) -> None:
    world, wallet = linked()
    wallet.gas = gas_needed(world) - less
    body = wallet_body(world, world.agents["ada"], V1)
    assert pause_of(world, world.agents["ada"]) == body.auto_redeem_paused == paused
    assert body.gas_enough is (paused is None)
    assert {one.name: one.done for one in body.checks}["gas"] is (paused is None)


def test_each_generation_tells_what_its_own_approvals_lack() -> None:
    first, second, *others = approval_keys(V2)
    told = versions_of({second, *others, *approval_keys(V1)[1:]})
    lacks = {one.key: one.about for exchange in (V1, V2) for one in approvals(POLYGON, exchange)}
    assert told["v2"].model_dump() == {"approvals_set": False, "missing": (lacks[first],)}
    assert told["v1"].missing == (lacks[approval_keys(V1)[0]],)
    assert versions_of(approval_keys(V1))["v1"].approvals_set


def test_orders_need_the_approvals_of_the_exchanges_alone() -> None:
    adapters = {POLYGON.neg_risk_adapter, POLYGON.collateral_adapter}
    adapters.add(POLYGON.neg_risk_collateral_adapter)
    for exchange in ExchangeVersion:
        wanted = {
            one.key
            for one in approvals(POLYGON, exchange)
            if one.spender not in adapters and one.to != POLYGON.usdc_native
        }
        assert set(order_keys(exchange)) == wanted
        assert len(order_keys(exchange)) == len(wanted)
    assert (len(order_keys(V1)), len(order_keys(V2))) == (4, 7)


FIXES = {
    "claimed": "open the claim link, or claim it in the console",
    "linked": "link a wallet by signing a challenge",
    "unrestricted": "link a new wallet: agent, key and history carry over",
    "credentials": "sign the venue's headers and derive them",
    "gas": "send a little POL to the wallet",
    "approvals": "activate trading: send the missing approvals",
    "collateral": "native USDC is not accepted: swap it to USDC.e (bridged)",
    "enabled": "send sdk_real_trading_enabled true to PATCH /api/sdk/settings",
}


def spoil(world: World, wallet: Wallet, name: str) -> None:
    """Take one thing away that real trades need."""
    agent = world.agents["ada"]
    match name:
        case "claimed":
            agent.change({"claimed": False})
        case "unrestricted":
            wallet.restricted = True
        case "credentials":
            wallet.credentials_at = None
        case "gas":
            wallet.gas = 0
        case "approvals":
            wallet.approvals.remove(approval_keys(V1)[0])
        case "collateral":
            world.ledger.transfer("agent:ada:evm_venue", "issuer:evm_venue", Micros(10**9))
        case "enabled":
            agent.change({"real_trading_enabled": False})


def test_nothing_is_to_do_where_all_is_done() -> None:
    world, _ = linked()
    checks = checks_of(world, world.agents["ada"])
    assert [one.name for one in checks] == [
        "claimed",
        "linked",
        "unrestricted",
        "credentials",
        "gas",
        "approvals",
        "collateral",
        "enabled",
    ]
    assert all(one.done and not one.fix and one.about for one in checks)


@pytest.mark.parametrize("name", [name for name in FIXES if name != "linked"])
def test_one_thing_that_lacks_is_named_with_what_to_do(name: str) -> None:
    world, wallet = linked()
    spoil(world, wallet, name)
    agent = world.agents["ada"]
    lacks = [(one.name, one.fix) for one in checks_of(world, agent) if not one.done]
    assert lacks == [(name, FIXES[name])]
    assert not wallet_body(world, agent, V1).ready
    assert all(bool(one.fix) is not one.done for one in checks_of(world, agent))


def test_without_a_wallet_linking_comes_first_and_money_is_to_be_sent() -> None:
    world = bare_world(claimed=True, wallet=WalletKind.EXTERNAL)
    world.ledger.transfer("agent:ada:evm_venue", "issuer:evm_venue", Micros(10**9))
    checks = checks_of(world, world.agents["ada"])
    assert [(one.name, one.done, one.fix) for one in checks] == [
        ("claimed", True, ""),
        ("linked", False, FIXES["linked"]),
        (
            "collateral",
            False,
            "send USDC.e (bridged) to the wallet; native USDC is not accepted",
        ),
        ("enabled", False, FIXES["enabled"]),
    ]


def test_a_linked_wallet_without_any_dollars_is_to_be_sent_some() -> None:
    world, wallet = linked()
    wallet.native_usdc = Micros(0)
    spoil(world, wallet, "collateral")
    fixes = {one.name: one.fix for one in checks_of(world, world.agents["ada"])}
    assert fixes["collateral"].startswith("send USDC.e (bridged) to the wallet")


def test_credentials_are_the_services_for_its_own_wallets_alone() -> None:
    world, wallet = linked()
    assert has_credentials(world, world.agents["ada"])
    wallet.credentials_at = None
    assert not has_credentials(world, world.agents["ada"])
    without = bare_world()
    agent = without.agents["ada"]
    assert has_credentials(without, agent)
    agent.change({"wallet": WalletKind.EXTERNAL})
    assert not has_credentials(without, agent)


# -- redemptions ---------------------------------------------------------------------------


def held(
    world: World,
    market_id: str,
    state: PositionState,
    *,
    venue: Venue = Venue.EVM,
    shares: tuple[int, int] = (8_000_000, 0),
    outcome: Outcome | None = None,
) -> VenuePosition:
    """A position of ada's, in some state; a settled one ended at the market's end."""
    position = Position("ada", market_id)
    yes, no = shares
    position.yes = SidePosition(Micros(yes), Micros(yes // 4), opened_at=AT)
    position.no = SidePosition(Micros(no), Micros(no // 2), opened_at=AT)
    found = VenuePosition(
        position, f"Does {market_id}?", "politics", Timestamp(AT + HOUR), state, outcome=outcome
    )
    if outcome is not None:
        found.resolved_at, found.ready_at = Timestamp(AT + 11), Timestamp(AT + 12)
    key = ("ada", venue)
    world.venues.accounts.setdefault(key, VenueAccount("ada", venue)).holdings[market_id] = found
    return found


def sent(market_id: str, tx_hash: str = HASH, agent_id: str = "ada") -> TxSent:
    call = ChainCall(CallKind.REDEEM, condition_of(market_id), (1,))
    return TxSent(tx_hash, agent_id, AT, ADDRESS, 3, "0x", call, 1, 1, 9)


def mined(tx: TxSent, status: TxStatus) -> Tx:
    return Tx(tx, TxMined(tx.tx_hash, tx.agent_id, AT, status, 9, 1, 1))


def test_a_side_that_won_is_told_with_its_payout_and_its_identities() -> None:
    world = bare_world(auto_redeem_enabled=True)
    market = listed(world, home=Venue.EVM)
    holding = held(
        world, "m1", PositionState.READY, outcome=ENDED_YES, shares=(8_000_000, 6_000_000)
    )
    slot = PositionSide(world.agents["ada"], Venue.EVM, holding, YES)
    assert redemption_body(world, slot).model_dump() == {
        "market_id": "m1",
        "side": YES,
        "question": "Does m1?",
        "venue": Venue.EVM,
        "state": "Ready to Redeem",
        "won": True,
        "shares": 8.0,
        "payout": 8.0,
        "cost": 2.0,
        "redeemable": True,
        "manual": False,
        "waits_for": "service",
        "resolves_at": at(HOUR),
        "resolved_at": at(11),
        "ready_at": at(12),
        "redeemed_at": None,
        "tx_hash": None,
        "tx_status": None,
        "reported": False,
        "condition_id": condition_of("m1"),
        "token_id": token_of("m1", YES, neg_risk=False),
        "neg_risk": False,
        "url": url_of(market.listing),
        "simulated": True,
    }
    lost = redemption_body(world, slot._replace(side=NO))
    assert (lost.won, lost.payout, lost.redeemable, lost.waits_for) == (False, 0.0, False, None)
    assert (lost.shares, lost.cost) == (6.0, 3.0)
    assert lost.token_id == token_of("m1", NO, neg_risk=False)


def test_on_the_other_venue_a_person_redeems_and_no_chain_names_it() -> None:
    world = bare_world()
    holding = held(world, "m1", PositionState.READY, venue=Venue.SOL, outcome=ENDED_YES)
    slot = PositionSide(world.agents["ada"], Venue.SOL, holding, YES)
    body = redemption_body(world, slot)
    assert (body.manual, body.waits_for) == (True, "person")
    assert (body.condition_id, body.token_id, body.url) == (None, None, None)


def test_a_redeemed_side_keeps_what_was_paid_and_its_transaction() -> None:
    world, _ = linked()
    holding = held(world, "m1", PositionState.REDEEMED, outcome=ENDED_YES)
    holding.paid, holding.redeemed_at = Micros(7_000_000), Timestamp(AT + 33)
    holding.neg_risk = True
    world.chain.txs[HASH] = mined(sent("m1"), TxStatus.CONFIRMED)
    slot = PositionSide(world.agents["ada"], Venue.EVM, holding, YES)
    body = redemption_body(world, slot)
    assert (body.state, body.payout, body.redeemable) == ("Redeemed", 7.0, False)
    assert (body.tx_hash, body.tx_status, body.reported) == (HASH, "confirmed", True)
    assert (body.redeemed_at, body.waits_for, body.neg_risk) == (at(33), None, True)
    assert body.token_id == token_of("m1", YES, neg_risk=True)


def test_what_the_service_redeemed_itself_was_reported_by_nobody() -> None:
    world = bare_world()
    holding = held(world, "m1", PositionState.REDEEMED, outcome=ENDED_YES)
    slot = PositionSide(world.agents["ada"], Venue.EVM, holding, YES)
    assert redemption_body(world, slot).reported is False


@pytest.mark.parametrize(
    ("state", "word", "waits_for"),
    [
        (PositionState.ACTIVE, "Active", "market"),
        (PositionState.AWAITING, "Awaiting Settlement", "oracle"),
    ],
)
def test_what_has_no_outcome_waits_for_one(state: PositionState, word: str, waits_for: str) -> None:
    world = bare_world()
    slot = PositionSide(world.agents["ada"], Venue.EVM, held(world, "m1", state), YES)
    body = redemption_body(world, slot)
    assert (body.state, body.won, body.waits_for) == (word, None, waits_for)
    assert (body.payout, body.redeemable, body.resolved_at, body.ready_at) == (0, False, None, None)


@pytest.mark.parametrize(("auto", "who"), [(True, "service"), (False, "client")])
def test_the_service_redeems_of_its_own_wallets_where_it_may(*, auto: bool, who: str) -> None:
    world = bare_world(auto_redeem_enabled=auto)
    holding = held(world, "m1", PositionState.READY, outcome=ENDED_YES)
    slot = PositionSide(world.agents["ada"], Venue.EVM, holding, YES)
    assert redemption_body(world, slot).waits_for == who


def test_an_own_wallet_redeems_by_itself_unless_the_chain_or_gas_is_waited_for() -> None:
    world, wallet = linked()
    holding = held(world, "m1", PositionState.READY, outcome=ENDED_YES)
    slot = PositionSide(world.agents["ada"], Venue.EVM, holding, YES)
    assert redemption_body(world, slot).waits_for == "client"
    world.chain.txs[HASH] = mined(sent("m1"), TxStatus.FAILED)
    assert redemption_body(world, slot).waits_for == "client"
    wallet.gas = 0
    assert redemption_body(world, slot).waits_for == "gas"
    world.chain.txs[HASH] = Tx(sent("m1"))
    assert redemption_body(world, slot).waits_for == "chain"
    assert redemption_body(world, slot).reported is False


def test_the_newest_transaction_about_a_position_counts_and_a_lost_one_is_none() -> None:
    world = bare_world("ada", "bea")
    holding = held(world, "m1", PositionState.READY, outcome=ENDED_YES)
    hashes = {name: f"0x{name}" for name in ("old", "new", "lost", "other", "bea")}
    world.chain.txs = {
        hashes["old"]: mined(sent("m1", hashes["old"]), TxStatus.FAILED),
        hashes["new"]: Tx(sent("m1", hashes["new"])),
        hashes["lost"]: mined(sent("m1", hashes["lost"]), TxStatus.DROPPED),
        hashes["other"]: Tx(sent("m2", hashes["other"])),
        hashes["bea"]: Tx(sent("m1", hashes["bea"], "bea")),
    }
    found = tx_of(world, holding, "ada")
    assert found is not None
    assert found.sent.tx_hash == hashes["new"]
    assert tx_of(world, holding, "cyd") is None


def test_what_pays_comes_first_then_what_ends_soonest_and_what_is_done_newest_first() -> None:
    world = bare_world(auto_redeem_enabled=False)
    late = held(world, "late", PositionState.ACTIVE)
    late.resolves_at = Timestamp(AT + 900)
    soon = held(world, "soon", PositionState.ACTIVE)
    soon.resolves_at = Timestamp(AT + 90)
    held(world, "pays", PositionState.READY, outcome=ENDED_YES).resolves_at = Timestamp(AT + 9_000)
    held(
        world, "sol", PositionState.READY, venue=Venue.SOL, outcome=ENDED_YES, shares=(3_000_000, 0)
    )
    for name, seconds in (("first", 1), ("third", 3), ("second", 2)):
        held(world, name, PositionState.REDEEMED, outcome=ENDED_YES).redeemed_at = Timestamp(
            AT + seconds
        )
    held(world, "flat", PositionState.ACTIVE, shares=(0, 0))
    body = redemptions_body(world, world.agents["ada"], 2)
    assert [one.market_id for one in body.redemptions] == [
        "sol",
        "pays",
        "soon",
        "late",
        "third",
        "second",
    ]
    assert (body.redeemable_count, body.redeemed_count) == (2, 0)
    assert {name: one.model_dump() for name, one in body.by_venue.items()} == {
        "evm_venue": venue_row(1, 8.0),
        "sol_venue": venue_row(1, 3.0),
    }
    assert (body.auto_redeem_enabled, body.paused) == (False, None)


def venue_row(count: int, amount: float, done: int = 0, paid: float = 0.0) -> dict[str, object]:
    return {
        "redeemable_count": count,
        "redeemable_amount": amount,
        "redeemed_count": done,
        "redeemed_amount": paid,
    }


def test_what_was_ever_redeemed_is_added_by_venue() -> None:
    world = bare_world()
    held(world, "pays", PositionState.READY, outcome=ENDED_YES)
    ever = {Venue.EVM: (4, Micros(5_000_000)), Venue.SOL: (2, Micros(600_000))}
    body = with_redeemed(redemptions_body(world, world.agents["ada"], 9), ever)
    assert body.redeemed_count == 6
    assert {name: one.model_dump() for name, one in body.by_venue.items()} == {
        "evm_venue": venue_row(1, 8.0, 4, 5.0),
        "sol_venue": venue_row(0, 0.0, 2, 0.6),
    }
    assert [one.market_id for one in body.redemptions] == ["pays"]


# -- the chain -----------------------------------------------------------------------------


def test_the_chain_is_told_as_it_was_set() -> None:
    world = bare_world()
    world.chain.pace = world.chain.pace.__class__(
        block_s=5.0,
        gas_price=70 * GWEI,
        delay_blocks=3,
        faults=(PlannedOutcome.DROP, PlannedOutcome.REVERT),
        base_at=Timestamp(AT - 20),
        base_block=900,
    )
    world.chain.txs = {
        "a": Tx(sent("m1")),
        "b": mined(sent("m1"), TxStatus.CONFIRMED),
        "c": Tx(sent("m2")),
    }
    assert chain_body(world, AT).model_dump(exclude={"chain_id"}) == {
        "block": 904,
        "block_s": 5.0,
        "gas_price_gwei": 70.0,
        "delay_blocks": 3,
        "faults": ("drop", "revert"),
        "pending": 2,
    }
