"""A recorded moment, or the reason why there is none. Imports nothing heavy."""

from dataclasses import dataclass

from service_tui.desk.state import DeskState
from service_tui.units import Timestamp


class RecordError(Exception):
    """A moment that cannot be shown; the sentence gives the reason.

    Args:
        sentence: what is shown.
        before: time before which records may still be read; None where nothing can be.
    """

    def __init__(self, sentence: str, before: Timestamp | None = None) -> None:
        super().__init__(sentence)
        self.before = before


@dataclass(frozen=True, slots=True)
class RecordedMoment:
    """The desk as it was recorded at `at`. `event` is what had just happened, empty for none."""

    at: Timestamp
    event: str
    state: DeskState
