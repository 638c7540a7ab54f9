"""Buys clear favourites in the last hours before they resolve.

Without --live it trades on paper.
"""

import json
import os
import sys
import time

from service_tui import ServiceClient

SLUG = "closing-favourite"
FAVOURITE = float(os.environ.get("SERVICE_CLOSING_FAVOURITE_FAVOURITE", "0.85"))
AMOUNT = float(os.environ.get("SERVICE_CLOSING_FAVOURITE_AMOUNT", "5.0"))
PAUSE_S = float(os.environ.get("SERVICE_CLOSING_FAVOURITE_PAUSE_S", "60.0"))
HOURS = 6
TOO_DEAR = 0.97
MARKETS = 100
TRADES = 2


def run(client: ServiceClient, left: float) -> float:
    seen = tried = done = 0
    for market in client.get_markets(limit=MARKETS, max_hours_to_resolution=HOURS):
        now = market.current_probability
        price = max(now, 1 - now)
        if not FAVOURITE <= price <= TOO_DEAR:
            continue
        seen += 1
        if left < AMOUNT * (done + 1):
            break
        side = "yes" if now > 0.5 else "no"
        likely = min(0.99, price + (1 - price) / 5)
        tried += 1
        result = client.trade(
            market.id,
            side,
            AMOUNT,
            reasoning=f"{side.upper()} at {price:.2f}, and it resolves within {HOURS} hours",
            source=f"sdk:{SLUG}",
            skill_slug=SLUG,
            signal_data={
                "edge": round(likely - price, 4),
                "confidence": round(likely, 4),
                "probability": round(likely if side == "yes" else 1 - likely, 4),
                "signal_source": "time to resolution",
            },
        )
        done += result.success
        if done >= TRADES:
            break
    report = {"signals": seen, "trades_attempted": tried, "trades_executed": done}
    print(json.dumps({"automaton": report}), flush=True)
    return AMOUNT * done


def main() -> None:
    left = float(os.environ.get("SERVICE_CLOSING_FAVOURITE_DAILY_BUDGET_USD", "20"))
    with ServiceClient(live="--live" in sys.argv) as client:
        while True:
            left -= run(client, left)
            if "--once" in sys.argv:
                break
            time.sleep(PAUSE_S)


if __name__ == "__main__":
    main()
