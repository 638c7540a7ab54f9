"""A test that starts a program says so: `process`, `chain` and `fuzz` tests alone may.

While tests are collected nothing starts a program, asks for a name or opens a connection: who runs
one test would wait for what another one needs.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest

MARKS: Final = ("process", "chain", "fuzz")
STARTS: Final = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn"})
REACHES: Final = STARTS | {"socket.connect", "socket.getaddrinfo"}

_collecting: set[str] = set()
_unmarked: dict[str, str] = {}


def starting(item: pytest.Item) -> None:
    """From now on this test runs."""
    _unmarked.clear()
    if not any(item.get_closest_marker(mark) for mark in MARKS):
        _unmarked["test"] = item.nodeid


@contextmanager
def collecting() -> Iterator[None]:
    """Tests are collected meanwhile."""
    _collecting.update(REACHES)
    try:
        yield
    finally:
        _collecting.clear()


def ending() -> None:
    """No test runs any more."""
    _unmarked.clear()


def _audit(event: str, _: object) -> None:
    # A test runs, and this module is not taken apart yet at the end of the process.
    if _unmarked and event in STARTS:
        name = _unmarked["test"]
        raise AssertionError(f"{name} starts a program ({event}): mark it @pytest.mark.process")
    if event in _collecting:
        raise AssertionError(f"collection reaches out ({event}): do that in a fixture")


def patch() -> None:
    """Watch every start of a program in this process from now on."""
    sys.addaudithook(_audit)
