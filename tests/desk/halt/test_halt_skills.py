"""A halt at a service that keeps none: the agents of skills are paused, by their own keys."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx
import pytest

from kit.desk.faults import Line, breaking, ready, said, until
from kit.service.stage import Stage, first_state, open_stage, open_test_desk
from service_tui.desk.agents.skill_home import SkillHome
from service_tui.desk.agents.stored_leash import StoredLeash
from service_tui.desk.commands.halt import Halt, Resume
from service_tui.desk.desk import Desk
from service_tui.desk.slices.halt import AckState, HaltedAgent, kept_halt
from service_tui.desk.state import DeskState
from service_tui.engine.agents.agents import Agent
from service_tui.server.embedded import BASE_URL
from service_tui.terms import LeashMode
from service_tui.wire.agents import RegisterRequest
from service_tui.wire.endpoints.public import REGISTER

SETTINGS = "/api/sdk/user/settings"
NAMES = ("heron", "gull")


@dataclass
class Far:
    """A service that keeps no halt as far as the desk knows, and the agents of two skills."""

    stage: Stage
    line: Line
    keys: dict[str, str] = field(default_factory=dict)

    def agent(self, name: str) -> Agent:
        return next(one for one in self.stage.world.agents.values() if one.settings.name == name)

    def is_paused(self, name: str) -> bool:
        return self.agent(name).settings.trading_paused

    def of(self, name: str) -> Callable[[httpx.Request], bool]:
        """Whether a call is in this agent's name."""
        bearer = f"Bearer {self.keys[name]}"
        return lambda request: request.headers.get("authorization") == bearer

    async def run_skills(self, desk: Desk) -> None:
        """Open a way for both, as the handler of skills does."""
        lines = desk._supervision._lines
        for name, key in self.keys.items():
            leash = StoredLeash(self.agent(name).agent_id, name, "gauge", LeashMode.AUTO)
            await lines.open(f"run-{name}", leash, key)


@asynccontextmanager
async def far(path: Path) -> AsyncGenerator[Far]:
    async with open_stage(path, speed=0) as whole:
        stage, line = breaking(whole)
        it, home = Far(stage, line), SkillHome(path)
        for name in NAMES:
            made = (await stage.client.call(REGISTER, body=RegisterRequest(name=name))).answer
            it.keys[name] = made.api_key
            await asyncio.to_thread(home.keep_key, made.agent_id, BASE_URL, made.api_key)
        line.sent.clear()
        yield it


@asynccontextmanager
async def desk_on(it: Far, *, read_only: bool = False) -> AsyncGenerator[Desk]:
    state = first_state(read_only=read_only)
    remote = replace(state, service=replace(state.service, embedded=False, label="host"))
    async with open_test_desk(it.stage, remote) as desk:
        await until(desk, ready, it.stage)
        yield desk


def acks(state: DeskState) -> dict[str, tuple[AckState, str]]:
    assert state.halt is not None
    return {ack.what: (ack.state, ack.detail) for ack in state.halt.acks}


def acked(state: DeskState) -> bool:
    return state.halt is not None and not state.halt.missing


def resumed(state: DeskState) -> bool:
    return state.halted_since is None


@pytest.mark.slow
async def test_each_agent_of_a_skill_is_paused_and_only_what_the_halt_set_is_lifted(
    tmp_path: Path,
) -> None:
    async with far(tmp_path) as it, desk_on(it) as desk:
        await it.run_skills(desk)
        it.agent("gull").change({"trading_paused": True})
        desk.submit(Halt())
        state = await until(desk, acked, it.stage)
        told = acks(state)
        assert told["heron paused by the service"] == (AckState.DONE, "")
        assert told["gull paused by the service"] == (AckState.DONE, "already paused before")
        assert told["no open buys of skills on this desk's leash"][1] == "none open"
        assert it.is_paused("heron")
        assert not any(one.url.path.startswith("/api/desk") for one in it.line.sent)
        desk.submit(Resume("RESUME"))
        state = await until(desk, resumed, it.stage)
        assert [it.is_paused(name) for name in NAMES] == [False, True]
        assert not it.stage.agent.settings.trading_paused
        words = "gull stays paused: already paused at the service before the halt"
        assert words in [one.text for one in state.notices]


@pytest.mark.slow
async def test_a_service_that_fails_at_first_is_asked_again_also_after_a_restart(
    tmp_path: Path,
) -> None:
    async with far(tmp_path) as it:
        it.agent("gull").change({"trading_paused": True})
        down = it.of("gull")
        it.line.fault = lambda one: said({"error": "broken"}, 503) if down(one) else None
        async with desk_on(it) as desk:
            await it.run_skills(desk)
            desk.submit(Halt())
            state = await until(desk, lambda s: s.halt.missing == 2, it.stage)
            state = await until(
                desk, lambda s: all(one.tries > 2 for one in s.halt.acks[-2:]), it.stage
            )
            told = acks(state)
            assert told["heron paused by the service"][0] is AckState.DONE
            assert told["gull paused by the service"] == (
                AckState.FAILED, "service answered 503 to gull",
            )  # fmt: skip
            assert it.is_paused("heron")
        # The skills have ended with the desk: the halt itself knows whom it has to tell.
        async with desk_on(it) as desk:
            state = await until(desk, lambda s: s.halt.acks[-2].tries > 0, it.stage)
            assert state.halt.agents == (
                HaltedAgent(it.agent("heron").agent_id, "heron", was_paused=False),
                HaltedAgent(it.agent("gull").agent_id, "gull"),
            )
            it.line.fault = lambda _: None
            state = await until(desk, acked, it.stage)
            assert [one.was_paused for one in state.halt.agents] == [False, True]
        async with desk_on(it) as desk:
            await until(desk, acked, it.stage)
            desk.submit(Resume("RESUME"))
            await until(desk, resumed, it.stage)
            assert [it.is_paused(name) for name in NAMES] == [False, True]
        async with desk_on(it) as desk:
            assert desk.state.halt is None


@pytest.mark.slow
async def test_a_service_that_never_said_how_an_agent_was_is_not_quoted_as_if(
    tmp_path: Path,
) -> None:
    async with far(tmp_path) as it:
        heron, silent = it.of("heron"), {"auto_risk_monitor_enabled": True}
        it.line.fault = lambda one: (
            said(silent, content_type="application/json")
            if heron(one) and one.method == "GET" and one.url.path == SETTINGS
            else None
        )
        async with desk_on(it) as desk:
            await it.run_skills(desk)
            desk.submit(Halt())
            state = await until(desk, acked, it.stage)
            told = acks(state)["heron paused by the service"]
            assert told == (AckState.DONE, "earlier state unknown")
        # What was unsaid is kept as that.
        async with desk_on(it) as desk:
            await until(desk, acked, it.stage)
            desk.submit(Resume("RESUME"))
            state = await until(desk, resumed, it.stage)
            told = [one.text for one in state.notices if one.text.startswith("heron")]
            words = "pause before the halt unknown"
            assert told == [f"heron stays paused: {words}; check its settings at the service"]
            assert [it.is_paused(name) for name in NAMES] == [True, False]


def test_a_halt_that_an_older_program_wrote_is_read() -> None:
    kept = kept_halt('{"on": true, "at": 5.0, "was_paused": false, "agents": [["a", "x", true]]}')
    assert kept is not None
    assert kept.agents == (HaltedAgent("a", "x", was_paused=True),)
    also = replace(kept, agents=(HaltedAgent("b", "y", was_paused=True, is_unsaid=True),))
    assert kept_halt(also.as_text()) == also


@pytest.mark.slow
async def test_a_halt_while_the_pauses_are_lifted_lifts_no_further_one(tmp_path: Path) -> None:
    async with far(tmp_path) as it, desk_on(it) as desk:
        await it.run_skills(desk)
        desk.submit(Halt())
        await until(desk, acked, it.stage)
        heron, gull = it.of("heron"), it.of("gull")
        lifted: list[httpx.Request] = []

        def again(one: httpx.Request) -> httpx.Response | None:
            if one.method == "PATCH" and b"false" in one.content:
                if heron(one) and not lifted:
                    desk.submit(Halt())
                lifted.extend([one] if heron(one) or gull(one) else [])
            return None

        it.line.fault = again
        await desk.submit(Resume("RESUME")).wait()
        assert "not resumed: halted again" in [one.text for one in desk.state.notices]
        await until(desk, acked, it.stage)
        assert len(lifted) == 1
        assert heron(lifted[0])
        assert desk.ports.gate.is_closed
        assert all(it.is_paused(name) for name in NAMES)
