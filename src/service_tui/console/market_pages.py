"""Markets by the address or the ticker that a person pasted."""

from collections.abc import Iterable
from functools import lru_cache

from service_tui.desk.slices.markets import MarketView
from service_tui.pasted import WebPlace, ticker, web_place


def at_page(markets: Iterable[MarketView], text: str) -> list[MarketView]:
    """The markets whose page has this address, or whose address ends in this ticker.

    Returns:
        One market as a rule; none for a text that is neither, and for the address of an event.
    """
    place = web_place(text)
    if place is not None:
        wanted = place._replace(name=place.name.lower())
        return [market for market in markets if _page(market.url) == wanted]
    name = ticker(text).lower()
    if not name or " " in name or "-" not in name:
        return []
    return [market for market in markets if (page := _page(market.url)) and page.name == name]


def page_name(market: MarketView) -> str:
    """The last part of a market's address, or its ticker; empty where it has none."""
    page = _page(market.url)
    return "" if page is None else page.name


def meant_by(typed: str) -> str:
    """What a search looks for: of a pasted address its last part, else the text itself."""
    place = web_place(typed)
    return typed if place is None else place.name


@lru_cache(maxsize=16_384)
def _page(url: str) -> WebPlace | None:
    """The page of a market; each is read once, and not at every key."""
    place = web_place(url) if url else None
    return None if place is None else place._replace(name=place.name.lower())
