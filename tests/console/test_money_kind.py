"""What a screen calls the money that an order moves."""

from dataclasses import replace

import pytest

from kit.samples.desk import sample_state
from service_tui.console.money_kind import mode_on, money_kind
from service_tui.desk.state import DeskState
from service_tui.terms import Mode, Venue

EMBEDDED = sample_state()
ATTACHED = replace(EMBEDDED, service=replace(EMBEDDED.service, embedded=False))
SIMULATED = replace(ATTACHED, wallet=replace(ATTACHED.wallet, simulated=True))
DRY = replace(ATTACHED, service=replace(ATTACHED.service, mode=Mode.DRY))

CASES = [
    (EMBEDDED, Venue.SIM, Mode.SIM, "play money on sim"),
    (EMBEDDED, Venue.EVM, Mode.LIVE, "simulated, no real money, on evm_venue"),
    (SIMULATED, Venue.SOL, Mode.LIVE, "simulated, no real money, on sol_venue"),
    (ATTACHED, Venue.EVM, Mode.LIVE, "real money on evm_venue"),
    (DRY, Venue.SIM, Mode.DRY, "dry run on sim"),
    (DRY, Venue.EVM, Mode.LIVE, "real money on evm_venue"),
]


@pytest.mark.parametrize(("state", "venue", "mode", "kind"), CASES)
def test_real_money_is_never_called_play_money(
    state: DeskState, venue: Venue, mode: Mode, kind: str
) -> None:
    assert mode_on(state, venue) is mode
    assert money_kind(state, venue) == kind
