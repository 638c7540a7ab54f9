"""Looks up skills' buys with a lost answer, if this desk holds the permissions.

As for the desk's own orders: nothing is ever sent again, it is searched for among the trades by a
reference that only the desk has put there.
"""

import logging
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlencode

from service_tui.client.api_keys import ApiKey
from service_tui.client.client import Client
from service_tui.client.passing import NotPassedError
from service_tui.client.reply import NotProtocolError, decode, is_object
from service_tui.clock import Clock
from service_tui.desk.agents.stored_leash import Unknown
from service_tui.desk.facts import Noticed
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.tickets import NO_TRACE, NOT_FOUND
from service_tui.desk.slices.trades import TradeView
from service_tui.desk.trading.lookup import (
    UNKNOWN_HORIZON_S,
    TradeSearch,
    look_through,
    surely_before,
)
from service_tui.desk.trading.translate import trade_view
from service_tui.terms import PendingStatus, TradeStatus
from service_tui.units import Micros, Timestamp, decimal
from service_tui.wire.endpoints.public import TRADES
from service_tui.wire.trades import (
    SIGNAL_BYTES_MAX,
    SIGNAL_KEYS_MAX,
    TradeRequest,
    TradesBody,
    TradesQuery,
)

log = logging.getLogger(__name__)

DESK_REF: Final = "desk_ref"
"""The private note of a trade by which the desk knows it; a skill's own notes stay as they are."""

_OK: Final = 200


class _NoAnswerError(Exception):
    """The trades could not be read; one plain sentence."""


@dataclass(frozen=True, slots=True)
class LookupEnd:
    """Result of looking up an unknown buy. `is_back`.

    Its money was surely not spent and is free again.

    `may_turn_up`: it was not found, and may be there all the same.
    """

    status: PendingStatus
    text: str
    trade_id: str = ""
    is_back: bool = False
    may_turn_up: bool = False


def marked(body: Mapping[str, object]) -> tuple[Mapping[str, object], str]:
    """An order with a reference of the desk's own among its notes, and that reference.

    Returns:
        The order as it came where its notes have no room, and the reference all the same.
    """
    ref = secrets.token_hex(16)
    notes = body.get("signal_data")
    given = dict(notes) if is_object(notes) else {}
    if notes is not None and not is_object(notes):
        return body, ref
    fresh = {**given, DESK_REF: ref}
    size = sum(len(name.encode()) + len(str(value).encode()) for name, value in fresh.items())
    if len(fresh) > SIGNAL_KEYS_MAX or size > SIGNAL_BYTES_MAX:
        return body, ref
    return {**body, "signal_data": fresh}, ref


def unknown_of(raw: bytes, ref: str, size: Micros, counted_at: Timestamp) -> Unknown:
    """Record of a buy that was sent; `raw` was decoded as an order before."""
    order = TradeRequest.model_validate_json(raw)
    return Unknown(
        ref=ref,
        market_id=order.market_id,
        side=order.side,
        venue=order.venue,
        size=size,
        counted_at=counted_at,
        is_marked=(order.signal_data or {}).get(DESK_REF) == ref,
    )


def is_overdue(buy: Unknown, now: Timestamp) -> bool:
    """True if the buy was searched for long enough."""
    return now - buy.counted_at > UNKNOWN_HORIZON_S


def due(unknown: Iterable[Unknown], now: Timestamp, *, with_old: bool) -> list[Unknown]:
    """Buys to look up now; `with_old` includes those past their horizon."""
    return [one for one in unknown if with_old or not is_overdue(one, now)]


async def look_up(
    unknown: Sequence[Unknown], client: Client, key: ApiKey, clock: Clock
) -> dict[str, LookupEnd]:
    """Results of unknown buys that the trades of their agent prove.

    Args:
        unknown: at least one, all of the same agent.
        client: passes the question on.
        key: of that agent.
        clock: wall time, and a bound on the search.

    Returns:
        The end of each that has one, by its reference; the others are looked for again.
    """

    async def read_page(query: TradesQuery) -> tuple[list[TradeView], int]:
        return await _page(query, client, key)

    first_at = min(one.counted_at for one in unknown)
    before = surely_before(first_at, client.skew_s)
    wanted = frozenset(one.ref for one in unknown)
    now, doubt = clock.now(), ""
    try:
        look = await look_through(wanted, lambda: before, read_page, clock.monotonic)
    except _NoAnswerError as error:
        log.info("cannot resolve a skill's buys: %s", error)
        look, doubt = TradeSearch(wanted), f"its trades cannot be read: {error}"
    ends = {
        one.ref: _end_of(one, look, doubt or _doubt_of(one, look, before), now) for one in unknown
    }
    return {ref: end for ref, end in ends.items() if end is not None}


async def _page(query: TradesQuery, client: Client, key: ApiKey) -> tuple[list[TradeView], int]:
    """A page of the agent's trades, known by the desk's own reference alone."""
    parameters = query.model_dump(mode="json", exclude_none=True)
    texts = {name: str(value).lower() for name, value in parameters.items()}
    target = f"{TRADES.path}?{urlencode(texts)}"
    try:
        passed = await client.pass_on(key, (TRADES.method, target, b""))
        if passed.status != _OK:
            raise _NoAnswerError(f"the service responded {passed.status}")
        body, dropped = decode(TradesBody, passed.body)
    except (NotPassedError, NotProtocolError) as error:
        raise _NoAnswerError(str(error)) from None
    views = [trade_view(row) for row in body.trades]
    return [
        replace(one, client_ref=dict(one.signal_data).get(DESK_REF, "")) for one in views
    ], dropped


def _doubt_of(buy: Unknown, look: TradeSearch, before: Timestamp) -> str:
    """Reason why a buy that was not found may still exist; empty if it surely does not."""
    if not buy.is_marked:
        return look.doubt or "it has no reference"
    terms = (buy.market_id, buy.side, buy.venue, "buy")
    alike = any(
        (trade.market_id, trade.side, trade.venue, trade.action) == terms and trade.at >= before
        for trade in look.unsigned
    )
    return look.doubt or ("a similar trade without a reference exists" if alike else "")


def _end_of(buy: Unknown, look: TradeSearch, doubt: str, now: Timestamp) -> LookupEnd | None:
    trade = look.found.get(buy.ref)
    if trade is not None and not (trade.status is TradeStatus.UNCONFIRMED and not trade.shares):
        return _end_of_trade(trade)
    if not is_overdue(buy, now):
        return None
    if trade is not None:
        doubt = "listed by the service, not confirmed"
    if doubt:
        text = f"{NOT_FOUND}: {doubt}; counted as spent"
        return LookupEnd(PendingStatus.UNKNOWN, text, may_turn_up=True)
    return LookupEnd(PendingStatus.FAILED, f"{NO_TRACE}: not counted as spent", is_back=True)


def end_notice(agent_name: str, buy: Unknown, end: LookupEnd) -> Noticed:
    """Notice about the end of an unknown buy."""
    text = f"{agent_name}: buy {buy.side.value.upper()} for {decimal(buy.size):,.2f}"
    tone = "good" if end.status is PendingStatus.APPROVED else "warn"
    return Noticed(tone, f"{text}: {end.text}", NoticeKind.APPROVAL)


def _end_of_trade(trade: TradeView) -> LookupEnd:
    """Result of a buy, read from the trade that was found for it."""
    if trade.status is TradeStatus.FAILED:
        return LookupEnd(
            PendingStatus.FAILED, "received, then failed", trade.trade_id, is_back=True
        )
    if trade.status is TradeStatus.CANCELLED and not trade.shares:
        text = "received, ended unfilled"
        return LookupEnd(PendingStatus.FAILED, text, trade.trade_id, is_back=True)
    if not trade.shares:
        return LookupEnd(PendingStatus.APPROVED, "no response; it is an open order", trade.trade_id)
    got = f"{decimal(trade.shares):,.2f} shares for {decimal(trade.cost):,.2f}"
    return LookupEnd(PendingStatus.APPROVED, f"no response, but it executed: {got}", trade.trade_id)
