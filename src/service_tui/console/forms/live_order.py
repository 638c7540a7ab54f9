"""The confirmation of an order for real money: its full content and a separate key.

Enter never confirms it; cancel has the focus. Source: ux, "Danger".
"""

from dataclasses import replace
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.figures import Figure, labelled
from service_tui.console.forms.confirm import Question
from service_tui.console.forms.quoting import bounded
from service_tui.console.forms.resting_text import RESTS_ON, resting_lines
from service_tui.console.forms.ticket_text import order_text
from service_tui.console.freshness import is_private
from service_tui.console.keys import with_keys
from service_tui.console.reasons import without_amounts
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.slices.orders import limit_text
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.wallet import Ownership
from service_tui.desk.state import DeskState
from service_tui.desk.trading.preflight import is_simulated
from service_tui.terms import MONEY_OF, Action, Venue
from service_tui.units import Micros

TOKEN_ENDS: Final = 10
"""Digits of a token at either end."""


def live_order(order: PlaceTrade, quote: QuoteView | None) -> PlaceTrade:
    """The order with its worst acceptable price, and the person's confirmation.

    A limit order has its price already.

    Returns:
        The order as it is confirmed, and sent.
    """
    return replace(bounded(order, quote), confirmed=True)


def live_question(
    order: PlaceTrade, state: DeskState, quote: QuoteView | None, *, agent: str = ""
) -> Question:
    """Object, side, size, price bound, cost, wallet, venue, mode, and what comes next.

    `agent` names another one than the desk's own, which trades from a wallet of its own.

    Returns:
        What the dialog asks.
    """
    lines, follows = live_figures(order, state, quote, agent=agent)
    body = Text.assemble(labelled(lines), f"\n\n{follows}")
    verb = "replace" if order.replaces else "place"
    question = f"Real money: {verb} this order?"
    return Question(question, body, f"{verb} order", key="p")


def live_figures(
    order: PlaceTrade, state: DeskState, quote: QuoteView | None, *, agent: str = ""
) -> tuple[list[Figure], str]:
    """What a person confirms of an order for real money: labels with values, and what follows."""
    masked, wallet = is_private(state), state.wallet
    money = MONEY_OF[order.venue]
    buys = order.action is Action.BUY
    lines: list[Figure] = [
        ("mode", Text(" LIVE ", "bold reverse live")),
        ("order", Text(without_amounts(order_text(order), masked=masked), "bold")),
        ("market", formats.plain(order.question, 160)),
        ("limit" if order.rests else "price", price_bound(order)),
        ("venue", Text(order.venue.value + (", simulated" if is_simulated(state) else ""))),
        ("agent", formats.plain(agent, 60)) if agent else ("wallet", _wallet(state, masked=masked)),
    ]
    if order.replaces:
        lines.append(("replaces", _replaced(order, state, masked=masked)))
    if order.exits_text:
        lines.append(("when filled", Text(f"sets{order.exits_text.removeprefix(',')}")))
    if order.token:
        lines.append(("token", Text(shortened(order.token))))
    if order.fee_rate_bps is not None:
        lines.append(("fee rate", Text(f"at most {order.fee_rate_bps} bps")))
    if order.rests:
        lines += resting_lines(order, quote, masked=masked)
    elif quote is not None and quote.ok:
        got, unit = formats.shares(quote.shares, masked=masked), f" {money}"
        brings = formats.money(quote.net, masked=masked)
        expected = (got, " shares") if buys else (brings, unit, " after the fee")
        lines.append(("receive", Text.assemble("about ", *expected)))
        fee = formats.money(quote.fee, masked=masked)
        lines.append(("fee", Text.assemble("about ", fee, unit, ", on top" if buys else "")))
        if buys:
            total = formats.money(Micros(quote.money + quote.fee), masked=masked)
            lines.append(("total", Text.assemble("about ", total, unit, style="bold")))
    signs = not agent and order.venue is Venue.EVM and wallet.ownership is Ownership.EXTERNAL
    places = (
        "Signed with your key, sent once."
        if signs
        else "Placed once by the service with the account's credentials."
    )
    stays = _stays(order)
    return lines, f"{places} {stays}. Fills are final."


def _replaced(order: PlaceTrade, state: DeskState, *, masked: bool) -> Text:
    """The open order that is cancelled before this one is placed."""
    former = next((one for one in state.orders if one.order_id == order.replaces), None)
    if former is None:
        return Text("the open order, cancelled first")
    size = formats.shares(former.shares, masked=masked)
    return Text.assemble(size, f" shares at {limit_text(former.price)}, cancelled first")


def shortened(token: str) -> str:
    """A token by its first and last digits, as block explorers list it."""
    return token if len(token) <= 2 * TOKEN_ENDS else f"{token[:TOKEN_ENDS]}…{token[-TOKEN_ENDS:]}"


def _wallet(state: DeskState, *, masked: bool) -> Text:
    """The paying wallet: an address, or the service's own if that keeps the key."""
    address = state.wallet.address
    return formats.address(address, masked=masked) if address else Text("held by the service")


def _stays(order: PlaceTrade) -> str:
    """What becomes of the part that does not fill at once."""
    if order.rests:
        expired = "" if order.expires_at is None else "expired, "
        return with_keys(RESTS_ON.replace("{expired}", expired))
    return "Fill-or-kill: all of it or nothing" if order.whole else "Fill-and-kill"


def price_bound(order: PlaceTrade) -> Text:
    """The worst price of an order, in plain English."""
    if order.price is None:
        return Text("best price on the book")
    text = "at most" if order.action is Action.BUY else "at least"
    price = Text(limit_text(order.price)) if order.rests else formats.price(order.price)
    return Text.assemble(f"{text} ", price, " per share")
