"""EVM addresses and their checksums."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service_tui.addresses import checked_address, checksummed, is_address, keccak256

# Source: EIP-55, "Test Cases".
EIP_55 = (
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
    "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
    "0x52908400098527886E0F7030069857D2E4169EE7",
    "0xde709f2102306220921060314715629080e2fb77",
)


@pytest.mark.parametrize("address", EIP_55)
def test_an_address_gets_its_checksum_however_it_was_spelled(address: str) -> None:
    digits = address[2:]
    for spelled in (digits, digits.lower(), digits.upper()):
        assert checksummed(f"0x{spelled}") == address
        assert checked_address(f"0x{spelled}") == address


@pytest.mark.parametrize(
    ("data", "digest"),
    [
        (b"", "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"),
        (b"abc", "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45"),
    ],
)
def test_the_hash_is_that_of_the_chain(data: bytes, digest: str) -> None:
    assert keccak256(data).hex() == digest


@given(st.binary(max_size=300))
def test_the_hash_has_32_bytes_and_depends_on_every_one(data: bytes) -> None:
    assert len(keccak256(data)) == 32
    assert keccak256(data) != keccak256(data + b"\x00")


@pytest.mark.parametrize(
    "text",
    ["", "0x", "0x" + "1" * 39, "0x" + "1" * 41, "1" * 42, "0x" + "g" * 40],
)
def test_what_has_not_the_form_is_no_address(text: str) -> None:
    assert not is_address(text)
    with pytest.raises(ValueError, match="40 hex digits"):
        checked_address(text)


def test_the_form_has_nothing_around_it() -> None:
    text = "0x" + "1" * 40 + "\n"
    assert not is_address(text)
    with pytest.raises(ValueError, match="40 hex digits"):
        checksummed(text)


@pytest.mark.parametrize("address", EIP_55[:4])
def test_a_mistyped_capital_is_noticed(address: str) -> None:
    wrong = address[:2] + address[2:].swapcase()
    with pytest.raises(ValueError, match="checksum"):
        checked_address(wrong)


def test_a_pasted_address_gets_its_checksum() -> None:
    digits = "8ba1f109551bD432803012645Ac136ddd64DBA72"
    for text in (f" 0x{digits}\n", f"0X{digits}", f"<0x{digits}>,", f"0x{digits[:8]} {digits[8:]}"):
        assert checked_address(text) == f"0x{digits}"
