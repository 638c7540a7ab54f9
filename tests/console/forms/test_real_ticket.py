"""The order ticket on a real venue: its units, its fee, what is held there, and where it leads."""

import re
from dataclasses import replace

import pytest

from kit.console.painted import strips_of
from kit.console.real_ticket import BOTH, REAL, held_there, state_on, turned
from kit.console.ticket import HELD, MARKET, short_quiet, ticket
from kit.samples.desk import NOW
from service_tui.console.fields import FieldError
from service_tui.console.forms.confirm import Confirm
from service_tui.console.forms.live_order import live_order, live_question
from service_tui.console.forms.order_draft import (
    Draft,
    holding,
    read_order,
    sellable,
)
from service_tui.console.forms.trade_form import CHANGED
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.redemption import RedemptionView, Stage
from service_tui.desk.state import DeskState
from service_tui.desk.trading.preflight import HeldSide
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros, Probability

__all__ = ["short_quiet"]

FEE = Micros(420_000)


@pytest.mark.slow
async def test_every_figure_is_in_the_money_of_its_venue_and_the_fee_explains_the_sum() -> None:
    async with ticket(REAL) as t:
        await turned(t)
        await t.quoted(
            "10",
            money=Micros(10 * ONE),
            fee=FEE,
            max_loss=Micros(10_420_000),
            cash_after=Micros(989_580_000),
        )
        shown = t.text("quote")
        for words in (
            "notional",
            "10.00 USDC.e",
            "fee",
            "0.42 USDC.e",
            "-10.42 USDC.e",
            "989.58 USDC.e",
        ):
            assert words in shown
        assert "$SIM" not in shown
        assert t.text("unit") == "spend USDC.e"
        row = strips_of(t.pilot.app.screen)[t.amount.region.y].text
        assert "spend USDC.e 10" in row


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (60, 18)])
async def test_a_real_ticket_shows_the_prices_of_its_venue_and_none_of_sim(
    size: tuple[int, int],
) -> None:
    async with ticket(REAL, size=size, side=Side.YES) as t:
        for bid, ask, buying, selling in (
            (0.28, 0.31, "YES 0.31   ○ NO 0.72", "YES 0.28   ○ NO 0.69"),
            (None, 0.31, "YES 0.31   ○ NO   ", "YES   ○ NO 0.69"),
            (None, None, "YES   ○ NO   ", "YES   ○ NO   "),
        ):
            market = replace(MARKET, price=Probability(0.3), venues=BOTH, bid=bid, ask=ask)
            t.app.bring(replace(REAL, markets={**REAL.markets, MARKET.market_id: market}))
            await t.pilot.pause()
            assert "YES 0.300   ○ NO 0.700" in t.text("side")
            await t.pilot.press("f7")
            assert buying in t.text("side") + "   "
            await t.pilot.press("f6")
            assert selling.strip() in t.text("side")
            await t.pilot.press("f6", "f7")


def test_the_dialog_for_real_money_sums_what_a_buy_costs_with_its_fee() -> None:
    order = PlaceTrade(MARKET.market_id, Side.YES, Action.BUY, Venue.EVM, Micros(20 * ONE))
    quote = QuoteView(
        1, ok=True, shares=Micros(40 * ONE), money=Micros(20 * ONE), fee=Micros(1_080_000)
    )
    body = live_question(order, REAL, quote).body.plain
    assert re.search(r"total +about 21\.08 USDC\.e", body)
    masked = replace(REAL, preferences={**REAL.preferences, "privacy": "on"})
    assert "21.08" not in live_question(order, masked, quote).body.plain


@pytest.mark.slow
async def test_figures_of_one_venue_are_never_shown_in_the_money_of_another() -> None:
    async with ticket(REAL) as t:
        await t.quoted("10")
        assert "8,189.33 $SIM" in t.text("quote")
        await turned(t)
        assert "8,189.33" not in t.text("quote")


@pytest.mark.slow
async def test_a_sale_counts_what_is_held_on_its_venue_alone() -> None:
    here = holding(REAL, MARKET.market_id, HELD.side)
    assert here == HeldSide(HELD.shares, HELD.cost)
    assert holding(REAL, MARKET.market_id, Side.YES, Venue.EVM) == HeldSide(
        Micros(40 * ONE), Micros(20 * ONE)
    )
    assert holding(REAL, MARKET.market_id, Side.NO, Venue.EVM) is None
    ended = replace(REAL, redemption=RedemptionView(rows=(held_there(stage=Stage.READY),)))
    assert holding(ended, MARKET.market_id, Side.YES, Venue.EVM) is None
    async with ticket(REAL, side=Side.YES, action=Action.SELL) as t:
        await turned(t)
        assert "sell (40.00)" in t.text("action")
        await t.quoted("40", money=Micros(24 * ONE), fee=FEE, shares=Micros(40 * ONE))
        shown = t.text("quote")
        # 24.00 less the fee, and that less the cost of 20.00.
        for words in ("24.00 USDC.e", "0.42 USDC.e", "23.58 USDC.e", "+3.58 USDC.e"):
            assert words in shown
        await t.pilot.press("f5")
        assert "sell (none)" in t.text("action")
        await t.type("1")
        assert "No NO position on evm_venue" in t.text("problem")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("state", "words"),
    [(REAL, "LIVE simulated, no real money, on evm_venue"),
     (state_on(*BOTH, embedded=False), "LIVE real money on evm_venue"),
     (state_on(*BOTH, embedded=False, simulated=True), "LIVE simulated, no real money,")],
)  # fmt: skip
async def test_the_ticket_itself_says_whether_the_money_is_real(
    state: DeskState, words: str
) -> None:
    async with ticket(state) as t:
        assert "play money" in t.text("market")
        await turned(t, state)
        assert words in t.text("market")


@pytest.mark.slow
async def test_only_venues_on_which_the_market_trades_are_offered() -> None:
    async with ticket(REAL) as t:
        await turned(t)
        assert t.text("unit") == "spend USDC.e"
        await t.pilot.press("f7")
        assert t.text("unit") == "spend $SIM"
    alone = state_on(Venue.SIM)
    async with ticket(alone) as t:
        await turned(t, alone)
        assert t.app.said == ["Market trades on sim only"]
        assert t.text("problem") == "Market trades on sim only"
        assert t.text("unit") == "spend $SIM"


def test_an_order_for_a_venue_of_another_market_is_refused_in_words() -> None:
    draft = Draft(replace(MARKET, venues=BOTH), Side.YES, Action.BUY, "10", venue=Venue.SOL)
    with pytest.raises(FieldError, match="trades on sim and evm_venue only") as no:
        read_order(REAL, draft, NOW)
    assert MARKET.market_id not in str(no.value)
    unknown = replace(draft, market=MARKET)
    assert read_order(state_on(), unknown, NOW).venue is Venue.SOL


@pytest.mark.slow
async def test_a_key_right_behind_enter_sends_nothing() -> None:
    async with ticket() as t:
        await t.quoted("25")
        line = t.form.query_one("#ticket-amount", PlainInput)
        # The amount is another one before the ticket has heard that it was entered.
        await line.action_submit()
        line.value = "251"
        await t.pilot.pause()
        assert t.amount.value == "251"
        assert t.text("problem") == CHANGED
        assert t.returned == []


def test_the_dialog_for_real_money_names_the_fee_and_a_price_that_is_sent() -> None:
    order = PlaceTrade(MARKET.market_id, Side.YES, Action.BUY, Venue.EVM, Micros(10 * ONE))
    quote = QuoteView(1, ok=True, shares=Micros(20 * ONE), average=1 / 3, fee=FEE)
    bound = live_order(order, quote)
    assert bound.price == 0.34
    body = live_question(bound, REAL, quote).body.plain
    for words in ("buy YES for 10.00 USDC.e", "evm_venue, simulated", "about 0.42 USDC.e, on top"):
        assert words in body
    sale = replace(order, action=Action.SELL, amount=Micros(0), shares=Micros(20 * ONE))
    sold = QuoteView(1, ok=True, shares=Micros(20 * ONE), money=Micros(9 * ONE), fee=FEE)
    body = live_question(sale, REAL, sold).body.plain
    assert "about 8.58 USDC.e after the fee" in body


@pytest.mark.slow
async def test_a_narrow_ticket_on_a_real_venue_keeps_its_doors_and_its_fee() -> None:
    async with ticket(REAL, size=(60, 18)) as t:
        await turned(t)
        await t.quoted("10", fee=FEE)
        strips = strips_of(t.pilot.app.screen)
        text = "\n".join(strip.text for strip in strips)
        for words in ("buy YES for 10.00 USDC.e  enter", "cancel  esc", "fee", "cash after"):
            assert words in text


def test_what_is_sold_first_is_what_is_held_on_whichever_venue() -> None:
    assert sellable(REAL, MARKET.market_id) == (HELD.side, Venue.SIM)
    elsewhere = replace(REAL, positions=())
    assert sellable(elsewhere, MARKET.market_id) == (Side.YES, Venue.EVM)
    assert sellable(elsewhere, "another") is None


@pytest.mark.slow
async def test_an_order_that_no_quote_bounds_does_not_leave() -> None:
    async with ticket(REAL) as t:
        await turned(t)
        await t.quoted("10", money=Micros(10 * ONE), average=None)
        await t.pilot.press("enter")
        await t.pilot.pause()
        assert not isinstance(t.pilot.app.screen, Confirm)
        assert "No quote yet" in t.text("problem")
        await t.quoted("11", money=Micros(11 * ONE), average=0.5)
        await t.pilot.press("enter")
        await t.pilot.pause()
        assert isinstance(t.pilot.app.screen, Confirm)
