"""The endpoints by noun: `client.trades.place(...)` for `call(PLACE_TRADE, ...)`."""

from collections.abc import Mapping
from typing import Protocol

from service_tui.client.reply import Answer, Reply
from service_tui.wire.agents import (
    AgentBody,
    AgentSettingsBody,
    AgentSettingsPatch,
    ContextBody,
    RegisterBody,
    RegisterRequest,
)
from service_tui.wire.base import WireModel
from service_tui.wire.briefing import BriefingBody, BriefingQuery
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints import desk as on_desk
from service_tui.wire.endpoints import public as on
from service_tui.wire.markets import (
    HistoryBody,
    HistoryQuery,
    MarketsBody,
    MarketsQuery,
    OneMarketBody,
)
from service_tui.wire.positions import (
    PortfolioBody,
    PortfolioQuery,
    PositionsBody,
    PositionsQuery,
)
from service_tui.wire.settings import (
    SettingsBody,
    SettingsPatch,
    UserSettingsBody,
    UserSettingsPatch,
)
from service_tui.wire.trades import TradeBody, TradeRequest, TradesBody, TradesQuery
from service_tui.wire.world import SpeedRequest, TapeBody, TapeQuery, WorldBody


class ResourceClient(Protocol):
    """The part of the client that a resource uses. Errors are those of `Client.call`."""

    async def call(
        self,
        endpoint: Endpoint[Answer],
        *,
        body: WireModel | None = None,
        query: WireModel | None = None,
        path: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> Reply[Answer]:
        """Call the service."""
        ...


class _Resource:
    """A noun of the service."""

    def __init__(self, caller: ResourceClient) -> None:
        self._call = caller.call


class Agents(_Resource):
    """The calling agent."""

    async def register(self, request: RegisterRequest) -> Reply[RegisterBody]:
        """A new agent; its key is in this answer and never again."""
        return await self._call(on.REGISTER, body=request)

    async def me(self) -> Reply[AgentBody]:
        """Balance, P&L and counts."""
        return await self._call(on.AGENT)

    async def context(self) -> Reply[ContextBody]:
        """The calling agent, and how to claim it."""
        return await self._call(on.CONTEXT)

    async def patch(self, changes: AgentSettingsPatch) -> Reply[AgentSettingsBody]:
        """Change what is not None."""
        return await self._call(on.PATCH_AGENT, body=changes)


class Settings(_Resource):
    """Limits of the account, and risk defaults of its owner."""

    async def get(self) -> Reply[SettingsBody]:
        """Limits, what is spent of them, and the wallet."""
        return await self._call(on.SETTINGS)

    async def post(self, changes: SettingsPatch) -> Reply[SettingsBody]:
        """Change what is not None."""
        return await self._call(on.POST_SETTINGS, body=changes)

    async def user(self) -> Reply[UserSettingsBody]:
        """Risk defaults and limits."""
        return await self._call(on.USER_SETTINGS)

    async def patch_user(self, changes: UserSettingsPatch) -> Reply[UserSettingsBody]:
        """Change what is not None."""
        return await self._call(on.PATCH_USER_SETTINGS, body=changes)


class Markets(_Resource):
    """Tradable markets."""

    async def list(self, query: MarketsQuery | None = None) -> Reply[MarketsBody]:
        """A page of markets."""
        return await self._call(on.MARKETS, query=query)

    async def get(self, market_id: str) -> Reply[OneMarketBody]:
        """One market."""
        return await self._call(on.MARKET, path={"market_id": market_id})

    async def history(
        self, market_id: str, query: HistoryQuery | None = None
    ) -> Reply[HistoryBody]:
        """Its prices over time, oldest first."""
        return await self._call(on.MARKET_HISTORY, path={"market_id": market_id}, query=query)


class Trades(_Resource):
    """Orders and what became of them."""

    async def place(
        self, request: TradeRequest, *, idempotency_key: str | None = None
    ) -> Reply[TradeBody]:
        """Send an order exactly once; with `dry_run` a quote. A venue's no is `success: false`."""
        return await self._call(on.PLACE_TRADE, body=request, idempotency_key=idempotency_key)

    async def list(self, query: TradesQuery | None = None) -> Reply[TradesBody]:
        """A page of the history, newest first."""
        return await self._call(on.TRADES, query=query)


class Positions(_Resource):
    """Positions and money."""

    async def list(self, query: PositionsQuery | None = None) -> Reply[PositionsBody]:
        """Positions that match."""
        return await self._call(on.POSITIONS, query=query)

    async def portfolio(self, query: PortfolioQuery | None = None) -> Reply[PortfolioBody]:
        """Cash, exposure and P&L."""
        return await self._call(on.PORTFOLIO, query=query)


class Briefing(_Resource):
    """The heartbeat."""

    async def get(self, query: BriefingQuery | None = None) -> Reply[BriefingBody]:
        """Recent events, and what needs attention."""
        return await self._call(on.BRIEFING, query=query)


class WorldResource(_Resource):
    """The embedded service's world; wants the operator key."""

    async def get(self) -> Reply[WorldBody]:
        """Its time, pace and news."""
        return await self._call(on_desk.WORLD)

    async def set_speed(self, request: SpeedRequest) -> Reply[WorldBody]:
        """Change its pace."""
        return await self._call(on_desk.SET_SPEED, body=request)

    async def tape(self, market_id: str, query: TapeQuery | None = None) -> Reply[TapeBody]:
        """Chart, news and trades of one market."""
        return await self._call(on_desk.TAPE, path={"market_id": market_id}, query=query)
