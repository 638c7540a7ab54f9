"""An open order ticket, typed into and read."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from kit.console.host import Host, until
from kit.samples.desk import NOW, sample_state
from service_tui.console.forms import trade_form
from service_tui.console.forms.trade_form import TradeForm
from service_tui.desk.commands.trading import PlaceTrade, RequestQuote
from service_tui.desk.slices.orders import OpenOrderView
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.state import DeskState
from service_tui.terms import Action, Side, Venue
from service_tui.units import Micros

STATE = sample_state()


HELD = STATE.positions[0]


MARKET = STATE.markets[HELD.market_id]


@pytest.fixture(autouse=True)
def short_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trade_form, "QUIET_S", 0.02)


@dataclass
class Ticket:
    """An open ticket, seen from outside."""

    pilot: Pilot[None]
    app: Host
    form: TradeForm
    returned: list[PlaceTrade | None] = field(default_factory=list)

    def text(self, part: str) -> str:
        return str(self.form.query_one(f"#ticket-{part}", Static).content)

    @property
    def amount(self) -> Input:
        return self.form.query_one("#ticket-amount", Input)

    @property
    def reasoning(self) -> Input:
        return self.form.query_one("#ticket-reasoning", Input)

    @property
    def can_place(self) -> bool:
        return not self.form.query_one("#ticket-place").disabled

    @property
    def asked(self) -> list[RequestQuote]:
        return [command for command in self.app.given if isinstance(command, RequestQuote)]

    async def type(self, text: str) -> None:
        self.amount.value = text
        await self.pilot.pause()

    async def rest(self) -> None:
        await until(self.pilot, lambda: self.form._quiet is None)
        await self.pilot.pause()

    async def quoted(self, text: str, **changes: object) -> None:
        await self.type(text)
        await self.rest()
        await self.answer(**changes)

    async def answer(self, **changes: object) -> None:
        ask = self.asked[-1]
        quote = QuoteView(
            request_id=ask.request_id,
            ok=True,
            shares=Micros(51_200_000),
            money=ask.order.amount or Micros(24_000_000),
            average=0.4883,
            price_before=0.482,
            price_after=0.495,
            cash_after=Micros(8_189_330_000),
            max_loss=ask.order.amount,
            max_win=Micros(26_200_000),
        )
        self.app.bring(replace(self.app.state, quote=replace(quote, **changes)))
        await self.pilot.pause()


@asynccontextmanager
async def ticket(
    state: DeskState = STATE,
    *,
    size: tuple[int, int] = (80, 24),
    side: Side | None = None,
    action: Action = Action.BUY,
    venue: Venue = Venue.SIM,
    amends: OpenOrderView | None = None,
) -> AsyncIterator[Ticket]:
    app, market = Host(state), state.markets[MARKET.market_id]
    async with app.run_test(size=size) as pilot:
        if amends is None:
            form = TradeForm(state, NOW, market, side=side, action=action, venue=venue)
        else:
            form = TradeForm.amending(state, NOW, market, amends)
        open_ticket = Ticket(pilot, app, form)
        app.push_screen(form, open_ticket.returned.append)
        await pilot.pause()
        yield open_ticket
