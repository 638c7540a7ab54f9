"""Redemptions as shown to the operator: the queue, and the progress of runs."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from service_tui.terms import MONEY_OF, Side, Venue
from service_tui.units import Micros, Timestamp

CONFIRM_WAIT_S: Final = 60.0
"""How long a confirmation is waited for. Source: spec, "Redemption flow"."""


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

    `prepared`: asked and checked, nothing is signed; it waits for the person's word. `running`:
    under way. `unconfirmed`: broadcast, and no receipt came in time; it is polled. `reporting`:
    the money has come, the service has not taken the report yet. `refused`: nothing was sent, and
    `words` say why. `failed`: the chain undid it.
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
        """True while something was signed and has no end yet: no second one may begin."""
        return self in {ChainRunState.RUNNING, ChainRunState.UNCONFIRMED, ChainRunState.REPORTING}


class NoReason(StrEnum):
    """Reason why a redemption is refused before anything is built.

    Source: spec, "Redemption error messages"; the rest is what the chain and the policy add.
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
    """A transaction as it would be signed, decoded: what the person confirms.

    `contract` is the name that we know the target by, `arguments` are pairs of name and value in
    words. `fee_max` is the most that it can cost in the chain's own money, micros of it;
    `fee_money` the same in money, None where no price is known. `digest` names exactly this call:
    what is signed must have the same one. Empty for a wallet that the service signs for. `gap`
    counts the places before `nonce` that nobody explains: above 0 it wants a typed yes.
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
    """One redemption run. `steps` are those finished, oldest first.

    `words` say how it stands, `fix` what to do where something is to be done; `again_at` is when it
    is tried again automatically. `call` is what is, or was, signed; `managed`: the service signs.
    `opened_at` and `settled_at` are when it was ordered and when it had its end.
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
    reason: NoReason | None = None
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

    `amount` is what it pays: expected while the outcome is open, 0 for a losing side. `since` is
    when it came to its stage, as far as that is known: wall time, or `in_world` time. `lost`: the
    other side won. `manual`: it can only be redeemed elsewhere, as `next_text` describes. `tx_hash`
    is of a finished redemption.
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

    `on_service` is the agent's `auto_redeem_enabled`, None until it was told; `allowed` is the
    person's standing word on this desk. `paused` is the reason why it rests although both are
    on, empty while it works.
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
    """The queue, the runs (newest first) and the automatic.

    `executes`: this desk carries redemptions out, because it holds the data directory.
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
        """Rows that can be redeemed from here, and are not under way."""
        under_way = {run.key for run in self.runs if run.state.is_open}
        return tuple(row for row in self.rows if row.is_ready and row.key not in under_way)
