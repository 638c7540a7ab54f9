"""What a round buys of a skill's ideas and what it reports, without a service."""

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from service_tui.clock import ManualClock
from service_tui.sdk import rounds
from service_tui.sdk.result import TradeResult
from service_tui.sdk.rounds import (
    STANDING,
    USED_UP,
    WAITS,
    Idea,
    RoundReport,
    one_round,
    reserved_on,
    run_skill,
    spent_on,
)
from service_tui.terms import TRADES_PAGE_MAX, Side, TradeStatus, Venue

Row = SimpleNamespace


def result(**fields: Any) -> TradeResult:
    given = {"success": True, "market_id": "m", "side": Side.YES, "venue": Venue.SIM}
    return TradeResult.model_validate(given | fields)


def idea(market_id: str = "m", amount: float = 5.0, **more: Any) -> Idea:
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
    report(client, idea(more={"tx": "0x"}, price=0.4, allow_rebuy=True))
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
    ideas = [idea(name, bought=lambda name=name: told.append(name)) for name in "abc"]
    assert report(client, *ideas) == RoundReport(2, 2, 2, 10.0, None, 0.0)
    assert client.bought == told == ["a", "b"]
    assert report(Client(), *ideas, trades=3).trades_executed == 3


@pytest.mark.parametrize(("amount", "fits"), [(5.0, True), (5.01, False)])
def test_what_is_above_the_budget_is_left_out(amount: float, *, fits: bool) -> None:
    client = Client()
    found = report(client, idea("a", 15.0), idea("b", amount), left=20.0)
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
    found = report(Client(result(**fields)), idea(bought=lambda: told.append(1)))
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
    found = report(client, idea("a", amount), left=15.0, reserved=reserved)
    assert (found.skip_reason, client.bought) == (why, [])


def test_a_buy_of_this_round_that_waits_is_in_the_way_of_the_next() -> None:
    client = Client(result(status=TradeStatus.SUBMITTED))
    found = report(client, idea("a", 12.0), idea("b", 12.0), left=20.0)
    assert (found.skip_reason, found.reserved_usd, client.bought) == (WAITS, 12.0, ["a"])


def test_three_refusals_end_a_round_and_what_is_passed_over_counts_not() -> None:
    no = result(success=False, error="no", error_code="X")
    passed = [
        result(success=False, skip_reason="conflicts skipped"),
        result(success=False, skip_reason=rounds.REBUY),
        result(success=False, error="before", error_code="REFUSED_BEFORE"),
    ]
    client = Client(no, *passed, no, no)
    found = report(client, *[idea(str(number)) for number in range(8)])
    assert client.bought == list("012345")
    assert found == RoundReport(6, 6, 0, 0.0, "no")


@pytest.mark.parametrize("code", sorted(STANDING))
def test_a_refusal_that_every_idea_would_meet_ends_a_round(code: str) -> None:
    client = Client(result(success=False, error="no", error_code=code))
    assert report(client, idea("a"), idea("b")).skip_reason == "no"
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


def row(number: int, **fields: Any) -> Any:
    given = {
        "id": str(number), "skill_slug": "tides", "source": None, "action": "buy",
        "created_at": DAY + timedelta(hours=1), "cost": 1.0, "fee": 0.25,
    }  # fmt: skip
    return Row(**(given | fields))


def pages(*trades: list[Any]) -> tuple[Any, list[Any]]:
    asked: list[Any] = []
    left = list(trades)

    def get_trades(**given: Any) -> Any:
        asked.append(given)
        return Row(trades=left.pop(0))

    return Row(get_trades=get_trades), asked


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
    client, asked = pages([row(1, **fields)])
    assert spent_on(client, "tides", NUMBER) == money
    assert asked == [
        {"limit": TRADES_PAGE_MAX, "offset": 0, "since": DAY, "until": DAY + timedelta(days=1)}
    ]


def test_pages_that_overlap_count_a_trade_once_and_end_with_nothing_new() -> None:
    first = [row(number) for number in range(TRADES_PAGE_MAX)]
    second = [row(number) for number in range(TRADES_PAGE_MAX - 1, 2 * TRADES_PAGE_MAX - 1)]
    client, asked = pages(first, second, [row(2 * TRADES_PAGE_MAX)])
    assert spent_on(client, "tides", NUMBER) == 1.25 * 2 * TRADES_PAGE_MAX
    assert [one["offset"] for one in asked] == [0, TRADES_PAGE_MAX, 2 * TRADES_PAGE_MAX]
    client, asked = pages(first, first)
    assert spent_on(client, "tides", NUMBER) == 1.25 * TRADES_PAGE_MAX
    assert len(asked) == 2
    # A service that does not look at the times gives older ones too: then it is enough.
    older = [*first[:-1], row(999, created_at=DAY - timedelta(days=1))]
    client, asked = pages(older)
    assert spent_on(client, "tides", NUMBER) == 1.25 * (TRADES_PAGE_MAX - 1)


def test_what_is_reserved_is_the_skills_own() -> None:
    waiting = [("tides", 1.0), ("sdk:tides", 2.0), ("rain", 4.0), ("", 8.0)]
    waiting += [("highttides", 16.0), ("sdk:tidesman", 32.0)]
    client: Any = Row(waiting_buys=lambda: waiting)
    assert reserved_on(client, "tides") == 3.0


@pytest.mark.parametrize(
    ("given", "budget"),
    [
        (None, 20.0),
        ("0", 0.0),
        ("0.5", 0.5),
        ("-1", None),
        ("inf", None),
        ("x", None),
        ("nan", None),
    ],
)
def test_the_budget_of_a_day_is_money(
    monkeypatch: pytest.MonkeyPatch, given: str | None, budget: float | None
) -> None:
    variable = "SERVICE_TIDES_DAILY_BUDGET_USD"
    monkeypatch.delenv(variable, raising=False)
    if given is not None:
        monkeypatch.setenv(variable, given)
    if budget is None:
        with pytest.raises(ValueError, match=f"{variable} is '{given}': give a number of money"):
            rounds._budget("tides")
        return
    assert rounds._budget("tides") == budget


class EndError(Exception):
    """The test has seen enough."""


def test_a_skill_runs_round_after_round_within_the_money_of_its_day(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = ManualClock(NUMBER * 86_400 + 86_400 - 15.0)
    seen: list[Any] = []
    reports = [RoundReport(amount_usd=5.0), RoundReport(amount_usd=2.0, reserved_usd=4.0),
               RoundReport(), RoundReport(), RoundReport()]  # fmt: skip
    spent, reserved = [3.0, 6.0, 1.0], [0.5, 2.5, 0.0]

    def pause(seconds: float) -> None:
        seen.append(seconds)
        clock.set(clock.now() + seconds)
        if not reports:
            raise EndError

    class Opened:
        def __init__(self, **given: Any) -> None:
            seen.append(given)
            self.pause = pause

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: object) -> None:
            seen.append("closed")

    def round_of(_client: Any, slug: str, _ideas: Any, **given: Any) -> RoundReport:
        seen.append((slug, given["left"], given["trades"], given["reserved"]))
        return reports.pop(0)

    monkeypatch.setattr(sys, "argv", ["run.py", "--live"])
    monkeypatch.setattr(rounds, "ServiceClient", Opened)
    monkeypatch.setattr(rounds, "one_round", round_of)
    monkeypatch.setattr(rounds, "spent_on", lambda *given: seen.append(given[2]) or spent.pop(0))
    monkeypatch.setattr(rounds, "reserved_on", lambda *_: reserved.pop(0))
    ideas: Callable[[Any], list[Idea]] = lambda _: []  # noqa: E731
    with pytest.raises(EndError):
        run_skill("tides", ideas, pause_s=10.0, trades=7, clock=clock)
    assert seen == [
        {"live": True, "clock": clock},
        # 20 without 3 that were spent and 0.5 that wait.
        NUMBER, ("tides", 16.5, 7, 0.5), 10.0,
        # What waited is looked at again, and the day with it.
        NUMBER, ("tides", 11.5, 7, 2.5), 10.0,
        # Midnight.
        NUMBER + 1, ("tides", 19.0, 7, 0.0), 10.0,
        ("tides", 19.0, 7, 0.0), 10.0,
        ("tides", 19.0, 7, 0.0), 10.0,
        "closed",
    ]  # fmt: skip
    assert capsys.readouterr().out.count('{"automaton": ') == 5


def test_without_live_it_is_paper_and_once_is_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    opened: Any = SimpleNamespace(
        __enter__=lambda self: self, __exit__=lambda *_: None, pause=seen.append
    )

    class Opened:
        def __init__(self, **given: Any) -> None:
            seen.append(given["live"])

        def __enter__(self) -> Any:
            return opened

        def __exit__(self, *_: object) -> None: ...

    monkeypatch.setattr(sys, "argv", ["run.py", "--once"])
    monkeypatch.setattr(rounds, "ServiceClient", Opened)
    monkeypatch.setattr(rounds, "one_round", lambda *_, **__: seen.append("round") or RoundReport())
    monkeypatch.setattr(rounds, "spent_on", lambda *_: 0.0)
    monkeypatch.setattr(rounds, "reserved_on", lambda *_: 0.0)
    run_skill("tides", lambda _: [], pause_s=1.0, clock=ManualClock())
    assert seen == [False, "round"]


def test_the_reason_is_the_one_that_is_said_first() -> None:
    no = result(success=False, skip_reason="held back", error="other", error_code="X")
    assert report(Client(no), idea()).skip_reason == "held back"


def test_money_is_compared_by_the_cent() -> None:
    client = Client()
    found = report(client, idea("a", 0.1), idea("b", 0.2), left=0.3, trades=3)
    assert (client.bought, found.amount_usd) == (["a", "b"], 0.3)
    small = Client()
    assert report(small, idea("a", 0.5), left=0.5).trades_executed == 1
