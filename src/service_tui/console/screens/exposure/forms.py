"""The limit of a group, and the stop and target of what agents hold."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.fields import (
    Field,
    FieldError,
    Number,
    figure_rule,
    is_off,
    parse_number,
    parse_percent,
)
from service_tui.console.forms.form import Form, OptionsRow, OptionsState, Shown
from service_tui.console.forms.monitor_draft import STOP_RULE, TARGET_RULE
from service_tui.console.questions import short_question
from service_tui.desk.commands.agents import AgentSide, SetExposureLimit, SetHeldStops
from service_tui.desk.holdings.rows import HeldRow
from service_tui.desk.slices.holdings import LimitView
from service_tui.desk.state import DeskState
from service_tui.terms import MONEY_OF, LimitGroup, Venue, counted
from service_tui.units import AMOUNT_MAX, ONE, Micros, Timestamp, decimal

_MOST: Final = figure_rule(
    "limit", Micros(1), Micros(int(AMOUNT_MAX) * ONE), beyond="limit: above 0, or empty for none"
)
_WAYS: Final = ("refuse", "warn")


def _parse_most(text: str) -> Micros | None:
    return None if not text.strip() else Micros(parse_number(text, _MOST))


MOST: Final = Field("limit-most", "at most", _parse_most, placeholder="empty: no limit")


class LimitForm(Form[SetExposureLimit]):
    """Sets, changes or takes off the limit of one group, in one kind of money."""

    heading: ClassVar[str] = "Limit"
    body = ("form-question", MOST, OptionsRow("limit-way", "beyond it "), "form-preview")

    def __init__(  # noqa: PLR0913, PLR0917 - what is limited, and what it costs now
        self,
        state: DeskState,
        now: Timestamp,
        group: LimitGroup,
        key: str,
        name: str,
        venue: Venue,
        cost: Micros,
        known: LimitView | None,
    ) -> None:
        super().__init__(state, now)
        self._group, self._key, self._name, self._venue = group, key, name, venue
        self._cost = cost
        self._known = known
        self._way = 0 if known is None or known.refuses else 1

    def validate(self) -> SetExposureLimit:
        """The typed limit."""
        most = self.read(MOST)
        if most is None and self._known is None:
            raise FieldError("Enter how much may be spent in all")
        return SetExposureLimit(
            self._group, self._key, self._name, self._venue, most, refuses=self._way == 0
        )

    def describe(self, result: SetExposureLimit | None) -> Mapping[str, Shown]:
        """What it costs now, the limit in force, and what the new one means."""
        money, cost = MONEY_OF[self._venue], f"{decimal(self._cost):,.2f}"
        known = self._known
        now = "no limit" if known is None else f"limit {decimal(known.cost_max):,.2f}"
        return {
            "form-question": Text.assemble(
                (formats.plain(self._name, 60).plain, "bold"),
                f"  {self._group.value}, costs {cost} {money} now, {now}",
            ),
            "limit-way": OptionsState(_WAYS, self._way),
            "form-preview": Text("Empty takes a limit off.", "muted")
            if result is None
            else _meaning(result, self._cost),
        }

    def choose(self, name: str, index: int) -> None:
        """Refuse, or warn."""
        del name
        self._way = index


def _meaning(result: SetExposureLimit, cost: Micros) -> Text:
    if result.cost_max is None:
        return Text("Buys of every agent are bound by it no more.", "muted")
    left = max(0, result.cost_max - cost)
    does = "refused" if result.refuses else "warned about"
    ink = "warn" if not left else "muted"
    return Text(f"Buys of all agents beyond it are {does}: {left / ONE:,.2f} is left.", ink)


STOP: Final = Field("stop-percent", "stop", str.strip, "% down", "unchanged")
TARGET: Final = Field("target-percent", "target", str.strip, "% up", "unchanged")


class StopsForm(Form[SetHeldStops]):
    """Sets the stop and target of one position of an agent, or of several."""

    heading: ClassVar[str] = "Stop and target"
    body = ("form-question", STOP, TARGET, "form-preview", "form-hint")

    def __init__(self, state: DeskState, now: Timestamp, rows: Sequence[HeldRow]) -> None:
        super().__init__(state, now)
        self._rows = rows

    def validate(self) -> SetHeldStops:
        """The typed thresholds."""
        terms = tuple(_terms((STOP, self.read(STOP)), (TARGET, self.read(TARGET))))
        if not terms:
            raise FieldError("Enter a stop or a target; empty means unchanged")
        sides = (
            AgentSide(one.agent_id, one.agent_name, one.market_id, one.side, one.venue)
            for one in self._rows
        )
        return SetHeldStops(tuple(sides), terms)

    def objection(self, result: SetHeldStops) -> str:
        """A stop passed already sells at once: that needs a second enter."""
        passed = sum(_is_passed(one, result) for one in self._rows)
        what = "The price is" if len(self._rows) == 1 else f"{passed} are"
        return f"{what} at this stop already. Enter again sets and sells" if passed else ""

    def describe(self, result: SetHeldStops | None) -> Mapping[str, Shown]:
        """What is held, its stop now, and where the typed one sells."""
        return {
            "form-question": self._about(),
            "form-preview": self._meaning(result),
            "form-hint": Text("Empty: unchanged. Off: no threshold.", "muted"),
        }

    def _about(self) -> Text:
        if len(self._rows) > 1:
            return Text(f"{counted(len(self._rows), 'position')} of any agents")
        one = self._rows[0]
        return Text.assemble(
            (f"{formats.plain(one.agent_name, 20).plain} ", "bold"),
            formats.side(one.side),
            f" {short_question(one.question)}",
            ("\nprice ", "muted"), formats.price(one.price),
            (", stop ", "muted"), formats.price(one.stop),
            (", target ", "muted"), formats.price(one.target),
        )  # fmt: skip

    def _meaning(self, result: SetHeldStops | None) -> Text:
        if result is None or len(self._rows) > 1:
            return Text()
        one, stop = self._rows[0], dict(result.terms).get("stop_loss_pct")
        if stop is None or not one.shares:
            return Text()
        at = _entry(one) * (1 - stop)
        return Text.assemble(
            ("sells all at about ", "muted"), formats.price(at),
            (f", from {formats.price(_entry(one)).plain} paid", "muted"),
        )  # fmt: skip


_RULES: Final[Mapping[str, tuple[str, Number]]] = {
    STOP.name: ("stop_loss_pct", STOP_RULE),
    TARGET.name: ("take_profit_pct", TARGET_RULE),
}


def _terms(*typed: tuple[Field[str], str]) -> Iterator[tuple[str, float | None]]:
    """The typed thresholds by their names on the wire; an empty line has none."""
    for field, text in typed:
        name, rule = _RULES[field.name]
        if text.strip():
            yield name, None if is_off(text) else parse_percent(text, rule)


def _entry(row: HeldRow) -> float:
    return row.cost / row.shares if row.shares else 0.0


def _is_passed(row: HeldRow, result: SetHeldStops) -> bool:
    stop = dict(result.terms).get("stop_loss_pct")
    return stop is not None and row.price is not None and row.price <= _entry(row) * (1 - stop)
