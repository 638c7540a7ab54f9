"""Every action of the console, once: id, keys, label, help. Bindings and help are made from it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from textual.binding import Binding
from textual.keys import key_to_character


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
    Key("app.monitors", "app", ("3",), "go('monitors')", "monitors", "Stops, alerts, exits"),
    Key("app.reactor", "app", ("4",), "go('reactor')", "reactor", "Watched wallets, signals"),
    Key("app.redemption", "app", ("5",), "go('redemption')", "redemption", "Winners to money"),
    Key("app.research", "app", ("6",), "go('research')", "autoresearch", "Experiments, backtests"),
    Key("app.agents", "app", ("7",), "go('agents')", "agents", "Every agent of this service"),
    Key("app.settings", "app", ("8",), "go('settings')", "settings", "Limits, risk, notices"),
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
    Key("app.wallet", "app", ("W",), "wallet", "wallet", "Key, link, approvals, real money"),
    Key("app.privacy", "app", ("z",), "privacy", "privacy", "Mask amounts"),
    Key("app.theme", "app", ("f8",), "next_theme", "theme", "Next theme"),
    Key("app.log", "app", ("at",), "go('log')", "action log", "All deeds, chained", shown="@"),
    Key("app.report", "app", ("f5",), "report", "report", "The day of each agent", shown="F5"),
    Key("app.approvals", "app", ("ampersand",), "approvals", "approve", "Trades that wait for you"),
    Key("app.themes", "app", ("f7",), "themes", "themes", "Choose one by name", shown="F7"),
    Key("app.welcome", "app", ("f12",), "welcome", "welcome", "The first page again"),
    Key(
        "app.suspend", "app", ("ctrl+z",), "suspend_process", "suspend", "To the shell; fg is back"
    ),
    Key(
        "app.toasts",
        "app",
        ("ctrl+l",),
        "clear_toasts",
        "clear notes",
        "Take away the notes in the corner",
        priority=True,
    ),
    Key("app.quit", "app", ("ctrl+q",), "quit", "quit", priority=True),
    Key("app.out", "app", ("q",), "back_out", "back out", "One level out; at the top, quit"),
    Key(
        "app.halt",
        "app",
        ("f9",),
        "halt",
        "halt",
        "Block every entry at once, from anywhere; then exits, and the way back",
        footer=True,
        priority=True,
    ),
    Key("app.halt_too", "app", ("exclamation_mark",), "halt", "halt", "The same", shown="!"),
    # what every table of rows offers
    Key("rows.filter", "rows", ("slash",), "filter", "find", footer=True, shown="/"),
    Key("rows.sort", "rows", ("s",), "sort_next", "sort", "Sort by the next column"),
    Key("rows.reverse", "rows", ("S",), "sort_reverse", "reverse", "Reverse the order"),
    Key("rows.copy", "rows", ("y",), "copy_cell", "copy", "Copy the cell"),
    Key("rows.copy_row", "rows", ("Y",), "copy_row", "copy row", "Copy the row as JSON"),
    Key("rows.explain", "rows", ("i",), "explain", "explain", "Formula, inputs, source, age"),
    Key("rows.out", "rows", ("escape",), "one_out", "one level out", "Detail, search, filters"),
    # markets
    Key("markets.buy", "markets", ("b",), "buy", "buy", "Buy in the market", footer=True),
    Key("markets.exit", "markets", ("x",), "exit", "sell", "Sell what I hold", footer=True),
    Key("markets.star", "markets", ("asterisk",), "star", "star", shown="*", footer=True),
    Key("markets.category", "markets", ("c",), "next_category", "category", "Next category"),
    Key("markets.status", "markets", ("o",), "next_status", "status", "Open, closed, resolved"),
    Key("markets.until", "markets", ("t",), "next_until", "time left", "By time to resolution"),
    Key("markets.held", "markets", ("h",), "toggle_held", "held", "Only what I hold"),
    Key("markets.starred", "markets", ("w",), "toggle_starred", "starred", "Only starred"),
    Key("markets.venue", "markets", ("V",), "next_venue", "venue", "On one venue, on sim alone"),
    Key("markets.range", "markets", ("v",), "next_range", "range", "Span of the chart"),
    Key("markets.alert", "markets", ("a",), "price_alert", "price alert", "Tell at a price"),
    # portfolio
    Key("portfolio.sell", "portfolio", ("x",), "exit", "sell", "Close or trim", footer=True),
    Key("portfolio.buy", "portfolio", ("b",), "buy", "buy more", footer=True),
    Key("portfolio.market", "portfolio", ("M",), "open_market", "market", "Show the market"),
    Key("portfolio.closed", "portfolio", ("o",), "toggle_closed", "closed", "Closed positions"),
    Key(
        "portfolio.monitor", "portfolio", ("m",), "monitor", "monitor", "Stop, target", footer=True
    ),
    Key("portfolio.alert", "portfolio", ("a",), "price_alert", "price alert", "Tell at a price"),
    Key("portfolio.why", "portfolio", ("Q",), "why", "why", "Why did it trade: signal to exit"),
    Key("portfolio.orders", "portfolio", ("O",), "open_orders", "open orders", "See, cancel"),
    # monitors
    Key("monitors.edit", "monitors", ("e", "m"), "edit", "edit", "Stop and target", footer=True),
    Key("monitors.all", "monitors", ("E",), "edit_all", "edit all", "All that are shown"),
    Key("monitors.mark", "monitors", ("space",), "mark", "mark", "Then e and d take the marked"),
    Key(
        "monitors.exit", "monitors", ("x",), "exit", "exit", "Sell; for an alert: now", footer=True
    ),
    Key("monitors.remove", "monitors", ("d",), "remove", "remove", "Guard no longer", footer=True),
    Key("monitors.undo", "monitors", ("u",), "undo", "undo", "What was set or removed last"),
    Key("monitors.alert", "monitors", ("a",), "price_alert", "price alert", "Tell at a price"),
    Key(
        "monitors.list", "monitors", ("o",), "next_list", "next list", "Alerts, exits", footer=True
    ),
    Key("monitors.market", "monitors", ("M",), "open_market", "market", "Show the market"),
    # the reactor
    Key("reactor.mirror", "reactor", ("f",), "mirror", "mirror", "Buy it too", footer=True),
    Key("reactor.mirror_all", "reactor", ("F",), "mirror_all", "mirror all", "Of this wallet"),
    Key("reactor.dismiss", "reactor", ("d",), "dismiss", "dismiss", "Or unfollow", footer=True),
    Key("reactor.list", "reactor", ("o",), "next_list", "next list", "Wallets", footer=True),
    Key("reactor.follow", "reactor", ("n",), "follow", "follow", "A wallet, known or typed"),
    Key("reactor.edit", "reactor", ("e",), "edit", "name", "Name its wallet"),
    Key("reactor.policy", "reactor", ("P",), "policy", "policy", "Ask, auto, off", footer=True),
    Key("reactor.mark", "reactor", ("space",), "mark", "mark", "Then f and d take the marked"),
    Key("reactor.config", "reactor", ("E",), "config", "configure", "Sizes, cap, venue, buffer"),
    Key("reactor.run", "reactor", ("H",), "run", "run", "Switch it on, or hold it", footer=True),
    Key("reactor.reset", "reactor", ("R",), "reset", "reset", "The open breaker", footer=True),
    Key("reactor.freeze", "reactor", ("p",), "freeze", "freeze", "Hold the feed as it stands"),
    Key("reactor.state", "reactor", ("c",), "next_state", "state", "Waiting, mirrored, skipped"),
    Key("reactor.wallet", "reactor", ("w",), "only_wallet", "this wallet", "Only its signals"),
    Key("reactor.market", "reactor", ("M",), "open_market", "market", "Show the market"),
    Key("reactor.undo", "reactor", ("u",), "undo", "undo", "What was changed here last"),
    # redemption
    Key(
        "redemption.redeem", "redemption", ("t",), "redeem", "redeem", "Shows it first", footer=True
    ),
    Key(
        "redemption.all",
        "redemption",
        ("T",),
        "redeem_all",
        "redeem all",
        "All that is ready",
        footer=True,
    ),
    Key("redemption.auto", "redemption", ("A",), "auto", "auto", "By itself, or not", footer=True),
    Key("redemption.abandon", "redemption", ("X",), "abandon", "abandon", "Its nonce never comes"),
    Key("redemption.market", "redemption", ("M",), "open_market", "market", "Show the market"),
    Key("redemption.hash", "redemption", ("h",), "copy_hash", "copy hash", "Of its transaction"),
    # the wallet
    Key("wallet.unlock", "wallet", ("U",), "unlock", "unlock, lock", "The key, by its passphrase"),
    Key("wallet.keep", "wallet", ("K",), "keep", "keep a key", "Import one, or make one"),
    Key("wallet.keys", "wallet", ("D",), "stored", "keys here", "Open another one, or remove one"),
    Key("wallet.link", "wallet", ("l",), "link", "link", "Trade with this wallet"),
    Key("wallet.approve", "wallet", ("A",), "approve", "approvals", "See and give them"),
    Key("wallet.credentials", "wallet", ("C",), "credentials", "credentials", "Of the venue"),
    Key("wallet.allow", "wallet", ("R",), "allow", "real trades", "Allow this agent real trades"),
    Key("wallet.live", "wallet", ("L",), "live", "real money", "On by a typed word; off at once"),
    Key("wallet.pay", "wallet", ("P",), "pay", "pay per call", "A cap a day, or off"),
    Key("wallet.code", "wallet", ("o",), "code", "QR code", "The address, for a camera"),
    Key(
        "wallet.copy", "wallet", ("y",), "copy_address", "copy address", "To send gas or USDC.e to"
    ),
    # the keys that lie here
    Key("stored.open", "stored_keys", ("enter",), "open", "unlock", "By its passphrase"),
    Key("stored.remove", "stored_keys", ("d",), "remove", "remove", "Deletes it for good"),
    # what needs me
    Key(
        "attention.open",
        "attention",
        ("enter",),
        "open",
        "do it",
        "What the row says",
        footer=True,
        shown="enter",
    ),
    Key("attention.dismiss", "attention", ("d",), "dismiss", "dismiss", "Not again", footer=True),
    Key("attention.undo", "attention", ("u",), "undo", "undo", "Back what was dismissed last"),
    # the blotter
    Key("blotter.market", "blotter", ("enter", "M"), "open_market", "market", "Show the market"),
    Key("blotter.trades", "blotter", ("o",), "toggle_open", "open only", "What has no end yet"),
    Key("blotter.why", "blotter", ("Q",), "why", "why", "Why did it trade: signal to exit"),
    Key("blotter.orders", "blotter", ("O",), "open_orders", "open orders", "See, cancel"),
    # open orders
    Key("orders.cancel", "open_orders", ("d",), "cancel", "cancel", "The order under the cursor"),
    Key("orders.all", "open_orders", ("D",), "cancel_all", "cancel all", "All that are listed"),
    Key("orders.market", "open_orders", ("M",), "open_market", "market", "Show the market"),
    # the action log
    Key("log.open", "log", ("enter",), "open", "whole entry", "With its hash", footer=True),
    Key("log.verify", "log", ("V",), "verify", "verify", "Follow the chain anew", footer=True),
    Key("log.who", "log", ("w",), "only_who", "this one", "Only what the same one did"),
    # agents
    Key("agents.open", "agents", ("enter",), "open", "details", "All about it", footer=True),
    Key(
        "agents.pause", "agents", ("H",), "pause", "pause", "Hold its buys, or resume", footer=True
    ),
    Key("agents.claim", "agents", ("C",), "claim", "claim", "Claim it from here"),
    Key("agents.code", "agents", ("O",), "code", "claim code", "For its claim page"),
    Key("agents.plan", "agents", ("P",), "plan", "plan", "Free, Pro or Elite"),
    Key("agents.new_plan", "agents", ("A",), "new_plan", "new agents", "Plan of those to come"),
    Key("agents.key", "agents", ("K",), "new_key", "new key", "The old one is dead at once"),
    Key("agents.suspend", "agents", ("B",), "suspend", "suspend", "Bar it, or let it in again"),
    Key("agents.retire", "agents", ("D",), "retire", "retire", "Give its slot back for good"),
    Key("agents.start", "agents", ("n",), "start_skill", "run a skill", "As an agent", footer=True),
    Key("agents.install", "agents", ("I",), "install_skill", "install", "A folder, an archive"),
    Key("agents.stop", "agents", ("T",), "stop_skill", "stop", "Its skills, in order"),
    Key("agents.again", "agents", ("R",), "restart_skill", "restart", "Its last skill"),
    Key("agents.detach", "agents", ("L",), "detach_skill", "detach", "Let it run without us"),
    Key("agents.leash", "agents", ("l",), "leash", "leash", "Observe, ask, auto", footer=True),
    Key("agents.budget", "agents", ("e",), "budget", "budget", "Of its skill, a day"),
    Key("agents.list", "agents", ("o",), "next_list", "next list", "It, or the trades of all"),
    Key("agents.pause_all", "agents", ("X",), "pause_all", "pause all", "Or let all buy again"),
    Key("agents.export", "agents", ("W",), "export", "export", "CSV, JSON and a day's summary"),
    # autoresearch
    Key(
        "research.diff",
        "research",
        ("enter", "D"),
        "show_diff",
        "diff",
        "Of its commit",
        footer=True,
    ),
    Key("research.backtest", "research", ("b",), "backtest", "backtest", "Or sweep", footer=True),
    Key("research.new", "research", ("n",), "new_session", "new session", footer=True),
    Key("research.next", "research", ("o",), "next_session", "next session", footer=True),
    Key("research.off", "research", ("d",), "end_session", "turn off", "Until a new session"),
    # settings
    Key("settings.edit", "settings", ("e", "enter"), "edit", "change", "Or turn", footer=True),
    Key("settings.undo", "settings", ("u",), "undo", "undo", "Bring the last change back"),
    # every dialog but the ticket
    Key("dialog.close", "dialog", ("escape", "q"), "close", "close", "One level out", shown="esc"),
    # forms of a few lines
    Key("form.set", "form", ("ctrl+j",), "set", "set", "Enter does it too"),
    Key("form.cancel", "form", ("escape",), "cancel", "cancel", "Sets nothing"),
    # the halt
    Key("halt.exit", "halt", ("x",), "exit_all", "exit all", "Sell every open position"),
    Key("halt.resume", "halt", ("R",), "resume", "resume", "Let entries pass again"),
    # the form of a waiting trade, and that of a skill
    Key("approval.refuse", "approval", ("f4",), "refuse", "refuse", "It asks for the reason"),
    Key(
        "approval.more",
        "approval",
        ("pagedown",),
        "read(1)",
        "read on",
        "What the agent says",
        shown="PgDn",
    ),
    Key(
        "approval.back",
        "approval",
        ("pageup",),
        "read(-1)",
        "read back",
        "What the agent says",
        shown="PgUp",
    ),
    Key("start.skill", "start_skill", ("f5",), "skill", "next skill", shown="F5"),
    Key("start.pace", "start_skill", ("f6",), "pace", "next pace", shown="F6"),
    Key("start.mode", "start_skill", ("f7",), "mode", "next leash", shown="F7"),
    # the form of a leash
    Key("leash.whose", "leash_form", ("f5",), "whose", "whose", "Its own, or a skill's"),
    Key("leash.mode", "leash_form", ("f7",), "mode", "next leash", shown="F7"),
    # the form of a price alert
    Key("alert.side", "price_alert", ("f5",), "side", "other side", "Of a price alert"),
    Key("alert.condition", "price_alert", ("f6",), "condition", "condition", "Of a price alert"),
    # the order ticket
    Key("ticket.preset1", "ticket", ("f1",), "preset(0)", "first preset", shown="F1"),
    Key("ticket.preset2", "ticket", ("f2",), "preset(1)", "second preset", shown="F2"),
    Key("ticket.preset3", "ticket", ("f3",), "preset(2)", "third preset", shown="F3"),
    Key("ticket.preset4", "ticket", ("f4",), "preset(3)", "the most", shown="F4"),
    Key("ticket.side", "ticket", ("f5",), "side('other')", "other side", shown="F5"),
    Key("ticket.turn", "ticket", ("f6",), "turn('other')", "buy or sell", shown="F6"),
    Key("ticket.venue", "ticket", ("f7",), "venue", "venue", "sim, or a real one", shown="F7"),
    Key("ticket.kind", "ticket", ("f8",), "kind", "now, rest", "Now, or at a limit", shown="F8"),
    Key("ticket.yes", "ticket", ("y",), "side('yes')", "YES", "Not while typing"),
    Key("ticket.no", "ticket", ("n",), "side('no')", "NO", "Not while typing"),
    Key("ticket.buy", "ticket", ("b",), "turn('buy')", "buy", "Not while typing"),
    Key("ticket.sell", "ticket", ("x",), "turn('sell')", "sell", "Not while typing"),
    Key("ticket.place", "ticket", ("ctrl+j",), "place", "place", "Enter does it too"),
    Key("ticket.cancel", "ticket", ("escape",), "cancel", "cancel", "Places nothing"),
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


_in_use: dict[str, Key] = {key.ident: key for key in KEYS}
"""The table as this console uses it: one process has one console."""


def move_keys(moved: Mapping[str, tuple[str, ...]]) -> None:
    """Lay actions on a person's own keys, wherever keys are shown; all others as in the table."""
    for key in KEYS:
        own = moved.get(key.ident)
        _in_use[key.ident] = key if own is None else replace(key, keys=own, shown="")


def keys_of(group: str) -> tuple[Key, ...]:
    """The actions of one place, in the order of the table, with the keys in use."""
    return tuple(key for key in _in_use.values() if key.group == group)


def key_named(ident: str) -> Key:
    """The action with this id, which must be in the table, with the keys in use."""
    return _in_use[ident]


def cap(ident: str) -> str:
    """The first key in use of the action with this id, as a person reads it on the key cap."""
    return shown_key(_in_use[ident])


_PLACEHOLDER: Final = re.compile(r"\{([a-z_]+\.[a-z0-9_]+)\}")


def with_keys(sentence: str) -> str:
    """The sentence with the keys in use in the place of ids: `{rows.filter} finds one`."""
    return _PLACEHOLDER.sub(
        lambda found: cap(found[1]) if found[1] in _in_use else found[0], sentence
    )


_SHOWN: Final = {
    "escape": "esc",
    "question_mark": "?",
    "slash": "/",
    "colon": ":",
    "at": "@",
    "ampersand": "&",
    "asterisk": "*",
    "minus": "-",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "plus": "+",
}


def shown_key(key: Key) -> str:
    """The first key of an action as a person reads it on the key cap."""
    return key.shown or readable(key.keys[0])


def readable(name: str) -> str:
    """One of Textual's names of keys as a person reads it on the key cap."""
    if name[:1] == "f" and name[1:].isdecimal():
        return name.upper()
    *modifiers, base = name.split("+")
    letter = key_to_character(base) if base not in _SHOWN and base != "space" else None
    if letter is None or not letter.isprintable():
        letter = _SHOWN.get(base, base)
    return "+".join([*modifiers, letter])


_ALIASES: Final = {"esc": "escape", "return": "enter", "del": "delete", "pgup": "pageup"} | {
    "pgdn": "pagedown"
}


def key_name(text: str) -> str:
    """Textual's name of a key that a person wrote: `?`, `F5`, `Ctrl+B`, `shift+b`, `esc`."""
    *modifiers, base = text.strip().split("+") if len(text) > 1 else [text]
    held = [modifier.strip().lower() for modifier in modifiers]
    base = base.strip() or "plus"
    if len(base) == 1:
        if held == ["shift"] and base.isalpha():
            return base.upper()
        named = base.lower() if held else base
        base = next((name for name, shown in _SHOWN.items() if shown == named), _character(named))
    else:
        base = _ALIASES.get(base.lower(), base.lower())
    return "+".join([*held, base])


def _character(letter: str) -> str:
    """Textual's name of the key that types a letter."""
    if letter == ",":
        return "comma"
    return next(binding.key for binding in Binding.make_bindings([Binding(letter, "")]))


def action_name(action: str) -> str:
    """The name of an action without its arguments."""
    return action.partition("(")[0]
