"""What each key of the action log does."""

from dataclasses import replace

from kit.console.acting import StubScreen, perform
from kit.samples.desk import sample_state
from kit.samples.log import sample_log
from service_tui.console.forms.about import About
from service_tui.console.screens.log.actions import ACTIONS
from service_tui.desk.commands.agents import ReadLog

ENTRY, OTHER = sample_log().entries[:2]


def press(screen: StubScreen, key: str) -> str:
    return perform(screen, ACTIONS, f"log.{key}")


def test_an_entry_is_opened_as_a_page() -> None:
    screen = StubScreen(sample_state(), (ENTRY, OTHER))
    press(screen, "open")
    (page,) = screen.opened
    assert isinstance(page, About)
    assert page._title == f"Entry {ENTRY.number:,}"
    assert ENTRY.hash in page.text().plain.replace("\n", "")


def test_the_chain_is_verified_anew() -> None:
    screen = StubScreen(sample_state(), (ENTRY,))
    press(screen, "verify")
    assert screen.given == [ReadLog()]
    assert screen.toasts == [("verifying from the first entry", "info")]


def test_one_actor_is_shown_and_all_again() -> None:
    screen = StubScreen(sample_state(), (ENTRY,))
    press(screen, "who")
    assert screen.only is not None
    assert screen.only.name == ENTRY.who
    wanted = [one for one in sample_log().entries if screen.only.wants(one)]
    assert {one.who for one in wanted} == {ENTRY.who}
    press(screen, "who")
    assert screen.only is None
    assert screen.calls == ["filter_rows"] * 2
    nobody = StubScreen(sample_state(), (replace(ENTRY, who=""),))
    press(nobody, "who")
    assert nobody.only is None
