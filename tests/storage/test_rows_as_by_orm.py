"""What the stores read by plain statements is what SQLAlchemy reads by the tables' classes."""

import asyncio
from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Select, StaticPool, create_engine, select
from sqlalchemy.dialects.sqlite import dialect
from sqlmodel import SQLModel, col

from kit.service.memory import MemoryDatabase
from service_tui.storage.agent_rows import AgentRows
from service_tui.storage.answers import KEPT_S, Answer, Answers, remember
from service_tui.storage.blotter import Blotter
from service_tui.storage.chain_runs import ChainRun, ChainRuns
from service_tui.storage.db import tables
from service_tui.storage.db.declared import TABLES
from service_tui.storage.db.statements import adding
from service_tui.storage.ended_markets import EndedMarkets
from service_tui.storage.entries import EntryStore, StoredEntry
from service_tui.storage.invitations import InvitationRecord, keep_invitation, read_invitations
from service_tui.storage.journal import History, JournalRow, JournalStore, Snapshot
from service_tui.storage.kept_tokens import KeptToken, KeptTokens
from service_tui.storage.people import PersonRecord, keep_person, read_people
from service_tui.storage.price_alerts import PriceAlerts
from service_tui.storage.reactor import StoredReactor

NAMES = st.sampled_from(["a", "b", "B", "it's", "ä%_/", ""])
KINDS = ("fill", "acted", "settled", "crowd")
TIMES = st.floats(0, 9)
WHOLE = st.integers(-(2**63), 2**63 - 1)
COUNTS = st.integers(0, 3)
MAYBE = st.none() | NAMES

JOURNAL = st.lists(
    st.tuples(TIMES, st.sampled_from(KINDS), MAYBE, MAYBE, NAMES, st.none() | NAMES), max_size=12
).map(lambda rows: [JournalRow(seq, *row) for seq, row in enumerate(rows, start=1)])
SELECTIONS = st.builds(
    History,
    NAMES,
    st.lists(st.sampled_from(KINDS), unique=True).map(tuple),
    MAYBE,
    st.none() | TIMES,
    st.none() | TIMES,
)


DATABASE: Any = MemoryDatabase()
ENGINE = create_engine("sqlite://", creator=lambda: DATABASE.driver, poolclass=StaticPool)


def emptied(*names: str) -> Any:
    """The one database, without rows in these tables: to make one takes longer than an example."""
    for name in names:
        DATABASE.driver.execute(f"DELETE FROM {name}")  # noqa: S608 - a table of ours
    DATABASE.driver.commit()
    return DATABASE


def read(query: Select[Any]) -> list[tuple[Any, ...]]:
    """The rows of a query by SQLAlchemy, of the same connection."""
    with ENGINE.connect() as connection:
        return [tuple(row) for row in connection.execute(query)]


def whole(model: type[SQLModel]) -> Select[Any]:
    return select(tables.table_of(model))


def unique(records: st.SearchStrategy[Any], *key: str) -> st.SearchStrategy[list[Any]]:
    return st.lists(
        records, max_size=6, unique_by=lambda one: tuple(getattr(one, name) for name in key)
    )


def put(database: Any, table: str, rows: Sequence[Any]) -> None:
    names = TABLES[table].columns
    values = [{name: getattr(row, name) for name in names} for row in rows]
    asyncio.run(database.write(lambda connection: connection.executemany(adding(table), values)))


@pytest.mark.slow
@given(JOURNAL, SELECTIONS, COUNTS, COUNTS)
def test_the_journal(rows: list[JournalRow], wanted: History, after: int, limit: int) -> None:
    journal, with_agent = tables.Journal, col(tables.Journal.agent_id).is_not(None)
    every = select(*tables.table_of(journal).c[:6])
    of_kind = col(journal.kind).in_(wanted.kinds)
    terms = [col(journal.agent_id) == wanted.agent_id, of_kind]
    terms += [] if wanted.market_id is None else [col(journal.market_id) == wanted.market_id]
    terms += [] if wanted.since is None else [col(journal.at) >= wanted.since]
    terms += [] if wanted.until is None else [col(journal.at) < wanted.until]
    newest = every.order_by(col(journal.seq).desc())
    oldest = every.order_by(col(journal.seq))
    database = emptied("journal")
    put(database, "journal", rows)
    store, agents = JournalStore(database, chunk=2), AgentRows(database)

    def same(found: list[JournalRow], query: Select[Any]) -> None:
        assert [astuple(row)[:6] for row in found] == read(query)

    same([*store.rows_after(after)], oldest.where(col(journal.seq) > after))
    later = oldest.where(col(journal.seq) > after, with_agent, of_kind)
    same(store.rows_of_agents(after, wanted.kinds, limit=limit), later.limit(limit))
    page, total = store.rows_of(wanted, limit=limit, offset=after)
    same(page, newest.where(*terms).limit(limit).offset(after))
    assert total == len(read(newest.where(*terms)))
    earlier = newest.where(with_agent, of_kind, col(journal.seq) < after)
    same(agents.before(after, wanted.kinds, limit=limit), earlier.limit(limit))
    of_market = oldest.where(col(journal.market_id) == "a", with_agent, of_kind)
    same(agents.of_market("a", wanted.kinds), of_market)
    same(agents.of_people(limit), newest.where(col(journal.kind) == "acted").limit(limit))
    ends = newest.where(*terms[:2], col(journal.venue) == "a")
    same(agents.ends_before((wanted.agent_id, "a"), wanted.kinds, None, limit=9), ends.limit(9))


@pytest.mark.slow
@given(st.data())
def test_what_stands_beside_the_journal(data: st.DataObject) -> None:
    answers = data.draw(unique(st.builds(Answer, *[NAMES] * 5, TIMES), "agent_id", "key"))
    people = data.draw(unique(st.builds(PersonRecord, *[NAMES] * 4, TIMES, NAMES, TIMES), "name"))
    invitations = data.draw(
        unique(
            st.builds(
                InvitationRecord,
                *[NAMES] * 3, WHOLE, MAYBE, st.none() | WHOLE, NAMES, TIMES, NAMES, TIMES, TIMES,
            ),
            "invitation_id",
        )
    )  # fmt: skip
    entry = st.builds(StoredEntry, WHOLE, *[NAMES] * 6, TIMES, *[WHOLE] * 4, MAYBE)
    entries = data.draw(unique(entry, "seq"))
    database = emptied("idempotency", "people", "invitations", "entries")

    def write(connection: Any) -> None:
        for answer in answers:
            remember(connection, answer)
        for person in people:
            keep_person(connection, person)
        for invitation in invitations:
            keep_invitation(connection, invitation)

    asyncio.run(database.write(write))
    put(database, "entries", entries)
    of_tables = (
        (tables.People, [astuple(one) for one in read_people(database)]),
        (tables.Invitations, [astuple(one) for one in read_invitations(database)]),
    )
    for model, found in of_tables:
        assert sorted(found, key=repr) == sorted(read(whole(model)), key=repr)
    stored = {row[:2]: Answer(*row) for row in read(whole(tables.Idempotency))}
    known = Answers(database)
    for (agent_id, key), answer in stored.items():
        assert known.find(agent_id, key, now=KEPT_S) == (answer if answer.at > 0 else None)
    recent = known.recent(now=KEPT_S, limit=9)
    assert sorted(recent) == sorted((*key, a.at) for key, a in stored.items() if a.at > 0)
    lots = [StoredEntry(*row) for row in read(whole(tables.Entries))]
    assert sorted(lots, key=lambda one: one.seq) == sorted(entries, key=lambda one: one.seq)
    for lot in lots:
        assert EntryStore(database).of_trade(lot.trade_id) in lots
        held = EntryStore(database).held(lot.agent_id, lot.market_id)
        assert (lot in held) == (lot.open_shares > 0)


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "TEXT": NAMES, "INTEGER": WHOLE, "REAL": TIMES, "BLOB": st.binary(max_size=3),
}  # fmt: skip


def a_row(table: str) -> st.SearchStrategy[dict[str, Any]]:
    """Any row of a table, by the types that its class declares."""
    return st.fixed_dictionaries({
        column.name: st.none() | values if column.nullable else values
        for column in SQLModel.metadata.tables[table].columns
        for values in [VALUES[column.type.compile(dialect())]]
    })


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES)
@given(st.data())
def test_a_row_of_any_table(table: str, data: st.DataObject) -> None:
    row = data.draw(a_row(table))
    database = emptied(table)
    asyncio.run(database.write(lambda connection: connection.execute(adding(table), row)))
    (found,) = read(select(SQLModel.metadata.tables[table]))
    names = dict(zip(TABLES[table].columns, found, strict=True))
    assert names == row
    match table:
        case "tickets":
            (ticket,) = Blotter(database).recent(9)
            assert ticket.outcome == names["outcome"]
            assert (ticket.ticket_id, ticket.amount_micros) == (
                names["ticket_id"], names["amount_micros"],
            )  # fmt: skip
        case "chainruns":
            assert ChainRuns(database).recent(9) == [ChainRun(**names)]
        case "kepttokens":
            kept = KeptTokens(database).find_token(names["token"], names["wallet"])
            flags = {name: bool(names[name]) for name in ("neg_risk", "bought")}
            assert kept == KeptToken(**{**names, **flags})
        case "pricealerts":
            assert PriceAlerts(database).all() == [names]
        case "reactorsignals":
            assert StoredReactor(database).recent(9) == [names]
        case "reactorwallets":
            assert StoredReactor(database).wallets() == [names]
        case "endedmarkets":
            ended = EndedMarkets(database)
            assert ended.bodies([names["market_id"]]) == {names["market_id"]: names["body"]}
            (head,) = ended.heads([names["market_id"]]).values()
            assert head[:3] + head[4:] == found[:3] + found[4:6]
        case _:
            pass


@given(st.binary(max_size=9))
def test_a_snapshot(body: bytes) -> None:
    database = emptied("snapshots", "journal")
    journal = JournalStore(database)
    asyncio.run(journal.add_snapshot(Snapshot(0, 1.5, body)))
    assert journal.snapshots() == [Snapshot(0, 1.5, body)]
    ((seq, at, kept),) = read(whole(tables.Snapshots))
    assert (seq, at, type(kept)) == (0, 1.5, bytes)
