"""A desk's outside without a service: what a handler asks, tells, wakes and writes down.

The state moves as the desk's own does, so that a handler sees what it has told itself.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

from service_tui.client.client import Client
from service_tui.client.reply import Reply
from service_tui.clock import ManualClock
from service_tui.desk.facts import Fact, Noticed
from service_tui.desk.gate import Gate
from service_tui.desk.ports import Ports
from service_tui.desk.reduce import reduce
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.storage.blotter import Blotter
from service_tui.storage.errors import StorageError
from service_tui.storage.kept_tokens import Holding, KeptToken
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint

HERE = "http://service.example"


@dataclass(frozen=True)
class Asked:
    """A call as it was made."""

    endpoint: Endpoint[Any]
    path: Mapping[str, str] = field(default_factory=dict)
    body: WireModel | None = None
    query: WireModel | None = None
    idempotency_key: str | None = None


@dataclass
class TokensInMind:
    """Tokens of positions, kept without a disk; `trouble` is what keeping meets."""

    kept: dict[Holding, KeptToken] = field(default_factory=dict)
    trouble: StorageError | None = None

    async def keep(self, kept: KeptToken) -> None:
        if self.trouble is not None:
            raise self.trouble
        self.kept.setdefault(kept.place, kept)

    def find(self, holding: Holding) -> KeptToken | None:
        return self.kept.get(holding)

    def find_token(self, token: str, wallet: str) -> KeptToken | None:
        found = (one for one in self.kept.values() if (one.token, one.wallet) == (token, wallet))
        return min(found, key=lambda one: (not one.bought, one.at), default=None)


@dataclass
class Offline:
    """Answers by endpoint, each a body, an error, or a list of them in their order."""

    state: DeskState
    answers: dict[Endpoint[Any], object] = field(default_factory=dict)
    dropped: int = 0
    skew_s: float | None = None
    clock: ManualClock = field(default_factory=ManualClock)
    asked: list[Asked] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    woken: list[Topic] = field(default_factory=list)
    written: list[tuple[object, ...]] = field(default_factory=list)
    renewed: int = 0
    tokens: TokensInMind = field(default_factory=TokensInMind)

    def __post_init__(self) -> None:
        client = SimpleNamespace(call=self._call, base_url=HERE, skew_s=self.skew_s)
        blotter = SimpleNamespace(settle=self._settle)
        self.ports = Ports(
            client=cast("Client", client),
            blotter=cast("Blotter", blotter),
            clock=self.clock,
            new_id=lambda: "0123456789abcdef" * 4,
            state=lambda: self.state,
            emit=self._emit,
            refresh=self.woken.append,
            tokens=self.tokens,
            renew=self._renew,
            gate=Gate(),
        )

    def _emit(self, fact: Fact) -> None:
        self.facts.append(fact)
        self.state = reduce(self.state, fact)

    def _renew(self) -> bool:
        self.renewed += 1
        return True

    async def _settle(self, ticket_id: str, state: object, outcome: object, *, now: float) -> None:
        self.written.append((ticket_id, state, outcome, now))

    async def _call(self, endpoint: Endpoint[Any], **given: Any) -> Reply[Any]:
        self.asked.append(Asked(endpoint, **given))
        await asyncio.sleep(0)
        answer = self.answers[endpoint]
        if isinstance(answer, list):
            answer = answer.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Reply(answer, self.dropped, 0.01, self.clock.now())

    @property
    def told(self) -> list[Noticed]:
        return [fact for fact in self.facts if isinstance(fact, Noticed)]

    @property
    def words(self) -> list[tuple[str, str]]:
        """Tone and text of each notice."""
        return [(one.tone, one.text) for one in self.told]
