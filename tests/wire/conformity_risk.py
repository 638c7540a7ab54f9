"""Rows of the interface spec about monitors, alerts and the briefing; see `conformity`."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from kit.service.scene import Caller, Json, Scene
from service_tui import ServiceClient
from wire.conformity import (
    ENDPOINTS,
    EVENTS,
    LIMITS,
    RISK,
    RISK_DEFAULTS,
    a_risk_default,
    has_type,
    row,
    the_briefing_counts_what_can_be_redeemed,
)

HAIR: Final = 0.0001
"""So little below what was paid is reached at the next tick: see `breached`."""


def tick(scene: Scene) -> None:
    """A price tick at the hour of now, whatever the tape has missed of it."""
    stage = scene.service.stage

    async def stand() -> None:
        speed, stage.world.speed = stage.world.speed, 0
        await stage.sim.service.world_store.advance(stage.clock.now())
        stage.world.speed = speed

    scene.wait(1)
    scene.service.run(stand())


def breached(scene: Scene, who: Caller, *, venue: str = "sim") -> str:
    """A market in which a tick has just crossed the agent's only threshold."""
    market_id = scene.market(venue)
    bought = who.trade(market_id, "yes", 10, venue=venue)
    while bought.get("error_code") == "NO_LIQUIDITY":
        # A thin book may have nobody on one side for a while: any other market will do.
        market_id = scene.market(venue)
        bought = who.trade(market_id, "yes", 10, venue=venue)
    assert bought["success"], bought
    if venue == "sim":
        # The other side, bought, takes the price below what was paid.
        assert who.trade(market_id, "no", 100)["success"]
    wanted = {"side": "yes", "stop_loss_pct": HAIR}
    who.ok("POST", f"positions/{market_id}/monitor", json=wanted)
    if venue != "sim":
        # Others sell on the book until its middle has fallen.
        start = mark_of(who)
        while not mark_of(who) < start:
            other = scene.stranger(claimed=True, real=True)
            assert other.trade(market_id, "no", 100, venue=venue)["success"]
    tick(scene)
    return market_id


def mark_of(who: Caller) -> float:
    """The mark of the one side that is watched."""
    (monitor,) = who.get("positions/monitors")["monitors"]
    return monitor["current_price"]


def external(scene: Scene) -> Caller:
    who = scene.stranger(claimed=True, real=True)
    scene.desk("PATCH", f"agents/{who.agent_id}", json={"wallet": "external"})
    return who


def of(rows: Iterable[Json], market_id: str) -> list[Json]:
    return [one for one in rows if one["market_id"] == market_id]


def held(who: Caller, market_id: str) -> float:
    return sum(one["shares_yes"] for one in of(who.get("positions")["positions"], market_id))


@row(RISK, *RISK_DEFAULTS)
def the_defaults_reach_the_monitor_of_a_buy(scene: Scene, name: str) -> None:
    a_risk_default(scene, name)
    who, market_id = scene.stranger(), scene.market()
    bought = who.trade(market_id, "no", 10)
    (monitor,) = who.get("positions/monitors")["monitors"]
    assert monitor["stop_loss_pct"] == 0.20
    assert monitor["take_profit_pct"] is None
    assert (monitor["market_id"], monitor["side"]) == (market_id, "no")
    assert monitor["shares"] == bought["shares_bought"]


@row(RISK, "text 1")
def only_registered_thresholds_are_watched(scene: Scene) -> None:
    who = scene.stranger()
    who.ok("PATCH", "user/settings", json={"auto_risk_monitor_enabled": False})
    market_id = scene.market()
    assert who.trade(market_id, "yes", 100)["success"]
    tick(scene)
    assert who.get("positions/monitors")["count"] == 0
    # The other side, bought, takes the price below what was paid.
    assert who.trade(market_id, "no", 200)["success"]
    wanted = {"side": "yes", "stop_loss_pct": HAIR}
    who.ok("POST", f"positions/{market_id}/monitor", json=wanted)
    (monitor,) = who.get("positions/monitors")["monitors"]
    assert 0 < monitor["stop_price"] < 1
    tick(scene)
    assert held(who, market_id) == 0


@row("Risk alert lifecycle", "text 1")
def an_alert_from_its_breach_to_its_end(scene: Scene) -> None:
    managed = scene.stranger()
    market_id = breached(scene, managed)
    # The server has sold at once.
    assert held(managed, market_id) == 0
    assert managed.get("risk-alerts")["risk_alerts"] == []
    (past,) = managed.get("risk-alerts", include_history=True)["history"]
    assert past["status"] == "executed"
    # An external wallet's alert waits for the client: its briefing, or its construction.
    for act in (ServiceClient.get_briefing, lambda _: None):
        who = external(scene)
        market_id = breached(scene, who, venue="sol_venue")
        assert held(who, market_id) > 0
        with ServiceClient(who.key, who.url, live=False) as client:
            client.get_briefing()
        assert held(who, market_id) > 0
        with ServiceClient(who.key, who.url, private_key="0x" + "11" * 32) as client:
            act(client)
        assert held(who, market_id) == 0
        assert who.get("risk-alerts")["risk_alerts"] == []
    # After an hour it expires unexecuted.
    who = external(scene)
    market_id = breached(scene, who, venue="sol_venue")
    scene.wait(3_601)
    assert who.get("briefing")["risk_alerts"] == []
    assert held(who, market_id) > 0


@row(ENDPOINTS, "GET /api/sdk/briefing")
def the_heartbeat(scene: Scene) -> None:
    who = external(scene)
    market_id = breached(scene, who, venue="sol_venue")
    said = who.get("briefing")
    assert has_type(said["risk_alerts"], "array")
    assert has_type(said["actions"], "array")
    (alert,) = of(said["risk_alerts"], market_id)
    assert said["triggered_risk_alerts"] == [alert]
    assert any(market_id in action for action in said["actions"])
    the_briefing_counts_what_can_be_redeemed(scene)


@row(ENDPOINTS, "POST /api/sdk/positions/{market_id}/monitor", "GET /api/sdk/positions/monitors")
def monitors_are_set_and_listed(scene: Scene) -> None:
    who, market_id = scene.stranger(), scene.market()
    assert who.trade(market_id, "yes", 10)["success"]
    with ServiceClient(who.key, who.url) as client:
        said = client.set_monitor(market_id, "yes", stop_loss_pct=0.3, take_profit_pct=0.5)
        assert said.success
        (monitor,) = client.list_monitors()
    assert (monitor.stop_loss_pct, monitor.take_profit_pct) == (0.3, 0.5)
    listed = who.get("positions/monitors")
    assert listed["monitors"] == listed["settings"]
    assert listed["count"] == len(listed["monitors"]) == 1


@row(ENDPOINTS, "DELETE /api/sdk/positions/{market_id}/monitor")
def a_monitor_is_removed(scene: Scene) -> None:
    who, market_id = scene.stranger(), scene.market()
    assert who.trade(market_id, "yes", 10)["success"]
    with ServiceClient(who.key, who.url) as client:
        assert client.delete_monitor(market_id, "yes").success
        assert client.list_monitors() == []


@row(EVENTS, "Risk alert")
def a_breach_is_told_to_the_client_or_acted_on(scene: Scene) -> None:
    who = external(scene)
    market_id = breached(scene, who, venue="sol_venue")
    (alert,) = of(who.get("briefing")["triggered_risk_alerts"], market_id)
    assert alert["exit_reason"] == "stop_loss"
    assert alert["shares"] == held(who, market_id)
    managed = scene.stranger()
    market_id = breached(scene, managed)
    assert managed.get("briefing")["triggered_risk_alerts"] is None
    (row_of_trade,) = of(
        [one for one in managed.get("trades")["trades"] if one["action"] == "sell"], market_id
    )
    assert row_of_trade["source"] == "risk:stop_loss"
    assert "stop-loss" in row_of_trade["reasoning"]


@row(LIMITS, "Risk alert lifetime")
def an_alert_lives_an_hour(scene: Scene) -> None:
    who = external(scene)
    market_id = breached(scene, who, venue="sol_venue")
    (alert,) = of(who.get("risk-alerts")["risk_alerts"], market_id)
    began, ends = (datetime.fromisoformat(alert[name]) for name in ("breached_at", "expires_at"))
    assert (ends - began).total_seconds() == 3_600
    # Who calls every half hour sees it in time.
    scene.wait(1_800)
    assert of(who.get("briefing")["risk_alerts"], market_id)
    scene.wait(1_800)
    assert not of(who.get("briefing")["risk_alerts"], market_id)


@row(LIMITS, "Stop-loss default")
def the_stop_of_a_buy(scene: Scene) -> None:
    the_defaults_reach_the_monitor_of_a_buy(scene, "stop_loss_pct")
