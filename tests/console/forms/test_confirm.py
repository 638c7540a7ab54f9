"""Dialogs that confirm: nothing is given before they were seen, nor by a key meant for another."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from rich.text import Text
from textual.widgets import Button

from kit.console.unopened import Unopened, unopened
from kit.samples.desk import NOW, sample_state
from service_tui.console.closed_desk import RecoveryOption
from service_tui.console.forms.confirm import Confirm, Question
from service_tui.console.forms.recovery import OPTIONS_MAX, RecoveryDialog
from service_tui.console.forms.typed_word import TypedWord
from service_tui.console.messages import ConfirmGiven
from service_tui.console.widgets.dialog import ARMED_AFTER_S, EARLY

STATE = sample_state()


def button(t: Unopened[Any], name: str) -> Button.Pressed:
    message = Button.Pressed(t.form.query_one(f"#{name}", Button))
    t.tell(message)
    assert message._stop_propagation
    return message


def confirmed(t: Unopened[Any]) -> list[str]:
    return [one.what for one in t.to_app if isinstance(one, ConfirmGiven)]


@pytest.fixture
def t() -> Iterator[Unopened[Confirm]]:
    with unopened(Confirm(Question("Sell it?", Text("All of [it]."), "sell", key="p"))) as seen:
        yield seen


def test_a_confirmation_shows_its_subject_and_names_both_ways(t: Unopened[Confirm]) -> None:
    assert str(t.form.query_one("#frame").border_title).strip() == "Sell it?"
    assert t.text("confirm-body") == "All of [it]."
    labels = [str(one.label) for one in t.form.query(Button)]
    assert labels == ["cancel  esc", "sell  p"]
    assert [one.id for one in t.form.query(Button) if one.can_focus] == ["confirm-cancel"]
    assert [one.action for one in t.form._bindings.key_to_bindings["p"]] == ["confirm"]
    assert "enter" not in t.form._bindings.key_to_bindings


@pytest.mark.parametrize("give", ["key", "button"])
def test_it_is_given_only_after_it_was_seen_and_recorded_as_it_is_given(
    t: Unopened[Confirm], give: str
) -> None:
    def act() -> None:
        if give == "key":
            t.form.action_confirm()
        else:
            button(t, "confirm-yes")

    act()
    assert (t.returned, confirmed(t), t.said) == ([], [], [EARLY])
    assert [wait.seconds for wait in t.waits] == [ARMED_AFTER_S]
    t.end_waits()
    act()
    assert (t.returned, confirmed(t), t.said) == ([True], ["Sell it?"], [EARLY])


@pytest.mark.parametrize("give", ["key", "button"])
def test_it_is_left_at_once_with_no(t: Unopened[Confirm], give: str) -> None:
    if give == "key":
        t.form.action_close()
    else:
        button(t, "confirm-cancel")
    assert (t.returned, confirmed(t)) == ([False], [])


@contextmanager
def word(**given: Any) -> Iterator[Unopened[TypedWord]]:
    with unopened(TypedWord("Resume?", Text("Buys again."), "RESUME", **given)) as seen:
        yield seen


def test_the_word_is_returned_once_it_was_typed_whole_and_the_dialog_was_seen() -> None:
    with word() as t:
        assert (t.text("word-text"), t.text("word-yes")) == ("Buys again.", "resume  enter")
        t.type("word-line", "RESUME")
        t.submit("word-line")
        assert (t.returned, t.said) == ([], [EARLY])
        t.end_waits()
        message = t.submit("word-line")
        assert message._stop_propagation
        assert (t.returned, confirmed(t)) == (["RESUME"], ["Resume?: RESUME"])
        assert not t.line("word-line").cursor_blink


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("resume", "Capital letters needed. Type RESUME"), ("Resume", "Capital letters needed"),
        ("RESUM", "Wrong word. Type RESUME"), ("", "Wrong word"), ("RESUME ", "Wrong word"),
    ],
)  # fmt: skip
def test_another_word_is_refused_and_says_what_is_wrong(typed: str, said: str) -> None:
    with word(does="go on") as t:
        assert t.text("word-yes") == "go on  enter"
        t.end_waits()
        t.type("word-line", typed)
        message = t.press("word-yes")
        assert message._stop_propagation
        assert t.text("word-asks").startswith(said)
        assert (t.returned, confirmed(t)) == ([], [])


def test_the_question_is_left_by_its_button_and_by_its_key_with_nothing() -> None:
    with word() as t:
        t.press("word-no")
        t.form.action_close()
        assert t.returned == [None, None]


def test_a_subject_that_depends_on_the_state_is_shown_anew_and_another_stays() -> None:
    newer = replace(STATE, preferences={"x": "y"})
    with word(newer=lambda state: Text(str(state.preferences))) as t:
        t.form.take(newer, NOW)
        assert t.text("word-text") == "{'x': 'y'}"
    with word() as t:
        t.form.take(newer, NOW)
        assert t.text("word-text") == "Buys again."
    # A state may come before the parts are there.
    TypedWord("Resume?", Text(), "RESUME", newer=lambda _: Text()).take(newer, NOW)


OPTIONS = tuple(
    RecoveryOption(f"way {place}", f"details {place}", lambda: None) for place in range(1, 12)
)


def test_a_digit_or_a_click_takes_the_option_at_its_place_once_the_dialog_was_seen() -> None:
    for place in (0, 1, 2):
        for take in (
            lambda t, place: t.form.action_take(place),
            lambda t, place: button(t, f"way-{place + 1}"),
        ):
            with unopened(RecoveryDialog("No desk.", OPTIONS[:3])) as t:
                take(t, place)
                assert (t.returned, t.said) == ([], [EARLY])
                t.end_waits()
                take(t, place)
                assert t.returned == [OPTIONS[place]]


def test_a_digit_without_an_option_does_nothing_and_leaving_takes_none() -> None:
    with unopened(RecoveryDialog("No desk.", OPTIONS[:3])) as t:
        t.end_waits()
        t.form.action_take(3)
        assert (t.returned, t.said) == ([], [])
        t.form.action_close()
        assert t.returned == [None]


def test_every_option_is_told_with_its_digit_and_its_meaning() -> None:
    with unopened(RecoveryDialog("No desk.", OPTIONS)) as t:
        told = t.text("confirm-body").split("\n\n")
        assert told == [
            "No desk.",
            *(f"{place} way {place}\ndetails {place}" for place in range(1, OPTIONS_MAX + 1)),
        ]
        labels = [str(one.label) for one in t.form.query(Button)]
        assert labels == [f"{place} way {place}" for place in range(1, OPTIONS_MAX + 1)]
        bound = t.form._bindings.key_to_bindings
        assert [bound[str(place)][0].action for place in range(1, 10)] == [
            f"take({place})" for place in range(9)
        ]
        assert "focus" not in t.form.AUTO_FOCUS
        assert not t.form.query_one("#confirm-reading").can_focus


@pytest.mark.parametrize("kind", [Confirm, RecoveryDialog])
def test_a_long_text_leaves_the_buttons_their_room(
    kind: type[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    bounded: list[tuple[str | None, str | None]] = []
    monkeypatch.setattr(
        f"{kind.__module__}.make_room", lambda frame, body: bounded.append((frame.id, body.id))
    )
    dialogs = {
        Confirm: lambda: Confirm(Question("Sell?", Text("x"), "sell")),
        RecoveryDialog: lambda: RecoveryDialog("No desk.", OPTIONS),
    }
    dialog = dialogs[kind]()
    # Before the parts are there nothing has a size.
    dialog._make_room()
    with unopened(dialog):
        dialog.on_resize()
    assert bounded == [("frame", "confirm-reading")]
