"""The day of each agent: what it traded, what that brought in each money, and by which skill."""

from dataclasses import replace
from typing import Any

from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import pending_trade_of
from service_tui.desk.audit.report import (
    DAY_S,
    UNREAD,
    MoneyDay,
    day_reports,
    known_pasts,
    midnight,
    results_by_skill,
    totals,
)
from service_tui.desk.slices.agents import (
    AgentDetailView,
    ReasonedTradeView,
    SkillResultView,
    VenueMoneyView,
)
from service_tui.desk.slices.trades import TradeView
from service_tui.terms import PendingStatus, Side, TradeStatus, Venue
from service_tui.units import Micros, Timestamp

STATE = replace(sample_state(8), trades=(), fills=())
assert STATE.fleet is not None
AGENT = STATE.fleet.agents[1]
MORNING = midnight(NOW)
SIM, EVM = Venue.SIM, Venue.EVM


def trade(number: int, action: str = "buy", skill: str = "ebb", **other: Any) -> ReasonedTradeView:
    """A trade of the day; each with a time, shares and a cost of its own."""
    given: dict[str, Any] = {
        "trade_id": f"t-{number}", "market_id": "m-1", "question": "q", "side": Side.YES,
        "action": action, "shares": Micros(100 + number), "cost": Micros(1_000 * number),
        "average": 0.4, "price_before": 0.39, "price_after": 0.41, "venue": SIM,
        "status": TradeStatus.FILLED, "reasoning": "", "source": "",
        "at": Timestamp(MORNING + 60 * number), "pnl": None,
    }  # fmt: skip
    return ReasonedTradeView(TradeView(**{**given, **other}), skill)


def past(
    *trades: ReasonedTradeView, agent_id: str = AGENT.agent_id, **other: Any
) -> AgentDetailView:
    """A history, newest first."""
    return AgentDetailView(agent_id, tuple(reversed(trades)), (), **other)


def day_of(*trades: ReasonedTradeView, **agent: Any) -> Any:
    one = replace(AGENT, **agent)
    assert STATE.fleet is not None
    state = replace(STATE, fleet=replace(STATE.fleet, agents=(one,)))
    (report,) = day_reports(state, NOW, {one.agent_id: past(*trades)})
    return report


def pnl(amount: int) -> dict[str, Any]:
    return {"pnl": Micros(amount)}


def test_the_day_of_an_agent_counts_each_money_for_itself() -> None:
    trades = [
        trade(1, market_id="m-1"),
        trade(2, "sell", **pnl(70)),
        trade(3, "sell", skill="tide", **pnl(-30)),
        trade(4, "redeem", **pnl(9)),
        trade(5, venue=EVM, skill="tide"),
        trade(6, "sell", venue=EVM, skill="tide", **pnl(0)),
        trade(7, "buy", shares=Micros(0), cost=Micros(0)),
    ]
    held = VenueMoneyView(EVM, Micros(11), Micros(12), Micros(13), Micros(14), 15, 16)
    report = day_of(*trades, venues=(held,), equity=Micros(21), total_pnl=Micros(-22),
                    day_pnl=Micros(23), positions_count=24)  # fmt: skip
    play, real = report.monies
    assert replace(play, best=None, worst=None, skills=()) == MoneyDay(
        venue=SIM, equity=Micros(21), day_pnl=Micros(23), total_pnl=Micros(-22), positions=24,
        buys=1, sales=2, bought=Micros(1_000), sold=Micros(5_000), realized=Micros(49),
        payouts=1, paid=Micros(4_000),
    )  # fmt: skip
    assert (play.best, play.worst) == (trades[1], trades[2])
    assert real == MoneyDay(
        venue=EVM, equity=held.equity, day_pnl=None, total_pnl=held.total_pnl,
        positions=held.positions_count, buys=1, sales=1, bought=Micros(5_000), sold=Micros(6_000),
        realized=Micros(0), best=None, worst=None,
        skills=(SkillResultView("tide", 2, Micros(0), 0, 0),),
    )  # fmt: skip
    assert (play.money, real.money) == ("$SIM", "USDC.e")
    assert report.trades == tuple(reversed(trades))


def test_the_best_and_the_worst_are_those_that_won_and_lost_the_most() -> None:
    won, more = trade(2, "sell", **pnl(1)), trade(3, "sell", **pnl(5))
    lost, less = trade(4, "sell", **pnl(-1)), trade(5, "sell", **pnl(-7))
    nothing = trade(6, "sell", **pnl(0))
    day = day_of(trade(1), nothing, more, won, less, lost).monies[0]
    assert (day.best, day.worst) == (more, less)
    day = day_of(trade(1), won, nothing).monies[0]
    assert (day.best, day.worst) == (won, None)
    day = day_of(trade(1), nothing, lost).monies[0]
    assert (day.best, day.worst) == (None, lost)


def test_a_venue_of_which_only_a_trade_is_known_is_listed_without_anything_else() -> None:
    _, real = day_of(trade(1, venue=EVM), venues=()).monies
    assert replace(real, skills=()) == MoneyDay(
        venue=EVM, equity=Micros(0), day_pnl=None, total_pnl=Micros(0), positions=0,
        buys=1, sales=0, bought=Micros(1_000), sold=Micros(0), realized=Micros(0),
    )  # fmt: skip
    assert [day.venue for day in day_of().monies] == [SIM]


def test_the_day_begins_at_midnight_utc_and_with_it() -> None:
    assert MORNING == NOW // 86_400 * 86_400
    assert (midnight(MORNING), midnight(Timestamp(MORNING - 1))) == (MORNING, MORNING - DAY_S)
    early = trade(1, at=Timestamp(MORNING - 0.001))
    first = trade(2, at=MORNING)
    report = day_of(early, first)
    assert (report.since, report.trades) == (MORNING, (first,))
    assert report.monies[0].buys == 1


def test_the_busiest_skill_is_first_and_equal_ones_stand_by_their_names() -> None:
    trades = [
        trade(1, skill="tide"), trade(2, "sell", skill="tide", **pnl(-4)),
        trade(3, skill="moss", market_id="m-3"), trade(4, skill="ebb", market_id="m-4"),
        trade(5, "redeem", skill="ebb", market_id="m-4", **pnl(1)),
        trade(6, "sell", skill="tide", **pnl(0)),
    ]  # fmt: skip
    assert day_of(*trades).monies[0].skills == (
        SkillResultView("tide", 3, Micros(-4), 0, 1),
        SkillResultView("ebb", 1, Micros(1), 1, 0),
        SkillResultView("moss", 1, Micros(0), 0, 0),
    )


def test_a_report_says_what_was_decided_today_and_what_waits_for_its_agent_alone() -> None:
    mine = {"agent_id": AGENT.agent_id}
    waiting = (
        pending_trade_of("h1", **mine),
        pending_trade_of("h2", agent_id="a-9"),
        pending_trade_of("h3", **mine),
    )
    decided = (
        pending_trade_of("d1", status=PendingStatus.APPROVED, decided_at=MORNING, **mine),
        pending_trade_of(
            "d2", status=PendingStatus.REFUSED, decided_at=Timestamp(MORNING - 1), **mine
        ),
        pending_trade_of("d3", status=PendingStatus.REFUSED, decided_at=NOW, agent_id="a-9"),
        pending_trade_of("d4", status=PendingStatus.EXPIRED, decided_at=None, **mine),
        pending_trade_of("d5", status=PendingStatus.APPROVED, decided_at=NOW, **mine),
    )
    view = replace(STATE.supervision, pending_trades=waiting, decided=decided)
    reports = day_reports(replace(STATE, supervision=view), NOW, {})
    report = next(one for one in reports if one.agent is AGENT)
    assert (report.waiting, report.decisions) == (2, {"approved": 2, "expired": 1})
    assert (report.problem, report.trades) == (UNREAD, ())


def test_the_agents_with_the_largest_day_either_way_are_first() -> None:
    assert STATE.fleet is not None
    days = {"a": 5, "b": -9, "c": 7}
    agents = tuple(replace(AGENT, agent_id=key, day_pnl=Micros(day)) for key, day in days.items())
    state = replace(STATE, fleet=replace(STATE.fleet, agents=agents))
    reports = day_reports(state, NOW, {"c": past(agent_id="c", problem="away")})
    assert [one.agent.agent_id for one in reports] == ["b", "c", "a"]
    assert [one.problem for one in reports] == [UNREAD, "away", UNREAD]
    assert day_reports(replace(STATE, fleet=None), NOW, {}) == ()


def money_day(venue: Venue, first: int, day_pnl: int | None) -> MoneyDay:
    """Figures of which no two are equal."""
    return MoneyDay(
        venue=venue, equity=Micros(first), day_pnl=None if day_pnl is None else Micros(day_pnl),
        total_pnl=Micros(first + 1), positions=first + 2, buys=first + 3, sales=first + 4,
        bought=Micros(first + 5), sold=Micros(first + 6), realized=Micros(first + 7),
        payouts=first + 8, paid=Micros(first + 9),
    )  # fmt: skip


def test_the_sum_of_all_agents_is_made_figure_by_figure_and_money_by_money() -> None:
    base = day_of()
    reports = [
        replace(base, monies=(money_day(SIM, 100, 7), money_day(EVM, 5_000, None))),
        replace(base, monies=(money_day(SIM, 2_000, None),)),
        replace(base, monies=(money_day(SIM, 30_000, -9),)),
    ]
    play, real = totals(reports)
    assert play == MoneyDay(
        venue=SIM, equity=Micros(32_100), day_pnl=Micros(-2), total_pnl=Micros(32_103),
        positions=32_106, buys=32_109, sales=32_112, bought=Micros(32_115), sold=Micros(32_118),
        realized=Micros(32_121), payouts=32_124, paid=Micros(32_127),
    )  # fmt: skip
    assert real == money_day(EVM, 5_000, None)
    assert totals([]) == ()


def test_results_of_a_skill_are_added_over_agents_and_kept_apart_by_venue() -> None:
    one = past(
        trade(1), trade(2, "sell", **pnl(50)), trade(3, "sell", **pnl(-20)),
        trade(4, venue=EVM), trade(5, "sell", venue=EVM, **pnl(30)),
        trade(6, skill="tide", market_id="m-2"),
        trade(7, "sell", skill="tide", market_id="m-2", **pnl(90)),
    )  # fmt: skip
    other = past(trade(11), trade(12, "sell", **pnl(40)), trade(13, "sell", **pnl(20)),
                 agent_id="a-9")  # fmt: skip
    assert results_by_skill([one, other]) == (
        SkillResultView("ebb", 6, Micros(90), 3, 1, venue=SIM),
        SkillResultView("tide", 2, Micros(90), 1, 0, venue=SIM),
        SkillResultView("ebb", 2, Micros(30), 1, 0, venue=EVM),
    )


def test_equal_results_stand_by_name_and_then_by_venue() -> None:
    one = past(trade(1, skill="b"), trade(2, skill="a", venue=EVM), trade(3, skill="a"))
    found = [(result.skill_slug, result.venue) for result in results_by_skill([one])]
    assert found == sorted(found)
    assert len(found) == 3


def owners(*trades: ReasonedTradeView) -> dict[str, int]:
    """How many trades each skill is credited with."""
    return {one.skill_slug: one.trades_count for one in results_by_skill([past(*trades)])}


def test_a_sale_belongs_to_the_skill_whose_shares_it_took() -> None:
    ten, five = {"shares": Micros(10)}, {"shares": Micros(5)}
    # Its own first, whoever bought before.
    assert owners(
        trade(1, skill="tide", **ten), trade(2, skill="ebb", **ten),
        trade(3, "sell", skill="ebb", **five),
    ) == {"tide": 1, "ebb": 2}  # fmt: skip
    # Those of others where it has none, the oldest first.
    assert owners(
        trade(1, skill="tide", **five), trade(2, skill="ebb", **five),
        trade(3, "sell", skill="", **five), trade(4, "sell", skill="", **five),
    ) == {"tide": 2, "ebb": 2}  # fmt: skip
    # A single one is enough, and what is left of it is the next sale's.
    assert owners(
        trade(1, skill="tide", shares=Micros(1)), trade(2, skill="ebb", **ten),
        trade(3, "sell", skill="", shares=Micros(3)), trade(4, "sell", skill="", **five),
    ) == {"tide": 2, "ebb": 2}  # fmt: skip


def test_a_sale_takes_no_shares_of_another_market_side_or_venue() -> None:
    for other in ({"market_id": "m-2"}, {"side": Side.NO}, {"venue": EVM}):
        credited = owners(trade(1, skill="tide"), trade(2, "sell", skill="", **other))
        assert credited == {"tide": 1, "": 1}


def test_a_sale_whose_buys_are_not_known_is_its_own_or_that_of_the_last_skill_that_bought() -> None:
    gone = (trade(1, skill="tide", shares=Micros(5)), trade(2, "sell", skill="", shares=Micros(9)))
    assert owners(*gone, trade(3, "sell", skill="", shares=Micros(9))) == {"tide": 3}
    assert owners(*gone, trade(3, "sell", skill="ebb", shares=Micros(9))) == {"tide": 2, "ebb": 1}
    assert owners(trade(1, "sell", skill="")) == {"": 1}


def test_an_order_without_a_fill_takes_and_gives_no_shares() -> None:
    nothing = {"shares": Micros(0), "cost": Micros(0)}
    credited = owners(
        trade(1, skill="tide"), trade(2, "buy", skill="ebb", **nothing),
        trade(3, "sell", skill=""),
    )  # fmt: skip
    assert credited["tide"] == 2


def test_of_trades_of_one_moment_the_one_listed_later_came_first() -> None:
    at = {"at": NOW, "shares": Micros(5)}
    history = AgentDetailView(
        "a-1", (trade(2, "sell", skill="", **at), trade(1, skill="tide", **at)), ()
    )
    assert [(one.skill_slug, one.trades_count) for one in results_by_skill([history])] == [
        ("tide", 2)
    ]


def test_the_known_histories_are_the_own_one_those_read_and_that_in_focus() -> None:
    own = trade(1).trade
    focused = past(trade(2), agent_id="a-5")
    account = STATE.account
    assert account is not None
    view = replace(STATE.supervision, detail=focused)
    known = known_pasts(replace(STATE, trades=(replace(own, skill_slug="ebb"),), supervision=view))
    assert set(known) == {account.agent_id, "a-5"}
    assert known["a-5"] is focused
    (mine,) = known[account.agent_id].trades
    assert (mine.trade.trade_id, mine.skill_slug) == ("t-1", "ebb")
    assert known[account.agent_id].problem == ""
    # What was read of all agents counts before the one in focus.
    read = past(trade(3), agent_id="a-5")
    both = replace(view, pasts=(read,))
    assert known_pasts(replace(STATE, supervision=both))["a-5"] is read
    assert known_pasts(replace(STATE, account=None)) == {}


def test_an_own_history_that_was_not_read_yet_says_so() -> None:
    account = STATE.account
    assert account is not None
    unread = replace(STATE, seen={})
    assert known_pasts(unread)[account.agent_id].problem == UNREAD


def test_the_own_history_gives_way_to_one_that_was_read_for_all() -> None:
    account = STATE.account
    assert account is not None
    read = past(trade(3), agent_id=account.agent_id)
    view = replace(STATE.supervision, pasts=(read,), detail=past(agent_id=account.agent_id))
    assert list(known_pasts(replace(STATE, supervision=view)).values()) == [read]
