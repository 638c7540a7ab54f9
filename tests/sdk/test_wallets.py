"""A redemption by the client library, over a relay and a service that do not always answer well."""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from kit.chain.counting import CountingSigner
from kit.service.scene import Scene
from kit.service.threaded import Threaded
from service_tui.client.errors import (
    MalformedError,
    OutcomeUnknownError,
    RateLimitedError,
    RefusalReason,
    ServiceError,
    ServiceFaultError,
    UnreachableError,
)
from service_tui.client.errors import MalformedError as AnswerError
from service_tui.client.http_request import called_of
from service_tui.clock import ManualClock
from service_tui.engine.chain_events import TxStatus
from service_tui.sdk.opening import Opening
from service_tui.sdk.transport import SyncTransport
from service_tui.sdk.wallets import (
    TIMEOUT,
    Approvals,
    OwnWallet,
    Redeemed,
    not_redeemed,
    redeem_all,
    redeemed_by_service,
    wallet_of,
)
from service_tui.signing.approvals import approvals
from service_tui.signing.book import POLYGON, ExchangeVersion
from service_tui.signing.calls import ZERO_32, RedeemNegRisk, RedeemPositions, encode_call
from service_tui.signing.chain import Receipt
from service_tui.signing.credentials import Credentials, credentials_signer
from service_tui.signing.errors import ChainError, PolicyRefusedError, SigningError
from service_tui.signing.link import message_signer
from service_tui.signing.orders import order_signer, read_order
from service_tui.signing.policy import GWEI, Price
from service_tui.signing.signer import LocalSigner
from service_tui.signing.tokens import (
    collection_id,
    condition_bytes,
    outcome_token,
    position_id,
)
from service_tui.signing.transactions import decode_transaction
from service_tui.terms import Action, OrderType, Side, Venue
from service_tui.wire.agents import AgentBody
from service_tui.wire.chain import BroadcastBody, RpcBody, RpcErrorBody, UnsignedTxBody
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints import public as on
from service_tui.wire.endpoints import wallet as on_wallet
from service_tui.wire.endpoints.public import AGENT, POSITIONS
from service_tui.wire.endpoints.wallet import BROADCAST, CHAIN_RPC, REDEEM, REPORT_REDEMPTION
from service_tui.wire.markets import MarketBody, OneMarketBody
from service_tui.wire.orders import ExecutablePriceBody
from service_tui.wire.positions import PositionBody, PositionsBody
from service_tui.wire.redemption import RedeemBody, ReportBody
from service_tui.wire.settings import SettingsBody
from service_tui.wire.trades import TradeRequest
from service_tui.wire.wallet import AllowancesBody, ChallengeBody, CredentialsCheckBody, LinkBody
from wire.wallet_rows import Own, StageClock

pytestmark = pytest.mark.slow


@dataclass
class Between:
    """Between a wallet and its service: `instead` answers in the place of the service, or not."""

    inner: SyncTransport
    instead: Callable[[Endpoint[Any]], Any] = lambda _: None
    sent: list[str] = field(default_factory=list)

    def call(self, endpoint: Endpoint[Any], **asked: Any) -> Any:
        if endpoint is BROADCAST:
            self.sent.append(asked["body"].signed_tx)
        said = self.instead(endpoint)
        return self.inner.call(endpoint, **asked) if said is None else said

    async def answer(self, endpoint: Endpoint[Any], **asked: Any) -> Any:
        said = self.instead(endpoint)
        return await self.inner.answer(endpoint, **asked) if said is None else said

    def run(self, wanted: Any, **on: Any) -> Any:
        return self.inner.run(wanted, **on)

    def pause(self, seconds: float) -> None:
        self.inner.pause(seconds)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Generator[Scene]:
    service = Threaded()
    service.open(tmp_path_factory.mktemp("wallets"))
    yield Scene(service)
    service.close()


@dataclass
class Redeemer:
    """A wallet with a position that has won, and what stands between it and the service."""

    own: Own
    between: Between
    market_id: str
    side: str

    wallet: OwnWallet

    def redeem(self) -> Any:
        return self.wallet.redeem(self.market_id, self.side)

    def redeem_all(self) -> Any:
        line: Any = self.between
        return redeem_all(line, self.wallet.redeem, by_side=True)

    @property
    def chain(self) -> list[str]:
        """Hashes of the redemptions that the chain has carried out for this wallet."""
        return [
            tx.sent.tx_hash
            for tx in self.own.scene.service.stage.world.chain.txs.values()
            if tx.sent.sender.lower() == self.own.signer.address.lower()
            and not tx.sent.call.approval
            and tx.status is TxStatus.CONFIRMED
        ]


@pytest.fixture
def redeemer(scene: Scene) -> Generator[Redeemer]:
    own = Own(scene).ready()
    own.who.ok("PATCH", "agents/me/settings", json={"auto_redeem_enabled": False})
    market_id, side = own.won()
    clock, opening = StageClock(scene), Opening(scene.service.url, own.who.key)
    line = SyncTransport(opening.base_url, opening.api_key, clock=clock)
    between: Any = Between(line)
    wallet = OwnWallet(between, own.signer, opening, clock)
    yield Redeemer(own, between, market_id, side, wallet)
    scene.desk("PATCH", "chain", json={"delay_blocks": 1})
    line.close()
    own.client.close()


def no(error: str) -> Callable[[Endpoint[Any]], Any]:
    """A relay that refuses everything."""

    def instead(endpoint: Endpoint[Any]) -> Any:
        return BroadcastBody(success=False, error=error) if endpoint is BROADCAST else None

    return instead


def test_what_was_mined_while_nobody_waited_is_found_though_the_relay_says_no(
    redeemer: Redeemer, scene: Scene
) -> None:
    scene.desk("PATCH", "chain", json={"delay_blocks": 100})
    late = redeemer.redeem()
    assert late.code == TIMEOUT
    scene.wait(300)
    redeemer.between.instead = no("nonce too low")
    done = redeemer.redeem()
    assert (done.success, done.tx_hash) == (True, late.tx_hash)
    assert redeemer.chain == [late.tx_hash]
    assert len(set(redeemer.between.sent)) == 1


def test_what_the_relay_refuses_is_sent_again_and_never_signed_again(
    redeemer: Redeemer,
) -> None:
    redeemer.between.instead = no("try another time")
    refused = redeemer.redeem()
    assert (refused.success, refused.code, refused.retryable) == (False, "not_broadcast", True)
    assert refused.tx_hash
    redeemer.between.instead = lambda _: None
    done = redeemer.redeem()
    assert (done.success, done.tx_hash) == (True, refused.tx_hash)
    assert len(set(redeemer.between.sent)) == 1


def test_only_what_lost_its_place_to_another_is_signed_anew(
    redeemer: Redeemer, scene: Scene
) -> None:
    own = redeemer.own
    redeemer.between.instead = no("try another time")
    lost = redeemer.redeem()
    redeemer.between.instead = lambda _: None
    path = f"/api/polymarket/allowances/{own.signer.address}"
    (first, *_) = own.who.get(path, include_tx_params="true")["transactions"]
    raw = own.signed(first["to"], first["data"], gas=100_000)
    assert own.who.ok("POST", "wallet/broadcast-tx", json={"signed_tx": raw})["success"]
    scene.wait(6)
    dropped = redeemer.redeem()
    assert (dropped.success, dropped.code) == (False, "not_broadcast")
    done = redeemer.redeem()
    assert done.success
    assert done.tx_hash != lost.tx_hash
    assert redeemer.chain == [done.tx_hash]


def refusing(wanted: Endpoint[Any], error: type[ServiceError]) -> Callable[[Endpoint[Any]], Any]:
    """A service that answers one call with an error."""

    def instead(endpoint: Endpoint[Any]) -> Any:
        if endpoint is wanted:
            called = called_of(endpoint, {})
            if error is RateLimitedError:
                raise RateLimitedError(RefusalReason("too many calls"), called, retry_after_s=60.0)
            raise error("broken", called)

    return instead


ENDED: dict[str, tuple[Endpoint[Any], type[ServiceError], bool]] = {
    "the agent, too often": (AGENT, RateLimitedError, True),
    "the positions, too often": (POSITIONS, RateLimitedError, True),
    "the positions, no answer": (POSITIONS, ServiceFaultError, True),
    "the positions, no sense": (POSITIONS, MalformedError, False),
    "what is to be signed, too often": (REDEEM, RateLimitedError, True),
    "what is to be signed, in doubt": (REDEEM, OutcomeUnknownError, False),
    "the chain, too often": (CHAIN_RPC, RateLimitedError, True),
    "the chain, no line": (CHAIN_RPC, UnreachableError, True),
    "the relay, too often": (BROADCAST, RateLimitedError, True),
    "the report, too often": (REPORT_REDEMPTION, RateLimitedError, True),
}


def test_what_ends_a_redemption_is_a_result_of_all_that_is_redeemed(
    redeemer: Redeemer,
) -> None:
    own, between = redeemer.own, redeemer.between
    own.who.ok("PATCH", "agents/me/settings", json={"auto_redeem_enabled": True})
    for name, (endpoint, error, is_retryable) in ENDED.items():
        between.instead = refusing(endpoint, error)
        (found,) = redeemer.redeem_all()
        ended = (found.success, found.code, found.retryable)
        assert ended == (False, "request", is_retryable), name
        assert found.error
        is_unread = endpoint in {AGENT, POSITIONS}
        assert found.market_id == ("" if is_unread else redeemer.market_id)
    between.instead = lambda _: None
    (done,) = redeemer.redeem_all()
    assert done.success
    assert redeemer.chain == [done.tx_hash]


@pytest.mark.parametrize(
    ("fields", "by_side", "sides"),
    [
        ({"outcome": True, "payout_per_yes": 1.0}, True, ["yes"]),
        ({"payout_per_yes": 0.35}, True, ["yes", "no"]),
        ({"voided": True}, True, ["yes", "no"]),
        # The service redeems both at once; and after NO nothing is left.
        ({"voided": True}, False, ["yes"]),
        ({"voided": True, "redeemable_side": "no"}, True, ["no"]),
        ({"voided": True, "shares_no": 0.0}, True, ["yes"]),
        ({"voided": True, "redeemable": False}, True, []),
    ],
)
def test_where_both_sides_pay_each_is_redeemed_once(
    fields: dict[str, Any], sides: list[str], *, by_side: bool
) -> None:
    known = {"shares_yes": 2.0, "shares_no": 3.0, "redeemable": True, "redeemable_side": "yes"}
    row = PositionBody(market_id="m", venue=Venue.EVM, **known | fields)
    answers = {
        AGENT: AgentBody.model_construct(auto_redeem_enabled=True),
        POSITIONS: PositionsBody.model_construct(positions=(row,)),
    }

    class Line:
        def call(self, endpoint: Endpoint[Any], **_: object) -> Any:
            return answers[endpoint]

    line: Any = Line()
    found = redeem_all(line, lambda *place: Redeemed(*place, success=True), by_side=by_side)
    assert [one.side for one in found] == sides


def test_a_chain_that_fails_ends_no_round_of_redemptions(redeemer: Redeemer) -> None:
    redeemer.own.who.ok("PATCH", "agents/me/settings", json={"auto_redeem_enabled": True})
    redeemer.between.instead = no("try another time")
    assert redeemer.redeem().code == "not_broadcast"

    def instead(endpoint: Endpoint[Any]) -> Any:
        return RpcBody(error=RpcErrorBody(code=1, message="no")) if endpoint is CHAIN_RPC else None

    redeemer.between.instead = instead
    (found,) = redeemer.redeem_all()
    assert (found.success, found.code, found.retryable) == (False, "chain", True)


GARBLED: tuple[dict[str, str | None], ...] = (
    {"condition_id": "0x12"},
    {"condition_id": "not hex"},
    {"condition_id": None},
    {"token_id_yes": "1e9", "token_id_no": "1e9"},
    {"token_id_yes": None, "token_id_no": None},
)


def test_a_position_that_is_garbled_is_not_signed_for(redeemer: Redeemer) -> None:
    row = PositionBody.model_validate(redeemer.own.row(redeemer.market_id), strict=False)
    for changes in GARBLED:
        said = PositionsBody.model_construct(positions=(row.model_copy(update=changes),))
        redeemer.between.instead = lambda one, said=said: said if one is POSITIONS else None
        found = redeemer.redeem()
        ended = (found.success, found.code, found.retryable)
        assert ended == (False, "not_signed", False), changes
    assert redeemer.chain == []


def test_a_report_that_failed_is_told_again(redeemer: Redeemer) -> None:
    def instead(endpoint: Endpoint[Any]) -> Any:
        if endpoint is REPORT_REDEMPTION:
            raise ServiceFaultError("broken", called_of(endpoint, {}), status=500)

    redeemer.between.instead = instead
    with pytest.raises(ServiceFaultError):
        redeemer.redeem()
    (tx_hash,) = redeemer.chain
    redeemer.between.instead = lambda _: None
    done = redeemer.redeem()
    assert (done.success, done.tx_hash) == (True, tx_hash)
    assert redeemer.chain == [tx_hash]
    assert len(set(redeemer.between.sent)) == 1


KEY = "4c" * 32
ADDRESS = CountingSigner(KEY).address
HOST = "api.service.example"
NOW = 1_800_000_000.0
CONDITION = "0x" + "7a" * 32
YES, NO = Side.YES, Side.NO


@dataclass
class Line:
    """Answers an endpoint with what it was told, in turn; keeps what was asked."""

    answers: dict[str, list[Any]]
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)
    clock: ManualClock = field(default_factory=lambda: ManualClock(NOW))

    def call(self, endpoint: Endpoint[Any], **asked: Any) -> Any:
        self.asked.append((endpoint.path, asked))
        said = self.answers[endpoint.path]
        return said.pop(0) if len(said) > 1 else said[0]

    def run(self, question: Coroutine[object, object, Any], **_: Any) -> Any:
        return asyncio.run(question)

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def sent(self, endpoint: Endpoint[Any]) -> list[dict[str, Any]]:
        return [asked for path, asked in self.asked if path == endpoint.path]


def linked_as(address: str | None, ownership: str = "external", **more: Any) -> SettingsBody:
    return SettingsBody.model_construct(
        linked_wallet_address=address,
        wallet_ownership=ownership,
        **{"wallet_address": None, **more},
    )


def wallet(
    *answers: tuple[Endpoint[Any], Any],
    exchange: ExchangeVersion = ExchangeVersion.V1,
    chain: Any = None,
    contracts: Any = None,
) -> tuple[OwnWallet, Line]:
    said: dict[str, list[Any]] = {on.SETTINGS.path: [linked_as(ADDRESS)]}
    for endpoint, answer in answers:
        said[endpoint.path] = answer if isinstance(answer, list) else [answer]
    line = Line(said)
    opening = Opening(f"https://{HOST}:8400/x", "sk", exchange=exchange)
    service: Any = line
    made = OwnWallet(
        service, LocalSigner(KEY), opening, line.clock, chain=chain, contracts=contracts
    )
    return made, line


# -- linking -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "is_linked"),
    [
        (linked_as(ADDRESS), True),
        (linked_as(ADDRESS.lower()), True),
        (linked_as(ADDRESS, "native"), False),
        (linked_as("0x" + "11" * 20), False),
        (linked_as(None), False),
        (linked_as(None, wallet_address=ADDRESS), True),
        (linked_as("0x" + "11" * 20, wallet_address=ADDRESS), False),
    ],
)
def test_a_wallet_is_linked_where_the_service_trades_by_it(
    *, settings: SettingsBody, is_linked: bool
) -> None:
    made, _ = wallet((on.SETTINGS, settings))
    assert made.is_linked() is is_linked


def challenge() -> ChallengeBody:
    return ChallengeBody(
        nonce="Zm9vYmFyYmF6",
        message=f"Link {ADDRESS} to {HOST}.\nNonce: Zm9vYmFyYmF6",
        expires_at=datetime.fromtimestamp(NOW + 300, UTC),
        address=ADDRESS,
    )


@pytest.mark.parametrize("replaces", [True, False])
def test_linking_signs_the_challenge_and_has_credentials_derived(*, replaces: bool) -> None:
    made, line = wallet(
        (on_wallet.LINK_CHALLENGE, challenge()),
        (on_wallet.LINK_WALLET, LinkBody(success=True)),
        (on_wallet.CHECK_CREDENTIALS, CredentialsCheckBody(has_credentials=False)),
        (on_wallet.DERIVE_CREDENTIALS, None),
    )
    assert made.link(replace=replaces).success
    (asked,) = line.sent(on_wallet.LINK_CHALLENGE)
    assert asked["query"].address == ADDRESS
    (linked,) = line.sent(on_wallet.LINK_WALLET)
    body = linked["body"]
    assert (body.address, body.nonce, body.source) == (ADDRESS, "Zm9vYmFyYmF6", "sdk-link")
    assert body.confirm_replace_managed is replaces
    assert message_signer(challenge().message, bytes.fromhex(body.signature[2:])) == ADDRESS
    (derived,) = line.sent(on_wallet.DERIVE_CREDENTIALS)
    proof = derived["body"]
    assert (proof.poly_address, proof.poly_timestamp, proof.poly_nonce) == (
        ADDRESS,
        str(int(NOW)),
        "0",
    )
    assert credentials_signer(Credentials(**proof.model_dump())) == ADDRESS


def test_a_wallet_that_was_not_linked_derives_nothing() -> None:
    made, line = wallet(
        (on_wallet.LINK_CHALLENGE, challenge()),
        (on_wallet.LINK_WALLET, LinkBody(success=False, error="no")),
    )
    assert not made.link().success
    assert line.sent(on_wallet.CHECK_CREDENTIALS) == []


def test_credentials_that_are_there_are_not_derived_again() -> None:
    known = CredentialsCheckBody(has_credentials=True)
    made, line = wallet((on_wallet.CHECK_CREDENTIALS, known))
    made.derive()
    assert len(line.asked) == 1


# -- transactions --------------------------------------------------------------------------


@dataclass
class Chain:
    """A chain whose price and receipts are as told."""

    receipts: Callable[[str], Receipt | None] = lambda _: None
    gas: int = 100_000
    nonce: int = 0
    is_wrong: bool = False

    async def check_chain(self) -> None:
        if self.is_wrong:
            raise ChainError("the node is on chain 1, not on 137")

    async def price(self, _signable: object, _sender: str) -> Price:
        self.nonce += 1
        return Price(nonce=self.nonce, gas=self.gas, max_fee=100 * GWEI, max_priority_fee=30 * GWEI)

    async def check_gas(self, _transaction: object, _sender: str) -> None:
        return None

    async def receipt(self, tx_hash: str) -> Receipt | None:
        return self.receipts(tx_hash)

    async def count(self, _address: str, _as_of: str) -> int:
        return self.nonce


def mined(*, succeeded: bool) -> Callable[[str], Receipt | None]:
    return lambda tx_hash: Receipt(tx_hash, succeeded, 7, 1)


NEEDED = approvals(POLYGON, ExchangeVersion.V1)


def approving(given: dict[str, bool], chain: Chain, **answers: Any) -> tuple[Approvals, Line]:
    made, line = wallet(
        (on_wallet.ALLOWANCES, AllowancesBody(allowances=given)),
        (on_wallet.BROADCAST, answers.get("broadcast", BroadcastBody(success=True))),
        # A fresh one, as it counts its nonces.
        chain=replace(chain),
    )
    return made.approve(), line


def test_only_the_approvals_that_lack_are_given() -> None:
    given = {one.key: True for one in NEEDED[2:]}
    found, line = approving(given, Chain(mined(succeeded=True)))
    assert found == Approvals(
        set=(NEEDED[0].key, NEEDED[1].key), skipped=tuple(one.key for one in NEEDED[2:])
    )
    assert len(line.sent(on_wallet.BROADCAST)) == 2
    (asked,) = line.sent(on_wallet.ALLOWANCES)
    assert asked["path"] == {"address": ADDRESS}


@pytest.mark.parametrize(
    ("chain", "broadcast"),
    [
        (Chain(mined(succeeded=False)), BroadcastBody(success=True)),
        (Chain(mined(succeeded=True)), BroadcastBody(success=False, error="no")),
        (Chain(is_wrong=True), BroadcastBody(success=True)),
        (Chain(mined(succeeded=True), gas=1_500_001), BroadcastBody(success=True)),
    ],
)
def test_an_approval_that_came_to_nothing_has_failed(
    chain: Chain, broadcast: BroadcastBody
) -> None:
    given = {one.key: True for one in NEEDED[1:]}
    found, _ = approving(given, chain, broadcast=broadcast)
    assert (found.set, found.failed, found.managed) == ((), (NEEDED[0].key,), False)


def test_a_managed_wallet_needs_no_approvals() -> None:
    made, line = wallet((on.SETTINGS, linked_as(None, "native")))
    assert made.approve() == Approvals(managed=True)
    assert len(line.asked) == 1


@pytest.mark.slow
def test_a_days_transactions_count_together_and_a_new_day_begins_anew() -> None:
    # Of so dear ones a day pays thirteen.
    made, line = wallet(
        (on_wallet.ALLOWANCES, AllowancesBody(allowances={})),
        (on_wallet.BROADCAST, BroadcastBody(success=True)),
        chain=Chain(mined(succeeded=True), gas=1_500_000),
    )
    given = 0
    while not (found := made.approve()).failed:
        given += len(found.set)
    assert given + len(found.set) == 13
    assert made.approve().set == ()
    asyncio.run(line.clock.advance(86_400))
    assert made.approve().failed == ()


# -- orders --------------------------------------------------------------------------------


def market(**fields: Any) -> OneMarketBody:
    token = condition_bytes(CONDITION)
    known = {
        "polymarket_id": CONDITION,
        "polymarket_token_id": str(outcome_token(token, is_yes=True, is_neg_risk=False)),
        "polymarket_no_token_id": str(outcome_token(token, is_yes=False, is_neg_risk=False)),
        "polymarket_neg_risk": False,
        "tick_size": 0.01,
        "fee_rate_bps": 400,
    } | fields
    body = MarketBody.model_construct(**known)
    return OneMarketBody.model_construct(market=body)


def request(**fields: Any) -> TradeRequest:
    known = {"market_id": "m1", "side": YES, "amount": 10.0, "venue": Venue.EVM} | fields
    return TradeRequest.model_validate(known)


def test_a_buy_is_signed_for_its_money_at_its_price() -> None:
    made, line = wallet((on.MARKET, market()))
    signed = made.sign_order(request(price=0.4, order_type=OrderType.GTC)).signed_order
    assert signed is not None
    body = signed.model_dump(by_alias=True, exclude_none=True)
    read = read_order(body, ExchangeVersion.V1)
    order = read.order
    token = outcome_token(condition_bytes(CONDITION), is_yes=True, is_neg_risk=False)
    assert (order.maker, order.token_id, order.action.value) == (ADDRESS, token, "BUY")
    assert (order.maker_amount, order.taker_amount) == (10_000_000, 25_000_000)
    assert (order.fee_rate_bps, order.expires_s) == (400, 0)
    assert order_signer(read, is_neg_risk=False) == ADDRESS
    assert line.sent(on.MARKET) == [{"path": {"market_id": "m1"}}]
    assert line.sent(on.EXECUTABLE_PRICE) == []


def test_a_sale_is_signed_for_its_shares_of_the_other_side_at_the_price_of_now() -> None:
    made, line = wallet(
        (on.MARKET, market(polymarket_neg_risk=True, polymarket_no_token_id=None)),
        (on.EXECUTABLE_PRICE, ExecutablePriceBody(success=True, price=0.25)),
        exchange=ExchangeVersion.V2,
    )
    wish = request(action=Action.SELL, side=NO, amount=0.0, shares=8.0)
    signed = made.sign_order(wish).signed_order
    assert signed is not None
    body = signed.model_dump(by_alias=True, exclude_none=True)
    read = read_order(body, ExchangeVersion.V2)
    order = read.order
    token = outcome_token(condition_bytes(CONDITION), is_yes=False, is_neg_risk=True)
    assert (order.token_id, order.action.value) == (token, "SELL")
    assert (order.maker_amount, order.taker_amount) == (8_000_000, 2_000_000)
    assert (order.at_ms, order_signer(read, is_neg_risk=True)) == (int(NOW * 1_000), ADDRESS)
    (asked,) = line.sent(on.EXECUTABLE_PRICE)
    assert asked["path"] == {"market_id": "m1"}
    assert (asked["query"].side, asked["query"].action) == (NO, Action.SELL)


def test_an_order_that_dies_is_signed_with_its_hour() -> None:
    made, _ = wallet((on.MARKET, market()))
    wish = request(price=0.4, order_type=OrderType.GTD, expiration=NOW + 900)
    signed = made.sign_order(wish).signed_order
    assert signed is not None
    assert signed.expiration == str(int(NOW) + 900)


@pytest.mark.parametrize(
    ("fields", "settings"),
    [
        ({"venue": Venue.SOL}, linked_as(ADDRESS)),
        ({"dry_run": True}, linked_as(ADDRESS)),
        ({}, linked_as(None, "native")),
    ],
)
def test_an_order_that_needs_no_signature_stays_as_it_is(
    fields: dict[str, Any], settings: SettingsBody
) -> None:
    made, line = wallet((on.SETTINGS, settings))
    wish = request(price=0.4, **fields)
    assert made.sign_order(wish) is wish
    assert line.sent(on.MARKET) == []


def test_a_token_that_is_not_that_of_the_condition_is_not_signed_for() -> None:
    made, _ = wallet((on.MARKET, market(polymarket_token_id=str(77))))
    with pytest.raises(PolicyRefusedError, match="not that of the condition"):
        made.sign_order(request(price=0.4))


def test_a_market_keeps_the_token_that_was_signed_for_first() -> None:
    nameless = {"polymarket_token_id": None, "polymarket_no_token_id": None}
    other = market(polymarket_id="0x" + "ab" * 32, **nameless)
    kind = market(polymarket_neg_risk=True, **nameless)
    made, _ = wallet((on.MARKET, [market(), other, kind, market(), other]))
    buy = request(price=0.4)
    first = made.sign_order(buy).signed_order
    for _ in range(2):
        with pytest.raises(PolicyRefusedError, match="not the one that was signed for before"):
            made.sign_order(request(price=0.4, action=Action.SELL, amount=0.0, shares=8.0))
    again = made.sign_order(buy).signed_order
    assert first is not None
    assert again is not None
    assert first.token_id == again.token_id
    # The other side of a market is a token of its own.
    assert made.sign_order(request(price=0.4, side=NO)).signed_order is not None


def test_a_market_without_a_price_is_not_signed_for() -> None:
    nothing = ExecutablePriceBody(success=False, price=0.0)
    made, _ = wallet((on.MARKET, market()), (on.EXECUTABLE_PRICE, nothing))
    with pytest.raises(ValueError, match="has no price"):
        made.sign_order(request())


# -- redemption ----------------------------------------------------------------------------


def test_what_the_service_answers_without_a_transaction_is_the_result() -> None:
    refused = RedeemBody(
        success=False, tx_hash="0xab", payout=3.0, error="no", error_code="X", retryable=True
    )
    made, line = wallet((on_wallet.REDEEM, refused))
    assert made.redeem("m1", "no") == Redeemed(
        "m1", "no", success=False, tx_hash="0xab", payout=0.0, error="no", code="X", retryable=True
    )
    (asked,) = line.sent(on_wallet.REDEEM)
    assert (asked["body"].market_id, asked["body"].side) == ("m1", NO)
    paid = RedeemBody(success=True, tx_hash="0xcd", payout=3.0)
    made, _ = wallet((on_wallet.REDEEM, paid))
    assert made.redeem("m1", "yes") == Redeemed(
        "m1", "yes", success=True, tx_hash="0xcd", payout=3.0
    )


BYTES = condition_bytes(CONDITION)


def token_in(collateral: str, *, is_yes: bool) -> int:
    """The token of a side of the condition that stands on a currency."""
    return position_id(collateral, collection_id(BYTES, 1 if is_yes else 2))


@dataclass
class Contracts:
    """The contracts of a condition that paid both sides half; of each token five are held."""

    held: int = 5_000_000
    owners: list[str] = field(default_factory=list[str])

    async def payout_denominator(self, _condition: bytes) -> int:
        return 2

    async def payout_numerator(self, _condition: bytes, **_: bool) -> int:
        return 1

    async def token_id(
        self, _condition: bytes, *, is_yes: bool, collateral: str, is_neg_risk: bool
    ) -> int:
        money = POLYGON.wrapped_collateral if is_neg_risk else collateral
        return token_in(money, is_yes=is_yes)

    async def token_balance(self, owner: str, _token: int) -> int:
        self.owners.append(owner)
        return self.held


def standard(collateral: str = POLYGON.usdc_bridged, sets: tuple[int, ...] = (1, 2)) -> Any:
    return RedeemPositions(collateral, ZERO_32, BYTES, sets)


def redeeming(
    call: Any,
    exchange: ExchangeVersion = ExchangeVersion.V1,
    *,
    position: dict[str, Any] | None = None,
    chain: "Chain | None" = None,
    contracts: "Contracts | None" = None,
    **proposed: Any,
) -> tuple[OwnWallet, Line]:
    """A wallet that is to redeem what a position names, by the call that the service proposes."""
    is_neg_risk = isinstance(call, RedeemNegRisk)
    to = POLYGON.neg_risk_adapter if is_neg_risk else POLYGON.conditional_tokens
    money = POLYGON.wrapped_collateral if is_neg_risk else POLYGON.usdc_bridged
    fields: dict[str, Any] = {
        "market_id": "m1",
        "condition_id": CONDITION,
        "token_id_yes": str(token_in(money, is_yes=True)),
        "token_id_no": str(token_in(money, is_yes=False)),
        "neg_risk": is_neg_risk,
    } | (position or {})
    unsigned: dict[str, Any] = {
        "to": to,
        "data": "0x" + encode_call(call).hex(),
        "sender": ADDRESS,
        "gas": 200_000,
        "chain_id": 137,
    } | proposed
    others = PositionBody(market_id="m0", condition_id="0x" + "11" * 32)
    rows = (others, PositionBody(**fields))
    made, line = wallet(
        (
            on_wallet.REDEEM,
            RedeemBody(success=True, unsigned_tx=UnsignedTxBody.model_construct(**unsigned)),
        ),
        (on.POSITIONS, PositionsBody(agent_id="a", positions=rows)),
        (on_wallet.BROADCAST, BroadcastBody(success=True)),
        (on_wallet.REPORT_REDEMPTION, ReportBody(success=True, payout=2.5)),
        exchange=exchange,
        # What was signed against the rules would be seen to succeed.
        chain=chain or Chain(mined(succeeded=True)),
        contracts=contracts or Contracts(),
    )
    return made, line


@pytest.mark.parametrize(
    ("call", "exchange", "side", "signed"),
    [
        (standard(), ExchangeVersion.V1, "yes", standard(sets=(1,))),
        (standard(), ExchangeVersion.V1, "no", standard(sets=(2,))),
        # A position of the older currency is redeemed in the second generation too.
        (standard(), ExchangeVersion.V2, "no", standard(sets=(2,))),
        (
            RedeemNegRisk(BYTES, (7, 5_000_000)),
            ExchangeVersion.V1,
            "no",
            RedeemNegRisk(BYTES, (0, 5_000_000)),
        ),
    ],
)
def test_a_redemption_is_signed_for_the_side_and_what_the_chain_says_is_held(
    call: Any, exchange: ExchangeVersion, side: str, signed: Any
) -> None:
    contracts, looks = Contracts(), list[str]()

    def receipt(tx_hash: str) -> Receipt | None:
        """Mined once it was sent."""
        looks.append(tx_hash)
        return Receipt(tx_hash, succeeded=True, block=7, cost=1) if looks[1:] else None

    made, line = redeeming(call, exchange, contracts=contracts, chain=Chain(receipt))
    assert made.redeem("m1", side).success
    (sent,) = line.sent(on_wallet.BROADCAST)
    tx = decode_transaction(sent["body"].signed_tx).transaction
    proposed = line.answers[on_wallet.REDEEM.path][0].unsigned_tx
    assert (tx.to.lower(), tx.data) == (proposed.to.lower(), encode_call(signed))
    assert contracts.owners == [ADDRESS]
    (asked,) = line.sent(on.POSITIONS)
    assert (asked["query"].venue, asked["query"].status) == (Venue.EVM, "all")


@pytest.mark.parametrize(
    ("position", "proposed"),
    [
        # A token of another condition, and one of the other side.
        ({"token_id_yes": "77"}, {}),
        ({"token_id_yes": str(token_in(POLYGON.usdc_bridged, is_yes=False))}, {}),
        ({"token_id_yes": None}, {}),
        ({"condition_id": None}, {}),
        ({"market_id": "m2"}, {}),
        ({}, {"to": "0x" + "ab" * 20}),
        ({}, {"sender": "0x" + "ab" * 20}),
        ({}, {"chain_id": 1}),
        ({}, {"value": 1}),
        ({}, {"gas": 10**9}),
        ({}, {"data": "0x" + encode_call(NEEDED[0].call).hex()}),
    ],
)
def test_what_is_not_this_redemption_is_never_signed(
    position: dict[str, Any], proposed: dict[str, Any]
) -> None:
    made, line = redeeming(standard(), position=position, **proposed)
    found = made.redeem("m1", "yes")
    assert (found.success, found.code, found.retryable) == (False, "not_signed", False)
    assert found.error
    assert line.sent(on_wallet.BROADCAST) == []
    # Nothing is under way: the next try asks anew.
    made.redeem("m1", "yes")
    assert len(line.sent(on_wallet.REDEEM)) == 2


def test_no_more_shares_are_redeemed_than_the_chain_says_are_held() -> None:
    made, line = redeeming(RedeemNegRisk(BYTES, (0, 5_000_001)))
    found = made.redeem("m1", "no")
    assert (found.success, found.code) == (False, "not_signed")
    assert line.sent(on_wallet.BROADCAST) == []


def test_what_the_chain_does_not_pay_is_named_and_not_signed() -> None:
    made, line = redeeming(standard(), contracts=Contracts(held=0))
    found = made.redeem("m1", "yes")
    assert (found.success, found.code) == (False, "already_redeemed")
    assert not found.retryable
    assert line.sent(on_wallet.BROADCAST) == []


def test_a_chain_without_an_answer_may_be_asked_again() -> None:
    made, line = redeeming(standard(), chain=Chain(is_wrong=True))
    found = made.redeem("m1", "yes")
    assert (found.success, found.code, found.retryable) == (False, "not_signed", True)
    assert line.sent(on_wallet.BROADCAST) == []


def test_a_redemption_is_sent_once_and_its_payout_reported() -> None:
    hashes = list[str]()

    def receipt(tx_hash: str) -> Receipt | None:
        hashes.append(tx_hash)
        return Receipt(tx_hash, succeeded=True, block=7, cost=1) if hashes[1:] else None

    made, line = redeeming(standard(), chain=Chain(receipt))
    found = made.redeem("m1", "yes")
    assert found == Redeemed("m1", "yes", success=True, tx_hash=hashes[0], payout=2.5)
    assert len(line.sent(on_wallet.BROADCAST)) == 1


@dataclass
class Counted(Chain):
    """A chain that has taken so many transactions of the wallet."""

    accepted: int = 0

    async def count(self, address: str, as_of: str) -> int:
        assert (address, as_of) == (ADDRESS, "latest")
        return self.accepted


@pytest.mark.parametrize(("accepted", "is_kept"), [(0, True), (1, True), (2, False)])
def test_what_the_relay_refused_is_forgotten_only_where_its_nonce_is_used(
    *, accepted: int, is_kept: bool
) -> None:
    made, line = redeeming(standard(), chain=Counted(accepted=accepted))
    line.answers[on_wallet.BROADCAST.path] = [BroadcastBody(success=False, error="too busy")]
    found = made.redeem("m1", "yes")
    assert (found.success, found.error, found.code, found.retryable) == (
        False,
        "too busy",
        "not_broadcast",
        True,
    )
    again = made.redeem("m1", "yes")
    assert (found.tx_hash == again.tx_hash) is is_kept
    assert len(line.sent(on_wallet.REDEEM)) == (1 if is_kept else 2)


def test_a_report_that_the_service_does_not_believe_is_made_again() -> None:
    made, line = redeeming(standard())
    disbelieved = ReportBody(success=False, error="wait", error_code="PENDING", retryable=True)
    line.answers[on_wallet.REPORT_REDEMPTION.path].insert(0, disbelieved)
    found = made.redeem("m1", "yes")
    assert found == Redeemed(
        "m1",
        "yes",
        success=False,
        tx_hash=found.tx_hash,
        error="wait",
        code="PENDING",
        retryable=True,
    )
    assert made.redeem("m1", "yes") == Redeemed(
        "m1", "yes", success=True, tx_hash=found.tx_hash, payout=2.5
    )
    bodies = [asked["body"] for asked in line.sent(on_wallet.REPORT_REDEMPTION)]
    told = [(body.market_id, body.side, body.tx_hash) for body in bodies]
    assert told == [("m1", YES, found.tx_hash)] * 2
    # Its receipt was there, and it is over then: the next one is asked for.
    assert len(line.sent(on_wallet.REDEEM)) == 1
    made.redeem("m1", "yes")
    assert len(line.sent(on_wallet.REDEEM)) == 2


def test_a_transaction_that_failed_on_the_chain_is_given_up() -> None:
    made, line = redeeming(standard(), chain=Chain(mined(succeeded=False)))
    found = made.redeem("m1", "yes")
    assert (found.success, found.error, found.code) == (
        False,
        "the transaction failed on the chain",
        "reverted",
    )
    assert line.sent(on_wallet.REPORT_REDEMPTION) == []
    assert made.redeem("m1", "yes").tx_hash != found.tx_hash


@pytest.mark.parametrize(
    ("error", "code", "retryable"),
    [
        (ChainError("no line"), "chain", True),
        (SigningError("odd"), "chain", False),
        (UnreachableError("gone", called_of(on.SETTINGS, {})), "request", True),
        (AnswerError("garbled", called_of(on.SETTINGS, {})), "request", False),
    ],
)
def test_an_error_that_ends_a_redemption_is_its_result(
    *, error: Any, code: str, retryable: bool
) -> None:
    found = not_redeemed("m1", "no", error)
    assert found == Redeemed(
        "m1", "no", success=False, error=str(error), code=code, retryable=retryable
    )


def test_the_service_does_not_redeem_what_needs_a_key() -> None:
    unsigned = UnsignedTxBody.model_construct()
    line = Line({on_wallet.REDEEM.path: [RedeemBody(success=True, unsigned_tx=unsigned)]})
    found = redeemed_by_service(line, "m1", "yes")  # type: ignore[arg-type]  # as above
    assert (found.success, found.code) == (False, "no_signing_key")
    line = Line({on_wallet.REDEEM.path: [RedeemBody(success=True, payout=4.0)]})
    found = redeemed_by_service(line, "m1", "yes")  # type: ignore[arg-type]
    assert found == Redeemed("m1", "yes", success=True, payout=4.0)


def test_without_a_key_there_is_no_wallet() -> None:
    opening = Opening(f"https://{HOST}", "sk")
    line = Line({})
    assert wallet_of(line, "", opening, line.clock) is None  # type: ignore[arg-type]
    made = wallet_of(line, KEY, opening, line.clock)  # type: ignore[arg-type]
    assert made is not None
    assert made.address == ADDRESS
