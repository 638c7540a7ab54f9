"""Buys in the direction of the last day's move.

Without --live it trades on paper.
"""

import os
from collections.abc import Iterator

from service_tui import Idea, Rounds, ServiceClient, run_skill

SLUG = "momentum"
MOVE = float(os.environ.get("SERVICE_MOMENTUM_MOVE", "0.08"))
AMOUNT = float(os.environ.get("SERVICE_MOMENTUM_AMOUNT", "5.0"))
PAUSE_S = float(os.environ.get("SERVICE_MOMENTUM_PAUSE_S", "60.0"))
LOW = 0.10
MARKETS = 50


def ideas(client: ServiceClient) -> Iterator[Idea]:
    for market in client.get_markets(limit=MARKETS, sort="volume"):
        now, before = market.current_probability, market.price_24h_ago
        if before is None or not LOW < now < 1 - LOW:
            continue
        move = now - before
        if abs(move) < MOVE:
            continue
        # A tenth of the move again is the guess.
        fair = min(0.99, max(0.01, now + move / 10))
        yield Idea(
            market.id,
            "yes" if move > 0 else "no",
            AMOUNT,
            reasoning=f"24h momentum: YES from {before:.2f} to {now:.2f}",
            signal_source="24h momentum",
            edge=abs(fair - now),
            confidence=0.52,
            probability=fair,
        )


round = Rounds(SLUG, ideas)

if __name__ == "__main__":
    run_skill(SLUG, ideas, pause_s=PAUSE_S)
