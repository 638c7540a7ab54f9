"""The history of views: where a step leads, what is kept of each, and what else is opened."""

import pytest
from textual.command import CommandList, Provider

from kit.console.doors import running
from service_tui.console.keys import key_named
from service_tui.console.messages import GoTo, HelpRequested, KeyChosen
from service_tui.console.shell.views import (
    SCREENS,
    VIEWS_MAX,
    Palette,
    Trail,
    View,
    Views,
    provider_named,
)
from service_tui.desk.commands.settings import SetPreference

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
    assert len(SCREENS) == 14
    assert len(set(SCREENS.values())) == 14


def test_every_part_of_the_palette_is_imported_by_its_name_and_nothing_else() -> None:
    kinds = [provider() for provider in Views.COMMANDS]
    assert len({kind.__name__ for kind in kinds}) == len(kinds) == 8
    assert all(issubclass(kind, Provider) for kind in kinds)
    for name in ("Candidate", "CHUNK"):
        with pytest.raises(TypeError, match="no provider"):
            provider_named(name)


async def test_a_chosen_key_is_done_where_it_belongs_or_says_why_not() -> None:
    async with running(first="markets", size=(120, 40)) as seen:
        for name, why in (
            ("ticket.side", ""),
            ("form.cancel", ""),
            ("wallet.live", ""),
            ("app.theme", ""),
            ("app.back", "no previous view"),
            ("app.last", "no previous view"),
            ("app.team", "this desk is not shared"),
        ):
            assert seen.app.disabled_reason(key_named(name)) == why, name
        seen.app.post_message(KeyChosen(key_named("app.team")))
        await seen.until(lambda: bool(seen.toasts))
        assert seen.toasts == ["! team: this desk is not shared"]
        before = seen.app.front.table.state()
        seen.app.post_message(KeyChosen(key_named("rows.sort")))
        await seen.until(lambda: seen.app.front.table.state().sort != before.sort)
        seen.app.post_message(KeyChosen(key_named("app.theme")))
        await seen.until(
            lambda: any(
                isinstance(one, SetPreference) and one.name == "theme"
                for one in seen.doors.submitted
            )
        )
        # Sent somewhere, a person goes there first and then acts.
        seen.app.post_message(GoTo("portfolio", None, key_named("rows.filter")))
        await seen.until(lambda: seen.app.front.name_in_keys == "portfolio")
        await seen.until(lambda: getattr(seen.app.focused, "id", "") == "filter-typed")
        assert seen.app.disabled_reason(key_named("app.back")) == ""


async def test_the_help_opens_with_the_screen_the_commands_and_the_word_that_was_asked_for() -> (
    None
):
    async with running(first="portfolio", size=(120, 40)) as seen:
        await seen.press("question_mark")
        assert "Portfolio" in seen.text
        await seen.press("escape")
        seen.app.post_message(HelpRequested("amend"))
        await seen.until(lambda: len(seen.app.screen_stack) == 2)
        await seen.until(lambda: "amend" in seen.text)
        assert "/ amend" in seen.text


async def test_the_palette_survives_a_small_window_late_clicks_and_late_timers() -> None:
    async with running(size=(80, 24)) as seen:
        await seen.press("ctrl+p")
        palette = seen.app.screen
        assert isinstance(palette, Palette)
        # The terminal has shrunk since: the place lies outside of what there is now.
        assert palette.get_widget_at(500, 500) == (palette, palette.region)
        await seen.pilot.resize_terminal(60, 3)
        await seen.press("down", "down", "a", "escape")
        await seen.pilot.resize_terminal(80, 24)
        await seen.press("ctrl+p", "x", "escape")
        await seen.pilot.pause(0.1)
        assert len(seen.app.screen_stack) == 1


async def test_a_timer_of_the_palette_is_silent_once_its_list_is_gone() -> None:
    async with running() as seen:
        await seen.press("ctrl+p")
        palette = seen.app.screen
        assert isinstance(palette, Palette)
        told: list[str] = []
        # Textual sets some that only wake it.
        palette.set_timer(0.001)
        palette.set_timer(0.001, lambda: told.append("open"))
        await seen.until(lambda: told == ["open"])
        await seen.pilot.pause(0.05)
        assert seen.app.screen is palette
        assert seen.toasts == []
        await palette.query(CommandList).remove()
        palette.set_timer(0.001, lambda: told.append("gone"))
        await seen.pilot.pause(0.05)
        assert told == ["open"]
