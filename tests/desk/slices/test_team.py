"""The people of a shared desk in the state: what is read, and what is said about a new leader."""

from dataclasses import replace

from kit.samples.desk import sample_state
from service_tui.desk.changes import Changed
from service_tui.desk.reduce import reduce
from service_tui.desk.slices.team import PersonHere, TeamView
from service_tui.terms import PersonRole

ADA = PersonHere("ada", PersonRole.TRADER, 0.0)
BEA = PersonHere("bea", PersonRole.OWNER, 2.0)
TEAM = TeamView("ada", PersonRole.TRADER, "main", here=(ADA, BEA), leader="one", epoch=3)


def test_others_are_all_who_are_here_but_me() -> None:
    assert TEAM.others == ("bea",)


def test_another_leader_is_one_notice_and_the_first_is_none() -> None:
    state = reduce(sample_state(), Changed(TEAM))
    assert state.team == TEAM
    assert state.notices == sample_state().notices
    again = reduce(state, Changed(replace(TEAM, here=())))
    assert again.notices == state.notices
    led = reduce(again, Changed(replace(TEAM, leader="two", epoch=4)))
    (notice,) = led.notices[len(state.notices) :]
    assert notice.tone == "warn"
    assert notice.text.startswith("another process leads main: two. Orders")
    # It may have the name of the one before: what was on its way is looked up all the same.
    restarted = reduce(led, Changed(replace(TEAM, leader="two", epoch=5)))
    assert len(restarted.notices) == len(led.notices) + 1
