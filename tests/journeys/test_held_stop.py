"""The stop of what is held, changed from the list of everything held."""

from pathlib import Path

import pytest

from kit.console.walk import walking
from service_tui.clock import ManualClock
from service_tui.desk.state import DeskState

pytestmark = pytest.mark.slow


def stop_of(state: DeskState) -> tuple[float | None, float | None] | None:
    held = state.holdings
    if held is None or not held.holdings:
        return None
    return held.holdings[0].stop, held.holdings[0].target


async def test_a_stop_is_set_kept_and_taken_off_from_the_page(tmp_path: Path) -> None:
    async with walking(tmp_path, ManualClock(), size=(120, 40), speed=0) as walk:
        await walk.until(lambda s: len(s.markets) > 60 and s.limits)
        market = next(iter(walk.state.markets.values()))
        await walk.press("2")
        walk.app.front.focus_row(market.market_id)
        await walk.press("b", *"25", "enter")
        await walk.until(lambda s: s.positions)
        await walk.press("quotation_mark", "o", "o")
        await walk.until(lambda s: stop_of(s) is not None)
        before = stop_of(walk.state)
        await walk.press("e", *"60", "tab", *"40", "enter")
        await walk.until(lambda s: stop_of(s) != before and (stop_of(s) or (0, 0))[1] is not None)
        both = stop_of(walk.state)
        assert both is not None
        await walk.press("e", *"off", "enter")
        await walk.until(lambda s: stop_of(s) == (None, both[1]))
        # Without its target, too, nothing is left to watch.
        await walk.press("e", "tab", *"off", "enter")
        await walk.until(lambda s: stop_of(s) == (None, None))
