"""An order is sent once, and its ticket settled by what came back."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kit.desk.offline import Asked, Offline
from kit.samples.desk import NOW, sample_state
from service_tui.client.errors import (
    Called,
    HeldBackError,
    OutcomeUnknownError,
    RefusalReason,
    RefusedError,
    UnreachableError,
)
from service_tui.desk.blotter import outcome_of
from service_tui.desk.changes import Changed
from service_tui.desk.commands.risk import ExitAlert
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.facts import Noticed
from service_tui.desk.fixes import FIX_OF
from service_tui.desk.reasons import Fix, Reason
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.trading import sending
from service_tui.desk.trading.sending import end, request_of, send, settle
from service_tui.signing.errors import LockedError, PolicyRefusedError, Rule
from service_tui.storage.blotter import StoredState
from service_tui.storage.errors import StorageError
from service_tui.terms import Action, OrderType, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.endpoints.public import PLACE_TRADE
from service_tui.wire.trades import TradeBody, TradeRequest

CALLED = Called("POST", "/x")
ORDER = PlaceTrade("m-1", Side.NO, Action.BUY, Venue.SIM, Micros(20 * ONE))
TICKET = TicketView(
    "t-1", "trade", "m-1", "buy NO for 20.00", TicketState.QUEUED, Timestamp(NOW - 5),
    client_ref="ref-1", amount=Micros(20 * ONE),
)  # fmt: skip
SENT = replace(TICKET, state=TicketState.SENT, sent_at=NOW)
MOVED = [
    Topic.POSITIONS, Topic.ACCOUNT, Topic.MARKETS, Topic.TRADES, Topic.DETAIL, Topic.MONITORS,
    Topic.ORDERS,
]  # fmt: skip


def body(**fields: Any) -> TradeBody:
    return TradeBody.model_validate({"success": True, "market_id": "m-1", **fields})


FILLED = body(side=Side.NO, shares_bought=40.0, cost=20.0)


def test_a_request_says_all_of_an_order_on_a_real_venue() -> None:
    order = replace(
        ORDER, venue=Venue.EVM, price=0.4, rests=True, expires_at=Timestamp(1_800_009_000),
        reasoning="because", stop_loss_pct=0.2, take_profit_pct=0.5, shares=Micros(0),
    )  # fmt: skip
    whole = request_of(order, dry_run=False, client_ref="ref-1")
    assert whole.model_dump(exclude_none=True) == TradeRequest(
        market_id="m-1", side=Side.NO, action=Action.BUY, amount=20.0, shares=0.0,
        venue=Venue.EVM, order_type=OrderType.GTD, expiration=1_800_009_000, price=0.4,
        dry_run=False, reasoning="because", source="desk", signal_data={"client_ref": "ref-1"},
        stop_loss_pct=0.2, take_profit_pct=0.5,
    ).model_dump(exclude_none=True)  # fmt: skip
    quote = request_of(order, dry_run=True)
    assert (quote.dry_run, quote.source, quote.signal_data) == (True, None, None)
    assert (quote.stop_loss_pct, quote.take_profit_pct) == (None, None)
    assert request_of(order, dry_run=False, source="mirror").source == "mirror"
    market = replace(order, rests=False)
    assert request_of(market, dry_run=False).expiration is None
    assert request_of(market, dry_run=False).order_type is OrderType.FAK


def test_a_request_of_play_money_names_no_price_and_no_type() -> None:
    order = replace(ORDER, price=0.4, action=Action.SELL, amount=Micros(0), shares=Micros(3 * ONE))
    request = request_of(order, dry_run=False)
    assert (request.order_type, request.price, request.expiration) == (None, None, None)
    assert (request.amount, request.shares, request.reasoning) == (0.0, 3.0, None)


def test_a_request_of_play_money_names_the_price_that_a_person_typed() -> None:
    order = replace(ORDER, venue=Venue.SIM, price=0.47, keeps_price=True)
    for dry_run in (True, False):
        request = request_of(order, dry_run=dry_run)
        assert (request.price, request.order_type) == (0.47, None)


def test_what_is_no_order_makes_no_request() -> None:
    for changes in ({"amount": Micros(0)}, {"market_id": "no id"}, {"amount": Micros(-1)}):
        with pytest.raises(ValueError, match=r".+"):
            request_of(replace(ORDER, **changes), dry_run=False)


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Offline]:
    def made(answer: object, unsigned: Exception | None = None) -> Offline:
        async def as_signed(_: object, __: object, request: TradeRequest) -> TradeRequest:
            if unsigned is not None:
                raise unsigned
            return request

        monkeypatch.setattr(sending, "as_signed", as_signed)
        return Offline(sample_state(6), {PLACE_TRADE: answer})

    return made


async def sent(on: Offline) -> TradeBody | None:
    request = request_of(ORDER, dry_run=False, client_ref="ref-1")
    return await send(on.ports, TICKET, ORDER, request)


def settled(on: Offline) -> TicketView:
    """The end of the ticket, which stands on disk as it is shown."""
    (ended,) = [fact.row for fact in on.facts if isinstance(fact, Changed)][-1:]
    assert isinstance(ended, TicketView)
    stored = (ended.ticket_id, StoredState(ended.state.value), outcome_of(ended), NOW)
    assert on.written == [stored]
    return ended


async def test_an_order_is_sent_under_its_own_reference_and_told_as_sent_before(
    desk: Callable[..., Offline],
) -> None:
    on = desk(FILLED)
    assert await sent(on) is FILLED
    request = request_of(ORDER, dry_run=False, client_ref="ref-1")
    assert on.asked == [Asked(PLACE_TRADE, body=request, idempotency_key="ref-1")]
    assert on.facts[0] == Changed(SENT)
    ended = settled(on)
    assert (ended.state, ended.settled_at, ended.sent_at) == (TicketState.DONE, NOW, NOW)
    assert on.words == [("good", f"buy NO for 20.00: {ended.outcome}")]
    assert on.woken == MOVED


@pytest.mark.parametrize(
    ("answer", "end_of", "tone"),
    [
        (RefusedError(RefusalReason("no cash", "sell", "DAILY_LIMIT"), CALLED, status=400),
         (TicketState.REFUSED, "no cash", FIX_OF["DAILY_LIMIT"]), "warn"),
        (RefusedError(RefusalReason("no cash", "sell", ""), CALLED, status=400),
         (TicketState.REFUSED, "no cash", "sell"), "warn"),
        (HeldBackError("halted", CALLED),
         (TicketState.REFUSED, "halted; nothing sent", Fix.END_HALT), "warn"),
        (OutcomeUnknownError("cut", CALLED),
         (TicketState.UNKNOWN, "sent, no answer: cut (POST /x)", "being looked up; do not resend"),
         "bad"),
        (UnreachableError("away", CALLED),
         (TicketState.FAILED, "nothing sent: away (POST /x)", Fix.WHEN_SERVICE_ANSWERS), "bad"),
        (body(success=False, error="no cash", fix="sell"),
         (TicketState.REFUSED, "no cash", "sell"), "warn"),
        (body(side=Side.YES), (TicketState.UNKNOWN,
         "sent, answer inconsistent: side YES, not NO", "being looked up; do not resend"), "bad"),
    ],
)  # fmt: skip
async def test_what_came_back_ends_the_order(
    desk: Callable[..., Offline], answer: object, end_of: tuple[Any, ...], tone: str
) -> None:
    on = desk(answer)
    result = await sent(on)
    assert result is (answer if isinstance(answer, TradeBody) else None)
    ended = settled(on)
    assert (ended.state, ended.outcome, ended.fix) == end_of
    assert ended.settled_at == (None if ended.state is TicketState.UNKNOWN else NOW)
    assert ended.sent_at == NOW
    assert on.words == [(tone, f"buy NO for 20.00: {ended.outcome}")]
    if isinstance(answer, TradeBody):
        assert on.woken == ([Topic.ACCOUNT] if ended.state is TicketState.REFUSED else MOVED)
    else:
        assert on.woken == []


@pytest.mark.parametrize(
    ("rule", "fix"),
    [
        (Rule.TOTAL, Fix.LEAST_SHARES),
        (Rule.TICK, Fix.NEW_TICKET),
        (Rule.PRICE, Fix.WAIT_FOR_BOOK),
        (Rule.TIME, Fix.SEE_WALLET),
    ],
)
async def test_what_the_rules_do_not_sign_is_not_sent_and_says_what_to_do(
    desk: Callable[..., Offline], rule: Rule, fix: Fix
) -> None:
    on = desk(FILLED, PolicyRefusedError(rule, "a rule"))
    assert await sent(on) is None
    ended = settled(on)
    assert (ended.state, ended.fix, ended.sent_at) == (TicketState.REFUSED, fix, None)
    assert ended.outcome == "nothing sent: not signed: a rule"
    assert (on.asked, on.woken) == ([], [])


async def test_a_locked_key_or_a_silent_service_signs_nothing(desk: Callable[..., Offline]) -> None:
    on = desk(FILLED, LockedError("the key is locked"))
    await sent(on)
    assert (settled(on).state, settled(on).fix) == (TicketState.REFUSED, Fix.SEE_WALLET)
    on = desk(FILLED, UnreachableError("away", CALLED))
    assert await sent(on) is None
    ended = settled(on)
    assert (ended.state, ended.fix) == (TicketState.FAILED, Fix.WHEN_SERVICE_ANSWERS)
    assert ended.outcome == "nothing sent: away (POST /x)"
    assert on.asked == []


@pytest.mark.parametrize(
    ("ticket", "kind", "about"),
    [
        (TICKET, NoticeKind.FILL, ""),
        (replace(TICKET, kind=ExitAlert.kind, ticket_id="al-1.5.2"), NoticeKind.EXIT, "al-1.5"),
    ],
)
def test_an_end_is_told_once_and_an_exit_beside_its_alert(
    ticket: TicketView, kind: NoticeKind, about: str
) -> None:
    on = Offline(sample_state(6))
    ended = end(on.ports, ticket, TicketState.FAILED, Reason("no answer", Fix.FREE_DISK))
    wanted = replace(
        ticket, state=TicketState.FAILED, settled_at=NOW, outcome="no answer", fix=Fix.FREE_DISK
    )
    assert ended == wanted
    told = Noticed("bad", "buy NO for 20.00: no answer", kind, about, Fix.FREE_DISK)
    assert on.facts == [Changed(wanted), told]


async def test_a_disk_that_fails_loses_no_trade() -> None:
    on = Offline(sample_state(6))

    async def fail(*_: object, **__: object) -> None:
        raise StorageError("disk full")

    on.ports.blotter.settle = fail  # type: ignore[method-assign]
    await settle(on.ports, TICKET, TicketState.DONE, Reason("bought"))
    assert on.words == [
        ("good", "buy NO for 20.00: bought"), ("bad", "blotter write failed: disk full"),
    ]  # fmt: skip
