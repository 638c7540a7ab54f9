"""A signal's wallet and state as text: who, what became of it, what is left of its time."""

from dataclasses import dataclass
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.desk.slices.reactor import SignalState, SignalView
from service_tui.units import Timestamp

BAR: Final = 7
"""Cells of the bar that says how much of a signal's life is left."""

SOON_S: Final = 15.0
"""A signal with so few seconds left is worth a colour."""

_STATES: Final = {
    SignalState.PENDING: ("○", "warn"),
    SignalState.MIRRORING: ("→", "accent"),
    SignalState.MIRRORED: ("✓", "profit"),
    SignalState.SKIPPED: ("·", "muted"),
    SignalState.FAILED: ("✗", "loss"),
    SignalState.UNKNOWN: ("?", "breach"),
}


@dataclass(frozen=True, slots=True)
class Look:
    """What cells need beside the row: wall time, and whether amounts are masked."""

    now: Timestamp
    masked: bool


def name_text(label: str, address: str, look: Look) -> Text:
    """A wallet by its name, else by the ends of its address."""
    return formats.plain(label, 40) if label else formats.address(address, masked=look.masked)


def state_text(signal: SignalView, now: Timestamp) -> Text:
    """What became of it, in a sign and a word."""
    glyph, tone = _STATES[signal.state]
    if signal.state is SignalState.PENDING and signal.left_s(now) <= 0:
        return Text("· expired", "muted")
    return Text(f"{glyph} {signal.state.value}", tone)


def left_bar(signal: SignalView, now: Timestamp, width: int = BAR) -> Text:
    """How much of its life is left, as a bar with the seconds."""
    left = signal.left_s(now)
    filled = min(width, max(int(left > 0), round(signal.left_part(now) * width)))
    tone = "loss" if left <= SOON_S else "accent"
    seconds = formats.duration(left).split()[0]
    return Text.assemble(
        ("━" * filled, tone), ("─" * (width - filled), "faint"), (f" {seconds:>4}", tone)
    )


def dearer_text(points: float | None) -> Text:
    """How much dearer than the source a share was, in points: above 0 is a loss."""
    text = formats.points(points)
    if points is None or text.style == "flat":
        return text
    return Text(text.plain, "loss" if points > 0 else "profit", no_wrap=True)


def end_text(signal: SignalView, now: Timestamp) -> Text:
    """What is left of its time while it waits, else what became of it."""
    waits = signal.state is SignalState.PENDING and signal.left_s(now) > 0
    return left_bar(signal, now) if waits else state_text(signal, now)
