"""Buys against the last hour, in the hope that a jump was too large.

Without --live it trades on paper.
"""

import json
import os
import sys
import time

from service_tui import ServiceClient

SLUG = "mean-reversion"
JUMP = float(os.environ.get("SERVICE_MEAN_REVERSION_JUMP", "0.04"))
AMOUNT = float(os.environ.get("SERVICE_MEAN_REVERSION_AMOUNT", "5.0"))
PAUSE_S = float(os.environ.get("SERVICE_MEAN_REVERSION_PAUSE_S", "30.0"))
LOW = 0.05
MARKETS = 25
TRADES = 2


def run(client: ServiceClient, left: float) -> float:
    seen = tried = done = 0
    for market in client.get_markets(limit=MARKETS, sort="volume"):
        points = client.get_market_history(market.id, hours=1, interval=5)
        now = market.current_probability
        if not points or not LOW < now < 1 - LOW:
            continue
        before = points[0].price_yes
        jump = now - before
        if abs(jump) < JUMP:
            continue
        seen += 1
        if left < AMOUNT * (done + 1):
            break
        # Half of the way back is the guess.
        side = "no" if jump > 0 else "yes"
        tried += 1
        result = client.trade(
            market.id,
            side,
            AMOUNT,
            reasoning=f"YES at {now:.2f} after {before:.2f} an hour ago: half was too much",
            source=f"sdk:{SLUG}",
            skill_slug=SLUG,
            signal_data={
                "edge": round(abs(jump) / 2, 4),
                "confidence": 0.55,
                "probability": round(now - jump / 2, 4),
                "signal_source": "price history",
            },
        )
        done += result.success
        if done >= TRADES:
            break
    report = {"signals": seen, "trades_attempted": tried, "trades_executed": done}
    print(json.dumps({"automaton": report}), flush=True)
    return AMOUNT * done


def main() -> None:
    left = float(os.environ.get("SERVICE_MEAN_REVERSION_DAILY_BUDGET_USD", "20"))
    with ServiceClient(live="--live" in sys.argv) as client:
        while True:
            left -= run(client, left)
            if "--once" in sys.argv:
                break
            time.sleep(PAUSE_S)


if __name__ == "__main__":
    main()
