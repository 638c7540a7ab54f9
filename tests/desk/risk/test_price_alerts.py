from dataclasses import replace
from pathlib import Path

import pytest

from kit.desk.faults import at_work, no_page_more, until
from kit.samples.risk import price_alert_of
from kit.service.stage import open_stage, open_test_desk
from service_tui.desk.commands.risk import RemovePriceAlert, SetPriceAlert
from service_tui.desk.desk import Desk
from service_tui.desk.facts import MarketsSeen
from service_tui.desk.risk.price_alerts import after_price
from service_tui.desk.slices.risk import Condition
from service_tui.desk.state import DeskState
from service_tui.storage.price_alerts import PriceAlerts
from service_tui.terms import Side
from service_tui.units import Probability, Timestamp

AT = Timestamp(1_800_000_000.0)

PATHS = [
    (Condition.ABOVE, [0.5, 0.59, 0.6, 0.7], 2),
    (Condition.ABOVE, [0.7, 0.5], 0),
    (Condition.BELOW, [0.7, 0.61, 0.6], 2),
    (Condition.BELOW, [0.5], 0),
    (Condition.CROSSES_ABOVE, [0.7, 0.65, 0.5, 0.62], 3),
    (Condition.CROSSES_ABOVE, [0.6, 0.6, 0.7], None),
    (Condition.CROSSES_ABOVE, [0.59, 0.6], 1),
    (Condition.CROSSES_BELOW, [0.5, 0.55, 0.61, 0.3], 3),
    (Condition.CROSSES_BELOW, [0.5, 0.6, 0.4], None),
]


@pytest.mark.parametrize(("condition", "prices", "fires_at"), PATHS)
def test_each_condition_fires_once_where_it_says(
    condition: Condition, prices: list[float], fires_at: int | None
) -> None:
    alert = price_alert_of(condition=condition)
    fired = []
    for number, price in enumerate(prices):
        before = alert.triggered_at
        alert = after_price(alert, price, Timestamp(AT + number))
        if alert.triggered_at != before:
            fired.append(number)
    assert fired == ([] if fires_at is None else [fires_at])
    if fires_at is not None:
        assert alert.triggered_at == AT + fires_at
        assert alert.triggered_price == prices[fires_at]


def fired(state: DeskState) -> list[str]:
    return [one.text for one in state.notices if one.text.startswith("price alert")]


def see(desk: Desk, market_id: str, yes: float) -> None:
    """A price, as any poll or event would bring it."""
    market = replace(desk.state.markets[market_id], price=Probability(yes))
    desk.ports.emit(MarketsSeen((market,), complete=False))


def wish(market_id: str, condition: Condition, threshold: float, side: Side) -> SetPriceAlert:
    return SetPriceAlert(market_id, side, condition, threshold)


@pytest.mark.slow
async def test_the_same_alert_is_kept_once(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        market_id = stage.open_markets()[0].market_id
        see(desk, market_id, 0.5)
        above = wish(market_id, Condition.ABOVE, 0.9, Side.YES)
        desk.submit(above)
        await until(desk, lambda s: len(s.risk.price_alerts) == 1, stage)
        desk.submit(above)
        await until(desk, lambda s: any("set already" in one.text for one in s.notices), stage)
        desk.submit(replace(above, threshold=0.95))
        await until(desk, lambda s: len(s.risk.price_alerts) == 2, stage)


@pytest.mark.slow
async def test_a_price_alert_fires_once_and_stays_fired_over_a_restart(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        market_id = stage.open_markets()[0].market_id
        see(desk, market_id, 0.5)
        desk.submit(wish(market_id, Condition.CROSSES_BELOW, 0.45, Side.NO))
        state = await until(desk, lambda s: s.risk.price_alerts, stage)
        assert state.risk.price_alerts[0].question == state.markets[market_id].question
        see(desk, market_id, 0.56)
        # Between two polls, and gone again: seen all the same.
        see(desk, market_id, 0.5)
        see(desk, market_id, 0.7)
        await until(desk, fired, stage)
        assert len(fired(desk.state)) == 1
        assert "0.4400" in fired(desk.state)[0]
        (alert,) = desk.state.risk.price_alerts
        assert alert.triggered_price == pytest.approx(0.44)
        async with open_test_desk(stage) as again:
            assert again.state.risk.price_alerts == (alert,)
            await until(again, lambda s: s.markets and not s.from_cache, stage)
            see(again, market_id, 0.2)
            see(again, market_id, 0.8)
            await stage.clock.advance(5)
            assert fired(again.state) == []
            again.submit(RemovePriceAlert(alert.alert_id))
            await until(again, lambda s: not s.risk.price_alerts, stage)
        assert PriceAlerts(stage.database).all() == []


@pytest.mark.slow
async def test_a_crossing_is_told_although_the_desk_was_closed_between(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        market_id = stage.open_markets()[0].market_id
        async with open_test_desk(stage) as desk:
            await until(desk, lambda s: s.markets and not s.from_cache, stage)
            price = desk.state.markets[market_id].price
            desk.submit(wish(market_id, Condition.CROSSES_ABOVE, price + 0.01, Side.YES))
            await until(desk, lambda s: s.risk.price_alerts, stage)
            assert desk.state.risk.price_alerts[0].is_armed
        async with open_test_desk(stage) as desk:
            await until(desk, lambda s: s.markets and not s.from_cache, stage)
            see(desk, market_id, price + 0.02)
            await until(desk, fired, stage)


@pytest.mark.slow
async def test_a_price_that_is_there_already_is_told_at_once(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        market_id = stage.open_markets()[0].market_id
        desk.submit(wish(market_id, Condition.ABOVE, 0.0001, Side.YES))
        state = await until(desk, fired, stage)
        assert not state.risk.price_alerts[0].is_open
        await until(desk, lambda _: PriceAlerts(stage.database).all()[0]["triggered_at"], stage)


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [0.0, 1.0, -0.5, float("nan"), float("inf")])
async def test_a_price_that_is_none_is_refused(tmp_path: Path, threshold: float) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        desk.submit(wish("m", Condition.ABOVE, threshold, Side.YES))

        def said(s: DeskState) -> object:
            return any("above 0" in n.text for n in s.notices)

        await until(desk, said, stage)
        assert desk.state.risk.price_alerts == ()


@pytest.mark.slow
async def test_a_full_disk_still_tells_what_fires_but_keeps_no_new_one(
    tmp_path: Path,
) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        market_id = stage.open_markets()[0].market_id
        see(desk, market_id, 0.5)
        desk.submit(wish(market_id, Condition.ABOVE, 0.6, Side.YES))
        await until(desk, lambda s: s.risk.price_alerts, stage)
        await stage.database.write(no_page_more)
        desk.submit(SetPriceAlert(market_id, Side.YES, Condition.ABOVE, 0.7, "x" * 9_000))
        await until(desk, lambda s: any("not saved" in n.text for n in s.notices), stage)
        assert len(desk.state.risk.price_alerts) == 1
        see(desk, market_id, 0.65)
        await until(desk, fired, stage)
