"""Opening a desk: stored tickets, unreadable rows, and failing storage."""

from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from kit.desk.faults import asleep, at_work, buy, ended, ready, said, until
from kit.samples.desk import sample_state
from kit.service.stage import Stage, first_state, open_stage, open_test_desk
from service_tui.desk.blotter import intent_of, outcome_of, ticket_of
from service_tui.desk.cached_state import STATE_KEY, load_state
from service_tui.desk.commands.settings import SetPreference, SetStar
from service_tui.desk.opening import TICKETS_SHOWN
from service_tui.desk.reasons import Fix
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.storage.blotter import TAKEN_OVER, Blotter, Intent, StoredState, StoredTicket
from service_tui.storage.cache import CacheStore
from service_tui.storage.cached_state import read_cache, read_preferences
from service_tui.storage.errors import StorageFullError
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.endpoints.public import MARKETS


def frozen_at(stage: Stage) -> float | None:
    kept = read_cache(stage.database.path).get(STATE_KEY)
    return None if kept is None else kept[0]


# -- tickets ------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_tickets_come_back_newest_first_and_as_they_ended(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        async with open_test_desk(stage) as desk:
            await until(desk, ready, stage)
            for amount in (25 * ONE, 501 * ONE, 30 * ONE):
                await ended(desk, desk.submit(buy(stage.open_markets()[0], amount)), stage)
                await stage.clock.advance(1)
            known = desk.state.tickets
        async with open_test_desk(stage) as desk:
            assert desk.state.tickets == known
            assert [ticket.state.value for ticket in known] == ["done", "refused", "done"]
            assert known[1].fix == Fix.LOWER_AMOUNT


@pytest.mark.slow
async def test_commands_of_the_other_consoles_of_a_directory_are_listed(tmp_path: Path) -> None:
    async with open_stage(tmp_path / "a", speed=0) as one, open_stage(tmp_path / "b") as other:
        blotter = Blotter(other.database)
        for name in ("done", "moved", "open"):
            await blotter.open_ticket(
                Intent(ticket_id=name, at=1.0, kind="trade", subject="m", body="{}")
            )
        await blotter.settle("done", StoredState.DONE, '{"outcome": "bought 3"}', now=2.0)
        await blotter.settle("moved", StoredState.FAILED, TAKEN_OVER, now=2.0)
        async with open_test_desk(one, blotters=(other.database.path,)) as desk:
            (ticket,) = desk.state.tickets
            assert (ticket.ticket_id, ticket.outcome) == ("done", "bought 3")


@pytest.mark.slow
async def test_of_many_tickets_the_newest_come_back_and_every_open_one(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        blotter = Blotter(stage.database)
        for number in range(TICKETS_SHOWN + 30):
            await blotter.open_ticket(
                Intent(
                    ticket_id=f"k{number}",
                    at=float(number),
                    kind="trade",
                    subject="m",
                    body="{}",
                    client_ref=f"ref{number}",
                )
            )
            if number != 3:
                await blotter.settle(f"k{number}", StoredState.DONE, None, now=float(number))
        async with open_test_desk(stage) as desk:
            tickets = desk.state.tickets
            assert len(tickets) == TICKETS_SHOWN + 1
            assert [ticket.opened_at for ticket in tickets] == sorted(
                (ticket.opened_at for ticket in tickets), reverse=True
            )
            assert (tickets[-1].ticket_id, tickets[-1].state) == ("k3", TicketState.UNKNOWN)
            assert "earlier run" in tickets[-1].outcome


@pytest.mark.parametrize("state", TicketState)
def test_a_ticket_is_the_same_after_its_row(state: TicketState) -> None:
    view = TicketView(
        ticket_id="k",
        kind="trade",
        market_id="m",
        what="buy YES for 25.00",
        state=state,
        opened_at=Timestamp(1.0),
        sent_at=Timestamp(2.0),
        settled_at=Timestamp(3.0) if state.value in {"done", "refused", "failed"} else None,
        outcome="so it ended",
        fix="do that",
        client_ref="ref",
        amount=Micros(25 * ONE),
    )
    row = stored(view)
    open_end = state in {TicketState.QUEUED, TicketState.SENT}
    assert ticket_of(row) == (
        replace(view, state=TicketState.UNKNOWN, outcome="left open by an earlier run")
        if open_end
        else view
    )


def stored(view: TicketView) -> StoredTicket:
    return StoredTicket(
        **asdict(intent_of(view, "{}")),
        state=StoredState(view.state.value),
        sent_at=None,
        settled_at=view.settled_at,
        outcome=outcome_of(view),
    )


@pytest.mark.parametrize("text", [None, "", "null", "[1]", "7", '"x"', "{", '{"sent_at": "soon"}'])
def test_a_row_that_says_nothing_readable_is_a_ticket_all_the_same(text: str | None) -> None:
    view = TicketView("k", "trade", "m", "buy", TicketState.DONE, Timestamp(1.0))
    row = replace(stored(view), body=text or "", outcome=text)
    assert ticket_of(row).ticket_id == "k"
    assert ticket_of(row).what == "trade"
    assert ticket_of(row).sent_at is None


# -- memory -------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_the_state_is_kept_now_and_then_and_at_the_end(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        async with open_test_desk(stage) as desk:
            await until(desk, ready, stage)
            assert frozen_at(stage) is None
            await until(desk, lambda _: frozen_at(stage), stage)
            first = frozen_at(stage)
            await until(desk, lambda _: frozen_at(stage) > first, stage)
            await stage.clock.advance(1)
            now = stage.clock.now()
        assert frozen_at(stage) == now
        _, text = read_cache(stage.database.path)[STATE_KEY]
        back = load_state(text, first_state())
        assert back.account == desk.state.account
        assert back.equity == desk.state.equity
        assert set(back.markets) <= set(desk.state.markets)


@pytest.mark.slow
async def test_stars_preferences_and_the_curve_survive(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        async with open_test_desk(stage) as desk:
            await until(desk, lambda s: ready(s) and len(s.equity) > 1, stage)
            desk.submit(SetStar("m-1", on=True))
            await desk.submit(SetPreference("theme", "paper")).wait()
            curve = desk.state.equity
        _, text = read_cache(stage.database.path)[STATE_KEY]
        assert read_preferences(stage.database.path) == {"stars": "m-1", "theme": "paper"}
        async with open_test_desk(stage, load_state(text, first_state())) as desk:
            assert desk.state.from_cache
            await until(desk, lambda s: len(s.equity) > len(curve), stage)
            assert desk.state.equity[: len(curve)] == curve
            assert desk.state.stars == {"m-1"}


@pytest.mark.slow
async def test_a_copy_of_everything_is_made_once_a_day(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        backups = tmp_path / "backups"
        await until(desk, lambda _: backups.exists() and list(backups.glob("*.sqlite3")), stage)
        await stage.clock.advance(25)
        assert len(list(backups.iterdir())) == 1
        await asleep(stage.clock, 86_400)
        await until(desk, lambda _: len(list(backups.glob("*.sqlite3"))) == 2, stage)


@pytest.mark.slow
async def test_a_memory_that_fails_is_told_to_the_log_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def refuse(*_: object) -> None:
        raise StorageFullError("the disk is full")

    monkeypatch.setattr(CacheStore, "put", refuse)
    monkeypatch.setattr("service_tui.storage.db.database.Database.back_up", refuse)
    async with at_work(tmp_path) as (desk, stage, _):
        await stage.clock.advance(12)
        await until(desk, ready, stage)
    assert "the state was not cached: the disk is full" in caplog.text
    assert "the daily copy was not made: the disk is full" in caplog.text


@pytest.mark.slow
async def test_a_desk_opens_on_any_state_that_was_known(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        known = replace(sample_state(), from_cache=True, seen={}, notices=())
        async with open_test_desk(stage, known) as desk:
            await until(desk, lambda s: not s.from_cache, stage)
            assert set(desk.state.markets) == set(stage.world.markets)
            assert desk.state.positions == ()
            await until(desk, lambda s: s.account.cash == 10_000 * ONE, stage)
            assert desk.state.tickets == ()


@pytest.mark.slow
async def test_a_database_that_cannot_be_read_keeps_the_desk_shut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise StorageFullError("the disk is full")

    monkeypatch.setattr(Blotter, "recent", refuse)
    async with open_stage(tmp_path, speed=0) as stage:
        opened = False
        with suppress(StorageFullError):
            async with open_test_desk(stage):
                opened = True
        assert not opened


@pytest.mark.slow
async def test_a_key_that_the_service_repeats_is_neither_shown_nor_kept(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        hidden = "".join(f"\\u{ord(letter):04x}" for letter in stage.key)
        market = f'{{"id": "m", "question": "{hidden}", "current_probability": 0.5}}'
        broken = f"{stage.key[:9]}\u200b{stage.key[9:]}"
        answer = f'{{"markets": [{market}], "agent_id": "{broken}"}}'
        line.fault = lambda request: (
            said(answer.encode()) if request.url.path == MARKETS.path else None
        )
        state = await until(desk, lambda s: list(s.markets) == ["m"], stage)
        assert state.markets["m"].question == "[key]"
        shown_at = stage.clock.now()
        # The disk has threads of its own: time alone does not bring a state to it.
        await until(desk, lambda _: (frozen_at(stage) or 0) > shown_at, stage)
    assert holding(tmp_path, stage.key) == []


def holding(folder: Path, word: str) -> list[Path]:
    """The files that hold a word."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return [path for path in files if word.encode() in path.read_bytes()]
