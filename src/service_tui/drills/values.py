"""Values of a scenario file: what each may be, and the reason where it is something else."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from service_tui.terms import SIM_TRADE_MAX
from service_tui.toml_lines import printable

ROW_NAME_MAX: Final = 40
ROW_TEXT_MAX: Final = 600
MONEY_MAX: Final = float(SIM_TRADE_MAX)
"""The most that one trade on sim may spend."""

PRICE_MIN: Final = 0.01
PRICE_MAX: Final = 0.99

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9 _-]*")
_CLOCK: Final = re.compile(r"(\d{1,2}):([0-5]\d)")
_SHOWN: Final = 40

Value = str | float | bool


class ValueProblem(ValueError):
    """Why a value cannot be used: `expected what, got what`."""


@dataclass(frozen=True, slots=True)
class ValueType:
    """One type of value: `word` names it in the documentation, `read` returns the value."""

    word: str
    read: Callable[[object], Value]


class Required:
    """Marks a field without a default."""


REQUIRED: Final = Required()


@dataclass(frozen=True, slots=True)
class RowField:
    """One key of a table. `default` None leaves it out; `about` is its meaning, in a few words."""

    name: str
    type: ValueType
    about: str
    default: Value | Required | None = REQUIRED


def clock_text(seconds: float) -> str:
    """Seconds as minutes and seconds."""
    whole = int(seconds)
    return f"{whole // 60}:{whole % 60:02}"


def _problem(expected: str, value: object) -> ValueProblem:
    text = printable(repr(value))
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return ValueProblem(f"expected {expected}, got {shown}")


def _name(value: object) -> Value:
    if isinstance(value, str) and len(value) <= ROW_NAME_MAX and _NAME.fullmatch(value):
        return value
    raise _problem(
        f"a name of at most {ROW_NAME_MAX} small letters, digits, blanks or dashes", value
    )


def _text(value: object) -> Value:
    if isinstance(value, str) and 0 < len(value.strip()) <= ROW_TEXT_MAX:
        return printable(" ".join(value.split()))
    raise _problem(f"a text of at most {ROW_TEXT_MAX} letters", value)


def _clock(value: object) -> Value:
    found = _CLOCK.fullmatch(value) if isinstance(value, str) else None
    if found is not None:
        return float(found[1]) * 60 + float(found[2])
    raise _problem('a time as "m:ss"', value)


def _flag(value: object) -> Value:
    if isinstance(value, bool):
        return value
    raise _problem("true or false", value)


def number(low: float, high: float, word: str, *, whole: bool = False) -> ValueType:
    """A number between two bounds, both included."""

    def read(value: object) -> Value:
        kinds = int if whole else (int, float)
        if isinstance(value, kinds) and not isinstance(value, bool) and math.isfinite(value):
            found = float(value)
            if low <= found <= high:
                return found
        raise _problem(f"{word} from {low:g} to {high:g}", value)

    return ValueType(f"{word}, {low:g} to {high:g}", read)


def choice(*words: str) -> ValueType:
    """One of some words."""

    def read(value: object) -> Value:
        if isinstance(value, str) and value in words:
            return value
        raise _problem(f"one of {', '.join(words)}", value)

    return ValueType(" or ".join(words), read)


NAME: Final = ValueType("name", _name)
TEXT: Final = ValueType("text", _text)
CLOCK: Final = ValueType('"m:ss"', _clock)
FLAG: Final = ValueType("true or false", _flag)
PRICE: Final = number(PRICE_MIN, PRICE_MAX, "price")
MONEY: Final = number(0.01, MONEY_MAX, "amount")
PART: Final = number(0.01, 1.0, "part")
SIDE: Final = choice("yes", "no")
