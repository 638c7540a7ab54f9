"""The arithmetic of the market scoring rule, also at its extremes."""

import json
import math
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.examples import examples
from service_tui.engine.amm import lmsr
from service_tui.engine.amm.lmsr import LmsrDomainError

GOLDEN: Final = Path(__file__).with_name("lmsr_golden.json")
"""Exact answers of the specification, kept here whole so that a clone alone can be tested."""
COUNTS: Final = {
    "buy_amount": 542,
    "sell_shares": 236,
    "buy_shares": 36,
    "sell_amount": 30,
    "move_to_price": 30,
    "init_price": 24,
    "sequence": 15,
}
SHARES_REL: Final = Decimal("1e-12")
PRICE_ABS: Final = Decimal("1e-12")
COST_REL: Final = Decimal("1e-11")
SEQUENCE_ABS: Final = Decimal("1e-9")
CONTRACT_REL: Final = Decimal("1e-14")

Case = dict[str, Any]
Checks = Iterable[tuple[str, bool]]


def off(got: float | Decimal, expected: str) -> Decimal:
    return abs(Decimal(got) - Decimal(expected))


def near(got: float, expected: str, *, rel: Decimal) -> bool:
    return off(got, expected) <= rel * abs(Decimal(expected))


def log_odds(case: Case, side: str) -> float:
    """The exact x of the case's doubles (or decimal strings), rounded once by the division."""
    held, other = Decimal(case["q_yes"]), Decimal(case["q_no"])
    if side == "no":
        held, other = other, held
    return float(other - held) / case["b"]


def buy_amount(case: Case) -> Checks:
    b, amount, x = case["b"], case["amount"], log_odds(case, case["side"])
    shares = lmsr.shares_for_spend(amount, b=b, x=x)
    before, after, x_after = lmsr.price(x), lmsr.price(x - shares / b), x - shares / b
    average = Decimal(amount) / Decimal(shares)
    slippage = Decimal(case["slippage_bps"]) / 10_000 * Decimal(case["price_before"])
    yield "shares", near(shares, case["shares"], rel=SHARES_REL)
    yield "price_before", off(before, case["price_before"]) <= PRICE_ABS
    yield "price_after", off(after, case["price_after"]) <= PRICE_ABS
    yield (
        "one_minus_price_after",
        off(lmsr.price(-x_after), case["one_minus_price_after"]) <= (PRICE_ABS),
    )
    yield "avg_price", off(average, case["avg_price"]) <= PRICE_ABS
    yield "slippage", abs(average - Decimal(before) - slippage) <= PRICE_ABS
    # Not asked by the file: the way back.
    yield "cost", near(lmsr.cost_of_shares(shares, b=b, x=x), repr(amount), rel=COST_REL)


def traded_shares(case: Case) -> Checks:
    b, shares, x = case["b"], case["shares"], log_odds(case, case["side"])
    cost = lmsr.cost_of_shares(shares, b=b, x=x)
    yield "cost", near(cost, case["cost"], rel=COST_REL)
    yield "price_before", off(lmsr.price(x), case["price_before"]) <= PRICE_ABS
    yield "price_after", off(lmsr.price(x - shares / b), case["price_after"]) <= PRICE_ABS


def limit_of_sales(b: float, x: float) -> float:
    """What selling ever more shares of the side brings in the end."""
    return -lmsr.cost_of_shares(-lmsr.AMOUNT_MAX, b=b, x=x)


def sell_amount(case: Case) -> Checks:
    b, x = case["b"], log_odds(case, case["side"])
    shares = float(case["shares"])
    proceeds = -lmsr.cost_of_shares(-shares, b=b, x=x)
    yield "amount", near(proceeds, case["amount"], rel=COST_REL)
    yield "max_proceeds", near(limit_of_sales(b, x), case["max_proceeds"], rel=COST_REL)
    yield "price_after", off(lmsr.price(x + shares / b), case["price_after"]) <= PRICE_ABS


def move_to_price(case: Case) -> Checks:
    b, target, x = case["b"], case["target_yes"], log_odds(case, case["side"])
    if case["side"] == "no":
        target = 1.0 - target
    shares = lmsr.shares_to_price(target, b=b, x=x)
    yield "shares", near(shares, case["shares"], rel=SHARES_REL)
    yield "amount", near(lmsr.spend_to_price(target, b=b, x=x), case["amount"], rel=COST_REL)
    yield "price", abs(lmsr.price(x - shares / b) - target) <= PRICE_ABS


def init_price(case: Case) -> Checks:
    b, start = case["b"], case["p0"]
    gap = lmsr.shares_to_price(start, b=b, x=0.0)
    # What a side could still bring its sellers is what the market maker loses if the other wins.
    if_no, if_yes = limit_of_sales(b, -gap / b), limit_of_sales(b, gap / b)
    expected_gap = case["q_yes_minus_q_no"]
    yield (
        "gap",
        gap == 0.0 if Decimal(expected_gap) == 0 else near(gap, expected_gap, rel=SHARES_REL),
    )
    yield "max_loss_if_yes", near(if_yes, case["max_loss_if_yes"], rel=COST_REL)
    yield "max_loss_if_no", near(if_no, case["max_loss_if_no"], rel=COST_REL)
    yield "max_loss", near(lmsr.worst_loss(b, start), case["max_loss"], rel=COST_REL)


class Account:
    """One trader alone in a market that starts even, in plain doubles."""

    def __init__(self, b: float, cash: float) -> None:
        self.b = b
        self.cash = self.start_cash = cash
        self.shares = {"yes": 0.0, "no": 0.0}
        self.basis = {"yes": 0.0, "no": 0.0}
        self.realized = 0.0

    def x(self, side: str) -> float:
        gap = (self.shares["no"] - self.shares["yes"]) / self.b
        return gap if side == "yes" else -gap

    def buy(self, side: str, spend: float) -> float:
        shares = lmsr.shares_for_spend(spend, b=self.b, x=self.x(side))
        self.shares[side] += shares
        self.basis[side] += spend
        self.cash -= spend
        return shares

    def sell(self, side: str, shares: float) -> tuple[float, float]:
        proceeds = -lmsr.cost_of_shares(-shares, b=self.b, x=self.x(side))
        basis = self.basis[side] * shares / self.shares[side]
        self.shares[side] -= shares
        self.basis[side] -= basis
        self.realized += proceeds - basis
        self.cash += proceeds
        return proceeds, proceeds - basis

    def liquidation(self) -> float:
        yes, no = self.shares["yes"], self.shares["no"]
        of_yes = -lmsr.cost_of_shares(-yes, b=self.b, x=self.x("yes"))
        return of_yes - lmsr.cost_of_shares(-no, b=self.b, x=-no / self.b)

    def totals(self) -> dict[str, float]:
        price = lmsr.price(self.x("yes"))
        liquidation = self.liquidation()
        mark = self.shares["yes"] * price + self.shares["no"] * lmsr.price(self.x("no"))
        paid = self.cash - self.start_cash
        return {
            "q_yes": self.shares["yes"],
            "q_no": self.shares["no"],
            "price_yes": price,
            "cash": self.cash,
            "shares_yes": self.shares["yes"],
            "shares_no": self.shares["no"],
            "basis_yes": self.basis["yes"],
            "basis_no": self.basis["no"],
            "realized": self.realized,
            "unrealized_mark": mark - self.basis["yes"] - self.basis["no"],
            "liquidation_value": liquidation,
            "total_if_yes": paid + self.shares["yes"],
            "total_if_no": paid + self.shares["no"],
            "mm_revenue": -paid,
        }


def sequence(case: Case) -> Checks:
    account = Account(case["b"], case["start_cash"])
    for number, step in enumerate(case["steps"]):
        side = step["side"]
        results: dict[str, float] = {}
        if step["op"] == "buy_amount":
            results["shares"] = account.buy(side, step["amount"])
        else:
            results["shares"] = account.shares[side] * step["fraction"]
            results["proceeds"], results["realized"] = account.sell(side, results["shares"])
        results["price_yes_after"] = lmsr.price(account.x("yes"))
        results["cash_after"] = account.cash
        assert results.keys() == step.keys() - {"op", "side", "amount", "fraction"}
        for name, got in results.items():
            yield f"step {number} {name}", off(got, step[name]) <= SEQUENCE_ABS
    totals = account.totals()
    assert totals.keys() == case["final"].keys()
    for name, got in totals.items():
        yield f"final {name}", off(got, case["final"][name]) <= SEQUENCE_ABS


CHECKS: Final[dict[str, Callable[[Case], Checks]]] = {
    "buy_amount": buy_amount,
    "sell_shares": traded_shares,
    "buy_shares": traded_shares,
    "sell_amount": sell_amount,
    "move_to_price": move_to_price,
    "init_price": init_price,
    "sequence": sequence,
}


@pytest.fixture(scope="module")
def golden() -> Case:
    return json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_the_tolerances_are_those_of_the_file(golden: Case) -> None:
    asked = golden["meta"]["suggested_tolerance"]
    assert Decimal(repr(asked["shares_rel"])) == SHARES_REL
    assert Decimal(repr(asked["price_abs"])) == PRICE_ABS
    assert Decimal(repr(asked["cost_rel"])) == COST_REL


def test_every_case_of_the_file_has_its_check(golden: Case) -> None:
    kinds = [case["kind"] for case in golden["cases"]]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == COUNTS
    assert CHECKS.keys() == COUNTS.keys()


@pytest.mark.parametrize("kind", CHECKS)
def test_the_golden_cases_hold(golden: Case, kind: str) -> None:
    misses = [
        f"{case['id']}: {name}"
        for case in golden["cases"]
        if case["kind"] == kind
        for name, holds in CHECKS[kind](case)
        if not holds
    ]
    assert misses == []


# -- what others published ------------------------------------------------------------------


def agrees(got: float | Decimal, published: str, exact: str) -> bool:
    """Whether a result is the exact one, and the published one to its last digit."""
    last_digit = Decimal(1).scaleb(int(Decimal(published).as_tuple().exponent))
    return off(got, exact) <= SHARES_REL * abs(Decimal(exact)) and off(got, published) <= last_digit


def pool_log_odds(fact: Case) -> float:
    """x of a pool of equal reserves r, whose price is e^(-r/b)."""
    return math.log(math.expm1(float(fact["reserve"]) / float(fact["b"])))


def test_published_pool_buys_hold(golden: Case) -> None:
    for fact in golden["published_facts"]["zeitgeist_buy"]:
        spend, b = float(fact["amount_in"]), float(fact["b"])
        shares = lmsr.shares_for_spend(spend, b=b, x=pool_log_odds(fact))
        # The pool counts the complete sets that the spend becomes as the buyer's own.
        swapped = Decimal(shares) - Decimal(spend)
        assert agrees(swapped, fact["published"], fact["exact"]), fact


def test_published_pool_sales_hold(golden: Case) -> None:
    for fact in golden["published_facts"]["zeitgeist_sell"]:
        shares, b = float(fact["shares_in"]), float(fact["b"])
        proceeds = -lmsr.cost_of_shares(-shares, b=b, x=pool_log_odds(fact))
        assert agrees(proceeds, fact["published"], fact["exact"]), fact


def test_published_spends_to_a_price_hold(golden: Case) -> None:
    for fact in golden["published_facts"]["zeitgeist_amount_until"]:
        b, spot = float(fact["b"]), float(fact["spot"])
        x = -lmsr.shares_to_price(spot, b=1.0, x=0.0)
        spend = lmsr.spend_to_price(float(fact["until"]), b=b, x=x)
        assert agrees(spend, fact["published"], fact["exact"]), fact


def test_other_published_figures_hold(golden: Case) -> None:
    facts = golden["published_facts"]["others"]
    b = 10_000.0
    even = 10.0 / math.log(2.0)
    # C(q) is what the other side's shares pay and what this side could still bring its sellers.
    cost_function = limit_of_sales(1e9, -1.0)
    results = (
        ("published_cost", lmsr.cost_of_shares(1000.0, b=b, x=0.0)),
        ("published_price_yes", lmsr.price(-1000.0 / b)),
        ("published_delta_shares", lmsr.shares_to_price(0.6, b=b, x=0.0)),
        ("published_max_loss", lmsr.worst_loss(b, 0.5)),
        ("published_cost_function", cost_function),
        ("published_shares", lmsr.shares_for_spend(10.0, b=even, x=0.0)),
    )
    assert len(facts) == len(results)
    for fact, (name, got) in zip(facts, results, strict=True):
        published = str(fact[name])
        assert agrees(got, published, fact.get("exact", published)), fact


def test_the_answers_of_a_contract_on_a_chain_hold(golden: Case) -> None:
    cases = golden["onchain_lmsr"]["cases"]
    assert len(cases) == 50
    for case in cases:
        x = log_odds(case, case["side"])
        cost = lmsr.cost_of_shares(float(case["shares"]), b=case["b"], x=x)
        # The contract is within a few hundred wei of the exact cost: far below a double's grain.
        assert near(cost, case["exact_cost"], rel=CONTRACT_REL), case
        assert near(cost, case["onchain_cost"], rel=CONTRACT_REL), case


# -- the domain -------------------------------------------------------------------------------

OUTSIDE: Final = (math.nan, math.inf, -math.inf, 1e300, -1e300)
POSITIVE: Final = (*OUTSIDE, 0.0, -1.0)
CHANCE: Final = (*OUTSIDE, 0.0, 1.0, -0.5, 1.5)


@pytest.mark.parametrize(
    ("call", "values"),
    [
        (lmsr.price, OUTSIDE),
        (lambda v: lmsr.shares_for_spend(v, b=1.0, x=0.0), POSITIVE),
        (lambda v: lmsr.shares_for_spend(1.0, b=v, x=0.0), POSITIVE),
        (lambda v: lmsr.shares_for_spend(1.0, b=1.0, x=v), OUTSIDE),
        (lambda v: lmsr.cost_of_shares(v, b=1.0, x=0.0), OUTSIDE),
        (lambda v: lmsr.cost_of_shares(1.0, b=v, x=0.0), POSITIVE),
        (lambda v: lmsr.cost_of_shares(1.0, b=1.0, x=v), OUTSIDE),
        (lambda v: lmsr.shares_to_price(v, b=1.0, x=0.0), CHANCE),
        (lambda v: lmsr.shares_to_price(0.5, b=v, x=0.0), POSITIVE),
        (lambda v: lmsr.shares_to_price(0.5, b=1.0, x=v), OUTSIDE),
        (lambda v: lmsr.spend_to_price(v, b=1.0, x=0.0), CHANCE),
        (lambda v: lmsr.spend_to_price(0.5, b=v, x=0.0), POSITIVE),
        (lambda v: lmsr.spend_to_price(0.5, b=1.0, x=v), OUTSIDE),
        (lambda v: lmsr.worst_loss(v, 0.5), POSITIVE),
        (lambda v: lmsr.worst_loss(1.0, v), CHANCE),
    ],
)
def test_arguments_outside_the_domain_are_refused(
    call: Callable[[float], float], values: tuple[float, ...]
) -> None:
    for value in values:
        with pytest.raises(LmsrDomainError):
            call(value)


# -- properties -------------------------------------------------------------------------------

liquidity = st.floats(1e-2, 1e12)
odds = st.floats(-30.0, 30.0)
far_odds = st.floats(-lmsr.LOG_ODDS_MAX, lmsr.LOG_ODDS_MAX)
steps = st.floats(1e-9, 1e4)
unhurried = examples()


@unhurried
@given(far_odds)
def test_prices_of_both_sides_sum_to_one(x: float) -> None:
    assert lmsr.price(x) + lmsr.price(-x) == pytest.approx(1.0, abs=1e-15)


@unhurried
@given(liquidity, far_odds, steps)
def test_results_are_finite_and_bounded_everywhere(b: float, x: float, step: float) -> None:
    shares = lmsr.shares_for_spend(b * step, b=b, x=x)
    assert b * step * (1 - 1e-12) <= shares < math.inf
    assert 0.0 <= lmsr.cost_of_shares(shares, b=b, x=x) < math.inf
    assert -b * step * (1 + 1e-9) <= lmsr.cost_of_shares(-b * step, b=b, x=x) <= 0.0


@unhurried
@given(liquidity, odds, steps)
def test_a_spend_is_the_cost_of_its_shares(b: float, x: float, step: float) -> None:
    shares = lmsr.shares_for_spend(b * step, b=b, x=x)
    assert lmsr.cost_of_shares(shares, b=b, x=x) == pytest.approx(b * step, rel=1e-11)


@unhurried
@given(liquidity, odds, steps)
def test_a_round_trip_never_profits(b: float, x: float, step: float) -> None:
    spend = b * step
    shares = lmsr.shares_for_spend(spend, b=b, x=x)
    back = -lmsr.cost_of_shares(-shares, b=b, x=x - shares / b)
    assert back <= spend * (1 + 1e-10)


@unhurried
@given(liquidity, odds, st.tuples(st.floats(1e-6, 20.0), st.floats(1e-6, 20.0)))
def test_a_trade_in_two_parts_costs_the_same(
    b: float, x: float, parts: tuple[float, float]
) -> None:
    one, two = parts
    whole = lmsr.cost_of_shares(b * one + b * two, b=b, x=x)
    first = lmsr.cost_of_shares(b * one, b=b, x=x)
    second = lmsr.cost_of_shares(b * two, b=b, x=x - one)
    assert first + second == pytest.approx(whole, rel=1e-10)


@unhurried
@given(liquidity, odds, st.tuples(st.floats(-20.0, 20.0), st.floats(1e-3, 1.0)))
def test_more_shares_cost_more_and_at_most_one_each(
    b: float, x: float, both: tuple[float, float]
) -> None:
    step, more = both
    less = lmsr.cost_of_shares(b * step, b=b, x=x)
    added = lmsr.cost_of_shares(b * (step + more), b=b, x=x) - less
    slack = 1e-12 * (abs(less) + b * abs(step))
    assert -slack <= added <= b * more + slack


@unhurried
@given(liquidity, st.floats(1e-6, 1 - 1e-6), odds)
def test_a_trade_to_a_price_reaches_it(b: float, target: float, x: float) -> None:
    shares = lmsr.shares_to_price(target, b=b, x=x)
    assert lmsr.price(x - shares / b) == pytest.approx(target, rel=1e-9)
    cost = lmsr.cost_of_shares(shares, b=b, x=x)
    assert lmsr.spend_to_price(target, b=b, x=x) == pytest.approx(cost, rel=1e-9, abs=b * 1e-13)


@pytest.mark.slow
@unhurried
@given(
    liquidity,
    st.floats(1e-4, 1 - 1e-4),
    st.lists(st.tuples(st.booleans(), st.floats(-5.0, 15.0)), max_size=12),
)
def test_the_market_maker_never_loses_more_than_its_bound(
    b: float, start: float, trades: list[tuple[bool, float]]
) -> None:
    x = -lmsr.shares_to_price(start, b=1.0, x=0.0)
    taken, sold = 0.0, {True: 0.0, False: 0.0}
    for is_yes, step in trades:
        shares = max(b * step, -sold[is_yes])
        taken += lmsr.cost_of_shares(shares, b=b, x=x if is_yes else -x)
        sold[is_yes] += shares
        x += shares / b * (-1 if is_yes else 1)
        loss = max(sold.values()) - taken
        assert loss <= lmsr.worst_loss(b, start) + b * 1e-10
