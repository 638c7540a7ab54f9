"""The forms of what commands print with `--json`, each with its version and its fields.

Within a version fields are only added. Another meaning or type of a field, or its absence, is the
next version.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

TYPES: Final[Mapping[str, tuple[str, ...]]] = {
    "text": ("string", "null"),
    "number": ("number", "null"),
    "count": ("integer", "null"),
    "flag": ("boolean", "null"),
    "any": ("string", "number", "boolean", "null"),
}
"""Kinds of a field, and what JSON has for it; null is what is not known, or not there."""


class JsonForm(NamedTuple):
    """A form: its version, its fields by kind, and whether a document has many rows of it."""

    version: int
    fields: Mapping[str, str]
    is_list: bool = True


def _form(version: int, *, is_list: bool = True, **fields: str) -> JsonForm:
    kinds = {name: kind for kind, names in fields.items() for name in names.split()}
    return JsonForm(version, kinds, is_list)


_FIGURES: Final = "cost sale_value pays_worst pays_best pays_yes pays_no rise_10 fall_10"

FORMS: Final[Mapping[str, JsonForm]] = {
    "status": _form(
        1,
        is_list=False,
        text="service money agent plan halted_since world_time",
        number="cash equity mark_equity day_pnl total_pnl realized unrealized world_speed",
        count="buys_today buys_a_day positions open_orders approvals alerts",
        flag="paused",
    ),
    "needs": _form(
        1,
        text="need kind what agent agent_name figure otherwise note",
        number="amount left_s",
        flag="real_money",
    ),
    "markets": _form(
        1,
        text="market question category status ends outcome venues",
        number="yes change_24h volume_24h liquidity venue_yes bid ask",
    ),
    "events": _form(
        1,
        text="event name markets",
        number="sum_yes set_shares yes_set_cost yes_set_pays no_set_cost no_set_pays asks bids",
        count="outcomes",
    ),
    "positions": _form(
        1,
        text="agent market question venue money side status outcome",
        number="shares cost average mark_price mark_value exit_value unrealized realized to_redeem",
    ),
    "orders": _form(
        1,
        text="order market question venue money side action type created expires",
        number="price shares filled reserved",
    ),
    "fills": _form(
        1,
        text="agent agent_name trade at market question venue money side action deal status skill "
        "source reasoning signal_data",
        number="shares cost fee average pnl",
    ),
    "agents": _form(
        1,
        text="day agent name status plan leash money skills problem",
        number="equity day_pnl total_pnl to_redeem bought sold paid realized best worst "
        "spent_of_budget budget",
        count="positions buys sales payouts waiting approved refused expired",
    ),
    "alerts": _form(
        1,
        text="alert at market question venue side reason state",
        number="trigger_price shares",
    ),
    "exposure": _form(
        1,
        text="by key name money",
        number=f"{_FIGURES} limit",
        count="holdings",
        flag="limit_refuses",
    ),
    "calendar": _form(
        1,
        text="resolves market question money",
        number=_FIGURES,
        count="holdings",
        flag="overdue",
    ),
    "held": _form(
        1,
        text="agent agent_name what market question side venue money other_side resolves order",
        number="shares cost sale_value price stop stop_distance target",
    ),
    "fleet": _form(
        1,
        text="agent agent_name",
        number="equity day_pnl week_pnl month_pnl total_pnl return drawdown max_drawdown sharpe "
        "hit_rate",
        count="trades",
    ),
    "notes": _form(1, text="at on key market question text person"),
    "agent-alerts": _form(
        1,
        text="alert agent agent_name kind skill then watches fired_at",
        number="limit value",
        count="minutes fired",
        flag="firing",
    ),
    "history": _form(
        1,
        text="name digest sources",
        number="begins_at ends_at",
        count="markets points size",
    ),
    "config": _form(1, text="key source note flag variable", any="value", flag="is_set"),
}
"""Forms of the lists, by the name of their command; of `history list` and `config show`, too."""

OBJECTS: Final[Mapping[str, int]] = {
    "order": 1, "people": 1, "invite": 1, "db": 1, "why": 1, "proposal": 1, "one-history": 1,
    "drills": 1,
}  # fmt: skip
"""Versions of the other forms: objects that name themselves, with other fields by what was done."""


def form_of(name: str) -> str:
    """The name and version of a form, as documents name it."""
    version = FORMS[name].version if name in FORMS else OBJECTS[name]
    return f"service-tui/{name}/{version}"


def schema_of(name: str) -> Mapping[str, object]:
    """The JSON Schema of what a list prints; its `$id` is the form's name and version."""
    form = FORMS[name]
    properties = {key: {"type": list(TYPES[kind])} for key, kind in form.fields.items()}
    row: dict[str, object] = {
        "type": "object",
        "properties": properties,
        "required": list(form.fields),
    }
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": form_of(name)}
    if form.is_list:
        return {**head, "type": "array", "items": row}
    named = {"schema": {"const": form_of(name)}, **properties}
    return {**head, **row, "properties": named, "required": ["schema", *form.fields]}
