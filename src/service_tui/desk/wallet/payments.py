"""Pay per call: off until the operator sets a daily cap, and one offer at a time.

Nothing is ever paid automatically: an offer is shown, and paid after the person's yes, once, for
exactly the documented price. What was signed counts against the day's cap whether an answer came or
not. Source: decisions, "x402"; failures, T-12 and rule 19.
"""

import asyncio
import base64
import hashlib
import json
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit

from service_tui.client.client import Again
from service_tui.client.errors import RateLimitedError, RefusedError, ServiceError
from service_tui.desk.briefing.translate import briefing_view
from service_tui.desk.buy_limits import spending_day_began
from service_tui.desk.chain.gateway import ChainGateway
from service_tui.desk.changes import Changed
from service_tui.desk.commands.wallet import PayOffer, SetPay
from service_tui.desk.facts import Noticed, PreferenceSet
from service_tui.desk.ports import Memory, Ports
from service_tui.desk.reasons import Fix
from service_tui.desk.slices.wallet import OfferView
from service_tui.signing.errors import PolicyRefusedError, SigningError
from service_tui.signing.payments import (
    PRICE,
    PaymentOffer,
    PaymentPolicy,
    SignedAuthorization,
    judge_offer,
    sign_payment,
)
from service_tui.signing.skew import check_skew
from service_tui.storage.chain_runs import ChainRun
from service_tui.units import Micros
from service_tui.wire.briefing import BriefingBody
from service_tui.wire.payment import (
    AuthorizationBody,
    ExactPayloadBody,
    PaymentBody,
    PayOfferBody,
)

log = logging.getLogger(__name__)

CAP: Final = "pay.cap"
"""Preference that stores the daily cap in micros; empty is off."""

SUBJECT: Final = "pay:"
"""Prefix of the subjects of payments among the chain runs."""

PAID: Final = "paid"
REFUSED: Final = "refused"
UNKNOWN: Final = "unknown"
"""How a payment ended; only one that was refused before it was signed costs nothing."""


class Payments:
    """Pays offers that the operator confirmed, within the day's cap."""

    def __init__(
        self, ports: Ports, gateway: ChainGateway, memory: Memory, *, executes: Callable[[], bool]
    ) -> None:
        self._ports = ports
        self._gateway = gateway
        self._memory = memory
        self._executes = executes
        self._offer: PaymentOffer | None = None
        self._again: Again | None = None
        self._paying = asyncio.Lock()
        ports.client.offered = self.on_offer

    async def set_cap(self, order: SetPay) -> None:
        """Turn paying on up to a cap a day, or off."""
        cap = order.day_max if order.day_max is not None and order.day_max > 0 else None
        stored = "" if cap is None else str(int(cap))
        await self._memory.prefer(CAP, stored)
        self._ports.emit(PreferenceSet(CAP, stored))
        spent = await asyncio.to_thread(self._spent)
        pay = self._ports.state().wallet.pay
        self._ports.emit(Changed(replace(pay, day_max=cap, spent=spent, offer=None)))
        self._ports.emit(Noticed("good", order.describe()))

    def on_offer(self, error: RateLimitedError, again: Again) -> None:
        """Show the payment offer of a 429; ignore it while paying is off."""
        pay = self._ports.state().wallet.pay
        if not pay.is_on or not self._executes():
            return
        body = next((one for one in error.accepts if one.scheme == "exact"), error.accepts[0])
        offer = _offer_of(body)
        self._offer, self._again = offer, again
        view = OfferView(
            offer_id=self._ports.new_id(),
            at=self._ports.now(),
            host=offer.host,
            path=error.called.path,
            price=Micros(offer.amount),
            recipient=offer.pay_to,
            network=offer.network,
            token=offer.asset,
            why_not=self._why_not(offer, pay.spent),
        )
        self._ports.emit(Changed(replace(pay, offer=view)))
        text = f"payment offer for {error.called.path}"
        self._ports.emit(Noticed("info", text, fix=Fix.PAY_OFFER))

    async def pay(self, order: PayOffer) -> None:
        """Pay the offer that was shown, once."""
        async with self._paying:
            pay = self._ports.state().wallet.pay
            view, offer, again = pay.offer, self._offer, self._again
            is_shown = view is not None and view.offer_id == order.offer_id
            if view is None or offer is None or again is None or not is_shown:
                self._ports.emit(Noticed("warn", "offer expired; nothing paid"))
                return
            self._offer = self._again = None
            problem = await self._paid(offer, again, view.path)
            spent = await asyncio.to_thread(self._spent)
            now = self._ports.state().wallet.pay
            self._ports.emit(Changed(replace(now, spent=spent, offer=None)))
            self._ports.emit(
                Noticed("good" if not problem else "bad", problem or "paid for one call")
            )

    async def _paid(self, offer: PaymentOffer, again: Again, path: str) -> str:
        """Store the payment, sign it, and send it.

        Returns:
            Why it was not paid, or why that is unknown; empty if it was paid.
        """
        ports = self._ports
        fresh = f"{ports.new_id()} {ports.new_id()}"
        nonce = hashlib.sha256(fresh.encode()).digest()
        wallet = ports.state().wallet.address
        skew_s = ports.client.skew_s or 0.0
        try:
            check_skew(skew_s)
            signer = ports.vault.signer_of(wallet)
            spent = await asyncio.to_thread(self._spent)
            policy = self._policy(offer)
            judge_offer(offer, policy, paid_today=int(spent))
        except SigningError as error:
            return str(error)
        now = ports.now()
        body = json.dumps({"amount": PRICE, "host": offer.host, "path": path})
        run = ChainRun(
            subject=f"{SUBJECT}{nonce.hex()}",
            wallet=wallet,
            opened_at=now,
            changed_at=now,
            step="pay",
            body=body,
        )
        number = await self._gateway.runs.open(run)
        now_s = int(now - skew_s)
        try:
            signed = await asyncio.to_thread(
                lambda: sign_payment(
                    offer, policy, signer, now_s=now_s, nonce=nonce, paid_today=int(spent)
                )
            )
        except SigningError as error:
            await self._gateway.runs.settle(number, REFUSED, body, now=ports.now())
            return f"not paid: {error}"
        try:
            answer = await again(_header(signed, offer))
        except ServiceError as error:
            # A recipient that refuses has the signature all the same, and may still take the money.
            await self._gateway.runs.settle(number, UNKNOWN, body, now=ports.now())
            outcome = "refused" if isinstance(error, RefusedError) else "no response"
            return f"sent, {outcome}, counted as paid: {error}"
        await self._gateway.runs.settle(number, PAID, body, now=ports.now())
        if isinstance(answer, BriefingBody):
            ports.emit(Changed(briefing_view(answer)))
        return ""

    def _policy(self, offer: PaymentOffer) -> PaymentPolicy:
        """Policy of a payment: only the shown recipient, up to the cap."""
        cap = self._ports.state().wallet.pay.day_max or Micros(0)
        host = self._ports.client.host
        return PaymentPolicy(host=host, day_max=int(cap), recipient=offer.pay_to)

    def _why_not(self, offer: PaymentOffer, spent: Micros) -> str:
        try:
            judge_offer(offer, self._policy(offer), paid_today=int(spent))
        except (PolicyRefusedError, ValueError) as error:
            return str(error)
        return ""

    def _spent(self) -> Micros:
        """Money paid, or possibly paid, since midnight UTC. Blocks."""
        began = spending_day_began(self._ports.now(), self._ports.client.skew_s or 0.0)
        runs = self._gateway.runs.opened_since(SUBJECT, began)
        return Micros(PRICE * sum(run.step != REFUSED for run in runs))


def cap_of(text: str) -> Micros | None:
    """Stored cap; None for off and for text that this program did not write."""
    plain = text.isascii() and text.isdecimal() and len(text) < 16  # noqa: PLR2004  (a billion)
    return Micros(int(text)) if plain and int(text) > 0 else None


def _offer_of(body: PayOfferBody) -> PaymentOffer:
    """Payment offer of an answer; untrusted."""
    try:
        host = urlsplit(body.resource).hostname or ""
    except ValueError:
        host = ""
    return PaymentOffer(
        host=host,
        scheme=body.scheme,
        network=body.network,
        asset=body.asset,
        pay_to=body.pay_to,
        amount=int(body.max_amount_required),
        life_s=body.max_timeout_seconds,
    )


def _header(signed: SignedAuthorization, offer: PaymentOffer) -> str:
    """The payment as its header carries it."""
    given = signed.authorization
    payment = PaymentBody(
        network=offer.network,
        payload=ExactPayloadBody(
            signature=signed.signature,
            authorization=AuthorizationBody(
                sender=given.payer,
                to=given.pay_to,
                value=str(given.amount),
                valid_after=str(given.after_s),
                valid_before=str(given.before_s),
                nonce=f"0x{given.nonce.hex()}",
            ),
        ),
    )
    return base64.b64encode(payment.model_dump_json(by_alias=True).encode()).decode()
