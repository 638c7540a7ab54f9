"""The forms of the research screen: backtests, sweeps and new sessions."""

from kit.console.opened import opened
from kit.samples.desk import NOW, sample_state
from kit.samples.research import session_of
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
from service_tui.terms import DAYS_DEFAULT, DAYS_MAX, Direction, Venue

STATE = sample_state()
LIKE = session_of(metric_unit="points", direction=Direction.LOWER)


async def test_a_backtest_is_sent_as_it_was_typed_or_refused() -> None:
    venues = f"venue: {Venue.SIM.value} or {Venue.EVM.value}"
    async with opened(BacktestForm(STATE, NOW, "weather-edge", 7), STATE) as form:
        assert form.told("form-preview") == f"{STEPS} combinations"
        for field, typed, problem in (
            (SKILL, "", "enter the skill's slug"),
            (SKILL, "No Slug", "enter the skill's slug"),
            (DAYS, "0", "days: 1 to 30"),
            (DAYS, "31", "days: 1 to 30"),
            (DAYS, "1.5", "days: 1 to 30"),
            (VENUE, "elsewhere", venues),
            (VENUE, Venue.SOL.value, venues),
            (KEEP, "min_edge", "min_edge: enter"),
            (KEEP, "min_edge=0..x", "0..x: not a number"),
            (KEEP, "min_edge=0.3..0.3", "min_edge=0.3..0.3: the first number"),
            (KEEP, "min_a=0..1 min_b=0..1 min_c=0..1", "sweep at most two"),
        ):
            before = form.line(field.name).value
            await form.type(field.name, typed)
            await form.press("enter")
            assert form.problem.startswith(problem), typed
            assert form.returned == []
            await form.type(field.name, before)
        await form.type(KEEP.name, "min_edge=0..0.3, max_price=0.5..0.9 min_size=1")
        assert form.told("form-preview") == f"{STEPS * STEPS} combinations"
        assert form.line(DAYS.name).value == str(DAYS_DEFAULT)
        for field, text in (
            (SKILL, " other-skill "), (KEEP, "min_edge=0.05"), (DAYS, str(DAYS_MAX)),
            (VENUE, f" {Venue.EVM.value} "),
        ):  # fmt: skip
            await form.type(field.name, text)
        assert form.told("form-preview") == "one set of thresholds"
        await form.press("enter")
        assert form.returned == [
            RunBacktest(7, "other-skill", (("min_edge", 0.05),), DAYS_MAX, Venue.EVM, ())
        ]


def test_a_range_is_swept_from_its_first_number_to_its_last() -> None:
    fixed, ((name, values),) = read_thresholds("min_edge=-0.1..0.1,max_price=-2")
    assert fixed == (("max_price", -2.0),)
    assert (name, len(values), values[0], values[-1]) == ("min_edge", STEPS, -0.1, 0.1)
    assert list(values) == sorted(values)


async def test_a_new_session_is_like_the_one_in_front_with_a_name_of_its_own() -> None:
    async with opened(SessionForm(STATE, NOW, LIKE), STATE) as form:
        assert form.problem == "enter a session name and its metric"
        await form.type(NAME.name, LIKE.name)
        assert form.problem == "enter a new session name"
        await form.type(NAME.name, " another ")
        assert form.told("form-preview") == f"experiments run on branch autoresearch/{LIKE.skill}"
        for field, typed, problem in (
            (BETTER, "more", "enter higher or lower"),
            (METRIC, " ", "enter a session name and its metric"),
            (SESSION_SKILL, "?", "enter the skill's slug"),
            (FOLDER, "  ", "enter the folder"),
        ):
            before = form.line(field.name).value
            await form.type(field.name, typed)
            await form.press("enter")
            assert form.problem.startswith(problem)
            assert form.returned == []
            await form.type(field.name, before)
        await form.press("enter")
        assert form.returned == [
            StartSession("another", LIKE.skill, "pnl", "points", Direction.LOWER, LIKE.repository)
        ]


async def test_a_first_session_is_typed_whole() -> None:
    async with opened(SessionForm(STATE, NOW, None), STATE) as form:
        assert form.problem == "enter the folder of the git repository"
        for field, text in (
            (FOLDER, " /skills "), (SESSION_SKILL, "slug"), (NAME, "first"), (BETTER, " lower "),
        ):  # fmt: skip
            await form.type(field.name, text)
        await form.press("enter")
        assert form.returned == [
            StartSession("first", "slug", "pnl", "$", Direction.LOWER, "/skills")
        ]
