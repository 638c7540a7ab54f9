"""Figures of reactor, redemption and research are the same in head, list, detail and export."""

from dataclasses import replace

from kit.samples.desk import NOW, sample_state
from kit.samples.reactor import reactor_state
from kit.samples.research import research_sample
from kit.samples.wallet import redemption_of
from service_tui.console import formats
from service_tui.console.screens.reactor.detail import explain_row, state_text
from service_tui.console.screens.reactor.table import FEED
from service_tui.console.screens.redemption.detail import describe, paid, sums_bits
from service_tui.console.screens.redemption.table import QUEUE
from service_tui.console.screens.research.detail import session_head
from service_tui.console.screens.research.table import EXPERIMENTS
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import Column
from service_tui.desk.audit.exports import TABLES

WIDE = 200
VIEW = ViewContext.of(sample_state(), NOW)


def cells(columns: tuple[Column[object], ...], row: object) -> list[str]:
    return [str(column.cell(row, VIEW)).strip() for column in columns]


def test_the_day_and_each_mirror_of_the_reactor_are_one_figure() -> None:
    state = reactor_state()
    view = ViewContext.of(state, NOW, WIDE)
    head = state_text(view).plain
    assert formats.money(state.reactor.day_spent).plain in head
    spent = state.reactor.config.daily_cap - state.reactor.day_left
    assert spent == state.reactor.day_spent
    for row in state.reactor.signals[:4]:
        explained = {one.name: str(one.value) for one in explain_row(row, view)}
        assert explained["mirror, $"] in cells(FEED.columns, row)


def test_what_is_ready_to_redeem_is_the_sum_of_its_rows() -> None:
    state = replace(sample_state(), redemption=redemption_of())
    view = ViewContext.of(state, NOW)
    head = "  ".join(bit.text.plain for bit in sums_bits(view))
    ready = state.redemption.ready
    assert ready
    assert f"{len(ready)} ready" in head
    for row in state.redemption.rows:
        told = "".join(part.plain for part in describe(row, view))
        assert paid(row.amount, row.money, view).plain in told
        listed = cells(QUEUE.columns, row)
        assert any(formats.money(row.amount).plain in cell for cell in listed)


def test_the_best_of_a_session_is_one_figure_in_head_list_and_export() -> None:
    state = replace(sample_state(), research=research_sample())
    columns = EXPERIMENTS.columns
    exported = {(one["session"], one["number"]): one for one in TABLES["experiments"](state)}
    for row in state.research.experiments:
        kept = exported[row.session, row.number]
        assert (kept["metric"], kept["change"]) == (row.metric, row.change)
        assert formats.percent_change(row.change).plain in cells(columns, row)
    (session, *_) = state.research.sessions
    best = next(
        one
        for one in state.research.experiments
        if (one.session, one.number) == (session.name, session.best_number)
    )
    assert best.metric == session.best
    assert cells(columns, best)[2] in session_head(session, NOW).plain
