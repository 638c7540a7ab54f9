"""Markets, news and public trades of the wire as views of the desk."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service_tui.desk.markets.translate import detail_of_history, detail_of_tape, market_view
from service_tui.desk.slices.markets import BookLevelView
from service_tui.terms import Action, Side, Venue
from service_tui.units import Micros
from service_tui.wire.markets import HistoryBody, MarketBody
from service_tui.wire.world import TapeBody

AT = datetime(2027, 1, 15, 8, 0, tzinfo=UTC)


@given(
    st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=14))])),
    st.floats(0, 1),
    st.none() | st.floats(-1e9, 1e9),
)
def test_every_market_that_the_wire_takes_can_be_shown(
    at: datetime, price: float, volume: float | None
) -> None:
    body = MarketBody(
        id="m", question="?", current_probability=price, volume_24h=volume, resolves_at=at
    )
    view = market_view(body)
    assert view.price == price
    assert view.resolves_at == at.timestamp()
    assert view.change is None
    assert view.category == ""
    assert (view.volume is None) == (volume is None)


def test_the_first_tag_is_the_category() -> None:
    body = MarketBody(id="m", question="?", current_probability=0.5, tags=("weather", "wind"))
    assert market_view(body).category == "weather"


def test_a_history_is_a_chart_of_yes_and_nothing_else() -> None:
    point = {"timestamp": AT, "price_yes": 0.3, "price_no": 0.7}
    body = HistoryBody(market_id="m", points=(point,), interval_minutes=5)
    detail = detail_of_history(body, 3_600, "as the log says")
    assert detail.points == ((AT.timestamp(), 0.3),)
    assert (detail.news, detail.trades) == ((), ())
    assert (detail.span_s, detail.criteria) == (3_600, "as the log says")


def test_the_tape_of_a_market_is_taken_whole() -> None:
    news = {"at": AT, "market_id": "m", "headline": "x", "price_before": 0.1, "price_after": 0.2}
    trade = {
        "at": AT,
        "trader": "heron",
        "side": "no",
        "action": "sell",
        "shares": 2.5,
        "price": 0.8,
    }
    body = TapeBody(
        market_id="m",
        resolution_criteria="so",
        points=({"at": AT, "price": 0.2},),
        news=(news,),
        trades=(trade, trade | {"action": "hold"}, trade | {"trader": "wren"}),
        filled=(trade | {"trader": "long ago"}, trade | {"side": "maybe"}),
        bids=({"price": 0.2, "shares": 3.0},),
        asks=({"price": 0.3, "shares": 4.0},),
    )
    detail = detail_of_tape(body, 60)
    assert (detail.market_id, detail.span_s, detail.criteria) == ("m", 60, "so")
    assert [one.trader for one in detail.trades] == ["heron", "wren"]
    assert [one.trader for one in detail.filled] == ["long ago"]
    assert detail.bids == (BookLevelView(0.2, Micros(3_000_000)),)
    assert detail.asks == (BookLevelView(0.3, Micros(4_000_000)),)
    assert detail.news[0].headline == "x"
    assert (detail.trades[0].side, detail.trades[0].action) == (Side.NO, Action.SELL)
    assert detail.trades[0].shares == 2_500_000


@pytest.mark.parametrize(
    ("source", "venues"),
    [
        (None, ()),
        ("sim", (Venue.SIM,)),
        ("evm_venue", (Venue.SIM, Venue.EVM)),
        ("polymarket", (Venue.SIM, Venue.EVM)),
        ("sol_venue", (Venue.SIM, Venue.SOL)),
        ("a venue of tomorrow", ()),
    ],
)
def test_a_market_trades_on_sim_and_on_the_book_of_its_quotes(
    source: str | None, venues: tuple[Venue, ...]
) -> None:
    body = MarketBody(id="m", question="?", current_probability=0.5, import_source=source)
    assert market_view(body).venues == venues
