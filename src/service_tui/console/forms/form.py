"""A form of a few lines, validated at every key, with a preview and two buttons."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Generic, TypeAlias, TypeVar

from rich.text import Text
from textual import events, on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Input

from service_tui.console.fields import Field, FieldError
from service_tui.console.freshness import is_private
from service_tui.console.keys import bindings_of, cap, key_named, with_keys
from service_tui.console.messages import ToastMessage
from service_tui.console.theme import content
from service_tui.console.widgets.dialog import Dialog
from service_tui.console.widgets.light_button import LightButton
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.console.widgets.room import make_room
from service_tui.console.widgets.segmented_control import SegmentedControl
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

Result = TypeVar("Result")
Value = TypeVar("Value")

SECOND_THOUGHT_S: Final = 0.4
"""A key held down does not confirm a second time."""

LEAVES: Final = "{form.cancel} again discards your changes, any other key keeps them"


@dataclass(frozen=True, slots=True)
class OptionsRow:
    """A row of options in a form; without a label it stands alone."""

    name: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class OptionsState:
    """The options of a row, and the selected one."""

    labels: tuple[str, ...]
    index: int


Part: TypeAlias = str | OptionsRow | Field[Any] | tuple[Field[Any], ...]
"""A block of text by its name, a row of options, or a line of one field or more."""

Shown: TypeAlias = Text | str | OptionsState
"""The content of a block of text or a row of options."""


def input_of(field: Field[Any], text: str = "") -> PlainInput:
    """The input of a field; `text` is its first content."""
    return PlainInput(
        text,
        placeholder=field.placeholder,
        compact=True,
        max_length=field.letters,
        id=field.name,
        classes=field.css_class,
    )


class Form(Dialog[Result | None], Generic[Result]):  # noqa: PLR0904 - a base: one method a step
    """Returns the validated result, or None if it was left. Enter sets it, escape leaves.

    A subclass declares its lines (`body`), parses them (`validate`) and describes the result
    (`describe`). `take` brings newer states.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("form"),
        Binding("up", "app.focus_previous", show=False),
        Binding("down", "app.focus_next", show=False),
    ]
    AUTO_FOCUS = "PlainInput"
    VERTICAL_BREAKPOINTS = [(0, "-short"), (26, "-tall")]  # noqa: RUF012 - as Textual declares it

    heading: ClassVar[str]
    """The title of the frame."""

    hint: ClassVar[str] = "enter sets, {form.cancel} cancels"
    more_hint: ClassVar[str] = ""
    """Added to the hint while the body has more lines than fit."""

    body: tuple[Part, ...] = ()
    """The lines between the frame and the buttons, from top to bottom."""

    docked: tuple[Part, ...] = ()
    """Lines below that stay visible while the others scroll."""

    set_word: ClassVar[str] = "set"
    cancel_word: ClassVar[str] = "cancel"
    """The labels of the two buttons."""

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__()
        self.state = state
        self.now = now
        self.first: Mapping[str, str] = {}
        """The first text of each field, by its name."""
        self.is_done = False
        self._objected = ""
        self._seen: Result | None = None
        self._is_ready = False
        self._is_leaving = False
        self._is_click = False
        self._at_first: dict[str, str] = {}
        self._typed_into: set[str] = set()

    @abstractmethod
    def validate(self) -> Result:
        """Parse and check the typed text.

        Raises:
            FieldError: it cannot be set; the sentence gives the fix.
        """

    @abstractmethod
    def describe(self, result: Result | None) -> Mapping[str, Shown]:
        """Content of each block and each row of options; `result` None: the text is invalid."""

    def choose(self, name: str, index: int) -> None:
        """Select an option of the row with this name."""

    def objection(self, result: Result) -> str:
        """A warning to confirm before this is set; empty for none."""
        del result
        return ""

    def compose(self) -> ComposeResult:
        """The lines, the problem of the text, and the buttons."""
        with Vertical(id="form"):
            with VerticalScroll(id="form-body", can_focus=False):
                yield from map(self._line, self.body)
            yield from map(self._line, self.docked)
            yield TextBlock(id="form-problem")
            with Horizontal(id="form-doors"):
                yield from self.more_buttons()
                yield LightButton(f"{self.set_word}  enter", id="form-set")
                yield LightButton(f"{self.cancel_word}  {cap('form.cancel')}", id="form-cancel")

    def more_buttons(self) -> Iterator[LightButton]:
        """Further buttons, each named after its action."""
        return iter(())

    def on_mount(self) -> None:
        """Show the present values."""
        frame = self.query_one("#form")
        frame.border_title = content(Text(f" {self.heading} "))
        self._show_hint(has_more=False)
        for line in self.query(PlainInput):
            line.cursor_blink = False
            self._at_first[line.id or ""] = line.value
        self._is_ready = True
        self.refresh_form()

    def on_resize(self) -> None:
        """Lay the figures out for the new width, once there is one."""
        self.call_after_refresh(self.refresh_form)

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Receive a newer state, at wall time `now`."""
        self.state, self.now = state, now
        self.renew()
        if self._is_ready:
            self.refresh_form()

    def renew(self) -> None:
        """Refresh the edited record from a newer state."""

    def refresh_form(self) -> None:
        """Make every part equal to the typed text and the present state."""
        if self.is_done:
            return
        result = self.result_or_problem()
        is_refused = isinstance(result, str)
        self._show(self.describe(None if is_refused else result))
        problem = self.query_one("#form-problem", TextBlock)
        against = result if is_refused else self._objected
        problem.show_text(with_keys(LEAVES) if self._is_leaving else against)
        problem.set_class(is_refused, "-wrong")
        self.query_one("#form-set", LightButton).disabled = is_refused
        self.call_after_refresh(self._make_room)

    def result_or_problem(self) -> Result | str:
        """The validated result, or one sentence on why it cannot be set."""
        try:
            return self.validate()
        except FieldError as error:
            return str(error)

    def _show(self, described: Mapping[str, Shown]) -> None:
        for name, shown in described.items():
            if isinstance(shown, OptionsState):
                self.query_one(f"#{name}", SegmentedControl).show(shown.labels, shown.index)
            else:
                self.query_one(f"#{name}", TextBlock).show_text(shown)

    def action_set(self) -> None:
        """Return the result, or show the problem; a grave one needs a second enter."""
        result = self.result_or_problem()
        if self.is_done:
            return
        if not isinstance(result, str):
            self._objected = "" if self._seen == result else self.objection(result)
            if not self._objected:
                self.finish(result)
                return
            self.set_timer(SECOND_THOUGHT_S, lambda: self._see(result))
        self.query_one("#form-problem").add_class("-asked")
        self.refresh_form()

    def action_cancel(self) -> None:
        """Leave, and set nothing; typed text needs a second escape."""
        if self._is_click or self._is_leaving or not self._has_typed():
            self.leave(None)
            return
        self._is_leaving = True
        self.note_escape()
        self.query_one("#form-problem").add_class("-asked")
        self.refresh_form()

    def _has_typed(self) -> bool:
        """True if a line's text differs from its first one."""
        return any(self.typed(name) != self._at_first.get(name, "") for name in self._typed_into)

    def on_key(self, event: events.Key) -> None:
        """Keep the typed text for any key but the cancelling one, which then does nothing else."""
        if event.key in key_named("form.cancel").keys:
            return
        if self._is_leaving or self.is_with_escape(event):
            event.stop()
            self._stay()

    def _stay(self) -> None:
        self._is_leaving = False
        self.query_one("#form-problem").remove_class("-asked")
        self.refresh_form()

    def finish(self, result: Result) -> None:
        """Close with a validated result."""
        self.leave(result)

    def leave(self, result: Result | None) -> None:
        """Close at once, so that a second enter meets no form."""
        if not self.is_done:
            self.is_done = True
            self.dismiss(result)

    def typed(self, name: str) -> str:
        """The text of a line."""
        return self.query_one(f"#{name}", PlainInput).value

    def read(self, field: Field[Value]) -> Value:
        """The value of a field.

        Raises:
            FieldError: its text cannot be used.
        """
        return field.parse(self.typed(field.name))

    def write(self, name: str, text: str) -> None:
        """Set the text of a line without counting as typed."""
        line = self.query_one(f"#{name}", PlainInput)
        if line.value != text:
            with self.prevent(Input.Changed):
                line.value = text
            line.cursor_position = len(text)

    @property
    def masked(self) -> bool:
        """True while amounts are to be masked."""
        return is_private(self.state)

    @property
    def text_width(self) -> int:
        """Cells of a line."""
        return self.query_one("#form-body").scrollable_content_region.width or 40

    def changed(self, name: str) -> None:
        """Hook after a line's text changed; the base does nothing."""

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._objected, self._seen, self._is_leaving = "", None, False
        self._typed_into.add(event.input.id or "")
        self.query_one("#form-problem").remove_class("-asked")
        self.changed(event.input.id or "")
        self.refresh_form()

    @on(SegmentedControl.Picked)
    def _option_picked(self, event: SegmentedControl.Picked) -> None:
        event.stop()
        self.choose(event.choice.id or "", event.index)
        self.refresh_form()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_set()

    @on(LightButton.Pressed)
    def _button_pressed(self, event: LightButton.Pressed) -> None:
        event.stop()
        if event.button.id == "form-set":
            self.action_set()
        elif event.button.id == "form-cancel":
            # The label names the action, and a click is no repeated key.
            self._is_click = True
            self.action_cancel()
            self._is_click = False
        else:
            self.press_other(event.button.id or "")

    def press_other(self, name: str) -> None:
        """Handle one of `more_buttons`."""

    @on(PlainInput.SecretCleared)
    def _secret_cleared(self, event: PlainInput.SecretCleared) -> None:
        event.stop()
        self.post_message(ToastMessage("possible secret key: cleared, not sent", "warn"))

    def _make_room(self) -> None:
        if self.is_attached and not self.is_done:
            make_room(self.query_one("#form"), self.query_one("#form-body"))

            body = self.query_one("#form-body")
            self.call_after_refresh(lambda: self._show_hint(has_more=body.max_scroll_y > 0))

    def _show_hint(self, *, has_more: bool) -> None:
        hint = f"{self.hint}  {self.more_hint}" if has_more and self.more_hint else self.hint
        subtitle = content(Text(f" {with_keys(hint)} "))
        frame = self.query_one("#form")
        if frame.border_subtitle != subtitle:
            frame.border_subtitle = subtitle

    def _see(self, result: Result) -> None:
        self._seen = result

    def _line(self, part: Part) -> Widget:
        """The widget of one part of the body."""
        if isinstance(part, str):
            return TextBlock(id=part)
        if isinstance(part, OptionsRow) and not part.label:
            return SegmentedControl(id=part.name)
        cells = part if isinstance(part, tuple) else (part,)
        made = (widget for cell in cells for widget in self._cell(cell))
        return Horizontal(*made, id=f"{cells[0].name}-line", classes="line")

    def _cell(self, cell: Field[Any] | OptionsRow) -> Iterator[Widget]:
        """The widget of a line for a field or a row of options."""
        if cell.label:
            yield TextBlock(cell.label, classes="label")
        if isinstance(cell, OptionsRow):
            yield SegmentedControl(id=cell.name)
            return
        yield input_of(cell, self.first.get(cell.name, ""))
        if cell.unit is not None:
            yield TextBlock(cell.unit, classes="unit")

    def _app(self) -> App[object]:
        """The app, typed."""
        app: App[object] = self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
        return app
