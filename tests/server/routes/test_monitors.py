"""Monitors and risk alerts over HTTP: what is set, refused, told, sold and kept."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from kit.engine.topics import TOPICS
from kit.service.line import Line, change, line_to, sink_on
from kit.service.stage import OPERATOR, Stage, open_stage
from service_tui.engine.codec.events import dumps
from service_tui.engine.codec.snapshot import fields_of
from service_tui.server.embedded import BASE_URL
from service_tui.server.world_store import restore
from service_tui.terms import Venue, WalletKind
from service_tui.wire.endpoints.desk import DESK_PATCH_AGENT
from service_tui.wire.endpoints.fleet import DESK_NEEDS
from service_tui.wire.endpoints.public import (
    AGENT,
    BRIEFING,
    DELETE_MONITOR,
    END_RISK_ALERT,
    MONITORS,
    PATCH_SETTINGS,
    PATCH_USER_SETTINGS,
    PLACE_TRADE,
    POSITIONS,
    RISK_ALERTS,
    SET_MONITOR,
    SETTINGS,
    TRADES,
)

HAIR: Final = 0.0001
"""A stop so near that any fall reaches it."""

OWN: Final[dict[str, object]] = {
    "wallet": WalletKind.EXTERNAL, "claimed": True, "real_trading_enabled": True,
}  # fmt: skip
"""An agent that holds its own wallet and may trade on the real venues."""


def market_of(stage: Stage, venue: Venue = Venue.SIM) -> str:
    found = [one for one in stage.open_markets() if one.listing.home is venue]
    return max(found, key=lambda one: one.listing.resolves_at).market_id


async def held(  # noqa: PLR0917
    line: Line, market_id: str, amount: float = 20, side: str = "yes", venue: Venue = Venue.SIM
) -> dict[str, Any]:
    order = {"market_id": market_id, "side": side, "amount": amount, "venue": venue.value}
    said = await line.said(PLACE_TRADE, json=order)
    assert said["success"], said["error"]
    return said


async def watch(line: Line, market_id: str, code: int = 200, **fields: object) -> dict[str, Any]:
    body = {"side": "yes"} | fields
    return await line.said(SET_MONITOR, code, path={"market_id": market_id}, json=body)


async def breached(line: Line, venue: Venue = Venue.SOL) -> str:
    """A market of a venue in which a tick has crossed the stop of what is held."""
    market_id = market_of(line.stage, venue)
    await held(line, market_id, 10, venue=venue)
    if venue is Venue.SIM:
        # The other side, bought, takes the price below what was paid.
        await held(line, market_id, 100, "no")
    await watch(line, market_id, stop_loss_pct=HAIR)
    if venue is not Venue.SIM:
        await sink_on(line.stage, market_id)
    await line.wait(1)
    return market_id


@pytest.mark.slow
async def test_a_monitor_is_set_listed_replaced_and_deleted(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line, market_id = line_to(stage), market_of(stage)
        bought = await held(line, market_id)
        (row,) = (await line.said(MONITORS))["monitors"]
        assert row["automatic"] is True
        assert (row["stop_loss_pct"], row["take_profit_pct"]) == (0.20, None)
        said = await watch(line, market_id, stop_loss_pct=0.5, take_profit_pct=1)
        assert said["success"] is True
        assert (said["shares"], said["cost_basis"]) == (bought["shares_bought"], 20)
        entry = 20 / bought["shares_bought"]
        assert said["entry_price"] == pytest.approx(entry)
        assert said["stop_price"] == pytest.approx(entry * 0.5)
        assert said["take_profit_price"] == pytest.approx(entry * 2)
        assert said["current_price"] == pytest.approx(bought["new_price"])
        assert 0 < said["exit_value"] <= 20
        listed = await line.said(MONITORS)
        assert listed["count"] == 1
        assert listed["settings"] == listed["monitors"]
        (row,) = listed["monitors"]
        assert row == {key: value for key, value in said.items() if key in row}
        assert (row["automatic"], row["venue"]) == (False, "sim")
        path = {"market_id": market_id}
        gone = await line.said(DELETE_MONITOR, path=path, side="yes")
        assert (gone["success"], gone["side"]) == (True, "yes")
        assert (await line.said(MONITORS))["monitors"] == []
        again = await line.said(DELETE_MONITOR, 404, path=path, side="yes")
        assert again["fix"]


BAD: Final[dict[str, dict[str, Any]]] = {
    "no threshold": {},
    "both null": {"stop_loss_pct": None, "take_profit_pct": None},
    "a stop of 0": {"stop_loss_pct": 0},
    "a stop above 1": {"stop_loss_pct": 1.0001},
    "a stop below 0": {"stop_loss_pct": -0.2},
    "a target of 0": {"take_profit_pct": 0},
    "a target below 0": {"take_profit_pct": -1},
    "a target beyond all": {"take_profit_pct": 1e9},
    "a stop in words": {"stop_loss_pct": "0.2"},
    "a stop that is true": {"stop_loss_pct": True},
    "another side": {"stop_loss_pct": 0.2, "side": "maybe"},
    "no side": {"stop_loss_pct": 0.2, "side": None},
    "another venue": {"stop_loss_pct": 0.2, "venue": "mars"},
}


@pytest.mark.slow
async def test_what_is_no_threshold_is_refused(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        await change(stage, plan="elite")
        line, market_id = line_to(stage), market_of(stage)
        await change(stage, auto_risk_monitor_enabled=False)
        await held(line, market_id)
        for body in BAD.values():
            assert (await watch(line, market_id, 422, **body))["detail"]
        for text in ("NaN", "Infinity", "-Infinity", "1e999"):
            raw = f'{{"side": "yes", "stop_loss_pct": {text}}}'
            headers = {"Authorization": f"Bearer {stage.key}", "Content-Type": "application/json"}
            async with httpx.AsyncClient(
                transport=stage.sim.transport, base_url=BASE_URL, headers=headers
            ) as client:
                where = SET_MONITOR.path.format(market_id=market_id)
                assert (await client.post(where, content=raw)).status_code == 422
        path = {"market_id": market_id}
        assert (await line.ask(DELETE_MONITOR, path=path)).status_code == 422
        assert (await line.ask(DELETE_MONITOR, path=path, side="x")).status_code == 422
        wrong = {"market_id": market_id, "side": "maybe"}
        assert (await line.ask(END_RISK_ALERT, path=wrong)).status_code == 422
        assert (await line.said(MONITORS))["count"] == 0


@pytest.mark.slow
async def test_what_cannot_be_watched_is_refused_with_what_to_do(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=1) as stage:
        line = line_to(stage)
        await change(stage, auto_risk_monitor_enabled=False)
        ending = min(stage.open_markets(), key=lambda one: one.listing.resolved_at)
        await held(line, ending.market_id)
        for market_id, code in (("nowhere", 404), (market_of(stage), 404)):
            said = await watch(line, market_id, code, stop_loss_pct=0.2)
            assert "not found" in said["error"]
            assert said["fix"]
        await watch(line, ending.market_id, 404, stop_loss_pct=0.2, venue="polymarket")
        await line.wait(ending.listing.resolved_at - stage.world.world_at + 1)
        said = await watch(line, ending.market_id, 400, stop_loss_pct=0.2)
        assert "resolved" in said["error"]
        assert said["fix"]


@pytest.mark.slow
async def test_a_managed_breach_is_sold_at_once_with_a_row_that_says_why(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        market_id = await breached(line, Venue.SIM)
        sale, _, bought = (await line.said(TRADES))["trades"]
        assert (sale["action"], sale["source"]) == ("sell", "risk:stop_loss")
        assert sale["shares"] == bought["shares"]
        assert "stop-loss" in sale["reasoning"]
        assert [one["side"] for one in (await line.said(MONITORS))["monitors"]] == ["no"]
        said = await line.said(RISK_ALERTS, include_history="true")
        assert said["risk_alerts"] == []
        (past,) = said["history"]
        assert (past["status"], past["market_id"]) == ("executed", market_id)
        assert past["proceeds"] == sale["cost"]
        assert past["trade_id"] == sale["trade_id"]
        assert past["executed_by"] == "service"
        heartbeat = await line.said(BRIEFING)
        assert heartbeat["risk_alerts"] == []
        assert heartbeat["triggered_risk_alerts"] is None


@pytest.mark.slow
async def test_an_external_alert_is_told_executed_and_acknowledged(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await change(stage, **OWN)
        market_id = await breached(line)
        said = await line.said(BRIEFING)
        (alert,) = said["risk_alerts"]
        assert said["triggered_risk_alerts"] == [alert]
        for name in ("market_id", "side", "shares", "exit_reason"):
            assert alert[name]
        assert (alert["venue"], alert["status"], alert["executed_by"]) == (
            "sol_venue",
            "pending",
            "client",
        )
        began, ends = (
            datetime.fromisoformat(alert[name]) for name in ("breached_at", "expires_at")
        )
        assert (ends - began).total_seconds() == 3_600
        assert any(market_id in action for action in said["actions"])
        assert (await line.said(RISK_ALERTS))["risk_alerts"] == [alert]
        sale = {"market_id": market_id, "side": "yes", "action": "sell", "shares": alert["shares"]}
        sale |= {"venue": "sol_venue"}
        sold = await line.said(PLACE_TRADE, json=sale)
        # The service saw the sale: a client that dies here sells nothing twice.
        assert (await line.said(RISK_ALERTS))["risk_alerts"] == []
        path = {"market_id": market_id, "side": "yes"}
        ended = await line.said(END_RISK_ALERT, path=path)
        assert (ended["success"], ended["status"], ended["id"]) == (True, "executed", alert["id"])
        assert (await line.said(END_RISK_ALERT, 404, path=path))["fix"]
        (past,) = (await line.said(RISK_ALERTS, include_history="True"))["history"]
        assert past["executed_by"] == "client"
        assert (past["status"], past["proceeds"]) == (
            "executed",
            pytest.approx(sold["cost"] - sold["fee"]),
        )


@pytest.mark.slow
async def test_an_alert_that_nobody_took_expires_and_is_named(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await change(stage, **OWN)
        await breached(line)
        await line.wait(3_590)
        assert len((await line.said(RISK_ALERTS))["risk_alerts"]) == 1
        await line.wait(10)
        said = await line.said(BRIEFING)
        assert said["risk_alerts"] == []
        assert any("expired" in warning for warning in said["risk_warnings"])
        assert any("no monitor" in warning for warning in said["risk_warnings"])
        (past,) = (await line.said(RISK_ALERTS, include_history="true"))["history"]
        assert (past["status"], past["shares_sold"]) == ("expired", 0)
        assert past["executed_by"] is None
        assert len((await line.said(TRADES))["trades"]) == 1


async def test_a_monitor_that_is_set_again_alerts_no_share_twice(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await change(stage, **OWN)
        market_id = await breached(line)
        (alert,) = (await line.said(RISK_ALERTS))["risk_alerts"]
        for _ in range(2):
            await watch(line, market_id, stop_loss_pct=HAIR, venue="sol_venue")
            await line.wait(2)
            assert (await line.said(RISK_ALERTS))["risk_alerts"] == [alert]
        # What is bought beside the alert is guarded by the monitor, and by it alone.
        more = await held(line, market_id, 10, venue=Venue.SOL)
        await watch(line, market_id, stop_loss_pct=HAIR, venue="sol_venue")
        await sink_on(line.stage, market_id)
        await line.wait(1)
        first, second = (await line.said(RISK_ALERTS))["risk_alerts"]
        assert first == alert
        assert second["shares"] == more["shares_bought"]
        (position,) = (await line.said(POSITIONS, venue="sol_venue"))["positions"]
        assert first["shares"] + second["shares"] == pytest.approx(position["shares_yes"])


async def test_a_monitor_by_the_clock_alerts_no_share_twice(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await change(stage, **OWN)
        market_id = await breached(line)
        await watch(line, market_id, exit_at=stage.clock.now() + 5, venue="sol_venue")
        await line.wait(10)
        assert len((await line.said(RISK_ALERTS))["risk_alerts"]) == 1


@pytest.mark.slow
async def test_a_dismissed_alert_sells_nothing(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await change(stage, **OWN)
        path = {"market_id": await breached(line), "side": "yes"}
        (alert,) = (await line.said(RISK_ALERTS))["risk_alerts"]
        await line.said(END_RISK_ALERT, 404, path=path, alert_id="a99")
        await line.said(END_RISK_ALERT, 404, path=path, venue="polymarket")
        ended = await line.said(END_RISK_ALERT, path=path, alert_id=alert["id"], venue="kalshi")
        assert ended["status"] == "dismissed"
        assert (await line.said(RISK_ALERTS))["risk_alerts"] == []


@pytest.mark.slow
async def test_a_threshold_that_is_not_sent_stays_and_null_removes_it(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line, market_id = line_to(stage), market_of(stage)
        await held(line, market_id)

        async def now(**fields: object) -> tuple[float | None, float | None]:
            said = await watch(line, market_id, **fields)
            (row,) = (await line.said(MONITORS))["monitors"]
            both = said["stop_loss_pct"], said["take_profit_pct"]
            assert both == (row["stop_loss_pct"], row["take_profit_pct"])
            return both

        # The stop that came with the buy stays.
        assert await now(take_profit_pct=0.9) == (0.2, 0.9)
        assert await now(stop_loss_pct=0.4) == (0.4, 0.9)
        assert await now(stop_loss_pct=None) == (None, 0.9)
        assert await now(take_profit_pct=0.5) == (None, 0.5)
        said = await watch(line, market_id, 400, take_profit_pct=None)
        assert "DELETE" in said["fix"]
        await watch(line, market_id, 422, stop_loss_pct=None, take_profit_pct=None)
        await watch(line, market_id, 422)
        assert await now(stop_loss_pct=0.3, take_profit_pct=None) == (0.3, None)
        # The first one by hand takes the default stop, unless null is sent.
        for sent, stop in ((None, 0.25), ({"stop_loss_pct": None}, None)):
            await line.said(DELETE_MONITOR, path={"market_id": market_id}, side="yes")
            await line.said(PATCH_USER_SETTINGS, json={"default_stop_loss_pct": 0.25})
            assert await now(take_profit_pct=0.9, **(sent or {})) == (stop, 0.9)


@pytest.mark.slow
async def test_trailing_points_that_reach_below_zero_are_refused(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line, market_id = line_to(stage), market_of(stage)
        await held(line, market_id)
        said = await watch(line, market_id, 400, trailing_stop_points=0.999)
        assert "trailing_stop_pct" in said["fix"]
        assert "0.999 reaches below 0" in said["error"]
        (row,) = (await line.said(MONITORS))["monitors"]
        assert row["trailing_stop_points"] is None


@pytest.mark.slow
@pytest.mark.parametrize("endpoint", [PATCH_SETTINGS, PATCH_USER_SETTINGS])
async def test_turning_the_automatic_off_names_what_it_removed(
    tmp_path: Path, endpoint: Any
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        first, second = (one.market_id for one in stage.open_markets()[:2])
        for market_id in (first, second):
            await held(line, market_id)
        await watch(line, first, stop_loss_pct=0.4)
        said = await line.said(endpoint, json={"default_stop_loss_pct": 0.3})
        assert said["monitors_removed"] == []
        said = await line.said(endpoint, json={"auto_risk_monitor_enabled": False})
        (gone,) = said["monitors_removed"]
        assert (gone["market_id"], gone["side"], gone["venue"]) == (second, "yes", "sim")
        (kept,) = (await line.said(MONITORS))["monitors"]
        assert kept["market_id"] == first
        again = await line.said(endpoint, json={"auto_risk_monitor_enabled": False})
        assert again["monitors_removed"] == []


@pytest.mark.slow
async def test_the_operator_rehearses_an_external_wallet(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        assert (await line.said(SETTINGS))["wallet_ownership"] == "native"
        desk = replace(line, key=OPERATOR)
        path = {"agent_id": stage.agent_id}
        said = await desk.said(DESK_PATCH_AGENT, path=path, json={"wallet": "external"})
        assert said["wallet"] == "external"
        assert (await line.said(SETTINGS))["wallet_ownership"] == "external"
        assert (await line.said(AGENT))["wallet_ownership"] == "external"
        await desk.said(DESK_PATCH_AGENT, 422, path=path, json={"wallet": "paper"})


@pytest.mark.slow
async def test_another_agent_sees_and_touches_nothing_of_it(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await change(stage, **OWN)
        market_id = await breached(line)
        await held(line, market_id)
        body = {"name": "other"}
        async with httpx.AsyncClient(transport=stage.sim.transport, base_url=BASE_URL) as client:
            born = (await client.post("/api/sdk/agents/register", json=body)).json()
        other = replace(line, key=born["api_key"])
        assert (await other.said(MONITORS))["count"] == 0
        assert (await other.said(RISK_ALERTS, include_history="true"))["risk_alerts"] == []
        await other.said(END_RISK_ALERT, 404, path={"market_id": market_id, "side": "yes"})
        await other.said(DELETE_MONITOR, 404, path={"market_id": market_id}, side="yes")
        assert len((await line.said(RISK_ALERTS))["risk_alerts"]) == 1


@pytest.mark.slow
async def test_public_names_of_a_venue_are_heard_and_said(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=1) as stage:
        await change(stage, claimed=True, real_trading_enabled=True)
        line, market_id = line_to(stage), market_of(stage, Venue.EVM)
        order = {"market_id": market_id, "side": "yes", "amount": 30, "venue": "evm_venue"}
        assert (await line.said(PLACE_TRADE, json=order))["success"]
        (row,) = (await line.said(MONITORS))["monitors"]
        assert (row["venue"], row["simulated"]) == ("evm_venue", True)
        # Without a venue it is where the side is held.
        said = await watch(line, market_id, stop_loss_pct=0.9)
        assert said["venue"] == "evm_venue"
        said = await watch(line, market_id, stop_loss_pct=0.9, venue="polymarket")
        assert said["venue"] == "polymarket"
        await line.said(DELETE_MONITOR, path={"market_id": market_id}, side="yes")


@pytest.mark.slow
async def test_monitors_and_alerts_outlive_a_restart(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await change(stage, **OWN)
        market_id = await breached(line)
        await held(line, market_id)
        await watch(line, market_id, stop_loss_pct=0.7)
        before = [await line.said(MONITORS), await line.said(RISK_ALERTS)]
        found = restore(stage.at_rest, TOPICS)
        assert found is not None
        # A tape that is paused lets wall time pass without a row.
        texts = [dumps(fields_of(one) | {"at": 0.0}) for one in (found[0], stage.world)]
        assert texts[0] == texts[1]
    async with open_stage(tmp_path, stage.clock, key=stage.key, agent_id=stage.agent_id) as again:
        line = line_to(again)
        assert [await line.said(MONITORS), await line.said(RISK_ALERTS)] == before


@pytest.mark.slow
async def test_a_listener_hears_of_monitors_and_alerts(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await change(stage, **OWN)
        async with stage.sim.service.subscribe() as events:
            market_id = await breached(line)
            await line.said(END_RISK_ALERT, path={"market_id": market_id, "side": "yes"})
            heard = [await anext(events) for _ in range(3)]
            assert [one.kind for one in heard] == ["ready", "order", "monitor"]
            while sum(one.kind == "risk_alert" for one in heard) < 2:
                heard.append(await anext(events))
        alerts = [one.risk_alert for one in heard if one.risk_alert is not None]
        assert [one.state for one in alerts] == ["pending", "dismissed"]
        assert {one.market_id for one in alerts} == {market_id}


@pytest.mark.slow
async def test_the_operator_hears_of_every_agents_alerts_and_no_agent_does(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line, operator = line_to(stage), Line(stage, OPERATOR)
        assert await operator.said(DESK_NEEDS) == {"needs": []}
        await change(stage, **OWN)
        market_id = await breached(line)
        (need,) = (await operator.said(DESK_NEEDS))["needs"]
        (alert,) = (await line.said(RISK_ALERTS))["risk_alerts"]
        assert (need["kind"], need["id"], need["market_id"]) == ("alert", alert["id"], market_id)
        assert need["agent_id"] == stage.agent_id
        assert need["expires_at"] == alert["expires_at"]
        assert need["amount"] > 0
        assert (await line.ask(DESK_NEEDS)).status_code in {401, 403}
        await line.wait(3_601)
        assert await operator.said(DESK_NEEDS) == {"needs": []}


@pytest.mark.slow
async def test_a_misspelt_threshold_is_named(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        market_id = stage.open_markets()[0].market_id
        await line.said(PLACE_TRADE, json={"market_id": market_id, "side": "yes", "amount": 10})
        wanted = {"side": "yes", "stop_loss_pct": 0.3, "take_profit": 0.5}
        said = await line.said(SET_MONITOR, path={"market_id": market_id}, json=wanted)
        assert (said["stop_loss_pct"], said["take_profit_pct"]) == (0.3, None)
        assert said["warnings"] == [
            "unknown field ignored: 'take_profit', did you mean take_profit_pct?"
        ]


@pytest.mark.parametrize("venue", list(Venue))
async def test_a_default_stop_is_measured_from_the_lower_of_entry_and_mark(
    venue: Venue, tmp_path: Path
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await change(stage, **OWN | {"wallet": WalletKind.MANAGED})
        await held(line, market_of(stage, venue), 10, venue=venue)
        (row,) = (await line.said(MONITORS))["monitors"]
        reference = row["reference_price"]
        assert reference <= min(row["entry_price"], row["current_price"]) + 1e-9
        assert (reference == row["entry_price"]) is (venue is Venue.SIM)
        assert row["stop_price"] == pytest.approx(0.8 * reference)
