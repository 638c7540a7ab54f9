"""The venues as JSON-able values and back: their part of the snapshot."""

from dataclasses import asdict

from service_tui.engine.books.book import Book, Resting
from service_tui.engine.books.venues import VenueAccount, VenuePosition, Venues
from service_tui.engine.codec.events import Fields, Named, note_of
from service_tui.engine.position import Position, SidePosition
from service_tui.engine.transitions import PositionState
from service_tui.terms import Action, OrderType, Side, Venue


def venue_fields(venues: Venues) -> Named:
    """Everything that the venues are, but for the ledger; books without traces are left out."""
    return {
        "order_count": venues.order_count,
        "spent": [[agent_id, *spent] for agent_id, spent in sorted(venues.spent.items())],
        "books": [
            [
                market_id,
                book.taken_number,
                sorted(book.taken.items()),
                [_order_fields(order) for order in book.orders.values()],
            ]
            for market_id, book in sorted(venues.books.items())
            if book.orders or book.taken
        ],
        # In the order of their first trades: what falls due is redeemed in that order.
        "accounts": [_account_fields(one) for one in venues.accounts.values()],
    }


def restore_venues(venues: Venues, fields: Named | None) -> None:
    """Take the venues from a snapshot; one from before there were venues grants the first cash."""
    if fields is None:
        for agent_id in venues.agents:
            venues.admit(agent_id)
        return
    venues.order_count = fields["order_count"]
    venues.spent = {agent_id: (day, spent) for agent_id, day, spent in fields["spent"]}
    for market_id, number, taken, orders in fields["books"]:
        book: Book = venues.book(market_id)
        book.taken_number, book.taken = number, dict(taken)
        for row in orders:
            order = _order_of(row)
            book.orders[order.order_id] = order
    for row in fields["accounts"]:
        venues.keep(_account_of(row))


def _order_fields(order: Resting) -> Named:
    # As `asdict` would, but for the note: a row of the journal holds it as a list as well.
    fields = {name: getattr(order, name) for name in Resting.__slots__}
    # On disk since the first version under another name.
    return fields | {"asked": fields.pop("requested")}


def _order_of(row: Named) -> Resting:
    row = dict(row)
    known: Named = {
        "requested": row.pop("asked"),
        **row,
        "venue": Venue(row["venue"]),
        "side": Side(row["side"]),
        "action": Action(row["action"]),
        "order_type": OrderType(row["order_type"]),
        "note": note_of(row["note"]),
    }
    return Resting(**known)


def _account_fields(account: VenueAccount) -> Named:
    return {
        **{name: getattr(account, name) for name in VenueAccount.__slots__ if name != "holdings"},
        "holdings": [_holding_fields(holding) for holding in account.holdings.values()],
    }


def _account_of(row: Named) -> VenueAccount:
    holdings = [_holding_of(one) for one in row["holdings"]]
    known: Named = {
        **row,
        "venue": Venue(row["venue"]),
        "holdings": {one.position.market_id: one for one in holdings},
    }
    return VenueAccount(**known)


def _holding_fields(holding: VenuePosition) -> Named:
    return asdict(holding) | {"position": position_fields(holding.position)}


def _holding_of(row: Named) -> VenuePosition:
    known: Named = {
        **row,
        "position": position_of(row["position"]),
        "state": PositionState(row["state"]),
        "sources": tuple(row["sources"]),
    }
    return VenuePosition(**known)


def position_fields(position: Position) -> list[object]:
    """A position as JSON-able values in order."""
    sides = (position.yes, position.no)
    return [
        position.agent_id,
        position.market_id,
        *(
            [
                side.shares,
                side.cost,
                side.realized,
                side.opened_at,
                side.bought_at,
                side.bought_mark,
            ]
            for side in sides
        ),
    ]


def position_of(row: Fields) -> Position:
    """A position, read back."""
    agent_id, market_id, yes, no = row
    return Position(agent_id, market_id, SidePosition(*yes), SidePosition(*no))
