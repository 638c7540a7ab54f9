"""A confirmation: nothing is given before it was seen, nor by a key meant for another."""

import pytest
from rich.text import Text

from kit.console.opened import opened
from service_tui.console.forms.confirm import Confirm, Question
from service_tui.console.widgets.dialog import ARMED_AFTER_S, EARLY

pytestmark = pytest.mark.slow


def confirm(body: str = "All of [it].") -> Confirm:
    return Confirm(Question("Sell it?", Text(body), "sell", key="p"))


async def test_it_is_given_by_its_own_key_once_it_was_seen_and_recorded() -> None:
    async with opened(confirm()) as t:
        for words in ("Sell it?", "All of [it].", "cancel  esc", "sell  p"):
            assert words in t.text
        assert t.focused == "confirm-cancel"
        await t.pilot.pause(2 * ARMED_AFTER_S)
        t.dialog.is_armed = False
        await t.press("p")
        assert (t.returned, t.app.confirmed, t.app.said) == ([], [], [EARLY])
        t.dialog.arm_soon()
        await t.pilot.pause(2 * ARMED_AFTER_S)
        await t.press("right", "p")
        assert (t.returned, t.app.confirmed, t.app.said) == ([True], ["Sell it?"], [EARLY])


@pytest.mark.parametrize("leave", ["escape", "enter", "click"])
async def test_it_is_left_at_once_with_no(leave: str) -> None:
    async with opened(confirm()) as t:
        await (t.click("confirm-cancel") if leave == "click" else t.press(leave))
        assert (t.returned, t.app.confirmed) == ([False], [])


async def test_a_click_gives_it_too_and_a_long_text_leaves_the_buttons_their_room() -> None:
    async with opened(confirm("line\n" * 90), size=(60, 18)) as t:
        assert "sell  p" in t.text
        await t.pilot.pause(2 * ARMED_AFTER_S)
        await t.click("confirm-yes")
        assert t.returned == [True]
