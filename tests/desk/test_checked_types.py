"""Each type that a tree is read as, one value at a time: what is taken, and what is refused."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NewType

import pytest

from service_tui.desk.checked_records import TreeError, tree_of, value_of
from service_tui.units import LATEST, Micros, Timestamp
from service_tui.wire.text import harmless

Count = NewType("Count", int)


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Inner:
    name: str
    size: int = 3


@dataclass(frozen=True)
class Outer:
    inner: Inner
    names: tuple[str, ...] = ()
    pair: tuple[int, str] | None = None
    by_number: Mapping[Count, float] = field(default_factory=dict)
    colours: frozenset[Colour] = frozenset()
    at: Timestamp | None = None


WHOLE = Outer(
    Inner("a", 4), ("b", "c"), (1, "d"), {Count(7): 0.5}, frozenset(Colour), Timestamp(9.5)
)
TREE = {
    "inner": {"name": "a", "size": 4},
    "names": ["b", "c"],
    "pair": [1, "d"],
    "by_number": {"7": 0.5},
    "colours": ["blue", "red"],
    "at": 9.5,
}


def test_a_record_is_an_object_by_its_names_and_comes_back() -> None:
    assert tree_of(WHOLE) == TREE
    assert value_of(Outer, TREE) == WHOLE


def test_a_field_with_a_default_may_be_left_out_and_an_unknown_one_is() -> None:
    assert value_of(Outer, {"inner": {"name": "a", "new": 1}, "more": []}) == Outer(Inner("a"))


@pytest.mark.parametrize(
    ("value", "tree"),
    [
        (None, None),
        (True, True),
        (3, 3),
        (0.5, 0.5),
        ("a", "a"),
        (Colour.RED, "red"),
        ((1, (2,)), [1, [2]]),
        (frozenset({3, 1, 2}), [1, 2, 3]),
        ({Colour.RED: (1,), "b": None}, {"red": [1], "b": None}),
        ({7: Inner("a")}, {"7": {"name": "a", "size": 3}}),
    ],
)
def test_a_value_is_a_plain_tree(value: object, tree: object) -> None:
    found = tree_of(value)
    assert found == tree
    assert type(found) is type(tree)


@pytest.mark.parametrize("value", [object(), b"a", [1], {1, 2}, 1j])
def test_another_type_has_no_tree(value: object) -> None:
    with pytest.raises(TreeError, match=f"^no tree for {type(value).__name__}$"):
        tree_of(value)


READ = [
    (int, 3, 3),
    (int, 2**63, 2**63),
    (int, -(2**63), -(2**63)),
    (Micros, 5, 5),
    (Count, 5, 5),
    (float, 0.5, 0.5),
    (float, 3, 3),
    (bool, True, True),
    (str, "a", "a"),
    (Timestamp, 5, 5),
    (Timestamp, LATEST, LATEST),
    (Timestamp, -LATEST, -LATEST),
    (Colour, "red", Colour.RED),
    (int | None, None, None),
    (int | None, 4, 4),
    (int | str, "a", "a"),
    (str | float | None, 0.5, 0.5),
    (Inner | Colour, "blue", Colour.BLUE),
    (Inner | Colour | None, {"name": "a"}, Inner("a")),
    (Inner | int, 3, 3),
    (tuple[int, ...], [], ()),
    (tuple[int, ...], [1, 2, 3], (1, 2, 3)),
    (tuple[int, str], [1, "a"], (1, "a")),
    (frozenset[int], [2, 2], frozenset({2})),
    (Mapping[str, int], {"a": 1}, {"a": 1}),
    (Mapping[int, int], {"1": 1}, {1: 1}),
    (Mapping[Colour, str], {"red": "a"}, {Colour.RED: "a"}),
]


@pytest.mark.parametrize(("kind", "tree", "value"), READ)
def test_a_tree_of_its_type_is_read(kind: Any, tree: object, value: object) -> None:
    found = value_of(kind, tree)
    assert found == value
    assert type(found) is type(value)


REFUSED = [
    (int, True, "no int"),
    (int, 0.5, "no int"),
    (int, "3", "no int"),
    (int, None, "no int"),
    (int, 2**63 + 1, "no int"),
    (int, -(2**63) - 1, "no int"),
    (float, float("inf"), "no float"),
    (float, float("nan"), "no float"),
    (float, True, "no float"),
    (bool, 1, "no bool"),
    (str, 3, "no str"),
    (int | str, None, "none of the types"),
    (int | str | None, 0.5, "none of the types"),
    (Inner | Colour, None, "none of the types"),
    (Timestamp, LATEST + 1, "no time"),
    (Timestamp, -LATEST - 1, "no time"),
    (Timestamp, "now", "no float"),
    (Colour, "green", "no Colour"),
    (Colour, 3, "no Colour"),
    (Inner, [], "no Inner"),
    (Inner, None, "no Inner"),
    (Inner, {"size": 3}, "no name in Inner"),
    (Inner, {"name": "a", "size": "b"}, "no int"),
    (tuple[int, ...], {}, "no list"),
    (tuple[int, ...], "ab", "no list"),
    (tuple[int, ...], [1, "a"], "no int"),
    (tuple[int, str], [1], "no list of this length"),
    (tuple[int, str], [1, "a", 2], "no list of this length"),
    (tuple[int, str], "ab", "no list of this length"),
    (tuple[int, str], ["a", 1], "no int"),
    (frozenset[int], 3, "no list"),
    (Mapping[str, int], [], "no mapping"),
    (Mapping[str, int], {"a": "b"}, "no int"),
    (Mapping[int, int], {"a": 1}, "no whole number"),
    (Mapping[Count, int], {"a": 1}, "no whole number"),
    (Mapping[int, int], {str(2**63 + 1): 1}, "no whole number"),
    (Mapping[Colour, int], {"green": 1}, "no Colour"),
]


@pytest.mark.parametrize(("kind", "tree", "why"), REFUSED)
def test_a_tree_of_another_type_is_refused_without_its_value(
    kind: Any, tree: object, why: str
) -> None:
    with pytest.raises(TreeError) as raised:
        value_of(kind, tree)
    assert str(raised.value) == why


@pytest.mark.parametrize("kind", [object, list[int], bytes, dict])
def test_a_type_without_a_reader_is_a_mistake_of_the_program(kind: Any) -> None:
    with pytest.raises(TypeError, match=r"no reader for"):
        value_of(kind, [])


def test_text_of_a_file_is_made_harmless() -> None:
    assert value_of(str, "a\x1b[31mb\u202e") == harmless("a\x1b[31mb\u202e")
    assert "\x1b" not in value_of(str | None, "a\x1b[31mb")
    assert "\x1b" not in next(iter(value_of(Mapping[str, int], {"a\x1b": 1})))


@pytest.mark.parametrize(
    ("tree", "is_too_much"),
    [
        ([1, 2, 3, 4], False),
        ([1, 2, 3, 4, 5], True),
        ([[1, 2], [3]], True),
        ([[1], [3]], False),
        ({"a": [1, 2, 3]}, False),
        ({"a": [1, 2, 3, 4]}, True),
        ({"a": {"b": {"c": {"d": 1}}}}, False),
        ({"a": {"b": {"c": {"d": {"e": 1}}}}}, True),
        ("a" * 99, False),
    ],
)
def test_a_tree_has_an_end(tree: Any, *, is_too_much: bool) -> None:
    wanted = "too many values" if is_too_much else "no int"
    with pytest.raises(TreeError, match=f"^{wanted}$"):
        value_of(int, tree, 4)


def test_a_part_that_is_used_twice_counts_twice() -> None:
    part = [1, 2, 3]
    with pytest.raises(TreeError, match=r"^too many values$"):
        value_of(tuple[tuple[int, ...], ...], [part, part], 7)
    assert value_of(tuple[tuple[int, ...], ...], [part, [1]], 7) == ((1, 2, 3), (1,))
