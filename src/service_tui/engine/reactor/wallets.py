"""Named wallets of a world: their identities, the markets they trade in, and their skill.

Each has a skill that stays: the chance that the side it takes in a question is the one that wins.
Big ones change their mind. One trades off every book, at a price that nobody else gets.
"""

import hashlib
from functools import lru_cache
from typing import Final, NamedTuple
from zlib import crc32

from service_tui.addresses import checksummed
from service_tui.engine.listing import Listing
from service_tui.engine.tape.belief import path_key
from service_tui.engine.tape.draws import Draws
from service_tui.terms import Side, Venue
from service_tui.units import Timestamp


class SourceWallet(NamedTuple):
    """One wallet.

    `money` is the range of one buy, units; `push` the most by which it moves the market maker, as a
    share of the price. `turns` is into how many parts the life of a question falls, each with the
    opposite opinion of the last. With a `discount` it trades off the books.
    """

    label: str
    venue: Venue
    skill: float
    pace_s: float
    money: tuple[float, float]
    push: float = 0.015
    turns: int = 1
    discount: float = 0.0


_CHAIN: Final = Venue.EVM
_CROWD: Final = Venue.SIM

# ours: all of them; the spec says only that wallets trade.
ROSTER: Final = (
    SourceWallet("Harbour Pilot", _CHAIN, 0.78, 150.0, (40.0, 400.0)),
    SourceWallet("Saltmarsh", _CHAIN, 0.74, 240.0, (60.0, 700.0)),
    SourceWallet("Third Umpire", _CHAIN, 0.70, 180.0, (25.0, 250.0)),
    SourceWallet("Ledger Lark", _CHAIN, 0.52, 120.0, (20.0, 200.0)),
    SourceWallet("Night Ferry", _CHAIN, 0.36, 140.0, (30.0, 300.0)),
    SourceWallet("Paper Lantern", _CHAIN, 0.32, 160.0, (20.0, 200.0)),
    SourceWallet("Late Breakfast", _CHAIN, 0.28, 200.0, (20.0, 350.0)),
    SourceWallet("Tidebreaker", _CHAIN, 0.55, 300.0, (800.0, 6_000.0), turns=4),
    SourceWallet("Grey Leviathan", _CHAIN, 0.48, 420.0, (1_500.0, 9_000.0), turns=6),
    SourceWallet("Quiet Abacus", _CROWD, 0.77, 120.0, (5.0, 120.0)),
    SourceWallet("Windvane", _CROWD, 0.73, 150.0, (5.0, 160.0)),
    SourceWallet("Second Glance", _CROWD, 0.68, 100.0, (4.0, 80.0)),
    SourceWallet("Tin Whistle", _CROWD, 0.50, 90.0, (3.0, 60.0)),
    SourceWallet("Ferris Row", _CROWD, 0.47, 130.0, (3.0, 90.0)),
    SourceWallet("Coin Fountain", _CROWD, 0.34, 110.0, (4.0, 120.0)),
    SourceWallet("Rainy Sunday", _CROWD, 0.30, 160.0, (4.0, 100.0)),
    SourceWallet("Big Pendulum", _CROWD, 0.50, 260.0, (150.0, 900.0), push=0.08, turns=5),
    SourceWallet("Backroom", _CROWD, 0.60, 200.0, (50.0, 600.0), discount=0.45),
)
"""Eighteen, all invented. Their addresses differ from world to world."""


@lru_cache(maxsize=256)
def address_of(seed: int, wallet: SourceWallet) -> str:
    """The address of a wallet in the world of a seed, checksummed."""
    digest = hashlib.sha256(f"{seed}:wallet:{wallet.label}".encode()).hexdigest()
    return checksummed(f"0x{digest[:40]}")


def opinion(seed: int, wallet: SourceWallet, listing: Listing, at: Timestamp) -> Side:
    """The side that a wallet takes in a question: its own for ever, but for those who turn."""
    draws = Draws(seed, path_key(listing), crc32(wallet.label.encode()))
    if listing.outcome is None:
        # ours: of a recorded market nobody may know the end, so that skill is left to real wallets.
        side = Side.YES if draws.unit() < 0.5 else Side.NO  # noqa: PLR2004
    else:
        winner = Side.YES if listing.outcome else Side.NO
        side = winner if draws.unit() < wallet.skill else winner.other
    passed = (at - listing.opens_at) / (listing.resolves_at - listing.opens_at)
    return side.other if int(passed * wallet.turns) % 2 else side
