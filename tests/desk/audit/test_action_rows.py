"""The rows of the action log: what each command and fact writes down, in full."""

import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import pending_trade_of, run_of
from service_tui.clock import ManualClock
from service_tui.desk.audit import actions as module
from service_tui.desk.audit.actions import WAITING_MAX, Actions
from service_tui.desk.changes import Changed
from service_tui.desk.commands.agents import NoteConfirmed, ReadDay
from service_tui.desk.commands.halt import Halt
from service_tui.desk.commands.risk import RemovePriceAlert, SetPriceAlert
from service_tui.desk.commands.settings import SetStar
from service_tui.desk.facts import Acted, Fact, FillsReceived, Noticed
from service_tui.desk.slices.log import ActionView, LogEvent, LogView
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.supervision import PendingTradesSeen, SkillRunState
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.state import DeskState
from service_tui.storage.action_log import FILE
from service_tui.terms import Action, AlertCondition, PendingStatus, Side
from service_tui.units import ONE, Micros, Timestamp

STATE = replace(sample_state(), fills=())
MARKET = next(iter(STATE.markets.values()))
TICKET = replace(
    STATE.tickets[0], ticket_id="t-9", kind="trade", what="buy YES for 5.00",
    state=TicketState.SENT, outcome="",
)  # fmt: skip


class Log:
    """An action log in a directory of its own."""

    def __init__(self, folder: Path, *, beside: bool = False) -> None:
        self.path = folder / FILE
        self.facts: list[Fact] = []
        self.clock = ManualClock(NOW)
        self.actions = Actions(folder, self.clock, self.facts.append, beside=beside)

    async def rows(self) -> list[dict[str, Any]]:
        await self.actions.write()
        if not self.path.exists():
            return []
        return [json.loads(line)["entry"] for line in self.path.read_text().splitlines()]

    @property
    def views(self) -> list[LogView]:
        rows = [fact.row for fact in self.facts if isinstance(fact, Changed)]
        return [row for row in rows if isinstance(row, LogView)]


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path)


def row(who: str, what: str, kind: str, words: str, **more: str) -> dict[str, Any]:
    return {"at": NOW, "who": who, "what": what, "kind": kind, "words": words, **more}


async def test_a_command_is_written_with_its_market_where_it_names_one(log: Log) -> None:
    alert = SetPriceAlert("m-1", Side.YES, AlertCondition.ABOVE, 0.6, "Rain?")
    bare = replace(alert, question="")
    for command in (alert, bare, Halt(), RemovePriceAlert("p1"), NoteConfirmed("Sell it?")):
        log.actions.on_command(command)
    log.actions.on_command(SetStar("m-1", on=True))
    log.actions.on_command(ReadDay())
    assert await log.rows() == [
        row("person", "intent", "price alert", alert.describe(), market="m-1", question="Rain?"),
        row("person", "intent", "price alert", bare.describe()),
        row("person", "intent", "halt", Halt().describe()),
        row("person", "intent", "price alert", "remove a price alert"),
        row("person", "confirmed", NoteConfirmed.kind, "Sell it?"),
    ]


@pytest.mark.parametrize(
    ("state", "what"),
    [
        (TicketState.DONE, "result"),
        (TicketState.REFUSED, "refusal"),
        (TicketState.FAILED, "refusal"),
        (TicketState.UNKNOWN, "unknown"),
        (TicketState.QUEUED, ""),
        (TicketState.SENT, ""),
    ],
)
async def test_an_end_is_written_with_the_order(log: Log, state: TicketState, what: str) -> None:
    before = replace(STATE, tickets=(STATE.tickets[1], TICKET))
    log.actions.on_fact(before, Changed(replace(TICKET, state=state, outcome="so")))
    text = f"buy YES for 5.00: {state.value}: so"
    assert await log.rows() == ([row("person", what, "trade", text)] if what else [])


async def test_an_end_is_written_once_unless_its_outcome_changed(log: Log) -> None:
    done = replace(TICKET, state=TicketState.DONE, outcome="bought 12")
    known = replace(STATE, tickets=(done,))
    log.actions.on_fact(known, Changed(done))
    assert await log.rows() == []
    log.actions.on_fact(known, Changed(replace(done, outcome="bought 13")))
    log.actions.on_fact(replace(STATE, tickets=()), Changed(done))
    assert [one["words"][-2:] for one in await log.rows()] == ["13", "12"]


@pytest.mark.parametrize(
    ("tone", "what"),
    [("bad", "refusal"), ("warn", "refusal"), ("good", "result"), ("info", "result")],
)
async def test_a_notice_is_an_answer(log: Log, tone: str, what: str) -> None:
    fact = Noticed(tone, "no leash", NoticeKind.HALT, fix="give one")
    log.actions.on_fact(STATE, fact)
    [found] = await log.rows()
    assert (found["who"], found["what"], found["kind"]) == ("desk", what, "halt")
    assert found["words"].startswith("no leash")
    assert found["words"].endswith("give one")


@pytest.mark.parametrize(
    ("outcome", "text", "place", "is_written"),
    [
        ("bought 12", "buy YES for 5.00: bought 12", 0, False),
        ("bought 12", "buy YES for 5.00: bought 12 shares", 0, False),
        ("bought 12", "buy YES for 5.00: bought 12", 19, False),
        ("bought 12", "buy YES for 5.00: bought 12", 20, True),
        ("bought 12", "buy YES for 5.00: bought 1", 0, True),
        ("", "buy YES for 5.00: ", 0, True),
    ],
)
async def test_a_notice_that_repeats_an_end_is_none(
    log: Log, outcome: str, text: str, place: int, *, is_written: bool
) -> None:
    done = replace(TICKET, state=TicketState.DONE, outcome=outcome)
    others = (replace(TICKET, what="other", outcome="x"),) * place
    state = replace(STATE, tickets=(*others, done))
    log.actions.on_fact(state, Noticed("good", text))
    assert bool(await log.rows()) is is_written


def trade(seq: int, **other: Any) -> Any:
    fill = sample_state().fills[1]
    given = {"market_id": MARKET.market_id, "money": Micros(5 * ONE), "price": 0.41, **other}
    return replace(fill, seq=seq, **given)


DEEDS = {Action.BUY: "bought", Action.SELL: "sold"}


@pytest.mark.parametrize(
    ("skill", "source", "kind"), [("gauge", "sdk:x", "gauge"), ("", "sdk:x", "sdk:x")]
)
async def test_a_trade_bears_its_agent_and_skill(
    log: Log, skill: str, source: str, kind: str
) -> None:
    fill = trade(901, skill=skill, source=source)
    known = replace(STATE, fills=(trade(900),))
    log.actions.on_fact(known, FillsReceived((trade(900), fill)))
    shares = f"{fill.shares / ONE:,.2f} {fill.side.value.upper()}"
    words = f"{DEEDS[fill.action]} {shares} at 0.4100 for 5.00: {MARKET.market_id}"
    more = {"market": MARKET.market_id, "question": MARKET.question}
    assert await log.rows() == [row(fill.agent_name, "trade", kind, words, **more)]


def asking(*held_ids: str) -> DeskState:
    held = tuple(pending_trade_of(one) for one in held_ids)
    return replace(STATE, supervision=replace(STATE.supervision, pending_trades=held))


async def test_a_request_and_its_decision_are_written_once(log: Log) -> None:
    one, other = pending_trade_of("h1", reasoning="it rains"), pending_trade_of("h2")
    log.actions.on_fact(asking("h2"), PendingTradesSeen((one, other), ()))
    refused = pending_trade_of("h1", status=PendingStatus.REFUSED, reason="too thin")
    twice = pending_trade_of("h2", status=PendingStatus.REFUSED, reason="refused by you")
    log.actions.on_fact(
        asking("h1", "h2"), PendingTradesSeen((), (refused, twice, pending_trade_of("h3")))
    )
    slug = "mean-reversion"
    over = pending_trade_of("h5", status=PendingStatus.EXPIRED, reason="the market ended")
    expired = pending_trade_of("h4", status=PendingStatus.EXPIRED, reason="approval timed out")
    log.actions.on_fact(asking("h4", "h5"), PendingTradesSeen((), (expired, over)))
    assert await log.rows() == [
        row("heron", "asks", slug, "it rains"),
        row("heron", "decision", slug, "request refused: too thin"),
        row("heron", "decision", slug, "request refused by you"),
        row("heron", "decision", slug, "request expired"),
        row("heron", "decision", slug, "request lapsed: the market ended"),
    ]


async def test_a_run_is_written_by_its_state_and_its_report(log: Log) -> None:
    run = run_of("r1", report="3 looked at", why="")
    state = replace(
        STATE, supervision=replace(STATE.supervision, runs=(run_of("r0", report="x"), run))
    )
    log.actions.on_fact(state, Changed(run))
    assert await log.rows() == []
    crashed = replace(run, state=SkillRunState.CRASHED, why="exit code 3")
    log.actions.on_fact(state, Changed(crashed))
    log.actions.on_fact(state, Changed(replace(run, report="4 looked at")))
    log.actions.on_fact(state, Changed(replace(run, report="")))
    log.actions.on_fact(STATE, Changed(replace(run, run_id="r9")))
    slug = run.skill_slug
    assert await log.rows() == [
        row("heron", "run", slug, "crashed exit code 3"),
        row("heron", "result", slug, "4 looked at"),
        row("heron", "run", slug, "running"),
        row("heron", "result", slug, "3 looked at"),
    ]


async def test_beside_another_console_what_agents_do_is_its_matter(tmp_path: Path) -> None:
    log = Log(tmp_path, beside=True)
    log.actions.on_fact(STATE, FillsReceived((trade(901),)))
    log.actions.on_fact(STATE, PendingTradesSeen((pending_trade_of("h1"),), ()))
    # A shell order sees each skill that runs in the console beside it.
    log.actions.on_fact(STATE, Changed(run_of("r1")))
    known = replace(STATE, supervision=replace(STATE.supervision, runs=(run_of("r1"),)))
    log.actions.on_fact(known, Changed(run_of("r1", state=SkillRunState.RESTING)))
    log.actions.on_fact(STATE, Acted("tide", LogEvent.RISK, "alert", f"({MARKET.market_id})"))
    more = {"market": MARKET.market_id, "question": MARKET.question}
    assert await log.rows() == [row("tide", "risk", "alert", f"({MARKET.market_id})", **more)]


async def test_a_long_or_broken_text_is_cut_and_mended(log: Log) -> None:
    log.actions.on_fact(STATE, Acted("a", LogEvent.RISK, "k", "x" * 4_001))
    log.actions.on_fact(STATE, Acted("a", LogEvent.RISK, "k", "a\ud800b"))
    assert [one["words"] for one in await log.rows()] == ["x" * 4_000, "a?b"]


async def test_what_a_disk_refuses_waits_and_what_is_too_much_is_counted(
    log: Log, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "WAITING_MAX", 2)
    assert WAITING_MAX > 1_000

    def refuse(_: Any, __: Any) -> None:
        raise OSError("disk full")

    for count in range(4):
        log.actions.on_fact(STATE, Acted("a", LogEvent.RISK, "k", f"{count}"))
    with monkeypatch.context() as broken, caplog.at_level(logging.WARNING):
        broken.setattr(module.ActionLog, "append", refuse)
        assert await log.rows() == []
        assert await log.rows() == []
    assert "disk full" in caplog.text
    found = await log.rows()
    assert [one.get("words", one.get("count")) for one in found] == ["0", "1", 2]
    assert found[2] == {"what": LogEvent.LOST.value, "count": 2}
    # The count begins anew.
    log.actions.on_fact(STATE, Acted("a", LogEvent.RISK, "k", "5"))
    assert len(await log.rows()) == 4


async def test_the_log_is_shown_once_it_was_opened_and_then_as_it_grows(log: Log) -> None:
    log.actions.on_fact(STATE, Acted("a", LogEvent.RISK, "k", "first"))
    assert len(await log.rows()) == 1
    assert log.views == []
    await log.actions.read()
    for text in ("second", "third"):
        log.actions.on_fact(STATE, Acted("b", LogEvent.RUN, "k", text))
    await log.actions.write()
    opened, grown = log.views
    assert [one.words for one in opened.entries] == ["first"]
    assert (opened.count, opened.verified, opened.problem) == (1, 1, "")
    assert opened.checked_at == NOW
    assert opened.last_hash == opened.entries[0].hash
    assert [one.words for one in grown.entries] == ["third", "second", "first"]
    assert (grown.count, grown.verified, grown.last_hash) == (3, 1, opened.last_hash)
    assert [one.number for one in grown.entries] == [3, 2, 1]
    first = opened.entries[0]
    assert first == ActionView(
        1, first.hash, Timestamp(NOW), "a", LogEvent.RISK.value, "k", "first", "", ""
    )


async def test_the_newest_entries_are_shown(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SHOWN_MAX", 3)
    for text in ("1", "2", "3", "4"):
        log.actions.on_fact(STATE, Acted("a", LogEvent.RISK, "k", text))
    await log.actions.read()
    log.actions.on_fact(STATE, Acted("a", LogEvent.RISK, "k", "5"))
    await log.actions.write()
    assert [[one.words for one in view.entries] for view in log.views] == [
        ["4", "3", "2"],
        ["5", "4", "3"],
    ]
    assert [view.count for view in log.views] == [4, 5]


async def test_a_log_that_is_not_there_or_cannot_be_read(log: Log) -> None:
    await log.actions.read()
    log.path.mkdir()
    await log.actions.read()
    none, broken = log.views
    assert (none.count, none.verified, none.last_hash, none.problem) == (0, 0, "", "")
    assert (broken.count, broken.verified, broken.entries) == (0, 0, ())
    assert broken.problem.startswith("unreadable: ")


def test_an_entry_of_an_older_program_shows_what_it_has(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.actions.on_fact(STATE, Acted("a", LogEvent.RISK, "k", "x"))
    lines = log.actions._log.append([{"what": LogEvent.LOST.value, "count": 7}, {"at": "noon"}])
    lost, odd = (module._view(line) for line in lines)
    assert lost.words == "7 entries not written: the disk refused them"
    assert (lost.at, lost.who, lost.what) == (0.0, "", LogEvent.LOST.value)
    assert (odd.at, odd.words) == (0.0, "")
    (said,) = log.actions._log.append([{"words": "as it was", "count": 7, "market": "m-1"}])
    assert (module._view(said).words, module._view(said).market) == ("as it was", "m-1")
