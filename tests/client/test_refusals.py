"""What a refusal means, how long it asks to wait, and how far its words go."""

import math
from typing import Any

import httpx
import pytest

from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.errors import Called, OutcomeUnknownError, RefusedError
from service_tui.client.refusals import RawAnswer, error_of, reason_of
from service_tui.client.retry import WAIT_MAX_S, clamp_wait, http_date
from service_tui.client.stream import Frames
from service_tui.units import Timestamp
from service_tui.wire.text import harmless, line

AT = Timestamp(1_800_000_000.0)
READ, WRITE = Called("GET", "/api/x"), Called("POST", "/api/x")


def answer(status: int, **headers: str) -> RawAnswer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return RawAnswer(status, httpx.Headers(named), b"{}", AT, 0.1)


def test_a_wait_until_a_date_is_relative_to_the_services_own_clock() -> None:
    date, until = "Fri, 15 Jan 2027 07:00:00 GMT", "Fri, 15 Jan 2027 07:00:20 GMT"
    assert answer(429, date=date, retry_after=until).retry_after_s == 20.0
    assert answer(429, retry_after=until).retry_after_s == 1.0


@pytest.mark.parametrize(("called", "kind"), [(READ, RefusedError), (WRITE, OutcomeUnknownError)])
def test_a_408_leaves_the_outcome_of_a_write_open(called: Called, kind: Any) -> None:
    assert type(error_of(answer(408), called)) is kind


@pytest.mark.parametrize(
    "body",
    [
        '{"code": "NO_CASH"}',
        '{"error_code": "NO_CASH"}',
        '{"detail": {"code": "NO_CASH"}}',
        '{"error": "NO_CASH"}',
    ],
)
def test_a_code_is_found_in_any_of_its_places(body: str) -> None:
    assert reason_of(400, body.encode()).code == "NO_CASH"


@pytest.mark.parametrize(
    ("asked", "waited"), [(math.nan, WAIT_MAX_S), (math.inf, WAIT_MAX_S), (0.0, 1.0), (7.0, 7.0)]
)
def test_a_wait_that_is_no_number_is_the_longest(asked: float, waited: float) -> None:
    assert clamp_wait(asked) == waited


def test_a_date_without_a_zone_is_taken_as_utc() -> None:
    # A zone of -0000 names none.
    assert http_date("Fri, 15 Jan 2027 07:00:00 -0000") == http_date(
        "Fri, 15 Jan 2027 07:00:00 GMT"
    )
    assert http_date("Fri, 15 Jan 99999999999999999999 07:00:00 GMT") is None


def test_of_an_events_data_only_the_first_blank_is_no_part() -> None:
    assert Frames().feed(b"data:  two \n\n") == [b" two "]


def test_a_key_as_the_name_of_a_field_is_masked() -> None:
    api_keys = ApiKeys(ApiKey("sk_live_abcdef", "https://a.example"))
    raw = '{"sk_live\\u005fabcdef": 1, "é": 2}'.encode()
    assert b"abcdef" not in api_keys.masked(raw)


def test_a_cut_text_ends_in_a_word_and_an_empty_one_stays_empty() -> None:
    assert line("abc def", 5) == "abc…"
    assert harmless("") == ""
