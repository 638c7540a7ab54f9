"""The deck without an app: which screen is in front, and what happens to the one that was."""

from types import SimpleNamespace
from typing import Any

from textual.geometry import Size

from service_tui.console.widgets.deck import Deck

SMALL, LARGE = Size(80, 24), Size(120, 40)


class Shown:
    """A screen, and what became of it."""

    def __init__(self, name: str, did: list[str], *, is_mounted: bool = True) -> None:
        self.name_in_keys = name
        self.parent = object() if is_mounted else None
        self.size = SMALL
        self.display = True
        self._did = did

    def leave(self) -> None:
        self._did.append(f"left {self.name_in_keys}")


async def test_a_screen_is_mounted_unseen_before_the_other_is_left_for_it() -> None:
    did = list[str]()
    first, second = Shown("first", did), Shown("second", did, is_mounted=False)

    async def mount(screen: Shown) -> None:
        did.append(f"mounted {screen.name_in_keys}, {screen.display=}, {first.display=}")
        screen.parent = deck

    deck: Any = SimpleNamespace(front=first, _sizes={}, size=SMALL, mount=mount)

    async def bring(screen: Shown) -> bool:
        return await Deck.bring(deck, screen)  # type: ignore[arg-type]

    assert not await bring(first)
    assert did == []
    assert not await bring(second)
    assert did == ["mounted second, screen.display=False, first.display=True", "left first"]
    assert (deck.front, second.display, first.display) == (second, True, False)
    # It was last seen at another size than the deck has now.
    deck.size = LARGE
    did.clear()
    assert await bring(first)
    assert did == ["left second"]
    assert (deck.front, second.display, first.display) == (first, False, True)
