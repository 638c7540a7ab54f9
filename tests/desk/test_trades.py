from service_tui.desk.commands import AskQuote, PlaceTrade
from service_tui.desk.records import Phase, TicketState
from service_tui.terms import Action, Side, Venue
from service_tui.units import Micros
from support import open_stage, open_test_desk, until


def buy(market, amount=25_000_000, side=Side.YES):
    return PlaceTrade(
        market_id=market.market_id,
        side=side,
        action=Action.BUY,
        venue=Venue.SIM,
        amount=Micros(amount),
    )


def ready(state):
    return state.service.phase is Phase.ONLINE and state.account and state.limits and state.markets


async def test_a_buy_is_filled_and_shows_in_the_portfolio(tmp_path):
    async with open_stage(tmp_path) as stage, open_test_desk(stage) as desk:
        await until(desk, ready, stage.clock)
        market = stage.open_markets()[0]
        ticket = desk.submit(buy(market))
        state = await until(desk, lambda s: s.positions, stage.clock)
        assert (await ticket.wait()).state is TicketState.DONE
        assert state.positions[0].market_id == market.market_id
        assert state.account.cash == 9_975_000_000
        assert stage.world.ledger.total() == 0


async def test_a_quote_says_what_the_same_order_then_gets(tmp_path):
    async with open_stage(tmp_path, speed=0) as stage, open_test_desk(stage) as desk:
        await until(desk, ready, stage.clock)
        order = buy(stage.open_markets()[3])
        desk.submit(AskQuote(1, order))
        quote = (await until(desk, lambda s: s.quote, stage.clock)).quote
        desk.submit(order)
        held = (await until(desk, lambda s: s.positions, stage.clock)).positions[0]
        assert quote.ok
        assert quote.shares == held.shares
        assert quote.cash_after == 9_975_000_000
        assert quote.max_win == held.shares - order.amount
