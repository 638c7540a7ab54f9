"""A row of options, one of them selected."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from service_tui.console.widgets.words import Words


class Choice(Words, can_focus=True):
    """Options side by side; arrows and clicks request one. A dot marks the selected one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "step(-1)", "previous", show=False),
        Binding("right", "step(1)", "next", show=False),
    ]
    DEFAULT_CSS = "Choice { height: 1; width: auto; }"

    class Picked(Message):
        """The operator requested an option."""

        def __init__(self, choice: "Choice", index: int) -> None:
            super().__init__()
            self.choice = choice
            self.index = index

        @property
        def control(self) -> "Choice":
            """The row of the option."""
            return self.choice

    def __init__(self, *, id: str) -> None:  # noqa: A002 - the name is Textual's
        super().__init__(id=id)
        self._labels: tuple[str, ...] = ()
        self._taken: int | None = None
        self._strong: frozenset[int] = frozenset()

    def show(
        self, labels: tuple[str, ...], taken: int | None, strong: frozenset[int] = frozenset()
    ) -> None:
        """Show these options; `selected` None if none is selected."""
        self._labels, self._taken, self._strong = labels, taken, strong
        self.tell(Content.assemble(*(self._styled(index) for index in range(len(labels)))))

    def action_step(self, by: int) -> None:
        """Request the neighbour, round and round."""
        if self._labels and self._taken is not None:
            self.post_message(self.Picked(self, (self._taken + by) % len(self._labels)))

    def on_click(self, event: events.Click) -> None:
        """Request the option under the pointer."""
        left = 0
        for index in range(len(self._labels)):
            left += len(self._styled(index)[0])
            if event.x < left:
                self.post_message(self.Picked(self, index))
                return

    def _styled(self, index: int) -> tuple[str, str]:
        label = self._labels[index]
        if self._taken is None:
            return f"{label}  ", "bold $foreground" if index in self._strong else ""
        is_taken = index == self._taken
        return f"{'●' if is_taken else '○'} {label}   ", "bold $foreground" if is_taken else ""
