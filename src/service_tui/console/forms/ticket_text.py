"""Texts of the order ticket on its market, its venue and its options."""

from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.book import quote_line
from service_tui.console.fields import FieldError, percent_text
from service_tui.console.figures import figures
from service_tui.console.forms.order_draft import Draft, read_expiry
from service_tui.console.forms.quote_text import quote_figures
from service_tui.console.forms.resting_text import resting_figures
from service_tui.console.forms.ticket_guards import (
    lost_part,
    low_price_text,
    share_cost,
    side_label,
    slippage_max,
    slips_beyond,
    stop_of,
    wider_stop,
)
from service_tui.console.freshness import if_none, is_private, world_now
from service_tui.console.keys import cap, with_keys
from service_tui.console.money_kind import mode_on, money_kind
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.figures import is_counting
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.orders import limit_text, moment_text
from service_tui.desk.slices.position_key import position_key
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.desk.trading.preflight import holding, venues_of, venues_text
from service_tui.terms import MONEY_OF, Action, MarketStatus, Mode, OrderType, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

TYPES: Final = (OrderType.FAK, OrderType.FOK, OrderType.GTC, OrderType.GTD)
TYPE_LABELS: Final = ("market FAK", "market FOK", "limit GTC", "limit GTD")
"""The order types, and their labels."""

WORDS_FROM: Final = 70
"""Cells from which an order type is labelled in plain English."""

TWO_ACROSS: Final = 58
"""Cells from which two columns of figures stand side by side."""

_WIDE_ONLY: Final = frozenset({"slippage", "notional"})
"""Labels that a narrow ticket leaves out for the fee: they follow from the rest."""

_SWITCHED_OFF: Final = (
    "Live trading is off. Turn it on in Wallet ({app.redemption}, {app.wallet}, {wallet.live})"
)


def market_line(state: DeskState, draft: Draft, now: Timestamp) -> Text:
    """The currency, the venue, and the closing time of the market."""
    is_real = draft.venue is not Venue.SIM
    mode = mode_on(state, draft.venue)
    return Text.assemble(
        (mode.value, mode.value.lower()),
        (f" {money_kind(state, draft.venue)}", "muted" if mode is Mode.SIM else "bold live"),
        "   ",
        _resolution(draft.market, world_now(state, now), with_status=not is_real),
    )


def _resolution(market: MarketView, now: Timestamp, *, with_status: bool) -> Text:
    """How a market resolved, or when it will."""
    if market.status is MarketStatus.RESOLVED:
        outcome = "" if market.outcome is None else f" {market.outcome.word}"
        return Text(f"resolved{outcome}", "muted")
    status = f"{market.status.value}, " if with_status else ""
    if market.resolves_at is not None and market.resolves_at <= now:
        return Text(f"{status}resolution is due", "muted")
    left = formats.until(market.resolves_at, now)
    return Text.assemble((f"{status}resolves ", "muted"), left)


def side_labels(market: MarketView, venue: Venue, action: Action) -> tuple[str, ...]:
    """The sides with the price of the selected venue.

    Returns:
        A label for each side. On a real venue the price is the best on its book that an order
        meets: the ask for a buy, the bid for a sale; no price while there is none.
    """
    if venue is Venue.SIM:
        return tuple(
            f"{side.value.upper()} {formats.price(market.price_of(side))}" for side in Side
        )
    best = {side: market.quotes_of(side)[action is Action.BUY] for side in Side}
    return tuple(
        side.value.upper() if price is None else f"{side.value.upper()} {limit_text(price)}"
        for side, price in best.items()
    )


def book_text(draft: Draft) -> Text:
    """Tick, best bid and best ask of the selected side on a real venue."""
    tick = f"tick {limit_text(draft.market.tick / ONE)}" if draft.rests else ""
    quote = quote_line(draft.market, draft.side)
    return Text("  ").join(part for part in (Text(tick, "muted"), quote) if part.plain)


def worst_text(draft: Draft) -> Text:
    """The price of now beside the worst price of a market buy on sim, which has no book."""
    return Text(side_label(draft.side, draft.market.price_of(draft.side)), "muted")


def type_labels(width: int) -> tuple[str, ...]:
    """The order types in `width` cells: with their words where there is room, 0 if unknown."""
    if 0 < width < WORDS_FROM:
        return tuple(one.value for one in TYPES)
    return TYPE_LABELS


def expiry_text(draft: Draft, now: Timestamp) -> Text:
    """The moment at which the order expires, and how long that is; empty while none is typed."""
    try:
        at = read_expiry(draft, now)
    except FieldError:
        at = None
    if at is None:
        return Text()
    return Text.assemble(f"{moment_text(at)}, ", formats.until(at, now))


def exits_text(state: DeskState, draft: Draft, order: PlaceTrade | None) -> Text:
    """What stop and target mean for this buy, or what protects the position without them."""
    known = state.risk.monitor(position_key(draft.market.market_id, draft.side, draft.venue))
    if order is None or (order.stop_loss_pct is None and order.take_profit_pct is None):
        return (
            Text("empty: the present monitor stays")
            if known
            else _default_exits(state, draft, order)
        )
    parts: list[Text] = []
    if (
        order.take_profit_pct is not None
        and _cost(draft, order) * (1.0 + order.take_profit_pct) > 1.0
    ):
        parts.append(Text("target never reached: above 1", "warn"))
    if order.stop_loss_pct is None:
        parts.append(Text("no stop", "warn"))
    else:
        loss = formats.money(_loss_at(draft, order, order.stop_loss_pct), masked=is_private(state))
        unit = MONEY_OF[draft.venue]
        parts.append(Text.assemble("loss at the stop ", loss, f" {unit}, slippage and fees extra"))
    if known:
        parts.append(Text("replaces the present one"))
    if order.stop_loss_pct is not None and (near := _near(draft, order, order.stop_loss_pct)):
        parts.append(Text(near, "warn"))
    return Text("; ").join(parts)


def _loss_at(draft: Draft, order: PlaceTrade, stop_loss_pct: float) -> Micros:
    """What a sale at the stop's price loses."""
    return Micros(round(order.amount * lost_part(draft.market, order, stop_loss_pct)))


def _near(draft: Draft, order: PlaceTrade, stop_loss_pct: float) -> str:
    """How near a stop is at a low price, with the wider one that a key sets; else empty."""
    return low_price_text(_cost(draft, order), stop_loss_pct, cap("ticket.wider"))


def wider_stop_of(state: DeskState, draft: Draft, order: PlaceTrade) -> float | None:
    """The wider stop that the ticket offers at a low price; None if it offers none."""
    stop = stop_of(state, order, order.stop_loss_pct)
    return None if stop is None else wider_stop(_cost(draft, order), stop)


def _cost(draft: Draft, order: PlaceTrade) -> float:
    return share_cost(draft.market, order)


def _default_exits(state: DeskState, draft: Draft, order: PlaceTrade | None) -> Text:
    """Stop and target that a buy gets automatically, and what the stop loses."""
    if state.buy_limits is None:
        return Text("empty: as in Settings")
    defaults = state.buy_limits.defaults
    stop, target = defaults.stop_loss_pct, defaults.take_profit_pct
    if not defaults.auto_monitor or (stop is None and target is None):
        return Text("empty: no stop")
    parts: list[Text] = []
    if stop is not None:
        parts.append(Text(f"default stop, {percent_text(stop)} % below"))
        if order is not None:
            loss = formats.money(_loss_at(draft, order, stop), masked=is_private(state)).plain
            parts[0].append(f" (about -{loss})")
    if target is not None:
        parts.append(Text(f"target {percent_text(target)} %"))
    if order is not None and stop is not None and (near := _near(draft, order, stop)):
        parts.append(Text(near, "warn"))
    return Text("empty: ").append_text(Text(", ").join(parts))


def action_labels(state: DeskState, draft: Draft) -> tuple[str, ...]:
    """Buy, and sell with the position of this side on this venue."""
    held = holding(state, draft.market.market_id, draft.side, draft.venue)
    none = if_none(state, "none", Topic.POSITIONS)
    if is_counting(state, draft.market.market_id):
        none = "loading"
    owned = formats.shares(held.shares, masked=is_private(state)) if held else none
    return ("buy", f"sell ({owned})")


def hint(state: DeskState, market: MarketView) -> str:
    """The keys of the ticket; those of venue and limit if there is another venue."""
    offered = state.wallet.live and len(venues_of(market)) > 1
    venue = f"  {cap('ticket.venue')} venue  {cap('ticket.kind')} type" if offered else ""
    return (
        f"{cap('ticket.side')} side  {cap('ticket.turn')} buy or sell{venue}  "
        f"{cap('ticket.cancel')} cancel"
    )


def unit_text(draft: Draft) -> str:
    """The unit of the amount."""
    return f"spend {MONEY_OF[draft.venue]}" if draft.action is Action.BUY else "sell shares"


def order_text(order: PlaceTrade) -> str:
    """The order with its money, as a sentence."""
    unit = f" {MONEY_OF[order.venue]}" if order.action is Action.BUY else ""
    return f"{order.bare_text()}{unit}"


def quote_block(state: DeskState, draft: Draft, quote: QuoteView | None, width: int) -> Text:
    """The quote's figures in `width` cells, 0 if unknown."""
    requested, masked = (draft.action, draft.venue), is_private(state)
    if draft.rests:
        shown = resting_figures(quote, requested, masked=masked)
    else:
        held = holding(state, draft.market.market_id, draft.side, draft.venue)
        slips = slips_beyond(quote, slippage_max(state))
        shown = quote_figures(quote, requested, held, masked=masked, slips=slips)
    across = 2 if (width or TWO_ACROSS) >= TWO_ACROSS else 1
    if across == 1 and draft.venue is not Venue.SIM:
        shown = [figure for figure in shown if figure[0] not in _WIDE_ONLY]
    return figures(shown, across=across, width=width or TWO_ACROSS)


def next_venue(state: DeskState, draft: Draft) -> Venue | str:
    """The next venue to select; the real ones only while real money is on.

    Returns:
        The next one on which the market trades; a sentence if there is none.
    """
    offered = venues_of(draft.market)
    if set(offered) == {draft.venue}:
        return f"Market trades on {venues_text(draft.market)} only"
    if not state.wallet.live:
        return with_keys(_SWITCHED_OFF)
    at = offered.index(draft.venue) + 1 if draft.venue in offered else 0
    return offered[at % len(offered)]
