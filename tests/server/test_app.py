"""What every call passes: its body and query, the disk, a bug of ours, and the row it answers."""

import asyncio
import sqlite3
from pathlib import Path
from typing import Any, Final

import httpx

from kit.service.line import answer_to, line_to
from kit.service.stage import Stage, open_stage
from service_tui.server.app import WORLD_SEQ, is_own_form
from service_tui.server.embedded import BASE_URL
from service_tui.server.http.access import BODY_MAX
from service_tui.server.http.idempotency import HEADER
from service_tui.storage.journal import JournalStore
from service_tui.terms import Plan
from service_tui.wire.endpoints.public import CLAIM_PAGE, HEALTH, MARKETS, PLACE_TRADE, REGISTER

JSON: Final = "application/json"


async def sent(
    stage: Stage, method: str, path: str, content: bytes = b"", **headers: str
) -> httpx.Response:
    """A call with the bytes and the headers that a test wants."""
    given = {"Authorization": f"Bearer {stage.key}"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    request = httpx.Request(method, BASE_URL + path, headers=given, content=content)
    return await answer_to(stage, request)


def trade(stage: Stage, more: str = "") -> bytes:
    market_id = min(one.market_id for one in stage.open_markets())
    return f'{{"market_id":"{market_id}","side":"no","amount":5{more}}}'.encode()


async def test_a_body_is_taken_as_json_of_its_endpoint_or_refused(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        body, path = trade(stage), PLACE_TRADE.path
        for kind in (JSON, "Application/JSON; charset=utf-8"):
            answer = await sent(stage, "POST", path, body, Content_Type=kind)
            assert (answer.status_code, answer.json()["success"]) == (200, True)
        trades = stage.agent.trades_count
        for content, kind, status in (
            (body, "text/plain", 415),
            (body, "", 415),
            (b"{", JSON, 422),
            (b"[]", JSON, 422),
            (b"\xff", JSON, 422),
            (trade(stage, ',"amount":6'), JSON, 422),
            (b" " * (BODY_MAX + 1), JSON, 413),
        ):
            answer = await sent(stage, "POST", path, content, Content_Type=kind)
            assert (answer.status_code, bool(answer.json()["fix"])) == (status, True), content[:60]
        assert stage.agent.trades_count == trades
        # Who asks for nothing may send anything.
        answer = await sent(stage, "GET", HEALTH.path, b"nonsense")
        assert answer.status_code == 200


async def test_a_body_that_is_broken_off_is_refused_and_trades_nothing(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        statuses: list[int] = []
        parts = [{"type": "http.request", "body": b'{"market', "more_body": True}]

        async def receive() -> Any:
            return parts.pop() if parts else {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if "status" in message:
                statuses.append(message["status"])

        headers = {
            "host": "service.sim", "content-type": JSON, "authorization": f"Bearer {stage.key}"
        }  # fmt: skip
        scope = {
            "type": "http", "method": "POST", "path": PLACE_TRADE.path, "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": stage.sim.transport.client, "server": ("service.sim", 80), "scheme": "http",
            "root_path": "", "http_version": "1.1", "extensions": {},
        }  # fmt: skip
        scope["headers"][0] = (b"host", httpx.URL(BASE_URL).netloc)
        await stage.sim.app(scope, receive, send)
        assert (statuses, stage.agent.trades_count) == ([400], 0)


async def test_a_query_is_read_from_text_and_what_cannot_be_meant_is_refused(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        answer = await sent(stage, "GET", f"{MARKETS.path}?limit=2&tradeable_only=false")
        assert len(answer.json()["markets"]) == 2
        for query in ("limit=1&limit=2", "limit=x", "limit=0"):
            answer = await sent(stage, "GET", f"{MARKETS.path}?{query}")
            assert (answer.status_code, bool(answer.json()["fix"])) == (422, True)
        answer = await sent(stage, "GET", f"{MARKETS.path}?colour=red&shape=")
        assert answer.status_code == 200
        assert "colour" in answer.text
        assert "shape" in answer.text


async def test_each_answer_names_its_row_and_a_refusal_the_last_one(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0, plan=Plan.ELITE) as stage:

        async def seq(method: str, path: str, content: bytes = b"", **headers: str) -> int:
            answer = await sent(stage, method, path, content, Content_Type=JSON, **headers)
            return int(answer.headers[WORLD_SEQ])

        at_rest = JournalStore(stage.at_rest)
        before = at_rest.last_seq()
        assert await seq("GET", MARKETS.path) == before
        quote = trade(stage, ',"dry_run":true')
        assert await seq("POST", PLACE_TRADE.path, quote) == before
        after = await seq("POST", PLACE_TRADE.path, trade(stage), **{HEADER: "k"})
        assert (after, at_rest.last_seq()) == (after, after)
        assert after > before
        assert await seq("POST", PLACE_TRADE.path, trade(stage), **{HEADER: "k"}) == after
        assert await seq("GET", f"{MARKETS.path}?limit=0") == after
        # Of a rehearsal too the key must be one.
        answer = await sent(
            stage, "POST", PLACE_TRADE.path, quote, Content_Type=JSON, **{HEADER: "k" * 999}
        )
        assert answer.status_code == 422


async def test_a_full_disk_trades_nothing_says_so_and_leaves_the_health_to_be_read(
    tmp_path: Path,
) -> None:
    def full(connection: sqlite3.Connection) -> None:
        (now,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={now}")

    def roomy(connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA max_page_count=1000000")

    async with open_stage(tmp_path, speed=0, plan=Plan.ELITE) as stage:
        line = line_to(stage)
        await stage.database.write(full)
        order = {"reasoning": "why " * 900, "side": "no", "amount": 5}
        order["market_id"] = min(one.market_id for one in stage.open_markets())
        answers = [await line.ask(PLACE_TRADE, json=order) for _ in range(20)]
        refused = answers[-1]
        assert refused.status_code == 503
        assert "nothing was traded" in refused.json()["error"]
        assert refused.json()["fix"]
        done = [one.status_code for one in answers].count(200)
        assert (await line.ask(HEALTH)).status_code == 200
        await stage.database.write(roomy)
        # The tape tries again by itself, and what was refused is not there.
        await stage.clock.advance(10.0)
        assert (await line.ask(PLACE_TRADE, json=order)).status_code == 200
        assert stage.agent.trades_count == done + 1


async def test_a_bug_of_ours_says_nothing_of_itself_and_the_world_is_read_back(
    tmp_path: Path,
) -> None:
    def broken() -> str:
        raise ValueError("sk_live_secret")

    async with open_stage(tmp_path, speed=0) as stage:
        service, line = stage.sim.service, line_to(stage)
        key_of, service.new_key = service.new_key, broken
        answer = await line.ask(REGISTER, json={"name": "second"})
        assert answer.status_code == 500
        assert "secret" not in answer.text
        assert answer.json()["fix"]
        service.new_key = key_of
        await stage.clock.advance(5.0)
        assert (await line.ask(REGISTER, json={"name": "second"})).status_code == 200
        names = [one.settings.name for one in stage.world.agents.values()]
        assert names.count("second") == 1


def test_one_form_is_our_own() -> None:
    page = CLAIM_PAGE.replace("{claim_code}", "c")
    assert is_own_form("POST", page)
    assert not is_own_form("GET", page)
    assert not is_own_form("POST", "/api/sdk/trade")


async def test_the_tape_moves_by_itself_and_stops_with_the_app(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        before = stage.world.world_at
        await stage.clock.advance(5.0)
        assert stage.world.world_at > before
        tasks = asyncio.all_tasks()
    # Nothing of the service runs on.
    await asyncio.sleep(0)
    assert all(task.done() for task in tasks - asyncio.all_tasks())
