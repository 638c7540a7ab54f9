"""Merges the start options: flags first, then environment, `config.toml` and stored profiles."""

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from service_tui.app.address import AddressError, check_url, folder_of
from service_tui.app.options import Options
from service_tui.app.output import print_lines
from service_tui.cli.parser import LISTS, LOG_FILE, ORDERS, USAGE_ERROR, check, parse, parser_of
from service_tui.config import (
    DATA_VARIABLE,
    EXCHANGE_VARIABLE,
    INSECURE_VARIABLE,
    KEY_VARIABLE,
    WALLET_VARIABLE,
    Environment,
)
from service_tui.pasted import api_key
from service_tui.settings import KEY, ConfigFile, SettingError, settle
from service_tui.terms import Plan

if TYPE_CHECKING:
    from service_tui.credentials.api_keys import Profile

OPENS: Final = frozenset({
    "console",
    "web",
    "halt",
    "resume",
    "agent",
    "people",
    "invite",
    *ORDERS,
})
"""Commands that open a desk, on another service too, with its key."""

BY_VARIABLE: Final = OPENS | {*LISTS, "why", "report", "export"}
"""Commands for which the variables of scripts name the service, too."""

LOCAL: Final = frozenset({
    "tour",
    "drill",
    "serve",
    "login",
    "logout",
    "autoresearch",
    "mcp",
    "demo",
    "config",
    "completion",
    "schema",
    "db",
    "history",
    "evaluate",
})
"""Commands that ignore the service that a file or the environment names."""

SHARED: Final = frozenset({"serve", "db"})
"""Commands that know the database of a shared desk."""

WRITES: Final = frozenset({"serve", "halt", "resume", "agent", "people", "invite"})
"""Commands without --read-only, which ignore that of a file: a halt is never refused."""

ADDRESSED: Final = frozenset({"url", "profile", KEY, "data_dir", "allow_insecure", "exchange"})
"""Settings that depend on others, or are read into the environment."""


HALT: Final = "halt"
NAME_IT: Final = "name the service with --url, or none for the one of this directory"


class CannotError(Exception):
    """The request cannot be met; one plain sentence."""


def with_file(environment: Environment, file: ConfigFile) -> Environment:
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


def arguments_of(
    argv: Sequence[str], environment: Environment, file: ConfigFile
) -> argparse.Namespace:
    """Parse the command line; help and version are printed and end the program."""
    parser = parser_of(environment)
    try:
        arguments = parse(parser, argv)
    except SystemExit:
        print_lines()
        raise
    is_halt = arguments.command == HALT
    passed_over = list[str]()
    arguments.passed_over = passed_over
    if file.problem and is_halt:
        passed_over.append(file.problem)
        file = ConfigFile(file.path)
    elif file.problem:
        parser.exit(USAGE_ERROR, f"service-tui: {file.problem}\n")
    check(parser, arguments)
    try:
        _settle(arguments, environment, file)
    except SettingError as error:
        if not is_halt:
            parser.exit(USAGE_ERROR, f"service-tui: {error}\n")
        passed_over.append(str(error))
        arguments.config_file = ConfigFile(file.path)
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


def options_of(arguments: argparse.Namespace, environment: Environment) -> Options:
    """Build the start options: flags first, then the environment, then stored profiles."""
    base = arguments.data_dir or environment.data_dir
    is_named = arguments.url is not None or arguments.profile is not None
    try:
        url, key = _service(arguments, environment)
    except (AddressError, CannotError) as error:
        if arguments.command != HALT:
            raise
        if is_named:
            raise CannotError(f"{error}. Nothing was halted: {NAME_IT}") from error
        # ours: a service that a file or a variable names, and that cannot be found: the desk of
        # this directory is halted at least.
        arguments.passed_over.append(str(error))
        url, key = None, None
    if url is not None and arguments.command in OPENS:
        _check_proxy(url)
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
        api_key=key,
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
        history=_text(getattr(arguments, "history", None)),
        history_from=_text(getattr(arguments, "history_from", None)),
        **(_of_network(arguments) if arguments.command == "serve" else {}),
        worlds=_of_shared(arguments, "worlds") if arguments.command == "serve" else None,
    )


def _service(
    arguments: argparse.Namespace, environment: Environment
) -> tuple[str | None, str | None]:
    """The service that a start is meant for, by flags, else the environment, else the file.

    Returns:
        Its address, and its key for a command that opens a desk on it; None twice for the embedded
        service. Every other command reads the folder of that service, and needs no key.
    """
    url = arguments.url
    if url is None and arguments.profile is None and arguments.command not in LOCAL:
        if environment.api_url and environment.api_key:
            url = environment.api_url if arguments.command in BY_VARIABLE else None
        else:
            # The file belongs to this program: its address alone names the service.
            url, arguments.profile = (
                _text(arguments.config_file.values.get(name)) for name in ("url", "profile")
            )
    if url is None and arguments.profile is None:
        return None, None
    if arguments.command in OPENS:
        return _remote(arguments, environment, url)
    try:
        address = _stored(arguments.profile, environment).url if arguments.profile else url or ""
    except CannotError:
        # The doctor lists it among the problems.
        if arguments.command != "doctor":
            raise
        return None, None
    return check_url(address, may_be_plain=environment.allow_insecure), None


def _stored(name: str, environment: Environment) -> "Profile":
    """The stored service of this name; CannotError if there is none."""
    stored = _profiles(environment)
    if name not in stored:
        names = ", ".join(sorted(stored)) or "none"
        raise CannotError(f"no profile {name!r} (stored: {names})")
    return stored[name]


def _profiles(environment: Environment) -> "Mapping[str, Profile]":
    """Every stored service by its name; CannotError if the file cannot be read."""
    from service_tui.credentials.api_keys import ApiKeysError, profiles  # noqa: PLC0415

    try:
        return profiles(environment.config_dir)
    except ApiKeysError as error:
        raise CannotError(str(error)) from error


def _of_shared(arguments: argparse.Namespace, name: str) -> str | None:
    """A setting of a shared desk; None for a command that knows none."""
    return _text(getattr(arguments, name, None)) if arguments.command in SHARED else None


def _of_network(arguments: argparse.Namespace) -> dict[str, Any]:
    """Where and how `serve` answers."""
    names: str = arguments.public_name or ""
    return {
        "host": arguments.host or "",
        "address": arguments.address or "",
        "agents_max": arguments.agents_max,
        "log_json": bool(arguments.log_json),
        "ops_host": arguments.ops_host or "",
        "callers_max": arguments.callers_max,
        "access_log": bool(arguments.access_log),
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
    if arguments.profile is not None:
        profile = _stored(arguments.profile, environment)
        return check_url(profile.url, may_be_plain=environment.allow_insecure), _key_of(profile)
    address = check_url(url or "", may_be_plain=environment.allow_insecure)
    if environment.api_key and _is_meant_for(environment, address):
        return address, environment.api_key
    file_key, file_url = (_text(arguments.config_file.values.get(name)) for name in (KEY, "url"))
    if file_key and check_url(file_url or "", may_be_plain=True) == address:
        return address, api_key(file_key)
    stored = _profiles(environment).values()
    match = next((profile for profile in stored if profile.url == address), None)
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
    from service_tui.credentials.api_keys import ApiKeysError  # noqa: PLC0415
    from service_tui.credentials.login import key_of  # noqa: PLC0415

    try:
        return key_of(profile)
    except ApiKeysError as error:
        raise CannotError(str(error)) from error


def _is_meant_for(environment: Environment, address: str) -> bool:
    """True if the environment's key may be sent here: to its own address, or any if it has none."""
    if environment.api_url is None:
        return True
    return check_url(environment.api_url, may_be_plain=True) == address
