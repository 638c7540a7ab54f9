"""Actions of the page: show the market, go on to the next list, group by something else."""

from typing import Final, TypeAlias

from service_tui.console.actions import ScreenAction
from service_tui.console.keys import cap
from service_tui.console.messages import GoTo
from service_tui.console.parts.shared_actions import can_change, has_row
from service_tui.console.parts.table_screen import Only, TableScreen
from service_tui.console.screens.exposure.forms import LimitForm
from service_tui.console.screens.exposure.table import EXPOSURE, TABLES
from service_tui.desk.holdings.rows import ExposureRow, GroupRow
from service_tui.evaluation.exposure import Grouping
from service_tui.terms import MONEY_OF, LimitGroup

ExposureTable: TypeAlias = TableScreen[ExposureRow]


def by(grouping: Grouping) -> Only[ExposureRow]:
    """The choice of one grouping."""

    def wants(row: ExposureRow) -> bool:
        if not isinstance(row, GroupRow) or row.slot is not None:
            return True
        return row.grouping is grouping

    return Only[ExposureRow](wants, grouping.value)


def has_market(screen: ExposureTable) -> str:
    """The highlighted row is about one market."""
    if screen.current_market():
        return ""
    return f"this row is of several markets; {cap('exposure.group')} groups by market"


def open_market(screen: ExposureTable) -> None:
    """Show the market of the highlighted row."""
    market_id = screen.current_market()
    if market_id:
        screen.post_message(GoTo("markets", market_id))


def next_list(screen: ExposureTable) -> None:
    """Show exposure, the calendar, or everything held."""
    screen.bring_forward((screen.place + 1) % len(TABLES))
    screen.table.focus()


def is_grouped(screen: ExposureTable) -> str:
    """The list in front is one of groups."""
    if screen.spec is EXPOSURE:
        return ""
    return f"only the list of exposure is grouped; {cap('exposure.list')} goes on to it"


def next_grouping(screen: ExposureTable) -> None:
    """Group by the next thing: category, event, market, agent, venue, side."""
    groupings = list(Grouping)
    place = groupings.index(Grouping(screen.only.name)) if screen.only else 0
    screen.only = by(groupings[(place + 1) % len(groupings)])
    screen.filter_rows()


def has_limit(screen: ExposureTable) -> str:
    """The highlighted row is a group that can have a limit."""
    row = screen.selected()
    if isinstance(row, GroupRow) and row.grouping.value in set(LimitGroup):
        return ""
    return "a limit is of a category, an event or an agent"


def set_limit(screen: ExposureTable) -> None:
    """Open the form of the group's limit."""
    row = screen.row_in_focus()
    if not isinstance(row, GroupRow):
        return
    one = row.exposure
    venue = next(venue for venue, money in MONEY_OF.items() if money == one.money)
    form = LimitForm(
        screen.state, screen.now, LimitGroup(row.grouping), one.key, one.name, venue, one.cost,
        row.limit,
    )  # fmt: skip
    screen.open_dialog(form, screen.give)


ACTIONS: Final[tuple[ScreenAction[ExposureTable], ...]] = (
    ScreenAction("exposure.market", open_market, (has_row, has_market)),
    ScreenAction("exposure.list", next_list),
    ScreenAction("exposure.group", next_grouping, (is_grouped,)),
    ScreenAction("exposure.limit", set_limit, (has_row, has_limit, can_change)),
)
