"""Tokens of positions: the first one stays, here and beside other consoles."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.storage.db.database import Database
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.errors import OtherConsoleError
from service_tui.storage.kept_tokens import Holding, KeptToken, KeptTokens
from service_tui.storage.opening import open_database

NOW = 1_800_000_000.0
EIGHT = "8"
SEVENS = "7" * 77
Row = tuple[str, bool, int | None]
PLACE = Holding(market_id="m", side="yes", venue="evm_venue", wallet="0xa")
KEPT = KeptToken(
    market_id="m", side="yes", venue="evm_venue", wallet="0xa",
    token=SEVENS, condition_id="0x" + "ab" * 32, neg_risk=True, at=NOW, fee_rate_bps=40,
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
    # One of an earlier program keeps nothing.
    with closing(sqlite3.connect(other.path)) as connection:
        connection.execute("DROP TABLE kepttokens")
        connection.execute("PRAGMA user_version = 11")
    assert tokens.find(PLACE) == replace(KEPT, token=EIGHT)


def damage(path: Path) -> None:
    path.write_bytes(b"nothing")


def empty(path: Path) -> None:
    path.write_bytes(b"")


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def link_to_nothing(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


def drop_tokens(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE kepttokens")


def add_view(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE VIEW foreign_view AS SELECT 1")


@pytest.mark.parametrize("broken", [damage, empty, folder, link_to_nothing, drop_tokens, add_view])
async def test_a_console_that_is_there_and_unreadable_does_not_count_as_one_without_tokens(
    database: Database, tmp_path: Path, broken: Callable[[Path], None]
) -> None:
    beside = tmp_path / "beside"
    lock = DataDirLock.acquire(beside, pid=4712, now=NOW)
    other = open_database(beside, now=NOW, lock=lock)
    tokens = KeptTokens(database, lambda: (other.path,))
    await tokens.keep(KEPT)
    other.close(NOW)
    lock.release()
    broken(other.path)
    with pytest.raises(OtherConsoleError, match="another console cannot be read"):
        tokens.find(PLACE)
    with pytest.raises(OtherConsoleError):
        tokens.find_token(KEPT.token, KEPT.wallet)


async def test_a_console_that_another_program_holds_alone_is_unreadable(
    database: Database, tmp_path: Path
) -> None:
    beside = tmp_path / "beside"
    lock = DataDirLock.acquire(beside, pid=4712, now=NOW)
    other = open_database(beside, now=NOW, lock=lock)
    tokens = KeptTokens(database, lambda: (other.path,))
    await KeptTokens(other).keep(KEPT)
    other.close(NOW)
    lock.release()
    with closing(sqlite3.connect(other.path, isolation_level=None)) as holder:
        holder.execute("PRAGMA locking_mode = EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(OtherConsoleError):
            tokens.find(PLACE)
    assert tokens.find(PLACE) == KEPT


@pytest.mark.parametrize(
    ("first", "later", "kept"),
    [
        ((SEVENS, False, 900), (EIGHT, True, 40), (EIGHT, True, 40)),
        ((SEVENS, False, 900), (SEVENS, True, 40), (SEVENS, True, 40)),
        ((SEVENS, False, 900), (SEVENS, True, None), (SEVENS, True, 900)),
        ((SEVENS, True, 40), (EIGHT, False, 900), (SEVENS, True, 40)),
        ((SEVENS, True, 40), (EIGHT, True, 900), (SEVENS, True, 40)),
        ((SEVENS, False, 40), (EIGHT, False, 900), (SEVENS, False, 40)),
    ],
)
async def test_what_was_listed_gives_way_to_what_was_bought(
    database: Database, first: Row, later: Row, kept: Row
) -> None:
    tokens = KeptTokens(database)
    for number, (token, bought, fee) in enumerate((first, later)):
        row = replace(KEPT, token=token, bought=bought, fee_rate_bps=fee, at=NOW + number)
        await tokens.keep(row)
    found = tokens.find(PLACE)
    assert found is not None
    assert (found.token, found.bought, found.fee_rate_bps) == kept


async def test_a_token_is_found_under_the_market_in_which_it_was_bought(
    database: Database,
) -> None:
    tokens = KeptTokens(database)
    assert tokens.find_token(KEPT.token, KEPT.wallet) is None
    bought = replace(KEPT, market_id="bought", bought=True, at=NOW + 2)
    for one in (KEPT, replace(KEPT, market_id="later", at=NOW + 1)):
        await tokens.keep(one)
        assert tokens.find_token(KEPT.token, KEPT.wallet) == KEPT
    await tokens.keep(bought)
    assert tokens.find_token(KEPT.token, KEPT.wallet) == bought
    assert tokens.find_token(EIGHT, KEPT.wallet) is None
    assert tokens.find_token(KEPT.token, "0xb") is None
