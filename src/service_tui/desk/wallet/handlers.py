"""The wallet: its key, its link, its approvals, its credentials, and the LIVE switch.

Source: spec, "Wallet types"; wire reference, 6.3 to 6.5.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from service_tui.client.errors import ServiceError
from service_tui.desk.answer_check import unmet
from service_tui.desk.chain.gateway import ChainGateway, call_of, micros_down, shown
from service_tui.desk.chain.run_state import TransactionRunState, dump, load
from service_tui.desk.chain.transaction_run import (
    CHECK,
    DONE,
    PREPARED,
    REQUEST,
    SIGN,
    TransactionRun,
)
from service_tui.desk.changes import Changed
from service_tui.desk.commands.wallet import (
    APPROVE_WORD,
    LIVE_WORD,
    TAIL,
    KeepKey,
    LinkWallet,
    RemoveKey,
    RequestLink,
    SetApprovals,
    SetLive,
    UnlockWallet,
)
from service_tui.desk.facts import Noticed
from service_tui.desk.ports import Ports
from service_tui.desk.reasons import Reason
from service_tui.desk.slices.redemption import ChainRunState, RunView, Step
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.wallet import (
    ApprovalView,
    ChallengeView,
    Ownership,
    WalletJob,
    WalletView,
)
from service_tui.signing.approvals import Approval, approvals
from service_tui.signing.chain import Receipt
from service_tui.signing.credentials import sign_credentials
from service_tui.signing.errors import ChainError, SigningError
from service_tui.signing.link import Challenge, check_challenge, sign_challenge
from service_tui.signing.policy import Price
from service_tui.storage.chain_runs import ChainRun
from service_tui.storage.errors import StorageError, TakenError
from service_tui.terms import Side, Venue
from service_tui.wire.base import timestamp
from service_tui.wire.endpoints.public import PATCH_SETTINGS
from service_tui.wire.endpoints.wallet import (
    ALLOWANCES,
    CHECK_CREDENTIALS,
    DERIVE_CREDENTIALS,
    LINK_CHALLENGE,
    LINK_WALLET,
)
from service_tui.wire.settings import SettingsPatch
from service_tui.wire.wallet import AllowancesQuery, ChallengeQuery, DeriveRequest, LinkRequest


class Approving(TransactionRun):
    """A run that gives one approval of the list."""

    def emit(self) -> None:
        """Approvals are shown by the wallet, not among the redemptions."""

    async def finish(self, receipt: Receipt) -> None:
        """Settle the confirmed approval."""
        await self.settle(
            DONE,
            done=Step.CONFIRMED,
            state=ChainRunState.DONE,
            words=f"given in block {receipt.block}",
            reason=None,
            fix="",
        )
        self.ports.emit(Noticed("good", f"approved: {self.view.question}"))


log = logging.getLogger(__name__)

SUBJECT: Final = "approve:"
"""Begins the subject of every approval in the journal of runs."""

SHOWN: Final = 50
GAS_S: Final = 20.0
"""How often the price of gas is read while a wallet is linked."""


class WalletHandlers:  # noqa: PLR0904 - one method an order
    """Handlers of the wallet commands, one command at a time."""

    def __init__(
        self, ports: Ports, gateway: ChainGateway, *, executes: Callable[[], bool]
    ) -> None:
        self._ports = ports
        self._gateway = gateway
        self._executes = executes
        self._lock = asyncio.Lock()
        self._begun: asyncio.Queue[Approving] = asyncio.Queue(SHOWN)
        self._runs_in_flight: set[int] = set()
        self._anew = asyncio.Event()
        self._gap = 0

    @property
    def _wallet(self) -> WalletView:
        return self._ports.state().wallet

    def _emit(self, wallet: WalletView) -> None:
        self._ports.emit(Changed(wallet))

    async def look(self) -> None:
        """Load the list of stored keys."""
        await self._keys(self._gateway.vault.look)

    async def run(self) -> None:
        """Go on with approvals under way, and watch the gas."""
        self._anew.set()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._watch_gas())
            tasks.create_task(self._load_anew())
            while True:
                turn = await self._begun.get()
                tasks.create_task(self._approve(turn))

    def take_up(self) -> None:
        """Continue approvals that another directory owner sent, as this desk now signs."""
        self._anew.set()

    async def _load_anew(self) -> None:
        while True:
            await self._anew.wait()
            self._anew.clear()
            try:
                # No approval of this desk is half begun meanwhile.
                async with self._lock:
                    await self._load()
            except StorageError as error:
                log.warning("cannot read the approvals of the journal: %s", error)
                await self._ports.clock.sleep(GAS_S)
                self._anew.set()

    # -- the key ---------------------------------------------------------------------------------

    async def unlock(self, order: UnlockWallet) -> None:
        """Open the key with its passphrase."""
        address = order.address or self._gateway.vault.view().address
        async with self._lock:
            self._begin(WalletJob.UNLOCK, "checking the passphrase")
            await self._keys(lambda: self._gateway.vault.unlock(address, order.passphrase))

    async def lock(self) -> None:
        """Forget the open key."""
        await self._keys(self._gateway.vault.lock)

    async def keep(self, order: KeepKey) -> None:
        """Write a key down, encrypted."""
        vault = self._gateway.vault
        async with self._lock:
            self._begin(WalletJob.KEY, "encrypting the key")
            await self._keys(lambda: vault.keep(order.passphrase, order.secret))

    async def remove(self, order: RemoveKey) -> None:
        """Delete a key whose address was typed to its end."""
        if order.tail.lower() != order.address[-TAIL:].lower():
            text = f"not removed: type the last {TAIL} letters of the address"
            self._ports.emit(Noticed("warn", text))
            return
        if self._ports.state().service.read_only:
            self._ports.emit(Noticed("warn", "this desk is read-only: nothing removed"))
            return
        async with self._lock:
            await self._keys(lambda: self._gateway.vault.remove(order.address))

    async def _keys(self, work: Callable[[], object]) -> None:
        """Run a vault call off the loop, and show the key's new state."""
        problem = ""
        try:
            await asyncio.to_thread(work)
        except (SigningError, OSError) as error:
            problem = str(error)
        key = self._gateway.vault.view()
        self._emit(
            replace(
                self._wallet,
                key_address=key.address,
                key_state=key.state,
                key_source=key.source,
                stored=key.stored,
                passed_over=key.passed_over,
                job=None,
                job_text="",
                problem=problem,
                fix="enter the passphrase again" if problem else "",
            )
        )
        if problem:
            self._ports.emit(Noticed("bad", problem))

    # -- the account -----------------------------------------------------------------------------

    async def request_link(self, order: RequestLink) -> None:
        """Read the service's challenge and check it; it is signed once a person has read it."""
        async with self._lock:
            self._begin(WalletJob.LINK, "requesting the challenge")
            self._emit(replace(self._wallet, challenge=None))
            try:
                challenge = await self._challenge(order.address)
                problem = ""
            except (ServiceError, SigningError) as error:
                challenge, problem = None, str(error)
                self._ports.emit(Noticed("bad", f"wallet: {problem}"))
            self._emit(replace(self._wallet, challenge=challenge))
            self._end(problem)

    async def _challenge(self, address: str) -> ChallengeView:
        signer = self._gateway.vault.signer_of(address)
        client = self._ports.client
        reply = await client.call(LINK_CHALLENGE, query=ChallengeQuery(address=signer.address))
        body = reply.answer
        view = ChallengeView(body.address, body.nonce, body.message, timestamp(body.expires_at))
        check_challenge(_signed_of(view), signer.address, host=client.host, now_s=self._now_there())
        return replace(view, address=signer.address)

    async def link(self, order: LinkWallet) -> None:
        """Sign the challenge that was shown, and trade with this wallet from then on."""
        async with self._lock:
            shown_challenge = self._wallet.challenge
            if shown_challenge is None or shown_challenge.nonce != order.nonce:
                text = "wallet: nothing signed, request the challenge first"
                self._ports.emit(Noticed("warn", text))
                return
            self._begin(WalletJob.LINK, "signing the challenge")
            # Good for one signature, whatever becomes of it.
            self._emit(replace(self._wallet, challenge=None))
            await self._account(lambda: self._link(order.address, shown_challenge), "linked")

    async def _link(self, address: str, read: ChallengeView) -> str:
        signer, client = self._gateway.vault.signer_of(address), self._ports.client
        challenge, now = _signed_of(read), self._now_there()
        signature = await asyncio.to_thread(
            lambda: sign_challenge(challenge, signer, host=client.host, now_s=now)
        )
        request = LinkRequest(
            address=signer.address,
            signature=signature,
            nonce=read.nonce,
            confirm_replace_managed=True,
        )
        reply = await client.call(LINK_WALLET, body=request)
        if not reply.answer.success:
            why = reply.answer.error or "the service did not link the wallet"
            return Reason(why, reply.answer.fix).plain()
        self._emit(replace(self._wallet, address=signer.address, ownership=Ownership.EXTERNAL))
        return ""

    def _now_there(self) -> float:
        """The service's time."""
        return self._ports.now() - (self._ports.client.skew_s or 0.0)

    async def make_credentials(self) -> None:
        """Have the venue's credentials derived, unless they are there."""
        async with self._lock:
            self._begin(WalletJob.CREDENTIALS, "signing a proof for the venue")
            await self._account(self._derive, "venue credentials stored at the service")

    async def _derive(self) -> str:
        client = self._ports.client
        known = await client.call(CHECK_CREDENTIALS)
        if known.answer.has_credentials:
            return ""
        signer = self._gateway.vault.signer_of(self._wallet.address)
        skew_s = client.skew_s or 0.0
        now_s = int(self._ports.now() - skew_s)
        proof = await asyncio.to_thread(
            lambda: sign_credentials(signer, now_s=now_s, skew_s=skew_s)
        )
        request = DeriveRequest(
            poly_address=proof.poly_address,
            poly_signature=proof.poly_signature,
            poly_timestamp=proof.poly_timestamp,
            poly_nonce=proof.poly_nonce,
        )
        reply = await client.call(DERIVE_CREDENTIALS, body=request)
        return "" if reply.answer.success else (reply.answer.message or "refused by the service")

    async def _account(self, work: Callable[[], Awaitable[str]], done: str) -> None:
        """Run an account call; an error is shown on the wallet."""
        try:
            problem = await work()
        except (ServiceError, SigningError) as error:
            problem = str(error)
        self._end(problem)
        tone, text = ("bad", problem) if problem else ("good", done)
        self._ports.emit(Noticed(tone, f"wallet: {text}"))
        for topic in (Topic.WALLET, Topic.REDEMPTIONS, Topic.ACCOUNT):
            self._ports.refresh(topic)

    # -- approvals -------------------------------------------------------------------------------

    async def read_approvals(self) -> None:
        """Read which approvals are set, and what setting the others would sign."""
        async with self._lock:
            self._begin(WalletJob.APPROVE, "checking approvals")
            problem = ""
            try:
                await self._read_approvals()
            except (ServiceError, SigningError) as error:
                problem = str(error)
                self._ports.emit(Noticed("bad", f"approvals: {problem}"))
            self._end(problem)

    async def _read_approvals(self) -> None:
        wallet, policy = self._wallet, self._gateway.policy
        address = wallet.address or wallet.key_address
        reply = await self._ports.client.call(
            ALLOWANCES, path={"address": address}, query=AllowancesQuery(no_cache=True)
        )
        given = {key.lower(): is_set for key, is_set in reply.answer.allowances.items()}
        needed = approvals(policy.book, policy.exchange)
        unset = [one for one in needed if given.get(one.key) is not True]
        price = await self._price_of(unset, address)
        views: list[ApprovalView] = []
        place = 0
        for one in needed:
            view = self._view(one, is_set=one not in unset)
            if price is not None and not view.is_set:
                signable = policy.approval(one)
                placed = replace(price, nonce=price.nonce + place)
                transaction = policy.transaction(signable, placed, spent_today=0)
                call = shown(transaction, signable, gap=self._gap)
                view, place = replace(view, call=call), place + 1
            views.append(view)
        self._emit(replace(self._wallet, approvals=tuple(views), approvals_at=self._ports.now()))

    async def _price_of(self, unset: list[Approval], address: str) -> Price | None:
        """Price of one approval; all cost the same, so one estimate is enough."""
        if not unset:
            return None
        await self._gateway.check()
        signable = self._gateway.policy.approval(unset[0])
        price = await (await self._gateway.chain()).price(signable, address)
        place = await self._gateway.place(address)
        self._gap = place.gap
        gas = max(price.gas, signable.gas_hint or 0)
        return replace(price, nonce=place.nonce, gas=gas)

    def _view(self, approval: Approval, *, is_set: bool) -> ApprovalView:
        book = self._gateway.policy.book
        return ApprovalView(
            key=approval.key,
            token=book.name_of(approval.to) or approval.to,
            spender=book.name_of(approval.spender) or approval.spender,
            spender_address=approval.spender,
            is_set=is_set,
        )

    async def set_approvals(self, order: SetApprovals) -> None:
        """Give the approvals that were shown and are not set yet."""
        if order.word != APPROVE_WORD:
            self._ports.emit(Noticed("warn", f"nothing signed: the word is {APPROVE_WORD}"))
            return
        if not self._executes() or self._ports.state().service.read_only:
            self._ports.emit(Noticed("warn", "approve in the program that owns the data directory"))
            return
        async with self._lock:
            self._begin(WalletJob.APPROVE, "signing approvals one by one")
            problem = ""
            try:
                await self._give(order.keys)
            except (ServiceError, SigningError, StorageError) as error:
                problem = str(error)
                self._ports.emit(Noticed("bad", f"approvals: {problem}"))
            self._end(problem)

    async def _give(self, keys: tuple[str, ...]) -> None:
        """Open a run for each, in the order of the list; what is set is skipped."""
        gaps = {one.call.gap for one in self._wallet.approvals if one.call is not None}
        await self._read_approvals()
        policy, wallet = self._gateway.policy, self._wallet
        if self._gap > max(gaps, default=0):
            raise ChainError(
                f"{self._gap} nonces of the wallet are not from this desk: review again"
            )
        signer = self._gateway.vault.signer_of(wallet.address)
        unset = {view.key for view in wallet.unset}
        needed = approvals(policy.book, policy.exchange)
        to_give = [one for one in needed if one.key in unset and one.key in keys]
        for approval in to_give:
            signable = policy.approval(approval)
            async with self._gateway.turn:
                nonce = (await self._gateway.place(signer.address)).nonce
                transaction = await self._gateway.built(signable, signer.address, nonce=nonce)
            view = RunView(
                market_id=approval.key,
                side=Side.YES,
                venue=Venue.EVM,
                question=approval.about,
                state=ChainRunState.RUNNING,
                call=shown(transaction, signable, gap=self._gap),
            )
            body = TransactionRunState(view, call_of(transaction), confirmed=True)
            now = self._ports.now()
            run = ChainRun(
                subject=f"{SUBJECT}{approval.key}",
                wallet=signer.address,
                opened_at=now,
                changed_at=now,
                step=SIGN,
                body=dump(body),
            )
            try:
                number = await self._gateway.runs.open(run)
            except TakenError:
                continue
            turn = Approving(self._ports, self._gateway, replace(run, number=number), body)
            if not await turn.signed():
                raise ChainError(turn.view.words)
            await self._put(turn)

    async def _put(self, turn: Approving) -> None:
        self._runs_in_flight.add(turn.number)
        await self._begun.put(turn)

    async def _approve(self, turn: Approving) -> None:
        try:
            await turn.go()
        finally:
            self._runs_in_flight.discard(turn.number)
        try:
            await self._read_approvals()
        except (ServiceError, SigningError) as error:
            log.info("cannot check the approvals again: %s", error)
        self._ports.refresh(Topic.WALLET)

    async def _load(self) -> None:
        """Go on with approvals that were sent; what was not signed is let go."""
        for run in await asyncio.to_thread(self._gateway.runs.unsettled):
            if not run.subject.startswith(SUBJECT) or run.number in self._runs_in_flight:
                continue
            try:
                turn = Approving(self._ports, self._gateway, run, load(run.body))
                if turn.step in {REQUEST, CHECK, PREPARED, SIGN}:
                    await turn.drop("the program ended before signing")
                else:
                    await self._put(turn)
            except (ValueError, StorageError) as error:
                log.warning("an approval of the journal was left unchanged: %s", error)

    # -- real money ------------------------------------------------------------------------------

    async def allow_real(self) -> None:
        """Let the service accept real trades of this agent; the operator confirmed it."""
        if self._ports.state().service.read_only:
            self._ports.emit(Noticed("warn", "this desk is read-only: nothing allowed"))
            return
        patch = SettingsPatch(sdk_real_trading_enabled=True)
        try:
            reply = await self._ports.client.call(PATCH_SETTINGS, body=patch)
        except ServiceError as error:
            self._ports.emit(Noticed("bad", f"real trades not allowed: {error}"))
            return
        if unmet(patch, reply.answer):
            text = "real trades not allowed: the service leaves them off"
            self._ports.emit(Noticed("bad", text))
            return
        self._ports.emit(Noticed("good", "real trades allowed for this agent"))
        self._ports.refresh(Topic.WALLET)

    async def set_live(self, order: SetLive) -> None:
        """Allow orders for real money in this session; off needs no confirmation."""
        if order.on and order.word != LIVE_WORD:
            self._ports.emit(Noticed("warn", f"live trading stays off: the word is {LIVE_WORD}"))
            return
        if order.on and self._ports.state().service.read_only:
            self._ports.emit(Noticed("warn", "this desk is read-only: live trading stays off"))
            return
        self._emit(replace(self._wallet, live=order.on))
        text = "live trading is ON for this session" if order.on else "live trading is off"
        self._ports.emit(Noticed("warn" if order.on else "good", text))

    async def _watch_gas(self) -> None:
        """Keep the gas price and the wallet's gas balance up to date."""
        while True:
            if self._wallet.is_linked and not self._ports.state().service.read_only:
                try:
                    balance = await (await self._gateway.chain()).balance(self._wallet.address)
                except ChainError as error:
                    log.info("gas balance unknown: %s", error)
                else:
                    self._emit(replace(self._wallet, gas=micros_down(balance)))
            await self._ports.clock.sleep(GAS_S)

    # -- what is under way -----------------------------------------------------------------------

    def _begin(self, job: WalletJob, text: str) -> None:
        self._emit(replace(self._wallet, job=job, job_text=text, problem="", fix=""))

    def fail(self, why: str) -> None:
        """Show that the job failed with an unexpected error."""
        self._end(why)

    def _end(self, problem: str) -> None:
        self._emit(replace(self._wallet, job=None, job_text="", problem=problem))


def _signed_of(view: ChallengeView) -> Challenge:
    """The challenge to sign: the same text that was shown."""
    return Challenge(
        address=view.address,
        nonce=view.nonce,
        message=view.message,
        expires_s=view.expires_at,
    )
