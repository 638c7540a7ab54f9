"""Whose pause is whose, when a halt at a service without one begins and ends."""

import json
from dataclasses import replace
from typing import Any, cast

import pytest

from kit.desk.offline import Offline
from kit.samples.desk import NOW, sample_state
from service_tui.client.api_keys import ApiKey
from service_tui.client.passing import Passed
from service_tui.desk.halt.handlers import NotDoneError
from service_tui.desk.halt.skills import SkillAgents, SkillPauses
from service_tui.desk.ports import Ports
from service_tui.desk.slices.halt import HaltedAgent, HaltView
from service_tui.wire.endpoints.public import CANCEL_ORDER, OPEN_ORDERS, USER_SETTINGS

NAMES = ("never", "free", "paused", "unsaid")
AGENTS = (
    HaltedAgent("a-1", "never"),
    HaltedAgent("a-2", "free", was_paused=False),
    HaltedAgent("a-3", "paused", was_paused=True),
    HaltedAgent("a-4", "unsaid", was_paused=True, is_unsaid=True),
)


class Agents:
    """The agents at the service: what is asked of them."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.here: tuple[HaltedAgent, ...] = ()
        self.gone = ""
        self.found = True

    def present(self) -> tuple[HaltedAgent, ...]:
        return self.here

    async def as_found(self, agent: HaltedAgent) -> HaltedAgent:
        self.asked.append(("found", agent.agent_id))
        return replace(agent, was_paused=self.found)

    async def pause(self, agent: HaltedAgent) -> None:
        self.asked.append(("pause", agent.agent_id))

    async def lift(self, agent: HaltedAgent) -> str:
        self.asked.append(("lift", agent.agent_id))
        return self.gone

    async def cancel_buys(self, agents: tuple[HaltedAgent, ...]) -> str:
        self.asked.append(("cancel", ",".join(one.agent_id for one in agents)))
        return "2 cancelled"


def made(
    agents: tuple[HaltedAgent, ...] = AGENTS, **service: bool
) -> tuple[SkillPauses, Agents, Offline, list[str]]:
    state = sample_state(8)
    at = replace(state.service, **{"embedded": False, **service})
    on, its, kept = (
        Offline(replace(state, service=at, halt=HaltView(NOW, agents=agents))),
        Agents(),
        list[str](),
    )

    async def keep(_: Ports) -> str:
        halt = on.state.halt
        kept.append("" if halt is None else str([one.was_paused for one in halt.agents]))
        return ""

    return SkillPauses(on.ports, cast("Any", its), keep), its, on, kept


async def test_the_end_of_a_halt_lifts_the_pauses_that_it_has_set_and_no_other() -> None:
    pauses, its, _, _ = made()
    steps: list[int] = []
    left = await pauses.lift(lambda: steps.append(1))
    assert its.asked == [("lift", "a-2")]
    assert left == [
        "paused stays paused: already paused at the service before the halt",
        "unsaid stays paused: pause before the halt unknown; check its settings at the service",
    ]
    assert len(steps) == len(AGENTS)
    its.gone = "no key of free here"
    assert "free stays paused: no key of free here" in await pauses.lift(lambda: None)


@pytest.mark.parametrize("service", [{"embedded": True}, {"read_only": True}])
async def test_a_desk_that_may_not_pause_names_steps_and_lifts_nothing(
    service: dict[str, bool],
) -> None:
    pauses, its, _, _ = made(**service)
    its.here = (HaltedAgent("a-9", "new"),)
    assert pauses.named(AGENTS) == AGENTS
    assert pauses.steps(AGENTS) == ()
    assert await pauses.lift(lambda: None) == []
    assert its.asked == []


def test_agents_that_trade_here_now_are_named_once() -> None:
    pauses, its, _, _ = made()
    new = HaltedAgent("a-9", "new")
    its.here = (HaltedAgent("a-2", "free"), new)
    assert pauses.named(AGENTS) == (*AGENTS, new)


@pytest.mark.parametrize("found", [True, False])
async def test_an_agent_is_written_down_as_it_was_before_it_is_paused(*, found: bool) -> None:
    pauses, its, on, kept = made()
    its.found = found
    steps = pauses.steps(AGENTS)
    assert [(one.name, one.description) for one in steps] == [
        *(
            (f"pause:a-{place}", f"{name} paused by the service")
            for place, name in enumerate(NAMES, 1)
        ),
        ("skill_orders", "no open buys of skills on this desk's leash"),
    ]
    words = [await one.carry_out(on.ports) for one in steps]
    before = "already paused before"
    assert words == [before if found else "", "", before, "earlier state unknown", "2 cancelled"]
    assert its.asked == [
        ("found", "a-1"),
        *(("pause", f"a-{place}") for place in (1, 2, 3, 4)),
        ("cancel", "a-1,a-2,a-3,a-4"),
    ]
    assert kept == [f"[{found}, False, True, True]"] * 4


async def test_a_disk_that_refuses_holds_up_no_pause() -> None:
    _, its, on, _ = made()

    async def full(_: Ports) -> str:
        raise OSError("disk full")

    pauses = SkillPauses(on.ports, cast("Any", its), full)
    with pytest.raises(OSError, match="disk full"):
        await pauses.steps(AGENTS)[1].carry_out(on.ports)
    assert its.asked == [("pause", "a-2")]


# -- the calls ----------------------------------------------------------------------------------

HERON = HaltedAgent("a-7", "heron")
SETTINGS, ORDERS = USER_SETTINGS.path, OPEN_ORDERS.path


class Service:
    """The service as an agent's own key meets it."""

    base_url = "http://far.example"

    def __init__(self, **answers: tuple[int, object]) -> None:
        self.answers = answers
        self.sent: list[tuple[str, str, str, str]] = []

    async def pass_on(self, key: ApiKey, call: tuple[str, str, bytes]) -> Passed:
        method, path, body = call
        self.sent.append((key.secret, method, path, body.decode()))
        status, answer = self.answers[method.lower()]
        return Passed(status, json.dumps(answer).encode())


def order(name: str, action: str = "buy") -> dict[str, object]:
    return {
        "order_id": name, "trade_id": "t", "market_id": "m", "side": "yes", "trade_type": action,
        "shares": 1.0, "price": 0.5, "cost_usdc": 0.5, "venue": "evm_venue",
        "created_at": "2027-01-15T08:00:00Z",
    }  # fmt: skip


def agents_at(
    service: Service, keys: tuple[str, ...] = ("a-7",)
) -> tuple[SkillAgents, list[tuple[str, str]]]:
    asked: list[tuple[str, str]] = []

    def key_of(agent_id: str, address: str) -> str | None:
        asked.append((agent_id, address))
        return f"sk_live_{agent_id}" if agent_id in keys else None

    return SkillAgents(cast("Any", service), key_of, lambda: ()), asked


@pytest.mark.parametrize(
    ("answer", "was_paused", "is_unsaid"),
    [
        ({"trading_paused": True}, True, False),
        ({"trading_paused": False}, False, False),
        ({}, True, True),
    ],
)
async def test_an_agent_is_found_as_the_service_says_and_paused_where_it_says_nothing(
    answer: dict[str, bool], *, was_paused: bool, is_unsaid: bool
) -> None:
    service = Service(get=(200, answer))
    agents, asked = agents_at(service)
    assert SkillAgents(cast("Any", service), str, lambda: (HERON,)).present() == (HERON,)
    found = await agents.as_found(HERON)
    assert found == replace(HERON, was_paused=was_paused, is_unsaid=is_unsaid)
    assert service.sent == [("sk_live_a-7", "GET", SETTINGS, "")]
    assert asked == [("a-7", "http://far.example")]


@pytest.mark.parametrize(
    ("answer", "is_done"),
    [({"trading_paused": True}, True), ({"trading_paused": False}, False), ({}, False)],
)
async def test_an_agent_is_paused_when_the_service_says_so(
    answer: dict[str, bool], *, is_done: bool
) -> None:
    service = Service(patch=(200, answer))
    agents, _ = agents_at(service)
    if is_done:
        await agents.pause(HERON)
    else:
        with pytest.raises(NotDoneError, match="heron not paused at the service"):
            await agents.pause(HERON)
    assert service.sent == [("sk_live_a-7", "PATCH", SETTINGS, '{"trading_paused":true}')]


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (200, ""),
        (401, "service answered 401 to heron"),
        (403, "service answered 403 to heron"),
        (404, "service answered 404 to heron"),
    ],
)
async def test_an_agent_that_is_gone_holds_up_no_end_of_a_halt(status: int, why: str) -> None:
    service = Service(patch=(status, {"trading_paused": False}))
    agents, _ = agents_at(service)
    assert await agents.lift(HERON) == why
    assert service.sent == [("sk_live_a-7", "PATCH", SETTINGS, '{"trading_paused":false}')]


async def test_a_pause_that_could_not_be_lifted_is_tried_again() -> None:
    agents, _ = agents_at(Service(patch=(500, {})))
    with pytest.raises(NotDoneError, match="service answered 500 to heron"):
        await agents.lift(HERON)
    agents, _ = agents_at(Service(), keys=())
    assert await agents.lift(HERON) == "no key of heron here"


async def test_the_buys_of_every_agent_are_cancelled_and_no_sale() -> None:
    orders = {"orders": [order("o-1"), order("o-2", "sell"), order("o-3")], "count": 3}
    service = Service(get=(200, orders), delete=(200, {"success": True}))
    agents, _ = agents_at(service, keys=("a-7", "a-8"))
    gull = HaltedAgent("a-8", "gull")
    assert await agents.cancel_buys((HERON, gull)) == "4 cancelled"
    cancels = [CANCEL_ORDER.path.replace("{order_id}", one) for one in ("o-1", "o-3")]
    calls = [("GET", ORDERS), *(("DELETE", path) for path in cancels)]
    assert [(key, method, path) for key, method, path, _ in service.sent] == [
        (f"sk_live_{agent}", method, path) for agent in ("a-7", "a-8") for method, path in calls
    ]
    service.answers["get"] = (200, {"orders": [order("o-2", "sell")], "count": 1})
    assert await agents.cancel_buys((HERON,)) == "none open"


@pytest.mark.parametrize(
    ("cancelled", "words"),
    [
        ((200, {"success": False}), "2 of 2 of heron not cancelled"),
        ((404, {}), ""),
        ((500, {}), "service answered 500 to heron"),
    ],
)
async def test_a_buy_that_may_rest_is_named(cancelled: tuple[int, object], words: str) -> None:
    orders = {"orders": [order("o-1"), order("o-3")], "count": 2}
    agents, _ = agents_at(Service(get=(200, orders), delete=cancelled))
    if not words:
        assert await agents.cancel_buys((HERON,)) == "2 cancelled"
        return
    with pytest.raises(NotDoneError) as left:
        await agents.cancel_buys((HERON, HaltedAgent("a-9", "nobody"), HERON))
    assert str(left.value) == f"{words}; no key of nobody here"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("no object", "unreadable service answer for heron"),
        ({"orders": [{"order_id": 5}], "count": 1}, "1 records of heron unreadable"),
    ],
)
async def test_orders_that_cannot_be_read_may_be_buys(answer: object, words: str) -> None:
    agents, _ = agents_at(Service(get=(200, answer)))
    with pytest.raises(NotDoneError, match=words):
        await agents.cancel_buys((HERON,))
