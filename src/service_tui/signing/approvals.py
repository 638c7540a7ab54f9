"""The token approvals that trading needs: token, spender, and the service's name for each."""

from dataclasses import dataclass
from functools import cache
from typing import Final

from service_tui.signing.book import AddressBook, ExchangeVersion
from service_tui.signing.calls import UINT_MAX, Approve, SetApprovalForAll

APPROVAL_GAS: Final = 100_000
"""Source: wire reference, 6.5."""


@dataclass(frozen=True, slots=True)
class Approval:
    """One approval: `key` is its name in the service's `allowances`."""

    key: str
    about: str
    to: str
    call: Approve | SetApprovalForAll

    @property
    def spender(self) -> str:
        """The contract that may move the token."""
        return self.call.spender if isinstance(self.call, Approve) else self.call.operator


@cache
def approvals(book: AddressBook, exchange: ExchangeVersion) -> tuple[Approval, ...]:
    """Every approval of an exchange generation, in the order to give them.

    Returns:
        9 for v1, 12 for v2. Source: wire reference, 6.5.
    """
    if exchange is ExchangeVersion.V1:
        spenders = (book.v1_exchange, book.v1_neg_risk_exchange, book.neg_risk_adapter)
        return tuple(
            approval
            for spender in spenders
            for approval in (
                _money(book, book.usdc_native, "usdc_native", spender),
                _money(book, book.usdc_bridged, "usdc_bridged", spender),
                _tokens(book, spender),
            )
        )
    spenders = (book.v2_exchange, book.v2_neg_risk_a, book.v2_neg_risk_b, book.neg_risk_adapter)
    both = tuple(
        approval
        for spender in spenders
        for approval in (_money(book, book.pusd, "pusd", spender), _tokens(book, spender))
    )
    return (
        *both,
        _money(book, book.pusd, "pusd", book.fee_escrow),
        _tokens(book, book.collateral_adapter),
        _tokens(book, book.neg_risk_collateral_adapter),
        _money(book, book.pusd, "pusd", book.collateral_adapter),
    )


def missing(needed: tuple[Approval, ...], given: dict[str, bool]) -> tuple[Approval, ...]:
    """Approvals that are not given yet.

    Args:
        needed: all of them.
        given: the service's `allowances`; a key that is not there is not given.

    Returns:
        What is left, in its order.
    """
    known = {key.lower(): value for key, value in given.items()}
    return tuple(approval for approval in needed if known.get(approval.key) is not True)


def _money(book: AddressBook, token: str, prefix: str, spender: str) -> Approval:
    about = f"{book.name_of(token)} may be taken by the {book.name_of(spender)}"
    return Approval(f"{prefix}_{spender.lower()}", about, token, Approve(spender, UINT_MAX))


def _tokens(book: AddressBook, spender: str) -> Approval:
    about = f"conditional tokens may be moved by the {book.name_of(spender)}"
    call = SetApprovalForAll(spender, is_approved=True)
    return Approval(f"ctf_{spender.lower()}", about, book.conditional_tokens, call)
