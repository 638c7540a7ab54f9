"""Reads of the sdk's client: methods that change nothing."""

from datetime import datetime
from typing import Final, Literal

from service_tui.client.errors import NotFoundError
from service_tui.sdk.arguments import checked, choice_of
from service_tui.sdk.paper import Paper
from service_tui.sdk.transport import SyncTransport
from service_tui.terms import MARKET_IDS_MAX, VENUE_ALIASES, Action, Side, Venue
from service_tui.wire.advice import TroubleshootBody, TroubleshootRequest
from service_tui.wire.agents import AgentBody, ContextBody
from service_tui.wire.briefing import BriefingBody, BriefingQuery
from service_tui.wire.endpoints import public as on
from service_tui.wire.endpoints.fleet import PENDING_TRADES
from service_tui.wire.fleet import HeldQuery, HeldTradeBody
from service_tui.wire.importing import CheckBody, CheckQuery, ImportableBody, ImportableQuery
from service_tui.wire.market_context import MarketContextBody, MarketContextQuery
from service_tui.wire.markets import HistoryPoint, HistoryQuery, MarketBody, MarketsQuery
from service_tui.wire.monitors import MonitorBody, RiskAlertBody
from service_tui.wire.orders import ExecutablePriceBody, ExecutablePriceQuery, OrderBody
from service_tui.wire.outcomes import OutcomesBody, OutcomesQuery
from service_tui.wire.positions import (
    ExpiringBody,
    ExpiringQuery,
    PortfolioBody,
    PortfolioQuery,
    PositionBody,
    PositionsQuery,
)
from service_tui.wire.reactor import PendingQuery, SignalBody
from service_tui.wire.settings import SettingsBody, UserSettingsBody
from service_tui.wire.trades import TradesBody, TradesQuery

POSITIONS_PAGE: Final = 500
"""Positions in one answer: a quarter of what a client takes."""


@checked  # noqa: PLR0904  (one face with the names of the service)
class Reads:
    """The reading half of ServiceClient."""

    def __init__(self, transport: SyncTransport, paper: Paper | None) -> None:
        """Read from the service; with a paper purse, read positions from that."""
        self._transport: Final = transport
        self._paper: Final = paper

    def get_briefing(self, *, since: datetime | None = None) -> BriefingBody:
        """The heartbeat: what happened, and what wants attention."""
        return self._transport.call(on.BRIEFING, query=BriefingQuery(since=since))

    def get_markets(  # noqa: PLR0913  (the spec's parameters)
        self,
        status: Literal["active", "closed", "resolved", "all"] = "active",
        *,
        limit: int = 50,
        offset: int = 0,
        q: str | None = None,
        tags: str | None = None,
        venue: str | Venue | None = None,
        ids: str | None = None,
        sort: Literal["volume", "created", "recent", "opportunity"] | None = None,
        max_hours_to_resolution: int | None = None,
        include: str | None = None,
        tradeable_only: bool = True,
    ) -> list[MarketBody]:
        """A page of markets. `q` searches text; `tags` and `ids` are comma-separated."""
        query = MarketsQuery(
            status=status,
            limit=limit,
            offset=offset,
            q=q,
            tags=tags,
            venue=None if venue is None else venue_of(venue),
            ids=ids,
            sort=sort,
            max_hours_to_resolution=max_hours_to_resolution,
            include=include,
            tradeable_only=tradeable_only,
        )
        return list(self._transport.call(on.MARKETS, query=query).markets)

    def get_market(self, market_id: str) -> MarketBody | None:
        """One market; None where there is none of this id."""
        try:
            return self._transport.call(on.MARKET, path={"market_id": market_id}).market
        except NotFoundError:
            return None

    def get_market_history(
        self, market_id: str, *, hours: int = 24, interval: int = 15
    ) -> list[HistoryPoint]:
        """Prices of the last hours, oldest first, one a so many minutes."""
        query = HistoryQuery(hours=hours, interval=interval)
        path = {"market_id": market_id}
        return list(self._transport.call(on.MARKET_HISTORY, path=path, query=query).points)

    def get_market_context(
        self, market_id: str, *, my_probability: float | None = None
    ) -> MarketContextBody:
        """Context of a trade: position, discipline, slippage, edge, warnings."""
        query = MarketContextQuery(my_probability=my_probability)
        return self._transport.call(on.MARKET_CONTEXT, path={"market_id": market_id}, query=query)

    def get_importable_markets(
        self, *, q: str | None = None, min_volume: float = 10_000.0, limit: int = 50
    ) -> list[ImportableBody]:
        """Questions that the venues trade and this service does not list yet."""
        query = ImportableQuery(q=q, min_volume=min_volume, limit=limit)
        return list(self._transport.call(on.IMPORTABLE, query=query).markets)

    def check_market(self, url: str) -> CheckBody:
        """True if the service lists a market already, by its address; costs no import."""
        return self._transport.call(on.CHECK_MARKET, query=CheckQuery(url=url))

    def get_expiring_positions(self, hours: int = 24) -> list[ExpiringBody]:
        """Positions that resolve within some hours, soonest first."""
        query = ExpiringQuery(hours=hours)
        return list(self._transport.call(on.EXPIRING, query=query).positions)

    def get_outcomes(
        self,
        skill: str | None = None,
        *,
        since: datetime | None = None,
        venue: str | Venue = Venue.SIM,
    ) -> OutcomesBody:
        """Outcomes of the trades on one venue, of one skill if given."""
        query = OutcomesQuery(skill=skill, since=since, venue=venue_of(venue))
        return self._transport.call(on.OUTCOMES, query=query)

    def get_positions(
        self,
        venue: str | Venue | None = None,
        source: str | None = None,
        *,
        status: Literal["active", "resolved", "closed", "settled", "all"] = "active",
    ) -> list[PositionBody]:
        """Open or past positions; on paper the paper positions."""
        where = None if venue is None else venue_of(venue)
        if self._paper is not None:
            return [
                row
                for row in self._seen(self._paper).positions()
                if where in {None, row.venue}
                and (source is None or any(source in tag for tag in row.sources))
            ]
        query = PositionsQuery(venue=where, source=source, status=status)
        if status == "active":
            return list(self._transport.call(on.POSITIONS, query=query).positions)
        rows_read: list[PositionBody] = []
        while True:
            # An old account has more behind it than one answer may be long.
            page = query.model_copy(update={"limit": POSITIONS_PAGE, "offset": len(rows_read)})
            rows = self._transport.call(on.POSITIONS, query=page).positions
            if rows_read and rows[:1] == tuple(rows_read[:1]):
                return rows_read
            rows_read += rows
            if len(rows) != POSITIONS_PAGE:
                return rows_read

    def get_portfolio(self, venue: str | Venue = "all") -> PortfolioBody:
        """Cash, exposure and P&L."""
        if self._paper is not None:
            return self._seen(self._paper).portfolio()
        where = "all" if venue == "all" else venue_of(venue)
        return self._transport.call(on.PORTFOLIO, query=PortfolioQuery(venue=where))

    def get_trades(  # noqa: PLR0913  (the spec's parameters)
        self,
        venue: str | Venue = "all",
        *,
        limit: int = 50,
        offset: int = 0,
        market_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        include_failed: bool = False,
    ) -> TradesBody:
        """A page of the history, newest first; on paper all that was traded on paper."""
        if self._paper is not None:
            rows = tuple(self._paper.trades())
            return TradesBody(trades=rows, total_count=len(rows))
        query = TradesQuery(
            venue="all" if venue == "all" else venue_of(venue),
            limit=limit,
            offset=offset,
            market_id=market_id,
            since=since,
            until=until,
            include_failed=include_failed,
        )
        return self._transport.call(on.TRADES, query=query)

    def list_monitors(self) -> list[MonitorBody]:
        """All active monitors."""
        return list(self._transport.call(on.MONITORS).monitors)

    def get_risk_alerts(self) -> list[RiskAlertBody]:
        """Breaches that wait for their exit, oldest first."""
        return list(self._transport.call(on.RISK_ALERTS).risk_alerts)

    def get_agent(self) -> AgentBody:
        """The calling agent: balance, P&L, plan, claim."""
        return self._transport.call(on.AGENT)

    def get_context(self) -> ContextBody:
        """The calling agent in short, with its claim link."""
        return self._transport.call(on.CONTEXT)

    def get_settings(self) -> SettingsBody:
        """Limits of the account, what is spent of them, and the wallet."""
        return self._transport.call(on.SETTINGS)

    def get_user_settings(self) -> UserSettingsBody:
        """Risk defaults and limits."""
        return self._transport.call(on.USER_SETTINGS)

    def get_open_orders(self) -> list[OrderBody]:
        """Orders that rest on a book, oldest first; on paper there are none."""
        if self._paper is not None:
            return []
        return list(self._transport.call(on.OPEN_ORDERS).orders)

    def waiting_buys(self) -> list[tuple[str, float]]:
        """Requested buys that have not filled: skill and money of each.

        Returns:
            Trades that wait for the operator, and the rest of open buys; on paper there are none.
        """
        if self._paper is not None:
            return []
        try:
            held = self._transport.call(PENDING_TRADES, query=HeldQuery()).held
        except NotFoundError:
            # A service without leashes lets no trade wait.
            held = ()
        waits = [
            (one.skill_slug or one.source, one.amount) for one in held if one.action is Action.BUY
        ]
        orders = (one for one in self.get_open_orders() if one.trade_type is Action.BUY)
        return waits + [(one.source or "", one.cost_usdc) for one in orders]

    def get_signals(self) -> list[SignalBody]:
        """Trades of the reactor's watchlist that wait to be mirrored, oldest first; Pro plan."""
        return list(self._transport.call(on.PENDING_SIGNALS, query=PendingQuery()).reactor_signals)

    def get_held_trades(self) -> list[HeldTradeBody]:
        """The agent's own trades that wait for its operator, and how the last ones ended."""
        return list(self._transport.call(PENDING_TRADES, query=HeldQuery(status="all")).held)

    def get_executable_price(
        self, market_id: str, side: str, action: str = "buy", *, apply_buffer: bool = False
    ) -> ExecutablePriceBody:
        """The best price of a side's token for who takes; with a buffer a tick worse."""
        query = ExecutablePriceQuery(
            side=choice_of(Side, side, "side"),
            action=choice_of(Action, action, "action"),
            apply_buffer=apply_buffer,
        )
        path = {"market_id": market_id}
        return self._transport.call(on.EXECUTABLE_PRICE, path=path, query=query)

    def troubleshoot(
        self, error_text: str | None = None, *, message: str | None = None
    ) -> TroubleshootBody:
        """Advice on an error text or on a question."""
        request = TroubleshootRequest(error_text=error_text, message=message)
        return self._transport.call(on.TROUBLESHOOT, body=request)

    def _seen(self, paper: Paper) -> Paper:
        """The paper purse, after it was shown today's prices of what it holds."""
        held = paper.held
        for first in range(0, len(held), MARKET_IDS_MAX):
            ids = ",".join(held[first : first + MARKET_IDS_MAX])
            query = MarketsQuery(ids=ids, limit=MARKET_IDS_MAX, status="all", tradeable_only=False)
            paper.see(self._transport.call(on.MARKETS, query=query).markets)
        return paper


def venue_of(name: str | Venue) -> Venue:
    """A venue by any of its names.

    Returns:
        The venue.

    Raises:
        ValueError: there is no such venue.
    """
    return VENUE_ALIASES.get(name) or choice_of(Venue, name, "venue")
