"""The halt as it lies on disk: whether it holds, since when, in one line of text.

Knows json and records. Must import nothing heavy: the first paint shows the halt.
Used by opening (before anything may trade), by halting (which writes it), and by wiring.
"""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from service_tui.desk.records_halt import HaltView
from service_tui.units import Timestamp

HALT: Final = "halt"
"""Preference under which it is kept."""


@dataclass(frozen=True, slots=True)
class KeptHalt:
    """The last word on the halt in one database. `at` is when it was said."""

    on: bool
    at: Timestamp
    was_paused: bool = False

    def as_text(self) -> str:
        """What is written."""
        return json.dumps({"on": self.on, "at": self.at, "was_paused": self.was_paused})


def kept_halt(text: str | None) -> KeptHalt | None:
    """The halt that a text holds; None where nothing was written.

    Returns:
        What was kept. Text that cannot be read counts as a halt: only a readable end is one.
    """
    if text is None:
        return None
    try:
        fields = json.loads(text)
        on, at, was_paused = fields["on"] is not False, float(fields["at"]), fields["was_paused"]
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        on, at, was_paused = True, 0.0, False
    if not math.isfinite(at):
        on, at = True, 0.0
    return KeptHalt(on, Timestamp(at), was_paused is True)


def newest(found: Iterable[KeptHalt | None]) -> HaltView | None:
    """The halt that holds, of what several databases of one operator say.

    The last word counts, so that a RESUME in one console ends what another one, since gone, began;
    at the same moment the halt counts.

    Returns:
        The halt, nobody told of it yet; None where none holds.
    """
    kept = max(
        (one for one in found if one is not None), key=lambda one: (one.at, one.on), default=None
    )
    if kept is None or not kept.on:
        return None
    return HaltView(since=kept.at, was_paused=kept.was_paused)
