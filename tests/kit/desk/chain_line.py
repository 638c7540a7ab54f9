"""A chain and its journal as a run meets them, without a node, a key or a disk."""

from dataclasses import dataclass, field
from typing import Any

from service_tui.desk.chain.gateway import Place, Watch
from service_tui.desk.chain.run_state import TransactionRunState
from service_tui.signing.chain import Receipt
from service_tui.signing.policy import SigningPolicy
from service_tui.storage.chain_runs import ChainRun, RunSignature


class Turn:
    """The line's turn, which notes how often it was taken."""

    def __init__(self) -> None:
        self.taken = 0

    async def __aenter__(self) -> None:
        self.taken += 1

    async def __aexit__(self, *_: object) -> None:
        pass


@dataclass
class Journal:
    """What is written down of runs, in its order."""

    written: list[tuple[str, object, str]] = field(default_factory=list)
    bodies: list[tuple[str, float]] = field(default_factory=list)
    looked_for: list[str] = field(default_factory=list)
    last: ChainRun | None = None
    rows: list[ChainRun] = field(default_factory=list)
    problem: Exception | None = None

    async def move(self, number: int, step: str, body: str, *, now: float) -> None:
        if self.problem is not None:
            raise self.problem
        self.written.append(("move", number, step))
        self.bodies.append((body, now))

    async def settle(self, number: int, step: str, body: str, *, now: float) -> None:
        if self.problem is not None:
            raise self.problem
        self.written.append(("settle", number, step))
        self.bodies.append((body, now))

    async def open(self, run: ChainRun) -> int:
        if self.problem is not None:
            raise self.problem
        self.written.append(("open", run.subject, run.step))
        self.rows.append(run)
        return len(self.rows)

    def last_signed(self, subject: str) -> ChainRun | None:
        self.looked_for.append(subject)
        return self.last

    def unsettled(self) -> list[ChainRun]:
        return [one for one in self.rows if one.settled_at is None]

    def recent(self, most: int) -> list[ChainRun]:
        return self.rows[:most]


@dataclass
class ChainLine:
    """The gateway: what each question to it is answered."""

    at: Place = field(default_factory=lambda: Place(5, 5, 0, frozenset(), frozenset()))
    runs: Journal = field(default_factory=Journal)
    turn: Turn = field(default_factory=Turn)
    answers: list[object] = field(default_factory=list)
    receipts: list[object] = field(default_factory=list)
    receipt_now: Receipt | None = None
    next_free: int = 5
    balance_wei: int = 10**18
    asked: list[tuple[str, str]] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)
    signed: list[tuple[int, str]] = field(default_factory=list)
    problem: Exception | None = None
    policy: Any = field(default_factory=SigningPolicy)
    vault: Any = None

    async def chain(self) -> "ChainLine":
        return self

    async def receipt(self, tx_hash: str) -> Receipt | None:
        self.asked.append(("receipt", tx_hash))
        return self.receipt_now

    async def balance(self, address: str) -> int:
        self.asked.append(("balance", address))
        return self.balance_wei

    async def place(self, wallet: str) -> Place:
        self.asked.append(("place", wallet))
        return self.at

    async def next_nonce(self, wallet: str) -> int:
        self.asked.append(("next", wallet))
        return self.next_free

    async def sign(self, number: int, body: TransactionRunState, wallet: str) -> RunSignature:
        if self.problem is not None:
            raise self.problem
        assert body.to_sign is not None
        self.signed.append((number, wallet))
        return RunSignature(body.to_sign.nonce, "0xraw", "0xhash")

    async def broadcast(self, raw: str) -> object:
        self.sent.append(raw)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def confirmed(self, tx_hash: str, watch: Watch) -> Receipt | None:
        self.asked.append(("confirmed", tx_hash))
        answer = self.receipts.pop(0)
        if isinstance(answer, Exception):
            raise answer
        watch.seen = answer  # type: ignore[assignment]
        return watch.seen
