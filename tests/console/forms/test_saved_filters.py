"""Saved filters by their keys: saved under a name, applied on the screen, removed."""

from dataclasses import replace

import pytest

from kit.console.doors import Running, running, seen_before
from kit.samples.guarded import guarded_state
from service_tui.console.saved import NamedFilter, filters_of, keep_filters
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.state import DeskState

STATE = seen_before(guarded_state())


def kept_with(*filters: NamedFilter, screen: str) -> DeskState:
    kept = keep_filters(screen, filters)
    return replace(STATE, preferences={**STATE.preferences, kept.name: kept.value})


def saved(seen: Running, screen: str) -> tuple[NamedFilter, ...]:
    """The filters as the last command keeps them."""
    orders = [one for one in seen.doors.submitted if isinstance(one, SetPreference)]
    last = next(one for one in reversed(orders) if one.name == f"filters.{screen}")
    return filters_of({last.name: last.value}, screen)


async def test_the_filter_in_force_is_saved_and_another_one_removed() -> None:
    old = NamedFilter("old", 0, "bus")
    async with running(kept_with(old, screen="monitors"), first="monitors") as seen:
        await seen.press("slash", *"will", "enter", "ctrl+f")
        assert "old" in seen.text
        assert "/bus" in seen.text
        await seen.press("n", *"mine", "enter")
        assert saved(seen, "monitors") == (old, NamedFilter("mine", 0, "will"))
        await seen.press("d")
        await seen.until(lambda: saved(seen, "monitors") == (old,))


CASES = {
    "markets": (
        NamedFilter("held", 0, "will", {"held": "True"}),
        "h held ✓",
    ),
    "portfolio": (NamedFilter("orders", 1, "will"), ""),
    "exposure": (NamedFilter("who", 0, "", {"grouping": "agent"}), ""),
    "blotter": (NamedFilter("pending", 0, "", {"pending": "on"}), ""),
}


@pytest.mark.parametrize("screen", CASES)
async def test_a_saved_filter_is_applied_instead_of_the_one_in_force(screen: str) -> None:
    wanted, shown = CASES[screen]
    state = kept_with(wanted, screen=screen)
    async with running(state, first=screen, size=(120, 40)) as seen:
        await seen.press("slash", *"zzz", "enter", "ctrl+f", "enter")
        front = seen.app.front
        assert (front.place, front.line.typed) == (wanted.tab, wanted.search)
        assert shown in seen.text
        in_force = front.filter_to_save()
        assert {**in_force.choices, **wanted.choices} == dict(in_force.choices)


async def test_the_line_of_commands_applies_one_by_its_name() -> None:
    state = kept_with(NamedFilter("Soon", 0, "will"), screen="markets")
    async with running(state, first="markets", size=(120, 40)) as seen:
        await seen.press("colon", *"saved soon", "enter")
        assert seen.app.front.line.typed == "will"
        await seen.press("colon", *"saved nothing", "enter")
        assert "No saved filter" in seen.text
