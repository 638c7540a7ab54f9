"""A program of somebody else: it knows the public interface and nothing of ours.

Plain HTTP, shapes from the wire reference, signatures made by the published libraries. It tells
what it did and what it got; whoever serves it checks the sums. Not one import of the project.
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from eth_account import Account
from eth_account.messages import encode_defunct

Json = dict[str, Any]

CHAIN_ID: Final = 137
EXCHANGE: Final = "0x4bFb41d5B3570DeFd03C39a9A4D8dE6Bd8B8982E"
NEG_RISK_EXCHANGE: Final = "0xC5d563A36AE78145C45a50134d48A1215220f80a"
ZERO: Final = "0x" + "0" * 40
ALPHABET: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
ORDER: Final = [
    {"name": name, "type": kind}
    for name, kind in (
        ("salt", "uint256"), ("maker", "address"), ("signer", "address"), ("taker", "address"),
        ("tokenId", "uint256"), ("makerAmount", "uint256"), ("takerAmount", "uint256"),
        ("expiration", "uint256"), ("nonce", "uint256"), ("feeRateBps", "uint256"),
        ("side", "uint8"), ("signatureType", "uint8"),
    )
]  # fmt: skip
DOMAIN: Final = [
    {"name": "name", "type": "string"},
    {"name": "version", "type": "string"},
    {"name": "chainId", "type": "uint256"},
]
CLOB_TEXT: Final = "This message attests that I control the given wallet"


class Refused(Exception):
    """The service said no: status and body."""

    def __init__(self, status: int, body: Json) -> None:
        super().__init__(f"{status}: {body}")
        self.status, self.body = status, body


@dataclass
class Api:
    """One agent's calls."""

    url: str
    key: str = ""

    def call(self, method: str, path: str, body: Json | None = None, **more: Any) -> Json:
        headers = {"User-Agent": "foreign-sdk/0.26.0", "Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        headers |= more.pop("headers", {})
        where = path if path.startswith("/") else f"/api/sdk/{path}"
        with httpx.Client(base_url=self.url, timeout=60, trust_env=False) as client:
            answer = client.request(method, where, json=body, params=more, headers=headers)
        found: Json = answer.json()
        if answer.status_code != 200:
            raise Refused(answer.status_code, found)
        return found

    def get(self, path: str, **params: Any) -> Json:
        return self.call("GET", path, **params)

    def post(self, path: str, **body: Any) -> Json:
        return self.call("POST", path, body)


@dataclass
class World:
    """What whoever serves the program does for it: claims, and lets time pass."""

    claim: Callable[[str], None]
    pass_seconds: Callable[[float], None]
    pass_until: Callable[[str], None]
    mail: list[tuple[dict[str, str], bytes]] = field(default_factory=list)


class Wallet:
    """A key of the EVM chain."""

    def __init__(self, api: Api, secret: str) -> None:
        self.api, self.account, self.salt = api, Account.from_key(secret), 0

    @property
    def address(self) -> str:
        return str(self.account.address)

    def link(self) -> None:
        asked = self.api.get("wallet/link/challenge", address=self.address)
        signed = self.account.sign_message(encode_defunct(text=asked["message"]))
        # Without 0x, as the published client sends it.
        done = self.api.post(
            "wallet/link",
            address=self.address,
            signature=signed.signature.hex().removeprefix("0x"),
            nonce=asked["nonce"],
            confirm_replace_managed=True,
        )
        assert done["success"], done

    def credentials(self, at: int) -> None:
        kinds = {
            "EIP712Domain": DOMAIN,
            "ClobAuth": [
                {"name": "address", "type": "address"},
                {"name": "timestamp", "type": "string"},
                {"name": "nonce", "type": "uint256"},
                {"name": "message", "type": "string"},
            ],
        }
        domain = {"name": "ClobAuthDomain", "version": "1", "chainId": CHAIN_ID}
        message = {
            "address": self.address, "timestamp": str(at), "nonce": 0, "message": CLOB_TEXT,
        }  # fmt: skip
        signature = self._typed(kinds, "ClobAuth", domain, message)
        self.api.post(
            "wallet/credentials/derive-via-proxy",
            poly_address=self.address,
            poly_signature=signature,
            poly_timestamp=str(at),
            poly_nonce="0",
        )

    def _typed(self, kinds: Json, primary: str, domain: Json, message: Json) -> str:
        whole = {"types": kinds, "primaryType": primary, "domain": domain, "message": message}
        signed = self.account.sign_typed_data(full_message=whole)
        return "0x" + str(signed.signature.hex()).removeprefix("0x")

    def rpc(self, method: str, *params: Any) -> Any:
        body = {"jsonrpc": "2.0", "method": method, "params": list(params), "id": 1}
        return self.api.call("POST", "/api/rpc/polygon", body)["result"]

    def send(self, to: str, data: str) -> str:
        price = int(self.rpc("eth_gasPrice"), 16)
        signed = self.account.sign_transaction({
            "type": 2,
            "chainId": CHAIN_ID,
            "nonce": int(self.rpc("eth_getTransactionCount", self.address, "pending"), 16),
            "to": to,
            "data": data,
            "value": 0,
            "gas": 300_000,
            "maxFeePerGas": 2 * price,
            "maxPriorityFeePerGas": max(30 * 10**9, price // 4),
        })
        raw = "0x" + str(signed.raw_transaction.hex()).removeprefix("0x")
        done = self.api.post("wallet/broadcast-tx", signed_tx=raw)
        assert done["success"], done
        return str(done["tx_hash"])

    def approve(self) -> int:
        found = self.api.get(f"/api/polymarket/allowances/{self.address}", include_tx_params=1)
        missing = [one for one in found["transactions"] if not one["done"]]
        for one in missing:
            self.send(one["to"], one["data"])
        return len(missing)

    def buy(self, market: Json, usd: int) -> Json:
        """A market order for so many cents of USD at the best ask."""
        tick = round(market["tick_size"] * 1_000_000)
        price = round(market["best_ask"] * 1_000_000) // tick * tick
        step = {100_000: 1_000, 10_000: 100, 1_000: 10, 100: 1}[tick]
        maker = usd * 10_000
        taker = maker * 1_000_000 // price // step * step
        self.salt += 1
        order = {
            "salt": self.salt, "maker": self.address, "signer": self.address, "taker": ZERO,
            "tokenId": int(market["polymarket_token_id"]), "makerAmount": maker,
            "takerAmount": taker, "expiration": 0, "nonce": 0,
            "feeRateBps": market["fee_rate_bps"], "side": 0, "signatureType": 0,
        }  # fmt: skip
        neg_risk = market["polymarket_neg_risk"]
        domain = {
            "name": "Polymarket CTF Exchange",
            "version": "1",
            "chainId": CHAIN_ID,
            "verifyingContract": NEG_RISK_EXCHANGE if neg_risk else EXCHANGE,
        }
        kinds = {
            "EIP712Domain": [*DOMAIN, {"name": "verifyingContract", "type": "address"}],
            "Order": ORDER,
        }
        signature = self._typed(kinds, "Order", domain, order)
        texts = ("tokenId", "makerAmount", "takerAmount", "expiration", "nonce", "feeRateBps")
        signed = order | {name: str(order[name]) for name in texts}
        signed |= {"side": "BUY", "signature": signature}
        return self.api.post(
            "trade",
            market_id=market["id"],
            side="yes",
            action="buy",
            amount=usd / 100,
            venue="polymarket",
            order_type="FAK",
            signed_order=signed,
        )


class SolanaWallet:
    """A key of the Solana chain."""

    def __init__(self, secret: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(secret)
        raw = self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        number, self.address = int.from_bytes(raw, "big"), ""
        while number:
            number, digit = divmod(number, 58)
            self.address = ALPHABET[digit] + self.address
        self.address = "1" * (len(raw) - len(raw.lstrip(b"\0"))) + self.address

    def sign(self, transaction: str) -> str:
        raw = base64.b64decode(transaction)
        # One signature of 64 bytes behind its count; the rest is what is signed.
        message = raw[65:]
        return base64.b64encode(raw[:1] + self._key.sign(message) + message).decode()


def is_signed(mail: tuple[dict[str, str], bytes], secret: str) -> bool:
    headers, body = mail
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return headers["x-service-signature"] == f"sha256={digest}"


def bodies(mail: list[tuple[dict[str, str], bytes]]) -> list[Json]:
    return [json.loads(body) for _, body in mail]
