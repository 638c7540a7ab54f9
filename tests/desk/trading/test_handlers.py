"""An order on its way to the service: what is written down first, and what stops it."""

from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest

from kit.desk.offline import Asked, Offline
from kit.samples.desk import NOW, sample_state
from kit.samples.filled import filled
from service_tui.client.errors import Called, RefusalReason, RefusedError, UnreachableError
from service_tui.desk.blotter import intent_of
from service_tui.desk.changes import Changed, Loaded
from service_tui.desk.commands.trading import PlaceTrade, RequestQuote
from service_tui.desk.fixes import FIX_OF
from service_tui.desk.reasons import HALTED, Fix, Reason
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.trades import TradeView
from service_tui.desk.trading import handlers
from service_tui.desk.trading.handlers import (
    LOOK_BACK,
    NO_ORDER,
    budget_of,
    place_trade,
    recent_trades,
    request_quote,
    unwritten,
)
from service_tui.desk.trading.preflight import HeldSide
from service_tui.desk.trading.sending import request_of
from service_tui.desk.trading.translate import quote_view, trade_view
from service_tui.storage.blotter import Budget
from service_tui.storage.errors import BudgetExceededError, StorageError
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros
from service_tui.wire.endpoints.public import PLACE_TRADE, TRADES
from service_tui.wire.trades import TradeBody, TradeRow, TradesQuery

ORDER = PlaceTrade("m-1", Side.NO, Action.BUY, Venue.SIM, Micros(20 * ONE))
TICKET = TicketView("t-1", "trade", "m-1", "buy NO", TicketState.QUEUED, NOW)
OBJECTION = Reason("too much", Fix.LOWER_AMOUNT)
BUDGET = Budget(5.0, 7)


@dataclass
class Way:
    """The way of an order: each step of it, and what it is told there."""

    on: Offline
    steps: list[tuple[Any, ...]] = field(default_factory=list)
    objection: Reason | None = None
    withdrawn: Reason | None = None
    closed_after: str = ""
    problem: Exception | None = None

    async def place(self, order: PlaceTrade = ORDER) -> None:
        await place_trade(TICKET, order, self.on.ports)

    @property
    def names(self) -> list[str]:
        return [name for name, *_ in self.steps]


@pytest.fixture
def way(monkeypatch: pytest.MonkeyPatch) -> Way:
    on = Offline(sample_state(6))
    made = Way(on)

    def preflight(*given: Any, **more: Any) -> Reason | None:
        made.steps.append(("preflight", *given, more))
        return made.objection

    async def open_ticket(intent: object, *, budget: object) -> None:
        made.steps.append(("open", intent, budget))
        if made.problem is not None:
            raise made.problem

    async def withdraw(*given: Any) -> Reason | None:
        made.steps.append(("withdraw", *given))
        return made.withdrawn

    async def note_send(*given: Any) -> None:
        made.steps.append(("send", *given))

    async def note_settle(*given: Any) -> None:
        made.steps.append(("settle", *given))

    on.ports.blotter.open_ticket = open_ticket  # type: ignore[method-assign]
    on.ports.gate.last_word = lambda _: "halted" if made.closed_after in made.names else ""  # type: ignore[method-assign]
    for name, function in (
        ("preflight", preflight), ("withdraw", withdraw), ("send", note_send),
        ("settle", note_settle), ("end", lambda *given: made.steps.append(("end", *given))),
        ("budget_of", lambda _: BUDGET),
    ):  # fmt: skip
        monkeypatch.setattr(handlers, name, function)
    return made


async def test_an_order_is_judged_written_down_with_its_budget_and_then_sent(way: Way) -> None:
    await way.place()
    ref = way.on.ports.new_id()
    ticket = replace(TICKET, client_ref=ref)
    request = request_of(ORDER, dry_run=False, client_ref=ref)
    intent = intent_of(ticket, request.model_dump_json(exclude_none=True))
    assert way.steps == [
        ("preflight", way.on.state, ORDER, NOW, {"ticket_id": "t-1"}),
        ("open", intent, BUDGET),
        ("send", way.on.ports, ticket, ORDER, request),
    ]


async def test_an_order_with_an_objection_is_written_down_without_a_budget_and_not_sent(
    way: Way,
) -> None:
    way.objection = OBJECTION
    await way.place(replace(ORDER, replaces="o-1"))
    assert way.names == ["preflight", "open", "settle"]
    assert way.steps[1][2] is None
    assert way.steps[2][3:] == (TicketState.REFUSED, OBJECTION)


@pytest.mark.parametrize(("objection", "said"), [(None, NO_ORDER), (OBJECTION, OBJECTION)])
async def test_what_is_no_order_ends_without_a_row(
    way: Way, objection: Reason | None, said: Reason
) -> None:
    way.objection = objection
    await way.place(replace(ORDER, amount=Micros(0)))
    assert way.names == ["preflight", "end"]
    assert way.steps[1][3:] == (TicketState.REFUSED, said)


async def test_what_cannot_be_written_down_is_not_sent(way: Way) -> None:
    way.problem = StorageError("disk full")
    await way.place(replace(ORDER, replaces="o-1"))
    assert way.names == ["preflight", "open", "end"]
    assert way.steps[2][3:] == (
        TicketState.FAILED,
        Reason("disk full; nothing traded", Fix.FREE_DISK),
    )


@pytest.mark.parametrize(
    ("closed_after", "names"),
    [
        ("open", ["preflight", "open", "settle"]),
        ("withdraw", ["preflight", "open", "withdraw", "settle"]),
    ],
)
async def test_a_halt_that_comes_meanwhile_stops_it(
    way: Way, closed_after: str, names: list[str]
) -> None:
    way.closed_after = closed_after
    await way.place(replace(ORDER, replaces="o-1", filled_before=Micros(3)))
    assert way.names == names
    assert way.steps[-1][3:] == (TicketState.REFUSED, HALTED)


async def test_an_order_takes_the_one_that_it_replaces_back_first(way: Way) -> None:
    await way.place(replace(ORDER, replaces="o-1", filled_before=Micros(3)))
    assert way.names == ["preflight", "open", "withdraw", "send"]
    assert way.steps[2] == ("withdraw", "o-1", Micros(3), way.on.ports)
    way.steps.clear()
    way.withdrawn = OBJECTION
    await way.place(replace(ORDER, replaces="o-1"))
    assert way.names == ["preflight", "open", "withdraw", "settle"]
    assert way.steps[-1][3:] == (TicketState.REFUSED, OBJECTION)


def test_a_budget_is_that_of_the_desk_s_own_day(monkeypatch: pytest.MonkeyPatch) -> None:
    on, asked = Offline(sample_state(6)), list[Any]()
    found: list[Any] = [(5.0, Micros(9)), None]
    monkeypatch.setattr(handlers, "desk_budget", lambda *given: asked.append(given) or found.pop(0))
    assert budget_of(on.ports) == Budget(5.0, 9)
    assert budget_of(on.ports) is None
    assert asked == [(on.state, NOW)] * 2


def test_a_budget_that_is_used_up_names_both_figures() -> None:
    error = BudgetExceededError(maximum=50_000_000, reserved=1_245_500_000, requested=1)
    assert unwritten(error) == (
        TicketState.REFUSED,
        Reason("desk limit (daily spend) is 50.00, 1,245.50 used", Fix.RAISE_LIMIT),
    )


# -- quotes ---------------------------------------------------------------------------------------


CALLED = Called("POST", "/x")
ANSWER = TradeBody(
    success=True, dry_run=True, market_id="m-1", side=Side.NO, shares_bought=40.0, cost=20.0,
    new_price=0.6, fee=0.0,
)  # fmt: skip


async def quoted(answer: object, order: PlaceTrade = ORDER) -> tuple[QuoteView, Offline]:
    on = Offline(sample_state(6), {PLACE_TRADE: answer})
    await request_quote(RequestQuote(7, order), on.ports)
    (fact,) = on.facts
    assert isinstance(fact, Changed)
    assert isinstance(fact.row, QuoteView)
    return fact.row, on


async def test_a_quote_is_asked_as_a_dry_run_and_answers_its_own_question() -> None:
    quote, on = await quoted(ANSWER)
    assert on.asked == [Asked(PLACE_TRADE, body=request_of(ORDER, dry_run=True))]
    assert quote == quote_view(7, ANSWER, Action.BUY, Micros(0))
    assert (quote.request_id, quote.ok) == (7, True)


async def test_a_quote_counts_with_the_shares_that_are_held_on_that_side(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []
    held = HeldSide(Micros(11), Micros(5))
    monkeypatch.setattr(handlers, "holding", lambda *given: asked.append(given[1:]) or held)
    monkeypatch.setattr(
        handlers, "quote_view",
        lambda number, _, __, shares: QuoteView(number, ok=True, shares=shares),
    )  # fmt: skip
    quote, _ = await quoted(ANSWER)
    assert asked == [("m-1", Side.NO, Venue.SIM)]
    assert quote.shares == 11


@pytest.mark.parametrize(
    ("answer", "problem", "fix"),
    [
        (RefusedError(RefusalReason("no", "do it", "DAILY_LIMIT"), CALLED, status=400), "no",
         FIX_OF["DAILY_LIMIT"]),
        (RefusedError(RefusalReason("no", "do it", "ODD"), CALLED, status=400), "no", "do it"),
        (UnreachableError("away", CALLED), "away (POST /x)", ""),
        (ANSWER.model_copy(update={"market_id": "m-7"}), "another market, m-7",
         Fix.CLEAR_UP_FIRST),
    ],
)  # fmt: skip
async def test_a_quote_that_is_none_says_why(answer: object, problem: str, fix: str) -> None:
    quote, _ = await quoted(answer)
    assert quote == QuoteView(7, ok=False, problem=problem, fix=fix)


async def test_what_is_no_order_is_not_asked_for_a_quote() -> None:
    quote, on = await quoted(ANSWER, replace(ORDER, amount=Micros(0)))
    assert quote == QuoteView(7, ok=False, problem=NO_ORDER.text, fix=NO_ORDER.fix)
    assert on.asked == []


async def test_the_newest_trades_are_read_with_what_could_not_be() -> None:
    row = filled(TradeRow, 3, side="yes", action="buy")
    on = Offline(sample_state(6), {TRADES: SimpleNamespace(trades=(row,))})
    on.dropped = 4
    assert await recent_trades(on.ports) == (Loaded(TradeView, (trade_view(row),), 4), 0.01)
    assert on.asked == [Asked(TRADES, query=TradesQuery(limit=LOOK_BACK))]
