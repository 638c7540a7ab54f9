"""Endpoints that trade in other ways than one order at a time. Source: wire reference, 2.3."""

from typing import Final

from service_tui.wire import copytrading, sol_trades
from service_tui.wire.endpoint import SDK, Endpoint

SOL_QUOTE = Endpoint(
    "POST",
    f"{SDK}/trade/kalshi/quote",
    sol_trades.SolQuoteBody,
    request=sol_trades.SolQuoteRequest,
    summary="Quote an order and make the transaction that its wallet signs",
)
SOL_SUBMIT = Endpoint(
    "POST",
    f"{SDK}/trade/kalshi/submit",
    sol_trades.SolSubmitBody,
    request=sol_trades.SolSubmitRequest,
    summary="Carry out a quote that the wallet has signed",
    once=True,
)
COPY_WALLETS = Endpoint(
    "POST",
    f"{SDK}/copytrading/execute",
    copytrading.CopyBody,
    request=copytrading.CopyRequest,
    summary="Buy what named wallets hold, within the agent's limits",
    once=True,
)

ALL_TRADING: Final = (SOL_QUOTE, SOL_SUBMIT, COPY_WALLETS)
"""Every endpoint that trades, but for the order and the batch."""
