"""What a person confirms of an order for real money, and what stays of it."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.limit_draft import open_order
from kit.console.real_ticket import MARKET, REAL
from service_tui.console.forms.live_order import live_figures, live_order, live_question, shortened
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.wallet import Ownership
from service_tui.desk.state import DeskState
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

ORDER = PlaceTrade(
    MARKET.market_id, Side.YES, Action.BUY, Venue.EVM, Micros(20 * ONE), question="Will it rain?"
)
LIMIT = replace(ORDER, rests=True, price=0.45)
QUOTE = QuoteView(1, ok=True, shares=Micros(40 * ONE), money=Micros(20 * ONE), average=0.5)
OWN = replace(REAL, wallet=replace(REAL.wallet, address=f"0x{'ab' * 20}"))


def figures(
    order: PlaceTrade = ORDER, state: DeskState = OWN, quote: QuoteView | None = QUOTE, **more: Any
) -> dict[str, str]:
    lines, _ = live_figures(order, state, quote, **more)
    return {label: value.plain for label, value in lines}


def follows(order: PlaceTrade = ORDER, state: DeskState = OWN, **more: Any) -> str:
    return live_figures(order, state, QUOTE, **more)[1]


def test_an_order_is_confirmed_at_its_worst_price_and_a_limit_order_at_its_own() -> None:
    assert live_order(ORDER, QUOTE) == replace(ORDER, price=0.51, confirmed=True)
    assert live_order(LIMIT, QUOTE) == replace(LIMIT, confirmed=True)
    assert live_order(ORDER, None) == replace(ORDER, confirmed=True)


def test_the_lines_say_what_it_is_what_it_costs_and_who_pays() -> None:
    lines = figures(live_order(ORDER, QUOTE))
    assert list(lines) == [
        "mode", "order", "market", "price", "venue", "wallet", "receive", "fee", "total",
    ]  # fmt: skip
    assert lines["order"].startswith("buy YES for 20.00 USDC.e")
    assert lines["price"] == "at most 0.510 per share"
    assert lines["receive"] == "about 40.00 shares"
    assert lines["wallet"].startswith("0xabab")
    assert figures(replace(ORDER, price=None))["price"] == "best price on the book"
    assert "total" not in figures(quote=None)
    assert "receive" not in figures(quote=replace(QUOTE, ok=False))
    held = replace(REAL, wallet=replace(REAL.wallet, address=""))
    assert figures(state=held)["wallet"] == "held by the service"


def test_a_limit_order_says_so_and_that_it_stays_on_the_book() -> None:
    lines = figures(LIMIT)
    assert "price" not in lines
    assert lines["limit"] == "at most 0.45 per share"
    assert "until filled, cancelled (" in follows(LIMIT)
    expiring = replace(LIMIT, expires_at=Timestamp(5.0))
    assert "until filled, expired, cancelled (" in follows(expiring)
    assert "Fill-and-kill. Fills" in follows()
    assert "Fill-or-kill: all of it or nothing. Fills" in follows(replace(ORDER, whole=True))


def test_a_sale_asks_for_a_price_and_brings_its_money_after_the_fee() -> None:
    sale = replace(ORDER, action=Action.SELL, amount=Micros(0), shares=Micros(40 * ONE), price=0.49)
    lines = figures(sale, quote=replace(QUOTE, fee=Micros(ONE)))
    assert lines["price"] == "at least 0.490 per share"
    assert lines["receive"] == "about 19.00 USDC.e after the fee"
    assert "total" not in lines
    assert "on top" not in lines["fee"]


def test_another_agent_trades_from_its_own_wallet_and_signs_nothing_here() -> None:
    external = replace(OWN, wallet=replace(OWN.wallet, ownership=Ownership.EXTERNAL))
    lines = figures(state=external, agent="heron")
    assert (lines["agent"], "wallet" in lines) == ("heron", False)
    assert follows(state=external).startswith("Signed with your key, sent once.")
    for state, more in ((external, {"agent": "heron"}), (OWN, {})):
        assert follows(state=state, **more).startswith("Placed once by the service")
    body = live_question(ORDER, OWN, QUOTE, agent="heron").body.plain
    assert "heron" in body
    assert "wallet" not in body


def test_an_order_that_replaces_another_names_that_one() -> None:
    one, other = open_order(shares=Micros(30 * ONE), price=0.6), open_order(order_id="o2")
    amended = replace(LIMIT, replaces="o1")
    state = replace(OWN, orders=(other, one))
    said = "30.00 shares at 0.60, cancelled first"
    assert figures(amended, state)["replaces"] == said
    masked = replace(state, preferences={"privacy": "on"})
    assert "30.00" not in figures(amended, masked)["replaces"]
    gone = replace(OWN, orders=(other,))
    assert figures(amended, gone)["replaces"] == "the open order, cancelled first"
    assert "replaces" not in figures(LIMIT, state)
    question = live_question(amended, state, QUOTE)
    assert (question.title, question.confirm, question.key) == (
        "Real money: replace this order?", "replace order", "p",
    )  # fmt: skip
    fresh = live_question(ORDER, state, QUOTE)
    assert (fresh.title, fresh.confirm) == ("Real money: place this order?", "place order")


def test_what_is_signed_is_shown_by_its_ends() -> None:
    order = replace(ORDER, token="1234567890" * 7, fee_rate_bps=25, stop_loss_pct=0.1)
    lines = figures(order)
    assert (lines["token"], lines["fee rate"]) == ("1234567890…1234567890", "at most 25 bps")
    assert lines["when filled"].startswith("sets")
    assert shortened("1" * 20) == "1" * 20
    assert shortened("1" * 21) == f"{'1' * 10}…{'1' * 10}"
    assert {"token", "fee rate", "when filled"} & set(figures()) == set()


@pytest.mark.parametrize("order", [ORDER, LIMIT])
def test_masked_amounts_stay_masked(order: PlaceTrade) -> None:
    masked = replace(OWN, preferences={"privacy": "on"})
    quote = replace(QUOTE, fee=Micros(7_770_000))
    assert "7.77" in " ".join(figures(quote=quote).values())
    text = " ".join(figures(order, masked, quote).values())
    assert "7.77" not in text
    assert "20.00" not in text
    assert "40.00" not in text
    assert "abab" not in text
