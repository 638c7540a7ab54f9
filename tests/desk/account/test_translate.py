"""The service's answers on an account as views of the desk."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from service_tui.desk.account.translate import account_view, limits_view
from service_tui.desk.positions.translate import position_views
from service_tui.desk.slices.positions import PositionView
from service_tui.terms import Plan
from service_tui.units import ONE
from service_tui.wire.agents import AgentBody
from service_tui.wire.positions import PortfolioBody, PositionBody
from service_tui.wire.settings import SettingsBody, UserSettingsBody

AT = datetime(2027, 1, 15, 8, 0, tzinfo=UTC)

HELD = {"market_id": "m", "question": "Will it?", "current_price": 0.4}

SIDE = {
    "side": "yes",
    "shares": 100.0,
    "cost_basis": 35.0,
    "avg_cost": 0.35,
    "mark_price": 0.4,
    "current_value": 40.0,
    "exit_value": 39.0,
    "realized_pnl": 2.0,
    "opened_at": AT,
}


def views(**fields: Any) -> tuple[PositionView, ...]:
    return position_views(PositionBody(**{**HELD, **fields}), None)


def agent(**fields: Any) -> AgentBody:
    known = {
        "agent_id": "a",
        "name": "desk",
        "status": "unclaimed",
        "balance": 900.0,
        "sim_pnl": 0.0,
        "total_pnl": -20.0,
        "total_pnl_percent": 0.0,
        "trades_count": 2,
        "win_count": 1,
        "loss_count": 1,
        "claimed": False,
        "real_trading_enabled": False,
        "created_at": AT.isoformat(),
    }
    return AgentBody.model_validate_json(json.dumps({**known, **fields}))


def test_the_figures_of_an_account_fit_each_other() -> None:
    holdings = views(sides=(SIDE,))
    portfolio = PortfolioBody(
        sim={"balance": 950.0, "total_exposure": 40.0}, pnl_24h=99.0, pnl_total=-10.0,
        exit_equity=989.0, pnl_today=7.0,
    )  # fmt: skip
    account = account_view(agent(), portfolio, holdings)
    assert account.cash == 950 * ONE
    assert account.mark_equity == account.cash + 40 * ONE
    assert account.equity == account.cash + 39 * ONE
    # What selling brings is one less than the mark.
    assert (account.total_pnl, account.day_pnl) == (-11 * ONE, 7 * ONE)
    assert account.realized + account.unrealized == -10 * ONE
    assert account.plan is Plan.FREE


def test_a_service_that_tells_little_gets_an_account_all_the_same() -> None:
    account = account_view(agent(), PortfolioBody(), ())
    assert (account.cash, account.equity, account.total_pnl) == (900 * ONE, 900 * ONE, -20 * ONE)
    assert account.day_pnl is None
    assert (account.mark_equity, account.is_at_mark) == (900 * ONE, False)


def test_without_an_exit_value_the_equity_is_by_the_mark_and_says_so() -> None:
    holdings = views(shares_yes=1.0)
    account = account_view(agent(), PortfolioBody(), holdings)
    assert account.is_at_mark
    assert account.equity == account.mark_equity


@pytest.mark.parametrize("account_paused", [True, False])
@pytest.mark.parametrize("user_paused", [True, False])
def test_either_document_may_pause(account_paused: bool, user_paused: bool) -> None:  # noqa: FBT001
    limits = limits_view(
        SettingsBody(sdk_real_trading_enabled=False, trading_paused=account_paused),
        UserSettingsBody(trading_paused=user_paused),
        sim=True,
    )
    assert limits.paused == (account_paused or user_paused)


def test_a_service_that_does_not_say_counts_as_paused() -> None:
    body = SettingsBody(sdk_real_trading_enabled=False)
    assert limits_view(body, UserSettingsBody(trading_paused=False), sim=True).paused


def test_the_cap_of_a_trade_is_the_venues() -> None:
    body = SettingsBody(
        sdk_real_trading_enabled=False, sdk_max_trade_amount=-1.0, trading_paused=False
    )
    user = UserSettingsBody(trading_paused=False)
    assert limits_view(body, user, sim=True).max_trade == 500 * ONE
    assert limits_view(body, user, sim=False).max_trade == -ONE
