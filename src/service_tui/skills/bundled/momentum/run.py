"""Buys with the last day, in the hope that a move goes on.

Without --live it trades on paper.
"""

import json
import os
import sys
import time

from service_tui import ServiceClient

SLUG = "momentum"
MOVE = float(os.environ.get("SERVICE_MOMENTUM_MOVE", "0.08"))
AMOUNT = float(os.environ.get("SERVICE_MOMENTUM_AMOUNT", "5.0"))
PAUSE_S = float(os.environ.get("SERVICE_MOMENTUM_PAUSE_S", "60.0"))
LOW = 0.10
MARKETS = 50
TRADES = 2


def run(client: ServiceClient, left: float) -> float:
    seen = tried = done = 0
    for market in client.get_markets(limit=MARKETS, sort="volume"):
        now, before = market.current_probability, market.price_24h_ago
        if before is None or not LOW < now < 1 - LOW:
            continue
        move = now - before
        if abs(move) < MOVE:
            continue
        seen += 1
        if left < AMOUNT * (done + 1):
            break
        # A tenth of the move again is the guess.
        fair = min(0.99, max(0.01, now + move / 10))
        side = "yes" if move > 0 else "no"
        tried += 1
        result = client.trade(
            market.id,
            side,
            AMOUNT,
            reasoning=f"YES at {now:.2f} after {before:.2f} a day ago: it may go on",
            source=f"sdk:{SLUG}",
            skill_slug=SLUG,
            signal_data={
                "edge": round(abs(fair - now), 4),
                "confidence": 0.52,
                "probability": round(fair, 4),
                "signal_source": "price 24 h ago",
            },
        )
        done += result.success
        if done >= TRADES:
            break
    report = {"signals": seen, "trades_attempted": tried, "trades_executed": done}
    print(json.dumps({"automaton": report}), flush=True)
    return AMOUNT * done


def main() -> None:
    left = float(os.environ.get("SERVICE_MOMENTUM_DAILY_BUDGET_USD", "20"))
    with ServiceClient(live="--live" in sys.argv) as client:
        while True:
            left -= run(client, left)
            if "--once" in sys.argv:
                break
            time.sleep(PAUSE_S)


if __name__ == "__main__":
    main()
