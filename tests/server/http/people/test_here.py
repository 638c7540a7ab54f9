"""The people who are online."""

from service_tui.server.http.people.here import HERE_S, PeopleHere
from service_tui.terms import PersonRole


def test_who_called_lately_is_here_by_name_with_the_time_since() -> None:
    people = PeopleHere()
    people.note("cyd", PersonRole.TRADER, 100.0)
    people.note("ann", PersonRole.OBSERVER, 103.0)
    people.note("ben", PersonRole.OWNER, 90.0)
    people.note("cyd", PersonRole.SUPERVISOR, 108.0)
    assert people.here(109.5) == (
        ("ann", PersonRole.OBSERVER, 6.5),
        ("ben", PersonRole.OWNER, 19.5),
        ("cyd", PersonRole.SUPERVISOR, 1.5),
    )
    assert HERE_S == 20
    assert [name for name, *_ in people.here(110.0)] == ["ann", "cyd"]
    assert people.here(128.0) == ()
