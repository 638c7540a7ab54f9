"""The reactor as JSON-able values and back: its part of the snapshot."""

from service_tui.engine.events import Settlement
from service_tui.engine.reactor.reactor import Reactor, ReactorState
from service_tui.engine.reactor.wallet_records import WalletRecord
from service_tui.records import Named, fields_of_record, read
from service_tui.terms import Venue


def reactor_fields(reactor: Reactor) -> Named:
    """Everything that the reactor is."""
    mirrors = reactor.mirrors
    return {
        "states": [
            [agent_id, fields_of_record(state)]
            for agent_id, state in sorted(reactor.states.items())
        ],
        "recent": [[key, one, at] for key, (one, at) in reactor.recent.items()],
        "records": dict(reactor.records.by_address),
        "spent": [[*key, *spent] for key, spent in sorted(mirrors.spent.items())],
        "done": mirrors.done,
    }


def restore_reactor(reactor: Reactor, fields: Named | None) -> None:
    """Take the reactor from a snapshot; one from before there was one leaves it as it begins."""
    if fields is None:
        return
    reactor.states = {agent_id: read(ReactorState, row) for agent_id, row in fields["states"]}
    reactor.recent = {key: (read(Settlement, one), at) for key, one, at in fields["recent"]}
    reactor.records.by_address = {
        address: read(WalletRecord, row) for address, row in fields["records"].items()
    }
    mirrors = reactor.mirrors
    mirrors.spent = {
        (who, Venue(venue)): (day, spent) for who, venue, day, spent in fields["spent"]
    }
    mirrors.done = fields["done"]
