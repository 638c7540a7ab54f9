"""Orders that rest: sent once, listed, met in part, cancelled, and looked up where unknown."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from kit.clock import leap
from kit.desk.faults import TRADES, Fault, is_order, said
from kit.desk.live_orders import placed
from kit.desk.redeeming import balance
from kit.desk.resting_orders import owned, sell_at, work
from service_tui.desk.changes import Changed
from service_tui.desk.commands.halt import ExitAll, Halt
from service_tui.desk.commands.trading import CancelOrders
from service_tui.desk.reasons import Fix
from service_tui.desk.slices.tickets import NO_TRACE, TicketState
from service_tui.desk.slices.topics import Topic
from service_tui.desk.trading.lookup import EARLIER_S, look_at_books
from service_tui.desk.trading.preflight import preflight
from service_tui.terms import Action, OrderType, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

pytestmark = pytest.mark.slow

ORDERS = "/api/sdk/orders/open"


async def test_an_order_rests_is_met_in_part_and_its_rest_is_cancelled(tmp_path: Path) -> None:
    async with work(tmp_path) as on:
        price, cash = on.below(), balance(on.stage)
        await on.rest(price)
        (sent,) = on.line.orders()
        assert (sent["order_type"], sent["price"]) == ("GTC", price)
        assert on.signer.count == 1
        signed = sent["signed_order"]
        maker, taker = int(signed["makerAmount"]), int(signed["takerAmount"])
        # Amounts of the limit: money for whole hundredths of a share, never above the spend.
        assert taker % 10_000 == 0
        assert maker == taker * round(price * ONE) // ONE <= 30 * ONE

        state = await on.until(lambda s: s.orders)
        (order,) = state.orders
        assert (order.side, order.action, order.price) == (Side.YES, Action.BUY, price)
        assert (order.shares, order.filled) == (taker, 0)
        assert balance(on.stage) == cash - order.money
        assert state.tickets[0].limit == price

        await on.met(12)
        state = await on.until(lambda s: s.orders and s.orders[0].filled)
        assert state.orders[0].filled == 12 * ONE
        assert any("12.00 filled" in one.text for one in state.notices)
        row = await on.until(lambda s: s.redemption.row(f"{on.market.market_id}:yes"))
        assert row.redemption.row(f"{on.market.market_id}:yes").shares == 12 * ONE

        on.desk.submit(CancelOrders((order.order_id,)))
        await on.until(lambda s: not s.orders)
        assert balance(on.stage) == cash - round(12 * price * ONE)
        assert not on.stage.world.venues.orders(on.stage.agent_id)
        assert len(on.line.orders()) == 1
        assert any(
            "done" in one.text and " USDC.e released" in one.text for one in on.desk.state.notices
        )


async def test_an_order_until_a_moment_is_signed_with_it_listed_and_ends_there(
    tmp_path: Path,
) -> None:
    async with work(tmp_path) as on:
        cash = balance(on.stage)
        until = Timestamp(float(int(on.stage.clock.now()) + 190))
        await on.rest(on.below(), expires_at=until)
        (sent,) = on.line.orders()
        assert (sent["order_type"], sent["expiration"]) == ("GTD", until)
        assert sent["signed_order"]["expiration"] == str(int(until))
        state = await on.until(lambda s: s.orders)
        assert (state.orders[0].order_type, state.orders[0].expires_at) == (OrderType.GTD, until)
        await leap(on.stage.clock, 191)
        await on.until(lambda s: not s.orders)
        assert balance(on.stage) == cash
        assert any("ended unfilled" in one.text for one in on.desk.state.notices)
        # What is past, too soon for the venue, or too far off is not sent at all.
        for away_s in (-1, 29, 179, 366 * 86_400):
            late = on.order(on.below(), expires_at=Timestamp(on.stage.clock.now() + away_s))
            state_, told = await placed(on.desk, on.stage, late)
            assert (state_, "expiry must be" in told) == (TicketState.REFUSED, True), told
        assert len(on.line.orders()) == 1


async def test_a_fill_or_kill_order_trades_all_or_nothing(tmp_path: Path) -> None:
    async with work(tmp_path) as on:
        cash = balance(on.stage)
        order = replace(on.order(0.99, 30), rests=False, whole=True)
        state, told = await placed(on.desk, on.stage, order)
        (sent,) = on.line.orders()
        assert (sent["order_type"], state) == ("FOK", TicketState.DONE), told
        assert 29 * ONE < cash - balance(on.stage) <= 31 * ONE
        # Nobody sells at this price: nothing is traded, and nothing stays on the book.
        cash = balance(on.stage)
        state, told = await placed(on.desk, on.stage, replace(order, price=on.below(2)))
        assert state is TicketState.REFUSED, told
        assert balance(on.stage) == cash
        assert not on.stage.world.venues.orders(on.stage.agent_id)


async def test_a_fill_of_the_whole_is_told_when_it_comes(tmp_path: Path) -> None:
    async with work(tmp_path) as on:
        await on.rest(on.below(), spend=10)
        state = await on.until(lambda s: s.orders)
        shares = state.orders[0].shares
        assert shares % ONE, "what is left is no whole number of shares"
        await on.met(5)
        await on.until(lambda s: s.orders[0].filled)
        await on.met_whole()
        state = await on.until(lambda s: not s.orders)
        assert any(": filled: bought" in one.text for one in state.notices)
        assert not any("not reported yet" in one.text for one in state.notices)


async def test_only_a_confirmed_order_on_a_tick_with_a_price_is_signed(tmp_path: Path) -> None:
    async with work(tmp_path) as on:
        price = on.below()
        for changed, words in (
            ({"confirmed": False}, "not confirmed"),
            ({"price": None}, "price must be above 0 and below 1"),
            ({"price": 1.5}, "price must be above 0 and below 1"),
            ({"price": price + on.tick() / 3 / ONE}, "off the tick"),
            ({"amount": Micros(ONE)}, "5 shares"),
            ({"venue": Venue.SIM}, "no limit orders on sim"),
            ({"amount": Micros(2_000 * ONE)}, "left of the daily limit"),
            ({"amount": Micros(101 * ONE)}, "limit per trade"),
        ):
            order = replace(on.order(price), **changed)  # type: ignore[arg-type]
            state, told = await placed(on.desk, on.stage, order)
            assert (state, words in told) == (TicketState.REFUSED, True), told
        on.desk.submit(Halt())
        state, told = await placed(on.desk, on.stage, on.order(price))
        assert (state, "halted" in told) == (TicketState.REFUSED, True)
        assert on.signer.count == 0
        assert on.line.orders() == []


async def test_what_open_buys_keep_is_not_spent_twice(tmp_path: Path) -> None:
    async with work(tmp_path) as on:
        for _ in range(4):
            await on.rest(on.below(), spend=90)
        state = await on.until(lambda s: len(s.orders) == 4)
        kept = sum(order.money for order in state.orders)
        assert state.wallet.usdc == balance(on.stage) + kept
        poor = replace(state.wallet, usdc=Micros(kept + 20 * ONE))
        rich = preflight(state, on.order(on.below()), on.stage.clock.now())
        assert rich is None or "wallet" not in rich[0]
        no = preflight(replace(state, wallet=poor), on.order(on.below()), on.stage.clock.now())
        assert no is not None
        assert no == ("above the 20.00 USDC.e in the wallet, less open buys", Fix.LOWER_AMOUNT)


@pytest.mark.parametrize("lists_trades", [True, False])
async def test_an_unknown_order_is_found_where_it_rests(
    tmp_path: Path, *, lists_trades: bool
) -> None:
    async with work(tmp_path, Fault.LOST) as on:
        if not lists_trades:
            lost = on.line.fault

            def fault(request: httpx.Request) -> Any:
                if request.url.path == TRADES:
                    return said({"trades": [], "total_count": 0})
                return lost(request)

            on.line.fault = fault
        ticket = on.desk.submit(on.order(on.below()))
        state = await on.until(lambda s: s.tickets and s.tickets[0].state is TicketState.DONE)
        assert ticket.view.ticket_id == state.tickets[0].ticket_id
        assert "open on the book" in state.tickets[0].outcome
        await on.until(lambda s: s.orders)
        assert len(on.line.orders()) == 1


async def test_the_entry_of_one_that_was_slow_to_leave_proves_nothing(tmp_path: Path) -> None:
    async with work(tmp_path) as on:
        await on.rest(on.below())
        (slow,) = (await on.until(lambda s: s.orders)).tickets
        booked = on.desk.state.orders[0].created_at
        later = Timestamp(booked + EARLIER_S - 2.0)
        lost = replace(slow, ticket_id="lost", state=TicketState.UNKNOWN, settled_at=None)
        lost = replace(lost, opened_at=later, sent_at=later)
        # It was given, and has left, before whatever may be the lost one's; booked it was after.
        early = Timestamp(later - EARLIER_S - 5.0)
        on.desk.ports.emit(Changed(replace(slow, opened_at=early, sent_at=early)))
        said = (await look_at_books([lost], on.desk.ports))["lost"]
        assert said.order is None
        assert "may be another one" in said.doubt


async def test_an_entry_is_no_proof_while_the_clock_of_the_service_is_unknown(
    tmp_path: Path,
) -> None:
    async with work(tmp_path) as on:
        await on.rest(on.below())
        (ticket,) = (await on.until(lambda s: s.orders)).tickets
        on.desk.ports.emit(Changed(replace(ticket, state=TicketState.UNKNOWN, settled_at=None)))
        lost = on.desk.state.tickets[0]

        def ports_at(skew_s: float | None) -> Any:
            client = SimpleNamespace(call=on.desk.ports.client.call, skew_s=skew_s)
            return SimpleNamespace(client=client, state=on.desk.ports.state, refresh=lambda _: None)

        found = (await look_at_books([lost], ports_at(0.0)))[lost.ticket_id]
        assert found.order is not None
        unsure = (await look_at_books([lost], ports_at(None)))[lost.ticket_id]
        assert (unsure.order, unsure.doubt) == (
            None, "a similar order is open and may be another one"
        )  # fmt: skip


async def test_a_listing_on_its_way_at_a_cancel_brings_nothing_back(tmp_path: Path) -> None:
    async with work(tmp_path) as on:
        await on.rest(on.below())
        (order,) = (await on.until(lambda s: s.orders)).orders
        on.line.fault = lambda one: Fault.SILENT if one.url.path == ORDERS else None
        await on.until(lambda _: on.line.waiting)
        on.line.fault = lambda _: None
        on.desk.submit(CancelOrders((order.order_id,)))
        await on.until(lambda s: not s.orders)
        on.line.released.set()
        state = await on.until(lambda s: not s.gone_orders)
        assert not state.orders
        assert not any("ended unfilled" in one.text for one in state.notices)


async def test_a_look_up_leaves_the_news_of_a_fill_to_the_list(tmp_path: Path) -> None:
    async with work(tmp_path) as on:
        await on.rest(on.below(), spend=10)
        (ticket,) = (await on.until(lambda s: s.orders)).tickets
        await on.met_whole()
        other = replace(ticket, ticket_id="other", state=TicketState.UNKNOWN, limit=0.3)
        await look_at_books([other], on.desk.ports)
        state = await on.until(lambda s: not s.orders)
        assert any(": filled: bought" in one.text for one in state.notices)
        assert not any("not reported yet" in one.text for one in state.notices)


async def test_one_of_two_like_it_proves_nothing(tmp_path: Path) -> None:
    async with work(tmp_path) as on:
        price = on.below()
        await on.rest(price)

        def fault(request: httpx.Request) -> Any:
            if is_order(request):
                return said({"error": "broken"}, 500)
            if request.url.path == TRADES:
                return said({"trades": [], "total_count": 0})
            return None

        on.line.fault = fault
        on.desk.submit(on.order(price))
        await on.until(lambda s: s.tickets[0].state is TicketState.UNKNOWN)
        # The first one's entry must not be taken for the second, which never came there.
        await leap(on.stage.clock, 700, step_s=20)
        state = await on.until(lambda s: s.tickets[0].is_lost)
        assert "may be another one" in state.tickets[0].outcome
        assert state.tickets[0].outcome != NO_TRACE


async def test_a_line_without_open_orders_is_asked_for_them_once(tmp_path: Path) -> None:
    async with work(tmp_path) as on:
        assert Topic.ORDERS in on.desk.state.seen or on.line.asked(ORDERS)
        gone = said({"error": "not found"}, 404)
        on.line.fault = lambda request: gone if request.url.path == ORDERS else None
        before = on.line.asked(ORDERS)
        await on.stage.clock.advance(60)
        await on.until(lambda _: True)
        assert on.line.asked(ORDERS) <= before + 1
        assert json.dumps([one.order_id for one in on.desk.state.orders]) == "[]"


async def test_a_list_that_is_not_found_once_hides_no_order(tmp_path: Path) -> None:
    async with work(tmp_path) as on:
        await on.rest(on.below())
        (first,) = (await on.until(lambda s: s.orders)).orders
        gone = said({"error": "not found"}, 404)
        on.line.fault = lambda request: gone if request.url.path == ORDERS else None
        state = await on.until(lambda s: s.service.problem_of is Topic.ORDERS)
        assert state.orders == (first,)
        assert not any("no longer open" in one.text for one in state.notices)
        on.line.fault = lambda _: None
        await on.rest(on.below())
        state = await on.until(lambda s: len(s.orders) == 2)
        assert state.service.problem_of is None


async def test_an_order_that_may_rest_has_the_list_asked_for_again(tmp_path: Path) -> None:
    async with work(tmp_path) as on:
        on.desk._watched.without_orders = True
        await on.rest(on.below())
        await on.until(lambda s: s.orders)


async def test_a_sale_rests_at_its_limit_by_its_own_amounts(tmp_path: Path) -> None:
    async with work(tmp_path) as on:
        held = await owned(on)
        order = await sell_at(on, 20 * ONE)
        signed = on.line.orders()[-1]["signed_order"]
        assert (signed["side"], int(signed["makerAmount"])) == ("SELL", 20 * ONE)
        assert int(signed["takerAmount"]) == 20 * round((order.price or 0) * ONE)
        (resting,) = on.desk.state.orders
        assert (resting.action, resting.shares, resting.price) == (
            Action.SELL, 20 * ONE, order.price,
        )  # fmt: skip
        assert held > 20 * ONE


async def test_what_crosses_fills_at_once_and_the_rest_stays(tmp_path: Path) -> None:
    async with work(tmp_path) as on:
        world = on.stage.world
        times = (world.at, world.world_at)
        first = on.stage.world.venues.book(on.market.market_id).offers(times, bids=False)[0]
        spend = first.shares * first.price // ONE // ONE + 20
        assert spend <= 100, "one trade may spend no more"
        order = on.order(first.price / ONE, spend)
        state, words = await placed(on.desk, on.stage, order)
        assert state is TicketState.DONE, words
        assert "the rest is open on the book" in words
        (resting,) = (await on.until(lambda s: s.orders)).orders
        assert (resting.price, resting.filled) == (order.price, first.shares)


async def test_an_exit_of_everything_goes_before_a_sale_that_rests(tmp_path: Path) -> None:
    async with work(tmp_path) as on:
        held = await owned(on)
        await sell_at(on, held // 10_000 * 10_000)
        key = on.order(0.5).holding
        on.desk.submit(Halt())
        await on.until(lambda s: s.halt is not None and not s.halt.missing)
        assert on.desk.state.orders, "a halt leaves sales alone"
        on.desk.submit(ExitAll((key,)))
        state = await on.until(lambda s: s.halt and s.halt.exits and s.halt.exits.is_over)
        assert any("for the sale: done" in one.text for one in state.notices)
        assert state.tickets[0].state is TicketState.DONE, state.tickets[0]
        assert not on.stage.world.venues.orders(on.stage.agent_id)
        await on.until(lambda s: not s.orders)


async def test_on_the_venue_without_a_key_of_ours_the_service_rests_it(tmp_path: Path) -> None:
    async with work(tmp_path) as on:
        on.market = next(one for one in on.stage.open_markets() if one.listing.home is Venue.SOL)
        order = replace(on.order(on.below(), 20), venue=Venue.SOL)
        state, words = await placed(on.desk, on.stage, order)
        assert (state, "open at" in words) == (TicketState.DONE, True), words
        (sent,) = on.line.orders()
        assert (sent["order_type"], sent["price"]) == ("GTC", order.price)
        assert sent.get("signed_order") is None
        assert on.signer.count == 0
        (resting,) = (await on.until(lambda s: s.orders)).orders
        assert (resting.venue, resting.price) == (Venue.SOL, order.price)
