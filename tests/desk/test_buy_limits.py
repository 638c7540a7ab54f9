"""Safety rails of the desk: what binds, what is used, midnight, and what is held back."""

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from kit.desk.faults import Fault, asleep, at_work, buy, ended, rows, said, sell, until
from kit.samples.desk import NOW, sample_state
from kit.service.stage import open_test_desk
from service_tui.desk.buy_limits import (
    DAY_S,
    broken_by,
    buy_limits,
    next_midnight,
    own_figure,
    spending_day_began,
)
from service_tui.desk.commands.buy_limits import SetBuyLimit
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.reasons import Fix
from service_tui.desk.slices.buy_limits import (
    BuyLimit,
    BuyLimitsView,
    BuyLimitView,
    CooldownView,
    RiskDefaults,
)
from service_tui.desk.slices.tickets import NO_TRACE, TicketState, TicketView
from service_tui.desk.state import DeskState
from service_tui.desk.trading.handlers import unwritten
from service_tui.desk.trading.preflight import _against_cooldown, _against_quote, preflight
from service_tui.storage.blotter import StoredState
from service_tui.storage.errors import BudgetExceededError
from service_tui.terms import AFTER_FAILURE, AFTER_SIM_BUY, Action, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.endpoints.public import PATCH_USER_SETTINGS

DEFAULTS: Final = RiskDefaults(0.2, None, auto_monitor=True)
SEEN: Final = BuyLimitsView(
    at=NOW,
    resets_at=next_midnight(NOW),
    paused=False,
    max_trade=Micros(100 * ONE),
    day_spend_max=Micros(500 * ONE),
    day_spent=Micros(120 * ONE),
    sim_trade_max=Micros(500 * ONE),
    sim_market_max=Micros(2_000 * ONE),
    position_max=None,
    day_buys_max=50,
    day_buys=7,
    defaults=DEFAULTS,
    own_spent=Micros(60 * ONE),
)
CALM: Final = replace(sample_state(), buy_limits=SEEN, tickets=(), positions=())
ORDER: Final = PlaceTrade("m-00001", Side.YES, Action.BUY, Venue.SIM, amount=Micros(25 * ONE))


def ticket(
    state: TicketState, *, at: float = NOW - 30, amount: int = 25, **more: str
) -> TicketView:
    return TicketView(
        ticket_id=f"k-{at}",
        kind="trade",
        market_id="m-00001",
        what="buy",
        state=state,
        opened_at=Timestamp(at),
        settled_at=None if state is TicketState.UNKNOWN else Timestamp(at + 1),
        amount=Micros(amount * ONE),
        **more,
    )


def rail(state: DeskState, which: BuyLimit, now: float = NOW) -> BuyLimitView:
    return next(view for view in buy_limits(state, Timestamp(now)) if view.limit_kind is which)


def owning(state: DeskState = CALM, **figures: object) -> DeskState:
    kept = {f"limits.{name}": str(figure) for name, figure in figures.items()}
    return replace(state, preferences={**state.preferences, **kept})


def objection(state: DeskState, order: PlaceTrade = ORDER, now: float = NOW) -> str:
    found = preflight(state, order, Timestamp(now))
    return "" if found is None else found[0]


# -- which figure binds -------------------------------------------------------------------------


def test_the_smaller_figure_binds_and_says_whose_it_is() -> None:
    alone = rail(CALM, BuyLimit.SIM_TRADE)
    assert (alone.limit, alone.source, alone.own) == (500 * ONE, "service", None)
    smaller = rail(owning(sim_trade=40 * ONE), BuyLimit.SIM_TRADE)
    assert (smaller.limit, smaller.source) == (40 * ONE, "desk")
    larger = rail(owning(sim_trade=900 * ONE), BuyLimit.SIM_TRADE)
    assert (larger.limit, larger.source) == (500 * ONE, "service")


def test_until_the_service_has_told_nothing_is_listed() -> None:
    assert buy_limits(replace(CALM, buy_limits=None), NOW) == ()


def test_one_market_is_bound_by_the_position_limit_where_that_is_smaller() -> None:
    assert rail(CALM, BuyLimit.MARKET).limit == 2_000 * ONE
    for most, limit in ((50, 50), (9_000, 2_000)):
        state = replace(CALM, buy_limits=replace(SEEN, position_max=Micros(most * ONE)))
        assert rail(state, BuyLimit.MARKET).limit == limit * ONE


@pytest.mark.parametrize(
    "text", ["nan", "inf", "-5", "0", "1e3", "5.0", "²", "٣", "x" * 500, "9" * 400, " 5", "5 "]
)
def test_an_own_figure_that_cannot_be_read_lets_no_buy_pass(text: str) -> None:
    state = owning(sim_trade=text)
    assert own_figure(state, BuyLimit.SIM_TRADE) == (None, True)
    assert rail(state, BuyLimit.SIM_TRADE).is_broken
    assert "unreadable" in objection(state)


# -- what is used -------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [TicketState.QUEUED, TicketState.SENT, TicketState.UNKNOWN])
def test_an_order_without_an_end_counts_against_every_rail(state: TicketState) -> None:
    open_end = replace(CALM, tickets=(ticket(state, at=NOW + 1),))
    buys, spent = rail(open_end, BuyLimit.DAY_BUYS), rail(open_end, BuyLimit.DESK_DAY)
    assert (buys.used, buys.reserved) == (8, 1)
    assert (spent.used, spent.reserved) == (85 * ONE, 25 * ONE)
    market = rail(open_end, BuyLimit.MARKET)
    assert (market.used, market.about) == (25 * ONE, "m-00001")
    nowhere = rail(CALM, BuyLimit.MARKET)
    assert (nowhere.used, nowhere.about) == (0, "")


def test_what_was_refused_or_left_no_trace_counts_no_more() -> None:
    gone = ticket(TicketState.UNKNOWN, at=NOW + 1, outcome=NO_TRACE)
    for one in (ticket(TicketState.REFUSED, at=NOW + 1), ticket(TicketState.FAILED), gone):
        state = replace(CALM, tickets=(one,))
        assert rail(state, BuyLimit.DAY_BUYS).used == 7
        assert rail(state, BuyLimit.DESK_DAY).used == 60 * ONE


def test_what_the_last_answer_did_not_know_yet_is_added() -> None:
    before = replace(CALM, tickets=(ticket(TicketState.DONE),))
    assert rail(before, BuyLimit.DAY_BUYS).used == 7
    assert rail(before, BuyLimit.DESK_DAY).used == 60 * ONE
    after = replace(CALM, tickets=(ticket(TicketState.DONE, at=NOW + 2),))
    assert rail(after, BuyLimit.DAY_BUYS).used == 8
    assert rail(after, BuyLimit.DESK_DAY).used == 85 * ONE


def test_a_buy_beyond_a_limit_names_what_helps() -> None:
    held = ticket(TicketState.UNKNOWN, at=NOW + 1)
    seen = replace(SEEN, position_max=Micros(40 * ONE))
    (market,) = broken_by(replace(CALM, buy_limits=seen), ORDER, NOW, (held,))
    assert (market.text, market.fix) == ("limit (per market) is 40.00", Fix.LOWER_OR_SELL)
    spent = replace(CALM, buy_limits=replace(SEEN, day_buys_max=7))
    (buys,) = broken_by(spent, ORDER, NOW, ())
    assert (buys.text, buys.fix) == ("limit (daily buys) is 7, 7 used", Fix.RAISE_LIMIT)


def test_a_sale_uses_nothing() -> None:
    sale = ticket(TicketState.UNKNOWN, at=NOW + 1, amount=0)
    assert rail(replace(CALM, tickets=(sale,)), BuyLimit.DAY_BUYS).used == 7


def test_a_service_that_counts_no_buys_is_counted_for() -> None:
    state = replace(CALM, buy_limits=replace(SEEN, day_buys=None))
    today = sum(one.at >= SEEN.resets_at - DAY_S and one.action == "buy" for one in state.trades)
    assert rail(state, BuyLimit.DAY_BUYS).used == today > 0


# -- midnight -----------------------------------------------------------------------------------


def test_at_midnight_utc_the_day_starts_anew_before_anybody_has_asked() -> None:
    midnight = SEEN.resets_at
    last = rail(CALM, BuyLimit.DAY_BUYS, midnight - 1)
    assert (last.used, last.resets_at) == (7, midnight)
    for which in (BuyLimit.DAY_BUYS, BuyLimit.DAY_SPEND, BuyLimit.DESK_DAY):
        first = rail(CALM, which, midnight)
        assert (first.used, first.resets_at) == (0, midnight + DAY_S)


def test_an_unknown_order_of_yesterday_counts_today_as_well() -> None:
    state = replace(CALM, tickets=(ticket(TicketState.UNKNOWN),))
    late = SEEN.resets_at + 60
    assert rail(state, BuyLimit.DAY_BUYS, late).used == 1
    assert rail(state, BuyLimit.DESK_DAY, late).used == 25 * ONE


def test_the_midnight_is_that_of_the_service() -> None:
    # Our clock is ten minutes ahead: at 00:05 here it is 23:55 there.
    ahead = replace(CALM, service=replace(CALM.service, skew_s=600.0))
    assert rail(ahead, BuyLimit.DAY_BUYS, SEEN.resets_at + 300).used == 7
    assert rail(ahead, BuyLimit.DAY_BUYS, SEEN.resets_at + 600).used == 0


# -- orders that would break one ----------------------------------------------------------------


def test_a_buy_within_every_rail_has_no_objection() -> None:
    assert objection(owning(sim_trade=25 * ONE, desk_day=85 * ONE, market=25 * ONE)) == ""


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        ({"sim_trade": 25 * ONE - 1}, "desk limit (per trade, sim)"),
        ({"desk_day": 85 * ONE - 1}, "desk limit (daily spend, this desk) is 85.00"),
        ({"market": 24 * ONE}, "desk limit (per market) is 24.00"),
        ({"day_buys": 7}, "desk limit (daily buys) is 7, 7 used"),
    ],
)
def test_a_buy_beyond_the_desks_own_figure_is_held_back(
    figures: dict[str, int], words: str
) -> None:
    assert words in objection(owning(**figures))


@pytest.mark.parametrize(
    ("after", "venue", "is_held_back"),
    [
        (AFTER_SIM_BUY, Venue.SIM, True),
        (AFTER_SIM_BUY, Venue.EVM, False),
        (AFTER_FAILURE, Venue.EVM, True),
        (AFTER_FAILURE, Venue.SIM, False),
        ("something new", Venue.EVM, False),
    ],
)
def test_a_cooldown_holds_buys_of_its_side_back_before_they_are_sent(
    after: str, venue: Venue, *, is_held_back: bool
) -> None:
    # The service's clock is a minute behind ours.
    waits = CooldownView("m-00001", Side.YES, Timestamp(NOW + 1_179 - 60), after)
    limits = replace(SEEN, cooldowns=(waits,))
    state = replace(CALM, buy_limits=limits, service=replace(CALM.service, skew_s=60.0))
    order = replace(ORDER, venue=venue)
    words = "no YES buy in this market for 1179 s. wait, or trade another market"

    def said(order: PlaceTrade, now: float = NOW) -> str:
        found = next(_against_cooldown(state, order, Timestamp(now)), None)
        return "" if found is None else f"{found.text}. {found.fix}"

    assert said(order).endswith(words) is is_held_back
    assert said(order, NOW + 1_180) == ""
    assert said(replace(order, side=Side.NO)) == ""
    assert said(replace(order, market_id="m-00002")) == ""
    if venue is Venue.SIM and is_held_back:
        assert "cooldown" in objection(state)


def test_the_services_figures_are_asked_here_as_well() -> None:
    used_up = replace(CALM, buy_limits=replace(SEEN, day_buys=50))
    assert "limit (daily buys) is 50, 50 used" in objection(used_up)
    small = replace(CALM, buy_limits=replace(SEEN, position_max=Micros(20 * ONE)))
    assert "limit (per market) is 20.00" in objection(small)


def test_the_last_buy_of_the_day_is_not_given_to_two_orders() -> None:
    one_left = replace(CALM, buy_limits=replace(SEEN, day_buys=49))
    assert objection(one_left) == ""
    waiting = replace(one_left, tickets=(ticket(TicketState.UNKNOWN, at=NOW + 1),))
    assert "50 used (1 of it pending)" in objection(waiting)


def test_on_a_real_venue_its_own_caps_are_asked() -> None:
    order = replace(ORDER, venue=Venue.EVM, amount=Micros(90 * ONE))
    spent = replace(CALM, buy_limits=replace(SEEN, day_spent=Micros(450 * ONE)))
    (said_no,) = broken_by(spent, order, NOW, ())
    assert said_no[0] == "limit (daily spend, real venues) is 500.00, 450.00 used"
    large = replace(order, amount=Micros(101 * ONE))
    assert [one[0] for one in broken_by(CALM, large, NOW, ())] == [
        "limit (per trade, real venues) is 100.00"
    ]


def test_a_sale_is_never_held_back() -> None:
    held = sample_state().positions[0]
    state = owning(
        replace(CALM, positions=(held,), buy_limits=replace(SEEN, day_buys=50)),
        desk_day=1,
        day_buys=1,
    )
    order = PlaceTrade(held.market_id, held.side, Action.SELL, Venue.SIM, shares=held.shares)
    assert objection(state, order) == ""


def test_a_spent_limit_is_named_before_what_is_used_of_it() -> None:
    error = BudgetExceededError(reserved=25 * ONE, requested=20 * ONE, maximum=40 * ONE)
    state, reason = unwritten(error)
    assert (state, reason.fix) == (TicketState.REFUSED, Fix.RAISE_LIMIT)
    assert reason.text == "desk limit (daily spend) is 40.00, 25.00 used"


# -- on the embedded service --------------------------------------------------------------------


def know(state: DeskState) -> bool:
    return state.buy_limits is not None


@pytest.mark.slow
async def test_limits_are_changed_on_the_service_and_told_by_it(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        for order, holds in (
            (SetBuyLimit(BuyLimit.TRADE, 80 * ONE), lambda one: one.max_trade == 80 * ONE),
            (SetBuyLimit(BuyLimit.DAY_SPEND, 90 * ONE), lambda one: one.day_spend_max == 90 * ONE),
            (SetBuyLimit(BuyLimit.DAY_BUYS, 12), lambda one: one.day_buys_max == 12),
            (SetBuyLimit(BuyLimit.MARKET, 33 * ONE), lambda one: one.position_max == 33 * ONE),
            (SetBuyLimit(BuyLimit.SKILL_DAY, 20 * ONE), lambda one: one.skill_day_max == 20 * ONE),
            (SetBuyLimit(BuyLimit.MARKET, None), lambda one: one.position_max is None),
            (SetBuyLimit(BuyLimit.SKILL_DAY, None), lambda one: one.skill_day_max is None),
            (SetBuyLimit(BuyLimit.DAY_BUYS, None), lambda one: one.day_buys_max == 500),
        ):
            desk.submit(order)
            state = await until(
                desk, lambda s, holds=holds: s.buy_limits and holds(s.buy_limits), stage
            )
            assert state.notices[-1].tone == "good"
        assert stage.agent.settings.max_trade == 80 * ONE


@pytest.mark.slow
async def test_the_desks_own_spend_of_the_day_is_kept_over_a_restart(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        desk.submit(SetBuyLimit(BuyLimit.DESK_DAY, 40 * ONE, own=True))
        await until(desk, lambda s: "limits.desk_day" in s.preferences, stage)
        first = desk.submit(buy(stage.open_markets()[0]))
        assert (await ended(desk, first, stage)).state is TicketState.DONE
        sent = len(line.orders())
        second = desk.submit(buy(stage.open_markets()[1]))
        view = await ended(desk, second, stage)
        assert view.state is TicketState.REFUSED
        assert "desk limit (daily spend, this desk) is 40.00, 25.00 used" in view.outcome
        assert len(line.orders()) == sent
        held = (await until(desk, lambda s: s.positions, stage)).positions[0]
        third = desk.submit(sell(held))
        assert (await ended(desk, third, stage)).state is TicketState.DONE
        kept = desk.state.preferences
        initial = replace(
            desk.state, preferences=kept, buy_limits=None, limits=None, account=None, tickets=()
        )
        await desk.close()
        async with open_test_desk(stage, initial) as again:
            state = await until(again, know, stage)
            assert rail(state, BuyLimit.DESK_DAY, stage.clock.now()).used == 25 * ONE
            await asleep(stage.clock, SEEN.resets_at - NOW)
            state = await until(
                again, lambda s: s.buy_limits.resets_at > SEEN.resets_at, stage, step_s=2.0
            )
            assert rail(state, BuyLimit.DESK_DAY, stage.clock.now()).used == 0


@pytest.mark.slow
async def test_two_buys_of_one_moment_never_take_the_same_money(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        await desk.submit(SetBuyLimit(BuyLimit.DESK_DAY, 40 * ONE, own=True)).wait()
        tickets = [desk.submit(buy(market)) for market in stage.open_markets()[:4]]
        ends = [await ended(desk, one, stage) for one in tickets]
        assert [one.state for one in ends].count(TicketState.DONE) == 1
        assert len(line.orders()) == 1
        done = [row for row in await rows(stage) if row.state is StoredState.DONE]
        assert sum(row.amount_micros for row in done) == 25 * ONE


@pytest.mark.slow
async def test_an_unknown_order_reserves_the_desks_own_day(tmp_path: Path) -> None:
    async with at_work(tmp_path, Fault.LOST) as (desk, stage, line):
        await desk.submit(SetBuyLimit(BuyLimit.DESK_DAY, 40 * ONE, own=True)).wait()
        first = desk.submit(buy(stage.open_markets()[0]))
        await until(desk, lambda _: first.view.state is not TicketState.QUEUED, stage, step_s=0.0)
        second = desk.submit(buy(stage.open_markets()[1]))
        view = await ended(desk, second, stage)
        assert (view.state, "desk limit" in view.outcome) == (TicketState.REFUSED, True)
        assert len(line.orders()) == 1


@pytest.mark.slow
async def test_a_service_that_tells_no_rails_is_read_by_the_documented_figures(
    tmp_path: Path,
) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        bare = {"max_trades_per_day": 50, "default_stop_loss_pct": 0, "trading_paused": False}
        path = PATCH_USER_SETTINGS.path
        line.fault = lambda request: said(bare) if request.url.path == path else None
        state = await until(desk, lambda s: s.buy_limits and s.buy_limits.day_buys_max == 50, stage)
        known = state.buy_limits
        assert known is not None
        assert (known.sim_trade_max, known.sim_market_max) == (500 * ONE, 2_000 * ONE)
        assert (known.defaults.stop_loss_pct, known.day_buys) == (None, None)
        assert known.resets_at % DAY_S == 0


@pytest.mark.parametrize("skew_s", [-40_000.0, -20.0, 0.0, 20.0, 40_000.0])
def test_the_day_of_a_cap_begins_with_the_earlier_midnight(skew_s: float) -> None:
    for now in (86_400.0 * 20_000 + 5, 86_400.0 * 20_000 - 5, 86_400.0 * 20_000 + 43_000):
        began = spending_day_began(Timestamp(now), skew_s)
        assert now - 86_400 <= began <= now // 86_400 * 86_400
        assert began <= (now - skew_s) // 86_400 * 86_400 + skew_s


def test_an_order_on_sim_that_has_a_price_is_refused_once_the_market_is_beyond_it() -> None:
    price = CALM.markets[ORDER.market_id].price_of(Side.YES)
    assert preflight(CALM, replace(ORDER, price=price + 0.01), NOW) is None
    refused = preflight(CALM, replace(ORDER, price=price - 0.01), NOW)
    assert refused is not None
    assert "moved beyond the quote" in refused[0]


@pytest.mark.parametrize(
    ("side", "action", "price", "is_refused"),
    [
        (Side.YES, Action.BUY, 0.48, False),
        (Side.YES, Action.BUY, 0.47, True),
        (Side.YES, Action.SELL, 0.45, False),
        (Side.YES, Action.SELL, 0.46, True),
        # 1 - 0.45 is a hair above 0.55 in floats.
        (Side.NO, Action.BUY, 0.55, False),
        (Side.NO, Action.BUY, 0.54, True),
        (Side.NO, Action.SELL, 0.52, False),
    ],
)
def test_an_order_on_a_book_is_held_to_its_bound_by_the_best_price_there(
    side: Side, action: Action, price: float, *, is_refused: bool
) -> None:
    market = replace(CALM.markets["m-00001"], bid=0.45, ask=0.48)
    state = replace(CALM, markets={"m-00001": market})
    order = replace(ORDER, side=side, action=action, venue=Venue.EVM, price=price)
    found = [one.text for one in _against_quote(state, order)]
    assert found == ["price moved beyond the quote"] * is_refused
    # A limit order waits for its price, and a book without offers is the venue's to judge.
    assert not [*_against_quote(state, replace(order, rests=True))]
    bare = replace(state, markets={"m-00001": replace(market, bid=None, ask=None)})
    assert not [*_against_quote(bare, order)]
