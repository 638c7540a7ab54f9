"""Alerts on agents: what makes each kind fire, what its action does, and that a replay agrees."""

from collections.abc import Callable
from typing import Any

import pytest

from kit.engine.guarded import (
    AT,
    OFF,
    buy,
    joined,
    new_world,
    of,
    open_markets,
    push,
    read_back,
    replayed,
    text_of,
    tick,
)
from service_tui.engine.amm.market import Market
from service_tui.engine.errors import AgentAlertNotFound, TooManyAgentAlerts
from service_tui.engine.events import AgentChanged, Event, HaltSet
from service_tui.engine.notify_events import (
    AgentAlertArmed,
    AgentAlertFired,
    AgentAlertSet,
    AgentHeard,
)
from service_tui.engine.world import World
from service_tui.terms import AGENT_ALERTS_MAX, AgentAlertAction, AgentAlertKind, Side
from service_tui.units import ONE, Micros, Timestamp

KIND, TELL = AgentAlertKind, AgentAlertAction.TELL


def watched(world: World, kind: AgentAlertKind, limit: float, **other: Any) -> AgentAlertSet:
    fields: dict[str, Any] = {"minutes": 10 if kind.has_window else 0, "action": TELL} | other
    wanted = AgentAlertSet("", "ada", world.at, kind, Micros(round(limit * ONE)), **fields)
    event = world.agent_alerts.request(wanted)
    world.note(event)
    return event


def ticked(world: World, seconds: int) -> list[Event]:
    """So many seconds, one after the other, as the service moves its tape."""
    return [event for _ in range(seconds) for event in tick(world)]


def shoved(world: World, market: Market, side: Side, times: int) -> None:
    for _ in range(times):
        push(world, market, side, 490)


def silent(world: World) -> None:
    ticked(world, 61)


def fallen(world: World) -> None:
    market = open_markets(world, life_s=7_200)[0]
    buy(world, "ada", market, 400)
    ticked(world, 61)
    shoved(world, market, Side.NO, 10)


def spent(world: World) -> None:
    buy(world, "ada", open_markets(world)[0], 60)


def moved(world: World) -> None:
    market = open_markets(world, life_s=7_200)[0]
    buy(world, "ada", market, 5)
    tick(world)
    shoved(world, market, Side.NO, 4)


def erred(world: World) -> None:
    for _ in range(3):
        world.did(world.agent_alerts.erred("ada", "momentum", "COOLDOWN", world.at))


@pytest.mark.parametrize(
    ("kind", "limit", "happen"),
    [
        (KIND.SILENT, 1, silent),
        (KIND.DRAWDOWN, 0.01, fallen),
        (KIND.DAY_LOSS, 50, fallen),
        (KIND.SPEND, 50, spent),
        (KIND.MOVE, 0.1, moved),
        (KIND.ERRORS, 3, erred),
    ],
)
def test_each_kind_fires_once_when_its_limit_is_reached(
    kind: AgentAlertKind, limit: float, happen: Callable[[World], None]
) -> None:
    world = new_world("ada", **OFF)
    placed = watched(world, kind, limit)
    if kind is not KIND.SILENT:
        assert of(ticked(world, 3), AgentAlertFired) == []

    happen(world)
    events = ticked(world, 3)

    alert = world.agent_alerts.by_id[placed.alert_id]
    assert (alert.fired_count, alert.is_beyond) == (1, True)
    assert alert.value >= placed.limit
    assert bool(alert.market_id) is (kind is KIND.MOVE)
    assert of(events, AgentChanged) == of(events, HaltSet) == []
    # What is read back fires no second time.
    again = read_back(text_of(world))
    assert text_of(again) == text_of(world)
    assert of(ticked(again, 3), AgentAlertFired) == []


def test_silence_counts_from_the_last_call_and_not_from_the_setting() -> None:
    world = new_world("ada", **OFF)
    world.agent_alerts.hear("ada", world.at)
    ticked(world, 120)
    watched(world, KIND.SILENT, 2)
    assert len(of(tick(world), AgentAlertFired)) == 1
    # Of one whose calls nobody has heard it counts from the setting.
    unheard = new_world("ada", **OFF)
    ticked(unheard, 120)
    watched(unheard, KIND.SILENT, 2)
    assert of(tick(unheard), AgentAlertFired) == []


def test_below_its_limit_no_kind_fires() -> None:
    world = new_world("ada", **OFF)
    for kind, limit in (
        (KIND.SILENT, 3), (KIND.DRAWDOWN, 0.9), (KIND.DAY_LOSS, 9_000), (KIND.SPEND, 461),
        (KIND.MOVE, 1.0), (KIND.ERRORS, 4),
    ):  # fmt: skip
        watched(world, kind, limit)
    fallen(world)
    tick(world, 1)
    erred(world)
    assert of(ticked(world, 5), AgentAlertFired) == []


def test_an_alert_fires_again_after_it_has_come_back_a_tenth() -> None:
    world = new_world("ada", **OFF)
    placed = watched(world, KIND.SILENT, 1)
    ticked(world, 61)
    world.agent_alerts.hear("ada", world.at)
    back = tick(world)
    assert [one.alert_id for one in of(back, AgentAlertArmed)] == [placed.alert_id]
    assert len(of(ticked(world, 65), AgentAlertFired)) == 1


def test_a_spend_within_minutes_is_over_when_they_are() -> None:
    world = new_world("ada", **OFF)
    watched(world, KIND.SPEND, 50, minutes=2)
    spent(world)
    assert len(of(tick(world), AgentAlertFired)) == 1
    assert len(of(ticked(world, 125), AgentAlertArmed)) == 1


@pytest.mark.parametrize("action", [AgentAlertAction.PAUSE, AgentAlertAction.HALT])
def test_the_action_is_done_with_the_firing_and_not_again(action: AgentAlertAction) -> None:
    world = new_world("ada", **OFF)
    watched(world, KIND.SPEND, 50, action=action)
    spent(world)
    start = text_of(world)

    events = ticked(world, 2)

    assert len(of(events, AgentAlertFired)) == 1
    is_pause = action is AgentAlertAction.PAUSE
    assert world.agents["ada"].settings.operator_paused is is_pause
    assert (world.halt.since is not None) is not is_pause
    # A restart between any two ticks: the journal tells the same.
    assert text_of(replayed(start, events)) == text_of(world)


def test_what_the_operator_lifts_stays_lifted_until_the_next_crossing() -> None:
    world = new_world("ada", **OFF)
    watched(world, KIND.SPEND, 50, action=AgentAlertAction.PAUSE)
    spent(world)
    tick(world)
    world.change(world.agents["ada"], {"operator_paused": False}, world.at)
    ticked(world, 3)
    assert not world.agents["ada"].settings.operator_paused


def test_the_errors_of_one_skill_are_no_errors_of_another() -> None:
    world = new_world("ada", **OFF)
    watched(world, KIND.ERRORS, 3, skill_slug="reversal")
    erred(world)
    assert of(tick(world), AgentAlertFired) == []
    # Nobody counts them: nothing is written down.
    assert world.agent_alerts.erred("ada", "momentum", "COOLDOWN", world.at) == ()
    for _ in range(3):
        world.did(world.agent_alerts.erred("ada", "reversal", "COOLDOWN", world.at))
    assert len(of(tick(world), AgentAlertFired)) == 1


def test_a_call_is_written_down_once_a_minute_while_somebody_watches() -> None:
    world = new_world("ada", **OFF)
    world.agent_alerts.hear("ada", world.at)
    assert of(tick(world), AgentHeard) == []
    watched(world, KIND.SILENT, 5)
    heard = []
    for _ in range(130):
        world.agent_alerts.hear("ada", world.at)
        heard += of(tick(world), AgentHeard)
    assert len(heard) == 3
    # A restart knows of it: nothing fires before its time.
    again = read_back(text_of(world))
    assert of(ticked(again, 239), AgentAlertFired) == []
    assert len(of(ticked(again, 70), AgentAlertFired)) == 1


@pytest.mark.parametrize("speed", [0, 1])
def test_a_night_in_which_the_service_was_closed_is_no_silence(speed: int) -> None:
    world = new_world("ada", speed=speed, **OFF)
    watched(world, KIND.SILENT, 5)
    assert of(tick(world, 30_000), AgentAlertFired) == []
    assert of(ticked(world, 290), AgentAlertFired) == []
    assert len(of(ticked(world, 15), AgentAlertFired)) == 1


def test_a_paused_tape_holds_no_alert_up() -> None:
    world = new_world("ada", speed=0, **OFF)
    watched(world, KIND.SPEND, 50)
    spent(world)
    assert len(of(tick(world), AgentAlertFired)) == 1


def test_an_agent_that_is_retired_or_suspended_fires_nothing() -> None:
    world = new_world("ada", **OFF)
    watched(world, KIND.SILENT, 1)
    world.change(world.agents["ada"], {"suspended": True}, world.at)
    assert of(ticked(world, 70), AgentAlertFired) == []


def test_the_drawdown_is_measured_from_the_highest_equity_ever_noted() -> None:
    world = new_world("ada", **OFF)
    market = open_markets(world, life_s=7_200)[0]
    buy(world, "ada", market, 400)
    shoved(world, market, Side.YES, 4)
    ticked(world, 61)
    ada = world.agents["ada"]
    peak = ada.peak
    assert peak == max(mark.exit_equity for mark in ada.marks.all()) > 10_000 * ONE
    shoved(world, market, Side.NO, 15)
    ticked(world, 61)
    assert ada.peak == peak
    fall = (peak - world.exit_equity(ada)) / peak
    placed = watched(world, KIND.DRAWDOWN, fall - 0.001)
    tick(world)
    assert world.agent_alerts.by_id[placed.alert_id].value == pytest.approx(fall * ONE, rel=0.01)


def test_alerts_are_bounded_and_found_by_their_agent_alone() -> None:
    world = new_world("ada", **OFF)
    joined(world, "ben")
    first = watched(world, KIND.SILENT, 5)
    for _ in range(AGENT_ALERTS_MAX - 1):
        watched(world, KIND.SILENT, 5)
    with pytest.raises(TooManyAgentAlerts):
        watched(world, KIND.SILENT, 5)
    with pytest.raises(AgentAlertNotFound):
        world.agent_alerts.delete("ben", first.alert_id, AT)
    world.note(world.agent_alerts.delete("ada", first.alert_id, AT))
    assert len(world.agent_alerts.of("ada")) == AGENT_ALERTS_MAX - 1
    # A number is never given twice.
    assert watched(world, KIND.SILENT, 5).alert_id == f"aa{AGENT_ALERTS_MAX + 1}"


def test_money_that_comes_back_is_spent_in_no_minute() -> None:
    ada = new_world("ada").agents["ada"]
    at = Timestamp(AT + 1)
    ada.count_buy(at, Micros(50 * ONE))
    ada.count_buy(Timestamp(AT + 61), Micros(7 * ONE))
    ada.give_back(Micros(30 * ONE), at)
    assert ada.spent_within(2, Timestamp(AT + 61)) == 27 * ONE
    assert ada.spent_within(1, Timestamp(AT + 61)) == 7 * ONE
    assert ada.spent_within(60, Timestamp(AT + 3_700)) == 0
