"""Commands about one market: the ticket filled in, the market, its star. None places an order."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Final

from service_tui.console.command_line.verb import CommandContext, CommandError, Effect, go, shown
from service_tui.console.forms.order_draft import buy_max, sellable, typed
from service_tui.console.forms.trade_form import TradeForm
from service_tui.console.market_pages import at_page
from service_tui.console.parts.shared_actions import ticket_block_reason
from service_tui.desk.commands.settings import SetStar
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.state import DeskState
from service_tui.desk.trading.preflight import holding
from service_tui.folding import folded, folded_name
from service_tui.pasted import web_place
from service_tui.terms import MONEY_DECIMALS, Action, Side, Venue, counted

CANDIDATES_MAX: Final = 50
"""Most completed markets: more are not looked through."""

_AMOUNT: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:%|sh)?|\.[0-9]+|all|max")
_SIDES: Final = {"yes": Side.YES, "no": Side.NO}
_ALL: Final = "100%"


@dataclass(frozen=True, slots=True)
class OrderWords:
    """The arguments of `buy` and `sell`; `market` empty: the market under the cursor."""

    market: str
    side: Side | None = None
    amount: str = ""


def read_words(state: DeskState, rest: str) -> OrderWords:
    """A market, a side, an amount, each of which may be missing, in this order.

    A text that is the whole question or the id of a market is that market, whatever its last words.
    """
    words = rest.split()
    amount, side = "", None
    if not exact(state, " ".join(words)):
        if words and _AMOUNT.fullmatch(words[-1].casefold()):
            amount = words.pop().casefold()
        if words and words[-1].casefold() in _SIDES:
            side = _SIDES[words.pop().casefold()]
    return OrderWords(" ".join(words), side, amount)


def exact(state: DeskState, text: str) -> list[MarketView]:
    """The markets with this id, exactly this question, or this address or ticker."""
    one = state.markets.get(text)
    if one is not None:
        return [one]
    question = folded_name(text)
    found = [each for each in state.markets.values() if folded_name(each.question) == question]
    return found or (at_page(state.markets.values(), text) if text else [])


def none_matches(text: str) -> str:
    """Why no market matches a text."""
    if web_place(text) is None:
        return f"no market matches {shown(text)}"
    return (
        "no market here has this address; that of an event names several: take that of one outcome"
    )


def matching(state: DeskState, text: str) -> list[MarketView]:
    """The markets that a text means: those with the phrase, else those with every word.

    Phrase and words stand at the start of a word: `rain in` is not found in `trains inland`. Of
    the markets found the open ones, if there are any.
    """
    words = folded(text).split()
    return _open(_containing(state, [" ".join(words)]) or _containing(state, words))


def _containing(state: DeskState, parts: Collection[str]) -> list[MarketView]:
    """The markets whose question has every part at the start of a word."""
    starts = [re.compile(rf"(?<!\w){re.escape(part)}") for part in parts]
    return [
        market
        for market in state.markets.values()
        if all(start.search(" ".join(folded(market.question).split())) for start in starts)
    ]


def _open(found: list[MarketView]) -> list[MarketView]:
    return [market for market in found if market.is_open] or found


def completing(state: DeskState, text: str) -> list[MarketView]:
    """The markets whose question contains every word; of these the open ones, if there are any."""
    words = folded(text).split()
    return _open(at_page(state.markets.values(), text)) or _open([
        market
        for market in state.markets.values()
        if all(word in folded(market.question) for word in words)
    ])


def market_of(context: CommandContext, text: str) -> MarketView:
    """The only market that is meant; without a text the one under the cursor.

    Raises:
        CommandError: none, or several.
    """
    if not text:
        return _market_in_focus(context)
    found = exact(context.state, text) or matching(context.state, text)
    if not found:
        raise CommandError(none_matches(text))
    if len(found) > 1:
        several = f"{counted(len(found), 'market')} match {shown(text)}"
        raise CommandError(f"{several}: add words, or press tab to choose")
    return found[0]


def _market_in_focus(context: CommandContext) -> MarketView:
    if context.front.current_row() != context.row:
        raise CommandError("the highlighted row left meanwhile: name a market")
    row = context.front.selected()
    market = context.state.markets.get(str(getattr(row, "market_id", "")))
    if market is None:
        raise CommandError("name a market: the highlighted row has none")
    return market


def buy(context: CommandContext, rest: str) -> Effect:
    """Open the ticket of a buy, filled in."""
    words = read_words(context.state, rest)
    market = market_of(context, words.market)
    amount = words.amount
    if amount in {"all", "max"}:
        most = buy_max(context.state)
        amount = "" if most is None else typed(most, decimals=MONEY_DECIMALS)
    return _ticket(context, market, Action.BUY, words.side, amount)


def sell(context: CommandContext, rest: str) -> Effect:
    """Open the ticket of a sale, filled in."""
    words = read_words(context.state, rest)
    market = market_of(context, words.market)
    amount = _ALL if words.amount in {"all", "max"} else words.amount
    return _ticket(context, market, Action.SELL, words.side, amount)


def _ticket(  # noqa: PLR0917 - what a ticket is about
    context: CommandContext, market: MarketView, action: Action, side: Side | None, amount: str
) -> Effect:
    state, front, venue = context.state, context.front, Venue.SIM
    if action is Action.SELL:
        side, venue = _held(state, market, side)
    why = ticket_block_reason(front, market, action)
    if why:
        raise CommandError(why)
    form = TradeForm(state, context.now, market, side=side, action=action, venue=venue)
    form.typed_before = amount
    return partial(front.open_dialog, form, front.give)


def _held(state: DeskState, market: MarketView, side: Side | None) -> tuple[Side, Venue]:
    """The position that a sale is about.

    Raises:
        CommandError: there is none.
    """
    if side is None:
        found = sellable(state, market.market_id)
    else:
        venues = (one for one in Venue if holding(state, market.market_id, side, one) is not None)
        venue = next(venues, None)
        found = None if venue is None else (side, venue)
    if found is None:
        named = "" if side is None else f"{side.value.upper()} "
        raise CommandError(f"no {named}position to sell in this market")
    return found


def show_market(context: CommandContext, rest: str) -> Effect:
    """Show a market on its screen."""
    return go(context, "markets", market_of(context, rest).market_id)


def star(context: CommandContext, rest: str) -> Effect:
    """Star a market, or remove its star."""
    market_id = market_of(context, rest).market_id
    is_starred = market_id in context.state.stars
    return partial(context.front.give, SetStar(market_id, on=not is_starred))


# -- completion ---------------------------------------------------------------------------------


def complete_market(context: CommandContext, rest: str) -> Iterable[str]:
    """The questions that contain every typed word."""
    return islice(_questions(completing(context.state, rest)), CANDIDATES_MAX)


def complete_buy(context: CommandContext, rest: str) -> Iterable[str]:
    """A market, then its side."""
    return _complete_order(context, rest, context.state.markets.keys())


def complete_sell(context: CommandContext, rest: str) -> Iterable[str]:
    """A market with a position, then its side."""
    state = context.state
    held = {one.market_id for one in (*state.positions, *state.redemption.rows)}
    return _complete_order(context, rest, {one for one in held if sellable(state, one) is not None})


def _complete_order(
    context: CommandContext, rest: str, market_ids: Collection[str]
) -> Iterable[str]:
    head, blank, last = rest.rpartition(" ")
    if blank and exact(context.state, head.strip()):
        return (f"{head} {side}" for side in _SIDES if side.startswith(last.casefold()))
    found = (each for each in completing(context.state, rest) if each.market_id in market_ids)
    return islice(_questions(found), CANDIDATES_MAX)


def _questions(markets: Iterable[MarketView]) -> Iterator[str]:
    return (" ".join(market.question.split()) for market in markets)
