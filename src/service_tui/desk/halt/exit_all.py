"""Sells every confirmed position under a halt: ordinary sales, a few at a time."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from service_tui.client.errors import ServiceError
from service_tui.desk.changes import Changed
from service_tui.desk.commands.halt import ExitAll
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.facts import Noticed
from service_tui.desk.ports import Ports
from service_tui.desk.reasons import Fix
from service_tui.desk.slices.halt import ExitAllView
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.tickets import Ticket
from service_tui.desk.trading.cancel_orders import free_shares, held_now, sellable
from service_tui.desk.trading.preflight import preflight
from service_tui.terms import Action, Venue

AT_ONCE: Final = 4
"""ours: so many exits are under way at one time; more would only wait for their turn."""


async def exit_all(order: ExitAll, ports: Ports, submit: Callable[[PlaceTrade], Ticket]) -> None:
    """Sell the confirmed positions whole; skip those that are closed by their turn.

    Args:
        order: what was confirmed.
        ports: the outside.
        submit: the desk's own way to order something.
    """
    objection = _objection(order, ports)
    if objection:
        ports.emit(Noticed("warn", f"{order.describe()}: {objection}"))
        return
    exits = ExitAllView(holdings=tuple(dict.fromkeys(order.holdings)))
    _show(ports, exits)
    slots, ends = asyncio.Semaphore(AT_ONCE), list[TicketState]()

    async def sell(key: str) -> None:
        async with slots:
            position = ports.state().position(key)
            order = None if position is None else await _freed(sale_of(position), ports)
            now = _shown(ports)
            if order is None or now is None:
                _show(ports, None if now is None else replace(now, skipped=now.skipped + 1))
                return
            ticket = submit(order)
            _show(ports, replace(now, tickets=(*now.tickets, ticket.view.ticket_id)))
            ends.append((await ticket.wait()).state)

    try:
        async with asyncio.TaskGroup() as tasks:
            for key in exits.holdings:
                tasks.create_task(sell(key))
    finally:
        now = _shown(ports)
        _show(ports, None if now is None else replace(now, is_over=True))
    _notify(ports, ends)


def sale_of(position: PositionView) -> PlaceTrade:
    """Order that sells a position whole; the typed confirmation covers real money too."""
    return PlaceTrade(
        position.market_id,
        position.side,
        Action.SELL,
        position.venue,
        shares=position.shares,
        reasoning="exit of everything while halted",
        question=position.question,
        everything=True,
        confirmed=position.venue is not Venue.SIM,
    )


async def _freed(order: PlaceTrade, ports: Ports) -> PlaceTrade | None:
    """Cancel the open sales of a position before its exit; nothing if the sale cannot be sent.

    Returns:
        The sale of what is held then; None where that is nothing.
    """
    if not (
        preflight(ports.state(), order, ports.now()) is None
        and sellable(order.venue, order.shares)
        and await free_shares(order.holding, order.venue, ports)
    ):
        return order
    try:
        position = await held_now(order.market_id, order.side, order.venue, ports)
    except ServiceError as error:
        ports.emit(Noticed("warn", f"positions unreadable before a sale of all: {error}"))
        position = None
    if position is None:
        return order
    # Of the sale that is cancelled now a part may have been met before.
    return replace(order, shares=min(position, order.shares)) if position else None


def _objection(order: ExitAll, ports: Ports) -> str:
    """Reason why nothing is sold; empty if selling is allowed."""
    halt = ports.state().halt
    if halt is None:
        return Fix.HALT_FIRST
    if halt.is_resuming:
        return "trading is resuming"
    if halt.exits is not None and not halt.exits.is_over:
        return "sales already running"
    return "" if order.holdings else "no open positions"


def _shown(ports: Ports) -> ExitAllView | None:
    halt = ports.state().halt
    return None if halt is None else halt.exits


def _show(ports: Ports, exits: ExitAllView | None) -> None:
    halt = ports.state().halt
    if halt is not None and exits is not None:
        ports.emit(Changed(replace(halt, exits=exits)))


def _notify(ports: Ports, ends: list[TicketState]) -> None:
    if not ends:
        ports.emit(Noticed("warn", "no confirmed position left to sell"))
        return
    done = ends.count(TicketState.DONE)
    unknown = ends.count(TicketState.UNKNOWN)
    text = f"sell all: {done} of {len(ends)} sold"
    if unknown:
        text += f", {unknown} unknown, being looked up"
    if left := len(ends) - done - unknown:
        text += f", {left} not sold"
    fix = Fix.SEE_HALT if left else ""
    ports.emit(Noticed("good" if done == len(ends) else "warn", text, fix=fix))
