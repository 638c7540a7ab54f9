"""What the service says of monitors and alerts, field by field."""

from datetime import UTC, datetime
from typing import Any

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from service_tui.engine.books.catalogue import token_of
from service_tui.engine.books.venues import VenueAccount, VenuePosition
from service_tui.engine.events import Breached
from service_tui.engine.exit_values import exit_value
from service_tui.engine.position import Position, SidePosition
from service_tui.engine.risk.alerts import RiskAlert
from service_tui.engine.risk.monitors import Monitor, MonitoredSide
from service_tui.engine.world import World
from service_tui.server.projections.risk import alert_body, monitor_body, removed_body
from service_tui.terms import AlertStatus, ExitReason, Side, Venue, WalletKind
from service_tui.units import Micros, Timestamp

MARKET = "10000000-0000-4000-8000-000000000001"
TIMES = (AT, AT)
YES, NO, SIM, EVM = Side.YES, Side.NO, Venue.SIM, Venue.EVM


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(AT + seconds, UTC)


def watched(venue: Venue, side: Side = NO) -> MonitoredSide:
    return MonitoredSide("ada", venue, MARKET, side)


def holding(venue: Venue, shares: int = 10_000_000, **changes: object) -> World:
    """Ada holds both sides of one market, each of its own size."""
    world = bare_world(claimed=True, real_trading_enabled=True, **changes)
    listed(world, MARKET, home=venue)
    position = Position("ada", MARKET)
    position.yes = SidePosition(Micros(77_000_000), Micros(11_000_000), opened_at=AT)
    position.no = SidePosition(Micros(shares), Micros(3_000_000), opened_at=AT)
    if venue is SIM:
        world.agents["ada"].positions[MARKET] = position
    else:
        found = VenuePosition(position, "Held?", "politics", Timestamp(AT + HOUR))
        account = VenueAccount("ada", venue, holdings={MARKET: found})
        world.venues.accounts["ada", venue] = account
    return world


def monitor(venue: Venue, **fields: Any) -> Monitor:
    known: dict[str, Any] = {
        "stop_loss_pct": 0.2, "take_profit_pct": 0.5, "automatic": True,
        "set_at": Timestamp(AT - 7), "entry": 0.3, "reference": 0.3, "peak": 0.45,
    }  # fmt: skip
    return Monitor(watched(venue), **(known | fields))


def test_a_monitor_is_told_with_the_figures_of_its_side() -> None:
    world = holding(SIM)
    world.agents["ada"].change({"name": "Ada"})
    price = 1.0 - world.markets[MARKET].price()
    told = monitor_body(
        world, monitor(SIM, trailing_stop_pct=0.1, exit_at=Timestamp(AT + 99)), TIMES
    ).model_dump()
    assert told == {
        "market_id": MARKET,
        "side": NO,
        "venue": SIM,
        "question": f"Does {MARKET} end well?",
        "stop_loss_pct": 0.2,
        "take_profit_pct": 0.5,
        "shares": 10.0,
        "cost_basis": 3.0,
        "stop_price": 0.24,
        "take_profit_price": 0.45,
        "entry_price": 0.3,
        "reference_price": 0.3,
        "current_price": round(price, 9),
        "current_value": int(10_000_000 * price) / 1e6,
        "exit_value": exit_value(world, watched(SIM), TIMES) / 1e6,
        "automatic": True,
        "set_at": at(-7),
        "simulated": False,
        "trailing_stop_pct": 0.1,
        "trailing_stop_points": None,
        "trailing_stop_price": 0.405,
        "peak_price": 0.45,
        "exit_at": at(99),
    }


def test_a_monitor_without_a_trailing_stop_has_no_peak() -> None:
    world = holding(EVM)
    bare = monitor(EVM, stop_loss_pct=None, take_profit_pct=None, automatic=False)
    body = monitor_body(world, bare, TIMES)
    assert (body.peak_price, body.trailing_stop_price, body.exit_at) == (None, None, None)
    assert (body.stop_price, body.take_profit_price) == (None, None)
    assert (body.simulated, body.automatic) == (True, False)
    assert body.current_price == round(1.0 - world.venues.book(MARKET).mid(TIMES), 9)


def test_a_trailing_stop_in_points_is_told_as_such() -> None:
    body = monitor_body(holding(SIM), monitor(SIM, trailing_stop_points=0.05), TIMES)
    assert (body.trailing_stop_pct, body.trailing_stop_points) == (None, 0.05)
    assert (body.trailing_stop_price, body.peak_price) == (0.4, 0.45)


def test_a_side_of_yes_is_told_at_the_price_of_yes() -> None:
    world = holding(SIM)
    one = monitor(SIM)
    one.watched = watched(SIM, YES)
    body = monitor_body(world, one, TIMES)
    assert body.current_price == round(world.markets[MARKET].price(), 9)
    assert (body.shares, body.cost_basis) == (77.0, 11.0)


def test_a_removed_monitor_is_told_by_what_it_watched() -> None:
    assert removed_body(holding(SIM), monitor(SIM)).model_dump() == {
        "market_id": MARKET,
        "side": NO,
        "venue": SIM,
        "question": f"Does {MARKET} end well?",
    }


def alert(venue: Venue, **fields: Any) -> RiskAlert:
    known: dict[str, Any] = {
        "alert_id": "a5", "agent_id": "ada", "at": Timestamp(AT - 9), "world_at": AT,
        "venue": venue, "market_id": MARKET, "side": NO, "reason": ExitReason.STOP_LOSS,
        "threshold_pct": 0.2, "level": 0.24, "entry": 0.3, "price": 0.23,
        "shares": Micros(9_000_000),
    }  # fmt: skip
    return RiskAlert(Breached(**(known | fields)))


def test_an_alert_that_waits_is_told_with_its_breach() -> None:
    world = holding(EVM)
    waiting = alert(EVM)
    waiting.sold, waiting.proceeds = Micros(2_000_000), Micros(500_000)
    waiting.realized, waiting.trade_id = Micros(-100_000), "t9"
    assert alert_body(world, waiting, TIMES).model_dump() == {
        "market_id": MARKET,
        "side": NO,
        "shares": 7.0,
        "exit_reason": "stop_loss",
        "venue": EVM,
        "token_id": token_of(MARKET, NO, neg_risk=False),
        "id": "a5",
        "question": f"Does {MARKET} end well?",
        "threshold_pct": 0.2,
        "threshold_price": 0.24,
        "entry_price": 0.3,
        "triggered_price": 0.23,
        "breached_at": at(-9),
        "expires_at": at(HOUR - 9),
        "status": "pending",
        "ended_at": None,
        "shares_sold": 2.0,
        "proceeds": 0.5,
        "realized_pnl": -0.1,
        "trade_id": "t9",
        "executed_by": "service",
        "error": None,
        "message": "stop-loss 20.0%: NO fell to 0.2300, at or below 0.2400 (entry 0.3000)",
        "simulated": True,
    }


def test_an_alert_sells_no_more_than_is_held() -> None:
    body = alert_body(holding(EVM, 6_000_000), alert(EVM), TIMES)
    assert body.shares == 6.0


def test_an_ended_alert_keeps_the_shares_of_its_breach_and_says_who_sold() -> None:
    ended = alert(SIM)
    ended.status, ended.ended_at, ended.sold = (
        AlertStatus.EXECUTED,
        Timestamp(AT + 2),
        Micros(9_000_000),
    )
    body = alert_body(holding(SIM, 1), ended, TIMES)
    assert (body.shares, body.status, body.ended_at) == (9.0, "executed", at(2))
    assert (body.executed_by, body.error, body.trade_id) == ("service", None, None)
    ended.by_service = False
    assert alert_body(holding(SIM, 1), ended, TIMES).executed_by == "client"
    for status, said in ((AlertStatus.EXPIRED, None), (AlertStatus.EXECUTED, "client")):
        ended.status, ended.sold, ended.by_service = status, Micros(0), None
        assert alert_body(holding(SIM, 1), ended, TIMES).executed_by == said
    assert (body.token_id, body.simulated) == (None, False)


@pytest.mark.parametrize(
    ("venue", "wallet", "who"),
    [
        (SIM, WalletKind.MANAGED, "service"),
        (SIM, WalletKind.EXTERNAL, "service"),
        (EVM, WalletKind.MANAGED, "service"),
        (EVM, WalletKind.EXTERNAL, "client"),
    ],
)
def test_an_exit_is_made_by_who_can_sign_it(venue: Venue, wallet: WalletKind, who: str) -> None:
    world = holding(venue, wallet=wallet)
    assert alert_body(world, alert(venue), TIMES).executed_by == who


def test_a_time_stop_has_no_threshold() -> None:
    body = alert_body(holding(SIM), alert(SIM, reason=ExitReason.TIME_STOP), TIMES)
    assert (body.threshold_pct, body.threshold_price) == (None, None)
    assert body.message == "time stop: NO at 0.2300 (entry 0.3000)"


def test_points_are_no_fraction_of_an_entry() -> None:
    points = alert(SIM, reason=ExitReason.TRAILING_STOP, in_points=True, threshold_pct=0.05)
    body = alert_body(holding(SIM), points, TIMES)
    assert (body.threshold_pct, body.threshold_price) == (None, 0.24)
    assert body.message.startswith("trailing stop 5 pt: NO fell to 0.2300")


def test_a_yes_side_is_told_with_its_own_token() -> None:
    body = alert_body(holding(EVM), alert(EVM, side=YES), TIMES)
    assert body.token_id == token_of(MARKET, YES, neg_risk=False)


@pytest.mark.parametrize(("venue", "floor"), [(SIM, ""), (EVM, " of 5")])
def test_a_remainder_says_why_it_was_not_sold(venue: Venue, floor: str) -> None:
    left = alert(venue)
    left.status = AlertStatus.REMAINDER
    body = alert_body(holding(venue, 1_250_000), left, TIMES)
    assert body.error == (
        f"not sold: 1.25000 shares are left, below the venue's least order{floor}; "
        "they wait for the outcome, or are sold with what is bought beside them"
    )


@pytest.mark.parametrize("venue", [SIM, EVM])
def test_what_keeps_the_service_from_selling_is_told(venue: Venue) -> None:
    world = holding(venue)
    closed = Timestamp(AT + HOUR)
    world.world_at = closed
    body = alert_body(world, alert(venue), (AT, closed))
    assert body.error is not None
    assert "closed" in body.error
    # What the client has to sell is not the service's to explain.
    world.agents["ada"].change({"wallet": WalletKind.EXTERNAL})
    own = alert_body(world, alert(venue), (AT, closed))
    assert (own.error is None) is (venue is EVM)
