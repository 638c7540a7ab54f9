"""The service that the desk is connected to, and the connection."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from service_tui.desk.slices.topics import Topic
from service_tui.terms import (
    Mode,
    Venue,
)
from service_tui.units import Timestamp


class Phase(StrEnum):
    """Connection of the desk to the service."""

    CONNECTING = "connecting"
    ONLINE = "online"
    OFFLINE = "offline"
    UNAUTHORIZED = "unauthorized"


@dataclass(frozen=True, slots=True)
class ServiceView:
    """The connected service and its connection.

    `problem` is the last failure that stands, `problem_of` the topic that met it. `dropped` holds,
    by topic, the rows of the last answer that were not of the protocol. `skew_s` is how far, at
    least, our clock is ahead of the service's; `lookup_problem` why unknown orders are not found.
    `address` is where agents of this machine reach the embedded service; `attached` when another
    process serves it; `shared` for a desk of several people. `failures` holds, by topic, why its
    last reading failed, until it succeeds.
    """

    label: str
    mode: Mode
    venue: Venue
    embedded: bool
    phase: Phase
    last_ok_at: Timestamp | None = None
    latency_s: float | None = None
    problem: str = ""
    problem_of: Topic | None = None
    dropped: Mapping[Topic, int] = field(default_factory=dict[Topic, int])
    read_only: bool = False
    skew_s: float | None = None
    lookup_problem: str = ""
    address: str = ""
    attached: bool = False
    shared: bool = False
    problem_status: int = 0
    failures: Mapping[Topic, str] = field(default_factory=dict[Topic, str])

    @property
    def dropped_rows(self) -> int:
        """Rows that could not be used, of the last answers together."""
        return sum(self.dropped.values())
