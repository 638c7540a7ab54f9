"""Outcomes of markets and their payouts: YES, NO, a part to each side, or the cost back."""

from dataclasses import dataclass
from typing import Final, NoReturn, Protocol

from service_tui.terms import Side
from service_tui.units import ONE, Micros

_VOID_WORD: Final = "void"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a share of YES pays, micros; a share of NO pays the rest of 1. None gives money back."""

    yes: Micros | None

    @classmethod
    def at(cls, fraction: float) -> "Outcome":
        """The outcome at which a share of YES pays a part of 1, to the nearest micro."""
        if not 0.0 <= fraction <= 1.0:
            raise ValueError(f"{fraction} is no part of 1")
        return cls(Micros(round(fraction * ONE)))

    @classmethod
    def of(cls, stored: object) -> "Outcome":
        """An outcome as it was written down.

        Raises:
            ValueError: it was not.
        """
        match stored:
            case bool():
                return YES if stored else NO
            case int() if 0 < stored < ONE:
                return cls(Micros(stored))
            case "void":
                return VOID
            case _:
                raise ValueError(f"{str(stored)[:40]!r} is no outcome")

    @property
    def stored(self) -> bool | int | str:
        """What is written down: true for YES, false for NO, micros of a part, or "void"."""
        if self.yes is None:
            return _VOID_WORD
        return int(self.yes) if self.winner is None else self.winner is Side.YES

    def __bool__(self) -> NoReturn:
        """Refuse: a test of truth would take NO, a part and VOID for YES.

        No bool is returned, so the type checker refuses each `if outcome`, too.
        """
        raise TypeError("an outcome is not true or false: ask what it pays")

    @property
    def winner(self) -> Side | None:
        """The side that pays a whole 1; None where neither does."""
        if self.yes == ONE:
            return Side.YES
        return Side.NO if self.yes == 0 else None

    @property
    def is_void(self) -> bool:
        """Whether everybody gets the money back."""
        return self.yes is None

    def paid(self, side: Side, shares: Micros, cost: Micros) -> Micros:
        """What shares of a side bring that cost so much, rounded down."""
        if self.yes is None:
            return cost
        part = int(self.yes) if side is Side.YES else ONE - self.yes
        return Micros(int(shares) * int(part) // int(ONE))

    def pays(self, side: Side) -> bool:
        """Whether shares of a side can bring anything."""
        return self.yes is None or self.winner is not side.other

    def price(self, side: Side, shares: Micros = Micros(0), cost: Micros = Micros(0)) -> float:
        """What a share of a side brought.

        Of shares that got their money back it is what they cost, at most 1; 0 without shares.
        """
        if self.yes is None:
            # ours: money back has no price of its own.
            return min(1.0, cost / shares) if shares else 0.0
        return (self.yes if side is Side.YES else ONE - self.yes) / ONE

    @property
    def part(self) -> float | None:
        """What a share of YES pays, 0 to 1; None where the money goes back."""
        return None if self.yes is None else self.yes / ONE

    @property
    def word(self) -> str:
        """The outcome as a screen names it: YES, NO, 0.35, void."""
        if self.yes is None:
            return _VOID_WORD
        return f"{self.yes / ONE:.6g}" if self.winner is None else self.winner.value.upper()


YES: Final = Outcome(ONE)
NO: Final = Outcome(Micros(0))
VOID: Final = Outcome(None)


class Ended(Protocol):
    """Any body that has these fields."""

    @property
    def outcome(self) -> bool | None:
        """Which side won whole; null where neither did, and before the end."""
        ...

    @property
    def payout_per_yes(self) -> float | None:
        """What a share of YES pays; null before the end, and where the money goes back."""
        ...

    @property
    def voided(self) -> bool:
        """Whether everybody gets the money back."""
        ...


def outcome_in(body: Ended) -> Outcome | None:
    """The outcome of an answer, None before the end; of a service without the later fields, too."""
    if body.voided:
        return VOID
    if body.payout_per_yes is not None:
        return Outcome.at(body.payout_per_yes)
    if body.outcome is None:
        return None
    return YES if body.outcome else NO
