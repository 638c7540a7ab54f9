"""Why it traded: each link from what is really known, and a reason where nothing is."""

from dataclasses import replace
from typing import Any

import pytest

from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import pending_trade_of
from kit.samples.reactor import reactor_state
from service_tui.desk.all_fills import fill_of
from service_tui.desk.audit.why import Link, TradeHistory, why_fill, why_position, why_ticket
from service_tui.desk.slices.agents import AgentDetailView, ReasonedTradeView
from service_tui.desk.slices.position_key import position_key
from service_tui.desk.slices.redemption import ChainRunState, RunView, Step, StepView
from service_tui.desk.slices.risk import AlertView, ExitView, MonitorView, exit_source
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.slices.trades import TradeView
from service_tui.desk.state import DeskState
from service_tui.outcome import NO, YES
from service_tui.terms import Action, MarketStatus, PendingStatus, Side, TradeStatus, Venue
from service_tui.units import ONE, Micros, Timestamp

STATE = replace(sample_state(), trades=(), closed=())
HELD = STATE.positions[0]
BUY = TradeView(
    trade_id="tr-1", market_id=HELD.market_id, question=HELD.question, side=HELD.side,
    action="buy", shares=Micros(50 * ONE), cost=Micros(21 * ONE), average=0.42, price_before=0.41,
    price_after=0.43, venue=HELD.venue, status=TradeStatus.FILLED,
    reasoning="the gauge rises faster than the price", source="sdk:gauge",
    at=Timestamp(NOW - 900), pnl=None, client_ref="ref-1", skill_slug="gauge",
    signal_data=(("edge", "0.06"), ("confidence", "0.62")),
)  # fmt: skip
SALE = replace(
    BUY, trade_id="tr-2", action="sell", at=Timestamp(NOW - 60), pnl=Micros(2 * ONE),
    reasoning="the price is there", client_ref="ref-2", signal_data=(),
)  # fmt: skip
NAMES = ["signal", "reasoning", "quote", "fill", "monitor"]


def link(chain: TradeHistory, name: str) -> Link:
    return next(one for one in chain.links if one.name == name)


def told(chain: TradeHistory, name: str) -> dict[str, str | float]:
    return {said.label: said.value for said in link(chain, name).values}


def with_trades(*trades: TradeView) -> DeskState:
    return replace(STATE, trades=trades)


def test_a_position_tells_signal_reasoning_quote_fill_and_what_it_is_worth() -> None:
    chain = why_position(with_trades(BUY), HELD)
    assert [one.name for one in chain.links][:5] == NAMES
    assert told(chain, "signal") == {"skill": "gauge", "edge": "0.06", "confidence": "0.62"}
    assert told(chain, "reasoning") == {"": BUY.reasoning, "by": "sdk:gauge"}
    assert told(chain, "quote")["price before"] == 0.41
    fill = told(chain, "fill")
    assert (fill["buy"], fill["for"], link(chain, "fill").at) == (50 * ONE, 21 * ONE, NOW - 900)
    assert abs(float(fill["slippage"]) - 0.01) < 1e-9
    assert told(chain, "exit")["held"] == HELD.shares


def test_what_is_not_known_says_so_and_holds_no_figure() -> None:
    chain = why_position(STATE, HELD)
    assert "not among the newest trades" in link(chain, "fill").missing
    for name in ("signal", "reasoning", "quote"):
        # The position is there, so its buy filled.
        assert "not among the newest trades" in link(chain, name).missing
        assert link(chain, name).values == ()
    bare = replace(BUY, signal_data=(), reasoning="", price_before=None)
    chain = why_position(with_trades(bare), HELD)
    assert link(chain, "signal").missing == "none given with the order"
    assert link(chain, "reasoning").missing == "none given"
    assert link(chain, "quote").missing == "unknown: quotes are not stored"
    assert "slippage" not in told(chain, "fill")


def test_the_last_buy_is_told_and_the_others_are_counted() -> None:
    first = replace(BUY, trade_id="tr-0", at=Timestamp(NOW - 5_000), shares=Micros(7 * ONE))
    chain = why_position(with_trades(BUY, first), HELD)
    assert told(chain, "fill")["one more buy"] == 7 * ONE
    assert link(chain, "fill").at == BUY.at


def test_a_sale_after_the_buy_is_an_exit_and_one_before_it_is_not() -> None:
    earlier = replace(SALE, trade_id="tr-9", at=Timestamp(NOW - 4_000))
    chain = why_position(with_trades(SALE, BUY, earlier), HELD)
    exits = [one for one in chain.links if one.name == "exit"]
    assert [one.at for one in exits] == [SALE.at]
    assert told(chain, "exit")["P&L"] == 2 * ONE


def test_a_fee_is_told_with_the_fill_and_with_the_sale() -> None:
    bought, sold = replace(BUY, fee=Micros(1_080_000)), replace(SALE, fee=Micros(930_000))
    chain = why_position(with_trades(sold, bought), HELD)
    assert told(chain, "fill")["fee"] == 1_080_000
    assert told(chain, "exit")["fee"] == 930_000
    assert "fee" not in told(why_position(with_trades(replace(BUY, fee=Micros(0))), HELD), "fill")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"decided_amount": Micros(9 * ONE)}, "by you, at another size"),
        ({"decided_amount": Micros(25 * ONE)}, "by you"),
        ({"decided_amount": None}, "by you"),
        (
            {"action": Action.SELL, "amount": Micros(0), "shares": Micros(4 * ONE),
             "decided_amount": Micros(4 * ONE)},
            "by you",
        ),
    ],
)  # fmt: skip
def test_a_trade_that_was_approved_says_by_whom_and_whether_its_size_was_changed(
    changes: dict[str, Any], said: str
) -> None:
    held = pending_trade_of(
        status=PendingStatus.APPROVED, trade_id="tr-1", decided_at=Timestamp(NOW - 901), **changes
    )
    view = replace(STATE.supervision, decided=(held,))
    plain = replace(BUY, signal_data=(), reasoning="")
    chain = why_position(replace(with_trades(plain), supervision=view), HELD)
    assert told(chain, "signal")["edge"] == "0.06"
    assert told(chain, "reasoning")["approved"] == said
    assert told(chain, "quote")["quoted average"] == 0.42


def test_an_order_without_a_trade_tells_how_it_ended() -> None:
    ticket = replace(
        STATE.tickets[0], client_ref="ref-404", state=TicketState.REFUSED, outcome="too large",
    )  # fmt: skip
    chain = why_ticket(with_trades(BUY), ticket)
    assert told(chain, "fill") == {"order": "refused: too large"}
    assert link(chain, "signal").missing == "unknown until filled"


def test_a_real_order_without_a_trade_shows_nothing_of_play_money() -> None:
    monitor = MonitorView(
        HELD.market_id, HELD.question, HELD.side, HELD.venue, HELD.shares, HELD.cost, 0.42, 0.40,
        None, 0.2, None,
    )  # fmt: skip
    state = replace(STATE, risk=replace(STATE.risk, monitors=(monitor,)))
    key = position_key(HELD.market_id, HELD.side, Venue.EVM)
    ticket = replace(
        STATE.tickets[0], client_ref="ref-404", market_id=HELD.market_id, holding=key,
        state=TicketState.REFUSED,
    )  # fmt: skip
    assert link(why_ticket(state, ticket), "monitor").missing
    assert "held" not in told(why_ticket(state, ticket), "exit")
    play = replace(ticket, holding=HELD.key)
    assert told(why_ticket(state, play), "monitor")["stop at"]


OTHERS_BUY = fill_of(replace(BUY, trade_id="o-1", client_ref=""), "a-2", "mean-reversion")
OTHERS_SALE = fill_of(replace(SALE, trade_id="o-2", client_ref=""), "a-2", "mean-reversion")


def test_a_fill_of_another_agent_shows_what_the_list_of_fills_shows() -> None:
    state = replace(STATE, fills=(OTHERS_SALE, OTHERS_BUY))
    chain = why_fill(state, OTHERS_BUY)
    assert chain.title.startswith("mean-reversion: buy")
    fill = told(chain, "fill")
    assert (fill["buy"], fill["average"], link(chain, "fill").at) == (50 * ONE, 0.42, BUY.at)
    assert link(chain, "signal").missing == "unknown: not in the list of fills"
    assert link(chain, "reasoning").missing == "unknown: not in the list of fills"
    assert link(chain, "monitor").missing == "Stops of other agents are not shown here"
    assert (link(chain, "exit").at, told(chain, "exit")["P&L"]) == (SALE.at, 2 * ONE)
    # This desk's own position on the same side is none of its.
    alone = why_fill(replace(STATE, fills=(OTHERS_BUY,)), OTHERS_BUY)
    assert link(alone, "exit").missing == "unknown: no later sale in the list of fills"


def test_a_fill_of_the_agent_in_focus_has_its_reasons_and_its_position() -> None:
    trade = replace(BUY, trade_id="o-1")
    read = ReasonedTradeView(trade, "gauge", {"edge": 0.06})
    detail = AgentDetailView("a-2", (read,), (), positions=(HELD,))
    view = replace(STATE.supervision, detail=detail)
    chain = why_fill(replace(STATE, fills=(OTHERS_BUY,), supervision=view), OTHERS_BUY)
    assert told(chain, "signal") == {"skill": "gauge", "edge": "0.06"}
    assert told(chain, "reasoning")[""] == BUY.reasoning
    assert told(chain, "exit")["held"] == HELD.shares


def test_a_payout_and_its_outcome_are_one_exit() -> None:
    paid = replace(BUY, trade_id="tr-3", action="redeem", at=Timestamp(NOW - 5), pnl=Micros(ONE))
    ended = replace(HELD, outcome=YES, realized=Micros(29 * ONE))
    state = replace(with_trades(paid, BUY), positions=(), closed=(ended,))
    exits = [one for one in why_position(state, ended).links if one.name == "exit"]
    assert [one.at for one in exits] == [paid.at]
    assert told(why_position(state, ended), "exit")["outcome"] == "YES"


def test_a_fill_of_the_own_agent_that_left_its_history_keeps_its_monitor() -> None:
    account = STATE.account
    assert account is not None
    fill = fill_of(BUY, account.agent_id, account.name)
    chain = why_fill(replace(STATE, fills=(fill,)), fill)
    assert link(chain, "monitor").missing == "none: side not protected"
    assert link(chain, "fill").at == BUY.at
    assert told(chain, "exit")["held"] == HELD.shares


def texts(one: Link) -> list[tuple[str, str | float, str]]:
    return [(said.label, said.value, said.unit.value) for said in one.values]


def whole(chain: TradeHistory) -> list[tuple[str, float | None, str, str]]:
    """All but the figures of each link."""
    return [(one.name, one.at, one.missing, one.when) for one in chain.links]


FULL = replace(BUY, price_before=0.40, average=0.42, price_after=0.43, fee=Micros(1_080_000))
UNSET = "time not recorded"


def test_every_link_of_a_position_that_was_sold_has_its_figures_and_their_units() -> None:
    sold = replace(SALE, average=0.46, fee=Micros(930_000), cost=Micros(23 * ONE))
    chain = why_position(with_trades(sold, FULL), HELD)
    assert chain.title == f"{HELD.side.value.upper()} {HELD.question}"
    assert whole(chain) == [
        ("signal", None, "", "given with the order"),
        ("reasoning", None, "", "given with the order"),
        ("quote", None, "", "before the fill"),
        ("fill", BUY.at, "", UNSET),
        ("monitor", None, "none: side not protected", UNSET),
        ("exit", SALE.at, "", UNSET),
    ]
    assert texts(link(chain, "signal")) == [
        ("skill", "gauge", "text"), ("edge", "0.06", "text"), ("confidence", "0.62", "text"),
    ]  # fmt: skip
    assert texts(link(chain, "reasoning")) == [
        ("", BUY.reasoning, "text"),
        ("by", "sdk:gauge", "text"),
    ]
    assert texts(link(chain, "quote")) == [("price before", 0.40, "price")]
    fill = texts(link(chain, "fill"))
    assert fill[6][:1] == ("slippage",)
    assert abs(float(fill.pop(6)[1]) - 0.02) < 1e-9
    assert fill == [
        ("buy", 50 * ONE, "shares"), ("for", 21 * ONE, "money"), ("average", 0.42, "price"),
        ("venue", "sim", "text"), ("status", "filled", "text"), ("fee", 1_080_000, "money"),
        ("price after", 0.43, "price"),
    ]  # fmt: skip
    assert texts(link(chain, "exit")) == [
        ("sold", 50 * ONE, "shares"), ("for", 23 * ONE, "money"), ("average", 0.46, "price"),
        ("fee", 930_000, "money"), ("P&L", 2 * ONE, "pnl"), ("because", SALE.reasoning, "text"),
    ]  # fmt: skip


def test_trades_of_another_side_venue_or_market_are_none_of_a_position_s() -> None:
    other = Side.NO if BUY.side is Side.YES else Side.YES
    strays = [
        replace(SALE, side=other),
        replace(SALE, venue=Venue.EVM),
        replace(SALE, market_id="m-9"),
        replace(BUY, side=other),
    ]
    chain = why_position(with_trades(*strays, BUY), HELD)
    assert "one more buy" not in told(chain, "fill")
    assert texts(link(chain, "exit"))[0] == ("held", HELD.shares, "shares")


def test_a_sale_at_the_very_time_of_the_buy_is_its_exit() -> None:
    same = replace(SALE, at=BUY.at)
    exits = [
        one.at for one in why_position(with_trades(same, BUY), HELD).links if one.name == "exit"
    ]
    assert exits == [BUY.at]


def test_five_sales_are_told_one_by_one_the_oldest_first_and_the_first_of_more_is_left_out() -> (
    None
):
    sales = [replace(SALE, trade_id=f"s-{n}", at=Timestamp(NOW - 10 * n)) for n in range(1, 8)]
    chain = why_position(with_trades(*sales, BUY), HELD)
    exits = [one.at for one in chain.links if one.name == "exit"]
    assert exits == [NOW - 10 * n for n in (5, 4, 3, 2, 1)]


def test_a_position_that_is_held_is_told_by_its_shares_mark_and_sale() -> None:
    held = replace(
        HELD, shares=Micros(7), mark_value=Micros(5), exit_value=Micros(4), unrealized=Micros(-3)
    )
    chain = why_position(replace(with_trades(BUY), positions=(held,)), held)
    ending = link(chain, "exit")
    assert texts(ending) == [
        ("held", 7, "shares"), ("mark", 5, "money"), ("if sold now", 4, "money"),
        ("unrealized", -3, "pnl"),
    ]  # fmt: skip
    assert (ending.at, ending.when, ending.missing) == (None, "not yet", "")
    unsold = replace(held, exit_value=None)
    chain = why_position(replace(with_trades(BUY), positions=(unsold,)), unsold)
    assert "if sold now" not in told(chain, "exit")
    gone = why_position(replace(with_trades(BUY), positions=()), HELD)
    assert link(gone, "exit").missing == "unknown: neither an open position nor among the sales"


def exit_of(**other: object) -> ExitView:
    given = ExitView(
        "e-1", SALE.at, HELD.market_id, HELD.question, HELD.side, HELD.venue, Micros(9), 0.31,
        Micros(8), Micros(-2), "take profit",
    )  # fmt: skip
    return replace(given, **other)  # type: ignore[arg-type]


def test_an_exit_without_a_trade_in_the_history_is_told_and_only_that_of_the_side() -> None:
    other = Side.NO if HELD.side is Side.YES else Side.YES
    early = exit_of(exit_id="e-0", at=Timestamp(BUY.at - 1))
    risk = replace(STATE.risk, exits=(exit_of(exit_id="e-2", side=other), exit_of(), early))
    state = replace(with_trades(BUY), positions=(), risk=risk)
    chain = why_position(state, HELD)
    exits = [one for one in chain.links if one.name == "exit"]
    assert [one.at for one in exits] == [SALE.at]
    assert texts(exits[0]) == [
        ("sold", 9, "shares"), ("for", 8, "money"), ("because", "take profit", "text"),
        ("by", "this desk, or another client", "text"), ("P&L", -2, "pnl"),
    ]  # fmt: skip
    assert texts(link(chain, "monitor")) == [
        ("sold by", "take profit", "text"),
        ("at", 0.31, "price"),
    ]
    assert link(chain, "monitor").at == SALE.at
    plain = replace(risk, exits=(exit_of(trigger_price=None, pnl=None, at=BUY.at),))
    chain = why_position(replace(state, risk=plain), HELD)
    assert texts(link(chain, "monitor")) == [("sold by", "take profit", "text")]
    assert "P&L" not in told(chain, "exit")
    # It is of this desk's agent, and of no other.
    alone = why_fill(replace(state, trades=(), fills=(OTHERS_BUY,)), OTHERS_BUY)
    assert link(alone, "exit").missing == "unknown: no later sale in the list of fills"


@pytest.mark.parametrize(
    ("apart_s", "cause"), [(1.0, "take profit"), (1.1, SALE.reasoning), (-1.1, SALE.reasoning)]
)
def test_a_sale_has_the_cause_of_the_exit_that_happened_with_it(apart_s: float, cause: str) -> None:
    risk = replace(STATE.risk, exits=(exit_of(at=Timestamp(SALE.at + apart_s)),))
    chain = why_position(replace(with_trades(SALE, BUY), risk=risk), HELD)
    assert told(chain, "exit")["because"] == cause
    # The source of a sale names its cause as well, and the exit itself is known better.
    stopped = replace(SALE, source=exit_source("stop loss"), pnl=Micros(0))
    chain = why_position(replace(with_trades(stopped, BUY), risk=risk), HELD)
    by_source = "stop loss" if cause == SALE.reasoning else cause
    assert (told(chain, "exit")["because"], told(chain, "exit")["P&L"]) == (by_source, 0)


def monitor_of(**other: object) -> MonitorView:
    given = MonitorView(
        HELD.market_id, HELD.question, HELD.side, HELD.venue, HELD.shares, HELD.cost, 0.40, 0.44,
        None, 0.25, 0.5,
    )  # fmt: skip
    return replace(given, **other)  # type: ignore[arg-type]


def test_a_monitor_is_told_with_its_thresholds_and_its_alert() -> None:
    alert = AlertView(
        "al-1", HELD.market_id, HELD.question, HELD.side, HELD.venue, HELD.shares, "stop loss",
        0.3, Timestamp(NOW - 33), NOW,
    )  # fmt: skip
    elsewhere = replace(alert, alert_id="al-2", venue=Venue.EVM, breached_at=NOW)
    risk = replace(STATE.risk, monitors=(monitor_of(),), alerts=(elsewhere, alert))
    one = link(why_position(replace(with_trades(BUY), risk=risk), HELD), "monitor")
    assert one.at == NOW - 33
    assert [(label, unit) for label, _, unit in texts(one)] == [
        ("set", "text"), ("stop at", "price"), ("target at", "price"), ("price now", "price"),
        ("state", "text"), ("alert", "text"),
    ]  # fmt: skip
    values = [value for _, value, _ in texts(one)]
    assert values[0] == "manual"
    assert [round(float(value), 6) for value in values[1:4]] == [0.30, 0.60, 0.44]
    assert values[4:] == ["watching", "stop loss: pending"]
    bare = replace(
        STATE.risk, monitors=(monitor_of(stop_loss_pct=None, take_profit_pct=None, mark=None),)
    )
    one = link(why_position(replace(with_trades(BUY), risk=bare), HELD), "monitor")
    assert (one.at, texts(one)) == (
        None,
        [("set", "manual", "text"), ("state", "watching", "text")],
    )


def test_an_order_is_quoted_by_what_was_ordered_and_when_it_was_sent() -> None:
    ticket = replace(
        STATE.tickets[0], ticket_id="k-9", client_ref="ref-1", amount=Micros(9_000_000),
        shares=Micros(8_000_000), opened_at=Timestamp(NOW - 990), sent_at=Timestamp(NOW - 980),
        market_id=HELD.market_id, what="buy YES for 9.00",
    )  # fmt: skip
    state = with_trades(FULL)
    chain = why_ticket(state, ticket)
    assert chain.title == f"buy YES for 9.00: {HELD.question}"
    quote = link(chain, "quote")
    assert quote.at == NOW - 980
    assert texts(quote) == [
        ("price before", 0.40, "price"), ("amount ordered", 9_000_000, "money"),
        ("shares ordered", 8_000_000, "shares"),
    ]  # fmt: skip
    unsent = why_ticket(state, replace(ticket, sent_at=None))
    assert link(unsent, "quote").at == NOW - 990
    # From the side of the trade it is found by its reference.
    seen = why_position(replace(state, tickets=(STATE.tickets[1], ticket)), HELD)
    assert texts(link(seen, "quote")) == texts(quote)


def test_a_trade_is_that_of_the_reference_or_of_the_row_of_the_fill_and_no_other() -> None:
    first = replace(BUY, trade_id="tr-8", client_ref="ref-8", cost=Micros(8 * ONE))
    state = with_trades(BUY, first)
    ticket = replace(STATE.tickets[0], market_id=HELD.market_id, client_ref="ref-8", holding="")
    assert told(why_ticket(state, ticket), "fill")["for"] == 8 * ONE
    row = replace(ticket, kind="fill", ticket_id="fill:tr-8", client_ref="")
    assert told(why_ticket(state, row), "fill")["for"] == 8 * ONE
    bare = replace(ticket, client_ref="")
    nameless = with_trades(replace(BUY, client_ref=""))
    assert link(why_ticket(nameless, bare), "fill").values[0].label == "order"


def test_a_trade_tells_of_the_position_on_its_own_venue() -> None:
    real = replace(BUY, venue=Venue.EVM)
    held = replace(HELD, venue=Venue.EVM, shares=Micros(77))
    state = replace(with_trades(real), on_venues=(held,))
    ticket = replace(STATE.tickets[0], market_id=HELD.market_id, client_ref="ref-1", holding="")
    chain = why_ticket(state, ticket)
    assert (told(chain, "fill")["venue"], told(chain, "exit")["held"]) == (Venue.EVM.value, 77)
    filled = fill_of(real, "a-1", "desk")
    assert told(why_fill(state, filled), "exit")["held"] == 77


def test_a_command_without_a_market_is_called_by_its_words_alone() -> None:
    ticket = replace(STATE.tickets[0], market_id="", question="", what="halt", client_ref="")
    assert why_ticket(STATE, ticket).title == "halt"


@pytest.mark.parametrize(
    ("state", "limit", "reason"),
    [
        (TicketState.DONE, None, "unknown: no trade has this order's reference"),
        (TicketState.DONE, 0.4, "unknown until filled"),
        (TicketState.SENT, None, "unknown until filled"),
    ],
)
def test_what_comes_with_the_fill_is_missing_until_it_fills(
    state: TicketState, limit: float | None, reason: str
) -> None:
    ticket = replace(STATE.tickets[0], state=state, limit=limit, client_ref="ref-9", outcome="")
    chain = why_ticket(STATE, ticket)
    assert link(chain, "signal").missing == reason
    fill = link(chain, "fill")
    assert (fill.at, texts(fill)) == (ticket.settled_at, [("order", state.value, "text")])


def test_a_fill_of_the_own_agent_is_explained_by_its_own_trade() -> None:
    wrong = replace(BUY, trade_id="tr-0", signal_data=(("edge", "0.99"),), client_ref="")
    unnumbered = replace(wrong, trade_id="")
    state = with_trades(unnumbered, wrong, BUY)
    chain = why_fill(state, fill_of(BUY, "a-1", "desk"))
    assert chain.title == f"buy {HELD.side.value.upper()} for 21.00: {HELD.question}"
    assert told(chain, "signal")["edge"] == "0.06"
    # A fill without a number is no trade without one.
    lost = why_fill(state, fill_of(replace(BUY, trade_id=""), "a-2", ""))
    assert "edge" not in told(lost, "signal")
    assert lost.title == chain.title


def test_the_fills_of_another_agent_are_counted_without_those_of_the_others() -> None:
    second = replace(OTHERS_BUY, trade_id="o-5", shares=Micros(3 * ONE))
    third = replace(OTHERS_BUY, trade_id="o-6", shares=Micros(400 * ONE), agent_id="a-3")
    sold = replace(OTHERS_SALE, skill="ebb", source="", fee=Micros(5), price_after=0.3)
    state = replace(STATE, fills=(sold, second, third, OTHERS_BUY))
    chain = why_fill(state, OTHERS_BUY)
    assert chain.title.startswith("mean-reversion: buy ")
    fill = told(chain, "fill")
    assert fill["one more buy"] == 3 * ONE
    assert "400" not in str(fill)
    assert (fill["price after"], fill["status"], fill["for"]) == (0.43, "filled", 21 * ONE)
    assert told(chain, "exit")["fee"] == 5
    # No P&L of a buy, and no P&L that nobody knows.
    assert "P&L" not in told(why_fill(state, sold), "fill")


def test_the_position_of_another_agent_is_the_open_one_on_the_fill_s_side_and_venue() -> None:
    closed = replace(HELD, status=MarketStatus.RESOLVED, shares=Micros(1))
    real = replace(HELD, venue=Venue.EVM, shares=Micros(2))
    open_one = replace(HELD, shares=Micros(3))
    detail = AgentDetailView("a-2", (), (), positions=(real, closed, open_one))
    view = replace(STATE.supervision, detail=detail)
    chain = why_fill(replace(STATE, fills=(OTHERS_BUY,), supervision=view), OTHERS_BUY)
    assert told(chain, "exit")["held"] == 3


def test_a_trade_that_was_approved_as_it_was_says_so_and_when() -> None:
    held = pending_trade_of(
        status=PendingStatus.APPROVED, trade_id="tr-1", decided_at=Timestamp(NOW - 901),
        reasoning="the person saw it", average=0.47,
    )  # fmt: skip
    other = replace(held, pending_id="h9", trade_id="tr-77", average=0.99)
    nameless = replace(held, pending_id="h8", trade_id="", average=0.98)
    view = replace(STATE.supervision, decided=(nameless, other, held))
    plain = replace(BUY, signal_data=(), reasoning="", source="", skill_slug="")
    chain = why_position(replace(with_trades(plain), supervision=view), HELD)
    assert texts(link(chain, "reasoning")) == [
        ("", "the person saw it", "text"), ("approved", "by you", "text"),
    ]  # fmt: skip
    assert link(chain, "reasoning").at == NOW - 901
    assert (link(chain, "signal").at, "skill" in told(chain, "signal")) == (held.created_at, False)
    assert told(chain, "quote")["quoted average"] == 0.47


def test_a_mirrored_trade_has_the_signal_of_its_own_order() -> None:
    state = reactor_state()
    known = [one for one in state.reactor.signals if one.ticket_id]
    signal = replace(known[0], ticket_id="k-7", label="", size=Micros(61), price=0.37)
    named = replace(signal, signal_id="s-2", ticket_id="ref-1", label="ada", price_max=0.59)
    unknown = replace(signal, signal_id="s-0", ticket_id="")
    reactor = replace(state.reactor, signals=(unknown, signal, named))
    ticket = replace(STATE.tickets[0], ticket_id="k-7", client_ref="", market_id=HELD.market_id)
    one = link(why_ticket(replace(STATE, reactor=reactor), ticket), "signal")
    assert one.at == signal.at
    assert texts(one) == [
        ("from", f"wallet {signal.wallet}", "text"), ("its price", 0.37, "price"),
        ("its size", 61, "shares"), ("state", signal.state.value, "text"),
    ]  # fmt: skip
    chain = why_position(replace(with_trades(BUY), reactor=reactor), HELD)
    assert told(chain, "signal")["from"] == "wallet ada"
    assert told(chain, "quote")["limit"] == 0.59
    assert link(why_position(with_trades(BUY), HELD), "signal").values[0].label == "skill"


def test_the_outcome_is_told_by_which_side_won_and_on_which_clock() -> None:
    lost = replace(
        HELD, outcome=NO, realized=Micros(-4 * ONE), status=MarketStatus.RESOLVED,
        resolves_at=Timestamp(NOW - 3),
    )  # fmt: skip
    sold_out = replace(lost, outcome=None)
    service = replace(STATE.service, embedded=False)
    state = replace(with_trades(BUY), positions=(), closed=(sold_out, lost), service=service)
    chain = why_position(state, lost)
    ending = link(chain, "exit")
    assert (ending.at, texts(ending)) == (
        NOW - 3, [("outcome", "NO", "text"), ("realized", -4 * ONE, "pnl")],
    )  # fmt: skip
    real = replace(lost, venue=Venue.EVM)
    bought = replace(BUY, venue=Venue.EVM)
    state = replace(state, trades=(bought,), closed=(), on_venues=(real,))
    assert told(why_position(state, real), "exit")["realized"] == -4 * ONE


RUN = RunView(
    HELD.market_id, HELD.side, Venue.EVM, HELD.question, ChainRunState.DONE,
    steps=(
        StepView(Step.SIGNED, Timestamp(NOW - 20)), StepView(Step.CONFIRMED, Timestamp(NOW - 10)),
    ),
    tx_hash="0xabc", amount=Micros(31 * ONE), words="paid out", opened_at=Timestamp(NOW - 30),
    settled_at=Timestamp(NOW - 5),
)  # fmt: skip
REDEEMING = replace(
    STATE.tickets[0], ticket_id=f"redeem:{RUN.key}", kind="redeem", client_ref="0xabc",
    state=TicketState.DONE, market_id=HELD.market_id,
)  # fmt: skip


def redeemed(run: RunView = RUN, **other: object) -> TradeHistory:
    stale = replace(run, tx_hash="0xold", amount=Micros(1))
    elsewhere = replace(run, market_id="m-9", amount=Micros(2))
    redemption = replace(STATE.redemption, runs=(elsewhere, stale, run))
    state = replace(STATE, redemption=redemption, **other)  # type: ignore[arg-type]
    return why_ticket(state, replace(REDEEMING, client_ref=run.tx_hash))


def test_a_redemption_tells_its_position_outcome_order_steps_and_payout() -> None:
    buys = [
        replace(BUY, venue=Venue.EVM),
        replace(BUY, venue=Venue.EVM, at=Timestamp(NOW - 5_000), cost=Micros(ONE)),
        replace(SALE, venue=Venue.EVM),
        BUY,
    ]
    held = replace(HELD, venue=Venue.EVM, outcome=NO, resolves_at=Timestamp(NOW - 60))
    chain = redeemed(trades=tuple(buys), on_venues=(replace(held, market_id="m-9"), held))
    assert chain.title == f"redeem {HELD.side.value.upper()} {HELD.question}"
    assert [(one.name, one.at, texts(one)) for one in chain.links] == [
        ("position", NOW - 5_000,
         [("bought", 100 * ONE, "shares"), ("for", 22 * ONE, "money")]),
        ("outcome", NOW - 60, [("market ended", "NO", "text"), ("clock", "world time", "text")]),
        ("ordered", NOW - 30, [("by", "you", "text"), ("venue", Venue.EVM.value, "text")]),
        (Step.SIGNED.value, NOW - 20, []),
        (Step.CONFIRMED.value, NOW - 10, []),
        ("payout", NOW - 5,
         [("state", "done: paid out", "text"), ("pays", 31 * ONE, "money"),
          ("transaction", "0xabc", "text")]),
    ]  # fmt: skip
    assert chain.links[-1].when == "no result yet"


def test_a_redemption_of_which_little_is_known_says_so() -> None:
    bare = replace(RUN, steps=(), tx_hash="", amount=Micros(0), words="", by_itself=True)
    chain = redeemed(bare, service=replace(STATE.service, embedded=False))
    links = {one.name: one for one in chain.links}
    assert links["position"].missing == "unknown: its buys are not among the newest trades"
    assert links["outcome"].missing == "unknown: position not among those read"
    assert texts(links["ordered"])[0] == ("by", "this desk, automatic", "text")
    assert texts(links["payout"]) == [("state", "done", "text")]
    open_one = replace(HELD, venue=Venue.EVM, outcome=None)
    chain = redeemed(bare, on_venues=(open_one,))
    assert chain.links[1].missing == "unknown: position not among those read"
    won = replace(open_one, outcome=YES)
    chain = redeemed(bare, closed=(won,), service=replace(STATE.service, embedded=False))
    assert texts(chain.links[1]) == [("market ended", "YES", "text")]


def test_a_redemption_that_is_not_listed_is_a_command_without_a_trade() -> None:
    chain = why_ticket(STATE, replace(REDEEMING, outcome="paid"))
    assert texts(link(chain, "fill")) == [("order", "done: paid", "text")]
