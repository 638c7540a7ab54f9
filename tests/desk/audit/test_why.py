"""Why it traded: each link from what is really known, and a reason where nothing is."""

from dataclasses import replace

from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import held_of
from kit.samples.reactor import reactor_state
from service_tui.desk.all_fills import fill_of
from service_tui.desk.audit.why import Link, TradeHistory, why_fill, why_position, why_ticket
from service_tui.desk.slices.fleet import AgentDetailView, ReasonedTradeView
from service_tui.desk.slices.position_key import position_key
from service_tui.desk.slices.records import TicketState, TradeView
from service_tui.desk.slices.risk import ExitView, MonitorView
from service_tui.desk.state import DeskState
from service_tui.terms import HeldStatus, TradeStatus, Venue
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
    assert told(chain, "fill")["1 other buys"] == 7 * ONE
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


def test_an_alerts_exit_says_its_cause() -> None:
    monitor = MonitorView(
        HELD.market_id, HELD.question, HELD.side, HELD.venue, HELD.shares, HELD.cost, 0.42, 0.40,
        None, 0.2, None, automatic=True,
    )  # fmt: skip
    gone = ExitView(
        "e-1", SALE.at, HELD.market_id, HELD.question, HELD.side, HELD.venue, HELD.shares, 0.3,
        Micros(15 * ONE), None, "stop loss", by_service=True,
    )  # fmt: skip
    risk = replace(STATE.risk, monitors=(monitor,), exits=(gone,))
    chain = why_position(replace(with_trades(SALE, BUY), risk=risk), HELD)
    assert told(chain, "exit")["because"] == "stop loss"
    assert told(chain, "monitor")["set"] == "auto (on buy)"
    assert abs(float(told(chain, "monitor")["stop at"]) - 0.336) < 1e-9
    alone = why_position(replace(STATE, positions=(), risk=risk), HELD)
    assert told(alone, "exit")["by"] == "the service"


def test_a_trade_that_was_allowed_says_by_whom() -> None:
    held = held_of(
        status=HeldStatus.APPROVED, trade_id="tr-1", decided_at=Timestamp(NOW - 901),
        decided_amount=Micros(9 * ONE),
    )  # fmt: skip
    view = replace(STATE.supervision, decided=(held,))
    plain = replace(BUY, signal_data=(), reasoning="")
    chain = why_position(replace(with_trades(plain), supervision=view), HELD)
    assert told(chain, "signal")["edge"] == "0.06"
    assert told(chain, "reasoning")["allowed"] == "by you, at another size"
    assert told(chain, "quote")["quoted average"] == 0.42


def test_a_mirror_names_its_wallet_and_its_bound() -> None:
    state = reactor_state()
    signal = next(one for one in state.reactor.signals if one.ticket_id)
    ticket = replace(
        STATE.tickets[0], ticket_id=signal.ticket_id, market_id=signal.market_id,
        client_ref="ref-1", state=TicketState.DONE,
    )  # fmt: skip
    chain = why_ticket(replace(with_trades(BUY), reactor=state.reactor), ticket)
    assert told(chain, "signal")["its price"] == signal.price
    assert told(chain, "quote")["limit"] == signal.price_max


def test_an_order_without_a_trade_tells_how_it_ended() -> None:
    ticket = replace(
        STATE.tickets[0], client_ref="ref-404", state=TicketState.REFUSED, outcome="too large",
    )  # fmt: skip
    chain = why_ticket(with_trades(BUY), ticket)
    assert told(chain, "fill") == {"order": "refused: too large"}
    assert link(chain, "signal").missing == "unknown until filled"


def test_a_position_that_resolved_tells_its_outcome() -> None:
    ended = replace(HELD, outcome=True, realized=Micros(29 * ONE))
    chain = why_position(replace(with_trades(BUY), positions=(), closed=(ended,)), ended)
    assert told(chain, "exit") == {
        "outcome": "YES",
        "realized": 29 * ONE,
        # The other links have wall time.
        "clock": "world time",
    }


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
    assert link(chain, "monitor").missing == "unknown: only the own agent's monitors are listed"
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


def test_a_position_sold_by_its_stop_was_protected() -> None:
    sold = replace(SALE, source="risk:stop_loss", reasoning="")
    state = replace(with_trades(sold, BUY), positions=())
    chain = why_fill(state, fill_of(BUY, "a-1", "desk"))
    assert told(chain, "monitor") == {"sold by": "stop loss"}
    assert told(chain, "exit")["because"] == "stop loss"
    ended = why_fill(replace(with_trades(BUY), positions=()), fill_of(BUY, "a-1", "desk"))
    assert link(ended, "monitor").missing.startswith("unknown: the position has ended")


def test_a_payout_and_its_outcome_are_one_exit() -> None:
    paid = replace(BUY, trade_id="tr-3", action="redeem", at=Timestamp(NOW - 5), pnl=Micros(ONE))
    ended = replace(HELD, outcome=True, realized=Micros(29 * ONE))
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
