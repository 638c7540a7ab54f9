"""The preflight check of the SDK."""

import pytest

from service_tui.sdk.preflight import Preflight, Spending, preflight_of
from service_tui.terms import AgentStatus, Plan, Venue
from service_tui.units import Timestamp
from service_tui.wire.agents import AgentBody, RateLimits
from service_tui.wire.base import moment
from service_tui.wire.briefing import BriefingBody, VenueBlock
from service_tui.wire.positions import PositionBody

NOW = moment(Timestamp(1_800_000_000.0))


def agent(*, claimed: bool = True, real: bool = True) -> AgentBody:
    return AgentBody(
        agent_id="a-1",
        name="a",
        status=AgentStatus.ACTIVE,
        balance=0,
        sim_pnl=0,
        total_pnl=0,
        total_pnl_percent=0,
        trades_count=0,
        win_count=0,
        loss_count=0,
        claimed=claimed,
        real_trading_enabled=real,
        created_at=NOW,
        rate_limits=RateLimits(tier=Plan.PRO),
    )


def verdict(
    venue: Venue,
    amount: float,
    *,
    who: AgentBody | None = None,
    cash: float | None = 100.0,
    paused: bool = False,
    cap: float | None = None,
) -> Preflight:
    briefing = BriefingBody(
        venues={venue.value: VenueBlock(currency="USDC", balance=1.0, cash_balance=cash)},
        checked_at=NOW,
        trading_paused=paused,
    )
    held = [
        PositionBody(market_id="m", current_value=40.0, venue=Venue.EVM),
        PositionBody(market_id="n", current_value=500.0),
    ]
    return preflight_of(Spending(venue, amount, cap), who or agent(), briefing, held)


def test_nothing_against_it() -> None:
    found = verdict(Venue.EVM, 25.0, cap=65.0)
    assert found.ok
    assert (found.balance, found.exposure, found.tier) == (100.0, 40.0, Plan.PRO)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (verdict(Venue.EVM, 25.0, who=agent(claimed=False)), "not claimed"),
        (verdict(Venue.EVM, 25.0, who=agent(real=False)), "not enabled"),
        (verdict(Venue.EVM, 25.0, paused=True), "paused"),
        (verdict(Venue.EVM, 125.0), "insufficient balance"),
        (verdict(Venue.EVM, 25.5, cap=65.0), "cap"),
        (verdict(Venue.EVM, float("nan")), "insufficient balance"),
    ],
)
def test_each_reason_stops_it(found: Preflight, said: str) -> None:
    assert not found.ok
    assert said in found.reasons[0]


def test_the_smallest_buy_is_held_back_as_well() -> None:
    for found, said in (
        (verdict(Venue.EVM, 0.01, paused=True), "paused"),
        (verdict(Venue.EVM, 0.01, cap=40.0), "cap"),
        (verdict(Venue.EVM, 0.01, cash=0.0), "insufficient balance"),
    ):
        assert len(found.reasons) == 1
        assert said in found.reasons[0]


def test_a_sale_is_never_held_back_by_money() -> None:
    assert verdict(Venue.EVM, 0.0, paused=True, cap=1.0, cash=0.0).ok


def test_sim_needs_no_claim() -> None:
    assert verdict(Venue.SIM, 25.0, who=agent(claimed=False, real=False)).ok


def test_a_balance_that_is_not_known_stops_nothing() -> None:
    briefing = BriefingBody(venues={"evm_venue": None}, checked_at=NOW)
    found = preflight_of(Spending(Venue.EVM, 5.0, None), agent(), briefing, [])
    assert found.ok
    assert found.balance is None


def test_blocks_are_found_under_the_public_names_too() -> None:
    raw = (
        b'{"venues":{"polymarket":{"currency":"USDC","balance":3.0}},"checked_at":"%s",'
        b'"polymarket":{"redeemable_count":2}}' % NOW.isoformat().encode()
    )
    body = BriefingBody.model_validate_json(raw)
    assert body.venues["evm_venue"] is not None
    assert body.evm.redeemable_count == 2
