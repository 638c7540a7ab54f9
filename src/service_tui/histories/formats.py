"""Tables of the sources, CSV and Parquet: how each is recognised, and how it is read.

A file is recognised by what is in it, never by its name alone. Every reader gives the words of the
source as they stand; `staging` makes sense of them.
"""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from service_tui.histories.words import (
    BUFFER,
    LINE_MAX,
    MarketWords,
    NameWords,
    PriceWords,
    QuoteWords,
    TradeWords,
    insert,
    quoted,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class SourceTable(NamedTuple):
    """A file that is read: its name, the table that SQL reads, and its columns."""

    place: str
    table: str
    columns: frozenset[str]

    def first_of(self, *names: str) -> str:
        """The first of some columns that is there and not empty, as SQL."""
        known = [f"nullif(trim({name}::VARCHAR), '')" for name in names if name in self.columns]
        return f"coalesce({', '.join(known)}, NULL)" if known else "NULL"


HEADER_MAX: Final = 2**20
"""Bytes of the line with the names of the columns."""

Reader = Callable[["DuckDBPyConnection", SourceTable], None]


class Format(NamedTuple):
    """A kind of file: its name for people, the columns that tell it, and its reader.

    Of several that fit, the one with the most columns is taken.
    """

    name: str
    columns: frozenset[str]
    read: Reader


def _table(path: Path, columns: Sequence[str], *, leaves_out: bool) -> str:
    """What SQL reads. The columns are given: of a short file DuckDB guesses them wrong."""
    if path.suffix == ".parquet":
        return f"read_parquet({quoted(path)})"
    named = ", ".join(f"'{one.replace(chr(39), chr(39) * 2)}': 'VARCHAR'" for one in columns)
    return (
        f"read_csv({quoted(path)}, auto_detect = false, header = true, columns = {{{named}}},"
        f" null_padding = false, delim = ',', quote = '\"', escape = '\"',"
        f" max_line_size = {LINE_MAX}, buffer_size = {BUFFER}"
        + (", store_rejects = true, rejects_limit = 0)" if leaves_out else ")")
    )


def _columns_of(database: "DuckDBPyConnection", path: Path) -> list[str]:
    """The columns of a table in their order; each has a name of its own.

    Raises:
        ValueError: the first line is no text.
    """
    if path.suffix == ".parquet":
        found = database.execute(f"DESCRIBE SELECT * FROM read_parquet({quoted(path)})").fetchall()
        return [str(row[0]) for row in found]
    with path.open("rb") as file:
        first = next(csv.reader([file.readline(HEADER_MAX).decode("utf-8-sig")]), list[str]())
    taken: set[str] = set()
    columns: list[str] = []
    for place, name in enumerate(first):
        one = name.strip()
        columns.append(one if one and one.casefold() not in taken else f"column {place}")
        taken.add(columns[-1].casefold())
    return columns


def _own_markets(database: "DuckDBPyConnection", source: SourceTable) -> None:
    insert(
        database, MarketWords, source.place, source.table,
        key="id", source="coalesce(nullif(trim(source), ''), 'own')", native_id="id",
        event="event", question="question", category="category", opened="opened_at",
        closes="closes_at", resolved="resolved_at", outcome="outcome", volume="volume",
    )  # fmt: skip


def _own_prices(database: "DuckDBPyConnection", source: SourceTable) -> None:
    insert(database, PriceWords, source.place, source.table, name="id", t="t", price="price")
    if {"bid", "ask"} <= source.columns:
        some = "coalesce(trim(bid), '') || coalesce(trim(ask), '') <> ''"
        shares = {name: source.first_of(name) for name in ("bid_shares", "ask_shares")}
        insert(
            database, QuoteWords, source.place,
            f"(SELECT * FROM {source.table} WHERE {some})",
            name="id", t="t", bid="coalesce(nullif(trim(bid), ''), '0')",
            ask="coalesce(nullif(trim(ask), ''), '1')", **shares,
        )  # fmt: skip


def _own_trades(database: "DuckDBPyConnection", source: SourceTable) -> None:
    insert(
        database, PriceWords, source.place, source.table,
        name="id", t="t", price="price", is_trade="true",
    )  # fmt: skip
    if "wallet" in source.columns:
        insert(
            database, TradeWords, source.place,
            f"(SELECT * FROM {source.table} WHERE trim(wallet) <> '')",
            name="id", t="t", wallet="wallet", shares="shares", is_no="upper(trim(side)) = 'NO'",
            action=f"coalesce({source.first_of('action')}, 'BUY')",
            # The price is that of YES, as everywhere in our own files.
            price="CASE upper(trim(side)) WHEN 'YES' THEN try_cast(price AS DOUBLE)"
                  " WHEN 'NO' THEN round(1 - try_cast(price AS DOUBLE), 9) END",
        )  # fmt: skip


# -- the Parquet layout of the largest public data set ----------------------------------------


def _kalshi_markets(database: "DuckDBPyConnection", source: SourceTable) -> None:
    side = source.first_of("yes_sub_title", "subtitle")
    ended = "coalesce(result, '') IN ('yes', 'no')"
    insert(
        database, MarketWords, source.place, source.table,
        key="'kalshi:' || ticker", source="'kalshi'", native_id="ticker", event="event_ticker",
        question=f"CASE WHEN {side} IS NULL OR contains(title, {side}) THEN title"
                 f" ELSE title || ' (' || {side} || ')' END",
        opened="open_time",
        # ours: an early end is written over `close_time`, so where no other time was announced
        # there is none.
        closes=source.first_of("expected_expiration_time", "latest_expiration_time"),
        resolved=f"CASE WHEN {ended} THEN close_time END",
        outcome=f"CASE WHEN {ended} THEN upper(result) END",
        volume=source.first_of("volume_fp", "volume"),
    )  # fmt: skip
    insert(
        database, NameWords, source.place, source.table, name="ticker", key="'kalshi:' || ticker"
    )


def _kalshi_trades(database: "DuckDBPyConnection", source: SourceTable) -> None:
    insert(
        database, PriceWords, source.place, source.table,
        name="ticker", t="epoch(created_time::TIMESTAMPTZ)", price="yes_price::DOUBLE / 100.0",
        is_trade="true",
    )  # fmt: skip


def _polymarket_markets(database: "DuckDBPyConnection", source: SourceTable) -> None:
    key = "'polymarket:' || coalesce(nullif(condition_id, ''), id)"
    first = "json_extract_string(outcome_prices, '$[0]')"
    named = "json_extract_string(outcomes, '$[0]')" if "outcomes" in source.columns else "'Yes'"
    insert(
        database, MarketWords, source.place, source.table,
        key=key, source="'polymarket'", native_id="id",
        question=f"CASE WHEN lower(coalesce({named}, 'yes')) = 'yes' THEN question"
                 f" ELSE question || ' (' || {named} || ')' END",
        opened="created_at", closes="end_date",
        resolved=f"CASE WHEN closed AND {first} IN ('0', '1', '0.5') THEN end_date END",
        outcome="CASE WHEN closed AND end_date IS NOT NULL THEN"
                f" CASE {first} WHEN '1' THEN 'YES' WHEN '0' THEN 'NO' WHEN '0.5' THEN '0.5' END"
                " END",
        volume="volume",
    )  # fmt: skip
    for name in ("id", "condition_id"):
        insert(database, NameWords, source.place, source.table, name=name, key=key)
    for place in (0, 1):
        insert(
            database, NameWords, source.place, source.table,
            name=f"json_extract_string(clob_token_ids, '$[{place}]')", key=key,
            is_no=str(bool(place)),
        )  # fmt: skip


def _polymarket_blocks(database: "DuckDBPyConnection", source: SourceTable) -> None:
    database.execute(
        f"INSERT INTO blocks SELECT block_number, timestamp::VARCHAR FROM {source.table}"
    )


_EXCHANGES: Final = (
    "0x4bfb41d5b3570defd03c39a9a4d8de6bd8b8982e",
    "0xc5d563a36ae78145c45a50134d48a1215220f80a",
)
"""The contracts of Polymarket in whose name orders are matched, as of 2026-11."""


def _polymarket_trades(database: "DuckDBPyConnection", source: SourceTable) -> None:
    # Money has the asset id 0: its giver buys, and the other asset is the outcome's token.
    # Each order has rows of its own, in which it is the maker: one that took at once does so of the
    # exchange itself.
    maker = source.first_of("maker")
    database.execute(
        f"""INSERT INTO fills SELECT ?, block_number, log_index,
        CASE maker_asset_id WHEN '0' THEN taker_asset_id ELSE maker_asset_id END,
        CASE maker_asset_id WHEN '0' THEN maker_amount / nullif(taker_amount, 0)::DOUBLE
            ELSE taker_amount / nullif(maker_amount, 0)::DOUBLE END,
        {maker}, CASE maker_asset_id WHEN '0' THEN 'BUY' ELSE 'SELL' END,
        CASE maker_asset_id WHEN '0' THEN taker_amount ELSE maker_amount END / 1e6,
        NOT coalesce(lower({source.first_of("taker")}) IN {_EXCHANGES}, false)
        FROM {source.table}""",
        [source.place],
    )


# -- others, as they are published --------------------------------------------------------------


def _settlements(database: "DuckDBPyConnection", source: SourceTable) -> None:
    insert(
        database, MarketWords, source.place, source.table,
        key="'polymarket:' || condition_id", source="'polymarket'", native_id="condition_id",
        event="event_slug", question="question", closes="closed_at_unix",
        resolved="resolved_at_unix", outcome="settled_price", volume="volume",
    )  # fmt: skip


def _priced_questions(database: "DuckDBPyConnection", source: SourceTable) -> None:
    key = "'polymarket:' || market_id"
    insert(
        database, MarketWords, source.place,
        f"(SELECT DISTINCT market_id, question FROM {source.table})",
        key=key, source="'polymarket'", native_id="market_id", question="question",
        is_spare="true",
    )  # fmt: skip
    insert(
        database, PriceWords, source.place, source.table,
        name=key, t="timestamp", price="price", is_no="lower(outcome) = 'no'",
    )  # fmt: skip


def _manifold_contracts(database: "DuckDBPyConnection", source: SourceTable) -> None:
    # The description may be a link whose last part is the question.
    described = (
        "replace(regexp_extract(trim(description), '/([^/]+)/?$', 1), '-', ' ')"
        if "description" in source.columns
        else "NULL"
    )
    insert(
        database, MarketWords, source.place, source.table,
        key="'manifold:' || id", source="'manifold'", native_id="id",
        question=f"coalesce({source.first_of('question')},"
                 f" CASE WHEN starts_with(trim(description), 'http') THEN {described} END)",
        opened="createdTime", closes="closeTime", resolved="resolutionTime",
        outcome="CASE resolution WHEN 'CANCEL' THEN 'VOID' WHEN 'MKT' THEN resolutionProbability"
                " ELSE resolution END",
        volume=source.first_of("volume"),
    )  # fmt: skip
    insert(database, NameWords, source.place, source.table, name="id", key="'manifold:' || id")


def _manifold_bets(database: "DuckDBPyConnection", source: SourceTable) -> None:
    insert(
        database, PriceWords, source.place, source.table,
        name="contractId", t="createdTime", price="probAfter", is_trade="true",
    )  # fmt: skip


_PARTIES: Final = (
    "CASE party WHEN 'dem' THEN 'Democratic' WHEN 'gop' THEN 'Republican' ELSE party END"
)
_ASKED: Final = {
    "probNominee": ("nominee", f"'Will ' || candidate || ' be the ' || {_PARTIES} || ' nominee?'"),
    "probPresident": ("president", "'Will ' || candidate || ' be elected president?'"),
}
# ours: the file has columns where the source had questions.


def _predictit_chances(database: "DuckDBPyConnection", source: SourceTable) -> None:
    for column, (event, question) in _ASKED.items():
        key = f"'predictit:{event}:' || candidate"
        insert(
            database, MarketWords, source.place,
            f"(SELECT DISTINCT candidate, party FROM {source.table})",
            key=key, source="'predictit'", native_id=f"'{event}:' || candidate",
            event=f"'{event}'" if event == "president" else f"party || ' {event}'",
            question=question, category="'politics'",
        )  # fmt: skip
        insert(
            database, PriceWords, source.place,
            f"(SELECT * FROM {source.table} WHERE trim({column}) NOT IN ('', 'NA'))",
            name=key, t="whenPulled", price=column,
        )  # fmt: skip


def _pancake_candles(database: "DuckDBPyConnection", source: SourceTable) -> None:
    plain = "lower(outcome_label) IN ('yes', 'no')"
    insert(
        database, PriceWords, source.place, source.table,
        name=f"CASE WHEN {plain} THEN market_id ELSE instrument_id END",
        t="greatest(observed_at, released_at)", price=source.first_of("close", "price"),
        is_no="lower(outcome_label) = 'no'",
    )  # fmt: skip


def _pancake_resolutions(database: "DuckDBPyConnection", source: SourceTable) -> None:
    key = "'polymarket:' || json_extract_string(external_ids, '$.condition_id')"
    insert(
        database, MarketWords, source.place, source.table,
        key=key, source="'polymarket'", native_id="json_extract_string(external_ids,"
        " '$.condition_id')", is_spare="true",
    )  # fmt: skip
    insert(database, NameWords, source.place, source.table, name="market_id", key=key)
    database.execute(
        "INSERT INTO pancake_ends SELECT ?, market_id, winning_outcome_instrument_id,"
        f" winning_outcome_label, resolved_at FROM {source.table}",
        [source.place],
    )


def _pancake_outcomes(database: "DuckDBPyConnection", source: SourceTable) -> None:
    database.execute(
        "INSERT INTO pancake_sides SELECT ?, market_id, instrument_id, sort_order = 1"
        f" FROM {source.table} WHERE sort_order IN (0, 1)",
        [source.place],
    )


MORE_TABLES: Final = """
CREATE TABLE blocks (number BIGINT, moment_of VARCHAR);
CREATE TABLE fills (
    place VARCHAR, block BIGINT, place_in_block BIGINT, token VARCHAR, price DOUBLE,
    wallet VARCHAR, action VARCHAR, shares DOUBLE, waited BOOLEAN
);
CREATE TABLE pancake_sides (
    place VARCHAR, market_id VARCHAR, instrument_id VARCHAR, is_no BOOLEAN
);
CREATE TABLE pancake_ends (
    place VARCHAR, market_id VARCHAR, instrument_id VARCHAR, label VARCHAR, resolved_at BIGINT
);
"""

MORE_WORDS: Final = """
INSERT INTO raw_prices (place, name, t, price, is_trade)
SELECT f.place, f.token, b.moment_of, f.price, true
FROM fills f LEFT JOIN blocks b ON b.number = f.block ORDER BY f.block, f.place_in_block;
INSERT INTO raw_trades (place, name, t, wallet, action, shares, price, waited)
SELECT f.place, f.token, b.moment_of, f.wallet, f.action, f.shares, f.price, f.waited
FROM fills f LEFT JOIN blocks b ON b.number = f.block
WHERE f.wallet IS NOT NULL ORDER BY f.block, f.place_in_block;
INSERT INTO raw_names (place, name, key, is_no)
SELECT s.place, s.instrument_id, coalesce(n.key, 'pancake:' || s.market_id), s.is_no
FROM pancake_sides s LEFT JOIN raw_names n ON n.name = s.market_id;
INSERT INTO raw_ends (place, name, resolved, outcome)
SELECT e.place, e.market_id, e.resolved_at,
    CASE WHEN lower(e.label) IN ('yes', 'no') THEN upper(e.label)
        WHEN s.is_no THEN 'NO' WHEN NOT s.is_no THEN 'YES' END
FROM pancake_ends e LEFT JOIN pancake_sides s ON s.instrument_id = e.instrument_id;
"""
"""What several files say together: trades of the chain name a token and a block, for instance."""


def _keys(text: str) -> frozenset[str]:
    return frozenset(text.split())


TABLE_FORMATS: Final = (
    Format(
        "our own markets",
        _keys("id source event question category opened_at closes_at resolved_at outcome volume"),
        _own_markets,
    ),
    Format("our own prices", _keys("id t price"), _own_prices),
    Format("our own trades", _keys("id t price shares side"), _own_trades),
    Format(
        "Kalshi markets",
        _keys("ticker event_ticker title yes_sub_title result open_time close_time"),
        _kalshi_markets,
    ),
    Format("Kalshi trades", _keys("ticker yes_price created_time"), _kalshi_trades),
    Format(
        "Polymarket markets",
        _keys("id condition_id question outcome_prices clob_token_ids end_date created_at closed"),
        _polymarket_markets,
    ),
    Format("Polymarket blocks", _keys("block_number timestamp"), _polymarket_blocks),
    Format(
        "Polymarket trades",
        _keys("block_number log_index maker_asset_id taker_asset_id maker_amount taker_amount"),
        _polymarket_trades,
    ),
    Format(
        "Polymarket settlements",
        _keys("condition_id event_slug question closed_at_unix resolved_at_unix settled_price"),
        _settlements,
    ),
    Format(
        "Polymarket prices with their questions",
        _keys("market_id token_id outcome question timestamp price"),
        _priced_questions,
    ),
    Format(
        "Manifold markets",
        _keys("id createdTime closeTime resolution resolutionTime resolutionProbability"),
        _manifold_contracts,
    ),
    Format("Manifold bets", _keys("contractId probAfter createdTime"), _manifold_bets),
    Format(
        "PredictIt chances of candidates",
        _keys("candidate party probNominee probPresident whenPulled"),
        _predictit_chances,
    ),
    Format(
        "Pancake candles",
        _keys("instrument_id market_id outcome_label bar_period close released_at"),
        _pancake_candles,
    ),
    Format(
        "Pancake trades",
        _keys("instrument_id market_id outcome_label trade_id price released_at"),
        _pancake_candles,
    ),
    Format(
        "Pancake resolutions",
        _keys("market_id winning_outcome_instrument_id winning_outcome_label resolved_at"),
        _pancake_resolutions,
    ),
    Format(
        "Pancake outcomes",
        _keys("market_id instrument_id label payoff_on_resolve sort_order"),
        _pancake_outcomes,
    ),
)
"""CSV and Parquet, by the columns that must be there."""


def source_of(
    database: "DuckDBPyConnection", path: Path, *, leaves_out: bool = False
) -> SourceTable:
    """A table, with its columns; of one that `leaves_out` rows, those that cannot be read are."""
    columns = _columns_of(database, path)
    return SourceTable(path.name, _table(path, columns, leaves_out=leaves_out), frozenset(columns))


def format_of(columns: frozenset[str]) -> Format | None:
    """The format whose columns are all there; None where none fits."""
    fitting = [one for one in TABLE_FORMATS if one.columns <= columns]
    return max(fitting, key=lambda one: len(one.columns), default=None)
