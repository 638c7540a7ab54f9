"""The reactor at three sizes in every theme, as pictures to be read."""

from dataclasses import replace

import pytest

from kit.console.pictures import assert_at_sizes
from kit.samples.desk import NOW
from kit.samples.reactor import reactor_state
from service_tui.desk.slices.reactor import BreakerView, ReactorView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

STATE = replace(reactor_state(), preferences={"welcome": "seen"})
TRIPPED = BreakerView(5, 5, Timestamp(NOW - 1_010), Timestamp(NOW + 2_590), 7)
BARRED = ReactorView(barred="the reactor needs the Pro plan; this agent is on the free plan")

PICTURES: dict[str, tuple[DeskState, tuple[str, ...]]] = {
    "feed": (STATE, ("j",)),
    "wallets": (STATE, ("o",)),
    "follow": (STATE, ("n",)),
    "config": (STATE, ("f2",)),
    "policy": (STATE, ("o", "l")),
    "mirror": (STATE, ("j", "f")),
    "mirror_all": (STATE, ("j", "F")),
    "breaker": (replace(STATE, reactor=replace(STATE.reactor, breaker=TRIPPED)), ()),
    "barred": (replace(STATE, reactor=BARRED), ()),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PICTURES)
async def test_the_reactor_looks_as_it_is_meant_to(name: str) -> None:
    state, keys = PICTURES[name]
    await assert_at_sizes(state, keys, f"reactor_{name}", "reactor")
