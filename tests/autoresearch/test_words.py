"""The words of `service-tui autoresearch`: what the old slash commands did."""

import os
from pathlib import Path

import pytest

from kit.terminal.research import SKILL, git, new_repository
from service_tui.cli.main import run

pytestmark = pytest.mark.slow


@pytest.mark.process
def test_the_old_slash_commands_are_words_of_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("SERVICE_")]:
        monkeypatch.delenv(name)
    repository = new_repository(tmp_path / "skill")

    def said(*words: str, code: int = 0) -> str:
        place = ("--repo", str(repository), "--data-dir", str(tmp_path / "data"))
        assert run(("autoresearch", *words, *place)) == code
        told = capsys.readouterr()
        return told.err if code else told.out

    assert "no session in" in said("status")
    assert "no session of any skill" in said("off", code=1)

    begun = said(SKILL, "--name", "first", "--metric", "score")
    assert f"{SKILL}: running, session 'first'" in begun
    assert f"on autoresearch/{SKILL}" in begun
    assert git(repository, "branch", "--list", "autoresearch/*", "--format=%(refname:short)") == (
        f"autoresearch/{SKILL}"
    )
    assert git(repository, "status", "--porcelain") == ""

    assert "0 of 50 experiments" in said("status")
    assert f"autoresearch is off for {SKILL}" in said("off")
    assert f"{SKILL}: off" in said("status")
    assert f"{SKILL}: running, session 'first @" in said("reset")
    assert f"{SKILL}: running" in said("status")

    (repository / "skill.py").write_text("mine\n")
    assert "git stash -u" in said(SKILL, code=1)
    assert (repository / "skill.py").read_text() == "mine\n"


def test_a_skill_stands_behind_off_and_reset_only(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        run(("autoresearch", "status", SKILL))
    assert refused.value.code == 2
    assert "reset [SKILL], off [SKILL]" in capsys.readouterr().err
