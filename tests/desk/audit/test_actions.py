"""What stands in the action log: intents, yeses, refusals and results, each once, by whom."""

import json
from dataclasses import replace
from pathlib import Path

from kit.samples.desk import NOW, sample_state
from service_tui.clock import ManualClock
from service_tui.desk.audit.actions import Actions
from service_tui.desk.changes import Changed, changed
from service_tui.desk.commands.agents import NoteConfirmed, ReadLog
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.facts import Fact, FillsReceived
from service_tui.desk.feed.event_stream import actions_of
from service_tui.desk.reduce import reduce
from service_tui.desk.slices.log import LogEvent, LogView
from service_tui.desk.slices.tickets import TicketState
from service_tui.storage.action_log import FILE
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros
from service_tui.wire.events import EventBody

STATE = sample_state()
ORDER = PlaceTrade(
    market_id="m-1", side=Side.YES, action=Action.BUY, venue=Venue.SIM, amount=Micros(5 * ONE)
)  # fmt: skip


def opened(path: Path) -> tuple[Actions, list[Fact]]:
    said: list[Fact] = []
    return Actions(path, ManualClock(NOW), said.append), said


def entries(path: Path) -> list[dict[str, object]]:
    lines = (path / FILE).read_text().splitlines()
    return [json.loads(line)["entry"] for line in lines]


async def test_an_order_is_written_from_the_wish_to_its_end(tmp_path: Path) -> None:
    actions, _ = opened(tmp_path)
    actions.on_command(NoteConfirmed("Sell everything?"))
    actions.on_command(ORDER)
    actions.on_command(SetPreference("theme", "night"))
    actions.on_command(ReadLog())
    ticket = replace(STATE.tickets[0], ticket_id="t-9", state=TicketState.SENT)
    state = replace(STATE, tickets=(ticket,))
    for ending in (TicketState.UNKNOWN, TicketState.UNKNOWN, TicketState.REFUSED):
        fact = Changed(replace(ticket, state=ending, outcome=ending.value))
        actions.on_fact(state, fact)
        state = reduce(state, fact)
    await actions.write()
    assert [(one["who"], one["what"]) for one in entries(tmp_path)] == [
        ("person", "confirmed"), ("person", "intent"), ("person", "unknown"), ("person", "refusal"),
    ]  # fmt: skip


async def test_an_entry_tells_real_money_from_play_money(tmp_path: Path) -> None:
    actions, _ = opened(tmp_path)
    actions.on_command(ORDER)
    actions.on_command(replace(ORDER, venue=Venue.EVM))
    actions.on_command(
        replace(
            ORDER, venue=Venue.SOL, action=Action.SELL, amount=Micros(0), shares=Micros(4 * ONE)
        )
    )
    fill = STATE.fills[0]
    bought = replace(
        fill, seq=9_000_000, side=Side.YES, action=Action.BUY, market_id="m-1", price=0.25
    )
    bought = replace(bought, money=Micros(2 * ONE))
    actions.on_fact(STATE, FillsReceived((bought,)))
    actions.on_fact(STATE, FillsReceived((replace(bought, venue=Venue.EVM),)))
    await actions.write()
    assert [one["words"] for one in entries(tmp_path)] == [
        "buy YES for 5.00",
        "LIVE buy YES for 5.00 USDC.e on evm_venue",
        "LIVE sell 4.00 YES on sol_venue",
        "bought 51.20 YES at 0.2500 for 2.00: m-1",
        "LIVE bought 51.20 YES at 0.2500 for 2.00 USDC.e on evm_venue: m-1",
    ]


async def test_nothing_is_shown_before_somebody_looks_and_then_all_that_comes(
    tmp_path: Path,
) -> None:
    actions, said = opened(tmp_path)
    actions.on_command(ORDER)
    await actions.write()
    assert said == []
    await actions.read()
    actions.on_command(ORDER)
    await actions.write()
    logs = [log for fact in said if (log := changed(fact, LogView)) is not None]
    assert [(log.count, log.verified, log.problem) for log in logs] == [(1, 1, ""), (2, 1, "")]
    assert [entry.number for entry in logs[1].entries] == [2, 1]
    assert logs[1].entries[0].what == "intent"
    assert reduce(STATE, said[-1]).log == logs[1]


async def test_a_broken_chain_is_told_with_how_far_it_held(tmp_path: Path) -> None:
    actions, said = opened(tmp_path)
    for _ in range(3):
        actions.on_command(ORDER)
        await actions.write()
    path = tmp_path / FILE
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], lines[2]]))
    await actions.read()
    log = said[-1].row
    assert log.verified == 1
    assert log.problem == "line 2 does not follow from the one before it"
    assert len(log.entries) == 2


async def test_no_log_yet_is_no_fault(tmp_path: Path) -> None:
    actions, said = opened(tmp_path)
    await actions.read()
    assert (said[-1].row.count, said[-1].row.problem) == (0, "")


def test_events_of_agents_become_lines_of_the_log() -> None:
    at = "2026-11-21T10:00:00Z"
    agent = {
        "agent_id": "a", "name": "tide", "status": "active", "plan": "pro", "claimed": True,
        "trading_paused": True, "suspended": False, "changed": ["trading_paused"],
    }  # fmt: skip
    order = {
        "order_id": "o", "agent_id": "a", "agent_name": "tide", "market_id": "m", "question": "q",
        "state": "expired", "shares": 3.0, "money": 1.0,
    }  # fmt: skip
    changed = {"kind": "agent_changed", "seq": 4, "at": at, "agent": agent}
    ended = {"kind": "order", "seq": 5, "at": at, "order": order}
    (one,) = actions_of(EventBody.model_validate_json(json.dumps(changed)))
    assert (one.actor, one.event, one.text) == (
        "tide",
        LogEvent.AGENT,
        "tide changed: active, pro, buys paused",
    )
    (two,) = actions_of(EventBody.model_validate_json(json.dumps(ended)))
    assert (two.actor, two.event, two.text) == ("tide", LogEvent.ORDER, "expired: 3.00 shares of m")
    paid = {**ended, "order": {**order, "state": "claimed", "question": "Rain?"}}
    (three,) = actions_of(EventBody.model_validate_json(json.dumps(paid)))
    assert (three.event, three.text) == (LogEvent.RESULT, "redeemed the position in Rain?")
