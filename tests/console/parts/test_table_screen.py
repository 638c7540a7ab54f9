"""A screen of tables, step by step and without an app: its rows, search, memory, and its keys."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from textual.actions import SkipAction

from kit.samples.desk import NOW, sample_state
from service_tui.console.actions import NO_ROW, ScreenAction
from service_tui.console.forms.explain import Explain
from service_tui.console.forms.sort_menu import USUAL
from service_tui.console.freshness import NO_DESK
from service_tui.console.keys import key_named
from service_tui.console.parts import table_screen
from service_tui.console.parts.table_screen import (
    NO_SORT,
    REST_S,
    Only,
    TableScreen,
    _sort_text,
)
from service_tui.console.parts.view_memory import VIEW, ViewMemory
from service_tui.console.table_spec import TableSpec
from service_tui.console.widgets.record_table import TableState
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.slices.topics import Topic
from service_tui.units import Timestamp

STATE = replace(sample_state(6), rewound_to=None, from_cache=False, preferences={})
ONE, TWO = STATE.positions[:2]


def spec(name: str, *rows: Any, **other: Any) -> TableSpec[Any]:
    return TableSpec(
        name, lambda _: rows, lambda row: row.key, (), lambda row, _: row.question.casefold(),
        lambda _: f"no {name}", **other,
    )  # fmt: skip


SPECS = (
    spec("open", ONE, sort="value", falling=True),
    spec("ended", TWO, is_loaded=lambda state: Topic.POSITIONS in state.seen),
)


class Table(SimpleNamespace):
    """A table: notes what was done to it."""

    def __init__(self, **given: Any) -> None:
        order = SimpleNamespace(cursor=None, marked=(), cursor_lost=False, key_at=lambda _: "first")
        base: dict[str, Any] = {
            "columns": (), "has_focus": True, "has_just_fallen": False, "awaits_cursor": False,
            "no_row_text": "no row here", "row": ONE, "rows_count": 1, "state_now": TableState(),
            "shown_columns": (), "done": [], "place": order,
        }  # fmt: skip
        super().__init__(**{**base, **given})

    @property
    def order(self) -> Any:
        count = self.rows_count
        order = self.place
        return type("Order", (), {**vars(order), "__len__": lambda _: count, "key_at": lambda _, n:
            f"row {n}", "index_of": lambda _, row: None if row == "hidden" else 0})()  # fmt: skip

    def selected(self) -> Any:
        return self.row

    highlighted = selected

    def state(self) -> TableState:
        return self.state_now

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *given, **more: self.done.append((name, *given, *more.items()))


class Line:
    """The line of the search."""

    def __init__(self, typed: str = "") -> None:
        self.typed = typed
        self.done: list[Any] = []

    def clear(self) -> None:
        self.typed = ""

    def put(self, text: str) -> None:
        self.typed = text

    def begin(self) -> None:
        self.done.append("begin")

    def show_problem(self, problem: str) -> None:
        self.done.append(problem)


@dataclass
class Stub:
    """A screen for one of its methods at a time; whatever else it calls is noted in `did`."""

    state: Any = STATE
    now: Timestamp = NOW
    name_in_keys: str = "portfolio"
    title: str = "Portfolio"
    tables: Any = SPECS
    lists: Any = field(default_factory=lambda: (Table(), Table()))
    place: int = 0
    line: Any = field(default_factory=Line)
    only: Any = None
    search: Any = None
    is_wide: bool = False
    is_searched: bool = True
    is_beside: bool = True
    shows_detail: bool = True
    leaves_rows_out: bool = False
    opens: str = ""
    actions: Any = ()
    watches: Any = ("positions", "service.phase")
    classes: set[str] = field(default_factory=set)
    pane: Any = field(default_factory=lambda: SimpleNamespace(text_width=40, shown=[]))
    no_row_text: str = "nothing highlighted"
    tabs: Any = field(default_factory=lambda: SimpleNamespace(shown=[]))
    view: Any = field(default_factory=lambda: SimpleNamespace(masked=False))
    did: list[Any] = field(default_factory=list)
    given: list[Any] = field(default_factory=list)
    toasts: list[Any] = field(default_factory=list)
    opened: list[Any] = field(default_factory=list)
    kept: Any = field(default_factory=ViewMemory)

    def __post_init__(self) -> None:
        self._view_kept, self._view_rested = self.kept, (self.kept, self.now)
        self._sort_kept, self._shown, self._whole_search = "value falling", None, ("", "")
        self.pane.show = lambda *given: self.pane.shown.append(given)
        self.pane.focus = lambda: self.did.append("pane focus")
        self.tabs.show = lambda *given, **more: self.tabs.shown.append((*given, more))

    @property
    def spec(self) -> Any:
        return self.tables[self.place]

    @property
    def table(self) -> Any:
        return self.lists[self.place]

    def give(self, command: Any) -> None:
        self.given.append(command)

    def show_toast(self, text: str, tone: str = "info") -> None:
        self.toasts.append((text, tone))

    def has_class(self, name: str) -> bool:
        return name in self.classes

    def remove_class(self, name: str) -> None:
        self.classes.discard(name)

    def update_classes(self, wanted: Mapping[str, bool]) -> None:
        for name, on in wanted.items():
            self.set_class(on, name)

    def set_class(self, on: bool, name: str) -> None:  # noqa: FBT001 - as Textual has it
        (self.classes.add if on else self.classes.discard)(name)

    def open_dialog(self, dialog: Any, then: Any = None) -> None:
        self.opened.append((dialog, then))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(TableScreen, name):
            raise AttributeError(name)
        return lambda *given, **more: self.did.append((name, *given, *more.items()))


def later_of(stub: Stub) -> None:
    """Note what is left to be done after the next frame."""
    stub.call_after_refresh = lambda _: stub.did.append("later")  # type: ignore[attr-defined]


def call(name: str, stub: Stub, *given: Any) -> Any:
    method = getattr(TableScreen, name)
    return (method.fget if isinstance(method, property) else method)(stub, *given)


# -- the state ------------------------------------------------------------------------------------


def test_the_table_in_front_is_that_of_its_place() -> None:
    stub = Stub(place=1)
    assert call("spec", stub) is SPECS[1]
    assert call("table", stub) is stub.lists[1]
    assert call("rows", stub) == (TWO,)
    assert call("empty_text", stub) == "no ended"
    assert call("rows", Stub()) == (ONE,)


def test_only_what_is_watched_shows_the_screen_anew() -> None:
    stub = Stub()
    stub.watched = lambda: "as before"  # type: ignore[attr-defined]
    newer = replace(STATE, stars=frozenset({"x"}))
    call("take", stub, newer, Timestamp(NOW + 1))
    assert (stub.state, stub.now) == (newer, NOW + 1)
    assert stub.did == [("show_state",), ("keep",)]
    stub.did.clear()
    call("take", stub, newer, NOW)
    assert stub.did == [("tick",), ("keep",)]


def test_what_is_watched_are_its_fields_masking_and_what_was_loaded() -> None:
    stub = Stub()
    before = call("watched", stub)
    assert before == ((STATE.positions, STATE.service.phase), (True, True), False)
    stub.state = replace(STATE, seen={})
    assert call("watched", stub)[1] == (True, False)
    stub.view.masked = True
    assert call("watched", stub)[2] is True


def test_showing_the_state_and_time_passing_show_their_parts_in_order() -> None:
    stub = Stub()
    call("show_state", stub)
    assert [name for name, *_ in stub.did] == [
        "show_parts", "show_rows", "show_header", "show_detail",
    ]  # fmt: skip
    stub.did.clear()
    call("tick", stub)
    assert (stub.table.done, [name for name, *_ in stub.did]) == (
        [("redraw",)], ["show_detail", "show_header"],
    )  # fmt: skip


@pytest.mark.parametrize(("count", "shown"), [(1, []), (2, [("show_tabs",)])])
def test_one_table_needs_no_tabs(count: int, shown: list[Any]) -> None:
    stub = Stub(tables=SPECS[:count])
    call("show_header", stub)
    assert stub.did == shown


def test_tabs_name_and_count_their_rows() -> None:
    stub = Stub(place=1)
    call("show_tabs", stub, [0, 0])
    ((labels, place, more),) = stub.tabs.shown
    assert (labels, place, more) == (("open 1", "ended 1"), 1, {"strong": frozenset({0})})


@pytest.mark.parametrize(
    ("loaded", "cached", "settled"),
    [(True, False, True), (True, True, False), (False, False, False)],
)
def test_rows_are_shown_and_the_cursor_settles_once_all_have_come(
    *, loaded: bool, cached: bool, settled: bool
) -> None:
    state = replace(STATE, from_cache=cached, seen=STATE.seen if loaded else {})
    stub = Stub(state=state, place=1)
    assert call("is_settled", stub) is settled
    stub.rows = lambda: (TWO,)  # type: ignore[attr-defined]
    stub.empty_text = lambda: "no ended"  # type: ignore[attr-defined]
    stub.is_settled = lambda: settled  # type: ignore[attr-defined]
    call("show_rows", stub)
    assert stub.table.empty == "no ended"
    assert stub.table.done == [("show", (TWO,)), *([("settle_cursor",)] if settled else [])]


def test_a_console_without_a_desk_says_so_in_the_place_of_each_list() -> None:
    nobody = replace(STATE.service, problem=NO_DESK)
    stub = Stub(state=replace(STATE, service=nobody, rewound_to=NOW), place=1)
    stub.rows = lambda: ()  # type: ignore[attr-defined]
    stub.empty_text = lambda: "no ended"  # type: ignore[attr-defined]
    stub.is_settled = lambda: True  # type: ignore[attr-defined]
    shown: list[str] = []
    stub.table.show = lambda _: shown.append(stub.table.empty)  # type: ignore[method-assign]
    call("show_rows", stub)
    # It stands there before the list is painted without its rows.
    assert shown == ["No record shown."]


# -- the memory -----------------------------------------------------------------------------------


def memory_of(stub: Stub, memory: ViewMemory) -> Stub:
    stub.memory = lambda: memory  # type: ignore[attr-defined]
    return stub


def test_the_order_of_the_first_table_is_kept_at_once_and_of_no_other() -> None:
    stub = memory_of(Stub(), ViewMemory())
    stub.lists[0].state_now = TableState("price", falling=False)
    call("keep", stub)
    call("keep", stub)
    assert stub.given == [SetPreference("sort.portfolio", "price rising")]
    other = memory_of(Stub(place=1), ViewMemory())
    other.lists[0].state_now = TableState("price")
    call("keep", other)
    assert other.given == []
    same = memory_of(Stub(), ViewMemory())
    same.lists[0].state_now = TableState("value", falling=True)
    call("keep", same)
    assert same.given == []


@pytest.mark.parametrize(("waited_s", "is_kept"), [(REST_S - 0.1, False), (REST_S, True)])
def test_the_rest_is_kept_once_it_has_rested(waited_s: float, *, is_kept: bool) -> None:
    changed = ViewMemory(search="rain")
    stub = memory_of(Stub(), changed)
    stub.lists[0].state_now = TableState("value", falling=True)
    stub.view_to_keep = lambda: SetPreference("kept", "x")  # type: ignore[attr-defined]
    call("keep", stub)
    assert (stub.given, stub._view_rested) == ([], (changed, NOW))
    stub.now = Timestamp(NOW + waited_s)
    call("keep", stub)
    assert stub.given == ([SetPreference("kept", "x")] if is_kept else [])


def test_a_memory_holds_all_that_the_person_set() -> None:
    states = (TableState("a"), TableState("b", falling=True))
    stub = Stub(place=1, is_wide=True, line=Line("rain"))
    for table, state in zip(stub.lists, states, strict=True):
        table.state_now = state
    stub.choices = lambda: {"chip": "x"}  # type: ignore[attr-defined]
    assert call("memory", stub) == ViewMemory(1, True, "rain", states, {"chip": "x"})  # noqa: FBT003
    stub.is_searched = False
    assert call("memory", stub).search == ""


def test_a_memory_that_changed_is_written_once() -> None:
    changed = ViewMemory(search="rain")
    stub = memory_of(Stub(), changed)
    kept = SetPreference(f"{VIEW}portfolio", changed.to_text())
    assert call("view_to_keep", stub) == kept
    assert call("view_to_keep", stub) is None


def test_an_order_is_written_with_its_way() -> None:
    assert _sort_text(TableState("price", falling=True)) == "price falling"
    assert _sort_text(TableState()) == " rising"


# -- the row in focus -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "market_id"),
    [(ONE, ONE.market_id), (None, ""), (SimpleNamespace(), ""), (SimpleNamespace(market_id=7), "")],
)
def test_the_market_in_focus_is_that_of_the_row(row: Any, market_id: str) -> None:
    stub = Stub()
    stub.selected = lambda: row  # type: ignore[attr-defined]
    assert call("current_market", stub) == market_id


def test_a_row_that_is_not_there_is_said() -> None:
    stub = Stub()
    stub.selected = lambda: None  # type: ignore[attr-defined]
    assert call("row_in_focus", stub) is None
    assert stub.did == [("_notify_no_row",)]
    stub = Stub()
    stub.selected = lambda: ONE  # type: ignore[attr-defined]
    assert call("row_in_focus", stub) is ONE
    assert stub.did == []


@pytest.mark.parametrize(
    ("cursor", "count", "has_fallen", "is_gone"),
    [("a", 3, False, True), ("a", 0, True, True), ("a", 0, False, False), (None, 3, True, False)],
)
def test_a_row_that_went_is_told_from_a_table_without_any(
    monkeypatch: pytest.MonkeyPatch, cursor: str | None, count: int, *, has_fallen: bool,
    is_gone: bool,
) -> None:  # fmt: skip
    gone: list[Any] = []
    monkeypatch.setattr(table_screen, "show_row_gone", gone.append)
    stub = Stub(lists=(Table(rows_count=count, has_just_fallen=has_fallen),))
    stub.table.place.cursor = cursor
    call("_notify_no_row", stub)
    assert gone == ([stub] if is_gone else [])
    assert stub.toasts == ([] if is_gone else [("no row here", "warn")])


def test_the_cursor_is_put_on_a_row_in_its_own_table_past_what_hides_it() -> None:
    for row, place, hidden in ((ONE.key, 0, False), (TWO.key, 1, False), ("hidden", 0, True)):
        stub = Stub()
        stub._place_of = lambda _, place=place: place  # type: ignore[attr-defined]
        stub.is_hidden = lambda _, hidden=hidden: hidden  # type: ignore[attr-defined]
        call("focus_row", stub, row)
        moves = [
            *([("bring_forward", place)] if place else []),
            *([("show_all",)] if hidden else []),
        ]
        assert stub.did == [*moves, ("show_detail",)]
        assert stub.table.done == [("put_cursor", row), ("focus",)]
    stub = Stub()
    call("focus_row", stub, None)
    assert (stub.table.done, stub.did) == ([("focus",)], [("show_detail",)])


def test_a_row_is_of_the_table_that_holds_it_or_of_the_one_in_front() -> None:
    assert call("_place_of", Stub(place=0), TWO.key) == 1
    assert call("_place_of", Stub(place=1), ONE.key) == 0
    assert call("_place_of", Stub(place=1), "not there yet") == 1
    assert call("_place_of", Stub(tables=SPECS[:1]), TWO.key) == 0
    assert call("is_hidden", Stub(), "hidden")
    assert not call("is_hidden", Stub(), "in sight")
    assert not call("is_hidden", Stub(is_searched=False), "hidden")


# -- the search -----------------------------------------------------------------------------------


def test_a_search_that_is_typed_narrows_the_table_and_shows_its_problem() -> None:
    stub = Stub()
    found = SimpleNamespace(problem="no column x")
    stub.parsed = lambda typed: found if typed == "x:>1" else None  # type: ignore[attr-defined]
    call("narrow", stub, "x:>1")
    assert stub.search is found
    assert (stub.line.done, stub.did) == (["no column x"], [("filter_rows",)])


@pytest.mark.parametrize("leaves_rows_out", [True, False])
def test_filtering_hides_rows_here_or_in_the_screen_itself(*, leaves_rows_out: bool) -> None:
    stub = Stub(leaves_rows_out=leaves_rows_out)
    call("filter_rows", stub)
    first = [("show_rows",)] if leaves_rows_out else [("_filter_table",)]
    assert stub.table.done == ([("see_all",)] if leaves_rows_out else [])
    assert stub.did == [
        *first, ("highlight_first_if_lost",), ("show_detail",), ("show_header",),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("wants", "found", "keeps"),
    [(None, True, True), (None, False, False), (True, True, True), (True, False, False),
     (False, True, False)],
)  # fmt: skip
def test_a_row_stays_that_passes_the_choice_and_the_search(
    *, wants: bool | None, found: bool, keeps: bool
) -> None:
    only = None if wants is None else Only(lambda _: wants)
    stub = Stub(only=only, search="a search")
    asked: list[Any] = []
    stub.is_found = lambda *given: asked.append(given) or found  # type: ignore[attr-defined]
    call("_filter_table", stub)
    ((name, keep),) = stub.table.done
    assert name == "filter"
    assert keep(ONE) is keeps
    assert asked in ([], [(ONE, "a search")])


def test_without_choice_and_search_every_row_stays() -> None:
    stub = Stub()
    call("_filter_table", stub)
    assert stub.table.done == [("filter", None)]


def test_showing_all_takes_every_filter_away() -> None:
    stub = Stub(only="a choice", line=Line("rain"))
    stub._whole_search = "rain x:>1", "rain"
    call("show_all", stub)
    assert (stub.only, stub.line.typed, stub._whole_search) == (None, "", ("", ""))
    assert stub.did == [("narrow", "")]


@pytest.mark.parametrize(
    ("lost", "fallen", "count", "awaits", "moves"),
    [(True, False, 2, False, True), (False, True, 2, False, True), (False, False, 2, False, False),
     (True, True, 0, False, False), (True, True, 2, True, False)],
)  # fmt: skip
def test_after_filtering_a_lost_cursor_goes_to_the_first_row(
    *, lost: bool, fallen: bool, count: int, awaits: bool, moves: bool
) -> None:
    table = Table(rows_count=count, has_just_fallen=fallen, awaits_cursor=awaits)
    table.place.cursor_lost = lost
    call("highlight_first_if_lost", Stub(lists=(table,)))
    assert table.done == ([("put_cursor", "row 0")] if moves else [])


def test_another_table_takes_the_terms_that_it_can_use_and_keeps_the_rest() -> None:
    stub = Stub(line=Line("rain x:>1"), classes={"-list-0"})
    bad = {0: set[str](), 1: {"x:>1"}}
    stub.parsed = lambda term: SimpleNamespace(problem=term in bad[stub.place])  # type: ignore[attr-defined]
    call("bring_forward", stub, 1)
    assert (stub.place, stub.classes, stub.line.typed) == (1, {"-list-1"}, "rain")
    assert stub.did == [("show_rows",), ("narrow", "rain")]
    call("bring_forward", stub, 0)
    assert (stub.classes, stub.line.typed) == ({"-list-0"}, "rain x:>1")
    # What was typed meanwhile counts.
    call("bring_forward", stub, 1)
    stub.line.typed = "sun"
    call("bring_forward", stub, 0)
    assert stub.line.typed == "sun"


# -- the keys -------------------------------------------------------------------------------------


def action(ident: str = "portfolio.sell", why: str = "") -> ScreenAction[Any]:
    def run(on: Any) -> None:
        on.did.append("ran")

    return ScreenAction(ident, run, (lambda _: why,))


def test_a_key_performs_its_own_action() -> None:
    stub = Stub(actions=(action("portfolio.other"), action()))
    call("action_perform", stub, "portfolio.sell")
    assert (stub.did, stub.toasts) == (["ran"], [])


def test_a_key_that_is_disabled_says_why() -> None:
    stub = Stub(actions=(action(why="prices are old"),))
    stub.refusal = lambda action, why: f"{action.id}: {why}"  # type: ignore[attr-defined]
    call("action_perform", stub, "portfolio.sell")
    assert (stub.did, stub.toasts) == ([], [("portfolio.sell: prices are old", "warn")])
    without = Stub(actions=(action(why=NO_ROW),))
    call("action_perform", without, "portfolio.sell")
    assert (without.did, without.toasts) == ([("_notify_no_row",)], [])
    assert call("refusal", stub, action(), "why") == "why"


def test_on_a_recorded_state_a_key_is_barred_first() -> None:
    stub = Stub(state=replace(STATE, rewound_to=NOW), actions=(action(why=NO_ROW),))
    call("action_perform", stub, "portfolio.sell")
    ((_, tone),) = stub.toasts
    assert (stub.did, tone) == ([], "warn")
    key = cast("Any", SimpleNamespace(ident="portfolio.sell"))
    assert call("disabled_reason", stub, key) != NO_ROW
    assert call("disabled_reason", Stub(actions=(action(why="old"),)), key) == "old"


@pytest.mark.parametrize(
    ("name", "changes", "why"),
    [
        ("filter", {"is_searched": False}, "not here"),
        ("explain", {"is_searched": False}, "not here"),
        ("copy_row", {"row": None}, NO_ROW),
        ("copy_cell", {"row": None}, NO_ROW),
        ("sort_next", {}, NO_SORT),
        ("wide", {"is_beside": False}, "no detail beside the list"),
    ],
)
def test_an_action_of_every_table_is_disabled_for_its_reason(
    name: str, changes: dict[str, Any], why: str
) -> None:
    row = changes.pop("row", ONE)
    stub = Stub(**changes)
    stub.selected = lambda: row  # type: ignore[attr-defined]
    assert call("list_reason", stub, name) == why


@pytest.mark.parametrize(
    ("changes", "left", "remains"),
    [
        ({"classes": {"-opened"}}, "detail", True),
        ({"line": "rain"}, "search", True),
        ({"marked": ("a",)}, "marks", True),
        ({"only": "a choice"}, "choice", True),
        ({"place": 1}, "tab", True),
        ({}, "", False),
        ({"line": "rain", "marked": ("a",), "only": "x", "place": 1}, "search", True),
        ({"marked": ("a",), "only": "x", "place": 1}, "marks", True),
        ({"only": "x", "place": 1}, "choice", True),
        ({"has_focus": False, "line": "rain"}, "detail", True),
    ],
)
def test_stepping_out_leaves_one_thing_at_a_time(
    changes: dict[str, Any], left: str, *, remains: bool
) -> None:
    line, marked = changes.pop("line", ""), changes.pop("marked", ())
    has_focus = changes.pop("has_focus", True)
    stub = Stub(line=Line(line), **changes)
    for table in stub.lists:
        table.place.marked, table.has_focus = marked, has_focus
    assert call("step_out", stub) is remains
    happened = {
        "detail": [([("focus",)], [])],
        "search": [([], [])],
        "marks": [([("clear_marks",)], [])],
        "choice": [([], [("show_all",)])],
        "tab": [([("focus",)], [("bring_forward", 0)])],
        "": [([], [])],
    }[left]
    assert (stub.table.done, stub.did) in happened
    assert stub.line.typed == ("" if left == "search" else line)
    assert "-opened" not in stub.classes


def test_a_key_passes_on_what_is_left_already() -> None:
    stub = Stub()
    stub.step_out = lambda: True  # type: ignore[attr-defined]
    call("action_one_out", stub)
    stub.step_out = lambda: False  # type: ignore[attr-defined]
    with pytest.raises(SkipAction):
        call("action_one_out", stub)


def test_enter_performs_what_it_opens_or_brings_the_detail_to_the_front() -> None:
    stub = Stub(opens="portfolio.sell")
    call("open_row", stub)
    assert stub.did == [("action_perform", "portfolio.sell")]
    for classes, opened in (({"-with-detail"}, False), (set[str](), True)):
        stub = Stub(classes=set(classes))
        later_of(stub)
        call("open_row", stub)
        assert ("-opened" in stub.classes) is opened
        assert stub.did == ["pane focus", "later"]
    without = Stub(pane=SimpleNamespace())
    without.pane = None
    call("open_row", without)
    assert without.did == []


@pytest.mark.parametrize(("column", "done"), [
    (USUAL, ("sort_by", "value", ("falling", True))), ("price", ("pick_sort", "price")),
])  # fmt: skip
def test_a_column_that_was_chosen_sorts_and_the_usual_order_comes_back(
    column: str, done: tuple[Any, ...]
) -> None:
    stub = Stub()
    call("_sort_chosen", stub, column)
    assert stub.table.done == [done]


def test_the_list_takes_the_room_of_the_pane_and_gives_it_back() -> None:
    stub = Stub()
    stub.list_reason = lambda _: ""  # type: ignore[attr-defined]
    later_of(stub)
    call("action_wide", stub)
    assert (stub.is_wide, stub.did) == (True, [("fit",), "later"])
    call("action_wide", stub)
    assert stub.is_wide is False
    assert stub.toasts == [("list over the whole width", "info"), ("list and detail", "info")]
    stub.list_reason = lambda _: "no detail"  # type: ignore[attr-defined]
    call("action_wide", stub)
    assert (stub.is_wide, stub.toasts[-1]) == (False, ("no detail", "warn"))


def test_a_row_is_copied_by_its_name_or_whole() -> None:
    stub = Stub()
    stub.row_in_focus = lambda: ONE  # type: ignore[attr-defined]
    stub.name_of = lambda row: row.question  # type: ignore[attr-defined]
    call("action_copy_cell", stub)
    call("action_copy_row", stub)
    assert stub.did == [
        ("copy", ONE.question, "the name"), ("copy_record", ONE, "the row as JSON"),
    ]  # fmt: skip
    assert call("name_of", stub, ONE) == ONE.question
    assert call("name_of", stub, object()) == ""


def test_what_is_explained_is_titled_by_its_row_or_by_the_screen() -> None:
    for row, title in ((ONE, "its name"), (None, "Portfolio")):
        stub = Stub()
        stub.selected = lambda row=row: row  # type: ignore[attr-defined]
        stub.name_of = lambda _: "its name"  # type: ignore[attr-defined]
        stub.explain = lambda *_: ("a part",)  # type: ignore[attr-defined]
        call("action_explain", stub)
        ((dialog, _),) = stub.opened
        assert isinstance(dialog, Explain)
        assert dialog._title == title
    nothing = Stub()
    nothing.selected = lambda: ONE  # type: ignore[attr-defined]
    nothing.explain = lambda *_: ()  # type: ignore[attr-defined]
    call("action_explain", nothing)
    assert (nothing.opened, nothing.did) == ([], [("row_in_focus",)])


def test_the_detail_is_that_of_the_highlighted_row() -> None:
    stub = Stub()
    stub.detail = lambda row, view: ("head", row, view.width)  # type: ignore[attr-defined]
    call("show_detail", stub)
    assert stub.pane.shown == [("head", ONE, 40)]
    assert "-bare" not in stub.classes
    empty = Stub(lists=(Table(row=None, rows_count=0),))
    call("show_detail", empty)
    assert empty.pane.shown[0][0].plain == "nothing highlighted"
    assert "-bare" in empty.classes
    hidden = Stub(shows_detail=False)
    call("show_detail", hidden)
    assert hidden.pane.shown == []


def test_what_a_pane_is_shown_by() -> None:
    for classes, shown in (({"-with-detail"}, True), ({"-opened"}, True), (set[str](), False)):
        assert call("shows_detail", Stub(classes=set(classes))) is shown
    stub = Stub(classes={"-wide"})
    stub.beside = "-wide"  # type: ignore[attr-defined]
    assert call("is_beside", stub)
    assert key_named("rows.filter").group == "rows"
