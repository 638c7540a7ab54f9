"""A person's own keys in `keys.toml`."""

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest
from textual.binding import Binding

import service_tui.console
from kit.console.doors import running, seen_before
from kit.samples.desk import sample_state
from service_tui.console.forms.form import Form
from service_tui.console.forms.help import Help
from service_tui.console.forms.trade_form import TradeForm
from service_tui.console.forms.welcome import Welcome
from service_tui.console.key_file import ANSWERS, PLACES, OwnKeys, own_keys, read_own_keys
from service_tui.console.keys import KEYS, cap, key_name, key_named, move_keys, readable, with_keys
from service_tui.console.widgets.dialog import Dialog
from service_tui.console.widgets.record_table import RecordTable
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
        # A file from before an action was renamed.
        ('"portfolio.closed" = "ctrl+b"', "portfolio.list", ("ctrl+b",)),
        ('markets.buy = "ctrl+b"', "markets.buy", ("ctrl+b",)),
        ('[markets]\nbuy = ["F10", "B"]', "markets.buy", ("f10", "B")),
        ('"app.palette" = "%"', "app.palette", ("percent_sign",)),
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
    '"app.help" = "ctrl+h"': "line 1: a terminal sends ctrl+h as backspace: choose another key",
    '"markets.buy" = "ctrl+["': "line 1: a terminal sends ctrl+[ as esc: choose another key",
    '"app.help" = "ctrl+left_square_bracket"': "line 1: a terminal sends ctrl+[ as esc: choose "
    "another key",
    '"app.halt" = "left"': "line 1: app.halt cannot lie on left: where you type, that key is "
    "needed",
    '"app.toasts" = "tab"': "line 1: app.toasts cannot lie on tab: where you type, that key is "
    "needed",
    '"app.quit" = ["ctrl+q", "ctrl+w"]': "line 1: app.quit cannot lie on ctrl+w: where you type, "
    "that key is needed",
    '"ticket.cancel" = "enter"': "line 1: ticket.cancel cannot lie on enter: where you type, that "
    "key is needed",
    '"approval.refuse" = "enter"': "line 1: approval.refuse cannot lie on enter: where you type, "
    "that key is needed",
    '"form.cancel" = "backspace"': "line 1: form.cancel cannot lie on backspace: where you type, "
    "that key is needed",
    '"form.cancel" = "c"': "line 1: form.cancel works while you type, too: give it a function key "
    "or one with ctrl, not c",
    '"ticket.cancel" = "5"': "line 1: ticket.cancel works while you type, too: give it a function "
    "key or one with ctrl, not 5",
    '"dialog.close" = "p"': "line 1: dialog.close cannot lie on p: it answers a dialog",
    '"dialog.close" = "y"': "line 1: dialog.close cannot lie on y: it answers a dialog",
    '"dialog.close" = "enter"': "line 1: dialog.close cannot lie on enter: it answers a dialog",
    '"dialog.close" = "2"': "line 1: dialog.close cannot lie on 2: it answers a dialog",
    "oops": "end of document: Expected '=' after a key in a key/value pair",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_named_with_its_line_or_its_ids_and_nothing_is_moved(text: str) -> None:
    found = own_keys(text)
    assert not found.moved
    assert WRONG[text] in found.problems


@pytest.mark.slow
def test_the_table_as_it_comes_can_be_written_down() -> None:
    lines = [f'"{key.ident}" = {list(key.keys)!r}'.replace("'", '"') for key in KEYS]
    assert own_keys("\n".join(lines)) == OwnKeys({key.ident: key.keys for key in KEYS})
    for key in KEYS:
        assert [key_name(readable(name)) for name in key.keys] == list(key.keys)


def test_every_group_of_the_table_has_a_place() -> None:
    assert {key.group for key in KEYS} == {group for place in PLACES for group in place}


@pytest.mark.slow
def test_a_letter_may_serve_where_the_ticket_has_letters() -> None:
    assert own_keys('"ticket.yes" = "j"').moved == {"ticket.yes": ("j",)}


def test_every_fixed_key_that_answers_a_dialog_is_known() -> None:
    for found in walk_packages(service_tui.console.__path__, "service_tui.console."):
        import_module(found.name)
    lists = {key for each in _bindings(RecordTable) for key in each.key.split(",")}
    kinds: list[type] = [Dialog]
    for kind in kinds:
        kinds += kind.__subclasses__()
        fixed = {
            key
            for each in _bindings(kind)
            if not each.id and each.action != "close"
            for key in each.key.split(",")
        }
        if not issubclass(kind, Form):
            assert fixed - lists <= ANSWERS, kind
    folder = Path(service_tui.console.__file__).parent
    asked = [
        key
        for path in folder.rglob("*.py")
        for key in re.findall(r"Question\([^\n]*key=\"(.)\"", path.read_text("utf-8"))
    ]
    assert "p" in asked
    assert {*asked} <= ANSWERS


def _bindings(kind: type) -> list[Binding]:
    return [each for each in vars(kind).get("BINDINGS", ()) if isinstance(each, Binding)]


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


@pytest.mark.slow
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
        assert "F2 halt" in seen.lines[-2]
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
        assert "ctrl+b buys" in welcome.text().plain
        await seen.press("escape", "f2")
        assert Halt() in seen.doors.submitted


@pytest.mark.slow
async def test_a_moved_cancel_pressed_twice_leaves_a_ticket_that_was_typed_into() -> None:
    own = OwnKeys({"ticket.cancel": ("f10",)})
    async with running(STATE, own_keys=own, size=(160, 40), first="markets") as seen:
        await seen.press("b", "5", "f10")
        assert isinstance(seen.app.screen, TradeForm)
        await seen.press("f10")
        assert not isinstance(seen.app.screen, TradeForm)


@pytest.mark.slow
async def test_the_presets_of_the_ticket_are_labelled_with_their_keys_in_use() -> None:
    own = OwnKeys({"ticket.preset2": ("f10",)})
    async with running(STATE, own_keys=own, size=(160, 40), first="markets") as seen:
        await seen.press("b")
        assert "F1 5" in seen.text
        assert "F10 25" in seen.text
        assert "F2 25" not in seen.text


@pytest.mark.slow
async def test_a_wrong_file_is_told_once_and_the_keys_stay() -> None:
    wrong = OwnKeys(problems=("keys.toml: line 1: no", "keys.toml: line 2: no"))
    async with running(STATE, own_keys=wrong) as seen:
        assert [each for each in seen.toasts if "keys.toml" in each] == [
            "! default keys in use: keys.toml: line 1: no (1 more: 'service-tui doctor')"
        ]
        await seen.press("2")
        assert seen.app.front.name_in_keys == "markets"
