"""Typed data: the digest of a message with named fields, under a domain."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from service_tui.addresses import is_address
from service_tui.signing import keep_recursion_limit
from service_tui.signing.errors import MalformedError

if TYPE_CHECKING:
    from eth_account.messages import SignableMessage

_UINT: Final = re.compile(r"uint([1-9][0-9]{0,2})\Z")
_WORD: Final = 32

Value: TypeAlias = int | str | bytes | bool


@dataclass(frozen=True, slots=True)
class TypedField:
    """One field of a message: its type, its name, its value."""

    kind: str
    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class Struct:
    """A message: the name of its type, and its fields in their order."""

    name: str
    fields: tuple[TypedField, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """For whom a signature is good. A contract of None is left out of the domain."""

    name: str
    version: str
    chain_id: int
    verifying_contract: str | None = None


@dataclass(frozen=True, slots=True)
class TypedData:
    """A message under its domain."""

    domain: Domain
    message: Struct

    def digest(self) -> bytes:
        """Digest to sign: 32 bytes. Source: EIP-712.

        Returns:
            The hash of domain and message.

        Raises:
            MalformedError: a value that its type cannot hold.
        """
        from eth_account.messages import encode_typed_data  # noqa: PLC0415

        keep_recursion_limit()
        for field in self.message.fields:
            _check(field)
        domain = self.domain
        known = {"name": domain.name, "version": domain.version, "chainId": domain.chain_id}
        if domain.verifying_contract:
            known["verifyingContract"] = domain.verifying_contract
        fields = self.message.fields
        return digest_of_message(
            encode_typed_data(
                domain_data=known,
                message_types={
                    self.message.name: [{"name": one.name, "type": one.kind} for one in fields]
                },
                message_data={one.name: one.value for one in fields},
            )
        )


def digest_of_message(message: "SignableMessage") -> bytes:
    """The 32 bytes that are signed of a message. Source: EIP-191."""
    from eth_utils.crypto import keccak  # noqa: PLC0415

    return keccak(b"\x19" + message.version + message.header + message.body)


def _check(field: TypedField) -> None:
    """Refuse what the library would bend to the type: a number as text, a yes or no as number.

    Raises:
        MalformedError: the value is not of the type, or does not fit it.
    """
    kind, value = field.kind, field.value
    match kind, value:
        case ("string", str()) | ("bytes", bytes()) | ("bool", bool()):
            fits = True
        case "bytes32", bytes():
            fits = len(value) == _WORD
        case "address", str():
            fits = is_address(value)
        case _, int() if not isinstance(value, bool):
            match = _UINT.match(kind)
            bits = int(match[1]) if match else 0
            fits = 0 < bits <= _WORD * 8 and bits % 8 == 0 and 0 <= value < 1 << bits
        case _:
            fits = False
    if not fits:
        raise MalformedError(f"{field.name} does not fit {kind}")
