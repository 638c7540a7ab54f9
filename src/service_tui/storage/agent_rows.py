"""Journal rows of one agent, of all of them, and of the people, read along an index."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from service_tui.storage.db.conditions import OF_AGENTS, OF_PEOPLE
from service_tui.storage.db.statements import one_of
from service_tui.storage.journal import ROWS, JournalRow
from service_tui.storage.world_database import WorldDatabase

AGENTS_AT_ONCE: Final = 10
"""Agents whose rows are read in one query: the whole lives of so many are in memory."""

_BEFORE: Final = " AND seq < :before"


class AgentRows:
    """The rows of the agents of one world; all reads block."""

    def __init__(self, database: WorldDatabase) -> None:
        self._database = database

    def of_market(self, market_id: str, kinds: Sequence[str]) -> list[JournalRow]:
        """Rows of these kinds about a market, of all agents, oldest first."""
        of_kind, values = one_of("kind", kinds)
        query = f"{ROWS} WHERE market_id = :market_id AND {OF_AGENTS} AND {of_kind} ORDER BY seq"
        return self._rows(query, {**values, "market_id": market_id})

    def before(self, seq: int | None, kinds: Sequence[str], *, limit: int) -> list[JournalRow]:
        """The newest rows of all agents before a row, newest first; None for no bound."""
        of_kind, values = one_of("kind", kinds)
        query = (
            f"{ROWS} WHERE {OF_AGENTS} AND {of_kind}{_BEFORE if seq is not None else ''} "
            "ORDER BY seq DESC LIMIT :limit"
        )
        return self._rows(query, {**values, "before": seq, "limit": limit})

    def since(self, at: float, kinds: Sequence[str]) -> Iterator[list[JournalRow]]:
        """All rows of each agent that has one since a time, agent by agent, oldest first."""
        of_kind, values = one_of("kind", kinds)
        active = (
            f"SELECT agent_id FROM journal WHERE {OF_AGENTS} AND {of_kind} AND at >= :at "  # noqa: S608 - names of ours
            "GROUP BY agent_id ORDER BY min(seq)"
        )
        agents = [agent for (agent,) in self._database.rows(active, {**values, "at": at})]
        for begin in range(0, len(agents), AGENTS_AT_ONCE):
            some = agents[begin : begin + AGENTS_AT_ONCE]
            of_some, whose = one_of("agent_id", some)
            query = f"{ROWS} WHERE {of_some} AND {of_kind} ORDER BY agent_id, seq"
            rows = self._rows(query, {**values, **whose})
            found = {agent: list(own) for agent, own in groupby(rows, lambda row: row.agent_id)}
            yield from (found[agent] for agent in some)

    def of_people(self, limit: int) -> list[JournalRow]:
        """The newest rows that name the person behind a change, newest first."""
        query = f"{ROWS} WHERE {OF_PEOPLE} ORDER BY seq DESC LIMIT :limit"
        return self._rows(query, {"limit": limit})

    def ends_before(
        self, who: tuple[str, str], kinds: Sequence[str], before: int | None, *, limit: int
    ) -> list[JournalRow]:
        """Ended positions of an agent on a venue, newest first, each type along its index.

        Args:
            who: the agent, and the venue that the rows name.
            kinds: of which kinds.
            before: the row before which they stand; None for no bound.
            limit: at most so many.

        Returns:
            The rows; to skip those that were read already, or of another venue, costs nothing.
        """
        agent_id, venue = who
        query = (
            f"{ROWS} WHERE agent_id = :agent_id AND kind = :kind AND venue = :venue"
            f"{_BEFORE if before is not None else ''} ORDER BY seq DESC LIMIT :limit"
        )
        values = {"agent_id": agent_id, "venue": venue, "before": before, "limit": limit}
        rows = list[JournalRow]()
        with self._database.reader() as connection:
            for kind in kinds:
                found = connection.execute(query, {**values, "kind": kind}).fetchall()
                rows += [JournalRow(*row) for row in found]
        return sorted(rows, key=lambda row: row.seq, reverse=True)[:limit]

    def _rows(self, query: str, values: Mapping[str, object]) -> list[JournalRow]:
        return [JournalRow(*row) for row in self._database.rows(query, values)]
