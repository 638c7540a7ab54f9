"""A screen for its actions alone: it has rows and a state, and keeps what an action does to it.

No app runs and nothing is painted: a test of what a key does takes less than a millisecond. What
needs focus, a real table or an answer of Textual's belongs to `kit.console.doors`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from textual.message import Message

from kit.samples.desk import NOW
from service_tui.console.actions import ScreenAction
from service_tui.console.forms.confirm import Confirm, Question
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.view_context import ViewContext
from service_tui.desk.command import Command
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp


class StubOrder(list[Any]):
    """Rows by place, and which are marked."""

    def __init__(self, rows: Sequence[Any], marked: Sequence[Any]) -> None:
        super().__init__(rows)
        self.marked = marked


@dataclass
class StubTable:
    """The table in front: its rows and which are marked; `calls` names what was done to it."""

    rows: Sequence[Any] = ()
    marked: Sequence[Any] = ()
    calls: list[Any] = field(default_factory=list)

    @property
    def order(self) -> "StubOrder":
        return StubOrder(self.rows, self.marked)

    def selected_or_marked(self) -> tuple[Any, ...]:
        return tuple(self.marked) or tuple(self.rows[:1])

    def clear_marks(self) -> None:
        self.calls.append("clear_marks")

    def toggle_all_marks(self) -> None:
        self.calls.append("toggle_all_marks")

    def action_mark(self) -> None:
        self.calls.append("mark")

    def action_move(self, by: int) -> None:
        self.calls.append(("move", by))

    def focus(self) -> None:
        self.calls.append("focus")


@dataclass
class StubScreen:
    """The highlighted row is the first of `rows`. A dialog must be made from this state and time.

    With `has_row_gone` another row has just come under the cursor, and no key may hit it.
    """

    state: DeskState
    rows: Sequence[Any] = ()
    now: Timestamp = NOW
    marked: Sequence[Any] = ()
    spec: Any = None
    place: int = 0
    lists: Sequence[Any] = ()
    only: Any = None
    take_back: tuple[Command, ...] = ()
    parts: dict[Any, Any] = field(default_factory=dict)
    has_row_gone: bool = False
    classes: set[str] = field(default_factory=set)
    size: Any = field(default_factory=lambda: SimpleNamespace(width=120, height=40))

    given: list[Command] = field(default_factory=list)
    opened: list[Any] = field(default_factory=list)
    posted: list[Message] = field(default_factory=list)
    toasts: list[tuple[str, str]] = field(default_factory=list)
    calls: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        rows = () if self.has_row_gone else self.rows
        self.table = StubTable(rows, self.marked)
        self.give = self.given.append
        self.post_message = self.posted.append
        self._then: list[Callable[[Any], None] | None] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        """Whatever else a screen can do is only kept in `calls`."""
        if name.startswith("_") or not callable(getattr(TableScreen, name, None)):
            raise AttributeError(name)
        return lambda *given: self.calls.append((name, *given) if given else name)

    @property
    def view(self) -> ViewContext:
        return ViewContext.of(self.state, self.now, self.size.width)

    def selected(self) -> Any:
        return self.rows[0] if self.rows else None

    def row_in_focus(self) -> Any:
        return None if self.has_row_gone else self.selected()

    def show_toast(self, text: str, tone: str = "info") -> None:
        self.toasts.append((text, tone))

    def query_one(self, selector: Any) -> Any:
        return self.parts[selector]

    def has_class(self, name: str) -> bool:
        return name in self.classes

    def open_dialog(self, dialog: Any, then: Callable[[Any], None] | None = None) -> None:
        kept = vars(dialog)
        assert all(kept.get(name, self.state) is self.state for name in ("state", "_state"))
        assert kept.get("now", self.now) == self.now
        self.opened.append(dialog)
        self._then.append(then)

    def answer(self, result: Any) -> None:
        """Close the dialog that was opened last with this result."""
        then = self._then[-1]
        assert then is not None
        then(result)

    @property
    def question(self) -> Question:
        """The confirmation that was opened last."""
        dialog = self.opened[-1]
        assert isinstance(dialog, Confirm)
        return dialog._question


def confirm(screen: StubScreen) -> None:
    """Confirm the question that was opened last."""
    screen.answer(result=True)


def decline(screen: StubScreen) -> None:
    screen.answer(result=False)


def perform(screen: StubScreen, actions: Sequence[ScreenAction[Any]], ident: str) -> str:
    """Press the key of an action: it runs, unless a reason disables it, which is returned."""
    action = next(one for one in actions if one.id == ident)
    why = action.disabled_reason(screen)
    if not why:
        action.run(screen)
    return why
