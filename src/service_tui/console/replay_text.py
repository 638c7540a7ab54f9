"""Texts of a replay: available actions, conditions, and parsing a typed time."""

import re
from calendar import month_abbr
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from service_tui.console import formats
from service_tui.console.fields import FieldError
from service_tui.console.freshness import is_private
from service_tui.console.keys import cap
from service_tui.console.parts.view_memory import LAST_SCREEN, VIEW
from service_tui.console.widgets.banner import LastingCondition
from service_tui.desk.command import Command
from service_tui.desk.commands.agents import ReadDay, ReadLog, WatchAgent, WatchHoldings
from service_tui.desk.commands.research import ReadEvaluations
from service_tui.desk.commands.settings import SetPreference, WatchMarket
from service_tui.desk.commands.trading import RequestQuote
from service_tui.desk.recording.moment import RecordedMoment
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

READINGS: Final = (
    WatchMarket, WatchAgent, WatchHoldings, ReadLog, ReadDay, ReadEvaluations, RequestQuote,
)  # fmt: skip
"""Commands that screens give by themselves; the present desk gets the last of each afterwards."""

VIEW_PREFERENCES: Final = frozenset({LAST_SCREEN, "theme", "privacy", "welcome"})

_UNITS: Final = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0}
_AGO: Final = re.compile(r"(?:(\d{1,3})d)?(?:(\d{1,4})h)?(?:(\d{1,5})m)?(?:(\d{1,6})s)?(?: ?ago)?")
_TIME: Final = r"(\d{1,2}):(\d{2})(?::(\d{2}))?"
_CLOCK: Final = re.compile(rf"(yesterday )?{_TIME}")
_DATED: Final = re.compile(rf"(\d{{4}})-(\d{{1,2}})-(\d{{1,2}})[ t]{_TIME}")
_NAMED: Final = re.compile(rf"(\d{{1,2}}) ([a-z]{{3}}) {_TIME}")
_MONTHS: Final = tuple(month.casefold() for month in month_abbr)
"""Source: the calendar; the first is empty, so that January is 1."""

HOW: Final = "type a time, such as 03:12, 15 Jan 07:59, 2026-01-15 07:59, or 20m for 20 minutes ago"
"""What can be typed."""


def is_of_view(command: Command) -> bool:
    """True for a command that only sets how this console looks."""
    if not isinstance(command, SetPreference):
        return False
    return command.name in VIEW_PREFERENCES or command.name.startswith((VIEW, "command"))


def replayed(moment: RecordedMoment, live: DeskState) -> DeskState:
    """A recorded state as it is shown: with the looks of now, and masked if either one is.

    Args:
        moment: what was recorded.
        live: the present state, whose looks are used.
    """
    state = moment.state
    looks = {
        name: value
        for name, value in live.preferences.items()
        if is_of_view(SetPreference(name, value))
    }
    # A theme of then, which is no longer chosen, is not worn either.
    looks.setdefault("theme", "")
    looks["privacy"] = "on" if is_private(live) or is_private(state) else "off"
    looks["welcome"] = "seen"
    return replace(
        state,
        preferences={**state.preferences, **looks},
        notices=(),
        drill=None,
        rewound_to=moment.at,
    )


def replay_condition(moment: RecordedMoment, *, is_alone: bool) -> LastingCondition:
    """The line below the head while a recorded state is shown."""
    event = f"{moment.event} · " if moment.event else ""
    steps = f"{cap('app.earlier')} {cap('app.later')} step, {cap('app.replay_time')} time"
    leaves = f"{cap('app.out')} leaves" if is_alone else f"{cap('app.replay')} returns to now"
    return LastingCondition("warn", "replay", f"{event}nothing can be sent; {leaves}; {steps}")


def no_moment_condition(problem: str) -> LastingCondition:
    """The line below the head of a console without a desk while it shows no recorded state.

    Args:
        problem: why; empty while one is read.
    """
    if not problem:
        return LastingCondition("warn", "replay", "reading the recording")
    keys = f"{cap('app.replay_time')} time, {cap('app.out')} leaves"
    return LastingCondition("warn", "replay", f"{problem}; {keys}")


def time_text(at: Timestamp) -> str:
    """A moment of the recording: day and wall time to the second."""
    return formats.date_time_s(at)


def read_time(text: str, now: Timestamp, zone: tzinfo | None = None) -> Timestamp:
    """Parse a time that has passed.

    Args:
        text: `03:12` (the last one), `yesterday 03:12`, `15 Jan 07:59:30`, `2026-01-15 07:59`, or
            how long ago: `20m`, `1h30m`.
        now: wall time.
        zone: of the typed time; None is the machine's own.

    Raises:
        FieldError: it is no time; the sentence names what can be typed.
    """
    given = " ".join(text.casefold().split()).removeprefix("-")
    try:
        found = _passed(given, now) if _AGO.fullmatch(given) else _named(given, now, zone)
    except (ValueError, OverflowError, OSError):
        found = None
    if found is None:
        raise FieldError(HOW)
    return Timestamp(found)


def _passed(given: str, now: Timestamp) -> float | None:
    """The time so long ago; None if no length is given."""
    spans = _AGO.fullmatch(given)
    if spans is None or not any(spans.groups()):
        return None
    lengths = zip(spans.groups(), _UNITS.values(), strict=True)
    return max(0.0, now - sum(int(number or 0) * unit for number, unit in lengths))


def _named(given: str, now: Timestamp, zone: tzinfo | None) -> float | None:
    """The time of a date, or the last one of a clock or of a day of the year."""
    today = datetime.fromtimestamp(now, UTC).astimezone(zone)
    if clock := _CLOCK.fullmatch(given):
        time = [int(part or 0) for part in clock.groups()[1:]]
        at = datetime(today.year, today.month, today.day, *time, tzinfo=zone)
        if clock.group(1) or _last(at, now) > now:
            at -= timedelta(days=1)
        return _last(at, now)
    if dated := _DATED.fullmatch(given):
        year, month, day, *time = (int(part or 0) for part in dated.groups())
        return _last(datetime(year, month, day, *time, tzinfo=zone), now)
    if named := _NAMED.fullmatch(given):
        day, month = int(named.group(1)), _MONTHS.index(named.group(2))
        time = [int(part or 0) for part in named.groups()[2:]]
        at = datetime(today.year, month, day, *time, tzinfo=zone)
        return _last(at if _last(at, now) <= now else at.replace(year=at.year - 1), now)
    return None


def _last(at: datetime, now: Timestamp) -> float:
    """When a local time was last; its first one where it has not been yet.

    Clocks that are set back show an hour twice: of the two the later one that has passed is meant.
    """
    times = sorted(at.replace(fold=fold).timestamp() for fold in (0, 1))
    return next((time for time in reversed(times) if time <= now), times[0])
