"""Redemption over HTTP: managed at once, external in three steps, and what the relay refuses."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pytest

from kit.engine.bare import AT, bare_world
from kit.engine.topics import TOPICS
from kit.oracles.calls import selector
from kit.service.bare import bare_service, request_to
from kit.service.line import Line, change, line_to
from kit.service.stage import Stage, open_stage
from kit.service.wallets import (
    GWEI,
    KEYS,
    External,
    Json,
    is_neg_risk,
    market_on_chain,
    operate,
    ready,
    winner_of,
)
from service_tui.engine.amm.market import Market
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
from service_tui.engine.codec.events import dumps
from service_tui.engine.codec.snapshot import fields_of
from service_tui.engine.errors import ApprovalMissing, InsufficientGas
from service_tui.engine.events import Event, MarkedRedeemed
from service_tui.engine.position import Position, SidePosition
from service_tui.engine.tick import change_speed
from service_tui.engine.transitions import PositionState
from service_tui.engine.world import World
from service_tui.outcome import YES as ENDED_YES
from service_tui.server.chain_node.relay import ADAPTER_KEY, gas_needed
from service_tui.server.projections.wallet import STATES
from service_tui.server.routes.redemption import (
    by_operator,
    check_means,
    own_hash,
    progress_of,
    report,
    start,
    unsigned_tx,
)
from service_tui.server.world_store import restore
from service_tui.signing.book import POLYGON
from service_tui.signing.calls import (
    ZERO_32,
    Approve,
    RedeemNegRisk,
    RedeemPositions,
    SetApprovalForAll,
    decode_call,
    encode_call,
)
from service_tui.signing.errors import ChainError, NotRedeemableError, Obstacle
from service_tui.signing.node import chain_of, contracts_of
from service_tui.signing.policy import Redemption
from service_tui.signing.redemption import check_redeemable
from service_tui.signing.signer import LocalSigner
from service_tui.terms import Plan, Side, Venue, WalletKind
from service_tui.units import Micros, Timestamp
from service_tui.wire.endpoints.public import (
    BRIEFING,
    IMPORT_MARKET,
    IMPORTABLE,
    PLACE_TRADE,
    POSITIONS,
    TRADES,
)
from service_tui.wire.endpoints.wallet import (
    DESK_CHAIN,
    DESK_PATCH_CHAIN,
    DESK_PATCH_WALLET,
    DESK_REDEEM,
    REDEEM,
    REDEMPTIONS,
)
from service_tui.wire.redemption import RedeemRequest, ReportRequest

pytestmark = pytest.mark.slow

REAL: Final[dict[str, object]] = {
    "claimed": True,
    "real_trading_enabled": True,
    # Or what is to be redeemed could be sold before.
    "auto_risk_monitor_enabled": False,
}


@asynccontextmanager
async def staged(path: Path, **more: Any) -> AsyncGenerator[Stage]:
    async with open_stage(path, plan=Plan.ELITE, **more) as stage:
        await stage.clock.advance(1.5)
        yield stage


async def pass_to(stage: Stage, world_at: float) -> None:
    world = stage.world
    until = Timestamp(world.at + max(0.0, world_at - world.world_at))
    stage.clock.set(max(stage.clock.now(), until))
    await stage.sim.service.world_store.advance(until)


async def settled(own: External, market: Market) -> None:
    await pass_to(own.line.stage, market.listing.resolved_at)
    # Nothing but the tape moves from here on.
    await operate_speed(own.line.stage)


async def operate_speed(stage: Stage) -> None:
    await stage.sim.service.world_store.commit(change_speed(stage.world, 0, stage.clock.now()))


async def row(line: Line, market: Market, side: str) -> Json:
    rows = (await line.said(REDEMPTIONS))["redemptions"]
    return next(one for one in rows if (one["market_id"], one["side"]) == (market.market_id, side))


async def holding_both(own: External, market: Market) -> tuple[str, float]:
    """Both sides bought; the winner, and its shares."""
    winner = winner_of(market).value
    shares = 0.0
    for side in ("yes", "no"):
        said = await own.buy(market, 20, side=side)
        if side == winner:
            assert said["success"], said["error"]
            shares = said["shares_bought"]
    return winner, shares


async def test_an_external_wallet_redeems_in_three_steps(  # noqa: PLR0915  (one life)
    tmp_path: Path,
) -> None:
    async with staged(tmp_path) as stage:
        own = await ready(stage)
        market = market_on_chain(stage, soon=True)
        winner, shares = await holding_both(own, market)
        loser = winner_of(market).other.value
        assert (await row(own.line, market, winner))["state"] == "Active"
        early = await own.ask_redeem(market, winner)
        assert (early["error_code"], early["retryable"]) == ("NOT_FINALIZED", True)
        await pass_to(stage, market.listing.resolves_at)
        assert (await row(own.line, market, winner))["state"] == "Awaiting Settlement"
        await settled(own, market)
        found = await row(own.line, market, winner)
        assert (found["state"], found["won"]) == ("Ready to Redeem", True)
        assert 0 <= stage.world.at - datetime.fromisoformat(found["ready_at"]).timestamp() < 5
        assert (found["payout"], found["waits_for"]) == (pytest.approx(shares), "client")
        held = await own.line.said(POSITIONS, venue="evm_venue", status="all")
        # What waits to be redeemed is among the rows, and no part of what is still held.
        assert any(one["redeemable"] for one in held["positions"])
        assert held["total_value"] == 0
        lost = await own.ask_redeem(market, loser)
        assert (lost["success"], lost["error_code"]) == (False, "POSITION_LOST")
        assert lost["lifecycle"] == "Ready to Redeem"

        cash = stage.world.venues.cash(stage.agent_id, Venue.EVM)
        asked = await own.ask_redeem(market, winner)
        tx = asked["unsigned_tx"]
        assert (tx["to"], tx["from"], tx["chainId"]) == (
            POLYGON.conditional_tokens,
            own.address,
            137,
        )
        raw = await own.sign(tx["to"], tx["data"])
        taken = await own.send(raw)
        assert (taken["success"], taken["status"]) == (True, "pending")
        assert (await own.report(market, winner, taken["tx_hash"]))["status"] == "pending"
        assert await own.rpc("eth_getTransactionReceipt", taken["tx_hash"]) is None
        # The same bytes again are the same transaction.
        assert (await own.send(raw))["tx_hash"] == taken["tx_hash"]
        await own.line.wait(5)
        receipt = await own.rpc("eth_getTransactionReceipt", taken["tx_hash"])
        assert (receipt["status"], receipt["transactionHash"]) == ("0x1", taken["tx_hash"])
        gained = stage.world.venues.cash(stage.agent_id, Venue.EVM) - cash
        assert gained == pytest.approx(shares * 1e6)
        # Paid, and still shown as redeemable until the report.
        before = await own.line.said(BRIEFING)
        assert before["evm_venue"]["redeemable_count"] == 1
        assert stage.world.venues.account(stage.agent_id, Venue.EVM).redeemable_count() == 1
        said = await own.report(market, winner, taken["tx_hash"])
        assert (said["success"], said["status"]) == (True, "redeemed")
        assert said["payout"] == pytest.approx(shares)
        assert await own.report(market, winner, taken["tx_hash"]) == said
        assert (await own.line.said(BRIEFING))["evm_venue"]["redeemable_count"] == 0
        done = await row(own.line, market, winner)
        assert (done["state"], done["reported"]) == ("Redeemed", True)
        again = await own.ask_redeem(market, winner)
        assert again["error_code"] == "ALREADY_REDEEMED"
        past = (await own.line.said(TRADES, venue="evm_venue"))["trades"]
        assert sum(one["cost"] for one in past if one["action"] == "redeem") == pytest.approx(
            shares
        )
        assert stage.world.ledger.total() == 0


async def test_a_managed_wallet_is_redeemed_by_the_service(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        await change(stage, **REAL, auto_redeem_enabled=False)
        line, market = line_to(stage), market_on_chain(stage, soon=True)
        winner = winner_of(market).value
        order = {"market_id": market.market_id, "side": winner, "venue": "evm_venue"}
        bought = await line.said(PLACE_TRADE, json=order | {"amount": 20})
        await pass_to(stage, market.listing.resolved_at)
        assert (await row(line, market, winner))["state"] == "Ready to Redeem"
        cash = stage.world.venues.cash(stage.agent_id, Venue.EVM)
        body = {"market_id": market.market_id, "side": winner}
        said = await line.said(REDEEM, json=body)
        assert (said["success"], said["unsigned_tx"]) == (True, None)
        assert said["tx_hash"].startswith("0x")
        assert said["payout"] == pytest.approx(bought["shares_bought"])
        gained = stage.world.venues.cash(stage.agent_id, Venue.EVM) - cash
        assert gained == pytest.approx(bought["shares_bought"] * 1e6)
        assert (await line.said(REDEEM, json=body))["error_code"] == "ALREADY_REDEEMED"


async def test_auto_redeem_takes_a_managed_payout_at_once(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        await change(stage, **REAL)
        line, market = line_to(stage), market_on_chain(stage, soon=True)
        winner = winner_of(market).value
        order = {"market_id": market.market_id, "side": winner, "venue": "evm_venue"}
        bought = await line.said(PLACE_TRADE, json=order | {"amount": 20})
        await pass_to(stage, market.listing.resolved_at)
        done = await row(line, market, winner)
        assert (done["state"], done["payout"]) == (
            "Redeemed",
            pytest.approx(bought["shares_bought"]),
        )


# -- the contracts as they are -------------------------------------------------------------


async def test_a_losing_redemption_on_the_chain_succeeds_pays_nothing_and_burns(
    tmp_path: Path,
) -> None:
    async with staged(tmp_path) as stage:
        own = await ready(stage)
        market = market_on_chain(stage, soon=True)
        winner, shares = await holding_both(own, market)
        await settled(own, market)
        condition = bytes.fromhex((await row(own.line, market, winner))["condition_id"][2:])
        losing = 2 if winner == "yes" else 1
        cash = stage.world.venues.cash(stage.agent_id, Venue.EVM)

        async def send(sets: tuple[int, ...]) -> Json:
            call = RedeemPositions(POLYGON.usdc_bridged, ZERO_32, condition, sets)
            data = "0x" + encode_call(call).hex()
            taken = await own.send(await own.sign(POLYGON.conditional_tokens, data))
            assert taken["success"], taken
            await own.line.wait(5)
            return await own.rpc("eth_getTransactionReceipt", taken["tx_hash"])

        assert (await send((losing,)))["status"] == "0x1"
        assert stage.world.venues.cash(stage.agent_id, Venue.EVM) == cash
        assert (await send((1, 2)))["status"] == "0x1"
        paid = stage.world.venues.cash(stage.agent_id, Venue.EVM)
        assert paid - cash == pytest.approx(shares * 1e6)
        # A second one succeeds as well, and pays nothing.
        assert (await send((1, 2)))["status"] == "0x1"
        assert stage.world.venues.cash(stage.agent_id, Venue.EVM) == paid
        # The tokens are gone: a redeem attempt marks the position redeemed.
        said = await own.ask_redeem(market, winner)
        assert said["error_code"] == "ALREADY_REDEEMED"
        assert "balance is 0" in said["error"]
        assert (await row(own.line, market, winner))["state"] == "Redeemed"
        assert stage.world.ledger.total() == 0
        # The lost side stands among the trades once, and they come to what was realized.
        trades = (await own.line.said(TRADES, venue="polymarket"))["trades"]
        lost = [one for one in trades if one["id"].endswith("-lost")]
        assert [(one["side"] == winner, one["cost"], one["pnl"] < 0) for one in lost] == [
            (False, 0.0, True)
        ]
        results = (await own.line.said(POSITIONS, venue="polymarket", status="all"))["pnl_summary"]
        total = sum(one["pnl"] or 0.0 for one in trades)
        assert total == pytest.approx(results["polymarket"]["realized"])
        every = (await own.line.said(TRADES, venue="all"))["trades"]
        assert [(one["id"], one["pnl"]) for one in every] == [
            (one["id"], one["pnl"]) for one in trades
        ]


async def test_the_four_topics_are_told_apart_by_what_the_chain_says(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        own = await ready(stage)
        market = market_on_chain(stage, soon=True)
        winner, shares = await holding_both(own, market)
        found = await row(own.line, market, winner)
        lost = await row(own.line, market, winner_of(market).other.value)

        async def rpc(method: str, parameters: list[Any], /) -> Any:
            answer = await own.rpc(method, *parameters)
            if isinstance(answer, dict) and "code" in answer:
                raise ChainError(answer["message"])
            return answer

        contracts = contracts_of(rpc, POLYGON)

        async def check(one: Json) -> Any:
            asked = Redemption(
                is_yes=one["side"] == "yes",
                condition_id=bytes.fromhex(one["condition_id"][2:]),
                is_neg_risk=one["neg_risk"],
            )
            return await check_redeemable(
                contracts,
                asked,
                own.address,
                collateral=POLYGON.usdc_bridged,
                token_id=int(one["token_id"]),
            )

        await chain_of(rpc).check_chain()
        with pytest.raises(NotRedeemableError) as no:
            await check(found)
        assert no.value.obstacle is Obstacle.NOT_FINALIZED
        await settled(own, market)
        with pytest.raises(NotRedeemableError) as no:
            await check(lost)
        assert no.value.obstacle is Obstacle.POSITION_LOST
        good = await check(found)
        assert (good.shares, good.payout) == (good.payout, pytest.approx(shares * 1e6))
        assert (await own.redeem(market, winner))["status"] == "redeemed"
        with pytest.raises(NotRedeemableError) as no:
            await check(found)
        assert no.value.obstacle is Obstacle.ALREADY_REDEEMED


async def test_a_negative_risk_position_goes_through_the_adapter(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        own = await ready(stage)
        known = (await own.line.said(IMPORTABLE, limit=100, venue="evm_venue"))["markets"]
        for one in known:
            await own.line.said(IMPORT_MARKET, json={"polymarket_url": one["url"]})
            found = [one for one in stage.open_markets() if is_neg_risk(one)]
            if found:
                break
        market = min(found, key=lambda one: one.listing.resolved_at)
        winner, shares = await holding_both(own, market)
        await settled(own, market)
        asked = await own.ask_redeem(market, winner)
        assert asked["unsigned_tx"]["to"] == POLYGON.neg_risk_adapter
        # The standard contract finds nothing of it.
        condition = bytes.fromhex((await row(own.line, market, winner))["condition_id"][2:])
        call = RedeemPositions(POLYGON.usdc_bridged, ZERO_32, condition, (1, 2))
        data = "0x" + encode_call(call).hex()
        cash = stage.world.venues.cash(stage.agent_id, Venue.EVM)
        assert (await own.send(await own.sign(POLYGON.conditional_tokens, data)))["success"]
        await own.line.wait(5)
        assert stage.world.venues.cash(stage.agent_id, Venue.EVM) == cash
        assert (await own.redeem(market, winner))["payout"] == pytest.approx(shares)
        greedy = encode_call(RedeemNegRisk(condition, (10**12, 10**12)))
        taken = await own.send(await own.sign(POLYGON.neg_risk_adapter, "0x" + greedy.hex()))
        await own.line.wait(5)
        receipt = await own.rpc("eth_getTransactionReceipt", taken["tx_hash"])
        assert receipt["status"] == "0x0"
        assert stage.world.ledger.total() == 0


# -- what the relay refuses ----------------------------------------------------------------

CONDITION: Final = bytes(31) + b"\x07"
GOOD: Final = encode_call(RedeemPositions(POLYGON.usdc_bridged, ZERO_32, CONDITION, (1, 2)))
STRANGER: Final = "0x" + "ab" * 20
BAD: Final[dict[str, tuple[str, bytes, Json]]] = {
    "WRONG_TARGET": (STRANGER, GOOD, {}),
    "WRONG_TARGET adapter": (POLYGON.neg_risk_adapter, GOOD, {}),
    "WRONG_TARGET spender": (POLYGON.usdc_bridged, encode_call(Approve(STRANGER, 2**256 - 1)), {}),
    "WRONG_TARGET amount": (
        POLYGON.usdc_bridged,
        encode_call(Approve(POLYGON.v1_exchange, 5)),
        {},
    ),
    "WRONG_TARGET operator": (
        POLYGON.conditional_tokens,
        encode_call(SetApprovalForAll(STRANGER, is_approved=True)),
        {},
    ),
    "WRONG_CALL": (POLYGON.conditional_tokens, selector("transfer()") + bytes(64), {}),
    "WRONG_CALL trailing": (POLYGON.conditional_tokens, GOOD + bytes(32), {}),
    "WRONG_CHAIN": (POLYGON.conditional_tokens, GOOD, {"chain_id": 1}),
    "WRONG_VALUE": (POLYGON.conditional_tokens, GOOD, {"value": 1}),
    "WRONG_NONCE high": (POLYGON.conditional_tokens, GOOD, {"nonce": 99}),
    "WRONG_NONCE low": (POLYGON.conditional_tokens, GOOD, {"nonce": 0}),
    "GAS_TOO_HIGH": (POLYGON.conditional_tokens, GOOD, {"gas": 1_500_001}),
    "UNDERPRICED": (POLYGON.conditional_tokens, GOOD, {"max_fee": 31 * GWEI}),
    "INSUFFICIENT_GAS": (POLYGON.conditional_tokens, GOOD, {"max_fee": 90_000 * GWEI}),
}


async def test_the_relay_takes_redemptions_and_approvals_of_the_own_wallet_only(
    tmp_path: Path,
) -> None:
    async with staged(tmp_path, speed=0) as stage:
        own = await ready(stage)
        before = dumps(fields_of(stage.world))
        for name, (to, data, fields) in BAD.items():
            raw = await own.sign(to, "0x" + data.hex(), **fields)
            said = await own.send(raw)
            assert (said["success"], said["error_code"]) == (False, name.split()[0]), name
            assert said["error"], name
            assert said["fix"], name
        other = External(own.line, LocalSigner(KEYS[1]))
        raw = await other.sign(POLYGON.conditional_tokens, "0x" + GOOD.hex())
        assert (await own.send(raw))["error_code"] == "WRONG_SIGNER"
        good = await own.sign(POLYGON.conditional_tokens, "0x" + GOOD.hex())
        for garbled in (good[:-2], "0x01" + good[4:], good + "00", "hello there", "0x" + "zz" * 9):
            said = await own.send(garbled)
            assert said["error_code"] in {"MALFORMED", "WRONG_TYPE", "WRONG_SIGNER"}, garbled[:9]
        assert dumps(fields_of(stage.world)) == before


# -- what goes wrong on the way ------------------------------------------------------------


async def test_faults_on_demand_delay_revert_drop_and_withhold(  # noqa: PLR0915  (all four)
    tmp_path: Path,
) -> None:
    async with staged(tmp_path) as stage:
        own = await ready(stage)
        market = market_on_chain(stage, soon=True)
        winner, shares = await holding_both(own, market)
        await settled(own, market)
        cash = stage.world.venues.cash(stage.agent_id, Venue.EVM)
        tx = (await own.ask_redeem(market, winner))["unsigned_tx"]

        async def send(*, fault: str, delay: int = 1) -> str:
            body = {"faults": [fault], "delay_blocks": delay}
            await operate(stage, DESK_PATCH_CHAIN, json=body)
            taken = await own.send(await own.sign(tx["to"], tx["data"]))
            assert taken["success"], taken
            return taken["tx_hash"]

        async def receipt(tx_hash: str) -> Json | None:
            return await own.rpc("eth_getTransactionReceipt", tx_hash)

        reverted = await send(fault="revert")
        await own.line.wait(5)
        found = await receipt(reverted)
        assert found is not None
        assert found["status"] == "0x0"
        assert (await own.report(market, winner, reverted))["status"] == "failed"
        dropped = await send(fault="drop")
        assert (await own.rpc("eth_getTransactionByHash", dropped))["hash"] == dropped
        nonce = await own.nonce()
        await own.line.wait(5)
        assert await receipt(dropped) is None
        assert await own.rpc("eth_getTransactionByHash", dropped) is None
        assert await own.nonce() == nonce - 1
        assert stage.world.venues.cash(stage.agent_id, Venue.EVM) == cash
        # The same bytes once more bring it on the chain after all; its receipt is kept back.
        raw = await own.sign(tx["to"], tx["data"])
        await operate(stage, DESK_PATCH_CHAIN, json={"faults": ["withhold"], "delay_blocks": 10})
        assert (await own.send(raw))["tx_hash"] == dropped
        await own.line.wait(5)
        assert stage.world.venues.cash(stage.agent_id, Venue.EVM) == cash
        await own.line.wait(30)
        gained = stage.world.venues.cash(stage.agent_id, Venue.EVM) - cash
        assert gained == pytest.approx(shares * 1e6)
        assert await receipt(dropped) is None
        await operate(stage, DESK_PATCH_CHAIN, json={"faults": []})
        assert await receipt(dropped) is not None
        assert (await operate(stage, DESK_CHAIN))["pending"] == 0


async def test_too_little_gas_pauses_until_the_wallet_is_topped_up(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        own = await ready(stage)
        market = market_on_chain(stage, soon=True)
        winner, _ = await holding_both(own, market)
        await settled(own, market)
        fill: dict[str, Any] = {"path": {"agent_id": stage.agent_id}}
        await operate(stage, DESK_PATCH_WALLET, **fill, json={"gas": 0.001})
        said = await own.ask_redeem(market, winner)
        assert (said["error_code"], said["retryable"]) == ("INSUFFICIENT_GAS", True)
        queue = await own.line.said(REDEMPTIONS)
        assert "POL" in queue["paused"]
        assert (await row(own.line, market, winner))["waits_for"] == "gas"
        await operate(stage, DESK_PATCH_WALLET, **fill, json={"gas": 1})
        assert (await own.line.said(REDEMPTIONS))["paused"] is None
        assert (await own.redeem(market, winner))["success"]


async def test_a_replacement_takes_the_place_of_the_first(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        own = await ready(stage)
        market = market_on_chain(stage, soon=True)
        winner, shares = await holding_both(own, market)
        await settled(own, market)
        await operate(stage, DESK_PATCH_CHAIN, json={"delay_blocks": 5})
        cash = stage.world.venues.cash(stage.agent_id, Venue.EVM)
        tx = (await own.ask_redeem(market, winner))["unsigned_tx"]
        nonce = await own.nonce()
        first = await own.send(await own.sign(tx["to"], tx["data"]))
        low = await own.sign(tx["to"], tx["data"], nonce=nonce, max_fee=250 * GWEI)
        assert (await own.send(low))["error_code"] == "UNDERPRICED"
        high = await own.sign(tx["to"], tx["data"], nonce=nonce, max_fee=300 * GWEI)
        second = await own.send(high)
        assert second["success"]
        await own.line.wait(20)
        assert await own.rpc("eth_getTransactionReceipt", first["tx_hash"]) is None
        assert (await own.report(market, winner, second["tx_hash"]))["success"]
        gained = stage.world.venues.cash(stage.agent_id, Venue.EVM) - cash
        assert gained == pytest.approx(shares * 1e6)


async def test_a_restart_in_the_middle_pays_once(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        own = await ready(stage)
        market = market_on_chain(stage, soon=True)
        winner, shares = await holding_both(own, market)
        await settled(own, market)
        cash = stage.world.venues.cash(stage.agent_id, Venue.EVM)
        tx = (await own.ask_redeem(market, winner))["unsigned_tx"]
        taken = await own.send(await own.sign(tx["to"], tx["data"]))
        key, agent_id, clock = stage.key, stage.agent_id, stage.clock
        before = dumps(fields_of(stage.world))
        found = restore(stage.at_rest, TOPICS)
        assert found is not None
        assert dumps(fields_of(found[0])) == before
    async with staged(tmp_path, clock=clock, key=key, agent_id=agent_id) as stage:
        own = External(line_to(stage))
        await own.line.wait(5)
        gained = stage.world.venues.cash(stage.agent_id, Venue.EVM) - cash
        assert gained == pytest.approx(shares * 1e6)
        assert (await own.report(market, winner, taken["tx_hash"]))["status"] == "redeemed"
        assert await own.nonce() == 10
        assert stage.world.ledger.total() == 0


async def test_the_other_venue_is_redeemed_by_hand_alone(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        await change(stage, **REAL)
        line = line_to(stage)
        market = min(
            (one for one in stage.open_markets() if one.listing.home is Venue.SOL),
            key=lambda one: one.listing.resolved_at,
        )
        winner = Side.YES if market.listing.outcome else Side.NO
        order = {"market_id": market.market_id, "side": winner.value, "venue": "sol_venue"}
        bought = await line.said(PLACE_TRADE, json=order | {"amount": 20})
        assert bought["success"], bought["error"]
        await pass_to(stage, market.listing.resolved_at)
        found = await row(line, market, winner.value)
        assert (found["manual"], found["waits_for"]) == (True, "person")
        body = {"market_id": market.market_id, "side": winner.value}
        assert (await line.said(REDEEM, json=body))["error_code"] == "MANUAL_ONLY"
        path = {"agent_id": stage.agent_id}
        done = await operate(stage, DESK_REDEEM, path=path, json=body)
        assert (done["success"], done["payout"]) == (True, pytest.approx(bought["shares_bought"]))


# -- without a clock or a disk -------------------------------------------------------------

ADDRESS, HASH = "0x" + "Ab" * 20, "0x" + "cd" * 32
CONDITION = bytes.fromhex(condition_of("m1")[2:])
YES, NO = Side.YES, Side.NO


@dataclass
class Scene:
    """An own wallet whose YES has won; part of its NO is burned already."""

    world: World
    wallet: Wallet
    found: AccountPosition

    @classmethod
    def made(cls, *, neg_risk: bool = False) -> "Scene":
        world = bare_world("ada", "bea", wallet=WalletKind.EXTERNAL)
        world.world_at = AT
        world.apply(WalletLinked("ada", AT, ADDRESS))
        wallet = world.chain.wallet_of("ada")
        assert wallet is not None
        wallet.gas = gas_needed(world)
        position = Position("ada", "m1")
        position.yes = SidePosition(Micros(8_000_000), Micros(2_000_000))
        position.no = SidePosition(Micros(5_000_000), Micros(1_000_000))
        holding = VenuePosition(
            position, "Did it?", "politics", Timestamp(AT + 3_600), PositionState.READY,
            outcome=ENDED_YES, neg_risk=neg_risk, burned_no=Micros(1_000_000),
        )  # fmt: skip
        account = VenueAccount("ada", Venue.EVM, holdings={"m1": holding})
        world.venues.accounts["ada", Venue.EVM] = account
        return cls(world, wallet, AccountPosition(account, holding))

    def burn(self) -> None:
        """Take the winning tokens off the chain, as a redemption there does."""
        holding = self.found.holding
        holding.burned_yes, holding.paid = Micros(8_000_000), Micros(8_000_000)

    def send(self, status: TxStatus, **fields: Any) -> Tx:
        call = ChainCall(CallKind.REDEEM, fields.pop("condition", condition_of("m1")), (1,))
        tx = TxSent(HASH, fields.pop("agent_id", "ada"), AT, ADDRESS, 0, "0x", call, 1, 1, 1)
        pending = status is TxStatus.PENDING
        mined = None if pending else TxMined(HASH, "ada", AT, status, 1, 1, 1)
        made = self.world.chain.txs[HASH] = Tx(tx, mined)
        return made

    async def report(self, side: Side = YES, tx_hash: str = HASH) -> tuple[Any, list[Event]]:
        service = bare_service(self.world)
        body = ReportRequest(market_id="m1", side=side, tx_hash=tx_hash)
        return await report(request_to(service, "ada", body=body)), service.world_store.written

    async def start(self, side: Side = YES, market_id: str = "m1") -> tuple[Any, list[Event]]:
        service = bare_service(self.world)
        body = RedeemRequest(market_id=market_id, side=side)
        return await start(request_to(service, "ada", body=body)), service.world_store.written


@pytest.mark.parametrize("neg_risk", [False, True])
def test_what_is_to_be_signed_is_the_call_of_the_positions_own_contract(*, neg_risk: bool) -> None:
    scene = Scene.made(neg_risk=neg_risk)
    unsigned = unsigned_tx(scene.found, scene.wallet)
    to, call = (
        (POLYGON.neg_risk_adapter, RedeemNegRisk(CONDITION, (8_000_000, 4_000_000)))
        if neg_risk
        else (
            POLYGON.conditional_tokens,
            RedeemPositions(POLYGON.usdc_bridged, ZERO_32, CONDITION, (1, 2)),
        )
    )
    assert decode_call(bytes.fromhex(unsigned.data[2:])) == call
    assert (unsigned.to, unsigned.sender) == (to, ADDRESS)
    assert (unsigned.gas, unsigned.chain_id, unsigned.value) == (300_000, 137, None)


@pytest.mark.parametrize(
    ("neg_risk", "approved", "lacks", "refusal"),
    [
        (False, False, 0, None), (True, True, 0, None), (True, False, 0, ApprovalMissing),
        (False, False, 1, InsufficientGas), (True, False, 1, InsufficientGas),
    ],
)  # fmt: skip
def test_a_redemption_needs_its_gas_and_the_adapter_its_approval(
    refusal: type[Exception] | None, lacks: int, *, neg_risk: bool, approved: bool
) -> None:
    scene = Scene.made(neg_risk=neg_risk)
    scene.wallet.gas -= lacks
    if approved:
        scene.wallet.approvals.add(ADAPTER_KEY)
    with nullcontext() if refusal is None else pytest.raises(refusal):
        check_means(scene.world, scene.wallet, scene.found.holding)


@pytest.mark.parametrize("state", [PositionState.READY, PositionState.REDEEMED])
@pytest.mark.parametrize("burned", [True, False])
@pytest.mark.parametrize("status", TxStatus)
def test_how_far_a_transaction_has_brought_its_redemption(
    status: TxStatus, state: PositionState, *, burned: bool
) -> None:
    scene = Scene.made()
    if burned:
        scene.burn()
    scene.found.holding.state = state
    word, sentence = progress_of(scene.send(status), scene.found.holding, YES)
    is_done = burned or state is PositionState.REDEEMED
    assert (word, sentence) == {
        TxStatus.PENDING: ("pending", "the transaction is pending"),
        TxStatus.CONFIRMED: ("redeemed", "the position is redeemed")
        if is_done
        else ("failed", "the tokens are still there: not redeemed"),
    }.get(status, ("failed", f"the transaction is {status.value}"))


async def test_a_confirmed_redemption_is_marked_once_in_whatever_letters_it_is_named() -> None:
    scene = Scene.made()
    scene.burn()
    scene.send(TxStatus.CONFIRMED)
    body, written = await scene.report(tx_hash="0x" + "CD" * 32)
    assert written == [MarkedRedeemed("ada", Venue.EVM, "m1", YES, AT, AT, HASH)]
    assert (body.success, body.status, body.payout) == (True, "redeemed", 8.0)
    assert (body.error, body.error_code, body.retryable, body.fix) == (None, None, False, "")
    again, nothing = await scene.report()
    assert (again.status, again.payout, nothing) == ("redeemed", 8.0, [])


async def test_what_is_left_of_the_other_side_does_not_hold_a_redemption_back() -> None:
    scene = Scene.made()
    holding = scene.found.holding
    holding.burned_no, holding.paid = Micros(5_000_000), Micros(0)
    scene.send(TxStatus.CONFIRMED)
    body, written = await scene.report(NO)
    assert (body.status, body.side) == ("redeemed", NO)
    assert written == [MarkedRedeemed("ada", Venue.EVM, "m1", NO, AT, AT, HASH)]


@pytest.mark.parametrize(
    ("status", "fields", "word", "retryable", "fix"),
    [
        (TxStatus.FAILED, {}, "failed", False, "ask for the"),
        (TxStatus.CONFIRMED, {"agent_id": "bea"}, "unknown", False, "send the hash"),
        (TxStatus.CONFIRMED, {"condition": condition_of("m2")}, "unknown", False, "send the hash"),
        (None, {}, "unknown", False, "send the hash"),
    ],
)
async def test_what_is_not_redeemed_says_how_far_it_is_and_changes_nothing(  # noqa: PLR0917
    status: TxStatus | None,
    fields: dict[str, str],
    word: str,
    retryable: bool,  # noqa: FBT001 - a case
    fix: str,
) -> None:
    scene = Scene.made()
    scene.burn()
    if status is not None:
        scene.send(status, **fields)
    body, written = await scene.report()
    assert (body.success, body.status, body.payout) == (False, word, 0.0)
    assert body.message == body.error
    assert (body.error_code, body.retryable) == (f"REDEMPTION_{word.upper()}", retryable)
    assert body.fix.startswith(fix)
    assert written == []


async def test_an_own_wallet_is_told_what_to_sign_and_a_managed_one_is_paid_at_once() -> None:
    scene = Scene.made()
    told, written = await scene.start()
    assert (told.success, told.tx_hash, told.payout, told.shares) == (True, None, 8.0, 8.0)
    assert (told.unsigned_tx.sender, told.simulated, written) == (ADDRESS, True, [])
    ada = scene.world.agents["ada"]
    ada.change({"wallet": WalletKind.MANAGED})
    told, written = await scene.start()
    assert (told.success, told.unsigned_tx, told.payout) == (True, None, 8.0)
    assert told.lifecycle == STATES[PositionState.REDEEMED]
    assert [type(one).__name__ for one in written] == ["PositionRedeemed"]
    # Each redemption of the service's own has a hash of its own.
    places = [("ada", "m1", YES), ("ada", "m1", NO), ("ada", "m2", YES), ("bea", "m1", YES)]
    hashes = [
        own_hash(scene.world.agents[who], RedeemRequest(market_id=market, side=side))
        for who, market, side in places
    ]
    assert hashes[0] == told.tx_hash
    assert len(set(hashes)) == 4
    assert all(len(one) == 66 and one.startswith("0x") for one in hashes)


async def test_what_is_gone_from_the_chain_is_marked_redeemed_and_paid_no_more() -> None:
    scene = Scene.made()
    scene.burn()
    told, written = await scene.start()
    assert (told.success, told.error_code, told.unsigned_tx) == (False, "ALREADY_REDEEMED", None)
    assert "marked as claimed" in told.error
    assert [type(one).__name__ for one in written] == ["MarkedRedeemed"]
    assert told.lifecycle == STATES[PositionState.REDEEMED]


async def test_a_refusal_is_an_answer_with_the_state_of_the_position() -> None:
    scene = Scene.made()
    state = STATES[PositionState.READY]
    lost, written = await scene.start(NO)
    assert (lost.success, lost.error_code, lost.lifecycle) == (False, "POSITION_LOST", state)
    assert (lost.simulated, lost.retryable, written) == (True, False, [])
    assert lost.fix == lost.error_hint
    other, _ = await scene.start(market_id="m9")
    assert (other.error_code, other.lifecycle) == ("POSITION_NOT_FOUND", None)
    scene.world.apply(WalletLinked("ada", AT, ""))
    scene.world.venues.accounts["ada", Venue.EVM] = scene.found.account
    unlinked, _ = await scene.start()
    assert (unlinked.success, unlinked.unsigned_tx) == (False, None)
    assert "no wallet is linked" in unlinked.error


async def test_what_the_operator_redeems_is_the_named_agents_and_so_is_a_refusal() -> None:
    scene = Scene.made()
    service, path = bare_service(scene.world), {"agent_id": "ada"}
    body = RedeemRequest(market_id="m1", side=YES)
    told = await by_operator(request_to(service, body=body, path=path))
    # Its own wallet signs on a venue that has a chain, whoever asks.
    assert told.unsigned_tx is not None
    assert (told.unsigned_tx.sender, told.tx_hash, told.payout) == (ADDRESS, None, 8.0)
    body = RedeemRequest(market_id="m1", side=NO)
    lost = await by_operator(request_to(service, body=body, path=path))
    assert (lost.success, lost.error_code) == (False, "POSITION_LOST")
    assert service.world_store.written == []


async def test_what_would_fail_on_the_chain_is_refused_before_it_is_signed() -> None:
    scene = Scene.made()
    scene.wallet.gas -= 1
    told, written = await scene.start()
    assert (told.success, told.error_code, told.unsigned_tx) == (False, "INSUFFICIENT_GAS", None)
    assert written == []


async def test_what_its_venue_redeems_on_its_own_page_is_the_operators_alone() -> None:
    scene = Scene.made()
    account = VenueAccount("ada", Venue.SOL, holdings={"m1": scene.found.holding})
    scene.world.venues.accounts.clear()
    scene.world.venues.accounts["ada", Venue.SOL] = account
    told, written = await scene.start()
    assert (told.success, told.error_code, written) == (False, "MANUAL_ONLY", [])
    assert scene.found.holding.state is PositionState.READY
    service = bare_service(scene.world)
    body = RedeemRequest(market_id="m1", side=YES)
    told = await by_operator(request_to(service, body=body, path={"agent_id": "ada"}))
    assert (told.success, told.unsigned_tx, bool(told.tx_hash), told.payout) == (
        True, None, True, 8.0,
    )  # fmt: skip
    assert "PositionRedeemed" in [type(one).__name__ for one in service.world_store.written]
