"""The first page: what this is, in three sentences, and the keys to start with."""

from typing import ClassVar, Final

from rich.text import Text
from textual import events
from textual.app import App
from textual.binding import Binding, BindingType

from service_tui.console.forms.page import Page
from service_tui.console.key_queue import KeyQueue
from service_tui.console.keys import cap, key_named, with_keys

_FIRST_KEYS: Final = (
    ("app.agents", "watch the agents: what they hold, and why"),
    ("app.approvals", "answer a request: allow, resize or refuse it"),
    ("app.markets", "trade yourself: choose a market, {markets.buy} buys"),
    ("app.halt", "stop every agent at once"),
    ("app.attention", "what needs you now"),
    ("app.help", "all keys of the screen"),
)


_ACTING: Final = (
    *(ident for ident, _ in _FIRST_KEYS),
    *("markets.buy", "app.portfolio", "app.palette", "app.command"),
)
"""Actions that the page names, whose keys close it and then work."""

_PACE: Final = ("app.pause", "app.slower", "app.faster")
"""Texts of the embedded world."""


class Welcome(Page):
    """One page; Enter begins, and so does each key that it names."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "close", "begin", show=False)]

    def __init__(
        self, *, is_embedded: bool, has_demo: bool, is_recorded: bool | None = False
    ) -> None:
        """Make the page; `is_recorded` is None until the world has told what it runs on."""
        super().__init__("Welcome", "enter begins")
        self._is_embedded = is_embedded
        self._is_recorded = is_recorded
        self._has_demo = has_demo

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
        return _page(
            _WORLD[self._is_recorded], is_embedded=self._is_embedded, has_demo=self._has_demo
        )


_WORLD: Final = {None: "a world", False: "an invented world", True: "a history of real questions"}
_AT_WORK: Final = (
    "Three demo agents are at work in {world} on this machine, with play money and small "
    "budgets; one of them asks you before each buy. "
)
_NO_AGENT: Final = (
    "This is {world} on this machine with play money, and it has no agent yet: "
    "{agents.start} on {app.agents} runs a skill as one. "
)
_REMOTE: Final = "Agents, markets and rules are those of the connected service. "
_MEANING: Final = (
    "The price of a question is its probability: a share that wins pays 1, one that loses 0."
)


def _page(world: str, *, is_embedded: bool, has_demo: bool) -> Text:
    own = (_AT_WORK if has_demo else _NO_AGENT).replace("{world}", world)
    page = Text.assemble(
        ("Agents trade prediction markets; you watch, allow and stop them. ", "bold"),
        with_keys(own) if is_embedded else _REMOTE,
        _MEANING,
        "\n\n",
    )
    for ident, does in _FIRST_KEYS:
        line = Text.assemble("   ", (cap(ident), "bold accent"), f"   {with_keys(does)}\n")
        page.append_text(line)
    if not is_embedded:
        page.append_text(
            Text.assemble(
                "\n",
                ("SIM", "bold sim"),
                " at the top means play money; real-money orders are marked ",
                ("LIVE", "bold live"),
                " and need a separate confirmation.\n",
            )
        )
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
