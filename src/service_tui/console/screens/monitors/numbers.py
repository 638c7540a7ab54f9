"""What the numbers of a guarded position are made of: formula, inputs, source, age."""

from rich.text import Text

from service_tui.console import formats
from service_tui.console.exit_estimate import exit_at
from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import is_private
from service_tui.console.parts.risk_rows import RiskRow
from service_tui.desk.freshness import age_s
from service_tui.desk.slices.records import Topic
from service_tui.desk.slices.risk import MonitorView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp


def monitor_numbers(row: RiskRow, state: DeskState, now: Timestamp) -> tuple[Explanation, ...]:
    """Stop, target, what an exit brings now and at the stop; none for what is no monitor."""
    if not isinstance(row, MonitorView):
        return ()
    masked = is_private(state)
    age = _age(state, now)
    entry, mark = ("entry", formats.price(row.entry)), ("mark", formats.price(row.mark))
    stop = exit_at(row, row.stop_price, state.markets.get(row.market_id))
    shares = ("shares", formats.shares(row.shares, masked=masked))
    return (
        Explanation(
            "stop price",
            formats.price(row.stop_price),
            "entry x (1 - stop); at or below it all is sold",
            (entry, ("stop", formats.percent(row.stop_pct, 2))),
            "worked out here from what the service says (monitors)",
            age,
        ),
        Explanation(
            "target price",
            formats.price(row.target_price),
            "entry x (1 + target); all is sold once an exit brings so much a share",
            (entry, ("target", formats.percent(row.target_pct, 2))),
            "worked out here from what the service says (monitors)",
            age,
        ),
        Explanation(
            "the way",
            mark[1],
            "left of the middle: gone towards the stop; right of it: towards the target",
            (
                mark,
                ("left to the stop", formats.percent(row.to_stop, 0)),
                ("exit a share", formats.price(row.exit_price)),
                ("left to the target", formats.percent(row.to_target, 0)),
            ),
            "worked out here",
            age,
        ),
        Explanation(
            "exit now, $",
            formats.money(row.exit_value, masked=masked),
            "what selling all of it would bring",
            (shares, mark),
            "as the service says (positions)",
            age,
        ),
        Explanation(
            "exit at the stop, $",
            formats.money(None if stop is None else stop.brings, masked=masked),
            "about: selling all of it at the stop price, the market as deep as now",
            (shares, ("stop price", formats.price(row.stop_price))),
            "worked out here",
            age,
        ),
    )


def _age(state: DeskState, now: Timestamp) -> Text:
    age = age_s(state, Topic.MONITORS, now)
    return formats.age(None if age is None else Timestamp(now - age), now)
