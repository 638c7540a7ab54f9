"""The EVMs of these tests behind one JSON-RPC, and the real node among them."""

import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import httpx

from service_tui.signing.errors import ChainError

CHAIN_ID = 137
RICH = 10**24
START_S = 20.0


class Node(Protocol):
    """An EVM of chain 137 with accounts of its own that are unlocked."""

    name: str

    def ask(self, method: str, parameters: list[Any]) -> Any: ...

    def hold(self, *, is_held: bool) -> None: ...

    def close(self) -> None: ...


class AnvilNode:
    """anvil, in a process of its own."""

    name = "anvil"

    def __init__(self, program: Path, code: Mapping[str, bytes], funded: list[str]) -> None:
        self._process = subprocess.Popen(
            [program, "--chain-id", str(CHAIN_ID), "--port", "0", "--accounts", "3"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            self._line = httpx.Client(base_url=f"http://{self._address()}", timeout=10.0)
            for address, runtime in code.items():
                self.ask("anvil_setCode", [address, "0x" + runtime.hex()])
            for address in funded:
                self.ask("anvil_setBalance", [address, hex(RICH)])
        except BaseException:
            self._process.kill()
            raise

    def _address(self) -> str:
        assert self._process.stdout is not None
        until = time.monotonic() + START_S
        for line in self._process.stdout:
            if line.startswith("Listening on "):
                return line.split()[-1]
            assert time.monotonic() < until
        raise AssertionError("the node did not start")

    def ask(self, method: str, parameters: list[Any]) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        answer = self._line.post("/", json=body).json()
        if "error" in answer:
            raise ChainError(answer["error"]["message"])
        return answer["result"]

    def hold(self, *, is_held: bool) -> None:
        self.ask("evm_setAutomine", [not is_held])
        if not is_held:
            self.ask("evm_mine", [])

    def close(self) -> None:
        self._line.close()
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
