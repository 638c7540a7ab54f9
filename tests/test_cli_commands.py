"""What each command asks of the program, prints, and ends with."""

import gc
import io
import os
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

from service_tui.app import logfile, start
from service_tui.app.address import AddressError
from service_tui.app.network import NetworkError
from service_tui.app.options import Options
from service_tui.app.output import OutputError
from service_tui.autoresearch.errors import ToolError
from service_tui.cli import lists
from service_tui.cli import main as cli
from service_tui.cli import plain as plain_lines
from service_tui.cli.main import CannotError
from service_tui.commands import agent as agent_command
from service_tui.commands import (
    completion,
    demo,
    doctor,
    plain,
    replay,
    research,
    research_server,
    serve,
    skills,
    web,
)
from service_tui.commands import config as config_command
from service_tui.commands import database as database_command
from service_tui.commands import drill as drills
from service_tui.commands import halt as halt_command
from service_tui.commands import keys as keys_command
from service_tui.commands import log as log_command
from service_tui.commands import people as people_command
from service_tui.commands import report as report_command
from service_tui.commands import shared as shared_command
from service_tui.commands.halt import HaltReport
from service_tui.console.closed_desk import DeskClosedError
from service_tui.credentials import keys, login, wallet_keys
from service_tui.credentials.keys import KeysError, Profile
from service_tui.credentials.system_keyring import system_keyring
from service_tui.storage.errors import StorageError
from service_tui.version import VERSION

HERE: Final = Path("/here")
OPTIONS: Final = Options(HERE / "data", HERE / "config", HERE / "base" / "log.txt", wallet_key="w")
CLOSED: Final = DeskClosedError("the desk is closed", "")

Patch = pytest.MonkeyPatch
Out = pytest.CaptureFixture[str]


class Calls(list[Any]):
    """What was called with what; it answers, or raises."""

    def fake(self, answer: Any = None, *, raises: Exception | None = None) -> Callable[..., Any]:
        def call(*words: Any, **named: Any) -> Any:
            self.append((*words, *named.items()))
            if raises is not None:
                raise raises
            return answer

        return call


@pytest.fixture
def calls(monkeypatch: Patch) -> Calls:
    monkeypatch.setattr(cli, "collect_from_now", lambda: None)
    return Calls()


def run(command: str, options: Options = OPTIONS, **given: Any) -> int:
    return cli._COMMANDS[command](options, Namespace(command=command, **given))


def cannot(command: str, options: Options = OPTIONS, **given: Any) -> str:
    with pytest.raises(CannotError) as found:
        run(command, options, **given)
    return str(found.value)


def typed(monkeypatch: Patch, text: str, *, is_terminal: bool = False) -> None:
    stream = io.StringIO(text)
    monkeypatch.setattr(stream, "isatty", lambda: is_terminal)
    monkeypatch.setattr(sys, "stdin", stream)


# -- halts, agents, people ----------------------------------------------------------------------


@pytest.mark.parametrize(("done", "code"), [(True, 0), (False, 1)])
def test_a_halt_prints_what_was_reached_and_ends_by_whether_all_was(
    monkeypatch: Patch, capsys: Out, calls: Calls, *, done: bool, code: int
) -> None:
    report = HaltReport(lines=("one", "two"), is_done=done)
    monkeypatch.setattr(halt_command, "halt", calls.fake(report))
    assert run("halt") == code
    assert capsys.readouterr().out == "one\ntwo\n"
    assert calls == [(OPTIONS,)]
    monkeypatch.setattr(halt_command, "halt", calls.fake(raises=CLOSED))
    assert cannot("halt") == "the desk is closed"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_trading_is_resumed_after_the_typed_word_alone(
    monkeypatch: Patch, capsys: Out, calls: Calls, *, is_terminal: bool
) -> None:
    monkeypatch.setattr(
        halt_command, "resume", calls.fake(HaltReport(lines=("resumed",), is_done=True))
    )
    typed(monkeypatch, "yes\n", is_terminal=is_terminal)
    assert cannot("resume") == "not resumed: the word is RESUME"
    assert calls == []
    assert bool(capsys.readouterr().out) is is_terminal
    typed(monkeypatch, " RESUME \n")
    assert run("resume") == 0
    assert calls == [(OPTIONS,)]
    monkeypatch.setattr(halt_command, "resume", calls.fake(raises=CLOSED))
    typed(monkeypatch, "RESUME\n")
    assert cannot("resume") == "the desk is closed"
    monkeypatch.setattr(sys, "stdin", None)
    assert cannot("resume") == "not resumed: the word is RESUME"


def test_an_agent_is_governed_by_its_name(monkeypatch: Patch, capsys: Out, calls: Calls) -> None:
    monkeypatch.setattr(
        agent_command, "govern", calls.fake(HaltReport(lines=("retired",), is_done=True))
    )
    assert run("agent", act="retire", name="ada") == 0
    assert calls == [(OPTIONS, "retire", "ada")]
    assert capsys.readouterr().out == "retired\n"
    monkeypatch.setattr(agent_command, "govern", calls.fake(raises=CLOSED))
    assert cannot("agent", act="retire", name="ada") == "the desk is closed"


@pytest.mark.parametrize("case", [("people", "run_people"), ("invite", "run_invite")])
def test_people_and_invitations_are_managed_by_what_was_given(
    monkeypatch: Patch, capsys: Out, calls: Calls, case: tuple[str, str]
) -> None:
    command, target = case
    monkeypatch.setattr(people_command, target, calls.fake(("ann", "ben")))
    assert run(command, act="list", port=4) == 0
    ((options, request),) = calls
    assert (options, request.act) == (OPTIONS, "list")
    assert capsys.readouterr().out == "ann\nben\n"
    why = people_command.PeopleCommandError("nobody")
    monkeypatch.setattr(people_command, target, calls.fake(raises=why))
    assert cannot(command, act="list") == "nobody"


# -- keys ----------------------------------------------------------------------------------------

KEY: Final = "sk_live_" + "k" * 24
ADDRESS: Final = "https://desk.example"


@pytest.fixture
def kept(monkeypatch: Patch, calls: Calls) -> dict[str, Profile]:
    profiles: dict[str, Profile] = {}
    monkeypatch.setattr(keys, "profiles", lambda _: profiles)
    monkeypatch.setattr(login, "keep", calls.fake())
    return profiles


def log_in(**changes: Any) -> int:
    given = {"url": ADDRESS, "name": "team", "replace": False, "keyring": True, **changes}
    return run("login", **given)


def test_a_key_that_is_handed_in_is_kept_for_its_address(
    monkeypatch: Patch, capsys: Out, calls: Calls, kept: dict[str, Profile]
) -> None:
    typed(monkeypatch, f"  {KEY}\r\n")
    assert log_in() == 0
    assert calls == [(HERE / "config", Profile("team", ADDRESS, KEY), ("in_keyring", True))]
    assert capsys.readouterr().out == ("stored; open the desk with 'service-tui --profile team'\n")
    typed(monkeypatch, "short\n")
    with pytest.raises(CannotError, match="invalid key"):
        log_in()
    kept["team"] = Profile("team", "https://other.example", KEY)
    typed(monkeypatch, f"{KEY}\n")
    with pytest.raises(CannotError, match="nothing stored: add --replace"):
        log_in()
    assert len(calls) == 1
    typed(monkeypatch, f"{KEY}\n")
    assert log_in(replace=True) == 0
    assert len(calls) == 2
    monkeypatch.setattr(login, "keep", calls.fake(raises=KeysError("no keyring")))
    typed(monkeypatch, f"{KEY}\n")
    with pytest.raises(CannotError, match="key not stored: no keyring"):
        log_in(replace=True)


@pytest.mark.parametrize(("word", "stored"), [("yes", True), ("y", False), ("", False)])
def test_at_a_terminal_a_profile_is_replaced_after_a_yes(
    monkeypatch: Patch, calls: Calls, kept: dict[str, Profile], word: str, *, stored: bool
) -> None:
    kept["team"] = Profile("team", "https://other.example", KEY)
    typed(monkeypatch, f"{word}\n", is_terminal=True)
    monkeypatch.setattr(cli.getpass, "getpass", lambda _: KEY)
    if stored:
        assert log_in() == 0
    else:
        with pytest.raises(CannotError, match="nothing stored"):
            log_in()
    assert bool(calls) is stored


def test_a_secret_is_typed_unseen_or_one_line_of_a_pipe(monkeypatch: Patch) -> None:
    prompts: list[str] = []
    monkeypatch.setattr(cli.getpass, "getpass", lambda text: prompts.append(text) or "unseen")
    typed(monkeypatch, "", is_terminal=True)
    assert cli._read_secret("key: ") == "unseen"
    assert prompts == ["key: "]
    typed(monkeypatch, " a b \r\nmore\n")
    assert cli._read_secret("key: ") == " a b "
    monkeypatch.setattr(sys, "stdin", None)
    assert cli._read_secret("key: ") == ""

    def left(_: str) -> str:
        raise EOFError

    monkeypatch.setattr(cli.getpass, "getpass", left)
    typed(monkeypatch, "", is_terminal=True)
    assert cli._read_secret("key: ") == ""


def test_a_key_is_removed_by_its_name(monkeypatch: Patch, capsys: Out, calls: Calls) -> None:
    monkeypatch.setattr(login, "forget", calls.fake(Profile("team", ADDRESS, KEY)))
    assert run("logout", name="team") == 0
    assert calls == [(HERE / "config", "team")]
    assert capsys.readouterr().out == f"removed the key for {ADDRESS}\n"
    monkeypatch.setattr(login, "forget", calls.fake())
    assert cannot("logout", name="team") == "no profile 'team'"
    monkeypatch.setattr(login, "forget", calls.fake(raises=KeysError("locked")))
    assert cannot("logout", name="team") == "nothing removed: locked"


@pytest.mark.parametrize("troubles", [0, 2])
def test_keys_of_wallets_are_kept_by_their_address(
    monkeypatch: Patch, capsys: Out, calls: Calls, troubles: int
) -> None:
    report = SimpleNamespace(lines=("kept",), trouble_count=troubles)
    monkeypatch.setattr(keys_command, "run_command", calls.fake(report))
    made = Calls()
    monkeypatch.setattr(wallet_keys, "WalletKeys", made.fake("keys of wallets"))
    given = {"action": "add", "address": "0xab", "keyring": True}
    if troubles:
        assert cannot("keys", **given) == "2 problem(s) with the keys"
    else:
        assert run("keys", **given) == 0
    ((kept, request),) = calls
    assert kept == "keys of wallets"
    assert made == [(OPTIONS.data_dir, ("keyring", system_keyring))]
    assert request == keys_command.KeyRequest(
        "add", "0xab", "w", in_keyring=True, read_secret=cli._read_secret
    )
    assert capsys.readouterr().out == "kept\n"
    refusal = keys_command.KeysCommandError("no such wallet")
    monkeypatch.setattr(keys_command, "run_command", calls.fake(raises=refusal))
    assert cannot("keys", **given) == "no such wallet"


@pytest.mark.parametrize(
    ("stored", "is_known"), [([ADDRESS], True), (["https://other.example"], False), ([], False)]
)
def test_a_page_needs_a_stored_key_for_its_service(
    monkeypatch: Patch, stored: list[str], *, is_known: bool
) -> None:
    found = {str(n): Profile(str(n), url, KEY) for n, url in enumerate(stored)}
    monkeypatch.setattr(keys, "profiles", lambda _: found)
    options = Options(HERE, HERE, HERE, url=ADDRESS)
    if is_known:
        cli._require_stored_key(options)
    else:
        with pytest.raises(CannotError, match=f"no stored key for {ADDRESS}"):
            cli._require_stored_key(options)


# -- starts --------------------------------------------------------------------------------------


def test_a_service_gives_way_to_a_console_and_its_errors_are_lines(
    monkeypatch: Patch, calls: Calls
) -> None:
    monkeypatch.setattr(os, "nice", lambda more: calls.append(("nice", more)))
    monkeypatch.setattr(serve, "serve", calls.fake())
    assert run("serve") == 0
    assert calls == [("nice", 5), (OPTIONS,)]
    for error in (CLOSED, serve.PortTakenError("port 80 is taken"), NetworkError("no key")):
        monkeypatch.setattr(serve, "serve", calls.fake(raises=error))
        assert cannot("serve") == str(error)


def test_pages_are_given_the_settings_of_their_console(monkeypatch: Patch, calls: Calls) -> None:
    monkeypatch.setattr(web, "open_web", calls.fake())
    given: dict[str, Any] = {
        "data_dir": Path("/d"), "profile": None, "read_only": True, "log_level": "debug",
        "port": 8_080,
    }  # fmt: skip
    assert run("web", **given) == 0
    flags = ["--data-dir", "/d", "--read-only", "--log-level", "debug"]
    assert calls == [(OPTIONS, flags, 8_080)]
    monkeypatch.setattr(cli, "_require_stored_key", calls.fake())
    named = Options(HERE, HERE, HERE, url=ADDRESS)
    plain_given = {**given, "read_only": False, "log_level": None, "port": None}
    assert run("web", named, **plain_given) == 0
    assert calls[1:] == [(named,), (named, ["--data-dir", "/d", "--url", ADDRESS], 0)]
    assert run("web", named, **{**plain_given, "profile": "team"}) == 0
    assert calls[3:] == [(named, ["--data-dir", "/d", "--profile", "team"], 0)]
    for error in (CLOSED, serve.PortTakenError("cannot use port 8080")):
        monkeypatch.setattr(web, "open_web", calls.fake(raises=error))
        assert cannot("web", **given) == str(error)


@pytest.mark.parametrize(("command", "has_tour"), [("console", False), ("tour", True)])
def test_a_console_opens_at_a_terminal_and_may_end_in_a_drill(
    monkeypatch: Patch, calls: Calls, command: str, *, has_tour: bool
) -> None:
    monkeypatch.delenv("TEXTUAL_DRIVER", raising=False)
    monkeypatch.setattr(cli, "_require_terminal", lambda: calls.append("terminal"))
    monkeypatch.setattr(cli, "_prepare_for_keys", lambda: calls.append("keys"))
    end = SimpleNamespace(code=3, drill="")
    monkeypatch.setattr(start, "open_console", calls.fake(end))
    monkeypatch.setattr(drills, "replace_by_drill", calls.fake())
    assert run(command, plain=False) == 3
    assert calls == [
        "terminal", "keys", (OPTIONS, ("drills", cli._drills), ("has_tour", has_tour))
    ]  # fmt: skip
    end.drill = "storm"
    monkeypatch.setattr(sys, "argv", ["service-tui", "--read-only"])
    run(command, plain=False)
    assert calls[-1] == (HERE / "base", "storm", ["--read-only"])


def test_a_console_in_a_page_needs_no_terminal_and_has_no_drills(
    monkeypatch: Patch, calls: Calls
) -> None:
    monkeypatch.setenv("TEXTUAL_DRIVER", cli.WEB_DRIVER)
    monkeypatch.setattr(cli, "_require_terminal", lambda: calls.append("terminal"))
    monkeypatch.setattr(cli, "_prepare_for_keys", lambda: None)
    monkeypatch.setattr(start, "open_console", calls.fake(SimpleNamespace(code=0, drill="")))
    assert run("console", plain=True) == 0
    assert calls == [(OPTIONS, ("drills", tuple), ("has_tour", False))]


def test_a_plain_console_says_hello_and_reads_lines(monkeypatch: Patch, calls: Calls) -> None:
    monkeypatch.delenv("TEXTUAL_DRIVER", raising=False)
    typed(monkeypatch, "")
    monkeypatch.setattr(plain, "run", calls.fake())
    assert run("console", plain=True) == 0
    ((options, stream, answer, hello),) = calls
    assert (options, stream) == (OPTIONS, sys.stdin)
    assert answer.func is plain_lines.answer
    assert answer.args[0] is OPTIONS
    assert hello == (
        f"service-tui {VERSION}, lines of text. help lists the commands, quit leaves.",
    )
    monkeypatch.setattr(plain, "run", calls.fake(raises=CLOSED))
    assert cannot("console", plain=True) == "the desk is closed"


def test_keys_wait_for_no_paint_and_no_thread(monkeypatch: Patch) -> None:
    seconds: list[float] = []
    monkeypatch.setattr(sys, "setswitchinterval", seconds.append)
    monkeypatch.delenv("TEXTUAL_FPS", raising=False)
    cli._prepare_for_keys()
    assert (os.environ["TEXTUAL_FPS"], seconds) == ("240", [0.001])
    monkeypatch.setenv("TEXTUAL_FPS", "30")
    cli._prepare_for_keys()
    assert os.environ["TEXTUAL_FPS"] == "30"


@pytest.mark.parametrize("closed", ["stdin", "stdout", "stderr", None])
def test_a_console_needs_all_three_streams_at_a_terminal(
    monkeypatch: Patch, closed: str | None
) -> None:
    for name in ("stdin", "stdout", "stderr"):
        stream = SimpleNamespace(isatty=lambda name=name: name != closed)
        monkeypatch.setattr(sys, name, stream)
    if closed is None:
        cli._require_terminal()
        return
    with pytest.raises(CannotError, match="needs a terminal"):
        cli._require_terminal()
    monkeypatch.setattr(sys, closed, None)
    with pytest.raises(CannotError, match="needs a terminal"):
        cli._require_terminal()


@pytest.mark.parametrize("command", ["replay", "drill"])
def test_without_a_terminal_no_screen_is_opened(
    monkeypatch: Patch, calls: Calls, command: str
) -> None:
    typed(monkeypatch, "")
    monkeypatch.setattr(replay, "open_replay", calls.fake(0))
    monkeypatch.setattr(drills, "checked", lambda _: ())
    monkeypatch.setattr(drills, "play", calls.fake())
    given = {"at": None, "returns": None, "name": "storm"} | dict.fromkeys((
        "export",
        "check",
        "list",
        "json",
    ))
    assert "needs a terminal" in cannot(command, **given)
    assert calls == []


@pytest.mark.parametrize(
    ("command", "given"),
    [
        ("serve", {}),
        ("web", {"data_dir": None, "profile": None, "read_only": False, "log_level": None,
                 "port": None}),
        ("replay", {"at": None}),
        ("console", {"plain": True}),
        ("drill", {"name": "storm", "returns": None, **dict.fromkeys(("export", "check", "list"))}),
    ],
)  # fmt: skip
def test_garbage_is_collected_before_what_stays_open(
    monkeypatch: Patch, calls: Calls, command: str, given: dict[str, Any]
) -> None:
    monkeypatch.delenv("TEXTUAL_DRIVER", raising=False)
    for name in ("_require_terminal", "_prepare_for_keys"):
        monkeypatch.setattr(cli, name, lambda: None)
    monkeypatch.setattr(os, "nice", lambda _: None)
    monkeypatch.setattr(cli, "collect_from_now", lambda: calls.append("collects"))
    monkeypatch.setattr(drills, "checked", lambda _: ())
    end = drills.DrillExit(0, ())
    for room, name, answer in (
        (serve, "serve", None), (web, "open_web", None), (replay, "open_replay", 0),
        (plain, "run", None), (drills, "play", end),
    ):  # fmt: skip
        monkeypatch.setattr(room, name, lambda *_, answer=answer: calls.append("opens") or answer)
    assert run(command, **given) == 0
    assert calls == ["collects", "opens"]


@pytest.mark.parametrize(
    ("code", "returns", "goes_back"),
    [(0, ["--seed", "7"], True), (0, [], True), (0, None, False), (1, ["--seed", "7"], False)],
)
def test_a_drill_goes_back_to_the_console_that_it_stands_in_for(
    monkeypatch: Patch, calls: Calls, returns: list[str] | None, *, code: int, goes_back: bool
) -> None:
    for name in ("_require_terminal", "_prepare_for_keys"):
        monkeypatch.setattr(cli, name, lambda: None)
    monkeypatch.setattr(drills, "checked", lambda _: ())
    monkeypatch.setattr(drills, "play", lambda *_: drills.DrillExit(code, ("a result",)))
    monkeypatch.setattr(drills, "replace_by_console", calls.fake())
    given = {"name": "storm", "export": None, "check": False, "list": False}
    assert run("drill", returns=returns, **given) == 0
    assert calls == ([(returns,)] if goes_back else [])


def test_a_replay_begins_at_a_time_or_now(monkeypatch: Patch, calls: Calls) -> None:
    monkeypatch.setattr(cli, "_require_terminal", lambda: None)
    monkeypatch.setattr(cli, "_prepare_for_keys", lambda: None)
    monkeypatch.setattr(replay, "open_replay", calls.fake(0))
    assert run("replay", at="2026-05-04 10:00") == 0
    assert run("replay", at=None) == 0
    (first, second) = calls
    assert first == (OPTIONS, 1_777_888_800.0)
    assert second[1] > first[1]
    with pytest.raises(CannotError, match="invalid --at"):
        run("replay", at="soon")
    monkeypatch.setattr(replay, "open_replay", calls.fake(raises=replay.ReplayError("none")))
    assert cannot("replay", at=None) == "none"


# -- everything else -------------------------------------------------------------------------------


def test_pictures_are_named_as_they_are_made(monkeypatch: Patch, capsys: Out, calls: Calls) -> None:
    monkeypatch.setattr(demo, "make_screenshots", calls.fake((Path("/a.svg"), Path("/b.svg"))))
    assert run("demo", screenshot=Path("/to")) == 0
    assert calls == [(Path("/to"),)]
    assert capsys.readouterr().out == "/a.svg\n/b.svg\n"
    monkeypatch.setattr(demo, "make_screenshots", calls.fake(raises=OSError(28, "no room")))
    assert cannot("demo", screenshot=Path("/to")) == "cannot write /to: no room"


@pytest.mark.parametrize(("healthy", "code"), [(True, 0), (False, 1)])
def test_the_doctor_prints_what_it_finds(
    monkeypatch: Patch, capsys: Out, calls: Calls, *, healthy: bool, code: int
) -> None:
    monkeypatch.setattr(doctor, "findings", calls.fake((["a finding"], healthy)))
    monkeypatch.setattr(doctor, "profile_problem", calls.fake(""))
    assert run("doctor", profile=None) == code
    head, finding = capsys.readouterr().out.splitlines()
    assert head.startswith(f"service-tui {VERSION}, Python 3.")
    assert finding == "a finding"
    assert calls == [(OPTIONS,)]
    run("doctor", profile="team")
    assert calls[1:] == [(OPTIONS, "team"), (OPTIONS,)]
    monkeypatch.setattr(doctor, "profile_problem", calls.fake("no such profile"))
    assert cannot("doctor", profile="team") == "no such profile"


@pytest.mark.parametrize("word", ["status", ""])
def test_research_is_a_word_or_a_server_for_a_client(
    monkeypatch: Patch, calls: Calls, word: str
) -> None:
    request = SimpleNamespace(word=word)
    monkeypatch.setattr(cli, "parse_request", lambda *_: request)
    monkeypatch.setattr(research, "autoresearch", lambda *words: calls.append(("word", *words)))
    monkeypatch.setattr(
        research_server, "serve_client", lambda *words: calls.append(("server", *words)) or 4
    )
    assert run("autoresearch") == (0 if word else 4)
    assert calls == [("word" if word else "server", OPTIONS, request)]
    for target, name in ((research, "autoresearch"), (research_server, "serve_client")):
        monkeypatch.setattr(target, name, calls.fake(raises=ToolError("busy")))
    assert cannot("autoresearch") == "busy"

    def wrong(*_: object) -> None:
        raise ValueError("which skill?")

    monkeypatch.setattr(cli, "parse_request", wrong)
    assert cannot("autoresearch") == "which skill?"


DATA: Final = HERE / "data"
SKILLS: Final = {
    "install": ("install_skill", {"source": "rain.zip"}, (DATA, "rain.zip", cli.print_lines)),
    "check": ("check_skill", {"name": "rain"}, (DATA, "rain", cli.print_lines)),
    "new": ("make_skill", {"name": "rain", "parent": HERE}, ("rain", HERE, cli.print_lines)),
    "list": ("list_skills", {}, (DATA, cli.print_lines)),
    "run": ("run_skill", {"name": "rain", "words": ["--once"]}, (DATA, "rain", ["--once"])),
}


@pytest.mark.parametrize("act", SKILLS)
def test_each_thing_that_is_done_with_skills(monkeypatch: Patch, calls: Calls, act: str) -> None:
    name, given, called = SKILLS[act]
    monkeypatch.setattr(skills, name, calls.fake(5))
    assert run("skills", act=act, **given) == (5 if act == "run" else 0)
    assert calls == [called]
    monkeypatch.setattr(skills, name, calls.fake(raises=skills.SkillsError("no skill")))
    assert cannot("skills", act=act, **given) == "no skill"


def test_the_log_is_verified_up_to_what_it_has_to_hold(
    monkeypatch: Patch, capsys: Out, calls: Calls
) -> None:
    monkeypatch.setattr(log_command, "verify_log", calls.fake("well"))
    assert run("log", holds="a hash") == 0
    assert calls == [(DATA, "a hash")]
    assert capsys.readouterr().out == "well\n"
    broken = log_command.LogCommandError("broken")
    monkeypatch.setattr(log_command, "verify_log", calls.fake(raises=broken))
    assert cannot("log", holds=None) == "broken"


@pytest.mark.parametrize(("is_well", "code"), [(True, 0), (False, 1)])
def test_the_database_is_copied_restored_and_checked(
    monkeypatch: Patch, capsys: Out, calls: Calls, *, is_well: bool, code: int
) -> None:
    monkeypatch.setattr(database_command, "run_command", calls.fake((["done"], is_well)))
    assert run("restore", file="copy.db", empty=True) == code
    assert run("backup", folder="/f", to="/t") == code
    wanted = database_command.DatabaseRequest
    assert calls == [
        (DATA, wanted("restore", file="copy.db", empty=True)),
        (DATA, wanted("backup", "/f", "/t", None, None)),
    ]
    assert capsys.readouterr().out == "done\ndone\n"
    monkeypatch.setattr(database_command, "run_command", calls.fake(raises=StorageError("no")))
    assert cannot("verify") == "no"


@pytest.mark.parametrize(("is_well", "code"), [(True, 0), (False, 1)])
def test_the_database_of_a_shared_desk_is_looked_at_or_copied(
    monkeypatch: Patch, capsys: Out, calls: Calls, *, is_well: bool, code: int
) -> None:
    monkeypatch.setattr(shared_command, "run_shared_command", calls.fake((["copied"], is_well)))
    assert run("db", act="copy", source="a", target="b") == code
    assert calls == [(OPTIONS, shared_command.SharedRequest("copy", "a", "b"))]
    assert capsys.readouterr().out == "copied\n"
    refusal = StorageError("no")
    monkeypatch.setattr(shared_command, "run_shared_command", calls.fake(raises=refusal))
    assert cannot("db", act="copy", source="a", target="b") == "no"


@pytest.mark.parametrize("as_json", [True, False])
def test_settings_are_shown_with_their_sources(
    monkeypatch: Patch, capsys: Out, calls: Calls, *, as_json: bool
) -> None:
    monkeypatch.setattr(config_command, "as_json", calls.fake(("json",)))
    monkeypatch.setattr(config_command, "as_lines", calls.fake(("lines",)))
    assert run("config", json=as_json, settled="all") == 0
    assert calls == [("all",) if as_json else ("all", str(HERE / "base"))]
    assert capsys.readouterr().out == ("json\n" if as_json else "lines\n")


def test_the_completion_is_that_of_the_shell(monkeypatch: Patch, capsys: Out, calls: Calls) -> None:
    monkeypatch.setattr(completion, "script", calls.fake("complete me"))
    assert run("completion", shell="zsh") == 0  # noqa: S604 - the name of a shell
    assert calls[0][1] == "zsh"
    assert capsys.readouterr().out == "complete me\n"


def test_a_days_report_is_printed_or_stored(monkeypatch: Patch, capsys: Out, calls: Calls) -> None:
    monkeypatch.setattr(report_command, "day", calls.fake("a,b\n"))
    monkeypatch.setattr(report_command, "keep", calls.fake())
    assert run("report", agent="ada", format="csv", to=None) == 0
    assert run("report", agent=None, format="json", to=Path("/t")) == 0
    assert calls == [
        (OPTIONS, "ada", ("as_table", True)), (OPTIONS, None, ("as_table", False)),
        (Path("/t"), "a,b\n"),
    ]  # fmt: skip
    assert capsys.readouterr().out == "a,b\n/t\n"
    for error in (CLOSED, report_command.ReportError("no")):
        monkeypatch.setattr(report_command, "day", calls.fake(raises=error))
        assert cannot("report", agent=None, format="json", to=None) == str(error)


def test_an_export_counts_its_files(monkeypatch: Patch, capsys: Out, calls: Calls) -> None:
    monkeypatch.setattr(report_command, "export", calls.fake(7))
    assert run("export", folder=Path("/t")) == 0
    assert calls == [(OPTIONS, Path("/t"))]
    assert capsys.readouterr().out == "7 files written to /t\n"
    for error in (CLOSED, report_command.ReportError("the folder is not empty")):
        monkeypatch.setattr(report_command, "export", calls.fake(raises=error))
        assert cannot("export", folder=Path("/t")) == str(error)


@pytest.mark.parametrize("as_json", [True, False])
def test_a_list_is_a_table_or_json(
    monkeypatch: Patch, capsys: Out, calls: Calls, *, as_json: bool
) -> None:
    monkeypatch.setattr(lists, "listed", calls.fake("rows"))
    monkeypatch.setattr(lists, "as_json", lambda *words: f"json of {words}")
    monkeypatch.setattr(lists, "as_lines", lambda *words: [f"lines of {words}", "more"])
    assert run("markets", find=None, limit=9, json=as_json) == 0
    assert run("markets", find="rain", limit=None, json=as_json) == 0
    assert calls == [
        (OPTIONS, "markets", ("find", ""), ("limit", 9)),
        (OPTIONS, "markets", ("find", "rain"), ("limit", None)),
    ]
    text = "json of ('markets', 'rows')\n" if as_json else "lines of ('markets', 'rows')\nmore\n"
    assert capsys.readouterr().out == 2 * text
    for error in (CLOSED, report_command.ReportError("no rows")):
        monkeypatch.setattr(lists, "listed", calls.fake(raises=error))
        assert cannot("markets", find=None, limit=9, json=as_json) == str(error)


DRILLS: Final = {
    "export": ({"export": ("r1", "/t")}, "export", (DATA, "r1", Path("/t")), "/t\n"),
    "check": ({"check": True}, "checked", ("storm",), "one\ntwo\n"),
    "list": ({"list": True}, "listed", (DATA,), "one\ntwo\n"),
    "list of all": ({"name": None, "json": True}, "listed_json", (DATA,), "one\ntwo\n"),
}


@pytest.mark.parametrize("case", DRILLS)
def test_drills_are_listed_checked_and_exported(
    monkeypatch: Patch, capsys: Out, calls: Calls, case: str
) -> None:
    changes, name, called, text = DRILLS[case]
    given = {"export": None, "check": False, "list": False, "name": "storm", "json": False}
    monkeypatch.setattr(drills, name, calls.fake(("one", "two")))
    assert run("drill", **{**given, **changes}) == 0
    assert calls == [called]
    assert capsys.readouterr().out == text
    monkeypatch.setattr(drills, name, calls.fake(raises=drills.DrillError("no drill")))
    assert cannot("drill", **{**given, **changes}) == "no drill"


def test_the_program_has_a_function_for_each_command() -> None:
    assert cli._COMMANDS["people"] is cli._COMMANDS["invite"] is cli._people
    assert cli._COMMANDS["backup"] is cli._COMMANDS["restore"] is cli._COMMANDS["verify"]
    assert cli._COMMANDS["console"] is cli._COMMANDS["tour"]
    assert len(cli._COMMANDS) >= 30


# -- the way in and out ----------------------------------------------------------------------------


@pytest.fixture
def begun(monkeypatch: Patch) -> Calls:
    """A start whose command line and options are settled: what it does around its command."""
    seen = Calls()
    monkeypatch.setitem(sys.modules, "httpx._main", None)
    monkeypatch.setattr(cli, "read_config", lambda _: None)
    monkeypatch.setattr(cli, "_with_file", lambda environment, _: environment)
    monkeypatch.setattr(
        cli, "_parse", lambda argv, *_: Namespace(command=argv[0], log_level="debug")
    )
    monkeypatch.setattr(cli, "_options", lambda *_: OPTIONS)
    monkeypatch.setattr(cli, "_start_log", lambda *given: seen.append(("log", given)))
    monkeypatch.setattr(cli.signal, "signal", lambda *given: seen.append(("signal", given)))
    monkeypatch.setattr(cli, "print_lines", lambda *lines: seen.append(("print", lines)))
    return seen


INTERRUPT: Final = ("signal", (cli.signal.SIGINT, cli.signal.default_int_handler))


@pytest.mark.parametrize(
    ("command", "keeps_log", "takes_interrupts"),
    [
        ("console", True, False), ("tour", True, False), ("replay", True, False),
        ("halt", True, True), ("buy", True, True), ("doctor", False, True),
    ],
)  # fmt: skip
def test_a_command_has_its_log_and_its_interrupt_and_says_all_at_the_end(
    monkeypatch: Patch, begun: Calls, command: str, *, keeps_log: bool, takes_interrupts: bool
) -> None:
    def work(*given: object) -> int:
        begun.append(("work", given[0]))
        return 3

    monkeypatch.setitem(cli._COMMANDS, command, work)
    assert cli.run([command]) == 3
    assert begun == [
        *([("log", (OPTIONS, "debug"))] if keeps_log else []),
        *([INTERRUPT] if takes_interrupts else []),
        ("work", OPTIONS),
        ("print", ()),
    ]


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (CannotError("no such thing"), 1, "service-tui: no such thing\n"),
        (AddressError("no address"), 1, "service-tui: no address\n"),
        (OutputError("nobody reads"), 1, "service-tui: nobody reads\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_what_cannot_be_done_is_a_sentence_and_a_code(
    monkeypatch: Patch, begun: Calls, capsys: Out, error: BaseException, *, code: int, said: str
) -> None:
    def work(*_: object) -> int:
        raise error

    monkeypatch.setitem(cli._COMMANDS, "doctor", work)
    assert cli.run(["doctor"]) == code
    assert capsys.readouterr().err == said
    assert begun == [INTERRUPT]
    assert gc.isenabled()


def test_a_log_is_kept_at_its_level_with_the_stacks_beside_it(
    monkeypatch: Patch, calls: Calls
) -> None:
    monkeypatch.setattr(logfile, "keep_log", calls.fake())
    monkeypatch.setattr(logfile, "keep_stacks", calls.fake())
    cli._start_log(OPTIONS, "debug")
    cli._start_log(OPTIONS, None)
    stacks = (HERE / "base" / "service-tui-stacks.txt",)
    assert calls == [(OPTIONS.log_path, "debug"), stacks, (OPTIONS.log_path, "info"), stacks]
    monkeypatch.setattr(logfile, "keep_log", calls.fake(raises=logfile.LogError("no room")))
    with pytest.raises(CannotError, match=r"no room \(or give another --data-dir\)"):
        cli._start_log(OPTIONS, None)
