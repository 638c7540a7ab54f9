"""Copies the trades of the wallets that the reactor watches.

Without --live it trades on paper.
"""

import json
import os
import sys
import time

from service_tui import ServiceClient

SLUG = "reactor-mirror"
AMOUNT_MAX = float(os.environ.get("SERVICE_REACTOR_MIRROR_AMOUNT_MAX", "20.0"))
BUFFER = float(os.environ.get("SERVICE_REACTOR_MIRROR_BUFFER", "0.05"))
PAUSE_S = float(os.environ.get("SERVICE_REACTOR_MIRROR_PAUSE_S", "2.0"))


def run(client: ServiceClient, left: float) -> float:
    seen = tried = done = 0
    spent = 0.0
    for signal in client.get_signals():
        seen += 1
        amount = round(min(signal.amount, AMOUNT_MAX), 2)
        if signal.action.value != "buy" or left < spent + amount:
            continue
        side, paid = signal.side.value, signal.taker_price
        tried += 1
        result = client.trade(
            signal.market_id,
            side,
            amount,
            reasoning=f"{signal.taker_label or signal.taker_wallet[:10]} bought at {paid:.2f}",
            source=f"sdk:{SLUG}",
            skill_slug=SLUG,
            signal_data={
                "edge": 0.0,
                "confidence": 0.5,
                "probability": round(paid if side == "yes" else 1 - paid, 4),
                "signal_source": "reactor",
                "tx_hash": signal.tx_hash,
            },
            price=min(0.99, round(paid * (1 + BUFFER), 3)),
            allow_rebuy=True,
        )
        if result.success:
            done += 1
            spent += amount
            client.dismiss_signal(signal.signal_id or signal.tx_hash)
    report = {"signals": seen, "trades_attempted": tried, "trades_executed": done}
    print(json.dumps({"automaton": report}), flush=True)
    return spent


def main() -> None:
    left = float(os.environ.get("SERVICE_REACTOR_MIRROR_DAILY_BUDGET_USD", "20"))
    with ServiceClient(live="--live" in sys.argv) as client:
        while True:
            left -= run(client, left)
            if "--once" in sys.argv:
                break
            time.sleep(PAUSE_S)


if __name__ == "__main__":
    main()
