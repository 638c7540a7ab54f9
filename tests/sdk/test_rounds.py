"""What a skill wants becomes buys within bounds, on the real service."""

import asyncio
import json
import math
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kit.service.served import Served, open_served
from kit.service.stage import Stage
from service_tui import Idea, ServiceClient, run_skill
from service_tui.clock import SystemClock
from service_tui.sdk import rounds
from service_tui.sdk.result import TradeResult
from service_tui.sdk.rounds import (
    DAY_S,
    STANDING,
    USED_UP,
    WAITS,
    RoundReport,
    one_round,
    reserved_on,
    spent_on,
)
from service_tui.terms import TRADES_PAGE_MAX, LeashMode, Side, TradeStatus, Venue
from service_tui.wire.endpoints.fleet import DESK_PENDING_TRADES, DESK_REFUSE, DESK_SET_LEASH
from service_tui.wire.fleet import HeldQuery, LeashRequest, RefuseRequest
from service_tui.wire.trades import TradeRow, TradesBody

SLUG = "rain-maker"
BUDGET = "SERVICE_RAIN_MAKER_DAILY_BUDGET_USD"
PAUSE_S = 30.0
WORDS = ("run.py", "--live", "--once")


async def off(script: Callable[..., Any], *arguments: Any) -> Any:
    return await asyncio.to_thread(script, *arguments)


def idea(market_id: str, amount: float = 5.0, **more: Any) -> Idea:
    return Idea(
        market_id, "yes", amount, "it looks wet", "clouds", 0.123456, 0.6, 0.7, **more
    )  # fmt: skip


def wanted(*ideas: Idea) -> Callable[[ServiceClient], Iterator[Idea]]:
    return lambda _: iter(ideas)


@pytest.mark.slow
async def test_a_round_buys_the_first_ideas_and_says_what_came_of_them(tmp_path: Path) -> None:
    def script(served: Served) -> None:
        told: list[str] = []
        first, second, third = (
            idea(one, more={"cloud": "grey"}, bought=lambda one=one: told.append(one))
            for one in served.markets[:3]
        )
        with served.client() as client:
            report = one_round(client, SLUG, wanted(first, second, third), left=20.0)
            assert (report.signals, report.trades_attempted, report.trades_executed) == (2, 2, 2)
            assert (report.amount_usd, report.skip_reason) == (10.0, None)
            assert told == served.markets[:2]
            trade = client.get_trades().trades[0]
            assert (trade.source, trade.skill_slug) == (f"sdk:{SLUG}", SLUG)
            assert trade.signal_data is not None
            said = {name: trade.signal_data[name] for name in ("edge", "signal_source", "cloud")}
            assert said == {"edge": 0.1235, "signal_source": "clouds", "cloud": "grey"}
            # What is held already is held back, and the next idea has its turn.
            again = one_round(client, SLUG, wanted(first, third), left=20.0)
            assert (again.trades_attempted, again.trades_executed) == (2, 1)
            assert again.skip_reason is not None
            assert told == served.markets[:3]

    async with open_served(tmp_path) as served:
        await off(script, served)


@pytest.mark.parametrize("given", ["nan", "inf", "-1", "twenty", ""])
def test_a_budget_that_is_no_amount_starts_nothing(
    monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", "sk_test_0123456789")
    monkeypatch.setenv("SERVICE_API_URL", "http://127.0.0.1:9")
    monkeypatch.setenv(BUDGET, given)
    asked: list[ServiceClient] = []

    def ideas(client: ServiceClient) -> list[Idea]:
        asked.append(client)
        return []

    with pytest.raises(SystemExit, match=f"^{SLUG}: {BUDGET} is "):
        run_skill(SLUG, ideas, pause_s=PAUSE_S, words=WORDS)
    assert asked == []


@pytest.mark.slow
async def test_a_rest_that_is_no_number_buys_nothing(tmp_path: Path) -> None:
    def script(served: Served) -> None:
        with served.client() as client:
            report = one_round(client, SLUG, wanted(idea(served.market_id)), left=math.nan)
        assert (report.trades_attempted, report.skip_reason) == (0, USED_UP)
        assert served.posts == []

    async with open_served(tmp_path) as served:
        await off(script, served)


class EndedError(Exception):
    """The skill was ended."""


class Days(SystemClock):
    """A clock on which each pause of the skill takes half a day; the fourth one ends it."""

    def __init__(self) -> None:
        self.pauses = 0

    def now(self) -> float:
        return DAY_S * (20_000.25 + self.pauses / 2)

    async def sleep(self, delay_s: float) -> None:
        if delay_s != PAUSE_S:
            await super().sleep(delay_s)
            return
        self.pauses += 1
        if self.pauses == 4:
            raise EndedError


@pytest.mark.slow
async def test_a_skill_has_its_budget_anew_each_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["run.py", "--live"])
    monkeypatch.setenv(BUDGET, "9")
    async with open_served(tmp_path) as served:
        monkeypatch.setenv("SERVICE_API_KEY", served.stage.key)
        monkeypatch.setenv("SERVICE_API_URL", served.url)
        markets = iter(served.markets)

        def ideas(_: ServiceClient) -> Iterator[Idea]:
            yield idea(next(markets))

        with pytest.raises(EndedError):
            await off(lambda: run_skill(SLUG, ideas, pause_s=PAUSE_S, clock=Days()))
        assert len(served.posts) == 2
    told = [json.loads(line)["automaton"] for line in capsys.readouterr().out.splitlines()]
    assert [one["trades_executed"] for one in told] == [1, 0, 1, 0]
    assert [one.get("skip_reason") for one in told] == [None, USED_UP, None, USED_UP]


class At(SystemClock):
    """A clock that stands at one moment."""

    def __init__(self, now: float) -> None:
        self._at = now

    def now(self) -> float:
        return self._at


@pytest.mark.slow
async def test_a_skill_that_is_started_again_has_what_is_left_of_the_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["run.py", "--live", "--once"])
    # A page holds one trade, so that what was spent lies on several.
    monkeypatch.setattr("service_tui.sdk.rounds.TRADES_PAGE_MAX", 1)
    monkeypatch.setenv(BUDGET, "12")
    async with open_served(tmp_path) as served:
        monkeypatch.setenv("SERVICE_API_KEY", served.stage.key)
        monkeypatch.setenv("SERVICE_API_URL", served.url)
        markets = iter(served.markets)
        now = served.stage.clock.now()

        def start(at: float = now) -> dict[str, Any]:
            run_skill(SLUG, wanted(idea(next(markets))), pause_s=PAUSE_S, clock=At(at))
            return json.loads(capsys.readouterr().out)["automaton"]

        def others() -> None:
            with served.client() as client:
                client.trade(next(markets), "yes", 50.0, skill_slug="another")
                bought = client.trade(next(markets), "yes", 50.0)
                client.trade(
                    bought.market_id, "yes", action="sell", shares=bought.shares_bought,
                    skill_slug=SLUG,
                )  # fmt: skip

        assert (await off(start))["trades_executed"] == 1
        await off(others)
        assert (await off(start))["trades_executed"] == 1
        third = await off(start)
        assert (third["trades_executed"], third["skip_reason"]) == (0, USED_UP)
        assert (await off(start, now + DAY_S))["trades_executed"] == 1


class Refusing(At):
    """A clock on which the operator refuses all that waits in the second pause; the third ends."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage.clock.now())
        self._stage, self._loop, self._pauses = stage, asyncio.get_running_loop(), 0

    async def sleep(self, delay_s: float) -> None:
        if delay_s != PAUSE_S:
            await super().sleep(delay_s)
            return
        self._pauses += 1
        if self._pauses == 2:
            no = asyncio.run_coroutine_threadsafe(self._refuse(), self._loop)
            await asyncio.wrap_future(no)
        if self._pauses == 3:
            raise EndedError

    async def _refuse(self) -> None:
        held = (await self._stage.client.call(DESK_PENDING_TRADES, query=HeldQuery())).answer.held
        for one in held:
            path = {"held_id": one.held_id}
            await self._stage.client.call(DESK_REFUSE, path=path, body=RefuseRequest())


@pytest.mark.slow
async def test_what_waits_is_not_spent_and_is_free_again_once_it_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["run.py", "--live"])
    monkeypatch.setenv(BUDGET, "9")
    async with open_served(tmp_path) as served:
        stage = served.stage
        monkeypatch.setenv("SERVICE_API_KEY", stage.key)
        monkeypatch.setenv("SERVICE_API_URL", served.url)
        asks = LeashRequest(mode=LeashMode.ASK)
        await stage.client.call(DESK_SET_LEASH, path={"agent_id": stage.agent_id}, body=asks)
        markets, clock = iter(served.markets), Refusing(stage)

        def ideas(_: ServiceClient) -> Iterator[Idea]:
            yield idea(next(markets))

        with pytest.raises(EndedError):
            await off(lambda: run_skill(SLUG, ideas, pause_s=PAUSE_S, clock=clock))
    told = [json.loads(line)["automaton"] for line in capsys.readouterr().out.splitlines()]
    assert [one["trades_attempted"] for one in told] == [1, 0, 1]
    assert {one["skip_reason"] for one in told} == {WAITS}


@pytest.mark.slow
async def test_without_live_a_skill_trades_on_paper_and_once_is_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["run.py", "--once"])
    async with open_served(tmp_path) as served:
        monkeypatch.setenv("SERVICE_API_KEY", served.stage.key)
        monkeypatch.setenv("SERVICE_API_URL", served.url)
        ideas = wanted(idea(served.market_id))
        await off(lambda: run_skill(SLUG, ideas, pause_s=PAUSE_S))
        assert served.posts == []
    assert json.loads(capsys.readouterr().out)["automaton"]["trades_executed"] == 1


@pytest.mark.parametrize(
    ("variable", "told"),
    [
        ("SERVICE_API_URL", "address"),
        ("SERVICE_API_KEY", "key"),
        ("EXPOSURE_CAP_USD", "EXPOSURE_CAP_USD"),
        ("WALLET_PRIVATE_KEY", "WALLET_PRIVATE_KEY"),
        ("SERVICE_POLYMARKET_EXCHANGE_VERSION", ""),
    ],
)
def test_what_the_environment_sets_wrongly_ends_a_skill_with_one_sentence(
    monkeypatch: pytest.MonkeyPatch, variable: str, told: str
) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", "sk_test_0123456789")
    monkeypatch.setenv("SERVICE_API_URL", "http://127.0.0.1:9")
    monkeypatch.setenv(variable, "a b")
    with pytest.raises(SystemExit, match=f"^{SLUG}: ") as ended:
        run_skill(SLUG, lambda _: [], pause_s=PAUSE_S, words=WORDS)
    assert told in str(ended.value)
    assert "\n" not in str(ended.value)


def result(**fields: Any) -> TradeResult:
    given = {"success": True, "market_id": "m", "side": Side.YES, "venue": Venue.SIM}
    return TradeResult.model_validate(given | fields)


def wish(market_id: str = "m", amount: float = 5.0, **more: Any) -> Idea:
    return Idea(
        market_id, "yes", amount, "why", "seen", edge=0.123456, confidence=0.5432109,
        probability=0.6666666, **more,
    )  # fmt: skip


class Client:
    """Answers trades as a test wants, and remembers them."""

    def __init__(self, *results: TradeResult) -> None:
        self.results = list(results)
        self.sent: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def trade(self, *given: Any, **named: Any) -> TradeResult:
        self.sent.append((given, named))
        return self.results.pop(0) if self.results else result()

    @property
    def bought(self) -> list[str]:
        return [given[0] for given, _ in self.sent]


def report(client: Any, *ideas: Idea, left: float = 20.0, **more: Any) -> RoundReport:
    return one_round(client, "tides", lambda _: iter(ideas), left=left, **more)


def test_a_buy_says_why_and_whose_it_is() -> None:
    client = Client()
    report(client, wish(more={"tx": "0x"}, price=0.4, allow_rebuy=True))
    assert client.sent == [(
        ("m", "yes", 5.0),
        {
            "reasoning": "why", "source": "sdk:tides", "skill_slug": "tides",
            "signal_data": {
                "edge": 0.1235, "confidence": 0.5432, "probability": 0.6667,
                "signal_source": "seen", "tx": "0x",
            },
            "price": 0.4, "allow_rebuy": True,
        },
    )]  # fmt: skip


def test_a_round_ends_with_its_last_buy_and_counts_what_it_saw() -> None:
    client, told = Client(), list[str]()
    ideas = [wish(name, bought=lambda name=name: told.append(name)) for name in "abc"]
    assert report(client, *ideas) == RoundReport(2, 2, 2, 10.0, None, 0.0)
    assert client.bought == told == ["a", "b"]
    assert report(Client(), *ideas, trades=3).trades_executed == 3


@pytest.mark.parametrize(("amount", "fits"), [(5.0, True), (5.01, False)])
def test_what_is_above_the_budget_is_left_out(amount: float, *, fits: bool) -> None:
    client = Client()
    found = report(client, wish("a", 15.0), wish("b", amount), left=20.0)
    assert client.bought == (["a", "b"] if fits else ["a"])
    assert found == RoundReport(
        2, 1 + fits, 1 + fits, 15.0 + amount * fits, None if fits else USED_UP
    )


@pytest.mark.parametrize(
    ("left", "reserved", "why"),
    [(0.0, 0.0, USED_UP), (-1.0, 1.0, USED_UP), (-1.0, 1.01, WAITS), (float("nan"), 0.0, USED_UP)],
)
def test_with_nothing_left_no_idea_is_asked_for(left: float, reserved: float, why: str) -> None:
    def ideas(_: object) -> list[Idea]:
        raise AssertionError("asked")

    client: Any = Client()
    assert one_round(client, "x", ideas, left=left, reserved=reserved) == RoundReport(
        skip_reason=why
    )


@pytest.mark.parametrize(
    ("fields", "is_waiting"),
    [
        ({"status": TradeStatus.SUBMITTED}, True),
        ({"fill_status": TradeStatus.SUBMITTED}, True),
        ({"status": TradeStatus.SUBMITTED, "shares_bought": 2.0}, False),
        ({"status": TradeStatus.FILLED}, False),
        ({}, False),
    ],
)
def test_what_waits_is_reserved_and_not_spent(fields: dict[str, Any], *, is_waiting: bool) -> None:
    told: list[int] = []
    found = report(Client(result(**fields)), wish(bought=lambda: told.append(1)))
    wanted = RoundReport(1, 1, 0, 0.0, WAITS, 5.0) if is_waiting else RoundReport(1, 1, 1, 5.0)
    assert found == wanted
    assert told == [1]


@pytest.mark.parametrize(
    ("reserved", "amount", "why"),
    [(0.0, 16.0, USED_UP), (4.0, 16.0, WAITS), (4.0, 19.0, WAITS), (4.0, 19.01, USED_UP)],
)
def test_what_would_fit_without_what_waits_waits_too(
    reserved: float, amount: float, why: str
) -> None:
    client = Client()
    found = report(client, wish("a", amount), left=15.0, reserved=reserved)
    assert (found.skip_reason, client.bought) == (why, [])


def test_a_buy_of_this_round_that_waits_is_in_the_way_of_the_next() -> None:
    client = Client(result(status=TradeStatus.SUBMITTED))
    found = report(client, wish("a", 12.0), wish("b", 12.0), left=20.0)
    assert (found.skip_reason, found.reserved_usd, client.bought) == (WAITS, 12.0, ["a"])


def test_three_refusals_end_a_round_and_what_is_passed_over_counts_not() -> None:
    no = result(success=False, error="no", error_code="X")
    passed = [
        result(success=False, skip_reason="conflicts skipped"),
        result(success=False, skip_reason=rounds.REBUY),
        result(success=False, error="before", error_code="REFUSED_BEFORE"),
    ]
    client = Client(no, *passed, no, no)
    found = report(client, *[wish(str(number)) for number in range(8)])
    assert client.bought == list("012345")
    assert found == RoundReport(6, 6, 0, 0.0, "no")


@pytest.mark.parametrize("code", sorted(STANDING))
def test_a_refusal_that_every_idea_would_meet_ends_a_round(code: str) -> None:
    client = Client(result(success=False, error="no", error_code=code))
    assert report(client, wish("a"), wish("b")).skip_reason == "no"
    assert client.bought == ["a"]


def test_a_report_is_one_line_for_the_desk() -> None:
    full = RoundReport(3, 2, 1, 4.5, "why", 7.0)
    assert json.loads(full.as_line()) == {"automaton": {
        "signals": 3, "trades_attempted": 2, "trades_executed": 1, "amount_usd": 4.5,
        "skip_reason": "why",
    }}  # fmt: skip
    assert "skip_reason" not in RoundReport().as_line()


# -- the day's budget --------------------------------------------------------------------------


DAY = datetime(2027, 1, 15, tzinfo=UTC)
NUMBER = int(DAY.timestamp() // 86_400)


def row(number: int, **fields: Any) -> TradeRow:
    given = {
        "id": str(number), "market_id": "m", "side": "yes", "shares": 2.0, "price_before": 0.5,
        "price_after": 0.5, "skill_slug": "tides", "source": None, "action": "buy",
        "created_at": DAY + timedelta(hours=1), "cost": 1.0, "fee": 0.25,
    }  # fmt: skip
    return TradeRow.model_validate(given | fields, strict=False)


class History:
    """Gives the trades of a service page by page."""

    def __init__(self, *pages: list[TradeRow]) -> None:
        self.pages = list(pages)
        self.asked: list[dict[str, Any]] = []

    def get_trades(self, **given: Any) -> TradesBody:
        self.asked.append(given)
        return TradesBody(trades=tuple(self.pages.pop(0)))


@pytest.mark.parametrize(
    ("fields", "money"),
    [
        ({}, 1.25),
        ({"skill_slug": None, "source": "sdk:tides"}, 1.25),
        ({"skill_slug": "rain", "source": "tides"}, 0.0),
        ({"action": "sell"}, 0.0),
        ({"created_at": DAY}, 1.25),
        ({"created_at": DAY - timedelta(microseconds=1)}, 0.0),
        ({"created_at": DAY + timedelta(days=1)}, 0.0),
    ],
)
def test_a_day_counts_its_own_buys_with_their_fees(fields: dict[str, Any], money: float) -> None:
    client: Any = History([row(1, **fields)])
    assert spent_on(client, "tides", NUMBER) == money
    assert client.asked == [
        {"limit": TRADES_PAGE_MAX, "offset": 0, "since": DAY, "until": DAY + timedelta(days=1)}
    ]


def test_pages_that_overlap_count_a_trade_once_and_end_with_nothing_new() -> None:
    first = [row(number) for number in range(TRADES_PAGE_MAX)]
    second = [row(number) for number in range(TRADES_PAGE_MAX - 1, 2 * TRADES_PAGE_MAX - 1)]
    client: Any = History(first, second, [row(2 * TRADES_PAGE_MAX)])
    assert spent_on(client, "tides", NUMBER) == 1.25 * 2 * TRADES_PAGE_MAX
    assert [one["offset"] for one in client.asked] == [0, TRADES_PAGE_MAX, 2 * TRADES_PAGE_MAX]
    client: Any = History(first, first)
    assert spent_on(client, "tides", NUMBER) == 1.25 * TRADES_PAGE_MAX
    assert len(client.asked) == 2
    # A service that does not look at the times gives older ones too: then it is enough.
    older = [*first[:-1], row(999, created_at=DAY - timedelta(days=1))]
    client: Any = History(older)
    assert spent_on(client, "tides", NUMBER) == 1.25 * (TRADES_PAGE_MAX - 1)


class Waiting(Client):
    """A client of whose buys some wait."""

    def waiting_buys(self) -> list[tuple[str, float]]:
        return [
            ("tides", 1.0), ("sdk:tides", 2.0), ("rain", 4.0), ("", 8.0), ("highttides", 16.0),
            ("sdk:tidesman", 32.0),
        ]  # fmt: skip


def test_what_is_reserved_is_the_skills_own() -> None:
    client: Any = Waiting()
    assert reserved_on(client, "tides") == 3.0


def test_the_reason_is_the_one_that_is_said_first() -> None:
    no = result(success=False, skip_reason="held back", error="other", error_code="X")
    assert report(Client(no), wish()).skip_reason == "held back"


def test_money_is_compared_by_the_cent() -> None:
    client = Client()
    found = report(client, wish("a", 0.1), wish("b", 0.2), left=0.3, trades=3)
    assert (client.bought, found.amount_usd) == (["a", "b"], 0.3)
    small = Client()
    assert report(small, wish("a", 0.5), left=0.5).trades_executed == 1
