"""What is sent, kept or refused on its way to the desk, and what is shown meanwhile."""

from dataclasses import replace

import pytest

from kit.console.doors import RecordingDoors
from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import pending_trade_of
from service_tui.console.shell.command_sender import DECIDED_S, PACE_S, CommandSender
from service_tui.desk.commands.agents import NoteConfirmed, ReadDay, RefuseTrade
from service_tui.desk.commands.halt import Halt
from service_tui.desk.commands.settings import Refresh, SetPreference, SetSpeed, WatchMarket
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.slices.drill import DrillPhase, DrillView
from service_tui.desk.slices.halt import HaltView
from service_tui.desk.slices.notices import Notice
from service_tui.desk.state import DeskState
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

STATE = replace(sample_state(), preferences={}, drill=None, halt=None)
assert STATE.world is not None


def at_speed(speed: int) -> DeskState:
    assert STATE.world is not None
    return replace(STATE, world=replace(STATE.world, speed=speed))


def opened() -> tuple[CommandSender, RecordingDoors]:
    sender, doors = CommandSender(), RecordingDoors(STATE)
    sender.open(doors)
    return sender, doors


def test_a_desk_that_opens_gets_the_halt_first_and_of_each_choice_the_last() -> None:
    sender, doors = CommandSender(), RecordingDoors(STATE)
    for command in (
        SetPreference("theme", "day"), WatchMarket("m-1", 60), SetPreference("theme", "night"),
        SetPreference("privacy", "on"), WatchMarket("m-2", 60), NoteConfirmed("x"), ReadDay(),
        Halt(),
    ):  # fmt: skip
        assert sender.give(command, STATE, NOW) == ""
    sender.open(doors)
    kept = [
        SetPreference("theme", "night"), WatchMarket("m-2", 60), SetPreference("privacy", "on"),
    ]  # fmt: skip
    assert doors.submitted[0] == Halt()
    assert doors.submitted[1:] == kept
    sender.open(doors)
    assert len(doors.submitted) == 4


def test_what_cannot_wait_is_refused_until_the_desk_is_open_and_once_it_has_closed() -> None:
    sender = CommandSender()
    early = sender.give(Refresh(), STATE, NOW)
    assert early.startswith(f"{Refresh().describe()}: ")
    sender.close("disk full")
    for command in (Refresh(), Halt()):
        why = sender.give(command, STATE, NOW)
        assert why.startswith(command.describe())
        assert "disk full" in why
    # A halt that did not go out is not shown as one.
    assert sender.laid_over(STATE, NOW).halt is None
    doors = RecordingDoors(STATE)
    sender.open(doors)
    assert sender.give(Refresh(), STATE, NOW) == ""
    assert doors.submitted == [Refresh()]


def test_a_halt_goes_out_at_once_and_is_shown_until_the_desk_tells_its_own() -> None:
    sender, doors = opened()
    assert sender.give(Halt(), STATE, NOW) == ""
    assert doors.submitted == [Halt()]
    assert sender.laid_over(STATE, Timestamp(NOW + 9)).halt == HaltView(NOW)
    own = HaltView(Timestamp(NOW + 1))
    assert sender.laid_over(replace(STATE, halt=own), NOW).halt is own
    assert sender.laid_over(STATE, NOW).halt is None


def test_a_choice_is_shown_until_the_desk_has_it() -> None:
    sender, _ = opened()
    sender.give(SetPreference("privacy", "on"), STATE, NOW)
    kept = replace(STATE, preferences={"theme": "night"})
    shown = sender.laid_over(kept, NOW).preferences
    assert shown == {"theme": "night", "privacy": "on"}
    told = replace(STATE, preferences={"privacy": "on"})
    assert sender.laid_over(told, NOW) is told
    assert sender.laid_over(kept, NOW) is kept


def test_the_pace_is_the_last_one_requested_while_it_is_on_its_way() -> None:
    sender, _ = opened()
    assert sender.pace(1, Timestamp(PACE_S / 2)) == 1
    sender.laid_over(at_speed(1), NOW)
    for speed in (2, 5, 10):
        sender.give(SetSpeed(speed), STATE, NOW)
    assert sender.pace(1, NOW) == 10
    assert sender.pace(1, Timestamp(NOW + PACE_S - 0.01)) == 10
    # One that has come leaves those behind it on their way.
    sender.laid_over(at_speed(2), NOW)
    assert sender.pace(2, NOW) == 10
    sender.laid_over(at_speed(5), NOW)
    assert sender.pace(5, NOW) == 10
    sender.laid_over(at_speed(10), NOW)
    assert sender.pace(10, NOW) == 10
    sender.give(SetSpeed(1), STATE, NOW)
    assert sender.pace(10, NOW) == 1
    # One that nobody here asked for settles all.
    sender.laid_over(at_speed(60), NOW)
    assert sender.pace(60, NOW) == 60


def test_a_pace_that_never_comes_is_forgotten() -> None:
    sender, _ = opened()
    sender.laid_over(at_speed(1), NOW)
    sender.give(SetSpeed(5), STATE, NOW)
    assert sender.pace(1, Timestamp(NOW + PACE_S)) == 1
    later = Timestamp(NOW + PACE_S)
    sender.give(SetSpeed(10), STATE, later)
    sender.laid_over(at_speed(10), later)
    assert sender.pace(10, later) == 10


@pytest.mark.parametrize("known", [True, False])
def test_a_state_without_anything_given_here_is_shown_as_it_is(*, known: bool) -> None:
    state = STATE if known else replace(STATE, world=None)
    assert opened()[0].laid_over(state, NOW) is state


def test_before_a_drill_begins_nothing_counts_and_choices_are_kept() -> None:
    sender, doors = opened()
    drill = DrillView("flood", "Flood", "Watch the gauge.", 5)
    briefing = replace(STATE, drill=replace(drill, phase=DrillPhase.BRIEFING))
    why = sender.give(SetSpeed(5), briefing, NOW)
    assert why.startswith("not sent: the drill has not begun")
    assert sender.give(SetPreference("theme", "day"), briefing, NOW) == ""
    running = replace(STATE, drill=replace(drill, phase=DrillPhase.RUNNING))
    assert sender.give(SetSpeed(5), running, NOW) == ""
    assert doors.submitted == [SetPreference("theme", "day"), SetSpeed(5)]


def test_a_decided_trade_waits_no_more_until_it_took_no_effect() -> None:
    first, second = pending_trade_of("h1"), pending_trade_of("h2")
    state = replace(
        STATE, notices=(), supervision=replace(STATE.supervision, pending_trades=(first, second))
    )
    sender, doors = opened()
    command = RefuseTrade("h1", "buy YES", "too thin")
    assert sender.give(command, state, NOW) == ""
    assert doors.submitted == [command]
    for later, left in (
        (0.0, (second,)),
        (DECIDED_S - 0.1, (second,)),
        (DECIDED_S, (first, second)),
    ):
        shown = sender.laid_over(state, Timestamp(NOW + later))
        assert shown.supervision.pending_trades == left


def test_only_a_newer_notice_says_that_a_decision_took_no_effect() -> None:
    one, (sender, _) = pending_trade_of("h1"), opened()
    command = RefuseTrade("h1", "buy YES", "too thin")
    said = Notice(4, "bad", f"{command.describe()}: no answer")
    before = (replace(said, notice_id=2, text="earlier"), said)
    state = replace(
        STATE, notices=before, supervision=replace(STATE.supervision, pending_trades=(one,))
    )
    sender.give(command, state, NOW)
    # The last time that it failed is no answer to this one.
    assert sender.laid_over(state, NOW).supervision.pending_trades == ()
    good = replace(said, notice_id=5, tone="good")
    assert (
        sender.laid_over(replace(state, notices=(*before, good)), NOW).supervision.pending_trades
        == ()
    )
    failed = replace(state, notices=(*before, replace(said, notice_id=5)))
    assert sender.laid_over(failed, NOW).supervision.pending_trades == (one,)


def test_a_refused_order_is_named_without_its_amount_while_amounts_are_masked() -> None:
    order = PlaceTrade("m-1", Side.YES, Action.BUY, Venue.SIM, Micros(137 * ONE))
    stale = replace(STATE, seen={})
    why = opened()[0].give(order, stale, NOW)
    assert ("137" in why, "not sent" in why) == (True, True)
    masked = replace(stale, preferences={"privacy": "on"})
    assert "137" not in opened()[0].give(order, masked, NOW)
