"""A state and its tree say the same, and a tree that is none is refused."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.samples.desk import sample_state
from kit.samples.fleet import sample_supervision
from kit.samples.guarded import guarded_state
from service_tui.desk.checked_records import TreeError, tree_of, value_of
from service_tui.desk.reasons import Fix
from service_tui.desk.slices.notices import Notice
from service_tui.desk.slices.risk import RiskView
from service_tui.desk.slices.service import ServiceView
from service_tui.desk.slices.supervision import SupervisionView
from service_tui.desk.slices.tickets import TicketView
from service_tui.desk.state import DeskState
from service_tui.units import LATEST, Timestamp
from service_tui.wire.text import harmless

KINDS = (TicketView, ServiceView, Notice, RiskView)


def again(kind: type[object], value: object) -> object:
    """The value after it was written as text and read."""
    return value_of(kind, json.loads(json.dumps(tree_of(value), allow_nan=False)))


def test_a_whole_state_is_read_back_equal() -> None:
    state = sample_state(40)
    read = again(DeskState, state)
    assert read == state
    assert repr(read) == repr(state)


@pytest.mark.slow
@settings(max_examples=40)
@given(st.data())
@pytest.mark.parametrize("kind", KINDS)
def test_records_of_any_content_are_read_back_equal(
    kind: type[object], data: st.DataObject
) -> None:
    st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
    st.register_type_strategy(int, st.integers(-(2**63), 2**63))
    st.register_type_strategy(str, st.text().map(harmless))
    st.register_type_strategy(Timestamp, st.floats(-LATEST, LATEST))  # type: ignore[arg-type]
    value = data.draw(st.from_type(kind))
    read = again(kind, value)
    assert read == value
    assert json.dumps(tree_of(read)) == json.dumps(tree_of(value))


def test_a_fix_stays_a_fix_and_a_sentence_a_sentence() -> None:
    for fix in (Fix.RAISE_LIMIT, "press the other key"):
        notice = Notice(1, "warn", "refused", fix=fix)
        read = again(Notice, notice)
        assert isinstance(read, Notice)
        assert read.fix == fix
        assert type(read.fix) is type(fix)


def test_thresholds_of_a_monitor_are_read_by_their_former_names_too() -> None:
    risk = guarded_state().risk
    tree = tree_of(risk)
    former = {
        "stop_loss_pct": "stop_pct",
        "take_profit_pct": "target_pct",
        "trailing_stop_pct": "trail_pct",
        "trailing_stop_points": "trail_points",
    }
    tree["monitors"] = [
        {former.get(name, name): value for name, value in monitor.items()}
        for monitor in tree["monitors"]
    ]
    assert value_of(RiskView, tree) == risk
    assert any(monitor.stop_loss_pct for monitor in risk.monitors)


def test_pending_trades_stand_in_a_record_by_the_names_of_before() -> None:
    supervision = sample_supervision()
    tree = tree_of(supervision)
    listed = [trade["held_id"] for trade in tree["held"]]
    assert listed == [trade.pending_id for trade in supervision.pending_trades]
    assert listed
    assert not tree.keys() & {"pending_trades"}
    assert again(SupervisionView, supervision) == supervision


def test_an_older_record_has_the_default_of_a_new_field_and_loses_an_unknown_one() -> None:
    tree = tree_of(sample_state(20))
    del tree["risk"]
    tree["of_tomorrow"] = [1]
    assert value_of(DeskState, tree).risk == RiskView()


@pytest.mark.parametrize(
    "spoiled",
    [
        {"service": 7},
        {"markets": []},
        {"markets": {"m": {}}},
        {"positions": {}},
        {"from_cache": 1},
        {"seen": {"of tomorrow": 1.0}},
        {"seen": {"markets": "then"}},
        {"halt": {"since": None}},
        {"halt": {"since": float("inf")}},
        {"halt": {"since": 1e300}},
        {"seen": {"markets": float("nan")}},
        {"polls": {"markets": float("inf")}},
    ],
)
def test_what_is_no_state_is_refused(spoiled: dict[str, object]) -> None:
    tree = {**tree_of(sample_state(20)), **spoiled}
    with pytest.raises(TreeError):
        value_of(DeskState, tree)


def test_an_unknown_type_is_refused_by_its_name_only() -> None:
    state = replace(sample_state(20), account=object())  # pyright: ignore[reportArgumentType]
    with pytest.raises(TreeError, match="no tree for object"):
        tree_of(state)


NO_NUMBERS: list[Callable[[dict[str, Any]], object]] = [
    lambda tree: tree["account"].update(cash=2**64),
    lambda tree: tree["account"].update(cash=10**400),
    lambda tree: tree["markets"][next(iter(tree["markets"]))].update(price=float("inf")),
]


@pytest.mark.parametrize("spoil", NO_NUMBERS)
def test_numbers_without_end_are_refused(spoil: Callable[[dict[str, Any]], object]) -> None:
    tree = tree_of(sample_state(20))
    spoil(tree)
    with pytest.raises(TreeError):
        value_of(DeskState, tree)


def test_text_of_a_tree_is_made_harmless() -> None:
    tree = tree_of(Notice(1, "warn", "refused"))
    tree["text"] = "\x1b[2J\x1b]0;gone\x07red\u202e\nsecond"
    read = value_of(Notice, tree)
    assert read.text == "red\nsecond"


@given(st.text())
def test_harmless_text_stays_as_it_is(text: str) -> None:
    once = harmless(text)
    assert harmless(once) == once


@pytest.mark.slow
def test_a_tree_of_values_without_end_is_refused_at_once() -> None:
    inner: list[Any] = ["x"] * 2_000
    for _ in range(4):
        inner = [inner] * 2_000
    with pytest.raises(TreeError, match="too many values"):
        value_of(DeskState, {**tree_of(sample_state(20)), "of_tomorrow": inner})
