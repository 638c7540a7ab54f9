"""What each key of the reactor does: which signal is mirrored, which wallet followed."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kit.console.acting import StubScreen, confirm, decline, perform
from kit.console.opened import words_in
from kit.samples.desk import NOW
from kit.samples.reactor import WALLETS, reactor_state, waiting
from service_tui.console import formats
from service_tui.console.forms.confirm_many import ConfirmMany
from service_tui.console.messages import GoTo
from service_tui.console.questions import short_question
from service_tui.console.screens.reactor.actions import (
    ACTIONS,
    auto_text,
    configure_block_reason,
    mirror_block_reason,
    run_text,
)
from service_tui.console.screens.reactor.detail import describe
from service_tui.console.screens.reactor.feed import FeedFilter, FeedLine
from service_tui.console.screens.reactor.forms import (
    ChoosePolicy,
    FollowForm,
    LabelForm,
    NamedWallet,
    ReactorForm,
)
from service_tui.console.screens.reactor.mirror import (
    ON_REAL_VENUE,
    MirrorForm,
    Preview,
    SignalPane,
)
from service_tui.console.screens.reactor.table import FEED, TABLES
from service_tui.desk.commands.reactor import (
    DismissSignal,
    FollowWallet,
    LabelWallet,
    MirrorSignal,
    ResetBreaker,
    SetReactorConfig,
    SetWalletPolicy,
    UnfollowWallet,
)
from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.slices.reactor import BreakerView, Policy, SignalState
from service_tui.desk.slices.service import Phase
from service_tui.desk.state import DeskState
from service_tui.terms import Venue
from service_tui.units import ONE, Micros, Timestamp

PLAIN = reactor_state()
NEW, OLD, OTHERS = (
    replace(one, price_now=one.price)
    for one in (
        waiting(0, PLAIN, age_s=5),
        waiting(1, PLAIN, age_s=30),
        waiting(2, PLAIN, wallet=1),
    )
)
assert PLAIN.reactor.config is not None
CONFIG = replace(PLAIN.reactor.config, max_size=Micros(80 * ONE))
STATE = replace(PLAIN, reactor=replace(PLAIN.reactor, signals=(NEW, OLD, OTHERS), config=CONFIG))
SOURCES = STATE.reactor.wallets()
FOLLOWED = next(one for one in SOURCES if one.is_followed and one.address == WALLETS[0])
UNFOLLOWED = next(one for one in SOURCES if not one.is_followed)


def on(*rows: Any, state: DeskState = STATE, seen: bool = False, **other: Any) -> StubScreen:
    screen = StubScreen(state, rows, spec=FEED, **other)
    screen.shows_detail = True
    preview = SimpleNamespace(is_seen=lambda *_: seen, refusal=lambda _: "")
    screen.parts[SignalPane] = SimpleNamespace(preview=preview)
    screen.parts[FeedLine] = SimpleNamespace(filter_in_force=FeedFilter(), paused_rows=None)
    return screen


def press(screen: StubScreen, key: str) -> str:
    return perform(screen, ACTIONS, f"reactor.{key}")


def changed(**other: Any) -> DeskState:
    return replace(STATE, reactor=replace(STATE.reactor, **other))


def served(**other: Any) -> DeskState:
    return replace(STATE, service=replace(STATE.service, **other))


def ordered(one: Any) -> MirrorSignal:
    return MirrorSignal(one.signal_id, one.question)


# -- why a signal is not mirrored ---------------------------------------------------------------

assert STATE.limits is not None
assert STATE.world is not None
OPEN = BreakerView(failures=3, paused_at=NOW, resets_at=Timestamp(NOW + 600))
BLOCKED = {
    "read-only": (
        served(read_only=True),
        NEW,
        "this desk is read-only: no orders. Start without --read-only",
    ),
    "offline": (
        served(phase=Phase.OFFLINE),
        NEW,
        "the service cannot be reached: nothing is sent until it answers",
    ),
    "halted": (
        replace(STATE, world=replace(STATE.world, halted_at=NOW)),
        NEW,
        "trading is halted. F9 resumes",
    ),
    "paused": (
        replace(STATE, limits=replace(STATE.limits, paused=True)),
        NEW,
        "trading is paused. Resume it to mirror",
    ),
    "mirroring": (STATE, replace(NEW, state=SignalState.MIRRORING), "mirror pending"),
    "mirrored": (STATE, replace(NEW, state=SignalState.MIRRORED), "already mirrored"),
    "failed": (
        STATE,
        replace(NEW, state=SignalState.FAILED),
        "mirror failed. A signal is sent once only",
    ),
    "unknown": (
        STATE,
        replace(NEW, state=SignalState.UNKNOWN),
        "mirror sent, result unknown. A signal is sent once only",
    ),
    "expired": (STATE, replace(NEW, expires_at=NOW), "signal expired"),
    "tried": (
        STATE,
        replace(NEW, state=SignalState.SKIPPED, ticket_id="mirror-1"),
        "skipped after an attempt. A signal is sent once only",
    ),
    "real venue": (STATE, replace(NEW, venue=Venue.EVM), ON_REAL_VENUE),
    "breaker": (changed(breaker=OPEN), NEW, "breaker open. b resets it"),
}


@pytest.mark.parametrize("why", BLOCKED)
def test_a_signal_is_not_mirrored_and_why(why: str) -> None:
    state, one, text = BLOCKED[why]
    assert mirror_block_reason(state, one, NOW) == text
    screen = on(one, state=state)
    assert press(screen, "mirror") == text
    assert not screen.given
    assert not screen.opened


def test_a_signal_that_waits_is_mirrored() -> None:
    assert not mirror_block_reason(STATE, NEW, NOW)
    assert mirror_block_reason(STATE, NEW, Timestamp(NOW + 55)) == "signal expired"
    assert not mirror_block_reason(STATE, NEW, Timestamp(NOW + 54.9))
    passed = replace(OPEN, resets_at=NOW)
    assert not mirror_block_reason(changed(breaker=passed), NEW, NOW)


def test_a_signal_that_costs_too_much_is_not_mirrored_alone() -> None:
    dear = replace(NEW, price_now=0.999)
    assert dear.is_too_dear
    assert press(on(dear), "mirror")
    # Of the marked ones the service takes those within their limit.
    assert not press(on(dear, NEW, marked=(dear, NEW)), "mirror")


# -- mirror -------------------------------------------------------------------------------------


def test_a_signal_whose_quote_is_on_the_screen_is_mirrored_at_once() -> None:
    screen = on(NEW, OLD, seen=True)
    press(screen, "mirror")
    assert screen.given == [ordered(NEW)]
    assert not screen.opened


@pytest.mark.parametrize("why", ["not seen", "no pane", "refused"])
async def test_a_signal_is_looked_at_first(why: str) -> None:
    screen = on(NEW, OLD, seen=why != "not seen")
    screen.shows_detail = why != "no pane"
    if why == "refused":
        screen.parts[SignalPane].preview.refusal = lambda _: "beyond its limit"
    press(screen, "mirror")
    assert not screen.given
    (form,) = screen.opened
    assert isinstance(form, MirrorForm)
    assert NEW.question[:30] in await words_in(form)
    screen.answer("an order")
    assert screen.given == ["an order"]


def test_the_pane_of_a_signal_on_a_real_venue_offers_no_mirror() -> None:
    real = replace(NEW, venue=Venue.EVM, price_now=0.999)
    body = describe(real, on(real).view, Preview()).body
    assert ON_REAL_VENUE in body.plain
    (span,) = [one for one in body.spans if body.plain[one.start : one.end] == ON_REAL_VENUE]
    assert span.style == "warn"
    assert ON_REAL_VENUE not in describe(NEW, on(NEW).view, Preview()).body.plain


async def test_marked_signals_are_mirrored_oldest_first_after_one_question() -> None:
    late, real = replace(OTHERS, expires_at=NOW), replace(OTHERS, venue=Venue.SOL)
    screen = on(NEW, OLD, OTHERS, marked=(NEW, late, real, OLD))
    press(screen, "mirror")
    (dialog,) = screen.opened
    assert isinstance(dialog, ConfirmMany)
    assert (screen.question.title, screen.question.confirm) == ("Mirror these signals?", "mirror")
    view = screen.view
    total = view.money(Micros(NEW.amount + OLD.amount)).plain
    assert screen.question.body.plain == (
        f"2 signals, {total} $ in total, SIM play money on sim.\n"
        "Each buys once, at its price limit or below. Expired signals and those above the day's "
        "cap are skipped.\n"
    )
    text = await words_in(dialog)
    side, price = OLD.side.value.upper(), formats.price(OLD.price_max).plain.strip()
    old = text.index(f"{side} {short_question(OLD.question)[:20]}")
    assert f"{view.money(OLD.amount).plain} $ at {price} or below, 30s left" in text[old:]
    assert text.index("or below, 55s left") > old
    decline(screen)
    assert not screen.given
    assert not screen.table.calls
    confirm(screen)
    assert screen.given == [ordered(OLD), ordered(NEW)]
    assert screen.table.calls == ["clear_marks"]


async def test_a_wallet_without_a_name_is_masked_among_several_signals() -> None:
    unnamed = [replace(one, label="") for one in (NEW, OLD)]
    hidden = replace(STATE, preferences={"privacy": "on"})
    for state, is_told in ((STATE, True), (hidden, False)):
        screen = on(*unnamed, marked=tuple(unnamed), state=state)
        press(screen, "mirror")
        (dialog,) = screen.opened
        shown = await words_in(dialog)
        assert (unnamed[0].wallet[:6] in shown) is is_told


def test_what_is_beyond_the_caps_rest_is_told() -> None:
    left = Micros(NEW.amount + OLD.amount)
    for short, is_told in ((1, True), (0, False)):
        spent = Micros(CONFIG.daily_cap - left + short)
        screen = on(NEW, OLD, marked=(NEW, OLD), state=changed(day_spent=spent))
        press(screen, "mirror")
        text = screen.question.body.plain
        assert ("Not all signals fit." in text) is is_told
        if is_told:
            rest = screen.view.money(Micros(left - short)).plain
            end = f"skipped.\nLeft of the day's cap: {rest} $. Not all signals fit.\n"
            assert text.endswith(end)


def test_where_none_can_be_mirrored_any_more_nothing_is_asked() -> None:
    over = tuple(replace(one, expires_at=NOW) for one in (NEW, OLD))
    screen = on(*over, marked=over)
    press(screen, "mirror")
    assert not screen.opened
    assert screen.toasts == [("none can be mirrored any more", "warn")]


@pytest.mark.parametrize("row", [NEW, FOLLOWED])
def test_all_of_one_wallet_are_mirrored_after_a_question(row: Any) -> None:
    screen = on(row)
    assert not press(screen, "mirror_all")
    name = STATE.reactor.wallet(WALLETS[0]).short
    assert screen.question.title == f"Mirror all of {name}?"
    confirm(screen)
    assert screen.given == [ordered(OLD), ordered(NEW)]


def test_a_wallet_of_which_nothing_waits_has_nothing_to_mirror() -> None:
    assert press(on(UNFOLLOWED), "mirror_all") == "no pending signal of this wallet"
    assert press(on(), "mirror_all") == "select a row"


# -- dismiss ------------------------------------------------------------------------------------


def test_signals_that_wait_are_dismissed() -> None:
    done = replace(OLD, state=SignalState.MIRRORED)
    screen = on(NEW, done, OTHERS, marked=(NEW, done, OTHERS))
    press(screen, "dismiss")
    assert screen.given == [DismissSignal(NEW.signal_id), DismissSignal(OTHERS.signal_id)]
    assert screen.table.calls == ["clear_marks"]


def test_a_wallet_is_unfollowed_and_followed_again() -> None:
    screen = on(FOLLOWED)
    press(screen, "dismiss")
    assert screen.given == [UnfollowWallet(FOLLOWED.address, FOLLOWED.label)]
    press(screen, "undo")
    assert screen.given[1:] == [FollowWallet(FOLLOWED.address, known_as=FOLLOWED.label)]
    assert press(screen, "undo") == "nothing to undo here. A mirror cannot be undone"


def test_what_cannot_be_dismissed_says_why() -> None:
    assert press(on(UNFOLLOWED), "dismiss") == "wallet not followed"
    done = replace(NEW, state=SignalState.MIRRORED)
    assert press(on(done), "dismiss") == "signal already mirrored"
    assert press(on(), "dismiss") == "select a row"
    screen = on(UNFOLLOWED, marked=(UNFOLLOWED,))
    press(screen, "dismiss")
    assert not screen.given
    assert screen.toasts == [("wallet not followed", "warn")]


# -- wallets ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "offered"), [(UNFOLLOWED, UNFOLLOWED.address), (FOLLOWED, ""), (NEW, "")]
)
def test_a_wallet_is_followed_and_unfollowed_again(row: Any, offered: str) -> None:
    screen = on(row)
    press(screen, "follow")
    (form,) = screen.opened
    assert isinstance(form, FollowForm)
    assert form._selected == offered
    address, known_as = UNFOLLOWED.address, STATE.reactor.label_of(UNFOLLOWED.address)
    screen.answer(NamedWallet(address, "gull"))
    assert screen.given == [FollowWallet(address, "gull", known_as)]
    assert screen.take_back == (UnfollowWallet(address, "gull"),)
    screen.answer(NamedWallet(address, ""))
    assert screen.take_back == (UnfollowWallet(address, known_as),)
    # Another address may be typed than the one that was offered.
    screen.answer(NamedWallet(WALLETS[1], "tern"))
    assert screen.take_back == (UnfollowWallet(WALLETS[1], "tern"),)


@pytest.mark.parametrize(
    ("place", "before"), [(0, ""), (1, "Vane [b]")], ids=["without a name", "with one"]
)
def test_a_wallet_is_named_and_has_its_old_name_again(place: int, before: str) -> None:
    row = next(one for one in SOURCES if one.address == WALLETS[place])
    screen = on(row)
    press(screen, "edit")
    (form,) = screen.opened
    assert isinstance(form, LabelForm)
    screen.answer(NamedWallet(row.address, "gull"))
    assert screen.given == [LabelWallet(row.address, "gull")]
    press(screen, "undo")
    assert screen.given[1:] == [LabelWallet(row.address, before)]


async def test_the_wallet_of_a_signal_is_named() -> None:
    screen = on(OTHERS)
    press(screen, "edit")
    assert WALLETS[1][:6] in await words_in(screen.opened[-1])


async def test_a_policy_is_set_and_only_what_spends_nothing_is_restored() -> None:
    screen = on(FOLLOWED)
    press(screen, "policy")
    (form,) = screen.opened
    assert isinstance(form, ChoosePolicy)
    assert FOLLOWED.short in await words_in(form)
    screen.answer(Policy.ASK)
    assert not screen.given
    screen.answer(Policy.AUTO)
    assert screen.given == [SetWalletPolicy(FOLLOWED.address, Policy.AUTO, FOLLOWED.label)]
    press(screen, "undo")
    assert screen.given[1:] == [SetWalletPolicy(FOLLOWED.address, Policy.ASK, FOLLOWED.label)]
    on_auto = on(OTHERS)
    press(on_auto, "policy")
    on_auto.answer(Policy.OFF)
    wallet = STATE.reactor.wallet(WALLETS[1])
    assert on_auto.given == [SetWalletPolicy(WALLETS[1], Policy.OFF, wallet.label)]
    assert not on_auto.take_back


def test_the_authorisation_names_every_cap() -> None:
    screen = on(NEW)
    assert auto_text(screen.view).plain == (
        "\nauto mirrors without asking you: SIM play money on sim.\n"
        "Max per mirror: 80.00 shares, 2.0% above the source's price. Max per day: 100.00 $. "
        "Valid until you change it, or H, F9 or the breaker stops it."
    )
    real = on(NEW, state=changed(config=replace(CONFIG, venue=Venue.EVM)))
    assert auto_text(real.view).plain == f"\nauto: {ON_REAL_VENUE}."
    unread = on(NEW, state=changed(config=None))
    assert auto_text(unread.view).plain == "\nauto: caps not loaded yet."


# -- the reactor itself -------------------------------------------------------------------------


def test_it_is_configured_and_as_before_again() -> None:
    screen = on(NEW)
    press(screen, "config")
    (form,) = screen.opened
    assert isinstance(form, ReactorForm)
    change = SetReactorConfig(daily_cap=Micros(7 * ONE))
    screen.answer(change)
    assert screen.given == [change]
    press(screen, "undo")
    assert screen.given[1:] == [SetReactorConfig(daily_cap=CONFIG.daily_cap)]


def test_it_is_switched_off_at_once_and_on_after_a_question() -> None:
    screen = on(NEW)
    press(screen, "run")
    assert screen.given == [SetReactorConfig(enabled=False)]
    off = on(NEW, state=changed(config=replace(CONFIG, enabled=False)))
    press(off, "run")
    assert (off.question.title, off.question.confirm) == ("Turn the reactor on?", "on")
    decline(off)
    assert not off.given
    confirm(off)
    assert off.given == [SetReactorConfig(enabled=True)]


def test_the_question_says_what_it_will_do_by_itself() -> None:
    assert run_text(on(NEW).view).plain == (
        "SIM play money on sim.\n5 wallets followed: 4 on ask or off, 1 on auto, mirrored without "
        "asking you.\nPer mirror: 10.0% of the source, max 80.00 shares.\n"
        "Per day: max 100.00 $. H turns the reactor off."
    )
    nobody = replace(CONFIG, wallets=(), venue=Venue.EVM)
    text = run_text(on(NEW, state=changed(config=nobody)).view).plain
    assert text.startswith("LIVE simulated, no real money, on evm_venue.\n")
    assert "100.00 USDC.e." in text
    assert text.endswith(
        "\n\nA real venue is set: nothing is mirrored there.\n\nNo wallet followed. n follows one."
    )
    assert not run_text(on(NEW, state=changed(config=None)).view).plain


def test_the_breaker_is_reset_after_a_question() -> None:
    assert press(on(NEW), "reset") == "breaker not open"
    screen = on(NEW, state=changed(breaker=OPEN))
    press(screen, "reset")
    assert (screen.question.title, screen.question.confirm) == ("Reset the breaker?", "reset")
    assert "mirrored again without asking you" in screen.question.body.plain
    decline(screen)
    assert not screen.given
    confirm(screen)
    assert screen.given == [ResetBreaker()]


@pytest.mark.parametrize("key", ["follow", "config", "run"])
def test_it_is_not_configured_without_its_config_or_plan(key: str) -> None:
    barred = changed(barred="no reactor on the plan free")
    assert press(on(NEW, state=barred), key) == configure_block_reason(barred)
    assert configure_block_reason(barred).startswith("no reactor on this plan.")
    unread = changed(config=None)
    assert press(on(NEW, state=unread), key) == "reactor config not loaded yet"


@pytest.mark.parametrize(
    "key", ["dismiss", "follow", "edit", "policy", "config", "run", "reset", "undo"]
)
def test_a_read_only_desk_changes_nothing(key: str) -> None:
    screen = on(NEW, state=served(read_only=True))
    assert press(screen, key) == READ_ONLY
    assert not screen.given


# -- the feed -----------------------------------------------------------------------------------


def test_the_feed_shows_one_state_after_the_other() -> None:
    screen = on(NEW)
    screen.parts[FeedLine].filter_in_force = FeedFilter(wallet=WALLETS[1])
    for state in (1, 2, 3, 4, 0):
        press(screen, "state")
        assert screen.parts[FeedLine].filter_in_force == FeedFilter(state, WALLETS[1])
        assert screen.calls[-1] == "filter_rows"
    assert screen.only is not None
    assert screen.only.wants(OTHERS)
    assert not screen.only.wants(NEW)


def test_the_feed_shows_one_wallet_and_all_again() -> None:
    screen = on(OTHERS)
    press(screen, "wallet")
    assert screen.parts[FeedLine].filter_in_force == FeedFilter(0, WALLETS[1])
    press(screen, "wallet")
    assert screen.parts[FeedLine].filter_in_force == FeedFilter()
    assert screen.only is None
    sources = on(FOLLOWED)
    sources.parts[FeedLine].filter_in_force = FeedFilter(2, WALLETS[1])
    press(sources, "wallet")
    assert sources.parts[FeedLine].filter_in_force == FeedFilter(2, FOLLOWED.address)
    assert sources.calls == [("bring_forward", TABLES.index(FEED)), "filter_rows"]
    assert sources.table.calls == ["focus"]


def test_the_feed_stands_still_and_goes_on() -> None:
    screen = on(NEW)
    press(screen, "freeze")
    assert screen.parts[FeedLine].paused_rows == STATE.reactor.signals
    press(screen, "freeze")
    assert screen.parts[FeedLine].paused_rows is None
    assert screen.calls == ["show_rows", "show_header"] * 2


@pytest.mark.parametrize("key", ["freeze", "state"])
def test_the_other_lists_have_no_feed(key: str) -> None:
    screen = on(FOLLOWED)
    screen.spec = next(spec for spec in TABLES if spec is not FEED)
    assert press(screen, key) == "feed only. o shows it"


def test_a_wallet_is_no_signal() -> None:
    for key in ("market", "mark", "mirror"):
        assert press(on(FOLLOWED), key) == "not a signal. o shows the feed"
        assert press(on(), key) == "select a row"
    assert not press(on(FOLLOWED, marked=(NEW,)), "mark")


def test_the_market_of_a_signal_is_shown() -> None:
    screen = on(OTHERS)
    press(screen, "market")
    (message,) = screen.posted
    assert isinstance(message, GoTo)
    assert (message.screen_name, message.row) == ("markets", OTHERS.market_id)


# -- what became of a signal ----------------------------------------------------------------------


@pytest.mark.parametrize("masked", [True, False])
def test_a_signal_that_ended_tells_what_was_bought_and_for_how_much(*, masked: bool) -> None:
    ended = replace(
        NEW, state=SignalState.MIRRORED, shares=Micros(30 * ONE), cost=Micros(12 * ONE + 340_000),
        detail="30.00 shares for 12.34",
    )  # fmt: skip
    privacy = {"privacy": "on" if masked else "off"}
    view = on(ended, state=replace(STATE, preferences=privacy)).view
    told = describe(ended, view, Preview()).body.plain
    assert view.masked is masked
    assert ("12.34" in told) is not masked
    assert formats.price(ended.fill_price).plain in told
    failed = replace(ended, state=SignalState.FAILED, shares=Micros(0), detail="")
    nothing = describe(failed, view, Preview()).body.plain
    assert "12.34" not in nothing
    assert "expired, nothing bought" in nothing
