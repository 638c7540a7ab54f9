"""The page of the `:` line, from the table of its commands."""

from typing import Final

from kit.pages.table import code, table
from service_tui.console.command_line.history import KEPT_MAX
from service_tui.console.command_line.verbs import REFUSED, VERBS

HEAD: Final = f"""# Commands

Made from the table of commands by `make docs`. Press `:` in the console, type a command, press
`enter`. `tab` completes commands, screens, markets, agents, columns and themes; `up` recalls what
you typed before (the last {KEPT_MAX}, kept over a restart). A command that cannot be run stays in
the line, with the reason.

`buy` and `sell` open the order ticket filled in; only the ticket places an order. MARKET is an id,
a question, or words that only one open market has; without it the highlighted market is meant.
AMOUNT is money, as `25`, `12.50` or `max`. `esc` leaves the line.
"""

TAIL: Final = """
## Commands for a shell

These commands of [the command line](command-line.md) do not run inside a console:

"""


def page() -> str:
    """The whole page."""
    rows = ((code(verb.usage), verb.help, _aliases(verb.aliases)) for verb in VERBS)
    refused = ((code(name), _sentence(reason)) for name, reason in REFUSED.items())
    commands = table(("Command", "What it does", "Also"), rows)
    return f"{HEAD}\n{commands}{TAIL}{table(('Command', 'Reason'), refused)}"


def _aliases(names: tuple[str, ...]) -> str:
    return ", ".join(code(name) for name in names)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
