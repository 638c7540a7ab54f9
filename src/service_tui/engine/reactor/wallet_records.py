"""Trades, positions and results of the named wallets since the world began."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from service_tui.engine.events import MarketResolved, Settlement
from service_tui.terms import Action, Side
from service_tui.units import Micros, Timestamp, sum_of

WALLETS_KEPT: Final = 500
"""Wallets with a record: a recording may know millions. # ours: the bound."""


@dataclass(slots=True)
class WalletPosition:
    """Shares of a wallet in one market, and their cost."""

    yes: Micros = Micros(0)
    no: Micros = Micros(0)
    yes_cost: Micros = Micros(0)
    no_cost: Micros = Micros(0)

    def shares(self, side: Side) -> Micros:
        """Shares of a side."""
        return self.yes if side is Side.YES else self.no

    def cost(self, side: Side) -> Micros:
        """What those shares cost."""
        return self.yes_cost if side is Side.YES else self.no_cost

    def change(self, side: Side, shares: Micros, cost: Micros) -> None:
        """Take shares and their cost in, or (below 0) out."""
        if side is Side.YES:
            self.yes, self.yes_cost = self.yes + shares, self.yes_cost + cost
        else:
            self.no, self.no_cost = self.no + shares, self.no_cost + cost


@dataclass(slots=True)
class WalletRecord:
    """One wallet. `realized` counts sales and decided questions; `last_at` is wall time."""

    trades_count: int = 0
    bought: Micros = Micros(0)
    win_count: int = 0
    loss_count: int = 0
    realized: Micros = Micros(0)
    last_at: Timestamp | None = None
    held: dict[str, WalletPosition] = field(default_factory=dict[str, WalletPosition])

    def realize(self, gained: Micros) -> None:
        """Add the P&L of a sale or an outcome."""
        self.realized += gained
        self.win_count += gained > 0
        self.loss_count += gained < 0


class WalletRecords:
    """The records of all wallets, by address."""

    __slots__ = ("by_address",)

    def __init__(self) -> None:
        self.by_address: dict[str, WalletRecord] = {}

    def of(self, address: str) -> WalletRecord:
        """The record of a wallet; an empty one, not kept, where it has not traded."""
        return self.by_address.get(address) or WalletRecord()

    def held(self, address: str) -> tuple[str, ...]:
        """Markets in which a wallet has a position, oldest first."""
        record = self.by_address.get(address)
        return () if record is None else tuple(record.held)

    def holding(self, address: str, market_id: str) -> WalletPosition:
        """Position of a wallet in a market."""
        return self.of(address).held.get(market_id) or WalletPosition()

    def count(self, one: Settlement, at: Timestamp, *, is_listed: bool) -> None:
        """Count a settlement; it opens no position if its market is not listed here."""
        record = self.by_address.setdefault(one.wallet, WalletRecord())
        record.trades_count += 1
        record.last_at = at
        money = Micros(round(one.shares * one.price))
        if one.action is Action.BUY:
            record.bought += money
            if is_listed:
                held = record.held.setdefault(one.market_id, WalletPosition())
                held.change(one.side, one.shares, money)
            return
        held = record.held.get(one.market_id)
        if held is None or held.shares(one.side) < one.shares:
            return
        cost = Micros(held.cost(one.side) * one.shares // held.shares(one.side))
        held.change(one.side, Micros(-one.shares), Micros(-cost))
        record.realize(money - cost)
        if not held.yes and not held.no:
            del record.held[one.market_id]

    def forget_idle(self, followed: Collection[str]) -> None:
        """Drop the records of wallets that no agent follows and that traded longest ago."""
        over = len(self.by_address) - WALLETS_KEPT
        if over <= 0:
            return
        idle = sorted(
            (record.last_at or 0.0, address)
            for address, record in self.by_address.items()
            if address not in followed
        )
        for _, address in idle[:over]:
            del self.by_address[address]

    def settle(self, event: MarketResolved) -> None:
        """Count the result of a resolved market for every wallet with a position in it."""
        for record in self.by_address.values():
            held = record.held.pop(event.market_id, None)
            if held is not None:
                paid = sum_of(
                    event.outcome.paid(side, held.shares(side), held.cost(side)) for side in Side
                )
                record.realize(paid - held.yes_cost - held.no_cost)
