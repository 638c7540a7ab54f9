"""The watch on local research sessions: it reads changed files again, and emits only changes."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from kit.desk.offline import Offline
from kit.samples.desk import sample_state
from service_tui.desk.research import files
from service_tui.desk.research.files import LOOK_S, FileWatch
from service_tui.desk.slices.research import FilesSeen, HoldoutView, JudgedView
from service_tui.notes import holdouts, notebook, registry
from service_tui.notes.holdouts import Figures, Holdout, Judgement
from service_tui.notes.registry import RegistryEntry
from service_tui.units import Timestamp

CONFIG = {
    "type": "config", "name": "first", "skillSlug": "ebb", "metricName": "score",
    "metricUnit": "$", "bestDirection": "higher",
}  # fmt: skip


def result(run: int) -> dict[str, Any]:
    return {
        "run": run, "commit": "abc1234", "metric": float(run), "metrics": {}, "status": "keep",
        "description": "tried", "timestamp": 1_800_000_000_000 + run, "segment": 0,
        "confidence": None,
    }  # fmt: skip


@pytest.fixture
def watch(tmp_path: Path) -> FileWatch:
    return FileWatch(tmp_path, Offline(sample_state(6)).ports)


def repository(folder: Path, name: str, *lines: dict[str, Any], pid: int = 0) -> Path:
    place = folder / name
    place.mkdir(exist_ok=True)
    with (place / notebook.FILE).open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    entry = RegistryEntry(str(place), agent_id="a1", skill="ebb", pid=pid)
    registry.write(registry.path_of(folder, place), entry)
    return place


def numbers(source: Any) -> list[int]:
    return [one.number for one in source.experiments]


def test_the_first_look_reads_every_repository_and_later_ones_changed_files_only(
    watch: FileWatch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    really = files._read

    def noted(path: Path) -> notebook.Notes:
        read.append(path.parent.name)
        return really(path)

    monkeypatch.setattr(files, "_read", noted)
    repository(tmp_path, "one", CONFIG, result(1))
    repository(tmp_path, "two", CONFIG, result(2), result(3))
    source = watch.look()
    assert source is not None
    assert (len(source.sessions), sorted(numbers(source))) == (2, [1, 2, 3])
    assert sorted(read) == ["one", "two"]
    assert watch.look() is None
    read.clear()
    with (tmp_path / "two" / notebook.FILE).open("a", encoding="utf-8") as file:
        file.write(json.dumps(result(4)) + "\n")
    source = watch.look()
    assert source is not None
    assert (sorted(numbers(source)), read) == ([1, 2, 3, 4], ["two"])


def test_a_newer_file_of_the_same_size_is_read_again(watch: FileWatch, tmp_path: Path) -> None:
    place = repository(tmp_path, "one", CONFIG, result(1)) / notebook.FILE
    assert watch.look() is not None
    stat = place.stat()
    place.write_text(place.read_text().replace("tried", "other"), encoding="utf-8")
    os.utime(place, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    source = watch.look()
    assert source is not None
    assert source.experiments[0].description == "other"


def test_a_session_is_open_while_its_process_lives(
    watch: FileWatch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alive: set[int] = {77}
    monkeypatch.setattr(files.registry, "is_alive", lambda pid: pid in alive)
    repository(tmp_path, "one", CONFIG, result(1), pid=77)
    first = watch.look()
    assert first is not None
    assert watch.look() is None
    alive.clear()
    second = watch.look()
    assert second is not None
    assert [one.sessions[0].is_open for one in (first, second)] == [True, False]


def test_a_changed_or_removed_registry_entry_changes_the_source(
    watch: FileWatch, tmp_path: Path
) -> None:
    place = repository(tmp_path, "one", CONFIG, result(1))
    assert watch.look() is not None
    path = registry.path_of(tmp_path, place)
    entry = RegistryEntry(str(place), agent_id="another agent", skill="ebb")
    registry.write(path, entry)
    assert watch.look() is not None
    path.unlink()
    source = watch.look()
    assert source is not None
    assert (source.sessions, source.experiments) == ((), ())
    assert watch.look() is None


def test_a_missing_notebook_counts_as_empty(watch: FileWatch, tmp_path: Path) -> None:
    (repository(tmp_path, "one", CONFIG) / notebook.FILE).unlink()
    source = watch.look()
    assert source is not None
    assert source.experiments == ()
    assert watch.look() is None


async def test_the_watch_looks_every_second_and_emits_only_changes(
    watch: FileWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    on = Offline(sample_state(6))
    watch.ports = on.ports
    answers: list[Any] = ["source", None, "newer"]
    slept: list[float] = []

    def look() -> Any:
        if not answers:
            raise RuntimeError("over")
        return answers.pop(0)

    async def sleep(delay_s: float) -> None:
        slept.append(delay_s)

    monkeypatch.setattr(FileWatch, "look", lambda _: look())
    on.clock.sleep = sleep  # type: ignore[method-assign]
    emitted: list[Any] = []
    object.__setattr__(on.ports, "emit", emitted.append)
    with pytest.raises(RuntimeError):
        await watch.run()
    assert emitted == [FilesSeen("source"), FilesSeen("newer")]  # type: ignore[arg-type]
    assert slept == [LOOK_S] * 3


def test_what_is_kept_back_from_a_session_is_seen_and_what_it_came_to(
    watch: FileWatch, tmp_path: Path
) -> None:
    place = repository(tmp_path, "one", CONFIG, result(1))
    kept = Holdout(str(place), "ebb", "markets", "d", 1.0, 2.0, 3.0, "1h", "/lab", "roi")
    holdouts.write(tmp_path, kept)
    seen = watch.look()
    assert seen is not None
    (session,) = seen.sessions
    assert session.holdout == HoldoutView("markets", Timestamp(2.0), Timestamp(3.0))
    assert watch.look() is None
    best = Figures(1, 1.0, {"roi": 0.9}, {"roi": -0.1})
    baseline = Figures(1, None, {}, {})
    judged = Judgement(session.name, session.segment, 0, "d", 4.0, baseline, best, ("it hung",))
    holdouts.write(tmp_path, kept.with_judgement(judged))
    seen = watch.look()
    assert seen is not None
    assert seen.sessions[0].holdout is not None
    assert seen.sessions[0].holdout.troubles == ("it hung",)
    assert seen.sessions[0].holdout.rows == (
        JudgedView("baseline", 1, None, None, None),
        JudgedView("best", 1, 1.0, 0.9, -0.1),
    )
    # A damaged file keeps nobody from seeing the session.
    holdouts.path_of(tmp_path, place, "ebb").write_text("{")
    seen = watch.look()
    assert seen is not None
    assert seen.sessions[0].holdout is None
