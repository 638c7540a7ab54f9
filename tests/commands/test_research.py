"""Autoresearch on the service of a data directory, whoever serves it."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from kit.terminal.research import SKILL, new_repository
from service_tui.app.attached import address_of
from service_tui.app.closed import only_reason
from service_tui.app.options import Options
from service_tui.app.ownership import own_directory
from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.session import Session
from service_tui.clock import ManualClock
from service_tui.commands.research_arguments import ResearchRequest
from service_tui.commands.research_opening import opened
from service_tui.commands.research_server import SharedSession
from service_tui.credentials.api_keys import DESK_FILE
from service_tui.storage.db.lock import holder_of
from service_tui.storage.errors import StorageError
from service_tui.terms import ExperimentStatus
from service_tui.wire.research_tools import InitArguments, LogArguments, RunArguments

pytestmark = pytest.mark.process


FIRST = InitArguments(name="first", skill_slug=SKILL, metric_name="score")
ROUNDS = 4_000


def options(path: Path) -> Options:
    return Options(path / "data", path / "config", path / "log", seed=7, speed=0)


@asynccontextmanager
async def time_passing(clock: ManualClock) -> AsyncGenerator[asyncio.Event]:
    """Time goes by while the body waits for something, and the event is set."""
    passes = asyncio.Event()
    passes.set()

    async def pass_by() -> None:
        while True:
            await passes.wait()
            await clock.advance(0.1)
            await asyncio.sleep(0.001)

    async with asyncio.TaskGroup() as tasks:
        passing = tasks.create_task(pass_by())
        yield passes
        passing.cancel()


async def until(is_so: Callable[[], object]) -> None:
    for _ in range(ROUNDS):
        if is_so():
            return
        await asyncio.sleep(0.01)
    raise AssertionError


async def log(session: Session, number: int) -> list[object]:
    said = await session.log(
        LogArguments(status=ExperimentStatus.KEEP, metric=float(number), description="tried")
    )
    assert said["experiment"] == number
    warnings = said["warnings"]
    assert isinstance(warnings, list)
    return warnings


@pytest.mark.slow
async def test_the_next_holder_is_found_and_where_there_is_none_it_is_this(
    tmp_path: Path,
) -> None:
    clock, asked = ManualClock(), options(tmp_path)
    repository = new_repository(tmp_path / "skill")
    async with time_passing(clock) as passes, AsyncExitStack() as console:
        await console.enter_async_context(own_directory(asked, clock))
        first = address_of(asked.data_dir)
        request = ResearchRequest(folder=repository, cap=50, allows_shell=True)
        async with opened(asked, request, clock) as session:
            await session.init(FIRST)
            assert await log(session, 1) == []
            # The console ends and another takes over, which serves at another address.
            passes.clear()
            await console.aclose()
            await console.enter_async_context(own_directory(asked, clock))
            passes.set()
            assert address_of(asked.data_dir) != first
            assert await log(session, 2) == []
            # That one ends as well, and nobody comes before the next entry.
            passes.clear()
            await console.aclose()
            waiting = await log(session, 3)
            assert any("it waits in" in str(one) for one in waiting)
            passes.set()
            await until(lambda: address_of(asked.data_dir))
            assert await log(session, 4) == []
            found = await session._sender.remote.known(SKILL)
            assert len(found) == 4
            ran = await session.run(RunArguments(command="echo $SERVICE_API_URL"))
            assert str(ran["output"]).strip() == address_of(asked.data_dir)
    assert holder_of(asked.data_dir) is None


@pytest.mark.slow
async def test_a_door_that_is_shut_says_why_and_is_tried_again(tmp_path: Path) -> None:
    clock, asked = ManualClock(), options(tmp_path)
    wish = ResearchRequest(folder=tmp_path / "skill", cap=50)
    async with time_passing(clock), asyncio.TaskGroup() as tasks:
        door = SharedSession(lambda: opened(asked, wish, clock), tasks)
        other = SharedSession(lambda: opened(asked, wish, clock), tasks)
        keeping = tasks.create_task(door.keep())
        with pytest.raises(ToolError, match="is not a folder"):
            await door.session()
        repository = new_repository(tmp_path / "skill")
        session = await door.session()
        assert (await session.init(FIRST))["next_experiment"] == 1
        assert await door.session() is session
        also = tasks.create_task(other.keep())
        with pytest.raises(ToolError, match="another autoresearch server"):
            await other.session()
        keeping.cancel()
        await until(keeping.done)
        assert await other.session() is not session
        also.cancel()
    assert (repository / "autoresearch.jsonl").exists()


@pytest.mark.slow
@pytest.mark.parametrize("may_stop", [True, False])
async def test_what_keeps_a_result_is_finished_though_nobody_waits(
    tmp_path: Path, *, may_stop: bool
) -> None:
    clock, asked = ManualClock(), options(tmp_path)
    wish = ResearchRequest(folder=new_repository(tmp_path / "skill"), cap=50)
    done: list[str] = []
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def work(session: Session) -> dict[str, object]:
        begun.set()
        try:
            await go_on.wait()
        except asyncio.CancelledError:
            done.append("ended")
            raise
        done.append("whole")
        return session.description()

    async with time_passing(clock), asyncio.TaskGroup() as tasks:
        door = SharedSession(lambda: opened(asked, wish, clock), tasks)
        keeping = tasks.create_task(door.keep())
        asking = tasks.create_task(door.run_in_turn(work, may_stop=may_stop))
        await begun.wait()
        asking.cancel()
        await until(asking.done)
        if may_stop:
            await until(lambda: done)
        else:
            assert done == []
        go_on.set()
        # The next one has its turn once that is over.
        assert await door.run_in_turn(work, may_stop=False) == {"session": None}
        await door.finish()
        keeping.cancel()
    assert done == ["ended" if may_stop else "whole", "whole"]


async def test_a_call_that_is_cancelled_while_the_door_opens_ends_no_server() -> None:
    trying, go_on = asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def shut() -> AsyncGenerator[Session]:
        trying.set()
        await go_on.wait()
        raise ToolError("there is no repository", "make one")
        yield

    async def work(session: Session) -> dict[str, object]:
        return session.description()

    async with asyncio.TaskGroup() as tasks:
        door = SharedSession(shut, tasks)
        keeping = tasks.create_task(door.keep())
        asking = tasks.create_task(door.run_in_turn(work, may_stop=True))
        await trying.wait()
        asking.cancel()
        await asyncio.wait((asking,))
        go_on.set()
        with pytest.raises(ToolError, match="there is no repository"):
            await door.run_in_turn(work, may_stop=True)
        assert not keeping.done()
        keeping.cancel()


@pytest.mark.slow
async def test_what_fails_in_a_session_is_not_told_as_a_door_that_stays_shut(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock, asked = ManualClock(), options(tmp_path)
    wish = ResearchRequest(folder=new_repository(tmp_path / "skill"), cap=50)
    full, orderly = StorageError("the disk is full"), ToolError("it is capped", "begin another")
    async with time_passing(clock):
        with pytest.raises((StorageError, ExceptionGroup)) as caught:
            async with opened(asked, wish, clock):
                raise full
        assert only_reason(caught.value) is full
        assert "desk not opened" not in caplog.text
        # An orderly no is that, whatever was open around it.
        with pytest.raises(ToolError) as said:
            async with opened(asked, wish, clock):
                raise orderly
        assert said.value is orderly
        # Only the opening is told in plain words.
        (asked.data_dir / DESK_FILE).write_text("no keys")
        with pytest.raises(ToolError, match=DESK_FILE):
            async with opened(asked, wish, clock):
                pass
    assert "desk not opened" in caplog.text
