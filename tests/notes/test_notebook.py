"""The file of a session: torn and broken lines stay, are counted, and spoil no other."""

import hashlib
import json
import math
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from service_tui.notes import notebook
from service_tui.terms import Direction, ExperimentStatus, SessionState


def line(number: int) -> dict[str, object]:
    return {
        "type": "config",
        "name": f"session {number}",
        "skillSlug": "weather",
        "metricName": "profit",
        "metricUnit": "",
        "bestDirection": "higher",
        "segment": number,
    }


def test_a_torn_last_line_is_ended_counted_and_spoils_no_other(tmp_path: Path) -> None:
    path = tmp_path / notebook.FILE
    notebook.append(path, line(1))
    with path.open("ab") as torn:
        torn.write(b'{"type": "config", "name": "half')
    assert notebook.read(path).bad_lines == 1
    notebook.append(path, line(2))
    notes = notebook.read(path)
    assert notes.bad_lines == 1
    assert [one.name for one in notes.configs] == ["session 1", "session 2"]
    assert b'"half\n' in path.read_bytes()


def test_lines_that_are_none_are_counted_and_left_where_they_are(tmp_path: Path) -> None:
    path = tmp_path / notebook.FILE
    notebook.append(path, line(1))
    bad = b'[]\n{"type": "result"}\n{"type": 5}\n\xff\xfe\n' + b"[" * 100_000 + b"\n"
    path.write_bytes(path.read_bytes() + bad)
    notebook.append(path, line(2))
    notes = notebook.read(path)
    assert [one.name for one in notes.configs] == ["session 1", "session 2"]
    assert notes.bad_lines >= 4
    assert bad in path.read_bytes()


CONFIG = notebook.Config(
    name="edges", skill="weather", metric_name="profit", metric_unit="$",
    direction=Direction.LOWER, segment=3, started_ms=77, cap=9,
)  # fmt: skip


def logged(run: int, config: notebook.Config = CONFIG, **fields: Any) -> notebook.Logged:
    known: dict[str, Any] = {
        "run": run, "commit": "ab" * 20, "metric": 1.5, "metrics": {"trades": 40.0},
        "status": ExperimentStatus.KEEP, "description": "as it came", "timestamp_ms": 88,
        "segment": config.segment, "config": config, "confidence": 0.7, "asi": {"why": "so"},
    }  # fmt: skip
    return notebook.Logged(**(known | fields))


def test_a_session_and_its_results_come_back_with_every_field(tmp_path: Path) -> None:
    path = tmp_path / notebook.FILE
    # What was said of nothing was said.
    assert logged(2, asi={}).line()["asi"] == {}
    bare = logged(2, metric=None, metrics={}, asi=None)
    for one in (CONFIG.line(), logged(1).line(), bare.line()):
        notebook.append(path, one)
    notes = notebook.read(path)
    short = "ab" * 20
    assert notes.configs == [CONFIG]
    assert notes.results == [
        replace(logged(1), commit=short[: notebook.COMMIT_SHORT]),
        replace(bare, commit=short[: notebook.COMMIT_SHORT]),
    ]
    assert (notes.last_skill, notes.bad_lines, notes.off) == ("weather", 0, set())


def test_results_are_those_of_the_skill_and_of_the_segment() -> None:
    later = replace(CONFIG, segment=4)
    other = replace(CONFIG, skill="news")
    notes = notebook.Notes(
        [CONFIG, later, other], [logged(1), logged(7, later), logged(9, other), logged(2)]
    )
    assert [one.run for one in notes.results_of(CONFIG)] == [1, 2]
    assert [one.run for one in notes.results_of(later)] == [7]
    assert (notes.last_run("weather"), notes.last_run("news"), notes.last_run("x")) == (7, 9, 0)
    assert notes.config_of("weather") == later
    assert notes.config_of("x") is None


def test_a_result_is_named_by_its_skill_segment_run_and_time() -> None:
    refs = {
        logged(1).ref,
        logged(2).ref,
        logged(1, segment=4).ref,
        logged(1, timestamp_ms=89).ref,
        logged(1, replace(CONFIG, skill="news")).ref,
    }
    assert len(refs) == 5
    assert logged(1, metric=9.0, description="other").ref == logged(1).ref


def test_a_session_without_a_segment_goes_on_or_begins_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / notebook.FILE
    bare = {key: value for key, value in CONFIG.line().items() if key != "segment"}
    for one in (bare, bare, logged(1, replace(CONFIG, segment=0)).line(), bare):
        notebook.append(path, one)
    assert [one.segment for one in notebook.read(path).configs] == [0, 0, 1]


def test_a_skill_that_was_turned_off_is_on_again_with_its_next_session(tmp_path: Path) -> None:
    path = tmp_path / notebook.FILE
    notebook.append(path, {"type": "off", "skillSlug": "weather"})
    notebook.append(path, {"type": "off", "skillSlug": "news"})
    assert notebook.read(path).off == {"weather", "news"}
    notebook.append(path, CONFIG.line())
    assert notebook.read(path).off == {"news"}


def test_a_session_stands_by_its_own_results_cap_and_direction() -> None:
    lower = [logged(1, metric=5.0), logged(2, metric=3.0), logged(3, metric=9.0)]
    other = logged(4, replace(CONFIG, segment=4), metric=1.0)
    notes = notebook.Notes([CONFIG], [*lower, other])
    stands = notes.standing_of(CONFIG)
    assert (stands.count, stands.kept, stands.baseline, stands.best) == (3, 3, 5.0, 3.0)
    assert stands.state is SessionState.RUNNING
    # What is asked for goes before what the session was begun with; none at all is none.
    assert notes.standing_of(CONFIG, 3).state is SessionState.CAPPED
    short = replace(CONFIG, cap=2)
    assert notes.standing_of(short).state is SessionState.CAPPED
    assert notes.standing_of(short, 0).state is SessionState.RUNNING


def test_notes_become_those_that_were_read_again() -> None:
    notes, other = notebook.Notes(), notebook.Notes([CONFIG], [logged(1)], {"news"}, 3)
    notes.become(other)
    assert (notes.configs, notes.results) == ([CONFIG], [logged(1)])
    assert (notes.off, notes.bad_lines) == ({"news"}, 3)


def test_a_line_without_what_is_optional_is_read(tmp_path: Path) -> None:
    path = tmp_path / notebook.FILE
    named = {"type": "config", "name": "edges", "skillSlug": "weather", "metricName": "profit"}
    notebook.append(path, named)
    notebook.append(path, {"run": 4, "status": "crash"})
    config = notebook.Config("edges", "weather", "profit", "", Direction.HIGHER, 0)
    notes = notebook.read(path)
    assert notes.configs == [config]
    assert notes.configs[0].started_ms == 0
    assert notes.results == [
        notebook.Logged(4, "", None, {}, ExperimentStatus.CRASH, "", 0, 0, config)
    ]


LARGEST = notebook.FIGURE_MAX
WRONG: dict[str, dict[str, object]] = {
    "a run that is no number": {"run": "1"},
    "no run": {"run": None},
    "a commit that is no text": {"commit": 5},
    "a metric that is a text": {"metric": "1.5"},
    "a metric that is a truth": {"metric": True},
    "a metric that is too large": {"metric": LARGEST * 1.01},
    "a metric that is not a number": {"metric": math.nan},
    "a metric without end": {"metric": math.inf},
    "a figure that is not a number": {"metrics": {"trades": math.nan}},
    "a confidence without end": {"confidence": -math.inf},
    "a time before all": {"timestamp": -1},
    "a time after all": {"timestamp": 10**400},
    "a number that is a truth": {"run": True},
    "half of a letter": {"description": "\ud800"},
    "a metric far below": {"metric": -LARGEST * 1.01},
    "a figure that is a text": {"metrics": {"trades": "many"}},
    "a confidence that is a list": {"confidence": []},
    "a description that is no text": {"description": []},
    "a time that is no number": {"timestamp": 1.5},
    "a segment that is no number": {"segment": "1"},
    "a status nobody knows": {"status": "great"},
}


@pytest.mark.parametrize("name", WRONG)
def test_a_result_with_a_wrong_field_is_counted_and_not_kept(tmp_path: Path, name: str) -> None:
    path = tmp_path / notebook.FILE
    path.write_text(
        "\n".join(json.dumps(one) for one in (CONFIG.line(), logged(1).line() | WRONG[name])),
        encoding="utf-8",
    )
    notes = notebook.read(path)
    assert (notes.configs, notes.results, notes.bad_lines) == ([CONFIG], [], 1)


@pytest.mark.parametrize("name", ["name", "skillSlug", "metricName", "metricUnit", "startedAt"])
def test_a_session_with_a_wrong_field_is_counted_and_not_kept(tmp_path: Path, name: str) -> None:
    path = tmp_path / notebook.FILE
    notebook.append(path, CONFIG.line() | {name: []})
    notes = notebook.read(path)
    assert (notes.configs, notes.bad_lines) == ([], 1)


@pytest.mark.parametrize("slug", ["", "../../other", "a/b", "-x", "a\x1b[2J", "a b", "a\x00"])
def test_a_session_of_a_skill_without_a_slug_is_counted_and_not_kept(
    tmp_path: Path, slug: str
) -> None:
    """It would name files and branches elsewhere."""
    path = tmp_path / notebook.FILE
    notebook.append(path, CONFIG.line() | {"skillSlug": slug})
    notebook.append(path, {"type": "off", "skillSlug": slug})
    notes = notebook.read(path)
    assert (notes.configs, notes.off, notes.bad_lines) == ([], set(), 2)


def test_figures_that_are_none_are_left_out_and_the_largest_is_kept(tmp_path: Path) -> None:
    path = tmp_path / notebook.FILE
    notebook.append(path, CONFIG.line())
    figures = {"trades": 3, "gone": None, "worst": -LARGEST}
    notebook.append(path, logged(1, metric=LARGEST, metrics=figures).line())
    notebook.append(path, logged(2).line() | {"metrics": ["none"]})
    first, second = notebook.read(path).results
    assert (first.metric, first.metrics) == (LARGEST, {"trades": 3.0, "worst": -LARGEST})
    assert second.metrics == {}


def test_a_pipe_in_place_of_the_file_holds_nobody_up(tmp_path: Path) -> None:
    path = tmp_path / notebook.FILE
    os.mkfifo(path)
    with pytest.raises(OSError, match="it is no plain file"):
        notebook.read(path)


def test_the_largest_figures_make_a_standing_that_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / notebook.FILE
    notebook.append(path, CONFIG.line())
    for run, metric in enumerate((1.0, 1.0, 1.0 + 1e-15, 1.0 + 1e-15, 1.0, LARGEST, -LARGEST)):
        notebook.append(path, logged(run, metric=metric).line())
    series = notebook.read(path).standing_of(CONFIG)
    assert series.best in {LARGEST, -LARGEST}
    assert series.confidence is None or math.isfinite(series.confidence)


def test_empty_lines_are_no_bad_ones(tmp_path: Path) -> None:
    path = tmp_path / notebook.FILE
    path.write_bytes(b"\n  \n" + json.dumps(CONFIG.line()).encode() + b"\n\n")
    notes = notebook.read(path)
    assert (notes.configs, notes.bad_lines) == ([CONFIG], 0)


def test_a_file_of_at_most_so_many_bytes_is_read(tmp_path: Path) -> None:
    path = tmp_path / notebook.FILE
    notebook.append(path, CONFIG.line())
    size = path.stat().st_size
    assert notebook.read(path, size).configs == [CONFIG]
    with pytest.raises(OSError, match="is larger than"):
        notebook.read(path, size - 1)
    assert notebook.read(tmp_path / "none.jsonl") == notebook.Notes()


def test_a_line_is_readable_text_ends_and_stands_behind_the_last_one(tmp_path: Path) -> None:
    path = tmp_path / notebook.FILE
    notebook.append(path, {"name": "größer"})
    notebook.append(path, {"name": "b"})
    assert path.read_text(encoding="utf-8") == '{"name": "größer"}\n{"name": "b"}\n'
    assert stat.S_IMODE(path.stat().st_mode) == 0o644 & ~umask()
    with pytest.raises(ValueError, match="not JSON compliant"):
        notebook.append(path, {"metric": float("nan")})
    assert path.read_text(encoding="utf-8").count("\n") == 2


def umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_line_is_on_disk_and_a_new_file_in_its_folder_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / notebook.FILE
    kept: list[tuple[int, int]] = []

    def fsync(descriptor: int) -> None:
        kept.append((descriptor, os.fstat(descriptor).st_ino))

    monkeypatch.setattr(os, "fsync", fsync)
    notebook.append(path, {"one": 1})
    file, folder = path.stat().st_ino, tmp_path.stat().st_ino
    assert [one for _, one in kept] == [file, folder]
    notebook.append(path, {"two": 2})
    assert [one for _, one in kept] == [file, folder, file]
    for descriptor, _ in kept:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)


def test_a_line_that_the_disk_takes_in_part_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / notebook.FILE
    notebook.append(path, {"one": 1})
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:3]))
    with pytest.raises(OSError, match="could not be written whole"):
        notebook.append(path, {"two": 2})
    assert path.read_text() == '{"one": 1}\n'


def test_a_result_has_the_same_name_on_every_service() -> None:
    """A name that changes would send every old result once more."""
    known = hashlib.sha256(b"weather|3|1|88").hexdigest()
    assert logged(1).ref == f"jsonl-{known[:32]}"
