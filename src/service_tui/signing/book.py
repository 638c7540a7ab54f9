"""Addresses of known contracts: one table, passed in as a value.

Production pins `POLYGON`; tests hand in another book.
"""

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Final

CHAIN_ID: Final = 137
"""Source: spec, "Venues"."""


class ExchangeVersion(StrEnum):
    """Generation of the venue's exchange. Source: wire reference, 6.1."""

    V1 = "v1"
    V2 = "v2"


def exchange_of(text: str) -> ExchangeVersion:
    """Exchange generation of a setting; the first if empty.

    Returns:
        The generation.

    Raises:
        ValueError: it names none.
    """
    try:
        return ExchangeVersion(text.strip().lower() or ExchangeVersion.V1)
    except ValueError:
        raise ValueError("the venue's exchange is v1 or v2") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressBook:
    """Contracts by their role; checksummed. Source: wire reference, 6.1."""

    chain_id: int
    conditional_tokens: str
    neg_risk_adapter: str
    usdc_bridged: str
    usdc_native: str
    v1_exchange: str
    v1_neg_risk_exchange: str
    v2_exchange: str
    v2_neg_risk_a: str
    v2_neg_risk_b: str
    pusd: str
    fee_escrow: str
    collateral_adapter: str
    neg_risk_collateral_adapter: str
    wrapped_collateral: str

    def collateral(self, exchange: ExchangeVersion) -> str:
        """The token that a generation trades in."""
        return self.usdc_bridged if exchange is ExchangeVersion.V1 else self.pusd

    def name_of(self, address: str) -> str | None:
        """Display name of a contract; None if it is not in the book."""
        for field in fields(self):
            if field.name != "chain_id" and str(getattr(self, field.name)) == address:
                return NAMES[field.name]
        return None


NAMES: Final = {
    "conditional_tokens": "conditional tokens",
    "neg_risk_adapter": "negative-risk adapter",
    "usdc_bridged": "USDC.e (bridged)",
    "usdc_native": "USDC (native)",
    "v1_exchange": "exchange v1",
    "v1_neg_risk_exchange": "negative-risk exchange v1",
    "v2_exchange": "exchange v2",
    "v2_neg_risk_a": "negative-risk exchange v2 A",
    "v2_neg_risk_b": "negative-risk exchange v2 B",
    "pusd": "pUSD",
    "fee_escrow": "fee escrow v2",
    "collateral_adapter": "collateral adapter",
    "neg_risk_collateral_adapter": "negative-risk collateral adapter",
    "wrapped_collateral": "wrapped collateral",
}

POLYGON: Final = AddressBook(
    chain_id=CHAIN_ID,
    conditional_tokens="0x4D97DCd97eC945f40cF65F87097ACe5EA0476045",
    neg_risk_adapter="0xd91E80cF2E7be2e162c6513ceD06f1dD0dA35296",
    usdc_bridged="0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174",
    usdc_native="0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359",
    v1_exchange="0x4bFb41d5B3570DeFd03C39a9A4D8dE6Bd8B8982E",
    v1_neg_risk_exchange="0xC5d563A36AE78145C45a50134d48A1215220f80a",
    v2_exchange="0xE111180000d2663C0091e4f400237545B87B996B",
    v2_neg_risk_a="0xe2222d279d744050d28e00520010520000310F59",
    v2_neg_risk_b="0xe2222d002000Ba0053CEF3375333610F64600036",
    pusd="0xC011a7E12a19f7B1f670d46F03B03f3342E82DFB",
    fee_escrow="0x3A43D88ef8Aae4dF5a50B3abf67122CAAeEF7c9F",
    collateral_adapter="0xAdA100Db00Ca00073811820692005400218FcE1f",
    neg_risk_collateral_adapter="0xadA2005600Dec949baf300f4C6120000bDB6eAab",
    # What the negative-risk adapter names as `wcol()`; pinned, as it decides over token ids.
    wrapped_collateral="0x3A3BD7bb9528E159577F7C2e685CC81A765002E2",
)
"""The chain that the service trades on. The table of the wire reference, 6.1."""
