"""Every page of docs/ that is made from the source, by its file's name."""

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from kit import assumptions
from kit.pages import command_line, commands, configuration, drills, filters, keys, man
from service_tui.notes.evaluations import reader


def evaluation_schema() -> str:
    """The schema of an evaluation's report, as JSON."""
    return json.dumps(reader().json_schema(), indent=2) + "\n"


PAGES: Final[Mapping[str, Callable[[], str]]] = MappingProxyType({
    "assumptions.md": assumptions.page,
    "command-line.md": command_line.page,
    "commands.md": commands.page,
    "configuration.md": configuration.page,
    "drills.md": drills.page,
    "evaluation.schema.json": evaluation_schema,
    "filters.md": filters.page,
    "keys.md": keys.page,
    "service-tui.1": man.page,
})
