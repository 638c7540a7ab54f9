"""Journal rows of one agent, of all of them, and of the people, read along an index."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from sqlalchemy import func, select
from sqlmodel import col

from service_tui.storage.db import tables
from service_tui.storage.db.tables import OF_PEOPLE
from service_tui.storage.journal import ROWS, JournalRow
from service_tui.storage.world_database import WorldDatabase

AGENTS_AT_ONCE: Final = 10
"""Agents whose rows are read in one query: the whole lives of so many are in memory."""


class AgentRows:
    """The rows of the agents of one world; all reads block."""

    def __init__(self, database: WorldDatabase) -> None:
        self._database = database

    def of_market(self, market_id: str, kinds: Sequence[str]) -> list[JournalRow]:
        """Rows of these kinds about a market, of all agents, oldest first."""
        journal = tables.Journal
        query = (
            ROWS
            .where(col(journal.market_id) == market_id)
            .where(col(journal.agent_id).is_not(None), col(journal.kind).in_(kinds))
            .order_by(col(journal.seq))
        )
        with self._database.reader() as session:
            return [JournalRow(*row) for row in session.connection().execute(query)]

    def before(self, seq: int | None, kinds: Sequence[str], *, limit: int) -> list[JournalRow]:
        """The newest rows of all agents before a row, newest first; None for no bound."""
        journal = tables.Journal
        query = ROWS.where(col(journal.agent_id).is_not(None), col(journal.kind).in_(kinds))
        if seq is not None:
            query = query.where(col(journal.seq) < seq)
        query = query.order_by(col(journal.seq).desc()).limit(limit)
        with self._database.reader() as session:
            return [JournalRow(*row) for row in session.connection().execute(query)]

    def since(self, at: float, kinds: Sequence[str]) -> Iterator[list[JournalRow]]:
        """All rows of each agent that has one since a time, agent by agent, oldest first."""
        journal = tables.Journal
        whose, of_kind = col(journal.agent_id), col(journal.kind).in_(kinds)
        active = (
            select(whose)
            .where(whose.is_not(None), of_kind, col(journal.at) >= at)
            .group_by(whose)
            .order_by(func.min(col(journal.seq)))
        )
        with self._database.reader() as session:
            agents = list(session.connection().scalars(active))
        for begin in range(0, len(agents), AGENTS_AT_ONCE):
            some = agents[begin : begin + AGENTS_AT_ONCE]
            query = ROWS.where(whose.in_(some), of_kind).order_by(whose, col(journal.seq))
            with self._database.reader() as session:
                rows = [JournalRow(*row) for row in session.connection().execute(query)]
            found = {agent: list(own) for agent, own in groupby(rows, lambda row: row.agent_id)}
            yield from (found[agent] for agent in some)

    def of_people(self, limit: int) -> list[JournalRow]:
        """The newest rows that name the person behind a change, newest first."""
        query = ROWS.where(OF_PEOPLE).order_by(col(tables.Journal.seq).desc()).limit(limit)
        with self._database.reader() as session:
            return [JournalRow(*row) for row in session.connection().execute(query)]

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
        journal, rows = tables.Journal, list[JournalRow]()
        agent_id, venue = who
        with self._database.reader() as session:
            for kind in kinds:
                query = ROWS.where(col(journal.agent_id) == agent_id, col(journal.kind) == kind)
                query = query.where(col(journal.venue) == venue)
                if before is not None:
                    query = query.where(col(journal.seq) < before)
                query = query.order_by(col(journal.seq).desc()).limit(limit)
                rows += [JournalRow(*row) for row in session.connection().execute(query)]
        return sorted(rows, key=lambda row: row.seq, reverse=True)[:limit]
