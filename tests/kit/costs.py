"""What each test costs, and so which tests `make quick` runs.

`tests/costs.tsv` lists the tests that took more than 15 ms of a core for each case: they are marked
`slow`, and the quick door leaves them out, but for those near a change, as far as its time goes.
`make costs` measures again; a test that is not listed counts as quick.
"""

import os
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest

TESTS: Final = Path(__file__).resolve().parents[1]
LISTED: Final = TESTS / "costs.tsv"

SLOW_S: Final = 0.015
"""Seconds of a core, on average of the cases of a test."""

NEAR_S: Final = 20.0
"""Seconds of a core that the slow tests near a change may take together."""

NEAR: Final = "TESTS_NEAR"
"""The files of tests near a change, the nearest first, separated by the sign of PATH."""

MEASURED: Final = "TEST_COSTS"
"""The folder to which each worker writes what its tests took."""


def listed() -> dict[str, float]:
    """Each slow test by its id without parameters, with the seconds of one case."""
    rows = (row.split("\t") for row in LISTED.read_text().splitlines())
    return {test: float(cost) for cost, test in rows}


def mark_slow(items: Iterable[pytest.Item]) -> None:
    """Mark the slow tests, but for those near the change for which there is time."""
    costs = listed()
    slow = [item for item in items if name_of(item) in costs]
    near = os.environ.get(NEAR, "").split(os.pathsep)
    taken = within(NEAR_S, [item for path in near for item in of_file(slow, path)], costs)
    for item in slow:
        if item.nodeid not in taken:
            item.add_marker("slow")


def name_of(item: pytest.Item) -> str:
    """The id of a test without its parameters."""
    return item.nodeid.partition("[")[0]


def of_file(items: list[pytest.Item], path: str) -> list[pytest.Item]:
    return [item for item in items if item.nodeid.partition("::")[0] == path]


def within(limit: float, items: list[pytest.Item], costs: dict[str, float]) -> set[str]:
    """The first of them for which the seconds suffice, and later ones that still fit."""
    taken: set[str] = set()
    for item in items:
        cost = costs[name_of(item)]
        if cost <= limit and item.nodeid not in taken:
            limit -= cost
            taken.add(item.nodeid)
    return taken


def measure(item: pytest.Item, started: float) -> None:
    """Write what a test took, where that is wanted."""
    if folder := os.environ.get(MEASURED):
        worker = os.environ.get("PYTEST_XDIST_WORKER", "alone")
        with (Path(folder) / worker).open("a") as file:
            file.write(f"{time.process_time() - started}\t{name_of(item)}\n")


def keep(folder: Path) -> None:
    """Make the list anew from what the workers wrote."""
    cases: defaultdict[str, list[float]] = defaultdict(list)
    for file in folder.iterdir():
        for row in file.read_text().splitlines():
            cost, test = row.split("\t")
            cases[test].append(float(cost))
    means = {test: sum(costs) / len(costs) for test, costs in cases.items()}
    rows = [f"{mean:.3f}\t{test}" for test, mean in sorted(means.items()) if mean > SLOW_S]
    LISTED.write_text("\n".join(rows) + "\n")
