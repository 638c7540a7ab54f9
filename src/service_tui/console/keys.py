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
    """An action performed by the `actions.py` of its screen; the id begins with the screen.

    A small letter may mean something else on another screen, a capital may not.
    """
    group = ident.partition(".")[0]
    return KeyBinding(ident, group, keys, f"perform('{ident}')", label, tooltip, footer, shown)


KEYS: Final[tuple[KeyBinding, ...]] = (
    # everywhere
    KeyBinding(
        "app.attention", "app", ("0",), "go('attention')", "needs me", "Items that need you now"
    ),
    KeyBinding(
        "app.portfolio", "app", ("1",), "go('portfolio')", "portfolio", "Positions, cash, P&L"
    ),
    KeyBinding("app.markets", "app", ("2",), "go('markets')", "markets", "All markets"),
    KeyBinding("app.monitors", "app", ("3",), "go('monitors')", "monitors", "Stops, alerts, sales"),
    KeyBinding(
        "app.reactor", "app", ("4",), "go('reactor')", "reactor", "Watched wallets, signals"
    ),
    KeyBinding(
        "app.redemption",
        "app",
        ("5",),
        "go('redemption')",
        "redemption",
        "Redeem winning positions",
    ),
    KeyBinding(
        "app.research", "app", ("6",), "go('research')", "autoresearch", "Experiments, backtests"
    ),
    KeyBinding("app.agents", "app", ("7",), "go('agents')", "agents", "All agents of this service"),
    KeyBinding(
        "app.settings", "app", ("8",), "go('settings')", "settings", "Limits, risk, notices"
    ),
    KeyBinding("app.blotter", "app", ("9",), "go('blotter')", "orders", "Orders and fills"),
    KeyBinding("app.last", "app", ("minus",), "last_screen", "last view", shown="-"),
    KeyBinding(
        "app.back", "app", ("left_square_bracket",), "history(-1)", "history back", shown="["
    ),
    KeyBinding("app.forward", "app", ("right_square_bracket",), "history(1)", "forward", shown="]"),
    KeyBinding(
        "app.command", "app", ("colon",), "command_line", "command", "Type a command", shown=":"
    ),
    KeyBinding(
        "app.palette",
        "app",
        ("ctrl+p",),
        "command_palette",
        "palette",
        "Any action, market, position or agent by name",
    ),
    KeyBinding("app.help", "app", ("question_mark", "f1"), "help", "help", footer=True, shown="?"),
    KeyBinding("app.refresh", "app", ("r",), "refresh_now", "refresh", "Refresh from the service"),
    KeyBinding(
        "app.pause", "app", ("p",), "pause_world", "pause", "Pause or run the offline world"
    ),
    KeyBinding("app.slower", "app", ("less_than_sign",), "speed(-1)", "slower", shown="<"),
    KeyBinding("app.faster", "app", ("greater_than_sign",), "speed(1)", "faster", shown=">"),
    KeyBinding("app.wallet", "app", ("W",), "wallet", "wallet", "Key, link, approvals, real money"),
    KeyBinding("app.privacy", "app", ("z",), "privacy", "privacy", "Mask amounts"),
    KeyBinding("app.theme", "app", ("f8",), "next_theme", "theme", "Next theme"),
    KeyBinding(
        "app.log", "app", ("at",), "go('log')", "audit log", "All events, hash-chained", shown="@"
    ),
    KeyBinding(
        "app.timeline",
        "app",
        ("apostrophe",),
        "go('timeline')",
        "timeline",
        "All that happened",
        shown="'",
    ),
    KeyBinding(
        "app.exposure",
        "app",
        ("quotation_mark",),
        "go('exposure')",
        "exposure",
        "What all agents hold, what resolves when",
        shown='"',
    ),
    KeyBinding(
        "app.report", "app", ("f5",), "report", "report", "Daily report by agent", shown="F5"
    ),
    KeyBinding("app.team", "app", ("ctrl+t",), "team", "team", "Who is here, who changed what"),
    KeyBinding("app.approvals", "app", ("ampersand",), "approvals", "approve", "Pending approvals"),
    KeyBinding(
        "app.charts",
        "app",
        ("f4",),
        "charts",
        "charts",
        "Price, equity, skills, calibration, sweep",
        shown="F4",
    ),
    KeyBinding(
        "app.beside",
        "app",
        ("backslash",),
        "beside",
        "beside",
        "A second list or chart beside this screen",
    ),
    KeyBinding(
        "app.replay", "app", ("f3",), "replay", "replay", "The desk as it was, or now", shown="F3"
    ),
    KeyBinding(
        "app.earlier",
        "app",
        ("left_parenthesis", "shift+left"),
        "replay_step('record', -1)",
        "earlier",
        "Replay: the record before",
        shown="(",
    ),
    KeyBinding(
        "app.later",
        "app",
        ("right_parenthesis", "shift+right"),
        "replay_step('record', 1)",
        "later",
        "Replay: the next record",
        shown=")",
    ),
    KeyBinding(
        "app.minute_back",
        "app",
        ("left_curly_bracket", "ctrl+left"),
        "replay_step('minute', -1)",
        "minute back",
        "Replay: a minute back",
        shown="{",
    ),
    KeyBinding(
        "app.minute_on",
        "app",
        ("right_curly_bracket", "ctrl+right"),
        "replay_step('minute', 1)",
        "minute on",
        "Replay: a minute on",
        shown="}",
    ),
    KeyBinding(
        "app.hour_back",
        "app",
        ("ctrl+shift+left",),
        "replay_step('hour', -1)",
        "hour back",
        "Replay: an hour back",
    ),
    KeyBinding(
        "app.hour_on",
        "app",
        ("ctrl+shift+right",),
        "replay_step('hour', 1)",
        "hour on",
        "Replay: an hour on",
    ),
    KeyBinding(
        "app.event_before",
        "app",
        ("semicolon",),
        "replay_step('event', -1)",
        "event before",
        "Replay: order, fill, halt, notice before",
        shown=";",
    ),
    KeyBinding(
        "app.event_after",
        "app",
        ("full_stop",),
        "replay_step('event', 1)",
        "next event",
        "Replay: next order, fill, halt, notice",
        shown=".",
    ),
    KeyBinding(
        "app.replay_time",
        "app",
        ("equals_sign",),
        "replay_time",
        "replay at",
        "Replay: type a time",
        shown="=",
    ),
    KeyBinding("app.themes", "app", ("f7",), "themes", "themes", "Choose a theme", shown="F7"),
    KeyBinding("app.welcome", "app", ("f12",), "welcome", "welcome", "Reopen the welcome page"),
    KeyBinding(
        "app.suspend", "app", ("ctrl+z",), "suspend_process", "suspend", "To the shell; fg returns"
    ),
    KeyBinding(
        "app.toasts",
        "app",
        ("ctrl+l",),
        "clear_toasts",
        "clear notices",
        "Clear the notices in the corner",
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
        "Stop all buys at once, from anywhere; then sell all or resume",
        footer=True,
        priority=True,
    ),
    KeyBinding(
        "app.halt_too", "app", ("exclamation_mark",), "halt", "halt", "Same as halt", shown="!"
    ),
    KeyBinding("app.resume", "app", ("R",), "resume", "resume", "After a halt: allow buys again"),
    # every table of rows
    KeyBinding("rows.filter", "rows", ("slash",), "filter", "find", footer=True, shown="/"),
    KeyBinding("rows.sort", "rows", ("s",), "sort_next", "sort", "Sort by the next column"),
    KeyBinding("rows.reverse", "rows", ("S",), "sort_reverse", "reverse", "Reverse the order"),
    KeyBinding(
        "rows.sort_menu",
        "rows",
        ("comma", "f6"),
        "sort_menu",
        "sort by",
        "Menu of columns: one key each",
        shown=",",
    ),
    KeyBinding(
        "rows.columns",
        "rows",
        ("number_sign",),
        "columns",
        "columns",
        "Which columns, in which order",
        shown="#",
    ),
    KeyBinding(
        "rows.saved", "rows", ("ctrl+f",), "saved", "saved filters", "Save, apply, remove by name"
    ),
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
        "Hide the detail pane",
        shown="|",
    ),
    KeyBinding(
        "rows.pane_more",
        "rows",
        ("alt+left", "alt+up"),
        "split(1)",
        "larger pane",
        "Or drag the line between them",
    ),
    KeyBinding("rows.pane_less", "rows", ("alt+right", "alt+down"), "split(-1)", "smaller pane"),
    KeyBinding(
        "rows.out", "rows", ("escape",), "one_out", "one level out", "Close detail, search, filters"
    ),
    # markets
    _performed("markets.buy", ("b",), "buy", "Buy in the market", footer=True),
    _performed("markets.exit", ("x",), "sell", "Sell the position", footer=True),
    _performed("markets.star", ("asterisk",), "star", shown="*", footer=True),
    _performed(
        "markets.mark", ("space",), "mark", "{markets.star} and {markets.lists} take marked rows"
    ),
    _performed("markets.mark_all", ("ctrl+a",), "mark all", "Mark or unmark all listed"),
    _performed("markets.category", ("c",), "category", "Next category"),
    _performed("markets.status", ("o",), "status", "Open, closed, resolved"),
    _performed("markets.until", ("t",), "time left", "By time to resolution"),
    _performed("markets.held", ("h",), "held", "Only my positions"),
    _performed("markets.starred", ("w",), "starred", "Only starred, or the next watchlist"),
    _performed("markets.lists", ("ctrl+o",), "watchlists", "Put markets in; show, make a list"),
    _performed("markets.venue", ("V",), "venue", "By venue, or sim only"),
    _performed("markets.event", ("ctrl+e",), "event", "Its outcomes together, related markets"),
    _performed("markets.range", ("v",), "range", "Chart range"),
    _performed(
        "markets.book_up", ("shift+up",), "book up", "A price of the book, for {markets.buy}"
    ),
    _performed(
        "markets.book_down", ("shift+down",), "book down", "Then {markets.buy} buys, limit there"
    ),
    _performed("markets.alert", ("a",), "price alert", "Alert at a price"),
    _performed("markets.note", ("n",), "own note", "On the market, for you alone"),
    # portfolio
    _performed("portfolio.sell", ("x",), "sell", "Close or trim", footer=True),
    _performed("portfolio.buy", ("b",), "buy more", footer=True),
    _performed(
        "portfolio.mark",
        ("space",),
        "mark",
        "{portfolio.sell} and {portfolio.cancel} apply to marked rows",
    ),
    _performed("portfolio.mark_all", ("ctrl+a",), "mark all", "Mark or unmark all listed"),
    _performed("portfolio.market", ("M",), "market", "Show the market"),
    _performed("portfolio.list", ("o",), "next list", "Positions, orders, closed", footer=True),
    _performed("portfolio.monitor", ("m",), "monitor", "Stop, target", footer=True),
    _performed("portfolio.alert", ("a",), "price alert", "Alert at a price"),
    _performed("portfolio.why", ("Q",), "why", "The trade, signal to sale"),
    _performed("portfolio.orders", ("O",), "open orders", "Amend, cancel"),
    _performed("portfolio.amend", ("e",), "amend", "Price and size", footer=True),
    _performed("portfolio.cancel", ("d",), "cancel", "Cancel the selected order", footer=True),
    _performed("portfolio.cancel_all", ("D",), "cancel all", "Cancel all listed orders"),
    # monitors
    _performed("monitors.edit", ("e", "m"), "edit", "Stop and target", footer=True),
    _performed("monitors.all", ("E",), "edit all", "All monitors shown"),
    _performed(
        "monitors.mark",
        ("space",),
        "mark",
        "{monitors.edit} and {monitors.remove} apply to marked rows",
    ),
    _performed("monitors.exit", ("x",), "sell", "Sell; sell by an alert now", footer=True),
    _performed("monitors.remove", ("d",), "remove", "Remove the monitor", footer=True),
    _performed("monitors.undo", ("u",), "undo", "Undo the last change"),
    _performed("monitors.alert", ("a",), "price alert", "Alert at a price"),
    _performed("monitors.list", ("o",), "next list", "Alerts, sales", footer=True),
    _performed("monitors.market", ("M",), "market", "Show the market"),
    # the reactor
    _performed("reactor.mirror", ("f",), "mirror", "Buy the same", footer=True),
    _performed("reactor.mirror_all", ("F",), "mirror all", "All signals of this wallet"),
    _performed("reactor.dismiss", ("d",), "dismiss", "Dismiss, or unfollow", footer=True),
    _performed("reactor.list", ("o",), "next list", "Wallets", footer=True),
    _performed("reactor.follow", ("n",), "follow a wallet", "Its buys are shown as signals"),
    _performed("reactor.edit", ("e",), "name", "Name the wallet"),
    _performed("reactor.policy", ("l",), "policy", "Ask, auto, off", footer=True),
    _performed(
        "reactor.mark",
        ("space",),
        "mark",
        "{reactor.mirror} and {reactor.dismiss} apply to marked rows",
    ),
    _performed("reactor.config", ("f2",), "configure", "Sizes, cap, venue, buffer"),
    _performed("reactor.run", ("H",), "pause", "Pause or run the reactor", footer=True),
    _performed("reactor.reset", ("b",), "reset", "Reset the circuit breaker", footer=True),
    _performed("reactor.freeze", ("p",), "freeze", "Freeze the feed"),
    _performed("reactor.state", ("c",), "state", "Waiting, mirrored, skipped"),
    _performed("reactor.wallet", ("w",), "this wallet", "Only signals of this wallet"),
    _performed("reactor.market", ("M",), "market", "Show the market"),
    _performed("reactor.undo", ("u",), "undo", "Undo the last change"),
    # redemption
    _performed("redemption.redeem", ("t",), "redeem", "Review, then redeem", footer=True),
    _performed("redemption.all", ("T",), "redeem all", "All ready positions", footer=True),
    _performed("redemption.auto", ("a",), "auto", "Auto-redeem on or off", footer=True),
    _performed("redemption.abandon", ("delete",), "abandon", "Drop a stuck transaction"),
    _performed("redemption.market", ("M",), "market", "Show the market"),
    _performed("redemption.hash", ("h",), "copy hash", "Transaction hash"),
    # the wallet
    _performed("wallet.unlock", ("U",), "unlock, lock", "With the passphrase"),
    _performed("wallet.keep", ("K",), "new key", "Import or create a key"),
    _performed("wallet.keys", ("s",), "stored keys", "Open or remove a stored key"),
    _performed("wallet.link", ("l",), "link", "Trade with this wallet"),
    _performed("wallet.approve", ("A",), "approvals", "View and grant approvals"),
    _performed("wallet.credentials", ("c",), "credentials", "Venue credentials"),
    _performed("wallet.allow", ("r",), "real trades", "Allow this agent real trades"),
    _performed("wallet.live", ("L",), "real money", "Live trading: typed LIVE turns it on"),
    _performed("wallet.pay", ("p",), "pay per call", "Daily cap, or off"),
    _performed("wallet.code", ("o",), "QR code", "Address as a QR code"),
    _performed("wallet.copy", ("y",), "copy address", "For deposits of gas or USDC.e"),
    # the menu of columns
    KeyBinding("sort.choose", "sort_menu", ("enter",), "choose", "sort", "By this column"),
    # the columns of a table
    KeyBinding("columns.choose", "column_menu", ("enter",), "choose", "apply", "These columns"),
    KeyBinding("columns.toggle", "column_menu", ("space",), "flip", "shows", "Or hides"),
    KeyBinding(
        "columns.left", "column_menu", ("shift+up", "less_than_sign"), "shift(-1)", "left", "One on"
    ),
    KeyBinding(
        "columns.right", "column_menu", ("shift+down", "greater_than_sign"), "shift(1)", "right"
    ),
    KeyBinding("columns.usual", "column_menu", ("0",), "usual", "usual", "The usual columns"),
    # the saved filters
    KeyBinding("saved.choose", "saved_filters", ("enter",), "choose", "apply", "This filter"),
    KeyBinding("saved.new", "saved_filters", ("n",), "new", "save", "The filter in force"),
    KeyBinding("saved.remove", "saved_filters", ("d",), "remove", "remove", "Forget the filter"),
    # the watchlists
    KeyBinding("watchlists.choose", "watchlists", ("enter",), "choose", "show", "This list only"),
    KeyBinding(
        "watchlists.toggle", "watchlists", ("space",), "flip", "in or out", "The markets above"
    ),
    KeyBinding("watchlists.new", "watchlists", ("n",), "new", "new", "A list of these markets"),
    KeyBinding("watchlists.remove", "watchlists", ("d",), "remove", "remove", "Forget the list"),
    # what stands beside a screen
    KeyBinding("beside.choose", "beside_menu", ("enter",), "choose", "show", "Beside this screen"),
    # the page of an event
    KeyBinding("event.buy", "event_page", ("b",), "buy", "buy a set", "YES of each outcome"),
    KeyBinding("event.choose", "event_page", ("enter",), "choose", "market", "Show the market"),
    # the line of commands
    KeyBinding("command.complete", "command_line", ("tab",), "complete(1)", "complete"),
    KeyBinding(
        "command.complete_back", "command_line", ("shift+tab",), "complete(-1)", "complete back"
    ),
    KeyBinding("command.older", "command_line", ("up",), "recall(-1)", "older command"),
    KeyBinding("command.newer", "command_line", ("down",), "recall(1)", "newer command"),
    KeyBinding("command.close", "command_line", ("escape",), "close", "close"),
    # the stored keys
    KeyBinding("stored.open", "stored_keys", ("enter",), "open", "unlock", "With the passphrase"),
    KeyBinding(
        "stored.remove", "stored_keys", ("d",), "remove", "remove", "Delete the key for good"
    ),
    # the needs
    _performed(
        "attention.open", ("enter",), "act", "Perform the row's action", footer=True, shown="enter"
    ),
    _performed("attention.dismiss", ("d",), "dismiss", "Hide the row", footer=True),
    _performed(
        "attention.mark",
        ("space",),
        "mark",
        "{attention.open}, {attention.dismiss} and {attention.snooze} apply to marked rows",
    ),
    _performed("attention.snooze", ("Z",), "snooze", "Hide until a time, or a change", footer=True),
    _performed("attention.mute", ("m",), "mute", "Hide a kind or an agent; list what is hidden"),
    _performed("attention.run", ("n",), "run a skill", "Run a skill as an agent"),
    _performed("attention.undo", ("u",), "undo", "Restore what was hidden last"),
    # what the inbox hides
    KeyBinding("aside.choose", "aside", ("enter",), "choose", "choose", "Mute, unmute or show"),
    # the blotter
    _performed("blotter.market", ("enter", "M"), "market", "Show the market"),
    _performed("blotter.list", ("o",), "next list", "Orders, fills", footer=True),
    _performed("blotter.trades", ("w",), "pending only", "Only pending orders"),
    _performed("blotter.why", ("Q",), "why", "The trade, signal to sale"),
    _performed("blotter.orders", ("O",), "open orders", "Amend, cancel"),
    _performed("blotter.note", ("n",), "own note", "On the trade of a fill, for you alone"),
    _performed("blotter.export", ("ctrl+s",), "export", "CSV, JSON and a day's summary"),
    # the action log
    _performed("log.open", ("enter",), "full entry", "With its hash", footer=True),
    _performed("log.verify", ("v",), "verify", "Verify the hash chain", footer=True),
    _performed("log.who", ("w",), "this actor", "By this actor only"),
    # the timeline
    _performed("timeline.open", ("enter",), "show", "The thing itself", footer=True),
    _performed("timeline.kind", ("c",), "kind", "Next kind", footer=True),
    _performed("timeline.away", ("w",), "while away", "What came while closed", footer=True),
    _performed("timeline.market", ("M",), "market", "Show the market"),
    _performed("timeline.note", ("n",), "own note", "On the day, for you alone"),
    # exposure
    _performed("exposure.open", ("enter",), "open", "The market, or what a group holds"),
    _performed("exposure.market", ("M",), "market", "Show the market"),
    _performed("exposure.list", ("o",), "next list", "Exposure, calendar, held", footer=True),
    _performed("exposure.group", ("c",), "group by", "Agent, market, event, hour", footer=True),
    _performed("exposure.both", ("t",), "both sides", "Positions against each other", footer=True),
    _performed("exposure.limit", ("l",), "limit", "What the group may cost", footer=True),
    _performed("exposure.stop", ("e", "m"), "stop", "Stop and target of an agent", footer=True),
    _performed("exposure.sell", ("x",), "sell", "Your own position"),
    _performed("exposure.pause", ("H",), "pause", "Pause buys of the row's agent"),
    _performed(
        "exposure.mark",
        ("space",),
        "mark",
        "{exposure.stop} and {exposure.pause} apply to marked rows, which are added up",
    ),
    _performed("exposure.mark_all", ("ctrl+a",), "mark all", "Mark or unmark all listed"),
    _performed("exposure.note", ("n",), "own note", "On the day of the calendar, or the market"),
    # approvals
    _performed("approvals.review", ("enter",), "review", "Approve, resize or refuse", footer=True),
    _performed("approvals.approve", ("a",), "approve", "The marked trades", footer=True),
    _performed("approvals.refuse", ("d",), "refuse", "The marked trades", footer=True),
    _performed("approvals.mark", ("space",), "mark", "Decide several together", footer=True),
    _performed("approvals.mark_all", ("ctrl+a",), "mark all", "Mark or unmark all"),
    _performed("approvals.always", ("l",), "always up to", "No approval up to here"),
    _performed("approvals.today", ("t",), "refuse today", "Refuse this agent until midnight"),
    _performed("approvals.lift", ("u",), "ask again", "Lift today's refusals"),
    _performed("approvals.market", ("M",), "market", "Show the market"),
    # agents
    _performed("agents.open", ("enter",), "details", "Agent details", footer=True),
    _performed("agents.pause", ("H",), "pause", "Pause or resume buys", footer=True),
    _performed(
        "agents.mark",
        ("space",),
        "mark",
        "{agents.pause} and {agents.suspend} apply to marked rows",
    ),
    _performed("agents.mark_all", ("ctrl+a",), "mark all", "Mark or unmark all listed"),
    _performed("agents.claim", ("C",), "claim", "Claim the agent"),
    _performed("agents.code", ("c",), "claim code", "Code for the claim page"),
    _performed("agents.plan", ("P",), "plan", "Free, Pro or Elite"),
    _performed("agents.new_plan", ("N",), "new agents", "Plan of new agents"),
    _performed("agents.key", ("K",), "new key", "Revokes the old key"),
    _performed("agents.suspend", ("B",), "suspend", "Suspend or readmit agent"),
    _performed("agents.retire", ("delete",), "retire", "Free its slot for good"),
    _performed(
        "agents.retire_demos",
        ("shift+delete",),
        "retire demos",
        "Retire all demo agents for good",
    ),
    _performed("agents.start", ("n",), "run a skill", "Run a skill as an agent", footer=True),
    _performed("agents.install", ("I",), "install", "From a folder or archive"),
    _performed("agents.stop", ("ctrl+x",), "stop", "Stop its skills"),
    _performed("agents.again", ("a",), "restart", "Restart its last skill"),
    _performed("agents.detach", ("t",), "detach", "Runs without this console"),
    _performed("agents.output", ("v",), "output", "Output of its skill: follow, search, save"),
    _performed("agents.leash", ("l",), "permissions", "Observe, ask, auto", footer=True),
    _performed("agents.budget", ("e",), "budget", "Daily budget of its skill"),
    _performed("agents.alerts", ("w",), "alerts", "Alerts on the agent: set, list, remove"),
    _performed("agents.list", ("o",), "next list", "Agents, or trades of all"),
    _performed("agents.pause_all", ("X",), "pause all", "Pause or resume all buys"),
    _performed("agents.export", ("ctrl+s",), "export", "CSV, JSON and a day's summary"),
    # autoresearch
    _performed("research.diff", ("enter",), "diff", "Commit diff", footer=True),
    _performed("research.backtest", ("b",), "backtest", "Backtest or sweep", footer=True),
    _performed("research.new", ("n",), "new session", footer=True),
    _performed("research.next", ("o",), "next session", footer=True),
    _performed("research.evaluations", ("e",), "evaluations", "Good, or lucky?", footer=True),
    _performed("research.off", ("d",), "turn off", "Until a new session"),
    # settings
    _performed("settings.edit", ("e", "enter"), "change", "Edit or toggle", footer=True),
    _performed("settings.undo", ("u",), "undo", "Undo the last change"),
    # every dialog but the ticket
    KeyBinding(
        "dialog.close", "dialog", ("escape", "q"), "close", "close", "One level out", shown="esc"
    ),
    # the charts
    KeyBinding("chart.next", "chart", ("tab",), "turn(1)", "next chart", shown="tab"),
    KeyBinding("chart.before", "chart", ("shift+tab",), "turn(-1)", "chart before"),
    KeyBinding("chart.range", "chart", ("v",), "range", "range", "1 h to all"),
    KeyBinding("chart.zoom_in", "chart", ("plus", "i"), "zoom(-1)", "zoom in", shown="+"),
    KeyBinding("chart.zoom_out", "chart", ("minus", "o"), "zoom(1)", "zoom out", shown="-"),
    KeyBinding(
        "chart.measure",
        "chart",
        ("m",),
        "measure",
        "measure",
        "From here to the cursor, or no more",
    ),
    KeyBinding("chart.whole", "chart", ("0",), "zoom(0)", "whole", "The whole chart"),
    KeyBinding(
        "chart.compare",
        "chart",
        ("c",),
        "compare",
        "compare",
        "The price with another market's, or no more",
    ),
    # the list of markets to compare with
    KeyBinding("compare.choose", "compare_menu", ("enter",), "choose", "compare", "With this one"),
    # the output of a skill
    KeyBinding(
        "skill_log.follow", "skill_log", ("f",), "turn('follow')", "follow", "Or stop following"
    ),
    KeyBinding("skill_log.wrap", "skill_log", ("w",), "turn('wrap')", "wrap", "Or cut long lines"),
    KeyBinding(
        "skill_log.table", "skill_log", ("t",), "turn('table')", "table", "JSON lines as a table"
    ),
    KeyBinding(
        "skill_log.search", "skill_log", ("slash",), "search", "search", "Mark matches", shown="/"
    ),
    KeyBinding("skill_log.next", "skill_log", ("n",), "match(1)", "next match"),
    KeyBinding("skill_log.previous", "skill_log", ("p",), "match(-1)", "previous match"),
    KeyBinding("skill_log.save", "skill_log", ("ctrl+s",), "save", "save", "To a file"),
    # forms of a few lines
    KeyBinding("form.set", "form", ("ctrl+j",), "set", "set", "Same as enter"),
    KeyBinding("form.cancel", "form", ("escape",), "cancel", "cancel", "Discard changes"),
    # the halt
    KeyBinding("halt.exit", "halt", ("x",), "exit_all", "sell all", "Sell all open positions"),
    KeyBinding("halt.resume", "halt", ("R",), "resume", "resume", "Allow buys again"),
    # the form of a waiting trade, and that of a skill
    KeyBinding("approval.refuse", "approval", ("f4",), "refuse", "refuse", "Refuse with a reason"),
    KeyBinding(
        "approval.more",
        "approval",
        ("pagedown",),
        "read(1)",
        "read on",
        "Agent's reasoning",
        shown="PgDn",
    ),
    KeyBinding(
        "approval.back",
        "approval",
        ("pageup",),
        "read(-1)",
        "read back",
        "Agent's reasoning",
        shown="PgUp",
    ),
    KeyBinding("start.skill", "start_skill", ("f5",), "skill", "next skill", shown="F5"),
    KeyBinding("start.pace", "start_skill", ("f6",), "pace", "next pace", shown="F6"),
    KeyBinding("start.mode", "start_skill", ("f7",), "mode", "next permission", shown="F7"),
    # the form of a leash
    KeyBinding("leash.whose", "leash_form", ("f5",), "whose", "scope", "Whole agent, or one skill"),
    KeyBinding("leash.mode", "leash_form", ("f7",), "mode", "next permission", shown="F7"),
    # the form of a price alert
    KeyBinding(
        "alert.side", "price_alert", ("f5",), "side", "other side", "Side of the price alert"
    ),
    KeyBinding(
        "alert.condition",
        "price_alert",
        ("f6",),
        "condition",
        "condition",
        "Condition of the alert",
    ),
    # the alerts on an agent, and the form of one
    KeyBinding("agent_alerts.new", "agent_alerts", ("n",), "new", "new", "Set an alert"),
    KeyBinding("agent_alerts.remove", "agent_alerts", ("d",), "remove", "remove", "Remove it"),
    KeyBinding("agent_alert.kind", "agent_alert_form", ("f5",), "kind", "next kind", shown="F5"),
    KeyBinding(
        "agent_alert.action", "agent_alert_form", ("f6",), "then", "next action", shown="F6"
    ),
    KeyBinding("agent_alert.skill", "agent_alert_form", ("f7",), "skill", "next skill", shown="F7"),
    # webhooks, and the form of one
    KeyBinding("webhooks.new", "webhooks", ("n",), "new", "new", "Add a webhook"),
    KeyBinding("webhooks.test", "webhooks", ("t",), "test", "test", "Send a test delivery"),
    KeyBinding("webhooks.remove", "webhooks", ("d",), "remove", "remove", "Remove the webhook"),
    KeyBinding("webhook.events", "webhook_form", ("f5",), "events", "next events", shown="F5"),
    # the order ticket
    KeyBinding("ticket.preset1", "ticket", ("f1",), "preset(0)", "first preset", shown="F1"),
    KeyBinding("ticket.preset2", "ticket", ("f2",), "preset(1)", "second preset", shown="F2"),
    KeyBinding("ticket.preset3", "ticket", ("f3",), "preset(2)", "third preset", shown="F3"),
    KeyBinding("ticket.preset4", "ticket", ("f4",), "preset(3)", "max", shown="F4"),
    KeyBinding("ticket.side", "ticket", ("f5",), "side('other')", "other side", shown="F5"),
    KeyBinding("ticket.turn", "ticket", ("f6",), "turn('other')", "buy or sell", shown="F6"),
    KeyBinding(
        "ticket.venue", "ticket", ("f7",), "venue", "venue", "sim or a real venue", shown="F7"
    ),
    KeyBinding(
        "ticket.kind", "ticket", ("f8",), "kind", "order type", "FAK, FOK, GTC or GTD", shown="F8"
    ),
    KeyBinding(
        "ticket.step_up", "ticket", ("up",), "step(1)", "price up", "Limit price, one tick up"
    ),
    KeyBinding("ticket.step_down", "ticket", ("down",), "step(-1)", "price down", "One tick down"),
    KeyBinding(
        "ticket.wider",
        "ticket",
        ("f10",),
        "wider",
        "wider stop",
        "At a price below 0.30",
        shown="F10",
    ),
    KeyBinding("ticket.yes", "ticket", ("y",), "side('yes')", "YES", "Not while typing"),
    KeyBinding("ticket.no", "ticket", ("n",), "side('no')", "NO", "Not while typing"),
    KeyBinding("ticket.buy", "ticket", ("b",), "turn('buy')", "buy", "Not while typing"),
    KeyBinding("ticket.sell", "ticket", ("x",), "turn('sell')", "sell", "Not while typing"),
    KeyBinding(
        "ticket.place",
        "ticket",
        ("ctrl+j",),
        "place",
        "place",
        "Same as enter. 20r as amount: lose 20 at the stop",
    ),
    KeyBinding("ticket.cancel", "ticket", ("escape",), "cancel", "cancel", "Discard the ticket"),
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
    return tuple(_described(key) for key in _in_use.values() if key.group == group)


def key_named(ident: str) -> KeyBinding:
    """The action with this id, which must be in the table, with the keys in use."""
    return _described(_in_use[ident])


def _described(key: KeyBinding) -> KeyBinding:
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
    pressed = [modifier.strip().lower() for modifier in modifiers]
    base = base.strip() or "plus"
    if len(base) == 1:
        if pressed == ["shift"] and base.isalpha():
            return base.upper()
        named = base.lower() if pressed else base
        base = next((name for name, shown in _SHOWN.items() if shown == named), _character(named))
    else:
        base = _ALIASES.get(base.lower(), base.lower())
    return "+".join([*pressed, base])


def _character(letter: str) -> str:
    """Textual's name of the key that types a letter."""
    if letter == ",":
        return "comma"
    return next(binding.key for binding in Binding.make_bindings([Binding(letter, "")]))


def action_name(action: str) -> str:
    """The name of an action without its arguments."""
    return action.partition("(")[0]
