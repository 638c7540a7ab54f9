"""Reads that are answered by "nothing has changed": a poller's price list is not built again."""

from typing import Final

from service_tui.server.http.service import Handler, RequestContext
from service_tui.units import Timestamp
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.desk import TAPE
from service_tui.wire.endpoints.public import MARKETS

OF_THE_WORLD: Final[frozenset[Endpoint[WireModel]]] = frozenset({MARKETS, TAPE})
"""# ours: the large polled answers that are made from the world alone, and from no wall time. Their
ETag is the world's last row and the time of its tape, as HTTP has it (RFC 9110, 8.8 and 13)."""


class Unchanged(WireModel):
    """In place of an answer that the caller has already."""


UNCHANGED: Final = Unchanged()


def unless_unchanged(handler: Handler, opened_at: Timestamp) -> Handler:
    """The handler, called only if the caller does not have its answer already.

    Args:
        handler: of an endpoint of `OF_THE_WORLD`.
        opened_at: when the service was opened. A world that was put back from a copy may have
            other rows under the same numbers.

    Returns:
        A handler that answers `UNCHANGED` where it would answer the same again.
    """

    async def answer(request: RequestContext) -> WireModel:
        seq, world_at = request.service.world_store.seq, request.world.world_at
        who = "" if request.caller is None else request.caller.agent_id
        tag = f'"{opened_at!r}/{seq}/{world_at!r}/{who}"'
        request.headers["ETag"] = tag
        return UNCHANGED if tag == request.known else await handler(request)

    return answer
