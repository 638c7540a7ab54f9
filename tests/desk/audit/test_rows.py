"""Rows of exports and listings: each column is the field that its name says, in its money."""

from dataclasses import replace
from typing import Any

import pytest

from kit.samples.desk import sample_state
from kit.samples.filled import filled
from service_tui.desk.audit.exports import (
    alert_rows,
    own_id,
    pending_trade_rows,
    position_row,
    position_rows,
    text_of_moment,
    trade_rows,
)
from service_tui.desk.audit.listings import fill_rows, open_positions, order_rows
from service_tui.desk.slices.agents import AgentDetailView, ReasonedTradeView
from service_tui.desk.slices.orders import OpenOrderView
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.risk import AlertView
from service_tui.desk.slices.supervision import PendingTradeView
from service_tui.terms import MONEY_OF, MarketStatus, Venue
from service_tui.units import Micros, decimal

BASE = sample_state(8)
SEEDS = pytest.mark.parametrize("seed", range(4))


def money(amount: Any) -> float | None:
    return None if amount is None else decimal(amount)


@SEEDS
def test_a_trade_that_waited_is_exported_with_every_field_of_its_own(seed: int) -> None:
    waiting, decided = filled(PendingTradeView, seed), filled(PendingTradeView, seed + 50)
    view = replace(BASE.supervision, pending_trades=(waiting,), decided=(decided,))
    rows = pending_trade_rows(replace(BASE, supervision=view))
    for row, one in zip(rows, (waiting, decided), strict=True):
        assert row == {
            "held": one.pending_id, "agent": one.agent_id, "name": one.agent_name,
            "at": text_of_moment(one.created_at), "market": one.market_id,
            "question": one.question, "side": one.side.value, "venue": one.venue.value,
            "money": MONEY_OF[one.venue], "amount": money(one.amount), "skill": one.skill_slug,
            "reasoning": one.reasoning, "status": one.status.value,
            "decided_at": text_of_moment(one.decided_at),
            "decided_amount": money(one.decided_amount), "reason": one.reason,
            "trade": one.trade_id,
        }  # fmt: skip


@SEEDS
def test_an_open_order_is_listed_with_every_field_of_its_own(seed: int) -> None:
    one = filled(OpenOrderView, seed)
    assert order_rows(replace(BASE, orders=(one,))) == [
        {
            "order": one.order_id, "market": one.market_id, "question": one.question,
            "venue": one.venue.value, "money": MONEY_OF[one.venue], "side": one.side.value,
            "action": one.action.value, "type": one.order_type.value, "price": one.price,
            "shares": money(one.shares), "filled": money(one.filled),
            "reserved": money(one.money), "created": text_of_moment(one.created_at),
            "expires": text_of_moment(one.expires_at),
        }
    ]  # fmt: skip


@SEEDS
def test_an_alert_is_exported_with_every_field_of_its_own(seed: int) -> None:
    one = filled(AlertView, seed)
    assert alert_rows(replace(BASE, risk=replace(BASE.risk, alerts=(one,)))) == [
        {
            "alert": one.alert_id, "at": text_of_moment(one.breached_at),
            "market": one.market_id, "question": one.question, "venue": one.venue.value,
            "side": one.side.value, "reason": one.reason, "trigger_price": one.trigger_price,
            "shares": money(one.shares), "state": one.state.value,
        }
    ]  # fmt: skip


@SEEDS
def test_a_position_is_exported_with_every_field_of_its_own(seed: int) -> None:
    one = filled(PositionView, seed)
    assert position_row("a-9", one) == {
        "agent": "a-9", "market": one.market_id, "question": one.question,
        "venue": one.venue.value, "money": MONEY_OF[one.venue], "side": one.side.value,
        "status": one.end_text, "shares": money(one.shares), "cost": money(one.cost),
        "average": one.average, "mark_price": one.mark_price,
        "mark_value": money(one.mark_value), "exit_value": money(one.exit_value),
        "unrealized": money(one.unrealized), "realized": money(one.realized),
        "to_redeem": money(one.to_redeem),
        "outcome": None if one.outcome is None else one.outcome.word.lower(),
    }  # fmt: skip


def held(market_id: str, seed: int, **other: Any) -> PositionView:
    given = {"status": MarketStatus.ACTIVE, "market_id": market_id, **other}
    return filled(PositionView, seed, **given)


def test_open_positions_are_the_own_ones_of_every_venue_that_are_not_paid_out() -> None:
    over = held("over", 3, status=MarketStatus.RESOLVED, venue=Venue.EVM, mark_value=Micros(0))
    won = held("won", 4, status=MarketStatus.RESOLVED, venue=Venue.EVM, mark_value=Micros(9))
    state = replace(
        BASE, positions=(held("a", 1, venue=Venue.SIM),),
        on_venues=(over, held("b", 2, venue=Venue.EVM), won),
    )  # fmt: skip
    rows = open_positions(state)
    assert [(row["agent"], row["market"]) for row in rows] == [
        (own_id(state), "a"), (own_id(state), "b"), (own_id(state), "won"),
    ]  # fmt: skip


def past_of(agent_id: str, *positions: PositionView, **other: Any) -> AgentDetailView:
    return filled(AgentDetailView, 9, agent_id=agent_id, positions=positions, **other)


def test_own_positions_come_first_and_open_ones_are_those_that_are_shown() -> None:
    own = own_id(BASE)
    shown = held("a", 1, venue=Venue.SIM)
    stale = replace(shown, shares=shown.shares + 10)
    ended = held("e", 4, status=MarketStatus.RESOLVED)
    theirs = replace(shown, cost=shown.cost + 10)
    state = replace(BASE, positions=(shown,), closed=(), on_venues=())
    pasts = {"a-x": past_of("a-x", theirs), own: past_of(own, stale, ended)}
    rows = position_rows(state, pasts)
    assert rows == [
        position_row(own, shown), position_row(own, ended), position_row("a-x", theirs),
    ]  # fmt: skip
    # What was not read is taken from what is shown.
    assert position_rows(state, {own: past_of(own)}) == [position_row(own, shown)]


def test_the_own_agent_is_that_of_the_account_else_of_the_fleet() -> None:
    assert BASE.account is not None
    assert own_id(BASE) == BASE.account.agent_id
    assert own_id(replace(BASE, account=None, fleet=None)) == ""
    if BASE.fleet is not None:
        mine = next((one.agent_id for one in BASE.fleet.agents if one.is_own), "")
        assert own_id(replace(BASE, account=None)) == mine


def test_trades_are_exported_own_first_and_fills_newest_first() -> None:
    own = own_id(BASE)
    trades = tuple(filled(ReasonedTradeView, seed) for seed in range(12))
    pasts = {
        "a-x": past_of("a-x", trades=trades[:6]), own: past_of(own, trades=trades[6:]),
    }  # fmt: skip
    rows = trade_rows(BASE, pasts)
    assert [row["agent"] for row in rows] == [own] * 6 + ["a-x"] * 6
    assert [row["trade"] for row in rows[:6]] == [one.trade.trade_id for one in trades[6:]]
    fills = fill_rows(BASE, pasts)
    expected = {one.trade.trade_id for one in trades if one.trade.is_fill}
    assert {row["trade"] for row in fills} == expected
    moments = [str(row["at"]) for row in fills]
    assert moments == sorted(moments, reverse=True)
