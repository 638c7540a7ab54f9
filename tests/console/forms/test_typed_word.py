"""A confirmation by a typed word."""

from dataclasses import replace

import pytest
from rich.text import Text

from kit.console.opened import opened
from kit.samples.desk import NOW, sample_state
from service_tui.console.forms.typed_word import TypedWord
from service_tui.console.widgets.dialog import ARMED_AFTER_S, EARLY

pytestmark = pytest.mark.slow

STATE = sample_state()


async def test_the_word_is_given_once_it_was_typed_whole_and_the_dialog_was_seen() -> None:
    async with opened(TypedWord("Resume?", Text("Buys again."), "RESUME")) as t:
        for words in ("Resume?", "Buys again.", "resume  enter", "esc changes nothing"):
            assert words in t.text
        await t.type("word-line", "RESUME")
        await t.pilot.pause(2 * ARMED_AFTER_S)
        t.dialog.is_armed = False
        await t.press("enter")
        assert (t.returned, t.app.said) == ([], [EARLY])
        t.dialog.arm_soon()
        await t.pilot.pause(2 * ARMED_AFTER_S)
        for typed, said in (
            ("resume", "Capital letters needed. Type RESUME"), ("RESUM", "Wrong word. Type RESUME"),
            ("", "Wrong word"), ("RESUME ", "Wrong word"),
        ):  # fmt: skip
            await t.type("word-line", typed)
            await t.click("word-yes")
            assert t.told("word-asks").startswith(said)
            assert t.returned == []
        await t.type("word-line", "RESUME")
        await t.press("enter")
        assert (t.returned, t.app.confirmed) == (["RESUME"], ["Resume?: RESUME"])


async def test_it_is_left_with_nothing_and_its_button_may_have_another_word() -> None:
    for leave in ("escape", "click"):
        async with opened(TypedWord("Resume?", Text(), "RESUME", does="go on")) as t:
            assert "go on  enter" in t.text
            await (t.press("escape") if leave == "escape" else t.click("word-no"))
            assert t.returned == [None]


async def test_a_subject_that_depends_on_the_state_is_shown_anew_and_another_stays() -> None:
    newer = replace(STATE, preferences={"x": "y"})
    for renews, said in ((lambda state: Text(f"{state.preferences}"), "{'x': 'y'}"), (None, "was")):
        dialog = TypedWord("Resume?", Text("was"), "RESUME", newer=renews)
        # A state may come before the parts are there.
        dialog.take(newer, NOW)
        async with opened(dialog) as t:
            await t.bring(newer)
            assert t.told("word-text") == said
