"""The pages of a drill: its brief before the clock starts, its result at the end."""

from collections.abc import Iterable
from typing import ClassVar, Final

from rich.text import Text
from textual.binding import Binding, BindingType

from service_tui.console import formats
from service_tui.console.figures import section
from service_tui.console.forms.page import Page
from service_tui.console.keys import cap
from service_tui.console.widgets.top_bar import minutes_text
from service_tui.desk.slices.drill import DrillLine, DrillResult, DrillView

_WHO: Final = 14
_CLOCK: Final = 6
_LABEL: Final = 24
LINE_MAX: Final = 300
"""Letters of one line of a timeline."""

GOOD: Final = 80
POOR: Final = 40
"""Scores from which a result is coloured as a profit, and below which as a loss."""


class DrillBrief(Page):
    """What the person supervises and has to do. Enter starts the clock; the answer is True."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "begin", "begin", show=False)]

    def __init__(self, drill: DrillView) -> None:
        super().__init__(
            f"Drill: {formats.plain(drill.title, 60).plain}",
            f"enter starts the clock, {cap('dialog.close')} looks around first",
        )
        self._drill = drill
        self.has_begun = False

    def action_begin(self) -> None:
        """Start the clock."""
        self.has_begun = True
        self.dismiss(None)

    def text(self) -> Text:
        """The brief and the rules."""
        drill = self._drill
        rules = (
            f"The drill lasts {drill.minutes} minutes, on a world of its own: no other data is "
            "touched, no real venue can be reached. Every key works as usual; only the world's "
            "speed is fixed."
        )
        end = (
            "At the end a page compares your result with the best course that the scenario lists. "
            f"{cap('app.command')} drill end stops early, without a score."
        )
        return Text("\n\n").join([
            Text(formats.plain(drill.brief, 2 * LINE_MAX).plain, "bold"),
            Text(rules),
            Text(end, "muted"),
        ])


class DrillEnd(Page):
    """The result of a drill."""

    def __init__(self, drill: DrillView, result: DrillResult, *, masked: bool = False) -> None:
        super().__init__(
            f"Drill over: {formats.plain(drill.title, 60).plain}",
            f"{cap('dialog.close')} closes, j and k scroll, {cap('app.out')} then ends the drill",
        )
        self._drill = drill
        self._result = result
        self._masked = masked

    def text(self) -> Text:
        """The score, what to try next time, and what happened."""
        result = self._result
        parts = [result_text(result, masked=self._masked)]
        if result.advice:
            parts.append(section("Next time", _bullets(result.advice)))
        parts.append(section("What happened", timeline(result.lines)))
        parts.append(section("The best listed course", timeline(result.best_lines)))
        if self._drill.kept:
            kept = f"Kept as {formats.plain(self._drill.kept, LINE_MAX).plain}"
            parts.append(Text(kept, "muted"))
        return Text("\n\n").join(parts)


def result_text(result: DrillResult, *, masked: bool = False) -> Text:
    """The score, and the figures that made it."""
    head = Text.assemble(*_score(result))
    rows = (
        ("you", result.yours),
        ("best listed course", result.best),
        ("score 0 at", result.worst),
    )
    lines = [head]
    for label, amount in rows:
        figure = formats.money(amount, masked=masked).plain
        lines.append(_figure(label, figure, result))
    cost = formats.money(abs(result.cost), masked=masked).plain
    word = "cost against the best" if result.cost >= 0 else "better than the best by"
    lines.append(_figure(word, cost, result))
    return Text("\n").join(lines)


def _figure(label: str, figure: str, result: DrillResult) -> Text:
    unit = f" {result.currency} {result.figure}"
    return Text.assemble((label.ljust(_LABEL), "muted"), figure.rjust(12), (unit, "muted"))


def _score(result: DrillResult) -> Iterable[tuple[str, str]]:
    if result.score is None:
        played = f"{minutes_text(result.played_s)} of {result.minutes}:00"
        yield f"No score: ended after {played}", "bold warn"
        return
    tone = "profit" if result.score >= GOOD else "loss" if result.score < POOR else "warn"
    yield f"Score {result.score} of 100", f"bold {tone}"


def timeline(lines: Iterable[DrillLine]) -> Text:
    """A line for each thing that happened; the person's own stand out."""
    shown = [_line(line) for line in lines]
    return Text("\n").join(shown) if shown else Text("nothing", "muted")


def _line(line: DrillLine) -> Text:
    is_own = line.who == "you"
    clock = f"{minutes_text(line.at_s):>{_CLOCK - 1}} "
    who = formats.plain(line.who, _WHO - 1).plain.ljust(_WHO)
    tone = "bold accent" if is_own else ""
    return Text.assemble(
        (clock, "muted"), (who, tone or "muted"), (formats.plain(line.text, LINE_MAX).plain, tone)
    )


def _bullets(texts: Iterable[str]) -> Text:
    return Text("\n").join([Text(f"• {formats.plain(one, 2 * LINE_MAX).plain}") for one in texts])
