"""The height of a text block when its text changes."""

import pytest
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll

from service_tui.console.widgets import text_block
from service_tui.console.widgets.text_block import TextBlock


class Block(App[None]):
    def __init__(self, *, keeps_room: bool) -> None:
        super().__init__()
        self.block = TextBlock("one", keeps_room=keeps_room)

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield self.block


def lines(count: int) -> str:
    return "\n".join(str(number) for number in range(count))


@pytest.mark.parametrize("keeps_room", [False, True])
async def test_a_text_that_needs_more_room_gets_it(*, keeps_room: bool) -> None:
    async with Block(keeps_room=keeps_room).run_test() as pilot:
        block = pilot.app.query_one(TextBlock)
        for count in (3, 7):
            block.show_text(lines(count))
            await pilot.pause()
            assert block.size.height == count


async def test_a_shorter_text_gives_room_back_at_once() -> None:
    async with Block(keeps_room=False).run_test() as pilot:
        block = pilot.app.query_one(TextBlock)
        for count in (7, 3):
            block.show_text(lines(count))
            await pilot.pause()
        assert block.size.height == 3


async def test_a_block_that_keeps_its_room_gives_it_back_once_it_rests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with Block(keeps_room=True).run_test() as pilot:
        block = pilot.app.query_one(TextBlock)
        monkeypatch.setattr(text_block, "REST_S", 3_600.0)
        # The first text told is laid out: until then no width is known to keep.
        for count in (2, 7, 3):
            block.show_text(lines(count))
            await pilot.pause()
        assert block.size.height == 7
        monkeypatch.setattr(text_block, "REST_S", 0.001)
        block.show_text(lines(4))
        for _ in range(1_000):
            if block.region.height == 4:
                break
            await pilot.pause()
        assert block.region.height == 4
