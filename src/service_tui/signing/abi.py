"""The functions of contracts that are called or read here, as plain ABI data.

Imports nothing.
"""

from typing import Final, TypeAlias

Function: TypeAlias = "dict[str, str | list[dict[str, str]]]"

_FUNCTIONS: Final = (
    (
        "redeemPositions",
        "address collateral, bytes32 parentCollectionId, bytes32 conditionId, uint256[] indexSets",
        "",
    ),
    ("redeemPositions", "bytes32 conditionId, uint256[] amounts", ""),
    ("approve", "address spender, uint256 amount", ""),
    ("setApprovalForAll", "address operator, bool approved", ""),
    ("payoutDenominator", "bytes32 conditionId", "uint256"),
    ("payoutNumerators", "bytes32 conditionId, uint256 index", "uint256"),
    (
        "getCollectionId",
        "bytes32 parentCollectionId, bytes32 conditionId, uint256 indexSet",
        "bytes32",
    ),
    ("getPositionId", "address collateralToken, bytes32 collectionId", "uint256"),
    ("wcol", "", "address"),
    ("balanceOf", "address owner, uint256 id", "uint256"),
    ("balanceOf", "address owner", "uint256"),
    ("allowance", "address owner, address spender", "uint256"),
    ("isApprovedForAll", "address owner, address operator", "bool"),
)
"""Name, arguments, and what a read answers; a call that changes something answers nothing here.

Source: conditional-tokens-contracts, the negative-risk adapter, ERC-20 and ERC-1155; wire
reference, 6.5 and 6.6."""


def _arguments(inputs: str) -> list[dict[str, str]]:
    pairs = [text.split(" ") for text in inputs.split(", ") if text]
    return [{"name": name, "type": kind} for kind, name in pairs]


def _signature(name: str, inputs: str) -> str:
    return f"{name}({','.join(one['type'] for one in _arguments(inputs))})"


ABI: Final[tuple[Function, ...]] = tuple(
    {
        "type": "function",
        "name": name,
        "inputs": _arguments(inputs),
        "outputs": [{"name": "", "type": answer}] if answer else [],
        "stateMutability": "view" if answer else "nonpayable",
    }
    for name, inputs, answer in _FUNCTIONS
)

SIGNATURES: Final = {_signature(name, inputs): answer for name, inputs, answer in _FUNCTIONS}
"""The type that each function answers, by its full signature, which keeps overloads apart."""
