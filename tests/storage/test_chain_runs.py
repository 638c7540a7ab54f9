"""The journal of transaction runs."""

import asyncio
from dataclasses import replace

import pytest

from service_tui.storage.chain_runs import ChainRun, ChainRuns, RunSignature
from service_tui.storage.db.database import Database
from service_tui.storage.errors import StorageError, TakenError, UnknownTicketError

WALLET = "0x" + "ab" * 20
RUN = ChainRun(
    subject="redeem:m:yes", wallet=WALLET, opened_at=1.0, changed_at=1.0, step="ask", body="{}"
)
BYTES = RunSignature(nonce=7, raw="0x02aa", tx_hash="0x" + "11" * 32)


async def test_a_subject_is_taken_by_one_run_until_that_has_an_end(database: Database) -> None:
    runs = ChainRuns(database)
    first = await runs.open(RUN)
    with pytest.raises(TakenError, match="under way"):
        await runs.open(RUN)
    await runs.settle(first, "done", '{"a":1}', now=2.0)
    second = await runs.open(replace(RUN, opened_at=3.0))
    assert second > first
    assert [run.number for run in runs.unsettled()] == [second]
    assert [run.step for run in runs.recent(5)] == ["ask", "done"]


async def test_of_two_at_the_same_moment_one_opens(database: Database) -> None:
    runs = ChainRuns(database)
    tried = [asyncio.wrap_future(database.submit(lambda _: None)) for _ in range(2)]
    for wait in tried:
        await wait
    got: list[str] = []

    async def begin() -> None:
        try:
            await runs.open(RUN)
            got.append("opened")
        except TakenError:
            got.append("taken")

    async with asyncio.TaskGroup() as tasks:
        for _ in range(5):
            tasks.create_task(begin())
    assert sorted(got) == ["opened"] + ["taken"] * 4


async def test_what_was_signed_is_never_replaced(database: Database) -> None:
    runs = ChainRuns(database)
    number = await runs.open(RUN)
    await runs.sign(number, "broadcast", "{}", BYTES, now=2.0)
    with pytest.raises(UnknownTicketError):
        await runs.sign(number, "broadcast", "{}", replace(BYTES, raw="0x02bb"), now=3.0)
    await runs.move(number, "confirm", '{"sent":1}', now=4.0)
    run = runs.find(number)
    assert run is not None
    assert (run.raw, run.tx_hash, run.nonce, run.step) == ("0x02aa", BYTES.tx_hash, 7, "confirm")


async def test_an_end_is_for_ever(database: Database) -> None:
    runs = ChainRuns(database)
    number = await runs.open(RUN)
    await runs.settle(number, "refused", "{}", now=2.0)
    for late in (
        runs.move(number, "check", "{}", now=3.0),
        runs.sign(number, "broadcast", "{}", BYTES, now=3.0),
        runs.settle(number, "done", "{}", now=3.0),
    ):
        with pytest.raises(UnknownTicketError):
            await late


async def test_the_signed_nonces_are_those_of_this_wallet(database: Database) -> None:
    runs = ChainRuns(database)
    assert runs.signed_nonces(WALLET, 0) == (set(), set())
    for nonce, wallet in ((7, WALLET), (9, WALLET), (30, "0x" + "cd" * 20)):
        number = await runs.open(replace(RUN, subject=f"redeem:{nonce}:yes", wallet=wallet))
        await runs.sign(number, "broadcast", "{}", replace(BYTES, nonce=nonce), now=2.0)
    assert runs.signed_nonces(WALLET, 0) == ({7, 9}, {7, 9})
    assert runs.signed_nonces(WALLET, 8) == ({9}, {9})
    assert [run.nonce for run in runs.signed_since(WALLET, 2.0)] == [7, 9]
    assert runs.signed_since(WALLET, 2.5) == []
    await runs.settle(number - 1, "done", "{}", now=3.0)
    assert runs.signed_nonces(WALLET, 0) == ({7}, {7, 9})


async def test_a_row_is_strict(database: Database) -> None:
    with pytest.raises(StorageError, match="cannot store TEXT"):
        await database.write(
            lambda c: c.execute(
                "INSERT INTO chainruns (subject, wallet, opened_at, changed_at, step, body, nonce)"
                " VALUES ('a', 'b', 1, 1, 's', '{}', 'seven')"
            )
        )
