"""The man page: the page of the command line, which the parser makes, in the marks of roff."""

import re
from collections.abc import Iterator
from typing import Final

from kit.pages import command_line
from service_tui.version import VERSION

_LINK: Final = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_CODE: Final = re.compile(r"`([^`]*)`")
_CELLS: Final = re.compile(r"(?<!\\)\|")
_HEADINGS: Final = {"##": ".SH", "###": ".SS", "####": ".SS"}
_RULE: Final = "|---|---|"

HEAD: Final = f""".TH SERVICE\\-TUI 1 "" "service\\-tui {VERSION}" "User Commands"
.SH NAME
service\\-tui \\- the terminal desk for people who supervise trading agents
.SH SYNOPSIS
.B service\\-tui
[options] [command] [arguments]
.SH DESCRIPTION
"""


def page() -> str:
    """The whole page."""
    _, text = command_line.page().split("by `make docs`. ", 1)
    return HEAD + "".join(f"{line}\n" for line in _lines(text.splitlines()))


def _lines(lines: list[str]) -> Iterator[str]:
    is_code = False
    for number, line in enumerate(lines):
        if line.startswith("```"):
            is_code = not is_code
            yield from ((".PP", ".nf", ".RS 4") if is_code else (".RE", ".fi"))
        elif is_code:
            yield _plain(line) or ".sp"
        elif line.startswith("#"):
            marks, _, title = line.partition(" ")
            yield f'{_HEADINGS[marks]} "{_plain(title)}"'
        elif line.startswith("|"):
            if line != _RULE and lines[number + 1 : number + 2] != [_RULE]:
                yield from _row(line)
        elif line:
            yield _text(line)
        else:
            yield ".PP"


def _row(line: str) -> Iterator[str]:
    """An option as a term, and its description below it."""
    option, about = (cell.strip().replace("\\|", "|") for cell in _CELLS.split(line)[1:3])
    yield ".TP"
    yield _text(option)
    yield _text(about) or "\\&"


def _text(text: str) -> str:
    return _CODE.sub(r"\\fB\1\\fP", _plain(_LINK.sub(r"\1", text)))


def _plain(text: str) -> str:
    """Text in which no letter is a mark of roff."""
    marked = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{marked}" if marked.startswith((".", "'")) else marked
