from dataclasses import replace

import pytest

from kit.chain.counting import CountingSigner
from service_tui.signing.approvals import approvals, missing
from service_tui.signing.book import POLYGON, ExchangeVersion
from service_tui.signing.calls import (
    UINT_MAX,
    ZERO_32,
    Approve,
    RedeemNegRisk,
    RedeemPositions,
    SetApprovalForAll,
    decode_call,
    encode_call,
)
from service_tui.signing.errors import PolicyRefusedError, Rule
from service_tui.signing.policy import (
    GWEI,
    POL,
    Limits,
    Price,
    Redemption,
    SigningPolicy,
    Unsigned,
)
from service_tui.signing.signer import Signer
from service_tui.signing.transactions import (
    SignedTransaction,
    decode_transaction,
    sign_transaction,
)

CONDITION = bytes(range(32))
OTHER = "0x" + "ab" * 20
ASKED = Redemption(condition_id=CONDITION, is_yes=True, is_neg_risk=False)
NEG_RISK = replace(ASKED, is_neg_risk=True, shares=5_000_000)
PRICE = Price(nonce=7, gas=180_000, max_fee=120 * GWEI, max_priority_fee=30 * GWEI)
STANDARD = RedeemPositions(POLYGON.usdc_bridged, ZERO_32, CONDITION, (1, 2))


def hexed(call: object) -> str:
    assert isinstance(call, RedeemPositions | RedeemNegRisk | Approve | SetApprovalForAll)
    return "0x" + encode_call(call).hex()


def proposal(signer: Signer, **changes: object) -> Unsigned:
    fair = Unsigned(
        to=POLYGON.conditional_tokens,
        data=hexed(STANDARD),
        sender=signer.address,
        gas=200_000,
        chain_id=137,
    )
    return replace(fair, **changes)  # pyright: ignore[reportArgumentType]


def redeemed(
    signer: Signer,
    unsigned: Unsigned,
    asked: Redemption = ASKED,
    *,
    policy: SigningPolicy | None = None,
    price: Price = PRICE,
    spent_today: int = 0,
) -> SignedTransaction:
    """The whole way: judge, price, sign."""
    policy = policy or SigningPolicy()
    judged = policy.redemption(asked, unsigned, signer.address)
    return sign_transaction(policy.transaction(judged, price, spent_today=spent_today), signer)


def test_a_fair_redemption_is_signed_for_the_side_asked_for_only() -> None:
    signer = CountingSigner()
    signed = redeemed(signer, proposal(signer))
    read = decode_transaction(signed.hex).transaction
    assert signer.signatures == 1
    assert signed.sender == signer.address
    assert (read.chain_id, read.nonce, read.value, read.to) == (
        137,
        7,
        0,
        POLYGON.conditional_tokens,
    )
    assert decode_call(read.data) == replace(STANDARD, index_sets=(1,))


def test_the_other_side_is_the_other_index_set() -> None:
    signer = CountingSigner()
    signed = redeemed(signer, proposal(signer), replace(ASKED, is_yes=False))
    assert decode_call(signed.transaction.data) == replace(STANDARD, index_sets=(2,))


@pytest.mark.parametrize(("is_yes", "amounts"), [(True, (4_000_000, 0)), (False, (0, 3_000_000))])
def test_a_negative_risk_redemption_burns_one_side(
    *, is_yes: bool, amounts: tuple[int, ...]
) -> None:
    signer = CountingSigner()
    data = hexed(RedeemNegRisk(CONDITION, (4_000_000, 3_000_000)))
    signed = redeemed(
        signer,
        proposal(signer, to=POLYGON.neg_risk_adapter, data=data),
        replace(NEG_RISK, is_yes=is_yes),
    )
    assert decode_call(signed.transaction.data) == RedeemNegRisk(CONDITION, amounts)


def test_fields_that_a_service_may_leave_out_may_be_missing() -> None:
    signer = CountingSigner()
    bare = Unsigned(to=POLYGON.conditional_tokens.lower(), data=hexed(STANDARD))
    assert redeemed(signer, bare).transaction.gas == PRICE.gas


@pytest.mark.parametrize("chain_id", [137, "137", "0x89"])
def test_a_chain_may_be_written_as_a_node_writes_it(chain_id: object) -> None:
    signer = CountingSigner()
    assert redeemed(signer, proposal(signer, chain_id=chain_id)).transaction.chain_id == 137


def call_of(**changes: object) -> str:
    return hexed(replace(STANDARD, **changes))  # pyright: ignore[reportArgumentType]


HOSTILE: dict[str, tuple[dict[str, object], Rule]] = {
    "no target": ({"to": None}, Rule.TARGET),
    "another target": ({"to": OTHER}, Rule.TARGET),
    "the collateral as target": ({"to": POLYGON.usdc_bridged}, Rule.TARGET),
    "the adapter of other markets": ({"to": POLYGON.neg_risk_adapter}, Rule.TARGET),
    "a target with escapes": ({"to": "\x1b]52;c;YQ==\x07"}, Rule.TARGET),
    "a target cut off": ({"to": POLYGON.conditional_tokens[:-1]}, Rule.TARGET),
    "another sender": ({"sender": OTHER}, Rule.SENDER),
    "a sender of no form": ({"sender": "you"}, Rule.SENDER),
    "another chain": ({"chain_id": 1}, Rule.CHAIN),
    "a chain in words": ({"chain_id": "polygon"}, Rule.CHAIN),
    "a chain that is true": ({"chain_id": True}, Rule.CHAIN),
    "value": ({"value": 1}, Rule.VALUE),
    "value in hex": ({"value": "0xde0b6b3a7640000"}, Rule.VALUE),
    "value that is no number": ({"value": "NaN"}, Rule.VALUE),
    "huge gas": ({"gas": 1_500_001}, Rule.GAS),
    "huge gas in hex": ({"gas": "0xffffffffffffffff"}, Rule.GAS),
    "no gas": ({"gas": 0}, Rule.GAS),
    "negative gas": ({"gas": -1}, Rule.GAS),
    "gas that is no number": ({"gas": "1e9"}, Rule.GAS),
    "gas behind a zero": ({"gas": "0234000"}, Rule.GAS),
    "no data": ({"data": ""}, Rule.FORM),
    "empty data": ({"data": "0x"}, Rule.SELECTOR),
    "garbage hex": ({"data": "0xzz"}, Rule.FORM),
    "odd hex": ({"data": "0x123"}, Rule.FORM),
    "hex with spaces": ({"data": "0x01b7 037c"}, Rule.FORM),
    "an unknown function": ({"data": "0xdeadbeef" + "00" * 128}, Rule.SELECTOR),
    "safeTransferFrom": ({"data": "0xf242432a" + "00" * 192}, Rule.SELECTOR),
    "an approval": ({"data": hexed(Approve(OTHER, UINT_MAX))}, Rule.SELECTOR),
    "an operator": ({"data": hexed(SetApprovalForAll(OTHER, is_approved=True))}, Rule.SELECTOR),
    "the adapter's function": ({"data": hexed(RedeemNegRisk(CONDITION, (1, 0)))}, Rule.SELECTOR),
    "another market": ({"data": call_of(condition_id=ZERO_32)}, Rule.ARGUMENT),
    "a foreign collateral": ({"data": call_of(collateral=OTHER)}, Rule.ARGUMENT),
    "a parent collection": ({"data": call_of(parent_collection_id=CONDITION)}, Rule.ARGUMENT),
    "only the other side": ({"data": call_of(index_sets=(2,))}, Rule.ARGUMENT),
    "no side": ({"data": call_of(index_sets=())}, Rule.ARGUMENT),
    "a side twice": ({"data": call_of(index_sets=(1, 1))}, Rule.ARGUMENT),
    "both sides as one": ({"data": call_of(index_sets=(1, 3))}, Rule.ARGUMENT),
    "bytes behind the end": ({"data": call_of() + "00"}, Rule.FORM),
    "a word behind the end": ({"data": call_of() + "00" * 32}, Rule.FORM),
    "arguments cut off": ({"data": call_of()[:-64]}, Rule.FORM),
    "a list elsewhere": (
        {"data": call_of().replace("80".zfill(64), "a0".zfill(64), 1)},
        Rule.FORM,
    ),
    "an address of 21 bytes": ({"data": "0x01b7037c" + "01" + call_of()[12:]}, Rule.FORM),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_hostile_is_refused_and_nothing_is_signed(name: str) -> None:
    changes, rule = HOSTILE[name]
    signer = CountingSigner()
    with pytest.raises(PolicyRefusedError) as refused:
        redeemed(signer, proposal(signer, **changes))
    assert refused.value.rule is rule
    assert signer.signatures == 0
    assert refused.value.sentence
    shown = str(refused.value) + "".join(refused.value.decoded)
    assert shown.isprintable()


NEG_RISK_HOSTILE: dict[str, tuple[int, ...]] = {
    "nothing of the side asked for": (0, 1),
    "more than is held": (5_000_001, 0),
    "one amount": (1,),
    "three amounts": (1, 1, 1),
}


@pytest.mark.parametrize("name", NEG_RISK_HOSTILE)
def test_amounts_of_negative_risk_must_be_those_held(name: str) -> None:
    signer = CountingSigner()
    data = hexed(RedeemNegRisk(CONDITION, NEG_RISK_HOSTILE[name]))
    with pytest.raises(PolicyRefusedError) as refused:
        redeemed(signer, proposal(signer, to=POLYGON.neg_risk_adapter, data=data), NEG_RISK)
    assert refused.value.rule is Rule.ARGUMENT
    assert signer.signatures == 0


@pytest.mark.parametrize(
    ("price", "spent", "rule"),
    [
        (replace(PRICE, gas=1_500_001), 0, Rule.GAS),
        (replace(PRICE, gas=0), 0, Rule.GAS),
        (replace(PRICE, max_fee=1_000 * GWEI + 1), 0, Rule.FEE),
        (replace(PRICE, max_fee=0), 0, Rule.FEE),
        (replace(PRICE, max_priority_fee=121 * GWEI), 0, Rule.FEE),
        (replace(PRICE, gas=1_500_000, max_fee=334 * GWEI), 0, Rule.TOTAL),
        (PRICE, 2 * POL, Rule.DAY),
        (PRICE, -1, Rule.FEE),
    ],
)
def test_every_cap_holds(price: Price, spent: int, rule: Rule) -> None:
    signer = CountingSigner()
    with pytest.raises(PolicyRefusedError) as refused:
        redeemed(signer, proposal(signer), price=price, spent_today=spent)
    assert refused.value.rule is rule
    assert refused.value.decoded
    assert signer.signatures == 0


def test_a_cap_can_be_set() -> None:
    signer = CountingSigner()
    dear = replace(PRICE, gas=1_900_000, max_fee=900 * GWEI)
    policy = SigningPolicy(limits=Limits(gas_max=2_000_000, total_max=2 * POL))
    assert (
        redeemed(signer, proposal(signer), policy=policy, price=dear).transaction.gas == 1_900_000
    )


def test_the_second_generation_has_its_own_targets_and_money() -> None:
    signer, policy = CountingSigner(), SigningPolicy(exchange=ExchangeVersion.V2)
    data = call_of(collateral=POLYGON.pusd)
    unsigned = proposal(signer, to=POLYGON.collateral_adapter, data=data)
    assert redeemed(signer, unsigned, policy=policy).transaction.to == POLYGON.collateral_adapter
    with pytest.raises(PolicyRefusedError):
        redeemed(signer, unsigned)
    assert signer.signatures == 1


def test_a_position_without_a_condition_waits_for_a_hand() -> None:
    signer = CountingSigner()
    unknown = Redemption(condition_id=None, is_yes=True, is_neg_risk=None)
    judged = SigningPolicy().redemption(unknown, proposal(signer), signer.address)
    assert not judged.is_certain
    assert f"condition: 0x{CONDITION.hex()}" in judged.lines


@pytest.mark.parametrize(("exchange", "count"), [(ExchangeVersion.V1, 9), (ExchangeVersion.V2, 12)])
def test_the_approvals_are_those_of_the_reference(exchange: ExchangeVersion, count: int) -> None:
    wanted = approvals(POLYGON, exchange)
    assert len({approval.key for approval in wanted}) == count
    assert all(approval.key == approval.key.lower() for approval in wanted)
    assert missing(wanted, {wanted[0].key: True, wanted[1].key: False}) == wanted[1:]


def test_an_approval_of_the_list_is_signed_and_no_other() -> None:
    signer, policy = CountingSigner(), SigningPolicy()
    wanted = approvals(POLYGON, ExchangeVersion.V1)
    price = replace(PRICE, gas=100_000)
    for approval in wanted:
        tx = policy.transaction(policy.approval(approval), price, spent_today=0)
        assert decode_call(sign_transaction(tx, signer).transaction.data) == approval.call
    foreign = replace(wanted[0], call=Approve(OTHER, UINT_MAX))
    elsewhere = replace(wanted[0], to=OTHER)
    other_generation = approvals(POLYGON, ExchangeVersion.V2)[0]
    for approval in (foreign, elsewhere, other_generation):
        with pytest.raises(PolicyRefusedError):
            policy.approval(approval)
    assert signer.signatures == len(wanted)


def test_the_adapters_of_the_second_exchange_stand_where_they_were_published() -> None:
    # Source: wire reference, 6.1. Each takes the positions of its own kind of market only.
    assert POLYGON.collateral_adapter == "0xAdA100Db00Ca00073811820692005400218FcE1f"
    assert POLYGON.neg_risk_collateral_adapter == "0xadA2005600Dec949baf300f4C6120000bDB6eAab"
