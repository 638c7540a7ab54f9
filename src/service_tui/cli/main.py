"""The commands of the program, one function each; exit codes.

Codes: 0 done, 1 cannot, 2 usage error, 70 a bug of ours, 130 ctrl+c.
"""

import argparse
import gc
import json
import logging
import os
import platform
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from service_tui.app.address import AddressError, check_url
from service_tui.app.collecting import collect_from_now
from service_tui.app.options import Options
from service_tui.app.output import (
    OutputError,
    print_error,
    print_lines,
    print_progress,
    print_text,
)
from service_tui.cli.begin import CannotError, arguments_of, options_of, with_file
from service_tui.cli.parser import LISTS, ORDERS, RESUME_ASKS, parser_of
from service_tui.cli.terminal import is_terminal, prepare_for_keys, read_secret, require_terminal
from service_tui.commands.research_arguments import parse_request
from service_tui.config import DATA_VARIABLE, DATABASE_VARIABLE, read_environment
from service_tui.pasted import api_key
from service_tui.settings import BY_KEY, CONFIG_FILE, ConfigFile, read_config
from service_tui.version import VERSION

if TYPE_CHECKING:
    from service_tui.commands.halt import HaltReport

Command = Callable[[Options, argparse.Namespace], int]
"""What a command does with its options and its own arguments; the exit code."""

OK: Final = 0
CANNOT: Final = 1
BUG: Final = 70
INTERRUPTED: Final = 130

SHARED_DESK: Final = (
    f"{DATABASE_VARIABLE} (or 'database' in the configuration) names one, and this is the desk of "
    "a directory. Put the address and the operator's key of the shared one into SERVICE_API_URL "
    "and SERVICE_API_KEY, or give --profile"
)

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
    "why",
    "mcp",
    *LISTS,
    *ORDERS,
})

TEXTUAL_DRIVER: Final = "TEXTUAL_DRIVER"
WEB_DRIVER: Final = "textual.drivers.web_driver:WebDriver"
"""How textual-serve asks for a console in a page. Source: its own environment."""

OF_PAGES: Final = ("data_dir", "profile", "read_only", "log_level")
"""Settings of `web` that each of its consoles is given."""

STACKS_FILE: Final = "service-tui-stacks.txt"


NICENESS: Final = 5
"""For `serve`: the service yields to an attached console. While twenty agents trade without pause,
keys are painted eight times sooner."""


def start_log(options: Options, level: str | None) -> None:
    """Log to a file: the console owns the terminal."""
    from service_tui.app.logfile import LogError, keep_log, keep_stacks  # noqa: PLC0415

    try:
        keep_log(options.log_path, level or "info")
        keep_stacks(options.log_path.with_name(STACKS_FILE))
    except LogError as error:
        raise CannotError(f"{error} (or give another --data-dir)") from error


def start_log_of_halt(begins: Callable[[], None]) -> None:
    """Log if that is possible: a halt does not wait for a log."""
    try:
        begins()
    except (CannotError, OSError) as error:
        logging.basicConfig(handlers=[logging.NullHandler()])
        print_error(f"service-tui: halting without a log: {error}\n")


def run(
    argv: Sequence[str],
    commands: Mapping[str, Command] | None = None,
    *,
    starts_log: Callable[[Options, str | None], None] = start_log,
) -> int:
    """Run one command line.

    Args:
        argv: the words after the program's name.
        commands: functions that stand in for those of the program, by the command's name.
        starts_log: begins the log of a command that keeps one.

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
        environment = with_file(environment, file)
        arguments = arguments_of(argv, environment, file)
        options = options_of(arguments, environment)
        if arguments.command == "halt":
            start_log_of_halt(partial(starts_log, options, arguments.log_level))
            log_path = str(options.log_path)
        elif arguments.command in KEEPS_LOG:
            starts_log(options, arguments.log_level)
            log_path = str(options.log_path)
        else:
            logging.basicConfig(handlers=[logging.NullHandler()])
        if arguments.command not in {"console", "tour", "replay"}:
            # Other commands are closed on the way out; the console handles the signal itself.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        code = {**_COMMANDS, **(commands or {})}[arguments.command](options, arguments)
        print_lines()
    except (AddressError, CannotError, OutputError) as error:
        print_error(f"service-tui: {error}\n")
        return CANNOT
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  (the outermost door: places, never values)
        return _failed(error, log_path)
    finally:
        gc.enable()
    return code


def _failed(error: Exception, log_path: str) -> int:
    """Say which extra is missing, else that the program has a fault."""
    from service_tui.extras import missing_extra  # noqa: PLC0415

    if missing := missing_extra(error):
        print_error(f"service-tui: {missing}\n")
        return CANNOT
    from service_tui.console.shell import fatal  # noqa: PLC0415

    fatal.log_fault(error)
    print_error(f"{fatal.report(error, log_path)}\n")
    return BUG


def is_plain(arguments: argparse.Namespace, *, is_page: bool) -> bool:
    """True for lines of text: a page in a browser and the tour have screens, whatever is set."""
    return bool(arguments.plain) and not is_page and arguments.command == "console"


def _console(options: Options, arguments: argparse.Namespace) -> int:
    is_page = os.environ.get(TEXTUAL_DRIVER) == WEB_DRIVER
    if is_plain(arguments, is_page=is_page):
        return _plain(options)
    if not is_page:
        require_terminal()
    prepare_for_keys()
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
    require_terminal()
    prepare_for_keys()
    from service_tui.commands.replay import ReplayError, open_replay  # noqa: PLC0415

    collect_from_now()
    try:
        return open_replay(options, at)
    except ReplayError as error:
        raise CannotError(str(error)) from error


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


def page_flags(arguments: argparse.Namespace, url: str | None) -> list[str]:
    """The flags that each console of a page is started with; its service by one of two names."""
    flags = list[str]()
    for name in OF_PAGES:
        value = getattr(arguments, name)
        if value not in {None, False}:
            flags += [BY_KEY[name].flag] if value is True else [BY_KEY[name].flag, str(value)]
    if url is not None and arguments.profile is None:
        flags += [BY_KEY["url"].flag, url]
    return flags


def _web(options: Options, arguments: argparse.Namespace) -> int:
    """Run the console in a browser of this machine until a signal ends it."""
    from service_tui.commands.serve import PortTakenError  # noqa: PLC0415
    from service_tui.commands.web import open_web  # noqa: PLC0415
    from service_tui.console.closed_desk import DeskClosedError  # noqa: PLC0415

    if options.url is not None and arguments.profile is None:
        _require_stored_key(options)
    flags = page_flags(arguments, options.url)
    collect_from_now()
    try:
        open_web(options, flags, arguments.port or 0)
    except (DeskClosedError, PortTakenError) as error:
        raise CannotError(str(error)) from error
    return OK


def _require_stored_key(options: Options) -> None:
    """Raise CannotError unless a stored profile has a key for the service."""
    from service_tui.credentials.api_keys import ApiKeysError, profiles  # noqa: PLC0415

    try:
        stored = profiles(options.config_dir).values()
    except ApiKeysError as error:
        raise CannotError(str(error)) from error
    if all(profile.url != options.url for profile in stored):
        raise CannotError(
            f"no stored key for {options.url}: run 'service-tui login --url {options.url}' first"
        )


def _halt(options: Options, arguments: argparse.Namespace) -> int:
    """Halt every source of buys and print each acknowledgement.

    A wrong setting stops no halt; but what it names may be another service, which trades on.
    """
    from service_tui.commands import halt as halt_command  # noqa: PLC0415

    # Whatever becomes of the output, the halt is carried out first.
    report = halt_command.halt(options)
    print_lines(f"halt of {options.url or f'the desk of {options.data_dir}'}")
    code = _print_report(report)
    missing = [
        f"what this names, if it names another service ({problem})"
        for problem in arguments.passed_over
    ]
    if _names_shared_desk(options, arguments):
        missing.append(f"the shared desk. {SHARED_DESK}")
    print_lines(*(f"missing {one}" for one in missing))
    return CANNOT if missing else code


def _names_shared_desk(options: Options, arguments: argparse.Namespace) -> bool:
    """True if a setting names a shared desk, and none says that another one is meant."""
    file: ConfigFile = arguments.config_file
    is_named = bool(os.environ.get(DATABASE_VARIABLE) or file.values.get("database"))
    given = (options.url, arguments.data_dir, os.environ.get(DATA_VARIABLE))
    return is_named and not any(given)


def _refuse_shared_desk(options: Options, arguments: argparse.Namespace) -> None:
    """Refuse to act on the desk of the directory where a shared one is named."""
    if _names_shared_desk(options, arguments):
        raise CannotError(SHARED_DESK)


def _resume(options: Options, _: argparse.Namespace) -> int:
    """End the halt after the typed word."""
    from service_tui.commands import halt as halt_command  # noqa: PLC0415
    from service_tui.console.closed_desk import DeskClosedError  # noqa: PLC0415
    from service_tui.desk.commands.halt import RESUME_WORD  # noqa: PLC0415

    if is_terminal(sys.stdin):
        print_text(RESUME_ASKS)
    if (sys.stdin.readline().strip() if sys.stdin else "") != RESUME_WORD:
        raise CannotError(f"not resumed: the word is {RESUME_WORD}")
    try:
        return _print_report(halt_command.resume(options))
    except DeskClosedError as error:
        raise CannotError(str(error)) from error


def _agent(options: Options, arguments: argparse.Namespace) -> int:
    """Retire an agent of the embedded service, readmit it, or change the alerts on it."""
    from service_tui.commands import agent as agent_command  # noqa: PLC0415
    from service_tui.console.closed_desk import DeskClosedError  # noqa: PLC0415

    try:
        if arguments.act in {"retire", "readmit"}:
            return _print_report(agent_command.govern(options, arguments.act, arguments.name))
        wanted = agent_command.AlertRequest(
            arguments.name,
            arguments.watch,
            arguments.limit,
            arguments.within,
            arguments.then,
            arguments.skill,
        )
        removes = arguments.act == "unalert"
        return _print_report(agent_command.alert(options, wanted, removes=removes))
    except DeskClosedError as error:
        raise CannotError(str(error)) from error


def _people(options: Options, arguments: argparse.Namespace) -> int:
    """Manage the people who operate a world, or invitations of agents."""
    from service_tui.commands import people as people_command  # noqa: PLC0415
    from service_tui.console.closed_desk import DeskClosedError  # noqa: PLC0415

    _refuse_shared_desk(options, arguments)
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


def _print_as_json(form: str, report: "HaltReport") -> int:
    from service_tui.commands.json_text import json_text  # noqa: PLC0415

    print_lines(json_text(form, {"done": report.is_done, "text": report.lines, **report.facts}))
    return OK if report.is_done else CANNOT


def _login(options: Options, arguments: argparse.Namespace) -> int:
    """Read the key unseen and store it for its address."""
    from service_tui.client.api_keys import ApiKey  # noqa: PLC0415
    from service_tui.credentials.api_keys import (  # noqa: PLC0415
        ApiKeysError,
        Profile,
        profiles,
    )
    from service_tui.credentials.login import keep  # noqa: PLC0415

    address = check_url(arguments.url, may_be_plain=options.allow_insecure)
    key = api_key(read_secret(f"API key for {address}: "))
    try:
        ApiKey(key, address)
    except ValueError as error:
        raise CannotError(f"invalid key: {error}; nothing stored") from None
    try:
        before = profiles(options.config_dir).get(arguments.name)
        if before is not None and not arguments.replace:
            _confirm_replacement(before.name, before.url)
        profile = Profile(arguments.name, address, key)
        keep(options.config_dir, profile, in_keyring=arguments.keyring)
    except ApiKeysError as error:
        raise CannotError(f"key not stored: {error}") from error
    print_lines(f"stored; open the desk with 'service-tui --profile {arguments.name}'")
    return OK


def _logout(options: Options, arguments: argparse.Namespace) -> int:
    """Remove a stored key, from its file or from the keyring."""
    from service_tui.credentials.api_keys import ApiKeysError  # noqa: PLC0415
    from service_tui.credentials.login import forget  # noqa: PLC0415

    try:
        removed = forget(options.config_dir, arguments.name)
    except ApiKeysError as error:
        raise CannotError(f"nothing removed: {error}") from error
    if removed is None:
        raise CannotError(f"no profile {arguments.name!r}")
    print_lines(f"removed the key for {removed.url}")
    return OK


def _confirm_replacement(name: str, address: str) -> None:
    """Require a typed yes before a stored profile is replaced; CannotError without one."""
    about = f"profile '{name}' has a key for {address}"
    if not is_terminal(sys.stdin):
        raise CannotError(f"{about}; nothing stored: add --replace, or another --name")
    print_lines(f"{about}; type yes to replace it:")
    if sys.stdin.readline().strip() != "yes":
        raise CannotError("nothing stored")


def _keys(options: Options, arguments: argparse.Namespace) -> int:
    """Keep keys of wallets; secrets are typed or piped, never arguments."""
    from service_tui.commands.keys import KeyRequest, KeysCommandError, run_command  # noqa: PLC0415
    from service_tui.credentials.system_keyring import system_keyring  # noqa: PLC0415
    from service_tui.credentials.wallet_keys import WalletKeys  # noqa: PLC0415

    wallet_keys = WalletKeys(options.data_dir, keyring=system_keyring)
    request = KeyRequest(
        arguments.action, arguments.address, options.wallet_key, arguments.keyring, read_secret
    )
    try:
        report = run_command(wallet_keys, request)
    except KeysCommandError as error:
        raise CannotError(str(error)) from error
    print_lines(*report.lines)
    if report.trouble_count:
        raise CannotError(f"{report.trouble_count} problem(s) with the keys")
    return OK


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
    require_terminal()
    prepare_for_keys()
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


def _mcp(options: Options, arguments: argparse.Namespace) -> int:
    """Serve an MCP client that watches the desk of the data directory."""
    from service_tui.commands.desk_server import serve_desk  # noqa: PLC0415
    from service_tui.commands.report import ELSEWHERE  # noqa: PLC0415

    if options.url is not None:
        raise CannotError(ELSEWHERE)
    _refuse_shared_desk(options, arguments)
    environment = read_environment(os.environ)
    collect_from_now()
    return serve_desk(options, environment.api_key, environment.api_url)


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

    request = SharedRequest(arguments.act, arguments.source, arguments.target, arguments.json)
    try:
        lines, is_well = run_shared_command(options, request)
    except StorageError as error:
        raise CannotError(str(error)) from error
    print_lines(*lines)
    return OK if is_well else CANNOT


def _history(options: Options, arguments: argparse.Namespace) -> int:
    """Import recorded markets, list what was imported, or remove it."""
    from service_tui.commands.history import run_history  # noqa: PLC0415
    from service_tui.storage.errors import StorageError  # noqa: PLC0415

    try:
        print_lines(
            *run_history(
                options.data_dir, arguments, on_progress=print_progress, clock=time.monotonic
            )
        )
    except StorageError as error:
        raise CannotError(str(error)) from error
    return OK


def _evaluate(options: Options, arguments: argparse.Namespace) -> int:
    """Try skills on worlds of their own, and print the report."""
    from service_tui.commands.evaluate import EvaluateError, run_evaluate  # noqa: PLC0415
    from service_tui.storage.errors import StorageError  # noqa: PLC0415

    try:
        print_lines(
            *run_evaluate(
                options.data_dir, arguments, on_progress=print_progress, clock=time.monotonic
            )
        )
    except (EvaluateError, StorageError) as error:
        raise CannotError(str(error)) from error
    return OK


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
    from service_tui.commands.report_data import ReportError  # noqa: PLC0415
    from service_tui.console.closed_desk import DeskClosedError  # noqa: PLC0415

    try:
        print_lines(*list_lines(options, arguments))
    except (DeskClosedError, ReportError) as error:
        raise CannotError(str(error)) from error
    return OK


def _schema(_: Options, arguments: argparse.Namespace) -> int:
    """Print the schema of a list."""
    from service_tui.commands.forms import schema_of  # noqa: PLC0415

    print_lines(json.dumps(schema_of(arguments.name), indent=1))
    return OK


def _why(options: Options, arguments: argparse.Namespace) -> int:
    """Print the history of a trade or request."""
    from service_tui.commands.report_data import ReportError  # noqa: PLC0415
    from service_tui.commands.why import why  # noqa: PLC0415
    from service_tui.console.closed_desk import DeskClosedError  # noqa: PLC0415

    try:
        found = why(options, arguments.about)
        print_lines(*((found.text(),) if arguments.json else found.lines()))
    except (DeskClosedError, ReportError) as error:
        raise CannotError(str(error)) from error
    return OK


def _order(options: Options, arguments: argparse.Namespace) -> int:
    """Quote an order, ask, and place it once."""
    from service_tui.cli.orders import choose_of, confirm, is_unasked, order_request  # noqa: PLC0415
    from service_tui.commands.trade import trade  # noqa: PLC0415
    from service_tui.console.closed_desk import DeskClosedError  # noqa: PLC0415

    request = order_request(arguments)
    if not is_unasked(request, arguments) and not is_terminal(sys.stdin):
        flags = "--live and the worst price" if request.is_live else "--yes"
        raise CannotError(f"cannot ask here, nothing was sent: add {flags} to send without asking")
    confirms = partial(confirm, request, arguments)
    try:
        chooses = choose_of(request, arguments, asks=is_terminal(sys.stdin))
        report = trade(options, request, confirms, chooses)
        return _print_as_json("order", report) if arguments.json else _print_report(report)
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
    "schema": _schema,
    "why": _why,
    "mcp": _mcp,
    **dict.fromkeys(ORDERS, _order),
    "report": _report,
    "export": _export,
    "backup": _keep,
    "restore": _keep,
    "verify": _keep,
    "db": _db,
    "history": _history,
    "evaluate": _evaluate,
}
