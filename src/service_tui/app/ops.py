"""Serves health and metrics of a service process on a separate port, for its operator."""

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service_tui.app.access_log import method_of, route_of
from service_tui.server.embedded import Sim
from service_tui.server.events.stream import STATE, OpenStreams
from service_tui.server.http.loopback import HOST, bind_named, listen
from service_tui.server.world_store import WorldStore

if TYPE_CHECKING:
    # What follows knows the driver of the other database, which a data directory has no need of.
    from service_tui.server.following import FollowingCopy

BUCKETS_S: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
"""Upper ends of the classes into which the time of an answer falls."""

ROUTE_BUCKETS_S: Final = (0.005, 0.02, 0.1, 0.5, 2.0)
"""The same for each endpoint: fewer, as there are two hundred of them."""

REFUSED_S: Final = 10.0
"""# ours: after a refused write a process says for so long that it is not ready. Then it is asked
again: only a call that writes shows whether the disk has room."""


class Role(StrEnum):
    """State of a process; `/readyz` shows the values."""

    STARTING = "starting"
    LEADING = "leading"
    STANDING_BY = "standing by"
    WAITING = "waiting for the database"


class ProcessFigures:
    """Metrics of a process. `monotonic` is a clock of seconds."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._role = Role.STARTING
        self._is_certain: Callable[[], bool] = lambda: True
        self._copy: FollowingCopy | None = None
        self._store: WorldStore | None = None
        self._refused, self._refused_at = 0, 0.0
        self.registry = CollectorRegistry()
        self._calls = Counter(
            "service_tui_calls",
            "Answered calls.",
            ["method", "status"],
            registry=self.registry,
        )
        self._routes = Histogram(
            "service_tui_route_seconds",
            "Time to the first byte of an answer, by endpoint and class of the status.",
            ["method", "route", "status"],
            buckets=ROUTE_BUCKETS_S,
            registry=self.registry,
        )
        self._seconds = Histogram(
            "service_tui_call_seconds",
            "Time to the first byte of an answer.",
            ["method"],
            buckets=BUCKETS_S,
            registry=self.registry,
        )
        self._leads = self._gauge("service_tui_leads", "1 while this process leads its world.")
        self._epoch = self._gauge("service_tui_epoch", "Number of the leader, of the first one 1.")
        self._row = self._gauge("service_tui_journal_row", "Last row of the journal.")
        self._lag = self._gauge(
            "service_tui_lag_seconds",
            "Since this process is known to have had every row; 0 while it leads.",
        )
        self._agents = self._gauge("service_tui_agents", "Agents of the world.")
        self._markets = self._gauge("service_tui_markets", "Markets in memory.")
        self._taken = Counter(
            "service_tui_lead_taken",
            "How often this process took the lead.",
            registry=self.registry,
        )

    def _gauge(self, name: str, about: str) -> Gauge:
        return Gauge(name, about, registry=self.registry)

    @property
    def role(self) -> Role:
        """State of the process."""
        return self._role

    def turn(self, role: Role) -> None:
        """Set the role."""
        self._role = role
        self._leads.set(role is Role.LEADING)

    def lead(self, sim: Sim, epoch: int, is_certain: Callable[[], bool]) -> None:
        """Note that this process serves a world, and read its figures from now on.

        Args:
            sim: the service.
            epoch: of this leader; 1 for a world of a data directory.
            is_certain: whether it is certain at the moment that nobody else leads.
        """
        service = sim.service
        self._is_certain = is_certain
        self._store = service.world_store
        self._epoch.set(epoch)
        self._taken.inc()
        self._row.set_function(lambda: service.world_store.seq)
        self._agents.set_function(lambda: len(service.world.agents))
        self._markets.set_function(lambda: len(service.world.markets))
        self._lag.set_function(lambda: 0.0)
        self.turn(Role.LEADING)

    def follow(self, copy: "FollowingCopy | None") -> None:
        """Note the copy from which this process answers reads; None for none."""
        self._copy = copy
        if copy is not None:
            store = copy.store
            self._row.set_function(lambda: store.seq)
            self._agents.set_function(lambda: len(store.world.agents))
            self._markets.set_function(lambda: len(store.world.markets))
            self._lag.set_function(lambda: copy.lag_s)

    def _takes_writes(self) -> bool:
        """False for a while after a write was refused, unless a later one was taken."""
        refused = 0 if self._store is None else self._store.writes_refused
        now = self._monotonic()
        if refused != self._refused:
            self._refused, self._refused_at = refused, now
        return not refused or now - self._refused_at > REFUSED_S

    @property
    def leads(self) -> bool:
        """True for a leader that is certain and whose writes are taken."""
        return self._role is Role.LEADING and self._is_certain() and self._takes_writes()

    @property
    def is_ready(self) -> bool:
        """True for a leader as of `leads`, and for a follower within its bound of one."""
        if self._role is Role.LEADING:
            return self.leads
        return self._role is Role.STANDING_BY and self._copy is not None and self._copy.is_fresh

    def measured(self, app: ASGIApp) -> ASGIApp:
        """The app, with its answers counted and timed."""

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            began, method = self._monotonic(), str(scope.get("method", ""))

            async def noted(message: Message) -> None:
                if message["type"] == "http.response.start":
                    self._calls.labels(method, str(message["status"])).inc()
                    seconds = self._monotonic() - began
                    self._seconds.labels(method).observe(seconds)
                    route, status = route_of(scope), f"{message['status'] // 100}xx"
                    self._routes.labels(method_of(scope), route, status).observe(seconds)
                await send(message)

            await app(scope, receive, noted if scope["type"] == "http" else send)

        return answer


@asynccontextmanager
async def ops_port(
    figures: Mapping[str, ProcessFigures], port: int | None, host: str = ""
) -> AsyncGenerator[str]:
    """Answer `/healthz`, `/readyz`, `/leaderz` and `/metrics` while the context lasts.

    Args:
        figures: of this process, by world; at least one.
        port: 0 takes any free one; None answers nowhere.
        host: an address of this machine; empty: loopback.

    Yields:
        The base address, empty for none.

    Raises:
        PortTakenError: another program uses the port.
    """
    if port is None:
        yield ""
        return
    listener = bind_named(port, "--ops-port", host or HOST)
    address = f"http://{f'[{host}]' if ':' in host else host or HOST}:{listener.getsockname()[1]}"
    async with listen(_app(figures), listener=listener):
        yield address


def _json(status: int, body: Mapping[str, object]) -> Response:
    return Response(json.dumps(body), status, media_type="application/json")


def _app(figures: Mapping[str, ProcessFigures]) -> Starlette:
    app = Starlette()
    setattr(app.state, STATE, OpenStreams())
    first = next(iter(figures))

    async def health(_: Request) -> Response:
        return _json(200, {"status": "ok"})

    async def ready(_: Request) -> Response:
        roles = {world: one.role.value for world, one in figures.items()}
        is_ready = all(one.is_ready for one in figures.values())
        return _json(200 if is_ready else 503, {"role": roles[first], "worlds": roles})

    async def metrics(request: Request) -> Response:
        found = figures.get(request.query_params.get("world", first))
        if found is None:
            return _NO_WORLD
        return Response(generate_latest(found.registry), media_type=CONTENT_TYPE_LATEST)

    async def leader(request: Request) -> Response:
        found = figures.get(request.query_params.get("world", first))
        if found is None:
            return _NO_WORLD
        return _json(200 if found.leads else 503, {"role": found.role.value})

    answers = {"/healthz": health, "/readyz": ready, "/leaderz": leader, "/metrics": metrics}
    for path, answer in answers.items():
        app.add_route(path, answer, ["GET"])
    return app


_NO_WORLD: Final = _json(404, {"error": "no such world here"})
