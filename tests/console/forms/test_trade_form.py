"""The order ticket: keys, quotes, bounds, and the order that it sends."""

from dataclasses import replace

import pytest
from textual.widgets import Input, Static

from kit.console.host import Host, until
from kit.console.limit_draft import open_order
from kit.console.real_ticket import REAL
from kit.console.snapshot import assert_snapshot
from kit.console.ticket import HELD, MARKET, STATE, ticket
from kit.samples.desk import NOW
from service_tui.console.forms import trade_form
from service_tui.console.forms.confirm import Confirm
from service_tui.console.forms.form import SECOND_THOUGHT_S
from service_tui.console.forms.ticket_guards import SLIPPAGE
from service_tui.console.forms.trade_form import CHANGED, TradeForm, first_amount
from service_tui.console.widgets.dialog import ARMED_AFTER_S
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.slices.topics import Topic
from service_tui.outcome import YES
from service_tui.terms import PROSE_MAX, Action, MarketStatus, Side, Venue
from service_tui.units import ONE, Micros, Probability, Timestamp

pytestmark = pytest.mark.slow

THEMES = {
    (60, 18): ("night",),
    (80, 24): ("night",),
    (120, 40): ("night", "paper"),
}
AT_QUOTE = replace(STATE, markets={**STATE.markets, MARKET.market_id: replace(MARKET, price=0.482)})
"""The state in which the sample's quote was reckoned."""


async def test_an_empty_ticket_says_what_to_do_and_places_nothing() -> None:
    async with ticket() as t:
        assert t.text("question") == MARKET.question
        assert "play money" in t.text("market")
        assert "Enter an amount" in t.text("problem")
        assert not t.can_place
        await t.pilot.press("enter")
        assert t.returned == []
        assert t.asked == []


async def test_a_service_on_this_machine_is_asked_at_each_key() -> None:
    async with ticket() as t:
        await t.type("2")
        assert t.form._quiet is None
        await t.type("25")
        assert t.form._quiet is None
        assert [ask.order.amount for ask in t.asked] == [2 * ONE, 25 * ONE]


async def test_a_service_on_a_network_is_asked_when_the_keys_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trade_form, "QUIET_S", 3_600.0)
    state = replace(STATE, service=replace(STATE.service, embedded=False))
    async with ticket(state) as t:
        await t.type("2")
        await t.type("25")
        assert t.asked == []
        t.form._rested()
        await t.pilot.pause()
        assert [ask.order.amount for ask in t.asked] == [25 * ONE]


async def test_typing_asks_a_quote_and_shows_the_answer() -> None:
    async with ticket() as t:
        t.amount.value = "2"
        t.amount.value = "25"
        await t.rest()
        assert [ask.order.amount for ask in t.asked] == [25 * ONE]
        await t.answer()
        shown = t.text("quote")
        for words in ("51.20", "0.482 → 0.495 ▲", "0.488", "0.6 points", "8,189.33 $SIM"):
            assert words in shown
        assert "-25.00 $SIM" in shown
        assert "+26.20 $SIM" in shown
        assert t.text("age").startswith("indicative quote")


async def test_enter_places_once_and_the_ticket_is_gone() -> None:
    async with ticket(side=Side.NO) as t:
        await t.quoted("25")
        await t.pilot.press("enter", "enter")
        await t.pilot.pause()
        (order,) = t.returned
        assert order is not None
        assert (order.market_id, order.side, order.action) == (
            MARKET.market_id,
            Side.NO,
            Action.BUY,
        )
        assert (order.amount, order.venue, order.price) == (25 * ONE, Venue.SIM, None)
        assert t.app.screen is not t.form


async def test_an_enter_before_the_quote_is_kept_and_sends_at_its_price() -> None:
    async with ticket(AT_QUOTE) as t:
        await t.pilot.press("2", "5", "enter")
        # Nothing is placed before its quote was seen, and the quote is asked for at once.
        assert t.returned == []
        assert t.asked[-1].order.amount == 25 * ONE
        assert t.text("problem").startswith("sends once quoted")
        assert "do not send" in t.text("place")
        await t.answer(average=0.4883)
        (order,) = t.returned
        assert order is not None
        assert (order.amount, order.price) == (25 * ONE, 0.4981)


async def test_a_kept_enter_is_taken_back_by_enter_escape_or_another_amount() -> None:
    for keys in (("enter",), ("escape",), ("f5",), ("backspace", "0"), ("f1",), ("0",)):
        async with ticket() as t:
            await t.pilot.press("2", "5", "enter", *keys)
            assert "sends" not in t.text("problem"), keys
            await t.rest()
            await t.answer()
            t.app.bring(later_s=1.0)
            await t.pilot.pause()
            assert t.returned == [], keys
            assert t.app.screen is t.form, keys


async def test_a_kept_enter_that_cannot_be_carried_out_says_why() -> None:
    async with ticket(AT_QUOTE) as t:
        await t.pilot.press("2", "5", "enter")
        await t.answer(ok=False, problem="2,000 a market", fix="spend less")
        assert t.text("problem") == "not sent: 2,000 a market. Spend less"
        await t.pilot.press("backspace", "enter")
        for _ in range(5):
            t.app.bring(later_s=1.0)
            t.app.bring(replace(t.app.state, seen=dict.fromkeys(Topic, t.app.now)))
        await t.pilot.pause()
        assert t.text("problem").startswith("not sent: no quote within 5 s")
        await t.answer()
        await t.pilot.press("f4", "enter")
        await t.answer(price_before=0.1, price_after=0.4)
        assert "30.0 points" in t.text("problem")
        assert t.returned == []


@pytest.mark.parametrize("action", Action)
async def test_a_kept_enter_beyond_its_quote_leaves_the_ticket_open(action: Action) -> None:
    # The quote was reckoned at one price, and the market is at another by the time it comes.
    average = 0.2 if action is Action.BUY else 0.9
    async with ticket(side=HELD.side, action=action) as t:
        await t.pilot.press("2", "5", "enter")
        await t.answer(average=average, price_before=average, price_after=average)
        assert t.returned == []
        assert t.text("problem").startswith("not sent: price moved beyond the quote")
        assert t.amount.value == "25"
        await t.rest()
        await t.answer()
        await t.pilot.press("enter")
        (order,) = t.returned
        assert order is not None
        assert (order.amount if action is Action.BUY else order.shares) == 25 * ONE


async def test_a_figure_behind_a_kept_enter_takes_it_back_and_changes_the_amount() -> None:
    async with ticket() as t:
        await t.pilot.press("2", "5", "enter")
        assert "a new amount cancels" in t.text("problem")
        await t.pilot.press("1")
        assert t.amount.value == "251"
        assert t.text("problem") == CHANGED
        assert "do not send" not in t.text("place")
        await t.rest()
        await t.answer()
        t.app.bring(later_s=1.0)
        await t.pilot.pause()
        assert t.returned == []
        await t.pilot.press("enter")
        (order,) = t.returned
        assert order is not None
        assert order.amount == 251 * ONE


async def test_an_order_that_moves_the_price_far_wants_a_second_thought() -> None:
    async with ticket() as t:
        await t.quoted("25", price_before=0.1, price_after=0.4)
        await t.pilot.press("enter", "enter")
        assert t.returned == []
        assert "30.0 points" in t.text("problem")
        await until(t.pilot, lambda: t.form._far_confirmed is not None)
        await t.pilot.press("enter")
        assert len(t.returned) == 1


async def test_two_orders_to_place_in_one_breath_are_one() -> None:
    async with ticket() as t:
        await t.quoted("25")
        t.form.action_place()
        t.form.action_place()
        t.form.action_cancel()
        await t.pilot.pause()
        assert len(t.returned) == 1


async def test_escape_places_nothing_and_keeps_the_reasoning() -> None:
    async with ticket() as t:
        t.reasoning.value = "the gauge rises"
        await t.type("25")
        await t.pilot.press("escape")
        assert t.returned == []
        assert "esc again" in t.text("problem")
        await t.pilot.press("right")
        assert "esc again" not in t.text("problem")
        await t.pilot.press("escape", "escape")
        assert t.returned == [None]
        kept = SetPreference(f"draft.{MARKET.market_id}", "the gauge rises")
        assert kept in t.app.given
    later = replace(STATE, preferences={kept.name: kept.value})
    async with ticket(later) as t:
        assert t.reasoning.value == "the gauge rises"
        await t.quoted("25")
        await t.pilot.press("enter")
        assert t.returned[0] is not None
        assert t.returned[0].reasoning == "the gauge rises"
        assert SetPreference(kept.name, "") in t.app.given


async def test_an_enter_that_keeps_the_ticket_places_nothing() -> None:
    async with ticket() as t:
        await t.quoted("25")
        await t.pilot.press("escape")
        assert "esc again" in t.text("problem")
        await t.pilot.press("enter")
        assert (t.returned, t.app.screen is t.form) == ([], True)
        assert "esc again" not in t.text("problem")
        await t.pilot.press("enter")
        assert len(t.returned) == 1


async def test_escape_leaves_an_empty_ticket_at_once_and_cancel_any() -> None:
    async with ticket() as t:
        await t.pilot.press("escape")
        assert t.returned == [None]
    async with ticket() as t:
        await t.type("abc")
        await t.pilot.press("escape")
        assert "esc again" in t.text("problem")
        await t.pilot.click("#ticket-cancel")
        assert t.returned == [None]


async def test_presets_fill_the_amount_by_key_and_by_mouse() -> None:
    async with ticket() as t:
        for key, text in (("f1", "5.00"), ("f2", "25.00"), ("f3", "100.00"), ("f4", "500.00")):
            await t.pilot.press(key)
            assert t.amount.value == text
            assert t.can_place
        await t.pilot.click("#ticket-presets", offset=(1, 0))
        assert t.amount.value == "5.00"


async def test_sides_turn_by_key_and_by_mouse() -> None:
    async with ticket() as t:
        await t.type("25")
        await t.pilot.press("f5")
        assert "● NO" in t.text("side")
        await t.pilot.press("f5")
        assert "● YES" in t.text("side")
        assert t.amount.value == "25"
        t.reasoning.focus()
        await t.pilot.press("n", "y")
        assert t.reasoning.value == "ny"
        assert "● YES" in t.text("side")
        t.form.query_one("#ticket-side").focus()
        await t.pilot.press("n")
        assert "● NO" in t.text("side")
        await t.pilot.press("y", "n")
        assert "● NO" in t.text("side")
        await t.pilot.press("left")
        assert "● YES" in t.text("side")
        await t.pilot.click("#ticket-side", offset=(15, 0))
        assert "● NO" in t.text("side")


async def test_letters_are_text_in_the_amount_and_switch_nothing() -> None:
    async with ticket(action=Action.SELL) as t:
        before = t.text("side"), t.text("action")
        await t.pilot.press(*"abcxyn")
        assert t.amount.value == "abcxyn"
        assert (t.text("side"), t.text("action")) == before
        assert "Not a number" in t.text("problem")
        # The switches have keys of their own, and the frame shows them.
        subtitle = str(t.form.query_one("#ticket").border_subtitle)
        assert "F5 side" in subtitle
        assert "F6 buy or sell" in subtitle


async def test_a_sale_starts_on_the_side_that_is_held() -> None:
    async with ticket(action=Action.SELL) as t:
        await t.pilot.press("f4")
        await t.rest()
        assert t.asked[-1].order.everything
        assert t.asked[-1].order.side is HELD.side
        await t.answer(money=Micros(30 * ONE), shares=HELD.shares)
        assert "net proceeds" in t.text("quote")
        assert "30.00 $SIM" in t.text("quote")
        await t.pilot.press("f5")
        assert "No YES position" in t.text("problem")
        assert not t.can_place
        await t.pilot.press("f6")
        assert t.amount.value == ""
        assert "spend" in t.text("unit")


async def test_a_refusal_of_the_quote_stands_inline_with_its_fix_and_bars_the_way() -> None:
    async with ticket() as t:
        await t.type("25")
        await t.rest()
        await t.answer(ok=False, problem="2,000 a market", fix="spend less")
        assert t.text("problem") == "2,000 a market. Spend less"
        assert not t.can_place
        await t.pilot.press("enter")
        assert t.returned == []
        await t.type("24")
        assert t.can_place


async def test_no_figure_of_another_order_is_ever_shown() -> None:
    async with ticket() as t:
        for change in ("26", "abc", "9000", "", "f5", "f6"):
            await t.quoted("25")
            assert "51.20" in t.text("quote")
            if change.startswith("f"):
                await t.pilot.press(change)
            else:
                await t.type(change)
            for figure in ("51.20", "0.482", "0.488", "8,189.33", "26.20"):
                assert figure not in t.text("quote"), change
            assert "25.00" not in t.text("age"), change
            assert t.form.query_one("#ticket-quote").has_class("-old")
            if change == "f5":
                await t.pilot.press("f5")
        await t.pilot.press("f6")
        await t.quoted("25")
        assert "51.20" in t.text("quote")


async def test_the_answer_to_the_last_ticket_is_not_shown_on_the_next() -> None:
    async with ticket() as t:
        await t.type("25")
        await t.rest()
        last = t.asked[-1].request_id
    async with ticket() as t:
        await t.type("25")
        await t.rest()
        assert t.asked[-1].request_id > last


async def test_a_market_that_closes_meanwhile_bars_the_way() -> None:
    async with ticket() as t:
        await t.type("25")
        assert t.can_place
        for change, said in (
            ({"status": MarketStatus.CLOSED}, "Market closed"),
            ({"status": MarketStatus.RESOLVED, "outcome": YES}, "Market resolved YES"),
        ):
            markets = {**STATE.markets, MARKET.market_id: replace(MARKET, **change)}
            t.app.bring(replace(STATE, markets=markets))
            await t.pilot.pause()
            assert said in t.text("problem")
            t.form.action_place()
        await t.pilot.pause()
        assert t.returned == []


async def test_data_of_more_than_five_periods_bars_the_way_until_fresh() -> None:
    async with ticket() as t:
        await t.type("25")
        t.app.bring(later_s=10.5)
        await t.pilot.pause()
        assert "too old to trade" in t.text("problem")
        await t.pilot.press("enter")
        assert t.returned == []
        t.app.bring(replace(STATE, seen=dict.fromkeys(Topic, Timestamp(NOW + 10.5))))
        await t.pilot.pause()
        assert t.can_place


async def test_the_ticket_fits_every_terminal_and_looks_as_kept() -> None:
    async with ticket() as t:
        await t.type("25")
        await t.rest()
        await t.answer()
        for size, themes in THEMES.items():
            await t.pilot.resize_terminal(*size)
            await t.pilot.pause()
            await assert_snapshot(t.pilot, f"trade_form_{size[0]}x{size[1]}", themes=themes)
            for part in ("amount", "problem", "place", "cancel"):
                region = t.form.query_one(f"#ticket-{part}").region
                assert t.form.region.contains_region(region), part
                assert region.area > 0, part
        for size in ((250, 70), (20, 5), (1, 1)):
            await t.pilot.resize_terminal(*size)
        assert t.app.is_running


async def test_the_longest_reasoning_that_can_be_typed_is_sent_whole() -> None:
    async with ticket() as t:
        await t.quoted("25")
        t.reasoning.value = "x" * PROSE_MAX
        await t.pilot.press("enter")
        await until(t.pilot, lambda: bool(t.returned))
        (order,) = t.returned
        assert order is not None
        assert len(order.reasoning) == PROSE_MAX


AMENDING = "Amending changes price and size only"


async def test_an_open_order_is_changed_in_its_price_and_its_size_alone() -> None:
    order = open_order(
        action=Action.BUY, shares=Micros(33_330_000), money=Micros(19_998_000),
        stop_loss_pct=0.1, take_profit_pct=0.25,
    )  # fmt: skip
    state = replace(REAL, orders=(order,))
    async with ticket(state, size=(100, 30), amends=order) as t:
        lines = ("ticket-limit", "ticket-amount", "ticket-stop", "ticket-target")
        shown = [t.form.query_one(f"#{line}", Input).value for line in lines]
        assert shown == ["0.60", "20.00", "10", "25"]
        assert t.app.focused is t.form.query_one("#ticket-limit")
        before = t.asked[-1].order if t.asked else None
        for key in ("f5", "f6", "f7", "f8"):
            await t.pilot.press(key)
            assert (t.text("problem"), t.app.said.pop()) == (AMENDING, AMENDING)
        await t.pilot.click("#ticket-kind", offset=(1, 0))
        assert t.text("problem") == AMENDING
        assert (t.asked[-1].order if t.asked else None) == before
        await t.pilot.press("up")
        assert t.form.query_one("#ticket-limit", Input).value == "0.61"
        assert t.asked[-1].order.price == 0.61
        assert (t.asked[-1].order.side, t.asked[-1].order.venue) == (order.side, Venue.EVM)
        # What came with the ticket is nothing that a first escape would lose.
        await t.pilot.press("escape")
        assert t.returned == [None]
    async with ticket(state, amends=replace(order, expires_at=Timestamp(NOW + 60))) as t:
        assert "limit GTD" in t.text("kind")
        assert not t.form.query_one("#ticket-until").display
        await t.type("7")
        await t.pilot.press("escape")
        assert "esc again" in t.text("problem")
        await t.pilot.press("escape")
        assert t.returned == [None]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"action": Action.BUY, "money": Micros(19_995_000)}, "20.00"),
        ({"action": Action.BUY, "money": Micros(19_994_999)}, "19.99"),
        ({"action": Action.BUY, "money": Micros(20_004_999)}, "20.00"),
        ({"action": Action.SELL, "shares": Micros(12_345_600)}, "12.3456"),
    ],
)
def test_an_open_order_opens_with_its_size_to_the_nearest_cent(
    changes: dict[str, object], text: str
) -> None:
    assert first_amount(open_order(**changes)) == text


async def test_order_types_come_round_with_their_lines_and_their_first_limit() -> None:
    market = replace(REAL.markets[MARKET.market_id], bid=0.47, ask=0.49)
    state = replace(REAL, markets={MARKET.market_id: market})
    async with ticket(state, size=(120, 40), side=Side.YES, venue=Venue.EVM) as t:
        limit, until_line = (
            t.form.query_one(f"#ticket-{line}", Input) for line in ("limit", "until")
        )
        await t.type("10")
        await t.pilot.press("up")
        assert limit.value == "", "a market order has no price to move"
        for words, focused in (
            ("market FOK", t.amount), ("limit GTC", limit), ("limit GTD", until_line),
            ("market FAK", t.amount),
        ):  # fmt: skip
            await t.pilot.press("f8")
            assert f"● {words}" in t.text("kind")
            assert t.app.focused is focused
            assert limit.display is words.startswith("limit")
            assert until_line.display is (words == "limit GTD")
            assert t.text("limit-label") == ("limit" if limit.display else "not above")
        assert limit.value == "0.47"
        # A click on the type that is selected already changes nothing.
        asked = len(t.asked)
        await t.pilot.click("#ticket-kind", offset=(1, 0))
        assert len(t.asked) == asked
        await t.pilot.press("f8", "f8", "up", "up", "down")
        assert (limit.value, t.asked[-1].order.price) == ("0.48", 0.48)
        limit.value = ""
        await t.pilot.press("up")
        assert limit.value == "0.47"
        # Another venue has no book: the limit goes with it.
        await t.pilot.press("f7")
        assert not limit.display
        assert t.asked[-1].order.venue is Venue.SIM
        assert not t.asked[-1].order.rests


async def test_a_stop_needs_no_other_quote_and_only_a_buy_has_one() -> None:
    async with ticket(REAL, size=(120, 40), venue=Venue.EVM) as t:
        await t.quoted("25")
        asked = len(t.asked)
        t.form.query_one("#ticket-stop", Input).value = "10"
        t.form.query_one("#ticket-target", Input).value = "20"
        t.reasoning.value = "why"
        await t.pilot.pause()
        assert t.text("loss").startswith("loss at the stop")
        assert len(t.asked) == asked
        await t.pilot.press("f6")
        assert not t.form.query_one("#ticket-exits").display


async def test_real_money_leaves_only_confirmed_and_only_while_it_may() -> None:
    async with ticket(REAL, side=Side.YES, venue=Venue.EVM) as t:
        await t.quoted(
            "25", average=MARKET.price, price_before=MARKET.price, price_after=MARKET.price
        )
        await t.pilot.press("enter")
        assert isinstance(t.app.screen, Confirm)
        await t.pilot.press("escape")
        assert (t.app.screen, t.returned) == (t.form, [])
        await t.pilot.press("enter")
        # The person reads for a while, and the money is spent elsewhere meanwhile.
        t.form.take(replace(t.app.state, wallet=replace(REAL.wallet, usdc=Micros(ONE))), NOW)
        await t.pilot.pause(2 * ARMED_AFTER_S)
        await t.pilot.press("p")
        assert (t.app.screen, t.returned) == (t.form, [])
        assert t.text("problem").startswith("not sent: ")


async def test_slippage_beyond_the_limit_wants_a_second_enter() -> None:
    slips = {"average": 0.554, "price_before": 0.482, "price_after": 0.56}
    async with ticket() as t:
        await t.quoted("25", **slips)
        assert "7.2 points !" in t.text("quote")
        await t.pilot.press("enter", "enter")
        assert t.returned == []
        expected = "Slippage 7.2 pt is beyond 5 pt. Enter again places the order"
        assert t.text("problem") == expected
        await t.pilot.pause(2 * SECOND_THOUGHT_S)
        await t.pilot.press("enter")
        assert len(t.returned) == 1
    wide = replace(STATE, preferences={**STATE.preferences, SLIPPAGE: "8"})
    async with ticket(wide) as t:
        await t.quoted("25", **slips)
        await t.pilot.press("enter")
        assert len(t.returned) == 1


async def test_a_worst_price_is_asked_and_sent_with_the_order() -> None:
    async with ticket(side=Side.YES, size=(120, 40)) as t:
        await t.type("25")
        worst = t.form.query_one("#ticket-worst", Input)
        assert worst.display
        assert t.text("limit-label") == "not above"
        worst.value = "0.6"
        await t.pilot.pause()
        said = "Price 0.672 is above 0.60. Raise the price of not above, or leave it empty"
        assert t.text("problem") == said
        worst.value = "0.7"
        await t.pilot.pause()
        await t.rest()
        order = t.asked[-1].order
        assert (order.price, order.keeps_price, order.rests) == (0.7, True, False)
        await t.answer()
        await t.pilot.press("enter")
        (sent,) = t.returned
        assert sent is not None
        assert (sent.price, sent.keeps_price) == (0.7, True)
    async with ticket(size=(120, 40)) as t:
        await t.type("25")
        worst = t.form.query_one("#ticket-worst", Input)
        worst.value = "1.2"
        await t.pilot.pause()
        assert t.text("problem").startswith("Not above: a price between 0 and 1")
        # A sale has no such line.
        await t.pilot.press("f6")
        assert not worst.display


async def test_one_key_widens_the_stop_of_a_low_price() -> None:
    low = replace(STATE.markets[MARKET.market_id], price=Probability(0.2))
    state = replace(STATE, markets={MARKET.market_id: low}, risk=replace(STATE.risk, monitors=()))
    async with ticket(state, side=Side.YES, size=(120, 40)) as t:
        await t.pilot.press("f10")
        assert t.text("problem").startswith("No wider stop: enter an amount")
        await t.type("25")
        stop = t.form.query_one("#ticket-stop", Input)
        stop.value = "20"
        await t.pilot.pause()
        assert "only 4.0 points away; F10 sets 30 %" in t.text("loss")
        await t.pilot.press("f10")
        assert stop.value == "30"
        assert t.asked[-1].order.amount == 25 * ONE


async def test_how_far_a_price_may_move_without_a_second_enter() -> None:
    async with ticket() as t:
        await t.quoted("25", average=0.04, price_before=0.0, price_after=0.1)
        await t.pilot.press("enter")
        assert t.text("problem").startswith("Moves the price by 10.0 points. Enter again")
        # Another amount has a second thought of its own.
        await t.quoted("30", average=0.45, price_before=0.4, price_after=0.6)
        await t.pilot.pause(2 * SECOND_THOUGHT_S)
        await t.pilot.press("enter")
        assert t.returned == []
        await t.quoted("31", average=0.45, price_before=0.4, price_after=0.499)
        await t.pilot.press("enter")
        assert len(t.returned) == 1


async def test_on_a_network_an_enter_asks_at_once_and_a_newer_state_waits_for_the_keys() -> None:
    state = replace(STATE, service=replace(STATE.service, embedded=False))
    async with ticket(state) as t:
        t.amount.value = "25"
        t.app.bring(later_s=3.0)
        assert t.asked == []
        await t.pilot.press("enter")
        assert [ask.order.amount for ask in t.asked] == [25 * ONE]


@pytest.mark.parametrize(
    ("before", "note", "leaves", "kept"),
    [
        ("", "", "#ticket-cancel", []),
        ("", "x", "#ticket-place", []),
        ("the gauge rises", "the gauge rises", "#ticket-cancel", []),
        ("the gauge rises", "", "#ticket-cancel", [""]),
    ],
)
async def test_a_note_is_kept_anew_only_where_it_is_another(
    before: str, note: str, leaves: str, kept: list[str]
) -> None:
    name = f"draft.{MARKET.market_id}"
    async with ticket(replace(STATE, preferences={name: before})) as t:
        t.reasoning.value = note
        await t.quoted("25")
        await t.pilot.click(leaves)
        given = [one for one in t.app.given if isinstance(one, SetPreference)]
        assert given == [SetPreference(name, text) for text in kept]


async def test_a_state_that_comes_before_the_ticket_is_shown_in_it() -> None:
    app = Host(STATE)
    async with app.run_test(size=(80, 24)) as pilot:
        form = TradeForm(STATE, NOW, MARKET)
        app.push_screen(form)
        later = replace(MARKET, question="Late?")
        app.bring(replace(STATE, markets={MARKET.market_id: later}))
        await pilot.pause()
        assert str(form.query_one("#ticket-question", Static).content) == "Late?"
