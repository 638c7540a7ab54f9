"""The tour: five steps with play money, each done once the desk shows it. Pure."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from service_tui.desk.slices.reactor import SignalState, SignalView
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

DONE: Final = "tour done: a trade, a stop and a mirrored signal. {app.help} lists every key"


@dataclass(frozen=True, slots=True)
class TourView:
    """What a step looks at: the state at its start and now, and the screen in front."""

    start: DeskState
    state: DeskState
    now: Timestamp
    screen: str


def _no_row(view: TourView, before: str) -> str:
    del view, before
    return ""


@dataclass(frozen=True, slots=True)
class TourStep:
    """One step: what to do, with ids of keys in braces, whether it is done, and its row.

    `row` takes the row in which the step had the cursor before, empty for none.
    """

    text: Callable[[TourView], str]
    is_done: Callable[[TourView], bool]
    row: Callable[[TourView, str], str] = _no_row


def _quoted(view: TourView) -> bool:
    quote, before = view.state.quote, view.start.quote
    return quote is not None and quote.ok and quote != before


def _bought(view: TourView) -> bool:
    known = {one.ticket_id for one in view.start.tickets if one.state is TicketState.DONE}
    return any(
        one.kind == "trade" and one.state is TicketState.DONE and one.ticket_id not in known
        for one in view.state.tickets
    )


def _has_new_stop(view: TourView) -> bool:
    before = {one.key: one.thresholds for one in view.start.risk.monitors}
    return any(
        before.get(one.key, one.thresholds) != one.thresholds for one in view.state.risk.monitors
    )


def _stop_text(view: TourView) -> str:
    if view.screen != "monitors":
        return "{app.monitors} shows the stop that the buy has set"
    return "{monitors.edit} changes the stop: type 10 %, enter"


def _bought_row(view: TourView, _: str) -> str:
    """The monitor of the position that was bought last; empty before there is one."""
    if view.screen != "monitors":
        return ""
    bought = (
        one.holding
        for one in view.state.tickets
        if one.kind == "trade" and one.state is TicketState.DONE
    )
    key = next(bought, "")
    return key if any(one.key == key for one in view.state.risk.monitors) else ""


def _signal_row(view: TourView, before: str) -> str:
    """A signal that can be mirrored: the one before as long as it can be."""
    if view.screen != "reactor":
        return ""
    rows = [one.signal_id for one in _able(view)]
    return before if before in rows else next(iter(rows), "")


def _able(view: TourView) -> list[SignalView]:
    return [
        one
        for one in view.state.reactor.signals
        if one.can_mirror(view.now) and not one.is_too_dear
    ]


def _mirrored(view: TourView) -> bool:
    return _mirrored_ids(view.state) > _mirrored_ids(view.start)


def _mirrored_ids(state: DeskState) -> frozenset[str]:
    signals = state.reactor.signals
    return frozenset(one.signal_id for one in signals if one.state is SignalState.MIRRORED)


def _mirror_text(view: TourView) -> str:
    """The next key on the way to a mirrored signal."""
    reactor = view.state.reactor
    if view.screen != "reactor":
        return "{app.reactor} shows the trades of other wallets"
    if reactor.config is None or not reactor.config.wallets:
        return "{reactor.follow} follows a wallet: choose one of the list"
    if not reactor.is_enabled:
        return "{reactor.run} turns the reactor on"
    if _able(view):
        return "{reactor.mirror} buys what the selected signal bought"
    return "wait for a signal; {app.faster} makes the world faster"


STEPS: Final = (
    TourStep(
        lambda _: "{app.markets} lists the markets",
        lambda view: view.screen == "markets",
    ),
    TourStep(lambda _: "{markets.buy} opens a ticket: type 25, read the quote", _quoted),
    TourStep(lambda _: "enter places the order; the money is play money", _bought),
    TourStep(_stop_text, _has_new_stop, _bought_row),
    TourStep(_mirror_text, _mirrored, _signal_row),
)
"""In their order; the last ones are the point: a trade, a stop, a mirrored signal."""


@dataclass(frozen=True, slots=True)
class Tour:
    """How far the person is. `place` counts the steps done; `start` is the state at this one."""

    start: DeskState
    place: int = 0

    @property
    def is_over(self) -> bool:
        """True once every step is done."""
        return self.place >= len(STEPS)

    def advanced(self, state: DeskState, now: Timestamp, screen: str) -> "Tour":
        """The tour after this state; at most one step further."""
        if self.is_over or not STEPS[self.place].is_done(TourView(self.start, state, now, screen)):
            return self
        return replace(self, start=state, place=self.place + 1)

    def row(self, view: TourView, before: str) -> str:
        """The row that the step is about; empty for none. `before` had its cursor until now."""
        return "" if self.is_over else STEPS[self.place].row(view, before)

    def text(self, state: DeskState, now: Timestamp, screen: str) -> str:
        """What to do now, with ids of keys in braces."""
        if self.is_over:
            return ""
        return STEPS[self.place].text(TourView(self.start, state, now, screen))
