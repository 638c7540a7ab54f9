"""What to replay a skill's trades under, and how a session begins."""

import math
import re
from collections.abc import Iterator
from typing import ClassVar, Final

from textual.containers import Horizontal
from textual.widget import Widget

from service_tui.console.forms.form import Form
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.console.widgets.words import Words
from service_tui.desk.commands.research import RunBacktest, StartSession
from service_tui.desk.slices.research import DAYS_DEFAULT, DAYS_MAX, SessionView
from service_tui.desk.state import DeskState
from service_tui.terms import Direction, Venue
from service_tui.units import Timestamp

POINTS_MAX: Final = 400
STEPS: Final = 20
VENUES: Final = (Venue.SIM, Venue.EVM)
"""Where trades can be replayed. Source: spec, "Autoresearch experiment tool parameters"."""

WHOSE: Final = "Replays the trades of this desk's agent that carry signal_data."
"""The service replays the trades of whoever asks, and the desk asks with its own key."""

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]{0,63}")
_SLUG: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_\-]{0,127}")

Thresholds = tuple[tuple[tuple[str, float], ...], tuple[tuple[str, tuple[float, ...]], ...]]


def read_thresholds(text: str) -> Thresholds | str:
    """Thresholds that hold, and those to sweep: `min_edge=0.05 max_probability=0.2..0.9`.

    Returns:
        Both, or what cannot be read.
    """
    fixed: list[tuple[str, float]] = []
    swept: list[tuple[str, tuple[float, ...]]] = []
    points = 1
    for word in text.replace(",", " ").split():
        name, is_there, said = word.partition("=")
        if not is_there or not _NAME.fullmatch(name):
            return f"{word[:40]} is no threshold: write min_edge=0.05, or min_edge=0..0.3"
        low, is_range, high = said.partition("..")
        ends = _number(low), _number(high) if is_range else None
        if ends[0] is None or (is_range and ends[1] is None):
            return f"{said[:40]} is no number"
        if ends[1] is None:
            fixed.append((name, ends[0]))
            continue
        if not ends[0] < ends[1]:
            return f"{word[:40]}: the first number must be the smaller one"
        width = (ends[1] - ends[0]) / (STEPS - 1)
        swept.append((name, tuple(round(ends[0] + width * step, 9) for step in range(STEPS))))
        points *= STEPS
    if points > POINTS_MAX:
        return "two thresholds can be swept at one time"
    return tuple(fixed), tuple(swept)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


class BacktestForm(Form[RunBacktest]):
    """Returns what to replay; a range of values is swept."""

    heading: ClassVar[str] = "Backtest"
    hint: ClassVar[str] = "enter replays, {form.cancel} leaves"

    def __init__(self, state: DeskState, now: Timestamp, skill: str, request_id: int) -> None:
        super().__init__(state, now)
        self._skill = skill
        self._request_id = request_id

    def parts(self) -> Iterator[Widget]:
        """The skill, the thresholds, the days, the venue."""
        yield Words(WHOSE, id="form-question")
        yield _line("skill", self._skill, "slug", "backtest")
        yield _line("keep", "min_edge=0..0.3", "min_x max_x, = or a..b", "backtest")
        yield _line("days", str(DAYS_DEFAULT), f"1 to {DAYS_MAX}", "backtest")
        yield _line("venue", VENUES[0].value, ", ".join(VENUES), "backtest")
        yield Words(id="form-preview")

    def judged(self) -> RunBacktest | str:
        """The replay that stands there, or what is against it."""
        skill = self.typed("backtest-skill").strip()
        if not _SLUG.fullmatch(skill):
            return "name the skill by its slug"
        found = read_thresholds(self.typed("backtest-keep"))
        if isinstance(found, str):
            return found
        days = self.typed("backtest-days").strip()
        if not (days.isascii() and days.isdecimal() and 1 <= int(days[:4]) <= DAYS_MAX):
            return f"days are 1 to {DAYS_MAX}"
        venue = self.typed("backtest-venue").strip()
        if venue not in VENUES:
            return f"the venue is {' or '.join(VENUES)}"
        return RunBacktest(self._request_id, skill, found[0], int(days), Venue(venue), found[1])

    def preview(self, result: RunBacktest | None) -> None:
        """What will be asked."""
        if result is None:
            return
        points = math.prod(len(values) for _, values in result.sweep)
        said = f"{points} combinations are tried" if result.sweep else "one set of thresholds"
        self.query_one("#form-preview", Words).tell(said)


class SessionForm(Form[StartSession]):
    """Returns the session that is to begin."""

    heading: ClassVar[str] = "New session"

    def __init__(self, state: DeskState, now: Timestamp, like: SessionView | None) -> None:
        super().__init__(state, now)
        self._like = like

    def parts(self) -> Iterator[Widget]:
        """Where, on what, what it measures."""
        like = self._like
        yield Words("A fresh baseline; it clears a pause.", id="form-question")
        yield _line("folder", like.repository if like else "", "git repository", "session")
        yield _line("skill", like.skill if like else "", "slug", "session")
        yield _line("name", "", "of the session, a new one", "session")
        yield _line("metric", like.metric_name if like else "pnl", "", "session")
        yield _line(
            "better", like.direction.value if like else "higher", "higher, lower", "session"
        )
        yield Words(id="form-preview")

    def judged(self) -> StartSession | str:  # noqa: PLR0911  (one line a fault)
        """The session that stands there, or what is against it."""
        folder, skill = self.typed("session-folder").strip(), self.typed("session-skill").strip()
        name, metric = self.typed("session-name").strip(), self.typed("session-metric").strip()
        better = self.typed("session-better").strip()
        if not folder:
            return "name the folder of the git repository"
        if not _SLUG.fullmatch(skill):
            return "name the skill by its slug"
        if not name or not metric:
            return "give the session a name, and the metric that it measures"
        if self._like is not None and name == self._like.name:
            return "a new session has a new name"
        if better not in {one.value for one in Direction}:
            return "better is higher or lower"
        unit = self._like.metric_unit if self._like else "$"
        return StartSession(name, skill, metric, unit, Direction(better), folder)

    def preview(self, result: StartSession | None) -> None:
        """What happens."""
        said = (
            "" if result is None else f"experiments run on the branch autoresearch/{result.skill}"
        )
        self.query_one("#form-preview", Words).tell(said)


def _line(name: str, value: str, unit: str, form: str) -> Horizontal:
    return Horizontal(
        Words(name, classes="label"),
        PlainInput(value, compact=True, max_length=400, id=f"{form}-{name}", classes="wide"),
        Words(unit, classes="unit"),
        classes="line",
    )
