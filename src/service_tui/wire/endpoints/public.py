"""Every endpoint as a value: method, path, bodies, plan. Written once, used by both towers.

The client calls `call(PLACE_TRADE)`; the server registers a handler under the same value; a test
compares the table with the spec's list.
"""

from typing import Final

from service_tui.terms import Plan
from service_tui.wire import (
    advice,
    agents,
    batch,
    briefing,
    importing,
    leaderboard,
    market_context,
    markets,
    monitors,
    orders,
    outcomes,
    positions,
    reactor,
    settings,
    skills,
    trades,
)
from service_tui.wire.base import Line, Moment, WireModel
from service_tui.wire.endpoint import SDK, Endpoint
from service_tui.wire.endpoints.agent_wallets import ALL_AGENT_WALLETS
from service_tui.wire.endpoints.browse import ALL_BROWSE
from service_tui.wire.endpoints.desk import ALL_DESK
from service_tui.wire.endpoints.fleet import ALL_FLEET
from service_tui.wire.endpoints.notify import ALL_NOTIFY
from service_tui.wire.endpoints.paid import ALL_PAID
from service_tui.wire.endpoints.people import ALL_PEOPLE
from service_tui.wire.endpoints.research import ALL_RESEARCH
from service_tui.wire.endpoints.trading import ALL_TRADING
from service_tui.wire.endpoints.wallet import ALL_WALLET

LEADERBOARD: Final = "/api/leaderboard"
CLAIM_PAGE: Final = "/claim/{claim_code}"
"""The one page for people; the link to it is the `claim_url`."""


class HealthBody(WireModel):
    """The service is there."""

    status: Line
    timestamp: Moment
    version: Line
    # ours: what the offline world is, "invented" or the name of a history, and its own time.
    world: Line | None = None
    world_time: Moment | None = None


HEALTH = Endpoint(
    "GET", f"{SDK}/health", HealthBody, keyless=True, summary="Whether the service answers"
)
REGISTER = Endpoint(
    "POST",
    f"{SDK}/agents/register",
    agents.RegisterBody,
    request=agents.RegisterRequest,
    keyless=True,
    summary="Register an agent; the key is shown once",
)
CONTEXT = Endpoint("GET", f"{SDK}/context", agents.ContextBody, summary="Who I am")
AGENT = Endpoint("GET", f"{SDK}/agents/me", agents.AgentBody, summary="The calling agent")
PATCH_AGENT = Endpoint(
    "PATCH",
    f"{SDK}/agents/me/settings",
    agents.AgentSettingsBody,
    request=agents.AgentSettingsPatch,
    summary="Change the agent's own settings",
)
SETTINGS = Endpoint("GET", f"{SDK}/settings", settings.SettingsBody, summary="Limits and wallet")
POST_SETTINGS = Endpoint(
    "POST",
    f"{SDK}/settings",
    # ours: the answer is the settings after the change.
    settings.AllSettingsBody,
    request=settings.SettingsPatch,
    summary="Change limits",
)
USER_SETTINGS = Endpoint(
    "GET", f"{SDK}/user/settings", settings.UserSettingsBody, summary="Risk defaults"
)
PATCH_USER_SETTINGS = Endpoint(
    "PATCH",
    f"{SDK}/user/settings",
    settings.UserSettingsBody,
    request=settings.UserSettingsPatch,
    summary="Change risk defaults and safety rails",
)
MARKETS = Endpoint(
    "GET",
    f"{SDK}/markets",
    markets.MarketsBody,
    query=markets.MarketsQuery,
    summary="A page of markets",
)
MARKET = Endpoint(
    "GET", f"{SDK}/markets/{{market_id}}", markets.OneMarketBody, summary="One market"
)
MARKET_HISTORY = Endpoint(
    "GET",
    f"{SDK}/markets/{{market_id}}/history",
    markets.HistoryBody,
    query=markets.HistoryQuery,
    summary="Prices of a market over time",
)
PLACE_TRADE = Endpoint(
    "POST",
    f"{SDK}/trade",
    trades.TradeBody,
    request=trades.TradeRequest,
    summary="Buy or sell; with dry_run a quote",
    once=True,
)
TRADES = Endpoint(
    "GET",
    f"{SDK}/trades",
    trades.TradesBody,
    query=trades.TradesQuery,
    summary="The agent's trades, newest first",
)
POSITIONS = Endpoint(
    "GET",
    f"{SDK}/positions",
    positions.PositionsBody,
    query=positions.PositionsQuery,
    summary="What the agent holds",
)
PORTFOLIO = Endpoint(
    "GET",
    f"{SDK}/portfolio",
    positions.PortfolioBody,
    query=positions.PortfolioQuery,
    summary="Cash, exposure and P&L",
)
BRIEFING = Endpoint(
    "GET",
    f"{SDK}/briefing",
    briefing.BriefingBody,
    query=briefing.BriefingQuery,
    summary="The heartbeat",
)
# Before MARKET among the routes: their last word could be read as an id.
IMPORTABLE = Endpoint(
    "GET",
    f"{SDK}/markets/importable",
    importing.ImportablesBody,
    query=importing.ImportableQuery,
    summary="Questions that the venues trade and this service does not list yet",
)
CHECK_MARKET = Endpoint(
    "GET",
    f"{SDK}/markets/check",
    importing.CheckBody,
    query=importing.CheckQuery,
    summary="Whether a question is listed; costs no import",
)
IMPORT_MARKET = Endpoint(
    "POST",
    f"{SDK}/markets/import",
    importing.ImportBody,
    request=importing.ImportRequest,
    summary="List a question or event by its address",
)
IMPORT_TICKER = Endpoint(
    "POST",
    f"{SDK}/markets/import/kalshi",
    importing.ImportBody,
    request=importing.ImportTickerRequest,
    summary="List a question by its address or ticker",
)
IMPORT_TICKER_EVENT = Endpoint(
    "POST",
    f"{SDK}/markets/import/kalshi/event",
    importing.ImportBody,
    request=importing.ImportEventRequest,
    summary="List the outcomes of an event by its ticker",
)
BATCH = Endpoint(
    "POST",
    f"{SDK}/trades/batch",
    batch.BatchBody,
    request=batch.BatchRequest,
    summary="Several buys; with atomic all or none",
    once=True,
)
EXPIRING = Endpoint(
    "GET",
    f"{SDK}/positions/expiring",
    positions.ExpiringsBody,
    query=positions.ExpiringQuery,
    summary="Positions that resolve soon",
)
OUTCOMES = Endpoint(
    "GET",
    f"{SDK}/outcomes",
    outcomes.OutcomesBody,
    query=outcomes.OutcomesQuery,
    summary="What the trades came to, of all skills or of one",
)
PATCH_SETTINGS = Endpoint(
    "PATCH",
    f"{SDK}/settings",
    settings.AllSettingsBody,
    request=settings.SettingsPatch,
    summary="Change limits and risk defaults",
)
MARKET_CONTEXT = Endpoint(
    "GET",
    f"{SDK}/context/{{market_id}}",
    market_context.MarketContextBody,
    query=market_context.MarketContextQuery,
    summary="What to know of a market before a trade",
)
CLAIM = Endpoint(
    "GET",
    f"{SDK}/agents/claim/{{claim_code}}",
    agents.ClaimBody,
    keyless=True,
    summary="What the holder of a claim link may know of the agent",
)
TROUBLESHOOT = Endpoint(
    "POST",
    f"{SDK}/troubleshoot",
    advice.TroubleshootBody,
    request=advice.TroubleshootRequest,
    keyless=True,
    key_helps=True,
    summary="Advice on an error; with a key also on a question in words",
)
VERSION_CHECK = Endpoint(
    "GET",
    f"{SDK}/version-check",
    advice.VersionBody,
    query=advice.VersionQuery,
    summary="Whether a version of the client library is good enough",
)
LEADERS = Endpoint(
    "GET",
    f"{LEADERBOARD}/all",
    leaderboard.LeaderboardBody,
    query=leaderboard.LeaderboardQuery,
    keyless=True,
    key_helps=True,
    summary="The best agents and traders, by list",
)
SDK_LEADERS = Endpoint(
    "GET",
    f"{LEADERBOARD}/sdk-agents",
    leaderboard.SdkAgentsBody,
    query=leaderboard.SdkAgentsQuery,
    keyless=True,
    key_helps=True,
    summary="The agents of this service by P&L",
)
VENUE_LEADERS = Endpoint(
    "GET",
    f"{LEADERBOARD}/{{venue}}",
    leaderboard.VenueLeadersBody,
    query=leaderboard.VenueLeadersQuery,
    keyless=True,
    key_helps=True,
    summary="The traders of one venue by P&L",
)
FLEET_SUMMARY = Endpoint(
    "GET",
    f"{SDK}/fleet/summary",
    leaderboard.FleetSummaryBody,
    summary="The agents of the account",
)
SKILLS = Endpoint(
    "GET",
    f"{SDK}/skills",
    skills.SkillsBody,
    query=skills.SkillsQuery,
    keyless=True,
    summary="The strategy packages that are installed here",
)
OWN_SKILLS = Endpoint(
    "GET", f"{SDK}/skills/mine", skills.SkillsBody, summary="Those that the person has installed"
)


OPEN_ORDERS = Endpoint(
    "GET", f"{SDK}/orders/open", orders.OrdersBody, summary="Orders that rest on a book"
)
CANCEL_ORDER = Endpoint(
    "DELETE", f"{SDK}/orders/{{order_id}}", orders.CancelBody, summary="Cancel one open order"
)
CANCEL_MARKET_ORDERS = Endpoint(
    "DELETE",
    f"{SDK}/markets/{{market_id}}/orders",
    orders.CancelBody,
    query=orders.CancelQuery,
    summary="Cancel the open orders in a market",
)
CANCEL_ALL_ORDERS = Endpoint(
    "DELETE", f"{SDK}/orders", orders.CancelBody, summary="Cancel every open order"
)
EXECUTABLE_PRICE = Endpoint(
    "GET",
    f"{SDK}/markets/{{market_id}}/executable-price",
    orders.ExecutablePriceBody,
    query=orders.ExecutablePriceQuery,
    summary="The price at which an order would trade now",
)

SET_MONITOR = Endpoint(
    "POST",
    f"{SDK}/positions/{{market_id}}/monitor",
    monitors.MonitorSetBody,
    request=monitors.MonitorRequest,
    summary="Watch a position: stop, target, trailing stop, time stop",
    # A time stop of the past.
    refuses=400,
)
DELETE_MONITOR = Endpoint(
    "DELETE",
    f"{SDK}/positions/{{market_id}}/monitor",
    monitors.MonitorRemovedBody,
    query=monitors.MonitorQuery,
    summary="Stop watching a position",
)
MONITORS = Endpoint(
    "GET", f"{SDK}/positions/monitors", monitors.MonitorsBody, summary="All active monitors"
)
RISK_ALERTS = Endpoint(
    "GET",
    f"{SDK}/risk-alerts",
    monitors.RiskAlertsBody,
    query=monitors.RiskAlertsQuery,
    summary="Breaches that wait for their exit",
)
END_RISK_ALERT = Endpoint(
    "DELETE",
    f"{SDK}/risk-alerts/{{market_id}}/{{side}}",
    monitors.RiskAlertEndedBody,
    query=monitors.RiskAlertQuery,
    summary="Acknowledge an alert: sold, or not wanted",
)
REACTOR = Endpoint(
    "GET",
    f"{SDK}/reactor/config",
    reactor.ReactorConfigBody,
    plan=Plan.PRO,
    summary="Whom the reactor follows, how it sizes mirrors, and how it stands",
)
PATCH_REACTOR = Endpoint(
    "PATCH",
    f"{SDK}/reactor/config",
    reactor.ReactorConfigBody,
    request=reactor.ReactorConfigPatch,
    plan=Plan.PRO,
    summary="Change whom the reactor follows, and how it sizes mirrors",
)
PENDING_SIGNALS = Endpoint(
    "GET",
    f"{SDK}/reactor/pending",
    reactor.PendingBody,
    query=reactor.PendingQuery,
    plan=Plan.PRO,
    summary="Trades of the watchlist that wait to be mirrored",
)
DELETE_SIGNAL = Endpoint(
    "DELETE",
    f"{SDK}/reactor/pending/{{signal_id}}",
    reactor.SignalGoneBody,
    plan=Plan.PRO,
    summary="Take a signal out, by its id or the hash of its transaction",
)
REACTIONS = Endpoint(
    "GET",
    f"{SDK}/reactor/reactions",
    reactor.ReactionsBody,
    query=reactor.ReactionsQuery,
    plan=Plan.PRO,
    summary="What became of signals, newest first",
)
POST_REACTION = Endpoint(
    "POST",
    f"{SDK}/reactor/reactions",
    reactor.ReactedBody,
    request=reactor.ReactionRequest,
    plan=Plan.PRO,
    summary="Say what became of a signal; five failures in a row pause the reactor",
)

ALL: Final = (
    HEALTH,
    REGISTER,
    CONTEXT,
    AGENT,
    PATCH_AGENT,
    SETTINGS,
    POST_SETTINGS,
    USER_SETTINGS,
    PATCH_USER_SETTINGS,
    MARKETS,
    MARKET,
    MARKET_HISTORY,
    PLACE_TRADE,
    TRADES,
    POSITIONS,
    PORTFOLIO,
    BRIEFING,
    IMPORTABLE,
    CHECK_MARKET,
    IMPORT_MARKET,
    IMPORT_TICKER,
    IMPORT_TICKER_EVENT,
    BATCH,
    EXPIRING,
    OUTCOMES,
    PATCH_SETTINGS,
    MARKET_CONTEXT,
    CLAIM,
    TROUBLESHOOT,
    VERSION_CHECK,
    LEADERS,
    SDK_LEADERS,
    VENUE_LEADERS,
    FLEET_SUMMARY,
    SKILLS,
    OWN_SKILLS,
    OPEN_ORDERS,
    CANCEL_ORDER,
    CANCEL_MARKET_ORDERS,
    CANCEL_ALL_ORDERS,
    EXECUTABLE_PRICE,
    SET_MONITOR,
    DELETE_MONITOR,
    MONITORS,
    RISK_ALERTS,
    END_RISK_ALERT,
    REACTOR,
    PATCH_REACTOR,
    PENDING_SIGNALS,
    DELETE_SIGNAL,
    REACTIONS,
    POST_REACTION,
    *ALL_DESK,
    *ALL_WALLET,
    *ALL_RESEARCH,
    *ALL_FLEET,
    *ALL_AGENT_WALLETS,
    *ALL_BROWSE,
    *ALL_TRADING,
    *ALL_PAID,
    *ALL_NOTIFY,
    *ALL_PEOPLE,
)
"""Every endpoint that stands. A later issue adds its own here."""
