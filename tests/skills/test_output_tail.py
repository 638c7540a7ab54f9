"""The end of a skill's output, as it is shown."""

from pathlib import Path

from service_tui.skills.process import LINE_MAX, LOG, TAIL_BYTES, TAIL_LINES, tail


def written(folder: Path, content: bytes) -> tuple[str, ...]:
    (folder / LOG).write_bytes(content)
    return tail(folder)


def test_indents_stay_and_escapes_leave_no_trace(tmp_path: Path) -> None:
    content = b"\x1b[31mred\x1b[0m\n  {\n\t\xe2\x80\xaeleft\r\n\xff[/red]"
    assert written(tmp_path, content) == ("red", "  {", " left", "\ufffd[/red]")


def test_a_line_that_begins_further_back_is_left_out(tmp_path: Path) -> None:
    lines = [f"{place:>9}" for place in range(TAIL_BYTES // 10 + 5)]
    found = written(tmp_path, "".join(f"{line}\n" for line in lines).encode())
    assert found == tuple(line for line in lines)[-TAIL_LINES:]
    cut = written(tmp_path, b"x" * (TAIL_BYTES + 1) + b"\nwhole\n")
    assert cut == ("whole",)
    # An output that just fits has its first line.
    last = b"\nlast\n"
    fits = written(tmp_path, b"x" * (TAIL_BYTES - len(last)) + last)
    assert [line[:4] for line in fits] == ["xxxx", "last"]


def test_a_line_is_bounded(tmp_path: Path) -> None:
    (line,) = written(tmp_path, b"y" * (LINE_MAX + 10))
    assert len(line) == LINE_MAX
    assert tail(tmp_path / "none") == ()
