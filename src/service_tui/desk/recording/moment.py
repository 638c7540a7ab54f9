"""A moment of the recording, and why there is none. Imports nothing heavy."""

from dataclasses import dataclass

from service_tui.desk.state import DeskState
from service_tui.units import Timestamp


class RecordError(Exception):
    """A moment that cannot be shown; the sentence gives the reason."""


@dataclass(frozen=True, slots=True)
class RecordedMoment:
    """The desk as it was recorded at `at`. `event` is what had just happened, empty for none."""

    at: Timestamp
    event: str
    state: DeskState
