"""One transaction run: its journal, and the steps that every run has.

The journal names the step that comes next before it is taken. What is found there after a crash
goes on from that step: before `broadcast` nothing has left this machine and nothing was kept that
could; from there on the same bytes are sent again, and others never. Source: failures, rule 5,
T-06, F-18 to F-20.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final, Unpack

from service_tui.client.errors import OutcomeUnknownError, ServiceError
from service_tui.desk.chain.gateway import ChainGateway, Watch
from service_tui.desk.chain.refusals import FIXES, RunRefusal, refusal_for
from service_tui.desk.chain.run_state import RunChanges, TransactionRunState, dump
from service_tui.desk.changes import Changed
from service_tui.desk.facts import Noticed
from service_tui.desk.fixes import storage_fix
from service_tui.desk.ports import Ports
from service_tui.desk.reasons import Fix
from service_tui.desk.restarting import fault_text
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.redemption import (
    CONFIRM_WAIT_S,
    ChainRunState,
    RunProblem,
    RunView,
    Step,
    StepView,
)
from service_tui.signing.chain import Receipt
from service_tui.signing.errors import ChainError, SigningError
from service_tui.storage.chain_runs import ChainRun
from service_tui.storage.errors import StorageError
from service_tui.units import Timestamp

log = logging.getLogger(__name__)

REQUEST: Final = "ask"
CHECK: Final = "check"
PREPARED: Final = "prepared"
SIGN: Final = "sign"
BROADCAST: Final = "broadcast"
CONFIRM: Final = "confirm"
REPORT: Final = "report"
SERVED: Final = "served"
"""What comes next. `prepared` waits for the person, `served` for a wallet that the service signs
for."""

DONE: Final = "done"
REFUSED: Final = "refused"
FAILED: Final = "failed"
"""How it ended."""

LOOK_S: Final = 2.0
"""Between two looks for a receipt. Source: wire reference, 6.6."""

LOOK_LATER_S: Final = 10.0
RESEND_S: Final = 60.0
"""ours: after the first minute it is looked for more seldom, and the same bytes are sent again."""

DEAD_AFTER_S: Final = 300.0
"""ours: so long a transaction's place must be taken without a receipt until it counts as lost."""

AGAIN_S: Final = 5.0
AGAIN_MAX_S: Final = 300.0
"""ours: the pause before an unanswered request is retried, doubled each time."""

DEATHS_MAX: Final = 2
"""A step that was under way when the program died so often is set aside."""

NOT_FINAL_S: Final = 600.0
"""Retry after 10 to 30 minutes. Source: spec, "Redemption error messages"."""


class TransactionRun:  # noqa: PLR0904  (what a run of any kind may need)
    """One run of the journal, from its stored step to its end or to a step that must wait."""

    def __init__(
        self, ports: Ports, gateway: ChainGateway, run: ChainRun, body: TransactionRunState
    ) -> None:
        self.ports = ports
        self.gateway = gateway
        self.number = run.number or 0
        self.wallet = run.wallet
        self.subject = run.subject
        self.step = run.step
        self._doubted_at: float | None = None
        self._was_left = False
        self.is_stuck = False
        self.raw = run.raw or ""
        self.nonce = run.nonce
        self.body = body.with_run(
            tx_hash=run.tx_hash or body.run.tx_hash,
            opened_at=Timestamp(run.opened_at),
            settled_at=None if run.settled_at is None else Timestamp(run.settled_at),
        )

    @property
    def view(self) -> RunView:
        """As it is shown."""
        return self.body.run

    def steps(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """Function of each step."""
        return {SIGN: self._sign, BROADCAST: self._broadcast, CONFIRM: self._confirm}

    async def go(self) -> None:
        """Take steps until the end, or until one waits for the operator or the service."""
        again_s = AGAIN_S
        try:
            if self._was_left:
                self._was_left = False
                await self._count(self.body.begun + 1)
            while (problem := await self._went()) is not None:
                # What comes next stands on disk, and is not done: it is tried again from there.
                log.error("transaction %s, step %s: %s", self.number, self.step, problem)
                self.show(words=f"{problem}; retrying in {again_s:.0f} s")
                await self.ports.clock.sleep(again_s)
                again_s = min(AGAIN_MAX_S, again_s * 2)
        except StorageError as error:
            # Nothing is done that does not stand on disk before; it goes on from there.
            self.show(words=f"{error}; stopped here", fix=storage_fix(error))

    async def _went(self) -> str | None:
        """Take steps as far as possible; the problem of the step that failed, else None.

        Returns:
            The unexpected problem of a step; None without one.

        Raises:
            StorageError: the disk takes nothing.
        """
        steps = self.steps()
        try:
            while self.step in steps:
                await steps[self.step]()
        except RunRefusal as refusal:
            await self._refuse(refusal)
        except StorageError:
            raise
        except Exception as error:  # noqa: BLE001  (an answer from outside must not end the desk)
            return fault_text(error)
        return None

    # -- after a crash ---------------------------------------------------------------------------

    @property
    def is_aside(self) -> bool:
        """True if the program died so often in the next step that no start repeats it."""
        return self.body.begun >= DEATHS_MAX

    def come_back(self) -> None:
        """Continue a run of an earlier start: count its next step, or set the run aside."""
        self._was_left = True
        if self.is_aside:
            self.show(
                words=f"set aside: the program ended {DEATHS_MAX} times in this step",
                fix=Fix.REDEEM_AGAIN,
            )

    async def hold_steady(self) -> None:
        """Note that the program lives on with the step under way, or that a person wants it so."""
        if self.body.begun:
            await self._count(0)

    async def _count(self, begun: int) -> None:
        self.body = replace(self.body, begun=begun)
        await self.gateway.runs.move(self.number, self.step, dump(self.body), now=self.ports.now())

    async def confirm(self, digest: str) -> bool:
        """The person's yes to what was shown.

        Returns:
            Whether it is still the same; else nothing is signed, and it must be shown anew.
        """
        call = self.body.run.call
        if self.step != PREPARED or call is None or call.digest != digest:
            return False
        self.body = replace(self.body, confirmed=True)
        await self.move(SIGN, state=ChainRunState.RUNNING, words="signing")
        return True

    async def signed(self) -> bool:
        """Sign now, and no more: the next run's place depends on it.

        Returns:
            Whether it stands on disk; else the run has ended.
        """
        try:
            await self._sign()
        except RunRefusal as refusal:
            await self._refuse(refusal)
            return False
        return True

    async def drop(self, text: str) -> None:
        """End a run of which nothing has left this machine."""
        await self.settle(REFUSED, state=ChainRunState.REFUSED, words=text)

    async def finish(self, receipt: Receipt) -> None:
        """Continue after a receipt that is final and successful."""
        raise NotImplementedError

    async def check(self) -> None:
        """Check once more right before signing; a refusal ends the run."""

    async def is_undone(self) -> bool:
        """True if the contracts show that the run has not happened."""
        return True

    # -- steps -----------------------------------------------------------------------------------

    async def _sign(self) -> None:
        """Sign the transaction that was shown and store it before anything is sent."""
        async with self.gateway.turn:
            await self.sign_in_turn()

    async def sign_in_turn(self) -> None:
        """Sign while this run holds the line's turn."""
        to_sign = self.body.to_sign
        if to_sign is None or not self.body.confirmed:
            raise RunRefusal(RunProblem.OUTSIDE_POLICY, "not confirmed by you", "start again")
        body = self.with_step(Step.SIGNED, f"nonce {to_sign.nonce}").with_run(words="sending")
        try:
            await self.check()
            await self._check_place(to_sign.nonce)
            signed = await self.gateway.sign(self.number, body, self.wallet)
        except SigningError as error:
            raise refusal_for(error) from error
        self.raw, self.nonce, self.step = signed.raw, signed.nonce, BROADCAST
        self.body = body.with_run(tx_hash=signed.tx_hash)
        self.emit()

    async def _check_place(self, nonce: int) -> None:
        """Refuse if the nonce is no longer free: the dialog may have been open for long."""
        place = await self.gateway.place(self.wallet)
        shown = self.body.run.call
        if not place.suits(nonce) or place.gap > (0 if shown is None else shown.gap):
            raise RunRefusal(
                RunProblem.CHAIN,
                f"nonce {nonce} was used by another transaction; nothing signed",
                "review it, and confirm again",
            )

    async def _broadcast(self) -> None:
        """Send the stored bytes, and no others, until the relay accepts or refuses them."""
        again_s = AGAIN_S
        while (problem := await self._sent()) is not None:
            self.show(words=f"signed, not sent yet: {problem}")
            await self.ports.clock.sleep(again_s)
            again_s = min(AGAIN_MAX_S, again_s * 2)

    async def _sent(self) -> str | None:
        """Send once.

        Returns:
            Why it has surely not left; None when it has, or may have.
        """
        text, fix = "sent, waiting for confirmation", ""
        try:
            answer = await self.gateway.broadcast(self.raw)
        except OutcomeUnknownError as error:
            text = f"sent, no response: {error}"
        except ServiceError as error:
            return str(error)
        else:
            if not answer.success and answer.retryable:
                return answer.error or "the relay asks to retry later"
            if not answer.success:
                # The relay may have it, or never get it: the chain shows which.
                text, fix = f"refused by the relay: {answer.error or 'no reason'}", answer.fix
            elif not _is_same(answer.tx_hash, self.body.run.tx_hash):
                text = f"the relay reports another transaction, {answer.tx_hash}; following ours"
                self.ports.emit(Noticed("warn", f"{self.body.run.question}: {text}"))
        tx_hash = self.body.run.tx_hash
        await self.move(CONFIRM, done=Step.BROADCAST, text=tx_hash, words=text, fix=fix)
        return None

    async def _confirm(self) -> None:
        """Wait for the receipt: a minute closely, and then for as long as it takes."""
        clock, watch = self.ports.clock, Watch()
        began = resent = clock.monotonic()
        while self.step == CONFIRM:
            receipt = await self._looked(watch)
            if receipt is not None:
                await self._received(receipt)
                return
            if self.step != CONFIRM:
                return
            waited_s = clock.monotonic() - began
            if waited_s >= CONFIRM_WAIT_S and self.body.run.state is not ChainRunState.UNCONFIRMED:
                await self._unconfirmed(CONFIRM)
            if watch.seen is None and clock.monotonic() - resent >= RESEND_S:
                resent = clock.monotonic()
                await self._resend()
            await clock.sleep(LOOK_S if waited_s < CONFIRM_WAIT_S else LOOK_LATER_S)

    async def _looked(self, watch: Watch) -> Receipt | None:
        """Check for the receipt once; end a run that can never be mined."""
        try:
            receipt = await self.gateway.confirmed(self.body.run.tx_hash, watch)
            if receipt is None and watch.seen is None and await self._is_dead():
                await self._fail("replaced by another transaction: this one is void", "start again")
        except ChainError as error:
            self.show(words=f"sent; {error}")
            return None
        return receipt

    async def _received(self, receipt: Receipt) -> None:
        if receipt.succeeded:
            await self.finish(receipt)
            return
        undone = f"reverted in block {receipt.block}: nothing done"
        await self._fail(undone, FIXES[RunProblem.REVERTED])
        self.ports.emit(Noticed("bad", f"reverted on chain: {self.view.question}"))

    async def _unconfirmed(self, step: str) -> None:
        """A minute without a receipt is no end: it was broadcast, and will likely confirm."""
        await self.move(
            step,
            state=ChainRunState.UNCONFIRMED,
            reason=RunProblem.TIMEOUT,
            words="broadcast, not confirmed within 60 seconds; still checking",
            fix=Fix.CHECK_HASH,
        )
        text = f"broadcast, unconfirmed: {self.view.question}"
        self.ports.emit(Noticed("warn", text, NoticeKind.FILL))

    async def _is_dead(self) -> bool:
        """True if another transaction has used the nonce, so that ours can never be mined.

        A node may hold a receipt back: only what it holds for long, and what the contracts confirm,
        is believed.

        Returns:
            True once both agree.
        """
        to_sign = self.body.to_sign
        nonce = self.nonce if to_sign is None else to_sign.nonce
        now = self.ports.clock.monotonic()
        if nonce is None:
            return False
        if await self.gateway.next_nonce(self.wallet) <= nonce:
            self._doubted_at = None
            await self._look_at_place(nonce)
            return False
        self._doubted_at = now if self._doubted_at is None else self._doubted_at
        if now - self._doubted_at < DEAD_AFTER_S or not await self.is_undone():
            return False
        return await (await self.gateway.chain()).receipt(self.body.run.tx_hash) is None

    async def _look_at_place(self, nonce: int) -> None:
        """Show a run whose nonce can never be used: free nonces before it belong to no run."""
        place = await self.gateway.place(self.wallet)
        self.is_stuck = not place.can_come(nonce)
        if self.is_stuck:
            self.show(
                words=f"nonce {nonce} is unusable: the wallet is at {place.nonce}",
                fix=Fix.ABANDON,
            )

    async def abandon(self) -> bool:
        """Give up a run whose nonce can never be used.

        Returns:
            Whether it was one; else it goes on.
        """
        if not self.is_stuck or self.step not in {BROADCAST, CONFIRM}:
            return False
        await self._fail("abandoned: its nonce became unusable", "redeem again")
        return True

    async def _resend(self) -> None:
        try:
            await self.gateway.broadcast(self.raw)
        except ServiceError as error:
            log.info("not sent again: %s", error)

    # -- the journal -----------------------------------------------------------------------------

    def show(self, **changes: Unpack[RunChanges]) -> None:
        """Show the run with another text; the journal stores its steps alone."""
        self.body = self.body.with_run(**changes)
        self.emit()

    def emit(self) -> None:
        """Put the run into the state."""
        self.ports.emit(Changed(self.body.run))

    def with_step(self, done: Step | None, text: str) -> TransactionRunState:
        """The body with one step more."""
        run = self.body.run
        if done is None or run.at(done) is not None:
            return self.body
        return self.body.with_run(steps=(*run.steps, StepView(done, self.ports.now(), text)))

    async def move(
        self, step: str, *, done: Step | None = None, text: str = "", **changes: Unpack[RunChanges]
    ) -> None:
        """Store the finished step and the next one, then show the run."""
        body = replace(self.with_step(done, text).with_run(**changes), begun=1)
        await self.gateway.runs.move(self.number, step, dump(body), now=self.ports.now())
        self.step, self.body = step, body
        self.emit()

    async def settle(
        self, step: str, *, done: Step | None = None, **changes: Unpack[RunChanges]
    ) -> None:
        """Write down the end, then show it."""
        now = self.ports.now()
        body = self.with_step(done, "").with_run(**changes).with_run(settled_at=now)
        await self.gateway.runs.settle(self.number, step, dump(body), now=now)
        self.step, self.body = step, body
        self.emit()

    async def _fail(self, text: str, fix: str) -> None:
        """End a signed run that the chain never carries out."""
        reason = RunProblem.REVERTED
        await self.settle(FAILED, state=ChainRunState.FAILED, reason=reason, words=text, fix=fix)

    async def _refuse(self, refusal: RunRefusal) -> None:
        waits = refusal.reason is RunProblem.NOT_FINAL
        await self.settle(
            REFUSED,
            state=ChainRunState.REFUSED,
            reason=refusal.reason,
            words=refusal.text,
            fix=refusal.fix,
            again_at=Timestamp(self.ports.now() + NOT_FINAL_S) if waits else None,
        )
        tone = "bad" if refusal.reason is RunProblem.OUTSIDE_POLICY else "warn"
        self.ports.emit(Noticed(tone, f"not done, {self.view.question}: {refusal.text}"))


def _is_same(named: str | None, own: str) -> bool:
    """True if the relay's hash is ours, or missing."""
    return not named or named.lower() == own.lower()
