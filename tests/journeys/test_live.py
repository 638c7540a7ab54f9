"""From play money to a signed order: LIVE typed, venue chosen, dialog read, fill seen."""

import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from textual.widgets import Input

from desk.redeeming import CountingSigner, balance
from faults import Line, breaking
from journeys.test_redeem import SIZE, Session
from service_tui.console.app import ConsoleApp
from service_tui.console.dialogs.confirm import ARMED_AFTER_S, Confirm
from service_tui.console.dialogs.trade_form import TradeForm
from service_tui.console.dialogs.typed_word import TypedWord
from service_tui.console.theme import load_themes, shipped_folder
from service_tui.desk.desk import Desk
from service_tui.desk.opening import open_desk
from service_tui.desk.ports import Surroundings
from service_tui.desk.records import TicketState, Topic
from service_tui.desk.vault import Vault
from service_tui.engine.market import Market
from service_tui.terms import Side, Venue
from service_tui.units import ONE
from support import first_state, open_stage
from wallets import market_on_chain, ready

SEEN = {Topic.MARKETS, Topic.POSITIONS, Topic.WALLET, Topic.ACCOUNT, Topic.REDEMPTIONS}


@dataclass
class Trading:
    """A console whose wallet has everything but the person's word."""

    walk: Session
    line: Line
    signer: CountingSigner
    market: Market

    def text(self) -> str:
        strips = self.walk.app.screen._compositor.render_strips()
        return "\n".join(strip.text for strip in strips)

    async def shown(self, words: str) -> None:
        """Wait until these words stand on the screen."""
        for _ in range(40):
            if words in self.text():
                return
            # What the desk says is shown a moment later.
            await self.walk.until(lambda _: True)
            await self.walk.pilot.pause()
        raise AssertionError(self.text())

    async def ticket(self, amount: str) -> None:
        """Open the market's ticket and write an amount."""
        await self.walk.press("2")
        self.walk.app.front.focus_row(self.market.market_id)
        await self.walk.press("b")
        assert isinstance(self.walk.app.screen, TradeForm)
        self.walk.app.screen.query_one("#ticket-amount", Input).value = amount

    async def goes_live(self) -> None:
        """Real money is switched on, by its word."""
        await self.walk.press("W", "L")
        await self.walk.pilot.pause(2 * ARMED_AFTER_S)
        self.walk.app.screen.query_one(Input).value = "LIVE"
        await self.walk.press("enter")
        await self.walk.until(lambda s: s.wallet.live)
        await self.walk.press("escape")

    async def asked(self) -> Confirm:
        """The dialog for real money, once the quote has come."""
        await self.walk.until(lambda s: s.quote is not None and s.quote.ok)
        for _ in range(20):
            # A quote that is on its way may have been shown a moment later than it came.
            await self.walk.press("enter")
            if isinstance(self.walk.app.screen, Confirm):
                return self.walk.app.screen
            await self.walk.until(lambda _: True)
        raise AssertionError(self.text())


@asynccontextmanager
async def trading(path: Path) -> AsyncGenerator[Trading]:
    async with open_stage(path, speed=0) as whole:
        stage, line = breaking(whole)
        await ready(stage)
        signer = CountingSigner()
        around = Surroundings(
            stage.client,
            stage.database,
            stage.clock,
            lambda: f"{random.getrandbits(128):032x}",
            random.Random(2),
            vault=Vault(None, signer),
        )
        known = replace(first_state(), preferences={"welcome": "seen"})

        @asynccontextmanager
        async def desk() -> AsyncGenerator[Desk]:
            async with open_desk(known, around) as opened:
                yield opened

        app = ConsoleApp(
            open_desk=desk,
            initial=known,
            now=stage.clock.now,
            themes=load_themes(shipped_folder()),
            log_path="log",
        )
        async with app.run_test(size=SIZE) as pilot:
            walk = Session(app, pilot, stage)
            await walk.until(lambda s: set(s.seen) >= SEEN and s.wallet.can_sign)
            yield Trading(walk, line, signer, market_on_chain(stage))


async def test_an_order_for_real_money_is_asked_for_signed_once_and_filled(tmp_path: Path) -> None:
    async with trading(tmp_path) as on:
        walk, cash = on.walk, balance(on.walk.stage)
        # Switched off, no ticket has another venue than the one it was opened on.
        await on.ticket("30")
        await walk.press("f7")
        assert "LIVE simulated" not in on.text()
        assert "real money is switched off" in on.text()
        await walk.press("escape")

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
            "Your key signs this order for the venue's exchange",
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
