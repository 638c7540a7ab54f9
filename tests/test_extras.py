"""A light install: what has no library of an extra works, and what needs one says so."""

import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from service_tui.desk.restarting import fault_text
from service_tui.extras import BRINGS, missing_extra, needs

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

BLOCKER = f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sorted(name for each in BRINGS.values() for name in each)}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Missing())
"""


def absent(package: str) -> ModuleNotFoundError:
    return ModuleNotFoundError(f"No module named {package!r}", name=package)


def test_a_missing_library_is_told_by_its_extra() -> None:
    assert missing_extra(absent("web3.providers")) == needs("chain")
    group = ExceptionGroup("tasks", [ValueError("x"), absent("psycopg")])
    assert missing_extra(group) == "this needs the extra 'team': pip install 'service-tui[team]'"
    assert not missing_extra(absent("service_tui.nothing"))
    assert not missing_extra(ImportError("a wheel of another machine"))


def test_a_command_of_the_desk_names_the_extra_as_well() -> None:
    assert fault_text(absent("eth_account")) == needs("chain")
    assert "a fault in the program" in fault_text(ValueError("secret"))


def named(requirement: str) -> str:
    for sign in "[><=; ":
        requirement = requirement.partition(sign)[0]
    return requirement.lower()


@pytest.mark.parametrize("extra", BRINGS)
def test_each_package_of_an_extra_is_installed_by_it(extra: str) -> None:
    brought = {named(one) for one in PROJECT["optional-dependencies"][extra]}
    core = {named(one) for one in PROJECT["dependencies"]}
    homes = packages_distributions()
    # eth-typing comes with eth-utils: nothing but types is taken from it.
    for package in set(BRINGS[extra]) - {"eth_typing"}:
        found = {name.lower().replace("_", "-") for name in homes[package]}
        assert found & brought, package
        assert not found & core, package


def ran(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """The program where no library of an extra can be imported."""
    (folder / "sitecustomize.py").write_text(BLOCKER)
    path = ":".join([str(folder), str(ROOT / "src")])
    command = [sys.executable, "-m", "service_tui", *words, "--data-dir", str(folder / "data")]
    given = {"PYTHONPATH": path, "PATH": "/usr/bin:/bin", "HOME": str(folder), **more}
    return subprocess.run(
        command, env=given, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.cold
def test_the_paper_desk_needs_no_extra(tmp_path: Path) -> None:
    done = ran(tmp_path, "status")
    assert done.returncode == 0, done.stderr
    assert "10,000.00" in done.stdout


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.cold
@pytest.mark.parametrize(
    ("words", "more", "extra"),
    [
        (("web",), {}, "web"),
        (("keys", "create"), {"WALLET_PRIVATE_KEY": f"0x{'1' * 64}"}, "chain"),
        (("db", "check"), {"SERVICE_TUI_DATABASE": "postgresql://x@127.0.0.1/y"}, "team"),
        (("history", "import", "."), {}, "history"),
        (("mcp",), {}, "research"),
    ],
)
def test_a_door_whose_extra_is_missing_says_so(
    tmp_path: Path, words: tuple[str, ...], more: dict[str, str], extra: str
) -> None:
    done = ran(tmp_path, *words, **more)
    assert (done.returncode, done.stderr) == (1, f"service-tui: {needs(extra)}\n")
