"""The logarithmic market scoring rule of a yes/no market, in doubles that stay exact far out.

x = (q_other - q_side) / b = ln((1 - p) / p) is the log-odds against the side traded, p its price.
Spend, shares, proceeds and b are in one unit of the caller's choice.

Source: Hanson 2003, logarithmic market scoring rules; decisions, "LMSR in doubles". The textbook
difference of two log-sum-exps loses all digits at extreme prices: it stands nowhere here.
"""

from math import exp, expm1, log, log1p
from typing import Final

# ours: the documents set no domain; within this one no term overflows, underflows or becomes NaN.
AMOUNT_MIN: Final = 1e-30
AMOUNT_MAX: Final = 1e18
"""Least and largest spend, proceeds, |shares| and b; one micro and a billion lie well inside."""

LOG_ODDS_MAX: Final = 1e6
"""Largest |x|: so far out one step of a double is 1e-10, and no market comes near."""

_EXP_MAX: Final = 700.0
"""e^700 is the last round power that leaves a double room for a factor."""

_GROWTH_MIN: Final = -0.5
"""Below, log1p nears its pole and the difference of two softplus is the better form."""

_EVEN_FROM: Final = 0.25
"""From here on 2p - 1 and 1 - p are exact enough to start from even odds."""


class LmsrDomainError(ValueError):
    """An argument outside the domain: not positive, not finite, or more than the market can pay."""


def price(x: float) -> float:
    """Price of the side whose log-odds against it are x.

    Returns:
        Price, 0 < p < 1; as a double it reaches 1 below x = -36 and 0 above x = 745.

    Raises:
        LmsrDomainError: x is not within `LOG_ODDS_MAX`.
    """
    if 0.0 < x <= LOG_ODDS_MAX:
        odds = exp(-x)
        return odds / (1.0 + odds)
    if -LOG_ODDS_MAX <= x <= 0.0:
        return 1.0 / (1.0 + exp(x))
    raise LmsrDomainError(f"log-odds {x} are not within {LOG_ODDS_MAX:g}")


def shares_for_spend(spend: float, *, b: float, x: float) -> float:
    """Shares that the market maker gives for a spend.

    Args:
        spend: money given, > 0.
        b: liquidity parameter, > 0.
        x: log-odds against the side before the trade.

    Returns:
        Shares, at least as many as the spend, not rounded to anything.

    Raises:
        LmsrDomainError: an argument is outside the domain.
    """
    if not (
        AMOUNT_MIN <= spend <= AMOUNT_MAX
        and AMOUNT_MIN <= b <= AMOUNT_MAX
        and -LOG_ODDS_MAX <= x <= LOG_ODDS_MAX
    ):
        raise LmsrDomainError(f"no buy for a spend of {spend} with b {b} at log-odds {x}")
    if x > _EXP_MAX:
        return spend + b * _softplus(x + log(-expm1(-spend / b)))
    if spend < b:
        return b * log1p(expm1(spend / b) * (1.0 + exp(x)))
    return spend + b * log1p(-expm1(-spend / b) * exp(x))


def cost_of_shares(shares: float, *, b: float, x: float) -> float:
    """Money that the market maker takes for shares; a sale is negative in shares and in money.

    Args:
        shares: shares bought, or minus the shares sold.
        b: liquidity parameter, > 0.
        x: log-odds against the side before the trade.

    Returns:
        Cost of a buy (>= 0), or minus the proceeds of a sale.

    Raises:
        LmsrDomainError: an argument is outside the domain.
    """
    if not (
        -AMOUNT_MAX <= shares <= AMOUNT_MAX
        and AMOUNT_MIN <= b <= AMOUNT_MAX
        and -LOG_ODDS_MAX <= x <= LOG_ODDS_MAX
    ):
        raise LmsrDomainError(f"no trade of {shares} shares with b {b} at log-odds {x}")
    step = shares / b
    if step <= _EXP_MAX and x <= _EXP_MAX:
        growth = expm1(step) / (1.0 + exp(x))
        if growth > _GROWTH_MIN:
            return b * log1p(growth)
    return b * (_softplus(step - x) - _softplus(-x))


def shares_to_price(target: float, *, b: float, x: float) -> float:
    """Shares that move the side to a price.

    Returns:
        Shares to buy, or minus the shares to sell where the target is the lower price.

    Raises:
        LmsrDomainError: the target is not between 0 and 1, or b or x is outside the domain.
    """
    if not (
        0.0 < target < 1.0 and AMOUNT_MIN <= b <= AMOUNT_MAX and -LOG_ODDS_MAX <= x <= LOG_ODDS_MAX
    ):
        raise LmsrDomainError(f"no trade moves a market with b {b}, log-odds {x} to {target}")
    return b * (_logit(target) + x)


def spend_to_price(target: float, *, b: float, x: float) -> float:
    """Money that moves the side to a price.

    Returns:
        The spend, or minus the proceeds of the sale where the target is the lower price.

    Raises:
        LmsrDomainError: the target is not between 0 and 1, or b or x is outside the domain.
    """
    if not (
        0.0 < target < 1.0 and AMOUNT_MIN <= b <= AMOUNT_MAX and -LOG_ODDS_MAX <= x <= LOG_ODDS_MAX
    ):
        raise LmsrDomainError(f"no trade moves a market with b {b}, log-odds {x} to {target}")
    return -b * (_softplus(-x) + log1p(-target))


def price_for_proceeds(proceeds: float, *, shares: float, b: float) -> float:
    """The price at which selling so many shares brings this much.

    Returns:
        The price of the side before the sale; 1 or more where no price is high enough.

    Raises:
        LmsrDomainError: an argument is outside the domain.
    """
    if not (
        0.0 <= proceeds <= AMOUNT_MAX
        and AMOUNT_MIN <= shares <= AMOUNT_MAX
        and AMOUNT_MIN <= b <= AMOUNT_MAX
    ):
        raise LmsrDomainError(f"no price at which {shares} shares bring {proceeds} with b {b}")
    return expm1(-proceeds / b) / expm1(-shares / b)


def worst_loss(b: float, start_price: float) -> float:
    """Most that the market maker can lose, whatever is traded.

    Returns:
        Money > 0: b ln 2 from even odds, more from any other start.

    Raises:
        LmsrDomainError: b is outside the domain, or the price is not between 0 and 1.
    """
    if not (AMOUNT_MIN <= b <= AMOUNT_MAX and 0.0 < start_price < 1.0):
        raise LmsrDomainError(f"no market has b {b} and starts at {start_price}")
    return -b * log(min(start_price, 1.0 - start_price))


def _softplus(y: float) -> float:
    """ln(1 + e^y) without overflow."""
    return y + log1p(exp(-y)) if y > 0.0 else log1p(exp(y))


def _logit(p: float) -> float:
    """ln(p / (1 - p)); from the difference to even odds, which is exact in the middle."""
    return log1p((p + p - 1.0) / (1.0 - p)) if p > _EVEN_FROM else log(p) - log1p(-p)
