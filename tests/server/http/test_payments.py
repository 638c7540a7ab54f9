"""Which payments for a call hold, checked figure by figure."""

import base64
import json
from typing import Any

import pytest

from kit.chain.counting import CountingSigner
from kit.engine.bare import AT, bare_world
from service_tui.addresses import keccak256
from service_tui.engine.chain_events import CallPaid, WalletLinked
from service_tui.engine.world import World
from service_tui.server.http.payments import (
    RECIPIENT,
    TEXT_MAX,
    PaymentRefused,
    checked_payment,
    offer_for,
    receipt,
    refusal_body,
)
from service_tui.signing.payments import Authorization, typed_authorization
from service_tui.units import Micros

OWN = CountingSigner()
URL = "https://desk.example/api/sdk/markets"
NOW = int(AT)
NONCE = "0x" + "AB" * 32


def linked(pay: int = 12_000) -> World:
    world = bare_world("ada", "bea")
    world.apply(WalletLinked("ada", AT, OWN.address, 0, Micros(pay)))
    return world


def header(signer: CountingSigner = OWN, network: str = "base", **changes: object) -> str:
    """A payment of what was offered, or of something else, with a signature that is right."""
    known: dict[str, Any] = {
        "from": OWN.address, "to": RECIPIENT, "value": 5_000, "validAfter": NOW,
        "validBefore": NOW + 600, "nonce": NONCE,
    }  # fmt: skip
    stated = known | changes
    digest = typed_authorization(
        Authorization(
            payer=stated["from"],
            pay_to=stated["to"],
            amount=stated["value"],
            after_s=stated["validAfter"],
            before_s=stated["validBefore"],
            nonce=bytes.fromhex(stated["nonce"][2:]),
        )
    ).digest()
    authorization = {name: str(value) for name, value in stated.items()}
    payload = {
        "signature": "0x" + signer.sign(digest).hex(),
        "authorization": authorization,
    }
    body = {"x402Version": 1, "scheme": "exact", "network": network, "payload": payload}
    return base64.b64encode(json.dumps(body).encode()).decode()


def paid(world: World, text: str, agent_id: str = "ada", price: int = 5_000) -> CallPaid:
    return checked_payment(world, world.agents[agent_id], text, (URL, AT), price=price)


def test_a_payment_of_the_offer_is_taken_down_as_it_was_signed() -> None:
    assert paid(linked(), header()) == CallPaid(
        "ada", AT, OWN.address, NONCE.lower(), Micros(5_000), URL
    )


REFUSALS: dict[str, dict[str, object]] = {
    "the payment is for another chain": {"network": "polygon"},
    "the payment goes to somebody else": {"to": "0x" + "12" * 20},
    "the payment is not the price": {"value": 5_001},
    "the authorisation is not good yet": {"validAfter": NOW + 1},
    "the authorisation has expired": {"validBefore": NOW},
    "it is good for too long": {"validBefore": NOW + 601},
    "the signature is not the payer's": {"signer": CountingSigner("5d" * 32)},
}


@pytest.mark.parametrize("why", REFUSALS)
def test_a_payment_that_differs_in_one_thing_is_refused_for_it(why: str) -> None:
    changes: dict[str, Any] = REFUSALS[why]
    with pytest.raises(PaymentRefused) as refused:
        paid(linked(), header(**changes))
    assert str(refused.value) == f"payment refused: {why}"


def test_a_payment_below_the_price_is_refused_too() -> None:
    with pytest.raises(PaymentRefused, match="is not the price"):
        paid(linked(), header(value=4_999))


def test_a_payment_ends_just_after_now_at_the_earliest() -> None:
    assert paid(linked(), header(validBefore=NOW + 1, validAfter=0)).agent_id == "ada"


def test_only_the_wallet_that_is_linked_pays() -> None:
    world = linked()
    with pytest.raises(PaymentRefused, match="is not the linked wallet"):
        paid(world, header(), "bea")
    world.apply(WalletLinked("bea", AT, "0x" + "12" * 20))
    with pytest.raises(PaymentRefused, match="is not the linked wallet"):
        paid(world, header(), "bea")


def test_an_authorisation_pays_once_whatever_the_case_of_its_letters() -> None:
    world = linked()
    world.apply(paid(world, header()))
    with pytest.raises(PaymentRefused, match="was used before"):
        paid(world, header(nonce=NONCE.lower()))
    assert paid(world, header(nonce="0x" + "cd" * 32)).nonce == "0x" + "cd" * 32


@pytest.mark.parametrize(("held", "taken"), [(5_000, True), (4_999, False)])
def test_the_paying_wallet_holds_the_price(*, held: int, taken: bool) -> None:
    if taken:
        assert paid(linked(held), header()).amount == 5_000
    else:
        with pytest.raises(PaymentRefused, match="insufficient balance"):
            paid(linked(held), header())


def test_a_call_may_have_a_price_of_its_own() -> None:
    world = linked()
    assert paid(world, header(value=7_000), price=7_000).amount == 7_000
    with pytest.raises(PaymentRefused, match="is not the price"):
        paid(world, header(), price=7_000)


@pytest.mark.parametrize("text", ["", "?", "e30=", "e30", base64.b64encode(b"[]").decode()])
def test_what_is_no_payment_has_not_the_form(text: str) -> None:
    with pytest.raises(PaymentRefused, match="has not the form of the protocol"):
        paid(linked(), text)


@pytest.mark.parametrize(
    ("letters", "why"), [(TEXT_MAX, "has not the form"), (TEXT_MAX + 1, "is too long")]
)
def test_a_payment_of_the_greatest_length_is_still_read(letters: int, why: str) -> None:
    with pytest.raises(PaymentRefused, match=why):
        paid(linked(), "A" * letters)


def test_a_header_as_long_as_allowed_is_taken() -> None:
    raw = base64.b64decode(header())
    text = base64.b64encode(raw + b" " * (TEXT_MAX // 4 * 3 - len(raw))).decode()
    assert len(text) == TEXT_MAX
    assert paid(linked(), text).agent_id == "ada"


def test_an_offer_says_who_is_paid_how_much_of_what() -> None:
    assert offer_for(URL, 6_000).model_dump(by_alias=True) == {
        "scheme": "exact",
        "network": "base",
        "maxAmountRequired": "6000",
        "resource": URL,
        "description": "one call, with play money",
        "mimeType": "application/json",
        "payTo": RECIPIENT,
        "maxTimeoutSeconds": 60,
        "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        "extra": {"name": "USD Coin", "version": "2"},
    }
    assert offer_for(URL).max_amount_required == "5000"


def test_a_refused_payment_is_answered_with_the_offer_again() -> None:
    body = refusal_body("too late", URL, 6_000)
    assert (body.error, body.detail, body.x402_url, body.x402_version) == (
        "too late",
        "too late",
        URL,
        1,
    )
    assert body.accepts == (offer_for(URL, 6_000),)
    assert body.fix == "sign exactly the offer, once, with the key of the linked wallet; or wait"


def test_a_receipt_names_the_payer_and_a_number_of_its_own() -> None:
    one = CallPaid("ada", AT, OWN.address, NONCE.lower(), Micros(5_000), URL)
    number = keccak256(f"{OWN.address}:{NONCE.lower()}".encode()).hex()
    assert json.loads(base64.b64decode(receipt(one))) == {
        "success": True,
        "transaction": f"0x{number}",
        "network": "base",
        "payer": OWN.address,
    }
