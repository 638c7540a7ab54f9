"""Rows as they are stored and found again, in tables in memory."""

import pytest

from kit.service.memory import MemoryDatabase
from service_tui.storage.agent_rows import AgentRows
from service_tui.storage.chain_runs import ChainRun, ChainRuns, RunSignature
from service_tui.storage.errors import StorageError, TakenError, UnknownTicketError
from service_tui.storage.invitations import (
    InvitationRecord,
    keep_invitation,
    read_invitations,
)
from service_tui.storage.people import PersonRecord, keep_person, read_people
from service_tui.storage.price_alerts import PriceAlerts
from service_tui.storage.reactor import Row, StoredReactor
from service_tui.storage.world_copy import copy_world, count_of, digest_of

_JOURNAL = (
    "INSERT INTO journal (seq, at, kind, agent_id, market_id, body, venue) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)"
)


def _signal(signal_id: str, **changed: object) -> Row:
    fields = {
        "signal_id": signal_id, "tx_hash": "0xa", "wallet": "w1", "label": "one", "size": 9,
        "market_id": "m1", "question": "Rain?", "side": "YES", "venue": "amm", "price": 0.5,
        "amount": 3, "price_max": 0.6, "at": 10.0, "expires_at": 20.0, "state": "bought",
        "words": "as chosen",
    }  # fmt: skip
    return {
        **fields,
        "price_now": None,
        "ticket_id": "",
        "shares": 0,
        "cost": 0,
        "name": "",
        "sold": 0,
        "proceeds": 0,
        **changed,
    }


def _run(subject: str, **changed: object) -> ChainRun:
    fields = {
        "subject": subject, "wallet": "0xw", "opened_at": 1.0, "changed_at": 1.0, "step": "check",
        "body": "{}",
    }  # fmt: skip
    return ChainRun(**{**fields, **changed})  # pyright: ignore[reportArgumentType]


def _person(name: str, created_at: float, role: str = "viewer") -> PersonRecord:
    return PersonRecord(name, role, "salt", "hash", created_at, "operator")


async def test_the_newest_signals_come_first_and_no_more_than_asked_for() -> None:
    reactor = StoredReactor(MemoryDatabase())
    early, late = _signal("a", at=1.0), _signal("b", at=5.0, price_now=0.7, ticket_id="t")
    twin = _signal("c", at=5.0)

    await reactor.put([early, twin, late])

    assert reactor.recent(9) == [late, twin, early]
    assert reactor.recent(1) == [late]


async def test_a_signal_that_is_put_again_replaces_its_row() -> None:
    reactor = StoredReactor(MemoryDatabase())
    await reactor.put([_signal("a")])

    await reactor.put([_signal("a", state="expired")])

    assert [one["state"] for one in reactor.recent(9)] == ["expired"]


async def test_signals_beyond_the_newest_are_summed_by_wallet_and_state() -> None:
    reactor = StoredReactor(MemoryDatabase())
    await reactor.put([
        _signal("a", at=1.0, cost=4, shares=10, price_now=0.7),
        _signal("b", at=2.0, cost=6, shares=20),
        _signal("c", at=3.0, state="skipped"),
        _signal("d", at=9.0, cost=100, shares=100),
    ])

    sums = {one.state: one for one in reactor.tallies(beyond=1)}

    bought, skipped = sums["bought"], sums["skipped"]
    assert (bought.wallet, bought.count, bought.spent, bought.shares) == ("w1", 2, 10, 30)
    assert (bought.source_cost, bought.pnl, bought.last_at) == (15.0, 3.0, 2.0)
    assert (skipped.count, skipped.spent, skipped.pnl, skipped.last_at) == (1, 0, 0.0, 3.0)
    assert reactor.tallies(beyond=4) == []


async def test_what_was_sold_is_summed_at_what_it_brought() -> None:
    reactor = StoredReactor(MemoryDatabase())
    await reactor.put([
        _signal("a", cost=4, shares=10, price_now=0.7, sold=10, proceeds=9),
        _signal("b", cost=4, shares=10, sold=10, proceeds=2),
        _signal("c", cost=6, shares=20, price_now=0.5, sold=10, proceeds=4),
    ])
    (row,) = reactor.tallies(beyond=0)
    assert row.pnl == 5 - 2 + 3


async def test_what_was_chosen_last_for_a_wallet_counts() -> None:
    reactor = StoredReactor(MemoryDatabase())
    await reactor.choose({"address": "w1", "label": "one", "policy": "ask"})
    await reactor.choose({"address": "w2", "label": "two", "policy": "ask"})

    await reactor.choose({"address": "w1", "label": "uno", "policy": "ignore"})

    assert sorted(reactor.wallets(), key=lambda one: one["address"]) == [
        {"address": "w1", "label": "uno", "policy": "ignore"},
        {"address": "w2", "label": "two", "policy": "ask"},
    ]


def _alert(alert_id: str, created_at: float) -> Row:
    return {
        "armed": 0,
        "triggered_at": None,
        "triggered_price": None,
        "service_id": "",
        "sent_at": None,
        "removed": 0,
        "alert_id": alert_id,
        "market_id": "m1",
        "question": "Rain?",
        "side": "YES",
        "condition": "above",
        "threshold": 0.6,
        "created_at": created_at,
    }


async def test_alerts_are_read_newest_first_and_dropped_once() -> None:
    alerts = PriceAlerts(MemoryDatabase())
    for one in (_alert("b", 1.0), _alert("a", 1.0), _alert("c", 2.0)):
        await alerts.put(one)

    assert alerts.all() == [_alert("c", 2.0), _alert("a", 1.0), _alert("b", 1.0)]
    assert [await alerts.drop("a"), await alerts.drop("a")] == [True, False]
    assert [one["alert_id"] for one in alerts.all()] == ["c", "b"]


async def test_an_alert_is_armed_and_fires_once() -> None:
    alerts = PriceAlerts(MemoryDatabase())
    await alerts.put(_alert("a", 1.0))
    await alerts.put(_alert("b", 2.0))

    await alerts.arm("a", armed=True)
    assert {one["alert_id"]: one["armed"] for one in alerts.all()} == {"a": 1, "b": 0}
    await alerts.arm("a", armed=False)
    fired = [await alerts.fire("a", at=5.0, price=0.7), await alerts.fire("a", at=6.0, price=0.8)]

    assert fired == [True, False]
    assert await alerts.fire("none", at=5.0, price=0.7) is False
    other, first = alerts.all()
    assert (first["armed"], first["triggered_at"], first["triggered_price"]) == (0, 5.0, 0.7)
    assert other["triggered_at"] is None


@pytest.fixture
async def rows() -> AgentRows:
    database = MemoryDatabase()
    written = [
        (1, 1.0, "bought", "a1", "m1", "{}", None), (2, 2.0, "crowd", None, "m1", "{}", None),
        (3, 3.0, "sold", "a2", "m1", "{}", "amm"), (4, 4.0, "paid", "a1", "m1", "{}", "amm"),
        (5, 5.0, "sold", "a1", "m2", "{}", "book"), (6, 6.0, "acted", None, None, "{}", None),
        (7, 7.0, "sold", "a1", "m2", "{}", "amm"), (8, 8.0, "acted", "a1", None, "{}", None),
    ]  # fmt: skip
    await database.write(lambda connection: connection.executemany(_JOURNAL, written))
    return AgentRows(database)


async def test_rows_of_a_market_are_those_of_agents_of_the_kinds_oldest_first(
    rows: AgentRows,
) -> None:
    assert [row.seq for row in rows.of_market("m1", ["sold", "bought", "crowd"])] == [1, 3]
    assert [row.seq for row in rows.of_market("m2", ["sold"])] == [5, 7]


async def test_rows_of_people_are_the_newest_ones_first(rows: AgentRows) -> None:
    assert [row.seq for row in rows.of_people(9)] == [8, 6]
    assert [row.seq for row in rows.of_people(1)] == [8]


@pytest.mark.parametrize(
    ("who", "bounds", "found"),
    [
        (("a1", "amm"), (None, 9), [7, 4]),
        (("a1", "amm"), (None, 1), [7]),
        (("a1", "amm"), (7, 9), [4]),
        (("a1", "amm"), (4, 9), []),
        (("a1", "book"), (None, 9), [5]),
        (("a2", "amm"), (None, 9), [3]),
    ],
)
async def test_ended_positions_are_those_of_an_agent_on_a_venue_newest_first(
    rows: AgentRows, who: tuple[str, str], bounds: tuple[int | None, int], found: list[int]
) -> None:
    before, limit = bounds

    ends = rows.ends_before(who, ["paid", "sold"], before, limit=limit)

    assert [row.seq for row in ends] == found


@pytest.fixture
def runs() -> ChainRuns:
    return ChainRuns(MemoryDatabase())


async def test_a_subject_has_one_open_run_and_is_free_after_its_end(runs: ChainRuns) -> None:
    number = await runs.open(_run("redeem:m1"))
    with pytest.raises(TakenError, match="redeem:m1 is under way already"):
        await runs.open(_run("redeem:m1"))

    await runs.settle(number, "done", '{"ok": 1}', now=3.0)
    again = await runs.open(_run("redeem:m1"))

    ended = runs.find(number)
    assert ended == _run(
        "redeem:m1", number=number, changed_at=3.0, step="done", body='{"ok": 1}', settled_at=3.0
    )
    assert [run.number for run in runs.unsettled()] == [again]
    assert [run.number for run in runs.recent(9)] == [again, number]
    assert [run.number for run in runs.recent(1)] == [again]
    assert runs.find(99) is None


async def test_an_ended_run_is_neither_moved_nor_signed_nor_ended_again(runs: ChainRuns) -> None:
    number = await runs.open(_run("redeem:m1"))
    await runs.move(number, "send", "[1]", now=2.0)
    moved = runs.find(number)
    assert moved == _run("redeem:m1", number=number, changed_at=2.0, step="send", body="[1]")
    await runs.settle(number, "done", "{}", now=3.0)

    for late in (
        runs.move(number, "send", "{}", now=4.0),
        runs.settle(number, "done", "{}", now=4.0),
        runs.sign(number, "send", "{}", RunSignature(1, "0x1", "0x2"), now=4.0),
        runs.move(99, "send", "{}", now=4.0),
    ):
        with pytest.raises(UnknownTicketError, match="ended, or was signed already"):
            await late


async def test_what_was_signed_is_never_replaced(runs: ChainRuns) -> None:
    number = await runs.open(_run("redeem:m1"))
    await runs.sign(number, "send", "[2]", RunSignature(7, "0xraw", "0xhash"), now=2.0)

    with pytest.raises(UnknownTicketError):
        await runs.sign(number, "send", "{}", RunSignature(8, "0xb", "0xc"), now=3.0)

    assert runs.find(number) == _run(
        "redeem:m1", number=number, changed_at=2.0, step="send", body="[2]", nonce=7, raw="0xraw",
        tx_hash="0xhash",
    )  # fmt: skip


async def test_signed_runs_are_found_by_wallet_time_and_subject(runs: ChainRuns) -> None:
    first = await runs.open(_run("redeem:m1"))
    await runs.sign(first, "send", "{}", RunSignature(3, "0x1", "0x1"), now=2.0)
    await runs.settle(first, "done", "{}", now=5.0)
    second = await runs.open(_run("redeem:m1", opened_at=6.0))
    await runs.sign(second, "send", "{}", RunSignature(4, "0x2", "0x2"), now=7.0)
    await runs.settle(second, "done", "{}", now=8.0)
    await runs.open(_run("redeem:m1", opened_at=9.0))
    other = await runs.open(_run("pay:x", wallet="0xv", opened_at=9.0))
    await runs.sign(other, "send", "{}", RunSignature(5, "0x3", "0x3"), now=9.0)
    held = await runs.open(_run("pay:y", opened_at=9.0))
    await runs.sign(held, "send", "{}", RunSignature(6, "0x4", "0x4"), now=9.0)

    last = runs.last_signed("redeem:m1")

    assert last is not None
    assert last.number == second
    assert runs.last_signed("redeem:m2") is None
    assert [run.number for run in runs.signed_since("0xw", 5.0)] == [first, second, held]
    assert [run.number for run in runs.signed_since("0xw", 5.1)] == [second, held]
    assert runs.signed_nonces("0xw", 4) == ({6}, {4, 6})
    assert runs.signed_nonces("0xw", 3) == ({6}, {3, 4, 6})


async def test_runs_are_found_by_how_their_subject_begins(runs: ChainRuns) -> None:
    early = await runs.open(_run("pay_1"))
    late = await runs.open(_run("pay_2", opened_at=4.0))
    await runs.open(_run("payX3", opened_at=4.0))

    assert [run.number for run in runs.opened_since("pay_", 1.0)] == [early, late]
    assert [run.number for run in runs.opened_since("pay_", 4.0)] == [late]


async def test_people_are_read_the_first_one_first_and_a_change_replaces_a_row() -> None:
    database = MemoryDatabase()
    for one in (_person("zoe", 1.0), _person("ann", 2.0), _person("ben", 1.0)):
        await database.write(lambda connection, one=one: keep_person(connection, one))

    changed = _person("ann", 2.0, role="operator")
    await database.write(lambda connection: keep_person(connection, changed))

    assert read_people(database) == [_person("ben", 1.0), _person("zoe", 1.0), changed]
    assert "salt" not in repr(changed)
    assert "hash" not in repr(changed)


def _invitation(invitation_id: str, created_at: float, uses: int = 1) -> InvitationRecord:
    return InvitationRecord(
        invitation_id, "salt", "hash", uses, "free", 5, "ann", created_at, "operator", 99.0
    )


async def test_invitations_are_read_the_first_one_first_and_a_change_replaces_a_row() -> None:
    database = MemoryDatabase()
    for one in (_invitation("z", 1.0), _invitation("a", 2.0), _invitation("b", 1.0)):
        await database.write(lambda connection, one=one: keep_invitation(connection, one))

    changed = _invitation("a", 2.0, uses=0)
    await database.write(lambda connection: keep_invitation(connection, changed))

    assert read_invitations(database) == [_invitation("b", 1.0), _invitation("z", 1.0), changed]
    assert "salt" not in repr(changed)
    assert "hash" not in repr(changed)


@pytest.mark.slow
async def test_a_world_is_copied_row_by_row_into_an_empty_one() -> None:
    source, target = MemoryDatabase(), MemoryDatabase()
    rows = [(seq, 1.0, "sold", "a1", "m1", "{}", None) for seq in range(1, 1_002)]
    await source.write(lambda connection: connection.executemany(_JOURNAL, rows))
    await source.write(lambda connection: keep_person(connection, _person("ann", 1.0)))
    assert count_of(target) == 0
    assert digest_of(target) != digest_of(source)

    copy = await copy_world(source, target)

    assert (copy.rows, copy.digest) == (1_002, digest_of(source))
    assert count_of(target) == 1_002
    assert read_people(target) == [_person("ann", 1.0)]


async def test_a_world_is_not_copied_over_another() -> None:
    source, target = MemoryDatabase(), MemoryDatabase()
    await target.write(lambda connection: keep_person(connection, _person("ann", 1.0)))

    with pytest.raises(StorageError, match="holds a world already; nothing was copied"):
        await copy_world(source, target)


async def test_a_copy_that_differs_is_reported() -> None:
    class Forgetful(MemoryDatabase):
        async def write(self, work: object) -> int:  # noqa: ARG002 - writes nothing
            return 1

    source = MemoryDatabase()
    await source.write(lambda connection: keep_person(connection, _person("ann", 1.0)))

    with pytest.raises(StorageError, match="differs from its source; do not use it"):
        await copy_world(source, Forgetful())


@pytest.mark.parametrize(
    ("field", "value"), [("name", "eve"), ("role", "operator"), ("created_at", 2.0)]
)
async def test_worlds_that_differ_in_one_value_have_other_digests(
    field: str, value: object
) -> None:
    one, other = MemoryDatabase(), MemoryDatabase()
    person = {
        "name": "ann", "role": "viewer", "salt": "s", "key_hash": "h", "created_at": 1.0,
        "created_by": "operator",
    }  # fmt: skip
    first = PersonRecord(**person)  # pyright: ignore[reportArgumentType]
    second = PersonRecord(**{**person, field: value})  # pyright: ignore[reportArgumentType]
    await one.write(lambda connection: keep_person(connection, first))
    await other.write(lambda connection: keep_person(connection, second))

    assert digest_of(one) != digest_of(other)
