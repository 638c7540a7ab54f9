"""Follows a sudden move, as a headline makes one, before it is over.

Without --live it trades on paper.
"""

import json
import os
import sys
import time

from service_tui import ServiceClient

SLUG = "news-follower"
STEP = float(os.environ.get("SERVICE_NEWS_FOLLOWER_STEP", "0.03"))
AMOUNT = float(os.environ.get("SERVICE_NEWS_FOLLOWER_AMOUNT", "5.0"))
PAUSE_S = float(os.environ.get("SERVICE_NEWS_FOLLOWER_PAUSE_S", "15.0"))
ROOM = 0.10
MARKETS = 25
TRADES = 2


def run(client: ServiceClient, left: float) -> float:
    seen = tried = done = 0
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
        seen += 1
        if left < AMOUNT * (done + 1):
            break
        side = "yes" if step > 0 else "no"
        tried += 1
        result = client.trade(
            market.id,
            side,
            AMOUNT,
            reasoning=f"a step of YES by {step:+.2f} after a quiet hour looks like news",
            source=f"sdk:{SLUG}",
            skill_slug=SLUG,
            signal_data={
                "edge": round(abs(step) / 4, 4),
                "confidence": 0.55,
                "probability": round(now + step / 4, 4),
                "signal_source": "price step",
            },
        )
        done += result.success
        if done >= TRADES:
            break
    report = {"signals": seen, "trades_attempted": tried, "trades_executed": done}
    print(json.dumps({"automaton": report}), flush=True)
    return AMOUNT * done


def main() -> None:
    left = float(os.environ.get("SERVICE_NEWS_FOLLOWER_DAILY_BUDGET_USD", "20"))
    with ServiceClient(live="--live" in sys.argv) as client:
        while True:
            left -= run(client, left)
            if "--once" in sys.argv:
                break
            time.sleep(PAUSE_S)


if __name__ == "__main__":
    main()
