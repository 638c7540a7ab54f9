"""Answers by idempotency key, so that a repeated request gets the same answer."""

from dataclasses import asdict, dataclass
from typing import Final

from sqlalchemy import bindparam, delete, select
from sqlmodel import col

from service_tui.storage.db import tables
from service_tui.storage.db.tables import keeping, statement
from service_tui.storage.errors import DuplicateAnswerError
from service_tui.storage.world_database import Rows, WorldDatabase, WriteConnection, check

KEPT_S: Final = 24 * 3600.0
"""How long a key is remembered. # ours: the spec has no such keys."""

_REMEMBER: Final = keeping(tables.Idempotency)
_FIND: Final = statement(
    select(
        col(tables.Idempotency.agent_id),
        col(tables.Idempotency.key),
        col(tables.Idempotency.path),
        col(tables.Idempotency.body_hash),
        col(tables.Idempotency.answer),
        col(tables.Idempotency.at),
    ).where(
        col(tables.Idempotency.agent_id) == bindparam("of_agent"),
        col(tables.Idempotency.key) == bindparam("of_key"),
        col(tables.Idempotency.at) > bindparam("before"),
    )
)
_RECENT: Final = select(
    col(tables.Idempotency.agent_id), col(tables.Idempotency.key), col(tables.Idempotency.at)
).order_by(col(tables.Idempotency.at).desc())
_FORGET: Final = statement(
    delete(tables.Idempotency).where(col(tables.Idempotency.at) <= bindparam("before"))
)
_FORGET_ONE: Final = statement(
    delete(tables.Idempotency).where(
        col(tables.Idempotency.agent_id) == bindparam("of_agent"),
        col(tables.Idempotency.key) == bindparam("of_key"),
        col(tables.Idempotency.at) <= bindparam("before"),
    )
)


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer to a request with an idempotency key.

    `agent_id` is empty for a call without an agent; `body_hash` distinguishes a repeated request
    from another one under the same key; `at` is seconds since 1970.
    """

    agent_id: str
    key: str
    path: str
    body_hash: str
    answer: str
    at: float


class Answers:
    """The answers of one world."""

    def __init__(self, database: WorldDatabase) -> None:
        self._database = database

    def find(self, agent_id: str, key: str, *, now: float) -> Answer | None:
        """Answer under an agent's key of the last 24 hours; keys of other agents do not count."""
        with self._database.reader() as session:
            row = session.get(tables.Idempotency, (agent_id, key))
            if row is None or not row.at > now - KEPT_S:
                return None
            return Answer(**row.model_dump())

    async def settled(self, agent_id: str, key: str, *, now: float) -> Answer | None:
        """The same, after everything that waits to be written now; fails with `StorageError`."""
        parameters = {"of_agent": agent_id, "of_key": key, "before": now - KEPT_S}
        row = await self._database.write(lambda c: c.execute(_FIND, parameters).fetchone())
        return None if row is None else Answer(*row)

    def recent(self, *, now: float, limit: int) -> list[tuple[str, str, float]]:
        """Agents, keys and times of the last 24 hours, the newest `limit`, oldest first."""
        with self._database.reader() as session:
            query = _RECENT.where(col(tables.Idempotency.at) > now - KEPT_S).limit(limit)
            rows = session.connection().execute(query).all()
        return [(agent_id, key, at) for agent_id, key, at in reversed(rows)]

    async def forget_old(self, now: float) -> int:
        """Drop what is older than 24 hours; how many they were."""
        before = {"before": now - KEPT_S}
        return await self._database.write(lambda c: c.execute(_FORGET, before).rowcount)


def remember(connection: WriteConnection, answer: Answer) -> None:
    """Store an answer, once for each agent and key, within the caller's transaction.

    Raises:
        DuplicateAnswerError: the key was answered in the last 24 hours.
    """
    old = {"of_agent": answer.agent_id, "of_key": answer.key, "before": answer.at - KEPT_S}
    connection.execute(_FORGET_ONE, old)

    def refuse_second(put: Rows) -> None:
        if put.rowcount == 0:
            raise DuplicateAnswerError(f"the idempotency key {answer.key} is answered")

    check(connection, connection.execute(_REMEMBER, asdict(answer)), refuse_second)
