"""The `/` line of a table: a typed search hides rows, and its problems are shown."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from service_tui.console.messages import ToastMessage
from service_tui.console.widgets.plain_input import PlainInput


class SearchLine(PlainInput):
    """An input that passes the focus on at the moment of enter."""

    async def action_submit(self) -> None:
        """Submit it: the next key is no letter of the search."""
        self.screen.set_focus(None)
        await super().action_submit()


class FilterLine(Horizontal):
    """One line to search with; hidden while it is neither in use nor hides any row."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "clear", "clear", show=False),
        Binding("down", "leave", "to the rows", show=False),
    ]
    DEFAULT_CSS = """
    FilterLine {
        height: 1;
        display: none;
        &.-on, &:focus-within { display: block; }
        #filter-mark { width: 2; color: $accent; text-style: bold; }
        #filter-typed { width: 1fr; min-width: 10; }
        #filter-problem { width: auto; max-width: 75%; color: $warning; }
    }
    """

    class Typed(Message):
        """The text changed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """The operator returns to the rows."""

    def __init__(self, typed: str = "", placeholder: str = "words, !word, price:>0.6") -> None:
        super().__init__(classes="-on" if typed else "")
        self._first = typed
        self._line = SearchLine(placeholder=placeholder, compact=True, id="filter-typed")
        self._line.cursor_blink = False
        self._problem = Static("", markup=False, id="filter-problem")

    def compose(self) -> ComposeResult:
        """A slash, the line, and room for a problem."""
        # Not before: an Input with a text needs a running app.
        self._line.value = self._first
        yield Static("/", markup=False, id="filter-mark")
        yield self._line
        yield self._problem

    @property
    def typed(self) -> str:
        """The text of the line."""
        return self._line.value

    def begin(self) -> None:
        """Show the line and focus it."""
        self.add_class("-on")
        self._line.focus()

    def clear(self) -> None:
        """Empty the line; all rows come back."""
        self._line.value = ""
        self.remove_class("-on")

    def put(self, text: str) -> None:
        """Search for a text without focusing the line; empty: all rows come back."""
        self._line.value = text
        self.set_class(bool(text), "-on")

    def show_problem(self, problem: str) -> None:
        """Show a problem of the text; empty for none."""
        self._problem.update(problem)

    def action_clear(self) -> None:
        """Empty the line and return to the rows."""
        self.clear()
        self._leave()

    def action_leave(self) -> None:
        """Return to the rows; the search stays in force."""
        self.set_class(bool(self._line.value), "-on")
        self._leave()

    def _leave(self) -> None:
        # At once: until the rows have the focus, a key waits, instead of being typed here.
        self.screen.set_focus(None)
        self.post_message(self.Left())

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_leave()

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Typed(self._line.value))

    @on(PlainInput.SecretCleared)
    def _cleared(self, event: PlainInput.SecretCleared) -> None:
        event.stop()
        self.post_message(ToastMessage("possible secret key: cleared", "warn"))
