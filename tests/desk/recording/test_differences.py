"""A difference turns one tree into the other, exactly, and is short where little has changed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service_tui.desk.checked_records import Tree, TreeError
from service_tui.desk.recording.differences import applied, difference

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=3), inner, max_size=5)
    ),
    max_leaves=24,
)
LISTS = st.lists(st.integers(0, 6), max_size=12)


def written(tree: Tree) -> str:
    """The tree as text, which tells 1 from 1.0 and from True, and the order of keys."""
    return json.dumps(tree)


@pytest.mark.slow
@given(TREES, TREES)
def test_a_difference_turns_one_tree_into_the_other(before: Tree, after: Tree) -> None:
    kept = written(before)
    change = json.loads(json.dumps(difference(before, after)))
    assert written(applied(before, change)) == written(after)
    assert written(before) == kept


@pytest.mark.slow
@given(LISTS, LISTS)
def test_lists_of_equal_entries_are_told_apart_by_their_place(
    before: list[int], after: list[int]
) -> None:
    assert applied(before, difference(before, after)) == after


@pytest.mark.slow
@given(TREES)
def test_a_tree_does_not_differ_from_its_copy(tree: Tree) -> None:
    assert difference(tree, json.loads(json.dumps(tree))) is None


ROWS = [{"id": f"order-{number}", "state": "queued", "text": "x" * 40} for number in range(50)]


@pytest.mark.parametrize(
    ("after", "size_max"),
    [
        ([{**ROWS[0], "state": "sent"}, *ROWS[1:]], 70),
        ([{"id": "new", "state": "queued", "text": ""}, *ROWS[:-1]], 80),
        ([*ROWS[1:], {"id": "new", "state": "queued", "text": ""}], 80),
        ([*ROWS[:20], *ROWS[30:]], 40),
        (
            [{"id": "new", "state": "queued", "text": ""}, {**ROWS[0], "state": "done"}, *ROWS[1:]],
            110,
        ),
    ],
)
def test_a_change_of_one_row_is_short(after: list[Tree], size_max: int) -> None:
    change = difference(ROWS, after)
    assert applied(ROWS, change) == after
    assert len(json.dumps(change)) <= size_max


def test_rows_that_all_begin_alike_and_move_by_two_places_are_taken_over() -> None:
    fills = [{"seq": 0, "trade": f"t{number}", "text": "x" * 40} for number in range(50)]
    new = [{"seq": 0, "trade": f"n{number}", "text": ""} for number in range(2)]
    after = [*new, *fills[:-2]]
    change = difference(fills, after)
    assert applied(fills, change) == after
    assert len(json.dumps(change)) <= 200


def test_another_order_of_an_object_is_short() -> None:
    names = [f"market-{number}" for number in range(100)]
    before = dict.fromkeys(names, 1)
    # The last one comes first, as a list that is sorted by volume has it.
    after = dict.fromkeys([names[-1], *names[:-1]], 1)
    change = difference(before, after)
    assert len(json.dumps(change)) <= 60
    assert list(applied(before, change)) == list(after)
    # An older program wrote all the keys.
    older = ["d", {}, {}, [], list(after)]
    assert list(applied(before, older)) == list(after)


@pytest.mark.parametrize(
    "change",
    [
        ["l", [[0, 9]]],
        ["l", [[-1, 1]]],
        ["l", [[7, ["r", 1]]]],
        ["l", [[0, True, 3], []]],
        ["d", {}, {}, []],
        ["x", 1],
        [],
        "r",
        7,
    ],
)
def test_what_is_no_difference_is_refused(change: Tree) -> None:
    with pytest.raises(TreeError):
        applied([1, 2], change)


A, B, C = {"id": "a", "n": 1}, {"id": "b", "n": 2}, {"id": "c", "n": 3}


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (1, 1, None),
        (1, 1.0, ["r", 1.0]),
        (1, True, ["r", True]),
        ([], {}, ["r", {}]),
        ({}, [], ["r", []]),
        ([1], [True], ["l", [[True]]]),
        ({"x": 1}, {"x": 1}, None),
        ({"x": 1}, {"x": 2}, ["d", {"x": ["r", 2]}, {}, []]),
        ({"x": 1}, {"x": 1, "y": 2}, ["d", {}, {"y": 2}, []]),
        ({"x": 1, "y": 2}, {"y": 2}, ["d", {}, {}, ["x"]]),
        ({"x": 1, "y": 2}, {"y": 2, "x": 1}, ["d", {}, {}, [], ["l", [[1, 1], [0, 1]]]]),
        ({"x": 1, "y": 2}, {"z": 3, "y": 2}, ["d", {}, {"z": 3}, ["x"], ["l", [[1, 1], [0, 1]]]]),
        ([], [], None),
        ([1], [], ["l", []]),
        ([], [1, 2], ["l", [[1], [2]]]),
        ([1, 2, 3], [1, 2, 3], None),
        ([1, 2, 3], [2, 3], ["l", [[1, 2]]]),
        ([1, 2, 3], [1, 2], ["l", [[0, 2]]]),
        ([1, 2, 3], [3, 1, 2], ["l", [[2, 1], [0, 2]]]),
        ([1, 2, 3], [1, 9, 2, 3], ["l", [[0, 1], [9], [1, 2]]]),
        ([1, 2, 3], [3, 9], ["l", [[2, 1], [9]]]),
        ([A, B, C], [A, {**B, "n": 9}, C],
         ["l", [[0, 1], [1, ["d", {"n": ["r", 9]}, {}, []]], [2, 1]]]),
        ([A, B, C], [{**A, "n": 8}, {**B, "n": 9}, C],
         ["l", [[0, ["d", {"n": ["r", 8]}, {}, []]], [1, ["d", {"n": ["r", 9]}, {}, []]], [2, 1]]]),
        ([A, B], [{"id": "x", "n": 1}, B], ["l", [[{"id": "x", "n": 1}], [1, 1]]]),
        ([A], [{"n": 5}], ["l", [[{"n": 5}]]]),
        ([{}], [{"n": 5}], ["l", [[{"n": 5}]]]),
        ([[1]], [[2]], ["l", [[[2]]]]),
        ([A], ["a"], ["l", [["a"]]]),
        ([7], [A], ["l", [[A]]]),
    ],
)  # fmt: skip
def test_a_difference_is_the_shortest_that_says_it(before: Tree, after: Tree, change: Tree) -> None:
    kept = written(before)
    assert written(difference(before, after)) == written(change)
    assert written(applied(before, change)) == written(after)
    assert written(before) == kept


@pytest.mark.parametrize(
    ("before", "change"),
    [
        ([1, 2], ["l", [[2, 1]]]),
        ([1, 2], ["l", [[1, 2]]]),
        ([1, 2], ["l", [[1, 0]]]),
        ([1, 2], ["l", [[-1, ["r", 3]]]]),
        ({"x": 1}, ["l", [[0, 1]]]),
        ({"x": 1}, ["x", {}, {}, []]),
        ({"x": 1}, ["d", {"y": ["r", 1]}, {}, []]),
        ({"x": 1}, ["d", {}, {}, [], ["y"]]),
        ({"x": 1}, ["d", {"x": ["d", {}, {}, []]}, {}, []]),
        ({"x": 1}, ["d", [], {}, []]),
        ({"x": 1}, ["d", {}, 7, []]),
        ("x", ["d", {}, {}, []]),
    ],
)
def test_what_does_not_fit_the_tree_is_refused(before: Tree, change: Tree) -> None:
    with pytest.raises(TreeError, match="no difference of this tree"):
        applied(before, change)


def test_a_list_may_have_its_bound_and_one_more_and_no_further(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("service_tui.desk.recording.differences.LIST_MAX", 3)
    assert applied([], ["l", [[1], [2], [3], [4]]]) == [1, 2, 3, 4]
    with pytest.raises(TreeError):
        applied([], ["l", [[1], [2], [3], [4], [5]]])
    with pytest.raises(TreeError):
        applied([1, 2], ["l", [[0, 2], [0, 2], [0, 1]]])


def test_keys_of_two_names_that_an_older_record_lists_are_an_order() -> None:
    assert list(applied({"l": 1, "x": 2}, ["d", {}, {}, [], ["x", "l"]])) == ["x", "l"]
    assert list(applied({"l": 1, "x": 2}, ["d", {}, {}, [], ["l", "x"]])) == ["l", "x"]
