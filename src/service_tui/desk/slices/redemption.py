"""Redemptions as shown to the operator: the queue, and the progress of runs."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from service_tui.desk.changes import Changed
from service_tui.terms import MONEY_OF, Side, Venue
from service_tui.units import Micros, Timestamp

CONFIRM_WAIT_S: Final = 60.0
"""Seconds within which a receipt is expected. Source: spec, "Redemption flow"."""


class Stage(StrEnum):
    """Stage of a position on a real venue. Source: spec, "Position lifecycle"."""

    ACTIVE = "Active"
    AWAITING = "Awaiting Settlement"
    READY = "Ready to Redeem"
    REDEEMED = "Redeemed"


class Step(StrEnum):
    """Steps of a redemption, in this order."""

    REQUESTED = "asked"
    CHECKED = "checked"
    SIGNED = "signed"
    BROADCAST = "broadcast"
    CONFIRMED = "confirmed"
    REPORTED = "reported"


class ChainRunState(StrEnum):
    """State of one redemption.

    `prepared`: checked but not signed; it needs the person's confirmation. `running`: in progress.
    `unconfirmed`: broadcast without a receipt in time; it is polled. `reporting`: paid out, but the
    service has not accepted the report yet. `refused`: nothing was sent. `failed`: reverted on
    chain.
    """

    PREPARED = "prepared"
    RUNNING = "running"
    UNCONFIRMED = "broadcast, unconfirmed"
    REPORTING = "reporting"
    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"

    @property
    def is_open(self) -> bool:
        """True while the run is in progress: no second run of the position may begin."""
        return self in {ChainRunState.RUNNING, ChainRunState.UNCONFIRMED, ChainRunState.REPORTING}


class RunProblem(StrEnum):
    """Why a run was refused, has failed, or is not confirmed.

    Source: spec, "Redemption error messages"; the rest comes from the chain and the policy.
    """

    ALREADY = "already redeemed"
    NOT_FINAL = "not finalized"
    LOST = "position lost"
    TIMEOUT = "confirmation timeout"
    NO_GAS = "too little gas"
    OUTSIDE_POLICY = "outside the policy"
    LOCKED = "wallet locked"
    MANUAL = "by hand only"
    REVERTED = "reverted on chain"
    SERVICE = "the service says no"
    CHAIN = "the chain does not answer"


@dataclass(frozen=True, slots=True)
class StepView:
    """A finished step and its time."""

    step: Step
    at: Timestamp
    words: str = ""


@dataclass(frozen=True, slots=True)
class CallView:
    """A decoded transaction, which the person confirms before it is signed.

    `contract` is our name of the target address, `arguments` are pairs of name and value as text.
    `fee_max` is its highest fee in micros of the chain's own token, `fee_money` the same in money,
    None without a price. `digest` identifies exactly this call: the signed call must have the same
    digest. It is empty for a wallet that the service signs for. `gap` counts unknown transactions
    before `nonce`: above 0 the person has to type the confirmation.
    """

    digest: str
    contract: str
    to: str
    function: str
    arguments: tuple[tuple[str, str], ...]
    chain_id: int
    nonce: int
    gas: int
    fee_gwei: float
    fee_max: Micros
    fee_money: Micros | None = None
    gap: int = 0


@dataclass(frozen=True, slots=True)
class RunView:
    """One redemption run. `steps` are the finished steps, oldest first.

    `words` describe its state, `fix` what the person can do; `again_at` is the time of the next
    automatic attempt. `call` is the transaction to sign, or the signed one; `managed`: the service
    signs. `by_itself`: automatic redemption began it. `opened_at` and `settled_at` are the times of
    the command and of the end.
    """

    market_id: str
    side: Side
    venue: Venue
    question: str
    state: ChainRunState
    steps: tuple[StepView, ...] = ()
    tx_hash: str = ""
    call: CallView | None = None
    amount: Micros = Micros(0)
    reason: RunProblem | None = None
    words: str = ""
    fix: str = ""
    again_at: Timestamp | None = None
    managed: bool = False
    by_itself: bool = False
    opened_at: Timestamp | None = None
    settled_at: Timestamp | None = None

    @property
    def key(self) -> str:
        """Identity of the row that it belongs to."""
        return f"{self.market_id}:{self.side.value}"

    @property
    def money(self) -> str:
        """Currency of its amount."""
        return MONEY_OF[self.venue]

    def at(self, step: Step) -> Timestamp | None:
        """Time of a step; None if it was not taken."""
        return next((one.at for one in self.steps if one.step is step), None)

    @property
    def last(self) -> Step | None:
        """The latest finished step."""
        return self.steps[-1].step if self.steps else None


@dataclass(frozen=True, slots=True)
class RedemptionRow:
    """A position on a real venue in the queue.

    `amount` is its payout: expected while the outcome is open, 0 for a losing side. `since` is when
    it reached its stage, None if unknown: wall time, or world time if `in_world`. `lost`: the other
    side won. `manual`: it can only be redeemed elsewhere; `next_text` describes how. `tx_hash` is
    the transaction of a finished redemption.
    """

    market_id: str
    question: str
    side: Side
    venue: Venue
    stage: Stage
    shares: Micros
    cost: Micros
    amount: Micros
    since: Timestamp | None = None
    in_world: bool = False
    lost: bool = False
    manual: bool = False
    condition_id: str = ""
    token_id: str = ""
    neg_risk: bool = False
    next_text: str = ""
    simulated: bool = False
    tx_hash: str = ""
    reported: bool = False

    @property
    def key(self) -> str:
        """Identity of the row."""
        return f"{self.market_id}:{self.side.value}"

    @property
    def money(self) -> str:
        """Currency of its amounts."""
        return MONEY_OF[self.venue]

    @property
    def is_ready(self) -> bool:
        """True if it can be redeemed here."""
        return self.stage is Stage.READY and not self.lost and not self.manual


@dataclass(frozen=True, slots=True)
class AutoView:
    """Automatic redemption.

    `on_service` is the agent's `auto_redeem_enabled`, None until the service reported it;
    `allowed` is the person's permission on this desk. `paused` is the reason why nothing is
    redeemed although both are on; empty if it is not paused.
    """

    on_service: bool | None = None
    allowed: bool = False
    paused: str = ""

    @property
    def is_on(self) -> bool:
        """True if this desk redeems automatically."""
        return bool(self.on_service) and self.allowed


@dataclass(frozen=True, slots=True)
class RedemptionView:
    """The queue, the runs (newest first) and automatic redemption.

    `executes`: this desk executes redemptions, because it owns the data directory.
    """

    rows: tuple[RedemptionRow, ...] = ()
    runs: tuple[RunView, ...] = ()
    auto: AutoView = AutoView()
    executes: bool = False

    def row(self, key: str) -> RedemptionRow | None:
        """The row with this key."""
        return next((one for one in self.rows if one.key == key), None)

    def run(self, key: str) -> RunView | None:
        """The newest run of the row with this key."""
        return next((one for one in self.runs if one.key == key), None)

    @property
    def ready(self) -> tuple[RedemptionRow, ...]:
        """Rows that can be redeemed here and have no open run."""
        under_way = {run.key for run in self.runs if run.state.is_open}
        return tuple(row for row in self.rows if row.is_ready and row.key not in under_way)


@dataclass(frozen=True, slots=True)
class QueueSeen:
    """Positions on the real venues were read, settled or not."""

    rows: tuple[RedemptionRow, ...]
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class AutoChanged:
    """Automatic redemption was switched, paused or resumed; None leaves a field as it is.

    `executes`: this desk redeems, as its program holds the data directory.
    """

    on_service: bool | None = None
    allowed: bool | None = None
    paused: str | None = None
    executes: bool | None = None


WalletFact = QueueSeen | AutoChanged
"""Every fact about redemptions, the wallet and pay per call."""

RUNS_MAX: Final = 200
"""Most runs in the state; the database has all of them."""


def reduce_redemption(
    view: RedemptionView, fact: QueueSeen | AutoChanged | Changed
) -> RedemptionView:
    """The queue after a fact about it."""
    match fact:
        case QueueSeen():
            return replace(view, rows=fact.rows)
        case Changed(row=RunView() as run):
            return replace(view, runs=_with_run(view.runs, run))
        case Changed():
            raise TypeError(f"no fact of redemption: {fact}")
        case AutoChanged():
            auto = view.auto
            changed = replace(
                auto,
                on_service=auto.on_service if fact.on_service is None else fact.on_service,
                allowed=auto.allowed if fact.allowed is None else fact.allowed,
                paused=auto.paused if fact.paused is None else fact.paused,
            )
            executes = view.executes if fact.executes is None else fact.executes
            changed_view = replace(view, auto=changed, executes=executes)
            return view if changed_view == view else changed_view


def _with_run(runs: tuple[RunView, ...], run: RunView) -> tuple[RunView, ...]:
    """The runs with this one first, one a row."""
    rest = tuple(one for one in runs if one.key != run.key)
    return (run, *rest)[:RUNS_MAX]
