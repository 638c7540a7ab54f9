"""What is signed, over what was confirmed, what was kept, what is listed and what is named now."""

import itertools
from dataclasses import replace
from typing import Any

import pytest

from kit.samples.desk import NOW, sample_state
from kit.samples.wallet import row_of
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.redemption import Stage
from service_tui.desk.slices.wallet import Ownership
from service_tui.desk.trading.live_orders import token_of
from service_tui.desk.trading.signed_terms import (
    check_market,
    holding_of,
    kept_of,
    signed_terms,
    tokens_held,
)
from service_tui.signing.errors import MalformedError, PolicyRefusedError, Rule
from service_tui.storage.kept_tokens import KeptToken
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros
from service_tui.wire.markets import MarketBody

OWN, OTHER = "0x" + "11" * 32, "0x" + "22" * 32
WALLET = "0x" + "Ab" * 20
MARKETS = (None, (OWN, False), (OWN, True), (OTHER, False))
"""Condition and kind, as a market may be confirmed, kept, listed or named; None for not at all."""

SEVEN = "7"
FEES = (0, 40, 1_000)

Named = tuple[str, bool] | None


def token(named: Named, side: Side = Side.YES) -> str:
    return "" if named is None else token_of(named[0], side, neg_risk=named[1])


def sale(confirmed: Named = None, fee: int | None = None, side: Side = Side.YES) -> PlaceTrade:
    return PlaceTrade(
        "m", side, Action.SELL, Venue.EVM, shares=Micros(9 * ONE), everything=True,
        token=token(confirmed, side), fee_rate_bps=fee,
    )  # fmt: skip


def kept(named: Named, fee: int | None = 40, side: Side = Side.YES) -> KeptToken | None:
    if named is None:
        return None
    return KeptToken(
        market_id="m", side=side.value, venue=Venue.EVM.value, wallet=WALLET.lower(),
        token=token(named, side), condition_id=named[0], neg_risk=named[1], at=NOW,
        fee_rate_bps=fee, bought=True,
    )  # fmt: skip


def listed(named: Named, fee: int = 40) -> MarketView | None:
    if named is None:
        return None
    market = next(iter(sample_state().markets.values()))
    return replace(
        market, market_id="m", condition_id=named[0], neg_risk=named[1], fee_rate_bps=fee
    )


def answer(named: Named, fee: int = 40, **more: Any) -> MarketBody:
    condition, is_neg_risk = named or (None, False)
    return MarketBody(
        id="m", question="Rain?", current_probability=0.5, fee_rate_bps=fee,
        polymarket_id=condition, polymarket_neg_risk=is_neg_risk, **more,
    )  # fmt: skip


def test_only_the_token_that_was_confirmed_or_kept_or_else_listed_is_signed() -> None:
    signed = 0
    for side, *known in itertools.product(Side, MARKETS, MARKETS, MARKETS, MARKETS):
        confirmed, before, shown, now = known
        # The first that there is, of what was kept, confirmed, and listed.
        binds = [one for one in (before, confirmed) if one is not None] or [shown]
        may = now is not None and all(one == now for one in binds)
        case = (sale(confirmed, 40, side), kept(before, 40, side), listed(shown), answer(now))
        try:
            terms = signed_terms(*case, signs_fee=True)
        except (PolicyRefusedError, MalformedError):
            assert not may, (side, known)
            continue
        assert may, (side, known)
        assert (str(terms.token), terms.is_neg_risk) == (token(now, side), now == (OWN, True))
        signed += 1
    assert signed == 2 * 3 * (4 + 4 + 4 + 1)


def test_no_fee_above_the_one_that_was_confirmed_or_kept_or_else_listed_is_signed() -> None:
    here: Named = (OWN, False)
    for confirmed, before, shown, now in itertools.product(
        (None, *FEES), (None, *FEES), (None, *FEES), FEES
    ):
        most = next((one for one in (confirmed, before, shown) if one is not None), None)
        case = (
            sale(here, confirmed), kept(here, before),
            None if shown is None else listed(here, shown), answer(here, now),
        )  # fmt: skip
        if most is None or now > most:
            with pytest.raises(PolicyRefusedError) as refused:
                signed_terms(*case, signs_fee=True)
            assert refused.value.rule is (Rule.UNSEEN if most is None else Rule.FEE)
        else:
            terms = signed_terms(*case, signs_fee=True)
            assert (terms.fee_rate_bps, terms.fee_max) == (now, most)
        # Where the fee is no part of the signature it stops nothing.
        assert signed_terms(*case, signs_fee=False).fee_rate_bps == 0


@pytest.mark.parametrize(
    ("case", "rule", "words"),
    [
        ((sale(), None, None, answer((OWN, False))), Rule.UNSEEN, "token of this market never"),
        (
            (sale(), kept((OWN, False)), None, answer((OTHER, False))),
            Rule.OUTCOME,
            "token is not the one kept with the position",
        ),
        (
            (sale((OTHER, False)), kept((OWN, False)), None, answer((OWN, False))),
            Rule.OUTCOME,
            "token changed since it was shown",
        ),
        (
            (sale(), kept((OWN, False)), None, answer((OWN, False), polymarket_token_id=SEVEN)),
            Rule.OUTCOME,
            "token does not match the condition",
        ),
        (
            (sale(), kept((OWN, False), None), None, answer((OWN, False))),
            Rule.UNSEEN,
            "fee of this market never",
        ),
    ],
)
def test_a_refusal_names_what_differs(case: tuple[Any, ...], rule: Rule, words: str) -> None:
    with pytest.raises(PolicyRefusedError, match=words) as refused:
        signed_terms(*case, signs_fee=True)
    assert refused.value.rule is rule


def test_what_a_buy_keeps_is_what_it_was_signed_for() -> None:
    order = sale((OWN, True), 60)
    terms = signed_terms(order, None, None, answer((OWN, True), 40), signs_fee=True)
    made = kept_of(holding_of(order, WALLET), terms, NOW)
    assert made == replace(kept((OWN, True)), fee_rate_bps=60)


@pytest.mark.parametrize(
    ("row", "market", "found"),
    [
        ({}, (OWN, True), (OWN, True, 40)),
        ({"condition_id": OTHER}, (OWN, False), (OWN, False, 40)),
        ({"condition_id": OWN, "token_id": token((OWN, False))}, None, (OWN, False, None)),
        # A list of positions does not say of which kind a market is: its token does.
        ({"condition_id": OWN, "token_id": token((OWN, True))}, None, (OWN, True, None)),
        ({"condition_id": OWN, "token_id": token((OTHER, True))}, None, None),
        ({"condition_id": OWN, "token_id": ""}, None, None),
        ({"condition_id": "", "token_id": ""}, None, None),
        ({"condition_id": "", "token_id": "7"}, None, None),
        ({"stage": Stage.AWAITING}, (OWN, False), None),
        ({"venue": Venue.SOL}, (OWN, False), None),
    ],
)
def test_an_open_position_of_the_linked_wallet_is_bound_by_what_is_first_known_of_it(
    row: dict[str, Any], market: Named, found: tuple[str, bool, int | None] | None
) -> None:
    state = sample_state()
    one = replace(
        row_of(0), market_id="m", side=Side.YES, venue=Venue.EVM, stage=Stage.ACTIVE, neg_risk=False
    )
    wallet = replace(state.wallet, ownership=Ownership.EXTERNAL, address=WALLET)
    shown = listed(market)
    state = replace(
        state,
        wallet=wallet,
        redemption=replace(state.redemption, rows=(replace(one, **row),)),
        markets={} if shown is None else {"m": shown},
    )
    held = tokens_held(state, NOW)
    assert [(each.condition_id, each.neg_risk, each.fee_rate_bps) for each in held] == (
        [] if found is None else [found]
    )
    if found is not None:
        assert held[0].token == token(found[:2])
    managed = replace(wallet, ownership=Ownership.MANAGED)
    assert not tokens_held(replace(state, wallet=managed), NOW)


def test_what_was_only_listed_gives_way_to_a_token_that_a_person_confirmed() -> None:
    first = kept((OTHER, False))
    assert first is not None
    only_listed = replace(first, bought=False)
    shown = replace(sale((OWN, False), 40), confirmed=True)
    terms = signed_terms(shown, only_listed, None, answer((OWN, False)), signs_fee=True)
    assert str(terms.token) == shown.token
    for order, row in (
        (shown, first),
        (replace(shown, token=""), only_listed),
        (replace(shown, confirmed=False), only_listed),
    ):
        with pytest.raises(PolicyRefusedError, match="not the one kept with the position"):
            signed_terms(order, row, None, answer((OWN, False)), signs_fee=True)


def test_a_token_that_was_bought_in_another_market_is_not_sold_here() -> None:
    bought = kept((OWN, False))
    assert bought is not None
    here = holding_of(sale(), WALLET)
    there = replace(bought, market_id="M")
    only_listed, listed_there = replace(bought, bought=False), replace(there, bought=False)
    for own, first in ((None, None), (bought, bought), (only_listed, only_listed), (bought, there)):
        check_market(here, own, first)
    for own, first, words in (
        (None, there, "the token was bought in market M, not in m"),
        (only_listed, there, "the token was bought in market M, not in m"),
        (only_listed, listed_there, "the token was first listed in market M, not in m"),
    ):
        with pytest.raises(PolicyRefusedError, match=words) as refused:
            check_market(here, own, first)
        assert refused.value.rule is Rule.UNSEEN
