"""Carries out the rows of a scenario: events of the world, calls of agents and supervisors."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, NamedTuple

from service_tui.client.client import Client
from service_tui.client.errors import ServiceError
from service_tui.drills.kinds import YOU
from service_tui.drills.line import BrokenLine, LineFault
from service_tui.drills.scenario import Row
from service_tui.drills.stage import DrillStage, Ramp, signer_of, wallet_address
from service_tui.engine.chain.chain import GWEI, WEI
from service_tui.engine.chain_events import WalletFilled
from service_tui.engine.events import Settlement
from service_tui.engine.reactor.wallets import ROSTER
from service_tui.folding import folded_name
from service_tui.signing.transactions import Transaction, sign_transaction
from service_tui.terms import Action, LeashMode, Side, TradeStatus
from service_tui.units import ONE, SHARE_QUANTUM, Micros, Timestamp, decimal, micros
from service_tui.wire.chain import BroadcastRequest, ChainPatch
from service_tui.wire.desk import DeskAgentPatch
from service_tui.wire.endpoints.desk import DESK_HALT, DESK_PATCH_AGENT, DESK_RESUME
from service_tui.wire.endpoints.fleet import (
    DESK_APPROVE,
    DESK_PENDING_TRADES,
    DESK_REFUSE,
    DESK_SET_LEASH,
)
from service_tui.wire.endpoints.public import (
    DELETE_MONITOR,
    DELETE_SIGNAL,
    PATCH_REACTOR,
    PENDING_SIGNALS,
    PLACE_TRADE,
    SET_MONITOR,
)
from service_tui.wire.endpoints.wallet import BROADCAST, DESK_PATCH_CHAIN, REDEEM
from service_tui.wire.fleet import ApproveRequest, LeashRequest, RefuseRequest
from service_tui.wire.monitors import MonitorQuery, MonitorRequest
from service_tui.wire.reactor import ReactorConfigPatch
from service_tui.wire.redemption import RedeemRequest
from service_tui.wire.trades import TradeRequest

_CENT: Final = 100
REDEEM_GAS: Final = 234_000


class Acting(NamedTuple):
    """A row at work: the stage, the person's connection, and the second of the drill."""

    stage: DrillStage
    line: BrokenLine
    at_s: float


async def act(acting: Acting, row: Row) -> str:
    """Carry a row out.

    Returns:
        Why it had not its usual effect, for the timeline; empty if it had.
    """
    try:
        return await ACTS[row.kind](acting, row)
    except ServiceError as error:
        return error.sentence


# -- the world ------------------------------------------------------------------------------------


async def _price(acting: Acting, row: Row) -> str:
    stage, over = acting.stage, row.number("over")
    market_id = stage.market_id(row.text("market"))
    start = stage.world.markets[market_id].price()
    stage.ramps[market_id] = Ramp(start, acting.at_s, row.number("to"), acting.at_s + over)
    return ""


async def _written(acting: Acting, row: Row) -> str:
    """What is part of the market from the start: its news and its end."""
    del acting, row
    return ""


async def _signal(acting: Acting, row: Row) -> str:
    stage, at_s = acting.stage, acting.at_s
    market = stage.world.markets[stage.market_id(row.text("market"))]
    side = Side(row.text("side"))
    shares = Micros(round(row.number("shares")) * ONE)
    label = row.text("wallet")
    wallet = next(one for one in ROSTER if folded_name(one.label) == folded_name(label))
    price = row.number("price") if row.has("price") else round(market.price_of(side), 4)
    cost = Micros(0)
    if row.flag("real"):
        quote = market.quote_buy(side, micros(round(decimal(shares) * price, 2)))
        shares, cost = quote.shares, quote.money
    named = f"{stage.scenario.name}:{row.line}:{at_s}"
    settled = Settlement(
        tx_hash="0x" + hashlib.sha256(named.encode()).hexdigest(),
        wallet=wallet_address(stage.scenario, label, row.line),
        label=wallet.label,
        venue=wallet.venue,
        market_id=market.market_id,
        slot=-1,
        number=0,
        side=side,
        action=Action.BUY,
        shares=shares,
        price=price,
        cost=cost,
    )
    await stage.sim.service.world_store.play(stage.times(at_s), {}, (settled,))
    return ""


async def _gas(acting: Acting, row: Row) -> str:
    stage = acting.stage
    agent_id = stage.actors[YOU].agent_id
    wallet = stage.world.chain.wallet_of(agent_id)
    if wallet is None:
        return "no wallet is linked"
    changes = {"gas": round(row.number("pol") * WEI)}
    event = WalletFilled(agent_id, Timestamp(stage.clock.now()), wallet.address, changes)
    await stage.sim.service.world_store.commit(stage.world.note(event))
    return ""


async def _chain(acting: Acting, row: Row) -> str:
    body = ChainPatch(
        gas_price_gwei=row.number("gwei") if row.has("gwei") else None,
        block_s=row.number("block") if row.has("block") else None,
        faults=(row.text("next"),) if row.has("next") else None,  # pyright: ignore[reportArgumentType]  (checked when the file was read)
    )
    await acting.stage.operator.call(DESK_PATCH_CHAIN, body=body)
    return ""


async def _fault(acting: Acting, row: Row) -> str:
    until = acting.at_s + row.number("for")
    acting.line.faults.append(
        LineFault(row.text("calls"), row.text("fault"), until, row.number("silence"))
    )
    return ""


# -- agents and persons ---------------------------------------------------------------------------


def _client(acting: Acting, row: Row) -> Client:
    return acting.stage.actors[row.text("who")].client


async def _trade(client: Client, body: TradeRequest) -> str:
    answer = (await client.call(PLACE_TRADE, body=body)).answer
    if not answer.success:
        return f"refused: {answer.error or 'no reason given'}"
    return "needs approval" if answer.status is TradeStatus.SUBMITTED else ""


async def _buy(acting: Acting, row: Row) -> str:
    body = TradeRequest(
        market_id=acting.stage.market_id(row.text("market")),
        side=Side(row.text("side")),
        action=Action.BUY,
        amount=round(row.number("money") * _CENT) / _CENT,
        reasoning=row.text("reason"),
    )
    return await _trade(_client(acting, row), body)


async def _sell(acting: Acting, row: Row) -> str:
    stage = acting.stage
    actor = stage.actors[row.text("who")]
    market_id, side = stage.market_id(row.text("market")), Side(row.text("side"))
    position = stage.world.agents[actor.agent_id].positions.get(market_id)
    held = Micros(0) if position is None else position.shares(side)
    part = row.number("part")
    shares = held if part >= 1 else Micros(int(held * part) // SHARE_QUANTUM * SHARE_QUANTUM)
    if shares <= 0:
        return "nothing is held"
    body = TradeRequest(market_id=market_id, side=side, action=Action.SELL, shares=decimal(shares))
    return await _trade(actor.client, body)


async def _stop(acting: Acting, row: Row) -> str:
    body = MonitorRequest(side=Side(row.text("side")), stop_loss_pct=row.number("loss"))
    path = {"market_id": acting.stage.market_id(row.text("market"))}
    await _client(acting, row).call(SET_MONITOR, path=path, body=body)
    return ""


async def _unstop(acting: Acting, row: Row) -> str:
    path = {"market_id": acting.stage.market_id(row.text("market"))}
    query = MonitorQuery(side=Side(row.text("side")))
    await _client(acting, row).call(DELETE_MONITOR, path=path, query=query)
    return ""


async def _follow(acting: Acting, row: Row) -> str:
    body = ReactorConfigPatch(enabled=row.flag("on"))
    await acting.stage.actors[YOU].client.call(PATCH_REACTOR, body=body)
    return ""


async def _mirror(acting: Acting, row: Row) -> str:
    del row
    client = acting.stage.actors[YOU].client
    waiting = (await client.call(PENDING_SIGNALS)).answer.reactor_signals
    if not waiting:
        return "no signal waits"
    signal = waiting[0]
    body = TradeRequest(
        market_id=signal.market_id,
        side=signal.side,
        action=Action.BUY,
        amount=signal.amount,
        signal_data={"signal_source": "reactor", "tx_hash": signal.tx_hash},
    )
    why = await _trade(client, body)
    await client.call(DELETE_SIGNAL, path={"signal_id": signal.signal_id or signal.tx_hash})
    return why


async def _redeem(acting: Acting, row: Row) -> str:
    """Redeem as the console does: ask for the transaction, sign it, hand it to the relay."""
    stage = acting.stage
    client = stage.actors[YOU].client
    market_id = stage.market_id(row.text("market"))
    outcome = stage.world.markets[market_id].outcome
    if outcome is None:
        return "the market has no outcome yet"
    side = Side.YES if outcome.pays(Side.YES) else Side.NO
    answer = (await client.call(REDEEM, body=RedeemRequest(market_id=market_id, side=side))).answer
    unsigned, signer = answer.unsigned_tx, signer_of(stage.scenario)
    if not answer.success or unsigned is None or signer is None:
        return "" if answer.success else answer.error or "refused"
    chain = stage.world.chain
    transaction = Transaction(
        nonce=chain.next_nonce(signer.address),
        max_priority_fee=30 * GWEI,
        max_fee=2 * chain.pace.gas_price,
        gas=REDEEM_GAS,
        to=unsigned.to or "",
        data=bytes.fromhex(unsigned.data.removeprefix("0x")),
    )
    signed = sign_transaction(transaction, signer).hex
    sent = (await client.call(BROADCAST, body=BroadcastRequest(signed_tx=signed))).answer
    return "" if sent.success else sent.error or "refused"


# -- supervisors ----------------------------------------------------------------------------------


async def _halt(acting: Acting, row: Row) -> str:
    del row
    await acting.stage.operator.call(DESK_HALT)
    return ""


async def _resume(acting: Acting, row: Row) -> str:
    del row
    await acting.stage.operator.call(DESK_RESUME)
    return ""


async def _waiting_of(acting: Acting, row: Row) -> list[str]:
    agent_id = acting.stage.actors[row.text("agent")].agent_id
    pending = (await acting.stage.operator.call(DESK_PENDING_TRADES)).answer.held
    return [trade.held_id for trade in pending if trade.agent_id == agent_id]


async def _approve(acting: Acting, row: Row) -> str:
    waiting = await _waiting_of(acting, row)
    for pending_id in waiting:
        path = {"held_id": pending_id}
        await acting.stage.operator.call(DESK_APPROVE, path=path, body=ApproveRequest())
    return "" if waiting else "no trade waits"


async def _refuse(acting: Acting, row: Row) -> str:
    waiting = await _waiting_of(acting, row)
    for pending_id in waiting:
        path = {"held_id": pending_id}
        await acting.stage.operator.call(DESK_REFUSE, path=path, body=RefuseRequest())
    return "" if waiting else "no trade waits"


async def _leash(acting: Acting, row: Row) -> str:
    body = LeashRequest(
        mode=LeashMode(row.text("mode")),
        threshold=row.number("threshold"),
        daily_budget=row.number("budget") if row.has("budget") else None,
    )
    path = {"agent_id": acting.stage.actors[row.text("agent")].agent_id}
    await acting.stage.operator.call(DESK_SET_LEASH, path=path, body=body)
    return ""


async def _pause(acting: Acting, row: Row) -> str:
    path = {"agent_id": acting.stage.actors[row.text("agent")].agent_id}
    body = DeskAgentPatch(trading_paused=row.flag("on"))
    await acting.stage.operator.call(DESK_PATCH_AGENT, path=path, body=body)
    return ""


Act = Callable[[Acting, Row], Awaitable[str]]

ACTS: Final[Mapping[str, Act]] = {
    "price": _price,
    "news": _written,
    "settle": _written,
    "signal": _signal,
    "gas": _gas,
    "chain": _chain,
    "fault": _fault,
    "buy": _buy,
    "sell": _sell,
    "stop": _stop,
    "unstop": _unstop,
    "follow": _follow,
    "mirror": _mirror,
    "redeem": _redeem,
    "halt": _halt,
    "resume": _resume,
    "approve": _approve,
    "refuse": _refuse,
    "leash": _leash,
    "pause": _pause,
}
"""What carries out each kind of `kinds.KINDS`."""
