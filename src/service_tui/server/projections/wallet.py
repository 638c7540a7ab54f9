"""Wallets, redemptions and the chain as wire bodies."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from service_tui.engine.agents.agents import Agent
from service_tui.engine.books.catalogue import condition_of, token_of, url_of
from service_tui.engine.books.venues import REAL, VenuePosition
from service_tui.engine.chain.chain import GWEI, POL_PRICE, WEI, Tx, Wallet, approvals_set
from service_tui.engine.chain_events import TxStatus
from service_tui.engine.transitions import PositionState
from service_tui.engine.world import World
from service_tui.server.chain_node.contract_calls import approvals_of, usdc_of
from service_tui.server.chain_node.relay import approval_keys, gas_needed
from service_tui.server.ends import announced_for
from service_tui.server.projections.present import OWNERSHIP, wallet_address
from service_tui.signing.approvals import approvals
from service_tui.signing.book import POLYGON, ExchangeVersion
from service_tui.terms import Side, Venue, WalletKind
from service_tui.units import Micros, Timestamp, decimal
from service_tui.wire.base import moment
from service_tui.wire.chain import ChainBody
from service_tui.wire.redemption import RedemptionBody, RedemptionsBody, VenueRedemptionsBody
from service_tui.wire.wallet import ExchangeApprovalBody, RequirementBody, WalletBody

STATES: Final = {
    PositionState.ACTIVE: "Active",
    PositionState.AWAITING: "Awaiting Settlement",
    PositionState.READY: "Ready to Redeem",
    PositionState.REDEEMED: "Redeemed",
}
"""Words of the spec, "Position lifecycle"."""

_WAITING: Final = {PositionState.ACTIVE: "market", PositionState.AWAITING: "oracle"}

NO_GAS: Final = "too little POL for gas; it goes on when the wallet is topped up"
"""Source: spec, "Auto-redeem pause"."""


def pause_of(world: World, agent: Agent) -> str | None:
    """Why auto-redeem is paused; None if it is not."""
    wallet = world.chain.wallet_of(agent.agent_id)
    if wallet is None or wallet.gas >= gas_needed(world):
        return None
    return NO_GAS


def wallet_body(world: World, agent: Agent, exchange: ExchangeVersion) -> WalletBody:
    """The wallet and what real trades still need."""
    agent_id, settings = agent.agent_id, agent.settings
    wallet = world.chain.wallet_of(agent_id)
    by_version = versions_of(approvals_of(world, wallet_address(world, agent) or ""))
    is_approved = any(one.approvals_set for one in by_version.values())
    checks = checks_of(world, agent)
    return WalletBody(
        wallet_address=wallet_address(world, agent),
        wallet_ownership=OWNERSHIP[settings.wallet],
        usdc=decimal(Micros(usdc_of(world, agent))),
        pusd=decimal(Micros(usdc_of(world, agent))),
        native_usdc=0.0 if wallet is None else decimal(wallet.native_usdc),
        gas=0.0 if wallet is None else wallet.gas / WEI,
        gas_needed=0.0 if wallet is None else gas_needed(world) / WEI,
        gas_enough=wallet is None or wallet.gas >= gas_needed(world),
        pol_usd=POL_PRICE,
        pay_usdc=0.0 if wallet is None else decimal(world.chain.pay_balance(wallet.address)),
        approvals_set=is_approved,
        approvals_missing=()
        if is_approved or wallet is None
        else by_version[exchange.value].missing,
        by_version=by_version,
        has_credentials=has_credentials(world, agent),
        restricted=wallet is not None and wallet.restricted,
        exchange_version=exchange.value,
        ready=all(check.done for check in checks),
        checks=checks,
        auto_redeem_paused=pause_of(world, agent),
        linked_at=None if wallet is None else moment(wallet.linked_at),
        simulated=True,
    )


def versions_of(given: Collection[str]) -> dict[str, ExchangeApprovalBody]:
    """What the approvals that were given allow, and what is missing, by generation."""
    return {
        exchange.value: ExchangeApprovalBody(
            approvals_set=all(key in given for key in approval_keys(exchange)),
            missing=tuple(
                one.about
                for one in approvals(POLYGON, exchange)
                if one.key in approval_keys(exchange) and one.key not in given
            ),
        )
        for exchange in ExchangeVersion
    }


def has_credentials(world: World, agent: Agent) -> bool:
    """Whether the service can place orders at the venue: for its own wallets always."""
    wallet = world.chain.wallet_of(agent.agent_id)
    if wallet is None:
        return agent.settings.wallet is WalletKind.MANAGED
    return wallet.credentials_at is not None


def checks_of(world: World, agent: Agent) -> tuple[RequirementBody, ...]:
    """What real trades need, in the order to do it. Source: decisions, "Live orders"."""
    settings = agent.settings
    claimed = RequirementBody(
        name="claimed",
        done=settings.claimed,
        about="a person has claimed the agent",
        fix="" if settings.claimed else "open the claim link, or claim it in the console",
    )
    enabled = RequirementBody(
        name="enabled",
        done=settings.real_trading_enabled,
        about="real trading is switched on",
        fix=""
        if settings.real_trading_enabled
        else "send sdk_real_trading_enabled true to PATCH /api/sdk/settings",
    )
    has_cash = usdc_of(world, agent) > 0
    money = RequirementBody(
        name="collateral",
        done=has_cash,
        about="there is USDC.e or pUSD to trade with",
        fix="" if has_cash else _money_fix(world.chain.wallet_of(agent.agent_id)),
    )
    return (claimed, *_external(world, agent), money, enabled)


def _money_fix(wallet: Wallet | None) -> str:
    if wallet is not None and wallet.native_usdc:
        return "native USDC is not accepted: swap it to USDC.e (bridged)"
    return "send USDC.e (bridged) to the wallet; native USDC is not accepted"


def _external(world: World, agent: Agent) -> tuple[RequirementBody, ...]:
    """What an external wallet needs besides; nothing of a managed one."""
    if agent.settings.wallet is WalletKind.MANAGED:
        return ()
    wallet = world.chain.wallet_of(agent.agent_id)
    linked = RequirementBody(
        name="linked",
        done=wallet is not None,
        about="a wallet is linked",
        fix="" if wallet else "link a wallet by signing a challenge",
    )
    if wallet is None:
        return (linked,)
    approved = any(approvals_set(wallet, approval_keys(one)) for one in ExchangeVersion)
    enough, knows = wallet.gas >= gas_needed(world), wallet.credentials_at is not None
    return (
        linked,
        RequirementBody(
            name="unrestricted",
            done=not wallet.restricted,
            about="the venue takes orders of this wallet",
            fix="link a new wallet: agent, key and history carry over" if wallet.restricted else "",
        ),
        RequirementBody(
            name="credentials",
            done=knows,
            about="the service has the venue's credentials",
            fix="" if knows else "sign the venue's headers and derive them",
        ),
        RequirementBody(
            name="gas",
            done=enough,
            about="there is POL for gas",
            fix="" if enough else "send a little POL to the wallet",
        ),
        RequirementBody(
            name="approvals",
            done=approved,
            about="the venue may move the wallet's tokens",
            fix="" if approved else "activate trading: send the missing approvals",
        ),
    )


# -- redemptions ---------------------------------------------------------------------------


class PositionSide(NamedTuple):
    """One side of one position of an agent on a venue."""

    agent: Agent
    venue: Venue
    holding: VenuePosition
    side: Side

    @property
    def pays(self) -> bool:
        """Whether it brings anything, now that the market has ended."""
        return self.holding.pays(self.side)

    @property
    def won(self) -> bool | None:
        """Whether it won; None before the end, and where no side won whole but this one pays."""
        outcome = self.holding.outcome
        if outcome is None or (outcome.winner is None and self.pays):
            return None
        return self.pays


def redemptions_body(world: World, agent: Agent, limit: int) -> RedemptionsBody:
    """Everything on its way to money: what waits first, then what is redeemed, newest first."""
    slots = [
        PositionSide(agent, venue, holding, side)
        for venue in REAL
        for holding in world.venues.account(agent.agent_id, venue).holdings.values()
        for side in Side
        if holding.position.shares(side)
    ]
    waiting = [
        redemption_body(world, slot)
        for slot in slots
        if slot.holding.state is not PositionState.REDEEMED
    ]
    done = [slot for slot in slots if slot.holding.state is PositionState.REDEEMED]
    done.sort(key=lambda slot: -(slot.holding.redeemed_at or 0.0))
    ready = [row for row in waiting if row.redeemable]
    return RedemptionsBody(
        redemptions=(
            *sorted(waiting, key=_urgency),
            *(redemption_body(world, slot) for slot in done[:limit]),
        ),
        redeemable_count=len(ready),
        by_venue={venue.value: _ready_on(venue, ready) for venue in REAL},
        auto_redeem_enabled=agent.settings.auto_redeem_enabled,
        paused=pause_of(world, agent),
    )


def with_redeemed(
    body: RedemptionsBody, redeemed: Mapping[Venue, tuple[int, Micros]]
) -> RedemptionsBody:
    """The same with what was ever redeemed: how many positions by venue, and their payouts."""
    by_venue = {
        venue.value: body.by_venue[venue.value].model_copy(
            update={"redeemed_count": count, "redeemed_amount": decimal(amount)}
        )
        for venue, (count, amount) in redeemed.items()
    }
    count = sum(count for count, _ in redeemed.values())
    return body.model_copy(update={"by_venue": by_venue, "redeemed_count": count})


def _ready_on(venue: Venue, ready: Sequence[RedemptionBody]) -> VenueRedemptionsBody:
    own = [row for row in ready if row.venue is venue]
    amount = sum(row.payout for row in own)
    return VenueRedemptionsBody(redeemable_count=len(own), redeemable_amount=amount)


def _urgency(row: RedemptionBody) -> tuple[bool, float]:
    """What can be redeemed first, then what ends soonest."""
    return not row.redeemable, row.resolves_at.timestamp() if row.resolves_at else 0.0


def redemption_body(world: World, slot: PositionSide) -> RedemptionBody:
    """One side of a position on its way."""
    agent, venue, holding, side = slot
    market_id, on_chain = holding.position.market_id, venue is Venue.EVM
    tx = tx_of(world, holding, agent.agent_id)
    market = world.markets.get(market_id)
    return RedemptionBody(
        market_id=market_id,
        side=side,
        question=holding.question,
        venue=venue,
        state=STATES[holding.state],
        won=slot.won,
        shares=decimal(holding.position.shares(side)),
        payout=decimal(holding.brought(side)),
        cost=decimal(holding.position.cost(side)),
        redeemable=holding.is_redeemable(side),
        manual=not on_chain,
        waits_for=_waits_for(world, slot),
        resolves_at=announced_for(world, holding),
        resolved_at=None if holding.resolved_at is None else moment(holding.resolved_at),
        ready_at=None if holding.ready_at is None else moment(holding.ready_at),
        redeemed_at=None if holding.redeemed_at is None else moment(holding.redeemed_at),
        tx_hash=None if tx is None else tx.sent.tx_hash,
        tx_status=None if tx is None else tx.status.value,
        reported=tx is not None and holding.state is PositionState.REDEEMED,
        condition_id=condition_of(market_id) if on_chain else None,
        token_id=token_of(market_id, side, neg_risk=holding.neg_risk) if on_chain else None,
        neg_risk=holding.neg_risk,
        url=None if market is None else url_of(market.listing),
        simulated=True,
    )


def tx_of(world: World, holding: VenuePosition, agent_id: str) -> Tx | None:
    """The newest transaction of the linked wallet about a position; one that was lost is none."""
    condition = condition_of(holding.position.market_id)
    return next(
        (
            tx
            for tx in reversed(world.chain.txs.values())
            if tx.sent.call.condition == condition
            and tx.sent.agent_id == agent_id
            and world.venues.is_linked(agent_id, tx.sent.sender)
            and tx.status is not TxStatus.DROPPED
        ),
        None,
    )


def _waits_for(world: World, slot: PositionSide) -> str | None:
    """The party that has to act next; None if nothing is left to do."""
    state = slot.holding.state
    if state in _WAITING:
        return _WAITING[state]
    if state is PositionState.REDEEMED or not slot.pays:
        return None
    return "person" if slot.venue is not Venue.EVM else _signer_of(world, slot)


def _signer_of(world: World, slot: PositionSide) -> str:
    """The party that has to redeem a position that is ready on the chain."""
    settings = slot.agent.settings
    if settings.wallet is WalletKind.MANAGED:
        return "service" if settings.auto_redeem_enabled else "client"
    tx = tx_of(world, slot.holding, slot.agent.agent_id)
    if tx is not None and tx.status is TxStatus.PENDING:
        return "chain"
    return "gas" if pause_of(world, slot.agent) else "client"


def chain_body(world: World, at: Timestamp) -> ChainBody:
    """The simulated chain as its operator sees it."""
    pace = world.chain.pace
    return ChainBody(
        block=world.chain.block_at(at),
        block_s=pace.block_s,
        gas_price_gwei=pace.gas_price / GWEI,
        delay_blocks=pace.delay_blocks,
        faults=tuple(planned.value for planned in pace.faults),
        pending=sum(tx.status is TxStatus.PENDING for tx in world.chain.txs.values()),
    )
