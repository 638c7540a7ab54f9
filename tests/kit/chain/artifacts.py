"""The real node and the real contracts, from npm where it is there; kept outside of the tree.

A test that needs them asks, in a fixture: nothing is fetched while tests are collected. One worker
of a run installs them, and a failure holds for the whole run.
"""

import fcntl
import json
import os
import platform
import shutil
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest

PACKAGES = ("@foundry-rs/anvil@1.7.1", "@gnosis.pm/conditional-tokens-contracts@1.0.3")
INSTALL_S = 20
FOLDER = "service-tui-tests/npm-1"
WITHOUT = "without the node and the contracts of npm: "
"""How each reason begins for which a test is skipped here."""


@dataclass(frozen=True)
class Artifacts:
    """What npm gave; `missing` says why there is none."""

    anvil: Path | None = None
    conditional_tokens: bytes = b""
    mintable_token: bytes = b""
    missing: str = ""


@lru_cache(maxsize=1)
def artifacts() -> Artifacts:
    npm = shutil.which("npm")
    if npm is None or os.environ.get("SERVICE_TUI_TESTS_WITHOUT_NPM"):
        return Artifacts(missing="npm is not there")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / FOLDER
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        # Several workers of one run install once.
        fcntl.flock(lock, fcntl.LOCK_EX)
        problem = "" if (cache / "done").exists() else _installed_once(npm, cache)
    if problem:
        return Artifacts(missing=problem)
    modules = cache / "node_modules"
    contracts = modules / "@gnosis.pm/conditional-tokens-contracts/build/contracts"
    tokens = modules / "openzeppelin-solidity/build/contracts"
    return Artifacts(
        _anvil(modules),
        _code(contracts / "ConditionalTokens.json", "deployedBytecode"),
        _code(tokens / "ERC20Mintable.json", "bytecode"),
    )


def skipped_for(reports: Iterable[pytest.TestReport]) -> str:
    """Why tests of a run went without what npm gives; empty where none did."""
    for report in reports:
        if isinstance(report.longrepr, tuple) and WITHOUT in report.longrepr[2]:
            return report.longrepr[2].removeprefix("Skipped: ")
    return ""


def _installed_once(npm: str, cache: Path) -> str:
    """Why the packages are not there; what failed for another worker is not tried again."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    failed = cache / "failed"
    with suppress(FileNotFoundError):
        of_run, _, problem = failed.read_text().partition(" ")
        if of_run == run:
            return problem
    problem = _installed(npm, cache)
    failed.write_text(f"{run} {problem}" if problem else "")
    return problem


def _installed(npm: str, cache: Path) -> str:
    """Why the packages could not be installed; empty where they are."""
    words = [npm, "install", "--prefix", str(cache), "--ignore-scripts", "--no-audit", "--no-fund"]
    words += ["--fetch-retries=1", "--fetch-retry-mintimeout=1000"]
    try:
        done = subprocess.run(
            [*words, *PACKAGES], check=False, capture_output=True, text=True, timeout=INSTALL_S
        )
    except subprocess.TimeoutExpired:
        return f"npm did not install the packages in {INSTALL_S} s"
    if done.returncode:
        first = next(iter(done.stderr.splitlines()), "").removeprefix("npm error ")
        return f"npm could not install the packages ({first})"
    (cache / "done").touch()
    return ""


def _anvil(modules: Path) -> Path | None:
    """The program for this machine; none for one that it is not made for."""
    chips = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
    chip = chips.get(platform.machine(), "")
    found = modules / f"@foundry-rs/anvil-{platform.system().lower()}-{chip}/bin/anvil"
    return found if found.exists() else None


def _code(path: Path, field: str) -> bytes:
    return bytes.fromhex(json.loads(path.read_text())[field][2:])
