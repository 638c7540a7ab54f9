"""What `make quick` runs: the cheap tests, and the slow ones near a change."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kit import costs, near

ORDERS = "tests/desk/trading/test_lookup.py"


def changing(*paths: str) -> Callable[..., list[str]]:
    return lambda *words: [f" M {path}" for path in paths] if words[0] == "status" else []


def test_near_a_module_lie_the_tests_that_import_it_and_those_of_its_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(near, "git", changing("src/service_tui/engine/amm/lmsr.py"))
    found = near.near_change()
    importing = [path for path in found if "amm" in (near.ROOT / path).read_text()]
    assert found[: len(importing)] == importing
    assert {path for path in found if path.startswith("tests/engine/amm/")} == {
        str(path.relative_to(near.ROOT))
        for path in (near.ROOT / "tests/engine/amm").glob("test_*.py")
    }


def test_the_tests_of_a_modules_own_name_come_before_others_that_import_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(near, "git", changing("src/service_tui/server/routes/settings.py"))
    assert near.near_change()[0] == "tests/server/routes/test_settings.py"


def test_a_changed_test_is_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near, "git", changing("src/service_tui/units.py", ORDERS))
    assert near.near_change()[0] == ORDERS


def test_without_git_nothing_is_near(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise subprocess.CalledProcessError(128, "git")

    monkeypatch.setattr(subprocess, "run", refuse)
    assert near.near_change() == []


def test_slow_tests_near_a_change_run_as_far_as_the_time_goes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Item:
        def __init__(self, name: str) -> None:
            self.nodeid, self.marks = f"{ORDERS}::{name}", list[str]()

        def add_marker(self, mark: str) -> None:
            self.marks.append(mark)

    items = [Item("first[a]"), Item("first[b]"), Item("second"), Item("third"), Item("cheap")]
    most = costs.NEAR_S
    known = {
        f"{ORDERS}::first": 0.4 * most,
        f"{ORDERS}::second": 0.3 * most,
        f"{ORDERS}::third": 0.2 * most,
    }
    monkeypatch.setattr(costs, "listed", lambda: known)
    monkeypatch.setenv(costs.NEAR, ORDERS)
    costs.mark_slow(items)  # type: ignore[arg-type]
    assert [item.marks for item in items] == [[], [], ["slow"], [], []]
    monkeypatch.setenv(costs.NEAR, "")
    for item in items:
        item.marks.clear()
    costs.mark_slow(items)  # type: ignore[arg-type]
    assert [item.marks for item in items] == [["slow"], ["slow"], ["slow"], ["slow"], []]


def test_the_list_of_costs_is_of_tests_that_are_there() -> None:
    gone = {test for test in costs.listed() if not (near.ROOT / test.partition("::")[0]).exists()}
    assert not gone


def test_slow_is_what_takes_long_on_average_of_its_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gw0").write_text("0.5\ta.py::dear\n0.001\ta.py::cheap\n")
    (tmp_path / "gw1").write_text("0.1\ta.py::dear\n")
    list_of_it = tmp_path / "costs.tsv"
    monkeypatch.setattr(costs, "LISTED", list_of_it)
    costs.keep(tmp_path)
    assert costs.listed() == {"a.py::dear": 0.3}
