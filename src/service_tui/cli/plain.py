"""Lines of the plain console: the same commands as at a shell, on one open desk."""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from functools import partial
from typing import Final

from service_tui.cli.lists import list_lines
from service_tui.cli.orders import confirm, order_request
from service_tui.cli.parser import LISTS, ORDERS, RESUME_ASKS, check, parse, parser_of
from service_tui.clock import SystemClock
from service_tui.config import read_environment
from service_tui.console.desk_api import DeskClosedError
from service_tui.desk.commands.halt import RESUME_WORD
from service_tui.desk.desk import Desk
from service_tui.toml_lines import printable
from service_tui.wiring.halt_command import halt_on, resume_on
from service_tui.wiring.options import Options
from service_tui.wiring.output import print_text
from service_tui.wiring.report_command import ReportError
from service_tui.wiring.trade_command import trade_on
from service_tui.wiring.typed_lines import typed_line

HELP: Final = (
    "status, markets, positions, orders, fills, agents, alerts: lists; markets --find rain",
    'quote, buy, sell: buy "rain in paris" yes 25 shows the quote and asks',
    "halt: blocks every buy; resume: ends that, after a typed word",
    "help COMMAND: its options; quit: closes the desk",
)

COMMANDS: Final = frozenset({*LISTS, *ORDERS, "halt", "resume"})

OF_THE_START: Final = "--data-dir, --url and --profile are for the start of the program"


async def answer(options: Options, desk: Desk, words: Sequence[str]) -> Sequence[str]:
    """Carry out a line.

    Args:
        options: of the start.
        desk: the open one.
        words: of the line, at least one.

    Returns:
        The result in lines; none where it has been printed already.
    """
    if words[0] == "help":
        words = (*words[1:], "--help")
    if words[0] == "--help":
        return HELP
    if words[0] not in COMMANDS:
        return (f"{printable(words[0])}: not a command here; help lists them",)
    parser = parser_of(read_environment({}))
    try:
        arguments = parse(parser, words)
        check(parser, arguments)
    except SystemExit:
        # The parser has printed why, or the help.
        return ()
    if arguments.data_dir or arguments.url or arguments.profile:
        return (OF_THE_START,)
    return await _result(options, desk, arguments)


async def _result(options: Options, desk: Desk, arguments: argparse.Namespace) -> Sequence[str]:
    if arguments.command in LISTS:
        try:
            # By the way of scripts, through the address that this desk serves.
            return await asyncio.to_thread(list_lines, options, arguments)
        except (DeskClosedError, ReportError) as error:
            return (str(error),)
    if arguments.command == "halt":
        return (await halt_on(desk)).lines
    if arguments.command == "resume":
        return await _resumed(desk)
    request = order_request(arguments)
    asks = partial(confirm, request, arguments)
    return (await trade_on(desk, request, asks, SystemClock())).lines


async def _resumed(desk: Desk) -> Sequence[str]:
    print_text(RESUME_ASKS)
    if (await typed_line(sys.stdin)).strip() != RESUME_WORD:
        return (f"not resumed: the word is {RESUME_WORD}",)
    return (await resume_on(desk)).lines
