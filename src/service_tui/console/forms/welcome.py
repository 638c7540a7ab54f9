"""The first page: what this is, that the money is virtual, and five keys to start."""

from typing import ClassVar, Final

from rich.text import Text
from textual import events
from textual.app import App
from textual.binding import Binding, BindingType

from service_tui.console.forms.page import Page
from service_tui.console.key_queue import KeyQueue
from service_tui.console.keys import cap, key_named, with_keys

_FIRST_KEYS: Final = (
    ("app.markets", "look at the markets; j and k move, {rows.filter} finds"),
    ("markets.buy", "buy in the market under the cursor"),
    ("app.portfolio", "see what you hold, {portfolio.sell} sells it"),
    ("app.attention", "see what needs you"),
    ("app.help", "every key, and what it does here"),
)


_ACTING: Final = (*(ident for ident, _ in _FIRST_KEYS), "app.palette")
"""Actions that the page names, whose keys close it and then work."""

_PACE: Final = ("app.pause", "app.slower", "app.faster")
"""Texts of the embedded world."""


class Welcome(Page):
    """One page; Enter begins, and so does each key that it names."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "close", "begin", show=False)]

    def __init__(self, *, is_embedded: bool) -> None:
        super().__init__("Welcome", "enter begins")
        self._is_embedded = is_embedded

    def on_key(self, event: events.Key) -> None:
        """Close for a key that the page names, which then performs its action."""
        queue: App[object] = self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
        acting = (*_ACTING, *(_PACE if self._is_embedded else ()))
        keys = {key for ident in acting for key in key_named(ident).keys}
        if event.key in keys and isinstance(queue, KeyQueue):
            event.stop()
            event.prevent_default()
            queue.give_again(event)
            self.dismiss(None)

    def text(self) -> Text:
        """What this is, and how to begin."""
        return _page(is_embedded=self._is_embedded)


_OWN: Final = (
    ("All money here is simulated.", "bold sim"),
    (
        " You start with 10,000 $SIM in a small world that lives on this machine: "
        "it needs no account, no network, and nothing can be lost but pride. "
        "It goes on while you are away, and tells you what happened.\n\n"
    ),
)
_REMOTE: Final = (
    "The markets, the money and the rules are those of the service that you have connected to. ",
    ("SIM", "bold sim"),
    " at the top means play money; orders for real money are marked ",
    ("LIVE", "bold live"),
    " and have a dialog of their own.\n\n",
)


def _page(*, is_embedded: bool) -> Text:
    page = Text.assemble(
        "This is a desk for prediction markets: questions that end in ",
        ("YES", "bold yes"),
        " or ",
        ("NO", "bold no"),
        ". A share of the side that wins pays 1, of the other 0; "
        "the price is what the market believes.\n\n",
        *(_OWN if is_embedded else _REMOTE),
    )
    for ident, does in _FIRST_KEYS:
        line = Text.assemble("   ", (cap(ident), "bold accent"), f"   {with_keys(does)}\n")
        page.append_text(line)
    pace = (
        (cap("app.pause"), "accent"),
        " pauses the world, ",
        (f"{cap('app.slower')} {cap('app.faster')}", "accent"),
        " change its speed, ",
    )
    page.append_text(
        Text.assemble(
            "\n",
            *(pace if is_embedded else ()),
            (cap("app.palette"), "accent"),
            " finds any market or command by name, ",
            (cap("app.out"), "accent"),
            " leaves. This page comes back with ",
            (cap("app.welcome"), "accent"),
            ".",
        )
    )
    return page
