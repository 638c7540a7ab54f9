"""Each notice once: as a toast that takes the place of one of its kind, as a bell, as a count."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from textual.notifications import Notification

from kit.samples.desk import NOW, sample_state
from kit.samples.risk import alert_of
from service_tui.console.keys import cap
from service_tui.console.notifications import Channel, Protocol, desktop_bytes
from service_tui.console.reasons import fix_text
from service_tui.console.shell.notifier import BELL, TOASTS_MAX, Notifier
from service_tui.desk.reasons import Fix
from service_tui.desk.slices.notices import Notice, NoticeKind
from service_tui.desk.slices.risk import RiskView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

STATE = replace(sample_state(6), notices=(), risk=RiskView(), preferences={}, from_cache=False)
ALERT, FILL, DESK = NoticeKind.ALERT, NoticeKind.FILL, NoticeKind.DESK
LOUD = {f"notify.{ALERT.value}": ",".join(Channel)}


@dataclass
class Frame:
    """What is shown and written; each toast is a thing of its own."""

    toasts: list[tuple[str, str, Any]] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    standing: list[Any] = field(default_factory=list)

    def show_toast(self, text: str, tone: str = "info", instead_of: Any = None) -> Any:
        self.toasts.append((text, tone, instead_of))
        self.standing.append(Notification(text, timeout=60.0))
        return self.standing[-1]

    def signal(self, data: str) -> None:
        self.written.append(data)

    @property
    def texts(self) -> list[tuple[str, str]]:
        return [(text, tone) for text, tone, _ in self.toasts]


def state_of(*notices: Notice, **preferences: str) -> DeskState:
    return replace(STATE, notices=notices, preferences=preferences)


def notifier(newest: int = 0) -> tuple[Notifier, Frame]:
    frame = Frame()
    return Notifier(frame, newest), frame


def test_only_what_is_newer_than_the_last_is_told_and_that_once() -> None:
    made, frame = notifier(4)
    state = state_of(Notice(4, "info", "old", ALERT), Notice(5, "warn", "a stop", ALERT))
    made.notify(state, NOW)
    made.notify(state, NOW)
    assert frame.toasts == [("a stop", "warn", None)]
    assert made.unseen == 1
    made.notify(state_of(*state.notices, Notice(6, "good", "bought", FILL)), NOW)
    assert frame.texts == [("a stop", "warn"), ("bought", "good")]
    # An order is told and not counted.
    assert made.unseen == 1


def test_a_toast_takes_the_place_of_one_of_its_kind_that_stands() -> None:
    made, frame = notifier()
    made.notify(state_of(Notice(1, "bad", "first", ALERT)), NOW)
    made.notify(state_of(Notice(2, "warn", "second", ALERT)), NOW)
    made.notify(state_of(Notice(3, "good", "third", FILL)), NOW)
    assert frame.toasts == [
        ("first", "bad", None),
        ("2 alerts, latest: second", "bad", frame.standing[0]),
        ("third", "good", None),
    ]
    frame.standing[1].raised_at = 0.0
    made.notify(state_of(Notice(4, "warn", "fourth", ALERT)), NOW)
    assert frame.toasts[-1] == ("fourth", "warn", None)


def test_of_many_answers_the_last_are_shown_and_the_rest_counted() -> None:
    made, frame = notifier()
    answers = [Notice(number, "info", f"done {number}", DESK) for number in range(1, 6)]
    made.notify(state_of(*answers), NOW)
    assert TOASTS_MAX == 3
    assert frame.texts == [
        ("done 3", "info"), ("done 4", "info"), ("done 5", "info"),
        (f"and 2 more; {cap('app.blotter')} shows all commands", "info"),
    ]  # fmt: skip
    made, frame = notifier()
    made.notify(state_of(*answers[:3]), NOW)
    assert len(frame.toasts) == 3


def test_a_toast_begins_with_the_prefix_and_ends_with_its_fix() -> None:
    made, frame = notifier()
    made.prefix = "now: "
    made.notify(
        state_of(
            Notice(1, "warn", "refused", DESK, fix=Fix.LOWER_AMOUNT),
            Notice(2, "warn", "a stop", ALERT, fix=Fix.SEE_ALERTS),
        ),
        NOW,
    )
    alert, answer = fix_text(Fix.SEE_ALERTS, masked=False), fix_text(Fix.LOWER_AMOUNT, masked=False)
    assert frame.texts == [
        (f"now: a stop — {alert}", "warn"), (f"now: refused — {answer}", "warn"),
    ]  # fmt: skip


def test_amounts_are_masked_in_toasts_and_on_the_desktop() -> None:
    made, frame = notifier()
    notices = (Notice(1, "warn", "sold for 12.34", ALERT), Notice(2, "info", "paid 56.78", DESK))
    made.notify(state_of(*notices, privacy="on", **LOUD), NOW)
    said = " ".join([*(text for text, _ in frame.texts), *frame.written])
    assert "sold for" in said
    assert "12.34" not in said
    assert "56.78" not in said


@pytest.mark.parametrize("protocol", Protocol)
def test_bell_and_desktop_are_written_for_the_channels_that_were_chosen(
    protocol: Protocol,
) -> None:
    made, frame = notifier()
    chosen = {**LOUD, "notify.protocol": protocol.value}
    made.notify(state_of(Notice(1, "warn", "a stop", ALERT), **chosen), NOW)
    assert frame.written == [BELL, desktop_bytes("a stop", protocol)]
    made, frame = notifier()
    made.notify(state_of(Notice(1, "warn", "a stop", ALERT)), NOW)
    assert frame.written == []


def test_events_are_counted_until_somebody_looks_and_each_once() -> None:
    made, _ = notifier()
    first = Notice(1, "warn", "breached", ALERT, about="al-1")
    again = Notice(2, "warn", "sold", ALERT, about="al-1")
    made.notify(state_of(first), NOW)
    made.notify(state_of(again), NOW)
    assert made.unseen == 1
    made.mark_seen()
    assert made.unseen == 0
    made.notify(state_of(replace(again, notice_id=3)), NOW)
    assert made.unseen == 1


def with_alert(*names: str, **preferences: str) -> DeskState:
    alerts = tuple(alert_of(name, expires_at=Timestamp(NOW + 300)) for name in names)
    return replace(STATE, risk=replace(STATE.risk, alerts=alerts), preferences=preferences)


def test_an_alert_in_its_last_minutes_rings_once() -> None:
    made, frame = notifier()
    rings = {f"notify.{ALERT.value}": Channel.BELL.value}
    for state in (with_alert("a", **rings), with_alert("a", **rings), with_alert(**rings)):
        made.ring(state, NOW)
    assert frame.written == [BELL]
    made.ring(with_alert("a", "b", **rings), NOW)
    assert frame.written == [BELL, BELL]


def test_it_rings_unless_another_channel_was_chosen() -> None:
    for preferences, written in (
        ({}, [BELL]),
        ({f"notify.{ALERT.value}": ""}, []),
        ({f"notify.{ALERT.value}": Channel.TOAST.value}, []),
        ({f"notify.{FILL.value}": Channel.TOAST.value}, [BELL]),
    ):
        made, frame = notifier()
        made.ring(with_alert("a", **preferences), NOW)
        assert frame.written == written


def test_quiet_hours_put_the_bell_off_and_do_not_lose_it() -> None:
    made, frame = notifier()
    # It is eight o'clock in the morning.
    made.ring(with_alert("a", **{"notify.quiet": "07:00-09:00"}), NOW)
    assert frame.written == []
    made.ring(with_alert("a"), NOW)
    assert frame.written == [BELL]
