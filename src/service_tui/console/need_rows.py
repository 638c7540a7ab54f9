"""What needs a person, as rows of plain values for scripts, beside the desk's own lists. Pure."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from service_tui.desk.audit import listings
from service_tui.desk.audit.exports import Row, Rows
from service_tui.desk.audit.listings import ScriptList
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.desk.wanted import Wanted
from service_tui.units import Timestamp, decimal

if TYPE_CHECKING:
    from service_tui.console.ranking import Need


def need_rows(state: DeskState, now: Timestamp) -> Rows:
    """Everything that needs a person now, the most urgent first."""
    # The rows of a screen: no other list pays for what paints them.
    from service_tui.console.needs import needs  # noqa: PLC0415

    return [_row(need) for need in needs(state, now)]


def _row(need: "Need") -> Row:
    return {
        "need": need.key,
        "kind": need.word,
        "what": need.what,
        "agent": need.agent_id or None,
        "agent_name": need.agent or None,
        "figure": need.figure.plain.strip() or None,
        "amount": None if need.money is None else decimal(need.money),
        "real_money": need.is_real,
        "left_s": None if need.left_s is None else round(need.left_s, 1),
        "otherwise": need.otherwise,
        "note": need.note or None,
    }


NEEDS: Final = ScriptList(
    Wanted(
        (Topic.WORLD, Topic.MARKETS, Topic.POSITIONS, Topic.ACCOUNT, Topic.BRIEFING, Topic.MONITORS,
         Topic.REDEMPTIONS, Topic.REACTOR, Topic.AGENTS, Topic.FLEET, Topic.RESEARCH),
        commands=True,
    ),
    lambda state, _pasts, now: need_rows(state, now),
    ("kind", "what", "agent_name", "figure", "amount", "left_s", "otherwise"),
)  # fmt: skip

LISTINGS: Final[Mapping[str, ScriptList]] = {**listings.LISTINGS, "needs": NEEDS}
"""What can be listed, by the name of its command."""
