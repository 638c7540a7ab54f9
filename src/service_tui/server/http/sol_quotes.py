"""Quotes of the Solana venue that wait for the signature of their wallet."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from service_tui.units import Timestamp
from service_tui.wire.sol_trades import SolQuoteRequest

QUOTES_MAX: Final = 50
"""Quotes of one agent that wait for their signature; its oldest goes first."""


@dataclass(frozen=True, slots=True)
class SolQuote:
    """What was quoted, and the message that the wallet is to sign."""

    agent_id: str
    request: SolQuoteRequest
    shares: float
    money: float
    message: bytes
    expires_at: Timestamp


class SolQuotes:
    """The quotes that wait for their signature."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, SolQuote] = OrderedDict()

    def keep(self, quote_id: str, quote: SolQuote) -> None:
        """Keep a quote until it is submitted or too old."""
        self._waiting[quote_id] = quote
        own = [key for key, one in self._waiting.items() if one.agent_id == quote.agent_id]
        for key in own[:-QUOTES_MAX]:
            del self._waiting[key]

    def find(self, quote_id: str, agent_id: str, at: Timestamp) -> SolQuote | None:
        """The agent's quote, None where there is none that still holds."""
        quote = self._waiting.get(quote_id)
        if quote is None or quote.agent_id != agent_id or at >= quote.expires_at:
            return None
        return quote

    def take(self, quote_id: str) -> bool:
        """Use a quote up; False where another submission was faster."""
        return self._waiting.pop(quote_id, None) is not None
