"""What each key of the redemptions does: which position, after which question."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.acting import StubScreen, perform
from kit.console.opened import words_in
from kit.samples.desk import sample_state
from kit.samples.wallet import HASH, redemption_of, row_of, wallet_of
from service_tui.console.forms.typed_word import TypedWord
from service_tui.console.messages import GoTo
from service_tui.console.screens.redemption.actions import ACTIONS
from service_tui.console.screens.redemption.forms import RedeemDialog
from service_tui.desk.commands.wallet import (
    AbandonRun,
    PrepareRedemption,
    Redeem,
    RedeemAll,
    SetAutoRedeem,
)
from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.slices.redemption import AutoView, Stage
from service_tui.desk.slices.wallet import Ownership
from service_tui.desk.state import DeskState
from service_tui.terms import Side, Venue

STATE = replace(sample_state(), redemption=redemption_of(), wallet=wallet_of())
READY, OTHER, LOST, AWAITED, *_ = STATE.redemption.rows
ELSEWHERE = "another program uses this data directory. Redeem there"
CAPS = "at most 0.5 POL each and 2 POL a day"


def on(*rows: Any, state: DeskState = STATE) -> StubScreen:
    return StubScreen(state, rows)


def press(screen: StubScreen, key: str) -> str:
    return perform(screen, ACTIONS, f"redemption.{key}")


def changed(**other: Any) -> DeskState:
    return replace(STATE, redemption=replace(STATE.redemption, **other))


READ_ONLY_STATE = replace(STATE, service=replace(STATE.service, read_only=True))
MANAGED = replace(STATE, wallet=replace(STATE.wallet, ownership=Ownership.MANAGED))


# -- one ----------------------------------------------------------------------------------------


async def test_one_redemption_is_prepared_and_given_with_what_was_confirmed() -> None:
    row = replace(OTHER, venue=Venue.EVM)
    screen = on(row, READY)
    press(screen, "redeem")
    assert row.side is Side.NO
    subject = (row.market_id, row.side, row.venue)
    assert screen.given == [PrepareRedemption(*subject, row.question)]
    (dialog,) = screen.opened
    assert isinstance(dialog, RedeemDialog)
    assert row.question in await words_in(dialog)
    screen.answer("digest")
    assert screen.given[1:] == [Redeem(*subject, "digest", row.question)]


def test_what_is_not_ready_is_not_requested() -> None:
    screen = on(AWAITED)
    press(screen, "redeem")
    assert not screen.given
    assert not screen.opened
    assert screen.toasts == [("not now: the oracle has not settled yet", "warn")]


@pytest.mark.parametrize("key", ["redeem", "all", "auto"])
def test_a_read_only_desk_redeems_nothing(key: str) -> None:
    assert press(on(READY, state=READ_ONLY_STATE), key) == "this desk is read-only: no redemptions"
    assert press(on(READY, state=READ_ONLY_STATE), "abandon") == READ_ONLY


@pytest.mark.parametrize("key", ["redeem", "all"])
def test_who_does_not_own_the_directory_signs_nothing(key: str) -> None:
    assert press(on(READY, state=changed(executes=False)), key) == ELSEWHERE


@pytest.mark.parametrize("key", ["redeem", "abandon", "market", "hash"])
def test_without_a_row_nothing_is_done(key: str) -> None:
    assert press(on(), key) == "select a row"


# -- all ----------------------------------------------------------------------------------------


async def test_all_that_is_ready_is_redeemed_after_the_word() -> None:
    state = changed(runs=())
    screen = on(READY, state=state)
    press(screen, "all")
    (dialog,) = screen.opened
    assert isinstance(dialog, TypedWord)
    ready = state.redemption.ready
    text = await words_in(dialog)
    assert text.startswith("Redeem all ready positions? 2 positions, total 170.00 USDC.e: 50.00 ")
    assert text.index(ready[0].question[:50]) < text.index("120.00")
    assert CAPS in text
    assert "About 0.0234 POL of gas. Type REDEEM and press enter:" in text
    assert not screen.given
    screen.answer("no")
    assert not screen.given
    # The answer is about what was shown, whatever became ready since.
    screen.state = changed(runs=(), rows=())
    screen.answer("REDEEM")
    assert screen.given == [RedeemAll(tuple(row.key for row in ready))]


async def test_a_wallet_of_the_service_pays_no_gas_here() -> None:
    screen = on(READY, state=MANAGED)
    press(screen, "all")
    text = await words_in(screen.opened[-1])
    assert "The service signs for this wallet and pays the gas. Type REDEEM" in text
    assert CAPS not in text


async def test_gas_that_is_not_known_is_not_told() -> None:
    state = replace(STATE, wallet=replace(STATE.wallet, gas_needed=None))
    screen = on(READY, state=state)
    press(screen, "all")
    assert f"{CAPS}. Type REDEEM" in await words_in(screen.opened[-1])


def test_where_nothing_is_ready_nothing_is_redeemed() -> None:
    assert press(on(LOST, state=changed(rows=(LOST, AWAITED))), "all") == "nothing to redeem"


# -- by itself ----------------------------------------------------------------------------------


def auto(*, allowed: bool, on_service: bool | None = True) -> AutoView:
    return AutoView(on_service=on_service, allowed=allowed)


@pytest.mark.parametrize(
    ("state", "is_asked"),
    [
        (changed(auto=auto(allowed=True)), False),
        (changed(auto=auto(allowed=False)), True),
        (replace(MANAGED, redemption=changed(auto=auto(allowed=False)).redemption), False),
        (
            replace(
                MANAGED,
                redemption=changed(auto=auto(allowed=False, on_service=False)).redemption,
            ),
            True,
        ),
    ],
    ids=["on here", "off here", "on at the service", "off at the service"],
)
async def test_it_is_switched_off_at_once_and_on_after_the_word(
    state: DeskState, *, is_asked: bool
) -> None:
    screen = on(READY, state=state)
    press(screen, "auto")
    if not is_asked:
        assert screen.given == [SetAutoRedeem(on=False)]
        assert not screen.opened
        return
    assert not screen.given
    (dialog,) = screen.opened
    assert isinstance(dialog, TypedWord)
    text = await words_in(dialog)
    assert text.startswith("Turn on auto-redeem? ")
    assert CAPS in text
    assert "until you turn it off or a cap is reached" in text
    assert "Pauses when gas runs low, and continues after a top-up. Type REDEEM and" in text
    screen.answer("redeem")
    assert not screen.given
    screen.answer("REDEEM")
    assert screen.given == [SetAutoRedeem(on=True)]


def test_it_is_not_switched_before_its_state_is_known() -> None:
    state = changed(auto=auto(allowed=False, on_service=None))
    assert press(on(READY, state=state), "auto") == "auto-redeem setting not loaded yet"


# -- its transaction ----------------------------------------------------------------------------


def test_the_run_of_this_row_is_abandoned() -> None:
    screen = on(OTHER, READY)
    press(screen, "abandon")
    assert screen.given == [AbandonRun(OTHER.key)]


def test_the_hash_copied_is_that_of_the_run_or_of_the_row() -> None:
    screen = on(READY)
    press(screen, "hash")
    assert screen.calls == [("copy", HASH, "transaction hash")]
    paid = row_of(9, stage=Stage.REDEEMED, tx_hash="0xpaid")
    screen = on(paid)
    press(screen, "hash")
    assert screen.calls == [("copy", "0xpaid", "transaction hash")]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (AWAITED, "no hash: nothing sent yet"),
        (row_of(9, stage=Stage.REDEEMED), "no hash: redeemed without a transaction"),
    ],
)
def test_without_a_hash_the_reason_is_told(row: Any, why: str) -> None:
    screen = on(row)
    assert press(screen, "hash") == why
    assert not screen.calls


def test_a_listed_market_is_shown() -> None:
    assert press(on(READY), "market") == "market not listed"
    market_id = next(iter(STATE.markets))
    screen = on(replace(READY, market_id=market_id))
    press(screen, "market")
    (message,) = screen.posted
    assert isinstance(message, GoTo)
    assert (message.screen_name, message.row) == ("markets", market_id)
