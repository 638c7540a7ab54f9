"""A heartbeat as a view of the desk."""

from collections.abc import Iterable
from typing import Final

from service_tui.desk.slices.briefing import (
    BriefingView,
    NewMarketView,
    StandingView,
    VenueBriefing,
)
from service_tui.terms import (
    Venue,
)
from service_tui.wire.base import timestamp
from service_tui.wire.briefing import (
    AnyAlert,
    BriefingBody,
    NewMarketBody,
    PerformanceBody,
    VenueBlock,
)
from service_tui.wire.text import line

NAME_MAX: Final = 40


def briefing_view(body: BriefingBody) -> BriefingView:
    """View of a heartbeat."""
    blocks = {line(name, NAME_MAX): block for name, block in body.venues.items()}
    blocks.setdefault(Venue.EVM.value, None)
    venues = tuple(_venue_view(name, block, body) for name, block in blocks.items())
    return BriefingView(
        checked_at=timestamp(body.checked_at),
        # A venue without any field is not worth a line.
        venues=tuple(venue for venue in venues if venue != VenueBriefing(venue.venue)),
        alerts=_once(_alert_sentence(one) for one in (*body.risk_alerts, *_triggered(body))),
        warnings=_once(body.risk_warnings),
        actions=_once(body.actions),
        new_markets=tuple(_new_market(one) for one in body.opportunities.new_markets),
        skills=_once(one.name for one in body.opportunities.recommended_skills),
        standing=_standing(body.performance),
    )


def _new_market(body: NewMarketBody) -> NewMarketView:
    left = body.time_to_resolution or ""
    return NewMarketView(body.market_id, body.question, body.opportunity_score, left)


def _standing(body: PerformanceBody) -> StandingView:
    return StandingView(body.pnl_percent, body.win_rate, body.rank, body.total_agents)


def _venue_view(name: str, block: VenueBlock | None, body: BriefingBody) -> VenueBriefing:
    """View of one venue; the EVM venue also reads the spec's own block."""
    block = block or VenueBlock()
    actions, count = block.actions, block.redeemable_count
    if name == Venue.EVM:
        actions, count = (*actions, *body.evm.actions), max(count, body.evm.redeemable_count)
    return VenueBriefing(name, _once(actions), count, len(block.positions_needing_attention))


def _triggered(body: BriefingBody) -> tuple[AnyAlert, ...]:
    return body.triggered_risk_alerts or ()


def _alert_sentence(alert: str | AnyAlert) -> str:
    """An alert as a sentence, built from its parts if the service sends none."""
    if isinstance(alert, str):
        return alert
    side = f"{alert.side.upper()} of " if alert.side else ""
    return alert.message or f"{alert.exit_reason or 'alert'}: {side}{alert.market_id}".strip(": ")


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    """Each text once, none empty."""
    return tuple(dict.fromkeys(text for text in texts if text))
