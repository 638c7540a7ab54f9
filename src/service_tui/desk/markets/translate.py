"""Markets, their news and public trades as views of the desk."""

from service_tui.desk.slices.markets import (
    BookLevelView,
    DetailView,
    MarketView,
    NewsView,
    TapeTradeView,
)
from service_tui.desk.wire_values import amount, amount_or_none, moment_or_none
from service_tui.outcome import outcome_in
from service_tui.terms import (
    VENUE_NAMES,
    Action,
    Side,
    Venue,
)
from service_tui.units import ONE, Micros, Probability
from service_tui.wire.base import timestamp
from service_tui.wire.markets import HistoryBody, MarketBody
from service_tui.wire.world import (
    NewsBody,
    TapeBody,
    TapeTrade,
)


def market_view(body: MarketBody) -> MarketView:
    """One market as the console shows it."""
    return MarketView(
        market_id=body.id,
        question=body.question,
        category=body.tags[0] if body.tags else "",
        tags=body.tags,
        status=body.status,
        price=Probability(body.current_probability),
        price_24h_ago=body.price_24h_ago,
        volume=amount_or_none(body.volume_24h),
        opens_at=moment_or_none(body.opens_at),
        resolves_at=moment_or_none(body.resolves_at),
        resolved_at=moment_or_none(body.resolved_at),
        outcome=outcome_in(body),
        liquidity=amount_or_none(body.liquidity),
        sparkline=body.sparkline,
        criteria=body.resolution_criteria or "",
        venues=_venues_of(body.import_source),
        tick=Micros(max(1, round(body.tick_size * ONE))),
        condition_id=body.polymarket_id or "",
        neg_risk=body.polymarket_neg_risk,
        fee_rate_bps=body.fee_rate_bps,
        venue_price=body.external_price_yes,
        bid=body.best_bid,
        ask=body.best_ask,
        url=body.url or "",
        event_id=body.event_id or "",
        event_name=body.event_name or "",
    )


def _venues_of(source: str | None) -> tuple[Venue, ...]:
    """Venues of a market: always sim, and the book that its quotes come from."""
    home = VENUE_NAMES.get(source or "")
    return () if home is None else tuple(dict.fromkeys((Venue.SIM, home)))


def news_view(body: NewsBody) -> NewsView:
    """A line of news."""
    return NewsView(
        at=timestamp(body.at),
        market_id=body.market_id,
        headline=body.headline,
        price_before=body.price_before,
        price_after=body.price_after,
    )


def detail_of_tape(body: TapeBody, span_s: int) -> DetailView:
    """Chart, news and trades of one market of the embedded service; rows that are none go."""
    return DetailView(
        market_id=body.market_id,
        span_s=span_s,
        criteria=body.resolution_criteria,
        points=tuple((timestamp(point.at), point.price) for point in body.points),
        news=tuple(news_view(row) for row in body.news),
        trades=tuple(view for row in body.trades if (view := _tape_trade_view(row)) is not None),
        filled=tuple(view for row in body.filled if (view := _tape_trade_view(row)) is not None),
        bids=tuple(BookLevelView(row.price, amount(row.shares)) for row in body.bids),
        asks=tuple(BookLevelView(row.price, amount(row.shares)) for row in body.asks),
    )


def _tape_trade_view(row: TapeTrade) -> TapeTradeView | None:
    """One row of the tape; None when it is neither buy nor sale, of neither yes nor no."""
    try:
        side, action = Side(row.side), Action(row.action)
    except ValueError:
        return None
    return TapeTradeView(
        at=timestamp(row.at),
        trader=row.trader,
        side=side,
        action=action,
        shares=amount(row.shares),
        price=row.price,
    )


def detail_of_history(body: HistoryBody, span_s: int, criteria: str) -> DetailView:
    """The same of any other service: a chart and nothing else."""
    return DetailView(
        market_id=body.market_id,
        span_s=span_s,
        criteria=criteria,
        points=tuple((timestamp(point.timestamp), point.price_yes) for point in body.points),
        news=(),
        trades=(),
    )
