"""No part of a screen, dialog or file says "none" of a list of which nobody has told."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import pytest

from kit.console.doors import running, seen_before
from kit.samples.desk import NOW, sample_state
from service_tui.console.forms.halt import why_no_exits
from service_tui.console.forms.order_draft import Draft
from service_tui.console.forms.ticket_text import action_labels
from service_tui.console.screens.agents.table import AGENTS
from service_tui.console.screens.markets.detail import holdings
from service_tui.console.screens.monitors.detail import guarded_text
from service_tui.console.screens.portfolio.detail import own_trades
from service_tui.console.view_context import ViewContext
from service_tui.desk.audit.exports import day_in_markdown, files_of
from service_tui.desk.audit.report import day_reports, known_pasts
from service_tui.desk.audit.report_rows import report_rows, report_table
from service_tui.desk.slices.halt import HaltView
from service_tui.desk.slices.risk import RiskView
from service_tui.desk.slices.supervision import SupervisionView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Action, Side, Venue

FULL = seen_before(sample_state())
MARKET = next(iter(FULL.markets.values()))
HELD = FULL.positions[0]
EMPTY = replace(
    FULL,
    positions=(),
    on_venues=(),
    closed=(),
    trades=(),
    risk=RiskView(),
    supervision=SupervisionView(),
    seen=dict.fromkeys(Topic, NOW),
)
"""All was told, and there is nothing."""


def without(*topics: Topic) -> DeskState:
    """The same, but some of it was never told."""
    return replace(
        EMPTY, seen={topic: at for topic, at in EMPTY.seen.items() if topic not in topics}
    )


def ticket(state: DeskState) -> str:
    return " ".join(action_labels(state, Draft(MARKET, Side.YES, Action.SELL, Venue.SIM)))


def day(state: DeskState) -> str:
    return day_in_markdown(state, NOW, known_pasts(state))


def files(state: DeskState) -> str:
    return " ".join(files_of(state, NOW, known_pasts(state)))


def leashes(state: DeskState) -> str:
    (leash,) = (column for column in AGENTS.columns if column.id == "leash")
    agents = () if state.fleet is None else state.fleet.agents
    return " ".join(str(leash.cell(agent, ViewContext.of(state, NOW))) for agent in agents)


class Part(NamedTuple):
    told: Callable[[DeskState], str]
    words: str
    topics: tuple[Topic, ...]


PARTS = {
    "position of a market": Part(
        lambda s: holdings(s, MARKET.market_id, 80).plain, "No position", (Topic.POSITIONS,)
    ),
    "sell on the ticket": Part(ticket, "none", (Topic.POSITIONS,)),
    "what is sold by a halt": Part(
        lambda s: why_no_exits(replace(s, halt=HaltView(NOW, ()))),
        "no open positions",
        (Topic.POSITIONS,),
    ),
    "leash of an agent": Part(leashes, "free", (Topic.FLEET,)),
    "leashes of the day": Part(day, "| free |", (Topic.FLEET,)),
    "own trades": Part(
        lambda s: own_trades(HELD, ViewContext.of(s, NOW)).plain, "none recent", (Topic.TRADES,)
    ),
    "guarded": Part(lambda s: guarded_text(s).plain, "0/0", (Topic.POSITIONS, Topic.MONITORS)),
    "approvals of the day": Part(day, "0 trades need approval", (Topic.FLEET,)),
    "positions of an export": Part(files, "positions.csv", (Topic.POSITIONS,)),
    "approvals of an export": Part(files, "approvals.csv", (Topic.FLEET,)),
    "experiments of an export": Part(files, "experiments.csv", (Topic.RESEARCH,)),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_part_says_none_only_of_what_was_told(name: str) -> None:
    part = PARTS[name]
    assert part.words in part.told(EMPTY)
    for topic in part.topics:
        assert part.words not in part.told(without(topic)), topic


def test_an_alert_is_told_by_the_briefing_or_with_the_monitors() -> None:
    assert "alerts.csv" in files(without(Topic.MONITORS))
    assert "alerts.csv" in files(without(Topic.BRIEFING))
    left_out = without(Topic.BRIEFING, Topic.MONITORS)
    assert "alerts.csv" not in files(left_out)
    assert "Unknown: alerts." in files_of(left_out, NOW, {})["day.md"]


def test_trades_that_were_not_read_are_no_noughts() -> None:
    reports = day_reports(without(Topic.TRADES), NOW, known_pasts(without(Topic.TRADES)))
    assert reports
    for row in report_rows(reports):
        assert [row[name] for name in ("buys", "bought", "sales", "sold", "realized")] == [None] * 5
    *_, sums = report_table(reports).splitlines()
    assert sums.endswith("|  |  |  |  |  |")
    known = report_rows(day_reports(EMPTY, NOW, known_pasts(EMPTY)))
    assert any(row["buys"] == 0 for row in known)


@pytest.mark.slow
async def test_what_a_key_says_of_an_empty_list_is_known_or_said_to_be_unknown() -> None:
    for state, word in ((EMPTY, "no approvals"), (without(Topic.FLEET), "not loaded yet")):
        async with running(state, first="markets") as seen:
            seen.app.action_approvals()
            await seen.until(lambda: bool(seen.toasts))
            assert word in seen.toasts[0]
    for state, word in ((EMPTY, "no position"), (without(Topic.POSITIONS), "not loaded yet")):
        async with running(state, first="markets") as seen:
            seen.app.front.action_perform("markets.exit")
            await seen.until(lambda: bool(seen.toasts))
            assert word in seen.toasts[0]
