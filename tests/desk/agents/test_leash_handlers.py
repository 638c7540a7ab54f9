"""What a leash and a decision ask of the service, and what is told of them."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from kit.desk.offline import Asked, Offline
from kit.samples.desk import sample_state
from kit.samples.fleet import pending_trade_of
from service_tui.client.errors import Called, UnreachableError
from service_tui.desk.agents.leash_handlers import HandOrder, carry_out
from service_tui.desk.commands.agents import (
    ApproveTrade,
    PauseAll,
    RefuseTrade,
    RemoveAgentAlert,
    SetAgentAlert,
    SetLeash,
)
from service_tui.desk.facts import Noticed
from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.supervision import SupervisionView
from service_tui.desk.slices.topics import Topic
from service_tui.terms import AgentAlertAction, AgentAlertKind, LeashMode
from service_tui.units import ONE, Micros
from service_tui.wire.desk import DeskAgentPatch
from service_tui.wire.endpoints.desk import DESK_PATCH_AGENT
from service_tui.wire.endpoints.fleet import (
    DESK_APPROVE,
    DESK_DELETE_AGENT_ALERT,
    DESK_FREE_LEASH,
    DESK_REFUSE,
    DESK_SET_AGENT_ALERT,
    DESK_SET_LEASH,
)
from service_tui.wire.fleet import (
    AgentAlertRequest,
    ApproveRequest,
    LeashQuery,
    LeashRequest,
    RefuseRequest,
)

DONE = SimpleNamespace(trade=SimpleNamespace(success=True), held=SimpleNamespace(reason=""))
AFTER = [Topic.FLEET, Topic.AGENTS]


def desk(answer: object = DONE) -> Offline:
    ends = (
        DESK_APPROVE,
        DESK_REFUSE,
        DESK_SET_LEASH,
        DESK_FREE_LEASH,
        DESK_PATCH_AGENT,
        DESK_SET_AGENT_ALERT,
        DESK_DELETE_AGENT_ALERT,
    )
    return Offline(sample_state(8), dict.fromkeys(ends, answer))


async def test_a_leash_is_set_with_all_that_was_ordered() -> None:
    on = desk()
    budget = Micros(40 * ONE)
    order = SetLeash("a-2", "heron", LeashMode.ASK, Micros(2_500_000), budget, 90, "gauge")
    await carry_out(order, on.ports)
    body = LeashRequest(
        mode=LeashMode.ASK, skill_slug="gauge", threshold=2.5, daily_budget=40.0, wait_s=90
    )
    assert on.asked == [Asked(DESK_SET_LEASH, {"agent_id": "a-2"}, body)]
    assert on.words == [("good", "permissions of heron with gauge: ask above 2.50, 40.00 a day")]
    assert on.woken == AFTER


async def test_a_leash_without_a_budget_has_none_and_one_of_nothing_has_nothing() -> None:
    on = desk()
    await carry_out(SetLeash("a-2", "heron", LeashMode.AUTO), on.ports)
    await carry_out(SetLeash("a-2", "heron", LeashMode.AUTO, budget=Micros(0)), on.ports)
    assert [one.body.daily_budget for one in on.asked] == [None, 0.0]  # type: ignore[union-attr]


async def test_a_leash_is_taken_off_of_the_skill_that_is_named() -> None:
    on = desk()
    await carry_out(SetLeash("a-2", "heron", None, skill_slug="gauge"), on.ports)
    query = LeashQuery(skill_slug="gauge")
    assert on.asked == [Asked(DESK_FREE_LEASH, {"agent_id": "a-2"}, query=query)]


async def test_more_freedom_lets_nothing_go_that_waits_and_says_so() -> None:
    on = desk()
    pending = (pending_trade_of("h1"), pending_trade_of("h2", agent_id="a-3"))
    on.state = replace(on.state, supervision=SupervisionView(pending_trades=pending))
    await carry_out(SetLeash("a-2", "heron", LeashMode.AUTO), on.ports)
    assert on.words == [("good", "permissions of heron: auto; 1 trade needs approval")]


async def test_an_approval_goes_out_at_the_size_that_was_given() -> None:
    on = desk()
    await carry_out(ApproveTrade("h1", "buy YES", Micros(2_500_000)), on.ports)
    await carry_out(ApproveTrade("h2", "buy NO"), on.ports)
    assert on.asked == [
        Asked(DESK_APPROVE, {"held_id": "h1"}, ApproveRequest(amount=2.5)),
        Asked(DESK_APPROVE, {"held_id": "h2"}, ApproveRequest(amount=None)),
    ]
    assert on.told == [
        Noticed("good", "approved for 2.50: buy YES", NoticeKind.APPROVAL),
        Noticed("good", "approved: buy NO", NoticeKind.APPROVAL),
    ]


async def test_an_approval_carries_the_worst_price_that_was_allowed() -> None:
    on = desk()
    await carry_out(ApproveTrade("h1", "buy YES", not_above=0.47), on.ports)
    await carry_out(ApproveTrade("h2", "sell YES", not_below=0.4), on.ports)
    assert on.asked == [
        Asked(DESK_APPROVE, {"held_id": "h1"}, ApproveRequest(not_above=0.47)),
        Asked(DESK_APPROVE, {"held_id": "h2"}, ApproveRequest(not_below=0.4)),
    ]
    assert on.words == [
        ("good", "approved not above 0.47: buy YES"),
        ("good", "approved not below 0.4: sell YES"),
    ]


@pytest.mark.parametrize(
    ("trade", "reason", "why"),
    [
        (None, "its deadline has passed", "its deadline has passed"),
        (SimpleNamespace(success=False), "", "refused by the venue"),
        (SimpleNamespace(success=False), "too thin", "too thin"),
    ],
)
async def test_an_approval_that_bought_nothing_is_no_success(
    trade: object, reason: str, why: str
) -> None:
    on = desk(SimpleNamespace(trade=trade, held=SimpleNamespace(reason=reason)))
    await carry_out(ApproveTrade("h1", "buy YES"), on.ports)
    assert on.told == [Noticed("bad", f"approve: buy YES: {why}", NoticeKind.APPROVAL)]
    assert on.woken == AFTER


async def test_a_refusal_carries_its_reason_to_the_agent() -> None:
    on = desk()
    await carry_out(RefuseTrade("h1", "buy YES", "too early"), on.ports)
    assert on.asked == [Asked(DESK_REFUSE, {"held_id": "h1"}, RefuseRequest(reason="too early"))]
    assert on.told == [Noticed("good", "refused: buy YES", NoticeKind.APPROVAL)]


async def test_all_others_are_paused_and_the_own_agent_and_the_paused_are_left() -> None:
    on = desk()
    await carry_out(PauseAll(paused=True), on.ports)
    paused = DeskAgentPatch(trading_paused=True)
    assert on.asked == [
        Asked(DESK_PATCH_AGENT, {"agent_id": one}, paused) for one in ("a-2", "a-3")
    ]
    assert on.words == [("warn", "2 agents paused (sales only): heron, moss-runner")]
    assert on.woken == AFTER


async def test_of_all_others_the_paused_buy_again() -> None:
    on = desk()
    await carry_out(PauseAll(paused=False), on.ports)
    lifted = DeskAgentPatch(trading_paused=False)
    assert on.asked == [Asked(DESK_PATCH_AGENT, {"agent_id": "a-4"}, lifted)]
    assert on.words == [("good", "1 agent may buy again: tide [/red]")]


async def test_without_agents_nobody_is_paused() -> None:
    on = desk()
    on.state = replace(on.state, fleet=None)
    await carry_out(PauseAll(paused=True), on.ports)
    assert (on.asked, on.words) == ([], [("warn", "0 agents paused (sales only)")])


ORDERS = [
    SetLeash("a-2", "heron", LeashMode.ASK),
    ApproveTrade("h1", "buy YES"),
    RefuseTrade("h1", "buy YES"),
    PauseAll(paused=True),
]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"embedded": False}, "this service has no leashes"),
        ({"read_only": True}, READ_ONLY),
        ({"embedded": False, "read_only": True}, READ_ONLY),
    ],
)
async def test_a_desk_that_may_not_decide_asks_nothing(
    order: HandOrder, other: dict[str, bool], why: str
) -> None:
    on = desk()
    on.state = replace(on.state, service=replace(on.state.service, **other))
    await carry_out(order, on.ports)
    assert (on.asked, on.woken) == ([], [])
    assert on.words == [("warn", f"{order.describe()}: {why}")]


@pytest.mark.parametrize("order", ORDERS)
async def test_a_decision_without_an_answer_is_told_and_read_anew(order: HandOrder) -> None:
    on = desk(UnreachableError("no connection", Called("POST", "/x")))
    await carry_out(order, on.ports)
    assert on.words == [("bad", f"{order.describe()}: no connection (POST /x)")]
    assert on.woken == AFTER


async def test_an_alert_on_an_agent_is_set_in_the_units_of_the_wire() -> None:
    on = desk()
    order = SetAgentAlert(
        "a-2", "heron", AgentAlertKind.MOVE, Micros(100_000), 5, AgentAlertAction.PAUSE
    )
    await carry_out(order, on.ports)
    body = AgentAlertRequest(
        kind=AgentAlertKind.MOVE, limit=0.1, minutes=5, action=AgentAlertAction.PAUSE
    )
    assert on.asked == [Asked(DESK_SET_AGENT_ALERT, {"agent_id": "a-2"}, body)]
    text = "alert on heron: a held market moves 10 pt in 5 min, then pause it"
    assert on.words == [("good", text)]
    assert on.woken == AFTER


async def test_an_alert_on_an_agent_is_removed_by_its_id() -> None:
    on = desk()
    await carry_out(RemoveAgentAlert("a-2", "heron", "aa3", "silent for 30 min"), on.ports)
    path = {"agent_id": "a-2", "alert_id": "aa3"}
    assert on.asked == [Asked(DESK_DELETE_AGENT_ALERT, path, None)]
    assert on.words == [("good", "remove the alert on heron: silent for 30 min")]


async def test_a_limit_of_nothing_is_told_and_not_sent() -> None:
    on = desk()
    await carry_out(SetAgentAlert("a-2", "heron", AgentAlertKind.SPEND, Micros(0), 5), on.ports)
    assert on.asked == []
    assert on.words[0][0] == "bad"
