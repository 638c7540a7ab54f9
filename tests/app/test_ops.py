"""Health and figures of a service process."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from starlette.types import Message

from kit.service.stage import ANSWER_S, open_stage
from service_tui.app.ops import REFUSED_S, ProcessFigures, Role, ops_port
from service_tui.server.embedded import BASE_URL


@pytest.mark.slow
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


@pytest.mark.slow
async def test_a_full_disk_is_not_ready_until_there_is_room_or_a_while_has_passed(
    tmp_path: Path,
) -> None:
    now = 0.0
    figures = ProcessFigures(lambda: now)
    async with (
        open_stage(tmp_path, speed=0) as stage,
        ops_port({"main": figures}, 0) as address,
        httpx.AsyncClient(base_url=address, timeout=ANSWER_S, trust_env=False) as http,
        httpx.AsyncClient(
            transport=httpx.ASGITransport(stage.sim.app), base_url=BASE_URL
        ) as trader,
    ):
        trader.headers["Authorization"] = f"Bearer {stage.key}"
        market = stage.open_markets()[0].market_id
        order = {"market_id": market, "side": "yes", "amount": 5, "venue": "sim"}

        async def statuses() -> set[int]:
            paths = ("/readyz", "/leaderz")
            return {(await http.get(path)).status_code for path in paths}

        async def pages(most: str) -> None:
            await stage.database.write(lambda one: one.execute(f"PRAGMA max_page_count={most}"))

        async def buy_until(status: int) -> None:
            for _ in range(60):
                body = order | {"reasoning": "x" * 900}
                reply = await trader.post("/api/sdk/trade", json=body)
                if reply.status_code == status:
                    return
                await stage.clock.advance(1.0)
            raise AssertionError(reply.text)

        figures.lead(stage.sim, 1, lambda: True)
        assert await statuses() == {200}
        await pages("1")
        await buy_until(503)
        assert await statuses() == {503}
        assert (await http.get("/healthz")).status_code == 200
        now = REFUSED_S + 0.1
        assert await statuses() == {200}
        await buy_until(503)
        assert await statuses() == {503}
        await pages("1000000")
        await buy_until(200)
        assert await statuses() == {200}


async def test_a_leader_is_told_from_a_follower_by_the_status_alone(tmp_path: Path) -> None:
    figures = ProcessFigures(lambda: 0.0)
    async with (
        open_stage(tmp_path) as stage,
        ops_port({"main": figures}, 0) as address,
        httpx.AsyncClient(base_url=address, timeout=ANSWER_S, trust_env=False) as http,
    ):
        found = [(await http.get("/leaderz")).status_code]
        figures.lead(stage.sim, 1, lambda: True)
        found.append((await http.get("/leaderz?world=main")).status_code)
        figures.turn(Role.STANDING_BY)
        found += [(await http.get(path)).status_code for path in ("/leaderz", "/leaderz?world=x")]
        assert found == [503, 200, 503, 404]


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


def figure(figures: ProcessFigures, name: str) -> float | None:
    return figures.registry.get_sample_value(f"service_tui_{name}")


def world(agents: int, markets: int, seq: int) -> SimpleNamespace:
    known = SimpleNamespace(agents=range(agents), markets=range(markets))
    return SimpleNamespace(world=known, seq=seq, writes_refused=0)


def test_a_leader_counts_its_world_and_is_ready_while_it_is_certain() -> None:
    figures, certain = ProcessFigures(lambda: 0.0), [True]
    assert (figures.role, figures.is_ready) == (Role.STARTING, False)
    store = world(agents=3, markets=20, seq=41)
    sim: Any = SimpleNamespace(service=SimpleNamespace(world_store=store, world=store.world))
    figures.lead(sim, 7, lambda: certain[0])
    names = ("journal_row", "agents", "markets", "lag_seconds", "leads", "epoch")
    assert [figure(figures, name) for name in names] == [41, 3, 20, 0, 1, 7]
    assert figure(figures, "lead_taken_total") == 1
    assert (figures.role, figures.is_ready) == (Role.LEADING, True)
    store.seq = 42
    assert figure(figures, "journal_row") == 42
    certain[0] = False
    assert not figures.is_ready
    figures.turn(Role.WAITING)
    certain[0] = True
    assert (figure(figures, "leads"), figures.is_ready) == (0, False)


def test_a_follower_counts_its_copy_and_how_far_it_is_behind() -> None:
    figures = ProcessFigures(lambda: 0.0)
    figures.turn(Role.STANDING_BY)
    assert not figures.is_ready
    copy: Any = SimpleNamespace(store=world(agents=2, markets=5, seq=9), lag_s=1.5, is_fresh=True)
    figures.follow(copy)
    names = ("journal_row", "agents", "markets", "lag_seconds", "leads")
    assert [figure(figures, name) for name in names] == [9, 2, 5, 1.5, 0]
    assert figures.is_ready
    copy.is_fresh = False
    assert not figures.is_ready
    copy.is_fresh = True
    figures.follow(None)
    assert (figures.is_ready, figure(figures, "journal_row")) == (False, 9)


async def test_an_answer_is_counted_and_timed_by_its_head() -> None:
    now = [10.0]
    figures = ProcessFigures(lambda: now[0])

    async def app(_: object, __: object, send: Any) -> None:
        now[0] += 0.03
        await send({"type": "http.response.start", "status": 201})
        now[0] += 5.0
        await send({"type": "http.response.body"})

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Any = {"type": "http", "method": "POST"}
    await figures.measured(app)(scope, None, send)  # type: ignore[arg-type]
    assert [one["type"] for one in sent] == ["http.response.start", "http.response.body"]

    def of(name: str, **labels: str) -> float | None:
        return figures.registry.get_sample_value(f"service_tui_{name}", labels)

    assert of("calls_total", method="POST", status="201") == 1
    assert of("call_seconds_sum", method="POST") == pytest.approx(0.03)
    assert of("call_seconds_bucket", method="POST", le="0.02") == 0
    assert of("call_seconds_bucket", method="POST", le="0.05") == 1
