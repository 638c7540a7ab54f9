"""Lines of the plain console: which part of the program answers each of them."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kit.grammar import grammar
from service_tui.app.options import Options
from service_tui.cli import plain
from service_tui.cli.parser import RESUME_ASKS
from service_tui.commands import plain as console
from service_tui.commands.report import ReportError
from service_tui.console.closed_desk import DeskClosedError
from service_tui.desk.commands.halt import RESUME_WORD

OPTIONS = Options(Path("/d"), Path("/d"), Path("/d/log"))


class Asked:
    """What each part of the program was asked, and a line of each as its answer."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[Any] = []
        self.typed = RESUME_WORD
        self.failing: Exception | None = None
        self.printed: list[str] = []
        state = SimpleNamespace(
            service=SimpleNamespace(address="http://h", attached=False, embedded=True)
        )
        self.desk: Any = SimpleNamespace(state=state)
        self.rows: Any = SimpleNamespace(answer=self.answer_rows)

        async def until(_: object, is_so: Any, seconds: float) -> None:
            self.asked.append(("waited", is_so(state), seconds))

        async def typed_line(_: object) -> str:
            return self.typed

        monkeypatch.setattr(plain, "parser_of", lambda _: grammar())
        monkeypatch.setattr(plain, "until", until)
        monkeypatch.setattr(plain, "list_lines", self.list_lines)
        monkeypatch.setattr(plain, "halt_on", self.report_of("halted"))
        monkeypatch.setattr(plain, "resume_on", self.report_of("resumed"))
        monkeypatch.setattr(plain, "trade_on", self.report_of("traded"))
        monkeypatch.setattr(plain, "typed_line", typed_line)
        monkeypatch.setattr(plain, "print_text", self.printed.append)

    async def answer_rows(self, _: object, words: Sequence[str]) -> Sequence[str]:
        self.asked.append(("rows", *words))
        return ("a row",)

    def list_lines(self, _: Options, arguments: argparse.Namespace) -> Sequence[str]:
        if self.failing is not None:
            raise self.failing
        self.asked.append(("list", arguments.command, arguments.find))
        return ("a list",)

    def report_of(self, word: str) -> Any:
        async def report(desk: object, *more: Any, **_: object) -> SimpleNamespace:
            assert desk is self.desk
            self.asked.append((word, len(more)))
            return SimpleNamespace(lines=(f"{word}.",))

        return report

    async def line(self, text: str) -> Sequence[str]:
        return await plain.answer(OPTIONS, self.rows, self.desk, text.split())


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    return Asked(monkeypatch)


@pytest.mark.parametrize(
    ("text", "lines", "step"),
    [
        ("markets --find rain", ("a list",), ("list", "markets", "rain")),
        ("halt", ("halted.",), ("halted", 0)),
        ("buy rain yes 25", ("traded.",), ("traded", 3)),
        ("positions", ("a row",), ("rows", "positions")),
        ("positions --find rain", ("a list",), ("list", "positions", "rain")),
        ("positions --json", ("a list",), ("list", "positions", "")),
        ("approve 1", ("a row",), ("rows", "approve", "1")),
    ],
)
async def test_each_line_is_answered_by_its_own_part(
    asked: Asked, text: str, lines: tuple[str, ...], step: tuple[object, ...]
) -> None:
    assert await asked.line(text) == lines
    assert asked.asked[-1] == step


async def test_a_list_waits_until_the_desk_is_served(asked: Asked) -> None:
    await asked.line("markets")

    assert asked.asked[0] == ("waited", True, plain.SERVED_S)


@pytest.mark.parametrize(
    ("service", "is_served"),
    [(("", False, True), False), (("", True, True), True), (("", False, False), True)],
)
def test_a_desk_is_served_by_itself_or_by_another(
    service: tuple[str, bool, bool], *, is_served: bool
) -> None:
    names = ("address", "attached", "embedded")
    state: Any = SimpleNamespace(service=SimpleNamespace(**dict(zip(names, service, strict=True))))

    assert plain._is_served(state) is is_served


async def test_help_names_the_commands_and_each_has_its_own(
    asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await asked.line("help") == plain.HELP
    assert await asked.line("help markets") == ()
    assert "--find" in capsys.readouterr().out
    assert asked.asked == []


async def test_what_is_no_command_is_said_without_its_controls(asked: Asked) -> None:
    assert await asked.line("bog\x1bus now") == ("bog?us: not a command here; help lists them",)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("markets --bogus", "--bogus"),
        ("halt --read-only", "halt changes the service"),
        # Real money is sent without a question by its own word alone, and with a worst price.
        ("buy rain yes 25 --venue evm_venue --yes", "--yes is for play money"),
        ("sell rain yes 25 --venue evm_venue --live", "give the worst price, --min-price"),
    ],
)
async def test_a_line_with_a_mistake_has_been_answered(
    asked: Asked, capsys: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    assert await asked.line(line) == ()
    assert said in capsys.readouterr().err
    assert asked.asked == []


@pytest.mark.parametrize("flag", ["--data-dir /x", "--url https://h", "--profile far"])
async def test_what_belongs_to_the_start_is_refused(asked: Asked, flag: str) -> None:
    assert await asked.line(f"markets {flag}") == (plain.OF_THE_START,)
    assert asked.asked == []


@pytest.mark.parametrize(
    "error", [DeskClosedError("the desk is closed", ""), ReportError("no answer")]
)
async def test_a_list_that_fails_is_one_line(asked: Asked, error: Exception) -> None:
    asked.failing = error

    assert await asked.line("markets") == (str(error),)


@pytest.mark.parametrize(
    ("typed", "lines"),
    [
        (f" {RESUME_WORD}\n", ("resumed.",)),
        ("no", (f"not resumed: the word is {RESUME_WORD}",)),
        ("", (f"not resumed: the word is {RESUME_WORD}",)),
    ],
)
async def test_trading_is_resumed_after_the_typed_word(
    asked: Asked, typed: str, lines: tuple[str, ...]
) -> None:
    asked.typed = typed

    assert await asked.line("resume") == lines
    assert asked.printed == [RESUME_ASKS]


async def test_lines_are_answered_until_one_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["status\n", "\n", 'buy "open\n', 'find "two words"\n', " EXIT \n", "status\n"]
    printed: list[str] = []
    answered: list[list[str]] = []

    async def next_line(_: object) -> str | None:
        return lines.pop(0) if lines else None

    async def answer(_: object, words: Sequence[str]) -> Sequence[str]:
        answered.append(list(words))
        return ("done",)

    monkeypatch.setattr(console, "next_line", next_line)
    monkeypatch.setattr(console, "print_lines", lambda *more: printed.extend(more))
    monkeypatch.setattr(console, "print_text", printed.append)
    desk: Any = object()
    stream: Any = object()

    await console.answer_lines(desk, stream, answer)

    assert answered == [["status"], ["find", "two words"]]
    assert printed == [
        "> ", "done", "> ", "> ", "a quotation mark is missing", "> ", "done", "> ",
    ]  # fmt: skip
    await console.answer_lines(desk, stream, answer)
    lines.clear()
    await console.answer_lines(desk, stream, answer)
    assert answered[2:] == [["status"]]
