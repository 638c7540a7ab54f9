"""An external wallet for scripts: links it, gives approvals, signs orders, redeems.

The key stays in the signer; every signature goes through the policy. Source: wire reference, 6;
spec, "Redemption flow (external wallet, 3 steps)".
"""

import secrets
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, TypeVar
from urllib.parse import urlsplit

from pydantic import JsonValue, TypeAdapter

from service_tui.client.errors import (
    RateLimitedError,
    ServiceError,
    ServiceFaultError,
    UnreachableError,
)
from service_tui.clock import Clock
from service_tui.outcome import outcome_in
from service_tui.sdk.opening import Opening
from service_tui.sdk.reads import POSITIONS_PAGE
from service_tui.sdk.transport import SyncTransport
from service_tui.signing.approvals import Approval, approvals, missing
from service_tui.signing.chain import Answer, ChainReader, Parameter, Receipt
from service_tui.signing.contracts import Contracts
from service_tui.signing.credentials import sign_credentials
from service_tui.signing.errors import (
    ChainError,
    MalformedError,
    NotRedeemableError,
    PolicyRefusedError,
    Rule,
    SigningError,
)
from service_tui.signing.link import Challenge, sign_challenge
from service_tui.signing.orders import (
    OrderAction,
    OrderTerms,
    build_order,
    sign_order,
    token_number,
)
from service_tui.signing.policy import Redemption, SignableCall, SigningPolicy, Unsigned
from service_tui.signing.redemption import check_redeemable
from service_tui.signing.signer import LocalSigner
from service_tui.signing.tokens import condition_bytes, outcome_token
from service_tui.signing.transactions import SignedTransaction, sign_transaction
from service_tui.terms import Action, OrderType, Side, Venue
from service_tui.units import ONE
from service_tui.wire.base import timestamp
from service_tui.wire.chain import BroadcastRequest, RpcRequest, UnsignedTxBody
from service_tui.wire.endpoints import public as on
from service_tui.wire.endpoints import wallet as on_wallet
from service_tui.wire.orders import ExecutablePriceQuery
from service_tui.wire.positions import PositionBody, PositionsQuery
from service_tui.wire.redemption import RedeemBody, RedeemRequest, ReportRequest
from service_tui.wire.signed_order import SignedOrderBody
from service_tui.wire.trades import TradeRequest
from service_tui.wire.wallet import (
    AllowancesQuery,
    ChallengeQuery,
    DeriveRequest,
    LinkBody,
    LinkRequest,
)

WAIT_S: Final = 60.0
"""How long a confirmation is waited for. Source: spec, "Redemption confirmation wait"."""

POLL_S: Final = 2.0
"""Source: wire reference, 6.6."""

DAY_S: Final = 86_400.0

TIMEOUT: Final = "confirmation_timeout"
IMMEDIATE: Final = frozenset({OrderType.FAK, OrderType.FOK})

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Redeemed:
    """Result of a redemption; `payout` in units. Source: wire reference, 6.6.

    With a `code` of `confirmation_timeout` it was broadcast, and will likely confirm.
    """

    market_id: str
    side: str
    success: bool
    tx_hash: str | None = None
    payout: float = 0.0
    error: str | None = None
    code: str | None = None
    retryable: bool = False


@dataclass(frozen=True, slots=True)
class Approvals:
    """Approvals by what became of them. A managed wallet needs none: `managed` is True then."""

    set: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    managed: bool = False


class OwnWallet:
    """One key, towards one service."""

    def __init__(
        self,
        transport: SyncTransport,
        signer: LocalSigner,
        opening: Opening,
        clock: Clock,
        *,
        chain: ChainReader | None = None,
        contracts: Contracts | None = None,
    ) -> None:
        """Bind a key to a service. Sends nothing.

        Args:
            transport: the connection to the service.
            signer: the key.
            opening: address of the service, and for which exchange is signed.
            clock: time.
            chain: what reads the chain; by way of the service by default.
            contracts: what reads the contracts; the same.
        """
        self._transport = transport
        self._signer = signer
        self._host = urlsplit(opening.base_url).hostname or ""
        self._clock = clock
        self._policy = SigningPolicy(exchange=opening.exchange)
        self._spent: tuple[int, int] = (0, 0)
        # Signed once, sent until it is on the chain: never a second nonce for one redemption.
        self._under_way: dict[tuple[str, str], SignedTransaction] = {}
        # ours: a script has nobody who sees a token: the first that it signs for binds the next.
        self._tokens: dict[tuple[str, Side], int] = {}
        self._given_chain, self._given_contracts = chain, contracts

    @property
    def address(self) -> str:
        """The wallet's address."""
        return self._signer.address

    @cached_property
    def _chain(self) -> ChainReader:
        from service_tui.signing.node import chain_of  # noqa: PLC0415

        return self._given_chain or chain_of(self._rpc)

    @cached_property
    def _contracts(self) -> Contracts:
        from service_tui.signing.node import contracts_of  # noqa: PLC0415

        return self._given_contracts or contracts_of(self._rpc, self._policy.book)

    def _read_chain(self, question: Coroutine[object, object, Value]) -> Value:
        """The answer to a question to the chain."""
        return self._transport.run(question, on=on_wallet.CHAIN_RPC)

    def is_linked(self) -> bool:
        """True if the service trades by this wallet."""
        known = self._transport.call(on.SETTINGS)
        linked = known.linked_wallet_address or known.wallet_address or ""
        return known.wallet_ownership == "external" and linked.lower() == self.address.lower()

    def link(self, *, replace: bool = True) -> LinkBody:
        """Prove that the wallet is ours, and have the venue's credentials derived."""
        offered = self._transport.call(
            on_wallet.LINK_CHALLENGE, query=ChallengeQuery(address=self.address)
        )
        challenge = Challenge(
            address=offered.address,
            nonce=offered.nonce,
            message=offered.message,
            expires_s=timestamp(offered.expires_at),
        )
        signature = sign_challenge(
            challenge, self._signer, host=self._host, now_s=self._clock.now()
        )
        request = LinkRequest(
            address=self.address,
            signature=signature,
            nonce=offered.nonce,
            confirm_replace_managed=replace,
            source="sdk-link",
        )
        answer = self._transport.call(on_wallet.LINK_WALLET, body=request)
        if answer.success:
            self.derive()
        return answer

    def derive(self) -> None:
        """Have the credentials derived, where the service has none."""
        if self._transport.call(on_wallet.CHECK_CREDENTIALS).has_credentials:
            return
        signed = sign_credentials(self._signer, now_s=int(self._clock.now()))
        request = DeriveRequest(
            poly_address=signed.poly_address,
            poly_signature=signed.poly_signature,
            poly_timestamp=signed.poly_timestamp,
            poly_nonce=signed.poly_nonce,
        )
        self._transport.call(on_wallet.DERIVE_CREDENTIALS, body=request)

    # -- approvals -------------------------------------------------------------------------

    def approve(self) -> Approvals:
        """Give the missing approvals, one after the other."""
        if not self.is_linked():
            return Approvals(managed=True)
        known = self._transport.call(
            on_wallet.ALLOWANCES, path={"address": self.address}, query=AllowancesQuery()
        )
        needed = approvals(self._policy.book, self._policy.exchange)
        left = missing(needed, known.allowances)
        done = {one.key: self._approved(one) for one in left}
        return Approvals(
            set=tuple(key for key, is_done in done.items() if is_done),
            skipped=tuple(one.key for one in needed if one not in left),
            failed=tuple(key for key, is_done in done.items() if not is_done),
        )

    def _approved(self, approval: Approval) -> bool:
        try:
            signed = self._signed(self._policy.approval(approval))
        except SigningError:
            return False
        receipt = self._confirmed(signed) if self._broadcast(signed) is None else None
        return receipt is not None and receipt.succeeded

    # -- orders ----------------------------------------------------------------------------

    def sign_order(self, request: TradeRequest) -> TradeRequest:
        """The order with the wallet's signature; as it is where it needs none."""
        if request.venue is not Venue.EVM or request.dry_run or not self.is_linked():
            return request
        path = {"market_id": request.market_id}
        market = self._transport.call(on.MARKET, path=path).market
        is_yes = request.side is Side.YES
        token = outcome_token(
            condition_bytes(market.polymarket_id or ""),
            is_yes=is_yes,
            is_neg_risk=market.polymarket_neg_risk,
        )
        named = market.polymarket_token_id if is_yes else market.polymarket_no_token_id
        price, is_buy = request.price, request.action is Action.BUY
        if price is None:
            query = ExecutablePriceQuery(side=request.side, action=request.action)
            price = self._transport.call(on.EXECUTABLE_PRICE, path=path, query=query).price
        if not price:
            raise ValueError("the market has no price to sign an order for")
        if named is not None and token_number(named) != token:
            raise PolicyRefusedError(Rule.ARGUMENT, "the token named is not that of the condition")
        if self._tokens.setdefault((request.market_id, request.side), token) != token:
            raise PolicyRefusedError(
                Rule.OUTCOME, "token is not the one that was signed for before"
            )
        size = round((request.amount if is_buy else request.shares) * ONE)
        is_fak = request.order_type in IMMEDIATE or (request.order_type is None and is_buy)
        terms = OrderTerms(
            token_id=token,
            action=OrderAction(request.action.value.upper()),
            price=round(price * ONE),
            spend=size if is_buy else None,
            shares=None if is_buy else size,
            tick=round(market.tick_size * ONE),
            is_neg_risk=market.polymarket_neg_risk,
            is_immediate=is_fak,
        )
        order = build_order(
            terms,
            self.address,
            exchange=self._policy.exchange,
            salt=secrets.randbits(52),
            now_ms=int(self._clock.now() * 1_000),
            fee_rate_bps=market.fee_rate_bps,
            expires_s=int(request.expiration or 0),
        )
        signed = sign_order(order, self._signer, is_neg_risk=terms.is_neg_risk)
        body = SignedOrderBody.model_validate(signed.body())
        return request.model_copy(update={"signed_order": body})

    # -- redemption ------------------------------------------------------------------------

    def redeem(self, market_id: str, side: str) -> Redeemed:
        """The three steps, each checked; what an earlier call has sent is followed first."""
        held = self._under_way.get((market_id, side))
        if held is not None:
            return self._followed(market_id, side, held)
        request = RedeemRequest(market_id=market_id, side=Side(side))
        answer = self._transport.call(on_wallet.REDEEM, body=request)
        if not answer.success or answer.unsigned_tx is None:
            return _answered(answer, market_id, side)
        try:
            signed = self._signed(self._signable(answer.unsigned_tx, market_id, side))
        except NotRedeemableError as error:
            return Redeemed(
                market_id, side, success=False, error=str(error), code=error.obstacle.value
            )
        except SigningError as error:
            return Redeemed(
                market_id,
                side,
                success=False,
                error=str(error),
                code="not_signed",
                retryable=isinstance(error, ChainError),
            )
        self._under_way[market_id, side] = signed
        return self._followed(market_id, side, signed)

    def _signable(self, unsigned: UnsignedTxBody, market_id: str, side: str) -> SignableCall:
        """The call to sign, checked by chain and policy."""
        row = self._position(market_id)
        is_yes = side == Side.YES.value
        token = token_number((row.token_id_yes if is_yes else row.token_id_no) or "")
        if token is None or row.condition_id is None:
            raise MalformedError("the position names no condition: nothing is signed for it")
        bare = Redemption(
            condition_id=condition_bytes(row.condition_id),
            is_yes=is_yes,
            is_neg_risk=row.neg_risk,
        )
        redeemable = self._read_chain(
            check_redeemable(
                self._contracts,
                bare,
                self.address,
                collateral=self._policy.book.collateral(self._policy.exchange),
                others=self._policy.older_collaterals,
                token_id=token,
            )
        )
        redemption = replace(bare, shares=redeemable.shares)
        proposal = Unsigned(
            to=unsigned.to,
            data=unsigned.data,
            sender=unsigned.sender,
            gas=unsigned.gas,
            chain_id=unsigned.chain_id,
            value=unsigned.value,
        )
        return self._policy.redemption(redemption, proposal, self.address)

    def _position(self, market_id: str) -> PositionBody:
        rows = self._transport.call(
            on.POSITIONS, query=PositionsQuery(venue=Venue.EVM, status="all", limit=POSITIONS_PAGE)
        ).positions
        position = next((row for row in rows if row.market_id == market_id), None)
        if position is None:
            raise MalformedError("the service shows no such position: nothing is signed for it")
        return position

    def _followed(self, market_id: str, side: str, signed: SignedTransaction) -> Redeemed:
        """Send what is signed, wait for its receipt, and report it."""
        key, tx_hash = (market_id, side), signed.tx_hash
        receipt = self._read_chain(self._chain.receipt(tx_hash))
        why = self._broadcast(signed) if receipt is None else None
        if why is not None:
            # A relay's refusal does not prove that the chain has not taken it: only its nonce does.
            is_lost = self._next_nonce() > signed.transaction.nonce
            receipt = self._read_chain(self._chain.receipt(tx_hash))
            if receipt is None:
                if is_lost:
                    del self._under_way[key]
                return Redeemed(
                    market_id,
                    side,
                    success=False,
                    tx_hash=tx_hash,
                    error=why,
                    code="not_broadcast",
                    retryable=True,
                )
        receipt = receipt or self._confirmed(signed)
        if receipt is None:
            note = "broadcast, not confirmed within 60 s; it will likely confirm: look at the hash"
            return Redeemed(
                market_id,
                side,
                success=False,
                tx_hash=tx_hash,
                error=note,
                code=TIMEOUT,
                retryable=True,
            )
        if not receipt.succeeded:
            del self._under_way[key]
            problem = "the transaction failed on the chain"
            return Redeemed(
                market_id, side, success=False, tx_hash=tx_hash, error=problem, code="reverted"
            )
        report = ReportRequest(market_id=market_id, side=Side(side), tx_hash=tx_hash)
        answer = self._transport.call(on_wallet.REPORT_REDEMPTION, body=report)
        if answer.success:
            del self._under_way[key]
        return Redeemed(
            market_id,
            side,
            answer.success,
            tx_hash,
            answer.payout,
            answer.error,
            answer.error_code,
            answer.retryable,
        )

    # -- transactions ----------------------------------------------------------------------

    def _signed(self, signable: SignableCall) -> SignedTransaction:
        """A transaction within every cap, signed."""
        self._read_chain(self._chain.check_chain())
        price = self._read_chain(self._chain.price(signable, self.address))
        day, spent = self._spent
        today = int(self._clock.now() // DAY_S)
        spent = spent if day == today else 0
        transaction = self._policy.transaction(signable, price, spent_today=spent)
        self._read_chain(self._chain.check_gas(transaction, self.address))
        self._spent = today, spent + transaction.cost_max
        return sign_transaction(transaction, self._signer)

    def _broadcast(self, signed: SignedTransaction) -> str | None:
        """Send it to the relay; the reason if refused, else None."""
        answer = self._transport.call(
            on_wallet.BROADCAST, body=BroadcastRequest(signed_tx=signed.hex)
        )
        return None if answer.success else answer.error or "the relay refused it"

    def _next_nonce(self) -> int:
        """The nonce after every transaction that the chain has accepted from this wallet."""
        return self._read_chain(self._chain.count(self.address, "latest"))

    def _confirmed(self, signed: SignedTransaction) -> Receipt | None:
        """The receipt; None if it did not arrive in time."""
        until = self._clock.monotonic() + WAIT_S
        while True:
            receipt = self._read_chain(self._chain.receipt(signed.tx_hash))
            if receipt is not None or self._clock.monotonic() >= until:
                return receipt
            self._transport.pause(POLL_S)

    async def _rpc(self, method: str, parameters: list[Parameter], /) -> Answer:
        """One question to the node, by way of the service."""
        params: tuple[JsonValue, ...] = tuple(_ANY.validate_python(one) for one in parameters)
        answer = await self._transport.answer(
            on_wallet.CHAIN_RPC, body=RpcRequest(method=method, params=params, id=1)
        )
        if answer.error is not None:
            raise ChainError(answer.error.message)
        return answer.result


_ANY: Final[TypeAdapter[JsonValue]] = TypeAdapter(JsonValue)


def _answered(answer: RedeemBody, market_id: str, side: str) -> Redeemed:
    return Redeemed(
        market_id,
        side,
        answer.success,
        answer.tx_hash,
        answer.payout if answer.success else 0.0,
        answer.error,
        answer.error_code,
        answer.retryable,
    )


def wallet_of(
    transport: SyncTransport, key: str, opening: Opening, clock: Clock
) -> OwnWallet | None:
    """The wallet of a key; None where there is no key."""
    return OwnWallet(transport, LocalSigner(key), opening, clock) if key else None


def not_redeemed(market_id: str, side: str, error: ServiceError | SigningError) -> Redeemed:
    """Result of a redemption that an error ended; repeat it only if retryable.

    Returns:
        A failure. What may have been carried out is not retryable: it is looked up instead.
    """
    later = (RateLimitedError, UnreachableError, ServiceFaultError, ChainError)
    code = "request" if isinstance(error, ServiceError) else "chain"
    return Redeemed(
        market_id,
        side,
        success=False,
        error=str(error),
        code=code,
        retryable=isinstance(error, later),
    )


def redeem_all(
    transport: SyncTransport, redeem: Callable[[str, str], Redeemed], *, by_side: bool
) -> list[Redeemed]:
    """Redeem everything that can be, unless the agent's `auto_redeem_enabled` is off.

    Args:
        transport: the connection to the service.
        redeem: redeems one side of a market.
        by_side: where both sides pay, one call for each; the service's own wallet needs one.

    Returns:
        A result a position, or a side of it, also of what was refused; without a market where the
        positions could not be read.
    """
    query = PositionsQuery(venue=Venue.EVM, status="resolved", limit=POSITIONS_PAGE)
    try:
        if not transport.call(on.AGENT).auto_redeem_enabled:
            return []
        rows = transport.call(on.POSITIONS, query=query).positions
    except ServiceError as error:
        return [not_redeemed("", "", error)]
    found: list[Redeemed] = []
    for row in rows:
        for side in _paying_sides(row, by_side=by_side):
            try:
                found.append(redeem(row.market_id, side))
            except (ServiceError, SigningError) as error:
                found.append(not_redeemed(row.market_id, side, error))
    return found


def _paying_sides(row: PositionBody, *, by_side: bool) -> tuple[str, ...]:
    """The sides of a position that are to be redeemed, the first one as the service names it."""
    first, outcome = row.redeemable_side, outcome_in(row)
    if not row.redeemable or not first:
        return ()
    # The service names YES before NO: after NO nothing is left.
    pays_both = outcome is not None and outcome.winner is None and row.shares_no > 0
    return (first, Side.NO.value) if by_side and pays_both and first == Side.YES else (first,)


def redeemed_by_service(transport: SyncTransport, market_id: str, side: str) -> Redeemed:
    """Let the service redeem with its own key."""
    request = RedeemRequest(market_id=market_id, side=Side(side))
    answer = transport.call(on_wallet.REDEEM, body=request)
    if answer.success and answer.unsigned_tx is not None:
        error = "the wallet is external: a signing key is needed"
        return Redeemed(market_id, side, success=False, error=error, code="no_signing_key")
    return _answered(answer, market_id, side)
