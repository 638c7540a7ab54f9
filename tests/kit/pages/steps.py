"""A page that is a list of steps, as the keys that it tells a person to press."""

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[3]

_NAMES: Final = {
    "esc": "escape", ">": "greater_than_sign", "<": "less_than_sign", "/": "slash",
    "?": "question_mark", ":": "colon", "&": "ampersand", "@": "at",
    "(": "left_parenthesis", ")": "right_parenthesis", "{": "left_curly_bracket",
    "}": "right_curly_bracket", ";": "semicolon", ".": "full_stop", "=": "equals_sign",
}  # fmt: skip
"""Keys by the names that a terminal's driver gives them, where a page writes another one."""


def section_of(page: str, title: str) -> str:
    """What stands below a title, up to the next one; what stands before all of them for none."""
    text = (ROOT / page).read_text(encoding="utf-8")
    if title:
        text = text.partition(f"## {title}\n")[2]
        assert text, f"{page} has no section {title}"
    return re.split(r"^## ", text, maxsplit=1, flags=re.MULTILINE)[0]


def marked(text: str) -> list[str]:
    """What stands in code marks."""
    return re.findall(r"`([^`]+)`", text)


def step_of(page: str, title: str, number: int) -> list[str]:
    """What stands in code marks in one step of a numbered list."""
    steps = rf"^{number}\. (.*?)(?=^\d+\. |\n\n|\Z)"
    (found,) = re.findall(steps, section_of(page, title), re.MULTILINE | re.DOTALL)
    return marked(found)


def rows_of(page: str, title: str) -> list[tuple[list[str], str]]:
    """Each row of a section's first table: the keys of its first cell, and what it says of them."""
    rows = re.findall(r"^\| (`.+?) \| (.+) \|$", section_of(page, title), re.MULTILINE)
    return [(marked(keys), meaning) for keys, meaning in rows]


def key_named(key: str) -> str:
    """The name of a key for a pilot."""
    if re.fullmatch(r"F\d+", key):
        return key.lower()
    return _NAMES.get(key, key)
