"""What each key of the research does: to which session, with which number."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.acting import StubScreen, perform
from kit.samples.desk import sample_state
from kit.samples.research import experiment_of, research_sample, session_of
from service_tui.console.screens.research.actions import ACTIONS
from service_tui.console.screens.research.forms import SKILL, BacktestForm, SessionForm
from service_tui.console.screens.research.session import SessionLine
from service_tui.desk.commands.research import EndSession, ShowDiff
from service_tui.desk.reasons import READ_ONLY

NEWEST, OLDER = session_of(), session_of(skill="tide-edge", name="wider")
OLDEST = session_of(skill="fog-edge")
STATE = replace(
    sample_state(),
    research=replace(research_sample(), sessions=(NEWEST, OLDER, OLDEST), request_id=4),
)


class Line:
    """The line of the session, without a terminal."""

    session = SessionLine.session

    def __init__(self) -> None:
        self.selected_key, self.requested, self.shows_backtest = "", 0, False


def on(*rows: Any, **research: Any) -> StubScreen:
    state = replace(STATE, research=replace(STATE.research, **research))
    return StubScreen(state, rows, parts={SessionLine: Line()})


def press(screen: StubScreen, key: str) -> str:
    return perform(screen, ACTIONS, f"research.{key}")


def test_sessions_come_to_the_front_in_a_circle() -> None:
    screen = on()
    for session in (OLDER, OLDEST, NEWEST):
        press(screen, "next")
        assert screen.parts[SessionLine].selected_key == session.key
        assert screen.calls[-1] == "show_state"


def test_a_backtest_has_a_number_of_its_own() -> None:
    screen = on()
    press(screen, "backtest")
    (form,) = screen.opened
    assert isinstance(form, BacktestForm)
    assert form._request_id == 5
    assert form.first[SKILL.name] == NEWEST.skill
    line = screen.parts[SessionLine]
    assert line.requested == 5
    assert not line.shows_backtest
    screen.answer("a backtest")
    assert screen.given == ["a backtest"]
    assert line.shows_backtest
    press(screen, "backtest")
    assert line.requested == 6


def test_a_session_is_begun_and_ended() -> None:
    screen = on()
    press(screen, "new")
    assert isinstance(screen.opened[-1], SessionForm)
    screen.answer("a session")
    screen.parts[SessionLine].selected_key = OLDER.key
    press(screen, "off")
    assert screen.given == ["a session", EndSession("tide-edge")]


def test_the_commit_of_the_experiment_is_shown() -> None:
    screen = on(experiment_of(3, commit="abc1234"), experiment_of(4))
    press(screen, "diff")
    assert screen.given == [ShowDiff(NEWEST.key, "abc1234")]
    why = "only kept experiments have a commit"
    assert press(on(experiment_of(3, commit="")), "diff") == why
    assert press(on(), "diff") == why


@pytest.mark.parametrize("key", ["next", "off"])
def test_without_a_session_nothing_is_switched(key: str) -> None:
    assert press(on(sessions=()), key) == "no session"


@pytest.mark.parametrize("key", ["new", "off"])
def test_a_read_only_desk_begins_and_ends_nothing(key: str) -> None:
    screen = on()
    screen.state = replace(screen.state, service=replace(STATE.service, read_only=True))
    assert press(screen, key) == READ_ONLY
