"""A console with a wallet that trades real money on the embedded venues."""

import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from textual.widgets import Input

from kit.console.painted import strips_of
from kit.console.session import SIZE, Session
from kit.desk.faults import Line, breaking
from kit.desk.redeeming import CountingSigner
from kit.service.stage import first_state, open_stage
from kit.service.wallets import market_on_chain, ready
from service_tui.console.app import ConsoleApp
from service_tui.console.forms.confirm import Confirm
from service_tui.console.forms.trade_form import TradeForm
from service_tui.console.theme import load_themes, shipped_folder
from service_tui.console.widgets.dialog import ARMED_AFTER_S
from service_tui.desk.desk import Desk
from service_tui.desk.opening import open_desk
from service_tui.desk.ports import DeskContext
from service_tui.desk.slices.topics import Topic
from service_tui.desk.vault import Vault
from service_tui.engine.amm.market import Market

SEEN = {Topic.MARKETS, Topic.POSITIONS, Topic.WALLET, Topic.ACCOUNT, Topic.REDEMPTIONS}


@dataclass
class Trading:
    """A console whose wallet has everything but the person's word."""

    walk: Session
    line: Line
    signer: CountingSigner
    market: Market

    def text(self) -> str:
        strips = strips_of(self.walk.app.screen)
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
            if isinstance(self.walk.app.screen, Confirm):
                # It is there before it is painted.
                await self.shown("?")
                return self.walk.app.screen
            form = self.walk.app.screen
            assert isinstance(form, TradeForm)
            if form._kept is None:
                await self.walk.press("enter")
            else:
                # A quote that is on its way may be shown a moment later than it came.
                await self.walk.until(lambda _: True)
                await self.walk.pilot.pause()
        raise AssertionError(self.text())


@asynccontextmanager
async def trading(path: Path) -> AsyncGenerator[Trading]:
    async with open_stage(path, speed=0) as whole:
        stage, line = breaking(whole)
        await ready(stage)
        signer = CountingSigner()
        around = DeskContext(
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
