"""The whole past of every agent: page by page, each row once, and a reason where there is none."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kit.desk.offline import Offline
from kit.samples.desk import sample_state
from kit.samples.filled import filled
from service_tui.client.errors import Called, UnreachableError
from service_tui.client.reply import Reply
from service_tui.desk.agents import past
from service_tui.desk.agents.past import pasts_of
from service_tui.desk.agents.translate import reasoned_trade_view
from service_tui.desk.positions.translate import position_views
from service_tui.desk.slices.agents import AgentDetailView
from service_tui.desk.wanted import PastPart
from service_tui.terms import TRADES_PAGE_MAX
from service_tui.wire.endpoints.fleet import (
    DESK_AGENT_OUTCOMES,
    DESK_AGENT_POSITIONS,
    DESK_AGENT_TRADES,
)
from service_tui.wire.outcomes import OutcomesBody
from service_tui.wire.positions import PositionsBody
from service_tui.wire.trades import TradeRow, TradesQuery

STATE = sample_state(6)
assert STATE.fleet is not None
TWO = replace(STATE, fleet=replace(STATE.fleet, agents=STATE.fleet.agents[:2]))
SILENT = UnreachableError("no connection", Called("GET", "/x"))
OUTCOMES = filled(OutcomesBody, 1, by_venue={})
NO_POSITIONS = filled(PositionsBody, 1, positions=())


def row(number: int, **other: Any) -> TradeRow:
    name = f"t-{number}"
    given = {"id": name, "trade_id": name, "side": "yes", "action": "buy"}
    return filled(TradeRow, number, **{**given, **other})


def page(*rows: TradeRow) -> Any:
    return SimpleNamespace(trades=rows)


class Service:
    """Pages by agent, each with what was dropped of it."""

    def __init__(self, state: Any = TWO, **pages: list[Any]) -> None:
        self.on = Offline(state)
        self.on.ports.client.call = self.call  # type: ignore[method-assign]
        self.pages = {key.replace("_", "-"): list(some) for key, some in pages.items()}
        self.asked: list[tuple[str, TradesQuery]] = []

    async def call(self, endpoint: Any, *, path: Any, query: Any) -> Reply[Any]:
        if endpoint is DESK_AGENT_POSITIONS:
            return Reply(NO_POSITIONS, 0, 0.01, 0.0)  # type: ignore[arg-type]
        if endpoint is DESK_AGENT_OUTCOMES:
            return Reply(OUTCOMES, 0, 0.01, 0.0)  # type: ignore[arg-type]
        assert endpoint is DESK_AGENT_TRADES
        self.asked.append((path["agent_id"], query))
        answer = self.pages[path["agent_id"]].pop(0)
        if isinstance(answer, Exception):
            raise answer
        body, dropped = answer
        return Reply(body, dropped, 0.01, 0.0)  # type: ignore[arg-type]


async def test_every_agent_is_read_and_one_that_is_away_has_the_reason() -> None:
    service = Service(a_1=[(page(row(1), row(2)), 0)], a_2=[SILENT])
    assert await pasts_of(service.on.ports) == {
        "a-1": AgentDetailView(
            "a-1", (reasoned_trade_view(row(1)), reasoned_trade_view(row(2))), ()
        ),
        "a-2": AgentDetailView("a-2", (), (), str(SILENT)),
    }
    query = TradesQuery(venue="all", limit=TRADES_PAGE_MAX, offset=0)
    assert service.asked == [("a-1", query), ("a-2", query)]
    assert await pasts_of(Service(replace(STATE, fleet=None)).on.ports) == {}


async def test_pages_are_read_to_the_first_short_one_and_each_trade_counts_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(past, "TRADES_PAGE_MAX", 3)
    moved = row(3, reasoning="newer")
    pages = [
        (page(row(1), row(2), row(3)), 0),
        # One of these could not be read: the page was full all the same.
        (page(moved, row(4)), 1),
        (page(row(5)), 1),
    ]
    service = Service(a_1=pages, a_2=[(page(), 0)])
    found = await pasts_of(service.on.ports)
    assert [one.trade.trade_id for one in found["a-1"].trades] == [f"t-{n}" for n in range(1, 6)]
    assert found["a-1"].trades[2].trade.reasoning == "newer"
    assert [(query.limit, query.offset) for agent, query in service.asked if agent == "a-1"] == [
        (3, 0), (3, 3), (3, 6),
    ]  # fmt: skip


async def test_a_past_without_an_end_comes_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past, "TRADES_PAGE_MAX", 1)
    monkeypatch.setattr(past, "PAGES_MAX", 4)
    pages = [(page(row(number)), 0) for number in range(9)]
    service = Service(a_1=pages, a_2=[(page(), 0)])
    found = await pasts_of(service.on.ports)
    assert len(found["a-1"].trades) == 4


async def test_positions_are_read_of_the_same_agent_and_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Any] = []
    body = filled(PositionsBody, 7).positions or (filled_row(),)

    async def all_positions(read_page: Any, ended: Any, *, whole: bool) -> Any:
        seen.append((whole, type(ended).__name__))
        await read_page("a query")
        return SimpleNamespace(rows=body)

    monkeypatch.setattr(past, "all_positions", all_positions)
    service = Service(a_1=[(page(), 0)], a_2=[(page(), 0)])
    paths: list[Any] = []
    call = service.on.ports.client.call

    async def noted(endpoint: Any, *, path: Any, query: Any) -> Any:
        if endpoint is DESK_AGENT_POSITIONS:
            paths.append((path, query))
        return await call(endpoint, path=path, query=query)

    service.on.ports.client.call = noted  # type: ignore[method-assign]
    found = await pasts_of(service.on.ports)
    assert seen == [(True, "EndedRows")] * 2
    assert paths == [({"agent_id": "a-1"}, "a query"), ({"agent_id": "a-2"}, "a query")]
    views = tuple(view for one in body for view in position_views(one, None))
    assert found["a-1"].positions == views


def filled_row() -> Any:
    kind: Any = PositionsBody.model_fields["positions"].annotation
    return filled(kind.__args__[0], 5, status="active")


async def test_nothing_is_read_that_nobody_wants_or_that_never_was() -> None:
    service = Service(a_1=[(page(row(1)), 0)], a_2=[])
    assert await pasts_of(service.on.ports, frozenset()) == {}
    assert service.asked == []
    assert TWO.fleet is not None
    first, second = TWO.fleet.agents
    idle = replace(second, trades_count=0, positions_count=0, venues=())
    state = replace(TWO, fleet=replace(TWO.fleet, agents=(first, idle)))
    service = Service(state, a_1=[(page(row(1)), 0)])
    found = await pasts_of(service.on.ports, frozenset({PastPart.TRADES}))
    assert [len(found[name].trades) for name in ("a-1", "a-2")] == [1, 0]
    assert [name for name, _ in service.asked] == ["a-1"]
