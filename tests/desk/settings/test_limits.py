"""What a change of the limits asks of the service or of this desk, and what it tells."""

from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kit.desk.offline import Asked, Offline
from kit.samples.desk import NOW, sample_state
from service_tui.client.errors import (
    Called,
    OutcomeUnknownError,
    RefusalReason,
    RefusedError,
    UnreachableError,
)
from service_tui.desk.buy_limits import FIGURE_MAX
from service_tui.desk.commands.buy_limits import SetBuyLimit, SetDefaults, SetPaused
from service_tui.desk.facts import PreferenceSet
from service_tui.desk.ports import Memory
from service_tui.desk.reasons import HALTED, READ_ONLY
from service_tui.desk.settings import translate
from service_tui.desk.settings.limits import set_buy_limit, set_defaults, set_paused
from service_tui.desk.slices.buy_limits import BuyLimit, RiskDefaults
from service_tui.desk.slices.halt import HaltView
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Side, Venue
from service_tui.units import ONE, Timestamp
from service_tui.wire.endpoints.public import PATCH_USER_SETTINGS, POST_SETTINGS
from service_tui.wire.settings import (
    RemovedMonitorBody,
    SentSettingsPatch,
    SentUserSettingsPatch,
    SettingsBody,
    UserSettingsBody,
)

CALLED = Called("PATCH", "/x")
AGAIN = [Topic.ACCOUNT, Topic.AGENTS]
SPEC = SettingsBody(sdk_real_trading_enabled=False)


class Kept:
    """A memory that notes what it is told to keep."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str]] = []

    async def prefer(self, name: str, value: str) -> None:
        self.rows.append((name, value))


def outside(answers: Any = None, **other: Any) -> Offline:
    return Offline(replace(sample_state(), **other), dict(answers or {}))


def read_only(state: DeskState) -> DeskState:
    return replace(state, service=replace(state.service, read_only=True))


async def limit(order: SetBuyLimit, there: Offline) -> list[tuple[str, str]]:
    """Change a limit.

    Returns:
        What is kept on this machine.
    """
    kept = Kept()
    await set_buy_limit(order, cast("Memory", kept), there.ports)
    return kept.rows


@pytest.mark.parametrize(
    ("kind", "figure", "value", "text"),
    [
        (BuyLimit.DESK_DAY, 30 * ONE, "30000000", "daily spend, this desk: 30.00"),
        (BuyLimit.SIM_TRADE, 1, "1", "per trade, sim: 0.00"),
        (BuyLimit.DAY_BUYS, 1_200, "1200", "daily buys: 1,200"),
        (BuyLimit.TRADE, None, "", "per trade, real venues: no limit"),
        (BuyLimit.MARKET, FIGURE_MAX, str(FIGURE_MAX), "per market: 1,000,000,000.00"),
    ],
)
async def test_a_figure_of_the_desk_stays_here(
    kind: BuyLimit, figure: int | None, value: str, text: str
) -> None:
    there = outside()
    kept = await limit(SetBuyLimit(kind, figure, own=True), there)
    name = f"limits.{kind.value}"
    assert kept == [(name, value)]
    assert there.facts[0] == PreferenceSet(name, value)
    assert there.words == [("good", text)]
    assert (there.asked, there.woken) == ([], [])


@pytest.mark.parametrize(
    ("order", "why"),
    [
        (SetBuyLimit(BuyLimit.SIM_TRADE, ONE), "this figure is fixed"),
        (SetBuyLimit(BuyLimit.DESK_DAY, ONE), "this figure is fixed"),
        (SetBuyLimit(BuyLimit.SKILL_DAY, ONE, own=True), "this figure is fixed"),
        (SetBuyLimit(BuyLimit.TRADE, None), "this limit cannot be removed"),
        (SetBuyLimit(BuyLimit.DAY_SPEND, None), "this limit cannot be removed"),
        (SetBuyLimit(BuyLimit.TRADE, 0), "a limit is above 0 and at most one billion"),
        (SetBuyLimit(BuyLimit.TRADE, 0, own=True), "a limit is above 0 and at most one billion"),
        (SetBuyLimit(BuyLimit.TRADE, -ONE), "a limit is above 0 and at most one billion"),
        (
            SetBuyLimit(BuyLimit.TRADE, FIGURE_MAX + 1),
            "a limit is above 0 and at most one billion",
        ),
    ],
)
async def test_a_figure_that_cannot_be_goes_nowhere(order: SetBuyLimit, why: str) -> None:
    there = outside()
    assert await limit(order, there) == []
    assert there.words == [("warn", f"{order.describe()}: {why}")]
    assert (len(there.facts), there.asked, there.woken) == (1, [], [])


async def test_a_desk_that_only_reads_changes_nothing() -> None:
    order = SetBuyLimit(BuyLimit.TRADE, ONE)
    defaults = SetDefaults(RiskDefaults(0.1, 0.2, auto_monitor=True))
    there = Offline(read_only(sample_state()))
    assert await limit(order, there) == []
    await set_defaults(defaults, there.ports)
    await set_paused(SetPaused(paused=True), there.ports)
    assert there.words == [
        ("warn", f"{order.describe()}: {READ_ONLY}"),
        ("warn", READ_ONLY),
        ("warn", READ_ONLY),
    ]
    assert (there.asked, there.woken) == ([], [])


@pytest.mark.parametrize(
    ("kind", "figure", "name", "sent"),
    [
        (BuyLimit.TRADE, 2_500_000, "sdk_max_trade_amount", 2.5),
        (BuyLimit.DAY_SPEND, 40 * ONE, "sdk_daily_limit", 40.0),
    ],
)
async def test_two_figures_are_of_the_specs_settings(
    kind: BuyLimit, figure: int, name: str, sent: float
) -> None:
    there = outside({POST_SETTINGS: SPEC.model_copy(update={name: sent})})
    assert await limit(SetBuyLimit(kind, figure), there) == []
    assert there.asked == [
        Asked(POST_SETTINGS, body=SentSettingsPatch.model_validate({name: sent}))
    ]
    [(tone, text)] = there.words
    assert tone == "good"
    assert text.endswith(f": {sent:.2f}")
    assert there.told[0].kind is NoticeKind.DESK
    assert there.woken == AGAIN


@pytest.mark.parametrize(
    ("kind", "figure", "name", "sent"),
    [
        (BuyLimit.MARKET, 2_500_000, "max_position_usd", 2.5),
        (BuyLimit.MARKET, None, "max_position_usd", None),
        (BuyLimit.DAY_BUYS, 30, "max_trades_per_day", 30),
        (BuyLimit.SKILL_DAY, 3 * ONE, "skill_daily_budget", 3.0),
        (BuyLimit.SKILL_DAY, None, "skill_daily_budget", None),
    ],
)
async def test_the_others_are_of_the_persons_settings(
    kind: BuyLimit, figure: int | None, name: str, sent: float | None
) -> None:
    answer = UserSettingsBody.model_validate({name: sent})
    there = outside({PATCH_USER_SETTINGS: answer})
    assert await limit(SetBuyLimit(kind, figure), there) == []
    assert there.asked == [
        Asked(PATCH_USER_SETTINGS, body=SentUserSettingsPatch.model_validate({name: sent}))
    ]
    body = there.asked[0].body
    assert body is not None
    assert body.model_fields_set == {name}
    assert there.words[0][0] == "good"
    assert there.woken == AGAIN


@pytest.mark.parametrize(
    ("order", "endpoint", "answer", "text"),
    [
        (
            SetBuyLimit(BuyLimit.TRADE, 5 * ONE), POST_SETTINGS,
            SettingsBody(sdk_real_trading_enabled=False, sdk_max_trade_amount=4.5), "4.50",
        ),
        (
            SetBuyLimit(BuyLimit.DAY_BUYS, 50), PATCH_USER_SETTINGS,
            UserSettingsBody(max_trades_per_day=1_000), "1,000",
        ),
        (
            SetBuyLimit(BuyLimit.MARKET, 5 * ONE), PATCH_USER_SETTINGS,
            UserSettingsBody(max_position_usd=None), "no limit",
        ),
    ],
)  # fmt: skip
async def test_another_figure_of_the_service_is_told(
    order: SetBuyLimit, endpoint: Any, answer: Any, text: str
) -> None:
    there = outside({endpoint: answer})
    await limit(order, there)
    assert there.words == [("bad", f"{order.describe()}: the service has {text}")]
    assert there.woken == AGAIN


async def test_a_limit_taken_away_may_still_be_reported_from_the_plan() -> None:
    there = outside({PATCH_USER_SETTINGS: UserSettingsBody(max_trades_per_day=1_000)})
    await limit(SetBuyLimit(BuyLimit.DAY_BUYS, None), there)
    assert there.words == [("good", "daily buys: no limit")]


@pytest.mark.parametrize(
    ("error", "tone", "text", "fix"),
    [
        (
            OutcomeUnknownError("no answer", CALLED),
            "bad",
            "sent, no response; reloading the limits",
            "",
        ),
        (
            RefusedError(RefusalReason("too high", "ask for less"), CALLED, status=400),
            "warn",
            "too high",
            "ask for less",
        ),
        (UnreachableError("no line", CALLED), "bad", "no line (PATCH /x)", ""),
        (ValueError("bad"), "bad", "invalid figure for the service", ""),
    ],
)
async def test_each_failure_is_told_and_the_limits_are_read_again(
    error: Exception, tone: str, text: str, fix: str
) -> None:
    order = SetBuyLimit(BuyLimit.MARKET, ONE)
    there = outside({PATCH_USER_SETTINGS: error})
    await limit(order, there)
    assert there.words == [(tone, f"{order.describe()}: {text}")]
    assert (there.told[0].fix, there.told[0].kind) == (fix, NoticeKind.DESK)
    assert there.woken == AGAIN


async def test_a_number_of_buys_that_the_wire_does_not_take() -> None:
    order = SetBuyLimit(BuyLimit.DAY_BUYS, 1_000_001)
    there = outside()
    await limit(order, there)
    assert there.words == [("bad", f"{order.describe()}: invalid figure for the service")]
    assert (there.asked, there.woken) == ([], AGAIN)


def removed(count: int) -> tuple[RemovedMonitorBody, ...]:
    return (RemovedMonitorBody(market_id="m", side=Side.YES, venue=Venue.SIM),) * count


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, ""),
        (1, "; 1 automatic monitor was removed, manual ones stay"),
        (2, "; 2 automatic monitors were removed, manual ones stay"),
    ],
)
async def test_the_defaults_and_the_monitors_that_went(count: int, text: str) -> None:
    order = SetDefaults(RiskDefaults(None, 0.25, auto_monitor=False))
    answer = UserSettingsBody(
        default_stop_loss_pct=None,
        default_take_profit_pct=0.25,
        auto_risk_monitor_enabled=False,
        monitors_removed=removed(count),
    )
    there = outside({PATCH_USER_SETTINGS: answer})
    await set_defaults(order, there.ports)
    body = SentUserSettingsPatch(
        default_stop_loss_pct=0.0, default_take_profit_pct=0.25, auto_risk_monitor_enabled=False
    )
    assert there.asked == [Asked(PATCH_USER_SETTINGS, body=body)]
    assert there.words == [("good", f"{order.describe()}{text}")]
    assert there.woken == [Topic.MONITORS, *AGAIN]


async def test_a_stop_without_a_target() -> None:
    order = SetDefaults(RiskDefaults(0.15, None, auto_monitor=True))
    answer = UserSettingsBody(default_stop_loss_pct=None, default_take_profit_pct=None)
    there = outside({PATCH_USER_SETTINGS: answer})
    await set_defaults(order, there.ports)
    body = SentUserSettingsPatch(
        default_stop_loss_pct=0.15, default_take_profit_pct=0.0, auto_risk_monitor_enabled=True
    )
    assert there.asked == [Asked(PATCH_USER_SETTINGS, body=body)]
    found = "guard buys: no stop, no target"
    assert there.words == [("bad", f"{order.describe()}: the service has {found}")]
    assert there.woken == [Topic.MONITORS, *AGAIN]


@pytest.mark.parametrize(
    ("is_paused", "reported", "tone", "text"),
    [
        (True, True, "good", "trading paused: sales only"),
        (True, False, "bad", "pause trading: the service still lets buys pass"),
        (False, False, "good", "buys allowed"),
        (
            False,
            True,
            "good",
            "resumed here; buys stay blocked by a halt or the operator's pause",
        ),
    ],
)
async def test_the_pause(*, is_paused: bool, reported: bool, tone: str, text: str) -> None:
    there = outside({PATCH_USER_SETTINGS: UserSettingsBody(trading_paused=reported)})
    await set_paused(SetPaused(paused=is_paused), there.ports)
    body = SentUserSettingsPatch(trading_paused=is_paused)
    assert there.asked == [Asked(PATCH_USER_SETTINGS, body=body)]
    assert there.words == [(tone, text)]
    assert there.told[0].kind is NoticeKind.HALT
    assert there.woken == AGAIN


async def test_during_a_halt_only_a_pause_may_be_set() -> None:
    there = outside(
        {PATCH_USER_SETTINGS: UserSettingsBody(trading_paused=True)}, halt=HaltView(Timestamp(NOW))
    )
    await set_paused(SetPaused(paused=False), there.ports)
    assert there.words == [("warn", HALTED.text)]
    assert (there.told[0].kind, there.told[0].fix) == (NoticeKind.HALT, HALTED.fix)
    assert (there.asked, there.woken) == ([], [])
    await set_paused(SetPaused(paused=True), there.ports)
    assert there.words[1:] == [("good", "trading paused: sales only")]


def test_a_default_of_nothing_is_none_and_a_cooldown_of_a_strange_side_is_passed_over() -> None:
    user = UserSettingsBody(default_stop_loss_pct=0.0, default_take_profit_pct=0.3)
    made = translate.defaults_of(user)
    assert (made.stop_loss_pct, made.take_profit_pct) == (None, 0.3)
    other = UserSettingsBody(default_stop_loss_pct=0.3, default_take_profit_pct=0.0)
    made = translate.defaults_of(other)
    assert (made.stop_loss_pct, made.take_profit_pct) == (0.3, None)
    until = datetime.fromtimestamp(NOW, UTC)
    rows = [
        SimpleNamespace(market_id=f"m-{side}", side=side, until=until, after="a loss")
        for side in ("maybe", "no")
    ]
    limits: Any = SimpleNamespace(cooldowns=rows)
    (cooldown,) = translate.cooldowns_of(limits)
    assert (cooldown.market_id, cooldown.side, cooldown.until) == ("m-no", Side.NO, NOW)
