"""When a request is retried, and how long the client waits before."""

import math
import random
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.service.scripted import HastyClock
from service_tui.client.client import PACE_S, Gates
from service_tui.client.errors import (
    Called,
    InvalidError,
    MalformedError,
    OutcomeUnknownError,
    RateLimitedError,
    ReadOnlyError,
    RefusalReason,
    RefusedError,
    ServiceError,
    ServiceFaultError,
    UnauthenticatedError,
    UnreachableError,
    unanswered,
    unreadable,
)
from service_tui.client.retry import (
    BACK_OFF_MAX_S,
    TRIES,
    clamp_wait,
    http_date,
    may_retry,
    next_delay,
    retry_after,
    retry_delay,
)
from service_tui.units import Timestamp

READ = Called("GET", "/api/sdk/markets")
WRITES = [Called(method, "/api/sdk/trade") for method in ("POST", "PATCH", "DELETE", "PUT")]
WHY = RefusalReason("no")
NOW = Timestamp(1_800_000_000.0)
seeds = st.integers().map(random.Random)


def failures(called: Called) -> list[ServiceError]:
    return [
        UnreachableError("away", called),
        ServiceFaultError("silent", called),
        ServiceFaultError("busy", called, status=503, retry_after_s=3.0),
        RateLimitedError(WHY, called, retry_after_s=3.0),
        OutcomeUnknownError("silent", called),
        MalformedError("page", called),
        ReadOnlyError("reads", called),
        UnauthenticatedError(WHY, called),
        InvalidError(WHY, called),
        RefusedError(WHY, called, status=400),
    ]


def test_only_reads_that_found_nobody_or_nothing_are_asked_again() -> None:
    again = {type(error) for error in failures(READ) if may_retry(error)}
    assert again == {UnreachableError, ServiceFaultError, RateLimitedError}


@given(st.sampled_from(WRITES), st.integers(1, 5), seeds)
def test_no_failure_of_a_write_is_ever_sent_again(
    called: Called, tries: int, rng: random.Random
) -> None:
    assert [retry_delay(error, tries, rng) for error in failures(called)] == [None] * 10


def test_a_write_without_an_answer_is_unknown_and_a_read_is_a_fault() -> None:
    assert type(unanswered("x", READ)) is ServiceFaultError
    assert type(unreadable("x", READ)) is MalformedError
    for called in WRITES:
        assert type(unanswered("x", called)) is OutcomeUnknownError
        assert type(unreadable("x", called)) is OutcomeUnknownError


@given(seeds)
def test_a_read_is_asked_three_times_at_growing_distance(rng: random.Random) -> None:
    error = UnreachableError("away", READ)
    delays = [retry_delay(error, tries, rng) for tries in range(1, TRIES + 1)]
    assert delays[-1] is None
    assert 0.125 <= delays[0] <= 0.25 <= delays[1] <= 0.5


@pytest.mark.slow
@given(st.floats(), seeds)
def test_what_the_service_asks_for_is_the_least_wait_within_its_bounds(
    asked: float, rng: random.Random
) -> None:
    delay = retry_delay(RateLimitedError(WHY, READ, retry_after_s=asked), 1, rng)
    assert clamp_wait(asked) <= delay <= 60.25


@given(st.floats())
def test_a_wait_is_always_between_one_second_and_a_minute(wait: float | None) -> None:
    assert 1.0 <= clamp_wait(wait) <= 60.0


@given(st.integers(-5, 10**6), seeds)
def test_a_poller_rests_between_one_and_thirty_seconds(count: int, rng: random.Random) -> None:
    assert 1.0 <= next_delay(count, rng) <= BACK_OFF_MAX_S


def test_a_poller_rests_longer_after_each_failure() -> None:
    class Longest(random.Random):
        def uniform(self, _: float, b: float) -> float:
            return b

    rests = [next_delay(count, Longest()) for count in range(1, 8)]
    assert rests == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


@pytest.mark.parametrize(
    ("header", "wait"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("-1", None),
        ("1.5", None),
        ("NaN", None),
        ("1e3", None),
        ("٣", None),
        ("0", 1.0),
        (" 7 ", 7.0),
        ("120", 60.0),
        ("999999999", 60.0),
        ("9" * 400, None),
        (format_datetime(datetime.fromtimestamp(NOW + 20, UTC), usegmt=True), 20.0),
        (format_datetime(datetime.fromtimestamp(NOW - 20, UTC), usegmt=True), 1.0),
        (format_datetime(datetime.fromtimestamp(NOW + 9_999, UTC), usegmt=True), 60.0),
    ],
)
def test_a_retry_after_is_seconds_or_a_date(header: str | None, wait: float | None) -> None:
    assert retry_after(header, NOW) == wait


@pytest.mark.slow
@given(st.text(max_size=60))
def test_no_header_at_all_breaks_the_reading_of_dates(text: str) -> None:
    date = http_date(text)
    assert date is None or math.isfinite(date)
    wait = retry_after(text, NOW)
    assert wait is None or 1.0 <= wait <= 60.0


async def test_the_later_of_two_closings_holds() -> None:
    clock = HastyClock()
    gates = Gates(clock)
    gates.close("/x", 9.0, WHY)
    gates.close("/x", 2.0, WHY)
    gates.answered("/x")
    await gates.enter("/x", READ, 15.0)
    assert clock.monotonic() == pytest.approx(9.0)


async def test_a_gate_refuses_at_once_when_its_wait_is_longer_than_the_deadline() -> None:
    clock = HastyClock()
    await clock.sleep(30.0)
    gates = Gates(clock)
    gates.close("/x", 20.0, WHY)
    for until in (45.0, 50.0):
        with pytest.raises(RateLimitedError) as caught:
            await gates.enter("/x", READ, until)
        assert caught.value.retry_after_s == pytest.approx(20.0)
    assert clock.slept == [30.0]
    await gates.enter("/x", READ, 50.1)
    assert clock.monotonic() == pytest.approx(50.0)


async def test_a_failing_path_keeps_its_pace_for_writes_too() -> None:
    clock = HastyClock()
    gates = Gates(clock)
    gates.failed("/x")
    for _ in range(10):
        await gates.enter("/x", WRITES[0], 15.0)
    assert clock.monotonic() == pytest.approx(10 * PACE_S)
    gates.answered("/x")
    await gates.enter("/x", WRITES[0], 15.0)
    assert clock.monotonic() == pytest.approx(10 * PACE_S)
