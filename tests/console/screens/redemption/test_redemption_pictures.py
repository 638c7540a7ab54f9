"""Redemption and the wallet at three sizes in every theme, as pictures to be read."""

from dataclasses import replace

import pytest

from kit.console.pictures import SIZES, assert_each, seen, shown
from kit.samples.desk import NOW, sample_state
from kit.samples.wallet import ADDRESS, redemption_of, row_of, run_of, wallet_of
from service_tui.desk.slices.redemption import AutoView, ChainRunState
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.wallet import OfferView, PayView, StoredKeyView
from service_tui.desk.state import DeskState
from service_tui.units import ONE, Micros, Timestamp

FULL = sample_state()
STATE = replace(
    FULL,
    redemption=redemption_of(),
    wallet=wallet_of(stored=(StoredKeyView("0x" + "22" * 20), StoredKeyView(ADDRESS))),
    seen={**FULL.seen, Topic.REDEMPTIONS: NOW, Topic.WALLET: NOW},
    preferences={"welcome": "seen"},
)
ONE_ROW = row_of(1)
READY = replace(STATE, redemption=replace(STATE.redemption, rows=(ONE_ROW,), runs=()))
PREPARED = run_of(
    1, side=ONE_ROW.side, state=ChainRunState.PREPARED, steps=(), tx_hash="", words=""
)
UNCONFIRMED = run_of(
    0, state=ChainRunState.UNCONFIRMED, words="broadcast, and not confirmed within 60 seconds"
)
SHORT = replace(
    STATE,
    wallet=wallet_of(gas=Micros(2_000)),
    redemption=redemption_of(
        auto=AutoView(on_service=True, allowed=True, paused="too little gas: top the wallet up")
    ),
)
OFFER = OfferView(
    "o1", Timestamp(NOW), "127.0.0.1", "/api/sdk/briefing", Micros(5_000), ADDRESS, "base", "USDC"
)
PAYING = PayView(Micros(ONE // 20), Micros(15_000), OFFER)

PICTURES: dict[str, tuple[DeskState, tuple[str, ...]]] = {
    "queue": (STATE, ()),
    "unconfirmed": (replace(STATE, redemption=redemption_of(runs=(UNCONFIRMED,))), ()),
    "paused": (SHORT, ()),
    "dialog": (READY, ("t",)),
    "wallet": (STATE, ("W",)),
    "pay": (replace(STATE, wallet=wallet_of(pay=PAYING)), ("W", "p")),
    "code": (STATE, ("W", "o")),
    "remove": (STATE, ("W", "s", "j", "d")),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PICTURES)
async def test_redemption_looks_as_it_is_meant_to(name: str) -> None:
    state, keys = PICTURES[name]
    async with seen(state, keys, SIZES[0], "redemption") as (pilot, doors):
        if name == "dialog":
            # What is to be signed comes while the dialog is open.
            doors.bring(replace(state, redemption=replace(state.redemption, runs=(PREPARED,))))
            await shown(pilot, ())
        await assert_each(pilot, f"redemption_{name}")
