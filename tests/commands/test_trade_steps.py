"""An order of the command line: what is known first, what is asked, what is sent."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

from service_tui.app.options import Options
from service_tui.commands import trade as command
from service_tui.commands.halt import HaltReport
from service_tui.commands.trade import OrderError, OrderRequest
from service_tui.console.fields import FieldError
from service_tui.desk.commands.trading import RequestQuote
from service_tui.desk.commands.wallet import SetLive
from service_tui.desk.slices.topics import Topic
from service_tui.terms import Action, Side, Venue
from service_tui.units import Micros, Timestamp

REQUEST: Final = OrderRequest(Action.BUY, "rain", Side.NO, "25")
LIVE: Final = replace(REQUEST, venue=Venue.EVM)
NOW: Final = Timestamp(1_800_000_000.0)
CLOCK: Any = SimpleNamespace(now=lambda: NOW)


@dataclass
class Order:
    """An order as far as these steps look at it."""

    market_id: str = "m1"
    confirmed: bool = False


class Desk:
    """A desk that knows some topics."""

    def __init__(self, *known: Topic) -> None:
        market = SimpleNamespace(tick=Micros(10_000))
        self.state = SimpleNamespace(
            seen=set(known), markets={"m1": market}, wallet=SimpleNamespace(live=True), quote=None
        )
        self.submitted: list[Any] = []
        self.waits: list[float] = []

    def submit(self, given: Any) -> None:
        self.submitted.append(given)


SIM: Final = (Topic.MARKETS, Topic.ACCOUNT, Topic.POSITIONS)
ALL: Final = (*SIM, Topic.WALLET, Topic.REDEMPTIONS)


@pytest.fixture(autouse=True)
def _waits(monkeypatch: pytest.MonkeyPatch) -> None:
    async def until(desk: Any, holds: Callable[[Any], bool], seconds: float) -> bool:
        desk.waits.append(seconds)
        return holds(desk.state)

    monkeypatch.setattr(command, "until", until)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Each later step of an order, answered by its name."""
    calls: list[Any] = []

    async def market(_: Any, text: str, choose: Any) -> str:
        calls.append(("market", text, choose))
        return "the market"

    async def quoted(_: Any, order: Any) -> str:
        calls.append(("quoted", order))
        return "the quote"

    def noted(name: str, answer: Any) -> Any:
        def step(*words: Any, **named: Any) -> Any:
            # The first word of two of them is the state.
            shown = words[1:] if name in {"order", "described"} else words
            calls.append((name, *shown, *named.items()))
            return answer

        return step

    monkeypatch.setattr(command, "_market", market)
    monkeypatch.setattr(command, "_quoted", quoted)
    monkeypatch.setattr(command, "_order", noted("order", Order()))
    monkeypatch.setattr(command, "_worst", noted("worst", "a bound"))
    monkeypatch.setattr(command, "_bounded", noted("bounded", Order("m1 bounded")))
    monkeypatch.setattr(command, "_described", noted("described", ("what", "it costs")))
    return calls


async def run(
    desk: Any, request: OrderRequest, *, says: bool = True
) -> tuple[HaltReport, list[Any]]:
    """The report; what was shown, and what was placed."""
    seen: list[Any] = []

    async def confirm(lines: Any) -> bool:
        seen.append(lines)
        return says

    async def placed(_: Any, order: Any) -> HaltReport:
        seen.append(order)
        return HaltReport(is_done=True, lines=("filled",))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(command, "placed", placed)
        return await command.trade_on(desk, request, confirm, CLOCK, choose=None), seen


async def test_an_order_is_quoted_bounded_shown_and_sent_after_a_yes(steps: list[Any]) -> None:
    desk: Any = Desk(*SIM)
    report, seen = await run(desk, REQUEST)
    assert report == HaltReport(is_done=True, lines=("filled",))
    assert seen == [("what", "it costs"), Order("m1 bounded", confirmed=False)]
    assert [call[0] for call in steps] == [
        "market", "order", "quoted", "worst", "bounded", "described"
    ]  # fmt: skip
    assert steps[0] == ("market", "rain", None)
    assert steps[1] == ("order", REQUEST, "the market", NOW)
    assert steps[2] == ("quoted", Order())
    assert steps[3] == ("worst", REQUEST, desk.state.markets["m1"])
    assert steps[4] == ("bounded", Order(), "the quote", "a bound")
    assert steps[5] == ("described", Order("m1 bounded"), "the quote", ("is_bound", False))
    assert desk.submitted == []


async def test_a_quote_is_shown_and_nothing_is_asked_or_sent(steps: list[Any]) -> None:
    report, seen = await run(Desk(*SIM), replace(REQUEST, is_quote=True, worst="0.5"))
    assert report == HaltReport(is_done=True, lines=("what", "it costs"))
    assert seen == []
    assert steps[5][-1] == ("is_bound", True)


async def test_a_no_sends_nothing(steps: list[Any]) -> None:
    report, seen = await run(Desk(*SIM), REQUEST, says=False)
    assert report == HaltReport(is_done=False, lines=("nothing was sent",))
    assert seen == [("what", "it costs")]
    assert steps


@pytest.mark.parametrize("lacking", ALL)
async def test_nothing_is_checked_before_all_that_it_needs_is_known(
    lacking: Topic, steps: list[Any]
) -> None:
    known = [topic for topic in ALL if topic is not lacking]
    report, _ = await run(Desk(*known), LIVE)
    assert report.lines == (command.SILENT,)
    assert not report.is_done
    report, _ = await run(Desk(*known), REQUEST)
    assert report.is_done is (lacking not in SIM)
    assert len(steps) in {0, 6}


async def test_real_money_is_switched_on_for_this_desk_and_confirmed(steps: list[Any]) -> None:
    desk: Any = Desk(*ALL)
    _, seen = await run(desk, LIVE)
    assert desk.submitted == [SetLive(on=True, word="LIVE")]
    assert seen[-1] == Order("m1 bounded", confirmed=True)
    assert len(steps) == 6
    assert (LIVE.is_live, LIVE.word, REQUEST.is_live, REQUEST.word) == (True, "LIVE", False, "yes")


async def test_an_order_that_cannot_be_is_told_in_its_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def market(*_: object) -> None:
        raise OrderError("one\ntwo")

    monkeypatch.setattr(command, "_market", market)
    report, _ = await run(Desk(*SIM), REQUEST)
    assert report == HaltReport(is_done=False, lines=("one", "two"))


async def test_ctrl_c_before_the_yes_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def market(*_: object) -> None:
        raise asyncio.CancelledError

    monkeypatch.setattr(command, "_market", market)
    report, _ = await run(Desk(*SIM), REQUEST)
    assert report == HaltReport(is_done=False, lines=("nothing was sent",))


def test_an_order_is_traded_on_a_desk_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    works: list[Any] = []
    monkeypatch.setattr(command, "run_on_desk", lambda options, work: works.append((options, work)))
    monkeypatch.setattr(command, "trade_on", lambda *words, **named: (words, named))
    options, confirm, choose = Options(Path(), Path(), Path()), object(), object()
    command.trade(options, REQUEST, confirm, choose)  # pyright: ignore[reportArgumentType]
    ((given, work),) = works
    words, named = work("desk")
    assert given is options
    assert (words[:3], named) == (("desk", REQUEST, confirm), {"choose": choose})


# -- the parts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "amount", "read"),
    [("buy", "25", "25"), ("sell", "25", "25"), ("sell", "all", "100%"), ("sell", "MAX", "100%")],
)
def test_an_order_is_read_as_on_the_ticket(
    action: str, amount: str, read: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(command, "read_order", lambda *words: seen.append(words) or "order")
    market: Any = object()
    request = replace(LIVE, action=Action(action), amount=amount)
    state: Any = "state"
    assert command._order(state, request, market, NOW) == "order"
    ((given, draft, at),) = seen
    assert (given, at) == ("state", NOW)
    assert (draft.market, draft.side, draft.action, draft.amount, draft.venue) == (
        market, Side.NO, Action(action), read, Venue.EVM
    )  # fmt: skip


@pytest.mark.parametrize("word", ["all", "Max"])
def test_a_buy_takes_an_amount(word: str) -> None:
    state: Any = None
    market: Any = None
    with pytest.raises(OrderError, match=f"{word} is for a sale"):
        command._order(state, replace(REQUEST, amount=word), market, NOW)


def test_what_the_ticket_refuses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise FieldError("too much")

    monkeypatch.setattr(command, "read_order", refuse)
    monkeypatch.setattr(command, "read_limit", refuse)
    anything: Any = SimpleNamespace(tick=Micros(10_000))
    with pytest.raises(OrderError, match="too much"):
        command._order(anything, REQUEST, anything, NOW)
    with pytest.raises(OrderError, match="too much"):
        command._worst(replace(REQUEST, worst="x"), anything)
    assert command._worst(REQUEST, anything) is None


def test_a_worst_price_is_read_in_the_ticks_of_its_market() -> None:
    market: Any = SimpleNamespace(tick=Micros(10_000))
    assert command._worst(replace(REQUEST, worst="0.45"), market) == 450_000
    with pytest.raises(OrderError):
        command._worst(replace(REQUEST, worst="0.455"), market)


@pytest.mark.parametrize(
    ("quote", "lines"),
    [
        (None, "no quote: nothing was sent"),
        (SimpleNamespace(ok=False, problem="no room", fix="wait"), "no room\nwait"),
        (SimpleNamespace(ok=False, problem="no room", fix=""), "no room"),
    ],
)
async def test_an_order_without_a_quote_is_not_sent(
    quote: Any, lines: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "as_quoted", lambda order: order)
    desk: Any = Desk()
    desk.state.quote = quote
    order: Any = Order()
    with pytest.raises(OrderError) as refused:
        await command._quoted(desk, order)
    assert str(refused.value) == lines
    assert desk.submitted == [RequestQuote(1, order)]
    desk.state.quote = good = SimpleNamespace(ok=True)
    assert await command._quoted(desk, order) is good
    assert desk.waits == [15.0, 15.0]


def test_figures_stand_in_columns() -> None:
    one, two = SimpleNamespace(plain="1"), SimpleNamespace(plain="2")
    figures: Any = [("fee", one), ("worst price", two)]
    assert command._columns(figures) == ("  fee          1", "  worst price  2")
