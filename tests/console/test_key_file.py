from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.console.doors import running, seen_before
from kit.samples.desk import sample_state
from service_tui.console.forms.help import Help
from service_tui.console.forms.welcome import Welcome
from service_tui.console.key_file import PLACES, OwnKeys, own_keys, read_own_keys
from service_tui.console.keys import KEYS, cap, key_name, key_named, move_keys, readable, with_keys
from service_tui.desk.commands.halt import Halt

STATE = seen_before(sample_state())


@pytest.fixture(autouse=True)
def as_they_come() -> Iterator[None]:
    yield
    move_keys({})


@pytest.mark.parametrize(
    ("text", "ident", "keys"),
    [
        ('"markets.buy" = "ctrl+b"', "markets.buy", ("ctrl+b",)),
        ('markets.buy = "ctrl+b"', "markets.buy", ("ctrl+b",)),
        ('[markets]\nbuy = ["F10", "B"]', "markets.buy", ("f10", "B")),
        ('"app.palette" = ","', "app.palette", ("comma",)),
        ('"app.palette" = "Ctrl+Shift+P"', "app.palette", ("ctrl+shift+p",)),
        ('"app.theme" = "shift+j"', "app.theme", ("J",)),
        ('"app.theme" = "+"', "app.theme", ("plus",)),
        ('"dialog.close" = "esc"', "dialog.close", ("escape",)),
    ],
)
def test_an_action_is_moved(text: str, ident: str, keys: tuple[str, ...]) -> None:
    assert own_keys(text) == OwnKeys({ident: keys})


def test_two_actions_may_change_places() -> None:
    moved = own_keys('"markets.buy" = "x"\n"markets.exit" = "b"').moved
    assert moved == {"markets.buy": ("x",), "markets.exit": ("b",)}


WRONG = {
    'ok = 1\n"markets.bay" = "b"': "line 2: no action is called markets.bay; did you "
    "mean markets.buy?",
    '\n"markets.buy" = "frob+q"': "line 2: there is no key called 'frob+q'",
    "[markets]\n# why\nbuy = 3": 'line 3: markets.buy needs a key such as "ctrl+b", or '
    "a list of keys",
    '"markets.buy" = []': 'line 1: markets.buy needs a key such as "ctrl+b", or a list of keys',
    '"markets.buy" = "x"': "markets.buy and markets.exit are both on x",
    '"markets.buy" = "1"': "app.portfolio and markets.buy are both on 1",
    '"rows.filter" = "b"': "rows.filter and portfolio.buy are both on b",
    '"ticket.cancel" = "f9"': "app.halt and ticket.cancel are both on F9",
    '"markets.buy" = "j"': "markets.buy cannot lie on j: there it means down",
    '"app.quit" = "Q"': "line 1: app.quit works while you type, too: give it a function key or one "
    "with ctrl, not Q",
    '"app.help" = "ctrl+i"': "line 1: a terminal sends ctrl+i as tab: choose another key",
    "oops": "end of document: Expected '=' after a key in a key/value pair",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_named_with_its_line_or_its_ids_and_nothing_is_moved(text: str) -> None:
    found = own_keys(text)
    assert not found.moved
    assert WRONG[text] in found.problems


def test_the_table_as_it_comes_can_be_written_down() -> None:
    lines = [f'"{key.ident}" = {list(key.keys)!r}'.replace("'", '"') for key in KEYS]
    assert own_keys("\n".join(lines)) == OwnKeys({key.ident: key.keys for key in KEYS})
    for key in KEYS:
        assert [key_name(readable(name)) for name in key.keys] == list(key.keys)


def test_every_group_of_the_table_has_a_place() -> None:
    assert {key.group for key in KEYS} == {group for place in PLACES for group in place}


def test_a_file_that_cannot_be_read_moves_nothing(tmp_path: Path) -> None:
    assert read_own_keys(tmp_path / "none") == OwnKeys()
    (tmp_path / "raw").write_bytes(b"\xff")
    assert read_own_keys(tmp_path / "raw").problems == (f"{tmp_path / 'raw'}: it is no UTF-8 text",)
    assert "cannot be read" in read_own_keys(tmp_path).problems[0]


def test_sentences_name_the_keys_in_use() -> None:
    assert with_keys("{rows.filter} finds, {no.such} stays") == "/ finds, {no.such} stays"
    move_keys({"rows.filter": ("ctrl+f",)})
    assert (cap("rows.filter"), key_named("rows.filter").shown) == ("ctrl+f", "")
    move_keys({})
    assert cap("rows.filter") == "/"


async def test_moved_keys_work_and_are_shown_wherever_keys_are() -> None:
    own = OwnKeys({
        "app.help": ("ctrl+g",),
        "app.markets": ("M", "f10"),
        "app.halt": ("f2",),
        "app.welcome": ("f3",),
        "markets.buy": ("ctrl+b",),
    })
    async with running(STATE, own_keys=own, size=(160, 30)) as seen:
        assert "M markets" in seen.lines[-1]
        assert "F2 halt" in seen.lines[-1]
        await seen.press("2", "question_mark", "f9")
        assert (seen.app.front.name_in_keys, seen.doors.submitted) == ("attention", [])
        await seen.press("f10", "ctrl+g")
        assert seen.app.front.name_in_keys == "markets"
        help_page = seen.app.screen
        assert isinstance(help_page, Help)
        lines = help_page.text().plain.splitlines()
        assert any(line.split()[:2] == ["ctrl+b", "buy"] for line in lines)
        assert any(line.split()[:3] == ["M", "F10", "markets"] for line in lines)
        await seen.press("ctrl+g", "f3")
        welcome = seen.app.screen
        assert isinstance(welcome, Welcome)
        assert "ctrl+b   buy" in welcome.text().plain
        await seen.press("escape", "f2")
        assert Halt() in seen.doors.submitted


async def test_a_wrong_file_is_told_once_and_the_keys_stay() -> None:
    wrong = OwnKeys(problems=("keys.toml: line 1: no", "keys.toml: line 2: no"))
    async with running(STATE, own_keys=wrong) as seen:
        assert [each for each in seen.toasts if "keys.toml" in each] == [
            "! all keys are as they come: keys.toml: line 1: no (1 more: 'service-tui doctor')"
        ]
        await seen.press("2")
        assert seen.app.front.name_in_keys == "markets"
