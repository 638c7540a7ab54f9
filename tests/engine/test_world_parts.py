"""A world of a few made markets: what each event does, figure by figure."""

from dataclasses import replace

import pytest

from kit.engine.bare import AT, bare_world, listed
from kit.engine.made import experiment
from kit.engine.topics import TOPICS
from kit.engine.whole import whole
from service_tui.engine.agents.agents import Agent, AgentSettings, ClosedPosition
from service_tui.engine.amm.exchange import Order
from service_tui.engine.books.venues import GRANT, VenueAccount, VenuePosition
from service_tui.engine.chain_events import WalletLinked
from service_tui.engine.errors import AgentNotFound, MakerBoundError, MarketNotFound
from service_tui.engine.events import (
    AgentRegistered,
    ClientSeen,
    CrowdTrade,
    Event,
    HaltSet,
    KeyRotated,
    MarketListed,
    MarketResolved,
    Note,
    OperatorActed,
    Payout,
    PlanSet,
    ReactorChanged,
    SpeedSet,
    Ticked,
    TradeFailed,
    TradeHeld,
)
from service_tui.engine.listing import NewsReport
from service_tui.engine.notify_events import PriceAlertSet, WebhookSet, WebhookTried
from service_tui.engine.position import Position
from service_tui.engine.reactor.wallet_records import WalletPosition, WalletRecord
from service_tui.engine.risk.risk import UNSEEN_MAX
from service_tui.engine.tape.absence import count_unseen
from service_tui.engine.transitions import PositionState
from service_tui.engine.world import (
    CLOSED_KEPT,
    CROWD,
    ISSUER,
    MAKERS,
    PREFILL,
    RESOLVED_KEPT,
    World,
)
from service_tui.terms import Action, Plan, Side, Venue
from service_tui.units import ONE, Micros, Timestamp


def test_a_fresh_world_has_counted_nothing() -> None:
    world = World(7, AT, TOPICS)
    counts = (world.tick_count, world.trade_count, world.listed_count, world.resolved_count)
    assert counts == (0, 0, 0, 0)
    assert (world.topics, world.speed, world.plan, world.meanwhile) == (TOPICS, 1, None, None)
    assert (world.at, world.world_at) == (AT, AT)
    assert world.halt is world.exchange.halt is world.venues.halt
    assert world.reactor.mirrors is world.venues.mirrors
    assert world.chain.ledger is world.ledger is world.venues.ledger


def test_trades_are_numbered_in_the_order_of_their_making() -> None:
    world = bare_world()
    market, agent = listed(world, start_price=0.5), world.agents["ada"]
    order = Order(agent, market.market_id, Side.YES, Action.BUY, Micros(5 * ONE))
    fills = [world.place(order, AT) for _ in range(3)]
    assert [one.trade_id for one in fills] == ["t1", "t2", "t3"]
    assert world.trade_count == 3
    # Read back from the journal they count as well.
    world.apply(fills[0]._replace(trade_id="t4"))
    assert world.place(order, AT).trade_id == "t5"


def test_what_was_traded_is_kept_for_the_monitors_up_to_a_bound() -> None:
    world = bare_world(auto_risk_monitor_enabled=False)
    market, agent = listed(world), world.agents["ada"]
    order = Order(agent, market.market_id, Side.YES, Action.BUY, Micros(100_000))
    for _ in range(UNSEEN_MAX):
        world.place(order, AT)
    assert len(world.risk.filled) == UNSEEN_MAX
    world.place(order, AT)
    assert world.risk.filled == []


def test_equity_is_cash_and_what_is_held_at_the_price_of_now() -> None:
    world = bare_world()
    agent = world.agents["ada"]
    for name, price in (("m1", 0.5), ("m2", 0.25)):
        listed(world, name, start_price=price)
    first = agent.positions["m1"] = Position("ada", "m1")
    first.yes.shares, first.no.shares = Micros(4 * ONE), Micros(6 * ONE)
    second = agent.positions["m2"] = Position("ada", "m2")
    second.no.shares = Micros(8 * ONE)
    made = first.mark_value(world.markets["m1"].price()) + second.mark_value(
        world.markets["m2"].price()
    )
    assert made == pytest.approx(11 * ONE, abs=2)
    assert world.equity(agent) == 10_000 * ONE + made


@pytest.mark.parametrize("by_journal", [False, True])
def test_the_first_event_of_a_day_notes_the_equity_before_it(*, by_journal: bool) -> None:
    world = bare_world("ada", "bea")
    market, agent = listed(world, resolves_at=AT + 9 * 86_400), world.agents["ada"]
    midnight = Timestamp((AT // 86_400 + 1) * 86_400)
    order = Order(agent, market.market_id, Side.YES, Action.BUY, Micros(50 * ONE))
    world.place(order, AT)
    noted = agent.day_equity
    world.place(order, Timestamp(midnight - 1))
    assert agent.day_equity == noted == 10_000 * ONE
    before = world.exit_equity(agent)
    fill = world.exchange.check(order, "t3", (midnight, AT))
    if by_journal:
        world.apply(fill)
    else:
        world.place(order, midnight)
    assert (agent.equity_day, agent.day_equity) == (int(midnight // 86_400), before)
    assert world.agents["bea"].equity_day == int(midnight // 86_400)
    assert world.exit_equity(agent) != before


def test_news_are_those_of_markets_that_go_on_the_newest_first() -> None:
    world = bare_world()
    for name, times in (("m1", (-30.0, -10.0, 5.0)), ("m2", (-20.0,)), ("m3", (-15.0,))):
        reports = tuple(NewsReport(Timestamp(AT + one), 0.1, f"{name} {one}") for one in times)
        # The tape draws a market's prices by the digits of its id.
        listed(world, f"10000000-0000-4000-8000-0000000000{name[1:]:>02}", news=reports)
    last = next(reversed(world.markets.values()))
    last.resolved_at = AT

    def headlines(since: float, limit: int = 9) -> list[str]:
        return [one.headline for one in world.news(Timestamp(AT + since), limit)]

    assert headlines(-60) == ["m1 -10.0", "m2 -20.0", "m1 -30.0"]
    assert headlines(-60, 2) == ["m1 -10.0", "m2 -20.0"]
    assert headlines(-30) == ["m1 -10.0", "m2 -20.0"]


def test_who_and_what_is_not_there_is_named() -> None:
    world = bare_world()
    with pytest.raises(MarketNotFound, match="m9"):
        world.market("m9")
    with pytest.raises(AgentNotFound, match="bea"):
        world.agent("bea")
    assert world.agent("ada") is world.agents["ada"]
    assert world.market(listed(world).market_id) is world.markets["m1"]


def test_a_new_key_opens_and_the_old_one_no_more() -> None:
    world = bare_world("ada", "bea")
    world.apply(KeyRotated("ada", AT, "h new"))
    assert world.by_key_hash("h new") is world.agents["ada"]
    assert world.by_key_hash("h ada") is None
    assert world.by_key_hash("h bea") is world.agents["bea"]
    assert world.agents["ada"].key_hash == "h new"


def payout(agent_id: str, side: Side, **micros: int) -> Payout:
    return Payout(
        agent_id=agent_id, side=side, shares=Micros(micros["shares"]), cost=Micros(micros["cost"]),
        payout=Micros(micros["payout"]), realized_before=Micros(micros["before"]),
        opened_at=Timestamp(AT - 9), sources=("news",),
    )  # fmt: skip


def test_an_outcome_pays_counts_and_closes_each_side() -> None:
    world = bare_world("ada", "bea")
    market = listed(world, b=Micros(50 * ONE))
    for name in ("ada", "bea"):
        world.agents[name].positions["m1"] = Position(name, "m1")
        world.agents[name].sources["m1"] = ("news",)
    paid = (
        payout("ada", Side.YES, shares=9 * ONE, cost=4 * ONE, payout=9 * ONE, before=700),
        payout("ada", Side.NO, shares=3 * ONE, cost=2 * ONE, payout=0, before=0),
        payout("bea", Side.YES, shares=5 * ONE, cost=5 * ONE, payout=5 * ONE, before=0),
    )
    world_at = Timestamp(AT + 60)
    world.apply(MarketResolved("m1", AT, world_at, True, paid, Micros(2 * ONE)))  # noqa: FBT003 - a row
    ada, bea = world.agents["ada"], world.agents["bea"]
    assert (world.cash(ada), world.cash(bea)) == (10_009 * ONE, 10_005 * ONE)
    assert (ada.realized, ada.win_count, ada.loss_count) == (3 * ONE, 1, 1)
    # Neither won nor lost: it brought what it had cost.
    assert (bea.realized, bea.win_count, bea.loss_count) == (0, 0, 0)
    assert ada.closed[0] == ClosedPosition(
        market_id="m1", question="Does m1 end well?", category="politics", side=Side.YES,
        shares=Micros(9 * ONE), cost=Micros(4 * ONE), payout=Micros(9 * ONE),
        realized=Micros(5 * ONE + 700), outcome=True, opened_at=Timestamp(AT - 9),
        resolved_at=world_at, sources=("news",),
    )  # fmt: skip
    assert [one.side for one in ada.closed] == [Side.YES, Side.NO]
    assert (ada.positions, ada.sources, bea.positions) == ({}, {}, {})
    assert (market.outcome, market.resolved_at) == (True, world_at)
    assert (world.resolved_count, world.ended) == (1, {"m1": market})
    # What the maker paid came from all makers, and the crowd has its part.
    balance = world.ledger.balance
    assert (balance(market.account), balance(CROWD), balance(MAKERS)) == (0, 2 * ONE, -16 * ONE)


def test_a_maker_that_earned_gives_it_to_all_makers() -> None:
    world = bare_world()
    market = listed(world)
    world.ledger.transfer("agent:ada", market.account, Micros(3 * ONE))
    world.apply(MarketResolved("m1", AT, AT, True, (), Micros(0)))  # noqa: FBT003 - a row
    assert (world.ledger.balance(market.account), world.ledger.balance(MAKERS)) == (0, 3 * ONE)


@pytest.mark.parametrize(("more", "stops"), [(9, False), (12, True)])
def test_a_maker_may_lose_its_bound_and_a_hair(*, more: int, stops: bool) -> None:
    world = bare_world()
    market = listed(world)
    loss = Micros(int(market.worst_loss()) + more)
    event = MarketResolved("m1", AT, AT, True, (), loss)  # noqa: FBT003 - a row
    if stops:
        with pytest.raises(MakerBoundError, match="m1: the maker lost"):
            world.apply(event)
    else:
        world.apply(event)
        assert world.ledger.balance(MAKERS) == -loss


def test_a_halt_lasts_until_it_is_lifted() -> None:
    world = bare_world()
    world.apply(HaltSet(AT, halted=True))
    assert world.halt.since == AT
    world.apply(HaltSet(Timestamp(AT + 5), halted=False))
    assert world.halt.since is None


# -- the tape ------------------------------------------------------------------------------


def move(world: World, *trades: CrowdTrade, closed: bool = False) -> Timestamp:
    world_at = Timestamp(world.world_at + 2)
    world.apply(Ticked(Timestamp(AT + 1), world_at, trades, closed))
    return world_at


def test_a_tick_moves_money_and_prices_and_is_told_on_the_tape() -> None:
    world = bare_world()
    market, quiet = listed(world), listed(world, "m2")
    crowd = CrowdTrade("m1", Side.NO, Micros(9 * ONE), Micros(5 * ONE), "pippin")
    world_at = move(world, crowd, crowd._replace(side=Side.YES, trader="merry"))
    assert (world.at, world.world_at, world.tick_count) == (AT + 1, world_at, 1)
    assert world.ledger.balance(CROWD) == -10 * ONE
    assert world.ledger.balance(market.account) == 10 * ONE
    assert (market.sold(Side.YES), market.sold(Side.NO)) == (9 * ONE, 9 * ONE)
    assert market.volume_24h(world_at) == 10 * ONE
    first, second = market.tape
    assert first[:5] == (world_at, "pippin", Side.NO, "buy", 9 * ONE)
    assert second == (
        world_at, "merry", Side.YES, "buy", 9 * ONE, pytest.approx(market.price()),
    )  # fmt: skip
    assert first[5] > 1 - market.price()
    assert [list(one.recent) for one in (market, quiet)] == [
        [(world_at, round(market.price(), 4))],
        [(world_at, 0.4)],
    ]
    assert (len(quiet.tape), quiet.volume_24h(world_at)) == (0, 0)


def test_a_gap_is_on_no_tape_and_its_hours_count_as_they_are_on_average() -> None:
    world = bare_world()
    # The tape draws a market's turnover by the digits of its id.
    ids = [f"{number}0000000-0000-4000-8000-000000000001" for number in (1, 2)]
    market, over = (listed(world, one) for one in ids)
    over.resolved_at = AT
    crowd = CrowdTrade(ids[0], Side.NO, Micros(9 * ONE), Micros(5 * ONE), "pippin")
    world_at = move(world, crowd, closed=True)
    assert (market.sold(Side.NO), len(market.tape)) == (9 * ONE, 0)
    expected = listed(bare_world(), ids[0])
    count_unseen([expected], world_at)
    assert market.volume_24h(world_at) == expected.volume_24h(world_at) > 0
    # What has an outcome has no price any more.
    assert (len(market.recent), len(over.recent)) == (1, 0)


def test_a_market_is_listed_with_the_prices_and_trades_of_before() -> None:
    world = bare_world("ada", "bea")
    listing = listed(bare_world(), "10000000-0000-4000-8000-000000000001").listing
    crowd = CrowdTrade(listing.market_id, Side.YES, Micros(7 * ONE), Micros(3 * ONE), "pippin")
    world.apply(MarketListed(Timestamp(AT + 5), AT, listing, (crowd,), "bea"))
    market = world.markets[listing.market_id]
    assert (market.listed_at, market.listing, world.listed_count) == (AT + 5, listing, 1)
    assert market.sold(Side.YES) == 7 * ONE
    assert (world.ledger.balance(market.account), world.ledger.balance(CROWD)) == (
        3 * ONE,
        -3 * ONE,
    )
    assert len(market.samples) == PREFILL
    assert all(listing.opens_at <= at <= AT for at, _ in market.samples)
    imports = {name: agent.imports_today(AT) for name, agent in world.agents.items()}
    assert imports == {"ada": 0, "bea": 1}
    # One that opens at this moment has no past, and one by nobody counts for nobody.
    fresh = listed(bare_world(), "m2", opens_at=AT).listing
    world.apply(MarketListed(AT, AT, fresh))
    assert (world.markets["m2"].samples, world.listed_count) == ([], 2)
    assert world.agents["bea"].imports_today(AT) == 1


# -- agents and commands -------------------------------------------------------------------


def test_an_agent_begins_as_it_was_registered_with_its_first_cash() -> None:
    world = World(7, AT, TOPICS)
    at, cash = Timestamp(AT + 9), Micros(70 * ONE)
    event = AgentRegistered("zoe", at, "Zoë", "knows", "h zoe", "reef-1", Plan.PRO, cash)
    assert world.register(event) == [event]
    agent = world.agent("zoe")
    assert agent == Agent(
        "zoe", at, "knows", "h zoe", "reef-1", AgentSettings("Zoë", Plan.PRO), "agent:zoe",
        equity_day=int(at // 86_400), day_equity=cash, marks=agent.marks,
    )  # fmt: skip
    assert agent.marks.all() == [(at, cash, cash)]
    assert (world.cash(agent), world.equity(agent), world.ledger.balance(ISSUER)) == (
        cash,
        cash,
        -cash,
    )
    assert world.by_key_hash("h zoe") is agent
    for venue in (Venue.EVM, Venue.SOL):
        assert world.venues.cash("zoe", venue) == GRANT
    assert world.venues.cash("zoe", Venue.SIM) == 0


def test_each_kind_of_event_reaches_what_it_changes() -> None:
    world = bare_world("ada", "bea")
    listed(world)
    skill, alert = experiment(), whole(PriceAlertSet)
    webhook, held = whole(WebhookSet), whole(TradeHeld)._replace(agent_id="ada")
    events: list[Event] = [
        PlanSet(AT, Plan.FREE),
        skill,
        ReactorChanged("bea", AT, {"wallets": ("0xAb",)}),
        WalletLinked("ada", AT, "0x" + "Ab" * 20, 5),
        held,
        webhook,
        WebhookTried(webhook.webhook_id, AT, "d1", "e", 5, "gone"),
        alert,
        ClientSeen("bea", AT, "0.9"),
        TradeFailed("ada", AT, "m1", Side.NO, "too late"),
        OperatorActed("zoë", AT, "halt"),
    ]
    assert world.did(events) == events
    assert world.plan is Plan.FREE
    assert world.research.experiments("ada") == [skill]
    assert world.reactor.state("bea").config.wallets == ("0xAb",)
    assert world.chain.wallet_of("ada") is not None
    assert world.pending_trades.waiting == {held.held_id: held}
    assert world.webhooks.by_id[webhook.webhook_id].failures == 1
    assert [one.placed for one in world.price_alerts.waiting.values()] == [alert]
    assert world.agents["bea"].sdk_version == "0.9"
    assert world.agents["ada"].failed == {"m1:no": AT}


def test_a_new_speed_counts_from_its_moment_and_no_clock_goes_back() -> None:
    world = bare_world()
    world.apply(SpeedSet(Timestamp(AT + 5), AT, 60))
    assert (world.speed, world.at, world.world_at) == (60, AT + 5, AT)
    world.apply(SpeedSet(Timestamp(AT - 5), AT, 1))
    assert (world.speed, world.at) == (1, AT + 5)


@pytest.mark.parametrize("by_journal", [False, True])
def test_a_mirror_on_sim_counts_however_it_comes(*, by_journal: bool) -> None:
    world = bare_world()
    market, agent = listed(world), world.agents["ada"]
    for note in (Note(), Note(signal_data={"tx_hash": "0x1"})):
        order = Order(agent, market.market_id, Side.YES, Action.BUY, Micros(20 * ONE), note=note)
        if by_journal:
            world.apply(world.exchange.check(order, "t1", (AT, AT)))
        else:
            world.place(order, AT)
    assert world.reactor.mirrors.spent_today("ada", Venue.SIM, AT) == 20 * ONE
    assert world.reactor.mirrors.done == {"ada": {"0x1": 20 * ONE}}


def held_on_venue(world: World, market_id: str) -> tuple[VenueAccount, VenuePosition]:
    ends = world.markets[market_id].listing.resolves_at
    holding = VenuePosition(Position("ada", market_id), "Q?", "politics", ends)
    account = VenueAccount("ada", Venue.EVM, holdings={market_id: holding})
    world.venues.accounts["ada", Venue.EVM] = account
    return account, holding


def test_ticks_are_counted_and_end_the_windows_of_what_is_held_on_venues() -> None:
    world = bare_world()
    market = listed(world, home=Venue.EVM, resolves_at=Timestamp(AT + 3))
    _, holding = held_on_venue(world, market.market_id)
    move(world)
    assert (world.tick_count, holding.state) == (1, PositionState.ACTIVE)
    move(world)
    assert (world.tick_count, holding.state) == (2, PositionState.AWAITING)


def test_an_outcome_reaches_venues_wallets_and_alerts() -> None:
    world = bare_world()
    market = listed(world, home=Venue.EVM)
    account, holding = held_on_venue(world, "m1")
    holding.position.yes.shares = Micros(4 * ONE)
    record = world.reactor.records.by_address["0xAb"] = WalletRecord()
    record.held["m1"] = WalletPosition(yes=Micros(4 * ONE), yes_cost=Micros(ONE))
    world.apply(whole(PriceAlertSet)._replace(market_id="m1"))
    world.apply(MarketResolved("m1", AT, AT, True, (), Micros(0)))  # noqa: FBT003 - a row
    assert (holding.payout(), account.win_count) == (4 * ONE, 1)
    assert (record.realized, record.held) == (3 * ONE, {})
    assert world.price_alerts.waiting == {}
    assert world.ended == {"m1": market}


def test_outcomes_add_up_and_an_agent_keeps_so_many_of_them() -> None:
    world = bare_world("ada", "bea")
    lost = payout("ada", Side.YES, shares=3, cost=2, payout=0, before=0)
    world.agents["ada"].closed = [whole(ClosedPosition)] * CLOSED_KEPT
    for market_id in ("m1", "m2"):
        listed(world, market_id)
        event = MarketResolved(market_id, AT, AT, False, (lost,), Micros(0))  # noqa: FBT003 - a row
        world.apply(event)
    ada = world.agents["ada"]
    assert (ada.loss_count, ada.win_count, ada.realized) == (2, 0, -4)
    assert len(ada.closed) == CLOSED_KEPT
    assert [one.market_id for one in ada.closed[-2:]] == ["m1", "m2"]
    assert (ada.closed[-1].shares, ada.closed[-1].payout) == (3, 0)


# -- what is forgotten ---------------------------------------------------------------------


def test_so_many_resolved_markets_stay_and_the_oldest_go() -> None:
    world = bare_world()
    for number in range(RESOLVED_KEPT):
        listed(world, f"old{number:03}").resolved_at = Timestamp(AT - 1_000 + number)
    listed(world, "open")
    listed(world, "last")
    world.apply(MarketResolved("last", AT, AT, True, (), Micros(0)))  # noqa: FBT003 - a row
    assert len(world.markets) == RESOLVED_KEPT + 1
    assert {"open", "last", "old001", f"old{RESOLVED_KEPT - 1}"} <= set(world.markets)
    assert "old000" not in world.markets
    # With exactly so many none has to go.
    del world.markets["old001"]
    listed(world, "next")
    world.apply(MarketResolved("next", AT, AT, True, (), Micros(0)))  # noqa: FBT003 - a row
    assert "old002" in world.markets


def test_the_question_of_a_forgotten_market_is_that_of_its_closed_position() -> None:
    world = bare_world("ada", "bea")
    listed(world, "m1", question="Open?")
    closed = ClosedPosition(
        "m2", "Old?", "politics", Side.YES, Micros(1), Micros(1), Micros(1), Micros(0),
        outcome=True, opened_at=AT, resolved_at=AT,
    )  # fmt: skip
    world.agents["ada"].closed = [closed]
    world.agents["bea"].closed = [replace(closed, market_id="m3", question="Older?")]
    asked = {key: world.question_of(key) for key in ("m1", "m2", "m3", "m4")}
    assert asked == {"m1": "Open?", "m2": "Old?", "m3": "Older?", "m4": ""}
