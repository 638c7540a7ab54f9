"""What is done with a wallet's signals: ask, auto or off; `auto` with its caps shown."""

from typing import ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Static

from service_tui.console.keys import bindings_of, cap
from service_tui.console.theme import content
from service_tui.console.widgets.dialog import Dialog
from service_tui.desk.slices.reactor import Policy

POLICIES: Final = (
    (Policy.ASK, "you mirror or dismiss each signal before it expires"),
    (Policy.AUTO, "this desk mirrors each signal by itself"),
    (Policy.OFF, "its signals are skipped"),
)
"""In the order of their digits."""


class ChoosePolicy(Dialog[Policy | None]):
    """A digit, or a click, chooses; enter chooses nothing, and keys typed ahead neither.

    Args:
        whose: the wallet's name.
        now: what is done until now.
        auto: what `auto` authorises, with its caps.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("dialog"),
        Binding("left", "app.focus_previous", show=False),
        Binding("right", "app.focus_next", show=False),
        *(
            Binding(f"{place}", f"take({place - 1})", show=False)
            for place in range(1, len(POLICIES) + 1)
        ),
    ]
    AUTO_FOCUS = "#policy-stay"

    def __init__(self, whose: str, now: Policy, auto: Text) -> None:
        super().__init__()
        self._whose = whose
        self._now = now
        self._auto = auto

    def compose(self) -> ComposeResult:
        """What each policy means, what `auto` may spend, and a door to each."""
        with Vertical(id="frame", classes="dialog") as frame:
            frame.border_title = content(Text(f" Signals of {self._whose} "))
            frame.border_subtitle = content(Text(f" {cap('dialog.close')} leaves it as it is "))
            lines = [
                Text.assemble(
                    ("● " if policy is self._now else "○ ", "accent"),
                    (f"{policy.value:<6}", "bold" if policy is self._now else ""),
                    (says, "muted"),
                )
                for policy, says in POLICIES
            ]
            yield Static(content(Text("\n").join(lines)), markup=False, id="policy-lines")
            yield Static(content(self._auto), markup=False, id="policy-auto")
            with Horizontal(id="policy-doors"):
                for place, (policy, _) in enumerate(POLICIES, start=1):
                    door = Text(f"{place} {policy.value}")
                    yield Button(content(door), compact=True, id=f"policy-{policy.value}-door")
                yield Button(
                    content(Text(f"stay  {cap('dialog.close')}")), compact=True, id="policy-stay"
                )

    def on_mount(self) -> None:
        """Take digits in a moment, once the caps have been seen."""
        for door in self.query(Button):
            door.can_focus = door.id == "policy-stay"
        self.arm_soon()

    def action_take(self, place: int) -> None:
        """Choose a policy by its place."""
        if self.is_seen():
            self.dismiss(POLICIES[place][0])

    def action_close(self) -> None:
        """Leave it as it is."""
        self.dismiss(None)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        names = [f"policy-{policy.value}-door" for policy, _ in POLICIES]
        if event.button.id in names:
            self.action_take(names.index(event.button.id))
        else:
            self.action_close()
