"""What is typed into the forms of the reactor, and what they show and send."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from kit.console.opened import Opened, opened
from kit.samples.desk import NOW
from kit.samples.reactor import WALLETS, reactor_state
from service_tui.console import formats
from service_tui.console.fields import FieldError
from service_tui.console.forms.form import SECOND_THOUGHT_S
from service_tui.console.screens.reactor.forms import (
    CAP,
    LABEL_MAX,
    LISTED_MAX,
    NEW_LABEL,
    FollowForm,
    LabelForm,
    NamedWallet,
    ReactorForm,
    changes,
    example,
    known_line,
    loosens,
    read_label,
    read_percent,
    read_size,
    read_wallet,
    reverse,
)
from service_tui.desk.commands.reactor import SetReactorConfig
from service_tui.desk.slices.reactor import Policy, ReactorConfigView, WalletChoice
from service_tui.terms import WALLETS_MAX, Venue
from service_tui.units import ONE, Micros

STATE = reactor_state()
STRANGER = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"


def config() -> ReactorConfigView:
    assert STATE.reactor.config is not None
    return STATE.reactor.config


BEFORE = replace(config(), mirror_fraction=0.123456789, min_size=Micros(20_000_001))
"""Figures that have more digits than a line shows."""

ALL = SetReactorConfig(
    min_size=Micros(1), max_size=Micros(2), mirror_fraction=0.5, daily_cap=Micros(3),
    venue=Venue.EVM, enabled=False, price_buffer=0.1,
)  # fmt: skip

NOT_FOLLOWED = sorted(
    (one for one in STATE.reactor.known.values() if one.address not in config().wallets),
    key=lambda one: -one.realized,
)


@pytest.mark.parametrize(
    ("figures", "spends", "shares", "most"),
    [
        ((0.1, 100, 100, 0.02), "30.00", "50.00", "0.612"),
        ((1.0, 100, 100, 0.0), "60.00", "100.00", "0.600"),
        ((1.0, 1_000, 100, 0.2), "100.00", "500.00", "0.720"),
        ((0.0, 100, 100, 0.02), "0.00", "0.00", "0.612"),
    ],
)
def test_an_example_is_cut_by_the_size_and_the_day(
    figures: tuple[float, int, int, float], spends: str, shares: str, most: str
) -> None:
    fraction, size, day, buffer = figures
    text = example(
        replace(
            BEFORE, mirror_fraction=fraction, max_size=Micros(size * ONE),
            daily_cap=Micros(day * ONE), price_buffer=buffer,
        )
    ).plain  # fmt: skip
    assert f"spends {spends} $ for about {shares} shares, at {most} or below" in text


def test_an_example_below_the_least_size_is_no_signal() -> None:
    assert "no signal" not in example(replace(BEFORE, min_size=Micros(500 * ONE))).plain
    assert "no signal" in example(replace(BEFORE, min_size=Micros(501 * ONE))).plain


def test_the_change_of_a_config_names_each_field_that_differs() -> None:
    after = replace(
        BEFORE, min_size=Micros(1), max_size=Micros(2), mirror_fraction=0.5, daily_cap=Micros(3),
        venue=Venue.EVM, enabled=False, price_buffer=0.1,
    )  # fmt: skip
    assert changes(BEFORE, after) == ALL
    assert changes(BEFORE, BEFORE) == SetReactorConfig()


def test_undo_restores_what_was_changed_but_not_the_switch() -> None:
    assert reverse(ALL, BEFORE) == SetReactorConfig(
        min_size=BEFORE.min_size, max_size=BEFORE.max_size,
        mirror_fraction=BEFORE.mirror_fraction, daily_cap=BEFORE.daily_cap, venue=BEFORE.venue,
        price_buffer=BEFORE.price_buffer,
    )  # fmt: skip
    assert reverse(SetReactorConfig(), BEFORE) == SetReactorConfig()


@pytest.mark.parametrize(
    ("change", "is_looser"),
    [
        (SetReactorConfig(max_size=Micros(BEFORE.max_size + 1)), True),
        (SetReactorConfig(max_size=BEFORE.max_size), False),
        (SetReactorConfig(max_size=Micros(BEFORE.max_size - 1)), False),
        (SetReactorConfig(mirror_fraction=0.2), True),
        (SetReactorConfig(mirror_fraction=0.1), False),
        (SetReactorConfig(daily_cap=Micros(BEFORE.daily_cap + 1)), True),
        (SetReactorConfig(daily_cap=Micros(0)), False),
        (SetReactorConfig(price_buffer=0.021), True),
        (SetReactorConfig(price_buffer=0.01), False),
        (SetReactorConfig(venue=Venue.EVM), True),
        (SetReactorConfig(min_size=Micros(0)), False),
    ],
)
def test_a_change_is_looser_if_more_may_be_spent_or_elsewhere(
    change: SetReactorConfig, *, is_looser: bool
) -> None:
    assert loosens(BEFORE, change) is is_looser


def test_a_parsed_figure_has_its_own_decimals_and_bounds() -> None:
    assert read_size("1.25", "it", decimals=2) == Micros(1_250_000)
    with pytest.raises(FieldError, match="it: At most 1 decimal"):
        read_size("1.25", "it", decimals=1)
    assert read_percent("0.5", "it", 40.0) == pytest.approx(0.005)
    assert read_percent("40", "it", 40.0) == pytest.approx(0.4)
    with pytest.raises(FieldError, match=r"it: 0 to 40 percent$"):
        read_percent("40.01", "it", 40.0)


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ("", "Choose a wallet"),
        ("  ", "Choose a wallet"),
        ("0x12", r"40 hex digits \(2 given\)$"),
        ("0X" + "1" * 39, r"40 hex digits \(39 given\)$"),
        ("1" * 39, "40 hex digits$"),
        (STRANGER.replace("fB69", "Fb69"), "Wrong checksum"),
        (WALLETS[0], "already followed"),
        (WALLETS[0].lower(), "already followed"),
    ],
)
def test_what_is_no_wallet_to_follow_is_refused_with_the_fix(typed: str, problem: str) -> None:
    with pytest.raises(FieldError, match=problem):
        read_wallet(typed, frozenset(WALLETS[:2]))


def test_a_wallet_is_followed_by_its_checksummed_address_up_to_the_most() -> None:
    others = frozenset(f"0x{place:040x}" for place in range(WALLETS_MAX - 1))
    for typed in (STRANGER, f" {STRANGER.lower()} "):
        assert read_wallet(typed, others) == STRANGER
    with pytest.raises(FieldError, match=f"At most {WALLETS_MAX} wallets"):
        read_wallet(STRANGER, others | {WALLETS[0]})


def test_a_name_is_one_line_of_limited_length() -> None:
    assert read_label("  My \n\t wallet ") == "My wallet"
    assert read_label("") == ""
    assert read_label("x" * LABEL_MAX) == "x" * LABEL_MAX
    with pytest.raises(FieldError, match=f"at most {LABEL_MAX} letters"):
        read_label("x" * (LABEL_MAX + 1))


def test_a_known_wallet_is_told_by_its_record_or_masked() -> None:
    wallet = NOT_FOLLOWED[0]
    line = known_line(wallet, is_selected=False, masked=False).plain
    decided = wallet.win_count + wallet.loss_count
    assert line.startswith(f"  {wallet.label}")
    assert f"{wallet.win_count / decided:.0%} of {decided}" in line
    assert formats.pnl(wallet.realized).plain in line
    assert line.endswith(wallet.venue.value)
    unknown = replace(wallet, win_count=0, loss_count=0)
    assert formats.NOT_KNOWN in known_line(unknown, is_selected=True, masked=False).plain
    masked = known_line(wallet, is_selected=True, masked=True).plain
    assert wallet.address[:6] not in masked
    assert formats.pnl(wallet.realized).plain not in masked


async def test_an_untouched_line_keeps_its_figure_to_the_last_digit() -> None:
    async with opened(ReactorForm(STATE, NOW, BEFORE), STATE) as form:
        assert form.problem == "no change yet"
        await form.type(CAP.name, "x")
        assert form.told("form-preview") == formats.NOT_KNOWN
        await form.type(CAP.name, "50")
        await form.press("enter")
        assert form.returned == [SetReactorConfig(daily_cap=Micros(50 * ONE))]


async def test_looser_caps_of_wallets_on_auto_need_a_second_enter() -> None:
    # One that is not followed mirrors nothing.
    choices = {
        wallet: WalletChoice(wallet, policy=Policy.AUTO) for wallet in (*WALLETS[:2], WALLETS[8])
    }
    state = replace(STATE, reactor=replace(STATE.reactor, choices=choices))
    async with opened(ReactorForm(state, NOW, BEFORE), state) as form:
        await form.type(CAP.name, "500")
        await form.press("enter", "enter")
        assert form.problem.startswith("2 wallets are on auto")
        assert form.returned == [], "an enter that is held down is no second one"
        await asyncio.sleep(SECOND_THOUGHT_S)
        await form.press("enter")
        assert form.returned == [SetReactorConfig(daily_cap=Micros(500 * ONE))]


def selected(form: Opened[Any]) -> str:
    """The marked wallet of the list."""
    (line,) = [line for line in form.told("form-preview").splitlines() if line.startswith("▸")]
    return line


async def test_known_wallets_are_listed_best_first_and_chosen_by_arrows_or_words() -> None:
    labels = [one.label for one in NOT_FOLLOWED]
    async with opened(FollowForm(STATE, NOW), STATE) as form:
        lines = form.told("form-preview").splitlines()[1:]
        assert [line[2:22].strip() for line in lines] == labels
        assert labels[0] in selected(form)
        for label in (*labels[1:], labels[0]):
            await form.press("down")
            assert label in selected(form)
        await form.press("up")
        assert labels[-1] in selected(form)
        # A name is no search, and keeps the choice; an address that is typed is one.
        await form.type("follow-label", " Mine ")
        assert labels[-1] in selected(form)
        await form.type("follow-address", labels[1].upper()[:6])
        assert labels[1] in selected(form)
        await form.press("enter")
        assert form.returned == [NamedWallet(NOT_FOLLOWED[1].address, "Mine")]
        await form.again(FollowForm(STATE, NOW, NOT_FOLLOWED[2].address))
        assert labels[2] in selected(form)
        await form.type("follow-address", "nobody of this name")
        assert form.told("form-preview") == "no matching wallet"
        await form.type("follow-address", STRANGER.lower())
        assert form.told("form-preview") == f"checksummed  {STRANGER}"
        await form.press("down", "enter")
        assert form.returned == [NamedWallet(STRANGER, "")]


async def test_a_long_list_shows_the_marked_wallet_and_counts_the_rest() -> None:
    many = {
        f"0x{place:040x}": replace(
            NOT_FOLLOWED[0], address=f"0x{place:040x}", label=f"Number {place:02}",
            realized=Micros(-place),
        )
        for place in range(12)
    }  # fmt: skip
    state = replace(STATE, reactor=replace(STATE.reactor, known=many))
    async with opened(FollowForm(state, NOW), state) as form:
        for _ in many:
            lines = form.told("form-preview").splitlines()[1:]
            assert (len(lines), lines[-1]) == (LISTED_MAX + 1, "  4 more: type part of a name")
            assert selected(form) in lines
            await form.press("down")
        await form.press("up")
        lines = form.told("form-preview").splitlines()[1:-1]
        assert [line[2:11] for line in lines] == [f"Number {place:02}" for place in range(4, 12)]


async def test_a_wallet_gets_a_name_or_loses_it_and_is_masked() -> None:
    wallet = STATE.reactor.wallet(WALLETS[0])
    choices = {wallet.address: WalletChoice(wallet.address, label="Old")}
    named = replace(STATE, reactor=replace(STATE.reactor, choices=choices))
    private = replace(STATE, preferences={**STATE.preferences, "privacy": "on"})
    async with opened(LabelForm(named, NOW, wallet), named) as form:
        assert (form.line(NEW_LABEL.name).value, form.problem) == ("Old", "no change yet")
        assert form.told("form-question") == wallet.address
        await form.type(NEW_LABEL.name, "")
        await form.press("enter")
        assert form.returned == [NamedWallet(wallet.address, "")]
        await form.again(LabelForm(private, NOW, wallet))
        assert form.told("form-question") == formats.MASK
