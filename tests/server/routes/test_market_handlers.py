"""Ways to look for markets: which are found, in which order, and how many."""

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, Final

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from kit.service.bare import bare_service, request_to
from service_tui.engine.amm.market import Market
from service_tui.engine.tape.candles import PriceCandle
from service_tui.engine.tape.feed import Tape
from service_tui.server.http.refusals import Denied
from service_tui.server.routes import browse, markets
from service_tui.terms import MarketWindow, Side, Venue
from service_tui.units import ONE, Micros, Probability, Timestamp
from service_tui.wire.base import moment
from service_tui.wire.browse import BrowseQuery, CandlesQuery, FastMarketsQuery, OpportunitiesQuery
from service_tui.wire.markets import HistoryQuery, MarketsBody, MarketsQuery

MS: Final = 1_000


def id_of(name: str) -> str:
    """An id in which the numbers of a market's draws stand where they are looked for."""
    return f"{name:-<24}0000000000ab"


def service(**markets: Any) -> Any:
    """Markets by name, each with its changes; `volume` is money of the last hour."""
    world = bare_world("ada")
    # A tape of its own: that of a seed is shared by all worlds of the process.
    world.tape = Tape(world.seed, world.topics)
    world.tape.next_listings = lambda _: ()  # pyright: ignore[reportAttributeAccessIssue]
    for name, changes in markets.items():
        volume, state = changes.pop("volume", 0), changes.pop("state", "open")
        market = listed(world, id_of(name), **changes)
        market.count_volume(world.world_at, Micros(volume * ONE))
        if state == "resolved":
            market.resolved_at, market.outcome = Timestamp(AT), True
    return bare_service(world)


def at(hours: float) -> Timestamp:
    return Timestamp(AT + hours * HOUR)


def ids(answer: Any) -> list[str]:
    return [row.id.partition("-")[0] for row in answer.markets]


# -- the public list --------------------------------------------------------------------------


def shelf() -> Any:
    return service(
        rain={"question": "Will it rain in Dee?", "tags": ("weather", "days"), "volume": 5},
        snow={"question": "Will it SNOW?", "tags": ("weather",), "volume": 9,
              "opens_at": at(-1), "resolves_at": at(3)},
        vote={"question": "Will Dee vote?", "tags": ("politics",), "volume": 7,
              "opens_at": at(-3), "resolves_at": at(2)},
        late={"question": "Late?", "tags": (), "resolves_at": at(-0.1), "volume": 1},
        over={"question": "Over?", "tags": (), "state": "resolved", "volume": 2},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"status": "trending"}, ["snow", "vote", "rain", "late"]),
        ({}, ["snow", "vote", "rain"]),
        ({"status": "all"}, ["snow", "vote", "rain", "over", "late"]),
        ({"status": "active"}, ["snow", "vote", "rain"]),
        ({"status": "closed"}, ["late"]),
        ({"status": "resolved"}, ["over"]),
        ({"status": "new"}, ["snow", "late", "rain", "vote"]),
        ({"status": "ending"}, ["late", "rain", "vote", "snow"]),
        ({"tags": " Weather "}, ["snow", "rain"]),
        ({"tags": "weather, days"}, ["rain"]),
        ({"q": "dee will"}, ["vote", "rain"]),
        ({"q": "snow WEATHER"}, ["snow"]),
        ({"min_volume": 7.0}, ["snow", "vote"]),
        ({"min_volume": 7.01}, ["snow"]),
    ],
)
async def test_markets_are_found_by_status_tags_words_and_volume(
    query: dict[str, Any], found: list[str]
) -> None:
    answer = await browse.browse(request_to(shelf(), query=BrowseQuery(**query)))
    names = ids(answer)
    if query.get("status") == "new":
        assert (sorted(names), names[0], names[-1]) == (sorted(found), "snow", "vote")
    else:
        assert names == found
    assert answer.total == len(found)


async def test_a_limit_cuts_the_list_and_not_its_count() -> None:
    answer = await browse.browse(request_to(shelf(), query=BrowseQuery(status="trending", limit=2)))
    assert (ids(answer), answer.total) == (["snow", "vote"], 4)


# -- fast markets -----------------------------------------------------------------------------


def fast() -> Any:
    one = service(
        hour={"resolves_at": at(-1), "opens_at": at(-2)},
        short={"opens_at": at(-0.1), "resolves_at": at(0.15), "volume": 3, "subject": "Dee"},
        day={"opens_at": at(-2), "resolves_at": at(20), "volume": 8, "home": Venue.EVM,
             "tags": ("crypto", "Dee")},
        sol={"opens_at": at(-2), "resolves_at": at(10), "volume": 5, "home": Venue.SOL},
        week={"opens_at": at(-2), "resolves_at": at(100), "volume": 99},
    )  # fmt: skip
    later = one.world.markets[id_of("short")].listing
    coming = [replace(later, market_id=id_of(name), home=Venue.EVM) for name in ("next", "day")]
    one.world.tape.next_listings = lambda _: coming
    return one


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"sort": "volume"}, ["day", "sol", "short"]),
        ({}, ["short", "sol", "day"]),
        ({"window": MarketWindow.DAY}, ["sol", "day"]),
        ({"window": MarketWindow.QUARTER}, ["short"]),
        ({"venue": Venue.EVM}, ["day"]),
        ({"venue": Venue.SIM}, ["short", "sol", "day"]),
        ({"asset": " dee "}, ["short", "day"]),
        ({"limit": 1}, ["short"]),
        ({"market_status": "upcoming"}, ["next"]),
    ],
)
async def test_markets_of_a_day_at_most_are_found_by_window_venue_and_asset(
    query: dict[str, Any], found: list[str]
) -> None:
    answer = await browse.fast_markets(request_to(fast(), query=FastMarketsQuery(**query)))
    assert ids(answer) == found
    assert answer.count == len(found)
    is_live = query.get("market_status") != "upcoming"
    assert {row.is_live_now for row in answer.markets} == {is_live}
    assert {row.sim_tradeable for row in answer.markets} == {is_live}


async def test_a_fast_market_names_its_window_and_its_asset() -> None:
    query = FastMarketsQuery(asset="dee", venue=Venue.SIM, window=MarketWindow.QUARTER)
    (row,) = (await browse.fast_markets(request_to(fast(), query=query))).markets
    assert (row.window, row.asset, row.id) == (MarketWindow.QUARTER, "Dee", id_of("short"))


# -- opportunities ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"min_divergence": 0.05}, [("b", "no"), ("a", "yes"), ("d", "no")]),
        ({"min_divergence": 0.1}, [("b", "no"), ("a", "yes")]),
        ({"min_divergence": 0.05, "limit": 1}, [("b", "no")]),
        ({"min_divergence": 0.05, "venue": Venue.SOL}, [("d", "no")]),
        ({"min_divergence": 0.05, "venue": Venue.SIM}, [("b", "no"), ("a", "yes"), ("d", "no")]),
        ({"min_divergence": 0.3}, []),
    ],
)
async def test_markets_that_venues_price_differently_come_widest_first(
    query: dict[str, Any], found: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = service(
        a={"home": Venue.EVM}, b={"home": Venue.EVM}, c={}, d={"home": Venue.SOL},
        over={"home": Venue.EVM, "state": "resolved"}, e={"home": Venue.EVM},
    )  # fmt: skip
    gaps = {"a": 0.1, "b": -0.2, "c": 0.9, "d": -0.05, "over": 0.9, "e": None}
    real = browse.with_book

    def with_book(world: Any, market: Any, body: Any) -> Any:
        made = real(world, market, body)
        return made.model_copy(update={"divergence": gaps[market.market_id.partition("-")[0]]})

    monkeypatch.setattr(browse, "with_book", with_book)
    answer = await browse.opportunities(request_to(one, query=OpportunitiesQuery(**query)))
    assert [
        (name, row.recommended_side.value)
        for name, row in zip(ids(answer), answer.markets, strict=True)
    ] == found
    assert answer.count == len(found)
    assert {row.signal_source for row in answer.markets} <= {"crowd"}
    assert Side.YES.value == "yes"


# -- candles ----------------------------------------------------------------------------------


async def candles(
    monkeypatch: pytest.MonkeyPatch, *, rows: bool = True, **query: Any
) -> tuple[Any, list[Any]]:
    one, asked = service(m1={}), list[Any]()
    market = one.world.markets[id_of("m1")]

    def drawn(*words: Any) -> list[PriceCandle]:
        asked.append(words[1:])
        opens, step = words[1], words[3]
        made = PriceCandle(opens, 0.12345678, 0.5, 0.1, 0.4, Micros(7 * ONE))
        late = made._replace(opens_at=Timestamp(opens + step), volume=None)
        return [made, late] if rows else []

    async def of(name: str) -> Any:
        asked.append(name)
        return market

    one.world_store.past = SimpleNamespace(market=of)
    monkeypatch.setattr(browse, "candles", drawn)
    given = CandlesQuery(**{"symbol": id_of("m1"), "interval": "5m", **query})
    return await browse.read_candles(request_to(one, query=given)), asked


async def test_candles_have_moments_with_a_zone_and_six_digits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer, asked = await candles(monkeypatch)
    first, now = at(-2), AT
    assert asked == [id_of("m1"), (first, now, 300.0)]
    assert answer.model_dump()["candles"][0] == {
        "open_time": moment(first), "open": 0.123457,
        "close_time": moment(Timestamp(first + 300)) - timedelta(milliseconds=1),
        "high": 0.5, "low": 0.1, "close": 0.4, "volume": 7.0,
    }  # fmt: skip
    assert answer.candles[1].volume is None
    assert (answer.symbol, answer.complete) == (id_of("m1"), True)
    assert answer.served_through == moment(Timestamp(first + 600)) - timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("query", "first_s", "cut_s"),
    [
        ({"start": int((AT - 1_000) * MS)}, -1_200, 0),
        ({"start": int((AT - 9_000) * MS)}, -7_200, 0),
        ({"end": int((AT - 1_000) * MS)}, -7_200, -1_000),
        ({"end": int((AT + 1_000) * MS)}, -7_200, 0),
        ({"start": moment(Timestamp(AT - 1_000))}, -1_200, 0),
        # The last moment of a candle is where the next page begins.
        ({"start": int((AT - 900) * MS) - 1}, -900, 0),
    ],
)
async def test_a_span_lies_within_the_markets_life_and_begins_at_a_whole_step(
    query: dict[str, Any], first_s: float, cut_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, asked = await candles(monkeypatch, **query)
    assert asked[1] == (AT + first_s, AT + cut_s, 300.0)


async def test_only_so_many_candles_are_served_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browse, "CANDLES_MAX", 3)
    answer, asked = await candles(monkeypatch)
    assert asked[1][1] == at(-2) + 3 * 300
    assert not answer.complete
    empty, _ = await candles(monkeypatch, rows=False)
    assert (empty.candles, empty.served_through) == ((), moment(at(-2)))


async def test_a_span_that_ends_before_it_begins_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    same = int(AT * MS)
    with pytest.raises(Denied) as refused:
        await candles(monkeypatch, start=same, end=same)
    assert refused.value.status == 422


def test_the_steps_of_candles_are_those_of_their_names() -> None:
    assert browse.STEPS_S == {
        "1m": 60, "5m": 300, "15m": 900, "1h": 3_600, "4h": 14_400, "1d": 86_400
    }  # fmt: skip


# -- the agents' list -------------------------------------------------------------------------


def stock(**more: Any) -> Any:
    one = service(
        rain={"question": "Will it rain in Dee?", "tags": ("weather", "days"), "volume": 5,
              "start_price": Probability(0.45), "opens_at": at(-4)},
        snow={"question": "Snow: will Dee see it?", "tags": ("weather",), "volume": 9,
              "start_price": Probability(0.9), "resolves_at": at(3), "home": Venue.EVM,
              "opens_at": at(-2)},
        vote={"question": "Will anyone vote?", "tags": ("politics", "dee"), "volume": 7,
              "resolves_at": at(2), "start_price": Probability(0.7), "opens_at": at(-3)},
        late={"question": "Late?", "tags": (), "resolves_at": at(-0.1), "volume": 1},
        over={"question": "Over?", "tags": (), "state": "resolved", "volume": 2},
        **more,
    )  # fmt: skip
    gone = listed(bare_world(), id_of("gone"), question="Gone?")
    gone.outcome, gone.resolved_at = False, Timestamp(AT - HOUR)

    async def forgotten(market_ids: list[str]) -> dict[str, Market]:
        return {one: gone for one in market_ids if one == gone.market_id}

    async def market(market_id: str) -> Market:
        return one.world.markets[market_id]

    async def kept() -> list[Market]:
        return [gone]

    one.world_store.past = SimpleNamespace(forgotten=forgotten, market=market, listed=kept)
    return one


async def agents_list(one: Any, unknown: tuple[str, ...] = (), **query: Any) -> MarketsBody:
    asked = request_to(one, "ada", query=MarketsQuery(**query), unknown=unknown)
    return await markets.list_markets(asked)


NAMES = f"{id_of('late')}, {id_of('gone')},{id_of('rain')},{id_of('none')}"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, "snow vote rain"),
        ({"status": "all"}, "snow vote rain"),
        ({"status": "all", "tradeable_only": False}, "snow vote rain over late gone"),
        ({"status": "closed"}, "late"),
        ({"status": "resolved"}, "over gone"),
        ({"venue": Venue.EVM}, "snow"),
        ({"venue": Venue.SIM}, "snow vote rain"),
        ({"import_source": Venue.EVM, "venue": Venue.SOL}, "snow"),
        ({"import_source": Venue.SOL}, ""),
        ({"ids": NAMES, "sort": "created"}, "late gone rain"),
        ({"ids": NAMES, "status": "resolved", "sort": "created"}, "late gone rain"),
        ({"tags": "Weather"}, "snow rain"),
        ({"tags": " days , weather,"}, "rain"),
        ({"q": "DEE will"}, "rain snow vote"),
        ({"q": "will rain"}, "rain"),
        ({"max_hours_to_resolution": 2}, "vote rain"),
        ({"sort": "created"}, "snow vote rain"),
        ({"sort": "recent"}, "snow vote rain"),
        ({"sort": "opportunity"}, "rain vote snow"),
        ({"q": "dee", "sort": "created"}, "snow rain vote"),
        ({"limit": 1, "offset": 1}, "vote"),
    ],
)
async def test_agents_find_markets_by_each_condition_in_the_order_they_want(
    query: dict[str, Any], found: str
) -> None:
    assert ids(await agents_list(stock(), **query)) == found.split()


@pytest.mark.parametrize(
    ("query", "total", "is_cut", "reason", "hint"),
    [
        ({}, 3, False, None, None),
        ({"limit": 2}, 3, True, None, None),
        ({"limit": 2, "offset": 1}, 3, False, None, None),
        ({"offset": 3}, 3, False, None, "there are 3: lower the offset"),
        (
            {"q": "late?", "status": "all"}, 0, False, "filtered_untradeable",
            "send tradeable_only=false to see what takes no orders",
        ),
        (
            {"q": "nothing like it"}, 0, False, "no_matches",
            "loosen the filter, ask with status=all, or look at /markets/importable",
        ),
    ],
)  # fmt: skip
async def test_a_page_says_how_many_there_are_and_why_it_is_empty(
    query: dict[str, Any], total: int, reason: str | None, hint: str | None, *, is_cut: bool
) -> None:
    body = await agents_list(stock(), **query)
    assert (body.total, body.total_count, body.truncated) == (total, total, is_cut)
    assert (body.empty_reason, body.hint, body.agent_id) == (reason, hint, "ada")


@pytest.mark.parametrize(
    ("query", "before"),
    [
        ({}, None), ({"status": "all"}, 6), ({"status": "all", "tradeable_only": False}, None),
        ({"ids": NAMES}, None), ({"status": "closed"}, None),
    ],
)  # fmt: skip
async def test_what_was_left_out_as_it_takes_no_orders_is_counted(
    query: dict[str, Any], before: int | None
) -> None:
    assert (await agents_list(stock(), **query)).matched_before_tradeable_filter == before


@pytest.mark.parametrize(
    ("include", "has_line", "has_criteria"),
    [
        (None, False, False), ("sparkline", True, False), ("resolution_criteria", False, True),
        (" sparkline , resolution_criteria", True, True), ("spark", False, False),
    ],
)  # fmt: skip
async def test_a_row_has_what_was_asked_to_be_included(
    include: str | None, *, has_line: bool, has_criteria: bool
) -> None:
    (row,) = (await agents_list(stock(), q="rain", include=include)).markets
    assert (bool(row.sparkline), bool(row.resolution_criteria)) == (has_line, has_criteria)


async def test_unknown_parameters_are_named_with_what_they_may_mean() -> None:
    assert (await agents_list(stock())).warning is None
    body = await agents_list(stock(), unknown=("statuss", "x" * 60))
    assert body.warning == (
        f"ignored unknown parameters: statuss (did you mean status?), {'x' * 50}"
    )
    many = markets.unknown_warning([f"zz{one}" for one in range(9)], ())
    assert many == "ignored unknown parameters: zz0, zz1, zz2, zz3, zz4"


async def test_one_market_is_told_with_its_line_and_its_criteria() -> None:
    one = stock()
    asked = request_to(one, "ada", path={"market_id": id_of("rain")})
    body = await markets.read_market(asked)
    assert (body.market.id, body.agent_id) == (id_of("rain"), "ada")
    assert body.market.sparkline
    assert body.market.resolution_criteria == "YES if it ends well."
    # Its world may be ahead of the clock on the wall.
    one.world.world_at = one.world.markets[id_of("rain")].listing.resolves_at
    assert (body.market.status, body.market.is_live_now) == ("active", True)
    later = (await markets.read_market(asked)).market
    assert (later.status, later.is_live_now) == ("closed", False)


@pytest.mark.parametrize(
    ("name", "query", "span"),
    [
        ("rain", {"hours": 2, "interval": 30}, (-2, 0, 4)),
        ("rain", {"hours": 24, "interval": 60}, (-4, 0, 4)),
        ("late", {"hours": 1, "interval": 15}, (-1, -0.1, 3)),
        ("rain", {"hours": 1, "interval": 1440}, (-1, 0, 1)),
    ],
)
async def test_prices_over_time_lie_within_the_life_of_the_market(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    query: dict[str, Any],
    span: tuple[float, float, int],
) -> None:
    seen: list[object] = []

    def prices(market: Market, *span: object) -> list[tuple[Timestamp, float]]:
        seen.extend((market.market_id, *span))
        return [(at(-1), 0.12345678), (at(0), 0.75)]

    monkeypatch.setattr(markets, "prices", prices)
    asked = request_to(stock(), "ada", path={"market_id": id_of(name)}, query=HistoryQuery(**query))
    body = await markets.history(asked)
    first, last, count = span
    assert seen == [id_of(name), at(first), at(last), count]
    assert [(one.timestamp, one.price_yes, one.price_no) for one in body.points] == [
        (moment(at(-1)), 0.123457, 0.876543), (moment(at(0)), 0.75, 0.25),
    ]  # fmt: skip
    assert (body.market_id, body.interval_minutes) == (id_of(name), query["interval"])
