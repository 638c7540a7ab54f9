"""py-evm behind web3's own provider for tests: an EVM where no other program may be had."""

from collections.abc import Mapping
from typing import Any

from eth_tester import EthereumTester, PyEVMBackend
from eth_tester.backends.pyevm.main import get_default_account_state
from eth_utils.address import to_canonical_address
from web3 import EthereumTesterProvider, Web3
from web3.providers.eth_tester.defaults import API_ENDPOINTS

from kit.chain.nodes import CHAIN_ID, RICH
from service_tui.signing.errors import ChainError

LIBRARIES = {"eth", "eth_tester", "eth_utils", "web3"}
# The provider names a chain of its own, whatever its backend is.
ENDPOINTS = {**API_ENDPOINTS, "eth": {**API_ENDPOINTS["eth"], "chainId": lambda *_: CHAIN_ID}}


class InnerNode:
    """One chain in memory; what it refuses is a ChainError, as a node's error is."""

    name = "py-evm"

    def __init__(self, code: Mapping[str, bytes], funded: list[str]) -> None:
        plain = get_default_account_state(overrides={"balance": RICH})
        keys = PyEVMBackend().account_keys[:3]
        genesis = {key.public_key.to_canonical_address(): plain for key in keys}
        genesis |= {to_canonical_address(address): plain for address in funded}
        genesis |= {
            to_canonical_address(address): {**plain, "code": runtime, "balance": 0}
            for address, runtime in code.items()
        }
        backend = PyEVMBackend(genesis_state=genesis)
        type(backend.chain).chain_id = CHAIN_ID
        self._tester = EthereumTester(backend)
        web = Web3(EthereumTesterProvider(self._tester, ENDPOINTS), middleware=[])
        self._ask = web.provider.request_func(web, web.middleware_onion)

    def ask(self, method: str, parameters: list[Any]) -> Any:
        try:
            answer = self._ask(method, parameters)
        except Exception as error:
            if type(error).__module__.partition(".")[0] in LIBRARIES:
                raise ChainError(str(error)) from error
            raise
        if "error" in answer:
            raise ChainError(answer["error"]["message"])
        return on_the_wire(answer["result"])

    def stop(self, *, is_stopped: bool) -> None:
        if is_stopped:
            self._tester.disable_auto_mine_transactions()
        else:
            self._tester.enable_auto_mine_transactions()

    def close(self) -> None:
        """Nothing runs outside of this process."""


def on_the_wire(found: Any) -> Any:
    """What the library answers, as a node writes it: its numbers and bytes in hex."""
    match found:
        case Mapping():
            return {name: on_the_wire(one) for name, one in found.items()}
        case list() | tuple():
            return [on_the_wire(one) for one in found]
        case bytes():
            return "0x" + found.hex()
        case int() if not isinstance(found, bool):
            return hex(found)
        case _:
            return found
