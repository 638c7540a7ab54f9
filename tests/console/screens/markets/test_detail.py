"""The texts on a market's news and public trades."""

from dataclasses import replace

from kit.samples.desk import NOW
from service_tui.console.screens.markets import detail as market_detail
from service_tui.desk.slices.markets import DetailView, NewsView, TapeTradeView
from service_tui.terms import Action, Side
from service_tui.units import ONE, Micros, Timestamp

DETAIL = DetailView("m-1", 60, "", (), (), ())


def test_the_news_of_a_market_are_listed_or_said_to_be_none() -> None:
    told = replace(DETAIL, news=())
    assert "none yet" in market_detail.news(told, NOW).plain
    item = NewsView(Timestamp(NOW - 9), "m-1", "The river rose", 0.4, 0.5)
    text = market_detail.news(replace(told, news=(item,)), NOW).plain
    assert "The river rose" in text
    assert "none yet" not in text


def test_the_tape_lists_its_trades_newest_first_or_says_why_there_are_none() -> None:
    told = replace(DETAIL, trades=(), problem="")
    for detail, text in (
        (None, market_detail.LOADING), (replace(told, problem="no"), "not available"),
        (told, "none yet"),
    ):  # fmt: skip
        assert text in market_detail.trades(detail, NOW, 60).plain
    tape = tuple(
        TapeTradeView(Timestamp(NOW - 9 * place), f"trader {place}", Side.YES, Action.BUY,
                      Micros(ONE), 0.5)
        for place in (1, 2)
    )  # fmt: skip
    _, first, second = market_detail.trades(replace(told, trades=tape), NOW, 60).plain.splitlines()
    assert ("trader 1" in first, "trader 2" in second) == (True, True)
