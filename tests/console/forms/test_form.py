"""What every form does: its lines, its problem, its two buttons, and the two ways to leave it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import pytest
from textual import events

from kit.console.opened import opened
from kit.samples.desk import NOW, sample_state
from service_tui.console.fields import Field, FieldError
from service_tui.console.forms.form import (
    SECOND_THOUGHT_S,
    Form,
    OptionsRow,
    OptionsState,
    Part,
    Shown,
)
from service_tui.console.widgets.light_button import LightButton
from service_tui.units import Timestamp

STATE = sample_state()
NAME = Field("name", "called", str.strip, "letters", "a name")
COUNT = Field("count", "", str.strip)

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Named:
    """What the form returns: a string would be taken for a problem."""

    name: str


class Sample(Form[Named]):
    """A form that takes any name but `bad`, and asks twice for a `grave` one."""

    heading = "Sample"
    body: tuple[Part, ...] = (
        "about",
        OptionsRow("kind"),
        OptionsRow("size", "size"),
        (NAME, COUNT),
    )
    docked = ("preview",)

    def __init__(self) -> None:
        super().__init__(STATE, NOW)
        self.first = {"name": "heron"}
        self.chosen: list[tuple[str, int]] = []
        self.others: list[str] = []

    def more_buttons(self) -> Iterator[LightButton]:
        yield LightButton("more", id="more")

    def press_other(self, name: str) -> None:
        self.others.append(name)

    def validate(self) -> Named:
        if self.typed("name") == "bad":
            raise FieldError("No such name")
        return Named(self.read(NAME))

    def describe(self, result: Named | None) -> Mapping[str, Shown]:
        return {
            "about": f"at {self.now - NOW:.0f}, masked {self.masked}",
            "kind": OptionsState(("one", "two"), 1),
            "size": OptionsState(("small", "large"), 0),
            "preview": f"result {result and result.name}",
        }

    def objection(self, result: Named) -> str:
        return "Grave. Enter again" if result.name.startswith("grave") else ""

    def choose(self, name: str, index: int) -> None:
        self.chosen.append((name, index))

    def changed(self, name: str) -> None:
        if self.typed("name") == "twelve" and name == "name":
            self.write("count", "12")


async def test_a_form_shows_its_parts_and_the_present_state() -> None:
    async with opened(Sample()) as t:
        for words in (
            " Sample ", "at 0, masked False", "○ one   ● two", "size", "called", "heron",
            "letters", "result heron", "more", "set  enter", "cancel  esc",
            "enter sets, esc cancels",
        ):  # fmt: skip
            assert words in t.text
        assert t.focused == "name"
        await t.bring(replace(STATE, preferences={"privacy": "on"}), later_s=7.0)
        assert t.told("about") == "at 7, masked True"
    early = Sample()
    early.take(STATE, Timestamp(NOW + 3))
    async with opened(early) as t:
        assert t.told("about").startswith("at 3")


async def test_what_cannot_be_set_says_so_and_what_can_is_returned_once() -> None:
    async with opened(Sample()) as t:
        problem = t.dialog.query_one("#form-problem")
        await t.type("name", "bad")
        assert (t.told("form-problem"), t.told("preview")) == ("No such name", "result None")
        assert (t.is_off("form-set"), problem.has_class("-wrong")) == (True, True)
        await t.press("enter")
        assert (t.returned, problem.has_class("-asked")) == ([], True)
        await t.type("name", " owl ")
        assert (t.told("form-problem"), t.is_off("form-set")) == ("", False)
        assert (problem.has_class("-wrong"), problem.has_class("-asked")) == (False, False)
        await t.press("enter", "enter", "escape")
        assert t.returned == [Named("owl")]


async def test_a_grave_result_needs_a_second_enter_that_comes_after_a_moment() -> None:
    async with opened(Sample()) as t:
        await t.type("name", "grave")
        await t.press("enter", "enter")
        assert (t.returned, t.told("form-problem")) == ([], "Grave. Enter again")
        await t.pilot.pause(2 * SECOND_THOUGHT_S)
        # Another text makes the second enter the first, also when it is as before again.
        await t.press("r")
        assert t.told("form-problem") == ""
        await t.press("backspace", "enter")
        assert (t.returned, t.told("form-problem")) == ([], "Grave. Enter again")
        await t.pilot.pause(2 * SECOND_THOUGHT_S)
        await t.click("form-set")
        assert t.returned == [Named("grave")]


async def test_typed_text_is_left_by_two_escapes_and_any_other_key_keeps_it() -> None:
    async with opened(Sample()) as t:
        await t.type("name", "owl")
        for key, text in (("left", "owl"), ("x", "owlx"), ("down", "owlx")):
            await t.press("escape")
            assert (t.returned, t.told("form-problem")[:9]) == ([], "esc again")
            await t.press(key)
            assert (t.told("form-problem"), t.line("name").value) == ("", text)
            assert not t.dialog.query_one("#form-problem").has_class("-asked")
        assert t.focused == "name", "the key only keeps the text"
        await t.press("escape", "escape")
        assert t.returned == [None]
    async with opened(Sample()) as t:
        await t.type("name", "owl")
        await t.click("form-cancel")
        assert t.returned == [None]


async def test_text_that_is_as_it_was_or_that_the_form_wrote_is_left_by_one_escape() -> None:
    async with opened(Sample()) as t:
        await t.type("name", "twelve")
        assert t.lines("count") == ["12"]
        await t.type("name", "heron")
        await t.press("escape")
        assert t.returned == [None]


async def test_options_and_further_buttons_go_to_the_form_by_their_names() -> None:
    async with opened(Sample()) as t:
        await t.click("kind")
        t.dialog.query_one("#size").focus()
        await t.press("right")
        await t.click("more")
        assert (t.dialog.chosen, t.dialog.others) == ([("kind", 0), ("size", 1)], ["more"])
        assert t.returned == []


async def test_a_secret_in_a_line_is_cleared_and_said() -> None:
    async with opened(Sample()) as t:
        t.line("name").post_message(events.Paste("ab" * 32))
        await t.pilot.pause()
        assert t.lines("name") == [""]
        assert t.app.said == ["possible secret key: cleared, not sent"]


async def test_up_and_down_go_from_line_to_line() -> None:
    async with opened(Sample()) as t:
        await t.press("down")
        assert t.focused == "count"
        await t.press("up")
        assert t.focused == "name"
