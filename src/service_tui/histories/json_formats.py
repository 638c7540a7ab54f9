"""JSON of the sources, as their interfaces give it; each shape is known by its keys.

A file is a list, a page (`{"markets": [...], "cursor": ...}`) or one object. What it says becomes
words, kind by kind, which are read like a table; `staging` makes sense of them.
"""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeGuard
from zoneinfo import ZoneInfo

from service_tui.histories.words import (
    BUFFER,
    LINE_MAX,
    TABLE_OF,
    EndWords,
    MarketWords,
    NameWords,
    PriceWords,
    QuoteWords,
    TradeWords,
    Words,
    insert,
    quoted,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Thing = Mapping[str, Any]

SIDES: Final = 2

NOT_BINARY: Final = "a market that is not YES or NO"
BROKEN: Final = "something that is not as its format says"

OBJECT_MAX: Final = 256 * 2**20
"""Bytes of one object, or of a page: a longer one is refused."""

TEXT_MAX: Final = 100_000
"""Characters of a text that are read."""

NO_SENSE: Final = (
    ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError,
)  # fmt: skip
"""What reading words of others may raise: no number, no date of any calendar, lists in lists."""

DEPTH_MAX: Final = 4
"""How deep a shape may lie in an object."""


class Shape(NamedTuple):
    """Objects of one kind: their name for people, the keys that tell them, and their reader."""

    name: str
    keys: frozenset[str]
    words: Callable[[Thing], Iterator[Words]]


def read_json(database: "DuckDBPyConnection", path: Path, folder: Path) -> str | None:
    """Read a file into the staging tables.

    Args:
        database: where the tables are.
        path: the file.
        folder: for files between, which may be removed after.

    Returns:
        The names of its formats; None where it is of none.
    """
    found = database.execute(
        f"SELECT json FROM read_json_objects({quoted(path)}, format = 'auto',"
        f" maximum_object_size = {OBJECT_MAX})"
    )
    known: set[str] = set()
    with ExitStack() as stack:
        files = {
            kind: stack.enter_context((folder / f"{kind.__name__}.csv").open("w", newline=""))
            for kind in TABLE_OF
        }
        writers = {kind: csv.writer(file, quoting=csv.QUOTE_ALL) for kind, file in files.items()}
        for kind, writer in writers.items():
            writer.writerow(kind._fields)
        while row := found.fetchone():
            for words in _words_in(json.loads(row[0]), path.stem, known):
                writers[type(words)].writerow(map(_text, words))
    for kind in files if known else ():
        insert(database, kind, path.name, f"read_csv({quoted(folder / f'{kind.__name__}.csv')},"
               " header = true, all_varchar = true, quote = '\"', escape = '\"',"
               f" max_line_size = {LINE_MAX}, buffer_size = {BUFFER})")  # fmt: skip
    return ", ".join(sorted(known)) or None


def _words_in(thing: object, stem: str, known: set[str]) -> Iterator[Words]:
    """What an object says; the names of the shapes in it are added to `known`."""
    for shape, one in _shapes_in(thing):
        known.add(shape.name)
        try:
            yield from tuple(shape.words({"_stem": stem, **one}))
        except NO_SENSE:
            native = str(_first(one, *_NAMED_BY) or shape.name)
            yield MarketWords(native, "", native, question=shape.name, trouble=BROKEN)


_NAMED_BY: Final = ("ticker", "conditionId", "id", "contractId", "_stem")


def _shapes_in(thing: object, depth: int = DEPTH_MAX) -> Iterator[tuple[Shape, Thing]]:
    """The things of a known shape in what a file holds."""
    if _is_list(thing):
        for one in thing:
            yield from _shapes_in(one, depth)
    elif _is_thing(thing):
        keys = thing.keys()
        fitting = [one for one in SHAPES if one.keys <= keys]
        if fitting:
            yield max(fitting, key=lambda one: len(one.keys)), thing
        elif depth:
            for one in thing.values():
                yield from _shapes_in(one, depth - 1)


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else ""
    return str(value).replace("\0", "")[:TEXT_MAX]


def _listed(value: object) -> list[str]:
    """A list that may be written as text: '["Yes", "No"]'."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return []
    return [str(one) for one in value] if _is_list(value) else []


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def _is_thing(value: object) -> TypeGuard[Thing]:
    return isinstance(value, dict)


def _first(thing: Thing, *keys: str) -> object:
    """The first of some fields that says anything."""
    return next((thing[key] for key in keys if thing.get(key) not in (None, "", "N/A")), None)


# -- Polymarket ----------------------------------------------------------------------------


def _gamma_market(thing: Thing, event: str | None = None) -> Iterator[Words]:
    outcomes, prices = _listed(thing.get("outcomes")), _listed(thing.get("outcomePrices"))
    native = str(_first(thing, "conditionId", "id"))
    key = f"polymarket:{native}"
    if thing.get("marketType") == "scalar" or len(outcomes) != SIDES:
        yield MarketWords(
            key, "polymarket", native, question=thing.get("question"), trouble=NOT_BINARY
        )
        return
    events: list[Thing] = thing.get("events") or [{}]
    outcome = resolved = None
    if thing.get("closed") and prices:
        outcome = {"1": "YES", "0": "NO", "0.5": "0.5"}.get(prices[0])
        # ours: both at 0 is what the catalogue says of a market whose outcome it has lost.
        outcome = None if float(prices[0]) + float(prices[-1]) == 0 else outcome
        resolved = _first(thing, "closedTime", "umaEndDate", "endDate") if outcome else None
    yield MarketWords(
        key,
        "polymarket",
        native,
        event or _first(thing, "eventTitle", "eventSlug") or events[0].get("title"),
        _named(thing.get("question"), outcomes[0]),
        _first(thing, "category", "domain"),
        _first(thing, "startDate", "createdAt"),
        _first(thing, "endDate", "endDateIso"),
        resolved,
        outcome,
        _first(thing, "volumeNum", "volume"),
    )
    tokens = _listed(thing.get("clobTokenIds"))
    for word in (thing.get("id"), thing.get("slug"), native):
        if word:
            yield NameWords(str(word), key)
    for token, is_no in zip(tokens, (False, True), strict=False):
        yield NameWords(token, key, is_no)


def _gamma_event(thing: Thing) -> Iterator[Words]:
    for market in thing["markets"]:
        yield from _gamma_market(market, event=str(thing["title"]))


def _named(question: object, side: str) -> str:
    """A question, with what its YES means where that is not plain."""
    text = str(question or "").strip()
    return text if not text or side.lower() == "yes" else f"{text} ({side})"


def _price_history(thing: Thing) -> Iterator[Words]:
    # The answer does not say whose prices they are: a name of the file does, and "no" in it.
    name = str(_first(thing, "market", "token", "asset") or thing["_stem"])
    for point in thing["history"]:
        yield PriceWords(name, point.get("t"), point.get("p"))


def _polymarket_trade(thing: Thing) -> Iterator[Words]:
    name, is_no = str(thing["conditionId"]), str(thing.get("outcomeIndex")) == "1"
    at, price = thing["timestamp"], thing["price"]
    yield PriceWords(name, at, price, is_no=is_no, is_trade=True)
    if thing.get("proxyWallet"):
        yield TradeWords(
            name, at, thing["proxyWallet"], thing.get("side"), thing.get("size"), price, is_no
        )
    yield from (
        MarketWords(
            f"polymarket:{thing['conditionId']}",
            "polymarket",
            str(thing["conditionId"]),
            thing.get("eventSlug"),
            thing.get("title"),
            is_spare=True,
        ),
        NameWords(str(thing["conditionId"]), f"polymarket:{thing['conditionId']}"),
    )


# -- Kalshi --------------------------------------------------------------------------------


def _kalshi_market(thing: Thing, event: Thing | None = None) -> Iterator[Words]:
    ticker, title = str(thing["ticker"]), str(thing.get("title") or "")
    side = str(_first(thing, "yes_sub_title", "subtitle") or "")
    result, paid = str(thing.get("result") or ""), _first(thing, "settlement_value_dollars")
    outcome = {"yes": "YES", "no": "NO", "void": "VOID"}.get(result)
    if outcome is None and result and paid is not None:
        outcome = str(paid)
    ended = _first(thing, "settlement_ts", "close_time") if outcome else None
    yield MarketWords(
        f"kalshi:{ticker}",
        "kalshi",
        ticker,
        (event or {}).get("title") or thing.get("event_ticker"),
        title if not side or side in title else f"{title} ({side})",
        _first(event or {}, "category") or thing.get("category"),
        thing.get("open_time"),
        # ours: an early end is written over `close_time`, so what was announced is the expected one
        _first(thing, "expected_expiration_time", "latest_expiration_time"),
        ended,
        outcome,
        _first(thing, "volume_fp", "volume"),
    )
    yield NameWords(ticker, f"kalshi:{ticker}")


def _kalshi_event(thing: Thing) -> Iterator[Words]:
    for market in thing["markets"]:
        if "ticker" in market:
            yield from _kalshi_market(market, thing.get("event") or thing)


def _kalshi_candles(thing: Thing) -> Iterator[Words]:
    name = str(_first(thing, "ticker", "market_ticker") or thing["_stem"])
    for candle in thing["candlesticks"]:
        at, price = candle.get("end_period_ts"), _dollars(candle.get("price"))
        bid, ask = _dollars(candle.get("yes_bid")), _dollars(candle.get("yes_ask"))
        if bid is not None and ask is not None:
            yield QuoteWords(name, at, bid, ask)
            price = (bid + ask) / 2 if price is None else price
        if price is not None:
            yield PriceWords(name, at, price)


def _dollars(bar: object) -> float | None:
    """What a candle closed at: in dollars as text, or in whole cents as older answers have it."""
    if not _is_thing(bar):
        return None
    value = _first(bar, "close_dollars", "close")
    if value is None:
        return None
    return value / 100 if isinstance(value, int) else float(str(value))


def _kalshi_trade(thing: Thing) -> Iterator[Words]:
    price = thing.get("yes_price_dollars")
    if price is None:
        cents = thing.get("yes_price")
        price = None if cents is None else float(cents) / 100
    yield PriceWords(str(thing["ticker"]), thing.get("created_time"), price, is_trade=True)


# -- Manifold, PredictIt, ForecastBench ------------------------------------------------------


def _manifold_market(thing: Thing) -> Iterator[Words]:
    native = str(thing["id"])
    key, resolution = f"manifold:{native}", thing.get("resolution")
    is_plain = thing.get("outcomeType") in {None, "BINARY"}
    outcome = {"CANCEL": "VOID", "MKT": thing.get("resolutionProbability")}.get(
        str(resolution), resolution
    )
    yield MarketWords(
        key,
        "manifold",
        native,
        None,
        thing.get("question"),
        None,
        thing.get("createdTime"),
        thing.get("closeTime"),
        thing.get("resolutionTime") if outcome else None,
        outcome,
        thing.get("volume"),
        trouble=None if is_plain else NOT_BINARY,
    )
    yield NameWords(native, key)


def _manifold_bet(thing: Thing) -> Iterator[Words]:
    yield PriceWords(
        str(thing["contractId"]), thing.get("createdTime"), thing.get("probAfter"), is_trade=True
    )


_EASTERN: Final = ZoneInfo("America/New_York")
"""The clock of PredictIt's answers."""


def _predictit_market(thing: Thing) -> Iterator[Words]:
    seen = datetime.fromisoformat(str(thing["timeStamp"])[:26]).replace(tzinfo=_EASTERN)
    for contract in thing["contracts"]:
        native = f"{thing['id']}-{contract.get('id')}"
        yield MarketWords(
            f"predictit:{native}",
            "predictit",
            native,
            thing.get("name"),
            f"{thing.get('name')} ({contract.get('name')})",
            closes=_first(contract, "dateEnd"),
            is_spare=True,
        )
        yield NameWords(native, f"predictit:{native}")
        yield PriceWords(native, seen.timestamp(), contract.get("lastTradePrice"))


MARKETS_OF_BENCH: Final = frozenset({"manifold", "metaculus", "infer", "polymarket"})
"""Sources of ForecastBench that are markets; the others are series of numbers."""


def _bench_question(thing: Thing) -> Iterator[Words]:
    source, native = str(thing["source"]), str(thing["id"])
    if source not in MARKETS_OF_BENCH:
        return
    key = f"{source}:{native}"
    yield MarketWords(
        key,
        source,
        native,
        None,
        thing.get("question"),
        None,
        _first(thing, "market_info_open_datetime"),
        _first(thing, "market_info_close_datetime"),
        is_spare=True,
    )
    yield NameWords(native, key)
    yield PriceWords(native, thing.get("freeze_datetime"), _first(thing, "freeze_datetime_value"))


def _bench_resolution(thing: Thing) -> Iterator[Words]:
    source, native = str(thing["source"]), thing["id"]
    if source not in MARKETS_OF_BENCH or not isinstance(native, str):
        return
    # What a day closed at is known when the day is over.
    day = datetime.fromisoformat(f"{thing['resolution_date']}T00:00:00+00:00") + timedelta(days=1)
    if thing.get("resolved"):
        yield EndWords(native, day.timestamp(), thing.get("resolved_to"))
    else:
        yield PriceWords(native, day.timestamp(), thing.get("resolved_to"))


def _keys(text: str) -> frozenset[str]:
    return frozenset(text.split())


SHAPES: Final = (
    Shape("Polymarket markets", _keys("id conditionId question outcomes"), _gamma_market),
    Shape("Polymarket events", _keys("id title slug markets"), _gamma_event),
    Shape("Polymarket price history", _keys("history"), _price_history),
    Shape("Polymarket trades", _keys("conditionId asset price timestamp"), _polymarket_trade),
    Shape("Kalshi markets", _keys("ticker event_ticker title status"), _kalshi_market),
    Shape("Kalshi events", _keys("event_ticker markets"), _kalshi_event),
    Shape("Kalshi events", _keys("event markets"), _kalshi_event),
    Shape("Kalshi candles", _keys("candlesticks"), _kalshi_candles),
    Shape("Kalshi trades", _keys("trade_id ticker created_time"), _kalshi_trade),
    Shape("Manifold markets", _keys("id createdTime question mechanism"), _manifold_market),
    Shape("Manifold bets", _keys("contractId probAfter createdTime"), _manifold_bet),
    Shape("PredictIt markets", _keys("id name contracts timeStamp"), _predictit_market),
    Shape("ForecastBench questions", _keys("id source question freeze_datetime"), _bench_question),
    Shape(
        "ForecastBench resolutions",
        _keys("id source resolution_date resolved_to resolved"),
        _bench_resolution,
    ),
)
