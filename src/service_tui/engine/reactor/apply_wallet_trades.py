"""Apply the trades of the named wallets to the world."""

from collections.abc import Iterable

from service_tui.engine.events import MarketListed, Settlement, Ticked
from service_tui.engine.reactor.reactor import followed_wallets
from service_tui.engine.reactor.wallet_trades import WalletContext
from service_tui.engine.tape.crowd import opening_of
from service_tui.terms import Action
from service_tui.units import Micros, Timestamp


def missing_listings(
    context: WalletContext, settled: Iterable[Settlement], times: tuple[Timestamp, Timestamp]
) -> list[MarketListed]:
    """List the questions that followed wallets trade and that are not listed here.

    Args:
        context: the world.
        settled: trades of the wallets.
        times: wall time and the tape's.

    Returns:
        The events, not yet applied, once for each question; no agent's imports are charged.
    """
    at, world_at = times
    found: dict[str, MarketListed] = {}
    for one in settled:
        if one.market_id in context.markets or one.market_id in found:
            continue
        listing = context.tape.listing_of(one.slot, one.number)
        if context.reactor.follows(one, listing.home):
            opening = opening_of(listing, world_at)
            found[one.market_id] = MarketListed(at, world_at, listing, opening)
    return list(found.values())


def apply_wallet_trades(context: WalletContext, event: Ticked, crowd: str) -> None:
    """Change the world by what the wallets traded; `crowd` is the account out of which they pay."""
    for one in event.settled:
        market = context.markets.get(one.market_id)
        if not context.reactor.note(one, event.at):
            continue
        context.reactor.records.count(one, event.at, is_listed=market is not None)
        if market is None or not one.cost:
            continue
        ledger, sold = context.venues.ledger, one.action is Action.SELL
        giver, taker = (market.account, crowd) if sold else (crowd, market.account)
        ledger.transfer(giver, taker, Micros(abs(one.cost)))
        market.move(one.side, Micros(-one.shares) if sold else one.shares)
        market.count_volume(event.world_at, Micros(abs(one.cost)))
        market.tape.append((
            event.world_at,
            one.label,
            one.side,
            one.action.value,
            one.shares,
            market.price_of(one.side),
        ))
    context.reactor.records.forget_idle(followed_wallets(context.reactor))
