"""Checks on the chain that a position can be redeemed, before any transaction is built.

On the contract a losing or a second redemption succeeds, pays nothing and burns the tokens: the
four cases are distinguished here, by what the chain holds, never by what a call would return.
"""

from dataclasses import dataclass

from service_tui.signing.contracts import Contracts
from service_tui.signing.errors import MalformedError, NotRedeemableError, Obstacle
from service_tui.signing.policy import Redemption


@dataclass(frozen=True, slots=True)
class Redeemable:
    """A position that pays: its token id, its shares and its payout, both in micros."""

    token_id: int
    shares: int
    payout: int


async def check_redeemable(
    contracts: Contracts,
    redemption: Redemption,
    owner: str,
    *,
    collateral: str,
    others: tuple[str, ...] = (),
    token_id: int | None = None,
) -> Redeemable:
    """Raise unless the chain pays for a redemption now.

    Args:
        contracts: the chain's.
        redemption: which side of which condition.
        owner: address of the wallet that owns the shares.
        collateral: the token in which a standard position pays.
        others: further tokens of payment, tried if `token_id` is not that of `collateral`.
        token_id: the side's token as the service names it, None where it does not.

    Returns:
        Its token, shares and payout.

    Raises:
        NotRedeemableError: not resolved, lost, or nothing held (redeemed already).
        MalformedError: the position has no condition id, or its token is that of another one.
        ChainError: no answer; nothing may be signed.
    """
    condition_id = redemption.condition_id
    if condition_id is None or redemption.is_neg_risk is None:
        raise MalformedError("the position names no condition: the chain cannot be asked")
    denominator = await contracts.payout_denominator(condition_id)
    if denominator == 0:
        raise NotRedeemableError(
            Obstacle.NOT_FINALIZED,
            "the venue has not finalized the market: try again in 10 to 30 minutes",
        )
    numerator = await contracts.payout_numerator(condition_id, is_yes=redemption.is_yes)
    if numerator == 0:
        raise NotRedeemableError(
            Obstacle.POSITION_LOST, "the position lost: it pays nothing, and nothing is burned"
        )
    derived = 0
    for money in (collateral, *others):
        derived = await contracts.token_id(
            condition_id,
            is_yes=redemption.is_yes,
            collateral=money,
            is_neg_risk=redemption.is_neg_risk,
        )
        if token_id is None or token_id == derived:
            break
    else:
        raise MalformedError("the position's token is not that of its condition")
    shares = await contracts.token_balance(owner, derived)
    if shares == 0:
        raise NotRedeemableError(
            Obstacle.ALREADY_REDEEMED, "the on-chain token balance is 0: already redeemed"
        )
    return Redeemable(derived, shares, shares * numerator // denominator)
