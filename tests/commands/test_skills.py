"""The commands for skills: what each says, and how a skill is run by hand."""

from pathlib import Path

import pytest

from service_tui.commands.skills import (
    FOLDER,
    SkillsError,
    check_skill,
    install_skill,
    list_skills,
    make_skill,
    run_skill,
)
from service_tui.config import KEY_VARIABLE, URL_VARIABLE, WALLET_VARIABLE
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


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A skill that tells its environment, its folder and its words, and ends with 7."""
    monkeypatch.setenv(WALLET_VARIABLE, "0xsecret")
    for name in (KEY_VARIABLE, URL_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    made_ = made(tmp_path)
    (made_ / "run.py").write_text(
        "import os, sys\nprint(os.environ, os.getcwd(), sys.argv[1:])\nsys.exit(7)\n"
    )
    return made_


@pytest.mark.process
def test_a_skill_runs_with_its_key_and_words_and_without_the_key_of_the_wallet(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "sk_live_mine")
    monkeypatch.setenv(URL_VARIABLE, "https://far.example")
    assert run_skill(folder.parent, str(folder), ["--once", "--live"]) == 7
    told = capfd.readouterr().out
    assert "sk_live_mine" in told
    assert "0xsecret" not in told
    assert told.endswith(f"{folder} ['--once', '--live']\n")


@pytest.mark.parametrize("only", [KEY_VARIABLE, URL_VARIABLE, ""])
def test_without_a_service_and_its_key_nothing_is_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, only: str
) -> None:
    if only:
        monkeypatch.setenv(only, "x")
    with pytest.raises(SkillsError, match=f"no service: set {URL_VARIABLE} and {KEY_VARIABLE}"):
        run_skill(folder.parent, str(folder), [])
