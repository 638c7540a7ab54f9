"""Sentences name keys by their action: whoever lays an action elsewhere reads the new key."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase
from typing import Final

import pytest

import service_tui.console
from kit.samples.attention import everything
from kit.samples.desk import NOW, sample_state
from kit.samples.reactor import reactor_state
from service_tui.console.forms import halt_text, ticket_text
from service_tui.console.freshness import not_loaded_text
from service_tui.console.keys import KEYS, cap, move_keys, with_keys
from service_tui.console.needs import needs
from service_tui.console.screens.agents import table as agents
from service_tui.console.screens.markets import filter as market_filter
from service_tui.console.screens.markets.filter import MarketFilter
from service_tui.console.screens.monitors import table as monitors
from service_tui.console.screens.monitors.detail import urgent_text
from service_tui.console.screens.reactor import actions as reactor_actions
from service_tui.console.screens.reactor import detail as reactor_detail
from service_tui.console.screens.reactor import table as reactor_table
from service_tui.console.screens.redemption.table import QUEUE
from service_tui.console.screens.research import detail as research_text
from service_tui.console.screens.research import table as research_table
from service_tui.console.screens.settings.detail import about_text
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.numbered_view import ProgramInfo
from service_tui.desk.slices.halt import AckState, AckView, HaltView
from service_tui.desk.slices.service import Phase
from service_tui.desk.state import DeskState

CONSOLE: Final = Path(service_tui.console.__file__).parent
TABLES: Final = {"keys.py", "key_file.py", "amounts.py"}
"""Where keys are laid, read and left unmasked; all else has them from there."""

NAMED: Final = re.compile(
    r"\besc\b"
    r"|\bF[0-9]{1,2}\b"
    r"|\bctrl\+[a-z]\b"
    r"|\bPg[UD][pn]\b"
    r"|(?<=[ ])\([0-9A-HJ-Zb-z](?:\)| on )"  # Settings (8), keep one here (K)
    r"|\b[Pp]ress [A-Z0-9a-z]\b"
    r"|(?:^|[\n(] ?|[:;.,] | and | or | then )[b-hl-zB-HJ-Z](?![A-Z.])"  # r asks, J and K
    r"(?:(?=[ ][a-z]+s?\b)(?! x |\w)| and [b-z]\b|(?=, [b-zB-Z]\b))"
)
"""A key in a sentence, as people write it: `esc closes`, `r asks`, `Settings (8)`."""

FIXED: Final = ("x source", "y copies", "s left")
"""Keys that no table moves, and letters that are no keys."""


def sentences(path: Path) -> list[tuple[int, str]]:
    """Every text of a module that is no docstring, in the pieces in which it is written."""
    tree = ast.parse(path.read_text("utf-8"))
    told = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told
    ]


def is_named(text: str) -> bool:
    """Whether a text names a key: a word of its own is none, but an action or a style."""
    return " " in text and any(
        not text[found.start() :].lstrip("\n:;.,( ").startswith(FIXED)
        for found in NAMED.finditer(text)
    )


@pytest.mark.parametrize("path", sorted(CONSOLE.rglob("*.py")), ids=lambda path: path.name)
def test_no_sentence_names_a_key_by_itself(path: Path) -> None:
    if path.name in TABLES:
        return
    named = [f"{path.name}:{line}: {text!r}" for line, text in sentences(path) if is_named(text)]
    assert named == []


@pytest.mark.parametrize(
    "text",
    [
        "esc leaves", "press b", "press 5 now", "gone: r asks again", "Settings (8) show",
        "  F7 venue", "cancel them (O on 1)",
        "keep one here (K)", "it is off: n follows one", "\n\nr tries now.", "filters: c, w, /",
        "f mirrors it, d dismisses it", "PgDn reads on", "ctrl+q quits", "x sells all, R resumes",
    ],
)  # fmt: skip
def test_a_key_by_itself_is_found(text: str) -> None:
    assert is_named(text)


@pytest.mark.slow
def test_every_id_in_a_sentence_is_one_of_the_table() -> None:
    known = {key.ident for key in KEYS}
    for path in CONSOLE.rglob("*.py"):
        ids = {
            one
            for _, text in sentences(path)
            for one in re.findall(r"\{([a-z_]+\.[a-z0-9_]+)\}", text)
        }
        named = re.findall(r"\bcap\(['\"]([^'\"]+)['\"]\)", path.read_text("utf-8"))
        assert ids | {*named} <= known or path.name in TABLES, path.name


def halted() -> DeskState:
    """A halt that one has failed to acknowledge, with nothing to sell."""
    failed = AckView("service", "the service refuses entries", AckState.FAILED, tries=3)
    return replace(sample_state(), positions=(), halt=HaltView(NOW, (failed,)))


STATES: Final = {
    "plain": sample_state,
    "a failed halt": halted,
    "much to do": everything,
    "signals": reactor_state,
    **{phase.value: lambda phase=phase: service_in(phase) for phase in Phase},
}


def service_in(phase: Phase) -> DeskState:
    state = sample_state()
    return replace(state, service=replace(state.service, phase=phase))


def said_of(state: DeskState) -> list[str]:
    """What the functions that write sentences make of a state."""
    market = next(iter(state.markets.values()))
    return [
        *(table.empty_text(state) for table in monitors.TABLES),
        *(table.empty_text(state) for table in reactor_table.TABLES),
        market_filter.why_empty(state, MarketFilter()),
        urgent_text(ViewContext.of(state, NOW)).plain,
        reactor_detail.urgent_text(ViewContext.of(state, NOW)).plain,
        reactor_detail.state_text(ViewContext.of(state, NOW, 120)).plain,
        reactor_table.barred_text(state),
        reactor_actions.configure_block_reason(state),
        reactor_actions.auto_text(ViewContext.of(state, NOW)).plain,
        reactor_actions.run_text(ViewContext.of(state, NOW)).plain,
        research_table.empty_text(state, None),
        research_text.why_line(state, None).plain,
        agents.empty_text(state),
        *halt_text.halt_text(state, NOW).plain.splitlines(),
        *(chip.words for chip in MarketFilter().chips()),
        ticket_text.hint(state, market),
        QUEUE.empty_text(state),
        not_loaded_text("agents"),
        *(f"{need.otherwise} {need.note}" for need in needs(state, NOW)),
    ]


@pytest.fixture
def moved() -> Iterator[None]:
    """Every action on a key that nothing else has."""
    move_keys({key.ident: (f"f{place}",) for place, key in enumerate(KEYS, 100)})
    yield
    move_keys({})


@pytest.mark.usefixtures("moved")
@pytest.mark.parametrize("name", STATES)
def test_where_every_action_is_moved_no_sentence_names_an_old_key(name: str) -> None:
    new = {cap(key.ident) for key in KEYS}
    for said in said_of(STATES[name]()):
        bare = re.sub(r"\bF[0-9]{3}\b", "", said)
        assert not any(found in bare for found in new)
        assert not re.search(r"\besc\b|\bF[0-9]\b|\bctrl\+", bare), said
        assert not re.search(r"(?:^|[:;.,]\s+)[b-zB-HJ-Z] [a-z]+s\b", bare), said


@pytest.mark.usefixtures("moved")
def test_counts_are_no_keys_and_lists_of_keys_name_those_in_use() -> None:
    state = halted()
    said = halt_text.halt_text(state, NOW).plain
    assert "failed 3x, retrying" in said
    assert f"{cap('halt.resume')} resumes (typed word)" in said
    listed = about_text(state, NOW, ProgramInfo()).plain.splitlines()[-1]
    idents = ("app.theme", "app.pause", "app.slower", "app.privacy", "app.welcome", "app.help")
    assert all(cap(ident) in listed for ident in (*idents, "app.faster"))
    status = MarketFilter().chips()[1].words
    assert status == f"{cap('markets.status')} open"


@pytest.mark.usefixtures("moved")
def test_a_form_and_a_page_name_the_keys_in_use() -> None:
    assert with_keys("{form.cancel} leaves") == f"{cap('form.cancel')} leaves" != "esc leaves"


def test_a_capital_letter_means_one_thing_on_every_screen() -> None:
    meanings: dict[str, set[str]] = {}
    for key in KEYS:
        for name in key.keys:
            if len(name) == 1 and name.isupper():
                meanings.setdefault(name, set()).add(key.label)
    free = sorted(set(ascii_uppercase) - meanings.keys())
    twice = {name: labels for name, labels in meanings.items() if len(labels) > 1}
    assert twice == {}, f"free capitals: {' '.join(free)}"
