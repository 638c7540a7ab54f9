"""Buys against the last hour, in the hope that a jump was too large.

Without --live it trades on paper.
"""

import os
from collections.abc import Iterator

from service_tui import Idea, Rounds, ServiceClient, run_skill

SLUG = "mean-reversion"
JUMP = float(os.environ.get("SERVICE_MEAN_REVERSION_JUMP", "0.04"))
AMOUNT = float(os.environ.get("SERVICE_MEAN_REVERSION_AMOUNT", "5.0"))
PAUSE_S = float(os.environ.get("SERVICE_MEAN_REVERSION_PAUSE_S", "30.0"))
LOW = 0.05
MARKETS = 25


def ideas(client: ServiceClient) -> Iterator[Idea]:
    for market in client.get_markets(limit=MARKETS, sort="volume"):
        points = client.get_market_history(market.id, hours=1, interval=5)
        now = market.current_probability
        if not points or not LOW < now < 1 - LOW:
            continue
        before = points[0].price_yes
        jump = now - before
        if abs(jump) < JUMP:
            continue
        # Half of the way back is the guess.
        yield Idea(
            market.id,
            "no" if jump > 0 else "yes",
            AMOUNT,
            reasoning=f"YES at {now:.2f} after {before:.2f} an hour ago: half was too much",
            signal_source="price history",
            edge=abs(jump) / 2,
            confidence=0.55,
            probability=now - jump / 2,
        )


round = Rounds(SLUG, ideas)

if __name__ == "__main__":
    run_skill(SLUG, ideas, pause_s=PAUSE_S)
