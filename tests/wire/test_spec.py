"""The interface spec, one row a case, for what this program has so far.

Each table names the section of the spec whose rows it repeats, in the spec's own words.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from service_tui.engine.books.liquidity import PRICE_HIGH, PRICE_LOW
from service_tui.engine.books.orders import ORDER_MIN, default_type
from service_tui.engine.limits import (
    DAY_SPEND_DEFAULT,
    MARKET_MAX,
    MAX_TRADE_DEFAULT,
    PLANS,
    TRADE_MAX,
)
from service_tui.engine.reactor.reactor import ReactorConfig
from service_tui.experiments import CAP_DEFAULT, CRASHES_MAX, warns_at
from service_tui.server.http.refusals import denied, invalid_items, unauthenticated
from service_tui.server.results.reported import REFRESH_S as PNL_REFRESH_S
from service_tui.server.routes.table import ROUTES, STREAMS
from service_tui.terms import (
    BREAKER_S,
    FAILURES_MAX,
    NEW_AGENT_CASH_SIM,
    SIGNAL_TTL_S,
    VENUE_ALIASES,
    Action,
    MarketStatus,
    OrderType,
    Plan,
    Side,
    TradeStatus,
    Venue,
)
from service_tui.units import ONE
from service_tui.wire.agents import AgentBody, ContextBody, RegisterBody
from service_tui.wire.base import AnyVenue, SignalData, WireModel
from service_tui.wire.briefing import BriefingBody
from service_tui.wire.endpoint import (
    DESK,
    SDK,
)
from service_tui.wire.endpoints import public as endpoints
from service_tui.wire.endpoints.public import ALL
from service_tui.wire.errors import ErrorBody, ValidationBody, ValidationItem
from service_tui.wire.markets import MarketBody
from service_tui.wire.orders import OrderBody
from service_tui.wire.positions import PositionBody
from service_tui.wire.reactor import (
    PRICE_BUFFER_DEFAULT,
    PRICE_BUFFER_MAX,
    ReactionRequest,
    ReactorConfigBody,
    SignalBody,
    WhaleBody,
)
from service_tui.wire.research import (
    DAYS_DEFAULT,
    DAYS_MAX,
    BacktestBody,
    ExperimentLoggedBody,
    ExperimentRequest,
    StateBody,
)
from service_tui.wire.settings import (
    SettingsBody,
    SettingsPatch,
    UserSettingsBody,
    UserSettingsPatch,
)
from service_tui.wire.trades import TradeBody, TradeRequest, TradeRow

NONE: Final = "no default"


@dataclass(frozen=True)
class Field:
    """A row of a table of fields: name, JSON types, whether required, and the default."""

    name: str
    types: str
    required: bool = False
    default: object = NONE


def types_of(model: type[WireModel], name: str) -> str:
    """The JSON types of a field, as the spec writes them."""
    schema: dict[str, Any] = model.model_json_schema()["properties"][name]
    kinds = [one.get("type", "object") for one in schema.get("anyOf", [schema])]
    return " or ".join(kinds)


def check_field(model: type[WireModel], row: Field) -> None:
    field = model.model_fields[row.name]
    assert types_of(model, row.name) == row.types
    assert field.is_required() is row.required
    if row.default is not NONE:
        assert field.get_default(call_default_factory=True) == row.default
    elif not row.required:
        assert field.get_default(call_default_factory=True) is None


# -- Spec, "Settings (response of GET /api/sdk/settings)" ----------------------------------

SETTINGS: Final = (
    Field("sdk_real_trading_enabled", "boolean", required=True),
    Field("wallet_address", "string or null"),
    Field("wallet_ownership", "string", default="native"),
    Field("has_legacy_wallet", "boolean", default=False),
    Field("polymarket_usdc_balance", "number or null"),
    Field("polymarket_allowances_set", "boolean", default=False),
    Field("sdk_max_trade_amount", "number", default=100),
    Field("sdk_daily_limit", "number", default=500),
    Field("sdk_daily_spent", "number", default=0),
    Field("trading_paused", "boolean", default=True),
    Field("solana_wallet_address", "string or null"),
    Field("kalshi_usdc_balance", "number or null"),
    Field("last_sdk_version", "string or null"),
    Field("last_sdk_version_seen_at", "string or null"),
)


@pytest.mark.parametrize("row", SETTINGS, ids=lambda row: row.name)
def test_a_field_of_the_settings(row: Field) -> None:
    check_field(SettingsBody, row)


def test_the_settings_have_the_specs_fields_and_those_of_the_wire_reference() -> None:
    # Wire 3.8.
    more = ["wallet_uses_deposit_wallet", "deposit_wallet_address", "linked_wallet_address"]
    assert [row.name for row in SETTINGS] + more == list(SettingsBody.model_fields)


# -- Spec, "Agent", "Market", "Trade" (fields known) ---------------------------------------

FIELDS: Final[dict[str, tuple[type[WireModel], Field]]] = {
    "Agent claim_url at registration": (RegisterBody, Field("claim_url", "string", required=True)),
    "Agent claim_url in the context": (ContextBody, Field("claim_url", "string", required=True)),
    "Agent auto_redeem_enabled": (AgentBody, Field("auto_redeem_enabled", "boolean", default=True)),
    "Market resolves_at": (MarketBody, Field("resolves_at", "string or null")),
    "Market resolved_at": (MarketBody, Field("resolved_at", "string or null")),
    "Market outcome": (MarketBody, Field("outcome", "boolean or null")),
    "Trade fee_rate_bps": (TradeBody, Field("fee_rate_bps", "integer", default=0)),
    "Trade shares": (TradeBody, Field("shares", "number", default=0)),
    "Trade signal_data": (TradeRow, Field("signal_data", "object or null")),
    "Trade input reasoning": (TradeRequest, Field("reasoning", "string or null")),
    "Trade input signal_data": (TradeRequest, Field("signal_data", "object or null")),
    "Trade input skill_slug": (TradeRequest, Field("skill_slug", "string or null")),
    "Trade input amount": (TradeRequest, Field("amount", "number", default=0)),
    "Trade input market id": (TradeRequest, Field("market_id", "string", required=True)),
    "Briefing actions": (BriefingBody, Field("actions", "array", default=())),
    # Spec, "Risk monitor settings (per position and defaults)".
    "stop_loss_pct": (
        UserSettingsBody,
        Field("default_stop_loss_pct", "number or null", default=0.20),
    ),
    "take_profit_pct": (UserSettingsBody, Field("default_take_profit_pct", "number or null")),
    "auto_risk_monitor_enabled": (
        UserSettingsBody,
        Field("auto_risk_monitor_enabled", "boolean", default=True),
    ),
}


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_that_the_spec_names(name: str) -> None:
    check_field(*FIELDS[name])


WORDS: Final[dict[str, tuple[type[Any], set[str]]]] = {
    "Venues": (Venue, {"sim", "evm_venue", "sol_venue"}),
    "Plans": (Plan, {"free", "pro", "elite"}),
    "Trade side": (Side, {"yes", "no"}),
}


@pytest.mark.parametrize("section", WORDS)
def test_the_words_of_a_closed_set(section: str) -> None:
    kind, words = WORDS[section]
    assert {one.value for one in kind} == words


def test_the_specs_states_are_among_ours() -> None:
    assert {"submitted", "filled"} <= {one.value for one in TradeStatus}
    assert "resolved" in {one.value for one in MarketStatus}


@pytest.mark.parametrize(
    ("name", "venue"),
    [
        ("sim", Venue.SIM),
        ("evm_venue", Venue.EVM),
        ("sol_venue", Venue.SOL),
        *VENUE_ALIASES.items(),
    ],
)
def test_a_venue_is_read_in_each_of_its_names(name: str, venue: Venue) -> None:
    assert TypeAdapter(AnyVenue).validate_python(name) is venue


# -- Spec, "signal_data (optional, flat dict; values strings or numbers; no nesting)" -------


def with_signal(value: object) -> TradeRequest:
    asked = {"market_id": "m", "side": Side.YES, "amount": 1.0, "signal_data": value}
    return TradeRequest.model_validate(asked)


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"edge": 0.12},
        {"edge": -0.5, "confidence": 0.0},
        {"confidence": 1.0, "signal_source": "radar"},
        {"free": "form", "count": 3, "": ""},
    ],
)
def test_flat_signal_data_is_taken_as_it_is(value: dict[str, str | float | int] | None) -> None:
    assert with_signal(value).signal_data == value


@pytest.mark.parametrize(
    "value",
    [
        {"edge": {"at": 0.1}},
        {"edge": [0.1]},
        {"edge": None},
        {"edge": True},
        {"edge": float("nan")},
        {"edge": float("inf")},
        {1: "a"},
        [],
        "edge",
        0.1,
    ],
)
def test_nested_or_other_signal_data_is_refused(value: object) -> None:
    with pytest.raises(ValidationError):
        with_signal(value)


def test_signal_values_are_strings_and_numbers() -> None:
    assert set(get_args(get_args(SignalData)[1])) == {str, float, int}


# -- Spec, "Endpoints", and "Authentication" 1 and 2 ---------------------------------------


@dataclass(frozen=True)
class Row:
    """A row of the table of endpoints; gaps are those of the wire reference."""

    section: str
    method: str
    path: str
    auth: str = "key"
    plan: Plan = Plan.FREE


ENDPOINTS: Final = (
    Row("spec", "POST", "/api/sdk/agents/register", "none"),
    Row("spec", "GET", "/api/sdk/context"),
    Row("spec", "GET", "/api/sdk/agents/me"),
    Row("spec", "PATCH", "/api/sdk/agents/me/settings"),
    Row("spec", "GET", "/api/sdk/settings"),
    Row("spec", "POST", "/api/sdk/settings"),
    Row("spec", "PATCH", "/api/sdk/user/settings"),
    Row("spec", "GET", "/api/sdk/briefing"),
    Row("spec", "GET", "/api/sdk/positions"),
    Row("spec", "GET", "/api/sdk/outcomes"),
    Row("spec", "POST", "/api/sdk/positions/{market_id}/monitor"),
    Row("spec", "GET", "/api/sdk/positions/monitors"),
    Row("spec", "DELETE", "/api/sdk/positions/{market_id}/monitor"),
    Row("wire 2.4, gap", "GET", "/api/sdk/risk-alerts"),
    Row("wire 2.4, gap", "DELETE", "/api/sdk/risk-alerts/{market_id}/{side}"),
    Row("wire 2.1, extra", "PATCH", "/api/sdk/settings"),
    Row("wire 2.3, extra", "GET", "/api/sdk/positions/expiring"),
    Row("wire 2.1, extra", "GET", "/api/sdk/health", "none"),
    Row("wire 2.1, gap", "GET", "/api/sdk/user/settings"),
    Row("wire 2.2, gap", "GET", "/api/sdk/markets"),
    Row("wire 2.2, gap", "GET", "/api/sdk/markets/{market_id}"),
    Row("wire 2.2, extra", "GET", "/api/sdk/markets/{market_id}/history"),
    Row("wire 2.2, gap", "GET", "/api/sdk/markets/importable"),
    Row("wire 2.2, gap", "GET", "/api/sdk/markets/check"),
    Row("wire 2.2, gap", "POST", "/api/sdk/markets/import"),
    Row("wire 2.2, extra", "POST", "/api/sdk/markets/import/kalshi"),
    Row("wire 2.2, extra", "GET", "/api/sdk/context/{market_id}"),
    Row("wire 2.3, gap", "POST", "/api/sdk/trade"),
    Row("wire 2.3, gap", "POST", "/api/sdk/trades/batch"),
    Row("wire 2.3, gap", "GET", "/api/sdk/trades"),
    Row("wire 2.3, gap", "GET", "/api/sdk/portfolio"),
    # Decisions, "Keyless paths": by pattern without a key, in words with one.
    Row("spec", "POST", "/api/sdk/troubleshoot", "none"),
    Row("wire 2.1, extra", "GET", "/api/sdk/agents/claim/{claim_code}", "none"),
    Row("wire 2.1, extra", "GET", "/api/sdk/version-check"),
    Row("wire 2.1, extra", "GET", "/api/leaderboard/all", "none"),
    Row("wire 2.1, extra", "GET", "/api/leaderboard/sdk-agents", "none"),
    Row("wire 2.6, extra", "GET", "/api/sdk/skills", "none"),
    Row("wire 2.6, extra", "GET", "/api/sdk/skills/mine"),
    Row("wire 2.2, extra", "GET", "/api/sdk/markets/{market_id}/executable-price"),
    Row("wire 2.3, gap", "GET", "/api/sdk/orders/open"),
    Row("wire 2.3, gap", "DELETE", "/api/sdk/orders/{order_id}"),
    Row("wire 2.3, gap", "DELETE", "/api/sdk/markets/{market_id}/orders"),
    Row("wire 2.3, gap", "DELETE", "/api/sdk/orders"),
    Row("spec", "PATCH", "/api/sdk/reactor/config", plan=Plan.PRO),
    Row("spec", "GET", "/api/sdk/reactor/pending", plan=Plan.PRO),
    Row("spec", "DELETE", "/api/sdk/reactor/pending/{signal_id}", plan=Plan.PRO),
    Row("spec", "POST", "/api/sdk/autoresearch/experiments", plan=Plan.PRO),
    Row("spec", "GET", "/api/sdk/autoresearch/experiments", plan=Plan.PRO),
    Row("spec", "GET", "/api/sdk/autoresearch/state", plan=Plan.PRO),
    Row("spec", "POST", "/api/sdk/autoresearch/backtest", plan=Plan.PRO),
    Row("spec, extra", "POST", "/api/sdk/autoresearch/sessions", plan=Plan.PRO),
    Row("wire 2.6, gap", "GET", "/api/sdk/reactor/config", plan=Plan.PRO),
    Row("wire 2.6, gap", "GET", "/api/sdk/reactor/reactions", plan=Plan.PRO),
    Row("wire 2.6, gap", "POST", "/api/sdk/reactor/reactions", plan=Plan.PRO),
    Row("spec", "POST", "/api/sdk/wallet/credentials/derive-via-proxy"),
    Row("spec", "POST", "/api/sdk/redeem"),
    Row("spec", "POST", "/api/sdk/wallet/broadcast-tx"),
    Row("spec", "POST", "/api/sdk/redeem/report"),
    Row("wire 2.5, gap", "GET", "/api/sdk/wallet/link/challenge"),
    Row("wire 2.5, gap", "POST", "/api/sdk/wallet/link"),
    Row("wire 2.5, extra", "POST", "/api/sdk/wallet/unlink"),
    Row("wire 2.5, gap", "GET", "/api/sdk/wallet/credentials/check"),
    Row("wire 2.5, gap", "POST", "/api/sdk/wallet/credentials"),
    Row("wire 2.5, gap", "GET", "/api/polymarket/allowances/{address}"),
    Row("wire 2.5, gap", "POST", "/api/rpc/polygon"),
    # Ours: what a wallet still needs, and the queue of what becomes money.
    Row("ours", "GET", "/api/sdk/wallet"),
    Row("ours", "GET", "/api/sdk/redemptions"),
    # Ours: how an agent learns what its operator decided.
    Row("ours", "GET", "/api/sdk/trades/held"),
    Row("spec, Limits, Extras", "GET", "/api/sdk/skills/analytics", plan=Plan.ELITE),
    # Wire 2.1, 2.2 and 2.6: other ways to look for markets.
    Row("wire 2.2, extra", "GET", "/api/sdk/markets/opportunities"),
    Row("wire 2.2, extra", "GET", "/api/sdk/fast-markets"),
    Row("wire 2.1, extra", "GET", "/api/markets", auth="none"),
    Row("wire 2.6, extra", "GET", "/api/replay-data/candles"),
    Row("wire 2.1, extra", "GET", "/api/leaderboard/{venue}", "none"),
    Row("wire 2.1, extra", "GET", "/api/sdk/fleet/summary"),
    Row("wire 2.2, extra", "POST", "/api/sdk/markets/import/kalshi/event"),
    Row("wire 2.3, extra", "POST", "/api/sdk/trade/kalshi/quote"),
    Row("wire 2.3, extra", "POST", "/api/sdk/trade/kalshi/submit"),
    Row("wire 2.3, extra", "POST", "/api/sdk/copytrading/execute"),
    Row("wire 2.4, extra", "POST", "/api/sdk/alerts"),
    Row("wire 2.4, extra", "GET", "/api/sdk/alerts"),
    Row("wire 2.4, extra", "GET", "/api/sdk/alerts/triggered"),
    Row("wire 2.4, extra", "DELETE", "/api/sdk/alerts/{alert_id}"),
    Row("wire 2.4, extra", "POST", "/api/sdk/webhooks"),
    Row("wire 2.4, extra", "GET", "/api/sdk/webhooks"),
    Row("wire 2.4, extra", "POST", "/api/sdk/webhooks/test"),
    Row("wire 2.4, extra", "DELETE", "/api/sdk/webhooks/{webhook_id}"),
    Row("wire 2.5, extra", "GET", "/api/sdk/agent-wallets", plan=Plan.ELITE),
    Row("wire 2.5, extra", "POST", "/api/sdk/agent-wallet/register", plan=Plan.ELITE),
    Row("wire 2.5, extra", "POST", "/api/sdk/agent-wallet/update-creds", plan=Plan.ELITE),
    Row("wire 2.5, extra", "GET", "/api/sdk/agent-wallet/{agent_id}/pnl", plan=Plan.ELITE),
    Row("wire 2.5, extra", "POST", "/api/user/wallet/external/dw-approvals/prepare"),
    Row("wire 2.5, extra", "POST", "/api/user/wallet/external/dw-approvals/submit"),
    Row(
        "wire 2.5, extra", "POST", "/api/user/agent/{agent_id}/wallet/external/dw-approvals/prepare"
    ),
    Row(
        "wire 2.5, extra", "POST", "/api/user/agent/{agent_id}/wallet/external/dw-approvals/submit"
    ),
    Row("wire 2.5, extra", "POST", "/api/user/wallet/external-upgrade-to-deposit-wallet"),
    Row("wire 2.5, extra", "POST", "/api/user/wallet/wrap-on-dw/external/prepare"),
    Row("wire 2.5, extra", "POST", "/api/user/wallet/wrap-on-dw/external/submit"),
    Row("wire 7", "POST", "/x402/forecast"),
    Row("wire 7", "POST", "/x402/briefing"),
)
OWN: Final = {(one.method, one.path) for one in ALL if one.path.startswith(DESK)}
"""Ours: they stand apart under a path of their own, for the operator only."""


@pytest.mark.parametrize("row", ENDPOINTS, ids=lambda row: f"{row.method} {row.path}")
def test_an_endpoint_of_the_spec_stands_and_is_served(row: Row) -> None:
    found = [one for one in ALL if (one.method, one.path) == (row.method, row.path)]
    assert len(found) == 1
    assert found[0].keyless is (row.auth == "none")
    assert found[0].operator is False
    assert found[0].plan is row.plan
    assert found[0] in ROUTES


OF_AGENTS: Final = {("POST", f"{SDK}/trades/held")}
"""Ours, with an agent's key: a buy that it proposes, and that a person alone can let pass."""


def test_every_endpoint_has_its_row_in_the_documents() -> None:
    assert {(one.method, one.path) for one in ALL} == OWN | OF_AGENTS | {
        (row.method, row.path) for row in ENDPOINTS
    }
    assert all(one.operator for one in ALL if (one.method, one.path) in OWN)
    assert set(ROUTES) | set(STREAMS) == set(ALL)
    assert set(STREAMS) == {one for one in ALL if one.streams}


def test_all_paths_of_the_spec_are_under_one_root_without_a_version() -> None:
    # Wire 2.5: the chain and its approvals stand outside, as on the public service.
    roots = (
        f"{SDK}/",
        f"{endpoints.LEADERBOARD}/",
        "/api/rpc/",
        "/api/polymarket/",
        # Wire 2.1, 2.5, 2.6 and 7.
        "/api/markets",
        "/api/user/",
        "/api/replay-data/",
        "/x402/",
    )
    assert all(row.path.startswith(roots) for row in ENDPOINTS)
    assert all(row.path.startswith(roots[0]) for row in ENDPOINTS if row.section == "spec")
    assert not any("/v1" in one.path or "/v2" in one.path for one in ALL)


PAYLOADS: Final = (
    ("PATCH /api/sdk/agents/me/settings", endpoints.PATCH_AGENT, {"auto_redeem_enabled": False}),
    ("POST /api/sdk/settings", endpoints.POST_SETTINGS, {"max_trades_per_day": 70}),
    ("POST /api/sdk/settings", endpoints.POST_SETTINGS, {"sdk_daily_limit": 70}),
    ("PATCH /api/sdk/user/settings", endpoints.PATCH_USER_SETTINGS, {"max_trades_per_day": 70}),
    ("PATCH /api/sdk/user/settings", endpoints.PATCH_USER_SETTINGS, {"default_stop_loss_pct": 0.3}),
    ("PATCH /api/sdk/user/settings", endpoints.PATCH_USER_SETTINGS, {"default_take_profit_pct": 1}),
    (
        "PATCH /api/sdk/user/settings",
        endpoints.PATCH_USER_SETTINGS,
        {"auto_risk_monitor_enabled": False},
    ),
    (
        "PATCH /api/sdk/reactor/config",
        endpoints.PATCH_REACTOR,
        {
            "wallets": (f"0x{'1' * 40}",),
            "min_size": 50.0,
            "max_size": 20.0,
            "mirror_fraction": 0.01,
            "daily_cap": 25.0,
            "venue": Venue.EVM,
            "enabled": True,
            "price_buffer": 0.2,
        },
    ),
)


@pytest.mark.parametrize(("name", "endpoint", "payload"), PAYLOADS)
def test_a_payload_of_the_table_is_taken(
    name: str, endpoint: endpoints.Endpoint[WireModel], payload: dict[str, object]
) -> None:
    assert name == f"{endpoint.method} {endpoint.path}"
    assert endpoint.request is not None
    taken = endpoint.request.model_validate(payload).model_dump(exclude_unset=True)
    assert taken == payload


@pytest.mark.parametrize("patch", [SettingsPatch, UserSettingsPatch])
def test_every_setting_may_be_left_out(patch: type[WireModel]) -> None:
    assert patch.model_validate({}).model_dump(exclude_unset=True) == {}


# -- Spec, "Errors" ------------------------------------------------------------------------


def test_a_422_is_a_list_of_places_messages_and_types() -> None:
    said = invalid_items([(("body", "amount"), "is missing", "missing"), (("query", 3), "x", "y")])
    assert said.status == 422
    body = ValidationBody.model_validate_json(said.body.model_dump_json())
    assert body.detail[0] == ValidationItem(
        loc=("body", "amount"), msg="is missing", type="missing"
    )
    assert set(ValidationItem.model_fields) == {"loc", "msg", "type"}
    assert body.fix


ERRORS: Final[dict[str, tuple[int, Callable[[], Any]]]] = {
    "401 missing or malformed key": (401, lambda: unauthenticated("no key was sent")),
    "403 plan": (403, lambda: denied(403, "this needs the pro plan", "choose another plan")),
    "other 4xx": (400, lambda: denied(400, "what happened", "what to do")),
}


@pytest.mark.parametrize("row", ERRORS)
def test_other_client_errors_carry_a_fix(row: str) -> None:
    status, make = ERRORS[row]
    said = make()
    assert said.status == status
    body = ErrorBody.model_validate_json(said.body.model_dump_json())
    assert body.error
    assert body.fix


def test_a_429_has_a_place_for_its_address_of_payment() -> None:
    check_field(ErrorBody, Field("x402_url", "string or null"))


# -- Spec, "Limits", "Plans", "Venues" -----------------------------------------------------


@pytest.mark.parametrize(
    ("plan", "trades_per_day", "rate_factor", "imports_per_day", "agents"),
    [
        (Plan.FREE, 50, 1, 10, 1),
        (Plan.PRO, 500, 3, 100, 10),
        (Plan.ELITE, None, 10, 250, 20),
    ],
)
def test_the_limits_of_a_plan(  # noqa: PLR0917  (the columns of the spec's table)
    plan: Plan, trades_per_day: int | None, rate_factor: int, imports_per_day: int, agents: int
) -> None:
    limits = PLANS[plan]
    assert limits.trades_per_day == trades_per_day
    assert limits.rate_factor == rate_factor
    assert limits.imports_per_day == imports_per_day
    assert limits.agents == agents


NUMBERS: Final = {
    "reactor price_buffer: 0 to 0.2, default 0.02": (
        (PRICE_BUFFER_MAX, PRICE_BUFFER_DEFAULT, ReactorConfig().price_buffer),
        (0.2, 0.02, 0.02),
    ),
    "reactor circuit breaker: 5 consecutive failures, 1 hour": (
        (FAILURES_MAX, BREAKER_S),
        (5, 3_600),
    ),
    "a signal lives 60 s (wire 8)": (SIGNAL_TTL_S, 60),
    "autoresearch: 50 experiments, warning at 80 percent, 3 crashes": (
        (CAP_DEFAULT, warns_at(CAP_DEFAULT), CRASHES_MAX),
        (50, 40, 3),
    ),
    "backtest window: 7 days default, 30 maximum": ((DAYS_DEFAULT, DAYS_MAX), (7, 30)),
    "every new agent receives 10,000 $SIM": (NEW_AGENT_CASH_SIM, 10_000),
    "max trade amount default": (MAX_TRADE_DEFAULT, 100 * ONE),
    "daily spending limit default": (DAY_SPEND_DEFAULT, 500 * ONE),
    "sim: $500 per trade (wire 7)": (TRADE_MAX[Venue.SIM], 500 * ONE),
    "sim: $2,000 per market (wire 7)": (MARKET_MAX[Venue.SIM], 2_000 * ONE),
    "the EVM venue requires at least 5 shares per order": (ORDER_MIN[Venue.EVM], 5 * ONE),
    "the cache of reported P&L refreshes every 15 minutes": (PNL_REFRESH_S, 15 * 60),
    "an order's price is within 0.001 and 0.999 (wire 4.1)": (
        (PRICE_LOW, PRICE_HIGH),
        (ONE // 1_000, ONE * 999 // 1_000),
    ),
}


@pytest.mark.parametrize("row", NUMBERS)
def test_a_number_of_the_spec(row: str) -> None:
    found, wanted = NUMBERS[row]
    assert found == wanted


@pytest.mark.parametrize(
    ("venue", "action", "kind"),
    [
        (Venue.EVM, Action.BUY, OrderType.FAK),
        (Venue.EVM, Action.SELL, OrderType.GTC),
        (Venue.SOL, Action.BUY, OrderType.FAK),
        (Venue.SOL, Action.SELL, OrderType.FAK),
    ],
)
def test_the_default_type_of_an_order(venue: Venue, action: Action, kind: OrderType) -> None:
    assert default_type(venue, action) is kind


RECORDS: Final[dict[str, tuple[type[WireModel], str]]] = {
    "an experiment (wire 9.2)": (
        ExperimentRequest,
        (
            "skill_slug experiment_number segment status metric_name metric_value metric_unit "
            "best_direction secondary_metrics description commit_hash"
        ),
    ),
    "the answer to an experiment (wire 2.6)": (
        ExperimentLoggedBody,
        (
            "id experiment_number is_new_best status_mismatch zero_metric_keep prior_best_value "
            "latest_version"
        ),
    ),
    "the state of a session (wire 2.6)": (
        StateBody,
        (
            "last_experiment_number current_segment best_metric best_direction metric_name "
            "metric_unit skill_slug"
        ),
    ),
    "a backtest (wire 2.6)": (
        BacktestBody,
        (
            "trades_total trades_included trades_excluded simulated_pnl original_pnl win_rate "
            "improvement_pct"
        ),
    ),
    "the reactor's config (spec)": (
        ReactorConfigBody,
        "wallets min_size max_size mirror_fraction daily_cap venue enabled price_buffer",
    ),
    "a pending signal (spec, wire 8)": (
        SignalBody,
        (
            "tx_hash taker_wallet taker_side taker_size taker_price market_id market_title side "
            "action amount signal_id type venue whale"
        ),
    ),
    "the source trade of a signal (wire 8)": (
        WhaleBody,
        "wallet side size price token condition_id market_title market_slug outcome",
    ),
    "a reaction (wire 8)": (
        ReactionRequest,
        (
            "event_tx_hash taker_wallet taker_side taker_token taker_price taker_size "
            "condition_id market_title market_slug outcome decision trade_id reason"
        ),
    ),
    "open orders (wire 2.3)": (
        OrderBody,
        (
            "order_id trade_id market_id question side trade_type shares price cost_usdc "
            "venue source created_at condition_id token_id_yes token_id_no"
        ),
    ),
    "quotes of a market (wire 3.10)": (
        MarketBody,
        (
            "best_bid best_ask best_bid_size best_ask_size spread quote_ts quote_age_seconds "
            "tick_size fee_rate_bps liquidity_tier spread_cents is_orderbook_open "
            "external_price_yes divergence import_source polymarket_id polymarket_token_id "
            "polymarket_no_token_id polymarket_neg_risk"
        ),
    ),
    "quotes and tokens of a position (wire 3.2)": (
        PositionBody,
        (
            "venue currency status redeemable redeemable_side condition_id token_id_yes "
            "token_id_no best_bid best_ask best_bid_size best_ask_size spread quote_ts url "
            "sources"
        ),
    ),
    "an order's answer (wire 3.4)": (
        TradeBody,
        (
            "success trade_id order_id shares_bought shares_sold shares_requested "
            "order_status fill_status cost new_price fee_rate_bps position balance retryable "
            "error error_code error_hint warnings"
        ),
    ),
}


@pytest.mark.parametrize("section", RECORDS)
def test_a_record_has_the_fields_of_the_reference(section: str) -> None:
    model, names = RECORDS[section]
    assert set(names.split()) <= set(model.model_fields)
