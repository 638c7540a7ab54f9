"""What is signed is what was shown: the token of the condition, the fee, the price."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kit.desk.faults import breaking, said, until
from kit.desk.live_orders import live, placed
from kit.desk.offline import Offline
from kit.desk.redeeming import CountingSigner, open_wallet_desk
from kit.samples.desk import sample_state
from kit.service.line import line_to
from kit.service.stage import open_stage
from kit.service.wallets import market_on_chain, ready
from service_tui.console.forms.live_order import live_question
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.slices.wallet import Ownership
from service_tui.desk.trading.live_orders import token_shown, worst_price
from service_tui.desk.trading.order_signature import as_signed
from service_tui.desk.trading.sending import request_of
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros
from service_tui.wire.endpoints.public import MARKET

Json = dict[str, Any]


def swapped(one: Json) -> Json:
    yes, no = one["polymarket_token_id"], one["polymarket_no_token_id"]
    return {"polymarket_token_id": no, "polymarket_no_token_id": yes}


def unnamed(**changes: object) -> Callable[[Json], Json]:
    """Changes to an answer that names no token beside them."""
    nameless = {"polymarket_token_id": None, "polymarket_no_token_id": None}
    return lambda _: nameless | changes


LIES: dict[str, tuple[Callable[[Json], Json], str]] = {
    "sides swapped": (swapped, "does not match the condition"),
    "any token": (lambda _: {"polymarket_token_id": "7"}, "does not match the condition"),
    "no number": (lambda _: {"polymarket_token_id": "0x7"}, "does not match the condition"),
    "another condition": (
        unnamed(polymarket_id="0x" + "ab" * 32),
        "token changed since",
    ),
    "no condition": (unnamed(polymarket_id=None), "does not name the condition"),
    "a word": (unnamed(polymarket_id="condition"), "does not name the condition"),
    "a fee": (lambda _: {"fee_rate_bps": 9_999}, "fee now 9999 bps"),
    "a tick": (lambda _: {"tick_size": 0.000005}, "no tick of 0.000005"),
    "a tick of nothing": (lambda _: {"tick_size": 0.0000001}, "no tick of"),
}


@pytest.mark.slow
async def test_only_what_was_shown_is_signed(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as whole:
        await ready(whole)
        (stage, line), signer = breaking(whole), CountingSigner()
        market = market_on_chain(stage)
        path = MARKET.path.format(market_id=market.market_id)
        true = await line_to(whole).said(MARKET, path={"market_id": market.market_id})
        order = PlaceTrade(
            market.market_id, Side.YES, Action.BUY, Venue.EVM,
            amount=Micros(30 * ONE), confirmed=True,
        )  # fmt: skip
        async with open_wallet_desk(stage, signer) as desk:
            await live(desk, stage)
            view = desk.state.markets[market.market_id]
            assert token_shown(view, Side.YES) == true["market"]["polymarket_token_id"]
            assert token_shown(view, Side.NO) == true["market"]["polymarket_no_token_id"]
            for name, (lie, why) in LIES.items():
                told = true | {"market": true["market"] | lie(true["market"])}
                line.fault = lambda one, told=told: said(told) if one.url.path == path else None
                state, words = await placed(desk, stage, order)
                assert state is not TicketState.DONE, name
                assert why in words, (name, words)
            line.fault = lambda _: None
            state, words = await placed(desk, stage, replace(order, token="7"))  # noqa: S106 - none
            assert "token changed since" in words
            if view.fee_rate_bps:
                state, words = await placed(desk, stage, replace(order, fee_rate_bps=0))
                assert "0 bps were shown" in words
            assert signer.count == 0
            shown = replace(
                order, token=token_shown(view, Side.YES), fee_rate_bps=view.fee_rate_bps
            )
            state, words = await placed(desk, stage, shown)
            assert state is TicketState.DONE, words


@pytest.mark.parametrize("rests", [False, True])
def test_the_dialog_shows_token_and_fee(rests: bool) -> None:  # noqa: FBT001 - a case
    token = "1234567890" + "5" * 58 + "0987654321"
    order = PlaceTrade(
        "m-new", Side.YES, Action.BUY, Venue.EVM, amount=Micros(10 * ONE),
        price=0.5, rests=rests, token=token, fee_rate_bps=200,
    )  # fmt: skip
    words = live_question(order, sample_state(), None).body.plain
    assert "1234567890…0987654321" in words
    assert "at most 200 bps" in words


def a_sale(shares: int) -> PlaceTrade:
    """A sale as an exit or a halt makes it: nobody has seen a quote."""
    return PlaceTrade(
        "m-1", Side.YES, Action.SELL, Venue.EVM, shares=Micros(shares * ONE), everything=True
    )


@pytest.mark.parametrize(
    ("action", "side", "price", "worst"),
    [
        (Action.SELL, Side.YES, 0.6, 0.3),
        (Action.SELL, Side.NO, 0.6, 0.2),
        (Action.BUY, Side.YES, 0.6, 0.8),
        (Action.BUY, Side.NO, 0.6, 0.7),
    ],
)
def test_a_price_that_nobody_saw_is_bound_by_the_one_shown(
    action: Action, side: Side, price: float, worst: float
) -> None:
    state = replace(sample_state(), positions=(), on_venues=())
    market = replace(next(iter(state.markets.values())), market_id="m-1", price=price)
    state = replace(state, markets={"m-1": market})
    order = replace(a_sale(1), action=action, side=side)
    assert worst_price(state, order) == pytest.approx(worst)
    assert worst_price(replace(state, markets={}), order) is None


def test_a_position_without_a_price_binds_no_order_by_one() -> None:
    held = replace(
        sample_state().positions[0], market_id="m-1", side=Side.YES, venue=Venue.EVM,
        mark_price=None, mark_value=None, unrealized=None,
    )  # fmt: skip
    state = replace(sample_state(), positions=(), on_venues=(held,), markets={})
    assert worst_price(state, a_sale(1)) is None


@pytest.mark.slow
async def test_a_sale_without_a_quote_goes_for_no_price_that_one_answer_made_up(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as whole:
        await ready(whole)
        (stage, line), signer = breaking(whole), CountingSigner()
        market = market_on_chain(stage)
        path = MARKET.path.format(market_id=market.market_id)
        buy = PlaceTrade(
            market.market_id, Side.YES, Action.BUY, Venue.EVM,
            amount=Micros(30 * ONE), confirmed=True,
        )  # fmt: skip
        async with open_wallet_desk(stage, signer) as desk:
            await live(desk, stage)
            true = await line_to(whole).said(MARKET, path={"market_id": market.market_id})
            dear = true | {"market": true["market"] | {"best_ask": 0.99}}
            line.fault = lambda one: said(dear) if one.url.path == path else None
            state, words = await placed(desk, stage, buy)
            assert state is not TicketState.DONE
            assert "without a quote" in words
            line.fault = lambda _: None
            assert signer.count == 0
            state, words = await placed(desk, stage, buy)
            assert state is TicketState.DONE, words
            key = f"{market.market_id}:yes"
            known = await until(desk, lambda s: s.redemption.row(key), stage)
            held = known.redemption.row(key).shares
            sale = replace(
                buy, action=Action.SELL, amount=Micros(0), shares=held, everything=True,
                confirmed=True,
            )  # fmt: skip
            signed = signer.count
            true = await line_to(whole).said(MARKET, path={"market_id": market.market_id})
            cheap = true | {"market": true["market"] | {"best_bid": 0.001}}
            line.fault = lambda one: said(cheap) if one.url.path == path else None
            state, words = await placed(desk, stage, sale)
            assert state is not TicketState.DONE
            assert "book price 0.001" in words
            assert signer.count == signed
            line.fault = lambda _: None
            state, words = await placed(desk, stage, sale)
            assert state is TicketState.DONE, words


async def test_who_signs_for_a_managed_wallet_is_told_the_bound() -> None:
    market = replace(next(iter(sample_state().markets.values())), market_id="m-1", price=0.61)
    state = replace(sample_state(), positions=(), on_venues=(), markets={"m-1": market})
    managed = replace(state.wallet, ownership=Ownership.MANAGED)
    order = a_sale(10)
    request = request_of(order, dry_run=False, client_ref="r")
    ports = Offline(replace(state, wallet=managed)).ports
    assert (await as_signed(ports, order, request)).price == pytest.approx(0.31)
    # What was confirmed stays, and the market maker of sim has prices of its own.
    named = request.model_copy(update={"price": 0.6})
    assert (await as_signed(ports, order, named)).price == 0.6
    played = request.model_copy(update={"venue": Venue.SIM})
    assert (await as_signed(ports, order, played)).price is None
