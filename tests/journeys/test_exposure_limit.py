"""A limit set on the page of exposure: the ticket says it, the service holds it."""

from pathlib import Path

import pytest

from kit.console.walk import walking
from service_tui.clock import ManualClock
from service_tui.desk.slices.tickets import TicketState

pytestmark = pytest.mark.slow


async def test_a_buy_beyond_a_limit_is_named_on_the_ticket_and_refused(tmp_path: Path) -> None:
    async with walking(tmp_path, ManualClock(), size=(120, 40), speed=0) as walk:
        await walk.until(lambda s: len(s.markets) > 60 and s.limits)
        market = next(iter(walk.state.markets.values()))
        await walk.press("2")
        walk.app.front.focus_row(market.market_id)
        await walk.press("b", *"25", "enter")
        await walk.until(lambda s: s.positions)
        await walk.press("quotation_mark")
        await walk.until(lambda s: s.holdings and s.holdings.holdings)
        assert market.category in walk.text
        await walk.press("l", *"30", "enter")
        await walk.until(lambda s: s.holdings and s.holdings.limits)
        assert "30.00" in walk.text
        await walk.press("2")
        walk.app.front.focus_row(market.market_id)
        await walk.press("b", *"25")
        await walk.until(lambda s: s.quote is not None and s.quote.warning)
        said = f"limit of 30.00 $SIM in {market.category}: refused"
        assert said in " ".join(walk.text.split())
        await walk.press("enter")
        await walk.until(lambda s: s.tickets[0].state is TicketState.REFUSED)
        assert len(walk.state.positions) == 1
