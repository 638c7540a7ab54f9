"""The heartbeat as shown to the operator: what the service wants attention for."""

from dataclasses import dataclass

from service_tui.units import Timestamp


@dataclass(frozen=True, slots=True)
class VenueBriefing:
    """Actions that a venue recommends, in the service's text.

    None is ever carried out automatically.

    `venue` is a neutral name where we know the venue, else the service's own.
    """

    venue: str
    actions: tuple[str, ...] = ()
    redeemable_count: int = 0
    attention_count: int = 0


@dataclass(frozen=True, slots=True)
class NewMarketView:
    """A market that opened lately; `score` and `left` are the service's own."""

    market_id: str
    question: str
    score: float | None = None
    left: str = ""


@dataclass(frozen=True, slots=True)
class StandingView:
    """Rank of the agent among all agents of the service; None where not reported."""

    pnl_percent: float | None = None
    win_rate: float | None = None
    rank: int | None = None
    agents: int | None = None


@dataclass(frozen=True, slots=True)
class BriefingView:
    """The last heartbeat. Its age is in the state's `seen`.

    `checked_at` is by the service's own clock. `alerts` are exits that the service has triggered or
    asks for, `warnings` what it warns of, `actions` what belongs to no venue. `skills` are names of
    those that it recommends. `pnl_percent` of the standing is in percent.
    """

    checked_at: Timestamp
    venues: tuple[VenueBriefing, ...] = ()
    alerts: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    new_markets: tuple[NewMarketView, ...] = ()
    skills: tuple[str, ...] = ()
    standing: StandingView = StandingView()

    @property
    def attention_count(self) -> int:
        """Positions that moved far or resolve soon, of all venues."""
        return sum(venue.attention_count for venue in self.venues)

    @property
    def every_action(self) -> tuple[str, ...]:
        """Recommended actions of all venues, each once."""
        of_venues = (action for venue in self.venues for action in venue.actions)
        return tuple(dict.fromkeys((*self.actions, *of_venues)))

    @property
    def redeemable_count(self) -> int:
        """Positions that can be redeemed, of all venues."""
        return sum(venue.redeemable_count for venue in self.venues)
