"""The history of views: where a step leads, and what is kept of each."""

import pytest

from service_tui.console.shell.views import SCREENS, VIEWS_MAX, Trail, View

A, B, C = View("a", "1"), View("b"), View("c", "3")


def test_a_new_view_is_in_front_and_the_one_before_it_is_the_last() -> None:
    trail = Trail((A,)).go(B)
    assert trail == Trail((A, B), 1, A)
    assert trail.front == B
    assert trail.go(C) == Trail((A, B, C), 2, B)


def test_a_new_view_forgets_those_ahead() -> None:
    trail = Trail((A, B, C), 1, A)
    assert trail.go(A) == Trail((A, B, A), 2, B)
    assert Trail((A, B, C), 0).go(C) == Trail((A, C), 1, A)


@pytest.mark.parametrize(
    ("place", "by", "to", "last"),
    [(2, -1, 1, C), (1, -1, 0, B), (0, 1, 1, A), (1, 1, 2, B)],
)
def test_a_step_goes_one_view_and_remembers_where_it_came_from(
    place: int, by: int, to: int, last: View
) -> None:
    assert Trail((A, B, C), place).step(by) == Trail((A, B, C), to, last)


@pytest.mark.parametrize(("place", "by"), [(0, -1), (2, 1)])
def test_at_either_end_a_step_stays(place: int, by: int) -> None:
    trail = Trail((A, B, C), place, B)
    assert trail.step(by) is trail


def test_the_row_of_the_view_in_front_is_kept() -> None:
    trail = Trail((A, B, C), 1, A).left_at("7")
    assert trail == Trail((A, View("b", "7"), C), 1, A)


def test_the_oldest_views_are_forgotten() -> None:
    trail = Trail((View("0"),))
    for number in range(1, VIEWS_MAX + 5):
        trail = trail.go(View(str(number)))
    assert (len(trail.views), trail.place) == (VIEWS_MAX, VIEWS_MAX - 1)
    assert trail.front == View(str(VIEWS_MAX + 4))
    assert trail.views[0] == View("5")


def test_every_screen_has_its_module_by_its_own_class() -> None:
    assert len(SCREENS) == 13
    assert len(set(SCREENS.values())) == 13
