"""The page of our assumptions: every choice that the source marks with `ours:`, room by room.

`make docs` writes it to docs/assumptions.md; a test holds that it is what the source says.
"""

import io
import tokenize
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

import service_tui

SOURCE: Final = Path(service_tui.__file__).parent
MARK: Final = "ours:"
HEAD: Final = """# Assumptions

Where the specification is silent we chose, and marked the line with `ours:`. This page is made of
those marks by `make docs`.
"""


def marks(source: str) -> Iterator[str]:
    """What stands behind each mark of a module, in one line; comments and docstrings hold them."""
    open_comment: list[str] = []
    last_line = -1
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            text = token.string.lstrip("# ")
            if open_comment and token.start[0] == last_line + 1 and not text.startswith(MARK):
                open_comment.append(text)
            else:
                yield from _said(open_comment)
                open_comment = [text] if text.startswith(MARK) else []
            last_line = token.start[0]
        elif token.type == tokenize.STRING:
            yield from _of_docstring(token.string)
    yield from _said(open_comment)


def _of_docstring(literal: str) -> Iterator[str]:
    for paragraph in literal.strip('rf"').split("\n\n"):
        before, found, rest = paragraph.partition(MARK)
        if found and not before[-1:].isalnum():
            yield from _said([MARK + rest])


def _said(lines: list[str]) -> Iterator[str]:
    if lines:
        words = " ".join(" ".join(lines).split()).removeprefix(MARK).strip().rstrip(".")
        yield words.replace("|", "\\|")


def assumptions() -> Iterator[tuple[str, str]]:
    """Each module that marks a choice, by its path in the package, with the choice."""
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        yield from ((name, said) for said in marks(path.read_text("utf-8")))


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for room, rows in groupby(assumptions(), lambda one: one[0].partition("/")[0]):
        title = "Ground floor" if room.endswith(".py") else room.capitalize()
        lines = [f"| `{name}` | {said} |" for name, said in rows]
        if parts[-1].startswith(f"\n## {title}\n"):
            parts[-1] += "\n".join(lines) + "\n"
        else:
            table = "\n".join(("| File | What we chose |", "|---|---|", *lines))
            parts.append(f"\n## {title}\n\n{table}\n")
    return "".join(parts)
