"""The fields of a form as data, and one parser of typed numbers, in whole micros.

A rule is data: how many decimals, which bounds, and the sentence for each fault. Only plain digits
with one point are accepted: a comma means thousands to one reader and decimals to the next.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from typing import Final, Generic, TypeVar

from service_tui.units import AMOUNT_MAX, ONE, Micros

Value = TypeVar("Value")

DECIMALS_MAX: Final = 4
"""Digits after the point, of percent and of prices: the finest tick is 0.0001."""

OFF: Final = "off"
"""The word for no figure, as an alternative to an empty line."""

PERCENT: Final = 100

_MICRO_DIGITS: Final = 6
_PLAIN: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?")
_NOT_FINITE: Final = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_MONEY_MAX: Final = Micros(int(AMOUNT_MAX) * ONE)
_WHOLE_MAX: Final = 6


class FieldError(ValueError):
    """Typed text that cannot be used; the message gives the fix."""


@dataclass(frozen=True, slots=True)
class Field(Generic[Value]):
    """One line of a form to type into.

    Args:
        name: the id of its widget.
        label: text on its left; empty for a second field on the same line.
        parse: converts the text; raises `FieldError` with the fix.
        unit: text on its right; None leaves the room to others.
        placeholder: text shown while the line is empty.
        letters: the longest text.
        look: its CSS class.
    """

    name: str
    label: str
    parse: Callable[[str], Value]
    unit: str | None = None
    placeholder: str = ""
    letters: int = 12
    css_class: str = "number"


class Fault(Enum):
    """Faults of a typed number, in the order of the checks."""

    EMPTY = auto()
    NOT_FINITE = auto()
    SIGNED = auto()
    NOT_PLAIN = auto()
    TOO_FINE = auto()
    TOO_LONG = auto()
    TOO_SMALL = auto()
    TOO_LARGE = auto()


@dataclass(frozen=True, slots=True)
class Number:
    """The rule for one kind of typed number.

    Args:
        messages: the sentence for each fault, where `{given}` is the typed text; a fault without
        one is reported as `NOT_PLAIN`.
        decimals: digits after the point, 6 at most.
        digits: digits before the point.
        least: the smallest allowed value, micros.
        most: the largest allowed value, micros.
        signs: the leading characters of a signed number (`SIGNED`).
        unit: the optional text behind the digits.
    """

    messages: Mapping[Fault, str]
    decimals: int = DECIMALS_MAX
    digits: int = len(str(int(AMOUNT_MAX)))
    least: Micros = Micros(0)
    most: Micros = _MONEY_MAX
    signs: tuple[str, ...] = ("-", "+")
    unit: str = ""

    def error(self, fault: Fault, given: str) -> FieldError:
        """The error of a fault, ready to be raised."""
        text = self.messages.get(fault) or self.messages[Fault.NOT_PLAIN]
        return FieldError(text.replace("{given}", given))


def parse_number(text: str, rule: Number) -> Micros:
    """Parse a typed number into micros, exactly.

    Raises:
        FieldError: it is no such number; the sentence is the rule's.
    """
    given = text.strip().removesuffix(rule.unit).rstrip()
    result = _PLAIN.fullmatch(given)
    if result is None or given in {"", "."}:
        raise rule.error(_number_fault(given, rule), given)
    whole, fraction = result.group(1).lstrip("0"), (result.group(2) or "").rstrip("0")
    if len(fraction) > rule.decimals:
        raise rule.error(Fault.TOO_FINE, given)
    if len(whole) > rule.digits:
        raise rule.error(Fault.TOO_LONG, given)
    amount = Micros(int(whole or "0") * ONE + int(fraction.ljust(_MICRO_DIGITS, "0")))
    if not rule.least <= amount <= rule.most:
        raise rule.error(Fault.TOO_SMALL if amount < rule.least else Fault.TOO_LARGE, given)
    return amount


def number(rule: Number) -> Callable[[str], Micros]:
    """The parser of a field for such numbers."""
    return partial(parse_number, rule=rule)


def _number_fault(given: str, rule: Number) -> Fault:
    if not given:
        return Fault.EMPTY
    if _NOT_FINITE.fullmatch(given):
        return Fault.NOT_FINITE
    return Fault.SIGNED if given.startswith(rule.signs) else Fault.NOT_PLAIN


def write_number(amount: Micros, decimals: int, *, at_least: int = 0, mark: str = "") -> str:
    """An amount of 0 or more as a person would type it, rounded down.

    Args:
        amount: micros.
        decimals: digits after the point, 6 at most.
        at_least: digits after the point that stay although they are zeros.
        mark: separates thousands; empty in a text to be parsed again.
    """
    whole, rest = divmod(int(amount), int(ONE))
    fraction = f"{rest:0{_MICRO_DIGITS}d}"[:decimals].rstrip("0").ljust(at_least, "0")
    return f"{whole:{mark}}.{fraction}" if fraction else f"{whole:{mark}}"


# -- rules ----------------------------------------------------------------------------------------


def amount_rule(decimals: int) -> Number:
    """Money or shares above zero, up to `AMOUNT_MAX`."""
    too_large = f"Too large: at most {AMOUNT_MAX:,.0f}"
    messages = {
        Fault.EMPTY: "Enter an amount, or pick a preset",
        Fault.NOT_FINITE: "Not an amount: {given}. Enter digits, such as 25.00",
        Fault.SIGNED: "Enter a positive amount",
        Fault.NOT_PLAIN: "Not a number. Enter digits and at most one point, such as 25.00",
        Fault.TOO_FINE: f"At most {decimals} decimals, such as {12.3456789:.{decimals}f}",
        Fault.TOO_LONG: too_large,
        Fault.TOO_SMALL: "Enter a positive amount",
        Fault.TOO_LARGE: too_large,
    }
    return Number(messages, decimals, least=Micros(1), signs=("-",))


def figure_rule(
    what: str,
    least: Micros = Micros(0),
    most: Micros = _MONEY_MAX,
    *,
    beyond: str = "",
    unit: str = "",
) -> Number:
    """A figure with up to four decimals, named `what`; `beyond` is the message outside bounds."""
    messages = {
        Fault.NOT_FINITE: f"{what}: not a number: {{given}}. Enter digits, such as 12.5",
        Fault.SIGNED: f"{what}: no sign, the figure counts from the entry",
        Fault.NOT_PLAIN: f"{what}: enter digits and at most one point, such as 12.5",
        Fault.TOO_FINE: f"{what}: at most {DECIMALS_MAX} decimals",
        Fault.TOO_LONG: f"{what}: at most {_WHOLE_MAX} digits before the point",
        Fault.TOO_SMALL: beyond,
        Fault.TOO_LARGE: beyond,
    }
    return Number(messages, digits=_WHOLE_MAX, least=least, most=most, unit=unit)


def seconds_rule(least: int, most: int) -> Number:
    """A whole number of seconds."""
    beyond = f"seconds: a whole number from {least:,} to {most:,}"
    figure = figure_rule("seconds", Micros(least * ONE), Micros(most * ONE), beyond=beyond)
    messages = {**figure.messages, Fault.TOO_FINE: beyond}
    return Number(messages, 0, figure.digits, figure.least, figure.most)


# -- what is no figure, and percent ---------------------------------------------------------------


def is_off(text: str) -> bool:
    """True if a line means "no figure"."""
    return text.strip().casefold() in {"", OFF}


def parse_percent(text: str, rule: Number) -> float:
    """Parse a percentage into a fraction.

    Raises:
        FieldError: it is none; the sentence is the rule's.
    """
    return parse_number(text, rule) / (PERCENT * ONE)


def percent_text(fraction: float | None) -> str:
    """A fraction as a person would type it in percent; empty for none."""
    return "" if fraction is None else _short(fraction * PERCENT)


def price_text(price: float | None) -> str:
    """A price as a person would type it; empty for none, and for an invalid one."""
    return "" if price is None or not 0 <= price < 1 else _short(price)


def _short(value: float) -> str:
    return f"{value:.{DECIMALS_MAX}f}".rstrip("0").rstrip(".")
