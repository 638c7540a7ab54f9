"""What a reading is: one question to the service, and the facts that its answer makes."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from service_tui.desk.facts import Fact
from service_tui.desk.feed.fills import FillsWatch
from service_tui.desk.ports import Ports
from service_tui.desk.position_pages import EndedRows
from service_tui.desk.reactor.poll import ReactorWatch


@dataclass(slots=True)
class PollerMemory:
    """The market, agent and skill in focus, set by the console; None or empty is none.

    `wants_plain_words`: the service refused the words by which all markets are asked for at once.
    `without_queue`, `without_wallet`, `without_orders`: it has no list of redemptions, tells of no
    wallet, and has no list of open orders. `ended` are positions that need no second reading.
    """

    market_id: str | None = None
    span_s: int = 0
    needs_plain_names: bool = False
    without_queue: bool = False
    without_wallet: bool = False
    without_orders: bool = False
    reactor: ReactorWatch = field(default_factory=ReactorWatch)
    ended: EndedRows = field(default_factory=EndedRows)
    fills: FillsWatch = field(default_factory=FillsWatch)
    agent_id: str = ""
    run_id: str = ""


Read = tuple[list[Fact], float | None]
"""What became known and how long the call took, seconds; None when nothing was asked."""

Reading = Callable[[Ports, PollerMemory], Awaitable[Read]]
"""Asks once."""
