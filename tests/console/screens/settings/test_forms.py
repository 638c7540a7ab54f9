"""The forms of a limit, the defaults, the channels and the quiet hours, by lines and text."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.opened import opened
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
from service_tui.desk.commands.buy_limits import SetBuyLimit
from service_tui.desk.slices.buy_limits import RULES, BuyLimit, BuyLimitView, RiskDefaults
from service_tui.units import ONE, Timestamp

STATE = sample_state()
TRADE = BuyLimitView(BuyLimit.TRADE, 100 * ONE, 40 * ONE)
BUYS = BuyLimitView(BuyLimit.DAY_BUYS, 50, None, used=7, resets_at=Timestamp(NOW + 3_600))
DEFAULTS = RiskDefaults(0.2, None, auto_monitor=True)


@pytest.mark.parametrize("kind", BuyLimit)
def test_a_limit_has_a_line_for_each_place_that_enforces_it(kind: BuyLimit) -> None:
    form = BuyLimitForm(STATE, NOW, BuyLimitView(kind, 100 * ONE, 40 * ONE))
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
    ("view", "typed", "command", "hint"),
    [
        (TRADE, (OWN, "30"), SetBuyLimit(BuyLimit.TRADE, 30 * ONE, own=True), "The lower limit"),
        (TRADE, (SERVICE, "20"), SetBuyLimit(BuyLimit.TRADE, 20 * ONE), "The lower limit"),
        (TRADE, (OWN, "60"), SetBuyLimit(BuyLimit.TRADE, 60 * ONE, own=True), "Loosens"),
        (
            BuyLimitView(BuyLimit.DESK_DAY, None, 100 * ONE),
            (OWN, "90"),
            SetBuyLimit(BuyLimit.DESK_DAY, 90 * ONE, own=True),
            "The desk limit is stored on this machine.",
        ),
    ],
)
async def test_a_changed_figure_of_a_limit_is_returned_with_its_effect(
    view: BuyLimitView, typed: tuple[str, str], command: SetBuyLimit, hint: str
) -> None:
    async with opened(BuyLimitForm(STATE, NOW, view), STATE) as form:
        assert "then" not in form.told("form-preview")
        await form.type(*typed)
        before, after = form.told("form-preview").splitlines()[:2]
        assert (before[:8], after[:4]) == ("in force", "then")
        assert form.told("form-hint").startswith(hint)
        await form.press("enter")
        assert form.returned[0].commands == (command,)


async def test_a_limit_follows_the_plan_its_use_and_what_the_desk_knows() -> None:
    assert STATE.buy_limits is not None
    few = replace(STATE, buy_limits=replace(STATE.buy_limits, day_buys_ceiling=60))
    async with opened(BuyLimitForm(few, NOW, BUYS), few) as form:
        shown = form.told("form-preview")
        assert "7" in shown.partition("used")[2].splitlines()[0]
        assert "1h" in shown.partition("resets")[2]
        await form.type(SERVICE, "61")
        assert form.problem == "Above the plan's limit of 60"
        await form.type(SERVICE, "60")
        assert form.problem == ""
        await form.again(BuyLimitForm(few, NOW, TRADE))
        await form.type(OWN, "61")
        assert form.problem == "", "money has no plan"
        unknown = replace(STATE, buy_limits=None)
        await form.again(BuyLimitForm(unknown, NOW, TRADE))
        await form.type(OWN, "30")
        await form.press("enter")
        assert (form.problem, form.returned) == ("limits not loaded yet", [])
        await form.again(BuyLimitForm(STATE, NOW, replace(TRADE, is_broken=True)))
        assert "desk limit unreadable: buys blocked" in form.told("form-preview")


async def test_the_figures_of_a_limit_are_masked() -> None:
    private = replace(STATE, preferences={**STATE.preferences, "privacy": "on"})
    view = BuyLimitView(BuyLimit.DAY_SPEND, 432 * ONE, None, used=123 * ONE)
    async with opened(BuyLimitForm(STATE, NOW, view), STATE) as form:
        assert "432" in form.told("form-preview")
        assert "123" in form.told("form-preview")
        await form.again(BuyLimitForm(private, NOW, view))
        await form.type(SERVICE, "400")
        assert not any(one in form.told("form-preview") for one in ("432", "123", "400"))


async def test_the_defaults_are_typed_in_percent_and_shown_as_prices() -> None:
    async with opened(DefaultsForm(STATE, NOW, DEFAULTS), STATE) as form:
        assert (form.line(STOP.name).value, form.line(TARGET.name).value) == ("20", "")
        assert form.problem == "No change yet"
        assert "stop at 0.400, no target" in form.told("form-preview")
        await form.type(STOP.name, "10")
        await form.type(TARGET.name, "30")
        assert "stop at 0.450, target at 0.650" in form.told("form-preview")
        await form.press("enter")
        assert form.returned == [RiskDefaults(0.1, 0.3, auto_monitor=True)]


@pytest.mark.parametrize("is_on", [True, False])
async def test_automatic_monitors_are_switched_with_a_warning(*, is_on: bool) -> None:
    before = replace(DEFAULTS, auto_monitor=is_on)
    async with opened(DefaultsForm(STATE, NOW, before), STATE) as form:
        form.app.screen.query_one(f"#{AUTO.name}").focus()
        await form.press("right" if is_on else "left")
        assert ("New buys get no monitor" in form.told("form-hint")) is is_on
        await form.press("ctrl+j")
        assert form.returned == [replace(DEFAULTS, auto_monitor=not is_on)]


async def test_digits_switch_the_channels_of_a_notice() -> None:
    kind = next(iter(KINDS))
    state: Any = frozenset({Channel.TOAST})
    async with opened(ChannelsForm(STATE, NOW, kind, state), STATE) as form:
        lines = form.told("form-preview").splitlines()
        assert [line[:3] for line in lines] == ["1 ●", "2 ○", "3 ○", "4 ○"]
        assert [line.split()[2] for line in lines] == [channel.value for channel in Channel]
        await form.press("3", "1")
        assert [line[2] for line in form.told("form-preview").splitlines()] == [*"○○●○"]
        await form.press("enter")
        assert form.returned == [frozenset({tuple(Channel)[2]})]


async def test_quiet_hours_are_told_as_of_now_and_what_is_none_is_refused() -> None:
    hour = int(formats.clock_time(NOW).plain[:2])
    later = f"{(hour + 2) % 24:02}:00-{(hour + 3) % 24:02}:00"
    async with opened(QuietForm(STATE, NOW, quiet_of("22:00-07:00")), STATE) as form:
        assert form.line(HOURS.name).value == "22:00-07:00"
        for typed, words in (
            (later, "not quiet now"), ("off", "no quiet hours"), ("00:00-23:59", "quiet now"),
        ):  # fmt: skip
            await form.type(HOURS.name, typed)
            assert form.told("form-preview") == words
        await form.type(HOURS.name, "22")
        await form.press("enter")
        assert form.returned == []
        await form.type(HOURS.name, "00:00-23:59")
        await form.press("enter")
        assert form.returned == [Hours(quiet_of("00:00-23:59"))]
