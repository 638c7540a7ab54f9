"""A row of options, one of them selected."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from service_tui.console.widgets.text_block import TextBlock


class SegmentedControl(TextBlock, can_focus=True):
    """Options side by side; arrows and clicks request one. A dot marks the selected one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "step(-1)", "previous", show=False),
        Binding("right", "step(1)", "next", show=False),
    ]
    DEFAULT_CSS = "SegmentedControl { height: 1; width: auto; }"

    class Picked(Message):
        """The operator requested an option."""

        def __init__(self, choice: "SegmentedControl", index: int) -> None:
            super().__init__()
            self.choice = choice
            self.index = index

        @property
        def control(self) -> "SegmentedControl":
            """The row of the option."""
            return self.choice

    def __init__(self, *, id: str) -> None:  # noqa: A002 - the name is Textual's
        super().__init__(id=id)
        self._labels: tuple[str, ...] = ()
        self._selected: int | None = None
        self._strong: frozenset[int] = frozenset()

    def show(
        self, labels: tuple[str, ...], selected: int | None, strong: frozenset[int] = frozenset()
    ) -> None:
        """Show these options; `selected` None if none is selected."""
        self._labels, self._selected, self._strong = labels, selected, strong
        self.show_text(Content.assemble(*(self._styled(index) for index in range(len(labels)))))

    def action_step(self, by: int) -> None:
        """Request the neighbour, round and round."""
        if self._labels and self._selected is not None:
            self.post_message(self.Picked(self, (self._selected + by) % len(self._labels)))

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
        if self._selected is None:
            return f"{label}  ", "bold $foreground" if index in self._strong else ""
        is_selected = index == self._selected
        return (
            f"{'●' if is_selected else '○'} {label}   ",
            "bold $foreground" if is_selected else "",
        )
