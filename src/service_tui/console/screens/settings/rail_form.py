"""One limit: the service's figure and the desk's own, and what binds then."""

from collections.abc import Iterator
from typing import ClassVar, Final

from rich.text import Text
from textual.containers import Horizontal
from textual.widget import Widget

from service_tui.console import formats
from service_tui.console.forms.form import Form
from service_tui.console.forms.order_draft import DraftError
from service_tui.console.forms.rail_draft import RailChange, figure_text, read_rail
from service_tui.console.rail_text import figure, source_words, used_line
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.console.widgets.words import Words
from service_tui.desk.rails import rails
from service_tui.desk.slices.rails import RULES, Rail, RailView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

_LETTERS_MAX: Final = 16


class RailForm(Form[RailChange]):
    """Returns the figures that a rail is to have."""

    heading: ClassVar[str] = "Limit"
    hint: ClassVar[str] = "enter goes on, {form.cancel} leaves"

    def __init__(self, state: DeskState, now: Timestamp, view: RailView) -> None:
        super().__init__(state, now)
        self._view = view
        self._rule = RULES[view.rail]

    def parts(self) -> Iterator[Widget]:
        """What it is, one line a figure, what binds before and after."""
        yield Words(self._rule.name, id="form-question")
        yield Words(self._rule.says, id="form-about-rail")
        if self._rule.on_service:
            yield self._line("service", self._view.service)
        if self._rule.on_desk:
            yield self._line("own", self._view.own)
        yield Words(id="form-preview")
        yield Words(id="form-hint")

    def renew(self) -> None:
        """What is used, as it is now; the figures that stand in the lines stay."""
        found = next(
            (one for one in rails(self.state, self.now) if one.rail is self._view.rail), None
        )
        if found is not None:
            self._view = found

    def judged(self) -> RailChange | str:
        """The figures that stand there, or what is against them."""
        if self.state.rails is None:
            return "the limits are not known yet"
        most = self.state.rails.day_buys_ceiling if self._view.rail is Rail.DAY_BUYS else None
        service = self.typed("rail-service") if self._rule.on_service else ""
        own = self.typed("rail-own") if self._rule.on_desk else ""
        try:
            return read_rail(self._view, service, own, most=most)
        except DraftError as refused:
            return str(refused)

    def preview(self, result: RailChange | None) -> None:
        """What binds now, and what would bind."""
        masked = self.masked
        rows = [self._row("binds now", self._view)]
        if result is not None:
            rows.append(self._row("binds then", result.after))
        used = used_line(self._view if result is None else result.after, masked=masked)
        if used.plain:
            rows.append(Text.assemble((f"{'used':<12}", "muted"), used))
        if self._view.resets_at is not None:
            anew = formats.until(self._view.resets_at, self.now)
            here = formats.clock_time(self._view.resets_at).plain.removesuffix(":00")
            said = (f" at midnight UTC, {here} here", "muted")
            rows.append(Text.assemble((f"{'starts anew':<12}", "muted"), anew, said))
        self.query_one("#form-preview", Words).tell(Text("\n").join(rows))
        self.query_one("#form-hint", Words).tell(self._hint(result))

    def _line(self, name: str, value: int | None) -> Horizontal:
        label = "service" if name == "service" else "this desk"
        unit = "buys" if self._rule.is_count else "money"
        may_be_off = self._rule.may_be_off or name == "own"
        return Horizontal(
            Words(label, classes="label"),
            PlainInput(
                figure_text(self._view.rail, value),
                placeholder="off" if may_be_off else "",
                compact=True,
                max_length=_LETTERS_MAX,
                id=f"rail-{name}",
                classes="figure",
            ),
            Words(f"{unit}{', empty is off' if may_be_off else ''}", classes="unit"),
            classes="line",
        )

    def _row(self, name: str, view: RailView) -> Text:
        if view.is_broken:
            unread = "the desk's own figure cannot be read: no buy passes"
            return Text.assemble((f"{name:<12}", "muted"), (unread, "loss"))
        return Text.assemble(
            (f"{name:<12}", "muted"),
            figure(view.rail, view.limit, masked=self.masked),
            "  ",
            (source_words(view), "muted"),
        )

    def _hint(self, result: RailChange | None) -> Text:
        if result is not None and result.is_loosened:
            return Text("This loosens the limit: it is asked once more.", "warn")
        if not self._rule.on_service:
            return Text("The desk's own figure stays on this machine.", "muted")
        return Text("The smaller of both binds what this desk orders.", "muted")
