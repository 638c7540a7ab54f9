"""Typed data and personal messages, compared with the library."""

import random
from dataclasses import replace

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct, encode_typed_data

from kit.examples import seeds
from kit.oracles import typed as oracle
from service_tui.addresses import checksummed, keccak256
from service_tui.signing.book import POLYGON, ExchangeVersion
from service_tui.signing.credentials import TEXT, sign_credentials
from service_tui.signing.errors import MalformedError
from service_tui.signing.link import message_digest
from service_tui.signing.orders import (
    OrderAction,
    SignableOrder,
    SignedOrder,
    order_signer,
    sign_order,
    typed_order,
)
from service_tui.signing.payments import Authorization, typed_authorization
from service_tui.signing.signer import LocalSigner, recovered
from service_tui.signing.typed import Domain, Struct, TypedData, TypedField

COW = keccak256(b"cow")
ANVIL_KEY = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"


def by_hand(typed: TypedData) -> oracle.TypedData:
    """The same message for the oracle."""
    domain, message = typed.domain, typed.message
    fields = tuple(oracle.Field(one.kind, one.name, one.value) for one in message.fields)
    return oracle.TypedData(
        oracle.Domain(
            name=domain.name,
            version=domain.version,
            chain_id=domain.chain_id,
            verifying_contract=domain.verifying_contract,
        ),
        oracle.Struct(message.name, fields),
    )


def person(name: str, wallet: str) -> oracle.Struct:
    return oracle.Struct(
        "Person", (oracle.Field("string", "name", name), oracle.Field("address", "wallet", wallet))
    )


MAIL = oracle.TypedData(
    oracle.Domain(
        name="Ether Mail",
        version="1",
        chain_id=1,
        verifying_contract="0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC",
    ),
    oracle.Struct(
        "Mail",
        (
            oracle.Field(
                "Person", "from", person("Cow", "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826")
            ),
            oracle.Field(
                "Person", "to", person("Bob", "0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB")
            ),
            oracle.Field("string", "contents", "Hello, Bob!"),
        ),
    ),
)
"""Source: EIP-712, "Test Cases", Example.js."""


def test_the_mail_of_eip_712() -> None:
    assert oracle.type_text(MAIL.message) == (
        "Mail(Person from,Person to,string contents)Person(string name,address wallet)"
    )
    assert oracle.hash_struct(MAIL.domain.struct()).hex() == (
        "f2cee375fa42b42143804025fc449deafd50cc031ca257e0b194a650a912090f"
    )
    assert oracle.hash_struct(MAIL.message).hex() == (
        "c52c0ee5d84264471806290a3f2c4cecfc5490626bf912d01f240d7a274b371e"
    )
    assert MAIL.digest().hex() == "be609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2"
    signer = LocalSigner(COW)
    assert signer.address == "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"
    assert signer.sign(MAIL.digest()).hex() == (
        "4355c47d63924e8a72e509b65029052eb6c299d53a04e167c5775fd466751c9d"
        "07299936d304c153f6443dfa05f40ff007d72911b6f72307f996231605b915621c"
    )


def test_the_type_hash_of_eip_3009() -> None:
    leave = Authorization(
        payer="0x" + "11" * 20,
        pay_to="0x" + "22" * 20,
        amount=5_000,
        after_s=0,
        before_s=1,
        nonce=bytes(32),
    )
    typed = typed_authorization(leave)
    assert keccak256(oracle.type_text(by_hand(typed).message).encode()).hex() == (
        "7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267"
    )


def test_the_published_signature_of_a_personal_message() -> None:
    # Source: web3.js, eth.accounts.sign.
    digest = message_digest("Some data")
    assert digest.hex() == "1da44b586eb0729ff70a73c326926f6ed5a25f5b056e7f47fbc6e58d86871655"
    signer = LocalSigner("0x4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318")
    assert signer.sign(digest).hex() == (
        "b91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd"
        "6007e74cd82e037b800186422fc2da167c747ef045e5d18a5f5d4300f8e1a0291c"
    )


def test_the_published_order_of_the_first_exchange() -> None:
    # Source: the venue's own order library, its test of a signed order on chain 80002.
    signer = LocalSigner(ANVIL_KEY)
    order = SignableOrder(
        exchange=ExchangeVersion.V1,
        salt=479_249_096_354,
        maker=signer.address,
        token_id=1234,
        maker_amount=100_000_000,
        taker_amount=50_000_000,
        action=OrderAction.BUY,
        fee_rate_bps=100,
    )
    book = replace(
        POLYGON, chain_id=80002, v1_exchange="0xdFE02Eb6733538f8Ea35D585af8DE5958AD99E40"
    )
    signed = sign_order(order, signer, is_neg_risk=False, book=book)
    assert signed.signature == (
        "0x302cd9abd0b5fcaa202a344437ec0b6660da984e24ae9ad915a592a90facf5a5"
        "1bb8a873cd8d270f070217fea1986531d5eec66f1162a81f66e026db653bf7ce1c"
    )


def test_the_published_proof_of_a_wallet() -> None:
    # Source: the venue's own client, its test of the L1 signature on chain 80002.
    signer = LocalSigner(ANVIL_KEY)
    fields = (
        TypedField("address", "address", signer.address),
        TypedField("string", "timestamp", "10000000"),
        TypedField("uint256", "nonce", 23),
        TypedField("string", "message", TEXT),
    )
    domain = Domain(name="ClobAuthDomain", version="1", chain_id=80002)
    typed = TypedData(domain, Struct("ClobAuth", fields))
    assert signer.sign(typed.digest()).hex() == (
        "f62319a987514da40e57e2f4d7529f7bac38f0355bd88bb5adbb3768d80de6c1"
        "682518e0af677d5260366425f4361e7b70c25ae232aff0ab2331e2b164a1aedc1b"
    )


def full_message(typed: TypedData) -> dict[str, object]:
    """The same as the library takes it."""
    structs = (by_hand(typed).domain.struct(), by_hand(typed).message)
    return {
        "types": {
            struct.name: [{"name": part.name, "type": part.kind} for part in struct.fields]
            for struct in structs
        },
        "primaryType": typed.message.name,
        "domain": {part.name: part.value for part in structs[0].fields},
        "message": {part.name: part.value for part in structs[1].fields},
    }


def random_order(rng: random.Random, maker: str) -> TypedData:
    exchange = rng.choice(list(ExchangeVersion))
    order = SignableOrder(
        exchange=exchange,
        salt=rng.getrandbits(53),
        maker=maker,
        token_id=rng.getrandbits(rng.randrange(1, 257)),
        maker_amount=rng.getrandbits(60),
        taker_amount=rng.getrandbits(60),
        action=rng.choice(list(OrderAction)),
        fee_rate_bps=rng.randrange(1000) if exchange is ExchangeVersion.V1 else 0,
        at_ms=rng.getrandbits(43) if exchange is ExchangeVersion.V2 else 0,
        builder=rng.randbytes(32),
    )
    return typed_order(order, is_neg_risk=rng.random() < 0.5)


def random_authorization(rng: random.Random, payer: str) -> TypedData:
    leave = Authorization(
        payer=payer,
        pay_to=checksummed("0x" + rng.randbytes(20).hex()),
        amount=rng.getrandbits(80),
        after_s=rng.getrandbits(33),
        before_s=rng.getrandbits(33),
        nonce=rng.randbytes(32),
    )
    return typed_authorization(leave)


def random_struct(rng: random.Random, _: str) -> TypedData:
    fields = (
        TypedField("string", "text", "".join(chr(rng.randrange(1, 0xD800)) for _ in range(20))),
        TypedField("bytes", "data", rng.randbytes(rng.randrange(80))),
        TypedField("bool", "flag", rng.random() < 0.5),
        TypedField("uint8", "small", rng.randrange(256)),
        TypedField("uint256", "large", rng.getrandbits(256)),
        TypedField("bytes32", "id", rng.randbytes(32)),
    )
    domain = Domain(name="N", version=str(rng.random()), chain_id=rng.getrandbits(60))
    return TypedData(domain, Struct("Any", fields))


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(10))
def test_a_hundred_random_messages_are_those_of_the_library_to_the_byte(seed: int) -> None:
    rng = random.Random(seed)
    makers = (random_order, random_authorization, random_struct)
    for turn in range(100):
        key = rng.randrange(1, 2**252).to_bytes(32, "big")
        signer = LocalSigner(key)
        typed = makers[turn % 3](rng, signer.address)
        expected = Account.sign_message(
            encode_typed_data(full_message=full_message(typed)), private_key=key
        )
        assert typed.digest() == bytes(expected.message_hash) == by_hand(typed).digest()
        assert signer.sign(typed.digest()) == bytes(expected.signature)
        assert recovered(typed.digest(), bytes(expected.signature)) == signer.address


def test_random_personal_messages_are_those_of_the_library() -> None:
    rng = random.Random(5)
    for _ in range(30):
        text = "".join(chr(rng.randrange(1, 0x500)) for _ in range(rng.randrange(200)))
        key = rng.randbytes(32)
        expected = Account.sign_message(encode_defunct(text=text), private_key=key)
        assert LocalSigner(key).sign(message_digest(text)) == bytes(expected.signature)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("uint8", 256),
        ("uint256", -1),
        ("uint256", 2**256),
        ("uint7", 1),
        ("uint264", 1),
        ("uint256", True),
        ("uint256", "1"),
        ("bool", 1),
        ("bytes32", bytes(31)),
        ("address", "0x12"),
        ("string", b"x"),
        ("Person", Struct("Animal", ())),
        ("uint256[]", [1]),
        ("bytes32", "0x" + "00" * 32),
        ("int256", 1),
    ],
)
def test_a_value_that_its_type_cannot_hold_is_refused(kind: str, value: object) -> None:
    fields = (TypedField(kind, "f", value),)  # pyright: ignore[reportArgumentType]
    with pytest.raises(MalformedError):
        TypedData(Domain(name="N", version="1", chain_id=1), Struct("S", fields)).digest()


def test_credentials_carry_what_the_service_checks() -> None:
    signer = LocalSigner(ANVIL_KEY)
    proof = sign_credentials(signer, now_s=1_790_000_000)
    expected = encode_typed_data(
        full_message={
            "types": {
                "EIP712Domain": [
                    {"name": "name", "type": "string"},
                    {"name": "version", "type": "string"},
                    {"name": "chainId", "type": "uint256"},
                ],
                "ClobAuth": [
                    {"name": "address", "type": "address"},
                    {"name": "timestamp", "type": "string"},
                    {"name": "nonce", "type": "uint256"},
                    {"name": "message", "type": "string"},
                ],
            },
            "primaryType": "ClobAuth",
            "domain": {"name": "ClobAuthDomain", "version": "1", "chainId": 137},
            "message": {
                "address": signer.address,
                "timestamp": "1790000000",
                "nonce": 0,
                "message": "This message attests that I control the given wallet",
            },
        }
    )
    theirs = Account.sign_message(expected, private_key=ANVIL_KEY)
    assert proof.poly_signature == "0x" + bytes(theirs.signature).hex()
    assert proof.poly_signature not in repr(proof)


def test_an_order_signed_for_one_exchange_is_nobodys_on_the_other() -> None:
    signer = LocalSigner(ANVIL_KEY)
    order = SignableOrder(
        exchange=ExchangeVersion.V2,
        salt=1,
        maker=signer.address,
        token_id=1,
        maker_amount=1,
        taker_amount=1,
        action=OrderAction.SELL,
        at_ms=1_790_000_000_000,
    )
    signed = sign_order(order, signer, is_neg_risk=True)
    assert order_signer(signed, is_neg_risk=True) == signer.address
    assert order_signer(signed, is_neg_risk=False) != signer.address
    moved = SignedOrder(replace(order, taker_amount=2), signed.signature)
    assert order_signer(moved, is_neg_risk=True) != signer.address
