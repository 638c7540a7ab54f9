"""Commands about people and invitations, as far as they need no service."""

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from service_tui.terms import PersonRole
from service_tui.wire.people import InvitationBody, InvitationsBody, PeopleBody, PersonBody
from service_tui.wiring.options import Options
from service_tui.wiring.people_command import (
    INVITE_ACTS,
    PEOPLE_ACTS,
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


class Answering:
    """A client whose every call has one answer."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    async def call(self, *_: object, **__: object) -> SimpleNamespace:
        return SimpleNamespace(answer=self.answer)


AT = datetime(2027, 1, 15, tzinfo=UTC)


async def test_invitations_are_listed_with_what_is_used_of_them() -> None:
    open_one = InvitationBody(
        invitation_id="i1", uses=5, used=2, created_at=AT, created_by="ada", expires_at=AT,
        daily_budget=1_250.0,
    )  # fmt: skip
    ended = open_one.model_copy(
        update={
            "invitation_id": "i2",
            "person": "bob",
            "daily_budget": None,
            "ended_at": AT.replace(day=9),
        }
    )
    client = Answering(InvitationsBody(invitations=(open_one, ended)))
    lines = await INVITE_ACTS["list"](client, PeopleRequest("list"))
    assert [line.split() for line in lines] == [
        ["id", "used", "expires", "plan", "budget", "person"],
        ["i1", "2/5", "2027-01-15", "1,250.00"],
        ["i2", "2/5", "2027-01-15", "bob", "ended", "2027-01-09"],
    ]
    told = await INVITE_ACTS["end"](Answering(ended), PeopleRequest("end", "i2"))
    assert told == ("i2 ended; 2 of 5 used",)


async def test_people_are_listed_with_their_role_and_their_end() -> None:
    eve = PersonBody(
        name="eve", role=PersonRole.OBSERVER, created_at=AT, agents_count=3,
        ended_at=AT.replace(day=20),
    )  # fmt: skip
    lines = await PEOPLE_ACTS["list"](Answering(PeopleBody(people=(eve,))), PeopleRequest("list"))
    assert lines[1].split() == ["eve", "observer", "2027-01-15", "3", "ended", "2027-01-20"]
