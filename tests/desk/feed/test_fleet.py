"""What is read of the agent in focus, and for how long its results are kept."""

import json
import random
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import pytest

from kit.samples.desk import sample_state
from kit.service.stage import first_state
from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.clock import ManualClock
from service_tui.desk.changes import Loaded, Removed
from service_tui.desk.facts import Fact
from service_tui.desk.feed.fleet import RESULTS_S, read_supervision
from service_tui.desk.feed.poller_memory import PollerMemory
from service_tui.desk.ports import Ports
from service_tui.desk.reduce import reduce
from service_tui.desk.slices.account import AccountView
from service_tui.desk.slices.agents import AgentDetailView, AgentNeedView
from service_tui.desk.slices.supervision import PendingTradesSeen
from service_tui.desk.state import DeskState
from service_tui.terms import PendingStatus
from service_tui.units import ONE

URL = "https://desk.example"
MOMENT = "2027-01-15T08:00:00Z"


def trade(name: str) -> dict[str, object]:
    return {"id": name, "market_id": "m", "side": "yes", "action": "buy", "created_at": MOMENT}


def pending_trade(status: PendingStatus) -> dict[str, object]:
    return {
        "held_id": status.value, "agent_id": "heron", "status": status.value, "market_id": "m",
        "venue": "sim", "side": "yes", "action": "buy", "created_at": MOMENT, "expires_at": MOMENT,
    }  # fmt: skip


def need(agent_id: str) -> dict[str, object]:
    return {"kind": "alert", "agent_id": agent_id, "agent_name": agent_id, "id": f"of {agent_id}"}


@dataclass
class Fleet:
    """A service with one agent, and the state of a desk; `asked` counts the last parts of paths."""

    clock: ManualClock = field(default_factory=ManualClock)
    pnl: float = 1.0
    trades: tuple[str, ...] = ("t1",)
    shares: float = 3.0
    pending: tuple[PendingStatus, ...] = ()
    needs: tuple[str, ...] = ()
    status: int = 200
    asked: Counter[str] = field(default_factory=Counter[str])
    state: DeskState = field(default_factory=first_state)

    def answer(self, request: httpx.Request) -> httpx.Response:
        part = request.url.path.rpartition("/")[2]
        self.asked[part] += 1
        said: dict[str, object] = {
            "leashes": {"leashes": []},
            "held": {"held": [pending_trade(one) for one in self.pending]},
            "alerts": {"alerts": []},
            "returns": {"agents": []},
            "needs": {"needs": [need(one) for one in self.needs]},
            "trades": {"trades": [trade(one) for one in self.trades]},
            "positions": {
                "agent_id": "heron",
                "positions": [{"market_id": "m", "shares_yes": self.shares}],
            },
            "results": {"agent_id": "heron", "points": [{"at": MOMENT, "pnl": self.pnl}]},
        }
        of_agent = "/agents/" in request.url.path
        body = json.dumps({"error": "no such agent"} if self._is_gone(of_agent) else said[part])
        status = self.status if of_agent else 200
        return httpx.Response(status, stream=httpx.ByteStream(body.encode()))

    def _is_gone(self, of_agent: bool) -> bool:  # noqa: FBT001 - what the path says
        return of_agent and self.status == httpx.codes.NOT_FOUND

    async def read(self, agent_id: str = "heron") -> list[Fact]:
        api_keys = ApiKeys(operator=ApiKey("sk_test_0123456789", URL))
        transport, rng = httpx.MockTransport(self.answer), random.Random(1)
        async with Client(transport, URL, api_keys, clock=self.clock, rng=rng) as client:
            nothing: Any = None
            ports = Ports(
                client, nothing, self.clock, lambda: "id", lambda: self.state, nothing, nothing,
                nothing,
            )  # fmt: skip
            facts, _ = await read_supervision(ports, PollerMemory(agent_id=agent_id))
        for fact in facts:
            self.state = reduce(self.state, fact)
        return facts

    @property
    def detail(self) -> AgentDetailView:
        assert self.state.supervision.detail is not None
        return self.state.supervision.detail

    @property
    def shown(self) -> list[float]:
        return [pnl / ONE for _, pnl in self.detail.points]


async def test_results_are_read_again_once_they_are_old_however_often_trades_are() -> None:
    fleet = Fleet()
    await fleet.read()
    began = fleet.clock.now()
    fleet.pnl, fleet.trades = 2.0, ("t1", "t0")
    for _ in range(int(RESULTS_S) - 1):
        await fleet.clock.advance(1.0)
        await fleet.read()
        assert (fleet.shown, fleet.detail.at) == ([1.0], began)
        assert [one.trade.trade_id for one in fleet.detail.trades] == ["t1", "t0"]
        # What is held is as new as the trades.
        assert [one.shares for one in fleet.detail.positions] == [fleet.shares * ONE]
        fleet.shares += 1.0
    assert fleet.asked["results"] == 1
    await fleet.clock.advance(1.0)
    await fleet.read()
    assert (fleet.shown, fleet.detail.at) == ([2.0], fleet.clock.now())
    assert fleet.asked["trades"] == RESULTS_S + 1


async def test_results_are_read_again_after_a_trade() -> None:
    fleet = Fleet()
    await fleet.read()
    fleet.pnl, fleet.trades = 2.0, ("t2", "t1")
    await fleet.read()
    assert fleet.shown == [2.0]
    assert [one.trade.trade_id for one in fleet.detail.trades] == ["t2", "t1"]


async def test_results_from_after_now_are_read_again() -> None:
    fleet = Fleet()
    await fleet.read()
    fleet.pnl = 2.0
    # The clock of the machine was set back.
    fleet.clock = ManualClock(fleet.clock.now() - 3_600)
    await fleet.read()
    assert (fleet.shown, fleet.detail.at) == ([2.0], fleet.clock.now())


async def test_another_agent_has_no_results_of_the_last_one() -> None:
    fleet = Fleet()
    await fleet.read()
    fleet.pnl = 2.0
    await fleet.read("plover")
    assert (fleet.detail.agent_id, fleet.shown) == ("plover", [2.0])


async def test_an_agent_that_is_gone_is_said_to_be() -> None:
    fleet = Fleet(status=404)
    await fleet.read()
    assert "no such agent" in fleet.detail.problem
    assert (fleet.detail.trades, fleet.detail.results) == ((), ())


async def test_without_an_agent_in_focus_the_last_one_is_forgotten() -> None:
    fleet = Fleet()
    await fleet.read()
    assert Removed(AgentDetailView) in await fleet.read("")
    assert fleet.state.supervision.detail is None
    assert Removed(AgentDetailView) not in await fleet.read("")


@pytest.mark.parametrize("status", PendingStatus)
async def test_a_trade_waits_or_was_decided(status: PendingStatus) -> None:
    fleet = Fleet(pending=(status,))
    (seen,) = (one for one in await fleet.read("") if isinstance(one, PendingTradesSeen))
    waiting = [one.pending_id for one in seen.pending_trades]
    decided = [one.pending_id for one in seen.decided]
    is_waiting = status is PendingStatus.WAITING
    assert (waiting, decided) == (([status], []) if is_waiting else ([], [status]))


@pytest.mark.parametrize(
    ("account", "of_others"),
    [(None, ["of a-1", "of a-2"]), (sample_state().account, ["of a-2"])],
)
async def test_needs_are_those_of_the_other_agents(
    account: AccountView | None, of_others: list[str]
) -> None:
    fleet = Fleet(needs=("a-1", "a-2"), state=replace(first_state(), account=account))
    found = [one for one in await fleet.read("") if isinstance(one, Loaded)]
    (needs,) = (one.of(AgentNeedView) for one in found if one.kind is AgentNeedView)
    assert [one.need_id for one in needs] == of_others
