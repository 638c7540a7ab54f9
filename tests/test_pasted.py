"""What people paste is read as what they meant, and nothing else is."""

import pytest

from service_tui.pasted import WebPlace, api_key, ticker, wallet, web_place

PAGE = WebPlace("evm-venue.example", "will-it-rain-3-5")
ADDRESS = "https://evm-venue.example/event/will-it-rain-3-5"


@pytest.mark.parametrize(
    "text",
    [
        ADDRESS,
        "http://evm-venue.example/event/will-it-rain-3-5/",
        "evm-venue.example/event/will-it-rain-3-5",
        "//evm-venue.example/event/will-it-rain-3-5",
        "www.evm-venue.example/event/will-it-rain-3-5",
        "https://m.evm-venue.example/event/will-it-rain-3-5",
        "HTTPS://EVM-VENUE.EXAMPLE/EVENT/WILL-IT-RAIN-3-5",
        f"<{ADDRESS}>",
        f"({ADDRESS}).",
        f"{ADDRESS}).",
        f"{ADDRESS}).?utm=1",
        f"{ADDRESS}%20",
        f"{ADDRESS}\u200b",
        f"{ADDRESS}%E2%80%8B",
        f"\ufeff{ADDRESS}\r\n",
        f"\u201c{ADDRESS}\u201d,",
        f"`{ADDRESS}`",
        f"[rain]({ADDRESS})",
        f"{ADDRESS}?tid=5#top",
        "https://evm-venue.example.:443/event/will-it-rain-3-5",
        "https://evm-venue.example/event/rain-e3-5/will-it-rain-3-5",
    ],
)
def test_an_address_with_its_surroundings_names_one_page(text: str) -> None:
    place = web_place(text)
    assert place is not None
    assert place._replace(name=place.name.lower()) == PAGE


@pytest.mark.parametrize(
    "text",
    [
        "", "javascript:alert(1)", "file:///etc/passwd", "ftp://evm-venue.example/event/x-1-2",
        "https://[::1/event/x", "will it rain", "WEATHER-3-5", "data:text/html,x", "/event/x-1-2",
        "https://evm-venue.example/event/x 1 https://evm-venue.example/event/x-1-2",
    ],
)  # fmt: skip
def test_what_is_no_address_names_no_page(text: str) -> None:
    assert web_place(text) is None


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("https://evm-venue.example@evil.example/event/x-1-2", "evil.example"),
        ("https://evm-venue.example.evil.example/event/x-1-2", "evm-venue.example.evil.example"),
    ],
)
def test_a_page_of_somebody_else_keeps_its_own_host(text: str, host: str) -> None:
    place = web_place(text)
    assert place is not None
    assert place.host == host


@pytest.mark.parametrize(
    "text",
    [
        "WEATHER-3-5", "weather-3-5", " WEATHER-3-5\n", "'WEATHER-3-5'", "WEATHER-3-5.",
        "WEATHER-3-5%20", "WEATHER-3-5\u200b", "https://sol-venue.example/event/weather-3-5",
    ],
)  # fmt: skip
def test_a_ticker_is_written_in_one_way(text: str) -> None:
    assert ticker(text) == "WEATHER-3-5"


DIGITS = "8ba1f109551bD432803012645Ac136ddd64DBA72"


@pytest.mark.parametrize(
    "text",
    [
        f"0x{DIGITS}", f"0X{DIGITS}", f"  0x{DIGITS}\n", f"0x{DIGITS[:20]} {DIGITS[20:]}",
        f"<0x{DIGITS}>", f"'0x{DIGITS}',", f"0x{DIGITS}\u200b", f"0x{DIGITS}.",
    ],
)  # fmt: skip
def test_a_wallet_is_written_in_one_way(text: str) -> None:
    assert wallet(text) == f"0x{DIGITS}"


KEY = "sk_live_0123456789abcdef"


@pytest.mark.parametrize(
    "text",
    [
        KEY, f" {KEY}\n", f"'{KEY}'", f'"{KEY}"', f"Bearer {KEY}", f"bearer  {KEY}",
        f"Authorization: Bearer {KEY}", f"SERVICE_API_KEY={KEY}", f"export SERVICE_API_KEY={KEY}",
        f'export SERVICE_API_KEY="{KEY}"', f"set SERVICE_API_KEY={KEY}",
        f"$env:SERVICE_API_KEY = '{KEY}'", f"api_key: {KEY}", f"\ufeff{KEY}\r", f"{KEY}\u200b",
        f"'Bearer {KEY}'",
    ],
)  # fmt: skip
def test_a_key_is_taken_out_of_what_it_was_copied_with(text: str) -> None:
    assert api_key(text) == KEY


@pytest.mark.parametrize(
    "text", ["", "op_abc", "sk_live_a b", "monkey_1=2", "sk%20live+/=", "(key)."]
)
def test_what_is_a_key_already_or_never_one_stays(text: str) -> None:
    assert api_key(text) == text
