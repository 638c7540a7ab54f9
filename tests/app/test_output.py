"""What a command prints: text of others changes nothing on the terminal."""

import json
from pathlib import Path
from typing import Final

import pytest

from kit.command_line import ran
from kit.terminal.research import new_repository
from service_tui.app.output import print_error, print_lines, print_text
from service_tui.notes.notebook import FILE

HOSTILE: Final = (
    "a\x1b[2Jb", "a\x1b]52;c;c2VjcmV0\x07b", "a\x9b31mb", "a\x1bPq#0\x1b\\b", "a\rb", "a\x08b",
    "a\u202eb", "a\u2066b", "a\u200bb", "a\x7fb", "a\x00b", "\x1b", "a\x1b]0;never ended",
)  # fmt: skip


def assert_harmless(text: str) -> None:
    for letter in text:
        assert letter in "\n\t" or letter.isprintable(), ascii(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_that_is_printed_is_obeyed_by_a_terminal(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_lines(f"name: {text}", "one\ttwo", "grün €5 ✓")
    print_text(text)
    print_error(f"service-tui: {text}\n")
    shown = capsys.readouterr()
    assert_harmless(shown.out + shown.err)
    assert "one\ttwo\ngrün €5 ✓\n" in shown.out


@pytest.mark.parametrize("text", [*HOSTILE, "a\U000e0041b"])
def test_json_that_is_printed_holds_the_values_and_is_obeyed_by_no_terminal(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_lines(json.dumps({"name": text}, ensure_ascii=False), json.dumps([text]))
    shown = capsys.readouterr().out
    assert_harmless(shown)
    first, second = shown.splitlines()
    assert json.loads(first) == {"name": text}
    assert json.loads(second) == [text]


@pytest.mark.process
@pytest.mark.parametrize("text", HOSTILE)
def test_the_state_of_a_session_names_the_metric_of_a_cloned_repository_harmlessly(
    tmp_path: Path, text: str
) -> None:
    folder = new_repository(tmp_path / "skill")
    config = {
        "type": "config", "name": text, "skillSlug": "edge-picker", "metricName": text,
        "metricUnit": text, "bestDirection": "higher", "segment": 0,
    }  # fmt: skip
    result = {
        "run": 1, "commit": text, "metric": 1.0, "metrics": {text: 2.0}, "status": "keep",
        "description": text, "timestamp": 1, "segment": 0,
    }  # fmt: skip
    (folder / FILE).write_text(f"{json.dumps(config)}\n{json.dumps(result)}\n")
    words = ("autoresearch", "status", "--repo", str(folder), "--data-dir", str(tmp_path / "data"))
    said = ran(words)
    assert "edge-picker" in said.out, said.err
    assert_harmless(said.out + said.err)
