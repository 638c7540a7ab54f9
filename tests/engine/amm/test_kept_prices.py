"""Which prices a market (`engine.amm.market`) keeps: the first at once, then one a step."""

from kit.engine.bare import AT, bare_world, listed


def test_the_first_price_of_a_market_is_kept_at_once_and_the_next_after_a_step() -> None:
    market = listed(bare_world(), opens_at=AT)
    market.sample(AT)
    step = market.sample_step_s
    market.sample(AT + step / 2)
    market.sample(AT + step)
    price = round(market.price(), 4)
    assert list(market.samples) == [(AT, price), (AT + step, price)]
    assert list(market.recent) == [(AT, price), (AT + step / 2, price), (AT + step, price)]
    assert market.last_sample_at == AT + step
