"""A drill as a whole: its own data alone, no venue, the result kept, listed and exported."""

import json
import os
import re
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from kit.console.doors import RecordingDoors, running
from kit.console.drilling import drilling, small
from kit.desk.faults import sell
from kit.samples.desk import NOW, sample_state
from service_tui.cli import main as cli
from service_tui.cli.parser import parse, parser_of
from service_tui.commands import drill as command
from service_tui.commands.drill import DrillError
from service_tui.config import read_environment
from service_tui.console.shell.command_sender import CommandSender
from service_tui.desk.commands.drill import BeginDrill
from service_tui.desk.commands.risk import RemoveMonitor
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.slices.drill import DrillPhase, DrillResult, DrillView
from service_tui.drills import results
from service_tui.drills.courses import options_of
from service_tui.drills.results import advice_for, score_of
from service_tui.drills.scenario import scenario_of
from service_tui.storage.db.lock import DataDirLock
from service_tui.terms import Side, Venue
from service_tui.units import ONE, Micros, Timestamp

SAMPLES = Path(__file__).resolve().parents[1] / "kit" / "samples" / "drills"
DOCS = Path(__file__).resolve().parents[2] / "docs" / "drills.md"


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.slow
async def test_a_drill_touches_nothing_but_its_own_folder_and_reaches_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "desk.sqlite3").write_bytes(b"somebody's own")
    another = home / "drills" / "another"
    another.mkdir(parents=True)
    (another / "note").touch()
    before = files(tmp_path)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a drill opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("WALLET_PRIVATE_KEY", "11" * 32)
    async with drilling(home, small()) as drill:
        await drill.begin()
        assert drill.state.service.label == "embedded"
        assert drill.state.wallet.address == ""
        result = await drill.finish()
    after = files(tmp_path)
    own = {f"home/drills/results/{result.run}{suffix}" for suffix in (".json", ".txt")}
    assert after.keys() - before.keys() == own
    assert {name: after[name] for name in before} == before
    assert {path.name for path in (home / "drills").iterdir()} == {"results", "another"}


def test_the_options_of_a_drill_name_no_service_and_no_key(tmp_path: Path) -> None:
    options = options_of(tmp_path)
    assert (options.url, options.api_key, options.wallet_key, options.listen) == (None,) * 4
    assert options.scripted


@pytest.mark.slow
async def test_the_clock_stands_still_until_the_brief_is_read(tmp_path: Path) -> None:
    async with drilling(tmp_path, small()) as drill:
        await drill.until(lambda state: state.positions_read)
        await drill.press("escape")
        await drill.clock.advance(20.0)
        assert drill.state.drill.phase is DrillPhase.BRIEFING
        assert "not started" in drill.text
        await drill.type("drill")
        assert "Look." in drill.text
        await drill.press("enter")
        await drill.until(lambda state: state.drill.phase is DrillPhase.RUNNING)


@pytest.mark.slow
async def test_a_drill_keeps_its_own_pace(tmp_path: Path) -> None:
    async with drilling(tmp_path, small()) as drill:
        await drill.begin()
        await drill.press("p")
        assert "a drill keeps its own pace" in drill.text
        assert drill.state.world.speed == 1


@pytest.mark.slow
async def test_who_ends_early_gets_no_score(tmp_path: Path) -> None:
    async with drilling(tmp_path, small(), size=(80, 24)) as drill:
        await drill.begin()
        await drill.to("0:40")
        await drill.type("drill end")
        await drill.until(lambda state: state.drill.result is not None)
        result = drill.state.drill.result
        assert result.score is None
        assert 40 <= result.played_s < 45
        assert "No score: ended after 0:4" in drill.text
        assert result.advice == ()


@pytest.mark.slow
async def test_a_result_that_cannot_be_kept_is_shown_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "drills").mkdir()
    (tmp_path / "drills" / "results").touch()
    async with drilling(tmp_path, small()) as drill:
        await drill.begin()
        await drill.type("drill end")
        await drill.until(lambda state: state.drill.result is not None)
        assert drill.state.drill.phase is DrillPhase.OVER
        assert drill.state.drill.kept == ""
        (told,) = (one for one in drill.state.notices if "is not kept" in one.text)
        assert told.text.startswith("the result of the drill is not kept: ")


@pytest.mark.slow
async def test_the_scenario_of_the_documentation_can_be_played(tmp_path: Path) -> None:
    """Written by somebody who has read `docs/drills.md` and nothing else."""
    found = re.search(r"```toml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    async with drilling(tmp_path, scenario_of("slide", found[1])) as drill:
        await drill.begin()
        await drill.to("0:10")
        await drill.trade("sell dam yes all")
        result = await drill.finish()
    assert result.score == 100
    assert result.advice == ()
    assert any(line.who == "you" and "sell all YES" in line.text for line in result.lines)


@pytest.mark.slow
async def test_a_scenario_by_a_newcomer_is_played_by_keys(tmp_path: Path) -> None:
    """Written from `docs/drills.md` alone, by somebody who had not seen the program before."""
    text = (SAMPLES / "rumour.toml").read_text(encoding="utf-8")
    async with drilling(tmp_path, scenario_of("rumour", text)) as drill:
        await drill.begin()
        await drill.to("1:35")
        await drill.trade("sell vaccine yes all")
        result = await drill.finish()
    # The stop has sold the harbour on a false rumour, which the best course avoids.
    assert result.score is not None
    assert 50 < result.score < 100
    assert any("sold on a rumour" in line for line in result.advice)
    assert result.best > result.yours > result.worst


# -- score and advice -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("yours", "best", "worst", "score"),
    [
        (100, 100, 50, 100),
        (50, 100, 50, 0),
        (75, 100, 50, 50),
        (120, 100, 50, 100),
        (20, 100, 50, 0),
        (100, 100, 100, 100),
        (99, 100, 100, 0),
    ],
)
def test_the_score_lies_between_the_courses(yours: int, best: int, worst: int, score: int) -> None:
    assert score_of(Micros(yours * ONE), Micros(best * ONE), Micros(worst * ONE)) == score


def test_advice_is_shown_where_all_its_conditions_hold() -> None:
    one = small(
        advice='[[advice]]\ndid = "sell"\nafter = "1:00"\nbelow = 50\nsay = "late"\n'
        '[[advice]]\nnever = "halt"\nsay = "halt"\n'
    )
    early, late = results.DrillLine(30.0, "you", ""), results.DrillLine(70.0, "you", "")
    assert advice_for(one, [("sell", late)], 40) == ["late", "halt"]
    assert advice_for(one, [("sell", late)], 60) == ["halt"]
    assert advice_for(one, [("sell", early), ("halt", late)], 40) == []


# -- kept, compared, exported ---------------------------------------------------------------------


def result(run: str, score: int | None = 70, name: str = "flash-crash") -> DrillResult:
    return DrillResult(
        run=run,
        name=name,
        title="Flash crash",
        ended_at=Timestamp(1_800_015_000.0),
        minutes=10,
        played_s=600.0,
        figure="equity",
        currency="$SIM",
        yours=Micros(9_900 * ONE),
        best=Micros(10_000 * ONE),
        worst=Micros(9_500 * ONE),
        score=score,
        lines=(results.DrillLine(12.0, "you", "halt"),),
        best_lines=(results.DrillLine(10.0, "you", "sell"),),
        advice=("Wait.",),
    )


def test_a_result_reads_back_as_it_was_kept(tmp_path: Path) -> None:
    one = result("20270115-120000-flash-crash")
    path = results.keep(tmp_path, one)
    assert results.read_result(path) == one
    assert json.loads(path.read_text())["cost"] == 100 * ONE
    (tmp_path / "broken.json").write_text('{"format": 1}')
    assert results.kept_results(tmp_path) == [one]


@pytest.mark.slow
def test_the_list_compares_results_by_drill(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = results.results_folder(tmp_path)
    for run, score, name in (("b", 70, "flash-crash"), ("c", None, "flash-crash"), ("d", 9, "own")):
        results.keep(folder, result(run, score, name))
    assert cli.run(["drill", "--list", "--data-dir", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = next(place for place, line in enumerate(lines) if line.startswith("flash-crash"))
    assert [line.split() for line in lines[at + 1 : at + 3]] == [
        ["score", "-", "cost", "100.00", "$SIM", "c"],
        ["score", "70", "cost", "100.00", "$SIM", "b"],
    ]
    assert lines[-2].startswith("own")
    assert cli.run(["drill", "--list", "--json", "--data-dir", str(tmp_path)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["drills"]) == 7
    assert [one["run"] for one in found["results"]] == ["d", "c", "b"]


def test_of_many_results_of_a_drill_the_older_ones_are_counted(tmp_path: Path) -> None:
    for number in range(7):
        results.keep(results.results_folder(tmp_path), result(f"r{number}", name="own"))
    *_, head, first, second, third, fourth, fifth, last = command.listed(tmp_path)
    assert head == "own                        a file of your own"
    shown = [line.split()[-1] for line in (first, second, third, fourth, fifth)]
    assert (shown, last) == (["r6", "r5", "r4", "r3", "r2"], "    2 older")


@pytest.mark.slow
def test_a_result_is_exported_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results.keep(results.results_folder(tmp_path), result("b"))
    target = tmp_path / "out.txt"
    words = ["drill", "--data-dir", str(tmp_path), "--export", "b", str(target)]
    assert cli.run(words) == 0
    assert "score 70 of 100" in target.read_text()
    assert cli.run(words) == 1
    assert "File exists" in capsys.readouterr().err
    with pytest.raises(DrillError, match="the newest is b"):
        command.export(tmp_path, "x", tmp_path / "other.txt")


@pytest.mark.slow
def test_a_broken_file_is_refused_at_the_shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('title = "x"\nbrief = 3\n')
    assert cli.run(["drill", str(path), "--data-dir", str(tmp_path)]) == 1
    assert "mine.toml: line 2: brief: expected a text" in capsys.readouterr().err


def test_a_drill_takes_no_other_service(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.run(["--url", "https://host", "drill", "flash-crash"])
    assert "drill plays on a world of its own" in capsys.readouterr().err


def test_the_worlds_of_killed_runs_are_removed(tmp_path: Path) -> None:
    dead = tmp_path / "drills" / "20270115-120000-x" / "world"
    dead.mkdir(parents=True)
    (tmp_path / "drills" / "results").mkdir()
    played = tmp_path / "drills" / "played" / "world"
    lock = DataDirLock.acquire(played, pid=1, now=1.0)
    (tmp_path / "away").mkdir()
    (tmp_path / "drills" / "link").symlink_to(tmp_path / "away")
    command.remove_leftovers(tmp_path)
    assert {path.name for path in (tmp_path / "drills").iterdir()} == {"results", "played", "link"}
    assert (tmp_path / "away").is_dir()
    lock.release()


@pytest.mark.slow
def test_a_check_plays_the_best_course_the_worst_one_and_none() -> None:
    best, nothing, *undone = command.checked("lying-feed")
    assert best.startswith("lying-feed: best ")
    assert nothing.startswith("lying-feed: doing nothing ")
    assert undone == []
    with pytest.raises(DrillError, match="no such drill"):
        command.checked("nope")


# -- from a console -------------------------------------------------------------------------------


@pytest.mark.slow
async def test_the_palette_ends_the_console_for_a_drill() -> None:
    async with running(drills=lambda: (("flash-crash", "Crash"),)) as seen:
        await seen.press("ctrl+p", *"crash")
        await seen.until(lambda: "drill: Crash" in seen.text)
        await seen.press("enter")
        await seen.until(lambda: seen.app.drill.next_name == "flash-crash")
    assert seen.doors.was_closed


@pytest.mark.slow
async def test_the_command_line_names_the_drills() -> None:
    async with running(drills=lambda: (("flash-crash", "Crash"),)) as seen:
        await seen.press("colon", *(("space" if one == " " else one) for one in "drill nope"))
        await seen.press("enter")
        assert "No drill 'nope': one of flash-crash" in seen.text


def test_the_drill_replaces_the_console_and_the_console_the_drill(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, argv: started.append(argv[1:]))
    command.replace_by_drill(tmp_path, "flash-crash", ["--data-dir", str(tmp_path), "--seed", "3"])
    (words,) = started
    parsed = parse(parser_of(read_environment({})), words[2:])
    assert (parsed.name, parsed.returns) == (
        "flash-crash",
        ["--data-dir", str(tmp_path), "--seed", "3"],
    )
    command.replace_by_console(parsed.returns)
    assert started[1] == ["-m", "service_tui", "--data-dir", str(tmp_path), "--seed", "3"]


@pytest.mark.slow
async def test_the_head_shows_the_drill_and_its_clock() -> None:
    view = DrillView("x", "Crash", "Brief.", 10, DrillPhase.ENDING)
    state = replace(sample_state(), drill=view)
    async with running(replace(state, preferences={"welcome": "seen"})) as seen:
        assert " DRILL  Crash working out the result" in seen.text


def test_nothing_is_sent_before_the_clock_of_a_drill_runs() -> None:
    view = DrillView("d", "D", "read", 5)
    before = replace(sample_state(), drill=view)
    running = replace(before, drill=replace(view, phase=DrillPhase.RUNNING, began_at=NOW))
    sender, given = CommandSender(), RecordingDoors(before)
    sender.open(given)
    sale = sell(before.positions[0], 10 * ONE)
    for one in (sale, RemoveMonitor(before.positions[0].market_id, Side.YES, Venue.SIM)):
        assert "the drill has not begun" in sender.give(one, before, NOW)
    assert given.submitted == []
    for one in (BeginDrill(), SetPreference("theme", "paper")):
        assert sender.give(one, before, NOW) == ""
    assert sender.give(sale, running, NOW) == ""
    assert len(given.submitted) == 3
