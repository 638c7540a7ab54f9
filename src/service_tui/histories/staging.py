"""The tables that every source is read into, and the history that is written from them.

A source is read as text, row by row as it stands; here it is understood, once for all sources: what
is no market and no price is left out, with its reason and its place.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from service_tui.storage.history_file import (
    LEFT_OUT_KEPT,
    NO_QUOTES,
    VOID,
    HistoryError,
    HistoryWriter,
    LeftOut,
    MarketRow,
    QuoteColumns,
    WalletTradeRow,
)
from service_tui.terms import counted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_LAST: Final = 7_258_118_400
"""2200-01-01: a later moment, and one before 1970, is a wrong unit or means never."""

_MACROS: Final = f"""
CREATE MACRO blank(text) AS text IS NULL OR trim(text) = '';
CREATE MACRO number_of(text) AS CASE
    WHEN try_cast(text AS DOUBLE) > 1e11 THEN try_cast(text AS DOUBLE) / 1000
    ELSE coalesce(try_cast(text AS DOUBLE), epoch(try_cast(text AS TIMESTAMPTZ)))
END;
CREATE MACRO moment(text) AS CASE
    WHEN number_of(text) BETWEEN 1 AND {_LAST} THEN number_of(text)
END;
-- "The year 9999" announces no end.
CREATE MACRO is_never(text) AS
    coalesce(NOT isnan(number_of(text)) AND number_of(text) > {_LAST}, false);
CREATE MACRO settled(text) AS CASE upper(trim(text))
    WHEN 'YES' THEN 1.0 WHEN 'NO' THEN 0.0 WHEN 'VOID' THEN -1.0
    ELSE try_cast(text AS DOUBLE)
END;
"""

_NAMES: Final = """
INSERT INTO raw_names (name, key)
SELECT DISTINCT key, key FROM raw_markets WHERE key IS NOT NULL;
CREATE TABLE names AS
SELECT name, arg_min(key, rowid) AS key, arg_min(is_no, rowid) AS is_no
FROM raw_names WHERE name IS NOT NULL GROUP BY name;
CREATE TABLE called AS
WITH given AS (
    SELECT DISTINCT name FROM raw_prices WHERE name IS NOT NULL
    UNION SELECT DISTINCT name FROM raw_quotes WHERE name IS NOT NULL
    UNION SELECT DISTINCT name FROM raw_trades WHERE name IS NOT NULL
    UNION SELECT DISTINCT name FROM raw_ends WHERE name IS NOT NULL
), exact AS (
    SELECT g.name, n.key, n.is_no FROM given g JOIN names n USING (name)
), words AS (
    -- The name of a file: prices_history_pm-255191_no.
    SELECT name, regexp_replace(word, '^pm-', '') AS word,
        list_contains(string_split_regex(lower(name), '[_. ]+'), 'no') AS says_no
    FROM (SELECT name, unnest(string_split_regex(name, '[_. ]+')) AS word
        FROM given ANTI JOIN exact USING (name) WHERE contains(name, '_'))
)
SELECT * FROM exact
UNION ALL
SELECT w.name, first(n.key), first(n.is_no <> w.says_no)
FROM words w JOIN names n ON n.name = w.word GROUP BY w.name;
"""
"""Which market, and which side of it, is meant by each name."""

_MARKETS: Final = """
CREATE TABLE ends AS
SELECT c.key, arg_min(e.resolved, e.rowid) AS resolved, arg_min(e.outcome, e.rowid) AS outcome
FROM raw_ends e JOIN called c USING (name) WHERE NOT blank(e.outcome) GROUP BY c.key;
CREATE TABLE read_markets AS SELECT *, CASE
    WHEN blank(key) THEN 'a market without an id'
    WHEN NOT blank(trouble) THEN trouble
    WHEN again > 1 THEN 'a market that was given before'
    WHEN NOT blank(opened) AND opened_at IS NULL THEN 'a market whose opening is no time'
    WHEN NOT blank(closes) AND closes_at IS NULL AND NOT is_never(closes)
        THEN 'a market whose close is no time'
    WHEN NOT blank(resolved) AND ends_at IS NULL THEN 'a market whose end is no time'
    WHEN NOT blank(outcome) AND (settles_at IS NULL OR settles_at > 1
        OR (settles_at < 0 AND settles_at <> -1)) THEN 'an outcome that is none'
    WHEN NOT blank(outcome) AND blank(resolved) THEN 'an outcome without its time'
END AS reason FROM (
    SELECT *, moment(opened) AS opened_at, moment(closes) AS closes_at,
        moment(resolved) AS ends_at, settled(outcome) AS settles_at,
    FROM (
        SELECT m.* REPLACE (
            coalesce(nullif(trim(m.question), ''), 'No text: ' || m.native_id) AS question,
            CASE WHEN blank(m.outcome) THEN coalesce(e.resolved, m.resolved) ELSE m.resolved END
                AS resolved,
            CASE WHEN blank(m.outcome) THEN e.outcome ELSE m.outcome END AS outcome
        ), row_number() OVER (PARTITION BY m.key ORDER BY m.is_spare, m.rowid) AS again,
            m.rowid AS market
        FROM raw_markets m LEFT JOIN ends e USING (key)
    )
) WHERE NOT (is_spare AND again > 1);
CREATE TABLE rewriting AS
SELECT DISTINCT source FROM read_markets
WHERE reason IS NULL AND settles_at IS NOT NULL AND closes_at = ends_at AND closes_at % 60 <> 0;
CREATE TABLE markets AS
SELECT * REPLACE (CASE WHEN source NOT IN (FROM rewriting) THEN closes_at END AS closes_at)
FROM read_markets WHERE reason IS NULL;
"""
# ours: people announce whole minutes. Where an outcome stood at its announced end and that is none,
# the source has written the true end over it, and "by May" with an end in March has come true. All
# markets of the source lose theirs: those that ended early alone would be known by the lack of it.

_PRICES: Final = """
CREATE VIEW judged AS
SELECT *, CASE
        WHEN market IS NULL THEN 'a price of a market that is not there'
        WHEN then_at IS NULL THEN 'a price whose time is no time'
        WHEN chance IS NULL OR isnan(chance) THEN 'a price that is no number'
        WHEN NOT chance BETWEEN 0 AND 1 THEN 'a price outside 0 to 1'
        WHEN then_at > over_at THEN 'a price after the outcome'
    END AS reason
FROM (
    SELECT p.rowid AS place_in, p.place, coalesce(c.key, p.name) AS key, p.t, p.price, p.is_trade,
        m.market, CASE WHEN NOT blank(m.outcome) THEN m.ends_at END AS over_at,
        moment(p.t) AS then_at, try_cast(p.price AS DOUBLE) AS chance,
        p.is_no <> coalesce(c.is_no, false) AS is_no
    FROM raw_prices p LEFT JOIN called c USING (name) LEFT JOIN markets m ON m.key = c.key
);
CREATE TABLE taken AS
SELECT market, then_at, CASE WHEN is_no THEN 1 - chance ELSE chance END AS chance, is_trade,
    place_in
FROM judged WHERE reason IS NULL;
CREATE TABLE lost AS
SELECT reason, place, concat_ws(' ', key, t, price) AS what FROM judged WHERE reason IS NOT NULL;
"""

_PATHS: Final = """
CREATE TABLE paths AS
WITH kinds AS (
    SELECT market, bool_or(NOT is_trade) AS has_prices FROM taken GROUP BY market
), points AS (
    -- Of several at one moment the last one counts.
    SELECT p.market, p.then_at, arg_max(p.chance, p.place_in) AS chance
    FROM taken p JOIN kinds k USING (market)
    WHERE p.is_trade <> k.has_prices
    GROUP BY p.market, p.then_at
)
SELECT market, min(then_at) AS opens_at, list(then_at ORDER BY then_at) AS times,
    list(chance ORDER BY then_at) AS chances
FROM points GROUP BY market;
"""

_QUOTES: Final = """
CREATE MACRO shares_of(text) AS CASE
    WHEN try_cast(text AS DOUBLE) BETWEEN 0 AND 1e12 THEN try_cast(text AS DOUBLE) ELSE 0
END;
CREATE TABLE stood AS
SELECT *, coalesce(low BETWEEN 0 AND 1 AND high BETWEEN 0 AND 1 AND low <= high, false) AS stands
FROM (
    SELECT q.rowid AS place_in, q.place, m.key, q.t, q.bid, q.ask, m.market,
        moment(q.t) AS then_at, try_cast(q.bid AS DOUBLE) AS low, try_cast(q.ask AS DOUBLE) AS high,
        shares_of(q.bid_shares) AS low_shares, shares_of(q.ask_shares) AS high_shares,
        q.is_no <> c.is_no AS is_no
    FROM raw_quotes q JOIN called c USING (name) JOIN markets m ON m.key = c.key
    WHERE moment(q.t) IS NOT NULL AND (blank(m.outcome) OR moment(q.t) <= m.ends_at)
);
INSERT INTO lost
SELECT 'a bid and an ask that cannot both stand', place, concat_ws(' ', key, t, bid, ask)
FROM stood WHERE NOT stands;
CREATE TABLE quotes AS
WITH sided AS (
    SELECT market, then_at, place_in,
        CASE WHEN is_no THEN round(1 - high, 9) ELSE low END AS bid,
        CASE WHEN is_no THEN round(1 - low, 9) ELSE high END AS ask,
        CASE WHEN is_no THEN high_shares ELSE low_shares END AS bid_shares,
        CASE WHEN is_no THEN low_shares ELSE high_shares END AS ask_shares
    FROM stood WHERE stands
), last AS (
    -- Of several at one moment the last one counts.
    SELECT market, then_at, arg_max(bid, place_in) AS bid, arg_max(ask, place_in) AS ask,
        arg_max(bid_shares, place_in) AS bid_shares, arg_max(ask_shares, place_in) AS ask_shares
    FROM sided GROUP BY market, then_at
)
SELECT market, list(then_at ORDER BY then_at) AS quoted, list(bid ORDER BY then_at) AS bids,
    list(ask ORDER BY then_at) AS asks, list(bid_shares ORDER BY then_at) AS bid_shares,
    list(ask_shares ORDER BY then_at) AS ask_shares
FROM last GROUP BY market;
"""
# A row that has no market or no time counts once, as a price that is left out.

_TRADES: Final = """
CREATE TABLE numbers AS
SELECT market, p.opens_at,
    row_number() OVER (ORDER BY p.opens_at, m.source, m.native_id) - 1 AS number
FROM paths p JOIN markets m USING (market);
CREATE VIEW judged_trades AS
SELECT *, CASE
        WHEN NOT regexp_full_match(coalesce(wallet, ''), '0x[0-9a-f]{40}')
            THEN 'a wallet that is no address'
        WHEN NOT coalesce(action IN ('BUY', 'SELL') AND amount > 0 AND amount <= 1e9
            AND chance > 0 AND chance < 1, false) THEN 'a trade of a wallet that is none'
    END AS reason
FROM (
    SELECT r.rowid AS place_in, r.place, m.key, r.t, r.shares, r.waited, n.number, r.price,
        moment(r.t) AS then_at, lower(trim(r.wallet)) AS wallet, upper(trim(r.action)) AS action,
        try_cast(r.shares AS DOUBLE) AS amount, try_cast(r.price AS DOUBLE) AS chance,
        r.is_no <> c.is_no AS is_no
    FROM raw_trades r JOIN called c USING (name) JOIN markets m ON m.key = c.key
        JOIN numbers n USING (market)
    -- A market opens with its first price: of a trade before that nobody knows the market.
    WHERE moment(r.t) >= n.opens_at AND (blank(m.outcome) OR moment(r.t) <= m.ends_at)
);
INSERT INTO lost
SELECT reason, place, concat_ws(' ', key, t, wallet, action, shares, price)
FROM judged_trades WHERE reason IS NOT NULL;
"""

_CENTS: Final = 0.5
"""Share of the prices above 1 from which on they are taken to be no chances at all."""


class ImportCounts(NamedTuple):
    """What came of an import: counts, and why rows were left out, by reason."""

    markets: int
    points: int
    left_out: dict[str, int]


OnProgress = Callable[[str, float], None]
"""Takes the present step, and about which share of the import is done, 0 to 1."""

READ_SHARE: Final = 0.3
ORDERED_SHARE: Final = 0.8
"""Shares of the time of an import: until all is read, and until all is in order. Measured."""


def understand(database: "DuckDBPyConnection", on_progress: OnProgress) -> None:
    """Make markets and prices of what was read.

    Raises:
        HistoryError: what was read are no prices between 0 and 1.
    """
    _check_scale(database)
    on_progress("putting markets in order", READ_SHARE)
    for part in (_MACROS, _NAMES, _MARKETS):
        database.execute(part)
    on_progress("putting prices in order", READ_SHARE)
    for part in (_PRICES, _PATHS, _QUOTES, _TRADES):
        database.execute(part)


def _check_scale(database: "DuckDBPyConnection") -> None:
    found = database.execute(
        "SELECT count(*) FILTER (try_cast(price AS DOUBLE) > 1), count(*), max(place)"
        " FROM raw_prices"
    ).fetchone()
    above, count, place = found or (0, 0, "")
    if count and above > count * _CENTS:
        raise HistoryError(
            f"{place}: {above} of {count} prices are above 1. A price is the chance of YES, from 0 "
            "to 1: divide cents by 100 first"
        )


def write(
    database: "DuckDBPyConnection", writer: HistoryWriter, on_progress: OnProgress
) -> ImportCounts:
    """Write all markets that have a price, in the order of opening, and what was left out."""
    count = points = 0
    total = _number(database, "SELECT count(*) FROM paths")
    found = database.execute(
        "SELECT m.source, m.native_id, m.event, m.question, m.category, p.opens_at, m.closes_at,"
        " m.ends_at, m.settles_at, try_cast(m.volume AS DOUBLE), p.times, p.chances,"
        " [q.quoted, q.bids, q.asks, q.bid_shares, q.ask_shares]"
        " FROM paths p JOIN markets m USING (market) LEFT JOIN quotes q USING (market)"
        " ORDER BY p.opens_at, m.source, m.native_id"
    )
    while rows := found.fetchmany(200):
        for *fields, times, chances, quoted in rows:
            quotes = QuoteColumns(*quoted) if quoted[0] else NO_QUOTES
            writer.add(_market(fields), times, chances, quotes)
            points += len(times)
        count += len(rows)
        share = ORDERED_SHARE + (1 - ORDERED_SHARE) * count / total
        on_progress(f"writing: {count:,} of {total:,} markets, {points:,} prices", share)
    _write_trades(database, writer, on_progress)
    return ImportCounts(count, points, _leave_out(database, writer))


def _write_trades(
    database: "DuckDBPyConnection", writer: HistoryWriter, on_progress: OnProgress
) -> None:
    """Write the trades of wallets, in the order of time."""
    found = database.execute(
        "SELECT then_at, row_number() OVER (ORDER BY then_at, place_in) - 1, number,"
        " unhex(substr(wallet, 3)), is_no, action = 'SELL', waited, amount, chance"
        " FROM judged_trades WHERE reason IS NULL ORDER BY then_at, place_in"
    )
    count = 0
    while rows := found.fetchmany(10_000):
        writer.add_trades(WalletTradeRow(*row) for row in rows)
        count += len(rows)
        on_progress(f"writing: {counted(count, 'trade')} of wallets", 1.0)


def _market(fields: list[object]) -> MarketRow:
    row = MarketRow(*fields)  # type: ignore[arg-type] - as the query above selects them
    is_over = row.settles_at is not None
    return row._replace(
        event=(row.event or "").strip(),
        question=" ".join(row.question.split()),
        category=(row.category or "").strip(),
        ends_at=row.ends_at if is_over else None,
        settles_at=VOID if row.settles_at == VOID else row.settles_at,
    )


def _leave_out(database: "DuckDBPyConnection", writer: HistoryWriter) -> dict[str, int]:
    counts: dict[str, int] = {}
    for rows in _left_out(database):
        reason, count = rows[0].reason, _reasons(database)[rows[0].reason]
        counts[reason] = count
        writer.leave_out(rows, more=count - len(rows))
    return counts


_LEFT_OUT: Final = """
CREATE VIEW left_out AS
SELECT reason, place, coalesce(key, '') || ' ' || coalesce(question, '') AS what
FROM read_markets WHERE reason IS NOT NULL
UNION ALL SELECT * FROM lost
UNION ALL SELECT * FROM unread
UNION ALL SELECT 'a market without a price', place, key || ' ' || question
FROM markets WHERE market NOT IN (SELECT market FROM paths)
UNION ALL SELECT 'an announced end, of a source that writes the true one over it', place,
    key || ' ' || closes
FROM read_markets WHERE reason IS NULL AND closes_at IS NOT NULL AND source IN (FROM rewriting);
"""


def _left_out(database: "DuckDBPyConnection") -> Iterator[list[LeftOut]]:
    """Rows that were not taken, a list for each reason, as far as they are listed."""
    database.execute(_LEFT_OUT)
    for reason in _reasons(database):
        rows = database.execute(
            "SELECT reason, coalesce(place, ''), left(coalesce(what, ''), 200) FROM left_out"
            " WHERE reason = ? LIMIT ?",
            [reason, LEFT_OUT_KEPT],
        ).fetchall()
        yield [LeftOut(*row) for row in rows]


def _reasons(database: "DuckDBPyConnection") -> dict[str, int]:
    found = database.execute(
        "SELECT reason, count(*) FROM left_out GROUP BY reason ORDER BY count(*) DESC, reason"
    )
    return dict(found.fetchall())


def _number(database: "DuckDBPyConnection", query: str) -> int:
    found = database.execute(query).fetchone()
    return int(found[0]) if found else 0
