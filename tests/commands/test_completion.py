"""Completion scripts for shells."""

import sys

import pytest

from service_tui.cli import main as cli

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_script_with_every_command(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["completion", shell]) == 0
    script = capsys.readouterr().out
    for word in ("autoresearch", "completion", "log-level", "warning", "retire"):
        assert word in script


def test_nothing_else_loads_the_library(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    monkeypatch.delitem(sys.modules, "service_tui.commands.completion", raising=False)
    with pytest.raises(SystemExit) as caught:
        cli.run(["--version"])
    assert caught.value.code == 0
    assert cli.run(["config", "show"]) == 0
    assert "log_level" in capsys.readouterr().out
