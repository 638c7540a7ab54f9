"""How a kind of notice is told, and when nothing may ring."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widget import Widget

from service_tui.console.deliveries import KINDS, Quiet, Way, is_quiet
from service_tui.console.forms.form import Form
from service_tui.console.forms.order_draft import DraftError
from service_tui.console.forms.rail_draft import read_quiet
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.console.widgets.words import Words
from service_tui.desk.slices.records import NoticeKind
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

_SAYS: Final = {
    Way.TOAST: "a line in the corner for five seconds",
    Way.BADGE: "counted in the top line until you look (0 or 3)",
    Way.BELL: "the terminal's bell, once for many",
    Way.DESKTOP: "a notification of the desktop, once for many",
}


class WaysForm(Form[frozenset[Way]]):
    """A digit turns a way on and off, enter keeps them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(str(place), f"turn({place - 1})", show=False) for place in range(1, len(_SAYS) + 1)
    ]
    AUTO_FOCUS = "#form-set"
    heading: ClassVar[str] = "Notifications"
    hint: ClassVar[str] = "1 to 4 turn, enter keeps, {form.cancel} leaves"

    def __init__(
        self, state: DeskState, now: Timestamp, kind: NoticeKind, ways: frozenset[Way]
    ) -> None:
        super().__init__(state, now)
        self._kind = kind
        self._ways = ways

    def parts(self) -> Iterator[Widget]:
        """What it is about, and a line a way."""
        rule = KINDS[self._kind]
        yield Words(rule.name, id="form-question")
        yield Words(rule.says, id="form-about-rail")
        yield Words(id="form-preview")
        yield Words(id="form-hint")

    def judged(self) -> frozenset[Way]:
        """Any choice is one."""
        return self._ways

    def preview(self, result: frozenset[Way] | None) -> None:
        """The ways, those taken marked."""
        taken = result or frozenset()
        lines = [
            Text.assemble(
                (f"{place} ", "accent"),
                ("● " if way in taken else "○ ", "accent" if way in taken else "muted"),
                (f"{way.value:<9}", "bold" if way in taken else ""),
                (_SAYS[way], "muted"),
            )
            for place, way in enumerate(Way, start=1)
        ]
        self.query_one("#form-preview", Words).tell(Text("\n").join(lines))
        said = "In quiet hours there is no bell and nothing on the desktop."
        self.query_one("#form-hint", Words).tell(Text(said, "muted"))

    def action_turn(self, place: int) -> None:
        """Turn a way on or off."""
        self._ways ^= {tuple(Way)[place]}
        self.refresh_form()


@dataclass(frozen=True, slots=True)
class Hours:
    """Quiet hours, or none."""

    quiet: Quiet | None


class QuietForm(Form[Hours]):
    """Returns the hours."""

    heading: ClassVar[str] = "Quiet hours"

    def __init__(self, state: DeskState, now: Timestamp, quiet: Quiet | None) -> None:
        super().__init__(state, now)
        self._before = quiet

    def parts(self) -> Iterator[Widget]:
        """One line, and what it means now."""
        yield Words(
            "No bell and nothing on the desktop from one time to another.", id="form-question"
        )
        yield Horizontal(
            Words("hours", classes="label"),
            PlainInput(
                "" if self._before is None else self._before.in_words(),
                placeholder="22:00-07:00",
                compact=True,
                max_length=16,
                id="quiet-hours",
                classes="figure",
            ),
            Words("local time, empty is off", classes="unit"),
            classes="line",
        )
        yield Words(id="form-preview")
        yield Words(id="form-hint")

    def judged(self) -> Hours | str:
        """The hours that stand there, or what is against them."""
        try:
            return Hours(read_quiet(self.typed("quiet-hours")))
        except DraftError as refused:
            return str(refused)

    def preview(self, result: Hours | None) -> None:
        """Whether it would be quiet now."""
        found = None if result is None else result.quiet
        now = is_quiet(found, self.now)
        said = "no quiet hours" if found is None else "quiet now" if now else "not quiet now"
        self.query_one("#form-preview", Words).tell(Text(said, "warn" if now else "muted"))
        kept = "Toasts come and the count goes on in them; they may go over midnight."
        self.query_one("#form-hint", Words).tell(Text(kept, "muted"))
