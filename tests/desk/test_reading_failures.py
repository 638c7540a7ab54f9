"""What is shown and logged of a reading that failed."""

import logging
from dataclasses import replace

import pytest

from kit.desk.offline import Offline
from kit.samples.desk import NOW, sample_state
from service_tui.client.errors import (
    Called,
    MalformedError,
    RefusalReason,
    RefusedError,
    ServiceError,
    ServiceFaultError,
    UnauthenticatedError,
    UnreachableError,
)
from service_tui.desk.facts import ServiceFailed
from service_tui.desk.reading_failures import (
    READING,
    failure_of,
    is_refusal,
    show_failure,
    show_trouble,
    status_of,
)
from service_tui.desk.slices.topics import Topic
from service_tui.units import Timestamp

CALLED = Called("GET", "/x")
AT = Timestamp(NOW)
CHECK = "check the base address and the version of the service"
AGAIN = "retrying; if it lasts, contact the operator of the service"
SILENT = UnreachableError("no line", CALLED)
PLAIN = RefusalReason("not now")
BROKEN = ServiceFaultError("broken", CALLED, status=503)
REVOKED = UnauthenticatedError(RefusalReason("bad key", "get one"), CALLED, is_revoked=True)


@pytest.mark.parametrize(
    ("error", "fix", "status", "is_offline"),
    [
        (SILENT, "", 0, True),
        (ServiceFaultError("silence", CALLED), "", 0, True),
        (BROKEN, AGAIN, 503, True),
        (ServiceFaultError("last", CALLED, status=599), AGAIN, 599, True),
        (ServiceFaultError("above", CALLED, status=600), CHECK, 600, True),
        (ServiceFaultError("first", CALLED, status=500), AGAIN, 500, True),
        (MalformedError("odd", CALLED), CHECK, 0, True),
        (RefusedError(PLAIN, CALLED, status=404), CHECK, 404, False),
        (RefusedError(RefusalReason("no", "ask"), CALLED, status=400), "ask", 400, False),
    ],
)
def test_a_failure_names_its_status_and_a_fix(
    error: ServiceError, fix: str, status: int, *, is_offline: bool
) -> None:
    text = f"{error}; {fix}" if fix else str(error)
    expected = ServiceFailed(
        Topic.MARKETS, AT, text, unauthorized=False, offline=is_offline, status=status
    )
    assert failure_of(Topic.MARKETS, error, AT) == expected
    assert status_of(error) == status


def test_only_a_revoked_key_is_none() -> None:
    assert failure_of(Topic.MARKETS, REVOKED, AT).unauthorized
    other = UnauthenticatedError(PLAIN, CALLED)
    assert not failure_of(Topic.MARKETS, other, AT).unauthorized


@pytest.mark.parametrize(("status", "expected"), [(399, False), (400, True), (499, True)])
def test_a_refusal_has_a_status_of_its_own(status: int, *, expected: bool) -> None:
    assert is_refusal(status) is expected
    assert not is_refusal(500)


def test_a_problem_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    there = Offline(sample_state())
    first = failure_of(Topic.MARKETS, BROKEN, AT)
    other = failure_of(Topic.MARKETS, SILENT, AT)
    with caplog.at_level(logging.WARNING):
        for failure in (first, first, other, replace(other, topic=Topic.TRADES), other):
            show_failure(there.ports, failure)
    assert [one.getMessage() for one in caplog.records] == [
        f"markets: {first.problem}",
        f"markets: {other.problem}",
        f"{Topic.TRADES.value}: {other.problem}",
    ]
    assert len(there.facts) == 5
    assert there.facts[0] is first


def test_an_error_that_is_retried_is_shown_with_the_topic_that_is_read() -> None:
    there = Offline(sample_state())
    show_trouble(there.ports, BROKEN)
    assert there.facts == []
    token = READING.set(Topic.POSITIONS)
    try:
        show_trouble(there.ports, BROKEN)
    finally:
        READING.reset(token)
    assert there.facts == [failure_of(Topic.POSITIONS, BROKEN, there.clock.now())]
