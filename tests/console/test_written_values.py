"""Every value as text, at each bound between two ways of writing it."""

import math
from collections.abc import Callable
from datetime import timedelta, timezone

import pytest
from rich.text import Text

from service_tui.console import formats
from service_tui.terms import Side, Venue
from service_tui.units import ONE, Micros, Timestamp

UNKNOWN = formats.NOT_KNOWN
NONE = (UNKNOWN, "muted")
EAST = timezone(timedelta(hours=9))
AT = Timestamp(1_800_000_000.0)
"""15 January 2027, 08:00:00 UTC."""
LAST = 253_370_764_800


def of(text: Text) -> tuple[str, str]:
    """A text, and the style that it has as a whole."""
    return text.plain, str(text.style)


CASES: list[tuple[Callable[[], Text], str, str]] = [
    (lambda: formats.money(None), *NONE),
    (lambda: formats.money(Micros(0)), "0.00", ""),
    (lambda: formats.money(Micros(4_999)), "0.00", ""),
    (lambda: formats.money(Micros(5_000)), "0.01", ""),
    (lambda: formats.money(Micros(-4_999)), "0.00", ""),
    (lambda: formats.money(Micros(-5_000)), "-0.01", ""),
    (lambda: formats.money(Micros(1_234_567_891_000)), "1,234,567.89", ""),
    (lambda: formats.money(Micros(-1_234_005_000)), "-1,234.01", ""),
    (lambda: formats.money(Micros(5), masked=True), "•••", "muted"),
    (lambda: formats.money(None, masked=True), "•••", "muted"),
    (lambda: formats.money_short(None), *NONE),
    (lambda: formats.money_short(Micros(0)), "0.00", ""),
    (lambda: formats.money_short(Micros(-1)), "0.00", ""),
    (lambda: formats.money_short(Micros(-1_230_000)), "-1.23", ""),
    (lambda: formats.money_short(Micros(9_994_000)), "9.99", ""),
    (lambda: formats.money_short(Micros(9_995_000)), "10.0", ""),
    (lambda: formats.money_short(Micros(99_949_000)), "99.9", ""),
    (lambda: formats.money_short(Micros(99_950_000)), "100", ""),
    (lambda: formats.money_short(Micros(999_499_000)), "999", ""),
    (lambda: formats.money_short(Micros(999_500_000)), "1.00k", ""),
    (lambda: formats.money_short(Micros(12_345 * ONE)), "12.3k", ""),
    (lambda: formats.money_short(Micros(7 * 10**6 * ONE)), "7.00M", ""),
    (lambda: formats.money_short(Micros(8 * 10**9 * ONE)), "8.00B", ""),
    (lambda: formats.money_short(Micros(9 * 10**12 * ONE)), "9.00T", ""),
    (lambda: formats.money_short(Micros(-123 * 10**15 * ONE)), "-1.23e+05T", ""),
    (lambda: formats.money_short(Micros(5), masked=True), "•••", "muted"),
    (lambda: formats.shares(None), *NONE),
    (lambda: formats.shares(Micros(0)), "0.00", ""),
    (lambda: formats.shares(Micros(4_999)), "<0.01", ""),
    (lambda: formats.shares(Micros(5_000)), "0.01", ""),
    (lambda: formats.shares(Micros(4_999), masked=True), "•••", "muted"),
    (lambda: formats.pnl(None), *NONE),
    (lambda: formats.pnl(Micros(5), masked=True), "•••", "muted"),
    (lambda: formats.pnl(Micros(1_230_000)), "+1.23", "profit"),
    (lambda: formats.pnl(Micros(-1_230_000)), "-1.23", "loss"),
    (lambda: formats.pnl(Micros(4_999)), "0.00", "flat"),
    (lambda: formats.pnl(Micros(0)), "0.00", "flat"),
    (lambda: formats.pnl(Micros(1_230_000), arrow=True), "▲ +1.23", "profit"),
    (lambda: formats.pnl(Micros(-1_230_000), arrow=True), "▼ -1.23", "loss"),
    (lambda: formats.pnl(Micros(-12_345 * ONE), short=True), "-12.3k", "loss"),
    (lambda: formats.price(None), *NONE),
    (lambda: formats.price(math.nan), *NONE),
    (lambda: formats.price(0.5), "0.500", ""),
    (lambda: formats.price(0.5, aligned=True), "0.500 ", ""),
    (lambda: formats.price(0.0099, aligned=True), "0.0099", ""),
    (lambda: formats.side(Side.YES), "YES", "yes"),
    (lambda: formats.side(Side.NO), "NO", "no"),
    (lambda: formats.points(None), *NONE),
    (lambda: formats.points(0.014), "+1.4", "profit"),
    (lambda: formats.points(-0.014), "-1.4", "loss"),
    (lambda: formats.points(0.0004), "0.0", "flat"),
    (lambda: formats.percent_change(0.2), "+20.0%", "profit"),
    (lambda: formats.percent_change(-0.2), "-20.0%", "loss"),
    (lambda: formats.percent_change(math.inf), *NONE),
    (lambda: formats.percent_change(1e308), *NONE),
    (lambda: formats.percent(None), *NONE),
    (lambda: formats.percent(math.nan), *NONE),
    (lambda: formats.percent(0.1234), "12.3%", ""),
    (lambda: formats.percent(-0.1234, 0), "-12%", ""),
    (lambda: formats.count(None), *NONE),
    (lambda: formats.count(1_234), "1,234", ""),
    (lambda: formats.age(None, AT), *NONE),
    (lambda: formats.age(Timestamp(math.nan), AT), *NONE),
    (lambda: formats.age(Timestamp(AT + 5), AT), "0s", ""),
    (lambda: formats.age(Timestamp(AT - 59.9), AT), "59s", ""),
    (lambda: formats.age(Timestamp(AT - 60), AT), "1m", ""),
    (lambda: formats.age(Timestamp(AT - 3_599), AT), "59m", ""),
    (lambda: formats.age(Timestamp(AT - 3_600), AT), "1h", ""),
    (lambda: formats.age(Timestamp(AT - 86_399), AT), "23h", ""),
    (lambda: formats.age(Timestamp(AT - 86_400), AT), "1d", ""),
    (lambda: formats.freshness(None, 2.0), "not loaded yet", "muted"),
    (lambda: formats.freshness(math.inf, 2.0), "not loaded yet", "muted"),
    (lambda: formats.freshness(2.0, 2.0), "", ""),
    (lambda: formats.freshness(2.1, 2.0), "2s", "muted"),
    (lambda: formats.freshness(4.0, 2.0), "4s", "muted"),
    (lambda: formats.freshness(4.1, 2.0), "STALE 4s", "stale"),
    (lambda: formats.freshness(10.0, 2.0), "STALE 10s", "stale"),
    (lambda: formats.freshness(10.1, 2.0), "STALE 10s", "muted"),
    (lambda: formats.until(None, AT), *NONE),
    (lambda: formats.until(Timestamp(math.inf), AT), *NONE),
    (lambda: formats.until(AT, AT), "due", ""),
    (lambda: formats.until(Timestamp(AT + 0.5), AT), "in 0s", ""),
    (lambda: formats.until(Timestamp(AT + 250), AT), "in 4m 10s", ""),
    (lambda: formats.clock_time(AT, EAST), "17:00:00", ""),
    (lambda: formats.clock_time(None), UNKNOWN, ""),
    (lambda: formats.clock_time(Timestamp(-0.5), EAST), UNKNOWN, ""),
    (lambda: formats.clock_time(Timestamp(0.0), EAST), "09:00:00", ""),
    (lambda: formats.clock_time(Timestamp(LAST), EAST), "09:00:00", ""),
    (lambda: formats.clock_time(Timestamp(LAST + 1), EAST), UNKNOWN, ""),
    (lambda: formats.date_time(AT, EAST), "15 Jan 17:00", ""),
    (lambda: formats.moment_of(AT, Timestamp(AT + 60), EAST), "17:00:00", ""),
    (lambda: formats.moment_of(AT, Timestamp(AT + 86_400), EAST), "15 Jan 17:00:00", ""),
    (lambda: formats.moment_of(AT, Timestamp(AT + 366 * 86_400), EAST), "15 Jan 17:00:00", ""),
    (lambda: formats.address(None), *NONE),
    (lambda: formats.address("0xabc", masked=True), "•••", "muted"),
    (lambda: formats.address(None, masked=True), "•••", "muted"),
    (lambda: formats.address("0x123456789"), "0x123456789", ""),
    (lambda: formats.address("0x1234567890"), "0x1234…7890", ""),
    (lambda: formats.plain(None), *NONE),
    (lambda: formats.plain("a\n b\x1b[2J  c"), "a b [2J c", ""),
    (lambda: formats.plain("abcde", 5), "abcde", ""),
    (lambda: formats.plain("abcdef", 5), "abcd…", ""),
    (lambda: formats.plain("abc def", 5), "abc…", ""),
]


@pytest.mark.parametrize(("text", "written", "style"), CASES)
def test_a_value_is_written(text: Callable[[], Text], written: str, style: str) -> None:
    assert of(text()) == (written, style)


def test_a_value_in_a_cell_is_never_broken() -> None:
    values: list[Text] = [
        formats.money(Micros(5)), formats.money(None), formats.money(Micros(5), masked=True),
        formats.price(0.5), formats.percent(0.1), formats.count(5), formats.age(AT, AT),
        formats.until(AT, AT), formats.clock_time(AT), formats.date_time(AT),
        formats.moment_of(AT, AT), formats.points(0.1), formats.points(-0.1), formats.points(0.0),
        formats.address(None),
    ]  # fmt: skip
    assert all(one.no_wrap for one in values)


PLAIN: list[tuple[Callable[[], str], str]] = [
    (lambda: formats.unit(Venue.SIM), "$"),
    (lambda: formats.unit(Venue.EVM), "USDC.e"),
    (lambda: formats.unit(Venue.SOL), "USDC"),
    (lambda: formats.duration(math.nan), UNKNOWN),
    (lambda: formats.duration(-5), "0s"),
    (lambda: formats.duration(59.9), "59s"),
    (lambda: formats.duration(60), "1m 00s"),
    (lambda: formats.duration(3_599), "59m 59s"),
    (lambda: formats.duration(3_600), "1h 00m"),
    (lambda: formats.duration(86_399), "23h 59m"),
    (lambda: formats.duration(86_400), "1d 00h"),
    (lambda: formats.duration(13 * 86_400 + 4 * 3_600 + 59), "13d 04h"),
    (lambda: formats.duration_short(250), "4m10s"),
    (lambda: formats.date_time_s(AT, EAST), "15 Jan 17:00:00"),
    (lambda: formats.moment(AT, 600, EAST), "17:00:00"),
    (lambda: formats.moment(AT, 601, EAST), "17:00"),
    (lambda: formats.moment(AT, 86_400, EAST), "17:00"),
    (lambda: formats.moment(AT, 86_401, EAST), "15 Jan 17:00"),
    (lambda: formats.moment(AT, 7 * 86_400, EAST), "15 Jan 17:00"),
    (lambda: formats.moment(AT, 7 * 86_400 + 1, EAST), "15 Jan"),
]


@pytest.mark.parametrize(("text", "written"), PLAIN)
def test_a_time_or_a_unit_is_written(text: Callable[[], str], written: str) -> None:
    assert text() == written


def test_of_a_long_foreign_text_only_its_beginning_is_cleaned() -> None:
    assert formats.plain(" " * 20 + "late", 5).plain == ""
    assert formats.plain(" " * 19 + "late", 5).plain == "l"
