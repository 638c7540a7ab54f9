"""Opening a live desk: its agent, its data directory, and problems that keep it closed."""

import asyncio
import json
import logging
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, nullcontext
from pathlib import Path
from random import Random
from sqlite3 import connect
from stat import S_IMODE
from types import SimpleNamespace
from typing import Any

import pytest

from kit.desk.faults import buy, ready
from kit.service.scripted import said, scripted
from service_tui.app import live
from service_tui.app.first_state import first_state
from service_tui.app.options import Options
from service_tui.app.own_agent import RENEWED
from service_tui.app.start import open_desk
from service_tui.clock import ManualClock
from service_tui.commands.doctor import findings
from service_tui.console.closed_desk import DeskClosedError
from service_tui.credentials.api_keys import DESK_FILE, ApiKeysError, desk_keys, stored_desk_keys
from service_tui.desk.agents.handlers import OWN_KEY
from service_tui.desk.commands.agents import AgentAct, Govern
from service_tui.desk.commands.settings import SetPreference, SetStar
from service_tui.desk.desk import Desk
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.engine.codec import events as codec
from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.storage.errors import StorageFullError
from service_tui.terms import Plan
from service_tui.units import ONE


def options(path: Path, **changes: object) -> Options:
    return Options(path / "data", path / "config", path / "log", **{"seed": 7, **changes})


class Start:
    """One start of the desk in manual time: `go` lets it run until its state is as wanted."""

    def __init__(self, desk: Desk, clock: ManualClock) -> None:
        self.desk = desk
        self.clock = clock

    @property
    def state(self) -> DeskState:
        return self.desk.state

    async def go(self, is_so: Callable[[DeskState], object] = ready) -> DeskState:
        for step in range(400):
            if is_so(self.state):
                return self.state
            await self.clock.advance(0.25)
            await asyncio.to_thread(int)
            # A disk that is slow gets the time that it needs.
            await asyncio.sleep(0.05 if step >= 100 else 0.0)
        raise AssertionError("the desk never came to the wanted state")


@asynccontextmanager
async def started(asked: Options, clock: ManualClock | None = None) -> AsyncGenerator[Start]:
    clock = clock or ManualClock()
    async with live.embedded_parts(asked, first_state(asked), clock, Random(3)) as desk:
        yield Start(desk, clock)


def agents_of(path: Path) -> list[str]:
    """Ids of the agents in the world, from the journal on disk."""
    with closing(connect(path / "data" / DATABASE_FILE)) as database:
        rows = database.execute("SELECT body FROM journal WHERE kind = 'agent'").fetchall()
    return [codec.decode("agent", body).agent_id for (body,) in rows]


def files_with(secret: str, folder: Path) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if secret.encode() in path.read_bytes()]


# -- the embedded service -----------------------------------------------------------------------


@pytest.mark.slow
async def test_the_first_start_registers_one_agent_and_later_ones_use_it(tmp_path: Path) -> None:
    asked = options(tmp_path)
    async with started(asked) as start:
        account = (await start.go()).account
    api_keys = desk_keys(asked.data_dir)
    assert api_keys.agent.startswith("sk_live_")
    assert api_keys.agent_id == account.agent_id
    assert S_IMODE((asked.data_dir / DESK_FILE).stat().st_mode) == 0o600
    async with started(asked) as start:
        assert (await start.go()).account.agent_id == account.agent_id
    assert desk_keys(asked.data_dir) == api_keys
    assert agents_of(tmp_path) == [account.agent_id]


@pytest.mark.slow
async def test_a_person_finds_everything_again(tmp_path: Path) -> None:
    asked = options(tmp_path)
    clock = ManualClock()
    async with started(asked, clock) as start:
        await start.go(lambda s: ready(s) and s.world)
        market = max(start.state.markets.values(), key=lambda view: view.liquidity or 0)
        start.desk.submit(buy(market))
        start.desk.submit(SetStar(market.market_id, on=True))
        start.desk.submit(SetPreference("theme", "paper"))
        before = await start.go(lambda s: s.positions and len(s.equity) > 1 and s.preferences)
    cold = first_state(asked)
    assert cold.from_cache
    assert cold.positions[0].shares == before.positions[0].shares
    assert cold.stars == {market.market_id}
    assert cold.preferences["theme"] == "paper"
    assert cold.equity == before.equity
    clock.set(clock.now() + 3_600)
    async with started(asked, clock) as start:
        after = await start.go(lambda s: ready(s) and s.world)
        assert after.positions[0].shares == before.positions[0].shares
        assert after.account.cash == before.account.cash == 9_975 * ONE
        assert [ticket.state for ticket in after.tickets] == [TicketState.DONE]
        assert after.equity[: len(before.equity)] == before.equity
        assert after.world.meanwhile.world_elapsed_s > 0


@pytest.mark.slow
async def test_the_keys_are_nowhere_but_in_their_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    asked = options(tmp_path)
    async with started(asked) as start:
        await start.go(lambda s: ready(s) and s.world)
        api_keys = desk_keys(asked.data_dir)
        market = next(view for view in start.state.markets.values() if view.is_open)
        start.desk.submit(buy(market))
        state = await start.go(lambda s: s.positions)
        shown = f"{state!r}{asked!r}{api_keys!r}{start.desk.ports!r}"
    for secret in (api_keys.agent, api_keys.operator):
        assert files_with(secret, tmp_path) == [DESK_FILE]
        assert secret not in caplog.text
        assert secret not in shown


@pytest.mark.slow
async def test_a_new_key_of_the_own_agent_is_kept_and_the_desk_goes_on(tmp_path: Path) -> None:
    asked = options(tmp_path)
    async with started(asked) as start:
        state = await start.go()
        before = stored_desk_keys(asked.data_dir)
        own = state.account.agent_id
        start.desk.submit(Govern(AgentAct.NEW_KEY, own, "desk"))
        await start.go(lambda s: any(one.text == OWN_KEY for one in s.notices))
        after = stored_desk_keys(asked.data_dir)
        assert (after.operator, after.agent_id) == (before.operator, before.agent_id)
        assert after.agent != before.agent
        seen_at = start.state.seen[Topic.ACCOUNT]
        await start.go(lambda s: s.seen[Topic.ACCOUNT] > seen_at)
        market = next(one for one in start.state.markets.values() if one.is_open)
        ticket = start.desk.submit(buy(market))
        await start.go(lambda _: ticket.view.state is TicketState.DONE)
    assert files_with(before.agent, tmp_path) == []
    assert files_with(after.agent, tmp_path) == [DESK_FILE]
    async with started(asked) as start:
        state = await start.go()
        assert state.account.agent_id == own
        assert not any(one.text == RENEWED for one in state.notices)


@pytest.mark.slow
async def test_a_new_key_that_cannot_be_kept_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = options(tmp_path)

    def refuse(*_: object) -> None:
        raise ApiKeysError("the disk is full")

    async with started(asked) as start:
        state = await start.go()
        before = stored_desk_keys(asked.data_dir)
        monkeypatch.setattr("service_tui.app.own_agent.keep_desk_keys", refuse)
        start.desk.submit(Govern(AgentAct.NEW_KEY, state.account.agent_id, "desk"))
        await start.go(lambda s: any("the disk is full" in one.text for one in s.notices))
        seen_at = start.state.seen[Topic.ACCOUNT]
        await start.go(lambda s: s.seen[Topic.ACCOUNT] > seen_at)
        assert stored_desk_keys(asked.data_dir) == before


@pytest.mark.slow
async def test_a_seed_counts_for_a_new_world_only(tmp_path: Path) -> None:
    async with started(options(tmp_path, seed=11)) as start:
        first = await start.go(lambda s: ready(s) and s.world)
        assert first.world.seed == 11
    async with started(options(tmp_path, seed=12)) as start:
        second = await start.go(lambda s: ready(s) and s.world)
        assert second.world.seed == 11
    async with started(options(tmp_path / "other", seed=11)) as start:
        other = await start.go(lambda s: ready(s) and s.world)
        assert {view.question for view in other.markets.values()} == {
            view.question for view in first.markets.values()
        }


@pytest.mark.slow
async def test_speed_and_plan_are_as_asked_and_the_speed_stays(tmp_path: Path) -> None:
    async with started(options(tmp_path, speed=60, plan=Plan.ELITE)) as start:
        state = await start.go(lambda s: ready(s) and s.world)
        assert (state.world.speed, state.account.plan) == (60, Plan.ELITE)
    async with started(options(tmp_path)) as start:
        assert (await start.go(lambda s: s.world and not s.from_cache)).world.speed == 60
    async with started(options(tmp_path, speed=0)) as start:
        assert (await start.go(lambda s: s.world and not s.from_cache)).world.speed == 0


@pytest.mark.slow
async def test_a_read_only_desk_registers_and_then_orders_nothing(tmp_path: Path) -> None:
    async with started(options(tmp_path, read_only=True)) as start:
        state = await start.go()
        market = next(view for view in state.markets.values() if view.is_open)
        view = await start.desk.submit(buy(market)).wait()
        assert (view.state, view.outcome) == (
            TicketState.REFUSED,
            "this desk is read-only: no orders",
        )


@pytest.mark.slow
async def test_an_agent_that_the_world_does_not_know_is_registered_anew(tmp_path: Path) -> None:
    asked = options(tmp_path)
    async with started(asked):
        pass
    old = desk_keys(asked.data_dir)
    for file in asked.data_dir.glob(f"{DATABASE_FILE}*"):
        # Its log is there still where a reader closed after the writer.
        file.unlink()
    async with started(asked) as start:
        await start.go()
    new = desk_keys(asked.data_dir)
    assert new.operator == old.operator
    assert new.agent != old.agent


@pytest.mark.slow
async def test_in_a_removed_directory_no_order_is_done(tmp_path: Path) -> None:
    asked = options(tmp_path)
    async with started(asked) as start:
        await start.go(lambda s: ready(s) and s.world)
        market = next(view for view in start.state.markets.values() if view.is_open)
        shutil.rmtree(asked.data_dir)
        ticket = start.desk.submit(buy(market))
        await start.go(lambda _: ticket.view.state not in {TicketState.QUEUED, TicketState.SENT})
        assert ticket.view.state in {TicketState.FAILED, TicketState.REFUSED}
        assert "file was removed, nothing was traded" in ticket.view.outcome
    assert not asked.data_dir.exists()


async def traded(asked: Options) -> DeskState:
    async with started(asked) as start:
        await start.go(lambda s: ready(s) and s.world)
        market = next(view for view in start.state.markets.values() if view.is_open)
        start.desk.submit(buy(market))
        return await start.go(lambda s: s.positions and s.account.cash < 10_000 * ONE)


def forget_own_agent(asked: Options) -> None:
    """As a database was before it kept the agent's id."""
    with closing(connect(asked.data_dir / DATABASE_FILE)) as database:
        database.execute("DELETE FROM preferences WHERE key = 'own_agent'")
        database.commit()


def lose(api_keys: Path) -> None:
    api_keys.unlink()


def lose_the_agent(api_keys: Path) -> None:
    api_keys.write_text('{"operator": "op_made_by_somebody_else"}')


def spoil_the_key(api_keys: Path) -> None:
    api_keys.write_text(json.dumps(json.loads(api_keys.read_text()) | {"agent": "sk_live_wrong"}))


@pytest.mark.slow
@pytest.mark.parametrize("harm", [lose, lose_the_agent, spoil_the_key])
@pytest.mark.parametrize("before", [forget_own_agent, lambda _: None])
async def test_lost_keys_cost_the_key_and_not_the_account(
    tmp_path: Path, harm: Callable[[Path], None], before: Callable[[Options], None]
) -> None:
    asked = options(tmp_path)
    was = await traded(asked)
    old = desk_keys(asked.data_dir)
    before(asked)
    harm(asked.data_dir / DESK_FILE)
    async with started(asked) as start:
        now = await start.go(lambda s: ready(s) and s.positions)
        assert now.account.agent_id == was.account.agent_id
        assert now.account.cash == was.account.cash
        assert [one.shares for one in now.positions] == [one.shares for one in was.positions]
        assert [notice.text for notice in now.notices].count(RENEWED) == 1
    assert len(agents_of(tmp_path)) == 1
    new = desk_keys(asked.data_dir)
    assert (new.agent_id, new.agent == old.agent) == (old.agent_id, False)
    async with started(asked) as start:
        now = await start.go()
        assert RENEWED not in [notice.text for notice in now.notices]
    assert desk_keys(asked.data_dir) == new


@pytest.mark.slow
async def test_an_agent_of_somebody_else_is_never_taken_over(tmp_path: Path) -> None:
    asked = options(tmp_path)
    async with started(asked) as start:
        await start.go()
    with closing(connect(asked.data_dir / DATABASE_FILE)) as database:
        database.execute("UPDATE preferences SET value = 'nobody' WHERE key = 'own_agent'")
        database.execute("UPDATE journal SET body = replace(body, '\"desk\"', '\"other\"')")
        database.execute("DELETE FROM snapshots WHERE seq > 0")
        database.commit()
    (asked.data_dir / DESK_FILE).unlink()
    async with started(asked) as start:
        await start.go()
    assert len(agents_of(tmp_path)) == 2


@pytest.mark.slow
@pytest.mark.parametrize("lived", [True, False])
async def test_an_operator_key_that_is_none_is_told_as_such(tmp_path: Path, *, lived: bool) -> None:
    asked = options(tmp_path)
    asked.data_dir.mkdir(mode=0o700)
    if lived:
        async with started(asked) as start:
            await start.go()
    api_keys = json.loads((asked.data_dir / DESK_FILE).read_text()) if lived else {}
    (asked.data_dir / DESK_FILE).write_text(json.dumps(api_keys | {"operator": "x y"}))
    error = await why_closed(asked)
    assert f"invalid operator key in {asked.data_dir / DESK_FILE}" in error.sentence
    assert "x y" not in str(error)


# -- why a desk stays closed --------------------------------------------------------------------


async def why_closed(asked: Options) -> DeskClosedError:
    with pytest.raises(DeskClosedError) as caught:
        async with open_desk(asked, first_state(asked)):
            pass
    return caught.value


@pytest.mark.slow
@pytest.mark.process
async def test_a_second_process_is_told_who_holds_the_directory(tmp_path: Path) -> None:
    asked = options(tmp_path)
    code = (
        "import sys, os; from pathlib import Path;"
        "from service_tui.storage.db.lock import DataDirLock;"
        f"lock = DataDirLock.acquire(Path({str(asked.data_dir)!r}), pid=os.getpid(), now=0.0);"
        "print('held', flush=True); sys.stdin.read()"
    )
    other = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert await other.stdout.readline() == b"held\n"
    error = await why_closed(asked)
    assert f"process {other.pid}" in error.sentence
    assert "--data-dir" in error.fix
    other.kill()
    await other.communicate()
    # The lock of a dead process holds nobody up.
    async with open_desk(asked, first_state(asked)):
        pass


@pytest.mark.slow
async def test_a_damaged_database_is_kept_aside_and_the_way_back_is_told(tmp_path: Path) -> None:
    asked = options(tmp_path)
    async with started(asked) as start:
        backups = asked.data_dir / "backups"
        await start.go(lambda _: list(backups.glob("*.sqlite3")))
        await start.go()
    path = asked.data_dir / DATABASE_FILE
    backup = next((asked.data_dir / "backups").iterdir())
    damaged = path.read_bytes()[:5_000]
    path.write_bytes(damaged)
    error = await why_closed(asked)
    assert f"newest intact backup: {backup}" in error.sentence
    assert f"restore {backup} --data-dir {asked.data_dir}" in error.fix
    (kept,) = asked.data_dir.glob(f"{DATABASE_FILE}.corrupt-*Z")
    assert kept.read_bytes() == damaged
    path.write_bytes(backup.read_bytes())
    path.chmod(0o600)
    async with started(asked) as start:
        await start.go()
    assert len(agents_of(tmp_path)) == 1


@pytest.mark.slow
async def test_a_lost_log_is_told_at_one_start_and_the_next_goes_on(tmp_path: Path) -> None:
    asked = options(tmp_path)
    path = asked.data_dir / DATABASE_FILE
    async with started(asked) as start:
        await start.go(lambda s: ready(s) and (asked.data_dir / "backups").exists())
        in_use = path.read_bytes()
    path.write_bytes(in_use)
    error = await why_closed(asked)
    assert "the last orders and trades may be missing" in error.sentence
    assert "backups: " in error.sentence
    assert "start again" in error.fix
    async with started(asked) as start:
        await start.go()


DAMAGE = {
    "no snapshot": "DELETE FROM snapshots",
    "snapshots without sense": "UPDATE snapshots SET body = x'0011'",
    "a hole": "UPDATE journal SET seq = seq + 1 WHERE seq = (SELECT max(seq) FROM journal)",
    "a version of nobody": "PRAGMA user_version = -5",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DAMAGE)
async def test_rows_without_sense_are_kept_aside_and_the_way_back_is_told(
    tmp_path: Path, name: str
) -> None:
    asked = options(tmp_path)
    path = asked.data_dir / DATABASE_FILE
    async with started(asked) as start:
        await start.go(lambda s: ready(s) and list(asked.data_dir.glob("backups/*.sqlite3")))
    with closing(connect(path)) as database:
        database.execute(DAMAGE[name])
        database.commit()
    assert not findings(asked)[1]
    error = await why_closed(asked)
    (backup,) = asked.data_dir.glob("backups/desk-2*.sqlite3")
    assert f"newest intact backup: {backup}" in error.sentence
    assert f"restore {backup} --data-dir {asked.data_dir}" in error.fix
    assert str(await why_closed(asked)) == str(error)
    (kept,) = asked.data_dir.glob(f"{DATABASE_FILE}.corrupt-*Z")
    assert str(kept) in error.sentence
    path.write_bytes(backup.read_bytes())
    path.chmod(0o600)
    async with started(asked) as start:
        await start.go()
    assert len(agents_of(tmp_path)) == 1


@pytest.mark.slow
async def test_a_damaged_page_after_an_end_in_order_is_no_dead_end(tmp_path: Path) -> None:
    asked = options(tmp_path)
    path = asked.data_dir / DATABASE_FILE
    async with started(asked) as start:
        await start.go(lambda s: ready(s) and list(asked.data_dir.glob("backups/*.sqlite3")))
    with closing(connect(path)) as database:
        (root,) = database.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'snapshots'"
        ).fetchone()
    raw = bytearray(path.read_bytes())
    size = int.from_bytes(raw[16:18], "big")
    raw[(root - 1) * size : root * size] = b"\xff" * size
    path.write_bytes(raw)
    error = await why_closed(asked)
    (kept,) = asked.data_dir.glob(f"{DATABASE_FILE}.corrupt-*Z")
    assert str(kept) in error.sentence
    assert "newest intact backup" in error.sentence
    assert not path.exists()
    # It asks until somebody chooses, and begins nothing new by itself.
    assert str(await why_closed(asked)) == str(error)
    assert not findings(asked)[1]
    error.choices[0].act()
    async with started(asked) as start:
        await start.go()
    assert len(agents_of(tmp_path)) == 1


@pytest.mark.slow
async def test_an_order_whose_row_is_damaged_is_looked_up(tmp_path: Path) -> None:
    asked = options(tmp_path)
    async with started(asked) as start:
        await start.go(lambda s: ready(s) and s.world)
        market = next(view for view in start.state.markets.values() if view.is_open)
        start.desk.submit(buy(market))
        await start.go(lambda s: s.positions)
        await start.go(lambda s: s.tickets[0].state is TicketState.DONE)
    with closing(connect(asked.data_dir / DATABASE_FILE)) as database:
        database.execute("UPDATE tickets SET state = 'weird'")
        database.commit()
    async with started(asked) as start:
        (ticket,) = start.state.tickets
        assert ticket.state is TicketState.UNKNOWN
        assert "damaged" in ticket.outcome
        await start.go(lambda s: s.tickets[0].state is TicketState.DONE)


@pytest.mark.slow
async def test_a_newer_database_is_left_alone(tmp_path: Path) -> None:
    asked = options(tmp_path)
    async with started(asked):
        pass
    with closing(connect(asked.data_dir / DATABASE_FILE)) as database:
        database.execute("PRAGMA user_version = 99")
    error = await why_closed(asked)
    assert "newer program" in f"{error}"


async def test_broken_keys_keep_the_desk_shut_and_are_left_alone(tmp_path: Path) -> None:
    asked = options(tmp_path)
    asked.data_dir.mkdir()
    (asked.data_dir / DESK_FILE).write_text("{")
    error = await why_closed(asked)
    assert DESK_FILE in error.sentence
    assert (asked.data_dir / DESK_FILE).read_text() == "{"


async def test_a_folder_that_others_may_write_keeps_the_desk_shut(tmp_path: Path) -> None:
    asked = options(tmp_path)
    asked.data_dir.mkdir()
    asked.data_dir.chmod(0o777)
    assert "chmod go-w" in (await why_closed(asked)).sentence


@pytest.mark.slow
async def test_a_disk_that_fills_while_the_agent_registers_is_told_plainly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise StorageFullError("the disk is full, nothing was written")

    monkeypatch.setattr("service_tui.storage.journal.JournalStore.append", refuse)
    error = await why_closed(options(tmp_path))
    assert "503" in error.sentence or "disk" in error.sentence
    assert error.fix


async def test_a_disk_that_cannot_keep_the_key_is_told_plainly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = options(tmp_path)
    desk_keys(asked.data_dir)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("service_tui.credentials.api_keys.os.fsync", full)
    assert "No space left" in (await why_closed(asked)).sentence


@pytest.mark.slow
async def test_a_file_system_without_locks_still_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    async with started(options(tmp_path)) as start:
        await start.go()
    assert "without a lock" in caplog.text


# -- another service ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://host.example", "sk_live_long_enough"),
        ("https://", "sk_live_long_enough"),
        ("https://host.example", "two words"),
        ("https://host.example", "tiny7"),
    ],
)
async def test_an_address_or_a_key_that_is_none_keeps_the_desk_shut(
    tmp_path: Path, url: str, key: str
) -> None:
    error = await why_closed(options(tmp_path, url=url, api_key=key))
    assert error.fix == "correct the address or the key"
    assert key not in f"{error}"


async def refused_state(asked: Options) -> DeskState:
    """What the desk knows once the service has refused its key."""
    async with asyncio.timeout(60), live.remote_desk(asked, first_state(asked)) as desk:
        async for state in desk.changes():
            if state.service.phase is Phase.UNAUTHORIZED:
                return state
    raise AssertionError("the changes of a desk never end")


@pytest.mark.slow
async def test_another_service_gets_its_own_key_and_no_other(tmp_path: Path) -> None:
    key = "sk_live_for_the_other_one"
    async with scripted(said({"error": "unknown key"}, 401)) as service:
        asked = options(tmp_path, url=service.url, api_key=key)
        state = await refused_state(asked)
        assert "check the key" in state.service.problem
        assert not (asked.data_dir / DESK_FILE).exists()
        assert all(f"authorization: bearer {key}" in head.lower() for head in service.heads)
        assert not any("/api/desk/" in head for head in service.heads)


@pytest.mark.slow
async def test_without_a_key_only_the_missing_key_is_the_problem(tmp_path: Path) -> None:
    async with scripted(said({}, 500)) as service:
        asked = options(tmp_path, url=service.url)
        state = await refused_state(asked)
        assert "no key" in state.service.problem
        assert service.requests == []


@pytest.mark.parametrize("listen", [None, 0, 8_080])
async def test_a_desk_is_served_on_the_port_that_was_named_or_not_at_all(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, listen: int | None
) -> None:
    asked: list[Any] = []

    def serving(*given: object, after: object) -> AbstractAsyncContextManager[None]:
        del after
        asked.append(given)
        return nullcontext()

    def emit(_: object) -> None:
        """Nobody is told."""

    monkeypatch.setattr(live, "serving", serving)
    desk: Any = SimpleNamespace(ports=SimpleNamespace(emit=emit))
    sim: Any = "sim"
    data: Any = "data"
    async with live._served(options(tmp_path, listen=listen), sim, data, desk):
        # Port 0 is one too: any that is free.
        assert asked == ([] if listen is None else [("sim", "data", listen, emit)])
