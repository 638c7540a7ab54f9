"""A few lines to fill in, judged at every key, with a preview and two doors."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Final, Generic, TypeVar

from rich.text import Text
from textual import events, on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Input

from service_tui.console.freshness import is_private
from service_tui.console.keys import bindings_of, cap, key_named, with_keys
from service_tui.console.messages import Said
from service_tui.console.theme import content
from service_tui.console.widgets.dialog import Dialog
from service_tui.console.widgets.door import Door
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.console.widgets.room import make_room
from service_tui.console.widgets.words import Words
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

Result = TypeVar("Result")

SECOND_THOUGHT_S: Final = 0.4
"""A key held down is no second thought."""

LEAVES: Final = "{form.cancel} again throws away what was typed, any other key keeps it"


class Form(Dialog[Result | None], Generic[Result]):  # noqa: PLR0904 - a base: one method a step
    """Returns what was filled in, or None when it was left. Enter sets it, escape leaves.

    A subclass yields its lines (`parts`), judges them (`judged`) and shows what they mean
    (`preview`). `take` brings newer states.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("form"),
        Binding("up", "app.focus_previous", show=False),
        Binding("down", "app.focus_next", show=False),
    ]
    AUTO_FOCUS = "PlainInput"
    VERTICAL_BREAKPOINTS = [(0, "-short"), (26, "-tall")]  # noqa: RUF012 - as Textual declares it

    heading: ClassVar[str]
    """What the frame says on top."""

    hint: ClassVar[str] = "enter sets it, {form.cancel} leaves"

    set_word: ClassVar[str] = "set"
    cancel_word: ClassVar[str] = "cancel"
    """What the two doors say."""

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__()
        self.state = state
        self.now = now
        self.is_done = False
        self._objected = ""
        self._seen: Result | None = None
        self._is_ready = False
        self._is_leaving = False
        self._is_click = False
        self._at_first: dict[str, str] = {}
        self._typed_into: set[str] = set()

    @abstractmethod
    def parts(self) -> Iterator[Widget]:
        """The lines between the frame and the doors, from top to bottom."""

    @abstractmethod
    def judged(self) -> Result | str:
        """What stands there now, or one sentence saying what is against it."""

    @abstractmethod
    def preview(self, result: Result | None) -> None:
        """Show what it is about and what the result means; None while it is none."""

    def objection(self, result: Result) -> str:
        """What to see before this is set; empty when there is nothing."""
        del result
        return ""

    def compose(self) -> ComposeResult:
        """The lines, what is wrong with them, and the way out."""
        with Vertical(id="form"):
            with VerticalScroll(id="form-body", can_focus=False):
                yield from self.parts()
            yield from self.docked()
            yield Words(id="form-problem")
            with Horizontal(id="form-doors"):
                yield from self.more_doors()
                yield Door(f"{self.set_word}  enter", id="form-set")
                yield Door(f"{self.cancel_word}  {cap('form.cancel')}", id="form-cancel")

    def docked(self) -> Iterator[Widget]:
        """Lines below that stay in sight while the others scroll."""
        return iter(())

    def more_doors(self) -> Iterator[Door]:
        """Doors beside the usual two, each named after its action."""
        return iter(())

    def on_mount(self) -> None:
        """Show what is known."""
        frame = self.query_one("#form")
        frame.border_title = content(Text(f" {self.heading} "))
        frame.border_subtitle = content(Text(f" {with_keys(self.hint)} "))
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
        """Take over what a newer state says of the thing in hand."""

    def refresh_form(self) -> None:
        """Make every part equal to what is typed and known now."""
        if self.is_done:
            return
        judged = self.judged()
        is_refused = isinstance(judged, str)
        self.preview(None if is_refused else judged)
        problem = self.query_one("#form-problem", Words)
        against = judged if is_refused else self._objected
        problem.tell(with_keys(LEAVES) if self._is_leaving else against)
        problem.set_class(is_refused, "-wrong")
        self.query_one("#form-set", Door).disabled = is_refused
        self.call_after_refresh(self._make_room)

    def action_set(self) -> None:
        """Return what stands there, or say what is against it; what is grave is asked twice."""
        judged = self.judged()
        if self.is_done:
            return
        if not isinstance(judged, str):
            self._objected = "" if self._seen == judged else self.objection(judged)
            if not self._objected:
                self.finish(judged)
                return
            self.set_timer(SECOND_THOUGHT_S, lambda: self._see(judged))
        self.query_one("#form-problem").add_class("-asked")
        self.refresh_form()

    def action_cancel(self) -> None:
        """Leave, and set nothing; what was typed is asked for once more."""
        if self._is_click or self._is_leaving or not self._has_typed():
            self.leave(None)
            return
        self._is_leaving = True
        self.query_one("#form-problem").add_class("-asked")
        self.refresh_form()

    def _has_typed(self) -> bool:
        """Whether a line that was typed into says something else than before."""
        return any(self.typed(name) != self._at_first.get(name, "") for name in self._typed_into)

    def on_key(self, event: events.Key) -> None:
        """Any key but the one that cancels keeps what was typed, and does nothing else."""
        if self._is_leaving and event.key not in key_named("form.cancel").keys:
            event.stop()
            self._stay()

    def _stay(self) -> None:
        self._is_leaving = False
        self.query_one("#form-problem").remove_class("-asked")
        self.refresh_form()

    def finish(self, result: Result) -> None:
        """What was judged is wanted: close with it."""
        self.leave(result)

    def leave(self, result: Result | None) -> None:
        """Close at once, so that a second enter meets no form."""
        if not self.is_done:
            self.is_done = True
            self.dismiss(result)

    def typed(self, name: str) -> str:
        """What stands in a line."""
        return self.query_one(f"#{name}", PlainInput).value

    def write(self, name: str, text: str) -> None:
        """Put a text into a line as if nobody had typed."""
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
        """A line was typed into; the base has nothing to do with that."""

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._objected, self._seen, self._is_leaving = "", None, False
        self._typed_into.add(event.input.id or "")
        self.query_one("#form-problem").remove_class("-asked")
        self.changed(event.input.id or "")
        self.refresh_form()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_set()

    @on(Door.Opened)
    def _door_opened(self, event: Door.Opened) -> None:
        event.stop()
        if event.door.id == "form-set":
            self.action_set()
        elif event.door.id == "form-cancel":
            # Its words say what it does, and a click is no key too many.
            self._is_click = True
            self.action_cancel()
            self._is_click = False
        else:
            self.other_door(event.door.id or "")

    def other_door(self, name: str) -> None:
        """One of `more_doors` was opened."""

    @on(PlainInput.SecretCleared)
    def _secret_cleared(self, event: PlainInput.SecretCleared) -> None:
        event.stop()
        self.post_message(Said("that looked like a secret key: it was cleared, not sent", "warn"))

    def _make_room(self) -> None:
        if self.is_attached and not self.is_done:
            make_room(self.query_one("#form"), self.query_one("#form-body"))

    def _see(self, judged: Result) -> None:
        self._seen = judged

    def _app(self) -> App[object]:
        """The app, typed."""
        app: App[object] = self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
        return app
