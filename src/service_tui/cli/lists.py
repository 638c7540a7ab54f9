"""The lists of the command line, as lines."""

import argparse
from collections.abc import Sequence

from service_tui.app.options import Options
from service_tui.commands.lists import as_json, listed
from service_tui.console.list_text import as_lines


def list_lines(options: Options, arguments: argparse.Namespace) -> Sequence[str]:
    """What a screen lists, as a table or as JSON.

    Raises:
        ReportError: the service does not answer, or does not have this list.
        DeskClosedError: the directory cannot be used.
    """
    name = arguments.command
    rows = listed(options, name, find=arguments.find or "", limit=arguments.limit)
    return (as_json(name, rows),) if arguments.json else as_lines(name, rows)
