"""Experiments as JSON-able values and back: their part of the snapshot."""

from collections import deque

from service_tui.engine.events import ExperimentLogged, SessionBegun
from service_tui.engine.research.research import KEPT, Research
from service_tui.records import Named, read


def research_fields(research: Research) -> Named:
    """Everything that was posted and is still kept."""
    return {
        "count": research.count,
        "by_agent": [[agent_id, list(rows)] for agent_id, rows in research.by_agent.items()],
        "begun": [one for begun in research.begun.values() for one in begun.values()],
    }


def restore_research(research: Research, fields: Named | None) -> None:
    """Take experiments from a snapshot; one from before there were any leaves none."""
    if fields is None:
        return
    research.count = fields["count"]
    research.by_agent = {
        agent_id: deque((read(ExperimentLogged, row) for row in rows), maxlen=KEPT)
        for agent_id, rows in fields["by_agent"]
    }
    for row in fields.get("begun", ()):
        research.begin(read(SessionBegun, row))
