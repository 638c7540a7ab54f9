from dataclasses import replace
from pathlib import Path

import pytest

from kit.desk.faults import Fault, at_work, until
from kit.service.stage import first_state, open_stage, open_test_desk
from service_tui.desk.commands.settings import Refresh, SetPreference, SetSpeed, SetStar
from service_tui.desk.slices.topics import Topic
from service_tui.storage.cache import CacheStore
from service_tui.storage.errors import StorageFullError
from service_tui.wire.endpoints.desk import SET_SPEED

pytestmark = pytest.mark.slow


async def test_the_world_takes_the_speed_that_was_set(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        desk.submit(SetSpeed(10))
        state = await until(desk, lambda s: s.world.speed == 10, stage)
        assert state.notices[-1].text == "World speed 10x"
        assert line.asked(SET_SPEED.path) >= 1
        desk.submit(SetSpeed(0))
        state = await until(desk, lambda s: s.world.speed == 0, stage)
        assert state.notices[-1].text == "World paused"


async def test_a_speed_that_is_none_is_refused_here(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        line.sent.clear()
        desk.submit(SetSpeed(7))
        state = await until(desk, lambda s: s.notices, stage)
        assert "0, 1, 10 or 60" in state.notices[-1].text
        assert all(one.method == "GET" for one in line.sent)


async def test_another_service_has_no_speed(tmp_path: Path) -> None:
    initial = first_state()
    away = replace(initial, service=replace(initial.service, embedded=False))
    async with open_stage(tmp_path) as stage, open_test_desk(stage, away) as desk:
        desk.submit(SetSpeed(10))
        state = await until(desk, lambda s: s.notices, stage)
        assert "only the simulated world" in state.notices[-1].text


async def test_a_speed_that_was_not_set_says_so(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        line.fault = lambda request: Fault.NO_LINE if request.method == "POST" else None
        desk.submit(SetSpeed(60))
        state = await until(desk, lambda s: s.notices, stage)
        assert state.notices[-1].tone == "bad"
        assert "World speed 60x: " in state.notices[-1].text
        assert state.world.speed == 0


async def test_stars_and_preferences_are_kept_at_once(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        for command in (
            SetStar("b", on=True),
            SetStar("a", on=True),
            SetStar("c", on=True),
            SetStar("c", on=False),
            SetPreference("theme", "paper"),
            SetPreference("theme", "night"),
            SetPreference("draft.m", "über; ' \" \x00"),
        ):
            await desk.submit(command).wait()
        assert desk.state.stars == {"a", "b"}
        assert desk.state.preferences["theme"] == "night"
        assert CacheStore(stage.database).preferences() == {
            "stars": "a,b",
            "theme": "night",
            "draft.m": "über; ' \" \x00",
        }


async def test_what_cannot_be_kept_holds_for_this_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        await desk.submit(SetPreference("draft", "half \ud800")).wait()

        async def refuse(*_: object) -> None:
            raise StorageFullError("the disk is full")

        monkeypatch.setattr(CacheStore, "put_preference", refuse)
        await desk.submit(SetPreference("theme", "night")).wait()
        assert desk.state.preferences == {"draft": "half \ud800", "theme": "night"}
        assert caplog.text.count("a preference was not kept") == 2
        monkeypatch.undo()
        assert CacheStore(stage.database).preferences() == {}
        await until(desk, lambda s: s.seen[Topic.MARKETS] >= stage.clock.now() - 1, stage)


async def test_a_refresh_asks_for_everything_now(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        await until(desk, lambda s: Topic.TRADES in s.seen, stage)
        line.sent.clear()
        desk.submit(Refresh())
        asked = [f"/api/sdk/{name}" for name in ("trades", "markets", "positions", "briefing")]
        await until(desk, lambda _: all(map(line.asked, asked)), stage, step_s=0.0)
