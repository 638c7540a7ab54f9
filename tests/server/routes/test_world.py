"""What the operator sees of the world: an absence, and the book and trades of a market."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from kit.engine.recorded import write
from kit.service.bare import bare_service, request_to
from kit.service.line import Line
from kit.service.stage import OPERATOR, open_stage
from service_tui.engine.events import MarketResolved, Payout
from service_tui.engine.tape.absence import Absence
from service_tui.engine.tape.feed import NewsItem
from service_tui.outcome import YES
from service_tui.server.routes import world as room
from service_tui.terms import Side, Venue
from service_tui.units import ONE, Micros, Probability, Timestamp
from service_tui.wire.base import moment
from service_tui.wire.endpoints.desk import SET_SPEED, STEP, WORLD
from service_tui.wire.world import TapeQuery

NONE, MORE = Micros(0), Probability(0.5)


def resolved(market_id: str, at: float, *payouts: Payout) -> MarketResolved:
    return MarketResolved(
        market_id, AT, Timestamp(at), outcome=YES, payouts=payouts, crowd_payout=NONE
    )


def paid(agent_id: str, shares: float, cost: float, payout: float) -> Payout:
    micros = [Micros(round(one * ONE)) for one in (shares, cost, payout)]
    return Payout(agent_id, Side.YES, *micros, NONE, AT)


def absent(before: dict[str, Micros]) -> Any:
    """A service whose own agent was away for an hour of the tape."""
    world = bare_world("own", "ben")
    listed(world, "m1")
    rows = (
        resolved("m1", AT - 90, paid("own", 9, 4, 9), paid("ben", 1, 1, 1)),
        resolved("m2", AT - 80, paid("ben", 9, 4, 9)),
        resolved("m3", AT - 70, paid("own", 0, 0, 0)),
        resolved("m4", AT - 60, paid("own", 8, 5, 0)),
    )
    world.meanwhile = Absence(Timestamp(AT - HOUR), Timestamp(AT - 30), rows, 14, 3, before)
    return bare_service(world)


def test_an_absence_tells_what_became_of_the_own_agents_shares(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, asked = absent({"own": NONE, "ben": Micros(7 * ONE)}), list[Any]()
    items = [
        NewsItem("m1", Timestamp(AT - 30), "At the opening", 0.1, Probability(0.4), MORE),
        NewsItem("m1", Timestamp(AT - 29), "Later", 0.1, Probability(0.4), MORE),
    ]
    monkeypatch.setattr(type(one.world), "news", lambda _, *of: asked.append(of) or items)
    told = room._absence(request_to(one, person=None))
    assert told is not None
    assert [(row.market_id, row.payout, row.pnl) for row in told.resolved] == [
        ("m4", 0.0, -5.0), ("m1", 9.0, 5.0)
    ]  # fmt: skip
    assert (told.resolved_count, told.listed_count) == (14, 3)
    assert told.world_elapsed_s == HOUR - 30
    assert asked == [(AT - HOUR, room.ABSENCE_MAX)]
    assert [item.headline for item in told.news] == ["At the opening"]
    # That nothing was left is known, and something else than that nothing is known.
    assert (told.equity_before, told.equity_after) == (0.0, 10_000.0)


def test_of_an_agent_that_was_not_there_no_value_before_is_known() -> None:
    told = room._absence(request_to(absent({"ben": Micros(7 * ONE)}), person=None))
    assert told is not None
    assert told.equity_before is None


def offer(price: float, shares: float) -> Any:
    return SimpleNamespace(price=Micros(round(price * ONE)), shares=Micros(round(shares * ONE)))


@pytest.mark.parametrize(
    ("changes", "is_shown"),
    [
        ({"home": Venue.EVM}, True),
        ({"home": Venue.SIM}, False),
        ({"home": Venue.EVM, "resolves_at": Timestamp(AT)}, False),
    ],
)
def test_a_level_of_a_book_has_all_that_stands_at_its_price(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], *, is_shown: bool
) -> None:
    world, asked = bare_world(), list[Any]()
    market = listed(world, **changes)
    offers = [offer(0.4, 3), offer(0.4, 4), offer(0.39, 5)]
    offers += [offer(0.3 - number / 100, 1) for number in range(12)]
    book = SimpleNamespace(offers=lambda times, *, bids: asked.append((times, bids)) or offers)
    monkeypatch.setattr(type(world.venues), "book", lambda *_: book)
    rows = room._levels(world, market, bids=True)
    assert asked == ([((AT, AT), True)] if is_shown else [])
    assert len(rows) == (room.LEVELS_MAX if is_shown else 0)
    assert [(row.price, row.shares) for row in rows[:2]] == (
        [(0.4, 7.0), (0.39, 5.0)] if is_shown else []
    )


async def test_the_tape_of_a_market_has_its_newest_trades_and_news_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = bare_world()
    market = listed(world)
    for number, side in ((1, Side.YES), (2, Side.NO)):
        at = Timestamp(AT + number)
        shares = Micros(number * ONE)
        market.tape.append((at, f"trader {number}", side, "buy", shares, number / 10))
    items = [
        NewsItem("m1", Timestamp(AT - ago), f"Of {ago}", 0.1, Probability(0.4), MORE)
        for ago in (30, 20)
    ]
    monkeypatch.setattr(type(world.tape), "news", lambda *_: items)
    monkeypatch.setattr(room, "prices", lambda *_: [])
    request = request_to(bare_service(world), path={"market_id": "m1"}, query=TapeQuery())
    answer = await room.tape(request)
    assert [one.model_dump() for one in answer.trades] == [
        {
            "at": moment(Timestamp(AT + number)),
            "trader": f"trader {number}",
            "side": side,
            "action": "buy",
            "shares": number,
            "price": number / 10,
        }
        for number, side in ((2, "no"), (1, "yes"))
    ]
    assert [one.headline for one in answer.news] == ["Of 20", "Of 30"]
    assert (answer.market_id, answer.bids, answer.asks) == ("m1", (), ())


async def test_the_tape_of_a_venues_market_has_both_sides_of_its_book(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = bare_world()
    listed(world, home=Venue.EVM)
    book = SimpleNamespace(offers=lambda _, *, bids: [offer(0.3 if bids else 0.5, 2)])
    monkeypatch.setattr(type(world.venues), "book", lambda *_: book)
    monkeypatch.setattr(room, "prices", lambda *_: [])
    request = request_to(bare_service(world), path={"market_id": "m1"}, query=TapeQuery())
    answer = await room.tape(request)
    assert [(one.price, one.shares) for one in answer.bids] == [(0.3, 2.0)]
    assert [(one.price, one.shares) for one in answer.asks] == [(0.5, 2.0)]


# -- on a history ------------------------------------------------------------------------------


async def test_a_step_moves_a_history_at_once_and_ends_with_the_recording(tmp_path: Path) -> None:
    async with open_stage(tmp_path / "world", recorded=write(tmp_path, 1, 2)) as stage:
        operator = Line(stage, OPERATOR)
        before = await operator.said(WORLD)
        assert before["history"]["name"] == "two"
        await operator.said(SET_SPEED, json={"speed": 0})
        paused = stage.world.world_at
        await operator.said(STEP, json={"seconds": 5_400})
        assert stage.world.world_at == paused + 5_400
        body = before
        while not body["history"]["is_over"]:
            body = await operator.said(STEP, json={"seconds": 3 * 86_400})
        assert stage.world.resolved_count > 5
        assert stage.world.ledger.total() == 0
        refused = await operator.said(STEP, 409, json={"seconds": 60})
        assert refused["error"] == "the recording ends here"


async def test_an_invented_world_is_not_stepped(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        refused = await Line(stage, OPERATOR).said(STEP, 409, json={"seconds": 60})
    assert refused["error"] == "an invented world cannot be stepped"
