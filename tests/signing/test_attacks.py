"""Attacks on every door at which something is signed, or a signature is taken.

An attack changes one argument of an honest use of its door; the honest use passes, so the change
alone is what is refused.
"""

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, Final, NamedTuple

import pytest
from eth_account import Account

from kit.chain.counting import CountingSigner
from kit.engine.venues import AT, market_of, new_world
from kit.oracles import rlp
from kit.oracles.calls import selector
from service_tui.addresses import ZERO_ADDRESS, keccak256
from service_tui.engine.amm.market import Market
from service_tui.engine.books.catalogue import has_event, token_of
from service_tui.engine.chain_events import CallPaid, CredentialsKept, OrderSigned, WalletLinked
from service_tui.engine.errors import Refusal
from service_tui.engine.world import World
from service_tui.server.chain_node.relay import Refused, order_keys, relay
from service_tui.server.chain_node.signed_orders import verified
from service_tui.server.claim.link_challenges import LinkChallenges
from service_tui.server.http.payments import RECIPIENT, PaymentRefused, checked_payment
from service_tui.signing.approvals import Approval, approvals
from service_tui.signing.book import POLYGON, ExchangeVersion
from service_tui.signing.calls import (
    UINT_MAX,
    ZERO_32,
    Approve,
    RedeemNegRisk,
    RedeemPositions,
    SetApprovalForAll,
    encode_call,
)
from service_tui.signing.credentials import credentials_signer, sign_credentials
from service_tui.signing.errors import SigningError
from service_tui.signing.link import Challenge, message_digest, message_signer, sign_challenge
from service_tui.signing.orders import (
    OrderAction,
    OrderTerms,
    SignableOrder,
    SignedOrder,
    build_order,
    sign_order,
    typed_order,
)
from service_tui.signing.payments import (
    USDC,
    Authorization,
    PaymentOffer,
    PaymentPolicy,
    PaymentToken,
    sign_payment,
    typed_authorization,
)
from service_tui.signing.policy import GWEI, POL, Price, Redemption, SigningPolicy, Unsigned
from service_tui.signing.signer import LocalSigner
from service_tui.signing.transactions import Transaction, sign_transaction
from service_tui.signing.typed import Struct, TypedData, TypedField, Value
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.signed_order import SignedOrderBody
from service_tui.wire.trades import TradeRequest

KEY: Final = "4c" * 32
OWN: Final = LocalSigner(KEY).address
STRANGER: Final = "0x" + "ab" * 20
CONDITION: Final = bytes(range(32))
NOW_S: Final = int(AT)
HOST: Final = "api.service.example"
CTF: Final = POLYGON.conditional_tokens


class NotTakenError(Exception):
    """A door that answers instead of raising said no."""


# -- a redemption that the service proposes --------------------------------------------------

STANDARD: Final = RedeemPositions(POLYGON.usdc_bridged, ZERO_32, CONDITION, (1, 2))
GOOD: Final = encode_call(STANDARD)
PRICE: Final = Price(nonce=7, gas=180_000, max_fee=120 * GWEI, max_priority_fee=30 * GWEI)


def words(*at: tuple[int, bytes | int]) -> str:
    """The good call with words of its arguments exchanged: number of the word, and what it is."""
    data = bytearray(GOOD)
    for number, value in at:
        word = value if isinstance(value, bytes) else value.to_bytes(32, "big")
        data[4 + number * 32 : 36 + number * 32] = word
    return "0x" + data.hex()


def redeem(signer: CountingSigner, **changes: Any) -> None:
    price = replace(PRICE, **{name: changes.pop(name) for name in tuple(changes) if name in _PRICE})
    spent = changes.pop("spent_today", 0)
    asked = changes.pop("asked", Redemption(condition_id=CONDITION, is_yes=True, is_neg_risk=False))
    fair: dict[str, Any] = {"to": CTF, "data": words(), "sender": OWN, "gas": 200_000}
    unsigned = Unsigned(**fair | {"chain_id": 137} | changes)
    policy = SigningPolicy()
    judged = policy.redemption(asked, unsigned, signer.address)
    sign_transaction(policy.transaction(judged, price, spent_today=spent), signer)


_PRICE: Final = {"nonce", "max_fee", "max_priority_fee"}


def call_data(signature: str, *arguments: int | str) -> str:
    found = (one if isinstance(one, int) else int(one, 16) for one in arguments)
    return "0x" + (selector(signature) + b"".join(one.to_bytes(32, "big") for one in found)).hex()


# -- an approval ------------------------------------------------------------------------------

MONEY, TOKENS = approvals(POLYGON, ExchangeVersion.V1)[1:3]


def approve(signer: CountingSigner, approval: Approval = MONEY) -> None:
    policy = SigningPolicy()
    price = replace(PRICE, gas=100_000)
    sign_transaction(policy.transaction(policy.approval(approval), price, spent_today=0), signer)


# -- a transaction, as it is signed -----------------------------------------------------------

PLAIN: Final = Transaction(
    nonce=0, max_priority_fee=30 * GWEI, max_fee=150 * GWEI, gas=234_000, to=CTF, data=GOOD
)


def sign(signer: CountingSigner, **changes: Any) -> None:
    sign_transaction(replace(PLAIN, **changes), signer)


# -- bytes that the service relays ------------------------------------------------------------


@cache
def world() -> World:
    """Agent `ada` with a wallet that may do everything, one transaction and one order old."""
    made = new_world("ada", "bob")
    made.note(WalletLinked("ada", AT, OWN, gas=10 * POL, pay=Micros(ONE)))
    made.note(CredentialsKept("ada", AT, OWN, "headers"))
    wallet = made.chain.wallet_of("ada")
    assert wallet is not None
    wallet.approvals.update(order_keys(ExchangeVersion.V1))
    wallet.nonce = 1
    used = typed_order(order_of(market(made), salt=41), is_neg_risk=has_event(market(made).listing))
    made.note(OrderSigned("ada", AT, used.digest().hex()))
    made.note(CallPaid("ada", AT, OWN, "0x" + "05" * 32, Micros(5_000), "https://x.example/"))
    return made


def kept() -> tuple[int, ...]:
    """How much the service has taken."""
    chain = world().chain
    return len(chain.txs), len(chain.hashes["ada"]), len(chain.paid)


def raw_of(key: str = KEY, **changes: Any) -> str:
    return sign_transaction(replace(PLAIN, nonce=1, **changes), LocalSigner(key)).hex


def raw_by_library(**changes: Any) -> str:
    """A transaction of another kind, truly signed."""
    fields: dict[str, Any] = {
        "chainId": 137,
        "nonce": 1,
        "maxPriorityFeePerGas": 30 * GWEI,
        "maxFeePerGas": 150 * GWEI,
        "gas": 234_000,
        "to": CTF,
        "value": 0,
        "data": "0x" + GOOD.hex(),
    }
    known = {name: value for name, value in (fields | changes).items() if value is not None}
    return "0x" + bytes(Account.from_key(KEY).sign_transaction(known).raw_transaction).hex()


def raw_with(place: int, item: rlp.Item) -> str:
    """The good transaction with one item of its list exchanged, truly signed."""
    items = rlp.decoded(bytes.fromhex(raw_of()[4:]))
    assert isinstance(items, tuple)
    fields = (*items[:place], item, *items[place + 1 : 9])
    made = LocalSigner(KEY).sign(keccak256(b"\x02" + rlp.encoded(fields)))
    parts = (made[64] - 27, int.from_bytes(made[:32], "big"), int.from_bytes(made[32:64], "big"))
    numbers = (one.to_bytes((one.bit_length() + 7) // 8, "big") for one in parts)
    return "0x02" + rlp.encoded((*fields, *numbers)).hex()


def leave() -> str:
    """Leave for a stranger's code to act as the wallet. Source: EIP-7702."""
    one = Account.from_key(KEY).sign_authorization({
        "chainId": 137,
        "address": STRANGER,
        "nonce": 2,
    })
    return raw_by_library(authorizationList=[one])


BLOB: Final[dict[str, Any]] = {
    "type": 3,
    "maxFeePerBlobGas": GWEI,
    "blobVersionedHashes": ["0x01" + "00" * 31],
}
LEGACY: Final[dict[str, Any]] = {
    "maxPriorityFeePerGas": None,
    "maxFeePerGas": None,
    "gasPrice": 150 * GWEI,
}


def send(_: CountingSigner, raw: str = "", agent: str = "ada") -> None:
    answer = relay(world(), agent, raw or raw_of(), AT)
    if isinstance(answer, Refused):
        raise NotTakenError(f"{answer.code}: {answer.error}")


# -- an order, as it is signed ----------------------------------------------------------------


def market(of: World) -> Market:
    return market_of(of)


def order_of(of: Market, **changes: Any) -> SignableOrder:
    wish = OrderTerms(
        token_id=int(token_of(of.market_id, Side.YES, neg_risk=has_event(of.listing))),
        action=OrderAction.BUY,
        price=500_000,
        spend=20 * ONE,
    )
    how: dict[str, Any] = {
        "exchange": ExchangeVersion.V1,
        "salt": 42,
        "now_ms": NOW_S * 1_000,
    } | changes
    if "wish" in how:
        wish = replace(wish, **how.pop("wish"))
    maker = how.pop("maker", OWN)
    return build_order(wish, maker, **how)


def order(signer: CountingSigner, **changes: Any) -> None:
    sign_order(order_of(market(world()), **changes), signer, is_neg_risk=False)


# -- a signed order that the service takes ----------------------------------------------------


def permit(spender: str = STRANGER) -> TypedData:
    """Leave to take all the money, as a signature alone. Source: EIP-2612."""
    fields = (
        TypedField("address", "owner", OWN),
        TypedField("address", "spender", spender),
        TypedField("uint256", "value", UINT_MAX),
        TypedField("uint256", "nonce", 0),
        TypedField("uint256", "deadline", UINT_MAX),
    )
    return TypedData(USDC.domain, Struct("Permit", fields))


def take_order(
    _: CountingSigner,
    *,
    order: dict[str, Any] | None = None,
    domain: dict[str, Any] | None = None,
    typed: TypedData | None = None,
    key: str = KEY,
    body: dict[str, Any] | None = None,
    asked: dict[str, Any] | None = None,
) -> None:
    """An order made and signed, what was changed between the two, and what is asked with it."""
    here = market(world())
    made = order_of(here, **(order or {}))
    said = typed or typed_order(made, is_neg_risk=has_event(here.listing))
    said = replace(said, domain=replace(said.domain, **(domain or {})))
    signed = SignedOrder(made, "0x" + LocalSigner(key).sign(said.digest()).hex())
    request = TradeRequest(
        market_id=here.market_id,
        side=Side.YES,
        venue=Venue.EVM,
        action=Action.BUY,
        amount=20,
        signed_order=SignedOrderBody.model_validate(signed.body() | (body or {})),
    )
    verified(world(), world().agents["ada"], request.model_copy(update=asked or {}), AT)


# -- typed data, as it is signed --------------------------------------------------------------


def type_data(signer: CountingSigner, **values: Value | tuple[str, Value]) -> None:
    """A message of one field of each kind; a pair exchanges the kind as well."""
    known: dict[str, tuple[str, Value]] = {
        "whose": ("address", OWN),
        "number": ("uint256", 1),
        "small": ("uint8", 1),
        "word": ("bytes32", ZERO_32),
        "yes": ("bool", True),
        "text": ("string", "a text"),
    }
    for name, value in values.items():
        known[name] = value if isinstance(value, tuple) else (known[name][0], value)
    fields = tuple(TypedField(kind, name, value) for name, (kind, value) in known.items())
    signer.sign(TypedData(USDC.domain, Struct("Message", fields)).digest())


# -- the challenge that links a wallet --------------------------------------------------------

NONCE: Final = "Zm9vYmFyYmF6cXV4"
TEXT: Final = (
    f"Link this wallet to an agent of {HOST}.\n\nWallet: {OWN}\nNonce: {NONCE}\nMoves no money."
)
PERMIT_TEXT: Final = json.dumps({
    "primaryType": "Permit",
    "message": {"owner": OWN, "spender": STRANGER, "value": str(UINT_MAX)},
})


def link(signer: CountingSigner, **changes: Any) -> None:
    fair = Challenge(address=OWN, nonce=NONCE, message=TEXT, expires_s=NOW_S + 300.0)
    sign_challenge(replace(fair, **changes), signer, host=HOST, now_s=NOW_S)


def take_link(_: CountingSigner, times: int = 1, later_s: float = 0.0, **whose: str) -> None:
    """A challenge of the service's own, answered."""
    challenges = LinkChallenges()
    made = challenges.make("ada", OWN, NONCE, host=HOST, now=AT)
    typed = whose.pop("typed", "")
    signature = LocalSigner(whose.pop("key", KEY)).sign(
        permit().digest() if typed else message_digest(whose.pop("message", made.message))
    )
    for _time in range(times):
        found = challenges.use(NONCE, whose.get("agent", "ada"), now=Timestamp(AT + later_s))
        if found is None:
            raise NotTakenError("no such challenge waits")
    if message_signer(made.message, signature) != OWN:
        raise NotTakenError("the signature is not that of the address")


# -- a proof that a wallet is one's own -------------------------------------------------------


def prove(signer: CountingSigner, **changes: Any) -> None:
    sign_credentials(signer, **{"now_s": NOW_S} | changes)


def take_proof(_: CountingSigner, typed: TypedData | None = None, **changes: str) -> None:
    proof = replace(sign_credentials(LocalSigner(KEY), now_s=NOW_S), **changes)
    if typed is not None:
        signature = "0x" + LocalSigner(KEY).sign(typed.digest()).hex()
        proof = replace(proof, poly_signature=signature)
    if credentials_signer(proof) != OWN:
        raise NotTakenError("the signature is not that of poly_address")


# -- a payment --------------------------------------------------------------------------------


def pay(signer: CountingSigner, recipient: str | None = RECIPIENT, **changes: Any) -> None:
    fair: dict[str, Any] = {"scheme": "exact", "network": "base", "asset": USDC.address}
    fair |= {"host": HOST, "pay_to": RECIPIENT, "amount": 5_000, "life_s": 60}
    how = {name: changes.pop(name) for name in ("paid_today", "nonce") if name in changes}
    sign_payment(
        PaymentOffer(**fair | changes),
        PaymentPolicy(host=HOST, day_max=20_000, recipient=recipient),
        signer,
        now_s=NOW_S,
        **{"nonce": bytes(32), "paid_today": 0} | how,
    )


def pay_anybody(signer: CountingSigner, pay_to: str = STRANGER) -> None:
    """Whoever is named in the offer, as a person has seen and confirmed it."""
    pay(signer, recipient=None, pay_to=pay_to)


def take_payment(
    _: CountingSigner,
    *,
    said: dict[str, Any] | None = None,
    token: PaymentToken = USDC,
    typed: TypedData | None = None,
    key: str = KEY,
    body: dict[str, Any] | None = None,
) -> None:
    """An authorisation signed as it stands, in the form of the protocol."""
    fair: dict[str, Any] = {"payer": OWN, "pay_to": RECIPIENT, "amount": 5_000, "after_s": 0}
    made = Authorization(**fair | {"before_s": NOW_S + 60, "nonce": ZERO_32} | (said or {}))
    digest = (typed or typed_authorization(made, token)).digest()
    authorization = {
        "from": made.payer,
        "to": made.pay_to,
        "value": str(made.amount),
        "validAfter": str(made.after_s),
        "validBefore": str(made.before_s),
        "nonce": "0x" + made.nonce.hex(),
    }
    signature = "0x" + LocalSigner(key).sign(digest).hex()
    payload = {"signature": signature, "authorization": authorization}
    whole = {"x402Version": 1, "scheme": "exact", "network": "base", "payload": payload}
    text = base64.b64encode(json.dumps(whole | (body or {})).encode()).decode()
    checked_payment(world(), world().agents["ada"], text, ("https://x.example/", AT))


# -- the table --------------------------------------------------------------------------------

Door = Callable[..., None]
DOORS: Final[tuple[Door, ...]] = (
    *(redeem, approve, sign, send, order, take_order, type_data),
    *(link, take_link, prove, take_proof, pay, pay_anybody, take_payment),
)


class Attack(NamedTuple):
    """One argument of a door, what it becomes, and what the refusal must say."""

    door: Door
    argument: str
    value: object
    says: str


ALL_BITS: Final = b"\xff" * 32
PERMIT: Final = "permit(address,address,uint256,uint256,uint8,bytes32,bytes32)"
PERMIT2: Final = "approve(address,address,uint160,uint48)"
UPGRADE: Final = "upgradeToAndCall(address,bytes)"
PROXY: Final = "execTransaction(address,uint256,bytes,uint8)"
DELEGATE: Final = "multicall(bytes[])"
TO_ALL: Final = encode_call(SetApprovalForAll(STRANGER, is_approved=True))
ALL_MONEY: Final = encode_call(Approve(STRANGER, UINT_MAX))
PERMIT2_AT: Final = "0x000000000022D473030F116dDEE9F6B43aC78BA3"
UNKNOWN: Final = "which is unknown"
FORM: Final = "cut off or of another form"
ONE_FORM: Final = "the one form that is signed"
OTHER_KEY: Final = "5d" * 32
MADE_WRONG: Final = "out of range"

ATTACKS: Final[dict[str, Attack]] = {
    # A proposal of a redemption.
    "another chain's redemption": Attack(redeem, "chain_id", 1, "another chain"),
    "a redemption of the wrong contract": Attack(redeem, "to", POLYGON.v1_exchange, "does not go"),
    "a redemption of a look-alike": Attack(redeem, "to", CTF[:-4] + "6046", "does not go"),
    "a redemption of nobody": Attack(redeem, "to", ZERO_ADDRESS, "does not go"),
    "a redemption that makes a contract": Attack(redeem, "to", None, "names no address"),
    "a redemption with an empty target": Attack(redeem, "to", "", "names no address"),
    "permit2 as the target": Attack(redeem, "to", PERMIT2_AT, "does not go"),
    "a redemption that sends money": Attack(redeem, "value", 1, "send POL along"),
    "a redemption of another's wallet": Attack(redeem, "sender", STRANGER, "another wallet"),
    "a redemption from nobody": Attack(redeem, "sender", ZERO_ADDRESS, "another wallet"),
    "huge gas": Attack(redeem, "gas", 10**12, "cap of 1500000"),
    "negative gas": Attack(redeem, "gas", -1, "cap of 1500000"),
    "gas of more than a word": Attack(redeem, "gas", "0x" + "f" * 65, "cap of 1500000"),
    "a huge fee": Attack(redeem, "max_fee", 10**15, "above the cap"),
    "a tip above the fee": Attack(redeem, "max_priority_fee", 121 * GWEI, "contradict"),
    "one more within the day": Attack(redeem, "spent_today", 2 * POL, "the day may cost"),
    "a negative nonce": Attack(redeem, "nonce", -1, "out of range"),
    "a nonce beyond the chain's": Attack(redeem, "nonce", 2**64, "out of range"),
    "a permit": Attack(redeem, "data", call_data(PERMIT, *[1] * 7), UNKNOWN),
    "an approval by permit2": Attack(redeem, "data", call_data(PERMIT2, *[1] * 4), UNKNOWN),
    "an upgrade of a proxy": Attack(redeem, "data", call_data(UPGRADE, STRANGER, 64, 0), UNKNOWN),
    "a call through a safe": Attack(redeem, "data", call_data(PROXY, STRANGER, 0, 128, 1), UNKNOWN),
    "calls in a call": Attack(redeem, "data", call_data(DELEGATE, 32, 0), UNKNOWN),
    "a reading": Attack(redeem, "data", call_data("wcol()"), "changes nothing"),
    "all tokens to a stranger": Attack(redeem, "data", "0x" + TO_ALL.hex(), "not redeemed by"),
    "all money to a stranger": Attack(redeem, "data", "0x" + ALL_MONEY.hex(), "not redeemed by"),
    "a byte behind the call": Attack(redeem, "data", words() + "00", ONE_FORM),
    "a word behind the call": Attack(redeem, "data", words() + "00" * 32, ONE_FORM),
    "another call behind the call": Attack(redeem, "data", words() + TO_ALL.hex(), ONE_FORM),
    "a call cut off": Attack(redeem, "data", words()[:-2], FORM),
    "dirty bytes above an address": Attack(redeem, "data", words((0, b"\x01" + GOOD[5:36])), FORM),
    "a list that begins before its end": Attack(redeem, "data", words((3, 0x60)), FORM),
    "a list that points backwards": Attack(redeem, "data", words((3, ALL_BITS)), FORM),
    "a list that points at itself": Attack(redeem, "data", words((3, 0)), FORM),
    "a list longer than the bytes": Attack(redeem, "data", words((4, 3)), FORM),
    "a list longer than memory": Attack(redeem, "data", words((4, ALL_BITS)), FORM),
    "a list that overflows": Attack(redeem, "data", words((4, 2**251)), FORM),
    "a negative outcome": Attack(redeem, "data", words((5, ALL_BITS)), "not the side asked for"),
    "both outcomes as one": Attack(redeem, "data", words((6, 3)), "not the side asked for"),
    "the other outcome alone": Attack(redeem, "data", words((5, 2), (6, 2)), "not the side"),
    "the other side": Attack(
        redeem,
        "data",
        "0x" + encode_call(replace(STANDARD, index_sets=(2,))).hex(),
        "not the side asked for",
    ),
    "another market": Attack(redeem, "data", words((2, 7)), "another market"),
    "a parent collection": Attack(redeem, "data", words((1, 7)), "parent collection"),
    "a foreign collateral": Attack(redeem, "data", words((0, int(STRANGER, 16))), "collateral"),
    "the adapter's call on the tokens": Attack(
        redeem, "data", "0x" + encode_call(RedeemNegRisk(CONDITION, (1, 0))).hex(), "not redeemed"
    ),
    "a market of another kind": Attack(
        redeem,
        "asked",
        Redemption(condition_id=CONDITION, is_yes=True, is_neg_risk=True),
        "does not go",
    ),
    # An approval.
    "approval for a stranger": Attack(
        approve, "approval", replace(MONEY, call=Approve(STRANGER, UINT_MAX)), "not on the list"
    ),
    "operator rights for a stranger": Attack(
        approve,
        "approval",
        replace(TOKENS, call=SetApprovalForAll(STRANGER, is_approved=True)),
        "not on the list",
    ),
    "approval for nobody": Attack(
        approve, "approval", replace(MONEY, call=Approve(ZERO_ADDRESS, UINT_MAX)), "not on the list"
    ),
    "approval for permit2": Attack(
        approve, "approval", replace(MONEY, call=Approve(PERMIT2_AT, UINT_MAX)), "not on the list"
    ),
    "approval of a stranger's token": Attack(
        approve, "approval", replace(MONEY, to=STRANGER), "not on the list"
    ),
    "approval of another amount": Attack(
        approve, "approval", replace(MONEY, call=Approve(MONEY.spender, 2**255)), "not on the list"
    ),
    "approval of the other generation": Attack(
        approve, "approval", approvals(POLYGON, ExchangeVersion.V2)[0], "not on the list"
    ),
    # A transaction, as it is signed.
    "no such nonce": Attack(sign, "nonce", 2**64, "out of range"),
    "a negative value": Attack(sign, "value", -1, "out of range"),
    "a fee of more than a word": Attack(sign, "max_fee", 2**256, "out of range"),
    "a negative chain": Attack(sign, "chain_id", -137, "out of range"),
    # Bytes that are relayed.
    "the bytes of another chain": Attack(send, "raw", raw_of(chain_id=1), "WRONG_CHAIN"),
    "bytes for every chain": Attack(send, "raw", raw_of(chain_id=0), "WRONG_CHAIN"),
    "bytes that send money": Attack(send, "raw", raw_of(value=1), "WRONG_VALUE"),
    "bytes with huge gas": Attack(send, "raw", raw_of(gas=2**40), "GAS_TOO_HIGH"),
    "bytes with a huge fee": Attack(send, "raw", raw_of(max_fee=10**15), "INSUFFICIENT_GAS"),
    "bytes with a nonce that was used": Attack(send, "raw", raw_with(1, b""), "WRONG_NONCE"),
    "bytes with a nonce to come": Attack(send, "raw", raw_with(1, b"\x09"), "WRONG_NONCE"),
    "bytes of another key": Attack(send, "raw", raw_of(OTHER_KEY), "WRONG_SIGNER"),
    "bytes by another agent": Attack(send, "agent", "bob", "WRONG_SIGNER"),
    "bytes to a stranger": Attack(send, "raw", raw_of(to=STRANGER), "WRONG_TARGET"),
    "bytes to nobody": Attack(send, "raw", raw_of(to=ZERO_ADDRESS), "WRONG_TARGET"),
    "bytes that give all tokens": Attack(send, "raw", raw_of(data=TO_ALL), "WRONG_TARGET"),
    "bytes that call nothing": Attack(send, "raw", raw_of(data=b""), "WRONG_CALL"),
    "bytes with a word behind the call": Attack(
        send, "raw", raw_of(data=GOOD + bytes(32)), "WRONG_CALL"
    ),
    "a yes that is two": Attack(
        send,
        "raw",
        raw_of(data=encode_call(TOKENS.call)[:-1] + b"\2"),
        "WRONG_CALL",
    ),
    "bytes that make a contract": Attack(send, "raw", raw_by_library(to=""), "no address"),
    "bytes with an access list": Attack(
        send,
        "raw",
        raw_by_library(accessList=[{"address": STRANGER, "storageKeys": []}]),
        "access list",
    ),
    "a transaction of type 4": Attack(send, "raw", leave(), "WRONG_TYPE"),
    "a transaction of type 3": Attack(send, "raw", raw_by_library(**BLOB), "WRONG_TYPE"),
    "a transaction of the old type": Attack(send, "raw", raw_by_library(**LEGACY), "WRONG_TYPE"),
    "a number with a zero before it": Attack(send, "raw", raw_with(1, b"\0\1"), "MALFORMED"),
    "a nonce of nine bytes": Attack(send, "raw", raw_with(1, b"\1" * 9), "MALFORMED"),
    "a list for a number": Attack(send, "raw", raw_with(1, (b"\1",)), "MALFORMED"),
    "an address of 21 bytes": Attack(send, "raw", raw_with(5, b"\1" * 21), "MALFORMED"),
    "a byte behind the transaction": Attack(send, "raw", raw_of() + "00", "MALFORMED"),
    # An order, as it is signed.
    "another's order": Attack(order, "maker", STRANGER, "another wallet's"),
    "nobody's order": Attack(order, "maker", ZERO_ADDRESS, "another wallet's"),
    "an order that is dead": Attack(order, "expires_s", NOW_S - 1, MADE_WRONG),
    "an order that dies now": Attack(order, "expires_s", NOW_S, MADE_WRONG),
    "an order that outlives us": Attack(order, "expires_s", 10**11, MADE_WRONG),
    "an order with a negative end": Attack(order, "expires_s", -1, MADE_WRONG),
    "a salt that a reader rounds": Attack(order, "salt", 2**53, MADE_WRONG),
    "a negative salt": Attack(order, "salt", -1, MADE_WRONG),
    "a fee of half": Attack(order, "fee_rate_bps", 5_000, "is not signed"),
    "no token": Attack(order, "wish", {"token_id": 0}, MADE_WRONG),
    "a token beyond a word": Attack(order, "wish", {"token_id": 2**256}, MADE_WRONG),
    "a negative spend": Attack(order, "wish", {"spend": -20 * ONE}, "too small"),
    "a price of one": Attack(order, "wish", {"price": ONE}, "outside of the market"),
    "a short builder": Attack(order, "builder", bytes(31), MADE_WRONG),
    # A signed order that the service takes.
    "a salt that was used": Attack(take_order, "order", {"salt": 41}, "sent before"),
    "an order for another chain": Attack(take_order, "domain", {"chain_id": 1}, "not the maker's"),
    "an order for another contract": Attack(
        take_order, "domain", {"verifying_contract": STRANGER}, "not the maker's"
    ),
    "an order for the other exchange": Attack(
        take_order,
        "domain",
        {"verifying_contract": POLYGON.v1_neg_risk_exchange},
        "the standard exchange",
    ),
    "an order for no contract": Attack(
        take_order, "domain", {"verifying_contract": None}, "not the maker's"
    ),
    "an order of another domain": Attack(
        take_order, "domain", {"name": "USD Coin"}, "not the maker's"
    ),
    "an order of another version": Attack(
        take_order, "domain", {"version": "2"}, "not the maker's"
    ),
    "a permit's signature for an order": Attack(take_order, "typed", permit(), "not the maker's"),
    "a stranger's signature": Attack(take_order, "key", OTHER_KEY, "not the maker's"),
    "the side swapped": Attack(take_order, "body", {"side": "SELL"}, "not the maker's"),
    "the token swapped": Attack(take_order, "body", {"tokenId": "7"}, "not the maker's"),
    "the amounts swapped": Attack(
        take_order,
        "body",
        {"makerAmount": "40000000", "takerAmount": "20000000"},
        "not the maker's",
    ),
    "a proxy's order": Attack(take_order, "body", {"signatureType": 1}, "another signatureType"),
    "a safe's order": Attack(take_order, "body", {"signatureType": 2}, "another signatureType"),
    "an order for one taker": Attack(take_order, "body", {"taker": STRANGER}, "another taker"),
    "a delegate who signs": Attack(take_order, "body", {"signer": STRANGER}, "another signer"),
    "another nonce": Attack(take_order, "body", {"nonce": "1"}, "another nonce"),
    "a fee added": Attack(take_order, "body", {"feeRateBps": "900"}, "not the maker's"),
    "an end added": Attack(take_order, "body", {"expiration": str(NOW_S + 9)}, "not the maker's"),
    "a stranger's order": Attack(take_order, "order", {"maker": STRANGER}, "not the linked wallet"),
    "the other side asked": Attack(take_order, "asked", {"side": Side.NO}, "token"),
    "a sale asked": Attack(
        take_order, "asked", {"action": Action.SELL, "shares": 20.0}, "the other way"
    ),
    "more asked": Attack(take_order, "asked", {"amount": 25.0}, "not that of the request"),
    # Typed data, as it is signed.
    "a number that is negative": Attack(type_data, "number", -1, "does not fit uint256"),
    "a number beyond a word": Attack(type_data, "number", 2**256, "does not fit uint256"),
    "a number beyond a byte": Attack(type_data, "small", 256, "does not fit uint8"),
    "a number as a text": Attack(type_data, "number", "1", "does not fit uint256"),
    "a yes as a number": Attack(type_data, "yes", 1, "does not fit bool"),
    "a number as a yes": Attack(type_data, "number", bool(1), "does not fit uint256"),
    "an address of 19 bytes": Attack(type_data, "whose", OWN[:-2], "does not fit address"),
    "an address with more above it": Attack(
        type_data, "whose", "0x01" + OWN[2:], "does not fit address"
    ),
    "a word of 31 bytes": Attack(type_data, "word", bytes(31), "does not fit bytes32"),
    "a message in a message": Attack(type_data, "text", ("Permit", "x"), "does not fit Permit"),
    "a list": Attack(type_data, "number", ("uint256[]", 1), "does not fit uint256[]"),
    "a number of 257 bits": Attack(type_data, "number", ("uint257", 1), "does not fit uint257"),
    # The challenge that links a wallet.
    "a challenge for another": Attack(link, "address", STRANGER, "another wallet"),
    "a challenge for nobody": Attack(link, "address", ZERO_ADDRESS, "another wallet"),
    "a challenge that expired": Attack(link, "expires_s", NOW_S - 1.0, "expired"),
    "a challenge that never expires": Attack(link, "expires_s", float("inf"), "expire"),
    "a challenge of another service": Attack(
        link, "message", TEXT.replace(HOST, "evil.example"), "another service"
    ),
    "a challenge of two services": Attack(
        link, "message", TEXT + "\nevil.example", "another service"
    ),
    "a permit as a challenge": Attack(link, "message", TEXT + PERMIT_TEXT, "names another address"),
    "a digest as a challenge": Attack(
        link, "message", TEXT + "\n" + permit().digest().hex(), "holds a hash"
    ),
    "typed data's prefix": Attack(link, "message", "\x19\x01" + TEXT, "cannot be read"),
    "another's nonce": Attack(link, "nonce", "b" * 16, "does not hold"),
    "a challenge answered twice": Attack(take_link, "times", 2, "no such challenge"),
    "a challenge answered late": Attack(take_link, "later_s", 301.0, "no such challenge"),
    "a challenge of another agent": Attack(take_link, "agent", "bob", "no such challenge"),
    "a challenge signed by another": Attack(take_link, "key", OTHER_KEY, "not that of"),
    "another text signed": Attack(take_link, "message", TEXT, "not that of"),
    "a permit's signature for a link": Attack(take_link, "typed", "permit", "not that of"),
    # A proof that a wallet is one's own.
    "a proof of no time": Attack(prove, "now_s", 10**10, "10 digits"),
    "a proof by a clock that is off": Attack(prove, "skew_s", 31.0, "more than 30 s off"),
    "a proof with a negative nonce": Attack(prove, "nonce", -1, "20 digits"),
    "a proof at another time": Attack(take_proof, "poly_timestamp", str(NOW_S + 1), "not that of"),
    "a proof with another nonce": Attack(take_proof, "poly_nonce", "1", "not that of"),
    "another's proof": Attack(take_proof, "poly_address", STRANGER, "not that of"),
    "a permit's signature for a proof": Attack(take_proof, "typed", permit(), "not that of"),
    # A payment, as it is signed.
    "another host's offer": Attack(pay, "host", "evil.example", "another host"),
    "an offer on another chain": Attack(pay, "network", "polygon", "another chain"),
    "an offer for another token": Attack(pay, "asset", POLYGON.usdc_native, "another token"),
    "an offer by permit": Attack(pay, "scheme", "permit", "not for an exact price"),
    "an offer up to a sum": Attack(pay, "scheme", "upto", "not for an exact price"),
    "an offer for a stranger": Attack(pay, "pay_to", STRANGER, "another address"),
    "an offer for nobody": Attack(pay, "pay_to", ZERO_ADDRESS, "names no address"),
    "a huge price": Attack(pay, "amount", 2**255, "millionths, not"),
    "a negative price": Attack(pay, "amount", -5_000, "millionths, not"),
    "one payment too many": Attack(pay, "paid_today", 15_001, "the day's cap"),
    "a short nonce": Attack(pay, "nonce", bytes(31), "does not fit bytes32"),
    "money for nobody": Attack(pay_anybody, "pay_to", ZERO_ADDRESS, "names no address"),
    "money for no name": Attack(pay_anybody, "pay_to", "vitalik.eth", "names no address"),
    # A payment that the service takes.
    "a payment that was taken": Attack(
        take_payment, "said", {"nonce": b"\5" * 32}, "was used before"
    ),
    "a payment of another's money": Attack(
        take_payment, "said", {"payer": STRANGER}, "not the linked wallet"
    ),
    "a payment to a stranger": Attack(take_payment, "said", {"pay_to": STRANGER}, "somebody else"),
    "a payment of less": Attack(take_payment, "said", {"amount": 4_999}, "not the price"),
    "a payment that expired": Attack(take_payment, "said", {"before_s": NOW_S}, "has expired"),
    "a payment for ever": Attack(take_payment, "said", {"before_s": UINT_MAX}, "too long"),
    "a payment of tomorrow": Attack(take_payment, "said", {"after_s": NOW_S + 9}, "not good yet"),
    "a payment on another chain": Attack(
        take_payment, "token", PaymentToken(chain_id=137), "not the payer's"
    ),
    "a payment of another token": Attack(
        take_payment, "token", PaymentToken(address=POLYGON.usdc_native), "not the payer's"
    ),
    "a payment that names another chain": Attack(
        take_payment, "body", {"network": "eip155:137"}, "another chain"
    ),
    "a stranger's payment": Attack(take_payment, "key", OTHER_KEY, "not the payer's"),
    "a permit's signature for a payment": Attack(
        take_payment, "typed", permit(RECIPIENT), "not the payer's"
    ),
}


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_the_honest_use_of_every_door_passes(door: Door) -> None:
    world.cache_clear()
    door(CountingSigner(KEY))
    world.cache_clear()


def test_bytes_made_for_attacks_are_the_honest_ones_where_nothing_is_changed() -> None:
    assert raw_by_library() == raw_with(1, b"\1") == raw_of()


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused_for_what_it_changes(name: str) -> None:
    door, argument, value, says = ATTACKS[name]
    signer, before = CountingSigner(KEY), kept()
    with pytest.raises((SigningError, Refusal, PaymentRefused, NotTakenError)) as refused:
        door(signer, **{argument: value})
    assert says in str(refused.value)
    assert signer.signatures == 0
    assert kept() == before


def test_every_door_is_attacked() -> None:
    assert {attack.door for attack in ATTACKS.values()} == set(DOORS)
