"""From play money to a signed order: LIVE typed, venue chosen, dialog read, fill seen."""

from pathlib import Path

import pytest
from textual.widgets import Input

from kit.console.trading import trading
from kit.desk.redeeming import balance
from service_tui.console.forms.trade_form import TradeForm
from service_tui.console.forms.typed_word import TypedWord
from service_tui.console.widgets.dialog import ARMED_AFTER_S
from service_tui.desk.slices.tickets import TicketState
from service_tui.terms import Side, Venue
from service_tui.units import ONE

pytestmark = pytest.mark.slow


async def test_an_order_for_real_money_is_asked_for_signed_once_and_filled(tmp_path: Path) -> None:
    async with trading(tmp_path) as on:
        walk, cash = on.walk, balance(on.walk.stage)
        # Switched off, no ticket has another venue than the one it was opened on.
        await on.ticket("30")
        await walk.press("f7")
        assert "LIVE simulated" not in on.text()
        assert "Live trading is off" in on.text()
        await walk.press("escape", "escape")

        await walk.press("W", "L")
        assert isinstance(walk.app.screen, TypedWord)
        await walk.pilot.pause(2 * ARMED_AFTER_S)
        await walk.press(*"live", "enter")
        assert isinstance(walk.app.screen, TypedWord)
        walk.app.screen.query_one(Input).value = "LIVE"
        await walk.press("enter")
        await walk.until(lambda s: s.wallet.live)
        await on.shown("✓ real money")
        await walk.press("escape")

        # A ticket begins on play money; the venue is chosen, and stands there in words.
        await on.ticket("30")
        await walk.press("f7")
        await on.shown("LIVE simulated, no real money, on evm_venue")
        await on.shown("spend USDC.e 30")
        dialog = await on.asked()
        told = on.text()
        for words in (
            "Real money: place this order?",
            "LIVE",
            "buy YES for 30.00",
            "at most",
            "evm_venue, simulated",
            "USDC.e, on top",
            "Signed with your key, sent once.",
        ):
            assert words in told
        await walk.pilot.pause(2 * ARMED_AFTER_S)
        await walk.press("y")
        assert walk.app.screen is dialog
        assert on.signer.count == 0
        await walk.press("p")

        state = await walk.until(lambda s: s.tickets and not s.tickets[0].in_flight)
        ticket = state.tickets[0]
        assert ticket.state is TicketState.DONE, ticket
        assert on.signer.count == 1
        (order,) = on.line.orders()
        assert order["venue"] == "evm_venue"
        assert order["signed_order"]["signer"] == on.signer.address
        assert len(order["signed_order"]["signature"]) == 132
        assert order["amount"] == 30

        # The fill stands on the console: in the blotter, and as a position of the venue.
        row = f"{on.market.market_id}:{Side.YES.value}"
        state = await walk.until(lambda s: s.redemption.row(row) is not None)
        held = state.redemption.row(row)
        assert (held.venue, held.shares > 0) == (Venue.EVM, True)
        assert cash - 30 * ONE <= balance(walk.stage) < cash
        await walk.press("9")
        assert "✓ done" in on.text()
        await walk.press("5")
        assert on.market.listing.question[:14] in on.text()

        # Switched off again at once: the next ticket cannot leave.
        await walk.press("W", "L")
        await walk.until(lambda s: not s.wallet.live)


async def test_who_cancels_the_dialog_has_signed_nothing(tmp_path: Path) -> None:
    async with trading(tmp_path) as on:
        walk = on.walk
        await on.goes_live()
        await on.ticket("30")
        await walk.press("f7")
        await on.asked()
        await walk.pilot.pause(2 * ARMED_AFTER_S)
        # Enter is on the door that leaves.
        await walk.press("enter")
        assert isinstance(walk.app.screen, TradeForm)
        await walk.press("escape")
        assert on.signer.count == 0
        assert on.line.orders() == []
        assert walk.state.tickets == ()
