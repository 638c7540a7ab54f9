"""A transaction run as it is written down: read back as it was, or refused."""

import json
from dataclasses import asdict, replace
from typing import Any

import pytest

from service_tui.desk.chain.run_state import SignedCall, TransactionRunState, dump, load
from service_tui.desk.slices.redemption import (
    CallView,
    ChainRunState,
    RunProblem,
    RunView,
    Step,
    StepView,
)
from service_tui.terms import Side, Venue
from service_tui.units import Micros, Timestamp

CALL = SignedCall(
    chain_id=137, nonce=5, gas=90_000, max_fee=31, max_priority_fee=7, to="0x" + "11" * 20,
    data="0506",
)  # fmt: skip
RUN = RunView(
    "m-1", Side.NO, Venue.SOL, "Will it?", ChainRunState.UNCONFIRMED,
    steps=(
        StepView(Step.SIGNED, Timestamp(10.5), "nonce 5"), StepView(Step.BROADCAST, Timestamp(11)),
    ),
    tx_hash="0xhash", amount=Micros(7), reason=RunProblem.TIMEOUT, words="words", fix="fix",
    call=CallView("d", "c", "0xto", "f", (("a", "1"), ("b", "2")), chain_id=1, nonce=2, gas=3,
                  fee_gwei=4.5, fee_max=Micros(6), gap=1),
    again_at=Timestamp(12.0), managed=True, by_itself=True, opened_at=Timestamp(1.0),
    settled_at=Timestamp(2.0),
)  # fmt: skip
BODY = TransactionRunState(RUN, CALL, confirmed=True, begun=2)


def test_a_run_is_read_back_as_it_was_written() -> None:
    for body in (
        BODY,
        TransactionRunState(RunView("m", Side.YES, Venue.EVM, "q", ChainRunState.RUNNING)),
    ):
        assert load(dump(body)) == body
    assert CALL.cost_max == 90_000 * 31


def test_a_run_of_an_older_program_has_begun_nothing_and_confirmed_only_what_is_true() -> None:
    whole = json.loads(dump(BODY))
    del whole["begun"]
    assert load(json.dumps(whole)).begun == 0
    for word in (1, "yes", None):
        assert load(json.dumps({**whole, "confirmed": word})).confirmed is False


def test_other_fields_of_the_run_change_and_the_rest_stays() -> None:
    changed = BODY.with_run(words="other", tx_hash="0xnew")
    assert changed == replace(BODY, run=replace(RUN, words="other", tx_hash="0xnew"))


def test_no_number_without_end_is_written() -> None:
    endless = BODY.with_run(again_at=Timestamp(float("inf")))
    with pytest.raises(ValueError, match="JSON"):
        dump(endless)


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("to_sign", "nonce", -1),
        ("to_sign", "nonce", True),
        ("to_sign", "gas", 1.5),
        ("to_sign", "chain_id", "137"),
        ("to_sign", "max_fee", -1),
        ("to_sign", "max_priority_fee", None),
        ("to_sign", "to", "0x12"),
        ("to_sign", "data", "zz"),
        ("to_sign", "of_tomorrow", 1),
        ("run", "amount", -1),
        ("run", "amount", True),
        ("run", "side", "maybe"),
        ("run", "venue", "moon"),
        ("run", "state", "odd"),
        ("run", "reason", "odd"),
        ("run", "steps", [{"step": "odd", "at": 1, "words": ""}]),
        ("run", "steps", [{"step": "signed", "at": "then", "words": ""}]),
        ("run", "call", {"arguments": [["a"]]}),
        ("run", "of_tomorrow", 1),
    ],
)
def test_what_something_else_has_made_is_refused(part: str, name: str, value: Any) -> None:
    whole = json.loads(dump(BODY))
    whole[part][name] = value
    with pytest.raises(ValueError):  # noqa: PT011 - whatever is wrong in it
        load(json.dumps(whole))


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "{}", '{"to_sign":null,"confirmed":true}'])
def test_a_text_that_is_no_run_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whatever is wrong in it
        load(text)


def test_a_count_of_beginnings_is_one() -> None:
    whole = {**json.loads(dump(BODY)), "begun": -1}
    with pytest.raises(ValueError, match="not a count"):
        load(json.dumps(whole))
    assert asdict(BODY)["begun"] == 2
