"""Trades of a wallet of the Solana venue: quote, then submit what the wallet has signed.

The wallet is a rehearsal wallet: its signature is checked against the quote, byte for byte, and
the order then meets the simulated book, paid from the agent's play money on that venue.
"""

from dataclasses import replace
from typing import Final, Literal

from service_tui.loading import imported
from service_tui.server.http.refusals import Denied, denied, invalid_items
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.http.sol_quotes import SolQuote
from service_tui.server.routes import trades
from service_tui.server.routes.claim import require_claim
from service_tui.signing.errors import MalformedError
from service_tui.terms import Action, Venue
from service_tui.units import Timestamp
from service_tui.wire.base import moment
from service_tui.wire.endpoints.trading import SOL_QUOTE, SOL_SUBMIT
from service_tui.wire.sol_trades import (
    SolQuoteBody,
    SolQuoteRequest,
    SolSubmitBody,
    SolSubmitRequest,
)
from service_tui.wire.trades import TradeBody, TradeRequest

SOLANA: Final = "service_tui.signing.solana"
"""Loaded in a thread before the first transaction: its library is heavy."""

QUOTE_S: Final = 300.0
"""Life of a quote. Source: wire reference, 2.3."""

SLIP_MAX: Final = 0.005
"""How much less than the quote an order may bring. # ours: more asks for a new signature."""


def _order(request: SolQuoteRequest, *, dry_run: bool) -> TradeRequest:
    """The order of a quote.

    Raises:
        Denied: 422 where it is sized by both, or by neither.
    """
    buys = request.action is Action.BUY
    size, other = (request.amount, request.shares) if buys else (request.shares, request.amount)
    if not size > 0 or other:
        message = "a buy needs amount above 0 and no shares; a sell the reverse"
        raise invalid_items([(("body", "amount"), message, "value")])
    return TradeRequest(
        market_id=request.market_id,
        side=request.side,
        amount=request.amount,
        shares=request.shares,
        action=request.action,
        venue=Venue.SOL,
        dry_run=dry_run,
    )


async def _quoted(request: RequestContext, terms: SolQuoteRequest) -> TradeBody:
    return await trades.place(replace(request, body=_order(terms, dry_run=True)))


def _exchanged(trade: TradeBody, action: Action) -> tuple[float, float]:
    """Shares and money of a quote or a fill."""
    return (trade.shares_bought if action is Action.BUY else trade.shares_sold), trade.cost


async def quote(request: RequestContext) -> SolQuoteBody:
    """What an order would get now, with the transaction that the wallet is to sign."""
    terms, service = request.body_as(SolQuoteRequest), request.service
    require_claim(request, Venue.SOL)
    _check_wallet(request, terms.wallet_address)
    trade = await _quoted(request, terms)
    if not trade.success:
        return SolQuoteBody(success=False, error=trade.error or "", fix=trade.fix or "")
    shares, money = _exchanged(trade, terms.action)
    quote_id = service.new_id()
    memo = (
        f"{quote_id} {terms.action.value} {terms.side.value} {terms.market_id} "
        f"{shares} shares {money} USDC, fee {trade.fee}"
    )
    await imported(SOLANA)
    from service_tui.signing import solana  # noqa: PLC0415

    message = solana.memo_message(terms.wallet_address, memo)
    expires_at = Timestamp(request.now + QUOTE_S)
    kept = SolQuote(request.agent.agent_id, terms, shares, money, message, expires_at)
    service.sol_quotes.keep(quote_id, kept)
    buys = terms.action is Action.BUY
    return SolQuoteBody(
        success=True,
        transaction=solana.unsigned_transaction(message),
        quote_id=quote_id,
        in_amount=money if buys else shares,
        out_amount=shares if buys else money,
        price=round(money / shares, 6) if shares else 0.0,
        fee=trade.fee,
        expires_at=moment(expires_at),
    )


def _check_wallet(request: RequestContext, address: str) -> None:
    """Refuse a wallet that is not the agent's.

    Raises:
        Denied: 403.
    """
    if request.agent.settings.solana_wallet != address:
        raise denied(
            403,
            "this is not the agent's wallet of the venue",
            "send it as bot_solana_wallet to PATCH /api/sdk/user/settings first",
        )


async def submit(request: RequestContext) -> SolSubmitBody:
    """Carry out a quote that the wallet has signed; a quote is good once."""
    submission, service = request.body_as(SolSubmitRequest), request.service
    kept = service.sol_quotes.find(submission.quote_id, request.agent.agent_id, request.now)
    if kept is None:
        raise _unknown_quote()
    terms = kept.request
    _check_same(submission, terms)
    await imported(SOLANA)
    from service_tui.signing import solana  # noqa: PLC0415

    try:
        solana.check_signed(submission.signed_transaction, kept.message, terms.wallet_address)
    except MalformedError as error:
        raise invalid_items([(("body", "signed_transaction"), str(error), "signature")]) from error
    _check_wallet(request, terms.wallet_address)
    now = await _quoted(request, terms)
    if not now.success:
        return _failed(now)
    if is_worse(now, kept):
        return SolSubmitBody(
            success=False,
            error="the price has moved since the quote",
            error_code="PRICE_MOVED",
            fix="ask for a new quote and sign that",
            retryable=True,
        )
    # Nothing is awaited between this and the trade: of two submissions one is carried out.
    if not service.sol_quotes.take(submission.quote_id):
        raise _unknown_quote()
    order = _order(terms, dry_run=False).model_copy(
        update={
            "reasoning": submission.reasoning,
            "source": submission.source,
            "skill_slug": submission.skill_slug,
        }
    )
    # The answer under an idempotency key is the one below, not that of the trade.
    trade = await trades.place(replace(request, body=order, promise=None))
    if not trade.success:
        return _failed(trade)
    return _submitted(trade, terms, solana.signature_of(submission.signed_transaction))


def _unknown_quote() -> Denied:
    return denied(
        404,
        "there is no such quote, it is older than five minutes, or it was submitted already",
        "ask for a new one: POST /api/sdk/trade/kalshi/quote",
    )


def _check_same(submission: SolSubmitRequest, terms: SolQuoteRequest) -> None:
    """Refuse a submission whose terms are not those of its quote.

    Raises:
        Denied: 422.
    """
    for field in ("market_id", "side", "action"):
        if getattr(submission, field) != getattr(terms, field):
            message = "not that of the quote"
            raise invalid_items([(("body", field), message, "value")])


def is_worse(now: TradeBody, kept: SolQuote) -> bool:
    """True where the order would bring noticeably less than what the wallet signed."""
    shares, money = _exchanged(now, kept.request.action)
    if kept.request.action is Action.BUY:
        return shares < kept.shares * (1 - SLIP_MAX)
    return money < kept.money * (1 - SLIP_MAX)


def _failed(trade: TradeBody) -> SolSubmitBody:
    return SolSubmitBody(
        success=False,
        market_id=trade.market_id,
        side=trade.side,
        error=trade.error or "",
        error_code=trade.error_code,
        fix=trade.fix or "",
        retryable=trade.retryable,
    )


def fill_status_of(
    trade: TradeBody, shares: float
) -> Literal["filled", "partially_filled", "submitted"]:
    """The state of a trade; one that waits for its operator has no shares yet."""
    if not shares:
        return "submitted"
    return "partially_filled" if trade.fill_status == "partially_filled" else "filled"


def _submitted(trade: TradeBody, terms: SolQuoteRequest, signature: str) -> SolSubmitBody:
    shares, money = _exchanged(trade, terms.action)
    return SolSubmitBody(
        success=True,
        tx_signature=signature,
        trade_id=trade.trade_id,
        market_id=trade.market_id,
        side=trade.side,
        shares=shares,
        shares_bought=trade.shares_bought,
        shares_sold=trade.shares_sold,
        cost=money,
        cost_usdc=money,
        fee=trade.fee,
        price=round(money / shares, 6) if shares else 0.0,
        fill_status=fill_status_of(trade, shares),
    )


ROUTES: Final[Routes] = {SOL_QUOTE: quote, SOL_SUBMIT: submit}
