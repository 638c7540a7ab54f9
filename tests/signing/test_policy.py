"""The signing policy: which transactions are signed, and which are refused."""

from dataclasses import replace

import pytest

from kit.chain.counting import CountingSigner
from service_tui.addresses import checksummed
from service_tui.signing.approvals import approvals, missing
from service_tui.signing.book import POLYGON, ExchangeVersion
from service_tui.signing.calls import (
    UINT_MAX,
    ZERO_32,
    Approve,
    Call,
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
    SignableCall,
    SigningPolicy,
    Unsigned,
    describe_call,
    described,
)
from service_tui.signing.signer import Signer
from service_tui.signing.transactions import (
    SignedTransaction,
    decode_transaction,
    sign_transaction,
)

OWNER = CountingSigner().address
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


AT_THE_CAP = replace(PRICE, gas=1_000_000, max_fee=500 * GWEI, max_priority_fee=500 * GWEI)
"""Half a POL, the cap of one transaction."""


@pytest.mark.parametrize(
    ("price", "spent"),
    [
        (replace(PRICE, gas=1_500_000, max_fee=1 * GWEI, max_priority_fee=0), 0),
        (replace(PRICE, gas=500_000, max_fee=1_000 * GWEI), 0),
        (AT_THE_CAP, 0),
        (AT_THE_CAP, 2 * POL - POL // 2),
        (replace(PRICE, gas=1, max_fee=1, max_priority_fee=1), 0),
    ],
)
def test_a_transaction_at_a_cap_is_still_signed(price: Price, spent: int) -> None:
    signer = CountingSigner()
    made = redeemed(signer, proposal(signer), price=price, spent_today=spent).transaction
    assert (made.nonce, made.gas) == (price.nonce, price.gas)
    assert (made.max_fee, made.max_priority_fee) == (price.max_fee, price.max_priority_fee)


@pytest.mark.parametrize(
    ("price", "spent", "rule", "sentence"),
    [
        (replace(PRICE, gas=1_500_001), 0, Rule.GAS, "gas 1500001 is above the cap of 1500000"),
        (
            replace(AT_THE_CAP, gas=1_000_001),
            0,
            Rule.TOTAL,
            "it may cost 500000500000000000 wei, above the cap of 500000000000000000",
        ),
        (
            AT_THE_CAP,
            2 * POL - POL // 2 + 1,
            Rule.DAY,
            "the day may cost 2000000000000000001 wei, cap 2000000000000000000",
        ),
        (
            replace(PRICE, max_priority_fee=PRICE.max_fee + 1),
            0,
            Rule.FEE,
            "the fees contradict each other",
        ),
        (replace(PRICE, max_priority_fee=-1), 0, Rule.FEE, "the fees contradict each other"),
    ],
)
def test_one_above_a_cap_is_refused_and_names_both(
    price: Price, spent: int, rule: Rule, sentence: str
) -> None:
    signer = CountingSigner()
    with pytest.raises(PolicyRefusedError) as refused:
        redeemed(signer, proposal(signer), price=price, spent_today=spent)
    assert (refused.value.rule, refused.value.sentence) == (rule, sentence)
    assert "outcomes: yes" in refused.value.decoded


@pytest.mark.parametrize("gas", [1, 1_500_000, "0x16e360", "1500000"])
def test_gas_up_to_the_cap_may_be_proposed(gas: object) -> None:
    signer = CountingSigner()
    judged = SigningPolicy().redemption(ASKED, proposal(signer, gas=gas), signer.address)
    assert judged.gas_hint == int(str(gas), 0)


def test_a_judged_redemption_is_described_for_the_side_that_is_signed() -> None:
    signer = CountingSigner()
    judged = SigningPolicy().redemption(ASKED, proposal(signer), signer.address)
    assert judged.to == POLYGON.conditional_tokens
    assert judged.call == replace(STANDARD, index_sets=(1,))
    assert judged.contract == "conditional tokens"
    assert judged.lines == (
        "function: redeemPositions",
        f"collateral: {POLYGON.usdc_bridged} (USDC.e (bridged))",
        f"condition: 0x{CONDITION.hex()}",
        "outcomes: yes",
    )
    assert (judged.is_certain, judged.gas_hint) == (True, 200_000)


@pytest.mark.parametrize(
    ("condition_id", "is_neg_risk", "certain"),
    [(CONDITION, False, True), (None, False, False), (CONDITION, None, False)],
)
def test_a_redemption_is_certain_where_all_of_it_is_known(
    *, condition_id: bytes | None, is_neg_risk: bool | None, certain: bool
) -> None:
    signer = CountingSigner()
    own = Redemption(condition_id=condition_id, is_yes=True, is_neg_risk=is_neg_risk)
    judged = SigningPolicy().redemption(own, proposal(signer, gas=None), signer.address)
    assert judged.is_certain is certain
    assert judged.gas_hint is None


def test_a_refusal_shows_what_was_proposed_and_what_it_calls() -> None:
    signer = CountingSigner()
    foreign = proposal(signer, to=OTHER, value=0, gas="0x10", chain_id="137")
    with pytest.raises(PolicyRefusedError) as refused:
        SigningPolicy().redemption(ASKED, foreign, signer.address)
    named = checksummed(OTHER)
    assert refused.value.sentence == (
        f"a redemption of this market does not go to {named} (unknown contract)"
    )
    assert refused.value.decoded == (
        f"to: {named} (unknown contract)",
        f"from: {signer.address}",
        "chain: 137",
        "value: 0",
        "gas: 16",
        "function: redeemPositions",
        f"collateral: {POLYGON.usdc_bridged} (USDC.e (bridged))",
        f"condition: 0x{CONDITION.hex()}",
        "outcomes: yes, no",
    )


def test_what_cannot_be_read_is_shown_as_nothing() -> None:
    wild = Unsigned(to="here", data="", sender="you", gas="0234", chain_id="x", value="1e9")
    assert described(wild, POLYGON) == (
        "to: no address",
        "from: no address",
        "chain: no number",
        "value: no number",
        "gas: no number",
    )
    assert described(Unsigned(to=None, data=""), POLYGON) == ("to: no address",)


@pytest.mark.parametrize(
    ("call", "lines"),
    [
        (
            RedeemNegRisk(CONDITION, (4, 3)),
            (
                "function: redeemPositions (negative risk)",
                f"condition: 0x{CONDITION.hex()}",
                "amounts: 4, 3 millionths of shares",
            ),
        ),
        (
            Approve(POLYGON.v1_exchange, 12),
            (
                "function: approve",
                f"spender: {POLYGON.v1_exchange} (exchange v1)",
                "amount: 12",
            ),
        ),
        (
            SetApprovalForAll(POLYGON.neg_risk_adapter, is_approved=True),
            (
                "function: setApprovalForAll",
                f"operator: {POLYGON.neg_risk_adapter} (negative-risk adapter)",
                "approved: yes",
            ),
        ),
        (
            SetApprovalForAll(OTHER, is_approved=False),
            (
                "function: setApprovalForAll",
                f"operator: {OTHER} (unknown contract)",
                "approved: no",
            ),
        ),
        (
            replace(STANDARD, index_sets=(2, 3)),
            (
                "function: redeemPositions",
                f"collateral: {POLYGON.usdc_bridged} (USDC.e (bridged))",
                f"condition: 0x{CONDITION.hex()}",
                "outcomes: no, 3",
            ),
        ),
    ],
)
def test_a_call_is_described_a_line_a_fact(call: Call, lines: tuple[str, ...]) -> None:
    assert describe_call(call, POLYGON) == lines


@pytest.mark.parametrize(
    ("is_yes", "held", "amounts", "signed"),
    [
        (True, 5_000_000, (5_000_000, 1), (5_000_000, 0)),
        (False, 5_000_000, (9_000_000, 5_000_000), (0, 5_000_000)),
        (True, None, (9_000_000, 1), (9_000_000, 0)),
        (False, None, (0, 1), (0, 1)),
    ],
)
def test_negative_risk_burns_up_to_what_is_held(
    *, is_yes: bool, held: int | None, amounts: tuple[int, int], signed: tuple[int, int]
) -> None:
    signer = CountingSigner()
    own = replace(NEG_RISK, is_yes=is_yes, shares=held)
    data = hexed(RedeemNegRisk(CONDITION, amounts))
    unsigned = proposal(signer, to=POLYGON.neg_risk_adapter, data=data)
    judged = SigningPolicy().redemption(own, unsigned, signer.address)
    assert judged.call == RedeemNegRisk(CONDITION, signed)


def test_the_second_generation_still_redeems_positions_in_the_older_money() -> None:
    signer, second = CountingSigner(), SigningPolicy(exchange=ExchangeVersion.V2)
    unsigned = proposal(signer, to=POLYGON.collateral_adapter)
    assert second.redemption(ASKED, unsigned, signer.address).call == replace(
        STANDARD, index_sets=(1,)
    )
    newer = proposal(signer, data=call_of(collateral=POLYGON.pusd))
    with pytest.raises(PolicyRefusedError) as refused:
        SigningPolicy().redemption(ASKED, newer, signer.address)
    assert (refused.value.rule, refused.value.sentence) == (
        Rule.ARGUMENT,
        "it names a foreign collateral",
    )


STANDARD_TARGETS = {POLYGON.conditional_tokens, POLYGON.collateral_adapter}
NEG_RISK_TARGETS = {POLYGON.neg_risk_adapter, POLYGON.neg_risk_collateral_adapter}


def goes_to(policy: SigningPolicy, to: str, *, is_neg_risk: bool | None) -> bool:
    """Whether a redemption may go to a contract; refused for nothing but the contract."""
    own = Redemption(condition_id=CONDITION, is_yes=True, is_neg_risk=is_neg_risk)
    call = RedeemNegRisk(CONDITION, (1, 0)) if to == POLYGON.neg_risk_adapter else STANDARD
    signer = CountingSigner()
    try:
        policy.redemption(own, proposal(signer, to=to, data=hexed(call)), signer.address)
    except PolicyRefusedError as refused:
        return refused.rule is not Rule.TARGET
    return True


@pytest.mark.parametrize("exchange", ExchangeVersion)
@pytest.mark.parametrize("is_neg_risk", [False, True, None])
def test_a_redemption_goes_only_where_its_kind_of_market_is_redeemed(
    *, exchange: ExchangeVersion, is_neg_risk: bool | None
) -> None:
    kinds = {False: STANDARD_TARGETS, True: NEG_RISK_TARGETS}
    allowed = kinds.get(is_neg_risk, STANDARD_TARGETS | NEG_RISK_TARGETS)  # pyright: ignore[reportArgumentType]
    if exchange is ExchangeVersion.V1:
        allowed -= {POLYGON.collateral_adapter, POLYGON.neg_risk_collateral_adapter}
    policy = SigningPolicy(exchange=exchange)
    others = {POLYGON.v1_exchange, POLYGON.usdc_bridged}
    for to in STANDARD_TARGETS | NEG_RISK_TARGETS | others:
        assert goes_to(policy, to, is_neg_risk=is_neg_risk) is (to in allowed)


def test_an_approval_is_described_with_the_gas_of_the_reference() -> None:
    wanted = approvals(POLYGON, ExchangeVersion.V1)[1]
    judged = SigningPolicy().approval(wanted)
    assert judged == SignableCall(
        POLYGON.usdc_bridged,
        Approve(POLYGON.v1_exchange, UINT_MAX),
        "USDC.e (bridged)",
        (
            "function: approve",
            f"spender: {POLYGON.v1_exchange} (exchange v1)",
            f"amount: {UINT_MAX}",
        ),
        is_certain=True,
        gas_hint=100_000,
    )


UNLIKE = {
    "chain 0": ({"chain_id": 0}, Rule.CHAIN),
    "a chain that is no number": ({"chain_id": True}, Rule.CHAIN),
    "a value that is no number": ({"value": False}, Rule.VALUE),
    "gas that is no number": ({"gas": True}, Rule.GAS),
    "no gas at all": ({"gas": 0}, Rule.GAS),
}


@pytest.mark.parametrize("name", UNLIKE)
def test_what_is_nothing_or_no_number_is_no_field_left_out(name: str) -> None:
    changes, rule = UNLIKE[name]
    with pytest.raises(PolicyRefusedError) as refused:
        SigningPolicy().redemption(ASKED, proposal(CountingSigner(), **changes), OWNER)
    assert refused.value.rule is rule


def test_of_a_position_without_shares_nothing_is_burned() -> None:
    call = RedeemNegRisk(CONDITION, (1, 0))
    unsigned = proposal(CountingSigner(), to=POLYGON.neg_risk_adapter, data=hexed(call))
    with pytest.raises(PolicyRefusedError) as refused:
        SigningPolicy().redemption(replace(NEG_RISK, shares=0), unsigned, OWNER)
    assert refused.value.rule is Rule.ARGUMENT
