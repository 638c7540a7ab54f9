"""What is sent to PostgreSQL and what is made of its answers, without one."""

import asyncio
import os
from dataclasses import dataclass, field
from typing import Any, cast

import psycopg
import pytest
from psycopg import errors
from psycopg.pq import TransactionStatus

from kit.service.rows import RowsLine
from service_tui.storage.errors import StorageBusyError, StorageError, StorageFullError
from service_tui.storage.shared.connection import Raw, SharedConnection, SharedPort, WorldPlace
from service_tui.storage.shared.errors import NotLeadingError, as_shared_error, shared_error
from service_tui.storage.shared.feed import FEED_ROWS_MAX, JournalFeed
from service_tui.storage.shared.leadership import (
    CERTAIN_S,
    OPERATORS_MAX,
    SILENT_S,
    Leader,
    Leadership,
)
from service_tui.storage.shared.statements import translated

PLACE = WorldPlace("postgresql://eve@db.example/desk", "north")


@dataclass
class Line(RowsLine):
    """A connection of which a test says what the database answers."""

    answers: list[list[tuple[Any, ...]]] = field(default_factory=list)
    asked: list[tuple[Any, Any]] = field(default_factory=list)
    rowcount: int = 1
    transaction_status: TransactionStatus = TransactionStatus.IDLE
    notes: list[object] = field(default_factory=list)
    handlers: list[Any] = field(default_factory=list)
    ear: int = -1
    statusmessage: str = ""

    def fileno(self) -> int:
        return self.ear

    def __post_init__(self) -> None:
        self.info = self.pgconn = self

    def consume_input(self) -> None:
        self.asked.append(("consume", None))

    def notifies(self) -> object | None:
        return self.notes.pop(0) if self.notes else None

    def add_notify_handler(self, handler: Any) -> None:
        self.handlers.append(handler)

    def execute(self, query: Any, values: Any = None, *, prepare: bool | None = None) -> Any:
        if self.failing is not None:
            raise self.failing
        said = query if isinstance(query, bytes | str) else query.as_string(None)
        # Statements together cannot be prepared.
        assert prepare is False or ";" not in str(said)
        self.statusmessage = said.decode() if isinstance(said, bytes) else said
        self.asked.append((said, values))
        self.rows = self.answers.pop(0) if self.answers else []
        return self

    def executemany(self, query: str, rows: Any) -> None:
        self.asked.append((query, list(rows)))

    def nextset(self) -> None:
        self.asked.append(("nextset", None))


def raw(line: Line) -> Raw:
    return cast("Raw", line)


# -- places and statements -----------------------------------------------------------------


@pytest.mark.parametrize("world", ["a", "north_2", "a" * 40])
def test_a_world_has_a_schema_and_a_lock_of_its_own(world: str) -> None:
    place = WorldPlace("postgresql://eve@db.example/desk", world)
    assert place.schema == f"world_{world}"
    assert -(2**63) <= place.lock_key < 2**63
    assert place.lock_key == WorldPlace("postgres://other/one", world).lock_key != PLACE.lock_key


@pytest.mark.parametrize("world", ["", "a" * 41, "North", "2north", "_a", "nor th", "north\n"])
def test_what_is_no_name_of_a_world_is_refused(world: str) -> None:
    with pytest.raises(StorageError, match="no name of a world"):
        WorldPlace("postgresql://eve@db.example/desk", world)


@pytest.mark.parametrize("url", ["", "mysql://a/b", "host=a dbname=b", "postgresql://[::1/a"])
def test_what_is_no_address_of_a_database_is_refused(url: str) -> None:
    with pytest.raises(StorageError, match="no address of a database"):
        WorldPlace(url, "north")


def test_a_password_with_a_bare_at_sign_is_refused_and_shown_nowhere() -> None:
    with pytest.raises(StorageError, match="an @ too many") as refused:
        WorldPlace("postgresql://eve:se@cret@db.example/desk", "north")
    assert "cret" not in str(refused.value)
    assert WorldPlace("postgresql://eve:se%40cret@db.example/desk", "north")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://eve:secret@db.example/desk", "north on db.example/desk"),
        ("postgres://eve:secret@db.example", "north on db.example/eve"),
        ("postgresql:///desk", "north on local/desk"),
        ("postgresql://", "north on local/"),
    ],
)
def test_a_place_is_shown_without_its_password(url: str, shown: str) -> None:
    place = WorldPlace(url, "north")
    assert (str(place), repr(place)) == (shown, f"WorldPlace({shown})")


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT :a, :b_2 WHERE x = :a", "SELECT %(a)s, %(b_2)s WHERE x = %(a)s"),
        ("SELECT x::text, ':1'", "SELECT x::text, ':1'"),
        ("x LIKE 'a%' AND y = :y", "x LIKE 'a%%' AND y = %(y)s"),
        ("FROM journal INDEXED BY by_kind WHERE x", "FROM journal WHERE x"),
        ("SELECT x LIMIT -1 OFFSET :o", "SELECT x OFFSET %(o)s"),
        ("SELECT x LIMIT 10", "SELECT x LIMIT 10"),
    ],
)
def test_a_statement_is_said_as_the_driver_takes_it(sql: str, said: str) -> None:
    assert translated(sql) == said


def test_a_statement_is_run_with_its_values_once_or_for_each_row() -> None:
    line = Line([[(1,)], [(2,)]])
    connection = SharedConnection(raw(line))
    assert connection.execute("SELECT :a", {"a": 5}).fetchone() == (1,)  # type: ignore[attr-defined]
    assert connection.execute("SELECT 2").fetchone() == (2,)  # type: ignore[attr-defined]
    connection.executemany("INSERT :a", [{"a": 1}, {"a": 2}])
    assert line.asked == [
        ("SELECT %(a)s", {"a": 5}), ("SELECT 2", {}), ("INSERT %(a)s", [{"a": 1}, {"a": 2}]),
    ]  # fmt: skip


# -- the writer ----------------------------------------------------------------------------


def port(line: Line, epoch: int = 3) -> tuple[SharedPort, list[str]]:
    told: list[str] = []
    return SharedPort(raw(line), epoch, lambda: told.append("committed")), told


def test_a_transaction_begins_while_its_epoch_lasts_and_no_longer() -> None:
    line = Line()
    writer, _ = port(line)
    assert line.asked == [(b"SET service_tui.epoch = '3'", None)]
    line.answers = [[(1,)], []]
    writer.begin()
    begin = b"BEGIN; SELECT 1 FROM world WHERE epoch = 3 FOR NO KEY UPDATE"
    assert line.asked[1:] == [(begin, None), ("nextset", None)]
    with pytest.raises(NotLeadingError, match="another process leads"):
        writer.begin()


def test_a_commit_is_sent_and_then_told() -> None:
    line = Line()
    writer, told = port(line)
    writer.execute("COMMIT")
    assert (line.asked[-1], told) == ((b"COMMIT", None), [])
    writer.confirm()
    assert told == ["committed"]


@pytest.mark.parametrize("status", list(TransactionStatus))
def test_a_transaction_is_open_also_after_an_error_in_it(status: TransactionStatus) -> None:
    is_open = status in {TransactionStatus.INTRANS, TransactionStatus.INERROR}
    assert port(Line(transaction_status=status))[0].in_transaction is is_open


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("is_committing", [False, True])
def test_an_error_of_a_commit_or_of_a_lost_line_is_final(
    *, closed: bool, is_committing: bool
) -> None:
    writer, _ = port(Line(closed=closed))
    final = writer.is_final(ValueError(), is_committing=is_committing)
    assert final is (closed or is_committing)


def test_errors_of_the_driver_are_named_and_others_are_none_of_ours() -> None:
    writer, _ = port(Line())
    ours = StorageFullError("full")
    assert writer.named(ours) is ours
    assert isinstance(writer.named(errors.DeadlockDetected()), StorageBusyError)
    with pytest.raises(ZeroDivisionError):
        writer.named(ZeroDivisionError())


def test_a_writer_closes_also_a_line_that_is_lost() -> None:
    line = Line()
    writer, _ = port(line)
    line.failing = psycopg.OperationalError("gone")
    writer.close()
    assert line.closed


# -- errors --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (errors.DiskFull("x"), StorageFullError, "disk is full"),
        (errors.InsufficientPrivilege("x"), StorageError, "lacks a right"),
        (errors.LockNotAvailable("x"), StorageBusyError, "too busy"),
        (errors.QueryCanceled("x"), StorageBusyError, "too busy"),
        (errors.DeadlockDetected("x"), StorageBusyError, "too busy"),
        (psycopg.OperationalError("x"), StorageError, "does not answer"),
        (psycopg.InterfaceError("x"), StorageError, "does not answer"),
        (errors.UniqueViolation("x"), StorageError, "refused; nothing"),
    ],
)
def test_each_error_of_the_database_is_a_sentence_with_its_reason(
    error: psycopg.Error, kind: type[StorageError], text: str
) -> None:
    mapped = shared_error(error)
    assert (type(mapped), mapped.__cause__) == (kind, error)
    assert text in str(mapped)
    assert str(mapped).endswith(" (x)")
    # Only what surely wrote nothing is repeated unseen: a commit whose answer is lost may stand.
    assert ("try again" in str(mapped)) == isinstance(mapped, (StorageBusyError, StorageFullError))
    with pytest.raises(kind, match=text), as_shared_error():
        raise error


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("one line\n", "one line"),
        ("first try\nsecond try", "second try"),
        ("host a: FATAL:  no such role\nhost b: refused", "no such role"),
        ("", "OperationalError"),
        ("ends in FATAL:", "ends in FATAL:"),
    ],
)
def test_the_reason_is_the_line_that_says_it(said: str, reason: str) -> None:
    assert str(shared_error(psycopg.OperationalError(said))).endswith(f" ({reason})")


# -- the feed ------------------------------------------------------------------------------


def opened(line: Line) -> JournalFeed:
    lines = {(PLACE, "follower"): raw(line)}
    feed = JournalFeed(PLACE, connect=lambda place, purpose: lines[place, purpose])
    feed.open()
    return feed


def row(seq: int, epoch: object = 1) -> tuple[Any, ...]:
    return (seq, float(seq), "fill", "ada", "m1", "{}", epoch)


def test_a_feed_listens_and_cannot_write() -> None:
    line = Line()
    feed = opened(line)
    asked = [said for said, _ in line.asked]
    assert asked == ["SET default_transaction_read_only = on", 'LISTEN "world_north"']
    assert len(line.handlers) == 1
    feed.close()
    assert line.closed


def test_rows_follow_one_another_and_one_leader_the_next() -> None:
    line = Line()
    feed = opened(line)
    line.answers, line.notes = [[row(5), row(6, 2)], [row(7, 2)]], [object(), object()]
    line.asked.clear()
    found = feed.rows_after(4)
    assert [(one.seq, one.kind, one.agent_id, one.market_id) for one in found] == [
        (5, "fill", "ada", "m1"), (6, "fill", "ada", "m1"),
    ]  # fmt: skip
    assert [values for _, values in line.asked] == [None, [4, FEED_ROWS_MAX]]
    assert line.notes == []
    assert [one.seq for one in feed.rows_after(6)] == [7]


@pytest.mark.parametrize(
    ("rows", "seq", "text"),
    [
        ([row(6)], 5, "row 5 of the journal is missing"),
        ([row(5), row(7)], 6, "row 6 of the journal is missing"),
        ([row(5, 2), row(6, 1)], 6, "row 6 is of the former leader 1"),
        ([row(5, None)], 5, "row 5 is of the former leader None"),
    ],
)
def test_rows_with_a_gap_or_of_a_former_leader_are_refused(
    rows: list[tuple[Any, ...]], seq: int, text: str
) -> None:
    line = Line()
    feed = opened(line)
    line.answers = [rows]
    with pytest.raises(StorageError, match=text) as refused:
        feed.rows_after(4)
    assert getattr(refused.value, "seq", None) == seq


def test_a_leader_of_an_earlier_reading_is_a_former_one() -> None:
    line = Line()
    feed = opened(line)
    line.answers = [[row(5, 2)], [row(6, 1)]]
    feed.rows_after(4)
    with pytest.raises(StorageError, match="former leader"):
        feed.rows_after(5)


async def test_who_was_told_of_rows_does_not_wait_for_them() -> None:
    line = Line()
    feed = opened(line)
    line.handlers[0](None)
    await feed.changed(3_600.0)
    feed.close()
    with pytest.raises(StorageError, match="closed"):
        await feed.changed(0.0)
    with pytest.raises(StorageError, match="closed"):
        feed.rows_after(0)


@pytest.mark.parametrize("comes", [True, False])
async def test_a_follower_waits_for_the_line_to_speak_or_for_its_time(*, comes: bool) -> None:
    ear, mouth = os.pipe()
    line = Line(ear=ear)
    feed, loop, said = opened(line), asyncio.get_running_loop(), list[int]()
    if comes:
        loop.call_later(0.001, lambda: said.append(os.write(mouth, b"!")))
    async with asyncio.timeout(5):
        await feed.changed(60.0 if comes else 0.001)
    assert bool(said) is comes
    # Nobody listens any more, though the bytes are still there.
    assert not loop.remove_reader(ear)
    feed.close()
    for descriptor in (ear, mouth):
        os.close(descriptor)


def test_a_feed_that_was_closed_meanwhile_closes_what_it_opened() -> None:
    line = Line()
    feed = JournalFeed(PLACE, connect=lambda *_: raw(line))
    feed.close()
    with pytest.raises(StorageError, match="closed"):
        feed.open()
    assert line.closed


# -- leading -------------------------------------------------------------------------------


@dataclass
class Lead:
    """A way to the lead, on lines of a test's own, and a clock."""

    line: Line = field(default_factory=Line)
    at: float = 100.0
    lines: list[str] = field(default_factory=list)

    def way(self) -> Leadership:
        def connect(place: WorldPlace, purpose: str) -> Raw:
            assert place is PLACE
            self.lines.append(purpose)
            self.line.closed = False
            return raw(self.line)

        return Leadership(PLACE, "desk-1", lambda: self.at, connect=connect)


def led(lead: Lead) -> Leadership:
    way = lead.way()
    lead.line.answers = [[(True,)], [(8,)]]
    assert way.try_lead() == way.epoch == 8
    return way


def test_who_gets_the_lock_begins_an_epoch() -> None:
    lead = Lead()
    led(lead)
    assert [values for _, values in lead.line.asked] == [
        [PLACE.lock_key], ["desk-1"], [8, "desk-1"], [8],
    ]  # fmt: skip
    assert lead.lines == ["lead"]


def test_who_does_not_get_the_lock_changes_nothing() -> None:
    lead = Lead()
    way = lead.way()
    lead.line.answers = [[(False,)]]
    assert (way.try_lead(), way.epoch, len(lead.line.asked)) == (None, None, 1)
    with pytest.raises(NotLeadingError):
        way.check()


def test_who_leads_is_certain_until_a_while_after_the_last_beat() -> None:
    lead = Lead()
    way = led(lead)
    for _ in range(2):
        lead.at += CERTAIN_S - 0.01
        way.check()
        way.beat()
    lead.at += CERTAIN_S
    with pytest.raises(NotLeadingError, match="not certain"):
        way.check()
    assert way.epoch == 8


@dataclass
class Slow(Line):
    """A line each of whose answers takes its time."""

    lead: Any = None

    def execute(self, query: Any, values: Any = None) -> Any:
        self.lead.at += CERTAIN_S / 8
        return super().execute(query, values)


def test_a_lead_is_certain_from_the_moment_at_which_it_was_asked_for() -> None:
    lead = Lead()
    lead.line = Slow(lead=lead)
    begun = lead.at
    way = led(lead)
    for _ in range(2):
        assert lead.at > begun
        lead.at = begun + CERTAIN_S - 0.01
        way.check()
        begun = lead.at
        way.beat()
    lead.at = begun + CERTAIN_S
    with pytest.raises(NotLeadingError):
        way.check()


def test_a_beat_of_a_former_epoch_gives_up_the_lead() -> None:
    lead = Lead()
    way = led(lead)
    lead.line.rowcount = 0
    with pytest.raises(NotLeadingError, match="another process"):
        way.beat()
    assert way.epoch is None
    with pytest.raises(NotLeadingError):
        way.check()


@pytest.mark.parametrize("call", ["beat", "publish"])
def test_a_lost_line_takes_the_lead_with_it(call: str) -> None:
    lead = Lead()
    way = led(lead)
    lead.line.closed = True
    with pytest.raises(NotLeadingError, match="was lost"):
        way.beat() if call == "beat" else way.publish("http://a")
    assert (way.epoch, lead.lines) == (None, ["lead"])
    lead.line.answers = [[(True,)], [(9,)]]
    assert (way.try_lead(), lead.lines) == (9, ["lead", "lead"])


def test_what_a_leader_says_is_about_its_own_epoch() -> None:
    lead = Lead()
    way = led(lead)
    lead.line.asked.clear()
    way.note_writer(77)
    way.publish("http://a")
    way.publish(None)
    way.beat()
    way.end_silent()
    assert [values for _, values in lead.line.asked] == [
        [77, 8], ["http://a", 8], [None, 8], [8], [SILENT_S],
    ]  # fmt: skip


def test_the_hash_that_is_kept_is_the_one_that_counts() -> None:
    lead = Lead(Line([[("first",)]]))
    assert lead.way().add_operator("mine") == ("first",)
    assert lead.line.asked[-1][1] == ["mine", "mine", OPERATORS_MAX, "mine"]


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ((8, "b", "http://a", 0.5, "h i"), Leader(8, "b", "http://a", 0.5, ("h", "i"))),
        ((8, "b", None, 0.5, None), Leader(8, "b", None, 0.5)),
        ((0, "", None, 0.5, ""), None),
    ],
)
def test_who_leads_is_as_the_database_has_it(row: tuple[Any, ...], found: Leader | None) -> None:
    assert Lead(Line([[row]])).way().leader() == found


def test_a_world_without_its_row_is_refused() -> None:
    with pytest.raises(StorageError, match="row is missing"):
        Lead().way().leader()


def test_who_closes_leads_no_longer_even_on_a_lost_line() -> None:
    lead = Lead()
    way = led(lead)
    lead.line.failing = psycopg.OperationalError("gone")
    way.close()
    assert (way.epoch, lead.line.closed) == (None, True)


@pytest.mark.parametrize(("silent_s", "frees"), [(CERTAIN_S - 0.01, True), (CERTAIN_S, False)])
def test_who_closes_frees_the_lock_first_on_a_line_that_answered_lately(
    *, silent_s: float, frees: bool
) -> None:
    """The server notices a closed line a little later; on a silent one nobody waits for it."""
    lead = Lead()
    way = led(lead)
    lead.line.asked.clear()
    lead.at += silent_s
    way.close()
    said = [("SELECT pg_advisory_unlock_all()", None)]
    assert (lead.line.asked, lead.line.closed) == (said if frees else [], True)
    way.close()
    assert way.epoch is None
