"""A position is sold as what it was bought as, whoever sells it and whatever the service names.

The service of these tests leaves the market out of its list, so that nothing listed now can bind.
"""

import sqlite3
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from kit.desk.faults import Fault, Line, breaking, said, until
from kit.desk.live_orders import live, placed
from kit.desk.redeeming import CountingSigner, open_wallet_desk
from kit.service.line import line_to, sink_on
from kit.service.stage import Stage, open_directory, open_stage
from kit.service.wallets import External, market_on_chain, ready
from service_tui.desk.commands.halt import ExitAll, Halt
from service_tui.desk.commands.risk import ExitAlert
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.desk import Desk
from service_tui.desk.reasons import Fix
from service_tui.desk.shown_marks import REMEMBERED_S
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros
from service_tui.wire.endpoints.public import (
    MARKET,
    MARKETS,
    POSITIONS,
    RISK_ALERTS,
    SET_MONITOR,
)
from service_tui.wire.monitors import MonitorRequest, RiskAlertsQuery

pytestmark = pytest.mark.slow

Json = dict[str, Any]
FOREIGN = "0x" + "ab" * 32
HAIR = 0.0001


@dataclass
class Scene:
    """A stage whose wallet trades on one market, the line to it, and what the service says of it.

    `says` are changes to its own page, `marks` to its position's sides; `listed` puts it in lists.
    """

    stage: Stage
    line: Line
    own: External
    signer: CountingSigner
    market_id: str
    token: str
    page: Json
    lists: Json
    says: Mapping[str, object]
    marks: Mapping[str, object]
    positions: Json
    listed: bool = False
    alerts: Json = field(default_factory=dict)

    def answer(self, request: httpx.Request) -> httpx.Response | Fault | None:
        """What the service answers instead of the truth."""
        if request.url.path == MARKET.path.format(market_id=self.market_id) and self.says:
            return said(self.page | {"market": self.page["market"] | dict(self.says)})
        if request.method != "GET":
            return None
        if request.url.path == MARKETS.path and not self.listed:
            rows = [one for one in self.lists["markets"] if one["id"] != self.market_id]
            return said(self.lists | {"markets": rows, "count": len(rows)})
        if request.url.path == POSITIONS.path and self.marks:
            rows = [
                one | {"sides": [side | dict(self.marks) for side in one["sides"]]}
                for one in self.positions["positions"]
            ]
            return said(self.positions | {"positions": rows})
        return None

    @property
    def buy(self) -> PlaceTrade:
        return PlaceTrade(
            self.market_id, Side.YES, Action.BUY, Venue.EVM,
            amount=Micros(30 * ONE), confirmed=True,
        )  # fmt: skip

    @property
    def key(self) -> str:
        return self.buy.holding

    def signed(self) -> list[tuple[str, str]]:
        """Side and token of each order that left with a signature."""
        made = [one["signed_order"] for one in self.line.orders() if one.get("signed_order")]
        return [(one["side"], one["tokenId"]) for one in made]


@asynccontextmanager
async def scene(path: Path) -> AsyncGenerator[Scene]:
    async with open_stage(path, speed=0) as whole:
        own = await ready(whole)
        stage, line = breaking(whole)
        market_id = market_on_chain(stage).market_id
        page = await line_to(whole).said(MARKET, path={"market_id": market_id})
        lists = await line_to(whole).said(MARKETS, limit="500")
        told = Scene(
            stage, line, own, CountingSigner(), market_id,
            page["market"]["polymarket_token_id"], page, lists, {}, {}, {},
        )  # fmt: skip
        line.fault = told.answer
        yield told


async def bought(on: Scene, *, elsewhere: bool = False) -> None:
    """Hold the position, bought by this desk or elsewhere, and let the market leave the list."""
    on.listed = True
    if elsewhere:
        market = on.stage.world.market(on.market_id)
        assert (await on.own.buy(market, 30.0))["success"]
    async with open_wallet_desk(on.stage, on.signer) as desk:
        await live(desk, on.stage)
        if not elsewhere:
            state, words = await placed(desk, on.stage, on.buy)
            assert state is TicketState.DONE, words
        await until(desk, lambda s: s.position(on.key), on.stage)
        # The state that this start leaves knows the market: the next one must not need it.
        on.listed = False
        await until(desk, lambda s: on.market_id not in s.markets, on.stage)
        await on.stage.clock.advance(3.0)
    on.positions = await line_to(on.stage).said(POSITIONS, venue="all")


async def exit_of_all(desk: Desk, on: Scene) -> TicketView:
    """Halt and exit; the ticket of the sale."""
    if desk.state.halt is None:
        desk.submit(Halt())
        await until(desk, lambda s: s.halt and not s.halt.missing, on.stage)
    before = len(desk.state.tickets)
    desk.submit(ExitAll((on.key,)))
    state = await until(
        desk,
        lambda s: len(s.tickets) > before and s.in_flight == 0 and s.halt.exits.is_over,
        on.stage,
    )
    return state.tickets[0]


async def breached(desk: Desk, on: Scene) -> TicketView:
    """Breach the stop of the position; the ticket of its newest exit."""
    if not desk.state.risk.alerts:
        body = MonitorRequest(side=Side.YES, stop_loss_pct=HAIR, venue=Venue.EVM)
        path = {"market_id": on.market_id}
        await on.stage.client.call(SET_MONITOR, path=path, body=body)
        await sink_on(on.stage, on.market_id)
        await on.stage.clock.advance(1.0)
        listed = await on.stage.client.call(RISK_ALERTS, query=RiskAlertsQuery())
        assert listed.answer.risk_alerts, "no breach came of it"
    for alert in desk.state.risk.alerts:
        # The desk itself tries again, later each time.
        desk.submit(ExitAlert(alert.alert_id))
    before = {one.ticket_id for one in desk.state.tickets}
    state = await until(
        desk,
        lambda s: [one for one in s.tickets if one.ticket_id not in before and not one.in_flight],
        on.stage,
    )
    return state.tickets[0]


async def marked(desk: Desk, on: Scene) -> None:
    """The desk shows the mark that the service names now."""
    known = not on.marks
    await until(desk, lambda s: bool(s.position(on.key).mark_price) is known, on.stage)


Sell = Callable[[Desk, Scene], Any]

WAYS: dict[str, Sell] = {"exit of the halt": exit_of_all, "exit of an alert": breached}

NAMELESS: Json = {"polymarket_token_id": None, "polymarket_no_token_id": None}

LIES: dict[str, tuple[Json, Json, str, Fix]] = {
    "another condition": (
        NAMELESS | {"polymarket_id": FOREIGN},
        {},
        "token is not the one kept with the position",
        Fix.TRADE_ELSEWHERE,
    ),
    "another kind": (
        NAMELESS | {"polymarket_neg_risk": True},
        {},
        "token is not the one kept with the position",
        Fix.TRADE_ELSEWHERE,
    ),
    "a fee": ({"fee_rate_bps": 1_000}, {}, "fee now 1000 bps", Fix.CONFIRM_SHOWN),
    "no mark": (
        {"best_bid": 0.01},
        {"mark_price": 0.0},
        "price of this market never shown here",
        Fix.CONFIRM_SHOWN,
    ),
    "a made-up book": (
        {"best_bid": 0.01},
        {},
        "book price 0.010 is below the bound",
        Fix.CONFIRM_SHOWN,
    ),
}


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize("way", WAYS)
async def test_an_exit_sells_the_token_that_was_bought_or_nothing(
    tmp_path: Path, way: str, *, elsewhere: bool
) -> None:
    async with scene(tmp_path) as on:
        await bought(on, elsewhere=elsewhere)
        # After a restart, and with another market in the place of this one.
        async with open_wallet_desk(on.stage, on.signer) as desk:
            await live(desk, on.stage)
            await until(desk, lambda s: s.position(on.key), on.stage)
            assert on.market_id not in desk.state.markets
            before = on.signer.count
            for name, (page, marks, words, fix) in LIES.items():
                on.says, on.marks = page, marks
                await marked(desk, on)
                ticket = await WAYS[way](desk, on)
                assert ticket.state is TicketState.REFUSED, (name, ticket.outcome)
                assert words in ticket.outcome, (name, ticket.outcome)
                assert ticket.fix == fix, name
                assert on.signer.count == before, name
            on.says = on.marks = {}
            await marked(desk, on)
            ticket = await WAYS[way](desk, on)
            assert ticket.state is TicketState.DONE, ticket.outcome
            assert on.signed()[-1] == ("SELL", on.token)


async def test_another_console_sells_what_was_bought_at_this_one(tmp_path: Path) -> None:
    async with scene(tmp_path / "own") as on:
        await bought(on)
        async with (
            open_directory(tmp_path / "beside", on.stage.clock) as database,
            open_wallet_desk(on.stage, on.signer, executes=False, beside=database) as desk,
        ):
            # What this console itself could learn of the token is another's.
            on.says = NAMELESS | {"polymarket_id": FOREIGN}
            await live(desk, on.stage)
            await until(desk, lambda s: s.position(on.key), on.stage)
            ticket = await exit_of_all(desk, on)
            assert "token is not the one kept" in ticket.outcome
            on.says = {}
            ticket = await exit_of_all(desk, on)
            assert ticket.state is TicketState.DONE, ticket.outcome
            assert on.signed()[-1] == ("SELL", on.token)


async def test_a_buy_of_what_was_never_shown_is_not_signed(tmp_path: Path) -> None:
    async with scene(tmp_path) as on, open_wallet_desk(on.stage, on.signer) as desk:
        await live(desk, on.stage)
        assert on.market_id not in desk.state.markets
        on.says = {"best_ask": 0.99}
        token = await placed(desk, on.stage, on.buy)
        assert "token of this market never shown here" in token[1]
        # Its token and fee were confirmed, and no price.
        confirmed = replace(on.buy, token=on.token, fee_rate_bps=10_000)
        price = await placed(desk, on.stage, confirmed)
        assert "price of this market never shown here" in price[1]
        assert [token[0], price[0]] == [TicketState.REFUSED] * 2
        assert (on.signer.count, on.signed()) == (0, [])


async def test_a_token_that_cannot_be_kept_is_not_bought(tmp_path: Path) -> None:
    async with scene(tmp_path) as on:
        on.listed = True
        async with open_wallet_desk(on.stage, on.signer) as desk:
            await live(desk, on.stage)

            def forbid(connection: sqlite3.Connection) -> None:
                connection.execute(
                    "CREATE TEMP TRIGGER full BEFORE INSERT ON main.kepttokens "
                    "BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END"
                )

            await on.stage.database.write(forbid)
            state, words = await placed(desk, on.stage, on.buy)
            assert state is TicketState.FAILED
            assert "nothing sent" in words
            assert (on.signer.count, on.signed()) == (0, [])


def alias(on: Scene, market_id: str) -> None:
    """Have the service list the market, its position and its alert under another id, as cheap."""
    own = next(one for one in on.lists["markets"] if one["id"] == on.market_id)
    cheap = {"id": market_id, "current_probability": 0.02, "fee_rate_bps": 1_000}
    prices = dict.fromkeys(("current_price", "external_price_yes", "best_bid", "best_ask"), 0.02)
    market = own | cheap | {name: 0.02 for name in prices if name in own}
    rows = [one for one in on.lists["markets"] if one["id"] != on.market_id]
    positions = [
        one
        | {"market_id": market_id, "sides": [side | {"mark_price": 0.02} for side in one["sides"]]}
        for one in on.positions["positions"]
        if one["market_id"] == on.market_id
    ]
    alerts = [one | {"market_id": market_id} for one in on.alerts.get("risk_alerts", [])]
    answers = {
        MARKET.path.format(market_id=market_id): on.page
        | {"market": on.page["market"] | cheap | dict.fromkeys(("best_bid", "best_ask"), 0.02)},
        MARKETS.path: on.lists | {"markets": [*rows, market]},
        POSITIONS.path: on.positions | {"positions": positions},
        RISK_ALERTS.path: on.alerts | {"risk_alerts": alerts},
    }
    truth = on.line.fault

    def answer(request: httpx.Request) -> httpx.Response | Fault | None:
        told = answers.get(request.url.path) if request.method == "GET" else None
        if told is not None:
            return said(told)
        return truth(request) if truth is not None else None

    on.line.fault = answer


@pytest.mark.parametrize("capitals", [False, True])
async def test_an_exit_under_another_id_of_the_market_is_not_signed(
    tmp_path: Path, *, capitals: bool
) -> None:
    async with scene(tmp_path) as on:
        await bought(on)
        body = MonitorRequest(side=Side.YES, stop_loss_pct=HAIR, venue=Venue.EVM)
        path = {"market_id": on.market_id}
        await on.stage.client.call(SET_MONITOR, path=path, body=body)
        await sink_on(on.stage, on.market_id)
        await on.stage.clock.advance(1.0)
        on.alerts = await line_to(on.stage).said(RISK_ALERTS)
        before, own = on.signer.count, on.market_id
        alias(on, own.upper() if capitals else "another")
        async with open_wallet_desk(on.stage, on.signer) as desk:
            await live(desk, on.stage)
            state = await until(
                desk,
                lambda s: [
                    one for one in s.tickets if one.kind == ExitAlert.kind and not one.in_flight
                ],
                on.stage,
            )
            ticket = next(one for one in state.tickets if one.kind == ExitAlert.kind)
            assert ticket.state is TicketState.REFUSED
            assert f"the token was bought in market {own}" in ticket.outcome
            assert ticket.fix == Fix.CONFIRM_SHOWN
            assert on.signer.count == before


async def test_a_wrong_first_listing_gives_way_to_a_confirmed_ticket(tmp_path: Path) -> None:
    async with scene(tmp_path) as on:
        on.listed = True
        market = on.stage.world.market(on.market_id)
        assert (await on.own.buy(market, 30.0))["success"]
        truth, lists = on.lists, on.lists["markets"]
        wrong = NAMELESS | {"polymarket_id": FOREIGN}
        rows = [one | wrong if one["id"] == on.market_id else one for one in lists]

        def lie(request: httpx.Request) -> httpx.Response | Fault | None:
            is_list = request.url.path == MARKETS.path and request.method == "GET"
            return said(truth | {"markets": rows}) if is_list else on.answer(request)

        on.line.fault = lie
        async with open_wallet_desk(on.stage, on.signer) as desk:
            await live(desk, on.stage)
            await until(desk, lambda s: s.position(on.key), on.stage)
            await on.stage.clock.advance(6.0)
        on.line.fault = on.answer
        async with open_wallet_desk(on.stage, on.signer) as desk:
            await live(desk, on.stage)
            await until(desk, lambda s: s.position(on.key) and on.market_id in s.markets, on.stage)
            ticket = await exit_of_all(desk, on)
            assert "token is not the one kept" in ticket.outcome
            shown = desk.state.markets[on.market_id]
            sale = PlaceTrade(
                on.market_id, Side.YES, Action.SELL, Venue.EVM, shares=Micros(20 * ONE),
                confirmed=True, token=on.token, fee_rate_bps=shown.fee_rate_bps,
            )  # fmt: skip
            state, words = await placed(desk, on.stage, sale)
            assert state is TicketState.DONE, words
            # What the person confirmed binds the exits from now on.
            ticket = await exit_of_all(desk, on)
            assert ticket.state is TicketState.DONE, ticket.outcome
            assert on.signed()[-1] == ("SELL", on.token)


async def test_a_console_that_cannot_be_read_leaves_every_sale_unsigned(tmp_path: Path) -> None:
    async with scene(tmp_path / "own") as on:
        await bought(on)
        folder = tmp_path / "third"
        async with open_directory(folder, on.stage.clock) as third:
            path = third.path
        kept = path.read_bytes()
        async with (
            open_directory(tmp_path / "beside", on.stage.clock) as database,
            open_wallet_desk(
                on.stage, on.signer, executes=False, beside=database, others=(path,)
            ) as desk,
        ):
            await live(desk, on.stage)
            await until(desk, lambda s: s.position(on.key), on.stage)
            before = on.signer.count
            path.write_bytes(b"nothing")
            ticket = await exit_of_all(desk, on)
            assert ticket.state is TicketState.FAILED
            assert "kept tokens of another console cannot be read" in ticket.outcome
            assert str(path) in ticket.outcome
            assert ticket.fix == Fix.MEND_CONSOLE
            assert on.signer.count == before
            path.write_bytes(kept)
            ticket = await exit_of_all(desk, on)
            assert ticket.state is TicketState.DONE, ticket.outcome


async def test_a_mark_that_fell_at_once_binds_no_sale_for_ten_minutes(tmp_path: Path) -> None:
    async with scene(tmp_path) as on:
        await bought(on)
        async with open_wallet_desk(on.stage, on.signer) as desk:
            await live(desk, on.stage)
            await until(desk, lambda s: s.position(on.key), on.stage)
            await on.stage.clock.advance(3.0)
            before = on.signer.count
            on.says, on.marks = {"best_bid": 0.01}, {"mark_price": 0.02}
            await until(desk, lambda s: s.position(on.key).mark_price == 0.02, on.stage)
            ticket = await exit_of_all(desk, on)
            assert ticket.state is TicketState.REFUSED, ticket.outcome
            assert "book price 0.010 is below the bound" in ticket.outcome
            assert ticket.fix == Fix.CONFIRM_SHOWN
            assert on.signer.count == before
            # A true fall is one that lasts.
            await on.stage.clock.advance(REMEMBERED_S + 1.0)
            ticket = await exit_of_all(desk, on)
            assert ticket.state is TicketState.DONE, ticket.outcome
