"""The kind of money that an order on a venue moves: real, simulated, or play money."""

from typing import Final

from service_tui.desk.state import DeskState
from service_tui.desk.trading.preflight import is_simulated
from service_tui.terms import Mode, Venue

_KINDS: Final = {Mode.SIM: "play money", Mode.DRY: "dry run", Mode.LIVE: "real money"}
_SIMULATED: Final = "simulated, no real money,"


def mode_on(state: DeskState, venue: Venue) -> Mode:
    """The mode of an order: the service's own on `sim`, LIVE on every other venue."""
    return state.service.mode if venue is Venue.SIM else Mode.LIVE


def money_kind(state: DeskState, venue: Venue) -> str:
    """`play money on sim`: the kind of money, and the venue."""
    is_real = venue is not Venue.SIM
    kind = _SIMULATED if is_real and is_simulated(state) else _KINDS[mode_on(state, venue)]
    return f"{kind} on {venue.value}"
