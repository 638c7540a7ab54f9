"""Commands with `--json` print one object that names its form, and nothing beside it."""

import json
from pathlib import Path
from typing import Any

import pytest

from kit.command_line import ran
from kit.service.postgres import Postgres, new_place
from service_tui.cli.main import CANNOT, OK
from service_tui.cli.parser import USAGE_ERROR


def printed(*words: str | Path) -> tuple[object, Any]:
    done = ran([str(word) for word in (*words, "--json")])
    return done.code, json.loads(done.out)


@pytest.fixture
def own(tmp_path: Path) -> tuple[str | Path, ...]:
    """Options of a new world of its own."""
    return ("--data-dir", tmp_path / "data", "--seed", "7", "--speed", "0")


@pytest.mark.slow
def test_people_are_objects_and_a_key_is_in_the_one_answer_that_makes_it(
    own: tuple[str | Path, ...],
) -> None:
    code, added = printed("people", "add", "ada", "--role", "trader", *own)
    assert (code, added["schema"]) == (OK, "service-tui/people/1")
    assert added["person"]["name"] == "ada"
    assert added["key"].startswith("op_")
    _, changed = printed("people", "role", "ada", "observer", *own)
    assert (changed["person"]["role"], "key" in changed) == ("observer", False)
    _, listed = printed("people", "list", *own)
    assert [one["name"] for one in listed["people"]] == ["owner", "ada"]
    _, ended = printed("people", "end", "ada", *own)
    assert ended["person"]["ended_at"] is not None


@pytest.mark.slow
def test_invitations_are_objects(
    own: tuple[str | Path, ...],
) -> None:
    code, made = printed("invite", "--uses", "3", *own)
    assert (code, made["schema"]) == (OK, "service-tui/invite/1")
    assert made["code"].startswith("inv_")
    named = made["invitation"]["invitation_id"]
    _, listed = printed("invite", "list", *own)
    assert [one["invitation_id"] for one in listed["invitations"]] == [named]
    _, ended = printed("invite", "end", named, *own)
    assert ended["invitation"]["ended_at"] is not None


@pytest.mark.slow
def test_orders_are_objects_whether_they_fill_or_not(
    own: tuple[str | Path, ...],
) -> None:
    _, markets = printed("markets", "--limit", "1", *own)
    market = markets[0]["market"]
    code, bought = printed("buy", market, "yes", "5", "--yes", *own)
    assert (code, bought["schema"], bought["done"]) == (OK, "service-tui/order/1", True)
    assert (bought["state"], bought["market"], bought["amount"]) == ("done", market, 5.0)
    assert bought["quote"]["money"] == pytest.approx(5.0)
    assert bought["client_ref"]
    code, quoted = printed("quote", market, "yes", "all", "--sell", *own)
    assert (code, quoted["action"]) == (OK, "sell")
    assert quoted["shares"] == pytest.approx(bought["quote"]["shares"])
    assert "ticket_id" not in quoted
    code, sold = printed("sell", market, "yes", "all", "--yes", *own)
    assert (code, sold["done"]) == (OK, True)
    code, refused = printed("sell", market, "yes", "all", "--yes", *own)
    assert (code, refused["done"]) == (CANNOT, False)
    assert refused["text"]


def test_an_order_as_json_asks_nothing() -> None:
    done = ran(["buy", "rain", "yes", "5", "--json"])
    assert done.code == USAGE_ERROR
    assert "--json asks nothing: give --yes" in done.err


@pytest.mark.slow
@pytest.mark.process
def test_the_database_of_a_shared_desk_is_an_object(
    tmp_path: Path,
) -> None:
    server = Postgres("fsync=on")
    try:
        place = new_place(server.url)
        of_database = ("--database", place.url, "--world", place.world)
        code, made = printed("db", "migrate", *of_database)
        assert (code, made["schema"], made["changed"]) == (OK, "service-tui/db/1", False)
        code, checked = printed("db", "check", "--data-dir", tmp_path, *of_database)
        assert (code, checked["well"], checked["worlds"]) == (OK, True, [place.world])
        assert (checked["leader"], checked["books"]) == (None, None)
        assert all(one["well"] for one in checked["settings"])
        code, none = printed("db", "check", "--database", place.url, "--world", "none")
        assert (code, none["well"]) == (CANNOT, False)
        source = tmp_path / "data"
        printed("people", "list", "--data-dir", source, "--speed", "0")
        _, copied = printed("db", "copy", source, "database", *of_database)
        assert (copied["from"], copied["to"]) == (str(source), "database")
        assert copied["rows"] > 0
        assert len(copied["digest"]) == 64
    finally:
        server.close()
