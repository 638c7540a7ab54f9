"""Answers as they are read: what is left out, what is refused, and whose clock is ahead."""

from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from service_tui.client import reply
from service_tui.client.api_keys import (
    MASK,
    ApiKey,
    ApiKeys,
    RefusedApiKeys,
    origin,
    service_address,
)
from service_tui.client.client import _event_of
from service_tui.client.errors import Called, MalformedError, RefusalReason, UnreachableError
from service_tui.client.http_request import called_of, pairs_of, request_of
from service_tui.client.reply import (
    SAME_LEAST,
    SAME_MOST,
    NotProtocolError,
    Reply,
    SameAnswers,
    decode,
)
from service_tui.client.stream import EVENT_MAX, LINE_MAX, Frames, line_error
from service_tui.units import Timestamp
from service_tui.wire.base import LenientModel
from service_tui.wire.endpoints.fleet import DESK_SET_LEASH
from service_tui.wire.endpoints.public import AGENT
from service_tui.wire.errors import ErrorBody

CALLED = Called("GET", "/x")


class Row(LenientModel):
    """A row of a list."""

    name: str
    size: int = 4
    code: int | str = 9


class Page(LenientModel):
    """An answer with rows, and with rows in a part of it."""

    total: int
    note: str = "none"
    rows: tuple[Row, ...] = ()
    part: "Part | None" = None


class Part(LenientModel):
    """A part with rows of its own."""

    rows: tuple[Row, ...] = ()
    limit: int = 7


Page.model_rebuild()


@pytest.mark.parametrize(
    ("text", "page", "dropped"),
    [
        ('{"total": 1}', Page(total=1), 0),
        ('{"total": 1, "note": null}', Page(total=1), 0),
        ('{"total": 1, "part": {"limit": null}}', Page(total=1, part=Part()), 0),
        ('{"total": 1, "rows": [{"name": "a"}, {"name": 7}]}',
         Page(total=1, rows=(Row(name="a"),)), 1),
        ('{"total": 1, "rows": [{"name": "a", "size": null}]}',
         Page(total=1, rows=(Row(name="a"),)), 0),
        # Of a value that may be of two kinds each kind is a fault below the null itself.
        ('{"total": 1, "rows": [{"name": "a"}, {"name": "b", "size": null, "code": null}]}',
         Page(total=1, rows=(Row(name="a"), Row(name="b"))), 0),
        ('{"total": 1, "rows": [{}, {"name": "a"}, {"size": "x", "name": 3}]}',
         Page(total=1, rows=(Row(name="a"),)), 2),
        ('{"total": 1, "part": {"rows": [7, {"name": "a"}]}}',
         Page(total=1, part=Part(rows=(Row(name="a"),))), 1),
    ],
)  # fmt: skip
def test_bad_rows_and_nulls_are_left_out_and_the_others_remain(
    text: str, page: Page, dropped: int
) -> None:
    assert decode(Page, text.encode()) == (page, dropped)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1]", "the answer is not a JSON object"),
        ("nonsense", "the answer is not a JSON object"),
        ("{}", "total is missing or invalid"),
        ('{"total": null}', "total is missing or invalid"),
        ('{"total": "x", "rows": [{}]}', "total is missing or invalid"),
        ('{"total": 1, "part": {"limit": "x"}}', r"part\.limit is missing or invalid"),
        ('{"total": 1, "rows": {"0": {}}}', "rows is missing or invalid"),
    ],
)
def test_an_answer_of_another_shape_names_the_place_alone(text: str, words: str) -> None:
    with pytest.raises(NotProtocolError, match=words):
        decode(Page, text.encode())


def test_an_answer_with_too_many_values_or_faults_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bad = b'{"total": 1, "rows": [{}, {}, {}]}'
    monkeypatch.setattr(reply, "FAULTS_MAX", 3)
    assert decode(Page, bad) == (Page(total=1), 3)

    monkeypatch.setattr(reply, "FAULTS_MAX", 2)
    with pytest.raises(NotProtocolError, match="the answer has 3 faults"):
        decode(Page, bad)

    monkeypatch.setattr(reply, "OBJECTS_MAX", 3)
    with pytest.raises(NotProtocolError, match="holds too many values"):
        decode(Page, bad)


@pytest.mark.parametrize(
    ("at", "latency_s", "date", "skew"),
    [
        (100.0, 0.5, None, None),
        (100.0, 0.5, 90.0, 8.5),
        (100.0, 0.5, 99.0, 0.0),
        (100.0, 0.5, 100.0, 0.0),
        (100.0, 0.5, 98.0, 0.5),
        (100.0, 0.5, 103.0, -3.0),
    ],
)
def test_a_clock_is_ahead_by_what_latency_does_not_explain(
    at: float, latency_s: float, date: float | None, skew: float | None
) -> None:
    server_date = None if date is None else Timestamp(date)

    assert Reply(Row(name="a"), 0, latency_s, Timestamp(at), server_date).skew_s == skew


def test_an_unchanged_answer_is_the_same_object_while_it_is_kept() -> None:
    same = SameAnswers()

    def answer(number: int, size: int = SAME_LEAST) -> Any:
        text = f'{{"total": {number}, "note": "'
        return same.decode(Page, (text + "x" * (size - len(text) - 2) + '"}').encode())[0]

    first = answer(0)
    assert answer(0) is first
    small = answer(0, SAME_LEAST - 1)
    assert answer(0, SAME_LEAST - 1) is not small

    for number in range(1, SAME_MOST):
        answer(number)
    assert answer(0) is first
    answer(SAME_MOST)
    assert answer(0) is first
    second = answer(1)
    assert answer(1) is second


# -- streams --------------------------------------------------------------------------------


def test_an_event_is_taken_up_to_its_bound_and_no_further() -> None:
    frames = Frames()
    half = b"data:" + b"x" * (EVENT_MAX // 2) + b"\n"
    rest = b"data:" + b"x" * (EVENT_MAX - EVENT_MAX // 2) + b"\n"

    for _ in range(2):
        (data,) = frames.feed(half + rest + b"\n")
        assert len(data) == EVENT_MAX + 1

    with pytest.raises(NotProtocolError, match="an event of the stream does not end"):
        frames.feed(half + rest + b"data:x\n")


def test_an_event_that_cannot_be_believed_costs_only_itself() -> None:
    endpoint: Any = SimpleNamespace(answers=Page)
    assert _event_of(endpoint, '{"total": 1, "note": "é"}'.encode()) == Page(total=1, note="é")
    assert _event_of(endpoint, b"{}") is None


@pytest.mark.parametrize(
    ("written", "address"),
    [
        (" https://api.example// ", "https://api.example"),
        ("https://api.example:65535/v/", "https://api.example:65535/v"),
        ("http://localhost//", "http://localhost"),
    ],
)
def test_an_address_ends_without_slashes(written: str, address: str) -> None:
    assert str(service_address(written, may_be_plain=False)) == address


def test_a_line_is_taken_up_to_its_bound_and_no_further() -> None:
    frames = Frames()
    assert frames.feed(b":" + b"x" * (LINE_MAX - 1)) == []

    with pytest.raises(NotProtocolError, match="a line of the stream does not end"):
        frames.feed(b"x")


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (httpx.ConnectError("refused"), UnreachableError, "cannot be reached: refused"),
        (httpx.ConnectError(""), UnreachableError, "cannot be reached: ConnectError"),
        (httpx.ReadError("reset"), Exception, "reset"),
        (httpx.ReadError(""), Exception, "ReadError"),
    ],
)
def test_why_a_stream_broke_is_said(
    error: httpx.TransportError, kind: type[Exception], words: str
) -> None:
    told = line_error(error, CALLED)

    assert isinstance(told, kind)
    assert words in str(told)


# -- keys and requests ----------------------------------------------------------------------

SECRET = "sk_live_0123456789abcdef"  # noqa: S105 - opens nothing
KEY = ApiKey(SECRET, "http://127.0.0.1")
REASON = RefusalReason("this key is not known")


@pytest.mark.parametrize(
    ("raw", "masked"),
    [
        (b'{"a": "b"}', b'{"a": "b"}'),
        (f'{{"a": "{SECRET}"}}'.encode(), f'{{"a": "{MASK}"}}'.encode()),
        (f'{{"a": "x\\/y", "b": "é{SECRET}"}}'.encode(),
         f'{{"a": "x\\/y", "b": "é{MASK}"}}'.encode()),
        (b'{"a": "\\u0073' + SECRET[1:].encode() + '", "b": "é"}'.encode(),
         f'{{"a": "{MASK}", "b": "é"}}'.encode()),
        (b'{"a": "s\\tk"}', b'{"a": "s\\tk"}'),
    ],
)  # fmt: skip
def test_a_key_that_is_echoed_is_masked_wherever_it_hides(raw: bytes, masked: bytes) -> None:
    assert ApiKeys(KEY).masked(raw) == masked
    assert ApiKeys(operator=KEY).masked(raw) == masked
    assert ApiKeys().masked(raw) == raw


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://a.example/x", ("https", "a.example", 443)),
        ("http://a.example", ("http", "a.example", 80)),
        ("https://a.example:8443", ("https", "a.example", 8443)),
        ("http://a.example:80/", ("http", "a.example", 80)),
    ],
)
def test_an_origin_has_its_port_also_where_that_is_not_written(
    url: str, found: tuple[str, str, int]
) -> None:
    assert origin(httpx.URL(url)) == found


def test_a_key_that_is_refused_on_a_path_rests_there_alone() -> None:
    refused = RefusedApiKeys()
    refused.refuse(KEY, "/trade", REASON, 100.0)

    assert refused.why(KEY, "/trade", 159.9) == (REASON, False)
    assert refused.why(KEY, "/other", 101.0) is None
    assert refused.is_revoked(KEY) is False
    assert refused.why(KEY, "/trade", 160.0, sends=False) is None
    assert refused.why(KEY, "/trade", 160.0) is None
    assert refused.why(KEY, "/trade", 219.9) == (REASON, False)
    refused.answered(KEY, "/trade")
    assert refused.why(KEY, "/trade", 161.0) is None


def test_a_key_that_is_refused_is_tried_once_a_minute_also_after_an_hour_without_calls() -> None:
    refused = RefusedApiKeys()
    refused.refuse(KEY, "/trade", REASON, 100.0)

    assert refused.why(KEY, "/trade", 3_700.0) is None
    assert refused.why(KEY, "/trade", 3_759.9) == (REASON, False)
    assert refused.why(KEY, "/trade", 3_760.0) is None


def test_a_key_that_is_refused_wholly_is_tried_where_it_says_who_it_is() -> None:
    refused = RefusedApiKeys()
    refused.refuse(KEY, AGENT.path, REASON, 100.0)

    assert refused.is_revoked(KEY)
    assert refused.why(KEY, "/trade", 900.0) == (REASON, True)
    assert refused.why(KEY, AGENT.path, 159.9) == (REASON, True)
    assert refused.why(KEY, AGENT.path, 160.0) is None
    refused.answered(KEY, AGENT.path)
    assert refused.is_revoked(KEY) is False
    assert refused.why(KEY, "/trade", 161.0) is None


def test_all_keys_may_be_tried_again_at_once_or_be_forgotten() -> None:
    refused = RefusedApiKeys()
    refused.refuse(KEY, "/trade", REASON, 100.0)
    refused.try_again()
    assert refused.why(KEY, "/trade", 0.0) is None
    assert refused.why(KEY, "/trade", 59.9) == (REASON, False)

    refused.clear()
    assert refused.why(KEY, "/trade", 59.9) is None


def test_what_is_no_id_is_named_with_its_call_and_not_sent() -> None:
    with pytest.raises(MalformedError, match=r"agent_id 'a/b' is no id; nothing was sent") as error:
        called_of(DESK_SET_LEASH, {"agent_id": "a/b"})

    assert error.value.called == Called(DESK_SET_LEASH.method, DESK_SET_LEASH.path)
    made = called_of(DESK_SET_LEASH, {"agent_id": "ada"})
    assert made.method == DESK_SET_LEASH.method
    assert "ada" in made.path
    assert "{" not in made.path


def test_a_body_that_the_endpoint_does_not_take_is_refused() -> None:
    body = ErrorBody(error="x")

    with pytest.raises(ValueError, match="does not take a ErrorBody"):
        request_of(httpx.URL("http://h"), DESK_SET_LEASH, CALLED, body=body)
    with pytest.raises(ValueError, match="does not take a ErrorBody"):
        request_of(httpx.URL("http://h"), DESK_SET_LEASH, CALLED, query=body)
    with pytest.raises(ValueError, match="the idempotency key is no id"):
        request_of(httpx.URL("http://h"), DESK_SET_LEASH, CALLED, idempotency_key="a b")


def test_what_is_none_is_left_out_of_a_query() -> None:
    assert pairs_of(Page(total=1, note="é")) == [("total", "1"), ("note", "é"), ("rows", "")]
