"""Redemption over HTTP: managed at once, external in three steps, and what the relay refuses."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pytest

from kit.engine.topics import TOPICS
from kit.oracles.calls import selector
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
from service_tui.engine.codec.events import dumps
from service_tui.engine.codec.snapshot import fields_of
from service_tui.engine.tick import change_speed
from service_tui.server.world_store import restore
from service_tui.signing.book import POLYGON
from service_tui.signing.calls import (
    ZERO_32,
    Approve,
    RedeemNegRisk,
    RedeemPositions,
    SetApprovalForAll,
    encode_call,
)
from service_tui.signing.errors import ChainError, NotRedeemableError, Obstacle
from service_tui.signing.node import chain_of, contracts_of
from service_tui.signing.policy import Redemption
from service_tui.signing.redemption import check_redeemable
from service_tui.signing.signer import LocalSigner
from service_tui.terms import Plan, Side, Venue
from service_tui.units import Timestamp
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
        # The tokens are gone: a redeem attempt marks the position claimed.
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
