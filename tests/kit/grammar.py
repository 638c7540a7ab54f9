"""The command line's grammar, built once: that takes longer than a hundred lines."""

from functools import cache
from pathlib import Path

from service_tui.cli.parser import Parser, parser_of
from service_tui.config import Environment


@cache
def grammar() -> Parser:
    """The parser; only its help names the folders of an environment."""
    return parser_of(Environment(None, None, False, Path("/data"), Path("/config")))  # noqa: FBT003
