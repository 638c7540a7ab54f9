"""A TOML file as flat keys, each with its line, for messages that name the place of a mistake."""

import codecs
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Final, NamedTuple, TypeGuard

FILE_MAX: Final = 65_536
"""Bytes of a file that a person writes by hand; more is something else."""

_TOO_DEEP: Final = "its tables stand too deep in each other"
_PLACE: Final = re.compile(r"(.*) \(at (?:(line \d+), column \d+|(end of document))\)", re.DOTALL)
_HEADER: Final = re.compile(r"\s*(\[[^\[].*\])\s*(?:#.*)?")
_ROW: Final = re.compile(r"\s*\[\[\s*([A-Za-z0-9_-]+)\s*\]\]\s*(?:#.*)?")
_QUOTES: Final = re.compile(r'"""|\'\'\'')


class TomlError(ValueError):
    """A file that cannot be read, with the line and the reason."""


@dataclass(frozen=True, slots=True)
class TomlEntry:
    """One value of a file; `key` has its tables before it: `serve.port`."""

    key: str
    value: object
    line: int


@dataclass(frozen=True, slots=True)
class TomlTable:
    """A table of a file: `[name]`, one `[[name]]` of several, or with an empty name the top.

    `lines` are those of its keys, `line` that of its header.
    """

    name: str
    values: Mapping[str, object]
    lines: Mapping[str, int]
    line: int


class TextFile(NamedTuple):
    """The text of a file, its mode when it was read, and the user whose it is."""

    text: str
    mode: int
    owner: int


def read_text(path: Path) -> TextFile | None:
    """The text of a file that may be missing.

    Returns:
        None where there is no file.

    Raises:
        TomlError: it is no plain file, cannot be read, or is too large.
    """
    try:
        # Not blocking: a pipe without a writer would be waited for for ever.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            found = os.fstat(file.fileno())
            if not S_ISREG(found.st_mode):
                raise TomlError("it is no plain file")
            raw = file.read(FILE_MAX + 1)
        if len(raw) > FILE_MAX:
            raise TomlError(f"it is larger than {FILE_MAX // 1024} KB")
        return TextFile(decoded(raw), found.st_mode, found.st_uid)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise TomlError(f"it cannot be read ({error.strerror})") from error
    except UnicodeDecodeError:
        raise TomlError("it is no UTF-8 text") from None


def decoded(raw: bytes, errors: str = "strict") -> str:
    """The text of a file that a person may have saved with any system's editor.

    Returns:
        The text without a mark of its byte order: UTF-16 where that mark says so, else UTF-8.

    Raises:
        UnicodeDecodeError: it is neither; not where `errors` is `replace`.
    """
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16", errors)
    return raw.decode("utf-8-sig", errors)


def entries(text: str) -> tuple[TomlEntry, ...]:
    """The values of a file, in their order; a key in quotes may have dots as well.

    Returns:
        One entry a value; tables are opened, lists are not.

    Raises:
        TomlError: the text is no TOML.
    """
    lines, found = _lines(text), _loaded(text)
    try:
        flat = tuple(_flat(found, ""))
    except RecursionError:
        raise TomlError(_TOO_DEEP) from None
    return tuple(TomlEntry(key, value, lines.get(key, 0)) for key, value in flat)


def tables(text: str) -> tuple[TomlTable, ...]:
    """The tables of a file, those of a list one by one; the top first, the others in their order.

    Raises:
        TomlError: the text is no TOML.
    """
    found = _loaded(text)
    heads = _heads(text)
    top = {
        name: value for name, value in found.items() if not _is_table(value) and not _rows(value)
    }
    result = [TomlTable("", top, heads.get(("", 0), (0, {}))[1], 0)]
    for name, value in found.items():
        rows = (value,) if _is_table(value) else _rows(value)
        for number, row in enumerate(rows):
            line, lines = heads.get((name, number), (0, {}))
            result.append(TomlTable(name, row, lines, line))
    return tuple(result)


def _loaded(text: str) -> dict[str, object]:
    """The content of a file; TomlError gives the line of what is no TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.fullmatch(str(error))
        if place is None:
            raise TomlError(printable(str(error))) from None
        raise TomlError(f"{place[2] or place[3]}: {printable(place[1])}") from None
    except RecursionError:
        raise TomlError(_TOO_DEEP) from None
    except ValueError:
        # Python reads no number of more digits than this.
        raise TomlError(f"a number has more than {sys.get_int_max_str_digits()} digits") from None


def nearest(word: str, known: Sequence[str]) -> str:
    """A hint at the known word that is most like this one; empty where none is."""
    from difflib import get_close_matches  # noqa: PLC0415  (only where there is a mistake)

    close = get_close_matches(word, known, n=1)
    return f"; did you mean {close[0]}?" if close else ""


def printable(text: str) -> str:
    """The text on one line, harmless for a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _flat(table: Mapping[str, object], before: str) -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        if _is_table(value):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _lines(text: str) -> dict[str, int]:
    """The line of each key, which tomllib does not report."""
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.fullmatch(line)
        if header is not None:
            table = f"{_name(header[1])}."
        elif name := _name(f"{line.partition('=')[0]} = 0"):
            found.setdefault(f"{table}{name}", number)
    return found


def _heads(text: str) -> dict[tuple[str, int], tuple[int, dict[str, int]]]:
    """The line of each table, by its name and its number among those of the name, and its keys'."""
    place = ("", 0)
    found: dict[tuple[str, int], tuple[int, dict[str, int]]] = {place: (0, {})}
    counts: dict[str, int] = {}
    is_quoted = False
    for number, line in enumerate(text.splitlines(), 1):
        was_quoted, is_quoted = is_quoted, is_quoted ^ (len(_QUOTES.findall(line)) % 2 == 1)
        if was_quoted:
            continue
        row, header = _ROW.fullmatch(line), _HEADER.fullmatch(line)
        if row is not None or header is not None:
            name = row[1] if row is not None else _name(header[1] if header is not None else "")
            place = (name, counts.get(name, 0))
            counts[name] = place[1] + 1
            found[place] = (number, {})
        elif key := _name(f"{line.partition('=')[0]} = 0"):
            found[place][1].setdefault(key, number)
    return found


def _rows(value: object) -> tuple[Mapping[str, object], ...]:
    """The tables of a list of tables; nothing of any other value."""
    if not _is_list(value) or not value:
        return ()
    rows = tuple(row for row in value if _is_table(row))
    return rows if len(rows) == len(value) else ()


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def _name(line: str) -> str:
    """The flat name that a line of TOML gives to its table or value; empty where it gives none."""
    try:
        found: object = tomllib.loads(line)
    except (ValueError, RecursionError):
        return ""
    names: list[str] = []
    while _is_table(found) and found:
        name = next(iter(found))
        names.append(name)
        found = found[name]
    return ".".join(names)


def _is_table(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, dict)
