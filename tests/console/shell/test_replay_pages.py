"""Replay in the console: which moment comes to the front, and what is sent meanwhile."""

from dataclasses import replace
from typing import Any, cast

import pytest

from kit.console.shell import Shell
from kit.samples.desk import NOW, sample_state
from service_tui.console.keys import cap
from service_tui.console.messages import ReplayRequested
from service_tui.console.replay_text import time_text
from service_tui.console.shell.replay_pages import (
    GAP_S,
    MOVES_MAX,
    NOT_RECORDED,
    NOTHING_TO_HALT,
    NOTHING_YET,
    ReplayPages,
)
from service_tui.desk.commands.agents import ReadDay, ReadLog
from service_tui.desk.commands.halt import Halt
from service_tui.desk.commands.settings import SetStar, WatchMarket
from service_tui.desk.recording.moment import RecordedMoment, RecordError
from service_tui.units import Timestamp

STATE = replace(sample_state(6), rewound_to=None)
PAST = replace(STATE, stars=frozenset({"then"}))


def moment(ago_s: float) -> RecordedMoment:
    return RecordedMoment(Timestamp(NOW - ago_s), "", PAST)


BEFORE, HOUR_AGO = (time_text(Timestamp(NOW - ago_s)) for ago_s in (3_661, 3_600))


class Player:
    """Answers in their order; notes what was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[object, ...]] = []

    def _next(self, *asked: object) -> Any:
        self.asked.append(asked)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def readable(self, at: Timestamp) -> Any:
        return self._next("readable", at)

    def step(self, at: Timestamp, by: int, *, is_event: bool) -> Any:
        return self._next("step", at, by, is_event)


class Work:
    def __init__(self, *answers: Any, alone: bool = False, recorded: bool = True) -> None:
        self.shell = Shell(STATE)
        self.player = Player(*answers)
        self.lived = 0
        self.pages = ReplayPages(
            self.shell.app, wall_time=lambda: NOW, live=lambda: STATE, show_live=self.live,
            player=lambda: cast("Any", self.player) if recorded else None,
            replay_at=Timestamp(NOW - 500) if alone else None,
        )  # fmt: skip

    def live(self) -> None:
        self.lived += 1

    async def moves(self) -> None:
        """Make the moves that were begun."""
        for work, group in self.shell.workers:
            assert group == "replay"
            await work
        self.shell.workers.clear()

    def front(self, ago_s: float = 60.0) -> "Work":
        self.pages.moment = moment(ago_s)
        return self


async def test_the_key_shows_the_last_moment_and_then_the_present_again() -> None:
    it = Work((moment(4), ""))
    it.pages.toggle()
    await it.moves()
    assert it.player.asked == [("readable", NOW)]
    assert it.pages.moment == moment(4)
    assert it.shell.desk_state.rewound_to == NOW - 4
    assert it.shell.desk_state.stars == PAST.stars
    assert (it.shell.shown_count, it.shell.toasts, it.lived) == (1, [], 0)
    it.pages.toggle()
    assert (it.pages.moment, it.lived) == (None, 1)


async def test_a_console_that_only_replays_begins_at_its_time_and_has_no_present() -> None:
    it = Work((moment(500), ""), alone=True)
    it.pages.toggle()
    await it.moves()
    assert it.player.asked == [("readable", NOW - 500)]
    it.pages.toggle()
    words = f"replay only: no desk is open here; {cap('app.out')} leaves"
    assert it.shell.toasts == [(words, "warn")]
    assert (it.pages.moment, it.lived) == (moment(500), 0)


async def test_the_key_pressed_again_while_it_reads_keeps_the_present() -> None:
    it = Work((moment(4), ""))
    it.pages.toggle()
    it.pages.toggle()
    await it.moves()
    assert it.shell.toasts == [("the present stays", "info")]
    assert it.pages.moment is None


@pytest.mark.parametrize(
    ("answer", "toast", "alone"),
    [
        ((None, ""), NOTHING_YET, False),
        ((None, ""), NOTHING_YET, True),
        (RecordError("damaged"), "damaged", False),
        (RecordError("damaged"), "damaged", True),
    ],
)
async def test_no_moment_is_said_and_stays_the_problem_of_a_console_without_a_desk(
    answer: Any, toast: str, *, alone: bool
) -> None:
    it = Work(answer, alone=alone)
    it.pages.toggle()
    await it.moves()
    assert it.shell.toasts == [(toast, "warn")]
    assert (it.pages.problem, it.shell.shown_count) == ((toast, 1) if alone else ("", 0))
    # The next key is not held up.
    it.player.answers = [(moment(1), "")]
    it.pages.toggle()
    await it.moves()
    assert it.pages.moment == moment(1)


async def test_without_a_recording_it_says_so() -> None:
    it = Work(recorded=False)
    it.pages.toggle()
    await it.moves()
    assert it.shell.toasts == [(NOT_RECORDED, "warn")]
    it.front()
    it.pages.step("record", 1)
    it.pages.step("hour", 1)
    await it.moves()
    assert it.pages.moment == moment(60)


async def test_what_was_passed_over_is_told() -> None:
    it = Work((moment(4), "record cannot be read"))
    it.pages.toggle()
    await it.moves()
    words = "record cannot be read; nearest readable one shown"
    assert it.shell.toasts == [(words, "warn")]


async def test_no_moment_comes_in_front_of_a_dialog() -> None:
    it = Work((moment(4), ""), (moment(3), ""))
    it.shell.screen_stack.append("a dialog")
    it.pages.toggle()
    await it.moves()
    assert it.pages.moment is None
    assert it.shell.toasts == [("replay not opened: a dialog is open", "warn")]
    # From one moment to the next it does.
    it.front()
    it.pages.step("record", 1)
    await it.moves()
    assert it.pages.moment == moment(3)


@pytest.mark.parametrize(
    ("kind", "by", "asked"),
    [
        ("record", -1, ("step", NOW - 60, -1, False)),
        ("record", 1, ("step", NOW - 60, 1, False)),
        ("event", -1, ("step", NOW - 60, -1, True)),
        ("minute", 1, ("readable", NOW)),
        ("hour", -1, ("readable", NOW - 3_660)),
    ],
)
async def test_a_step_asks_for_its_own_neighbour(
    kind: str, by: int, asked: tuple[object, ...]
) -> None:
    it = Work((moment(60 - by * 30), "")).front()
    it.pages.step(kind, by)
    await it.moves()
    assert it.player.asked == [asked]
    assert it.pages.moment == moment(60 - by * 30)


@pytest.mark.parametrize(("by", "ago_s"), [(1, 60), (1, 90), (-1, 60), (-1, 30)])
async def test_a_leap_that_leads_nowhere_goes_to_the_next_record(by: int, ago_s: float) -> None:
    it = Work((moment(ago_s), ""), (moment(7), "")).front()
    it.pages.step("minute", by)
    await it.moves()
    assert it.player.asked[1] == ("step", NOW - 60, by, False)
    assert it.pages.moment == moment(7)


@pytest.mark.parametrize("kind", ["minute", "record"])
async def test_a_moment_that_is_read_while_the_person_returns_stays_away(kind: str) -> None:
    it = Work((moment(0), "")).front()
    answer = it.player._next

    def leave_first(*asked: object) -> Any:
        it.pages.leave()
        return answer(*asked)

    it.player._next = leave_first  # type: ignore[method-assign]
    it.pages.step(kind, 1)
    await it.moves()
    assert (len(it.player.asked), it.pages.moment, it.lived) == (1, None, 1)


async def test_keys_wait_in_their_order_and_those_behind_a_failure_are_forgotten() -> None:
    it = Work((moment(50), ""), RecordError("damaged"), (moment(9), "")).front()
    for kind, by in (("record", 1), ("event", -1), ("minute", 1)):
        it.pages.step(kind, by)
    await it.moves()
    assert it.player.asked == [("step", NOW - 60, 1, False), ("step", NOW - 50, -1, True)]
    it.pages.step("event", -1)
    await it.moves()
    assert it.player.asked[2:] == [("step", NOW - 50, -1, True)]
    assert it.pages.moment == moment(9)


@pytest.mark.parametrize(
    ("kind", "by", "problem", "toast"),
    [
        ("record", -1, "", "no earlier record"),
        ("record", 1, "", "no later record"),
        ("event", 1, "", "no later event"),
        ("event", -1, "damaged", "damaged"),
    ],
)
async def test_an_end_of_the_recording_is_said(
    kind: str, by: int, problem: str, toast: str
) -> None:
    it = Work((None, problem)).front()
    it.pages.step(kind, by)
    await it.moves()
    assert it.shell.toasts == [(toast, "info")]
    assert it.pages.moment == moment(60)


async def test_a_step_before_the_replay_names_its_key() -> None:
    it = Work()
    it.pages.step("record", 1)
    assert it.shell.toasts == [(f"{cap('app.replay')} opens the replay first", "warn")]
    assert it.shell.workers == []


async def test_keys_held_down_wait_in_their_order_and_only_so_many() -> None:
    it = Work(*[(moment(60 - n), "") for n in range(1, MOVES_MAX + 2)]).front()
    for _ in range(MOVES_MAX + 2):
        it.pages.step("record", 1)
    assert it.shell.toasts == [("replay: still reading; key ignored", "warn")] * 2
    await it.moves()
    assert len(it.player.asked) == MOVES_MAX
    assert it.pages.moment == moment(60 - MOVES_MAX)


@pytest.mark.parametrize(
    ("found_s", "toast"),
    [
        (GAP_S, None),
        (GAP_S + 1, f"nothing recorded between {BEFORE} and {HOUR_AGO}"),
        (-1, f"the recording begins at {time_text(Timestamp(NOW - 3_599))}"),
    ],
)  # fmt: skip
async def test_a_typed_time_names_the_gap_before_it(found_s: float, toast: str | None) -> None:
    it = Work((moment(3_600 + found_s), ""))
    it.pages.take_request(ReplayRequested("1h"))
    await it.moves()
    ((_, at),) = it.player.asked
    assert at == NOW - 3_600
    assert it.shell.toasts == ([] if toast is None else [(toast, "warn")])


async def test_a_typed_time_that_is_none_is_said_and_no_time_toggles() -> None:
    it = Work((moment(1), ""))
    it.pages.take_request(ReplayRequested("no time"))
    ((_, tone),) = it.shell.toasts
    assert (tone, it.shell.workers) == ("warn", [])
    it.pages.take_request(ReplayRequested())
    await it.moves()
    assert it.pages.moment == moment(1)
    it.pages.type_time()
    assert it.shell.typed == ["replay "]


def test_requests_of_screens_wait_for_the_present_and_all_else_is_refused() -> None:
    it = Work().front()
    it.shell.desk_state = replace(PAST, rewound_to=NOW)
    watch, later = WatchMarket("m-1"), WatchMarket("m-2")
    assert [it.pages.refusal(one) for one in (watch, ReadLog(), later)] == ["", "", ""]
    assert it.pages.refusal(SetStar("m", on=True))
    it.pages.leave()
    assert it.shell.given == [later, ReadLog()]
    assert it.pages.refusal(SetStar("m", on=True)) is None
    # What one replay left out is nothing of the next.
    it.pages.leave()
    assert it.lived == 1


def test_a_halt_returns_to_the_present_and_goes_out() -> None:
    it = Work().front()
    it.pages.refusal(ReadDay())
    assert it.pages.refusal(Halt()) is None
    assert (it.pages.moment, it.lived, it.shell.given) == (None, 1, [ReadDay()])
    alone = Work(alone=True)
    assert alone.pages.refusal(Halt()) == NOTHING_TO_HALT
    assert alone.pages.refusal(ReadDay()) == ""


async def test_a_halt_keeps_a_moment_that_is_being_read_from_the_front() -> None:
    it = Work((moment(4), ""))
    it.pages.toggle()
    it.pages.refusal(Halt())
    await it.moves()
    assert it.pages.moment is None
