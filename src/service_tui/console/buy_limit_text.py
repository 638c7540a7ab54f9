"""Limits as text: the figure that binds, its source, and its use."""

from rich.text import Text

from service_tui.console import formats
from service_tui.console.widgets.line_fit import meter
from service_tui.desk.slices.buy_limits import RULES, BuyLimit, BuyLimitView
from service_tui.units import Micros

_METER = 10


def figure(limit_kind: BuyLimit, amount: int | None, *, masked: bool = False) -> Text:
    """A figure of a limit; None is "no limit"."""
    if amount is None:
        return Text("no limit", "muted")
    if RULES[limit_kind].is_count:
        return formats.count(amount)
    return formats.money(Micros(amount), masked=masked)


def source_text(view: BuyLimitView) -> str:
    """The source of the figure that binds."""
    return {"service": "service", "desk": "this desk", "": ""}[view.source]


def used_bar(view: BuyLimitView) -> Text:
    """The used part of a limit, as a bar; empty if nothing is counted."""
    part = view.part
    return Text() if part is None else meter(part, _METER)


def used_line(view: BuyLimitView, *, masked: bool) -> Text:
    """The used amount, the limit, and the amount still pending."""
    if view.used is None:
        return Text()
    used = figure(view.limit_kind, view.used, masked=masked)
    if view.limit is None:
        return used
    line = Text.assemble(
        used, (" of ", "muted"), figure(view.limit_kind, view.limit, masked=masked), "  ",
        formats.percent(view.part, 0),
    )  # fmt: skip
    if view.reserved:
        waiting = figure(view.limit_kind, view.reserved, masked=masked)
        line = Text.assemble(line, (", ", "muted"), waiting, (" of it pending", "muted"))
    return line
