"""The settings endpoints: single fields, limits and misspelt names."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

import pytest

from kit.engine.topics import TOPICS
from kit.service.line import change, line_to
from kit.service.stage import open_stage
from service_tui.engine.codec.events import dumps
from service_tui.engine.codec.snapshot import fields_of
from service_tui.server.world_store import restore
from service_tui.terms import Plan
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.public import (
    PATCH_AGENT,
    PATCH_REACTOR,
    PATCH_SETTINGS,
    PATCH_USER_SETTINGS,
    POST_SETTINGS,
    SETTINGS,
    USER_SETTINGS,
)

pytestmark = pytest.mark.slow

WALLET: Final = "So11111111111111111111111111111111111111112"
THRESHOLDS: Final = {
    "max_trades_per_day": 321,
    "max_position_usd": 250.5,
    "default_stop_loss_pct": 0.35,
    "default_take_profit_pct": 1.5,
    "auto_risk_monitor_enabled": False,
    "trading_paused": True,
}
LIMITS: Final = {
    "sdk_real_trading_enabled": True,
    "sdk_max_trade_amount": 80.25,
    "sdk_daily_limit": 400.0,
}
BOT: Final = {
    "clawdbot_webhook_url": "https://hook.example/agent",
    "clawdbot_chat_id": "-100123",
    "clawdbot_channel": "telegram",
}

CHANGES: Final[list[tuple[Endpoint[WireModel], dict[str, Any]]]] = [
    (POST_SETTINGS, LIMITS | THRESHOLDS),
    (PATCH_SETTINGS, LIMITS | THRESHOLDS),
    (PATCH_USER_SETTINGS, THRESHOLDS | BOT),
]


@pytest.mark.parametrize(("endpoint", "changes"), CHANGES)
async def test_one_field_changes_alone_and_is_answered_read_and_kept(
    tmp_path: Path, endpoint: Endpoint[WireModel], changes: dict[str, Any]
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        found: dict[str, object] = {}
        for name, value in changes.items():
            before = asdict(stage.agent.settings)
            said = await line.said(endpoint, json={name: value})
            read = await line.said(SETTINGS) | await line.said(USER_SETTINGS)
            after = asdict(stage.agent.settings)
            changed = [key for key in after if after[key] != before[key]]
            stored = restore(stage.at_rest, TOPICS)
            assert stored is not None, name
            is_kept = dumps(fields_of(stored[0])) == dumps(fields_of(stage.world))
            found[name] = (said[name], read[name], len(changed), is_kept)
        assert found == {name: (value, value, 1, True) for name, value in changes.items()}


@pytest.mark.parametrize("endpoint", [POST_SETTINGS, PATCH_SETTINGS, PATCH_USER_SETTINGS])
async def test_nothing_sent_changes_nothing_and_zero_switches_a_threshold_off(
    tmp_path: Path, endpoint: Endpoint[WireModel]
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        before = stage.agent.settings
        said = await line.said(endpoint, json={})
        assert stage.agent.settings == before
        assert said["default_stop_loss_pct"] == 0.20
        assert said["default_take_profit_pct"] is None
        for nothing in (0, None):
            await line.said(endpoint, json={"default_stop_loss_pct": 0.2})
            off = await line.said(endpoint, json={"default_stop_loss_pct": nothing})
            assert off["default_stop_loss_pct"] is None


async def test_money_is_set_to_the_micro_and_no_finer(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line, endpoint = line_to(stage), PATCH_SETTINGS
        for name, value in (
            ("max_position_usd", 0.000_001), ("max_position_usd", 12.5), ("sdk_daily_limit", 2.5),
        ):  # fmt: skip
            assert (await line.said(endpoint, json={name: value}))[name] == value
        for name, value in (("max_position_usd", 4e-7), ("sdk_daily_limit", 1.000_000_4)):
            before = stage.agent.settings
            refused = await line.said(endpoint, 422, json={name: value})
            assert name in str(refused["detail"])
            assert stage.agent.settings == before


CEILINGS: Final = {Plan.FREE: (50, 1_000), Plan.PRO: (500, 5_000), Plan.ELITE: (None, None)}


@pytest.mark.parametrize("plan", CEILINGS)
async def test_an_agent_raises_its_daily_trades_up_to_the_plans_ceiling(
    tmp_path: Path, plan: Plan
) -> None:
    usual, most = CEILINGS[plan]
    async with open_stage(tmp_path, speed=0, plan=plan) as stage:
        line = line_to(stage)
        assert (await line.said(USER_SETTINGS))["max_trades_per_day"] == usual
        wanted = most or 1_000_000
        for endpoint in (POST_SETTINGS, PATCH_SETTINGS, PATCH_USER_SETTINGS):
            said = await line.said(endpoint, json={"max_trades_per_day": wanted})
            assert said["max_trades_per_day"] == wanted
            refused = await line.said(endpoint, 422, json={"max_trades_per_day": wanted + 1})
            assert refused["fix"]
            assert stage.agent.trades_per_day() == wanted
        reset = await line.said(PATCH_USER_SETTINGS, json={"max_trades_per_day": None})
        assert reset["max_trades_per_day"] == usual
        # A smaller plan later binds what was raised before.
        await line.said(PATCH_USER_SETTINGS, json={"max_trades_per_day": wanted})
        await change(stage, plan=Plan.FREE)
        assert (await line.said(USER_SETTINGS))["max_trades_per_day"] == min(wanted, 1_000)


async def test_the_solana_wallet_is_written_under_one_name_and_read_under_another(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        said = await line.said(PATCH_USER_SETTINGS, json={"bot_solana_wallet": WALLET})
        assert "bot_solana_wallet" not in said
        for body in (said, await line.said(USER_SETTINGS), await line.said(SETTINGS)):
            assert body["solana_wallet_address"] == WALLET
        gone = await line.said(PATCH_USER_SETTINGS, json={"bot_solana_wallet": None})
        assert gone["solana_wallet_address"] is None


async def test_the_spec_and_the_wire_reference_name_every_field_of_the_answers(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        spec, risk = await line.said(SETTINGS), await line.said(USER_SETTINGS)
        for endpoint in (POST_SETTINGS, PATCH_SETTINGS):
            assert await line.said(endpoint, json={}) == spec | risk
        assert (spec["trading_paused"], risk["trading_paused"]) == (False, False)


@pytest.mark.parametrize("endpoint", [PATCH_SETTINGS, PATCH_USER_SETTINGS, POST_SETTINGS])
async def test_a_misspelt_setting_is_named_with_the_one_that_was_meant(
    tmp_path: Path, endpoint: Any
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        before = stage.agent.settings
        body = {"max_trade_per_day": 3, "quux": {"deep": [1]}, "default_stop_loss_pct": 0.3}
        said = await line.said(endpoint, json=body)
        first, second = said["warnings"]
        assert "max_trade_per_day" in first
        assert "did you mean max_trades_per_day?" in first
        assert "quux" in second
        assert "did you mean" not in second
        assert stage.agent.settings == replace(before, stop_loss_pct=0.3)
        assert (await line.said(endpoint, json={}))["warnings"] == []
        # A setting of another body is none of this one.
        if endpoint is not PATCH_USER_SETTINGS:
            await line.said(endpoint, json={"clawdbot_channel": "x"})
            assert stage.agent.settings.clawdbot_channel is None


@pytest.mark.parametrize(
    ("endpoint", "sent", "meant"),
    [
        (PATCH_AGENT, "auto_redeem_enable", "auto_redeem_enabled"),
        (PATCH_REACTOR, "dailycap", "daily_cap"),
    ],
    ids=["agent", "reactor"],
)
async def test_a_misspelt_name_of_an_agent_or_a_reactor_is_named_too(
    tmp_path: Path, endpoint: Any, sent: str, meant: str
) -> None:
    async with open_stage(tmp_path, plan=Plan.PRO, speed=0) as stage:
        line = line_to(stage)
        (warning,) = (await line.said(endpoint, json={sent: 5}))["warnings"]
        assert sent in warning
        assert f"did you mean {meant}?" in warning
        assert (await line.said(endpoint, json={}))["warnings"] == []


@pytest.mark.parametrize(
    ("endpoint", "sent", "meant"),
    [
        (PATCH_USER_SETTINGS, "daily_limit", "sdk_daily_limit (POST /api/sdk/settings)"),
        (POST_SETTINGS, "bot_solana_walet", "bot_solana_wallet (PATCH /api/sdk/user/settings)"),
        (
            POST_SETTINGS,
            "auto_redeem_enabled",
            "auto_redeem_enabled (PATCH /api/sdk/agents/me/settings)",
        ),
        (PATCH_AGENT, "max_trade_per_day", "max_trades_per_day (PATCH /api/sdk/user/settings)"),
        (PATCH_AGENT, "max_trade_amount", "sdk_max_trade_amount (POST /api/sdk/settings)"),
    ],
    ids=["limit", "wallet", "redeem", "trades", "amount"],
)
async def test_a_setting_of_another_call_is_named_with_that_call(
    tmp_path: Path, endpoint: Any, sent: str, meant: str
) -> None:
    async with open_stage(tmp_path, plan=Plan.PRO, speed=0) as stage:
        (warning,) = (await line_to(stage).said(endpoint, json={sent: 5}))["warnings"]
        assert f"did you mean {meant}?" in warning
