"""TrialSums of what a trial leaves behind: by hand, and adding up whichever way they are cut."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from kit.ledgers import drawn_ledger
from service_tui.evaluation.ledger import groups_of, pooled, results_of, sums_of, time_band
from service_tui.terms import Action
from service_tui.units import ONE


@pytest.mark.parametrize("seed", range(50))
def test_sums_are_those_of_exact_arithmetic(seed: int) -> None:
    ledger = drawn_ledger(random.Random(seed))
    sums = sums_of(ledger.trades, ledger.markets)
    bought = sum(int(one.money) for one in ledger.trades if one.action is Action.BUY)
    sold = sum(int(one.money) for one in ledger.trades if one.action is Action.SELL)
    left = sum(int(one.left) for one in ledger.markets)
    assert (sums.bought, sums.sold, sums.left) == (bought, sold, left)
    assert sums.pnl == sold + left - bought
    assert sums.roi is not None
    assert Fraction(sums.roi) == pytest.approx(Fraction(sold + left - bought, bought))
    exact = sum(
        (1 if one.action is Action.BUY else -1)
        * (Fraction(int(one.money)) - int(one.shares) * Fraction(one.price_before))
        for one in ledger.trades
    )
    assert abs(sums.slippage - exact) <= 1


@pytest.mark.parametrize("seed", range(20))
def test_markets_and_groups_add_up_to_the_whole(seed: int) -> None:
    ledger = drawn_ledger(random.Random(seed))
    sums = sums_of(ledger.trades, ledger.markets)
    results = results_of(ledger)
    assert sum(one.own for one in results) == sums.pnl
    for title, rows in groups_of(ledger).items():
        assert sum(row.pnl for row in rows) == sums.pnl, title
        assert sum(row.bought for row in rows) == sums.bought, title


def test_the_other_side_of_a_market_is_what_its_money_bought_there() -> None:
    ledger = drawn_ledger(random.Random(1), markets=1)
    (result,), (market,) = results_of(ledger), ledger.markets
    spent, got = (
        sum(one.mirror_money for one in ledger.trades if one.is_buy is is_buy)
        for is_buy in (True, False)
    )
    assert result.mirror == got + market.mirror_left - spent


def test_several_trials_are_one_in_which_no_market_is_two() -> None:
    one, two = (replace(drawn_ledger(random.Random(seed)), name=f"seed {seed}") for seed in (1, 2))
    both = pooled([one, two])
    assert len({market.market_id for market in both.markets}) == len(one.markets) + len(two.markets)
    apart = [sums_of(part.trades, part.markets) for part in (one, two)]
    whole = sums_of(both.trades, both.markets)
    assert whole.pnl == apart[0].pnl + apart[1].pnl
    blocks = [{market.block for market in part.markets} for part in (one, two, both)]
    assert len(blocks[2]) == len(blocks[0]) + len(blocks[1])


@pytest.mark.parametrize(
    ("left_s", "band"),
    [(59.0, "under 1 h"), (3_600.0, "1 h to 1 d"), (86_400.0, "1 to 7 d"), (7e5, "over 7 d")],
)
def test_a_trade_is_told_by_the_time_to_the_announced_end(left_s: float, band: str) -> None:
    ledger = drawn_ledger(random.Random(1), markets=1)
    trade, market = ledger.trades[0], ledger.markets[0]
    assert time_band(trade, market._replace(resolves_at=trade.at + left_s)) == band


def test_a_price_that_nothing_moved_has_no_slippage() -> None:
    trade = drawn_ledger(random.Random(1), markets=1).trades[0]
    even = trade._replace(shares=10 * ONE, money=5 * ONE, price_before=0.5)
    assert even.slippage == 0
    assert even.average == 0.5
    assert even._replace(money=6 * ONE).slippage == ONE
