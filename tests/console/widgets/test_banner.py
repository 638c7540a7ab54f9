"""The line for lasting conditions: what it says of each, and when it is there at all."""

from dataclasses import replace

import pytest

from kit.samples.desk import NOW, sample_state
from kit.samples.filled import filled
from kit.samples.reactor import reactor_state
from service_tui.console.widgets.banner import Banner, LastingCondition, lasting_conditions
from service_tui.desk.slices.halt import AckState, AckView, HaltView
from service_tui.desk.slices.reactor import BreakerView
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

STATE = sample_state(8)
PAUSED = LastingCondition("warn", "paused", "trading paused")


def said(state: DeskState, word: str, started_at: Timestamp = NOW) -> list[str]:
    """The sentences of the conditions with this word."""
    found = lasting_conditions(state, NOW, started_at=started_at, closed="")
    return [one.sentence for one in found if one.word == word]


def test_the_line_goes_with_its_last_condition() -> None:
    line = Banner()
    for conditions, text in (((PAUSED,), "PAUSED trading paused"), ((), "")):
        line.show(conditions)
        assert line.has_class("-on") is bool(conditions)
        assert line.drawn(40, 1).plain == text


def test_a_topic_that_failed_but_was_seen_before_is_loaded() -> None:
    seen = dict.fromkeys(STATE.seen, NOW)
    failing = replace(STATE.service, failures={Topic.MARKETS: "no answer"})
    state = replace(STATE, service=failing, seen=seen)
    assert said(state, "not loaded") == []
    del seen[Topic.MARKETS]
    assert said(replace(state, seen=seen), "not loaded") == ["markets not loaded: no answer"]


REACTOR = reactor_state()


@pytest.mark.parametrize(("left_s", "again"), [(None, ""), (90.0, " for 1m 30s")])
def test_a_breaker_says_how_long_it_still_blocks(left_s: float | None, again: str) -> None:
    resets_at = None if left_s is None else Timestamp(NOW + left_s)
    breaker = BreakerView(3, paused_at=Timestamp(NOW - 60), resets_at=resets_at)
    paused = replace(REACTOR, reactor=replace(REACTOR.reactor, breaker=breaker))
    assert paused.reactor.is_enabled
    (sentence,) = said(paused, "breaker")
    assert sentence.startswith(f"reactor paused after failures{again}: signals skipped")
    assert said(REACTOR, "breaker") == []
    assert said(replace(paused, from_cache=True), "breaker") == []
    assert said(replace(paused, reactor=replace(paused.reactor, config=None)), "breaker") == []


@pytest.mark.parametrize(
    ("last_ok_at", "lost"), [(None, "since the start"), (Timestamp(NOW - 60), "for 1m 00s")]
)
def test_a_lost_service_is_lost_since_its_last_answer(
    last_ok_at: Timestamp | None, lost: str
) -> None:
    service = replace(STATE.service, phase=Phase.OFFLINE, last_ok_at=last_ok_at, problem="")
    (sentence,) = said(replace(STATE, service=service), "offline")
    assert sentence.startswith(f"{lost}: no answer. Retrying")


def test_what_is_known_is_as_old_as_its_newest_part() -> None:
    cached = replace(STATE, from_cache=True)
    seen = {Topic.MARKETS: Timestamp(NOW - 600), Topic.ACCOUNT: Timestamp(NOW - 60)}
    none = replace(STATE.service, last_ok_at=None)
    for state, known in (
        (replace(cached, seen=seen), "data from 1m ago"),
        # Without a part of its own time it is as old as the last answer, if there was any.
        (
            replace(cached, seen={}, service=replace(none, last_ok_at=Timestamp(NOW - 120))),
            "data from 2m ago",
        ),
        (replace(cached, seen={}, service=none), "data from the last session"),
        (replace(cached, seen={}, markets={}, service=none), "no data yet"),
    ):
        assert said(state, "cached") == [f"showing {known}; connecting"]


def test_a_halt_without_any_acknowledgement_is_not_complete() -> None:
    waiting, done = (
        replace(filled(AckView, 1), state=state) for state in (AckState.WAITING, AckState.DONE)
    )
    for acks, says in (
        ((), "acknowledgements missing"),
        ((waiting, waiting, done), "2 acknowledgements missing"),
        ((done,), "all sources halted"),
    ):
        (sentence,) = said(replace(STATE, halt=HaltView(NOW, acks)), "halted")
        assert says in sentence
