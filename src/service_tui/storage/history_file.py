"""The file of a history: recorded markets and their prices, in an order in which a world reads it.

It is an SQLite file of its own, written as a whole or not at all, and only read from then on. The
prices of a market lie in pieces of `PIECE` points, so that a reader takes the piece around a moment
and never all.
"""

import fcntl
import hashlib
import math
import os
import re
import sqlite3
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from service_tui.storage.errors import StorageError, as_storage_error

FOLDER: Final = "histories"
ENDING: Final = ".history"
VERSION: Final = 2
"""1 had no quotes and no trades of wallets: such a file is read as it is."""

NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}\Z")
"""What a history may be called: its name is that of a file."""

PIECE: Final = 1_024
POINTS_KEPT: Final = 1_500_000
"""Points in a piece, and points that a reader keeps: 24 MB. Every tick asks each market that stands
for its price, so the pieces of thousands must stay, or each is read again."""

TRADES_READ: Final = 20_000
"""Trades of wallets that are read at once: a step of days may cover millions."""

LEFT_OUT_KEPT: Final = 1_000
"""Rows of one reason that are listed; all are counted."""

_TABLES: Final = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE markets (
    number INTEGER PRIMARY KEY, source TEXT NOT NULL, native_id TEXT NOT NULL, event TEXT NOT NULL,
    question TEXT NOT NULL, category TEXT NOT NULL, opens_at REAL NOT NULL, closes_at REAL,
    ends_at REAL, settles_at REAL, volume REAL, points INTEGER NOT NULL,
    UNIQUE (source, native_id)
);
CREATE INDEX by_opening ON markets (opens_at);
CREATE INDEX by_end ON markets (ends_at);
CREATE TABLE prices (
    market INTEGER NOT NULL, since REAL NOT NULL, times BLOB NOT NULL, prices BLOB NOT NULL,
    PRIMARY KEY (market, since)
) WITHOUT ROWID;
CREATE TABLE quotes (
    market INTEGER NOT NULL, since REAL NOT NULL, times BLOB NOT NULL, bids BLOB NOT NULL,
    asks BLOB NOT NULL, bid_shares BLOB NOT NULL, ask_shares BLOB NOT NULL,
    PRIMARY KEY (market, since)
) WITHOUT ROWID;
CREATE TABLE trades (
    at REAL NOT NULL, number INTEGER NOT NULL, market INTEGER NOT NULL, wallet BLOB NOT NULL,
    is_no INTEGER NOT NULL, sells INTEGER NOT NULL, waited INTEGER NOT NULL, shares REAL NOT NULL,
    price REAL NOT NULL, PRIMARY KEY (at, number)
) WITHOUT ROWID;
CREATE TABLE left_out (reason TEXT NOT NULL, place TEXT NOT NULL, what TEXT NOT NULL);
CREATE TABLE counts (reason TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
"""


class HistoryError(StorageError):
    """A history is not there, is none of ours, or cannot be written: a sentence with its fix."""


class MarketRow(NamedTuple):
    """One market of a history. Times are Unix seconds, UTC.

    `closes_at` is the end that was announced, None where none was. `ends_at` is when the outcome
    stood and `settles_at` what a share of YES paid then, 0 to 1; VOID, below 0, gives the money
    back. Both are None where the recording ends first.
    """

    source: str
    native_id: str
    event: str
    question: str
    category: str
    opens_at: float
    closes_at: float | None
    ends_at: float | None
    settles_at: float | None
    volume: float | None = None
    points: int = 0
    number: int = 0


VOID: Final = -1.0
"""What `settles_at` is where everybody gets the money back."""


class LeftOut(NamedTuple):
    """A row of a source that was not taken: why, where it stands, and what it says."""

    reason: str
    place: str
    what: str


class HistorySummary(NamedTuple):
    """A history as a whole. `digest` tells it from any other, also of the same name."""

    name: str
    digest: str
    markets: int
    points: int
    begins_at: float
    ends_at: float
    sources: str
    size: int


class QuoteColumns(NamedTuple):
    """Bids and asks of YES in the order of time, a column each.

    A bid of 0 and an ask of 1 stand for nobody; shares of 0 are not known.
    """

    times: Sequence[float] = ()
    bids: Sequence[float] = ()
    asks: Sequence[float] = ()
    bid_shares: Sequence[float] = ()
    ask_shares: Sequence[float] = ()


NO_QUOTES: Final = QuoteColumns()


class QuoteRow(NamedTuple):
    """What stood at a time, as in `QuoteColumns`."""

    at: float
    bid: float
    ask: float
    bid_shares: float
    ask_shares: float


class WalletTradeRow(NamedTuple):
    """A trade of a wallet, at the price of its own side; `wallet` are the 20 bytes of its address.

    `number` tells trades of one moment apart. `waited` where its order stood on the book.
    """

    at: float
    number: int
    market: int
    wallet: bytes
    is_no: bool
    sells: bool
    waited: bool
    shares: float
    price: float


_PRICES: Final = "prices"
_QUOTES: Final = "quotes"
_COLUMNS: Final = {_PRICES: "times, prices", _QUOTES: ", ".join(QuoteColumns._fields)}
"""What lies in pieces, by market and time: tables and their columns."""

_Piece = tuple["array[float]", ...]
_Place = tuple[str, int, float]
"""Columns of a piece, the times first; and where it lies: table, market, first time."""


_DAMAGED: Final = "the history {name} cannot be read: remove it, and import it again"


def history_path(folder: Path, name: str) -> Path:
    """Where a history lies; HistoryError for a name that no history has."""
    if not NAME.match(name):
        raise HistoryError(
            f"a history is called by small letters, digits, - and _, 40 at most: not {name[:60]!r}"
        )
    return folder / FOLDER / f"{name}{ENDING}"


def names(folder: Path) -> list[str]:
    """The histories of a folder, by name."""
    found = (folder / FOLDER).glob(f"*{ENDING}")
    return sorted(one.name.removesuffix(ENDING) for one in found)


def remove(folder: Path, name: str) -> None:
    """Delete a history; HistoryError where there is none."""
    try:
        history_path(folder, name).unlink()
    except FileNotFoundError:
        raise HistoryError(_missing(folder, name)) from None


def _missing(folder: Path, name: str) -> str:
    known = ", ".join(names(folder)) or "there is none yet"
    return f"no history is called {name} ({known}): service-tui history import PATH"


class PriceSpan(NamedTuple):
    """A recorded price, and the time from which it stands until the next one."""

    price: float
    since: float
    until: float


class HistoryWriter:
    """Writes one history beside its place; `finish` puts it there.

    Raises:
        HistoryError: another process writes a history of this name.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._part = path.with_suffix(".part")
        self._lock: int | None = None
        self._digest = hashlib.sha256()
        self._number = self._points = 0
        self._span = (float("inf"), float("-inf"))
        self._listed: dict[str, int] = {}
        self._sources: set[str] = set()
        with as_storage_error():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(self._part)
            self._file = sqlite3.connect(self._part, isolation_level=None)
            self._file.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
            self._file.executescript(_TABLES)
            self._file.execute("BEGIN")

    def add(
        self,
        market: MarketRow,
        times: Sequence[float],
        prices: Sequence[float],
        quotes: QuoteColumns = NO_QUOTES,
    ) -> None:
        """Write a market with its prices, in the order of time; markets come in that of opening."""
        number, points = self._number, len(times)
        self._number += 1
        self._points += points
        row = market._replace(points=points, number=number)
        self._digest.update(repr(row).encode())
        self._sources.add(market.source)
        self._span = (min(self._span[0], times[0]), max(self._span[1], times[-1], *_ends(row)))
        with as_storage_error():
            self._file.execute(
                "INSERT INTO markets (source, native_id, event, question, category, opens_at,"
                " closes_at, ends_at, settles_at, volume, points, number)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                row,
            )
            self._add_pieces(_PRICES, number, (times, prices))
            self._add_pieces(_QUOTES, number, quotes)

    def _add_pieces(self, table: str, number: int, columns: Sequence[Sequence[float]]) -> None:
        for begin in range(0, len(columns[0]), PIECE):
            blobs = [array("d", one[begin : begin + PIECE]).tobytes() for one in columns]
            for blob in blobs:
                self._digest.update(blob)
            self._file.execute(
                f"INSERT INTO {table} VALUES (?, ?{', ?' * len(blobs)})",  # noqa: S608  (a word of ours)
                (number, columns[0][begin], *blobs),
            )

    def add_trades(self, rows: Iterable[WalletTradeRow]) -> None:
        """Write trades of wallets, in the order of time and number."""

        def noted() -> Iterator[WalletTradeRow]:
            for row in rows:
                self._digest.update(repr(row).encode())
                yield row

        with as_storage_error():
            self._file.executemany("INSERT INTO trades VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", noted())

    def leave_out(self, rows: Iterable[LeftOut], *, more: int = 0) -> None:
        """Note rows that were not taken; `more` of the last one's reason are counted only."""
        with as_storage_error():
            for row in rows:
                count = self._listed[row.reason] = self._listed.get(row.reason, 0) + 1
                if count <= LEFT_OUT_KEPT:
                    self._file.execute("INSERT INTO left_out VALUES (?, ?, ?)", row)
                if more:
                    self._listed[row.reason] += more
                    more = 0

    def finish(self, name: str) -> HistorySummary:
        """Put the history in its place, in that of an older one of its name.

        Returns:
            What it is.

        Raises:
            HistoryError: no market was written; StorageFullError: there is no room.
        """
        if not self._number:
            raise HistoryError("nothing was taken: no market has both a question and a price")
        about = {
            "version": str(VERSION),
            "name": name,
            "digest": self._digest.hexdigest()[:32],
            "markets": str(self._number),
            "points": str(self._points),
            "begins_at": repr(self._span[0]),
            "ends_at": repr(self._span[1]),
            "sources": ", ".join(sorted(self._sources)),
        }
        with as_storage_error():
            self._file.executemany("INSERT INTO about VALUES (?, ?)", about.items())
            self._file.executemany("INSERT INTO counts VALUES (?, ?)", self._listed.items())
            self._file.execute("COMMIT")
            self._file.close()
            with self._part.open("rb") as written:
                os.fsync(written.fileno())
            self._part.replace(self._path)
            self._unlock()
        with HistoryFile(self._path) as file:
            return file.about

    def give_up(self) -> None:
        """Remove what was written so far."""
        if self._lock is None:
            return
        with suppress(sqlite3.Error, OSError):
            self._file.close()
        with suppress(OSError):
            self._part.unlink(missing_ok=True)
        self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _locked(part: Path) -> int:
    """An empty file to write to, held by this process: what a killed one left there is no use."""
    descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The one who held it may have put it in its place, or removed it, meanwhile.
        if not os.path.samestat(os.fstat(descriptor), part.stat()):
            raise BlockingIOError  # noqa: TRY301  (the same answer)
        os.ftruncate(descriptor, 0)
    except (BlockingIOError, FileNotFoundError):
        os.close(descriptor)
        raise HistoryError(
            f"another import of {part.stem} is under way: wait for its end, or give another --name"
        ) from None
    return descriptor


def _ends(row: MarketRow) -> tuple[float, ...]:
    return () if row.ends_at is None else (row.ends_at,)


class HistoryFile:  # noqa: PLR0904  (one reading a question)
    """A history, open for reading. One thread at a time uses it."""

    def __init__(self, path: Path) -> None:
        folder, name = path.parent.parent, path.name.removesuffix(ENDING)
        if not path.is_file():
            raise HistoryError(_missing(folder, name))
        try:
            self._file = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
            )
            known = dict(self._file.execute("SELECT key, value FROM about"))
            version = int(known["version"])
            self._is_first = version < VERSION
            if version > VERSION:
                raise HistoryError(f"the history {name} was written by a newer program: update")
            self.about = HistorySummary(
                name,
                known["digest"],
                int(known["markets"]),
                int(known["points"]),
                float(known["begins_at"]),
                float(known["ends_at"]),
                known["sources"],
                path.stat().st_size,
            )
        except (sqlite3.Error, KeyError, ValueError, OSError) as error:
            raise HistoryError(_DAMAGED.format(name=name)) from error
        self._pieces: OrderedDict[_Place, _Piece] = OrderedDict()
        self._kept = 0
        self._begins: dict[tuple[str, int], array[float]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        """What a query finds; HistoryError where the file is damaged there."""
        try:
            return self._file.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise self._damaged() from error

    def _damaged(self) -> HistoryError:
        return HistoryError(_DAMAGED.format(name=self.about.name))

    def standing_at(self, at: float) -> list[MarketRow]:
        """Markets that have opened by a moment and not ended, in the order of opening."""
        return self._markets("WHERE opens_at <= ? AND (ends_at IS NULL OR ends_at > ?)", (at, at))

    def market(self, number: int) -> MarketRow | None:
        """The market with a number; None where there is none."""
        return next(iter(self._markets("WHERE number = ?", (number,))), None)

    def markets(self) -> Iterator[MarketRow]:
        """All markets, in the order of opening."""
        return iter(self._markets("", ()))

    def _markets(self, where: str, values: tuple[float, ...]) -> list[MarketRow]:
        columns = ", ".join(MarketRow._fields)
        found = self._rows(
            f"SELECT {columns} FROM markets {where} ORDER BY number",  # noqa: S608  (words of ours)
            values,
        )
        return [MarketRow(*row) for row in found]

    def next_turn(self, at: float) -> float:
        """When a market opens or ends next after a moment; the recording's end where none does."""
        turns = (
            self._rows(f"SELECT min({when}) FROM markets WHERE {when} > ?", (at,))  # noqa: S608
            for when in ("opens_at", "ends_at")
        )
        known = [row[0] for turn in turns for row in turn if row[0] is not None]
        return float(min(known, default=self.about.ends_at))

    def ended_count(self, since: float, until: float) -> int:
        """How many markets ended in a span, its begin not in it."""
        found = self._rows(
            "SELECT count(*) FROM markets WHERE ends_at > ? AND ends_at <= ?", (since, until)
        )
        return int(found[0][0])

    def price_at(self, number: int, at: float) -> float:
        """The last price of a market up to a moment; its first one before that."""
        return self.price_span(number, at).price

    def price_span(self, number: int, at: float) -> PriceSpan:
        """The last price of a market up to a moment, and how long it stands."""
        piece = self._piece_at(_PRICES, number, at)
        if piece is None:
            raise self._damaged()
        times, prices = piece
        after = bisect_right(times, at)
        if after < len(times):
            until = times[after]
        else:
            begins = self._begins[_PRICES, number]
            later = bisect_right(begins, at)
            until = begins[later] if later < len(begins) else math.inf
        since = times[after - 1] if after else -math.inf
        return PriceSpan(prices[max(0, after - 1)], since, until)

    def quote_at(self, number: int, at: float) -> QuoteRow | None:
        """The last bid and ask of a market up to a moment; None where none are recorded by then."""
        piece = self._piece_at(_QUOTES, number, at)
        place = -1 if piece is None else bisect_right(piece[0], at) - 1
        return None if piece is None or place < 0 else QuoteRow(*(one[place] for one in piece))

    def quoted_count(self) -> int:
        """How many markets have a bid and an ask recorded."""
        if self._is_first:
            return 0
        return int(self._rows("SELECT count(DISTINCT market) FROM quotes")[0][0])

    def traded_count(self) -> tuple[int, int]:
        """How many trades of wallets are recorded, and of how many wallets."""
        if self._is_first:
            return 0, 0
        trades, wallets = self._rows("SELECT count(*), count(DISTINCT wallet) FROM trades")[0]
        return int(trades), int(wallets)

    def first_trade_at(self) -> float | None:
        """When a wallet traded first; None where no trade of one is recorded."""
        found = None if self._is_first else self._rows("SELECT min(at) FROM trades")[0][0]
        return None if found is None else float(found)

    def trades(self, since: float, until: float) -> list[WalletTradeRow]:
        """Trades of wallets with since < their time <= until, in order; the last `TRADES_READ`."""
        if self._is_first:
            return []
        found = self._rows(
            "SELECT * FROM trades WHERE at > ? AND at <= ? ORDER BY at DESC, number DESC LIMIT ?",
            (since, until, TRADES_READ),
        )
        return [WalletTradeRow(*row) for row in reversed(found)]

    def _piece_at(self, table: str, number: int, at: float) -> _Piece | None:
        """The piece of a market around a moment, its first one before that; None without any."""
        begins = self._begins.get((table, number))
        if begins is None:
            begins = self._begins[table, number] = self._begins_of(table, number)
        if not begins:
            return None
        return self._piece((table, number, begins[max(0, bisect_right(begins, at) - 1)]))

    def _begins_of(self, table: str, number: int) -> "array[float]":
        """When each piece of a market begins; most have one alone, and it is kept at once."""
        if table == _QUOTES and self._is_first:
            return array("d")
        rows = self._rows(
            f"SELECT since, {_COLUMNS[table]} FROM {table} WHERE market = ?"  # noqa: S608  (words of ours)
            " ORDER BY since LIMIT 2",
            (number,),
        )
        if len(rows) == 1:
            since, *columns = rows[0]
            self._keep((table, number, since), self._columns(columns))
            return array("d", [since])
        found = self._rows(
            f"SELECT since FROM {table} WHERE market = ? ORDER BY since",  # noqa: S608  (words of ours)
            (number,),
        )
        return array("d", [row[0] for row in found])

    def points(self, number: int) -> Iterator[tuple[float, float]]:
        """All prices of a market with their times, in order."""
        rows = self._rows(
            "SELECT times, prices FROM prices WHERE market = ? ORDER BY since", (number,)
        )
        for row in rows:
            yield from zip(*self._columns(row), strict=True)

    def quotes(self, number: int) -> QuoteColumns:
        """All bids and asks of a market, in order."""
        columns = [array("d") for _ in QuoteColumns._fields]
        if not self._is_first:
            for row in self._rows(
                f"SELECT {_COLUMNS[_QUOTES]} FROM quotes WHERE market = ? ORDER BY since",  # noqa: S608  (words of ours)
                (number,),
            ):
                for column, part in zip(columns, self._columns(row), strict=True):
                    column.extend(part)
        return QuoteColumns(*columns)

    def all_trades(self, until: float) -> Iterator[WalletTradeRow]:
        """Every trade of a wallet up to a moment, in order."""
        if self._is_first:
            return
        found = self._rows("SELECT * FROM trades WHERE at <= ? ORDER BY at, number", (until,))
        yield from (WalletTradeRow(*row) for row in found)

    def _piece(self, place: _Place) -> _Piece:
        pieces = self._pieces
        piece = pieces.get(place)
        if piece is not None:
            pieces.move_to_end(place)
            return piece
        table, *key = place
        found = self._rows(
            f"SELECT {_COLUMNS[table]} FROM {table} WHERE market = ? AND since = ?",  # noqa: S608  (words of ours)
            key,
        )
        return self._keep(place, self._columns(found[0]))

    def _columns(self, blobs: Sequence[bytes]) -> _Piece:
        piece = tuple(array("d") for _ in blobs)
        for column, blob in zip(piece, blobs, strict=True):
            column.frombytes(blob)
        if len({len(column) for column in piece}) != 1:
            raise self._damaged()
        return piece

    def _keep(self, place: _Place, piece: _Piece) -> _Piece:
        self._kept += len(piece[0])
        while self._pieces and self._kept > POINTS_KEPT:
            self._kept -= len(self._pieces.popitem(last=False)[1][0])
        self._pieces[place] = piece
        return piece

    def left_out(self, limit: int = LEFT_OUT_KEPT) -> list[LeftOut]:
        """Rows of the sources that were not taken, as far as they are listed."""
        rows = self._rows("SELECT * FROM left_out ORDER BY reason LIMIT ?", (limit,))
        return [LeftOut(*row) for row in rows]

    def left_out_counts(self) -> dict[str, int]:
        """How many rows were not taken, by reason, the most frequent first."""
        return dict(self._rows("SELECT reason, count FROM counts ORDER BY count DESC, reason"))


def cut(source: HistoryFile, until: float, path: Path, name: str) -> HistorySummary:
    """Make a history of what another one knew at a moment, and nothing later.

    Of a market that had not ended by then there is no outcome and no volume; one that had not
    opened is left out.

    Returns:
        What it holds.

    Raises:
        HistoryError: nothing was known, or it cannot be written; then nothing is left of it.
    """
    writer = HistoryWriter(path)
    try:
        _write_known(source, until, writer)
        return writer.finish(name)
    except BaseException:
        writer.give_up()
        raise


def _write_known(source: HistoryFile, until: float, writer: HistoryWriter) -> None:
    numbers: dict[int, int] = {}
    for market in source.markets():
        points = [point for point in source.points(market.number) if point[0] <= until]
        if market.opens_at > until or not points:
            continue
        known = market
        if market.ends_at is None or market.ends_at > until:
            # An announced end that is the true one to the second was written over it later.
            closes_at = None if market.closes_at == market.ends_at else market.closes_at
            known = market._replace(closes_at=closes_at, ends_at=None, settles_at=None, volume=None)
        quotes = source.quotes(market.number)
        count = bisect_right(quotes[0], until)
        numbers[market.number] = len(numbers)
        times, prices = zip(*points, strict=True)
        writer.add(known, times, prices, QuoteColumns(*(one[:count] for one in quotes)))
    writer.add_trades(
        row._replace(market=numbers[row.market])
        for row in source.all_trades(until)
        if row.market in numbers
    )
