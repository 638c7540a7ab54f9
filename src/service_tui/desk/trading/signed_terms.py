"""Checks token and fee of an order to sign against those shown or stored before. Pure.

A service that later names another condition, or a higher fee, changes nothing that is signed: it is
refused. Source: failures, "nothing signed that was not rebuilt"; decisions, "Live orders on
evm_venue".
"""

from dataclasses import dataclass

from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.redemption import Stage
from service_tui.desk.state import DeskState
from service_tui.desk.trading.live_orders import token_of, token_shown
from service_tui.signing.errors import PolicyRefusedError, Rule
from service_tui.signing.orders import token_number
from service_tui.signing.tokens import condition_bytes, outcome_token
from service_tui.storage.kept_tokens import Holding, KeptToken
from service_tui.terms import Side, Venue
from service_tui.units import Timestamp
from service_tui.wire.markets import MarketBody


@dataclass(frozen=True, slots=True)
class SignedTerms:
    """What is signed of an order beside its size and price.

    `fee_max` is the highest fee that was shown, None where none was and none is signed.
    """

    token: int
    condition_id: str
    is_neg_risk: bool
    fee_rate_bps: int
    fee_max: int | None


def signed_terms(
    order: PlaceTrade,
    kept: KeptToken | None,
    listed: MarketView | None,
    named: MarketBody,
    *,
    signs_fee: bool,
) -> SignedTerms:
    """Judge what a service names for an order, by what was confirmed, kept or listed before.

    Args:
        order: its token and fee are those that a person confirmed, if any.
        kept: the token of the position, kept since its buy; binds before everything else. One that
            was only listed gives way to the token that a person confirmed.
        listed: the market as the desk shows it; binds only where nothing was confirmed or kept.
        named: the market as the service names it now.
        signs_fee: whether the fee is a part of the signature.

    Returns:
        What may be signed.

    Raises:
        MalformedError: the service names no condition.
        PolicyRefusedError: nothing was ever shown or kept, or the service names something else.
    """
    is_yes, is_neg_risk = order.side is Side.YES, named.polymarket_neg_risk
    condition_id = named.polymarket_id or ""
    condition = condition_bytes(condition_id)
    token = outcome_token(condition, is_yes=is_yes, is_neg_risk=is_neg_risk)
    beside = named.polymarket_token_id if is_yes else named.polymarket_no_token_id
    if beside is not None and token_number(beside) != token:
        raise PolicyRefusedError(Rule.OUTCOME, "token does not match the condition")
    kept = _binding(order, kept)
    shown = order.token
    if not shown and kept is None and listed is not None:
        shown = token_shown(listed, order.side)
    if not shown and kept is None:
        raise PolicyRefusedError(Rule.UNSEEN, "token of this market never shown here")
    if kept is not None and kept.token != str(token):
        raise PolicyRefusedError(Rule.OUTCOME, "token is not the one kept with the position")
    if shown and shown != str(token):
        raise PolicyRefusedError(Rule.OUTCOME, "token changed since it was shown")
    fee_max = _fee_max(order, kept, listed)
    if signs_fee and fee_max is None:
        raise PolicyRefusedError(Rule.UNSEEN, "fee of this market never shown here")
    if signs_fee and fee_max is not None and named.fee_rate_bps > fee_max:
        text = f"fee now {named.fee_rate_bps} bps, {fee_max} bps shown: review again"
        raise PolicyRefusedError(Rule.FEE, text)
    fee = named.fee_rate_bps if signs_fee else 0
    return SignedTerms(token, condition_id, is_neg_risk, fee, fee_max)


def _binding(order: PlaceTrade, kept: KeptToken | None) -> KeptToken | None:
    """What is kept, unless it was only listed and a person confirmed the token itself."""
    confirmed_replaces_listed = kept is not None and not kept.bought and is_confirmed(order)
    return None if confirmed_replaces_listed else kept


def _fee_max(order: PlaceTrade, kept: KeptToken | None, listed: MarketView | None) -> int | None:
    """The highest fee that was confirmed, else kept, else listed; None where none is known."""
    if order.fee_rate_bps is not None:
        return order.fee_rate_bps
    if kept is not None and kept.fee_rate_bps is not None:
        return kept.fee_rate_bps
    return listed.fee_rate_bps if listed is not None and listed.condition_id else None


def is_confirmed(order: PlaceTrade) -> bool:
    """True if a person saw the very token of an order on its ticket."""
    return order.confirmed and bool(order.token)


def check_market(holding: Holding, kept: KeptToken | None, first: KeptToken | None) -> None:
    """Refuse a token that the wallet bought in another market, or under another id of it.

    Args:
        holding: what is sold or bought.
        kept: the token that is kept of it, if any.
        first: under what the same token was bought, else listed first.

    Raises:
        PolicyRefusedError: the price and the fee here were never those of the position.
    """
    if first is None or first.place == holding or (kept is not None and kept.bought):
        return
    verb = "bought" if first.bought else "first listed"
    text = f"the token was {verb} in market {first.market_id}, not in {holding.market_id}"
    raise PolicyRefusedError(Rule.UNSEEN, text)


def holding_of(order: PlaceTrade, wallet: str) -> Holding:
    """Under what the token of an order is kept."""
    return Holding(
        market_id=order.market_id,
        side=order.side.value,
        venue=order.venue.value,
        wallet=wallet.lower(),
    )


def kept_of(holding: Holding, terms: SignedTerms, now: Timestamp) -> KeptToken:
    """What is kept of a buy, or of a token that a person confirmed, before the order leaves."""
    return KeptToken(
        market_id=holding.market_id,
        side=holding.side,
        venue=holding.venue,
        wallet=holding.wallet,
        token=str(terms.token),
        condition_id=terms.condition_id,
        neg_risk=terms.is_neg_risk,
        at=now,
        fee_rate_bps=terms.fee_max,
        bought=True,
    )


def tokens_held(state: DeskState, now: Timestamp) -> tuple[KeptToken, ...]:
    """What is known now of the tokens of the linked wallet's positions.

    # ours: a position that was bought elsewhere, or by an earlier program, is bound by what the
    service lists of it first; the queue counts where the market is not listed.

    Returns:
        One for each open position whose condition is named, by its market before its own row.
    """
    if not state.wallet.is_linked:
        return ()
    held: list[KeptToken] = []
    for row in state.redemption.rows:
        if row.venue is not Venue.EVM or row.stage is not Stage.ACTIVE:
            continue
        market = state.markets.get(row.market_id)
        fee = None
        token, condition_id, neg_risk = "", row.condition_id, row.neg_risk
        if market is not None and (token := token_shown(market, row.side)):
            condition_id, neg_risk, fee = market.condition_id, market.neg_risk, market.fee_rate_bps
        elif row.token_id:
            # A list of positions does not name the kind of its market: the token does.
            kinds = (True, False)
            named = {token_of(condition_id, row.side, neg_risk=one): one for one in kinds}
            neg_risk = named.get(row.token_id, neg_risk)
            token = row.token_id if row.token_id in named else ""
        if token:
            held.append(
                KeptToken(
                    market_id=row.market_id,
                    side=row.side.value,
                    venue=row.venue.value,
                    wallet=state.wallet.address.lower(),
                    token=token,
                    condition_id=condition_id,
                    neg_risk=neg_risk,
                    at=now,
                    fee_rate_bps=fee,
                )
            )
    return tuple(held)
