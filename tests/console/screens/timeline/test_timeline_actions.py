"""What each key of the timeline does: where it leads, and what is listed."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kit.console.acting import StubScreen, perform
from kit.samples.desk import NOW, sample_state
from service_tui.console import moments
from service_tui.console.messages import GoTo
from service_tui.console.moments import MomentKind, MomentView
from service_tui.console.screens.timeline.actions import ACTIONS, AWAY, OURS
from service_tui.units import Timestamp

KINDS = tuple(MomentKind)[:2]
FIRST = MomentView(
    "k1", NOW, KINDS[0], "bought", screen="blotter", row="t1", market_id="m1", is_own=False
)
SECOND = MomentView("k2", NOW, KINDS[1], "closed", is_own=True, is_away=True)
ROWS = (FIRST, SECOND)


def on(*rows: Any) -> StubScreen:
    spec = SimpleNamespace(rows=lambda _: ROWS)
    return StubScreen(sample_state(), rows, spec=spec, only=OURS)


def press(screen: StubScreen, key: str) -> str:
    return perform(screen, ACTIONS, f"timeline.{key}")


@pytest.mark.parametrize(
    ("key", "target"), [("open", ("blotter", "t1")), ("market", ("markets", "m1"))]
)
def test_a_moment_leads_to_its_row_and_its_market(key: str, target: tuple[str, str]) -> None:
    screen = on(FIRST)
    press(screen, key)
    (message,) = screen.posted
    assert isinstance(message, GoTo)
    assert (message.screen_name, message.row) == target


def test_a_moment_that_leads_nowhere_says_so() -> None:
    assert press(on(SECOND), "open") == "nothing to show: no other screen has it"
    assert press(on(SECOND), "market") == "no market in this row"
    for key in ("open", "market"):
        assert press(on(), key) == "select a row"


def test_all_each_kind_that_there_is_and_this_desk_follow_each_other() -> None:
    screen = on(FIRST)
    seen = []
    for _ in range(5):
        press(screen, "kind")
        assert len(screen.calls) == len(seen) + 1
        seen.append(None if screen.only is None else [screen.only.wants(row) for row in ROWS])
        assert screen.calls[-1] == "filter_rows"
    assert seen == [None, [True, False], [False, True], [False, True], None]
    assert screen.only is None


def test_what_happened_meanwhile_is_shown_and_this_desk_again() -> None:
    screen = on(FIRST)
    press(screen, "away")
    assert screen.only is AWAY
    assert [AWAY.wants(row) for row in ROWS] == [False, True]
    press(screen, "away")
    assert screen.only is OURS
    assert screen.calls == ["filter_rows"] * 2
    screen.only = None
    press(screen, "away")
    assert screen.only is AWAY


@pytest.mark.parametrize(
    ("at_s", "is_away", "wall_s"),
    [
        # Ten seconds of the world are one of the wall.
        (-100, False, -10),
        (-1_000, False, -200),
        (-9_000, False, -900),
        (-1_000, True, -50),
    ],
)
def test_a_moment_of_the_world_has_the_wall_time_at_which_it_could_be_seen(
    at_s: float, wall_s: float, *, is_away: bool
) -> None:
    absence = SimpleNamespace(closed_at=Timestamp(NOW - 200), opened_at=Timestamp(NOW - 50))
    world: Any = SimpleNamespace(
        meanwhile=absence, wall_at=NOW, now=Timestamp(NOW + 5_000), speed=10
    )
    moment = MomentView("m", Timestamp(NOW + 5_000 + at_s), MomentKind.RESOLVED, "resolved YES")
    assert moments._wall_of(replace(moment, is_away=is_away), world) == NOW + wall_s
