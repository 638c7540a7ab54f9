"""Invented worlds whose markets end as recorded ones may: at YES, NO, a part of 1, or void."""

from typing import Final

from kit.engine.topics import TOPICS
from service_tui.engine.listing import Listing
from service_tui.engine.tape.feed import Resolution, Tape
from service_tui.engine.world import World
from service_tui.outcome import NO, VOID, YES, Outcome
from service_tui.units import Timestamp

ENDS: Final = (YES, NO, Outcome.at(0.35), VOID, Outcome.at(1 / 3))


class MixedTape(Tape):
    """The same tape; how a market ends is drawn by its id, in five ways."""

    @staticmethod
    def resolution(listing: Listing, at: Timestamp) -> Resolution | None:
        """How a market ended, if its outcome is confirmed by a moment."""
        found = Tape.resolution(listing, at)
        if found is None:
            return None
        return found._replace(outcome=ENDS[int(listing.market_id[-6:], 16) % len(ENDS)])


def mixed(world: World) -> World:
    """The same world, whose markets end in every way from now on."""
    world.tape = MixedTape(world.seed, TOPICS)
    return world
