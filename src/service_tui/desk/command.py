"""Base of every command of the operator: a frozen value that describes itself."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Command:
    """Base of all commands; each is registered with the one function that carries it out.

    `kind` names it in the log of actions. `is_ticketed`: the desk itself keeps its ticket. It waits
    for its turn among the others, is held back by a halt, has a row on the blotter from the moment
    it was given, and counts as unknown where its answer is lost. What moves money otherwise (a
    mirror, a redemption, an approval) keeps its own journal, in the noun that carries it out.
    """

    kind: ClassVar[str] = ""
    is_ticketed: ClassVar[bool] = False

    def describe(self) -> str:
        """Describe the command in plain English."""
        raise NotImplementedError
