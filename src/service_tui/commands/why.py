"""`service-tui why ID`: the history of a trade, or of a request that waits for a person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from service_tui.app.options import Options
from service_tui.commands.json_text import json_text
from service_tui.commands.report import load
from service_tui.commands.report_data import ReportData, ReportError
from service_tui.console.forms.why import chain_text
from service_tui.console.needs_fleet import PENDING
from service_tui.desk.audit.exports import text_of_moment
from service_tui.desk.audit.why import (
    LabelledValue,
    Link,
    TradeHistory,
    Unit,
    why_past,
    why_request,
)
from service_tui.desk.slices.topics import Topic
from service_tui.desk.wanted import PastPart, Wanted
from service_tui.units import Micros, decimal

WHY: Final = Wanted(
    (Topic.ACCOUNT, Topic.POSITIONS, Topic.MONITORS, Topic.AGENTS, Topic.FLEET),
    frozenset({PastPart.TRADES, PastPart.POSITIONS}),
)
"""What a history is made of."""

IN_MICROS: Final = frozenset({Unit.MONEY, Unit.SHARES, Unit.PNL})


@dataclass(frozen=True, slots=True)
class Explained:
    """The history of one trade or request, and as of when."""

    about: str
    history: TradeHistory
    data: ReportData

    def lines(self) -> Sequence[str]:
        """The history for a person."""
        return chain_text(self.history, self.data.at, masked=False).plain.split("\n")

    def text(self) -> str:
        """The history as one JSON object."""
        return json_text("why", self.facts())

    def facts(self) -> Mapping[str, object]:
        """The history as plain values: links in the order of time, each with its figures."""
        return {
            "id": self.about,
            "title": self.history.title,
            "links": [_link(link) for link in self.history.links],
        }


def why(options: Options, about: str) -> Explained:
    """The history of the trade or request of this id.

    Raises:
        ReportError: there is none, or the service does not answer.
        DeskClosedError: the directory cannot be used.
    """
    return why_in(load(options, WHY), about)


def why_in(data: ReportData, about: str) -> Explained:
    """The history of a trade or request among what was read; ReportError if it is not there."""
    view = data.state.supervision
    about = about.removeprefix(PENDING)
    for request in (*view.pending_trades, *view.decided):
        if request.pending_id == about:
            return Explained(about, why_request(request), data)
    agents = () if data.state.fleet is None else data.state.fleet.agents
    names = {one.agent_id: one.name for one in agents}
    for past in data.pasts.values():
        for one in past.trades:
            if about and one.trade.trade_id == about:
                name = names.get(past.agent_id, past.agent_id)
                return Explained(about, why_past(data.state, past, one, name), data)
    raise ReportError(
        f"no trade or request {about!r}; 'service-tui fills --json' and 'service-tui needs --json' "
        "have their ids"
    )


def _link(link: Link) -> Mapping[str, object]:
    return {
        "name": link.name,
        "at": text_of_moment(link.at),
        "missing": link.missing or None,
        "values": [_value(one) for one in link.values],
    }


def _value(one: LabelledValue) -> Mapping[str, object]:
    is_micros = one.unit in IN_MICROS and not isinstance(one.value, str)
    value = decimal(Micros(round(float(one.value)))) if is_micros else one.value
    return {"label": one.label, "value": value, "unit": one.unit.value}
