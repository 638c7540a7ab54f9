"""The console as lines of text: the same desk, commands and figures, no screen."""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import pytest

from kit.command_line import ran
from kit.samples.desk import sample_state
from service_tui.cli import main as cli
from service_tui.commands.plain import newest, notice_line
from service_tui.console.freshness import is_private
from service_tui.desk.slices.notices import Notice, NoticeKind

LINES = """\
help
help markets
status
bogus\x1b[2J
positions --data-dir /elsewhere
buy "no such market" yes 5
buy
markets --limit 1 --find \"\"
markets --bogus
halt --read-only
buy rain yes 25 --venue evm_venue --yes
sell rain yes 25 --venue evm_venue --live
positions
positions --json

sell "open quote
halt
resume
no
resume
RESUME
 EXIT
status
"""


@pytest.mark.slow
def test_each_line_is_answered_and_none_ends_the_desk(
    tmp_path: Path,
) -> None:
    # Demo agents would ask for approvals between any two answers.
    world = ["--seed", "7", "--speed", "0", "--no-demo"]
    printed = ran(["--plain", *world, "--data-dir", str(tmp_path / "d")], typed=LINES)
    assert printed.code == cli.OK
    answers = printed.out.split("> ")
    hello, helped, option, status, bogus, elsewhere, buy, nothing, markets, *answers = answers
    wrong, answers = answers[:4], answers[4:]
    positions, as_json, empty, quote, halted, *rest = answers
    assert "--find" in option
    assert wrong == [""] * 4
    # Real money is sent without a question by its own word alone, and with a worst price.
    for problem in (
        "--bogus",
        "halt changes the service",
        "--yes is for play money",
        "give the worst price, --min-price",
    ):
        assert problem in printed.err
    assert (positions, json.loads(as_json), empty) == ("no positions\n", [], "")
    assert "lines of text. help lists the commands" in hello
    assert helped.startswith("status, markets")
    assert "cash          10,000.00" in status
    assert bogus == "bogus?[2J: not a command here; help lists them\n"
    assert "for the start of the program" in elsewhere
    assert buy.startswith("no market matches")
    assert (nothing, "MARKET, yes|no, AMOUNT" in printed.err) == ("", True)
    assert len(markets.splitlines()) == 2
    assert quote == "a quotation mark is missing\n"
    assert "service refuses the buys of every agent" in halted
    assert "not resumed: the word is RESUME" in rest[0]
    assert "resumed: buys allowed" in rest[1]
    assert rest[2:] == ["desk closed; open orders, monitors and agents stay as they are\n"]


@pytest.mark.parametrize(
    ("command", "is_page", "expected"),
    [("console", False, True), ("console", True, False), ("tour", False, False)],
)
def test_a_page_and_the_tour_have_screens_though_plain_is_set(
    command: str,
    is_page: bool,  # noqa: FBT001 - a parameter of the table
    expected: bool,  # noqa: FBT001 - a parameter of the table
) -> None:
    arguments = argparse.Namespace(plain=True, command=command)
    assert cli.is_plain(arguments, is_page=is_page) is expected


@pytest.mark.slow
def test_the_end_of_the_input_leaves(
    tmp_path: Path,
) -> None:
    done = ran(["--plain", "--data-dir", str(tmp_path / "d")])
    assert done.code == cli.OK
    assert done.out.endswith("agents stay as they are\n")


def test_a_notice_is_a_line_with_its_kind_and_no_amount_while_those_are_masked() -> None:
    state = sample_state()
    notice = Notice(99, "good", "bought 12 shares for 34.56", NoticeKind.FILL)
    assert newest(replace(state, notices=(notice,))) == 99
    assert newest(replace(state, notices=())) == 0
    assert notice_line(notice, state) == "fill: bought 12 shares for 34.56"
    hidden = replace(state, preferences={**state.preferences, "privacy": "on"})
    assert is_private(hidden)
    assert "34.56" not in notice_line(notice, hidden)
