"""Candles: open, high, low and close of even stretches, drawn without a gap in time."""

from textual.app import App, ComposeResult

from service_tui.console.widgets.braille import PlotFrame
from service_tui.console.widgets.candles import Candle, candles_of, drawn
from service_tui.console.widgets.price_chart import PriceChart
from service_tui.units import Timestamp

# Four columns of ten seconds make two candles of twenty.
FRAME = PlotFrame(columns=4, rows=10, first=0.0, last=40.0, low=0.0, high=1.0)
POINTS = ((0.0, 0.55), (5.0, 0.95), (15.0, 0.45), (25.0, 0.15), (30.0, 0.35))


def text_of(rows: list[list[tuple[str, str]]]) -> list[str]:
    return ["".join(text for text, _ in row) for row in rows]


def test_a_candle_begins_where_the_one_before_has_ended() -> None:
    first, second = candles_of(POINTS, FRAME)
    assert first == Candle(open=0.55, high=0.95, low=0.45, close=0.45)
    assert second == Candle(open=0.45, high=0.45, low=0.15, close=0.35)


def test_before_the_first_price_there_is_no_candle() -> None:
    assert candles_of(((30.0, 0.5),), FRAME) == [None, Candle(0.5, 0.5, 0.5, 0.5)]


def test_a_falling_candle_is_shaded_and_a_rising_one_is_solid() -> None:
    rows = text_of(drawn(POINTS, FRAME))
    assert {len(row) for row in rows} == {4}
    assert "".join(row[0] for row in rows) == "││││▒▒    "
    assert "".join(row[2] for row in rows) == "     ▒▒││ "
    rising = text_of(drawn(((0.0, 0.25), (10.0, 0.85)), FRAME))
    assert "".join(row[0] for row in rising) == " ███████  "


def test_an_odd_number_of_columns_keeps_its_last_candle() -> None:
    rows = text_of(drawn(POINTS, PlotFrame(5, 10, 0.0, 40.0, 0.0, 1.0)))
    assert {len(row) for row in rows} == {5}


class Charted(App[None]):
    def compose(self) -> ComposeResult:
        yield PriceChart(id="chart")


async def test_a_key_turns_the_line_into_candles_and_back() -> None:
    app = Charted()
    async with app.run_test(size=(60, 12)) as pilot:
        chart = app.query_one(PriceChart)
        chart.show([(Timestamp(at), 0.3 + at / 100) for at in range(0, 40, 3)], title="YES")
        chart.focus()
        await pilot.pause()

        def shown() -> str:
            return "\n".join(chart.render_line(y).text for y in range(12))

        line = shown()
        assert "█" not in line
        await pilot.press("c")
        assert "█" in shown()
        await pilot.press("c")
        assert shown() == line
