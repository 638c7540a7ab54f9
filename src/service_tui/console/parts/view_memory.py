"""What a person set on a screen, as a preference keeps it for the next start."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Final, cast

from service_tui.console.widgets.record_table import TableState

VIEW: Final = "view."
"""The preference of a screen is called so, with the screen's name."""

LAST_SCREEN: Final = "view"
"""The preference that names the screen in front."""


@dataclass(frozen=True, slots=True)
class ViewMemory:
    """The list in front, the search, the width, and the layout of every list.

    `choices` holds what a screen keeps beside that, by its own names.
    """

    tab: int = 0
    wide: bool = False
    search: str = ""
    lists: tuple[TableState, ...] = ()
    choices: Mapping[str, str] = field(default_factory=dict[str, str])

    def to_text(self) -> str:
        """The memory as a preference keeps it."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> "ViewMemory":
        """The memory of a preference; parts that cannot be read are as at the first start."""
        try:
            kept: object = json.loads(text or "{}")
        except (ValueError, RecursionError):
            return cls()
        if not isinstance(kept, dict):
            return cls()
        found = cast("dict[str, object]", kept)
        lists = found.get("lists")
        choices = found.get("choices")
        rows = cast("list[object]", lists) if isinstance(lists, list) else []
        named = cast("dict[str, object]", choices) if isinstance(choices, dict) else {}
        return cls(
            tab=_whole(found.get("tab")),
            wide=found.get("wide") is True,
            search=_text(found.get("search")),
            lists=tuple(_table_state(row) for row in rows),
            choices={name: value for name, value in named.items() if isinstance(value, str)},
        )

    def list_at(self, place: int) -> TableState | None:
        """The layout of a list; None if it was never kept."""
        return self.lists[place] if place < len(self.lists) else None

    @property
    def chosen(self) -> "ViewMemory":
        """The memory without what changes while a person does nothing.

        That is every place, and the cursor of a list whose first row has it.
        """
        lists = tuple(
            replace(one, place=0, scroll=0, cursor=one.cursor if one.place else None)
            for one in self.lists
        )
        return replace(self, lists=lists)


def _table_state(kept: object) -> TableState:
    if not isinstance(kept, dict):
        return TableState()
    found = cast("dict[str, object]", kept)
    sort, cursor = found.get("sort"), found.get("cursor")
    return TableState(
        sort=sort if isinstance(sort, str) else None,
        falling=found.get("falling") is True,
        cursor=cursor if isinstance(cursor, str) else None,
        scroll=_whole(found.get("scroll")),
        place=_whole(found.get("place")),
    )


def _whole(value: object) -> int:
    return max(0, value) if isinstance(value, int) and not isinstance(value, bool) else 0


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
