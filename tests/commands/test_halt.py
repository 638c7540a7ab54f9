"""Halt and resume from the command line: alone in a directory, and beside whoever holds it."""

import asyncio
import io
from pathlib import Path

import pytest

from service_tui.app.halts import kept_halts
from service_tui.app.options import Options
from service_tui.app.ownership import own_directory
from service_tui.cli import main as cli
from service_tui.clock import SystemClock
from service_tui.commands import halt as halt_command
from service_tui.desk.slices.halt import newest
from service_tui.storage.action_log import FILE, verify
from service_tui.storage.action_log import newest as log_lines

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
def test_any_other_word_resumes_nothing_and_opens_nothing(
    tmp_path: Path, word: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "_start_log", lambda *_: None)
    monkeypatch.setattr("sys.stdin", io.StringIO(word))
    assert cli.run(["resume", "--data-dir", str(tmp_path / "d")]) == cli.CANNOT
    assert "the word is RESUME" in capsys.readouterr().err
    assert not (tmp_path / "d" / "desk.sqlite3").exists()


@pytest.mark.slow
def test_the_doors_answer_by_their_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = []

    def answers(options: Options) -> halt_command.HaltReport:
        given.append(options.data_dir)
        return halt_command.HaltReport(is_done=False, lines=("missing the service",))

    monkeypatch.setattr(cli, "_start_log", lambda *_: None)
    monkeypatch.setattr(halt_command, "halt", answers)
    assert cli.run(["halt", "--data-dir", str(tmp_path)]) == cli.CANNOT
    assert capsys.readouterr().out == "missing the service\n"
    assert given == [tmp_path]


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
