"""Actions of the page: on its lists, on a group, and on what an agent holds."""

from typing import Final

from service_tui.console.actions import NO_ROW, ScreenAction
from service_tui.console.keys import cap
from service_tui.console.messages import GoTo
from service_tui.console.parts.shared_actions import (
    can_change,
    can_note,
    can_sell,
    has_row,
    mark,
    mark_all,
    no_market_reason,
    open_note,
    open_ticket,
)
from service_tui.console.screens.exposure.forms import LimitForm, StopsForm
from service_tui.console.screens.exposure.grouped import GroupedScreen
from service_tui.console.screens.exposure.table import CALENDAR, TABLES
from service_tui.desk.commands.agents import AgentAct, Govern, SetHeldStops
from service_tui.desk.holdings.rows import HELD, GroupRow, HeldRow
from service_tui.desk.own_notes import day_of
from service_tui.desk.slices.own_notes import Noted, NoteOn
from service_tui.evaluation.exposure import Grouping
from service_tui.terms import MONEY_OF, Action, LimitGroup


def has_market(screen: GroupedScreen) -> str:
    """The highlighted row is about one market."""
    if screen.current_market():
        return ""
    return f"this row is of several markets; {cap('exposure.group')} groups by market"


def open_market(screen: GroupedScreen) -> None:
    """Show the market of the highlighted row."""
    market_id = screen.current_market()
    if market_id:
        screen.post_message(GoTo("markets", market_id))


def has_limit(screen: GroupedScreen) -> str:
    """The highlighted row is a group that can have a limit."""
    row = screen.selected()
    if isinstance(row, GroupRow) and not row.of and row.grouping.value in set(LimitGroup):
        return ""
    return "a limit is of a category, an event or an agent"


def set_limit(screen: GroupedScreen) -> None:
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


def has_noted(screen: GroupedScreen) -> str:
    """The highlighted row has a day or a market to write a note on."""
    if noted_of(screen) is None:
        return f"no day and no single market in this row; {cap('exposure.group')} groups by market"
    return ""


def noted_of(screen: GroupedScreen) -> Noted | None:
    """The day of a row of the calendar; of any other row its market; None without either."""
    row, market_id = screen.selected(), screen.current_market()
    if row is not None and screen.spec is CALENDAR:
        return None if row.resolves_at is None else Noted(NoteOn.DAY, day_of(row.resolves_at))
    if row is None or not market_id:
        return None
    market = screen.state.markets.get(market_id)
    about = row.question if market is None else market.question
    return Noted(NoteOn.MARKET, market_id, about, market_id)


def write_note(screen: GroupedScreen) -> None:
    """Write a note on the day of the calendar, or on the market."""
    noted = noted_of(screen)
    if screen.row_in_focus() is not None and noted is not None:
        open_note(screen, noted)


# -- the lists -------------------------------------------------------------------------------------


def next_list(screen: GroupedScreen) -> None:
    """Show exposure, the calendar, or everything held."""
    screen.bring_forward((screen.place + 1) % len(TABLES))
    screen.table.focus()


def open_row(screen: GroupedScreen) -> None:
    """Show the market of the highlighted row, or what its group holds."""
    row = screen.row_in_focus()
    if isinstance(row, GroupRow) and (row.of == HELD or not row.market_id):
        screen.open_group(row)
    elif row is not None:
        open_market(screen)


def has_both(screen: GroupedScreen) -> str:
    """Both sides of a market are held."""
    held = screen.state.holdings
    has = held is not None and bool(screen.summary(held).both)
    return "" if has else "nobody holds the other side of anything held"


# -- what is held -------------------------------------------------------------------------------


def is_held(screen: GroupedScreen) -> str:
    """A position is highlighted, or positions are marked."""
    if _positions(screen):
        return ""
    row = screen.selected()
    if row is None:
        return NO_ROW
    if isinstance(row, HeldRow):
        return "an open order has no stop"
    return f"a stop is of one position: {cap('exposure.open')} shows those of the group"


def is_own(screen: GroupedScreen) -> str:
    """The highlighted row is a position of one's own."""
    row = screen.selected()
    if row is None:
        return NO_ROW
    if not isinstance(row, HeldRow) or row.order_id:
        return f"only a position is sold here: {cap('exposure.open')} shows those of a group"
    own = screen.state.account
    if own is None or own.agent_id != row.agent_id:
        return f"an agent sells what it holds: {cap('exposure.stop')} sets the stop that sells it"
    return ""


def has_agents(screen: GroupedScreen) -> str:
    """The highlighted or marked rows are of agents that can be paused."""
    if not screen.state.service.embedded:
        return "only agents of the embedded service are managed here"
    if not screen.table.selected_or_marked():
        return NO_ROW
    return "" if _agents(screen) else f"no agent in this row: {cap('exposure.open')} shows them"


def _positions(screen: GroupedScreen) -> tuple[HeldRow, ...]:
    rows = screen.table.selected_or_marked()
    return tuple(row for row in rows if isinstance(row, HeldRow) and not row.order_id)


def _agents(screen: GroupedScreen) -> dict[str, str]:
    """The names of the agents of the rows, by their ids."""
    found: dict[str, str] = {}
    for row in screen.table.selected_or_marked():
        if isinstance(row, HeldRow):
            found[row.agent_id] = row.agent_name
        elif row.grouping is Grouping.AGENT:
            found[row.exposure.key] = row.exposure.name
    return found


def set_stop(screen: GroupedScreen) -> None:
    """Change the stop and target of the highlighted position, or of the marked ones."""
    rows = _positions(screen)

    def filled(order: SetHeldStops) -> None:
        screen.give(order)
        screen.table.clear_marks()

    screen.open_dialog(StopsForm(screen.state, screen.now, rows), filled)


def sell(screen: GroupedScreen) -> None:
    """Open the ticket that sells the highlighted position."""
    row = screen.row_in_focus()
    if not isinstance(row, HeldRow):
        return
    market = screen.state.markets.get(row.market_id)
    if market is None:
        screen.show_toast(no_market_reason(), "warn")
    else:
        open_ticket(screen, market, row.side, Action.SELL, row.venue)


def pause(screen: GroupedScreen) -> None:
    """Pause the buys of the agents of the highlighted or marked rows, at once."""
    for agent_id, name in _agents(screen).items():
        screen.give(Govern(AgentAct.PAUSE, agent_id, name))


def mark_row(screen: GroupedScreen) -> None:
    """Mark the row or unmark it; the sums below become those of the marked rows."""
    mark(screen)
    screen.show_header()


def mark_all_rows(screen: GroupedScreen) -> None:
    """Mark every row listed, or none if all are."""
    mark_all(screen)
    screen.show_header()


ACTIONS: Final[tuple[ScreenAction[GroupedScreen], ...]] = (
    ScreenAction("exposure.open", open_row, (has_row,)),
    ScreenAction("exposure.list", next_list),
    ScreenAction("exposure.group", GroupedScreen.group_next),
    ScreenAction("exposure.both", GroupedScreen.open_both, (has_both,)),
    ScreenAction("exposure.market", open_market, (has_row, has_market)),
    ScreenAction("exposure.note", write_note, (has_row, has_noted, can_note)),
    ScreenAction("exposure.limit", set_limit, (has_row, has_limit, can_change)),
    ScreenAction("exposure.stop", set_stop, (is_held, can_change)),
    ScreenAction("exposure.sell", sell, (is_own, can_sell)),
    ScreenAction("exposure.pause", pause, (has_agents, can_change)),
    ScreenAction("exposure.mark", mark_row, (has_row,)),
    ScreenAction("exposure.mark_all", mark_all_rows),
)
