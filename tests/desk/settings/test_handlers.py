"""The pace, the watchlist and the preferences."""

from dataclasses import replace
from typing import cast

import pytest

from kit.desk.offline import Asked, Offline
from kit.samples.desk import sample_state
from kit.samples.filled import filled
from service_tui.client.errors import Called, UnreachableError
from service_tui.desk.commands.settings import SetPreference, SetSpeed, SetStar, StepWorld
from service_tui.desk.facts import Noticed, PreferenceSet, StarSet, WorldSeen
from service_tui.desk.markets.translate import news_view
from service_tui.desk.ports import Memory
from service_tui.desk.settings.handlers import set_preference, set_speed, set_star, step_world
from service_tui.desk.slices.tickets import TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.world.translate import world_view
from service_tui.wire.endpoints.desk import SET_SPEED, STEP
from service_tui.wire.world import NewsBody, SpeedRequest, StepRequest, WorldBody

TICKET = filled(TicketView, 3)
WORLD = filled(WorldBody, 5, speed=10, open_count=3, meanwhile=None, news=(filled(NewsBody, 6),))


def outside(*, embedded: bool = True, answer: object = WORLD) -> Offline:
    state = sample_state()
    service = replace(state.service, embedded=embedded)
    return Offline(replace(state, service=service), {SET_SPEED: answer, STEP: answer})


class Kept:
    """A memory that notes what it is told to keep, after what was told."""

    def __init__(self, there: Offline) -> None:
        self.rows: list[tuple[str, str, int]] = []
        self._there = there

    async def prefer(self, name: str, value: str) -> None:
        self.rows.append((name, value, len(self._there.facts)))


async def test_the_world_takes_its_pace_and_is_shown_at_once() -> None:
    there = outside()
    await set_speed(TICKET, SetSpeed(10), there.ports)
    assert there.asked == [Asked(SET_SPEED, body=SpeedRequest(speed=10))]
    assert there.facts == [
        WorldSeen(world_view(WORLD), (news_view(WORLD.news[0]),)),
        Noticed("info", "World speed 10x"),
    ]
    assert there.woken == [Topic.WORLD]


ELSEWHERE = "only an offline world has a speed"


@pytest.mark.parametrize(
    ("embedded", "speed", "why"),
    [(False, 10, ELSEWHERE), (True, 7, "this world runs at one of 0, 1, 10, 60")],
)
async def test_no_other_pace_and_no_other_service(*, embedded: bool, speed: int, why: str) -> None:
    there = outside(embedded=embedded)
    await set_speed(TICKET, SetSpeed(speed), there.ports)
    assert there.words == [("warn", why)]
    assert (there.asked, there.woken) == ([], [])


async def test_a_history_moves_on_at_once_and_no_other_service_does() -> None:
    there = outside()
    await step_world(TICKET, StepWorld(3_600), there.ports)
    assert there.asked == [Asked(STEP, body=StepRequest(seconds=3_600))]
    assert there.facts[-1] == Noticed("info", "World moved on by 1:00:00")
    there = outside(embedded=False)
    await step_world(TICKET, StepWorld(3_600), there.ports)
    assert (there.words, there.asked) == ([("warn", ELSEWHERE)], [])


async def test_a_pace_that_failed_is_told() -> None:
    there = outside(answer=UnreachableError("no line", Called("POST", "/x")))
    await set_speed(TICKET, SetSpeed(10), there.ports)
    assert there.words == [("bad", f"{TICKET.what}: no line (POST /x)")]
    assert (len(there.facts), there.woken) == (1, [])


async def test_stars_are_kept_in_their_order_as_they_stand_after_the_change() -> None:
    there = outside()
    there.state = replace(there.state, stars=frozenset({"b", "c"}))
    kept = Kept(there)
    await set_star(SetStar("a", on=True), cast("Memory", kept), there.ports)
    await set_star(SetStar("b", on=False), cast("Memory", kept), there.ports)
    assert there.facts == [StarSet("a", True), StarSet("b", False)]  # noqa: FBT003
    assert kept.rows == [("stars", "a,b,c", 1), ("stars", "a,c", 2)]


async def test_a_preference_is_shown_and_kept() -> None:
    there = outside()
    kept = Kept(there)
    await set_preference(SetPreference("theme", "dark"), cast("Memory", kept), there.ports)
    assert there.facts == [PreferenceSet("theme", "dark")]
    assert kept.rows == [("theme", "dark", 1)]
