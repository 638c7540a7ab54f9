"""The EVMs of these tests behind one JSON-RPC, and the real node among them."""

import subprocess
import threading
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

    def stop(self, *, is_stopped: bool) -> None: ...

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
        # What it tells is read to the end, or it would stand still at a full pipe.
        self._reader = threading.Thread(target=self._drain, daemon=True)
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
        """Where it listens; a node that does not say so in time is ended, which ends its output."""
        assert self._process.stdout is not None
        late = threading.Timer(START_S, self._process.kill)
        late.start()
        try:
            for line in self._process.stdout:
                if line.startswith("Listening on "):
                    self._reader.start()
                    return line.split()[-1]
        finally:
            late.cancel()
        raise AssertionError("the node did not start")

    def _drain(self) -> None:
        assert self._process.stdout is not None
        for _ in self._process.stdout:
            continue

    def ask(self, method: str, parameters: list[Any]) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        answer = self._line.post("/", json=body).json()
        if "error" in answer:
            raise ChainError(answer["error"]["message"])
        return answer["result"]

    def stop(self, *, is_stopped: bool) -> None:
        self.ask("evm_setAutomine", [not is_stopped])
        if not is_stopped:
            self.ask("evm_mine", [])

    def close(self) -> None:
        self._line.close()
        self._process.kill()
        self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()
