"""The `:` line without a screen: what it lists, fills in, keeps and returns."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kit.samples.desk import sample_state
from service_tui.console.command_line import line
from service_tui.console.command_line.history import CommandHistory
from service_tui.console.command_line.line import IN_SIGHT_MAX, LETTERS_MAX, CommandLine
from service_tui.console.command_line.verb import CommandError
from service_tui.console.command_line.verbs import VERBS, verb_of
from service_tui.console.keys import cap
from service_tui.console.messages import ToastMessage
from service_tui.desk.commands.settings import SetPreference

STATE = replace(sample_state(6), preferences={CommandHistory.PREFERENCE: "star\nbuy 5"})
KEYS = f"{cap('command.complete')} completes, {cap('command.older')} recalls"


class Block:
    """A text of the dialog."""

    def __init__(self) -> None:
        self.text: Any = None

    def show_text(self, text: Any) -> None:
        self.text = text

    show_if_any = show_text


class Typed(CommandLine):
    """A line over a stand-in screen; notes what it returns and says."""

    def __init__(self, begun: str = "") -> None:
        self.given: list[Any] = []
        front = SimpleNamespace(state=STATE, current_row=lambda: "row-1", give=self.given.append)
        super().__init__(cast("Any", front), lambda _: "", begun)
        self._list, self._hint = cast("Any", Block()), cast("Any", Block())
        self.returned: list[Any] = []
        self.said: list[Any] = []

    def dismiss(self, result: Any = None) -> Any:
        self.returned.append(result)

    def post_message(self, message: Any) -> bool:
        self.said.append(message)
        return True

    @property
    def listed(self) -> list[str]:
        return cast("Any", self._list).text.plain.splitlines()

    @property
    def hint(self) -> str:
        return cast("Any", self._hint).text.plain


class Event(SimpleNamespace):
    """An event that notes that nobody else is to hear of it."""

    def stop(self) -> None:
        self.stopped = True


@pytest.fixture(autouse=True)
def found(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What completes the line, whatever is typed."""
    # The real one lives on a screen alone.
    monkeypatch.setattr(
        line,
        "PlainInput",
        lambda value, **given: SimpleNamespace(value=value, cursor_position=0, **given),
    )
    some: list[str] = [f"buy {number}" for number in range(10)]
    asked: list[Any] = []
    monkeypatch.setattr(
        line, "completions", lambda typed, target: asked.append((typed, target)) or tuple(some)
    )
    return some


def test_it_begins_with_what_was_typed_and_lists_what_follows(found: list[str]) -> None:
    it = Typed("buy")
    assert (it._line.value, it._line.compact) == ("buy", True)
    assert it._line.max_length == LETTERS_MAX
    assert not it._line.cursor_blink
    it.on_mount()
    assert it._line.cursor_position == 3
    assert it.listed == [f"{one:<12}" for one in found[:IN_SIGHT_MAX]]
    verb = verb_of("buy")
    assert verb is not None
    assert it.hint == f"{verb.usage}   {verb.help}   2 more"
    assert it._target.row == "row-1"
    for count, more in ((1, "   1 more"), (0, "")):
        del found[IN_SIGHT_MAX + count :]
        it._look_up()
        assert it.hint == f"{verb.usage}   {verb.help}{more}"


def test_without_a_command_the_keys_are_named(found: list[str]) -> None:
    it = Typed()
    it._look_up()
    assert it.hint == f"2 more, {KEYS}, {cap('app.palette')} finds by name"
    del found[IN_SIGHT_MAX:]
    it._look_up()
    assert it.hint == f"{KEYS}, {cap('app.palette')} finds by name"


def test_a_command_is_listed_with_its_help_and_its_argument_alone(found: list[str]) -> None:
    found[:] = [VERBS[0].name, f"{VERBS[0].name} x"]
    it = Typed()
    it._look_up()
    assert it.listed == [
        f"{VERBS[0].name:<12}  {VERBS[0].help}", f"{VERBS[0].name + ' x':<12}",
    ]  # fmt: skip


def test_completing_goes_round_in_either_direction() -> None:
    it = Typed()
    it._look_up()
    places = []
    for by in (1, 1, -1, -1, -1):
        it.action_complete(by)
        places.append(it._line.value)
    assert places == ["buy 0", "buy 1", "buy 0", "buy 9", "buy 8"]
    assert it._line.cursor_position == len("buy 8")
    last = Typed()
    last._look_up()
    last.action_complete(-1)
    assert last._line.value == "buy 9"
    last.action_complete(1)
    assert last._line.value == "buy 0"


def test_the_completion_in_hand_is_in_sight_and_marked() -> None:
    it = Typed()
    it._look_up()
    assert it._first() == 0
    for _ in range(IN_SIGHT_MAX):
        it.action_complete(1)
    assert it._first() == 0
    it.action_complete(1)
    assert it._first() == 1
    assert it.listed[-1].strip() == "buy 8"
    spans = cast("Any", it._list).text.spans
    assert [(span.start, str(span.style)) for span in spans] == [
        (sum(len(one) + 1 for one in it.listed[:-1]), "bold accent")
    ]
    it.action_complete(1)
    assert it._first() == 2


def test_the_only_completion_is_filled_in_with_a_blank_and_looked_up(found: list[str]) -> None:
    found[:] = ["star"]
    it = Typed()
    it._look_up()
    found[:] = ["star a", "star b"]
    it.action_complete(1)
    assert (it._line.value, it._found, it._place) == ("star ", ("star a", "star b"), None)


def test_a_completion_takes_the_place_of_what_was_refused() -> None:
    it = Typed("buy")
    it._look_up()
    it._show_problem("no market matches")
    assert it.hint == "! No market matches"
    it.action_complete(1)
    assert "No market matches" not in it.hint
    assert it.hint.startswith("buy")


def test_nothing_to_complete_is_said(found: list[str]) -> None:
    found.clear()
    it = Typed("x")
    it._look_up()
    it.action_complete(1)
    assert (it._line.value, it.hint) == ("x", "! Nothing to complete")
    it._look_up()
    assert "!" not in it.hint


def test_older_commands_are_recalled_and_looked_up() -> None:
    it = Typed("half")
    recalled = []
    for by in (-1, -1, 1, 1):
        it.action_recall(by)
        recalled.append(it._line.value)
    assert recalled == ["buy 5", "star", "buy 5", "half"]
    assert it._place is None
    assert it._found


def test_typing_looks_up_and_filling_in_does_not(found: list[str]) -> None:
    it = Typed()
    it._look_up()
    it.action_complete(1)
    found.clear()
    filled = Event(value="buy 0")
    it._changed(cast("Any", filled))
    assert (it._place, len(it._found), filled.stopped) == (0, 10, True)
    it._changed(cast("Any", Event(value="buy 0x")))
    assert (it._place, it._found, it._filled) == (None, (), "")


def test_a_command_is_kept_and_its_effect_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(line, "prepare", lambda *given: asked.append(given) or "the effect")
    it = Typed(" star ")
    event = Event()
    it._submitted(cast("Any", event))
    assert asked == [("star", it._target)]
    assert it.given == [SetPreference(CommandHistory.PREFERENCE, "buy 5\nstar")]
    assert (it.returned, event.stopped) == (["the effect"], True)


def test_a_command_that_is_refused_stays_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise CommandError("no market matches 'x'")

    monkeypatch.setattr(line, "prepare", refuse)
    it = Typed("buy x")
    it._submitted(cast("Any", Event()))
    assert (it.returned, it.given, it.hint) == ([], [], "! No market matches 'x'")


def test_an_empty_line_is_left_and_runs_nothing() -> None:
    it = Typed("  ")
    it._submitted(cast("Any", Event()))
    it.action_close()
    assert (it.returned, it.given) == ([None, None], [])


def test_a_cleared_secret_is_said() -> None:
    it, event = Typed(), Event()
    it._cleared(cast("Any", event))
    (toast,) = it.said
    assert isinstance(toast, ToastMessage)
    assert (toast.text, toast.tone) == ("possible secret key: cleared", "warn")
    assert event.stopped


def click(it: Typed, row: int | None, widget: object = None) -> None:
    offset = None if row is None else SimpleNamespace(y=row)
    it._clicked(cast("Any", Event(get_content_offset=lambda _: offset, widget=widget)))


def test_a_click_fills_in_its_completion_and_one_outside_leaves_the_line(found: list[str]) -> None:
    it = Typed()
    it._look_up()
    for _ in range(9):
        it.action_complete(1)
    click(it, 2)
    assert (it._line.value, it._place) == ("buy 3 ", None)
    del found[2:]
    it._look_up()
    click(it, 2)
    assert (it._line.value, it.returned) == ("buy 3 ", [])
    click(it, None, widget="another")
    assert it.returned == []
    click(it, None, widget=it)
    assert it.returned == [None]
