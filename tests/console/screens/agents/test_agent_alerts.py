"""Alerts on an agent in the console: listed, set by the form, removed, and told when they fired."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from kit.console.doors import Running, running
from kit.console.opened import Opened, opened
from kit.samples.desk import NOW
from kit.samples.fleet import fleet_state
from service_tui.console.needs_fleet import of_fleet
from service_tui.console.screens.agents.alerts import AgentAlertForm, AgentAlertList
from service_tui.console.screens.agents.detail import describe
from service_tui.console.screens.agents.screen import AgentsScreen
from service_tui.console.view_context import ViewContext
from service_tui.desk.commands.agents import RemoveAgentAlert, SetAgentAlert
from service_tui.desk.slices.supervision import AgentAlertView, news_of_fleet
from service_tui.desk.state import DeskState
from service_tui.terms import AgentAlertAction, AgentAlertKind
from service_tui.units import ONE, Micros, Timestamp

FLEET = fleet_state()
assert FLEET.fleet is not None
HERON = next(one for one in FLEET.fleet.agents if one.agent_id == "a-2")
KIND, ACTION = AgentAlertKind, AgentAlertAction


def alert_of(alert_id: str = "aa1", **other: Any) -> AgentAlertView:
    given: dict[str, Any] = {
        "agent_id": "a-2", "agent_name": "heron", "kind": KIND.DAY_LOSS,
        "limit": Micros(250 * ONE), "action": ACTION.PAUSE,
    }  # fmt: skip
    return AgentAlertView(alert_id, **{**given, **other})


FIRED = alert_of(is_beyond=True, fired_count=2, fired_at=Timestamp(NOW - 90))


def alerted(*alerts: AgentAlertView) -> DeskState:
    return replace(FLEET, supervision=replace(FLEET.supervision, agent_alerts=alerts))


@pytest.mark.parametrize(
    ("alert", "text"),
    [
        (alert_of(kind=KIND.SILENT, limit=Micros(30 * ONE)), "silent for 30 min"),
        (alert_of(kind=KIND.DRAWDOWN, limit=Micros(125_000)), "drawdown of 12.5 %"),
        (alert_of(), "day loss of 250.00"),
        (alert_of(kind=KIND.SPEND, minutes=10), "buys for 250.00 in 10 min"),
        (
            alert_of(kind=KIND.MOVE, limit=Micros(100_000), minutes=5),
            "a held market moves 10 pt in 5 min",
        ),
        (
            alert_of(kind=KIND.ERRORS, limit=Micros(3 * ONE), minutes=5, skill_slug="gauge"),
            "3 refused orders of gauge in 5 min",
        ),
    ],
)
def test_an_alert_says_what_it_watches(alert: AgentAlertView, text: str) -> None:
    assert alert.describe() == text


def test_the_pane_lists_the_alerts_with_their_last_firing() -> None:
    state = alerted(FIRED, alert_of("aa2", action=ACTION.TELL))
    text = describe(HERON, ViewContext.of(state, NOW, 100)).plain
    assert "▲ day loss of 250.00, then pause it  fired 1m ago, 2 times" in text
    assert "○ day loss of 250.00, then tell you  never fired" in text
    masked = replace(ViewContext.of(state, NOW, 100), masked=True)
    assert "250.00" not in describe(HERON, masked).plain


def test_what_fired_needs_the_person_until_it_comes_back() -> None:
    rows = [one for one in of_fleet(alerted(FIRED), NOW) if one.topic == "alerts on agents"]
    assert [(one.agent_id, one.what, one.otherwise) for one in rows] == [
        ("a-2", "day loss of 250.00", "its buys stay paused")
    ]
    back = replace(FIRED, is_beyond=False)
    assert not [one for one in of_fleet(alerted(back), NOW) if one.topic == "alerts on agents"]


@pytest.mark.parametrize(
    ("action", "tone", "ends"),
    [
        (ACTION.TELL, "warn", "heron: day loss of 250.00"),
        (ACTION.PAUSE, "bad", "heron: day loss of 250.00; its buys are paused"),
        (ACTION.HALT, "bad", "heron: day loss of 250.00; all buys are halted"),
    ],
)
def test_a_firing_is_told_once(action: AgentAlertAction, tone: str, ends: str) -> None:
    quiet, fired = alert_of(action=action), replace(FIRED, action=action)
    before, after = alerted(quiet).supervision, alerted(fired).supervision
    assert [one[:2] for one in news_of_fleet(before, after)] == [(tone, ends)]
    assert list(news_of_fleet(after, after)) == []
    # What fired before this console opened is in the list, and no news.
    assert list(news_of_fleet(FLEET.supervision, after)) == []


@asynccontextmanager
async def form() -> AsyncIterator[Opened[AgentAlertForm]]:
    async with opened(AgentAlertForm(FLEET, NOW, HERON), FLEET) as seen:
        yield seen


@pytest.mark.slow
async def test_the_form_sets_each_kind_in_the_unit_that_a_person_types() -> None:
    typed = {
        KIND.SILENT: ("45", Micros(45 * ONE)),
        KIND.DRAWDOWN: ("12.5", Micros(125_000)),
        KIND.DAY_LOSS: ("250", Micros(250 * ONE)),
        KIND.SPEND: ("99.5", Micros(99_500_000)),
        KIND.MOVE: ("10", Micros(100_000)),
        KIND.ERRORS: ("3", Micros(3 * ONE)),
    }
    async with form() as seen:
        for kind, (text, limit) in typed.items():
            await seen.type("agent-alert-limit", text)
            result = seen.dialog.result_or_problem()
            assert isinstance(result, SetAgentAlert), result
            assert (result.watches, result.limit) == (kind, limit)
            assert result.minutes == (10 if kind.has_window else 0)
            await seen.press("f5")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "text"), [((), "0.5"), (("f5",), "101"), (("f5",) * 5, "2.5"), ((), "many")]
)
async def test_a_limit_that_the_kind_has_not_is_refused_as_it_is_typed(
    keys: tuple[str, ...], text: str
) -> None:
    async with form() as seen:
        await seen.press(*keys)
        await seen.type("agent-alert-limit", text)
        assert isinstance(seen.dialog.result_or_problem(), str)


@pytest.mark.slow
async def test_the_form_says_in_which_unit_a_limit_is_typed() -> None:
    async with form() as seen:
        assert "minutes" in seen.text
        assert "within" not in seen.text
        await seen.press("f5")
        assert "% of the peak" in seen.text
        await seen.press("f5", "f5")
        assert "within" in seen.text


@pytest.mark.slow
async def test_the_same_alert_is_not_set_twice_and_its_list_names_the_keys() -> None:
    known = alert_of(kind=KIND.SILENT, limit=Micros(30 * ONE), action=ACTION.TELL)
    async with running(alerted(known), first="agents", size=(120, 40)) as seen:
        seen.app.front.focus_row("a-2")
        await seen.press("w")
        assert "n sets another, d removes one" in seen.text
        await seen.press("n", "enter")
        assert "This alert is set already" in seen.text
        assert given(seen, SetAgentAlert) == []


def given(seen: Running, kind: type) -> list[Any]:
    return [one for one in seen.doors.submitted if isinstance(one, kind)]


@pytest.mark.slow
async def test_the_keys_of_the_page_set_and_remove_an_alert() -> None:
    async with running(alerted(FIRED), first="agents", size=(120, 40)) as seen:
        page = seen.app.front
        assert isinstance(page, AgentsScreen)
        page.focus_row("a-2")
        await seen.press("w")
        assert isinstance(seen.app.screen, AgentAlertList)
        assert "day loss of 250.00" in seen.text
        await seen.press("d")
        assert [one.alert_id for one in given(seen, RemoveAgentAlert)] == ["aa1"]
        await seen.press("n")
        assert isinstance(seen.app.screen, AgentAlertForm)
        await seen.press("f6", "enter")
        (order,) = given(seen, SetAgentAlert)
        assert (order.watches, order.limit, order.action) == (
            KIND.SILENT, Micros(30 * ONE), ACTION.PAUSE,
        )  # fmt: skip
