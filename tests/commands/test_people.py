"""Commands about people and invitations, as far as they need no service."""

from pathlib import Path

import pytest

from service_tui.app.options import Options
from service_tui.commands.people import (
    PeopleCommandError,
    PeopleRequest,
    run_invite,
    run_people,
)
from service_tui.terms import PERSON_KEY_PREFIX

KEY = "sk_test_0123456789"


def options(path: Path) -> Options:
    """Calls of a service that is not there: none may leave."""
    return Options(path, path, path / "log", url="http://127.0.0.1:9", api_key=KEY)


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        (PeopleRequest("new", uses=0), "uses Input should be greater than or equal to 1"),
        (PeopleRequest("new", budget=-1.0), "daily_budget Input should be greater than"),
        (PeopleRequest("new", days=0), "days Input should be greater than or equal to 1"),
    ],
    ids=["uses", "budget", "days"],
)
def test_an_invitation_that_cannot_be_is_refused_with_its_field_and_what_is_wrong(
    tmp_path: Path, request_: PeopleRequest, problem: str
) -> None:
    with pytest.raises(PeopleCommandError) as refused:
        run_invite(options(tmp_path), request_)
    assert str(refused.value).startswith(problem)
    assert "\n" not in str(refused.value)


def test_a_name_that_cannot_be_is_refused_the_same_way(tmp_path: Path) -> None:
    with pytest.raises(PeopleCommandError) as refused:
        run_people(options(tmp_path), PeopleRequest("end", name=""))
    assert str(refused.value).startswith("name ")
    assert KEY not in str(refused.value)


@pytest.mark.slow
def test_people_are_added_changed_and_ended_with_their_keys_shown_once(tmp_path: Path) -> None:
    own = Options(tmp_path, tmp_path, tmp_path / "log", seed=7)

    def people(act: str, role: str = "") -> tuple[str, ...]:
        return run_people(own, PeopleRequest(act, "ada", role=role))

    about, key = people("add", "observer")
    once = "the key is shown once: give it to ada, and keep it nowhere else"
    assert (about, key.startswith(PERSON_KEY_PREFIX)) == (f"ada is observer; {once}", True)
    with pytest.raises(PeopleCommandError, match="ada"):
        people("add", "observer")
    assert people("role", "trader") == ("ada is trader",)
    about, other = people("renew")
    assert (about, other != key) == (f"ada is trader; {once}", True)
    assert people("end") == ("ada ended; the key opens nothing any more",)
    heads, *rows = people("list")
    assert heads.split() == ["name", "role", "since", "agents"]
    (row,) = (line.split() for line in rows if line.startswith("ada "))
    assert (row[1], row[3], row[4]) == ("trader", "0", "ended")
    assert not any(line.endswith(" ") for line in (heads, *rows))


@pytest.mark.slow
def test_an_invitation_is_told_with_its_code_once_listed_and_ended(tmp_path: Path) -> None:
    own = Options(tmp_path, tmp_path, tmp_path / "log", seed=7)
    about, code = run_invite(own, PeopleRequest("new"))
    assert ": for one agent until 20" in about
    assert about.endswith(
        "UTC; the code is shown once: give it to whoever brings them, and keep it nowhere else"
    )
    wide = PeopleRequest("new", uses=3, days=4, plan="elite", budget=1_250.0, person="ada")
    with pytest.raises(PeopleCommandError):
        run_invite(own, wide)
    run_people(own, PeopleRequest("add", "ada", role="trader"))
    about, other = run_invite(own, wide)
    named = about.partition(":")[0]
    assert (": for 3 agents until" in about, other != code) == (True, True)
    assert run_invite(own, PeopleRequest("end", named)) == (f"{named} ended; 0 of 3 used",)
    heads, *rows = run_invite(own, PeopleRequest("list"))
    assert heads.split() == ["id", "used", "expires", "plan", "budget", "person"]
    (row,) = (line.split() for line in rows if line.startswith(named))
    assert (row[1], row[3:7]) == ("0/3", ["elite", "1,250.00", "ada", "ended"])
    assert len(rows) == 2
    assert not any(code in line for line in rows)
