"""`needs` and `why` as a person and a script call them."""

import json
from pathlib import Path

import pytest

from kit.command_line import ran
from service_tui.cli.main import CANNOT, OK

pytestmark = pytest.mark.slow


@pytest.fixture
def own(tmp_path: Path) -> tuple[str, ...]:
    """Options of a new world of its own."""
    return ("--data-dir", str(tmp_path / "data"), "--seed", "7", "--speed", "0")


def test_a_trade_is_explained_in_lines_and_as_an_object(own: tuple[str, ...]) -> None:
    market = json.loads(ran(["markets", "--limit", "1", "--json", *own]).out)[0]
    assert ran(["buy", market["market"], "yes", "5", "--yes", *own]).code == OK
    (fill,) = json.loads(ran(["fills", "--json", *own]).out)
    done = ran(["why", fill["trade"], *own])
    assert done.code == OK
    title, _, *lines = done.out.splitlines()
    assert title.endswith(f": buy YES {market['question']}")
    assert [line.split()[1] for line in lines if line[0] in "●○"] == [
        "signal", "reasoning", "quote", "fill", "monitor", "exit"
    ]  # fmt: skip
    told = json.loads(ran(["why", fill["trade"], "--json", *own]).out)
    assert (told["schema"], told["id"]) == ("service-tui/why/1", fill["trade"])
    (bought,) = (link for link in told["links"] if link["name"] == "fill")
    values = {one["label"]: (one["value"], one["unit"]) for one in bought["values"]}
    assert values["for"] == (5.0, "money")
    assert values["buy"] == (pytest.approx(fill["shares"]), "shares")
    assert bought["at"] == fill["at"]


def test_what_is_not_there_is_a_sentence(own: tuple[str, ...]) -> None:
    done = ran(["why", "t1\x1b[2J", *own])
    assert (done.code, done.out) == (CANNOT, "")
    assert done.err.startswith("service-tui: no trade or request 't1\\x1b[2J'; ")


def test_needs_are_listed_until_nothing_needs_a_person(own: tuple[str, ...]) -> None:
    assert ran(["needs", *own]).out == "nothing needs you\n"
    assert ran(["halt", *own]).code == OK
    (head, row) = ran(["needs", *own]).out.splitlines()
    assert head.split()[1] == "kind"
    assert "All buys blocked" in row
    assert ran(["resume", *own], typed="RESUME\n").code == OK
    assert json.loads(ran(["needs", "--json", *own]).out) == []
