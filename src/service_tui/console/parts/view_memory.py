"""The layout of a screen (list, search, width) as a preference stores it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from service_tui.console.widgets.record_table import TableState
from service_tui.desk.checked_records import UNREADABLE, tree_of, value_of

VIEW: Final = "view."
"""The preference of a screen is called so, with the screen's name."""

BESIDE: Final = "beside."
"""The preference that names what stands beside a screen is called so, with the screen's name."""

LAST_SCREEN: Final = "view"
"""The preference that names the screen in front."""


@dataclass(frozen=True, slots=True)
class ViewMemory:
    """The list in front, the search, the width, and the layout of every list.

    `choices` holds what a screen keeps beside that, by its own names; `pane` the cells of the pane
    beside the list and the lines of the one below it, 0 for the usual ones.
    """

    tab: int = 0
    wide: bool = False
    search: str = ""
    lists: tuple[TableState, ...] = ()
    choices: Mapping[str, str] = field(default_factory=dict[str, str])
    pane: tuple[int, int] = (0, 0)

    def to_text(self) -> str:
        """The memory as a preference keeps it."""
        return json.dumps(tree_of(self), ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> "ViewMemory":
        """The memory of a preference; one that cannot be read is as at the first start."""
        try:
            kept = value_of(cls, json.loads(text or "{}"))
        except UNREADABLE:
            return cls()
        return kept if kept.tab >= 0 else cls()

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
