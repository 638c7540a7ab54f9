"""A file that a person writes: what is read of it, and what is said of one that cannot be read."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from service_tui.toml_lines import FILE_MAX, TomlEntry, TomlError, entries, read_text, tables


def test_a_file_of_the_greatest_size_is_read_and_no_larger_one(tmp_path: Path) -> None:
    path = tmp_path / "desk.toml"
    path.write_bytes(b"#" * FILE_MAX)
    found = read_text(path)
    assert found is not None
    assert found.text == "#" * FILE_MAX
    path.write_bytes(b"#" * (FILE_MAX + 1))
    with pytest.raises(TomlError, match="larger than 64 KB"):
        read_text(path)


def test_a_file_below_a_file_is_a_missing_one(tmp_path: Path) -> None:
    (tmp_path / "desk").write_bytes(b"")
    assert read_text(tmp_path / "desk" / "desk.toml") is None
    assert read_text(tmp_path / "none" / "desk.toml") is None


def test_a_folder_and_what_is_no_text_are_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(TomlError, match="cannot be read \\(Is a directory\\)"):
        read_text(tmp_path)
    path = tmp_path / "desk.toml"
    path.write_bytes(b"\xff")
    with pytest.raises(TomlError, match="no UTF-8 text"):
        read_text(path)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "desk.toml")
    with pytest.raises(TomlError, match="no plain file"):
        read_text(tmp_path / "desk.toml")


@pytest.mark.parametrize("read", [entries, tables])
def test_a_number_longer_than_python_reads_is_refused_in_a_sentence(
    read: Callable[[str], object],
) -> None:
    with pytest.raises(TomlError, match="a number has more than 4300 digits"):
        read(f"a = {'7' * 5_000}")


@pytest.mark.parametrize("read", [entries, tables])
def test_lists_too_deep_in_each_other_are_refused_in_a_sentence(
    read: Callable[[str], object],
) -> None:
    with pytest.raises(TomlError, match="too deep in each other"):
        read("a = " + "[" * 1_000)


def test_a_header_that_names_a_thousand_tables_is_refused_in_a_sentence() -> None:
    with pytest.raises(TomlError, match="too deep in each other"):
        entries("[" + ".".join("a" * 1_000) + "]\nx = 1")


def test_a_list_of_tables_and_figures_stays_a_value_of_the_top() -> None:
    (top,) = tables("lanes = [{ name = 'a' }, 2]\n")
    assert (top.name, top.values) == ("", {"lanes": [{"name": "a"}, 2]})
    assert top.lines == {"lanes": 1}


def test_a_key_has_the_line_where_it_stands_first() -> None:
    text = 'port = 1\nnote = """\nport = 2\n"""\n'
    assert entries(text) == (TomlEntry("port", 1, 1), TomlEntry("note", "port = 2\n", 2))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file_that_another_systems_editor_saved_is_read_as_any_other(
    tmp_path: Path, encoding: str, end: str
) -> None:
    path = tmp_path / "desk.toml"
    path.write_bytes(f'speed = 10{end}name = "Åse"{end}'.encode(encoding))
    found = read_text(path)
    assert found is not None
    assert entries(found.text) == (TomlEntry("speed", 10, 1), TomlEntry("name", "Åse", 2))
