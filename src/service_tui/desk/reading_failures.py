"""What a failed reading means: its status, its path, the service's own words, and what to do."""

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
from service_tui.desk.slices.records import Topic
from service_tui.units import Timestamp

log = logging.getLogger(__name__)

READING: Final[ContextVar[Topic | None]] = ContextVar("READING", default=None)
"""The topic that is read in this task."""

_FIX: Final = "see whether the base address is right, and whether the service is of this version"
_FAULT_FIX: Final = "it is tried again; if it lasts, ask whoever runs the service"
_REFUSALS: Final = range(400, 500)
_FAULTS: Final = range(500, 600)


def show_trouble(ports: Ports, error: ServiceError) -> None:
    """Show what a reading meets while it is still repeated: a service may ask for a long wait."""
    topic = READING.get()
    if topic is not None:
        show_failure(ports, failure_of(topic, error, ports.now()))


def show_failure(ports: Ports, failure: ServiceFailed) -> None:
    """Show why a reading failed, and log it once until something else comes of it."""
    if ports.state().service.failures.get(failure.topic) != failure.problem:
        log.warning("%s: %s", failure.topic.value, failure.problem)
    ports.emit(failure)


def failure_of(topic: Topic, error: ServiceError, at: Timestamp) -> ServiceFailed:
    """What a failed reading means.

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
    """Whether a status is an orderly no."""
    return status in _REFUSALS


def status_of(error: ServiceError) -> int:
    """The status of the answer; 0 where none came, or one that is not of the protocol."""
    if isinstance(error, RefusedError):
        return error.status
    return (error.status or 0) if isinstance(error, ServiceFaultError) else 0
