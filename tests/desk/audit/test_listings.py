"""A row of a screen and the row of the list that a script reads are the same."""

from kit.samples.desk import NOW, sample_state
from kit.samples.guarded import guarded_state
from service_tui.desk.audit.listings import LISTINGS, row_of


def test_a_row_is_copied_as_its_list_has_it() -> None:
    state = guarded_state()
    for name, records, key in (
        ("markets", tuple(state.markets.values()), "market"),
        ("alerts", state.risk.alerts, "alert"),
    ):
        listed = {row[key]: row for row in LISTINGS[name].rows(state, {}, NOW)}
        copied = [row_of(state, record) for record in records]
        assert copied
        assert all(row is not None and row == listed[row[key]] for row in copied), name
    held = [row_of(state, record) for record in state.positions]
    assert held == list(LISTINGS["positions"].rows(state, {}, NOW))


def test_what_no_list_has_is_no_row() -> None:
    state = sample_state()
    assert row_of(state, state.tickets[0]) is None
    assert row_of(state, "anything") is None
