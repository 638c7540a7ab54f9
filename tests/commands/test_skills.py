"""The commands for skills: what each says, and how a skill is run by hand."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from service_tui.app.options import Options
from service_tui.commands.halt import halt
from service_tui.commands.skills import (
    BY_HAND,
    FOLDER,
    SkillsError,
    check_skill,
    install_skill,
    list_skills,
    make_skill,
    run_skill,
)
from service_tui.config import KEY_VARIABLE, URL_VARIABLE, WALLET_VARIABLE
from service_tui.inherited import inherited
from service_tui.skills.guard import UNFENCED, descendants, fence_version
from service_tui.skills.package import DOCUMENT


def made(parent: Path, name: str = "my-skill") -> Path:
    """A skill that works, as the template makes it."""
    make_skill(name, parent, lambda _: None)
    return parent / name


def said(command: object, *given: object) -> list[str]:
    lines: list[str] = []
    command(*given, lines.append)  # type: ignore[operator]
    return lines


def test_a_template_is_made_with_what_to_do_next(tmp_path: Path) -> None:
    told = said(make_skill, "my-skill", tmp_path)
    folder = tmp_path / "my-skill"
    assert (folder / DOCUMENT).is_file()
    assert (folder / "run.py").is_file()
    assert [str(folder) in text for text in told] == [True, True, True]
    assert "-- --once" in told[1]
    # What is there is not written over.
    with pytest.raises(SkillsError):
        said(make_skill, "my-skill", tmp_path)


def test_a_skill_is_checked_installed_and_listed_among_the_bundled_ones(tmp_path: Path) -> None:
    folder = made(tmp_path)
    bundled = said(list_skills, tmp_path / "none")
    assert bundled
    assert all(" bundled  " in line for line in bundled)
    assert said(check_skill, tmp_path, str(folder)) == ["my-skill: no problems"]
    assert said(install_skill, tmp_path, folder)[0].startswith("installed my-skill")
    assert (tmp_path / FOLDER / "my-skill" / DOCUMENT).is_file()
    listed = said(list_skills, tmp_path)
    (own,) = (line for line in listed if line.startswith("my-skill "))
    assert (" own      " in own, len(listed)) == (True, len(bundled) + 1)
    assert said(check_skill, tmp_path, "my-skill") == ["my-skill: no problems"]


def test_what_is_no_skill_is_neither_installed_nor_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundled = said(list_skills, tmp_path)[0].split()[0]
    with pytest.raises(SkillsError, match="not installed: ") as refused:
        said(install_skill, tmp_path, made(tmp_path, bundled))
    assert "\n" not in str(refused.value)
    folder = made(tmp_path)
    (folder / DOCUMENT).write_text("no head\x1b[31m\n")
    lines: list[str] = []
    with pytest.raises(SkillsError, match=r"my-skill: \d problem\(s\)"):
        check_skill(tmp_path, str(folder), lines.append)
    assert lines
    assert not any("\x1b" in text for text in lines)
    with pytest.raises(SkillsError, match="my-skill: "):
        run_skill(tmp_path, str(folder), [])
    with pytest.raises(SkillsError, match="no skill 'none'"):
        said(check_skill, tmp_path, "none")
    with pytest.raises(SkillsError, match="is not the name of a skill"):
        said(check_skill, tmp_path, "~nobody-of-this-name/dip")
    # A folder beside the person is meant before a skill of the same name.
    monkeypatch.chdir(tmp_path)
    assert said(check_skill, tmp_path / "none", bundled) == [f"{bundled}: no problems"]


TELLS = """
import json, os, sys, urllib.request
print(json.dumps({"environment": dict(os.environ), "folder": os.getcwd(), "words": sys.argv[1:]}))
print("to the errors", file=sys.stderr)
sys.exit(7)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A skill that tells its environment, its folder and its words, and ends with 7."""
    monkeypatch.setenv(WALLET_VARIABLE, "0xsecret")
    for name in (KEY_VARIABLE, URL_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    made_ = made(tmp_path)
    (made_ / "run.py").write_text(TELLS)
    return made_


SECRETS = {
    WALLET_VARIABLE: "secret-1",
    KEY_VARIABLE: "sk_live_secret_of_the_person",
    "SERVICE_TUI_DATABASE": "postgresql://desk:secret-2@db/world",
    "CLOUD_TOKEN": "secret-3",
    "SERVICE_MY_SKILL_KEY": "secret-4",
    "LC_TIME": "secret-5",
}


def plain() -> dict[str, str]:
    return inherited(os.environ, ("HOME",))


@pytest.fixture
async def service(tmp_path: Path) -> AsyncGenerator[tuple[Path, str]]:
    """A data directory that is served, and its address."""
    data = tmp_path / "served"
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "service_tui", "serve", "--data-dir", str(data), "--seed", "7"),
        env=plain(),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert program.stdout is not None
        async with asyncio.timeout(120):
            said = (await program.stdout.readline()).decode()
        yield data, said.removeprefix("serving ").strip()
    finally:
        program.kill()
        await program.wait()


@pytest.mark.process
@pytest.mark.parametrize("is_named", [True, False])
async def test_a_skill_runs_as_an_agent_of_its_own_with_a_little_of_the_environment(
    folder: Path,
    service: tuple[Path, str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    *,
    is_named: bool,
) -> None:
    data, address = service
    for name, value in {**SECRETS, "SERVICE_MY_SKILL_EDGE": "0.5", "TRADING_VENUE": "sim"}.items():
        monkeypatch.setenv(name, value)
    if is_named:
        monkeypatch.setenv(URL_VARIABLE, address)
    own = data if not is_named else folder.parent / "data"
    code = await asyncio.to_thread(run_skill, own, str(folder), ["--once", "--live"])
    out, err = capfd.readouterr()
    told = json.loads(out)
    assert (code, told["words"]) == (7, ["--once", "--live"])
    assert err.splitlines()[-1] == "to the errors"
    found = told["environment"]
    assert "secret" not in out
    assert (found["SERVICE_MY_SKILL_EDGE"], found["TRADING_VENUE"]) == ("0.5", "sim")
    # A home and a folder of its own, which is the same at the next run.
    assert told["folder"] == found["HOME"] == str(own / BY_HAND / "my-skill")
    assert found[KEY_VARIABLE].startswith("sk_live_")
    # Before a service that is named even its agent's key stays with us: it calls over a leash.
    assert (found[URL_VARIABLE] == address) is not is_named


@pytest.mark.skipif(not fence_version(), reason=UNFENCED)
@pytest.mark.process
async def test_a_skill_that_is_run_by_hand_reads_no_key_of_the_desk(
    folder: Path, service: tuple[Path, str], capfd: pytest.CaptureFixture[str]
) -> None:
    data, _ = service
    (folder / "run.py").write_text(
        "import pathlib, sys\n"
        "try:\n    print(pathlib.Path(sys.argv[1]).read_text())\n"
        "except PermissionError:\n    print('closed')\n"
    )
    words = [str(data / "keys.json")]
    assert (data / "keys.json").is_file()
    assert await asyncio.to_thread(run_skill, data, str(folder), words) == 0
    assert capfd.readouterr().out == "closed\n"


CALLS = """
import json, os, sys, urllib.request, urllib.error
def call(path, body=None):
    asked = urllib.request.Request(
        os.environ["SERVICE_API_URL"] + path, None if body is None else json.dumps(body).encode(),
        {"Authorization": "Bearer " + os.environ["SERVICE_API_KEY"],
         "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(asked) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
market = call("/api/sdk/markets?limit=1")[1]["markets"][0]["id"]
me = call("/api/sdk/agents/me")[1]
told = [call("/api/sdk/trade", {"market_id": market, "side": "yes", "amount": amount,
             "venue": "sim", "action": "buy"}) for amount in (3.0, 3.0)]
print(json.dumps({"me": me, "trades": [(code, body.get("success"), body.get("error"))
                                        for code, body in told]}))
"""


@pytest.mark.process
async def test_what_a_skill_writes_is_shown_and_not_obeyed(
    folder: Path, service: tuple[Path, str], capfd: pytest.CaptureFixture[str]
) -> None:
    own, _ = service
    (folder / "run.py").write_text(
        "import sys\n"
        "print('one\\x1b]52;c;c2VjcmV0\\x07 two\\x1b[2J', flush=True)\n"
        "print('three\\x9b31m', file=sys.stderr)\n"
    )
    assert await asyncio.to_thread(run_skill, own, str(folder), []) == 0
    shown = capfd.readouterr()
    assert (shown.out, shown.err) == ("one two\n", "three\n")


@pytest.mark.process
async def test_a_skill_at_a_named_service_buys_within_its_budget_and_not_while_halted(
    folder: Path,
    service: tuple[Path, str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    _, address = service
    (folder / "run.py").write_text(CALLS)
    monkeypatch.setenv(KEY_VARIABLE, "sk_live_secret_of_the_person")
    monkeypatch.setenv(URL_VARIABLE, address)
    monkeypatch.setenv("SERVICE_MY_SKILL_DAILY_BUDGET_USD", "5")
    own = folder.parent / "data"
    assert await asyncio.to_thread(run_skill, own, str(folder), []) == 0
    told = json.loads(capfd.readouterr().out)
    first, second = told["trades"]
    assert first[:2] == [200, True], told
    assert second[1] is False
    assert "daily budget of skill my-skill reached" in second[2]
    # A halt of this directory's console holds it, too.
    monkeypatch.delenv(KEY_VARIABLE)
    monkeypatch.delenv(URL_VARIABLE)
    options = Options(own, folder.parent / "config", folder.parent / "log", seed=7, speed=0)
    await asyncio.to_thread(halt, options)
    monkeypatch.setenv(KEY_VARIABLE, "sk_live_secret_of_the_person")
    monkeypatch.setenv(URL_VARIABLE, address)
    assert await asyncio.to_thread(run_skill, own, str(folder), []) == 0
    told = json.loads(capfd.readouterr().out)
    assert [trade[1] for trade in told["trades"]] == [False, False], told


@pytest.mark.process
async def test_a_skill_ends_with_its_command(folder: Path, service: tuple[Path, str]) -> None:
    data, _ = service
    (folder / "run.py").write_text(
        "import os, pathlib, subprocess, sys, time\n"
        "subprocess.Popen(['sleep', '60'], start_new_session=True, env={})\n"
        "pathlib.Path('begun').touch()\n"
        "try:\n    time.sleep(60)\n"
        "finally:\n    pathlib.Path('ended').touch()\n"
    )
    home = data / BY_HAND / "my-skill"
    for number, in_order in ((signal.SIGINT, True), (signal.SIGKILL, False)):
        command = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "service_tui", "skills", "run", str(folder)),
            *("--data-dir", str(data)),
            env=plain(),
        )
        async with asyncio.timeout(60):
            while not (home / "begun").exists():  # noqa: ASYNC110  (another process makes it)
                await asyncio.sleep(0.05)
            below = descendants(command.pid)
            assert len(below) == 3
            command.send_signal(number)
            await command.wait()
            while any(map(is_alive, below)):  # noqa: ASYNC110  (as above)
                await asyncio.sleep(0.05)
        assert (home / "ended").exists() is in_order
        (home / "begun").unlink()
        (home / "ended").unlink(missing_ok=True)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


@pytest.mark.parametrize("word", ["much", "nan", "-1", "inf", "1e30"])
def test_a_budget_that_is_no_amount_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "sk_live_secret_of_the_person")
    monkeypatch.setenv(URL_VARIABLE, "https://far.example")
    monkeypatch.setenv("SERVICE_MY_SKILL_DAILY_BUDGET_USD", word)
    with pytest.raises(SkillsError, match="SERVICE_MY_SKILL_DAILY_BUDGET_USD: "):
        run_skill(folder.parent, str(folder), [])


@pytest.mark.parametrize("only", [KEY_VARIABLE, URL_VARIABLE, ""])
def test_without_a_service_and_its_key_nothing_is_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, only: str
) -> None:
    if only:
        monkeypatch.setenv(only, "x")
    with pytest.raises(SkillsError, match=f"no service: set {URL_VARIABLE} and {KEY_VARIABLE}"):
        run_skill(folder.parent, str(folder), [])
