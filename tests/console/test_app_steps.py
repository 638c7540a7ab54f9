"""What each key and message of the console does, one method at a time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from kit.one_method import Self, called
from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import run_of
from service_tui.console import app as app_module
from service_tui.console.app import (
    BREATH_MAX_S,
    REPAINT_S,
    TYPED_S,
    ConsoleApp,
    _first_screen,
    breath,
)
from service_tui.console.charts.sources import ChartName
from service_tui.console.closed_desk import DeskClosedError, RecoveryOption
from service_tui.console.forms.confirm import Confirm
from service_tui.console.keys import cap, key_named, with_keys
from service_tui.console.parts.view_memory import LAST_SCREEN
from service_tui.console.shell.views import Views
from service_tui.console.widgets.banner import LastingCondition
from service_tui.desk.commands.agents import NoteConfirmed
from service_tui.desk.commands.halt import Halt
from service_tui.desk.commands.settings import Refresh, SetPreference, SetSpeed, SetStar
from service_tui.desk.slices.drill import DrillView
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.supervision import SkillRunState
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

STATE = replace(
    sample_state(6), tickets=(), preferences={}, notices=(), drill=None, rewound_to=None, world=None
)


def console(state: DeskState = STATE, **other: Any) -> Self:
    """The console, of which a test gives what its method looks at."""
    given: dict[str, Any] = {
        "desk_state": state, "_live": state, "_raw_state": state, "now": NOW, "is_running": True,
        "_wall_time": lambda: NOW, "front": Self(name_in_keys="portfolio"),
        "screen_stack": [Self()], "replay": Self(moment=None, is_alone=False, problem=""),
        "_sender": Self(), "_notifier": Self(unseen=3), "guide": Self(),
        "drill": Self(next_name=""), "halting": Self(), "approving": Self(), "_shut": "",
        "_absence_shown": False,
        "_last_speed": 1, "app_focus": True, "theme_names": ("night", "paper"), "theme": "night",
        "_own_keys": Self(problems=()), "_has_tour": False, "_started_at": NOW,
    }  # fmt: skip
    return Self(**{**given, **other})


# -- state down -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("late_s", "pause_s"), [(-1.0, 0.0), (0.0, 0.0), (0.05, 0.15), (99.0, BREATH_MAX_S)]
)
def test_after_a_late_frame_the_console_breathes_three_times_as_long(
    late_s: float, pause_s: float
) -> None:
    assert breath(late_s) == pytest.approx(pause_s)


@pytest.mark.parametrize(
    ("kept", "held", "first"),
    [("agents", True, "agents"), ("", True, "portfolio"), ("", False, "markets"),
     ("of tomorrow", True, "portfolio")],
)  # fmt: skip
def test_the_first_screen_is_that_of_the_last_end(kept: str, first: str, *, held: bool) -> None:
    positions = STATE.positions if held else ()
    preferences = {LAST_SCREEN: kept} if kept else {}
    assert _first_screen(replace(STATE, preferences=preferences, positions=positions)) == first


@pytest.mark.parametrize(
    ("alone", "tour", "seen", "begun"),
    [
        (True, True, False, ("replay", "toggle")),
        (False, True, False, ("guide", "begin")),
        (False, False, False, ("", "action_welcome")),
        (False, False, True, None),
    ],
)
def test_a_console_begins_with_the_replay_the_tour_or_its_first_page(
    begun: tuple[str, str] | None, *, alone: bool, tour: bool, seen: bool
) -> None:
    state = replace(STATE, preferences={"welcome": "seen"} if seen else {})
    it = console(state, _has_tour=tour)
    it.replay.is_alone = alone
    called(ConsoleApp._begin, it)
    done = [
        (name, step)
        for name, part in (("replay", it.replay), ("guide", it.guide), ("", it))
        for step, *_ in part.did
        if step in {"toggle", "begin", "action_welcome"}
    ]
    assert done == ([] if begun is None else [begun])
    assert it.drill.did == [("show",)]
    assert it.did[-1][0] == "run_worker"
    assert it.did[0] == ("read_style", "dialogs", "trade_form", "monitor_form")


@pytest.mark.parametrize(
    ("problems", "text"),
    [
        ((), None),
        (("a",), "default keys in use: a"),
        (("a", "b", "c"), "default keys in use: a (2 more: 'service-tui doctor')"),
    ],
)
def test_own_keys_that_are_not_in_use_are_told(problems: tuple[str, ...], text: str | None) -> None:
    it = console(_own_keys=Self(problems=problems))
    called(ConsoleApp._report_key_problems, it)
    assert it.did == ([] if text is None else [("show_toast", text, "warn")])


def taking(**other: Any) -> tuple[Self, DeskState]:
    newer = replace(STATE, stars=frozenset({"newer"}))
    laid = replace(newer, preferences={"privacy": "on"})
    it = console(**other)
    it._sender.laid_over = lambda state, now: laid if (state, now) == (newer, NOW) else None
    called(ConsoleApp.take, it, newer)
    assert (it._raw_state, it._live) == (newer, laid)
    return it, laid


def test_a_newer_state_is_shown_with_what_was_given_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_module, "is_newer_answer", lambda before, _: before is not STATE)
    it, laid = taking()
    assert it.desk_state is laid
    assert it.did == [("show_state",), ("_apply_theme_since", STATE), ("_notify",)]
    assert it.drill.did == [("follow", None)]
    monkeypatch.setattr(app_module, "is_newer_answer", lambda *_: True)
    it, _ = taking()
    assert it.did == [("_apply_theme_since", STATE), ("_notify",)]


def test_over_a_recorded_moment_a_newer_state_only_tells() -> None:
    it, _ = taking(replay=Self(moment="then"))
    assert it.desk_state is STATE
    assert it.did == [("_notify",), ("_show_conditions",)]


def test_a_quote_reaches_the_dialogs_at_once() -> None:
    quote = QuoteView(7, ok=True)
    it = console()
    called(ConsoleApp.take_quote, it, quote)
    shown = replace(STATE, quote=quote)
    assert it._raw_state == it._live == it.desk_state == shown
    assert it.did == [("_show_in_dialogs", shown, NOW)]
    for other in ({"replay": Self(moment="then")}, {"is_running": False}):
        it = console(**other)
        called(ConsoleApp.take_quote, it, quote)
        assert (it.desk_state, it.did, it._live) == (STATE, [], shown)


@pytest.mark.parametrize(
    ("before", "now", "applied"), [("", "", []), ("a", "a", []), ("a", "b", ["b"]), ("a", "", [""])]
)
def test_a_theme_that_changed_is_applied(before: str, now: str, applied: list[str]) -> None:
    old = replace(STATE, preferences={"theme": before} if before else {})
    it = console(replace(STATE, preferences={"theme": now} if now else {}))
    called(ConsoleApp._apply_theme_since, it, old)
    assert it.did == [("apply_theme", name) for name in applied]


@pytest.mark.parametrize(
    ("changes", "is_focused"),
    [({}, True), ({"app_focus": False}, False), ({"screen_stack": [1, 2]}, False),
     ({"screen": Self(focused="a line")}, False)],
)  # fmt: skip
def test_the_rows_take_the_focus_where_nothing_else_has_it(
    changes: dict[str, Any], *, is_focused: bool
) -> None:
    it = console(**{"screen": Self(focused=None), **changes})
    called(ConsoleApp.focus_front, it)
    assert it.front.did == ([("focus_row", None)] if is_focused else [])


def test_what_is_shown_has_the_time_of_its_moment() -> None:
    assert called(ConsoleApp._shown_time, console()) == NOW
    then = console(replay=Self(moment=Self(at=Timestamp(5.0))))
    assert called(ConsoleApp._shown_time, then) == 5.0


def test_events_are_seen_on_their_screens_by_who_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_module, "MARKS_SEEN", frozenset({"attention"}))
    monkeypatch.setattr(app_module, "unloaded_topics", lambda state: state.stars)
    for name, focus, seen in (("attention", True, True), ("attention", False, False),
                              ("markets", True, False)):  # fmt: skip
        it = console(front=Self(name_in_keys=name), app_focus=focus,
                     _program=Self(idle_time=Self()))  # fmt: skip
        state = replace(STATE, stars=frozenset())
        called(ConsoleApp._follow_present, it, state, NOW, 2)
        assert (("mark_seen",) in it._notifier.did) is seen
        assert it._notifier.did[-1] == ("ring", state, NOW)
        assert it.guide.did == [("follow", state)]
        assert it._program.idle_time.did == [("update", NOW, {"needed": True, "is_loaded": True})]
    calm = console(_program=Self(idle_time=Self()))
    called(ConsoleApp._follow_present, calm, replace(STATE, stars=frozenset({"x"})), NOW, 0)
    assert calm._program.idle_time.did == [("update", NOW, {"needed": False, "is_loaded": False})]


def conditions(monkeypatch: pytest.MonkeyPatch, **replay: Any) -> list[str]:
    lasting = {
        "live": (LastingCondition("loss", "halt", "x"), LastingCondition("warn", "old", "x")),
        "then": (LastingCondition("warn", "was old", "x"),),
    }

    def of(state: DeskState, now: Timestamp, *, started_at: Timestamp, closed: str) -> Any:
        which = "live" if state is STATE else "then"
        assert (now, started_at, closed) == ((NOW, NOW, "shut") if which == "live" else (9, 9, ""))
        return lasting[which]

    monkeypatch.setattr(app_module, "lasting_conditions", of)
    monkeypatch.setattr(
        app_module, "no_moment_condition", lambda why: LastingCondition("warn", f"none {why}", "")
    )
    monkeypatch.setattr(
        app_module, "replay_condition",
        lambda _, *, is_alone: LastingCondition("accent", f"replay {is_alone}", ""),
    )  # fmt: skip
    it = console(replay=Self(problem="damaged", **replay), _shut="shut")
    it.guide.conditions = lambda _: (LastingCondition("accent", "tour", ""),)
    if replay["moment"] is not None:
        it.desk_state = replace(STATE, stars=frozenset({"then"}))
    return [one.word for one in called(ConsoleApp._conditions, it)]


def test_lasting_conditions_are_those_of_what_is_shown_and_the_grave_ones_of_now(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    then = Self(at=Timestamp(9))
    assert conditions(monkeypatch, moment=None, is_alone=False) == ["halt", "old", "tour"]
    assert conditions(monkeypatch, moment=None, is_alone=True) == ["none damaged"]
    shown = conditions(monkeypatch, moment=then, is_alone=False)
    assert shown == ["replay False", "now halt", "was old"]
    assert conditions(monkeypatch, moment=then, is_alone=True) == ["replay True", "was old"]


def test_each_second_the_state_is_shown_by_the_clock_or_only_rung() -> None:
    kept: list[Any] = []
    for moment, shown in ((None, True), ("then", False)):
        it = console(replay=Self(moment=moment), is_idle=True,
                     housekeeping=lambda *, idle: kept.append(idle))  # fmt: skip
        laid = replace(STATE, stars=frozenset({"laid"}))
        it._sender.laid_over = lambda *given, laid=laid: laid if given == (STATE, NOW) else None
        called(ConsoleApp._tick, it)
        assert it._live is laid
        assert it.did == ([("show_state",)] if shown else [])
        assert it.desk_state is (laid if shown else STATE)
        assert it._notifier.did == ([] if shown else [("ring", laid, NOW)])
    assert kept == [True, True]
    bare = console(housekeeping=None)
    bare._sender.laid_over = lambda *_: STATE
    called(ConsoleApp._tick, bare)


@pytest.mark.parametrize(
    ("front", "moment", "shown_before", "toasts"),
    [("markets", None, False, 1), ("attention", None, False, 0), ("markets", "then", False, 0),
     ("markets", None, True, 0)],
)  # fmt: skip
def test_an_absence_is_told_once_where_its_summary_is_not_in_front(
    monkeypatch: pytest.MonkeyPatch, front: str, moment: Any, toasts: int, *, shown_before: bool
) -> None:
    monkeypatch.setattr(app_module, "absence_of", lambda _: Self(world_elapsed_s=7_260.0))
    it = console(front=Self(name_in_keys=front), replay=Self(moment=moment),
                 _absence_shown=shown_before)  # fmt: skip
    called(ConsoleApp._notify, it)
    assert it._notifier.prefix == ("" if moment is None else "now: ")
    assert it._notifier.did == [("notify", STATE, NOW)]
    words = (
        "2h 01m of world time passed while you were away; "
        f"{cap('app.attention')} shows a summary, {cap('app.timeline')} everything"
    )
    assert it.did == [("show_toast", words)] * toasts
    assert it._absence_shown is (shown_before or moment is None)


# -- commands up ----------------------------------------------------------------------------------


def giving(order: Any, refusal: str | None = None, why: str = "") -> tuple[Self, str]:
    it = console()
    it.replay.refusal = lambda _: refusal
    it._sender.give = lambda *given: it._sender.did.append(given) or why
    return it, called(ConsoleApp.give, it, order)


def test_a_command_goes_to_the_desk_as_it_is_now() -> None:
    star = SetStar("m", on=True)
    it, why = giving(star)
    assert (why, it.did, it._sender.did) == ("", [], [(star, STATE, NOW)])
    it, why = giving(star, why="too old")
    assert (why, it.did) == ("too old", [("show_toast", "too old", "warn")])


def test_what_the_replay_refuses_goes_nowhere() -> None:
    for refusal, did in (("", []), ("not now", [("show_toast", "not now", "warn")])):
        it, why = giving(SetStar("m", on=True), refusal=refusal)
        assert (why, it.did, it._sender.did) == (refusal, did, [])


@pytest.mark.parametrize("order", [SetPreference("a", "b"), Halt()])
def test_what_is_laid_over_the_state_is_shown_at_once(order: Any) -> None:
    it, _ = giving(order)
    assert it.did == [("take", STATE), ("_apply_theme_since", STATE)]
    assert it.replay.did == [("show_again",)]


def test_messages_go_to_whoever_carries_them_out() -> None:
    it = console()
    called(ConsoleApp._command_given, it, Self(command="an order"))
    called(ConsoleApp._confirmed, it, Self(what="Halt?"))
    called(ConsoleApp.action_refresh_now, it)
    called(ConsoleApp._charts_requested, it, Self(chart_name="equity"))
    assert it.did == [
        ("give", "an order"), ("give", NoteConfirmed("Halt?")), ("give", Refresh()),
        ("action_charts", "equity"),
    ]  # fmt: skip
    called(ConsoleApp._resume_requested, it)
    called(ConsoleApp.action_resume, it)
    assert it.halting.did == [("confirm_resume",), ("resume",)]
    called(ConsoleApp._approval_requested, it, "a trade")
    called(ConsoleApp.action_approvals, it)
    called(ConsoleApp.action_report, it)
    assert it.approving.did == [("open_requested", "a trade"), ("open",), ("report",)]
    called(ConsoleApp.action_replay, it)
    called(ConsoleApp.action_replay_step, it, "event", -1)
    called(ConsoleApp.action_replay_time, it)
    called(ConsoleApp._replay_requested, it, "a time")
    assert it.replay.did == [
        ("toggle",), ("step", "event", -1), ("type_time",), ("take_request", "a time"),
    ]  # fmt: skip
    called(ConsoleApp._tour_requested, it, "a tour")
    assert it.guide.did == [("begin_or_end", "a tour")]


@pytest.mark.parametrize(
    ("alone", "by_key", "halts", "toasts"),
    [(False, False, 1, 0), (False, True, 1, 0), (True, False, 0, 1), (True, True, 0, 0)],
)
def test_a_halt_without_a_desk_says_that_there_is_nothing_to_halt(
    halts: int, toasts: int, *, alone: bool, by_key: bool
) -> None:
    it = console(replay=Self(is_alone=alone))
    it.halting.take_key_halt = lambda: by_key
    called(ConsoleApp.action_halt, it)
    assert it.halting.did == [("halt",)] * halts
    assert [name for name, *_ in it.did] == ["show_toast"] * toasts


@pytest.mark.parametrize(
    ("theme", "names", "chosen"),
    [("night", ("night", "paper"), ["paper"]), ("paper", ("night", "paper"), ["night"]),
     ("other", ("night", "paper"), ["night"]), ("night", (), [])],
)  # fmt: skip
def test_the_next_theme_is_the_one_behind_and_then_the_first(
    theme: str, names: tuple[str, ...], chosen: list[str]
) -> None:
    it = console(theme=theme, theme_names=names)
    called(ConsoleApp.action_next_theme, it)
    assert it.did == [("give", SetPreference("theme", name)) for name in chosen]


def test_amounts_are_masked_and_shown_again() -> None:
    it = console()
    called(ConsoleApp.action_privacy, it)
    words = f"amounts masked; {cap('app.privacy')} shows them"
    assert it.did == [("give", SetPreference("privacy", "on")), ("show_toast", words)]
    private = replace(STATE, preferences={"privacy": "on"})
    it = console(private, desk_state=STATE)
    called(ConsoleApp.action_privacy, it)
    assert it.did == [("give", SetPreference("privacy", "off")), ("show_toast", "amounts shown")]
    recorded = console(private)
    called(ConsoleApp.action_privacy, recorded)
    words = "amounts were masked when this was recorded: they stay so here"
    assert recorded.did[1:] == [("show_toast", words, "warn")]


@pytest.mark.parametrize(
    ("speed", "last", "set_to", "kept"), [(10, 1, 0, 10), (0, 10, 10, 10), (0, 1, 1, 1)]
)
def test_the_world_pauses_and_goes_on_as_fast_as_before(
    speed: int, last: int, set_to: int, kept: int
) -> None:
    it = console(_last_speed=last)
    it._pace = lambda: speed
    called(ConsoleApp.action_pause_world, it)
    assert (it.did, it._last_speed) == ([("give", SetSpeed(set_to))], kept)
    it._pace = lambda: None
    it.did.clear()
    called(ConsoleApp.action_pause_world, it)
    called(ConsoleApp.action_speed, it, 1)
    assert it.did == []


@pytest.mark.parametrize(
    ("speed", "by", "set_to"),
    [(0, 1, 1), (1, 1, 10), (10, 1, 60), (60, 1, 60), (60, -1, 10), (1, -1, 0), (0, -1, 0),
     (7, 1, 10)],
)  # fmt: skip
def test_the_world_goes_faster_and_slower_by_its_steps(speed: int, by: int, set_to: int) -> None:
    it = console()
    it._pace = lambda: speed
    called(ConsoleApp.action_speed, it, by)
    assert it.did == [("give", SetSpeed(set_to))]


def test_the_pace_is_that_of_a_world_that_may_be_set() -> None:
    world = sample_state(6).world
    assert world is not None
    it = console(replace(STATE, world=replace(world, speed=10)))
    it._no_pace = lambda: ""
    it._sender.pace = lambda speed, now: (speed, now)
    assert called(ConsoleApp._pace, it) == (10, NOW)
    it._no_pace = lambda: "not now"
    assert called(ConsoleApp._pace, it) is None
    without = console()
    without._no_pace = lambda: ""
    assert called(ConsoleApp._pace, without) is None
    assert (it.did[0][1:], without.did[0][0]) == (("not now", "warn"), "show_toast")
    drill = DrillView("a", "A", "b", 5)
    in_drill = called(ConsoleApp._no_pace, console(replace(STATE, drill=drill)))
    elsewhere = replace(STATE, service=replace(STATE.service, embedded=False))
    assert in_drill != called(ConsoleApp._no_pace, console(elsewhere)) != ""
    assert called(ConsoleApp._no_pace, console()) == ""


def test_the_first_page_is_remembered_once() -> None:
    it = console()
    called(ConsoleApp._welcomed, it, None)
    assert it.did == [("give", SetPreference("welcome", "seen"))]
    it = console(replace(STATE, preferences={"welcome": "seen"}))
    called(ConsoleApp._welcomed, it, None)
    assert it.did == []


@pytest.mark.parametrize(
    ("where", "name", "chart"),
    [
        (("research", "m"), "", ChartName.SWEEP),
        (("agents", ""), "", ChartName.SKILLS),
        (("markets", "m-00001"), "", ChartName.PRICE),
        (("settings", ""), "", ChartName.EQUITY),
        (("research", "m"), "equity", ChartName.EQUITY),
    ],
)
def test_the_first_chart_fits_the_screen_in_front(
    monkeypatch: pytest.MonkeyPatch, where: tuple[str, str], name: str, chart: ChartName
) -> None:
    (front, row), opened = where, list[Any]()

    class Dialog:
        def __init__(self, *given: object) -> None:
            opened.append(given)

    monkeypatch.setattr("service_tui.console.forms.chart.ChartDialog", Dialog)
    it = console(front=Self(name_in_keys=front, current_market=lambda: row))
    called(ConsoleApp.action_charts, it, name)
    assert opened == [(STATE, NOW, row, chart)]
    it.screen_stack.append(Dialog())
    called(ConsoleApp.action_charts, it, name)
    assert [step for step, *_ in it.did] == ["push_screen"]


# -- leaving --------------------------------------------------------------------------------------


async def test_backing_out_leaves_one_level_and_then_the_program() -> None:
    for steps, quits in ((True, 0), (False, 1)):
        it, left = console(front=Self(step_out=lambda steps=steps: steps)), list[str]()

        async def leave(left: list[str] = left) -> None:
            left.append("quit")

        it.action_quit = leave
        await called(ConsoleApp.action_back_out, it)
        assert len(left) == quits


async def test_leaving_asks_for_orders_on_their_way_and_skills_that_would_stop() -> None:
    tickets = tuple(
        replace(sample_state(6).tickets[0], ticket_id=state.value, what=state.value, state=state)
        for state in TicketState
    )
    runs = tuple(
        run_of(state.value, skill_slug=state.value, state=state) for state in SkillRunState
    )
    alive = [one.value for one in SkillRunState if one.is_alive]
    view = replace(STATE.supervision, runs=runs)
    it = console(replace(STATE, tickets=tickets, supervision=view))
    await called(ConsoleApp.action_quit, it)
    ((name, waiting, running),) = it.did
    assert name == "_confirm_leaving"
    assert waiting == [TicketState.QUEUED.value, TicketState.SENT.value]
    assert running == [one for one in alive if one != SkillRunState.DETACHED.value]
    for state in (replace(STATE, tickets=tickets), replace(STATE, supervision=view)):
        one_kind = console(state)
        await called(ConsoleApp.action_quit, one_kind)
        assert [step[0] for step in one_kind.did] == ["_confirm_leaving"]
    calm = console(replace(STATE, tickets=tickets[2:], supervision=replace(view, runs=())))
    calm._live = replace(STATE, supervision=replace(view, runs=()))
    await called(ConsoleApp.action_quit, calm)
    assert calm.did == [("exit", 0)]


@pytest.mark.parametrize(
    ("waiting", "running", "parts"),
    [
        (["buy YES for 5.00"], [], ["Pending:\n  buy YES for 5.00\n\nThe desk waits two seconds"]),
        ([], ["ebb", "tide"], ["These skills stop:\n  ebb\n  tide\n\n"]),
        (["a"], ["ebb"], ["Pending:\n  a", "These skills stop:\n  ebb"]),
    ],
)
def test_the_question_before_leaving_lists_what_would_be_left(
    waiting: list[str], running: list[str], parts: list[str]
) -> None:
    it = console()
    called(ConsoleApp._confirm_leaving, it, waiting, running)
    ((name, dialog, answer),) = it.did
    assert (name, callable(answer)) == ("push_screen", True)
    assert isinstance(dialog, Confirm)
    text = dialog._question.body.plain
    assert all(part in text for part in parts)
    assert ("Pending" in text, "skills stop" in text) == (bool(waiting), bool(running))
    it.screen_stack.append(dialog)
    called(ConsoleApp._confirm_leaving, it, waiting, running)
    assert len(it.did) == 1
    private = console(replace(STATE, preferences={"privacy": "on"}))
    called(ConsoleApp._confirm_leaving, private, ["buy YES for 5.00"], [])
    assert "5.00" not in private.did[0][1]._question.body.plain
    assert with_keys(app_module._KEEP_RUNNING) in text or not running


def test_who_stays_begins_no_drill() -> None:
    for confirmed, did, name in ((True, [("exit", 0)], "calm"), (False, [], ""), (None, [], "")):
        it = console(drill=Self(next_name="calm"))
        called(ConsoleApp._leave_if, it, confirmed)
        assert (it.did, it.drill.next_name) == (did, name)


def test_a_desk_that_closed_says_why_and_takes_no_more() -> None:
    it = console()
    called(ConsoleApp._desk_closed, it, "disk full")
    assert (it._shut, it._sender.did, it.did) == (
        "disk full", [("close", "disk full")], [("show_state",)],
    )  # fmt: skip


# -- the desk: opened, followed, recovered --------------------------------------------------------


class Desk:
    """A desk whose states and end a test gives."""

    def __init__(self, *states: DeskState, fails: DeskClosedError | None = None) -> None:
        self.states, self.fails = states, fails

    async def changes(self) -> AsyncIterator[DeskState]:
        for state in self.states:
            yield state
        if self.fails is not None:
            raise self.fails


def following(desk: Desk | DeskClosedError, fails: Exception | None = None) -> Self:
    """A console that opens this desk, or fails to."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Desk]:
        if not isinstance(desk, Desk):
            raise desk
        yield desk

    it = console(_open_desk=opened, _desk_gone=asyncio.Event(), quotes=Self())

    async def states(given: Desk) -> None:
        it.did.append(("_follow_states", given))
        assert not it._desk_gone.is_set()
        if fails is not None:
            raise fails

    def run_worker(work: Any, **more: Any) -> Self:
        work.close()
        it.did.append(("run_worker", more))
        return it.quotes

    async def quotes(given: Desk) -> None:
        del given

    def closed(why: str) -> None:
        it._shut = why
        it.did.append(("_desk_closed", why))

    it._follow_states, it._follow_quotes = states, quotes
    it.run_worker, it._desk_closed = run_worker, closed
    it._desk_gone.set()
    return it


async def test_a_desk_is_followed_until_it_ends_and_is_closed_for_all_then() -> None:
    desk = Desk()
    it = following(desk)
    await called(ConsoleApp._follow, it)
    assert it._sender.did == [("open", desk), ("close", "desk ended: restart the program")]
    assert it.did == [
        ("run_worker", {"name": "quotes", "group": "quotes"}), ("_follow_states", desk),
        ("_desk_closed", "desk ended: restart the program"),
    ]  # fmt: skip
    assert it.quotes.did == [("cancel",)]
    assert it._desk_gone.is_set()


async def test_a_desk_that_fails_on_its_way_leaves_no_quotes_behind() -> None:
    it = following(Desk(), fails=RuntimeError("a fault"))
    with pytest.raises(RuntimeError):
        await called(ConsoleApp._follow, it)
    assert it.quotes.did == [("cancel",)]
    # Nothing said why it is shut: the sender gets a reason all the same.
    assert it._sender.did[1:] == [("close", "desk closing")]
    assert it._desk_gone.is_set()


@pytest.mark.parametrize("has_choices", [True, False])
async def test_a_desk_that_cannot_be_opened_says_why_and_offers_its_ways(
    *, has_choices: bool
) -> None:
    option = RecoveryOption("restore", "the last copy", lambda: ())
    closed = DeskClosedError("disk full", "make room", choices=(option,) if has_choices else ())
    it = following(closed)
    await called(ConsoleApp._follow, it)
    assert it.did == [
        ("_desk_closed", str(closed)), *([("_offer_recovery", closed)] if has_choices else []),
    ]  # fmt: skip
    assert it._sender.did == [("close", str(closed))]
    assert it._desk_gone.is_set()


@pytest.mark.parametrize(("is_idle", "pace"), [(True, REPAINT_S), (False, TYPED_S)])
async def test_each_state_is_shown_and_then_nothing_for_a_moment(
    monkeypatch: pytest.MonkeyPatch, pace: float, *, is_idle: bool
) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    newer = replace(STATE, stars=frozenset({"newer"}))
    it = console(is_idle=is_idle)
    monkeypatch.setattr(app_module.asyncio, "sleep", sleep)
    await called(ConsoleApp._follow_states, it, Desk(STATE, newer))
    assert it.did == [("take", STATE), ("take", newer)]
    assert slept[::2] == [pace, pace]
    assert REPAINT_S < TYPED_S


async def test_only_another_quote_is_shown_at_once_and_the_end_of_the_desk_is_no_fault() -> None:
    quote = QuoteView(7, ok=True)
    other = replace(STATE, stars=frozenset({"newer"}))
    it = console()
    it.take_quote = lambda given: it.did.append(("take_quote", given))
    desk = Desk(STATE, other, replace(other, quote=quote), fails=DeskClosedError("gone", ""))
    await called(ConsoleApp._follow_quotes, it, desk)
    assert it.did == [("take_quote", quote)]


def test_a_way_to_recover_is_run_once_it_is_chosen() -> None:
    option = RecoveryOption("restore", "the last copy", lambda: ())
    closed = DeskClosedError("disk full", "make room", choices=(option,))
    it = console(_recover=lambda chosen: ("recovery", chosen))
    called(ConsoleApp._offer_recovery, it, closed)
    ((name, dialog, recover),) = it.did
    assert (name, dialog._why, dialog._options) == ("push_screen", closed.sentence, (option,))
    it.did.clear()
    recover(None)
    assert it.did == []
    recover(option)
    more = {"name": "desk", "group": "desk", "exclusive": True}
    assert it.did == [("run_worker", ("recovery", option), more)]


@pytest.mark.parametrize("fails", [True, False])
async def test_a_recovery_that_worked_says_what_it_did_and_opens_the_desk(
    monkeypatch: pytest.MonkeyPatch, *, fails: bool
) -> None:
    closed = DeskClosedError("still full", "make room")

    def act() -> tuple[str, ...]:
        if fails:
            raise closed
        return "restored", "2 orders looked up"

    async def here(run: Any) -> Any:
        return run()

    monkeypatch.setattr(app_module.asyncio, "to_thread", here)
    it = console()

    async def follow() -> None:
        it.did.append(("_follow",))

    it._follow = follow
    await called(ConsoleApp._recover, it, RecoveryOption("restore", "", act))
    worked = [
        ("show_toast", "restored; 2 orders looked up"), ("_desk_closed", ""), ("_follow",),
    ]  # fmt: skip
    assert it.did == [
        ("_desk_closed", "desk opening"),
        *([("_desk_closed", str(closed))] if fails else worked),
    ]


async def test_the_end_waits_for_the_desk_within_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_module, "CLOSE_S", 0.0)
    late = console(_desk_gone=asyncio.Event(), log=Self())
    await called(ConsoleApp._let_the_desk_close, late)
    assert [name for name, *_ in late.log.did] == ["warning"]
    gone = console(_desk_gone=asyncio.Event(), log=Self())
    gone._desk_gone.set()
    monkeypatch.setattr(app_module, "CLOSE_S", 5.0)
    await called(ConsoleApp._let_the_desk_close, gone)
    assert gone.log.did == []


def test_the_first_paint_has_the_persons_keys_and_theme_and_then_opens_the_desk() -> None:
    it = console(
        replace(STATE, preferences={"theme": "paper"}),
        _own_keys=Self(moved={"app.theme": ("f7", "f6")}, problems=()),
        _tick="the tick", _begin="the beginning",
    )  # fmt: skip
    called(ConsoleApp._paint, it)
    assert it.did == [
        ("set_keymap", {"app.theme": "f7,f6"}), ("apply_theme", "paper"), ("show_state",),
        ("set_interval", app_module.TICK_S, "the tick"),
        ("call_after_refresh", "the beginning"),
    ]  # fmt: skip
    assert it.front.did == [("focus_row", None)]


# -- what a dialog and a key get -------------------------------------------------------------------


class TakingDialog:
    """A dialog that follows the state."""

    def __init__(self) -> None:
        self.took: list[tuple[DeskState, Timestamp]] = []

    def take(self, state: DeskState, now: Timestamp) -> None:
        self.took.append((state, now))


def test_every_open_dialog_that_follows_the_state_gets_it_and_no_other_is_asked() -> None:
    below, first, second = TakingDialog(), TakingDialog(), TakingDialog()
    it = console(screen_stack=[below, first, object(), second])
    called(ConsoleApp._show_in_dialogs, it, STATE, NOW)
    assert [one.took for one in (below, first, second)] == [[], [(STATE, NOW)], [(STATE, NOW)]]


async def test_a_request_for_a_drill_is_carried_out() -> None:
    taken: list[str] = []

    async def take_request(message: str) -> None:
        taken.append(message)

    await called(
        ConsoleApp._drill_requested, console(drill=Self(take_request=take_request)), "a drill"
    )
    assert taken == ["a drill"]


@pytest.mark.parametrize(("shared", "opened"), [(True, 1), (False, 0)])
def test_the_team_is_shown_once_and_only_of_a_shared_desk(opened: int, *, shared: bool) -> None:
    state = replace(STATE, service=replace(STATE.service, shared=shared))
    it = console(state)
    called(ConsoleApp.action_team, it)
    name = "push_screen" if shared else "show_toast"
    assert [step[0] for step in it.did] == [name]
    it.screen_stack.append(it.did[0][1])
    called(ConsoleApp.action_team, it)
    assert sum(step[0] == "push_screen" for step in it.did) == opened


def test_the_wallet_opens_once() -> None:
    it = console()
    called(ConsoleApp.action_wallet, it)
    ((name, panel),) = it.did
    assert (name, type(panel).__name__) == ("push_screen", "WalletPanel")
    assert (panel.state, panel.now) == (STATE, NOW)
    it.screen_stack.append(panel)
    called(ConsoleApp.action_wallet, it)
    assert len(it.did) == 1


def test_a_newer_state_is_shown_in_the_bars_in_front_and_in_the_dialogs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(app_module, "needs", lambda *_: ["a need"] * 2)
    for moment in (None, "then"):
        bars = {app_module.TopBar: Self(), app_module.KeyBar: Self()}
        it = console(
            replay=Self(moment=moment), _shown_time=lambda: Timestamp(NOW + 5),
            screen_stack=[Self(query_one=bars.__getitem__)],
        )  # fmt: skip
        called(ConsoleApp.show_state, it)
        then = Timestamp(NOW + 5)
        assert it.now == then
        assert bars[app_module.TopBar].did == [("take", STATE, then, 3)]
        assert bars[app_module.KeyBar].did == [("show", it.front, 2)]
        assert it.front.did == [("take", STATE, then)]
        follows = [("_follow_present", STATE, then, 2)] if moment is None else []
        assert it.did == [*follows, ("_show_conditions",), ("_show_in_dialogs", STATE, then)]
        assert it.guide.did == [("lead",)]
    ending = console(is_running=False)
    called(ConsoleApp.show_state, ending)
    assert (ending.did, ending.front.did) == ([], [])


def bare(monkeypatch: pytest.MonkeyPatch, state: DeskState = STATE, **given: Any) -> Any:
    """A console without its start, for a method that asks its base as well."""
    front = Self(name_in_keys="portfolio", disabled_reason=lambda key: f"no {key.ident}")
    monkeypatch.setattr(ConsoleApp, "front", front)
    it = ConsoleApp.__new__(ConsoleApp)
    it.__dict__.update({"desk_state": state, "_trail": Self(last=None), "did": [], **given})
    it.__dict__["show_toast"] = lambda *said: it.did.append(("show_toast", *said))
    return it


def test_a_key_is_off_by_the_desk_its_screen_or_the_lack_of_what_it_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        app_module, "barred_reason", lambda _, ident: "barred" if ident == "app.halt" else ""
    )
    shared = replace(STATE, service=replace(STATE.service, shared=True, embedded=False))
    alone = replace(STATE, service=replace(STATE.service, shared=False, embedded=True))
    for state, name, why in (
        (alone, "app.halt", "barred"), (alone, "app.team", app_module.NO_TEAM),
        (shared, "app.team", ""), (alone, "app.theme", ""), (shared, "app.theme", ""),
        (alone, "rows.filter", "no rows.filter"), (alone, "app.back", "no previous view"),
        (shared, "app.pause", app_module._NEEDS_A_WORLD), (alone, "app.pause", ""),
        (shared, "app.faster", app_module._NEEDS_A_WORLD),
    ):  # fmt: skip
        assert bare(monkeypatch, state).disabled_reason(key_named(name)) == why, (name, why)
    monkeypatch.setattr(app_module, "barred_reason", lambda *_: "barred")
    assert bare(monkeypatch, alone).disabled_reason(key_named("app.team")) == "barred"


async def test_an_action_that_the_desk_bars_is_not_done_and_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran: list[Any] = []

    async def run_action(_: Any, *given: Any) -> bool:
        ran.append(given)
        return True

    monkeypatch.setattr(Views, "run_action", run_action, raising=False)
    monkeypatch.setattr(
        app_module, "barred_reason", lambda _, ident: "barred" if ident == "app.privacy" else ""
    )
    it = bare(monkeypatch)
    assert await it.run_action(key_named("app.privacy").action)
    assert (ran, it.did) == ([], [("show_toast", "barred", "warn")])
    free = [key_named("app.theme").action, "of no key", ("app", "privacy", ())]
    for action in free:
        assert await it.run_action(action, "where", "names")
    assert ran == [(action, "where", "names") for action in free]
    assert len(it.did) == 1


def test_a_message_is_looked_at_for_a_halt_before_it_waits_for_its_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps: list[Any] = []
    monkeypatch.setattr(
        Views, "post_message", lambda _, message: steps.append(("queued", message)) or True,
        raising=False,
    )  # fmt: skip
    halting = Self(at_once=lambda message: steps.append(("halting", message)))
    assert bare(monkeypatch, halting=halting).post_message("a key")
    assert steps == [("halting", "a key"), ("queued", "a key")]


def test_the_first_page_is_that_of_the_service() -> None:
    for embedded in (True, False):
        it = console(replace(STATE, service=replace(STATE.service, embedded=embedded)))
        it._welcomed = "then"
        called(ConsoleApp.action_welcome, it)
        ((name, page, then),) = it.did
        assert (name, page._is_embedded, then) == ("push_screen", embedded, "then")
