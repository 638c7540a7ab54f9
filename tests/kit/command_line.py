"""A command line in this process: the words in, what was printed and the code out."""

import io
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import TextIO
from unittest.mock import patch

import pytest

from service_tui.app.options import Options
from service_tui.cli import main as cli
from service_tui.cli.main import Command


@dataclass(frozen=True)
class Ran:
    """What a command line came to."""

    code: object
    out: str
    err: str


def typed(monkeypatch: pytest.MonkeyPatch, text: str | TextIO) -> None:
    """Let a text come through a pipe from now on, until the end of the test."""
    monkeypatch.setattr("sys.stdin", io.StringIO(text) if isinstance(text, str) else text)


def without_log(_: Options, level: str | None) -> None:
    """No log on disk: its file would stay open in the process of all tests."""


def ran(
    words: Sequence[str],
    *,
    typed: str | None = "",
    environ: Mapping[str, str] | None = None,
    commands: Mapping[str, Command] | None = None,
    starts_log: Callable[[Options, str | None], None] = without_log,
) -> Ran:
    """Run a command line with a pipe for its input.

    Args:
        words: after the program's name.
        typed: what comes through the pipe; None closes it.
        environ: the whole environment; that of the tests unless given.
        commands: functions that stand in for those of the program.
        starts_log: begins the log on disk.
    """
    code: object
    out, err = io.StringIO(), io.StringIO()
    with ExitStack() as around:
        around.enter_context(patch("sys.stdin", None if typed is None else io.StringIO(typed)))
        around.enter_context(redirect_stdout(out))
        around.enter_context(redirect_stderr(err))
        if environ is not None:
            around.enter_context(patch.dict(os.environ, environ, clear=True))
        try:
            code = cli.run(words, commands, starts_log=starts_log)
        except SystemExit as ended:
            code = ended.code
    return Ran(code, out.getvalue(), err.getvalue())
