"""The strip of agents in the header: a glyph and a word for each state, within the room left."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.console.doors import running, seen_before
from kit.examples import examples
from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import pending_trade_of, run_of
from service_tui.console.fleet_strip import AgentStanding, standings, strip
from service_tui.console.widgets.line_fit import fitted_bits
from service_tui.console.widgets.top_bar import with_fleet, world_bits
from service_tui.desk.slices.halt import HaltView
from service_tui.desk.slices.supervision import SkillRunState, SupervisionView
from service_tui.desk.state import DeskState
from service_tui.terms import AgentStatus

STATE = seen_before(sample_state())
HERON = STATE.fleet.agents[1]


def alone(**change: object) -> DeskState:
    fleet = replace(STATE.fleet, agents=(STATE.fleet.agents[0], replace(HERON, **change)))
    return replace(STATE, fleet=fleet)


def with_run(state: SkillRunState, **change: object) -> DeskState:
    view = replace(STATE.supervision, runs=(run_of(agent_id=HERON.agent_id, state=state),))
    return replace(alone(**change), supervision=view)


def test_the_strip_leaves_out_the_desks_own_agent_and_puts_trouble_first() -> None:
    found = standings(STATE)
    assert [(one.name, one.word) for one in found] == [
        ("moss-runner", "suspended"), ("tide [/red]", "paused"), ("heron", "active"),
    ]  # fmt: skip
    assert standings(replace(STATE, fleet=None)) == ()


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        (alone(), ("●", "active")),
        (alone(paused=True), ("‖", "paused")),
        (alone(suspended=True), ("■", "suspended")),
        (alone(status=AgentStatus.BROKE), ("✗", "broke")),
        (alone(status=AgentStatus.UNCLAIMED), ("●", "active")),
        (with_run(SkillRunState.RUNNING), ("▶", "running")),
        (with_run(SkillRunState.RUNNING, paused=True), ("‖", "paused")),
        (with_run(SkillRunState.CRASHED, paused=True), ("✗", "crashed")),
        (with_run(SkillRunState.DONE), ("●", "active")),
        (with_run(SkillRunState.SUSPENDED), ("‖", "halted")),
        (replace(alone(), halt=HaltView(NOW)), ("‖", "halted")),
        (replace(alone(suspended=True), halt=HaltView(NOW)), ("■", "suspended")),
    ],
)
def test_each_state_of_an_agent_has_a_glyph_and_a_word(
    state: DeskState, shown: tuple[str, str]
) -> None:
    (one,) = standings(state)
    assert (one.glyph, one.word) == shown


def test_an_agent_with_a_pending_trade_needs_approval() -> None:
    view = replace(STATE.supervision, pending_trades=(pending_trade_of(agent_id=HERON.agent_id),))
    (one,) = standings(replace(alone(), supervision=view))
    assert (one.word, one.is_inconspicuous) == ("needs approval", False)


def test_a_paused_agent_with_a_pending_trade_is_shown_as_paused() -> None:
    view = replace(STATE.supervision, pending_trades=(pending_trade_of(agent_id=HERON.agent_id),))
    (one,) = standings(replace(alone(paused=True), supervision=view))
    assert (one.glyph, one.word) == ("‖", "paused")


@pytest.mark.parametrize(
    ("state", "word"),
    [
        (SkillRunState.RUNNING, "needs approval"),
        (SkillRunState.STOPPED, "stopped, 1 approval"),
        (SkillRunState.DONE, "stopped, 1 approval"),
    ],
)
def test_a_stopped_agent_is_shown_as_stopped_with_its_pending_approval(
    state: SkillRunState, word: str
) -> None:
    run = run_of(agent_id=HERON.agent_id, state=state)
    pending = (pending_trade_of(agent_id=HERON.agent_id),)
    (one,) = standings(
        replace(alone(), supervision=SupervisionView(pending_trades=pending, runs=(run,)))
    )
    assert (one.word, one.is_inconspicuous) == (word, False)


def test_several_agents_that_need_approval_are_counted() -> None:
    def asking(width: int, *names: str) -> str:
        pending = tuple(
            pending_trade_of(f"h{place}", agent_id=name) for place, name in enumerate(names)
        )
        view = replace(STATE.supervision, pending_trades=pending)
        fleet = replace(
            STATE.fleet,
            agents=tuple(replace(one, paused=False, suspended=False) for one in STATE.fleet.agents),
        )
        found = standings(replace(STATE, fleet=fleet, supervision=view))
        return strip(found, width).plain

    agents = [one.agent_id for one in STATE.fleet.agents if not one.is_own]
    assert asking(200, agents[0], agents[0]).startswith("? heron needs approval")
    assert asking(40, *agents) == "? 3 agents ask"


def test_a_stopped_agent_is_named_with_the_number_of_its_approvals() -> None:
    run = run_of(agent_id=HERON.agent_id, state=SkillRunState.STOPPED)
    pending = tuple(pending_trade_of(name, agent_id=HERON.agent_id) for name in ("h1", "h2"))
    (one,) = standings(
        replace(alone(), supervision=SupervisionView(pending_trades=pending, runs=(run,)))
    )
    assert one.word == "stopped, 2 approvals"


def test_the_longest_form_that_fits_is_shown() -> None:
    calm = [AgentStanding(f"a{place}", "●", "active", "profit") for place in range(12)]
    agents = [AgentStanding("moss", "✗", "crashed", "loss"), *calm]
    assert strip(agents, 200).plain.startswith("✗ moss crashed  ● a0 active")
    assert strip(agents, 60).plain == "✗ moss crashed  ● 12 active"
    assert strip(agents, 24).plain == "✗ 1 crashed  ● 12 active"
    assert strip(agents, 18).plain == "✗ 1 crashed  ●12"
    assert strip(agents, 12).plain == "✗1  ●12"
    assert strip(agents, 6).plain == "✗1 ●12"
    assert strip(agents, 5) is None
    assert strip([], 200) is None


def test_states_that_need_the_person_keep_their_word_longest() -> None:
    asks = [AgentStanding(f"a{place}", "?", "needs approval", "warn") for place in range(2)]
    lost = AgentStanding("moss", "✗", "crashed", "loss")
    calm = [AgentStanding(f"c{place}", "●", "active", "profit") for place in range(2)]
    agents = [*asks, lost, *calm]
    assert strip(agents, 40).plain == "? 2 agents ask  ✗ 1 crashed  ● 2 active"
    assert strip(agents, 34).plain == "? 2 ask  ✗ 1 crashed  ● 2 active"
    assert strip(agents, 28).plain == "? 2 ask  ✗ 1 crashed  ●2"
    assert strip(agents, 20).plain == "?2  ✗1  ●2"


@examples(15)
@given(st.integers(10, 250), st.integers(0, 40))
def test_the_strip_displaces_nothing_else_in_the_header(width: int, count: int) -> None:
    agents = tuple(
        AgentStanding(f"agent-{place}", "●", "active", "profit") for place in range(count)
    )
    bits = world_bits(STATE, NOW)
    plain = [text.plain for _, _, text in fitted_bits(bits, width)]
    shown = fitted_bits(with_fleet(bits, agents, width), width)
    assert [text.plain for index, _, text in shown if index < len(bits)] == plain
    taken = sorted((left, left + text.cell_len) for _, left, text in shown)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(taken))
    if len(shown) > len(plain):
        assert taken[-1][1] <= width


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (160, 50)])
async def test_the_header_shows_the_strip_at_every_size(size: tuple[int, int]) -> None:
    async with running(STATE, first="settings", size=size) as seen:
        head = "\n".join(seen.lines[:2])
        assert "world" in head
        assert "online" in head
        assert "suspended" in head or "■1" in head
