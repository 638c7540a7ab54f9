"""What the table and the chart cost, in CPU milliseconds, headless at 120x40.

    python tests/bench/bench_table.py

Prints medians. The targets stand beside them; nothing fails here, machines differ.
"""

import asyncio
import itertools
import math
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rich.text import Text
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.pilot import Pilot

from kit.samples.desk import sample_state
from service_tui.console import formats, theme
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import Column
from service_tui.console.widgets.price_chart import NewsMark, PriceChart
from service_tui.console.widgets.record_table import RecordTable
from service_tui.console.widgets.spark import sparkline
from service_tui.units import Micros, Timestamp

NOW = Timestamp(1_800_000_000.0)
SIZE = (120, 40)
VIEW = ViewContext.of(sample_state(), NOW)


@dataclass(frozen=True, slots=True)
class Row:
    key: str
    question: str
    price: float
    change: float
    trend: tuple[float, ...]
    volume: Micros
    shares: Micros
    pnl: Micros
    at: Timestamp
    address: str


def number(ident: str, title: str, width: int, cell: Callable[[Row], Text]) -> Column[Row]:
    return Column(
        ident,
        title,
        width,
        lambda row, _: cell(row),
        lambda row, _: getattr(row, ident),
        numeric=True,
    )


COLUMNS: tuple[Column[Row], ...] = (
    Column("question", "Question", 16, lambda row, _: formats.plain(row.question), flex=True),
    number("price", "Yes", 6, lambda row: formats.price(row.price, aligned=True)),
    number("change", "24h pt", 6, lambda row: formats.points(row.change)),
    Column("trend", "Trend", 8, lambda row, _: Text(sparkline(row.trend, 8), "spark"), glows=False),
    number("volume", "Volume $", 10, lambda row: formats.money(row.volume)),
    number("shares", "Shares", 9, lambda row: formats.shares(row.shares)),
    number("pnl", "P&L $", 10, lambda row: formats.pnl(row.pnl)),
    Column("age", "Age", 4, lambda row, _: formats.age(row.at, NOW), align="right", glows=False),
    Column("until", "Left", 10, lambda row, _: formats.until(row.at, NOW), glows=False),
    Column("address", "Wallet", 11, lambda row, _: formats.address(row.address)),
)


def made(count: int, seed: int) -> tuple[Row, ...]:
    rng = random.Random(seed)
    return tuple(
        Row(
            key=f"m-{at}",
            question=f"Will the harbour at Port Ellery log gusts above {at} km/h by Friday?",
            price=rng.random(),
            change=rng.gauss(0, 0.05),
            trend=tuple(rng.random() for _ in range(16)),
            volume=Micros(rng.randrange(10**10)),
            shares=Micros(rng.randrange(10**9)),
            pnl=Micros(rng.randrange(-(10**9), 10**9)),
            at=Timestamp(NOW + rng.uniform(-1e5, 1e5)),
            address=f"0x{rng.getrandbits(160):040x}",
        )
        for at in range(count)
    )


def moved(rows: Sequence[Row], seed: int) -> tuple[Row, ...]:
    rng = random.Random(seed)
    return tuple(replace(row, price=rng.random(), pnl=Micros(row.pnl + 10_000)) for row in rows)


class Bench(App[None]):
    ENABLE_COMMAND_PALETTE = False
    CSS = "RecordTable { height: 1fr; } PriceChart { display: none; width: 100; height: 20; }"

    def __init__(self) -> None:
        super().__init__()
        for each in theme.load_themes(theme.shipped_folder()).themes:
            self.register_theme(each)
        self.theme = "night"
        self.table = RecordTable(COLUMNS, lambda row: row.key, "", view=lambda: VIEW)
        self.chart = PriceChart()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme.variable_defaults(self.current_theme)

    def compose(self) -> ComposeResult:
        yield self.table
        yield self.chart


def cpu_ms(work: Callable[[], object], times: int = 15) -> float:
    spent: list[float] = []
    for _ in range(times):
        start = time.process_time()
        work()
        spent.append((time.process_time() - start) * 1_000)
    return statistics.median(spent)


def say(what: str, ms: float, target: str = "") -> None:
    print(f"{what:<62} {ms:8.2f} ms   {target}")


def measure_drawing(table: RecordTable[Row]) -> None:
    whole = Region(0, 0, *table.size)

    def redraw(*, forget: bool) -> None:
        if forget:
            table._lines.forget()
        table._styles_cache.clear()
        table.render_lines(whole)

    size = f"{table.size.height - 1} lines, {len(table._lines.placed)} columns"
    say(f"draw {size}, laid out anew", cpu_ms(lambda: redraw(forget=True)), "<= 10")
    say(f"draw {size}, as when scrolling back", cpu_ms(lambda: redraw(forget=False)))


def measure_rows(table: RecordTable[Row], count: int, times: int, target: str = "") -> None:
    rows = made(count, 1)
    versions = itertools.cycle([moved(rows, seed) for seed in range(2)])
    columns = itertools.cycle(("pnl", "price"))
    table.sort_by("price")
    shown = cpu_ms(lambda: table.show(next(versions)), times)
    say(f"show {count:,} rows, sorted, all changed", shown, target)
    say(f"sort {count:,} rows", cpu_ms(lambda: table.sort_by(next(columns)), times))
    table.filter(lambda row: row.price > 0.5)
    say(f"show {count:,} rows, filtered", cpu_ms(lambda: table.show(next(versions)), times))
    table.filter(None)


async def measure_latency(app: Bench) -> None:
    rows = made(5_000, 2)
    versions = [moved(rows, seed) for seed in range(2)]
    app.table.show(rows)
    app.table.focus()
    waited: list[float] = []
    for turn in range(30):
        app.table.show(versions[turn % 2])
        start = time.perf_counter()
        before = app.table.order.index
        app.simulate_key("j")
        # Turn by turn: the moment at which it is drawn is what is measured.
        while app.table.order.index == before or app.table._repaint_required:  # noqa: ASYNC110
            await asyncio.sleep(0)
        waited.append((time.perf_counter() - start) * 1_000)
    say("key press just after 5,000 new rows, until drawn (wall)", statistics.median(waited))
    say("  the slowest of 30", max(waited), "<= 50")


async def measure_idle(app: Bench) -> None:
    app.table._rest()
    await asyncio.sleep(0.2)
    start = time.process_time()
    await asyncio.sleep(1.0)
    say("idle for a second", (time.process_time() - start) * 1_000, "about 0")


async def measure_chart(app: Bench, pilot: Pilot[None]) -> None:
    app.table.display = False
    app.chart.display = True
    points = [(Timestamp(NOW + at * 60), 0.5 + 0.3 * math.sin(at / 40)) for at in range(500)]
    news = [NewsMark(Timestamp(NOW + 6_000), "news", up=True)]
    app.chart.show(points, entry=0.4, news=news, title="YES")
    await pilot.pause()

    def draw() -> None:
        app.chart._redraw()
        app.chart._styles_cache.clear()
        app.chart.render_lines(Region(0, 0, *app.chart.size))

    say(f"chart {app.chart.size.width}x{app.chart.size.height}, 500 points", cpu_ms(draw), "<= 4")
    say("chart, new points", cpu_ms(lambda: app.chart.show(points, entry=0.4, news=news)))


async def main() -> None:
    app = Bench()
    async with app.run_test(size=SIZE) as pilot:
        app.table.show(made(1_000, 0))
        await pilot.pause()
        measure_drawing(app.table)
        measure_rows(app.table, 5_000, 15, "<= 15")
        measure_rows(app.table, 100_000, 4)
        await measure_latency(app)
        await measure_idle(app)
        await measure_chart(app, pilot)


if __name__ == "__main__":
    asyncio.run(main())
