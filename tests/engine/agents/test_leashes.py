"""What goes out by itself, what waits for the person, and how that ended."""

from typing import Any, Final

import pytest

from kit.engine.bare import AT, bare_world
from service_tui.engine.agents.agents import Agent
from service_tui.engine.agents.leash import Leash, approval_leash, binding
from service_tui.engine.agents.pending_trades import (
    ENDED_KEPT,
    PendingTrades,
    check_leash,
    how_ended,
    spent_of,
)
from service_tui.engine.errors import (
    LeashBudget,
    LeashObserves,
    NeedsApproval,
    PendingTradeNotFound,
    RefusedBefore,
    TooManyPending,
)
from service_tui.engine.events import LeashSet, Note, PendingEnded, TradePending
from service_tui.engine.limits import day_of
from service_tui.terms import PENDING_SHOWN, Action, LeashMode, PendingStatus, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

AUTO, ASK, OBSERVE = LeashMode.AUTO, LeashMode.ASK, LeashMode.OBSERVE
REFUSED: Final = PendingStatus.REFUSED


def dollars(amount: float) -> Micros:
    return Micros(round(amount * ONE))


def leash(
    mode: LeashMode, threshold: float = 0, budget: float | None = None, wait: int = 60
) -> Leash:
    return Leash(mode, dollars(threshold), None if budget is None else dollars(budget), wait)


def agent(**leashes: Leash) -> Agent:
    """An agent that has spent $7 today, of which $3 by the skill rain."""
    made = bare_world("ada").agents["ada"]
    made.leashes = {name.removeprefix("own"): one for name, one in leashes.items()}
    made.buys_day = made.skills_day = day_of(AT)
    made.day_spent, made.skills_spent = dollars(7), {"rain": dollars(3)}
    return made


def check(one: Agent, size: float = 5, **changes: Any) -> None:
    given = {"slug": "rain", "action": Action.BUY, "approved": False, **changes}
    check_leash(
        one, given["slug"], given["action"], dollars(size), approved=given["approved"], at=AT
    )


def test_the_strictest_leash_binds_first() -> None:
    leashes = {
        "": leash(ASK, 9), "rain": leash(OBSERVE), "snow": leash(ASK, 5), "fog": leash(AUTO),
        "hail": leash(ASK, 9, wait=30),
    }  # fmt: skip
    assert binding(leashes, "rain") == [leashes["rain"], leashes[""]]
    assert binding(leashes, "snow") == [leashes["snow"], leashes[""]]
    assert binding(leashes, "fog") == [leashes[""], leashes["fog"]]
    assert binding(leashes, "hail") == [leashes["hail"], leashes[""]]
    assert binding(leashes, "sun") == binding(leashes, "") == [leashes[""]]
    assert binding({}, "rain") == []


@pytest.mark.parametrize(
    ("size", "waits"), [(4.99, None), (5.0, None), (5.01, "snow"), (9.5, "snow")]
)
def test_a_buy_above_the_threshold_waits_by_the_strictest_leash(
    size: float, waits: str | None
) -> None:
    leashes = {"": leash(ASK, 9), "snow": leash(ASK, 5), "fog": leash(OBSERVE)}
    found = approval_leash(leashes, "snow", dollars(size))
    assert found == (None if waits is None else leashes[waits])
    assert approval_leash(leashes, "fog", dollars(9.5)) == leashes[""]


def test_who_may_only_look_neither_buys_nor_sells() -> None:
    for one in (agent(own=leash(OBSERVE)), agent(rain=leash(OBSERVE))):
        for action in Action:
            with pytest.raises(LeashObserves):
                check(one, action=action, approved=True)
    check(agent(rain=leash(OBSERVE)), slug="snow")


def test_a_buy_above_the_threshold_needs_the_persons_word_and_a_sale_does_not() -> None:
    one = agent(own=leash(ASK, 5))
    check(one, 5)
    check(one, 6, approved=True)
    check(one, 6, action=Action.SELL)
    with pytest.raises(NeedsApproval, match=r"a buy for 6\.00 needs the operator's approval"):
        check(one, 6)


@pytest.mark.parametrize(
    ("leashes", "size", "said"),
    [
        ({"own": leash(AUTO, budget=12)}, 5.0, None),
        ({"own": leash(AUTO, budget=12)}, 5.01, r"budget reached: 12\.00, 7\.00 spent"),
        ({"rain": leash(AUTO, budget=8)}, 5.0, None),
        ({"rain": leash(AUTO, budget=8)}, 5.01, r"of skill rain reached: 8\.00, 3\.00 spent"),
        ({"snow": leash(AUTO, budget=1)}, 5.0, None),
    ],
)
def test_a_budget_is_that_of_the_day_of_the_agent_and_of_the_skill(
    leashes: dict[str, Leash], size: float, said: str | None
) -> None:
    one = agent(**leashes)
    check(one, 50, action=Action.SELL)
    if said is None:
        check(one, size)
        return
    for approved in (False, True):
        with pytest.raises(LeashBudget, match=said):
            check(one, size, approved=approved)


def test_what_counts_against_a_leash_is_what_its_skill_or_its_agent_spent_today() -> None:
    one = agent()
    assert [spent_of(one, slug, AT) for slug in ("", "rain", "snow")] == [
        dollars(7), dollars(3), 0
    ]  # fmt: skip
    tomorrow = Timestamp(AT + 86_400)
    assert [spent_of(one, slug, tomorrow) for slug in ("", "rain")] == [0, 0]


# -- trades that wait --------------------------------------------------------------------------


def pending_trade(**changes: Any) -> TradePending:
    return TradePending(
        "", "ada", AT, Timestamp(0), Venue.EVM, "m1", Side.NO, Action.BUY, dollars(30), None,
        0.4, None, Note(skill_slug="rain"),
    )._replace(**changes)  # fmt: skip


def ended(pending_id: str = "h1", status: PendingStatus = REFUSED, **changes: Any) -> PendingEnded:
    return PendingEnded(pending_id, AT, status, "no")._replace(**changes)


def trades() -> PendingTrades:
    world = bare_world("ada", "ben")
    world.agents["ada"].leashes = {"": leash(ASK, 9), "rain": leash(ASK, 5, wait=90)}
    return PendingTrades(world.agents)


def test_a_trade_waits_under_a_number_until_its_deadline() -> None:
    pending = trades()
    first = pending.let_wait(pending_trade())
    assert first == pending_trade(pending_id="h1", expires_at=Timestamp(AT + 90))
    second = pending.let_wait(pending_trade(size=dollars(7), note=Note(skill_slug="snow")))
    assert second.expires_at == AT
    third = pending.let_wait(pending_trade(note=Note()))
    assert (third.pending_id, third.expires_at) == ("h3", AT + 60)
    assert list(pending.waiting) == ["h1", "h2", "h3"]
    assert pending.find("h1") is first
    assert pending.agent_of("h1") == "ada"


def test_only_so_many_trades_of_an_agent_wait() -> None:
    pending = trades()
    for _ in range(PENDING_SHOWN):
        pending.let_wait(pending_trade())
    with pytest.raises(TooManyPending):
        pending.let_wait(pending_trade())
    pending.let_wait(pending_trade(agent_id="ben"))
    assert len(pending.waiting) == PENDING_SHOWN + 1


OTHERS: Final[dict[str, Any]] = {
    "agent": {"agent_id": "ben"},
    "skill": {"note": Note(skill_slug="snow")},
    "venue": {"venue": Venue.SOL},
    "market": {"market_id": "m2"},
    "side": {"side": Side.YES},
    "action": {"action": Action.SELL},
}


def refused_trades() -> PendingTrades:
    pending = trades()
    pending.let_wait(pending_trade())
    pending.end([ended()])
    return pending


@pytest.mark.parametrize(
    ("after_s", "minutes"), [(0, 1), (29, 1), (120, 2), (3_599, 60), (3_600, None), (-1, None)]
)
def test_a_refused_trade_stays_refused_for_an_hour_at_whatever_size(
    after_s: float, minutes: int | None
) -> None:
    again = pending_trade(at=Timestamp(AT + after_s), size=dollars(1))
    if minutes is None:
        refused_trades().let_wait(again)
        return
    with pytest.raises(RefusedBefore, match=f"refused by the operator {minutes} min ago"):
        refused_trades().let_wait(again)


@pytest.mark.parametrize("other", OTHERS)
def test_another_trade_was_not_refused(other: str) -> None:
    refused_trades().let_wait(pending_trade(**OTHERS[other]))


@pytest.mark.parametrize("status", [one for one in PendingStatus if one is not REFUSED])
def test_what_ended_otherwise_may_be_asked_for_again(status: PendingStatus) -> None:
    pending = trades()
    pending.let_wait(pending_trade())
    pending.end([ended(status=status)])
    pending.let_wait(pending_trade())


def test_a_decided_trade_is_not_found_and_says_how_it_ended() -> None:
    pending = refused_trades()
    assert pending.agent_of("h1") == "ada"
    assert list(pending.ended) == [(pending.ended[0][0], ended())]
    with pytest.raises(PendingTradeNotFound, match=r"h1 was already decided: refused \(no\)"):
        pending.find("h1")
    for look in (pending.find, pending.agent_of):
        with pytest.raises(PendingTradeNotFound, match="no pending trade h2"):
            look("h2")


@pytest.mark.parametrize(
    ("end", "text"),
    [
        (ended(), "refused (no)"),
        (ended(by="ann"), "refused by ann (no)"),
        (ended(reason=""), "refused"),
        (ended(status=PendingStatus.APPROVED, by="ann"), "approved by ann"),
        (ended(status=PendingStatus.EXPIRED), "expired"),
    ],
)
def test_an_end_names_who_decided_and_why_it_was_refused(end: PendingEnded, text: str) -> None:
    assert how_ended(end) == text


def test_trades_whose_deadline_has_passed_expire() -> None:
    pending = trades()
    pending.let_wait(pending_trade())
    pending.let_wait(pending_trade(note=Note()))
    assert pending.due(Timestamp(AT + 59.9)) == []
    at = Timestamp(AT + 60)
    assert pending.due(at) == [PendingEnded("h2", at, PendingStatus.EXPIRED, "approval timed out")]
    assert list(pending.waiting) == ["h1"]
    assert pending.due(at) == []


def test_requests_lapse_where_no_market_takes_them() -> None:
    pending = trades()
    pending.let_wait(pending_trade())
    pending.let_wait(pending_trade(market_id="m2"))
    at = Timestamp(AT + 1)
    lapsed = PendingEnded("h2", at, PendingStatus.EXPIRED, "the market ended")
    assert pending.lapse(at, {"m1"}.__contains__) == [lapsed]
    assert list(pending.waiting) == ["h1"]
    assert pending.lapse(at, {"m1"}.__contains__) == []


def test_the_oldest_end_is_forgotten() -> None:
    pending = trades()
    for number in range(ENDED_KEPT + 1):
        pending.apply(pending_trade(pending_id=f"h{number}"))
        pending.apply(ended(f"h{number}", PendingStatus.APPROVED))
    assert pending.count == ENDED_KEPT + 1
    assert (len(pending.ended), pending.ended[0][0].pending_id) == (ENDED_KEPT, "h1")


def test_a_leash_is_set_for_one_skill_and_taken_off_again() -> None:
    pending = trades()
    before = pending.agents["ada"].leashes
    pending.apply(LeashSet("ada", AT, "snow", OBSERVE, dollars(4), dollars(9), 30))
    made = Leash(OBSERVE, dollars(4), dollars(9), 30)
    assert pending.agents["ada"].leashes == {**before, "snow": made}
    assert "snow" not in before
    pending.apply(LeashSet("ada", AT, "snow", None, dollars(0), None, 0))
    pending.apply(LeashSet("ada", AT, "nothing", None, dollars(0), None, 0))
    assert pending.agents["ada"].leashes == before
    assert pending.agents["ben"].leashes == {}
