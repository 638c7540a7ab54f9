"""Tokens of positions: the first one stays, here and beside other consoles."""

from dataclasses import replace
from pathlib import Path

import pytest

from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.storage.db.database import Database
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.kept_tokens import Holding, KeptToken, KeptTokens
from service_tui.storage.opening import open_database

NOW = 1_800_000_000.0
EIGHT = "8"
PLACE = Holding(market_id="m", side="yes", venue="evm_venue", wallet="0xa")
KEPT = KeptToken(
    market_id="m", side="yes", venue="evm_venue", wallet="0xa",
    token="7" * 77, condition_id="0x" + "ab" * 32, neg_risk=True, at=NOW, fee_rate_bps=40,
)  # fmt: skip


async def test_the_first_token_of_a_holding_stays(database: Database) -> None:
    tokens = KeptTokens(database)
    assert tokens.find(PLACE) is None
    await tokens.keep(KEPT)
    await tokens.keep(replace(KEPT, token=EIGHT, neg_risk=False, at=NOW + 1, fee_rate_bps=900))
    assert tokens.find(PLACE) == KEPT
    others = ("market_id", "n"), ("side", "no"), ("venue", "sim"), ("wallet", "0xb")
    for name, other in others:
        assert tokens.find(replace(PLACE, **{name: other})) is None


@pytest.mark.parametrize(
    ("first", "later", "kept"),
    [(40, 60, 60), (60, 40, 60), (None, 40, 40), (40, None, 40), (None, None, None), (0, 0, 0)],
)
async def test_the_highest_fee_that_was_shown_is_kept(
    database: Database, first: int | None, later: int | None, kept: int | None
) -> None:
    tokens = KeptTokens(database)
    await tokens.keep(replace(KEPT, fee_rate_bps=first))
    await tokens.keep(replace(KEPT, fee_rate_bps=later, at=NOW + 1))
    assert tokens.find(PLACE) == replace(KEPT, fee_rate_bps=kept)


async def test_what_another_console_kept_first_binds_here(
    database: Database, tmp_path: Path
) -> None:
    beside = tmp_path / "beside"
    lock = DataDirLock.acquire(beside, pid=4712, now=NOW)
    other = open_database(beside, now=NOW, lock=lock)
    nothing = tmp_path / "nothing" / DATABASE_FILE
    tokens = KeptTokens(database, lambda: (nothing, other.path))
    await tokens.keep(replace(KEPT, token=EIGHT))
    earlier = replace(KEPT, at=NOW - 1)
    await KeptTokens(other).keep(earlier)
    assert tokens.find(PLACE) == earlier
    other.close(NOW)
    lock.release()
    assert tokens.find(PLACE) == earlier
    # One that is no database of ours counts as none.
    other.path.write_bytes(b"nothing")
    assert tokens.find(PLACE) == replace(KEPT, token=EIGHT)
