"""The screens on top of each other: one is shown, the others keep their place and are idle."""

from textual.app import ComposeResult
from textual.containers import Container
from textual.geometry import Size

from service_tui.console.widgets.numbered_view import NumberedView


class Deck(Container):
    """Holds every screen visited so far; `front` is the one displayed."""

    BLANK = True

    def __init__(self, first: NumberedView) -> None:
        super().__init__(id="deck")
        self.front = first
        self._sizes: dict[str, Size] = {}

    def compose(self) -> ComposeResult:
        """The first screen; the others are added at their first visit."""
        yield self.front

    def visited(self, name: str) -> NumberedView | None:
        """The screen of this name, if it was ever shown."""
        screens = self.query_children(NumberedView)
        return next((screen for screen in screens if screen.name_in_keys == name), None)

    async def bring(self, screen: NumberedView) -> bool:
        """Bring a screen to the front, mounted if it was not yet.

        Returns:
            True if its size differs from that of its last display.
        """
        if screen is self.front:
            return False
        self._sizes[self.front.name_in_keys] = self.front.size
        if screen.parent is None:
            # Mounted unseen, and awaited: its parts can only be filled afterwards.
            screen.display = False
            await self.mount(screen)
        self.front.leave()
        self.front.display = False
        self.front = screen
        screen.display = True
        return self._sizes.get(screen.name_in_keys, self.size) != self.size

    async def drop(self, screen: NumberedView, instead: NumberedView) -> None:
        """Remove a screen that failed; nothing is asked of it. `instead` comes for it in front."""
        self._sizes.pop(screen.name_in_keys, None)
        if screen is self.front:
            screen.display = False
            if instead.parent is None:
                await self.mount(instead)
            self.front = instead
            instead.display = True
        if screen.parent is not None:
            await screen.remove()
