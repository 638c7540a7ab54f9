"""Invitations: their terms, who may register with one, and what a change leaves."""

import pytest

from kit.engine.bare import bare_world
from service_tui.engine.agents.agents import Agent
from service_tui.server.http.people.invitation_book import (
    InvitationBook,
    InvitationTerms,
    no_invitation,
    used,
)
from service_tui.server.http.people.secret_keys import INVITATION_PREFIX
from service_tui.server.http.refusals import Denied
from service_tui.storage.invitations import InvitationRecord
from service_tui.terms import Plan
from service_tui.units import Micros, Timestamp

AT = Timestamp(1_800_000_000.0)
TERMS = InvitationTerms(2, Timestamp(AT + 60), Plan.PRO, Micros(5_000_000), "ada")


def book(terms: InvitationTerms = TERMS) -> tuple[InvitationBook, str]:
    invitations = InvitationBook([])
    _, code = invitations.add("i1", terms, "zoe", AT)
    return invitations, code


def agents(*invitations: str) -> list[Agent]:
    world = bare_world(*(f"a{number}" for number in range(len(invitations))))
    for agent, invitation in zip(world.agents.values(), invitations, strict=True):
        agent.change({"invitation": invitation})
    return list(world.agents.values())


def refused(invitations: InvitationBook, code: str, used_by: list[Agent], at: float = AT) -> str:
    with pytest.raises(Denied) as error:
        invitations.good(code, used_by, Timestamp(at))
    assert error.value.status == 403
    return str(error.value.body)


def test_an_invitation_keeps_its_terms_and_not_its_code() -> None:
    invitations, code = book()
    assert code.startswith(INVITATION_PREFIX)
    (record,) = invitations.records
    assert record == InvitationRecord(
        invitation_id="i1", salt=record.salt, code_hash=record.code_hash, uses=2, plan="pro",
        budget=5_000_000, person="ada", created_at=AT, created_by="zoe", expires_at=AT + 60,
    )  # fmt: skip
    assert code not in {record.salt, record.code_hash}
    bare, _ = book(InvitationTerms(1, Timestamp(AT + 1)))
    (plain,) = bare.records
    assert (plain.plan, plain.budget, plain.person) == (None, None, "")
    nothing, _ = book(InvitationTerms(1, Timestamp(AT + 1), budget=Micros(0)))
    assert [each.budget for each in nothing.records] == [0]


def test_an_invitation_is_good_until_its_hour_and_for_its_uses() -> None:
    invitations, code = book()
    one = agents("i1", "i2")
    assert invitations.good(code, one, Timestamp(AT + 59.9)).invitation_id == "i1"
    assert "has expired" in refused(invitations, code, one, AT + 60)
    assert "is used up" in refused(invitations, code, agents("i1", "i1"))
    assert "is not known" in refused(invitations, code + "x", [])


def test_an_ended_invitation_is_good_for_nobody_and_ends_once() -> None:
    invitations, code = book()
    ended = invitations.end("i1", Timestamp(AT + 3))
    assert ended.ended_at == AT + 3
    assert invitations.end("i1", Timestamp(AT + 9)) == ended
    assert "was ended" in refused(invitations, code, [])
    with pytest.raises(Denied) as unknown:
        invitations.end("i2", AT)
    assert unknown.value.status == 404


def test_each_code_opens_its_own_invitation() -> None:
    invitations, code = book()
    _, other = invitations.add("i2", TERMS, "zoe", AT)
    assert invitations.good(code, [], AT).invitation_id == "i1"
    assert invitations.good(other, [], AT).invitation_id == "i2"
    again = InvitationBook(list(invitations.records))
    assert again.good(other, [], AT).invitation_id == "i2"
    assert again.find("i1") == invitations.find("i1")
    assert again.find("i3") is None


def test_a_change_that_was_not_written_is_taken_back() -> None:
    invitations, code = book()
    before = invitations.find("i1")
    invitations.end("i1", AT)
    invitations.put_back("i1", before)
    assert invitations.good(code, [], AT) == before
    invitations.put_back("i1", None)
    invitations.put_back("i1", None)
    assert invitations.records == ()


def test_uses_are_the_agents_that_name_the_invitation() -> None:
    assert used("i1", agents("i1", "i2", "", "i1")) == 2
    assert used("i3", agents("i1")) == 0


def test_without_an_invitation_one_is_asked_for() -> None:
    error = no_invitation()
    assert error.status == 403
    assert "needs an invitation" in str(error.body)
