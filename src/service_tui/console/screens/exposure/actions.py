"""Actions of the page: show the market, go on to the next list, group by something else."""

from typing import Final, TypeAlias

from service_tui.console.actions import ScreenAction
from service_tui.console.keys import cap
from service_tui.console.messages import GoTo
from service_tui.console.parts.shared_actions import can_change, can_note, has_row, open_note
from service_tui.console.parts.table_screen import Only, TableScreen
from service_tui.console.screens.exposure.forms import LimitForm
from service_tui.console.screens.exposure.table import CALENDAR, EXPOSURE, TABLES
from service_tui.desk.holdings.rows import ExposureRow, GroupRow
from service_tui.desk.own_notes import day_of
from service_tui.desk.slices.own_notes import Noted, NoteOn
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


def has_noted(screen: ExposureTable) -> str:
    """The highlighted row has a day or a market to write a note on."""
    if noted_of(screen) is None:
        return f"no day and no single market in this row; {cap('exposure.group')} groups by market"
    return ""


def noted_of(screen: ExposureTable) -> Noted | None:
    """The day of a row of the calendar; of any other row its market; None without either."""
    row, market_id = screen.selected(), screen.current_market()
    if row is not None and screen.spec is CALENDAR:
        return None if row.resolves_at is None else Noted(NoteOn.DAY, day_of(row.resolves_at))
    if row is None or not market_id:
        return None
    market = screen.state.markets.get(market_id)
    about = row.question if market is None else market.question
    return Noted(NoteOn.MARKET, market_id, about, market_id)


def write_note(screen: ExposureTable) -> None:
    """Write a note on the day of the calendar, or on the market."""
    noted = noted_of(screen)
    if screen.row_in_focus() is not None and noted is not None:
        open_note(screen, noted)


ACTIONS: Final[tuple[ScreenAction[ExposureTable], ...]] = (
    ScreenAction("exposure.market", open_market, (has_row, has_market)),
    ScreenAction("exposure.list", next_list),
    ScreenAction("exposure.group", next_grouping, (is_grouped,)),
    ScreenAction("exposure.note", write_note, (has_row, has_noted, can_note)),
    ScreenAction("exposure.limit", set_limit, (has_row, has_limit, can_change)),
)
