"""The cached state: its content, its size, and unreadable caches."""

import json
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.examples import examples
from kit.samples.desk import NOW, market, sample_state
from service_tui.desk import cached_state
from service_tui.desk.cached_state import MARKETS_MAX, NEWS_MAX, TRADES_MAX, dump_state, load_state
from service_tui.desk.slices.service import Phase, ServiceView
from service_tui.desk.slices.world import AbsenceView
from service_tui.desk.state import DeskState
from service_tui.terms import MarketStatus, Mode, Venue
from service_tui.units import Micros, Timestamp

EMPTY = DeskState(
    service=ServiceView("embedded", Mode.SIM, Venue.SIM, embedded=True, phase=Phase.CONNECTING),
    preferences={"theme": "paper"},
)
STATE = sample_state(60)
TEXT = dump_state(STATE)


def test_what_was_frozen_comes_back_marked_as_old() -> None:
    back = load_state(TEXT, EMPTY)
    for part in ("account", "limits", "positions", "trades", "news", "equity", "stars", "world"):
        assert getattr(back, part) == getattr(STATE, part), part
    assert back.markets == STATE.markets
    assert [type(view.status) for view in back.markets.values()] == [
        type(view.status) for view in STATE.markets.values()
    ]
    assert back.from_cache
    assert back.service.phase is Phase.CONNECTING
    assert back.service.last_ok_at == NOW
    assert back.preferences == EMPTY.preferences
    assert back.seen == {}
    assert back.tickets == ()


@pytest.mark.parametrize("part", ["account", "limits", "world"])
def test_what_was_not_known_comes_back_as_not_known(part: str) -> None:
    assert getattr(load_state(dump_state(replace(STATE, **{part: None})), EMPTY), part) is None


@pytest.mark.parametrize(("later_s", "is_today"), [(9 * 3_600, True), (17 * 3_600, False)])
def test_figures_of_a_day_that_is_over_are_not_those_of_today(
    later_s: float, *, is_today: bool
) -> None:
    # It was eight o'clock in the morning, UTC.
    back = load_state(TEXT, EMPTY, Timestamp(NOW + later_s))
    assert (back.account.day_pnl is not None) == is_today
    assert (back.limits is not None) == is_today
    assert back.account.equity == STATE.account.equity


def test_an_empty_state_can_be_frozen() -> None:
    back = load_state(dump_state(EMPTY), EMPTY)
    assert back == replace(EMPTY, from_cache=True)


def test_frozen_twice_is_the_same_text() -> None:
    assert dump_state(load_state(TEXT, replace(EMPTY, seen=STATE.seen))) == TEXT


def test_an_absence_is_not_shown_a_second_time() -> None:
    absence = AbsenceView(NOW, NOW, 1.0, 0, 0, (), (), None, None)
    told = replace(STATE, world=replace(STATE.world, meanwhile=absence))
    assert load_state(dump_state(told), EMPTY).world.meanwhile is None


@pytest.mark.slow
def test_of_many_markets_the_held_the_starred_and_the_busiest_stay() -> None:
    many = sample_state(MARKETS_MAX + 300)
    least = sorted(many.markets.values(), key=lambda view: view.volume or 0)
    stars = frozenset(view.market_id for view in least[:3])
    kept = load_state(dump_state(replace(many, stars=stars)), EMPTY).markets
    assert len(kept) == MARKETS_MAX
    assert stars <= kept.keys()
    assert {view.market_id for view in many.positions} <= kept.keys()
    assert least[-1].market_id in kept


@pytest.mark.slow
def test_more_markets_held_than_fit_are_kept_all_the_same() -> None:
    many = sample_state(MARKETS_MAX + 300)
    names = list(many.markets)[: MARKETS_MAX + 50]
    one = many.positions[0]
    held = tuple(replace(one, market_id=name) for name in names)
    kept = load_state(dump_state(replace(many, positions=held, stars=frozenset())), EMPTY).markets
    assert set(names) <= kept.keys()


def test_the_long_lists_are_cut() -> None:
    long = replace(STATE, trades=STATE.trades * 20, news=STATE.news * 20)
    back = load_state(dump_state(long), EMPTY)
    assert len(back.trades) == TRADES_MAX
    assert len(back.news) == NEWS_MAX


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "7",
        "{}",
        '{"markets": 7}',
        "[" * 100_000,
        '{"a":' * 100_000,
        "1" * 5_000,
        TEXT[:-1],
        TEXT[:1_000],
        TEXT + "x",
        "\x00\xff",
    ],
    ids=str.__len__,
)
def test_broken_text_changes_nothing(text: str) -> None:
    assert load_state(text, EMPTY) is EMPTY


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@pytest.mark.slow
@examples(25)
@given(st.data())
def test_foreign_values_change_nothing_or_are_of_the_right_type(data: st.DataObject) -> None:
    tree = json.loads(dump_state(sample_state(6, held=2)))
    path, node = [], tree
    while isinstance(node, dict | list) and node and (not path or data.draw(st.booleans())):
        key = data.draw(st.sampled_from(sorted(node) if isinstance(node, dict) else [0]))
        path.append(key)
        node = node[key]
    put(tree, path, data.draw(JSON))
    back = load_state(json.dumps(tree), EMPTY)
    assert back is EMPTY or load_state(dump_state(back), EMPTY).markets == back.markets


def put(tree: Any, path: list[Any], value: object) -> None:
    for key in path[:-1]:
        tree = tree[key]
    tree[path[-1]] = value


WRONG = {
    "a word for a price": (("markets", 0, "price"), "0.5"),
    "not a number": (("markets", 0, "price"), float("nan")),
    "infinity": (("equity", 0, 1), float("inf")),
    "a fraction for micros": (("account", "cash"), 1.5),
    "a truth for micros": (("account", "cash"), True),
    "a number for a truth": (("limits", "paused"), 0),
    "no truth at all": (("limits", "paused"), None),
    "a status of tomorrow": (("markets", 0, "status"), "frozen"),
    "a word for tags": (("markets", 0, "tags"), "abc"),
    "a number in a sparkline": (("markets", 0, "sparkline", 0), "x"),
    "a side that is none": (("positions", 0, "side"), "maybe"),
    "a star that is none": (("stars",), [7]),
    "seen by nobody": (("seen",), {"markets": "then"}),
    "an absence": (("world", "meanwhile"), {"closed_at": 1.0}),
    "no markets": (("markets",), None),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_value_of_another_type_changes_nothing(name: str) -> None:
    path, value = WRONG[name]
    tree = json.loads(TEXT)
    put(tree, list(path), value)
    assert load_state(json.dumps(tree), EMPTY) is EMPTY


def test_a_field_that_an_older_program_did_not_know_takes_its_default() -> None:
    tree = json.loads(TEXT)
    for row in tree["markets"]:
        del row["criteria"]
    back = load_state(json.dumps(tree), EMPTY)
    assert {view.criteria for view in back.markets.values()} == {""}


def test_nothing_that_is_no_number_is_ever_frozen() -> None:
    view = replace(market(1, Random(1)), price=float("nan"))
    with pytest.raises(ValueError, match="JSON"):
        dump_state(replace(STATE, markets={view.market_id: view}))


def test_whole_numbers_stay_whole() -> None:
    cash = load_state(TEXT, EMPTY).account.cash
    assert type(cash) is int
    assert cash == Micros(STATE.account.cash)


@pytest.mark.parametrize("text", ["{}", "[]", "7", '{"account": 7}', "{", "[" * 100_000])
def test_text_of_another_kind_changes_nothing(text: str) -> None:
    assert load_state(text, EMPTY) is EMPTY


def test_a_field_of_a_later_program_is_left_out() -> None:
    kept = json.loads(TEXT)
    kept["positions"][0]["leverage"] = 3
    assert load_state(json.dumps(kept), EMPTY).positions == load_state(TEXT, EMPTY).positions


def test_every_market_that_is_held_is_kept_however_many_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cached_state, "MARKETS_MAX", 2)
    state = sample_state(8)
    one, names = state.positions[0], list(state.markets)[-4:]
    held = tuple(replace(one, market_id=name) for name in names)
    back = load_state(dump_state(replace(state, positions=held, stars=frozenset())), EMPTY)
    assert set(back.markets) == set(names)


def test_of_positions_on_venues_those_that_are_open_are_kept() -> None:
    state = sample_state(8)
    here = replace(state.positions[0], venue=Venue.EVM)
    gone = replace(here, market_id="m-gone", status=MarketStatus.RESOLVED)
    back = load_state(dump_state(replace(state, on_venues=(gone, here))), EMPTY)
    assert back.on_venues == (here,)
