"""How an agent is, in a word with its reason; what it spent, and what it did last."""

from dataclasses import replace

import pytest

from kit.samples.desk import NOW
from kit.samples.fleet import fleet_state, held_of, leash_of, limits_of, run_of
from service_tui.desk.agents.health import (
    _REASONS,
    QUIET_S,
    SILENT_S,
    Health,
    health_of,
    last_action,
    spend_of,
    still_waiting,
    strictest_leash,
)
from service_tui.desk.slices.fleet import Pace, SkillRunState, SupervisionView
from service_tui.terms import AgentStatus, HeldStatus, LeashMode
from service_tui.units import ONE, Micros, Timestamp

HERON = replace(
    fleet_state().fleet.agents[1], paused=False, limits=limits_of(), last_trade_at=Timestamp(NOW)
)
NONE = SupervisionView()
FULL = leash_of(budget=Micros(82 * ONE))


def runs(**other: object) -> SupervisionView:
    return SupervisionView(runs=(run_of(**other),))


@pytest.mark.parametrize(
    ("agent", "view", "health", "why"),
    [
        (replace(HERON, suspended=True), runs(), Health.SUSPENDED, "suspended by you"),
        (HERON, runs(state=SkillRunState.CRASHED, restarts=5, why="exit code 3"),
         Health.CRASHED, "crashed 6 times, exit code 3"),
        (replace(HERON, status=AgentStatus.BROKE), NONE, Health.BROKE, "no cash"),
        (HERON, runs(state=SkillRunState.BACKING_OFF, restarts=2, why="exit code 1"),
         Health.BACKING_OFF, "crashed 2 times, exit code 1"),
        (HERON, runs(state=SkillRunState.SUSPENDED), Health.HALTED, "halted"),
        (replace(HERON, paused=True), runs(), Health.PAUSED, "sales only"),
        (HERON, SupervisionView(leashes=(FULL,)), Health.BUDGET, "82.00 of 82.00 spent today"),
        (HERON, runs(state=SkillRunState.DONE, report="daily budget reached"), Health.BUDGET,
         "daily budget reached"),
        (replace(HERON, limits=limits_of(buys_today=500)), NONE, Health.LIMIT, "500/500 buys"),
        (HERON, SupervisionView(held=(held_of(), held_of("h2"))), Health.NEEDS_APPROVAL,
         "2 trades need approval"),
        (replace(HERON, last_trade_at=None),
         runs(pace=Pace.LOOP, started_at=Timestamp(NOW - SILENT_S - 61)), Health.SILENT,
         "no trade for 11 minutes"),
        (HERON, runs(live=False), Health.OBSERVES, "paper trading"),
        (HERON, runs(), Health.RUNNING, "mean-reversion: running"),
        (HERON, runs(state=SkillRunState.STOPPED, why="by hand"), Health.STOPPED,
         "by hand"),
        (HERON, SupervisionView(leashes=(FULL,), runs=(run_of(state=SkillRunState.STOPPED),)),
         Health.STOPPED, "mean-reversion"),
        (replace(HERON, limits=limits_of(buys_today=500)), runs(state=SkillRunState.STOPPED),
         Health.STOPPED, "mean-reversion"),
        (HERON, SupervisionView(leashes=(FULL,), runs=(run_of(state=SkillRunState.STOPPING),)),
         Health.BUDGET, "82.00 of 82.00"),
        (HERON, SupervisionView(leashes=(FULL,), held=(held_of(),),
                                runs=(run_of(state=SkillRunState.STOPPED),)),
         Health.STOPPED, "1 traded; 1 trade needs approval"),
        (HERON, SupervisionView(held=(held_of(), held_of("h2")),
                                runs=(run_of(state=SkillRunState.DONE, why="it ended"),)),
         Health.STOPPED, "it ended; 2 trades need approval"),
        (replace(HERON, paused=True), SupervisionView(held=(held_of(),), runs=(run_of(),)),
         Health.PAUSED, "sales only; 1 trade needs approval"),
        (HERON, SupervisionView(held=(held_of(),), runs=(run_of(),)), Health.NEEDS_APPROVAL,
         "1 trade needs approval"),
        (HERON, NONE, Health.ACTIVE, "trading"),
        (replace(HERON, last_trade_at=Timestamp(NOW - 3 * QUIET_S)), NONE, Health.QUIET, "3 hours"),
        (replace(HERON, last_trade_at=None), NONE, Health.NEW, "no trades yet"),
    ],
)  # fmt: skip
def test_an_agent_is_told_by_the_worst_that_is_true_of_it(
    agent: object, view: object, health: Health, why: str
) -> None:
    told = health_of(agent, view, NOW)
    assert told.health is health
    assert why in told.why


@pytest.mark.parametrize(
    ("state", "health"),
    [
        (SkillRunState.RUNNING, Health.NEEDS_APPROVAL),
        (SkillRunState.DETACHED, Health.NEEDS_APPROVAL),
        (SkillRunState.STOPPED, Health.STOPPED),
        (SkillRunState.DONE, Health.STOPPED),
        (SkillRunState.CRASHED, Health.CRASHED),
    ],
)
def test_what_waits_is_counted_beside_the_state(state: SkillRunState, health: Health) -> None:
    of_another = replace(held_of("h3"), agent_id="another")
    view = SupervisionView(held=(held_of(), held_of("h2"), of_another), runs=(run_of(state=state),))
    told = health_of(HERON, view, NOW)
    assert (told.health, told.waiting) == (health, 2)
    assert health_of(HERON, replace(view, held=()), NOW).waiting == 0


def test_one_skill_that_goes_on_asks_also_where_another_was_stopped() -> None:
    ended, other = run_of("r2", state=SkillRunState.STOPPED), run_of(state=SkillRunState.RESTING)
    view = SupervisionView(held=(held_of(),), runs=(ended, other))
    assert health_of(HERON, view, NOW).health is Health.NEEDS_APPROVAL


def test_what_is_of_another_agent_says_nothing_of_this_one() -> None:
    crashed = run_of(state=SkillRunState.CRASHED, ended_at=Timestamp(NOW), budget=Micros(ONE))
    refused = held_of("h2", status=HeldStatus.REFUSED, decided_at=Timestamp(NOW))
    view = SupervisionView(
        leashes=(replace(FULL, agent_id="another"),),
        held=(replace(held_of(), agent_id="another"),),
        decided=(replace(refused, agent_id="another"),),
        runs=(
            replace(crashed, agent_id="another"),
            replace(crashed, agent_id="another", state=SkillRunState.RUNNING),
        ),
    )
    fills = (replace(fleet_state().fills[1], agent_id="another", at=Timestamp(NOW)),)
    early = replace(HERON, last_trade_at=Timestamp(NOW - 500))
    assert health_of(early, view, NOW) == health_of(early, NONE, NOW)
    assert spend_of(early, view) == spend_of(early, NONE)
    assert strictest_leash(early, view) is None
    assert last_action(early, view, fills) == ("traded", NOW - 500)


def test_the_order_of_the_reasons_is_the_rank_of_the_words() -> None:
    assert [health for health, _ in _REASONS] == [one for one in Health if one is not Health.NEW]


def test_a_run_that_wrote_of_late_is_not_silent() -> None:
    old = Timestamp(NOW - 2 * SILENT_S)
    agent = replace(HERON, last_trade_at=None)
    loop = run_of(pace=Pace.LOOP, started_at=old, output_at=Timestamp(NOW - 5))
    assert health_of(agent, SupervisionView(runs=(loop,)), NOW).health is Health.RUNNING
    quiet = replace(loop, output_at=old)
    assert health_of(agent, SupervisionView(runs=(quiet,)), NOW).health is Health.SILENT


def test_a_halt_is_told_of_every_agent() -> None:
    assert health_of(HERON, NONE, NOW, halted=True).health is Health.HALTED


def test_the_stricter_of_the_leashes_of_agent_and_skill_is_told() -> None:
    own = leash_of(mode=LeashMode.OBSERVE, budget=None)
    skills = leash_of(skill_slug="mean-reversion", spent=Micros(3 * ONE))
    view = SupervisionView(leashes=(skills,), runs=(run_of(),))
    assert strictest_leash(HERON, view) == skills
    assert spend_of(HERON, view) == (3 * ONE, 100 * ONE)
    both = replace(view, leashes=(skills, own))
    assert strictest_leash(HERON, both) == own
    assert spend_of(HERON, both) == (3 * ONE, 100 * ONE)
    free = leash_of(mode=LeashMode.AUTO, budget=Micros(30 * ONE), spent=Micros(10 * ONE))
    asks = replace(skills, budget=Micros(20 * ONE), spent=Micros(10 * ONE))
    other = replace(asks, skill_slug="rests", mode=LeashMode.OBSERVE, budget=Micros(ONE))
    for leashes in ((free, asks, other), (other, asks, free)):
        bound = replace(view, leashes=leashes)
        assert strictest_leash(HERON, bound) == asks
        assert spend_of(HERON, bound) == (10 * ONE, 20 * ONE)
    assert spend_of(replace(HERON, spent_today=Micros(7)), NONE) == (7, None)


def test_the_last_action_is_the_newest_of_trade_request_decision_and_run() -> None:
    early = replace(HERON, last_trade_at=Timestamp(NOW - 500))
    assert last_action(early, NONE, ()) == ("traded", NOW - 500)
    asked = SupervisionView(held=(held_of(),))
    assert last_action(early, asked, ()) == ("asks: buy YES 25.00", NOW - 40)
    refused = held_of("h0", status=HeldStatus.REFUSED, decided_at=Timestamp(NOW - 10))
    decided = replace(asked, decided=(refused,))
    assert last_action(early, decided, ()) == ("refused: buy YES 25.00", NOW - 10)
    ended = run_of(state=SkillRunState.CRASHED, ended_at=Timestamp(NOW - 1))
    words = ("crashed: mean-reversion", NOW - 1)
    assert last_action(early, replace(decided, runs=(ended,)), ()) == words
    fill = replace(fleet_state().fills[1], agent_id=HERON.agent_id, at=Timestamp(NOW - 20))
    words = (f"{fill.action.value} {fill.side.value.upper()} {fill.money / ONE:,.2f}", NOW - 20)
    assert last_action(early, NONE, (fill,)) == words
    assert last_action(replace(early, last_trade_at=None), NONE, ()) is None


def test_what_still_waits_of_an_agent_or_a_skill_is_counted() -> None:
    one = held_of(skill_slug="mean-reversion")
    view = SupervisionView(held=(one, replace(one, held_id="other", skill_slug="")))
    assert still_waiting(view, one.agent_id) == "; 2 trades need approval"
    assert still_waiting(view, one.agent_id, "mean-reversion").startswith(
        "; 1 trade needs approval"
    )
    assert still_waiting(view, "nobody") == ""
