"""After a resize each screen is painted once, in its final layout."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual.app import App

from kit.console.doors import Running, running
from kit.console.painted import strips_of
from kit.console.painting import each_frame
from service_tui.console.shell import frame

pytestmark = pytest.mark.slow

SIZES = ((160, 50), (80, 24), (120, 40))


class Frames(list[str]):
    """The painted frames as texts, without repetitions."""

    def take(self, app: App[Any]) -> None:
        strips = strips_of(app.screen)
        text = "\n".join(strip.text.rstrip() for strip in strips)
        if self[-1:] != [text]:
            self.append(text)


@asynccontextmanager
async def filmed(
    monkeypatch: pytest.MonkeyPatch, first: str
) -> AsyncIterator[tuple[Running, Frames]]:
    frames, paint = Frames(), App._display

    def painted(app: App[Any], *what: Any) -> None:
        paint(app, *what)
        frames.take(app)

    # On a slow machine, too, only the end of an arrangement is painted.
    monkeypatch.setattr(frame, "ARRANGED_S", 60.0)

    with each_frame():
        async with running(first=first, size=SIZES[-1]) as seen:
            await seen.pilot.pause(0.5)
            monkeypatch.setattr(App, "_display", painted)
            yield seen, frames


def differing(frames: Frames) -> list[int]:
    """For each frame before the last: how many of its lines differ from the last."""
    last = frames[-1].split("\n")
    return [
        sum(one != other for one, other in zip(each.split("\n"), last, strict=False))
        for each in frames[:-1]
    ]


@pytest.mark.parametrize("screen", ["portfolio", "markets", "agents"])
async def test_a_resize_paints_only_the_final_layout(
    monkeypatch: pytest.MonkeyPatch, screen: str
) -> None:
    async with filmed(monkeypatch, screen) as (seen, frames):
        for size in SIZES:
            frames.clear()
            await seen.pilot.resize_terminal(*size)
            await seen.pilot.pause(0.5)
            assert differing(frames) == []


async def test_a_screen_resized_while_hidden_paints_once_when_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys = "127"
    async with filmed(monkeypatch, "attention") as (seen, frames):
        for key in keys:
            await seen.press(key)
            await seen.pilot.pause(0.5)
        for place, key in enumerate(keys):
            await seen.press("0")
            await seen.pilot.resize_terminal(*SIZES[place % len(SIZES)])
            await seen.pilot.pause(0.5)
            frames.clear()
            await seen.press(key)
            await seen.pilot.pause(0.5)
            # The position of a scrollbar may still follow.
            assert all(lines <= 1 for lines in differing(frames)), (key, differing(frames))


async def test_a_screen_shown_again_paints_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with filmed(monkeypatch, "blotter") as (seen, frames):
        await seen.press("0")
        await seen.pilot.pause(0.5)
        frames.clear()
        await seen.press("9")
        await seen.pilot.pause(0.5)
        assert differing(frames) == []


async def test_a_window_that_keeps_changing_size_is_still_painted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with filmed(monkeypatch, "markets") as (seen, frames):
        frames.clear()
        monkeypatch.setattr(frame, "ARRANGED_S", 0.05)
        for width in range(100, 140, 5):
            await seen.pilot.resize_terminal(width, 40)
        assert frames
