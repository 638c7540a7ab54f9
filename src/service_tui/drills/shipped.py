"""The scenarios that come with the program, and a person's own by their path."""

from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

from service_tui.drills.scenario import Scenario, ScenarioError, read_scenario
from service_tui.toml_lines import nearest

FOLDER: Final = "data/drills"
ORDER: Final = (
    "silent-service",
    "flash-crash",
    "runaway-agent",
    "lying-feed",
    "oracle-reversal",
    "empty-wallet",
    "two-supervisors",
)
"""Names of the scenarios, in the order of lists."""


def shipped_scenarios() -> tuple[Scenario, ...]:
    """The scenarios that come with the program."""
    with as_file(files("service_tui").joinpath(FOLDER)) as folder:
        return tuple(
            read_scenario(path) for name in ORDER if (path := folder / f"{name}.toml").is_file()
        )


def shipped_titles() -> tuple[tuple[str, str], ...]:
    """Name and title of each."""
    return tuple((one.name, one.title) for one in shipped_scenarios())


def scenario_named(name: str) -> Scenario:
    """The scenario of this name, or of this file.

    Raises:
        ScenarioError: there is none, or the file is none; gives lines and reasons.
    """
    if name.endswith(".toml") or "/" in name:
        return read_scenario(Path(name).expanduser())
    if name not in ORDER:
        known = ", ".join(ORDER)
        hint = nearest(name, ORDER) or f": one of {known}"
        raise ScenarioError(name[:40], [f"no such drill{hint}; a file of your own ends in .toml"])
    return next(one for one in shipped_scenarios() if one.name == name)
