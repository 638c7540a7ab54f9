"""Every action of the console, once: id, keys, label, help. Bindings and help are made from it.

Knows Textual's Binding. Must not know a screen.
Used by the app, every screen and dialog (bindings_of), the footer and the help.
"""

from dataclasses import dataclass
from typing import Final

from textual.binding import Binding


@dataclass(frozen=True, slots=True)
class Key:
    """One action. `action` is Textual's action string; `ident` is what a user's key file names.

    `keys` are Textual key names, the first is the one shown as `shown`. `footer` marks the few
    that the footer offers. `group` is the place where it works: app, table, or a screen's name.
    """

    ident: str
    group: str
    keys: tuple[str, ...]
    action: str
    label: str
    tooltip: str = ""
    footer: bool = False
    shown: str = ""
    priority: bool = False


KEYS: Final[tuple[Key, ...]] = (
    # everywhere
    Key("app.attention", "app", ("0",), "go('attention')", "needs me", "What needs me now"),
    Key("app.portfolio", "app", ("1",), "go('portfolio')", "portfolio", "Positions, cash, P&L"),
    Key("app.markets", "app", ("2",), "go('markets')", "markets", "All markets"),
    Key("app.settings", "app", ("8",), "go('settings')", "settings", "Theme, world, limits"),
    Key("app.blotter", "app", ("9",), "go('blotter')", "blotter", "Every command and its end"),
    Key("app.last", "app", ("minus",), "last_screen", "last view", shown="-"),
    Key("app.back", "app", ("left_square_bracket",), "history(-1)", "history back", shown="["),
    Key("app.forward", "app", ("right_square_bracket",), "history(1)", "forward", shown="]"),
    Key("app.palette", "app", ("colon", "ctrl+p"), "command_palette", "command", shown=":"),
    Key("app.help", "app", ("question_mark",), "help", "help", footer=True, shown="?"),
    Key("app.refresh", "app", ("r",), "refresh_now", "refresh", "Ask the service now"),
    Key("app.pause", "app", ("p",), "pause_world", "pause", "Pause or run the offline world"),
    Key("app.slower", "app", ("less_than_sign",), "speed(-1)", "slower", shown="<"),
    Key("app.faster", "app", ("greater_than_sign",), "speed(1)", "faster", shown=">"),
    Key("app.privacy", "app", ("z",), "privacy", "privacy", "Mask amounts"),
    Key("app.theme", "app", ("f8",), "next_theme", "theme", "Next theme"),
    Key("app.log", "app", ("at",), "go('blotter')", "action log", shown="@"),
    Key("app.quit", "app", ("ctrl+q",), "quit", "quit", priority=True),
    Key("app.out", "app", ("q",), "back_out", "back out", "One level out; at the top, quit"),
    # what every table of rows offers
    Key("rows.filter", "rows", ("slash",), "filter", "find", footer=True, shown="/"),
    Key("rows.sort", "rows", ("s",), "sort_next", "sort", "Sort by the next column"),
    Key("rows.reverse", "rows", ("S",), "sort_reverse", "reverse", "Reverse the order"),
    Key("rows.copy", "rows", ("y",), "copy_cell", "copy", "Copy the cell"),
    Key("rows.copy_row", "rows", ("Y",), "copy_row", "copy row", "Copy the row as JSON"),
    Key("rows.explain", "rows", ("i",), "explain", "explain", "Formula, inputs, source, age"),
    # markets
    Key("markets.buy", "markets", ("b",), "buy", "buy", "Buy in the market", footer=True),
    Key("markets.exit", "markets", ("x",), "exit", "sell", "Sell what I hold", footer=True),
    Key("markets.star", "markets", ("asterisk",), "star", "star", shown="*", footer=True),
    Key("markets.category", "markets", ("c",), "next_category", "category", "Next category"),
    Key("markets.status", "markets", ("o",), "next_status", "status", "Open, closed, resolved"),
    Key("markets.until", "markets", ("t",), "next_until", "time left", "By time to resolution"),
    Key("markets.held", "markets", ("h",), "toggle_held", "held", "Only what I hold"),
    Key("markets.starred", "markets", ("w",), "toggle_starred", "starred", "Only starred"),
    Key("markets.range", "markets", ("v",), "next_range", "range", "Span of the chart"),
    # portfolio
    Key("portfolio.sell", "portfolio", ("x",), "exit", "sell", "Close or trim", footer=True),
    Key("portfolio.buy", "portfolio", ("b",), "buy", "buy more", footer=True),
    Key("portfolio.market", "portfolio", ("g",), "open_market", "market", "Show the market"),
    Key("portfolio.closed", "portfolio", ("o",), "toggle_closed", "closed", "Closed positions"),
)
"""The whole table. A key's meaning is the same on every screen where it stands."""


def bindings_of(group: str) -> list[Binding]:
    """Textual bindings of one place, with the ids that a user's key file can move."""
    return [
        Binding(
            ",".join(key.keys),
            key.action,
            key.label,
            show=key.footer,
            key_display=key.shown or None,
            priority=key.priority,
            tooltip=key.tooltip,
            id=key.ident,
        )
        for key in KEYS
        if key.group == group
    ]
