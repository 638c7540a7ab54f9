"""Signals and choices as they are kept, and what a desk begins with."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kit.samples.desk import sample_state
from kit.samples.filled import filled
from kit.samples.reactor import reactor
from service_tui.desk.reactor.stored import known_reactor, past_of, row_of, view_of
from service_tui.desk.slices.reactor import (
    SIGNALS_MAX,
    Policy,
    SignalState,
    SignalView,
    Tally,
    WalletChoice,
)
from service_tui.storage.errors import StorageError
from service_tui.storage.reactor import StoredReactor, StoredTally


@pytest.mark.parametrize("seed", range(6))
def test_a_signal_is_the_same_after_it_was_stored(seed: int) -> None:
    one = filled(SignalView, seed)
    assert view_of(row_of(one)) == one


@pytest.mark.parametrize("field", ["side", "venue", "state"])
def test_a_stored_signal_without_a_meaning_is_left_out(field: str) -> None:
    with pytest.raises(ValueError, match="valid"):
        view_of(row_of(filled(SignalView, 8)) | {field: "?"})


def tally(wallet: str, state: SignalState, base: int, last_at: float) -> StoredTally:
    return StoredTally(
        wallet=wallet, state=state.value, count=base, spent=base * 10, shares=base * 100,
        source_cost=base * 1_000 + 0.6, pnl=base * -10_000 - 0.4, last_at=last_at,
    )  # fmt: skip


def test_tallies_of_a_wallet_are_summed_by_state() -> None:
    rows = (
        tally("a", SignalState.MIRRORED, 2, 50.0), tally("a", SignalState.SKIPPED, 3, 90.0),
        tally("a", SignalState.FAILED, 5, 70.0), tally("a", SignalState.PENDING, 7, 10.0),
        tally("b", SignalState.SKIPPED, 11, 20.0),
    )  # fmt: skip
    past = past_of(rows)
    assert past["a"] == Tally(
        signals_count=17, mirrored_count=2, skipped_count=3, failed_count=5, spent=170,
        shares=1_700, source_cost=17_004, pnl=-170_000, last_at=90.0,
    )  # fmt: skip
    assert past["b"] == Tally(
        signals_count=11, skipped_count=11, spent=110, shares=1_100, source_cost=11_001,
        pnl=-110_000, last_at=20.0,
    )  # fmt: skip


def test_a_desk_begins_with_what_it_saw_and_chose_before_else_with_what_it_is_given() -> None:
    initial = replace(reactor(sample_state(12)), signals=(), choices={}, past={})
    one, other = filled(SignalView, 1), filled(SignalView, 2)
    asked: list[int] = []

    def recent(most: int) -> list[Any]:
        asked.append(most)
        return [row_of(one), row_of(other) | {"side": "?"}, row_of(other)]

    def tallies(*, beyond: int) -> list[StoredTally]:
        asked.append(beyond)
        return [tally("a", SignalState.FAILED, 1, 1.0)]

    stored = SimpleNamespace(
        recent=recent,
        tallies=tallies,
        wallets=lambda: [
            {"address": "0xaa", "label": "ada", "policy": "auto"},
            {"address": "0xbb", "label": "bob", "policy": "?"},
        ],
    )
    known = known_reactor(cast("StoredReactor", stored), initial)
    assert known == replace(
        initial,
        signals=(one, other),
        choices={"0xaa": WalletChoice("0xaa", "ada", Policy.AUTO)},
        past=past_of(tallies(beyond=0)),
    )
    assert asked[:2] == [SIGNALS_MAX, SIGNALS_MAX]

    def broken() -> list[Any]:
        raise StorageError("unreadable")

    stored.wallets = broken
    assert known_reactor(cast("StoredReactor", stored), initial) is initial
