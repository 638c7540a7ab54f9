"""Quotes of an open ticket: when to request one, and whether the shown one is still valid."""

import itertools
from dataclasses import dataclass, replace
from typing import Final

from service_tui.console.reasons import reason_text
from service_tui.desk.commands.trading import PlaceTrade, RequestQuote
from service_tui.desk.reasons import Reason
from service_tui.desk.slices.quote import QuoteView
from service_tui.terms import PRICE_BUFFER_DEFAULT, PRICE_HIGH, PRICE_LOW, Action
from service_tui.units import Timestamp

RENEW_S: Final = 2.0
"""How often an open ticket renews its quote."""

LATE_S: Final = 1.0
"""A request unanswered for this long makes the shown quote old."""

OLD_S: Final = 5.0
"""A quote of this age is marked, whatever the price did."""

SLACK: Final = PRICE_BUFFER_DEFAULT
"""Largest distance of the price from its quote."""

_REQUEST_IDS: Final = itertools.count(1)
"""Of the process, not of one ticket: a late answer to the last ticket does not match this one."""


@dataclass(frozen=True, slots=True)
class _QuoteRequest:
    request_id: int
    order: PlaceTrade
    price: float
    at: Timestamp


@dataclass(frozen=True, slots=True)
class _Answered:
    sent: _QuoteRequest
    quote: QuoteView
    at: Timestamp


class Quoting:
    """The requests and answers of one ticket; only the newest request counts."""

    def __init__(self) -> None:
        self._request: _QuoteRequest | None = None
        self._answered: _Answered | None = None

    @property
    def newest(self) -> QuoteView | None:
        """The last answer, to any order."""
        return self._answered.quote if self._answered else None

    def quote_of(self, order: PlaceTrade | None) -> QuoteView | None:
        """The last answer if it is to exactly this order; no figure of another one is shown."""
        answered = self._answered
        if answered is None or order is None or answered.sent.order != as_quoted(order):
            return None
        return answered.quote

    def request(self, order: PlaceTrade, price: float, now: Timestamp) -> RequestQuote:
        """The request to send; `price` is the market's, of YES, as shown now."""
        self._request = _QuoteRequest(next(_REQUEST_IDS), as_quoted(order), price, now)
        return RequestQuote(self._request.request_id, replace(order, reasoning=""))

    def receive(self, quote: QuoteView | None, now: Timestamp) -> None:
        """Keep an answer if it matches the newest request."""
        sent = self._request
        if quote is None or sent is None or quote.request_id != sent.request_id:
            return
        if self._answered is None or self._answered.quote != quote:
            self._answered = _Answered(sent, quote, now)

    def is_due(self, order: PlaceTrade, price: float, now: Timestamp) -> bool:
        """True if the order needs a new request: another order, a moved price, or time."""
        sent = self._request
        if sent is None or sent.order != as_quoted(order) or now - sent.at >= RENEW_S:
            return True
        return self._is_answered(sent) and price != sent.price

    def refusal(self, order: PlaceTrade) -> str:
        """Why the service would refuse exactly this order, with the fix; empty if it would not."""
        answered = self._answered
        if answered is None or answered.quote.ok or answered.sent.order != as_quoted(order):
            return ""
        problem = answered.quote.problem or "the service would refuse this order"
        return reason_text(Reason(problem, answered.quote.fix))

    def price_move(self) -> float:
        """The price move of the newest answer's order, 0 to 1; 0 if unknown."""
        quote = self.newest
        if quote is None or quote.price_before is None or quote.price_after is None:
            return 0.0
        return abs(quote.price_after - quote.price_before)

    def quote_age_text(self, order: PlaceTrade | None, now: Timestamp) -> tuple[str, bool]:
        """The state of the shown quote for the order, and whether it is valid."""
        sent, answered = self._request, self._answered
        if answered is None or not answered.quote.ok:
            is_pending = sent is not None and not self._is_answered(sent)
            return ("requesting quote" if is_pending else "no quote yet", False)
        if order is None:
            return ("no quote: incomplete order", False)
        if answered.sent.order != as_quoted(order):
            return ("requesting quote", False)
        age = max(0.0, now - answered.at)
        is_late = sent is not None and not self._is_answered(sent) and now - sent.at >= LATE_S
        if is_late or age >= OLD_S:
            return (f"quote {age:.0f} s old: refreshing", False)
        warning = answered.quote.warning
        return (f"! {warning}" if warning else "indicative quote", True)

    def _is_answered(self, sent: _QuoteRequest) -> bool:
        return self._answered is not None and self._answered.sent is sent


def as_quoted(order: PlaceTrade) -> PlaceTrade:
    """The order without what changes no quote: reasoning, stop, target, an expiry from now."""
    # One that expires still differs from one that does not: the service may refuse it.
    expiry = None if order.expires_at is None else Timestamp(0.0)
    return replace(order, reasoning="", expires_at=expiry, stop_loss_pct=None, take_profit_pct=None)


def bounded(order: PlaceTrade, quote: QuoteView | None) -> PlaceTrade:
    """The order with its worst acceptable price: its quote's, and a little more.

    Returns:
        The order; unchanged for a limit order, which has its price, without a quote, or where the
        quote itself is beyond every price that can be named.
    """
    average = None if quote is None or not quote.ok else quote.average
    if order.keeps_price:
        # A person said how far: nothing is taken beyond it, and nothing less is needed.
        return order
    # ours: at 0.9995 a buy bounded by 0.999 could never fill, and its price can rise no further.
    if order.rests or average is None or not PRICE_LOW <= average <= PRICE_HIGH:
        return order
    way = 1 + SLACK if order.action is Action.BUY else 1 - SLACK
    low, high = PRICE_LOW, PRICE_HIGH
    return replace(order, price=round(min(high, max(low, average * way)), 4))
