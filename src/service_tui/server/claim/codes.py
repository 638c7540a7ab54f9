"""One-time codes by which a person at a browser proves to be the one at the console.

They live in memory only: after a restart the console makes another one.
"""

import hmac
from dataclasses import dataclass
from typing import Final

from service_tui.units import Timestamp

CODE_S: Final = 600.0
"""How long a code is good. # ours: long enough to walk to the browser."""

TRIES: Final = 5
"""Wrong codes after which the right one is void. Source: failures, T-14."""

LETTERS: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Nothing that looks like something else; 32 of them, so a code of eight has 40 random bits."""

LENGTH: Final = 8


@dataclass(slots=True)
class _Code:
    code: str
    until: float
    by: str
    tries: int = TRIES


@dataclass(frozen=True, slots=True)
class Made:
    """A fresh code as a person reads it, and when it ends on the wall's clock."""

    code: str
    expires_at: Timestamp


class ClaimCodes:
    """At most one code an agent; a new one makes the old one void."""

    def __init__(self) -> None:
        self._codes: dict[str, _Code] = {}

    def make(
        self, agent_id: str, bits: int, *, now: Timestamp, monotonic: float, by: str = ""
    ) -> Made:
        """Make a code out of random bits, 40 of which count; `by` is the person who wants it."""
        code = "".join(LETTERS[bits >> 5 * place & 31] for place in range(LENGTH))
        self._codes[agent_id] = _Code(code, monotonic + CODE_S, by)
        half = LENGTH // 2
        return Made(f"{code[:half]}-{code[half:]}", Timestamp(now + CODE_S))

    def maker_of(self, agent_id: str) -> str:
        """The person who made an agent's code; empty if it has none."""
        code = self._codes.get(agent_id)
        return "" if code is None else code.by

    def tries_left(self, agent_id: str, monotonic: float) -> int:
        """Tries that are left to an agent's page; 0 where it has no code."""
        code = self._codes.get(agent_id)
        return code.tries if code is not None and monotonic < code.until else 0

    def use(self, agent_id: str, typed: str, monotonic: float) -> bool:
        """Whether this is the code. Right or once too often wrong, it is good no more."""
        code = self._codes.get(agent_id)
        if code is None or not monotonic < code.until:
            self._codes.pop(agent_id, None)
            return False
        # As people type: in small letters, with or without the dash.
        plain = "".join(letter for letter in typed.upper() if letter.isalnum())
        is_right = hmac.compare_digest(plain.encode(), code.code.encode())
        code.tries -= 1
        if is_right or code.tries <= 0:
            del self._codes[agent_id]
        return is_right
