"""The cap of a day for calls that are paid; an empty line turns paying off."""

from collections.abc import Iterator
from typing import ClassVar, Final

from rich.text import Text
from textual.containers import Horizontal
from textual.widget import Widget

from service_tui.console.forms.form import Form
from service_tui.console.forms.monitor_draft import read_number
from service_tui.console.forms.order_draft import DraftError
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.console.widgets.words import Words
from service_tui.desk.commands.wallet import SetPay
from service_tui.units import ONE, Micros

CAP_MAX: Final = 100.0
"""ours: twenty thousand calls a day; more is a slip of the finger."""


class PayForm(Form[SetPay]):
    """Turns paying per call on, up to a cap a day, or off."""

    heading: ClassVar[str] = "Pay per call"

    def parts(self) -> Iterator[Widget]:
        """What it means, and the line."""
        yield Words(id="form-question")
        yield Horizontal(
            Words("USDC a day", classes="label"),
            PlainInput(
                placeholder="as 0.05; empty: off",
                compact=True,
                max_length=12,
                id="pay-cap",
                classes="number",
            ),
            classes="line",
        )
        yield Words(id="form-preview")

    def judged(self) -> SetPay | str:
        """The cap that stands there, or what is against it."""
        if not self.typed("pay-cap").strip():
            return SetPay(None)
        try:
            cap = read_number(self.typed("pay-cap"), "cap")
        except DraftError as refused:
            return str(refused)
        if not 0 < cap <= CAP_MAX:
            return f"cap: above 0, at most {CAP_MAX:,.0f}"
        return SetPay(Micros(round(cap * ONE)))

    def objection(self, result: SetPay) -> str:
        """Turning it on is asked once more."""
        return "this lets the desk pay after your yes: enter once more" if result.day_max else ""

    def preview(self, result: SetPay | None) -> None:
        """What it means."""
        words = Text(
            "After a 429 the service may offer a call for 0.005 USDC on a Base-type chain. With a "
            "cap, the offer is shown here and paid only after your yes, for exactly that price.",
        )
        self.query_one("#form-question", Words).tell(words)
        said = "" if result is None else result.in_words()
        self.query_one("#form-preview", Words).tell(Text(said, "muted"))
