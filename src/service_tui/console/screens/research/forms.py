"""Forms of the research screen: a backtest, and a new session."""

import math
import re
from collections.abc import Callable, Mapping
from typing import ClassVar, Final, TypeVar

from service_tui.console.fields import Fault, Field, FieldError, Number, number, parse_number
from service_tui.console.forms.form import Form, Shown
from service_tui.desk.commands.research import RunBacktest, StartSession
from service_tui.desk.slices.research import SessionView
from service_tui.desk.state import DeskState
from service_tui.terms import (
    DAYS_DEFAULT,
    DAYS_MAX,
    GRID_MAX,
    SLUG_PATTERN,
    THRESHOLD_PATTERN,
    Direction,
    Venue,
)
from service_tui.units import ONE, Micros, Timestamp

Value = TypeVar("Value")

STEPS: Final = 20
VENUES: Final = (Venue.SIM, Venue.EVM)
"""Venues of a backtest. Source: spec, "Autoresearch experiment tool parameters"."""

AGENT_NOTE: Final = "Replays trades of this desk's agent that have signal_data."
"""The service replays the trades of the calling agent, and the desk calls with its own key."""

_NAME: Final = re.compile(THRESHOLD_PATTERN)
_SLUG: Final = re.compile(SLUG_PATTERN)

_THRESHOLD: Final = Number({Fault.NOT_PLAIN: "not a number"}, decimals=6)
_DAYS: Final = Number(
    {Fault.NOT_PLAIN: f"days: 1 to {DAYS_MAX}"}, 0, least=ONE, most=Micros(DAYS_MAX * ONE)
)

Thresholds = tuple[tuple[tuple[str, float], ...], tuple[tuple[str, tuple[float, ...]], ...]]


def read_thresholds(text: str) -> Thresholds:
    """Parse fixed thresholds, and those to sweep: `min_edge=0.05 max_probability=0.2..0.9`.

    Raises:
        FieldError: a part cannot be read.
    """
    fixed: list[tuple[str, float]] = []
    swept: list[tuple[str, tuple[float, ...]]] = []
    for word in text.replace(",", " ").split():
        name, is_there, line = word.partition("=")
        if not is_there or not _NAME.fullmatch(name):
            raise FieldError(f"{word[:40]}: enter min_edge=0.05, or min_edge=0..0.3")
        low, is_range, high = line.partition("..")
        try:
            ends = [_parse_threshold(end) for end in ((low, high) if is_range else (low,))]
        except FieldError:
            raise FieldError(f"{line[:40]}: not a number") from None
        if not is_range:
            fixed.append((name, ends[0]))
            continue
        if not ends[0] < ends[1]:
            raise FieldError(f"{word[:40]}: the first number must be the smaller one")
        width = (ends[1] - ends[0]) / (STEPS - 1)
        swept.append((name, tuple(round(ends[0] + width * step, 9) for step in range(STEPS))))
    if STEPS ** len(swept) > GRID_MAX:
        raise FieldError("sweep at most two thresholds")
    return tuple(fixed), tuple(swept)


def _parse_threshold(text: str) -> float:
    """A typed threshold; it alone may be below zero."""
    bare = text.removeprefix("-")
    value = parse_number(bare, _THRESHOLD) / ONE
    return value if bare == text else -value


def _parse_slug(text: str) -> str:
    slug = text.strip()
    if not _SLUG.fullmatch(slug):
        raise FieldError("enter the skill's slug")
    return slug


def _parse_venue(text: str) -> Venue:
    venue = text.strip()
    if venue not in VENUES:
        raise FieldError(f"venue: {' or '.join(VENUES)}")
    return Venue(venue)


def _parse_folder(text: str) -> str:
    if not text.strip():
        raise FieldError("enter the folder of the git repository")
    return text.strip()


def _parse_direction(text: str) -> Direction:
    direction = text.strip()
    if direction not in {one.value for one in Direction}:
        raise FieldError("enter higher or lower")
    return Direction(direction)


def _field(name: str, parse: Callable[[str], Value], unit: str) -> Field[Value]:
    label = name.partition("-")[2]
    return Field(name, label, parse, unit, letters=400, css_class="wide")


SKILL: Final = _field("backtest-skill", _parse_slug, "slug")
KEEP: Final = _field("backtest-keep", read_thresholds, "min_x max_x, = or a..b")
DAYS: Final = _field("backtest-days", number(_DAYS), f"1 to {DAYS_MAX}")
VENUE: Final = _field("backtest-venue", _parse_venue, ", ".join(VENUES))

FOLDER: Final = _field("session-folder", _parse_folder, "git repository")
SESSION_SKILL: Final = _field("session-skill", _parse_slug, "slug")
NAME: Final = _field("session-name", str.strip, "new name")
METRIC: Final = _field("session-metric", str.strip, "")
BETTER: Final = _field("session-better", _parse_direction, "higher, lower")


class BacktestForm(Form[RunBacktest]):
    """Returns the backtest; a range of values is swept."""

    heading: ClassVar[str] = "Backtest"
    hint: ClassVar[str] = "enter replays, {form.cancel} cancels"
    body = ("form-question", SKILL, KEEP, DAYS, VENUE, "form-preview")

    def __init__(self, state: DeskState, now: Timestamp, skill: str, request_id: int) -> None:
        super().__init__(state, now)
        self._request_id = request_id
        self.first = {
            SKILL.name: skill,
            KEEP.name: "min_edge=0..0.3",
            DAYS.name: str(DAYS_DEFAULT),
            VENUE.name: VENUES[0].value,
        }

    def validate(self) -> RunBacktest:
        """The typed backtest."""
        skill, (fixed, swept) = self.read(SKILL), self.read(KEEP)
        days, venue = self.read(DAYS) // ONE, self.read(VENUE)
        return RunBacktest(self._request_id, skill, fixed, days, venue, swept)

    def describe(self, result: RunBacktest | None) -> Mapping[str, Shown]:
        """The number of combinations, and the agent."""
        shown: dict[str, Shown] = {"form-question": AGENT_NOTE}
        if result is not None:
            points = math.prod(len(values) for _, values in result.sweep)
            text = f"{points} combinations" if result.sweep else "one set of thresholds"
            shown["form-preview"] = text
        return shown


class SessionForm(Form[StartSession]):
    """Returns the new session."""

    heading: ClassVar[str] = "New session"
    body = ("form-question", FOLDER, SESSION_SKILL, NAME, METRIC, BETTER, "form-preview")

    def __init__(self, state: DeskState, now: Timestamp, like: SessionView | None) -> None:
        super().__init__(state, now)
        self._like = like
        self.first = {METRIC.name: "pnl", BETTER.name: Direction.HIGHER.value}
        if like is not None:
            self.first = {
                FOLDER.name: like.repository,
                SESSION_SKILL.name: like.skill,
                METRIC.name: like.metric_name,
                BETTER.name: like.direction.value,
            }

    def validate(self) -> StartSession:
        """The typed session."""
        like = self._like
        folder, skill = self.read(FOLDER), self.read(SESSION_SKILL)
        name, metric = self.read(NAME), self.read(METRIC)
        if not name or not metric:
            raise FieldError("enter a session name and its metric")
        if like is not None and name == like.name:
            raise FieldError("enter a new session name")
        unit = "$" if like is None else like.metric_unit
        return StartSession(name, skill, metric, unit, self.read(BETTER), folder)

    def describe(self, result: StartSession | None) -> Mapping[str, Shown]:
        """The effect."""
        branch = "" if result is None else f"autoresearch/{result.skill}"
        return {
            "form-question": "Starts a new baseline, and clears a pause.",
            "form-preview": branch and f"experiments run on branch {branch}",
        }
