"""What a refused call is told: its status, what was wrong, and what to do."""

from enum import StrEnum
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, ValidationError

from service_tui.engine.errors import (
    LimitReached,
    MarketNotFound,
    MarketNotOpen,
    NotClaimed,
    Refusal,
)
from service_tui.server.http.refusals import (
    PATH_MAX,
    Denied,
    denied,
    from_refusal,
    invalid,
    invalid_items,
    not_claimed,
    plain,
    scarce,
    throttled,
    unauthenticated,
    wrong_path,
)
from service_tui.wire.errors import ErrorBody

KNOWN = {
    "/api/sdk/markets",
    "/api/sdk/markets/{market_id}",
    "/api/sdk/positions",
    "/api/sdk/positions/expiring",
    "/api/sdk/trade",
    "/api/sdk/trades",
    "/health",
    "/api/sdk/health",
}


def body_of(denial: Denied) -> dict[str, Any]:
    return denial.body.model_dump(exclude_none=True)


def test_a_refusal_says_what_happened_and_what_to_do() -> None:
    denial = denied(409, "taken", "choose another")
    assert (denial.status, denial.headers) == (409, {})
    assert denial.body == ErrorBody(error="taken", detail="taken", fix="choose another")


def test_a_call_without_a_good_key_is_told_how_to_send_one() -> None:
    denial = unauthenticated("no key was sent")
    assert (denial.status, denial.headers) == (401, {"WWW-Authenticate": "Bearer"})
    body = body_of(denial)
    assert body["error"] == "no key was sent"
    assert body["detail"] == "Missing or invalid Authorization header"
    assert "'Authorization: Bearer <API_KEY>'" in body["fix"]


def test_an_agent_that_is_not_claimed_is_shown_the_way() -> None:
    refusal = NotClaimed("nobody claimed it", "claim it")
    denial = not_claimed(refusal, "http://desk/claim/x")
    assert denial.status == 403
    assert body_of(denial) == {
        "error": "nobody claimed it",
        "detail": "nobody claimed it",
        "fix": "claim it",
        "claim_url": "http://desk/claim/x",
    }


def test_what_is_not_for_sale_is_told_without_an_offer() -> None:
    denial = scarce(5, "an hour", 0.2, "http://desk/x")
    assert (denial.status, denial.headers) == (429, {"Retry-After": "1"})
    assert body_of(denial) == {
        "error": "Rate limit exceeded",
        "detail": "5 of these an hour are answered",
        "fix": "wait 1 s and try again",
        "limit": 5,
        "x402_url": "http://desk/x",
    }


@pytest.mark.parametrize(
    ("wait_s", "seconds"), [(0.01, "1"), (1.0, "1"), (1.01, "2"), (59.2, "60")]
)
def test_a_call_above_the_rate_is_told_when_to_come_back_and_what_one_call_costs(
    wait_s: float, seconds: str
) -> None:
    denial = throttled(30, wait_s, "http://desk/x", grows=True)
    assert (denial.status, denial.headers) == (429, {"Retry-After": seconds})
    body = body_of(denial)
    offer = body.pop("accepts")
    assert body == {
        "error": "Rate limit exceeded",
        "detail": "30 calls a minute are included in the plan",
        "fix": f"wait {seconds} s and try again; a larger plan has more calls a minute",
        "limit": 30,
        "x402_url": "http://desk/x",
        "x402_price": "$0.005",
        "x402_version": 1,
    }
    assert [(one["resource"], one["max_amount_required"]) for one in offer] == [
        ("http://desk/x", "5000")
    ]


@pytest.mark.parametrize(
    ("refusal", "status"),
    [
        (MarketNotFound("gone", "look"), 404),
        (NotClaimed("gone", "look"), 403),
        (LimitReached("gone", "look"), 429),
        (MarketNotOpen("gone", "look"), 400),
    ],
)
def test_a_no_of_the_engine_has_the_status_of_its_kind(refusal: Refusal, status: int) -> None:
    denial = from_refusal(refusal)
    assert denial.status == status
    assert denial.body == ErrorBody(error="gone", detail="gone", fix="look")


# -- fields ----------------------------------------------------------------------------------


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Size(StrEnum):
    BIG = "big"


class Leg(BaseModel):
    amount: float


class Asked(BaseModel):
    amount: Annotated[float, Field(gt=0)] = 1.0
    kind: Colour | Size = Colour.RED
    legs: tuple[Leg, ...] = ()
    maybe: int | Leg | None = None


def refused(**given: Any) -> dict[str, Any]:
    try:
        Asked.model_validate(given)
    except ValidationError as error:
        denial = invalid(error, "body")
        assert denial.status == 422
        return body_of(denial)
    raise AssertionError("nothing is wrong with it")


def test_a_wrong_field_is_named_with_its_fault_and_never_with_what_was_sent() -> None:
    assert refused(amount=-1) == {
        "detail": (
            {
                "loc": ("body", "amount"),
                "msg": "Input should be greater than 0",
                "type": "greater_than",
            },
        ),
        "fix": "correct amount: Input should be greater than 0",
    }


def test_a_field_within_a_list_is_named_by_its_place() -> None:
    body = refused(legs=[{"amount": 1}, {"amount": "a lot"}])
    assert [row["loc"] for row in body["detail"]] == [("body", "legs", 1, "amount")]
    assert body["fix"].startswith("correct legs.1.amount: ")


def test_a_field_of_several_choices_names_all_of_them_at_once() -> None:
    (row,) = refused(kind="green")["detail"]
    assert row["loc"] == ("body", "kind")
    assert row["msg"] == "Input should be 'red', 'blue' or 'big'"


def test_the_names_of_types_stand_in_no_place() -> None:
    places = {row["loc"] for row in refused(maybe="x")["detail"]}
    assert places == {("body", "maybe"), ("body", "maybe", "Leg")}


def test_a_body_that_is_wrong_as_a_whole_is_named_so() -> None:
    denial = invalid_items([(("query",), "is no good", "bad"), (("query", "a"), "nor", "bad")])
    body = body_of(denial)
    assert body["fix"] == "correct the query: is no good"
    assert len(body["detail"]) == 2
    assert body_of(invalid_items([]))["fix"] == "correct the body"
    many = [(("body", f"f{n}"), "no", "bad") for n in range(60)]
    assert len(body_of(invalid_items(many))["detail"]) == 50


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("Value error, no such side", "no such side"),
        ("Input should be a valid dictionary or instance of Leg", "Input should be an object"),
        ("Input should be None", "Input should be null"),
        ("Input should be a valid tuple", "Input should be a valid array"),
        (
            "Tuple should have at most 3 items after validation, not 4",
            "Input should have at most 3 items, not 4",
        ),
        ("<Side.YES: 'yes'> or <Side.NO: 'no'>", "'yes' or 'no'"),
    ],
)
def test_words_of_the_validator_become_words_of_the_wire(message: str, told: str) -> None:
    assert plain(message) == told


# -- paths -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/api/sdk/market", "/api/sdk/markets"),
        ("/api/v1/sdk/markets", "/api/sdk/markets"),
        ("/markets", "/api/sdk/markets"),
        ("//API//sdk/Markets/", "/api/sdk/markets"),
        ("/v2/markets/abc", "/api/sdk/markets/abc"),
        ("/api/sdk/position/expiring", "/api/sdk/positions/expiring"),
        ("/api/sdk/position", "/api/sdk/positions"),
        ("/api/sdk/buy", "/api/sdk/trade"),
        ("/api/sdk/trade/history", "/api/sdk/trades"),
        ("/api/sdk/marketz", "/api/sdk/markets"),
        ("/api/sdk/redeemed", None),
        ("/api/sdk/markets/7/", "/api/sdk/markets/7"),
        ("/health/", "/health"),
        # What another service has is no advice here.
        ("/api/sdk/register", None),
        # It only begins like one of ours.
        ("/api/sdk/tradegoods/list", None),
        ("/zzz", None),
        ("/api/sdk/markets" + "s" * PATH_MAX, None),
    ],
)
def test_a_wrong_path_is_told_the_right_one(path: str, meant: str | None) -> None:
    denial = wrong_path(("GET", path), (), KNOWN)
    assert denial.status == 404
    fix = f"did you mean {meant}?" if meant else "see /openapi.json for the paths of this service"
    assert denial.body == ErrorBody(
        error=f"there is no {path} here", detail=f"there is no {path} here", fix=fix
    )


def test_a_wrong_method_is_told_the_right_ones() -> None:
    denial = wrong_path(("PUT", "/api/sdk/trade"), ("GET", "POST"), KNOWN)
    assert (denial.status, denial.headers) == (405, {"Allow": "GET, POST"})
    said = "PUT is not allowed on /api/sdk/trade"
    assert denial.body == ErrorBody(error=said, detail=said, fix="use GET or POST")
