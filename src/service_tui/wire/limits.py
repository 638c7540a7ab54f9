"""Bodies of the operator's limits on all agents' exposure.

ours: the spec knows limits of one agent alone. They stand under `/api/desk/` and want the operator
key; a buy beyond one that refuses is an answer with `error_code` EXPOSURE_LIMIT.
"""

from pydantic import Field

from service_tui.terms import LINE_MAX, LimitGroup
from service_tui.wire.base import AMOUNT_MAX, Amount, AnyVenue, Line, OperatorModel, WireModel


class ExposureLimitBody(WireModel):
    """One limit. `key` is a category, an event's or a question's id, or an agent's id.

    `used` is what the group costs now, with the buys that rest on books; units of the venue's
    money. One that does not refuse is named among the warnings of a trade.
    """

    group: LimitGroup
    key: Line
    venue: AnyVenue
    cost_max: Amount
    refuses: bool
    used: Amount


class ExposureLimitsBody(WireModel):
    """All of them, in the order in which they were set."""

    limits: tuple[ExposureLimitBody, ...]


class ExposureLimitRequest(OperatorModel):
    """The limit of a group on a venue; without `cost_max` there is none any more."""

    group: LimitGroup
    key: str = Field(min_length=1, max_length=LINE_MAX)
    venue: AnyVenue
    cost_max: float | None = Field(default=None, gt=0, le=AMOUNT_MAX)
    refuses: bool = True
