"""People and invitations at rest: all of their fields, the first one first."""

from dataclasses import replace

import pytest

from service_tui.storage.db.database import Database
from service_tui.storage.invitations import InvitationRecord, keep_invitation, read_invitations
from service_tui.storage.people import PersonRecord, keep_person, read_people

NOW = 1_800_000_000.0
PERSON = PersonRecord(
    name="zoe", role="trader", salt="salt", key_hash="hash", created_at=NOW, created_by="owner",
    ended_at=NOW + 5,
)  # fmt: skip
INVITATION = InvitationRecord(
    invitation_id="zz", salt="salt", code_hash="hash", uses=3, plan="pro", budget=7_000_000,
    person="zoe", created_at=NOW, created_by="owner", expires_at=NOW + 9, ended_at=NOW + 5,
)  # fmt: skip


async def test_a_person_comes_back_with_every_field_and_the_first_one_first(
    database: Database,
) -> None:
    later = replace(PERSON, name="ada", created_at=NOW + 1, ended_at=None)
    beside = replace(later, name="aaa")
    for one in (later, PERSON, beside):
        await database.write(lambda connection, one=one: keep_person(connection, one))
    assert read_people(database) == [PERSON, beside, later]


async def test_a_person_that_changes_stays_one(database: Database) -> None:
    changed = replace(PERSON, role="owner", salt="s2", key_hash="h2", ended_at=None)
    for one in (PERSON, changed):
        await database.write(lambda connection, one=one: keep_person(connection, one))
    assert read_people(database) == [changed]


@pytest.mark.slow
async def test_an_invitation_comes_back_with_every_field_and_the_first_one_first(
    database: Database,
) -> None:
    later = replace(
        INVITATION, invitation_id="bb", created_at=NOW + 1, plan=None, budget=None, ended_at=None
    )
    beside = replace(later, invitation_id="aa")
    for one in (later, INVITATION, beside):
        await database.write(lambda connection, one=one: keep_invitation(connection, one))
    assert read_invitations(database) == [INVITATION, beside, later]


async def test_an_invitation_that_ends_stays_one(database: Database) -> None:
    ended = replace(INVITATION, ended_at=NOW + 6)
    for one in (INVITATION, ended):
        await database.write(lambda connection, one=one: keep_invitation(connection, one))
    assert read_invitations(database) == [ended]


@pytest.mark.parametrize("record", [PERSON, INVITATION])
def test_no_secret_of_a_record_is_shown(record: PersonRecord | InvitationRecord) -> None:
    assert "salt" not in repr(record)
    assert "hash" not in repr(record)
