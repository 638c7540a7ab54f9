"""Answers by idempotency key, so that a repeated request gets the same answer."""

from dataclasses import asdict, dataclass
from typing import Final

from service_tui.storage.db.statements import columns, keeping
from service_tui.storage.errors import DuplicateAnswerError
from service_tui.storage.world_database import Rows, WorldDatabase, WriteConnection, check

KEPT_S: Final = 24 * 3600.0
"""How long a key is remembered. # ours: the spec has no such keys."""

_REMEMBER: Final = keeping("idempotency")
_FIND: Final = f"""
SELECT {columns("idempotency")} FROM idempotency
WHERE agent_id = :of_agent AND key = :of_key AND at > :before
"""  # noqa: S608 - names of ours
_RECENT: Final = """
SELECT agent_id, key, at FROM idempotency WHERE at > :before ORDER BY at DESC LIMIT :limit
"""
_FORGET: Final = "DELETE FROM idempotency WHERE at <= :before"
_FORGET_ONE: Final = f"{_FORGET} AND agent_id = :of_agent AND key = :of_key"


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
        rows = self._database.rows(_FIND, _of(agent_id, key, now))
        return Answer(*rows[0]) if rows else None

    async def settled(self, agent_id: str, key: str, *, now: float) -> Answer | None:
        """The same, after everything that waits to be written now; fails with `StorageError`."""
        parameters = _of(agent_id, key, now)
        row = await self._database.write(lambda c: c.execute(_FIND, parameters).fetchone())
        return None if row is None else Answer(*row)

    def recent(self, *, now: float, limit: int) -> list[tuple[str, str, float]]:
        """Agents, keys and times of the last 24 hours, the newest `limit`, oldest first."""
        rows = self._database.rows(_RECENT, {"before": now - KEPT_S, "limit": limit})
        return [(agent_id, key, at) for agent_id, key, at in reversed(rows)]

    async def forget_old(self, now: float) -> int:
        """Drop what is older than 24 hours; how many they were."""
        before = {"before": now - KEPT_S}
        return await self._database.write(lambda c: c.execute(_FORGET, before).rowcount)


def _of(agent_id: str, key: str, now: float) -> dict[str, object]:
    return {"of_agent": agent_id, "of_key": key, "before": now - KEPT_S}


def remember(connection: WriteConnection, answer: Answer) -> None:
    """Store an answer, once for each agent and key, within the caller's transaction.

    Raises:
        DuplicateAnswerError: the key was answered in the last 24 hours.
    """
    connection.execute(_FORGET_ONE, _of(answer.agent_id, answer.key, answer.at))

    def refuse_second(put: Rows) -> None:
        if put.rowcount == 0:
            raise DuplicateAnswerError(f"the idempotency key {answer.key} is answered")

    check(connection, connection.execute(_REMEMBER, asdict(answer)), refuse_second)
