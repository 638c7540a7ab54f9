"""Follows a sudden move, as a headline makes one, before it is over.

Without --live it trades on paper.
"""

import os
from collections.abc import Iterator

from service_tui import Idea, Rounds, ServiceClient, run_skill

SLUG = "news-follower"
STEP = float(os.environ.get("SERVICE_NEWS_FOLLOWER_STEP", "0.03"))
AMOUNT = float(os.environ.get("SERVICE_NEWS_FOLLOWER_AMOUNT", "5.0"))
PAUSE_S = float(os.environ.get("SERVICE_NEWS_FOLLOWER_PAUSE_S", "15.0"))
ROOM = 0.10
MARKETS = 25


def ideas(client: ServiceClient) -> Iterator[Idea]:
    for market in client.get_markets(limit=MARKETS, sort="volume"):
        points = client.get_market_history(market.id, hours=1, interval=5)
        now = market.current_probability
        if len(points) < 3 or not ROOM < now < 1 - ROOM:
            continue
        # Quiet before, and then a step: that is how a headline looks from here.
        early = [point.price_yes for point in points[:-2]]
        step = now - early[-1]
        if abs(step) < STEP or max(early) - min(early) > STEP / 2:
            continue
        verb = "rose" if step > 0 else "fell"
        yield Idea(
            market.id,
            "yes" if step > 0 else "no",
            AMOUNT,
            reasoning=f"YES {verb} {100 * abs(step):.0f} pt after a quiet hour: probably news",
            signal_source="price step",
            edge=abs(step) / 4,
            confidence=0.55,
            probability=now + step / 4,
        )


round = Rounds(SLUG, ideas)

if __name__ == "__main__":
    run_skill(SLUG, ideas, pause_s=PAUSE_S)
