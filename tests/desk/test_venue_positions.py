"""Positions in real money beside those in play money: read, kept, and summed apart."""

from dataclasses import replace
from pathlib import Path

import pytest

from kit.samples.desk import NOW, sample_state
from kit.service.stage import Stage, first_state, open_stage, open_test_desk, until
from service_tui.desk.audit.exports import position_rows
from service_tui.desk.cached_state import dump_state, load_state
from service_tui.desk.facts import PositionsSeen
from service_tui.desk.positions.translate import position_views
from service_tui.desk.reduce import reduce
from service_tui.desk.slices.service import Phase
from service_tui.outcome import NO, YES, Outcome
from service_tui.terms import Action, MarketStatus, OrderType, Side, Venue
from service_tui.units import ONE, decimal
from service_tui.wire.base import moment
from service_tui.wire.endpoints.public import PLACE_TRADE
from service_tui.wire.positions import PositionBody, PositionSideBody
from service_tui.wire.trades import TradeRequest

AMOUNT = 9.0


async def bought(stage: Stage) -> str:
    """Buy the same side of one market for play money and on its real venue."""
    changes = {"claimed": True, "real_trading_enabled": True}
    world_store = stage.sim.service.world_store
    await world_store.commit(stage.world.change(stage.agent, changes, stage.clock.now()))
    market = next(one for one in stage.open_markets() if one.listing.home is Venue.EVM)
    market_id = market.listing.market_id
    for venue in (Venue.SIM, Venue.EVM):
        order = TradeRequest(market_id=market_id, side=Side.YES, amount=AMOUNT, venue=venue)
        reply = await stage.client.call(PLACE_TRADE, body=order)
        assert reply.answer.success, reply.answer.error
    return market_id


@pytest.mark.slow
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
            assert state.account.mark_equity == state.account.cash + play.mark_value

            kept = load_state(dump_state(state), first_state())
            assert (kept.on_venues, kept.venue_sums) == (state.on_venues, state.venue_sums)
            assert kept.from_cache


@pytest.mark.slow
async def test_what_was_sold_on_a_venue_is_closed_and_its_loss_stays_in_sight(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path) as stage:
        market_id = await bought(stage)
        shares = stage.world.venues.free_shares(stage.agent.agent_id, market_id, Side.YES)
        sale = TradeRequest(
            market_id=market_id,
            side=Side.YES,
            action=Action.SELL,
            shares=decimal(shares),
            venue=Venue.EVM,
            order_type=OrderType.FAK,
        )
        assert (await stage.client.call(PLACE_TRADE, body=sale)).answer.success
        async with open_test_desk(stage) as desk:
            state = await until(
                desk, lambda seen: seen.account and seen.on_venues and seen.markets, stage.clock
            )
            (sold,) = state.on_venues
            assert (sold.venue, sold.is_closed, sold.outcome) == (Venue.EVM, True, None)
            assert sold.realized < 0
            assert sold.unrealized == sold.shares == 0
            (evm,) = (one for one in state.venue_sums if one.is_used)
            assert (evm.venue, evm.positions, evm.trades) == (Venue.EVM, 0, 2)
            rows = [row for row in position_rows(state, {}) if row["venue"] == "evm_venue"]
            assert [(row["status"], row["realized"]) for row in rows] == [
                ("sold", decimal(sold.realized))
            ]


def test_what_an_older_program_kept_is_read_without_them() -> None:
    state = sample_state(6)
    text = dump_state(state).replace(',"on_venues":[],"venue_sums":[]', "")
    assert "on_venues" not in text
    kept = load_state(
        text, replace(first_state(), service=replace(state.service, phase=Phase.ONLINE))
    )
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
        ("won", 1.0, True, YES, 60.0),
        ("lost", 0.0, True, NO, -40.0),
    ],
)
def test_a_position_on_a_venue_makes_what_its_payout_will_bring(
    status: str, yes: float, made: float, *, outcome: Outcome | None, is_closed: bool
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
    assert (view.realized if is_closed else view.unrealized) == view.pnl == made * ONE


def test_where_both_sides_pay_each_waits_until_it_is_redeemed() -> None:
    body = PositionBody(
        market_id="m-1", shares_yes=20.0, shares_no=10.0, current_price=0.35, venue=Venue.EVM,
        status="settled", payout_per_yes=0.35, redeemable=True, redeemable_side="yes",
        sides=(side_of("yes", 20.0, 9.0, 0.35), side_of("no", 10.0, 3.0, 0.65)),
    )  # fmt: skip
    yes, no = position_views(body, None)
    assert (yes.mark_value, no.mark_value) == (7 * ONE, 6.5 * ONE)
    assert (yes.outcome, no.pnl) == (Outcome.at(0.35), 3.5 * ONE)


@pytest.mark.parametrize("waits", [True, False])
def test_what_was_redeemed_is_realized_and_counts_for_no_value(*, waits: bool) -> None:
    body = PositionBody(
        market_id="m-1",
        shares_yes=20.04,
        shares_no=5.0,
        current_price=1.0,
        current_value=20.04,
        cost_basis=20.0,
        venue=Venue.EVM,
        status="won",
        outcome=True,
        redeemable=waits,
        redeemable_side="yes" if waits else None,
        lifecycle="ready_to_redeem" if waits else "redeemed",
        sides=(side_of("yes", 20.04, 20.0, 1.0), side_of("no", 5.0, 3.0, 0.0)),
    )
    held = position_views(body, None)
    state = replace(sample_state(6), positions=(), closed=(), on_venues=held)
    won, lost = position_rows(state, {})
    told = (won["mark_value"], won["exit_value"], won["unrealized"], won["realized"])
    assert told == ((20.04, 20.04, 0.0, 0.04) if waits else (0.0, 0.0, 0.0, 0.04))
    assert won["to_redeem"] == (20.04 if waits else 0.0)
    # A side that lost has nothing to wait for.
    assert (lost["mark_value"], lost["unrealized"], lost["realized"]) == (0.0, 0.0, -3.0)
    assert [view.realized for view in held] == [40_000, -3 * ONE]


def side_of(side: str, shares: float, cost: float, price: float) -> PositionSideBody:
    return PositionSideBody(
        side=side,
        shares=shares,
        cost_basis=cost,
        avg_cost=cost / 25.0,
        mark_price=price,
        current_value=shares * price,
        exit_value=shares * price,
        realized_pnl=0.0,
        opened_at=moment(NOW),
    )
