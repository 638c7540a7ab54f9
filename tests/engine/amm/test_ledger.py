"""The ledger: transfers, balances, and refused amounts."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.examples import examples
from service_tui.engine.amm.ledger import Ledger, UnbalancedPostingError
from service_tui.units import Micros, NotMicrosError

OPERATIONS = 100_000
ACCOUNTS = ("issuer", "crowd", "fees", "maker:m-1", "maker:m-2", "agent:a-1", "agent:a-2")

names = st.sampled_from(ACCOUNTS)
amounts = st.integers(1, 10**15)
unhurried = examples()


def balanced(changes: list[tuple[str, int]]) -> list[tuple[str, int]]:
    return [*changes, ("issuer", -sum(change for _, change in changes))]


def test_a_transfer_takes_what_it_gives() -> None:
    ledger = Ledger()
    ledger.transfer("issuer", "agent:a-1", Micros(10_000_000_000))
    ledger.transfer("agent:a-1", "maker:m-1", Micros(1))
    assert ledger.balance("agent:a-1") == 9_999_999_999
    assert ledger.balance("issuer") == -10_000_000_000
    assert ledger.balance("maker:m-1") == 1
    assert ledger.total() == 0


def test_a_transfer_to_oneself_changes_nothing() -> None:
    ledger = Ledger()
    ledger.transfer("crowd", "crowd", Micros(5))
    assert ledger.balance("crowd") == 0


def test_an_unknown_account_stands_at_zero_and_is_not_made_by_asking() -> None:
    ledger = Ledger()
    assert ledger.balance("agent:nobody") == 0
    assert not ledger.balances()


@pytest.mark.parametrize("amount", [0, -1, True, 1.0, 0.5, float("nan"), "1", None])
def test_a_transfer_of_anything_but_micros_is_refused(amount: object) -> None:
    ledger = Ledger()
    with pytest.raises(NotMicrosError):
        ledger.transfer("issuer", "crowd", amount)  # pyright: ignore[reportArgumentType]
    assert not ledger.balances()


@pytest.mark.parametrize("change", [True, 1.0, float("nan"), "1", None])
def test_a_leg_of_anything_but_micros_is_refused(change: object) -> None:
    ledger = Ledger()
    with pytest.raises(NotMicrosError):
        ledger.post([("a", 1), ("b", change)])  # pyright: ignore[reportArgumentType]
    assert not ledger.balances()


def test_an_unbalanced_posting_is_refused_and_changes_nothing() -> None:
    ledger = Ledger()
    ledger.transfer("issuer", "crowd", Micros(7))
    before = dict(ledger.balances())
    with pytest.raises(UnbalancedPostingError):
        ledger.post([("crowd", -3), ("fees", 2)])
    assert ledger.balances() == before


def test_a_posting_may_name_an_account_twice() -> None:
    ledger = Ledger()
    ledger.post([("crowd", -3), ("fees", 1), ("maker:m-1", 4), ("crowd", -2)])
    assert ledger.balances() == {"crowd": -5, "fees": 1, "maker:m-1": 4}


def test_a_ledger_is_made_again_from_its_balances() -> None:
    ledger = Ledger()
    ledger.transfer("issuer", "crowd", Micros(7))
    again = Ledger(ledger.balances())
    again.transfer("issuer", "crowd", Micros(1))
    assert ledger.balances() == {"issuer": -7, "crowd": 7}
    assert again.balances() == {"issuer": -8, "crowd": 8}


@pytest.mark.parametrize(
    ("balances", "error"),
    [({"crowd": 7, "fees": -6}, UnbalancedPostingError), ({"crowd": 0.0}, NotMicrosError)],
)
def test_balances_that_are_no_ledger_are_refused(
    balances: dict[str, int], error: type[ValueError]
) -> None:
    with pytest.raises(error):
        Ledger(balances)


def test_the_window_on_the_balances_cannot_change_them() -> None:
    ledger = Ledger()
    window = ledger.balances()
    with pytest.raises(TypeError):
        window["crowd"] = 5  # pyright: ignore[reportIndexIssue]
    ledger.transfer("issuer", "crowd", Micros(5))
    assert window["crowd"] == 5


@pytest.mark.slow
@unhurried
@given(st.lists(st.tuples(names, names, amounts)))
def test_transfers_keep_the_total_at_zero(transfers: list[tuple[str, str, int]]) -> None:
    ledger = Ledger()
    expected: Counter[str] = Counter()
    for giver, taker, amount in transfers:
        ledger.transfer(giver, taker, Micros(amount))
        expected[giver] -= amount
        expected[taker] += amount
    assert ledger.total() == 0
    assert ledger.balances() == expected


@pytest.mark.slow
@unhurried
@given(st.lists(st.lists(st.tuples(names, st.integers(-(10**15), 10**15)))))
def test_postings_keep_the_total_at_zero(postings: list[list[tuple[str, int]]]) -> None:
    ledger = Ledger()
    for changes in postings:
        ledger.post(balanced(changes))
        assert ledger.total() == 0


@pytest.mark.slow
@unhurried
@given(st.lists(st.tuples(names, st.integers()), max_size=5), st.integers().filter(bool))
def test_postings_off_by_anything_are_refused(changes: list[tuple[str, int]], off: int) -> None:
    ledger = Ledger()
    with pytest.raises(UnbalancedPostingError):
        ledger.post([*balanced(changes), ("fees", off)])
    assert not ledger.balances()


@pytest.mark.slow
def test_a_hundred_thousand_operations_keep_the_total_at_zero() -> None:
    rng = random.Random(20_270_115)
    ledger = Ledger()
    for number in range(OPERATIONS):
        if rng.random() < 0.8:
            amount = Micros(rng.randrange(1, 500_000_000))
            ledger.transfer(rng.choice(ACCOUNTS), rng.choice(ACCOUNTS), amount)
        else:
            changes = [
                (rng.choice(ACCOUNTS), rng.randrange(-(10**9), 10**9))
                for _ in range(rng.randrange(6))
            ]
            ledger.post(balanced(changes))
        if number % 1_000 == 0:
            assert ledger.total() == 0
    assert ledger.total() == 0
    assert sum(ledger.balance(account) for account in ACCOUNTS) == 0
