"""Lists that are grouped by a choice of each; a group opens as the list of what it holds."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from service_tui.console import formats
from service_tui.console.parts.table_screen import Only, TableScreen
from service_tui.console.screens.exposure.table import (
    EXPOSURE,
    GROUPED,
    HELD_LIST,
    POSITION,
    TABLES,
)
from service_tui.desk.holdings.rows import (
    ExposureRow,
    GroupRow,
    HeldRow,
    Summary,
    opposed_rows,
    rows_inside,
    summary_of,
)
from service_tui.desk.slices.holdings import HoldingsView
from service_tui.desk.slices.rows import LastMade
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

BOTH_SIDES: Final = "both sides"

_GROUPING: Final = "grouping"


@dataclass(frozen=True)
class Inside:
    """What alone is listed of everything held, and where `esc` leads back to."""

    name: str
    keys: Callable[[HoldingsView], frozenset[str]]
    place: int
    row: str | None


def _kept_as(name: str) -> str:
    """The name of a list's grouping among the choices that are kept."""
    return _GROUPING if name == EXPOSURE.name else f"{_GROUPING} {name}"


def _keys_of(rows: Iterable[HeldRow]) -> frozenset[str]:
    return frozenset(row.key for row in rows)


class GroupedScreen(TableScreen[ExposureRow]):  # noqa: PLR0904 - one method a step between lists
    """The lists of the page, and which of their rows are shown."""

    tables = TABLES

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self._grouped = {name: next(iter(ways)) for name, ways in GROUPED.items()}
        self._inside: Inside | None = None
        self._last_summary = LastMade[Summary]()

    def summary(self, held: HoldingsView) -> Summary:
        """The sums of all that is held, and the markets of which both sides are held."""
        return self._last_summary.of((held,), lambda: summary_of(held))

    @property
    def grouping(self) -> str:
        """By what the list in front is grouped."""
        return self._grouped[self.spec.name]

    @property
    def opened(self) -> str:
        """The name of the group whose holdings alone are listed; empty for none."""
        return "" if self._inside is None else self._inside.name

    @property
    def is_narrowed(self) -> bool:
        """True if a search or an opened group leaves rows out."""
        return bool(self.search) or self._inside is not None

    def rows(self) -> tuple[ExposureRow, ...]:
        """The rows of the list in front as it is grouped: no other list's are made."""
        by = POSITION if self._is_inside else self.grouping
        return GROUPED[self.spec.name][by].rows(self.state)

    @property
    def _is_inside(self) -> bool:
        """True if the list in front is that of what was opened."""
        return self._inside is not None and self.spec is HELD_LIST

    def counts(self) -> tuple[int, ...]:
        """How many rows each list has as it is grouped; none while nothing is known."""
        held = self.state.holdings
        return tuple(
            0 if held is None else ways[self._grouped[name]].count(held)
            for name, ways in GROUPED.items()
        )

    def _choice(self) -> Only[ExposureRow] | None:
        """What was opened, of everything held; else all."""
        inside = self._inside
        if inside is None or not self._is_inside:
            return None
        keys = LastMade[frozenset[str]]()

        def wants(row: ExposureRow) -> bool:
            held = self.state.holdings
            return held is not None and row.key in keys.of((held,), lambda: inside.keys(held))

        return Only[ExposureRow](wants, inside.name)

    def filter_rows(self) -> None:
        """As everywhere, of what was opened."""
        self.only = self._choice()
        super().filter_rows()

    def group_next(self) -> None:
        """Group the list in front by the next thing."""
        self._inside = None
        ways = tuple(GROUPED[self.spec.name])
        self._group(self.spec.name, ways[(ways.index(self.grouping) + 1) % len(ways)])

    def _group(self, name: str, by: str) -> None:
        self._grouped[name] = by
        self.table.clear_marks()
        self.show_rows()
        self.table.see_all()
        self.filter_rows()

    def open_group(self, row: GroupRow) -> None:
        """List what a group holds."""
        self._go_inside(formats.plain(row.question, 40).plain, partial(rows_inside, row))

    def open_both(self) -> None:
        """List the positions of which somebody holds the other side."""
        self._go_inside(BOTH_SIDES, opposed_rows)

    def _go_inside(self, name: str, rows: Callable[[HoldingsView], Iterable[HeldRow]]) -> None:
        place, row = self.place, self.current_row()
        if self._inside is not None:
            place, row = self._inside.place, self._inside.row
        self._inside = Inside(name, lambda held: _keys_of(rows(held)), place, row)
        self.line.put("")
        super().bring_forward(TABLES.index(HELD_LIST))
        self.table.focus()

    def bring_forward(self, place: int) -> None:
        """Bring a list to the front, whole."""
        self._inside = None
        super().bring_forward(place)

    def come_again(self) -> None:
        """Go to the groups; from these to the groups by category."""
        if self.place:
            self.bring_forward(0)
        else:
            self._group(EXPOSURE.name, next(iter(GROUPED[EXPOSURE.name])))
        self.table.focus()

    def focus_row(self, row: str | None) -> None:
        """As everywhere; the list of the row is grouped as the row is."""
        is_in_front = row is None or self.table.order.index_of(row) is not None
        found = None if is_in_front else self._found(row)
        if found is not None:
            place, by = found
            self._inside = None
            self._group(TABLES[place].name, by)
        super().focus_row(row)

    def _found(self, row: str | None) -> tuple[int, str] | None:
        """The list of a row, and by what it is grouped there."""
        for place, spec in enumerate(TABLES):
            for by, one in GROUPED[spec.name].items():
                if any(each.key == row for each in one.rows(self.state)):
                    return place, by
        return None

    def choices(self) -> Mapping[str, str]:
        """By what each list is grouped."""
        return {_kept_as(name): by for name, by in self._grouped.items()}

    def restore_choices(self, choices: Mapping[str, str]) -> None:
        """Group by that again."""
        for name, ways in GROUPED.items():
            kept = choices.get(_kept_as(name), "")
            if kept in ways:
                self._grouped[name] = kept

    def step_out(self) -> bool:
        """As everywhere; a grouping is no filter to leave, what was opened is."""
        is_narrowed = self.line.typed or self.table.order.marked or self.has_class("-opened")
        if self._inside is not None and self.table.has_focus and not is_narrowed:
            place, row = self._inside.place, self._inside.row
            self.bring_forward(place)
            if row is not None:
                self.table.put_cursor(row)
            self.table.focus()
            return True
        has_left = super().step_out()
        self.show_header()
        return has_left
