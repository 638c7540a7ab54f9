"""Leashes and waiting trades: what is answered, what is written, and what is not."""

from typing import Any, Final

import pytest

from kit.engine.bare import AT, bare_world, listed
from kit.service.bare import ACT, bare_service, request_to
from service_tui.engine.agents.leash import Leash
from service_tui.engine.errors import AgentNotFound, HeldNotFound
from service_tui.engine.events import Fill, HeldEnded, LeashSet, Note, OrderPlaced, TradeHeld
from service_tui.engine.limits import day_of
from service_tui.server.http.refusals import Denied
from service_tui.server.routes import fleet
from service_tui.storage.errors import StorageError
from service_tui.terms import Action, HeldStatus, LeashMode, OrderType, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.fleet import (
    ApproveRequest,
    HeldQuery,
    LeashBody,
    LeashQuery,
    LeashRequest,
    RefuseRequest,
)
from service_tui.wire.trades import TradeBody

ASK, OBSERVE = LeashMode.ASK, LeashMode.OBSERVE
NOTE: Final = Note("it rains", "sdk:rain", "rain", {"edge": 0.25})


def dollars(amount: float) -> Micros:
    return Micros(round(amount * ONE))


def service() -> Any:
    world = bare_world("ada", "ben")
    listed(world)
    ada = world.agents["ada"]
    ada.leashes = {
        "snow": Leash(ASK, dollars(4), None, 60), "": Leash(OBSERVE, dollars(3), dollars(90), 90)
    }  # fmt: skip
    ada.buys_day = ada.skills_day = day_of(AT)
    ada.day_spent, ada.skills_spent = dollars(7), {"snow": dollars(2)}
    return bare_service(world)


def leash(agent_id: str, slug: str, mode: LeashMode, figures: tuple[Any, ...]) -> LeashBody:
    threshold, budget, wait_s, spent = figures
    return LeashBody(
        agent_id=agent_id, skill_slug=slug, mode=mode, threshold=threshold, daily_budget=budget,
        wait_s=wait_s, spent=spent,
    )  # fmt: skip


OWN: Final = leash("ada", "", OBSERVE, (3.0, 90.0, 90, 7.0))
SNOW: Final = leash("ada", "snow", ASK, (4.0, None, 60, 2.0))


async def test_leashes_are_listed_the_agents_own_first() -> None:
    assert (await fleet.list_leashes(request_to(service()))).leashes == (OWN, SNOW)


async def test_a_new_leash_is_written_with_who_set_it() -> None:
    one = service()
    body = LeashRequest(mode=ASK, skill_slug="fog", threshold=5.5, daily_budget=20, wait_s=120)
    answer = await fleet.set_leash(request_to(one, path={"agent_id": "ben"}, body=body))
    assert answer == leash("ben", "fog", ASK, (5.5, 20.0, 120, 0.0))
    event = LeashSet("ben", AT, "fog", ASK, dollars(5.5), dollars(20), 120)
    assert one.world_store.written == [event, ACT]
    with pytest.raises(AgentNotFound):
        await fleet.set_leash(request_to(one, path={"agent_id": "nobody"}, body=body))


@pytest.mark.parametrize(
    ("sent", "figures"),
    [
        ({}, (3.0, 90.0, 90, 7.0)),
        ({"threshold": 1.5}, (1.5, 90.0, 90, 7.0)),
        ({"daily_budget": 5}, (3.0, 5.0, 90, 7.0)),
        ({"daily_budget": None}, (3.0, None, 90, 7.0)),
        ({"wait_s": 300}, (3.0, 90.0, 300, 7.0)),
    ],
)
async def test_what_is_not_sent_of_a_leash_stays_as_it_was(
    sent: dict[str, Any], figures: tuple[Any, ...]
) -> None:
    one, body = service(), LeashRequest(mode=ASK, **sent)
    answer = await fleet.set_leash(request_to(one, path={"agent_id": "ada"}, body=body))
    assert answer == leash("ada", "", ASK, figures)


@pytest.mark.parametrize("field", ["threshold", "daily_budget"])
async def test_parts_of_a_micro_are_no_money(field: str) -> None:
    one, body = service(), LeashRequest(mode=ASK, **{field: 1.00000001})
    with pytest.raises(Denied) as refused:
        await fleet.set_leash(request_to(one, path={"agent_id": "ada"}, body=body))
    detail: Any = refused.value.body
    assert (refused.value.status, detail.detail[0].loc) == (422, ("body", field))
    assert one.world_store.written == []


async def test_a_leash_is_taken_off_where_there_is_one() -> None:
    one = service()
    for slug, left in (("nothing", (OWN, SNOW)), ("snow", (OWN,)), ("", ())):
        query = LeashQuery(skill_slug=slug)
        request = request_to(one, path={"agent_id": "ada"}, query=query)
        assert (await fleet.free_leash(request)).leashes == left
    assert one.world_store.written == [
        LeashSet("ada", AT, "snow", None, Micros(0), None, 0), ACT,
        LeashSet("ada", AT, "", None, Micros(0), None, 0), ACT,
    ]  # fmt: skip


async def test_no_leash_changes_while_the_disk_refuses() -> None:
    one = service()
    one.world_store.refuses = StorageError("no room")
    for call, request in (
        (fleet.set_leash, {"body": LeashRequest(mode=ASK)}),
        (fleet.free_leash, {"query": LeashQuery()}),
    ):
        with pytest.raises(StorageError):
            await call(request_to(one, path={"agent_id": "ada"}, **request))
    assert one.world.agents["ada"].leashes[""].mode is OBSERVE


# -- trades that wait --------------------------------------------------------------------------


def held(held_id: str = "h1", **changes: Any) -> TradeHeld:
    return TradeHeld(
        held_id, "ben", AT, Timestamp(AT + 60), Venue.SIM, "m1", Side.NO, Action.BUY, dollars(30),
        OrderType.GTC, 0.7, 1_900_000_000.0, NOTE,
    )._replace(**changes)  # fmt: skip


def waiting(*trades: TradeHeld) -> Any:
    one = service()
    for trade in trades:
        one.world.pending_trades.apply(trade)
    return one


def test_a_waiting_trade_is_told_with_what_it_would_get_now() -> None:
    one = waiting(held())
    body = fleet.held_body(request_to(one), held()).model_dump()
    quote = one.world.markets["m1"].quote_buy(Side.NO, dollars(30))
    assert body.pop("created_at").timestamp() == AT
    assert body.pop("expires_at").timestamp() == AT + 60
    assert body.pop("avg_price") == pytest.approx(30 * ONE / quote.shares)
    assert body == {
        "held_id": "h1", "agent_id": "ben", "agent_name": "ben", "status": HeldStatus.WAITING,
        "market_id": "m1", "question": "Does m1 end well?", "venue": Venue.SIM, "side": Side.NO,
        "action": Action.BUY, "order_type": OrderType.GTC, "amount": 30.0, "shares": 0.0,
        "price_limit": 0.7, "price": pytest.approx(0.6), "shares_estimate": quote.shares / ONE,
        "reasoning": "it rains", "source": "sdk:rain", "skill_slug": "rain",
        "signal_data": {"edge": 0.25}, "decided_at": None, "decided_by": "",
        "decided_amount": None, "reason": "", "trade_id": "",
        "decided_bound": None, "other_side": (), "price_asked": None,
    }  # fmt: skip


def test_a_decided_trade_is_told_with_its_end() -> None:
    sale = held(action=Action.SELL, venue=Venue.EVM, market_id="gone")
    end = HeldEnded(
        "h1", Timestamp(AT + 5), HeldStatus.APPROVED, "why", dollars(12), "t9", "ann"
    )  # fmt: skip
    body = fleet.held_body(request_to(waiting()), sale, end)
    assert (body.status, body.amount, body.shares) == (HeldStatus.APPROVED, 0.0, 30.0)
    assert (body.question, body.price, body.avg_price, body.shares_estimate) == (
        "", None, None, None
    )  # fmt: skip
    assert body.decided_at is not None
    assert body.decided_at.timestamp() == AT + 5
    assert (body.decided_amount, body.decided_by, body.reason, body.trade_id) == (
        12.0, "ann", "why", "t9"
    )  # fmt: skip
    refused = fleet.held_body(request_to(waiting()), sale, end._replace(size=Micros(0)))
    assert refused.decided_amount is None
    # What it would get now is told of a trade that waits alone.
    ended = fleet.held_body(request_to(waiting()), held(), end)
    assert (ended.avg_price, ended.shares_estimate) == (None, None)
    assert ended.price == pytest.approx(0.6)


@pytest.mark.parametrize("changes", [{"venue": Venue.EVM}, {"size": dollars(10_000_000)}])
def test_what_cannot_be_quoted_has_no_estimate(changes: dict[str, Any]) -> None:
    trade = held(**changes)
    body = fleet.held_body(request_to(waiting(trade)), trade)
    assert (body.avg_price, body.shares_estimate) == (None, None)
    assert body.price == pytest.approx(0.6)


async def test_waiting_trades_are_listed_by_deadline_and_the_ended_ones_on_request() -> None:
    one = waiting(
        held("h1", expires_at=Timestamp(AT + 90)), held("h2"), held("h3", agent_id="ada"),
        held("h4"), held("h5", agent_id="ada"),
    )  # fmt: skip
    one.world.pending_trades.end(
        HeldEnded(name, AT, HeldStatus.REFUSED, "no") for name in ("h4", "h5")
    )
    for call, agent_id, status, names in (
        (fleet.all_held, None, "waiting", ["h2", "h3", "h1"]),
        (fleet.all_held, None, "all", ["h2", "h3", "h1", "h5", "h4"]),
        (fleet.own_held, "ben", "waiting", ["h2", "h1"]),
        (fleet.own_held, "ben", "all", ["h2", "h1", "h4"]),
        (fleet.own_held, "ada", "all", ["h3", "h5"]),
    ):
        answer = await call(request_to(one, agent_id, query=HeldQuery(status=status)))
        assert [row.held_id for row in answer.held] == names
        assert answer.waiting_count == sum(name in {"h1", "h2", "h3"} for name in names)


async def refuse(one: Any, reason: str = "") -> Any:
    body = RefuseRequest(reason=reason)
    return await fleet.refuse(request_to(one, path={"held_id": "h1"}, body=body))


@pytest.mark.parametrize(
    ("sent", "told"), [("too risky", "too risky"), ("", "refused by the operator")]
)
async def test_a_refusal_names_who_and_why(sent: str, told: str) -> None:
    one = waiting(held())
    answer = await refuse(one, sent)
    end = HeldEnded("h1", AT, HeldStatus.REFUSED, told, by="ann")
    assert one.world_store.written == [end, ACT]
    assert (answer.held.status, answer.held.reason, answer.held.decided_by) == (
        HeldStatus.REFUSED, told, "ann"
    )  # fmt: skip
    assert answer.trade is None
    with pytest.raises(HeldNotFound, match="already decided"):
        await refuse(one)


async def test_nothing_is_decided_while_the_disk_refuses() -> None:
    one = waiting(held())
    one.world_store.refuses = StorageError("no room")
    with pytest.raises(StorageError):
        await refuse(one)
    with pytest.raises(StorageError):
        await approve(one)
    assert list(one.world.pending_trades.waiting) == ["h1"]


async def approve(one: Any, amount: float | None = None) -> Any:
    body = ApproveRequest.model_construct(amount=amount)
    return await fleet.approve(request_to(one, path={"held_id": "h1"}, body=body))


async def test_an_approved_trade_is_carried_out_for_its_agent_with_its_reasons() -> None:
    one = waiting(held())
    answer = await approve(one)
    fill, end, act = one.world_store.written
    assert isinstance(fill, Fill)
    assert (fill.agent_id, fill.side, fill.action, fill.money) == (
        "ben", Side.NO, Action.BUY, dollars(30)
    )  # fmt: skip
    assert fill.note == NOTE
    assert end == HeldEnded(
        "h1", AT, HeldStatus.APPROVED, "approved", dollars(30), fill.trade_id, "ann"
    )
    assert act == ACT
    assert isinstance(answer.trade, TradeBody)
    assert answer.trade.trade_id == answer.held.trade_id == fill.trade_id
    assert one.world.pending_trades.waiting == {}


async def test_an_operator_may_approve_another_amount() -> None:
    one = waiting(held())
    answer = await approve(one, 12.5)
    fill, end, _ = one.world_store.written
    assert fill.money == end.size == dollars(12.5)
    assert end.reason == "approved at another size"
    assert answer.held.decided_amount == 12.5


@pytest.mark.parametrize(("amount", "kind"), [(12.505, "decimal_max_places"), (1e-8, "decimal")])
async def test_an_amount_is_whole_cents(amount: float, kind: str) -> None:
    one = waiting(held())
    with pytest.raises(Denied) as refused:
        await approve(one, amount)
    body: Any = refused.value.body
    assert (refused.value.status, body.detail[0].type) == (422, kind)
    assert list(one.world.pending_trades.waiting) == ["h1"]


async def test_a_sale_is_not_sized_by_money() -> None:
    one = waiting(held(action=Action.SELL))
    with pytest.raises(Denied) as refused:
        await approve(one, 5.0)
    body: Any = refused.value.body
    assert body.detail[0].msg == "a sale is not sized by money"


async def test_a_no_of_the_venue_decides_a_trade_at_its_own_size() -> None:
    one = waiting(held(size=dollars(10_000_000)))
    answer = await approve(one)
    assert (answer.held.status, answer.held.trade_id) == (HeldStatus.FAILED, "")
    assert answer.held.reason
    assert answer.held.decided_amount is None
    assert [type(event) for event in one.world_store.written[:1]] == [HeldEnded]
    assert one.world.pending_trades.waiting == {}


async def test_a_no_of_the_venue_at_another_size_leaves_the_trade_waiting() -> None:
    one = waiting(held())
    with pytest.raises(Denied) as refused:
        await approve(one, 9_999_999.0)
    body: Any = refused.value.body
    assert refused.value.status == 409
    assert body.error.endswith("; it waits on")
    assert list(one.world.pending_trades.waiting) == ["h1"]
    assert one.world_store.written == []


async def test_a_budget_of_a_leash_leaves_the_trade_waiting() -> None:
    one = waiting(held())
    one.world.agents["ben"].leashes = {"rain": Leash(ASK, Micros(0), dollars(29.99), 60)}
    with pytest.raises(Denied, match="409") as refused:
        await approve(one)
    body: Any = refused.value.body
    assert body.error == "daily budget of skill rain reached: 29.99, 0.00 spent; it waits on"
    assert list(one.world.pending_trades.waiting) == ["h1"]
    await approve(one, 29.99)
    assert one.world.pending_trades.waiting == {}


async def test_a_trade_of_an_agent_that_may_only_look_by_now_fails() -> None:
    one = waiting(held())
    one.world.agents["ben"].leashes = {"": Leash(OBSERVE, Micros(0), None, 60)}
    answer = await approve(one)
    assert answer.held.status is HeldStatus.FAILED
    assert answer.held.reason.startswith("observe-only leash")


async def test_the_parts_of_an_agents_page_are_read_in_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, asked = service(), list[str]()

    def of(name: str) -> Any:
        async def read(request: Any) -> str:
            asked.append(request.agent.agent_id)
            return name

        return read

    monkeypatch.setattr(fleet.trades, "history", of("trades"))
    monkeypatch.setattr(fleet.positions, "positions", of("positions"))
    monkeypatch.setattr(fleet.outcomes, "outcomes", of("outcomes"))
    request = request_to(one, path={"agent_id": "ben"})
    told = [
        await part(request) for part in (fleet.trades_of, fleet.positions_of, fleet.outcomes_of)
    ]
    assert (told, asked) == (["trades", "positions", "outcomes"], ["ben"] * 3)
    with pytest.raises(AgentNotFound):
        await fleet.trades_of(request_to(one, path={"agent_id": "nobody"}))


@pytest.mark.parametrize("action", list(Action))
def test_a_released_trade_is_the_one_that_was_sent(action: Action) -> None:
    pending = held(
        action=action, venue=Venue.EVM, order_type=OrderType.GTD, price=0.25, expiration=int(AT) + 9
    )
    sent = fleet.request_of(pending, dollars(30))
    buys = action is Action.BUY
    assert (sent.market_id, sent.side, sent.action, sent.venue) == (
        pending.market_id, pending.side, action, Venue.EVM,
    )  # fmt: skip
    assert (sent.amount, sent.shares) == ((30.0, 0.0) if buys else (0.0, 30.0))
    assert (sent.order_type, sent.price, sent.expiration) == (OrderType.GTD, 0.25, int(AT) + 9)
    assert (sent.reasoning, sent.source, sent.skill_slug, sent.signal_data) == (
        NOTE.reasoning, NOTE.source, NOTE.skill_slug, NOTE.signal_data,
    )  # fmt: skip


def test_a_trade_is_named_by_its_fill_or_by_its_order() -> None:
    known = dict.fromkeys(OrderPlaced._fields)
    placed = OrderPlaced(**(known | {"order_id": "o-1"}))  # type: ignore[arg-type]
    filled = Fill(**(dict.fromkeys(Fill._fields) | {"trade_id": "t-1"}))  # type: ignore[arg-type]
    ended = HeldEnded("h1", AT, HeldStatus.FAILED, "why")
    assert list(fleet.ids_of([ended, placed, filled])) == ["o-1", "t-1"]
