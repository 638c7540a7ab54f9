"""Claiming: what the link shows, who may send its form, and the code that only the console has."""

import asyncio
import base64
import hashlib
import re
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import pytest

from kit.engine.topics import TOPICS
from kit.service.stage import ANSWER_S, OPERATOR, Stage, open_stage
from service_tui.server.claim.codes import CODE_S, LETTERS, TRIES, ClaimCodes
from service_tui.server.claim.page import HEADERS, STYLE
from service_tui.server.embedded import BASE_URL
from service_tui.server.http.loopback import listen
from service_tui.server.world_store import restore
from service_tui.units import Timestamp
from service_tui.wire.endpoints.desk import DESK_CLAIM, DESK_CLAIM_CODE, SET_SPEED
from service_tui.wire.endpoints.public import AGENT, CONTEXT, PLACE_TRADE

FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}
OWN: Final = {**FORM, "Origin": BASE_URL}


def page_of(stage: Stage) -> str:
    return f"/claim/{stage.agent.claim_code}"


async def ask(
    stage: Stage, method: str, path: str, headers: dict[str, str] | None = None, **sent: Any
) -> httpx.Response:
    transport = stage.sim.transport
    async with httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client:
        return await client.request(method, path, headers=headers, **sent)


async def operate(stage: Stage, path: str, **sent: Any) -> httpx.Response:
    path = path.format(agent_id=stage.agent_id)
    return await ask(stage, "POST", path, {"Authorization": f"Bearer {OPERATOR}"}, **sent)


async def code_of(stage: Stage) -> str:
    return (await operate(stage, DESK_CLAIM_CODE.path)).json()["code"]


async def enter(stage: Stage, code: str, headers: dict[str, str] = OWN) -> httpx.Response:
    return await ask(stage, "POST", page_of(stage), headers, content=f"code={code}".encode())


@pytest.mark.slow
async def test_the_link_opens_a_page_with_the_agents_name(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        context = await ask(stage, "GET", CONTEXT.path, {"Authorization": f"Bearer {stage.key}"})
        link = context.json()["claim_url"]
        assert link == BASE_URL + page_of(stage)
        answer = await ask(stage, "GET", urlsplit(link).path)
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert "<h1>tester</h1>" in answer.text
        assert '<form method="post"' in answer.text
        assert len(answer.content) < 4_000


@pytest.mark.slow
async def test_the_page_runs_nothing_and_loads_nothing(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        answer = await ask(stage, "GET", page_of(stage))
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "form-action 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        # The one style that may stand in it is the one that stands in it.
        (style,) = re.findall(r"<style>(.*?)</style>", answer.text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        assert f"style-src 'sha256-{digest}'" in policy
        assert style == STYLE
        for word in ("<script", "<link", "<img", "http:", "https:", "//", "url(", "@import"):
            assert word not in answer.text, word
        assert re.search(r"\son\w+=", answer.text) is None
        # With no-referrer a browser would send the form with an Origin of null.
        assert answer.headers["referrer-policy"] == "same-origin"
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        assert "prefers-color-scheme:dark" in style


@pytest.mark.slow
async def test_a_name_is_shown_as_it_is_and_never_as_markup(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        name = '<script>alert("x")</script> & co'
        await stage.sim.service.world_store.commit(
            stage.world.change(stage.agent, {"name": name}, stage.clock.now())
        )
        text = (await ask(stage, "GET", page_of(stage))).text
        assert "<script" not in text
        assert "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; co" in text


@pytest.mark.slow
async def test_the_right_code_claims_the_agent_for_good(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        code = await code_of(stage)
        assert re.fullmatch(r"[2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4}", code)
        assert code not in (await ask(stage, "GET", page_of(stage))).text
        answer = await enter(stage, code.lower().replace("-", "+"))
        assert answer.status_code == 200
        assert "is claimed" in answer.text
        assert "<form" not in answer.text
        assert stage.agent.settings.claimed is True
        me = await ask(stage, "GET", AGENT.path, {"Authorization": f"Bearer {stage.key}"})
        assert (me.json()["status"], me.json()["claimed"]) == ("active", True)
        # Seen again it says so, and a second form changes nothing.
        assert "is claimed" in (await ask(stage, "GET", page_of(stage))).text
        assert "is claimed" in (await enter(stage, code)).text
        found = await asyncio.to_thread(restore, stage.at_rest, TOPICS)
        assert found is not None
        assert found[0].agents[stage.agent_id].settings.claimed is True


@pytest.mark.slow
async def test_a_code_ends_after_ten_minutes_and_with_the_next_one(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        first = await code_of(stage)
        second = await code_of(stage)
        assert (await enter(stage, first)).status_code == 403
        await stage.clock.advance(CODE_S)
        assert "Make a new one" in (await enter(stage, second)).text
        assert stage.agent.settings.claimed is False


@pytest.mark.slow
async def test_without_a_code_from_the_console_nothing_claims(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        for typed in ("", "%00", "%E2%80%AE", "a" * 900, stage.agent.claim_code, "%C3%A9"):
            assert (await enter(stage, typed)).status_code == 403
        assert stage.agent.settings.claimed is False


ORIGINS: Final = (
    "https://evil.example",
    "null",
    "",
    "http://127.0.0.1:8000",
    "https://embedded.localhost",
    "http://embedded.localhost:80",
    "http://embedded.localhost.evil.example",
    "HTTP://EMBEDDED.LOCALHOST",
)


@pytest.mark.slow
async def test_only_the_page_itself_may_send_the_form(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        code = await code_of(stage)
        for headers in (
            FORM,
            *({**FORM, "Origin": origin} for origin in ORIGINS),
            {**OWN, "Sec-Fetch-Site": "cross-site"},
            {**OWN, "Sec-Fetch-Site": "same-site"},
        ):
            answer = await enter(stage, code, headers)
            assert answer.status_code == 403, headers
            assert "another page" in answer.json()["error"]
        for headers in (OWN, {**OWN, "Sec-Fetch-Site": "same-origin"}):
            assert (await enter(stage, "WRONG", headers)).status_code == 403
        twice = [("Origin", BASE_URL), ("Origin", BASE_URL), *FORM.items()]
        request = httpx.Request("POST", BASE_URL + page_of(stage), headers=twice)
        response = await stage.sim.transport.handle_async_request(request)
        assert response.status_code == 403
        # None of these cost a try but the two with a wrong code.
        assert stage.agent.settings.claimed is False
        assert (await enter(stage, code)).status_code == 200


@pytest.mark.slow
async def test_its_own_origin_opens_no_other_path(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        headers = {"Authorization": f"Bearer {OPERATOR}", "Origin": BASE_URL}
        for method, path in (
            ("POST", SET_SPEED.path),
            ("POST", PLACE_TRADE.path),
            ("POST", DESK_CLAIM.path.format(agent_id=stage.agent_id)),
            ("GET", page_of(stage)),
            ("PUT", page_of(stage)),
            ("OPTIONS", page_of(stage)),
            ("POST", "/claims/x"),
            ("POST", "/claim"),
        ):
            answer = await ask(stage, method, path, headers)
            assert answer.status_code == 403
            assert "web pages" in answer.json()["error"]
        for path in ("/claim/", "/claim/a/b", "/claim/../api/desk/world/speed"):
            request = httpx.Request("POST", BASE_URL, headers=headers)
            request.url = httpx.URL(BASE_URL, raw_path=path.encode())
            response = await stage.sim.transport.handle_async_request(request)
            assert response.status_code in {403, 404, 405}
        assert stage.agent.settings.claimed is False


BAD_FORMS: Final = {
    b"code=" + b"A" * 2_000: 413,
    b"a=1&b=2&c=3&d=4&e=5": 400,
    b"code=\xff": 400,
}


@pytest.mark.slow
async def test_what_is_not_the_form_is_refused(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        await code_of(stage)
        for content, status in BAD_FORMS.items():
            answer = await ask(stage, "POST", page_of(stage), OWN, content=content)
            assert answer.status_code == status
            assert answer.json()["fix"]
        for kind in ("application/json", "text/plain", "multipart/form-data"):
            headers = {"Content-Type": kind, "Origin": BASE_URL}
            answer = await ask(stage, "POST", page_of(stage), headers, content=b"code=A")
            assert answer.status_code == 415
        # None of these were tries.
        assert f"left: {TRIES - 1}." in (await enter(stage, "WRONG")).text


@pytest.mark.slow
async def test_a_claim_over_the_line_as_a_browser_does_it(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage, listen(stage.sim.app) as url:
        stage.sim.service.address = url
        made = (await operate(stage, DESK_CLAIM_CODE.path)).json()
        assert made["claim_url"] == url + page_of(stage)
        async with httpx.AsyncClient(trust_env=False, timeout=ANSWER_S) as browser:
            assert (await browser.get(made["claim_url"])).status_code == 200
            headers = {"Origin": url, "Sec-Fetch-Site": "same-origin"}
            answer = await browser.post(
                made["claim_url"], data={"code": made["code"]}, headers=headers
            )
        assert answer.status_code == 200
        assert stage.agent.settings.claimed is True


@pytest.mark.slow
async def test_the_console_claims_without_a_code(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        first = (await operate(stage, DESK_CLAIM.path)).json()
        assert (first["claimed"], first["status"]) == (True, "active")
        assert (await operate(stage, DESK_CLAIM.path)).json() == first
        refused = await operate(stage, DESK_CLAIM_CODE.path)
        assert refused.status_code == 409
        assert refused.json()["fix"]


@pytest.mark.slow
async def test_a_claimed_agent_is_not_asked_to_be_claimed(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        market = stage.open_markets()[0].market_id
        order = {"market_id": market, "side": "yes", "amount": 5, "venue": "evm_venue"}
        headers = {"Authorization": f"Bearer {stage.key}"}

        async def trade(**changes: object) -> httpx.Response:
            return await ask(stage, "POST", PLACE_TRADE.path, headers, json=order | changes)

        for venue in ("evm_venue", "sol_venue", "polymarket", "kalshi"):
            answer = await trade(venue=venue)
            assert answer.status_code == 403
            assert answer.json()["detail"] == "Agent must be claimed before trading"
            assert answer.json()["claim_url"] == BASE_URL + page_of(stage)
            assert answer.json()["fix"]
        # A wrong id is said first, and sim is free to all.
        assert (await trade(market_id="nowhere")).status_code == 404
        assert (await trade(venue="sim")).json()["success"] is True
        await operate(stage, DESK_CLAIM.path)
        assert (await trade()).status_code == 200


def test_a_code_has_forty_random_bits() -> None:
    assert len(set(LETTERS)) == 32
    codes, at = ClaimCodes(), Timestamp(0.0)
    made = [codes.make("a", 1 << bit, now=at, monotonic=0.0).code for bit in range(41)]
    assert len(set(made)) == 41
    # The 41st bit is one too many, and counts for nothing.
    assert made[40] == codes.make("a", 0, now=at, monotonic=0.0).code
