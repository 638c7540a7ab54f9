"""Whose trades are refused until midnight, and which of them are answered."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kit.desk.offline import Offline
from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import pending_trade_of
from service_tui.desk.agents.refused_today import (
    REASON,
    refuse_for_today,
    refused_today,
    rule_of,
)
from service_tui.desk.commands.agents import RefuseTrade
from service_tui.desk.slices.supervision import PendingTradeView, approval_text
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

TODAY = int(NOW // 86_400)
BASE = sample_state(6)
BASE = replace(BASE, service=replace(BASE.service, skew_s=None))


def state_of(*pending: PendingTradeView, **other: Any) -> DeskState:
    view = replace(BASE.supervision, pending_trades=pending)
    given = {"preferences": {"refused.a-2": f"{TODAY}"}, "supervision": view, **other}
    return replace(BASE, **given)


def test_the_rule_names_the_agent_and_the_day_of_the_service() -> None:
    assert rule_of("a-2", BASE, NOW) == ("refused.a-2", f"{TODAY}")
    midnight = Timestamp((TODAY + 1) * 86_400.0)
    ahead = replace(BASE, service=replace(BASE.service, skew_s=5.0))
    # This clock is five seconds ahead: there it is still the day before.
    assert rule_of("a-2", ahead, Timestamp(midnight + 4)) == ("refused.a-2", f"{TODAY}")
    assert rule_of("a-2", ahead, Timestamp(midnight + 5)) == ("refused.a-2", f"{TODAY + 1}")


def test_only_rules_of_today_refuse_and_nothing_else_is_one() -> None:
    preferences = {
        "refused.b": f"{TODAY}",
        "refused.a": f"{TODAY}",
        "refused.old": f"{TODAY - 1}",
        "refused.new": f"{TODAY + 1}",
        "theme": f"{TODAY}",
    }
    assert refused_today(replace(BASE, preferences=preferences), NOW) == ("a", "b")


async def refused(
    *states: DeskState, check: Callable[[list[float]], None] = lambda _: None
) -> list[RefuseTrade]:
    """What is refused at one look a state."""
    on, left, slept = Offline(states[0]), list(states[1:]), list[float]()
    orders: list[RefuseTrade] = []

    async def refuse(order: RefuseTrade) -> None:
        orders.append(order)

    async def sleep(delay_s: float) -> None:
        slept.append(delay_s)
        if not left:
            raise RuntimeError("over")
        on.state = left.pop(0)

    on.clock.sleep = sleep  # type: ignore[method-assign]
    with pytest.raises(RuntimeError):
        await refuse_for_today(on.ports, refuse)
    check(slept)
    return orders


async def test_each_waiting_trade_of_the_agent_is_refused_once_with_the_reason() -> None:
    first, second = pending_trade_of("h1"), pending_trade_of("h2", question="another")
    other = pending_trade_of("h3", agent_id="a-9")
    orders = await refused(state_of(first, other), state_of(first, other, second), state_of(second))
    assert orders == [
        RefuseTrade("h1", approval_text(first), REASON),
        RefuseTrade("h2", approval_text(second), REASON),
    ]


async def test_a_trade_that_waits_anew_is_refused_anew() -> None:
    def every_two_seconds(slept: list[float]) -> None:
        assert slept == [2.0] * 3

    states = (state_of(pending_trade_of("h1")), state_of(), state_of(pending_trade_of("h1")))
    assert len(await refused(*states, check=every_two_seconds)) == 2


@pytest.mark.parametrize(
    "other", [{"from_cache": True}, {"preferences": {}}, {"preferences": {"refused.a-2": "1"}}]
)
async def test_nothing_is_refused_without_a_rule_or_from_the_last_session(
    other: dict[str, Any],
) -> None:
    assert await refused(state_of(pending_trade_of("h1"), **other)) == []
