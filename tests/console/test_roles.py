"""What a person's role forbids: keys are disabled with the reason, and nothing is given."""

from dataclasses import replace

import pytest

from kit.console.doors import running, seen_before
from kit.samples.desk import NOW, sample_state
from service_tui.console.formats import MASK
from service_tui.console.forms.team import TeamPage, team_text
from service_tui.console.keys import KEYS
from service_tui.console.moments import MomentKind, moments
from service_tui.console.roles import ROLE_OF, role_reason
from service_tui.console.team_text import act_text
from service_tui.console.widgets.banner import lasting_conditions
from service_tui.desk.commands.halt import Halt
from service_tui.desk.slices.team import ActView, PersonHere, TeamView
from service_tui.desk.slices.world import WorldView
from service_tui.desk.state import DeskState
from service_tui.terms import PersonRole
from service_tui.units import Timestamp

RANK = {role: rank for rank, role in enumerate(PersonRole)}
ACTS = (
    ActView(9, Timestamp(NOW - 5), "bea", "POST /api/desk/halt"),
    ActView(
        8, Timestamp(NOW - 90), "ada", "POST /api/desk/held/{held_id}/refuse", "h12",
        '{"reason":"too large: 300 $SIM"}',
    ),
)  # fmt: skip


def state_of(role: PersonRole) -> DeskState:
    here = (PersonHere("ada", role, 0.0), PersonHere("bea", PersonRole.OWNER, 4.0))
    state = seen_before(sample_state())
    return replace(
        state,
        service=replace(state.service, shared=True),
        team=TeamView("ada", role, "main", here=here, leader="host, process 7", epoch=2, acts=ACTS),
    )


def test_every_key_with_a_role_is_a_key() -> None:
    assert ROLE_OF.keys() <= {key.ident for key in KEYS}


@pytest.mark.parametrize("role", PersonRole)
def test_a_key_is_barred_exactly_below_its_role(role: PersonRole) -> None:
    for ident, needed in ROLE_OF.items():
        why = role_reason(state_of(role), ident)
        expected = f"needs the role {needed.value}; yours is {role.value}"
        assert why == ("" if RANK[role] >= RANK[needed] else expected), ident


def test_a_desk_of_one_bars_nothing() -> None:
    assert not any(role_reason(sample_state(), ident) for ident in ROLE_OF)


@pytest.mark.slow
async def test_an_observer_opens_no_ticket_and_halts_nothing() -> None:
    async with running(state_of(PersonRole.OBSERVER), first="markets") as seen:
        await seen.press("b")
        assert len(seen.app.screen_stack) == 1
        assert "needs the role trader; yours is observer" in " ".join(seen.toasts)
        await seen.press("f9")
        assert "needs the role supervisor; yours is observer" in " ".join(seen.toasts)
        await seen.press("colon", *"buy", "enter")
        assert not [one for one in seen.doors.submitted if isinstance(one, Halt)]


@pytest.mark.slow
async def test_a_supervisor_halts_at_once() -> None:
    async with running(state_of(PersonRole.SUPERVISOR), first="markets") as seen:
        await seen.press("f9")
        assert [one for one in seen.doors.submitted if isinstance(one, Halt)]


@pytest.mark.slow
async def test_the_head_names_me_and_who_else_is_here_and_leads_to_the_page() -> None:
    state = state_of(PersonRole.TRADER)
    async with running(state, first="markets", size=(160, 40)) as seen:
        assert "ada trader with bea" in seen.text
        await seen.press("ctrl+t")
        assert isinstance(seen.app.screen, TeamPage)
        await seen.bring(replace(state, team=replace(state.team, here=())))  # pyright: ignore[reportArgumentType]
        assert "nobody" in seen.text


@pytest.mark.slow
async def test_a_desk_that_is_not_shared_says_so() -> None:
    async with running(seen_before(sample_state()), first="markets") as seen:
        await seen.press("ctrl+t")
        assert len(seen.app.screen_stack) == 1
        assert "this desk is not shared" in " ".join(seen.toasts)


def test_the_page_lists_who_is_here_and_who_changed_what() -> None:
    lines = team_text(state_of(PersonRole.TRADER), NOW).plain.splitlines()
    text = "\n".join(lines)
    assert "role        trader: trades by hand" in text
    assert "led by      host, process 7 (lead 2)" in text
    assert [line.split() for line in lines if line.startswith("bea")] == [
        ["bea", "owner", "4", "s", "ago"]
    ]
    assert "halted trading" in text
    assert "refused a trade h12: reason too large: 300 $SIM" in text


def test_amounts_in_what_was_sent_are_masked() -> None:
    state = replace(state_of(PersonRole.TRADER), preferences={"privacy": "on"})
    text = team_text(state, NOW).plain
    assert "300" not in text
    assert MASK in text


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (ActView(1, NOW, "a", "PUT /new/thing", "x"), "PUT /new/thing x"),
        (ActView(1, NOW, "a", "POST /api/desk/people", "", '{"name":"eve","role":null}'),
         "added a person: name eve"),
        (ActView(1, NOW, "a", "POST /api/desk/halt", "", "no json"), "halted trading: no json"),
        (ActView(1, NOW, "a", "PATCH /api/desk/chain", "", '{"faults":["drop","revert"],"x":[]}'),
         "PATCH /api/desk/chain: faults drop revert"),
        (ActView(1, NOW, "a", "POST /x", "", '{"a":{"b":1}}'), "POST /x: a {'b': 1}"),
        (ActView(1, NOW, "a", "POST /x", "", "[" * 9_000), "POST /x: " + "[" * 9_000),
    ],
)  # fmt: skip
def test_a_change_reads_as_a_sentence(act: ActView, text: str) -> None:
    assert act_text(act) == text


def test_others_changes_are_on_the_timeline_and_mine_are_in_my_log() -> None:
    rows = [one for one in moments(state_of(PersonRole.TRADER)) if one.kind is MomentKind.TEAM]
    assert [(one.who, one.words) for one in rows] == [("bea", "halted trading")]


def test_the_banner_names_who_halted() -> None:
    state = state_of(PersonRole.TRADER)
    assert isinstance(state.world, WorldView)
    halted = replace(state, world=replace(state.world, halted_at=NOW))
    texts = [str(one) for one in lasting_conditions(halted, NOW, started_at=NOW, closed="")]
    assert any("service halted by bea" in text for text in texts)
