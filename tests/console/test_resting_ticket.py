"""An order that rests, by keys: the ticket, its dialog, and the list where it is cancelled."""

from dataclasses import replace

from textual.widgets import Input, Static

from kit.console.host import Host
from kit.console.limit_draft import open_order
from kit.console.real_ticket import BOTH, REAL, turned
from kit.console.ticket import Ticket, short_quiet, ticket
from kit.samples.desk import NOW
from service_tui.console.forms.confirm import Confirm
from service_tui.console.forms.open_orders import OpenOrders
from service_tui.console.widgets.dialog import ARMED_AFTER_S
from service_tui.desk.commands.trading import CancelOrders
from service_tui.desk.slices.records import Topic
from service_tui.terms import Action, Venue
from service_tui.units import ONE, Micros, Timestamp

__all__ = ["short_quiet"]

assert BOTH


def limit(t: Ticket) -> Input:
    return t.form.query_one("#ticket-limit", Input)


async def quoted(t: Ticket) -> None:
    """What a book says to a buy of 10.00 at 0.45 that nobody meets yet."""
    await t.rest()
    await t.answer(
        shares=Micros(0),
        money=Micros(0),
        average=None,
        rests=Micros(22_220_000),
        reserved=Micros(9_999_000),
    )


async def test_play_money_has_no_limit_and_the_ticket_says_why() -> None:
    async with ticket(REAL) as t:
        t.app.bring(REAL)
        await t.pilot.press("f8")
        assert "No limit orders" in t.text("problem")
        assert not t.form.query_one("#ticket-when").display
        assert not t.form._rests


async def test_an_order_rests_at_the_limit_that_was_typed_and_confirmed() -> None:
    async with ticket(REAL) as t:
        await turned(t)
        await t.pilot.press("1", "0")
        await t.pilot.press("f8")
        assert limit(t).has_focus
        assert "Enter a limit price, tick 0.01" in t.text("problem")
        await t.pilot.press(*"0.455")
        assert "Use 0.45 or 0.46" in t.text("problem")
        assert not t.can_place
        await t.pilot.press("backspace")
        await quoted(t)
        assert (t.asked[-1].order.price, t.asked[-1].order.rests) == (0.45, True)
        for words in ("fills now", "22.22", "max cost", "10.00 USDC.e"):
            assert words in t.text("quote")
        await t.pilot.press("enter")
        dialog = t.app.screen
        assert isinstance(dialog, Confirm)
        body = dialog._question.body.plain
        for words in (
            "buy YES at 0.45 for 10.00 USDC.e",
            "at most 0.45 per share",
            "until cancelled (GTC)",
            "at most 10.00 USDC.e",
            "evm_venue, simulated",
            "stays on the book until filled, cancelled",
        ):
            assert words in body
        assert "Fill-and-kill" not in body
        await t.pilot.pause(2 * ARMED_AFTER_S)
        await t.pilot.press("p")
        (order,) = t.returned
        assert order is not None
        assert (order.rests, order.price, order.confirmed) == (True, 0.45, True)
        assert (order.venue, order.amount) == (Venue.EVM, 10 * ONE)


async def test_back_to_now_the_limit_binds_nothing_any_more() -> None:
    async with ticket(REAL) as t:
        await turned(t)
        await t.pilot.press("f8", *"0.45")
        await t.type("10")
        await quoted(t)
        await t.pilot.press("f8")
        assert not limit(t).display
        assert t.amount.has_focus
        # Figures of the one kind are never shown as those of the other.
        assert "22.22" not in t.text("quote")
        await t.rest()
        assert (t.asked[-1].order.rests, t.asked[-1].order.price) == (False, None)
        await t.pilot.press("f8", "f7")
        assert not t.form._rests, "play money is taken now, which has no book"


async def test_a_sale_at_a_limit_asks_for_what_it_brings_at_least() -> None:
    async with ticket(REAL, action=Action.SELL) as t:
        await turned(t)
        t.form.action_side("yes")
        await t.pilot.press("f8", *"0.6")
        await t.type("20")
        await quoted(t)
        await t.pilot.press("enter")
        assert isinstance(t.app.screen, Confirm)
        body = t.app.screen._question.body.plain
        assert "at least 0.60 per share" in body
        assert "at least 12.00 USDC.e if fully sold, less fees" in body


async def test_the_list_of_open_orders_cancels_what_is_under_its_cursor() -> None:
    two = (open_order(), open_order(order_id="o2", action=Action.BUY, filled=Micros(5 * ONE)))
    state = replace(REAL, orders=two, seen={**REAL.seen, Topic.ORDERS: NOW})
    app = Host(state)
    async with app.run_test(size=(100, 24)) as pilot:
        page = OpenOrders(state, NOW)
        app.push_screen(page)
        await pilot.pause()
        shown = str(page.query_one(".list-rows", Static).content)
        for words in (
            "sell YES 0.00/30.00 filled @ 0.60",
            "18.00 USDC.e at limit",
            "5.00/35.00 filled @ 0.60, 18.00 USDC.e reserved",
        ):
            assert words in shown
        await pilot.press("j", "d")
        assert app.given == [CancelOrders(("o2",), two[1].describe())]
        # The order under the cursor is gone: its neighbour is shown, and no key hits that at once.
        page.take(replace(state, orders=two[:1]), NOW)
        await pilot.press("d")
        assert len(app.given) == 1
        assert (
            app.said[-1] == "the selected row is gone: nothing sent, press again for the row shown"
        )
        await pilot.press("k", "d")
        assert app.given[-1] == CancelOrders(("o1",), two[0].describe())
        await pilot.press("D")
        await pilot.pause(2 * ARMED_AFTER_S)
        assert len(app.given) == 2
        await pilot.press("y")
        assert app.given[-1] == CancelOrders(("o1",))
        page.take(replace(state, orders=()), NOW)
        await pilot.pause()
        assert "No open orders" in str(page.query_one(".list-rows", Static).content)
        await pilot.press("d")
        assert len(app.given) == 3


async def test_a_read_only_desk_cancels_nothing() -> None:
    service = replace(REAL.service, read_only=True)
    state = replace(REAL, orders=(open_order(),), service=service)
    app = Host(state)
    async with app.run_test(size=(100, 24)) as pilot:
        app.push_screen(OpenOrders(state, NOW))
        await pilot.press("d", "D")
        assert app.given == []
        assert app.said[-1].startswith("this desk is read-only")


async def test_the_cursor_stays_in_sight_however_many_orders_rest() -> None:
    many = tuple(open_order(order_id=f"o{number}", price=number / 100) for number in range(1, 41))
    state = replace(REAL, orders=many, seen={**REAL.seen, Topic.ORDERS: NOW})
    app = Host(state)
    async with app.run_test(size=(80, 24)) as pilot:
        app.push_screen(OpenOrders(state, NOW))
        await pilot.pause()
        for _ in range(39):
            await pilot.press("j")
        await pilot.pause()
        rows = "\n".join(strip.text for strip in app.screen._compositor.render_strips())
        assert "▌ sell YES 0.00/30.00 filled @ 0.40" in rows
        assert "d cancel" in rows
        await pilot.press("d")
        assert app.given == [CancelOrders(("o40",), many[-1].describe())]


async def test_the_list_says_how_many_orders_cannot_be_read() -> None:
    service = replace(REAL.service, dropped={Topic.ORDERS: 2})
    state = replace(REAL, orders=(), service=service, seen={**REAL.seen, Topic.ORDERS: NOW})
    app = Host(state)
    async with app.run_test(size=(100, 24)) as pilot:
        page = OpenOrders(state, NOW)
        app.push_screen(page)
        await pilot.pause()
        shown = str(page.query_one(".list-rows", Static).content)
        assert "2 orders unreadable" in shown
        assert "No open orders" not in shown


async def test_an_old_list_says_how_old_it_is_and_why() -> None:
    state = replace(REAL, orders=(open_order(),), seen={**REAL.seen, Topic.ORDERS: NOW})
    app = Host(state)
    async with app.run_test(size=(100, 24)) as pilot:
        page = OpenOrders(state, NOW)
        app.push_screen(page)
        await pilot.pause()
        rows = page.query_one(".list-rows", Static)
        assert "as it was" not in str(rows.content)
        service = replace(REAL.service, problem="it broke", problem_of=Topic.ORDERS)
        page.take(replace(state, service=service), Timestamp(NOW + 600))
        await pilot.pause()
        assert "list from 10m 00s ago: it broke" in str(rows.content)
