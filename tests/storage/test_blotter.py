"""The stored blotter: tickets, budgets, and what a start lists."""

import asyncio
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.examples import examples
from service_tui.storage import blotter as blotter_room
from service_tui.storage.blotter import (
    FINAL_STATES,
    TRANSITIONS,
    Blotter,
    Budget,
    Intent,
    StoredState,
    _take,
    recent_elsewhere,
)
from service_tui.storage.cached_state import TICKET_COLUMNS
from service_tui.storage.db.database import Database
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.errors import (
    BudgetExceededError,
    StorageFullError,
    TakenError,
    TicketStateError,
    UnknownTicketError,
)
from service_tui.storage.opening import open_database

NOW = 1_800_000_000.0


def buy(ticket_id: str, amount: int = 0, *, at: float = NOW, venue: str | None = None) -> Intent:
    return Intent(
        ticket_id=ticket_id,
        at=at,
        kind="PlaceTrade",
        subject="market-1",
        body=json.dumps({"side": "yes"}),
        venue=venue,
        amount_micros=amount,
        client_ref=f"ref-{ticket_id}",
    )


def ids(blotter: Blotter) -> list[str]:
    return [ticket.ticket_id for ticket in blotter.recent(100)]


async def test_a_ticket_keeps_what_became_of_it(database: Database) -> None:
    blotter = Blotter(database)
    await blotter.open_ticket(buy("t", 5, venue="sim"))
    (queued,) = blotter.open_tickets()
    assert (queued.state, queued.sent_at, queued.settled_at, queued.outcome) == (
        StoredState.QUEUED,
        None,
        None,
        None,
    )
    assert (queued.subject, queued.client_ref, queued.venue) == ("market-1", "ref-t", "sim")
    await blotter.settle("t", StoredState.UNKNOWN, '{"error": "no answer"}', now=NOW + 2)
    (unknown,) = blotter.open_tickets()
    assert unknown.settled_at is None
    assert unknown.outcome == '{"error": "no answer"}'
    await blotter.settle("t", StoredState.DONE, '{"shares": 1}', now=NOW + 3, amount_micros=4)
    assert blotter.open_tickets() == []
    (done,) = blotter.recent(10)
    assert (done.state, done.settled_at) == (StoredState.DONE, NOW + 3)
    assert (done.outcome, done.amount_micros, done.body) == (
        '{"shares": 1}',
        4,
        '{"side": "yes"}',
    )


Step = tuple[str, StoredState]
STEPS = st.lists(
    st.tuples(st.sampled_from(["open", "move"]), st.sampled_from(list(StoredState))),
    max_size=12,
)


@pytest.mark.slow
@given(STEPS)
@examples(10)
def test_a_ticket_goes_only_where_the_table_allows(steps: list[Step]) -> None:
    async def walk(database: Database) -> None:
        blotter = Blotter(database)
        state: StoredState | None = None
        for number, (verb, to) in enumerate(steps):
            now = NOW + number
            try:
                if verb == "open":
                    await blotter.open_ticket(buy("t", at=now))
                else:
                    await blotter.settle("t", to, f'"{to}"', now=now)
            except UnknownTicketError:
                assert state is None
            except TicketStateError:
                assert state is not None
                assert verb == "open" or to not in TRANSITIONS[state]
            else:
                assert (state is None) if verb == "open" else (to in TRANSITIONS[state or to])
                state = StoredState.QUEUED if verb == "open" else to
            stored = blotter.recent(10)
            assert [ticket.state for ticket in stored] == ([] if state is None else [state])
            assert (stored[:1] == blotter.open_tickets()) == (state not in FINAL_STATES)
            assert all((one.settled_at is None) == (state not in FINAL_STATES) for one in stored)

    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        lock = DataDirLock.acquire(directory, pid=1, now=NOW)
        database = open_database(directory, now=NOW, lock=lock)
        asyncio.run(walk(database))
        database.close(NOW)
        lock.release()


def test_final_states_lead_nowhere_and_every_other_can_end() -> None:
    assert set(TRANSITIONS) == set(StoredState)
    for state, following in TRANSITIONS.items():
        assert state not in following
        assert bool(following) == (state not in FINAL_STATES)
        assert following >= FINAL_STATES or state in FINAL_STATES


async def test_a_budget_is_never_exceeded_by_intents_at_the_same_moment(
    database: Database,
) -> None:
    blotter = Blotter(database)
    refused: list[BudgetExceededError] = []

    async def order(number: int) -> None:
        try:
            await blotter.open_ticket(buy(str(number), 30), budget=Budget(NOW - 60, 100))
        except BudgetExceededError as error:
            refused.append(error)

    async with asyncio.TaskGroup() as group:
        for number in range(20):
            group.create_task(order(number))
    assert blotter.reserved(NOW - 60) == 90
    assert len(refused) == 17
    assert (refused[0].reserved, refused[0].requested, refused[0].maximum) == (90, 30, 100)
    assert len(ids(blotter)) == 3


async def test_a_budget_can_be_used_to_the_last_micro(database: Database) -> None:
    blotter = Blotter(database)
    budget = Budget(NOW, 100)
    await blotter.open_ticket(buy("a", 99), budget=budget)
    with pytest.raises(BudgetExceededError):
        await blotter.open_ticket(buy("b", 2), budget=budget)
    await blotter.open_ticket(buy("c", 1), budget=budget)
    with pytest.raises(BudgetExceededError):
        await blotter.open_ticket(buy("d", 1), budget=budget)
    await blotter.open_ticket(buy("sale"), budget=Budget(NOW, 50))
    with pytest.raises(ValueError, match="less than nothing"):
        await blotter.open_ticket(buy("e", -100), budget=budget)


async def test_what_was_refused_or_failed_gives_its_amount_back(database: Database) -> None:
    blotter = Blotter(database)
    ends = (
        StoredState.DONE,
        StoredState.REFUSED,
        StoredState.FAILED,
        StoredState.UNKNOWN,
    )
    for place, end in enumerate(ends):
        await blotter.open_ticket(buy(end, 10**place))
        await blotter.settle(end, end, None, now=NOW)
    assert blotter.reserved(NOW) == 1001
    await blotter.settle("unknown", StoredState.FAILED, None, now=NOW)
    assert blotter.reserved(NOW) == 1


async def test_what_has_no_end_counts_whatever_its_age(database: Database) -> None:
    blotter = Blotter(database)
    for name, at in (("old", NOW - 100), ("lost", NOW - 100), ("new", NOW)):
        await blotter.open_ticket(buy(name, 10, at=at))
    await blotter.settle("old", StoredState.DONE, None, now=NOW - 99)
    await blotter.settle("lost", StoredState.UNKNOWN, None, now=NOW - 99)
    assert blotter.reserved(NOW - 1) == 20
    assert blotter.reserved(NOW - 100) == 30
    with pytest.raises(BudgetExceededError):
        await blotter.open_ticket(buy("more", 10), budget=Budget(NOW - 1, 29))


async def test_venues_draw_on_budgets_of_their_own(database: Database) -> None:
    blotter = Blotter(database)
    await blotter.open_ticket(buy("play", 500, venue="sim"), budget=Budget(NOW, 500))
    await blotter.open_ticket(buy("real", 400, venue="evm_venue"), budget=Budget(NOW, 500))
    with pytest.raises(BudgetExceededError):
        await blotter.open_ticket(buy("more", 200, venue="evm_venue"), budget=Budget(NOW, 500))
    assert blotter.reserved(NOW, venue="evm_venue") == 400
    assert blotter.reserved(NOW) == 900


async def test_a_full_disk_refuses_the_intent_before_anything_is_sent(database: Database) -> None:
    blotter = Blotter(database)
    await database.write(lambda connection: connection.execute("PRAGMA max_page_count=1"))
    large = Intent(ticket_id="t", at=NOW, kind="k", subject="s", body="x" * 100_000)
    with pytest.raises(StorageFullError, match="nothing was written"):
        await blotter.open_ticket(large, once="mirror:0x1")
    assert ids(blotter) == []
    await database.write(lambda connection: connection.execute("PRAGMA max_page_count=10000"))
    await blotter.open_ticket(large, once="mirror:0x1")


async def test_a_once_key_is_given_once_for_ever(database: Database) -> None:
    blotter = Blotter(database)
    refused: list[TakenError] = []

    async def take(number: int) -> None:
        try:
            await blotter.open_ticket(buy(f"t{number}"), once="mirror:0xabc")
        except TakenError as error:
            refused.append(error)

    async with asyncio.TaskGroup() as group:
        for number in range(10):
            group.create_task(take(number))
    assert (len(ids(blotter)), len(refused)) == (1, 9)
    await blotter.open_ticket(buy("other"), once="mirror:0xdef")


async def test_a_once_key_and_its_intent_stand_or_fall_together(database: Database) -> None:
    blotter = Blotter(database)
    with pytest.raises(BudgetExceededError):
        await blotter.open_ticket(buy("a", 10), budget=Budget(NOW, 5), once="alert:1")
    await blotter.open_ticket(buy("b"), once="alert:1")
    with pytest.raises(TakenError):
        await blotter.open_ticket(buy("c"), once="alert:1")
    with pytest.raises(TicketStateError, match="exists already"):
        await blotter.open_ticket(buy("b"), once="alert:2")
    await blotter.open_ticket(buy("d"), once="alert:2")
    assert ids(blotter) == ["d", "b"]


async def test_pages_of_the_blotter_join_without_gap_or_repetition(database: Database) -> None:
    blotter = Blotter(database)
    for number in range(9):
        await blotter.open_ticket(buy(f"t{number}", at=NOW + number // 4))
    first = blotter.recent(4)
    second = blotter.recent(4, before=first[-1])
    third = blotter.recent(4, before=second[-1])
    names = [ticket.ticket_id for ticket in (*first, *second, *third)]
    assert names == ["t8", "t7", "t6", "t5", "t4", "t3", "t2", "t1", "t0"]
    assert blotter.recent(4, before=third[-1]) == []


async def test_commands_that_ended_are_read_from_the_blotter_of_another_console(
    database: Database, tmp_path: Path
) -> None:
    blotter = Blotter(database)
    for number in range(4):
        await blotter.open_ticket(buy(f"t{number}", 7, at=NOW + number, venue="sim"))
    for ticket_id, state in (("t0", StoredState.DONE), ("t2", StoredState.REFUSED)):
        await blotter.settle(ticket_id, state, '{"outcome": "x"}', now=NOW + 9)
    await blotter.settle("t3", StoredState.UNKNOWN, None, now=NOW + 9)
    # What has no end belongs to its own console alone.
    assert recent_elsewhere(database.path, 9) == [blotter.find("t2"), blotter.find("t0")]
    assert recent_elsewhere(database.path, 1) == [blotter.find("t2")]
    assert recent_elsewhere(tmp_path / "none.sqlite3", 9) == []
    (tmp_path / "broken.sqlite3").write_bytes(b"no database")
    assert recent_elsewhere(tmp_path / "broken.sqlite3", 9) == []


@pytest.mark.parametrize("row", [("t1",) * len(TICKET_COLUMNS), (object(),) * len(TICKET_COLUMNS)])
def test_rows_of_another_console_without_sense_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: tuple[object, ...]
) -> None:
    monkeypatch.setattr(blotter_room, "read_tickets", lambda *_: [row])
    assert recent_elsewhere(tmp_path, 9) == []


async def test_what_waits_at_a_start_is_listed_oldest_first(
    directory: Path, lock: DataDirLock
) -> None:
    database = open_database(directory, now=NOW, lock=lock)
    blotter = Blotter(database)
    for number, name in enumerate(("queued", "sent", "unknown", "done")):
        await blotter.open_ticket(buy(name, at=NOW - number))
    await blotter.settle("sent", StoredState.SENT, None, now=NOW)
    await blotter.settle("unknown", StoredState.UNKNOWN, None, now=NOW)
    await blotter.settle("done", StoredState.DONE, None, now=NOW)
    database.close(NOW)
    again = open_database(directory, now=NOW, lock=lock)
    waiting = Blotter(again).open_tickets()
    assert [ticket.ticket_id for ticket in waiting] == ["unknown", "sent", "queued"]
    again.close(NOW)


async def test_settling_what_is_not_there_is_named(database: Database) -> None:
    with pytest.raises(UnknownTicketError, match="nowhere"):
        await Blotter(database).settle("nowhere", StoredState.DONE, None, now=NOW)


async def test_what_stands_beside_a_ticket_is_written_with_it_or_not_at_all(
    database: Database,
) -> None:
    blotter = Blotter(database)

    def beside(connection: object) -> None:
        _take(connection, "once-beside", NOW)  # type: ignore[arg-type]  # a connection

    await blotter.open_ticket(buy("t"), beside=beside)
    with pytest.raises(TakenError):
        await blotter.open_ticket(buy("v"), once="once-beside")

    def failing(connection: object) -> None:
        _take(connection, "once-failed", NOW)  # type: ignore[arg-type]  # a connection
        raise TicketStateError("no")

    with pytest.raises(TicketStateError):
        await blotter.open_ticket(buy("u"), beside=failing)
    await blotter.open_ticket(buy("w"), once="once-failed")
    assert ids(blotter) == ["w", "t"]


async def test_a_state_that_nobody_can_read_is_unknown_and_said_to_be_odd(
    database: Database,
) -> None:
    blotter = Blotter(database)
    await blotter.open_ticket(buy("t"))
    (plain,) = blotter.recent(1)
    assert not plain.is_odd
    await database.write(lambda c: c.execute("UPDATE tickets SET state = 'melted'"))
    (odd,) = blotter.recent(1)
    assert (odd.state, odd.is_odd) == (StoredState.UNKNOWN, True)
    assert blotter.find("t") == odd
    assert blotter.find("nobody") is None


async def test_a_page_of_tickets_goes_on_behind_the_last_one_of_the_page_before(
    database: Database,
) -> None:
    blotter = Blotter(database)
    for name, seconds in (("b", 1), ("a", 1), ("c", 0), ("d", 2)):
        await blotter.open_ticket(buy(name, at=NOW + seconds))
    first = blotter.recent(2)
    assert [one.ticket_id for one in first] == ["d", "b"]
    assert [one.ticket_id for one in blotter.recent(9, before=first[-1])] == ["a", "c"]
    # Oldest first, where they are to be looked into.
    assert [one.at - NOW for one in blotter.open_tickets()] == [0, 1, 1, 2]


async def test_a_budget_takes_a_buy_that_fills_it_and_none_beyond(database: Database) -> None:
    blotter = Blotter(database)
    budget = Budget(max_micros=10, since=NOW - 5)
    await blotter.open_ticket(buy("a", 4), budget=budget)
    with pytest.raises(BudgetExceededError) as refused:
        await blotter.open_ticket(buy("b", 7), budget=budget)
    error = refused.value
    assert (error.reserved, error.requested, error.maximum) == (4, 7, 10)
    await blotter.open_ticket(buy("c", 6), budget=budget)
    assert blotter.reserved(NOW - 5) == 10
    # What costs nothing passes whatever is reserved.
    await blotter.open_ticket(buy("d", 0), budget=Budget(max_micros=1, since=NOW - 5))
    assert ids(blotter) == ["d", "c", "a"]


def test_a_row_of_another_console_that_makes_no_sense_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for row in (("too", "short"), (object(),) * len(blotter_room.TICKET_COLUMNS)):
        monkeypatch.setattr(blotter_room, "read_tickets", lambda *_, row=row: [row])
        assert recent_elsewhere(tmp_path, 9) == []
