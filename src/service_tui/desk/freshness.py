"""Age of the known data, and whether it is fresh enough to trade on."""

from typing import Final

from service_tui.desk.reasons import Fix, Reason
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Action
from service_tui.units import Timestamp

UNTRADED_PERIODS: Final = 5.0
"""Data older than so many periods is not traded on. Source: ux, "Looks"."""

TRADED_ON: Final = {
    Action.BUY: (Topic.MARKETS, Topic.ACCOUNT),
    Action.SELL: (Topic.MARKETS, Topic.POSITIONS),
}
"""What must be fresh for an order. Source: failures, F-05; ux, "Looks"."""

_PHASES: Final = {
    Phase.CONNECTING: "still connecting: wait for the first answer",
    Phase.OFFLINE: "the service cannot be reached: nothing is sent until it answers",
    Phase.UNAUTHORIZED: "the service refuses this key: no trading",
}


def is_answered(state: DeskState, *topics: Topic) -> bool:
    """True once the service has answered for all topics; an empty list means nothing before."""
    return all(topic in state.seen for topic in topics)


def leashes_known(state: DeskState) -> bool:
    """True once no leash means that an agent is free; of another service this desk keeps them."""
    return not state.service.embedded or is_answered(state, Topic.FLEET)


def age_s(state: DeskState, topic: Topic, now: Timestamp) -> float | None:
    """Seconds since the service last answered for a topic, >= 0; None if it never did."""
    seen = state.seen.get(topic)
    # After the clock was set back an answer seems to come from the future: its distance counts as
    # its age, so that nothing looks fresh by mistake.
    return None if seen is None else abs(now - seen)


def untradable(state: DeskState, topics: tuple[Topic, ...], now: Timestamp) -> Reason | None:
    """Reason why these topics are too old to trade on; None if they are fresh."""
    if state.service.read_only:
        return Reason("this desk is read-only: no orders", Fix.WRITABLE_DESK)
    if state.service.phase is not Phase.ONLINE:
        return Reason(_PHASES[state.service.phase])
    if state.from_cache:
        return Reason("data from the last session: wait for the first answer")
    return next((why for topic in topics if (why := _too_old(state, topic, now))), None)


def _too_old(state: DeskState, topic: Topic, now: Timestamp) -> Reason | None:
    age, period = age_s(state, topic, now), state.polls.get(topic)
    if age is None or period is None:
        return Reason(f"{topic.value} not loaded yet", Fix.READ_NOW)
    if not age <= UNTRADED_PERIODS * period:
        return Reason(f"{topic.value} {age:.0f} s old, too old to trade", Fix.READ_NOW)
    return None
