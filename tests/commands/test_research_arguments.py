"""What the arguments and the environment make of a request."""

import argparse
from pathlib import Path

import pytest

from service_tui.commands.research_arguments import (
    CAP_DEFAULT,
    CAP_DIGITS,
    CAP_VARIABLE,
    ResearchRequest,
    add_arguments,
    cap_of,
    parse_request,
)
from service_tui.terms import Direction


def parsed(
    *words: str, environ: dict[str, str] | None = None, cap: int | None = None
) -> ResearchRequest:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    arguments = parser.parse_args(words)
    if cap is not None:
        arguments.max_experiments = cap
    return parse_request(arguments, environ or {})


@pytest.mark.parametrize("text", [None, "", "  "])
def test_without_a_cap_the_usual_one_holds(text: str | None) -> None:
    assert cap_of(text) == CAP_DEFAULT


@pytest.mark.parametrize(("text", "cap"), [("0", 0), ("12", 12), ("9" * CAP_DIGITS, None)])
def test_a_cap_is_a_whole_number(text: str, cap: int | None) -> None:
    assert cap_of(text) == (int(text) if cap is None else cap)


@pytest.mark.parametrize("text", ["-1", "1.5", "ten", "٣", " 3", "9" * (CAP_DIGITS + 1)])
def test_anything_else_is_no_cap(text: str) -> None:
    with pytest.raises(ValueError, match=CAP_VARIABLE):
        cap_of(text)


def test_a_request_holds_what_was_typed() -> None:
    words = (
        *("my-skill", "--repo", "here", "--name", "first", "--metric", "score"),
        *("--unit", "pt", "--direction", "lower", "--allow-shell"),
    )
    environ = {
        CAP_VARIABLE: "7",
        "SERVICE_API_KEY": "sk_test_0123456789",
        "SERVICE_API_URL": "http://127.0.0.1:9",
    }
    assert parsed(*words, environ=environ) == ResearchRequest(
        folder=Path("here"),
        word="my-skill",
        allows_shell=True,
        cap=7,
        name="first",
        metric="score",
        unit="pt",
        direction=Direction.LOWER,
        api_key="sk_test_0123456789",
        api_url="http://127.0.0.1:9",
    )
    assert parsed("reset", "other").skill == "other"


def test_without_words_the_folder_is_served_and_pnl_is_measured() -> None:
    assert parsed() == ResearchRequest(
        folder=Path(),
        cap=CAP_DEFAULT,
        metric="pnl",
        unit="$",
        direction=Direction.HIGHER,
    )


def test_the_environment_sets_the_cap_before_the_configuration_does() -> None:
    assert parsed(cap=5).cap == 5
    assert parsed(cap=0).cap == 0
    assert parsed(cap=5, environ={CAP_VARIABLE: "3"}).cap == 3
    assert parsed(cap=5, environ={CAP_VARIABLE: ""}).cap == 5
