"""What each demo agent would buy, by the markets that it sees."""

from dataclasses import replace

from kit.samples.desk import NOW, sample_state
from service_tui.app.demo_ideas import closing_favourite, first_new, momentum, news
from service_tui.desk.slices.markets import MarketView, NewsView
from service_tui.terms import MarketStatus, Side
from service_tui.units import Probability, Timestamp

SAMPLE = next(iter(sample_state(40).markets.values()))


def market(name: str, price: float, before: float = 0.5, ends_in_s: float = 86_400) -> MarketView:
    return replace(
        SAMPLE,
        market_id=name,
        price=Probability(price),
        price_24h_ago=before,
        resolves_at=Timestamp(NOW + ends_in_s),
        status=MarketStatus.ACTIVE,
    )


def test_momentum_goes_along_with_the_largest_move_of_the_day() -> None:
    markets = (market("calm", 0.51), market("up", 0.60), market("down", 0.30))
    ideas = list(momentum(markets))
    assert [(one.market_id, one.side) for one in ideas] == [("down", Side.NO), ("up", Side.YES)]
    assert ideas[0].reason.startswith("YES moved -20 points")


def test_favourites_are_bought_shortly_before_the_end() -> None:
    markets = (
        market("later", 0.9, ends_in_s=7_200),
        market("soon", 0.1, ends_in_s=600),
        market("even", 0.6, ends_in_s=600),
        market("tomorrow", 0.9),
        market("over", 0.9, ends_in_s=-1),
    )
    ideas = list(closing_favourite(markets, NOW))
    assert [(one.market_id, one.side) for one in ideas] == [("soon", Side.NO), ("later", Side.YES)]
    assert ideas[0].reason == "NO at 0.90 with 10 min left: little can change"


def test_news_is_followed_in_its_direction_and_without_any_an_even_market_tried() -> None:
    markets = {one.market_id: one for one in (market("a", 0.4), market("b", 0.49))}
    line = NewsView(Timestamp(NOW - 60), "a", "Beam lost", 0.5, 0.4)
    old = replace(line, at=Timestamp(NOW - 86_400))
    first, *rest = news((line,), markets, NOW)
    assert (first.market_id, first.side, first.reason) == ("a", Side.NO, "News: Beam lost")
    assert [one.market_id for one in rest] == ["b", "a"]
    assert next(news((old,), markets, NOW)).market_id == "b"
    assert list(news((line,), {}, NOW)) == []


def test_an_idea_is_taken_in_an_open_market_at_a_fair_price_once() -> None:
    closed = replace(market("closed", 0.7), status=MarketStatus.CLOSED)
    markets = {one.market_id: one for one in (closed, market("dear", 0.95), market("up", 0.6))}
    ideas = list(momentum(tuple(markets.values())))
    assert first_new(iter(ideas), markets, set()).market_id == "up"
    assert first_new(iter(ideas), markets, {"up"}) is None
