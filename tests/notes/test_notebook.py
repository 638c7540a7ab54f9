"""The file of a session: torn and broken lines stay, are counted, and spoil no other."""

from pathlib import Path

from service_tui.notes import notebook


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
