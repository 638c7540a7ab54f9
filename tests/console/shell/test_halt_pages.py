"""The halt's key: it halts as it arrives, and its page follows."""

from dataclasses import replace

import pytest
from textual import events

from kit.console.shell import Shell
from kit.samples.desk import NOW, sample_state
from service_tui.console.forms.halt import HaltPanel
from service_tui.console.keys import key_named
from service_tui.console.messages import ResumeRequested, ToastMessage
from service_tui.console.shell import halt_pages
from service_tui.console.shell.halt_pages import HALT, HaltPages
from service_tui.desk.commands.halt import Halt
from service_tui.desk.slices.halt import HaltView
from service_tui.desk.state import DeskState

STATE = replace(sample_state(6), halt=None, world=None)
HALTED = replace(STATE, halt=HaltView(NOW))


def pages(state: DeskState = STATE) -> tuple[HaltPages, Shell]:
    shell = Shell(state)
    return HaltPages(shell.app), shell


def key(name: str) -> events.Key:
    return events.Key(name, None)


@pytest.mark.parametrize("name", key_named(HALT).keys)
def test_the_key_halts_as_it_arrives_and_drops_what_was_typed_before(name: str) -> None:
    page, shell = pages()
    page.at_once(key(name))
    assert (shell.given, shell.forgotten_count) == ([Halt()], 1)
    # Its action comes later, and halts no second time.
    page.halt()
    assert shell.given == [Halt()]
    page.halt()
    assert shell.given == [Halt(), Halt()]


def test_another_key_or_message_halts_nothing() -> None:
    page, shell = pages()
    for message in (key("x"), events.Blur(), ToastMessage("halt")):
        page.at_once(message)
    assert (shell.given, shell.forgotten_count, page.take_key_halt()) == ([], 0, False)


def test_a_role_that_may_not_halt_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[object, str]] = []
    monkeypatch.setattr(
        halt_pages, "role_reason", lambda *given: asked.append(given) or "a trader halts"
    )
    page, shell = pages()
    page.at_once(key(key_named(HALT).keys[0]))
    assert (shell.given, shell.forgotten_count, page.take_key_halt()) == ([], 0, False)
    assert asked == [(STATE, HALT)]


def test_what_the_key_has_done_is_told_once() -> None:
    page, _ = pages()
    page.at_once(key(key_named(HALT).keys[0]))
    assert [page.take_key_halt(), page.take_key_halt()] == [True, False]


def test_the_page_is_shown_once_while_the_desk_is_halted() -> None:
    page, shell = pages()
    page.halt()
    assert shell.pushed == []
    page, shell = pages(HALTED)
    page.halt()
    ((panel, _),) = shell.pushed
    assert isinstance(panel, HaltPanel)
    shell.screen_stack.append(panel)
    page.halt()
    assert len(shell.pushed) == 1


def test_resuming_asks_for_the_word_and_without_a_halt_says_so() -> None:
    page, shell = pages(HALTED)
    page.resume()
    assert isinstance(shell.posted[0], ResumeRequested)
    page, shell = pages()
    page.resume()
    (toast,) = shell.posted
    assert isinstance(toast, ToastMessage)
    assert (toast.tone, toast.text.startswith("the desk is not halted: ")) == ("warn", True)


def test_the_question_before_a_resumption_lies_over_the_screen_in_front(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(
        "service_tui.console.forms.halt.confirm_resume", lambda *given: asked.extend(given)
    )
    page, shell = pages(HALTED)
    page.confirm_resume()
    assert asked == [shell.front, HALTED]
