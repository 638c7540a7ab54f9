"""Orders on the command line: parsing the request, and the confirmation before sending."""

import argparse
import sys
from collections.abc import Sequence

from service_tui.app.output import print_lines, print_text
from service_tui.app.typed_lines import typed_line
from service_tui.cli.parser import row_number
from service_tui.commands.trade import Choose, OrderRequest
from service_tui.desk.commands.wallet import LIVE_WORD
from service_tui.terms import Action, Side, Venue


def order_request(arguments: argparse.Namespace) -> OrderRequest:
    """The order on the command line."""
    is_quote = arguments.command == "quote"
    sells = arguments.sell if is_quote else arguments.command == "sell"
    return OrderRequest(
        Action.SELL if sells else Action.BUY,
        arguments.market,
        Side(arguments.side),
        arguments.amount,
        is_quote=is_quote,
        venue=Venue(arguments.venue),
        worst=arguments.worst,
    )


def is_unasked(request: OrderRequest, arguments: argparse.Namespace) -> bool:
    """True if the person wants no question, or there is nothing to send."""
    return request.is_quote or (arguments.live if request.is_live else arguments.yes)


async def confirm(
    request: OrderRequest, arguments: argparse.Namespace, lines: Sequence[str]
) -> bool:
    """Print the order, and ask for its word unless the person wants no question."""
    if not arguments.json:
        print_lines(*lines)
    if is_unasked(request, arguments):
        return True
    if request.is_live:
        print_text(f"Type {LIVE_WORD} to send it: ")
        return (await typed_line(sys.stdin)).strip() == LIVE_WORD
    print_text("Send it? [y/N] (play money) ")
    return (await typed_line(sys.stdin)).strip().lower() in {"y", "yes"}


def choose_of(request: OrderRequest, arguments: argparse.Namespace, *, asks: bool) -> Choose | None:
    """Lets the person select a market; None if there is no terminal, or it is not wanted."""
    is_unasked_order = not request.is_quote and is_unasked(request, arguments)
    return choose if asks and not is_unasked_order and not arguments.json else None


async def choose(lines: Sequence[str], count: int) -> int | None:
    """Print the markets that match, and ask for the number of one."""
    print_lines(*lines)
    print_text("Type the number of the market, or enter to leave: ")
    typed = (await typed_line(sys.stdin)).strip()
    number = row_number(typed) if typed.isascii() else None
    return number - 1 if number and number <= count else None
