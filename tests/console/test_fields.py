"""Typed numbers: exact, as they are written, and nothing but plain digits with one point."""

import re
from collections.abc import Mapping

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service_tui.console.fields import (
    Fault,
    FieldError,
    Number,
    amount_rule,
    figure_rule,
    parse_number,
    parse_percent,
    seconds_rule,
    write_number,
)
from service_tui.units import AMOUNT_MAX, ONE, Micros

MOST = int(AMOUNT_MAX) * ONE
DECIMALS = st.integers(0, 6)
WORDS: Mapping[Fault, str] = {each: each.name for each in Fault}


def exact(decimals: int) -> Number:
    return Number(WORDS, decimals)


@given(st.integers(0, MOST), DECIMALS, st.integers(0, 6))
def test_an_amount_is_read_as_it_is_written(amount: int, decimals: int, at_least: int) -> None:
    grain = 10 ** (6 - decimals)
    told = Micros(amount // grain * grain)
    text = write_number(told, decimals, at_least=min(at_least, decimals))
    assert parse_number(text, exact(decimals)) == told
    # What is finer than its text is written rounded down.
    assert write_number(Micros(amount), decimals, at_least=min(at_least, decimals)) == text


@pytest.mark.slow
@given(st.text(max_size=20) | st.from_regex(r"\s?[-+]?[0-9]{0,12}\.?[0-9]{0,8}\s?\Z"), DECIMALS)
@example("nan", 2)
@example("-inf", 2)
@example("1e5", 2)
@example("1_000", 2)
@example("1,000", 2)
@example("1 000", 2)
@example("\uff15", 2)
@example("\u0665", 2)
@example("\u00b2", 2)
@example("-0", 2)
@example("+1", 2)
@example("1.2.3", 2)
def test_plain_digits_with_one_point_are_taken_and_nothing_else(text: str, decimals: int) -> None:
    try:
        amount = parse_number(text, exact(decimals))
    except FieldError:
        return
    whole, _, fraction = text.strip().partition(".")
    assert re.fullmatch(r"[0-9]*", whole)
    assert re.fullmatch(r"[0-9]*", fraction)
    assert whole or fraction
    assert amount == int(whole or "0") * ONE + int(fraction.rstrip("0").ljust(6, "0") or "0")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", Fault.EMPTY),
        ("  ", Fault.EMPTY),
        ("NaN", Fault.NOT_FINITE),
        ("-inf", Fault.NOT_FINITE),
        ("+Infinity", Fault.NOT_FINITE),
        ("-5", Fault.SIGNED),
        ("+5", Fault.SIGNED),
        (".", Fault.NOT_PLAIN),
        ("1e2", Fault.NOT_PLAIN),
        ("1.234", Fault.TOO_FINE),
        ("12345", Fault.TOO_LONG),
        ("1.99", Fault.TOO_SMALL),
        ("9.01", Fault.TOO_LARGE),
    ],
)
def test_each_fault_has_its_own_sentence(text: str, fault: Fault) -> None:
    rule = Number(WORDS, 2, digits=4, least=Micros(2 * ONE), most=Micros(9 * ONE))
    with pytest.raises(FieldError, match=f"^{fault.name}$"):
        parse_number(text, rule)
    with pytest.raises(FieldError, match=r"^plain$"):
        parse_number(text, Number({Fault.NOT_PLAIN: "plain"}, 2, 4, rule.least, rule.most))


def test_the_bounds_themselves_are_taken() -> None:
    wait = seconds_rule(10, 86_400)
    assert [parse_number(text, wait) // ONE for text in ("10", "86400", "0300.0")] == [
        10,
        86_400,
        300,
    ]
    with pytest.raises(FieldError, match="a whole number from 10 to 86,400"):
        parse_number("10.5", wait)
    assert parse_number("0.01", amount_rule(2)) == 10_000
    assert parse_percent("12.5 %", figure_rule("stop", unit="%")) == 0.125
