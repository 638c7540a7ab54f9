"""How an agent is, in a word with its reason; what it spent, and what it did last."""

from dataclasses import replace

import pytest

from kit.samples.desk import NOW
from kit.samples.fleet import fleet_state, leash_of, limits_of, pending_trade_of, run_of
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
from service_tui.desk.slices.supervision import Pace, SkillRunState, SupervisionView
from service_tui.terms import Action, AgentStatus, LeashMode, PendingStatus, Side
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
        (HERON, SupervisionView(pending_trades=(pending_trade_of(), pending_trade_of("h2"))),
         Health.NEEDS_APPROVAL, "2 trades need approval"),
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
        (HERON, SupervisionView(leashes=(FULL,), pending_trades=(pending_trade_of(),),
                                runs=(run_of(state=SkillRunState.STOPPED),)),
         Health.STOPPED, "1 traded; 1 trade needs approval"),
        (HERON, SupervisionView(pending_trades=(pending_trade_of(), pending_trade_of("h2")),
                                runs=(run_of(state=SkillRunState.DONE, why="it ended"),)),
         Health.STOPPED, "it ended; 2 trades need approval"),
        (replace(HERON, paused=True),
         SupervisionView(pending_trades=(pending_trade_of(),), runs=(run_of(),)),
         Health.PAUSED, "sales only; 1 trade needs approval"),
        (HERON, SupervisionView(pending_trades=(pending_trade_of(),), runs=(run_of(),)),
         Health.NEEDS_APPROVAL, "1 trade needs approval"),
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
    of_another = replace(pending_trade_of("h3"), agent_id="another")
    view = SupervisionView(
        pending_trades=(pending_trade_of(), pending_trade_of("h2"), of_another),
        runs=(run_of(state=state),),
    )
    told = health_of(HERON, view, NOW)
    assert (told.health, told.waiting) == (health, 2)
    assert health_of(HERON, replace(view, pending_trades=()), NOW).waiting == 0


def test_one_skill_that_goes_on_asks_also_where_another_was_stopped() -> None:
    ended, other = run_of("r2", state=SkillRunState.STOPPED), run_of(state=SkillRunState.RESTING)
    view = SupervisionView(pending_trades=(pending_trade_of(),), runs=(ended, other))
    assert health_of(HERON, view, NOW).health is Health.NEEDS_APPROVAL


def test_what_is_of_another_agent_says_nothing_of_this_one() -> None:
    crashed = run_of(state=SkillRunState.CRASHED, ended_at=Timestamp(NOW), budget=Micros(ONE))
    refused = pending_trade_of("h2", status=PendingStatus.REFUSED, decided_at=Timestamp(NOW))
    view = SupervisionView(
        leashes=(replace(FULL, agent_id="another"),),
        pending_trades=(replace(pending_trade_of(), agent_id="another"),),
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
    asked = SupervisionView(pending_trades=(pending_trade_of(),))
    assert last_action(early, asked, ()) == ("asks: buy YES 25.00", NOW - 40)
    refused = pending_trade_of("h0", status=PendingStatus.REFUSED, decided_at=Timestamp(NOW - 10))
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
    one = pending_trade_of(skill_slug="mean-reversion")
    view = SupervisionView(pending_trades=(one, replace(one, pending_id="other", skill_slug="")))
    assert still_waiting(view, one.agent_id) == "; 2 trades need approval"
    assert still_waiting(view, one.agent_id, "mean-reversion").startswith(
        "; 1 trade needs approval"
    )
    assert still_waiting(view, "nobody") == ""


LIVE = (
    SkillRunState.STARTING,
    SkillRunState.RUNNING,
    SkillRunState.RESTING,
    SkillRunState.DETACHED,
    SkillRunState.STOPPING,
)
SPENT = leash_of(budget=Micros(80 * ONE), spent=Micros(81 * ONE))


@pytest.mark.parametrize(
    ("agent", "view", "why"),
    [
        (replace(HERON, retired=True), runs(), "retired by you: uses no slot, history kept"),
        (
            replace(HERON, retired=True, suspended=True),
            NONE,
            "retired by you: uses no slot, history kept",
        ),
        (replace(HERON, paused=True), runs(), "paused by you: sales only"),
        (
            replace(HERON, status=AgentStatus.BROKE),
            NONE,
            "no cash, and no position to sell",
        ),
        (HERON, runs(state=SkillRunState.SUSPENDED), "trading is halted"),
        (
            HERON,
            SupervisionView(leashes=(SPENT,)),
            "81.00 of 80.00 spent today, whole agent",
        ),
        (
            HERON,
            SupervisionView(leashes=(replace(SPENT, skill_slug="momentum"),)),
            "81.00 of 80.00 spent today, momentum",
        ),
        (
            replace(HERON, limits=limits_of(buys_today=497, buys_resting=3)),
            NONE,
            "500/500 buys of the day used, 3 of them open orders",
        ),
        (
            replace(HERON, limits=limits_of(buys_today=501)),
            NONE,
            "501/500 buys of the day used",
        ),
        (
            HERON,
            SupervisionView(pending_trades=(pending_trade_of(),)),
            "1 trade needs approval",
        ),
        (
            replace(HERON, last_trade_at=None),
            runs(
                pace=Pace.LOOP,
                state=SkillRunState.DETACHED,
                started_at=Timestamp(NOW - SILENT_S - 61),
            ),
            "running, no output and no trade for 11 minutes",
        ),
        (HERON, runs(live=False), "mean-reversion: paper trading"),
        (HERON, runs(state=SkillRunState.STOPPED, report=""), "mean-reversion: stopped"),
        (HERON, runs(state=SkillRunState.DONE), "mean-reversion: 3 looked at, 1 traded"),
        (HERON, NONE, "trading"),
        (
            replace(HERON, last_trade_at=Timestamp(NOW - 3 * QUIET_S)),
            NONE,
            "no trade for 3 hours",
        ),
        (replace(HERON, last_trade_at=None), NONE, "no trades yet"),
    ],
)
def test_the_reason_is_told_in_full(agent: object, view: object, why: str) -> None:
    assert health_of(agent, view, NOW).why == why


@pytest.mark.parametrize("state", LIVE)
def test_a_run_that_lives_is_told_with_its_state(state: SkillRunState) -> None:
    told = health_of(HERON, runs(state=state), NOW)
    assert told.health is Health.RUNNING
    assert told.why == f"mean-reversion: {state.value}"
    paper = health_of(HERON, runs(state=state, live=False), NOW)
    is_told = state is not SkillRunState.STOPPING
    assert paper.health is (Health.OBSERVES if is_told else Health.RUNNING)


@pytest.mark.parametrize(
    ("before_s", "health"),
    [(QUIET_S, Health.ACTIVE), (QUIET_S + 1, Health.QUIET)],
)
def test_an_hour_without_a_trade_is_quiet(before_s: float, health: Health) -> None:
    agent = replace(HERON, last_trade_at=Timestamp(NOW - before_s))
    assert health_of(agent, NONE, NOW).health is health


@pytest.mark.parametrize(
    ("run", "health"),
    [
        ({"started_at": Timestamp(NOW - SILENT_S)}, Health.RUNNING),
        ({"started_at": Timestamp(NOW - SILENT_S - 1)}, Health.SILENT),
        ({"started_at": None}, Health.RUNNING),
        ({"started_at": Timestamp(NOW - 9 * SILENT_S), "pace": Pace.EVERY}, Health.RUNNING),
        (
            {"started_at": Timestamp(NOW - 9 * SILENT_S), "state": SkillRunState.RESTING},
            Health.RUNNING,
        ),
    ],
)
def test_only_a_loop_that_runs_is_silent(run: dict[str, object], health: Health) -> None:
    agent = replace(HERON, last_trade_at=None)
    view = runs(**{"pace": Pace.LOOP, **run})
    assert health_of(agent, view, NOW).health is health


@pytest.mark.parametrize(
    ("limits", "health"),
    [
        (limits_of(buys_today=499), Health.ACTIVE),
        (limits_of(buys_today=499, buys_resting=1), Health.LIMIT),
        (limits_of(buys_today=9_999, buys_max=None), Health.ACTIVE),
        (None, Health.ACTIVE),
    ],
)
def test_the_buys_of_a_day_are_those_done_and_those_that_rest(
    limits: object, health: Health
) -> None:
    assert health_of(replace(HERON, limits=limits), NONE, NOW).health is health


def test_the_budget_that_is_nearest_its_end_binds() -> None:
    wide = leash_of(budget=Micros(200 * ONE), spent=Micros(150 * ONE))
    near = leash_of(skill_slug="mean-reversion", budget=Micros(60 * ONE), spent=Micros(50 * ONE))
    for leashes in ((wide, near), (near, wide)):
        view = SupervisionView(leashes=leashes, runs=(run_of(),))
        assert spend_of(HERON, view) == (50 * ONE, 60 * ONE)
    far = replace(near, spent=Micros(5 * ONE))
    view = SupervisionView(leashes=(wide, far), runs=(run_of(),))
    assert spend_of(HERON, view) == (150 * ONE, 200 * ONE)


def test_without_a_leash_the_budget_is_that_of_the_run_that_lives() -> None:
    ended = run_of("r0", state=SkillRunState.DONE, budget=Micros(7 * ONE))
    view = SupervisionView(runs=(ended, run_of(budget=Micros(9 * ONE))))
    agent = replace(HERON, spent_today=Micros(3 * ONE))
    assert spend_of(agent, view) == (3 * ONE, 9 * ONE)
    assert spend_of(agent, SupervisionView(runs=(ended,))) == (3 * ONE, None)


def test_a_threshold_counts_in_the_mode_that_asks_alone() -> None:
    low = leash_of(mode=LeashMode.AUTO, threshold=Micros(ONE), spent=Micros(0))
    high = leash_of(mode=LeashMode.AUTO, threshold=Micros(9 * ONE), spent=Micros(50 * ONE))
    assert strictest_leash(HERON, SupervisionView(leashes=(low, high))) == high
    asks_low = replace(low, mode=LeashMode.ASK)
    asks_high = replace(high, mode=LeashMode.ASK)
    for leashes in ((asks_low, asks_high), (asks_high, asks_low)):
        assert strictest_leash(HERON, SupervisionView(leashes=leashes)) == asks_low
    # Of two that are alike the one with less left is the stricter, and none is the widest.
    endless = replace(high, budget=None)
    most = replace(high, spent=Micros(99 * ONE))
    for leashes in ((high, endless, most), (most, high, endless)):
        assert strictest_leash(HERON, SupervisionView(leashes=leashes)) == most


def test_the_leashes_of_the_skills_that_run_bind_else_those_of_the_last() -> None:
    own = leash_of(skill_slug="momentum", budget=Micros(10 * ONE), spent=Micros(1 * ONE))
    other = leash_of(skill_slug="rests", budget=Micros(2 * ONE), spent=Micros(1 * ONE))
    both = (own, other)
    first = run_of("r1", skill_slug="rests", state=SkillRunState.STOPPED)
    lives = run_of("r2", skill_slug="momentum")
    assert spend_of(HERON, SupervisionView(leashes=both, runs=(first, lives))) == (
        ONE,
        10 * ONE,
    )
    stopped = replace(lives, state=SkillRunState.STOPPED)
    assert spend_of(HERON, SupervisionView(leashes=both, runs=(stopped, first))) == (
        ONE,
        10 * ONE,
    )
    unbound = run_of("r3", skill_slug="free")
    assert spend_of(HERON, SupervisionView(leashes=both, runs=(unbound,))) == (ONE, 2 * ONE)


def test_a_run_that_goes_on_began_and_one_that_ended_ended() -> None:
    agent = replace(HERON, last_trade_at=None)
    began = SupervisionView(runs=(run_of(), run_of("r2", started_at=Timestamp(NOW))))
    assert last_action(agent, began, ()) == ("began mean-reversion", NOW - 600)
    never = SupervisionView(runs=(run_of(started_at=None),))
    assert last_action(agent, never, ()) is None


def test_a_sale_is_told_by_its_shares_and_the_last_decision_alone() -> None:
    agent = replace(HERON, last_trade_at=None)
    sale = {"action": Action.SELL, "shares": Micros(12_500_000), "side": Side.NO}
    view = SupervisionView(pending_trades=(pending_trade_of(**sale),))
    assert last_action(agent, view, ()) == ("asks: sell NO 12.50", NOW - 40)
    newest = pending_trade_of("h1", status=PendingStatus.REFUSED, decided_at=None)
    older = pending_trade_of("h2", status=PendingStatus.REFUSED, decided_at=Timestamp(NOW))
    assert last_action(agent, SupervisionView(decided=(newest, older)), ()) is None


def test_a_fill_has_the_later_of_two_times() -> None:
    fill = replace(fleet_state().fills[1], agent_id=HERON.agent_id, at=Timestamp(NOW - 20))
    later = replace(HERON, last_trade_at=Timestamp(NOW - 5))
    action = last_action(later, NONE, (fill,))
    assert action is not None
    assert action[1] == NOW - 5
    silent = last_action(replace(HERON, last_trade_at=None), NONE, (fill,))
    assert silent is not None
    assert silent[1] == NOW - 20


@pytest.mark.parametrize(
    ("agent", "view", "why"),
    [
        (replace(HERON, suspended=True), NONE, "suspended by you"),
        (
            HERON,
            runs(state=SkillRunState.CRASHED, restarts=5, why="exit code 3"),
            "crashed 6 times, exit code 3",
        ),
        (
            HERON,
            runs(state=SkillRunState.BACKING_OFF, restarts=2, why="exit code 1"),
            "crashed 2 times, exit code 1",
        ),
    ],
)
def test_a_failure_is_told_in_full(agent: object, view: object, why: str) -> None:
    assert health_of(agent, view, NOW).why == why


@pytest.mark.parametrize(
    ("leash", "health"),
    [
        (leash_of(budget=Micros(1_000 * ONE), spent=Micros(999 * ONE)), Health.BUDGET),
        (leash_of(budget=Micros(1_000 * ONE), spent=Micros(998_900_000)), Health.ACTIVE),
        (leash_of(budget=None, spent=Micros(998 * ONE)), Health.ACTIVE),
        (leash_of(budget=Micros(0), spent=Micros(0)), Health.ACTIVE),
    ],
)
def test_a_budget_is_spent_but_for_a_thousandth(leash: object, health: Health) -> None:
    assert health_of(HERON, SupervisionView(leashes=(leash,)), NOW).health is health


def test_a_budget_binds_while_another_skill_goes_on() -> None:
    stopped = run_of("r1", state=SkillRunState.STOPPED)
    both = SupervisionView(leashes=(SPENT,), runs=(stopped, run_of("r2")))
    assert health_of(HERON, both, NOW).health is Health.BUDGET
    assert health_of(HERON, replace(both, runs=(stopped,)), NOW).health is Health.STOPPED


def test_a_loop_that_traded_of_late_is_not_silent() -> None:
    view = runs(pace=Pace.LOOP, started_at=Timestamp(NOW - 9 * SILENT_S))
    traded = replace(HERON, last_trade_at=Timestamp(NOW - 5))
    assert health_of(traded, view, NOW).health is Health.RUNNING
