"""Each call of the public client as it sends it: it works, or is refused in a plain sentence.

The rows are those of the wire reference, sections 2 to 9: headers, query texts and bodies are the
client's own, such as `include_triggered=False` and a POST without a body.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from kit.service.line import answer_to, change, line_to
from kit.service.stage import Stage, open_stage
from service_tui.engine.books.catalogue import event_of, importable_at, ticker_of, url_of
from service_tui.server.embedded import BASE_URL
from service_tui.terms import Plan, Venue
from service_tui.wire.endpoints.public import PLACE_TRADE

AGENT: Final = "service-sdk/0.26.0 (python/3.11; runtime/unknown)"
ADDRESS: Final = "0x8ba1f109551bD432803012645Ac136ddd64DBA72"
HASH: Final = "0x" + "ab" * 32

Body = Mapping[str, object] | None


@dataclass(frozen=True)
class Call:
    """One call: what it does, and the status and words of a refusal that is right here."""

    name: str
    method: str
    path: str
    body: Body = None
    refused: int = 0
    words: str = ""


TRADE: Final[dict[str, object]] = {
    "market_id": "{market}", "side": "yes", "amount": 5.0, "shares": 0, "action": "buy",
    "venue": "sim", "order_type": None,
}  # fmt: skip
DW: Final = "no deposit wallets"
GONE: Final = "there is no /api/"
SIGNED_CALLS: Final[dict[str, object]] = {
    "market_id": "{evm}", "side": "yes", "signature": "0x", "nonce": 0, "deadline": 0, "calls": [],
}  # fmt: skip

CALLS: Final = (
    # Agents, settings, account.
    Call("register", "POST", "/api/sdk/agents/register", {"name": "another"}),
    Call("agent", "GET", "/api/sdk/agents/me"),
    Call("agent with more", "GET", "/api/sdk/agents/me?include=pnl%2Crewards"),
    Call("update agent", "PATCH", "/api/sdk/agents/me/settings", {"auto_redeem_enabled": False}),
    Call("claim info", "GET", "/api/sdk/agents/claim/{code}"),
    Call("context", "GET", "/api/sdk/context"),
    Call("settings", "GET", "/api/sdk/settings"),
    Call("update settings", "PATCH", "/api/sdk/settings", {"default_stop_loss_pct": 0.3}),
    Call("user settings", "GET", "/api/sdk/user/settings"),
    Call("update user settings", "PATCH", "/api/sdk/user/settings", {"max_trades_per_day": 60}),
    Call("register a bot wallet", "PATCH", "/api/sdk/user/settings",
         {"bot_solana_wallet": "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin"}),
    Call("update the account", "POST", "/api/sdk/settings", {"sdk_max_trade_amount": 50}),
    Call("troubleshoot", "POST", "/api/sdk/troubleshoot", {"error_text": "insufficient balance"}),
    Call("health", "GET", "/api/sdk/health"),
    Call("version check", "GET", "/api/sdk/version-check?sdk_version=0.26.0"),
    Call("fleet", "GET", "/api/sdk/fleet/summary"),
    Call("leaders", "GET", "/api/leaderboard/all?limit=20"),
    Call("agent leaders", "GET", "/api/leaderboard/sdk-agents?limit=50"),
    Call("venue leaders", "GET", "/api/leaderboard/polymarket?trader_type=all&limit=10"),
    # Markets.
    Call("markets", "GET", "/api/sdk/markets?status=active&limit=50"),
    Call("all kinds", "GET", "/api/sdk/markets?status=active&limit=50&tradeable_only=false"
         "&import_source=polymarket&sort=volume&include_analytics_only=False"),
    Call("find", "GET", "/api/sdk/markets?q=will&limit=10&status=active"),
    Call("by ids", "GET", "/api/sdk/markets?ids={market}%2C{evm}&limit=50"),
    Call("market", "GET", "/api/sdk/markets/{market}"),
    Call("history", "GET", "/api/sdk/markets/{market}/history"),
    Call("executable price", "GET", "/api/sdk/markets/{evm}/executable-price?side=yes&action=buy"
         "&apply_buffer=True"),
    Call("opportunities", "GET", "/api/sdk/markets/opportunities?limit=10&min_divergence=0.03"),
    Call("fast markets", "GET", "/api/sdk/fast-markets?limit=50&sort=volume"),
    Call("importable", "GET", "/api/sdk/markets/importable?min_volume=10000&limit=50"),
    Call("check", "GET", "/api/sdk/markets/check?url={url}"),
    Call("check a ticker", "GET", "/api/sdk/markets/check?ticker={ticker}"),
    Call("check a condition", "GET", f"/api/sdk/markets/check?condition_id={HASH}"),
    Call("import", "POST", "/api/sdk/markets/import", {"polymarket_url": "{url}", "shared": True}),
    Call("import a ticker", "POST", "/api/sdk/markets/import/kalshi", {"kalshi_url": "{ticker}"}),
    Call("import an event", "POST", "/api/sdk/markets/import/kalshi/event",
         {"event_ticker": "{event}"}),
    Call("market context", "GET", "/api/sdk/context/{market}?venue=all&my_probability=0.6"),
    Call("browse", "GET", "/api/markets?limit=20&status=trending"),
    # Trading, orders, positions.
    Call("buy", "POST", "/api/sdk/trade", TRADE),
    Call("dry run", "POST", "/api/sdk/trade", TRADE | {"dry_run": True}),
    Call("sell", "POST", "/api/sdk/trade", TRADE | {"action": "sell", "amount": 0, "shares": 1.0}),
    Call("prepare a real trade", "POST", "/api/sdk/trade",
         {"market_id": "{evm}", "side": "yes", "amount": 10, "execute": True}),
    Call("batch", "POST", "/api/sdk/trades/batch",
         {"trades": [{"market_id": "{market}", "side": "no", "amount": 3}], "venue": "sim"}),
    Call("trades", "GET", "/api/sdk/trades?venue=all&limit=50&offset=0"),
    Call("failed trades", "GET", "/api/sdk/trades?venue=all&limit=50&offset=0&include_failed=true"),
    Call("trades of a day", "GET", "/api/sdk/trades?venue=all&limit=50"
         "&since=2026-11-28T00:00:00+00:00&until=2026-11-29T00:00:00%2B00:00"),
    Call("positions", "GET", "/api/sdk/positions"),
    Call("own positions", "GET", "/api/sdk/positions?venue=sim&source=sdk%3Aweather"),
    Call("resolved positions", "GET", "/api/sdk/positions?status=resolved"),
    Call("expiring", "GET", "/api/sdk/positions/expiring?hours=24"),
    Call("portfolio", "GET", "/api/sdk/portfolio?venue=all"),
    Call("open orders", "GET", "/api/sdk/orders/open"),
    Call("cancel", "DELETE", "/api/sdk/orders/order-unknown", None, 404, "order"),
    Call("cancel of a market", "DELETE", "/api/sdk/markets/{evm}/orders?side=yes"),
    Call("cancel all", "DELETE", "/api/sdk/orders"),
    Call("sol quote", "POST", "/api/sdk/trade/kalshi/quote",
         {"market_id": "{sol}", "side": "yes", "amount": 5, "shares": 0, "action": "buy",
          "wallet_address": "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin"},
         403, "bot_solana_wallet"),
    Call("sol submit", "POST", "/api/sdk/trade/kalshi/submit",
         {"market_id": "{sol}", "side": "yes", "action": "buy", "signed_transaction": "AQ==",
          "quote_id": "quote-unknown"}, 404, "quote"),
    Call("copy", "POST", "/api/sdk/copytrading/execute", {"wallets": [ADDRESS], "dry_run": True}),
    # Risk, briefing, alerts, webhooks.
    Call("briefing", "GET", "/api/sdk/briefing"),
    Call("briefing since", "GET", "/api/sdk/briefing?since=2026-11-28T00:00:00+00:00"
         "&skill_versions=%7B%22weather%22%3A%20%221.0.0%22%7D"),
    Call("set monitor", "POST", "/api/sdk/positions/{market}/monitor",
         {"side": "yes", "stop_loss_pct": 0.3, "take_profit_pct": None}),
    Call("monitors", "GET", "/api/sdk/positions/monitors"),
    Call("delete monitor", "DELETE", "/api/sdk/positions/{market}/monitor?side=yes"),
    Call("risk alerts", "GET", "/api/sdk/risk-alerts?include_triggered=False"),
    Call("end a risk alert", "DELETE", "/api/sdk/risk-alerts/{market}/yes", None, 404, "alert"),
    Call("set alert", "POST", "/api/sdk/alerts",
         {"market_id": "{market}", "side": "yes", "condition": "above", "threshold": 0.99,
          "webhook_url": None}),
    Call("alerts", "GET", "/api/sdk/alerts?include_triggered=False"),
    Call("triggered alerts", "GET", "/api/sdk/alerts/triggered?hours=24"),
    Call("delete alert", "DELETE", "/api/sdk/alerts/alert-unknown", None, 404, "alert"),
    Call("set webhook", "POST", "/api/sdk/webhooks",
         {"url": "https://mine.example/in", "events": ["trade.executed"], "secret": None}),
    Call("webhooks", "GET", "/api/sdk/webhooks"),
    Call("test webhook", "POST", "/api/sdk/webhooks/test"),
    Call("delete webhook", "DELETE", "/api/sdk/webhooks/hook-unknown", None, 404, "webhook"),
    # Wallets, credentials, redemption, chain.
    Call("challenge", "GET", f"/api/sdk/wallet/link/challenge?address={ADDRESS}"),
    Call("link", "POST", "/api/sdk/wallet/link",
         {"address": ADDRESS, "signature": "ab" * 65, "nonce": "unknown", "signature_type": 0,
          "confirm_replace_managed": False, "confirm_orphan_deposit_wallet": False},
         200, "challenge"),
    Call("unlink", "POST", "/api/sdk/wallet/unlink"),
    Call("credentials", "GET", "/api/sdk/wallet/credentials/check"),
    Call("send credentials", "POST", "/api/sdk/wallet/credentials",
         {"api_key": "k", "api_secret": "s", "api_passphrase": "p"}, 400, "link"),
    Call("derive credentials", "POST", "/api/sdk/wallet/credentials/derive-via-proxy",
         {"poly_address": ADDRESS, "poly_signature": "0x" + "ab" * 65,
          "poly_timestamp": "1795961439", "poly_nonce": "0"}, 403, "link"),
    Call("allowances", "GET", f"/api/polymarket/allowances/{ADDRESS}?include_tx_params=1"),
    Call("chain", "POST", "/api/rpc/polygon",
         {"jsonrpc": "2.0", "method": "eth_gasPrice", "params": [], "id": 1}),
    Call("redeem", "POST", "/api/sdk/redeem", {"market_id": "{evm}", "side": "yes"}, 200,
         "not found"),
    Call("report a redemption", "POST", "/api/sdk/redeem/report",
         {"market_id": "{evm}", "side": "yes", "tx_hash": HASH}, 200, "redemption"),
    Call("broadcast", "POST", "/api/sdk/wallet/broadcast-tx", {"signed_tx": "0x02" + "ab" * 40},
         200, "transaction"),
    Call("redeem a deposit wallet", "POST", "/api/sdk/dw-redeem/prepare",
         {"market_id": "{evm}", "side": "yes"}, 404, GONE),
    Call("send that", "POST", "/api/sdk/dw-redeem/submit", SIGNED_CALLS, 404, GONE),
    Call("approvals of a deposit wallet", "POST",
         "/api/user/wallet/external/dw-approvals/prepare", None, 409, DW),
    Call("approvals for combos", "POST",
         "/api/user/wallet/external/dw-approvals/prepare", {"combo": True}, 409, DW),
    Call("send the approvals", "POST", "/api/user/wallet/external/dw-approvals/submit",
         SIGNED_CALLS, 409, DW),
    Call("send those of the agent's", "POST",
         "/api/user/agent/{agent}/wallet/external/dw-approvals/submit", SIGNED_CALLS, 409, DW),
    Call("send what is wrapped", "POST", "/api/user/wallet/wrap-on-dw/external/submit",
         SIGNED_CALLS, 409, DW),
    Call("of the agent's", "POST",
         "/api/user/agent/{agent}/wallet/external/dw-approvals/prepare", None, 409, DW),
    Call("upgrade", "POST", "/api/user/wallet/external-upgrade-to-deposit-wallet", None, 409, DW),
    Call("wrap", "POST", "/api/user/wallet/wrap-on-dw/external/prepare", None, 409, DW),
    Call("agents' wallets", "GET", "/api/sdk/agent-wallets"),
    Call("P&L of a wallet", "GET", "/api/sdk/agent-wallet/{agent}/pnl"),
    Call("register an agent's wallet", "POST", "/api/sdk/agent-wallet/register",
         {"agent_id": "{agent}", "wallet_address": ADDRESS}, 410, "not registered"),
    Call("update its credentials", "POST", "/api/sdk/agent-wallet/update-creds",
         {"agent_id": "{agent}", "api_key": "k", "api_secret": "s", "api_passphrase": "p"},
         409, "credentials"),
    Call("positions of an address", "GET", f"/api/sdk/wallet/{ADDRESS}/positions", None, 404, GONE),
    Call("proof", "GET", f"/api/proof/status?wallet={ADDRESS}", None, 404, GONE),
    # Reactor, research, skills, data.
    Call("reactor", "GET", "/api/sdk/reactor/config"),
    Call("change the reactor", "PATCH", "/api/sdk/reactor/config", {"price_buffer": 0.02}),
    Call("signals", "GET", "/api/sdk/reactor/pending?caps=maker"),
    Call("dismiss a signal", "DELETE", f"/api/sdk/reactor/pending/{HASH}:maker:1:{ADDRESS}:77",
         None, 404, "signal"),
    Call("reactions", "GET", "/api/sdk/reactor/reactions?limit=10"),
    Call("react", "POST", "/api/sdk/reactor/reactions",
         {"event_tx_hash": HASH, "taker_wallet": ADDRESS, "taker_side": "BUY", "taker_token": "1",
          "taker_price": 0.5, "taker_size": 10.0, "condition_id": HASH, "market_title": "t",
          "market_slug": "s", "outcome": "Yes", "decision": "skipped_filter", "trade_id": None,
          "reason": "r"}),
    Call("leaders to copy", "GET", "/api/sdk/wc/copy-leaders", None, 404, GONE),
    Call("log an experiment", "POST", "/api/sdk/autoresearch/experiments",
         {"skill_slug": "weather", "experiment_number": 1, "segment": 0, "status": "crash",
          "metric_name": "pnl", "metric_value": None, "metric_unit": "$",
          "best_direction": "higher", "secondary_metrics": {}, "description": "d",
          "commit_hash": "abcdef1"}),
    Call("experiments", "GET", "/api/sdk/autoresearch/experiments"),
    Call("state", "GET", "/api/sdk/autoresearch/state?skill_slug=__probe__"),
    Call("backtest", "POST", "/api/sdk/autoresearch/backtest",
         {"skill_slug": "weather", "config": {"min_edge": 0.05}, "days": 7, "venue": "sim"}),
    Call("outcomes", "GET", "/api/sdk/outcomes?skill=weather&since=2026-11-01T00:00:00+00:00"),
    Call("skills", "GET", "/api/sdk/skills?category=weather"),
    Call("own skills", "GET", "/api/sdk/skills/mine"),
    Call("submit a skill", "POST", "/api/sdk/skills",
         {"slug": "a", "name": "a", "description": "d", "clawhub_url": "https://hub.example/a"},
         405, "not allowed"),
    Call("tape", "POST", "/api/backtest/tape", {"t0": 0, "t1": 1}, 404, GONE),
    Call("span of the tape", "GET", "/api/backtest/tape/coverage", None, 404, GONE),
    Call("paid forecast", "POST", "/x402/forecast", {"market_id": "{market}"}, 402, "paid"),
    Call("paid briefing", "POST", "/x402/briefing", None, 402, "paid"),
    Call("candles", "GET", "/api/replay-data/candles?symbol={market}&interval=1m"
         "&start=2026-11-28T00%3A00%3A00%2B00%3A00"),
)  # fmt: skip


METHODS: Final[Mapping[str, tuple[str, ...]]] = {
    # Named in the interface.
    "auto_redeem": ("agent", "resolved positions", "redeem", "report a redemption"),
    "delete_monitor": ("delete monitor",),
    "link_wallet": ("settings", "challenge", "link", "credentials", "send credentials",
                    "derive credentials"),
    "list_monitors": ("monitors",),
    "set_approvals": ("allowances", "chain", "broadcast"),
    "set_monitor": ("set monitor",),
    "trade": ("positions", "agents' wallets", "market", "executable price", "buy", "sell",
              "dry run"),
    "update_settings": ("update user settings",),
    # Named in the wire reference alone.
    "ensure_can_trade": ("agent", "briefing", "positions"),
    "get_total_pnl": ("positions",),
}  # fmt: skip
"""What each method of the published client sends, of the methods that the documents name.

The documents give no other names of methods: the other rows stand under what they do.
"""

TOOLS: Final[Mapping[str, tuple[str, ...]]] = {
    "list_skills": ("skills",),
    "get_skill_docs": ("skills",),
    "troubleshoot_error": ("troubleshoot",),
    "service_browse_markets": ("browse",),
    "service_get_leaderboard": ("leaders",),
    "init_experiment": ("state",),
    "run_experiment": ("state",),
    "log_experiment": ("log an experiment", "outcomes"),
    "backtest_experiment": ("backtest",),
    "service_trade": ("buy", "sell", "dry run"),
    "service_get_briefing": ("briefing since",),
    "service_get_markets": ("markets", "find"),
    "service_get_market_context": ("market context",),
    "service_cancel_order": ("cancel",),
    "get_portfolio": ("portfolio",),
    "get_positions": ("own positions",),
    "get_expiring_positions": ("expiring",),
    "get_fleet_summary": ("fleet",),
}
"""What each tool of the published MCP server sends: wire reference, 9.1."""

NAMED: Final = frozenset({
    # interface.md: wallet types, endpoints, redemption flow.
    "auto_redeem", "delete_monitor", "link_wallet", "list_monitors", "set_approvals",
    "set_monitor", "trade", "update_settings",
    # wire.md: 3.2 and 13; then the tools of 9.1.
    "ensure_can_trade", "get_total_pnl",
    "backtest_experiment", "get_expiring_positions", "get_fleet_summary", "get_portfolio",
    "get_positions", "get_skill_docs", "init_experiment", "list_skills", "log_experiment",
    "run_experiment", "service_browse_markets", "service_cancel_order", "service_get_briefing",
    "service_get_leaderboard", "service_get_market_context", "service_get_markets",
    "service_trade", "troubleshoot_error",
})  # fmt: skip
"""Every name of a method or a tool that stands in the documents."""


def test_every_method_and_tool_that_is_named_has_its_calls() -> None:
    rows = {one.name for one in CALLS}
    # A name that comes twice would hide one of its rows.
    assert len(rows) == len(CALLS)
    assert METHODS.keys() | TOOLS.keys() == NAMED
    for name, calls in {**METHODS, **TOOLS}.items():
        assert calls, name
        assert set(calls) <= rows, name


@dataclass(frozen=True)
class Names:
    """What stands in the place of each name in the rows."""

    values: dict[str, str]

    def put(self, text: str) -> str:
        for name, value in self.values.items():
            text = text.replace(f"{{{name}}}", value)
        return text


def names_of(stage: Stage) -> Names:
    world = stage.world
    by_home = {home: [one for one in stage.open_markets() if one.listing.home is home]
               for home in Venue}  # fmt: skip
    offered = importable_at(world.tape, world.world_at)
    alone = {one.home: one for one in offered if event_of(one) is None}
    event = next(
        found for one in offered if one.home is Venue.SOL and (found := event_of(one)) is not None
    )
    return Names({
        "market": by_home[Venue.SIM][0].market_id,
        "evm": by_home[Venue.EVM][0].market_id,
        "sol": by_home[Venue.SOL][0].market_id,
        "url": url_of(alone[Venue.EVM]) or "",
        "ticker": ticker_of(alone[Venue.SOL]),
        "event": event.slug.upper(),
        "agent": stage.agent_id,
        "code": stage.agent.claim_code,
    })


async def sent(stage: Stage, call: Call, names: Names) -> httpx.Response:
    headers = {
        "Authorization": f"Bearer {stage.key}",
        "Content-Type": "application/json",
        "User-Agent": AGENT,
        "Accept": "*/*",
    }
    content = None if call.body is None else names.put(json.dumps(call.body)).encode()
    url = BASE_URL + names.put(call.path)
    return await answer_to(stage, httpx.Request(call.method, url, headers=headers, content=content))


@pytest.mark.parametrize("call", CALLS, ids=lambda one: one.name)
async def test_each_call_of_the_public_client_works_or_is_refused_plainly(
    tmp_path: Path, call: Call
) -> None:
    async with open_stage(tmp_path, speed=0, plan=Plan.ELITE) as stage:
        await change(stage, claimed=True, real_trading_enabled=True)
        names = names_of(stage)
        bought = {"market_id": names.values["market"], "side": "yes", "amount": 10}
        await line_to(stage).said(PLACE_TRADE, json=bought)
        answer = await sent(stage, call, names)
        body: dict[str, Any] = answer.json()
        # The client calls `.get` on every answer.
        assert type(body) is dict
        if call.refused:
            assert answer.status_code == call.refused, answer.text
            assert call.words in answer.text.lower()
            assert body["fix"]
            assert body.get("success") is not True
        else:
            assert answer.status_code == 200, answer.text
        # A caller of that name is answered with the names of the public service.
        assert "evm_venue" not in answer.text
        assert "sol_venue" not in answer.text


async def test_the_parameters_of_a_real_order_name_the_venue_and_its_ids(tmp_path: Path) -> None:
    call = next(one for one in CALLS if one.name == "prepare a real trade")
    async with open_stage(tmp_path, speed=0, plan=Plan.ELITE) as stage:
        await change(stage, claimed=True, real_trading_enabled=True)
        body = (await sent(stage, call, names_of(stage))).json()
        assert (body["success"], body["platform"]) == (True, "polymarket")
        params = body["order_params"]
        assert params["token_id"].isdigit()
        assert params["condition_id"].startswith("0x")
