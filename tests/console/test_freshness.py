"""How fresh the desk is: an answer that changed nothing but ages is told from news."""

from dataclasses import replace
from typing import Any

import pytest

from kit.samples.desk import NOW, sample_state
from service_tui.console.freshness import is_newer_answer
from service_tui.desk.slices.topics import Topic
from service_tui.units import Timestamp

STATE = replace(sample_state(6), seen={Topic.MARKETS: Timestamp(NOW - 9)})
AGAIN = {Topic.MARKETS: NOW}


@pytest.mark.parametrize(
    ("changed", "is_only_newer"),
    [
        ({}, False),
        ({"stars": frozenset({"m"})}, False),
        ({"seen": AGAIN}, True),
        ({"seen": AGAIN, "stars": frozenset({"m"})}, False),
        ({"seen": {**AGAIN, Topic.TRADES: NOW}}, False),
        ({"seen": {}}, False),
    ],
)
def test_an_answer_is_only_newer_if_all_that_is_known_stayed(
    changed: dict[str, Any], *, is_only_newer: bool
) -> None:
    assert is_newer_answer(STATE, replace(STATE, **changed)) is is_only_newer


@pytest.mark.parametrize(
    ("changed", "is_only_newer"),
    [
        ({"last_ok_at": NOW, "latency_s": 0.9, "skew_s": 0.2}, True),
        ({"last_ok_at": NOW, "problem": "it says no"}, False),
    ],
)
def test_how_long_an_answer_took_is_no_news_and_a_problem_is(
    changed: dict[str, Any], *, is_only_newer: bool
) -> None:
    after = replace(STATE, seen=AGAIN, service=replace(STATE.service, **changed))
    assert is_newer_answer(STATE, after) is is_only_newer
