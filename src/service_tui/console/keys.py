"""Every action of the console, once: id, keys, label, help. Bindings and help are made from it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from textual.binding import Binding
from textual.keys import key_to_character


@dataclass(frozen=True, slots=True)
class KeyBinding:
    """One action. `action` is Textual's action string; a user's key file uses `ident`.

    `keys` are Textual key names, the first is displayed as `shown`. `footer` marks the few
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


def _performed(
    ident: str,
    keys: tuple[str, ...],
    label: str,
    tooltip: str = "",
    *,
    footer: bool = False,
    shown: str = "",
) -> KeyBinding:
    """An action performed by the `actions.py` of its screen; the id begins with the screen."""
    group = ident.partition(".")[0]
    return KeyBinding(ident, group, keys, f"perform('{ident}')", label, tooltip, footer, shown)


KEYS: Final[tuple[KeyBinding, ...]] = (
    # everywhere
    KeyBinding("app.attention", "app", ("0",), "go('attention')", "needs me", "What needs me now"),
    KeyBinding(
        "app.portfolio", "app", ("1",), "go('portfolio')", "portfolio", "Positions, cash, P&L"
    ),
    KeyBinding("app.markets", "app", ("2",), "go('markets')", "markets", "All markets"),
    KeyBinding("app.monitors", "app", ("3",), "go('monitors')", "monitors", "Stops, alerts, exits"),
    KeyBinding(
        "app.reactor", "app", ("4",), "go('reactor')", "reactor", "Watched wallets, signals"
    ),
    KeyBinding(
        "app.redemption", "app", ("5",), "go('redemption')", "redemption", "Winners to money"
    ),
    KeyBinding(
        "app.research", "app", ("6",), "go('research')", "autoresearch", "Experiments, backtests"
    ),
    KeyBinding(
        "app.agents", "app", ("7",), "go('agents')", "agents", "Every agent of this service"
    ),
    KeyBinding(
        "app.settings", "app", ("8",), "go('settings')", "settings", "Limits, risk, notices"
    ),
    KeyBinding("app.blotter", "app", ("9",), "go('blotter')", "orders", "Orders and fills"),
    KeyBinding("app.last", "app", ("minus",), "last_screen", "last view", shown="-"),
    KeyBinding(
        "app.back", "app", ("left_square_bracket",), "history(-1)", "history back", shown="["
    ),
    KeyBinding("app.forward", "app", ("right_square_bracket",), "history(1)", "forward", shown="]"),
    KeyBinding("app.palette", "app", ("colon", "ctrl+p"), "command_palette", "command", shown=":"),
    KeyBinding("app.help", "app", ("question_mark",), "help", "help", footer=True, shown="?"),
    KeyBinding("app.refresh", "app", ("r",), "refresh_now", "refresh", "Ask the service now"),
    KeyBinding(
        "app.pause", "app", ("p",), "pause_world", "pause", "Pause or run the offline world"
    ),
    KeyBinding("app.slower", "app", ("less_than_sign",), "speed(-1)", "slower", shown="<"),
    KeyBinding("app.faster", "app", ("greater_than_sign",), "speed(1)", "faster", shown=">"),
    KeyBinding("app.wallet", "app", ("W",), "wallet", "wallet", "Key, link, approvals, real money"),
    KeyBinding("app.privacy", "app", ("z",), "privacy", "privacy", "Mask amounts"),
    KeyBinding("app.theme", "app", ("f8",), "next_theme", "theme", "Next theme"),
    KeyBinding(
        "app.log", "app", ("at",), "go('log')", "action log", "All deeds, chained", shown="@"
    ),
    KeyBinding(
        "app.report", "app", ("f5",), "report", "report", "The day of each agent", shown="F5"
    ),
    KeyBinding(
        "app.approvals", "app", ("ampersand",), "approvals", "approve", "Trades that wait for you"
    ),
    KeyBinding("app.themes", "app", ("f7",), "themes", "themes", "Choose one by name", shown="F7"),
    KeyBinding("app.welcome", "app", ("f12",), "welcome", "welcome", "The first page again"),
    KeyBinding(
        "app.suspend", "app", ("ctrl+z",), "suspend_process", "suspend", "To the shell; fg is back"
    ),
    KeyBinding(
        "app.toasts",
        "app",
        ("ctrl+l",),
        "clear_toasts",
        "clear notes",
        "Take away the notes in the corner",
        priority=True,
    ),
    KeyBinding("app.quit", "app", ("ctrl+q",), "quit", "quit", priority=True),
    KeyBinding("app.out", "app", ("q",), "back_out", "back out", "One level out; at the top, quit"),
    KeyBinding(
        "app.halt",
        "app",
        ("f9",),
        "halt",
        "halt",
        "Block every entry at once, from anywhere; then exits, and the way back",
        footer=True,
        priority=True,
    ),
    KeyBinding("app.halt_too", "app", ("exclamation_mark",), "halt", "halt", "The same", shown="!"),
    # every table of rows
    KeyBinding("rows.filter", "rows", ("slash",), "filter", "find", footer=True, shown="/"),
    KeyBinding("rows.sort", "rows", ("s",), "sort_next", "sort", "Sort by the next column"),
    KeyBinding("rows.reverse", "rows", ("S",), "sort_reverse", "reverse", "Reverse the order"),
    KeyBinding("rows.copy", "rows", ("y",), "copy_cell", "copy", "Copy the cell"),
    KeyBinding("rows.copy_row", "rows", ("Y",), "copy_row", "copy row", "Copy the row as JSON"),
    KeyBinding(
        "rows.explain", "rows", ("i",), "explain", "explain", "Formula, inputs, source, age"
    ),
    KeyBinding(
        "rows.wide",
        "rows",
        ("vertical_line",),
        "wide",
        "wide list",
        "Give the room of the detail to the list",
        shown="|",
    ),
    KeyBinding(
        "rows.out", "rows", ("escape",), "one_out", "one level out", "Detail, search, filters"
    ),
    # markets
    _performed("markets.buy", ("b",), "buy", "Buy in the market", footer=True),
    _performed("markets.exit", ("x",), "sell", "Sell what I hold", footer=True),
    _performed("markets.star", ("asterisk",), "star", shown="*", footer=True),
    _performed("markets.category", ("c",), "category", "Next category"),
    _performed("markets.status", ("o",), "status", "Open, closed, resolved"),
    _performed("markets.until", ("t",), "time left", "By time to resolution"),
    _performed("markets.held", ("h",), "held", "Only what I hold"),
    _performed("markets.starred", ("w",), "starred", "Only starred"),
    _performed("markets.venue", ("V",), "venue", "On one venue, on sim alone"),
    _performed("markets.range", ("v",), "range", "Span of the chart"),
    _performed("markets.alert", ("a",), "price alert", "Tell at a price"),
    # portfolio
    _performed("portfolio.sell", ("x",), "sell", "Close or trim", footer=True),
    _performed("portfolio.buy", ("b",), "buy more", footer=True),
    _performed("portfolio.market", ("M",), "market", "Show the market"),
    _performed("portfolio.list", ("o",), "next list", "Positions, orders, closed", footer=True),
    _performed("portfolio.monitor", ("m",), "monitor", "Stop, target", footer=True),
    _performed("portfolio.alert", ("a",), "price alert", "Tell at a price"),
    _performed("portfolio.why", ("Q",), "why", "Why did it trade: signal to exit"),
    _performed("portfolio.orders", ("O",), "open orders", "Amend, cancel"),
    _performed("portfolio.amend", ("e",), "amend", "Price and size of an open order"),
    _performed("portfolio.cancel", ("d",), "cancel order", "The highlighted order"),
    _performed("portfolio.cancel_all", ("D",), "cancel all", "All orders listed"),
    # monitors
    _performed("monitors.edit", ("e", "m"), "edit", "Stop and target", footer=True),
    _performed("monitors.all", ("E",), "edit all", "All that are shown"),
    _performed(
        "monitors.mark",
        ("space",),
        "mark",
        "Then {monitors.edit} and {monitors.remove} take the marked",
    ),
    _performed("monitors.exit", ("x",), "exit", "Sell; for an alert: now", footer=True),
    _performed("monitors.remove", ("d",), "remove", "Guard no longer", footer=True),
    _performed("monitors.undo", ("u",), "undo", "What was set or removed last"),
    _performed("monitors.alert", ("a",), "price alert", "Tell at a price"),
    _performed("monitors.list", ("o",), "next list", "Alerts, exits", footer=True),
    _performed("monitors.market", ("M",), "market", "Show the market"),
    # the reactor
    _performed("reactor.mirror", ("f",), "mirror", "Buy it too", footer=True),
    _performed("reactor.mirror_all", ("F",), "mirror all", "Of this wallet"),
    _performed("reactor.dismiss", ("d",), "dismiss", "Or unfollow", footer=True),
    _performed("reactor.list", ("o",), "next list", "Wallets", footer=True),
    _performed("reactor.follow", ("n",), "follow", "A wallet, known or typed"),
    _performed("reactor.edit", ("e",), "name", "Name its wallet"),
    _performed("reactor.policy", ("P",), "policy", "Ask, auto, off", footer=True),
    _performed(
        "reactor.mark",
        ("space",),
        "mark",
        "Then {reactor.mirror} and {reactor.dismiss} take the marked",
    ),
    _performed("reactor.config", ("E",), "configure", "Sizes, cap, venue, buffer"),
    _performed("reactor.run", ("H",), "run", "Switch it on, or hold it", footer=True),
    _performed("reactor.reset", ("R",), "reset", "The open breaker", footer=True),
    _performed("reactor.freeze", ("p",), "freeze", "Hold the feed as it stands"),
    _performed("reactor.state", ("c",), "state", "Waiting, mirrored, skipped"),
    _performed("reactor.wallet", ("w",), "this wallet", "Only its signals"),
    _performed("reactor.market", ("M",), "market", "Show the market"),
    _performed("reactor.undo", ("u",), "undo", "What was changed here last"),
    # redemption
    _performed("redemption.redeem", ("t",), "redeem", "Shows it first", footer=True),
    _performed("redemption.all", ("T",), "redeem all", "All that is ready", footer=True),
    _performed("redemption.auto", ("A",), "auto", "By itself, or not", footer=True),
    _performed("redemption.abandon", ("X",), "abandon", "Its nonce never comes"),
    _performed("redemption.market", ("M",), "market", "Show the market"),
    _performed("redemption.hash", ("h",), "copy hash", "Of its transaction"),
    # the wallet
    _performed("wallet.unlock", ("U",), "unlock, lock", "The key, by its passphrase"),
    _performed("wallet.keep", ("K",), "keep a key", "Import one, or make one"),
    _performed("wallet.keys", ("D",), "keys here", "Open another one, or remove one"),
    _performed("wallet.link", ("l",), "link", "Trade with this wallet"),
    _performed("wallet.approve", ("A",), "approvals", "See and give them"),
    _performed("wallet.credentials", ("C",), "credentials", "Of the venue"),
    _performed("wallet.allow", ("R",), "real trades", "Allow this agent real trades"),
    _performed("wallet.live", ("L",), "real money", "On by a typed word; off at once"),
    _performed("wallet.pay", ("P",), "pay per call", "A cap a day, or off"),
    _performed("wallet.code", ("o",), "QR code", "The address, for a camera"),
    _performed("wallet.copy", ("y",), "copy address", "To send gas or USDC.e to"),
    # the stored keys
    KeyBinding("stored.open", "stored_keys", ("enter",), "open", "unlock", "By its passphrase"),
    KeyBinding("stored.remove", "stored_keys", ("d",), "remove", "remove", "Deletes it for good"),
    # the needs
    _performed(
        "attention.open", ("enter",), "do it", "What the row says", footer=True, shown="enter"
    ),
    _performed("attention.dismiss", ("d",), "dismiss", "Not again", footer=True),
    _performed("attention.undo", ("u",), "undo", "Back what was dismissed last"),
    # the blotter
    _performed("blotter.market", ("enter", "M"), "market", "Show the market"),
    _performed("blotter.list", ("o",), "next list", "Orders, fills", footer=True),
    _performed("blotter.trades", ("w",), "working", "Only orders without a result"),
    _performed("blotter.why", ("Q",), "why", "Why did it trade: signal to exit"),
    _performed("blotter.orders", ("O",), "open orders", "See, cancel"),
    _performed("blotter.export", ("ctrl+s",), "export", "CSV, JSON and a day's summary"),
    # the action log
    _performed("log.open", ("enter",), "whole entry", "With its hash", footer=True),
    _performed("log.verify", ("V",), "verify", "Follow the chain anew", footer=True),
    _performed("log.who", ("w",), "this one", "Only what the same one did"),
    # agents
    _performed("agents.open", ("enter",), "details", "All about it", footer=True),
    _performed("agents.pause", ("H",), "pause", "Hold its buys, or resume", footer=True),
    _performed("agents.claim", ("C",), "claim", "Claim it from here"),
    _performed("agents.code", ("O",), "claim code", "For its claim page"),
    _performed("agents.plan", ("P",), "plan", "Free, Pro or Elite"),
    _performed("agents.new_plan", ("A",), "new agents", "Plan of those to come"),
    _performed("agents.key", ("K",), "new key", "The old one is dead at once"),
    _performed("agents.suspend", ("B",), "suspend", "Bar it, or let it in again"),
    _performed("agents.retire", ("D",), "retire", "Give its slot back for good"),
    _performed("agents.start", ("n",), "run a skill", "As an agent", footer=True),
    _performed("agents.install", ("I",), "install", "A folder, an archive"),
    _performed("agents.stop", ("T",), "stop", "Its skills, in order"),
    _performed("agents.again", ("R",), "restart", "Its last skill"),
    _performed("agents.detach", ("L",), "detach", "Let it run without us"),
    _performed("agents.leash", ("l",), "leash", "Observe, ask, auto", footer=True),
    _performed("agents.budget", ("e",), "budget", "Of its skill, a day"),
    _performed("agents.list", ("o",), "next list", "It, or the trades of all"),
    _performed("agents.pause_all", ("X",), "pause all", "Or let all buy again"),
    _performed("agents.export", ("ctrl+s",), "export", "CSV, JSON and a day's summary"),
    # autoresearch
    _performed("research.diff", ("enter", "D"), "diff", "Of its commit", footer=True),
    _performed("research.backtest", ("b",), "backtest", "Or sweep", footer=True),
    _performed("research.new", ("n",), "new session", footer=True),
    _performed("research.next", ("o",), "next session", footer=True),
    _performed("research.off", ("d",), "turn off", "Until a new session"),
    # settings
    _performed("settings.edit", ("e", "enter"), "change", "Or turn", footer=True),
    _performed("settings.undo", ("u",), "undo", "Bring the last change back"),
    # every dialog but the ticket
    KeyBinding(
        "dialog.close", "dialog", ("escape", "q"), "close", "close", "One level out", shown="esc"
    ),
    # forms of a few lines
    KeyBinding("form.set", "form", ("ctrl+j",), "set", "set", "Enter does it too"),
    KeyBinding("form.cancel", "form", ("escape",), "cancel", "cancel", "Sets nothing"),
    # the halt
    KeyBinding("halt.exit", "halt", ("x",), "exit_all", "exit all", "Sell every open position"),
    KeyBinding("halt.resume", "halt", ("R",), "resume", "resume", "Let entries pass again"),
    # the form of a waiting trade, and that of a skill
    KeyBinding(
        "approval.refuse", "approval", ("f4",), "refuse", "refuse", "It asks for the reason"
    ),
    KeyBinding(
        "approval.more",
        "approval",
        ("pagedown",),
        "read(1)",
        "read on",
        "What the agent says",
        shown="PgDn",
    ),
    KeyBinding(
        "approval.back",
        "approval",
        ("pageup",),
        "read(-1)",
        "read back",
        "What the agent says",
        shown="PgUp",
    ),
    KeyBinding("start.skill", "start_skill", ("f5",), "skill", "next skill", shown="F5"),
    KeyBinding("start.pace", "start_skill", ("f6",), "pace", "next pace", shown="F6"),
    KeyBinding("start.mode", "start_skill", ("f7",), "mode", "next leash", shown="F7"),
    # the form of a leash
    KeyBinding("leash.whose", "leash_form", ("f5",), "whose", "whose", "Its own, or a skill's"),
    KeyBinding("leash.mode", "leash_form", ("f7",), "mode", "next leash", shown="F7"),
    # the form of a price alert
    KeyBinding("alert.side", "price_alert", ("f5",), "side", "other side", "Of a price alert"),
    KeyBinding(
        "alert.condition", "price_alert", ("f6",), "condition", "condition", "Of a price alert"
    ),
    # webhooks, and the form of one
    KeyBinding("webhooks.new", "webhooks", ("n",), "new", "new", "An address to be notified"),
    KeyBinding("webhooks.test", "webhooks", ("t",), "test", "test", "Send a test delivery"),
    KeyBinding("webhooks.remove", "webhooks", ("d",), "remove", "remove", "Notify it no more"),
    KeyBinding("webhook.events", "webhook_form", ("f5",), "events", "next events", shown="F5"),
    # the order ticket
    KeyBinding("ticket.preset1", "ticket", ("f1",), "preset(0)", "first preset", shown="F1"),
    KeyBinding("ticket.preset2", "ticket", ("f2",), "preset(1)", "second preset", shown="F2"),
    KeyBinding("ticket.preset3", "ticket", ("f3",), "preset(2)", "third preset", shown="F3"),
    KeyBinding("ticket.preset4", "ticket", ("f4",), "preset(3)", "the most", shown="F4"),
    KeyBinding("ticket.side", "ticket", ("f5",), "side('other')", "other side", shown="F5"),
    KeyBinding("ticket.turn", "ticket", ("f6",), "turn('other')", "buy or sell", shown="F6"),
    KeyBinding(
        "ticket.venue", "ticket", ("f7",), "venue", "venue", "sim, or a real one", shown="F7"
    ),
    KeyBinding(
        "ticket.kind", "ticket", ("f8",), "kind", "now, rest", "Now, or at a limit", shown="F8"
    ),
    KeyBinding("ticket.yes", "ticket", ("y",), "side('yes')", "YES", "Not while typing"),
    KeyBinding("ticket.no", "ticket", ("n",), "side('no')", "NO", "Not while typing"),
    KeyBinding("ticket.buy", "ticket", ("b",), "turn('buy')", "buy", "Not while typing"),
    KeyBinding("ticket.sell", "ticket", ("x",), "turn('sell')", "sell", "Not while typing"),
    KeyBinding("ticket.place", "ticket", ("ctrl+j",), "place", "place", "Enter does it too"),
    KeyBinding("ticket.cancel", "ticket", ("escape",), "cancel", "cancel", "Places nothing"),
)
"""The whole table."""


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
            tooltip=with_keys(key.tooltip),
            id=key.ident,
        )
        for key in KEYS
        if key.group == group
    ]


_in_use: dict[str, KeyBinding] = {key.ident: key for key in KEYS}
"""The table in use: one process has one console."""


def move_keys(moved: Mapping[str, tuple[str, ...]]) -> None:
    """Move actions to a person's own keys, wherever keys are shown; all others stay."""
    for key in KEYS:
        own = moved.get(key.ident)
        _in_use[key.ident] = key if own is None else replace(key, keys=own, shown="")


def keys_of(group: str) -> tuple[KeyBinding, ...]:
    """The actions of one place, in the order of the table, with the keys in use."""
    return tuple(_told(key) for key in _in_use.values() if key.group == group)


def key_named(ident: str) -> KeyBinding:
    """The action with this id, which must be in the table, with the keys in use."""
    return _told(_in_use[ident])


def _told(key: KeyBinding) -> KeyBinding:
    """The action with the keys in use in its help."""
    return replace(key, tooltip=with_keys(key.tooltip)) if "{" in key.tooltip else key


def cap(ident: str) -> str:
    """The first key in use of an action, as printed on the key cap."""
    return shown_key(_in_use[ident])


_PLACEHOLDER: Final = re.compile(r"\{([a-z_]+\.[a-z0-9_]+)\}")


def with_keys(sentence: str) -> str:
    """The sentence with the keys in use in place of ids: `{rows.filter} finds one`."""
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
    "vertical_line": "|",
}


def shown_key(key: KeyBinding) -> str:
    """The first key of an action, as printed on the key cap."""
    return key.shown or readable(key.keys[0])


def readable(name: str) -> str:
    """A Textual key name, as printed on the key cap."""
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
