"""Advice on errors and versions, and the catalogue of skills."""

import hashlib
import json
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from kit.service.stage import Stage, open_stage
from service_tui.engine import errors
from service_tui.server.advice import TABLE, advice_on
from service_tui.server.embedded import BASE_URL
from service_tui.server.routes.troubleshoot import texts_of
from service_tui.wire.advice import TroubleshootRequest, TurnBody
from service_tui.wire.endpoints.public import SKILLS, TROUBLESHOOT, VERSION_CHECK

Json = dict[str, Any]

ADVICE: Final = {
    "401 Client Error: Unauthorized for url": "Bearer",
    "Missing or invalid Authorization header": "Bearer",
    "403: autoresearch requires Pro": "Pro plan",
    "this needs the pro plan": "--plan",
    "Agent must be claimed before trading": "claim_url",
    "agent is not verified": "claim_url",
    "404 Not Found: there is no /api/sdk/agent/me here": "agents/me",
    "405 Method Not Allowed": "agents/me",
    "422 Unprocessable Entity": "detail",
    '{"error":"Rate limit exceeded","limit":60}': "Retry-After",
    "on-chain token balance is 0": "redeemed",
    "venue has not finalized the market": "10 to 30 minutes",
    "position lost": "losing",
    "confirmation timeout after 60 s": "broadcast",
    '{"error":"ORDER_REJECTED","detail":"not enough balance / allowance"}': "set_approvals",
    "wallet is restricted by the venue": "new one",
    "insufficient balance: 50.00 asked": "Lower",
    "Insufficient shares to sell": "positions",
    "position m1 not found": "positions",
    "Daily limit reached: $500": "midnight",
    "Order too small": "5 shares",
    "market not found: abc": "List the markets",
    "rebuy skipped": "allow_rebuy",
    "KYC_REQUIRED": "venue",
    "reactor circuit breaker is open": "hour",
    "session paused after 3 consecutive crashes": "init_experiment",
    "ReadTimeout: timed out": "/api/sdk/trades",
    "Connection refused": "health",
    "ValueError: insecure http://example.com": "https",
    "poly_address does not match": "linked",
    "insufficient funds for gas": "POL",
    "native USDC deposited": "USDC.e",
}


@pytest.mark.parametrize("text", ADVICE)
def test_a_known_error_has_its_advice(text: str) -> None:
    found = advice_on(text)
    assert found is not None
    assert ADVICE[text] in found.fix
    assert found.source


def refusals(kind: type[errors.Refusal] = errors.Refusal) -> list[type[errors.Refusal]]:
    return [one for sub in kind.__subclasses__() for one in (refusals(sub) or [sub])]


@pytest.mark.parametrize("kind", refusals(), ids=lambda one: one.code)
def test_every_refusal_of_this_service_is_known_by_its_code(kind: type[errors.Refusal]) -> None:
    found = advice_on(f'{{"error_code":"{kind.code}","success":false}}')
    assert found is not None
    assert found.fix.lower() == f"{kind.fix}.".lower()
    assert found.source == f"Code {kind.code}"


def test_the_advice_is_short_and_never_asks_to_pay() -> None:
    for row in TABLE:
        assert 10 < len(row.fix) < 400
        assert "pay " not in row.fix.lower()


@pytest.mark.parametrize("text", ["", "hello", "a" * 4_000, "1234", "the weather is fine"])
def test_what_is_no_error_has_no_advice(text: str) -> None:
    assert advice_on(text) is None


def test_a_long_text_is_read_in_no_time() -> None:
    # No pattern may go back and forth over what a stranger sends.
    for text in ("position " * 500, "needs " * 800, "import " * 570, "wallet " * 570):
        advice_on(text[:4_000])


async def ask(stage: Stage, key: str | None = None, **body: object) -> httpx.Response:
    async with httpx.AsyncClient(transport=stage.sim.transport, base_url=BASE_URL) as client:
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        return await client.post(TROUBLESHOOT.path, json=body, headers=headers)


@pytest.mark.slow
async def test_an_error_is_explained_without_a_key_or_with_a_bad_one(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        for key in (None, "nobody's", stage.key):
            answer = await ask(stage, key, error_text="HTTP 401: key is not known here")
            assert answer.status_code == 200
            body = answer.json()
            assert set(body) == {"matched", "fix", "source"}
            assert (body["matched"], body["source"]) == (True, "Errors: 401")
            assert "Bearer" in body["fix"]
        body = (await ask(stage, error_text="something else went wrong")).json()
        assert (body["matched"], body["source"]) == (False, None)
        assert body["fix"]


@pytest.mark.slow
async def test_a_question_needs_a_key_and_knows_the_agent(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        for key in (None, "nobody's"):
            answer = await ask(stage, key, message="why is my order refused?")
            assert answer.status_code == 401
            assert answer.json()["fix"]
        body = (await ask(stage, stage.key, message="why is my order refused?")).json()
        assert body["matched"] is False
        assert "This agent is unclaimed" in body["fix"]
        now = stage.clock.now()
        for changes, said in (
            ({"claimed": True}, ""),
            ({"trading_paused": True}, "This agent is paused"),
            ({"trading_paused": False, "suspended": True}, "This agent is suspended"),
        ):
            world_store = stage.sim.service.world_store
            await world_store.commit(stage.world.change(stage.agent, dict(changes), now))
            body = (await ask(stage, stage.key, message="why?")).json()
            assert (said in body["fix"]) is True
            assert ("This agent is" in body["fix"]) is bool(said)
        halt = stage.world.halt
        for changes in ({"trading_paused": True, "suspended": False}, {"trading_paused": False}):
            await world_store.commit(stage.world.change(stage.agent, dict(changes), now))
            halt.since = now
            # A halt binds all agents, and comes before the agent's own pause.
            body = (await ask(stage, stage.key, message="why?")).json()
            assert "This agent is halted" in body["fix"]
        halt.since = None
        turns = [{"role": "user", "content": "429 again"}, {"role": "x", "content": "and now?"}]
        body = (await ask(stage, stage.key, message="what now?", conversation=turns)).json()
        assert (body["matched"], body["source"]) == (True, "Errors: 429")


def test_the_nearest_text_is_looked_at_first_and_the_last_turn_before_the_earlier_ones() -> None:
    turns = tuple(TurnBody(role="user", content=text) for text in ("first", "", "last"))
    problem = TroubleshootRequest(error_text="error", message="question", conversation=turns)
    assert texts_of(problem) == ["error", "question", "last", "first"]
    assert texts_of(TroubleshootRequest(message="question")) == ["question"]


VERSIONS: Final = {
    "0.26.0": "ok",
    "0.9.21": "ok",
    "0.10": "ok",
    "1": "ok",
    "0.9.20": "deprecated",
    "0.9.17": "deprecated",
    "0.9.16": "deprecated",
    "0": "deprecated",
}


@pytest.mark.slow
async def test_old_versions_are_told_what_they_lack(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        async with httpx.AsyncClient(transport=stage.sim.transport, base_url=BASE_URL) as client:
            client.headers["Authorization"] = f"Bearer {stage.key}"
            heard: dict[str, Json] = {
                said: (await client.get(VERSION_CHECK.path, params={"sdk_version": said})).json()
                for said in VERSIONS
            }
            bare = (await client.get(VERSION_CHECK.path)).json()
        assert {said: body["status"] for said, body in heard.items()} == VERSIONS
        assert bare["status"] == "ok"
        assert "reactor" in heard["0.9.20"]["message"]
        assert "signal_data" not in heard["0.9.17"]["message"]
        assert "signal_data" in heard["0.9.16"]["message"]


SKILL: Final = """\
---
name: rain-maker
description: >
  Buys rain
  when it rains.
metadata:
  author: "Ada"
  version: "1.2.3"
  displayName: Rain Maker
  difficulty: intermediate
  category: weather
  tags: weather, days
---
# Rain Maker
"""


def install(folder: Path, slug: str, document: str = SKILL) -> Path:
    path = folder / slug
    path.mkdir(parents=True)
    (path / "SKILL.md").write_text(document, encoding="utf-8")
    return path


@pytest.mark.slow
async def test_the_catalogue_lists_what_is_installed(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:

        async def listed(**params: str) -> Json:
            transport = stage.sim.transport
            async with httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client:
                answer = await client.get(SKILLS.path, params=params)
            SKILLS.answers.model_validate_json(answer.content)
            return answer.json()

        stage.sim.service.skill_folders = stage.sim.service.skill_folders[:1]
        assert stage.sim.service.skill_folders == (tmp_path / "skills",)
        assert await listed() == {"skills": [], "total": 0}
        path = install(tmp_path / "skills", "rain-maker")
        (path / "rain.py").write_text("print()\n", encoding="utf-8")
        manifest = {
            "requires": {"pip": ["service-sdk"], "env": ["SERVICE_API_KEY"]},
            "automaton": {"entrypoint": "rain.py"},
        }
        (path / "clawhub.json").write_text(json.dumps(manifest), encoding="utf-8")
        body = await listed(category="weather")
        (skill,) = body["skills"]
        assert body["total"] == 1
        assert (skill["id"], skill["slug"], skill["name"]) == (
            "rain-maker", "rain-maker", "Rain Maker",
        )  # fmt: skip
        assert skill["description"] == "Buys rain when it rains."
        assert (skill["tags"], skill["difficulty"]) == (["weather", "days"], "intermediate")
        assert skill["requires"] == ["service-sdk", "SERVICE_API_KEY"]
        assert (skill["author"], skill["clawhub_version"]) == ("Ada", "1.2.3")
        assert skill["content_hash"] == hashlib.sha256(b"print()\n").hexdigest()
        assert await listed(category="sports") == {"skills": [], "total": 0}
