"""Redemptions and the wallet of the wire as views."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from service_tui.desk.reasons import Fix
from service_tui.desk.slices.redemption import RedemptionRow, Stage
from service_tui.desk.slices.wallet import CASH_CHECK, CheckView, Ownership, WalletView
from service_tui.desk.wire_values import UNTRANSLATABLE, amount
from service_tui.outcome import outcome_in
from service_tui.terms import MONEY_OF, Side, Venue
from service_tui.units import Timestamp, decimal
from service_tui.wire.base import Moment, timestamp
from service_tui.wire.positions import PositionBody
from service_tui.wire.redemption import RedemptionBody
from service_tui.wire.settings import SettingsBody
from service_tui.wire.wallet import WalletBody

BY_HAND: Final = "redeem by hand on the venue's dashboard"
LOST: Final = "lost: nothing to redeem"
_WAITS: Final = {
    "market": "market open",
    "oracle": "awaiting resolution: minutes to hours",
    "venue": "settling at the venue: 10 to 30 minutes",
    "service": "redeemed by the service",
    "gas": "too little gas: send POL to the wallet",
    "chain": "sent, confirming on chain",
    "person": BY_HAND,
}
"""What happens next, by whom it waits for."""

_LIFECYCLE: Final = {
    "active": Stage.ACTIVE,
    "awaiting_settlement": Stage.AWAITING,
    "ready_to_redeem": Stage.READY,
    "redeemed": Stage.REDEEMED,
}


def redemption_row(body: RedemptionBody) -> RedemptionRow:
    """One row of the queue.

    Returns:
        The row.

    Raises:
        ValueError: a state that the lifecycle does not have.
    """
    stage = Stage(body.state)
    venue = body.venue or Venue.EVM
    manual = body.manual or venue is Venue.SOL
    lost = body.won is False
    since = {
        Stage.ACTIVE: None,
        Stage.AWAITING: body.resolves_at,
        Stage.READY: body.ready_at or body.resolved_at,
        Stage.REDEEMED: body.redeemed_at,
    }[stage]
    pays = body.payout or (0.0 if lost or stage is Stage.REDEEMED else body.shares)
    return RedemptionRow(
        market_id=body.market_id,
        question=body.question,
        side=body.side,
        venue=venue,
        stage=stage,
        shares=amount(body.shares),
        cost=amount(body.cost),
        amount=amount(pays),
        since=_at(since),
        in_world=stage is Stage.AWAITING or (stage is Stage.READY and body.ready_at is None),
        lost=lost,
        manual=manual,
        condition_id=body.condition_id or "",
        token_id=body.token_id or "",
        neg_risk=body.neg_risk,
        next_text=_next(stage, venue, body.waits_for or "", lost=lost, manual=manual, pays=pays),
        simulated=body.simulated,
        tx_hash=body.tx_hash or "",
        reported=body.reported,
    )


def rows_of_position(body: PositionBody) -> Iterator[RedemptionRow]:
    """The rows of a position, for a service that keeps no queue."""
    if body.venue is Venue.SIM:
        return
    stage = _stage_of(body)
    for side, shares in ((Side.YES, body.shares_yes), (Side.NO, body.shares_no)):
        if shares <= 0:
            continue
        is_final = stage in {Stage.READY, Stage.REDEEMED}
        outcome = outcome_in(body)
        lost = is_final and outcome is not None and not outcome.pays(side)
        manual = body.venue is Venue.SOL
        pays = amount(0.0 if lost else shares)
        if is_final and outcome is not None:
            pays = outcome.paid(side, amount(shares), amount(_cost_of(body, side)))
        yield RedemptionRow(
            market_id=body.market_id,
            question=body.question,
            side=side,
            venue=body.venue,
            stage=stage,
            shares=amount(shares),
            cost=amount(_cost_of(body, side)),
            amount=pays,
            since=_at(body.resolved_at or body.resolves_at) if stage is not Stage.ACTIVE else None,
            in_world=True,
            lost=lost,
            manual=manual,
            condition_id=body.condition_id or "",
            token_id=(body.token_id_yes if side is Side.YES else body.token_id_no) or "",
            next_text=_next(stage, body.venue, "", lost=lost, manual=manual, pays=decimal(pays)),
            simulated=body.simulated,
        )


def wallet_view(body: WalletBody, known: WalletView) -> WalletView:
    """View of the wallet from the service; figures that this desk knows better stay."""
    owner = _ownership(body.wallet_ownership)
    external, address = owner is Ownership.EXTERNAL, body.wallet_address or ""
    return replace(
        _of(known, address if external else ""),
        is_read=True,
        ownership=owner,
        managed_address="" if external else address,
        usdc=amount(body.usdc),
        usdc_native=amount(body.native_usdc),
        gas=amount(body.gas),
        gas_needed=amount(body.gas_needed),
        pol_price=body.pol_usd or None,
        has_credentials=body.has_credentials,
        real_trading=any(one.name == "enabled" and one.done for one in body.checks),
        restricted="the venue rejects this wallet" if body.restricted else "",
        simulated=body.simulated,
        served=tuple(
            CheckView(
                _NAMES[one.name],
                is_done=one.done,
                detail=_DONE.get(one.name, one.about) if one.done else _NOT[one.name],
                fix="" if one.done else _FIXES.get(one.name, one.fix),
            )
            for one in body.checks
        ),
    )


def wallet_of_settings(body: SettingsBody, known: WalletView) -> WalletView:
    """View of the wallet from a service that reports wallets in its settings only."""
    address = body.linked_wallet_address or body.wallet_address or ""
    owner = _ownership(body.wallet_ownership)
    external = owner is Ownership.EXTERNAL
    managed = "" if external else address
    usdc = body.polymarket_usdc_balance
    return replace(
        _of(known, address if external else ""),
        is_read=True,
        ownership=owner,
        managed_address=managed,
        usdc=None if usdc is None else amount(usdc),
        usdc_native=None,
        gas_needed=None,
        pol_price=None,
        real_trading=body.sdk_real_trading_enabled,
        restricted="",
        simulated=False,
        served=(
            CheckView(
                _NAMES["linked"],
                is_done=external,
                detail=f"{owner.value}, {address}" if address else "no wallet",
                fix="" if external else Fix.LINK_WALLET,
            ),
            CheckView(
                _NAMES["approvals"],
                is_done=body.polymarket_allowances_set,
                detail="given" if body.polymarket_allowances_set else "not given",
                fix="" if body.polymarket_allowances_set else Fix.GIVE_APPROVALS,
            ),
            CheckView(
                _NAMES["enabled"],
                is_done=body.sdk_real_trading_enabled,
                detail="allowed" if body.sdk_real_trading_enabled else "not allowed for this agent",
                fix="" if body.sdk_real_trading_enabled else _FIXES["enabled"],
            ),
        ),
    )


_NAMES: Final = {
    "claimed": "agent claimed",
    "linked": "wallet linked",
    "credentials": "venue credentials",
    "gas": "gas",
    "collateral": CASH_CHECK,
    "approvals": "approvals",
    "enabled": "real trades allowed",
    "unrestricted": "accepted by venue",
}

_DONE: Final = {"collateral": "USDC.e or pUSD in the wallet"}
"""Text of a step that is done, where it is not the service's."""

_NOT: Final = {
    "claimed": "not approved for real money",
    "linked": "no wallet linked",
    "credentials": "not created yet",
    "gas": "too little POL for gas",
    "collateral": "no USDC.e to trade with",
    "approvals": "the venue may not move the wallet's tokens",
    "enabled": "not allowed for this agent",
    "unrestricted": "the venue rejects orders of this wallet",
}
"""Text of a step that is not done: never that of one that is."""

_FIXES: Final = {
    "claimed": Fix.CLAIM,
    "enabled": Fix.ALLOW_REAL_TRADES,
    "linked": Fix.LINK_WALLET,
    "credentials": Fix.MAKE_CREDENTIALS,
    "approvals": Fix.GIVE_APPROVALS,
}
"""What the wallet's page does itself, by its key."""


def _of(known: WalletView, address: str) -> WalletView:
    """The known view of a wallet, without figures of another wallet."""
    if known.address.lower() == address.lower():
        return known
    return replace(known, address=address, approvals=(), approvals_at=None)


def _ownership(word: str) -> Ownership:
    return Ownership.EXTERNAL if word == Ownership.EXTERNAL.value else Ownership.MANAGED


def _next(
    stage: Stage, venue: Venue, waits_for: str, *, lost: bool, manual: bool, pays: float
) -> str:
    """The next step as a text that stays true as time passes."""
    if stage is Stage.REDEEMED:
        return "paid" if pays else "done: nothing left to redeem"
    if lost or (manual and stage is Stage.READY):
        return LOST if lost else BY_HAND
    waits = {Stage.ACTIVE: "market", Stage.AWAITING: "oracle"}.get(stage, "")
    ready = f"redeem: {decimal(amount(pays)):,.2f} {MONEY_OF[venue]} to the wallet"
    return _WAITS.get(waits_for) or _WAITS.get(waits) or ready


def _stage_of(body: PositionBody) -> Stage:
    """Stage of a position: the service's own field, else derived from its market."""
    word = (body.lifecycle or "").lower().replace(" ", "_")
    if word in _LIFECYCLE:
        return _LIFECYCLE[word]
    if body.redeemable or body.status in {"won", "lost", "settled", "voided", "resolved"}:
        return Stage.READY
    return Stage.AWAITING if body.status == "closed" else Stage.ACTIVE


def _cost_of(body: PositionBody, side: Side) -> float:
    """Cost of a side's open shares; the whole cost for a row without sides."""
    own = [one.cost_basis for one in body.sides if one.side == side.value]
    return own[0] if own else body.cost_basis


def _at(moment: Moment | None) -> Timestamp | None:
    return None if moment is None else timestamp(moment)


def rows_of(bodies: tuple[RedemptionBody, ...]) -> tuple[tuple[RedemptionRow, ...], int]:
    """The queue, and how many rows of it could not be used."""
    rows: list[RedemptionRow] = []
    for body in bodies:
        try:
            rows.append(redemption_row(body))
        except UNTRANSLATABLE:
            continue
    return tuple(rows), len(bodies) - len(rows)
