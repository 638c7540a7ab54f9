"""Commands about people and invitations, as far as they need no service."""

from pathlib import Path

import pytest

from service_tui.wiring.options import Options
from service_tui.wiring.people_command import (
    PeopleCommandError,
    PeopleRequest,
    run_invite,
    run_people,
)

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
