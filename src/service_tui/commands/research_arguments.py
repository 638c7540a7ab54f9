"""The arguments of `service-tui autoresearch`, and the request made of them."""

import argparse
from collections.abc import MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from service_tui.config import KEY_VARIABLE, URL_VARIABLE, read_environment
from service_tui.experiments import CAP_DEFAULT
from service_tui.settings import CAP_VARIABLE
from service_tui.terms import Direction

CAP_DIGITS: Final = 7
NOTHING: Final = "-"
"""In place of a history: nothing is kept back any more."""

ABOUT_AUTORESEARCH: Final = (
    "Without an argument: the MCP server, over standard input and output, for the git "
    f"repository it starts in. With a skill's slug: start a session. Variables: {KEY_VARIABLE}, "
    f"{URL_VARIABLE} (without a key: the embedded service of the data directory), "
    f"{CAP_VARIABLE} ({CAP_DEFAULT}; 0: no limit)."
)


@dataclass(frozen=True, slots=True)
class ResearchRequest:
    """A request: its folder, its service, and its limits.

    `word` is empty for the server, else status, reset, off or a skill's slug; `skill` is the
    argument of reset and off. `holdout` is the history of which the last third is kept back,
    empty for none; `every` is the time between two rounds on it.
    """

    folder: Path
    word: str = ""
    skill: str = ""
    allows_shell: bool = False
    cap: int = 0
    name: str = ""
    metric: str = "pnl"
    unit: str = "$"
    direction: Direction = Direction.HIGHER
    holdout: str = ""
    every: str = "1h"
    api_key: str | None = None
    api_url: str | None = None


def add_arguments(research: argparse.ArgumentParser) -> None:
    """Add the arguments of the MCP server and of the old slash commands."""
    research.add_argument("word", nargs="?", default="", help="status, reset, off, or a skill")
    research.add_argument(
        "skill", nargs="?", default="", help="of reset and off (default: the newest)"
    )
    research.add_argument(
        "--repo", metavar="DIR", type=Path, default=Path(), help="the repository (default: .)"
    )
    research.add_argument("--name", metavar="NAME", default="", help="name of the new session")
    research.add_argument("--metric", metavar="NAME", default="pnl", help="metric (pnl)")
    research.add_argument("--unit", metavar="UNIT", default="$", help="of the metric ($)")
    research.add_argument(
        "--direction",
        choices=[direction.value for direction in Direction],
        default=Direction.HIGHER.value,
        help="direction of improvement (higher)",
    )
    research.add_argument(
        "--holdout",
        metavar="HISTORY",
        default="",
        help="keep its last third back from experiments; 'off' judges the session on that "
        "(-: nothing any more)",
    )
    research.add_argument(
        "--every", metavar="TIME", default="1h", help="between rounds on a history (1h)"
    )
    research.add_argument(
        "--allow-shell",
        action="store_true",
        help="allow the client to run shell commands in the session's worktree",
    )


def parse_request(
    arguments: argparse.Namespace, environ: MutableMapping[str, str]
) -> ResearchRequest:
    """Build the request of the arguments and the environment.

    Returns:
        The request.

    Raises:
        ValueError: the cap is no number.
    """
    environment = read_environment(environ)
    return ResearchRequest(
        folder=arguments.repo,
        word=arguments.word,
        skill=arguments.skill,
        allows_shell=arguments.allow_shell,
        name=arguments.name,
        metric=arguments.metric,
        unit=arguments.unit,
        direction=Direction(arguments.direction),
        holdout=arguments.holdout,
        every=arguments.every,
        cap=cap_of(environ.get(CAP_VARIABLE) or _settled_cap(arguments)),
        api_key=environment.api_key,
        api_url=environment.api_url,
    )


def _settled_cap(arguments: argparse.Namespace) -> str | None:
    """The cap that the configuration file names."""
    cap: object = getattr(arguments, "max_experiments", None)
    return None if cap is None else str(cap)


def cap_of(text: str | None) -> int:
    """Parse the cap on experiments in a session; 0 is any number.

    Returns:
        The cap.

    Raises:
        ValueError: it is no number.
    """
    if text is None or not text.strip():
        return CAP_DEFAULT
    is_short = text.isascii() and text.isdecimal() and len(text) <= CAP_DIGITS
    if not is_short:
        raise ValueError(f"{CAP_VARIABLE} is {text!r}: give a whole number, 0 for no limit")
    return int(text)
