"""The console's app: states and repaints, screens, signals, and its exit."""

import asyncio
import logging
import os
import signal
from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.text import Text
from textual.command import CommandPalette
from textual.events import AppBlur, AppFocus
from textual.widgets import Input

from kit.console.doors import RecordingDoors, Running, running, seen_before
from kit.console.textual_private import failed, hit_count, prepare, toasts
from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import run_of
from kit.service.stage import ANSWER_S
from service_tui.console import app as console_app
from service_tui.console.app import (
    BREATH_MAX_S,
    REPAINT_S,
    FirstPage,
    breath,
    first_page,
    first_screen,
    key_problem_text,
    leaving_text,
    next_theme,
    speed_beside,
    unfinished,
    unsaved_halt,
    why_no_pace,
)
from service_tui.console.closed_desk import DeskClosedError, RecoveryOption
from service_tui.console.forms.chart import ChartDialog
from service_tui.console.forms.confirm import Confirm, Question
from service_tui.console.forms.recovery import RecoveryDialog
from service_tui.console.forms.report import Report
from service_tui.console.forms.team import TeamPage
from service_tui.console.forms.trade_form import TradeForm
from service_tui.console.forms.welcome import Welcome
from service_tui.console.messages import CommandGiven, Copied, GoTo, ToastMessage
from service_tui.console.parts.view_memory import LAST_SCREEN
from service_tui.console.screens.wallet.panel import WalletPanel
from service_tui.console.shell.command_sender import CommandSender
from service_tui.console.shell.palette import MarketsProvider
from service_tui.console.widgets import dialog as dialogs
from service_tui.console.widgets.dialog import EARLY
from service_tui.console.widgets.numbered_view import NumberedView
from service_tui.desk.command import Command
from service_tui.desk.commands.settings import Refresh, SetPreference, SetSpeed
from service_tui.desk.commands.trading import PlaceTrade, RequestQuote
from service_tui.desk.slices.drill import DrillView
from service_tui.desk.slices.halt import AckState, AckView, HaltView
from service_tui.desk.slices.notices import Notice, NoticeKind
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.supervision import SkillRunState
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.world import AbsenceView
from service_tui.desk.state import DeskState
from service_tui.terms import Action, Side, Venue
from service_tui.units import Micros, Timestamp

STATE = seen_before(sample_state())
COMMANDS = replace(STATE, trades=())
"""With no fill but those of its commands, so that the blotter has a row for each of them alone."""
MARKET = next(iter(STATE.markets))
BUY = PlaceTrade(MARKET, Side.YES, Action.BUY, Venue.SIM, amount=Micros(25_000_000))


def cached(state: DeskState = STATE) -> DeskState:
    """The same as a cold start has it."""
    return replace(
        state,
        from_cache=True,
        seen={},
        service=replace(state.service, phase=Phase.CONNECTING, last_ok_at=None),
    )


def with_notices(*texts: str, first: int = 1) -> DeskState:
    made = tuple(Notice(first + place, "info", text) for place, text in enumerate(texts))
    return replace(STATE, notices=made)


def front(seen: Running) -> str:
    return seen.app.front.name_in_keys


# -- state down ---------------------------------------------------------------------------------


def test_a_console_that_is_late_shows_new_states_less_often_within_a_bound() -> None:
    assert breath(-0.001) == 0.0
    assert breath(0.05) == pytest.approx(0.15)
    assert breath(60.0) == BREATH_MAX_S
    assert breath(60.0) + REPAINT_S < 1.0


@pytest.mark.parametrize(
    ("kept", "held", "name"),
    [("agents", True, "agents"), ("", True, "portfolio"), ("", False, "markets"),
     ("of tomorrow", True, "portfolio")],
)  # fmt: skip
def test_the_first_screen_is_that_of_the_last_end(kept: str, name: str, *, held: bool) -> None:
    positions = STATE.positions if held else ()
    preferences = {LAST_SCREEN: kept} if kept else {}
    assert first_screen(replace(STATE, preferences=preferences, positions=positions)) == name


@pytest.mark.parametrize(
    ("has_desk", "has_tour", "preferences", "page"),
    [
        (False, True, {}, FirstPage.REPLAY),
        (True, True, {}, FirstPage.TOUR),
        (True, False, {}, FirstPage.WELCOME),
        (True, False, {"welcome": "seen"}, FirstPage.NONE),
    ],
)
def test_a_console_begins_with_the_replay_the_tour_or_its_first_page(
    preferences: dict[str, str], page: FirstPage, *, has_desk: bool, has_tour: bool
) -> None:
    state = replace(STATE, preferences=preferences)
    assert first_page(state, has_desk=has_desk, has_tour=has_tour) is page


@pytest.mark.parametrize(
    ("problems", "text"),
    [
        ((), ""),
        (("a",), "default keys in use: a"),
        (("a", "b", "c"), "default keys in use: a (2 more: 'service-tui doctor')"),
    ],
)
def test_own_keys_that_are_not_in_use_are_named(problems: tuple[str, ...], text: str) -> None:
    assert key_problem_text(problems) == text


@pytest.mark.slow
async def test_what_was_known_is_painted_before_the_desk_is_open() -> None:
    async with running(
        STATE, initial=cached(), prepare=lambda doors: doors.may_open.clear(), waits=False
    ) as seen:
        assert not seen.doors.is_open
        assert "CACHED" in seen.text
        assert "showing data from" in seen.text
        seen.doors.may_open.set()
        await seen.until(lambda: seen.doors.is_open)
        await seen.until(lambda: "CACHED" not in seen.text)


@pytest.mark.slow
async def test_the_latest_of_a_burst_is_shown_and_repainted_few_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(STATE) as seen:
        shown: list[DeskState] = []
        take = seen.app.front.take

        def count(state: DeskState, now: Timestamp) -> None:
            shown.append(state)
            take(state, now)

        monkeypatch.setattr(seen.app.front, "take", count)
        last = STATE
        for cash in range(200):
            last = replace(STATE, account=replace(STATE.account, cash=Micros(cash)))
            seen.doors.bring(last)
            await asyncio.sleep(0)
        await seen.until(lambda: seen.app.desk_state is last)
        assert len(shown) < 20


@pytest.mark.slow
async def test_a_quote_is_shown_while_other_states_wait_for_their_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(STATE) as seen:
        monkeypatch.setattr(console_app, "REPAINT_S", 3_600.0)
        monkeypatch.setattr(console_app, "TYPED_S", 3_600.0)
        await seen.press("2", "b")
        await seen.until(lambda: isinstance(seen.app.screen, TradeForm))
        await seen.press("2", "5")
        await seen.until(lambda: RequestQuote in map(type, seen.doors.submitted))
        await seen.bring(replace(STATE, stars=frozenset({MARKET})))
        (*_, asked) = (one for one in seen.doors.submitted if isinstance(one, RequestQuote))
        quote = QuoteView(asked.request_id, ok=True, shares=Micros(51_230_000))
        seen.doors.bring(replace(STATE, quote=quote, stars=frozenset()))
        await seen.until(lambda: "51.23" in seen.text)
        assert seen.app.desk_state.stars == {MARKET}


@pytest.mark.slow
async def test_another_answer_without_news_waits_for_the_next_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(STATE) as seen:
        shown: list[Timestamp] = []
        monkeypatch.setattr(seen.app, "_tick", lambda: None)
        monkeypatch.setattr(seen.app.front, "take", lambda _, now: shown.append(now))
        later = Timestamp(NOW + 5)
        answered = replace(STATE.service, last_ok_at=later, latency_s=0.25, skew_s=0.5)
        fresher = replace(STATE, seen={**STATE.seen, Topic.FLEET: later}, service=answered)
        seen.app.take(fresher)
        assert seen.app.desk_state is fresher
        assert shown == []
        seen.app.take(replace(fresher, service=replace(answered, phase=Phase.OFFLINE)))
        assert len(shown) == 1


@pytest.mark.slow
async def test_a_hidden_screen_is_shown_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(STATE) as seen:
        hidden = seen.app.front
        await seen.press("8")
        monkeypatch.setattr(hidden, "take", lambda *_: pytest.fail("it is hidden"))
        await seen.bring(replace(STATE, tickets=()))
        assert front(seen) == "settings"


@pytest.mark.slow
async def test_notices_that_the_cache_held_are_not_told_again() -> None:
    state = with_notices("old news")
    async with running(state) as seen:
        assert seen.toasts == []


@pytest.mark.slow
async def test_an_event_counts_as_new_until_a_screen_that_shows_it_is_in_front() -> None:
    event = Notice(1, "warn", "a stop", NoticeKind.ALERT, about="al-1")
    told = replace(STATE, notices=(event,))
    async with running(STATE, first="attention", size=(160, 30)) as seen:
        seen.app.post_message(AppBlur())
        await seen.bring(told)
        await seen.bring(replace(told, orders=()))
        assert " 1 notice " in seen.text, "nobody looks at this window"
        seen.app.post_message(AppFocus())
        await seen.press("2", "0")
        assert " 1 notice " not in seen.text


@pytest.mark.slow
async def test_an_absence_is_told_once() -> None:
    gone = AbsenceView(Timestamp(NOW - 7_200), NOW, 7_200.0, 2, 3, (), (), Micros(1), Micros(2))
    state = replace(STATE, world=replace(STATE.world, meanwhile=gone))
    async with running(state, first="settings", initial=STATE) as seen:
        await seen.until(lambda: bool(seen.toasts))
        assert seen.toasts == [
            "2h 00m of world time passed while you were away; 0 shows a summary, ' everything"
        ]
        await seen.bring(replace(state, tickets=()))
        assert len(seen.toasts) == 1
    # The screen in front shows it already.
    async with running(state, first="attention", initial=STATE) as seen:
        await seen.press("8")
        assert seen.toasts == []


@pytest.mark.slow
async def test_a_desk_that_stays_shut_leaves_what_was_known_to_read() -> None:
    def refuse(doors: RecordingDoors) -> None:
        doors.refuses = DeskClosedError("the data directory is in use by process 7", "close it")

    async with running(STATE, initial=cached(), prepare=refuse, waits=False) as seen:
        await seen.until(lambda: "DESK CLOSED" in seen.text)
        assert "in use by process 7; close it" in seen.text
        await seen.press("8")
        seen.app.post_message(CommandGiven(BUY))
        await seen.until(lambda: bool(seen.toasts))
        assert "in use by process 7" in seen.toasts[0]
        await seen.press("q")
        assert seen.app.return_code == 0


@pytest.mark.slow
async def test_a_desk_that_cannot_be_opened_as_it_is_asks_how_it_goes_on() -> None:
    acted: list[str] = []
    ways = tuple(
        RecoveryOption(
            label, f"as it was, {label}", lambda label=label: (acted.append(label) or label,)
        )
        for label in ("restore", "begin anew")
    )

    def refuse(doors: RecordingDoors) -> None:
        doors.refuses = DeskClosedError("the database is damaged", "choose", ways)

    async with running(STATE, initial=cached(), prepare=refuse, waits=False) as seen:
        await seen.until(
            lambda: isinstance(seen.app.screen, RecoveryDialog) and seen.app.screen.is_armed
        )
        assert "the database is damaged" in seen.text
        assert "as it was, begin anew" in seen.text
        # Left, it stays closed and nothing is done; what is no way is none.
        await seen.press("9")
        assert isinstance(seen.app.screen, RecoveryDialog)
        await seen.press("escape")
        await seen.until(lambda: "DESK CLOSED" in seen.text)
        assert not acted
    async with running(STATE, initial=cached(), prepare=refuse, waits=False) as seen:
        await seen.until(
            lambda: isinstance(seen.app.screen, RecoveryDialog) and seen.app.screen.is_armed
        )
        seen.doors.refuses = None
        await seen.press("2")
        await seen.until(lambda: seen.doors.is_open and "DESK CLOSED" not in seen.text)
        assert acted == ["begin anew"]


@pytest.mark.slow
async def test_a_way_that_cannot_be_gone_says_why() -> None:
    def fails() -> tuple[str, ...]:
        raise DeskClosedError("the copy is gone", "start again")

    def refuse(doors: RecordingDoors) -> None:
        ways = (RecoveryOption("restore", "a copy", fails),)
        doors.refuses = DeskClosedError("the database is damaged", "choose", ways)

    async with running(STATE, initial=cached(), prepare=refuse, waits=False) as seen:
        await seen.until(
            lambda: isinstance(seen.app.screen, RecoveryDialog) and seen.app.screen.is_armed
        )
        await seen.press("1")
        await seen.until(lambda: "the copy is gone; start again" in seen.text)


@pytest.mark.slow
async def test_a_desk_that_ends_by_itself_says_so() -> None:
    async with running(STATE) as seen:
        seen.doors.fail(DeskClosedError("the database was moved away", "put it back"))
        await seen.until(lambda: "DESK CLOSED" in seen.text)
        assert seen.doors.was_closed


@pytest.mark.slow
async def test_the_end_of_the_console_closes_the_desk() -> None:
    async with running(STATE) as seen:
        await seen.press("ctrl+q")
    assert seen.doors.was_closed
    assert seen.app.return_code == 0


@pytest.mark.slow
async def test_a_fault_of_the_desk_ends_the_console_with_70_and_without_values(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = "sk_live_" + "CANARY" * 4
    with pytest.raises(Exception, match="CANARY"):  # noqa: PT012 - it comes when the pilot ends
        async with running(STATE) as seen:
            seen.doors.fail(ValueError(secret))
            await asyncio.wait_for(failed(seen.app), ANSWER_S)
    assert seen.app.return_code == 70
    told = capfd.readouterr()
    assert "ValueError" in told.err
    assert "doors.py" in told.err
    assert "/tmp/service-tui/log" in told.err  # noqa: S108 - only shown
    for text in (told.err, told.out, caplog.text):
        assert secret not in text
    assert "ValueError" in caplog.text


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_signals_end_the_console_decently(number: signal.Signals) -> None:
    # A run below `nohup` ignores one of them.
    before = signal.getsignal(number)
    async with running(STATE) as seen:
        os.kill(os.getpid(), number)
        await seen.until(lambda: seen.app.return_code == 0)
    assert seen.doors.was_closed
    assert signal.getsignal(number) is before


# -- commands up --------------------------------------------------------------------------------


@pytest.mark.slow
async def test_commands_go_to_the_desk() -> None:
    async with running(STATE) as seen:
        seen.app.front.give(BUY)
        await seen.press("r")
        assert seen.doors.submitted == [BUY, Refresh()]


@pytest.mark.slow
async def test_a_trade_on_stale_prices_is_refused_in_plain_words() -> None:
    async with running(STATE) as seen:
        seen.clock[0] += 10.5
        seen.app.show_state()
        seen.app.front.give(BUY)
        await seen.until(lambda: bool(seen.toasts))
        assert seen.doors.submitted == []
        assert "not sent" in seen.toasts[0]
        assert "too old to trade" in seen.toasts[0]


@pytest.mark.slow
async def test_the_world_is_paused_and_sped_up_by_keys() -> None:
    async with running(STATE) as seen:
        await seen.press("p", "greater_than_sign", "less_than_sign")
        assert seen.doors.submitted == [SetSpeed(0), SetSpeed(1), SetSpeed(0)]
        await seen.bring(replace(STATE, world=replace(STATE.world, speed=60)))
        await seen.press("greater_than_sign", "p")
        assert seen.doors.submitted[3:] == [SetSpeed(60), SetSpeed(0)]
        await seen.bring(replace(STATE, world=replace(STATE.world, speed=0)))
        await seen.press("p")
        assert seen.doors.submitted[-1] == SetSpeed(60)


@pytest.mark.parametrize(
    ("speed", "slower", "faster"),
    [(0, 0, 1), (1, 0, 10), (10, 1, 60), (60, 10, 60), (7, 0, 10)],
)
def test_the_world_goes_faster_and_slower_by_its_steps(
    speed: int, slower: int, faster: int
) -> None:
    invented = (0, 1, 10, 60)
    assert speed_beside(speed, -1, invented) == slower
    assert speed_beside(speed, 1, invented) == faster


def test_a_drill_and_a_real_service_keep_their_own_pace() -> None:
    elsewhere = replace(STATE, service=replace(STATE.service, embedded=False))
    assert why_no_pace(STATE) == ""
    assert why_no_pace(elsewhere) == "only the offline world can be paused or sped up"
    in_drill = replace(elsewhere, drill=DrillView("a", "A", "b", 5))
    assert why_no_pace(in_drill) == "a drill keeps its own pace"


@pytest.mark.parametrize(
    ("worn", "names", "chosen"),
    [
        ("night", ("night", "paper"), "paper"),
        ("paper", ("night", "paper"), "night"),
        ("other", ("night", "paper"), "night"),
        ("night", (), ""),
    ],
)
def test_the_next_theme_is_the_one_behind_and_then_the_first(
    worn: str, names: tuple[str, ...], chosen: str
) -> None:
    assert next_theme(worn, names) == chosen


@pytest.mark.slow
async def test_keys_open_each_page_once_and_answer_for_what_they_changed() -> None:
    shared = replace(STATE, service=replace(STATE.service, shared=True))
    async with running(shared) as seen:
        for key, page in (
            ("W", WalletPanel),
            ("ctrl+t", TeamPage),
            ("f5", Report),
            ("f4", ChartDialog),
        ):
            await seen.press(key)
            assert isinstance(seen.app.screen, page), key
            await seen.press(key)
            assert len(seen.app.screen_stack) <= 2, key
            if len(seen.app.screen_stack) == 2:
                await seen.press("escape")
        for said in ("amounts masked; z shows them", "amounts shown"):
            await seen.press("z")
            assert seen.toasts[-1] == said
        await seen.press("R")
        assert seen.toasts[-1].startswith("! the desk is not halted")
        worn = seen.app.theme
        await seen.bring(replace(shared, preferences={**shared.preferences, "theme": "paper"}))
        assert seen.app.theme == "paper" != worn
        await seen.bring(replace(shared, tickets=()))
        assert seen.app.theme == worn


@pytest.mark.slow
async def test_a_remote_service_has_no_speed() -> None:
    state = replace(STATE, service=replace(STATE.service, embedded=False))
    async with running(state) as seen:
        await seen.press("p")
        assert seen.doors.submitted == []
        assert "only the offline world" in seen.toasts[0]


@pytest.mark.slow
async def test_privacy_masks_amounts_at_once_also_before_the_desk_is_open() -> None:
    async with running(
        STATE, initial=cached(), prepare=lambda doors: doors.may_open.clear(), waits=False
    ) as seen:
        assert "8,214.33" in seen.text
        await seen.press("z")
        assert "8,214.33" not in seen.text
        assert "•••" in seen.text
        seen.doors.may_open.set()
        await seen.until(lambda: bool(seen.doors.submitted))
        assert seen.doors.submitted == [SetPreference("privacy", "on")]
        assert "8,214.33" not in seen.text


@pytest.mark.slow
async def test_a_theme_is_worn_and_remembered() -> None:
    async with running(STATE) as seen:
        worn = seen.app.theme
        await seen.press("f8")
        assert seen.app.theme != worn
        assert seen.doors.submitted == [SetPreference("theme", seen.app.theme)]


@pytest.mark.slow
async def test_the_remembered_theme_is_worn_at_the_start() -> None:
    state = replace(STATE, preferences={**STATE.preferences, "theme": "paper"})
    async with running(state) as seen:
        assert seen.app.theme == "paper"


@pytest.mark.slow
async def test_what_was_copied_is_said() -> None:
    async with running(STATE) as seen:
        seen.app.post_message(Copied("0x12", "the reference"))
        await seen.until(lambda: bool(seen.toasts))
        assert seen.app.clipboard == "0x12"
        assert seen.toasts == ["✓ copied the reference"]


@pytest.mark.slow
async def test_sayings_are_never_read_as_markup() -> None:
    async with running(STATE) as seen:
        seen.app.post_message(ToastMessage("[@click=app.quit]press[/] \x1b]52;c;AAAA\x07", "bad"))
        await seen.until(lambda: bool(seen.toasts))
        assert "[@click=app.quit]press[/]" in seen.toasts[0]
        assert "\x1b" not in seen.toasts[0]


# -- the outbox alone -----------------------------------------------------------------------------


def given(outbox: CommandSender, *commands: Command) -> list[str]:
    return [outbox.give(command, STATE, NOW) for command in commands]


def test_a_closed_desk_says_why() -> None:
    outbox, doors = CommandSender(), RecordingDoors(STATE)
    outbox.open(doors)
    outbox.close("the disk is full")
    assert given(outbox, Refresh()) == ["refresh: the disk is full"]
    assert doors.submitted == []


@pytest.mark.parametrize(
    "change",
    [
        lambda state: replace(state, from_cache=True),
        lambda state: replace(state, service=replace(state.service, read_only=True)),
        lambda state: replace(state, service=replace(state.service, phase=Phase.OFFLINE)),
        lambda state: replace(state, seen={**state.seen, Topic.MARKETS: Timestamp(NOW - 10.1)}),
        lambda state: replace(state, seen={}),
    ],
)
def test_no_trade_leaves_on_what_cannot_be_trusted(
    change: Callable[[DeskState], DeskState],
) -> None:
    outbox, doors = CommandSender(), RecordingDoors(STATE)
    outbox.open(doors)
    assert outbox.give(BUY, STATE, NOW) == ""
    assert outbox.give(BUY, change(STATE), NOW)
    assert doors.submitted == [BUY]


# -- where to look ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("closes_first", [True, False])
async def test_the_rows_take_keys_again_after_another_window_had_them(
    *, closes_first: bool
) -> None:
    async with running(STATE) as seen:
        await seen.press("2")
        seen.app.post_message(AppBlur())
        await seen.press()
        seen.app.action_welcome()
        await seen.press()
        welcome = seen.app.screen
        assert isinstance(welcome, Welcome)
        if not closes_first:
            seen.app.post_message(AppFocus())
            await seen.press()
        welcome.dismiss(None)
        await seen.press()
        if closes_first:
            seen.app.post_message(AppFocus())
            await seen.press()
        assert seen.app.focused is seen.app.front.table


@pytest.mark.slow
async def test_numbers_lead_to_the_screens() -> None:
    async with running(STATE) as seen:
        for key, name in (
            ("9", "blotter"),
            ("8", "settings"),
            ("1", "portfolio"),
            ("2", "markets"),
        ):
            await seen.press(key)
            assert front(seen) == name
            displayed = [view for view in seen.app.query(NumberedView) if view.display]
            assert displayed == [seen.app.front]


@pytest.mark.slow
async def test_a_screen_is_kept_as_it_was_left() -> None:
    async with running(COMMANDS, first="blotter") as seen:
        before = seen.app.front
        await seen.press("j", "j", "8", "9")
        assert seen.app.front is before
        assert before.current_row() == STATE.tickets[2].ticket_id


@pytest.mark.slow
async def test_history_goes_back_and_forth_with_the_rows() -> None:
    async with running(COMMANDS, first="blotter") as seen:
        rows = [ticket.ticket_id for ticket in STATE.tickets]
        await seen.press("j")
        seen.app.post_message(GoTo("settings"))
        await seen.until(lambda: front(seen) == "settings")
        seen.app.post_message(GoTo("blotter", rows[3]))
        await seen.until(lambda: front(seen) == "blotter")
        assert seen.app.front.current_row() == rows[3]
        await seen.press("left_square_bracket", "left_square_bracket")
        assert front(seen) == "blotter"
        assert seen.app.front.current_row() == rows[1]
        await seen.press("right_square_bracket", "right_square_bracket")
        assert seen.app.front.current_row() == rows[3]
        await seen.press("minus")
        assert front(seen) == "settings"
        await seen.press("minus")
        assert front(seen) == "blotter"


# -- leaving ------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_q_backs_out_of_a_search_before_it_quits() -> None:
    async with running(COMMANDS, first="blotter") as seen:
        await seen.press("slash")
        seen.app.query_one("#filter-typed", Input).value = "refused"
        await seen.press("enter")
        assert len(seen.app.front.query_one("RecordTable").order) == 1
        await seen.press("q")
        assert len(seen.app.front.query_one("RecordTable").order) == len(STATE.tickets)
        assert seen.app.return_code is None
        await seen.press("q")
        assert seen.app.return_code == 0


def test_an_end_leaves_pending_orders_and_skills_that_would_stop_behind() -> None:
    tickets = tuple(
        replace(STATE.tickets[0], what=state.value, state=state) for state in TicketState
    )
    runs = tuple(
        run_of(state.value, skill_slug=state.value, state=state) for state in SkillRunState
    )
    alive = [one.value for one in SkillRunState if one.is_alive]
    alive.remove(SkillRunState.DETACHED.value)
    view = replace(STATE.supervision, runs=runs)
    orders, skills = unfinished(replace(STATE, tickets=tickets, supervision=view))
    assert orders == [TicketState.QUEUED.value, TicketState.SENT.value]
    assert skills == alive


def test_the_question_before_leaving_lists_what_would_be_left() -> None:
    both = leaving_text(["buy YES for 5.00", "b"], ["ebb", "tide"], masked=False)
    assert "Pending:\n  buy YES for 5.00\n  b\n\nThe desk waits two seconds" in both
    assert "These skills stop:\n  ebb\n  tide\n\nA detached one needs no console" in both
    assert "skills" not in leaving_text(["a"], [], masked=False)
    assert "Pending" not in leaving_text([], ["ebb"], masked=False)
    assert "5.00" not in leaving_text(["buy YES for 5.00"], [], masked=True)


@pytest.mark.slow
async def test_q_closes_a_dialog_and_nothing_else() -> None:
    async with running(STATE) as seen:
        await seen.press("question_mark", "q")
        assert len(seen.app.screen_stack) == 1
        assert seen.app.return_code is None


@pytest.mark.slow
async def test_leaving_asks_while_an_order_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialogs, "ARMED_AFTER_S", 60.0)
    sent = replace(STATE.tickets[0], state=TicketState.SENT, settled_at=None)
    async with running(replace(STATE, tickets=(sent,))) as seen:
        await seen.press("ctrl+q", "ctrl+q")
        dialog = seen.app.screen
        assert isinstance(dialog, Confirm)
        assert len(seen.app.screen_stack) == 2
        assert sent.what in seen.text
        await seen.press("y")
        assert seen.app.screen is dialog, "typed ahead, it confirms nothing"
        assert seen.toasts == [f"! {EARLY}"]
        dialog._arm()
        await seen.press("enter")
        assert len(seen.app.screen_stack) == 1
        assert seen.app.return_code is None
        await seen.press("q")
        again = seen.app.screen
        assert isinstance(again, Confirm)
        again._arm()
        await seen.press("y")
        assert seen.app.return_code == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("state", "asks"),
    [
        (SkillRunState.RUNNING, True),
        (SkillRunState.SUSPENDED, True),
        (SkillRunState.DETACHED, False),
        (SkillRunState.DONE, False),
    ],
)
async def test_leaving_asks_while_a_skill_runs_that_would_stop(
    state: SkillRunState, *, asks: bool
) -> None:
    runs = (run_of(state=state, skill_slug="tide {app.halt} [b]x"),)
    running_skills = replace(STATE, supervision=replace(STATE.supervision, runs=runs))
    async with running(running_skills, size=(120, 40)) as seen:
        await seen.press("q")
        assert isinstance(seen.app.screen, Confirm) is asks
        if asks:
            assert "tide {app.halt} [b]x" in seen.text
            assert "needs no console (7, t)" in seen.text
        else:
            assert seen.app.return_code == 0


@pytest.mark.slow
async def test_an_unknown_order_holds_nobody_back() -> None:
    unknown = replace(STATE.tickets[0], state=TicketState.UNKNOWN, settled_at=None)
    async with running(replace(STATE, tickets=(unknown,))) as seen:
        await seen.press("ctrl+q")
        assert seen.app.return_code == 0


@pytest.mark.slow
async def test_the_first_run_explains_itself_once() -> None:
    fresh = replace(STATE, preferences={})
    async with running(fresh) as seen:
        await seen.until(lambda: isinstance(seen.app.screen, Welcome))
        assert "Agents trade prediction markets" in seen.text
        await seen.press("enter")
        assert seen.doors.submitted == [SetPreference("welcome", "seen")]
        assert len(seen.app.screen_stack) == 1
        await seen.press("f12")
        assert isinstance(seen.app.screen, Welcome)
        await seen.press("escape")
        assert len(seen.doors.submitted) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "front", "dialog"),
    [
        (("1",), "portfolio", None),
        (("0",), "attention", None),
        (("b",), "markets", "TradeForm"),
        (("b", "2", "5"), "markets", "TradeForm"),
        (("question_mark",), "markets", "Help"),
    ],
    ids=["1", "0", "b", "b25", "?"],
)
async def test_the_keys_that_the_first_page_names_do_what_it_says(
    keys: tuple[str, ...], front: str, dialog: str | None
) -> None:
    async with running(replace(STATE, preferences={}), first="markets") as seen:
        await seen.until(lambda: isinstance(seen.app.screen, Welcome))
        await seen.press(*keys)
        assert SetPreference("welcome", "seen") in seen.doors.submitted
        assert front in type(seen.app.front).__name__.lower()
        assert (dialog is None) == (len(seen.app.screen_stack) == 1)
        assert (dialog or "") in type(seen.app.screen).__name__
        if "5" in keys:
            assert "25" in seen.text


@pytest.mark.slow
async def test_the_first_page_of_another_service_speaks_of_no_world_of_its_own() -> None:
    remote = replace(STATE, preferences={}, service=replace(STATE.service, embedded=False))
    async with running(remote) as seen:
        await seen.until(lambda: isinstance(seen.app.screen, Welcome))
        for word in ("this machine", "All money here", "10,000", "pauses the world"):
            assert word not in seen.text
        page = seen.app.screen
        assert isinstance(page, Welcome)
        assert "the connected service" in page.text().plain


# -- the palette --------------------------------------------------------------------------------


async def type_into(seen: Running, text: str) -> None:
    palette = seen.app.screen
    assert isinstance(palette, CommandPalette)
    line = palette.query_one(Input)
    line.value = text
    await seen.until(lambda: hit_count(palette) == 1 or bool(palette.query(".--visible")))


@pytest.mark.slow
async def test_the_palette_finds_a_market_and_leads_to_its_row() -> None:
    async with running(STATE) as seen:
        await seen.press("ctrl+p")
        await type_into(seen, "lumen 410 (4)")
        await seen.press("enter")
        await seen.until(lambda: front(seen) == "markets")
        assert seen.app.front.current_row() == "m-00004"


@pytest.mark.slow
async def test_a_key_takes_the_toasts_away_also_over_a_dialog() -> None:
    async with running(STATE, first="markets") as seen:
        await seen.press("b")
        seen.app.show_toast("one")
        seen.app.show_toast("two", "warn", "fill")
        await seen.until(lambda: len(toasts(seen.app)) == 2)
        await seen.press("ctrl+l")
        assert not len(toasts(seen.app))


@pytest.mark.slow
async def test_the_palette_shows_foreign_text_as_it_is() -> None:
    odd = replace(STATE.markets[MARKET], question="[@click=app.quit]Will [/] it\nbreak?")
    async with running(replace(STATE, markets={MARKET: odd})) as seen:
        provider = MarketsProvider(seen.app.screen)
        prepare(provider)
        hits = [hit async for hit in provider.search("break")]
        assert len(hits) == 1
        assert "[@click=app.quit]Will [/] it break?" in str(hits[0].prompt)


@pytest.mark.slow
async def test_a_theme_that_is_looked_at_is_shown_and_given_back() -> None:
    async with running(STATE) as seen:
        worn = seen.app.theme
        await seen.press("f7")
        palette = seen.app.screen
        assert isinstance(palette, CommandPalette)
        await seen.until(lambda: hit_count(palette) > 0)
        await seen.press("down", "down")
        await seen.until(lambda: seen.app.theme != worn)
        await seen.press("escape")
        await seen.until(lambda: seen.app.theme == worn)
        assert seen.doors.submitted == []


@pytest.mark.slow
async def test_a_dialog_covers_the_toasts_of_the_screen_behind_it() -> None:
    async with running(STATE, first="markets", size=(80, 24)) as seen:
        seen.app.show_toast("an answer that is long enough to reach far to the left of it")
        await seen.until(lambda: "an answer that" in seen.text)
        seen.app.push_screen(Confirm(Question("Sure?", Text("It is small."), "yes")))
        await seen.until(lambda: "It is small." in seen.text)
        # The dialog shows the toasts itself, and only those of now.
        seen.app.clear_notifications()
        seen.app.show_toast("short")
        await seen.until(lambda: "short" in seen.text)
        assert "an answer that" not in seen.text
        await seen.press("escape")
        await seen.until(lambda: len(seen.app.screen_stack) == 1)
        assert "short" in seen.text


@pytest.mark.slow
async def test_a_repeated_toast_is_shown_once_and_the_oldest_of_many_goes() -> None:
    async with running(STATE) as seen:
        for text in ("one", "two", "one", "one"):
            seen.app.show_toast(text, kind=text)
            await seen.pilot.pause()
        assert seen.toasts == ["two", "one"]
        for text in ("three", "four", "five"):
            seen.app.show_toast(text, kind=text)
            await seen.pilot.pause()
        assert seen.toasts == ["one", "three", "four", "five"]
        await seen.until(lambda: "five" in seen.text)
        assert not any(line.rstrip().endswith("▌ two") for line in seen.lines)


@pytest.mark.slow
async def test_leaving_asks_while_a_halt_is_not_on_disk_and_tries_again() -> None:
    unsaved = AckView("kept", "halt kept over a restart", AckState.FAILED, "the disk is full", 3)
    saved = replace(unsaved, state=AckState.DONE, detail="")
    halted = replace(STATE, halt=HaltView(NOW, acks=(unsaved,)))
    assert unsaved_halt(halted) == "the disk is full"
    assert unsaved_halt(replace(STATE, halt=HaltView(NOW, acks=(saved,)))) == ""
    async with running(halted, size=(120, 40)) as seen:
        await seen.press("ctrl+q")
        assert isinstance(seen.app.screen, Confirm)
        for part in (
            "The halt is not saved on disk",
            "the disk is full",
            "tried again now",
        ):
            assert part in seen.text
        assert seen.app.return_code is None
