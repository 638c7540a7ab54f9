"""The forms of the settings: a limit, the risk defaults, channels of a notice, quiet hours."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.text import Text
from textual.binding import Binding, BindingType

from service_tui.console import formats
from service_tui.console.buy_limit_text import figure, source_text, used_line
from service_tui.console.fields import Field, FieldError, percent_text
from service_tui.console.forms.buy_limit_draft import (
    BuyLimitChange,
    figure_text,
    read_buy_limit,
    read_defaults,
    read_quiet,
)
from service_tui.console.forms.form import Form, OptionsRow, OptionsState, Shown
from service_tui.console.forms.ticket_guards import read_slippage, slippage_text
from service_tui.console.notifications import KINDS, Channel, Quiet, is_quiet
from service_tui.console.reasons import without_amounts
from service_tui.desk.buy_limits import buy_limits
from service_tui.desk.slices.buy_limits import RULES, BuyLimit, BuyLimitView, RiskDefaults
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.state import DeskState
from service_tui.units import Micros, Timestamp

# -- a limit --------------------------------------------------------------------------------------

SERVICE: Final = "limit-service"
OWN: Final = "limit-own"


class BuyLimitForm(Form[BuyLimitChange]):
    """Returns the new figures of a limit."""

    heading: ClassVar[str] = "Limit"
    hint: ClassVar[str] = "{form.cancel} cancels"

    def __init__(self, state: DeskState, now: Timestamp, view: BuyLimitView) -> None:
        super().__init__(state, now)
        self._view = view
        self._rule = RULES[view.limit_kind]
        rule, unit = self._rule, "buys" if self._rule.is_count else "money"
        fields: list[Field[str]] = []
        if rule.on_service:
            fields.append(_field(SERVICE, "service", unit, may_be_off=rule.may_be_off))
        if rule.on_desk:
            fields.append(_field(OWN, "this desk", unit, may_be_off=True))
        self.first = {
            SERVICE: figure_text(view.limit_kind, view.service),
            OWN: figure_text(view.limit_kind, view.own),
        }
        self.body = ("form-question", "form-about-limit", *fields, "form-preview", "form-hint")

    def renew(self) -> None:
        """The use, as it is now; the typed figures stay."""
        newest = next(
            (
                limit
                for limit in buy_limits(self.state, self.now)
                if limit.limit_kind is self._view.limit_kind
            ),
            None,
        )
        if newest is not None:
            self._view = newest

    def validate(self) -> BuyLimitChange:
        """The typed figures."""
        if self.state.buy_limits is None:
            raise FieldError("limits not loaded yet")
        most = (
            self.state.buy_limits.day_buys_ceiling
            if self._view.limit_kind is BuyLimit.DAY_BUYS
            else None
        )
        service = self.typed(SERVICE) if self._rule.on_service else ""
        own = self.typed(OWN) if self._rule.on_desk else ""
        return read_buy_limit(self._view, service, own, most=most)

    def describe(self, result: BuyLimitChange | None) -> Mapping[str, Shown]:
        """The limit, the figure that binds now, and the one that would bind."""
        rows = [self._row("in force", self._view)]
        if result is not None:
            rows.append(self._row("then", result.after))
        used = used_line(self._view if result is None else result.after, masked=self.masked)
        if used.plain:
            rows.append(Text.assemble((f"{'used':<12}", "muted"), used))
        if self._view.resets_at is not None:
            anew = formats.until(self._view.resets_at, self.now)
            here = formats.clock_time(self._view.resets_at).plain.removesuffix(":00")
            text = (f" at midnight UTC, {here} here", "muted")
            rows.append(Text.assemble((f"{'resets':<12}", "muted"), anew, text))
        return {
            "form-question": self._rule.name,
            "form-about-limit": without_amounts(self._rule.description, masked=self.masked),
            "form-preview": Text("\n").join(rows),
            "form-hint": self._hint(result),
        }

    def _row(self, name: str, view: BuyLimitView) -> Text:
        if view.is_broken:
            unread = "desk limit unreadable: buys blocked"
            return Text.assemble((f"{name:<12}", "muted"), (unread, "loss"))
        return Text.assemble(
            (f"{name:<12}", "muted"),
            figure(view.limit_kind, view.limit, masked=self.masked),
            "  ",
            (source_text(view), "muted"),
        )

    def _hint(self, result: BuyLimitChange | None) -> Text:
        if result is not None and result.is_loosened:
            return Text("Loosens the limit. You confirm it next.", "warn")
        if not self._rule.on_service:
            return Text("The desk limit is stored on this machine.", "muted")
        return Text("The lower limit applies to orders of this desk.", "muted")


def _field(name: str, label: str, unit: str, *, may_be_off: bool) -> Field[str]:
    """The line of one figure; the draft parses both together."""
    off = ", empty: off" if may_be_off else ""
    placeholder = "off" if may_be_off else ""
    return Field(name, label, str.strip, f"{unit}{off}", placeholder, 16, "figure")


# -- the risk defaults ----------------------------------------------------------------------------

_EXAMPLE: Final = 0.50
"""The entry price of the example."""

STOP: Final = Field("defaults-stop", "stop", str.strip, "% down, empty: off", "off")
TARGET: Final = Field("defaults-target", "target", str.strip, "% up, empty: off", "off")
AUTO: Final = OptionsRow("defaults-auto", "auto stop-loss")


class DefaultsForm(Form[RiskDefaults]):
    """Returns the defaults; present monitors keep their own thresholds."""

    heading: ClassVar[str] = "Risk defaults"
    body = ("form-question", STOP, TARGET, AUTO, "form-preview", "form-hint")

    def __init__(self, state: DeskState, now: Timestamp, defaults: RiskDefaults) -> None:
        super().__init__(state, now)
        self._before = defaults
        self._auto = defaults.auto_monitor
        self.first = {
            STOP.name: percent_text(defaults.stop_loss_pct),
            TARGET.name: percent_text(defaults.take_profit_pct),
        }

    def validate(self) -> RiskDefaults:
        """The typed thresholds."""
        stop, target = self.read(STOP), self.read(TARGET)
        return read_defaults(self._before, stop, target, auto_monitor=self._auto)

    def describe(self, result: RiskDefaults | None) -> Mapping[str, Shown]:
        """The exit prices of a position bought at even odds."""
        shown = self._before if result is None else result
        stop, target = shown.stop_loss_pct, shown.take_profit_pct
        below = None if stop is None else _EXAMPLE * (1 - stop)
        above = None if target is None else _EXAMPLE * (1 + target)
        text = Text.assemble(
            ("Example: bought at 0.50, ", "muted"),
            *_exit_example("stop", below),
            ", ",
            *_exit_example("target", above),
        )
        return {
            "form-question": "Protects every new buy.",
            AUTO.name: OptionsState(("on", "off"), 0 if self._auto else 1),
            "form-preview": text,
            "form-hint": self._hint(),
        }

    def choose(self, name: str, index: int) -> None:
        """Switch automatic monitors."""
        del name
        self._auto = index == 0

    def _hint(self) -> Text:
        if self._auto:
            return Text("Each new buy gets a monitor.", "muted")
        text = "New buys get no monitor. Automatic monitors are removed, manual ones stay."
        return Text(text, "warn")


# -- notices --------------------------------------------------------------------------------------

_CHANNEL_TEXTS: Final = {
    Channel.TOAST: "a message in the corner, unless screen 0 lists it",
    Channel.BADGE: "counted in the top line until viewed (0 or 3)",
    Channel.BELL: "terminal bell, one for several",
    Channel.DESKTOP: "desktop notification, one for several",
}


class ChannelsForm(Form[frozenset[Channel]]):
    """A digit switches a channel, enter keeps them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(str(place), f"turn({place - 1})", show=False)
        for place in range(1, len(_CHANNEL_TEXTS) + 1)
    ]
    AUTO_FOCUS = "#form-set"
    heading: ClassVar[str] = "Notifications"
    hint: ClassVar[str] = "1 to 4 toggle, enter sets, {form.cancel} cancels"
    body = ("form-question", "form-about-limit", "form-preview", "form-hint")

    def __init__(
        self, state: DeskState, now: Timestamp, kind: NoticeKind, channels: frozenset[Channel]
    ) -> None:
        super().__init__(state, now)
        self._kind = kind
        self._channels = channels

    def validate(self) -> frozenset[Channel]:
        """The channels; any choice is valid."""
        return self._channels

    def describe(self, result: frozenset[Channel] | None) -> Mapping[str, Shown]:
        """The kind of notice, and its channels, the selected ones marked."""
        taken, rule = result or frozenset(), KINDS[self._kind]
        lines = [
            Text.assemble(
                (f"{place} ", "accent"),
                ("● " if channel in taken else "○ ", "accent" if channel in taken else "muted"),
                (f"{channel.value:<9}", "bold" if channel in taken else ""),
                (_CHANNEL_TEXTS[channel], "muted"),
            )
            for place, channel in enumerate(Channel, start=1)
        ]
        text = "No bell and no desktop notification in quiet hours."
        return {
            "form-question": rule.name,
            "form-about-limit": rule.meaning,
            "form-preview": Text("\n").join(lines),
            "form-hint": Text(text, "muted"),
        }

    def action_turn(self, place: int) -> None:
        """Switch a channel on or off."""
        self._channels ^= {tuple(Channel)[place]}
        self.refresh_form()


@dataclass(frozen=True, slots=True)
class Hours:
    """Quiet hours, or none."""

    quiet: Quiet | None


HOURS: Final = Field(
    "quiet-hours", "hours", read_quiet, "local time, empty: off", "22:00-07:00", 16, "figure"
)


@dataclass(frozen=True, slots=True)
class Slippage:
    """Points of slippage without a second enter, or any."""

    points: Micros | None


SLIPPAGE_LINE: Final = Field(
    "slippage-points", "slippage", read_slippage, "points, empty: any", "any", 8, "figure"
)


class SlippageForm(Form[Slippage]):
    """Returns the most slippage that needs no second enter."""

    heading: ClassVar[str] = "Slippage without asking"
    body = ("form-question", SLIPPAGE_LINE, "form-preview")

    def __init__(self, state: DeskState, now: Timestamp, points: Micros | None) -> None:
        super().__init__(state, now)
        self.first = {SLIPPAGE_LINE.name: "" if points is None else slippage_text(points)}

    def validate(self) -> Slippage:
        """The typed points."""
        return Slippage(self.read(SLIPPAGE_LINE))

    def describe(self, result: Slippage | None) -> Mapping[str, Shown]:
        """What the ticket does beyond it."""
        points = None if result is None else result.points
        beyond = (
            "No order needs a second enter for its slippage."
            if points is None
            else f"An average more than {slippage_text(points)} points from the price now needs "
            "a second enter."
        )
        return {
            "form-question": "Slippage: average price - price now. 1 point is 0.01 of price.",
            "form-preview": Text(beyond, "warn" if points is None else "muted"),
        }


class QuietForm(Form[Hours]):
    """Returns the quiet hours."""

    heading: ClassVar[str] = "Quiet hours"
    body = ("form-question", HOURS, "form-preview", "form-hint")

    def __init__(self, state: DeskState, now: Timestamp, quiet: Quiet | None) -> None:
        super().__init__(state, now)
        self.first = {HOURS.name: "" if quiet is None else quiet.describe()}

    def validate(self) -> Hours:
        """The typed hours."""
        return Hours(self.read(HOURS))

    def describe(self, result: Hours | None) -> Mapping[str, Shown]:
        """Whether it would be quiet now."""
        match = None if result is None else result.quiet
        now = is_quiet(match, self.now)
        text = "no quiet hours" if match is None else "quiet now" if now else "not quiet now"
        kept = "Toasts and the count continue. Quiet hours may span midnight."
        return {
            "form-question": "No bell and no desktop notification between these times.",
            "form-preview": Text(text, "warn" if now else "muted"),
            "form-hint": Text(kept, "muted"),
        }


def _exit_example(name: str, price: float | None) -> tuple[Text, ...]:
    """A stop or a target of the example."""
    if price is None:
        return (Text(f"no {name}", "muted"),)
    return Text(f"{name} at ", "muted"), formats.price(price)
