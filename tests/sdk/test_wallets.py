"""A redemption by the client library, over a relay and a service that do not always answer well."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

import pytest

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
from service_tui.client.http_request import called_of
from service_tui.engine.chain_events import TxStatus
from service_tui.sdk.transport import SyncTransport
from service_tui.sdk.wallets import TIMEOUT
from service_tui.wire.chain import BroadcastBody, RpcBody, RpcErrorBody
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.public import AGENT, POSITIONS
from service_tui.wire.endpoints.wallet import BROADCAST, CHAIN_RPC, REDEEM, REPORT_REDEMPTION
from service_tui.wire.positions import PositionsBody
from wire.wallet_rows import Own

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

    def redeem(self) -> Any:
        return self.own.client.redeem(self.market_id, self.side)

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
    wallet = own.client._own_wallet()
    between = Between(wallet._transport)
    wallet._transport = between  # type: ignore[assignment]  # says what a line says
    yield Redeemer(own, between, market_id, side)
    scene.desk("PATCH", "chain", json={"delay_blocks": 1})
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
    redeemer: Redeemer, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, between = redeemer.own, redeemer.between
    own.who.ok("PATCH", "agents/me/settings", json={"auto_redeem_enabled": True})
    monkeypatch.setattr(own.client, "_transport", between)
    for name, (endpoint, error, is_retryable) in ENDED.items():
        between.instead = refusing(endpoint, error)
        (found,) = own.client.auto_redeem()
        ended = (found.success, found.code, found.retryable)
        assert ended == (False, "request", is_retryable), name
        assert found.error
        is_unread = endpoint in {AGENT, POSITIONS}
        assert found.market_id == ("" if is_unread else redeemer.market_id)
    between.instead = lambda _: None
    (done,) = own.client.auto_redeem()
    assert done.success
    assert redeemer.chain == [done.tx_hash]


def test_a_chain_that_fails_ends_no_round_of_redemptions(redeemer: Redeemer) -> None:
    redeemer.own.who.ok("PATCH", "agents/me/settings", json={"auto_redeem_enabled": True})
    redeemer.between.instead = no("try another time")
    assert redeemer.redeem().code == "not_broadcast"

    def instead(endpoint: Endpoint[Any]) -> Any:
        return RpcBody(error=RpcErrorBody(code=1, message="no")) if endpoint is CHAIN_RPC else None

    redeemer.between.instead = instead
    (found,) = redeemer.own.client.auto_redeem()
    assert (found.success, found.code, found.retryable) == (False, "chain", True)


GARBLED: tuple[dict[str, str | None], ...] = (
    {"condition_id": "0x12"},
    {"condition_id": "not hex"},
    {"condition_id": None},
    {"token_id_yes": "1e9", "token_id_no": "1e9"},
    {"token_id_yes": None, "token_id_no": None},
)


def test_a_position_that_is_garbled_is_not_signed_for(redeemer: Redeemer) -> None:
    row = redeemer.own.client._own_wallet()._position(redeemer.market_id)
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


def test_what_every_transaction_of_a_day_may_cost_is_summed_up(redeemer: Redeemer) -> None:
    own = redeemer.own
    assert redeemer.redeem().success
    sent = [
        tx.sent
        for tx in own.scene.service.stage.world.chain.txs.values()
        if tx.sent.sender.lower() == own.signer.address.lower()
    ]
    # The approvals, and the redemption after them.
    assert len(sent) > 1
    _, spent = own.client._own_wallet()._spent
    assert spent == sum(each.gas * each.max_fee for each in sent)
