"""Trades of a Solana wallet: quoted, signed by a rehearsal wallet, carried out once."""

import asyncio
import base64
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pytest

from kit.service.line import Line, change, sink_on
from kit.service.stage import Stage, open_stage
from service_tui.server.http.sol_quotes import SolQuote
from service_tui.server.routes.sol_trades import (
    QUOTE_S,
    SLIP_MAX,
    fill_status_of,
    is_worse,
)
from service_tui.signing.errors import MalformedError
from service_tui.signing.solana import (
    check_signed,
    decode_base58,
    encode_base58,
    memo_message,
    sign_transaction,
    unsigned_transaction,
    wallet_of,
)
from service_tui.terms import Action, Side, Venue
from service_tui.units import Timestamp
from service_tui.wire.endpoints.public import PATCH_USER_SETTINGS, TRADES
from service_tui.wire.endpoints.trading import SOL_QUOTE, SOL_SUBMIT
from service_tui.wire.sol_trades import SolQuoteRequest
from service_tui.wire.trades import TradeBody

Json = dict[str, Any]
SECRET: Final = bytes(range(32))
OTHER: Final = bytes(range(1, 33))
WALLET: Final = wallet_of(SECRET)


async def ready(stage: Stage) -> str:
    """Claim the agent, give it its wallet, and name a market of the venue."""
    changes: dict[str, object] = {"claimed": True, "real_trading_enabled": True}
    stage.world.change(stage.agent, changes, stage.clock.now())
    line = Line(stage, stage.key)
    answer = await line.ask(PATCH_USER_SETTINGS, json={"bot_solana_wallet": WALLET})
    assert answer.status_code == 200
    return max(
        (one for one in stage.open_markets() if one.listing.home is Venue.SOL),
        key=lambda one: one.listing.resolves_at,
    ).market_id


async def quoted(stage: Stage, market_id: str, **changes: object) -> Json:
    body = {"market_id": market_id, "side": "yes", "wallet_address": WALLET, "amount": 20}
    answer = await Line(stage, stage.key).ask(SOL_QUOTE, json=body | changes)
    assert answer.status_code == 200, answer.text
    made: Json = answer.json()
    return made


def submission(market_id: str, quote: Json, secret: bytes = SECRET, **changes: object) -> Json:
    signed = sign_transaction(quote["transaction"], secret)
    body = {
        "market_id": market_id,
        "side": "yes",
        "action": "buy",
        "quote_id": quote["quote_id"],
        "signed_transaction": signed,
    }
    return body | changes


@pytest.mark.slow
async def test_a_signed_quote_is_carried_out_once(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        market_id, line = await ready(stage), Line(stage, stage.key)
        before = stage.world.venues.cash(stage.agent_id, Venue.SOL)
        quote = await quoted(stage, market_id)
        assert quote["success"], quote
        assert quote["in_amount"] == pytest.approx(20, abs=0.5)
        assert quote["price"] == pytest.approx(quote["in_amount"] / quote["out_amount"], abs=1e-4)
        body = submission(market_id, quote, reasoning="because", source="sdk:me")
        done = (await line.ask(SOL_SUBMIT, json=body)).json()
        assert done["success"], done
        assert done["shares_bought"] == pytest.approx(quote["out_amount"])
        assert done["cost"] == pytest.approx(quote["in_amount"])
        assert done["tx_signature"]
        spent = before - stage.world.venues.cash(stage.agent_id, Venue.SOL)
        assert spent > 0
        again = await line.ask(SOL_SUBMIT, json=body)
        assert again.status_code == 404
        assert before - stage.world.venues.cash(stage.agent_id, Venue.SOL) == spent
        # What was bought is sold by the same way.
        sale = await quoted(stage, market_id, amount=0, shares=done["shares_bought"], action="sell")
        assert sale["success"], sale
        body = submission(market_id, sale, action="sell")
        sold = (await line.ask(SOL_SUBMIT, json=body)).json()
        assert sold["success"], sold
        assert sold["shares_sold"] == pytest.approx(done["shares_bought"])
        assert stage.world.ledger.total() == 0


@pytest.mark.slow
async def test_a_quote_that_is_submitted_twice_at_once_is_carried_out_once(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path) as stage:
        market_id, line = await ready(stage), Line(stage, stage.key)
        body = submission(market_id, await quoted(stage, market_id))
        async with asyncio.TaskGroup() as tasks:
            asked = [tasks.create_task(line.ask(SOL_SUBMIT, json=body)) for _ in range(4)]
        assert sorted(one.result().status_code for one in asked) == [200, 404, 404, 404]
        assert stage.world.venues.account(stage.agent_id, Venue.SOL).trades_count == 1


@pytest.mark.slow
async def test_only_the_wallets_signature_of_this_quote_counts(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        market_id, line = await ready(stage), Line(stage, stage.key)
        quote, other = await quoted(stage, market_id), await quoted(stage, market_id, amount=30)
        good = submission(market_id, quote)
        raw = bytearray(base64.b64decode(str(good["signed_transaction"])))
        raw[-2] ^= 1
        for wrong in (
            submission(market_id, quote, OTHER),
            good | {"signed_transaction": quote["transaction"]},
            good | {"signed_transaction": base64.b64encode(bytes(raw)).decode()},
            good | {"quote_id": other["quote_id"]},
            good | {"side": "no"},
            good | {"action": "sell"},
            good | {"signed_transaction": "no base64!"},
        ):
            answer = await line.ask(SOL_SUBMIT, json=wrong)
            assert answer.status_code == 422, answer.text
        assert stage.world.venues.account(stage.agent_id, Venue.SOL).trades_count == 0
        assert (await line.ask(SOL_SUBMIT, json=good)).json()["success"]


@pytest.mark.slow
async def test_a_quote_is_good_for_five_minutes(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        market_id, line = await ready(stage), Line(stage, stage.key)
        quote = await quoted(stage, market_id)
        await stage.clock.advance(301)
        answer = await line.ask(SOL_SUBMIT, json=submission(market_id, quote))
        assert answer.status_code == 404
        assert "new one" in answer.json()["fix"]


@pytest.mark.slow
async def test_a_wallet_that_is_not_the_agents_is_refused(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        market_id = await ready(stage)
        body = {
            "market_id": market_id, "side": "yes", "wallet_address": wallet_of(OTHER), "amount": 5,
        }  # fmt: skip
        answer = await Line(stage, stage.key).ask(SOL_QUOTE, json=body)
        assert answer.status_code == 403


@pytest.mark.slow
async def test_both_sizes_or_none_are_refused(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        market_id, line = await ready(stage), Line(stage, stage.key)
        body = {"market_id": market_id, "side": "yes", "wallet_address": WALLET}
        for size in ({}, {"amount": 5, "shares": 5}, {"action": "sell", "amount": 5}):
            assert (await line.ask(SOL_QUOTE, json=body | size)).status_code == 422


@pytest.mark.slow
async def test_a_quote_says_what_is_given_and_got_and_none_is_made_of_what_is_refused(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        market_id, line = await ready(stage), Line(stage, stage.key)
        quote = await quoted(stage, market_id)
        memo = base64.b64decode(quote["transaction"]).decode("latin-1")
        assert f"{quote['quote_id']} buy yes {market_id} {quote['out_amount']} shares" in memo
        assert f"{quote['in_amount']} USDC, fee {quote['fee']}" in memo
        left_s = datetime.fromisoformat(quote["expires_at"]).timestamp() - stage.clock.now()
        assert left_s == pytest.approx(QUOTE_S)
        elsewhere = next(one for one in stage.open_markets() if one.listing.home is Venue.SIM)
        refused = await quoted(stage, elsewhere.market_id)
        assert (refused["success"], refused["quote_id"]) == (False, "")
        assert refused["error"]
        assert refused["fix"]
        body = {"market_id": market_id, "side": "yes", "wallet_address": WALLET, "amount": 5}
        for changes in ({"claimed": False}, {"claimed": True, "solana_wallet": None}):
            await change(stage, **changes)
            await line.said(SOL_QUOTE, 403, json=body)
        # Nor does a wallet trade that was changed after the quote.
        await line.said(SOL_SUBMIT, 403, json=submission(market_id, quote))
        assert stage.world.venues.account(stage.agent_id, Venue.SOL).trades_count == 0


@pytest.mark.slow
async def test_an_order_that_would_bring_less_by_now_wants_a_new_signature(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        market_id, line = await ready(stage), Line(stage, stage.key)
        body = submission(market_id, await quoted(stage, market_id))
        held = (await line.said(SOL_SUBMIT, json=body))["shares_bought"]
        size = {"amount": 0, "shares": held, "action": "sell"}
        sale = submission(market_id, await quoted(stage, market_id, **size), action="sell")
        await sink_on(stage, market_id)
        cash = stage.world.venues.cash(stage.agent_id, Venue.SOL)
        for _ in range(2):
            # The quote is kept: the price may come back.
            moved = await line.said(SOL_SUBMIT, json=sale)
            assert (moved["success"], moved["error_code"], moved["retryable"]) == (
                False, "PRICE_MOVED", True,
            )  # fmt: skip
            assert moved["fix"]
        assert stage.world.venues.cash(stage.agent_id, Venue.SOL) == cash
        again = submission(market_id, await quoted(stage, market_id, **size), action="sell")
        said = {"reasoning": "why", "source": "sdk:x", "skill_slug": "dip"}
        done = await line.said(SOL_SUBMIT, json=again | said)
        assert (done["success"], done["fill_status"]) == (True, "filled")
        assert done["price"] == pytest.approx(done["cost"] / done["shares_sold"], abs=1e-6)
        row = (await line.said(TRADES))["trades"][0]
        assert {name: row[name] for name in said} == said
        # What is refused at once says why, and the quote is not used up by it.
        lost = submission(market_id, await quoted(stage, market_id, amount=5))
        await change(stage, trading_paused=True)
        no = await line.said(SOL_SUBMIT, json=lost)
        assert (no["success"], no["tx_signature"], no["shares"]) == (False, "", 0.0)
        assert no["error_code"]
        assert no["fix"]


@pytest.mark.parametrize(
    ("action", "share", "money", "moved"),
    [
        (Action.BUY, 1 - SLIP_MAX, 1.0, False),
        (Action.BUY, 1 - SLIP_MAX - 0.0001, 1.0, True),
        (Action.BUY, 1.2, 0.5, False),
        (Action.SELL, 1.0, 1 - SLIP_MAX, False),
        (Action.SELL, 1.0, 1 - SLIP_MAX - 0.0001, True),
        (Action.SELL, 0.5, 1.2, False),
    ],
)
def test_an_order_is_worse_by_what_it_brings_for_what_was_signed(
    action: Action, share: float, money: float, *, moved: bool
) -> None:
    terms = SolQuoteRequest(market_id="m", side=Side.YES, wallet_address=WALLET, action=action)
    kept = SolQuote("ada", terms, 30.0, 12.0, b"", Timestamp(0.0))
    which = "shares_bought" if action is Action.BUY else "shares_sold"
    now = TradeBody(success=True, market_id="m", side=Side.YES, cost=12.0 * money)
    assert is_worse(now.model_copy(update={which: 30.0 * share}), kept) is moved


@pytest.mark.parametrize(
    ("shares", "given", "status"),
    [
        (0.0, "filled", "submitted"), (3.0, "partially_filled", "partially_filled"),
        (3.0, "submitted", "filled"), (3.0, "filled", "filled"),
    ],
)  # fmt: skip
def test_what_became_of_a_trade_is_told_by_its_shares(
    shares: float, given: Any, status: str
) -> None:
    trade = TradeBody(success=True, market_id="m", side=Side.YES)
    assert fill_status_of(trade.model_copy(update={"fill_status": given}), shares) == status


def test_an_address_is_read_back_as_it_was_written() -> None:
    for raw in (bytes(32), bytes(31) + b"\1", SECRET, b"\xff" * 32):
        assert decode_base58(encode_base58(raw)) == raw
    for text in ("", "0", "1" * 31, "1" * 33, "O" * 32, "l" * 40):
        with pytest.raises(MalformedError):
            decode_base58(text)


def test_a_transaction_has_the_chains_form() -> None:
    message = memo_message(WALLET, "quote")
    raw = base64.b64decode(unsigned_transaction(message))
    # One signature, empty; version 0; one signer; two accounts, the wallet first.
    assert raw[:1] == b"\1"
    assert raw[1:65] == bytes(64)
    assert raw[65] == 0x80
    assert raw[66:69] == b"\1\0\1"
    assert raw[69] == 2
    assert raw[70:102] == decode_base58(WALLET)
    assert raw.endswith(b"\5quote\0")
    check_signed(sign_transaction(unsigned_transaction(message), SECRET), message, WALLET)
