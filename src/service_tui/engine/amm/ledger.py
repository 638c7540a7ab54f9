"""Accounts of all money: double entry in whole micros, so that no money appears or gets lost.

Accounts are names such as "issuer", "crowd", "maker:<market_id>" and "agent:<agent_id>"; one that
nobody posted to yet stands at zero. All balances sum to zero.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from service_tui.units import Micros, NotMicrosError, sum_of

_INT: Final[type] = int
"""An amount is nothing else when it runs."""

_NOTHING: Final = Micros(0)


class UnbalancedPostingError(ValueError):
    """Legs of a posting, or balances of a snapshot, that do not sum to zero."""


class Ledger:
    """Balances by account, changed only by amounts that one account gives and another takes.

    Args:
        balances: where the accounts stand, from `balances` of an earlier ledger.

    Raises:
        UnbalancedPostingError: the balances do not sum to zero.
        NotMicrosError: a balance is not an int.
    """

    __slots__ = ("_balances",)

    def __init__(self, balances: Mapping[str, Micros] | None = None) -> None:
        self._balances: dict[str, Micros] = {}
        if balances is not None:
            self.post(balances.items())

    def transfer(self, giver: str, taker: str, amount: Micros) -> None:
        """Move money from one account to another; what one loses the other gains.

        Raises:
            NotMicrosError: the amount is not an int above zero.
        """
        # `type() is int` also refuses bool, and costs less than isinstance.
        if type(amount) is not _INT or amount <= 0:
            raise NotMicrosError(f"{amount!r} is not a whole number of micros above zero")
        balances = self._balances
        balances[giver] = balances.get(giver, _NOTHING) - amount
        balances[taker] = balances.get(taker, _NOTHING) + amount

    def post(self, legs: Iterable[tuple[str, Micros]]) -> None:
        """Change many accounts at once, or none.

        Args:
            legs: pairs of an account and its change in micros; an account may come twice.

        Raises:
            UnbalancedPostingError: the changes do not sum to zero.
            NotMicrosError: a change is not an int.
        """
        legs = tuple(legs)
        total = 0
        for account, change in legs:
            if type(change) is not _INT:
                raise NotMicrosError(f"{change!r} for {account} is not a whole number of micros")
            total += change
        if total != 0:
            raise UnbalancedPostingError(f"{len(legs)} legs sum to {total} micros, not to zero")
        balances = self._balances
        for account, change in legs:
            balances[account] = balances.get(account, _NOTHING) + change

    def balance(self, account: str) -> Micros:
        """What an account owns; negative where it owes."""
        return self._balances.get(account, _NOTHING)

    def total(self) -> Micros:
        """Sum over all accounts: zero, or the ledger is broken."""
        return sum_of(self._balances.values())

    def balances(self) -> Mapping[str, Micros]:
        """Micros by account: a window that follows the ledger and cannot change it."""
        return MappingProxyType(self._balances)
