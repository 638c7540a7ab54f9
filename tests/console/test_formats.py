"""Values as text: money, prices, times, and text from outside."""

import math
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from service_tui.console import formats
from service_tui.console.meanings import INKS
from service_tui.console.widgets.spark import sparkline
from service_tui.units import ONE, Micros, Timestamp

NOW = Timestamp(1_800_000_000.0)
WORDS = {*INKS, "flat", ""}
AMOUNTS = st.integers(-(10**15), 10**15).map(Micros)
ANY_FLOAT = st.floats()


def m(amount: float) -> Micros:
    return Micros(round(amount * ONE))


@pytest.mark.parametrize(
    ("text", "written", "style"),
    [
        (formats.money(m(1_234.56)), "1,234.56", ""),
        (formats.money(m(0)), "0.00", ""),
        (formats.money(m(-1_234.565)), "-1,234.57", ""),
        (formats.money(m(-0.004)), "0.00", ""),
        (formats.money(Micros(999_999_999_999_995_000)), "1,000,000,000,000.00", ""),
        (formats.money(None), "–", "muted"),  # noqa: RUF001 - the dash of what is not known
        (formats.money(m(5), masked=True), "•••", "muted"),
        (formats.money_short(m(9.5)), "9.50", ""),
        (formats.money_short(m(99.96)), "100", ""),
        (formats.money_short(m(-999.6)), "-1.00k", ""),
        (formats.money_short(m(12_345)), "12.3k", ""),
        (formats.money_short(m(2_500_000)), "2.50M", ""),
        (formats.money_short(None), "–", "muted"),  # noqa: RUF001
        (formats.pnl(m(12.3)), "+12.30", "profit"),
        (formats.pnl(m(-4)), "-4.00", "loss"),
        (formats.pnl(m(0.004)), "0.00", "flat"),
        (formats.pnl(m(0)), "0.00", "flat"),
        (formats.pnl(m(-12_345), short=True), "-12.3k", "loss"),
        (formats.pnl(m(12.3), arrow=True), "▲ +12.30", "profit"),
        (formats.pnl(m(-12.3), arrow=True), "▼ -12.30", "loss"),
        (formats.pnl(m(12.3), masked=True), "•••", "muted"),
        (formats.pnl(None), "–", "muted"),  # noqa: RUF001
        (formats.shares(m(12.5)), "12.50", ""),
        (formats.shares(Micros(10)), "<0.01", ""),
        (formats.shares(m(0)), "0.00", ""),
        (formats.price(0.62), "0.620", ""),
        (formats.price(0.62, aligned=True), "0.620 ", ""),
        (formats.price(0.0042, aligned=True), "0.0042", ""),
        (formats.price(0.9958), "0.9958", ""),
        (formats.price(0.01), "0.010", ""),
        (formats.price(1.0), "1.000", ""),
        (formats.price(None), "–", "muted"),  # noqa: RUF001
        (formats.price(math.nan), "–", "muted"),  # noqa: RUF001
        (formats.points(0.015), "+1.5", "profit"),
        (formats.points(-0.1), "-10.0", "loss"),
        (formats.points(0.0001), "0.0", "flat"),
        (formats.percent_change(0.2), "+20.0%", "profit"),
        (formats.percent(0.1234), "12.3%", ""),
        (formats.percent(0.5, 0), "50%", ""),
        (formats.count(12_345), "12,345", ""),
        (formats.address("0x1234567890abcdef1234567890abcdef1234abcd"), "0x1234…abcd", ""),
        (formats.address("0x12"), "0x12", ""),
        (formats.address("0x1234567890", masked=True), "•••", "muted"),
        (formats.clock_time(NOW, UTC), "08:00:00", ""),
        (formats.date_time(NOW, UTC), "15 Jan 08:00", ""),
        (formats.moment_of(Timestamp(NOW - 8 * 3_600), NOW, UTC), "00:00:00", ""),
        (formats.moment_of(Timestamp(NOW - 8 * 3_600 - 1), NOW, UTC), "14 Jan 23:59:59", ""),
        (formats.moment_of(Timestamp(NOW - 365 * 86_400), NOW, UTC), "15 Jan 08:00:00", ""),
        (formats.moment_of(None, NOW, UTC), "–", ""),  # noqa: RUF001
        (formats.clock_time(None), "–", ""),  # noqa: RUF001
        (formats.clock_time(Timestamp(1e300)), "–", ""),  # noqa: RUF001
    ],
)
def test_a_value_is_written_so(text: Text, written: str, style: str) -> None:
    assert (text.plain, text.style) == (written, style)


@pytest.mark.parametrize(
    ("seconds", "written"),
    [(-5, "0s"), (3, "3s"), (59.9, "59s"), (240, "4m"), (7_200, "2h"), (432_000, "5d")],
)
def test_an_age_is_in_its_largest_unit(seconds: float, written: str) -> None:
    assert formats.age(Timestamp(NOW - seconds), NOW).plain == written


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (-1, "due"),
        (0, "due"),
        (9, "in 9s"),
        (250, "in 4m 10s"),
        (7_500, "in 2h 05m"),
        (273_600, "in 3d 04h"),
    ],
)
def test_a_time_to_come_is_in_two_units(seconds: float, written: str) -> None:
    assert formats.until(Timestamp(NOW + seconds), NOW).plain == written


@pytest.mark.parametrize(
    ("age_s", "written", "style"),
    [
        (None, "not loaded yet", "muted"),
        (1.0, "", ""),
        (2.0, "", ""),
        (3.0, "3s", "muted"),
        (5.0, "STALE 5s", "stale"),
        (11.0, "STALE 11s", "muted"),
    ],
)
def test_a_datum_older_than_its_period_says_so(
    age_s: float | None, written: str, style: str
) -> None:
    text = formats.freshness(age_s, 2.0)
    assert (text.plain, text.style) == (written, style)


@pytest.mark.parametrize(
    ("span_s", "written"),
    [(300, "08:00:00"), (3_600, "08:00"), (200_000, "15 Jan 08:00"), (5_000_000, "15 Jan")],
)
def test_an_axis_of_time_is_as_fine_as_its_span(span_s: float, written: str) -> None:
    assert formats.moment(NOW, span_s, UTC) == written


def test_foreign_text_is_one_line_and_never_markup() -> None:
    text = formats.plain("[bold]a\n\tb[/]  \x1b[31mc\u202e", 200)
    assert text.plain == "[bold]a b[/] [31mc"
    assert text.spans == []


def test_foreign_text_is_cut_where_it_is_too_long() -> None:
    assert formats.plain("a" * 500, 10).plain == "aaaaaaaaa…"
    assert formats.plain(None).plain == formats.NOT_KNOWN


@pytest.mark.slow
@given(AMOUNTS)
def test_money_is_written_to_the_cent(amount: Micros) -> None:
    written = formats.money(amount).plain.replace(",", "")
    whole, _, cents = written.partition(".")
    assert len(cents) == 2
    back = int(whole + cents) * 10_000
    assert abs(back - amount) <= 5_000


@given(AMOUNTS)
def test_short_money_fits_in_six_cells(amount: Micros) -> None:
    assert len(formats.money_short(amount).plain) <= 6


@given(AMOUNTS)
def test_the_sign_of_profit_is_written_and_not_only_coloured(amount: Micros) -> None:
    text = formats.pnl(amount)
    assert {"profit": "+", "loss": "-", "flat": "0"}[str(text.style)] == text.plain[0]


@given(ANY_FLOAT, ANY_FLOAT)
def test_no_number_is_too_odd_to_be_written(first: float, second: float) -> None:
    texts = (
        formats.price(first),
        formats.points(first),
        formats.percent(first),
        formats.percent_change(first),
        formats.age(Timestamp(first), Timestamp(second)),
        formats.until(Timestamp(first), Timestamp(second)),
        formats.freshness(first, 2.0),
        formats.clock_time(Timestamp(first), UTC),
        formats.date_time(Timestamp(first), UTC),
    )
    for text in texts:
        assert text.style in WORDS
        assert "nan" not in text.plain
        assert "inf" not in text.plain
    assert formats.duration(first)
    assert formats.moment(Timestamp(first), second, UTC)


def test_a_sparkline_rises_with_its_values() -> None:
    assert sparkline((0.3, 0.3, 0.4, 0.4, 0.5, 0.5, 0.6, 0.6), 4) == "⣀⠤⠒⠉"
    assert sparkline((0.6, 0.6, 0.5, 0.5, 0.4, 0.4, 0.3, 0.3), 4) == "⠉⠒⠤⣀"


def test_the_same_move_is_the_same_line_at_every_price() -> None:
    low = [0.10, 0.10, 0.20, 0.20, 0.12, 0.12]
    assert (
        sparkline(low, 3) == sparkline([value + 0.6 for value in low], 3) != sparkline(low[:2], 3)
    )


def test_a_sparkline_of_few_values_stands_on_the_right() -> None:
    assert sparkline((0.5, 0.5), 4) == "   ⠒"


def test_a_sparkline_without_values_is_blank_and_a_flat_one_is_in_the_middle() -> None:
    assert sparkline((), 3) == "   "
    assert sparkline((0.5,) * 4, 2) == "⠒⠒"


def test_noise_is_flat_beside_a_move_of_ten_points() -> None:
    assert sparkline((0.50, 0.50, 0.52, 0.51), 2) == "⠒⠒"
    assert sparkline((0.50, 0.50, 0.60, 0.60), 2) == "⠤⠒"


def test_a_move_beyond_the_scale_shows_where_it_ended() -> None:
    assert sparkline((0.05, 0.05, 0.95, 0.95), 2) == "⣀⠏"
    assert sparkline((0.95, 0.95, 0.05, 0.05), 2) == "⠉⣆"


@pytest.mark.slow
@given(st.lists(ANY_FLOAT, max_size=40), st.integers(-1, 20))
def test_a_sparkline_is_as_wide_as_asked(values: list[float], width: int) -> None:
    line = sparkline(values, width)
    assert len(line) == max(0, width)
    assert all(cell == " " or "\u2801" <= cell <= "\u28ff" for cell in line)


@pytest.mark.slow
@given(st.lists(st.floats(0, 1), min_size=2, max_size=40), st.integers(2, 20))
def test_a_sparkline_has_a_cell_for_two_values(values: list[float], width: int) -> None:
    line = sparkline(values, width)
    assert len(line.strip()) == min(width, (len(values) + 1) // 2)
    assert " " not in line.strip()
