"""The charts of a state: which values each one shows, and how they are written. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import accumulate
from typing import Final, TypeAlias

from service_tui.console import formats
from service_tui.console.charts.series import BarSeries, Below, ChartBar, Series, TimeSeries
from service_tui.console.freshness import awaited, of_wall, of_world, world_now
from service_tui.console.keys import cap
from service_tui.console.questions import short_question
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.braille import Point
from service_tui.console.widgets.chart_lines import NewsMark
from service_tui.desk.all_fills import all_fills
from service_tui.desk.audit.report import known_pasts, results_by_skill
from service_tui.desk.figures import equity_points, price_points
from service_tui.desk.slices.agents import ReasonedTradeView, SkillResultView
from service_tui.desk.slices.markets import DetailView, MarketView, TapeTradeView
from service_tui.desk.slices.research import BacktestPoint
from service_tui.desk.slices.trades import Deal
from service_tui.desk.state import DeskState
from service_tui.terms import MONEY_OF, Action, Side, Venue, counted
from service_tui.units import ONE, Micros, Timestamp, decimal

RANGES: Final = {3_600: "1 h", 21_600: "6 h", 86_400: "24 h", 604_800: "7 d", 0: "all"}
"""Spans of a chart in seconds; 0 is all of it."""

BINS: Final = 10
"""Spans of probability in the calibration."""

_QUESTION_MAX: Final = 120
_NAME_MAX: Final = 16
_COMPARED_MAX: Final = 60
_NONE: Final = "no skill named"


class ChartName(StrEnum):
    """The charts, in their order; the values are their labels."""

    PRICE = "price"
    CANDLES = "candles"
    EQUITY = "equity"
    SKILLS = "skills"
    CALIBRATION = "calibration"
    SWEEP = "sweep"
    AGENTS = "agents"


OF_MARKET: Final = frozenset({ChartName.PRICE, ChartName.CANDLES})
"""Charts of one market."""

OF_PAST: Final = frozenset({ChartName.SKILLS, ChartName.CALIBRATION})
"""Charts of what all agents have traded, which is read for them."""


def fitting_chart(screen_name: str, market_id: str) -> ChartName:
    """The chart that fits a screen, and the market of its row; empty for none."""
    fitting = {"research": ChartName.SWEEP, "agents": ChartName.AGENTS}
    return fitting.get(screen_name, ChartName.PRICE if market_id else ChartName.EQUITY)


def series_of(
    name: ChartName,
    view: ViewContext,
    market_id: str,
    span_s: int,
    *,
    beside_id: str = "",
    agent_ids: Sequence[str] = (),
) -> Series:
    """One chart of the state of a context.

    Args:
        name: which.
        view: state, time, and whether amounts are masked.
        market_id: of a chart of one market; empty for none.
        span_s: length of a chart of one market; one of `RANGES`.
        beside_id: the market whose price is shown with that of the first; empty for none.
        agent_ids: the agents that a chart of agents shows; empty for all.
    """
    if name is ChartName.AGENTS:
        return _agents(view, agent_ids)
    series = _MAKERS[name](view, market_id, span_s)
    if beside_id and name is ChartName.PRICE and isinstance(series, TimeSeries):
        return _compared(series, view, (market_id, beside_id), span_s)
    return series


# -- one market -----------------------------------------------------------------------------------


def _prices(view: ViewContext, market_id: str, span_s: int) -> TimeSeries:
    return _of_market(view, market_id, span_s, in_candles=False)


def _candles(view: ViewContext, market_id: str, span_s: int) -> TimeSeries:
    return _of_market(view, market_id, span_s, in_candles=True)


def _of_market(view: ViewContext, market_id: str, span_s: int, *, in_candles: bool) -> TimeSeries:
    state = view.state
    market, detail = state.markets.get(market_id), state.detail
    if market is None:
        return TimeSeries("price of YES", (), "select a market first", bounds=(0.0, 1.0))
    question = formats.plain(short_question(market.question), _QUESTION_MAX).plain
    title = f"YES, {RANGES[span_s]}{of_world(state)}: {question}"
    if detail is None or detail.market_id != market_id or detail.span_s != span_s:
        return TimeSeries(title, (), awaited(state, "loading prices"), bounds=(0.0, 1.0))
    if detail.problem:
        problem = formats.plain(f"not available: {detail.problem}", 200).plain
        return TimeSeries(title, (), problem, bounds=(0.0, 1.0))
    points = price_points(market, detail, world_now(state, view.now))
    return TimeSeries(
        title,
        points,
        "no prices yet",
        below=tuple((trade.at, decimal(_money(trade))) for trade in reversed(detail.trades)),
        below_is=Below.SUM,
        below_title=f"volume, $SIM, the last {counted(len(detail.trades), 'trade')}",
        below_since=detail.trades[-1].at if detail.trades else None,
        marks=(*_own_marks(view, detail), *news_marks(detail)),
        in_candles=in_candles,
        bounds=(0.0, 1.0),
        span_min=0.02,
        write_below=lambda amount: formats.money_short(_micros(amount)).plain,
    )


def _compared(
    series: TimeSeries, view: ViewContext, market_ids: tuple[str, str], span_s: int
) -> TimeSeries:
    """The prices of YES of two markets on the same axes, without the volume and news of one."""
    state = view.state
    first, second = (_named(state, market_id) for market_id in market_ids)
    points, problem = _beside_points(view, market_ids, span_s)
    return replace(
        series,
        title=f"YES of two markets, {RANGES[span_s]}{of_world(state)}",
        below=(),
        below_is=Below.NOTHING,
        marks=(),
        others=(points,),
        names=tuple(formats.plain(name, _NAME_MAX).plain for name in (first, second)),
        legend=(first, f"{second}: {problem}" if problem else second),
    )


def _named(state: DeskState, market_id: str) -> str:
    """The short question of a market, and how it ended."""
    market = state.markets.get(market_id)
    if market is None:
        return formats.plain(market_id, _NAME_MAX).plain
    question = formats.plain(short_question(market.question), _COMPARED_MAX).plain
    return question if market.is_open else f"{question} ({ending_of(market)})"


def ending_of(market: MarketView) -> str:
    """How a market that takes no orders ended, as far as is known."""
    if market.outcome is None:
        return market.status.value
    return f"resolved {market.outcome.word}"


def _beside_points(
    view: ViewContext, market_ids: tuple[str, str], span_s: int
) -> tuple[tuple[Point, ...], str]:
    """The prices of the second of two markets, or why there are none."""
    state, (market_id, beside_id) = view.state, market_ids
    detail = state.detail
    found = None
    if detail is not None and (detail.market_id, detail.span_s) == (market_id, span_s):
        found = detail.beside
    if found is None or found.market_id != beside_id:
        return (), awaited(state, "loading prices")
    if found.problem:
        return (), formats.plain(f"not available: {found.problem}", 200).plain
    if not found.points:
        return (), "no prices known"
    market = state.markets.get(beside_id)
    if market is None or not market.is_open:
        return found.points, ""
    now = max(world_now(state, view.now), found.points[-1][0])
    return (*found.points, (now, float(market.price))), ""


def _money(trade: TapeTradeView) -> Micros:
    return Micros(round(trade.shares * trade.price))


def news_marks(detail: DetailView) -> list[NewsMark]:
    """The news of a market, each with the direction in which it moved the price of YES."""
    return [NewsMark(n.at, n.headline, n.price_after >= n.price_before) for n in detail.news]


def _own_marks(view: ViewContext, detail: DetailView) -> list[NewsMark]:
    """The trades of the own agent, by its name; a rise for what raises YES."""
    account = view.state.account
    if account is None:
        return []
    paid = _prices_paid(view.state, account.agent_id, detail.market_id)
    return [
        NewsMark(
            trade.at,
            f"{trade.action.value} {trade.side.value.upper()} {view.shares(trade.shares).plain}"
            f"{_at_price(trade, paid)}",
            (trade.action is Action.BUY) == (trade.side is Side.YES),
        )
        for trade in (*detail.trades, *detail.filled)
        if trade.trader == account.name
    ]


_Filled: TypeAlias = tuple[Side, Action, Micros]


def _prices_paid(
    state: DeskState, agent_id: str, market_id: str
) -> Mapping[_Filled, Iterator[float]]:
    """Average prices of the own fills in a market on sim, newest first: the tape has none."""
    prices: dict[_Filled, list[float]] = {}
    for fill in all_fills(state):
        if (fill.agent_id, fill.market_id, fill.venue) == (agent_id, market_id, Venue.SIM):
            prices.setdefault((fill.side, fill.action, fill.shares), []).append(fill.price)
    return {filled: iter(paid) for filled, paid in prices.items()}


def _at_price(trade: TapeTradeView, paid: Mapping[_Filled, Iterator[float]]) -> str:
    """The price that was paid, and that of YES; the tape's price after where no fill is known."""
    price = next(paid.get((trade.side, trade.action, trade.shares), iter(())), None)
    if price is None:
        return f", price after {formats.price(trade.price).plain}"
    at = f" at {formats.price(price).plain}"
    return at if trade.side is Side.YES else f"{at} (YES {formats.price(1.0 - price).plain})"


# -- the own agent --------------------------------------------------------------------------------


def _equity(view: ViewContext, market_id: str, span_s: int) -> TimeSeries:
    del market_id, span_s
    points = tuple((at, decimal(equity)) for at, equity in equity_points(view.state, view.now))
    fallen = drawdowns([value for _, value in points])
    largest = min(fallen, default=0.0)
    written = view.money(_micros(largest)).plain
    return TimeSeries(
        f"equity, $SIM{of_wall(view.state)}",
        points,
        "no equity yet",
        below=tuple((at, fall) for (at, _), fall in zip(points, fallen, strict=True)),
        below_is=Below.LEVEL,
        below_title=f"drawdown, largest {written}",
        write=_money_writer(view),
        write_below=_money_writer(view),
    )


def drawdowns(values: Sequence[float]) -> list[float]:
    """How far each value lies below the highest so far: 0 or less."""
    return [value - top for value, top in zip(values, accumulate(values, max), strict=True)]


# -- all agents -----------------------------------------------------------------------------------

LINES_MAX: Final = 6
"""Lines that can be told apart; each ends in its number."""


def _agents(view: ViewContext, agent_ids: Sequence[str]) -> TimeSeries:
    """The gain of each agent since its first mark, so that large and small ones compare.

    Of too many, the best and the worst: a supervisor looks for these.
    """
    state = view.state
    fleet = () if state.fleet is None else state.fleet.agents
    known = [
        (agent.name, state.supervision.returns_of(agent.agent_id))
        for agent in fleet
        if not agent_ids or agent.agent_id in agent_ids
    ]
    lines = [
        (formats.plain(name, _NAME_MAX).plain, _gains_of(found.curve))
        for name, found in known
        if found is not None and len(found.curve) > 1 and found.curve[0][1] > 0
    ]
    lines.sort(key=lambda line: -line[1][-1][1])
    shown, which = lines, ", the chosen ones" if agent_ids else ""
    if len(lines) > LINES_MAX:
        half = LINES_MAX // 2
        shown = [*lines[:half], *lines[-half:]]
        which = f"{which}, the {half} best and the {half} worst of {len(lines)}"
    return TimeSeries(
        f"gain since the first mark{which}{of_wall(state)}",
        shown[0][1] if shown else (),
        awaited(state, "no agent has traded yet"),
        span_min=0.01,
        others=tuple(points for _, points in shown[1:]),
        names=tuple(name for name, _ in shown),
        write=lambda gain: formats.percent_change(gain).plain,
    )


def _gains_of(curve: Sequence[tuple[Timestamp, Micros]]) -> tuple[tuple[Timestamp, float], ...]:
    """A curve of equity as fractions of its first point, which is above 0."""
    first = curve[0][1]
    return tuple((at, equity / first - 1.0) for at, equity in curve)


# -- what all agents traded -----------------------------------------------------------------------


def _skills(view: ViewContext, market_id: str, span_s: int) -> BarSeries:
    del market_id, span_s
    pasts = known_pasts(view.state)
    results = results_by_skill(pasts.values())
    unread = [past for past in pasts.values() if past.problem]
    empty = awaited(view.state, "loading trades") if _is_unread(view.state) else "no trades yet"
    return BarSeries(
        "realized P&L by skill, all agents",
        tuple(_skill_bar(result, view) for result in results),
        empty,
        lies=True,
        write=_money_writer(view),
        note=f"{counted(len(unread), 'agent')} not read" if unread else "",
    )


def _skill_bar(result: SkillResultView, view: ViewContext) -> ChartBar:
    name = formats.plain(result.skill_slug or _NONE, 40).plain
    unit = MONEY_OF[result.venue]
    label = name if result.venue is Venue.SIM else f"{name}, {unit}"
    rate = "" if result.win_rate is None else f"  {result.win_rate:.0%} won"
    reading = (
        f"{name}  {counted(result.trades_count, 'trade')}  "
        f"{view.pnl(result.pnl).plain} {unit}{rate}"
    )
    return ChartBar(label, decimal(result.pnl), reading)


def _calibration(view: ViewContext, market_id: str, span_s: int) -> BarSeries:
    del market_id, span_s
    bought = [
        (probability, one.outcome.price(one.trade.side))
        for past in known_pasts(view.state).values()
        for one in past.trades
        # What gave the money back says nothing of a price.
        if one.outcome is not None
        and not one.outcome.is_void
        and (probability := paid_of(one)) is not None
    ]
    empty = "no buys in resolved markets yet"
    if _is_unread(view.state):
        empty = awaited(view.state, "loading trades")
    return BarSeries(
        "calibration: price paid (◆) and share won, buys in resolved markets",
        tuple(_bin_bars(bought)) if bought else (),
        empty,
        bounds=(0.0, 1.0),
        write=lambda share: f"{share:.0%}",
        note=f"{counted(len(bought), 'buy')} in resolved markets, all agents",
    )


def paid_of(one: ReasonedTradeView) -> float | None:
    """What a buy paid for a share of its side, as a probability; None for what is no buy."""
    return one.trade.average if one.trade.deal is Deal.BUY else None


def _bin_bars(bought: Sequence[tuple[float, float]]) -> list[ChartBar]:
    """The share that won in each span of the price; None where nothing was bought."""
    bars: list[ChartBar] = []
    for place in range(BINS):
        low, high = place / BINS, (place + 1) / BINS
        inside = [one for one in bought if min(int(one[0] * BINS), BINS - 1) == place]
        label, span = f".{place}", f"{low:.1f} to {high:.1f}"
        if not inside:
            bars.append(ChartBar(label, None, f"{span}: no buys"))
            continue
        wins = sum(won for _, won in inside)
        paid = sum(probability for probability, _ in inside) / len(inside)
        share = wins / len(inside)
        reading = f"{span}: paid {paid:.3f}, won {wins:g} of {len(inside)} ({share:.0%})"
        bars.append(ChartBar(label, share, reading, paid))
    return bars


def _is_unread(state: DeskState) -> bool:
    return state.service.embedded and state.supervision.pasts_at is None


# -- autoresearch ---------------------------------------------------------------------------------


def _sweep(view: ViewContext, market_id: str, span_s: int) -> BarSeries:
    del market_id, span_s
    result = view.state.research.backtest
    if result is None or not result.points:
        return BarSeries(
            "threshold sweep",
            (),
            f"no sweep yet: backtest several values with {cap('app.research')}",
        )
    name = swept(result.points)
    best = best_by_value(result.points, name)
    unit = MONEY_OF[result.venue]
    values = sorted(best)
    pnls = [best[value].pnl for value in values]
    return BarSeries(
        f"P&L by {formats.plain(name, 24).plain}, {formats.plain(result.skill, 24).plain}, {unit}",
        tuple(_point_bar(name, value, best[value], view) for value in values),
        "no threshold in the result",
        write=_money_writer(view),
        best=pnls.index(max(pnls)) if pnls else None,
        note=f"{result.total:,} trades of {result.days} days replayed",
    )


def _point_bar(name: str, value: float, point: BacktestPoint, view: ViewContext) -> ChartBar:
    rate = "" if point.win_rate is None else f"  {point.win_rate:.0%} won"
    label = f"{value:.4g}"
    reading = (
        f"{formats.plain(name, 24).plain} {label}  {view.pnl(point.pnl).plain}  "
        f"{counted(point.included, 'trade')}, {point.excluded:,} left out{rate}"
    )
    return ChartBar(label, decimal(point.pnl), reading)


def best_by_value(points: Sequence[BacktestPoint], name: str) -> dict[float, BacktestPoint]:
    """The best point of each value of a threshold; a point without that threshold counts not."""
    result: dict[float, BacktestPoint] = {}
    for point in points:
        value = dict(point.config).get(name)
        if value is None:
            continue
        known = result.get(value)
        if known is None or point.pnl > known.pnl:
            result[value] = point
    return result


def swept(points: Sequence[BacktestPoint]) -> str:
    """The first threshold that takes more than one value; empty without any."""
    names = [name for name, _ in points[0].config]
    for name in names:
        if len({dict(point.config).get(name) for point in points}) > 1:
            return name
    return names[0] if names else ""


# -- writing --------------------------------------------------------------------------------------


def _micros(amount: float) -> Micros:
    return Micros(round(amount * ONE))


def _money_writer(view: ViewContext) -> Callable[[float], str]:
    return lambda amount: formats.money(_micros(amount), masked=view.masked).plain


_MAKERS: Final[dict[ChartName, Callable[[ViewContext, str, int], Series]]] = {
    ChartName.PRICE: _prices,
    ChartName.CANDLES: _candles,
    ChartName.EQUITY: _equity,
    ChartName.SKILLS: _skills,
    ChartName.CALIBRATION: _calibration,
    ChartName.SWEEP: _sweep,
}
