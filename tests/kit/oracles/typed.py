"""EIP-712 by hand, structs in structs as well: what the product is compared with."""

import re
from dataclasses import dataclass
from typing import Final, TypeAlias

from kit.oracles.calls import WORD, address_word, bytes32_word, uint_word
from service_tui.addresses import keccak256
from service_tui.signing.errors import MalformedError

_UINT: Final = re.compile(r"uint([1-9][0-9]{0,2})\Z")

Value: TypeAlias = "int | str | bytes | bool | Struct"


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message: its type, its name, its value."""

    kind: str
    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class Struct:
    """A message: the name of its type, and its fields in their order."""

    name: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """For whom a signature is good. What is None is left out of the domain."""

    name: str
    version: str
    chain_id: int
    verifying_contract: str | None = None

    def struct(self) -> Struct:
        """The domain as a message of its own."""
        contract = self.verifying_contract
        return Struct(
            "EIP712Domain",
            (
                Field("string", "name", self.name),
                Field("string", "version", self.version),
                Field("uint256", "chainId", self.chain_id),
                *((Field("address", "verifyingContract", contract),) if contract else ()),
            ),
        )


@dataclass(frozen=True, slots=True)
class TypedData:
    """A message under its domain."""

    domain: Domain
    message: Struct

    def digest(self) -> bytes:
        """What is signed: 32 bytes. Source: EIP-712.

        Returns:
            The hash of domain and message.

        Raises:
            MalformedError: a value that its type cannot hold.
        """
        return keccak256(
            b"\x19\x01" + hash_struct(self.domain.struct()) + hash_struct(self.message)
        )


def hash_struct(struct: Struct) -> bytes:
    """The hash of a message without its domain.

    Returns:
        32 bytes.

    Raises:
        MalformedError: a value that its type cannot hold.
    """
    words = b"".join(_word(part) for part in struct.fields)
    return keccak256(keccak256(type_text(struct).encode()) + words)


def type_text(struct: Struct) -> str:
    """The type as it is hashed: its own fields first, then the types that it uses, by name."""
    used: dict[str, Struct] = {}
    _collect(struct, used)
    used.pop(struct.name)
    return "".join(map(_type_line, [struct, *(used[name] for name in sorted(used))]))


def _collect(struct: Struct, used: dict[str, Struct]) -> None:
    used[struct.name] = struct
    for part in struct.fields:
        if isinstance(part.value, Struct):
            _collect(part.value, used)


def _type_line(struct: Struct) -> str:
    return f"{struct.name}({','.join(f'{part.kind} {part.name}' for part in struct.fields)})"


def _word(part: Field) -> bytes:
    """The 32 bytes of a field."""
    if isinstance(part.value, Struct):
        if part.kind != part.value.name:
            raise MalformedError(f"{part.name} is no {part.kind}")
        return hash_struct(part.value)
    match part.kind, part.value:
        case ("string", str()) | ("bytes", bytes()):
            text = part.value
            return keccak256(text.encode() if isinstance(text, str) else text)
        case "bytes32", bytes(data):
            return bytes32_word(data)
        case "address", str(address):
            return address_word(address)
        case _:
            return _number_word(part.kind, part.name, part.value)


def _number_word(kind: str, name: str, value: str | bytes | int) -> bytes:
    if kind == "bool" and isinstance(value, bool):
        return uint_word(int(value))
    found = _UINT.match(kind)
    bits = int(found[1]) if found else 0
    if not 0 < bits <= WORD * 8 or bits % 8 or not isinstance(value, int):
        raise MalformedError(f"{name} is no {kind}")
    if isinstance(value, bool) or not 0 <= value < 1 << bits:
        raise MalformedError(f"{name} does not fit {kind}")
    return uint_word(value)
