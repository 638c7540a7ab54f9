"""Several orders at once: each meets what the ones before left, and all go out or none."""

import json
from typing import Any, Final

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from service_tui.engine.amm.exchange import Order
from service_tui.engine.batch import LegRefused, check_slippage, place_all, slippage_of
from service_tui.engine.codec.events import dumps
from service_tui.engine.codec.snapshot import fields_of
from service_tui.engine.errors import SlippageBeyond
from service_tui.engine.events import NO_NOTE, Fill
from service_tui.engine.world import World
from service_tui.terms import Action, Side
from service_tui.units import ONE, Micros, Timestamp

YES, NO, BUY, SELL = Side.YES, Side.NO, Action.BUY, Action.SELL
LATER: Final = Timestamp(AT + 5)


def trading() -> World:
    world = bare_world("ada", "bea")
    for name in ("m1", "m2"):
        listed(world, name, b=Micros(500 * ONE))
    world.world_at = Timestamp(AT + 2)
    return world


def leg(world: World, market_id: str, dollars: float, **fields: Any) -> Order:
    size = Micros(round(dollars * ONE))
    known: dict[str, Any] = {"side": YES, "action": BUY, "size": size}
    return Order(world.agents["ada"], market_id, **(known | fields))


def text_of(world: World) -> str:
    return dumps(fields_of(world))


def test_a_batch_comes_to_the_same_as_its_orders_one_after_the_other() -> None:
    together, apart = trading(), trading()
    legs = [("m1", 40, YES), ("m2", 30, NO), ("m1", 50, YES), ("m1", 20, NO)]
    orders = [leg(together, market_id, size, side=side) for market_id, size, side in legs]
    fills = place_all(together, orders, LATER, slippage_max=None)
    one_by_one = [
        apart.place(leg(apart, market_id, size, side=side), LATER) for market_id, size, side in legs
    ]
    assert fills == one_by_one
    assert [one.trade_id for one in fills] == ["t1", "t2", "t3", "t4"]
    assert {(one.at, one.world_at) for one in fills} == {(LATER, together.world_at)}
    # The second buy of a market begins where the first has left its price.
    assert fills[2].price_before == fills[0].price_after > fills[0].price_before
    assert text_of(together) == text_of(apart)
    assert together.cash(together.agents["ada"]) == 9_860 * ONE
    assert together.ledger.total() == 0


def test_shares_of_a_leg_can_be_sold_by_a_later_one() -> None:
    world = trading()
    shares = world.quote(leg(world, "m1", 40)).shares
    orders = [leg(world, "m1", 40), leg(world, "m1", 0, action=SELL, size=shares)]
    bought, sold = place_all(world, orders, LATER, slippage_max=None)
    assert (bought.action, sold.action, sold.shares) == (BUY, SELL, shares)
    assert world.agents["ada"].positions["m1"].shares(YES) == 0


@pytest.mark.parametrize(
    ("last", "code"),
    [
        ({"market_id": "m9"}, "MARKET_NOT_FOUND"),
        ({"action": SELL, "size": Micros(1_000 * ONE)}, None),
        ({"size": Micros(501 * ONE)}, None),
    ],
)
def test_one_refused_leg_leaves_everything_as_it_was(
    last: dict[str, Any], code: str | None
) -> None:
    world = trading()
    world.place(leg(world, "m1", 10), AT)
    before = text_of(world)
    orders = [leg(world, "m1", 90), leg(world, "m2", 20), leg(world, "m1", 20)._replace(**last)]
    with pytest.raises(LegRefused) as refused:
        place_all(world, orders, LATER, slippage_max=None)
    assert refused.value.leg == len(orders) - 1
    assert str(refused.value) == refused.value.refusal.error
    assert code in {None, refused.value.refusal.code}
    assert text_of(world) == before


def test_legs_together_must_not_cost_more_than_there_is() -> None:
    world = trading()
    world.ledger.transfer("agent:ada", "issuer", Micros(9_900 * ONE))
    orders = [leg(world, "m1", 60), leg(world, "m2", 60)]
    with pytest.raises(LegRefused) as refused:
        place_all(world, orders, LATER, slippage_max=None)
    assert refused.value.leg == 1
    assert world.cash(world.agents["ada"]) == 100 * ONE
    assert len(place_all(world, orders[:1], LATER, slippage_max=None)) == 1
    assert world.cash(world.agents["ada"]) == 40 * ONE


def test_a_leg_that_slips_too_far_against_the_price_before_the_batch_stops_it() -> None:
    world = trading()
    orders = [leg(world, "m1", 40), leg(world, "m1", 40)]
    start = world.markets["m1"].price()
    tried = [
        one.money / one.shares - start
        for one in place_all(trading(), orders, LATER, slippage_max=None)
    ]
    assert 0 < tried[0] < tried[1]
    # Exactly as far as the request allows is not too far.
    before = text_of(world)
    with pytest.raises(LegRefused) as refused:
        place_all(world, orders, LATER, slippage_max=tried[1] - 1e-9)
    assert isinstance(refused.value.refusal, SlippageBeyond)
    assert (refused.value.leg, text_of(world)) == (1, before)
    assert len(place_all(world, orders, LATER, slippage_max=tried[1])) == len(orders)


@pytest.mark.parametrize(
    ("slipped", "most", "passes"),
    [
        (0.02, 0.02, True),
        (0.0201, 0.02, False),
        (-0.5, 0.0, True),
        (0.9, None, True),
        (float("nan"), 0.02, False),
    ],
)
def test_a_fill_slips_as_far_as_the_request_allows(
    *, slipped: float, most: float | None, passes: bool
) -> None:
    if passes:
        check_slippage(slipped, most)
    else:
        with pytest.raises(SlippageBeyond, match=r"above 0\.02"):
            check_slippage(slipped, most)


def test_slippage_is_the_average_price_against_the_one_before() -> None:
    fill = Fill(
        "t1", "ada", "m1", YES, BUY, Micros(8 * ONE), Micros(5 * ONE), 0.6, 0.65, AT, AT,
        Micros(0), NO_NOTE,
    )  # fmt: skip
    assert slippage_of(fill, 0.5) == pytest.approx(0.125)
    assert slippage_of(fill, 0.75) == pytest.approx(-0.125)


def test_a_closed_market_takes_no_leg() -> None:
    world = trading()
    listed(world, "m3", resolves_at=Timestamp(AT - HOUR))
    before = json.loads(text_of(world))
    with pytest.raises(LegRefused) as refused:
        place_all(world, [leg(world, "m1", 5), leg(world, "m3", 5)], LATER, slippage_max=None)
    assert refused.value.leg == 1
    assert json.loads(text_of(world)) == before
