"""Who is told of what, how loud, and when not."""

from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.console.doors import Running, running, seen_before
from kit.console.host import until
from kit.console.textual_private import driver_of
from kit.samples.desk import NOW, sample_state
from service_tui.console.notifications import (
    KINDS,
    Channel,
    Choices,
    Protocol,
    Quiet,
    channels_text,
    choices_of,
    desktop_bytes,
    is_quiet,
    notifications,
    quiet_of,
)
from service_tui.desk.slices.notices import Notice, NoticeKind
from service_tui.units import Timestamp

STATE = seen_before(sample_state())
BERLIN = ZoneInfo("Europe/Berlin")
LOUD = Choices({kind: frozenset(Channel) for kind in KINDS})
ALERT, FILL, HALT = NoticeKind.ALERT, NoticeKind.FILL, NoticeKind.HALT


def notice(number: int, kind: NoticeKind = ALERT, text: str = "stop", tone: str = "warn") -> Notice:
    return Notice(number, tone, text, kind)


def at(*parts: int, zone: tzinfo = UTC) -> Timestamp:
    year, month, day, hour, minute = (*parts, 0)[:5]
    return Timestamp(datetime(year, month, day, hour, minute, tzinfo=zone).timestamp())


# -- choices ------------------------------------------------------------------------------------


def test_every_kind_has_a_rule_but_what_answers_the_person() -> None:
    assert set(KINDS) == set(NoticeKind) - {NoticeKind.DESK}
    assert Choices().channels_of(NoticeKind.DESK) == {Channel.TOAST}


def test_nothing_rings_until_it_is_chosen() -> None:
    for kind in KINDS:
        assert not {Channel.BELL, Channel.DESKTOP} & choices_of({}).channels_of(kind)


def test_choices_are_kept_as_words_and_odd_ones_are_passed_over() -> None:
    chosen = choices_of({
        "notify.alert": "bell,desktop,drum",
        "notify.fill": "",
        "notify.quiet": "22:00-07:30",
        "notify.protocol": "OSC 777",
    })
    assert chosen.channels_of(ALERT) == {Channel.BELL, Channel.DESKTOP}
    assert chosen.channels_of(FILL) == frozenset()
    assert chosen.channels_of(HALT) == KINDS[HALT].channels
    assert chosen.quiet == Quiet(22 * 60, 7 * 60 + 30)
    assert chosen.protocol is Protocol.OSC777
    assert choices_of({"notify.protocol": "OSC 99"}).protocol is Protocol.OSC9


@pytest.mark.slow
@given(st.sets(st.sampled_from(Channel)))
def test_ways_are_read_as_they_are_kept(ways: set[Channel]) -> None:
    assert choices_of({"notify.alert": channels_text(ways)}).channels_of(ALERT) == ways


# -- quiet hours --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("22:00-07:00", "22:00-07:00"),
        ("22-7", "22:00-07:00"),
        (" 0:30 - 6:05 ", "00:30-06:05"),
        ("00:00-23:59", "00:00-23:59"),
    ],
)
def test_hours_are_read(text: str, words: str) -> None:
    quiet = quiet_of(text)
    assert quiet is not None
    assert quiet.describe() == words
    assert quiet_of(words) == quiet


@pytest.mark.parametrize(
    "text",
    ["", "22:00", "-", "22:00-22:00", "24:00-07:00", "22:60-07:00", "ten-two",
     "\u0662\u0662-\u0667", "1-2-3",
     "-1-5", "22:000-7", "nan-inf", "22:00\u201307:00", "1:2:3-4"],
)  # fmt: skip
def test_what_is_no_span_is_no_quiet(text: str) -> None:
    assert quiet_of(text) is None


@pytest.mark.parametrize(
    ("span", "hour", "minute", "quiet"),
    [
        ("22:00-07:00", 21, 59, False),
        ("22:00-07:00", 22, 0, True),
        ("22:00-07:00", 23, 59, True),
        ("22:00-07:00", 0, 0, True),
        ("22:00-07:00", 6, 59, True),
        ("22:00-07:00", 7, 0, False),
        ("12:00-13:30", 11, 59, False),
        ("12:00-13:30", 12, 0, True),
        ("12:00-13:30", 13, 29, True),
        ("12:00-13:30", 13, 30, False),
        ("00:00-06:00", 0, 0, True),
        ("00:00-06:00", 23, 59, False),
        ("18:00-00:00", 23, 59, True),
        ("18:00-00:00", 0, 0, False),
    ],
)
def test_quiet_hours_hold_by_the_clock_on_the_wall(
    span: str, hour: int, minute: int, *, quiet: bool
) -> None:
    moment = at(2027, 6, 1, hour, minute, zone=BERLIN)
    assert is_quiet(quiet_of(span), moment, BERLIN) is quiet
    assert is_quiet(None, moment, BERLIN) is False


@pytest.mark.parametrize(
    ("moment", "quiet"),
    [
        # The clock goes from 02:00 to 03:00: the hour between never is.
        ((2027, 3, 28, 0, 59), False),
        ((2027, 3, 28, 1, 0), True),
        ((2027, 3, 28, 1, 29), True),
        ((2027, 3, 28, 1, 30), False),
        # It goes from 03:00 back to 02:00: what is between comes twice, and is quiet twice.
        ((2027, 10, 31, 0, 29), False),
        ((2027, 10, 31, 0, 30), True),
        ((2027, 10, 31, 0, 59), True),
        ((2027, 10, 31, 1, 0), False),
        ((2027, 10, 31, 1, 30), True),
        ((2027, 10, 31, 2, 29), True),
        ((2027, 10, 31, 2, 30), False),
    ],
)
def test_quiet_hours_over_a_change_of_the_clock(moment: tuple[int, ...], *, quiet: bool) -> None:
    # UTC moments; 02:30-03:30 on the wall of Berlin.
    assert is_quiet(quiet_of("02:30-03:30"), at(*moment), BERLIN) is quiet


@given(st.integers(0, 1439), st.integers(0, 1439), st.integers(0, 1439))
def test_a_span_and_its_rest_share_the_day(begins: int, ends: int, minute: int) -> None:
    if begins != ends:
        assert Quiet(begins, ends).contains(minute) != Quiet(ends, begins).contains(minute)


# -- what is delivered --------------------------------------------------------------------------


def test_each_way_is_used_only_where_it_is_chosen() -> None:
    for way in Channel:
        choices = Choices({ALERT: frozenset({way})})
        found = notifications([notice(1)], choices, NOW, zone=UTC)
        assert bool(found.toasts) is (way is Channel.TOAST)
        assert found.unseen == (way is Channel.BADGE)
        assert found.bell is (way is Channel.BELL)
        assert found.desktop == ("stop" if way is Channel.DESKTOP else "")


def test_quiet_hours_keep_toast_and_count_and_silence_the_rest() -> None:
    quiet = replace(LOUD, quiet=Quiet(0, 1439))
    found = notifications([notice(1), notice(2, HALT)], quiet, at(2027, 6, 1, 3), zone=UTC)
    assert (len(found.toasts), found.unseen) == (2, 2)
    assert (found.bell, found.desktop) == (False, "")


def test_many_of_a_kind_are_one_toast_with_their_number_and_the_gravest_tone() -> None:
    notices = [notice(1, tone="bad"), notice(2, text="target", tone="good"), notice(3, FILL, "x")]
    found = notifications(notices, LOUD, NOW, zone=UTC)
    first, second = found.toasts
    assert (first.summary(), first.tone, first.count) == ("2 alerts, latest: target", "bad", 2)
    assert second.summary() == "x"
    more = notifications([notice(4, text="stop")], LOUD, NOW, zone=UTC, shown={ALERT: first})
    assert more.toasts[0].summary() == "3 alerts, latest: stop"
    assert found.bell
    assert found.desktop == "3 notices, latest: x"


def test_a_notice_that_says_itself_how_many_wait_is_said_once() -> None:
    kind = NoticeKind.APPROVAL
    many = "2 trades wait for you, the newest: trend asks to buy NO"
    notices = [notice(1, kind, "trend asks to buy NO"), notice(2, kind, many, tone="warn")]
    (toast,) = notifications(notices, LOUD, NOW, zone=UTC).toasts
    assert (toast.summary(), toast.tone) == (many, "warn")
    later = notifications([notice(3, kind, "approved: buy NO")], LOUD, NOW, shown={kind: toast})
    assert later.toasts[0].summary() == "approved: buy NO"


def test_an_alert_and_its_exit_are_counted_once_until_somebody_has_looked() -> None:
    alert = replace(notice(1), about="alert-1")
    exit_ = replace(notice(2, NoticeKind.EXIT, "sold"), about="alert-1")
    other = replace(notice(3), about="alert-2")
    found = notifications([alert, exit_, other], Choices(), NOW, zone=UTC)
    assert (len(found.toasts), found.unseen) == (2, 2)
    later = notifications([exit_], Choices(), NOW, zone=UTC, counted=frozenset({"alert-1"}))
    assert (len(later.toasts), later.unseen) == (1, 0)
    assert notifications([exit_], Choices(), NOW, zone=UTC).unseen == 1
    assert notifications([notice(1), notice(2)], Choices(), NOW, zone=UTC).unseen == 2


def test_answers_to_the_person_are_one_toast_and_not_counted_as_events() -> None:
    notices = [notice(number, NoticeKind.DESK, f"answer {number}") for number in range(3)]
    found = notifications(notices, LOUD, NOW, zone=UTC)
    assert [(toast.summary(), toast.count) for toast in found.toasts] == [("answer 2", 3)]
    assert (found.unseen, found.bell, found.desktop) == (0, False, "")


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from(NoticeKind), st.text(max_size=30)), max_size=40))
def test_there_is_at_most_one_toast_a_kind(kinds: list[tuple[NoticeKind, str]]) -> None:
    notices = [notice(place, kind, text) for place, (kind, text) in enumerate(kinds)]
    found = notifications(notices, LOUD, NOW, zone=UTC)
    told = [toast.kind for toast in found.toasts]
    assert len(told) == len(set(told)) == len({kind for kind, _ in kinds})
    assert sum(toast.count for toast in found.toasts) == len(notices)


# -- bytes --------------------------------------------------------------------------------------


def test_the_bytes_of_a_desktop_notification_are_exactly_these() -> None:
    said = "stop loss: YES of m-1"
    assert desktop_bytes(said, Protocol.OSC9) == f"\x1b]9;service-tui: {said}\x1b\\"
    assert desktop_bytes(said, Protocol.OSC777) == f"\x1b]777;notify;service-tui;{said}\x1b\\"
    assert desktop_bytes(" \n\x1b\x07 ", Protocol.OSC9) == ""
    # A semicolon would begin another field, and a long text is cut.
    assert desktop_bytes("4;1;\x1b]52", Protocol.OSC777) == (
        "\x1b]777;notify;service-tui;4,1, ]52\x1b\\"
    )
    assert desktop_bytes("x" * 900, Protocol.OSC9) == f"\x1b]9;service-tui: {'x' * 160}\x1b\\"


@pytest.mark.slow
@given(st.text(max_size=400), st.sampled_from(Protocol))
def test_no_text_from_outside_ends_or_begins_a_sequence(text: str, protocol: Protocol) -> None:
    hostile = f"4;1;100{text}\x1b]52;c;aGk=\x07\x9c\u202e\x1b[2J"
    sent = desktop_bytes(hostile, protocol)
    head = {Protocol.OSC9: "\x1b]9;service-tui: ", Protocol.OSC777: "\x1b]777;notify;service-tui;"}
    assert sent.startswith(head[protocol])
    assert sent.endswith("\x1b\\")
    body = sent.removeprefix(head[protocol]).removesuffix("\x1b\\")
    assert body.isprintable()
    assert ";" not in body
    assert len(body) <= 160


# -- in the console -----------------------------------------------------------------------------


def sent_by(seen: Running, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    sent: list[str] = []
    monkeypatch.setattr(driver_of(seen.app), "write", sent.append)
    return sent


def signals(sent: list[str]) -> list[str]:
    return [data for data in sent if data.startswith("\x1b]9;") or data == "\a"]


async def told(seen: Running, *notices: Notice, **preferences: str) -> None:
    kept = {**STATE.preferences, **preferences}
    await seen.bring(replace(STATE, notices=notices, preferences=kept))


@pytest.mark.slow
async def test_by_default_nothing_is_written_to_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(STATE, first="portfolio") as seen:
        sent = sent_by(seen, monkeypatch)
        await told(seen, *(notice(place, kind) for place, kind in enumerate(NoticeKind, start=1)))
        assert signals(sent) == []
        assert len(seen.toasts) == len(NoticeKind)


@pytest.mark.slow
async def test_the_badge_counts_until_somebody_looks() -> None:
    async with running(STATE, first="portfolio", size=(120, 40)) as seen:
        await told(seen, notice(1), notice(2, HALT), notice(3, FILL))
        await seen.until(lambda: " 2 notices " in seen.text)
        await told(seen, notice(4))
        await seen.until(lambda: " 3 notices " in seen.text)
        await seen.press("2")
        assert " 3 notices " in seen.text
        await seen.press("0")
        await seen.until(lambda: " notices " not in seen.lines[0])


@pytest.mark.slow
async def test_a_click_on_the_badge_leads_to_what_needs_me() -> None:
    async with running(STATE, first="portfolio", size=(120, 40)) as seen:
        await told(seen, notice(1))
        await seen.until(lambda: " 1 notice " in seen.lines[0])
        await seen.pilot.click(offset=(seen.lines[0].index("1 notice"), 0))
        await seen.until(lambda: seen.app.front.name_in_keys == "attention")


@pytest.mark.slow
async def test_nobody_looks_at_a_terminal_without_the_focus() -> None:
    async with running(STATE, first="attention", size=(120, 40)) as seen:
        seen.app.app_focus = False
        await told(seen, notice(1))
        await seen.until(lambda: " 1 notice " in seen.text)
        seen.app.app_focus = True
        seen.app.show_state()
        await seen.until(lambda: " notice " not in seen.lines[0])


@pytest.mark.slow
async def test_a_toast_that_stands_takes_in_the_next_of_its_kind() -> None:
    async with running(STATE, first="portfolio") as seen:
        sold = NoticeKind.EXIT
        await told(seen, notice(1, sold, "first"))
        assert seen.toasts == ["! first"]
        await told(seen, notice(1, sold), notice(2, sold, "second", tone="bad"))
        assert seen.toasts == ["✗ 2 stop sales, latest: second"]
        await told(seen, *(notice(number, sold, f"n{number}") for number in range(3, 23)))
        assert seen.toasts == ["✗ 22 stop sales, latest: n22"]
        await until(
            seen.pilot,
            lambda: len(seen.app.screen.query("Toast")) == 1,
        )
