"""The action log on `@` names questions, and tells an order in one line where its end says it."""

from dataclasses import replace
from pathlib import Path

from kit.samples.desk import NOW, sample_state
from service_tui.clock import ManualClock
from service_tui.console.screens.log.table import words
from service_tui.desk.audit.actions import Actions
from service_tui.desk.audit.why import why_ticket
from service_tui.desk.chain.run_tickets import run_tickets
from service_tui.desk.changes import Changed, changed
from service_tui.desk.facts import Fact, FillsReceived, Noticed
from service_tui.desk.reduce import reduce
from service_tui.desk.slices.log import ActionView, LogEvent, LogView, without_reported_orders
from service_tui.desk.slices.redemption import ChainRunState, RunView, Step, StepView
from service_tui.desk.slices.tickets import TicketState
from service_tui.storage.action_log import FILE
from service_tui.terms import Side, Venue
from service_tui.units import ONE, Micros, Timestamp

STATE = sample_state()
MARKET = next(iter(STATE.markets.values()))


def entry(number: int, what: LogEvent, words: str, who: str = "person") -> ActionView:
    return ActionView(number, "0" * 64, Timestamp(NOW + number), who, what.value, "trade", words)


async def test_an_order_its_fill_and_its_end_name_the_question(tmp_path: Path) -> None:
    facts: list[Fact] = []
    actions = Actions(tmp_path, ManualClock(), facts.append)
    ticket = replace(
        STATE.tickets[0], market_id=MARKET.market_id, what="buy YES for 5.00",
        state=TicketState.SENT, outcome="",
    )  # fmt: skip
    done = replace(ticket, state=TicketState.DONE, outcome="bought 12.00 shares")
    state = replace(STATE, tickets=(ticket,))
    fill = replace(STATE.fills[0], seq=901, market_id=MARKET.market_id)
    for fact in (
        FillsReceived((fill,)),
        Changed(done),
        # Said to the person as well: the log has it already.
        Noticed("good", "buy YES for 5.00: bought 12.00 shares"),
    ):
        actions.on_fact(state, fact)
        state = reduce(state, fact)
    await actions.read()
    (seen,) = (log for fact in facts if (log := changed(fact, LogView)) is not None)
    entries = seen.entries
    assert [one.what for one in entries] == ["result", "trade"]
    told = words(entries[1], replace(STATE, markets={}))
    assert MARKET.question in told
    assert MARKET.market_id not in told
    # The file keeps the id as well.
    lines = (tmp_path / FILE).read_text(encoding="utf-8")
    assert MARKET.market_id in lines


def test_an_older_entry_names_the_question_where_the_market_is_known() -> None:
    old = entry(1, LogEvent.TRADE, f"buy yes {MARKET.market_id} for 5.00 at 0.4100")
    assert words(old, STATE) == f"buy yes {MARKET.question} for 5.00 at 0.4100"
    assert MARKET.market_id in words(old, replace(STATE, markets={}))


def test_an_order_is_one_line_where_its_end_says_what_was_ordered() -> None:
    first = entry(1, LogEvent.INTENT, "buy YES for 5.00")
    second = entry(2, LogEvent.INTENT, "buy YES for 5.00")
    end = entry(3, LogEvent.RESULT, "buy YES for 5.00: done: bought 12.00 shares")
    other = entry(4, LogEvent.INTENT, "sell 3.00 YES")
    assert without_reported_orders((other, end, second, first)) == (other, end, first)
    assert without_reported_orders((other, first)) == (other, first)


def test_a_redemption_is_explained_as_one() -> None:
    run = RunView(
        MARKET.market_id, Side.YES, Venue.EVM, MARKET.question, ChainRunState.DONE,
        steps=(
            StepView(Step.REQUESTED, Timestamp(NOW - 30)),
            StepView(Step.BROADCAST, Timestamp(NOW - 20)),
        ),
        tx_hash="0xabc", amount=Micros(12 * ONE), words="12.00 came",
        opened_at=Timestamp(NOW - 31), settled_at=Timestamp(NOW - 5),
    )  # fmt: skip
    state = replace(STATE, redemption=replace(STATE.redemption, runs=(run,)))
    (ticket,) = run_tickets((run,))
    chain = why_ticket(state, ticket)
    assert chain.title == f"redeem YES {MARKET.question}"
    assert [one.name for one in chain.links] == [
        "position", "outcome", "ordered", "asked", "broadcast", "payout",
    ]  # fmt: skip
    figures = {one.label: one.value for link in chain.links for one in link.values}
    assert (figures["pays"], figures["transaction"], figures["by"]) == (12 * ONE, "0xabc", "you")
    assert not any(link.name in {"signal", "quote", "fill"} for link in chain.links)
