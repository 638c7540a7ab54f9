"""Copies the trades of the wallets that the reactor watches.

Without --live it trades on paper.
"""

import os
from builtins import round as rounded
from collections.abc import Iterator
from functools import partial

from service_tui import Idea, Rounds, ServiceClient, run_skill

SLUG = "reactor-mirror"
AMOUNT_MAX = float(os.environ.get("SERVICE_REACTOR_MIRROR_AMOUNT_MAX", "20.0"))
BUFFER = float(os.environ.get("SERVICE_REACTOR_MIRROR_BUFFER", "0.05"))
PAUSE_S = float(os.environ.get("SERVICE_REACTOR_MIRROR_PAUSE_S", "2.0"))
SIGNALS = 100


def ideas(client: ServiceClient) -> Iterator[Idea]:
    for signal in client.get_signals():
        if signal.action.value != "buy":
            continue
        side, paid = signal.side.value, signal.taker_price
        yield Idea(
            signal.market_id,
            side,
            rounded(min(signal.amount, AMOUNT_MAX), 2),
            reasoning=f"{signal.taker_label or signal.taker_wallet[:10]} bought at {paid:.2f}",
            signal_source="reactor",
            edge=0.0,
            confidence=0.5,
            probability=paid if side == "yes" else 1 - paid,
            more={"tx_hash": signal.tx_hash, "signal_id": signal.signal_id or signal.tx_hash},
            price=min(0.99, rounded(paid * (1 + BUFFER), 3)),
            allow_rebuy=True,
            bought=partial(client.dismiss_signal, signal.signal_id or signal.tx_hash),
        )


round = Rounds(SLUG, ideas, trades=SIGNALS)

if __name__ == "__main__":
    run_skill(SLUG, ideas, pause_s=PAUSE_S, trades=SIGNALS)
