"""Every method of the client with what no argument can be: one sentence, and nothing is sent."""

import inspect
import math
import socket
import typing
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

import pytest

from service_tui.sdk.arguments import check_argument
from service_tui.sdk.client import ServiceClient

KEY: Final = "sk_live_0123456789abcdef"
HUGE: Final = 10**400
WRONG: Final[Mapping[type, tuple[object, ...]]] = {
    str: (None, 7, True, ["a"], b"a", {"a": 1}, "x" * 1_000_000, "\ud800"),
    float: (None, "1", True, [1.0], b"1", math.nan, math.inf, -math.inf, HUGE, Decimal("nan")),
    int: (None, "1", True, [1], b"1", 1.5, math.nan, HUGE, -HUGE),
    bool: (None, "no", 1, 0, [], b""),
    datetime: ("2027-01-15", 1_800_000_000, b"", []),
    Mapping: ("a", 7, [("a", 1)], b"a"),
}
RIGHT: Final[Mapping[type, object]] = {
    str: "yes", float: 1.0, int: 1, bool: True, datetime: datetime(2027, 1, 15, tzinfo=UTC),
    Mapping: {"a": 1},
}  # fmt: skip
METHODS: Final = {
    name: method
    for name, method in inspect.getmembers(ServiceClient, inspect.isfunction)
    if not name.startswith("_")
}


def kind_of(hint: Any) -> type | None:
    """The first kind of a parameter that has wrong values here."""
    kinds = [typing.get_origin(one) or one for one in typing.get_args(hint) or (hint,)]
    if typing.get_origin(hint) is Mapping:
        return Mapping
    if typing.get_origin(hint) is typing.Literal:
        return str
    return next((kind for kind in kinds if kind in WRONG), None)


def right_of(method: str) -> dict[str, object]:
    """What a method needs, right."""
    function = METHODS[method]
    hints = typing.get_type_hints(function)
    return {
        name: RIGHT[kind]
        for name, one in inspect.signature(function).parameters.items()
        if one.default is inspect.Parameter.empty and name != "self"
        for kind in (kind_of(hints[name]),)
        if kind is not None
    }


def cases() -> list[Any]:
    """A method, and its arguments of which one is wrong."""
    return [
        pytest.param(method, name, right | {name: value}, id=f"{method}-{name}-{repr(value)[:20]}")
        for method, function in METHODS.items()
        for right in (right_of(method),)
        for name, hint in typing.get_type_hints(function).items()
        if name != "return" and (kind := kind_of(hint)) is not None
        for value in WRONG[kind]
        if value is not None or name in right
    ]


@pytest.fixture(scope="module")
def client() -> Iterator[ServiceClient]:
    """A client of an address where whoever calls is noticed: nobody answers there."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with ServiceClient(KEY, f"http://127.0.0.1:{port}") as made:
            yield made


@pytest.mark.parametrize(("method", "name", "given"), cases())
def test_what_no_argument_can_be_is_one_sentence_before_anything_is_sent(
    client: ServiceClient, method: str, name: str, given: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=rf"^{name} ") as refused:
        getattr(client, method)(**given)
    assert type(refused.value) is ValueError
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 200


def test_the_methods_that_take_arguments_are_all_walked() -> None:
    walked = {case.values[0] for case in cases()}
    takes = {
        name for name, method in METHODS.items()
        if len(inspect.signature(method).parameters) > (name != "register")
    }  # fmt: skip
    assert walked == takes
    assert len(METHODS) > 40


SIZES: Final = (
    ("get_markets", {"limit": 0}, "limit: "),
    ("get_markets", {"limit": 10**9}, "limit: "),
    ("get_markets", {"status": "open"}, "status is one of active, closed"),
    ("get_market", {"market_id": " "}, "market_id is empty"),
    ("get_market", {"market_id": "a" * 201}, "market_id has more than 200 letters"),
    ("get_positions", {"venue": "moon"}, "venue is one of sim, "),
    ("get_executable_price", {"market_id": "a", "side": "maybe"}, "side is one of yes, no"),
    (
        "get_executable_price",
        {"market_id": "a", "side": "no", "action": "hold"},
        "action is one of",
    ),
    ("cancel_market_orders", {"market_id": "a", "side": "maybe"}, "side is one of yes, no"),
    ("delete_monitor", {"market_id": "a", "side": ""}, "side is empty"),
    ("set_monitor", {"market_id": "a", "side": "yes", "stop_loss_pct": 7}, "stop_loss_pct"),
    ("trade", {"market_id": "a", "side": "yes", "amount": -1}, "a buy needs amount above 0"),
    ("trade", {"market_id": "a", "side": "perhaps", "amount": 1}, "side: "),
    ("trade", {"market_id": "a", "side": "yes", "amount": 1, "signal_data": {1: 2}}, "signal_data"),
    (
        "trade",
        {"market_id": "a", "side": "yes", "amount": 1, "signal_data": {"a": HUGE}},
        "signal_data.a",
    ),
    ("ensure_can_trade", {"amount": -1}, "amount is not below 0"),
    ("pause", {"seconds": -1}, "seconds is not below 0"),
    ("update_agent", {"name": "x" * 500}, "name: "),
    ("import_market", {"url": "x" * 600}, "polymarket_url: "),
)


@pytest.mark.parametrize(("method", "given", "told"), SIZES)
def test_sizes_and_words_that_no_service_takes_are_one_sentence(
    client: ServiceClient, method: str, given: dict[str, Any], told: str
) -> None:
    with pytest.raises(ValueError, match=f"^{told}") as refused:
        getattr(client, method)(**given)
    assert type(refused.value) is ValueError
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"api_key": 7}, "api_key is a text, not int"),
        ({"base_url": b"http://a"}, "base_url is a text, not bytes"),
        ({"venue": ["sim"]}, "venue is a text, not list"),
        ({"venue": "moon"}, "venue is one of sim"),
        ({"live": "no"}, "live is True or False, not str"),
        ({"names": "other"}, "names is one of"),
        ({"private_key": 7}, "private_key is a text, not int"),
    ],
)
def test_a_client_is_not_opened_with_what_no_argument_can_be(
    given: dict[str, Any], told: str
) -> None:
    with pytest.raises(ValueError, match=f"^{told}"):
        ServiceClient(**({"api_key": KEY, "base_url": "http://127.0.0.1:9"} | given))


@pytest.mark.parametrize("value", [1, 1.5, Decimal("2.5"), 0, -3])
def test_a_number_may_be_of_any_exact_kind(value: object) -> None:
    check_argument("amount", value, float)
