"""What each command line means, and which lines are refused before anything is done."""

import argparse
import shlex
from pathlib import Path
from typing import Any

import pytest

from kit.grammar import grammar
from service_tui.cli.parser import COMMON, LISTS, check, parse

UNKNOWN_FLAGS = {
    "agent retire -x": "-x",
    "agent -x": "-x",
    "agent retire --nmae": "--nmae",
    "people add -x --role trader": "-x",
    "skills run --fast": "--fast",
    "skills install -x --all=1": "-x --all=1",
    "keys -x": "-x",
    "buy -x rain": "-x",
    "quote rain --amuont=5": "--amuont=5",
    "restore backup -x": "-x",
    "agent retire ann -x": "-x",
    "markets -x": "-x",
}


@pytest.mark.parametrize("line", UNKNOWN_FLAGS)
def test_an_unknown_flag_is_named_before_what_is_missing(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parse(grammar(), shlex.split(line))
    assert f"unrecognized arguments: {UNKNOWN_FLAGS[line]};" in capsys.readouterr().err


@pytest.mark.parametrize("line", ["agent retire", "buy rain", "buy rain --sure"])
def test_what_is_missing_is_named_where_every_flag_is_known(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parse(grammar(), shlex.split(line))
    assert "arguments are required" in capsys.readouterr().err or "--sure" in line


LINES = {
    "console": "",
    "serve": "serve",
    "web": "web",
    "halt": "halt",
    "resume": "resume",
    "tour": "tour",
    "doctor": "doctor",
    "replay": "replay",
    "agent": "agent retire ann",
    "people": "people list",
    "people add": "people add ada --role trader",
    "invite": "invite",
    "login": "login --url https://h",
    "logout": "logout",
    "keys": "keys list",
    "autoresearch": "autoresearch",
    "skills": "skills list",
    "skills install": "skills install p",
    "skills check": "skills check p",
    "skills new": "skills new n",
    "skills run": "skills run n",
    "log": "log verify",
    **{name: name for name in LISTS},
    "schema": "schema markets",
    "why": "why t1",
    "mcp": "mcp",
    "quote": "quote rain yes 5",
    "buy": "buy rain yes 5",
    "sell": "sell rain no 5",
    "report": "report",
    "export": "export d",
    "backup": "backup",
    "restore": "restore",
    "verify": "verify",
    "db": "db check",
    "config": "config show",
}
"""A whole line of each command that takes the flags of all."""


def read(line: str) -> argparse.Namespace:
    arguments = parse(grammar(), shlex.split(line))
    check(grammar(), arguments)
    return arguments


def refusal(line: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as refused:
        read(line)
    assert refused.value.code == 2, line
    said = capsys.readouterr()
    assert not said.out
    return said.err


def test_every_command_takes_the_flags_of_all() -> None:
    for name, line in LINES.items():
        found = read(f"{line} --data-dir /d --seed 7 --speed 10 --log-level debug --plan pro")
        assert (found.data_dir, found.seed, found.speed) == (Path("/d"), 7, 10), name
        assert (found.log_level, found.plan) == ("debug", "pro"), name
        assert found.command == name.partition(" ")[0]
        unset = read(line)
        given = {"url"} if name == "login" else set[str]()
        assert {key for key in COMMON if getattr(unset, key)} == given, name


def test_no_command_takes_a_flag_by_its_beginning(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"{line} --see 7" for line in LINES.values()]
    others = ["completion bash --hel", "demo --screens d", "drill storm --lis"]
    for line in (*lines, *others):
        assert refusal(line, capsys).startswith("service-tui: "), line


READ = [
    ("keys create --keyring", {"action": "create", "address": None, "keyring": True}),
    ("keys import", {"action": "import", "keyring": False}),
    ("keys remove 0xab", {"action": "remove", "address": "0xab"}),
    ("demo --screenshot d", {"screenshot": Path("d")}),
    ("replay --at 'yesterday 03:12'", {"at": "yesterday 03:12"}),
    ("replay", {"at": None}),
    ("drill", {"name": "", "list": False, "check": False, "export": None, "returns": None}),
    ("drill storm --check --data-dir /d", {"name": "storm", "check": True, "data_dir": Path("/d")}),
    ("drill --list --json", {"list": True, "json": True}),
    ("drill --export r f.json", {"export": ["r", "f.json"]}),
    ("drill storm --return --seed 7", {"name": "storm", "returns": ["--seed", "7"], "seed": None}),
    ("config show --json", {"act": "show", "json": True}),
    ("config show", {"json": False}),
    ("login --url https://h", {"name": "default", "replace": False, "keyring": False}),
    ("login --url https://h --name x --replace --keyring",
     {"name": "x", "replace": True, "keyring": True}),
    ("logout", {"name": "default"}),
    ("logout --name x", {"name": "x"}),
    ("completion fish", {"shell": "fish"}),
    ("agent retire ann", {"act": "retire", "name": "ann"}),
    ("agent readmit ann", {"act": "readmit"}),
    ("people list", {"act": "list"}),
    ("people add ada --role trader", {"act": "add", "name": "ada", "role": "trader"}),
    ("people role ada owner", {"act": "role", "name": "ada", "role": "owner"}),
    ("people renew ada", {"act": "renew", "name": "ada"}),
    ("people end ada", {"act": "end", "name": "ada"}),
    ("invite", {"act": "new", "name": "", "uses": 1, "days": None, "budget": None, "person": None}),
    ("invite --uses 5 --days 3 --budget 2.5 --for ada",
     {"uses": 5, "days": 3, "budget": 2.5, "person": "ada"}),
    ("invite new --budget 0", {"act": "new", "budget": 0.0}),
    ("invite --budget 999999999.99", {"budget": 999_999_999.99}),
    ("invite list", {"act": "list", "name": ""}),
    ("invite end i1", {"act": "end", "name": "i1"}),
    ("log verify", {"act": "verify", "holds": ""}),
    ("log verify --holds abc", {"holds": "abc"}),
    ("markets", {"json": False, "find": "", "limit": None}),
    ("fills --json --find 'rain paris' --limit 12",
     {"json": True, "find": "rain paris", "limit": 12}),
    ("status --json", {"json": True, "find": "", "limit": None}),
    ("buy 'rain in paris' YES 25",
     {"market": "rain in paris", "side": "yes", "amount": "25", "venue": "sim", "worst": "",
      "yes": False, "live": False}),
    ("sell rain no 50% --min-price 0.4 --yes", {"side": "no", "worst": "0.4", "yes": True}),
    ("quote rain no 5", {"sell": False, "worst": "", "venue": "sim"}),
    ("quote rain no 5 --sell", {"sell": True}),
    ("report", {"agent": "", "to": None}),
    ("report --agent ann --format csv --to f",
     {"agent": "ann", "format": "csv", "to": Path("f")}),
    ("export d", {"folder": Path("d")}),
    ("backup", {"folder": None, "to": None}),
    ("backup d", {"folder": Path("d")}),
    ("backup --to f", {"folder": None, "to": Path("f")}),
    ("restore", {"file": None, "empty": False}),
    ("restore f", {"file": Path("f"), "empty": False}),
    ("restore --empty", {"file": None, "empty": True}),
    ("db check", {"act": "check", "source": "", "target": ""}),
    ("db copy d database --database postgresql:///x --world w",
     {"source": "d", "target": "database", "database": "postgresql:///x", "world": "w"}),
    ("db migrate", {"act": "migrate"}),
    ("skills install a.zip", {"act": "install", "source": Path("a.zip")}),
    ("skills new n", {"name": "n", "parent": Path()}),
    ("skills new n --in /d", {"parent": Path("/d")}),
    ("skills run n", {"name": "n", "words": []}),
    ("skills run n -- --live --once", {"words": ["--live", "--once"]}),
    ("autoresearch", {"word": "", "skill": ""}),
    ("autoresearch off rain", {"word": "off", "skill": "rain"}),
    ("autoresearch reset rain", {"word": "reset", "skill": "rain"}),
    ("serve --public-name a --public-name b,c", {"public_name": "a,b,c"}),
    ("serve --public-name a", {"public_name": "a"}),
    ("serve --port 8400 --limits off", {"port": 8400, "limits": "off"}),
    ("web --port 8401", {"port": 8401}),
    ("halt --url https://h", {"url": "https://h", "profile": None, "read_only": False}),
    ("--profile x --read-only", {"profile": "x", "read_only": True, "command": "console"}),
]  # fmt: skip


def test_each_line_is_read_as_it_is_meant() -> None:
    for line, expected in READ:
        found: dict[str, Any] = vars(read(line))
        meant = {name: found.get(name, "not there") for name in expected}
        assert meant == expected, line


REFUSED = [
    ("keys", "action"),
    ("keys burn", "invalid choice"),
    ("demo", "--screenshot"),
    ("completion tcsh", "invalid choice"),
    ("config", "act"),
    ("config set", "invalid choice"),
    ("login", "login needs the service's address"),
    ("agent fire ann", "invalid choice"),
    ("agent retire", "NAME"),
    ("people", "ACT"),
    ("people add ada", "--role"),
    ("people add ada --role king", "invalid choice"),
    ("people role ada", "ROLE"),
    ("people role ada king", "invalid choice"),
    ("people end", "NAME"),
    ("invite end", "give the ID with 'invite end', and only there"),
    ("invite list i1", "give the ID with 'invite end', and only there"),
    ("invite make", "invalid choice"),
    ("invite --uses 0", "is no number of rows"),
    ("invite --days x", "is no number of rows"),
    ("invite --budget=-1", "'-1' is no amount of money"),
    ("invite --budget much", "'much' is no amount of money"),
    ("invite --budget nan", "is no amount of money"),
    ("invite --budget inf", "is no amount of money"),
    ("invite --budget 1000000000", "is no amount of money"),
    (f"invite --budget {'9' * 40}", f"'{'9' * 20}' is no amount of money"),
    ("log", "act"),
    ("log show", "invalid choice"),
    ("status --find x", "unrecognized arguments"),
    ("buy rain maybe 5", "invalid choice"),
    ("buy rain yes 5 --venue moon", "invalid choice"),
    ("buy rain yes 5 --yes --venue evm_venue", "--yes is for play money"),
    ("sell rain yes 5 --yes --venue evm_venue", "--live with --min-price"),
    ("buy rain yes 5 --live", "--live is for real money. Give its --venue"),
    ("buy rain yes 5 --live --venue evm_venue", "give the worst price, --max-price PRICE"),
    ("backup d --to f", "DIR and --to FILE name two places. Give one"),
    ("restore f --empty", "give FILE or --empty, not both"),
    ("db", "act"),
    ("db drop", "invalid choice"),
    ("skills", "ACT"),
    ("skills run n --live", "put the skill's arguments after --: -- --live"),
    ("skills check n -- x", "only 'skills run' takes arguments after --"),
    ("autoresearch status rain", "autoresearch takes no argument"),
    ("--url https://h --profile x", "--url and --profile name two services. Give one"),
    ("tour --url https://h", "the tour is taken with play money"),
    ("serve --profile x", "serve runs the embedded service"),
    ("tour --read-only", "the tour is taken with play money"),
    ("halt --read-only", "halt changes the service: no --read-only"),
    ("resume --read-only", "resume changes the service: no --read-only"),
    ("agent retire ann --read-only", "agent changes the service: no --read-only"),
    ("people list --read-only", "people changes the service: no --read-only"),
    ("invite --read-only", "invite changes the service: no --read-only"),
    ("dance", "invalid choice"),
    # A typed control sign does not reach the terminal.
    ("--dan\x1bce", "--dan?ce"),
]


def test_each_line_that_cannot_be_meant_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for line, reason in REFUSED:
        said = refusal(line, capsys)
        assert said.startswith("service-tui: "), line
        assert said.endswith("; see 'service-tui --help'\n"), line
        assert said.count("\n") == 1, line
        assert reason in said, (line, said)
