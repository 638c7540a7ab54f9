"""Who else is on a shared desk, and who did what."""

from datetime import UTC, datetime

from kit.desk.offline import Asked, Offline
from kit.samples.desk import NOW, sample_state
from service_tui.desk.changes import Changed
from service_tui.desk.feed.poller_memory import PollerMemory
from service_tui.desk.feed.team import ACTS, read_team
from service_tui.desk.slices.team import ActView, PersonHere, TeamView
from service_tui.terms import PersonRole
from service_tui.units import Timestamp
from service_tui.wire.endpoints.people import DESK_AUDIT, DESK_ME
from service_tui.wire.people import ActBody, AuditBody, AuditQuery, MeBody, PresentBody


async def test_a_team_is_read_with_its_people_its_bounds_and_its_changes() -> None:
    role, other = list(PersonRole)[:2]
    me = MeBody(
        name="ada", role=role, world="harbour", own_agents_only=True,
        forbidden=("POST /api/desk/halt", "POST /api/desk/reset"),
        here=(PresentBody(name="ben", role=other, seconds_ago=4.5),), leader="first", epoch=7,
    )  # fmt: skip
    act = ActBody(
        seq=31, at=datetime.fromtimestamp(NOW - 9, UTC), person="cy", action="POST /x",
        subject="a-1", detail="{}",
    )  # fmt: skip
    on = Offline(sample_state(6), {DESK_ME: me, DESK_AUDIT: AuditBody(acts=(act,))})
    team = TeamView(
        name="ada", role=role, world="harbour",
        forbidden=frozenset({"POST /api/desk/halt", "POST /api/desk/reset"}),
        here=(PersonHere("ben", other, 4.5),), leader="first", epoch=7,
        acts=(ActView(31, Timestamp(NOW - 9), "cy", "POST /x", "a-1", "{}"),),
    )  # fmt: skip
    assert await read_team(on.ports, PollerMemory()) == ([Changed(team)], 0.01)
    assert on.asked == [Asked(DESK_ME), Asked(DESK_AUDIT, query=AuditQuery(limit=ACTS))]
