"""Where each step of the navigation leads, one method of the console at a time."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from textual.command import Provider
from textual.errors import NoWidget
from textual.geometry import Offset, Region

from kit.one_method import Self, called
from kit.samples.desk import NOW, sample_state
from service_tui.console.command_line.verbs import VERBS
from service_tui.console.forms.help import Help
from service_tui.console.keys import key_named
from service_tui.console.messages import GoTo, HelpRequested, KeyChosen
from service_tui.console.parts.view_memory import LAST_SCREEN
from service_tui.console.screens.markets.screen import MarketsScreen
from service_tui.console.shell.views import Palette, Trail, View, Views, _provider
from service_tui.desk.commands.settings import SetPreference

STATE = replace(sample_state(), preferences={})
A, B, C = View("portfolio", "p1"), View("markets", "m1"), View("agents")


def views(trail: Trail = Trail((A,)), **other: Any) -> Self:  # noqa: B008 - it is frozen
    """The console, of which a test gives what its method looks at."""
    front = Self(name_in_keys=trail.front.screen, title="Portfolio", current_row=lambda: "here")
    it = Self(**{"_trail": trail, "front": front, "desk_state": STATE, "now": NOW, **other})

    async def bring(to: Trail) -> None:
        await asyncio.sleep(0)
        it.did.append(("_bring", to))

    it.__dict__.setdefault("_bring", bring)
    return it


async def test_the_screen_in_front_only_moves_its_cursor() -> None:
    it = views()
    await called(Views.action_go, it, "portfolio", "p7")
    assert (it.front.did, it.did) == ([("focus_row", "p7")], [])


async def test_another_screen_is_a_new_view_and_the_row_here_is_remembered() -> None:
    it = views()
    await called(Views.action_go, it, "markets", "m7")
    left = View("portfolio", "here")
    assert it.did == [("_bring", Trail((left, View("markets", "m7")), 1, left))]


@pytest.mark.parametrize(
    ("place", "by", "to"), [(1, -1, 0), (1, 1, 2), (0, -1, None), (2, 1, None)]
)
async def test_the_history_goes_one_view_and_says_where_it_ends(
    place: int, by: int, to: int | None
) -> None:
    it = views(Trail((A, B, C), place))
    await called(Views.action_history, it, by)
    if to is None:
        word = "no earlier view" if by < 0 else "no later view"
        assert it.did == [("show_toast", word)]
        return
    ((name, trail),) = it.did
    left = [replace(one, row="here") if at == place else one for at, one in enumerate((A, B, C))]
    assert (name, trail.place, list(trail.views), trail.last) == ("_bring", to, left, left[place])


async def test_the_last_screen_comes_back_with_its_row_and_without_one_nothing_moves() -> None:
    went: list[tuple[str, str | None]] = []

    async def go(name: str, row: str | None) -> None:
        await asyncio.sleep(0)
        went.append((name, row))

    for last in (None, B):
        await called(Views.action_last_screen, views(Trail((A,), 0, last), action_go=go))
    assert went == [("markets", "m1")]


@pytest.mark.parametrize(
    ("kept", "remembered", "to", "given"),
    [
        (None, "", "", [SetPreference(LAST_SCREEN, "portfolio")]),
        (None, "portfolio", "", []),
        (None, "portfolio", "agents", [SetPreference(LAST_SCREEN, "agents")]),
        (None, "agents", "agents", []),
        (SetPreference("view.portfolio", "x"), "portfolio", "",
         [SetPreference("view.portfolio", "x")]),
    ],
)  # fmt: skip
def test_the_layout_and_the_screen_are_kept_once(
    kept: SetPreference | None, remembered: str, to: str, given: list[SetPreference]
) -> None:
    state = replace(STATE, preferences={LAST_SCREEN: remembered} if remembered else {})
    it = views(desk_state=state)
    it.front.view_to_keep = lambda: kept
    called(Views.keep_view, it, to)
    assert [what for _, what in it.did] == given


def test_a_key_is_off_where_its_screen_says_so_and_a_dialogs_never() -> None:
    it = views()
    it.front.disabled_reason = lambda key: f"no {key.ident}"
    for name, why in (
        ("ticket.side", ""), ("form.cancel", ""), ("alert.side", ""), ("halt.exit", ""),
        ("wallet.live", ""), ("rows.filter", "no rows.filter"), ("app.theme", ""),
    ):  # fmt: skip
        assert called(Views.disabled_reason, it, key_named(name)) == why
    for name in ("app.back", "app.forward", "app.last"):
        key = key_named(name)
        assert called(Views.disabled_reason, it, key) == "no previous view"
        assert called(Views.disabled_reason, views(Trail((A, B), 1, A)), key) == ""


@pytest.mark.parametrize("has_act", [True, False])
async def test_who_is_sent_somewhere_goes_there_first_and_then_acts(*, has_act: bool) -> None:
    done: list[Any] = []

    async def note(*given: Any) -> None:
        await asyncio.sleep(0)
        done.append(given)

    key = key_named("rows.filter")
    it = views(action_go=note, _do=note)
    await called(Views._sent_to, it, GoTo("markets", "m1", key if has_act else None))
    assert done == [("markets", "m1"), *([(key,)] if has_act else [])]
    await called(Views._key_chosen, it, KeyChosen(key))
    assert done[-1] == (key,)


class Table:
    """What takes the keys of a table."""


@pytest.mark.parametrize(
    ("name", "own", "why", "runs"),
    [
        ("app.theme", False, "", "app"), ("rows.filter", False, "", "table"),
        ("rows.filter", True, "", "front"), ("rows.filter", True, "not here", ""),
        ("app.theme", False, "not here", ""),
    ],
)  # fmt: skip
async def test_a_chosen_key_is_done_where_it_belongs_or_says_why_not(
    name: str, why: str, runs: str, *, own: bool
) -> None:
    ran: list[tuple[Any, ...]] = []

    async def run_action(*given: Any) -> None:
        await asyncio.sleep(0)
        ran.append(given)

    key, table = key_named(name), Table()
    front = SimpleNamespace(query=lambda _: SimpleNamespace(first=lambda: table))
    if own:
        front.action_filter = None
    it = views(disabled_reason=lambda _: why, run_action=run_action, front=front)
    await called(Views._do, it, key)
    targets: dict[str, tuple[Any, ...]] = {"app": (), "front": (front,), "table": (table,)}
    assert ran == ([(key.action, *targets[runs])] if runs else [])
    assert it.did == ([] if runs else [("show_toast", f"{key.label}: {why}", "warn")])


def test_the_help_opens_with_the_keys_of_the_screen_the_commands_and_a_word() -> None:
    it = views()
    called(Views.action_help, it)
    called(Views._help_requested, it, HelpRequested("amend"))
    assert it.did == [("_show_help", ""), ("_show_help", "amend")]
    it.did.clear()
    called(Views._show_help, it, "amend")
    ((name, page),) = it.did
    assert (name, type(page)) == ("push_screen", Help)
    assert (page._group, page._heading) == ("portfolio", "Portfolio")
    assert page._commands == tuple((verb.usage, verb.help) for verb in VERBS)
    assert page._search._first == "amend"


def test_the_line_of_commands_opens_with_its_beginning_and_runs_what_was_chosen() -> None:
    it = views()
    called(Views.action_command_line, it)
    assert it.did == [("open_command_line",)]
    ran: list[bool] = []
    for effect in (None, lambda: ran.append(True)):
        called(Views._run_command, it, effect)
    assert ran == [True]


def test_the_palette_opens_for_everything_or_for_the_themes() -> None:
    it = views()
    called(Views.action_command_palette, it)
    called(Views.action_themes, it)
    assert [name for name, _ in it.did] == ["push_screen", "push_screen"]
    everything, themes = (palette for _, palette in it.did)
    assert (type(everything), type(themes)) == (Palette, Palette)
    assert (everything.id, themes.id) == (None, "themes")
    assert len(Views.COMMANDS) == 7


@pytest.mark.parametrize(("name", "tried"), [("themes", ["paper"]), (None, [])])
def test_a_theme_that_is_highlighted_is_tried_and_given_back_without_a_choice(
    name: str | None, tried: list[str]
) -> None:
    it = views(screen=Self(id=name), desk_state=replace(STATE, preferences={"theme": "night"}))
    option: Any = Self(highlighted_event=Self(option=Self(prompt=" paper ")))
    called(Views._highlighted, it, option)
    assert it.did == [("preview_theme", one) for one in tried]
    it.did.clear()
    called(Views._palette_closed, it, Self(option_selected=True))
    assert it.did == []
    called(Views._palette_closed, it, Self(option_selected=False))
    assert it.did == [("apply_theme", "night")]


@pytest.mark.parametrize(("visited", "is_new"), [(True, False), (False, True)])
async def test_a_screen_that_is_brought_is_shown_as_it_was_left(
    *, visited: bool, is_new: bool
) -> None:
    screen = Self()
    steps = screen.did

    async def bring(given: Any) -> bool:
        await asyncio.sleep(0)
        assert given is screen
        steps.append(("bring",))
        return is_new

    deck = Self(visited=lambda name: screen if visited and name == "markets" else None, bring=bring)
    trail = Trail((A, B), 1, A)
    it = views(deck=deck, _made=lambda name: screen if name == "markets" else None)
    it._switching = asyncio.Lock()
    await Views._bring(it, trail)  # type: ignore[arg-type]
    assert it._trail is trail
    assert it.did == [
        ("keep_view", "markets"), *([("arrange",)] if is_new else []), ("show_state",),
    ]  # fmt: skip
    assert steps == [("bring",), ("focus_row", "m1")]


def test_a_screen_is_made_at_its_first_visit_with_its_style_and_the_newest_state() -> None:
    it = views(_program="the program")
    screen = called(Views._made, it, "markets")
    assert isinstance(screen, MarketsScreen)
    assert (screen.state, screen.program) == (STATE, "the program")
    assert it.did == [("read_style", "markets")]


def test_the_deck_is_that_of_the_lowest_screen_also_under_a_dialog() -> None:
    deck = Self(front="the screen in front")
    it = Self(screen_stack=[Self(query_one=lambda _: deck), Self()], deck=deck)
    assert called(Views.deck, it) is deck
    assert called(Views.front, it) == "the screen in front"


# -- the palette -----------------------------------------------------------------------------------


def test_a_click_where_the_palette_was_meets_its_ground(monkeypatch: pytest.MonkeyPatch) -> None:
    palette = Palette()
    ground = Region(0, 0, 9, 9)
    monkeypatch.setattr(Palette, "region", ground)
    base = "textual.command.CommandPalette.get_widget_at"
    monkeypatch.setattr(base, lambda *_: ("a widget", Region(1, 1, 1, 1)))
    assert palette.get_widget_at(1, 1)[0] == "a widget"

    def gone(*_: object) -> None:
        raise NoWidget(str(Offset(1, 1)))

    monkeypatch.setattr(base, gone)
    # The terminal may have shrunk since: the place lies outside of what there is now.
    for place in ((1, 1), (20, 20)):
        assert palette.get_widget_at(*place) == (palette, ground)


@pytest.mark.parametrize(
    ("room", "moves"), [(None, False), (Region(0, 0, 0, 0), False), (Region(0, 0, 9, 3), True)]
)
def test_the_list_of_the_palette_moves_only_where_a_row_has_room(
    monkeypatch: pytest.MonkeyPatch, room: Region | None, *, moves: bool
) -> None:
    moved: list[str] = []
    monkeypatch.setattr(
        "textual.command.CommandPalette._action_command_list", lambda _, act: moved.append(act)
    )
    lists = [] if room is None else [Self(scrollable_content_region=room)]

    class Found(list[Any]):
        def first(self) -> Any:
            return self[0]

    monkeypatch.setattr(Palette, "query", lambda *_: Found(lists))
    Palette()._action_command_list("cursor_down")
    assert moved == (["cursor_down"] if moves else [])


@pytest.mark.parametrize("is_there", [True, False])
def test_a_late_timer_of_the_palette_does_nothing_once_it_is_gone(
    monkeypatch: pytest.MonkeyPatch, *, is_there: bool
) -> None:
    timers: list[tuple[Any, ...]] = []

    def set_timer(_: object, delay: float, act: Any, **more: Any) -> str:
        timers.append((delay, act, more))
        return "a timer"

    monkeypatch.setattr("textual.message_pump.MessagePump.set_timer", set_timer)
    monkeypatch.setattr(Palette, "query", lambda *_: ["a list"] if is_there else [])
    palette, ran = Palette(), list[bool]()
    assert palette.set_timer(0.5, lambda: ran.append(True), name="n", pause=True) == "a timer"
    palette.set_timer(0.5)
    assert [(delay, more) for delay, _, more in timers] == [
        (0.5, {"name": "n", "pause": True}), (0.5, {"name": None, "pause": False}),
    ]  # fmt: skip
    for _, act, _ in timers:
        act()
    assert ran == ([True] if is_there else [])


def test_the_line_of_commands_is_laid_over_the_screen_in_front(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("service_tui.console.command_line.line.CommandLine", lambda *given: given)
    it = views(disabled_reason="why a key is off", _run_command="what runs it")
    called(Views.open_command_line, it, "buy ")
    line = (it.front, "why a key is off", "buy ")
    assert it.did == [("push_screen", line, "what runs it")]


def test_every_part_of_the_palette_is_imported_by_its_name_and_nothing_else() -> None:
    kinds = [provider() for provider in Views.COMMANDS]
    assert len({kind.__name__ for kind in kinds}) == len(kinds)
    assert all(issubclass(kind, Provider) for kind in kinds)
    for name in ("Candidate", "CHUNK"):
        with pytest.raises(TypeError, match="no provider"):
            _provider(name)
