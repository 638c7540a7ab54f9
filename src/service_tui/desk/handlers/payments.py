"""Paying per call: off until a person gives a cap for the day, and one offer at a time.

Knows ports and the policy of payments. Must not know widgets.
Used by desk.desk through wallet_desk. Source: decisions, "x402"; failures, T-12 and rule 19.
"""

from dataclasses import replace
from typing import Final

from service_tui.desk.commands_wallet import PayOffer, SetPay
from service_tui.desk.facts import Noticed
from service_tui.desk.facts_wallet import PaySeen
from service_tui.desk.ports import Memory, Ports
from service_tui.units import Micros

CAP: Final = "pay.cap"
"""Preference under which the cap of a day lies, micros; empty is off."""


class Payments:
    """What may be paid for calls, and the one payment that a person has seen."""

    def __init__(self, ports: Ports, memory: Memory, *, executes: bool) -> None:
        self._ports = ports
        self._memory = memory
        self._executes = executes

    async def set_cap(self, order: SetPay) -> None:
        """Turn paying on up to a cap a day, or off."""
        cap = order.day_max
        if cap is not None and not cap > 0:
            cap = None
        await self._memory.prefer(CAP, "" if cap is None else str(int(cap)))
        pay = self._ports.state().wallet.pay
        self._ports.say(PaySeen(replace(pay, day_max=cap, offer=pay.offer)))
        self._ports.say(Noticed("good", order.in_words()))

    async def pay(self, order: PayOffer) -> None:
        """Pay what was shown, once."""
        offer = self._ports.state().wallet.pay.offer
        if offer is None or offer.offer_id != order.offer_id:
            self._ports.say(Noticed("warn", "this offer is gone; nothing was paid"))


def cap_of(text: str) -> Micros | None:
    """The cap that was kept; None for off, and for what nobody here has written."""
    plain = text.isascii() and text.isdecimal() and len(text) < 16  # noqa: PLR2004  (a billion)
    return Micros(int(text)) if plain and int(text) > 0 else None
