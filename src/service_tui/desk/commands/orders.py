"""What an operator may order about orders that rest on a book. Frozen values."""

from dataclasses import dataclass
from typing import ClassVar

from service_tui.desk.command import Command
from service_tui.terms import counted


@dataclass(frozen=True, slots=True)
class CancelOrders(Command):
    """Take these orders off their books; `what` says a single one in words."""

    kind: ClassVar[str] = "cancel"

    order_ids: tuple[str, ...]
    what: str = ""

    def in_words(self) -> str:
        """The order as a person would say it."""
        return f"cancel {self.what or counted(len(self.order_ids), 'open order')}"
