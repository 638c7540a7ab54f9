"""One redemption run: request, check, sign, broadcast, confirm, report."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from service_tui.client.errors import OutcomeUnknownError, RefusedError, ServiceError
from service_tui.desk.chain.gateway import Place, call_of, shown
from service_tui.desk.chain.refusals import RunRefusal, refusal_for, refusal_of
from service_tui.desk.chain.transaction_run import (
    AGAIN_MAX_S,
    AGAIN_S,
    CHECK,
    DONE,
    LOOK_S,
    PREPARED,
    REPORT,
    REQUEST,
    SERVED,
    SIGN,
    TransactionRun,
)
from service_tui.desk.facts import Noticed
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.redemption import (
    CONFIRM_WAIT_S,
    CallView,
    ChainRunState,
    RedemptionRow,
    RunProblem,
    Stage,
    Step,
)
from service_tui.desk.slices.topics import Topic
from service_tui.desk.trading.signed_terms import check_market
from service_tui.desk.wire_values import amount
from service_tui.signing.chain import Receipt
from service_tui.signing.errors import MalformedError, NotRedeemableError, SigningError
from service_tui.signing.orders import token_number
from service_tui.signing.policy import Redemption, SignableCall, Unsigned
from service_tui.signing.redemption import check_redeemable
from service_tui.signing.tokens import outcome_token
from service_tui.signing.transactions import bytes_of_hex
from service_tui.storage.kept_tokens import Holding, KeptToken
from service_tui.terms import Side
from service_tui.units import Micros, decimal
from service_tui.wire.chain import UnsignedTxBody
from service_tui.wire.endpoints.wallet import REDEEM, REPORT_REDEMPTION
from service_tui.wire.redemption import RedeemBody, RedeemRequest, ReportRequest

POL_PRICE: Final = "wallet.pol_price"
POL_PRICE_USUAL: Final = 0.25
"""ours: money for one POL where neither the person nor the service gives a figure. It is for the
eye only: every cap is in POL."""

_ID_BYTES: Final = 32
_PRICE_MAX: Final = 1e6


class RedemptionRun(TransactionRun):
    """A run that redeems one side of one market."""

    _unsigned: UnsignedTxBody | None = None

    def steps(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """Function of each step."""
        own = {
            REQUEST: self._request,
            CHECK: self._check,
            REPORT: self._report,
            SERVED: self._wait_served,
        }
        return {**super().steps(), **own}

    @property
    def row(self) -> RedemptionRow | None:
        """The position in the queue, by its newest answer."""
        return self.ports.state().redemption.row(self.view.key)

    async def finish(self, receipt: Receipt) -> None:
        """Report the confirmed transaction next."""
        await self.move(
            REPORT,
            done=Step.CONFIRMED,
            text=f"block {receipt.block}",
            state=ChainRunState.REPORTING,
            words="confirmed; reporting to the service",
            reason=None,
            fix="",
        )

    # -- asking ----------------------------------------------------------------------------------

    async def _request(self) -> None:
        """Request the transaction to sign; with a managed wallet the service redeems."""
        run = self.view
        request = RedeemRequest(market_id=run.market_id, side=run.side)
        try:
            reply = await self.ports.client.call(REDEEM, body=request)
        except OutcomeUnknownError as error:
            if run.managed:
                # It may have been done: it is looked for in the queue, and not requested again.
                await self.move(SERVED, words=f"sent, no response: {error}")
                return
            raise RunRefusal(RunProblem.SERVICE, f"no response: {error}", "retry") from error
        except RefusedError as error:
            raise RunRefusal(RunProblem.SERVICE, error.error, error.fix) from error
        except ServiceError as error:
            raise RunRefusal(RunProblem.SERVICE, str(error), "retry") from error
        answer = reply.answer
        if not answer.success:
            raise refusal_of(answer)
        if run.managed or answer.unsigned_tx is None:
            await self._served(answer)
            return
        self._unsigned = answer.unsigned_tx
        payout = amount(answer.payout) if answer.payout else run.amount
        await self.move(CHECK, done=Step.REQUESTED, amount=payout, words="checking")

    async def _served(self, answer: RedeemBody) -> None:
        if not answer.tx_hash:
            raise RunRefusal(
                RunProblem.SERVICE, ("the service returned neither a transaction nor a hash")
            )
        await self.move(
            SERVED,
            done=Step.REQUESTED,
            tx_hash=answer.tx_hash,
            managed=True,
            words="signed and sent by the service; confirming on chain",
        )

    async def _wait_served(self) -> None:
        """Wait for a redemption that the service signs: the queue shows its progress."""
        began = self.ports.clock.monotonic()
        while True:
            self.ports.refresh(Topic.REDEMPTIONS)
            await self.ports.clock.sleep(LOOK_S)
            row = self.row
            if row is not None and row.stage is Stage.REDEEMED:
                break
            is_late = self.ports.clock.monotonic() - began >= CONFIRM_WAIT_S
            if is_late and not self.view.tx_hash:
                raise RunRefusal(
                    RunProblem.SERVICE,
                    "sent, no response, and not in the queue",
                    "redeem again",
                )
            if is_late and self.view.state is ChainRunState.RUNNING:
                await self._unconfirmed(SERVED)
        tx_hash = row.tx_hash or self.view.tx_hash
        self.body = self.with_step(Step.CONFIRMED, "").with_run(tx_hash=tx_hash)
        await self._paid()

    # -- checking --------------------------------------------------------------------------------

    async def _check(self) -> None:
        """Check by policy, chain and price; nothing is signed unless all agree."""
        if self._unsigned is None:
            # After a restart: the transaction to sign is requested again.
            await self.move(REQUEST, words="requested again")
            return
        redemption = await self._own()
        try:
            await self._check_market(redemption)
            signable = self._signable(redemption, self._unsigned)
            if not signable.is_certain and self.view.by_itself:
                raise RunRefusal(
                    RunProblem.OUTSIDE_POLICY,
                    "the service does not name the condition",
                    "redeem by hand: the decoded call is shown then",
                )
            note = await self.check_chain(redemption)
            async with self.gateway.turn:
                place = await self.gateway.place(self.wallet)
                nonce = await self._own_nonce(place)
                transaction = await self.gateway.built(signable, self.wallet, nonce=nonce)
                gap = place.gap
                call = priced(
                    shown(transaction, signable, note, gap),
                    self.ports.state().preferences.get(POL_PRICE, ""),
                    self.ports.state().wallet.pol_price,
                )
                self.body = replace(self.body, to_sign=call_of(transaction))
                pays = f"pays {decimal(self.view.amount):,.2f} {self.view.money}"
                if self.body.confirmed and signable.is_certain and not gap:
                    await self.move(SIGN, done=Step.CHECKED, text=pays, call=call, words="signing")
                    # In the same turn: a run beside this one would be built on the same place.
                    await self.sign_in_turn()
                    return
        except SigningError as error:
            raise refusal_for(error) from error
        await self.move(
            PREPARED,
            done=Step.CHECKED,
            text=pays,
            call=call,
            state=ChainRunState.PREPARED,
            words="needs your confirmation",
        )

    async def _own(self) -> Redemption:
        """The position to redeem, by what is kept of it since its buy, then by the queue."""
        run, row = self.view, self.row
        kept = await asyncio.to_thread(self.ports.tokens.find, self._place)
        by_person = not run.by_itself and row is not None and row.condition_id
        if by_person and kept is not None and not kept.bought:
            # What was only listed gives way to the queue, whose call a person confirms.
            kept = None
        return redemption_of(run.side, row, kept)

    @property
    def _place(self) -> Holding:
        run = self.view
        return Holding(
            market_id=run.market_id,
            side=run.side.value,
            venue=run.venue.value,
            wallet=self.wallet.lower(),
        )

    async def _check_market(self, redemption: Redemption) -> None:
        """Refuse to redeem automatically a token that the wallet bought in another market.

        Raises:
            PolicyRefusedError: the token of the position is kept under another market.
        """
        if not self.view.by_itself or redemption.condition_id is None:
            return
        token = outcome_token(
            redemption.condition_id,
            is_yes=redemption.is_yes,
            is_neg_risk=bool(redemption.is_neg_risk),
        )
        tokens, place = self.ports.tokens, self._place
        kept = await asyncio.to_thread(tokens.find, place)
        first = await asyncio.to_thread(tokens.find_token, str(token), place.wallet)
        check_market(place, kept, first)

    def _signable(self, redemption: Redemption, body: UnsignedTxBody) -> SignableCall:
        unsigned = Unsigned(
            to=body.to,
            data=body.data,
            sender=body.sender,
            gas=body.gas,
            chain_id=body.chain_id,
            value=body.value,
        )
        return self.gateway.policy.redemption(redemption, unsigned, self.wallet)

    async def check_chain(self, redemption: Redemption) -> str:
        """Check that the chain pays for the position now.

        Returns:
            Note for the operator if the chain cannot be read; else empty.
        """
        if redemption.condition_id is None or redemption.is_neg_risk is None:
            return "the service does not name the condition: compare it yourself"
        policy, row = self.gateway.policy, self.row
        token = row.token_id if row is not None else ""
        await self.gateway.check()
        found = await check_redeemable(
            await self.gateway.contracts(),
            redemption,
            self.wallet,
            collateral=policy.book.collateral(policy.exchange),
            others=policy.older_collaterals,
            token_id=token_number(token),
        )
        self.body = self.body.with_run(amount=Micros(found.payout))
        return ""

    async def check(self) -> None:
        """Check once more that the chain pays."""
        await self.check_chain(await self._own())

    async def is_undone(self) -> bool:
        """True if the chain would still pay for the position."""
        try:
            await self.check_chain(await self._own())
        except NotRedeemableError:
            return False
        return True

    async def _own_nonce(self, place: Place) -> int:
        """Nonce of an earlier transaction of the same position that may still be mined.

        One of both lands at most: never a second nonce for one redemption.

        Returns:
            That nonce, else the next free one.
        """
        last = await asyncio.to_thread(self.gateway.runs.last_signed, self.subject)
        if last is None or last.nonce is None or last.tx_hash is None:
            return place.nonce
        receipt = await (await self.gateway.chain()).receipt(last.tx_hash)
        return place.nonce if receipt is not None else own_nonce(place, last.nonce)

    # -- the end ---------------------------------------------------------------------------------

    async def _report(self) -> None:
        """Report to the service until it has acknowledged. Source: failures, F-18."""
        run, again_s = self.view, AGAIN_S
        request = ReportRequest(market_id=run.market_id, side=run.side, tx_hash=run.tx_hash)
        while True:
            try:
                reply = await self.ports.client.call(REPORT_REDEMPTION, body=request)
            except ServiceError as error:
                problem = str(error)
            else:
                if reply.answer.success:
                    break
                problem = reply.answer.error or "not accepted yet"
            self.show(words=f"paid; reporting again: {problem}")
            await self.ports.clock.sleep(again_s)
            again_s = min(AGAIN_MAX_S, again_s * 2)
        if reply.answer.payout:
            # Of a market that gave money back the chain's parts are no amount.
            self.body = self.body.with_run(amount=amount(reply.answer.payout))
        await self._paid()

    async def _paid(self) -> None:
        """The end that was wanted."""
        text = f"{decimal(self.view.amount):,.2f} {self.view.money} received"
        await self.settle(
            DONE, done=Step.REPORTED, state=ChainRunState.DONE, words=text, reason=None, fix=""
        )
        notice = f"redeemed: {text}, {self.view.question}"
        self.ports.emit(Noticed("good", notice, NoticeKind.FILL))
        for topic in (Topic.REDEMPTIONS, Topic.WALLET, Topic.POSITIONS, Topic.ACCOUNT):
            self.ports.refresh(topic)


def redemption_of(
    side: Side, row: RedemptionRow | None, kept: KeptToken | None = None
) -> Redemption:
    """The position to redeem, by our own records; None for what they do not name.

    Args:
        side: the side that is redeemed.
        row: the position in the queue, as the service lists it now.
        kept: its token, kept since its buy: another condition in the queue changes nothing.

    Returns:
        What a call may redeem.
    """
    named = kept if kept is not None else row
    condition_id = _id_of(named.condition_id if named is not None else "")
    return Redemption(
        condition_id=condition_id,
        is_yes=side is Side.YES,
        is_neg_risk=None if named is None or condition_id is None else named.neg_risk,
        shares=None if row is None else int(row.shares),
    )


def own_nonce(place: Place, earlier: int) -> int:
    """The nonce of an earlier transaction without a receipt if it may still come; else the next."""
    may_come = place.latest <= earlier and place.can_come(earlier)
    return earlier if may_come else place.nonce


def priced(call: CallView, pol_price: str, served: float | None = None) -> CallView:
    """The call with its fee in money, by the price of POL that the person gave, else the service's.

    Returns:
        The call.
    """
    try:
        own = float(pol_price)
    except ValueError:
        own = 0.0
    known = (price for price in (own, served or 0.0) if 0 < price < _PRICE_MAX)
    price = next(known, POL_PRICE_USUAL)
    return replace(call, fee_money=Micros(round(call.fee_max * price)))


def _id_of(text: str) -> bytes | None:
    """A condition's id; None where the text is none."""
    try:
        raw = bytes_of_hex(text)
    except MalformedError:
        return None
    return raw if len(raw) == _ID_BYTES else None
