"""The advice of a refusal, in words of this console."""

import re

from service_tui.desk.fixes import FIX_OF, fix_of
from service_tui.desk.trading.translate import quote_view
from service_tui.terms import Action
from service_tui.units import Micros
from service_tui.wire.trades import TradeBody


def test_a_no_is_advised_in_words_that_this_console_has_keys_for() -> None:
    said = "let the order rest with order_type GTC"
    refused = TradeBody(success=False, error="no", error_code="NO_LIQUIDITY", fix=said)
    quote = quote_view(1, refused, Action.BUY, Micros(0))
    assert quote.fix == FIX_OF["NO_LIQUIDITY"]
    assert fix_of("SOMETHING_ELSE", "as they say") == "as they say"
    assert fix_of(None, "") == ""
    for words in FIX_OF.values():
        assert not re.search(r"order_type|PATCH|POST|GET|/api/", words)
