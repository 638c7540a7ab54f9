"""The forms of the settings, without an app: a limit, the defaults, channels, quiet hours."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.alone import Alone
from kit.samples.desk import NOW, sample_state
from service_tui.console import formats
from service_tui.console.notifications import KINDS, Channel, quiet_of
from service_tui.console.screens.settings.forms import (
    AUTO,
    HOURS,
    OWN,
    SERVICE,
    STOP,
    TARGET,
    BuyLimitForm,
    ChannelsForm,
    DefaultsForm,
    Hours,
    QuietForm,
)
from service_tui.desk.buy_limits import buy_limits
from service_tui.desk.commands.buy_limits import SetBuyLimit
from service_tui.desk.slices.buy_limits import RULES, BuyLimit, BuyLimitView, RiskDefaults
from service_tui.desk.state import DeskState
from service_tui.units import ONE, Timestamp

STATE = sample_state()
assert STATE.buy_limits is not None
TRADE = BuyLimitView(BuyLimit.TRADE, 100 * ONE, 40 * ONE)
BUYS = BuyLimitView(BuyLimit.DAY_BUYS, 50, None, used=7, resets_at=Timestamp(NOW + 3_600))
DEFAULTS = RiskDefaults(0.2, None, auto_monitor=True)


def limit_form(view: BuyLimitView, state: DeskState = STATE) -> Alone:
    return Alone(BuyLimitForm(state, NOW, view))


# -- a limit --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BuyLimit)
def test_a_limit_has_a_line_for_each_place_that_enforces_it(kind: BuyLimit) -> None:
    form = limit_form(BuyLimitView(kind, 100 * ONE, 40 * ONE)).dialog
    fields = {part.name: part for part in form.body if not isinstance(part, str)}
    rule = RULES[kind]
    names = [name for name, on in ((SERVICE, rule.on_service), (OWN, rule.on_desk)) if on]
    assert list(fields) == names
    for name, field in fields.items():
        may_be_off = rule.may_be_off or name == OWN
        assert ("empty: off" in field.unit) is may_be_off
        assert (field.placeholder == "off") is may_be_off
        assert field.unit.startswith("buys" if rule.is_count else "money")


@pytest.mark.parametrize(
    ("typed", "commands", "hint"),
    [
        ({OWN: "30"}, (SetBuyLimit(BuyLimit.TRADE, 30 * ONE, own=True),), "The lower limit"),
        ({SERVICE: "20"}, (SetBuyLimit(BuyLimit.TRADE, 20 * ONE),), "The lower limit"),
        ({OWN: "60"}, (SetBuyLimit(BuyLimit.TRADE, 60 * ONE, own=True),), "Loosens the limit"),
    ],
)
def test_a_changed_figure_of_a_limit_is_returned_with_its_effect(
    typed: dict[str, str], commands: Any, hint: str
) -> None:
    form = limit_form(TRADE)
    assert (form.part(SERVICE).value, form.part(OWN).value) == ("100.00", "40.00")
    assert "then" not in form.text("form-preview")
    for name, text in typed.items():
        form.type(name, text)
    before, after = form.text("form-preview").splitlines()[:2]
    assert before.startswith("in force")
    assert "40.00" in before
    assert after.startswith("then")
    assert form.text("form-hint").startswith(hint)
    form.dialog.action_set()
    assert form.left[0].commands == commands


def test_a_limit_of_the_service_alone_or_of_the_desk_alone_is_read_from_its_line() -> None:
    skill = limit_form(BuyLimitView(BuyLimit.SKILL_DAY, 100 * ONE, None))
    skill.part(OWN).value = "7"
    skill.type(SERVICE, "90")
    assert skill.dialog.validate().commands == (SetBuyLimit(BuyLimit.SKILL_DAY, 90 * ONE),)
    desk = limit_form(BuyLimitView(BuyLimit.DESK_DAY, None, 100 * ONE))
    desk.part(SERVICE).value = "7"
    desk.type(OWN, "90")
    (command,) = desk.dialog.validate().commands
    assert command == SetBuyLimit(BuyLimit.DESK_DAY, 90 * ONE, own=True)
    assert desk.text("form-hint") == "The desk limit is stored on this machine."


def test_a_number_of_buys_is_bounded_by_the_plan_and_money_is_not() -> None:
    assert STATE.buy_limits is not None
    few = replace(STATE, buy_limits=replace(STATE.buy_limits, day_buys_ceiling=60))
    form = limit_form(BUYS, few)
    form.type(SERVICE, "61")
    assert form.problem == "Above the plan's limit of 60"
    form.type(SERVICE, "60")
    assert form.problem == ""
    money = limit_form(TRADE, few)
    money.type(OWN, "61")
    assert money.problem == ""


def test_no_limit_is_set_before_the_limits_are_known() -> None:
    form = limit_form(TRADE, replace(STATE, buy_limits=None))
    form.type(OWN, "30")
    form.dialog.action_set()
    assert (form.problem, form.left) == ("limits not loaded yet", [])


def test_the_use_of_a_limit_is_shown_with_its_end_and_renewed() -> None:
    form = limit_form(BUYS)
    shown = form.text("form-preview")
    assert "used" in shown
    assert "7" in shown.partition("used")[2].splitlines()[0]
    assert "1h" in shown.partition("resets")[2]
    newest = next(one for one in buy_limits(STATE, NOW) if one.limit_kind is BuyLimit.DAY_BUYS)
    form.dialog.take(STATE, NOW)
    assert form.dialog._view == newest
    assert form.part(SERVICE).value == "50"
    # Without limits, the last ones stay.
    form.dialog.take(replace(STATE, buy_limits=None), NOW)
    assert form.dialog._view == newest


def test_the_figures_of_a_limit_are_masked() -> None:
    state = replace(STATE, preferences={**STATE.preferences, "privacy": "on"})
    view = BuyLimitView(BuyLimit.DAY_SPEND, 432 * ONE, None, used=123 * ONE)
    assert "432" in limit_form(view).text("form-preview")
    assert "123" in limit_form(view).text("form-preview")
    masked = limit_form(view, state)
    masked.type(SERVICE, "400")
    for figure in ("432", "123", "400"):
        assert figure not in masked.text("form-preview")


def test_a_limit_that_cannot_be_read_blocks_buys_in_words() -> None:
    form = limit_form(replace(TRADE, is_broken=True))
    assert "desk limit unreadable: buys blocked" in form.text("form-preview")


# -- the risk defaults ----------------------------------------------------------------------------


def test_the_defaults_are_typed_in_percent_and_shown_as_prices() -> None:
    form = Alone(DefaultsForm(STATE, NOW, DEFAULTS))
    assert (form.part(STOP.name).value, form.part(TARGET.name).value) == ("20", "")
    assert form.problem == "No change yet"
    assert f"at 0.400 or below, at {formats.NOT_KNOWN}" in form.text("form-preview")
    form.type(STOP.name, "10")
    form.type(TARGET.name, "30")
    assert "sold at 0.450 or below, at 0.650 or above" in form.text("form-preview")
    form.dialog.action_set()
    assert form.left == [RiskDefaults(0.1, 0.3, auto_monitor=True)]
    without = Alone(DefaultsForm(STATE, NOW, DEFAULTS))
    without.type(STOP.name, "")
    assert f"sold at {formats.NOT_KNOWN} or below" in without.text("form-preview")


@pytest.mark.parametrize("is_on", [True, False])
def test_automatic_monitors_are_switched_with_a_warning(*, is_on: bool) -> None:
    form = Alone(DefaultsForm(STATE, NOW, replace(DEFAULTS, auto_monitor=is_on)))
    assert form.part(AUTO.name).options == (("on", "off"), 0 if is_on else 1)
    form.pick(AUTO.name, 1 if is_on else 0)
    assert form.part(AUTO.name).options[1] == (1 if is_on else 0)
    assert ("New buys get no monitor" in form.text("form-hint")) is is_on
    form.dialog.action_set()
    assert form.left == [replace(DEFAULTS, auto_monitor=not is_on)]


# -- notices --------------------------------------------------------------------------------------


def test_digits_switch_the_channels_of_a_notice() -> None:
    kind = next(iter(KINDS))
    form = Alone(ChannelsForm(STATE, NOW, kind, frozenset({Channel.TOAST})))
    lines = form.text("form-preview").splitlines()
    assert [line[:3] for line in lines] == ["1 ●", "2 ○", "3 ○", "4 ○"]
    assert [line.split()[2] for line in lines] == [channel.value for channel in Channel]
    form.dialog.action_turn(2)
    form.dialog.action_turn(0)
    channel = tuple(Channel)[2]
    assert [line[2] for line in form.text("form-preview").splitlines()] == ["○", "○", "●", "○"]
    form.dialog.action_set()
    assert form.left == [frozenset({channel})]
    none = Alone(ChannelsForm(STATE, NOW, kind, frozenset()))
    none.dialog.action_set()
    assert none.left == [frozenset()]


@pytest.mark.parametrize(
    ("typed", "words"),
    [("", "no quiet hours"), ("00:00-23:59", "quiet now"), ("off", "no quiet hours")],
)
def test_quiet_hours_are_told_as_of_now(typed: str, words: str) -> None:
    form = Alone(QuietForm(STATE, NOW, quiet_of("22:00-07:00")))
    assert form.part(HOURS.name).value == "22:00-07:00"
    form.type(HOURS.name, typed)
    assert form.text("form-preview") == words
    form.dialog.action_set()
    assert form.left == [Hours(quiet_of(typed))]


def test_hours_that_are_none_are_refused() -> None:
    form = Alone(QuietForm(STATE, NOW, None))
    assert form.part(HOURS.name).value == ""
    form.type(HOURS.name, "22")
    form.dialog.action_set()
    assert form.left == []
    hour = formats.clock_time(NOW).plain[:2]
    other = f"{(int(hour) + 2) % 24:02}:00-{(int(hour) + 3) % 24:02}:00"
    form.type(HOURS.name, other)
    assert form.text("form-preview") == "not quiet now"
