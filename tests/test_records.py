"""Records read from JSON by the types of their fields, on invented kinds of each form."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, NewType

import pytest

from service_tui.records import fields_of_record, read, read_some

Cents = NewType("Cents", int)


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Point(NamedTuple):
    x: int
    colour: Colour
    next_colour: Colour | None = None
    trail: tuple[Colour, ...] = ()


@dataclass(slots=True)
class Shape:
    name: str
    area: Cents
    corners: list[Point] = field(default_factory=list[Point])
    by_name: dict[str, Point] = field(default_factory=dict[str, Point])
    pair: tuple[int, Colour] | None = None


@pytest.mark.parametrize(
    ("row", "record"),
    [
        ([1, "red"], Point(1, Colour.RED)),
        # A row of an older program ends early: the rest has its defaults.
        ([1, "red", "blue"], Point(1, Colour.RED, Colour.BLUE)),
        ([1, "red", None, ["red", "blue"]], Point(1, Colour.RED, None, (Colour.RED, Colour.BLUE))),
    ],
)
def test_a_row_is_read_by_its_places(row: list[Any], record: Point) -> None:
    assert read(Point, row) == record


def test_an_object_is_read_by_the_names_of_its_fields() -> None:
    fields = {
        "name": "square", "area": 4, "corners": [[0, "red"], [1, "blue"]],
        "by_name": {"first": [0, "red"]}, "pair": [7, "blue"],
    }  # fmt: skip
    shape = read(Shape, fields)
    assert shape.corners == [Point(0, Colour.RED), Point(1, Colour.BLUE)]
    assert shape.by_name == {"first": Point(0, Colour.RED)}
    assert shape.pair == (7, Colour.BLUE)
    assert read(Shape, {"name": "dot", "area": 0}) == Shape("dot", Cents(0))
    # Written down and read again it is the same.
    assert read(Shape, fields_of_record(shape)) == shape


def test_some_fields_are_read_by_name_and_unknown_ones_stay() -> None:
    changes = read_some(Shape, {"pair": [1, "red"], "area": 9, "else": [1]})
    assert changes == {"pair": (1, Colour.RED), "area": 9, "else": [1]}


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Point, [1]),
        (Point, [1, "green"]),
        (Point, [1, "red", "red", [], "too many"]),
        (Shape, {"name": "nameless"}),
        (Shape, {"name": "a", "area": 1, "else": 2}),
        (Shape, {"name": "a", "area": 1, "pair": [1]}),
    ],
)
def test_what_is_no_record_of_the_kind_is_refused(kind: type[object], value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        read(kind, value)
