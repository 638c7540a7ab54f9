"""Every setting with its `config.toml` key, flag and variable, and the value in force."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from service_tui.config import (
    DATA_VARIABLE,
    DATABASE_VARIABLE,
    EXCHANGE_VARIABLE,
    INSECURE_VARIABLE,
    KEY_VARIABLE,
    TRUE_VALUES,
    URL_VARIABLE,
    WALLET_VARIABLE,
)
from service_tui.terms import SIGNAL_TTL_MAX_S, SPEEDS, Plan
from service_tui.toml_lines import TomlEntry, TomlError, entries, nearest, printable, read_text

CONFIG_FILE: Final = "config.toml"
KEY_FILE: Final = "keys.toml"
COMMAND_FILE: Final = "commands.toml"
LOG_LEVELS: Final = ("error", "warning", "info", "debug")
CAP_VARIABLE: Final = "AUTORESEARCH_MAX_EXPERIMENTS"
NO_DEMO_VARIABLE: Final = "SERVICE_TUI_NO_DEMO"
LEVEL_VARIABLE: Final = "SERVICE_TUI_LOG_LEVEL"
SEED_MAX: Final = 2**63 - 1
PORT_MAX: Final = 65_535
AGENTS_MAX: Final = 100_000
CALLERS_MAX: Final = 100_000
KEY: Final = "api_key"
DEFAULT: Final = "default"
_SECRET_MODE: Final = 0o077

Value = str | int | bool | Path
"""What a setting can be."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. `key` is that of the file, with its table: `serve.port` is of `serve` alone.

    `values` are all that there are, where they can be listed; a number lies in `low` to `high`
    where they cannot. `default` is the default in plain English. The value of
    a secret is never shown. One that `is_repeated` may be given several times by its flag.
    """

    key: str
    kind: type[str | int | bool | Path]
    about: str
    default: str = ""
    flag: str = ""
    variable: str = ""
    values: tuple[str, ...] | tuple[int, ...] = ()
    low: int = 0
    high: int = 0
    is_secret: bool = False
    metavar: str = ""
    is_repeated: bool = False

    @property
    def command(self) -> str:
        """The one command that takes it; empty where several do."""
        return self.key.rpartition(".")[0]

    @property
    def name(self) -> str:
        """Its attribute among the parsed arguments."""
        return self.key.rpartition(".")[2]


SETTINGS: Final = (
    Setting("url", str, "another service", "the embedded service", "--url", URL_VARIABLE,
            metavar="URL"),
    Setting("profile", str, "a service stored by 'login'", flag="--profile", metavar="NAME"),
    Setting("api_key", str, "key of the service at url", "that stored by 'login'",
            variable=KEY_VARIABLE, is_secret=True),
    Setting("allow_insecure", bool, "let url be plain http to any host", "false",
            variable=INSECURE_VARIABLE),
    Setting("data_dir", Path, "where the desk keeps state", "the platform's data folder",
            "--data-dir", DATA_VARIABLE, metavar="DIR"),
    Setting("seed", int, "seed of a new offline world", "a random one", "--seed",
            high=SEED_MAX, metavar="N"),
    Setting("history", str, "history on which a new offline world runs (see: history list)",
            "an invented world", "--history", metavar="NAME"),
    Setting("history_from", str, "time at which that world begins, UTC: 2024-06-01",
            "the first price", "--from", metavar="TIME"),
    Setting("speed", int, "world seconds a second; 0 pauses the offline world", "as last chosen",
            "--speed", values=SPEEDS),
    Setting("plan", str, "plan of new agents on the embedded service", "as last chosen, else pro",
            "--plan", values=tuple(plan.value for plan in Plan)),
    Setting("signal_ttl", int, "seconds that a signal of the reactor waits on the embedded service",
            "60", "--signal-ttl", low=1, high=SIGNAL_TTL_MAX_S, metavar="S"),
    Setting("loopback_webhooks", bool, "let webhooks of every agent reach this machine by its "
            "number", "false", "--loopback-webhooks"),
    Setting("read_only", bool, "refuse every write", "false", "--read-only"),
    Setting("listen", int, "port on which agents reach the desk's service", "any free one",
            "--listen", high=PORT_MAX, metavar="N"),
    Setting("plain", bool, "lines of text in place of screens: for screen readers and slow links",
            "false", "--plain"),
    Setting("no_demo", bool, "begin a new offline world without its three demo agents", "false",
            "--no-demo", NO_DEMO_VARIABLE),
    Setting("recording", str, "keep what the screens knew for 30 days, for 'replay'", "on",
            "--recording", values=("on", "off")),
    Setting("log_level", str, "from what on the log keeps a line", "info", "--log-level",
            LEVEL_VARIABLE, values=LOG_LEVELS),
    Setting("exchange", str, "version of the EVM venue's exchange for which orders are signed",
            "v1", variable=EXCHANGE_VARIABLE, values=("v1", "v2")),
    Setting("wallet_key", str, "key of a wallet; no file takes it: 'service-tui keys import' does",
            variable=WALLET_VARIABLE, is_secret=True),
    Setting("serve.port", int, "port of 'serve'; 0 takes any free one", "0", "--port",
            high=PORT_MAX, metavar="N"),
    Setting("serve.limits", str,
            "off: no rates, daily counts, cooldowns; caps of money stay", "on", "--limits",
            values=("on", "off")),
    Setting("serve.agents_max", int, "most agents of the world of 'serve'; those of nobody count "
            "for it alone", "the plan's number for each person", "--agents-max", low=1,
            high=AGENTS_MAX, metavar="N"),
    Setting("serve.ops_port", int, "port of 'serve' for /healthz, /readyz and /metrics", "none",
            "--ops-port", high=PORT_MAX, metavar="N"),
    Setting("serve.ops_host", str, "address of that port; whoever reaches it may read it",
            "127.0.0.1", "--ops-host", metavar="ADDRESS"),
    Setting("serve.callers_max", int, "most connections of callers at one time, at each port of "
            "'serve'", "512", "--callers-max", low=16, high=CALLERS_MAX, metavar="N"),
    Setting("serve.access_log", bool, "log a line for each call, with an id that is in the answer "
            "as X-Request-Id", "false", "--access-log"),
    Setting("serve.log_json", bool, "write the log, and what 'serve' says, to standard output too: "
            "an object a line", "false", "--log-json"),
    Setting("serve.host", str, "address of 'serve'; another than loopback needs encryption",
            "127.0.0.1", "--host", metavar="ADDRESS"),
    Setting("serve.address", str, "where other processes of a shared desk reach this one",
            "--host, else the address by which it reaches the database", "--address",
            metavar="HOST"),
    Setting("serve.tls_cert", Path, "certificate of 'serve', in PEM form", "none", "--tls-cert",
            metavar="FILE"),
    Setting("serve.tls_key", Path, "private key of that certificate", "none", "--tls-key",
            metavar="FILE"),
    Setting("serve.trusted_proxy", str, "the one address from which 'serve' takes plain calls",
            "none", "--trusted-proxy", metavar="ADDRESS"),
    Setting("serve.public_name", str, "name of 'serve' for callers; several with commas between",
            "its address", "--public-name", metavar="NAME", is_repeated=True),
    Setting("serve.invitations", str, "whether agents need an invitation to register",
            "on for a network, else off", "--invitations", values=("on", "off")),
    Setting("database", str, "PostgreSQL of a shared desk, postgresql://user@host/name",
            "none: a world of the data directory", "--database", DATABASE_VARIABLE,
            is_secret=True, metavar="URL"),
    Setting("world", str, "world of that database", "main", "--world", metavar="NAME"),
    Setting("worlds", str, "several worlds of it for one 'serve': all, or names with commas",
            "the one of --world", "--worlds", metavar="NAMES"),
    Setting("web.port", int, "port of 'web'; 0 takes any free one", "0", "--port",
            high=PORT_MAX, metavar="N"),
    Setting("report.format", str, "of 'report'", "md", "--format", values=("md", "csv")),
    Setting("autoresearch.max_experiments", int, "cap of a session; 0 is any number", "50",
            variable=CAP_VARIABLE, high=9_999_999),
)  # fmt: skip
"""The whole table, in the order in which it is shown."""

BY_KEY: Final = MappingProxyType({setting.key: setting for setting in SETTINGS})


class SettingError(ValueError):
    """A setting that cannot be used, with its place and the fix."""


@dataclass(frozen=True, slots=True)
class EffectiveSetting:
    """A setting's value in force and its source. No value shows in a repr.

    `note` is about values of it elsewhere that are not used.
    """

    setting: Setting
    value: Value | None = field(repr=False)
    source: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """Content of `config.toml` by key; `problem` is why it cannot be used, else empty."""

    path: Path
    values: Mapping[str, Value] = field(default_factory=dict[str, Value], repr=False)
    lines: Mapping[str, int] = field(default_factory=dict[str, int])
    problem: str = ""


def read_config(path: Path) -> ConfigFile:
    """Content of the file, which may be missing; never raises.

    Returns:
        Its values; a mistake makes the whole file a problem, which names the first one.
    """
    try:
        file = read_text(path)
        if file is None:
            return ConfigFile(path)
        found = entries(file.text)
        values = {entry.key: _of_entry(entry) for entry in found}
        _check_secret(file.mode, values)
    except (TomlError, SettingError) as error:
        return ConfigFile(path, problem=f"{printable(str(path))}: {error}")
    return ConfigFile(path, values, {entry.key: entry.line for entry in found})


def _of_entry(entry: TomlEntry) -> Value:
    """The value of one line of the file.

    Returns:
        The value.

    Raises:
        SettingError: nothing is called so, or this cannot be its value.
    """
    setting, key, place = BY_KEY.get(entry.key), printable(entry.key), f"line {entry.line}"
    if setting is None:
        near = nearest(entry.key, [*BY_KEY])
        raise SettingError(f"{place}: no setting is called {key}{near}")
    if setting.variable == WALLET_VARIABLE:
        kept = "is kept in no plain file: 'service-tui keys import' encrypts it"
        raise SettingError(f"{place}: {key} {kept}")
    try:
        return value_of(setting, entry.value)
    except SettingError as error:
        raise SettingError(f"{place}: {error}") from None


def _check_secret(mode: int, values: Mapping[str, Value]) -> None:
    """Refuse a key that others may read, or that could go to any address.

    Raises:
        SettingError: the file is not its owner's alone, or names no address beside the key.
    """
    secret = next((key for key in values if BY_KEY[key].is_secret), None)
    if secret is not None and mode & _SECRET_MODE:
        raise SettingError(f"others may read it, and {secret} stands in it: chmod 600 it")
    if KEY in values and "url" not in values:
        raise SettingError(f"{KEY} needs url beside it: the key goes to that address alone")


def value_of(setting: Setting, raw: object) -> Value:
    """Value of a setting from a file, in its own type.

    Returns:
        The value; a folder with its '~' opened.

    Raises:
        SettingError: it has another type, or lies outside of what there is.
    """
    wanted = str if setting.kind is Path else setting.kind
    is_number = isinstance(raw, int) and not isinstance(raw, bool)
    if not (is_number if wanted is int else isinstance(raw, wanted)):
        raise SettingError(f"{setting.key} is {wanted_of(setting)}")
    # A folder may have any name that the system takes.
    if isinstance(raw, str) and ("\0" in raw or not (setting.kind is Path or raw.isprintable())):
        raise SettingError(f"{setting.key} has a character that cannot be printed")
    if isinstance(raw, str) and setting.kind is Path:
        return folder(raw)
    if isinstance(raw, str | int) and _is_possible(setting, raw):
        return raw
    raise SettingError(f"{setting.key} is {wanted_of(setting)}")


def _is_possible(setting: Setting, value: str | int) -> bool:
    if setting.values:
        return value in setting.values
    if setting.kind is int:
        return isinstance(value, int) and setting.low <= value <= setting.high
    return value != ""


def value_in(setting: Setting, text: str) -> Value:
    """Value of a setting from the text of a flag or variable.

    Returns:
        The value.

    Raises:
        SettingError: the words are no such value.
    """
    if setting.kind is bool:
        return text.lower() in TRUE_VALUES
    if setting.kind is not int:
        return value_of(setting, text)
    # More digits than the largest has are no number of ours, and slow to read.
    is_short = text.isascii() and text.isdecimal() and len(text) <= len(str(SEED_MAX))
    if is_short and _is_possible(setting, int(text)):
        return int(text)
    raise SettingError(f"{text!r} is not {wanted_of(setting)}")


def folder(text: str) -> Path:
    """A folder; nothing at all is not the current one.

    Returns:
        The folder with its '~' opened.

    Raises:
        SettingError: it is empty, or its home does not exist.
    """
    if not text:
        raise SettingError("the name of the folder is empty")
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise SettingError(f"{text!r} names nobody's home") from error


def wanted_of(setting: Setting) -> str:
    """Text that lists the accepted values of a setting."""
    if setting.values:
        return "one of " + ", ".join(json.dumps(value) for value in setting.values)
    if setting.kind is int:
        return f"a whole number from {setting.low} to {setting.high}"
    if setting.kind is bool:
        return "true or false"
    return "a text in quotes"


def settle(
    flags: Mapping[str, object], environ: Mapping[str, str], file: ConfigFile, command: str = ""
) -> Iterator[EffectiveSetting]:
    """Settings in force: flag before variable before file before default.

    Args:
        flags: what was given on the command line, by the setting's name; None where nothing was.
        environ: the environment's words; of the wallet's key any word will do.
        file: the file, without a problem.
        command: the command that has settings of its own; other commands lack their flags.

    Yields:
        One for each setting of the table; None where the default holds.

    Raises:
        SettingError: a variable has no such value.
    """
    service = _Service.of(flags, environ, file)
    for setting in SETTINGS:
        if setting.key in service.sources:
            yield service.settled(setting)
            continue
        given = (
            flags.get(setting.name) if setting.flag and setting.command in {"", command} else None
        )
        word = environ.get(setting.variable, "") if setting.variable else ""
        if given is not None:
            yield EffectiveSetting(setting, value_of_flag(given), setting.flag)
        elif word:
            yield EffectiveSetting(setting, _of_variable(setting, word), setting.variable)
        elif setting.key in file.values:
            yield EffectiveSetting(setting, file.values[setting.key], _place(file, setting.key))
        else:
            yield EffectiveSetting(setting, None, DEFAULT)


_Sourced = tuple[Value | None, str]


@dataclass(frozen=True, slots=True)
class _Service:
    """Address and key of the service: one source names the address, or the profile.

    `sources` are those of `url`, `profile` and `api_key` with their value, `notes` what is said of
    them elsewhere in vain.
    """

    sources: Mapping[str, _Sourced] = field(repr=False)
    notes: Mapping[str, str]

    @classmethod
    def of(
        cls, flags: Mapping[str, object], environ: Mapping[str, str], file: ConfigFile
    ) -> "_Service":
        """Service that flags, variables and the file define together."""
        url, key = environ.get(URL_VARIABLE, ""), environ.get(KEY_VARIABLE, "")
        by_flag = {name: flags.get(name) for name in ("url", "profile") if flags.get(name)}
        by_file = {name: file.values[name] for name in ("url", "profile") if name in file.values}
        unset: _Sourced = (None, DEFAULT)
        found: dict[str, _Sourced] = {"url": unset, "profile": unset, KEY: unset}
        notes: dict[str, str] = {}
        if by_flag:
            found.update((name, (str(value), f"--{name}")) for name, value in by_flag.items())
        elif url and key:
            found["url"] = (url, URL_VARIABLE)
        else:
            found.update((name, (text, _place(file, name))) for name, text in by_file.items())
        address = found["url"][0]
        if url and address != url:
            why = f"without {KEY_VARIABLE}" if not key and not by_flag else "here"
            notes["url"] = f"{URL_VARIABLE} is not used {why}"
        if key and address and url in {"", address} and found["profile"] == unset:
            found[KEY] = (key, KEY_VARIABLE)
        elif key:
            notes[KEY] = f"{KEY_VARIABLE} is not used here"
        is_file = bool(address) and not by_flag and address == file.values.get("url")
        if KEY in file.values and found[KEY] == unset and is_file:
            found[KEY] = (file.values[KEY], _place(file, KEY))
        return cls(found, notes)

    def settled(self, setting: Setting) -> EffectiveSetting:
        """One of its three settings."""
        value, source = self.sources[setting.key]
        return EffectiveSetting(setting, value, source, self.notes.get(setting.key, ""))


def _place(file: ConfigFile, key: str) -> str:
    return f"{CONFIG_FILE}, line {file.lines[key]}"


def value_of_flag(given: object) -> Value:
    """Value that argparse has parsed."""
    return given if isinstance(given, str | int | Path) else str(given)


def _of_variable(setting: Setting, word: str) -> Value:
    """The value of a variable; the venue's exchange and the folder are read where they are used.

    Returns:
        The value.

    Raises:
        SettingError: the variable has no such value.
    """
    if setting.variable in {EXCHANGE_VARIABLE, DATA_VARIABLE, CAP_VARIABLE}:
        return word
    try:
        return value_in(setting, word)
    except SettingError:
        raise SettingError(f"{setting.variable} is {wanted_of(setting)}, not {word!r}") from None


def shown(settled: EffectiveSetting) -> str:
    """A value as a person reads it; of a secret only that there is one."""
    if settled.setting.is_secret:
        return "-" if settled.value is None else "(not shown)"
    if settled.value is None:
        return settled.setting.default or "-"
    if isinstance(settled.value, bool):
        return str(settled.value).lower()
    return printable(str(settled.value))
