"""The bottom line: which keys it offers, what it counts, and what a click on it does."""

import re
from dataclasses import replace

import pytest

from kit.console.doors import Running, running, seen_before
from kit.samples.desk import NOW, sample_state
from service_tui.console.forms.help import Help
from service_tui.console.keys import keys_of, shown_key
from service_tui.console.widgets.key_bar import IN_REPLAY, keys_here, needing_text, screen_keys
from service_tui.desk.slices.risk import RiskView

STATE = seen_before(sample_state())


@pytest.mark.parametrize(
    ("needing", "shown"), [(0, ""), (1, "!1"), (99, "!99"), (100, "!99+"), (4_000, "!99+")]
)
def test_what_needs_the_person_is_counted_up_to_99(needing: int, shown: str) -> None:
    assert needing_text(needing) == shown


@pytest.mark.slow
async def test_keys_are_offered_where_they_do_something() -> None:
    async with running(STATE, first="portfolio", size=(150, 30)) as seen:

        def offered() -> set[str]:
            return {key.ident for key in keys_here(seen.app.front)}

        full = offered()
        own = [key for key in keys_of("portfolio") if key.ident in full]
        await seen.bring(replace(STATE, positions=(), risk=RiskView()))
        gone = {key.ident for key in own if seen.app.front.disabled_reason(key)}
        assert gone
        assert offered() == full - gone
        await seen.bring(replace(STATE, rewound_to=NOW))
        assert set(IN_REPLAY) <= offered()
        assert not set(IN_REPLAY) & full


def place_of(seen: Running, key: str) -> int:
    """Where a key stands in the bottom line."""
    found = re.search(rf"(?<= ){re.escape(key)}(?=[ !])", seen.lines[-1])
    assert found is not None
    return found.start()


async def clicked(seen: Running, key: str) -> None:
    """Click on a key in the bottom line."""
    await seen.pilot.click(offset=(place_of(seen, key), len(seen.lines) - 1))
    await seen.pilot.pause()


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 150, 200])
async def test_a_click_on_a_key_does_what_the_key_does(width: int) -> None:
    async with running(STATE, first="markets", size=(width, 30)) as seen:
        places: list[int] = []
        for key in screen_keys():
            places.append(place_of(seen, shown_key(key)))
            await clicked(seen, shown_key(key))
            assert len(seen.app.screen_stack) == 1
            assert key.action == f"go('{seen.app.front.name_in_keys}')"
            if key.ident == "app.agents":
                # A click on the screen in front opens the list of its actions.
                await clicked(seen, shown_key(key))
                assert len(seen.app.screen_stack) == 2
                await seen.press("escape")
        # Each screen has its place whatever is in front.
        assert places == [place_of(seen, shown_key(key)) for key in screen_keys()]
        await clicked(seen, "?")
        assert isinstance(seen.app.screen, Help)


@pytest.mark.slow
async def test_a_screen_has_its_name_where_there_is_room_or_no_digit_shows_it() -> None:
    async with running(STATE, first="markets", size=(141, 30)) as seen:
        label = next(key.label for key in screen_keys() if key.ident == "app.portfolio")
        for width, front, short, full in (
            (141, True, False, False), (142, False, True, False), (191, False, True, False),
            (192, True, True, True),
        ):  # fmt: skip
            await seen.pilot.resize_terminal(width, 30)
            await seen.until(lambda width=width: len(seen.lines[-1]) == width)
            line = seen.lines[-1]
            assert (" markets " in line) is front
            assert ("port" in line, label in line) == (short, full)
        await seen.app.run_action("go('log')")
        await seen.pilot.pause()
        assert " log " in seen.lines[-1]
