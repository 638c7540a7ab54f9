"""The people of a world: names, keys, roles, and what a change leaves."""

from dataclasses import replace

import pytest

from service_tui.server.http.access import check_own, check_role
from service_tui.server.http.people.roster import OWNER, THE_OWNER, Person, Roster
from service_tui.server.http.refusals import Denied
from service_tui.storage.people import PersonRecord
from service_tui.terms import PERSON_KEY_PREFIX, PersonRole
from service_tui.units import Timestamp

AT = Timestamp(1_800_000_000.0)
TRADER, SUPERVISOR = PersonRole.TRADER, PersonRole.SUPERVISOR
ZOE = Person("zoe", SUPERVISOR)


def roster(*names: str) -> tuple[Roster, dict[str, str]]:
    people = Roster([])
    return people, {name: people.add(name, TRADER, ZOE, AT)[1] for name in names}


def status_of(refused: pytest.ExceptionInfo[Denied]) -> int:
    return refused.value.status


def test_who_is_added_has_a_key_of_its_own_and_who_added_it() -> None:
    people, keys = roster("ada", "bea")
    assert keys["ada"].startswith(PERSON_KEY_PREFIX)
    assert people.by_key(keys["ada"]) == Person("ada", TRADER)
    assert people.by_key(keys["bea"]) == Person("bea", TRADER)
    assert people.by_key(keys["bea"] + "x") is None
    ada, bea = people.records
    assert (ada.name, ada.role, ada.created_at, ada.created_by) == ("ada", "trader", AT, "zoe")
    assert ada.ended_at is None
    assert ada.salt != bea.salt
    assert keys["ada"] not in {ada.salt, ada.key_hash}


@pytest.mark.parametrize(
    "name", ["ada", "ADA", " a d a", "\uff21da", "\u0430da", "owner", "\u043ewner"]
)
def test_a_name_that_looks_like_one_that_is_or_was_given_is_refused(name: str) -> None:
    people, _ = roster("ada")
    people.end("ada", AT)
    with pytest.raises(Denied) as refused:
        people.add(name, TRADER, ZOE, AT)
    assert status_of(refused) == 409
    assert len(people.records) == 1


def test_a_role_changes_and_nothing_else() -> None:
    people, keys = roster("ada", "bea")
    before = people.of("ada")
    assert people.change_role("ada", SUPERVISOR) == replace(before, role=SUPERVISOR)
    assert people.by_key(keys["ada"]) == Person("ada", SUPERVISOR)
    assert people.of("bea").role == TRADER


def test_a_new_key_ends_the_old_one() -> None:
    people, keys = roster("ada")
    before = people.of("ada")
    record, key = people.renew("ada")
    assert record == replace(before, salt=record.salt, key_hash=record.key_hash)
    assert before.salt != record.salt
    assert people.by_key(keys["ada"]) is None
    assert people.by_key(key) == Person("ada", TRADER)


def test_who_is_ended_opens_nothing_and_is_still_found() -> None:
    people, keys = roster("ada", "bea")
    ended = people.end("ada", Timestamp(AT + 5))
    assert ended.ended_at == AT + 5
    assert people.by_key(keys["ada"]) is None
    assert people.by_key(keys["bea"]) is not None
    assert people.find("ada") == ended
    for change in (people.renew, people.of, lambda name: people.end(name, AT)):
        with pytest.raises(Denied) as refused:
            change("ada")
        assert status_of(refused) == 409


def test_nobody_and_the_owner_are_not_changed() -> None:
    people, _ = roster()
    for name, status in (("nobody", 404), (OWNER, 409)):
        with pytest.raises(Denied) as refused:
            people.change_role(name, TRADER)
        assert status_of(refused) == status
    assert people.find("nobody") is None


def test_a_change_that_was_not_written_is_taken_back() -> None:
    people, keys = roster("ada")
    before = people.find("ada")
    people.renew("ada")
    people.put_back("ada", before)
    assert people.find("ada") == before
    assert people.by_key(keys["ada"]) is not None
    people.put_back("ada", None)
    people.put_back("ada", None)
    assert people.records == ()


def test_records_of_before_are_known_by_their_names() -> None:
    first, keys = roster("ada", "bea")
    again = Roster(list(first.records))
    assert again.records == first.records
    assert again.by_key(keys["bea"]) == Person("bea", TRADER)


@pytest.mark.parametrize("role", PersonRole)
@pytest.mark.parametrize("needed", PersonRole)
def test_a_role_reaches_itself_and_all_below(role: PersonRole, needed: PersonRole) -> None:
    order = list(PersonRole)
    # The roles are listed from the least one up.
    assert order[0] is PersonRole.OBSERVER
    assert order[-1] is PersonRole.OWNER
    may = order.index(role) >= order.index(needed)
    assert Person("ada", role).reaches(needed) is may
    if may:
        check_role(Person("ada", role), needed)
    else:
        with pytest.raises(Denied) as refused:
            check_role(Person("ada", role), needed)
        assert status_of(refused) == 403


@pytest.mark.parametrize(
    ("role", "owner", "may_take", "allowed"),
    [
        (TRADER, "ada", False, True),
        (TRADER, "bea", False, False),
        (TRADER, "bea", True, False),
        (TRADER, "", False, False),
        (TRADER, "", True, True),
        (SUPERVISOR, "bea", False, True),
        (SUPERVISOR, "", False, True),
        (PersonRole.OWNER, "bea", False, True),
        (PersonRole.OBSERVER, "bea", False, False),
    ],
)
def test_a_trader_acts_on_own_agents_and_a_supervisor_on_all(
    *, role: PersonRole, owner: str, may_take: bool, allowed: bool
) -> None:
    person = Person("ada", role)
    if allowed:
        check_own(person, owner, may_take=may_take)
        return
    with pytest.raises(Denied) as refused:
        check_own(person, owner, may_take=may_take)
    assert status_of(refused) == 403
    whose = "bea's" if owner else "nobody's"
    assert f"the agent is {whose}, and ada is a trader" in str(refused.value.body)


def test_the_owner_reaches_everything() -> None:
    assert (THE_OWNER.name, THE_OWNER.role) == ("owner", PersonRole.OWNER)


def test_a_record_of_another_order_keeps_it() -> None:
    one = PersonRecord("bea", "trader", "s", "h", AT, "owner")
    assert Roster([one, replace(one, name="ada")]).records[0].name == "bea"


@pytest.mark.parametrize("name", ["Jose", "JOS\u00c9", "jose\u0301", " jo se ", "\uff2aose"])
def test_a_name_that_looks_like_another_is_taken(name: str) -> None:
    people, _ = roster("Jos\u00e9")
    with pytest.raises(Denied):
        people.add(name, TRADER, ZOE, AT)


@pytest.mark.parametrize(
    ("one", "other"),
    [("\u0e01\u0e35", "\u0e01\u0e39"), ("\u0915\u0941", "\u0915\u0947"), ("10\u00b2", "102")],
)
def test_a_name_that_looks_different_is_free(one: str, other: str) -> None:
    people, _ = roster(one)
    assert people.add(other, TRADER, ZOE, AT)[0] == other
