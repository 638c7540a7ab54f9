"""Stars, preferences and refreshes of a desk."""

from pathlib import Path

import pytest

from kit.desk.faults import at_work, until
from service_tui.desk.commands.settings import Refresh, SetPreference, SetStar
from service_tui.desk.slices.topics import Topic
from service_tui.storage.cache import CacheStore
from service_tui.storage.errors import StorageFullError

pytestmark = pytest.mark.slow


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
