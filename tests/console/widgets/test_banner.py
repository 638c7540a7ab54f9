"""The line for lasting conditions: what it says of each, and when it is there at all."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kit.samples.desk import NOW, sample_state
from service_tui.console.widgets import banner
from service_tui.console.widgets.banner import Banner, LastingCondition
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.topics import Topic
from service_tui.units import Timestamp

STATE = sample_state(8)
PAUSED = LastingCondition("warn", "paused", "trading paused")


def test_the_line_goes_with_its_last_condition(monkeypatch: pytest.MonkeyPatch) -> None:
    line, drawn = Banner(), list[str]()
    monkeypatch.setattr(line, "refresh", lambda: drawn.append("drawn"))
    found = []
    for conditions in ((PAUSED,), (PAUSED,), ()):
        line.show(conditions)
        found.append((line.has_class("-on"), len(drawn)))
    assert found == [(True, 1), (True, 1), (False, 2)]


def test_a_topic_that_failed_but_was_seen_before_is_loaded() -> None:
    seen = dict.fromkeys(STATE.seen, NOW)
    failing = replace(STATE.service, failures={Topic.MARKETS: "no answer"})
    state = replace(STATE, service=failing, seen=seen)
    assert list(banner._old(state, NOW)) == []
    del seen[Topic.MARKETS]
    (found,) = banner._old(replace(state, seen=seen), NOW)
    assert (found.word, found.sentence) == ("not loaded", "markets not loaded: no answer")


@pytest.mark.parametrize(("left_s", "again"), [(None, ""), (0.0, " for 0s"), (90.0, " for 1m 30s")])
def test_a_breaker_says_how_long_it_still_blocks(left_s: float | None, again: str) -> None:
    breaker = SimpleNamespace(is_paused=lambda _: True, left_s=lambda _: left_s)
    reactor = SimpleNamespace(is_enabled=True, breaker=breaker)
    state: Any = SimpleNamespace(reactor=reactor, from_cache=False)
    (found,) = banner._breaker(state, NOW)
    assert found.sentence.startswith(f"reactor paused after failures{again}: signals skipped")


@pytest.mark.parametrize(
    ("is_enabled", "is_paused", "from_cache"),
    [(False, True, False), (True, False, False), (True, True, True)],
)
def test_a_breaker_that_blocks_nothing_now_is_not_told(
    *, is_enabled: bool, is_paused: bool, from_cache: bool
) -> None:
    breaker = SimpleNamespace(is_paused=lambda _: is_paused, left_s=lambda _: 9.0)
    reactor = SimpleNamespace(is_enabled=is_enabled, breaker=breaker)
    state: Any = SimpleNamespace(reactor=reactor, from_cache=from_cache)
    assert list(banner._breaker(state, NOW)) == []


@pytest.mark.parametrize(
    ("last_ok_at", "lost"),
    [(None, "since the start"), (Timestamp(NOW - 60), "for 1m 00s")],
)
def test_a_lost_service_is_lost_since_its_last_answer(
    last_ok_at: Timestamp | None, lost: str
) -> None:
    service = replace(STATE.service, phase=Phase.OFFLINE, last_ok_at=last_ok_at, problem="")
    (found,) = banner._connection(replace(STATE, service=service), NOW, NOW)
    assert found.sentence.startswith(f"{lost}: no answer. Retrying")


def test_what_is_known_is_as_old_as_its_newest_part() -> None:
    seen = {Topic.MARKETS: Timestamp(NOW - 600), Topic.ACCOUNT: Timestamp(NOW - 60)}
    assert banner._known(replace(STATE, seen=seen), NOW).startswith("data from 1m ago")
    # Without a part of its own time it is as old as the last answer, if there was any.
    for last_ok_at, known in (
        (Timestamp(NOW - 120), "data from 2m ago"), (None, "data from the last session")
    ):  # fmt: skip
        service = replace(STATE.service, last_ok_at=last_ok_at)
        state = replace(STATE, seen={}, service=service)
        assert banner._known(state, NOW).startswith(known)
    nothing = replace(STATE, seen={}, markets={}, service=replace(STATE.service, last_ok_at=None))
    assert banner._known(nothing, NOW) == "no data yet"


@pytest.mark.parametrize(
    ("missing", "acks", "says"),
    [
        (0, (), "acknowledgements missing"),
        (2, ("a",), "2 acknowledgements missing"),
        (0, ("a",), "all sources halted"),
    ],
)
def test_a_halt_without_any_acknowledgement_is_not_complete(
    missing: int, acks: tuple[str, ...], says: str
) -> None:
    halt = SimpleNamespace(is_resuming=False, exits=None, missing=missing, acks=acks)
    state: Any = SimpleNamespace(halt=halt)
    (found,) = banner._halt(state)
    assert says in found.sentence
