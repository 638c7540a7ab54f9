"""Halt and resume from the command line: alone in a directory, and beside whoever holds it."""

import asyncio
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kit.command_line import ran
from kit.desk.shown import ShownDesk
from kit.samples.filled import filled
from kit.samples.whole import whole_desk
from service_tui.app.halts import kept_halts
from service_tui.app.options import Options
from service_tui.app.ownership import own_directory
from service_tui.cli import main as cli
from service_tui.clock import SystemClock
from service_tui.commands import halt as halt_command
from service_tui.commands.halt import (
    KEPT,
    NO_ANSWER,
    NOTHING,
    HaltReport,
    halt_on,
    resume_on,
)
from service_tui.desk.commands.halt import Halt, Resume
from service_tui.desk.slices.halt import AckState, AckView, HaltView, newest
from service_tui.desk.slices.notices import Notice
from service_tui.desk.state import DeskState, Topic
from service_tui.storage.action_log import FILE, verify
from service_tui.storage.action_log import newest as log_lines
from service_tui.units import Timestamp

ACKS = 6


def options_of(folder: Path) -> Options:
    return Options(data_dir=folder, config_dir=folder / "c", log_path=folder / "log", seed=7)


@pytest.mark.slow
def test_a_halt_of_a_directory_that_nobody_holds_is_there_at_the_next_start(tmp_path: Path) -> None:
    options = options_of(tmp_path)
    halted = halt_command.halt(options)
    assert halted.is_done
    assert [line[:8] for line in halted.lines] == ["ok      "] * ACKS
    assert newest(kept_halts(tmp_path)) is not None
    resumed = halt_command.resume(options)
    assert (resumed.is_done, resumed.lines) == (True, ("resumed: buys allowed",))
    assert newest(kept_halts(tmp_path)) is None
    assert halt_command.resume(options) == halt_command.HaltReport(
        is_done=True, lines=(halt_command.NOTHING,)
    )


def test_a_halt_that_could_be_kept_nowhere_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    folder.chmod(0o777)
    report = halt_command.halt(options_of(folder))
    assert not report.is_done
    assert report.lines[-1] == halt_command.UNKEPT
    folder.chmod(0o700)
    assert halt_command.halt(options_of(folder)).lines[-1] != halt_command.UNKEPT


@pytest.mark.slow
async def test_beside_a_holder_its_service_is_halted_and_resumed(tmp_path: Path) -> None:
    options = options_of(tmp_path)
    async with own_directory(options, SystemClock()) as held:
        world = held.sim.service.world
        halted = await asyncio.to_thread(halt_command.halt, options)
        assert halted.is_done
        assert world.halt.since is not None
    async with own_directory(options, SystemClock()) as held:
        world = held.sim.service.world
        assert world.halt.since is not None
        resumed = await asyncio.to_thread(halt_command.resume, options)
        assert resumed.is_done
        assert world.halt.since is None
    # Another one's word counts over whatever this directory's own database remembers.
    async with own_directory(options, SystemClock()) as held:
        assert held.sim.service.world.halt.since is None


@pytest.mark.slow
async def test_a_halt_that_only_another_console_has_kept_is_carried_out_by_a_holder(
    tmp_path: Path,
) -> None:
    elsewhere = options_of(tmp_path / "attached" / "1")
    assert (await asyncio.to_thread(halt_command.halt, elsewhere)).is_done
    async with own_directory(options_of(tmp_path), SystemClock()) as held:
        for _ in range(3_000):
            if held.sim.service.world.halt.since is not None:
                return
            await asyncio.sleep(0.01)
    raise AssertionError("the halt never came to the service")


@pytest.mark.parametrize("word", ["", "resume\n", "RESUME!\n", "yes\n"])
def test_any_other_word_resumes_nothing_and_opens_nothing(tmp_path: Path, word: str) -> None:
    done = ran(["resume", "--data-dir", str(tmp_path / "d")], typed=word)
    assert (done.code, "the word is RESUME" in done.err) == (cli.CANNOT, True)
    assert not (tmp_path / "d" / "desk.sqlite3").exists()


@pytest.mark.slow
def test_a_halt_names_its_desk_and_is_not_done_where_a_shared_one_is_named(tmp_path: Path) -> None:
    shared = {**os.environ, "SERVICE_TUI_DATABASE": "postgresql://desk@db.example/desk"}
    shared |= {"XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    done = ran(["halt"], environ=shared)
    assert done.code == cli.CANNOT
    assert done.out.startswith(f"halt of the desk of {tmp_path}")
    assert "missing the shared desk. SERVICE_TUI_DATABASE" in done.out
    assert "db.example" not in done.out
    # A directory that is named is what was meant.
    named = ran(["halt", "--data-dir", str(tmp_path / "own")], environ=shared)
    assert (named.code, "missing" in named.out) == (cli.OK, False)
    for words in (["people", "list"], ["mcp"]):
        refused = ran(words, environ=shared)
        assert (refused.code, "Put the address" in refused.err) == (cli.CANNOT, True)


@pytest.mark.slow
@pytest.mark.process
def test_a_halt_that_cannot_be_printed_is_carried_out(tmp_path: Path) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "service_tui", "halt", "--data-dir", str(tmp_path)],
            stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
    assert done.returncode != 0
    assert newest(kept_halts(tmp_path)) is not None


@pytest.mark.slow
def test_the_command_line_halts_and_resumes_a_directory(tmp_path: Path) -> None:
    where = ["--data-dir", str(tmp_path), "--seed", "7"]
    halted = ran(["halt", *where])
    assert (halted.code, halted.out.count("ok      ")) == (cli.OK, ACKS)
    resumed = ran(["resume", *where], typed=" RESUME \n")
    assert (resumed.code, resumed.out) == (cli.OK, "resumed: buys allowed\n")
    # A desk that is halted on a service that does not answer says so by its code.
    away = ["--url", "http://127.0.0.1:9", "--data-dir", str(tmp_path / "away")]
    alone = ran(["halt", *away], environ={**os.environ, "SERVICE_API_KEY": "sk_live_" + "k" * 24})
    assert (alone.code, KEPT in alone.out) == (cli.CANNOT, True)


@pytest.mark.slow
async def test_a_halt_beside_a_holder_stands_in_the_log_of_the_directory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = options_of(tmp_path)
    path = tmp_path / FILE
    words = ["log", "verify", "--data-dir", str(tmp_path)]
    assert cli.run(words) == cli.OK
    assert "nothing logged" in capsys.readouterr().out
    async with own_directory(options, SystemClock()):
        await asyncio.to_thread(halt_command.halt, options)
        assert verify(path).count > 0
        await asyncio.to_thread(halt_command.resume, options)
    said = {(line.entry["who"], line.entry["kind"]) for line in log_lines(path, 100)}
    assert {("person", "halt"), ("person", "resume")} <= said
    assert cli.run(words) == cli.OK
    assert "log verified" in capsys.readouterr().out


def ack(what: str, state: AckState, detail: str = "") -> AckView:
    return replace(filled(AckView, 1), what=what, state=state, detail=detail)


BEFORE = replace(whole_desk(), halt=None)


def halted(*acks: AckView) -> DeskState:
    return replace(BEFORE, halt=replace(HaltView(Timestamp(5.0)), acks=acks))


async def test_a_halt_tells_each_acknowledgement_and_is_done_with_the_last() -> None:
    waiting = halted(ack("the service", AckState.DONE), ack("two skills", AckState.WAITING))
    done = halted(ack("the service", AckState.DONE, "in 3 ms"), ack("two skills", AckState.DONE))
    desk: Any = ShownDesk(BEFORE, waiting, done)
    assert await halt_on(desk) == HaltReport(
        is_done=True, lines=("ok      the service (in 3 ms)", "ok      two skills")
    )
    assert desk.submitted == [Halt()]


async def test_a_halt_that_misses_somebody_says_that_it_holds_here() -> None:
    failed = halted(
        ack("the service", AckState.FAILED, "no answer"), ack("skills", AckState.WAITING),
        ack("own orders", AckState.DONE),
    )  # fmt: skip
    desk: Any = ShownDesk(BEFORE, failed)
    lines = ("missing the service (no answer)", "missing skills", "ok      own orders", KEPT)
    assert await halt_on(desk) == HaltReport(is_done=False, lines=lines)


def resting(*, since: float | None, embedded: bool = True, notices: Any = ()) -> DeskState:
    one = replace(
        BEFORE,
        service=replace(BEFORE.service, embedded=embedded),
        notices=tuple(notices),
        seen=dict.fromkeys((Topic.WORLD if embedded else Topic.ACCOUNT,), Timestamp(1.0)),
    )
    return one if since is None else replace(one, halt=HaltView(Timestamp(since)))


OLD = Notice(4, "info", "resumed an hour ago")


@pytest.mark.parametrize("embedded", [True, False])
async def test_where_nothing_is_halted_nothing_is_sent(*, embedded: bool) -> None:
    desk: Any = ShownDesk(resting(since=None, embedded=embedded))
    assert await resume_on(desk) == HaltReport(is_done=True, lines=(NOTHING,))
    assert desk.submitted == []


async def test_a_halt_ends_with_the_notice_of_it() -> None:
    new = [OLD, Notice(5, "good", "resumed: 2 skills run"), Notice(6, "info", "a price moved")]
    desk: Any = ShownDesk(resting(since=5.0, notices=[OLD]), resting(since=None, notices=new))
    assert await resume_on(desk) == HaltReport(is_done=True, lines=("resumed: 2 skills run",))
    assert desk.submitted == [Resume("RESUME")]


async def test_a_refused_end_is_told_and_the_halt_stands() -> None:
    new = [OLD, Notice(5, "bad", "not resumed: the service refuses")]
    desk: Any = ShownDesk(resting(since=5.0, notices=[OLD]), resting(since=5.0, notices=new))
    found = await resume_on(desk)
    assert found == HaltReport(is_done=False, lines=("not resumed: the service refuses",))


async def test_a_service_without_an_answer_resumes_nothing() -> None:
    silent = replace(resting(since=5.0, notices=[OLD]), seen={})
    desk: Any = ShownDesk(silent)
    assert await resume_on(desk) == HaltReport(is_done=False, lines=(NO_ANSWER,))
    assert desk.submitted == [Resume("RESUME")]
    # Nobody knows whether anything is halted there.
    unknown: Any = ShownDesk(replace(resting(since=None), seen={}))
    await resume_on(unknown)
    assert unknown.submitted == [Resume("RESUME")]
