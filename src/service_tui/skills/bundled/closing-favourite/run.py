"""Buys clear favourites in the last hours before they resolve.

Without --live it trades on paper.
"""

import os
from collections.abc import Iterator

from service_tui import Idea, Rounds, ServiceClient, run_skill

SLUG = "closing-favourite"
FAVOURITE = float(os.environ.get("SERVICE_CLOSING_FAVOURITE_FAVOURITE", "0.85"))
AMOUNT = float(os.environ.get("SERVICE_CLOSING_FAVOURITE_AMOUNT", "5.0"))
PAUSE_S = float(os.environ.get("SERVICE_CLOSING_FAVOURITE_PAUSE_S", "60.0"))
HOURS = 6
TOO_DEAR = 0.97
MARKETS = 100


def ideas(client: ServiceClient) -> Iterator[Idea]:
    for market in client.get_markets(limit=MARKETS, max_hours_to_resolution=HOURS):
        now = market.current_probability
        price = max(now, 1 - now)
        if not FAVOURITE <= price <= TOO_DEAR:
            continue
        side = "yes" if now > 0.5 else "no"
        likely = min(0.99, price + (1 - price) / 5)
        yield Idea(
            market.id,
            side,
            AMOUNT,
            reasoning=f"{side.upper()} at {price:.2f}, and it resolves within {HOURS} hours",
            signal_source="time to resolution",
            edge=likely - price,
            confidence=likely,
            probability=likely if side == "yes" else 1 - likely,
        )


round = Rounds(SLUG, ideas)

if __name__ == "__main__":
    run_skill(SLUG, ideas, pause_s=PAUSE_S)
