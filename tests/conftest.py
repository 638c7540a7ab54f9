"""What every test may rely on: the same zone of time and the same depth of calls everywhere."""

import gc
import os
import sys
import time
from collections.abc import Generator

import pytest

from kit import loop

# First of all: who imports `monotonic` by name must get the one that can be moved.
loop.patch()

from kit import clock, examples, invented, markers, near, once  # noqa: E402
from kit.chain.artifacts import skipped_for  # noqa: E402
from kit.console import idle, painting, styles  # noqa: E402
from kit.service.where import ON_HISTORY, ON_POSTGRES  # noqa: E402
from kit.terminal import warm  # noqa: E402

# Screens show local times; pictures of them must not depend on where they are taken.
os.environ["TZ"] = "UTC"
time.tzset()

clock.patch()
examples.patch()
markers.patch()
warm.patch()

# Before a test's module loads a library that raises the limit: the room takes what it finds.
from service_tui import signing  # noqa: E402

DEEPEST = signing.DEEPEST


# Nothing of what is collected is garbage.
gc.disable()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    with markers.collecting():
        return (yield)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    near.mark_near(items)
    if os.environ.get(ON_HISTORY):
        invented.leave_out(items)
    # First those that wait for a program: others use the core meanwhile, and none waits at the end.
    items.sort(key=lambda item: item.get_closest_marker("process") is None)


def pytest_collection_finish() -> None:
    # Modules and tests stay to the end: no later collection of garbage needs to walk them.
    gc.freeze()
    gc.enable()
    # A test leaves little behind: looking for garbage after every 700 objects is a tenth of a run.
    gc.set_threshold(50_000, 20, 20)


def pytest_runtestloop() -> None:
    if os.environ.get(ON_POSTGRES):
        # The server of this process starts before the first test: no test starts a program unasked.
        from kit.service.postgres import postgres  # noqa: PLC0415 - with a driver of its own

        postgres()


def pytest_runtest_setup(item: pytest.Item) -> None:
    markers.starting(item)
    warm.allow(on=item.get_closest_marker("cold") is None)
    loop.skip_waits(on=not any(item.get_closest_marker(mark) for mark in markers.MARKS))
    loop.patch_toasts()
    loop.patch_writer()
    # py-evm and its curves raise it for the whole process, and then deep JSON overruns the stack.
    sys.setrecursionlimit(DEEPEST)
    # A console is seen when it has come to rest, however little of the machine it was given.
    idle.patch()
    styles.patch()
    painting.patch()
    once.patch()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if why := skipped_for(terminalreporter.stats.get("skipped", [])):
        terminalreporter.write_line(f"skipped {why}")


def pytest_unconfigure() -> None:
    markers.ending()
    warm.ending()
