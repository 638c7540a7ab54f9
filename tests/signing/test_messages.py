"""Signed messages: challenges, credentials and payments."""

from dataclasses import replace

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct

from kit.chain.counting import CountingSigner
from service_tui.addresses import checksummed
from service_tui.signing.credentials import credentials_signer, sign_credentials
from service_tui.signing.errors import MalformedError, PolicyRefusedError, Rule
from service_tui.signing.link import Challenge, check_challenge, message_signer, sign_challenge
from service_tui.signing.payments import (
    USDC,
    Authorization,
    PaymentOffer,
    PaymentPolicy,
    authorization_signer,
    describe_offer,
    sign_payment,
    typed_authorization,
)

NOW_S = 1_790_000_000
HOST = "api.service.example"
OWN = CountingSigner().address
NONCE = "Zm9vYmFyYmF6cXV4"


def text(**changes: str) -> str:
    parts = {"host": HOST, "wallet": OWN, "nonce": NONCE, "more": "", **changes}
    return (
        f"Link this wallet to an agent of {parts['host']}.\n\nWallet: {parts['wallet']}\n"
        f"Nonce: {parts['nonce']}\nIt moves no money.{parts['more']}"
    )


FAIR = Challenge(address=OWN, nonce=NONCE, message=text(), expires_s=NOW_S + 300.0)


def signed(challenge: Challenge, signer: CountingSigner) -> str:
    return sign_challenge(challenge, signer, host=HOST, now_s=NOW_S)


def test_a_challenge_is_signed_as_the_library_would() -> None:
    signature = signed(FAIR, CountingSigner())
    expected = Account.sign_message(encode_defunct(text=FAIR.message), private_key="4c" * 32)
    assert signature == "0x" + bytes(expected.signature).hex()
    assert message_signer(FAIR.message, bytes.fromhex(signature[2:])) == OWN


@pytest.mark.parametrize("host", [HOST, "127.0.0.1", "localhost", "service", "::1"])
def test_the_services_own_host_is_named_exactly(host: str) -> None:
    named = f"[{host}]" if ":" in host else host
    written = [text(host=f"http://{named}:8400")]
    # A single label is told from a word by what stands around it.
    written += [text(host=named), text(more=f"\nOf {named}.", host=named)] * (host != "service")
    for message in written:
        challenge = replace(FAIR, message=message)
        assert sign_challenge(challenge, CountingSigner(), host=host, now_s=NOW_S)


SIWE = f"other.example wants you to sign in with your account:\n{OWN}\nNonce: {NONCE}"
REFUSED: dict[str, tuple[Challenge, Rule]] = {
    "another wallet": (replace(FAIR, address="0x" + "11" * 20), Rule.SENDER),
    "no wallet": (replace(FAIR, address="me"), Rule.SENDER),
    "expired": (replace(FAIR, expires_s=NOW_S - 1.0), Rule.TIME),
    "expires never": (replace(FAIR, expires_s=float("nan")), Rule.TIME),
    "no text": (replace(FAIR, message=""), Rule.TEXT),
    "a long text": (replace(FAIR, message=text(more="." * 2_000)), Rule.TEXT),
    "no nonce": (replace(FAIR, message=text(nonce="")), Rule.TEXT),
    "another nonce": (replace(FAIR, nonce="b" * 16), Rule.TEXT),
    "a nonce of no form": (replace(FAIR, nonce=""), Rule.NONCE),
    "no address": (replace(FAIR, message=text(wallet="")), Rule.TEXT),
    "another address": (replace(FAIR, message=text(more=" 0x" + "ab" * 20)), Rule.TEXT),
    "a hash": (replace(FAIR, message=text(more=" " + "ab" * 32)), Rule.TEXT),
    "a hash with 0x": (replace(FAIR, message=text(more=" 0x" + "ab" * 32)), Rule.TEXT),
    "another service": (replace(FAIR, message=text(host="evil.example")), Rule.TEXT),
    "a host that ends alike": (
        replace(FAIR, message=text(host="evilapi.service.example.com")),
        Rule.TEXT,
    ),
    "a sign-in elsewhere": (replace(FAIR, message=SIWE), Rule.TEXT),
    "no service": (replace(FAIR, message=text(host="ours")), Rule.TEXT),
    "its domain": (replace(FAIR, message=text(host="service.example")), Rule.TEXT),
    "an address of a machine": (replace(FAIR, message=text(more=" 10.0.0.1")), Rule.TEXT),
    "this machine": (replace(FAIR, message=text(more=" localhost:80")), Rule.TEXT),
    "a single label": (replace(FAIR, message=text(more=" http://intranet/")), Rule.TEXT),
    "a split hash": (
        replace(FAIR, message=text(more="\n" + "ab" * 16 + "\n" + "ab" * 16)),
        Rule.TEXT,
    ),
    "a hash as nonce": (
        replace(FAIR, nonce="ab" * 32, message=text(nonce="ab" * 32)),
        Rule.TEXT,
    ),
    "escapes": (replace(FAIR, message=text(more="\x1b[2J")), Rule.TEXT),
    "a prefix of bytes": (replace(FAIR, message="\x19\x01" + text()), Rule.TEXT),
    "text that runs backwards": (replace(FAIR, message=text(more="\u202e")), Rule.TEXT),
    "letters that look alike": (replace(FAIR, message=text(more=" \u0430")), Rule.TEXT),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_challenge_is_not_signed(name: str) -> None:
    challenge, rule = REFUSED[name]
    signer = CountingSigner()
    with pytest.raises(PolicyRefusedError) as refused:
        signed(challenge, signer)
    assert refused.value.rule is rule
    assert signer.signatures == 0


def test_a_proof_says_who_signed_it() -> None:
    proof = sign_credentials(CountingSigner(), now_s=NOW_S, nonce=7)
    assert (proof.poly_timestamp, proof.poly_nonce) == (str(NOW_S), "7")
    assert credentials_signer(proof) == OWN
    assert credentials_signer(replace(proof, poly_nonce="8")) != OWN
    assert credentials_signer(replace(proof, poly_timestamp=str(NOW_S + 1))) != OWN


@pytest.mark.parametrize(
    "changes",
    [
        {"poly_address": "me"},
        {"poly_signature": "0x"},
        {"poly_signature": "0x" + "zz" * 65},
        {"poly_timestamp": "-1"},
        {"poly_nonce": ""},
        {"poly_nonce": "0x1"},
        {"poly_nonce": "٣"},
        {"poly_nonce": "9" * 90},
    ],
)
def test_a_proof_of_another_form_is_refused(changes: dict[str, str]) -> None:
    proof = sign_credentials(CountingSigner(), now_s=NOW_S)
    if changes == {"poly_nonce": ""}:
        changes = {"poly_nonce": "", "poly_timestamp": ""}
    with pytest.raises(MalformedError):
        credentials_signer(replace(proof, **changes))


@pytest.mark.parametrize(
    ("now_s", "skew_s", "nonce"),
    [
        (NOW_S, 30.5, 0),
        (NOW_S, -31.0, 0),
        (NOW_S, float("nan"), 0),
        (999, 0.0, 0),
        (10**10, 0.0, 0),
        (NOW_S, 0.0, -1),
        (NOW_S, 0.0, 10**20),
    ],
)
def test_no_proof_is_signed_at_a_wrong_time(now_s: int, skew_s: float, nonce: int) -> None:
    signer = CountingSigner()
    with pytest.raises(PolicyRefusedError):
        sign_credentials(signer, now_s=now_s, skew_s=skew_s, nonce=nonce)
    assert signer.signatures == 0


OFFER = PaymentOffer(
    host=HOST,
    scheme="exact",
    network="base",
    asset=USDC.address,
    pay_to="0x" + "AB" * 20,
    amount=5_000,
    life_s=60,
)
POLICY = PaymentPolicy(host=HOST, day_max=20_000)


def pay(
    offer: PaymentOffer, signer: CountingSigner, policy: PaymentPolicy = POLICY, paid: int = 0
) -> int:
    payment = sign_payment(offer, policy, signer, now_s=NOW_S, nonce=b"\7" * 32, paid_today=paid)
    assert authorization_signer(payment) == signer.address
    return payment.authorization.before_s


def test_the_documented_price_is_paid_and_only_for_a_while() -> None:
    assert pay(OFFER, CountingSigner()) == NOW_S + 60
    assert pay(replace(OFFER, life_s=10**9), CountingSigner()) == NOW_S + 120
    assert pay(replace(OFFER, network="eip155:8453"), CountingSigner())


def test_the_known_recipient_is_paid_and_no_other() -> None:
    known = replace(POLICY, recipient=OFFER.pay_to.lower())
    assert pay(OFFER, CountingSigner(), known)
    signer = CountingSigner()
    with pytest.raises(PolicyRefusedError):
        pay(replace(OFFER, pay_to="0x" + "cd" * 20), signer, known)
    assert signer.signatures == 0


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"host": "evil.example"}, Rule.TARGET),
        ({"scheme": "upto"}, Rule.FORM),
        ({"network": "base-sepolia"}, Rule.CHAIN),
        ({"network": "polygon"}, Rule.CHAIN),
        ({"asset": "0x" + "11" * 20}, Rule.TARGET),
        ({"asset": "usdc"}, Rule.TARGET),
        ({"pay_to": ""}, Rule.TARGET),
        ({"pay_to": "\x1b]52;c;YQ==\x07"}, Rule.TARGET),
        ({"amount": 5_001}, Rule.PRICE),
        ({"amount": 4_999}, Rule.PRICE),
        ({"amount": -5_000}, Rule.PRICE),
        ({"amount": 2**255}, Rule.PRICE),
    ],
)
def test_another_offer_is_not_paid(changes: dict[str, object], rule: Rule) -> None:
    signer = CountingSigner()
    with pytest.raises(PolicyRefusedError) as refused:
        pay(replace(OFFER, **changes), signer)  # pyright: ignore[reportArgumentType]
    assert refused.value.rule is rule
    assert all(line.isprintable() for line in refused.value.decoded)
    assert signer.signatures == 0


def test_the_days_cap_holds_and_nothing_is_off() -> None:
    signer = CountingSigner()
    assert pay(OFFER, signer, paid=15_000)
    for policy, paid in ((POLICY, 15_001), (replace(POLICY, day_max=0), 0), (POLICY, -1)):
        with pytest.raises(PolicyRefusedError) as refused:
            pay(OFFER, signer, policy, paid)
        assert refused.value.rule is Rule.DAY
    assert signer.signatures == 1


def test_a_payment_is_made_out_as_offered_and_for_no_more() -> None:
    signer = CountingSigner()
    offer = replace(OFFER, life_s=50)
    policy = replace(POLICY, price=4_000, day_max=9_000)
    made = sign_payment(
        replace(offer, amount=4_000),
        policy,
        signer,
        now_s=NOW_S,
        nonce=b"\7" * 32,
        paid_today=5_000,
    )
    assert made.authorization == Authorization(
        payer=OWN,
        pay_to=checksummed(OFFER.pay_to),
        amount=4_000,
        after_s=0,
        before_s=NOW_S + 50,
        nonce=b"\7" * 32,
    )


@pytest.mark.parametrize(
    ("life_s", "valid_s"), [(-5, 1), (0, 1), (1, 1), (119, 119), (120, 120), (121, 120)]
)
def test_a_payment_is_valid_for_a_second_to_two_minutes(life_s: int, valid_s: int) -> None:
    assert pay(replace(OFFER, life_s=life_s), CountingSigner()) == NOW_S + valid_s


@pytest.mark.parametrize("pay_to", ["0x" + "00" * 20, "0X" + "00" * 20, "", "0x12"])
def test_nobody_is_paid_at_an_address_of_none(pay_to: str) -> None:
    signer = CountingSigner()
    with pytest.raises(PolicyRefusedError) as refused:
        pay(replace(OFFER, pay_to=pay_to), signer)
    assert refused.value.sentence == "the offer names no address to be paid"
    assert signer.signatures == 0


def test_an_offer_is_described_a_line_a_fact() -> None:
    assert describe_offer(replace(OFFER, amount=4_321)) == (
        f"host: {HOST}",
        "price: 4321 millionths of USDC",
        f"paid to: {checksummed(OFFER.pay_to)}",
    )
    assert describe_offer(replace(OFFER, pay_to="me"))[2] == "paid to: no address"


def test_a_payment_is_made_in_the_token_of_the_chain_of_the_offer() -> None:
    # Source: EIP-3009 and the token's own contract, read on its chain.
    domain = USDC.domain
    assert (domain.name, domain.version) == ("USD Coin", "2")
    assert (domain.chain_id, domain.verifying_contract) == (8453, USDC.address)
    message = typed_authorization(
        Authorization(payer="a", pay_to="b", amount=3, after_s=4, before_s=5, nonce=b"6")
    ).message
    assert message.name == "TransferWithAuthorization"
    assert [(one.kind, one.name, one.value) for one in message.fields] == [
        ("address", "from", "a"),
        ("address", "to", "b"),
        ("uint256", "value", 3),
        ("uint256", "validAfter", 4),
        ("uint256", "validBefore", 5),
        ("bytes32", "nonce", b"6"),
    ]


@pytest.mark.slow
def test_a_challenge_of_the_greatest_length_is_signed_and_no_longer_one() -> None:
    full = text(more="." * (2_000 - len(text())))
    assert signed(replace(FAIR, message=full), CountingSigner())
    with pytest.raises(PolicyRefusedError, match="empty or too long"):
        signed(replace(FAIR, message=full + "."), CountingSigner())


@pytest.mark.parametrize("expires_s", [float(NOW_S), float("inf")])
def test_a_challenge_that_expires_now_or_never_is_not_signed(expires_s: float) -> None:
    with pytest.raises(PolicyRefusedError) as refused:
        signed(replace(FAIR, expires_s=expires_s), CountingSigner())
    assert refused.value.rule is Rule.TIME


@pytest.mark.parametrize(("letters", "taken"), [(7, False), (8, True), (128, True), (129, False)])
def test_a_nonce_has_eight_to_128_letters(*, letters: int, taken: bool) -> None:
    nonce = "z" * letters
    challenge = replace(FAIR, nonce=nonce, message=text(nonce=nonce))
    if taken:
        assert signed(challenge, CountingSigner())
    else:
        with pytest.raises(PolicyRefusedError) as refused:
            signed(challenge, CountingSigner())
        assert refused.value.rule is Rule.NONCE


@pytest.mark.parametrize("digits", [63, 64])
def test_a_text_holds_up_to_63_hex_digits_in_a_row(digits: int) -> None:
    # A blank line keeps the digits apart from the words around them only for the eye.
    challenge = replace(FAIR, message=text(more="\n" + "1" * digits + " ."))
    if digits == 63:
        assert signed(challenge, CountingSigner())
    else:
        with pytest.raises(PolicyRefusedError, match="a hash"):
            signed(challenge, CountingSigner())


@pytest.mark.parametrize("skew_s", [30.0, -30.0])
def test_a_proof_is_signed_where_the_clocks_are_just_near_enough(skew_s: float) -> None:
    proof = sign_credentials(CountingSigner(), now_s=NOW_S, skew_s=skew_s)
    assert credentials_signer(proof) == OWN


CHECKED = {
    "the greatest length": (text(more=" " * (2_000 - len(text()))), ""),
    "a letter more": (text(more=" " * (2_001 - len(text()))), "empty or too long"),
    "a hash that begins with the wallet": (text(more="\n" + OWN + "\n" + "ab" * 12), "a hash"),
    "the host in capitals": (text(host=HOST.upper()), ""),
    "a second host": (text(more=" evil.example"), "another service"),
}


@pytest.mark.parametrize("name", CHECKED)
def test_a_text_is_judged_before_anything_is_signed(name: str) -> None:
    message, fault = CHECKED[name]
    challenge = replace(FAIR, message=message)
    for host in (HOST, HOST.upper()):
        if not fault:
            check_challenge(challenge, OWN, host=host, now_s=NOW_S)
            continue
        with pytest.raises(PolicyRefusedError, match=fault):
            check_challenge(challenge, OWN, host=host, now_s=NOW_S)
