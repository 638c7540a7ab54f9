"""The rebuy and conflict guards."""

from service_tui.clock import ManualClock
from service_tui.sdk.guards import CONFLICT, FRESH_S, REBUY, Guards
from service_tui.terms import Action, Side
from service_tui.wire.positions import PositionBody
from service_tui.wire.trades import TradeBody, TradeRequest


def buy(source: str | None = None, *, dry_run: bool = False) -> TradeRequest:
    return TradeRequest(market_id="m", side=Side.YES, amount=5.0, source=source, dry_run=dry_run)


def sell(shares: float) -> TradeRequest:
    return TradeRequest(market_id="m", side=Side.YES, shares=shares, action=Action.SELL)


def filled(bought: float = 0.0, sold: float = 0.0) -> TradeBody:
    return TradeBody(
        success=True, market_id="m", side=Side.YES, shares_bought=bought, shares_sold=sold
    )


REFUSED = TradeBody(success=False, market_id="m", side=Side.YES)


def guards_on(*sources: str, shares: float = 3.0) -> Guards:
    guards = Guards(ManualClock())
    guards.learn([PositionBody(market_id="m", shares_no=shares, sources=sources)])
    return guards


def test_nothing_held_lets_every_buy_pass() -> None:
    assert guards_on("a", shares=0.0).reserve(buy("b"), allow_rebuy=False) is None


def test_without_a_source_any_holding_stops_a_buy() -> None:
    assert guards_on("a").reserve(buy(), allow_rebuy=False) == REBUY
    assert guards_on().reserve(buy(), allow_rebuy=False) == REBUY
    assert guards_on("a").reserve(buy(), allow_rebuy=True) is None


def test_another_source_is_a_conflict_whatever_is_allowed() -> None:
    assert guards_on("a").reserve(buy("b"), allow_rebuy=False) == CONFLICT
    assert guards_on("a").reserve(buy("b"), allow_rebuy=True) == CONFLICT
    assert guards_on("a", "b").reserve(buy("b"), allow_rebuy=True) == CONFLICT


def test_the_own_source_is_a_rebuy() -> None:
    assert guards_on("a").reserve(buy("a"), allow_rebuy=False) == REBUY
    assert guards_on("a").reserve(buy("a"), allow_rebuy=True) is None


def test_what_nobody_claims_is_no_conflict() -> None:
    assert guards_on().reserve(buy("a"), allow_rebuy=False) is None


def test_a_buy_on_its_way_stops_the_next() -> None:
    guards = Guards(ManualClock())
    assert guards.reserve(buy("a"), allow_rebuy=False) is None
    assert guards.reserve(buy("a"), allow_rebuy=False) == REBUY
    assert guards.reserve(buy("b"), allow_rebuy=False) == CONFLICT
    guards.learn([])
    assert guards.reserve(buy("b"), allow_rebuy=False) == CONFLICT


def test_a_refused_buy_leaves_no_trace() -> None:
    guards = Guards(ManualClock())
    for answer in (REFUSED, None):
        assert guards.reserve(buy("a"), allow_rebuy=False) is None
        guards.settle(buy("a"), answer)
    assert guards.reserve(buy("b"), allow_rebuy=False) is None


def test_a_quote_leaves_no_trace() -> None:
    guards = Guards(ManualClock())
    assert guards.reserve(buy("a", dry_run=True), allow_rebuy=False) is None
    guards.settle(buy("a", dry_run=True), filled(5.0))
    assert guards.reserve(buy("b"), allow_rebuy=False) is None


def test_a_resting_order_counts_as_held() -> None:
    guards = Guards(ManualClock())
    guards.reserve(buy("a"), allow_rebuy=False)
    guards.settle(buy("a"), filled(0.0))
    assert guards.reserve(buy("a"), allow_rebuy=False) == REBUY


def test_a_sale_of_everything_frees_the_market() -> None:
    guards = Guards(ManualClock())
    guards.reserve(buy("a"), allow_rebuy=False)
    guards.settle(buy("a"), filled(7.0))
    guards.settle(sell(2.0), filled(sold=2.0))
    assert guards.reserve(buy("a"), allow_rebuy=False) == REBUY
    guards.settle(sell(5.0), filled(sold=5.0))
    assert guards.reserve(buy("b"), allow_rebuy=False) is None


async def test_what_was_ordered_is_held_for_its_source_until_positions_can_show_it() -> None:
    clock = ManualClock()
    guards = Guards(clock)
    guards.reserve(buy("a"), allow_rebuy=False)
    guards.settle(buy("a"), filled(0.0))
    guards.learn([])
    assert guards.reserve(buy("b"), allow_rebuy=True) == CONFLICT
    assert guards.reserve(buy("a"), allow_rebuy=False) == REBUY
    await clock.advance(FRESH_S)
    guards.learn([])
    assert guards.reserve(buy("b"), allow_rebuy=False) is None


def test_a_sold_side_does_not_free_what_was_bought_on_the_other() -> None:
    guards = Guards(ManualClock())
    other = buy("a").model_copy(update={"side": Side.NO})
    for request in (buy("a"), other):
        guards.reserve(request, allow_rebuy=True)
        guards.settle(request, filled(4.0))
    guards.settle(sell(4.0), filled(sold=4.0))
    # Positions that were read a moment too early show neither side.
    guards.learn([])
    assert guards.reserve(buy("b"), allow_rebuy=True) == CONFLICT


async def test_positions_are_fresh_for_thirty_seconds() -> None:
    clock = ManualClock()
    guards = Guards(clock)
    assert guards.is_stale
    guards.learn([])
    await clock.advance(FRESH_S - 1)
    assert not guards.is_stale
    await clock.advance(1.5)
    assert guards.is_stale
    guards.learn([])
    guards.forget()
    assert guards.is_stale
