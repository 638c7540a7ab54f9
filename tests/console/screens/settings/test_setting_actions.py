"""What editing each setting does, what is asked first, and what is restored."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.acting import StubScreen, confirm, decline, perform
from kit.samples.desk import NOW, sample_state
from service_tui.console.buy_limit_text import figure, source_text
from service_tui.console.forms.about import About
from service_tui.console.forms.buy_limit_draft import BuyLimitChange
from service_tui.console.forms.choose_plan import ChoosePlan
from service_tui.console.forms.ticket_guards import SLIPPAGE
from service_tui.console.keys import key_named
from service_tui.console.messages import KeyChosen
from service_tui.console.notifications import CHANNELS_OF, PROTOCOL, QUIET, Channel, choices_of
from service_tui.console.screens.settings.actions import ACTIONS
from service_tui.console.screens.settings.forms import (
    SLIPPAGE_LINE,
    BuyLimitForm,
    ChannelsForm,
    DefaultsForm,
    Hours,
    QuietForm,
    Slippage,
    SlippageForm,
)
from service_tui.console.screens.settings.table import PLAN, settings
from service_tui.console.screens.settings.webhooks import WebhookList
from service_tui.desk.commands.agents import AgentAct, Govern
from service_tui.desk.commands.buy_limits import SetBuyLimit, SetDefaults, SetPaused
from service_tui.desk.commands.settings import SetPreference, SetSpeed
from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.slices.buy_limits import RULES, BuyLimit, RiskDefaults
from service_tui.desk.state import DeskState
from service_tui.engine.limits import PLANS
from service_tui.terms import SPEEDS, Plan, counted
from service_tui.units import ONE, Micros, Timestamp

STATE = sample_state()
assert STATE.buy_limits is not None
assert STATE.account is not None
assert STATE.limits is not None
assert STATE.world is not None
BEFORE = STATE.buy_limits.defaults
LOADING = [("not loaded yet", "warn")]


def on(key: str, state: DeskState = STATE) -> StubScreen:
    """The screen with the cursor on one setting."""
    screen = StubScreen(state)
    rows = settings(screen.view, "dark")
    screen.rows = [next(row for row in rows if row.key == key)]
    screen.program = None
    return screen


def edit(screen: StubScreen) -> str:
    return perform(screen, ACTIONS, "settings.edit")


def undo(screen: StubScreen) -> str:
    return perform(screen, ACTIONS, "settings.undo")


def opened(screen: StubScreen) -> Any:
    assert not edit(screen)
    (dialog,) = screen.opened
    return dialog


# -- limits -------------------------------------------------------------------------------------


def limit_row(kind: BuyLimit) -> StubScreen:
    screen = StubScreen(STATE)
    rows = settings(screen.view, "dark")
    screen.rows = [next(one for one in rows if one.limit and one.limit.limit_kind is kind)]
    return screen


def test_a_tighter_limit_is_set_at_once_and_restored() -> None:
    screen = limit_row(BuyLimit.TRADE)
    limit = screen.rows[0].limit
    form = opened(screen)
    assert isinstance(form, BuyLimitForm)
    assert form._view == limit
    tighter = BuyLimitChange(limit, Micros(3 * ONE), limit.own)
    assert not tighter.is_loosened
    screen.answer(tighter)
    assert screen.given == [SetBuyLimit(BuyLimit.TRADE, Micros(3 * ONE))]
    assert len(screen.opened) == 1
    assert not undo(screen)
    assert screen.given[1:] == [SetBuyLimit(BuyLimit.TRADE, limit.service)]
    assert screen.toasts == [(f"restored: {RULES[BuyLimit.TRADE].name}", "info")]
    assert undo(screen) == "nothing to undo here"


def test_a_looser_limit_is_set_after_a_question_with_both_figures() -> None:
    screen = limit_row(BuyLimit.TRADE)
    limit = screen.rows[0].limit
    opened(screen)
    looser = BuyLimitChange(limit, Micros(900 * ONE), None)
    assert looser.is_loosened
    screen.answer(looser)
    assert not screen.given
    question = screen.question
    assert (question.title, question.confirm) == ("Loosen this limit?", "loosen")
    then = looser.after
    assert question.body.plain == (
        f"{RULES[BuyLimit.TRADE].name}\n\n"
        f"now   {figure(BuyLimit.TRADE, limit.limit, masked=False).plain}  {source_text(limit)}\n"
        f"then  {figure(BuyLimit.TRADE, then.limit, masked=False).plain}  {source_text(then)}\n\n"
        "You may lose more. Applies from the next order; u restores the old limit."
    )
    decline(screen)
    assert not screen.given
    confirm(screen)
    assert screen.given == list(looser.commands)
    assert screen.take_back == looser.undone


def test_a_limit_without_a_figure_of_its_own_is_fixed() -> None:
    fixed = [kind for kind, rule in RULES.items() if not (rule.on_service or rule.on_desk)]
    shown = {row.limit.limit_kind for row in settings(StubScreen(STATE).view, "dark") if row.limit}
    for kind in shown:
        assert (edit(limit_row(kind)) == "this limit is fixed") is (kind in fixed)


# -- risk ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["risk.stop", "risk.target"])
def test_more_protection_is_set_at_once(key: str) -> None:
    screen = on(key)
    assert isinstance(opened(screen), DefaultsForm)
    assert screen.opened[0]._before == BEFORE
    after = RiskDefaults(0.1, 0.5, auto_monitor=True)
    screen.answer(after)
    assert screen.given == [SetDefaults(after)]
    undo(screen)
    assert screen.given[1:] == [SetDefaults(BEFORE)]
    assert screen.toasts == [("restored: the risk defaults", "info")]


LESS = {
    RiskDefaults(0.3, None, auto_monitor=True): (
        "New buys are protected with a stop 30.0% down instead of 20.0%."
    ),
    RiskDefaults(None, 0.5, auto_monitor=True): "New buys are protected without a stop.",
    RiskDefaults(0.1, None, auto_monitor=False): (
        "New buys get no monitor. Automatic monitors are removed now: those positions lose their "
        "stop. Manual monitors stay."
    ),
}


@pytest.mark.parametrize("after", LESS)
def test_less_protection_is_set_after_a_question(after: RiskDefaults) -> None:
    screen = on("risk.stop")
    opened(screen)
    screen.answer(after)
    assert not screen.given
    question = screen.question
    assert (question.title, question.confirm) == ("Reduce protection?", "reduce")
    end = "\n\nu restores the defaults; removed monitors stay removed."
    assert question.body.plain == LESS[after] + end
    decline(screen)
    assert not screen.given
    confirm(screen)
    assert screen.given == [SetDefaults(after)]
    assert screen.take_back == (SetDefaults(BEFORE),)


def test_monitors_by_default_are_switched_and_nothing_else() -> None:
    screen = on("risk.auto")
    edit(screen)
    confirm(screen)
    assert screen.given == [SetDefaults(replace(BEFORE, auto_monitor=False))]
    off = replace(STATE.buy_limits, defaults=RiskDefaults(0.2, 0.5, auto_monitor=False))
    again = on("risk.auto", replace(STATE, buy_limits=off))
    edit(again)
    assert not again.opened
    assert again.given == [SetDefaults(RiskDefaults(0.2, 0.5, auto_monitor=True))]


@pytest.mark.parametrize("key", ["risk.stop", "risk.auto"])
def test_defaults_that_are_not_known_are_not_changed(key: str) -> None:
    screen = on(key)
    screen.state = replace(STATE, buy_limits=None)
    edit(screen)
    assert screen.toasts == LOADING
    assert not screen.opened


# -- trading ------------------------------------------------------------------------------------


def paused() -> DeskState:
    assert STATE.limits is not None
    return replace(STATE, limits=replace(STATE.limits, paused=True))


def test_trading_is_paused_at_once_and_resumed_after_a_question() -> None:
    screen = on("trading.paused")
    edit(screen)
    assert screen.given == [SetPaused(paused=True)]
    held = on("trading.paused", paused())
    edit(held)
    assert (held.question.title, held.question.confirm) == ("Resume trading?", "resume")
    assert held.question.body.plain.startswith(
        "The service accepts buys of this desk's agent again"
    )
    decline(held)
    assert not held.given
    confirm(held)
    assert held.given == [SetPaused(paused=False)]


def test_a_halt_is_not_resumed_from_here() -> None:
    assert STATE.world is not None
    halted = replace(paused(), world=replace(STATE.world, halted_at=NOW))
    screen = on("trading.paused", halted)
    edit(screen)
    assert not screen.given
    assert not screen.opened
    ((text, tone),) = screen.toasts
    assert text.startswith("halted. F9 opens Halt, ")
    assert tone == "warn"


def test_before_the_limits_have_loaded_trading_is_not_paused() -> None:
    screen = on("trading.paused")
    screen.state = replace(STATE, limits=None)
    edit(screen)
    assert screen.toasts == LOADING


def test_the_plan_is_set_and_restored() -> None:
    account = STATE.account
    assert account is not None
    screen = on("trading.plan")
    dialog = opened(screen)
    assert isinstance(dialog, ChoosePlan)
    assert (dialog._name, dialog._now) == ("this desk's agent", account.plan)
    screen.answer(account.plan)
    assert not screen.given
    other = next(plan for plan in Plan if plan is not account.plan)
    screen.answer(other)
    assert screen.given == [Govern(AgentAct.PLAN, account.agent_id, account.name, other)]
    undo(screen)
    assert screen.given[1:] == [Govern(AgentAct.PLAN, account.agent_id, account.name, account.plan)]
    assert screen.toasts == [("restored: the plan", "info")]


@pytest.mark.parametrize(
    "state",
    [
        replace(STATE, account=None),
        replace(STATE, service=replace(STATE.service, embedded=False)),
    ],
)
def test_the_plan_of_another_service_is_not_set_here(state: DeskState) -> None:
    screen = on("trading.plan")
    screen.state = state
    edit(screen)
    assert not screen.opened
    assert screen.toasts == [("plan set by the service: not changeable here", "info")]


def test_cooldowns_that_still_run_are_counted() -> None:
    limits = STATE.buy_limits
    assert limits is not None
    for passed, text in ((0, "1, longest first"), (1_260, "none now")):
        screen = on("trading.cooldowns")
        screen.now = Timestamp(NOW + passed)
        edit(screen)
        assert screen.toasts == [(f"cooldowns end automatically: {text}", "info")]


# -- notices ------------------------------------------------------------------------------------


def test_channels_of_a_kind_are_set_and_restored() -> None:
    row = next(row for row in settings(StubScreen(STATE).view, "dark") if row.kind is not None)
    screen = on(row.key)
    dialog = opened(screen)
    assert isinstance(dialog, ChannelsForm)
    before = choices_of(STATE.preferences).channels_of(row.kind)
    screen.answer(before)
    assert not screen.given
    other = before ^ {next(iter(Channel))}
    screen.answer(other)
    (order,) = screen.given
    assert order.name == f"{CHANNELS_OF}{row.kind.value}"
    after = choices_of({order.name: order.value})
    assert after.channels_of(row.kind) == other
    (back,) = screen.take_back
    assert choices_of({back.name: back.value}).channels_of(row.kind) == before
    undo(screen)
    assert screen.toasts == [("restored: the setting", "info")]


def test_quiet_hours_are_set_and_restored() -> None:
    screen = on("tell.quiet", replace(STATE, preferences={QUIET: "22:00-07:00"}))
    before = choices_of(screen.state.preferences).quiet
    assert before is not None
    assert isinstance(opened(screen), QuietForm)
    screen.answer(Hours(before))
    assert not screen.given
    screen.answer(Hours(None))
    assert screen.given == [SetPreference(QUIET, "")]
    assert screen.take_back == (SetPreference(QUIET, before.describe()),)


def test_the_slippage_without_asking_is_set_and_restored() -> None:
    screen = on("ticket.slippage")
    form = opened(screen)
    assert isinstance(form, SlippageForm)
    assert form.first == {SLIPPAGE_LINE.name: "5"}
    screen.answer(Slippage(Micros(5 * ONE)))
    assert not screen.given
    screen.answer(Slippage(Micros(7_500_000)))
    assert screen.given == [SetPreference(SLIPPAGE, "7.5")]
    assert screen.take_back == (SetPreference(SLIPPAGE, "5"),)
    screen.answer(Slippage(None))
    assert screen.given[-1] == SetPreference(SLIPPAGE, "off")
    # Any slippage is a choice of its own, and no default.
    chosen = on("ticket.slippage", replace(STATE, preferences={SLIPPAGE: "off"}))
    assert opened(chosen).first == {SLIPPAGE_LINE.name: ""}
    (row,) = [one for one in settings(chosen.view, "night") if one.key == "ticket.slippage"]
    assert row.value.plain == "any"


def test_the_protocol_of_notices_is_the_other_one() -> None:
    screen = on("tell.protocol")
    before = choices_of(STATE.preferences).protocol
    edit(screen)
    (order,) = screen.given
    assert choices_of({PROTOCOL: order.value}).protocol is not before
    assert screen.take_back == (SetPreference(PROTOCOL, before.value),)


# -- the desk -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "pressed"), [("desk.theme", "app.themes"), ("desk.privacy", "app.privacy")]
)
def test_some_settings_press_a_key_of_the_program(key: str, pressed: str) -> None:
    screen = on(key)
    edit(screen)
    (message,) = screen.posted
    assert isinstance(message, KeyChosen)
    assert message.key == key_named(pressed)


@pytest.mark.parametrize(("history", "speeds"), [("", SPEEDS[:4]), ("oslo", SPEEDS)])
def test_the_pace_goes_round(history: str, speeds: tuple[int, ...]) -> None:
    assert STATE.world is not None
    following = dict(zip(speeds, (*speeds[1:], speeds[0]), strict=True))
    for speed, after in following.items():
        world = replace(STATE.world, speed=speed, history=history)
        screen = on("desk.pace", replace(STATE, world=world))
        edit(screen)
        assert screen.given == [SetSpeed(after)]
    odd = on("desk.pace", replace(STATE, world=replace(STATE.world, speed=7.5)))
    edit(odd)
    assert odd.given == [SetSpeed(SPEEDS[1])]


@pytest.mark.parametrize(("key", "page"), [("desk.about", About), ("desk.webhooks", WebhookList)])
def test_pages_open(key: str, page: type) -> None:
    assert isinstance(opened(on(key)), page)


ON_SERVICE = ("risk.stop", "risk.target", "risk.auto", "trading.paused", "trading.plan")


@pytest.mark.parametrize("key", ON_SERVICE)
def test_a_read_only_desk_changes_nothing_of_the_service(key: str) -> None:
    state = replace(STATE, service=replace(STATE.service, read_only=True))
    assert edit(on(key, state)) == READ_ONLY
    limit = limit_row(BuyLimit.TRADE)
    limit.state = state
    assert edit(limit) == READ_ONLY


@pytest.mark.parametrize("key", ["desk.theme", "tell.quiet", "tell.protocol", "desk.about"])
def test_a_read_only_desk_changes_what_is_this_machines(key: str) -> None:
    state = replace(STATE, service=replace(STATE.service, read_only=True))
    assert not edit(on(key, state))


def test_the_words_on_plans_are_those_of_the_service() -> None:
    meaning = next(row.meaning for row in settings(StubScreen(STATE).view, "") if row.key == PLAN)
    free, pro, elite = (PLANS[plan] for plan in (Plan.FREE, Plan.PRO, Plan.ELITE))
    assert meaning == (
        f"Free: {free.trades_per_day} buys/day, {counted(free.agents, 'agent')}. "
        f"Pro: {pro.trades_per_day} buys/day, rates x{pro.rate_factor}, {pro.agents} agents. "
        f"Elite: no daily cap, rates x{elite.rate_factor}, {elite.agents} agents."
    )
