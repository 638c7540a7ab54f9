"""What the service's heartbeat says, in a few lines, with its age; loud when it stays away."""

from collections.abc import Iterator
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.amounts import told
from service_tui.console.freshness import is_private, world_now
from service_tui.desk.figures import open_news
from service_tui.desk.freshness import age_s
from service_tui.desk.slices.briefing import BriefingView
from service_tui.desk.slices.records import Topic
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

ALARM_S: Final = 1_800.0
"""Without a briefing for so long alerts may come and go unseen. Source: spec, "Limits"."""

LATE_S: Final = 60.0
"""Older than this the age is said louder: it comes every 15 s."""

_SAID_MAX: Final = 3
_PERCENT: Final = 100.0


def is_alarming(state: DeskState, now: Timestamp) -> bool:
    """Whether no briefing has come for so long that alerts may have been missed."""
    age = age_s(state, Topic.BRIEFING, now)
    return age is not None and not age <= ALARM_S


def briefing_text(state: DeskState, now: Timestamp, *, width: int, lines: int) -> Text:
    """The heartbeat in at most so many lines.

    Args:
        state: the newest.
        now: wall time.
        width: cells of a line; what is longer is cut.
        lines: at least 1.

    Returns:
        The age, then what is grave, what is to be done, and what is new.
    """
    found = [_head(state, now)]
    if state.briefing is not None:
        found += _told(state, state.briefing, world_now(state, now))
    for line in found[:lines]:
        line.truncate(max(1, width), overflow="ellipsis")
    return Text("\n").join(found[:lines])


def _head(state: DeskState, now: Timestamp) -> Text:
    """The counts and the age; a briefing that stays away takes the whole line."""
    age = age_s(state, Topic.BRIEFING, now)
    late = state.risk.briefing_late
    if is_alarming(state, now):
        said = late or f"no briefing for {formats.duration(age or 0.0)}"
        return Text.assemble((" NO BRIEFING ", "bold reverse loss"), (f" {said}", "bold loss"))
    if late:
        return Text.assemble(("briefing  ", "bold heading"), (f"LATE  {late}", "bold warn"))
    head = Text.assemble(("briefing  ", "bold heading"))
    known = state.briefing
    if known is None or age is None:
        head.append("not heard yet", "muted")
        return head
    tone = "warn" if age > LATE_S else "muted"
    head.append(f"{formats.age(Timestamp(now - age), now)} ago", tone)
    for part in _counts(known):
        head.append("   ", "")
        head.append_text(part)
    return head


def _counts(known: BriefingView) -> Iterator[Text]:
    for count, one, many, tone in (
        (len(known.alerts), "risk alert", "risk alerts", "loss"),
        (len(known.warnings), "warning", "warnings", "warn"),
        (known.attention_count, "position wants a look", "positions want a look", "warn"),
        (known.redeemable_count, "to redeem", "to redeem", "accent"),
    ):
        if count:
            noun = one if count == 1 else many
            yield Text.assemble((f"{count:,}", f"bold {tone}"), (f" {noun}", "muted"))
    standing = known.standing
    if standing.rank is not None:
        among = "" if standing.agents is None else f" of {standing.agents:,}"
        yield Text.assemble(("rank ", "muted"), f"{standing.rank:,}{among}")
    if standing.pnl_percent is not None:
        yield formats.percent_change(standing.pnl_percent / _PERCENT)
    if standing.win_rate is not None:
        yield Text.assemble(("wins ", "muted"), formats.percent(standing.win_rate, 0))


def _told(state: DeskState, known: BriefingView, world: Timestamp) -> Iterator[Text]:
    masked = is_private(state)
    for texts, glyph, tone in (
        (known.alerts, "▼", "loss"),
        (known.warnings, "!", "warn"),
        (known.every_action, "→", "accent"),
    ):
        for text in texts[:_SAID_MAX]:
            said = formats.plain(told(text, masked=masked))
            yield Text.assemble((f"{glyph} ", tone), said)
        if len(texts) > _SAID_MAX:
            yield Text(f"  and {len(texts) - _SAID_MAX} more", "muted")
    yield from _new(state, known, world)


def _new(state: DeskState, known: BriefingView, world: Timestamp) -> Iterator[Text]:
    """How many markets are new and still trade, and the first of them."""
    fresh = open_news(known, state, world)
    count = len(fresh)
    if count:
        first, left_s = fresh[0]
        said = first.left if left_s is None else formats.duration(left_s)
        left = f"  {said}" if said else ""
        noun = "new market" if count == 1 else "new markets, the first:"
        yield Text.assemble(
            ("+ ", "accent"), (f"{count} {noun} ", "muted"), formats.plain(first.question),
            (formats.plain(left).plain and left, "muted"),
        )  # fmt: skip
    if known.skills:
        names = formats.plain(", ".join(known.skills))
        yield Text.assemble(("+ ", "accent"), ("skills recommended: ", "muted"), names)
