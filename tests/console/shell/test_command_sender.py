"""What is sent, kept or refused on its way to the desk, and what is shown meanwhile."""

from dataclasses import replace

import pytest

from kit.console.doors import RecordingDoors
from kit.samples.desk import NOW, sample_state
from service_tui.console.shell.command_sender import PACE_S, CommandSender
from service_tui.desk.commands.agents import NoteConfirmed, ReadDay
from service_tui.desk.commands.halt import Halt
from service_tui.desk.commands.settings import Refresh, SetPreference, SetSpeed, WatchMarket
from service_tui.desk.slices.halt import HaltView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

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
