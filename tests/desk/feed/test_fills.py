"""Fills that the stream did not bring: whose history is read, and what is taken from it."""

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from kit.desk.offline import Asked, Offline
from kit.samples.desk import sample_state
from kit.samples.filled import filled
from service_tui.client.errors import Called, UnreachableError
from service_tui.desk.all_fills import fill_of
from service_tui.desk.facts import FillsRead
from service_tui.desk.feed.fills import FEW, NEWEST, FillsWatch, read_fills
from service_tui.desk.slices.agents import AgentView, FleetView
from service_tui.desk.trading.translate import trade_view
from service_tui.wire.endpoints.fleet import DESK_AGENT_TRADES, DESK_TRADES
from service_tui.wire.fleet import AgentTradeRow, AllTradesQuery
from service_tui.wire.trades import TradeRow, TradesQuery

STATE = replace(sample_state(8), fills=())
assert STATE.fleet is not None
AGENT = STATE.fleet.agents[0]
SILENT = UnreachableError("away", Called("GET", "/x"))


def fleet(**counts: int) -> FleetView:
    agents = [
        replace(AGENT, agent_id=key, name=f"name of {key}", trades_count=count)
        for key, count in counts.items()
    ]
    return FleetView(tuple(agents), AGENT.plan, 9)


def agents(*found: AgentView) -> list[str]:
    return [one.agent_id for one in found]


def row(number: int, **other: Any) -> TradeRow:
    given = {"id": f"t-{number}", "side": "yes", "action": "buy", "shares": 2.0, "cost": 1.0}
    return filled(TradeRow, number, **{**given, **other})


def test_an_agent_is_behind_with_more_trades_than_were_read_or_streamed() -> None:
    watch = FillsWatch()
    three = fleet(a=3, b=2, c=0)
    assert agents(*watch.behind(three, Counter(a=2, b=2))) == ["a"]
    watch.take(three.agents[0], 1)
    # Two of the history are known; with the one that was streamed all are.
    assert agents(*watch.behind(three, Counter(a=1, b=1))) == ["b"]
    assert agents(*watch.behind(three, Counter(b=2))) == ["a"]
    assert agents(*watch.behind(fleet(a=4), Counter(a=1))) == ["a"]


async def test_the_newest_fills_of_who_is_behind_are_read_under_its_own_name() -> None:
    rows = (row(1), row(2, shares=0.0, cost=0.0), row(3, action="redeem"), row(4, action="sell"))
    on = Offline(STATE, {DESK_AGENT_TRADES: SimpleNamespace(trades=rows)})
    watch, known = FillsWatch(), fleet(a=3, b=0)
    (fact,) = await read_fills(on.ports, watch, known)
    assert fact == FillsRead(
        tuple(fill_of(trade_view(one), "a", "name of a") for one in (rows[0], rows[3]))
    )
    query = TradesQuery(venue="all", limit=NEWEST)
    assert on.asked == [Asked(DESK_AGENT_TRADES, path={"agent_id": "a"}, query=query)]
    assert await read_fills(on.ports, watch, known) == ()


async def test_one_that_cannot_be_read_waits_and_holds_up_no_other() -> None:
    good = SimpleNamespace(trades=(row(1),))
    strange = SimpleNamespace(trades=(row(2, action="lend"),))
    on = Offline(STATE, {DESK_AGENT_TRADES: [SILENT, strange, good]})
    watch, known = FillsWatch(), fleet(a=1, b=1, c=1)
    (fact,) = await read_fills(on.ports, watch, known)
    assert [one.agent_id for one in fact.fills] == ["c"]
    assert agents(*watch.behind(known, Counter())) == ["a", "b"]
    on.answers[DESK_AGENT_TRADES] = SILENT
    assert await read_fills(on.ports, watch, known) == ()


async def test_an_order_that_was_streamed_in_parts_is_one_trade() -> None:
    part = replace(sample_state(12).fills[0], agent_id="a", trade_id="t-1", seq=5)
    fills = (
        part,
        replace(part, seq=6),
        replace(part, seq=7, trade_id="t-2"),
        # One of the history is not streamed, and one of another agent is not its own.
        replace(part, seq=0, trade_id="t-3"),
        replace(part, seq=8, agent_id="b"),
    )
    on = Offline(replace(STATE, fills=fills))
    assert await read_fills(on.ports, FillsWatch(), fleet(a=2)) == ()
    on.answers[DESK_AGENT_TRADES] = SimpleNamespace(trades=())
    assert await read_fills(on.ports, FillsWatch(), fleet(a=3)) == (FillsRead(()),)


async def test_one_call_brings_the_newest_fills_of_many_agents() -> None:
    names = [f"a{number}" for number in range(FEW + 1)]
    known = fleet(**dict.fromkeys(names, 1))
    rows = [
        AgentTradeRow.model_construct(**dict(row(number)), agent_id=agent)
        for number, agent in enumerate([*names, "a stranger"])
    ]
    answer = SimpleNamespace(trades=rows, before=None)
    on, watch = Offline(STATE, {DESK_TRADES: answer}), FillsWatch()
    (fact,) = await read_fills(on.ports, watch, known)
    assert fact == FillsRead(
        tuple(
            fill_of(trade_view(row(number)), agent, f"name of {agent}")
            for number, agent in enumerate(names)
        )
    )
    assert on.asked == [Asked(DESK_TRADES, query=AllTradesQuery())]
    assert await read_fills(on.ports, watch, known) == ()


async def test_a_page_that_long_reasons_cut_short_is_followed_by_the_next() -> None:
    names = [f"a{number}" for number in range(FEW + 1)]
    pages = [
        SimpleNamespace(
            trades=[AgentTradeRow.model_construct(**dict(row(place)), agent_id=names[place])],
            before=before,
        )
        for place, before in enumerate((30, 20, None))
    ]
    on = Offline(STATE, {DESK_TRADES: pages})
    (fact,) = await read_fills(on.ports, FillsWatch(), fleet(**dict.fromkeys(names, 1)))
    assert [fill.agent_id for fill in fact.fills] == names[:3]
    queries = [AllTradesQuery(before=before) for before in (None, 30, 20)]
    assert on.asked == [Asked(DESK_TRADES, query=query) for query in queries]


async def test_a_holder_without_that_call_is_asked_for_each_agent() -> None:
    known = fleet(**{f"a{number}": 1 for number in range(FEW + 1)})
    one = SimpleNamespace(trades=(row(1),))
    on = Offline(STATE, {DESK_TRADES: SILENT, DESK_AGENT_TRADES: one})
    (fact,) = await read_fills(on.ports, FillsWatch(), known)
    assert len(fact.fills) == FEW + 1
    assert len(on.asked) == FEW + 2
