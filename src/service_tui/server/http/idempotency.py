"""Once for each key: a repeated request meets the answer that the first one got.

The answer is written in the transaction of what it answers (`RequestContext.commit`), so that there
is never the one without the other.
"""

import asyncio
import hashlib
import re
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from service_tui.server.http.header_values import HeaderValues
from service_tui.server.http.refusals import denied, invalid_items
from service_tui.storage.answers import KEPT_S, Answer, Answers
from service_tui.storage.world_database import WorldDatabase
from service_tui.wire.base import WireModel

HEADER: Final = "Idempotency-Key"
REPLAYED: Final = "Idempotency-Replayed"
"""Says of an answer that it was given before."""

KNOWN_MAX: Final = 50_000
"""Keys of a day that memory distinguishes; beyond, each new one is looked up on disk."""

_KEY: Final = re.compile(r"(?=.*[!-~])[ -~]{1,128}", re.ASCII)


@dataclass(slots=True)
class Promise:
    """A keyed call and its answer for repeats. `kept` is the answer, once it is given."""

    agent_id: str
    key: str
    path: str
    body_hash: str
    at: float
    kept: str | None = None

    def keep(self, answer: str) -> Answer:
        """The answer as it goes to disk."""
        self.kept = answer
        return Answer(self.agent_id, self.key, self.path, self.body_hash, answer, self.at)


def key_of(headers: HeaderValues) -> str | None:
    """The idempotency key that was sent.

    Returns:
        The key, None without one.

    Raises:
        Denied: 422 when it is sent twice, or is not 1 to 128 printable ASCII letters.
    """
    sent = headers.getlist(HEADER)
    if not sent:
        return None
    if len(sent) > 1 or not _KEY.fullmatch(sent[0]):
        message = "send it once, 1 to 128 printable ASCII letters"
        raise invalid_items([(("header", HEADER), message, "idempotency_key")])
    return sent[0]


def hash_of(body: WireModel | None) -> str:
    """A hash of a body's meaning, whatever its blanks and order of fields."""
    text = "" if body is None else body.model_dump_json()
    return hashlib.sha256(text.encode()).hexdigest()


class Repeats:
    """Tells first calls from repeated ones, over restarts too.

    A key that memory has not seen in a day is new and costs no reading. `known` are the keys of
    the last day with their times, oldest first.
    """

    def __init__(
        self,
        answers: Answers,
        known: list[tuple[str, str, float]],
        known_max: int = KNOWN_MAX,
    ) -> None:
        self._known_max = known_max
        self._answers = answers
        self._running: dict[tuple[str, str], asyncio.Event] = {}
        # Hashes: two keys that share one cost a reading, no more.
        self._known = OrderedDict((hash((agent, key)), at) for agent, key, at in known)
        self._unknown_until = 0.0
        if len(known) >= known_max:
            self._unknown_until = known[0][2] + KEPT_S

    @asynccontextmanager
    async def turn(self, promise: Promise) -> AsyncGenerator[Answer | None]:
        """Hold a key for the time of one call; others with the same key wait.

        Yields:
            What was answered before, None for a first call.

        Raises:
            Denied: 409 when the key was used for something else.
        """
        slot = (promise.agent_id, promise.key)
        while (running := self._running.get(slot)) is not None:
            await running.wait()
        mine = self._running[slot] = asyncio.Event()
        try:
            yield await self._earlier(promise)
        finally:
            del self._running[slot]
            mine.set()

    async def _earlier(self, promise: Promise) -> Answer | None:
        if self._is_new(hash((promise.agent_id, promise.key)), promise.at):
            return None
        # After everything that waits to be written: an earlier call may have been cut off there.
        found = await self._answers.settled(promise.agent_id, promise.key, now=promise.at)
        if found is not None and (found.path, found.body_hash) != (promise.path, promise.body_hash):
            raise denied(
                409,
                "this idempotency key was used for another request",
                f"send a new {HEADER} with every new order, the same one only to repeat it",
            )
        return found

    def _is_new(self, slot: int, now: float) -> bool:
        """Whether no call of the last day can have had this key, which is known from now on."""
        known = self._known
        while known and next(iter(known.values())) <= now - KEPT_S:
            known.popitem(last=False)
        if slot in known:
            return False
        known[slot] = now
        if len(known) > self._known_max:
            self._unknown_until = known.popitem(last=False)[1] + KEPT_S
        return now >= self._unknown_until


def recall(database: WorldDatabase, now: float) -> Repeats:
    """The keys of a data directory, as its last day left them. Blocks."""
    answers = Answers(database)
    return Repeats(answers, answers.recent(now=now, limit=KNOWN_MAX), KNOWN_MAX)
