"""The briefing endpoint, section by section."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from kit.engine.bare import AT, bare_world, listed
from kit.service.line import Line, change, line_to
from kit.service.stage import Stage, open_stage
from service_tui.engine.books.catalogue import importable_at, url_of
from service_tui.engine.books.venues import VenueAccount, VenuePosition
from service_tui.engine.events import Breached
from service_tui.engine.position import Position, SidePosition
from service_tui.engine.transitions import PositionState
from service_tui.engine.world import World
from service_tui.server.go_live import MILESTONES
from service_tui.server.routes.briefing import (
    MOVE_PCT,
    NEW_MAX,
    SOON_S,
    new_markets,
    performance,
    recommended,
    redeem_prompt,
    risk_news,
    stopped,
    unprotected,
    updates,
    venue_attention,
)
from service_tui.skills.package import SkillPackage
from service_tui.terms import ExitReason, Side, Venue, WalletKind
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.base import moment
from service_tui.wire.endpoints.public import (
    BRIEFING,
    IMPORT_MARKET,
    MARKET,
    PLACE_TRADE,
    REGISTER,
    TRADES,
)
from service_tui.wire.positions import PositionBody, PositionSideBody

pytestmark = pytest.mark.slow

NOW: Final = datetime.fromtimestamp(AT, UTC)


def iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()


async def buy(line: Line, market_id: str, amount: float = 5, **fields: object) -> dict[str, Any]:
    order = {"market_id": market_id, "side": "yes", "amount": amount} | fields
    said = await line.said(PLACE_TRADE, json=order)
    assert said["success"], said["error"]
    return said


async def fresh(line: Line, **params: object) -> list[str]:
    said = await line.said(BRIEFING, **params)
    return [one["market_id"] for one in said["opportunities"]["new_markets"]]


async def test_since_is_wall_time_for_what_was_listed(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=60) as stage:
        line = line_to(stage)
        started = stage.clock.now()
        assert len(await fresh(line)) == 10
        await stage.clock.advance(30.5)
        # Half a minute at 60x is half an hour of the tape: its times would be ahead of every clock.
        await change(stage, claimed=True)
        later = stage.clock.now()
        listed = {key for key, one in stage.world.markets.items() if one.listed_at >= started + 1}
        assert listed
        assert set(await fresh(line, since=iso(started + 1))) <= listed
        assert await fresh(line, since=iso(later + 3_600)) == []
        found = importable_at(stage.world.tape, stage.world.world_at)
        url = {"polymarket_url": url_of(found[0])}
        assert (await line.said(IMPORT_MARKET, json=url))["status"] == "imported"
        assert await fresh(line, since=iso(later)) == [found[0].market_id]


async def test_new_markets_carry_the_score_of_the_list(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        said = await line.said(BRIEFING)
        for row in said["opportunities"]["new_markets"]:
            one = (await line.said(MARKET, path={"market_id": row["market_id"]}))["market"]
            assert row["opportunity_score"] == one["opportunity_score"]
            assert row["question"] == one["question"]
            assert row["time_to_resolution"]


def far_market(stage: Stage) -> str:
    """A market that resolves in more than 48 hours."""
    return max(stage.open_markets(), key=lambda one: one.listing.resolves_at).market_id


async def test_positions_are_summed_by_source_tag(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        ids = [one.market_id for one in stage.open_markets()[:3]]
        await buy(line, ids[0], source="sdk:weather")
        await buy(line, ids[1], source="sdk:weather")
        await buy(line, ids[2])
        block = (await line.said(BRIEFING))["venues"]["sim"]["by_skill"]
        assert list(block) == ["sdk:weather"]
        assert block["sdk:weather"]["positions"] == 2
        pnl = sum(
            stage.agent.positions[key].unrealized(stage.world.markets[key].price())
            for key in ids[:2]
        )
        assert block["sdk:weather"]["total_pnl"] == pytest.approx(pnl / ONE)


VERSIONS: Final = {
    "{}": 200,
    '{"weather-trader":"1.2.0","dip_2":"0.1.0-rc.1+x"}': 200,
    "[]": 422,
    '{"a":1}': 422,
    '{"a":{"b":"1"}}': 422,
    "secret": 422,
}


@pytest.mark.parametrize("text", VERSIONS)
async def test_skill_versions_are_one_flat_object(tmp_path: Path, text: str) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        response = await line_to(stage).ask(BRIEFING, skill_versions=text)
        assert response.status_code == VERSIONS[text]
        assert "secret" not in response.text


async def test_a_nudge_comes_at_each_milestone_of_trades_on_sim(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        market_id = far_market(stage)
        nudged: list[int] = []
        for count in range(1, 12):
            said = await buy(line, market_id, 0.5)
            if said["go_live"]:
                nudged.append(count)
                nudge = said["go_live"]
        assert nudged == [10]
        assert nudge["sim_trades"] == 10
        assert [step["actor"] for step in nudge["steps"]] == ["owner", "owner", "agent", "agent"]
        assert stage.agent.claim_code in nudge["steps"][0]["url"]
        assert nudge["steps"][2]["body"] == {"sdk_real_trading_enabled": True}
        assert frozenset({10, 50, 100, 250}) == MILESTONES
        stage.agent.trades_count = 48
        quote = await buy(line, market_id, 0.5, dry_run=True)
        assert quote["go_live"] is None
        await change(stage, claimed=True)
        assert (await buy(line, market_id, 0.5))["go_live"] is None
        claimed = (await buy(line, market_id, 0.5))["go_live"]
        assert (claimed["sim_trades"], len(claimed["steps"])) == (50, 3)
        await change(stage, real_trading_enabled=True)
        stage.agent.trades_count = 99
        assert (await buy(line, market_id, 0.5))["go_live"] is None


async def test_the_history_is_asked_by_the_keys_own_agent_only(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        other = await line.said(REGISTER, json={"name": "other"})
        await buy(line, far_market(stage))
        own = await line.said(TRADES, agent_id=stage.agent_id, include_failed="true")
        assert own["total_count"] == 1
        refused = await line.said(TRADES, 404, agent_id=other["agent_id"])
        assert refused["fix"]


async def test_no_row_of_the_history_has_a_number_missing(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=1) as stage:
        line = line_to(stage)
        # Or what loses would be sold before the end.
        await change(stage, auto_risk_monitor_enabled=False)
        market = min(stage.open_markets(), key=lambda one: one.listing.resolved_at)
        bought = await buy(line, market.market_id, 20)
        sale = {"market_id": market.market_id, "side": "yes", "action": "sell"}
        shares = round(bought["shares"] / 3, 5)
        assert (await line.said(PLACE_TRADE, json=sale | {"shares": shares}))["success"]
        await line.wait(Timestamp(market.listing.resolved_at - stage.world.world_at + 1))
        rows = (await line.said(TRADES))["trades"]
        assert [row["action"] for row in rows] == ["redeem", "sell", "buy"]
        for row in rows:
            for name in ("shares", "cost", "price_before", "price_after", "avg_price"):
                assert isinstance(row[name], float), (row["action"], name)
            assert row["id"] == row["trade_id"]
            assert row["resolved"] is True
            assert row["outcome"] is market.listing.outcome


async def test_installed_skills_are_recommended_and_newer_ones_are_told(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        folder = tmp_path / "packages"
        stage.sim.service.skill_folders = (folder,)
        for count, version in enumerate(("1.2.0", "0.9.10", "2.0.0", "1.0.0")):
            package = folder / f"skill-{count}"
            package.mkdir(parents=True)
            best = '\n  best_when: "it rains"' if count == 3 else ""
            (package / "SKILL.md").write_text(
                f"---\nname: skill-{count}\ndescription: one\nmetadata:\n"
                f'  version: "{version}"{best}\n---\n'
            )
        said = await line.said(BRIEFING)
        assert said["skill_updates"] is None
        advised = said["opportunities"]["recommended_skills"]
        assert [one["id"] for one in advised] == ["skill-3", "skill-0", "skill-1"]
        assert advised[0]["best_when"] == "it rains"
        asked = '{"skill-0":"1.2.0","skill-1":"0.9.9","skill-2":"2.1","unknown":"1"}'
        told = await line.said(BRIEFING, skill_versions=asked)
        assert told["skill_updates"] == [
            {"slug": "skill-1", "current": "0.9.9", "latest": "0.9.10"}
        ]
        assert [one["id"] for one in told["opportunities"]["recommended_skills"]] == ["skill-3"]


# -- parts as values ------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("cost", "value", "left_s", "told"),
    [
        (8.0, 4.0, None, (-4.0, -0.5, None)),
        (8.0, 8.0, SOON_S, None),
        (8.0, 8.0, SOON_S - 1, (0.0, 0.0, "1d 23h")),
        (8.0, 8.0 * (1 + MOVE_PCT), 9e6, None),
        (8.0, 8.0 * (1 + MOVE_PCT) + 0.01, 9e6, (1.21, 0.1512, "104d 4h")),
        (8.0, 8.0 * (1 - MOVE_PCT) - 0.01, 9e6, (-1.21, -0.1512, "104d 4h")),
        # Whole micros, which 2.3 less 2.2 is not.
        (2.2, 2.3, 60.0, (0.1, 0.0455, "1m")),
        # What cost nothing has not moved.
        (0.0, 3.0, 60.0, (3.0, 0.0, "1m")),
    ],
)
def test_attention_is_for_what_moved_far_or_ends_soon(
    cost: float, value: float, left_s: float | None, told: tuple[Any, ...] | None
) -> None:
    rows = venue_attention([held(cost, value, left_s)], NOW)
    assert [(row.pnl, row.move_pct, row.time_to_resolution) for row in rows] == (
        [] if told is None else [told]
    )
    assert {(row.side, row.shares, row.current_price, row.question) for row in rows} <= {
        ("no", 7.0, 0.5, "Q?")
    }


def test_new_markets_are_the_open_ones_listed_since_the_newest_first() -> None:
    world = bare_world()
    for name, listed_s, changes in (
        ("old", -61, {}), ("first", -60, {}), ("last", -10, {"opens_at": AT - 5}),
        ("beside", -10, {"opens_at": AT - 9}), ("closed", -5, {"resolves_at": AT}),
    ):  # fmt: skip
        listed(world, name, **changes).listed_at = Timestamp(AT + listed_s)
    found = new_markets(world, Timestamp(AT - 60))
    assert [one.market_id for one in found] == ["last", "beside", "first"]
    assert (found[0].question, found[0].time_to_resolution) == ("Does last end well?", "1h 0m")
    for number in range(NEW_MAX + 3):
        listed(world, f"m{number}").listed_at = AT
    assert len(new_markets(world, Timestamp(AT - 3_600))) == NEW_MAX


def test_an_agent_is_ranked_by_what_it_made() -> None:
    world = bare_world("ada", "bea", "cyd", "dan")
    for name, dollars in (("ada", 500), ("bea", 900), ("cyd", 500), ("dan", 0)):
        world.agents[name].realized = Micros(dollars * ONE)
    ada = world.agents["ada"]
    world.ledger.transfer("issuer", "agent:ada", Micros(500 * ONE))
    ada.win_count, ada.loss_count = 3, 1
    assert performance(world, ada).model_dump(exclude_defaults=True) == {
        "total_pnl": 500.0, "pnl_percent": 5.0, "win_rate": 0.75, "rank": 2, "total_agents": 4,
    }  # fmt: skip
    # Who began with nothing has no percentage.
    world.ledger.transfer("agent:dan", "issuer", Micros(10_000 * ONE))
    assert performance(world, world.agents["dan"]).pnl_percent is None


def watched_world() -> World:
    """NO on sim, and on a real venue NO that can be sold and NO that waits for its outcome."""
    world = bare_world("ada", "ben")
    listed(world, "m1", resolves_at=Timestamp(AT + 9e6))
    positions = world.agents["ada"].positions
    account = world.venues.accounts["ada", Venue.EVM] = VenueAccount("ada", Venue.EVM)
    for name, state in (("m1", None), ("m2", "ACTIVE"), ("m3", "AWAITING")):
        own = Position("ada", name)
        own.no = SidePosition(Micros(5 * ONE), Micros(ONE))
        if state is None:
            positions[name] = own
        else:
            listed(world, name, home=Venue.EVM, resolves_at=Timestamp(AT + 9e6))
            kind = PositionState[state]
            account.holdings[name] = VenuePosition(own, "Q?", "politics", AT, kind)
    return world


def breach(world: World, name: str, market_id: str, ago_s: float) -> None:
    venue = Venue.SIM if market_id == "m1" else Venue.EVM
    at = Timestamp(AT - ago_s)
    world.apply(
        Breached(
            name, "ada", at, at, venue, market_id, Side.NO, ExitReason.STOP_LOSS, 0.2, 0.4, 0.5,
            0.3, Micros(5 * ONE),
        )
    )  # fmt: skip


def test_sides_that_can_be_sold_are_protected_by_a_monitor_or_an_alert_that_waits() -> None:
    world = watched_world()
    ada = world.agents["ada"]
    assert unprotected(world, world.agents["ben"]) == []
    assert unprotected(world, ada) == ["2 positions have no monitor"]
    breach(world, "a1", "m1", 5)
    assert unprotected(world, ada) == ["1 position has no monitor"]
    breach(world, "a2", "m2", 5)
    assert unprotected(world, ada) == []


def test_alerts_are_told_until_they_expire_with_what_the_client_has_to_sell() -> None:
    world = watched_world()
    ada = world.agents["ada"]
    ada.change({"wallet": WalletKind.EXTERNAL, "claimed": True})
    breach(world, "over", "m2", 3_600)
    news = risk_news(world, ada, (AT, AT), Timestamp(AT - 60))
    assert (news.alerts, news.triggered, news.actions) == ((), (), ())
    breach(world, "waits", "m2", 3_600 - 659)
    news = risk_news(world, ada, (AT, AT), Timestamp(AT - 60))
    assert [one.id for one in news.triggered] == [one.id for one in news.alerts] == ["waits"]
    assert news.actions == ("sell 5 NO of m2 within 10 min (stop_loss)",)


@pytest.mark.parametrize(
    ("venue", "count", "prompt"),
    [
        (Venue.EVM, 0, ()),
        (Venue.EVM, 1, ("1 won position on evm_venue to redeem: POST /api/sdk/redeem",)),
        (Venue.SOL, 2, ("2 won positions on sol_venue to redeem: by hand, from the dashboard",)),
    ],
)
def test_won_positions_are_counted_with_the_way_to_redeem_them(
    venue: Venue, count: int, prompt: tuple[str, ...]
) -> None:
    assert redeem_prompt(venue, count) == prompt


@pytest.mark.parametrize(
    ("since", "changes", "action"),
    [
        (None, {"trading_paused": True}, "trading is paused: resume it in the settings"),
        (None, {"operator_paused": True}, "trading is paused: entries are blocked; wait for the"),
        (AT, {"trading_paused": True}, "trading is halted by the operator: entries of every"),
    ],
)
def test_who_may_not_buy_is_told_who_can_change_it(
    since: Timestamp | None, changes: dict[str, object], action: str
) -> None:
    world = bare_world(**changes)
    world.halt.since = since
    (told,) = stopped(world, world.agents["ada"])
    assert told.startswith(action)


def package(slug: str, version: str | None = "1.0", **metadata: str) -> SkillPackage:
    return SkillPackage(slug, f"The {slug}", "", version, metadata, (), None)


def test_skills_with_a_word_on_their_fit_are_recommended_first() -> None:
    packages = [
        package("ants"), package("bees"), package("cats", best_when="it rains"), package("dogs"),
        package("eels", best_when="it snows"),
    ]  # fmt: skip
    found = recommended(packages, {"bees": "1.0"})
    assert [(one.id, one.name, one.best_when) for one in found] == [
        ("cats", "The cats", "it rains"), ("eels", "The eels", "it snows"),
        ("ants", "The ants", None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("version", "known", "is_newer"),
    [
        ("1.10", "1.9", True), ("1.9", "1.10", False), ("1.9", "1.9", False), (None, "1", False),
        ("2", "v1.9.9", True), ("", "", False),
    ],
)  # fmt: skip
def test_a_skill_is_out_of_date_by_the_numbers_of_its_version(
    version: str | None, known: str, *, is_newer: bool
) -> None:
    found = updates([package("ants", version), package("bees", "9")], {"ants": known})
    told = [("ants", known, version)] if is_newer else []
    assert [(one.slug, one.current, one.latest) for one in found] == told
