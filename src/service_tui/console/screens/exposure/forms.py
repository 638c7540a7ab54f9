"""The limit of a group: how much it may cost, and whether a buy beyond it is refused."""

from collections.abc import Mapping
from typing import ClassVar, Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.fields import Field, FieldError, figure_rule, parse_number
from service_tui.console.forms.form import Form, OptionsRow, OptionsState, Shown
from service_tui.desk.commands.agents import SetExposureLimit
from service_tui.desk.slices.holdings import LimitView
from service_tui.desk.state import DeskState
from service_tui.terms import MONEY_OF, LimitGroup, Venue
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
    body = ("form-question", MOST, OptionsRow("limit-way", "beyond it"), "form-preview")

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
