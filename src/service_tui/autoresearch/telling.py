"""What a session says: of where it stands, of a result, of how a command ended."""

import json
from collections.abc import Sequence
from typing import Final

from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.runner import Ran
from service_tui.experiments import Standing
from service_tui.notes.notebook import Config, Logged, Notes
from service_tui.terms import SessionState
from service_tui.wire.research_tools import InitArguments

COMMAND_MAX: Final = 60


def told_of(
    config: Config, stands: Standing, cap: int, warnings: Sequence[str]
) -> dict[str, object]:
    """How a session stands, with a warning where it is nearly full."""
    said = list(warnings)
    if stands.near_cap and stands.state is SessionState.RUNNING:
        said.append(f"{stands.count} of {cap} experiments are done: a command runs up to {cap}")
    return {
        "skill": config.skill,
        "session": config.name,
        "state": stands.state.value,
        "why": stands.why or None,
        "experiments": stands.count,
        "max_experiments": cap,
        "kept": stands.kept,
        "discarded": stands.discarded,
        "crashed": stands.crashed,
        "crashes_in_row": stands.crashes_in_row,
        "metric": config.metric_name,
        "direction": config.direction.value,
        "baseline": stands.baseline,
        "best": stands.best,
        "confidence": stands.confidence,
        "warnings": said,
    }


def check_same(config: Config, asked: InitArguments) -> None:
    """Refuse a session of the same name that measures something else.

    Raises:
        ToolError: the metric or its direction is another.
    """
    if (config.metric_name, config.direction) != (asked.metric_name, asked.direction):
        raise ToolError(
            f"the session {config.name} measures {config.metric_name}, "
            f"{config.direction.value} is better",
            "give a new name to measure something else",
        )


def confidence_of(results: list[Logged], config: Config) -> float | None:
    """How real the best of a session looks after these results."""
    notes = Notes(configs=[config], results=results)
    return notes.standing_of(config).confidence


def message_of(one: Logged) -> str:
    """A commit's message: the description, and the result. Source: wire reference, 9.2."""
    result = {
        "status": one.status.value,
        one.config.metric_name: one.metric,
        **one.metrics,
    }
    return f"{one.description}\n\nExperiment: {one.run}\nResult: {json.dumps(result)}\n"


def shortened(command: str) -> str:
    """A command as a sentence can hold it."""
    words = " ".join(command.split())
    return words if len(words) <= COMMAND_MAX else f"{words[:COMMAND_MAX]}..."


def after(ran: Ran, deadline_s: float) -> str:
    """What to do with how a command ended."""
    if ran.timed_out:
        return f"it took longer than {deadline_s:g} s and was ended; log it as crash or discard"
    if not ran.succeeded:
        return "it failed: log it as crash, or mend it and run it again"
    return "log it as keep or discard"
