"""Each notice once: as a toast that takes the place of one of its kind, as a bell, as a count."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from textual.notifications import Notification

from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import pending_trade_of, run_of
from kit.samples.reactor import reactor_state, waiting
from kit.samples.risk import alert_of, price_alert_of
from service_tui.console.keys import cap
from service_tui.console.needs_aside import MUTED, Mute, written_mutes
from service_tui.console.notifications import Channel, Protocol, desktop_bytes
from service_tui.console.reasons import fix_text
from service_tui.console.shell.notifier import BELL, Notifier
from service_tui.desk.reasons import Fix
from service_tui.desk.slices.notices import Notice, NoticeKind
from service_tui.desk.slices.reactor import MIRROR
from service_tui.desk.slices.risk import RiskView
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.supervision import SkillRunState, SupervisionView, approval_text
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

STATE = replace(sample_state(6), notices=(), risk=RiskView(), preferences={}, from_cache=False)
ALERT, FILL, DESK = NoticeKind.ALERT, NoticeKind.FILL, NoticeKind.DESK
EXIT = NoticeKind.EXIT
LOUD = {f"notify.{ALERT.value}": ",".join(Channel)}


@dataclass
class Frame:
    """What is shown and written; each toast is a thing of its own."""

    toasts: list[tuple[str, str, str]] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    standing: list[Any] = field(default_factory=list)

    def show_toast(self, text: str, tone: str = "info", kind: str = "") -> Any:
        self.toasts.append((text, tone, kind))
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
    state = state_of(Notice(4, "info", "old", EXIT), Notice(5, "warn", "a stop", EXIT))
    made.notify(state, NOW)
    made.notify(state, NOW)
    assert frame.toasts == [("a stop", "warn", "exit")]
    assert made.unseen == 1
    made.notify(state_of(*state.notices, Notice(6, "good", "bought", FILL)), NOW)
    assert frame.texts == [("a stop", "warn"), ("bought", "good")]
    # An order is told and not counted.
    assert made.unseen == 1


def test_a_toast_takes_the_place_of_one_of_its_kind_that_stands() -> None:
    made, frame = notifier()
    made.notify(state_of(Notice(1, "bad", "first", EXIT)), NOW)
    made.notify(state_of(Notice(2, "warn", "second", EXIT)), NOW)
    made.notify(state_of(Notice(3, "good", "third", FILL)), NOW)
    assert frame.toasts == [
        ("first", "bad", "exit"),
        ("2 stop sales, latest: second", "bad", "exit"),
        ("third", "good", "fill"),
    ]
    frame.standing[1].raised_at = 0.0
    made.notify(state_of(Notice(4, "warn", "fourth", EXIT)), NOW)
    assert frame.toasts[-1] == ("fourth", "warn", "exit")


def test_of_many_answers_the_last_of_the_gravest_is_shown_and_the_rest_counted() -> None:
    made, frame = notifier()
    answers = [Notice(number, "info", f"done {number}", DESK) for number in range(1, 4)]
    made.notify(state_of(*answers), NOW)
    more = f" (and 2 more: {cap('app.blotter')} shows all commands)"
    assert frame.toasts == [(f"done 3{more}", "info", "desk")]
    # An answer of later says nothing of those before.
    made.notify(state_of(Notice(4, "info", "done 4", DESK)), NOW)
    assert frame.texts[-1] == ("done 4", "info")
    failed = (Notice(5, "bad", "failed", DESK), Notice(6, "good", "done 6", DESK))
    made.notify(state_of(*failed), NOW)
    assert frame.texts[-1] == (f"failed{more.replace('2', '1')}", "bad")


LISTED = (
    Notice(1, "bad", "stop loss: sale pending", ALERT),
    Notice(2, "info", "Heron bought 12.00 YES", NoticeKind.SIGNAL),
    Notice(3, "warn", f"approval needed, {approval_text(pending_trade_of())}", NoticeKind.APPROVAL),
    Notice(4, "bad", "gauge as heron: exit code 3", NoticeKind.AGENT),
    Notice(5, "warn", "YES above 0.80", NoticeKind.PRICE_ALERT),
    Notice(6, "bad", "the service does not answer", NoticeKind.CONNECTION),
)
"""What the inbox has rows about, while it has them."""


def with_rows(state: DeskState) -> DeskState:
    """The state with a row of the inbox for each of these notices."""
    sample = reactor_state()
    fired = price_alert_of(triggered_at=NOW, triggered_price=0.8)
    return replace(
        state,
        reactor=replace(sample.reactor, signals=(waiting(1, sample),)),
        risk=RiskView(alerts=(alert_of(),), price_alerts=(fired,)),
        supervision=SupervisionView(
            pending_trades=(pending_trade_of(),), runs=(run_of(state=SkillRunState.CRASHED),)
        ),
        service=replace(state.service, phase=Phase.OFFLINE),
    )


def test_what_the_inbox_lists_is_counted_and_no_toast() -> None:
    lost = replace(sample_state(6).tickets[0], state=TicketState.REFUSED, outcome="too little cash")
    refused = Notice(7, "warn", f"{lost.what}: {lost.outcome}", FILL)
    made, frame = notifier()
    made.notify(replace(with_rows(state_of(*LISTED, refused)), tickets=(lost,)), NOW)
    assert frame.toasts == []
    assert made.unseen == 5


@pytest.mark.parametrize("notice", LISTED, ids=lambda one: one.kind.value)
def test_what_the_inbox_has_no_row_about_is_a_toast(notice: Notice) -> None:
    made, frame = notifier()
    made.notify(state_of(notice), NOW)
    assert frame.texts == [(notice.text, notice.tone)]


def test_a_row_that_was_muted_is_a_row() -> None:
    muted = written_mutes([Mute("price alerts", "price alerts")])
    made, frame = notifier()
    made.notify(with_rows(state_of(replace(LISTED[4], tone="bad"), **{MUTED: muted})), NOW)
    assert frame.toasts == []


def test_a_refused_mirror_says_why_in_a_toast() -> None:
    lost = replace(
        sample_state(6).tickets[0], kind=MIRROR, state=TicketState.REFUSED, outcome="price moved"
    )
    text = f"{lost.what}: price moved"
    made, frame = notifier()
    made.notify(replace(state_of(Notice(1, "bad", text, FILL)), tickets=(lost,)), NOW)
    assert frame.toasts == [(text, "bad", "fill")]


def test_what_passed_is_a_toast() -> None:
    for number, (tone, kind) in enumerate((
        ("good", FILL), ("warn", EXIT), ("warn", NoticeKind.SIGNAL), ("good", NoticeKind.SIGNAL),
        ("warn", NoticeKind.APPROVAL), ("bad", NoticeKind.APPROVAL), ("good", ALERT),
        ("good", NoticeKind.CONNECTION), ("warn", NoticeKind.HALT), ("warn", NoticeKind.AGENT),
    ), 1):  # fmt: skip
        made, frame = notifier()
        made.notify(state_of(Notice(number, tone, "it passed", kind)), NOW)
        assert frame.texts == [("it passed", tone)]


def test_a_muted_kind_has_no_channel_unless_something_went_wrong() -> None:
    made, frame = notifier()
    muted = {MUTED: written_mutes([Mute("signals", "signals")]), "notify.signal": ",".join(Channel)}
    made.notify(state_of(Notice(1, "info", "a signal", NoticeKind.SIGNAL), **muted), NOW)
    assert (frame.toasts, frame.written, made.unseen) == ([], [], 0)
    # What went wrong is told all the same.
    made.notify(state_of(Notice(2, "warn", "signal skipped", NoticeKind.SIGNAL), **muted), NOW)
    assert [text for text, _ in frame.texts] == ["signal skipped"]


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
        (f"now: refused — {answer}", "warn"), (f"now: a stop — {alert}", "warn"),
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


def test_an_alert_that_came_to_its_end_is_forgotten_and_one_that_is_not_read_is_not() -> None:
    made, frame = notifier()
    made.ring(with_alert("a", "b"), NOW)
    made.ring(with_alert(), NOW)
    made.ring(with_alert("a", "b"), NOW)
    assert frame.written == [BELL]
    made.ring(with_alert("b"), NOW)
    made.ring(with_alert("a", "b"), NOW)
    assert frame.written == [BELL, BELL]


def test_quiet_hours_put_the_bell_off_and_do_not_lose_it() -> None:
    made, frame = notifier()
    # It is eight o'clock in the morning.
    made.ring(with_alert("a", **{"notify.quiet": "07:00-09:00"}), NOW)
    assert frame.written == []
    made.ring(with_alert("a"), NOW)
    assert frame.written == [BELL]
