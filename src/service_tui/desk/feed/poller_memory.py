"""Types of a reading, and the memory that pollers keep between readings."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from service_tui.desk.facts import Fact
from service_tui.desk.feed.fills import FillsWatch
from service_tui.desk.ports import Ports
from service_tui.desk.positions.pages import EndedRows
from service_tui.desk.reactor.poll import ReactorWatch
from service_tui.desk.slices.markets import DetailView, MarketView
from service_tui.desk.slices.rows import LastMade


@dataclass(slots=True)
class PollerMemory:
    """Focus of the console, and facts about the service that pollers keep between readings.

    `needs_plain_names`: the service refused the query that reads markets of all states at once.
    `without_queue`, `without_wallet`, `without_orders`: it has no endpoint for redemptions, for
    the wallet, or for open orders. `ended` are positions that need no second reading. `fills`
    is None where nobody asks for fills beside the agents. `markets` and `detail` are what was
    made of the last answers. `wants_holdings` while somebody looks at what all agents hold,
    `wants_returns` where somebody looks at their returns, `returns_at` when the returns of all
    agents were read. `beside_id` is the market compared with the one in focus, empty for none;
    `beside` is what was made of its last answer.
    """

    market_id: str | None = None
    span_s: int = 0
    needs_plain_names: bool = False
    without_queue: bool = False
    without_wallet: bool = False
    without_orders: bool = False
    reactor: ReactorWatch = field(default_factory=ReactorWatch)
    ended: EndedRows = field(default_factory=EndedRows)
    fills: FillsWatch | None = field(default_factory=FillsWatch)
    markets: LastMade[tuple[MarketView, ...]] = field(
        default_factory=LastMade[tuple[MarketView, ...]]
    )
    detail: LastMade[DetailView] = field(default_factory=LastMade[DetailView])
    agent_id: str = ""
    run_id: str = ""
    wants_holdings: bool = True
    wants_returns: bool = True
    returns_at: float = float("-inf")
    beside_id: str = ""
    beside: LastMade[DetailView] = field(default_factory=LastMade[DetailView])


Read = tuple[list[Fact], float | None]
"""Facts of a reading and the duration of its call, seconds; None without a call."""

Reading = Callable[[Ports, PollerMemory], Awaitable[Read]]
"""Asks once."""
