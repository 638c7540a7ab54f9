"""The tour: what a supervisor does, step by step, each done once the desk shows it. Pure."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from service_tui.desk.slices.agents import AgentView
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.state import DeskState

DONE: Final = "tour done: you have allowed, paused, halted and traded. {app.help} lists every key"


@dataclass(frozen=True, slots=True)
class TourView:
    """What a step looks at: the state at its start and now, and what is in front.

    `has_dialog`: a form or a page lies over the screen. `has_replayed`: the past was looked at
    since the step began. `is_recorded`: there is a past to look at.
    """

    start: DeskState
    state: DeskState
    screen: str
    has_dialog: bool = False
    has_replayed: bool = False
    is_recorded: bool = True


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


def _others(state: DeskState) -> tuple[AgentView, ...]:
    """The agents to supervise."""
    every = () if state.fleet is None else state.fleet.agents
    return tuple(one for one in every if not (one.is_own or one.retired))


def _request_text(view: TourView) -> str:
    if not view.state.supervision.pending_trades:
        return "an agent that has to ask will do so within a minute: wait for its request"
    name = view.state.supervision.pending_trades[0].agent_name
    opens = f"{{app.approvals}} opens the request of {name}"
    return f"{opens}: allow or refuse it; {{dialog.close}} leaves it waiting"


def _answered(view: TourView) -> bool:
    """True once a request was decided, or if no agent has one."""
    known = {one.pending_id for one in view.start.supervision.decided}
    is_decided = any(one.pending_id not in known for one in view.state.supervision.decided)
    return is_decided or not (_others(view.state) or view.state.supervision.pending_trades)


def _paused(view: TourView) -> bool:
    agents = _others(view.state)
    return not agents or any(one.paused for one in agents)


def _unpaused(view: TourView) -> bool:
    return not any(one.paused for one in _others(view.state))


def _buy_text(view: TourView) -> str:
    if view.has_dialog:
        return "type 25, read the quote, enter buys; {form.cancel} leaves and sends nothing"
    if view.screen != "markets":
        return "now trade yourself, with play money: {app.markets} lists the markets"
    return "choose a market, {markets.buy} opens the ticket"


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


STEPS: Final = (
    TourStep(
        lambda _: "{app.agents} shows the agents: what they hold, what they bought and why",
        lambda view: view.screen == "agents",
    ),
    TourStep(_request_text, _answered),
    TourStep(
        lambda _: "{app.agents}, then {agents.pause}: the highlighted agent stops buying", _paused
    ),
    TourStep(lambda _: "{agents.pause} again, and yes: it may buy again", _unpaused),
    TourStep(
        lambda _: "{app.halt} stops every agent at once, from anywhere",
        lambda view: view.state.halted_since is not None,
    ),
    TourStep(
        lambda _: "{app.resume} lets them trade again, after a question",
        lambda view: view.state.halted_since is None,
    ),
    TourStep(
        lambda _: "{app.replay} shows the desk as it was a while ago; the same key returns",
        lambda view: view.has_replayed or not view.is_recorded,
    ),
    TourStep(_buy_text, _bought),
    TourStep(_stop_text, _has_new_stop, _bought_row),
)
"""In their order: what a supervisor does all day, then a trade of one's own."""


@dataclass(frozen=True, slots=True)
class Tour:
    """How far the person is. `place` counts the steps done; `start` is the state at this one."""

    start: DeskState
    place: int = 0

    @property
    def is_over(self) -> bool:
        """True once every step is done."""
        return self.place >= len(STEPS)

    def advanced(self, view: TourView) -> "Tour":
        """The tour after what a step has seen; at most one step further."""
        if self.is_over or not STEPS[self.place].is_done(view):
            return self
        return replace(self, start=view.state, place=self.place + 1)

    def row(self, view: TourView, before: str) -> str:
        """The row that the step is about; empty for none. `before` had its cursor until now."""
        return "" if self.is_over else STEPS[self.place].row(view, before)

    def text(self, view: TourView) -> str:
        """What to do now, with ids of keys in braces."""
        return "" if self.is_over else STEPS[self.place].text(view)
