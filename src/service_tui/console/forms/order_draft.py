"""Parsing of the order ticket: an order, or one sentence on the problem."""

import re
from dataclasses import dataclass, replace
from typing import Final

from service_tui.console.fields import (
    FieldError,
    amount_rule,
    is_off,
    parse_number,
    percent_text,
    write_number,
)
from service_tui.console.forms.limit_draft import limit_price_text, read_limit
from service_tui.console.forms.moment import read_moment
from service_tui.console.forms.monitor_draft import TypedThreshold, read_stop, read_target
from service_tui.console.forms.ticket_guards import (
    RISK_UNIT,
    is_risk,
    read_worst,
    risked_money,
    stop_of,
    takes_worst,
)
from service_tui.console.freshness import is_private
from service_tui.console.reasons import reason_text, sentence
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.reasons import Fix, Reason
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.orders import OpenOrderView, kept_by_sales
from service_tui.desk.state import DeskState
from service_tui.desk.trading.live_orders import token_shown
from service_tui.desk.trading.preflight import (
    buy_bounds,
    holding,
    life_text,
    preflight_any_size,
    preflight_size,
    typed_life_min_s,
    why_closed,
    without_replaced,
)
from service_tui.terms import (
    MONEY_DECIMALS,
    SHARE_DECIMALS,
    Action,
    OrderType,
    Side,
    Venue,
)
from service_tui.units import ONE, SHARE_QUANTUM, Micros, Timestamp, decimal

BUY_PRESETS: Final = (Micros(5 * ONE), Micros(25 * ONE), Micros(100 * ONE))
SELL_FRACTIONS: Final = ((1, 4), (1, 2), (3, 4), (1, 1))

_SECRET: Final = re.compile(r"(?:0x)?[0-9a-fA-F]{64}")
MONEY: Final = amount_rule(MONEY_DECIMALS)
SHARES: Final = amount_rule(SHARE_DECIMALS)
PERCENT: Final = amount_rule(2)
"""Rules of typed money, shares and per cent."""

SHARES_UNIT: Final = "sh"
"""Behind the size of a buy that is given in shares."""


@dataclass(frozen=True, slots=True)
class Draft:
    """The ticket's content at one moment. `rests`: a limit order at the typed `limit`.

    `amends` is the open order that it replaces. `whole`: a market order fills all or nothing.
    `until` is the typed expiry of a limit order, None for one without. `stop` and `target` are the
    typed thresholds that a buy sets when it fills, `worst` the typed price that a market buy may
    not be above.
    """

    market: MarketView
    side: Side
    action: Action
    amount: str
    reasoning: str = ""
    venue: Venue = Venue.SIM
    rests: bool = False
    limit: str = ""
    amends: OpenOrderView | None = None
    whole: bool = False
    until: str | None = None
    stop: str = ""
    target: str = ""
    worst: str = ""

    @property
    def order_type(self) -> OrderType:
        """The selected order type."""
        if self.rests:
            return OrderType.GTC if self.until is None else OrderType.GTD
        return OrderType.FOK if self.whole else OrderType.FAK


def holds_secret(text: str) -> bool:
    """True if the text contains what looks like a private key: 64 hex digits in a row."""
    return _SECRET.search(text) is not None


def typed(amount: Micros, *, decimals: int) -> str:
    """An amount as a person would type it, rounded down, without trailing zeros."""
    fixed = MONEY_DECIMALS if decimals == MONEY_DECIMALS else 0
    return write_number(amount, decimals, at_least=fixed)


def sellable(state: DeskState, market_id: str) -> tuple[Side, Venue] | None:
    """The first position of a market, on sim before the real venues; None without one."""
    positions = (
        (side, venue)
        for venue in Venue
        for side in Side
        if holding(state, market_id, side, venue) is not None
    )
    return next(positions, None)


def buy_max(state: DeskState, venue: Venue = Venue.SIM) -> Micros | None:
    """The most that a buy can spend now: cash, the limit per trade, the rest of the day's."""
    if state.account is None or state.limits is None:
        return None
    return max(Micros(0), min(bound for bound, _ in buy_bounds(state, venue)))


def presets(state: DeskState, draft: Draft) -> tuple[tuple[str, str], ...]:
    """Label and text of each preset: three amounts and the most, or parts of the position."""
    if draft.action is Action.BUY:
        most = buy_max(state, draft.venue)
        fixed = tuple((f"{decimal(m):.0f}", f"{decimal(m):.2f}") for m in BUY_PRESETS)
        return (*fixed, ("max", "" if most is None else typed(most, decimals=MONEY_DECIMALS)))
    position = holding(state, draft.market.market_id, draft.side, draft.venue)
    shares = position.shares if position is not None else Micros(0)
    return tuple(
        ("all" if part == of else f"{100 * part // of} %", _part_of(shares, part, of))
        for part, of in SELL_FRACTIONS
    )


def read_order(state: DeskState, draft: Draft, now: Timestamp) -> PlaceTrade:
    """Parse the order that the ticket would place now.

    Returns:
        The order; a sale of all but less than a quantum of the position sells everything.

    Raises:
        FieldError: it cannot be placed; the sentence gives the fix.
    """
    closed = why_closed(draft.market)
    if closed:
        raise FieldError(sentence(closed))
    order = _unsized(draft)
    # Real money is confirmed in a dialog of its own, once no other problem remains.
    _check(state, preflight_any_size(state, replace(order, confirmed=True), now))
    if draft.market.market_id not in state.markets:
        raise FieldError("Market no longer listed")
    if draft.rests:
        # The limit stands above the amount: a wrong one is named first.
        order = replace(order, price=read_limit(draft.limit, draft.market.tick) / ONE)
        order = replace(order, expires_at=read_expiry(draft, now))
    if takes_worst(state, draft.venue, rests=draft.rests, buys=draft.action is Action.BUY):
        worst = read_worst(draft.worst)
        order = replace(order, price=worst, keeps_price=worst is not None)
    order = _as_shown(_sized(state, draft, order), draft.market)
    if holds_secret(draft.reasoning):
        raise FieldError("The note contains a possible private key. Remove it")
    _check(state, preflight_size(state, order, now))
    _check(state, _kept(state, order))
    return _with_exits(state, order, draft) if takes_exits(state, draft) else order


def takes_exits(state: DeskState, draft: Draft) -> bool:
    """True for a buy at a service that sets stop and target with the order."""
    # ours: the embedded one; another service may ignore what it does not know.
    return draft.action is Action.BUY and state.service.embedded


def _with_exits(state: DeskState, order: PlaceTrade, draft: Draft) -> PlaceTrade:
    """The buy with its typed stop and target.

    Where one of them is typed, the order names the other too: that of the present monitor, else
    what Settings attach. Without both it names none: the monitor stays, or Settings attach one.
    """
    if any(is_off(typed) for typed in (draft.stop, draft.target) if typed.strip()):
        raise FieldError("off: not for one order; Settings has the stop and target of every buy")
    amends = draft.amends
    stop = read_stop(_exit_of(draft.stop, amends and amends.stop_loss_pct), None)
    target = read_target(_exit_of(draft.target, amends and amends.take_profit_pct), None)
    if (stop, target) != (None, None):
        kept = _attached(state, order)
        stop, target = (typed or left for typed, left in zip((stop, target), kept, strict=True))
    return replace(order, stop_loss_pct=stop, take_profit_pct=target)


def _exit_of(text: str, kept: float | None) -> TypedThreshold:
    """A typed stop or target; untouched, that of the amended order to the last digit."""
    return TypedThreshold(text.strip(), kept=kept, kept_text=percent_text(kept))


def _attached(state: DeskState, order: PlaceTrade) -> tuple[float | None, float | None]:
    """Stop and target that the position has, or gets automatically, without any typed."""
    known = state.risk.monitor(order.holding)
    if known is not None and not known.is_spent:
        return known.stop_loss_pct, known.take_profit_pct
    defaults = None if state.buy_limits is None else state.buy_limits.defaults
    if defaults is None or not defaults.auto_monitor:
        return None, None
    return defaults.stop_loss_pct, defaults.take_profit_pct


def _kept(state: DeskState, order: PlaceTrade) -> Reason | None:
    """Why shares in open orders cannot be sold again; an exit goes before those."""
    position = holding(state, order.market_id, order.side, order.venue)
    kept = kept_by_sales(without_replaced(state, order).orders, order.holding)
    if order.action is Action.BUY or position is None or order.shares <= position.shares - kept:
        return None
    shares = typed(Micros(kept), decimals=SHARE_DECIMALS)
    return Reason(f"{shares} of your shares are in open orders", Fix.CANCEL_FIRST)


def _check(state: DeskState, why: Reason | None) -> None:
    if why is not None:
        raise FieldError(sentence(reason_text(why, masked=is_private(state))))


def _unsized(draft: Draft) -> PlaceTrade:
    amends = draft.amends
    return PlaceTrade(
        market_id=draft.market.market_id,
        side=draft.side,
        action=draft.action,
        venue=draft.venue,
        reasoning=draft.reasoning.strip(),
        question=draft.market.question,
        rests=draft.rests,
        whole=draft.whole and not draft.rests,
        replaces="" if amends is None else amends.order_id,
        filled_before=Micros(0) if amends is None else amends.filled,
    )


def _sized(state: DeskState, draft: Draft, order: PlaceTrade) -> PlaceTrade:
    """The order with the typed size: money or shares of a buy, shares or per cent of a sale."""
    if draft.action is Action.BUY:
        is_by_risk = is_risk(draft.amount)
        money = _money_at_risk(state, draft, order) if is_by_risk else _money_of(draft)
        return replace(order, amount=money)
    position = holding(state, order.market_id, order.side, order.venue)
    shares = _shares_of(draft.amount, Micros(0) if position is None else position.shares)
    # The last quantum cannot be typed if the service has finer shares: all means all.
    if position is not None and 0 <= position.shares - shares < SHARE_QUANTUM:
        return replace(order, shares=position.shares, everything=True)
    return replace(order, shares=shares)


def read_expiry(draft: Draft, now: Timestamp) -> Timestamp | None:
    """The moment at which a limit order is cancelled; an amended one keeps its own.

    Returns:
        Whole seconds, as they are signed; None without an expiry.

    Raises:
        FieldError: the typed text is no moment, or too soon for the venue; the sentence gives the
            fix.
    """
    if draft.until is None:
        return None
    if draft.amends is not None:
        return draft.amends.expires_at
    expires_at = read_moment(draft.until, now)
    if expires_at - now < typed_life_min_s(draft.venue):
        raise FieldError(f"E{life_text(draft.venue)[1:]}")
    return expires_at


def _money_at_risk(state: DeskState, draft: Draft, order: PlaceTrade) -> Micros:
    """Money of a buy that loses the typed amount, `20r`, at its stop."""
    text = draft.amount.strip().lower().removesuffix(RISK_UNIT).rstrip()
    risk = parse_number(text, MONEY)
    exits = _with_exits(state, order, draft) if takes_exits(state, draft) else order
    return risked_money(risk, draft.market, order, stop_of(state, order, exits.stop_loss_pct))


def _money_of(draft: Draft) -> Micros:
    """Money of a buy; shares are worth their limit price, rounded down: never more than typed."""
    size = draft.amount.strip().lower()
    if not size.endswith(SHARES_UNIT):
        return parse_number(size, MONEY)
    if not draft.rests:
        raise FieldError("Shares of a buy need a limit price; enter an amount")
    shares = parse_number(size.removesuffix(SHARES_UNIT).rstrip(), SHARES)
    price = read_limit(draft.limit, draft.market.tick)
    step = ONE // 10**MONEY_DECIMALS
    money = Micros(shares * price // (ONE * step) * step)
    if not money:
        least = typed(Micros(-(-step * ONE // price)), decimals=SHARE_DECIMALS)
        raise FieldError(
            f"Too few: at {limit_price_text(price)}, {least} shares cost the least, 0.01"
        )
    return money


def _shares_of(size: str, held: Micros) -> Micros:
    """Shares of a sale; a percentage is one of the position, rounded down."""
    size = size.strip()
    if not size.endswith("%"):
        return parse_number(size, SHARES)
    part = parse_number(size.removesuffix("%").rstrip(), PERCENT)
    return Micros(held * part // (100 * ONE) // SHARE_QUANTUM * SHARE_QUANTUM)


def _as_shown(order: PlaceTrade, market: MarketView) -> PlaceTrade:
    """The order with the token and the fee that are shown now: nothing else may be signed."""
    if order.venue is not Venue.EVM or not market.condition_id:
        return order
    token = token_shown(market, order.side)
    return replace(order, token=token, fee_rate_bps=market.fee_rate_bps)


def _part_of(shares: Micros, part: int, of: int) -> str:
    amount = Micros(shares * part // of)
    return typed(amount, decimals=SHARE_DECIMALS) if amount >= SHARE_QUANTUM else ""
