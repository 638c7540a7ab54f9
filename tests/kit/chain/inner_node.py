"""py-evm behind eth-tester, in this process: an EVM where no other program may be had."""

from collections.abc import Mapping
from typing import Any

from eth_tester import EthereumTester, PyEVMBackend
from eth_tester.backends.pyevm.main import get_default_account_state
from eth_tester.exceptions import TransactionNotFound
from eth_utils.address import to_canonical_address

from kit.chain.nodes import CHAIN_ID, RICH
from service_tui.signing.errors import ChainError

CALL_GAS = 3_000_000
SEND_GAS = 6_000_000


class InnerNode:
    """One chain in memory; what it refuses is a ChainError, as a node's error is."""

    name = "py-evm"

    def __init__(self, code: Mapping[str, bytes], funded: list[str]) -> None:
        plain = get_default_account_state(overrides={"balance": RICH})
        keys = PyEVMBackend().account_keys
        genesis = {key.public_key.to_canonical_address(): plain for key in keys[:3]}
        genesis |= {to_canonical_address(address): plain for address in funded}
        genesis |= {
            to_canonical_address(address): {**plain, "code": runtime, "balance": 0}
            for address, runtime in code.items()
        }
        backend = PyEVMBackend(genesis_state=genesis)
        type(backend.chain).chain_id = CHAIN_ID
        self._backend = backend
        self._tester = EthereumTester(backend)
        self._unlocked = keys[0].public_key.to_checksum_address()
        self._methods = {
            "eth_chainId": lambda: hex(CHAIN_ID),
            "eth_blockNumber": lambda: hex(self._block("latest")["number"]),
            "eth_gasPrice": lambda: hex(self._block("pending")["base_fee_per_gas"] + 10**9),
            "eth_getBalance": lambda address, _: hex(self._tester.get_balance(address)),
            "eth_getTransactionCount": lambda address, _: hex(self._tester.get_nonce(address)),
            "eth_getStorageAt": lambda address, slot, _: self._tester.get_storage_at(address, slot),
            "eth_getCode": lambda address, _: self._tester.get_code(address),
            "eth_accounts": lambda: [self._unlocked],
            "eth_call": lambda wanted, _: self._call(wanted),
            "eth_estimateGas": lambda wanted: hex(self._tester.estimate_gas(wanted)),
            "eth_sendTransaction": self._send,
            "eth_sendRawTransaction": self._tester.send_raw_transaction,
            "eth_getTransactionReceipt": self._receipt,
        }

    def ask(self, method: str, parameters: list[Any]) -> Any:
        try:
            return self._methods[method](*parameters)
        except Exception as error:
            if type(error).__module__.partition(".")[0] in {"eth", "eth_tester", "eth_utils"}:
                raise ChainError(str(error)) from error
            raise

    def hold(self, *, is_held: bool) -> None:
        if is_held:
            self._tester.disable_auto_mine_transactions()
        else:
            self._tester.enable_auto_mine_transactions()

    def close(self) -> None:
        """Nothing runs outside of this process."""

    def _block(self, which: str) -> Any:
        return self._tester.get_block_by_number(which)

    def _call(self, wanted: dict[str, str]) -> str:
        return self._tester.call({"from": self._unlocked, "gas": CALL_GAS, **wanted})

    def _send(self, wanted: dict[str, str]) -> str:
        return self._tester.send_transaction({**wanted, "gas": SEND_GAS})

    def _receipt(self, tx_hash: str) -> dict[str, Any] | None:
        try:
            found = self._tester.get_transaction_receipt(tx_hash)
        except TransactionNotFound:
            return None
        if found["block_number"] is None:
            return None
        return {
            "transactionHash": found["transaction_hash"],
            "status": hex(found["status"]),
            "blockNumber": hex(found["block_number"]),
            "gasUsed": hex(found["gas_used"]),
            "effectiveGasPrice": hex(found["effective_gas_price"]),
            "contractAddress": found["contract_address"],
        }
