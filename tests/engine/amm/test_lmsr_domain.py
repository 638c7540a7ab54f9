"""Where the scoring rule answers and where it refuses: each bound itself belongs to the domain."""

from collections.abc import Callable
from math import inf, isfinite, nan
from typing import Final

import pytest

from service_tui.engine.amm import lmsr
from service_tui.engine.amm.lmsr import AMOUNT_MAX, AMOUNT_MIN, LOG_ODDS_MAX, LmsrDomainError

Call = Callable[..., float]
BELOW: Final = {AMOUNT_MIN: AMOUNT_MIN / 2, -LOG_ODDS_MAX: -LOG_ODDS_MAX - 1.0, 0.0: -1e-300}
ABOVE: Final = {AMOUNT_MAX: AMOUNT_MAX * 2, LOG_ODDS_MAX: LOG_ODDS_MAX + 1.0}

B: Final = (AMOUNT_MIN, AMOUNT_MAX)
X: Final = (-LOG_ODDS_MAX, LOG_ODDS_MAX)

TAKES: Final[tuple[tuple[Call, dict[str, float], dict[str, tuple[float, float]]], ...]] = (
    (lmsr.price, {"x": 0.0}, {"x": X}),
    (
        lambda spend, b, x: lmsr.shares_for_spend(spend, b=b, x=x),
        {"spend": 1.0, "b": 10.0, "x": 0.0},
        {"spend": B, "b": B, "x": X},
    ),
    (
        lambda shares, b, x: lmsr.cost_of_shares(shares, b=b, x=x),
        {"shares": 1.0, "b": 10.0, "x": 0.0},
        {"shares": (-AMOUNT_MAX, AMOUNT_MAX), "b": B, "x": X},
    ),
    (
        lambda target, b, x: lmsr.shares_to_price(target, b=b, x=x),
        {"target": 0.6, "b": 10.0, "x": 0.0},
        {"b": B, "x": X},
    ),
    (
        lambda target, b, x: lmsr.spend_to_price(target, b=b, x=x),
        {"target": 0.6, "b": 10.0, "x": 0.0},
        {"b": B, "x": X},
    ),
    (
        lambda proceeds, shares, b: lmsr.price_for_proceeds(proceeds, shares=shares, b=b),
        {"proceeds": 1.0, "shares": 2.0, "b": 10.0},
        {"proceeds": (0.0, AMOUNT_MAX), "shares": B, "b": (1e-2, AMOUNT_MAX)},
    ),
    (
        lmsr.worst_loss,
        {"b": 10.0, "start_price": 0.5},
        {"b": B},
    ),
)
"""Each function with good arguments, and between what each of them may lie."""

ARGUMENTS: Final = [
    (call, good, name, bounds) for call, good, limits in TAKES for name, bounds in limits.items()
]


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_a_bound_belongs_to_the_domain(
    argument: tuple[Call, dict[str, float], str, tuple[float, float]],
) -> None:
    call, good, name, bounds = argument

    for bound in bounds:
        assert isfinite(call(**{**good, name: bound}))


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_what_lies_beyond_a_bound_is_refused(
    argument: tuple[Call, dict[str, float], str, tuple[float, float]],
) -> None:
    call, good, name, bounds = argument
    least, most = bounds
    beyond = [ABOVE[most], inf, -inf, nan]
    if least in BELOW:
        beyond.append(BELOW[least])

    for value in beyond:
        with pytest.raises(LmsrDomainError):
            call(**{**good, name: value})


@pytest.mark.parametrize("target", [0.0, 1.0, -0.1, 1.1, nan])
def test_no_trade_moves_a_price_to_its_ends(target: float) -> None:
    for moves in (lmsr.shares_to_price, lmsr.spend_to_price):
        with pytest.raises(LmsrDomainError):
            moves(target, b=10.0, x=0.0)
    with pytest.raises(LmsrDomainError):
        lmsr.worst_loss(10.0, target)


def test_a_price_for_proceeds_may_be_too_high() -> None:
    assert lmsr.price_for_proceeds(0.0, shares=2.0, b=10.0) == 0.0
    assert lmsr.price_for_proceeds(2.0, shares=2.0, b=10.0) == 1.0
    assert lmsr.price_for_proceeds(3.0, shares=2.0, b=10.0) > 1.0
