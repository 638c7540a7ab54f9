"""The interface of a screen for the frame, whatever part of the state it shows.

`screens.base` builds on it.
"""

import json
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import Field, asdict, dataclass, field
from typing import Any, ClassVar, Protocol, cast, runtime_checkable

from textual.containers import Vertical

from service_tui.console.idle_time import IdleTime
from service_tui.console.keys import KeyBinding, action_name
from service_tui.console.messages import CommandGiven, Copied, ToastMessage
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.record_table import RecordTable
from service_tui.desk.command import Command
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp


class CopiedRecord(Protocol):
    """A row that can be copied: any dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


@dataclass(frozen=True, slots=True)
class ProgramInfo:
    """Places of the running program, for screens that list them. Paths are texts, not opened.

    `idle_time` holds since when nothing has needed the person; the app updates it. `drills` lists
    the drills that can be played, name and title of each. `has_demo`: a new world begins with demo
    agents. `own_commands` lists the commands of the person's own that work on the screen in front:
    name, key and effect of each.
    """

    log_path: str = ""
    data_path: str = ""
    theme_names: tuple[str, ...] = ()
    idle_time: IdleTime = field(default_factory=IdleTime)
    drills: Callable[[], tuple[tuple[str, str], ...]] = tuple
    has_demo: bool = False
    own_commands: Callable[[], tuple[tuple[str, str, str], ...]] = tuple


@runtime_checkable
class TakesState(Protocol):
    """A dialog that receives each newer state, and each second's tick, while it is open."""

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Receive the newest state. `now` is wall time."""
        ...


class NumberedView(Vertical):  # noqa: PLR0904 - all that the frame asks of a screen
    """The interface of a screen for the app, whatever part of the state it shows."""

    BLANK = True

    name_in_keys: ClassVar[str]
    """The group of keys.py and the name that GoTo uses."""

    title: ClassVar[str]

    is_guest: bool = False
    """Whether it stands beside the screen in front: it keeps nothing and opens nothing."""

    program: ProgramInfo = ProgramInfo()
    """Set by the app before the screen is mounted."""

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(id=self.name_in_keys)
        self.state = state
        self.now = now
        self._view = ViewContext.of(state, now)

    @property
    def view(self) -> ViewContext:
        """The newest state and time, and whether amounts are masked, for cells and panes."""
        if self._view.state is not self.state or self._view.now != self.now:
            self._view = ViewContext.of(self.state, self.now)
        return self._view

    @abstractmethod
    def take(self, state: DeskState, now: Timestamp) -> None:
        """Receive the newest state. `now` is wall time."""

    def tick(self) -> None:
        """Redraw what depends on the time alone. Called about once a second while in front."""

    def keep(self) -> None:
        """Send the operator's choices on this screen to the desk, for the next start."""

    def view_to_keep(self) -> SetPreference | None:
        """The command that keeps cursor, search and layout for the next start, if they changed."""
        return None

    def focus_row(self, row: str | None) -> None:
        """Put the cursor on the row with this key, and the focus on the main pane."""

    def come_again(self) -> None:
        """Handle the key of this screen while it is in front already."""
        self.focus_row(None)

    def rows_chosen(self) -> tuple[str, ...]:
        """Keys of the marked rows, else of those that a filter leaves; empty without both."""
        return ()

    def current_row(self) -> str | None:
        """Key of the row under the cursor."""
        tables = self._tables()
        return tables[0].order.cursor if tables else None

    def row_to_return_to(self) -> str | None:
        """Key of the row that the history of views returns to; None: as the screen is then."""
        return self.current_row()

    def current_market(self) -> str:
        """Id of the market of the row under the cursor; empty without one."""
        return ""

    def leave(self) -> None:
        """Handle that another screen comes in front."""

    def step_out(self) -> bool:
        """Go one level out inside the screen; False when it is already outermost."""
        return False

    def list_reason(self, action: str) -> str:
        """Why a key is disabled here.

        Args:
            action: the name of an action of keys.py, without its arguments.

        Returns:
            A reason for the help, in a few words; empty if the key works.
        """
        offered = hasattr(self, f"action_{action}") or any(
            hasattr(table, f"action_{action}") for table in self._tables()
        )
        return "" if offered else "not here"

    def disabled_reason(self, key: KeyBinding) -> str:
        """Why a key of this screen or of its tables is disabled; empty if it works."""
        return self.list_reason(action_name(key.action))

    def first_step(self) -> str:
        """Id of the key that brings the first row of an empty list; empty where there are rows."""
        return ""

    def as_offered(self, key: KeyBinding) -> KeyBinding:
        """A key of this screen as the footer offers it on the row under the cursor."""
        return key

    def give(self, command: Command) -> None:
        """Give a command; the app's one handler hands it to the desk."""
        self.post_message(CommandGiven(command))

    def show_toast(self, text: str, tone: str = "info") -> None:
        """Show a toast; `tone` is info, good, warn or bad."""
        self.post_message(ToastMessage(text, tone))

    def copy(self, text: str, what: str) -> None:
        """Copy a text; `what` names it in the toast."""
        self.post_message(Copied(text, what))

    def copy_record(self, record: CopiedRecord, what: str) -> None:
        """Copy a row as JSON: as `--json` has it, else with money and shares in micros."""
        from service_tui.desk.audit.listings import row_of  # noqa: PLC0415 - not at first

        row = row_of(self.state, record)
        fields = asdict(record) if row is None else dict(row)
        self.copy(json.dumps(fields, ensure_ascii=False), what)

    def unmark_rows(self) -> None:
        """Unmark every row of every list here."""
        for table in self._tables():
            table.clear_marks()

    def _tables(self) -> tuple[RecordTable[object], ...]:
        # A query has no type arguments, and the type of the rows does not matter here.
        return cast("tuple[RecordTable[object], ...]", tuple(self.query("RecordTable")))
