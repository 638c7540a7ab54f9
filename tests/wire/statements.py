"""The statements of the interface spec, named: rows of tables, items, bullets, lines of text."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
SPEC: Final = ROOT.parent / "shared" / "spec" / "interface.md"
LIST: Final = Path(__file__).with_name("statements.txt")
"""The same statements by name and digest, for where the spec itself is not at hand."""

METHODS: Final = {"GET", "POST", "PATCH", "DELETE"}
_ITEM: Final = re.compile(r"(\d+)\. (.+)")


@dataclass(frozen=True, order=True)
class Statement:
    """Where it stands, what it is called there, and a digest of all that it says."""

    section: str
    name: str
    digest: str

    @property
    def place(self) -> tuple[str, str]:
        return self.section, self.name


def digest_of(text: str) -> str:
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:10]


def statements_of(text: str) -> Iterator[Statement]:
    """Each statement once, in order.

    A row of a table is called by its first cell (an endpoint by method and path), an item by its
    number, bullets and lines of text by their place; what would be called like one before it in
    its section gets a letter.
    """
    section, counts, seen = "", Counter[str](), set[tuple[str, str]]()
    lines = text.splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith("#"):
            section, counts = line.lstrip("# "), Counter()
        elif name := _name_of(line, below, counts):
            letter = next(
                one
                for one in ("", *[" (b)", " (c)", " (d)", " (e)"])
                if (section, name + one) not in seen
            )
            seen.add((section, name + letter))
            yield Statement(section, name + letter, digest_of(line))


def _name_of(line: str, below: str, counts: Counter[str]) -> str:
    """What a line is called; nothing when it states nothing."""
    if line.startswith("|"):
        cells = [cell.strip().replace("`", "") for cell in line.strip("|").split("|")]
        if below.startswith("|--") or line.startswith("|--"):
            return ""
        return " ".join(cells[:2]) if cells[0] in METHODS else cells[0]
    if (item := _ITEM.fullmatch(line)) is not None:
        return f"item {item[1]}"
    if not line.strip():
        return ""
    kind = "bullet" if line.startswith("- ") else "text"
    counts[kind] += 1
    return f"{kind} {counts[kind]}"


def committed() -> list[Statement]:
    rows = LIST.read_text(encoding="utf-8").splitlines()
    return [Statement(*row.split("\t")) for row in rows]


def write() -> None:
    found = statements_of(SPEC.read_text(encoding="utf-8"))
    rows = [f"{one.section}\t{one.name}\t{one.digest}" for one in found]
    LIST.write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
