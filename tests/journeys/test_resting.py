"""An order that rests, from the ticket to its cancel: typed, confirmed, signed, met in part."""

from pathlib import Path

import pytest

from kit.console.trading import Trading, trading
from kit.desk.redeeming import balance
from service_tui.console.forms.trade_form import TradeForm
from service_tui.console.widgets.dialog import ARMED_AFTER_S
from service_tui.desk.slices.orders import limit_text
from service_tui.desk.slices.tickets import TicketState
from service_tui.engine.books.resting import Part, meet
from service_tui.terms import Side
from service_tui.units import ONE, Micros


def below_the_bid(on: Trading) -> float:
    """A price at which nobody sells now, on a tick."""
    stage = on.walk.stage
    times = (stage.world.at, stage.world.world_at)
    best = stage.world.venues.book(on.market.market_id).best(times, bids=True)
    assert best is not None
    return (best.price - on.walk.state.markets[on.market.market_id].tick) / ONE


@pytest.mark.slow
async def test_a_person_rests_an_order_sees_it_met_and_cancels_its_rest(tmp_path: Path) -> None:
    async with trading(tmp_path) as on:
        walk, stage = on.walk, on.walk.stage
        cash = balance(stage)
        await on.goes_live()

        # On play money there is no book; on the venue a limit is typed behind F8.
        await on.ticket("30")
        await walk.press("f8")
        assert "No limit orders on sim" in on.text()
        await walk.press("f7", "f8", "f8")
        await on.shown("max cost")
        # A price is suggested; without one the ticket asks for it.
        await walk.press("ctrl+u")
        await on.shown("Enter a limit price, tick ")
        price = below_the_bid(on)
        await walk.press(*limit_text(price))
        await on.shown("max cost              30.00 USDC.e")
        await walk.until(lambda s: s.quote is not None and s.quote.ok and s.quote.rests)
        await on.asked()
        await on.shown("Signed with your key, sent once.")
        told = on.text()
        for words in (
            f"buy YES at {limit_text(price)} for 30.00",
            f"at most {limit_text(price)} per share",
            "until cancelled (GTC)",
            "USDC.e",
        ):
            assert words in told, told
        assert (on.signer.count, on.line.orders()) == (0, [])
        await walk.pilot.pause(2 * ARMED_AFTER_S)
        await walk.press("p")

        # It was signed at that price, taken by the venue, and rests.
        state = await walk.until(lambda s: s.tickets and not s.tickets[0].in_flight)
        assert state.tickets[0].state is TicketState.DONE, state.tickets[0]
        assert "open at" in state.tickets[0].outcome
        (sent,) = on.line.orders()
        assert (sent["order_type"], sent["price"], on.signer.count) == ("GTC", price, 1)
        signed = sent["signed_order"]
        assert int(signed["makerAmount"]) * ONE == int(signed["takerAmount"]) * round(price * ONE)
        (resting,) = stage.world.venues.orders(stage.agent_id)
        assert resting.price == round(price * ONE)
        state = await walk.until(lambda s: s.orders)
        assert balance(stage) == cash - state.orders[0].money

        # Its fill comes later, and is told.
        part = Part(Micros(7 * ONE), Micros(7 * resting.price))
        times = (stage.clock.now(), stage.world.world_at)
        await stage.sim.service.world_store.commit(meet(stage.world.venues, resting, part, times))
        state = await walk.until(lambda s: s.orders and s.orders[0].filled)
        row = f"{on.market.market_id}:{Side.YES.value}"
        state = await walk.until(lambda s: s.redemption.row(row) is not None)
        assert state.redemption.row(row).shares == 7 * ONE

        # The list shows what is left, and cancels it.
        await walk.press("1", "O")
        await on.shown("orders 1")
        await walk.press("d")
        await walk.until(lambda s: not s.orders)
        await on.shown("No open orders")
        assert balance(stage) == cash - 7 * resting.price
        assert not stage.world.venues.orders(stage.agent_id)
        assert len(on.line.orders()) == 1
        assert not isinstance(walk.app.screen, TradeForm)
