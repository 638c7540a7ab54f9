"""Columns that many tables have: the market, a side, prices, amounts and times."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from rich.text import Text

from service_tui.console import formats
from service_tui.console.widgets.columns import Column
from service_tui.terms import Side, Venue
from service_tui.units import Micros, Timestamp

Row = TypeVar("Row")
Value = TypeVar("Value", bound=float | None)


class HasQuestion(Protocol):
    """A row about a market."""

    @property
    def question(self) -> str:
        """What the market asks."""
        ...


class HasSide(Protocol):
    """A row about one side of a market."""

    @property
    def side(self) -> Side:
        """The side."""
        ...


class TellsAmount(Protocol):
    """How an amount is written, such as `formats.money`."""

    def __call__(self, amount: Micros | None, /, *, masked: bool) -> Text:
        """The amount as it stands in a cell."""
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
        lambda row: formats.plain(row.question),
        sort_key=lambda row: row.question,
        flex=True,
    )


def side_column() -> Column[HasSide]:
    """The side in its colour."""
    return Column(
        "side",
        "side",
        4,
        lambda row: formats.side(row.side),
        sort_key=lambda row: row.side.value,
    )


def figure_column(  # noqa: PLR0917 - what a column is made of
    name: str,
    title: str,
    width: int,
    value: Callable[[Row], Value],
    told: Callable[[Value], Text],
    *,
    tier: int = 0,
) -> Column[Row]:
    """A number, told by a format and sorted by itself."""
    return Column(
        name, title, width, lambda row: told(value(row)), sort_key=value, numeric=True, tier=tier
    )


def price_column(
    name: str, title: str, width: int, price: Callable[[Row], float | None], *, tier: int = 0
) -> Column[Row]:
    """A price, its point below that of the others."""
    return figure_column(
        name, title, width, price, lambda each: formats.price(each, aligned=True), tier=tier
    )


def amount_column(  # noqa: PLR0913, PLR0917 - what a column is made of
    name: str,
    title: str,
    width: int,
    amount: Callable[[Row], Micros | None],
    told: TellsAmount,
    masked: Callable[[], bool],
    *,
    tier: int = 0,
) -> Column[Row]:
    """Money or shares, hidden while `masked` says so."""
    return figure_column(
        name, title, width, amount, lambda each: told(each, masked=masked()), tier=tier
    )


def date_column(
    name: str, title: str, at: Callable[[Row], Timestamp | None], *, tier: int = 0
) -> Column[Row]:
    """Day and time of day."""
    return Column(
        name,
        title,
        12,
        lambda row: formats.date_time(at(row)),
        sort_key=at,
        align="right",
        tier=tier,
    )
