"""Routes of the operator's exposure limits: set, remove, list."""

from typing import Final

from service_tui.engine.events import ExposureLimitSet
from service_tui.server.http.refusals import denied, invalid_items, sent_micros
from service_tui.server.http.service import RequestContext, Routes
from service_tui.terms import Category, LimitGroup
from service_tui.units import Micros, decimal
from service_tui.wire.endpoints.fleet import DESK_LIMITS, DESK_SET_LIMIT
from service_tui.wire.limits import ExposureLimitBody, ExposureLimitRequest, ExposureLimitsBody

LIMITS_MAX: Final = 200
"""ours: each buy is compared with all of them."""


async def list_limits(request: RequestContext) -> ExposureLimitsBody:
    """Every limit, with what its group costs now."""
    limits = request.world.exposure_limits
    return ExposureLimitsBody(
        limits=tuple(
            ExposureLimitBody(
                group=one.group,
                key=one.key,
                venue=one.venue,
                cost_max=decimal(one.cost_max or Micros(0)),
                refuses=one.refuses,
                used=decimal(limits.used(one)),
            )
            for one in limits.kept.values()
        )
    )


async def set_limit(request: RequestContext) -> ExposureLimitsBody:
    """Set a limit, in place of the one of the same group, or take it off.

    What is held beyond it already stays: only further buys are refused or warned about.
    """
    sent = request.body_as(ExposureLimitRequest)
    kept = request.world.exposure_limits.kept
    place = (sent.group, sent.key, sent.venue)
    if sent.cost_max is None and place not in kept:
        return await list_limits(request)
    if sent.cost_max is not None:
        _check_key(request, sent)
        if place not in kept and len(kept) >= LIMITS_MAX:
            raise denied(409, f"there are {LIMITS_MAX} limits already", "take one off first")
    most = None if sent.cost_max is None else sent_micros(("body", "cost_max"), sent.cost_max)
    event = ExposureLimitSet(request.now, sent.group, sent.key, sent.venue, most, sent.refuses)
    request.service.world_store.check_whole()
    await request.write(request.world.decide(event))
    return await list_limits(request)


def _check_key(request: RequestContext, sent: ExposureLimitRequest) -> None:
    """Refuse a group that there is none of: a limit that binds nothing would look like one."""
    world = request.world
    if sent.group is LimitGroup.AGENT and sent.key not in world.agents:
        raise invalid_items([(("body", "key"), "there is no agent with this id", "value")])
    if sent.group is LimitGroup.CATEGORY and sent.key not in set(Category):
        names = ", ".join(Category)
        raise invalid_items([(("body", "key"), f"a category is one of {names}", "value")])


ROUTES: Final[Routes] = {DESK_LIMITS: list_limits, DESK_SET_LIMIT: set_limit}
