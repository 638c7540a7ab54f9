"""Which endpoint each method calls, with what, and which part of the answer it gives."""

from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, Final

import pytest

from service_tui import ServiceClient
from service_tui.client.errors import Called, NotFoundError, RefusalReason, UnreachableError
from service_tui.clock import ManualClock
from service_tui.sdk import client as client_module
from service_tui.sdk.reads import POSITIONS_PAGE, venue_of
from service_tui.sdk.result import TradeResult
from service_tui.sdk.rounds import Idea, RoundReport, one_round, reserved_on, spent_on
from service_tui.terms import TRADES_PAGE_MAX, Action, Side, TradeStatus, Venue
from service_tui.wire.advice import TroubleshootRequest
from service_tui.wire.agents import AgentSettingsPatch, RegisterRequest
from service_tui.wire.briefing import BriefingQuery
from service_tui.wire.endpoints import public as on
from service_tui.wire.endpoints.fleet import HELD_TRADES
from service_tui.wire.fleet import HeldQuery
from service_tui.wire.importing import CheckQuery, ImportableQuery, ImportRequest
from service_tui.wire.market_context import MarketContextQuery
from service_tui.wire.markets import HistoryQuery, MarketsQuery
from service_tui.wire.monitors import MonitorQuery, MonitorRequest
from service_tui.wire.orders import CancelQuery, ExecutablePriceQuery
from service_tui.wire.outcomes import OutcomesQuery
from service_tui.wire.positions import ExpiringQuery, PortfolioQuery, PositionsQuery
from service_tui.wire.reactor import PendingQuery
from service_tui.wire.redemption import RedeemRequest
from service_tui.wire.settings import UserSettingsPatch
from service_tui.wire.trades import TradesQuery

THEN: Final = datetime(2026, 5, 4, tzinfo=UTC)
UNTIL: Final = datetime(2026, 6, 5, tzinfo=UTC)
ROWS: Final = ("one", "two")


class Line:
    """Notes each call and answers from a list, at last the same again."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[Any, dict[str, Any]]] = []
        self.pauses: list[float] = []

    def call(self, endpoint: Any, **asked: Any) -> Any:
        self.asked.append((endpoint, asked))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def close(self) -> None:
        self.asked.append(("closed", {}))


def client_on(line: Line, **named: Any) -> ServiceClient:
    given = {"clock": ManualClock(1_800_000_000.0), **named}
    made = ServiceClient("sk_test_0815_0816", "http://127.0.0.1:9", **given)
    made._transport = line  # pyright: ignore[reportAttributeAccessIssue]
    return made


CALLED: Final = Called("GET", "/x")


def gone() -> NotFoundError:
    return NotFoundError(RefusalReason(error="gone", fix=""), CALLED, status=404)


READS: Final[dict[str, tuple[Callable[[ServiceClient], Any], Any, dict[str, Any], str]]] = {
    "briefing": (
        lambda c: c.get_briefing(since=THEN), on.BRIEFING, {"query": BriefingQuery(since=THEN)}, ""
    ),
    "markets": (
        lambda c: c.get_markets(
            "all", limit=7, offset=3, q="rain", tags="a,b", venue="kalshi", ids="m1,m2",
            sort="recent", max_hours_to_resolution=5, include="x", tradeable_only=False,
        ),
        on.MARKETS,
        {"query": MarketsQuery(
            status="all", limit=7, offset=3, q="rain", tags="a,b", venue=Venue.SOL, ids="m1,m2",
            sort="recent", max_hours_to_resolution=5, include="x", tradeable_only=False,
        )},
        "markets",
    ),
    "markets by default": (
        lambda c: c.get_markets(),
        on.MARKETS,
        {"query": MarketsQuery(status="active", limit=50, offset=0, tradeable_only=True)},
        "markets",
    ),
    "a market": (
        lambda c: c.get_market("m1"), on.MARKET, {"path": {"market_id": "m1"}}, "market"
    ),
    "history": (
        lambda c: c.get_market_history("m1", hours=5, interval=30),
        on.MARKET_HISTORY,
        {"path": {"market_id": "m1"}, "query": HistoryQuery(hours=5, interval=30)},
        "points",
    ),
    "market context": (
        lambda c: c.get_market_context("m1", my_probability=0.7),
        on.MARKET_CONTEXT,
        {"path": {"market_id": "m1"}, "query": MarketContextQuery(my_probability=0.7)},
        "",
    ),
    "importable": (
        lambda c: c.get_importable_markets(q="rain", min_volume=5, limit=9),
        on.IMPORTABLE,
        {"query": ImportableQuery(q="rain", min_volume=5, limit=9)},
        "markets",
    ),
    "importable by default": (
        lambda c: c.get_importable_markets(),
        on.IMPORTABLE,
        {"query": ImportableQuery(q=None, min_volume=10_000, limit=50)},
        "markets",
    ),
    "check": (
        lambda c: c.check_market("https://x.example/e"),
        on.CHECK_MARKET,
        {"query": CheckQuery(url="https://x.example/e")},
        "",
    ),
    "expiring": (
        lambda c: c.get_expiring_positions(6),
        on.EXPIRING,
        {"query": ExpiringQuery(hours=6)},
        "positions",
    ),
    "outcomes": (
        lambda c: c.get_outcomes("rain", since=THEN, venue="polymarket"),
        on.OUTCOMES,
        {"query": OutcomesQuery(skill="rain", since=THEN, venue=Venue.EVM)},
        "",
    ),
    "positions": (
        lambda c: c.get_positions("kalshi", "sdk:rain"),
        on.POSITIONS,
        {"query": PositionsQuery(venue=Venue.SOL, source="sdk:rain", status="active")},
        "positions",
    ),
    "portfolio": (
        lambda c: c.get_portfolio("kalshi"),
        on.PORTFOLIO,
        {"query": PortfolioQuery(venue=Venue.SOL)},
        "",
    ),
    "the whole portfolio": (
        lambda c: c.get_portfolio(), on.PORTFOLIO, {"query": PortfolioQuery(venue="all")}, ""
    ),
    "trades": (
        lambda c: c.get_trades(
            "kalshi", limit=7, offset=3, market_id="m1", since=THEN, until=UNTIL,
            include_failed=True,
        ),
        on.TRADES,
        {"query": TradesQuery(
            venue=Venue.SOL, limit=7, offset=3, market_id="m1", since=THEN, until=UNTIL,
            include_failed=True,
        )},
        "",
    ),
    "trades by default": (
        lambda c: c.get_trades(),
        on.TRADES,
        {"query": TradesQuery(venue="all", limit=50, offset=0, include_failed=False)},
        "",
    ),
    "monitors": (lambda c: c.list_monitors(), on.MONITORS, {}, "monitors"),
    "alerts": (lambda c: c.get_risk_alerts(), on.RISK_ALERTS, {}, "risk_alerts"),
    "agent": (lambda c: c.get_agent(), on.AGENT, {}, ""),
    "context": (lambda c: c.get_context(), on.CONTEXT, {}, ""),
    "settings": (lambda c: c.get_settings(), on.SETTINGS, {}, ""),
    "user settings": (lambda c: c.get_user_settings(), on.USER_SETTINGS, {}, ""),
    "orders": (lambda c: c.get_open_orders(), on.OPEN_ORDERS, {}, "orders"),
    "signals": (
        lambda c: c.get_signals(), on.PENDING_SIGNALS, {"query": PendingQuery()}, "reactor_signals"
    ),
    "held": (
        lambda c: c.get_held_trades(), HELD_TRADES, {"query": HeldQuery(status="all")}, "held"
    ),
    "price": (
        lambda c: c.get_executable_price("m1", "no", "sell", apply_buffer=True),
        on.EXECUTABLE_PRICE,
        {
            "path": {"market_id": "m1"},
            "query": ExecutablePriceQuery(side=Side.NO, action=Action.SELL, apply_buffer=True),
        },
        "",
    ),
    "price by default": (
        lambda c: c.get_executable_price("m1", "yes"),
        on.EXECUTABLE_PRICE,
        {
            "path": {"market_id": "m1"},
            "query": ExecutablePriceQuery(side=Side.YES, action=Action.BUY, apply_buffer=False),
        },
        "",
    ),
    "advice": (
        lambda c: c.troubleshoot("it broke", message="why"),
        on.TROUBLESHOOT,
        {"body": TroubleshootRequest(error_text="it broke", message="why")},
        "",
    ),
    "cancel": (
        lambda c: c.cancel_order("o1"), on.CANCEL_ORDER, {"path": {"order_id": "o1"}}, ""
    ),
    "cancel in a market": (
        lambda c: c.cancel_market_orders("m1", "no"),
        on.CANCEL_MARKET_ORDERS,
        {"path": {"market_id": "m1"}, "query": CancelQuery(side=Side.NO)},
        "",
    ),
    "cancel both sides": (
        lambda c: c.cancel_market_orders("m1"),
        on.CANCEL_MARKET_ORDERS,
        {"path": {"market_id": "m1"}, "query": CancelQuery(side=None)},
        "",
    ),
    "cancel all": (lambda c: c.cancel_all_orders(), on.CANCEL_ALL_ORDERS, {}, ""),
    "import": (
        lambda c: c.import_market("https://x.example/e"),
        on.IMPORT_MARKET,
        {"body": ImportRequest(polymarket_url="https://x.example/e")},
        "",
    ),
    "monitor": (
        lambda c: c.set_monitor(
            "m1", "no", stop_loss_pct=0.1, take_profit_pct=0.2, trailing_stop_pct=0.3,
            exit_at=1_900_000_000.0, venue="kalshi",
        ),
        on.SET_MONITOR,
        {
            "path": {"market_id": "m1"},
            "body": MonitorRequest.model_validate(
                {
                    "side": "no", "stop_loss_pct": 0.1, "take_profit_pct": 0.2,
                    "trailing_stop_pct": 0.3, "exit_at": 1_900_000_000.0, "venue": "sol_venue",
                },
                strict=False,
            ),
        },
        "",
    ),
    "no monitor": (
        lambda c: c.delete_monitor("m1", "no", venue="kalshi"),
        on.DELETE_MONITOR,
        {"path": {"market_id": "m1"}, "query": MonitorQuery(side=Side.NO, venue=Venue.SOL)},
        "",
    ),
    "limits": (
        lambda c: c.update_settings(
            max_trades_per_day=7, max_position_usd=8, default_stop_loss_pct=0.1,
            default_take_profit_pct=0.2, auto_risk_monitor_enabled=False, trading_paused=True,
        ),
        on.PATCH_USER_SETTINGS,
        {"body": UserSettingsPatch(
            max_trades_per_day=7, max_position_usd=8, default_stop_loss_pct=0.1,
            default_take_profit_pct=0.2, auto_risk_monitor_enabled=False, trading_paused=True,
        )},
        "",
    ),
    "own settings": (
        lambda c: c.update_agent(auto_redeem_enabled=False, name="ada"),
        on.PATCH_AGENT,
        {"body": AgentSettingsPatch(auto_redeem_enabled=False, name="ada")},
        "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", READS)
def test_a_method_calls_its_endpoint_and_gives_its_part_of_the_answer(name: str) -> None:
    call, endpoint, asked, part = READS[name]
    answer = SimpleNamespace(**{part: ROWS}) if part else SimpleNamespace()
    line = Line(answer)
    got = call(client_on(line))
    assert line.asked == [(endpoint, asked)]
    assert got == ({"market": ROWS}.get(part, list(ROWS)) if part else answer)


def test_a_market_that_is_not_there_is_none() -> None:
    assert client_on(Line(gone())).get_market("m1") is None


def test_a_signal_is_dismissed_by_its_id() -> None:
    line = Line(None)
    client_on(line).dismiss_signal("s1")
    assert line.asked == [(on.DELETE_SIGNAL, {"path": {"signal_id": "s1"}})]


def test_a_client_waits_and_closes_on_its_line() -> None:
    line = Line(None)
    with client_on(line) as client:
        client.pause(4.5)
    assert line.pauses == [4.5]
    assert line.asked == [("closed", {})]


def test_a_registration_goes_without_a_key_and_closes_its_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    line, made = Line("the key"), list[Any]()

    def transport(*words: Any, **named: Any) -> Line:
        made.append((*words, named["allow_insecure"]))
        return line

    monkeypatch.setattr(client_module, "SyncTransport", transport)
    got = ServiceClient.register("ada", description="rain", base_url="http://127.0.0.1:9")
    assert got == "the key"
    assert made == [("http://127.0.0.1:9", None, False)]
    request = RegisterRequest(name="ada", description="rain")
    assert line.asked == [(on.REGISTER, {"body": request}), ("closed", {})]


@pytest.mark.parametrize(
    ("name", "venue"),
    [("polymarket", Venue.EVM), ("kalshi", Venue.SOL), ("sim", Venue.SIM), (Venue.EVM, Venue.EVM)],
)
def test_a_venue_has_several_names(name: str, venue: Venue) -> None:
    assert venue_of(name) is venue


def test_all_past_positions_are_read_page_by_page() -> None:
    def page(first: int, count: int) -> Any:
        return SimpleNamespace(positions=tuple(range(first, first + count)))

    line = Line(page(0, POSITIONS_PAGE), page(POSITIONS_PAGE, 3))
    assert client_on(line).get_positions(status="closed") == list(range(POSITIONS_PAGE + 3))
    pages = [asked["query"] for _, asked in line.asked]
    assert [(one.status, one.limit, one.offset) for one in pages] == [
        ("closed", POSITIONS_PAGE, 0), ("closed", POSITIONS_PAGE, POSITIONS_PAGE)
    ]  # fmt: skip
    # A service that knows no offset gives the same page again.
    again = Line(page(0, POSITIONS_PAGE))
    assert len(client_on(again).get_positions(status="closed")) == POSITIONS_PAGE
    assert len(again.asked) == 2


def held(action: Action, skill: str, source: str, amount: float) -> Any:
    return SimpleNamespace(action=action, skill_slug=skill, source=source, amount=amount)


def resting(action: Action, source: str | None, cost: float) -> Any:
    return SimpleNamespace(trade_type=action, source=source, cost_usdc=cost)


def test_buys_that_wait_are_those_of_the_operator_and_of_the_books() -> None:
    waits = SimpleNamespace(held=(
        held(Action.BUY, "rain", "sdk:x", 5), held(Action.BUY, "", "sdk:snow", 6),
        held(Action.SELL, "rain", "", 7),
    ))  # fmt: skip
    orders = SimpleNamespace(orders=(
        resting(Action.BUY, "sdk:rain", 8), resting(Action.SELL, "sdk:rain", 9),
        resting(Action.BUY, None, 10),
    ))  # fmt: skip
    line = Line(waits, orders)
    found = client_on(line).waiting_buys()
    assert found == [("rain", 5), ("sdk:snow", 6), ("sdk:rain", 8), ("", 10)]
    assert line.asked == [(HELD_TRADES, {"query": HeldQuery()}), (on.OPEN_ORDERS, {})]
    assert reserved_on(client_on(Line(waits, orders)), "rain") == 13
    assert reserved_on(client_on(Line(waits, orders)), "snow") == 6
    assert client_on(Line(gone(), orders)).waiting_buys() == [("sdk:rain", 8), ("", 10)]


def test_on_paper_nothing_of_the_service_is_touched() -> None:
    line = Line(None)
    client = client_on(line, live=False)
    assert client.waiting_buys() == client.get_open_orders() == []
    assert client.execute_risk_alerts() == []
    trades = client.get_trades()
    assert (trades.trades, trades.total_count) == ((), 0)
    for change in (
        lambda: client.redeem("m1", "yes"), client.auto_redeem, client.cancel_all_orders,
        lambda: client.cancel_order("o1"), lambda: client.cancel_market_orders("m1"),
        lambda: client.set_monitor("m1", "yes", stop_loss_pct=0.1), client.link_wallet,
        lambda: client.delete_monitor("m1", "yes"), client.set_approvals,
    ):  # fmt: skip
        with pytest.raises(ValueError, match="on paper"):
            change()
    assert line.asked == []


def test_what_needs_an_own_wallet_says_so() -> None:
    client = client_on(Line(None))
    for change in (client.link_wallet, client.set_approvals):
        with pytest.raises(ValueError, match="no signing key"):
            change()


def redeemable(market_id: str, side: str | None, *, is_so: bool = True) -> Any:
    return SimpleNamespace(market_id=market_id, redeemable=is_so, redeemable_side=side)


ENABLED: Final = SimpleNamespace(auto_redeem_enabled=True)


def redeemed(payout: float) -> Any:
    return SimpleNamespace(
        success=True, unsigned_tx=None, tx_hash="0xab", payout=payout, error=None,
        error_code=None, retryable=False,
    )  # fmt: skip


def test_everything_that_can_be_redeemed_is_and_a_failure_ends_no_other() -> None:
    rows = SimpleNamespace(positions=(
        redeemable("m1", "yes"), redeemable("m2", "no", is_so=False), redeemable("m3", None),
        redeemable("m4", "no"), redeemable("m5", "no"),
    ))  # fmt: skip
    away = UnreachableError("nobody there", CALLED)
    line = Line(ENABLED, rows, redeemed(5.0), away, redeemed(7.0))
    results = client_on(line).auto_redeem()
    assert [(one.market_id, one.side, one.success, one.payout) for one in results] == [
        ("m1", "yes", True, 5.0), ("m4", "no", False, 0.0), ("m5", "no", True, 7.0)
    ]  # fmt: skip
    assert (results[1].code, results[1].retryable) == ("request", True)
    assert [asked for _, asked in line.asked[1:3]] == [
        {"query": PositionsQuery(venue=Venue.EVM, status="resolved", limit=POSITIONS_PAGE)},
        {"body": RedeemRequest(market_id="m1", side=Side.YES)},
    ]


def test_an_agent_that_redeems_nothing_by_itself_is_left_alone() -> None:
    line = Line(SimpleNamespace(auto_redeem_enabled=False))
    assert client_on(line).auto_redeem() == []
    away = UnreachableError("nobody there", CALLED)
    (only,) = client_on(Line(away)).auto_redeem()
    assert (only.market_id, only.side, only.success) == ("", "", False)


def test_a_preflight_makes_three_short_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    positions = SimpleNamespace(positions=ROWS)
    line, seen = Line("agent", "briefing", positions), list[Any]()
    monkeypatch.setattr(client_module, "preflight_of", lambda *words: seen.append(words) or "ok")
    assert client_on(line).ensure_can_trade(12.5, venue="kalshi") == "ok"
    ((spending, *rest),) = seen
    assert (spending.venue, spending.amount) == (Venue.SOL, 12.5)
    assert rest == ["agent", "briefing", ROWS]
    assert line.asked == [
        (on.AGENT, {"deadline_s": 5.0}), (on.BRIEFING, {"deadline_s": 5.0}),
        (on.POSITIONS, {"deadline_s": 5.0}),
    ]  # fmt: skip


# -- rounds ----------------------------------------------------------------------------------


def bought(**changes: Any) -> TradeResult:
    given: dict[str, Any] = {
        "success": True, "skip_reason": None, "error": None, "error_code": None,
        "status": TradeStatus.FILLED, "fill_status": None, "shares_filled": 5.0,
    }  # fmt: skip
    return SimpleNamespace(**{**given, **changes})  # pyright: ignore[reportReturnType]


class Trader:
    """A client that answers each order in turn."""

    def __init__(self, *results: Any) -> None:
        self.results = list(results)
        self.orders: list[Any] = []

    def trade(self, *words: Any, **named: Any) -> Any:
        self.orders.append((words, named))
        return self.results.pop(0) if len(self.results) > 1 else self.results[0]


def idea(number: int, amount: float = 5.0, **changes: Any) -> Idea:
    given: dict[str, Any] = {
        "market_id": f"m{number}", "side": "no", "amount": amount, "reasoning": "it rains",
        "signal_source": "gauge", "edge": 0.123456, "confidence": 0.654321,
        "probability": 0.271828, "more": {"mm": 4}, "price": 0.45, "allow_rebuy": True,
    }  # fmt: skip
    return Idea(**{**given, **changes})


def round_of(trader: Trader, *ideas: Idea, left: float = 20.0, **named: Any) -> RoundReport:
    made: Any = trader
    return one_round(made, "rain", lambda _: ideas, left=left, **named)


def test_an_idea_becomes_an_order_with_all_its_reasons() -> None:
    trader, taken = Trader(bought()), list[int]()
    report = round_of(trader, idea(1, bought=lambda: taken.append(1)))
    signal = {
        "edge": 0.1235, "confidence": 0.6543, "probability": 0.2718, "signal_source": "gauge",
        "mm": 4,
    }  # fmt: skip
    named = {
        "reasoning": "it rains", "source": "sdk:rain", "skill_slug": "rain", "signal_data": signal,
        "price": 0.45, "allow_rebuy": True,
    }  # fmt: skip
    assert trader.orders == [(("m1", "no", 5.0), named)]
    assert report == RoundReport(1, 1, 1, 5.0, None, 0.0)
    assert taken == [1]
    assert report.as_line() == (
        '{"automaton": {"signals": 1, "trades_attempted": 1, "trades_executed": 1, '
        '"amount_usd": 5.0}}'
    )


def test_what_does_not_fit_the_rest_is_left_out_and_the_next_tried() -> None:
    trader = Trader(bought())
    report = round_of(trader, idea(1, 15.0), idea(2, 5.01), idea(3, 5.0), left=20.0)
    assert [words[0] for words, _ in trader.orders] == ["m1", "m3"]
    assert report == RoundReport(3, 2, 2, 20.0, "daily budget used up", 0.0)


@pytest.mark.parametrize("left", [0.0, -1.0, float("nan")])
def test_without_a_rest_nothing_is_looked_at(left: float) -> None:
    trader = Trader(bought())
    first, second = round_of(trader, idea(1), left=left), round_of(trader, left=-1, reserved=2)
    assert trader.orders == []
    assert (first.signals, first.trades_attempted) == (0, 0)
    assert first.skip_reason == "daily budget used up"
    assert second.skip_reason == "buys wait for approval or a fill"


def test_an_order_that_waits_is_reserved_and_not_spent() -> None:
    waits = bought(status=TradeStatus.SUBMITTED, shares_filled=0.0)
    part = bought(status=TradeStatus.SUBMITTED, shares_filled=1.0)
    report = round_of(Trader(waits, part), idea(1, 4.0), idea(2, 5.0))
    assert (report.trades_executed, report.amount_usd, report.reserved_usd) == (1, 5.0, 4.0)
    assert report.skip_reason is not None


def test_a_round_ends_with_its_number_of_buys() -> None:
    trader = Trader(bought())
    report = round_of(trader, *(idea(n, 1.0) for n in range(5)), trades=2)
    assert (report.signals, report.trades_executed) == (2, 2)


def test_a_refusal_is_the_reason_and_the_next_idea_is_tried() -> None:
    refused = bought(success=False, error="no room", error_code="odd")
    taken: list[int] = []
    report = round_of(Trader(refused, bought()), idea(1, bought=lambda: taken.append(1)), idea(2))
    assert (report.trades_attempted, report.trades_executed) == (2, 1)
    assert report.skip_reason == "no room"
    assert taken == []


def row(number: int, **changes: Any) -> Any:
    given = {
        "id": f"t{number}", "skill_slug": "rain", "source": None, "action": "buy", "cost": 2.0,
        "fee": 0.5, "created_at": THEN,
    }  # fmt: skip
    return SimpleNamespace(**{**given, **changes})


class History:
    """Pages of trades."""

    def __init__(self, *pages: list[Any]) -> None:
        self.pages = list(pages)
        self.asked: list[dict[str, Any]] = []

    def get_trades(self, **named: Any) -> Any:
        self.asked.append(named)
        return SimpleNamespace(trades=self.pages.pop(0) if self.pages else [])


DAY: Final = int(THEN.timestamp() // 86_400)


def test_the_money_of_a_day_is_that_of_the_skills_own_buys_with_fees() -> None:
    late = datetime(2026, 5, 5, tzinfo=UTC)
    history: Any = History([
        row(1), row(2, skill_slug=None, source="sdk:rain"), row(3, skill_slug="snow"),
        row(4, action="sell"), row(5, created_at=late),
        row(6, created_at=datetime(2026, 5, 3, 23, 59, tzinfo=UTC)), row(1),
    ])  # fmt: skip
    assert spent_on(history, "rain", DAY) == 5.0
    assert history.asked == [{"limit": TRADES_PAGE_MAX, "offset": 0, "since": THEN, "until": late}]


def test_all_pages_of_a_day_are_added_up() -> None:
    def page(first: int) -> list[Any]:
        return [row(n) for n in range(first, first + TRADES_PAGE_MAX)]

    history: Any = History(page(0), page(TRADES_PAGE_MAX - 1), [row(9_999)])
    count = 2 * TRADES_PAGE_MAX - 1 + 1
    assert spent_on(history, "rain", DAY) == 2.5 * count
    assert [asked["offset"] for asked in history.asked] == [
        0, TRADES_PAGE_MAX, 2 * TRADES_PAGE_MAX
    ]  # fmt: skip
    same: Any = History(page(0), page(0), page(0))
    assert spent_on(same, "rain", DAY) == 2.5 * TRADES_PAGE_MAX
    assert len(same.asked) == 2
