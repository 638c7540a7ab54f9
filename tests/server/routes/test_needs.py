"""What needs the operator, of each agent: alerts, signals, payouts and open breakers."""

from types import SimpleNamespace
from typing import Any

import pytest

from kit.engine.bare import AT, bare_world, listed
from kit.service.bare import bare_service, request_to
from service_tui.engine.world import World
from service_tui.server.routes import needs
from service_tui.terms import Side, Venue
from service_tui.units import ONE, Timestamp
from service_tui.wire.needs import AgentNeedBody, NeedKind


@pytest.fixture
def world() -> World:
    world = bare_world("ada", "ben")
    listed(world, "m1")
    return world


async def needed(world: World) -> list[AgentNeedBody]:
    return list((await needs.list_needs(request_to(bare_service(world)))).needs)


async def test_agents_without_trouble_need_nobody(world: World) -> None:
    assert await needed(world) == []


async def test_an_open_breaker_needs_the_operator_until_it_closes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaker(_: object, agent_id: str, at: Timestamp) -> SimpleNamespace:
        assert at == AT
        paused_at = AT - 5 if agent_id == "ben" else None
        return SimpleNamespace(paused_at=paused_at, resets_at=AT + 60)

    monkeypatch.setattr(type(world.reactor), "breaker", breaker)

    (one,) = await needed(world)

    assert (one.kind, one.agent_id, one.agent_name) == (NeedKind.BREAKER, "ben", "ben")
    assert one.id == f"ben:{AT - 5:.0f}"
    assert one.expires_at is not None
    assert one.expires_at.timestamp() == AT + 60


async def test_a_breach_needs_its_exit_until_it_expires(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def alert(alert_id: str, expires_at: float) -> SimpleNamespace:
        breach = SimpleNamespace(
            alert_id=alert_id, market_id="m1", side=Side.NO, venue=Venue.SIM, shares=20 * ONE,
            price=0.25,
        )  # fmt: skip
        return SimpleNamespace(breach=breach, expires_at=Timestamp(expires_at))

    waiting = [alert("r1", AT), alert("r2", AT + 9)]
    alerts: dict[str, list[Any]] = {"ada": waiting}
    monkeypatch.setattr(type(world.risk), "alerts_of", lambda _, name: alerts.get(name, []))

    (one,) = await needed(world)

    assert (one.kind, one.agent_id, one.id, one.market_id) == (NeedKind.ALERT, "ada", "r2", "m1")
    assert (one.question, one.side, one.venue) == ("Does m1 end well?", Side.NO, Venue.SIM)
    assert one.amount == 5.0
    assert one.expires_at is not None
    assert one.expires_at.timestamp() == AT + 9


async def test_a_signal_needs_an_answer_within_the_services_own_time(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def pending(_: object, agent: Any, markets: Any, when: Any) -> list[Any]:
        asked.append((agent.agent_id, markets is world.markets, when))
        signal = SimpleNamespace(
            signal_id="s1", settled=SimpleNamespace(market_id="m1", side=Side.YES),
            listing=world.markets["m1"].listing, venue=Venue.EVM, amount=3 * ONE,
            expires_at=Timestamp(AT + 7),
        )  # fmt: skip
        return [signal] if agent.agent_id == "ada" else []

    monkeypatch.setattr(type(world.reactor), "pending", pending)
    service = bare_service(world)

    (one,) = (await needs.list_needs(request_to(service))).needs

    assert [row[:2] for row in asked] == [("ada", True), ("ben", True)]
    assert tuple(asked[0][2]) == (AT, world.world_at, service.signal_ttl_s)
    assert (one.kind, one.id, one.market_id, one.side) == (NeedKind.SIGNAL, "s1", "m1", Side.YES)
    assert (one.question, one.venue, one.amount) == ("Does m1 end well?", Venue.EVM, 3.0)
    assert one.expires_at is not None
    assert one.expires_at.timestamp() == AT + 7


async def test_a_payout_needs_the_operator_where_nothing_redeems_by_itself(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = SimpleNamespace(
        market_id="m1", side=Side.YES, question="Did it?", venue=Venue.EVM, payout=8.0,
        redeemable=True,
    )  # fmt: skip
    lost = SimpleNamespace(**{**vars(row), "redeemable": False, "side": Side.NO})
    limits: list[int] = []

    def body(_: World, __: object, limit: int) -> SimpleNamespace:
        limits.append(limit)
        return SimpleNamespace(redemptions=[lost, row])

    monkeypatch.setattr(needs, "redemptions_body", body)
    for agent_id, is_automatic in (("ada", False), ("ben", True)):
        world.agents[agent_id].change({"auto_redeem_enabled": is_automatic})
    assert await needed(world) == []

    holdings: Any = {"m1": object()}
    for agent_id in ("ada", "ben"):
        account = SimpleNamespace(holdings=holdings)
        world.venues.accounts[agent_id, Venue.EVM] = account
    (one,) = await needed(world)

    assert (one.kind, one.agent_id, one.id) == (NeedKind.REDEEMABLE, "ada", "m1:yes")
    assert (one.question, one.side, one.venue, one.amount) == (
        "Did it?", Side.YES, Venue.EVM, 8.0,
    )  # fmt: skip
    assert (one.market_id, one.expires_at, limits) == ("m1", None, [0])
