"""The commands of the program, one function each; exit codes.

Codes: 0 done, 1 cannot, 2 usage error, 70 a bug of ours, 130 ctrl+c.
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
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from service_tui.app.address import AddressError, check_url, folder_of
from service_tui.app.collecting import collect_from_now
from service_tui.app.options import Options
from service_tui.app.output import OutputError, print_lines, print_text
from service_tui.cli.parser import (
    LISTS,
    LOG_FILE,
    ORDERS,
    RESUME_ASKS,
    USAGE_ERROR,
    check,
    parse,
    parser_of,
)
from service_tui.commands.research_arguments import parse_request
from service_tui.config import (
    DATA_VARIABLE,
    EXCHANGE_VARIABLE,
    INSECURE_VARIABLE,
    KEY_VARIABLE,
    WALLET_VARIABLE,
    Environment,
    read_environment,
)
from service_tui.pasted import api_key
from service_tui.settings import (
    BY_KEY,
    CONFIG_FILE,
    KEY,
    ConfigFile,
    SettingError,
    read_config,
    settle,
)
from service_tui.terms import Plan
from service_tui.version import VERSION

if TYPE_CHECKING:
    from service_tui.commands.halt import HaltReport
    from service_tui.credentials.keys import Profile

OK: Final = 0
CANNOT: Final = 1
BUG: Final = 70
INTERRUPTED: Final = 130

KEEPS_LOG: Final = frozenset({
    "console",
    "tour",
    "replay",
    "login",
    "serve",
    "web",
    "halt",
    "resume",
    "agent",
    "people",
    "invite",
    "report",
    "export",
    *LISTS,
    *ORDERS,
})
OPENS: Final = frozenset({"console", "web", "halt", "resume", "agent", "people", "invite"})
"""Commands that open a desk, on another service too."""

LOCAL: Final = frozenset({
    "tour",
    "drill",
    "serve",
    "login",
    "logout",
    "autoresearch",
    "demo",
    "config",
    "completion",
    "db",
})
"""Commands that ignore the service that a file names."""

SHARED: Final = frozenset({"serve", "db"})
"""Commands that know the database of a shared desk."""

WRITES: Final = frozenset({"serve", "halt", "resume", "agent", "people", "invite"})
"""Commands without --read-only, which ignore that of a file: a halt is never refused."""

ADDRESSED: Final = frozenset({"url", "profile", KEY, "data_dir", "allow_insecure", "exchange"})
"""Settings that depend on others, or are read into the environment."""

TEXTUAL_DRIVER: Final = "TEXTUAL_DRIVER"
WEB_DRIVER: Final = "textual.drivers.web_driver:WebDriver"
"""How textual-serve asks for a console in a page. Source: its own environment."""

OF_PAGES: Final = ("data_dir", "profile", "read_only", "log_level")
"""Settings of `web` that each of its consoles is given."""

STACKS_FILE: Final = "service-tui-stacks.txt"

FRAMES: Final = "240"
"""Paints a second at most; so many are never wanted, but a key waits for no more than two."""

NICENESS: Final = 5
"""For `serve`: the service yields to an attached console. While twenty agents trade without pause,
keys are painted eight times sooner."""

TURN_S: Final = 0.001
"""How long one thread runs while another waits."""


SCREENLESS: Final = frozenset({"dumb", "unknown"})
"""Kinds of terminals that print escape sequences instead of obeying them."""


class CannotError(Exception):
    """The request cannot be met; one plain sentence."""


def run(argv: Sequence[str]) -> int:
    """Run one command line.

    Returns:
        The exit code.
    """
    log_path = ""
    # Little is garbage at a start, or in a brief command; one that stays switches it on again.
    gc.disable()
    # httpx imports its own command line if it can: 20 to 40 ms of each start, for what is unused.
    sys.modules["httpx._main"] = None  # type: ignore[assignment] - Python's own word for "not there"
    try:
        environment = read_environment(os.environ)
        file = read_config(environment.config_dir / CONFIG_FILE)
        environment = _with_file(environment, file)
        arguments = _parse(argv, environment, file)
        options = _options(arguments, environment)
        if arguments.command in KEEPS_LOG:
            _start_log(options, arguments.log_level)
            log_path = str(options.log_path)
        else:
            logging.basicConfig(handlers=[logging.NullHandler()])
        if arguments.command not in {"console", "tour", "replay"}:
            # Other commands are closed on the way out; the console handles the signal itself.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        code = _COMMANDS[arguments.command](options, arguments)
        print_lines()
    except (AddressError, CannotError, OutputError) as error:
        sys.stderr.write(f"service-tui: {error}\n")
        return CANNOT
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  (the outermost door: places, never values)
        from service_tui.console.shell import fatal  # noqa: PLC0415

        fatal.log_fault(error)
        sys.stderr.write(f"{fatal.report(error, log_path)}\n")
        return BUG
    finally:
        gc.enable()
    return code


def _with_file(environment: Environment, file: ConfigFile) -> Environment:
    """The environment, completed by the configuration file."""
    settings = {
        name: value
        for name, variable in (
            ("data_dir", DATA_VARIABLE),
            ("allow_insecure", INSECURE_VARIABLE),
            ("exchange", EXCHANGE_VARIABLE),
        )
        if (value := file.values.get(name)) is not None and not os.environ.get(variable)
    }
    return replace(environment, **settings)


def _parse(argv: Sequence[str], environment: Environment, file: ConfigFile) -> argparse.Namespace:
    """Parse the command line; help and version are printed and end the program."""
    parser = parser_of(environment)
    try:
        arguments = parse(parser, argv)
    except SystemExit:
        print_lines()
        raise
    if file.problem:
        parser.exit(USAGE_ERROR, f"service-tui: {file.problem}\n")
    check(parser, arguments)
    try:
        _settle(arguments, environment, file)
    except SettingError as error:
        parser.exit(USAGE_ERROR, f"service-tui: {error}\n")
    return arguments


def _settle(arguments: argparse.Namespace, environment: Environment, file: ConfigFile) -> None:
    """Fill flags that were not given with the setting's effective value.

    Raises:
        SettingError: a variable cannot be used, or the file names two services.
    """
    flags = {name: value for name, value in vars(arguments).items() if value is not False}
    # The key itself was removed from the environment.
    wallet = {WALLET_VARIABLE: "*"} if environment.wallet_key else {}
    arguments.settled = tuple(settle(flags, {**os.environ, **wallet}, file, arguments.command))
    for effective in arguments.settled:
        name = effective.setting.name
        if (
            effective.value is None
            or name in ADDRESSED
            or effective.setting.command not in {"", arguments.command}
        ):
            continue
        if name != "read_only" or arguments.command not in WRITES:
            setattr(arguments, name, effective.value)
    names_service = (
        arguments.url is not None or arguments.profile is not None or arguments.command in LOCAL
    )
    arguments.config_file = ConfigFile(file.path) if names_service else file
    if arguments.config_file.values.keys() >= {"url", "profile"}:
        raise SettingError(f"{file.path}: url and profile name two services. Keep one")


def _options(arguments: argparse.Namespace, environment: Environment) -> Options:
    """Build the start options: flags first, then the environment, then stored profiles."""
    base = arguments.data_dir or environment.data_dir
    url, key = arguments.url, environment.api_key
    wants_remote = url is not None or arguments.profile is not None
    if not wants_remote and arguments.command in OPENS and environment.api_url and key:
        url, wants_remote = environment.api_url, True
    elif not wants_remote and not (environment.api_url and key):
        # The file belongs to this program: its address alone names the service.
        url, arguments.profile = (
            _text(arguments.config_file.values.get(name)) for name in ("url", "profile")
        )
        wants_remote = url is not None or arguments.profile is not None
    if wants_remote and arguments.command in OPENS:
        url, key = _remote(arguments, environment, url)
        _check_proxy(url)
    elif url is not None:
        url = check_url(url, may_be_plain=environment.allow_insecure)
    if environment.wallet_key:
        _check_wallet_key(environment.wallet_key)
    data_dir = base / folder_of(url) if url else base
    try:
        is_other = base.exists() and not base.is_dir()
    except OSError as error:
        raise CannotError(
            f"cannot use {base} ({error.strerror}); give another --data-dir"
        ) from error
    if is_other:
        raise CannotError(f"{base} is not a directory; give another --data-dir")
    return Options(
        data_dir=data_dir,
        config_dir=environment.config_dir,
        log_path=base / LOG_FILE,
        url=url,
        api_key=key if url else None,
        seed=arguments.seed,
        speed=arguments.speed,
        plan=Plan(arguments.plan) if arguments.plan else None,
        read_only=arguments.read_only,
        allow_insecure=environment.allow_insecure,
        listen=(arguments.port if arguments.command == "serve" else arguments.listen) or 0,
        limits=arguments.command != "serve" or arguments.limits != "off",
        signal_ttl_s=arguments.signal_ttl,
        wallet_key=environment.wallet_key,
        exchange=_exchange(environment.exchange),
        loopback_webhooks=arguments.loopback_webhooks,
        recording=arguments.recording != "off",
        demo=arguments.command in {"console", "tour"} and not arguments.no_demo,
        ops_port=arguments.ops_port if arguments.command == "serve" else None,
        database=_of_shared(arguments, "database"),
        world=_of_shared(arguments, "world") or "main",
        **(_of_network(arguments) if arguments.command == "serve" else {}),
        worlds=_of_shared(arguments, "worlds") if arguments.command == "serve" else None,
    )


def _of_shared(arguments: argparse.Namespace, name: str) -> str | None:
    """A setting of a shared desk; None for a command that knows none."""
    return _text(getattr(arguments, name, None)) if arguments.command in SHARED else None


def _of_network(arguments: argparse.Namespace) -> dict[str, Any]:
    """Where and how `serve` answers."""
    names: str = arguments.public_name or ""
    return {
        "host": arguments.host or "",
        "tls_cert": arguments.tls_cert,
        "tls_key": arguments.tls_key,
        "trusted_proxy": arguments.trusted_proxy or "",
        "public_names": tuple(name for part in names.split(",") if (name := part.strip())),
        "invitations": None if arguments.invitations is None else arguments.invitations == "on",
    }


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _exchange(name: str) -> str:
    """The venue's exchange that the environment names; the first one by default."""
    if not name:
        return "v1"
    from service_tui.signing.book import exchange_of  # noqa: PLC0415

    try:
        return exchange_of(name)
    except ValueError as error:
        raise CannotError(f"invalid {EXCHANGE_VARIABLE}: {error}") from None


def _check_wallet_key(key: str) -> None:
    """Raise CannotError if the environment's key is malformed, without repeating it."""
    from service_tui.signing.errors import KeyFormatError  # noqa: PLC0415
    from service_tui.signing.signer import key_bytes  # noqa: PLC0415

    try:
        key_bytes(key)
    except KeyFormatError as error:
        raise CannotError(f"invalid {WALLET_VARIABLE}: {error}") from None


def _remote(
    arguments: argparse.Namespace, environment: Environment, url: str | None
) -> tuple[str, str]:
    """Address and key of another service; a stored key is only used for its own address."""
    from service_tui.credentials.keys import KeysError, profiles  # noqa: PLC0415

    try:
        stored = profiles(environment.config_dir)
    except KeysError as error:
        raise CannotError(str(error)) from error
    if arguments.profile is not None:
        profile = stored.get(arguments.profile)
        if profile is None:
            names = ", ".join(sorted(stored)) or "none"
            raise CannotError(f"no profile {arguments.profile!r} (stored: {names})")
        return check_url(profile.url, may_be_plain=environment.allow_insecure), _key_of(profile)
    address = check_url(url or environment.api_url or "", may_be_plain=environment.allow_insecure)
    if environment.api_key and _is_meant_for(environment, address):
        return address, environment.api_key
    file_key, file_url = (_text(arguments.config_file.values.get(name)) for name in (KEY, "url"))
    if file_key and check_url(file_url or "", may_be_plain=True) == address:
        return address, api_key(file_key)
    match = next((profile for profile in stored.values() if profile.url == address), None)
    if match is None:
        raise CannotError(
            f"no key for {address}: set {KEY_VARIABLE}, or run 'service-tui login --url {address}'"
        )
    return match.url, _key_of(match)


def _check_proxy(url: str) -> None:
    """Raise CannotError if the environment names a proxy for an address that cannot be used."""
    from service_tui.client.proxies import proxy_for  # noqa: PLC0415

    try:
        proxy_for(url, os.environ)
    except ValueError as error:
        raise CannotError(str(error)) from error


def _key_of(profile: "Profile") -> str:
    """The key of a stored service, from its file or from the keyring."""
    from service_tui.credentials.keys import KeysError  # noqa: PLC0415
    from service_tui.credentials.login import key_of  # noqa: PLC0415

    try:
        return key_of(profile)
    except KeysError as error:
        raise CannotError(str(error)) from error


def _is_meant_for(environment: Environment, address: str) -> bool:
    """True if the environment's key may be sent here: to its own address, or any if it has none."""
    if environment.api_url is None:
        return True
    return check_url(environment.api_url, may_be_plain=True) == address


def _start_log(options: Options, level: str | None) -> None:
    """Log to a file: the console owns the terminal."""
    from service_tui.app.logfile import LogError, keep_log, keep_stacks  # noqa: PLC0415

    try:
        keep_log(options.log_path, level or "info")
        keep_stacks(options.log_path.with_name(STACKS_FILE))
    except LogError as error:
        raise CannotError(f"{error} (or give another --data-dir)") from error


def is_plain(arguments: argparse.Namespace, *, is_page: bool) -> bool:
    """True for lines of text: a page in a browser and the tour have screens, whatever is set."""
    return bool(arguments.plain) and not is_page and arguments.command == "console"


def _console(options: Options, arguments: argparse.Namespace) -> int:
    is_page = os.environ.get(TEXTUAL_DRIVER) == WEB_DRIVER
    if is_plain(arguments, is_page=is_page):
        return _plain(options)
    if not is_page:
        _require_terminal()
    _prepare_for_keys()
    from service_tui.app.picture import shown  # noqa: PLC0415

    with shown(options.data_dir):
        from service_tui.app.start import open_console  # noqa: PLC0415

        has_tour = arguments.command == "tour"
        end = open_console(options, drills=tuple if is_page else _drills, has_tour=has_tour)
    if end.drill:
        from service_tui.commands.drill import replace_by_drill  # noqa: PLC0415

        replace_by_drill(options.log_path.parent, end.drill, sys.argv[1:])
    return end.code


def _drills() -> tuple[tuple[str, str], ...]:
    from service_tui.drills.shipped import shipped_titles  # noqa: PLC0415

    return shipped_titles()


def _plain(options: Options) -> int:
    """Run the console as lines of text."""
    from service_tui.cli.plain import answer  # noqa: PLC0415
    from service_tui.cli.plain_rows import PlainRows  # noqa: PLC0415
    from service_tui.commands import plain  # noqa: PLC0415
    from service_tui.console.closed_desk import DeskClosedError  # noqa: PLC0415

    hello = (f"service-tui {VERSION}, lines of text. help lists the commands, quit leaves.",)
    collect_from_now()
    try:
        plain.run(options, sys.stdin, partial(answer, options, PlainRows()), hello)
    except DeskClosedError as error:
        raise CannotError(str(error)) from error
    return OK


def _replay(options: Options, arguments: argparse.Namespace) -> int:
    """Show what was recorded, without a desk."""
    from service_tui.clock import SystemClock  # noqa: PLC0415
    from service_tui.console.fields import FieldError  # noqa: PLC0415
    from service_tui.console.replay_text import read_time  # noqa: PLC0415

    now = SystemClock().now()
    try:
        at = read_time(arguments.at, now) if arguments.at else now
    except FieldError as error:
        raise CannotError(f"invalid --at: {error}") from error
    _require_terminal()
    _prepare_for_keys()
    from service_tui.commands.replay import ReplayError, open_replay  # noqa: PLC0415

    collect_from_now()
    try:
        return open_replay(options, at)
    except ReplayError as error:
        raise CannotError(str(error)) from error


def _require_terminal() -> None:
    """Raise CannotError unless a person sits at a terminal that has a screen."""
    if not all(map(_is_terminal, (sys.stdin, sys.stdout, sys.stderr))):
        raise CannotError("the console needs a terminal; see --help")
    if (kind := os.environ.get("TERM", "")) in SCREENLESS:
        raise CannotError(
            f"TERM={kind} is a terminal without a screen: 'service-tui --plain' gives lines of text"
        )
    # A shell exports the size of another window, and the terminal knows its own.
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)


def _prepare_for_keys() -> None:
    """Set the process up for a console: keys wait for nothing."""
    # After a paint the next one may wait two frames: so would a key.
    os.environ.setdefault("TEXTUAL_FPS", FRAMES)
    # The thread that reads the keyboard gets its turn as soon.
    sys.setswitchinterval(TURN_S)


def _is_terminal(stream: TextIO | None) -> bool:
    """True if a stream leads to a terminal; Python sets a closed one to None."""
    return stream is not None and stream.isatty()


def _serve(options: Options, _: argparse.Namespace) -> int:
    """Run the embedded service until a signal ends it."""
    from service_tui.app.network import NetworkError  # noqa: PLC0415
    from service_tui.commands.serve import PortTakenError, serve  # noqa: PLC0415
    from service_tui.console.closed_desk import DeskClosedError  # noqa: PLC0415

    try:
        collect_from_now()
        # ours: the service gives way to a console beside it, for which a person waits.
        if hasattr(os, "nice"):
            os.nice(NICENESS)
        serve(options)
    except (DeskClosedError, NetworkError, PortTakenError) as error:
        raise CannotError(str(error)) from error
    return OK


def _web(options: Options, arguments: argparse.Namespace) -> int:
    """Run the console in a browser of this machine until a signal ends it."""
    from service_tui.commands.serve import PortTakenError  # noqa: PLC0415
    from service_tui.commands.web import open_web  # noqa: PLC0415
    from service_tui.console.closed_desk import DeskClosedError  # noqa: PLC0415

    flags = list[str]()
    for name in OF_PAGES:
        value = getattr(arguments, name)
        if value not in {None, False}:
            flags += [BY_KEY[name].flag] if value is True else [BY_KEY[name].flag, str(value)]
    if options.url is not None and arguments.profile is None:
        _require_stored_key(options)
        flags += [BY_KEY["url"].flag, options.url]
    collect_from_now()
    try:
        open_web(options, flags, arguments.port or 0)
    except (DeskClosedError, PortTakenError) as error:
        raise CannotError(str(error)) from error
    return OK


def _require_stored_key(options: Options) -> None:
    """Raise CannotError unless a stored profile has a key for the service."""
    from service_tui.credentials.keys import KeysError, profiles  # noqa: PLC0415

    try:
        stored = profiles(options.config_dir).values()
    except KeysError as error:
        raise CannotError(str(error)) from error
    if all(profile.url != options.url for profile in stored):
        raise CannotError(
            f"no stored key for {options.url}: run 'service-tui login --url {options.url}' first"
        )


def _halt(options: Options, _: argparse.Namespace) -> int:
    """Halt every source of buys and print each acknowledgement."""
    from service_tui.commands import halt as halt_command  # noqa: PLC0415
    from service_tui.console.closed_desk import DeskClosedError  # noqa: PLC0415

    try:
        return _print_report(halt_command.halt(options))
    except DeskClosedError as error:
        raise CannotError(str(error)) from error


def _resume(options: Options, _: argparse.Namespace) -> int:
    """End the halt after the typed word."""
    from service_tui.commands import halt as halt_command  # noqa: PLC0415
    from service_tui.console.closed_desk import DeskClosedError  # noqa: PLC0415
    from service_tui.desk.commands.halt import RESUME_WORD  # noqa: PLC0415

    if _is_terminal(sys.stdin):
        print_text(RESUME_ASKS)
    if (sys.stdin.readline().strip() if sys.stdin else "") != RESUME_WORD:
        raise CannotError(f"not resumed: the word is {RESUME_WORD}")
    try:
        return _print_report(halt_command.resume(options))
    except DeskClosedError as error:
        raise CannotError(str(error)) from error


def _agent(options: Options, arguments: argparse.Namespace) -> int:
    """Retire an agent of the embedded service, or readmit it."""
    from service_tui.commands import agent as agent_command  # noqa: PLC0415
    from service_tui.console.closed_desk import DeskClosedError  # noqa: PLC0415

    try:
        return _print_report(agent_command.govern(options, arguments.act, arguments.name))
    except DeskClosedError as error:
        raise CannotError(str(error)) from error


def _people(options: Options, arguments: argparse.Namespace) -> int:
    """Manage the people who operate a world, or invitations of agents."""
    from service_tui.commands import people as people_command  # noqa: PLC0415
    from service_tui.console.closed_desk import DeskClosedError  # noqa: PLC0415

    known = {field.name for field in fields(people_command.PeopleRequest)}
    given = {name: value for name, value in vars(arguments).items() if name in known}
    run = people_command.run_people
    if arguments.command == "invite":
        run = people_command.run_invite
    try:
        print_lines(*run(options, people_command.PeopleRequest(**given)))
    except (DeskClosedError, people_command.PeopleCommandError) as error:
        raise CannotError(str(error)) from error
    return OK


def _print_report(report: "HaltReport") -> int:
    print_lines(*report.lines)
    return OK if report.is_done else CANNOT


def _login(options: Options, arguments: argparse.Namespace) -> int:
    """Read the key unseen and store it for its address."""
    from service_tui.client.keys import Key  # noqa: PLC0415
    from service_tui.credentials.keys import (  # noqa: PLC0415
        KeysError,
        Profile,
        profiles,
    )
    from service_tui.credentials.login import keep  # noqa: PLC0415

    address = check_url(arguments.url, may_be_plain=options.allow_insecure)
    key = api_key(_read_secret(f"API key for {address}: "))
    try:
        Key(key, address)
    except ValueError as error:
        raise CannotError(f"invalid key: {error}; nothing stored") from None
    try:
        before = profiles(options.config_dir).get(arguments.name)
        if before is not None and not arguments.replace:
            _confirm_replacement(before.name, before.url)
        profile = Profile(arguments.name, address, key)
        keep(options.config_dir, profile, in_keyring=arguments.keyring)
    except KeysError as error:
        raise CannotError(f"key not stored: {error}") from error
    print_lines(f"stored; open the desk with 'service-tui --profile {arguments.name}'")
    return OK


def _logout(options: Options, arguments: argparse.Namespace) -> int:
    """Remove a stored key, from its file or from the keyring."""
    from service_tui.credentials.keys import KeysError  # noqa: PLC0415
    from service_tui.credentials.login import forget  # noqa: PLC0415

    try:
        removed = forget(options.config_dir, arguments.name)
    except KeysError as error:
        raise CannotError(f"nothing removed: {error}") from error
    if removed is None:
        raise CannotError(f"no profile {arguments.name!r}")
    print_lines(f"removed the key for {removed.url}")
    return OK


def _confirm_replacement(name: str, address: str) -> None:
    """Require a typed yes before a stored profile is replaced; CannotError without one."""
    about = f"profile '{name}' has a key for {address}"
    if not _is_terminal(sys.stdin):
        raise CannotError(f"{about}; nothing stored: add --replace, or another --name")
    print_lines(f"{about}; type yes to replace it:")
    if sys.stdin.readline().strip() != "yes":
        raise CannotError("nothing stored")


def _keys(options: Options, arguments: argparse.Namespace) -> int:
    """Keep keys of wallets; secrets are typed or piped, never arguments."""
    from service_tui.commands.keys import KeyRequest, KeysCommandError, run_command  # noqa: PLC0415
    from service_tui.credentials.system_keyring import system_keyring  # noqa: PLC0415
    from service_tui.credentials.wallet_keys import WalletKeys  # noqa: PLC0415

    keys = WalletKeys(options.data_dir, keyring=system_keyring)
    request = KeyRequest(
        arguments.action, arguments.address, options.wallet_key, arguments.keyring, _read_secret
    )
    try:
        report = run_command(keys, request)
    except KeysCommandError as error:
        raise CannotError(str(error)) from error
    print_lines(*report.lines)
    if report.trouble_count:
        raise CannotError(f"{report.trouble_count} problem(s) with the keys")
    return OK


def _read_secret(prompt: str) -> str:
    """A secret typed unseen, or one line from a pipe."""
    try:
        if _is_terminal(sys.stdin):
            return getpass.getpass(prompt)
        # A file that another system's editor saved begins with a mark of its byte order.
        return sys.stdin.readline().rstrip("\r\n").removeprefix("\ufeff") if sys.stdin else ""
    except EOFError:
        return ""
    except UnicodeDecodeError:
        raise CannotError("the input is not UTF-8 text; nothing stored") from None


def _demo(_: Options, arguments: argparse.Namespace) -> int:
    from service_tui.commands.demo import make_screenshots  # noqa: PLC0415

    try:
        for path in make_screenshots(arguments.screenshot):
            print_lines(str(path))
    except OSError as error:
        raise CannotError(f"cannot write {arguments.screenshot}: {error.strerror}") from error
    return OK


def _drill(options: Options, arguments: argparse.Namespace) -> int:
    """Play a drill, or list, check or export."""
    from service_tui.commands import drill as command  # noqa: PLC0415

    try:
        if arguments.export:
            run_name, path = arguments.export
            command.export(options.data_dir, run_name, Path(path))
            print_lines(path)
        elif arguments.check:
            print_lines(*command.checked(arguments.name))
        elif arguments.list or not arguments.name:
            shown = command.listed_json if arguments.json else command.listed
            print_lines(*shown(options.data_dir))
        else:
            _play_drill(options, arguments)
    except command.DrillError as error:
        raise CannotError(str(error)) from error
    return OK


def _play_drill(options: Options, arguments: argparse.Namespace) -> None:
    from service_tui.commands import drill as command  # noqa: PLC0415

    command.checked(arguments.name)
    _require_terminal()
    _prepare_for_keys()
    collect_from_now()
    end = command.play(options.data_dir, options.config_dir, arguments.name)
    if arguments.returns is not None and end.code == OK:
        command.replace_by_console(arguments.returns)
    print_lines(*end.lines)


def _doctor(options: Options, arguments: argparse.Namespace) -> int:
    """Print where everything is and what is wrong; changes nothing."""
    from service_tui.commands.doctor import findings, profile_problem  # noqa: PLC0415

    if arguments.profile is not None and (problem := profile_problem(options, arguments.profile)):
        raise CannotError(problem)
    lines, healthy = findings(options)
    print_lines(f"service-tui {VERSION}, Python {platform.python_version()}", *lines)
    return OK if healthy else CANNOT


def _autoresearch(options: Options, arguments: argparse.Namespace) -> int:
    """Serve an MCP client, or run a command on a repository's sessions."""
    from service_tui.autoresearch.errors import ToolError  # noqa: PLC0415

    try:
        request = parse_request(arguments, os.environ)
    except ValueError as error:
        raise CannotError(str(error)) from error
    try:
        if request.word:
            from service_tui.commands.research import autoresearch  # noqa: PLC0415

            collect_from_now()
            autoresearch(options, request)
            return OK
        # A client waits for the server's first answer: import no more than that needs.
        from service_tui.commands.research_server import serve_client  # noqa: PLC0415

        return serve_client(options, request)
    except ToolError as error:
        raise CannotError(str(error)) from error


def _skills(options: Options, arguments: argparse.Namespace) -> int:
    """List, install, check, create or run skills, beside any open desk."""
    from service_tui.commands import skills  # noqa: PLC0415

    data_dir = options.data_dir
    try:
        match arguments.act:
            case "install":
                skills.install_skill(data_dir, arguments.source, print_lines)
            case "check":
                skills.check_skill(data_dir, arguments.name, print_lines)
            case "new":
                skills.make_skill(arguments.name, arguments.parent, print_lines)
            case "run":
                return skills.run_skill(data_dir, arguments.name, arguments.words)
            case _:
                skills.list_skills(data_dir, print_lines)
    except skills.SkillsError as error:
        raise CannotError(str(error)) from error
    return OK


def _log(options: Options, arguments: argparse.Namespace) -> int:
    """Verify the hash chain of the action log."""
    from service_tui.commands.log import LogCommandError, verify_log  # noqa: PLC0415

    try:
        print_lines(verify_log(options.data_dir, arguments.holds))
    except LogCommandError as error:
        raise CannotError(str(error)) from error
    return OK


def _keep(options: Options, arguments: argparse.Namespace) -> int:
    """Copy the database, restore a copy, or check everything that is stored."""
    from service_tui.commands.database import DatabaseRequest, run_command  # noqa: PLC0415
    from service_tui.storage.errors import StorageError  # noqa: PLC0415

    fields = vars(arguments)
    parts = (fields.get(name) for name in ("folder", "to", "file", "empty"))
    try:
        lines, is_well = run_command(options.data_dir, DatabaseRequest(arguments.command, *parts))
    except StorageError as error:
        raise CannotError(str(error)) from error
    print_lines(*lines)
    return OK if is_well else CANNOT


def _db(options: Options, arguments: argparse.Namespace) -> int:
    """Look at the database of a shared desk, make its tables, or copy a world."""
    from service_tui.commands.shared import SharedRequest, run_shared_command  # noqa: PLC0415
    from service_tui.storage.errors import StorageError  # noqa: PLC0415

    request = SharedRequest(arguments.act, arguments.source, arguments.target)
    try:
        lines, is_well = run_shared_command(options, request)
    except StorageError as error:
        raise CannotError(str(error)) from error
    print_lines(*lines)
    return OK if is_well else CANNOT


def _config(options: Options, arguments: argparse.Namespace) -> int:
    """Print each setting, its value and its source; secrets stay hidden."""
    from service_tui.commands.config import as_json, as_lines  # noqa: PLC0415

    # The log lies in the parent of each service's own folder.
    folder = str(options.log_path.parent)
    print_lines(
        *(as_json(arguments.settled) if arguments.json else as_lines(arguments.settled, folder))
    )
    return OK


def _completion(_: Options, arguments: argparse.Namespace) -> int:
    """Print the completion script of a shell."""
    from service_tui.commands.completion import script  # noqa: PLC0415

    print_lines(script(parser_of(read_environment({})), arguments.shell))
    return OK


def _report(options: Options, arguments: argparse.Namespace) -> int:
    """Print or store a day's summary of each agent."""
    from service_tui.commands import report as report_command  # noqa: PLC0415
    from service_tui.console.closed_desk import DeskClosedError  # noqa: PLC0415

    try:
        text = report_command.day(options, arguments.agent, as_table=arguments.format == "csv")
        if arguments.to is None:
            print_text(text)
        else:
            report_command.keep(arguments.to, text)
            print_lines(str(arguments.to))
    except (DeskClosedError, report_command.ReportError) as error:
        raise CannotError(str(error)) from error
    return OK


def _list(options: Options, arguments: argparse.Namespace) -> int:
    """Print what a screen lists, as a table or as JSON."""
    from service_tui.cli.lists import list_lines  # noqa: PLC0415
    from service_tui.commands.report import ReportError  # noqa: PLC0415
    from service_tui.console.closed_desk import DeskClosedError  # noqa: PLC0415

    try:
        print_lines(*list_lines(options, arguments))
    except (DeskClosedError, ReportError) as error:
        raise CannotError(str(error)) from error
    return OK


def _order(options: Options, arguments: argparse.Namespace) -> int:
    """Quote an order, ask, and place it once."""
    from service_tui.cli.orders import choose_of, confirm, is_unasked, order_request  # noqa: PLC0415
    from service_tui.commands.trade import trade  # noqa: PLC0415
    from service_tui.console.closed_desk import DeskClosedError  # noqa: PLC0415

    request = order_request(arguments)
    if not is_unasked(request, arguments) and not _is_terminal(sys.stdin):
        flags = "--live and the worst price" if request.is_live else "--yes"
        raise CannotError(
            f"no terminal to ask at: nothing was sent; add {flags} to send without asking"
        )
    confirms = partial(confirm, request, arguments)
    try:
        chooses = choose_of(request, arguments, asks=_is_terminal(sys.stdin))
        return _print_report(trade(options, request, confirms, chooses))
    except DeskClosedError as error:
        raise CannotError(str(error)) from error


def _export(options: Options, arguments: argparse.Namespace) -> int:
    """Write every table as CSV and JSON into a folder."""
    from service_tui.commands import report as report_command  # noqa: PLC0415
    from service_tui.console.closed_desk import DeskClosedError  # noqa: PLC0415

    try:
        count = report_command.export(options, arguments.folder)
    except (DeskClosedError, report_command.ReportError) as error:
        raise CannotError(str(error)) from error
    print_lines(f"{count} files written to {arguments.folder}")
    return OK


_COMMANDS: Final = {
    "autoresearch": _autoresearch,
    "console": _console,
    "tour": _console,
    "replay": _replay,
    "serve": _serve,
    "web": _web,
    "halt": _halt,
    "resume": _resume,
    "agent": _agent,
    "people": _people,
    "invite": _people,
    "login": _login,
    "logout": _logout,
    "keys": _keys,
    "demo": _demo,
    "doctor": _doctor,
    "drill": _drill,
    "skills": _skills,
    "log": _log,
    "config": _config,
    "completion": _completion,
    **dict.fromkeys(LISTS, _list),
    **dict.fromkeys(ORDERS, _order),
    "report": _report,
    "export": _export,
    "backup": _keep,
    "restore": _keep,
    "verify": _keep,
    "db": _db,
}
