"""Reads fills of every agent from the history that the event stream did not deliver."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from service_tui.client.errors import ServiceError
from service_tui.desk.agents.past import trades_of_all
from service_tui.desk.all_fills import fill_of
from service_tui.desk.facts import FillsRead
from service_tui.desk.ports import Ports
from service_tui.desk.slices.agents import AgentView, FillView, FleetView
from service_tui.desk.slices.trades import TradeView
from service_tui.desk.trading.translate import trade_view
from service_tui.desk.wire_values import UNTRANSLATABLE
from service_tui.wire.endpoints.fleet import DESK_AGENT_TRADES
from service_tui.wire.fleet import ALL_TRADES_MAX, AgentTradeRow
from service_tui.wire.trades import TradesQuery

NEWEST: Final = 100
"""Rows of an agent's history that are read at one time."""

FEW: Final = 8
"""Agents that are read one by one; of more, one call brings as many fills as the desk keeps."""


class FillsWatch:
    """Number of each agent's trades that were read from the history."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def behind(self, fleet: FleetView, streamed: Counter[str]) -> tuple[AgentView, ...]:
        """Agents with more trades than were read from the history or streamed."""
        return tuple(
            one
            for one in fleet.agents
            if one.trades_count > self._known.get(one.agent_id, 0) + streamed[one.agent_id]
        )

    def take(self, agent: AgentView, streamed: int) -> None:
        """Note that all trades of an agent are known now."""
        self._known[agent.agent_id] = agent.trades_count - streamed


async def read_fills(ports: Ports, watch: FillsWatch, fleet: FleetView) -> tuple[FillsRead, ...]:
    """The newest fills of each agent that has traded unheard; one that cannot be read waits.

    Returns:
        One fact, or none where nothing was missed.
    """
    behind = watch.behind(fleet, _streamed(ports))
    if len(behind) > FEW and (fact := await _newest_of_all(ports, watch, behind)) is not None:
        return (fact,)
    fills: list[FillView] = []
    was_read = False
    for agent in behind:
        query = TradesQuery(venue="all", limit=NEWEST)
        path = {"agent_id": agent.agent_id}
        try:
            reply = await ports.client.call(DESK_AGENT_TRADES, path=path, query=query)
            fills += _fills_of(agent, (trade_view(row) for row in reply.answer.trades))
        except (ServiceError, *UNTRANSLATABLE):
            continue
        watch.take(agent, _streamed(ports)[agent.agent_id])
        was_read = True
    return (FillsRead(tuple(fills)),) if was_read else ()


async def _newest_of_all(
    ports: Ports, watch: FillsWatch, behind: Sequence[AgentView]
) -> FillsRead | None:
    """The newest fills of many agents, usually in one call; None where they cannot be read."""
    names = {agent.agent_id: agent.name for agent in behind}
    try:
        rows = await _newest(ports)
        fills = tuple(
            fill_of(trade, row.agent_id, names[row.agent_id])
            for row in rows
            if row.agent_id in names and (trade := trade_view(row)).is_fill
        )
    except (ServiceError, *UNTRANSLATABLE):
        return None
    streamed = _streamed(ports)
    for agent in behind:
        watch.take(agent, streamed[agent.agent_id])
    return FillsRead(fills)


async def _newest(ports: Ports) -> list[AgentTradeRow]:
    """As many rows of all agents as a whole page holds; of agents that write much it has fewer."""
    rows: list[AgentTradeRow] = []
    async for page in trades_of_all(ports):
        rows += page
        if len(rows) >= ALL_TRADES_MAX:
            break
    return rows


def _streamed(ports: Ports) -> Counter[str]:
    """Number of streamed trades by agent; an order that filled in parts is one."""
    trades = {(one.agent_id, one.trade_id) for one in ports.state().fills if one.seq}
    return Counter(agent_id for agent_id, _ in trades)


def _fills_of(agent: AgentView, trades: Iterator[TradeView]) -> Iterator[FillView]:
    for trade in trades:
        if trade.is_fill:
            yield fill_of(trade, agent.agent_id, agent.name)
