"""The bodies of an agent, its settings, its markets and its positions, field by field."""

from datetime import UTC, datetime
from typing import Any

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from service_tui.engine.agents.agents import Agent, ClosedPosition
from service_tui.engine.amm.exchange import Order
from service_tui.engine.amm.market import Market, Quote
from service_tui.engine.chain.chain import managed_address
from service_tui.engine.chain_events import WalletLinked
from service_tui.engine.events import Fill, MarketResolved, Note, Payout
from service_tui.engine.position import Position, SidePosition
from service_tui.engine.tape.feed import NewsItem
from service_tui.engine.world import World
from service_tui.outcome import NO as ENDED_NO
from service_tui.outcome import VOID, Outcome
from service_tui.outcome import YES as ENDED_YES
from service_tui.server.chain_node.relay import approval_keys
from service_tui.server.projections.present import (
    agent_body,
    agent_pnl,
    closed_body,
    context_body,
    linked_address,
    market_body,
    news_body,
    opportunity_of,
    payout_to,
    position_body,
    quote_body,
    settings_body,
    sold_bodies,
    spark_of,
    time_left,
    trade_body,
    user_settings_body,
    wallet_address,
    with_remainder,
)
from service_tui.signing.book import ExchangeVersion
from service_tui.terms import Action, Plan, Side, Venue, WalletKind
from service_tui.units import Micros, Probability, Timestamp
from service_tui.wire.base import moment

YES, NO = Side.YES, Side.NO
ADDRESS = "0x" + "Ab" * 20


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(AT + seconds, UTC)


def side(shares: int, cost: int, realized: int = 0, opened_s: float = -1.0) -> SidePosition:
    return SidePosition(Micros(shares), Micros(cost), Micros(realized), Timestamp(AT + opened_s))


def holding(
    world: World, market_id: str, yes: SidePosition, no: SidePosition | None = None
) -> Agent:
    agent = world.agents["ada"]
    position = Position("ada", market_id, yes, no or SidePosition())
    agent.positions[market_id] = position
    return agent


# -- the agent -----------------------------------------------------------------------------


def test_the_body_of_an_agent_has_all_its_figures() -> None:
    world = bare_world(claimed=True, real_trading_enabled=True, auto_redeem_enabled=False)
    agent = world.agents["ada"]
    agent.settings = agent.settings.__class__(
        name="Ada", plan=Plan.PRO, claimed=True, auto_redeem_enabled=False
    )
    agent.description = "buys low"
    agent.trades_count, agent.win_count, agent.loss_count = 17, 6, 2
    agent.realized = Micros(123_456_789)
    agent.last_trade_at = Timestamp(AT + 5)
    agent.created_at = Timestamp(AT - 50)
    body = agent_body(world, agent, "https://desk.example")
    shown = body.model_dump(exclude={"rate_limits"})
    assert shown == {
        "agent_id": "ada",
        "name": "Ada",
        "status": "active",
        "balance": 10_000.0,
        "sim_pnl": 123.456789,
        "total_pnl": 123.456789,
        "total_pnl_percent": 1.2346,
        "trades_count": 17,
        "win_count": 6,
        "loss_count": 2,
        "win_rate": 0.75,
        "claimed": True,
        "real_trading_enabled": False,
        "created_at": at(-50),
        "description": "buys low",
        "last_trade_at": at(5),
        "auto_redeem_enabled": False,
        "wallet_address": managed_address("ada"),
        "wallet_ownership": "native",
        "claim_url": "https://desk.example/claim/c-ada",
    }
    assert body.rate_limits is not None
    assert body.rate_limits.tier is Plan.PRO
    assert body.rate_limits.endpoints["/api/sdk/trade"].requests_per_minute == 180


def test_an_agent_without_trades_has_no_last_trade_and_no_win_rate() -> None:
    world = bare_world()
    body = agent_body(world, world.agents["ada"], "")
    assert (body.last_trade_at, body.win_rate, body.description) == (None, None, None)
    assert (body.status, body.claimed, body.auto_redeem_enabled) == ("unclaimed", False, True)


def test_the_pnl_of_an_agent_counts_open_positions_at_the_current_price() -> None:
    world = bare_world()
    price = listed(world).price()
    agent = holding(world, "m1", side(10_000_000, 5_000_000), side(4_000_000, 1_000_000))
    agent.realized = Micros(700_000)
    open_pnl = int(10_000_000 * price) + int(4_000_000 * (1 - price)) - 6_000_000
    assert agent_pnl(world, agent) == 700_000 + open_pnl


def test_the_context_has_the_agents_identity_balance_and_pause() -> None:
    world = bare_world(trading_paused=True)
    listed(world)
    agent = holding(world, "m1", side(1, 1))
    agent.positions["m2"] = Position("ada", "m2")
    body = context_body(world, agent, "https://desk.example", Timestamp(AT + 9))
    assert body.model_dump() == {
        "agent_id": "ada",
        "name": "ada",
        "status": "unclaimed",
        "claimed": False,
        "claim_url": "https://desk.example/claim/c-ada",
        "plan": "elite",
        "balance": 10_000.0,
        "positions_count": 1,
        "trading_paused": True,
        "checked_at": at(9),
    }


SETTINGS: dict[str, object] = {
    "claimed": True,
    "real_trading_enabled": True,
    "max_trade": Micros(11_000_000),
    "day_spend_max": Micros(22_000_000),
    "max_position": Micros(33_000_000),
    "skill_day_max": Micros(44_000_000),
    "trades_per_day": 55,
    "stop_loss_pct": 0.11,
    "take_profit_pct": 0.22,
    "auto_risk_monitor_enabled": False,
    "solana_wallet": "sol wallet",
    "clawdbot_webhook_url": "https://hook.example",
    "clawdbot_chat_id": "chat",
    "clawdbot_channel": "channel",
}


def test_the_settings_are_returned_as_they_were_set() -> None:
    world = bare_world(**SETTINGS)
    agent = world.agents["ada"]
    world.ledger.transfer("agent:ada:evm_venue", "issuer:evm_venue", Micros(300_000_000))
    world.ledger.transfer("agent:ada:sol_venue", "issuer:sol_venue", Micros(400_000_000))
    world.venues.spent["ada"] = int(AT // 86_400), Micros(7_000_000)
    agent.sdk_version, agent.sdk_seen_at = "1.2.3", Timestamp(AT - 3)
    body = settings_body(world, agent, AT)
    assert body.model_dump(exclude_defaults=True) == {
        "sdk_real_trading_enabled": True,
        "wallet_address": managed_address("ada"),
        "sdk_max_trade_amount": 11.0,
        "sdk_daily_limit": 22.0,
        "sdk_daily_spent": 7.0,
        "trading_paused": False,
        "solana_wallet_address": "sol wallet",
        "polymarket_usdc_balance": 700.0,
        "polymarket_allowances_set": True,
        "kalshi_usdc_balance": 600.0,
        "last_sdk_version": "1.2.3",
        "last_sdk_version_seen_at": at(-3),
    }
    assert body.wallet_ownership == "native"
    newer = settings_body(world, agent, AT, Timestamp(AT + 8))
    assert newer.last_sdk_version_seen_at == at(8)
    agent.sdk_seen_at = None
    assert settings_body(world, agent, AT).last_sdk_version_seen_at is None


def test_the_limits_are_returned_as_they_were_set() -> None:
    world = bare_world(**SETTINGS)
    agent = world.agents["ada"]
    agent.buys_day, agent.day_buys = int(AT // 86_400), 8
    body = user_settings_body(world, agent, AT)
    assert body.model_dump(exclude={"rails"}) == {
        "max_trades_per_day": 55,
        "trades_today": 8,
        "max_position_usd": 33.0,
        "default_stop_loss_pct": 0.11,
        "default_take_profit_pct": 0.22,
        "auto_risk_monitor_enabled": False,
        "trading_paused": False,
        "solana_wallet_address": "sol wallet",
        "clawdbot_webhook_url": "https://hook.example",
        "clawdbot_chat_id": "chat",
        "clawdbot_channel": "channel",
        "monitors_removed": (),
        "warnings": (),
        "skill_daily_budget": 44.0,
    }
    assert body.rails is not None
    assert body.rails.max_trade == 11.0


def test_limits_that_are_not_set_are_none() -> None:
    world = bare_world()
    body = user_settings_body(world, world.agents["ada"], AT)
    assert (body.max_position_usd, body.skill_daily_budget, body.max_trades_per_day) == (
        None,
        None,
        None,
    )


@pytest.mark.parametrize("name", ["max_position", "skill_day_max"])
def test_one_limit_may_be_set_without_the_other(name: str) -> None:
    world = bare_world(**{name: Micros(66_000_000)})
    body = user_settings_body(world, world.agents["ada"], AT)
    shown = {"max_position": body.max_position_usd, "skill_day_max": body.skill_daily_budget}
    assert shown.pop(name) == 66.0
    assert list(shown.values()) == [None]


@pytest.mark.parametrize(
    ("changes", "halted", "stopped"),
    [
        ({}, False, False),
        ({}, True, True),
        ({"trading_paused": True}, False, True),
        ({"operator_paused": True}, False, True),
    ],
)
def test_an_agent_is_paused_by_itself_its_operator_or_a_halt(
    *, changes: dict[str, object], halted: bool, stopped: bool
) -> None:
    world = bare_world(**changes)
    world.halt.since = AT if halted else None
    agent = world.agents["ada"]
    assert settings_body(world, agent, AT).trading_paused is stopped
    assert user_settings_body(world, agent, AT).trading_paused is stopped
    assert context_body(world, agent, "", AT).trading_paused is stopped


# -- its wallet ----------------------------------------------------------------------------


def test_the_linked_wallet_is_shown_once_the_agent_trades_with_it() -> None:
    world = bare_world()
    agent = world.agents["ada"]
    world.apply(WalletLinked("ada", AT, ADDRESS))
    # It is linked, but the agent still trades with the managed wallet.
    assert wallet_address(world, agent) == managed_address("ada")
    agent.change({"wallet": WalletKind.EXTERNAL})
    assert wallet_address(world, agent) == linked_address(world, agent) == ADDRESS
    assert agent_body(world, agent, "").wallet_ownership == "external"
    body = settings_body(world, agent, AT)
    assert (body.wallet_address, body.linked_wallet_address) == (ADDRESS, ADDRESS)
    assert body.wallet_ownership == "external"


def test_an_external_wallet_that_is_not_linked_has_no_address() -> None:
    world = bare_world(wallet=WalletKind.EXTERNAL)
    agent = world.agents["ada"]
    assert wallet_address(world, agent) is None
    assert settings_body(world, agent, AT).linked_wallet_address is None


@pytest.mark.parametrize(
    ("claimed", "kind", "approved"),
    [
        (False, WalletKind.MANAGED, False),
        (True, WalletKind.MANAGED, True),
        (True, WalletKind.EXTERNAL, False),
    ],
)
def test_a_managed_wallet_has_its_approvals_once_the_agent_is_claimed(
    *, claimed: bool, kind: WalletKind, approved: bool
) -> None:
    world = bare_world(claimed=claimed, wallet=kind)
    assert settings_body(world, world.agents["ada"], AT).polymarket_allowances_set is approved


@pytest.mark.parametrize("exchange", ExchangeVersion)
def test_a_linked_wallet_needs_every_approval_of_one_exchange_version(
    exchange: ExchangeVersion,
) -> None:
    world = bare_world(claimed=True, wallet=WalletKind.EXTERNAL)
    agent = world.agents["ada"]
    world.apply(WalletLinked("ada", AT, ADDRESS))
    wallet = world.chain.wallet_of("ada")
    assert wallet is not None
    first, *others = approval_keys(exchange)
    wallet.approvals.update(others)
    assert settings_body(world, agent, AT).polymarket_allowances_set is False
    wallet.approvals.add(first)
    assert settings_body(world, agent, AT).polymarket_allowances_set is True


# -- markets -------------------------------------------------------------------------------


def test_the_body_of_a_market_has_all_its_figures() -> None:
    world = bare_world()
    market = listed(world, home=Venue.SOL)
    market.samples = [
        (Timestamp(AT - 95_000), 0.77),
        (Timestamp(AT - 90_000), 0.11),
        (Timestamp(AT - 10), 0.44),
    ]
    market.count_volume(AT, Micros(12_340_000))
    shown = market_body(market, AT, sparkline=True, criteria=True).model_dump(exclude_defaults=True)
    url = shown.pop("url")
    assert url.startswith("https://sol-venue.example/")
    assert shown == {
        "id": "m1",
        "question": "Does m1 end well?",
        "current_probability": 0.4,
        "current_price": 0.4,
        "price_24h_ago": 0.11,
        "volume_24h": 12.34,
        "resolves_at": at(HOUR),
        "opens_at": at(-2 * HOUR),
        "tags": ("politics", "strike"),
        "resolution_criteria": "YES if it ends well.",
        "tick_size": 0.0001,
        "import_source": "sol_venue",
        "opportunity_score": 0.8,
        "outcome_name": "Lunmouth",
        "liquidity": 2_000.0,
        "sparkline": (0.44, 0.4),
    }


def test_an_open_market_is_live_and_tradeable() -> None:
    body = market_body(listed(bare_world()), AT, sparkline=False, criteria=False)
    assert (body.status, body.is_live_now, body.sim_tradeable) == ("active", True, True)


def test_the_short_form_of_a_market_has_no_criteria_and_no_sparkline() -> None:
    world = bare_world()
    body = market_body(listed(world, subject=""), AT, sparkline=False, criteria=False)
    assert (body.resolution_criteria, body.sparkline, body.outcome_name) == (None, (), None)
    assert (body.event_id, body.event_name, body.resolved_at, body.outcome) == (None,) * 4


def test_a_closed_market_is_neither_live_nor_tradeable() -> None:
    world = bare_world()
    body = market_body(listed(world), Timestamp(AT + HOUR), sparkline=False, criteria=False)
    assert (body.status, body.is_live_now, body.sim_tradeable) == ("closed", False, False)


def test_a_resolved_market_has_its_outcome_and_time() -> None:
    world = bare_world()
    market = listed(world)
    market.outcome, market.resolved_at = ENDED_NO, Timestamp(AT + 4)
    body = market_body(market, Timestamp(AT + 9), sparkline=False, criteria=False)
    assert (body.status, body.outcome, body.resolved_at) == ("resolved", False, at(4))


def test_prices_of_a_market_are_rounded_to_six_digits() -> None:
    market = listed(bare_world(), start_price=0.123_456_789)
    body = market_body(market, AT, sparkline=False, criteria=False)
    assert (body.current_price, body.price_24h_ago) == (0.123457, 0.123457)


@pytest.mark.parametrize(
    ("price", "score"), [(0.5, 1.0), (0.25, 0.5), (0.9, 0.2), (0.123_45, 0.2469)]
)
def test_the_opportunity_score_peaks_at_a_price_of_one_half(price: float, score: float) -> None:
    assert opportunity_of(listed(bare_world(), start_price=price)) == score


def sampled(count: int, step_s: float) -> Market:
    """A market with a price every so often until now, each another one."""
    market = listed(bare_world())
    market.samples = [
        (Timestamp(AT - (count - index) * step_s), index / 1_000) for index in range(count)
    ]
    return market


def test_a_sparkline_ends_with_the_current_price_and_has_at_most_24_prices() -> None:
    assert spark_of(sampled(3, 60), AT) == (0.0, 0.001, 0.002, 0.4)
    # Of 50 samples every second one, without the first ones.
    assert spark_of(sampled(50, 60), AT) == (
        *(index / 1_000 for index in range(4, 50, 2)),
        0.4,
    )
    assert len(spark_of(sampled(400, 60), AT)) == 24


def test_a_sparkline_covers_the_last_day() -> None:
    # Hourly: 24 lie in the last day, the oldest just at its beginning.
    assert spark_of(sampled(30, 3_600), AT) == (*(n / 1_000 for n in range(7, 30)), 0.4)
    even = listed(bare_world(), start_price=0.5)
    assert spark_of(even, AT) == (0.5, 0.5)


# -- positions -----------------------------------------------------------------------------


def test_the_body_of_a_position_has_both_sides() -> None:
    world = bare_world()
    market = listed(world)
    agent = holding(
        world,
        "m1",
        side(10_000_000, 3_000_000, 500_000, -30),
        side(5_000_000, 4_000_000, -200_000, -20),
    )
    agent.sources["m1"] = ("news", "weather")
    price = market.price()
    yes_value, no_value = int(10_000_000 * price), int(5_000_000 * (1 - price))
    floating = yes_value + no_value - 7_000_000
    body = position_body(world, agent, "m1")
    shown = body.model_dump(exclude={"sides", "url"}, exclude_defaults=True)
    assert shown == {
        "market_id": "m1",
        "question": "Does m1 end well?",
        "shares_yes": 10.0,
        "shares_no": 5.0,
        "current_price": price,
        "current_value": (yes_value + no_value) / 1e6,
        "cost_basis": 7.0,
        "avg_cost": pytest.approx(7 / 15),
        "pnl": pytest.approx((floating + 300_000) / 1e6),
        "realized_pnl": 0.3,
        "unrealized_pnl": floating / 1e6,
        "resolves_at": at(HOUR),
        "sources": ("news", "weather"),
        "sim_balance": 10_000.0,
    }
    assert [one.model_dump() for one in body.sides] == [
        {
            "side": "yes",
            "shares": 10.0,
            "cost_basis": 3.0,
            "avg_cost": 0.3,
            "mark_price": market.price_of(YES),
            "current_value": yes_value / 1e6,
            "exit_value": market.exit_value(YES, Micros(10_000_000)) / 1e6,
            "realized_pnl": 0.5,
            "opened_at": at(-30),
            "unrealized_pnl": (yes_value - 3_000_000) / 1e6,
            # Five pairs bring 5 together, and the other five of YES what they are sold for.
            "exit_together": (int(5_000_000 * price) + market.exit_value(YES, Micros(5_000_000)))
            / 1e6,
        },
        {
            "side": "no",
            "shares": 5.0,
            "cost_basis": 4.0,
            "avg_cost": 0.8,
            "mark_price": market.price_of(NO),
            "current_value": no_value / 1e6,
            "exit_value": market.exit_value(NO, Micros(5_000_000)) / 1e6,
            "realized_pnl": -0.2,
            "opened_at": at(-20),
            "unrealized_pnl": (no_value - 4_000_000) / 1e6,
            "exit_together": (5_000_000 - int(5_000_000 * price)) / 1e6,
        },
    ]


def test_a_position_is_closed_by_world_time() -> None:
    world = bare_world()
    listed(world, "m1")
    agent = holding(world, "m1", side(10_000_000, 3_000_000, 0, -30), side(0, 0, 0, 0))
    world.world_at = Timestamp(AT + HOUR)
    assert position_body(world, agent, "m1").status == "closed"
    world.at, world.world_at = world.world_at, AT
    assert position_body(world, agent, "m1").status == "active"


def test_a_sold_out_side_is_a_separate_row() -> None:
    world = bare_world()
    market = listed(world)
    agent = holding(world, "m1", side(1_000_000, 400_000), side(0, 0, -900_000, -60))
    agent.sources["m1"] = ("news",)
    assert position_body(world, agent, "m1").realized_pnl == 0.0
    assert [one.side for one in position_body(world, agent, "m1").sides] == ["yes"]
    (sold,) = sold_bodies(world, agent)
    assert sold.model_dump(exclude={"sides", "url"}, exclude_defaults=True) == {
        "market_id": "m1",
        "question": "Does m1 end well?",
        "current_price": market.price(),
        "pnl": -0.9,
        "realized_pnl": -0.9,
        "status": "sold",
        "resolves_at": at(HOUR),
        "sources": ("news",),
    }
    assert [one.model_dump() for one in sold.sides] == [
        {
            "side": "no",
            "shares": 0.0,
            "cost_basis": 0.0,
            "avg_cost": None,
            "mark_price": market.price_of(NO),
            "current_value": 0.0,
            "exit_value": 0.0,
            "realized_pnl": -0.9,
            "opened_at": at(-60),
            "unrealized_pnl": 0.0,
            "exit_together": None,
        }
    ]


def test_a_side_that_was_never_bought_is_not_a_sold_row() -> None:
    world = bare_world()
    listed(world)
    agent = holding(world, "m1", side(1_000_000, 400_000))
    assert sold_bodies(world, agent) == []


def test_the_average_cost_of_a_dust_position_is_at_most_one_dollar() -> None:
    world = bare_world()
    listed(world)
    body = position_body(world, holding(world, "m1", side(10, 11)), "m1")
    assert (body.avg_cost, body.sides[0].avg_cost) == (1.0, 1.0)


def closed(**changes: Any) -> ClosedPosition:
    fields: dict[str, Any] = {
        "market_id": "m9", "question": "Did it?", "category": "sports", "side": YES,
        "shares": Micros(8_000_000), "cost": Micros(2_000_000), "payout": Micros(8_000_000),
        "realized": Micros(6_500_000), "outcome": ENDED_YES, "opened_at": Timestamp(AT - 70),
        "resolved_at": Timestamp(AT - 7), "sources": ("news",),
    }  # fmt: skip
    return ClosedPosition(**(fields | changes))


@pytest.mark.parametrize(
    ("held", "outcome", "status", "price", "mark"),
    [
        (YES, ENDED_YES, "won", 1.0, 1.0),
        (YES, ENDED_NO, "lost", 0.0, 0.0),
        (NO, ENDED_NO, "won", 0.0, 1.0),
        (NO, ENDED_YES, "lost", 1.0, 0.0),
        # A partial payout: neither side has won.
        (NO, Outcome.at(0.25), "settled", 0.25, 0.75),
        # Voided: the cost is paid back.
        (NO, VOID, "voided", 0.75, 0.25),
    ],
)
def test_a_resolved_position_has_the_status_and_price_of_its_outcome(
    held: Side, outcome: Outcome, status: str, price: float, *, mark: float
) -> None:
    body = closed_body(closed(side=held, outcome=outcome))
    shares = {YES: (8.0, 0.0), NO: (0.0, 8.0)}[held]
    assert (body.shares_yes, body.shares_no) == shares
    assert (body.status, body.current_price) == (status, price)
    assert (body.payout_per_yes, body.voided) == (outcome.part, outcome.is_void)
    assert body.sides[0].side == held.value
    assert body.sides[0].mark_price == mark


def test_a_resolved_position_keeps_its_figures() -> None:
    body = closed_body(closed())
    assert body.model_dump(exclude={"sides"}, exclude_defaults=True) == {
        "market_id": "m9",
        "question": "Did it?",
        "shares_yes": 8.0,
        "current_price": 1.0,
        "cost_basis": 2.0,
        "avg_cost": 0.25,
        "pnl": 6.5,
        "realized_pnl": 6.5,
        "status": "won",
        "outcome": True,
        "payout_per_yes": 1.0,
        "resolved_at": at(-7),
        "sources": ("news",),
    }
    assert body.sides[0].model_dump() == {
        "side": "yes",
        "shares": 8.0,
        "cost_basis": 2.0,
        "avg_cost": 0.25,
        "mark_price": 1.0,
        "current_value": 0.0,
        "exit_value": 0.0,
        "realized_pnl": 6.5,
        "opened_at": at(-70),
        "unrealized_pnl": 0.0,
        "exit_together": None,
    }
    without = closed_body(closed(shares=Micros(0), sources=None))
    assert (without.status, without.sources, without.avg_cost) == ("sold", (), None)


# -- trades --------------------------------------------------------------------------------


def fill(action: Action, shares: int = 4_000_000, money: int = 1_000_000) -> Fill:
    return Fill(
        trade_id="t5",
        agent_id="ada",
        market_id="m1",
        side=NO,
        action=action,
        shares=Micros(shares),
        money=Micros(money),
        price_before=0.31,
        price_after=0.33,
        at=AT,
        world_at=AT,
        realized=Micros(0),
        note=Note(),
    )


@pytest.mark.parametrize(
    ("action", "bought", "sold"), [(Action.BUY, 4.0, 0.0), (Action.SELL, 0.0, 4.0)]
)
def test_the_answer_to_a_fill_has_shares_cost_and_prices(
    action: Action, bought: float, sold: float
) -> None:
    world = bare_world()
    shown = trade_body(world, world.agents["ada"], fill(action)).model_dump()
    expected = {
        "success": True,
        "trade_id": "t5",
        "market_id": "m1",
        "side": NO,
        "shares_bought": bought,
        "shares_sold": sold,
        "shares_requested": 4.0,
        "shares": 4.0,
        "status": "filled",
        "order_status": "matched",
        "fill_status": "filled",
        "cost": 1.0,
        "new_price": 0.33,
        "price_before": 0.31,
        "avg_price": 0.25,
        "balance": 10_000.0,
        "dry_run": False,
        "go_live": None,
    }
    assert {name: shown[name] for name in expected} == expected
    assert shown["position"]["sim_balance"] == 10_000.0


def test_the_average_price_of_a_dust_fill_is_at_most_one_dollar() -> None:
    world = bare_world()
    assert trade_body(world, world.agents["ada"], fill(Action.BUY, 1, 2)).avg_price == 1.0


@pytest.mark.parametrize(
    ("action", "bought", "sold", "after"),
    [(Action.BUY, 4.0, 0.0, 9_999.0), (Action.SELL, 0.0, 4.0, 10_001.0)],
)
def test_a_quote_has_the_balance_after_the_trade(
    action: Action, bought: float, sold: float, after: float
) -> None:
    world = bare_world()
    order = Order(world.agents["ada"], "m1", YES, action, Micros(1))
    quote = Quote(Micros(4_000_000), Micros(1_000_000), 0.41, 0.43)
    shown = quote_body(world, order, quote).model_dump()
    expected = {
        "success": True,
        "market_id": "m1",
        "side": YES,
        "shares_bought": bought,
        "shares_sold": sold,
        "shares_requested": 4.0,
        "shares": 4.0,
        "cost": 1.0,
        "new_price": 0.43,
        "price_before": 0.41,
        "avg_price": 0.25,
        "balance": after,
        "dry_run": True,
        "trade_id": None,
    }
    assert {name: shown[name] for name in expected} == expected
    assert shown["position"]["sim_balance"] == after


def test_a_remainder_sold_with_the_rest_adds_a_warning() -> None:
    world = bare_world()
    body = trade_body(world, world.agents["ada"], fill(Action.SELL))
    body = body.model_copy(update={"warnings": ("slow",)})
    assert with_remainder(body, Micros(0)).warnings == ("slow",)
    assert with_remainder(body, Micros(1_250_000)).warnings == (
        "slow",
        "1.25 shares are sold with the rest: too few to be sold by themselves",
    )


# -- news and outcomes ---------------------------------------------------------------------


def test_the_body_of_a_news_item_has_headline_and_prices() -> None:
    item = NewsItem("m1", Timestamp(AT + 3), "It rains", 0.5, Probability(0.2), Probability(0.3))
    assert news_body(item).model_dump() == {
        "at": at(3),
        "market_id": "m1",
        "headline": "It rains",
        "price_before": 0.2,
        "price_after": 0.3,
    }
    assert moment(AT) == at(0)


def paid(agent_id: str, payout: int, cost: int) -> Payout:
    return Payout(
        agent_id=agent_id, side=YES, shares=Micros(1), cost=Micros(cost), payout=Micros(payout),
        opened_at=AT, realized_before=Micros(9),
    )  # fmt: skip


def test_the_payout_to_an_agent_counts_only_its_own_positions() -> None:
    payouts = (paid("ada", 50, 20), paid("bea", 7, 3), paid("ada", 0, 5))
    event = MarketResolved("m1", AT, AT, outcome=ENDED_YES, payouts=payouts, crowd_payout=Micros(0))
    assert payout_to(event, "ada") == (50, 25)
    assert payout_to(event, "bea") == (7, 4)
    assert payout_to(event, "cyd") == (0, 0)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5.0, "0m"),
        (59.9, "0m"),
        (60.0, "1m"),
        (3_599.0, "59m"),
        (3_600.0, "1h 0m"),
        (86_399.0, "23h 59m"),
        (86_400.0, "1d 0h"),
        (2 * 86_400.0 + 3 * 3_600.0 + 240.0, "2d 3h"),
    ],
)
def test_the_time_left_is_shown_in_two_units(seconds: float, text: str) -> None:
    assert time_left(seconds) == text
