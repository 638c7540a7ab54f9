"""The steps of an own wallet's redemption: what is to be signed, what lacks, and its report."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kit.engine.bare import AT, HOUR, bare_world
from service_tui.engine.books.catalogue import condition_of
from service_tui.engine.books.venues import VenueAccount, VenuePosition
from service_tui.engine.chain.chain import Tx, Wallet
from service_tui.engine.chain.redemption import AccountPosition
from service_tui.engine.chain_events import (
    CallKind,
    ChainCall,
    TxMined,
    TxSent,
    TxStatus,
    WalletLinked,
)
from service_tui.engine.errors import ApprovalMissing, InsufficientGas, NotFinalized
from service_tui.engine.events import Claimed, Event
from service_tui.engine.position import Position, SidePosition
from service_tui.engine.transitions import PositionState
from service_tui.engine.world import World
from service_tui.server.chain_node.relay import ADAPTER_KEY, gas_needed
from service_tui.server.http.service import RequestContext
from service_tui.server.routes import redemption
from service_tui.signing.book import POLYGON
from service_tui.signing.calls import (
    ZERO_32,
    RedeemNegRisk,
    RedeemPositions,
    decode_call,
)
from service_tui.terms import Side, Venue, WalletKind
from service_tui.units import Micros, Timestamp
from service_tui.wire.redemption import RedeemRequest, RedemptionsQuery, ReportRequest

ADDRESS, HASH = "0x" + "Ab" * 20, "0x" + "cd" * 32
CONDITION = bytes.fromhex(condition_of("m1")[2:])
YES, NO = Side.YES, Side.NO


def scene(*, neg_risk: bool = False) -> tuple[World, Wallet, AccountPosition]:
    """An own wallet whose YES has won; part of its NO is burned already."""
    world = bare_world("ada", "bea", wallet=WalletKind.EXTERNAL)
    world.apply(WalletLinked("ada", AT, ADDRESS))
    wallet = world.chain.wallet_of("ada")
    assert wallet is not None
    wallet.gas = gas_needed(world)
    position = Position("ada", "m1")
    position.yes = SidePosition(Micros(8_000_000), Micros(2_000_000))
    position.no = SidePosition(Micros(5_000_000), Micros(1_000_000))
    holding = VenuePosition(
        position, "Did it?", "politics", Timestamp(AT + HOUR), PositionState.READY,
        outcome=True, neg_risk=neg_risk, burned_no=Micros(1_000_000),
    )  # fmt: skip
    account = VenueAccount("ada", Venue.EVM, holdings={"m1": holding})
    world.venues.accounts["ada", Venue.EVM] = account
    return world, wallet, AccountPosition(account, holding)


def test_a_standard_redemption_is_to_be_signed_for_both_sides() -> None:
    _, wallet, found = scene()
    unsigned = redemption.unsigned_tx(found, wallet)
    call = decode_call(bytes.fromhex(unsigned.data[2:]))
    assert call == RedeemPositions(POLYGON.usdc_bridged, ZERO_32, CONDITION, (1, 2))
    assert (unsigned.to, unsigned.sender) == (POLYGON.conditional_tokens, ADDRESS)
    assert (unsigned.gas, unsigned.chain_id, unsigned.value) == (300_000, 137, None)


def test_a_negative_risk_redemption_is_to_be_signed_for_what_is_on_the_chain() -> None:
    _, wallet, found = scene(neg_risk=True)
    unsigned = redemption.unsigned_tx(found, wallet)
    call = decode_call(bytes.fromhex(unsigned.data[2:]))
    assert call == RedeemNegRisk(CONDITION, (8_000_000, 4_000_000))
    assert unsigned.to == POLYGON.neg_risk_adapter


def request_of(world: World, **fields: Any) -> tuple[RequestContext, list[Event]]:
    """A call of ada's to a service that writes nothing but a list."""
    written: list[Event] = []

    async def commit(events: tuple[Event, ...], **_: object) -> None:
        written.extend(events)

    service = SimpleNamespace(world=world, world_store=SimpleNamespace(commit=commit))
    request = RequestContext(cast("Any", service), world.agents["ada"], AT, **fields)
    return request, written


@pytest.mark.parametrize("neg_risk", [False, True])
def test_with_gas_and_approval_nothing_lacks(*, neg_risk: bool) -> None:
    world, wallet, found = scene(neg_risk=neg_risk)
    if neg_risk:
        wallet.approvals.add(ADAPTER_KEY)
    redemption._check_means(request_of(world)[0], wallet, found.holding)


def test_a_wei_too_little_or_no_approval_of_the_adapter_is_refused() -> None:
    world, wallet, found = scene(neg_risk=True)
    with pytest.raises(ApprovalMissing, match="may not move the wallet's tokens"):
        redemption._check_means(request_of(world)[0], wallet, found.holding)
    wallet.approvals.add(ADAPTER_KEY)
    wallet.gas -= 1
    with pytest.raises(InsufficientGas):
        redemption._check_means(request_of(world)[0], wallet, found.holding)


# -- reports -------------------------------------------------------------------------------


def sent(world: World, status: TxStatus | None, **fields: Any) -> None:
    call = ChainCall(CallKind.REDEEM, fields.pop("condition", condition_of("m1")), (1,))
    tx = TxSent(HASH, fields.pop("agent_id", "ada"), AT, ADDRESS, 0, "0x", call, 1, 1, 1)
    mined = None if status is None else TxMined(HASH, "ada", AT, status, 1, 1, 1)
    world.chain.txs[HASH] = Tx(tx, mined)


def reported(
    world: World, monkeypatch: pytest.MonkeyPatch, side: Side = YES
) -> tuple[Any, list[Event]]:
    async def settled(_: RequestContext) -> None:
        return None

    monkeypatch.setattr(redemption, "settle", settled)
    body = ReportRequest(market_id="m1", side=side, tx_hash=HASH)
    request, written = request_of(world, body=body)
    return asyncio.run(redemption.report(request)), written


def burned(found: AccountPosition) -> None:
    found.holding.burned_yes, found.holding.paid = Micros(8_000_000), Micros(8_000_000)


def test_a_confirmed_redemption_is_claimed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    world, _, found = scene()
    burned(found)
    sent(world, TxStatus.CONFIRMED)
    body, written = reported(world, monkeypatch)
    assert written == [Claimed("ada", Venue.EVM, "m1", YES, AT, AT, HASH)]
    assert body.model_dump() == {
        "success": True,
        "market_id": "m1",
        "side": YES,
        "tx_hash": HASH,
        "status": "redeemed",
        "payout": 8.0,
        "message": "the position is redeemed",
        "error": None,
        "error_code": None,
        "retryable": False,
        "fix": "",
    }
    again, nothing = reported(world, monkeypatch)
    assert (again, nothing) == (body, [])


@pytest.mark.parametrize(
    ("status", "word", "message", "retryable", "fix"),
    [
        (None, "pending", "the transaction is pending", True, "report again"),
        (TxStatus.FAILED, "failed", "the transaction is failed", False, "ask for the"),
        (TxStatus.DROPPED, "failed", "the transaction is dropped", False, "ask for the"),
        (
            TxStatus.CONFIRMED,
            "failed",
            "the tokens are still there: not redeemed",
            False,
            "ask for the",
        ),
    ],
)
def test_what_is_not_redeemed_says_how_far_it_is(  # noqa: PLR0917  (a case)
    monkeypatch: pytest.MonkeyPatch,
    status: TxStatus | None,
    word: str,
    message: str,
    retryable: bool,  # noqa: FBT001 - a case
    fix: str,
) -> None:
    world, _, found = scene()
    if status is not TxStatus.CONFIRMED:
        burned(found)
    sent(world, status)
    body, written = reported(world, monkeypatch)
    assert (body.success, body.status, body.payout) == (False, word, 0.0)
    assert body.message == body.error == message
    assert (body.error_code, body.retryable) == (f"REDEMPTION_{word.upper()}", retryable)
    assert body.fix.startswith(fix)
    assert written == []


@pytest.mark.parametrize("fields", [{"agent_id": "bea"}, {"condition": condition_of("m2")}])
def test_a_transaction_of_others_or_about_another_market_is_unknown(
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, str]
) -> None:
    world, _, found = scene()
    burned(found)
    sent(world, TxStatus.CONFIRMED, **fields)
    body, written = reported(world, monkeypatch)
    assert (body.status, body.error_code) == ("unknown", "REDEMPTION_UNKNOWN")
    assert body.fix == "send the hash that broadcast-tx gave"
    assert written == []


def test_a_report_without_a_position_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    world, _, _ = scene()
    sent(world, TxStatus.CONFIRMED)
    world.venues.accounts.clear()
    assert reported(world, monkeypatch)[0].status == "unknown"


def test_a_hash_is_the_same_in_whatever_letters_it_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world, _, found = scene()
    burned(found)
    sent(world, TxStatus.CONFIRMED)
    monkeypatch.setattr(f"{__name__}.HASH", "0x" + "CD" * 32)
    body, written = reported(world, monkeypatch)
    assert (body.status, len(written)) == ("redeemed", 1)


def test_what_is_left_of_the_other_side_does_not_hold_a_redemption_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world, _, found = scene()
    found.holding.burned_no, found.holding.paid = Micros(5_000_000), Micros(0)
    sent(world, TxStatus.CONFIRMED)
    body, written = reported(world, monkeypatch, NO)
    assert (body.status, body.side) == ("redeemed", NO)
    assert written == [Claimed("ada", Venue.EVM, "m1", NO, AT, AT, HASH)]


# -- the operator's hand -------------------------------------------------------------------


async def test_what_the_operator_redeems_is_the_named_agents_and_so_is_a_refusal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world, _, found = scene()

    async def nothing(_: object) -> None:
        return None

    for name in ("settle", "imported"):
        monkeypatch.setattr(redemption, name, nothing)
    body = RedeemRequest(market_id="m1", side=YES)
    request, written = request_of(world, body=body, path={"agent_id": "ada"})
    told = await redemption.by_operator(request)
    # Its own wallet signs on a venue that has a chain, whoever asks.
    assert told.unsigned_tx is not None
    assert (told.success, told.unsigned_tx.sender, told.tx_hash) == (True, ADDRESS, None)
    assert (told.payout, written) == (8.0, [])
    request, _ = request_of(
        world, body=RedeemRequest(market_id="m1", side=NO), path={"agent_id": "ada"}
    )
    request.caller = None
    lost = await redemption.by_operator(request)
    assert (lost.success, lost.error_code) == (False, "POSITION_LOST")
    assert lost.lifecycle == redemption.STATES[found.holding.state]


# -- the agent's own request ---------------------------------------------------------------


def asked_of(
    monkeypatch: pytest.MonkeyPatch, world: World, side: Side = YES, **fields: Any
) -> tuple[Any, list[Event], list[str]]:
    """A redemption that an agent asks for; what was settled or loaded before is noted."""
    done: list[str] = []

    def noting(name: str) -> Any:
        async def nothing(_: object) -> None:
            done.append(name)

        return nothing

    for name in ("settle", "imported"):
        monkeypatch.setattr(redemption, name, noting(name))
    body = RedeemRequest(market_id=fields.pop("market_id", "m1"), side=side)
    request, written = request_of(world, body=body)
    world.world_at = AT
    return asyncio.run(redemption.start(request)), written, done


def test_an_own_wallet_is_told_what_to_sign_once_the_chain_is_settled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world, _, _ = scene()
    told, written, done = asked_of(monkeypatch, world)
    assert (told.success, told.tx_hash, told.payout, told.shares) == (True, None, 8.0, 8.0)
    assert told.unsigned_tx.sender == ADDRESS
    assert (told.market_id, told.side, told.simulated) == ("m1", YES, True)
    assert (written, done) == ([], ["settle", "imported"])


def test_a_managed_wallet_is_paid_at_once_under_a_hash_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world, _, found = scene()
    world.agents["ada"].change({"wallet": WalletKind.MANAGED})
    told, written, done = asked_of(monkeypatch, world)
    assert (told.success, told.unsigned_tx, told.payout) == (True, None, 8.0)
    assert told.lifecycle == redemption.STATES[PositionState.REDEEMED]
    assert [type(one).__name__ for one in written] == ["PositionRedeemed"]
    assert done == ["settle"], "nothing of the chain is loaded"
    assert len(told.tx_hash) == 66
    assert told.tx_hash.startswith("0x")
    others = [
        redemption._own_hash(world.agents[who], RedeemRequest(market_id=market, side=side))
        for who, market, side in (
            ("ada", "m1", YES), ("ada", "m1", NO), ("ada", "m2", YES), ("bea", "m1", YES),
        )
    ]  # fmt: skip
    assert others[0] == told.tx_hash
    assert len(set(others)) == 4
    assert found.holding.state is PositionState.REDEEMED


def test_what_is_gone_from_the_chain_is_marked_claimed_and_paid_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world, _, found = scene()
    burned(found)
    told, written, _ = asked_of(monkeypatch, world)
    assert (told.success, told.error_code, told.unsigned_tx) == (False, "ALREADY_REDEEMED", None)
    assert "marked as claimed" in told.error
    assert [type(one).__name__ for one in written] == ["Claimed"]
    assert told.lifecycle == redemption.STATES[PositionState.REDEEMED]


@pytest.mark.parametrize(
    ("other", "code"),
    [({"side": NO}, "POSITION_LOST"), ({"market_id": "m9"}, "POSITION_NOT_FOUND")],
)
def test_a_refusal_is_an_answer_with_the_state_of_the_position(
    monkeypatch: pytest.MonkeyPatch, other: dict[str, Any], code: str
) -> None:
    world, _, found = scene()
    told, written, _ = asked_of(monkeypatch, world, **other)
    assert (told.success, told.error_code, told.simulated, written) == (False, code, True, [])
    assert told.fix == told.error_hint
    refusal = NotFinalized("x")
    assert refusal.retryable
    request, _ = request_of(world, body=RedeemRequest(market_id="m1", side=YES))
    again = redemption._refused(request, RedeemRequest(market_id="m1", side=YES), refusal)
    assert (again.retryable, told.retryable) == (True, False)
    is_held = "market_id" not in other
    assert told.lifecycle == (redemption.STATES[found.holding.state] if is_held else None)


def test_without_a_linked_wallet_an_own_wallet_has_nothing_to_sign_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world, _, _ = scene()
    world.apply(WalletLinked("ada", AT, ""))
    told, _, _ = asked_of(monkeypatch, world)
    assert (told.success, told.unsigned_tx) == (False, None)
    assert "no wallet is linked" in told.error


@pytest.mark.parametrize("by_hand", [True, False])
def test_what_is_redeemed_on_the_venues_own_page_is_redeemed_by_the_operator_alone(
    monkeypatch: pytest.MonkeyPatch, *, by_hand: bool
) -> None:
    world, _, found = scene()
    account = VenueAccount("ada", Venue.SOL, holdings={"m1": found.holding})
    world.venues.accounts.clear()
    world.venues.accounts["ada", Venue.SOL] = account
    if not by_hand:
        told, written, _ = asked_of(monkeypatch, world)
        assert (told.success, told.error_code, written) == (False, "MANUAL_ONLY", [])
        assert found.holding.state is PositionState.READY
        return

    async def nothing(_: object) -> None:
        return None

    for name in ("settle", "imported"):
        monkeypatch.setattr(redemption, name, nothing)
    body = RedeemRequest(market_id="m1", side=YES)
    request, written = request_of(world, body=body, path={"agent_id": "ada"})
    told = asyncio.run(redemption.by_operator(request))
    assert (told.success, told.unsigned_tx, bool(told.tx_hash), told.payout) == (
        True, None, True, 8.0,
    )  # fmt: skip
    assert [type(one).__name__ for one in written] == ["PositionRedeemed"]


async def test_the_queue_is_read_settled_with_all_that_was_redeemed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world, _, _ = scene()
    done: list[object] = []

    async def settle(_: object) -> None:
        done.append("settled")

    async def redeemed_of(*given: object) -> str:
        done.append(given)
        return "redeemed"

    monkeypatch.setattr(redemption, "settle", settle)
    monkeypatch.setattr(redemption, "redeemed_of", redeemed_of)
    monkeypatch.setattr(redemption, "redemptions_body", lambda _, agent, most: (agent, most))
    monkeypatch.setattr(redemption, "with_redeemed", lambda body, sums: (body, sums))
    request, _ = request_of(world, query=RedemptionsQuery(limit=7))
    request.service.past = "past"  # type: ignore[misc]
    agent = world.agents["ada"]
    assert await redemption.read(request) == ((agent, 7), "redeemed")
    assert done == ["settled", (request.service.world_store, "past", "ada")]
