"""The forms of the research screen, without an app: a backtest and a new session."""

import pytest

from kit.console.alone import Alone
from kit.samples.desk import NOW, sample_state
from kit.samples.research import session_of
from service_tui.console.fields import FieldError
from service_tui.console.screens.research.forms import (
    BETTER,
    DAYS,
    FOLDER,
    KEEP,
    METRIC,
    NAME,
    SESSION_SKILL,
    SKILL,
    STEPS,
    VENUE,
    BacktestForm,
    SessionForm,
    read_thresholds,
)
from service_tui.desk.commands.research import RunBacktest, StartSession
from service_tui.desk.slices.research import SessionView
from service_tui.terms import DAYS_DEFAULT, DAYS_MAX, Direction, Venue

STATE = sample_state()
LIKE = session_of(metric_unit="points", direction=Direction.LOWER)


def backtest() -> Alone:
    return Alone(BacktestForm(STATE, NOW, "weather-edge", 7))


def session(like: SessionView | None = LIKE) -> Alone:
    return Alone(SessionForm(STATE, NOW, like))


def test_a_backtest_is_sent_as_it_was_typed() -> None:
    form = backtest()
    assert form.text("form-preview") == f"{STEPS} combinations"
    first = form.dialog.validate()
    assert isinstance(first.days, int)
    assert (first.skill, first.days, first.venue) == ("weather-edge", DAYS_DEFAULT, Venue.SIM)
    for field, text in (
        (SKILL, " other-skill "), (KEEP, "min_edge=0.05"), (DAYS, str(DAYS_MAX)), (VENUE, " evm ")
    ):  # fmt: skip
        form.type(field.name, text)
    if form.problem:
        form.type(VENUE.name, Venue.EVM.value)
    assert form.text("form-preview") == "one set of thresholds"
    form.dialog.action_set()
    assert form.left == [
        RunBacktest(7, "other-skill", (("min_edge", 0.05),), DAYS_MAX, Venue.EVM, ())
    ]


def test_two_swept_thresholds_multiply() -> None:
    form = backtest()
    form.type(KEEP.name, "min_edge=0..0.3, max_price=0.5..0.9 min_size=1")
    assert form.text("form-preview") == f"{STEPS * STEPS} combinations"


@pytest.mark.parametrize(
    ("field", "typed", "problem"),
    [
        (SKILL, "", "enter the skill's slug"),
        (SKILL, "No Slug", "enter the skill's slug"),
        (DAYS, "0", "days: 1 to 30"),
        (DAYS, "31", "days: 1 to 30"),
        (DAYS, "1.5", "days: 1 to 30"),
        (VENUE, "elsewhere", f"venue: {Venue.SIM.value} or {Venue.EVM.value}"),
        (VENUE, Venue.SOL.value, f"venue: {Venue.SIM.value} or {Venue.EVM.value}"),
        (KEEP, "min_edge", "min_edge: enter"),
        (KEEP, "min_edge=x", "x: not a number"),
        (KEEP, "min_edge=0..x", "0..x: not a number"),
        (KEEP, "min_edge=0.3..0.3", "min_edge=0.3..0.3: the first number"),
        (KEEP, "min_a=0..1 min_b=0..1 min_c=0..1", "sweep at most two"),
    ],
)
def test_what_cannot_be_replayed_is_refused(field: object, typed: str, problem: str) -> None:
    form = backtest()
    form.type(getattr(field, "name"), typed)  # noqa: B009 - fields of several types
    form.dialog.action_set()
    assert form.problem.startswith(problem)
    assert form.left == []


def test_a_range_is_swept_from_its_first_number_to_its_last() -> None:
    fixed, ((name, values),) = read_thresholds("min_edge=-0.1..0.1,max_price=-2")
    assert fixed == (("max_price", -2.0),)
    assert (name, len(values), values[0], values[-1]) == ("min_edge", STEPS, -0.1, 0.1)
    assert list(values) == sorted(values)
    with pytest.raises(FieldError, match="not a number"):
        read_thresholds("min_edge=--1")


def test_a_new_session_is_like_the_one_in_front_with_a_name_of_its_own() -> None:
    form = session()
    assert form.problem == "enter a session name and its metric"
    assert form.text("form-preview") == ""
    form.type(NAME.name, LIKE.name)
    assert form.problem == "enter a new session name"
    form.type(NAME.name, " another ")
    assert form.text("form-preview") == f"experiments run on branch autoresearch/{LIKE.skill}"
    form.dialog.action_set()
    assert form.left == [
        StartSession("another", LIKE.skill, "pnl", "points", Direction.LOWER, LIKE.repository)
    ]


def test_a_first_session_is_typed_whole() -> None:
    form = session(None)
    assert form.problem == "enter the folder of the git repository"
    for field, text in ((FOLDER, " /skills "), (SESSION_SKILL, "slug"), (NAME, "first")):
        form.type(field.name, text)
    form.type(BETTER.name, " lower ")
    form.dialog.action_set()
    assert form.left == [StartSession("first", "slug", "pnl", "$", Direction.LOWER, "/skills")]


@pytest.mark.parametrize(
    ("field", "typed", "problem"),
    [
        (BETTER, "more", "enter higher or lower"),
        (METRIC, " ", "enter a session name and its metric"),
        (SESSION_SKILL, "?", "enter the skill's slug"),
        (FOLDER, "  ", "enter the folder"),
    ],
)
def test_a_session_that_cannot_be_is_refused(field: object, typed: str, problem: str) -> None:
    form = session()
    form.type(NAME.name, "another")
    form.type(getattr(field, "name"), typed)  # noqa: B009 - fields of several types
    form.dialog.action_set()
    assert form.problem.startswith(problem)
    assert form.left == []
