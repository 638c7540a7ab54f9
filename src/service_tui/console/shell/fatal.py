"""Reports a crash of the program without any value: only the places in the code."""

import logging
from collections.abc import Iterator
from traceback import extract_tb, walk_tb
from typing import Final

from textual.dom import DOMNode
from textual.worker import WorkerFailed

log = logging.getLogger(__name__)

EXIT_FAULT: Final = 70
"""Exit status of a program that failed by its own fault. Source: sysexits.h, EX_SOFTWARE."""

FRAMES_MAX: Final = 10
"""Most places shown of each exception, the innermost: a page, not a book."""

CHAIN_MAX: Final = 6


def report(error: BaseException, log_path: str) -> str:
    """One page for the terminal: type and places of the fault, and what to do."""
    lines = ["service-tui stopped: internal error.", ""]
    lines.extend(f"  {line}" for line in places(error))
    lines += [
        "",
        "Pending orders are saved and looked up at the next start; none is sent twice.",
        f"Log, without values: {log_path or 'none'}",
        f"To report it, copy this page; it contains no values. Exit status {EXIT_FAULT}.",
    ]
    return "\n".join(lines)


def places(error: BaseException, frames_max: int = FRAMES_MAX) -> list[str]:
    """Types of the exceptions and the places they passed.

    Returns:
        Lines, the innermost place last. Never the text of an exception nor a line of source: both
        may hold a key.
    """
    lines: list[str] = []
    for link in _chain(error):
        lines.append(f"{type(link).__module__}.{type(link).__qualname__}")
        frames = extract_tb(link.__traceback__)
        shown = frames[-frames_max:]
        if len(shown) < len(frames):
            lines.append(f"  … {len(frames) - len(shown)} earlier frames")
        lines.extend(f"  {_short(frame.filename)}:{frame.lineno} {frame.name}" for frame in shown)
    return lines


def log_fault(error: BaseException) -> None:
    """Write the whole traceback to the log, without values."""
    for place in ("fault:", *places(error, frames_max=200)):
        # A record each: what is longer than a line of the log is cut.
        log.critical("%s", place)


def nodes_passed(error: BaseException) -> Iterator[DOMNode]:
    """The widgets and screens in whose methods the fault was, the innermost first."""
    for link in _chain(error):
        for frame, _ in reversed([*walk_tb(link.__traceback__)]):
            node: object = frame.f_locals.get("self")
            if isinstance(node, DOMNode):
                yield node


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and those below it: causes, and the members of groups."""
    waiting = [error]
    seen: set[int] = set()
    while waiting and len(seen) < CHAIN_MAX:
        link = waiting.pop(0)
        if id(link) in seen:
            continue
        seen.add(id(link))
        if isinstance(link, WorkerFailed):
            # Textual's wrapper adds nothing.
            waiting.append(link.error)
            continue
        yield link
        # Only groups have members; their type does not give the type of those.
        members: tuple[BaseException, ...] = getattr(link, "exceptions", ())
        waiting.extend(members)
        under = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
        if under is not None:
            waiting.append(under)


def _short(path: str) -> str:
    """The end of a path: enough to find it, without the home directory."""
    parts = path.replace("\\", "/").split("/")
    for root in ("service_tui", "site-packages"):
        if root in parts:
            return "/".join(parts[parts.index(root) + (root == "site-packages") :])
    return parts[-1]
