"""Settings, outcomes, advice, monitors and imports: the bounds, and what is not known."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from kit.service.bare import bare_service, request_to
from service_tui.engine.books.catalogue import CatalogueMatch, condition_of
from service_tui.engine.events import LeashSet
from service_tui.engine.limits import PLANS
from service_tui.server.http.refusals import Denied
from service_tui.server.past.outcomes import Closing
from service_tui.server.routes import (
    agents,
    browse,
    importing,
    market_context,
    monitors,
    outcomes,
    research,
    settings,
    troubleshoot,
)
from service_tui.storage.invitations import InvitationRecord
from service_tui.terms import Action, AgentStatus, LeashMode, Plan, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.advice import TroubleshootRequest, TurnBody, VersionQuery
from service_tui.wire.agents import AgentSettingsPatch, RegisterRequest
from service_tui.wire.importing import CheckQuery, ImportableQuery
from service_tui.wire.monitors import RiskAlertsQuery
from service_tui.wire.outcomes import OutcomesQuery
from service_tui.wire.research import BacktestRequest, StateQuery
from service_tui.wire.settings import RemovedMonitorBody, SettingsPatch, UserSettingsPatch

# -- settings -------------------------------------------------------------------------------


def asker(**changes: Any) -> Any:
    return request_to(bare_service(bare_world("ada", **changes)), "ada")


MOST = PLANS[Plan.PRO].trades_per_day_max or 0


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("max_trades_per_day", MOST, MOST),
        ("default_stop_loss_pct", 0.0, None),
        ("default_take_profit_pct", 0.25, 0.25),
        ("max_position_usd", 0.0, Micros(0)),
        ("max_position_usd", 0.000001, Micros(1)),
        ("sdk_daily_limit", 2.5, Micros(2_500_000)),
        ("max_position_usd", None, None),
        ("trading_paused", False, False),
    ],
)
def test_a_setting_is_kept_up_to_its_bound_and_zero_is_off_where_it_is_a_threshold(
    name: str, value: Any, kept: Any
) -> None:
    found = settings._changed(asker(plan=Plan.PRO), name, value)
    assert (found, type(found)) == (kept, type(kept))


@pytest.mark.parametrize(
    ("name", "value"),
    [("max_trades_per_day", MOST + 1), ("max_position_usd", 4e-7), ("sdk_daily_limit", 1.0000004)],
)
def test_a_setting_beyond_its_bound_is_refused(name: str, value: Any) -> None:
    with pytest.raises(Denied, match="422"):
        settings._changed(asker(plan=Plan.PRO), name, value)


@pytest.mark.parametrize(
    ("patch", "removed"),
    [
        ({"auto_risk_monitor_enabled": False}, ["m1"]),
        ({"auto_risk_monitor_enabled": True}, []),
        ({"auto_risk_monitor_enabled": None, "trading_paused": True}, []),
        ({"trading_paused": True}, []),
    ],
)
async def test_only_turning_the_automatic_off_takes_its_monitors(
    monkeypatch: pytest.MonkeyPatch, patch: dict[str, object], removed: list[str]
) -> None:
    request = asker()
    monkeypatch.setattr(type(request.world.risk), "automatic_of", lambda *_: ["m1"])
    monkeypatch.setattr(type(request.world), "change", lambda *_: ["changed"])
    monkeypatch.setattr(settings, "removed_body", lambda _, one: one)
    assert await settings._change(request, patch) == tuple(removed)


async def test_a_change_answers_with_every_setting_and_with_what_was_not_read() -> None:
    one = bare_service(bare_world("ada", plan=Plan.PRO))
    patch = SettingsPatch.model_validate({"max_position_usd": 12.5, "max_positon_usd": 3})
    answer = await settings.write(request_to(one, "ada", body=patch))
    (written,) = one.world_store.written
    assert written.agent_id == "ada"
    # Nothing but what was sent changes.
    assert list(written.changes.values()) == [Micros(12_500_000)]
    assert answer.monitors_removed == ()
    assert answer.warnings == patch.warnings()
    assert len(answer.warnings) == 1
    names = type(answer).model_fields
    assert set(names) == set(answer.model_dump())


async def test_changed_risk_defaults_name_what_was_removed_and_what_was_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def change(*_: object) -> tuple[Any, ...]:
        return (gone,)

    gone = RemovedMonitorBody.model_construct(market_id="m1")
    monkeypatch.setattr(settings, "_change", change)
    patch = UserSettingsPatch.model_validate({"auto_risk_monitor_enabledd": False})
    answer = await settings.write_user(request_to(bare_service(), "ada", body=patch))
    assert answer.monitors_removed == (gone,)
    assert answer.warnings == patch.warnings()
    assert len(answer.warnings) == 1


@pytest.mark.parametrize(
    ("version", "status", "said"),
    [
        (None, "ok", "name a version to have it checked"),
        ("99.0.0", "ok", "99.0.0 is good for everything here"),
        ("0.0.1", "deprecated", "0.0.1 is old: "),
    ],
)
async def test_a_version_is_told_whether_it_is_good_enough(
    version: str | None, status: str, said: str
) -> None:
    asked = request_to(bare_service(), "ada", query=VersionQuery(sdk_version=version))
    body = await troubleshoot.check_version(asked)
    assert (body.status, (body.message or "")[: len(said)]) == (status, said)


async def test_an_agents_own_change_is_on_disk_and_names_what_was_not_read() -> None:
    one = bare_service()
    patch = AgentSettingsPatch.model_validate({"name": "fox", "nam": "x"})
    answer = await agents.patch_me(request_to(one, "ada", body=patch))
    assert [change.changes for change in one.world_store.written] == [{"name": "fox"}]
    assert (answer.name, answer.warnings) == ("fox", patch.warnings())
    assert len(answer.warnings) == 1
    await agents.patch_me(request_to(one, "ada", body=AgentSettingsPatch()))
    assert len(one.world_store.written) == 1


@pytest.mark.parametrize("budget", [None, 0, 7_000_000])
def test_an_invited_agent_is_its_persons_and_bound_by_the_budget(budget: int | None) -> None:
    one = bare_service()
    invitation = InvitationRecord("i1", "s", "h", 5, None, budget, "zoe", AT, "owner", AT + 60)
    events = agents._invited(request_to(one, "ada"), "ada", invitation)
    settings_of = one.world.agents["ada"].settings
    assert (settings_of.invitation, settings_of.owner) == ("i1", "zoe")
    leashes = [one for one in events if isinstance(one, LeashSet)]
    assert [(one.mode, one.threshold, one.budget) for one in leashes] == (
        [] if budget is None else [(LeashMode.AUTO, 0, budget)]
    )


@pytest.mark.parametrize("in_process", [True, False])
async def test_only_the_consoles_own_agent_registers_without_an_invitation(
    *, in_process: bool
) -> None:
    one = bare_service(needs_invitation=True)
    body = RegisterRequest(name="fox")
    asked = request_to(one, "ada", body=body, in_process=in_process)
    if in_process:
        assert agents._invitation_of(asked, body) is None
    else:
        with pytest.raises(Denied) as denied:
            agents._invitation_of(asked, body)
        assert denied.value.status == 403
    one.needs_invitation = False
    assert agents._invitation_of(asked, body) is None


# -- outcomes -------------------------------------------------------------------------------


def closing(pnl: float, ago: float, *, skill: str = "", settled: bool = False) -> Closing:
    at = Timestamp(AT - ago)
    return Closing(skill, Venue.SIM, "m1", at, Micros(round(pnl * ONE)), settled)


@pytest.mark.parametrize(
    ("query", "apart", "trades", "pnl", "venues"),
    [
        ({}, False, 3, 11.0, {"sim": 11.0}),
        ({"since": datetime.fromtimestamp(AT - 60, UTC)}, False, 2, 3.0, {"sim": 3.0}),
        ({"since": datetime.fromtimestamp(AT - 59, UTC)}, False, 1, 1.0, {"sim": 1.0}),
        ({"since": datetime.fromtimestamp(AT + 1, UTC)}, False, 0, 0.0, {}),
        ({"skill": "dip"}, True, 1, 2.0, {"sim": 2.0}),
    ],
)
def test_outcomes_count_from_their_moment_on_and_a_skills_own_book_where_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
    *,
    query: dict[str, Any],
    apart: bool,
    trades: int,
    pnl: float,
    venues: dict[str, float],
) -> None:
    fills = [SimpleNamespace(at=AT - ago, trade_id=f"t{ago}", venue=Venue.SIM)
             for ago in (AT, 60, 0)]  # fmt: skip
    monkeypatch.setattr(outcomes, "in_one_form", list)
    monkeypatch.setattr(outcomes, "AgentFill", SimpleNamespace)
    books = SimpleNamespace(
        skills={f"t{AT}": "", "t60": "dip", "t0": ""},
        closings=[closing(8, AT), closing(2, 60, skill="dip"), closing(1, 0, settled=True)],
    )
    asked: list[bool] = []
    monkeypatch.setattr(outcomes, "books_of", lambda _, *, apart: asked.append(apart) or books)
    past: Any = fills
    told = outcomes._weighed(OutcomesQuery(**query), past)
    assert asked == [apart]
    assert (told.trades, told.pnl) == (trades, pnl)
    assert told.pnl_by_venue == venues


# -- advice ---------------------------------------------------------------------------------


def test_the_nearest_text_is_looked_at_first_and_the_last_turn_before_the_earlier_ones() -> None:
    turns = tuple(TurnBody(role="user", content=text) for text in ("first", "", "last"))
    problem = TroubleshootRequest(error_text="error", message="question", conversation=turns)
    assert troubleshoot._texts_of(problem) == ["error", "question", "last", "first"]
    assert troubleshoot._texts_of(TroubleshootRequest(message="question")) == ["question"]


async def test_only_a_question_in_words_needs_a_key() -> None:
    request = request_to(bare_service(), None, body=TroubleshootRequest(error_text="zzz"))
    assert not (await troubleshoot.troubleshoot(request)).matched
    request = request_to(bare_service(), None, body=TroubleshootRequest(message="zzz"))
    with pytest.raises(Denied, match="401"):
        await troubleshoot.troubleshoot(request)


@pytest.mark.parametrize(
    ("changes", "since", "standing"),
    [
        ({}, None, f"This agent is {AgentStatus.UNCLAIMED.value}: "),
        ({"trading_paused": True}, None, "This agent is paused: "),
        ({"trading_paused": True}, AT, "This agent is halted: "),
        ({}, AT, "This agent is halted: "),
        ({"suspended": True}, None, "This agent is suspended: "),
        ({"claimed": True}, None, ""),
    ],
)
def test_an_agent_is_told_what_keeps_it_from_trading_the_widest_first(
    changes: dict[str, Any], since: Timestamp | None, standing: str
) -> None:
    request = asker(**changes)
    request.world.halt.since = since
    told = troubleshoot._standing(request, request.agent)
    assert (told or "").startswith(standing)
    assert bool(told) is bool(standing)


# -- monitors -------------------------------------------------------------------------------


@pytest.mark.parametrize(("history", "past"), [(None, ()), (True, ("old",)), (False, ())])
async def test_alerts_wait_until_they_expire(
    monkeypatch: pytest.MonkeyPatch, *, history: bool | None, past: tuple[str, ...]
) -> None:
    request = asker()
    alerts = [
        SimpleNamespace(name=name, expires_at=AT + left)
        for name, left in (("over", -1), ("now", 0), ("waits", 1))
    ]
    monkeypatch.setattr(type(request.world.risk), "alerts_of", lambda *_: alerts)
    old = [SimpleNamespace(name="old")]
    monkeypatch.setattr(type(request.world.risk), "history_of", lambda *_: old)
    monkeypatch.setattr(monitors, "alert_body", lambda _, one, __: one.name)
    monkeypatch.setattr(monitors, "RiskAlertsBody", SimpleNamespace)
    given = {} if history is None else {"include_history": history}
    one = request_to(request.service, "ada", query=RiskAlertsQuery(**given))
    answer = await monitors.read_alerts(one)
    assert (answer.risk_alerts, answer.count, answer.history) == (("waits",), 1, past)


# -- imports --------------------------------------------------------------------------------


def question(name: str, **changes: Any) -> Any:
    return listed(bare_world(), name, **changes).listing


@pytest.mark.parametrize(
    ("query", "volume", "fits"),
    [
        ({"min_volume": 0.0}, 999.9, False),
        ({"min_volume": 10.0}, 999.9, False),
        ({"min_volume": 10.0}, 1_000.0, True),
        ({"min_volume": 1_500.0}, 1_499.0, False),
        ({"category": " Strike ", "min_volume": 0.0}, 1_000.0, True),
        ({"category": "weather", "min_volume": 0.0}, 1_000.0, False),
        ({"venue": Venue.EVM, "min_volume": 0.0}, 1_000.0, True),
        ({"venue": Venue.SOL, "min_volume": 0.0}, 1_000.0, False),
        ({"q": "WELL strike", "min_volume": 0.0}, 1_000.0, True),
        ({"q": "well rain", "min_volume": 0.0}, 1_000.0, False),
    ],
)
def test_a_question_of_a_venue_is_found_by_volume_category_venue_and_words(
    monkeypatch: pytest.MonkeyPatch, query: dict[str, Any], volume: float, *, fits: bool
) -> None:
    monkeypatch.setattr(importing, "outside_volume", lambda _: volume)
    one = question("m1", home=Venue.EVM)
    assert importing._matches(one, ImportableQuery(**query)) is fits


def test_what_is_listed_by_id_or_by_text_is_not_to_be_imported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    request = asker()
    listed(request.world, "m1")
    found = [question("m1", question="Another text?"), question("m2"),
             question("m3", question="Does m1 end well?")]  # fmt: skip
    monkeypatch.setattr(importing, "importable_at", lambda *_: found)
    assert [one.market_id for one in importing._importable(request)] == ["m2"]


def test_outcomes_are_chosen_by_either_of_their_ids_and_kept_in_order() -> None:
    match = CatalogueMatch(tuple(question(name) for name in ("m1", "m2", "m3")))
    chosen = importing._outcomes_with(match, [condition_of("m3"), "m1", condition_of("m1")])
    assert [one.market_id for one in chosen] == ["m1", "m3"]
    with pytest.raises(Denied, match="422"):
        importing._outcomes_with(match, ["m1", "m4"])


@pytest.mark.parametrize("text", ["http://[::1", "ftp://polymarket.com/a", "polymarket.org/a", ""])
def test_what_is_no_address_of_a_venue_is_none(text: str) -> None:
    assert importing.venue_of(text) is None


@pytest.mark.parametrize(
    ("fresh", "state", "status", "success"),
    [
        (True, "open", "imported", True),
        (False, "open", "already_exists", True),
        (False, "resolved", "resolved", False),
        (False, "unknown", "resolved", False),
    ],
)
def test_a_question_that_has_ended_cannot_be_listed(
    monkeypatch: pytest.MonkeyPatch, status: str, state: str, *, fresh: bool, success: bool
) -> None:
    request = asker()
    one = listed(request.world, "m1", home=Venue.EVM)
    if state == "resolved":
        one.resolved_at, one.outcome = AT, True
    if state == "unknown":
        del request.world.markets["m1"]
    monkeypatch.setattr(importing, "outside_price", lambda *_: 0.3)
    told = importing._single_body(request, one.listing, imported=fresh)
    assert (told.status, told.success) == (status, success)
    assert told.market_id == (None if state == "unknown" else "m1")
    assert told.external_price_yes == (0.3 if state == "open" else None)


@pytest.mark.parametrize("count", [1, 2])
def test_of_an_event_what_is_not_new_is_skipped_whether_it_is_listed_or_over(count: int) -> None:
    request = asker()
    for name in ("m1", "m2"):
        listed(request.world, name)
    listings = [question(name) for name in ("m1", "m2", "over")]
    told = importing._event_body(
        request, CatalogueMatch(tuple(listings)), listings, listings[:count]
    )
    assert (told.markets_imported, told.markets_skipped) == (count, 3 - count)
    assert [one.market_id for one in told.markets] == ["m1", "m2"]


@pytest.mark.parametrize(
    ("name", "wanted"), [("condition_id", f" {condition_of('m1')} "), ("ticker", " T "),
                         ("url", "http://sol-venue.example/T")]
)  # fmt: skip
async def test_a_question_is_looked_up_by_its_one_name(
    monkeypatch: pytest.MonkeyPatch, name: str, wanted: str
) -> None:
    request = asker()
    listed(request.world, "m1")
    match = CatalogueMatch((question("m1", home=Venue.SOL),))
    monkeypatch.setattr(importing, "named_by", lambda _, word, __: match if word == "T" else None)
    query = CheckQuery(**{name: wanted})
    told = await importing.check(request_to(request.service, "ada", query=query))
    assert (told.exists, told.market_id) == (True, "m1")


def test_a_used_up_day_is_to_be_tried_again_after_midnight() -> None:
    request = asker()
    refusal = importing.DayImports("no more today")
    told = importing._quota_used(request, refusal)
    left_s = 86_400 - int(AT) % 86_400
    assert (told.status, told.headers["Retry-After"]) == (429, str(left_s + 1))
    assert told.headers["X-Imports-Limit"] == str(PLANS[Plan.ELITE].imports_per_day)


# -- research -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("side", "price", "worth"),
    [("yes", 0.0, 0.0), ("no", 0.0, 1.0), ("yes", 0.3, 0.3), ("yes", None, None)],
)
def test_a_share_that_is_worth_nothing_is_known_to_be(
    side: str, price: float | None, worth: float | None
) -> None:
    prices = {} if price is None else {"m1": price}
    assert research._worth("m1", side, prices) == worth
    assert research._worth(None, None, prices) == 0.0


def test_a_figure_that_a_trade_does_not_carry_is_not_zero() -> None:
    request = BacktestRequest(skill_slug="dip", config={}, sweep={"min_edge": (0.1,)})
    thresholds = research.thresholds_in(request)
    rows: Any = [(5, 0, None, None, '{"edge": 0}'), (6, 0, None, None, "{}"),
                 (7, 4, "gone", "yes", "{}"), (8, 4, "m1", "no", '{"edge": 0.2}')]  # fmt: skip
    found = research._passing(rows, thresholds, {"m1": 0.25})
    assert [(one.pnl, one.is_open, one.signals) for one in found] == [
        (5, False, (0,)), (6, False, (None,)), (11, True, (0.2,))
    ]  # fmt: skip


async def test_the_state_is_of_the_skill_that_was_named_or_else_of_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    request = asker()
    monkeypatch.setattr(type(request.world.research), "skills", lambda *_: {"dip": 1, "rain": 2})
    for slug, shown in ((None, "dip"), ("rain", "rain"), ("new", "new")):
        query = StateQuery(skill_slug=slug)
        told = await research.state(request_to(request.service, "ada", query=query))
        assert told.skill_slug == shown


# -- context and candles --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left_s", "factor"),
    [(7 * 24 * HOUR, 1.0), (7 * 24 * HOUR + 1, 1.5), (30 * 24 * HOUR, 1.5), (31 * 24 * HOUR, 2.0)],
)
def test_money_that_is_bound_for_longer_wants_more_edge(left_s: float, factor: float) -> None:
    market = listed(bare_world(), resolves_at=Timestamp(AT + left_s))
    told = market_context.edge_part(market, AT, probability=None, held=None)
    assert (told.time_factor, told.user_edge, told.recommended_side) == (factor, None, None)
    # That a thing is impossible is a probability as well.
    sure = market_context.edge_part(market, AT, probability=0.0, held=None)
    assert (sure.user_probability, sure.user_edge, sure.recommendation) == (0.0, -0.4, "TRADE")
    assert sure.recommended_side is Side.NO


@pytest.mark.parametrize(
    ("volume", "told"), [(None, None), (Micros(0), 0.0), (Micros(5 * ONE), 5.0)]
)
async def test_a_candle_without_trade_has_a_volume_of_nothing_and_an_unknown_one_none(
    monkeypatch: pytest.MonkeyPatch, volume: Micros | None, told: float | None
) -> None:
    request = asker()
    market = listed(request.world)

    async def found(_: str) -> Any:
        return market

    request.service.world_store.past = SimpleNamespace(market=found)
    one = SimpleNamespace(opens_at=AT - 60, open=0.4, high=0.5, low=0.3, close=0.4, volume=volume)
    monkeypatch.setattr(browse, "candles", lambda *_: [one])
    query: Any = browse.CandlesQuery(symbol="m1", interval="1m")
    answer = await browse.read_candles(request_to(request.service, "ada", query=query))
    assert [row.volume for row in answer.candles] == [told]


def test_a_trade_that_turned_round_names_its_action() -> None:
    fill: Any = SimpleNamespace(action=Action.SELL, side=Side.NO)
    assert market_context._action(fill) == "sell_no"
