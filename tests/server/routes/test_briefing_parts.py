"""Parts of a briefing: what needs attention, what is new, and how an agent does."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from kit.service.bare import bare_service, request_to
from service_tui.engine.books.venues import VenueAccount, VenuePosition
from service_tui.engine.events import Breached
from service_tui.engine.position import Position, SidePosition
from service_tui.engine.risk.alerts import RiskAlert
from service_tui.engine.risk.monitors import MonitoredSide
from service_tui.engine.transitions import PositionState
from service_tui.server.results.by_source import SourceSums
from service_tui.server.routes import briefing
from service_tui.skills.package import SkillPackage
from service_tui.terms import AlertStatus, ExitReason, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.base import moment
from service_tui.wire.briefing import BriefingQuery
from service_tui.wire.monitors import RiskAlertBody
from service_tui.wire.positions import PositionBody, PositionSideBody

NOW = datetime.fromtimestamp(AT, UTC)


def held(cost: float, value: float, left_s: float | None = 9e6) -> PositionBody:
    side: dict[str, Any] = {
        "side": "no", "shares": 7.0, "cost_basis": cost, "avg_cost": None, "mark_price": 0.5,
        "current_value": value, "exit_value": 0.0, "realized_pnl": 0.0, "opened_at": NOW,
        "unrealized_pnl": 0.0,
    }  # fmt: skip
    resolves_at = None if left_s is None else moment(Timestamp(AT + left_s))
    return PositionBody(
        market_id="m1", question="Q?", url="https://venue/m1", shares_yes=0.0, shares_no=7.0,
        current_price=0.4, resolves_at=resolves_at, venue=Venue.EVM,
        sides=(PositionSideBody(**side),),
    )  # fmt: skip


def test_a_position_that_moved_far_is_told_with_its_move() -> None:
    (row,) = briefing._venue_attention([held(8.0, 4.0, None)], NOW)
    assert row.model_dump(exclude_defaults=True) == {
        "market_id": "m1",
        "question": "Q?",
        "side": "no",
        "shares": 7.0,
        "url": "https://venue/m1",
        "current_price": 0.5,
        "pnl": -4.0,
        "move_pct": -0.5,
    }


MOVE, SOON_S = briefing.MOVE_PCT, briefing.SOON_S


@pytest.mark.parametrize(
    ("value", "left_s", "is_told"),
    [
        (8.0, SOON_S, False),
        (8.0, SOON_S - 1, True),
        (8.0 * (1 + MOVE), 9e6, False),
        (8.0 * (1 + MOVE) + 0.01, 9e6, True),
        (8.0 * (1 - MOVE) - 0.01, 9e6, True),
    ],
)
def test_attention_is_for_what_moved_far_or_ends_soon(
    *, value: float, left_s: float, is_told: bool
) -> None:
    assert bool(briefing._venue_attention([held(8.0, value, left_s)], NOW)) is is_told


def test_the_result_of_what_needs_attention_is_whole_micros() -> None:
    assert 2.3 - 2.2 != 0.1
    (row,) = briefing._venue_attention([held(2.2, 2.3, 60.0)], NOW)
    assert row.pnl == 0.1


def test_what_cost_nothing_has_not_moved() -> None:
    (row,) = briefing._venue_attention([held(0.0, 3.0, 60.0)], NOW)
    assert (row.move_pct, row.pnl, row.time_to_resolution) == (0.0, 3.0, "1m")


def test_each_source_has_its_positions_and_all_of_its_result() -> None:
    sums = {"news": SourceSums(2, Micros(9), Micros(3 * ONE), Micros(-ONE), 5)}
    (block,) = briefing._by_skill(sums).values()
    assert (block.positions, block.total_pnl) == (2, 2.0)


def test_new_markets_are_the_open_ones_listed_since_the_newest_first() -> None:
    world = bare_world()
    for name, listed_s, changes in (
        ("old", -61, {}),
        ("first", -60, {}),
        ("last", -10, {"opens_at": AT - 5}),
        ("beside", -10, {"opens_at": AT - 9}),
        ("closed", -5, {"resolves_at": AT}),
    ):
        listed(world, name, **changes).listed_at = Timestamp(AT + listed_s)
    found = briefing._new_markets(world, Timestamp(AT - 60))
    assert [one.market_id for one in found] == ["last", "beside", "first"]
    assert (found[0].question, found[0].time_to_resolution) == ("Does last end well?", "1h 0m")
    assert found[0].opportunity_score == 0.8
    for number in range(briefing.NEW_MAX + 3):
        listed(world, f"m{number}").listed_at = AT
    assert len(briefing._new_markets(world, Timestamp(AT - HOUR))) == briefing.NEW_MAX


def test_an_agent_is_ranked_by_what_it_made() -> None:
    world = bare_world("ada", "bea", "cyd", "dan")
    for name, dollars in (("ada", 500), ("bea", 900), ("cyd", 500), ("dan", -3)):
        world.agents[name].realized = Micros(dollars * ONE)
    ada = world.agents["ada"]
    world.ledger.transfer("issuer", "agent:ada", Micros(500 * ONE))
    ada.win_count, ada.loss_count = 3, 1
    told = briefing._performance(world, ada)
    assert told.model_dump(exclude_defaults=True) == {
        "total_pnl": 500.0,
        "pnl_percent": 5.0,
        "win_rate": 0.75,
        "rank": 2,
        "total_agents": 4,
    }


def test_who_began_with_nothing_has_no_percentage() -> None:
    world = bare_world()
    listed(world)
    agent = world.agents["ada"]
    agent.positions["m1"] = Position("ada", "m1")
    world.ledger.transfer("agent:ada", "issuer", Micros(10_000 * ONE))
    assert briefing._performance(world, agent).pnl_percent is None


def test_who_owes_what_it_has_has_no_percentage(monkeypatch: pytest.MonkeyPatch) -> None:
    world = bare_world()
    monkeypatch.setattr(type(world), "equity", lambda *_: Micros(-2 * ONE))
    assert briefing._performance(world, world.agents["ada"]).pnl_percent is None


@pytest.mark.parametrize(("price", "move"), [(0.2, -0.6), (0.5, None), (0.9, 0.8)])
def test_a_position_on_sim_that_fell_or_rose_far_is_told(price: float, move: float | None) -> None:
    world = bare_world()
    market = listed(world, resolves_at=Timestamp(AT + 99 * HOUR), start_price=price)
    position = world.agents["ada"].positions["m1"] = Position("ada", "m1")
    position.yes = SidePosition(Micros(8 * ONE), Micros(4 * ONE))
    rows = briefing._attention(world, world.agents["ada"])
    assert [row.move_pct for row in rows] == ([] if move is None else [pytest.approx(move)])
    assert [(row.side, row.current_price) for row in rows] == [("yes", market.price())] * len(rows)


# -- alerts ---------------------------------------------------------------------------------


def alert(alert_id: str, at: float, ended_at: float | None = None, **changes: Any) -> RiskAlert:
    breach = Breached(
        alert_id, "ada", Timestamp(at), AT, Venue.SIM, "m1", Side.NO, ExitReason.STOP_LOSS, 0.2,
        0.4, 0.5, 0.3, Micros(7 * ONE),
    )  # fmt: skip
    end = None if ended_at is None else Timestamp(ended_at)
    return RiskAlert(breach, ended_at=end, **changes)


@pytest.fixture
def plain_alerts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alerts whose ids say who exits, and what stands in the way."""

    def body(_: object, one: RiskAlert, times: tuple[float, float]) -> RiskAlertBody:
        assert times == (AT, AT + 5)
        name = one.breach.alert_id
        return RiskAlertBody(
            market_id="m1", side=Side.NO, shares=7.0, exit_reason="stop_loss", id=name,
            executed_by="client" if "client" in name else "service",
            error="NO_BOOK" if "stuck" in name else None, message=f"word of {name}",
            expires_at=moment(one.expires_at),
        )  # fmt: skip

    monkeypatch.setattr(briefing, "alert_body", body)


def risk_of(monkeypatch: pytest.MonkeyPatch, alerts: list[Any], past: list[Any]) -> Any:
    world = bare_world()
    kind = type(world.risk)
    monkeypatch.setattr(kind, "alerts_of", lambda _, who: alerts if who == "ada" else [])
    monkeypatch.setattr(kind, "history_of", lambda _, who: past if who == "ada" else [])
    since = Timestamp(AT - 60)
    return briefing.risk_news(world, world.agents["ada"], (AT, Timestamp(AT + 5)), since)


@pytest.mark.usefixtures("plain_alerts")
def test_alerts_are_told_until_they_expire_and_what_the_client_has_to_sell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alerts = [
        alert("over", AT - HOUR),
        alert("client last", AT - HOUR + 30),
        alert("client", AT - HOUR + 659),
        alert("stuck", AT),
    ]
    news = risk_of(monkeypatch, alerts, [])
    assert [one.id for one in news.alerts] == ["client last", "client", "stuck"]
    assert [one.id for one in news.triggered] == ["client last", "client"]
    assert news.warnings == ("the exit waits: NO_BOOK (word of stuck)",)
    assert news.actions == (
        "sell 7 NO of m1 within 1 min (stop_loss)",
        "sell 7 NO of m1 within 10 min (stop_loss)",
    )


@pytest.mark.usefixtures("plain_alerts")
def test_an_alert_that_expired_since_is_missed_and_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    past = [
        alert("before", AT - HOUR, AT - 61, status=AlertStatus.EXPIRED),
        alert("at", AT - HOUR, AT - 60, status=AlertStatus.EXPIRED),
        alert("sold", AT - HOUR, AT - 5, status=AlertStatus.EXECUTED),
        alert("unknown", AT - HOUR, None, status=AlertStatus.EXPIRED),
    ]
    news = risk_of(monkeypatch, [], past)
    assert news.warnings == ("an alert expired without its exit: word of at",)
    assert (news.alerts, news.triggered, news.actions) == ((), (), ())


def two_held() -> Any:
    """NO on sim, and on a real venue NO that can be sold and YES that waits for its outcome."""
    world = bare_world("ada", "ben")
    position = Position("ada", "m1")
    position.no = SidePosition(Micros(5 * ONE), Micros(ONE))
    world.agents["ada"].positions["m1"] = position
    account = world.venues.accounts["ada", Venue.EVM] = VenueAccount("ada", Venue.EVM)
    for name, state in (("m2", PositionState.ACTIVE), ("m3", PositionState.AWAITING)):
        own = Position("ada", name)
        own.no = SidePosition(Micros(5 * ONE), Micros(ONE))
        account.holdings[name] = VenuePosition(own, "Q?", "politics", AT, state)
    return world


ON_SIM = MonitoredSide("ada", Venue.SIM, "m1", Side.NO)
ON_EVM = MonitoredSide("ada", Venue.EVM, "m2", Side.NO)


def test_sides_that_can_be_sold_are_those_with_shares_of_open_positions() -> None:
    world = two_held()
    assert briefing._open_sides(world, world.agents["ada"]) == [ON_SIM, ON_EVM]
    assert briefing._open_sides(world, world.agents["ben"]) == []


@pytest.mark.parametrize(
    ("watched", "breached", "warning"),
    [
        ([], [], ["2 positions have no monitor"]),
        ([ON_SIM], [], ["1 position has no monitor"]),
        ([], [ON_EVM], ["1 position has no monitor"]),
        ([ON_EVM], [ON_SIM], []),
        ([ON_SIM._replace(side=Side.YES)], [], ["2 positions have no monitor"]),
    ],
)
def test_a_side_is_protected_by_a_monitor_or_by_an_alert_that_waits(
    monkeypatch: pytest.MonkeyPatch, watched: list[Any], breached: list[Any], warning: list[str]
) -> None:
    world = two_held()
    for name, sides in (("monitors_of", watched), ("alerts_of", breached)):
        found = [SimpleNamespace(watched=one) for one in sides]
        monkeypatch.setattr(type(world.risk), name, lambda _, __, found=found: found)
    assert briefing._unprotected(world, world.agents["ada"]) == warning


# -- skills ---------------------------------------------------------------------------------


def package(slug: str, version: str | None = "1.0", **metadata: str) -> SkillPackage:
    return SkillPackage(slug, f"The {slug}", "", version, metadata, (), None)


def test_skills_with_a_word_on_their_fit_are_recommended_first() -> None:
    packages = [
        package("ants"), package("bees"), package("cats", best_when="it rains"), package("dogs"),
        package("eels", best_when="it snows"),
    ]  # fmt: skip
    found = briefing.recommended(packages, {"bees": "1.0"})
    assert [(one.id, one.name, one.best_when) for one in found] == [
        ("cats", "The cats", "it rains"), ("eels", "The eels", "it snows"),
        ("ants", "The ants", None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("version", "known", "is_newer"),
    [("1.10", "1.9", True), ("1.9", "1.10", False), ("1.9", "1.9", False), (None, "1", False),
     ("2", "v1.9.9", True), ("", "", False)],
)  # fmt: skip
def test_a_skill_is_out_of_date_by_the_numbers_of_its_version(
    version: str | None, known: str, *, is_newer: bool
) -> None:
    packages = [package("ants", version), package("bees", "9")]
    found = briefing.updates(packages, {"ants": known})
    told = [("ants", known, version)] if is_newer else []
    assert [(one.slug, one.current, one.latest) for one in found] == told


# -- the whole ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("since", "changes", "action"),
    [
        (None, {"trading_paused": True}, "trading is paused: resume it in the settings"),
        (None, {"operator_paused": True}, "trading is paused: entries are blocked; wait for the"),
        (AT, {}, "trading is halted by the operator: entries of every agent are blocked; "),
        (AT, {"trading_paused": True}, "trading is halted by the operator: entries of every"),
    ],
)
def test_who_may_not_buy_is_told_who_can_change_it(
    since: Timestamp | None, changes: dict[str, object], action: str
) -> None:
    world = bare_world(**changes)
    world.halt.since = since
    (told,) = briefing._stopped(world, world.agents["ada"])
    assert told.startswith(action)


@pytest.mark.parametrize(
    ("venue", "count", "prompt"),
    [
        (Venue.EVM, 0, ()),
        (Venue.EVM, 1, ("1 won position on {} to redeem: POST /api/sdk/redeem",)),
        (Venue.SOL, 2, ("2 won positions on {} to redeem: by hand, from the dashboard",)),
    ],
)
def test_won_positions_are_counted_with_the_way_to_redeem_them(
    venue: Venue, count: int, prompt: tuple[str, ...]
) -> None:
    assert briefing._redeem_prompt(venue, count) == tuple(one.format(venue.value) for one in prompt)


async def told(monkeypatch: pytest.MonkeyPatch, world: Any, **query: Any) -> Any:
    async def no_sums(*_: object) -> dict[str, SourceSums]:
        return {}

    monkeypatch.setattr(briefing, "by_source", no_sums)
    monkeypatch.setattr(briefing, "installed", lambda _: [package("ants")])
    request = request_to(bare_service(world), "ada", query=BriefingQuery(**query))
    return await briefing.briefing(request)


async def test_a_briefing_is_of_the_last_day_by_the_clock_unless_it_is_asked_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = bare_world()
    # The tape is a month ahead of the clock.
    world.world_at = Timestamp(AT + 30 * 24 * HOUR)
    end = Timestamp(world.world_at + HOUR)
    for name, listed_s in (("older", -24 * HOUR - 1), ("day", -24 * HOUR), ("hour", -HOUR)):
        listed(world, name, resolves_at=end).listed_at = Timestamp(AT + listed_s)
    plain = await told(monkeypatch, world)
    assert [one.market_id for one in plain.opportunities.new_markets] == ["hour", "day"]
    assert (plain.skill_updates, plain.triggered_risk_alerts) == (None, None)
    assert [one.id for one in plain.opportunities.recommended_skills] == ["ants"]
    asked = await told(
        monkeypatch, world, since=moment(Timestamp(AT - 2 * HOUR)), skill_versions="{}"
    )
    assert [one.market_id for one in asked.opportunities.new_markets] == ["hour"]
    assert asked.skill_updates == ()


async def test_prompts_of_every_venue_are_told_at_the_top_and_ends_by_the_tapes_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world, seen = bare_world(claimed=True), list[Any]()
    world.world_at = Timestamp(AT + 9 * HOUR)
    monkeypatch.setattr(
        briefing, "_venue_attention", lambda _, now: (seen.append(now.timestamp()), ())[1]
    )
    monkeypatch.setattr(briefing, "_redeem_prompt", lambda venue, _: (f"redeem {venue.value}",))
    body = await told(monkeypatch, world)
    assert body.actions == ("redeem evm_venue", "redeem sol_venue")
    assert seen == [AT + 9 * HOUR] * 2
