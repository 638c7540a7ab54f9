"""The operator's hand on the simulated chain, and what its node answers."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from kit.service.line import Line, line_to
from kit.service.stage import OPERATOR, Stage, open_stage
from kit.service.wallets import External, Json, operate
from service_tui.storage.journal import JournalStore
from service_tui.terms import Plan
from service_tui.wire.endpoints.wallet import (
    ALLOWANCES,
    BROADCAST,
    CHAIN_RPC,
    DESK_CHAIN,
    DESK_PATCH_CHAIN,
    DESK_PATCH_WALLET,
    UNLINK_WALLET,
    WALLET,
)

pytestmark = pytest.mark.slow


@asynccontextmanager
async def staged(path: Path) -> AsyncGenerator[tuple[Stage, External]]:
    async with open_stage(path, plan=Plan.ELITE, speed=0) as stage:
        await stage.clock.advance(1.5)
        yield stage, External(line_to(stage))


async def fill(stage: Stage, code: int = 200, **patch: Any) -> Json:
    path = {"agent_id": stage.agent_id}
    return await Line(stage, OPERATOR).said(DESK_PATCH_WALLET, code, path=path, json=patch)


async def test_a_node_answers_under_the_callers_own_number(tmp_path: Path) -> None:
    async with staged(tmp_path) as (_, own):
        known = {"jsonrpc": "2.0", "method": "eth_chainId", "params": [], "id": 7}
        answer = await own.line.said(CHAIN_RPC, json=known)
        assert (answer["id"], answer["result"]) == (7, "0x89")
        answer = await own.line.said(CHAIN_RPC, json=known | {"method": "eth_mine", "id": "x"})
        assert (answer["id"], answer["error"]["code"]) == ("x", -32601)


async def test_what_the_relay_takes_is_told_by_its_hash_and_what_not_with_why(
    tmp_path: Path,
) -> None:
    async with staged(tmp_path) as (stage, own):
        refused = await own.line.said(BROADCAST, json={"signed_tx": "0x02abcdef01"})
        assert (refused["success"], refused["simulated"]) == (False, True)
        assert (refused["error_code"], bool(refused["error"]), bool(refused["fix"])) == (
            "MALFORMED", True, True,
        )  # fmt: skip
        await own.link()
        await operate(stage, DESK_PATCH_CHAIN, json={"delay_blocks": 10})
        before = JournalStore(stage.at_rest).last_seq()
        asked = await own.line.said(
            ALLOWANCES, path={"address": own.address}, include_tx_params="true"
        )
        first = asked["transactions"][0]
        raw = await own.sign(first["to"], first["data"], gas=100_000)
        taken = await own.send(raw)
        assert (taken["success"], taken["simulated"], taken["status"]) == (True, True, "pending")
        assert JournalStore(stage.at_rest).last_seq() > before
        # A wallet on whose money something waits is neither replaced nor given up.
        assert (await own.link())["error_code"] == "WALLET_BUSY"
        assert (await own.line.said(UNLINK_WALLET))["error_code"] == "WALLET_BUSY"


async def test_the_operator_sets_the_pace_of_the_chain(tmp_path: Path) -> None:
    async with staged(tmp_path) as (stage, _):
        patch = {"block_s": 3.0, "gas_price_gwei": 40.5, "faults": ["revert", "ok"]}
        told = await operate(stage, DESK_PATCH_CHAIN, json=patch | {"delay_blocks": 2})
        assert {name: told[name] for name in patch} == patch
        assert stage.world.chain.pace.delay_blocks == 2
        assert await operate(stage, DESK_CHAIN) == told
        # What is not sent stays, and nothing sent is no row.
        before = JournalStore(stage.at_rest).last_seq()
        assert await operate(stage, DESK_PATCH_CHAIN, json={}) == told
        assert JournalStore(stage.at_rest).last_seq() == before


async def test_the_operator_fills_empties_and_restricts_a_wallet(tmp_path: Path) -> None:
    async with staged(tmp_path) as (stage, own):
        said = await fill(stage, 409, gas=1)
        assert said["fix"]
        await own.link()
        for name, value, read, found in (
            ("gas", 1.5, "gas", 1.5),
            ("gas", 0, "gas", 0.0),
            ("pay_usdc", 0, "pay_usdc", 0.0),
            ("native_usdc", 2.5, "native_usdc", 2.5),
            ("restricted", True, "restricted", True),
            ("restricted", False, "restricted", False),
        ):
            told = await fill(stage, **{name: value})
            assert told["wallet_address"] == own.address
            row = await own.line.said(WALLET)
            assert row.get(read, found) == found, name
        before = JournalStore(stage.at_rest).last_seq()
        said = await fill(stage, 422, pay_usdc=0.000_000_1)
        assert "pay_usdc" in str(said)
        await fill(stage)
        assert JournalStore(stage.at_rest).last_seq() == before
