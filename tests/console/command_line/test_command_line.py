"""The `:` line: its table of commands, what each reads and refuses, completion and history."""

import argparse
from dataclasses import replace

import pytest

from kit.console.doors import Running, running, seen_before
from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import fleet_state
from service_tui.cli.parser import parser_of
from service_tui.config import read_environment
from service_tui.console.command_line.line import CommandLine
from service_tui.console.command_line.trading import OrderWords, buy, read_words
from service_tui.console.command_line.verb import CommandContext
from service_tui.console.command_line.verbs import REFUSED, SCREEN_NAMES, VERBS, prepare, verb_of
from service_tui.console.forms.trade_form import TradeForm
from service_tui.console.forms.typed_word import TypedWord
from service_tui.console.screens.markets.screen import MarketsScreen
from service_tui.console.shell.views import SCREENS
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.desk.commands.agents import ExportData
from service_tui.desk.commands.halt import Halt, Resume
from service_tui.desk.commands.settings import SetPreference, SetSpeed, SetStar
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.slices.halt import HaltView
from service_tui.desk.state import DeskState
from service_tui.terms import Action, Side
from service_tui.units import Micros

STATE = seen_before(sample_state())
HELD = next(
    position
    for position in STATE.positions
    if position.market_id in STATE.markets and STATE.markets[position.market_id].is_open
)
MARKET = STATE.markets[HELD.market_id]


async def command(seen: Running, text: str) -> None:
    """Type a command: its last letters by keys, the rest at once."""
    await seen.press("colon")
    seen.app.screen.query_one("#command-typed", PlainInput).value = text
    await seen.press("enter")


def problem(seen: Running) -> str:
    assert isinstance(seen.app.screen, CommandLine)
    return str(seen.app.screen.query_one("#command-hint").render())  # type: ignore[attr-defined]


def typed(seen: Running) -> str:
    return seen.app.screen.query_one("#command-typed", PlainInput).value


def context_of(seen: Running) -> CommandContext:
    front = seen.app.front
    return CommandContext(front, seen.app.disabled_reason, front.current_row())  # type: ignore[arg-type]


# -- the table ----------------------------------------------------------------------------------


def test_every_verb_of_the_program_is_a_command_or_refused_with_a_reason() -> None:
    parser = parser_of(read_environment({}))
    (commands,) = (each for each in parser._actions if isinstance(each, argparse._SubParsersAction))
    for name in commands.choices:
        assert (verb_of(name) is not None) is not (name in REFUSED), name


def test_every_screen_has_a_name_and_no_name_is_used_twice() -> None:
    names = [name for verb in VERBS for name in (verb.name, *verb.aliases)]
    assert sorted(set(names)) == sorted(names)
    assert {*SCREEN_NAMES.values(), "log"} == {*SCREENS}
    assert all(verb.help for verb in VERBS)


# -- words --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rain oslo yes 25", OrderWords("rain oslo", Side.YES, "25")),
        ("rain NO", OrderWords("rain", Side.NO)),
        ("rain 12.50", OrderWords("rain", None, "12.50")),
        ("no all", OrderWords("", Side.NO, "all")),
        ("50%", OrderWords("", None, "50%")),
        ("", OrderWords("")),
        ("-5", OrderWords("-5")),
        (MARKET.question, OrderWords(MARKET.question)),
        (f"{MARKET.question} yes 3", OrderWords(MARKET.question, Side.YES, "3")),
        (MARKET.market_id, OrderWords(MARKET.market_id)),
    ],
)
def test_an_order_is_read_from_its_end(text: str, words: OrderWords) -> None:
    assert read_words(STATE, text) == words


def test_a_question_that_ends_like_an_amount_is_a_market() -> None:
    odd = replace(MARKET, question="Will it reach 100")
    state = replace(STATE, markets={**STATE.markets, odd.market_id: odd})
    assert read_words(state, "will it reach 100") == OrderWords("will it reach 100")
    assert read_words(state, "will it reach 100 20") == OrderWords("will it reach 100", None, "20")


# -- commands -----------------------------------------------------------------------------------


@pytest.mark.slow
async def test_buy_opens_the_ticket_filled_in_and_places_nothing() -> None:
    async with running(STATE, first="portfolio", size=(100, 30)) as seen:
        await command(seen, f"buy {MARKET.question} no 12.50")
        form = seen.app.screen
        assert isinstance(form, TradeForm)
        assert form.query_one("#ticket-amount", PlainInput).value == "12.50"
        draft = form._draft()
        assert (draft.market, draft.side, draft.action) == (MARKET, Side.NO, Action.BUY)
        assert [one for one in seen.doors.submitted if isinstance(one, PlaceTrade)] == []


@pytest.mark.parametrize("word", ["all", "max"])
@pytest.mark.parametrize(
    ("cash", "amount"), [(12_345_678, "12.34"), (12_999_999, "12.99"), (5_000_000, "5.00")]
)
def test_the_most_of_a_buy_is_the_cash_in_whole_cents(word: str, cash: int, amount: str) -> None:
    assert STATE.account is not None
    account = replace(STATE.account, cash=Micros(cash))
    state = replace(STATE, account=account, tickets=())
    context = CommandContext(MarketsScreen(state, NOW), lambda _: "", None)
    opens = buy(context, f"{MARKET.market_id} yes {word}")
    assert opens.args[0].typed_before == amount  # type: ignore[attr-defined]  # a partial


@pytest.mark.slow
async def test_a_command_is_never_for_the_row_that_followed_the_highlighted_one() -> None:
    async with running(STATE, first="markets", size=(100, 30)) as seen:
        row = str(seen.app.front.current_row())
        await seen.press("colon")
        others = {name: one for name, one in STATE.markets.items() if name != row}
        await seen.bring(replace(STATE, markets=others))
        await seen.until(lambda: seen.app.front.selected() is not None)
        assert seen.app.front.current_row() != row
        await seen.press(*"star", "enter")
        assert "highlighted row" in problem(seen)
        assert [one for one in seen.doors.submitted if isinstance(one, SetStar)] == []


WRONG = {
    "bui rain": "! No command 'bui': did you mean buy?",
    "xyzzy": "! No command 'xyzzy': tab lists commands, ctrl+p finds markets and actions",
    "buy zzzz": "! No market matches 'zzzz'",
    "market e": "markets match 'e': add words, or press tab to choose",
    "go portfoli": "! No screen 'portfoli': did you mean portfolio?",
    "theme nihgt": "! No theme 'nihgt': did you mean night?",
    "speed 7": "! No speed '7': one of 0, 1, 10, 60",
    "pause now": "! Pause takes no arguments: remove 'now'",
    "sort prise": "! No column 'prise': did you mean price?",
    "sort": "! Sort needs a column: one of",
    "filter pricy:>2": "! No column pricy. Did you mean price?",
    "resume": "! The desk is not halted: F9 halts",
    "export /tmp": "! Export writes to the data directory: for another folder, 'service-tui export "
    "DIR'",
    "doctor": "! Doctor prints to a shell, also beside this console: 'service-tui doctor'",
    "login": "! Login asks for a key in a shell: quit, then 'service-tui login'",
    "skills list": "! Skills list prints to a shell: 'service-tui skills list'",
    "agent nobody": "! No agent 'nobody': ",
    "back": "! History back: no previous view",
}


@pytest.mark.slow
async def test_a_wrong_command_says_what_is_wrong_and_is_kept() -> None:
    state = replace(STATE, fleet=fleet_state().fleet)
    said: dict[str, tuple[str, str]] = {}
    async with running(state, first="markets", size=(140, 40)) as seen:
        for text in WRONG:
            await command(seen, text)
            said[text] = problem(seen), typed(seen)
            assert [one for one in seen.doors.submitted if isinstance(one, SetPreference)] == []
            await seen.press("escape")
            assert len(seen.app.screen_stack) == 1, text
    assert {text: one for text, one in said.items() if WRONG[text] not in one[0]} == {}
    assert {text: kept for text, (_, kept) in said.items() if kept != text} == {}


@pytest.mark.slow
async def test_one_escape_leaves_a_ticket_with_nothing_typed_into_it() -> None:
    async with running(STATE, first="markets", size=(120, 40)) as seen:
        await command(seen, "buy yes 25")
        assert isinstance(seen.app.screen, TradeForm)
        await seen.press("escape")
        assert len(seen.app.screen_stack) == 1
        await command(seen, "buy yes 25")
        await seen.press("0", "escape")
        assert isinstance(seen.app.screen, TradeForm)
        assert "discards this ticket" in seen.text


@pytest.mark.slow
async def test_screens_filter_sort_theme_speed_and_export() -> None:
    async with running(STATE, first="attention", size=(120, 40)) as seen:
        await command(seen, "markets")
        assert seen.app.front.name_in_keys == "markets"
        await command(seen, f"filter {MARKET.question.split()[-1]} price:>0")
        assert "price:>0" in seen.app.front.line.typed
        assert 0 < len(seen.app.front.table.order) < len(STATE.markets)
        await command(seen, "filter")
        assert seen.app.front.line.typed == ""
        await command(seen, "sort price asc")
        order = seen.app.front.table.state()
        assert (order.sort, order.falling) == ("price", False)
        await command(seen, "sort price")
        assert seen.app.front.table.state().falling
        await command(seen, "go orders")
        assert seen.app.front.name_in_keys == "blotter"
        await command(seen, f"market {MARKET.question}")
        assert seen.app.front.name_in_keys == "markets"
        assert seen.app.front.current_row() == MARKET.market_id
        for text in ("theme dune", "speed 10x", "export"):
            await command(seen, text)
        given = seen.doors.submitted
        assert SetPreference("theme", "dune") in given
        assert SetSpeed(10) in given
        assert ExportData() in given


def halted(state: DeskState) -> DeskState:
    return replace(state, halt=HaltView(state.service.answered_at or 1.0))  # type: ignore[arg-type]


@pytest.mark.slow
async def test_halt_halts_at_once_and_resume_wants_the_typed_word() -> None:
    async with running(STATE, size=(100, 30)) as seen:
        await command(seen, "halt")
        assert [one for one in seen.doors.submitted if isinstance(one, Halt)] == [Halt()]
        await seen.press("escape")
        await command(seen, "resume")
        assert isinstance(seen.app.screen, TypedWord)
        await seen.until(lambda: seen.app.screen.is_armed)  # type: ignore[attr-defined]
        await seen.press(*"RESUME", "enter")
        assert [one.word for one in seen.doors.submitted if isinstance(one, Resume)] == ["RESUME"]


# -- completion and history ---------------------------------------------------------------------


@pytest.mark.slow
async def test_tab_completes_the_command_then_its_arguments() -> None:
    async with running(STATE, first="markets", size=(120, 40)) as seen:
        await seen.press("colon", *"the", "tab")
        assert typed(seen) == "theme "
        await seen.press(*"ni", "tab")
        assert typed(seen).startswith("theme ni")
        await seen.press("escape", "colon", *"s", "tab", "tab", "tab", "shift+tab")
        assert typed(seen) == [v.name for v in VERBS if v.name.startswith("s")][1]
        await seen.press("escape", "colon", *"zz", "tab")
        assert problem(seen) == "! Nothing to complete"
        assert typed(seen) == "zz"


@pytest.mark.slow
async def test_a_key_in_the_line_is_cleared_and_never_kept() -> None:
    async with running(STATE, size=(100, 30)) as seen:
        await seen.press("colon")
        seen.app.screen.query_one("#command-typed", PlainInput).value = "filter " + "ab" * 32
        await seen.press("enter")
        assert "ab" * 32 not in seen.text
        assert [one for one in seen.doors.submitted if isinstance(one, SetPreference)] == []


@pytest.mark.slow
async def test_every_command_without_arguments_reads() -> None:
    async with running(STATE, first="markets", size=(100, 30)) as seen:
        context = context_of(seen)
        read = [verb.name for verb in VERBS if verb.arguments.startswith("[") or not verb.arguments]
        for name in set(read) - {"resume", "back", "forward", "agent", "sell", "team", "beside"}:
            assert callable(prepare(name, context)), name
