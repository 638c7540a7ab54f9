"""What is said of briefings that do not come."""

from dataclasses import replace

import pytest

from kit.samples.desk import NOW, sample_state
from service_tui.desk.heartbeat import AT_LEAST_S, LATE_S, _grade, late_text, silence_s
from service_tui.desk.slices.records import Phase, Topic
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
