"""The same calls through the app in process and over a real line: one contract, two ways."""

import asyncio
import gc
import json
import socket
import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from kit.engine.recorded import DAY, PARTS, two_futures, write
from kit.service.chance import without_chance
from kit.service.stage import ANSWER_S, OPERATOR, Stage, open_stage
from kit.service.where import ON_POSTGRES
from service_tui.app.options import Options
from service_tui.server.embedded import BASE_URL
from service_tui.server.http.loopback import listen
from service_tui.terms import Plan, Venue
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.agent_wallets import (
    AGENT_DW_PREPARE,
    AGENT_DW_SUBMIT,
    AGENT_WALLET_PNL,
    AGENT_WALLETS,
    DW_PREPARE,
    DW_SUBMIT,
    REGISTER_AGENT_WALLET,
    UPDATE_AGENT_CREDS,
    UPGRADE_TO_DW,
    WRAP_PREPARE,
    WRAP_SUBMIT,
)
from service_tui.wire.endpoints.browse import BROWSE, CANDLES, FAST_MARKETS, OPPORTUNITIES
from service_tui.wire.endpoints.desk import (
    DESK_ACCOUNT,
    DESK_AGENTS,
    DESK_CLAIM,
    DESK_CLAIM_CODE,
    DESK_HALT,
    DESK_NEW_KEY,
    DESK_PATCH_ACCOUNT,
    DESK_PATCH_AGENT,
    DESK_RESET_REACTOR,
    DESK_RESUME,
    DESK_WALLETS,
    SET_SPEED,
    STEP,
    TAPE,
    WORLD,
)
from service_tui.wire.endpoints.fleet import (
    DESK_AGENT_ALERTS,
    DESK_AGENT_OUTCOMES,
    DESK_AGENT_POSITIONS,
    DESK_AGENT_RESULTS,
    DESK_AGENT_TRADES,
    DESK_APPROVE,
    DESK_DELETE_AGENT_ALERT,
    DESK_DELETE_MONITOR,
    DESK_FREE_LEASH,
    DESK_HOLDINGS,
    DESK_LEASHES,
    DESK_LIMITS,
    DESK_NEEDS,
    DESK_OUTCOMES,
    DESK_PENDING_TRADES,
    DESK_REFUSE,
    DESK_RETURNS,
    DESK_SET_AGENT_ALERT,
    DESK_SET_LEASH,
    DESK_SET_LIMIT,
    DESK_SET_MONITOR,
    DESK_TRADES,
    PENDING_TRADES,
    PROPOSE_TRADE,
    SKILL_ANALYTICS,
)
from service_tui.wire.endpoints.notify import (
    DELETE_PRICE_ALERT,
    DELETE_WEBHOOK,
    PRICE_ALERTS,
    SET_PRICE_ALERT,
    SET_WEBHOOK,
    TEST_WEBHOOKS,
    TRIGGERED_ALERTS,
    WEBHOOKS,
)
from service_tui.wire.endpoints.paid import FORECAST, PAID_BRIEFING
from service_tui.wire.endpoints.people import (
    ADD_PERSON,
    DESK_AUDIT,
    DESK_ME,
    END_INVITATION,
    END_PERSON,
    INVITATIONS,
    INVITE,
    MY_AGENT,
    PEOPLE,
    RENEW_PERSON,
    SET_ROLE,
)
from service_tui.wire.endpoints.public import (
    AGENT,
    ALL,
    BATCH,
    BRIEFING,
    CANCEL_ALL_ORDERS,
    CANCEL_MARKET_ORDERS,
    CANCEL_ORDER,
    CHECK_MARKET,
    CLAIM,
    CONTEXT,
    DELETE_MONITOR,
    DELETE_SIGNAL,
    END_RISK_ALERT,
    EXECUTABLE_PRICE,
    EXPIRING,
    FLEET_SUMMARY,
    HEALTH,
    IMPORT_MARKET,
    IMPORT_TICKER,
    IMPORT_TICKER_EVENT,
    IMPORTABLE,
    LEADERS,
    MARKET,
    MARKET_CONTEXT,
    MARKET_HISTORY,
    MARKETS,
    MONITORS,
    OPEN_ORDERS,
    OUTCOMES,
    OWN_SKILLS,
    PATCH_AGENT,
    PATCH_REACTOR,
    PATCH_SETTINGS,
    PATCH_USER_SETTINGS,
    PENDING_SIGNALS,
    PLACE_TRADE,
    PORTFOLIO,
    POSITIONS,
    POST_REACTION,
    POST_SETTINGS,
    REACTIONS,
    REACTOR,
    REGISTER,
    RISK_ALERTS,
    SDK_LEADERS,
    SET_MONITOR,
    SETTINGS,
    SKILLS,
    TRADES,
    TROUBLESHOOT,
    USER_SETTINGS,
    VENUE_LEADERS,
    VERSION_CHECK,
)
from service_tui.wire.endpoints.research import (
    BACKTEST,
    BEGIN_SESSION,
    DESK_RESEARCH,
    EXPERIMENTS,
    POST_EXPERIMENT,
    RESEARCH_STATE,
)
from service_tui.wire.endpoints.trading import COPY_WALLETS, SOL_QUOTE, SOL_SUBMIT
from service_tui.wire.endpoints.wallet import (
    ALLOWANCES,
    BROADCAST,
    CHAIN_RPC,
    CHECK_CREDENTIALS,
    DERIVE_CREDENTIALS,
    DESK_CHAIN,
    DESK_PATCH_CHAIN,
    DESK_PATCH_WALLET,
    DESK_REDEEM,
    LINK_CHALLENGE,
    LINK_WALLET,
    POST_CREDENTIALS,
    REDEEM,
    REDEMPTIONS,
    REPORT_REDEMPTION,
    UNLINK_WALLET,
    WALLET,
)

TRANSPORTS: Final = ("in process", "over loopback")
PUBLISHED: Final = "service-sdk/0.26.0 (python/3.11; runtime/unknown)"

Json = dict[str, Any]


@dataclass
class Scene:
    """What a play has met so far: answers by the name of the call."""

    stage: Stage
    market_id: str
    other_id: str
    ending_id: str
    heard: dict[str, "Heard"] = field(default_factory=dict)

    def listed_on(self, venue: Venue) -> str:
        found = [m for m in self.stage.open_markets() if m.listing.home is venue]
        return max(found, key=lambda market: market.listing.resolves_at).market_id

    def shares(self, name: str) -> float:
        return self.heard[name].json["shares_bought"]

    def second(self, name: str) -> str:
        return self.heard["register"].json[name]


@dataclass(frozen=True)
class Heard:
    status: int
    json: Json


Ask = Callable[[Scene], Mapping[str, Any]]


@dataclass(frozen=True)
class Call:
    """One call: `ask` gives what httpx wants, and the ids of the path under `path`."""

    name: str
    endpoint: Endpoint[WireModel]
    ask: Ask = lambda _: {}
    status: int = 200


def trade(**fields: object) -> Ask:
    """A trade in the scene's market, with the fields that the published client always sends."""

    def ask(scene: Scene) -> Mapping[str, Any]:
        body = {
            "market_id": scene.market_id,
            "side": "yes",
            "amount": 0,
            "shares": 0,
            "action": "buy",
            "venue": "sim",
            "order_type": None,
        }
        late = {key: make(scene) if callable(make) else make for key, make in fields.items()}
        return {"json": body | late}

    return ask


def proposal(**fields: object) -> Ask:
    """A buy in the scene's market that is only proposed."""
    return lambda scene: {"json": {"market_id": scene.market_id, "side": "yes"} | fields}


def of_market(scene: Scene) -> Mapping[str, Any]:
    return {"path": {"market_id": scene.market_id}}


def nowhere(_: Scene) -> Mapping[str, Any]:
    return {"path": {"market_id": "no-such-market"}}


def of_second(scene: Scene) -> Mapping[str, Any]:
    return {"path": {"agent_id": scene.second("agent_id")}}


def of_first(scene: Scene) -> Mapping[str, Any]:
    return {"path": {"agent_id": scene.stage.agent_id}}


def of_holding(scene: Scene) -> Mapping[str, Any]:
    return {"path": {"agent_id": scene.stage.agent_id, "market_id": scene.market_id}}


def of_alert(scene: Scene) -> Mapping[str, Any]:
    return {"path": {"agent_id": scene.stage.agent_id, "alert_id": "aa1"}}


def query(**params: object) -> Ask:
    return lambda scene: {
        "params": {key: make(scene) if callable(make) else make for key, make in params.items()}
    }


def body(**fields: object) -> Ask:
    return lambda _: {"json": fields}


def address(endpoint: Endpoint[WireModel]) -> Ask:
    """The first question that could be imported, by the field that the endpoint reads."""
    field = "kalshi_url" if endpoint is IMPORT_TICKER else "polymarket_url"
    return lambda scene: {"json": {field: scene.heard["importable"].json["markets"][0]["url"]}}


DEPOSIT_WALLETS: Final = (
    DW_PREPARE,
    DW_SUBMIT,
    AGENT_DW_PREPARE,
    AGENT_DW_SUBMIT,
    UPGRADE_TO_DW,
    WRAP_PREPARE,
    WRAP_SUBMIT,
)
WALLET_ADDRESS: Final = "0x" + "ab" * 20
SECRETS: Final = {"api_key": "k", "api_secret": "s", "api_passphrase": "p"}
HEADERS: Final = {
    "poly_address": WALLET_ADDRESS,
    "poly_signature": "0x" + "11" * 65,
    "poly_timestamp": "1800000000",
    "poly_nonce": "0",
}
EXPERIMENT: Final[dict[str, object]] = {
    "skill_slug": "rain-maker",
    "experiment_number": 1,
    "status": "keep",
    "metric_value": 1.5,
    "secondary_metrics": {"trades": 4},
    "description": "as it came",
    "commit_hash": "abc1234",
    "session": "first",
    "client_ref": "r1",
}
CRASHED: Final[dict[str, object]] = {
    "experiment_number": 2,
    "status": "crash",
    "metric_value": None,
    "client_ref": "r2",
}

SCRIPT: Final = (
    # By hand alone, or what ends would be sold before its end.
    Call("no automatic", PATCH_USER_SETTINGS, body(auto_risk_monitor_enabled=False)),
    Call("health", HEALTH),
    Call("register", REGISTER, body(name="second", description="another one")),
    Call("context", CONTEXT),
    Call("me", AGENT),
    Call("me with what the client adds", AGENT, query(include="pnl,rewards")),
    Call("rename", PATCH_AGENT, body(name="Renamed", auto_redeem_enabled=False)),
    Call("settings", SETTINGS),
    Call("raise limits", POST_SETTINGS, body(sdk_max_trade_amount=50, sdk_daily_limit=200.5)),
    Call("user settings", USER_SETTINGS),
    Call("patch settings", PATCH_SETTINGS, body(default_stop_loss_pct=0.3)),
    Call(
        "change user settings",
        PATCH_USER_SETTINGS,
        body(default_stop_loss_pct=0.1, default_take_profit_pct=0, max_trades_per_day=100),
    ),
    Call("list as the client does", MARKETS, query(status="active", limit=20)),
    Call("list page", MARKETS, query(limit=5, offset=10, sort="created")),
    Call("list tagged", MARKETS, query(tags="weather", limit=500)),
    Call("list tagged twice", MARKETS, query(tags="weather,days", limit=500)),
    Call("list named", MARKETS, query(ids=lambda s: f"{s.market_id},{s.other_id},nowhere")),
    Call("list found", MARKETS, query(q="WILL the", limit=500)),
    Call("list not found", MARKETS, query(q="zzzzzz")),
    Call("list by chance", MARKETS, query(sort="opportunity", limit=500)),
    Call("list by volume", MARKETS, query(sort="volume", limit=500)),
    Call("list soon", MARKETS, query(max_hours_to_resolution=1, limit=500)),
    Call("list in Python's words", MARKETS, query(tradeable_only="False", venue="sandbox")),
    Call("list of another venue", MARKETS, query(venue="polymarket")),
    Call("list with the import source first", MARKETS, query(venue="kalshi", import_source="sim")),
    Call("list in full", MARKETS, query(include="sparkline,resolution_criteria", limit=3)),
    Call("one market", MARKET, of_market),
    Call("no market", MARKET, nowhere, 404),
    Call("prices", MARKET_HISTORY, of_market),
    Call(
        "prices of an hour",
        MARKET_HISTORY,
        lambda s: of_market(s) | {"params": {"hours": 1, "interval": 5}},
    ),
    Call("no prices", MARKET_HISTORY, nowhere, 404),
    Call("nothing held", POSITIONS),
    Call("quote", PLACE_TRADE, trade(amount=25, dry_run=True)),
    Call("buy", PLACE_TRADE, trade(amount=25, source="sdk:weather", reasoning="it rains\nnow")),
    Call("buy more", PLACE_TRADE, trade(amount=10.5, venue="sandbox", skill_slug="rain-maker")),
    Call(
        "buy the other side",
        PLACE_TRADE,
        trade(side="no", amount=5, signal_data={"edge": 0.1, "signal_source": "radar", "n": 3}),
    ),
    Call("buy elsewhere", PLACE_TRADE, trade(market_id=lambda s: s.other_id, amount=7)),
    Call("buy what ends", PLACE_TRADE, trade(market_id=lambda s: s.ending_id, amount=12)),
    Call("sell some", PLACE_TRADE, trade(action="sell", shares=5)),
    Call("quote a sale", PLACE_TRADE, trade(action="sell", shares=5, dry_run=True)),
    Call(
        "sell the other side whole",
        PLACE_TRADE,
        trade(action="sell", side="no", shares=lambda s: s.shares("buy the other side")),
    ),
    Call("too many shares", PLACE_TRADE, trade(action="sell", shares=999_999)),
    Call("too much money", PLACE_TRADE, trade(amount=500.01)),
    Call(
        "a venue where it is not traded",
        PLACE_TRADE,
        trade(market_id=lambda s: s.listed_on(Venue.EVM), amount=5, venue="kalshi", dry_run=True),
    ),
    Call(
        "unclaimed",
        PLACE_TRADE,
        trade(market_id=lambda s: s.listed_on(Venue.EVM), amount=5, venue="polymarket"),
        403,
    ),
    Call(
        "a quote on a venue",
        PLACE_TRADE,
        trade(market_id=lambda s: s.listed_on(Venue.SOL), amount=5, venue="kalshi", dry_run=True),
    ),
    Call(
        "price to trade at",
        EXECUTABLE_PRICE,
        lambda s: {
            "path": {"market_id": s.listed_on(Venue.EVM)},
            "params": {"side": "yes", "action": "buy", "apply_buffer": "False"},
        },
    ),
    Call(
        "watch",
        SET_MONITOR,
        lambda s: of_market(s) | {"json": {"side": "yes", "stop_loss_pct": 1}},
    ),
    Call(
        "watch what is not held",
        SET_MONITOR,
        lambda s: (
            of_market(s) | {"json": {"side": "no", "take_profit_pct": 2, "venue": "polymarket"}}
        ),
        404,
    ),
    Call("monitors", MONITORS),
    Call(
        "watch for an agent",
        DESK_SET_MONITOR,
        lambda s: of_holding(s) | {"json": {"side": "yes", "stop_loss_pct": 0.5}},
    ),
    Call(
        "watch for an agent no more",
        DESK_DELETE_MONITOR,
        lambda s: of_holding(s) | {"params": {"side": "yes"}},
    ),
    Call(
        "watch again",
        SET_MONITOR,
        lambda s: of_market(s) | {"json": {"side": "yes", "stop_loss_pct": 1}},
    ),
    Call("watch no more", DELETE_MONITOR, lambda s: of_market(s) | {"params": {"side": "yes"}}),
    Call(
        "watch no more again",
        DELETE_MONITOR,
        lambda s: of_market(s) | {"params": {"side": "yes"}},
        404,
    ),
    Call("alerts", RISK_ALERTS, query(include_history="True")),
    Call(
        "no alert",
        END_RISK_ALERT,
        lambda s: {"path": {"market_id": s.market_id, "side": "no"}},
        404,
    ),
    Call("open orders", OPEN_ORDERS),
    Call("cancel nothing", CANCEL_ALL_ORDERS),
    Call("cancel nothing here", CANCEL_MARKET_ORDERS, of_market),
    Call("cancel nobody's", CANCEL_ORDER, lambda _: {"path": {"order_id": "o1"}}, 404),
    Call("beyond the limit", PLACE_TRADE, trade(amount=400, price=0.0002)),
    Call("a quote beyond all", PLACE_TRADE, trade(amount=1_000_000_000, dry_run=True)),
    Call(
        "a sale beyond all",
        PLACE_TRADE,
        trade(action="sell", shares=1_000_000_000, dry_run=True),
    ),
    Call("no market to trade in", PLACE_TRADE, trade(market_id="nowhere", amount=5), 404),
    Call(
        "no market to sell in",
        PLACE_TRADE,
        trade(market_id="nowhere", action="sell", shares=5),
        404,
    ),
    Call("positions", POSITIONS),
    Call("positions of a source", POSITIONS, query(source="weather")),
    Call("positions of another venue", POSITIONS, query(venue="evm_venue")),
    Call("positions of sim", POSITIONS, query(venue="sim", status="active")),
    Call("trades", TRADES, query(venue="all", limit=50, offset=0)),
    Call("trades page", TRADES, query(limit=2, offset=1, include_failed="true")),
    Call("trades of a market", TRADES, query(market_id=lambda s: s.other_id)),
    Call("trades of another venue", TRADES, query(venue="kalshi")),
    Call("trades of later", TRADES, query(since="2090-01-01T00:00:00Z")),
    Call("trades of before", TRADES, query(until="2090-01-01T00:00:00+02:00")),
    Call("portfolio", PORTFOLIO, query(venue="all")),
    Call("briefing", BRIEFING),
    Call("briefing since", BRIEFING, query(since="2020-01-01T00:00:00Z", skill_versions="{}")),
    Call("importable", IMPORTABLE, query(limit=3, venue="kalshi")),
    Call("check", CHECK_MARKET, query(ticker="WEATHER-1-1")),
    Call("import unclaimed", IMPORT_MARKET, address(IMPORT_MARKET), 403),
    Call("import by ticker unclaimed", IMPORT_TICKER, address(IMPORT_TICKER), 403),
    Call(
        "batch",
        BATCH,
        lambda s: {"json": {"trades": [{"market_id": s.other_id, "side": "no", "amount": 3}]}},
    ),
    Call("expiring", EXPIRING, query(hours=168)),
    Call("outcomes", OUTCOMES, query(skill="rain-maker", since="2020-01-01T00:00:00Z")),
    Call(
        "market context",
        MARKET_CONTEXT,
        lambda s: of_market(s) | {"params": {"venue": "all", "my_probability": "0.7"}},
    ),
    Call("no market context", MARKET_CONTEXT, nowhere, 404),
    Call("world", WORLD),
    Call("tape", TAPE, of_market),
    Call(
        "tape of a while", TAPE, lambda s: of_market(s) | {"params": {"span_s": 600, "points": 9}}
    ),
    Call("no tape", TAPE, nowhere, 404),
    Call("faster", SET_SPEED, body(speed=60)),
    Call("step of an invented world", STEP, body(seconds=60), 409),
    Call("advice", TROUBLESHOOT, body(error_text="401 Unauthorized")),
    Call("version", VERSION_CHECK, query(sdk_version="0.26.0")),
    Call("leaders", LEADERS),
    Call("agents by gain", SDK_LEADERS, query(limit=1)),
    Call("skills", SKILLS),
    Call("skills of a kind", SKILLS, query(category="weather")),
    Call("own skills", OWN_SKILLS),
    Call("claim link", CLAIM, lambda s: {"path": {"claim_code": s.second("claim_code")}}),
    Call("no claim link", CLAIM, lambda _: {"path": {"claim_code": "reef-0"}}, 404),
    Call("all agents", DESK_AGENTS),
    Call("code", DESK_CLAIM_CODE, of_second),
    Call("claim", DESK_CLAIM, of_second),
    Call("claim again", DESK_CLAIM, of_second),
    Call("no code", DESK_CLAIM_CODE, of_second, 409),
    Call("no agent", DESK_CLAIM, lambda _: {"path": {"agent_id": "nobody"}}, 404),
    Call("pause", DESK_PATCH_AGENT, lambda s: of_second(s) | {"json": {"trading_paused": True}}),
    Call("new key", DESK_NEW_KEY, of_second),
    Call("reactor", REACTOR),
    Call("follow", PATCH_REACTOR, body(wallets=[f"0x{'ab' * 20}"], enabled=True, daily_cap=20)),
    Call("signals", PENDING_SIGNALS),
    Call("signals as the client asks", PENDING_SIGNALS, query(caps="maker")),
    Call("no signal", DELETE_SIGNAL, lambda _: {"path": {"signal_id": "0x12:maker:0:b:9"}}, 404),
    Call("react", POST_REACTION, body(event_tx_hash="0x12", decision="failed", reason="late")),
    Call("reactions", REACTIONS, query(limit=10)),
    Call("wallets", DESK_WALLETS),
    Call(
        "reset",
        DESK_RESET_REACTOR,
        lambda s: {"path": {"agent_id": s.stage.agent_id}},
    ),
    Call("no session", RESEARCH_STATE, query(skill_slug="__probe__")),
    Call("experiment", POST_EXPERIMENT, body(**EXPERIMENT)),
    Call("experiment again", POST_EXPERIMENT, body(**EXPERIMENT)),
    Call("crash", POST_EXPERIMENT, body(**(EXPERIMENT | CRASHED))),
    Call("experiments", EXPERIMENTS, query(skill_slug="rain-maker", limit=10)),
    Call("session", RESEARCH_STATE, query(skill_slug="rain-maker")),
    Call("session of the last skill", RESEARCH_STATE),
    Call("backtest", BACKTEST, body(skill_slug="rain-maker", config={"min_edge": 0.05})),
    Call(
        "sweep",
        BACKTEST,
        body(skill_slug="rain-maker", config={}, days=30, sweep={"min_edge": [0, 0.1]}),
    ),
    Call(
        "begin a session",
        BEGIN_SESSION,
        body(skill_slug="rain-maker", session="new", segment=1),
    ),
    Call("sessions of all", DESK_RESEARCH),
    Call(
        "leash",
        DESK_SET_LEASH,
        lambda s: of_first(s) | {"json": {"mode": "ask", "threshold": 1, "daily_budget": 900}},
    ),
    Call("leashes", DESK_LEASHES),
    Call(
        "alert on an agent",
        DESK_SET_AGENT_ALERT,
        lambda s: of_first(s) | {"json": {"kind": "spend", "limit": 500, "minutes": 10}},
    ),
    Call(
        "another alert on it",
        DESK_SET_AGENT_ALERT,
        lambda s: of_first(s) | {"json": {"kind": "silent", "limit": 30, "action": "pause"}},
    ),
    Call("alerts on agents", DESK_AGENT_ALERTS),
    Call("returns of all agents", DESK_RETURNS),
    Call("alert on it removed", DESK_DELETE_AGENT_ALERT, of_alert),
    Call("who am I", DESK_ME),
    Call("the agent of my console", MY_AGENT),
    Call("a person", ADD_PERSON, body(name="ada", role="trader")),
    Call("the same person", ADD_PERSON, body(name="ada", role="trader"), 409),
    Call("another role", SET_ROLE, body(name="ada", role="supervisor")),
    Call("another key", RENEW_PERSON, body(name="ada")),
    Call("the end of a person", END_PERSON, body(name="ada")),
    Call("people", PEOPLE),
    Call("an invitation", INVITE, body(uses=2, plan="pro", daily_budget=5)),
    Call("invitations", INVITATIONS),
    Call("no invitation", END_INVITATION, lambda _: {"path": {"invitation_id": "invite-1"}}, 404),
    Call("who changed what", DESK_AUDIT, query(limit=100)),
    Call("what needs the operator", DESK_NEEDS),
    Call("what all agents hold", DESK_HOLDINGS),
    Call("a limit", DESK_SET_LIMIT, body(group="category", key="weather", venue="sim", cost_max=9)),
    Call("limits", DESK_LIMITS),
    Call("a trade that waits", PLACE_TRADE, trade(amount=2, reasoning="perhaps")),
    Call("another that waits", PLACE_TRADE, trade(amount=3, signal_data={"edge": 0.1})),
    Call("a proposal", PROPOSE_TRADE, proposal(amount=2.5)),
    Call("own held", PENDING_TRADES),
    Call("all held", DESK_PENDING_TRADES, query(status="all")),
    Call(
        "refuse",
        DESK_REFUSE,
        lambda _: {"path": {"held_id": "h1"}, "json": {"reason": "too thin"}},
    ),
    Call(
        "approve at another size",
        DESK_APPROVE,
        lambda _: {"path": {"held_id": "h2"}, "json": {"amount": 2.5}},
    ),
    Call(
        "approve again", DESK_APPROVE, lambda _: {"path": {"held_id": "h2"}, "json": {}}, status=404
    ),
    Call("own held at last", PENDING_TRADES, query(status="all")),
    Call("free", DESK_FREE_LEASH, of_first),
    Call("an agent's trades", DESK_AGENT_TRADES, of_first),
    Call("an agent's positions", DESK_AGENT_POSITIONS, of_first),
    Call("an agent's outcomes", DESK_AGENT_OUTCOMES, of_first),
    Call("an agent's results", DESK_AGENT_RESULTS, of_first),
    Call("trades of all agents", DESK_TRADES, query(limit=50)),
    Call("outcomes of all agents", DESK_OUTCOMES, query(since="2026-11-01T00:00:00Z")),
    Call("account", DESK_ACCOUNT),
    Call("another plan", DESK_PATCH_ACCOUNT, body(plan="elite")),
    Call("opportunities", OPPORTUNITIES, query(min_divergence=0, limit=50)),
    Call("fast markets", FAST_MARKETS, query(window="1h")),
    Call("fast markets to come", FAST_MARKETS, query(market_status="upcoming", sort="volume")),
    Call("browse", BROWSE, query(status="trending", limit=5)),
    Call("candles", CANDLES, query(symbol=lambda s: s.market_id, interval="1h")),
    Call("no candles", CANDLES, query(symbol="nowhere"), 404),
    Call("leaders of a venue", VENUE_LEADERS, lambda _: {"path": {"venue": "polymarket"}}),
    Call("no venue", VENUE_LEADERS, lambda _: {"path": {"venue": "moon"}}, 404),
    Call("fleet", FLEET_SUMMARY),
    Call("no event", IMPORT_TICKER_EVENT, body(event_ticker="WEATHER-1-1"), 404),
    Call(
        "quote of an unknown wallet",
        SOL_QUOTE,
        lambda s: {
            "json": {
                "market_id": s.market_id,
                "side": "yes",
                "wallet_address": "1" * 32,
                "amount": 5,
            }
        },
        403,
    ),
    Call(
        "no quote to submit",
        SOL_SUBMIT,
        lambda s: {
            "json": {
                "signed_transaction": "AA==",
                "quote_id": "q",
                "market_id": s.market_id,
                "side": "yes",
            }
        },
        404,
    ),
    Call("copy", COPY_WALLETS, body(wallets=[f"0x{'ab' * 20}"], dry_run=True)),
    Call(
        "price alert",
        SET_PRICE_ALERT,
        lambda s: {
            "json": {
                "market_id": s.market_id,
                "side": "yes",
                "condition": "crosses_above",
                "threshold": 0.99,
                "webhook_url": "https://hook.example/alert",
            }
        },
    ),
    Call("price alerts", PRICE_ALERTS),
    Call("triggered alerts", TRIGGERED_ALERTS, query(hours=2)),
    Call("no more alert", DELETE_PRICE_ALERT, lambda _: {"path": {"alert_id": "pa1"}}),
    Call("no price alert", DELETE_PRICE_ALERT, lambda _: {"path": {"alert_id": "pa1"}}, 404),
    Call(
        "webhook",
        SET_WEBHOOK,
        body(url="https://hook.example/", events=["trade.executed"], secret="a secret"),  # noqa: S106
    ),
    Call("webhooks", WEBHOOKS),
    Call("no more webhook", DELETE_WEBHOOK, lambda _: {"path": {"webhook_id": "wh1"}}),
    Call("test no webhook", TEST_WEBHOOKS, body()),
    Call("wallets below elite", AGENT_WALLETS, status=403),
    Call("skills below elite", SKILL_ANALYTICS, status=403),
    Call("pnl below elite", AGENT_WALLET_PNL, of_first, 403),
    Call("register below elite", REGISTER_AGENT_WALLET, body(), 403),
    Call("update below elite", UPDATE_AGENT_CREDS, body(), 403),
    *(
        Call(f"no deposit wallet {number}", one, lambda s: of_first(s) | {"json": {}}, 409)
        for number, one in enumerate(DEPOSIT_WALLETS)
    ),
    Call("forecast unpaid", FORECAST, lambda s: {"json": {"market_id": s.market_id}}, 402),
    Call("briefing unpaid", PAID_BRIEFING, body(), 402),
    Call("wallet", WALLET),
    Call("challenge", LINK_CHALLENGE, query(address=WALLET_ADDRESS)),
    Call("credentials there", CHECK_CREDENTIALS),
    Call("no wallet for credentials", POST_CREDENTIALS, body(**SECRETS), 400),
    Call("no wallet to derive for", DERIVE_CREDENTIALS, body(**HEADERS), 403),
    Call(
        "link unproved",
        LINK_WALLET,
        lambda s: {
            "json": {
                "address": WALLET_ADDRESS,
                "signature": "0x" + "11" * 65,
                "nonce": s.heard["challenge"].json["nonce"],
            }
        },
    ),
    Call("unlink", UNLINK_WALLET),
    Call(
        "approvals",
        ALLOWANCES,
        lambda _: {"path": {"address": WALLET_ADDRESS}, "params": {"include_tx_params": "1"}},
    ),
    Call("ask the chain", CHAIN_RPC, body(jsonrpc="2.0", method="eth_chainId", params=[], id=1)),
    Call("ask too much", CHAIN_RPC, body(jsonrpc="2.0", method="eth_sign", params=[], id="a")),
    Call("relay nothing", BROADCAST, body(signed_tx="0x02c0ffee00")),
    Call("redeem nothing", REDEEM, body(market_id="nowhere", side="yes")),
    Call(
        "report nothing",
        REPORT_REDEMPTION,
        body(market_id="nowhere", side="yes", tx_hash="0x" + "12" * 32),
    ),
    Call("redemptions", REDEMPTIONS, query(limit=10)),
    Call("chain", DESK_CHAIN),
    Call("slow chain", DESK_PATCH_CHAIN, body(delay_blocks=3, faults=["ok", "revert"])),
    Call(
        "fill no wallet",
        DESK_PATCH_WALLET,
        lambda s: of_second(s) | {"json": {"gas": 1}},
        409,
    ),
    Call(
        "redeem nothing by hand",
        DESK_REDEEM,
        lambda s: of_second(s) | {"json": {"market_id": "nowhere", "side": "no"}},
    ),
    Call("halt", DESK_HALT),
    Call("halt again", DESK_HALT),
    Call("world while halted", WORLD),
    Call("resume", DESK_RESUME),
)
AFTER: Final = (
    Call("me at last", AGENT),
    Call("positions at last", POSITIONS, query(status="all")),
    Call("positions resolved", POSITIONS, query(status="resolved")),
    Call("trades at last", TRADES, query(limit=200)),
    Call("world at last", WORLD),
    Call("list resolved", MARKETS, query(status="resolved", limit=500)),
    Call("list of every status", MARKETS, query(status="all", limit=500)),
)
"""Asked once the tape has moved on, so that something is resolved."""

CALLS: Final = {call.name: call for call in SCRIPT + AFTER}


@asynccontextmanager
async def line_to(stage: Stage, transport: str) -> AsyncGenerator[httpx.AsyncClient]:
    # As the published client does: the type also without a body.
    headers = {"User-Agent": PUBLISHED, "Content-Type": "application/json"}
    if transport == "in process":
        asgi = stage.sim.transport
        async with httpx.AsyncClient(transport=asgi, base_url=BASE_URL, headers=headers) as client:
            yield client
        return
    async with (
        listen(stage.sim.app) as url,
        httpx.AsyncClient(
            base_url=url, headers=headers, trust_env=False, timeout=ANSWER_S
        ) as client,
    ):
        yield client


async def said(scene: Scene, client: httpx.AsyncClient, call: Call) -> None:
    asked = dict(call.ask(scene))
    endpoint = call.endpoint
    path = endpoint.path.format(**asked.pop("path", {}))
    key = OPERATOR if endpoint.operator else scene.stage.key
    headers = {} if endpoint.keyless else {"Authorization": f"Bearer {key}"}
    response = await client.request(endpoint.method, path, headers=headers, **asked)
    assert response.headers["content-type"] == "application/json"
    scene.heard[call.name] = Heard(response.status_code, response.json())


async def said_all(scene: Scene, client: httpx.AsyncClient, *, skips: bool) -> None:
    # What the invented world offers to import is in no recording.
    missing = suppress(LookupError) if skips else nullcontext()
    for call in SCRIPT:
        with missing:
            await said(scene, client, call)


async def played(transport: str, recorded: Options | None = None) -> dict[str, Heard]:
    with tempfile.TemporaryDirectory() as directory:
        async with (
            open_stage(Path(directory), plan=Plan.PRO, recorded=recorded) as stage,
            line_to(stage, transport) as client,
        ):
            # One tape second before, so that what is listed has prices of its own.
            await stage.clock.advance(1.0)
            by_end = sorted(
                stage.open_markets(), key=lambda one: (one.listing.resolved_at, one.market_id)
            )
            ending, market, other = by_end[0], by_end[-1], by_end[-2]
            scene = Scene(stage, market.market_id, other.market_id, ending.market_id)
            await said_all(scene, client, skips=recorded is not None)
            if recorded is not None:
                return scene.heard
            # In small steps, each waited for: what a slow disk makes of a long one is an absence.
            while stage.world.world_at <= ending.listing.resolved_at:
                await stage.clock.advance(2.0)
                await stage.sim.service.world_store.advance(stage.clock.now())
            for call in AFTER:
                await said(scene, client, call)
            assert stage.world.ledger.total() == 0
            return scene.heard


@cache
def heard_over(transport: str) -> dict[str, Heard]:
    return asyncio.run(played(transport))


@pytest.fixture
def heard() -> dict[str, Heard]:
    """What was answered in process: over loopback it is the same, as one test shows."""
    return heard_over("in process")


def test_every_endpoint_is_called() -> None:
    # A stream is no single answer: it has tests of its own.
    assert {call.endpoint for call in CALLS.values()} == {one for one in ALL if not one.streams}


@pytest.mark.parametrize("name", CALLS)
def test_an_answer_is_an_object_of_its_endpoints_shape(heard: dict[str, Heard], name: str) -> None:
    answer, call = heard[name], CALLS[name]
    assert answer.status == call.status
    assert isinstance(answer.json, dict)
    if call.status == 200:
        call.endpoint.answers.model_validate_json(json.dumps(answer.json))
    else:
        assert answer.json["error"]
        assert answer.json["fix"]


@pytest.mark.parametrize("name", CALLS)
def test_both_ways_bring_the_same(name: str) -> None:
    first, second = (heard_over(transport)[name] for transport in TRANSPORTS)
    assert first.status == second.status
    assert without_chance(first.json) == without_chance(second.json)


@pytest.mark.slow
@pytest.mark.process
def test_either_database_brings_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    first = heard_over("in process")
    monkeypatch.setenv(ON_POSTGRES, "yes")
    second = asyncio.run(played("in process"))
    different = [
        name
        for name in CALLS
        if first[name].status != second[name].status
        or without_chance(first[name].json) != without_chance(second[name].json)
    ]
    assert different == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
async def test_no_answer_differs_before_the_futures_of_two_recordings_part(
    tmp_path: Path, seed: int
) -> None:
    one, two = [await played("in process", future) for future in two_futures(tmp_path, seed)]
    assert one.keys() == two.keys()
    assert len(one) > len(SCRIPT) - 10
    different = [
        name
        for name in one
        if one[name].status != two[name].status
        or without_chance(one[name].json) != without_chance(two[name].json)
    ]
    assert different == []
    assert sum(heard.status == 200 for heard in one.values()) > len(one) // 2


@pytest.mark.slow
@pytest.mark.process
async def test_a_history_brings_the_same_in_either_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = datetime.fromtimestamp(PARTS - DAY, UTC).isoformat()
    recorded = replace(write(tmp_path, 5, 6, 24), history_from=begin)
    one = await played("in process", recorded)
    monkeypatch.setenv(ON_POSTGRES, "yes")
    two = await played("in process", recorded)
    assert {name: heard.status for name, heard in one.items()} == {
        name: heard.status for name, heard in two.items()
    }
    different = [
        name for name in one if without_chance(one[name].json) != without_chance(two[name].json)
    ]
    assert different == []


def test_registering_gives_ten_thousand_and_shows_the_key_once(heard: dict[str, Heard]) -> None:
    answer = heard["register"].json
    assert answer["starting_balance"] == 10_000.0
    assert answer["status"] == "unclaimed"
    assert answer["api_key"].startswith(answer["key_prefix"])
    assert answer["api_key"].startswith("sk_live_")
    assert answer["claim_url"].endswith(answer["claim_code"])
    assert answer["limits"] == {
        "sim": True,
        "real_trading": False,
        "max_trade_usd": 100.0,
        "daily_limit_usd": 500.0,
    }
    everything = json.dumps({name: one.json for name, one in heard.items() if name != "register"})
    assert answer["api_key"] not in everything


def test_settings_answer_what_they_are_after_the_change(heard: dict[str, Heard]) -> None:
    assert heard["rename"].json == {
        "success": True,
        "auto_redeem_enabled": False,
        "name": "Renamed",
        "warnings": [],
    }
    assert heard["settings"].json["trading_paused"] is False
    assert heard["settings"].json["sdk_max_trade_amount"] == 100
    assert heard["raise limits"].json["sdk_max_trade_amount"] == 50
    assert heard["raise limits"].json["sdk_daily_limit"] == 200.5
    assert heard["user settings"].json["default_stop_loss_pct"] == 0.2
    assert heard["user settings"].json["max_trades_per_day"] == 500
    changed = heard["change user settings"].json
    assert changed["default_stop_loss_pct"] == 0.1
    assert changed["default_take_profit_pct"] is None
    assert changed["max_trades_per_day"] == 100


def test_markets_keep_the_names_that_clients_read(heard: dict[str, Heard]) -> None:
    for market in heard["list of every status"].json["markets"]:
        assert market["current_probability"] == market["current_price"]
        assert 0 <= market["current_probability"] <= 1
        assert market["status"] in {"active", "closed", "resolved"}
        final = market["status"] == "resolved"
        assert (market["outcome"] is not None) is final
        assert (market["resolved_at"] is not None) is final
        assert market["sim_tradeable"] is (market["status"] == "active")
    assert heard["list resolved"].json["total_count"] > 0


def test_a_buy_answers_in_the_specs_and_in_the_clients_names(heard: dict[str, Heard]) -> None:
    answer = heard["buy"].json
    assert answer["success"] is True
    assert answer["trade_id"]
    assert answer["shares_bought"] == answer["shares"] == answer["shares_requested"] > 25
    assert answer["shares_sold"] == 0
    assert answer["cost"] == 25
    assert answer["fee_rate_bps"] == 0
    assert (answer["status"], answer["fill_status"]) == ("filled", "filled")
    assert answer["order_status"] == "matched"
    assert answer["price_before"] < answer["avg_price"] < answer["new_price"]
    assert answer["balance"] == answer["position"]["sim_balance"] == 9_975
    assert answer["dry_run"] is False


def test_a_sale_costs_a_positive_amount(heard: dict[str, Heard]) -> None:
    answer = heard["sell some"].json
    assert (answer["shares_sold"], answer["shares_bought"]) == (5, 0)
    assert answer["cost"] > 0
    assert answer["new_price"] < answer["price_before"]
    assert answer["balance"] == pytest.approx(
        heard["buy what ends"].json["balance"] + answer["cost"]
    )


def test_a_dry_run_says_what_the_order_then_gets_and_changes_nothing(
    heard: dict[str, Heard],
) -> None:
    quote, fill = heard["quote"].json, heard["buy"].json
    assert quote["dry_run"] is True
    assert quote["trade_id"] is None
    for name in ("shares_bought", "cost", "new_price", "price_before", "avg_price", "balance"):
        assert quote[name] == fill[name]
    assert heard["quote a sale"].json["shares_sold"] == 5


REFUSED: Final = {
    "too many shares": "INSUFFICIENT_SHARES",
    "too much money": "TRADE_TOO_LARGE",
    "a venue where it is not traded": "VENUE_NOT_SERVED",
    "beyond the limit": "PRICE_BEYOND_LIMIT",
    "a quote beyond all": "PRICE_OUT_OF_RANGE",
    "a sale beyond all": "PRICE_OUT_OF_RANGE",
}
ARITHMETIC: Final = (
    "shares_bought",
    "shares_sold",
    "shares_requested",
    "shares",
    "cost",
    "new_price",
    "fee_rate_bps",
)
"""Numbers with which the published client reckons: null would break it."""


@pytest.mark.parametrize("name", REFUSED)
def test_the_venues_no_is_an_answer_with_what_to_do(heard: dict[str, Heard], name: str) -> None:
    answer = heard[name].json
    assert answer["success"] is False
    assert answer["error_code"] == REFUSED[name]
    assert answer["error"]
    assert answer["fix"] == answer["error_hint"] != ""
    assert answer["retryable"] is (name == "beyond the limit")
    assert [answer[key] for key in ARITHMETIC] == [0] * len(ARITHMETIC)
    assert answer["trade_id"] is None


@pytest.mark.parametrize(
    "name", [one for one, call in CALLS.items() if call.endpoint is PLACE_TRADE]
)
def test_numbers_that_clients_reckon_with_are_never_null(
    heard: dict[str, Heard], name: str
) -> None:
    if CALLS[name].status == 200:
        assert all(isinstance(heard[name].json[key], int | float) for key in ARITHMETIC)


@pytest.mark.parametrize("name", ["no market", "no prices", "no market to trade in", "no tape"])
def test_an_unknown_market_is_a_404_in_the_words_that_clients_look_for(
    heard: dict[str, Heard], name: str
) -> None:
    assert "market not found" in heard[name].json["error"]


def test_positions_are_rows_of_numbers(heard: dict[str, Heard]) -> None:
    answer = heard["positions"].json
    rows = answer["positions"]
    assert len(rows) == 3
    for row in rows:
        assert row["market_id"]
        assert row["venue"] == "sim"
        assert row["currency"] == "$SIM"
        numbers = (
            "shares_yes", "shares_no", "current_price", "current_value", "cost_basis", "pnl",
            "realized_pnl",
        )  # fmt: skip
        assert all(isinstance(row[key], int | float) for key in numbers)
    assert [row["sources"] for row in rows].count(["sdk:weather"]) == 1
    assert answer["total_value"] == pytest.approx(sum(row["current_value"] for row in rows))
    assert answer["total_pnl"] == answer["sim_pnl"] == answer["pnl_summary"]["sim"]["total"]
    assert len(heard["positions of a source"].json["positions"]) == 1
    assert heard["positions of another venue"].json["positions"] == []
    assert heard["positions of sim"].json["positions"] == rows
    assert heard["nothing held"].json["positions"] == []


def test_the_status_of_positions_tells_open_from_resolved(heard: dict[str, Heard]) -> None:
    resolved = heard["positions resolved"].json["positions"]
    assert [row["status"] for row in resolved] in (["won"], ["lost"])
    assert resolved[0]["outcome"] is not None
    assert resolved[0]["resolved_at"]
    every = heard["positions at last"].json["positions"]
    assert {row["status"] for row in every} == {"active", "sold", resolved[0]["status"]}
    assert len(every) == 4


def test_trades_are_newest_first_with_their_count(heard: dict[str, Heard]) -> None:
    answer = heard["trades"].json
    rows = answer["trades"]
    assert answer["total_count"] == len(rows) == 7
    assert [row["trade_id"] for row in rows] == [f"t{n}" for n in range(7, 0, -1)]
    assert all(row["id"] == row["trade_id"] for row in rows)
    page = heard["trades page"].json
    assert page["total_count"] == 7
    assert [row["id"] for row in page["trades"]] == ["t6", "t5"]
    assert [row["id"] for row in heard["trades of a market"].json["trades"]] == ["t4"]
    assert heard["trades of another venue"].json == {"trades": [], "total_count": 0}
    assert heard["trades of later"].json["total_count"] == 0
    assert heard["trades of before"].json["total_count"] == 7


def test_a_row_of_the_history_holds_what_was_said(heard: dict[str, Heard]) -> None:
    rows = {row["id"]: row for row in heard["trades"].json["trades"]}
    assert rows["t1"]["reasoning"] == "it rains\nnow"
    assert rows["t1"]["source"] == "sdk:weather"
    assert rows["t2"]["skill_slug"] == "rain-maker"
    assert rows["t3"]["signal_data"] == {"edge": 0.1, "signal_source": "radar", "n": 3}
    assert rows["t1"]["cost"] == 25
    assert rows["t1"]["market_question"]
    assert rows["t1"]["pnl"] is None
    assert rows["t6"]["action"] == "sell"
    assert rows["t6"]["pnl"] is not None


def test_a_resolution_is_a_row_of_the_history(heard: dict[str, Heard]) -> None:
    first = heard["trades at last"].json["trades"][0]
    assert first["action"] == "redeem"
    assert first["outcome"] is not None
    assert first["cost"] in {0, first["shares"]}
    assert first["pnl"] == pytest.approx(first["cost"] - 12)
    me = heard["me at last"].json
    assert me["win_count"] + me["loss_count"] == 3


def test_the_portfolio_adds_up(heard: dict[str, Heard]) -> None:
    answer = heard["portfolio"].json
    positions = heard["positions"].json
    assert answer["sim"]["balance"] == answer["sim_balance"]
    assert answer["sim"]["total_exposure"] == pytest.approx(positions["total_value"])
    assert answer["sim"]["positions_count"] == answer["total"]["positions_count"] == 3
    # Equity is first cash plus P&L.
    equity = answer["sim_balance"] + positions["total_value"]
    assert equity == pytest.approx(10_000 + positions["total_pnl"])
    assert answer["positions_count"] == 0
    assert set(answer["by_source"]) == {"sdk:weather"}


def test_the_briefing_has_both_shapes(heard: dict[str, Heard]) -> None:
    answer = heard["briefing"].json
    assert answer["venues"]["sim"]["balance"] == answer["venues"]["sim"]["cash_balance"]
    assert answer["venues"]["sim"]["positions_count"] == 3
    assert answer["polymarket"] == {"redeemable_count": 0, "actions": []}
    assert answer["actions"] == []
    assert answer["performance"]["rank"] in {1, 2}
    assert answer["performance"]["total_agents"] == 2
    assert len(heard["briefing since"].json["opportunities"]["new_markets"]) == 10


def test_the_world_moves_as_the_operator_says(heard: dict[str, Heard]) -> None:
    assert heard["world"].json["speed"] == 1
    assert heard["faster"].json["speed"] == 60
    assert heard["world at last"].json["open_count"] >= 60
    assert heard["world at last"].json["news"]


@pytest.mark.slow
async def test_the_key_also_passes_in_the_other_header(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage, line_to(stage, "over loopback") as client:
        answer = await client.get(AGENT.path, headers={"X-API-Key": stage.key})
        assert answer.status_code == 200
        assert answer.json()["agent_id"] == stage.agent_id


@pytest.mark.slow
async def test_a_line_sends_its_answers_at_once_and_ends_with_its_context(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        async with listen(stage.sim.app) as url:
            port = int(url.rpartition(":")[2])
            lines = [one for one in gc.get_objects() if type(one) is socket.socket]
            (listener,) = [one for one in lines if one.fileno() >= 0 and is_at(one, port)]
            # Otherwise the second half of each answer waits 40 ms for the first to be noticed.
            assert listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            with pytest.raises(OSError, match="in use"):
                await served(stage, port)
        with pytest.raises(OSError, match="Connect call failed"):
            await asyncio.open_connection("127.0.0.1", port)


async def served(stage: Stage, port: int) -> None:
    async with listen(stage.sim.app, port):
        pass


def is_at(line: socket.socket, port: int) -> bool:
    return line.family == socket.AF_INET and line.getsockname()[1] == port
