"""The signed message that proves control of a wallet, with which the venue issues credentials."""

from dataclasses import dataclass, field
from typing import Final

from service_tui.addresses import checksummed
from service_tui.signing.book import CHAIN_ID
from service_tui.signing.errors import MalformedError, PolicyRefusedError, Rule
from service_tui.signing.signer import Signer, recovered
from service_tui.signing.skew import check_skew
from service_tui.signing.transactions import bytes_of_hex
from service_tui.signing.typed import Domain, Struct, TypedData, TypedField

TEXT: Final = "This message attests that I control the given wallet"
"""Source: wire reference, 6.3."""

_SECONDS_MIN: Final = 10**9
_SECONDS_MAX: Final = 10**10
_NONCE_MAX: Final = 10**20
"""The time has 10 digits, the nonce up to 20. Source: spec, "Derive-credentials request body"."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """The four fields of the request, as the spec writes them."""

    poly_address: str
    poly_signature: str = field(repr=False)
    poly_timestamp: str
    poly_nonce: str


def sign_credentials(
    signer: Signer, *, now_s: int, skew_s: float = 0.0, nonce: int = 0
) -> Credentials:
    """Sign the proof that we control the wallet.

    Args:
        signer: signs with the wallet's key.
        now_s: seconds since 1970, by the corrected clock.
        skew_s: how far our clock is known to be off.
        nonce: 0 unless credentials are made anew.

    Returns:
        The four fields.

    Raises:
        PolicyRefusedError: a time or nonce that the service would not take, or a clock too far off.
        LockedError: the key is locked.
    """
    check_skew(skew_s)
    if not _SECONDS_MIN <= now_s < _SECONDS_MAX:
        raise PolicyRefusedError(Rule.TIME, "the time has not 10 digits")
    if not 0 <= nonce < _NONCE_MAX:
        raise PolicyRefusedError(Rule.NONCE, "the nonce has more than 20 digits")
    signature = signer.sign(_typed(signer.address, now_s, nonce).digest())
    return Credentials(signer.address, "0x" + signature.hex(), str(now_s), str(nonce))


def credentials_signer(credentials: Credentials) -> str:
    """Address that signed the four fields.

    Returns:
        The address, checksummed; the caller compares it with `poly_address` and the account's.

    Raises:
        MalformedError: a field of another form.
    """
    timestamp, nonce = credentials.poly_timestamp, credentials.poly_nonce
    if not (timestamp + nonce).isascii() or not (timestamp + nonce).isdecimal():
        raise MalformedError("time and nonce are decimal digits")
    try:
        address = checksummed(credentials.poly_address)
    except ValueError as error:
        raise MalformedError(str(error)) from error
    typed = _typed(address, int(timestamp), int(nonce))
    return recovered(typed.digest(), bytes_of_hex(credentials.poly_signature))


def _typed(address: str, now_s: int, nonce: int) -> TypedData:
    """Source: wire reference, 6.3."""
    return TypedData(
        Domain(name="ClobAuthDomain", version="1", chain_id=CHAIN_ID),
        Struct(
            "ClobAuth",
            (
                TypedField("address", "address", address),
                TypedField("string", "timestamp", str(now_s)),
                TypedField("uint256", "nonce", nonce),
                TypedField("string", "message", TEXT),
            ),
        ),
    )
