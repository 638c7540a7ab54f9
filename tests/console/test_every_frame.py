"""What stands around the screens: bars, strips, halts, charts and reports, in many states.

Kept as text, as in `test_every_text`.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from kit.console.limit_draft import open_order
from kit.console.texts import assert_text, told
from kit.samples.attention import everything
from kit.samples.desk import NOW
from kit.samples.filled import filled
from kit.samples.whole import whole_desk
from service_tui.console.charts.sources import ChartName, series_of
from service_tui.console.fleet_strip import standings, strip
from service_tui.console.forms.halt_text import exits_question, halt_text, sold_and_kept
from service_tui.console.screens.overview.detail import absence_text, briefing_text, is_alarming
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.top_bar import (
    approval_bits,
    badge_bits,
    drill_bits,
    money_bits,
    rewound_bits,
    stale_topic,
    team_bits,
    world_bits,
)
from service_tui.desk.persistent_banners import persistent_banners
from service_tui.desk.slices.drill import DrillPhase, DrillView
from service_tui.desk.slices.halt import AckView, ExitAllView, HaltedAgent, HaltView
from service_tui.desk.slices.service import Phase
from service_tui.desk.state import DeskState
from service_tui.terms import Mode, Venue
from service_tui.units import Timestamp

WHOLE = replace(whole_desk(), orders=(open_order(),))
assert WHOLE.world is not None
assert WHOLE.limits is not None
DRILL = DrillView("storm", "A storm", "Survive it", 10, DrillPhase.RUNNING, Timestamp(NOW - 130))
REAL = tuple(
    replace(one, venue=Venue.EVM if place % 2 else Venue.SOL, market_id=f"r{place}")
    for place, one in enumerate(WHOLE.positions[:3])
)
STATES = {
    "whole": WHOLE,
    "masked": replace(WHOLE, preferences={**WHOLE.preferences, "privacy": "on"}),
    "in trouble": everything(),
    "bare": DeskState(service=WHOLE.service),
    "halted": replace(WHOLE, world=replace(WHOLE.world, halted_at=Timestamp(NOW - 75))),
    "selling all": replace(
        WHOLE,
        halt=HaltView(
            Timestamp(NOW - 75),
            acks=tuple(filled(AckView, seed) for seed in range(4)),
            exits=ExitAllView(
                ("h1", "h2", "h3", "h4"), tuple(one.ticket_id for one in WHOLE.tickets[:3]), 1
            ),
            agents=tuple(filled(HaltedAgent, seed) for seed in range(3)),
        ),
    ),
    "paused": replace(WHOLE, limits=replace(WHOLE.limits, paused=True)),
    "rewound": replace(WHOLE, rewound_to=Timestamp(NOW - 600)),
    "drill": replace(WHOLE, drill=DRILL),
    "read-only": replace(WHOLE, service=replace(WHOLE.service, read_only=True)),
    "dry": replace(WHOLE, service=replace(WHOLE.service, mode=Mode.DRY, embedded=False)),
    "offline": replace(
        WHOLE, service=replace(WHOLE.service, phase=Phase.OFFLINE, problem="no route")
    ),
    "cached": replace(WHOLE, from_cache=True),
    "real": replace(WHOLE, on_venues=REAL),
    "live": replace(WHOLE, on_venues=REAL, wallet=replace(WHOLE.wallet, live=True)),
}


def frame(state: DeskState, now: Timestamp) -> Iterator[str]:
    """Bars, strips and pages of a state."""
    view = ViewContext.of(state, now, 100)
    for name, bits in (
        ("approvals", approval_bits(state, now)),
        ("drill", drill_bits(state, now)),
        ("team", team_bits(state)),
        ("badge", badge_bits(3)),
        ("rewound", rewound_bits(state)),
        ("money", money_bits(state, now)),
        ("world", world_bits(state, now)),
    ):
        yield from told(bits, f"{name} ")
    yield f"stale {stale_topic(state, now)}"
    yield f"alarming {is_alarming(state, now)}"
    for width in (30, 60, 160):
        yield from told((strip(standings(state), width),), f"strip {width} ")
    yield from told((briefing_text(view, 6), briefing_text(view, 2)), "briefing ")
    if state.halted_since is not None:
        yield from told((halt_text(state, now),), "halt ")
    sold, kept = sold_and_kept(state)
    yield f"sold {[one.key for one in sold]}, kept {[one.key for one in kept]}"
    yield from told((exits_question(state, sold),), "exits ")
    for banner in persistent_banners(state):
        yield f"banner {banner}"
    absence = None if state.world is None else state.world.meanwhile
    if absence is not None:
        for lines in (3, 12):
            yield from told(
                (absence_text(absence, width=70, lines=lines, masked=view.masked),), "absence "
            )


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("late_s", [0, 7])
def test_what_stands_around_the_screens_is_the_same(name: str, late_s: int) -> None:
    state, now = STATES[name], Timestamp(NOW + late_s)
    assert_text(f"texts/frame_{name.replace(' ', '_')}_{late_s}", frame(state, now))


@pytest.mark.parametrize("name", ["whole", "masked", "bare", "rewound"])
def test_the_charts_are_of_the_same_numbers(name: str) -> None:
    view = ViewContext.of(STATES[name], NOW, 100)
    market_id = WHOLE.positions[1].market_id
    lines = (
        f"{chart.value} {span_s}: {series_of(chart, view, market_id, span_s)}"
        for chart in ChartName
        for span_s in (3_600, 86_400)
    )
    # A function is told by its name, and not by where it lies in memory.
    assert_text(f"texts/charts_{name}", (re.sub(" at 0x[0-9a-f]+", "", line) for line in lines))
