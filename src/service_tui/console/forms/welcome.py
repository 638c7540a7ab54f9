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
    ("app.markets", "browse markets; j and k move, {rows.filter} filters"),
    ("markets.buy", "buy in the selected market"),
    ("app.portfolio", "your positions; {portfolio.sell} sells"),
    ("app.attention", "what needs you now"),
    ("app.help", "all keys of the screen"),
)


_ACTING: Final = (*(ident for ident, _ in _FIRST_KEYS), "app.palette", "app.command")
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
        " You start with 10,000 $SIM in a simulated world on this machine: "
        "no account, no network, no real money. "
        "The world continues while you are away; {app.attention} shows a summary.\n\n"
    ),
)
_REMOTE: Final = (
    "Markets, balances and rules come from the connected service. ",
    ("SIM", "bold sim"),
    " at the top means play money; real-money orders are marked ",
    ("LIVE", "bold live"),
    " and need a separate confirmation.\n\n",
)


def _page(*, is_embedded: bool) -> Text:
    page = Text.assemble(
        "A desk for prediction markets: questions that resolve ",
        ("YES", "bold yes"),
        " or ",
        ("NO", "bold no"),
        ". A winning share pays 1, a losing share 0; the price is the market's probability.\n\n",
        *((_OWN[0], with_keys(_OWN[1])) if is_embedded else _REMOTE),
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
            " finds any market or action, ",
            (cap("app.command"), "accent"),
            " takes a command, ",
            (cap("app.out"), "accent"),
            " quits. Reopen this page with ",
            (cap("app.welcome"), "accent"),
            ".",
        )
    )
    return page
