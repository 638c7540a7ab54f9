"""Journal rows of one agent, and of the people, read along an index."""

from collections.abc import Sequence

from sqlmodel import col

from service_tui.storage.db import tables
from service_tui.storage.db.tables import OF_PEOPLE
from service_tui.storage.journal import ROWS, JournalRow
from service_tui.storage.world_database import WorldDatabase


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
