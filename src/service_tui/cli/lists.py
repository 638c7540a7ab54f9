"""The lists of the command line, as lines."""

import argparse
import sys
from collections.abc import Sequence
from shutil import get_terminal_size

from service_tui.app.options import Options
from service_tui.commands.lists import as_json, listed


def list_lines(options: Options, arguments: argparse.Namespace) -> Sequence[str]:
    """What a screen lists, as a table or as JSON.

    Raises:
        ReportError: the service does not answer, or does not have this list.
        DeskClosedError: the directory cannot be used.
    """
    name = arguments.command
    rows = listed(options, name, find=arguments.find or "", limit=arguments.limit)
    if arguments.json:
        return (as_json(name, rows),)
    from service_tui.console.list_text import as_lines  # noqa: PLC0415

    # A file or a pipe has no width: there a row stays one line.
    width = get_terminal_size().columns if sys.stdout.isatty() else 0
    return as_lines(name, rows, ids=arguments.ids, width=width)
