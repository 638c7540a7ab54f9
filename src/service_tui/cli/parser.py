"""The command line's grammar: commands, flags and help."""

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from service_tui.app.output import print_text
from service_tui.commands.research_arguments import ABOUT_AUTORESEARCH, add_arguments
from service_tui.config import KEY_VARIABLE, URL_VARIABLE, Environment
from service_tui.settings import (
    BY_KEY,
    CONFIG_FILE,
    SETTINGS,
    Setting,
    SettingError,
    Value,
    folder,
    value_in,
)
from service_tui.terms import PersonRole, Venue
from service_tui.version import VERSION

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

USAGE_ERROR: Final = 2
LOG_FILE: Final = "service-tui.log"
SHELLS: Final = ("bash", "zsh", "fish")
KEY_ACTIONS: Final = ("create", "import", "list", "remove")
COMMON: Final = (
    "url",
    "profile",
    "data_dir",
    "seed",
    "speed",
    "plan",
    "signal_ttl",
    "loopback_webhooks",
    "read_only",
    "log_level",
)
"""Settings whose flag every command takes."""

OF_SHARED: Final = ("database", "world", "worlds")
OF_HISTORY: Final = ("history", "history_from")
"""Settings of `serve`; the second ones of the console, too."""

ORDERS: Final[Mapping[str, str]] = {
    "quote": "shares, price and cost of an order; nothing is sent",
    "buy": "buy: shows the quote, and asks",
    "sell": "sell: shows the quote, and asks",
}
"""Commands that quote or place an order, with their help."""

OWN_WORLD: Final[Mapping[str, str]] = {
    "serve": "serve runs the embedded service",
    "drill": "drill plays on a world of its own",
    "tour": "the tour is taken with play money",
}
"""Commands that use no other service, and why."""

PLAIN: Final[Mapping[str, str]] = {
    "halt": "halt all buys now, for every agent; survives a restart",
    "resume": "end the halt, after a typed word",
    "tour": "open the desk with a guided tour: allow, pause, halt, replay, trade",
    "doctor": "check paths, versions and problems",
}
"""Commands with the common flags alone, with their help."""

ABOUT_ORDERS: Final = (
    "Play money, unless --venue names a venue of real money: that wants LIVE typed, or --live with "
    "the worst price, and prints all that is signed. The key of a linked wallet comes from "
    "WALLET_PRIVATE_KEY. Exit status: 0 once the order has filled, or for a quote; else 1, also "
    "where nothing was sent: another answer, ctrl+c or ctrl+d at the question."
)

RESUME_ASKS: Final = "Buys of every agent are allowed again. Type RESUME and press enter: "
"""Asked before a halt ends; the word is that of the desk, which is not loaded for it."""

DIGITS_MAX: Final = 9
"""A longer number is none, whatever its first digits are."""

PEOPLE_ACTS: Final[Mapping[str, str]] = {
    "list": "list everybody, with role",
    "add": "add a person; prints the key, once",
    "role": "give a person another role",
    "renew": "give a person a new key; the old one is dead at once",
    "end": "let a person's key open nothing any more",
}
"""Actions of `people`, with their help."""

LISTS: Final[Mapping[str, str]] = {
    "status": "cash, equity, limits and what needs you",
    "needs": "what needs a person now, the most urgent first; also what a console has put aside",
    "markets": "markets, the most traded first",
    "events": "questions with several outcomes: the sum of YES, what a set costs and pays",
    "positions": "your open positions",
    "orders": "your open orders",
    "fills": "fills of every agent, the newest first, without payouts",
    "agents": "the day of each agent",
    "alerts": "risk alerts",
    "exposure": "what all agents hold, by category, event, market, agent, venue, side",
    "calendar": "what is held, in the order in which it resolves",
    "held": "positions, stops and open orders of every agent",
    "fleet": "return, drawdown and other figures of each agent",
    "notes": "your own notes on markets, trades and days, the newest first",
    "agent-alerts": "alerts on agents, with their last firing",
}
"""Commands that print a list, with their help."""

HAVE_SCHEMA: Final = (*LISTS, "history", "config")
"""Lists whose form `schema` prints."""

EXAMPLES: Final = """\
examples:
  service-tui                                open the desk on the embedded service (play money)
  service-tui --speed 10                     the same, simulated world at 10x
  service-tui --data-dir /tmp/try --seed 7   a separate desk with a repeatable world
  service-tui --plain                        lines of text in place of screens
  service-tui serve --port 8400              the same service for agents, without a console
  service-tui serve --database URL           the service of a shared desk, on PostgreSQL
  service-tui web                            the console in a browser of this machine
  service-tui halt                           halt all buys now, without a question
  service-tui resume                         end the halt (typed word)
  service-tui agent retire NAME              free the slot of an agent; history stays
  service-tui agent alert NAME silent 30     be told; also drawdown, day_loss, spend, move, errors
  service-tui people add ADA --role trader   give a person a key; also list, role, renew, end
  service-tui invite --uses 5                a code by which agents register; also list, end
  service-tui login --url https://host       store the key of another service (prompts for it)
  service-tui --url https://host             open the desk on it
  service-tui keys create                    create a wallet key; also import, list, remove
  service-tui tour                           a guided tour: allow, pause, halt, replay, trade
  service-tui replay --at 03:12              the desk as it was then; nothing can be sent
  service-tui drill flash-crash              practise a bad day; --list shows all and results
  service-tui demo --screenshot DIR          draw pictures of the screens
  service-tui autoresearch                   serve an MCP client that optimises a skill
  service-tui mcp                            serve an MCP client that watches the desk
  service-tui skills list                    strategy packages; also install, check, new, run
  service-tui positions --json               what the screens list, for scripts; also status,
                                             markets, orders, fills, agents, alerts
  service-tui buy "rain in paris" yes 25     shows the quote, asks; also quote, sell
  service-tui history import FOLDER          real questions of the past; also list, show, remove
  service-tui evaluate momentum              a skill on invented worlds, judged: good, or lucky?
  service-tui backup                         copy the database; also restore FILE, verify
  service-tui db check                       the database of a shared desk; also migrate, copy
  service-tui config show                    each setting and its source
  service-tui doctor                         check paths, versions and problems
"""


_FLAG: Final = re.compile(r"--?[A-Za-z]")


def _end_of(words: Sequence[str]) -> int:
    """Where the flags end: at a bare `--`, or behind the last word."""
    return words.index("--") if "--" in words else len(words)


class Parser(argparse.ArgumentParser):
    """A parser that prints an error in one line."""

    _words: Sequence[str] = ()

    def print_help(self, file: "SupportsWrite[str] | None" = None) -> None:
        """Print the help; OutputError where it cannot be written, however long it is."""
        if file is None:
            print_text(self.format_help())
        else:
            super().print_help(file)

    def parse_known_args(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse, and keep the words, of which `error` names those that are unknown."""
        self._words = tuple(args or ())
        parsed, unknown = super().parse_known_args(args, namespace)
        return parsed or argparse.Namespace(), unknown

    def _unknown_flags(self) -> list[str]:
        flags = (word for word in self._words[: _end_of(self._words)] if _FLAG.match(word))
        return [word for word in flags if word.partition("=")[0] not in self._option_string_actions]

    def error(self, message: str) -> NoReturn:
        """Print the message and exit with the code of a usage error.

        A flag that is unknown is named before what is missing: it may be meant for that.
        """
        if "arguments are required" in message and (unknown := self._unknown_flags()):
            message = f"unrecognized arguments: {' '.join(unknown)}"
        # The typed text is repeated here: it must stay one line and harmless.
        message = "".join(letter if letter.isprintable() else "?" for letter in message)
        self.exit(USAGE_ERROR, f"service-tui: {message}; see 'service-tui --help'\n")


def check(parser: Parser, arguments: argparse.Namespace) -> None:
    """Refuse options that exclude each other."""
    if arguments.url is not None and arguments.profile is not None:
        parser.error("--url and --profile name two services. Give one")
    own = OWN_WORLD.get(arguments.command, "")
    if own and (arguments.url or arguments.profile or arguments.read_only):
        parser.error(f"{own}: no --url, --profile or --read-only")
    if arguments.command in {"halt", "resume", "agent", "people", "invite"} and arguments.read_only:
        parser.error(f"{arguments.command} changes the service: no --read-only")
    if (
        arguments.command == "autoresearch"
        and arguments.skill
        and arguments.word not in {"reset", "off"}
    ):
        parser.error(
            "autoresearch takes no argument, status, reset [SKILL], off [SKILL], or a SKILL"
        )
    if arguments.command == "invite" and (arguments.act == "end") != bool(arguments.name):
        parser.error("give the ID with 'invite end', and only there")
    _check_order(parser, arguments)
    _check_backup(parser, arguments)
    if arguments.command == "login" and arguments.url is None:
        parser.error("login needs the service's address: --url https://host")


def _check_backup(parser: Parser, arguments: argparse.Namespace) -> None:
    if arguments.command == "backup" and arguments.folder and arguments.to:
        parser.error("DIR and --to FILE name two places. Give one")
    if arguments.command == "restore" and arguments.empty and arguments.file:
        parser.error("give FILE or --empty, not both")


def _check_order(parser: Parser, arguments: argparse.Namespace) -> None:
    """Refuse to send real money unasked, except with `--live` and the worst price."""
    if arguments.command not in _WORST:
        return
    flag, _ = _WORST[arguments.command]
    is_live = arguments.venue != Venue.SIM.value
    if arguments.yes and is_live:
        parser.error(f"--yes is for play money. Real money wants --live with {flag}")
    if arguments.live and not is_live:
        parser.error("--live is for real money. Give its --venue")
    if arguments.live and not arguments.worst:
        parser.error(f"--live sends without asking: give the worst price, {flag} PRICE")
    if arguments.json and not (arguments.live or arguments.yes):
        parser.error(f"--json asks nothing: give --yes, or for real money --live with {flag}")


def parse(parser: Parser, argv: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments; those behind `--` of `skills run` belong to the skill."""
    own, of_skill = list(argv), list[str]()
    if "--" in own and "skills" in own[: own.index("--")]:
        place = own.index("--")
        own, of_skill = own[:place], own[place + 1 :]
    arguments, unknown = parser.parse_known_args(own)
    runs = arguments.command == "skills" and arguments.act == "run"
    if unknown:
        message = f"unrecognized arguments: {' '.join(unknown)}"
        behind = f"; put the skill's arguments after --: -- {' '.join(unknown)}"
        parser.error(message + (behind if runs else ""))
    if of_skill and not runs:
        parser.error("only 'skills run' takes arguments after --")
    if runs:
        arguments.words = of_skill
    for setting in SETTINGS:
        if setting.flag and not hasattr(arguments, setting.name):
            setattr(arguments, setting.name, False if setting.kind is bool else None)
    return arguments


def parser_of(environment: Environment) -> Parser:
    """The parser of the whole command line."""
    parser = Parser(
        prog="service-tui",
        description="Terminal desk for people who supervise trading agents. Without --url it "
        "opens its own embedded service: no account, no key, no network, play "
        "money.",
        epilog=f"{EXAMPLES}\ndata: {environment.data_dir}\n"
        f"log:  {environment.data_dir / LOG_FILE} (with --data-dir: in that folder)\n"
        f"environment: {KEY_VARIABLE} and {URL_VARIABLE} are used with --url; flags win.\n"
        f"settings: {environment.config_dir / CONFIG_FILE}, below flags and environment.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"service-tui {VERSION}")
    _add_common(parser)
    for of_console in ("listen", "plain", "no_demo", "recording", *OF_HISTORY):
        _add_setting(parser, of_console)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    parser.set_defaults(command="console")
    _add_serve(commands.add_parser)
    _add_web(commands.add_parser)
    _add_drill(commands.add_parser)
    for name, about in PLAIN.items():
        _add_common(commands.add_parser(name, help=about, allow_abbrev=False))
    _add_replay(commands.add_parser)
    _add_agent(commands.add_parser)
    _add_people(commands.add_parser)
    _add_invite(commands.add_parser)
    _add_login(commands.add_parser)
    keys = commands.add_parser("keys", help="manage the keys of your wallets", allow_abbrev=False)
    _add_common(keys)
    keys.add_argument("action", choices=KEY_ACTIONS)
    keys.add_argument("address", nargs="?", help="address of the key to remove")
    keys.add_argument(
        "--keyring", action="store_true", help="store the passphrase in the system keyring"
    )
    _add_demo(commands.add_parser)
    research = commands.add_parser(
        "autoresearch",
        help="autoresearch on a skill: the MCP server, or status, reset, off",
        description=ABOUT_AUTORESEARCH,
        allow_abbrev=False,
    )
    _add_common(research)
    add_arguments(research)
    _add_skills(
        commands.add_parser("skills", help="strategy packages: list, install, check, new, run")
    )
    _add_log(commands.add_parser)
    _add_watching(commands.add_parser)
    _add_orders(commands.add_parser)
    _add_reports(commands.add_parser)
    _add_keeping(commands.add_parser)
    _add_db(commands.add_parser)
    _add_past(commands.add_parser)
    _add_config(commands.add_parser)
    _add_completion(commands.add_parser)
    return parser


def _add_serve(command: Callable[..., Parser]) -> None:
    """Add the command that serves agents without a console."""
    serve = command(
        "serve",
        help="run the embedded service for agents, without a console",
        description="Serves agents from the world of the data directory; with --database from a "
        "world in PostgreSQL, which several processes serve: one leads, the others follow. See "
        "docs/shared-desk.md.",
        allow_abbrev=False,
    )
    _add_common(serve)
    for setting in SETTINGS:
        if setting.command == "serve" or setting.key in {*OF_SHARED, *OF_HISTORY}:
            _add_setting(serve, setting.key)


def _add_web(command: Callable[..., Parser]) -> None:
    """Add the command that opens the console in a browser."""
    web = command(
        "web",
        help="open the console in a browser of this machine",
        description="Serves the console to browsers of this machine, with the embedded service "
        "behind it. The printed address holds a token: whoever has it uses this desk.",
        allow_abbrev=False,
    )
    _add_common(web)
    _add_setting(web, "web.port")


def _add_replay(command: Callable[..., Parser]) -> None:
    """Add the command that shows the desk as it was."""
    replay = command(
        "replay",
        help="the desk as it was at a time; nothing can be sent",
        description="Shows what the console recorded in the data directory, from the record of a "
        "time on. No desk and no service is opened. See docs/replay.md.",
        allow_abbrev=False,
    )
    _add_common(replay)
    replay.add_argument(
        "--at",
        metavar="TIME",
        help="03:12, 'yesterday 03:12', '15 Jan 07:59:30', '2026-01-15 07:59', or 20m for 20 "
        "minutes ago (default: the last record)",
    )


def _add_demo(command: Callable[..., Parser]) -> None:
    """Add the command that draws pictures."""
    demo = command("demo", help="draw pictures of the screens", allow_abbrev=False)
    demo.add_argument("--screenshot", metavar="DIR", required=True, type=Path)


def _add_drill(command: Callable[..., Parser]) -> None:
    """Add the command that plays a drill."""
    drill = command(
        "drill",
        help="practise a bad day in ten minutes, on a world of its own",
        description="Plays a scenario in the console and compares the result with the best listed "
        "course. Play money on a world of its own: no other data directory is touched and no venue "
        "is reached. Write a scenario of your own as a TOML file; see docs/drills.md.",
        allow_abbrev=False,
    )
    drill.add_argument("name", metavar="NAME|FILE.toml", nargs="?", default="", help="what to play")
    drill.add_argument("--list", action="store_true", help="drills and past results")
    drill.add_argument("--json", action="store_true", help="the list as JSON")
    drill.add_argument(
        "--check", action="store_true", help="read the scenario NAME and play its listed courses"
    )
    drill.add_argument(
        "--export", nargs=2, metavar=("RUN", "FILE"), help="write a result; .json or text"
    )
    # The arguments of the console in whose place the drill is played.
    drill.add_argument("--return", dest="returns", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    _add_setting(drill, "data_dir")


def _add_config(command: Callable[..., Parser]) -> None:
    """Add the command that shows the settings."""
    config = command("config", help="each setting, its value and its source", allow_abbrev=False)
    _add_common(config)
    config.add_argument("act", choices=("show",))
    config.add_argument("--json", action="store_true", help="as JSON")


def _add_login(command: Callable[..., Parser]) -> None:
    """Add the commands for stored keys of other services."""
    login = command("login", help="store the key of another service", allow_abbrev=False)
    _add_common(login)
    login.add_argument("--name", default="default", help="name of the profile (default: default)")
    login.add_argument(
        "--replace", action="store_true", help="overwrite a profile of this name without asking"
    )
    login.add_argument("--keyring", action="store_true", help="store the key in the system keyring")
    logout = command("logout", help="remove a stored key", allow_abbrev=False)
    _add_common(logout)
    logout.add_argument("--name", default="default", help="name of the profile (default: default)")


def _add_completion(command: Callable[..., Parser]) -> None:
    """Add the command that prints a completion script."""
    completion = command(
        "completion", help="print the completion script of a shell", allow_abbrev=False
    )
    completion.add_argument("shell", choices=SHELLS)


def _add_agent(command: Callable[..., Parser]) -> None:
    """Add the command that retires or readmits an agent, and sets the alerts on it."""
    agent = command(
        "agent",
        help="retire an agent, readmit it, or set an alert on it",
        description="retire and readmit want a NAME alone. alert sets an alert on the agent: of a "
        "kind, at a limit. unalert removes one, by the id that agent-alerts lists. Limits: silent "
        "in minutes, drawdown in percent of the peak, day_loss and spend in money, move in points, "
        "errors in refused orders. spend, move and errors count within --within minutes.",
        allow_abbrev=False,
    )
    _add_common(agent)
    agent.add_argument("act", choices=("retire", "readmit", "alert", "unalert"))
    agent.add_argument("name", metavar="NAME", help="name or id of the agent")
    agent.add_argument(
        "watch", metavar="KIND", nargs="?", default="", help="kind of an alert; id for unalert"
    )
    agent.add_argument("limit", metavar="LIMIT", nargs="?", default="", help="limit of an alert")
    agent.add_argument(
        "--within", metavar="MIN", type=_row_count, default=10, help="minutes (default: 10)"
    )
    agent.add_argument(
        "--then",
        choices=("tell", "pause", "halt"),
        default="tell",
        help="what it does: tell, pause the agent, halt all buys (default: tell)",
    )
    agent.add_argument(
        "--skill", metavar="SLUG", default="", help="whose errors count (default: all orders)"
    )


def _add_json(command: Parser) -> None:
    command.add_argument("--json", action="store_true", help="one JSON object, for scripts")


def _add_people(command: Callable[..., Parser]) -> None:
    """Add the command for the people who operate a world."""
    people = command(
        "people",
        help="people who operate a world: list, add, role, renew, end",
        description="Each person has a key and a role: observer (reads), trader (own agents), "
        "supervisor (all agents, halt), owner (plans, invitations, people). A key is shown once. "
        "With --url the key of that address is used; see docs/shared-desk.md.",
        allow_abbrev=False,
    )
    _add_common(people)
    actions = people.add_subparsers(dest="act", metavar="ACT", parser_class=Parser, required=True)
    roles = [role.value for role in PersonRole]
    for name, about in PEOPLE_ACTS.items():
        made = actions.add_parser(name, help=about, allow_abbrev=False)
        _add_common(made)
        _add_json(made)
        if name != "list":
            made.add_argument("name", metavar="NAME", help="what the audit log calls them")
        if name == "add":
            made.add_argument("--role", choices=roles, required=True, help="what they may do")
        if name == "role":
            made.add_argument("role", metavar="ROLE", choices=roles, help=", ".join(roles))


def _add_invite(command: Callable[..., Parser]) -> None:
    """Add the command for invitations of agents."""
    invite = command(
        "invite",
        help="invite agents; also list, end",
        description="Makes a code by which agents register; it is shown once. --plan is the plan "
        "that they get.",
        allow_abbrev=False,
    )
    _add_common(invite)
    _add_json(invite)
    invite.add_argument("act", nargs="?", choices=("new", "list", "end"), default="new")
    invite.add_argument("name", metavar="ID", nargs="?", default="", help="invitation to end")
    invite.add_argument(
        "--uses", metavar="N", type=_row_count, default=1, help="how many agents (default: 1)"
    )
    invite.add_argument(
        "--days", metavar="N", type=_row_count, help="how long it is good (default: 7)"
    )
    invite.add_argument(
        "--budget", metavar="MONEY", type=_money, help="what each may spend a day (default: any)"
    )
    invite.add_argument(
        "--for", dest="person", metavar="NAME", help="whose agents they are (default: nobody's)"
    )


def _money(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 10**DIGITS_MAX:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is no amount of money")
    return value


def _add_log(command: Callable[..., Parser]) -> None:
    """Add the command that verifies the action log."""
    logs = command("log", help="the action log: verify it", allow_abbrev=False)
    _add_common(logs)
    logs.add_argument("act", choices=("verify",))
    logs.add_argument(
        "--holds", metavar="HASH", default="", help="a hash you noted: the log must contain it"
    )


def _add_watching(command: Callable[..., Parser]) -> None:
    """Add what reads a desk: for a shell, and for an agent."""
    _add_lists(command)
    _add_schema(command)
    _add_why(command)
    _add_mcp(command)


def _add_lists(command: Callable[..., Parser]) -> None:
    """Add the commands that print what the screens list."""
    for name, about in LISTS.items():
        listed = command(name, help=about, allow_abbrev=False)
        _add_common(listed)
        listed.add_argument("--json", action="store_true", help="as JSON, for scripts")
        listed.set_defaults(find="", limit=None, ids=False)
        if name != "status":
            listed.add_argument("--ids", action="store_true", help="with the ids of the rows")
            listed.add_argument("--find", metavar="WORDS", help="only rows with all these words")
            listed.add_argument("--limit", metavar="N", type=_row_count, help="rows at most")


_OF_A_BUY: Final = "money to spend; all is for a sale"
_OF_A_SALE: Final = "shares, per cent of the position, or all"
_AMOUNTS: Final = {
    "quote": f"buy: {_OF_A_BUY}; sale: {_OF_A_SALE}",
    "buy": _OF_A_BUY,
    "sell": _OF_A_SALE,
}

_WORST: Final = {
    "buy": ("--max-price", "most to pay for a share, such as 0.62"),
    "sell": ("--min-price", "least to get for a share, such as 0.41"),
}
"""The option with the worst price of an order, and its help."""


def _add_why(command: Callable[..., Parser]) -> None:
    """Add the command that explains a trade."""
    why = command(
        "why",
        help="the history of a trade or of a waiting request: signal, reasoning, fill, exit",
        description="ID is the trade of 'fills --json', or the request (h1) of 'needs --json'.",
        allow_abbrev=False,
    )
    _add_common(why)
    why.add_argument("about", metavar="ID", help="of the trade or request")
    _add_json(why)


def _list_name(text: str) -> str:
    if text in HAVE_SCHEMA:
        return text
    raise argparse.ArgumentTypeError(f"{text[:20]!r} is none of {', '.join(HAVE_SCHEMA)}")


def _add_schema(command: Callable[..., Parser]) -> None:
    """Add the command that prints the forms of lists."""
    schema = command(
        "schema",
        help="the JSON Schema of what a list prints with --json, with its version",
        allow_abbrev=False,
    )
    _add_common(schema)
    schema.add_argument("name", metavar="LIST", type=_list_name, help="its command")


def _add_mcp(command: Callable[..., Parser]) -> None:
    """Add the MCP server of the desk."""
    mcp = command(
        "mcp",
        help="serve an MCP client that watches the desk: status, needs, fleet, exposure, why",
        description="Over standard input and output, for an agent that watches over others. It "
        f"reads; with {KEY_VARIABLE} of an agent it proposes buys, which a person decides.",
        allow_abbrev=False,
    )
    _add_common(mcp)


def _add_orders(command: Callable[..., Parser]) -> None:
    """Add the commands that quote and place an order."""
    for name, about in ORDERS.items():
        order = command(name, help=about, description=ABOUT_ORDERS, allow_abbrev=False)
        _add_common(order)
        order.add_argument("market", metavar="MARKET", help="id, question, or words of it")
        order.add_argument("side", metavar="yes|no", type=str.lower, choices=("yes", "no"))
        order.add_argument("amount", metavar="AMOUNT", help=_AMOUNTS[name])
        _add_json(order)
        order.add_argument(
            "--venue",
            choices=[one.value for one in Venue],
            default=Venue.SIM.value,
            help=f"where to trade (default: {Venue.SIM.value}, play money)",
        )
        if name == "quote":
            order.add_argument("--sell", action="store_true", help="quote a sale")
            order.set_defaults(worst="")
            continue
        order.add_argument("--yes", action="store_true", help="send play money without asking")
        flag, about_flag = _WORST[name]
        order.add_argument(
            "--live", action="store_true", help=f"send real money without asking; needs {flag}"
        )
        order.add_argument(flag, dest="worst", metavar="PRICE", default="", help=about_flag)


def row_number(text: str) -> int | None:
    """The whole number that a text of digits stands for; None for any other or a longer text."""
    return int(text) if text.isdecimal() and len(text) <= DIGITS_MAX else None


def _row_count(text: str) -> int:
    if text.isascii() and (count := row_number(text)):
        return count
    raise argparse.ArgumentTypeError(f"{text[:20]!r} is no number of rows")


def _add_reports(command: Callable[..., Parser]) -> None:
    """Add the commands that report what agents did."""
    report = command(
        "report", help="daily summary of each agent, as Markdown or CSV", allow_abbrev=False
    )
    _add_common(report)
    report.add_argument(
        "--agent", metavar="NAME", default="", help="only the agent of this name or id"
    )
    _add_setting(report, "report.format")
    report.add_argument("--to", metavar="FILE", type=Path, help="a new file (default: print it)")
    export = command(
        "export", help="trades, positions, alerts, experiments as CSV and JSON", allow_abbrev=False
    )
    _add_common(export)
    export.add_argument("folder", metavar="DIR", type=Path)


def _add_keeping(command: Callable[..., Parser]) -> None:
    """Add the commands for copies of the database."""
    backup = command(
        "backup",
        help="copy the database while in use",
        description="Copies the database while in use: the world, trades and settings. Keys "
        "and the action log are not included.",
        allow_abbrev=False,
    )
    _add_common(backup)
    backup.add_argument(
        "folder",
        metavar="DIR",
        type=Path,
        nargs="?",
        help="target (default: beside the daily copies)",
    )
    backup.add_argument("--to", metavar="FILE", type=Path, help="a new file")
    restore = command(
        "restore",
        help="replace the database with a copy, keeping the old one; lists the copies",
        allow_abbrev=False,
    )
    _add_common(restore)
    restore.add_argument("file", metavar="FILE", type=Path, nargs="?", help="default: list them")
    restore.add_argument("--empty", action="store_true", help="start a new desk instead")
    _add_common(
        command("verify", help="check database, journal, ledger and action log", allow_abbrev=False)
    )


def _add_db(command: Callable[..., Parser]) -> None:
    """Add the command for the database of a shared desk."""
    db = command(
        "db",
        help="the database of a shared desk: check, migrate, copy",
        description="check: its worlds, who leads, whether the books add up. migrate: makes the "
        "tables. copy: a world from a data directory into the database, or back: give the folder "
        "and the word database, in the order of the copy. See docs/shared-desk.md.",
        allow_abbrev=False,
    )
    _add_common(db)
    for of_db in ("database", "world"):
        _add_setting(db, of_db)
    _add_json(db)
    db.add_argument("act", choices=("check", "migrate", "copy"))
    db.add_argument("source", nargs="?", default="", metavar="FROM", help="of copy")
    db.add_argument("target", nargs="?", default="", metavar="TO", help="of copy")


def _add_past(command: Callable[..., Parser]) -> None:
    """Add what works on the past: histories, and skills that are tried on them."""
    _add_history(command)
    _add_evaluate(command)


def _add_history(command: Callable[..., Parser]) -> None:
    """Add the command for recorded markets."""
    history = command(
        "history",
        help="recorded markets to trade on: import, list, show, remove",
        description="A history is a recording of real markets, on which an offline world can run: "
        "service-tui --history NAME --from 2024-06-01. See docs/history.md.",
        allow_abbrev=False,
    )
    _add_common(history)
    actions = history.add_subparsers(dest="act", metavar="ACT", parser_class=Parser, required=True)

    def add_action(name: str, about: str) -> Parser:
        made = actions.add_parser(name, help=about, allow_abbrev=False)
        _add_common(made)
        return made

    imported = add_action("import", "make a history of files and folders; CSV, JSON, Parquet")
    imported.add_argument("paths", metavar="PATH", type=Path, nargs="+")
    imported.add_argument("--name", metavar="NAME", help="default: the name of the first PATH")
    imported.add_argument("--replace", action="store_true", help="replace the one of this name")
    add_action("list", "list the histories").add_argument(
        "--json", action="store_true", help="as JSON, for scripts"
    )
    show = add_action("show", "what is in a history, and what was left out")
    show.add_argument("name", metavar="NAME")
    show.add_argument("--left-out", action="store_true", help="list the rows that were left out")
    show.add_argument("--json", action="store_true", help="as JSON, for scripts")
    cut = add_action("cut", "a history of what was known at a time, and nothing later")
    cut.add_argument("name", metavar="NAME")
    cut.add_argument("--until", metavar="TIME", required=True, help="as 2024-06-01, UTC")
    cut.add_argument("--as", dest="new_name", metavar="NAME", required=True, help="its name")
    add_action("remove", "delete a history").add_argument("name", metavar="NAME")


def _add_evaluate(command: Callable[..., Parser]) -> None:
    """Add the command that judges skills."""
    made = command(
        "evaluate",
        help="try skills on histories or invented worlds: good, or lucky?",
        description="Runs each skill on worlds of its own, round by round and as fast as it can, "
        "and judges what it did. See docs/evaluate.md.",
        allow_abbrev=False,
    )
    _add_common(made)
    made.add_argument("skills", metavar="SKILL", nargs="+", help="a skill's slug or folder")
    made.add_argument("--history", metavar="NAME", help="recorded markets (default: invented)")
    made.add_argument("--from", dest="begins", metavar="TIME", help="begin, as 2024-06-01")
    made.add_argument("--to", dest="ends", metavar="TIME", help="end (default: of the history)")
    made.add_argument("--seeds", metavar="N,N", default="1,2,3", help="invented worlds (1,2,3)")
    made.add_argument("--days", metavar="N", type=float, default=2.0, help="of each (2)")
    made.add_argument("--every", metavar="TIME", default="15m", help="between rounds (15m)")
    made.add_argument("--budget", metavar="AMOUNT", type=float, help="money a day (20)")
    made.add_argument(
        "--anew", action="store_true", help="start the skill for each round, as the desk does"
    )
    made.add_argument(
        "--holdout",
        nargs="?",
        const="first",
        choices=("first", "last"),
        help="keep back the last third of the time; 'last' judges it alone",
    )
    made.add_argument("--again", action="store_true", help="make trials anew that were made before")
    made.add_argument("--name", metavar="NAME", help="of the report (default: skill and world)")
    form = made.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON, for scripts")
    form.add_argument("--csv", action="store_true", help="every trade, as CSV")


def _add_skills(skills: Parser) -> None:
    """Add the actions of `skills`."""
    _add_common(skills)
    actions = skills.add_subparsers(dest="act", metavar="ACT", parser_class=Parser, required=True)

    def add_action(name: str, about: str) -> Parser:
        made = actions.add_parser(name, help=about, allow_abbrev=False)
        _add_common(made)
        return made

    add_action("list", "list the installed skills")
    source = add_action("install", "install from a folder, a .zip or a .tar")
    source.add_argument("source", metavar="PATH", type=Path)
    check = add_action("check", "list all problems of a skill")
    check.add_argument("name", metavar="NAME", help="of an installed skill, or a folder")
    new = add_action("new", "write a working template")
    new.add_argument("name", metavar="NAME")
    new.add_argument("--in", dest="parent", metavar="DIR", type=_folder, default=Path())
    run = add_action("run", "run a skill here; a dry run unless '-- --live' is given")
    run.add_argument("name", metavar="NAME", help="of an installed skill, or a folder")
    run.epilog = "arguments of the skill follow --: skills run NAME -- --live --once"
    run.set_defaults(words=())


def _add_common(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command."""
    for key in COMMON:
        _add_setting(parser, key)


def _add_setting(parser: argparse.ArgumentParser, key: str) -> None:
    """Add the flag of a setting; an absent flag stays unset, so that a file can set it."""
    setting = BY_KEY[key]
    about = setting.about + (f" (default: {setting.default})" if setting.default else "")
    if setting.is_repeated:
        parser.add_argument(
            setting.flag,
            metavar=setting.metavar,
            action=_Joined,
            default=argparse.SUPPRESS,
            help=about,
        )
    elif setting.kind is bool:
        parser.add_argument(
            setting.flag, action="store_true", default=argparse.SUPPRESS, help=setting.about
        )
    elif setting.values:
        parser.add_argument(
            setting.flag,
            type=setting.kind,
            choices=setting.values,
            default=argparse.SUPPRESS,
            help=about,
        )
    else:
        parser.add_argument(
            setting.flag,
            dest=setting.name,
            metavar=setting.metavar,
            type=partial(_parse_value, setting),
            default=argparse.SUPPRESS,
            help=about,
        )


class _Joined(argparse.Action):
    """A flag that may be given several times; its value has commas in between."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Add one more."""
        del parser, option_string
        before: str | None = getattr(namespace, self.dest, None)
        setattr(namespace, self.dest, f"{before},{values}" if before else str(values))


def _parse_value(setting: Setting, text: str) -> Value:
    try:
        return value_in(setting, text)
    except SettingError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _folder(text: str) -> Path:
    try:
        return folder(text)
    except SettingError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
