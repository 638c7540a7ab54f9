"""The console as its pages meet it: notes what is shown, said, given and opened; no terminal."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from textual.message import Message

from kit.samples.desk import NOW
from service_tui.console.shell.views import Views
from service_tui.desk.command import Command
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp


@dataclass
class Front:
    """The screen in front."""

    name_in_keys: str = "portfolio"
    row: str | None = None
    focused: list[str | None] = field(default_factory=list)

    def current_row(self) -> str | None:
        return self.row

    def focus_row(self, row: str | None) -> None:
        self.focused.append(row)


@dataclass
class Shell:
    """What a page does to the console, in lists."""

    desk_state: DeskState
    now: Timestamp = NOW
    front: Front = field(default_factory=Front)
    screen_stack: list[Any] = field(default_factory=lambda: ["the screens"])
    refusal: str = ""
    given: list[Command] = field(default_factory=list)
    posted: list[Message] = field(default_factory=list)
    toasts: list[tuple[str, str]] = field(default_factory=list)
    pushed: list[tuple[Any, Callable[[Any], object] | None]] = field(default_factory=list)
    rested: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    typed: list[str] = field(default_factory=list)
    workers: list[Any] = field(default_factory=list)
    shown_count: int = 0
    forgotten_count: int = 0

    @property
    def app(self) -> Views:
        return cast("Views", self)

    def give(self, command: Command) -> str:
        self.given.append(command)
        return self.refusal

    def post_message(self, message: Message) -> None:
        self.posted.append(message)

    def show_toast(self, text: str, tone: str = "info") -> None:
        self.toasts.append((text, tone))

    def push_screen(self, screen: Any, answer: Callable[[Any], object] | None = None) -> None:
        self.pushed.append((screen, answer))

    def rest_keys(self, why: str) -> None:
        self.rested.append(why)

    def show_state(self) -> None:
        self.shown_count += 1

    def forget_typed(self) -> None:
        self.forgotten_count += 1

    def open_command_line(self, typed: str) -> None:
        self.typed.append(typed)

    def run_worker(self, work: Any, *, group: str) -> None:
        self.workers.append((work, group))

    async def run_action(self, action: str) -> None:
        self.actions.append(action)
