"""Actions of the action log: read an entry, verify the chain, filter by actor."""

from functools import partial
from typing import Final, TypeAlias

from service_tui.console.actions import ScreenAction
from service_tui.console.forms.about import About
from service_tui.console.parts.table_screen import Only, TableScreen
from service_tui.console.screens.log.detail import entry_text
from service_tui.desk.commands.agents import ReadLog
from service_tui.desk.slices.log import ActionView

Log: TypeAlias = TableScreen[ActionView]


def open_entry(screen: Log) -> None:
    """Open the highlighted entry as a page."""
    entry = screen.row_in_focus()
    if entry is not None:
        write = partial(entry_text, entry)
        page = About(f"Entry {entry.number:,}", write, screen.state, screen.now)
        screen.open_dialog(page)


def verify(screen: Log) -> None:
    """Verify the chain from its first line again."""
    screen.give(ReadLog())
    screen.show_toast("verifying from the first entry")


def only_actor(screen: Log) -> None:
    """Show only entries of the same actor, or all."""
    entry = None if screen.only else screen.row_in_focus()
    screen.only = None
    if entry is not None and entry.who:
        screen.only = by_actor(entry.who)
    screen.filter_rows()


def by_actor(who: str) -> Only[ActionView]:
    """The choice of one actor's entries."""
    return Only[ActionView](lambda one: one.who == who, who)


ACTIONS: Final[tuple[ScreenAction[Log], ...]] = (
    ScreenAction("log.open", open_entry),
    ScreenAction("log.verify", verify),
    ScreenAction("log.who", only_actor),
)
