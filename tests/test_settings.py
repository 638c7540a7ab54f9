"""The table of settings: keys, flags, variables and sources."""

import argparse
import json
import os
import re
from collections.abc import Generator, MutableMapping
from pathlib import Path

import pytest

from kit.command_line import without_log
from kit.pages.configuration import SCRIPTS_ONLY
from service_tui.app.options import Options
from service_tui.cli import main as cli
from service_tui.cli.parser import parser_of
from service_tui.config import read_environment
from service_tui.settings import (
    BY_KEY,
    SETTINGS,
    ConfigFile,
    EffectiveSetting,
    Setting,
    SettingError,
    read_config,
    settle,
    shown,
    value_in,
    value_of,
)

SECRET = "sk_live_a_canary_that_sings"  # noqa: S105
ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")

ONE_RUN = {
    "--help", "--version", "--name", "--replace", "--keyring", "--screenshot", "--repo", "--metric",
    "--unit", "--direction", "--allow-shell", "--in", "--holds", "--agent", "--to", "--empty",
    "--json", "--ids", "--find", "--limit", "--sell", "--yes", "--list", "--check", "--export",
    "--return", "--at", "--venue", "--live", "--max-price", "--min-price",
    "--within", "--then", "--skill",
    "--left-out", "--role", "--uses", "--days", "--budget", "--for",
    "--every", "--again", "--seeds", "--csv", "--anew", "--holdout", "--until", "--as",
}  # fmt: skip
"""Flags that are about one call: what it does, and where to."""


def file_of(tmp_path: Path, text: str, mode: int = 0o600) -> ConfigFile:
    path = tmp_path / "config.toml"
    path.write_text(text)
    path.chmod(mode)
    return read_config(path)


def flags_of(parser: argparse.ArgumentParser) -> set[str]:
    found = {
        flag for action in parser._actions for flag in action.option_strings if flag[:2] == "--"
    }
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found.update(*(flags_of(below) for below in action.choices.values()))
    return found


def test_every_flag_is_a_setting_or_about_one_call() -> None:
    flags = flags_of(parser_of(read_environment({})))
    assert flags == {setting.flag for setting in SETTINGS if setting.flag} | ONE_RUN


@pytest.mark.slow
def test_every_variable_of_ours_is_in_the_table() -> None:
    known = {setting.variable for setting in SETTINGS} | {*SCRIPTS_ONLY}
    sources = (path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    named = {
        name for text in sources for name in re.findall(r'VARIABLE: Final = "([A-Z_]+)"', text)
    }
    assert named <= known


def test_the_page_of_the_configuration_has_the_table() -> None:
    for setting in SETTINGS:
        key = "-" if setting.key == "wallet_key" else f"`{setting.key}`"
        flag, variable = (f"`{name}`" if name else "-" for name in (setting.flag, setting.variable))
        assert f"| {key} | {flag} | {variable} | {setting.about} |" in PAGE, setting.key
    for variable, about in SCRIPTS_ONLY.items():
        assert f"| - | - | `{variable}` | {about} |" in PAGE


GOOD = """
url = "https://h"
api_key = "sk_1"
allow_insecure = true
data_dir = "/tmp/d"
seed = 7
history = "oslo"
history_from = "2024-06-01"
speed = 10
plan = "free"
signal_ttl = 90
loopback_webhooks = true
read_only = false
listen = 8400
plain = true
no_demo = true
recording = "off"
log_level = "debug"
exchange = "v2"
database = "postgresql://d@h/n"
world = "w"
worlds = "a,b"
serve.port = 1
[serve]
limits = "off"
ops_port = 3
host = "0.0.0.0"
address = "desk-1"
tls_cert = "/tmp/c"
tls_key = "/tmp/k"
trusted_proxy = "10.0.0.1"
public_name = "a.example,b.example"
invitations = "off"
agents_max = 30
log_json = true
ops_host = "10.0.0.7"
callers_max = 900
access_log = true
"""


def test_every_kind_of_value_is_read(tmp_path: Path) -> None:
    assert file_of(tmp_path, GOOD.replace("serve.port = 1\n", "")).problem == ""
    found = file_of(tmp_path, GOOD.replace("serve.port = 1\n", "") + "port = 1\n[autoresearch]\n"
                    'max_experiments = 0\n[report]\nformat = "csv"\n[web]\nport = 2\n')  # fmt: skip
    assert found.problem == ""
    assert {*found.values} == {*BY_KEY} - {"profile", "wallet_key"}
    assert found.values["data_dir"] == Path("/tmp/d")  # noqa: S108
    assert found.lines["serve.limits"] == 24
    assert "sk_1" not in repr(found)


WRONG = {
    "sed = 7": "line 1: no setting is called sed; did you mean seed?",
    "\nseed = '7'": "line 2: seed is a whole number from 0 to 9223372036854775807",
    "seed = -1": "line 1: seed is a whole number from 0 to 9223372036854775807",
    "seed = true": "line 1: seed is a whole number",
    "speed = 5": "line 1: speed is one of 0, 1, 10, 60",
    'plan = "gold"': 'line 1: plan is one of "free", "pro", "elite"',
    "read_only = 1": "line 1: read_only is true or false",
    "# x\n[serve]\nport = 70000": "line 3: serve.port is a whole number from 0 to 65535",
    "url = 3": "line 1: url is a text in quotes",
    'data_dir = ""': "line 1: the name of the folder is empty",
    'wallet_key = "0x1"': "line 1: wallet_key is kept in no plain file",
    'api_key = "sk_1"': "api_key needs url beside it",
    "seed": "end of document: ",
    f"seed = {'9' * 5_000}": "a number has more than 4300 digits",
    'data_dir = "/a\\u0000b"': "line 1: data_dir has a character that cannot be printed",
    'url = "https://h\\u001b[2J"': "line 1: url has a character that cannot be printed",
    'profile = "a\\nb"': "line 1: profile has a character that cannot be printed",
    "seed = 1\nseed = 2": "end of document: Cannot overwrite a value",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_one_line_with_its_place(text: str, tmp_path: Path) -> None:
    problem = file_of(tmp_path, text).problem
    assert problem.startswith(f"{tmp_path / 'config.toml'}: {WRONG[text]}")
    assert "\n" not in problem


def test_a_key_is_kept_in_a_private_file_only(tmp_path: Path) -> None:
    text = f'url = "https://h"\napi_key = "{SECRET}"\n'
    assert "chmod 600" in file_of(tmp_path, text, mode=0o644).problem
    assert file_of(tmp_path, text).values["api_key"] == SECRET


U, K = "SERVICE_API_URL", "SERVICE_API_KEY"
IN_FILE = {"url": "https://f", "api_key": "sk_f"}
SERVICES: dict[str, tuple[dict[str, object], dict[str, str], dict[str, str], tuple[str, ...]]] = {
    "nothing": ({}, {}, {}, ("default", "default", "default")),
    "an address alone": (
        {}, {U: "https://e"}, {},
        ("default", "default", "default", f"{U} is not used without {K}"),
    ),
    "a key alone": ({}, {K: "k"}, {}, ("default", "default", "default", f"{K} is not used here")),
    "both": ({}, {U: "https://e", K: "k"}, {}, (U, "default", K)),
    "both, and a flag": (
        {"url": "https://x"}, {U: "https://e", K: "k"}, {},
        ("--url", "default", "default", f"{U} is not used here", f"{K} is not used here"),
    ),
    "both, and the same flag": (
        {"url": "https://e"}, {U: "https://e", K: "k"}, {}, ("--url", "default", K)
    ),
    "a key, and a flag": ({"url": "https://x"}, {K: "k"}, {}, ("--url", "default", K)),
    "a key, and a profile": (
        {"profile": "p"}, {K: "k"}, {},
        ("default", "--profile", "default", f"{K} is not used here"),
    ),
    "a key, and two flags": (
        {"url": "https://x", "profile": "p"}, {K: "k"}, {},
        ("--url", "--profile", "default", f"{K} is not used here"),
    ),
    "an address, and a flag": (
        {"url": "https://x"}, {U: "https://e"}, {},
        ("--url", "default", "default", f"{U} is not used here"),
    ),
    "a file with a key, and both": (
        {"url": "https://f"}, {K: "k"}, IN_FILE, ("--url", "default", K)
    ),
    "both, and a file": ({}, {U: "https://e", K: "k"}, IN_FILE, (U, "default", K)),
    "an address, and a file": (
        {}, {U: "https://e"}, IN_FILE,
        ("config.toml, line 1", "default", "config.toml, line 2", f"{U} is not used without {K}"),
    ),
    "a key, and a file": ({}, {K: "k"}, IN_FILE, ("config.toml, line 1", "default", K)),
    "a flag, and a file": (
        {"url": "https://f"}, {}, IN_FILE, ("--url", "default", "default"),
    ),
    "a profile in a file": (
        {}, {}, {"profile": "p"}, ("default", "config.toml, line 1", "default"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SERVICES)
def test_the_source_of_an_address_is_the_one_that_is_used(name: str) -> None:
    flags, environ, values, expected = SERVICES[name]
    lines = {key: line for line, key in enumerate(values, 1)}
    file = ConfigFile(Path("c"), values, lines)
    found = [one for one in settle(flags, environ, file) if one.setting.key in ADDRESSES]
    assert [one.setting.key for one in found] == ["url", "profile", "api_key"]
    assert all((one.value is None) == (one.source == "default") for one in found)
    assert (*(one.source for one in found), *(one.note for one in found if one.note)) == expected


ADDRESSES = {"url", "profile", "api_key"}


def test_a_flag_goes_before_a_variable_before_the_file_before_the_default() -> None:
    file = ConfigFile(Path("c"), {"log_level": "error", "seed": 3}, {"log_level": 4, "seed": 5})
    words = {"SERVICE_TUI_LOG_LEVEL": "debug"}

    def held(
        key: str, flags: dict[str, object], environ: dict[str, str], file: ConfigFile
    ) -> EffectiveSetting:
        return next(one for one in settle(flags, environ, file) if one.setting.key == key)

    flag = held("log_level", {"log_level": "warning"}, words, file)
    assert (flag.value, flag.source) == ("warning", "--log-level")
    variable = held("log_level", {}, words, file)
    assert (variable.value, variable.source) == ("debug", "SERVICE_TUI_LOG_LEVEL")
    below = held("log_level", {}, {}, file)
    assert (below.value, below.source) == ("error", "config.toml, line 4")
    default = held("log_level", {}, {}, ConfigFile(Path("c")))
    assert (default.value, shown(default), default.source) == (None, "info", "default")


def test_a_switch_is_shown_as_it_is_written() -> None:
    setting = Setting("k", bool, "a")
    assert [shown(EffectiveSetting(setting, one, "file")) for one in (True, False)] == [
        "true", "false"
    ]  # fmt: skip


def test_a_secret_is_shown_nowhere() -> None:
    settled = EffectiveSetting(Setting("k", str, "a", is_secret=True), SECRET, "file")
    assert shown(settled) == "(not shown)"
    assert SECRET not in repr(settled)


def test_a_file_that_others_may_read_holds_no_secret(tmp_path: Path) -> None:
    assert file_of(tmp_path, "seed = 1\n", mode=0o644).values == {"seed": 1}
    for text in ('database = "postgresql://ada@h/d"', f'url = "https://h"\napi_key = "{SECRET}"'):
        key = "database" if "database" in text else "api_key"
        for mode in (0o640, 0o604, 0o610):
            found = file_of(tmp_path, f"seed = 1\n{text}\n", mode=mode)
            assert found.problem.endswith(f"{key} stands in it: chmod 600 it")
            assert found.values == {}
        assert file_of(tmp_path, text, mode=0o700).problem == ""


PORT, TTL, SPEED, URL, FOLDER = (
    BY_KEY[one] for one in ("serve.port", "signal_ttl", "speed", "url", "data_dir")
)
SPOKEN: list[tuple[Setting, str, object]] = [
    (BY_KEY["read_only"], "YES", True), (BY_KEY["read_only"], "1", True),
    (BY_KEY["read_only"], "no", False), (BY_KEY["read_only"], "", False),
    (PORT, "0", 0), (PORT, "65535", 65_535), (PORT, "65536", None), (PORT, "-1", None),
    (PORT, "٣", None), (PORT, "7 ", None), (PORT, "1_0", None), (PORT, "", None),
    (PORT, "0" * 18 + "7", 7), (PORT, "0" * 19 + "7", None),
    (TTL, "1", 1), (TTL, "0", None),
    (SPEED, "10", 10), (SPEED, "5", None),
    (URL, "https://h", "https://h"), (URL, "", None),
    (FOLDER, "/data", Path("/data")), (FOLDER, "", None),
]  # fmt: skip


@pytest.mark.parametrize("row", SPOKEN, ids=[f"{row[0].key}={row[1]}" for row in SPOKEN])
def test_a_word_is_a_value_of_the_setting_or_none(row: tuple[Setting, str, object]) -> None:
    setting, word, value = row
    if value is None:
        with pytest.raises(SettingError):
            value_in(setting, word)
        return
    found = value_in(setting, word)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("setting", "raw", "is_value"),
    [
        (PORT, 65_535, True), (PORT, 65_536, False), (PORT, 0, True), (PORT, -1, False),
        (PORT, "7", False), (PORT, True, False), (PORT, 7.0, False),
        (TTL, 1, True), (TTL, 0, False), (URL, "x", True), (URL, "", False), (URL, 5, False),
        (URL, ["x"], False), (FOLDER, 5, False), (BY_KEY["plan"], "pro", True),
        (BY_KEY["plan"], "", False), (BY_KEY["read_only"], True, True),
        (BY_KEY["read_only"], 1, False), (BY_KEY["read_only"], "true", False),
    ],
)  # fmt: skip
def test_a_value_of_the_file_has_its_own_type(
    setting: Setting, raw: object, *, is_value: bool
) -> None:
    if is_value:
        assert value_of(setting, raw) == raw
        return
    with pytest.raises(SettingError, match=re.escape(setting.key)):
        value_of(setting, raw)


def test_a_command_reads_its_own_flags_and_no_other_commands() -> None:
    """Two commands have a port; both call it so among the parsed words."""
    found = {one.setting.key: one for one in settle({"port": 7}, {}, ConfigFile(Path("c")), "web")}
    assert (found["web.port"].value, found["web.port"].source) == (7, "--port")
    assert (found["serve.port"].value, found["serve.port"].source) == (None, "default")


def test_what_has_no_flag_or_no_variable_is_not_found_by_its_name() -> None:
    flags: dict[str, object] = {"exchange": "v2", "max_experiments": 3}
    found = {
        one.setting.key: one.source
        for one in settle(flags, {"": "v2", "exchange": "v2"}, ConfigFile(Path("c")))
    }
    assert set(found.values()) == {"default"}


# -- the whole way --------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path) -> Generator[MutableMapping[str, str]]:
    """A home with a configuration folder of its own; no variable of ours is set."""
    environ = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "c")}
    environ["XDG_DATA_HOME"] = str(tmp_path / "d")
    (tmp_path / "c" / "service-tui").mkdir(parents=True)
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(environ)
    yield os.environ
    os.environ.clear()
    os.environ.update(before)


def write(home: MutableMapping[str, str], text: str) -> None:
    path = Path(home["XDG_CONFIG_HOME"], "service-tui", "config.toml")
    path.write_text(text)
    path.chmod(0o600)


def opened(*words: str) -> Options:
    found: list[Options] = []

    def noted(options: Options, _: object) -> int:
        found.append(options)
        return 0

    commands = dict.fromkeys(("console", "serve", "report"), noted)
    assert cli.run(words, commands, starts_log=without_log) == 0
    return found[0]


@pytest.mark.slow
def test_the_file_settles_what_nothing_else_says(
    home: MutableMapping[str, str],
) -> None:
    write(home, 'seed = 7\ndata_dir = "~/here"\nread_only = true\n[serve]\nport = 8400\n')
    options = opened()
    assert (options.seed, options.read_only, options.listen) == (7, True, 0)
    assert options.data_dir == Path(home["HOME"], "here")
    assert opened("--seed", "8").seed == 8
    served = opened("serve")
    assert (served.listen, served.read_only) == (8400, False)
    home["SERVICE_TUI_DATA_DIR"] = "/elsewhere"
    assert opened().data_dir == Path("/elsewhere")


@pytest.mark.slow
def test_the_key_of_the_file_goes_to_its_own_address_only(
    home: MutableMapping[str, str],
) -> None:
    write(home, f'url = "https://file"\napi_key = "{SECRET}"\n')
    options = opened()
    assert (options.url, options.api_key) == ("https://file", SECRET)
    assert opened("serve").url is None
    assert cli.run(["--url", "https://other"]) == 1
    home |= {"SERVICE_API_URL": "https://env", "SERVICE_API_KEY": "sk_live_of_the_environment"}
    options = opened()
    assert (options.url, options.api_key) == ("https://env", "sk_live_of_the_environment")


def test_a_wrong_file_is_one_line_and_status_2(
    home: MutableMapping[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    write(home, "\nsed = 7\n")
    with pytest.raises(SystemExit) as caught:
        cli.run(["doctor"])
    out, err = capsys.readouterr()
    assert (caught.value.code, out) == (2, "")
    assert err.endswith("config.toml: line 2: no setting is called sed; did you mean seed?\n")
    with pytest.raises(SystemExit) as caught:
        cli.run(["--help"])
    assert caught.value.code == 0


def test_a_wrong_variable_is_one_line_and_status_2(
    home: MutableMapping[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    home["SERVICE_TUI_LOG_LEVEL"] = "loud"
    with pytest.raises(SystemExit) as caught:
        cli.run(["config", "show"])
    assert caught.value.code == 2
    said = 'SERVICE_TUI_LOG_LEVEL is one of "error", "warning", "info", "debug", not \'loud\''
    assert said in capsys.readouterr().err


def test_config_show_names_values_and_sources_and_no_secret(
    home: MutableMapping[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    write(home, f'url = "https://file"\napi_key = "{SECRET}"\nspeed = 10\n')
    home["SERVICE_TUI_LOG_LEVEL"] = "debug"
    assert cli.run(["config", "show", "--seed", "7"]) == 0
    text = capsys.readouterr().out
    rows = {line.split()[0]: line.split(maxsplit=1)[1] for line in text.splitlines()}
    assert {*rows} == {*BY_KEY}
    for key, value, source in (
        ("seed", "7", "--seed"),
        ("log_level", "debug", "SERVICE_TUI_LOG_LEVEL"),
        ("speed", "10", "config.toml, line 3"),
        ("api_key", "(not shown)", "config.toml, line 2"),
        ("data_dir", str(Path(home["XDG_DATA_HOME"], "service-tui")), "default"),
    ):
        assert rows[key].startswith(f"{value} ")
        assert rows[key].endswith(f" {source}")
    assert cli.run(["config", "show", "--json"]) == 0
    said = capsys.readouterr().out
    by_key = {one["key"]: one for one in json.loads(said)}
    assert (by_key["speed"]["value"], by_key["api_key"]["value"]) == (10, None)
    assert by_key["api_key"]["is_set"]
    assert SECRET not in text + said
