"""What is snoozed or muted: how long it stays hidden, what can be, and what is kept of it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from kit.examples import examples
from kit.samples.attention import CALM, STATE, alert_of, everything
from kit.samples.desk import NOW
from service_tui.console.needs import inbox, needs, ringing_alerts
from service_tui.console.needs_aside import (
    ASIDE_MAX,
    MUTED,
    SNOOZED,
    Aside,
    Mute,
    aside_of,
    may_wait_for_change,
    mutes_of,
    snooze_of,
    snoozed_text,
    written_mutes,
)
from service_tui.console.ranking import Need
from service_tui.desk.state import DeskState
from service_tui.units import ONE, Micros, Timestamp

ROW = Need(
    "moved m-1", "loss", "▼", "moved", "heron", Text("-20.0%"), "", "portfolio",
    money=Micros(10 * ONE), topic="positions moved",
)  # fmt: skip


def later(seconds: float) -> Timestamp:
    return Timestamp(NOW + seconds)


def with_aside(state: DeskState, *, snoozed: str = "", muted: str = "") -> DeskState:
    return replace(state, preferences={**state.preferences, SNOOZED: snoozed, MUTED: muted})


# -- snoozed ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "hides"),
    [
        ({}, True),
        ({"what": "another name"}, True),
        ({"money": Micros(10_900_000)}, True),
        ({"money": Micros(12 * ONE)}, False),
        ({"money": None}, True),
        ({"tone": "breach"}, False),
        ({"word": "LAST 10m"}, False),
        ({"figure": Text("-21.0%")}, True),
        ({"figure": Text("-31.0%")}, False),
        ({"figure": Text("+20.0%")}, False),
        ({"figure": Text("•••")}, True),
        ({"figure": Text("9m"), "is_clock": True}, True),
    ],
)
@pytest.mark.parametrize("until", [None, later(60)])
def test_a_snoozed_row_comes_back_when_it_changes(
    change: dict[str, object], until: Timestamp | None, *, hides: bool
) -> None:
    assert snooze_of(ROW, until, NOW).hides(replace(ROW, **change), NOW) is hides


def test_a_snoozed_row_comes_back_when_its_time_is_over() -> None:
    snooze = snooze_of(ROW, later(60), NOW)
    assert snooze.hides(ROW, later(59.9))
    assert not snooze.hides(ROW, later(60))
    assert snooze_of(ROW, None, NOW).hides(ROW, later(9e6))


def test_a_snooze_survives_as_text_and_a_later_one_of_the_row_replaces_it() -> None:
    text = snoozed_text((), [ROW], later(60), NOW)
    known = aside_of(text, "").snoozes
    assert known == (snooze_of(ROW, later(60), NOW),)
    again = aside_of(snoozed_text(known, [ROW], None, NOW), "").snoozes
    assert again == (snooze_of(ROW, None, NOW),)
    other = replace(ROW, key="another")
    after = aside_of(snoozed_text(known, [other], None, later(61)), "").snoozes
    assert [one.key for one in after] == ["another"]


def test_only_so_many_are_kept_and_the_oldest_go_first() -> None:
    rows = [replace(ROW, key=f"k{place}") for place in range(ASIDE_MAX + 5)]
    kept = aside_of(snoozed_text((), rows, None, NOW), "").snoozes
    assert [kept[0].key, kept[-1].key, len(kept)] == ["k5", f"k{ASIDE_MAX + 4}", ASIDE_MAX]
    mutes = [Mute(f"a-{place}", "heron", is_agent=True) for place in range(ASIDE_MAX + 1)]
    assert aside_of("", written_mutes(mutes)).mutes == tuple(mutes[1:])


@examples(30)
@given(st.text(max_size=60))
def test_a_text_that_cannot_be_read_hides_nothing(text: str) -> None:
    assert isinstance(aside_of(text, text), Aside)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[1]",
        "[[]]",
        '[["k","w",true,"l",null,null]]',
        '[[1,"w",2,"l",null,null]]',
        "[" * 9_000,
        '[["k","w",NaN,"l",null,null]]',
        '[["k","w",Infinity,"l",null,null]]',
        '[["k","w",1' + "0" * 400 + ',"l",null,null]]',
    ],
)
def test_parts_that_are_no_snooze_are_passed_over(text: str) -> None:
    hidden = [one for one in aside_of(text, text).snoozes if one.until is not None]
    assert hidden == []
    assert aside_of("", text).mutes == ()


def test_what_is_snoozed_is_listed_apart_and_not_counted() -> None:
    state = everything()
    first, *others = needs(state, NOW)
    hidden = with_aside(state, snoozed=snoozed_text((), [first], None, NOW))
    found = inbox(hidden, NOW)
    assert (found.rows, found.snoozed, found.muted) == (tuple(others), (first,), ())
    assert needs(hidden, NOW) == tuple(others)


def test_a_snoozed_alert_rings_nothing_until_its_last_minutes() -> None:
    def state(left: float, snoozed: str = "") -> DeskState:
        risk = replace(CALM.risk, alerts=(alert_of(left),))
        return with_aside(replace(CALM, risk=risk), snoozed=snoozed)

    (early,) = needs(state(900), NOW)
    text = snoozed_text((), [early], None, NOW)
    assert needs(state(900, text), NOW) == ()
    # Its word is another one then: it is back, and rings.
    assert len(needs(state(400, text), NOW)) == len(ringing_alerts(state(400, text), NOW)) == 1
    (late,) = needs(state(400), NOW)
    again = snoozed_text((), [late], None, NOW)
    assert ringing_alerts(state(400, again), NOW) == frozenset()


# -- muted --------------------------------------------------------------------------------------


def test_a_kind_and_an_agent_are_muted_but_no_approval_and_no_real_money() -> None:
    by_kind, by_agent = mutes_of(replace(ROW, agent_id="a-2", agent="heron"))
    assert (by_kind, by_agent) == (
        Mute("positions moved", "positions moved"), Mute("a-2", "heron", is_agent=True),
    )  # fmt: skip
    assert by_kind.hides(ROW)
    assert not by_agent.hides(ROW)
    assert by_agent.hides(replace(ROW, agent_id="a-2", topic="budgets"))
    for spared in (
        replace(ROW, is_real=True), replace(ROW, is_pinned=True), replace(ROW, topic=""),
    ):  # fmt: skip
        assert mutes_of(spared) == ()
        assert not by_kind.hides(spared)


def test_a_muted_agent_still_asks_for_approval() -> None:
    state = everything()
    agent_id = next(one.agent_id for one in needs(state, NOW) if one.word == "approve")
    muted = with_aside(state, muted=written_mutes([Mute(agent_id, "heron", is_agent=True)]))
    found = inbox(muted, NOW)
    assert "approve" in {one.word for one in found.rows if one.agent_id == agent_id}
    assert {one.word for one in found.muted} == {"broke", "crashed", "budget"}
    assert {one.agent_id for one in found.muted} == {agent_id}


def test_every_row_that_can_be_muted_is_hidden_by_its_kind() -> None:
    state = everything()
    able = [one for one in needs(state, NOW) if one.can_be_muted]
    mutes = [mute for one in able for mute in mutes_of(one) if not mute.is_agent]
    found = inbox(with_aside(state, muted=written_mutes(mutes)), NOW)
    assert list(found.muted) == able
    assert inbox(STATE, NOW).muted == ()


def test_what_has_a_deadline_comes_back_for_its_last_two_minutes() -> None:
    timed = replace(ROW, left_s=600.0)
    hidden = snooze_of(timed, later(9_000), NOW)
    assert hidden.hides(timed, NOW)
    assert not hidden.hides(replace(timed, left_s=120.0), NOW)


def test_what_is_pinned_is_hidden_for_an_hour_at_most_and_never_until_a_change() -> None:
    pinned = replace(ROW, is_pinned=True)
    assert snooze_of(pinned, later(9_000), NOW).until == NOW + 3_600
    assert snooze_of(pinned, None, NOW).until == NOW + 3_600
    assert not may_wait_for_change(pinned)
    # A row of the service's state has nothing that would change at the next outage.
    assert not may_wait_for_change(replace(ROW, figure=Text(), money=None))
