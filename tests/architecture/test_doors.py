"""What `make quick` runs: the cheap tests, and the slow ones near a change."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from kit import markers, near

ORDERS = "tests/desk/trading/test_lookup.py"


@pytest.mark.slow
def test_near_a_module_lie_the_tests_that_import_it_and_those_of_its_room() -> None:
    found = near.near_change(["src/service_tui/engine/amm/lmsr.py"])
    importing = [path for path in found if "amm" in (near.ROOT / path).read_text()]
    assert found[: len(importing)] == importing
    assert {path for path in found if path.startswith("tests/engine/amm/")} == {
        str(path.relative_to(near.ROOT))
        for path in (near.ROOT / "tests/engine/amm").glob("test_*.py")
    }


@pytest.mark.slow
def test_the_tests_of_a_modules_own_name_come_before_others_that_import_it() -> None:
    found = near.near_change(["src/service_tui/server/routes/settings.py"])
    assert found[0] == "tests/server/routes/test_settings.py"


@pytest.mark.slow
def test_a_changed_test_is_the_nearest() -> None:
    assert near.near_change(["src/service_tui/units.py", ORDERS])[0] == ORDERS


@pytest.mark.slow
def test_without_git_nothing_is_near(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise subprocess.CalledProcessError(128, "git")

    monkeypatch.setattr(subprocess, "run", refuse)
    assert near.near_change() == []


@pytest.mark.process
@pytest.mark.slow
def test_collection_reaches_out_for_nothing(tmp_path: Path) -> None:
    closed = {"npm_config_registry": "http://127.0.0.1:9", "XDG_CACHE_HOME": str(tmp_path)}
    words = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-p",
        "no:xdist",
        "tests/chain",
    ]
    done = subprocess.run(
        words, cwd=near.ROOT, env=os.environ | closed, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.process
def test_what_reaches_out_at_collection_is_named() -> None:
    with markers.collecting(), pytest.raises(AssertionError, match="in a fixture"):
        socket.getaddrinfo("localhost", 9)


class Item:
    """A collected test, as far as the quick door looks at it."""

    def __init__(self, name: str, *marks: str) -> None:
        self.nodeid, self.marks = f"{ORDERS}::{name}", [*marks]

    def get_closest_marker(self, mark: str) -> str | None:
        return mark if mark in self.marks else None

    def add_marker(self, mark: str) -> None:
        self.marks.append(mark)


def test_the_first_slow_cases_near_a_change_run(monkeypatch: pytest.MonkeyPatch) -> None:
    items = [Item("cheap"), *(Item(f"dear[{one}]", "slow") for one in range(near.NEAR_MOST + 1))]
    monkeypatch.setenv(near.NEAR, ORDERS)
    near.mark_near(items)  # type: ignore[arg-type]
    assert [one.marks for one in items] == [
        [],
        *([["slow", "near"]] * near.NEAR_MOST),
        ["slow"],
    ]


def test_no_slow_test_runs_far_from_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(near.NEAR, "tests/test_units.py")
    item = Item("dear", "slow")
    near.mark_near([item])  # type: ignore[list-item]
    assert item.marks == ["slow"]
