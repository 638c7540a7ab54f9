"""When a position pays: what the chain holds, and for how much."""

from dataclasses import dataclass, field, replace
from typing import cast

import pytest

from service_tui.signing.contracts import Contracts
from service_tui.signing.errors import MalformedError, NotRedeemableError, Obstacle
from service_tui.signing.policy import Redemption
from service_tui.signing.redemption import Redeemable, check_redeemable

CONDITION = bytes(range(32))
OWN, MONEY, OLDER = "0xowner", "0xmoney", "0xolder"
ASKED = Redemption(condition_id=CONDITION, is_yes=False, is_neg_risk=True)
TOKENS = {MONEY: 11, OLDER: 12}


@dataclass
class Chain:
    """What the contracts answer, and what they were asked."""

    denominator: int = 4
    numerator: int = 3
    shares: int = 10
    asked: list[tuple[object, ...]] = field(default_factory=list)

    async def payout_denominator(self, condition_id: bytes) -> int:
        self.asked.append(("denominator", condition_id))
        return self.denominator

    async def payout_numerator(self, condition_id: bytes, *, is_yes: bool) -> int:
        self.asked.append(("numerator", condition_id, is_yes))
        return self.numerator

    async def token_id(
        self, condition_id: bytes, *, is_yes: bool, collateral: str, is_neg_risk: bool
    ) -> int:
        self.asked.append(("token", condition_id, is_yes, collateral, is_neg_risk))
        return TOKENS[collateral]

    async def token_balance(self, owner: str, token_id: int) -> int:
        self.asked.append(("balance", owner, token_id))
        return self.shares


async def checked(chain: Chain, asked: Redemption = ASKED, token: int | None = None) -> Redeemable:
    contracts = cast("Contracts", chain)
    return await check_redeemable(
        contracts, asked, OWN, collateral=MONEY, others=(OLDER,), token_id=token
    )


async def test_a_position_pays_its_part_rounded_down() -> None:
    chain = Chain()
    assert await checked(chain) == Redeemable(token_id=11, shares=10, payout=7)
    assert chain.asked == [
        ("denominator", CONDITION),
        ("numerator", CONDITION, False),
        ("token", CONDITION, False, MONEY, True),
        ("balance", OWN, 11),
    ]


async def test_a_token_of_the_older_money_is_found_and_its_balance_counts() -> None:
    chain = Chain(denominator=1, numerator=1)
    assert await checked(chain, token=12) == Redeemable(token_id=12, shares=10, payout=10)
    assert chain.asked[-2:] == [("token", CONDITION, False, OLDER, True), ("balance", OWN, 12)]


async def test_a_token_of_no_known_money_is_that_of_another_condition() -> None:
    chain = Chain()
    with pytest.raises(MalformedError, match="is not that of its condition"):
        await checked(chain, token=13)
    assert "balance" not in {one[0] for one in chain.asked}


@pytest.mark.parametrize(
    ("nothing", "obstacle", "questions"),
    [
        ("denominator", Obstacle.NOT_FINALIZED, 1),
        ("numerator", Obstacle.POSITION_LOST, 2),
        ("shares", Obstacle.ALREADY_REDEEMED, 4),
    ],
)
async def test_what_pays_nothing_is_told_apart(
    nothing: str, obstacle: Obstacle, questions: int
) -> None:
    chain = replace(Chain(), **{nothing: 0})
    with pytest.raises(NotRedeemableError) as refused:
        await checked(chain)
    assert refused.value.obstacle is obstacle
    assert len(chain.asked) == questions


@pytest.mark.parametrize(
    "asked",
    [
        Redemption(condition_id=None, is_yes=True, is_neg_risk=False),
        Redemption(condition_id=CONDITION, is_yes=True, is_neg_risk=None),
    ],
)
async def test_a_position_that_is_not_fully_known_is_not_asked_about(asked: Redemption) -> None:
    chain = Chain()
    with pytest.raises(MalformedError):
        await checked(chain, asked)
    assert chain.asked == []
