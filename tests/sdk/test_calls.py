"""What each method of the client asks the service, on a line that only takes notes."""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from service_tui.client.errors import (
    Called,
    NotFoundError,
    OutcomeUnknownError,
    RefusalReason,
    UnreachableError,
)
from service_tui.clock import ManualClock
from service_tui.sdk import client as of_client
from service_tui.sdk.client import ServiceClient
from service_tui.sdk.exits import sell_for
from service_tui.sdk.guards import REBUY
from service_tui.sdk.reads import POSITIONS_PAGE
from service_tui.sdk.result import TradeUnknownError
from service_tui.terms import MARKET_IDS_MAX, Action, OrderType, Side, Venue
from service_tui.units import Timestamp
from service_tui.wire.advice import TroubleshootRequest
from service_tui.wire.agents import RegisterRequest
from service_tui.wire.base import moment
from service_tui.wire.briefing import BriefingQuery
from service_tui.wire.endpoints import public as on
from service_tui.wire.endpoints.fleet import HELD_TRADES
from service_tui.wire.fleet import HeldQuery
from service_tui.wire.importing import CheckQuery, ImportableQuery, ImportRequest
from service_tui.wire.market_context import MarketContextQuery
from service_tui.wire.markets import HistoryQuery, MarketsQuery
from service_tui.wire.monitors import (
    MonitorQuery,
    MonitorRequest,
    RiskAlertBody,
    RiskAlertQuery,
)
from service_tui.wire.orders import CancelQuery, ExecutablePriceQuery
from service_tui.wire.outcomes import OutcomesQuery
from service_tui.wire.positions import ExpiringQuery, PortfolioQuery, PositionsQuery
from service_tui.wire.reactor import PendingQuery
from service_tui.wire.settings import UserSettingsPatch
from service_tui.wire.trades import TradeBody, TradeRequest, TradesQuery

CALLED = Called("POST", "/x")
SIGNS = "11" * 32
WHEN = datetime(2027, 1, 15, tzinfo=UTC)
LATER = datetime(2027, 1, 16, tzinfo=UTC)
Row = SimpleNamespace


class Line:
    """In place of the line to a service: what was called, and what a test has it answer."""

    def __init__(self, **answers: Any) -> None:
        self.called: list[tuple[Any, ...]] = []
        self.answers = answers
        self.opened: list[tuple[Any, ...]] = []
        self.done: list[Any] = []

    def open(self, url: str, key: str | None, **more: Any) -> "Line":
        self.opened.append((url, key, more["allow_insecure"], more.get("names")))
        return self

    def call(self, endpoint: Any, **given: Any) -> Any:
        name = next(name for name, one in vars(on).items() if one is endpoint) if (
            endpoint is not HELD_TRADES
        ) else "HELD_TRADES"  # fmt: skip
        given = {word: one for word, one in given.items() if one is not None}
        self.called.append((name, given))
        answer = self.answers.get(name)
        answer = answer.pop(0) if isinstance(answer, list) else answer
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        self.done.append("close")

    def pause(self, seconds: float) -> None:
        self.done.append(seconds)


Open = Callable[..., tuple[ServiceClient, Line]]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Open:
    for name in ("WALLET_PRIVATE_KEY", "SERVICE_SKIP_PREFLIGHT", "SERVICE_API_URL"):
        monkeypatch.delenv(name, raising=False)

    def open_(answers: dict[str, Any] | None = None, **given: Any) -> tuple[ServiceClient, Line]:
        line = Line(**(answers or {}))
        monkeypatch.setattr(of_client, "SyncTransport", line.open)
        clock = ManualClock(1_000.0)
        return ServiceClient("sk", "https://h", clock=clock, **given), line

    return open_


def path(**given: str) -> dict[str, Any]:
    return {"path": given}


CALLS: list[tuple[Callable[[ServiceClient], Any], tuple[Any, ...]]] = [
    (lambda c: c.get_briefing(since=WHEN), ("BRIEFING", {"query": BriefingQuery(since=WHEN)})),
    (lambda c: c.get_market_history("m", hours=3, interval=7),
     ("MARKET_HISTORY", {**path(market_id="m"), "query": HistoryQuery(hours=3, interval=7)})),
    (lambda c: c.get_market_context("m", my_probability=0.3),
     ("MARKET_CONTEXT", {**path(market_id="m"), "query": MarketContextQuery(my_probability=0.3)})),
    (lambda c: c.get_market("m"), ("MARKET", path(market_id="m"))),
    (lambda c: c.get_markets(
        "closed", limit=3, offset=4, q="xy", tags="a,b", venue="evm_venue", ids="m,n",
        sort="recent", max_hours_to_resolution=5, include="y", tradeable_only=False),
     ("MARKETS", {"query": MarketsQuery(
        status="closed", limit=3, offset=4, q="xy", tags="a,b", venue=Venue.EVM, ids="m,n",
        sort="recent", max_hours_to_resolution=5, include="y", tradeable_only=False)})),
    (lambda c: c.get_markets(), ("MARKETS", {"query": MarketsQuery(status="active", limit=50)})),
    (lambda c: c.get_importable_markets(q="xy", min_volume=3.0, limit=4),
     ("IMPORTABLE", {"query": ImportableQuery(q="xy", min_volume=3.0, limit=4)})),
    (lambda c: c.check_market("https://q"), ("CHECK_MARKET", {"query": CheckQuery(url="https://q")})),
    (lambda c: c.get_expiring_positions(5), ("EXPIRING", {"query": ExpiringQuery(hours=5)})),
    (lambda c: c.get_outcomes("tides", since=WHEN, venue="sol_venue"),
     ("OUTCOMES", {"query": OutcomesQuery(skill="tides", since=WHEN, venue=Venue.SOL)})),
    (lambda c: c.get_positions("evm_venue", "sdk:x"),
     ("POSITIONS", {"query": PositionsQuery(venue=Venue.EVM, source="sdk:x", status="active")})),
    (lambda c: c.get_portfolio(), ("PORTFOLIO", {"query": PortfolioQuery(venue="all")})),
    (lambda c: c.get_portfolio("sol_venue"),
     ("PORTFOLIO", {"query": PortfolioQuery(venue=Venue.SOL)})),
    (lambda c: c.get_trades(), ("TRADES", {"query": TradesQuery(venue="all", limit=50)})),
    (lambda c: c.get_trades(
        "evm_venue", limit=3, offset=4, market_id="m", since=WHEN, until=LATER,
        include_failed=True),
     ("TRADES", {"query": TradesQuery(
        venue=Venue.EVM, limit=3, offset=4, market_id="m", since=WHEN, until=LATER,
        include_failed=True)})),
    (lambda c: c.list_monitors(), ("MONITORS", {})),
    (lambda c: c.get_risk_alerts(), ("RISK_ALERTS", {})),
    (lambda c: c.get_agent(), ("AGENT", {})),
    (lambda c: c.get_context(), ("CONTEXT", {})),
    (lambda c: c.get_settings(), ("SETTINGS", {})),
    (lambda c: c.get_user_settings(), ("USER_SETTINGS", {})),
    (lambda c: c.get_open_orders(), ("OPEN_ORDERS", {})),
    (lambda c: c.get_signals(), ("PENDING_SIGNALS", {"query": PendingQuery()})),
    (lambda c: c.get_held_trades(), ("HELD_TRADES", {"query": HeldQuery(status="all")})),
    (lambda c: c.get_executable_price("m", "no", "sell", apply_buffer=True),
     ("EXECUTABLE_PRICE", {**path(market_id="m"), "query": ExecutablePriceQuery(
        side=Side.NO, action=Action.SELL, apply_buffer=True)})),
    (lambda c: c.troubleshoot("broken", message="why"),
     ("TROUBLESHOOT", {"body": TroubleshootRequest(error_text="broken", message="why")})),
    (lambda c: c.cancel_order("o"), ("CANCEL_ORDER", path(order_id="o"))),
    (lambda c: c.cancel_market_orders("m", "no"),
     ("CANCEL_MARKET_ORDERS", {**path(market_id="m"), "query": CancelQuery(side=Side.NO)})),
    (lambda c: c.cancel_market_orders("m"),
     ("CANCEL_MARKET_ORDERS", {**path(market_id="m"), "query": CancelQuery(side=None)})),
    (lambda c: c.cancel_all_orders(), ("CANCEL_ALL_ORDERS", {})),
    (lambda c: c.import_market("https://q"),
     ("IMPORT_MARKET", {"body": ImportRequest(polymarket_url="https://q")})),
    (lambda c: c.dismiss_signal("s"), ("DELETE_SIGNAL", path(signal_id="s"))),
    (lambda c: c.set_monitor(
        "m", "no", stop_loss_pct=0.1, take_profit_pct=0.2, trailing_stop_pct=0.3,
        exit_at=1_800_000_000.0, venue="sol_venue"),
     ("SET_MONITOR", {**path(market_id="m"), "body": MonitorRequest.model_validate({
        "side": "no", "stop_loss_pct": 0.1, "take_profit_pct": 0.2, "trailing_stop_pct": 0.3,
        "exit_at": 1_800_000_000.0, "venue": "sol_venue",
     }, strict=False)})),
    (lambda c: c.set_monitor("m", "yes", trailing_stop_points=0.1),
     ("SET_MONITOR", {**path(market_id="m"), "body": MonitorRequest.model_validate(
        {"side": "yes", "trailing_stop_points": 0.1}, strict=False)})),
    (lambda c: c.delete_monitor("m", "no", venue="evm_venue"),
     ("DELETE_MONITOR", {**path(market_id="m"),
                         "query": MonitorQuery(side=Side.NO, venue=Venue.EVM)})),
    (lambda c: c.delete_monitor("m", "yes"),
     ("DELETE_MONITOR", {**path(market_id="m"), "query": MonitorQuery(side=Side.YES)})),
    (lambda c: c.update_settings(
        max_trades_per_day=1, max_position_usd=2.0, default_stop_loss_pct=0.3,
        default_take_profit_pct=0.4, auto_risk_monitor_enabled=True, trading_paused=False),
     ("PATCH_USER_SETTINGS", {"body": UserSettingsPatch(
        max_trades_per_day=1, max_position_usd=2.0, default_stop_loss_pct=0.3,
        default_take_profit_pct=0.4, auto_risk_monitor_enabled=True, trading_paused=False)})),
]  # fmt: skip


@pytest.mark.parametrize("row", range(len(CALLS)))
def test_a_method_asks_exactly_this(opened: Open, row: int) -> None:
    call, wanted = CALLS[row]
    lists = {
        "markets": (1,), "points": (1,), "positions": (1,), "monitors": (1,), "risk_alerts": (1,),
        "orders": (1,), "reactor_signals": (1,), "held": (1,), "market": "the market",
    }  # fmt: skip
    client, line = opened({wanted[0]: Row(**lists)})
    found = call(client)
    assert line.called == [wanted]
    assert found in ([1], "the market", None, line.answers[wanted[0]])
    assert (found is None) is (wanted[0] == "DELETE_SIGNAL")


ON_PAPER: list[Callable[[ServiceClient], Any]] = [
    lambda c: c.redeem("m", "yes"), lambda c: c.auto_redeem(), lambda c: c.link_wallet(),
    lambda c: c.set_approvals(), lambda c: c.cancel_order("o"),
    lambda c: c.cancel_market_orders("m"), lambda c: c.cancel_all_orders(),
    lambda c: c.set_monitor("m", "yes"), lambda c: c.delete_monitor("m", "yes"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(ON_PAPER)))
def test_a_client_on_paper_touches_nothing_of_the_service(opened: Open, number: int) -> None:
    client, line = opened(live=False, private_key=SIGNS)
    with pytest.raises(ValueError, match="a client on paper touches no order of the service"):
        ON_PAPER[number](client)
    assert client.get_open_orders() == client.waiting_buys() == client.execute_risk_alerts() == []
    assert client.get_positions() == []
    assert client.get_trades().total_count == 0
    assert client.get_portfolio().positions_count == 0
    assert line.called == []


@pytest.mark.parametrize("number", [2, 3])
def test_a_client_without_a_key_has_no_wallet(opened: Open, number: int) -> None:
    client, _ = opened()
    with pytest.raises(ValueError, match="no signing key: pass private_key or set WALLET_"):
        ON_PAPER[number](client)


def test_a_market_that_is_not_there_is_none(opened: Open) -> None:
    gone = NotFoundError(RefusalReason(error="none"), CALLED, status=404)
    client, _ = opened({"MARKET": gone})
    assert client.get_market("m") is None


def test_a_client_opens_its_line_closes_it_and_waits_on_it(opened: Open) -> None:
    client, line = opened(names="public")
    assert line.opened == [("https://h", "sk", False, "public")]
    with client as same:
        assert same is client
        client.pause(7.5)
    assert line.done == [7.5, "close"]


def test_an_agent_registers_without_a_key_and_leaves_no_line_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for answer in ("made", UnreachableError("away", CALLED)):
        line = Line(REGISTER=answer)
        monkeypatch.setattr(of_client, "SyncTransport", line.open)
        monkeypatch.setenv("SERVICE_API_URL", "https://env")
        with suppress(UnreachableError):
            assert ServiceClient.register("ada", description="trades") == "made"
        body = RegisterRequest(name="ada", description="trades")
        assert line.called == [("REGISTER", {"body": body})]
        assert line.opened == [("https://env", None, False, None)]
        assert line.done == ["close"]
    ServiceClient.register  # noqa: B018 - a static method needs no client
    line = Line()
    monkeypatch.setattr(of_client, "SyncTransport", line.open)
    ServiceClient.register("ada", base_url="https://given")
    assert line.opened[0][0] == "https://given"


# -- pages -------------------------------------------------------------------------------------


def test_past_positions_are_read_page_by_page(opened: Open) -> None:
    first, last = (tuple(range(n, n + POSITIONS_PAGE)) for n in (0, POSITIONS_PAGE))
    pages = [Row(positions=one) for one in (first, last, ("end",))]
    client, line = opened({"POSITIONS": pages})
    found = client.get_positions("evm_venue", "sdk:x", status="all")
    assert found == [*first, *last, "end"]
    query = PositionsQuery(venue=Venue.EVM, source="sdk:x", status="all", limit=POSITIONS_PAGE)
    asked = [given["query"] for _, given in line.called]
    assert asked == [
        query.model_copy(update={"offset": one}) for one in (0, POSITIONS_PAGE, 2 * POSITIONS_PAGE)
    ]


def test_a_service_that_knows_no_pages_is_asked_twice_and_no_more(opened: Open) -> None:
    page = Row(positions=tuple(range(POSITIONS_PAGE)))
    client, line = opened({"POSITIONS": page})
    assert client.get_positions(status="closed") == list(page.positions)
    assert len(line.called) == 2


@pytest.mark.parametrize("has_leashes", [True, False])
def test_buys_that_wait_are_those_of_the_operator_and_of_the_book(
    opened: Open, *, has_leashes: bool
) -> None:
    held = Row(held=(
        Row(skill_slug="tides", source="a", amount=1.0, action=Action.BUY),
        Row(skill_slug=None, source="b", amount=2.0, action=Action.BUY),
        Row(skill_slug="tides", source="c", amount=4.0, action=Action.SELL),
    ))  # fmt: skip
    orders = Row(orders=(
        Row(source="d", cost_usdc=8.0, trade_type=Action.BUY),
        Row(source=None, cost_usdc=16.0, trade_type=Action.BUY),
        Row(source="e", cost_usdc=32.0, trade_type=Action.SELL),
    ))  # fmt: skip
    gone = NotFoundError(RefusalReason(error="none"), CALLED, status=404)
    client, line = opened({"HELD_TRADES": held if has_leashes else gone, "OPEN_ORDERS": orders})
    waits = [("tides", 1.0), ("b", 2.0)] if has_leashes else []
    assert client.waiting_buys() == [*waits, ("d", 8.0), ("", 16.0)]
    assert line.called[0] == ("HELD_TRADES", {"query": HeldQuery()})


def test_what_a_paper_purse_holds_is_looked_up_in_parts(opened: Open) -> None:
    client, line = opened({"MARKETS": Row(markets=("seen",))}, live=False)
    held = tuple(f"m{number}" for number in range(MARKET_IDS_MAX + 1))
    seen: list[Any] = []
    paper: Any = Row(held=held, see=seen.append)
    assert client._seen(paper) is paper
    assert seen == [("seen",), ("seen",)]
    assert [given["query"] for _, given in line.called] == [
        MarketsQuery(ids=",".join(part), limit=MARKET_IDS_MAX, status="all", tradeable_only=False)
        for part in (held[:-1], held[-1:])
    ]


def test_paper_positions_are_those_of_the_venue_and_of_the_source(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, _ = opened(live=False)
    rows = [
        Row(venue=Venue.SIM, sources=("sdk:tides",)), Row(venue=Venue.EVM, sources=("sdk:rain",)),
        Row(venue=Venue.EVM, sources=()),
    ]  # fmt: skip
    paper: Any = Row(held=(), positions=lambda: rows)
    monkeypatch.setattr(client, "_paper", paper)
    assert client.get_positions() == rows
    assert client.get_positions("evm_venue") == rows[1:]
    assert client.get_positions(source="rain") == [rows[1]]
    assert client.get_positions("sim", "rain") == []


# -- a trade -----------------------------------------------------------------------------------


DONE = TradeBody(success=True, trade_id="t", shares_bought=9.0)
NOTHING_HELD = Row(positions=())


def names(line: Line) -> list[str]:
    return [name for name, _ in line.called]


def test_an_order_goes_out_with_each_of_its_fields_under_a_key_of_its_own(opened: Open) -> None:
    client, line = opened({"PLACE_TRADE": DONE, "POSITIONS": NOTHING_HELD}, venue="sol_venue")
    result = client.trade(
        "m", "no", 5.006, venue="sim", order_type="GTD", price=0.4, reasoning="why", source="s",
        skill_slug="tides", signal_data={"edge": 0.1}, expiration=1_900_000_000.0,
        stop_loss_pct=0.2, take_profit_pct=0.3,
    )  # fmt: skip
    (_, reading), (_, given) = line.called
    assert reading == {}
    body, key = given["body"], given["idempotency_key"]
    assert body == TradeRequest.model_validate({
        "market_id": "m", "side": "no", "amount": 5.01, "action": "buy", "venue": "sim",
        "order_type": "GTD", "price": 0.4, "reasoning": "why", "source": "s",
        "skill_slug": "tides", "signal_data": {"edge": 0.1, "client_ref": key},
        "expiration": 1_900_000_000.0, "stop_loss_pct": 0.2, "take_profit_pct": 0.3,
    }, strict=False)  # fmt: skip
    assert len(key) == 32
    assert (result.success, result.venue, result.client_ref) == (True, Venue.SIM, key)


def test_a_quote_has_no_key_and_asks_for_no_leave(opened: Open) -> None:
    client, line = opened({"PLACE_TRADE": DONE, "POSITIONS": NOTHING_HELD}, venue="evm_venue")
    client.trade("m", "yes", 5, dry_run=True)
    assert names(line) == ["POSITIONS", "PLACE_TRADE"]
    assert "idempotency_key" not in line.called[1][1]
    assert line.called[1][1]["body"].signal_data is None


def test_a_buy_of_what_another_source_holds_is_held_back(opened: Open) -> None:
    held = Row(positions=(
        Row(market_id="m", sources=("sdk:rain",), shares_yes=3.0, shares_no=0.0),
    ))  # fmt: skip
    client, line = opened({"PLACE_TRADE": DONE, "POSITIONS": held})
    conflict = client.trade("m", "yes", 5, source="sdk:tides", allow_rebuy=True)
    assert (conflict.success, conflict.skip_reason) == (False, "conflicts skipped")
    assert (conflict.error, conflict.fix) == ("conflicts skipped: m", of_client.CONFLICT_FIX)
    again = client.trade("m", "yes", 5)
    assert (again.skip_reason, again.fix) == (REBUY, of_client.REBUY_FIX)
    assert names(line) == ["POSITIONS"]
    client.trade("m", "yes", 5, allow_rebuy=True)
    assert names(line) == ["POSITIONS", "PLACE_TRADE"]


def test_a_rebuy_of_nobodys_source_and_a_sale_read_no_positions(opened: Open) -> None:
    client, line = opened({"PLACE_TRADE": DONE})
    client.trade("m", "yes", 5, allow_rebuy=True)
    client.trade("m", "yes", shares=3, action="sell", source="sdk:x")
    assert names(line) == ["PLACE_TRADE", "PLACE_TRADE"]
    assert line.called[1][1]["body"].shares == 3.0


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (OutcomeUnknownError("lost", CALLED), TradeUnknownError),
        (UnreachableError("away", CALLED), UnreachableError),
    ],
)
def test_a_lost_answer_makes_the_next_buy_read_what_is_held(
    opened: Open, error: Exception, raised: type[Exception]
) -> None:
    client, line = opened({"PLACE_TRADE": [error, DONE], "POSITIONS": NOTHING_HELD})
    with pytest.raises(raised) as lost:
        client.trade("m", "yes", 5)
    if isinstance(lost.value, TradeUnknownError):
        assert lost.value.client_ref == line.called[1][1]["idempotency_key"]
    client.trade("m", "yes", 5)
    reads = names(line).count("POSITIONS")
    assert reads == (2 if raised is TradeUnknownError else 1)


def test_a_real_venue_is_asked_for_leave_unless_it_is_waived(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def preflight(spending: Any, *reads: Any) -> Any:
        asked.append((spending.venue, spending.amount, spending.exposure_cap, *reads))
        return Row(ok=False, reasons=("not claimed", "no money"))

    monkeypatch.setattr(of_client, "preflight_of", preflight)
    monkeypatch.setenv("EXPOSURE_CAP_USD", "40")
    answers = {
        "PLACE_TRADE": DONE, "AGENT": "agent", "BRIEFING": "briefing", "POSITIONS": NOTHING_HELD,
    }  # fmt: skip
    client, line = opened(answers)
    held_back = client.trade("m", "yes", 5, venue="evm_venue")
    assert asked == [(Venue.EVM, 5.0, 40.0, "agent", "briefing", ())]
    assert [given for _, given in line.called] == [{"deadline_s": 5.0}] * 3
    assert (held_back.skip_reason, held_back.error) == ("preflight_blocked", "not claimed")
    line.called.clear()
    client.trade("m", "yes", 5, venue="evm_venue", skip_preflight=True)
    client.trade("n", "yes", 5, venue="sim")
    assert names(line) == ["POSITIONS", "PLACE_TRADE", "PLACE_TRADE"]
    asked.clear()
    client.ensure_can_trade(3)
    assert asked[0][:2] == (Venue.SIM, 3)


def test_a_wallet_signs_what_is_sent(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    wallet: Any = Row(
        sign_order=lambda one: one.model_copy(update={"reasoning": "signed"}),
        redeem=lambda *given: ("by wallet", *given), link=lambda: "linked",
        approve=lambda: "approved",
    )  # fmt: skip
    monkeypatch.setattr(of_client, "wallet_of", lambda *_: wallet)
    answers = {"PLACE_TRADE": DONE, "POSITIONS": NOTHING_HELD, "RISK_ALERTS": Row(risk_alerts=())}
    client, line = opened(answers, private_key=SIGNS)
    assert names(line) == ["RISK_ALERTS"]
    client.trade("m", "yes", 5)
    assert line.called[-1][1]["body"].reasoning == "signed"
    assert client.redeem("m", "yes") == ("by wallet", "m", "yes")
    assert (client.link_wallet(), client.set_approvals()) == ("linked", "approved")


def test_everything_that_can_be_redeemed_is_while_the_agent_wants_it(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = (
        Row(market_id="a", redeemable=True, redeemable_side="yes"),
        Row(market_id="b", redeemable=False, redeemable_side="yes"),
        Row(market_id="c", redeemable=True, redeemable_side=None),
        Row(market_id="d", redeemable=True, redeemable_side="no"),
    )
    away = UnreachableError("away", CALLED)
    answers = {
        "AGENT": [Row(auto_redeem_enabled=False), Row(auto_redeem_enabled=True), away],
        "POSITIONS": Row(positions=rows),
    }  # fmt: skip
    client, line = opened(answers)

    def redeemed(transport: Any, market_id: str, side: str) -> Any:
        assert transport is line
        if market_id == "d":
            raise away
        return (market_id, side)

    monkeypatch.setattr(of_client, "redeemed_by_service", redeemed)
    monkeypatch.setattr(of_client, "not_redeemed", lambda *given: ("not", *given))
    assert client.auto_redeem() == []
    assert client.auto_redeem() == [("a", "yes"), ("not", "d", "no", away)]
    query = PositionsQuery(venue=Venue.EVM, status="resolved", limit=POSITIONS_PAGE)
    assert line.called[-1] == ("POSITIONS", {"query": query})
    assert client.auto_redeem() == [("not", "", "", away)]


# -- exits -------------------------------------------------------------------------------------


def alert(**fields: Any) -> RiskAlertBody:
    given: dict[str, Any] = {
        "market_id": "m", "side": Side.NO, "shares": 0.29, "exit_reason": "stop_loss",
        "venue": Venue.SOL, "id": "a-1", "breached_at": moment(Timestamp(12.3456)),
        "message": "it fell", "expires_at": moment(Timestamp(1_000.5)),
    }  # fmt: skip
    return RiskAlertBody.model_construct(
        **(RiskAlertBody.model_construct().__dict__ | given | fields)
    )


SOLD = TradeBody(success=True, shares_sold=0.29)


def test_an_exit_sells_under_the_key_of_its_alert_and_ends_it() -> None:
    line: Any = Line(PLACE_TRADE=SOLD)
    (result,) = sell_for(line, [alert()], Timestamp(1_000.0))
    key = "exit:m:no:12346:a-1"
    assert line.called == [
        ("PLACE_TRADE", {
            "body": TradeRequest(
                market_id="m", side=Side.NO, shares=0.29, action=Action.SELL, venue=Venue.SOL,
                order_type=OrderType.FAK, reasoning="it fell", source="risk:stop_loss",
                signal_data={"client_ref": key},
            ),
            "idempotency_key": key,
        }),
        ("END_RISK_ALERT", {
            "path": {"market_id": "m", "side": "no"},
            "query": RiskAlertQuery(venue=Venue.SOL, alert_id="a-1"),
        }),
    ]  # fmt: skip
    assert (result.success, result.shares_sold, result.client_ref) == (True, 0.29, key)


def test_an_alert_of_another_service_lacks_much() -> None:
    line: Any = Line(PLACE_TRADE=SOLD)
    bare = alert(venue=None, id="", breached_at=None, message="", expires_at=None)
    sell_for(line, [bare], Timestamp(1_000.0))
    body = line.called[0][1]["body"]
    assert (body.venue, body.reasoning) == (Venue.EVM, "stop_loss")
    assert line.called[0][1]["idempotency_key"] == "exit:m:no:0:"
    assert line.called[1][1]["query"] == RiskAlertQuery()
    sim: Any = Line(PLACE_TRADE=SOLD)
    sell_for(sim, [alert(venue=Venue.SIM)], Timestamp(1_000.0))
    assert sim.called[0][1]["body"].order_type is None


@pytest.mark.parametrize(
    "fields",
    [
        {"executed_by": "service"},
        {"expires_at": moment(Timestamp(1_000.0))},
        {"shares": 0.000009},
    ],
)
def test_an_alert_that_is_over_or_of_nothing_sells_nothing(fields: dict[str, Any]) -> None:
    line: Any = Line(PLACE_TRADE=SOLD)
    assert sell_for(line, [alert(**fields)], Timestamp(1_000.0)) == []
    assert line.called == []


@pytest.mark.parametrize(("shares", "sold"), [(0.000019, 0.00001), (1.234567, 1.23456)])
def test_shares_are_cut_to_five_decimals(shares: float, sold: float) -> None:
    line: Any = Line(PLACE_TRADE=SOLD)
    sell_for(line, [alert(shares=shares)], Timestamp(1_000.0))
    assert line.called[0][1]["body"].shares == sold


@pytest.mark.parametrize(
    "body", [TradeBody(success=False, shares_sold=0.29), TradeBody(success=True, shares_sold=0.0)]
)
def test_an_alert_is_ended_by_a_sale_alone(body: TradeBody) -> None:
    line: Any = Line(PLACE_TRADE=body)
    assert len(sell_for(line, [alert()], Timestamp(1_000.0))) == 1
    assert names(line) == ["PLACE_TRADE"]


def test_an_exit_that_is_not_confirmed_keeps_no_other_waiting() -> None:
    gone = NotFoundError(RefusalReason(error="none"), CALLED, status=404)
    line: Any = Line(PLACE_TRADE=[OutcomeUnknownError("lost", CALLED), SOLD], END_RISK_ALERT=gone)
    (result,) = sell_for(line, [alert(), alert(market_id="n")], Timestamp(1_000.0))
    assert result.client_ref == "exit:n:no:12346:a-1"


def test_a_live_client_with_a_key_sells_when_it_opens_and_with_each_briefing(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_client, "wallet_of", lambda *_: None)
    answers = {
        "PLACE_TRADE": SOLD, "RISK_ALERTS": Row(risk_alerts=(alert(),)),
        "BRIEFING": [
            Row(triggered_risk_alerts=(alert(market_id="n"), "other")),
            Row(triggered_risk_alerts=None),
        ],
    }  # fmt: skip
    client, line = opened(answers, private_key=SIGNS)
    assert names(line) == ["RISK_ALERTS", "PLACE_TRADE", "END_RISK_ALERT"]
    line.called.clear()
    client.get_briefing()
    assert names(line) == ["BRIEFING", "PLACE_TRADE", "END_RISK_ALERT"]
    assert line.called[1][1]["body"].market_id == "n"
    line.called.clear()
    client.get_briefing()
    assert names(line) == ["BRIEFING"]
    # Without a key it sells nothing.
    other, line = opened({"BRIEFING": Row(triggered_risk_alerts=(alert(),))})
    other.get_briefing()
    assert other.execute_risk_alerts() == []
    assert names(line) == ["BRIEFING"]


def test_a_service_that_is_away_keeps_no_client_from_opening(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_client, "wallet_of", lambda *_: None)
    client, line = opened({"RISK_ALERTS": UnreachableError("away", CALLED)}, private_key=SIGNS)
    assert names(line) == ["RISK_ALERTS"]
    with pytest.raises(UnreachableError):
        client.execute_risk_alerts()


def test_a_trade_on_paper_reads_the_market_and_sends_nothing(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, line = opened({"MARKET": Row(market="the market")}, live=False)
    traded: list[Any] = []
    paper: Any = Row(held=(), trade=lambda market, request: traded.append((market, request)))
    monkeypatch.setattr(client, "_paper", paper)
    client.trade("m", "yes", 5)
    assert line.called == [("MARKET", path(market_id="m"))]
    ((market, request),) = traded
    assert (market, request.market_id, request.amount) == ("the market", "m", 5.0)


def test_what_was_bought_is_held_and_what_was_refused_is_not(opened: Open) -> None:
    refused = TradeBody(success=False, error="no")
    away = UnreachableError("away", CALLED)
    client, line = opened({
        "PLACE_TRADE": [away, refused, DONE], "POSITIONS": NOTHING_HELD,
    })  # fmt: skip
    with pytest.raises(UnreachableError):
        client.trade("m", "yes", 5)
    assert not client.trade("m", "yes", 5).success
    assert client.trade("m", "yes", 5).success
    assert client.trade("m", "yes", 5).skip_reason == REBUY
    assert names(line).count("PLACE_TRADE") == 3


def test_a_quote_whose_answer_is_lost_is_no_trade(opened: Open) -> None:
    lost = OutcomeUnknownError("lost", CALLED)
    client, _ = opened({"PLACE_TRADE": lost, "POSITIONS": NOTHING_HELD})
    with pytest.raises(OutcomeUnknownError):
        client.trade("m", "yes", 5, dry_run=True)


def test_the_environment_waives_the_checks_before_a_trade(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SERVICE_SKIP_PREFLIGHT", "yes")
    line = Line(PLACE_TRADE=DONE, POSITIONS=NOTHING_HELD)
    monkeypatch.setattr(of_client, "SyncTransport", line.open)
    ServiceClient("sk", "https://h", venue="evm_venue").trade("m", "yes", 5)
    assert names(line) == ["POSITIONS", "PLACE_TRADE"]
