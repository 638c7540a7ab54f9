"""Tables as data: their rows, columns, sorting, search and comparison.

Below, the columns that many tables have: the market, a side, prices, amounts and times.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, Generic, Protocol, TypeVar

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import counted
from service_tui.console.own_notes import signed
from service_tui.console.questions import Names, names_of, short_question, shorter_names
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import Column
from service_tui.desk.slices.rows import LastMade
from service_tui.desk.state import DeskState
from service_tui.terms import Side, Venue
from service_tui.units import Micros, Timestamp

Row = TypeVar("Row")
Value = TypeVar("Value", bound=float | None)


def _always(_: DeskState) -> bool:
    return True


@dataclass(frozen=True)
class TableSpec(Generic[Row]):
    """One table of a screen.

    Args:
        name: the label of its tab.
        rows: its rows in a state.
        key: identifies a row for as long as it lives; unique within a table.
        columns: from left to right.
        search_text: the text in which a search finds a row, folded.
        empty_text: why there are no rows, and what to do.
        sort: id of the first sort column; empty: as the rows come.
        falling: whether that order is descending.
        compared: the numbers that a search compares (`entry:>0.5`), each by its name; mostly the
        id of a column.
        newest_on_top: the newest row is on top; the cursor follows it until the person moves it.
        keeps_row: `newest_on_top`, but the cursor stays on its row while the person looks at the
        table: its rows are acted on.
        first_step: id of the key that brings its first row; offered before all others while the
        table is empty.
        is_loaded: whether its rows have come from the service; before, their number is unknown.
    """

    name: str
    rows: Callable[[DeskState], tuple[Row, ...]]
    key: Callable[[Row], str]
    columns: tuple[Column[Row], ...]
    search_text: Callable[[Row, ViewContext], str]
    empty_text: Callable[[DeskState], str]
    sort: str = ""
    falling: bool = False
    compared: Mapping[str, Callable[[Row, ViewContext], float | None]] = field(
        default_factory=dict[str, Callable[[Row, ViewContext], float | None]]
    )
    is_loaded: Callable[[DeskState], bool] = _always
    first_step: str = ""
    newest_on_top: bool = False
    keeps_row: bool = False

    def label(self, state: DeskState) -> str:
        """The label of its tab: the name, and the number of rows."""
        return f"{self.name} {counted(len(self.rows(state)), is_loaded=self.is_loaded(state))}"


class HasQuestion(Protocol):
    """A row about a market."""

    @property
    def market_id(self) -> str:
        """The market."""
        ...

    @property
    def question(self) -> str:
        """The market's question."""
        ...


class HasEnd(HasQuestion, Protocol):
    """A row about a market whose end a column shows."""

    @property
    def resolves_at(self) -> Timestamp | None:
        """When the market ends."""
        ...


class HasSide(Protocol):
    """A row about one side of a market."""

    @property
    def side(self) -> Side:
        """The side."""
        ...


class AmountFormat(Protocol):
    """A format of an amount, such as `formats.money`."""

    def __call__(self, amount: Micros | None, /, *, masked: bool) -> Text:
        """The amount as a cell shows it."""
        ...


def venue_mark(venue: Venue) -> str:
    """A real venue in three letters."""
    return venue.value.partition("_")[0].upper()


def market_column(
    name: str = "market", title: str = "market", width: int = 14
) -> Column[HasQuestion]:
    """The question, which takes the room that the other columns leave."""
    return Column(
        name,
        title,
        width,
        lambda row, view: signed(
            listed_name(row.market_id, row.question, view.state), row.market_id, view
        ),
        shorter=lambda row, view: signed(
            shorter_name(row.market_id, row.question, view.state), row.market_id, view
        ),
        sort_key=lambda row, _: row.question,
        flex=True,
        keeps_end=True,
    )


class OnVenue(HasQuestion, Protocol):
    """A row about a market on one venue."""

    @property
    def venue(self) -> Venue:
        """The venue."""
        ...


def marked_question(question: str, venue: Venue) -> Text:
    """A short question; a real venue is marked before it, at any width."""
    if venue is Venue.SIM:
        return Text(question)
    return Text.assemble((f"{venue_mark(venue)} ", "live"), question)


def venue_market_column(width: int = 14) -> Column[OnVenue]:
    """The question, with its real venue before it, in the room that the other columns leave."""
    return Column(
        "market",
        "market",
        width,
        lambda row, view: signed(
            marked_question(listed_name(row.market_id, row.question, view.state), row.venue),
            row.market_id,
            view,
        ),
        shorter=lambda row, view: signed(
            marked_question(shorter_name(row.market_id, row.question, view.state), row.venue),
            row.market_id,
            view,
        ),
        sort_key=lambda row, _: row.question,
        flex=True,
        keeps_end=True,
    )


_last_names: Final = LastMade[Mapping[str, Names]]()
_last_shorter: Final = LastMade[Mapping[str, str]]()


def _names(state: DeskState) -> Mapping[str, Names]:
    """The names of a state's markets, and of those in which something is or was held."""
    held = state.closed, state.on_venues, state.positions

    def made() -> Mapping[str, Names]:
        every = (*chain(*held), *state.markets.values())
        return names_of((one.market_id, one.question, one.resolves_at) for one in every)

    return _last_names.of((state.markets, *held), made)


def market_name(row: HasEnd, state: DeskState) -> str:
    """What a row's market is called beside a column that shows when it ends.

    Without that time, except where another market of the state would be called the same.
    """
    known = _names(state).get(row.market_id)
    if known is None or known.question != row.question:
        return short_question(row.question, row.resolves_at)
    return known.beside_end


def listed_name(market_id: str, question: str, state: DeskState) -> str:
    """What a market is called in a list that does not show when it ends."""
    known = _names(state).get(market_id)
    if known is None or known.question != question:
        return short_question(question)
    return known.alone


def without_ending(name: str, state: DeskState) -> str:
    """What a market is called where its name has no room: its likes share the ending."""
    return _shorter_names(state).get(name, name)


def _shorter_names(state: DeskState) -> Mapping[str, str]:
    names = _names(state)

    def made() -> Mapping[str, str]:
        called = ((one.alone, one.beside_end) for one in names.values())
        return shorter_names(frozenset(chain.from_iterable(called)))

    return _last_shorter.of((names,), made)


def shorter_name(market_id: str, question: str, state: DeskState) -> str:
    """What a market is called in a list without its end that has no room for the whole name."""
    return without_ending(listed_name(market_id, question, state), state)


def ending_market_column(name: str, title: str, width: int) -> Column[HasEnd]:
    """The market beside a column that shows when it ends: without that time."""
    return Column(
        name,
        title,
        width,
        lambda row, view: signed(market_name(row, view.state), row.market_id, view),
        shorter=lambda row, view: signed(
            without_ending(market_name(row, view.state), view.state), row.market_id, view
        ),
        sort_key=lambda row, _: row.question,
        flex=True,
        keeps_end=True,
    )


def side_column() -> Column[HasSide]:
    """The side in its colour."""
    return Column(
        "side",
        "side",
        4,
        lambda row, _: formats.side(row.side),
        sort_key=lambda row, _: row.side.value,
        of_row=True,
    )


def figure_column(  # noqa: PLR0917 - what a column is made of
    name: str,
    title: str,
    width: int,
    value: Callable[[Row], Value],
    format_value: Callable[[Value], Text],
    *,
    tier: int = 0,
) -> Column[Row]:
    """A number, written by a format and sorted by itself."""
    return Column(
        name,
        title,
        width,
        lambda row, _: format_value(value(row)),
        sort_key=lambda row, _: value(row),
        numeric=True,
        tier=tier,
        of_row=True,
    )


def price_column(
    name: str, title: str, width: int, price: Callable[[Row], float | None], *, tier: int = 0
) -> Column[Row]:
    """A price, its point aligned with those of the others."""
    return figure_column(
        name, title, width, price, lambda each: formats.price(each, aligned=True), tier=tier
    )


def amount_column(  # noqa: PLR0917 - what a column is made of
    name: str,
    title: str,
    width: int,
    amount: Callable[[Row], Micros | None],
    format_value: AmountFormat,
    *,
    tier: int = 0,
) -> Column[Row]:
    """Money or shares, hidden while amounts are masked."""
    return Column(
        name,
        title,
        width,
        lambda row, view: format_value(amount(row), masked=view.masked),
        sort_key=lambda row, _: amount(row),
        numeric=True,
        tier=tier,
        of_row=True,
    )


def clock_column(at: Callable[[Row], Timestamp | None]) -> Column[Row]:
    """The time of day of a row, by the wall clock: the offline world has another one."""
    return Column(
        "time",
        "wall time",
        9,
        lambda row, _: formats.clock_time(at(row)),
        sort_key=lambda row, _: at(row),
        numeric=True,
        glows=False,
        of_row=True,
    )


def date_column(
    name: str, title: str, at: Callable[[Row], Timestamp | None], *, tier: int = 0
) -> Column[Row]:
    """Day and time of day."""
    return Column(
        name,
        title,
        12,
        lambda row, _: formats.date_time(at(row)),
        sort_key=lambda row, _: at(row),
        align="right",
        tier=tier,
        of_row=True,
    )


def word_column(
    name: str,
    title: str,
    width: int,
    word: Callable[[Row], str],
    *,
    tier: int = 0,
    wide: tuple[int, int] | None = None,
) -> Column[Row]:
    """A word or a few, sorted by themselves; no wider than they are."""
    return Column(
        name,
        title,
        width,
        lambda row, _: formats.plain(word(row)),
        sort_key=lambda row, _: word(row),
        tier=tier,
        wide=wide,
        of_row=True,
        fits=True,
    )
