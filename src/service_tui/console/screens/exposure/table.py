"""The tables of the exposure screen: groups, calendar, and all positions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import awaited
from service_tui.console.own_notes import sign_of, signed
from service_tui.console.questions import short_question
from service_tui.console.table_spec import (
    TableSpec,
    amount_column,
    listed_name,
    marked_question,
    market_column,
    price_column,
    shorter_name,
    word_column,
)
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import Column
from service_tui.desk.holdings.rows import (
    HELD_BY,
    SLOT,
    ExposureRow,
    GroupRow,
    HeldRow,
    due_rows,
    group_count,
    group_rows,
    held_groups,
    held_rows,
    slot_count,
    slot_rows,
)
from service_tui.desk.own_notes import day_of
from service_tui.desk.slices.holdings import HoldingsView
from service_tui.desk.slices.own_notes import NoteOn
from service_tui.desk.slices.rows import LastMade
from service_tui.desk.state import DeskState
from service_tui.evaluation.exposure import Exposure, Grouping
from service_tui.folding import folded
from service_tui.units import Micros, Timestamp, decimal

Row = TypeVar("Row")


def _once(
    make: Callable[[HoldingsView], tuple[Row, ...]],
) -> Callable[[DeskState], tuple[Row, ...]]:
    """The rows of a state, made once of the same holdings; none until these are known."""
    last = LastMade[tuple[Row, ...]]()

    def rows(state: DeskState) -> tuple[Row, ...]:
        held = state.holdings
        return () if held is None else last.of((held,), lambda: make(held))

    return rows


def _positions(held: HoldingsView) -> tuple[ExposureRow, ...]:
    """What is held, by agent."""
    rows = sorted(held_rows(held), key=lambda row: (row.agent_name, row.what, row.question))
    return tuple(rows)


HOURLY: Final = "hour, day"
POSITION: Final = "position"
"""What a list is grouped by that has no `Grouping`: hours and days; nothing at all."""


@dataclass(frozen=True, slots=True)
class Grouped:
    """The rows of a list as it is grouped, made when they are first seen, and their number."""

    rows: Callable[[DeskState], tuple[ExposureRow, ...]]
    count: Callable[[HoldingsView], int]


def _by(grouping: Grouping, make: Callable[..., tuple[GroupRow, ...]]) -> Grouped:
    return Grouped(
        _once(lambda held: make(held, grouping)), partial(group_count, grouping=grouping)
    )


GROUPED: Final[Mapping[str, Mapping[str, Grouped]]] = {
    "exposure": {one.value: _by(one, group_rows) for one in Grouping},
    "calendar": {
        Grouping.MARKET.value: Grouped(
            _once(due_rows), partial(group_count, grouping=Grouping.MARKET)
        ),
        HOURLY: Grouped(_once(slot_rows), slot_count),
    },
    "held": {
        POSITION: Grouped(_once(_positions), lambda held: len(held.holdings) + len(held.orders)),
        **{one.value: _by(one, held_groups) for one in HELD_BY},
    },
}
"""By what each list can be grouped, and what it then lists; the first is the usual one."""


def _every(name: str) -> Callable[[DeskState], tuple[Any, ...]]:
    """The rows of a list, of all its groupings."""
    return lambda state: tuple(row for one in GROUPED[name].values() for row in one.rows(state))


def _left(at: Timestamp | None, now: Timestamp) -> Text:
    if at is None:
        return Text(formats.NOT_KNOWN, "muted")
    left = formats.duration_short(abs(at - now))
    if at > now:
        return Text(left)
    return Text("due" if now - at < 1 else f"-{left}", "warn")


def _left_column(title: str, *, tier: int = 0) -> Column[ExposureRow]:
    """The time until its market resolves, by the clock of the world; a minus: overdue so long."""
    return Column(
        "left",
        title,
        7,
        lambda row, view: _left(row.resolves_at, view.world_now),
        sort_key=lambda row, _: row.resolves_at,
        align="right",
        glows=False,
        tier=tier,
    )


def _seconds_left(row: ExposureRow, view: ViewContext) -> float | None:
    return None if row.resolves_at is None else row.resolves_at - view.world_now


Number: TypeAlias = Callable[[Row, ViewContext], float | None]


def _compared(
    amounts: Mapping[str, Callable[[Row], Micros | None]],
    numbers: Mapping[str, Callable[[Row], float | None]],
) -> dict[str, Number[Row]]:
    """What a search compares: amounts in units, further numbers, and the time left."""

    def units(amount: Callable[[Row], Micros | None]) -> Number[Row]:
        def read(row: Row, _: ViewContext) -> float | None:
            found = amount(row)
            return None if found is None else decimal(found)

        return read

    def as_is(number: Callable[[Row], float | None]) -> Number[Row]:
        return lambda row, _: number(row)

    return {
        **{name: units(amount) for name, amount in amounts.items()},
        **{name: as_is(number) for name, number in numbers.items()},
    }


def _is_loaded(state: DeskState) -> bool:
    return state.holdings is not None


def _empty_text(state: DeskState) -> str:
    if state.holdings is None:
        if not state.service.embedded:
            return "This service does not tell what other agents hold."
        return awaited(state, "Loading what all agents hold.")
    return "Nobody holds anything.\n\nPositions and open orders of every agent are listed here."


def change(amount: Micros | None, exposure: Exposure) -> Micros | None:
    """How far an amount lies from what selling now would bring."""
    if amount is None or exposure.value is None:
        return None
    return Micros(amount - exposure.value)


def _money(
    title: str, name: str, amount: Callable[[Row], Micros | None], *, tier: int = 0
) -> Column[Row]:
    return amount_column(name, title, 11, amount, formats.money, tier=tier)


def _pnl(
    title: str, name: str, amount: Callable[[Row], Micros | None], *, tier: int = 0
) -> Column[Row]:
    return amount_column(name, title, 11, amount, formats.pnl, tier=tier)


_AMOUNTS: Final[dict[str, Callable[[GroupRow], Micros | None]]] = {
    "cost": lambda row: row.cost,
    "value": lambda row: row.value,
    "worst": lambda row: change(row.exposure.worst, row.exposure),
    "best": lambda row: change(row.exposure.best, row.exposure),
    "yes": lambda row: change(row.exposure.if_yes, row.exposure),
    "no": lambda row: change(row.exposure.if_no, row.exposure),
    "rise": lambda row: row.exposure.after_rise,
    "fall": lambda row: row.exposure.after_fall,
    "pays_yes": lambda row: row.exposure.if_yes,
    "pays_no": lambda row: row.exposure.if_no,
}
"""The amounts of a group by their columns; changes are from what selling now would bring."""


def _amounts(*names: str) -> dict[str, Callable[[GroupRow], Micros | None]]:
    return {name: _AMOUNTS[name] for name in names}


def limit_used(row: GroupRow) -> float | None:
    """The part of its limit that the group costs; None without a limit."""
    limit = row.limit
    return None if limit is None else row.cost / limit.cost_max


def _limit(row: GroupRow, view: ViewContext) -> Text:
    """The used part and the limit of the group; ! where it only warns, red once it is reached."""
    used = limit_used(row)
    if row.limit is None or used is None:
        return Text()
    text = formats.money(row.limit.cost_max, masked=view.masked)
    if not row.limit.refuses:
        text.append("!")
    if view.masked:
        return text
    return Text(f"{used:.0%} of {text.plain}", "loss" if used >= 1 else "")


def _group_name(row: GroupRow, view: ViewContext, *, has_room: bool = True) -> str:
    """A market or an event as every list calls it; any other group by its name."""
    name = formats.plain(row.exposure.name).plain
    if row.grouping is Grouping.MARKET:
        called = listed_name if has_room else shorter_name
        return called(row.exposure.key, name, view.state)
    if row.grouping is Grouping.EVENT:
        return event_name(row.exposure.key, view.state) or short_question(name)
    return name


_events: Final = LastMade[Mapping[str, str]]()


def event_name(event_id: str, state: DeskState) -> str:
    """The name of a question with several outcomes; empty for what is none."""

    def made() -> Mapping[str, str]:
        return {one.event_id: one.event_name for one in state.markets.values() if one.event_id}

    return _events.of((state.markets,), made).get(event_id, "")


EXPOSURE: Final = TableSpec[GroupRow](
    "exposure",
    rows=_every("exposure"),
    key=lambda row: row.key,
    columns=(
        Column[GroupRow](
            "name",
            "group",
            14,
            _group_name,
            shorter=lambda row, view: _group_name(row, view, has_room=False),
            sort_key=lambda row, _: row.exposure.name,
            flex=True,
            keeps_end=True,
        ),
        Column[GroupRow](
            "held",
            "held",
            5,
            lambda row, _: formats.count(row.exposure.count),
            sort_key=lambda row, _: row.exposure.count,
            numeric=True,
            tier=124,
        ),
        _money("cost", "cost", _AMOUNTS["cost"], tier=92),
        _money("sale value", "value", _AMOUNTS["value"]),
        _pnl("at worst", "worst", _AMOUNTS["worst"]),
        _pnl("at best", "best", _AMOUNTS["best"], tier=116),
        _pnl("all YES", "yes", _AMOUNTS["yes"]),
        _pnl("all NO", "no", _AMOUNTS["no"]),
        _pnl("YES +10 pt", "rise", _AMOUNTS["rise"], tier=150),
        _pnl("YES -10 pt", "fall", _AMOUNTS["fall"], tier=150),
        Column(
            "limit",
            "limit used",
            16,
            _limit,
            sort_key=lambda row, _: limit_used(row),
            numeric=True,
            tier=110,
            of_row=True,
        ),
        _left_column("ends in", tier=170),
        word_column("money", "ccy", 6, lambda row: row.exposure.money),
    ),
    search_text=lambda row, _: folded(row.question),
    empty_text=_empty_text,
    compared={
        **_compared(
            _amounts("cost", "value", "worst", "best", "yes", "no", "rise", "fall"),
            {"held": lambda row: row.exposure.count},
        ),
        "left": _seconds_left,
    },
    is_loaded=_is_loaded,
)


def when(row: GroupRow) -> Text:
    """When it resolves, by the clock of the world; of several markets the hour, or the day."""
    slot = row.slot
    if slot is not None and slot.is_overdue:
        return Text("overdue", "warn")
    at = row.resolves_at
    if row.of == SLOT and slot is not None:
        at = slot.begins_at
    if at is None:
        return Text("no end told", "muted")
    text = formats.date_time(at)
    # A day has no hour to show.
    is_day = row.of == SLOT and slot is not None and not slot.is_hour
    return text[: -len(" 00:00")] if is_day else text


def _when(row: GroupRow, view: ViewContext) -> Text:
    if row.resolves_at is None:
        return when(row)
    return Text.assemble(when(row), sign_of(view, NoteOn.DAY, day_of(row.resolves_at)))


def _pays(row: GroupRow) -> str:
    """The outcome that pays more than the other."""
    yes, no = row.exposure.if_yes, row.exposure.if_no
    return "both" if yes == no else "YES" if yes > no else "NO"


CALENDAR: Final = TableSpec[GroupRow](
    "calendar",
    rows=_every("calendar"),
    key=lambda row: row.key,
    columns=(
        Column[GroupRow](
            "when",
            "resolves",
            13,
            _when,
            sort_key=lambda row, _: row.resolves_at,
            glows=False,
        ),
        _left_column("in"),
        market_column(),
        _money("cost", "cost", _AMOUNTS["cost"]),
        word_column("pays", "side", 4, _pays, tier=84),
        _money("pays if YES", "pays_yes", _AMOUNTS["pays_yes"], tier=94),
        _money("pays if NO", "pays_no", _AMOUNTS["pays_no"], tier=94),
        _money("sale value", "value", _AMOUNTS["value"], tier=122),
        _pnl("at worst", "worst", _AMOUNTS["worst"]),
        word_column("money", "ccy", 6, lambda row: row.exposure.money),
    ),
    search_text=lambda row, _: folded(row.question),
    empty_text=_empty_text,
    compared={
        **_compared(_amounts("cost", "pays_yes", "pays_no", "value", "worst"), {}),
        "left": _seconds_left,
    },
    is_loaded=_is_loaded,
)

NEAR: Final = 0.03
"""Three points of price above its stop: shown in colour."""


def _price_of(name: str) -> Callable[[ExposureRow], float | None]:
    """A price of a position; a group has none."""
    return lambda row: getattr(row, name) if isinstance(row, HeldRow) else None


def _to_stop(row: ExposureRow, _: ViewContext) -> Text:
    """How far the price may fall, in points."""
    distance = _price_of("to_stop")(row)
    if distance is None:
        return Text()
    return Text(f"{100 * distance:.1f}", "warn" if distance < NEAR else "")


def _side(row: ExposureRow, _: ViewContext) -> Text:
    return formats.side(row.side) if isinstance(row, HeldRow) else Text()


def _held_name(row: ExposureRow, view: ViewContext, *, has_room: bool = True) -> Text | str:
    if isinstance(row, HeldRow):
        called = listed_name if has_room else shorter_name
        name = called(row.market_id, row.question, view.state)
        return signed(marked_question(name, row.venue), row.market_id, view)
    if row.grouping is Grouping.AGENT:
        return Text(row.what, "muted")
    return Text.assemble(_group_name(row, view, has_room=has_room), (f"  {row.what}", "muted"))


def _held_text(row: ExposureRow) -> str:
    return folded(f"{row.question}\n{row.agent_name}\n{row.what}")


HELD_LIST: Final = TableSpec[ExposureRow](
    "held",
    rows=_every("held"),
    key=lambda row: row.key,
    columns=(
        word_column("agent", "agent", 14, lambda row: row.agent_name),
        word_column(
            "what", "what", 9, lambda row: row.what if isinstance(row, HeldRow) else "", tier=118
        ),
        Column[ExposureRow]("side", "side", 4, _side, sort_key=lambda row, _: _side(row, _).plain),
        Column[ExposureRow](
            "market",
            "market",
            14,
            _held_name,
            shorter=lambda row, view: _held_name(row, view, has_room=False),
            sort_key=lambda row, _: row.question,
            flex=True,
            keeps_end=True,
        ),
        amount_column(
            "shares",
            "shares",
            9,
            lambda row: row.shares if isinstance(row, HeldRow) else None,
            formats.shares,
            tier=100,
        ),
        _money("cost", "cost", lambda row: row.cost, tier=128),
        _money("sale value", "value", lambda row: row.value),
        _pnl("P&L if sold", "pnl", lambda row: row.pnl, tier=90),
        price_column("price", "price", 6, _price_of("price")),
        price_column("stop", "stop", 6, _price_of("stop")),
        Column[ExposureRow](
            "to_stop",
            "to stop",
            7,
            _to_stop,
            sort_key=lambda row, _: _price_of("to_stop")(row),
            align="right",
        ),
        price_column("target", "target", 6, _price_of("target"), tier=136),
        _left_column("ends in", tier=112),
        word_column(
            "others",
            "other side",
            14,
            lambda row: ", ".join(row.others) if isinstance(row, HeldRow) else "",
            tier=150,
        ),
    ),
    search_text=lambda row, _: _held_text(row),
    empty_text=_empty_text,
    compared={
        **_compared(
            {"cost": lambda row: row.cost, "value": lambda row: row.value, "pnl": lambda r: r.pnl},
            {name: _price_of(name) for name in ("price", "stop", "target")},
        ),
        "to_stop": lambda row, _: _points(_price_of("to_stop")(row)),
        "left": _seconds_left,
    },
    is_loaded=_is_loaded,
)


def _points(part: float | None) -> float | None:
    return None if part is None else 100 * part


TABLES: Final = (EXPOSURE, CALENDAR, HELD_LIST)
