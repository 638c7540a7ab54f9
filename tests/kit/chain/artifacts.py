"""The real node and the real contracts, from npm where it is there; kept outside of the tree."""

import fcntl
import json
import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

PACKAGES = ("@foundry-rs/anvil@1.7.1", "@gnosis.pm/conditional-tokens-contracts@1.0.3")
INSTALL_S = 90
FOLDER = "service-tui-tests/npm-1"


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
        problem = "" if (cache / "done").exists() else _installed(npm, cache)
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


def _installed(npm: str, cache: Path) -> str:
    """Why the packages could not be installed; empty where they are."""
    words = [npm, "install", "--prefix", str(cache), "--ignore-scripts", "--no-audit", "--no-fund"]
    try:
        done = subprocess.run(
            [*words, *PACKAGES], check=False, capture_output=True, text=True, timeout=INSTALL_S
        )
    except subprocess.TimeoutExpired:
        return f"npm did not install the packages in {INSTALL_S} s"
    if done.returncode:
        return f"npm could not install the packages: {done.stderr.strip()[-200:]}"
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
