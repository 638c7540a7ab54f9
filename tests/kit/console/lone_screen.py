"""A real screen of tables without an app: its rows, cursor, filters and panes, and what it sends.

    lone = LoneScreen(ReactorScreen(STATE, NOW))
    lone.screen.bring_forward(1)
    assert lone.listed == [...]

Nothing is composed, laid out or painted: its own blocks are `Part`s, its lists are real.
"""

from collections.abc import Callable
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

from textual.geometry import Size
from textual.widget import Widget

from kit.console.alone import Found, Opened, Part, Timers, event, ignore
from service_tui.console.messages import CommandGiven, ToastMessage
from service_tui.console.parts.table_screen import TableScreen
from service_tui.desk.command import Command
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.state import DeskState


class Line:
    """The line of a search."""

    def __init__(self, typed: str = "") -> None:
        self.typed = typed
        self.problem = ""
        self.begun = 0

    def clear(self) -> None:
        self.typed = ""

    def put(self, text: str) -> None:
        self.typed = text

    def begin(self) -> None:
        self.begun += 1

    def show_problem(self, problem: str) -> None:
        self.problem = problem


class Fallen:
    """Whether the cursor has just fallen to another row; no clock ends it."""

    is_fresh = False

    def begin(self) -> None:
        self.is_fresh = True

    def end(self) -> None:
        self.is_fresh = False


@cache
def alone(kind: Any) -> Any:
    """The same kind of widget, without an app."""
    around = {"app": property(app_around)}
    if issubclass(kind, TableScreen):
        around |= {"screen": property(screen_around), "size": property(size_around)}
    return type(kind.__name__, (kind,), around)


def app_around(widget: Any) -> Any:
    return widget.around.app


def screen_around(widget: Any) -> Any:
    return widget.around.above


def size_around(widget: Any) -> Size:
    return widget.around.size


class LoneScreen:
    """A screen in a terminal of `size`, mounted with the state that it was made of."""

    def __init__(self, screen: Any, size: tuple[int, int] = (120, 40)) -> None:
        self.screen = screen
        self.size = Size(*size)
        self.parts: dict[str, Part] = {}
        self.focused: list[Any] = []
        self.posted: list[Any] = []
        self.opened = Opened()
        self.later: list[Callable[[], object]] = []
        self.timers = Timers()
        self.named: dict[Any, Part] = {}
        """Parts that are found by their type."""
        kind: Any = screen.__class__
        self.app = SimpleNamespace(
            push_screen=self.opened.push, post_message=self.posted.append, size=self.size,
            current_theme=SimpleNamespace(dark=True), theme="night", pressed_at=None,
            # Nothing is attached to an app that ends.
            _exit=True, animation_level="none",
        )  # fmt: skip
        self.above = SimpleNamespace(is_current=True, set_focus=ignore)
        screen.update_node_styles = ignore
        screen.query = self._found
        for widget in (screen, *(one for one in vars(screen).values() if isinstance(one, Widget))):
            self._bind(widget)
        screen.call_after_refresh = self._after
        self.line = screen.line = Line(screen.line._first)
        for table in screen.lists:
            self._bind(table)
        screen.fit()
        # As Textual does: the handler of each class, the subclass first.
        for one in kind.__mro__:
            if issubclass(one, TableScreen) and "on_mount" in vars(one):
                one.on_mount(screen)
        screen.take(screen.state, screen.now)

    def _bind(self, widget: Any) -> None:
        """Give a widget these parts, and keep what it sends."""
        widget.__class__ = alone(widget.__class__)
        widget.around = self
        if hasattr(widget, "_fall"):
            widget._fall = Fallen()
        widget.query_one = self._one
        widget.post_message = self.posted.append
        widget.set_timer = self.timers.begin
        widget.focus = partial(self.focused.append, widget)

    def _found(self, selector: Any) -> Found:
        return Found([self._one(selector)])

    def _one(self, selector: Any, *_: object) -> Any:
        if not isinstance(selector, str):
            return self.named.setdefault(selector, Part())
        return self.part(selector.lstrip("#."))

    def part(self, name: str) -> Part:
        return self.parts.setdefault(name, Part())

    def text(self, name: str) -> str:
        return self.part(name).text

    @property
    def listed(self) -> list[str]:
        """Keys of the listed rows, from top to bottom."""
        order = self.screen.table.order
        return [order.key_at(place) for place in range(len(order))]

    @property
    def detail(self) -> str:
        """The text of the pane."""
        return "\n".join(self.text(f"detail-{name}") for name in ("head", "body", "more"))

    @property
    def given(self) -> list[Command]:
        """The commands it gave, without choices that are kept."""
        commands = [one.command for one in self.posted if isinstance(one, CommandGiven)]
        return [one for one in commands if not isinstance(one, SetPreference)]

    @property
    def kept(self) -> dict[str, str]:
        """The choices that it keeps for the next start."""
        commands = [one.command for one in self.posted if isinstance(one, CommandGiven)]
        return {one.name: one.value for one in commands if isinstance(one, SetPreference)}

    @property
    def toasts(self) -> list[str]:
        return [one.text for one in self.posted if isinstance(one, ToastMessage)]

    def bring(self, state: DeskState, later_s: float = 0.0) -> None:
        self.screen.take(state, self.screen.now + later_s)

    def search(self, typed: str) -> None:
        self.line.typed = typed
        self.screen._search_typed(event(text=typed))

    def wait(self) -> None:
        """Let every timer run out, and everything run that waits for the next frame."""
        later, self.later[:] = [*self.later], []
        self.timers.run_out()
        for run in later:
            run()

    def answer(self, result: Any) -> None:
        self.opened.answer(result)

    def _after(self, run: Callable[..., object], *given: Any) -> None:
        self.later.append(partial(run, *given))
