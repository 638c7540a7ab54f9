"""Commands about people and invitations, as far as they need no service."""

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from service_tui.app.options import Options
from service_tui.commands.people import (
    INVITE_ACTS,
    PEOPLE_ACTS,
    PeopleCommandError,
    PeopleRequest,
    run_invite,
    run_people,
)
from service_tui.terms import PersonRole, Plan
from service_tui.wire.endpoints.people import (
    ADD_PERSON,
    END_INVITATION,
    END_PERSON,
    INVITE,
    RENEW_PERSON,
    SET_ROLE,
)
from service_tui.wire.people import (
    AddPersonRequest,
    InvitationBody,
    InvitationsBody,
    InviteRequest,
    NamedPersonRequest,
    PeopleBody,
    PersonBody,
    PersonKeyBody,
    RoleRequest,
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


class Noting(Answering):
    """The same, which notes what was asked."""

    def __init__(self, answer: object) -> None:
        super().__init__(answer)
        self.asked: list[tuple[object, ...]] = []

    async def call(self, endpoint: object, **given: object) -> SimpleNamespace:
        self.asked.append((endpoint, given))
        return await super().call()


ADA = PersonBody(name="ada", role=PersonRole.TRADER, created_at=AT)
ADAS_KEY = PersonKeyBody.model_construct(person=ADA, key="sk_person_new")
ABOUT = "ada is trader; the key is shown once: give it to ada, and keep it nowhere else"


@pytest.mark.parametrize(
    ("act", "endpoint", "body", "answer", "lines"),
    [
        (
            "add",
            ADD_PERSON,
            AddPersonRequest(name="ada", role=PersonRole.OBSERVER),
            ADAS_KEY,
            (ABOUT, "sk_person_new"),
        ),
        (
            "renew",
            RENEW_PERSON,
            NamedPersonRequest(name="ada"),
            ADAS_KEY,
            (ABOUT, "sk_person_new"),
        ),
        (
            "role",
            SET_ROLE,
            RoleRequest(name="ada", role=PersonRole.OBSERVER),
            ADA,
            ("ada is trader",),
        ),
        (
            "end",
            END_PERSON,
            NamedPersonRequest(name="ada"),
            ADA,
            ("ada ended; the key opens nothing any more",),
        ),
    ],
)
async def test_each_act_asks_for_one_person_and_says_what_the_service_did(
    act: str, endpoint: object, body: object, answer: object, *, lines: tuple[str, ...]
) -> None:
    client = Noting(answer)
    request = PeopleRequest(act, "ada", role="observer")
    assert await PEOPLE_ACTS[act](client, request) == lines  # type: ignore[arg-type]
    assert client.asked == [(endpoint, {"body": body})]


INVITED = InvitationBody(
    invitation_id="i7", uses=1, used=0, created_at=AT, created_by="ada",
    expires_at=AT.replace(hour=9, minute=5),
)  # fmt: skip


@pytest.mark.parametrize(("uses", "agents"), [(1, "one agent"), (3, "3 agents")])
async def test_an_invitation_is_told_with_its_code_once(uses: int, agents: str) -> None:
    made = INVITED.model_copy(update={"uses": uses})
    client = Noting(SimpleNamespace(invitation=made, code="CODE-9"))
    request = PeopleRequest(
        "new", uses=uses, days=4, plan="elite", budget=12.5, person="bob", role="unused"
    )
    about, code = await INVITE_ACTS["new"](client, request)  # type: ignore[arg-type]
    assert code == "CODE-9"
    assert about == (
        f"i7: for {agents} until 2027-01-15 09:05 UTC; the code is shown once: give it to "
        "whoever brings them, and keep it nowhere else"
    )
    body = InviteRequest(uses=uses, days=4, plan=Plan.ELITE, daily_budget=12.5, person="bob")
    assert client.asked == [(INVITE, {"body": body})]


async def test_an_invitation_sends_what_was_chosen_alone() -> None:
    client = Noting(SimpleNamespace(invitation=INVITED, code="CODE-9"))
    await INVITE_ACTS["new"](client, PeopleRequest("new"))  # type: ignore[arg-type]
    ((_, given),) = client.asked
    assert given["body"].model_fields_set == {"uses"}  # type: ignore[index]


async def test_an_invitation_is_ended_by_its_id() -> None:
    client = Noting(INVITED)
    await INVITE_ACTS["end"](client, PeopleRequest("end", "i7"))  # type: ignore[arg-type]
    assert client.asked == [(END_INVITATION, {"path": {"invitation_id": "i7"}})]


async def test_a_list_has_a_column_for_each_head_and_no_spaces_at_its_end() -> None:
    long_one = ADA.model_copy(update={"name": "a much longer name", "created_at": None})
    client = Answering(PeopleBody(people=(ADA, long_one)))
    lines = await PEOPLE_ACTS["list"](client, PeopleRequest("list"))
    assert lines == (
        "name                role    since       agents",
        "ada                 trader  2027-01-15  0",
        "a much longer name  trader              0",
    )
