"""The file of a session: torn and broken lines stay, are counted, and spoil no other."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from service_tui.notes import notebook
from service_tui.terms import Direction, ExperimentStatus


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
    bare = logged(2, metric=None, metrics={}, confidence=None, asi=None)
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
