"""The worst price of an approval, and the warnings beside it. Pure."""

from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.fields import Fault, Number, parse_number
from service_tui.console.forms.quoting import SLACK
from service_tui.console.freshness import is_answered, is_private, world_now
from service_tui.desk.slices.orders import limit_text
from service_tui.desk.slices.supervision import PendingTradeView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import PRICE_HIGH, PRICE_LOW, Action, Venue
from service_tui.units import ONE, Micros, Timestamp

BOUND_FIX: Final = "Enter a price between 0 and 1, such as 0.47, or nothing for any price"

_DECIMALS: Final = 4


def price_rule(fix: str, too_fine: str) -> Number:
    """The rule of a typed worst price, with the sentences for one that is none, or too fine."""
    return Number(
        {
            Fault.NOT_PLAIN: fix,
            Fault.TOO_FINE: too_fine,
            Fault.TOO_SMALL: fix,
            Fault.TOO_LARGE: fix,
        },
        _DECIMALS,
        least=Micros(round(PRICE_LOW * ONE)),
        most=Micros(round(PRICE_HIGH * ONE)),
    )


_RULE: Final = price_rule(BOUND_FIX, f"At most {_DECIMALS} decimals of a price")


def read_bound(text: str) -> float | None:
    """Parse a typed worst price; None for an empty line, which allows any.

    Raises:
        FieldError: it is no price; the sentence gives the fix.
    """
    return parse_number(text, _RULE) / ONE if text.strip() else None


def bound_label(action: Action) -> str:
    """What a worst price is to a buy, or to a sale."""
    return "not above" if action is Action.BUY else "not below"


def first_bound(trade: PendingTradeView) -> float | None:
    """The worst price that is offered: the order's own limit, else what its agent saw and a little.

    # ours: a price that the service did not keep, as an older one, is that of now.

    Returns:
        Four decimals at most; None where no price is known.
    """
    if trade.price_limit is not None:
        return trade.price_limit
    known = (trade.asked, trade.average, trade.price)
    seen = next((price for price in known if price is not None), None)
    if seen is None:
        return None
    way = 1 + SLACK if trade.action is Action.BUY else 1 - SLACK
    return round(min(PRICE_HIGH, max(PRICE_LOW, seen * way)), _DECIMALS)


def bound_as_typed(bound: float | None) -> str:
    """A worst price as a person types it; empty for none."""
    return "" if bound is None else limit_text(bound)


def is_beyond(trade: PendingTradeView, bound: float | None) -> bool:
    """True if the price of now is beyond a bound: the service would trade nothing."""
    now = trade.price if trade.average is None else trade.average
    if bound is None or now is None:
        return False
    return now > bound if trade.action is Action.BUY else now < bound


def can_rest(trade: PendingTradeView, bound: float | None) -> bool:
    """True if the order may wait on a book at its own limit, where its bound allows that."""
    limit = trade.price_limit
    if trade.venue is Venue.SIM or limit is None or bound is None:
        return False
    return limit <= bound if trade.action is Action.BUY else limit >= bound


def has_ended(trade: PendingTradeView, state: DeskState, now: Timestamp) -> bool:
    """True if its market takes no more orders: the service lets the request lapse.

    Args:
        trade: it.
        state: the newest.
        now: wall time.
    """
    market = state.markets.get(trade.market_id)
    if market is None:
        # A service of ours prices every market that it has.
        is_listed = is_answered(state, Topic.MARKETS)
        return state.service.embedded and is_listed and trade.price is None
    ends = market.resolves_at
    return not market.is_open or (ends is not None and ends <= world_now(state, now))


def other_side_text(trade: PendingTradeView, state: DeskState) -> Text:
    """Who holds the other side of the market, for a warning: `you hold YES 30.21`; else empty."""
    own = () if state.fleet is None else state.fleet.agents
    own_ids = {one.agent_id for one in own if one.is_own}
    other = trade.side.other
    rows = [
        ("you" if one.agent_id in own_ids else formats.plain(one.agent_name, 40).plain, one.shares)
        for one in trade.other_side
    ]
    if not rows:
        # A service that does not say so: what this desk sees of its own.
        rows = [
            ("you", one.shares)
            for one in state.held(trade.market_id)
            if (one.side, one.venue) == (other, trade.venue) and one.shares
        ]
    rows.sort(key=lambda row: row[0] != "you")
    masked = is_private(state)
    parts = [
        f"{who} {'hold' if who == 'you' else 'holds'} {other.value.upper()} "
        f"{formats.shares(shares, masked=masked).plain}"
        for who, shares in rows
    ]
    return Text(", ".join(parts), "warn")
