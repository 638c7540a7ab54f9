"""Contract calls that may be signed, decoded from bytes and encoded again."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from service_tui.signing.errors import UnknownCallError

UINT_MAX: Final = 2**256 - 1
ZERO_32: Final = bytes(32)


@dataclass(frozen=True, slots=True)
class RedeemPositions:
    """Conditional tokens: burn all tokens of a condition, and pay their value."""

    collateral: str
    parent_collection_id: bytes
    condition_id: bytes
    index_sets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RedeemNegRisk:
    """Negative-risk adapter: the same; amounts of YES and NO to burn, in micros."""

    condition_id: bytes
    amounts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Approve:
    """ERC-20 call that allows a spender up to an amount."""

    spender: str
    amount: int


@dataclass(frozen=True, slots=True)
class SetApprovalForAll:
    """ERC-1155: let an operator move every token, or no longer."""

    operator: str
    is_approved: bool


Call: TypeAlias = RedeemPositions | RedeemNegRisk | Approve | SetApprovalForAll

# The arguments of each function stand in the order of its dataclass.
_CALLS: Final[dict[str, Callable[..., Call]]] = {
    "redeemPositions(address,bytes32,bytes32,uint256[])": RedeemPositions,
    "redeemPositions(bytes32,uint256[])": RedeemNegRisk,
    "approve(address,uint256)": Approve,
    "setApprovalForAll(address,bool)": SetApprovalForAll,
}
_SIGNATURES: Final = {kind: signature for signature, kind in _CALLS.items()}


def encode_call(call: Call) -> bytes:
    """The call data of a call.

    Returns:
        Selector and arguments, in the one form that is signed.

    Raises:
        MalformedError: an argument that its type cannot hold.
    """
    from service_tui.signing import codec  # noqa: PLC0415

    arguments = (getattr(call, name) for name in call.__slots__)
    return codec.encode(_SIGNATURES[type(call)], *arguments)


def decode_call(data: bytes) -> Call:
    """Call of the data, if it is the canonical encoding.

    Returns:
        The call; encoded again it gives the same bytes.

    Raises:
        UnknownCallError: no function that may be signed.
        MalformedError: arguments cut off, out of range, with bytes behind them, or in another form.
    """
    from service_tui.signing import codec  # noqa: PLC0415

    signature, arguments = codec.decode(data)
    made = _CALLS.get(signature)
    if made is None:
        raise UnknownCallError(f"{signature} changes nothing, so nobody signs it")
    return made(*arguments)
