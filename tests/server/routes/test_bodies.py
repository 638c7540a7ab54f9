"""Bodies of people, invitations, price alerts and results of skills, field by field."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from kit.desk.faults import broken_disk
from kit.engine.bare import AT, bare_world, listed
from kit.service.stage import OPERATOR, open_stage
from service_tui.engine.notify.price_alerts import PriceAlert
from service_tui.engine.notify_events import PriceAlertSet
from service_tui.server.embedded import BASE_URL
from service_tui.server.routes import agent_results, alerts, people
from service_tui.storage.invitations import InvitationRecord
from service_tui.storage.people import PersonRecord
from service_tui.terms import AlertCondition, Side
from service_tui.units import Timestamp
from service_tui.wire.endpoints.people import INVITATIONS, INVITE


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(AT + seconds, UTC)


def test_a_person_is_told_with_the_agents_that_are_theirs() -> None:
    world = bare_world("a1", "a2", "a3")
    for name, owner in (("a1", "zoe"), ("a2", "ada"), ("a3", "zoe")):
        world.agents[name].change({"owner": owner})
    record = PersonRecord("zoe", "trader", "s", "h", AT, "owner", AT + 9)
    assert people.person_body(world, record).model_dump() == {
        "name": "zoe",
        "role": "trader",
        "created_at": at(0),
        "created_by": "owner",
        "ended_at": at(9),
        "agents_count": 2,
    }


def test_an_invitation_is_told_with_its_uses_and_without_its_code() -> None:
    world = bare_world("a1", "a2", "a3")
    for name, invitation in (("a1", "i1"), ("a2", "i2"), ("a3", "i1")):
        world.agents[name].change({"invitation": invitation})
    record = InvitationRecord(
        "i1", "s", "h", 5, "pro", 7_000_000, "zoe", AT, "owner", AT + 60, AT + 9
    )
    assert people.invitation_body(world, record).model_dump() == {
        "invitation_id": "i1",
        "uses": 5,
        "used": 2,
        "plan": "pro",
        "daily_budget": 7.0,
        "person": "zoe",
        "created_at": at(0),
        "created_by": "owner",
        "expires_at": at(60),
        "ended_at": at(9),
    }
    # A budget of nothing is a budget; none is none.
    for budget, told in ((0, 0.0), (None, None)):
        body = people.invitation_body(world, replace(record, budget=budget))
        assert body.daily_budget == told


def alert(market_id: str = "m1", **fields: Any) -> PriceAlert:
    placed = PriceAlertSet(
        "p1", "ada", Timestamp(AT - 3), market_id, Side.NO, AlertCondition.ABOVE, 0.7, 0.6, "url"
    )
    return PriceAlert(placed, True, **fields)  # noqa: FBT003 - a row


def test_a_price_alert_is_told_with_the_price_of_its_side_now() -> None:
    world = bare_world()
    listed(world, start_price=0.25)
    told = alerts.alert_body(world, alert(triggered_at=AT, triggered_price=0.71))
    assert told.model_dump() == {
        "id": "p1",
        "market_id": "m1",
        "side": "no",
        "condition": "above",
        "threshold": 0.7,
        "created_at": at(-3),
        "market_question": "Does m1 end well?",
        "webhook_url": "url",
        "triggered_at": at(0),
        "triggered_price": 0.71,
        "current_price": 0.75,
    }
    gone = alerts.alert_body(world, alert("m9"))
    assert (gone.current_price, gone.triggered_at, gone.market_question) == (None, None, "")


def test_confidence_is_told_by_fifths_with_both_ends() -> None:
    bounds = agent_results.BUCKETS
    sure = [(bounds[0], True), (bounds[1], False), (bounds[-1], True)]
    found = list(agent_results.buckets_of(sure))
    assert [(one.low, one.high, one.count) for one in found] == [
        (bounds[0], bounds[1], 1),
        (bounds[1], bounds[2], 1),
        (bounds[-2], bounds[-1], 1),
    ]
    assert [one.hit_rate for one in found] == [1.0, 0.0, 1.0]
    assert found[1].confidence == bounds[1]


@pytest.mark.parametrize(("values", "mean"), [([], None), ([1.0], 1.0), ([1.0, 4.0], 2.5)])
def test_nothing_has_no_mean(values: list[float], mean: float | None) -> None:
    assert agent_results.mean_of(values) == mean


@pytest.mark.slow
async def test_an_invitation_that_was_not_written_is_taken_back(tmp_path: Path) -> None:
    headers = {"Authorization": f"Bearer {OPERATOR}"}
    async with (
        open_stage(tmp_path, speed=0) as stage,
        httpx.AsyncClient(
            transport=stage.sim.transport, base_url=BASE_URL, headers=headers
        ) as http,
    ):
        with broken_disk():
            refused = await http.post(INVITE.path, json={"uses": 1, "days": 1})
        assert refused.status_code == 503, refused.text
        assert (await http.get(INVITATIONS.path)).json()["invitations"] == []
