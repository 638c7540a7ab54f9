"""An external wallet in tests: it links, approves, orders and redeems as a client does."""

import base64
import json
from dataclasses import dataclass, field
from typing import Any, Final

from kit.service.line import Line, change, line_to
from kit.service.stage import OPERATOR, Stage
from service_tui.engine.amm.market import Market
from service_tui.engine.books.catalogue import event_of
from service_tui.server.http.service import EMBEDDED_HOST
from service_tui.signing.book import ExchangeVersion
from service_tui.signing.credentials import sign_credentials
from service_tui.signing.link import Challenge, sign_challenge
from service_tui.signing.orders import OrderAction, OrderTerms, build_order, sign_order
from service_tui.signing.signer import LocalSigner
from service_tui.signing.transactions import Transaction, sign_transaction
from service_tui.terms import Side, Venue
from service_tui.units import ONE
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.public import MARKET, PLACE_TRADE
from service_tui.wire.endpoints.wallet import (
    ALLOWANCES,
    BROADCAST,
    CHAIN_RPC,
    DERIVE_CREDENTIALS,
    LINK_CHALLENGE,
    LINK_WALLET,
    REDEEM,
    REPORT_REDEMPTION,
)
from service_tui.wire.payment import PAYMENT_HEADER

Json = dict[str, Any]
KEYS: Final = tuple(f"{number:064x}" for number in (0xA11CE, 0xB0B, 0xCA401))
GWEI: Final = 10**9


@dataclass  # noqa: PLR0904  (all that a client does)
class External:
    """A key beside an agent's line."""

    line: Line
    signer: LocalSigner = field(default_factory=lambda: LocalSigner(KEYS[0]))
    salt: int = 0

    @property
    def address(self) -> str:
        return self.signer.address

    async def challenge(self, address: str | None = None) -> Json:
        return await self.line.said(LINK_CHALLENGE, address=address or self.address)

    async def link(self, **more: object) -> Json:
        asked = await self.challenge()
        challenge = Challenge(
            address=asked["address"],
            nonce=asked["nonce"],
            message=asked["message"],
            expires_s=self.line.stage.clock.now() + 300,
        )
        signature = sign_challenge(
            challenge, self.signer, host=EMBEDDED_HOST, now_s=self.line.stage.clock.now()
        )
        body = {"address": self.address, "signature": signature, "nonce": asked["nonce"]}
        body |= {"confirm_replace_managed": True}
        return await self.line.said(LINK_WALLET, json=body | more)

    def headers(self, at: float | None = None, nonce: int = 0) -> Json:
        now = int(self.line.stage.clock.now() if at is None else at)
        signed = sign_credentials(self.signer, now_s=now, nonce=nonce)
        return {name: getattr(signed, name) for name in _POLY}

    async def rpc(self, method: str, *params: object) -> Any:
        body = {"jsonrpc": "2.0", "method": method, "params": list(params), "id": 1}
        answer = await self.line.said(CHAIN_RPC, json=body)
        assert answer["id"] == 1
        return answer.get("result", answer.get("error"))

    async def nonce(self) -> int:
        return int(await self.rpc("eth_getTransactionCount", self.address, "pending"), 16)

    async def sign(self, to: str, data: str, **more: Any) -> str:
        price = int(await self.rpc("eth_gasPrice"), 16)
        fields: Json = {
            "nonce": more["nonce"] if "nonce" in more else await self.nonce(),
            "max_priority_fee": 30 * GWEI,
            "max_fee": 2 * price,
            "gas": 234_000,
            "to": to,
            "data": bytes.fromhex(data[2:]),
        }
        return sign_transaction(Transaction(**fields | more), self.signer).hex

    async def send(self, raw: str) -> Json:
        return await self.line.said(BROADCAST, json={"signed_tx": raw})

    async def approve(self, **query: str) -> int:
        """Send every approval that is missing; how many."""
        asked = await self.line.said(
            ALLOWANCES, path={"address": self.address}, include_tx_params="true", **query
        )
        sent = 0
        for one in asked["transactions"]:
            if not one["done"]:
                taken = await self.send(await self.sign(one["to"], one["data"], gas=100_000))
                assert taken["success"], taken
                sent += 1
        await self.line.wait(5)
        return sent

    async def activate(self) -> None:
        assert (await self.link())["success"]
        await self.line.said(DERIVE_CREDENTIALS, json=self.headers())
        await self.approve()

    async def order(self, market: Market, amount: float, **more: Any) -> Json:
        """The body of a signed buy of YES, or of what `more` says."""
        known = (await self.line.said(MARKET, path={"market_id": market.market_id}))["market"]
        side, action = more.pop("side", "yes"), more.pop("action", "buy")
        price = more.pop("price", None)
        if price is None:
            price = known["best_ask"] if side == "yes" else round(1 - known["best_bid"], 4)
        token = known["polymarket_token_id" if side == "yes" else "polymarket_no_token_id"]
        size = round(amount * ONE)
        wish = OrderTerms(
            token_id=int(token),
            action=OrderAction(action.upper()),
            price=round(price * ONE),
            spend=size if action == "buy" else None,
            shares=None if action == "buy" else size,
            tick=round(known["tick_size"] * ONE),
            is_neg_risk=known["polymarket_neg_risk"],
            is_immediate=more.get("order_type", "FAK" if action == "buy" else "GTC") == "FAK",
        )
        self.salt += 1
        exchange = more.pop("exchange", ExchangeVersion.V1)
        order = build_order(
            wish,
            self.address,
            exchange=exchange,
            salt=self.salt,
            now_ms=int(self.line.stage.clock.now() * 1_000),
            fee_rate_bps=known["fee_rate_bps"],
            expires_s=more.pop("expires_s", 0),
        )
        signed = sign_order(order, self.signer, is_neg_risk=known["polymarket_neg_risk"])
        body: Json = {
            "market_id": market.market_id,
            "side": side,
            "venue": "evm_venue",
            "action": action,
            "amount" if action == "buy" else "shares": amount,
            "signed_order": signed.body(),
        }
        return body | more

    async def buy(self, market: Market, amount: float, **more: Any) -> Json:
        return await self.line.said(PLACE_TRADE, json=await self.order(market, amount, **more))

    async def ask_redeem(self, market: Market, side: str) -> Json:
        return await self.line.said(REDEEM, json={"market_id": market.market_id, "side": side})

    async def report(self, market: Market, side: str, tx_hash: str) -> Json:
        body = {"market_id": market.market_id, "side": side, "tx_hash": tx_hash}
        return await self.line.said(REPORT_REDEMPTION, json=body)

    async def redeem(self, market: Market, side: str) -> Json:
        """The three steps; the answer of the last."""
        asked = await self.ask_redeem(market, side)
        assert asked["success"], asked
        tx = asked["unsigned_tx"]
        taken = await self.send(await self.sign(tx["to"], tx["data"]))
        assert taken["success"], taken
        await self.line.wait(5)
        return await self.report(market, side, taken["tx_hash"])


_POLY: Final = ("poly_address", "poly_signature", "poly_timestamp", "poly_nonce")


async def ready(stage: Stage, key: str = KEYS[0], **settings: object) -> External:
    """A claimed agent with real trading on, and a wallet that has everything."""
    rights: dict[str, object] = {
        "claimed": True,
        "real_trading_enabled": True,
        # Or what is to be redeemed could be sold before.
        "auto_risk_monitor_enabled": False,
    }
    await change(stage, **rights | settings)
    own = External(line_to(stage), LocalSigner(key))
    await own.activate()
    return own


async def operate(stage: Stage, endpoint: Endpoint[Any], /, **asked: Any) -> Json:
    """A call with the operator's key."""
    return await Line(stage, OPERATOR).said(endpoint, **asked)


def market_on_chain(stage: Stage, *, neg_risk: bool = False, soon: bool = False) -> Market:
    """A market of the EVM venue whose both sides can be bought."""
    world = stage.world
    found = [
        one
        for one in stage.open_markets()
        if one.listing.home is Venue.EVM and is_neg_risk(one) is neg_risk
    ]
    if soon:
        return min(found, key=lambda one: one.listing.resolved_at)
    times = (world.at, world.world_at)
    return min(found, key=lambda one: abs(world.venues.book(one.market_id).mid(times) - 0.5))


def is_neg_risk(market: Market) -> bool:
    return event_of(market.listing) is not None


def winner_of(market: Market) -> Side:
    return Side.YES if market.listing.outcome else Side.NO


def header_of(body: Json) -> dict[str, str]:
    return {PAYMENT_HEADER: base64.b64encode(json.dumps(body).encode()).decode()}
