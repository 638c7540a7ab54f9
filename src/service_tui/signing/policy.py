"""Checks every transaction before signing: only known calls within caps pass.

What is signed is built anew from what was decoded; the bytes that came are never signed.
"""

import re
from dataclasses import dataclass
from typing import Final

from service_tui.addresses import checksummed, is_address
from service_tui.signing.approvals import APPROVAL_GAS, Approval, approvals
from service_tui.signing.book import POLYGON, AddressBook, ExchangeVersion
from service_tui.signing.calls import (
    ZERO_32,
    Approve,
    Call,
    RedeemNegRisk,
    RedeemPositions,
    SetApprovalForAll,
    decode_call,
    encode_call,
)
from service_tui.signing.errors import MalformedError, PolicyRefusedError, Rule, UnknownCallError
from service_tui.signing.transactions import Transaction, bytes_of_hex

GWEI: Final = 10**9
POL: Final = 10**18
"""Wei in one of the gas token."""

YES_SET: Final = 1
NO_SET: Final = 2
"""Outcome of a binary condition, as a bit. Source: wire reference, 6.6."""

_NUMBER: Final = re.compile(r"(?:0[xX][0-9a-fA-F]{1,64}|[0-9]{1,78})\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Caps of what a transaction may cost, wei. Source: failures, T-05."""

    gas_max: int = 1_500_000
    max_fee: int = 1_000 * GWEI
    total_max: int = POL // 2
    day_max: int = 2 * POL


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsigned:
    """A transaction proposed by a service. Numbers may be hex text; untrusted.

    A nonce, fees, lists or a type that came along have no place here: they are never taken over.
    """

    to: str | None
    data: str
    sender: str | None = None
    gas: int | str | None = None
    chain_id: int | str | None = None
    value: int | str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Redemption:
    """The position that is to be redeemed, from our own records.

    `condition_id` and `is_neg_risk` None: not reported; then only a person can confirm.
    `shares` in micros, None where not known.
    """

    condition_id: bytes | None
    is_yes: bool
    is_neg_risk: bool | None
    shares: int | None = None


@dataclass(frozen=True, slots=True)
class SignableCall:
    """A call that the policy allows, rebuilt here; `lines` describe it for the dialog."""

    to: str
    call: Call
    contract: str
    lines: tuple[str, ...]
    is_certain: bool = True
    gas_hint: int | None = None

    @property
    def data(self) -> bytes:
        """The call data, as it will be signed."""
        return encode_call(self.call)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Nonce, gas and fees per gas (wei), all read from the chain by ourselves."""

    nonce: int
    gas: int
    max_fee: int
    max_priority_fee: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningPolicy:
    """Rules of signing: contracts, exchange generation, caps."""

    book: AddressBook = POLYGON
    exchange: ExchangeVersion = ExchangeVersion.V1
    limits: Limits = Limits()

    @property
    def older_collaterals(self) -> tuple[str, ...]:
        """Currencies of older positions, redeemed in the second generation too.

        Source: wire reference, 6.6.
        """
        return () if self.exchange is ExchangeVersion.V1 else (self.book.usdc_bridged,)

    def redemption(self, own: Redemption, unsigned: Unsigned, own_address: str) -> SignableCall:
        """Judge what a service wants signed for a redemption.

        Returns:
            The call, for the side that was requested and for no other, so that no losing side is
            burned along with it. `is_certain` False: a person must look at it first.

        Raises:
            PolicyRefusedError: anything that is not this redemption; with what was decoded.
        """
        lines = described(unsigned, self.book)
        self._check_frame(unsigned, own_address, lines)
        to = checksummed(unsigned.to or "")
        try:
            call = decode_call(bytes_of_hex(unsigned.data))
        except UnknownCallError as error:
            raise PolicyRefusedError(Rule.SELECTOR, str(error), lines) from error
        except MalformedError as error:
            raise PolicyRefusedError(Rule.FORM, str(error), lines) from error
        lines = (*lines, *describe_call(call, self.book))
        if to not in self._targets(is_neg_risk=own.is_neg_risk):
            sentence = f"a redemption of this market does not go to {to} ({_named(self.book, to)})"
            raise PolicyRefusedError(Rule.TARGET, sentence, lines)
        narrowed = self._narrowed(own, to, call, lines)
        return SignableCall(
            to,
            narrowed,
            _named(self.book, to),
            describe_call(narrowed, self.book),
            is_certain=own.condition_id is not None and own.is_neg_risk is not None,
            gas_hint=_quantity(unsigned.gas) if unsigned.gas is not None else None,
        )

    def approval(self, approval: Approval) -> SignableCall:
        """Judge an approval: only those of the list are signed.

        Returns:
            The call.

        Raises:
            PolicyRefusedError: it is not on the list of this generation of the exchange.
        """
        lines = describe_call(approval.call, self.book)
        if approval not in approvals(self.book, self.exchange):
            raise PolicyRefusedError(Rule.TARGET, "the approval is not on the list", lines)
        contract = _named(self.book, approval.to)
        return SignableCall(approval.to, approval.call, contract, lines, gas_hint=APPROVAL_GAS)

    def transaction(self, signable: SignableCall, price: Price, *, spent_today: int) -> Transaction:
        """The transaction to sign, within every cap.

        Args:
            signable: what came through the judgement.
            price: nonce, gas and fees.
            spent_today: wei that the day's transactions may have cost until now.

        Returns:
            Type 2, on the book's chain, value 0.

        Raises:
            PolicyRefusedError: gas, fee, total or the day's total above its cap; names both.
        """
        caps = self.limits
        transaction = Transaction(
            chain_id=self.book.chain_id,
            nonce=price.nonce,
            max_priority_fee=price.max_priority_fee,
            max_fee=price.max_fee,
            gas=price.gas,
            to=signable.to,
            data=signable.data,
        )
        cost = transaction.cost_max
        checks = (
            (Rule.GAS, price.gas, caps.gas_max, "gas {} is above the cap of {}"),
            (Rule.FEE, price.max_fee, caps.max_fee, "the fee of {} wei is above the cap of {}"),
            (Rule.TOTAL, cost, caps.total_max, "it may cost {} wei, above the cap of {}"),
            (Rule.DAY, spent_today + cost, caps.day_max, "the day may cost {} wei, cap {}"),
        )
        for rule, amount, cap, sentence in checks:
            if not 0 < amount <= cap:
                raise PolicyRefusedError(rule, sentence.format(amount, cap), signable.lines)
        if not 0 <= price.max_priority_fee <= price.max_fee or spent_today < 0:
            raise PolicyRefusedError(Rule.FEE, "the fees contradict each other", signable.lines)
        return transaction

    def _check_frame(self, unsigned: Unsigned, own: str, lines: tuple[str, ...]) -> None:
        """Everything of a proposal but its call."""
        if unsigned.to is None or not is_address(unsigned.to):
            raise PolicyRefusedError(Rule.TARGET, "it names no address that it goes to", lines)
        sender = unsigned.sender
        if sender is not None and (not is_address(sender) or checksummed(sender) != own):
            raise PolicyRefusedError(Rule.SENDER, "it is made out for another wallet", lines)
        if unsigned.chain_id is not None and _quantity(unsigned.chain_id) != self.book.chain_id:
            sentence = f"it is for another chain than {self.book.chain_id}"
            raise PolicyRefusedError(Rule.CHAIN, sentence, lines)
        if unsigned.value is not None and _quantity(unsigned.value) != 0:
            raise PolicyRefusedError(Rule.VALUE, "it would send POL along", lines)
        gas = _quantity(unsigned.gas) if unsigned.gas is not None else 1
        if gas is None or not 0 < gas <= self.limits.gas_max:
            sentence = f"its gas is no number up to the cap of {self.limits.gas_max}"
            raise PolicyRefusedError(Rule.GAS, sentence, lines)

    def _targets(self, *, is_neg_risk: bool | None) -> frozenset[str]:
        """Allowed targets of a redemption. Source: decisions, "Redemption targets"; wire, 6.6."""
        standard, neg_risk = {self.book.conditional_tokens}, {self.book.neg_risk_adapter}
        if self.exchange is ExchangeVersion.V2:
            standard.add(self.book.collateral_adapter)
            neg_risk.add(self.book.neg_risk_collateral_adapter)
        if is_neg_risk is None:
            return frozenset(standard | neg_risk)
        return frozenset(neg_risk if is_neg_risk else standard)

    def _narrowed(
        self, own: Redemption, to: str, call: Call, lines: tuple[str, ...]
    ) -> RedeemPositions | RedeemNegRisk:
        """The call for the requested side, its arguments compared one by one."""
        match call:
            case RedeemNegRisk() if to == self.book.neg_risk_adapter:
                narrowed = _narrowed_amounts(own, call, lines)
            case RedeemPositions() if to != self.book.neg_risk_adapter:
                self._check_collateral(call, lines)
                narrowed = _narrowed_sets(own, call, lines)
            case _:
                sentence = f"the {_named(self.book, to)} is not redeemed by this function"
                raise PolicyRefusedError(Rule.SELECTOR, sentence, lines)
        if own.condition_id is not None and call.condition_id != own.condition_id:
            raise PolicyRefusedError(Rule.ARGUMENT, "it redeems another market", lines)
        return narrowed

    def _check_collateral(self, call: RedeemPositions, lines: tuple[str, ...]) -> None:
        if call.collateral not in {self.book.collateral(self.exchange), *self.older_collaterals}:
            raise PolicyRefusedError(Rule.ARGUMENT, "it names a foreign collateral", lines)
        if call.parent_collection_id != ZERO_32:
            raise PolicyRefusedError(Rule.ARGUMENT, "it names a parent collection", lines)


def described(unsigned: Unsigned, book: AddressBook) -> tuple[str, ...]:
    """Fields of a proposal outside its call; harmless to show.

    Returns:
        A line a fact.
    """
    to = unsigned.to if unsigned.to is not None and is_address(unsigned.to) else None
    known = f"{checksummed(to)} ({_named(book, checksummed(to))})" if to else "no address"
    sender = unsigned.sender
    return (
        f"to: {known}",
        *((f"from: {sender if is_address(sender) else 'no address'}",) if sender else ()),
        *(
            f"{name}: {number if (number := _quantity(given)) is not None else 'no number'}"
            for name, given in (
                ("chain", unsigned.chain_id),
                ("value", unsigned.value),
                ("gas", unsigned.gas),
            )
            if given is not None
        ),
    )


def describe_call(call: Call, book: AddressBook) -> tuple[str, ...]:
    """Describe a call, a line a fact."""
    match call:
        case RedeemPositions():
            return (
                "function: redeemPositions",
                f"collateral: {call.collateral} ({_named(book, call.collateral)})",
                f"condition: 0x{call.condition_id.hex()}",
                f"outcomes: {', '.join(_SIDES.get(one, str(one)) for one in call.index_sets)}",
            )
        case RedeemNegRisk():
            return (
                "function: redeemPositions (negative risk)",
                f"condition: 0x{call.condition_id.hex()}",
                f"amounts: {', '.join(map(str, call.amounts))} millionths of shares",
            )
        case Approve():
            return (
                "function: approve",
                f"spender: {call.spender} ({_named(book, call.spender)})",
                f"amount: {call.amount}",
            )
        case SetApprovalForAll():
            return (
                "function: setApprovalForAll",
                f"operator: {call.operator} ({_named(book, call.operator)})",
                f"approved: {'yes' if call.is_approved else 'no'}",
            )


_SIDES: Final = {YES_SET: "yes", NO_SET: "no"}


def _narrowed_sets(
    redemption: Redemption, call: RedeemPositions, lines: tuple[str, ...]
) -> RedeemPositions:
    own = YES_SET if redemption.is_yes else NO_SET
    sets = call.index_sets
    if len(set(sets)) != len(sets) or not {own} <= set(sets) <= {YES_SET, NO_SET}:
        raise PolicyRefusedError(Rule.ARGUMENT, "its outcomes are not the side asked for", lines)
    return RedeemPositions(call.collateral, call.parent_collection_id, call.condition_id, (own,))


def _narrowed_amounts(
    redemption: Redemption, call: RedeemNegRisk, lines: tuple[str, ...]
) -> RedeemNegRisk:
    if len(call.amounts) != len(_SIDES):
        raise PolicyRefusedError(Rule.ARGUMENT, "it does not name two amounts", lines)
    amount = call.amounts[0 if redemption.is_yes else 1]
    held = amount if redemption.shares is None else redemption.shares
    if not 0 < amount <= held:
        sentence = f"it redeems {amount} millionths of a share of {held} that are held"
        raise PolicyRefusedError(Rule.ARGUMENT, sentence, lines)
    return RedeemNegRisk(call.condition_id, (amount, 0) if redemption.is_yes else (0, amount))


def _named(book: AddressBook, address: str) -> str:
    return book.name_of(address) or "unknown contract"


def _quantity(given: int | str | None) -> int | None:
    """A number as a service writes it; None where it is none."""
    if isinstance(given, str):
        return int(given, 0) if _NUMBER.match(given) and not _is_octal(given) else None
    return given if isinstance(given, int) and not isinstance(given, bool) else None


def _is_octal(text: str) -> bool:
    """Python refuses decimals with leading zeros; so do we."""
    return len(text) > 1 and text[0] == "0" and text[1] not in "xX"
