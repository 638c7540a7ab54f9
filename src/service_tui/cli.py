"""The doors of the program: console, serve, halt, resume, login, demo, doctor; exit codes.

Knows wiring and config. Must not know how a desk or a service works.
Used by __main__. Codes: 0 done, 1 cannot, 2 wrong words, 70 a bug of ours, 130 ctrl+c.
"""

import argparse
import gc
import getpass
import logging
import os
import platform
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, TextIO

from service_tui import __version__
from service_tui.config import (
    KEY_VARIABLE,
    URL_VARIABLE,
    Environment,
    read_environment,
)
from service_tui.terms import Plan
from service_tui.wiring.address import AddressError, check_url, folder_of
from service_tui.wiring.logfile import LogError, keep_log, keep_stacks
from service_tui.wiring.options import Options

if TYPE_CHECKING:
    from service_tui.wiring.halt_door import Outcome

OK: Final = 0
CANNOT: Final = 1
WRONG_WORDS: Final = 2
BUG: Final = 70
INTERRUPTED: Final = 130

KEEPS_LOG: Final = frozenset({"console", "login", "serve", "halt", "resume"})
OPENS: Final = frozenset({"console", "halt", "resume"})
"""Doors that open a desk, on another service too."""

LOG_FILE: Final = "service-tui.log"
STACKS_FILE: Final = "service-tui-stacks.txt"
SPEEDS: Final = (0, 1, 10, 60)
SEED_MAX: Final = 2**63 - 1
PORT_MAX: Final = 65_535
SIGNAL_TTL_MAX_S: Final = 600

EXAMPLES: Final = """\
examples:
  service-tui                                open the desk on the embedded service (play money)
  service-tui --speed 10                     the same, the offline world ten times as fast
  service-tui --data-dir /tmp/try --seed 7   a desk of its own, in a world that can be repeated
  service-tui serve --port 8400              the same service for agents, without a console
  service-tui halt                           stop every entry now; asks nothing
  service-tui resume                         let entries pass again; asks for a word
  service-tui login --url https://host       store the key of another service (it is asked for)
  service-tui --url https://host             open the desk on it
  service-tui demo --screenshot DIR          make the pictures of the screens
  service-tui doctor                         say what is where, and what is wrong
"""


class _Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        # What was typed is repeated here: it must stay one line and harmless.
        said = "".join(letter if letter.isprintable() else "?" for letter in message)
        self.exit(WRONG_WORDS, f"service-tui: {said}; see 'service-tui --help'\n")


class CannotError(Exception):
    """The person's wish cannot be met; one plain sentence."""


def run(words: Sequence[str]) -> int:
    """Do what the words say.

    Returns:
        The exit code.
    """
    environment = read_environment(os.environ)
    parser = _parser(environment)
    given = parser.parse_args(words)
    _check(parser, given)
    log_path = ""
    try:
        options = _options(given, environment)
        if given.door in KEEPS_LOG:
            _start_log(options)
            log_path = str(options.log_path)
        else:
            logging.basicConfig(handlers=[logging.NullHandler()])
        if given.door != "console":
            # What the others have open is closed on the way out; the console answers for itself.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return _DOORS[given.door](options, given)
    except (AddressError, CannotError) as error:
        sys.stderr.write(f"service-tui: {error}\n")
        return CANNOT
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  (the outermost door: places, never values)
        from service_tui.console import fatal  # noqa: PLC0415

        fatal.log_fault(error)
        sys.stderr.write(f"{fatal.report(error, log_path)}\n")
        return BUG


def _check(parser: _Parser, given: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    if given.url is not None and given.profile is not None:
        parser.error("--url and --profile name two services: give one of them")
    if given.door == "serve" and (given.url or given.profile or given.read_only):
        parser.error("serve runs the embedded service: no --url, --profile or --read-only")
    if given.door in {"halt", "resume"} and given.read_only:
        parser.error(f"{given.door} changes the service: no --read-only")
    if given.door == "login" and given.url is None:
        parser.error("login needs the address of the service: --url https://host")


def _parser(environment: Environment) -> _Parser:
    """The words of the command line."""
    parser = _Parser(
        prog="service-tui",
        description="The terminal desk for people who supervise trading agents. Without --url it "
        "opens on its own embedded service: no account, no key, no network, play money.",
        epilog=f"{EXAMPLES}\ndata: {environment.data_dir}\n"
        f"log:  {environment.data_dir / LOG_FILE} (with --data-dir: in that folder)\n"
        f"environment: {KEY_VARIABLE} and {URL_VARIABLE} are used with --url; flags win.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"service-tui {__version__}")
    _add_common(parser, top=True)
    parser.add_argument(
        "--listen",
        metavar="N",
        type=_port,
        default=0,
        help="port on which agents reach the desk's service (default: any free one)",
    )
    doors = parser.add_subparsers(dest="door", metavar="COMMAND", parser_class=_Parser)
    parser.set_defaults(door="console")
    serve = doors.add_parser(
        "serve", help="run the embedded service for agents, without a console", allow_abbrev=False
    )
    _add_common(serve)
    serve.add_argument(
        "--port", metavar="N", type=_port, default=0, help="0 takes any free one (default)"
    )
    serve.add_argument(
        "--limits",
        choices=("on", "off"),
        default="on",
        help="off: no rates, no caps; for benches and soaks",
    )
    for name, what in (
        ("halt", "stop every entry now, for everybody; kept over a restart"),
        ("resume", "end the halt, after a typed word"),
    ):
        _add_common(doors.add_parser(name, help=what, allow_abbrev=False))
    login = doors.add_parser("login", help="store the key of another service", allow_abbrev=False)
    _add_common(login)
    login.add_argument("--name", default="default", help="name of the profile (default: default)")
    demo = doors.add_parser("demo", help="make the pictures of the screens", allow_abbrev=False)
    demo.add_argument("--screenshot", metavar="DIR", required=True, type=Path)
    doctor = doors.add_parser(
        "doctor", help="say what is where, and what is wrong", allow_abbrev=False
    )
    _add_common(doctor)
    return parser


def _add_common(parser: argparse.ArgumentParser, *, top: bool = False) -> None:
    """Options of every door; below the top a missing one must not undo what stood before."""
    missing = None if top else argparse.SUPPRESS
    parser.add_argument("--url", metavar="URL", default=missing, help="another service")
    parser.add_argument(
        "--profile", metavar="NAME", default=missing, help="a service stored by 'login'"
    )
    parser.add_argument(
        "--data-dir",
        metavar="DIR",
        type=_folder,
        default=missing,
        help="where the desk keeps state",
    )
    parser.add_argument(
        "--seed", metavar="N", type=_seed, default=missing, help="seed of a new offline world"
    )
    parser.add_argument(
        "--speed",
        type=int,
        choices=SPEEDS,
        default=missing,
        help="world seconds a second; 0 pauses the offline world",
    )
    parser.add_argument(
        "--plan",
        choices=[plan.value for plan in Plan],
        default=missing,
        help="plan of new agents on the embedded service (default: as last chosen, else pro)",
    )
    parser.add_argument(
        "--signal-ttl",
        metavar="S",
        type=_life,
        default=missing,
        help="seconds that a signal of the reactor waits on the embedded service (default: 60)",
    )
    parser.add_argument(
        "--read-only",
        action="store_true",
        default=False if top else argparse.SUPPRESS,
        help="refuse every write",
    )


def _folder(text: str) -> Path:
    """A folder; nothing at all is not the current one."""
    if not text:
        raise argparse.ArgumentTypeError("the name of the folder is empty")
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise argparse.ArgumentTypeError(f"{text!r} names nobody's home") from error


def _seed(text: str) -> int:
    """A seed, 0 to 2^63 - 1."""
    try:
        seed = int(text)
    except ValueError:
        seed = -1
    if not 0 <= seed <= SEED_MAX:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to {SEED_MAX}")
    return seed


def _port(text: str) -> int:
    """A port of this machine, 0 to 65535."""
    try:
        port = int(text)
    except ValueError:
        port = -1
    if not 0 <= port <= PORT_MAX:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to {PORT_MAX}")
    return port


def _life(text: str) -> int:
    """Seconds that a signal lives, 1 to 600."""
    is_short = text.isascii() and text.isdecimal() and len(text) <= len(str(SIGNAL_TTL_MAX_S))
    if not is_short or not 1 <= int(text) <= SIGNAL_TTL_MAX_S:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a whole number from 1 to {SIGNAL_TTL_MAX_S}"
        )
    return int(text)


def _options(given: argparse.Namespace, environment: Environment) -> Options:
    """The start that was asked for: flags, then environment, then what was stored."""
    base = given.data_dir or environment.data_dir
    url, key = given.url, environment.api_key
    wants_remote = url is not None or given.profile is not None
    if not wants_remote and given.door in OPENS and environment.api_url and key:
        url, wants_remote = environment.api_url, True
    if wants_remote and given.door in OPENS:
        url, key = _remote(given, environment, url)
    elif url is not None:
        url = check_url(url, may_be_plain=environment.allow_insecure)
    data_dir = base / folder_of(url) if url else base
    try:
        is_other = base.exists() and not base.is_dir()
    except OSError as error:
        raise CannotError(
            f"{base} cannot be used ({error.strerror}); give another --data-dir"
        ) from error
    if is_other:
        raise CannotError(f"{base} is not a directory; give another --data-dir")
    return Options(
        data_dir=data_dir,
        config_dir=environment.config_dir,
        log_path=base / LOG_FILE,
        url=url,
        api_key=key if url else None,
        seed=given.seed,
        speed=given.speed,
        plan=Plan(given.plan) if given.plan else None,
        read_only=given.read_only,
        allow_insecure=environment.allow_insecure,
        listen=given.port if given.door == "serve" else given.listen,
        limits=given.door != "serve" or given.limits == "on",
        signal_ttl_s=given.signal_ttl,
    )


def _remote(
    given: argparse.Namespace, environment: Environment, url: str | None
) -> tuple[str, str]:
    """Address and key of another service; a stored key is used for its own address only."""
    from service_tui.wiring.keys import KeysError, profiles  # noqa: PLC0415

    try:
        stored = profiles(environment.config_dir)
    except KeysError as error:
        raise CannotError(str(error)) from error
    if given.profile is not None:
        profile = stored.get(given.profile)
        if profile is None:
            known = ", ".join(sorted(stored)) or "none"
            raise CannotError(f"no profile is called {given.profile!r} (stored: {known})")
        return check_url(profile.url, may_be_plain=environment.allow_insecure), profile.key
    address = check_url(url or environment.api_url or "", may_be_plain=environment.allow_insecure)
    if environment.api_key and _is_meant_for(environment, address):
        return address, environment.api_key
    match = next((one for one in stored.values() if one.url == address), None)
    if match is None:
        raise CannotError(
            f"no key for {address}: set {KEY_VARIABLE}, or run 'service-tui login --url {address}'"
        )
    return match.url, match.key


def _is_meant_for(environment: Environment, address: str) -> bool:
    """Whether the environment's key may go there: where an address stands beside it, only there."""
    if environment.api_url is None:
        return True
    return check_url(environment.api_url, may_be_plain=True) == address


def _start_log(options: Options) -> None:
    """Log to a file: the terminal belongs to the console."""
    try:
        keep_log(options.log_path)
        keep_stacks(options.log_path.with_name(STACKS_FILE))
    except LogError as error:
        raise CannotError(f"{error} (or give another --data-dir)") from error


def _console(options: Options, _: argparse.Namespace) -> int:
    if not all(map(_is_terminal, (sys.stdin, sys.stdout, sys.stderr))):
        raise CannotError("the console needs a terminal for its keys and its screen; see --help")
    # Nothing is garbage before the first paint; wiring.start switches the collector on again.
    gc.disable()
    from service_tui.wiring.picture import shown  # noqa: PLC0415

    with shown(options.data_dir):
        from service_tui.wiring.start import open_console  # noqa: PLC0415

        return open_console(options)


def _is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream leads to a terminal; None is what Python makes of a closed one."""
    return stream is not None and stream.isatty()


def _serve(options: Options, _: argparse.Namespace) -> int:
    """Run the embedded service until a signal ends it."""
    from service_tui.console.doors import DeskClosedError  # noqa: PLC0415
    from service_tui.wiring.serve import PortTakenError, serve  # noqa: PLC0415

    try:
        serve(options)
    except (DeskClosedError, PortTakenError) as error:
        raise CannotError(str(error)) from error
    return OK


def _halt(options: Options, _: argparse.Namespace) -> int:
    """Close the gate and have everybody told; asks nothing."""
    from service_tui.console.doors import DeskClosedError  # noqa: PLC0415
    from service_tui.wiring import halt_door  # noqa: PLC0415

    try:
        return _told(halt_door.halt(options))
    except DeskClosedError as error:
        raise CannotError(str(error)) from error


def _resume(options: Options, _: argparse.Namespace) -> int:
    """Open the gate again, once the word was typed."""
    from service_tui.console.doors import DeskClosedError  # noqa: PLC0415
    from service_tui.desk.commands import RESUME_WORD  # noqa: PLC0415
    from service_tui.wiring import halt_door  # noqa: PLC0415

    if _is_terminal(sys.stdin):
        sys.stdout.write(
            f"Entries pass again at once, of every agent. Type {RESUME_WORD} and press enter: "
        )
        sys.stdout.flush()
    if (sys.stdin.readline().strip() if sys.stdin else "") != RESUME_WORD:
        raise CannotError(f"not resumed: the word is {RESUME_WORD}")
    try:
        return _told(halt_door.resume(options))
    except DeskClosedError as error:
        raise CannotError(str(error)) from error


def _told(outcome: "Outcome") -> int:
    sys.stdout.writelines(f"{line}\n" for line in outcome.lines)
    return OK if outcome.is_done else CANNOT


def _login(options: Options, given: argparse.Namespace) -> int:
    """Ask for the key, never show it, store it for its address."""
    from service_tui.wiring.keys import KeysError, Profile, keep_profile  # noqa: PLC0415

    address = check_url(given.url, may_be_plain=options.allow_insecure)
    key = _asked_for(f"API key for {address}: ")
    if not key or any(letter.isspace() for letter in key):
        raise CannotError("that is no key: it is empty or holds spaces; nothing was stored")
    try:
        keep_profile(options.config_dir, Profile(given.name, address, key))
    except KeysError as error:
        raise CannotError(f"the key was not stored: {error}") from error
    sys.stdout.write(f"stored; open it with 'service-tui --profile {given.name}'\n")
    return OK


def _asked_for(prompt: str) -> str:
    """What a person types unseen, or what a file or another program hands in."""
    try:
        if _is_terminal(sys.stdin):
            return getpass.getpass(prompt).strip()
        return sys.stdin.readline().strip() if sys.stdin else ""
    except (EOFError, UnicodeDecodeError):
        return ""


def _demo(_: Options, given: argparse.Namespace) -> int:
    from service_tui.wiring.demo import make_screenshots  # noqa: PLC0415

    try:
        for path in make_screenshots(given.screenshot):
            sys.stdout.write(f"{path}\n")
    except OSError as error:
        raise CannotError(f"{given.screenshot} cannot be written: {error.strerror}") from error
    return OK


def _doctor(options: Options, _: argparse.Namespace) -> int:
    """Say what is where; nothing is changed."""
    from service_tui.wiring.doctor import findings  # noqa: PLC0415

    lines, healthy = findings(options)
    sys.stdout.write(f"service-tui {__version__}, Python {platform.python_version()}\n")
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return OK if healthy else CANNOT


_DOORS: Final = {
    "console": _console,
    "serve": _serve,
    "halt": _halt,
    "resume": _resume,
    "login": _login,
    "demo": _demo,
    "doctor": _doctor,
}
