"""A service without an app, a clock or a disk: handlers are called with what they are given.

It notes what a handler writes; `refuses` makes the disk say no.
"""

from types import SimpleNamespace
from typing import Any

from kit.engine.bare import AT, bare_world
from service_tui.engine.amm.exchange import Order
from service_tui.engine.events import Fill, OperatorActed
from service_tui.engine.world import World
from service_tui.server.http.people.roster import Person
from service_tui.server.http.service import RequestContext, Service
from service_tui.storage.errors import StorageError
from service_tui.terms import PersonRole, Plan
from service_tui.units import Timestamp

ADDRESS = "http://127.0.0.1:9"
ANN = Person("ann", PersonRole.SUPERVISOR)
ACT = OperatorActed("ann", AT, "acted")


class NothingPast:
    """The ended markets of a world that has forgotten none."""

    async def listed(self) -> list[Any]:
        return []

    async def forgotten(self, _: list[str]) -> dict[str, Any]:
        return {}


class BareStore:
    """A store that notes what it is asked to write."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.written: list[Any] = []
        self.answers: list[Any] = []
        self.refuses: StorageError | None = None
        self.seq = 50
        self.past: Any = NothingPast()

    def check_whole(self) -> None:
        if self.refuses is not None:
            raise self.refuses

    def fill(self, order: Order, at: Timestamp) -> Fill:
        return self.world.place(order, at)

    async def commit(self, events: Any, *, answer: Any = None, beside: Any = None) -> None:
        self.check_whole()
        self.written += events
        self.answers.append(answer)
        if beside is not None:
            self.written.append("beside")


def bare_service(world: World | None = None, **changes: Any) -> Any:
    """A service of a world; its `store` is what notes."""
    store: Any = BareStore(world or bare_world())
    names = iter(f"id-{number:03}-of-a-new-thing" for number in range(1, 1_000))
    given: dict[str, Any] = {
        "world_store": store,
        "clock": SimpleNamespace(now=lambda: AT, monotonic=lambda: 71.5),
        "new_key": lambda: "sk_live_new",
        "new_id": lambda: next(names),
        "address": ADDRESS,
        "plan": Plan.ELITE,
        "repeats": None,
        "courier": None,
        "operator_agent": "own",
    }
    return Service(**{**given, **changes})


def request_to(service: Any, agent_id: str | None = None, **changes: Any) -> RequestContext:
    """A request of an agent, or of a supervisor."""
    caller = None if agent_id is None else service.world.agents[agent_id]
    given: dict[str, Any] = {} if agent_id is not None else {"person": ANN, "act": ACT}
    return RequestContext(service, caller, AT, **{**given, **changes})
