"""Experiments as they are answered, and what a backtest's figures add up to."""

from typing import Any

import pytest

from kit.engine.bare import AT, bare_world, listed
from kit.service.bare import bare_service, request_to
from service_tui.engine.events import ExperimentLogged
from service_tui.outcome import NO, VOID, YES, Outcome
from service_tui.server.http.refusals import Denied
from service_tui.server.routes import research
from service_tui.server.routes.research import BacktestData
from service_tui.storage.entries import Bound, EntryQuery, Sums
from service_tui.terms import Direction, ExperimentStatus, Venue
from service_tui.units import ONE, Timestamp
from service_tui.wire.research import (
    BacktestBody,
    BacktestRequest,
    ExperimentLoggedBody,
    ExperimentRequest,
    ExperimentsQuery,
    StateQuery,
)

KEEP, DISCARD = ExperimentStatus.KEEP, ExperimentStatus.DISCARD


def asked(config: dict[str, float], **more: Any) -> BacktestRequest:
    return BacktestRequest(skill_slug="dip", config=config, days=7, **more)


def weighed(request: BacktestRequest, found: BacktestData, **prices: float) -> BacktestBody:
    return research.weigh(request, research.thresholds_in(request), found, prices)


def data(*sums: Sums, **more: Any) -> BacktestData:
    given: dict[str, Any] = {"rows": (), "keys": ("edge",), "unknown": (), "silent": 0}
    return BacktestData(sums, **{**given, **more})


DECIDED = Sums(None, None, 5, 10 * ONE, 0, 3, 12 * ONE, 0, 2)
HELD = Sums("m1", "no", 4, -8 * ONE, 20 * ONE, 1, -2 * ONE, 5 * ONE, 0)


def test_what_is_decided_counts_as_it_ended() -> None:
    told = weighed(asked({"min_edge": 1.0}), data(DECIDED))

    assert (told.trades_total, told.trades_included, told.trades_excluded) == (5, 3, 2)
    assert (told.original_pnl, told.simulated_pnl) == (10.0, 12.0)
    assert told.win_rate == pytest.approx(2 / 3)
    assert told.improvement_pct == pytest.approx(20.0)
    assert (told.trades_open, told.message) == (0, "")
    assert (told.days, told.venue, told.skill_slug) == (7, Venue.SIM, "dip")


def test_what_is_held_counts_at_the_price_of_its_side() -> None:
    told = weighed(asked({"min_edge": 1.0}), data(HELD), m1=0.25)

    assert (told.original_pnl, told.simulated_pnl) == (7.0, 1.75)
    assert (told.trades_total, told.trades_included, told.trades_open) == (4, 1, 4)
    assert told.win_rate == 0.0
    assert told.message.startswith("nothing that passes is decided yet")


def test_a_market_that_is_forgotten_counts_for_nothing() -> None:
    told = weighed(asked({"min_edge": 1.0}), data(DECIDED, HELD))

    assert (told.original_pnl, told.trades_total, told.trades_open) == (10.0, 5, 4)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (data(), "this agent has no trade of dip on sim in the last 7 days"),
        (data(silent=3), "none of the 3 trades of dip on sim in the last 7 days carries"),
        (data(DECIDED, silent=3), "3 trades carry no signal_data and were left out"),
        (data(DECIDED, unknown=("odds",)), "figure named odds, which excludes all; known: edge"),
        (data(DECIDED, unknown=("odds",), keys=()), "excludes all; known: none"),
    ],
)
def test_the_message_says_what_the_figures_lack(found: BacktestData, words: str) -> None:
    told = weighed(asked({"min_edge": 1.0}), found)

    assert words in told.message
    assert told.unknown_keys == found.unknown
    assert told.trades_without_signal == found.silent


def test_unknown_figures_do_not_matter_where_there_is_no_trade() -> None:
    assert weighed(asked({"min_odds": 1.0}), data(unknown=("odds",))).unknown_keys == ()


def test_a_sweep_tries_every_value_and_names_the_best() -> None:
    rows = [
        (6 * ONE, 0, None, None, '{"edge": 3, "odds": 1}'),
        (-2 * ONE, 0, None, None, '{"edge": 1, "odds": 1}'),
        (-8 * ONE, 20 * ONE, "m1", "yes", '{"edge": 2, "odds": 1}'),
        (90 * ONE, 0, None, None, '{"edge": 9, "odds": 0}'),
        (90 * ONE, 9, "gone", "yes", '{"edge": 9, "odds": 1}'),
    ]
    request = asked({"min_odds": 1.0, "min_edge": 7.0}, sweep={"min_edge": (1.0, 2.0, 3.0)})

    told = weighed(request, data(DECIDED, rows=rows), m1=0.6)

    first, second, third = told.points
    assert [one.config for one in told.points] == [
        {"min_odds": 1.0, "min_edge": value} for value in (1.0, 2.0, 3.0)
    ]
    assert [one.trades_included for one in told.points] == [3, 2, 1]
    assert [one.trades_excluded for one in told.points] == [2, 3, 4]
    assert [one.simulated_pnl for one in told.points] == [8.0, 10.0, 6.0]
    assert (first.win_rate, second.win_rate, third.win_rate) == (0.5, 1.0, 1.0)
    assert first.improvement_pct == pytest.approx(-20.0)
    assert told.best == second


@pytest.mark.parametrize(
    ("fixed", "passed"),
    [
        ({"min_odds": -5.0}, [1.0, 2.0]),
        ({"max_odds": 5.0}, [1.0, 2.0]),
        ({"min_odds": 0.0}, [2.0]),
        ({"max_odds": -1.0}, [1.0]),
        ({"min_odds": -9.0, "max_size": 9.0}, []),
    ],
)
def test_a_trade_without_a_figure_passes_no_threshold_of_it(
    fixed: dict[str, float], passed: list[float]
) -> None:
    """What is not known is neither nothing nor small."""
    rows: Any = [
        (ONE, 0, None, None, '{"edge": 1, "odds": -1}'),
        (2 * ONE, 0, None, None, '{"edge": 2, "odds": 0}'),
        (4 * ONE, 0, None, None, '{"edge": 4}'),
        (8 * ONE, 0, None, None, "{}"),
    ]
    request = asked(fixed, sweep={"min_edge": (0.0,)})
    found = research.passing(rows, research.thresholds_in(request), {})
    assert [one.pnl / ONE for one in found] == passed
    assert [one.signals for one in found] == [(edge,) for edge in passed]


def test_a_swept_figure_that_a_trade_lacks_is_none() -> None:
    rows: Any = [(ONE, 9, "m1", "no", '{"odds": 1}'), (2 * ONE, 0, "gone", "yes", '{"odds": 1}')]
    request = asked({"min_odds": 1.0}, sweep={"min_edge": (0.0,), "max_size": (1.0,)})
    (one,) = research.passing(rows, research.thresholds_in(request), {"m1": 0.4})
    assert one == (ONE + int(9 * 0.6), True, (None, None))


@pytest.mark.parametrize(("held", "worth", "is_open"), [(1, 0, True), (3, 2, True), (0, 0, False)])
def test_what_is_held_is_open_and_its_worth_is_never_rounded_up(
    held: int, worth: int, *, is_open: bool
) -> None:
    rows: Any = [(ONE, held, "m1", "yes", "{}")]
    request = asked({}, sweep={"min_edge": (0.0,)})
    (one,) = research.passing(rows, research.thresholds_in(request), {"m1": 0.9})
    assert one == (ONE + worth, is_open, (None,))


def test_thresholds_of_a_sweep_vary_and_the_others_hold() -> None:
    request = asked({"min_edge": 1.0, "max_odds": 2.0}, sweep={"min_edge": (1.0,), "fee": (2.0,)})

    found = research.thresholds_in(request)

    assert [one.name for one in found.config] == ["min_edge", "max_odds"]
    assert [one.name for one in found.fixed] == ["max_odds"]
    assert [one.name for one in found.swept] == ["min_edge", "fee"]
    assert found.keys == ("edge", "odds", "fee")


class Entries:
    """Entries whose answers a test gives; it notes what is asked."""

    def __init__(self) -> None:
        self.bounds: list[Bound] = []
        self.replayed = 0

    def signals_lately(self, _: EntryQuery) -> list[str]:
        return ['{"edge": 1, "size": 2}', '{"odds": 1}']

    def sums(self, _: EntryQuery, bounds: list[Bound]) -> list[Sums]:
        self.bounds = bounds
        return [DECIDED]

    def replay(self, _: EntryQuery) -> list[Any]:
        self.replayed += 1
        return ["row"]

    def carries(self, _: EntryQuery, key: str) -> bool:
        return key == "old"

    def silent(self, _: EntryQuery) -> int:
        return 4


QUERY = EntryQuery("ada", "dip", "sim", 0.0)


@pytest.mark.parametrize(("grid", "rows"), [(None, ()), ({"min_edge": (1.0,)}, ["row"])])
def test_what_is_on_disk_is_read_and_single_trades_for_a_sweep_only(
    grid: dict[str, tuple[float, ...]] | None, rows: Any
) -> None:
    entries: Any = Entries()
    request = asked({"min_edge": 1.0, "max_old": 2.0, "min_new": 3.0}, sweep=grid)

    found = research.read(entries, QUERY, research.thresholds_in(request))

    assert (found.sums, found.rows, found.silent, found.total) == ([DECIDED], rows, 4, 5)
    assert found.keys == ("edge", "odds", "size")
    assert found.unknown == ("new",)
    assert entries.bounds == [
        Bound("edge", is_max=False, value=1.0),
        Bound("old", is_max=True, value=2.0),
        Bound("new", is_max=False, value=3.0),
    ]


def test_a_share_is_worth_its_price_or_what_its_market_ended_with() -> None:
    world = bare_world()
    listed(world, "open")
    for market_id, outcome in (
        ("won", YES),
        ("lost", NO),
        ("part", Outcome.at(0.35)),
        ("void", VOID),
    ):
        listed(world, market_id).outcome = outcome
    sums = [
        HELD._replace(market_id=one)
        for one in ("open", "won", "lost", "part", "void", "gone", None)
    ]

    prices = research.prices_of(world, data(*sums), Venue.SIM)

    assert prices.keys() == {"open", "won", "lost", "part"}
    assert (prices["won"], prices["lost"], prices["part"]) == (1.0, 0.0, 0.35)
    assert prices["open"] == pytest.approx(0.4, abs=0.01)


def test_what_is_held_still_is_priced_by_both_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    world = bare_world()
    listed(world, "open")
    world.at, world.world_at = Timestamp(AT + 3), Timestamp(AT + 70)
    monkeypatch.setattr(research, "mark_of", lambda *given: given[1:])
    prices = research.prices_of(world, data(HELD._replace(market_id="open")), Venue.SIM)
    assert prices == {"open": (Venue.SIM, "open", (AT + 3, AT + 70))}


async def test_a_grid_that_is_too_large_is_refused() -> None:
    values = tuple(float(number) for number in range(20))
    request = asked({"min_edge": 1.0}, sweep={f"min_x{number}": values for number in range(4)})

    with pytest.raises(Denied) as refused:
        await research.backtest(request_to(bare_service(), "ada", body=request))

    assert refused.value.status == 422
    assert "160000 combinations are too many" in str(refused.value.body)


# -- experiments ----------------------------------------------------------------------------


async def post(service: Any, number: int, **more: Any) -> ExperimentLoggedBody:
    given: dict[str, Any] = {"status": KEEP, "metric_value": float(number)}
    body = ExperimentRequest(skill_slug="dip", experiment_number=number, **{**given, **more})
    return await research.post(request_to(service, more.pop("agent", "ada"), body=body))


@pytest.fixture
def service() -> Any:
    return bare_service(bare_world("ada", "ben"))


async def test_a_result_is_written_as_it_was_sent(service: Any) -> None:
    told = await post(
        service, 3, segment=2, metric_name="sharpe", metric_unit="x", description="wider",
        best_direction=Direction.LOWER, secondary_metrics={"trades": 4.0}, commit_hash="a" * 8,
        session="night", max_experiments=9, client_ref="ref-1", metric_value=0.5,
    )  # fmt: skip

    assert service.world_store.written == [
        ExperimentLogged(
            "x1", "ada", AT, "dip", 3, 2, KEEP, "sharpe", 0.5, "x", Direction.LOWER,
            {"trades": 4.0}, "wider", "a" * 8, "night", 9, "ref-1",
        )
    ]  # fmt: skip
    assert (told.id, told.experiment_number, told.already_known) == ("x1", 3, False)
    assert (told.is_new_best, told.prior_best_value, told.status_mismatch) == (True, None, False)


async def test_a_result_that_is_sent_again_is_kept_once(service: Any) -> None:
    first = await post(service, 1, client_ref="ref-1")
    again = await post(service, 1, client_ref="ref-1", metric_value=9.0)

    assert (again.id, again.already_known) == (first.id, True)
    assert len(service.world_store.written) == 1


@pytest.mark.parametrize(
    ("status", "metric", "told"),
    [
        (KEEP, 12.0, (True, False, False)),
        (KEEP, 8.0, (False, True, False)),
        (KEEP, 10.0, (False, True, False)),
        (KEEP, 0.0, (False, True, True)),
        (KEEP, None, (False, False, True)),
        (DISCARD, 8.0, (False, False, False)),
        (DISCARD, 12.0, (False, True, False)),
        (ExperimentStatus.CRASH, None, (False, False, False)),
        (ExperimentStatus.CRASH, 12.0, (False, False, False)),
    ],
)
async def test_a_status_is_compared_with_the_best_before(
    service: Any, status: ExperimentStatus, metric: float | None, told: tuple[bool, ...]
) -> None:
    await post(service, 10)

    found = await post(service, 11, status=status, metric_value=metric)

    assert (found.is_new_best, found.status_mismatch, found.zero_metric_keep) == told
    assert found.prior_best_value == 10.0


async def test_results_are_read_newest_first_a_page_at_a_time(service: Any) -> None:
    for number in (1, 2, 3):
        await post(service, number, commit_hash="abcdef1" if number == 2 else None)

    query = ExperimentsQuery(limit=1, offset=1)
    page = await research.experiments(request_to(service, "ada", query=query))

    (one,) = page.experiments
    assert (page.total_count, one.id, one.experiment_number, one.is_new_best) == (3, "x2", 2, True)
    assert (one.commit_hash, one.client_ref, one.metric_value) == ("abcdef1", None, 2.0)
    assert (one.agent_id, one.agent_name, one.created_at.timestamp()) == ("ada", "ada", AT)


async def test_a_session_stands_where_its_results_left_it(service: Any) -> None:
    fresh = await research.state(request_to(service, "ada", query=StateQuery()))
    for number in (1, 3, 2):
        await post(service, number, session="night", metric_unit="x", max_experiments=9)

    told = await research.state(request_to(service, "ada", query=StateQuery()))
    other = await research.state(request_to(service, "ada", query=StateQuery(skill_slug="fade")))

    assert (fresh.skill_slug, fresh.last_experiment_number) == (None, 0)
    assert (told.skill_slug, told.last_experiment_number, told.best_number) == ("dip", 3, 3)
    assert (told.best_metric, told.baseline_metric, told.experiment_count) == (3.0, 1.0, 3)
    assert (told.session, told.metric_unit, told.max_experiments) == ("night", "x", 9)
    assert told.last_at is not None
    assert told.last_at.timestamp() == AT
    assert (other.skill_slug, other.last_at, other.metric_name) == ("fade", None, None)


async def test_the_operator_reads_the_results_of_all_agents(service: Any) -> None:
    await post(service, 1)
    body = ExperimentRequest(skill_slug="fade", experiment_number=2, status=KEEP, metric_value=2.0)
    await research.post(request_to(service, "ben", body=body))

    told = await research.everything(request_to(service, query=ExperimentsQuery(limit=5)))
    one = await research.everything(
        request_to(service, query=ExperimentsQuery(limit=5, skill_slug="fade"))
    )

    assert {row.id for row in told.experiments} == {"x1", "x2"}
    assert {(row.agent_id, row.skill_slug) for row in told.sessions} == {
        ("ada", "dip"), ("ben", "fade"),
    }  # fmt: skip
    assert ([row.id for row in one.experiments], one.total_count) == (["x2"], 1)
    assert [row.skill_slug for row in one.sessions] == ["fade"]
