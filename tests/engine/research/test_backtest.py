"""Backtests: thresholds, open trades and sweeps."""

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service_tui.engine.research.backtest import (
    Replay,
    Replayed,
    Threshold,
    sweep,
    threshold_of,
    thresholds_of,
)
from service_tui.units import Micros


def replay(trades: Sequence[Replayed], thresholds: Sequence[Threshold]) -> Replay:
    """One by one, as the spec says it."""
    kept = [
        trade
        for trade in trades
        if all(one.passes(signal) for one, signal in zip(thresholds, trade.signals, strict=True))
    ]
    decided = [one.pnl for one in kept if not one.is_open]
    return Replay(
        included=len(kept),
        excluded=len(trades) - len(kept),
        pnl=Micros(sum(one.pnl for one in kept)),
        decided=len(decided),
        won=sum(pnl > 0 for pnl in decided),
    )


def trade(pnl: int, *signals: float | None, is_open: bool = False) -> Replayed:
    return Replayed(Micros(pnl), is_open, signals)


@pytest.mark.parametrize(
    ("name", "key", "is_max"),
    [
        ("min_edge", "edge", False),
        ("max_probability", "probability", True),
        ("edge", "edge", False),
        ("min_", "min_", False),
        ("maximum", "maximum", False),
    ],
)
def test_the_name_of_a_threshold_says_what_it_means(name: str, key: str, is_max: bool) -> None:  # noqa: FBT001
    found = threshold_of(name, 0.1)
    assert (found.key, found.is_max) == (key, is_max)


def test_a_value_on_the_threshold_passes() -> None:
    trades = [trade(5, 0.1), trade(7, 0.2), trade(-3, 0.3)]
    at_least = replay(trades, thresholds_of({"min_edge": 0.2}))
    assert (at_least.included, at_least.excluded, at_least.pnl) == (2, 1, 4)
    at_most = replay(trades, thresholds_of({"max_edge": 0.2}))
    assert (at_most.included, at_most.pnl, at_most.win_rate) == (2, 12, 1.0)
    bare = replay(trades, thresholds_of({"edge": 0.2}))
    assert bare == at_least


def test_a_trade_without_the_signal_is_excluded() -> None:
    found = replay([trade(5, None), trade(7, 0.9)], thresholds_of({"min_edge": -1.0}))
    assert (found.included, found.excluded, found.pnl) == (1, 1, 7)


def test_open_trades_count_in_money_and_not_in_the_win_rate() -> None:
    found = sweep([trade(5, is_open=True), trade(-7), trade(9)], [], [])[0][1]
    assert (found.pnl, found.decided, found.win_rate) == (7, 2, 0.5)
    assert sweep([trade(5, is_open=True)], [], [])[0][1].win_rate is None


def test_an_improvement_needs_an_original_that_is_not_zero() -> None:
    found = sweep([trade(150)], [], [])[0][1]
    assert found.improvement_pct(Micros(100)) == 50.0
    assert found.improvement_pct(Micros(-100)) == 250.0
    assert found.improvement_pct(Micros(0)) is None


signals = st.none() | st.sampled_from([-1.0, 0.0, 0.1, 0.2, 0.25, 0.5, 1.0])
trades_of_two = st.lists(
    st.builds(
        Replayed,
        st.integers(-1_000, 1_000).map(Micros),
        st.booleans(),
        st.tuples(signals, signals),
    ),
    max_size=30,
)
ladders = st.lists(st.sampled_from([-2.0, 0.0, 0.1, 0.15, 0.25, 2.0]), min_size=1, max_size=5)


@pytest.mark.slow
@given(trades_of_two, ladders, ladders, st.booleans(), st.booleans())
def test_a_sweep_is_a_replay_of_every_combination(  # noqa: PLR0917  (drawn, not called)
    trades: list[Replayed],
    first: list[float],
    second: list[float],
    a_max: bool,  # noqa: FBT001
    b_max: bool,  # noqa: FBT001
) -> None:
    names = ("max_a" if a_max else "min_a", "max_b" if b_max else "b")
    swept = [threshold_of(name, 0.0) for name in names]
    found = sweep(trades, swept, [first, second])
    wanted = [
        ((a, b), replay(trades, thresholds_of({names[0]: a, names[1]: b})))
        for a, b in itertools.product(first, second)
    ]
    assert found == wanted


@pytest.mark.parametrize("name", ["min_a", "max_a"])
def test_a_sweep_counts_each_value_by_itself(name: str) -> None:
    trades = [
        trade(0, 0.2), trade(1, 0.3), trade(-5, 0.4, is_open=True), trade(-2, 0.4),
        trade(9, None), trade(4, 0.9, is_open=True),
    ]  # fmt: skip
    # In no order and one of them twice; beyond the ends nothing passes.
    steps = [0.4, 0.1, 0.9, 1.5, 0.4, -1.0]
    found = sweep(trades, [threshold_of(name, 0.0)], [steps])
    assert found == [((at,), replay(trades, thresholds_of({name: at}))) for at in steps]
    assert {point.included + point.excluded for _, point in found} == {len(trades)}
    empty = next(point for (at,), point in found if at == (1.5 if name == "min_a" else -1.0))
    assert empty == Replay(0, len(trades), Micros(0), 0, 0)


def test_a_sweep_over_two_signals_needs_both() -> None:
    trades = [trade(5, 0.5, 0.5), trade(7, 0.5, None), trade(-3, 0.1, 0.9), trade(2, 0.9, 0.1)]
    names = ("min_a", "max_b")
    steps = ([0.0, 0.5, 0.8], [0.9, 0.5, 0.0])
    found = sweep(trades, [threshold_of(name, 0.0) for name in names], steps)
    assert found == [
        ((a, b), replay(trades, thresholds_of({"min_a": a, "max_b": b})))
        for a, b in itertools.product(*steps)
    ]


def test_a_sweep_of_nothing_is_one_point() -> None:
    assert sweep([trade(3), trade(4)], [], []) == [((), replay([trade(3), trade(4)], ()))]
