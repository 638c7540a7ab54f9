"""Rows of the interface spec about wallets, credentials and redemption; see `conformity`."""

import re
from typing import Final

import pytest

from kit.service.scene import Json, Scene
from service_tui import ServiceClient
from service_tui.clock import ManualClock
from service_tui.sdk.wallets import TIMEOUT, WAIT_S, Redeemed
from service_tui.signing.credentials import sign_credentials
from service_tui.signing.signer import LocalSigner
from service_tui.signing.transactions import Transaction, sign_transaction
from wire.conformity import (
    AUTH,
    ENDPOINTS,
    ERRORS,
    EVM,
    LIFECYCLE,
    LIMITS,
    REDEMPTION,
    VENUES,
    WALLETS,
    WON,
    row,
)

DERIVE: Final = "POST /api/sdk/wallet/credentials/derive-via-proxy"
DERIVE_FIELDS: Final = f"Derive-credentials request body (`{DERIVE}`)"
FLOW: Final = "Redemption flow (external wallet, 3 steps)"
CONTRACTS: Final = {
    "0x4D97DCd97eC945f40cF65F87097ACe5EA0476045",
    "0xd91E80cF2E7be2e162c6513ceD06f1dD0dA35296",
}
GAS_USD: Final = 0.01


class StageClock(ManualClock):
    """Time of a client's waiting is that of the scene."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene.service.stage.clock.now())
        self.scene = scene

    def now(self):  # noqa: ANN201  (that of the base)
        return self.scene.service.stage.clock.now()

    def monotonic(self) -> float:
        return self.scene.service.stage.clock.now()

    async def sleep(self, seconds: float) -> None:
        self.scene.service.stage.clock.set(self.scene.service.stage.clock.now() + seconds)


class Own:
    """An agent with a wallet of its own, by the client library."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.who = scene.stranger(claimed=True, real=True)
        self.who.ok("PATCH", "user/settings", json={"auto_risk_monitor_enabled": False})
        # A key of its own each time: an address belongs to one agent.
        self.key = f"{len(scene.service.stage.world.agents) + 0xC0FFEE:064x}"
        self.signer = LocalSigner(self.key)
        self.client = ServiceClient(
            self.who.key, scene.service.url, private_key=self.key, clock=StageClock(scene)
        )

    def ready(self) -> "Own":
        assert self.client.link_wallet().success
        assert not self.client.set_approvals().failed
        return self

    def won(self) -> tuple[str, str]:
        """A position that has won and is ready: market and side."""
        market = self.scene.soonest(EVM)
        side = "yes" if market.listing.outcome else "no"
        bought = self.client.trade(market.market_id, side, 30, venue=EVM)
        assert bought.success, bought.error
        self.scene.pass_to(market.listing.resolved_at)
        return market.market_id, side

    def row(self, market_id: str) -> Json:
        rows = self.who.get("positions", venue=EVM, status="all")["positions"]
        return next(one for one in rows if one["market_id"] == market_id)

    def signed(self, to: str, data: str, **more: int) -> str:
        fields = {"nonce": 9, "gas": 234_000, "max_fee": 240 * 10**9} | more
        tx = Transaction(to=to, data=bytes.fromhex(data[2:]), max_priority_fee=30 * 10**9, **fields)
        return sign_transaction(tx, self.signer).hex


@row(VENUES, "text 1")
def native_usdc_is_not_accepted(scene: Scene) -> None:
    own = Own(scene)
    assert own.client.link_wallet().success
    path = f"agents/{own.who.agent_id}/wallet"
    assert scene.desk("PATCH", path, json={"native_usdc": 500})["native_usdc"] == 500
    # What is there in native USDC is no money to trade with.
    said = own.who.get("wallet")
    assert said["usdc"] == own.who.get("settings")["polymarket_usdc_balance"]
    advice = own.who.ok("POST", "troubleshoot", json={"error_text": "native USDC not accepted"})
    assert "USDC.e" in advice["fix"]


@row(WALLETS, "bullet 1")
@row(LIFECYCLE, WON)
def a_managed_wallet_is_redeemed_by_the_service(scene: Scene) -> None:
    who = scene.stranger(claimed=True, real=True)
    who.ok("PATCH", "user/settings", json={"auto_risk_monitor_enabled": False})
    market = scene.soonest(EVM)
    side = "yes" if market.listing.outcome else "no"
    shares = who.trade(market.market_id, side, 30, venue=EVM)["shares_bought"]
    cash = who.get("settings")["polymarket_usdc_balance"]
    scene.pass_to(market.listing.resolved_at)
    gained = who.get("settings")["polymarket_usdc_balance"] - cash
    assert gained == pytest.approx(shares)
    rows = who.get("positions", venue=EVM, status="all")["positions"]
    assert [one["lifecycle"] for one in rows] == ["redeemed"]


@row(WALLETS, "bullet 2", "bullet 4")
@row(ERRORS, "text 2")
@row(AUTH, "item 6")
def an_external_wallet_links_approves_and_signs_locally(scene: Scene) -> None:
    own = Own(scene)
    who, market_id = own.who, scene.market(EVM)
    with pytest.raises(ValueError, match="WALLET_PRIVATE_KEY"):
        ServiceClient(who.key, scene.service.url).link_wallet()
    assert own.client.link_wallet().success
    missing = own.client.trade(market_id, "yes", 20, venue=EVM)
    assert "allowance" in (missing.error or "")
    assert "activate trading" in (missing.error_hint or "")
    assert len(own.client.set_approvals().set) == 9
    assert own.client.set_approvals().set == ()
    assert own.client.trade(market_id, "yes", 20, venue=EVM).success
    unsigned = who.trade(market_id, "yes", 20, venue=EVM)
    assert unsigned["error_code"] == "SIGNATURE_REQUIRED"
    path = f"agents/{who.agent_id}/wallet"
    scene.desk("PATCH", path, json={"restricted": True})
    refused = own.client.trade(market_id, "yes", 20, venue=EVM, allow_rebuy=True)
    assert "restricted" in (refused.error or "")
    history = who.get("trades")["total_count"]
    again = ServiceClient(
        who.key, scene.service.url, private_key="7e" * 32, clock=StageClock(scene)
    )
    assert again.link_wallet().success
    again.set_approvals()
    assert who.get("trades")["total_count"] == history
    assert again.trade(market_id, "yes", 20, venue=EVM, allow_rebuy=True).success


def headers(own: Own) -> Json:
    signed = sign_credentials(own.signer, now_s=int(own.scene.service.stage.clock.now()))
    names = ("poly_address", "poly_signature", "poly_timestamp", "poly_nonce")
    return {name: getattr(signed, name) for name in names}


def linked(scene: Scene) -> Own:
    own = Own(scene)
    assert own.client.link_wallet().success
    return own


PATTERNS: Final = {
    "poly_address": r"^0x[0-9a-fA-F]{40}$",
    "poly_signature": r"^0x[0-9a-fA-F]{130}$",
    "poly_timestamp": r"^[0-9]{10}$",
    "poly_nonce": r"^[0-9]{1,20}$",
}


@row(DERIVE_FIELDS, *PATTERNS)
def a_field_of_the_signed_headers(scene: Scene, name: str) -> None:
    operation = scene.document()["paths"]["/api/sdk/wallet/credentials/derive-via-proxy"]["post"]
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    assert schema["properties"][name]["pattern"] == PATTERNS[name]
    assert name in schema["required"]
    own = Own(scene)
    good = headers(own)
    assert re.fullmatch(PATTERNS[name], good[name])
    for wrong in ("", "0x", "x" * 42, good[name] + "0" * 21):
        path = "wallet/credentials/derive-via-proxy"
        assert own.who.ask("POST", path, json=good | {name: wrong}).status_code == 422


@row(DERIVE_FIELDS, "text 1")
@row(ENDPOINTS, DERIVE)
@row(AUTH, "item 5")
def credentials_are_derived_from_the_wallets_own_headers(scene: Scene) -> None:
    own, path = linked(scene), "wallet/credentials/derive-via-proxy"
    good = headers(own)
    for name in good:
        left = {key: value for key, value in good.items() if key != name}
        assert own.who.ask("POST", path, json=left).status_code == 422
    foreign = headers(Own(scene))
    assert own.who.ask("POST", path, json=foreign).status_code == 403
    moved = good | {"poly_timestamp": str(int(good["poly_timestamp"]) + 1)}
    assert own.who.ask("POST", path, json=moved).status_code == 400
    assert own.who.ok("POST", path, json=good)["has_credentials"]


@row(REDEMPTION, "bullet 1")
@row(ENDPOINTS, "POST /api/sdk/redeem", "POST /api/sdk/wallet/broadcast-tx")
@row(ENDPOINTS, "POST /api/sdk/redeem/report")
@row(FLOW, "item 1", "item 2", "item 3")
@row(LIMITS, "Redemption gas cost (EVM venue)")
def three_steps_turn_a_position_into_money(scene: Scene) -> None:
    own = Own(scene).ready()
    market_id, side = own.won()
    asked = own.who.ok("POST", "redeem", json={"market_id": market_id, "side": side})
    tx = asked["unsigned_tx"]
    assert tx["to"] in CONTRACTS
    assert tx["data"].startswith("0x")
    elsewhere = own.signed("0x" + "ab" * 20, tx["data"])
    path = "wallet/broadcast-tx"
    refused = own.who.ok("POST", path, json={"signed_tx": elsewhere})
    assert (refused["success"], refused["error_code"]) == (False, "WRONG_TARGET")
    before = own.who.get("wallet")
    taken = own.who.ok("POST", path, json={"signed_tx": own.signed(tx["to"], tx["data"])})
    assert taken["success"]
    scene.wait(6)
    rpc = {"jsonrpc": "2.0", "method": "eth_getTransactionReceipt", "id": 1}
    receipt = own.who.ok("POST", "/api/rpc/polygon", json=rpc | {"params": [taken["tx_hash"]]})
    assert receipt["result"]["status"] == "0x1"
    after = own.who.get("wallet")
    cost = (before["gas"] - after["gas"]) * after["pol_usd"]
    assert cost == pytest.approx(GAS_USD, rel=0.2)
    report = {"market_id": market_id, "side": side, "tx_hash": taken["tx_hash"]}
    assert own.row(market_id)["redeemable"]
    assert own.who.ok("POST", "redeem/report", json=report)["success"]
    assert not own.row(market_id)["redeemable"]


@row(FLOW, "text 1")
@row(AUTH, "item 7")
@row(ERRORS, "confirmation timeout")
@row(LIMITS, "Redemption confirmation wait")
def the_helper_does_all_three_and_waits_a_minute(scene: Scene) -> None:
    own = Own(scene).ready()
    own.won()
    own.who.ok("PATCH", "agents/me/settings", json={"auto_redeem_enabled": False})
    assert own.client.auto_redeem() == []
    own.who.ok("PATCH", "agents/me/settings", json={"auto_redeem_enabled": True})
    scene.desk("PATCH", "chain", json={"delay_blocks": 100})
    before = scene.service.stage.clock.now()
    (late,) = own.client.auto_redeem()
    assert (late.success, late.code) == (False, TIMEOUT)
    assert late.tx_hash
    assert WAIT_S <= scene.service.stage.clock.now() - before < WAIT_S + 5
    scene.wait(200)
    scene.desk("PATCH", "chain", json={"delay_blocks": 1})
    (done,) = own.client.auto_redeem()
    # What was broadcast is followed: no second transaction.
    assert (done.success, done.tx_hash) == (True, late.tx_hash)
    assert own.client.auto_redeem() == []
    # On the Solana venue the dashboard alone redeems.
    market = scene.soonest("sol_venue")
    won = "yes" if market.listing.outcome else "no"
    assert own.who.trade(market.market_id, won, 30, venue="sol_venue")["success"]
    scene.pass_to(market.listing.resolved_at)
    manual = own.client.redeem(market.market_id, won)
    assert manual.code == "MANUAL_ONLY"
    assert (
        "dashboard"
        in own.who.ok("POST", "redeem", json={"market_id": market.market_id, "side": won})["fix"]
    )


@row(LIFECYCLE, f"{WON} (b)", f"{WON} (c)")
@row(ERRORS, "on-chain token balance is 0", "venue has not finalized the market", "position lost")
def a_redemption_that_brings_nothing_says_why(scene: Scene) -> None:
    own = Own(scene).ready()
    market = scene.soonest(EVM)
    won = "yes" if market.listing.outcome else "no"
    lost = "no" if won == "yes" else "yes"
    for side in (won, lost):
        bought = own.client.trade(market.market_id, side, 30, venue=EVM, allow_rebuy=True)
        assert bought.success, bought.error
    early = own.client.redeem(market.market_id, won)
    assert (early.code, early.retryable) == ("NOT_FINALIZED", True)
    body = {"market_id": market.market_id, "side": won}
    assert "10 to 30 minutes" in own.who.ok("POST", "redeem", json=body)["fix"]
    scene.pass_to(market.listing.resolved_at)
    losing = own.client.redeem(market.market_id, lost)
    assert (losing.success, losing.code) == (False, "POSITION_LOST")
    assert own.row(market.market_id)["lifecycle"] == "ready_to_redeem"
    # Redeemed past the client: the service finds the balance at 0, and marks it claimed.
    tx = own.who.ok("POST", "redeem", json=body)["unsigned_tx"]
    raw = own.signed(tx["to"], tx["data"])
    assert own.who.ok("POST", "wallet/broadcast-tx", json={"signed_tx": raw})["success"]
    scene.wait(6)
    again = own.client.redeem(market.market_id, won)
    assert again.code == "ALREADY_REDEEMED"
    assert "on-chain token balance is 0" in (again.error or "")
    assert own.row(market.market_id)["lifecycle"] == "redeemed"


@row("Auto-redeem pause", "text 1")
def too_little_gas_pauses_auto_redeem(scene: Scene) -> None:
    own = Own(scene).ready()
    path = f"agents/{own.who.agent_id}/wallet"
    own.won()
    scene.desk("PATCH", path, json={"gas": 0})
    (paused,) = own.client.auto_redeem()
    assert isinstance(paused, Redeemed)
    assert (paused.success, paused.code) == (False, "INSUFFICIENT_GAS")
    assert own.who.get("wallet")["auto_redeem_paused"]
    scene.desk("PATCH", path, json={"gas": 1})
    assert own.who.get("wallet")["auto_redeem_paused"] is None
    (resumed,) = own.client.auto_redeem()
    assert resumed.success
