"""A position and a trade whose figures are explained."""

from dataclasses import replace

from kit.console.doors import seen_before
from kit.samples.desk import NOW, sample_state
from service_tui.units import ONE, Micros, Timestamp

STATE = seen_before(sample_state())


HELD = STATE.positions[0]


TRADE = replace(
    STATE.trades[0], market_id=HELD.market_id, side=HELD.side, action="buy",
    shares=Micros(51_200_000), cost=Micros(21 * ONE), average=0.412, price_before=0.41,
    at=Timestamp(NOW - 300), reasoning="the gauge rises [red]", signal_data=(("edge", "0.06"),),
)  # fmt: skip
