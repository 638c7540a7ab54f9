"""One session for all callers of the server: whose turn it is, and what ends with whom."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from service_tui.autoresearch.errors import ToolError
from service_tui.commands.research_server import SharedSession


@dataclass
class Opened:
    """How often a session was opened and closed, and what opening it meets."""

    problems: list[Exception] = field(default_factory=list)
    sessions: list[object] = field(default_factory=list)
    closed: int = 0

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Any]:
        if self.problems:
            raise self.problems.pop(0)
        self.sessions.append(object())
        try:
            yield self.sessions[-1]
        finally:
            self.closed += 1


@asynccontextmanager
async def shared(opened: Opened) -> AsyncGenerator[tuple[SharedSession, asyncio.TaskGroup]]:
    async with asyncio.TaskGroup() as tasks:
        made = SharedSession(opened.open, tasks)
        keeping = tasks.create_task(made.keep())
        yield made, tasks
        keeping.cancel()


def saying(answer: object) -> Callable[[Any], Awaitable[Any]]:
    async def work(_: object) -> Any:
        await asyncio.sleep(0)
        return answer

    return work


async def test_one_session_is_opened_for_all_callers_and_closed_with_the_server() -> None:
    opened = Opened()
    async with shared(opened) as (it, tasks):
        first, second = (tasks.create_task(it.session()) for _ in range(2))
        assert await first is await second is await it.session()
        assert (len(opened.sessions), opened.closed) == (1, 0)
    assert opened.closed == 1


async def test_a_session_that_cannot_be_opened_is_tried_at_the_next_call() -> None:
    opened = Opened([ToolError("no repository", "make one")])
    async with shared(opened) as (it, _):
        with pytest.raises(ToolError, match="no repository"):
            await it.run_in_turn(saying("never"), may_stop=True)
        assert await it.run_in_turn(saying("done"), may_stop=True) == "done"
    assert len(opened.sessions) == 1


async def test_calls_run_one_after_the_other_on_the_session() -> None:
    opened, steps = Opened(), list[str]()

    def stepping(name: str) -> Callable[[Any], Awaitable[Any]]:
        async def work(session: object) -> Any:
            assert session is opened.sessions[0]
            steps.append(f"{name} begins")
            for _ in range(3):
                await asyncio.sleep(0)
            steps.append(f"{name} ends")
            return name

        return work

    async with shared(opened) as (it, tasks):
        calls = [
            tasks.create_task(it.run_in_turn(stepping(name), may_stop=True))
            for name in ("one", "two")
        ]
        assert [await call for call in calls] == ["one", "two"]
        assert it._running == {}
    assert steps == ["one begins", "one ends", "two begins", "two ends"]


async def test_an_error_is_its_callers_and_no_end_of_the_others() -> None:
    async def fails(_: object) -> Any:
        raise ValueError("mine")

    async with shared(Opened()) as (it, _):
        with pytest.raises(ValueError, match="mine"):
            await it.run_in_turn(fails, may_stop=False)
        assert await it.run_in_turn(saying("yours"), may_stop=False) == "yours"


@pytest.mark.parametrize("may_stop", [True, False])
async def test_a_caller_that_goes_ends_its_work_unless_a_result_is_half_stored(
    *, may_stop: bool
) -> None:
    began, goes_on, ends = asyncio.Event(), asyncio.Event(), list[str]()

    async def work(_: object) -> Any:
        began.set()
        try:
            await goes_on.wait()
        except asyncio.CancelledError:
            ends.append("cut off")
            raise
        ends.append("whole")

    async with shared(Opened()) as (it, tasks):
        call = tasks.create_task(it.run_in_turn(work, may_stop=may_stop))
        await began.wait()
        call.cancel()
        await asyncio.wait([call])
        goes_on.set()
        assert await it.run_in_turn(saying("next"), may_stop=True) == "next"
        assert ends == ["cut off" if may_stop else "whole"]


async def test_at_the_end_what_may_stop_is_cut_off_and_a_result_is_waited_for() -> None:
    goes_on, ends = asyncio.Event(), list[str]()

    async def storing(_: object) -> Any:
        await goes_on.wait()
        ends.append("stored")

    async def reading(_: object) -> Any:
        ends.append("never")

    async with shared(Opened()) as (it, tasks):
        store = tasks.create_task(it.run_in_turn(storing, may_stop=False))
        read = tasks.create_task(it.run_in_turn(reading, may_stop=True))
        while len(it._running) < 2:
            await asyncio.to_thread(int)
        finishing = tasks.create_task(it.finish())
        await asyncio.sleep(0)
        goes_on.set()
        await asyncio.wait([finishing, store, read])
        assert read.cancelled()
    assert ends == ["stored"]


async def test_a_tool_is_called_by_its_name_with_what_was_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def call(session: object, given: object) -> object:
        return session, given

    tools = [SimpleNamespace(name=one, call=call, may_stop=one == "log") for one in ("init", "log")]
    async with shared(opened := Opened()) as (it, _):
        monkeypatch.setattr(it, "tools", lambda: asyncio.sleep(0, tools))
        assert await it.do("log", {"a": 1}) == (opened.sessions[0], {"a": 1})
        with pytest.raises(ToolError) as refused:
            await it.do("lag", {})
        assert "no tool lag" in str(refused.value)
        assert "init, log" in str(refused.value)
