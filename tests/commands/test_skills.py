"""The commands for skills: what each says, and how a skill is run by hand."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from service_tui.client.errors import Called, UnreachableError
from service_tui.commands import skills as room
from service_tui.commands.skills import FOLDER, SkillsError
from service_tui.config import KEY_VARIABLE, URL_VARIABLE, WALLET_VARIABLE
from service_tui.sdk.client import ServiceClient
from service_tui.skills.errors import NotASkillError
from service_tui.skills.install import SkillRefusedError
from service_tui.skills.package import BUNDLED, DOCUMENT
from service_tui.storage.errors import StorageError


def skill(slug: str, version: str | None = "1.0", about: str = "Buys dips.") -> Any:
    return SimpleNamespace(slug=slug, version=version, description=about)


def with_skills(monkeypatch: pytest.MonkeyPatch, **found: list[Any]) -> None:
    """Let folders hold skills: `own` is a person's, `bundled` the program's."""

    def installed(folders: Any) -> list[Any]:
        names = ["bundled" if folder == BUNDLED else "own" for folder in folders]
        return [each for name in names for each in found.get(name, [])]

    monkeypatch.setattr(room, "installed", installed)


# -- the list -----------------------------------------------------------------------------------


def test_each_skill_is_listed_with_its_version_and_where_it_is_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / FOLDER / "dip"
    own.mkdir(parents=True)
    (own / DOCUMENT).touch()
    with_skills(
        monkeypatch, own=[skill("dip")], bundled=[skill("long-name", None, "Copies.\x1b[31m")]
    )
    said: list[str] = []
    room.list_skills(tmp_path, said.append)
    assert said[0] == "dip        1.0      own      Buys dips."
    assert said[1].startswith("long-name  -        bundled  Copies.")
    assert "\x1b" not in said[1]


def test_where_no_skill_is_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_skills(monkeypatch)
    said: list[str] = []
    room.list_skills(tmp_path, said.append)
    assert said == ["no skill installed"]


# -- installing, checking, making ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "said"), [("2.1", "installed dip 2.1"), (None, "installed dip")]
)
def test_a_skill_is_installed_among_the_own_ones_and_over_no_bundled_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str | None, said: str
) -> None:
    asked: list[object] = []
    with_skills(monkeypatch, bundled=[skill("gauge"), skill("rain")])
    monkeypatch.setattr(room, "forget_halves", lambda own: asked.append(("forget", own)))
    monkeypatch.setattr(
        room, "install", lambda *given: asked.append(given) or skill("dip", version)
    )
    told: list[str] = []
    room.install_skill(tmp_path, Path("/src"), told.append)
    own = tmp_path / FOLDER
    assert asked == [("forget", own), (Path("/src"), own, ["gauge", "rain"])]
    assert told == [said]


def test_a_skill_that_is_refused_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise SkillRefusedError("two scripts\nand more")

    monkeypatch.setattr(room, "install", refuse)
    told: list[str] = []
    with pytest.raises(SkillsError) as refused:
        room.install_skill(tmp_path, Path("/src"), told.append)
    assert str(refused.value).startswith("not installed: two scripts")
    assert "\n" not in str(refused.value)
    assert told == []


@pytest.mark.parametrize("problems", [[], ["no script\x1b[0m", "no version"]])
def test_each_problem_of_a_skill_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problems: list[str]
) -> None:
    checked: list[Path] = []
    monkeypatch.setattr(room, "problems_of", lambda folder: checked.append(folder) or problems)
    told: list[str] = []
    folder = tmp_path / "dip"
    if problems:
        with pytest.raises(SkillsError, match=r"dip: 2 problem\(s\)"):
            room.check_skill(tmp_path, str(folder), told.append)
        assert [text[:9] for text in told] == ["no script", "no versio"]
        assert "\x1b" not in told[0]
    else:
        room.check_skill(tmp_path, str(folder), told.append)
        assert told == ["dip: no problems"]
    assert checked == [folder]


def test_a_template_is_made_with_what_to_do_next(tmp_path: Path) -> None:
    told: list[str] = []
    room.make_skill("my-skill", tmp_path, told.append)
    folder = tmp_path / "my-skill"
    assert (folder / DOCUMENT).is_file()
    assert (folder / "run.py").is_file()
    assert [str(folder) in text for text in told] == [True, True, True]
    assert "-- --once" in told[1]
    # What is there is not written over.
    with pytest.raises(SkillsError):
        room.make_skill("my-skill", tmp_path, told.append)
    assert len(told) == 3


# -- the folder ---------------------------------------------------------------------------------


def test_a_skill_is_meant_by_its_name_or_by_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, bundled = tmp_path / FOLDER, tmp_path / "bundled"
    monkeypatch.setattr(room, "BUNDLED", bundled)
    for folder in (own / "dip", bundled / "dip", bundled / "gauge", tmp_path / "here"):
        folder.mkdir(parents=True)
        (folder / DOCUMENT).touch()
    assert room._folder(tmp_path, "dip") == own / "dip"
    assert room._folder(tmp_path, "gauge") == bundled / "gauge"
    assert room._folder(tmp_path, str(tmp_path / "not-there")) == tmp_path / "not-there"
    monkeypatch.chdir(tmp_path)
    assert room._folder(tmp_path, "here") == tmp_path / "here"
    with pytest.raises(SkillsError, match="no skill 'none'"):
        room._folder(tmp_path, "none")
    with pytest.raises(SkillsError, match="is not the name of a skill"):
        room._folder(tmp_path, "~nobody-of-this-name/dip")


# -- by hand ------------------------------------------------------------------------------------


class ByHand:
    """A skill that is run by hand; nothing is started."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.problems = folder, list[str]()
        self.script: Path | Exception = folder / "run.py"
        self.fault: OSError | None = None
        self.started: list[tuple[list[str], Path, dict[str, str]]] = []
        self.holder: Any = SimpleNamespace(address="http://127.0.0.1:9")
        self.registered: list[object] = []
        self.refusal: Exception | None = None
        monkeypatch.setattr(os, "environ", {"PATH": "/bin", WALLET_VARIABLE: "0xsecret"})
        monkeypatch.setattr(room, "problems_of", lambda _: self.problems)
        monkeypatch.setattr(room, "entry_script", self.entry)
        monkeypatch.setattr(room, "holder_of", self.held)
        monkeypatch.setattr(subprocess, "run", self.run)
        monkeypatch.setattr(ServiceClient, "register", self.register)

    def entry(self, _: Path) -> Path:
        if isinstance(self.script, Exception):
            raise self.script
        return self.script

    def held(self, _: Path) -> Any:
        if isinstance(self.holder, Exception):
            raise self.holder
        return self.holder

    def register(self, name: str, **given: object) -> Any:
        self.registered.append((name, given))
        if self.refusal is not None:
            raise self.refusal
        return SimpleNamespace(api_key="sk_live_own")

    def run(self, command: list[str], *, cwd: Path, env: dict[str, str], check: bool) -> Any:
        assert not check
        if self.fault is not None:
            raise self.fault
        self.started.append((command, cwd, env))
        return SimpleNamespace(returncode=7)

    def begin(self, *words: str) -> int:
        return room.run_skill(self.folder.parent, str(self.folder), words)


@pytest.fixture
def hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ByHand:
    return ByHand(tmp_path / "dip", monkeypatch)


def test_a_skill_runs_with_a_key_of_its_own_and_without_that_of_the_wallet(hand: ByHand) -> None:
    assert hand.begin("--once", "--live") == 7
    ((command, cwd, env),) = hand.started
    assert command == [sys.executable, "-u", str(hand.script), "--once", "--live"]
    assert cwd == hand.folder
    env.pop("PYTEST_CURRENT_TEST")
    assert env == {
        "PATH": "/bin", KEY_VARIABLE: "sk_live_own", URL_VARIABLE: "http://127.0.0.1:9",
    }  # fmt: skip
    assert hand.registered == [
        ("dip", {"description": "run by hand", "base_url": "http://127.0.0.1:9"})
    ]


def test_a_key_and_an_address_of_the_environment_are_taken(hand: ByHand) -> None:
    os.environ.update({KEY_VARIABLE: "sk_live_mine", URL_VARIABLE: "https://far.example"})
    hand.begin()
    assert hand.started[0][2][KEY_VARIABLE] == "sk_live_mine"
    assert hand.registered == []


@pytest.mark.parametrize("only", [KEY_VARIABLE, URL_VARIABLE])
def test_one_of_both_is_not_enough(hand: ByHand, only: str) -> None:
    os.environ[only] = "x"
    hand.begin()
    assert hand.started[0][2][KEY_VARIABLE] == "sk_live_own"
    assert len(hand.registered) == 1


@pytest.mark.parametrize("holder", [None, SimpleNamespace(address=None), StorageError("no lock")])
def test_without_a_service_nothing_is_run(hand: ByHand, holder: Any) -> None:
    hand.holder = holder
    with pytest.raises(SkillsError, match=f"no service: set {URL_VARIABLE} and {KEY_VARIABLE}"):
        hand.begin()
    assert (hand.started, hand.registered) == ([], [])


def test_a_service_that_registers_nobody_runs_nothing(hand: ByHand) -> None:
    hand.refusal = UnreachableError("no connection", Called("POST", "/register"))
    with pytest.raises(SkillsError, match="cannot register an agent: no connection"):
        hand.begin()
    assert hand.started == []


def test_what_is_no_whole_skill_is_not_run(hand: ByHand) -> None:
    hand.problems = ["two\nscripts", "x"]
    with pytest.raises(SkillsError, match="dip: two"):
        hand.begin()
    hand.problems, hand.script = [], NotASkillError("no script")
    with pytest.raises(SkillsError, match="no script"):
        hand.begin()
    hand.script = OSError("gone")
    with pytest.raises(SkillsError, match="gone"):
        hand.begin()
    assert hand.started == []


def test_a_script_that_cannot_be_started_says_why(hand: ByHand) -> None:
    hand.fault = PermissionError(13, "not allowed")
    with pytest.raises(SkillsError, match=r"cannot run .*run\.py: not allowed"):
        hand.begin()
