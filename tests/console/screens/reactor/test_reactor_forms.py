"""The forms of the reactor, without an app: what is typed, what is shown, and what is sent."""

from dataclasses import replace
from typing import Any

import pytest
from rich.text import Text

from kit.console.alone import Alone, event
from kit.samples.desk import NOW
from kit.samples.reactor import NAMES, WALLETS, reactor_state, waiting
from service_tui.console import formats
from service_tui.console.fields import FieldError
from service_tui.console.keys import cap
from service_tui.console.messages import CommandGiven
from service_tui.console.screens.reactor import mirror
from service_tui.console.screens.reactor.forms import (
    BUFFER,
    CAP,
    FRACTION,
    LABEL_MAX,
    LISTED_MAX,
    MAX,
    MIN,
    NEW_LABEL,
    POLICIES,
    VENUE,
    ChoosePolicy,
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
from service_tui.console.screens.reactor.mirror import (
    EARLY,
    MIRRORS_WHEN_QUOTED,
    TOO_DEAR,
    UNSEEN,
    MirrorForm,
    ended_text,
)
from service_tui.console.widgets import dialog
from service_tui.desk.commands.reactor import MirrorSignal, SetReactorConfig
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.reactor import (
    Policy,
    ReactorConfigView,
    SignalState,
    SignalView,
    WalletChoice,
)
from service_tui.desk.state import DeskState
from service_tui.terms import WALLETS_MAX, Mode, Venue
from service_tui.units import ONE, Micros, Timestamp

STATE = reactor_state()
STRANGER = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"
PRIVATE = replace(STATE, preferences={**STATE.preferences, "privacy": "on"})


def config() -> ReactorConfigView:
    assert STATE.reactor.config is not None
    return STATE.reactor.config


def with_reactor(state: DeskState = STATE, **changed: Any) -> DeskState:
    return replace(state, reactor=replace(state.reactor, **changed))


BEFORE = replace(config(), mirror_fraction=0.123456789, min_size=Micros(20_000_001))
"""Figures that have more digits than a line shows."""


def config_form(state: DeskState = STATE) -> Alone:
    return Alone(ReactorForm(state, NOW, BEFORE))


# -- the config ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "typed", "change"),
    [
        (FRACTION, "25", SetReactorConfig(mirror_fraction=0.25)),
        (FRACTION, "100", SetReactorConfig(mirror_fraction=1.0)),
        (FRACTION, "0", SetReactorConfig(mirror_fraction=0.0)),
        (MIN, "7", SetReactorConfig(min_size=Micros(7 * ONE))),
        (MIN, "0", SetReactorConfig(min_size=Micros(0))),
        (MAX, "7.5", SetReactorConfig(max_size=Micros(7_500_000))),
        (CAP, "250.25", SetReactorConfig(daily_cap=Micros(250_250_000))),
        (BUFFER, "20", SetReactorConfig(price_buffer=0.2)),
        (BUFFER, "1.5", SetReactorConfig(price_buffer=0.015)),
    ],
)
def test_only_the_changed_figure_of_a_config_is_sent(
    field: Any, typed: str, change: SetReactorConfig
) -> None:
    form = config_form(with_reactor(choices={}))
    form.type(field.name, typed)
    form.dialog.action_set()
    assert form.left == [change]


@pytest.mark.parametrize(
    ("field", "typed", "problem"),
    [
        (FRACTION, "100.1", "mirror: 0 to 100 percent"),
        (FRACTION, "some", "mirror: 0 to 100 percent, such as 10"),
        (BUFFER, "20.1", "price: 0 to 20 percent"),
        (BUFFER, "some", "price: 0 to 20 percent, such as 2"),
        (MIN, "", "min size: enter a figure, 0 or more"),
        (MAX, "-1", "max size: enter 0 or more"),
        (CAP, "+1", "day's cap: enter 0 or more"),
        (CAP, "1.001", "day's cap: At most 2 decimals"),
        (CAP, " 100 ", "no change yet"),
    ],
)
def test_a_figure_that_cannot_be_set_is_refused_by_its_name(
    field: Any, typed: str, problem: str
) -> None:
    form = config_form()
    form.type(field.name, typed)
    form.dialog.action_set()
    assert form.problem.startswith(problem)
    assert form.part("form-set").disabled
    assert form.left == []


def test_an_untouched_line_keeps_its_figure_to_the_last_digit() -> None:
    form = config_form(with_reactor(choices={}))
    assert form.problem == "no change yet"
    form.type(MIN.name, f" {form.part(MIN.name).value} ")
    assert form.problem == "no change yet"
    form.type(CAP.name, "50")
    assert form.dialog.validate() == SetReactorConfig(daily_cap=Micros(50 * ONE))


def test_the_venue_of_the_mirrors_is_chosen_among_all() -> None:
    form = config_form(with_reactor(choices={}))
    labels, place = form.part(VENUE.name).options
    assert (labels, labels[place]) == (tuple(venue.value for venue in Venue), Venue.SIM.value)
    assert "real venue" not in form.text("form-hint")
    form.pick(VENUE.name, labels.index(Venue.EVM.value))
    assert form.part(VENUE.name).options[1] == labels.index(Venue.EVM.value)
    assert "A real venue: nothing is mirrored" in form.text("form-hint")
    form.dialog.action_set()
    assert form.left == [SetReactorConfig(venue=Venue.EVM)]


def test_an_example_that_cannot_be_computed_is_not_known() -> None:
    form = config_form()
    assert "the mirror spends" in form.text("form-preview")
    form.type(CAP.name, "x")
    assert form.text("form-preview") == formats.NOT_KNOWN


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


ALL = SetReactorConfig(
    min_size=Micros(1), max_size=Micros(2), mirror_fraction=0.5, daily_cap=Micros(3),
    venue=Venue.EVM, enabled=False, price_buffer=0.1,
)  # fmt: skip


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


@pytest.mark.parametrize(
    ("autos", "whose"), [(0, ""), (1, "1 wallet is on auto"), (2, "2 wallets are on auto")]
)
def test_looser_caps_of_wallets_on_auto_need_a_second_enter(autos: int, whose: str) -> None:
    choices = {wallet: WalletChoice(wallet, policy=Policy.AUTO) for wallet in WALLETS[:autos]}
    # One that is not followed mirrors nothing.
    choices[WALLETS[8]] = WalletChoice(WALLETS[8], policy=Policy.AUTO)
    form = config_form(with_reactor(choices=choices))
    form.type(CAP.name, "500")
    form.dialog.action_set()
    assert form.problem.startswith(whose)
    assert len(form.left) == (0 if autos else 1)
    # An enter that is held down is no second one.
    form.dialog.action_set()
    assert len(form.left) == (0 if autos else 1)
    form.wait()
    form.dialog.action_set()
    assert form.left == [SetReactorConfig(daily_cap=Micros(500 * ONE))]


def test_tighter_caps_of_a_wallet_on_auto_are_set_at_once() -> None:
    form = config_form(
        with_reactor(choices={WALLETS[0]: WalletChoice(WALLETS[0], policy=Policy.AUTO)})
    )
    form.type(CAP.name, "50")
    form.dialog.action_set()
    assert form.left == [SetReactorConfig(daily_cap=Micros(50 * ONE))]


def test_a_parsed_figure_has_its_own_decimals_and_bounds() -> None:
    assert read_size("1.25", "it", decimals=2) == Micros(1_250_000)
    with pytest.raises(FieldError, match="it: At most 1 decimal"):
        read_size("1.25", "it", decimals=1)
    assert read_percent("0.5", "it", 40.0) == pytest.approx(0.005)
    assert read_percent("40", "it", 40.0) == pytest.approx(0.4)
    with pytest.raises(FieldError, match=r"it: 0 to 40 percent$"):
        read_percent("40.01", "it", 40.0)


# -- wallets ------------------------------------------------------------------------------------


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


NOT_FOLLOWED = sorted(
    (one for one in STATE.reactor.known.values() if one.address not in config().wallets),
    key=lambda one: -one.realized,
)


def selected(form: Alone) -> str:
    """The marked wallet of the list."""
    (line,) = [line for line in form.text("form-preview").splitlines() if line.startswith("▸")]
    return line


def test_known_wallets_are_listed_best_first_and_enter_follows_the_marked_one() -> None:
    form = Alone(FollowForm(STATE, NOW))
    head, *lines = form.text("form-preview").splitlines()
    assert "wallet" in head
    assert [line[2:22].strip() for line in lines] == [one.label for one in NOT_FOLLOWED]
    assert not set(NAMES[:5]) & set(" ".join(lines).split("  "))
    assert NOT_FOLLOWED[0].label in selected(form)
    form.type("follow-label", " Mine ")
    form.dialog.action_set()
    assert form.left == [NamedWallet(NOT_FOLLOWED[0].address, "Mine")]


def test_arrows_go_round_the_list_and_typing_begins_at_the_first_match() -> None:
    form = Alone(FollowForm(STATE, NOW))
    names: list[str] = []
    for _ in NOT_FOLLOWED:
        form.dialog.action_choose(1)
        names.append(selected(form)[2:22].strip())
    labels = [one.label for one in NOT_FOLLOWED]
    assert names == [*labels[1:], labels[0]]
    form.dialog.action_choose(-1)
    assert labels[-1] in selected(form)
    # A name is no search, and keeps the choice.
    form.type("follow-label", "x")
    assert labels[-1] in selected(form)
    form.type("follow-address", labels[1].upper()[:6])
    assert labels[1] in selected(form)
    form.dialog.action_set()
    assert form.left == [NamedWallet(NOT_FOLLOWED[1].address, "x")]


def test_a_newly_typed_search_begins_at_its_first_match() -> None:
    form = Alone(FollowForm(STATE, NOW))
    form.dialog.action_choose(1)
    form.type("follow-address", "0x")
    assert NOT_FOLLOWED[0].label in form.text("form-preview").splitlines()[1]
    form.dialog.action_set()
    assert form.left == [NamedWallet(NOT_FOLLOWED[0].address, "")]


def test_a_known_address_with_a_wrong_checksum_is_refused() -> None:
    address = next(one.address for one in NOT_FOLLOWED if one.address[2:].upper() != one.address)
    form = Alone(FollowForm(STATE, NOW))
    form.type("follow-address", f"0x{address[2:].swapcase()}")
    form.dialog.action_set()
    assert (form.left, form.problem) == ([], "Wrong checksum: check each digit and capital")
    form.type("follow-address", "nobody")
    assert form.problem.startswith("An address is 0x")


def test_a_wallet_given_at_first_is_marked() -> None:
    form = Alone(FollowForm(STATE, NOW, NOT_FOLLOWED[2].address))
    assert NOT_FOLLOWED[2].label in selected(form)


def test_a_typed_address_is_followed_whatever_is_marked() -> None:
    form = Alone(FollowForm(STATE, NOW))
    form.type("follow-address", STRANGER.lower())
    assert form.text("form-preview") == f"checksummed  {STRANGER}"
    form.dialog.action_choose(1)
    form.dialog.action_set()
    assert form.left == [NamedWallet(STRANGER, "")]
    known = Alone(FollowForm(STATE, NOW))
    known.type("follow-address", NOT_FOLLOWED[2].address.lower())
    known.dialog.action_set()
    assert known.left == [NamedWallet(NOT_FOLLOWED[2].address, "")]


def test_what_matches_no_wallet_says_so() -> None:
    form = Alone(FollowForm(STATE, NOW))
    form.type("follow-address", "nobody of this name")
    assert form.text("form-preview") == "no matching wallet"
    form.dialog.action_set()
    assert form.left == []
    bare = Alone(FollowForm(with_reactor(config=None, known={}), NOW))
    assert bare.problem.startswith("Choose a wallet")


def test_a_long_list_shows_the_marked_wallet_and_counts_the_rest() -> None:
    many = {
        f"0x{place:040x}": replace(
            NOT_FOLLOWED[0], address=f"0x{place:040x}", label=f"Number {place:02}",
            realized=Micros(-place),
        )
        for place in range(12)
    }  # fmt: skip
    form = Alone(FollowForm(with_reactor(known=many), NOW))
    for _ in range(12):
        lines = form.text("form-preview").splitlines()[1:-1]
        assert len(lines) == LISTED_MAX
        assert selected(form) in lines
        assert form.text("form-preview").endswith("4 more: type part of a name")
        form.dialog.action_choose(1)
    form.dialog.action_choose(-1)
    assert [line[2:11] for line in form.text("form-preview").splitlines()[1:-1]] == [
        f"Number {place:02}" for place in range(4, 12)
    ]
    form.type("follow-address", "Number 0")
    assert "more: type" in form.text("form-preview")
    fewer = Alone(FollowForm(with_reactor(known=dict(list(many.items())[:LISTED_MAX])), NOW))
    assert "more: type" not in fewer.text("form-preview")


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


def test_a_wallet_gets_a_name_or_loses_it() -> None:
    wallet = STATE.reactor.wallet(WALLETS[0])
    choices = {wallet.address: WalletChoice(wallet.address, label="Old")}
    form = Alone(LabelForm(with_reactor(choices=choices), NOW, wallet))
    assert form.part(NEW_LABEL.name).value == "Old"
    assert form.problem == "no change yet"
    assert form.text("form-question") == wallet.address
    for typed in ("New", ""):
        form.type(NEW_LABEL.name, typed)
        assert form.dialog.validate() == NamedWallet(wallet.address, typed)
    bare = Alone(LabelForm(with_reactor(PRIVATE, choices={}), NOW, wallet))
    assert (bare.part(NEW_LABEL.name).value, bare.problem) == ("", "no change yet")
    assert bare.text("form-question") == formats.MASK


# -- the policy ---------------------------------------------------------------------------------


def test_a_policy_is_taken_by_its_digit_or_door_once_it_was_seen() -> None:
    for place, (policy, _) in enumerate(POLICIES):
        form = Alone(ChoosePolicy("Quiet Abacus", Policy.ASK, Text("caps")))
        form.dialog.action_take(place)
        assert (form.left, form.toasts) == ([], [dialog.EARLY])
        form.dialog.is_armed = True
        form.dialog.action_take(place)
        assert form.left == [policy]
        form.left.clear()
        pressed = event(button=type("Door", (), {"id": f"policy-{policy.value}-door"}))
        form.dialog._pressed(pressed)
        assert (form.left, pressed.stopped) == ([policy], ["stop"])


def test_the_present_policy_is_kept_by_escape_and_by_its_door() -> None:
    form = Alone(ChoosePolicy("Quiet Abacus", Policy.AUTO, Text("caps")))
    form.dialog.action_close()
    form.dialog._pressed(event(button=type("Door", (), {"id": "policy-stay"})))
    assert form.left == [None, None]


# -- a mirror -----------------------------------------------------------------------------------

SIGNAL = replace(waiting(1, STATE, age_s=9.0), price=0.5, price_max=0.51, price_now=0.48)
LATER = Timestamp(NOW + 0.5)


def mirror_state(signal: SignalView | None = SIGNAL, **changed: Any) -> DeskState:
    return replace(with_reactor(signals=() if signal is None else (signal,)), **changed)


def mirror_form(monkeypatch: pytest.MonkeyPatch, *, is_armed: bool = True) -> Alone:
    form = Alone(MirrorForm(mirror_state(), NOW, SIGNAL))

    def rest(*_: object) -> None:
        form.opened.append("keys rest")

    monkeypatch.setattr(mirror, "rest_keys", rest)
    form.dialog.on_mount()
    form.dialog.refresh_form()
    if is_armed:
        form.wait()
    return form


def answered(form: Alone, **other: Any) -> DeskState:
    """The state with the answer to the newest request for a quote."""
    given: dict[str, Any] = {
        "average": 0.49,
        "price_before": 0.48,
        "price_after": 0.5,
        "ok": True,
        **other,
    }
    return mirror_state(quote=QuoteView(form.given[-1].request_id, **given))


def test_a_mirror_requests_its_quote_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    form = mirror_form(monkeypatch)
    (request,) = form.given
    assert (request.order.market_id, request.order.amount) == (SIGNAL.market_id, SIGNAL.amount)
    assert form.text("form-hint") == "requesting quote"
    assert form.text("form-set") == "mirror  enter"
    assert not form.part("form-set").can_focus
    assert SIGNAL.label in form.text("form-about")
    assert form.text("form-question") == formats.plain(SIGNAL.question).plain


def test_a_quoted_mirror_is_sent_with_one_enter(monkeypatch: pytest.MonkeyPatch) -> None:
    form = mirror_form(monkeypatch)
    form.dialog.take(answered(form), LATER)
    assert form.text("form-hint") == "indicative quote"
    assert form.left == []
    form.dialog.action_set()
    assert form.left == [MirrorSignal(SIGNAL.signal_id, SIGNAL.question)]
    # It is done: neither a newer state nor another key sends anything.
    form.dialog.take(answered(form), Timestamp(NOW + 30))
    form.dialog.action_set()
    assert (len(form.left), len(form.given)) == (1, 1)


@pytest.mark.parametrize("way", ["enter", "click"])
def test_a_key_or_a_click_typed_ahead_mirrors_nothing(
    monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    form = mirror_form(monkeypatch, is_armed=False)
    form.dialog.take(answered(form), LATER)
    if way == "enter":
        form.dialog.action_set()
    else:
        form.press("form-set")
    assert form.left == []
    assert form.text("form-hint") == EARLY
    form.wait()
    form.press("form-set")
    assert form.left == [MirrorSignal(SIGNAL.signal_id, SIGNAL.question)]


def test_a_click_is_no_click_of_the_base_form(monkeypatch: pytest.MonkeyPatch) -> None:
    form = mirror_form(monkeypatch)
    click = event(button=None)
    form.dialog._button_pressed(click)
    assert click.stopped == ["stop", "prevent_default"]


def test_an_enter_before_the_quote_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    form = mirror_form(monkeypatch)
    form.dialog.action_set()
    assert form.left == []
    expected = MIRRORS_WHEN_QUOTED.partition("{")[0]
    assert form.text("form-hint").startswith(expected)
    form.dialog.take(answered(form), LATER)
    assert form.left == [MirrorSignal(SIGNAL.signal_id, SIGNAL.question)]
    assert form.opened == ["keys rest"]


@pytest.mark.parametrize("way", ["enter", "escape"])
def test_a_waiting_mirror_is_cancelled_before_the_form_is_left(
    monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    form = mirror_form(monkeypatch)
    cancel = form.dialog.action_set if way == "enter" else form.dialog.action_cancel
    form.dialog.action_set()
    cancel()
    assert form.left == []
    assert form.text("form-hint") == "requesting quote"
    form.dialog.take(answered(form), LATER)
    assert (form.left, form.opened) == ([], [])
    form.dialog.action_cancel()
    assert form.left == [None]


def test_real_money_wants_its_own_key_while_the_quote_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def live(state: DeskState, venue: Venue) -> Mode:
        assert venue is SIGNAL.venue
        assert isinstance(state, DeskState)
        return Mode.LIVE

    monkeypatch.setattr(mirror, "mode_on", live)
    form = mirror_form(monkeypatch)
    assert form.text("form-set") == "mirror  y"
    form.dialog.action_confirm()
    assert form.text("form-hint") == UNSEEN
    form.dialog.take(answered(form), LATER)
    # Nothing was remembered, and an enter is not its key.
    form.dialog.action_set()
    assert form.left == []
    form.dialog.action_confirm()
    assert form.left == [MirrorSignal(SIGNAL.signal_id, SIGNAL.question)]


def test_the_key_of_real_money_typed_ahead_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    form = mirror_form(monkeypatch, is_armed=False)
    form.dialog.take(answered(form), LATER)
    form.dialog.action_confirm()
    assert (form.left, form.text("form-hint")) == ([], EARLY)


GONE = replace(SIGNAL, state=SignalState.SKIPPED, detail="dismissed", ticket_id="x")


@pytest.mark.parametrize(
    ("signal", "quote", "problem"),
    [
        (None, {}, "signal gone: nothing mirrored"),
        (GONE, {}, "skipped, dismissed: nothing mirrored"),
        (replace(SIGNAL, expires_at=LATER), {}, "signal expired: nothing mirrored"),
        (replace(SIGNAL, price_now=0.52), {}, TOO_DEAR),
        (SIGNAL, {"ok": False, "problem": "market closed"}, "market closed"),
    ],
)
def test_what_can_no_longer_be_mirrored_says_why_and_sends_nothing(
    monkeypatch: pytest.MonkeyPatch, signal: SignalView | None, quote: Any, problem: str
) -> None:
    form = mirror_form(monkeypatch)
    form.dialog.action_set()
    state = answered(form, **quote)
    state = replace(state, reactor=mirror_state(signal).reactor)
    form.dialog.take(state, LATER)
    assert form.left == []
    assert form.problem.startswith(problem)
    assert form.part("form-set").disabled
    assert form.text("form-set") == "mirror"
    assert form.toasts[-1].startswith(f"nothing mirrored: {problem}")
    form.dialog.action_set()
    assert form.left == []
    form.dialog.action_cancel()
    assert form.left == [None]
    if problem.endswith("nothing mirrored"):
        assert form.problem.endswith(f"{cap('form.cancel')} leaves")
        assert len(form.given) == 1


def test_a_quote_that_came_for_the_former_amount_is_requested_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    form = mirror_form(monkeypatch)
    state = answered(form)
    more = replace(SIGNAL, amount=Micros(SIGNAL.amount + ONE))
    form.dialog.take(replace(state, reactor=mirror_state(more).reactor), LATER)
    assert form.given[-1].order.amount == more.amount
    form.dialog.action_set()
    assert form.left == []


def test_a_masked_form_names_neither_the_amount_nor_the_wallet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    form = mirror_form(monkeypatch)
    shown = formats.money(SIGNAL.amount).plain
    form.dialog.take(answered(form), LATER)
    assert shown in form.text("form-preview")
    form.dialog.take(replace(answered(form), preferences=PRIVATE.preferences), LATER)
    assert shown not in form.text("form-preview")
    assert SIGNAL.wallet[:6] not in form.text("form-about")


@pytest.mark.parametrize(
    ("state", "detail", "words"),
    [
        (SignalState.PENDING, "anything", "signal expired"),
        (SignalState.FAILED, "", "failed"),
        (SignalState.FAILED, "no money", "failed, no money"),
    ],
)
def test_the_end_of_a_signal_is_told_in_a_few_words(
    state: SignalState, detail: str, words: str
) -> None:
    assert ended_text(replace(SIGNAL, state=state, detail=detail)) == words


def test_a_request_is_a_command_of_the_desk(monkeypatch: pytest.MonkeyPatch) -> None:
    form = mirror_form(monkeypatch)
    assert all(isinstance(one, CommandGiven) for one in form.posted)
