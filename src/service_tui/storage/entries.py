"""Trade lots of agents and their proceeds: a digest of the journal, for backtests.

It can be made again from the journal at any time, so it is written beside it, never with it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

from service_tui.storage.db.conditions import STILL_HELD
from service_tui.storage.db.statements import columns, replacing
from service_tui.storage.world_database import WorldDatabase, WriteConnection

_PUT: Final = replacing("entries")
_READ_TO: Final = replacing("entriesread")
_SETTLE: Final = """
UPDATE entries SET shares = :shares_now, money = :money_now, open_shares = :open_now,
back = :back_now WHERE seq = :of
"""
_OF_TRADE: Final = f"SELECT {columns('entries')} FROM entries WHERE trade_id = :trade_id LIMIT 1"  # noqa: S608 - names of ours
_REPLAY: Final = """
SELECT back - money, open_shares, CASE WHEN open_shares > 0 THEN market_id END,
CASE WHEN open_shares > 0 THEN side END, signal FROM entries
WHERE agent_id = :agent_id AND skill = :skill AND venue = :venue AND at >= :since AND shares > 0
AND signal IS NOT NULL ORDER BY at
"""
_DECIDED: Final = """
SELECT 0, count(*), coalesce(sum(back - money), 0), 0 FROM entries
WHERE {decided}
UNION ALL
SELECT 1, count(*), coalesce(sum(back - money), 0),
coalesce(sum(CASE WHEN back > money THEN 1 ELSE 0 END), 0) FROM entries
WHERE {decided} AND {passes}
""".replace(
    "{decided}",
    "agent_id = :agent_id AND skill = :skill AND venue = :venue AND at >= :since AND shares > 0 "
    "AND signal IS NOT NULL AND open_shares = 0",
)
# Two looks, of which the second stops at the first bound that is missed, cost two thirds of one
# that weighs every bound of every entry; in one statement, so that both see the same entries.
_STILL_HELD: Final = """
SELECT market_id, side, count(*), sum(gain), sum(open_shares), sum(passes), sum(passes * gain),
sum(passes * open_shares), sum(CASE WHEN gain > 0 THEN passes ELSE 0 END)
FROM (
SELECT back - money AS gain, open_shares, market_id, side,
CASE WHEN {passes} THEN 1 ELSE 0 END AS passes
FROM entries INDEXED BY entries_held
WHERE agent_id = :agent_id AND skill = :skill AND venue = :venue AND at >= :since AND shares > 0
AND signal IS NOT NULL AND open_shares > 0 LIMIT -1
) AS held GROUP BY market_id, side
"""
# The limit keeps SQLite from working `passes` out again for every sum: twice as fast.
_CARRIES: Final = """
SELECT 1 FROM entries
WHERE agent_id = :agent_id AND skill = :skill AND venue = :venue AND at >= :since AND shares > 0
AND json_extract(signal, :path) IS NOT NULL LIMIT 1
"""
_LATELY: Final = """
SELECT signal FROM entries
WHERE agent_id = :agent_id AND skill = :skill AND venue = :venue AND at >= :since AND shares > 0
AND signal IS NOT NULL ORDER BY at DESC LIMIT 500
"""
_SILENT: Final = """
SELECT count(*) FROM entries
WHERE agent_id = :agent_id AND skill = :skill AND venue = :venue AND at >= :since AND shares > 0
AND signal IS NULL
"""
_HELD: Final = f"""
SELECT {columns("entries")} FROM entries
WHERE agent_id = :agent_id AND market_id = :market_id AND {STILL_HELD} ORDER BY seq
"""  # noqa: S608 - names of ours

Replayable = tuple[int, int, str | None, str | None, str]
"""Money come back less money spent, shares still held with their market and side, signals."""


class Bound(NamedTuple):
    """A figure that a signal must have: at least `value`, or at most where `is_max`."""

    key: str
    is_max: bool
    value: float


class Sums(NamedTuple):
    """Entries together: all of them, and those that pass every bound.

    Without a `market_id` they are decided; else they hold shares still, on one side of one market.
    `gained` is money come back less money spent; `won` counts those that pass and brought money.
    """

    market_id: str | None
    side: str | None
    bought: int
    gained: int
    held: int
    passed: int
    passed_gained: int
    passed_held: int
    won: int


@dataclass(slots=True)
class StoredEntry:
    """One buy. `shares` and `money` are of all its parts; `open_shares` are held still.

    `back` is what sales and payouts of its shares have brought. `signal` is a JSON object of
    figures, None where it came without.
    """

    seq: int
    trade_id: str
    agent_id: str
    venue: str
    skill: str
    market_id: str
    side: str
    at: float
    shares: int
    money: int
    open_shares: int
    back: int = 0
    signal: str | None = None


@dataclass(frozen=True, slots=True)
class EntryQuery:
    """Selection of lots: one skill on one venue, since a time."""

    agent_id: str
    skill: str
    venue: str
    since: float


class EntryStore:
    """The entries of one world."""

    def __init__(self, database: WorldDatabase) -> None:
        self._database = database

    # -- readings: all block ---------------------------------------------------------------

    def read_to(self) -> int:
        """Last journal row that is included, 0 before the first."""
        rows = self._rows("SELECT seq FROM entriesread WHERE one = 1", {})
        return rows[0][0] if rows else 0

    def held(self, agent_id: str, market_id: str) -> list[StoredEntry]:
        """Entries of a market that still hold shares, oldest first."""
        rows = self._rows(_HELD, {"agent_id": agent_id, "market_id": market_id})
        return [StoredEntry(*row) for row in rows]

    def of_trade(self, trade_id: str) -> StoredEntry | None:
        """Lot of an order; None if none is included."""
        rows = self._rows(_OF_TRADE, {"trade_id": trade_id})
        return StoredEntry(*rows[0]) if rows else None

    def replay(self, wanted: EntryQuery) -> list[Replayable]:
        """Lots that were bought with signals, oldest first."""
        return self._rows(_REPLAY, asdict(wanted))

    def sums(self, wanted: EntryQuery, bounds: Sequence[Bound]) -> list[Sums]:
        """Sums of lots with signals: decided ones, and open ones by market."""
        terms = [
            f"json_extract(signal, :path{place}) {'<=' if bound.is_max else '>='} :value{place}"
            for place, bound in enumerate(bounds)
        ]
        # A signal that is not there is NULL, and so is what it is compared with.
        passes = " AND ".join(terms) or "1 = 1"
        values: dict[str, object] = dict(asdict(wanted))
        for place, bound in enumerate(bounds):
            values |= {f"path{place}": _path(bound.key), f"value{place}": bound.value}
        every, passing = sorted(self._rows(_DECIDED.format(passes=passes), values))
        # PostgreSQL adds whole numbers up to decimal ones.
        _, bought, gained, _ = map(int, every)
        _, passed, passed_gained, won = map(int, passing)
        decided = [Sums(None, None, bought, gained, 0, passed, passed_gained, 0, won)]
        held = [_sums(row) for row in self._rows(_STILL_HELD.format(passes=passes), values)]
        return [*(decided if bought else ()), *held]

    def carries(self, wanted: EntryQuery, key: str) -> bool:
        """True if any lot has a signal figure of that name."""
        return bool(self._rows(_CARRIES, {**asdict(wanted), "path": _path(key)}))

    def signals_lately(self, wanted: EntryQuery) -> list[str]:
        """The signals of what was bought last, as JSON."""
        return [signal for (signal,) in self._rows(_LATELY, asdict(wanted))]

    def silent(self, wanted: EntryQuery) -> int:
        """Number of lots without a signal."""
        ((count,),) = self._rows(_SILENT, asdict(wanted))
        return count

    def _rows(self, query: str, values: Mapping[str, object]) -> list[Any]:
        # Straight from the driver: a hundred thousand rows are a matter of a tenth of a second.
        return self._database.rows(query, values)

    # -- writing ---------------------------------------------------------------------------

    async def take(
        self, new: Collection[StoredEntry], changed: Collection[StoredEntry], seq: int
    ) -> None:
        """Store new and changed lots; every row up to `seq` is then included."""
        rows = [asdict(one) for one in new]
        moved = [
            {
                "of": one.seq,
                "shares_now": one.shares,
                "money_now": one.money,
                "open_now": one.open_shares,
                "back_now": one.back,
            }
            for one in changed
        ]

        def work(connection: WriteConnection) -> None:
            connection.executemany(_PUT, rows)
            connection.executemany(_SETTLE, moved)
            connection.execute(_READ_TO, {"one": 1, "seq": seq})

        await self._database.write(work)


def _sums(row: Sequence[Any]) -> Sums:
    market_id, side, *sums = row
    return Sums(market_id, side, *map(int, sums))


def _path(key: str) -> str:
    """JSON path of a figure in a signal."""
    return f'$."{key}"'
