"""One row for each statement of the interface spec: who checks it, or whose it is.

A row names the section and the statement, as `statements.py` calls them. A check meets the running
service. `later` names the subject of an open issue; `silent` says why there is nothing to check.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from kit.service.scene import Caller, Json, Scene
from service_tui import ServiceClient
from service_tui.skills.install import install
from service_tui.skills.package import BUNDLED, DAILY_BUDGET_USD, budget_variable, entry_script
from service_tui.skills.template import new_skill

Check = Callable[..., None]


@dataclass(frozen=True)
class Row:
    """How one statement is covered: by a check, by a subject of later work, or by silence."""

    section: str
    name: str
    check: Check | None = None
    subject: str = ""
    silence: str = ""

    @property
    def place(self) -> tuple[str, str]:
        return self.section, self.name


ROWS: list[Row] = []
PASSED: set[Check] = set()


def row(section: str, *names: str) -> Callable[[Check], Check]:
    """Register a check for some statements of a section; one that takes a name is handed it."""

    def register(check: Check) -> Check:
        def once(scene: Scene) -> None:
            if check not in PASSED:
                check(scene)
                PASSED.add(check)

        for name in names:
            asks_name = check.__code__.co_argcount > 1
            bound = (lambda scene, name=name: check(scene, name)) if asks_name else once
            ROWS.append(Row(section, name, bound))
        return check

    return register


def later(subject: str, section: str, *names: str) -> None:
    ROWS.extend(Row(section, name, subject=subject) for name in names)


def silent(why: str, section: str, *names: str) -> None:
    ROWS.extend(Row(section, name, silence=why) for name in names)


NOT_SHOWN: Final = "the spec says that it shows nothing"
LABEL: Final = "introduces what follows"
PROSE: Final = "says in short what other statements say"

JSON_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "boolean": (bool,),
    "string": (str,),
    "number": (int, float),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}


def has_type(value: object, types: str) -> bool:
    kinds = tuple(kind for word in types.split(" or ") for kind in JSON_TYPES[word])
    is_flag = isinstance(value, bool)
    return isinstance(value, kinds) and (not is_flag or bool in kinds)


def moment(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    assert at.tzinfo is not None
    return at


# -- The whole -------------------------------------------------------------------------------

SPEC: Final = "Agent Trading Service: Interface Specification"


@row(SPEC, "text 1")
def base_address(scene: Scene) -> None:
    document = scene.document()
    assert [server["url"] for server in document["servers"]] == [scene.service.url]
    assert scene.nobody().get("health")["status"] == "ok"


silent(PROSE, "What the service does", "text 1")

VENUES: Final = "Venues"


@row(VENUES, "sim")
def play_money_against_a_market_maker(scene: Scene) -> None:
    who = scene.stranger()
    # Or the loser would be sold before the end.
    who.ok("PATCH", "user/settings", json={"auto_risk_monitor_enabled": False})
    assert who.get("agents/me")["balance"] == 10_000
    market = scene.soonest()
    before = who.get(f"markets/{market.market_id}")["market"]["current_probability"]
    won, lost = ("yes", "no") if market.listing.outcome else ("no", "yes")
    bought = {side: who.trade(market.market_id, side, 20) for side in ("yes", "no")}
    assert bought["yes"]["new_price"] > before
    # A larger spend pays more for each share: slippage.
    small, large = (
        who.trade(scene.market(), "yes", amount, dry_run=True) for amount in (1.0, 400.0)
    )
    assert small["avg_price"] - small["price_before"] < large["avg_price"] - large["price_before"]
    cash = who.get("agents/me")["balance"]
    assert cash == 10_000 - 40
    scene.pass_to(market.listing.resolved_at)
    # Paid without anybody asking for it: 1 for a winning share, 0 for a losing one.
    paid = who.get("agents/me")["balance"] - cash
    assert abs(paid - bought[won]["shares_bought"]) < 1e-6
    assert who.get("positions")["positions"] == []
    history = {one["side"]: one for one in who.get("trades")["trades"] if one["action"] == "redeem"}
    assert history[won]["cost"] == bought[won]["shares_bought"]
    assert lost not in history or history[lost]["cost"] == 0


@row(VENUES, "evm_venue", "sol_venue")
def orders_go_to_the_book(scene: Scene, venue: str) -> None:
    who = scene.stranger(claimed=True, real=True)
    market_id = scene.market(venue)
    before = who.get(f"markets/{market_id}")["market"]
    said = who.trade(market_id, "yes", 20, venue=venue)
    assert said["success"], said
    assert said["avg_price"] >= before["best_ask"] > before["best_bid"]
    after = who.get(f"markets/{market_id}")["market"]
    assert after["current_probability"] == before["current_probability"] or (
        # The market maker of `sim` did not move: only the crowd may have.
        after["quote_ts"] != before["quote_ts"]
    )
    block = who.get("briefing")["venues"][venue]
    assert "USDC" in block["currency"]
    assert scene.me.get("agents/me")["balance"] == scene.me.get("portfolio")["sim"]["balance"]


# -- Agents and claiming ---------------------------------------------------------------------

AGENTS: Final = "Agents and claiming"


@row(AGENTS, "item 1")
@row("Endpoints", "POST /api/sdk/agents/register")
@row("Authentication", "item 1")
def an_agent_registers_itself(scene: Scene) -> None:
    scene.wait(61)
    born = scene.nobody().ok("POST", "agents/register", json={"name": "self made"})
    assert born["claim_url"].startswith("http")
    assert born["status"] == "unclaimed"


@row(AGENTS, "item 2", "item 3")
def the_operator_opens_the_link_and_proves_to_be_the_owner(scene: Scene) -> None:
    who = scene.stranger()
    link = who.get("context")["claim_url"]
    path = "/" + link.split("/", 3)[3]
    page = scene.nobody().ask("GET", path)
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    code = scene.desk("POST", f"agents/{who.agent_id}/claim-code")["code"]
    wrong = scene.nobody().ask("POST", path, data={"code": "0" * len(code)})
    assert wrong.status_code == 403
    own = {"Origin": scene.service.url}
    scene.nobody().ask("POST", path, data={"code": code}, headers=own)
    assert who.get("agents/me")["claimed"]


@row(AGENTS, "item 4")
@row("Errors", "text 2")
def only_the_claimed_trade_real_money(scene: Scene) -> None:
    who = scene.stranger()
    market_id = scene.market("evm_venue")
    body = {"market_id": market_id, "side": "yes", "amount": 20, "venue": "evm_venue"}
    refused = who.ask("POST", "trade", json=body)
    assert refused.status_code in {200, 403}
    assert not refused.json().get("success")
    assert "claim" in refused.json()["fix"]
    scene.desk("POST", f"agents/{who.agent_id}/claim")
    who.ok("POST", "settings", json={"sdk_real_trading_enabled": True})
    assert who.trade(market_id, "yes", 20, venue="evm_venue")["success"]


@row(AGENTS, "item 5")
@row("Agent (fields known)", "claim_url")
def a_lost_link_is_found_again(scene: Scene) -> None:
    scene.wait(61)
    born = scene.nobody().ok("POST", "agents/register", json={"name": "forgetful"})
    who = Caller(scene.service.url, born["api_key"])
    assert who.get("context")["claim_url"] == born["claim_url"]


WALLETS: Final = "Wallet types"


@row(WALLETS, "bullet 3")
def nothing_withdraws(scene: Scene) -> None:
    assert not [path for path in scene.document()["paths"] if "withdraw" in path]


@row("Plans", "Free", "Pro", "Elite")
def a_plan(scene: Scene, name: str) -> None:
    who = scene.stranger(plan=name.lower())
    assert who.get("agents/me")["rate_limits"]["tier"] == name.lower()


@row("Fees", "text 1")
def no_fee_of_the_services_own(scene: Scene) -> None:
    bought = scene.me.trade(scene.market(), "yes", 25)
    assert (bought["cost"], bought["fee_rate_bps"]) == (25, 0)
    real = scene.stranger(claimed=True, real=True)
    said = real.trade(scene.market("evm_venue"), "yes", 20, venue="evm_venue")
    assert said["fee_rate_bps"] >= 0
    assert said["success"]


# -- Resolution ------------------------------------------------------------------------------

RESOLUTION: Final = "Market resolution semantics"


@row(RESOLUTION, "bullet 1", "bullet 2", "bullet 3", "bullet 4")
@row("Market (fields known)", "status", "resolves_at", "resolved_at", "outcome")
def a_market_on_its_way_to_an_outcome(scene: Scene) -> None:
    market = scene.soonest()

    def seen() -> Json:
        return scene.me.get(f"markets/{market.market_id}")["market"]

    first = seen()
    assert (first["status"], first["resolved_at"], first["outcome"]) == ("active", None, None)
    scene.pass_to(market.listing.resolves_at + 0.5)
    between = seen()
    assert (between["status"], between["resolved_at"], between["outcome"]) == ("closed", None, None)
    scene.pass_to(market.listing.resolved_at)
    last = seen()
    assert last["status"] == "resolved"
    assert last["outcome"] is market.listing.outcome
    assert moment(last["resolved_at"]) > moment(last["resolves_at"]) == moment(first["resolves_at"])


@row(RESOLUTION, "bullet 5")
def the_gap_varies(scene: Scene) -> None:
    gaps = {
        one.listing.category: one.listing.resolved_at - one.listing.resolves_at
        for one in scene.service.stage.open_markets()
    }
    assert len({round(gap) for gap in gaps.values()}) > 2


OTHER: Final = "Other behaviour"


@row(OTHER, "bullet 1")
def reported_pnl_is_of_the_last_quarter_of_an_hour(scene: Scene) -> None:
    who = scene.stranger(claimed=True, real=True)

    def reported() -> Json:
        return who.get("portfolio")["polymarket" if "polymarket" in who.get("portfolio") else EVM]

    first = reported()
    who.trade(scene.market("evm_venue"), "yes", 50, venue="evm_venue")
    scene.wait(60)
    assert reported()["pnl"] == first["pnl"]
    assert reported()["pnl_as_of"] == first["pnl_as_of"]
    scene.wait(900)
    assert reported()["pnl_as_of"] != first["pnl_as_of"]
    sim = who.get("positions")["pnl_summary"]["sim"]
    assert sim["total"] == sim["realized"] + sim["unrealized"]


EVM: Final = "evm_venue"
silent("a warning to people, which no program can keep", OTHER, "bullet 2")


@row(OTHER, "bullet 3")
@row("Limits", "Minimum order")
def five_shares_at_least(scene: Scene) -> None:
    who = scene.stranger(claimed=True, real=True)
    tiny = who.trade(scene.market(EVM), "yes", 0.5, venue=EVM)
    assert not tiny["success"]
    assert tiny["fix"]
    assert who.trade(scene.market(), "yes", 0.5)["success"]


@row(OTHER, "bullet 4")
def skills_call_the_client_library(scene: Scene) -> None:
    with ServiceClient(scene.me.key, scene.me.url) as client:
        assert client.get_agent().agent_id == scene.me.agent_id


@row(OTHER, "bullet 4")
def a_skill_is_a_package_that_a_registry_lists(scene: Scene) -> None:
    own = scene.service.stage.sim.service.skill_folders[0]
    source = new_skill(f"idea-{scene.count}", own.parent / "drafts")
    made = install(source, own)
    listed = {one["id"]: one for one in scene.nobody().get("skills")["skills"]}
    assert listed[made.slug]["content_hash"] == made.content_hash
    assert (own / made.slug / "SKILL.md").read_text().startswith("---\nname: ")
    for path in (*BUNDLED.iterdir(), own / made.slug):
        script = entry_script(path).read_text()
        imports = re.search(r"from service_tui import .*\bServiceClient\b", script)
        assert path.name == "misbehaving" or imports
        assert path.name in listed


# -- Fields ----------------------------------------------------------------------------------

SETTINGS: Final = "Settings (response of `GET /api/sdk/settings`)"
SETTINGS_FIELDS: Final[dict[str, tuple[str, object]]] = {
    "sdk_real_trading_enabled": ("boolean", False),
    "wallet_address": ("string or null", ...),
    "wallet_ownership": ("string", "native"),
    "has_legacy_wallet": ("boolean", False),
    "polymarket_usdc_balance": ("number or null", ...),
    "polymarket_allowances_set": ("boolean", ...),
    "sdk_max_trade_amount": ("number", 100),
    "sdk_daily_limit": ("number", 500),
    "sdk_daily_spent": ("number", 0),
    # The model's default is true; the service answers it explicitly (wire reference, section 0).
    "trading_paused": ("boolean", False),
    "solana_wallet_address": ("string or null", ...),
    "kalshi_usdc_balance": ("number or null", ...),
    "last_sdk_version": ("string or null", ...),
    "last_sdk_version_seen_at": ("string or null", ...),
}


@row(SETTINGS, *SETTINGS_FIELDS, "text 1")
def a_field_of_the_settings(scene: Scene, name: str) -> None:
    said = scene.me.get("settings") if scene.count else scene.stranger().get("settings")
    if name == "text 1":
        assert {"polymarket_usdc_balance", "kalshi_usdc_balance"} <= said.keys()
        assert "polymarket_allowances_set" in said
        return
    types, default = SETTINGS_FIELDS[name]
    assert has_type(said[name], types), said
    if default is not ...:
        fresh = scene.stranger().get("settings") if name.startswith("sdk") else said
        assert fresh[name] == default


AGENT: Final = "Agent (fields known)"


@row(AGENT, "auto_redeem_enabled")
def redemption_is_automatic_by_default(scene: Scene) -> None:
    assert scene.stranger().get("agents/me")["auto_redeem_enabled"] is True


TRADE: Final = "Trade (fields known)"


@row(TRADE, "fee_rate_bps")
def fees_are_said(scene: Scene) -> None:
    assert has_type(scene.me.trade(scene.market(), "no", 5)["fee_rate_bps"], "number")


@row(TRADE, "status", "shares")
@row("Trade status", "submitted", "filled")
def submitted_then_filled(scene: Scene) -> None:
    who = scene.stranger(claimed=True, real=True)
    market_id = scene.market(EVM)
    bid = who.get(f"markets/{market_id}")["market"]["best_bid"]
    resting = who.trade(market_id, "yes", 20, venue=EVM, order_type="GTC", price=bid)
    assert (resting["status"], resting["shares"]) == ("submitted", 0), resting
    filled = who.trade(scene.market(EVM), "no", 10, venue=EVM)
    assert filled["status"] == "filled"
    assert filled["shares"] > 0


@row(TRADE, "signal_data", "text 1")
def what_a_trade_is_told(scene: Scene) -> None:
    market_id, notes = scene.market(), {"edge": 0.1, "n": 3, "signal_source": "news"}
    said = scene.me.trade(
        market_id,
        "no",
        12,
        venue="sim",
        reasoning="because it rains",
        signal_data=notes,
        skill_slug="my-skill",
    )
    found = next(
        one for one in scene.me.get("trades")["trades"] if one["trade_id"] == said["trade_id"]
    )
    assert (found["market_id"], found["side"], found["cost"]) == (market_id, "no", 12)
    assert (found["reasoning"], found["skill_slug"]) == ("because it rains", "my-skill")
    assert found["signal_data"] == notes
    for nested in ({"a": {"b": 1}}, {"a": [1]}, {"a": None}, {"a": True}):
        body = {"market_id": market_id, "side": "yes", "amount": 1, "signal_data": nested}
        assert scene.me.ask("POST", "trade", json=body).status_code == 422
    assert scene.me.trade(scene.market(), "yes", 1)["success"]


SIGNAL: Final = "signal_data (optional, flat dict; values must be strings or numbers; no nesting)"
NOTES: Final[dict[str, object]] = {
    "edge": -0.25,
    "confidence": 0.5,
    "signal_source": "a model",
    "other keys": "anything",
}


@row(SIGNAL, *NOTES)
def a_note_of_a_trade(scene: Scene, name: str) -> None:
    said = scene.me.trade(scene.market(), "yes", 1, signal_data={name: NOTES[name]})
    newest = scene.me.get("trades")["trades"][0]
    assert newest["trade_id"] == said["trade_id"]
    assert newest["signal_data"] == {name: NOTES[name]}


@row(SIGNAL, "text 1")
def notes_are_private(scene: Scene) -> None:
    secret = f"secret-{time.monotonic_ns()}"
    market_id = scene.market()
    said = scene.me.trade(market_id, "yes", 5, signal_data={"signal_source": secret})
    assert said["success"]
    other = scene.stranger()
    for path in ("trades", "positions", "briefing", f"markets/{market_id}", "context"):
        assert secret not in other.ask("GET", path).text
    assert secret not in scene.me.ask("POST", "trade", json={}).text
    tape = scene.desk("GET", f"markets/{market_id}/tape")
    assert secret not in str(tape)
    # Nothing of them is needed to trade.
    assert scene.me.trade(scene.market(), "yes", 1)["success"]


RISK: Final = "Risk monitor settings (per position and defaults)"
RISK_DEFAULTS: Final[dict[str, tuple[str, object]]] = {
    "stop_loss_pct": ("default_stop_loss_pct", 0.20),
    "take_profit_pct": ("default_take_profit_pct", None),
    "auto_risk_monitor_enabled": ("auto_risk_monitor_enabled", True),
}


def a_risk_default(scene: Scene, name: str) -> None:
    field, default = RISK_DEFAULTS[name]
    assert scene.stranger().get("user/settings")[field] == default


TOOLS: Final = "Autoresearch experiment tool parameters"
silent(LABEL, TOOLS, "text 1", "text 2", "text 3", "text 4")
REDEMPTION: Final = "Redemption objects"
silent(NOT_SHOWN, REDEMPTION, "text 1")


@row(REDEMPTION, "bullet 2")
def the_briefing_counts_what_can_be_redeemed(scene: Scene) -> None:
    said = scene.me.get("briefing")
    assert has_type(said[EVM]["redeemable_count"], "number")
    assert has_type(said[EVM]["actions"], "array")
    assert has_type(said["actions"], "array")


# -- States ----------------------------------------------------------------------------------

LIFECYCLE: Final = "Position lifecycle (real-money venues)"
WON: Final = "Ready to Redeem"


def positions_of(who: Caller, market_id: str, status: str = "all") -> list[Json]:
    rows = who.get("positions", venue=EVM, status=status)["positions"]
    return [one for one in rows if one["market_id"] == market_id]


@row(LIFECYCLE, "Active", "Awaiting Settlement", "text 1")
@row("Events", "Redeem prompt")
def a_position_until_it_can_be_redeemed(scene: Scene) -> None:
    who = scene.stranger(claimed=True, real=True)
    who.ok("PATCH", "agents/me/settings", json={"auto_redeem_enabled": False})
    market = scene.soonest(EVM)
    won = "yes" if market.listing.outcome else "no"
    assert who.trade(market.market_id, won, 30, venue=EVM)["success"]
    assert [one["lifecycle"] for one in positions_of(who, market.market_id)] == ["active"]
    assert who.get("briefing")[EVM]["redeemable_count"] == 0
    scene.pass_to(market.listing.resolves_at + 0.5)
    waiting = positions_of(who, market.market_id)
    assert [one["lifecycle"] for one in waiting] == ["awaiting_settlement"]
    scene.pass_to(market.listing.resolved_at)
    ready = positions_of(who, market.market_id)
    assert [one["lifecycle"] for one in ready] == ["ready_to_redeem"]
    assert ready[0]["redeemable"]
    assert ready[0]["redeemable_side"] == won
    said = who.get("briefing")
    assert said[EVM]["redeemable_count"] == 1
    assert said["actions"]


silent(NOT_SHOWN, "Trade status", "text 1")

# -- Endpoints -------------------------------------------------------------------------------

ENDPOINTS: Final = "Endpoints"
silent(NOT_SHOWN, ENDPOINTS, "text 2")


@row(ENDPOINTS, "text 1")
def bodies_are_json(scene: Scene) -> None:
    form = scene.me.ask("POST", "trade", data={"market_id": "m"})
    assert form.status_code == 415
    assert form.json()["fix"]
    for path in ("settings", "agents/me", "briefing", "positions"):
        assert scene.me.ask("GET", path).headers["content-type"] == "application/json"


@row(ENDPOINTS, "GET /api/sdk/context", "GET /api/sdk/agents/me", "GET /api/sdk/settings")
def reading_needs_a_key(scene: Scene, name: str) -> None:
    path = name.split()[1]
    assert scene.nobody().ask("GET", path).status_code == 401
    wanted = {"context": "claim_url", "me": "auto_redeem_enabled"}
    assert wanted.get(path.split("/")[-1], "sdk_daily_limit") in scene.me.get(path)


@row(ENDPOINTS, "PATCH /api/sdk/agents/me/settings")
def switch_automatic_redemption(scene: Scene) -> None:
    who = scene.stranger()
    for wanted in (False, True):
        who.ok("PATCH", "agents/me/settings", json={"auto_redeem_enabled": wanted})
        assert who.get("agents/me")["auto_redeem_enabled"] is wanted
    wrong = who.ask("PATCH", "agents/me/settings", json={"auto_redeem_enabled": "no"})
    assert wrong.status_code == 422


@row(ENDPOINTS, "POST /api/sdk/settings")
def limits_are_set(scene: Scene) -> None:
    who = scene.stranger()
    who.ok("POST", "settings", json={"sdk_daily_limit": 70, "max_trades_per_day": 7})
    assert who.get("settings")["sdk_daily_limit"] == 70
    assert who.get("user/settings")["max_trades_per_day"] == 7


@row(ENDPOINTS, "PATCH /api/sdk/user/settings")
def defaults_are_set(scene: Scene) -> None:
    wanted = {
        "default_stop_loss_pct": 0.3,
        "default_take_profit_pct": 0.5,
        "auto_risk_monitor_enabled": False,
        "max_trades_per_day": 9,
    }
    born = scene.stranger()
    with ServiceClient(born.key, born.url) as client:
        client.update_settings(**wanted)
    said = born.get("user/settings")
    assert {name: said[name] for name in wanted} == wanted


@row(ENDPOINTS, "POST /api/sdk/troubleshoot")
def advice(scene: Scene) -> None:
    said = scene.me.ok(
        "POST", "troubleshoot", json={"error_text": "not enough balance / allowance"}
    )
    assert said["matched"] is True
    assert len(said["fix"]) > 20


@row(ENDPOINTS, "GET /api/sdk/positions")
def what_is_held(scene: Scene) -> None:
    market_id = scene.market()
    bought = scene.me.trade(market_id, "yes", 10)
    rows = {one["market_id"]: one for one in scene.me.get("positions")["positions"]}
    assert rows[market_id]["shares_yes"] == bought["shares_bought"]


@row(ENDPOINTS, "GET /api/sdk/outcomes")
def what_the_trades_came_to(scene: Scene) -> None:
    who = scene.stranger()
    market = scene.soonest()
    won = "yes" if market.listing.outcome else "no"
    assert who.trade(market.market_id, won, 10, skill_slug="mine")["success"]
    scene.pass_to(market.listing.resolved_at)
    said = who.get("outcomes", skill="mine")
    assert said["trades"] == 1
    assert said["wins"] == 1
    assert said["losses"] == 0
    assert said["pnl"] > 0


# -- Authentication --------------------------------------------------------------------------

AUTH: Final = "Authentication"


@row(AUTH, "item 2", "text 1", "text 2")
def a_key_in_either_header(scene: Scene) -> None:
    nobody, key = scene.nobody(), scene.me.key
    for headers in ({"Authorization": f"Bearer {key}"}, {"X-API-Key": key}):
        assert nobody.ask("GET", "agents/me", headers=headers).status_code == 200
    for path, calls in scene.document()["paths"].items():
        for method, call in calls.items():
            if call["security"] == [{"bearer": []}, {"header": []}] and method == "get":
                where = path.replace("{market_id}", "m").replace("{order_id}", "o")
                assert nobody.ask("GET", where).status_code == 401, path


@row(AUTH, "item 3")
def a_key_that_is_not_as_given(scene: Scene) -> None:
    key = scene.me.key
    wrong: list[Json] = [
        {"Authorization": f"Bearer {key} "},
        {"Authorization": f"Bearer  {key}"},
        {"Authorization": f"Bearer {key}\t"},
        {"Authorization": key},
        {"Authorization": f"bearer{key}"},
        {"X-API-Key": f"{key[:9]} {key[9:]}"},
        {"Authorization": f"Bearer {key}x"},
        {},
    ]
    for headers in wrong:
        # httpx trims what a socket would carry: this goes through the app itself.
        status, said = raw_call(scene, "/api/sdk/agents/me", headers)
        assert status == 401, headers
        assert said["fix"]


def raw_call(scene: Scene, path: str, headers: Json) -> tuple[int, Json]:
    """One GET handed to the app with headers exactly as they are."""
    import json  # noqa: PLC0415

    said: list[Any] = []

    async def call() -> None:
        pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [(b"host", b"127.0.0.1"), *pairs],
            "client": ("127.0.0.1", 50_000),
            "server": ("127.0.0.1", 80),
        }

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            said.append(message)

        await scene.service.stage.sim.app(scope, receive, send)

    scene.service.run(call())
    body = b"".join(message.get("body", b"") for message in said)
    return said[0]["status"], json.loads(body)


@row(AUTH, "item 4")
def a_shown_key_is_replaced(scene: Scene) -> None:
    who = scene.stranger()
    renewed = scene.desk("POST", f"agents/{who.agent_id}/key")["api_key"]
    assert who.ask("GET", "agents/me").status_code == 401
    assert Caller(who.url, renewed).get("agents/me")["agent_id"] == who.agent_id


silent(NOT_SHOWN, AUTH, "item 9")

# -- Events ----------------------------------------------------------------------------------

EVENTS: Final = "Events"


@row(EVENTS, "text 1")
def agents_pull(scene: Scene) -> None:
    for path, calls in scene.document()["paths"].items():
        if path.startswith("/api/sdk/"):
            assert "event-stream" not in str(calls)
    # An agent that registers no webhook is sent nothing.
    assert scene.stranger().get("webhooks") == {"webhooks": [], "count": 0}


silent("planned, not there", EVENTS, "text 2")
silent(NOT_SHOWN, EVENTS, "text 3")

# -- Errors ----------------------------------------------------------------------------------

ERRORS: Final = "Errors"


@row(ERRORS, "401")
def no_key(scene: Scene) -> None:
    refused = scene.nobody().ask("GET", "agents/me")
    assert refused.status_code == 401
    assert "Bearer" in refused.json()["fix"]
    elsewhere = scene.me.ask("GET", "agents/me", headers={"Host": "elsewhere.example"})
    assert elsewhere.status_code in {401, 403}


@row(ERRORS, "404, 405")
@row("Versioning", "bullet 3")
def a_wrong_path(scene: Scene) -> None:
    wrong = scene.me.ask("GET", "agent")
    assert wrong.status_code == 404
    assert "/api/sdk/agents/me" in wrong.json()["fix"]
    method = scene.me.ask("DELETE", "agents/me")
    assert method.status_code == 405
    assert "GET" in method.json()["fix"]
    assert method.headers["allow"]


@row(ERRORS, "422")
def a_wrong_body(scene: Scene) -> None:
    refused = scene.me.ask("POST", "trade", json={"market_id": "m", "side": "maybe"})
    assert refused.status_code == 422
    for item in refused.json()["detail"]:
        assert item.keys() >= {"loc", "msg", "type"}
        assert item.keys() <= {"loc", "msg", "type", "input", "ctx"}
        assert item["loc"][0] == "body"
        assert isinstance(item["msg"], str)


@row(ERRORS, "429")
def too_many_calls(scene: Scene) -> None:
    who = scene.stranger(plan="free")
    answers = [who.ask("GET", "portfolio") for _ in range(7)]
    assert [one.status_code for one in answers] == [200] * 6 + [429]
    said = answers[-1].json()
    assert said["limit"] == 6
    assert said["x402_url"].endswith("/api/sdk/portfolio")
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert said["fix"]


@row(ERRORS, "other 4xx")
def every_no_says_what_to_do(scene: Scene) -> None:
    calls: list[tuple[str, str, Json]] = [
        ("GET", "markets/no-such-market", {}),
        ("POST", "trade", {"json": {"market_id": "no-such", "side": "yes", "amount": 5}}),
        ("POST", "trade", {"content": b"{", "headers": {"content-type": "application/json"}}),
        ("POST", "trade", {"content": b"x" * 300_000, "headers": {"content-type": "text/plain"}}),
        ("GET", "positions", {"params": {"venue": "moon"}}),
        ("GET", "agents/me", {"headers": {"Origin": "https://elsewhere.example"}}),
        ("DELETE", "orders/no-such-order", {}),
    ]
    for method, path, sent in calls:
        refused = scene.me.ask(method, path, **sent)
        assert 400 <= refused.status_code < 500, (method, path, refused.status_code)
        assert refused.json()["fix"], (method, path)


silent(LABEL, ERRORS, "text 1")
silent(NOT_SHOWN, ERRORS, "text 3")


# -- Limits ----------------------------------------------------------------------------------

LIMITS: Final = "Limits"


@row(LIMITS, "Trades per minute")
def trades_a_minute(scene: Scene) -> None:
    for plan, allowed in (("free", 60), ("pro", 180), ("elite", 600)):
        who = scene.stranger(plan=plan)
        rates = who.get("agents/me")["rate_limits"]["endpoints"]
        assert rates["/api/sdk/trade"]["requests_per_minute"] == allowed
    who = scene.stranger(plan="free")
    body = {"market_id": "no-such-market", "side": "yes", "amount": 1}
    statuses = [who.ask("POST", "trade", json=body).status_code for _ in range(61)]
    assert statuses == [404] * 60 + [429]


@row(LIMITS, "Trades per day (default safety rail)")
def trades_a_day(scene: Scene) -> None:
    for plan, allowed in (("free", 50), ("pro", 500), ("elite", None)):
        said = scene.stranger(plan=plan).get("user/settings")
        assert said["max_trades_per_day"] == allowed
    who = scene.stranger()
    who.ok("PATCH", "user/settings", json={"max_trades_per_day": 1})
    market_id = scene.market()
    bought = who.trade(market_id, "yes", 5)
    assert bought["success"]
    assert not who.trade(scene.market(), "yes", 5)["success"]
    sold = who.trade(market_id, "yes", shares=bought["shares_bought"], action="sell")
    assert sold["success"]


@row(LIMITS, "Agents per account")
def agents_an_account(scene: Scene) -> None:
    for plan, allowed in (("pro", 10), ("elite", 20)):
        scene.desk("PATCH", "account", json={"plan": plan})
        assert scene.desk("GET", "account")["agents_max"] == allowed


@row(LIMITS, "Market imports per day")
def imports_a_day(scene: Scene) -> None:
    for plan, allowed in (("pro", 100), ("elite", 250)):
        who = scene.stranger(plan=plan, claimed=True)
        url = who.get("markets/importable", limit=1)["markets"][0]["url"]
        taken = who.ask("POST", "markets/import", json={"polymarket_url": url})
        assert taken.status_code == 200, taken.text
        assert int(taken.headers["x-imports-limit"]) == allowed


@row(LIMITS, "Extras")
def atomic_batches_are_for_elite(scene: Scene) -> None:
    legs = [{"market_id": scene.market(), "side": "yes", "amount": 5} for _ in range(2)]
    legs.append({"market_id": "no-such-market", "side": "yes", "amount": 5})
    body = {"trades": legs, "atomic": True}
    assert scene.stranger(plan="pro").ask("POST", "trades/batch", json=body).status_code == 403
    who = scene.stranger()
    said = who.ok("POST", "trades/batch", json=body)
    assert not said["success"]
    assert who.get("agents/me")["balance"] == 10_000
    good = who.ok("POST", "trades/batch", json={"trades": legs[:2], "atomic": True})
    assert good["success"]
    assert good["total_cost"] == 10


@row(LIMITS, "Extras")
def elite_has_atomic_batches_and_results_by_skill(scene: Scene) -> None:
    who = scene.stranger()
    legs = [{"market_id": scene.market(), "side": "yes", "amount": 5} for _ in range(2)]
    batch = {"trades": legs, "atomic": True, "max_slippage": 0.5}
    assert who.ok("POST", "trades/batch", json=batch)["success"]
    order = {"market_id": scene.market(), "side": "yes", "amount": 5, "skill_slug": "gauge"}
    assert who.ok("POST", "trade", json=order)["success"]
    of_skill = who.get("outcomes", skill="gauge")
    assert of_skill["skill"] == "gauge"
    assert {"trades", "pnl", "wins", "losses"} <= set(of_skill)


@row(LIMITS, "Per-skill daily budget")
def a_skill_spends_twenty_a_day_where_nobody_has_set_more(_: Scene) -> None:
    assert budget_variable("fastloop") == "SERVICE_FASTLOOP_DAILY_BUDGET_USD"
    assert DAILY_BUDGET_USD == 20
    for path in BUNDLED.iterdir():
        script = entry_script(path).read_text()
        assert path.name == "misbehaving" or "run_skill(SLUG, ideas" in script


@row(LIMITS, "Daily spending limit default", "text 1")
def the_day_begins_at_midnight(scene: Scene) -> None:
    who = scene.stranger(claimed=True, real=True)
    assert who.get("settings")["sdk_daily_limit"] == 500
    who.ok("POST", "settings", json={"sdk_daily_limit": 30})
    assert who.trade(scene.market(EVM), "yes", 25, venue=EVM)["success"]
    # Shares of an order book are whole quanta: a hair of the amount may be left.
    assert 24.9 < who.get("settings")["sdk_daily_spent"] <= 25
    assert who.get("user/settings")["trades_today"] == 1
    refused = who.trade(scene.market(EVM), "yes", 25, venue=EVM)
    assert not refused["success"]
    now = scene.service.stage.clock.now()
    scene.wait(86_400 - now % 86_400 + 1)
    assert who.get("settings")["sdk_daily_spent"] == 0
    assert who.get("user/settings")["trades_today"] == 0
    assert who.trade(scene.market(EVM), "yes", 25, venue=EVM)["success"]


@row(LIMITS, "Max trade amount default")
def a_trade_has_a_most(scene: Scene) -> None:
    who = scene.stranger(claimed=True, real=True)
    assert who.get("settings")["sdk_max_trade_amount"] == 100
    refused = who.trade(scene.market(EVM), "yes", 100.5, venue=EVM)
    assert not refused["success"]
    assert refused["fix"]


@row(LIMITS, "Pay-per-call after 429")
def the_price_of_one_more_call(scene: Scene) -> None:
    who = scene.stranger(plan="free")
    said = [who.ask("GET", "portfolio") for _ in range(7)][-1].json()
    assert said["x402_price"] == "$0.005"


silent(NOT_SHOWN, LIMITS, "text 2")

# -- Versioning ------------------------------------------------------------------------------

VERSIONING: Final = "Versioning"


@row(VERSIONING, "bullet 1")
def old_libraries_are_told(scene: Scene) -> None:
    for version, status in (("0.9.16", "deprecated"), ("0.9.20", "deprecated"), ("0.9.21", "ok")):
        assert scene.me.get("version-check", sdk_version=version)["status"] == status


@row(VERSIONING, "bullet 2")
def the_library_that_called_last(scene: Scene) -> None:
    agent = {"User-Agent": "service-sdk/0.26.0 (python/3.11; runtime/unknown)"}
    scene.me.ok("GET", "positions", headers=agent)
    said = scene.me.get("settings")
    assert said["last_sdk_version"] == "0.26.0"
    moment(said["last_sdk_version_seen_at"])


@row(VERSIONING, "bullet 5")
def no_version_in_a_path(scene: Scene) -> None:
    paths = [path for path in scene.document()["paths"] if "/api/sdk" in path]
    assert len(paths) > 15
    assert not [path for path in paths if "/v1" in path or "/v2" in path]


silent(NOT_SHOWN, VERSIONING, "bullet 6")
