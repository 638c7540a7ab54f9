"""The text of the briefing: its content, its length, and privacy."""

from dataclasses import replace

import pytest

from kit.console.doors import running, seen_before
from kit.samples.desk import NOW, sample_state
from service_tui.console.needs import needs
from service_tui.console.screens.overview.detail import briefing_text, is_alarming
from service_tui.console.view_context import ViewContext
from service_tui.desk.slices.briefing import BriefingView, StandingView, VenueBriefing
from service_tui.desk.slices.risk import RiskView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

STATE = seen_before(sample_state())


def told(
    state: DeskState = STATE, later_s: float = 0.0, *, lines: int = 9, width: int = 120
) -> str:
    return briefing_text(ViewContext.of(state, Timestamp(NOW + later_s), width), lines).plain


def late(words: str) -> DeskState:
    return replace(STATE, risk=RiskView(briefing_late=words))


def test_it_says_what_is_grave_what_is_to_be_done_and_what_is_new() -> None:
    first, *rest = told().splitlines()
    assert first.startswith("briefing  0s ago")
    for part in (
        "1 warning ",
        "2 positions to review",
        "1 to redeem",
        "second of 4 agents, -1.20 %",
    ):
        assert part in first
    assert rest[:2] == [
        "! one market holds 41 % of what is at risk",
        "→ redeem m-00012: the outcome is final",
    ]
    assert rest[2].startswith("+ 5 new markets, the first: ")
    assert rest[3] == "+ Try a skill: n (gauge-watcher)"


@pytest.mark.parametrize(
    ("rank", "agents", "percent", "text"),
    [
        (1, 1, -0.01, "first of 1 agent, -0.01 %"),
        (12, 40, 0.0, "number 12 of 40 agents, +0.00 %"),
        (3, None, None, "rank third"),
    ],
)
def test_the_place_among_the_agents_is_in_words(
    rank: int, agents: int | None, percent: float | None, text: str
) -> None:
    known = replace(STATE.briefing, standing=StandingView(percent, None, rank, agents))
    assert told(replace(STATE, briefing=known)).splitlines()[0].endswith(text)


def test_its_age_goes_on() -> None:
    assert "2m ago" in told(later_s=130)


def test_it_is_never_more_than_there_is_room_for() -> None:
    many = replace(STATE.briefing, warnings=tuple(f"warning {place} " * 9 for place in range(30)))
    state = replace(STATE, briefing=many)
    for lines in (1, 3, 9):
        text = told(state, lines=lines, width=40)
        assert len(text.splitlines()) <= lines
        assert all(len(line) <= 40 for line in text.splitlines())
    assert "and 27 more" in told(state)


def test_nothing_said_is_one_line() -> None:
    calm = BriefingView(checked_at=NOW, venues=(VenueBriefing("sim"),), standing=StandingView())
    assert told(replace(STATE, briefing=calm)) == "briefing  0s ago"
    assert told(replace(STATE, briefing=None, seen={})) == "briefing  not received yet"


def test_what_comes_from_outside_is_one_harmless_line() -> None:
    odd = replace(STATE.briefing, warnings=("a\x1b]52;c;\x07b\n[red]c[/",))
    assert "! a ]52;c; b [red]c[/" in told(replace(STATE, briefing=odd)).splitlines()


def test_privacy_masks_its_numbers() -> None:
    private = replace(STATE, preferences={"privacy": "on"})
    rich = replace(STATE.briefing, warnings=("lost 120.50 today",))
    assert "120.50" not in told(replace(private, briefing=rich))


@pytest.mark.parametrize(("age_s", "alarm"), [(1_799, False), (1_801, True)])
def test_after_half_an_hour_without_one_it_is_an_alarm(age_s: float, *, alarm: bool) -> None:
    state = late("no briefing for 30 min, alerts may have expired")
    assert is_alarming(state, Timestamp(NOW + age_s)) is alarm
    head = told(state, age_s).splitlines()[0]
    assert head.startswith(" NO BRIEFING " if alarm else "briefing  LATE")
    assert "30 min" in head
    now = Timestamp(NOW + age_s)
    (need,) = [one for one in needs(state, now) if one.word == "heartbeat"]
    assert need.tone == ("breach" if alarm else "warn")


def test_an_alarm_needs_no_words_of_the_desk() -> None:
    assert "NO BRIEFING  no briefing for 2h 00m" in told(later_s=7_200)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(60, 18), (80, 24), (120, 40)])
async def test_the_screen_shows_it_below_the_rows(size: tuple[int, int]) -> None:
    async with running(STATE, first="attention", size=size) as seen:
        assert "briefing  0s ago" in seen.text
        seen.clock[0] = NOW + 3_600
        await seen.until(lambda: "NO BRIEFING" in seen.text)
        assert seen.app.query_one("#attention-briefing").has_class("-alarm")
