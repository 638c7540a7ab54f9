"""Known errors and what to do about them: one table, read from top to bottom.

The first row whose words stand in the text counts, so what is special stands before what is
general.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from service_tui.engine.errors import Refusal
from service_tui.terms import ORDER_SHARES_MIN, SIM_TRADE_MAX

_CODE: Final = re.compile(r"\b[A-Z]{2,}(?:_[A-Z]+)*\b")
"""Codes of refusals as they are in answers."""


class Advice(NamedTuple):
    """What to do about one error, and where it is written."""

    words: re.Pattern[str]
    fix: str
    source: str


def _row(words: str, fix: str, source: str) -> Advice:
    return Advice(re.compile(words, re.IGNORECASE), fix, source)


TABLE: Final = (
    # -- redemption --
    _row(
        r"on.?chain (token )?balance is 0|already.redeemed",
        "The position was redeemed before; the service marks it as claimed by itself. "
        "Nothing is left to do.",
        "Errors: redemption",
    ),
    _row(
        r"not (yet )?finali[sz]ed|not_?finali[sz]ed|order.?book is closing",
        "The oracle has answered but the venue is still closing its book. Try again after 10 to "
        "30 minutes.",
        "Errors: redemption",
    ),
    _row(
        r"position (has )?lost|losing side",
        "The losing side pays nothing and cannot be redeemed. Leave it.",
        "Errors: redemption",
    ),
    _row(
        r"confirmation.time.?out|not confirmed (with)?in",
        "The transaction was broadcast and will most likely confirm. Look its hash up before "
        "anything else; do not send a second one.",
        "Errors: redemption",
    ),
    # -- claiming, plans, standing --
    _row(
        r"must be claimed|not.claimed|not verified|unclaimed",
        "Give the claim_url to your operator; GET /api/sdk/context repeats it. Until the agent is "
        "claimed it trades on venue sim only.",
        "Agents and claiming",
    ),
    _row(
        r"agent_?(is_?)?suspended|agent is suspended",
        "The operator suspended this agent. Ask the operator.",
        "Agents and claiming",
    ),
    _row(
        r"agent_?broke|is broke\b",
        "The balance is 0 and nothing is held. Register a new agent.",
        "Agents and claiming",
    ),
    _row(
        r"trading.(is.)?halted|entries of every agent",
        "The operator halted buys of every agent; selling stays possible. Wait until trading is "
        "resumed.",
        "Settings",
    ),
    _row(
        r"trading.(is.)?paused",
        "Buys are paused; selling stays possible. Send trading_paused false to "
        "PATCH /api/sdk/user/settings; only the operator lifts the operator's pause.",
        "Settings",
    ),
    _row(
        r"kyc.?required",
        "The venue wants its account holder verified. Do that at the venue, then trade again.",
        "Venues",
    ),
    # -- reactor, autoresearch --
    _row(
        r"circuit.?breaker|reactor.(is.)?paused",
        "Five failures in a row pause the reactor for an hour; the operator can reset it sooner. "
        "Look at the newest reactions for the cause.",
        "Reactor circuit breaker",
    ),
    _row(
        r"session.(is.)?paused|baseline crash|consecutive crashes",
        "Fix the skill, then call init_experiment with a new session name: that clears the pause.",
        "Autoresearch session",
    ),
    _row(
        r"experiment.?cap|maximum experiments|max_experiments",
        "The session has reached its number of experiments. "
        "Raise AUTORESEARCH_MAX_EXPERIMENTS (0 is unlimited), or "
        "begin a new session.",
        "Autoresearch session",
    ),
    _row(
        r"\b(needs?|requires?)\b.{0,20}\b(pro|elite)\b|pro.?only|plan.?required|upgrade to pro",
        "The reactor and autoresearch need the Pro plan. The operator chooses the plan in the "
        "console, or starts the service with --plan.",
        "Plans",
    ),
    # -- wallets and venues --
    _row(
        r"poly_?address",
        "poly_address must be the wallet that is linked to this account. Link it first, then sign "
        "the headers with its key.",
        "Derive-credentials request body",
    ),
    _row(
        r"wallet_private_key",
        "Set WALLET_PRIVATE_KEY to 64 hex digits in the agent's own environment. It is never sent "
        "to the service.",
        "Wallet types",
    ),
    _row(
        r"allowances?\b|not approved|activate trading",
        "The wallet has not allowed the venue to move its tokens, or holds too little USDC.e. "
        "Activate trading once (set_approvals), with a little POL for gas.",
        "Errors: orders",
    ),
    _row(
        r"restricted.wallet|wallet.{0,20}restricted",
        "The venue restricts this wallet. Link a new one: agent, key and history carry over.",
        "Wallet types",
    ),
    _row(
        r"native usdc|non.?bridged",
        "The EVM venue takes bridged USDC.e only. Swap native USDC to USDC.e before the deposit.",
        "Venues",
    ),
    _row(
        r"insufficient (funds for )?gas|out of gas|not enough (pol|gas)",
        "Send a little POL to the wallet for gas. A paused auto-redeem goes on by itself then.",
        "Auto-redeem pause",
    ),
    # -- orders --
    _row(
        r"insufficient.(balance|funds)|not enough balance",
        "Lower the amount, or sell something first. GET /api/sdk/portfolio shows the cash.",
        "Errors: orders",
    ),
    _row(
        r"insufficient.shares|position.{0,40}not found|no position",
        "Sell at most what is held, to five decimals. GET /api/sdk/positions shows it.",
        "Errors: orders",
    ),
    _row(
        r"order too small|below.?minimum|minimum (order|of 5)|at least 5 shares",
        f"Raise the amount. The EVM venue takes orders of {ORDER_SHARES_MIN} shares or more.",
        "Limits: minimum order",
    ),
    _row(
        r"daily.?(trade|trades|limit|spend)|daily_trades",
        "The day's limit is used up; it resets at midnight UTC. Raise max_trades_per_day with "
        "PATCH /api/sdk/user/settings, or sdk_daily_limit with POST /api/sdk/settings. "
        "Sales and redemptions are not counted.",
        "Limits",
    ),
    _row(
        r"trade.too.large|above the limit of|max.?trade",
        f"Lower the amount or split the order. sim takes {SIM_TRADE_MAX} a trade; for the real "
        "venues sdk_max_trade_amount counts (100 unless changed).",
        "Limits",
    ),
    _row(
        r"market.limit|in one market|max_position",
        "The position in this market is at its limit: sell some of it first, or raise "
        "max_position_usd.",
        "Limits",
    ),
    _row(
        r"price.beyond.limit|slippage|would reach|would fall to",
        "The book or the market maker would move too far. Lower the amount, loosen the price "
        "limit, or rest a GTC order.",
        "Errors: orders",
    ),
    _row(
        r"market.{0,30}not.found|unknown market",
        "List the markets again and take an id from there; a market of a real venue is imported "
        "first.",
        "Errors: 404",
    ),
    _row(
        r"market.(not.open|is closed|has resolved|is resolved)|not taking orders",
        "The market takes no orders any more. Choose one with status active.",
        "Market resolution",
    ),
    _row(
        r"rebuy skipped|conflicts? skipped",
        "The client holds this market already, from this source or another. Pass "
        "allow_rebuy=True where you mean it, and one source for each strategy.",
        "Client: rebuy guard",
    ),
    _row(
        r"preflight.?blocked|exposure.?cap",
        "The client's own check stopped the order. Look at EXPOSURE_CAP_USD and at the balance.",
        "Client: preflight",
    ),
    _row(
        r"signal_data",
        "signal_data is one flat object; its values are strings or finite numbers. Backtests need "
        "it on every trade (client library 0.9.17 or newer).",
        "signal_data",
    ),
    _row(
        r"import.{0,30}(limit|quota|per day)|imports.remaining",
        "The day's imports are used up; they reset at midnight UTC. What is imported already is "
        "free, and markets/check costs nothing.",
        "Limits",
    ),
    # -- the request itself --
    _row(
        r"\b429\b|rate.?limit|too many requests|x402",
        "Wait as long as Retry-After says, then ask less often; the limits count by key and "
        "minute. A payment address in the answer is an offer, not a duty.",
        "Errors: 429",
    ),
    _row(
        r"\b401\b|unauthori[sz]ed|invalid api key|invalid authorization|key is not known",
        "Send 'Authorization: Bearer <API_KEY>' with the key exactly as given: no blanks, no line "
        "break, to this host. An exposed key is replaced in the console.",
        "Errors: 401",
    ),
    _row(
        r"\b(404|405)\b|method not allowed|there is no /|/api/sdk/agent(/|\b(?!s))",
        "The path is wrong: it is /api/sdk/agents/me, not agent. Outdated clients send old paths; "
        "upgrading them helps. /openapi.json lists every path.",
        "Errors: 404, 405",
    ),
    _row(
        r"\b422\b|validation error|unprocessable|field required",
        "Read `detail`: each entry names the field (`loc`) and what is wrong with it (`msg`). "
        "Numbers are numbers, not texts.",
        "Errors: 422",
    ),
    _row(
        r"\b415\b|not json|content.type",
        "Send the body as JSON with Content-Type: application/json.",
        "Errors",
    ),
    _row(
        r"web pages|\borigin\b|loopback only|\bcors\b",
        "This service answers programs of its own machine only: use http://127.0.0.1 and its "
        "port, without an Origin header.",
        "Service: loopback",
    ),
    _row(
        r"insecure|plain http|valueerror.{0,60}http://",
        "http:// is for loopback only. Use https://, or set SERVICE_ALLOW_INSECURE_BASE_URL=1 "
        "where you mean it.",
        "Client: base address",
    ),
    _row(
        r"connection (refused|reset|error)|max retries|cannot be reached|name or service not known",
        "Nothing answers at that address. Check SERVICE_API_URL, and whether the service runs: "
        "GET /api/sdk/health needs no key.",
        "Service: health",
    ),
    _row(
        r"timed? ?out|outcome (is )?(not )?unknown|\b50[0234]\b",
        "The request may have been executed. Look at GET /api/sdk/trades and /api/sdk/positions "
        "before sending it again.",
        "Errors: no answer",
    ),
    _row(
        r"disk is full|nothing was traded",
        "The service cannot write. Free disk space, then try again; nothing was traded.",
        "Service: storage",
    ),
    _row(
        r"\b403\b|forbidden",
        "The agent may not do this: claim it for real venues, and choose the Pro plan for the "
        "reactor and autoresearch.",
        "Errors: 403",
    ),
)
"""Every error of the documents, and those of this service."""

UNKNOWN: Final = (
    "Unknown error. Read the `fix` of the answer that carried it; /openapi.json "
    "lists every path with its fields."
)


def advice_on(text: str) -> Advice | None:
    """What to do about a text: by the code of a refusal of ours, else the first row that fits."""
    codes = frozenset(_CODE.findall(text))
    named = next((kind for kind in _kinds(Refusal) if kind.code in codes), None)
    if named is not None:
        return Advice(_CODE, f"{named.fix[:1].upper()}{named.fix[1:]}.", f"Code {named.code}")
    return next((row for row in TABLE if row.words.search(text)), None)


def _kinds(kind: type[Refusal]) -> Iterator[type[Refusal]]:
    """Every refusal that an answer may carry: the leaves of the tree."""
    below = kind.__subclasses__()
    for one in below:
        yield from _kinds(one)
    if not below:
        yield kind
