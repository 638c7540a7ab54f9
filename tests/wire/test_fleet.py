"""Bounds of what a person decides about agents."""

import pytest
from pydantic import ValidationError

from service_tui.terms import LEASH_WAIT_MAX_S, LEASH_WAIT_MIN_S, LeashMode
from service_tui.wire.base import AMOUNT_MAX
from service_tui.wire.fleet import ApproveRequest, LeashRequest


@pytest.mark.parametrize("wait_s", [LEASH_WAIT_MIN_S, LEASH_WAIT_MAX_S])
def test_a_leash_waits_from_its_least_to_its_most(wait_s: int) -> None:
    assert LeashRequest.model_validate({"mode": LeashMode.ASK, "wait_s": wait_s}).wait_s == wait_s


@pytest.mark.parametrize(
    "other",
    [
        {"wait_s": LEASH_WAIT_MIN_S - 1},
        {"wait_s": LEASH_WAIT_MAX_S + 1},
        {"threshold": -0.01},
        {"threshold": AMOUNT_MAX * 2},
        {"daily_budget": -0.01},
        {"skill_slug": "../rain"},
        {"skill_slug": "x" * 129},
    ],
    ids=str,
)
def test_a_leash_beyond_its_bounds_is_refused(other: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        LeashRequest.model_validate({"mode": LeashMode.ASK, **other})


@pytest.mark.parametrize(
    ("amount", "fits"), [(None, True), (0.01, True), (0.009, False), (0.0, False), (-1.0, False)]
)
def test_a_trade_is_approved_at_a_cent_or_more(amount: float | None, *, fits: bool) -> None:
    if fits:
        assert ApproveRequest(amount=amount).amount == amount
        return
    with pytest.raises(ValidationError):
        ApproveRequest(amount=amount)
