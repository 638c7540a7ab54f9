"""What the end of a drill says: the score, or why there is none, and the figures behind it."""

from dataclasses import replace

import pytest

from kit.console.opened import opened
from kit.samples.desk import NOW
from service_tui.console.forms.drill import DrillBrief, DrillEnd, result_text, timeline
from service_tui.desk.slices.drill import DrillLine, DrillResult, DrillView
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


DRILL = DrillView("flood", "Flood", "Watch the gauge.", 5)


@pytest.mark.slow
async def test_enter_begins_a_drill_and_closing_the_brief_does_not() -> None:
    for key, has_begun in (("escape", False), ("enter", True)):
        async with opened(DrillBrief(DRILL)) as t:
            assert "Watch the gauge." in t.text
            assert "lasts 5 minutes" in t.text
            await t.press(key)
            assert (t.returned, t.dialog.has_begun) == ([None], has_begun)


@pytest.mark.slow
async def test_the_end_of_a_drill_has_its_score_its_advice_and_what_happened() -> None:
    lines = (DrillLine(61.0, "you", "bought"), DrillLine(5.0, "service", "halted"))
    result = replace(RESULT, lines=lines, advice=("Sell early", "Read on"))
    async with opened(DrillEnd(DRILL, result), size=(100, 40)) as t:
        for part in ("Score 70 of 100", "940.00 $SIM", "• Sell early", "• Read on", "nothing"):
            assert part in t.text
        assert t.text.index("bought") < t.text.index("halted")
    async with opened(DrillEnd(DRILL, result, masked=True), size=(100, 40)) as t:
        assert "940.00" not in t.text
        assert "1,000.00" not in t.text
