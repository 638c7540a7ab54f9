"""An order that rests, by keys: the ticket, its dialog, and the list where it is cancelled."""

import pytest
from textual.widgets import Input

from kit.console.painted import words_of
from kit.console.real_ticket import BOTH, REAL, turned
from kit.console.ticket import Ticket, short_quiet, ticket
from kit.samples.desk import NOW
from service_tui.console.forms.confirm import Confirm
from service_tui.console.widgets.dialog import ARMED_AFTER_S
from service_tui.desk.slices.orders import moment_text
from service_tui.terms import Action, OrderType, Venue
from service_tui.units import ONE, Micros, Timestamp

pytestmark = pytest.mark.slow

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


async def test_an_order_rests_at_the_limit_that_was_typed_and_confirmed() -> None:
    async with ticket(REAL) as t:
        await turned(t)
        await t.pilot.press("1", "0")
        await t.pilot.press("f8", "f8")
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
        body = words_of(dialog)
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
        await t.pilot.press("f8", "f8", *"0.45")
        await t.type("10")
        await quoted(t)
        await t.pilot.press("f8", "f8")
        assert not limit(t).display
        assert t.amount.has_focus
        # Figures of the one kind are never shown as those of the other.
        assert "22.22" not in t.text("quote")
        await t.rest()
        assert (t.asked[-1].order.rests, t.asked[-1].order.price) == (False, None)
        await t.pilot.press("f8", "f8", "f7")
        # Play money is taken now, which has no book.
        assert not t.form.query_one("#ticket-when").display


async def test_a_sale_at_a_limit_asks_for_what_it_brings_at_least() -> None:
    async with ticket(REAL, action=Action.SELL) as t:
        await turned(t)
        t.form.action_side("yes")
        await t.pilot.press("f8", "f8", *"0.6")
        await t.type("20")
        await quoted(t)
        await t.pilot.press("enter")
        assert isinstance(t.app.screen, Confirm)
        body = words_of(t.app.screen)
        assert "at least 0.60 per share" in body
        assert "at least 12.00 USDC.e if fully sold, less fees" in body


async def test_an_order_until_a_moment_is_confirmed_and_returned_with_that_moment() -> None:
    async with ticket(REAL) as t:
        await turned(t)
        await t.type("10")
        await t.pilot.press("f8", "f8", *"0.45")
        await t.pilot.press("f8")
        assert t.form.query_one("#ticket-until", Input).has_focus
        assert "Enter a duration or a time in UTC" in t.text("problem")
        await t.pilot.press(*"2h")
        await quoted(t)
        assert t.asked[-1].order.expires_at == NOW + 7_200
        assert "in 2h 00m" in t.text("expires")
        # Time that passes asks for no other quote, and leaves the one that is shown valid.
        asked = len(t.asked)
        t.form.take(t.app.state, Timestamp(NOW + 1))
        await t.pilot.pause()
        assert len(t.asked) == asked
        await t.pilot.press("enter")
        dialog = t.app.screen
        assert isinstance(dialog, Confirm)
        body = words_of(dialog)
        until = moment_text(Timestamp(NOW + 7_201))
        assert f"until {until} (GTD)" in body
        assert f"buy YES at 0.45 until {until} for 10.00 USDC.e" in body
        assert "until filled, expired, cancelled" in body
        await t.pilot.pause(2 * ARMED_AFTER_S)
        await t.pilot.press("p")
        (order,) = t.returned
        assert order is not None
        assert (order.order_type, order.expires_at) == (OrderType.GTD, NOW + 7_201)


async def test_a_market_order_of_all_or_nothing_is_confirmed_as_such() -> None:
    async with ticket(REAL) as t:
        await turned(t)
        await t.type("10")
        await t.pilot.press("f8")
        await t.rest()
        await t.answer()
        assert t.asked[-1].order.order_type is OrderType.FOK
        await t.pilot.press("enter")
        assert isinstance(t.app.screen, Confirm)
        body = words_of(t.app.screen)
        assert "Fill-or-kill: all of it or nothing. Fills are final." in body
        assert "buy YES fill-or-kill for 10.00 USDC.e" in body
