"""One-time texts; signing one proves that the signer owns a wallet.

They live in memory only: after a restart a client requests a new one.
"""

from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from service_tui.units import Timestamp

CHALLENGE_S: Final = 300.0
"""How long one is good. Source: wire reference, 2.5: five minutes, single use."""

OPEN_MAX: Final = 64
"""Challenges that wait at one time, of all agents; the oldest go first."""

HOUR_S: Final = 3_600.0
DAY_S: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class IssuedChallenge:
    """A text to sign, for one agent and one address."""

    agent_id: str
    address: str
    nonce: str
    message: str
    expires_at: Timestamp


class LinkChallenges:
    """Pending challenges, and how many were requested."""

    def __init__(self) -> None:
        self._open: dict[str, IssuedChallenge] = {}
        self._requested: dict[str, deque[float]] = {}

    def make(
        self, agent_id: str, address: str, nonce: str, *, host: str, now: Timestamp
    ) -> IssuedChallenge:
        """A new challenge. Its text names its purpose, and that it moves no funds."""
        expires_at = Timestamp(now + CHALLENGE_S)
        until = datetime.fromtimestamp(expires_at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        message = (
            f"Link this wallet to your agent of {host}.\n\n"
            f"Wallet: {address}\nAgent: {agent_id}\nNonce: {nonce}\nExpires: {until}\n\n"
            "This signature proves that the wallet is yours. It moves no money."
        )
        challenge = IssuedChallenge(agent_id, address, nonce, message, expires_at)
        self._open[nonce] = challenge
        while len(self._open) > OPEN_MAX:
            del self._open[next(iter(self._open))]
        return challenge

    def use(self, nonce: str, agent_id: str, *, now: Timestamp) -> IssuedChallenge | None:
        """Remove and return a challenge, so that it is used once at most; None if there is none."""
        challenge = self._open.get(nonce)
        if challenge is None or challenge.agent_id != agent_id:
            return None
        del self._open[nonce]
        return challenge if now < challenge.expires_at else None

    def count(self, who: str, limit: int, span_s: float, *, now: float) -> float:
        """Count one of something that is scarce.

        Returns:
            0, or the seconds until the next is allowed.
        """
        times = self._requested.setdefault(who, deque())
        while times and times[0] + span_s <= now:
            times.popleft()
        if len(times) >= limit:
            return times[0] + span_s - now
        times.append(now)
        return 0.0
