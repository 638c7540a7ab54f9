"""The page of keys, from the key table of the console."""

import importlib
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from kit.pages.table import code, table
from service_tui.console.keys import KEYS, KeyBinding, readable, shown_key
from service_tui.console.shell.views import SCREENS

HEAD: Final = """# Keys

Made from the key table by `make docs`. `?` shows the same list in the console, for the screen in
front, and why a key is disabled. To change a key, put its id into `keys.toml`
([Configuration](configuration.md#your-own-keys)).

Keys with a modifier are written as `ctrl+q`. A capital letter needs shift.
"""

TITLES: Final = {
    "app": "Everywhere",
    "rows": "Every list",
    "wallet": "Wallet",
    "stored_keys": "Wallet: stored keys",
    "sort_menu": "Menu of columns",
    "column_menu": "Columns of a table",
    "saved_filters": "Saved filters",
    "watchlists": "Watchlists",
    "beside_menu": "Beside a screen",
    "event_page": "Event",
    "aside": "Muted and snoozed",
    "command_line": "Command line",
    "skill_log": "Output of a skill",
    "dialog": "Every dialog except the order ticket",
    "form": "Every form of a few lines",
    "ticket": "Order ticket",
    "halt": "Halt panel",
    "approval": "Approval of a trade",
    "start_skill": "Run a skill",
    "leash_form": "Permissions of an agent",
    "price_alert": "Price alert",
    "webhooks": "Webhooks",
    "webhook_form": "New webhook",
}
"""Headings of the groups that are no screen; another group is headed by its own name."""


def page() -> str:
    """The whole page."""
    by_group = {group: list(keys) for group, keys in groupby(KEYS, lambda key: key.group)}
    first = [group for group in ("app", "rows", *SCREENS) if group in by_group]
    order = [*first, *(group for group in by_group if group not in first)]
    return HEAD + "".join(f"\n## {heading(group)}\n\n{_table(by_group[group])}" for group in order)


def heading(group: str) -> str:
    """The heading of a group of keys: of a screen its title and its own key."""
    if group not in SCREENS:
        return TITLES.get(group, group.replace("_", " ").capitalize())
    module, name = SCREENS[group]
    title = str(getattr(importlib.import_module(module), name).title)
    opens = next((shown_key(key) for key in KEYS if key.action == f"go('{group}')"), "")
    return f"{title} (`{opens}`)" if opens else title


def _table(keys: list[KeyBinding]) -> str:
    rows = ((_keys(key), key.label, _described(key), code(key.ident)) for key in keys)
    return table(("Key", "Action", "Description", "Id"), rows)


def _keys(key: KeyBinding) -> str:
    others = (readable(name) for name in key.keys[1:])
    return ", ".join(code(name) for name in (shown_key(key), *others))


def _described(key: KeyBinding) -> str:
    return "".join(_with_keys(key.tooltip))


def _with_keys(sentence: str) -> Iterator[str]:
    """The sentence with the shipped key in place of an id in braces."""
    shipped = {key.ident: shown_key(key) for key in KEYS}
    for part in sentence.replace("}", "{").split("{"):
        yield code(shipped[part]) if part in shipped else part
