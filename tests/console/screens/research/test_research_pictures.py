"""Autoresearch at three sizes in every theme, as pictures to be read."""

from dataclasses import replace

import pytest

from kit.console.pictures import assert_at_sizes
from kit.samples.desk import sample_state
from kit.samples.research import research_sample
from service_tui.desk.slices.research import DiffView, HoldoutView, JudgedView, ResearchView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

STATE = replace(sample_state(), preferences={"welcome": "seen"}, research=research_sample())
DIFF = """\
 skill.py | 2 +-
 1 file changed, 1 insertion(+), 1 deletion(-)

diff --git a/skill.py b/skill.py
--- a/skill.py
+++ b/skill.py
@@ -1,3 +1,3 @@
 import json
-MIN_EDGE = 0.05
+MIN_EDGE = 0.09
 print(json.dumps({"pnl": pnl_at(MIN_EDGE)}))
"""


def with_research(research: ResearchView) -> DeskState:
    return replace(STATE, research=research)


def held_back(*rows: JudgedView) -> DeskState:
    """A session from which the end of a history is kept back, and what it came to on it."""
    first, *others = STATE.research.sessions
    holdout = HoldoutView("markets", Timestamp(1_761_955_200.0), Timestamp(1_782_864_000.0), rows)
    return with_research(
        replace(STATE.research, sessions=(replace(first, holdout=holdout), *others))
    )


PICTURES: dict[str, tuple[DeskState, tuple[str, ...]]] = {
    "session": (STATE, ()),
    "paused": (STATE, ("o",)),
    "backtest": (STATE, ("b",)),
    "sweep": (STATE, ("b", "enter")),
    "diff": (
        with_research(
            replace(STATE.research, diff=DiffView(":weather-edge", "0000009", text=DIFF))
        ),
        (),
    ),
    "held_back": (held_back(), ()),
    "judged": (
        held_back(
            JudgedView("baseline", 1, None, 1.2, 0.93), JudgedView("best", 9, 3.4, 3.4, -1.31)
        ),
        (),
    ),
    "none": (with_research(ResearchView()), ()),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PICTURES)
async def test_autoresearch_looks_as_it_is_meant_to(name: str) -> None:
    state, keys = PICTURES[name]
    await assert_at_sizes(state, keys, f"research_{name}", "research")
