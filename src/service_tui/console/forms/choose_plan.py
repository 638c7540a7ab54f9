"""The plan of an agent: three buttons, and the content of each plan."""

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
from service_tui.terms import Plan

PLANS: Final = (
    (Plan.FREE, "50 buys/day, base rates, 10 imports/day, 1 agent"),
    (Plan.PRO, "500 buys/day, rates x3, 100 imports/day, 10 agents (default)"),
    (Plan.ELITE, "unlimited buys, rates x10, 250 imports/day, 20 agents"),
)
"""Source: spec, "Limits"."""


class ChoosePlan(Dialog[Plan | None]):
    """A digit, or a click, chooses; the present plan is marked."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("dialog"),
        Binding("left", "app.focus_previous", show=False),
        Binding("right", "app.focus_next", show=False),
        *(
            Binding(f"{place}", f"take({place - 1})", show=False)
            for place in range(1, len(PLANS) + 1)
        ),
    ]

    def __init__(self, name: str, now: Plan) -> None:
        super().__init__()
        self._name = name
        self._now = now

    def compose(self) -> ComposeResult:
        """The limits of each plan, and a button for each."""
        with Vertical(id="frame", classes="dialog") as frame:
            frame.border_title = content(Text(f" Plan of {self._name} "))
            frame.border_subtitle = content(Text(f" {cap('dialog.close')} keeps the plan "))
            lines = [
                Text.assemble(
                    ("● " if plan is self._now else "○ ", "accent"),
                    (f"{plan.value:<7}", "bold" if plan is self._now else ""),
                    (meaning, "muted"),
                )
                for plan, meaning in PLANS
            ]
            yield Static(content(Text("\n").join(lines)), markup=False, id="plan-lines")
            with Horizontal(id="plan-doors"):
                for place, (plan, _) in enumerate(PLANS, start=1):
                    door = Text(f"{place} {plan.value}")
                    yield Button(content(door), compact=True, id=f"plan-{plan.value}")

    def action_take(self, place: int) -> None:
        """Choose a plan by its place."""
        self.dismiss(PLANS[place][0])

    def action_close(self) -> None:
        """Keep the present plan."""
        self.dismiss(None)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss(Plan((event.button.id or "").removeprefix("plan-")))
