"""The order ticket on a real venue."""

from dataclasses import replace

from kit.console.ticket import MARKET, STATE, Ticket
from kit.samples.wallet import row_of
from service_tui.desk.slices.redemption import RedemptionRow, RedemptionView, Stage
from service_tui.desk.slices.wallet import Ownership
from service_tui.desk.state import DeskState
from service_tui.terms import Side, Venue
from service_tui.units import ONE, Micros

BOTH = (Venue.SIM, Venue.EVM)


def state_on(*venues: Venue, embedded: bool = True, **wallet: object) -> DeskState:
    """A desk with real money on and nothing against it, whose market trades on these venues."""
    known = {
        "live": True,
        "usdc": Micros(1_000 * ONE),
        "ownership": Ownership.MANAGED,
        "real_trading": True,
    } | wallet
    assert STATE.account is not None
    return replace(
        STATE,
        service=replace(STATE.service, embedded=embedded),
        account=replace(STATE.account, claimed=True),
        markets={**STATE.markets, MARKET.market_id: replace(MARKET, venues=venues)},
        wallet=replace(STATE.wallet, **known),
        redemption=RedemptionView(rows=(held_there(),)),
    )


def held_there(**other: object) -> RedemptionRow:
    given = {"market_id": MARKET.market_id, "side": Side.YES, "stage": Stage.ACTIVE}
    return row_of(**{**given, "shares": Micros(40 * ONE), "cost": Micros(20 * ONE), **other})


REAL = state_on(*BOTH)


async def turned(t: Ticket, state: DeskState = REAL) -> None:
    """Bring the state and take the real venue."""
    t.app.bring(state)
    await t.pilot.pause()
    await t.pilot.press("f7")
