"""Orders from the command line: quoted, asked for, sent once."""

import asyncio
import os
import pty
import random
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest

from kit.command_line import ran
from kit.command_line import typed as typed_as
from kit.desk.faults import Line, breaking
from kit.desk.redeeming import CountingSigner
from kit.desk.shown import ShownDesk
from kit.samples.desk import NOW, sample_state
from kit.service.stage import Stage, first_state, open_stage
from kit.service.wallets import market_on_chain, ready
from service_tui.app.options import Options
from service_tui.app.ownership import own_directory
from service_tui.app.typed_lines import typed_line
from service_tui.cli import main as cli
from service_tui.cli.orders import choose, choose_of, order_request
from service_tui.cli.parser import parser_of
from service_tui.clock import ManualClock, SystemClock
from service_tui.commands.halt import HaltReport
from service_tui.commands.trade import (
    LEFT,
    NO_QUOTE,
    SILENT,
    UNSETTLED,
    Choose,
    OrderError,
    OrderRequest,
    market_meant,
    numbered,
    order_of,
    placed,
    trade,
    trade_on,
    within,
    worst_price,
)
from service_tui.config import read_environment
from service_tui.desk.commands.trading import PlaceTrade, RequestQuote
from service_tui.desk.desk import Desk
from service_tui.desk.opening import open_desk
from service_tui.desk.ports import DeskContext
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.desk.tickets import Ticket
from service_tui.desk.vault import Vault
from service_tui.terms import Action, MarketStatus, Side, Venue
from service_tui.units import ONE, Micros


@dataclass
class RealDesk:
    """A desk for real money, on venues that simulate it."""

    desk: Desk
    stage: Stage
    line: Line
    signer: CountingSigner
    market_id: str


async def _interrupted() -> None:
    """What ctrl+c does to the task of a command."""
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)


async def _unasked(lines: Sequence[str]) -> bool:
    raise AssertionError(lines)


BOUND: dict[str, Any] = {"is_quote": True, "worst": "0.99"}


@pytest.mark.slow
async def test_an_order_is_quoted_asked_for_and_sent_once(tmp_path: Path) -> None:
    options = Options(
        data_dir=tmp_path, config_dir=tmp_path / "c", log_path=tmp_path / "log", seed=7, speed=0
    )
    asked: list[Sequence[str]] = []

    async def ordered(request: OrderRequest, *, answer: bool | None = True) -> HaltReport:
        async def confirm(lines: Sequence[str]) -> bool:
            if answer is None:
                await _interrupted()
            asked.append(lines)
            return bool(answer)

        return await asyncio.to_thread(trade, options, request, confirm)

    async with own_directory(options, SystemClock()) as owner:
        world = owner.sim.service.world
        now = world.world_at
        market = next(
            one for one in world.markets.values() if one.status(now) is MarketStatus.ACTIVE
        )
        agent_id = owner.sim.service.operator_agent
        assert agent_id is not None
        cash = lambda: world.cash(world.agents[agent_id])  # noqa: E731
        start = cash()
        buy = OrderRequest(Action.BUY, market.market_id, Side.YES, "25")

        quote = await ordered(
            OrderRequest(Action.BUY, market.market_id, Side.YES, "25", is_quote=True)
        )
        assert quote.is_done
        assert (asked, cash()) == ([], start)
        assert any(line.split() == ["max", "loss", "-25.00", "$SIM"] for line in quote.lines)

        assert "worst price" in "".join((await ordered(replace(buy, **BOUND))).lines)

        left = await ordered(buy, answer=False)
        assert (left.is_done, left.lines, cash()) == (False, (LEFT,), start)
        assert asked == [quote.lines]

        stopped = await ordered(buy, answer=None)
        assert (stopped.is_done, stopped.lines, cash()) == (False, (LEFT,), start)

        done = await ordered(buy)
        assert done.is_done, done.lines
        assert done.lines[0].startswith("done: bought ")
        assert start - cash() == 25 * ONE

        for request, why in (
            (replace(buy, market="will"), "markets match: give the id"),
            (replace(buy, amount="all"), "all is for a sale; a buy takes an amount, such as 25"),
        ):
            refused = await ordered(request)
            assert (refused.is_done, why in refused.lines[0]) == (False, True)
        sold = await ordered(OrderRequest(Action.SELL, market.market_id, Side.YES, "all"))
        assert sold.is_done, sold.lines
        assert 0 < start - cash() < ONE


@pytest.mark.slow
async def test_a_person_chooses_where_several_markets_match(tmp_path: Path) -> None:
    options = Options(
        data_dir=tmp_path, config_dir=tmp_path / "c", log_path=tmp_path / "log", seed=7, speed=0
    )
    async with own_directory(options, SystemClock()):
        chosen: list[Sequence[str]] = []

        async def choose(lines: Sequence[str], count: int) -> int | None:
            chosen.append(lines)
            return count - 1 if len(chosen) == 1 else None

        words = OrderRequest(Action.BUY, "will", Side.YES, "25", is_quote=True)
        meant = await asyncio.to_thread(trade, options, words, _unasked, choose)
        assert meant.is_done
        assert chosen[0][0].endswith("markets match")
        assert meant.lines[0] == chosen[0][8].removeprefix("8  ")
        left = await asyncio.to_thread(trade, options, words, _unasked, choose)
        assert (left.is_done, left.lines) == (False, (LEFT,))


@asynccontextmanager
async def real_money(path: Path, **settings: object) -> AsyncGenerator[RealDesk]:
    """A desk whose wallet has everything for an order on the EVM venue."""
    async with open_stage(path, speed=0) as whole:
        stage, line = breaking(whole)
        await ready(stage, **settings)
        signer = CountingSigner()
        around = DeskContext(
            stage.client,
            stage.database,
            stage.clock,
            lambda: f"{random.getrandbits(128):032x}",
            random.Random(2),
            vault=Vault(None, signer),
        )
        async with open_desk(first_state(), around) as desk:
            yield RealDesk(desk, stage, line, signer, market_on_chain(stage).market_id)


@pytest.mark.slow
async def test_real_money_is_quoted_shown_whole_asked_for_and_signed_once(tmp_path: Path) -> None:
    async with real_money(tmp_path) as on:
        asked: list[Sequence[str]] = []

        async def ordered(request: OrderRequest, *, answer: bool) -> HaltReport:
            async def confirm(lines: Sequence[str]) -> bool:
                asked.append(lines)
                return answer

            return await trade_on(on.desk, request, confirm, on.stage.clock)

        buy = OrderRequest(Action.BUY, on.market_id, Side.YES, "30", venue=Venue.EVM)
        quote = await ordered(replace(buy, is_quote=True), answer=True)
        assert (quote.is_done, asked) == (True, []), quote.lines
        left = await ordered(buy, answer=False)
        assert left.lines == (LEFT,)
        beyond = await ordered(replace(buy, worst="0.01"), answer=True)
        assert "you want at most 0.01: nothing was sent" in beyond.lines[0]
        assert (on.signer.count, on.line.orders()) == (0, [])
        (shown,) = asked
        text = "\n".join(shown)
        for words in ("LIVE", "buy YES for 30.00", "evm_venue", "token", "Signed with your key"):
            assert words in text

        done = await ordered(replace(buy, worst="0.99"), answer=True)
        assert done.is_done, done.lines
        assert "at most 0.990 per share" in "\n".join(asked[-1])
        assert on.signer.count == 1
        (order,) = on.line.orders()
        assert (order["venue"], order["amount"], order["price"]) == ("evm_venue", 30, 0.99)


@pytest.mark.slow
async def test_real_money_that_the_service_does_not_allow_is_refused(tmp_path: Path) -> None:
    async with real_money(tmp_path, real_trading_enabled=False) as on:
        buy = OrderRequest(Action.BUY, on.market_id, Side.YES, "30", venue=Venue.EVM)

        async def confirm(_: Sequence[str]) -> bool:
            raise AssertionError("asked before it was checked")

        refused = await trade_on(on.desk, buy, confirm, on.stage.clock)
        assert not refused.is_done
        assert "eal trades not allowed" in refused.lines[0]
        assert on.signer.count == 0


@pytest.mark.parametrize(
    ("words", "asks", "is_asked"),
    [
        (("buy", "rain", "yes", "5"), True, True),
        (("buy", "rain", "yes", "5"), False, False),
        (("buy", "rain", "yes", "5", "--yes"), True, False),
        (("quote", "rain", "yes", "5"), True, True),
    ],
)
def test_which_market_is_asked_only_of_a_person_who_takes_questions(
    words: tuple[str, ...], *, asks: bool, is_asked: bool
) -> None:
    arguments = parser_of(read_environment({})).parse_args(words)
    chooses = choose_of(order_request(arguments), arguments, asks=asks)
    assert (chooses is not None) is is_asked


@pytest.mark.parametrize(("typed", "place"), [("2", 1), ("3", None), ("0", None), ("", None)])
async def test_a_number_chooses_a_market_and_anything_else_leaves(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    typed: str,
    place: int | None,
) -> None:
    typed_as(monkeypatch, f"{typed}\n")
    assert await choose(("2 markets match", "1  A?", "2  B?"), 2) == place
    assert "2  B?\nType the number" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (("buy", "rain", "yes", "5"), cli.CANNOT, "nothing was sent: add --yes"),
        (("sell", "rain", "maybe", "5"), 2, "invalid choice"),
        (("buy", "rain", "yes"), 2, "AMOUNT"),
        (("quote", "rain", "yes", "5", "--yes"), 2, "unrecognized"),
        (("buy", "rain", "yes", "5", "--venue", "evm_venue"), cli.CANNOT, "add --live and the"),
        (
            ("buy", "rain", "yes", "5", "--venue", "evm_venue", "--yes"),
            2,
            "--live with --max-price",
        ),
        (("buy", "rain", "yes", "5", "--venue", "evm_venue", "--live"), 2, "--max-price PRICE"),
        (("sell", "rain", "yes", "5", "--venue", "sol_venue", "--live"), 2, "--min-price PRICE"),
        (("buy", "rain", "yes", "5", "--live", "--max-price", "0.6"), 2, "Give its --venue"),
        (("buy", "rain", "yes", "5", "--venue", "moon"), 2, "invalid choice"),
    ],
)
def test_without_a_terminal_or_with_wrong_words_nothing_is_sent(
    tmp_path: Path, words: tuple[str, ...], code: int, problem: str
) -> None:
    done = ran([*words, "--data-dir", str(tmp_path / "d")])
    assert (done.code, problem in done.err) == (code, True)
    assert not (tmp_path / "d").exists()


async def test_a_typed_line_ends_with_enter_the_end_of_input_or_ctrl_c(
    capsys: pytest.CaptureFixture[str],
) -> None:
    person, side = pty.openpty()
    with os.fdopen(person, "wb", buffering=0) as keys, os.fdopen(side) as stream:
        for pressed, text, printed in ((b"yes\n", "yes", ""), (b"\x04", "", "\n")):
            async with asyncio.TaskGroup() as tasks:
                waiting = tasks.create_task(typed_line(stream))
                await asyncio.sleep(0)
                keys.write(pressed)
            assert waiting.result() == text
            assert capsys.readouterr().out == printed
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(typed_line(stream))
            await asyncio.sleep(0)
            waiting.cancel()
        assert waiting.cancelled()
        assert capsys.readouterr().out == "\n"


class _Desk:
    """A desk on which another order of the same market appears with the one of the command."""

    def __init__(self, other: TicketView, own: TicketView) -> None:
        self.other, self.own = other, own
        self.state = replace(sample_state(), tickets=())

    def submit(self, command: PlaceTrade) -> Ticket:
        self.state = replace(self.state, tickets=(self.other, self.own))
        return Ticket(command, replace(self.own, state=TicketState.QUEUED))

    async def changes(self) -> AsyncGenerator[DeskState]:
        yield self.state
        await asyncio.Event().wait()


async def test_the_result_is_that_of_the_command_s_own_order() -> None:
    order = PlaceTrade("m-00001", Side.YES, Action.BUY, Venue.SIM, amount=Micros(25 * ONE))
    own = replace(
        sample_state().tickets[0],
        ticket_id="own",
        market_id="m-00001",
        state=TicketState.REFUSED,
        outcome="not enough cash",
        fix="",
    )
    other = replace(own, ticket_id="other", state=TicketState.DONE, outcome="bought 9 shares")
    report = await placed(cast("Desk", _Desk(other, own)), order)
    assert report == HaltReport(is_done=False, lines=("refused: not enough cash",))


@pytest.mark.parametrize("is_interrupted", [True, False])
async def test_an_order_without_an_end_is_not_told_as_done(*, is_interrupted: bool) -> None:
    order = PlaceTrade("m-00001", Side.YES, Action.BUY, Venue.SIM, amount=Micros(25 * ONE))
    own = replace(
        sample_state().tickets[0], ticket_id="own", market_id="m-00001", state=TicketState.SENT
    )
    desk = cast("Desk", _Desk(replace(own, ticket_id="other"), own))
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(placed(desk, order, 60.0 if is_interrupted else 0.0))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        if is_interrupted:
            task.cancel()
    assert task.result() == HaltReport(is_done=False, lines=(UNSETTLED,))


MARKETS = sample_state(40).markets


def alike(count: int) -> DeskState:
    """A desk with so many markets that match one word."""
    some = [one for one in MARKETS.values() if one.is_open][:count]
    markets = {
        one.market_id: replace(one, question=f"Rain {place}?") for place, one in enumerate(some)
    }
    return replace(sample_state(8), markets=markets)


@pytest.mark.parametrize(("count", "over"), [(2, 0), (8, 0), (9, 1), (20, 12)])
async def test_markets_that_match_are_listed_up_to_eight(count: int, over: int) -> None:
    state = alike(count)
    found = list(state.markets.values())
    more = [f"and {over} more: add words to find them"] if over else []
    with pytest.raises(OrderError) as several:
        await market_meant(state, "rain", None)
    head, *rest = str(several.value).split("\n")
    assert head == f"{count} markets match: give the id, or more words; nothing was sent"
    assert len(rest) == min(count, 8) + bool(over)
    assert rest[len(rest) - len(more) :] == more
    lines, most = numbered(found)
    assert lines == [
        f"{count} markets match",
        *(f"{place}  {one.question}" for place, one in enumerate(found[:8], 1)),
        *more,
    ]
    assert most == min(count, 8)


async def test_the_market_that_was_chosen_is_meant() -> None:
    state, asked = alike(3), list[int]()

    def choosing(place: int | None) -> Choose:
        async def chosen(_: object, most: int) -> int | None:
            asked.append(most)
            return place

        return chosen

    matching = list(state.markets.values())
    chosen = await market_meant(state, "rain", choosing(2))
    assert chosen.market_id in {one.market_id for one in matching}
    first = await market_meant(state, "rain", choosing(0))
    assert first.market_id != chosen.market_id
    assert asked == [3, 3]
    with pytest.raises(OrderError, match="nothing was sent"):
        await market_meant(state, "rain", choosing(None))
    with pytest.raises(OrderError, match="no market matches"):
        await market_meant(state, "snow", choosing(0))
    one = matching[1].market_id
    assert (await market_meant(state, one, None)).market_id == one


@pytest.mark.parametrize(
    ("action", "average", "worst", "fits"),
    [
        (Action.BUY, 0.5, 500_000, True),
        (Action.BUY, 0.5001, 500_000, False),
        (Action.SELL, 0.5, 500_000, True),
        (Action.SELL, 0.4999, 500_000, False),
        (Action.BUY, None, 500_000, False),
        (Action.SELL, None, 500_000, False),
    ],
)
def test_a_quote_beyond_the_typed_price_is_not_sent(
    action: Action, average: float | None, worst: int, *, fits: bool
) -> None:
    order = PlaceTrade("m", Side.YES, action, Venue.EVM, Micros(ONE))
    quote = QuoteView(1, ok=True, average=average)
    if fits:
        bound = within(order, quote, Micros(worst))
        assert bound == replace(order, price=0.5)
        return
    with pytest.raises(OrderError) as beyond:
        within(order, quote, Micros(worst))
    quoted = "unknown" if average is None else f"{average:.4f}"
    side = "at most" if action is Action.BUY else "at least"
    assert str(beyond.value).startswith(f"quoted price {quoted} a share, you want {side} 0.5")


REQUEST = OrderRequest(Action.BUY, "m-00001", Side.NO, "25")


def known(*topics: Topic) -> DeskState:
    """A desk with an answer of its service to so much."""
    return replace(sample_state(), seen=dict.fromkeys(topics, NOW), quote=None)


SIM = (Topic.MARKETS, Topic.ACCOUNT, Topic.POSITIONS)
ALL = (*SIM, Topic.WALLET, Topic.REDEMPTIONS)


@pytest.mark.parametrize("venue", [Venue.SIM, Venue.EVM])
@pytest.mark.parametrize("lacking", ALL)
async def test_nothing_is_checked_before_all_that_it_needs_is_known(
    lacking: Topic, venue: Venue
) -> None:
    desk = ShownDesk(known(*(topic for topic in ALL if topic is not lacking)))
    request = replace(REQUEST, venue=venue, market="no such market")
    report = await trade_on(cast("Desk", desk), request, _unasked, ManualClock(NOW))
    is_needed = lacking in SIM or venue is Venue.EVM
    assert (report.lines == (SILENT,)) is is_needed
    assert (report.is_done, desk.submitted) == (False, [])


@pytest.mark.parametrize(
    ("quote", "lines"),
    [
        (None, (NO_QUOTE,)),
        (QuoteView(1, ok=False, problem="no room", fix="wait"), ("no room", "wait")),
        (QuoteView(1, ok=False, problem="no room"), ("no room",)),
    ],
)
async def test_an_order_without_a_quote_is_not_sent(
    quote: QuoteView | None, lines: tuple[str, ...]
) -> None:
    state = known(*SIM)
    desk = ShownDesk(state, replace(state, quote=quote))
    report = await trade_on(cast("Desk", desk), REQUEST, _unasked, ManualClock(NOW))
    assert report == HaltReport(is_done=False, lines=lines)
    assert [type(one) for one in desk.submitted] == [RequestQuote]


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        (replace(REQUEST, amount="all"), "all is for a sale; a buy takes an amount"),
        (replace(REQUEST, amount="MAX"), "MAX is for a sale; a buy takes an amount"),
        (replace(REQUEST, amount="much"), "Enter"),
        (replace(REQUEST, amount="-5"), "Enter"),
    ],
)
def test_what_the_ticket_refuses_is_refused_here(request_: OrderRequest, problem: str) -> None:
    state = sample_state()
    with pytest.raises(OrderError, match=problem):
        order_of(state, request_, state.markets["m-00001"], NOW)


@pytest.mark.parametrize("amount", ["all", "Max", "100%"])
def test_a_sale_may_be_of_the_whole_position(amount: str) -> None:
    state = sample_state()
    held = state.positions[0]
    request = replace(REQUEST, action=Action.SELL, side=held.side, amount=amount)
    order = order_of(state, request, state.markets[held.market_id], NOW)
    assert (order.action, order.shares) == (Action.SELL, held.shares)


def test_a_worst_price_is_read_in_the_ticks_of_its_market() -> None:
    market = replace(sample_state().markets["m-00001"], tick=Micros(10_000))
    assert worst_price(REQUEST, market) is None
    assert worst_price(replace(REQUEST, worst="0.45"), market) == 450_000
    for typed in ("0.455", "x", "2"):
        with pytest.raises(OrderError):
            worst_price(replace(REQUEST, worst=typed), market)
