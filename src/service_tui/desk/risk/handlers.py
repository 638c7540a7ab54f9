"""SetMonitor, SetMonitors and RemoveMonitor: thresholds that the service watches."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from service_tui.client.errors import NotFoundError, RefusedError, ServiceError
from service_tui.desk.answer_check import is_same
from service_tui.desk.changes import Changed, Removed
from service_tui.desk.commands.risk import RemoveMonitor, SetMonitor, SetMonitors
from service_tui.desk.facts import Noticed
from service_tui.desk.ports import Ports
from service_tui.desk.registry import Handlers
from service_tui.desk.risk.translate import monitor_view
from service_tui.desk.slices.orders import moment_text
from service_tui.desk.slices.position_key import position_key
from service_tui.desk.slices.risk import NO_THRESHOLDS, POINTS, MonitorView, Thresholds
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.desk.wire_values import UNTRANSLATABLE
from service_tui.terms import (
    PUBLISHED_THRESHOLDS,
    THRESHOLDS,
    ThresholdKind,
    ThresholdUnit,
    Venue,
)
from service_tui.units import Timestamp
from service_tui.wire.endpoints.public import DELETE_MONITOR, SET_MONITOR
from service_tui.wire.monitors import MonitorQuery, MonitorSetBody, SentMonitorRequest


def objection(state: DeskState, order: SetMonitor) -> str:
    """Reason why this desk refuses the thresholds; empty if it accepts them."""
    return next(_objections(state, order), "")


def _objections(state: DeskState, order: SetMonitor) -> Iterator[str]:
    if order.thresholds.is_empty:
        yield "set at least one threshold"
    for kind in THRESHOLDS:
        value = getattr(order.thresholds, kind.name)
        if kind.bounds and value is not None and not _is_within(kind, value):
            yield f"{kind.label}: {kind.bounds}"
    market = state.markets.get(order.market_id)
    if market is not None and not market.is_open:
        yield "market ended: nothing to monitor"
    # The desk knows positions on sim only: elsewhere the service decides.
    position = state.position(position_key(order.market_id, order.side, order.venue))
    if order.venue is Venue.SIM and Topic.POSITIONS in state.seen and position is None:
        yield "no position on this side: buy first"


def _is_within(kind: ThresholdKind, value: float) -> bool:
    """Whether a threshold is within its bounds; NaN is not."""
    return 0 < value < kind.most or (value == kind.most and not kind.is_open)


async def set_monitor(order: SetMonitor, ports: Ports) -> None:
    """Set the thresholds of one position and report the result in a notice."""
    why = await _set(order, ports)
    ports.emit(Noticed("warn", f"{order.describe()}: {why}") if why else _done(order.describe()))
    ports.refresh(Topic.MONITORS)


async def set_monitors(orders: SetMonitors, ports: Ports) -> None:
    """Set the thresholds of several positions, one by one; a refusal does not stop the others."""
    whys = [why for order in orders.monitors if (why := await _set(order, ports))]
    if whys:
        others = f" (and {len(whys) - 1} more)" if len(whys) > 1 else ""
        text = f"{len(whys)} of {len(orders.monitors)} not set as requested: {whys[0]}{others}"
        ports.emit(Noticed("warn", text))
    else:
        ports.emit(_done(orders.describe()))
    ports.refresh(Topic.MONITORS)


async def remove_monitor(order: RemoveMonitor, ports: Ports) -> None:
    """Remove a monitor; one that no longer exists counts as removed."""
    try:
        await ports.client.call(
            DELETE_MONITOR,
            path={"market_id": order.market_id},
            query=MonitorQuery(side=order.side, venue=order.venue),
        )
    except NotFoundError:
        pass
    except (ServiceError, ValueError) as error:
        ports.emit(Noticed("bad", f"{order.describe()}: {_text_of(error)}"))
        return
    ports.emit(Removed(MonitorView, position_key(order.market_id, order.side, order.venue)))
    ports.emit(_done(order.describe()))
    ports.refresh(Topic.MONITORS)


async def _set(order: SetMonitor, ports: Ports) -> str:
    """Set thresholds.

    Returns:
        Why the monitor is not the requested one; empty when it is.
    """
    if why := objection(ports.state(), order):
        return why
    key = position_key(order.market_id, order.side, order.venue)
    try:
        state = ports.state()
        known = state.risk.monitor(key)
        request = monitor_request(order, known, has_all=state.service.embedded)
        path = {"market_id": order.market_id}
        reply = await ports.client.call(SET_MONITOR, body=request, path=path)
    except ServiceError as error:
        return _text_of(error)
    except ValueError:
        return "invalid thresholds"
    return _taken(order, reply.answer, ports)


def _taken(order: SetMonitor, answer: MonitorSetBody, ports: Ports) -> str:
    """Take the monitor in the service's answer into the state.

    Returns:
        How it differs from the requested one; empty if it does not.
    """
    if not answer.success:
        return answer.message or "refused without a reason"
    where = (answer.market_id, answer.side, answer.venue or order.venue)
    if where != (order.market_id, order.side, order.venue):
        return "the service answered for another position; reloading the monitors"
    try:
        monitor = replace(monitor_view(answer), venue=order.venue)
    except UNTRANSLATABLE:
        return "set, answer unreadable; reloading the monitors"
    requested = order.thresholds
    # Published services may leave stop and target out of the answer: the list then shows them.
    left_out = [kind for kind in _PUBLISHED if kind.name not in answer.model_fields_set]
    if not any(getattr(requested, kind.name) is not None for kind in left_out):
        ports.emit(Changed(monitor))
    kinds = (kind for kind in THRESHOLDS if kind not in left_out)
    parts = (_difference(kind, requested, monitor.thresholds) for kind in kinds)
    text = ", ".join(filter(None, parts))
    return f"the service set {text}" if text else ""


def _difference(kind: ThresholdKind, requested: Thresholds, reported: Thresholds) -> str:
    """One threshold as the service reports it, and as requested; empty if both are the same."""
    wanted, found = getattr(requested, kind.name), getattr(reported, kind.name)
    if is_same(wanted, found):
        return ""
    text = _FIGURES[kind.unit]
    found_text = f"no {kind.label}" if found is None else f"{kind.label} {text(found)}"
    return f"{found_text} (requested {'none' if wanted is None else text(wanted)})"


_FIGURES: Final[Mapping[ThresholdUnit, Callable[[float], str]]] = {
    ThresholdUnit.FRACTION: lambda fraction: f"{100 * fraction:.4g}%",
    ThresholdUnit.POINTS: lambda points: f"{POINTS * points:.4g} pt",
    ThresholdUnit.MOMENT: lambda at: moment_text(Timestamp(at)),
}

_PUBLISHED: Final = THRESHOLDS[:PUBLISHED_THRESHOLDS]
"""The thresholds that every service knows; later ones exist on the embedded service."""


def monitor_request(
    order: SetMonitor, known: MonitorView | None, *, has_all: bool
) -> SentMonitorRequest:
    """The request body that sets thresholds.

    With `has_all` it contains every threshold. Another service may know stop and target only: it
    gets a further threshold only if that is set or removed.
    """
    wanted, before = order.thresholds, NO_THRESHOLDS if known is None else known.thresholds
    labels = {kind.label for kind in _PUBLISHED}
    for kind in THRESHOLDS:
        if has_all or any(
            getattr(known_set, kind.name) is not None for known_set in (wanted, before)
        ):
            labels.add(kind.label)
    # Two kinds share a label, such as those of a trailing stop: both are sent, as one replaces the
    # other.
    sent = {kind.name: getattr(wanted, kind.name) for kind in THRESHOLDS if kind.label in labels}
    return SentMonitorRequest.model_validate({"side": order.side, "venue": order.venue, **sent})


def _done(text: str) -> Noticed:
    return Noticed("good", text)


def _text_of(error: Exception) -> str:
    fix = error.fix if isinstance(error, RefusedError) else ""
    text = error.error if isinstance(error, RefusedError) else str(error)
    return f"{text}; {fix}" if fix else text


HANDLERS: Final[Handlers] = {
    SetMonitor: set_monitor,
    SetMonitors: set_monitors,
    RemoveMonitor: remove_monitor,
}
