"""The screens on top of each other: one is shown, the others keep their place and do nothing."""

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
        """The first screen; the others come when they are wanted."""
        yield self.front

    def visited(self, name: str) -> NumberedView | None:
        """The screen of this name, if it was ever shown."""
        screens = self.query_children(NumberedView)
        return next((screen for screen in screens if screen.name_in_keys == name), None)

    async def bring(self, screen: NumberedView) -> bool:
        """Put a screen in front, mounted if it was not yet.

        Returns:
            Whether it stands there in another size than it had when it was last in front.
        """
        if screen is self.front:
            return False
        self._sizes[self.front.name_in_keys] = self.front.size
        if screen.parent is None:
            # Mounted unseen, and awaited: only then its parts are there to be shown something.
            screen.display = False
            await self.mount(screen)
        self.front.leave()
        self.front.display = False
        self.front = screen
        screen.display = True
        return self._sizes.get(screen.name_in_keys, self.size) != self.size
