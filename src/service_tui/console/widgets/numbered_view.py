"""What the frame knows of a screen, whatever part of the state it shows.

`screens.base` builds on it.
"""

import json
from abc import abstractmethod
from dataclasses import asdict, dataclass, field
from typing import ClassVar, Protocol, cast, runtime_checkable

from textual.containers import Vertical

from service_tui.console.calm import Calm
from service_tui.console.messages import CommandGiven, Copied
from service_tui.console.widgets.record_table import RecordTable
from service_tui.desk.command import Command
from service_tui.desk.slices.agents import AgentView
from service_tui.desk.slices.log import ActionView
from service_tui.desk.slices.reactor import SignalView, WalletView
from service_tui.desk.slices.records import (
    MarketView,
    NewsView,
    PositionView,
    TicketView,
    TradeView,
)
from service_tui.desk.slices.redemption import RedemptionRow
from service_tui.desk.slices.research import ExperimentView
from service_tui.desk.slices.risk import AlertView, ExitView, MonitorView, PriceAlertView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

CopiedRecord = (
    MarketView
    | PositionView
    | TradeView
    | TicketView
    | NewsView
    | AgentView
    | MonitorView
    | AlertView
    | RedemptionRow
    | ExitView
    | PriceAlertView
    | SignalView
    | WalletView
    | ExperimentView
    | ActionView
)
"""What a row can be copied as."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where the program runs, for screens that say so. Paths are texts to show, not to open.

    `calm` is since when nothing has needed the person; the app keeps it.
    """

    log_path: str = ""
    data_path: str = ""
    theme_names: tuple[str, ...] = ()
    calm: Calm = field(default_factory=Calm)


@runtime_checkable
class TakesState(Protocol):
    """A dialog that wants each newer state, and each second's tick, while it is open."""

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Receive the newest state. `now` is wall time."""
        ...


class NumberedView(Vertical):
    """What the app knows of a screen, whatever part of the state it shows."""

    BLANK = True

    name_in_keys: ClassVar[str]
    """The group of keys.py and the name that GoTo uses."""

    title: ClassVar[str]

    surroundings: Surroundings = Surroundings()
    """Set by the app before the screen is mounted."""

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(id=self.name_in_keys)
        self.state = state
        self.now = now

    @abstractmethod
    def take(self, state: DeskState, now: Timestamp) -> None:
        """Receive the newest state. `now` is wall time."""

    def tick(self) -> None:
        """Redraw what depends on the time alone. Called about once a second while in front."""

    def keep(self) -> None:
        """Give what the operator has chosen here to the desk, for the next start."""

    def focus_row(self, row: str | None) -> None:
        """Put the cursor on the row with this key, and the focus on the main pane."""

    def current_row(self) -> str | None:
        """Key of the row under the cursor, kept in the history of views."""
        tables = self._tables()
        return tables[0].order.cursor if tables else None

    def leave(self) -> None:
        """Another screen comes in front."""

    def step_out(self) -> bool:
        """Go one level out inside the screen; False when it is already outermost."""
        return False

    def why_not(self, action: str) -> str:
        """Why a key is disabled here.

        Args:
            action: the name of an action of keys.py, without its arguments.

        Returns:
            A reason for the help, in a few words; empty when the key works.
        """
        offered = hasattr(self, f"action_{action}") or any(
            hasattr(table, f"action_{action}") for table in self._tables()
        )
        return "" if offered else "not here"

    def give(self, command: Command) -> None:
        """Order something; the app's one handler hands it to the desk."""
        self.post_message(CommandGiven(command))

    def copy(self, text: str, what: str) -> None:
        """Copy a text; `what` names it in the toast that says so."""
        self.post_message(Copied(text, what))

    def copy_record(self, record: CopiedRecord, what: str) -> None:
        """Copy a row as JSON, in the units of the records: money and shares in micros."""
        self.copy(json.dumps(asdict(record), ensure_ascii=False), what)

    def _tables(self) -> tuple[RecordTable[object], ...]:
        # A query knows no type arguments, and what the rows are does not matter here.
        return cast("tuple[RecordTable[object], ...]", tuple(self.query("RecordTable")))
