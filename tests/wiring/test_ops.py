"""Health and figures of a service process."""

from pathlib import Path
from types import SimpleNamespace

import httpx
from starlette.types import Message

from kit.service.stage import ANSWER_S, open_stage
from service_tui.server.embedded import BASE_URL
from service_tui.wiring.ops import ProcessFigures, Role, ops_port


async def test_a_process_shows_its_health_its_role_and_its_figures(tmp_path: Path) -> None:
    now, certain = 0.0, True
    figures = ProcessFigures(lambda: now)
    async with (
        open_stage(tmp_path) as stage,
        ops_port({"main": figures}, 0) as address,
        httpx.AsyncClient(base_url=address, timeout=ANSWER_S, trust_env=False) as http,
    ):

        async def ready() -> tuple[int, str]:
            reply = await http.get("/readyz")
            return reply.status_code, reply.json()["role"]

        assert (await http.get("/healthz")).json() == {"status": "ok"}
        assert await ready() == (503, "starting")
        figures.lead(stage.sim, 3, lambda: certain)
        assert await ready() == (200, "leading")
        certain = False
        assert await ready() == (503, "leading")
        figures.turn(Role.WAITING)
        assert await ready() == (503, "waiting for the database")

        app = figures.measured(stage.sim.app)
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=BASE_URL) as caller:
            assert (await caller.get("/api/sdk/health")).status_code == 200
            assert (await caller.get("/nowhere")).status_code == 404
        reply = await http.get("/metrics")
        assert reply.headers["content-type"].startswith("text/plain")
        lines = dict(
            line.rsplit(" ", 1) for line in reply.text.splitlines() if not line.startswith("#")
        )
        assert float(lines['service_tui_calls_total{method="GET",status="200"}']) == 1
        assert float(lines['service_tui_calls_total{method="GET",status="404"}']) == 1
        assert float(lines['service_tui_call_seconds_count{method="GET"}']) == 2
        assert float(lines["service_tui_epoch"]) == 3
        assert float(lines["service_tui_leads"]) == 0
        assert float(lines["service_tui_lead_taken_total"]) == 1
        assert float(lines["service_tui_agents"]) == len(stage.world.agents)
        assert float(lines["service_tui_journal_row"]) == stage.sim.service.world_store.seq
        # Nothing of the service itself stands there, and no web page reads it.
        assert (await http.get("/api/sdk/health")).status_code == 404


async def test_without_a_port_nothing_answers() -> None:
    async with ops_port({"main": ProcessFigures(lambda: 0.0)}, None) as address:
        assert address == ""


async def test_what_is_no_call_passes_unmeasured() -> None:
    seen: list[str] = []

    async def app(scope: object, receive: object, send: object) -> None:
        del receive, send
        assert isinstance(scope, dict)
        seen.append(scope["type"])

    async def nothing() -> Message:
        return {}

    async def drop(_: Message) -> None:
        return None

    await ProcessFigures(lambda: 0.0).measured(app)({"type": "lifespan"}, nothing, drop)
    assert seen == ["lifespan"]


async def test_a_follower_is_ready_while_its_copy_is_as_fresh_as_an_answer_must_be() -> None:
    figures = ProcessFigures(lambda: 0.0)
    figures.turn(Role.STANDING_BY)
    assert not figures.is_ready
    store = SimpleNamespace(seq=7, world=SimpleNamespace(agents=(), markets=()))
    copy = SimpleNamespace(store=store, lag_s=0.2, is_fresh=True)
    figures.follow(copy)  # pyright: ignore[reportArgumentType]
    assert figures.is_ready
    copy.is_fresh = False
    assert not figures.is_ready
