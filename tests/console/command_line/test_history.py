"""The commands typed before: how one gets to them, and how they are kept."""

import pytest

from service_tui.console.command_line.history import KEPT_MAX, CommandHistory

THREE = CommandHistory(("a", "b", "c"))


def test_stepping_back_and_forth_ends_at_the_oldest_and_at_what_was_typed() -> None:
    shown, history = [], THREE
    for by in (-1, -1, -1, -1, 1, 1, 1, 1):
        history = history.stepped(by, history.shown if history.place else "half")
        shown.append(history.shown)
    assert shown == ["c", "b", "a", "a", "b", "c", "half", "half"]


def test_what_was_typed_is_kept_when_the_first_step_is_made() -> None:
    one = THREE.stepped(-1, "half")
    assert (one.draft, one.place) == ("half", 1)
    two = one.stepped(-1, "c, changed")
    assert (two.draft, two.place) == ("half", 2)
    assert CommandHistory().stepped(-1, "half").shown == "half"


def test_a_command_is_kept_once_and_as_the_newest() -> None:
    assert THREE.with_command("d").commands == ("a", "b", "c", "d")
    assert THREE.stepped(-1, "x").with_command("a") == CommandHistory(("b", "c", "a"))


def test_so_many_are_kept_and_the_oldest_go() -> None:
    names = [str(number) for number in range(KEPT_MAX + 2)]
    history = CommandHistory.from_text("\n".join(names))
    assert history.commands == tuple(names[2:])
    assert history.with_command("new").commands == (*names[3:], "new")


@pytest.mark.parametrize(("text", "commands"), [("", ()), ("\n\n", ()), ("a\n\nb", ("a", "b"))])
def test_a_kept_text_is_read_line_by_line(text: str, commands: tuple[str, ...]) -> None:
    history = CommandHistory.from_text(text)
    assert history.commands == commands
    assert CommandHistory.from_text(history.to_text()) == history
