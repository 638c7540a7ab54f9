"""Rows of a source about markets, prices and ends, as text, not yet interpreted.

A table for each kind holds them. A price, or an end, calls its market by a name of the source: its
key here, its id, its token, or the words of a file's name.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


LINE_MAX: Final = 16_000_000
"""Bytes of a line of CSV; a file with a longer one is refused."""

BUFFER: Final = 2 * LINE_MAX
"""Bytes that are read at once: DuckDB would take 32 of the longest lines."""


class MarketWords(NamedTuple):
    """A market. `key` tells it from all others; `trouble` says why it cannot be taken.

    A spare one counts only where no other says anything of the market.
    """

    key: str
    source: str
    native_id: str
    event: object = None
    question: object = None
    category: object = None
    opened: object = None
    closes: object = None
    resolved: object = None
    outcome: object = None
    volume: object = None
    trouble: str | None = None
    is_spare: bool = False


class PriceWords(NamedTuple):
    """What a side cost at a time; of YES, but where `is_no`."""

    name: str
    t: object
    price: object
    is_no: bool = False
    is_trade: bool = False


class QuoteWords(NamedTuple):
    """The best bid and ask of a side at a time, and the shares there where they are known."""

    name: str
    t: object
    bid: object
    ask: object
    bid_shares: object = None
    ask_shares: object = None
    is_no: bool = False


class TradeWords(NamedTuple):
    """A trade of a wallet, at the price of its own side; `action` is BUY or SELL.

    `waited` where its order stood on the book.
    """

    name: str
    t: object
    wallet: object
    action: object
    shares: object
    price: object
    is_no: bool = False
    waited: bool = False


class NameWords(NamedTuple):
    """A name of a market, or of one of its sides."""

    name: str
    key: str
    is_no: bool = False


class EndWords(NamedTuple):
    """How a market ended, said apart from it."""

    name: str
    resolved: object
    outcome: object


Words = MarketWords | PriceWords | QuoteWords | TradeWords | NameWords | EndWords

TABLE_OF: Final = {
    MarketWords: "raw_markets",
    PriceWords: "raw_prices",
    QuoteWords: "raw_quotes",
    TradeWords: "raw_trades",
    NameWords: "raw_names",
    EndWords: "raw_ends",
}

_FLAGS: Final = frozenset({"is_no", "is_trade", "is_spare", "waited"})

CREATE: Final = (
    "\n".join(
        f"CREATE TABLE {table} (place VARCHAR, "
        + ", ".join(
            f"{field} BOOLEAN DEFAULT false" if field in _FLAGS else f"{field} VARCHAR"
            for field in kind._fields
        )
        + ");"
        for kind, table in TABLE_OF.items()
    )
    + "CREATE TABLE unread (reason VARCHAR, place VARCHAR, what VARCHAR);"
)
"""The tables: what a source says, with the file and the line or number of the row; and the
rows that could not be read.
"""


def quoted(path: Path) -> str:
    """A path as text of SQL; star and bracket in it stand for themselves."""
    text = str(path).replace("'", "''")
    for letter in "[*?":
        text = text.replace(letter, f"[{letter}]")
    return f"'{text}'"


def insert(
    database: "DuckDBPyConnection",
    kind: type[Words],
    place: str,
    table: str,
    **columns: str,
) -> None:
    """Read a table into one of them.

    Args:
        database: where they are.
        kind: which of them.
        place: the file that is read.
        table: what SQL reads.
        columns: what SQL reads for a field; without any, the columns of the table by name.
    """
    given = columns or {
        field: f"coalesce({field} = 'true', false)" if field in _FLAGS else field
        for field in kind._fields
    }
    numbered = "? || ':' || (row_number() OVER () + 1)" if kind is MarketWords else "?"
    database.execute(
        f"INSERT INTO {TABLE_OF[kind]} (place, {', '.join(given)})"
        f" SELECT {numbered}, {', '.join(given.values())} FROM {table}",
        [place],
    )
