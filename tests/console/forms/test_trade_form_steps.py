"""What each key of the order ticket does, step by step, without an app."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from textual import events
from textual.widget import Widget

from kit.console.limit_draft import open_order
from kit.console.real_ticket import MARKET, REAL
from kit.console.ticket import HELD, STATE
from kit.console.unopened import Unopened, unopened
from kit.samples.desk import NOW
from service_tui.console.forms.confirm import Confirm
from service_tui.console.forms.trade_form import (
    CHANGED,
    NOT_SENT,
    SENT,
    TAKEN_BACK,
    TradeForm,
)
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.commands.trading import RequestQuote
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Action, OrderType, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

ELSEWHERE = replace(STATE, service=replace(STATE.service, embedded=False))
"""A service on a network: it is asked for a quote when the keys rest."""


@contextmanager
def ticket(state: DeskState = STATE, **given: Any) -> Iterator[Unopened[TradeForm]]:
    form = TradeForm(state, NOW, state.markets[MARKET.market_id], **given)
    with unopened(form) as seen:
        yield seen


@contextmanager
def real(**given: Any) -> Iterator[Unopened[TradeForm]]:
    with ticket(REAL, venue=Venue.EVM, **given) as t:
        yield t


@contextmanager
def amending(**changes: Any) -> Iterator[Unopened[TradeForm]]:
    order = replace(open_order(), **changes)
    market = REAL.markets[MARKET.market_id]
    with unopened(TradeForm.amending(replace(REAL, orders=(order,)), NOW, market, order)) as seen:
        yield seen


def asked(t: Unopened[TradeForm]) -> list[RequestQuote]:
    return [one for one in t.given if isinstance(one, RequestQuote)]


def answer(t: Unopened[TradeForm], later_s: float = 0.0, **changes: Any) -> None:
    """Bring the quote of the newest request, at the market's own price."""
    ask = asked(t)[-1]
    price = MARKET.price_of(ask.order.side)
    quote = QuoteView(
        ask.request_id, ok=True, shares=Micros(50 * ONE), money=Micros(25 * ONE), average=price,
        price_before=price, price_after=price,
    )  # fmt: skip
    now = Timestamp(t.form._now + later_s)
    fresh = replace(t.form._state, seen=dict.fromkeys(Topic, now))
    t.form.take(replace(fresh, quote=replace(quote, **changes)), now)


def quoted(t: Unopened[TradeForm], amount: str = "25", **changes: Any) -> None:
    t.type("ticket-amount", amount)
    answer(t, **changes)


@pytest.mark.parametrize(
    "give",
    [
        lambda t: t.submit("ticket-amount"),
        lambda t: t.press("ticket-place"),
        lambda t: t.form.action_place(),
    ],
)
def test_an_order_with_its_quote_is_returned_by_the_enter_and_by_the_button_once(
    give: Callable[[Unopened[TradeForm]], object],
) -> None:
    with ticket(side=Side.NO) as t:
        quoted(t)
        give(t)
        give(t)
        (order,) = t.returned
        assert (order.side, order.action, order.amount) == (Side.NO, Action.BUY, 25 * ONE)
        assert t.opened == []


def test_the_other_button_leaves_at_once_and_only_once() -> None:
    with ticket() as t:
        quoted(t)
        t.press("ticket-cancel")
        t.press("ticket-cancel")
        t.form.action_cancel()
        assert t.returned == [None]


def test_no_message_of_a_part_leaves_the_ticket() -> None:
    with ticket() as t:
        quoted(t)
        told = [
            t.type("ticket-amount", "26"),
            t.type("ticket-reasoning", "why"),
            t.pick("ticket-side", 0),
            t.submit("ticket-amount", "another"),
            t.press("ticket-cancel"),
        ]
        assert [message._stop_propagation for message in told] == [True] * 5


def test_an_enter_that_a_later_key_overtook_places_nothing() -> None:
    with ticket() as t:
        quoted(t)
        before = asked(t)
        t.line("ticket-amount").value = "251"
        t.submit("ticket-amount", "25")
        # Nor is a quote of the other amount requested, with which it would go.
        assert (t.returned, asked(t)) == ([], before)
        t.type("ticket-amount", "251")
        assert t.text("ticket-problem") == CHANGED
        t.type("ticket-amount", "252")
        assert t.text("ticket-problem") == ""


def test_the_first_escape_keeps_a_typed_amount_and_the_second_leaves() -> None:
    with ticket() as t:
        t.type("ticket-amount", "25")
        t.form.action_cancel()
        assert (t.returned, t.text("ticket-problem")[:9]) == ([], "esc again")
        t.form.action_cancel()
        assert t.returned == [None]


def test_a_key_between_two_escapes_makes_the_second_the_first() -> None:
    with ticket() as t:
        t.type("ticket-amount", "25")
        for name in ("left", "f5"):
            t.form.action_cancel()
            event = events.Key(name, None)
            t.form.on_key(event)
            assert event._stop_propagation
            assert t.text("ticket-problem") == ""
        t.form.action_cancel()
        t.type("ticket-reasoning", "a note")
        assert t.text("ticket-problem") == ""
        t.form.action_cancel()
        assert t.returned == []
        t.form.on_key(events.Key("escape", None))
        t.form.action_cancel()
        assert t.returned == [None]


def test_a_key_of_the_ticket_is_not_stopped_while_no_escape_stands() -> None:
    with ticket() as t:
        t.form._escaped_at = -100.0
        event = events.Key("left", None)
        t.form.on_key(event)
        assert not event._stop_propagation


@pytest.mark.slow
def test_an_escape_takes_a_kept_enter_back_and_leaves_the_ticket_open() -> None:
    with ticket() as t:
        t.type("ticket-amount", "25")
        t.form.action_place()
        assert t.text("ticket-place") == "do not send  enter"
        assert t.text("ticket-problem").startswith("sends once quoted; enter, esc or")
        t.form.action_cancel()
        assert t.text("ticket-problem") == TAKEN_BACK
        assert t.text("ticket-place") == "buy YES for 25.00 $SIM  enter"
        answer(t)
        assert t.returned == []


def test_a_second_enter_takes_the_kept_one_back() -> None:
    with ticket() as t:
        t.type("ticket-amount", "25")
        t.form.action_place()
        t.form.action_place()
        assert t.text("ticket-problem") == TAKEN_BACK
        answer(t)
        assert t.returned == []
        t.form.action_place()
        assert len(t.returned) == 1


def test_an_enter_asks_at_once_and_ends_the_wait_for_the_keys_to_rest() -> None:
    with ticket(ELSEWHERE) as t:
        t.type("ticket-amount", "2")
        t.type("ticket-amount", "25")
        assert [wait.is_stopped for wait in t.waits] == [True, False]
        t.form.take(ELSEWHERE, NOW)
        assert asked(t) == []
        t.form.action_place()
        assert all(wait.is_stopped for wait in t.waits)
        assert [one.order.amount for one in asked(t)] == [25 * ONE]


def test_keys_that_rest_ask_once_and_a_ticket_that_closed_asks_nothing() -> None:
    with ticket(ELSEWHERE) as t:
        t.type("ticket-amount", "25")
        t.end_waits()
        assert len(asked(t)) == 1
        t.type("ticket-amount", "26")
        t.press("ticket-cancel")
        t.end_waits()
        assert len(asked(t)) == 1


def test_a_kept_enter_waits_so_long_for_its_quote_and_no_longer() -> None:
    with ticket() as t:
        t.type("ticket-amount", "25")
        t.form.action_place()
        t.form.take(STATE, Timestamp(NOW + 4.9))
        assert t.text("ticket-problem").startswith("sends once quoted")
        t.form.take(STATE, Timestamp(NOW + 5.0))
        assert t.text("ticket-problem") == f"{NOT_SENT}no quote within 5 s, enter retries"
        answer(t)
        assert t.returned == []


def test_a_kept_enter_sends_at_the_worst_price_of_its_quote_and_rests_the_keys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rested: list[tuple[Any, str]] = []
    monkeypatch.setattr(
        "service_tui.console.forms.trade_form.rest_keys",
        lambda dialog, why: rested.append((dialog, why)),
    )
    with ticket() as t:
        t.type("ticket-amount", "25")
        t.form.action_place()
        answer(t)
        (order,) = t.returned
        assert order.price == round(MARKET.price * 1.02, 4)
        assert rested == [(t.form, SENT)]


def test_a_kept_enter_whose_order_cannot_be_placed_any_more_says_why() -> None:
    with ticket() as t:
        t.type("ticket-amount", "25")
        t.form.action_place()
        answer(t, ok=False, problem="2,000 a market", fix="spend less")
        assert t.text("ticket-problem") == f"{NOT_SENT}2,000 a market. Spend less"
        assert t.is_disabled("ticket-place")
        assert t.returned == []


def test_a_price_that_moves_far_needs_an_enter_that_comes_after_a_moment() -> None:
    with ticket() as t:
        quoted(t, price_before=0.0, price_after=0.1)
        t.form.action_place()
        t.form.action_place()
        assert t.returned == []
        assert t.text("ticket-problem").startswith("Moves the price by 10.0 points. Enter again")
        t.end_waits()
        t.form.action_place()
        assert len(t.returned) == 1


def test_another_amount_drops_the_second_thought_of_the_last_one() -> None:
    with ticket() as t:
        quoted(t, price_before=0.4, price_after=0.6)
        t.form.action_place()
        quoted(t, "30", price_before=0.4, price_after=0.6)
        t.end_waits()
        t.form.action_place()
        assert t.returned == []


def test_a_price_that_moves_less_than_far_needs_one_enter() -> None:
    with ticket() as t:
        quoted(t, price_before=0.4, price_after=0.499)
        t.form.action_place()
        assert len(t.returned) == 1


DRAFT = f"draft.{MARKET.market_id}"


@pytest.mark.parametrize(
    ("before", "note", "button", "kept"),
    [
        ("", "x", "ticket-cancel", ["x"]),
        ("", "", "ticket-cancel", []),
        ("", "x", "ticket-place", []),
        ("the gauge rises", "the gauge rises", "ticket-cancel", []),
        ("the gauge rises", "the gauge rises", "ticket-place", [""]),
        ("the gauge rises", "", "ticket-cancel", [""]),
    ],
)
def test_the_note_is_kept_when_the_ticket_is_left_and_forgotten_when_it_is_sent(
    before: str, note: str, button: str, kept: list[str]
) -> None:
    with ticket(replace(STATE, preferences={**STATE.preferences, DRAFT: before})) as t:
        assert t.line("ticket-reasoning").value == before
        t.type("ticket-reasoning", note)
        quoted(t)
        t.press(button)
        asked_to_keep = [one for one in t.given if isinstance(one, SetPreference)]
        assert asked_to_keep == [SetPreference(DRAFT, text) for text in kept]
        assert button == "ticket-cancel" or t.returned[0].reasoning == note


def test_a_note_asks_no_quote() -> None:
    with ticket() as t:
        quoted(t)
        t.type("ticket-reasoning", "why")
        assert len(asked(t)) == 1


def test_every_other_line_asks_for_a_quote_of_the_new_order() -> None:
    with real() as t:
        t.type("ticket-amount", "25")
        t.form.action_kind()
        t.form.action_kind()
        t.type("ticket-limit", "0.25")
        assert asked(t)[-1].order.price == 0.25
        before = len(asked(t))
        t.type("ticket-stop", "10")
        assert t.text("ticket-loss").startswith("loss at the stop")
        t.type("ticket-target", "20")
        assert len(asked(t)) == before


@pytest.mark.slow
def test_nothing_happens_to_a_ticket_that_has_answered() -> None:
    with ticket() as t:
        quoted(t)
        t.form.action_place()
        before = (len(t.posted), t.text("ticket-question"), t.text("ticket-age"))
        t.form.take(replace(STATE, markets={}), Timestamp(NOW + 60))
        t.form.action_cancel()
        t.form._show()
        assert (len(t.posted), t.text("ticket-question"), t.text("ticket-age")) == before
        assert len(t.returned) == 1


def test_a_newer_state_asks_again_only_while_no_key_was_just_pressed() -> None:
    with ticket(ELSEWHERE) as t:
        t.type("ticket-amount", "25")
        t.form.take(ELSEWHERE, Timestamp(NOW + 3))
        assert asked(t) == []
        t.end_waits()
        t.form.take(ELSEWHERE, Timestamp(NOW + 3))
        t.form.take(ELSEWHERE, Timestamp(NOW + 5))
        assert len(asked(t)) == 2


def test_sides_and_actions_turn_by_key_and_by_a_click_at_their_place() -> None:
    with ticket(side=Side.YES) as t:
        t.type("ticket-amount", "25")
        for act, side in (
            (lambda: t.form.action_side("other"), Side.NO),
            (lambda: t.form.action_side("other"), Side.YES),
            (lambda: t.form.action_side("no"), Side.NO),
            (lambda: t.form.action_side("no"), Side.NO),
            (lambda: t.pick("ticket-side", 0), Side.YES),
            (lambda: t.pick("ticket-side", 1), Side.NO),
        ):
            act()
            assert asked(t)[-1].order.side is side
            assert f"● {side.value.upper()}" in t.text("ticket-side")
            assert t.line("ticket-amount").value == "25"


@pytest.mark.parametrize(
    ("turns", "action"),
    [
        (lambda t: t.form.action_turn("other"), Action.SELL),
        (lambda t: t.form.action_turn("sell"), Action.SELL),
        (lambda t: t.pick("ticket-action", 1), Action.SELL),
        (lambda t: t.pick("ticket-action", 0), Action.BUY),
        (lambda t: t.form.action_turn("buy"), Action.BUY),
    ],
)
def test_another_action_clears_the_amount_and_the_same_one_does_not(
    turns: Callable[[Unopened[TradeForm]], object], action: Action
) -> None:
    first = Action.BUY if action is Action.SELL else Action.SELL
    with ticket(side=HELD.side, action=first) as t:
        t.type("ticket-amount", "2")
        turns(t)
        assert t.line("ticket-amount").value == ""
        assert f"● {action.value}" in t.text("ticket-action")
        unit = "sell shares" if action is Action.SELL else "spend $SIM"
        assert t.text("ticket-unit") == unit
        t.type("ticket-amount", "2")
        t.form.action_turn(action.value)
        assert t.line("ticket-amount").value == "2"


def test_a_preset_fills_the_amount_at_its_place_by_key_and_by_click() -> None:
    texts = ("5.00", "25.00", "100.00", "500.00")
    with ticket() as t:
        for place, text in enumerate(texts):
            for act in (
                lambda place=place: t.form.action_preset(place),
                lambda place=place: t.pick("ticket-presets", place),
            ):
                t.line("ticket-amount").value = ""
                act()
                assert t.line("ticket-amount").value == text
                assert t.line("ticket-amount").cursor_position == len(text)
                assert t.focused.pop() == "ticket-amount"
        assert t.text("ticket-presets").split() == ["F1", "5", "F2", "25", "F3", "100", "F4", "max"]


def test_a_sale_begins_on_the_side_that_is_held_and_a_buy_on_yes() -> None:
    held = replace(HELD, side=Side.NO)
    state = replace(STATE, positions=(held,))
    for action, side in ((Action.SELL, "● NO"), (Action.BUY, "● YES")):
        with ticket(state, action=action) as t:
            assert side in t.text("ticket-side")


def test_an_order_for_real_money_is_returned_only_after_its_own_confirmation() -> None:
    with real(side=Side.YES) as t:
        quoted(t)
        t.form.action_place()
        assert t.returned == []
        (question, answered) = t.opened[0]
        assert isinstance(question, Confirm)
        assert answered is not None
        answered(None)
        answered(False)  # noqa: FBT003 - a dialog's result
        assert t.returned == []
        answered(True)  # noqa: FBT003 - a dialog's result
        answered(True)  # noqa: FBT003 - a dialog's result
        (order,) = t.returned
        assert order.confirmed
        assert (order.venue, order.price) == (Venue.EVM, round(MARKET.price * 1.02, 4))


def test_a_confirmation_of_an_order_that_may_no_longer_leave_returns_nothing() -> None:
    with real(side=Side.YES) as t:
        quoted(t)
        t.form.action_place()
        (_, answered) = t.opened[0]
        assert answered is not None
        poorer = replace(REAL.wallet, usdc=Micros(ONE))
        t.form.take(replace(t.form._state, wallet=poorer), t.form._now)
        answered(True)  # noqa: FBT003 - a dialog's result
        assert t.returned == []
        assert t.text("ticket-problem").startswith(NOT_SENT)


def test_an_order_for_real_money_without_a_price_is_not_even_confirmed() -> None:
    with real() as t:
        quoted(t, average=None)
        t.form.action_place()
        assert (t.opened, t.returned) == ([], [])
        assert t.text("ticket-problem") == t.said[-1] == "No quote yet. Wait, or set a limit price"


def test_a_key_for_the_venue_takes_the_next_or_says_why_there_is_none() -> None:
    with ticket(REAL) as t:
        t.type("ticket-amount", "25")
        for venue in (Venue.EVM, Venue.SIM, Venue.EVM):
            t.form.action_venue()
            assert asked(t)[-1].order.venue is venue
            assert t.is_shown("ticket-when") is t.is_shown("ticket-rest") is (venue is Venue.EVM)
    with ticket() as t:
        t.form.action_venue()
        assert t.text("ticket-problem") == t.said[-1]
        assert t.said[-1].startswith("Live trading is off")
        t.type("ticket-amount", "2")
        assert t.text("ticket-problem") == ""


def test_play_money_gets_market_orders_only_and_a_limit_does_not_outlive_its_venue() -> None:
    with ticket(REAL) as t:
        t.form.action_kind()
        assert t.text("ticket-problem") == t.said[-1]
        assert t.form._type is OrderType.FAK
        t.form.action_venue()
        t.form.action_kind()
        t.form.action_kind()
        assert t.form._type is OrderType.GTC
        t.form.action_venue()
        assert t.form._type is OrderType.FAK
        assert not t.is_shown("ticket-limit")


def test_order_types_come_round_by_key_and_show_their_lines() -> None:
    lines = {
        OrderType.FAK: ("book", False, False),
        OrderType.FOK: ("book", False, False),
        OrderType.GTC: ("limit", True, False),
        OrderType.GTD: ("limit", True, True),
    }
    with real() as t:
        for chosen in (OrderType.FOK, OrderType.GTC, OrderType.GTD, OrderType.FAK, OrderType.FOK):
            t.form.action_kind()
            label, has_limit, has_until = lines[chosen]
            assert f"● {('market' if label == 'book' else 'limit')} {chosen.value}" in t.text(
                "ticket-kind"
            )
            assert t.text("ticket-limit-label") == label
            assert t.is_shown("ticket-limit") is has_limit
            assert t.is_shown("ticket-until") is t.is_shown("ticket-expiry") is has_until


@pytest.mark.slow
def test_a_click_on_a_type_takes_it_and_one_on_the_present_type_changes_nothing() -> None:
    with real() as t:
        t.type("ticket-amount", "25")
        before = len(asked(t))
        t.pick("ticket-kind", 0)
        assert len(asked(t)) == before
        t.pick("ticket-kind", 1)
        assert asked(t)[-1].order.whole
        t.pick("ticket-kind", 2)
        assert t.form._type is OrderType.GTC


def test_a_limit_begins_at_the_best_price_of_the_own_side_and_is_kept_once_typed() -> None:
    market = replace(REAL.markets[MARKET.market_id], bid=0.47, ask=0.49)
    state = replace(REAL, markets={MARKET.market_id: market})
    for action, first in ((Action.BUY, "0.47"), (Action.SELL, "0.49")):
        with ticket(state, venue=Venue.EVM, side=Side.YES, action=action) as t:
            t.pick("ticket-kind", 2)
            assert t.line("ticket-limit").value == first
            assert t.focused == ["ticket-limit"]
            t.line("ticket-limit").value = ""
            t.form.action_step(1)
            assert t.line("ticket-limit").value == first
            t.form.action_step(1)
            assert float(t.line("ticket-limit").value) == pytest.approx(float(first) + 0.01)
            assert t.line("ticket-limit").cursor_position == 4
            t.form.action_step(-2)
            stepped = t.line("ticket-limit").value
            assert float(stepped) == pytest.approx(float(first) - 0.01)
            t.pick("ticket-kind", 3)
            assert t.line("ticket-limit").value == stepped
            assert t.focused[-1] == "ticket-until"


def test_a_step_without_any_book_begins_in_the_middle_and_a_market_order_has_none() -> None:
    market = replace(REAL.markets[MARKET.market_id], bid=None, ask=None)
    state = replace(REAL, markets={MARKET.market_id: market})
    with ticket(state, venue=Venue.EVM) as t:
        t.form.action_step(1)
        assert t.line("ticket-limit").value == ""
        t.pick("ticket-kind", 3)
        assert t.focused == ["ticket-limit"]
        t.form.action_step(1)
        assert t.line("ticket-limit").value == "0.51"


def test_an_amended_order_brings_its_price_size_and_exits() -> None:
    with amending(
        action=Action.BUY, shares=Micros(33_330_000), price=0.6, money=Micros(19_998_000),
        stop_pct=0.1, target_pct=0.25,
    ) as t:  # fmt: skip
        assert t.line("ticket-amount").value == "20.00"
        assert t.line("ticket-limit").value == "0.60"
        assert (t.line("ticket-stop").value, t.line("ticket-target").value) == ("10", "25")
        assert str(t.form.query_one("#ticket").border_title) == "Amend order"
        assert t.focused == ["ticket-limit"]
        assert t.is_shown("ticket-limit")
        t.form.action_cancel()
        assert t.returned == [None]
    with amending(action=Action.SELL, shares=Micros(12_345_600), stop_pct=None) as t:
        assert t.line("ticket-amount").value == "12.3456"
        assert t.line("ticket-stop").value == ""


@pytest.mark.parametrize(
    ("expires_at", "kind"), [(None, OrderType.GTC), (Timestamp(NOW + 60), OrderType.GTD)]
)
def test_an_amended_order_keeps_its_expiry_and_all_but_price_and_size(
    expires_at: Timestamp | None, kind: OrderType
) -> None:
    with amending(expires_at=expires_at) as t:
        assert not t.is_shown("ticket-until")
        before = t.form._draft()
        assert before.order_type is kind
        for act in (
            lambda: t.form.action_side("other"),
            lambda: t.form.action_turn("other"),
            t.form.action_venue,
            t.form.action_kind,
            lambda: t.pick("ticket-kind", 0),
        ):
            t.posted.clear()
            act()
            assert t.text("ticket-problem") == t.said[0]
            assert t.said == ["Amending changes price and size only"]
            assert t.form._draft() == before


def test_what_is_typed_over_the_first_amount_of_an_amended_order_needs_two_escapes() -> None:
    with amending() as t:
        t.type("ticket-amount", "7")
        t.form.action_cancel()
        assert t.returned == []
        t.form.action_cancel()
        assert t.returned == [None]


def test_a_state_that_comes_before_the_ticket_is_there_is_shown_when_it_is() -> None:
    form = TradeForm(STATE, NOW, MARKET)
    form.take(replace(STATE, markets={MARKET.market_id: replace(MARKET, question="Late?")}), NOW)
    with unopened(form) as t:
        assert t.text("ticket-question") == "Late?"
        assert not form.query_one("#ticket-presets").can_focus


def test_the_size_of_an_amended_buy_is_its_nearest_cent() -> None:
    for micros, text in ((19_995_000, "20.00"), (19_994_999, "19.99"), (20_004_999, "20.00")):
        with amending(action=Action.BUY, money=Micros(micros)) as t:
            assert t.line("ticket-amount").value == text


def test_what_is_wrong_is_marked_and_an_empty_ticket_is_not() -> None:
    with ticket() as t:
        problem = t.form.query_one("#ticket-problem")
        assert "Enter an amount" in t.text("ticket-problem")
        assert (problem.has_class("-wrong"), t.is_disabled("ticket-place")) == (False, True)
        t.type("ticket-amount", "abc")
        assert (problem.has_class("-wrong"), problem.has_class("-asked")) == (True, False)
        t.form.action_place()
        assert problem.has_class("-asked")
        t.type("ticket-amount", "25")
        assert (problem.has_class("-wrong"), problem.has_class("-asked")) == (False, False)
        assert not t.is_disabled("ticket-place")
        assert (t.text("ticket-place"), t.returned) == ("buy YES for 25.00 $SIM  enter", [])


def test_no_figure_of_another_order_is_shown_and_an_old_one_is_marked() -> None:
    with ticket() as t:
        quote = t.form.query_one("#ticket-quote")
        assert quote.has_class("-old")
        quoted(t, shares=Micros(51_200_000))
        assert "51.20" in t.text("ticket-quote")
        assert (t.text("ticket-age"), quote.has_class("-old")) == ("indicative quote", False)
        t.type("ticket-amount", "26")
        assert "51.20" not in t.text("ticket-quote")
        assert (t.text("ticket-age"), quote.has_class("-old")) == ("requesting quote", True)


def test_a_secret_in_a_line_is_told_and_goes_no_further() -> None:
    with ticket() as t:
        line: Any = t.line("ticket-amount")
        message = t.tell(line.SecretCleared(line))
        assert t.said == ["possible secret key: cleared, not sent"]
        assert message._stop_propagation


def test_an_amended_order_stays_on_its_side_its_action_and_its_venue() -> None:
    for side, action in ((Side.YES, Action.SELL), (Side.NO, Action.BUY)):
        with amending(side=side, action=action) as t:
            draft = t.form._draft()
            assert (draft.side, draft.action, draft.venue) == (side, action, Venue.EVM)
            assert draft.amends is not None


@pytest.mark.slow
def test_a_kept_enter_beyond_its_quote_leaves_the_ticket_open() -> None:
    with ticket() as t:
        t.type("ticket-amount", "25")
        t.form.action_place()
        answer(t, average=MARKET.price / 2)
        assert t.returned == []
        assert t.text("ticket-problem").startswith(f"{NOT_SENT}price moved beyond the quote")


def test_a_kept_enter_that_moves_the_price_far_waits_for_another() -> None:
    with ticket() as t:
        t.type("ticket-amount", "25")
        t.form.action_place()
        answer(t, price_before=0.4, price_after=0.6)
        t.end_waits()
        answer(t, later_s=0.5, price_before=0.4, price_after=0.6)
        assert t.returned == []
        assert t.text("ticket-place") == "buy YES for 25.00 $SIM  enter"


def test_escapes_behind_the_enter_give_no_second_answer() -> None:
    with ticket() as t:
        quoted(t)
        t.form.action_place()
        for _ in range(3):
            t.form.action_cancel()
        assert len(t.returned) == 1


@pytest.mark.parametrize("line", ["ticket-limit", "ticket-until", "ticket-reasoning"])
def test_a_market_order_takes_the_focus_from_a_line_that_is_hidden_now(line: str) -> None:
    with real() as t:
        t.pick("ticket-kind", 3)
        t.focused.clear()
        t.line(line).set_reactive(Widget.has_focus, True)  # noqa: FBT003 - a reactive's value
        t.pick("ticket-kind", 0)
        assert t.focused == ([] if line == "ticket-reasoning" else ["ticket-amount"])


def test_the_ticket_shows_the_tick_the_expiry_and_the_exits_of_a_buy() -> None:
    with real() as t:
        assert t.is_shown("ticket-exits")
        t.pick("ticket-kind", 3)
        assert "tick 0.01" in t.text("ticket-step")
        t.type("ticket-until", "2h")
        assert t.text("ticket-expires").endswith("in 2h 00m")
        t.form.action_turn("sell")
        assert not t.is_shown("ticket-exits")


def test_a_window_of_another_width_lays_the_figures_out_anew() -> None:
    with ticket() as t:
        t.form._market = replace(MARKET, question="Wider?")
        t.form.on_resize()
        assert t.text("ticket-question") == "Wider?"
