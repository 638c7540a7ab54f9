"""People and invitations: who may what, what is kept, and what is taken back."""

from dataclasses import replace
from typing import Any, Final

import pytest

from kit.engine.bare import AT, bare_world
from kit.service.bare import ACT, bare_service, request_to
from service_tui.engine.events import AgentChanged, AgentRegistered, OperatorActed
from service_tui.server.http.access import hash_of
from service_tui.server.http.people.invitation_book import InvitationBook
from service_tui.server.http.people.roster import OWNER, Person, Roster
from service_tui.server.http.refusals import Denied
from service_tui.server.routes import people
from service_tui.storage.errors import StorageError
from service_tui.storage.invitations import InvitationRecord
from service_tui.storage.people import PersonRecord
from service_tui.terms import PersonRole, Plan
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.people import (
    AddPersonRequest,
    AuditQuery,
    InviteRequest,
    NamedPersonRequest,
    RoleRequest,
)

BEN: Final = PersonRecord("ben", "trader", "salt", "hash", AT - 60, "ann")
OLD: Final = InvitationRecord(
    invitation_id="invite-1", salt="s", code_hash="h", uses=3, plan="pro", budget=25 * ONE,
    person="ben", created_at=AT - 50, created_by="ann", expires_at=AT + 70,
)  # fmt: skip


def service() -> Any:
    world = bare_world("ada", "eve")
    world.agents["ada"].change({"owner": "ben", "invitation": "invite-1"})
    world.agents["eve"].change({"owner": OWNER})
    ended = replace(BEN, name="cyd", role="observer", ended_at=AT - 5)
    return bare_service(
        world, people=Roster([BEN, ended]), invitations=InvitationBook([OLD]), world_name="main",
        leader="host-1", epoch=4, plan=Plan.PRO,
    )  # fmt: skip


def person(name: str, role: str, **changes: Any) -> dict[str, Any]:
    given = {"name": name, "role": PersonRole(role), "agents_count": 0, "ended_at": None}
    return {**given, **changes}


def shown(body: Any) -> dict[str, Any]:
    row = body.model_dump()
    if row["created_at"] is not None:
        row["created_at"] = row["created_at"].timestamp() - AT
    if row["ended_at"] is not None:
        row["ended_at"] = row["ended_at"].timestamp() - AT
    return row


async def test_everybody_is_listed_behind_the_owner_with_their_agents() -> None:
    found = [shown(row) for row in (await people.list_people(request_to(service()))).people]
    by = {"created_at": -60.0, "created_by": "ann"}
    assert found == [
        person(OWNER, "owner", agents_count=1, created_at=None, created_by=found[0]["created_by"]),
        person("ben", "trader", agents_count=1, **by),
        person("cyd", "observer", ended_at=-5.0, **by),
    ]


async def test_a_new_person_is_kept_with_the_key_shown_once() -> None:
    one, body = service(), AddPersonRequest(name="dan", role=PersonRole.OBSERVER)
    answer = await people.add_person(request_to(one, body=body))
    assert shown(answer.person) == person("dan", "observer", created_at=0.0, created_by="ann")
    assert one.people.by_key(answer.key) == Person("dan", PersonRole.OBSERVER)
    assert one.world_store.written == [ACT, "beside"]
    with pytest.raises(Denied, match="409"):
        await people.add_person(request_to(one, body=body))


async def test_a_role_and_a_key_are_changed_and_a_person_ends() -> None:
    one, named = service(), NamedPersonRequest(name="ben")
    role = RoleRequest(name="ben", role=PersonRole.SUPERVISOR)
    assert (await people.set_role(request_to(one, body=role))).role is PersonRole.SUPERVISOR
    renewed = await people.renew_person(request_to(one, body=named))
    assert one.people.by_key(renewed.key) == Person("ben", PersonRole.SUPERVISOR)
    assert renewed.person.name == "ben"
    ended = await people.end_person(request_to(one, body=named))
    assert shown(ended)["ended_at"] == 0.0
    assert one.people.by_key(renewed.key) is None
    assert one.world_store.written == [ACT, "beside"] * 3
    for call in (people.renew_person, people.end_person):
        with pytest.raises(Denied, match="409"):
            await call(request_to(one, body=named))
        with pytest.raises(Denied, match="404"):
            await call(request_to(one, body=NamedPersonRequest(name="nobody")))


CHANGES: Final[dict[str, Any]] = {
    "add": (people.add_person, {"body": AddPersonRequest(name="dan", role=PersonRole.TRADER)}),
    "role": (people.set_role, {"body": RoleRequest(name="ben", role=PersonRole.OBSERVER)}),
    "renew": (people.renew_person, {"body": NamedPersonRequest(name="ben")}),
    "end": (people.end_person, {"body": NamedPersonRequest(name="ben")}),
    "invite": (people.invite, {"body": InviteRequest()}),
    "uninvite": (people.end_invitation, {"path": {"invitation_id": "invite-1"}}),
}


@pytest.mark.parametrize("name", CHANGES)
async def test_a_change_that_the_disk_refuses_is_taken_back(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = service()
    call, given = CHANGES[name]
    before = one.people.records, one.invitations.records

    async def commit(*_: object, **__: object) -> None:
        raise StorageError("no room")

    monkeypatch.setattr(one.world_store, "commit", commit)
    with pytest.raises(StorageError):
        await call(request_to(one, **given))
    assert (one.people.records, one.invitations.records) == before
    one.world_store.refuses = StorageError("no room")
    with pytest.raises(StorageError):
        await call(request_to(one, **given))
    assert (one.people.records, one.invitations.records) == before


async def test_who_calls_is_told_the_world_who_is_here_and_what_the_role_forbids() -> None:
    one = service()
    one.presence.note("ben", PersonRole.TRADER, 70.0)
    answers = {}
    for role in PersonRole:
        request = replace(request_to(one), person=Person("x", role))
        answers[role] = await people.me(request)
    mine = answers[PersonRole.TRADER]
    assert (mine.name, mine.world, mine.leader, mine.epoch) == ("x", "main", "host-1", 4)
    assert [(one.name, one.role, one.seconds_ago) for one in mine.here] == [
        ("ben", PersonRole.TRADER, 1.5)
    ]
    assert {role: answer.own_agents_only for role, answer in answers.items()} == {
        role: role is PersonRole.TRADER for role in PersonRole
    }
    counts = [len(answers[role].forbidden) for role in (
        PersonRole.OBSERVER, PersonRole.TRADER, PersonRole.SUPERVISOR, PersonRole.OWNER
    )]  # fmt: skip
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == 0 < counts[2]
    assert set(answers[PersonRole.SUPERVISOR].forbidden) < set(
        answers[PersonRole.OBSERVER].forbidden
    )


async def test_a_console_has_one_agent_of_its_person() -> None:
    one = service()
    made = await people.my_agent(request_to(one))
    assert (made.agent_id, made.name, made.is_new) == ("agent-id-001-of-a-", "ann's console", True)
    registered, changed, act = one.world_store.written
    assert registered == AgentRegistered(
        made.agent_id, AT, "ann's console", "what a person trades by hand",
        hash_of("sk_live_new"), "id-002-of-a-new-thing", Plan.PRO, Micros(10_000 * ONE),
    )  # fmt: skip
    owned = {"claimed": True, "owner": "ann", "console_of": "ann"}
    assert changed == AgentChanged(made.agent_id, AT, owned)
    assert act == ACT
    again = await people.my_agent(request_to(one))
    assert (again.agent_id, again.is_new) == (made.agent_id, False)
    assert len(one.world_store.written) == 3
    one.world_store.refuses = StorageError("no room")
    with pytest.raises(StorageError):
        await people.my_agent(replace(request_to(one), person=Person("eve", PersonRole.TRADER)))


async def test_the_audit_tells_who_did_what() -> None:
    one = service()
    asked: list[int] = []

    async def acts(limit: int) -> Any:
        asked.append(limit)
        return [(7, OperatorActed("ann", AT, "speed", "subject", "detail"))]

    one.world_store.acts = acts
    (row,) = (await people.audit(request_to(one, query=AuditQuery(limit=9)))).acts
    assert asked == [9]
    assert (row.seq, row.at.timestamp(), row.person, row.action, row.subject, row.detail) == (
        7, AT, "ann", "speed", "subject", "detail"
    )  # fmt: skip


# -- invitations ---------------------------------------------------------------------------------


def invitation(body: Any) -> dict[str, Any]:
    row = shown(body)
    row["expires_at"] = row["expires_at"].timestamp() - AT
    return row


KEPT: Final[dict[str, Any]] = {
    "invitation_id": "invite-1", "uses": 3, "used": 1, "plan": Plan.PRO, "daily_budget": 25.0,
    "person": "ben", "created_at": -50.0, "created_by": "ann", "expires_at": 70.0,
    "ended_at": None,
}  # fmt: skip


async def test_invitations_are_listed_with_how_often_they_were_used() -> None:
    (row,) = (await people.list_invitations(request_to(service()))).invitations
    assert invitation(row) == KEPT


async def test_an_invitation_is_made_with_its_terms_and_a_code_shown_once() -> None:
    one = service()
    body = InviteRequest(uses=2, days=3, plan=Plan.ELITE, daily_budget=12.5, person="ben")
    answer = await people.invite(request_to(one, body=body))
    assert invitation(answer.invitation) == {
        "invitation_id": "invite-id-001-of-a-", "uses": 2, "used": 0, "plan": Plan.ELITE,
        "daily_budget": 12.5, "person": "ben", "created_at": 0.0, "created_by": "ann",
        "expires_at": 3 * 86_400.0, "ended_at": None,
    }  # fmt: skip
    found = one.invitations.good(answer.code, [], Timestamp(AT + 3 * 86_400 - 1))
    assert found.invitation_id == "invite-id-001-of-a-"
    assert one.world_store.written == [ACT, "beside"]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"person": "nobody"}, 404),
        ({"person": "cyd"}, 409),
        ({"daily_budget": 1.00000001}, 422),
        ({"person": OWNER}, None),
        ({}, None),
    ],
)
async def test_an_invitation_is_for_somebody_there_is(
    sent: dict[str, Any], status: int | None
) -> None:
    one, body = service(), InviteRequest(**sent)
    if status is None:
        answer = await people.invite(request_to(one, body=body))
        assert answer.invitation.daily_budget is None
        assert answer.invitation.person == sent.get("person", "")
        return
    with pytest.raises(Denied, match=str(status)):
        await people.invite(request_to(one, body=body))
    assert len(one.invitations.records) == 1


async def test_an_invitation_ends_once() -> None:
    one = service()
    request = request_to(one, path={"invitation_id": "invite-1"})
    assert invitation(await people.end_invitation(request)) == {**KEPT, "ended_at": 0.0}
    await people.end_invitation(request_to(one, path={"invitation_id": "invite-1"}))
    assert one.world_store.written == [ACT, "beside"]
    with pytest.raises(Denied, match="404"):
        await people.end_invitation(request_to(one, path={"invitation_id": "other"}))
