"""Drills at the shell: checked, listed, exported, and what is left behind."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from service_tui.commands import drill as command
from service_tui.commands.drill import SHOWN_MAX, DrillError
from service_tui.desk.slices.drill import DrillLine, DrillResult
from service_tui.drills.courses import Course
from service_tui.drills.play import Game
from service_tui.drills.results import as_json, as_text
from service_tui.drills.shipped import scenario_named
from service_tui.drills.stage import Ramp, market_id_of
from service_tui.storage.errors import Holder, StorageError
from service_tui.units import ONE, Micros, Timestamp


def result(run: str, name: str = "dam", score: int | None = 53) -> DrillResult:
    return DrillResult(
        run=run, name=name, title="The dam", ended_at=Timestamp(5.0), minutes=10, played_s=125.0,
        figure="equity", currency="$SIM", yours=Micros(9_000 * ONE), best=Micros(10_250 * ONE),
        worst=Micros(9_500 * ONE), score=score, lines=(DrillLine(12.0, "you", "halt"),),
    )  # fmt: skip


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[DrillResult]:
    results: list[DrillResult] = []
    scenario = SimpleNamespace(name="dam", title="The dam", minutes=9)
    monkeypatch.setattr(command, "kept_results", lambda folder: results if folder else [])
    monkeypatch.setattr(command, "shipped_scenarios", lambda: (scenario,))
    return results


def test_below_each_drill_are_its_last_results(kept: list[DrillResult]) -> None:
    kept += [
        result("r1"), result("r2", score=None), result("r3", "own"), result("r4", "own", score=0)
    ]  # fmt: skip

    assert command.listed(Path("/d")) == [
        "dam                 9 min  The dam",
        "    score  53  cost    1,250.00 $SIM  r1",
        "    score   -  cost    1,250.00 $SIM  r2",
        "own                        a file of your own",
        "    score  53  cost    1,250.00 $SIM  r3",
        "    score   0  cost    1,250.00 $SIM  r4",
    ]


def test_of_many_results_the_older_ones_are_counted(kept: list[DrillResult]) -> None:
    kept += [result(f"r{number}") for number in range(SHOWN_MAX)]
    assert len(command.listed(Path("/d"))) == 1 + SHOWN_MAX

    kept += [result("old"), result("older")]
    lines = command.listed(Path("/d"))

    assert len(lines) == 2 + SHOWN_MAX
    assert [line.split()[-1] for line in lines[1:-1]] == [
        f"r{number}" for number in range(SHOWN_MAX)
    ]
    assert lines[-1] == "    2 older"


def test_the_list_for_programs_has_drills_and_results(kept: list[DrillResult]) -> None:
    kept.append(result("r1"))

    (text,) = command.listed_json(Path("/d"))

    found = json.loads(text)
    assert found["drills"] == [{"name": "dam", "title": "The dam", "minutes": 9}]
    assert found["results"] == [json.loads(as_json(kept[0]))]


@pytest.mark.parametrize(("name", "form"), [("r.json", as_json), ("r.txt", as_text)])
def test_a_result_is_written_as_its_file_is_named(
    kept: list[DrillResult], tmp_path: Path, name: str, form: Any
) -> None:
    kept += [result("r1", score=1), result("r2")]

    command.export(tmp_path, "r2", tmp_path / name)

    assert (tmp_path / name).read_text() == form(kept[1])


def test_what_cannot_be_exported_is_named(kept: list[DrillResult], tmp_path: Path) -> None:
    there = tmp_path / "there.txt"
    there.write_text("mine")
    with pytest.raises(DrillError, match="no run 'r9'; none is kept yet"):
        command.export(tmp_path, "r9", there)

    kept.append(result("r1"))
    with pytest.raises(DrillError, match="no run 'r9'; the newest is r1"):
        command.export(tmp_path, "r9", there)
    with pytest.raises(DrillError, match=r"cannot write .*there\.txt: File exists"):
        command.export(tmp_path, "r1", there)
    assert there.read_text() == "mine"


def test_only_worlds_that_nobody_plays_in_are_removed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "drills"
    command.remove_leftovers(tmp_path)
    for name in ("dead", "played", "strange", "results", "away"):
        (folder / name).mkdir(parents=True)
    (folder / "away").rename(tmp_path / "away")
    (folder / "link").symlink_to(tmp_path / "away")
    (folder / "file").touch()

    def holder_of(path: Path) -> Holder | None:
        assert path.name == command.WORLD
        if path.parent.name == "strange":
            raise StorageError("cannot be read")
        return Holder(7, 1.0, None) if path.parent.name == "played" else None

    monkeypatch.setattr(command, "holder_of", holder_of)

    command.remove_leftovers(tmp_path)

    left = {path.name for path in folder.iterdir()}
    assert left == {"played", "strange", "results", "link", "file"}
    assert (tmp_path / "away").is_dir()


@pytest.mark.slow
def test_a_check_plays_the_best_course_the_worst_one_and_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scenario = scenario_named("lying-feed")
    played: list[Any] = []

    async def play_course(_: object, rows: Any, folder: Path) -> Course:
        played.append((rows, folder.name))
        undone = tuple((row, "too late") for row in rows[:1])
        return Course(Micros(1_000 * ONE * (3 - len(played))), (), undone)

    monkeypatch.setattr(command, "play_course", play_course)

    lines = command.checked("lying-feed")

    assert played == [(scenario.best, "0"), (scenario.worst, "1"), ((), "2")]
    assert lines[0].startswith("lying-feed: best 2,000.00, worst 1,000.00 $")
    assert lines[1].startswith("lying-feed: doing nothing 0.00 $")
    best = scenario.best[0]
    assert lines[2].startswith(f"lying-feed: line {best.line}: no effect at ")
    assert lines[2].endswith(f"{best.describe()}: too late")
    assert lines[3].startswith(f"lying-feed: line {scenario.worst[0].line}: no effect at ")
    assert len(lines) == 4


def test_a_drill_that_is_none_is_refused() -> None:
    with pytest.raises(DrillError, match="no such drill"):
        command.checked("nope")


def ended(game: Game) -> list[str]:
    return list(command._ended(game))


def test_the_shell_shows_how_a_drill_ended(tmp_path: Path) -> None:
    game = SimpleNamespace(result=None, scenario=SimpleNamespace(title="The dam"), home=tmp_path)
    left: Any = game
    assert ended(left) == ["The dam: left before its end, nothing kept"]

    game.result = result("r1")
    lines = ended(left)

    assert lines[0] == "The dam"
    assert lines[-1] == f"  kept   {tmp_path}/drills/results/r1.txt"
    assert len(lines) > 2


def test_a_ramp_goes_evenly_from_one_price_to_the_next() -> None:
    ramp = Ramp(start=0.2, since=10.0, to=0.6, until=30.0)

    prices = [ramp.price_at(at_s) for at_s in (10.0, 15.0, 20.0, 30.0, 40.0)]

    assert prices == pytest.approx([0.2, 0.3, 0.4, 0.6, 0.6])


def test_a_market_of_a_scenario_has_the_same_id_each_time() -> None:
    one, other = scenario_named("flash-crash"), scenario_named("flash-crash")

    first = market_id_of(one, "dam")

    assert first == market_id_of(other, "dam")
    assert first != market_id_of(one, "other")
    assert [len(part) for part in first.split("-")] == [8, 4, 4, 4, 12]
    assert (first[14], first[19]) == ("4", "a")
