"""Before the first answer about a thing no screen says that there is none of it."""

from dataclasses import replace

import pytest

from kit.console.doors import running, seen_before
from kit.samples.desk import NOW, sample_state
from service_tui.console.needs import unloaded_topics
from service_tui.desk.slices.agents import FleetView
from service_tui.desk.slices.log import LogView
from service_tui.desk.slices.reactor import ReactorView
from service_tui.desk.slices.redemption import RedemptionView
from service_tui.desk.slices.research import ResearchView
from service_tui.desk.slices.risk import RiskView
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.supervision import SupervisionView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Plan

FULL = seen_before(sample_state())
BARE = replace(
    FULL,
    account=None,
    limits=None,
    buy_limits=None,
    markets={},
    positions=(),
    closed=(),
    on_venues=(),
    tickets=(),
    trades=(),
    fills=(),
    fleet=None,
    listening=False,
    briefing=None,
    world=None,
    risk=RiskView(),
    reactor=ReactorView(),
    redemption=RedemptionView(),
    research=ResearchView(),
    supervision=SupervisionView(),
    log=LogView(),
    seen={},
    polls={},
)
"""Online, and nothing was told yet: an attached console in its first moment."""

EMPTY = replace(
    BARE,
    account=FULL.account,
    limits=FULL.limits,
    fleet=FleetView((), Plan.PRO, 10),
    listening=True,
    log=LogView(checked_at=NOW),
    seen=FULL.seen,
    polls=FULL.polls,
)
"""The same when all was told, and there is nothing."""

EMPTY_TEXTS = {
    "attention": "All clear",
    "portfolio": "No open positions",
    "markets": "No markets listed",
    "monitors": "No position is protected",
    "reactor": "Reactor off",
    "redemption": "No positions on the real venues",
    "research": "Improve a skill",
    "agents": "No agents yet",
    "blotter": "No orders yet",
    "log": "No entries",
}
ASKING = {
    **dict.fromkeys(EMPTY_TEXTS, "Not loaded yet"),
    "redemption": "Loading positions",
    "blotter": "Loading orders",
    "log": "Loading the log",
}
NOUGHTS = {
    "portfolio": ("open 0", "closed 0"),
    "markets": ("of 0",),
    "monitors": ("monitors 0", "0 of 0", "0 guarded"),
    "reactor": ("feed 0", "wallets 0"),
    "redemption": ("0 ready", "0 active"),
    "research": ("no session",),
    "agents": ("No trades yet",),
}


@pytest.mark.slow
async def test_an_empty_list_is_said_after_an_answer_only() -> None:
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    async with running(BARE, size=(120, 40)) as seen:
        for screen in EMPTY_TEXTS:
            await seen.app.run_action(f"go('{screen}')")
            await seen.pilot.pause()
            before[screen] = seen.text
            await seen.bring(EMPTY)
            after[screen] = seen.text
            await seen.bring(BARE)
    assert [one for one in EMPTY_TEXTS if ASKING[one] not in before[one]] == []
    assert [one for one in EMPTY_TEXTS if EMPTY_TEXTS[one] in before[one]] == []
    assert [
        one for one, noughts in NOUGHTS.items() for nought in noughts if nought in before[one]
    ] == []
    assert [one for one in EMPTY_TEXTS if EMPTY_TEXTS[one] not in after[one]] == []
    assert [one for one in EMPTY_TEXTS if ASKING[one] in after[one]] == []


@pytest.mark.slow
async def test_a_service_that_is_away_is_said_to_be() -> None:
    service = replace(BARE.service, phase=Phase.OFFLINE, problem="connection refused")
    async with running(BARE, size=(120, 40)) as seen:
        await seen.bring(replace(BARE, service=service))
        for screen in ("agents", "research", "portfolio", "markets", "monitors"):
            await seen.app.run_action(f"go('{screen}')")
            await seen.pilot.pause()
            assert "cannot be reached: connection refused" in seen.text, screen
            assert EMPTY_TEXTS[screen] not in seen.text, screen
            assert "Not known yet" not in seen.text.split("cannot be reached")[1], screen


@pytest.mark.slow
async def test_closed_positions_are_said_to_be_none_after_an_answer_only() -> None:
    async with running(BARE, first="portfolio", size=(120, 40)) as seen:
        await seen.press("o", "o")
        assert "come with the service's first answer" in seen.text
        await seen.bring(EMPTY)
        assert "No position was closed yet" in seen.text


@pytest.mark.slow
async def test_calm_begins_when_the_last_thing_was_told() -> None:
    without = {topic: at for topic, at in FULL.seen.items() if topic is not Topic.BRIEFING}
    async with running(replace(EMPTY, seen=without), size=(120, 40)) as seen:
        assert "Not loaded yet: alerts." in seen.text
        assert seen.app._program.idle_time.since is None
        seen.clock[0] += 40
        await seen.bring(EMPTY)
        assert seen.app._program.idle_time.since == NOW + 40
        assert "All clear" in seen.text


def test_what_a_service_does_not_have_is_not_waited_for() -> None:
    def told_of(*topics: Topic) -> DeskState:
        return replace(EMPTY, seen=dict.fromkeys(set(Topic) - set(topics), NOW))

    assert unloaded_topics(EMPTY) == ()
    assert unloaded_topics(told_of(Topic.REACTOR, Topic.FLEET)) == ("signals", "approvals")
    barred = replace(told_of(Topic.REACTOR), reactor=ReactorView(barred="not on this plan"))
    assert unloaded_topics(barred) == ()
    unplanned = replace(told_of(Topic.RESEARCH), research=ResearchView(needs_plan=True))
    assert unloaded_topics(unplanned) == ()
    away = told_of(Topic.AGENTS, Topic.FLEET)
    assert unloaded_topics(away) == ("agents", "approvals")
    assert unloaded_topics(replace(away, service=replace(away.service, embedded=False))) == ()
    assert "alerts" in unloaded_topics(replace(EMPTY, from_cache=True))
