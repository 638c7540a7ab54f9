"""An error answered to everything, or to one path, is named at once: status, path, what to do."""

import logging
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from kit.console.doors import running, seen_before
from kit.desk.faults import breaking, said, until
from kit.samples.desk import NOW, sample_state
from kit.service.stage import open_stage, open_test_desk
from service_tui.console.widgets.banner import lasting_conditions
from service_tui.desk.slices.records import Phase, Topic
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp
from service_tui.wire.endpoints.public import BRIEFING, HEALTH, POSITIONS

STATUSES = (400, 404, 405, 409, 413, 418, 422, 429, 500, 502, 503)
WITHIN_S = 5.0


def banner(state: DeskState, at: float) -> str:
    found = lasting_conditions(state, Timestamp(at), started_at=Timestamp(at - WITHIN_S), closed="")
    return "\n".join(f"{one.word} {one.sentence}" for one in found)


def answer(status: int, words: str = "we \x1b[2Jmoved") -> httpx.Response:
    waits = {"retry_after": "60"} if status in {429, 503} else {}
    return said({"error": words}, status, **waits)


async def test_an_error_answered_to_everything_is_named_within_5_s(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with open_stage(tmp_path, speed=0) as whole:
        for status in STATUSES:
            stage, line = breaking(whole)
            line.fault = lambda _, status=status: answer(status)
            caplog.clear()
            async with open_test_desk(stage) as desk:
                begun = stage.clock.now()
                state = await until(
                    desk, lambda s: s.service.phase is Phase.OFFLINE, stage, step_s=0.25, tries=20
                )
                assert stage.clock.now() - begun <= WITHIN_S, status
                check_named(status, state, banner(state, stage.clock.now()), caplog.text)


def check_named(status: int, state: DeskState, shown: str, logged: str) -> None:
    assert "take a moment" not in shown
    for text in (shown, state.service.problem, logged):
        assert f" {status}" in text, (status, text)
        assert "GET /api/" in text, (status, text)
        assert "moved" in text, (status, text)
        assert "\x1b" not in text
    assert "; " in state.service.problem, (status, "what to do")


async def test_a_healthy_probe_does_not_hurry_paths_that_refuse(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as whole:
        stage, line = breaking(whole)
        line.fault = lambda request: None if request.url.path == HEALTH.path else answer(400)
        async with open_test_desk(stage) as desk:
            await until(desk, lambda s: s.service.phase is Phase.OFFLINE, stage)
            asked = len(line.sent)
            await stage.clock.advance(60)
            # Each topic at its own, growing pace.
            assert len(line.sent) - asked < 10 * len(Topic)
            line.fault = lambda _: None
            await until(desk, lambda s: s.service.phase is Phase.ONLINE, stage)


async def test_one_path_that_fails_from_the_start_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with open_stage(tmp_path, speed=0) as whole:
        stage, line = breaking(whole)
        line.fault = lambda request: (
            answer(404)
            if request.url.path == POSITIONS.path
            else answer(429)
            if request.url.path == BRIEFING.path
            else None
        )
        async with open_test_desk(stage) as desk:
            await stage.clock.advance(WITHIN_S)
            state = await until(desk, lambda s: len(s.service.failures) == 2, stage, tries=2)
            assert state.service.phase is Phase.ONLINE
            first, *_ = [one for one in banner(state, NOW).splitlines() if "not loaded" in one]
            assert first.startswith("not loaded positions not loaded: refused with 404: we")
            assert f"(GET {POSITIONS.path})" in first
            assert "base address" in first
            assert caplog.text.count(POSITIONS.path) == 1
            assert BRIEFING.path in caplog.text
            line.fault = lambda _: None
            await until(desk, lambda s: not s.service.failures, stage)
            assert "not loaded" not in banner(desk.state, NOW)


async def test_the_screens_show_why_nothing_is_known() -> None:
    problem = (
        "refused with 404: no such path (GET /api/sdk/positions); see whether it still exists, "
        "and whether the base address is right"
    )
    full = sample_state()
    service = replace(
        full.service,
        phase=Phase.OFFLINE,
        last_ok_at=None,
        problem=problem,
        problem_of=Topic.POSITIONS,
        problem_status=404,
    )
    bare = seen_before(DeskState(service=service, polls=full.polls))
    async with running(bare, first="portfolio", size=(80, 24)) as seen:
        await seen.until(lambda: "404" in seen.text)
        shown = " ".join(" ".join(line.split("▏")[0].split()) for line in seen.lines)
        for part in ("refused with 404: no such path", "(GET /api/sdk/positions)", "base address"):
            assert part in shown


def test_a_stale_topic_says_why() -> None:
    full = sample_state()
    service = replace(full.service, failures={Topic.ACCOUNT: "refused with 409: locked"})
    seen = {topic: Timestamp(NOW) for topic in Topic}
    state = replace(full, service=service, seen={**seen, Topic.ACCOUNT: Timestamp(NOW - 41)})
    assert "stale account 41s old; r refreshes: refused with 409: locked" in banner(state, NOW)
    service = replace(service, failures={Topic.MARKETS: "refused with 409: locked"})
    old = replace(full, service=service, seen={**seen, Topic.MARKETS: Timestamp(NOW - 41)})
    assert "stale markets 41s old; r refreshes: refused" in banner(old, NOW)
