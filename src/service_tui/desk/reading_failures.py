"""Failures of readings: status, path, the service's own text, and the fix."""

import logging
from contextvars import ContextVar
from typing import Final

from service_tui.client.errors import (
    MalformedError,
    RefusedError,
    ServiceError,
    ServiceFaultError,
    UnauthenticatedError,
)
from service_tui.desk.facts import ServiceFailed
from service_tui.desk.ports import Ports
from service_tui.desk.slices.topics import Topic
from service_tui.units import Timestamp

log = logging.getLogger(__name__)

READING: Final[ContextVar[Topic | None]] = ContextVar("READING", default=None)
"""The topic that is read in this task."""

_FIX: Final = "check the base address and the version of the service"
_FAULT_FIX: Final = "retrying; if it lasts, contact the operator of the service"
_REFUSALS: Final = range(400, 500)
_FAULTS: Final = range(500, 600)


def show_trouble(ports: Ports, error: ServiceError) -> None:
    """Show an error of a reading that is still being retried, as a wait may be long."""
    topic = READING.get()
    if topic is not None:
        show_failure(ports, failure_of(topic, error, ports.now()))


def show_failure(ports: Ports, failure: ServiceFailed) -> None:
    """Show a failed reading, and log it once until its problem changes."""
    if ports.state().service.failures.get(failure.topic) != failure.problem:
        log.warning("%s: %s", failure.topic.value, failure.problem)
    ports.emit(failure)


def failure_of(topic: Topic, error: ServiceError, at: Timestamp) -> ServiceFailed:
    """Failure fact for an error of a reading.

    Returns:
        The fact, with the service's advice, or ours where it gives none.
    """
    status = status_of(error)
    fix = error.fix if isinstance(error, RefusedError) else ""
    if not fix and (status or isinstance(error, MalformedError)):
        fix = _FAULT_FIX if status in _FAULTS else _FIX
    return ServiceFailed(
        topic,
        at,
        f"{error}; {fix}" if fix else str(error),
        unauthorized=isinstance(error, UnauthenticatedError) and error.is_revoked,
        offline=not isinstance(error, RefusedError),
        status=status,
    )


def is_refusal(status: int) -> bool:
    """True for the status of an orderly refusal."""
    return status in _REFUSALS


def status_of(error: ServiceError) -> int:
    """Status of the answer; 0 without an answer of the protocol."""
    if isinstance(error, RefusedError):
        return error.status
    return (error.status or 0) if isinstance(error, ServiceFaultError) else 0
