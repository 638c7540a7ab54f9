"""Redemptions: starts, confirms and automates runs, and continues them after a restart.

Only the desk that holds the data directory runs it, so that two consoles on it redeem once. A halt
does not stop it: a redemption brings money. Source: decisions, "Money".
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from service_tui.client.errors import ServiceError
from service_tui.desk.chain.gateway import ChainGateway, micros_down
from service_tui.desk.chain.refusals import RunRefusal, against
from service_tui.desk.chain.run_state import TransactionRunState, dump, load
from service_tui.desk.chain.transaction_run import CHECK, PREPARED, REFUSED, REQUEST, SIGN
from service_tui.desk.changes import Changed
from service_tui.desk.commands.wallet import (
    AbandonRun,
    PrepareRedemption,
    Redeem,
    RedeemAll,
    SetAutoRedeem,
)
from service_tui.desk.facts import Noticed, PreferenceSet
from service_tui.desk.ports import Memory, Ports
from service_tui.desk.redemption.redemption_run import RedemptionRun
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.redemption import (
    AutoChanged,
    ChainRunState,
    RedemptionRow,
    RunProblem,
    RunView,
)
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.wallet import KeyState, Ownership
from service_tui.signing.errors import SigningError
from service_tui.storage.chain_runs import ChainRun
from service_tui.storage.errors import StorageError, TakenError
from service_tui.terms import Side
from service_tui.units import Micros, Timestamp, decimal
from service_tui.wire.agents import AgentSettingsPatch
from service_tui.wire.endpoints.public import PATCH_AGENT

log = logging.getLogger(__name__)

SUBJECT: Final = "redeem:"
"""Begins the subject of every redemption in the journal of runs."""

ALLOWED: Final = "redeem.auto"
"""Preference under which the person's standing word lies, with the time it was given."""

CYCLE_S: Final = 10.0
"""How often the desk looks for what it can redeem automatically."""

SHOWN: Final = 100
REVERTS_MAX: Final = 2
"""Two reverts in a row pause redeeming automatically. Source: failures, T-05."""

AGAIN_S: Final = 60.0
AGAIN_MAX_S: Final = 1_800.0
"""ours: the pause before what was refused is tried by itself again, doubled each time."""

HOLDER: Final = "another program uses this data directory: redeem there"
_NEVER_AGAIN: Final = frozenset({RunProblem.LOST, RunProblem.ALREADY, RunProblem.OUTSIDE_POLICY})


@dataclass(frozen=True, slots=True)
class Standing:
    """The step of a run, and which of its requirements are met.

    `has_key`: the open key is the one of its wallet.
    """

    step: str
    is_aside: bool = False
    is_managed: bool = False
    has_row: bool = True
    has_key: bool = True


def may_go_on(at: Standing) -> bool:
    """Whether a run can take its step now."""
    if at.step in {PREPARED, REFUSED} or at.is_aside:
        return False
    if at.step not in {REQUEST, CHECK, SIGN} or at.is_managed:
        return True
    # What is to be signed is compared with the position, and wants an open key.
    return at.has_row and (at.step != SIGN or at.has_key)


class NextStep(NamedTuple):
    """What follows once a run rests: whether it is over, tried again later, and what pauses all."""

    is_over: bool = False
    tries_again: bool = False
    pause: str = ""


def next_step(run: RunView) -> NextStep:
    """What follows the state and the reason that a run came to rest with."""
    is_over = run.state in {ChainRunState.REFUSED, ChainRunState.FAILED, ChainRunState.DONE}
    waits = run.reason in {RunProblem.SERVICE, RunProblem.CHAIN, RunProblem.REVERTED}
    tries_again = is_over and waits and run.state is not ChainRunState.DONE
    lacks_gas = run.reason is RunProblem.NO_GAS and run.by_itself
    return NextStep(is_over, tries_again, f"gas too low: {run.fix}" if lacks_gas else "")


def pause_s(tries: int) -> float:
    """Seconds before a redemption refused so many times is retried automatically."""
    return min(AGAIN_MAX_S, AGAIN_S * 2.0**tries)


def is_due(run: RunView | None, now: float) -> bool:
    """Whether a row whose last run is this one may be redeemed automatically now."""
    if run is None or run.state is ChainRunState.PREPARED:
        return True
    if run.state is ChainRunState.DONE or run.reason in _NEVER_AGAIN:
        # The queue is older than this run, or only a person can clear it up.
        return False
    if run.again_at is not None:
        return now >= run.again_at
    # Neither a closed key nor an empty wallet is the position's fault: the pause covers both.
    return run.reason in {RunProblem.LOCKED, RunProblem.NO_GAS}


def reverts_in_a_row(runs: tuple[RunView, ...], allowed: str) -> int:
    """Redemptions, newest first, that the chain has undone since the stored time of the yes."""
    since = float(allowed) if allowed.isascii() and allowed.isdecimal() else 0.0
    count = 0
    for run in runs:
        at = run.steps[-1].at if run.steps else Timestamp(0.0)
        if run.state is ChainRunState.DONE or at < since:
            break
        count += run.reason is RunProblem.REVERTED
    return count


def key_problem(key: str | None, wallet: str, reverts: int) -> str:
    """Why nothing may be signed automatically with this key; empty if it may."""
    if key is None:
        return "the wallet is locked: unlock it with its passphrase"
    if key.lower() != wallet.lower():
        return "the unlocked key is not the key of the linked wallet"
    if reverts >= REVERTS_MAX:
        return f"{REVERTS_MAX} redemptions in a row reverted: turn auto-redeem on again"
    return ""


def gas_problem(balance: Micros, needed: Micros) -> str:
    """Why a wallet with so much gas redeems nothing; empty if it does."""
    if balance < needed or balance == 0:
        least = decimal(Micros(max(needed, 1)))
        return f"gas too low: {decimal(balance):.4f} POL, a redemption needs {least:.4f}"
    return ""


class Redemptions:
    """Carries redemptions out, each once."""

    def __init__(
        self, ports: Ports, gateway: ChainGateway, memory: Memory, *, executes: Callable[[], bool]
    ) -> None:
        self._ports = ports
        self._gateway = gateway
        self._memory = memory
        self._executes = executes
        self._turns: dict[str, RedemptionRun] = {}
        self._busy: set[str] = set()
        self._tried: dict[str, int] = {}
        self._awake = asyncio.Event()
        self._command_lock = asyncio.Lock()
        self._closing = False
        self._unread = True

    @property
    def is_busy(self) -> bool:
        """True while a step is in flight that closing should wait for."""
        return any(self._turns[key].step in {REQUEST, CHECK, SIGN} for key in self._busy)

    def close(self) -> None:
        """Begin no further redemption."""
        self._closing = True

    async def rest(self) -> None:
        """Note that the program ends in order: no step under way is what ended it."""
        try:
            for turn in list(self._turns.values()):
                if not turn.is_aside:
                    await turn.hold_steady()
        except StorageError as error:
            log.warning("open redemptions not stored: %s", error)

    def take_up(self) -> None:
        """Read the journal again, as this desk now signs."""
        # A step that is being taken goes on: what it does next is in the journal before it does.
        self._turns = {key: turn for key, turn in self._turns.items() if key in self._busy}
        self._unread = True
        self._awake.set()

    def wake(self) -> None:
        """Something changed that a redemption may have waited for."""
        self._awake.set()

    # -- what the person orders ------------------------------------------------------------------

    async def prepare(self, order: PrepareRedemption) -> None:
        """Request and check a redemption for the confirmation dialog."""
        if (refusal := self._why_not(order.key)) is not None:
            self._emit_refusal(order.key, refusal)
            return
        row = self._row(order.key)
        if row is None:
            return
        if self._is_managed():
            # The service signs: nothing is requested before the operator has confirmed.
            self._ports.emit(Changed(self._new_view(row, ChainRunState.PREPARED, by_itself=False)))
            return
        async with self._command_lock:
            turn = self._turns.get(order.key)
            if turn is not None and turn.is_aside:
                await turn.hold_steady()
                self._awake.set()
                return
            await self._let_go(order.key, "checking again")
            await self._begin(row, confirmed=False, by_itself=False)

    async def redeem(self, order: Redeem) -> None:
        """The person's yes to what was shown."""
        if self._is_managed() and not order.digest:
            await self._redeem_confirmed((order.key,))
            return
        view = self._gateway.vault.view()
        if view.state is not KeyState.UNLOCKED:
            text = "wallet locked: unlock it with its passphrase, then confirm again"
            self._ports.emit(Noticed("warn", text))
            return
        async with self._command_lock:
            turn = self._turns.get(order.key)
            is_free = turn is not None and order.key not in self._busy
            if turn is None or not is_free or not await turn.confirm(order.digest):
                text = "the transaction differs from the one shown; nothing signed"
                self._ports.emit(Noticed("warn", f"{text}: review it again"))
                return
        self._awake.set()

    async def redeem_all(self, order: RedeemAll) -> None:
        """The person's yes to several, each within the caps that were shown."""
        await self._redeem_confirmed(order.keys)

    async def abandon(self, order: AbandonRun) -> None:
        """Give up a run whose nonce can never be used; another run may begin."""
        turn = self._turns.get(order.key)
        if turn is None or not await turn.abandon():
            text = "not abandoned: its nonce can still be used"
            self._ports.emit(Noticed("warn", text))
            return
        self._forget(order.key)

    async def set_auto(self, order: SetAutoRedeem) -> None:
        """Turn automatic redemption on or off, here and on the service."""
        if self._ports.state().service.read_only:
            self._ports.emit(Noticed("warn", "this desk is read-only"))
            return
        since = f"{self._ports.now():.0f}" if order.on else ""
        # Off at once, whatever the service answers; on only once it has agreed.
        if not order.on:
            await self._allow(since)
        patch = AgentSettingsPatch(auto_redeem_enabled=order.on)
        try:
            reply = await self._ports.client.call(PATCH_AGENT, body=patch)
        except ServiceError as error:
            self._ports.emit(Noticed("bad", f"{order.describe()}: {error}"))
            return
        if order.on:
            await self._allow(since)
        self._ports.emit(AutoChanged(on_service=reply.answer.auto_redeem_enabled))
        self._tried.clear()
        self._awake.set()

    async def _allow(self, since: str) -> None:
        await self._memory.prefer(ALLOWED, since)
        self._ports.emit(PreferenceSet(ALLOWED, since))
        self._ports.emit(AutoChanged(allowed=bool(since), paused=""))

    async def _redeem_confirmed(self, keys: tuple[str, ...]) -> None:
        for key in keys:
            async with self._command_lock:
                row = self._row(key)
                if (refusal := self._why_not(key)) is not None:
                    self._emit_refusal(key, refusal)
                elif row is not None:
                    await self._let_go(key, "restarted")
                    await self._begin(row, confirmed=True, by_itself=False)

    async def _let_go(self, key: str, text: str) -> None:
        """End what was prepared for a row and not confirmed."""
        run = self._turns.get(key)
        if run is not None and run.step == PREPARED:
            await run.drop(text)
            self._forget(key)

    def _why_not(self, key: str) -> RunRefusal | None:
        """Refusal for a row that cannot be redeemed; None if it can."""
        state, row, turn = self._ports.state(), self._row(key), self._turns.get(key)
        if not self._executes() or state.service.read_only:
            return RunRefusal(RunProblem.SERVICE, HOLDER)
        refusal = against(row)
        if row is None or refusal is not None:
            return refusal
        is_under_way = turn is not None and turn.step != PREPARED and not turn.is_aside
        if key in self._busy or is_under_way:
            return RunRefusal(RunProblem.SERVICE, "already in progress")
        if state.wallet.ownership is None:
            return RunRefusal(RunProblem.SERVICE, "wallet not loaded yet", "retry in a moment")
        return None

    def _emit_refusal(self, key: str, refusal: RunRefusal) -> None:
        row, run = self._row(key), self._ports.state().redemption.run(key)
        # What another program's desk would do means nothing for the position, should it
        # become ours.
        if self._executes() and row is not None and (run is None or not run.state.is_open):
            view = self._new_view(row, ChainRunState.REFUSED, by_itself=False)
            refused = replace(
                view,
                reason=refusal.reason,
                words=refusal.text,
                fix=refusal.fix,
                settled_at=self._ports.now(),
            )
            self._ports.emit(Changed(refused))
        named = key if row is None else row.question
        text = f"not redeemed, {named}: {refusal.text}"
        self._ports.emit(Noticed("warn", text, fix=refusal.fix))

    # -- running ---------------------------------------------------------------------------------

    async def run(self) -> None:
        """Go on with what the journal holds, then with what the person or the cycle begins."""
        await self._try_to_read()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._cycle())
            while True:
                await self._awake.wait()
                self._awake.clear()
                await self._read_again()
                for turn in self._idle():
                    self._busy.add(turn.view.key)
                    tasks.create_task(self._go(turn))

    async def _read(self) -> None:
        # A word that came before is carried out first: what it began is nothing left over.
        async with self._command_lock:
            self._unread = False
            await self._load()

    async def _read_again(self) -> None:
        """Read the journal after this desk became the signer; retried until it succeeds."""
        if self._unread and self._executes():
            await self._try_to_read()

    async def _try_to_read(self) -> None:
        try:
            await self._read()
        except StorageError as error:
            # The cycle requests it again.
            self._unread = True
            log.warning("cannot read the redemption journal: %s", error)

    def _idle(self) -> list[RedemptionRun]:
        """Runs that can continue and that no task works on."""
        return [
            turn
            for key, turn in self._turns.items()
            if self._may_begin() and key not in self._busy and self._may_go_on(turn)
        ]

    def _may_begin(self) -> bool:
        """True if this desk signs, has read the journal, and is not closing."""
        return self._executes() and not (self._closing or self._unread)

    async def _cycle(self) -> None:
        steady: list[RedemptionRun] = []
        while True:
            try:
                await self._by_itself()
                for turn in steady:
                    await turn.hold_steady()
            except (ServiceError, StorageError, SigningError) as error:
                log.warning("auto-redeem: %s", error)
            # What was under way a whole cycle ago, and is still, is not what ends the program.
            steady = [turn for key, turn in self._turns.items() if key in self._busy]
            self._awake.set()
            await self._ports.clock.sleep(CYCLE_S)

    async def _go(self, turn: RedemptionRun) -> None:
        key = turn.view.key
        try:
            await turn.go()
        finally:
            self._busy.discard(key)
        after = next_step(turn.view)
        if after.is_over:
            if self._turns.get(key) is turn:
                self._forget(key)
            self._count(turn.view, tries_again=after.tries_again)
        if after.pause:
            self._pause(after.pause)

    def _may_go_on(self, turn: RedemptionRun) -> bool:
        signer = self._gateway.vault.signer
        has_key = signer is not None and signer.address.lower() == turn.wallet.lower()
        has_row = turn.row is not None
        at = Standing(turn.step, turn.is_aside, turn.view.managed, has_row, has_key)
        return may_go_on(at)

    async def _load(self) -> None:
        """Adopt runs of an earlier start; drop those without a signature."""
        runs = self._gateway.runs
        # However many came later: what is not settled was perhaps sent, and is owed its end.
        rows = [*await asyncio.to_thread(runs.unsettled)]
        rows += await asyncio.to_thread(runs.recent, SHOWN)
        once = {run.number: run for run in rows}
        for run in sorted(once.values(), key=lambda run: run.number or 0):
            key = run.subject.removeprefix(SUBJECT)
            if key == run.subject or key in self._turns:
                continue
            try:
                body = load(run.body)
            except ValueError:
                log.warning("cannot read a redemption of the journal: %s", run.number)
                continue
            turn = RedemptionRun(self._ports, self._gateway, run, body)
            if run.settled_at is None and not await self._dropped(turn):
                self._turns[key] = turn
                turn.come_back()
            turn.emit()
        since = self._ports.state().preferences.get(ALLOWED, "")
        self._ports.emit(AutoChanged(allowed=bool(since), executes=self._executes()))
        self._awake.set()

    async def _dropped(self, turn: RedemptionRun) -> bool:
        """Let go what the person has not confirmed: nothing was signed, and it can be redone."""
        if turn.step not in {REQUEST, CHECK, PREPARED} or turn.body.confirmed:
            return False
        try:
            await turn.drop("the program ended before confirmation; nothing signed")
        except StorageError as error:
            log.warning("a redemption was not released: %s", error)
        return True

    async def _begin(self, row: RedemptionRow, *, confirmed: bool, by_itself: bool) -> None:
        """Write the run down, then have it worked on."""
        view = self._new_view(row, ChainRunState.RUNNING, by_itself=by_itself)
        body, now = TransactionRunState(view, confirmed=confirmed), self._ports.now()
        run = ChainRun(
            subject=f"{SUBJECT}{row.key}",
            wallet=self._ports.state().wallet.address,
            opened_at=now,
            changed_at=now,
            step=REQUEST,
            body=dump(body),
        )
        try:
            number = await self._gateway.runs.open(run)
        except TakenError:
            self._ports.emit(Noticed("warn", f"{row.question}: already in progress"))
            return
        except StorageError as error:
            self._ports.emit(Noticed("bad", f"{error}; nothing redeemed"))
            return
        turn = RedemptionRun(self._ports, self._gateway, replace(run, number=number), body)
        self._turns[row.key] = turn
        turn.emit()
        self._awake.set()

    def _new_view(self, row: RedemptionRow, state: ChainRunState, *, by_itself: bool) -> RunView:
        return RunView(
            market_id=row.market_id,
            side=Side(row.side),
            venue=row.venue,
            question=row.question,
            state=state,
            amount=row.amount,
            managed=self._is_managed(),
            by_itself=by_itself,
            opened_at=self._ports.now(),
            words="checking" if state is ChainRunState.RUNNING else "needs your confirmation",
        )

    def _forget(self, key: str) -> None:
        self._turns.pop(key, None)

    def _row(self, key: str) -> RedemptionRow | None:
        return self._ports.state().redemption.row(key)

    def _is_managed(self) -> bool:
        return self._ports.state().wallet.ownership is not Ownership.EXTERNAL

    # -- by itself -------------------------------------------------------------------------------

    async def _by_itself(self) -> None:
        """Begin automatic redemptions; the service does those of a managed wallet."""
        state = self._ports.state()
        view = state.redemption
        is_ours = view.auto.is_on and not self._is_managed() and not state.service.read_only
        if not (is_ours and self._may_begin()):
            if view.auto.paused:
                self._pause("")
            return
        due = [row for row in view.ready if self._is_due(row)]
        if not due:
            if view.auto.paused and not view.ready:
                # What waited has gone another way: there is nothing left to rest from.
                self._pause("")
            return
        why = await self._why_it_waits()
        self._pause(why)
        if why:
            return
        for row in due:
            turn = self._turns.get(row.key)
            if turn is None:
                await self._begin(row, confirmed=True, by_itself=True)

    def _is_due(self, row: RedemptionRow) -> bool:
        """True if a row may be redeemed automatically now."""
        state = self._ports.state()
        if Topic.REDEMPTIONS not in state.seen or row.key in self._turns:
            return False
        return is_due(state.redemption.run(row.key), self._ports.now())

    async def _why_it_waits(self) -> str:
        """Reason why automatic redemption waits although it is on; else empty."""
        state, signer = self._ports.state(), self._gateway.vault.signer
        reverts = reverts_in_a_row(state.redemption.runs, state.preferences.get(ALLOWED, ""))
        key = None if signer is None else signer.address
        why = key_problem(key, state.wallet.address, reverts)
        if signer is None or why:
            return why
        balance = await (await self._gateway.chain()).balance(signer.address)
        return gas_problem(micros_down(balance), state.wallet.gas_needed or Micros(0))

    def _count(self, run: RunView, *, tries_again: bool) -> None:
        """Set the time of the next automatic try of a refused run."""
        if run.state is ChainRunState.DONE:
            self._tried.pop(run.key, None)
        if not tries_again:
            return
        tries = self._tried.get(run.key, 0)
        self._tried[run.key] = tries + 1
        again = Timestamp(self._ports.now() + pause_s(tries))
        self._ports.emit(Changed(replace(run, again_at=again)))

    def _pause(self, why: str) -> None:
        """Pause or resume automatic redemption; one notice a change."""
        known = self._ports.state().redemption.auto.paused
        if why == known:
            return
        self._ports.emit(AutoChanged(paused=why))
        if why:
            text = f"winning positions to redeem, auto-redeem paused: {why}"
            self._ports.emit(Noticed("bad", text, NoticeKind.ALERT))
        elif self._ports.state().redemption.auto.is_on:
            self._ports.emit(Noticed("good", "auto-redeem resumed", NoticeKind.ALERT))
