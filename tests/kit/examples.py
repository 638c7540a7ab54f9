"""How many examples the property tests try: few in each run, ten times as many in a deep one.

`TEST_DEPTH` in the environment multiplies every count; `make deep` sets it to ten.
"""

import os
from collections.abc import Iterable
from typing import Any, Final

import pytest
from hypothesis import settings
from hypothesis.internal.entropy import deterministic_PRNG

DEPTH: Final = int(os.environ.get("TEST_DEPTH", "1"))

EXAMPLES: Final = 25
"""What a property test tries that names no count of its own."""


def seeds(count: int, *, few: int = 2) -> range:
    """Seeds of a test that draws for itself: few in an ordinary run, all in a deep one."""
    return range(few if DEPTH == 1 else count)


def every(count: int, cases: Iterable[str]) -> list[Any]:
    """Cases of a test that is dear: each so many in an ordinary run, all in a deep one."""
    return [
        case if place % count == 0 else pytest.param(case, marks=pytest.mark.deep)
        for place, case in enumerate(cases)
    ]


def examples(count: int = EXAMPLES, **more: object) -> settings:
    """Settings for so many examples, times the depth of this run; no example has a deadline.

    An ordinary run tries the same examples each time: what fails there was broken by a change.
    Deep runs draw others each time.
    """
    drawn: dict[str, object] = {"derandomize": DEPTH == 1, **more}
    return settings(max_examples=count * DEPTH, deadline=None, **drawn)


def patch() -> None:
    """Make them the default of every property test. Nothing is remembered between two runs."""
    settings.register_profile("suite", examples(), database=None)
    settings.load_profile("suite")
    # The first example of a process looks through all objects for who holds its chance: now there
    # are few, and later a million.
    with deterministic_PRNG():
        pass
