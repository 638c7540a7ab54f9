"""Parsing of thresholds typed for a monitor."""

from contextlib import nullcontext
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.samples.desk import NOW
from kit.samples.guarded import guarded_state
from service_tui.console.exit_estimate import exit_at, exit_now, guarded, unguarded
from service_tui.console.fields import (
    FieldError,
    figure_rule,
    parse_number,
    percent_text,
    price_text,
)
from service_tui.console.forms.monitor_draft import (
    Change,
    TypedExits,
    TypedThreshold,
    read_change,
    read_changes,
    read_stop,
    read_target,
    read_trail,
    trail_text,
)
from service_tui.desk.slices.risk import (
    NO_THRESHOLDS,
    MonitorState,
    Thresholds,
    stop_price,
    target_price,
)
from service_tui.terms import Venue
from service_tui.units import ONE, Micros, Timestamp

STATE = guarded_state()
MONITOR = STATE.risk.monitors[1]
ENTRY = 0.4
OTHER = replace(MONITOR, market_id="m-x", stop_loss_pct=None, take_profit_pct=0.5)


@pytest.mark.parametrize(
    ("text", "fraction"),
    [("20", 0.2), ("20%", 0.2), ("20 %", 0.2), (" 12.5 ", 0.125), ("100", 1.0), ("0.0001", 1e-6)],
)
def test_a_stop_is_read_as_percent_of_the_entry(text: str, fraction: float) -> None:
    assert read_stop(TypedThreshold(text), ENTRY) == pytest.approx(fraction)


@pytest.mark.parametrize(
    "text",
    [
        "0",
        "0.0",
        "100.0001",
        "101",
        "-5",
        "+5",
        "nan",
        "inf",
        "-inf",
        "Infinity",
        "1e2",
        "12,5",
        "0.00001",
        "12.345678",
        ".",
        "%",
        "1.2.3",
        "twenty",
        "٢٠",
        "9999999",
        "0x10",
    ],
)
def test_what_is_no_stop_is_refused_in_words(text: str) -> None:
    with pytest.raises(FieldError, match="stop"):
        read_stop(TypedThreshold(text), ENTRY)


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "1e3", "0.00001", "5,0", "."])
def test_what_is_no_target_is_refused_in_words(text: str) -> None:
    with pytest.raises(FieldError, match="target"):
        read_target(TypedThreshold(text), ENTRY)


@pytest.mark.parametrize("text", ["0.4", "0.41", "1", "nan", "-0.1", "0.12345"])
def test_a_stop_price_lies_below_the_entry(text: str) -> None:
    with pytest.raises(FieldError, match="stop price"):
        read_stop(TypedThreshold(text, is_price=True), ENTRY)


@pytest.mark.parametrize("text", ["0.4", "0.1", "1", "1.5", "inf"])
def test_a_target_price_lies_between_the_entry_and_one(text: str) -> None:
    with pytest.raises(FieldError, match="target price"):
        read_target(TypedThreshold(text, is_price=True), ENTRY)


def test_a_price_needs_an_entry() -> None:
    with pytest.raises(FieldError, match="percentage"):
        read_stop(TypedThreshold("0.1", is_price=True), None)
    with pytest.raises(FieldError, match="percentage"):
        read_target(TypedThreshold("0.9", is_price=True), None)


def test_an_empty_line_and_off_are_no_threshold() -> None:
    for text in ("", "  ", "off", "OFF"):
        assert read_stop(TypedThreshold(text), ENTRY) is None
        assert read_target(TypedThreshold(text, is_price=True), ENTRY) is None


def test_both_missing_is_refused() -> None:
    with pytest.raises(FieldError, match="Enter a stop, a target"):
        read_change(MONITOR, TypedThreshold(""), TypedThreshold("off"))
    with pytest.raises(FieldError, match=r"esc, then d removes the monitor"):
        read_change(MONITOR, TypedThreshold(""), TypedThreshold("off"))
    unset = replace(MONITOR, stop_loss_pct=None, take_profit_pct=None)
    with pytest.raises(FieldError, match=r"or a time$"):
        read_change(unset, TypedThreshold(""), TypedThreshold("off"))


@given(st.floats(0.0001, 1.0), st.floats(0.01, 0.99))
def test_the_other_line_says_the_same_to_a_ten_thousandth(pct: float, entry: float) -> None:
    text = percent_text(pct)
    if text == "0":
        return
    read = read_stop(TypedThreshold(text), entry)
    assert read == pytest.approx(pct, abs=1e-6)
    price = stop_price(entry, read)
    assert price is not None
    written = price_text(price)
    if 0 <= float(written) < entry:
        back = read_stop(TypedThreshold(written, is_price=True), entry)
        assert back == pytest.approx(read, abs=1e-4 / entry)


@given(st.text(max_size=12))
def test_whatever_is_typed_is_a_number_or_a_sentence(text: str) -> None:
    try:
        said = ""
        number = parse_number(text, figure_rule("stop")) / ONE
    except FieldError as refused:
        said, number = str(refused), 0.0
    assert 0 <= number < 1e6
    assert not said or said.startswith("stop: ")


def test_an_untouched_line_loses_no_digit() -> None:
    fine = 0.123456789
    typed = TypedThreshold(percent_text(fine), kept=fine, kept_text=percent_text(fine))
    assert read_stop(typed, ENTRY) == fine
    assert read_target(typed, ENTRY) == fine
    for read in (read_stop, read_target):
        assert read(replace(typed, text="25"), ENTRY) == 0.25


@pytest.mark.parametrize(
    "state", [MonitorState.CLOSED, MonitorState.NOT_HELD, MonitorState.EXITING]
)
def test_what_cannot_be_guarded_is_refused(state: MonitorState) -> None:
    with pytest.raises(FieldError):
        read_change(replace(MONITOR, state=state), TypedThreshold("20"), TypedThreshold(""))


def test_many_keep_what_is_not_typed_and_only_the_changed_are_returned() -> None:
    same = replace(OTHER, market_id="m-y", stop_loss_pct=0.1)
    changes = read_changes((MONITOR, OTHER, same), "10", "")
    assert [
        (c.monitor.market_id, c.thresholds.stop_loss_pct, c.thresholds.take_profit_pct)
        for c in changes
    ] == [
        (MONITOR.market_id, 0.1, MONITOR.take_profit_pct),
        ("m-x", 0.1, 0.5),
    ]


def test_many_refuse_what_would_leave_one_bare_or_change_nothing() -> None:
    with pytest.raises(FieldError, match="no threshold left"):
        read_changes((OTHER,), "", "off")
    with pytest.raises(FieldError, match="No change"):
        read_changes((OTHER,), "", "50")
    with pytest.raises(FieldError, match="Enter a stop"):
        read_changes((OTHER,), " ", "")
    with pytest.raises(FieldError, match="stop"):
        read_changes((OTHER,), "nan", "")


def test_a_threshold_that_the_mark_has_passed_says_which() -> None:
    entry, mark = MONITOR.entry, MONITOR.mark
    assert entry is not None
    assert mark is not None
    assert Change(replace(MONITOR, mark=entry * 0.7), Thresholds(0.2)).exits_at_once == "stop"
    assert (
        Change(replace(MONITOR, mark=entry * 1.3), Thresholds(None, 0.2)).exits_at_once == "target"
    )
    assert Change(replace(MONITOR, mark=entry), Thresholds(0.2, 0.2)).exits_at_once == ""


def test_an_exit_brings_less_than_the_mark_and_less_at_a_lower_price() -> None:
    market = STATE.markets[MONITOR.market_id]
    worth = MONITOR.shares * 0.3
    high, low = exit_at(MONITOR, 0.3, market), exit_at(MONITOR, 0.2, market)
    assert high is not None
    assert low is not None
    assert low.brings < high.brings < worth
    assert high.pnl == high.brings - MONITOR.cost


def test_on_a_book_an_exit_keeps_the_part_of_the_mark_that_it_brings_now() -> None:
    held = replace(
        MONITOR,
        venue=Venue.EVM,
        mark=0.5,
        shares=Micros(100_000_000),
        exit_value=Micros(45_000_000),
    )
    found = exit_at(held, 0.25, None)
    assert found is not None
    assert found.brings == pytest.approx(22_500_000, abs=1)
    assert exit_at(held, None, None) is None
    assert exit_at(held, 1.2, None) is None
    unknown = exit_at(replace(held, exit_value=None), 0.25, None)
    assert unknown is not None
    assert unknown.brings == pytest.approx(25_000_000, abs=1)
    assert exit_now(replace(held, exit_value=None)) is None


def test_a_position_without_a_monitor_begins_without_thresholds() -> None:
    bare = STATE.positions[6]
    found = guarded(STATE, bare.key)
    assert found == unguarded(bare)
    assert (found.stop_loss_pct, found.take_profit_pct) == (None, None)
    assert guarded(STATE, "nobody:yes") is None
    assert target_price(found.entry, None) is None


@pytest.mark.parametrize(
    ("text", "trail"),
    [
        ("5", (0.05, None)),
        ("5%", (0.05, None)),
        (" 12.5 % ", (0.125, None)),
        ("3pt", (None, 0.03)),
        ("0.5 PT", (None, 0.005)),
        ("", (None, None)),
        ("off", (None, None)),
    ],
)
def test_a_trailing_stop_is_percent_of_the_peak_or_points(
    text: str, trail: tuple[float | None, float | None]
) -> None:
    assert read_trail(text) == pytest.approx(trail)
    assert read_trail(trail_text(Thresholds(None, None, *trail))) == pytest.approx(trail)


@pytest.mark.parametrize("text", ["0", "100", "0pt", "100pt", "-5", "nan", "3p", "1e1", "5%%"])
def test_what_is_no_trailing_stop_is_refused_in_words(text: str) -> None:
    with pytest.raises(FieldError, match="trailing stop"):
        read_trail(text)


def change_with(trail: str = "", exit_at: str = "", *, kept: Thresholds = NO_THRESHOLDS) -> Change:
    typed = TypedExits(trail, exit_at, kept, trail_text(kept), "2h" if kept.exit_at else "")
    off = TypedThreshold("off")
    return read_change(MONITOR, off, off, exits=typed, now=NOW)


def test_a_time_stop_alone_is_a_monitor_and_nothing_is_none() -> None:
    assert change_with(exit_at="45m").command.thresholds.exit_at == NOW + 2_700
    assert change_with(trail="5%").thresholds == Thresholds(trailing_stop_pct=0.05)
    with pytest.raises(FieldError, match="Enter a stop"):
        change_with()
    with pytest.raises(FieldError, match="17:30"):
        change_with(exit_at="soon")


@pytest.mark.parametrize(
    ("mark", "peak", "trail", "is_refused"),
    [
        (0.4, 0.5, "49.9pt", False),
        (0.4, 0.5, "50pt", True),
        (0.4, 0.5, "50.1pt", True),
        (0.5, 0.4, "49.9pt", False),
        (0.5, 0.4, "50pt", True),
        (0.5, None, "50pt", True),
        (None, None, "50pt", False),
    ],
)
def test_points_that_reach_from_the_peak_down_to_nothing_are_refused(
    mark: float | None, peak: float | None, trail: str, *, is_refused: bool
) -> None:
    held, off = replace(MONITOR, mark=mark, peak=peak), TypedThreshold("off")
    with pytest.raises(FieldError, match="never sells") if is_refused else nullcontext():
        read_change(held, off, off, exits=TypedExits(trail), now=NOW)


def test_an_untouched_text_keeps_its_threshold_to_the_digit() -> None:
    kept = Thresholds(trailing_stop_pct=0.0512345, exit_at=Timestamp(NOW + 7_199))
    assert change_with(trail_text(kept), "2h", kept=kept).thresholds == kept
    assert change_with("", "2h", kept=kept).thresholds == replace(kept, trailing_stop_pct=None)
    assert change_with("3pt", "", kept=kept).thresholds == Thresholds(trailing_stop_points=0.03)


def test_a_monitor_that_trails_keeps_its_peak_so_that_a_closer_stop_may_sell_at_once() -> None:
    trails = replace(MONITOR, mark=0.6, peak=0.7, trailing_stop_pct=0.2, trail_price=0.56)
    closer = Change(trails, Thresholds(trailing_stop_pct=0.1))
    assert closer.exits_at_once == "trailing stop"
    assert not replace(closer, thresholds=Thresholds(trailing_stop_pct=0.15)).exits_at_once
    assert not replace(closer, monitor=replace(trails, peak=None)).exits_at_once


def test_many_keep_their_trailing_and_time_stops() -> None:
    trails = replace(OTHER, trailing_stop_points=0.02, exit_at=Timestamp(NOW + 60))
    (change,) = read_changes([trails], "15", "")
    assert change.thresholds == Thresholds(0.15, 0.5, None, 0.02, Timestamp(NOW + 60))
    # What is left watches something: a target may go.
    assert read_changes([trails], "", "off")[0].thresholds.take_profit_pct is None
    with pytest.raises(FieldError, match="no threshold left"):
        read_changes([OTHER], "", "off")


def test_a_trailing_stop_that_could_never_sell_is_refused() -> None:
    with pytest.raises(FieldError, match="less than the mark"):
        change_with("99pt")
