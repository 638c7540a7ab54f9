"""Lines of the plain console: the same commands as at a shell, on one open desk."""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from functools import partial
from typing import Final

from service_tui.app.options import Options
from service_tui.app.output import print_text
from service_tui.app.typed_lines import typed_line
from service_tui.app.waiting import until
from service_tui.cli.lists import list_lines
from service_tui.cli.orders import choose_of, confirm, order_request
from service_tui.cli.parser import LISTS, ORDERS, RESUME_ASKS, check, parse, parser_of
from service_tui.cli.plain_rows import HELP as ROWS_HELP
from service_tui.cli.plain_rows import LISTINGS, ROW_COMMANDS, PlainRows
from service_tui.clock import SystemClock
from service_tui.commands.halt import halt_on, resume_on
from service_tui.commands.report_data import ReportError
from service_tui.commands.trade import trade_on
from service_tui.config import read_environment
from service_tui.console.closed_desk import DeskClosedError
from service_tui.desk.commands.halt import RESUME_WORD
from service_tui.desk.desk import Desk
from service_tui.desk.state import DeskState
from service_tui.toml_lines import printable

HELP: Final = (
    "status, markets, orders, fills, agents, alerts: lists; markets --find rain",
    "quote, buy, sell: buy rain yes 25 asks which market, shows the quote and asks",
    "halt: blocks every buy; resume: ends that, after a typed word",
    *ROWS_HELP,
    "help COMMAND: its options; quit: closes the desk",
)

COMMANDS: Final = frozenset({*LISTS, *ORDERS, "halt", "resume"})

SERVED_S: Final = 15.0
"""The server is imported behind the first lines; a busy machine takes seconds for it."""

OF_THE_START: Final = "--data-dir, --url and --profile are for the start of the program"


async def answer(
    options: Options, rows: PlainRows, desk: Desk, words: Sequence[str]
) -> Sequence[str]:
    """Carry out a line.

    Args:
        options: of the start.
        rows: the numbered lists as they were printed last.
        desk: the open one.
        words: of the line, at least one.

    Returns:
        The result in lines; none where it has been printed already.
    """
    if words[0] == "help":
        words = (*words[1:], "--help")
    name = words[0]
    if name == "--help":
        return HELP
    is_list_of_scripts = name in COMMANDS and len(words) > 1
    if (name in LISTINGS and not is_list_of_scripts) or name in ROW_COMMANDS:
        return await rows.answer(desk, words)
    if name in COMMANDS:
        arguments = _parsed(words)
        return () if arguments is None else await _result(options, desk, arguments)
    return (f"{printable(name)}: not a command here; help lists them",)


def _parsed(words: Sequence[str]) -> argparse.Namespace | None:
    """The arguments of a line; None where the parser has printed a problem, or the help."""
    parser = parser_of(read_environment({}))
    try:
        arguments = parse(parser, words)
        check(parser, arguments)
    except SystemExit:
        return None
    return arguments


async def _result(options: Options, desk: Desk, arguments: argparse.Namespace) -> Sequence[str]:
    if arguments.data_dir or arguments.url or arguments.profile:
        return (OF_THE_START,)
    if arguments.command in LISTS:
        # Right after the start it has none yet.
        await until(desk, _is_served, SERVED_S)
        return await _list(options, arguments)
    if arguments.command == "halt":
        return (await halt_on(desk)).lines
    if arguments.command == "resume":
        return await _resumed(desk)
    request = order_request(arguments)
    confirms = partial(confirm, request, arguments)
    chooses = choose_of(request, arguments, asks=True)
    return (await trade_on(desk, request, confirms, SystemClock(), choose=chooses)).lines


def _is_served(state: DeskState) -> bool:
    """Whether this desk has the address by which lists are read."""
    service = state.service
    return bool(service.address) or service.attached or not service.embedded


async def _list(options: Options, arguments: argparse.Namespace) -> Sequence[str]:
    """A list by the way of scripts, through the address that this desk serves."""
    try:
        return await asyncio.to_thread(list_lines, options, arguments)
    except (DeskClosedError, ReportError) as error:
        return (str(error),)


async def _resumed(desk: Desk) -> Sequence[str]:
    print_text(RESUME_ASKS)
    if (await typed_line(sys.stdin)).strip() != RESUME_WORD:
        return (f"not resumed: the word is {RESUME_WORD}",)
    return (await resume_on(desk)).lines
