"""Wallets over HTTP: linking, credentials, approvals, signed orders, paying for calls."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from eth_account import Account

from kit.service.line import Line, change, line_to
from kit.service.stage import Stage, open_stage
from kit.service.wallets import KEYS, External, Json, header_of, market_on_chain, operate, ready
from service_tui.addresses import checksummed, keccak256
from service_tui.engine.chain.chain import GAS_GRANT, PAY_GRANT, WEI
from service_tui.server.embedded import BASE_URL
from service_tui.server.http.payments import RECIPIENT
from service_tui.signing.approvals import approvals
from service_tui.signing.book import POLYGON, ExchangeVersion
from service_tui.signing.link import message_digest
from service_tui.signing.payments import PaymentOffer, PaymentPolicy, sign_payment
from service_tui.signing.signer import LocalSigner
from service_tui.terms import Plan, Venue, WalletKind
from service_tui.units import ONE
from service_tui.wire.endpoints.desk import DESK_PATCH_AGENT
from service_tui.wire.endpoints.fleet import DESK_SET_LEASH, PENDING_TRADES
from service_tui.wire.endpoints.public import (
    AGENT,
    PLACE_TRADE,
    PORTFOLIO,
    REGISTER,
    SETTINGS,
)
from service_tui.wire.endpoints.wallet import (
    ALLOWANCES,
    CHECK_CREDENTIALS,
    DERIVE_CREDENTIALS,
    DESK_PATCH_WALLET,
    LINK_CHALLENGE,
    LINK_WALLET,
    UNLINK_WALLET,
    WALLET,
)


@asynccontextmanager
async def staged(path: Path) -> AsyncGenerator[Stage]:
    async with open_stage(path, plan=Plan.ELITE, speed=0) as stage:
        await stage.clock.advance(1.5)
        yield stage


@pytest.mark.slow
async def test_a_wallet_is_linked_by_its_signature_and_told_everywhere(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        own = External(line_to(stage))
        before = await own.line.said(SETTINGS)
        managed = before["wallet_address"]
        assert (before["wallet_ownership"], before["linked_wallet_address"]) == ("native", None)
        assert checksummed(managed) == managed != own.address
        for endpoint in (SETTINGS, AGENT, WALLET, CHECK_CREDENTIALS):
            assert (await own.line.said(endpoint))["wallet_address"] == managed
        given = {"path": {"address": managed}}
        assert not (await own.line.said(ALLOWANCES, **given))["all_set"]
        await change(stage, claimed=True)
        assert (await own.line.said(ALLOWANCES, **given))["all_set"]
        wallet = await own.line.said(WALLET)
        assert (wallet["approvals_set"], wallet["approvals_missing"]) == (True, [])
        assert wallet["usdc"] == before["polymarket_usdc_balance"] == 1_000
        said = await own.link()
        assert (said["success"], said["wallet_address"]) == (True, own.address)
        for endpoint in (SETTINGS, AGENT, WALLET):
            row = await own.line.said(endpoint)
            assert (row["wallet_address"], row["wallet_ownership"]) == (own.address, "external")
        assert (await own.line.said(SETTINGS))["linked_wallet_address"] == own.address
        # Agent, key and money carry over.
        assert (await own.line.said(WALLET))["usdc"] == 1_000
        assert (await own.line.said(UNLINK_WALLET))["wallet_ownership"] == "native"
        assert (await own.line.said(WALLET))["wallet_address"] == managed


@pytest.mark.slow
async def test_a_link_that_proves_nothing_is_refused(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        own, other = External(line_to(stage)), External(line_to(stage), LocalSigner(KEYS[1]))
        asked = await own.challenge()
        good = {"address": own.address, "nonce": asked["nonce"], "confirm_replace_managed": True}
        forged = other.signer.sign(bytes(32)).hex()
        codes = [
            (await own.line.said(LINK_WALLET, json=good | {"signature": forged}))["error_code"],
            # A challenge is good once, right or wrong.
            (await own.line.said(LINK_WALLET, json=good | {"signature": forged}))["error_code"],
            (await own.link(confirm_replace_managed=False))["error_code"],
            (await own.link(signature_type=2))["error_code"],
            (await own.link(address=other.address))["error_code"],
        ]
        assert codes == [
            "WRONG_SIGNER",
            "CHALLENGE_UNKNOWN",
            "CONFIRM_REPLACE",
            "SIGNATURE_TYPE",
            "CHALLENGE_UNKNOWN",
        ]
        assert stage.world.chain.wallet_of(stage.agent_id) is None
        # Five an hour, of which four were asked for above.
        await own.challenge()
        refused = await own.line.ask(LINK_CHALLENGE, address=own.address)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "3600")
        said = refused.json()
        assert (said["error"], said["limit"]) == ("Rate limit exceeded", 5)
        assert said["detail"] == "5 of these an hour are answered"
        assert said["fix"] == "wait 3600 s and try again"
        assert said["x402_url"] == f"{stage.sim.service.address}{LINK_CHALLENGE.path}"


@pytest.mark.slow
async def test_an_address_gets_play_money_once_and_a_wallet_is_linked_three_times_a_day(
    tmp_path: Path,
) -> None:
    async with staged(tmp_path) as stage:
        own = External(line_to(stage))

        async def gas_and_pay() -> tuple[float, float]:
            row = await own.line.said(WALLET)
            return row["gas"], row["pay_usdc"]

        asked = await own.challenge(own.address.lower())
        assert (asked["address"], f"Wallet: {own.address}" in asked["message"]) == (
            own.address, True,
        )  # fmt: skip
        assert f"Agent: {stage.agent_id}" in asked["message"]
        assert (await own.link())["success"]
        assert await gas_and_pay() == (GAS_GRANT / WEI, PAY_GRANT / ONE)
        patch = {"path": {"agent_id": stage.agent_id}, "json": {"gas": 0.5, "pay_usdc": 1}}
        await operate(stage, DESK_PATCH_WALLET, **patch)
        await own.line.said(UNLINK_WALLET)
        # An own wallet takes the place of another, or of itself, without a word.
        assert (await own.link())["success"]
        assert await gas_and_pay() == (0.5, 1.0)
        assert (await own.link(confirm_replace_managed=False))["success"]
        asked = await own.challenge()
        signature = own.signer.sign(message_digest(asked["message"])).hex()
        body = {"address": own.address, "signature": signature, "nonce": asked["nonce"]}
        await own.line.said(LINK_WALLET, 429, json=body)


@pytest.mark.slow
async def test_a_disk_that_refuses_links_no_wallet_and_uses_no_challenge_up(
    tmp_path: Path,
) -> None:
    async with staged(tmp_path) as stage:
        own = External(line_to(stage))
        asked = await own.challenge()
        signature = own.signer.sign(message_digest(asked["message"])).hex()
        body = {"address": own.address, "signature": signature, "nonce": asked["nonce"]}
        body |= {"confirm_replace_managed": True}
        pages = "PRAGMA max_page_count="
        await stage.database.write(lambda disk: disk.execute(f"{pages}1"))
        order = {"side": "no", "amount": 1, "reasoning": "why " * 900}
        order["market_id"] = stage.open_markets()[0].market_id
        for _ in range(30):
            if (await own.line.ask(PLACE_TRADE, json=order)).status_code == 503:
                break
        await own.line.said(LINK_WALLET, 503, json=body)
        assert stage.world.chain.wallet_of(stage.agent_id) is None
        await stage.database.write(lambda disk: disk.execute(f"{pages}1000000"))
        await stage.clock.advance(10.0)
        assert (await own.line.said(LINK_WALLET, json=body))["success"]


@pytest.mark.slow
async def test_a_wallet_is_unlinked_ten_times_an_hour(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        own = External(line_to(stage))
        for _ in range(10):
            assert (await own.line.said(UNLINK_WALLET))["success"]
        said = await own.line.said(UNLINK_WALLET, 429)
        assert said["detail"] == "10 of these an hour are answered"
        await own.line.wait(3_601)
        assert (await own.line.said(UNLINK_WALLET))["success"]


@pytest.mark.slow
async def test_credentials_are_derived_three_times_a_minute(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        own = External(line_to(stage))
        await own.link()
        for number in range(3):
            await own.line.said(DERIVE_CREDENTIALS, json=own.headers(nonce=number))
        refused = await own.line.ask(DERIVE_CREDENTIALS, json=own.headers())
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")
        assert refused.json()["detail"] == "3 of these a minute are answered"
        # What is no such call at all costs none of them.
        await own.line.said(DERIVE_CREDENTIALS, 422, json={})
        await own.line.wait(61)
        await own.line.said(DERIVE_CREDENTIALS, json=own.headers())


@pytest.mark.slow
async def test_a_managed_wallet_is_told_that_it_needs_no_credentials(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        own = External(line_to(stage))
        managed = (await own.line.said(SETTINGS))["wallet_address"]
        body = own.headers() | {"poly_address": managed}
        said = await own.line.said(DERIVE_CREDENTIALS, 400, json=body)
        assert said["error"] == "the service holds the key of this wallet"
        assert said["fix"] == "a managed wallet needs none; for an own one link it first"
        # Of any other address the answer is the one about the account.
        await own.line.said(DERIVE_CREDENTIALS, 403, json=own.headers())


@pytest.mark.slow
async def test_a_challenge_expires_and_belongs_to_one_agent(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        own = External(line_to(stage))
        born = await own.line.said(REGISTER, json={"name": "other"})
        asked = await own.challenge()
        signature = "0x" + own.signer.sign(message_digest(asked["message"])).hex()
        body = {"address": own.address, "signature": signature, "nonce": asked["nonce"]}
        body |= {"confirm_replace_managed": True}
        stranger = Line(stage, born["api_key"])
        refused = await stranger.said(LINK_WALLET, json=body)
        assert refused["error_code"] == "CHALLENGE_UNKNOWN"
        await own.line.wait(301)
        assert (await own.line.said(LINK_WALLET, json=body))["error_code"] == "CHALLENGE_UNKNOWN"


@pytest.mark.slow
async def test_a_wallet_belongs_to_one_agent_and_to_no_rehearsal(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        own = External(line_to(stage))
        assert (await own.link())["success"]
        born = await own.line.said(REGISTER, json={"name": "other"})
        second = External(Line(stage, born["api_key"]))
        assert (await second.link())["error_code"] == "WALLET_TAKEN"
        # The signature may come without its 0x, as published clients send it.
        other = External(line_to(stage), LocalSigner(KEYS[1]))
        asked = await other.challenge()
        signature = other.signer.sign(message_digest(asked["message"])).hex()
        body = {"address": other.address, "signature": signature, "nonce": asked["nonce"]}
        assert (await own.line.said(LINK_WALLET, json=body))["success"]
        assert (await second.link())["success"]
        managed = {"path": {"agent_id": stage.agent_id}, "json": {"wallet": "managed"}}
        await operate(stage, DESK_PATCH_AGENT, **managed)
        assert stage.world.chain.wallet_of(stage.agent_id) is None


@pytest.mark.slow
async def test_credentials_want_the_wallets_own_fresh_signature(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        own = External(line_to(stage))
        assert (await own.line.said(CHECK_CREDENTIALS))["has_credentials"] is True
        await own.line.said(DERIVE_CREDENTIALS, 403, json=own.headers())
        await own.link()
        assert (await own.line.said(CHECK_CREDENTIALS))["has_credentials"] is False
        good = own.headers()
        other = External(own.line, LocalSigner(KEYS[1])).headers()
        forged = good | {"poly_signature": other["poly_signature"]}
        await own.line.said(DERIVE_CREDENTIALS, 403, json=other)
        await own.line.said(DERIVE_CREDENTIALS, 400, json=forged)
        # Three a minute are answered.
        await own.line.wait(61)
        await own.line.said(DERIVE_CREDENTIALS, 400, json=good | {"poly_nonce": "1"})
        old = own.headers(stage.clock.now() - 3_600)
        await own.line.said(DERIVE_CREDENTIALS, 400, json=old)
        await own.line.wait(61)
        early = own.headers(stage.clock.now() + 3_600)
        await own.line.said(DERIVE_CREDENTIALS, 400, json=early)
        for name in good:
            await own.line.said(DERIVE_CREDENTIALS, 422, json=good | {name: "0x"})
            left = {key: value for key, value in good.items() if key != name}
            await own.line.said(DERIVE_CREDENTIALS, 422, json=left)
        assert (await own.line.said(CHECK_CREDENTIALS))["has_credentials"] is False
        said = await own.line.said(DERIVE_CREDENTIALS, json=good)
        assert said["has_credentials"] is True
        assert good["poly_signature"][2:] not in str(said)


@pytest.mark.slow
async def test_approvals_are_counted_as_they_come_on_the_chain(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        own = External(line_to(stage))
        await own.link()
        asked = await own.line.said(ALLOWANCES, path={"address": own.address.lower()})
        assert len(asked["allowances"]) == 9
        assert (asked["all_set"], asked["transactions"]) == (False, [])
        assert not any(asked["allowances"].values())
        refused = await own.line.said(ALLOWANCES, 422, path={"address": "0x12"})
        assert "40 hex digits" in str(refused)
        told = await own.line.said(
            ALLOWANCES, path={"address": own.address}, exchange_version="v2",
            include_tx_params="true",
        )  # fmt: skip
        wanted = approvals(POLYGON, ExchangeVersion.V2)
        assert [(one["key"], one["to"], one["about"]) for one in told["transactions"]] == [
            (one.key, one.to, one.about) for one in wanted
        ]
        assert {(one["from"], one["chainId"]) for one in told["transactions"]} == {
            (own.address, 137)
        }
        assert await own.approve() == 9
        after = await own.line.said(ALLOWANCES, path={"address": own.address})
        assert (after["all_set"], all(after["allowances"].values())) == (True, True)
        assert (await own.line.said(SETTINGS))["polymarket_allowances_set"] is True
        assert await own.approve() == 0


@pytest.mark.slow
async def test_the_checklist_names_what_is_missing_until_nothing_is(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        own = External(line_to(stage))

        async def missing() -> list[str]:
            said = await own.line.said(WALLET)
            assert said["ready"] is all(one["done"] for one in said["checks"])
            assert all(one["done"] or one["fix"] for one in said["checks"])
            return [one["name"] for one in said["checks"] if not one["done"]]

        assert await missing() == ["claimed", "enabled"]
        await change(stage, claimed=True, real_trading_enabled=True)
        assert await missing() == []
        await own.link()
        assert await missing() == ["credentials", "approvals"]
        await own.line.said(DERIVE_CREDENTIALS, json=own.headers())
        await own.approve()
        assert await missing() == []
        patch: dict[str, Any] = {"path": {"agent_id": stage.agent_id}}
        await operate(stage, DESK_PATCH_WALLET, **patch, json={"gas": 0, "restricted": True})
        assert await missing() == ["unrestricted", "gas"]


# -- signed orders -------------------------------------------------------------------------


@pytest.mark.slow
async def test_an_external_order_is_filled_by_its_signature_once(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        own = await ready(stage)
        market = market_on_chain(stage)
        unsigned = {"market_id": market.market_id, "side": "yes", "venue": "evm_venue"}
        refused = await own.line.said(PLACE_TRADE, json=unsigned | {"amount": 20})
        assert refused["error_code"] == "SIGNATURE_REQUIRED"
        body = await own.order(market, 20)
        filled = await own.line.said(PLACE_TRADE, json=body)
        assert filled["success"], filled["error"]
        assert filled["shares_bought"] >= 5
        assert filled["cost"] <= 20
        again = await own.line.said(PLACE_TRADE, json=body)
        assert (again["success"], again["error_code"]) == (False, "SIGNED_ORDER_REPLAYED")
        sold = await own.buy(market, 5.0, action="sell", price=0.01, order_type="FAK")
        assert sold["success"], sold["error"]
        quote = await own.line.said(PLACE_TRADE, json=unsigned | {"amount": 20, "dry_run": True})
        assert quote["success"]


ALTERED: Final[dict[str, dict[str, object]]] = {
    "amount": {"makerAmount": "30000000"},
    "shares": {"takerAmount": "99000000"},
    "token": {"tokenId": "12345"},
    "side": {"side": "SELL"},
    "salt": {"salt": 77},
    "maker": {"maker": "0x" + "ab" * 20, "signer": "0x" + "ab" * 20},
    "signature": {"signature": "0x" + "11" * 65},
    "fee": {"feeRateBps": "9"},
    "kind": {"signatureType": 2},
    "newest kind": {"signatureType": 3},
    "expiry": {"expiration": "1"},
    "taker": {"taker": "0x" + "ab" * 20},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ALTERED)
async def test_an_order_that_was_altered_is_refused(tmp_path: Path, name: str) -> None:
    async with staged(tmp_path) as stage:
        own = await ready(stage)
        body = await own.order(market_on_chain(stage), 20)
        body["signed_order"] |= ALTERED[name]
        said = await own.line.said(PLACE_TRADE, json=body)
        assert (said["success"], said["error_code"]) == (False, "SIGNED_ORDER_INVALID")
        assert "signed order refused" in said["error"]
        assert said["fix"]
        assert stage.world.venues.account(stage.agent_id, Venue.EVM).trades_count == 0


@pytest.mark.slow
@pytest.mark.parametrize("exchange", list(ExchangeVersion))
async def test_an_order_with_an_end_rests_until_then(
    tmp_path: Path, exchange: ExchangeVersion
) -> None:
    async with staged(tmp_path) as stage:
        stage.sim.service.exchange = exchange
        own = await ready(stage)
        market, dies_s = market_on_chain(stage), int(stage.clock.now()) + 600
        how = {"price": 0.05, "order_type": "GTD", "exchange": exchange}
        body = await own.order(market, 20, expires_s=dies_s, **how)
        assert body["signed_order"]["expiration"] == str(dies_s)
        for altered in ({"order_type": "GTC"}, {"expiration": dies_s + 60}):
            said = await own.line.said(PLACE_TRADE, json=body | altered)
            assert said["error_code"] == "SIGNED_ORDER_INVALID", altered
        # The request may repeat what is signed, or leave it to the signature.
        said = await own.line.said(PLACE_TRADE, json=body | {"expiration": dies_s})
        assert (said["success"], said["status"]) == (True, "submitted"), said
        second = await own.order(market, 20, expires_s=dies_s, **how)
        assert (await own.line.said(PLACE_TRADE, json=second))["success"]
        resting = stage.world.venues.orders(stage.agent_id)
        assert [one.expires_at for one in resting] == [dies_s] * 2
        await own.line.wait(700)
        assert stage.world.venues.orders(stage.agent_id) == []


@pytest.mark.slow
async def test_an_order_signed_for_something_else_is_refused(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        own = await ready(stage)
        market = market_on_chain(stage)
        good = await own.order(market, 20)
        for altered in (
            {"amount": 25},
            {"side": "no"},
            {"amount": 0, "shares": 20, "action": "sell"},
            {"price": 0.9},
        ):
            said = await own.line.said(PLACE_TRADE, json=good | altered)
            assert said["error_code"] == "SIGNED_ORDER_INVALID", altered
        # Signed for one exchange, dressed as an order for the other.
        second = (await own.order(market, 20, exchange=ExchangeVersion.V2))["signed_order"]
        mixed = second | {"timestamp": None, "feeRateBps": "0", "nonce": "0"}
        said = await own.line.said(PLACE_TRADE, json=good | {"signed_order": mixed})
        assert said["error_code"] == "SIGNED_ORDER_INVALID"
        other = External(own.line, LocalSigner(KEYS[1]))
        said = await own.line.said(PLACE_TRADE, json=await other.order(market, 20))
        assert "maker is not the linked wallet" in said["error"]


@pytest.mark.slow
@pytest.mark.parametrize(("first", "other"), [("v1", "v2"), ("v2", "v1")])
async def test_orders_of_both_exchanges_are_taken_where_they_are_approved(
    tmp_path: Path, first: str, other: str
) -> None:
    async with staged(tmp_path) as stage:
        await change(stage, claimed=True, real_trading_enabled=True)
        own = External(line_to(stage))
        assert (await own.link())["success"]
        await own.line.said(DERIVE_CREDENTIALS, json=own.headers())
        wallet = await own.line.said(WALLET)
        # Both collaterals are there from the first moment: it is the same play money.
        assert wallet["usdc"] == wallet["pusd"] == 1_000
        assert {name: len(one["missing"]) for name, one in wallet["by_version"].items()} == {
            "v1": 6,
            "v2": 12,
        }
        market = market_on_chain(stage)
        assert (await own.line.said(SETTINGS))["polymarket_allowances_set"] is False
        sent = await own.approve(exchange_version=first)
        assert (await own.line.said(SETTINGS))["polymarket_allowances_set"] is True
        assert sent == {"v1": 9, "v2": 12}[first]
        wallet = await own.line.said(WALLET)
        assert (wallet["approvals_set"], wallet["approvals_missing"]) == (True, [])
        versions = wallet["by_version"]
        assert [versions[one]["approvals_set"] for one in (first, other)] == [True, False]
        told = await own.line.said(ALLOWANCES, path={"address": own.address})
        assert (told["all_set"], told["by_version"]) == (True, versions)
        filled = await own.buy(market, 20, exchange=ExchangeVersion(first))
        assert filled["success"], filled["error"]
        refused = await own.buy(market, 20, exchange=ExchangeVersion(other))
        assert (refused["success"], refused["error_code"]) == (False, "ALLOWANCE_MISSING")
        assert f"on exchange {other}" in refused["error"]
        assert await own.approve(exchange_version=other) > 0
        assert (await own.buy(market, 20, exchange=ExchangeVersion(other)))["success"]


@pytest.mark.slow
async def test_a_signed_order_never_waits_for_the_operator(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        own = await ready(stage)
        body = await own.order(market_on_chain(stage), 20)
        await operate(
            stage, DESK_SET_LEASH, path={"agent_id": stage.agent_id}, json={"mode": "ask"}
        )
        said = await own.line.said(PLACE_TRADE, json=body)
        assert (said["success"], said["error_code"]) == (False, "CANNOT_WAIT")
        assert "wider leash" in said["fix"]
        assert (await own.line.said(PENDING_TRADES))["held"] == []


@pytest.mark.slow
async def test_a_restricted_or_unready_wallet_is_told_what_to_do(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        await change(stage, claimed=True, real_trading_enabled=True)
        own = External(line_to(stage))
        await own.link()
        market = market_on_chain(stage)
        body = await own.order(market, 20)

        async def code() -> str:
            return (await own.line.said(PLACE_TRADE, json=body))["error_code"] or ""

        assert await code() == "CREDENTIALS_MISSING"
        await own.line.said(DERIVE_CREDENTIALS, json=own.headers())
        assert await code() == "ALLOWANCE_MISSING"
        await own.approve()
        patch: dict[str, Any] = {"path": {"agent_id": stage.agent_id}}
        await operate(stage, DESK_PATCH_WALLET, **patch, json={"restricted": True})
        assert await code() == "WALLET_RESTRICTED"
        # A new wallet: agent, key and history carry over.
        fresh = External(own.line, LocalSigner(KEYS[1]))
        await fresh.activate()
        assert (await fresh.buy(market, 20))["success"]


# -- paying for a call above the rate ------------------------------------------------------


def paid(own: External, offer: Json, number: int, **more: Any) -> Json:
    """A payment of an offer, or of what `more` makes of it."""
    signed = sign_payment(
        PaymentOffer(
            host="127.0.0.1",
            scheme=offer["scheme"],
            network=offer["network"],
            asset=offer["asset"],
            pay_to=offer["payTo"],
            amount=int(offer["maxAmountRequired"]),
            life_s=offer["maxTimeoutSeconds"],
        ),
        PaymentPolicy(host="127.0.0.1", day_max=1_000_000),
        own.signer,
        now_s=int(own.line.stage.clock.now()),
        nonce=number.to_bytes(32, "big"),
        paid_today=0,
    )
    said = signed.authorization
    authorization = {
        "from": said.payer,
        "to": said.pay_to,
        "value": str(said.amount),
        "validAfter": str(said.after_s),
        "validBefore": str(said.before_s),
        "nonce": "0x" + said.nonce.hex(),
    }
    payload = {"signature": signed.signature, "authorization": authorization | more}
    return {"x402Version": 1, "scheme": "exact", "network": "base", "payload": payload}


@pytest.mark.slow
async def test_a_call_above_the_rate_is_paid_for_exactly_once(tmp_path: Path) -> None:
    async with open_stage(tmp_path, plan=Plan.FREE, speed=0) as stage:
        stage.sim.service.operator_agent = None
        own = External(line_to(stage))
        await own.link()
        headers = {"Authorization": f"Bearer {stage.key}"}
        async with httpx.AsyncClient(
            transport=stage.sim.transport, base_url=BASE_URL, headers=headers
        ) as client:

            async def ask(body: Json | None = None) -> httpx.Response:
                return await client.get(PORTFOLIO.path, headers=header_of(body) if body else {})

            while (refused := await ask()).status_code == 200:
                pass
            said = refused.json()
            assert (refused.status_code, said["x402_price"]) == (429, "$0.005")
            (offer,) = said["accepts"]
            assert (offer["maxAmountRequired"], offer["payTo"]) == ("5000", RECIPIENT)
            assert offer["resource"] == said["x402_url"]
            good = paid(own, offer, 1)
            answer = await ask(good)
            assert answer.status_code == 200
            assert answer.headers["X-PAYMENT-RESPONSE"]
            assert stage.world.chain.pay_balance(own.address) == 995_000
            again = await ask(good)
            assert (again.status_code, again.json()["accepts"]) == (402, [offer])
            assert "used before" in again.json()["error"]
            other = External(own.line, LocalSigner(KEYS[1]))
            bad = {
                "not the linked wallet": paid(other, offer, 2),
                "somebody else": paid(own, offer, 3, to="0x" + "ab" * 20),
                "not the price": paid(own, offer, 4, value="4999"),
                "expired": paid(own, offer, 5, validBefore="5"),
                "too long": paid(own, offer, 6, validBefore="99999999999"),
                "not the payer's": paid(own, offer, 7, nonce="0x" + "77" * 32),
                "another chain": paid(own, offer, 8) | {"network": "elsewhere"},
                "form of the protocol": {"x402Version": 2},
            }
            for why, body in bad.items():
                answer = await ask(body)
                assert answer.status_code == 402, why
                assert why in answer.json()["error"]
            assert (await ask()).status_code == 429
            assert stage.world.chain.pay_balance(own.address) == 995_000
            assert stage.world.ledger.total() == 0


@pytest.mark.slow
async def test_settings_and_wallet_agree_on_the_approvals(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        own = line_to(stage)
        for claimed in (False, True):
            for kind in (WalletKind.MANAGED, WalletKind.EXTERNAL):
                await change(stage, claimed=claimed, wallet=kind)
                settings, wallet = await own.said(SETTINGS), await own.said(WALLET)
                assert settings["polymarket_allowances_set"] == wallet["approvals_set"]
                assert settings["wallet_address"] == wallet["wallet_address"]
        # Nobody holds a wallet that is not linked yet, and nothing can have been approved for it.
        assert settings["polymarket_allowances_set"] is False


def signed_alone(own: External, offer: Json, number: int) -> Json:
    """A payment of any price: our own signer pays the documented one alone."""
    now = int(own.line.stage.clock.now())
    authorization = {
        "from": own.address,
        "to": offer["payTo"],
        "value": int(offer["maxAmountRequired"]),
        "validAfter": now - 5,
        "validBefore": now + 60,
        "nonce": "0x" + number.to_bytes(32, "big").hex(),
    }
    kinds = {
        "EIP712Domain": [
            {"name": "name", "type": "string"},
            {"name": "version", "type": "string"},
            {"name": "chainId", "type": "uint256"},
            {"name": "verifyingContract", "type": "address"},
        ],
        "TransferWithAuthorization": [
            {"name": name, "type": kind}
            for name, kind in (
                ("from", "address"),
                ("to", "address"),
                ("value", "uint256"),
                ("validAfter", "uint256"),
                ("validBefore", "uint256"),
                ("nonce", "bytes32"),
            )
        ],
    }
    domain = {
        "name": offer["extra"]["name"],
        "version": offer["extra"]["version"],
        "chainId": 8453,
        "verifyingContract": offer["asset"],
    }
    typed = {
        "types": kinds,
        "primaryType": "TransferWithAuthorization",
        "domain": domain,
        "message": authorization,
    }
    signature = Account.from_key(KEYS[0]).sign_typed_data(full_message=typed).signature.hex()
    texts = {name: str(value) for name, value in authorization.items()}
    payload = {"signature": "0x" + signature.removeprefix("0x"), "authorization": texts}
    return {"x402Version": 1, "scheme": "exact", "network": "base", "payload": payload}


@pytest.mark.slow
async def test_a_forecast_is_paid_for_with_each_call_and_costs_nothing_when_refused(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, plan=Plan.FREE, speed=0) as stage:
        stage.sim.service.operator_agent = None
        own = External(line_to(stage))
        await own.link()
        market_id = stage.open_markets()[0].market_id
        headers = {"Authorization": f"Bearer {stage.key}"}
        async with httpx.AsyncClient(
            transport=stage.sim.transport, base_url=BASE_URL, headers=headers
        ) as client:

            async def ask(body: Json, payment: Json | None = None) -> httpx.Response:
                more = header_of(payment) if payment else {}
                return await client.post("/x402/forecast", json=body, headers=more)

            refused = await ask({"market_id": market_id})
            assert refused.status_code == 402
            (offer,) = refused.json()["accepts"]
            assert offer["maxAmountRequired"] == "10000"
            # A bad payment is judged before the work, and counted.
            refusals = [await ask({"market_id": "nowhere"}, {"x402Version": 1}) for _ in range(40)]
            assert {one.status_code for one in refusals} == {402, 429}
            await stage.clock.advance(61)
            # What cannot be answered costs nothing.
            for body, status in (({"market_id": "nowhere"}, 404), ({}, 422)):
                assert (await ask(body, signed_alone(own, offer, 1))).status_code == status
            assert stage.world.chain.pay_balance(own.address) == 1_000_000
            answer = await ask({"market_id": market_id}, signed_alone(own, offer, 1))
            assert answer.status_code == 200
            assert answer.headers["X-PAYMENT-RESPONSE"]
            found = answer.json()
            prices = [found["market_price"], found["external_price"]]
            known = [price for price in prices if price is not None]
            assert found["probability"] == pytest.approx(sum(known) / len(known), abs=1e-6)
            assert stage.world.chain.pay_balance(own.address) == 990_000
            again = await ask({"market_id": market_id}, signed_alone(own, offer, 1))
            assert (again.status_code, "used before" in again.json()["error"]) == (402, True)
            cheap = signed_alone(own, offer | {"maxAmountRequired": "5000"}, 2)
            assert (await ask({"market_id": market_id}, cheap)).status_code == 402
            assert stage.world.chain.pay_balance(own.address) == 990_000
            briefing = await client.post("/x402/briefing", json={})
            (offer,) = briefing.json()["accepts"]
            assert offer["maxAmountRequired"] == "50000"


def test_nobody_has_a_key_for_the_address_that_is_paid() -> None:
    assert checksummed("0x" + keccak256(b"service-tui: paid calls")[-20:].hex()) == RECIPIENT
