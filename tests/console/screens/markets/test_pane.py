"""The pane of a market: the entry price in the chart, and masked names."""

from dataclasses import replace

import pytest

from kit.samples.desk import sample_state
from service_tui.console.screens.markets.pane import entry_of, hidden_name
from service_tui.terms import Side

STATE = replace(sample_state(12), preferences={})


def test_the_entry_of_a_position_is_a_price_of_yes() -> None:
    yes, no = (replace(STATE.positions[0], side=side, average=0.3) for side in Side)
    assert entry_of((yes,)) == 0.3
    assert entry_of((no,)) == pytest.approx(0.7)
    for held in ((), (yes, no), (replace(yes, average=None),)):
        assert entry_of(held) is None


def test_the_own_name_is_hidden_only_while_masked() -> None:
    assert STATE.account is not None
    private = replace(STATE, preferences={"privacy": "on"})
    assert hidden_name(STATE) == ""
    assert hidden_name(private) == STATE.account.name
    assert hidden_name(replace(private, account=None)) == ""
