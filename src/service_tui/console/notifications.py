"""Channels of a notice: toast, bell, desktop notification, the count in the bar. Pure.

Another kind of notice is one more row in `KINDS`.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from typing import Final

from service_tui.desk.reasons import Fix, Reason
from service_tui.desk.slices.notices import Notice, NoticeKind
from service_tui.desk.slices.reactor import MIRROR
from service_tui.desk.slices.supervision import approval_text
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

CHANNELS_OF: Final = "notify."
"""Preferences: `notify.` and the kind for its channels, and the two names below."""

QUIET: Final = "notify.quiet"
PROTOCOL: Final = "notify.protocol"

HOUR_MIN: Final = 60
DAY_H: Final = 24
_DIGITS: Final = 2

BODY_MAX: Final = 160
"""Letters of a desktop notification."""

TITLE: Final = "service-tui"


class Channel(StrEnum):
    """A notification channel; its value is used in the preference and on the screen."""

    TOAST = "toast"
    BADGE = "badge"
    BELL = "bell"
    DESKTOP = "desktop"


class Protocol(StrEnum):
    """The escape sequence of a desktop notification."""

    OSC9 = "OSC 9"
    OSC777 = "OSC 777"


@dataclass(frozen=True, slots=True)
class KindRule:
    """Name of a notice kind, one and many, and its default channels.

    `is_sum`: its newest notice includes the number of all.
    """

    name: str
    many: str
    meaning: str
    channels: frozenset[Channel]
    is_sum: bool = False


_TOAST_ONLY: Final = frozenset({Channel.TOAST})
_COUNTED: Final = _TOAST_ONLY | {Channel.BADGE}

KINDS: Final[Mapping[NoticeKind, KindRule]] = {
    NoticeKind.ALERT: KindRule(
        "alerts",
        "alerts",
        "A stop or target was breached (a row of the inbox, no toast), and the result.",
        _COUNTED,
    ),
    NoticeKind.EXIT: KindRule(
        "stop sales",
        "stop sales",
        "A position was sold for an alert, by this desk or the service.",
        _COUNTED,
    ),
    NoticeKind.PRICE_ALERT: KindRule(
        "price alerts",
        "price alerts",
        "A price alert fired (a row of the inbox, no toast).",
        _COUNTED,
    ),
    NoticeKind.FILL: KindRule(
        "orders", "orders", "An order ended, or a position resolved.", _TOAST_ONLY
    ),
    NoticeKind.SIGNAL: KindRule(
        "signals",
        "signals",
        "A watched wallet traded (a row of the inbox, no toast), and the result.",
        _COUNTED,
    ),
    NoticeKind.CONNECTION: KindRule(
        "connection",
        "connection changes",
        "The service disconnected or reconnected.",
        _TOAST_ONLY,
    ),
    NoticeKind.HALT: KindRule(
        "halts", "halts and pauses", "Trading was halted, paused or resumed.", _COUNTED
    ),
    NoticeKind.APPROVAL: KindRule(
        "approvals",
        "approvals",
        "A trade of an agent needs approval (a row of the inbox, no toast), and the answer.",
        _COUNTED,
        is_sum=True,
    ),
    NoticeKind.AGENT: KindRule(
        "agents",
        "agents and skills",
        "A skill crashed (a row of the inbox, no toast), or ran out of its budget.",
        _COUNTED,
    ),
}
"""The kinds with a setting, in the order of the settings. Silent by default (ux)."""


@dataclass(frozen=True, slots=True)
class Quiet:
    """Hours without bell and desktop, minutes of the local day: from `begins` until `ends`.

    They span midnight if `begins` is the later one.
    """

    begins: int
    ends: int

    def contains(self, minute: int) -> bool:
        """True if a minute of the local day is quiet."""
        if self.begins < self.ends:
            return self.begins <= minute < self.ends
        return minute >= self.begins or minute < self.ends

    def describe(self) -> str:
        """The hours as a person types them."""
        return f"{_hours(self.begins)}-{_hours(self.ends)}"


@dataclass(frozen=True, slots=True)
class Choices:
    """The person's notification settings."""

    channels: Mapping[NoticeKind, frozenset[Channel]] = field(
        default_factory=dict[NoticeKind, "frozenset[Channel]"]
    )
    quiet: Quiet | None = None
    protocol: Protocol = Protocol.OSC9

    def channels_of(self, kind: NoticeKind) -> frozenset[Channel]:
        """The channels of a kind; an answer to the person's own key is a toast only."""
        rule = KINDS.get(kind)
        return _TOAST_ONLY if rule is None else self.channels.get(kind, rule.channels)


@dataclass(frozen=True, slots=True)
class Toast:
    """Content of a toast: the newest text of a kind, its fix, and the count."""

    kind: NoticeKind
    tone: str
    text: str
    count: int = 1
    fix: Fix | str = ""

    def summary(self) -> str:
        """The text, after the number if there are several."""
        rule = KINDS.get(self.kind)
        is_alone = self.count == 1 or rule is None or rule.is_sum
        return self.text if is_alone or rule is None else self._many(rule)

    def _many(self, rule: KindRule) -> str:
        return f"{self.count} {rule.many}, latest: {self.text}"


@dataclass(frozen=True, slots=True)
class Notifications:
    """Output for some notices: at most one bell and one desktop notification.

    `events` are the ids counted in `unseen`.
    """

    toasts: tuple[Toast, ...] = ()
    unseen: int = 0
    events: frozenset[str] = frozenset()
    bell: bool = False
    desktop: str = ""


def choices_of(preferences: Mapping[str, str]) -> Choices:
    """The person's settings of the preferences; unknown values are ignored."""
    summary = {channel.value: channel for channel in Channel}
    channels = {
        kind: frozenset(summary[word] for word in text.split(",") if word in summary)
        for kind in KINDS
        if (text := preferences.get(CHANNELS_OF + kind.value)) is not None
    }
    protocol = next(
        (one for one in Protocol if one.value == preferences.get(PROTOCOL)), Protocol.OSC9
    )
    return Choices(channels, quiet_of(preferences.get(QUIET, "")), protocol)


def channels_text(channels: Iterable[Channel]) -> str:
    """Channels as a preference stores them."""
    selected = set(channels)
    return ",".join(channel.value for channel in Channel if channel in selected)


def quiet_of(text: str) -> Quiet | None:
    """Quiet hours as they are typed, `22:00-07:00`; None for any other text."""
    begins, dash, ends = text.replace(" ", "").partition("-")
    first, last = _minute(begins), _minute(ends)
    if not dash or first is None or last is None or first == last:
        return None
    return Quiet(first, last)


def _minute(text: str) -> int | None:
    """A time of day, `7`, `07:30`, in minutes."""
    hours, colon, minutes = text.partition(":")
    parts = (hours, minutes) if colon else (hours, "0")
    if not all(part.isascii() and part.isdecimal() and len(part) <= _DIGITS for part in parts):
        return None
    hour, minute = (int(part) for part in parts)
    return hour * HOUR_MIN + minute if hour < DAY_H and minute < HOUR_MIN else None


def _hours(minute: int) -> str:
    return f"{minute // HOUR_MIN:02d}:{minute % HOUR_MIN:02d}"


def is_quiet(quiet: Quiet | None, now: Timestamp, zone: tzinfo | None = None) -> bool:
    """True if a moment is in the quiet hours of a place; `zone` None is the machine's own.

    Wall time counts: an hour that comes twice is quiet twice, one that is left out shortens the
    night.

    Returns:
        True from the first minute until the last, exclusive.
    """
    if quiet is None:
        return False
    local = datetime.fromtimestamp(now, UTC).astimezone(zone)
    return quiet.contains(local.hour * HOUR_MIN + local.minute)


_GRAVITY: Final = ("info", "good", "warn", "bad")

_CALM_TONES: Final = frozenset({"info", "good"})
"""Tones that a mute silences: what went wrong is told all the same."""

_LISTED: Final = {
    (NoticeKind.ALERT, "bad"): ("alert ", "agent ", "redeem:"),
    **dict.fromkeys(((NoticeKind.PRICE_ALERT, tone) for tone in _GRAVITY), ("price ",)),
    (NoticeKind.SIGNAL, "info"): ("signal ",),
    (NoticeKind.SIGNAL, "bad"): ("breaker", "barred reactor"),
    (NoticeKind.AGENT, "bad"): ("run ",),
    (NoticeKind.CONNECTION, "bad"): ("offline", "key", "briefing", "answer "),
}
"""By kind and tone of a notice, how the keys of the inbox's rows about such events begin: breached
or unsold alerts, price alerts that fired, signals and a breaker, crashes, a service that does not
answer."""

_WITHOUT_END: Final = frozenset({TicketState.UNKNOWN, TicketState.REFUSED, TicketState.FAILED})
"""States of orders that the inbox lists."""

_TOPICS: Final = {
    "signals": NoticeKind.SIGNAL,
    "price alerts": NoticeKind.PRICE_ALERT,
    "crashed skills": NoticeKind.AGENT,
}
"""Kinds of rows that can be muted, and the notices about them."""


def is_listed(notice: Notice, state: DeskState, rows: Collection[str]) -> bool:
    """True if the inbox has a row about a notice: it is counted there, and needs no toast.

    Args:
        notice: what passed.
        state: the newest.
        rows: keys of the rows that the inbox has now, also of those put aside.
    """
    if any(row.startswith(_LISTED.get((notice.kind, notice.tone), ())) for row in rows):
        return True
    if notice.kind is NoticeKind.APPROVAL and notice.tone == "warn":
        # Not the answer to a decision, which has other words.
        return any(
            notice.text.endswith(approval_text(one)) for one in state.supervision.pending_trades
        )
    # A mirror is sent with one key, without a ticket that could show its refusal.
    return any(
        ticket.state in _WITHOUT_END
        and ticket.kind != MIRROR
        and notice.text == f"{ticket.what}: {ticket.outcome}"
        for ticket in state.tickets
    )


def muted_kinds(topics: Collection[str]) -> frozenset[NoticeKind]:
    """The kinds of notices about rows that are muted."""
    return frozenset(kind for topic, kind in _TOPICS.items() if topic in topics)


def notifications(  # noqa: PLR0913 - each decides on its own
    notices: Sequence[Notice],
    choices: Choices,
    now: Timestamp,
    *,
    zone: tzinfo | None = None,
    shown: Mapping[NoticeKind, Toast] | None = None,
    counted: frozenset[str] = frozenset(),
    listed: frozenset[int] = frozenset(),
    muted: frozenset[NoticeKind] = frozenset(),
) -> Notifications:
    """Toasts, bell and desktop text for new notices.

    Args:
        notices: the new ones, oldest first.
        choices: the person's settings.
        now: wall time.
        zone: the person's time zone; None is the machine's own.
        shown: toasts still on the screen: another notice of their kind joins them.
        counted: events that are unseen already: further notices of them are not counted.
        listed: notices about which the inbox has a row: they are no toasts.
        muted: kinds that the person has muted: no channel has them.

    Returns:
        Toasts to show, one a kind, which replace those they joined. In quiet hours there is no
        bell and no desktop text.
    """
    joined: dict[NoticeKind, Toast] = {}
    loud: list[tuple[Notice, frozenset[Channel]]] = []
    unseen, events = 0, set[str]()
    for notice in notices:
        if notice.kind in muted and notice.tone in _CALM_TONES:
            continue
        channels = choices.channels_of(notice.kind)
        if Channel.BADGE in channels:
            unseen += notice.about not in counted | events
            events |= {notice.about} - {""}
        loud.append((notice, channels))
        if Channel.TOAST not in channels or notice.notice_id in listed:
            continue
        toast = Toast(notice.kind, notice.tone, notice.text, fix=notice.fix)
        # An answer to the person's own key says nothing of an earlier one.
        earlier = (shown or {}).get(notice.kind) if notice.kind in KINDS else None
        before = joined.get(notice.kind) or earlier
        joined[notice.kind] = toast if before is None else _joined(before, toast)
    result = Notifications(tuple(joined.values()), unseen, frozenset(events))
    if is_quiet(choices.quiet, now, zone):
        return result
    desktop = [notice for notice, channels in loud if Channel.DESKTOP in channels]
    return replace(
        result,
        bell=any(Channel.BELL in channels for _, channels in loud),
        desktop=_on_the_desktop(desktop),
    )


def _joined(before: Toast, toast: Toast) -> Toast:
    """Two toasts of a kind as one: the newest text, the graver tone.

    Of answers to the person's own keys, the text of the graver one.
    """
    is_graver = _GRAVITY.index(before.tone) > _GRAVITY.index(toast.tone)
    if toast.kind not in KINDS:
        return replace(before if is_graver else toast, count=before.count + 1)
    tone = before.tone if is_graver else toast.tone
    return replace(toast, tone=tone, count=before.count + 1)


def _on_the_desktop(notices: Sequence[Notice]) -> str:
    if not notices:
        return ""
    last = Reason(notices[-1].text, notices[-1].fix).plain()
    return last if len(notices) == 1 else f"{len(notices)} notices, latest: {last}"


def desktop_bytes(text: str, protocol: Protocol) -> str:
    """The escape sequence of a desktop notification.

    Args:
        text: from anywhere; only its printable letters go in, on one line, without semicolons,
        which separate the fields of OSC 777 and begin commands of OSC 9.
        protocol: the one that the terminal supports.

    Returns:
        One escape sequence of ours around harmless text; empty if no text is left.

    Source: iTerm2, "Proprietary Escape Codes" (OSC 9); rxvt-unicode, "urxvt-notify" (OSC 777).
    """
    line = "".join(letter if letter.isprintable() else " " for letter in text[: 4 * BODY_MAX])
    body = " ".join(line.replace(";", ",").split())[:BODY_MAX]
    if not body:
        return ""
    if protocol is Protocol.OSC777:
        return f"\x1b]777;notify;{TITLE};{body}\x1b\\"
    # Behind the name it never begins with a number, which some terminals take as a command.
    return f"\x1b]9;{TITLE}: {body}\x1b\\"
