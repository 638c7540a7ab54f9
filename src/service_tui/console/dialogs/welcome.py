"""The first screen of all: what this is, that the money is virtual, and five keys to start.

Knows words. Must not know the desk.
Used by the app at the first run, and when the operator asks for it.
"""

from typing import ClassVar, Final

from rich.text import Text
from textual.binding import Binding, BindingType

from service_tui.console.dialogs.page import Page

_FIRST_KEYS: Final = (
    ("2", "look at the markets; j and k move, / finds"),
    ("b", "buy in the market under the cursor"),
    ("1", "see what you hold, x sells it"),
    ("0", "see what needs you"),
    ("?", "every key, and what it does here"),
)


class Welcome(Page):
    """One page; Enter begins."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "close", "begin", show=False)]

    def __init__(self) -> None:
        super().__init__("Welcome", "enter begins")

    def text(self) -> Text:
        """What this is, and how to begin."""
        return _page()


def _page() -> Text:
    page = Text.assemble(
        "This is a desk for prediction markets: questions that end in ",
        ("YES", "bold yes"),
        " or ",
        ("NO", "bold no"),
        ". A share of the side that wins pays 1, of the other 0; "
        "the price is what the market believes.\n\n",
        ("All money here is simulated.", "bold sim"),
        " You start with 10,000 $SIM in a small world that lives on this machine: "
        "it needs no account, no network, and nothing can be lost but pride. "
        "It goes on while you are away, and tells you what happened.\n\n",
    )
    for key, does in _FIRST_KEYS:
        page.append_text(Text.assemble(("   "), (key, "bold accent"), f"   {does}\n"))
    page.append_text(
        Text.assemble(
            "\n",
            ("p", "accent"),
            " pauses the world, ",
            ("< >", "accent"),
            " change its speed, ",
            (":", "accent"),
            " finds any market or command by name, ",
            ("q", "accent"),
            " leaves. This page comes back with ",
            ("F12", "accent"),
            ".",
        )
    )
    return page
