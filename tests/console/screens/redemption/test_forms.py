"""Confirming a redemption: which transaction may be signed."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.opened import opened
from kit.samples.desk import NOW, sample_state
from kit.samples.wallet import ADDRESS, call_of, redemption_of, row_of, run_of, wallet_of
from service_tui.console import formats
from service_tui.console.screens.redemption.forms import RedeemDialog, why_not_signed
from service_tui.console.widgets.dialog import EARLY
from service_tui.desk.commands.wallet import GAP_WORD
from service_tui.desk.slices.redemption import ChainRunState, RunView
from service_tui.desk.slices.wallet import KeyState
from service_tui.desk.state import DeskState
from service_tui.units import ONE, Micros

ROW = row_of(1)
BARE = replace(sample_state(), redemption=redemption_of(rows=(ROW,), runs=()), wallet=wallet_of())


def with_run(run: RunView | None, **wallet: Any) -> DeskState:
    view = replace(BARE.redemption, runs=() if run is None else (run,))
    return replace(BARE, redemption=view, wallet=replace(BARE.wallet, **wallet))


def prepared(**other: Any) -> RunView:
    return run_of(1, **{"state": ChainRunState.PREPARED, **other})


def dialog(state: DeskState = BARE) -> RedeemDialog:
    return RedeemDialog(state, NOW, ROW)


@pytest.mark.parametrize(
    ("run", "key", "words"),
    [
        (None, KeyState.UNLOCKED, "loading the transaction"),
        (run_of(1, state=ChainRunState.RUNNING), KeyState.UNLOCKED, "waiting for the chain"),
        (prepared(), KeyState.LOCKED, "key locked"),
        (prepared(), KeyState.UNLOCKED, ""),
        (prepared(managed=True, call=None), KeyState.LOCKED, ""),
    ],
)
def test_only_a_prepared_transaction_with_its_key_at_hand_is_signed(
    run: RunView | None, key: KeyState, words: str
) -> None:
    why = why_not_signed(run, wallet_of(key_state=key))
    assert why.startswith(words)
    assert bool(why) is bool(words)


async def test_exactly_the_shown_transaction_is_confirmed_and_never_ahead_of_it() -> None:
    old = prepared(call=call_of(digest="d0"))
    async with opened(dialog(with_run(old)), with_run(old)) as form:
        # A run that was there before is not the requested one, also as the desk tells it again.
        await form.bring(with_run(prepared(call=call_of(digest="d0"))))
        assert form.is_off("redeem-yes")
        assert "loading the transaction" in form.told("redeem-text")
        await form.bring(with_run(prepared()))
        await form.press("y")
        assert (form.returned, form.said) == ([], [EARLY])
        await form.armed()
        await form.bring(with_run(prepared(call=call_of(nonce=42, digest="d2"))))
        await form.press("y")
        assert form.returned == [], "another transaction than the one that was seen"
        await form.armed()
        await form.press("y", "y", "escape")
        assert form.returned == ["d2"]


async def test_a_managed_one_has_no_digest_and_leaving_signs_nothing() -> None:
    async with opened(dialog(), BARE) as form:
        managed = prepared(managed=True, call=None)
        await form.bring(with_run(managed, key_state=KeyState.LOCKED))
        assert "The service holds the key" in form.told("redeem-text")
        await form.armed()
        await form.pilot.click("#redeem-yes")
        assert form.returned == [""]
        await form.again(dialog())
        await form.bring(with_run(prepared()))
        await form.armed()
        await form.pilot.click("#redeem-no")
        assert form.returned == [None]


GAP = prepared(call=call_of(gap=3))


@pytest.mark.parametrize(
    ("word", "newer", "left"),
    [
        (GAP_WORD, with_run(GAP), ["d1"]),
        ("yes", with_run(GAP), []),
        (GAP_WORD, with_run(prepared(call=call_of(gap=3, digest="d2"))), []),
        (GAP_WORD, with_run(replace(GAP, state=ChainRunState.FAILED)), []),
        (GAP_WORD, with_run(None), []),
        (GAP_WORD, with_run(GAP, key_state=KeyState.LOCKED), []),
    ],
)
async def test_a_gap_of_nonces_wants_its_word_for_the_same_transaction(
    word: str, newer: DeskState, left: list[str]
) -> None:
    async with opened(dialog(), BARE) as form:
        await form.bring(with_run(GAP))
        await form.armed()
        await form.press("y")
        assert form.app.screen is not form.dialog
        assert form.returned == []
        form.dialog.take(newer, NOW)
        await form.press(*word, "enter")
        assert form.returned == left


async def test_the_text_tells_what_is_paid_to_whom_and_what_it_costs() -> None:
    address = formats.address(ADDRESS, masked=False).plain
    async with opened(dialog(), BARE) as form:
        # Before the run has an amount of its own, the row's stands there.
        assert "50.00" in form.told("redeem-text")
        assert "costs" not in form.told("redeem-text")
        await form.bring(with_run(prepared(amount=Micros(120 * ONE))))
        text = form.told("redeem-text")
        for words in (ROW.side.value.upper(), "120.00", f"{ROW.venue.value}, simulated", address):
            assert words in text
        assert text.index("pays") < text.index("costs") < text.index("venue")
        await form.bring(with_run(None, address=""))
        assert f"to {formats.NOT_KNOWN}" in form.told("redeem-text")
        await form.bring(replace(BARE, preferences={**BARE.preferences, "privacy": "on"}))
        assert ADDRESS[:6] not in form.told("redeem-text")
        assert "50.00" not in form.told("redeem-text")
