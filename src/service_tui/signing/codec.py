"""Call data of contracts, written and read by web3: one form only, both ways.

Heavy: imports web3. A caller on an event loop has it loaded in a thread first.
"""

from collections.abc import Sequence
from typing import Final, cast

from eth_abi.abi import encode as abi_encoded
from eth_utils.abi import function_signature_to_4byte_selector
from web3 import Web3
from web3.providers import BaseProvider

from service_tui.addresses import checksummed
from service_tui.signing import keep_recursion_limit
from service_tui.signing.abi import ABI, SIGNATURES
from service_tui.signing.errors import MalformedError, UnknownCallError

keep_recursion_limit()

SELECTOR_BYTES: Final = 4
LIST_MAX: Final = 256
"""Outcomes that a condition can have. Source: conditional tokens, `prepareCondition`."""

WORD: Final = 32
DATA_MAX: Final = SELECTOR_BYTES + (5 + LIST_MAX) * WORD
"""Bytes of the longest call that is known here: four words, a list's length and its entries."""

# A provider that answers nothing: encoding sends no request.
_KNOWN: Final = Web3(BaseProvider()).eth.contract(abi=[*ABI])
_SIGNATURES: Final = {function_signature_to_4byte_selector(name): name for name in SIGNATURES}


def encode(signature: str, *arguments: object) -> bytes:
    """The call data of a function.

    Args:
        signature: name and types, like `balanceOf(address,uint256)`, so that overloads stay apart.
        arguments: addresses as text, numbers as int, ids as bytes.

    Returns:
        Selector and arguments.

    Raises:
        MalformedError: an argument that its type cannot hold.
    """
    try:
        # Every text in these functions is an address; the library takes none without checksum.
        given = [checksummed(one) if isinstance(one, str) else one for one in arguments]
        return bytes.fromhex(_KNOWN.encode_abi(signature, args=given)[2:])
    except Exception as error:
        raise MalformedError(f"the arguments do not fit {signature}") from error


def decode(data: bytes) -> tuple[str, tuple[object, ...]]:
    """Call of the data, if it is the canonical encoding.

    Returns:
        The function's signature and its arguments; encoded again they give the same bytes.

    Raises:
        UnknownCallError: no function that is known here.
        MalformedError: arguments cut off, out of range, with bytes behind them, or in another form.
    """
    signature = _SIGNATURES.get(data[:SELECTOR_BYTES])
    if signature is None:
        named = data[:SELECTOR_BYTES].hex()
        raise UnknownCallError(f"the call names the function 0x{named}, which is unknown")
    if len(data) > DATA_MAX:
        raise MalformedError(f"a list has more than {LIST_MAX} entries")
    try:
        _, named_arguments = _KNOWN.decode_function_input(data)
    except Exception as error:
        # The bytes come from outside: whatever the library raises, they are no such call.
        raise MalformedError("the arguments are cut off or of another form") from error
    # A list becomes a tuple, so that callers can compare and hash it.
    arguments = tuple(
        tuple(cast("list[object]", one)) if isinstance(one, list) else one
        for one in named_arguments.values()
    )
    # The bound of the bytes is that of the longest call: a shorter one has room for more entries.
    if any(isinstance(one, tuple) and len(one) > LIST_MAX for one in arguments):  # pyright: ignore[reportUnknownArgumentType]
        raise MalformedError(f"a list has more than {LIST_MAX} entries")
    # The library also reads other forms of the same arguments; this line refuses them.
    if encode(signature, *arguments) != data:
        raise MalformedError("the arguments are not written in the one form that is signed")
    return signature, arguments


def encode_answer(signature: str, value: object) -> bytes:
    """Encoded answer of a contract read, of the type in its ABI."""
    return encode_values([SIGNATURES[signature]], [value])


def encode_values(kinds: Sequence[str], values: Sequence[object]) -> bytes:
    """Values without a function, as a contract's answer or an event's data holds them."""
    return abi_encoded(kinds, values)
