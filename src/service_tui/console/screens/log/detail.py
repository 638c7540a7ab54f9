"""Texts of the action log: its chain in one line, one entry in full."""

from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import of_wall
from service_tui.console.keys import cap
from service_tui.console.screens.log.table import event_text, words
from service_tui.console.view_context import ViewContext
from service_tui.desk.slices.log import ActionView, LogView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

_LABEL: Final = 9


def chain_text(log: LogView, now: Timestamp) -> Text:
    """The length of the verified chain, and the entries written since."""
    if log.checked_at is None:
        return Text("loading the log", "muted")
    if log.problem:
        upto = f"  verified up to entry {log.verified:,}; confirm with service-tui log verify"
        broken = formats.plain(log.problem).plain
        return Text.assemble(("✗ log damaged: ", "bold loss"), broken, (upto, "muted"))
    since = log.count - log.verified
    age = formats.age(log.checked_at, now)
    more = f", {since:,} not yet ({cap('log.verify')})" if since > 0 else ""
    return Text.assemble(
        ("✓", "profit"), f" {log.verified:,} entries verified", (f" {age} ago{more}", "muted")
    )


def entry_text(entry: ActionView, state: DeskState, now: Timestamp) -> Text:
    """One entry in full."""
    day = formats.date_time(entry.at or None).plain.rpartition(" ")[0]
    when = Text(f"{day} {formats.clock_time(entry.at or None).plain}".strip())
    clock = (of_wall(state).replace(",", ""), "muted")
    age = Text.assemble(("  ", ""), formats.age(entry.at or None, now), (" ago", "muted"))
    lines = [
        Text.assemble(
            event_text(entry), ("  by ", "muted"), (formats.plain(entry.who, 60).plain, "bold")
        ),
        Text(words(entry, state) or "no text"),
        Text.assemble(("when".ljust(_LABEL), "muted"), when, clock, age),
        Text.assemble(
            ("source".ljust(_LABEL), "muted"), formats.plain(entry.kind, 60).plain or "-"
        ),
        Text.assemble(("entry".ljust(_LABEL), "muted"), f"{entry.number:,}"),
        Text.assemble(("hash".ljust(_LABEL), "muted"), (entry.hash, "muted")),
    ]
    return Text("\n").join(lines)


def explain_entry(entry: ActionView, view: ViewContext) -> tuple[Explanation, ...]:
    """Inputs of an entry's hash."""
    inputs = (("entry", Text(f"{entry.number:,}")), ("who", formats.plain(entry.who, 60)))
    formula = "sha256(hash of the previous entry + this entry as written)"
    age = formats.age(entry.at or None, view.now)
    value = Text(entry.hash[:16])
    return (Explanation("hash", value, formula, inputs, "written by this desk", age),)
