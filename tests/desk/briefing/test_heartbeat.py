"""What is said of briefings that do not come."""

from dataclasses import replace

import pytest

from kit.desk.offline import Offline
from kit.samples.desk import NOW, sample_state
from service_tui.desk.briefing.heartbeat import (
    AT_LEAST_S,
    LATE_S,
    _grade,
    late_text,
    silence_s,
    watch_briefing,
)
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.topics import Topic
from service_tui.units import Timestamp

STATE = sample_state(8)


@pytest.mark.parametrize(
    ("late_s", "grade"),
    [(LATE_S, 0), (LATE_S + 0.1, 1), (AT_LEAST_S, 1), (AT_LEAST_S + 0.1, 2)],
)
def test_a_briefing_is_late_and_then_so_late_that_alerts_are_lost(
    late_s: float, grade: int
) -> None:
    assert _grade(late_s) == grade
    lost = "alerts may have expired" if grade == 2 else "alerts not received"
    text = f"no briefing for {late_s // 60:.0f} min, {lost}"
    assert late_text(STATE, late_s) == text


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"problem": "refused", "problem_of": Topic.BRIEFING}, ": refused"),
        ({"problem": "refused", "problem_of": Topic.MARKETS}, ""),
        ({"problem": "", "problem_of": Topic.BRIEFING}, ""),
        (
            {"problem": "refused", "problem_of": Topic.BRIEFING, "phase": Phase.OFFLINE},
            ": no answer from the service",
        ),
    ],
)
def test_a_late_briefing_names_its_own_problem(other: dict[str, object], why: str) -> None:
    state = replace(STATE, service=replace(STATE.service, **other))
    assert late_text(state, 125.0) == f"no briefing for 2 min, alerts not received{why}"


def test_silence_is_counted_from_the_last_briefing_or_from_the_opening() -> None:
    now = Timestamp(NOW + 50)
    assert silence_s(STATE, Timestamp(NOW - 900), now) == 50
    never = {topic: at for topic, at in STATE.seen.items() if topic is not Topic.BRIEFING}
    assert silence_s(replace(STATE, seen=never), Timestamp(NOW - 900), now) == 950
    # A clock that was set back is no silence below nothing.
    assert silence_s(STATE, NOW, Timestamp(NOW - 7)) == 7


class Watched:
    """A desk whose briefing is as old as the test says at each look."""

    def __init__(self, *silences_s: float) -> None:
        self.left = list(silences_s)
        self.on = Offline(STATE)
        self.told: list[tuple[str, str] | None] = []
        self.states: list[str] = []
        self.on.clock.sleep = self.sleep  # type: ignore[method-assign]
        self.look()

    def look(self) -> None:
        if not self.left:
            raise RuntimeError("over")
        at = Timestamp(self.on.clock.now() - self.left.pop(0))
        self.on.state = replace(self.on.state, seen={**STATE.seen, Topic.BRIEFING: at})

    async def sleep(self, delay_s: float) -> None:
        assert delay_s == 15.0
        self.told.append(self.on.words[-1] if self.on.told else None)
        assert all(one.kind is NoticeKind.CONNECTION for one in self.on.told)
        self.states.append(self.on.state.risk.briefing_late)
        self.on.facts.clear()
        self.look()

    async def run(self) -> list[tuple[str, str] | None]:
        with pytest.raises(RuntimeError):
            await watch_briefing(self.on.ports)
        return self.told


LATE = ("bad", "no briefing for 6 min, alerts not received")
LOST = ("bad", "no briefing for 31 min, alerts may have expired")
BACK = ("good", "briefings resumed")


@pytest.mark.parametrize(
    ("silences_s", "told"),
    [
        ([0, 300, 0], [None, None, None]),
        ([360, 0], [None, None]),
        ([360, 365], [None, LATE]),
        ([360, 365, 370], [None, LATE, None]),
        ([360, 365, 0, 0], [None, LATE, BACK, None]),
        ([360, 365, 0, 360, 365], [None, LATE, BACK, None, LATE]),
        ([360, 1_860, 1_870], [None, LOST, LOST]),
        ([1_860, 1_870, 400], [None, LOST, None]),
    ],
)
async def test_a_late_briefing_is_told_once_after_two_looks_and_when_it_is_back(
    silences_s: list[float], told: list[tuple[str, str] | None]
) -> None:
    assert await Watched(*silences_s).run() == told


async def test_the_screen_says_how_late_it_is_and_nothing_once_it_came() -> None:
    watched = Watched(360, 430, 0)
    await watched.run()
    assert watched.states == ["", "no briefing for 7 min, alerts not received", ""]
