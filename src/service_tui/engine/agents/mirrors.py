"""Money that agents have spent on mirrors, by day and by signal.

A buy is a mirror when its `signal_data` names the transaction that it mirrors.
"""

from typing import Final

from service_tui.engine.events import Fill, Note
from service_tui.engine.limits import counted_in, counts_as, day_of
from service_tui.terms import Action, Venue
from service_tui.units import Micros, Timestamp

TX_KEY: Final = "tx_hash"
ID_KEY: Final = "signal_id"
"""Names in `signal_data`. Source: wire reference, 8; the second is ours."""

DONE_MAX: Final = 1_000
"""Signals of an agent whose mirrors are remembered: far more than wait at one time."""

Account = tuple[str, Venue]
"""An agent on a venue."""


def mirrored_by(note: Note) -> str | None:
    """The signal that a trade mirrors, in small letters; None for any other trade."""
    data = note.signal_data
    if not data or TX_KEY not in data:
        return None
    return str(data.get(ID_KEY) or data[TX_KEY]).lower()


class MirrorReserves:
    """Money of mirrors: reserved when an order is placed, settled when it is filled or ended."""

    __slots__ = ("done", "spent")

    def __init__(self) -> None:
        self.spent: dict[Account, tuple[int, Micros]] = {}
        self.done: dict[str, dict[str, Micros]] = {}

    def spent_today(self, agent_id: str, venue: Venue, at: Timestamp) -> Micros:
        """What mirrors on a venue have cost since midnight UTC, open orders included."""
        day, spent = self.spent.get((agent_id, venue), (0, Micros(0)))
        return spent if counts_as(day, at) else Micros(0)

    def count_fill(self, fill: Fill) -> None:
        """Count a buy on `sim`, if it is a mirror."""
        if fill.action is Action.BUY:
            self.count((fill.agent_id, Venue.SIM), fill.at, fill.money, fill.note)

    def count(self, who: Account, at: Timestamp, money: Micros, note: Note) -> None:
        """Count a buy, if it is a mirror."""
        signal = mirrored_by(note)
        if signal is None:
            return
        spent = Micros(self.spent_today(*who, at) + money)
        day, _ = self.spent.get(who, (0, Micros(0)))
        self.spent[who] = counted_in(day, at), spent
        done = self.done.setdefault(who[0], {})
        done[signal] = Micros(done.pop(signal, 0) + money)
        while len(done) > DONE_MAX:
            del done[next(iter(done))]

    def give_back(self, who: Account, placed_at: Timestamp, money: Micros, note: Note) -> None:
        """Take back what an order had reserved and never spent, on the day of its placing."""
        if mirrored_by(note) is None:
            return
        day, spent = self.spent.get(who, (0, Micros(0)))
        if day == day_of(placed_at):
            self.spent[who] = day, Micros(max(0, spent - money))
