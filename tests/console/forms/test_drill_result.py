"""What the end of a drill says: the score, or why there is none, and the figures behind it."""

from dataclasses import replace

import pytest

from kit.samples.desk import NOW
from service_tui.console.forms.drill import result_text, timeline
from service_tui.desk.slices.drill import DrillResult
from service_tui.units import ONE, Micros

RESULT = DrillResult(
    "run-1", "storm", "A storm", NOW, 10, 125.0, "equity", "$SIM",
    yours=Micros(940 * ONE), best=Micros(1_000 * ONE), worst=Micros(800 * ONE), score=70,
)  # fmt: skip


@pytest.mark.parametrize(
    ("score", "said", "ink"),
    [
        (None, "No score: ended after 2:05 of 10:00", "bold warn"),
        (0, "Score 0 of 100", "bold loss"),
        (100, "Score 100 of 100", "bold profit"),
    ],
)
def test_the_score_is_said_or_why_there_is_none(score: int | None, said: str, ink: str) -> None:
    text = result_text(replace(RESULT, score=score))
    assert text.plain.splitlines()[0] == said
    assert text.spans[0].style == ink


def test_the_figures_are_those_of_the_three_courses() -> None:
    lines = [line.split() for line in result_text(RESULT).plain.splitlines()[1:]]
    assert lines == [
        ["you", "940.00", "$SIM", "equity"],
        ["best", "listed", "course", "1,000.00", "$SIM", "equity"],
        ["score", "0", "at", "800.00", "$SIM", "equity"],
        ["cost", "against", "the", "best", "60.00", "$SIM", "equity"],
    ]
    masked = result_text(RESULT, masked=True).plain
    assert "940" not in masked
    assert "60.00" not in masked


def test_who_beats_the_best_listed_course_has_a_gain_and_no_cost() -> None:
    better = replace(RESULT, yours=Micros(1_050 * ONE))
    line = result_text(better).plain.splitlines()[-1]
    assert line.split() == ["better", "than", "the", "best", "by", "50.00", "$SIM", "equity"]
    same = replace(RESULT, yours=RESULT.best)
    assert result_text(same).plain.splitlines()[-1].startswith("cost against the best")


def test_a_drill_in_which_nothing_happened_says_so() -> None:
    assert timeline(()).plain == "nothing"
