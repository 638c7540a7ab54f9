"""Positions in real money beside those in play money: read, kept, and summed apart."""

from dataclasses import replace
from pathlib import Path

import pytest

from samples import sample_state
from service_tui.desk.facts import PositionsSeen
from service_tui.desk.frozen import freeze, thaw
from service_tui.desk.records import Phase
from service_tui.desk.reduce import reduce
from service_tui.desk.translate import position_views
from service_tui.terms import MarketStatus, Side, Venue
from service_tui.units import ONE
from service_tui.wire.endpoints import PLACE_TRADE
from service_tui.wire.positions import PositionBody
from service_tui.wire.trades import TradeRequest
from support import Stage, first_state, open_stage, open_test_desk, until

AMOUNT = 9.0


async def bought(stage: Stage) -> str:
    """Buy the same side of one market for play money and on its real venue."""
    changes = {"claimed": True, "real_trading_enabled": True}
    keeper = stage.sim.service.keeper
    await keeper.commit(stage.world.change(stage.agent, changes, stage.clock.now()))
    market = next(one for one in stage.open_markets() if one.listing.home is Venue.EVM)
    market_id = market.listing.market_id
    for venue in (Venue.SIM, Venue.EVM):
        order = TradeRequest(market_id=market_id, side=Side.YES, amount=AMOUNT, venue=venue)
        reply = await stage.client.call(PLACE_TRADE, body=order)
        assert reply.answer.success, reply.answer.error
    return market_id


async def test_what_is_held_on_a_venue_is_told_apart_from_play_money(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        market_id = await bought(stage)
        async with open_test_desk(stage) as desk:
            state = await until(
                desk, lambda seen: seen.account and seen.on_venues and seen.markets, stage.clock
            )
            (play,), (real,) = state.positions, state.on_venues
            assert (play.venue, real.venue) == (Venue.SIM, Venue.EVM)
            assert play.market_id == real.market_id == market_id
            assert play.key != real.key
            assert (state.position(play.key), state.position(real.key)) == (play, real)
            assert real.shares > 0
            assert real.status is MarketStatus.ACTIVE
            (evm,) = (one for one in state.venue_sums if one.is_used)
            assert (evm.venue, evm.money, evm.positions) == (Venue.EVM, "USDC.e", 1)
            assert evm.pnl_at is not None
            assert evm.cash is not None
            assert 0 < evm.value < AMOUNT * ONE
            # No sum of play money has seen it.
            assert state.account is not None
            assert state.account.equity == state.account.cash + play.mark_value

            kept = thaw(freeze(state), first_state())
            assert (kept.on_venues, kept.venue_sums) == (state.on_venues, state.venue_sums)
            assert kept.from_cache


def test_what_an_older_program_kept_is_read_without_them() -> None:
    state = sample_state(6)
    text = freeze(state).replace('"on_venues":[],"venue_sums":[],', "")
    assert "on_venues" not in text
    kept = thaw(text, replace(first_state(), service=replace(state.service, phase=Phase.ONLINE)))
    assert kept.positions == state.positions
    assert kept.on_venues == ()


def test_an_answer_that_was_not_asked_for_venues_leaves_what_is_known() -> None:
    state = sample_state(6)
    real = tuple(replace(held, venue=Venue.EVM) for held in state.positions[:1])
    known = reduce(state, PositionsSeen(state.positions, on_venues=real))
    assert reduce(known, PositionsSeen(state.positions)).on_venues == real
    # A price of the market maker is none of the venue's book.
    assert known.on_venues == real


@pytest.mark.parametrize(
    ("status", "yes", "is_closed", "outcome", "made"),
    [
        ("active", 0.6, False, None, 20.0),
        ("closed", 0.6, False, None, 20.0),
        ("won", 1.0, True, True, 60.0),
        ("lost", 0.0, True, False, -40.0),
    ],
)
def test_a_position_on_a_venue_makes_what_its_payout_will_bring(
    status: str, yes: float, made: float, *, outcome: bool | None, is_closed: bool
) -> None:
    body = PositionBody(
        market_id="m-1",
        shares_yes=100.0,
        current_price=yes,
        current_value=100.0 * yes,
        cost_basis=40.0,
        venue=Venue.EVM,
        currency="USDC",
        status=status,
    )
    (view,) = position_views(body, None)
    assert (view.is_closed, view.outcome) == (is_closed, outcome)
    assert view.made == view.pnl == made * ONE
