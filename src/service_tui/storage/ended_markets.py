"""Ended markets in which an agent traded, stored as long as the data directory exists.

They are written in the transaction of the journal's rows that end them, and read by their ids:
memory holds at most what lists sort and search them by.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from service_tui.storage.db.statements import keeping, one_of, replacing
from service_tui.storage.world_database import WorldDatabase, WriteConnection

_PUT: Final = keeping("endedmarkets")
_KNOWN_TO_AGENTS: Final = (
    "SELECT 1 FROM journal WHERE market_id = :market_id AND agent_id IS NOT NULL LIMIT 1"
)
_HEADS: Final = (
    "SELECT market_id, question, home, outcome, resolves_at, resolved_at FROM endedmarkets"
)
_FILLED: Final = replacing("endedfilled")
_CHUNK: Final = 500
"""Ids in one question to the database."""

_TEXTS: Final = 20
"""Full texts in memory at one time where all are read; each has a market's whole past."""


_VOID: Final = -1
_FRACTIONS: Final = 2
"""What the column has beside 0 for NO and 1 for YES: money back; and, from here on, a part of 1 in
micros. Older programs know the first two alone, and wrote nothing else."""


StoredOutcome = bool | int | str
"""An outcome as journal rows have it: true for YES, false for NO, micros of a part, or "void"."""


def _number_of(outcome: StoredOutcome) -> int:
    if isinstance(outcome, str):
        return _VOID
    return int(outcome) if isinstance(outcome, bool) else _FRACTIONS + outcome


def _outcome_of(number: int) -> StoredOutcome:
    if number == _VOID:
        return "void"
    return number - _FRACTIONS if number >= _FRACTIONS else bool(number)


class EndedHead(NamedTuple):
    """List fields of an ended market; times are the tape's."""

    market_id: str
    question: str
    home: str
    outcome: StoredOutcome
    resolves_at: float
    resolved_at: float


@dataclass(frozen=True, slots=True)
class EndedMarket:
    """A market that just ended. `body` makes the text, called only if it is stored."""

    head: EndedHead
    body: Callable[[], str]


def keep(connection: WriteConnection, ended: Sequence[EndedMarket]) -> None:
    """Write down those that an agent has rows about; the others leave no trace."""
    for one in ended:
        head = one.head._asdict()
        if connection.execute(_KNOWN_TO_AGENTS, head).fetchone() is not None:
            connection.execute(
                _PUT, head | {"outcome": _number_of(one.head.outcome), "body": one.body()}
            )


class EndedMarkets:
    """The ended markets of one data directory; all reads block."""

    def __init__(self, database: WorldDatabase) -> None:
        self._database = database

    def heads(self, market_ids: Collection[str]) -> dict[str, EndedHead]:
        """List fields of these markets by id, as far as stored."""
        heads: dict[str, EndedHead] = {}
        for ids in _chunks(market_ids):
            these, values = one_of("market_id", ids)
            for row in self._database.rows(f"{_HEADS} WHERE {these}", values):
                head = EndedHead(*row)
                heads[head.market_id] = head._replace(outcome=_outcome_of(int(head.outcome)))
        return heads

    def ids(self) -> set[str]:
        """The ids of all stored markets."""
        rows = self._database.rows("SELECT market_id FROM endedmarkets", {})
        return {market_id for (market_id,) in rows}

    def bodies(self, market_ids: Collection[str]) -> dict[str, str]:
        """Full texts of these markets by id."""
        return dict(self.texts(market_ids))

    def texts(self, market_ids: Collection[str]) -> Iterator[tuple[str, str]]:
        """Ids and full texts of these markets, read a few at a time."""
        for ids in _chunks(market_ids, _TEXTS):
            these, values = one_of("market_id", ids)
            query = f"SELECT market_id, body FROM endedmarkets WHERE {these}"  # noqa: S608 - names of ours
            yield from self._database.rows(query, values)

    def is_filled_in(self) -> bool:
        """True once rows that older programs omitted were added."""
        return bool(self._database.rows("SELECT 1 FROM endedfilled WHERE one = 1", {}))

    async def mark_filled_in(self, seq: int) -> None:
        """Note that nothing is left out up to a row of the journal."""
        await self._database.write(
            lambda connection: connection.execute(_FILLED, {"one": 1, "seq": seq})
        )


def _chunks(market_ids: Collection[str], size: int = _CHUNK) -> list[list[str]]:
    ids = list(dict.fromkeys(market_ids))
    return [ids[first : first + size] for first in range(0, len(ids), size)]
