"""What a start comes to: flags first, then the environment, the file, and stored profiles."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from service_tui.app.options import Options
from service_tui.cli.begin import CannotError, arguments_of, options_of, with_file
from service_tui.cli.parser import LISTS, LOG_FILE, USAGE_ERROR
from service_tui.config import (
    DATA_VARIABLE,
    EXCHANGE_VARIABLE,
    INSECURE_VARIABLE,
    WALLET_VARIABLE,
    Environment,
)
from service_tui.settings import ConfigFile
from service_tui.terms import Plan

HERE = "https://desk.example"
THERE = "https://other.example"


class Start:
    """What stands around a start."""

    def __init__(self, folder: Path) -> None:
        self.environment = Environment(None, None, False, folder / "data", folder / "config")  # noqa: FBT003
        self.file = ConfigFile(folder / "config.toml")

    def of(self, **changes: Any) -> "Start":
        self.environment = replace(self.environment, **changes)
        return self

    def says(self, **values: Any) -> "Start":
        self.file = replace(self.file, values=values, lines=dict.fromkeys(values, 1))
        return self

    def arguments(self, words: Sequence[str]) -> argparse.Namespace:
        return arguments_of(words, self.environment, self.file)

    def options(self, *words: str) -> Options:
        return options_of(self.arguments(words), self.environment)


def keep(folder: Path, services: dict[str, str]) -> Path:
    """The file of stored keys, each named after its profile."""
    path = folder / "config" / "profiles.json"
    path.parent.mkdir()
    path.write_text(
        json.dumps({name: {"url": url, "key": f"k-{name}"} for name, url in services.items()})
    )
    path.chmod(0o600)
    return path


@pytest.fixture
def begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    for name in ("DATA", "URL", "KEY"):
        monkeypatch.delenv(f"SERVICE_TUI_{name}", raising=False)
    keep(tmp_path, {"far": THERE, "near": HERE})
    return Start(tmp_path)


def test_a_start_without_anything_is_on_the_embedded_service(begin: Start) -> None:
    options = begin.options()

    assert (options.url, options.api_key, options.plan) == (None, None, None)
    assert options.data_dir == begin.environment.data_dir
    assert options.log_path == begin.environment.data_dir / LOG_FILE
    assert (options.listen, options.limits, options.recording) == (0, True, True)
    assert (options.database, options.world, options.worlds) == (None, "main", None)
    assert (options.exchange, options.ops_port, options.read_only) == ("v1", None, False)


def test_flags_are_taken_as_they_are_given(begin: Start, tmp_path: Path) -> None:
    options = begin.options(
        "--seed", "7", "--speed", "10", "--plan", "elite", "--read-only", "--data-dir",
        str(tmp_path / "own"), "--listen", "8000",
    )  # fmt: skip

    assert (options.seed, options.speed, options.plan) == (7, 10, Plan.ELITE)
    assert (options.read_only, options.listen) == (True, 8_000)
    assert options.data_dir == tmp_path / "own"


@pytest.mark.parametrize(
    ("around", "words", "found"),
    [
        ({}, ["--url", HERE], (HERE, "k-near")),
        ({}, ["--profile", "far"], (THERE, "k-far")),
        ({"api_key": "k"}, ["--url", HERE], (HERE, "k")),
        ({"api_key": "k", "api_url": HERE}, [], (HERE, "k")),
        ({"api_key": "k", "api_url": HERE}, ["--url", THERE], (THERE, "k-far")),
        ({"api_key": "k", "api_url": f"{HERE}/"}, ["--url", HERE], (HERE, "k")),
        ({"api_url": HERE}, [], (None, None)),
        ({"api_key": "k"}, [], (None, None)),
        ({"api_key": "k", "api_url": HERE}, ["tour"], (None, None)),
        ({"api_key": "k", "api_url": HERE}, ["doctor"], (None, None)),
        ({"api_key": "k", "api_url": HERE}, ["status"], (HERE, None)),
        ({"api_key": "k", "api_url": HERE}, ["buy", "rain", "yes", "5"], (HERE, "k")),
        (
            {"api_key": "k", "api_url": HERE},
            ["sell", "rain", "yes", "5", "--url", THERE],
            (THERE, "k-far"),
        ),
    ],
)
def test_a_key_goes_to_its_own_service_alone(
    begin: Start, around: dict[str, Any], words: list[str], found: tuple[str | None, str | None]
) -> None:
    options = begin.of(**around).options(*words)

    assert (options.url, options.api_key) == found


OF_A_SERVICE = (
    "", "web", "halt", "resume", "agent retire ann", "people list", "invite", "quote rain yes 5",
    "buy rain yes 5", "sell rain yes 5", *LISTS, "report", "export d", "backup", "restore",
    "verify", "log verify", "replay", "doctor", "keys list", "skills list",
)  # fmt: skip
"""Every command that a stored service can be named for."""


@pytest.mark.parametrize("line", OF_A_SERVICE)
@pytest.mark.parametrize("named", ["flag", "file"])
def test_every_command_is_for_the_service_that_was_named(
    begin: Start, line: str, named: str
) -> None:
    words = line.split()
    if named == "flag":
        options = begin.options(*words, "--profile", "far")
    else:
        options = begin.says(profile="far").options(*words)

    assert options.url == THERE
    assert options.data_dir == begin.environment.data_dir / "at-other.example"
    if line != "doctor":
        with pytest.raises(CannotError, match=r"no profile 'nope' \(stored: far, near\)"):
            begin.options(*words, "--profile", "nope")


def test_a_halt_passes_over_what_is_wrong_in_the_file_and_names_it(
    begin: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin.file = replace(begin.file, problem="config.toml: line 2: no setting is called sed")
    arguments = begin.arguments(["halt"])
    assert options_of(arguments, begin.environment).url is None
    assert arguments.passed_over == ["config.toml: line 2: no setting is called sed"]
    begin.file = replace(begin.file, problem="")
    arguments = begin.says(profile="gone").arguments(["halt"])
    assert options_of(arguments, begin.environment).url is None
    assert arguments.passed_over == ["no profile 'gone' (stored: far, near)"]
    monkeypatch.setenv("SERVICE_TUI_LOG_LEVEL", "loud")
    arguments = begin.arguments(["halt"])
    assert options_of(arguments, begin.environment).data_dir == begin.environment.data_dir
    assert "SERVICE_TUI_LOG_LEVEL" in arguments.passed_over[0]
    with pytest.raises(CannotError, match="Nothing was halted: name the service with --url"):
        begin.options("halt", "--profile", "gone")


def test_another_service_has_a_folder_of_its_own(begin: Start) -> None:
    options = begin.options("--url", HERE)

    assert options.data_dir == begin.environment.data_dir / "at-desk.example"
    assert options.log_path == begin.environment.data_dir / LOG_FILE


@pytest.mark.parametrize(
    ("values", "around", "found"),
    [
        ({"url": HERE}, {}, (HERE, "k-near")),
        ({"url": HERE, "api_key": "k-file"}, {}, (HERE, "k-file")),
        ({"profile": "far"}, {}, (THERE, "k-far")),
        ({"url": HERE}, {"api_key": "k", "api_url": THERE}, (THERE, "k")),
        ({"url": HERE}, {"api_url": THERE}, (HERE, "k-near")),
    ],
)
def test_the_file_names_a_service_where_nothing_else_does(
    begin: Start, values: dict[str, str], around: dict[str, str], found: tuple[str, str]
) -> None:
    options = begin.of(**around).says(**values).options()

    assert (options.url, options.api_key) == found


def test_a_flag_outdoes_the_service_of_the_file(begin: Start) -> None:
    options = begin.says(url=THERE, api_key="k-file").options("--url", HERE)

    assert (options.url, options.api_key) == (HERE, "k-near")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--url", "https://new.example"], "no key for https://new.example: set"),
        (["--profile", "nope"], r"no profile 'nope' \(stored: far, near\)"),
    ],
)
def test_a_service_without_a_key_is_refused(begin: Start, words: list[str], text: str) -> None:
    with pytest.raises(CannotError, match=text):
        begin.options(*words)


def test_keys_that_cannot_be_read_are_one_line(begin: Start, tmp_path: Path) -> None:
    (tmp_path / "config" / "profiles.json").write_text("{")

    with pytest.raises(CannotError, match=r"profiles\.json"):
        begin.options("--profile", "far")


def test_a_file_in_place_of_the_folder_is_named(begin: Start, tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.touch()

    with pytest.raises(CannotError, match="is not a directory; give another --data-dir"):
        begin.options("--data-dir", str(place))
    with pytest.raises(CannotError, match=r"cannot use .*give another --data-dir"):
        begin.options("--data-dir", "/" + "x" * 300)


@pytest.mark.parametrize(("name", "exchange"), [("", "v1"), ("v1", "v1"), ("v2", "v2")])
def test_the_exchange_is_the_one_that_is_named(begin: Start, name: str, exchange: str) -> None:
    assert begin.of(exchange=name).options().exchange == exchange


@pytest.mark.parametrize(
    ("around", "text"),
    [({"exchange": "v9"}, "invalid .*EXCHANGE"), ({"wallet_key": "abc"}, "invalid .*KEY")],
)
def test_what_the_environment_says_wrong_is_named(
    begin: Start, around: dict[str, str], text: str
) -> None:
    with pytest.raises(CannotError, match=text) as caught:
        begin.of(**around).options()

    assert "abc" not in str(caught.value)


# -- serve ----------------------------------------------------------------------------------


def test_a_service_has_its_own_port_limits_and_network(begin: Start) -> None:
    options = begin.options(
        "serve", "--port", "8001", "--limits", "off", "--host", "0.0.0.0", "--public-name",  # noqa: S104
        "a.example, b.example,", "--invitations", "off", "--ops-port", "9000",
    )  # fmt: skip

    assert (options.listen, options.limits, options.ops_port) == (8_001, False, 9_000)
    assert options.host == "0.0.0.0"  # noqa: S104
    assert options.public_names == ("a.example", "b.example")
    assert options.invitations is False


@pytest.mark.parametrize(("words", "invitations"), [([], None), (["--invitations", "on"], True)])
def test_invitations_are_as_they_are_told(
    begin: Start,
    words: list[str],
    invitations: bool | None,  # noqa: FBT001
) -> None:
    options = begin.options("serve", *words)

    assert options.invitations is invitations
    assert (options.host, options.public_names, options.trusted_proxy) == ("", (), "")


def test_only_a_shared_desks_commands_know_its_database(begin: Start) -> None:
    begin.says(database="postgresql://h/d", world="north")

    served, copied, opened = begin.options("serve"), begin.options("db", "check"), begin.options()

    assert (served.database, served.world) == ("postgresql://h/d", "north")
    assert (copied.database, copied.world) == ("postgresql://h/d", "north")
    assert (opened.database, opened.world) == (None, "main")


# -- the file -------------------------------------------------------------------------------


def test_a_setting_of_the_file_fills_a_flag_that_was_not_given(begin: Start) -> None:
    begin.says(seed=5, plan="pro", read_only=True)

    assert (begin.options().seed, begin.options("--seed", "6").seed) == (5, 6)
    assert begin.options().plan is Plan.PRO
    assert begin.options().read_only is True


def test_a_halt_is_never_read_only_because_of_a_file(begin: Start) -> None:
    assert begin.says(read_only=True).options("halt").read_only is False


def test_a_file_that_names_two_services_is_refused(
    begin: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        begin.says(url=HERE, profile="far").options()

    assert "url and profile name two services. Keep one" in capsys.readouterr().err
    assert begin.options("--url", HERE).url == HERE
    assert begin.options("--profile", "near").url == HERE
    assert begin.options("tour").url is None


def test_the_wallets_key_is_told_without_itself(begin: Start) -> None:
    for key in ("5e" * 32, None):
        settled = begin.of(wallet_key=key).arguments([]).settled
        (found,) = (one for one in settled if one.setting.variable == WALLET_VARIABLE)
        assert (found.value is None) is (key is None)
        assert found.value != key or key is None


def test_a_file_with_a_mistake_ends_the_start(
    begin: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    begin.file = replace(begin.file, problem="config.toml: line 3: no such key")

    with pytest.raises(SystemExit) as ended:
        begin.options()

    assert ended.value.code == USAGE_ERROR
    assert "line 3: no such key" in capsys.readouterr().err


def test_the_file_completes_the_environment_and_never_outdoes_it(
    begin: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    begin.says(data_dir=tmp_path / "file", exchange="v2", allow_insecure=True, seed=3)
    for name in (DATA_VARIABLE, INSECURE_VARIABLE, EXCHANGE_VARIABLE):
        monkeypatch.delenv(name, raising=False)

    whole = with_file(begin.environment, begin.file)
    monkeypatch.setenv(DATA_VARIABLE, "/own")
    part = with_file(begin.environment, begin.file)

    assert (whole.data_dir, whole.exchange, whole.allow_insecure) == (
        tmp_path / "file", "v2", True,
    )  # fmt: skip
    assert (part.data_dir, part.exchange) == (begin.environment.data_dir, "v2")


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "many", "", "\u0664", "9" * 40])
def test_what_is_no_number_of_rows_is_refused(
    begin: Start, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    with pytest.raises(SystemExit):
        begin.arguments(["markets", f"--limit={text}"])

    assert "is no number of rows" in capsys.readouterr().err


def test_a_number_of_rows_is_taken(begin: Start) -> None:
    assert begin.arguments(["markets", "--limit", "12"]).limit == 12


@pytest.mark.parametrize("text", ["-1", "much", "nan", "inf", "1e30"])
def test_what_is_no_amount_of_money_is_refused(
    begin: Start, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    with pytest.raises(SystemExit):
        begin.arguments(["invite", f"--budget={text}"])

    assert "is no amount of money" in capsys.readouterr().err


def test_an_amount_of_money_is_taken(begin: Start) -> None:
    assert begin.arguments(["invite", "--budget", "2.5"]).budget == 2.5
    assert begin.arguments(["invite", "--budget", "0"]).budget == 0.0
