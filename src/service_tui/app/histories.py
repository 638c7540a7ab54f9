"""Opens the histories of a data directory for the worlds that run on them."""

import math
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Final

from platformdirs import PlatformDirs

from service_tui.addresses import checksummed
from service_tui.app.options import Options
from service_tui.app.topics import load_topics
from service_tui.config import APP
from service_tui.engine.listing import PricePath, RecordedQuote
from service_tui.engine.tape.history import (
    HistoryStart,
    RecordedMarket,
    RecordedMarkets,
    RecordedTrade,
)
from service_tui.engine.tape.topics import Topics
from service_tui.outcome import VOID, Outcome
from service_tui.storage.history_file import VOID as GIVEN_BACK
from service_tui.storage.history_file import (
    HistoryError,
    HistoryFile,
    MarketRow,
    PriceSpan,
    WalletTradeRow,
    history_path,
    names,
)
from service_tui.terms import Action, Side
from service_tui.units import ONE, Micros, Timestamp

_OTHER: Final = (
    "the history {name} is another one than that on which this world began: import what it was "
    "made of again, or begin anew with --data-dir DIR"
)


def folder_of(name: str, folders: Sequence[Path]) -> Path:
    """The first of some folders with a history of this name; the first of all where none has."""
    return next((one for one in folders if name in names(one)), folders[0])


def folders_of(data_dir: Path) -> tuple[Path, Path]:
    """Where the histories of a data directory lie: in itself, or in the usual one."""
    return data_dir, PlatformDirs(APP).user_data_path


def topics_for(data_dir: Path) -> Topics:
    """What the world of a data directory may be about: invented topics, and histories."""
    return _topics(folders_of(data_dir))


def history_of(options: Options) -> HistoryStart | None:
    """The history on which the options begin a new world, and when; None for an invented one.

    Raises:
        HistoryError: there is none of this name, or the time is none of its.
    """
    if options.history is None:
        if options.history_from is not None:
            raise HistoryError("--from is the time at which a history begins: give --history NAME")
        return None
    folder = folder_of(options.history, folders_of(options.data_dir))
    with HistoryFile(history_path(folder, options.history)) as file:
        about = file.about
    asked = options.history_from
    begins_at = about.begins_at if asked is None else moment_at(asked, "--from")
    if options.history_from == day(about.begins_at):
        # The day that `history list` names: its midnight comes before the first price.
        begins_at = about.begins_at
    if not about.begins_at <= begins_at < about.ends_at:
        raise HistoryError(
            f"the history {about.name} goes from {day(about.begins_at)} to {day(about.ends_at)}: "
            "--from is a time within"
        )
    return HistoryStart(about.name, about.digest, Timestamp(begins_at))


def moment_at(text: str, flag: str) -> float:
    """The time that a flag gives, Unix seconds; one without a zone is UTC.

    Raises:
        HistoryError: it is none.
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise HistoryError(
            f"{flag} {text[:40]!r} is no time: 2024-06-01, or 2024-06-01T12:30"
        ) from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def day(at: float) -> str:
    """The date of a time, UTC."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"


@cache
def _topics(folders: tuple[Path, ...]) -> Topics:
    return Topics(load_topics().table, _opener(folders))


def opened_file(start: HistoryStart, folders: Sequence[Path]) -> HistoryFile:
    """The history on which a world began, open.

    Raises:
        HistoryError: it is not in any of the folders, or is another one of its name.
    """
    file = HistoryFile(history_path(folder_of(start.name, folders), start.name))
    if file.about.digest != start.digest:
        file.close()
        raise HistoryError(_OTHER.format(name=start.name))
    return file


def _opener(folders: Sequence[Path]) -> Callable[[HistoryStart], RecordedMarkets]:
    opened: dict[str, OpenHistory] = {}

    def open_history(start: HistoryStart) -> RecordedMarkets:
        found = opened.get(start.digest)
        if found is None:
            found = opened[start.digest] = OpenHistory(opened_file(start, folders))
        return found

    return open_history


class _Path:
    """The prices of one market of a history."""

    __slots__ = ("_history", "_number", "_span")

    def __init__(self, history: "OpenHistory", number: int) -> None:
        self._history, self._number = history, number
        self._span = PriceSpan(0.0, math.inf, math.inf)

    def price_at(self, at: Timestamp) -> float:
        """The last price of YES recorded up to a moment; the first one before it."""
        # A world asks for each market at each step: most often the price still stands.
        price, since, until = self._span
        if not since <= at < until:
            span = self._span = self._history.price_span(self._number, at)
            return span.price
        return price

    def quote_at(self, at: Timestamp) -> RecordedQuote | None:
        """The last bid and ask recorded up to a moment; None where none are by then."""
        return self._history.quote_at(self._number, at)


class OpenHistory:
    """A history that is open. Threads take turns at it."""

    def __init__(self, file: HistoryFile) -> None:
        self._file = file
        self._turn = threading.Lock()
        self._known: dict[int, RecordedMarket | None] = {}
        self.name = file.about.name
        self.digest = file.about.digest
        self.ends_at = Timestamp(file.about.ends_at)
        first = file.first_trade_at()
        self.wallets_from = None if first is None else Timestamp(first)

    def standing_at(self, at: Timestamp) -> tuple[RecordedMarket, ...]:
        """Markets that have opened by a moment and not ended, in the order of opening."""
        with self._turn:
            rows = self._file.standing_at(at)
        return tuple(self._remembered(row) for row in rows)

    def next_turn(self, at: Timestamp) -> Timestamp:
        """When the next market opens or ends after a moment."""
        with self._turn:
            return Timestamp(self._file.next_turn(at))

    def market(self, number: int) -> RecordedMarket | None:
        """The market with a number; None where there is none."""
        if number not in self._known:
            with self._turn:
                row = self._file.market(number)
                self._known[number] = None if row is None else self._remembered(row)
        return self._known[number]

    def ended_count(self, since: Timestamp, until: Timestamp) -> int:
        """How many markets ended in a span, its begin not in it."""
        with self._turn:
            return self._file.ended_count(since, until)

    def path(self, number: int) -> PricePath:
        """The prices of a market."""
        return _Path(self, number)

    def price_span(self, number: int, at: Timestamp) -> PriceSpan:
        """The last price of a market up to a moment, and how long it stands."""
        with self._turn:
            return self._file.price_span(number, at)

    def quote_at(self, number: int, at: Timestamp) -> RecordedQuote | None:
        """The last bid and ask of a market up to a moment; None where none are by then."""
        with self._turn:
            found = self._file.quote_at(number, at)
        return None if found is None else RecordedQuote(Timestamp(found.at), *found[1:])

    def trades(self, since: Timestamp, until: Timestamp) -> tuple[RecordedTrade, ...]:
        """Trades of wallets with since < their time <= until, in order; of very many the last."""
        with self._turn:
            rows = self._file.trades(since, until)
        return tuple(map(_trade_of, rows))

    def _remembered(self, row: MarketRow) -> RecordedMarket:
        found = self._known.get(row.number)
        if found is None:
            found = self._known[row.number] = _market_of(row)
        return found


def _trade_of(row: WalletTradeRow) -> RecordedTrade:
    return RecordedTrade(
        Timestamp(row.at),
        row.number,
        row.market,
        checksummed(f"0x{row.wallet.hex()}"),
        Side.NO if row.is_no else Side.YES,
        Action.SELL if row.sells else Action.BUY,
        bool(row.waited),
        Micros(round(row.shares * ONE)),
        row.price,
    )


def _market_of(row: MarketRow) -> RecordedMarket:
    return RecordedMarket(
        row.number,
        row.source,
        row.native_id,
        row.event,
        row.question,
        row.category,
        Timestamp(row.opens_at),
        None if row.closes_at is None else Timestamp(row.closes_at),
        None if row.ends_at is None else Timestamp(row.ends_at),
        _outcome_of(row.settles_at),
    )


def _outcome_of(settles_at: float | None) -> Outcome | None:
    """The outcome of a market in the file."""
    if settles_at is None:
        return None
    return VOID if settles_at == GIVEN_BACK else Outcome.at(settles_at)
