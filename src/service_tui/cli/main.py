"""The doors of the program, one function each; exit codes.

Codes: 0 done, 1 cannot, 2 wrong words, 70 a bug of ours, 130 ctrl+c.
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
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TextIO

from service_tui.cli.parser import LOG_FILE, WRONG_WORDS, check, parsed, parser_of
from service_tui.config import (
    DATA_VARIABLE,
    EXCHANGE_VARIABLE,
    INSECURE_VARIABLE,
    KEY_VARIABLE,
    WALLET_VARIABLE,
    Environment,
    read_environment,
)
from service_tui.settings import (
    CONFIG_FILE,
    KEY,
    ConfigFile,
    SettingError,
    read_config,
    settle,
)
from service_tui.terms import Plan
from service_tui.version import VERSION
from service_tui.wiring.address import AddressError, check_url, folder_of
from service_tui.wiring.logfile import LogError, keep_log, keep_stacks
from service_tui.wiring.options import Options
from service_tui.wiring.output import OutputError, say, tell
from service_tui.wiring.research_words import wish_of

if TYPE_CHECKING:
    from service_tui.wiring.halt_door import HaltReport
    from service_tui.wiring.keys import Profile

OK: Final = 0
CANNOT: Final = 1
BUG: Final = 70
INTERRUPTED: Final = 130

KEEPS_LOG: Final = frozenset({
    "console",
    "login",
    "serve",
    "halt",
    "resume",
    "agent",
    "report",
    "export",
})
BRIEF: Final = frozenset({"report", "export"})
"""Doors behind which so little is done that no garbage need be collected."""

OPENS: Final = frozenset({"console", "halt", "resume", "agent"})
"""Doors that open a desk, on another service too."""

LOCAL: Final = frozenset({
    "serve",
    "login",
    "logout",
    "autoresearch",
    "demo",
    "config",
    "completion",
})
"""Doors that pass over the service that a file names."""

WRITES: Final = frozenset({"serve", "halt", "resume", "agent"})
"""Doors that take no --read-only, and pass over that of a file: a halt is never refused."""

ADDRESSED: Final = frozenset({"url", "profile", KEY, "data_dir", "allow_insecure", "exchange"})
"""Settings that hold together with others, or are read into the environment."""

STACKS_FILE: Final = "service-tui-stacks.txt"

FRAMES: Final = "240"
"""Paints a second at most; so many are never wanted, but a key waits for no more than two."""

NICENESS: Final = 5
"""Of the service without a console. With it, twenty agents that never rest leave a console that
is attached its turn: a key is painted eight times as soon."""

TURN_S: Final = 0.001
"""How long a thread goes on while another one waits."""


class CannotError(Exception):
    """The person's wish cannot be met; one plain sentence."""


def run(words: Sequence[str]) -> int:
    """Do what the words say.

    Returns:
        The exit code.
    """
    log_path = ""
    try:
        environment = read_environment(os.environ)
        file = read_config(environment.config_dir / CONFIG_FILE)
        environment = _with_file(environment, file)
        given = _given(words, environment, file)
        options = _options(given, environment)
        if given.door in KEEPS_LOG:
            _start_log(options, given.log_level)
            log_path = str(options.log_path)
        else:
            logging.basicConfig(handlers=[logging.NullHandler()])
        if given.door != "console":
            # What the others have open is closed on the way out; the console answers for itself.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if given.door in BRIEF:
            gc.disable()
        code = _DOORS[given.door](options, given)
        say()
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
    """The environment, and where it says nothing what the file says."""
    found = {
        name: value
        for name, variable in (
            ("data_dir", DATA_VARIABLE),
            ("allow_insecure", INSECURE_VARIABLE),
            ("exchange", EXCHANGE_VARIABLE),
        )
        if (value := file.values.get(name)) is not None and not os.environ.get(variable)
    }
    return replace(environment, **found)


def _given(words: Sequence[str], environment: Environment, file: ConfigFile) -> argparse.Namespace:
    """What the words say; the help and the version are told, and end the program."""
    parser = parser_of(environment)
    try:
        given = parsed(parser, words)
    except SystemExit:
        say()
        raise
    if file.problem:
        parser.exit(WRONG_WORDS, f"service-tui: {file.problem}\n")
    check(parser, given)
    try:
        _settle(given, environment, file)
    except SettingError as error:
        parser.exit(WRONG_WORDS, f"service-tui: {error}\n")
    return given


def _settle(given: argparse.Namespace, environment: Environment, file: ConfigFile) -> None:
    """Put what holds of each setting in the place of flags that were not given.

    Raises:
        SettingError: a variable cannot be used, or the file names two services.
    """
    flags = {name: value for name, value in vars(given).items() if value is not False}
    # The key itself was taken out of the environment.
    wallet = {WALLET_VARIABLE: "*"} if environment.wallet_key else {}
    given.settled = tuple(settle(flags, {**os.environ, **wallet}, file, given.door))
    for one in given.settled:
        name = one.setting.name
        if one.value is None or name in ADDRESSED or one.setting.door not in {"", given.door}:
            continue
        if name != "read_only" or given.door not in WRITES:
            setattr(given, name, one.value)
    names_one = given.url is not None or given.profile is not None or given.door in LOCAL
    given.config_file = ConfigFile(file.path) if names_one else file
    if given.config_file.values.keys() >= {"url", "profile"}:
        raise SettingError(f"{file.path}: url and profile name two services: keep one of them")


def _options(given: argparse.Namespace, environment: Environment) -> Options:
    """The start that was asked for: flags, then environment, then what was stored."""
    base = given.data_dir or environment.data_dir
    url, key = given.url, environment.api_key
    wants_remote = url is not None or given.profile is not None
    if not wants_remote and given.door in OPENS and environment.api_url and key:
        url, wants_remote = environment.api_url, True
    elif not wants_remote and not (environment.api_url and key):
        # A file is written for this program: its address alone names the service.
        url, given.profile = (
            _text(given.config_file.values.get(name)) for name in ("url", "profile")
        )
        wants_remote = url is not None or given.profile is not None
    if wants_remote and given.door in OPENS:
        url, key = _remote(given, environment, url)
    elif url is not None:
        url = check_url(url, may_be_plain=environment.allow_insecure)
    if environment.wallet_key:
        _check_wallet_key(environment.wallet_key)
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
        listen=(given.port if given.door == "serve" else given.listen) or 0,
        limits=given.door != "serve" or given.limits != "off",
        signal_ttl_s=given.signal_ttl,
        wallet_key=environment.wallet_key,
        exchange=_exchange(environment.exchange),
        loopback_webhooks=given.loopback_webhooks,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _exchange(said: str) -> str:
    """The venue's exchange that the environment names; the first where it names none."""
    if not said:
        return "v1"
    from service_tui.signing.book import exchange_of  # noqa: PLC0415

    try:
        return exchange_of(said)
    except ValueError as error:
        raise CannotError(f"{EXCHANGE_VARIABLE} cannot be used: {error}") from None


def _check_wallet_key(key: str) -> None:
    """Say at once that the environment's key is none; without repeating it."""
    from service_tui.signing.errors import KeyFormatError  # noqa: PLC0415
    from service_tui.signing.signer import key_bytes  # noqa: PLC0415

    try:
        key_bytes(key)
    except KeyFormatError as error:
        raise CannotError(f"{WALLET_VARIABLE} cannot be used: {error}") from None


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
        return check_url(profile.url, may_be_plain=environment.allow_insecure), _key_of(profile)
    address = check_url(url or environment.api_url or "", may_be_plain=environment.allow_insecure)
    if environment.api_key and _is_meant_for(environment, address):
        return address, environment.api_key
    file_key, file_url = (_text(given.config_file.values.get(name)) for name in (KEY, "url"))
    if file_key and check_url(file_url or "", may_be_plain=True) == address:
        return address, file_key
    match = next((one for one in stored.values() if one.url == address), None)
    if match is None:
        raise CannotError(
            f"no key for {address}: set {KEY_VARIABLE}, or run 'service-tui login --url {address}'"
        )
    return match.url, _key_of(match)


def _key_of(profile: "Profile") -> str:
    """The key of a stored service, from its file or from the keyring."""
    from service_tui.wiring.keys import KeysError  # noqa: PLC0415
    from service_tui.wiring.login import key_of  # noqa: PLC0415

    try:
        return key_of(profile)
    except KeysError as error:
        raise CannotError(str(error)) from error


def _is_meant_for(environment: Environment, address: str) -> bool:
    """Whether the environment's key may go there: where an address stands beside it, only there."""
    if environment.api_url is None:
        return True
    return check_url(environment.api_url, may_be_plain=True) == address


def _start_log(options: Options, level: str | None) -> None:
    """Log to a file: the terminal belongs to the console."""
    try:
        keep_log(options.log_path, level or "info")
        keep_stacks(options.log_path.with_name(STACKS_FILE))
    except LogError as error:
        raise CannotError(f"{error} (or give another --data-dir)") from error


def _console(options: Options, _: argparse.Namespace) -> int:
    if not all(map(_is_terminal, (sys.stdin, sys.stdout, sys.stderr))):
        raise CannotError("the console needs a terminal for its keys and its screen; see --help")
    # Nothing is garbage before the first paint; wiring.start switches the collector on again.
    gc.disable()
    # After a paint the next one may wait for two frames: a key would, too.
    os.environ.setdefault("TEXTUAL_FPS", FRAMES)
    # The thread that reads the keyboard gets its turn as soon.
    sys.setswitchinterval(TURN_S)
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
        # ours: the service gives way to a console beside it, for which a person waits.
        if hasattr(os, "nice"):
            os.nice(NICENESS)
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
    from service_tui.desk.commands.halt import RESUME_WORD  # noqa: PLC0415
    from service_tui.wiring import halt_door  # noqa: PLC0415

    if _is_terminal(sys.stdin):
        tell(f"Entries pass again at once, of every agent. Type {RESUME_WORD} and press enter: ")
    if (sys.stdin.readline().strip() if sys.stdin else "") != RESUME_WORD:
        raise CannotError(f"not resumed: the word is {RESUME_WORD}")
    try:
        return _told(halt_door.resume(options))
    except DeskClosedError as error:
        raise CannotError(str(error)) from error


def _agent(options: Options, given: argparse.Namespace) -> int:
    """Retire an agent of the embedded service, or readmit it."""
    from service_tui.console.doors import DeskClosedError  # noqa: PLC0415
    from service_tui.wiring import agent_door  # noqa: PLC0415

    try:
        return _told(agent_door.govern(options, given.act, given.name))
    except DeskClosedError as error:
        raise CannotError(str(error)) from error


def _told(outcome: "HaltReport") -> int:
    say(*outcome.lines)
    return OK if outcome.is_done else CANNOT


def _login(options: Options, given: argparse.Namespace) -> int:
    """Ask for the key, never show it, store it for its address."""
    from service_tui.client.keys import Key  # noqa: PLC0415
    from service_tui.wiring.keys import (  # noqa: PLC0415
        KeysError,
        Profile,
        profiles,
    )
    from service_tui.wiring.login import keep  # noqa: PLC0415

    address = check_url(given.url, may_be_plain=options.allow_insecure)
    key = _asked_for(f"API key for {address}: ").strip()
    try:
        Key(key, address)
    except ValueError as error:
        raise CannotError(f"that is no key: {error}; nothing was stored") from None
    try:
        before = profiles(options.config_dir).get(given.name)
        if before is not None and not given.replace:
            _ask_to_replace(before.name, before.url)
        profile = Profile(given.name, address, key)
        keep(options.config_dir, profile, in_keyring=given.keyring)
    except KeysError as error:
        raise CannotError(f"the key was not stored: {error}") from error
    say(f"stored; open it with 'service-tui --profile {given.name}'")
    return OK


def _logout(options: Options, given: argparse.Namespace) -> int:
    """Remove a stored key, from its file or from the keyring."""
    from service_tui.wiring.keys import KeysError  # noqa: PLC0415
    from service_tui.wiring.login import forget  # noqa: PLC0415

    try:
        gone = forget(options.config_dir, given.name)
    except KeysError as error:
        raise CannotError(f"nothing was removed: {error}") from error
    if gone is None:
        raise CannotError(f"no profile is called {given.name!r}")
    say(f"removed the key for {gone.url}")
    return OK


def _ask_to_replace(name: str, address: str) -> None:
    """Have a person say that a stored profile goes; CannotError where nobody does."""
    about = f"the profile '{name}' holds a key for {address}"
    if not _is_terminal(sys.stdin):
        raise CannotError(f"{about}; nothing was stored: add --replace, or another --name")
    say(f"{about}; type yes to replace it:")
    if sys.stdin.readline().strip() != "yes":
        raise CannotError("nothing was stored")


def _keys(options: Options, given: argparse.Namespace) -> int:
    """Keep keys of wallets; what is secret is asked for, never an argument."""
    from service_tui.wiring.key_words import KeyRequest, KeyWordsError, said  # noqa: PLC0415
    from service_tui.wiring.wallet_keys import WalletKeys, system_keyring  # noqa: PLC0415

    keys = WalletKeys(options.data_dir, keyring=system_keyring)
    asked = KeyRequest(given.action, given.address, options.wallet_key, given.keyring, _asked_for)
    try:
        told = said(keys, asked)
    except KeyWordsError as error:
        raise CannotError(str(error)) from error
    say(*told.lines)
    if told.trouble_count:
        raise CannotError(f"among the keys: {told.trouble_count} thing(s) to mend")
    return OK


def _asked_for(prompt: str) -> str:
    """What a person types unseen, or what a file or another program hands in."""
    try:
        if _is_terminal(sys.stdin):
            return getpass.getpass(prompt)
        return sys.stdin.readline().rstrip("\r\n") if sys.stdin else ""
    except EOFError:
        return ""
    except UnicodeDecodeError:
        raise CannotError("what was handed in is no UTF-8 text; nothing was stored") from None


def _demo(_: Options, given: argparse.Namespace) -> int:
    from service_tui.wiring.demo import make_screenshots  # noqa: PLC0415

    try:
        for path in make_screenshots(given.screenshot):
            say(str(path))
    except OSError as error:
        raise CannotError(f"{given.screenshot} cannot be written: {error.strerror}") from error
    return OK


def _doctor(options: Options, given: argparse.Namespace) -> int:
    """Say what is where; nothing is changed."""
    from service_tui.wiring.doctor import findings, profile_problem  # noqa: PLC0415

    if given.profile is not None and (problem := profile_problem(options, given.profile)):
        raise CannotError(problem)
    lines, healthy = findings(options)
    say(f"service-tui {VERSION}, Python {platform.python_version()}", *lines)
    return OK if healthy else CANNOT


def _autoresearch(options: Options, given: argparse.Namespace) -> int:
    """Serve an MCP client, or do what is asked of a repository's sessions."""
    from service_tui.autoresearch.errors import ToolError  # noqa: PLC0415

    try:
        wish = wish_of(given, os.environ)
    except ValueError as error:
        raise CannotError(str(error)) from error
    try:
        if wish.word:
            from service_tui.wiring.research import autoresearch  # noqa: PLC0415

            autoresearch(options, wish)
            return OK
        # A client waits for the server's first word: no more is imported before that.
        from service_tui.wiring.research_door import serve_client  # noqa: PLC0415

        return serve_client(options, wish)
    except ToolError as error:
        raise CannotError(str(error)) from error


def _skills(options: Options, given: argparse.Namespace) -> int:
    """Do something with skills, beside whichever desk is open."""
    from service_tui.wiring import skills  # noqa: PLC0415

    data_dir = options.data_dir
    try:
        match given.act:
            case "install":
                skills.install_skill(data_dir, given.source, say)
            case "check":
                skills.check_skill(data_dir, given.name, say)
            case "new":
                skills.make_skill(given.name, given.parent, say)
            case "run":
                return skills.run_skill(data_dir, given.name, given.words)
            case _:
                skills.list_skills(data_dir, say)
    except skills.SkillsError as error:
        raise CannotError(str(error)) from error
    return OK


def _log(options: Options, given: argparse.Namespace) -> int:
    """Follow the chain of the action log, and say whether it holds."""
    from service_tui.wiring.log_door import LogDoorError, followed  # noqa: PLC0415

    try:
        say(followed(options.data_dir, given.holds))
    except LogDoorError as error:
        raise CannotError(str(error)) from error
    return OK


def _keep(options: Options, given: argparse.Namespace) -> int:
    """Copy the database, put a copy in its place, or check all that is kept."""
    from service_tui.storage.errors import StorageError  # noqa: PLC0415
    from service_tui.wiring.keeping import KeepingRequest, said  # noqa: PLC0415

    words = vars(given)
    wanted = (words.get(name) for name in ("folder", "to", "file", "empty"))
    try:
        lines, is_well = said(options.data_dir, KeepingRequest(given.door, *wanted))
    except StorageError as error:
        raise CannotError(str(error)) from error
    say(*lines)
    return OK if is_well else CANNOT


def _config(options: Options, given: argparse.Namespace) -> int:
    """Each setting, its value and where it comes from; no secret is shown."""
    from service_tui.wiring.config_door import as_json, as_lines  # noqa: PLC0415

    # The log lies in the folder that every service has its own one below.
    folder = str(options.log_path.parent)
    say(*(as_json(given.settled) if given.json else as_lines(given.settled, folder)))
    return OK


def _completion(_: Options, given: argparse.Namespace) -> int:
    """Print what a shell reads to complete our words."""
    from service_tui.wiring.completion import script  # noqa: PLC0415

    say(script(parser_of(read_environment({})), given.shell))
    return OK


def _report(options: Options, given: argparse.Namespace) -> int:
    """A day's summary of each agent, to read, to send or to keep."""
    from service_tui.console.doors import DeskClosedError  # noqa: PLC0415
    from service_tui.wiring import report_door  # noqa: PLC0415

    try:
        text = report_door.day(options, given.agent, as_table=given.format == "csv")
        if given.to is None:
            tell(text)
        else:
            report_door.keep(given.to, text)
            say(str(given.to))
    except (DeskClosedError, report_door.ReportError) as error:
        raise CannotError(str(error)) from error
    return OK


def _export(options: Options, given: argparse.Namespace) -> int:
    """Every table as CSV and JSON, into a folder."""
    from service_tui.console.doors import DeskClosedError  # noqa: PLC0415
    from service_tui.wiring import report_door  # noqa: PLC0415

    try:
        count = report_door.export(options, given.folder)
    except (DeskClosedError, report_door.ReportError) as error:
        raise CannotError(str(error)) from error
    say(f"{count} files are in {given.folder}")
    return OK


_DOORS: Final = {
    "autoresearch": _autoresearch,
    "console": _console,
    "serve": _serve,
    "halt": _halt,
    "resume": _resume,
    "agent": _agent,
    "login": _login,
    "logout": _logout,
    "keys": _keys,
    "demo": _demo,
    "doctor": _doctor,
    "skills": _skills,
    "log": _log,
    "config": _config,
    "completion": _completion,
    "report": _report,
    "export": _export,
    "backup": _keep,
    "restore": _keep,
    "verify": _keep,
}
