"""What every form does: its lines, its problem, its two buttons, and the two ways to leave it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from textual import events
from textual.widgets import Input

from kit.console.unopened import Unopened, unopened
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
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

STATE = sample_state()
NAME = Field("name", "called", str.strip, "letters", "a name")
COUNT = Field("count", "", str.strip)


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

    def __init__(self, first: Mapping[str, str] | None = None) -> None:
        super().__init__(STATE, NOW)
        self.first = first or {}
        self.chosen: list[tuple[str, int]] = []
        self.told: list[str] = []
        self.others: list[str] = []
        self.renewed: list[Timestamp] = []

    def more_buttons(self) -> Iterator[LightButton]:
        yield LightButton("more", id="more")

    def press_other(self, name: str) -> None:
        self.others.append(name)

    def renew(self) -> None:
        self.renewed.append(self.now)

    def validate(self) -> Named:
        if self.typed("name") == "bad":
            raise FieldError("No such name")
        return Named(self.read(NAME))

    def describe(self, result: Named | None) -> Mapping[str, Shown]:
        return {
            "about": f"at {self.now - NOW:.0f}",
            "kind": OptionsState(("one", "two"), 1),
            "preview": f"result {result and result.name}",
        }

    def objection(self, result: Named) -> str:
        return "Grave. Enter again" if result.name.startswith("grave") else ""

    def choose(self, name: str, index: int) -> None:
        self.chosen.append((name, index))

    def changed(self, name: str) -> None:
        self.told.append(name)


@pytest.fixture
def t() -> Iterator[Unopened[Sample]]:
    with unopened(Sample({"name": "heron"})) as seen:
        yield seen


def test_every_line_has_its_label_its_first_text_and_its_unit(t: Unopened[Sample]) -> None:
    assert [one.id for one in t.form.query("#form-body > *")] == [
        "about",
        "kind",
        "size-line",
        "name-line",
    ]
    line = t.form.query_one("#name-line")
    assert [type(one).__name__ for one in line.children] == [
        "TextBlock", "PlainInput", "TextBlock", "PlainInput",
    ]  # fmt: skip
    assert [str(getattr(one, "content", "")) for one in line.children] == [
        "called",
        "",
        "letters",
        "",
    ]
    assert (t.line("name").value, t.line("count").value) == ("heron", "")
    assert t.line("name").placeholder == "a name"
    assert t.line("name").max_length == NAME.letters
    assert [one.id for one in t.form.query(LightButton)] == ["more", "form-set", "form-cancel"]
    assert str(t.form.query_one("#form").border_title).strip() == "Sample"
    assert str(t.form.query_one("#form").border_subtitle).strip() == "enter sets, esc cancels"
    assert not t.line("name").cursor_blink


def test_the_parts_show_the_present_state_from_the_first_moment(t: Unopened[Sample]) -> None:
    assert t.text("about") == "at 0"
    assert t.text("preview") == "result heron"
    assert "○ one" in t.text("kind")
    assert "● two" in t.text("kind")


def test_a_newer_state_renews_the_record_and_then_the_parts(t: Unopened[Sample]) -> None:
    t.form.take(STATE, Timestamp(NOW + 7))
    assert (t.form.renewed, t.text("about")) == ([NOW + 7], "at 7")


def test_a_state_before_the_form_is_there_only_renews_the_record() -> None:
    form = Sample()
    form.take(STATE, Timestamp(NOW + 3))
    with unopened(form) as t:
        assert (form.renewed, t.text("about")) == ([NOW + 3], "at 3")


def test_a_window_of_another_width_lays_the_parts_out_anew(t: Unopened[Sample]) -> None:
    t.form.now = Timestamp(NOW + 9)
    t.form.on_resize()
    assert t.text("about") == "at 9"


def test_what_cannot_be_set_says_so_and_its_button_is_off(t: Unopened[Sample]) -> None:
    problem = t.form.query_one("#form-problem")
    assert (t.text("form-problem"), t.is_disabled("form-set")) == ("", False)
    t.type("name", "bad")
    assert (t.text("form-problem"), t.text("preview")) == ("No such name", "result None")
    assert (t.is_disabled("form-set"), problem.has_class("-wrong")) == (True, True)
    t.submit("name")
    assert (t.returned, problem.has_class("-asked")) == ([], True)
    t.type("name", "good")
    assert (t.text("form-problem"), t.is_disabled("form-set")) == ("", False)
    assert (problem.has_class("-wrong"), problem.has_class("-asked")) == (False, False)


def test_enter_and_the_button_return_the_result_once(t: Unopened[Sample]) -> None:
    t.type("name", " owl ")
    t.submit("name")
    t.press("form-set")
    t.form.action_cancel()
    t.form.take(STATE, Timestamp(NOW + 5))
    assert t.returned == [Named("owl")]
    assert t.text("about") == "at 0"


def test_a_grave_result_needs_a_second_enter_that_comes_after_a_moment(t: Unopened[Sample]) -> None:
    t.type("name", "grave")
    t.press("form-set")
    t.press("form-set")
    assert (t.returned, t.text("form-problem")) == ([], "Grave. Enter again")
    assert {wait.seconds for wait in t.waits} == {SECOND_THOUGHT_S}
    t.end_waits()
    t.press("form-set")
    assert t.returned == [Named("grave")]


def test_another_text_makes_a_second_enter_the_first(t: Unopened[Sample]) -> None:
    t.type("name", "grave")
    t.press("form-set")
    t.end_waits()
    t.type("name", "graver")
    assert t.text("form-problem") == ""
    t.press("form-set")
    assert (t.returned, t.text("form-problem")) == ([], "Grave. Enter again")
    t.type("name", "grave")
    t.press("form-set")
    assert t.returned == []


def test_untouched_text_is_left_by_one_escape_and_typed_text_by_two(t: Unopened[Sample]) -> None:
    t.type("count", "3")
    t.form.action_cancel()
    assert (t.returned, t.text("form-problem")[:9]) == ([], "esc again")
    assert t.form.query_one("#form-problem").has_class("-asked")
    t.form.action_cancel()
    assert t.returned == [None]


def test_text_that_is_as_it_was_is_not_typed_and_one_that_the_form_writes_neither(
    t: Unopened[Sample],
) -> None:
    t.type("name", "owl")
    t.type("name", "heron")
    t.form.write("count", "12")
    assert t.line("count").value == "12"
    assert t.line("count").cursor_position == 2
    t.form.action_cancel()
    assert t.returned == [None]


def test_any_other_key_keeps_the_text_and_does_nothing_else(t: Unopened[Sample]) -> None:
    t.type("name", "owl")
    for name in ("left", "x"):
        t.form.action_cancel()
        key = events.Key(name, None)
        t.form.on_key(key)
        assert key._stop_propagation
        assert t.text("form-problem") == ""
        assert not t.form.query_one("#form-problem").has_class("-asked")
    t.form.action_cancel()
    t.form.on_key(events.Key("escape", None))
    assert t.text("form-problem")[:9] == "esc again"
    t.type("name", "owls")
    assert t.text("form-problem") == ""
    assert t.returned == []


def test_a_key_reaches_its_line_while_no_escape_stands(t: Unopened[Sample]) -> None:
    key = events.Key("x", "x")
    key.time = 1_000.0
    t.form.on_key(key)
    assert not key._stop_propagation


def test_a_click_on_cancel_leaves_typed_text_at_once(t: Unopened[Sample]) -> None:
    t.type("name", "owl")
    t.press("form-cancel")
    assert t.returned == [None]


def test_further_buttons_and_options_go_to_the_form_by_their_names(t: Unopened[Sample]) -> None:
    t.press("more")
    assert (t.form.others, t.returned) == (["more"], [])
    t.form.now = Timestamp(NOW + 2)
    t.pick("kind", 0)
    t.pick("size", 4)
    assert t.form.chosen == [("kind", 0), ("size", 4)]
    assert t.text("about") == "at 2"


def test_typing_tells_which_line_changed(t: Unopened[Sample]) -> None:
    t.type("name", "owl")
    t.type("count", "1")
    assert t.form.told == ["name", "count"]


def test_no_message_of_a_part_leaves_the_form(t: Unopened[Sample]) -> None:
    line: Any = t.line("name")
    told = [
        t.type("name", "bad"), t.pick("kind", 0), t.submit("name"), t.press("more"),
        t.tell(line.SecretCleared(line)),
    ]  # fmt: skip
    assert [message._stop_propagation for message in told] == [True] * 5
    assert t.said == ["possible secret key: cleared, not sent"]


class Bare(Form[Named]):
    """A form with the lines of the base."""

    heading: ClassVar[str] = "Bare"
    body = (NAME,)

    def validate(self) -> Named:
        return Named(self.typed("name"))

    def describe(self, result: Named | None) -> Mapping[str, Shown]:
        del result
        return {}


@pytest.mark.parametrize(("preference", "masked"), [("on", True), ("off", False)])
def test_a_form_without_more_masks_with_the_desk_and_sets_whatever_is_typed(
    preference: str, *, masked: bool
) -> None:
    state = DeskState(service=STATE.service, preferences={"privacy": preference})
    with unopened(Bare(state, NOW)) as t:
        assert t.form.masked is masked
        assert [one.id for one in t.form.query(LightButton)] == ["form-set", "form-cancel"]
        assert t.form.text_width == 40
        t.tell(Input.Changed(t.line("name"), ""))
        t.submit("name")
        assert t.returned == [Named("")]
