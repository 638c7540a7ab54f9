"""What the screens say of a row at the bounds: states, sums, ages, and what is not known."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from rich.text import Text

from kit.samples.desk import NOW
from kit.samples.reactor import waiting
from kit.samples.wallet import call_of, row_of, run_of
from kit.samples.whole import whole_desk
from service_tui.console import formats
from service_tui.console.chain_text import fee_text
from service_tui.console.notifications import QUIET
from service_tui.console.screens.agents import detail as agent_detail
from service_tui.console.screens.agents.detail import fleet_bits
from service_tui.console.screens.agents.table import agent_health
from service_tui.console.screens.monitors import detail as monitor_detail
from service_tui.console.screens.orders.table import command_text
from service_tui.console.screens.portfolio.table import CLOSED, outcome, sold_at, totals
from service_tui.console.screens.reactor import detail as reactor_detail
from service_tui.console.screens.reactor.mirror import Preview
from service_tui.console.screens.redemption import detail as redemption_detail
from service_tui.console.screens.settings import detail as setting_detail
from service_tui.console.screens.settings.table import (
    COOLDOWNS,
    QUIET_ROW,
    WEBHOOKS,
    SettingRow,
    settings,
)
from service_tui.console.screens.wallet.text import pay_text, wallet_text
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.numbered_view import ProgramInfo
from service_tui.desk.slices.buy_limits import BuyLimit, BuyLimitView, CooldownView, SkillDaySpend
from service_tui.desk.slices.reactor import MIRROR_SKILL, BreakerView
from service_tui.desk.slices.redemption import AutoView, ChainRunState
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.wallet import Ownership, PayView
from service_tui.desk.slices.webhooks import WebhooksView, WebhookView
from service_tui.desk.state import DeskState
from service_tui.outcome import NO, VOID, YES, Outcome
from service_tui.terms import MarketStatus, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

STATE = replace(whole_desk(), rewound_to=None, from_cache=False, preferences={})
PRIVATE = {"preferences": {"privacy": "on"}}


def view_of(state: DeskState = STATE, width: int = 160) -> ViewContext:
    return ViewContext.of(state, NOW, width)


def seen(topic: Topic, age_s: float, period_s: float | None) -> dict[str, Any]:
    """What a state knows of a topic that was read so long ago, and how often it is."""
    polls = {**STATE.polls} if period_s is None else {**STATE.polls, topic: period_s}
    if period_s is None:
        polls.pop(topic, None)
    return {"seen": {**STATE.seen, topic: Timestamp(NOW - age_s)}, "polls": polls}


# -- the reactor --------------------------------------------------------------------------------


def with_reactor(**changed: Any) -> DeskState:
    return replace(STATE, reactor=replace(STATE.reactor, **changed))


@pytest.mark.parametrize(
    ("breaker", "words", "absent"),
    [
        (BreakerView(), "● running", "failures"),
        (BreakerView(failures=2, failures_max=3), "2 of 3 failures in a row", "■ paused"),
        (BreakerView(3, 3, NOW, Timestamp(NOW + 60)), "■ paused", "failures"),
    ],
)
def test_failures_in_a_row_are_counted_until_they_pause_the_reactor(
    breaker: BreakerView, words: str, absent: str
) -> None:
    text = reactor_detail.state_text(view_of(with_reactor(breaker=breaker))).plain
    assert words in text
    assert absent not in text


def test_a_reactor_that_is_barred_or_not_read_says_so() -> None:
    barred = reactor_detail.state_text(view_of(with_reactor(barred="pro plan only"))).plain
    assert barred == "○ not on this plan"
    unknown = reactor_detail.state_text(view_of(with_reactor(config=None))).plain
    assert unknown == "○ not loaded yet"


@pytest.mark.parametrize(
    ("age_s", "period_s", "is_old"), [(19.0, 10.0, False), (21.0, 10.0, True), (21.0, None, False)]
)
def test_signals_that_are_some_readings_old_may_have_changed(
    age_s: float, period_s: float | None, *, is_old: bool
) -> None:
    state = replace(with_reactor(breaker=BreakerView()), **seen(Topic.REACTOR, age_s, period_s))
    text = reactor_detail.urgent_text(view_of(state)).plain
    assert ("signals may have changed" in text) is is_old


def test_a_signal_above_its_limit_says_that_a_mirror_buys_nothing() -> None:
    dear = replace(waiting(1, STATE, age_s=5.0), price=0.5, price_max=0.51, price_now=0.6)
    cheap = replace(dear, price_now=0.5)
    said = "A mirror would buy nothing now"
    for signal, is_said in ((dear, True), (cheap, False), (replace(dear, expires_at=NOW), False)):
        detail = reactor_detail.describe(signal, view_of(), Preview())
        assert (said in "\n".join(part.plain for part in detail)) is is_said


# -- monitors -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "late", "age_s", "parts"),
    [
        (1, "", 1.0, ["▼ 1 alert to be sold"]),
        (2, "", 1.0, ["▼ 2 alerts to be sold"]),
        (0, "no briefing", 1.0, ["! no briefing"]),
        (1, "no briefing", 1.0, ["▼ 1 alert"]),
        (0, "", 1.0, []),
        (0, "", 600.0, ["monitors may be out of date"]),
        (1, "", 600.0, ["▼ 1 alert"]),
    ],
)
def test_the_urgent_line_of_the_monitors_has_stale_data_alerts_and_a_missing_briefing(
    count: int, late: str, age_s: float, parts: list[str]
) -> None:
    alerts = STATE.risk.open_alerts[:count]
    assert len(alerts) == count
    risk = replace(STATE.risk, alerts=alerts, briefing_late=late)
    state = replace(STATE, risk=risk, **seen(Topic.MONITORS, age_s, 10.0))
    text = monitor_detail.urgent_text(view_of(state)).plain
    assert all(part in text for part in parts)
    assert bool(text) is bool(parts)
    assert ("out of date" in text) is (age_s > 60 and not count)
    assert ("briefing" in text) is (bool(late) and not count)
    if count:
        first = min(alerts, key=lambda alert: alert.expires_at)
        assert formats.duration(first.left_s(NOW)).strip() in text


# -- the account --------------------------------------------------------------------------------

HELD = STATE.positions[0]


@pytest.mark.parametrize(
    ("side", "ended", "text"),
    [
        (Side.YES, YES, "YES won"),
        (Side.YES, NO, "NO  lost"),
        (Side.NO, YES, "YES lost"),
        (Side.NO, NO, "NO  won"),
        # Neither side has won whole.
        (Side.YES, Outcome.at(0.35), "0.35"),
        (Side.NO, VOID, "void"),
    ],
)
def test_a_position_won_if_its_side_is_the_outcome(side: Side, text: str, ended: Outcome) -> None:
    assert outcome(replace(HELD, side=side, outcome=ended)).plain == text


def test_a_position_without_an_outcome_is_resolving_resolved_or_sold() -> None:
    closed = replace(HELD, status=MarketStatus.RESOLVED, outcome=YES)
    assert outcome(replace(HELD, outcome=None)).plain == "resolving"
    assert outcome(replace(closed, outcome=None, shares=Micros(ONE))).plain == "resolved"
    assert outcome(replace(closed, outcome=None, shares=Micros(0))).plain == "sold"


def test_the_last_sale_of_exactly_this_position_ended_it() -> None:
    trade = replace(
        STATE.trades[0], market_id=HELD.market_id, venue=HELD.venue, side=HELD.side,
        action="sell", shares=Micros(ONE), cost=Micros(ONE), at=Timestamp(100.0),
    )  # fmt: skip
    later = replace(trade, at=Timestamp(200.0))
    others = (
        replace(trade, at=Timestamp(300.0), action="buy"),
        replace(trade, at=Timestamp(300.0), market_id="another"),
        replace(trade, at=Timestamp(300.0), side=Side.NO if HELD.side is Side.YES else Side.YES),
    )
    assert sold_at(HELD, replace(STATE, trades=(later, trade, *others))) == 200.0
    assert sold_at(HELD, replace(STATE, trades=others)) is None


def test_the_sum_of_a_list_is_what_was_made_only_once_all_is_closed() -> None:
    closed = replace(HELD, status=MarketStatus.RESOLVED, outcome=YES)
    open_one = replace(HELD, venue=closed.venue)

    def named(*rows: Any) -> str:
        return " ".join(bit.text.plain for bit in totals(rows, view_of()))

    assert "realized" in named(closed, closed)
    assert "realized" not in named(closed, open_one)
    assert "value" in named(closed, open_one)
    assert "sale value" in named(open_one)


@pytest.mark.parametrize(
    ("what", "venue", "text"),
    [
        ("buy 5 YES for 2 $SIM", Venue.SIM, "buy 5 YES for 2 $SIM"),
        ("exit, stop: sell 5 YES", Venue.SIM, "sell 5 YES, stop"),
        ("buy 5 YES on evm_venue", Venue.SIM, "buy 5 YES on evm_venue"),
    ],
)
def test_a_command_begins_with_what_it_does(what: str, venue: Venue, text: str) -> None:
    assert command_text(replace(STATE.tickets[0], what=what, venue=venue)) == text
    real = replace(STATE.tickets[0], what=f"buy 5 on {Venue.EVM.value}", venue=Venue.EVM)
    assert command_text(real) == "buy 5"


# -- agents -------------------------------------------------------------------------------------


def test_a_halt_is_the_health_of_every_agent() -> None:
    assert STATE.fleet is not None
    assert STATE.world is not None
    halted = replace(STATE, world=replace(STATE.world, halted_at=NOW))
    words = {agent_health(one, view_of(halted)).health.value for one in STATE.fleet.agents}
    assert "halted" in words
    usual = {agent_health(one, view_of()).health.value for one in STATE.fleet.agents}
    assert "halted" not in usual


def test_the_own_agent_does_not_count_against_the_plan() -> None:
    assert STATE.fleet is not None
    agents = STATE.fleet.agents
    others = tuple(one for one in agents if not one.is_own)

    def count(*listed: Any) -> str:
        fleet = replace(STATE.fleet, agents=listed)  # type: ignore[type-var]
        return fleet_bits(view_of(replace(STATE, fleet=fleet)))[0].text.plain

    assert count(*others).startswith(f"{len(others)}/")
    own = replace(others[0], is_own=True)
    assert count(own, *others[1:]).startswith(f"you + {len(others) - 1}/")
    service = replace(STATE.service, embedded=True)
    none = fleet_bits(view_of(replace(STATE, fleet=None, service=service)))
    assert none[0].text.plain == "loading agents"
    remote = replace(service, embedded=False)
    elsewhere = fleet_bits(view_of(replace(STATE, fleet=None, service=remote)))
    assert elsewhere[0].text.plain == "agents of another service"


# -- redemption ---------------------------------------------------------------------------------


def test_a_step_under_way_tells_how_long_and_the_rest_is_pale() -> None:
    run = run_of(1)
    text = redemption_detail.steps_text(run, NOW, masked=False)
    lines = text.plain.splitlines()
    assert [line[0] for line in lines[:6]] == ["✓", "✓", "✓", "✓", "▶", "·"]
    assert "for 11s" in lines[4]
    assert "for" not in lines[5]
    fresh = redemption_detail.steps_text(replace(run, steps=()), NOW, masked=False)
    assert "for" not in fresh.plain.splitlines()[0]
    ended = replace(run, state=ChainRunState.FAILED)
    assert "▶" not in redemption_detail.steps_text(ended, NOW, masked=False).plain


@pytest.mark.parametrize(
    ("again_s", "is_said"), [(60.0, True), (0.0, False), (-1.0, False), (None, False)]
)
def test_a_run_that_is_tried_again_tells_when(again_s: float | None, *, is_said: bool) -> None:
    at = None if again_s is None else Timestamp(NOW + again_s)
    text = redemption_detail.steps_text(run_of(1, again_at=at), NOW, masked=False).plain
    assert ("again " in text) is is_said


@pytest.mark.parametrize(
    ("state", "title"), [(ChainRunState.PREPARED, "to be signed"), (ChainRunState.DONE, "signed")]
)
def test_a_transaction_is_titled_by_whether_it_is_signed(state: ChainRunState, title: str) -> None:
    runs = (run_of(1, state=state),)
    view = view_of(replace(STATE, redemption=replace(STATE.redemption, runs=runs)))
    detail = redemption_detail.describe(row_of(1), view)
    assert any(line.strip().startswith(title) for line in detail.more.plain.splitlines())
    call = call_of()
    assert f"{call.chain_id}, nonce {call.nonce}, value 0" in detail.more.plain
    assert "fee" in detail.more.plain
    assert fee_text(call).plain == "0.01170 POL, about 0.0058 USD"
    # What POL is worth is not known everywhere: then it is told alone.
    assert fee_text(replace(call, fee_money=None)).plain == "0.01170 POL"


# -- settings -----------------------------------------------------------------------------------


def setting(key: str, state: DeskState) -> Any:
    return next(row for row in settings(view_of(state), "night") if row.key == key)


def with_limits(**changed: Any) -> DeskState:
    assert STATE.buy_limits is not None
    return replace(STATE, buy_limits=replace(STATE.buy_limits, **changed))


def test_a_cooldown_counts_until_it_ends() -> None:
    market = next(iter(STATE.markets.values()))
    ends = [
        CooldownView(market.market_id, Side.YES, Timestamp(NOW + s), "a loss") for s in (0, 60, 90)
    ]
    row = setting(COOLDOWNS, with_limits(cooldowns=tuple(ends)))
    assert row.value.plain == "2 now"
    assert formats.duration(90).strip() in row.beside.plain
    assert setting(COOLDOWNS, with_limits(cooldowns=tuple(ends[:1]))).value.plain == "none now"
    assert setting(COOLDOWNS, with_limits(cooldowns=tuple(ends[:1]))).beside.plain == ""
    text = setting_detail.describe(row, view_of(with_limits(cooldowns=tuple(ends)))).plain
    assert text.count(market.question[:20]) == 2


def test_the_limit_of_each_skill_lists_what_they_spent() -> None:
    state = with_limits(skills=(SkillDaySpend("heron", Micros(7 * ONE)),))
    rows = [row for row in settings(view_of(state), "night") if row.limit is not None]
    for row in rows:
        text = setting_detail.describe(row, view_of(state)).plain
        assert ("heron" in text) is (row.limit.limit_kind is BuyLimit.SKILL_DAY)
        masked = setting_detail.describe(row, view_of(replace(state, **PRIVATE))).plain
        if row.limit.limit_kind is BuyLimit.SKILL_DAY:
            assert "7.00" in text
            assert "7.00" not in masked


def test_webhooks_that_fail_are_counted_before_those_that_do_not() -> None:
    hook = WebhookView("w", "u", (), is_active=True, failures=0, error="", waiting=0,
                       last_delivery_at=None)  # fmt: skip
    bad = replace(hook, failures=1)

    def said(*rows: Any, at: Timestamp | None = NOW) -> str:
        return setting(WEBHOOKS, replace(STATE, webhooks=WebhooksView(rows, at))).value.plain

    assert said(hook, bad, bad) == "2 failing"
    assert said(hook, hook) == "2"
    assert said() == "none"
    assert said(hook, at=None) == ""
    assert setting(WEBHOOKS, replace(STATE, webhooks=None)).value.plain == ""


# -- the wallet ---------------------------------------------------------------------------------


def test_the_budget_of_paid_calls_is_masked_with_what_was_paid() -> None:
    pay = PayView(Micros(4_320_000), Micros(1_235_000))
    state = replace(STATE, wallet=replace(STATE.wallet, pay=pay))
    shown = pay_text(state).plain
    assert "4.32" in shown
    assert "1.235" in shown
    masked = pay_text(replace(state, **PRIVATE)).plain
    assert "4.32" not in masked
    assert "1.235" not in masked


def limit_row(kind: BuyLimit, **other: Any) -> SettingRow:
    limit = BuyLimitView(kind, 432 * ONE, 321 * ONE, **other)
    return SettingRow("limit", "limits", "a limit", Text(), Text(), Text(), "meaning", limit=limit)


def test_a_limit_in_a_line_has_both_figures_and_when_it_starts_anew() -> None:
    row = limit_row(BuyLimit.DAY_SPEND, used=0, resets_at=Timestamp(NOW + 3_600))
    line = setting_detail.describe_shortly(row, view_of()).plain
    assert line.startswith("service 432.00, this desk 321.00; resets")
    assert formats.until(Timestamp(NOW + 3_600), NOW).plain in line
    masked = setting_detail.describe_shortly(row, view_of(replace(STATE, **PRIVATE))).plain
    assert "432" not in masked
    assert "321" not in masked
    alone = setting_detail.describe_shortly(limit_row(BuyLimit.SKILL_DAY), view_of()).plain
    assert "this desk" not in alone
    assert "resets" not in alone


def test_what_each_skill_spent_stands_below_the_limit_of_a_skill_alone() -> None:
    state = with_limits(skills=(SkillDaySpend("heron", Micros(7_650_000)),))
    text = setting_detail.describe(limit_row(BuyLimit.SKILL_DAY), view_of(state)).plain
    assert "heron" in text
    assert "7.65" in text
    masked = view_of(replace(state, **PRIVATE))
    assert "7.65" not in setting_detail.describe(limit_row(BuyLimit.SKILL_DAY), masked).plain
    assert "heron" not in setting_detail.describe(limit_row(BuyLimit.TRADE), view_of(state)).plain
    none = view_of(replace(STATE, buy_limits=None))
    assert "heron" not in setting_detail.describe(limit_row(BuyLimit.SKILL_DAY), none).plain


def test_a_limit_names_the_market_that_is_the_highest() -> None:
    market = next(iter(STATE.markets.values()))
    for about, shown in ((market.market_id, market.question[:30]), ("unknown", "unknown")):
        row = limit_row(BuyLimit.MARKET, used=1, about=about)
        assert shown in setting_detail.describe(row, view_of()).plain


def test_quiet_hours_say_whether_it_is_quiet_now() -> None:
    for hours, said in (("00:00-23:59", "quiet now"), ("", "")):
        state = replace(STATE, preferences={QUIET: hours})
        assert setting(QUIET_ROW, state).beside.plain == said


def test_the_account_says_whether_it_is_claimed() -> None:
    assert STATE.account is not None
    for claimed, said in ((True, "yes"), (False, "no: not approved for real money")):
        account = replace(STATE.account, claimed=claimed)
        text = setting_detail.about_text(replace(STATE, account=account), NOW, ProgramInfo()).plain
        line = next(line for line in text.splitlines() if line.startswith("claimed"))
        assert line.endswith(said)


def test_a_sold_position_tells_when_where_the_trades_reach() -> None:
    sold = replace(HELD, status=MarketStatus.RESOLVED, outcome=None, shares=Micros(0))
    sale = replace(
        STATE.trades[0], market_id=HELD.market_id, venue=HELD.venue, side=HELD.side,
        action="sell", shares=Micros(ONE), cost=Micros(ONE), at=Timestamp(NOW - 60),
    )  # fmt: skip
    column = next(one for one in CLOSED.columns if one.id == "outcome")

    def said(*trades: Any) -> str:
        cell = column.cell(sold, view_of(replace(STATE, trades=trades)))
        return cell if isinstance(cell, str) else cell.plain

    assert said() == "sold"
    assert said(sale) == f"sold {formats.date_time(sale.at).plain}"


@pytest.mark.parametrize(
    ("figures", "facts"),
    [
        ((0.02, 0.01, 0.01), 1),
        ((None, 0.01, 0.01), 0),
        ((0.02, None, 0.01), 0),
        ((0.02, 0.01, None), 0),
    ],
)
def test_the_edge_of_a_skill_is_told_only_whole(figures: Any, facts: int) -> None:
    edge, slippage, kept = figures
    result = SimpleNamespace(
        confidence=None, hit_rate=None, brier=None, edge=edge, slippage=slippage, edge_kept=kept
    )
    given: Any = result
    assert len(list(agent_detail.facts_of(given))) == facts


@pytest.mark.parametrize(
    ("slug", "is_own", "cap", "limit", "budget"),
    [
        (MIRROR_SKILL, True, 100, 50, 50),
        (MIRROR_SKILL, True, 100, 200, 100),
        (MIRROR_SKILL, True, 100, None, 100),
        (MIRROR_SKILL, True, None, 50, 50),
        (MIRROR_SKILL, False, 100, 200, 200),
        ("another", True, 100, 200, 200),
        ("another", True, 100, None, None),
    ],
)
def test_the_budget_of_the_reactor_is_the_smaller_of_its_cap_and_its_limit(
    slug: str, cap: int | None, limit: int | None, budget: int | None, *, is_own: bool
) -> None:
    assert STATE.fleet is not None
    assert STATE.reactor.config is not None
    config = None if cap is None else replace(STATE.reactor.config, daily_cap=Micros(cap))
    agent = replace(STATE.fleet.agents[0], is_own=is_own)
    limits: Any = SimpleNamespace(skill_budget=None if limit is None else Micros(limit))
    found = agent_detail.budget_of(slug, agent, limits, view_of(with_reactor(config=config)))
    assert found == budget


@pytest.mark.parametrize(
    ("auto", "managed", "word"),
    [
        (AutoView(on_service=None), False, "not known"),
        (AutoView(on_service=True), True, "on, by the service"),
        (AutoView(on_service=False), True, "off"),
        (AutoView(on_service=True, allowed=True), False, "on"),
        (AutoView(on_service=True, allowed=True, paused="no gas"), False, "paused"),
        (AutoView(on_service=True, allowed=False), False, "off"),
    ],
)
def test_automatic_redemption_is_on_off_or_paused(
    auto: AutoView, word: str, *, managed: bool
) -> None:
    owner = Ownership.MANAGED if managed else Ownership.EXTERNAL
    state = replace(
        STATE, redemption=replace(STATE.redemption, auto=auto),
        wallet=replace(STATE.wallet, ownership=owner),
    )  # fmt: skip
    assert redemption_detail.auto_text(state)[0] == word


def test_native_money_that_cannot_be_spent_is_listed_only_if_there_is_some() -> None:
    for native, is_listed in ((Micros(0), False), (Micros(ONE), True), (None, False)):
        wallet = replace(STATE.wallet, usdc_native=native)
        assert ("native USDC" in wallet_text(replace(STATE, wallet=wallet)).plain) is is_listed


@pytest.mark.parametrize(
    ("age_s", "period_s", "is_told"), [(1, 5.0, False), (60, 5.0, True), (60, None, False)]
)
def test_monitors_older_than_their_period_say_so(
    age_s: float, period_s: float | None, *, is_told: bool
) -> None:
    state = replace(STATE, **seen(Topic.MONITORS, age_s, period_s))
    assert bool(monitor_detail.freshness_text(state, NOW).plain) is is_told


@pytest.mark.parametrize(
    ("resets_s", "text"),
    [
        (90, "■ breaker open, 1m 30s left. b resets it. 5 failures in a row, 7 signals skipped"),
        (None, "■ breaker open. b resets it. 5 failures in a row, 7 signals skipped"),
        (0, ""),
    ],
)
def test_a_breaker_is_told_while_it_holds_signals_back(resets_s: float | None, text: str) -> None:
    resets_at = None if resets_s is None else Timestamp(NOW + resets_s)
    breaker = BreakerView(6, 5, Timestamp(NOW - 9), resets_at, 7)
    reactor = replace(STATE.reactor, breaker=breaker)
    assert reactor_detail.breaker_text(reactor, NOW).plain == text
