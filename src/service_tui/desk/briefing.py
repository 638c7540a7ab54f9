"""The heartbeat as an operator sees it: what the service itself says wants attention.

Knows units. Must not know wire, network, time or Textual.
Used by desk.translate_briefing (which makes it), desk.state, and every screen that shows a part.
"""

from dataclasses import dataclass

from service_tui.units import Timestamp


@dataclass(frozen=True, slots=True)
class VenueBriefing:
    """What a venue wants done, in the service's words; nothing of it is ever carried out by itself.

    `venue` is a neutral name where we know the venue, else the service's own.
    """

    venue: str
    actions: tuple[str, ...] = ()
    redeemable_count: int = 0
    attention_count: int = 0


@dataclass(frozen=True, slots=True)
class BriefingView:
    """The last heartbeat. How old it is stands with every topic's age, in the state's `seen`.

    `checked_at` is by the service's own clock. `alerts` are exits that the service has triggered or
    asks for, `warnings` what it warns of, `actions` what belongs to no venue.
    """

    checked_at: Timestamp
    venues: tuple[VenueBriefing, ...] = ()
    alerts: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()

    @property
    def redeemable_count(self) -> int:
        """Positions that can be redeemed, of all venues."""
        return sum(venue.redeemable_count for venue in self.venues)
