"""Parsing of a typed limit, risk default or quiet hours: a change, or the problem."""

from dataclasses import dataclass, replace

from service_tui.console.fields import (
    PERCENT,
    Fault,
    FieldError,
    Number,
    figure_rule,
    is_off,
    parse_number,
    parse_percent,
    percent_text,
)
from service_tui.console.forms.order_draft import MONEY, typed
from service_tui.console.notifications import Quiet, quiet_of
from service_tui.desk.commands.buy_limits import SetBuyLimit
from service_tui.desk.slices.buy_limits import RULES, BuyLimit, BuyLimitView, RiskDefaults
from service_tui.terms import DAY_BUYS_MAX, MONEY_DECIMALS, STOP_MAX, TARGET_MAX
from service_tui.units import ONE, Micros


@dataclass(frozen=True, slots=True)
class BuyLimitChange:
    """The new figures of a limit; `before` is its present state."""

    before: BuyLimitView
    service: int | None
    own: int | None

    @property
    def after(self) -> BuyLimitView:
        """The limit with the new figures."""
        return replace(self.before, service=self.service, own=self.own, is_broken=False)

    @property
    def commands(self) -> tuple[SetBuyLimit, ...]:
        """The commands to send, the desk's own figure first: it is effective at once."""
        limit_kind = self.before.limit_kind
        own = SetBuyLimit(limit_kind, self.own, own=True)
        service = SetBuyLimit(limit_kind, self.service)
        return (
            *((own,) if self.own != self.before.own or self.before.is_broken else ()),
            *((service,) if self.service != self.before.service else ()),
        )

    @property
    def undone(self) -> tuple[SetBuyLimit, ...]:
        """The commands that restore the figures."""
        before = self.before
        return BuyLimitChange(self.after, before.service, before.own).commands

    @property
    def is_loosened(self) -> bool:
        """True if more may be spent or bought than before."""
        old, new = self.before.limit, self.after.limit
        return not self.before.is_broken and old is not None and (new is None or new > old)


def figure_text(limit_kind: BuyLimit, figure: int | None) -> str:
    """A figure as a person would type it; empty for none."""
    if figure is None:
        return ""
    return (
        str(figure)
        if RULES[limit_kind].is_count
        else typed(Micros(figure), decimals=MONEY_DECIMALS)
    )


def read_figure(limit_kind: BuyLimit, text: str, *, most: int | None = None) -> int:
    """Parse a limit.

    Returns:
        Micros, or a number of buys, > 0.

    Raises:
        FieldError: it is none, or more than `most`.
    """
    if not RULES[limit_kind].is_count:
        return int(parse_number(text, MONEY))
    top = most or DAY_BUYS_MAX
    messages = {
        Fault.NOT_PLAIN: "Enter a whole number of buys, such as 50",
        Fault.TOO_SMALL: "Enter a limit above zero",
        Fault.TOO_LARGE: f"Above the plan's limit of {top:,}",
    }
    rule = Number(messages, 0, len(str(DAY_BUYS_MAX)), Micros(ONE), Micros(top * ONE))
    return parse_number(text, rule) // ONE


def read_buy_limit(
    before: BuyLimitView, service: str, own: str, *, most: int | None = None
) -> BuyLimitChange:
    """Parse the figures of a limit; an empty line, or `off`, is no figure.

    Args:
        before: the limit's present state.
        service: text of the service's figure.
        own: text of the desk's own figure.
        most: the service's upper bound.

    Returns:
        The change; an untouched text changes nothing.

    Raises:
        FieldError: a line is no figure, or nothing changes.
    """
    rule = RULES[before.limit_kind]
    change = BuyLimitChange(
        before,
        _figure(before, service, before.service, most=most, may_be_off=rule.may_be_off)
        if rule.on_service
        else before.service,
        _figure(before, own, before.own, most=None, may_be_off=True) if rule.on_desk else None,
    )
    if not change.commands:
        raise FieldError("No change yet: enter another figure")
    return change


def _figure(
    before: BuyLimitView, text: str, kept: int | None, *, most: int | None, may_be_off: bool
) -> int | None:
    if text.strip() == figure_text(before.limit_kind, kept):
        return kept
    if is_off(text):
        if not may_be_off:
            raise FieldError("This limit cannot be off: enter a figure")
        return None
    return read_figure(before.limit_kind, text, most=most)


# -- risk defaults --------------------------------------------------------------------------------


def read_defaults(
    before: RiskDefaults, stop: str, target: str, *, auto_monitor: bool
) -> RiskDefaults:
    """Parse the thresholds of future buys, typed in percent.

    Returns:
        The defaults; an empty line, `off` or 0 is no threshold.

    Raises:
        FieldError: a line is no threshold, or nothing changes.
    """
    requested = RiskDefaults(
        _threshold(before.stop_loss_pct, stop, "stop", STOP_MAX),
        _threshold(before.take_profit_pct, target, "target", TARGET_MAX),
        auto_monitor=auto_monitor,
    )
    if requested == before:
        raise FieldError("No change yet")
    return requested


def _threshold(kept: float | None, text: str, what: str, most: int) -> float | None:
    if text.strip() == percent_text(kept):
        return kept
    if is_off(text):
        return None
    beyond = f"{what}: at most {most * PERCENT:,.0f} %"
    rule = figure_rule(what, most=Micros(most * PERCENT * ONE), beyond=beyond)
    return parse_percent(text, rule) or None


# -- quiet hours ----------------------------------------------------------------------------------


def read_quiet(text: str) -> Quiet | None:
    """Parse quiet hours.

    Returns:
        The hours; None for an empty line or `off`.

    Raises:
        FieldError: it is no span of hours.
    """
    if is_off(text):
        return None
    result = quiet_of(text)
    if result is None:
        raise FieldError("Enter two different times, such as 22:00-07:00, or off")
    return result
