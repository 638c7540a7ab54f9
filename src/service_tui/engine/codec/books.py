"""The venues as JSON-able values and back: their part of the snapshot."""

from service_tui.engine.books.book import Book, Resting
from service_tui.engine.books.venues import Holdings, VenueAccount, VenuePosition, Venues
from service_tui.engine.position import Position, SidePosition
from service_tui.records import Fields, Named, fields_of_record, read, read_some


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
        # Left out until a wallet has changed, as in the snapshots of before.
        **({"wallets": venues.wallets, "aside": _aside_fields(venues)} if venues.wallets else {}),
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
            # On disk since the first version under another name.
            renamed = {"requested" if name == "asked" else name: row[name] for name in row}
            order = read(Resting, renamed)
            book.orders[order.order_id] = order
    for row in fields["accounts"]:
        account = read(VenueAccount, row | {"holdings": {}})
        account.holdings = _holdings_of(row["holdings"])
        venues.keep(account)
    venues.wallets = dict(fields.get("wallets", {}))
    for agent_id, address, rows in fields.get("aside", ()):
        venues.aside[agent_id, address] = _holdings_of(rows)


def _order_fields(order: Resting) -> Named:
    fields = fields_of_record(order)
    return fields | {"asked": fields.pop("requested")}


def _account_fields(account: VenueAccount) -> Named:
    return fields_of_record(account) | {"holdings": _holding_rows(account.holdings)}


def _aside_fields(venues: Venues) -> list[Fields]:
    """What wallets hold that are not linked now."""
    return [[*whose, _holding_rows(holdings)] for whose, holdings in venues.aside.items()]


def _holding_rows(holdings: Holdings) -> list[Named]:
    return [
        fields_of_record(one) | {"position": position_fields(one.position)}
        for one in holdings.values()
    ]


def _holdings_of(rows: list[Named]) -> Holdings:
    return {one.position.market_id: one for one in map(_holding_of, rows)}


def _holding_of(row: Named) -> VenuePosition:
    known = {name: one for name, one in row.items() if name != "position"}
    return VenuePosition(position=position_of(row["position"]), **read_some(VenuePosition, known))


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
                side.stop_basis,
            ]
            for side in sides
        ),
    ]


def position_of(row: Fields) -> Position:
    """A position, read back."""
    agent_id, market_id, yes, no = row
    return Position(agent_id, market_id, SidePosition(*yes), SidePosition(*no))
