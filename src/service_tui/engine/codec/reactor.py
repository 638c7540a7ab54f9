"""The reactor as JSON-able values and back: its part of the snapshot."""

from dataclasses import asdict

from service_tui.engine.codec.events import Named, reactor_config_of, settlement_of
from service_tui.engine.events import Reacted
from service_tui.engine.reactor.reactor import Reactor, ReactorConfig, ReactorState
from service_tui.engine.reactor.wallet_records import WalletPosition, WalletRecord
from service_tui.terms import Venue

_STATE_PLAIN = ("failures", "skipped", "paused_at", "gone")


def reactor_fields(reactor: Reactor) -> Named:
    """Everything that the reactor is."""
    mirrors = reactor.mirrors
    return {
        "states": [
            [agent_id, _state_fields(state)] for agent_id, state in sorted(reactor.states.items())
        ],
        "recent": [[key, one, at] for key, (one, at) in reactor.recent.items()],
        "records": {
            address: asdict(record) for address, record in reactor.records.by_address.items()
        },
        "spent": [[*key, *spent] for key, spent in sorted(mirrors.spent.items())],
        "done": mirrors.done,
    }


def restore_reactor(reactor: Reactor, fields: Named | None) -> None:
    """Take the reactor from a snapshot; one from before there was one leaves it as it begins."""
    if fields is None:
        return
    reactor.states = {agent_id: _state_of(row) for agent_id, row in fields["states"]}
    reactor.recent = {key: (settlement_of(one), at) for key, one, at in fields["recent"]}
    reactor.records.by_address = {
        address: _record_of(row) for address, row in fields["records"].items()
    }
    mirrors = reactor.mirrors
    mirrors.spent = {
        (who, Venue(venue)): (day, spent) for who, venue, day, spent in fields["spent"]
    }
    mirrors.done = fields["done"]


def _state_fields(state: ReactorState) -> Named:
    return {
        **{name: getattr(state, name) for name in _STATE_PLAIN},
        "config": asdict(state.config),
        "pauses": state.pauses,
        "reactions": state.reactions,
    }


def _state_of(row: Named) -> ReactorState:
    return ReactorState(
        **{name: row[name] for name in _STATE_PLAIN},
        config=ReactorConfig(**reactor_config_of(row["config"])),
        pauses=[(since, until) for since, until in row["pauses"]],
        reactions=[Reacted(*reaction) for reaction in row["reactions"]],
    )


def _record_of(row: Named) -> WalletRecord:
    held = {market_id: WalletPosition(**one) for market_id, one in row["held"].items()}
    known: Named = {**row, "held": held}
    return WalletRecord(**known)
