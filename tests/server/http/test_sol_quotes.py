"""Quotes of the SOL venue: who finds one, how often it can be taken, and how many are stored."""

from typing import Any

from service_tui.server.http.sol_quotes import QUOTES_MAX, SolQuote, SolQuotes
from service_tui.units import Timestamp

ENDS = Timestamp(1_000.0)


def quote(agent_id: str = "ada") -> SolQuote:
    request: Any = None
    return SolQuote(agent_id, request, 5.0, 2.0, b"sign me", ENDS)


def test_only_its_agent_finds_a_quote_and_only_until_it_expires() -> None:
    quotes, mine = SolQuotes(), quote()
    quotes.keep("q1", mine)
    assert quotes.find("q1", "ada", Timestamp(999.9)) is mine
    assert quotes.find("q1", "ada", ENDS) is None
    assert quotes.find("q1", "ben", Timestamp(999.9)) is None
    assert quotes.find("q2", "ada", Timestamp(999.9)) is None


def test_a_quote_can_be_taken_once() -> None:
    quotes = SolQuotes()
    quotes.keep("q1", quote())
    assert quotes.take("q1")
    assert not quotes.take("q1")
    assert quotes.find("q1", "ada", Timestamp(0.0)) is None


def test_a_full_store_drops_the_oldest_quote_of_the_same_agent() -> None:
    quotes, early = SolQuotes(), Timestamp(0.0)
    quotes.keep("bens", quote("ben"))
    for number in range(QUOTES_MAX):
        quotes.keep(f"q{number}", quote())
    assert quotes.find("q0", "ada", early) is not None
    quotes.keep("one more", quote())
    assert quotes.find("q0", "ada", early) is None
    assert quotes.find("q1", "ada", early) is not None
    assert quotes.find("one more", "ada", early) is not None
    assert quotes.find("bens", "ben", early) is not None
