"""The filter of the markets: switches by key, and the typed search."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, urlencode

from service_tui.console import formats
from service_tui.console.freshness import is_answered, not_loaded_text
from service_tui.console.keys import cap, with_keys
from service_tui.console.market_pages import at_page
from service_tui.console.saved import LABEL_MAX, watchlists_of
from service_tui.console.search import Search, read_search
from service_tui.console.view_context import ViewContext
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.folding import folded
from service_tui.pasted import web_place
from service_tui.terms import MarketStatus, Venue
from service_tui.units import Micros, Timestamp, decimal

STATUSES: Final = ("open", "closed", "resolved", "all")
UNTIL_S: Final = {"any": 0.0, "< 1 h": 3_600.0, "< 1 d": 86_400.0, "< 1 w": 604_800.0}


def seconds_left(market: MarketView, now: Timestamp) -> float | None:
    """World seconds until it resolves, negative when overdue; None if unknown or over."""
    if market.resolves_at is None or market.status is MarketStatus.RESOLVED:
        return None
    return market.resolves_at - now


def _money(amount: Micros | None) -> float | None:
    return None if amount is None else decimal(amount)


COMPARED: Final[Mapping[str, Callable[[MarketView, Timestamp], float | None]]] = {
    "price": lambda market, _: market.price,
    "change": lambda market, _: market.change,
    "volume": lambda market, _: _money(market.volume),
    "left": seconds_left,
    "liquidity": lambda market, _: _money(market.liquidity),
    # How far the venue's book is from the price here, whichever way.
    "gap": lambda market, _: None if market.gap is None else abs(market.gap),
}
"""Columns that a comparison may name, with their values; `left:<2h` is time to resolution."""

NAMED: Final = {"venue": tuple(venue.value for venue in Venue)}
"""Columns that match names: `venue:evm`."""

NAMES: Final = {
    **{name: name for name in (*COMPARED, *NAMED, "question", "category")},
    "yes": "price",
    "24h": "change",
    "24hpt": "change",
    "24h$": "volume",
    "vol": "volume",
    "market": "question",
    "on": "venue",
    "ends": "left",
    "endsin": "left",
}
"""The names of the columns, as the table shows them: these can be typed."""

SIM_ALONE: Final = "sim alone"
"""The venue filter that leaves markets without an order book on a real venue, as stored."""

_LISTED_CELLS: Final = 12
"""Letters of a watchlist's name in its switch: all switches fit into 80 cells."""

_STATUS: Final = {
    "open": MarketStatus.ACTIVE,
    "closed": MarketStatus.CLOSED,
    "resolved": MarketStatus.RESOLVED,
}

_VENUE_TEXTS: Final = {
    **{venue.value: venue.value.removesuffix("_venue") for venue in Venue},
    SIM_ALONE: "sim only",
}
"""What the switch shows for a venue filter."""

_VENUES: Final = ("", *(venue.value for venue in Venue if venue is not Venue.SIM), SIM_ALONE)

_NO_MARKETS: Final = {
    Phase.CONNECTING: "Connecting to the service.\n\nMarkets appear with its first answer.",
    Phase.ONLINE: "No markets listed.\n\n{app.refresh} refreshes.",
    Phase.OFFLINE: "The service cannot be reached: {problem}.\n\nRetrying automatically; "
    "{app.refresh} retries now.",
    Phase.UNAUTHORIZED: "The service refuses this key: {problem}.\n\nSettings ({app.settings}) "
    "show key and service.",
}


class Chip(NamedTuple):
    """A switch as text, with its key, and whether it is in force."""

    words: str
    narrows: bool


def _chip(switch: str, market_filter: str) -> Chip:
    # An unset switch has no text: all of them fit into 80 cells.
    return Chip(f"{switch} {market_filter}".rstrip(), narrows=bool(market_filter))


@dataclass(frozen=True, slots=True)
class MarketFilter:
    """All filters of the list. `category` is empty for all; `listed` names a watchlist."""

    typed: str = ""
    category: str = ""
    status: str = "open"
    until: str = "any"
    held: bool = False
    starred: bool = False
    venue: str = ""
    listed: str = ""

    def chips(self) -> tuple[Chip, ...]:
        """Each key's switch, in the order of the keys c, o, t, V, h, w."""
        until = "" if self.until == "any" else self.until
        return (
            _chip(f"{cap('markets.category')} category", self.category),
            Chip(
                f"{cap('markets.status')} {self.status if self.status != 'all' else 'any'}",
                narrows=self.status != "all",
            ),
            _chip(f"{cap('markets.until')} ends", until),
            _chip(f"{cap('markets.venue')} venue", _VENUE_TEXTS.get(self.venue, self.venue)),
            _chip(f"{cap('markets.held')} held", "✓" if self.held else ""),
            _chip(cap("markets.starred"), formats.plain(self.listed, _LISTED_CELLS).plain)
            if self.listed
            else _chip(f"{cap('markets.starred')} starred", "✓" if self.starred else ""),
        )

    def to_text(self) -> str:
        """The filter as a preference stores it."""
        return urlencode(asdict(self))


@dataclass(frozen=True, slots=True)
class FilterContext:
    """The inputs of a filter besides the market. `now` is the world's time."""

    now: Timestamp
    held: frozenset[str]
    stars: frozenset[str]
    lists: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    @classmethod
    def of(cls, view: ViewContext) -> "FilterContext":
        """The inputs in a state."""
        held = frozenset(position.market_id for position in view.state.positions)
        lists = {one.name: frozenset(one.markets) for one in watchlists_of(view.state.preferences)}
        return cls(view.world_now, held, view.state.stars, lists)


def filter_from(text: str) -> MarketFilter:
    """The filter of a preference; a fresh one if it cannot be read."""
    kept = dict(parse_qsl(text))
    result = MarketFilter(
        typed=kept.get("typed", ""),
        category=kept.get("category", ""),
        status=kept.get("status", "open"),
        until=kept.get("until", "any"),
        held=kept.get("held") == "True",
        starred=kept.get("starred") == "True",
        venue=kept.get("venue", ""),
        listed=kept.get("listed", "")[:LABEL_MAX],
    )
    is_read = result.status in STATUSES and result.until in UNTIL_S and result.venue in _VENUES
    return result if is_read else MarketFilter()


def switches_of(market_filter: MarketFilter) -> dict[str, str]:
    """The switches of a filter that narrow, each by its name."""
    unset = asdict(MarketFilter(status="all"))
    values = asdict(market_filter).items()
    return {name: str(value) for name, value in values if value != unset[name] and name != "typed"}


def filter_of(typed: str, switches: Mapping[str, str]) -> MarketFilter:
    """The filter with a search and these switches; as at the first start if they are unknown."""
    return filter_from(urlencode({"status": "all", **switches, "typed": typed}))


def categories_of(markets: Iterable[MarketView]) -> tuple[str, ...]:
    """Every category, in order, after the empty one for all."""
    return ("", *sorted({market.category for market in markets if market.category}))


def venues_of(markets: Iterable[MarketView]) -> tuple[str, ...]:
    """Every venue filter that leaves a market, after the empty one for all."""
    kinds = {market.venues for market in markets if market.venues}
    real = {venue.value for kind in kinds for venue in kind if venue is not Venue.SIM}
    there = {"", *real, *((SIM_ALONE,) if (Venue.SIM,) in kinds else ())}
    return tuple(venue for venue in _VENUES if venue in there)


def after(choices: tuple[str, ...], current: str) -> str:
    """The option after the current one, round and round; the first if it is gone."""
    return (
        choices[(choices.index(current) + 1) % len(choices)] if current in choices else choices[0]
    )


def filtered(
    markets: Iterable[MarketView], market_filter: MarketFilter, context: FilterContext
) -> list[MarketView]:
    """The markets that pass the filter, in their order."""
    # One pass for each active filter: thousands of rows go through here at every poll.
    left, status, until_s = (
        list(markets),
        _STATUS.get(market_filter.status),
        UNTIL_S[market_filter.until],
    )
    if status is not None:
        left = [market for market in left if market.status is status]
    if market_filter.category:
        left = [market for market in left if market.category == market_filter.category]
    if market_filter.venue:
        left = _trading_on(market_filter.venue, left)
    if market_filter.held:
        left = [market for market in left if market.market_id in context.held]
    if market_filter.starred:
        left = [market for market in left if market.market_id in context.stars]
    if market_filter.listed:
        # A list that was removed meanwhile has no markets.
        listed = context.lists.get(market_filter.listed, frozenset())
        left = [market for market in left if market.market_id in listed]
    if until_s:
        left = [market for market in left if _ends_within(market, until_s, context.now)]
    return _matching(market_filter.typed, left, context.now) if market_filter.typed else left


def _trading_on(venue: str, markets: list[MarketView]) -> list[MarketView]:
    if venue == SIM_ALONE:
        return [market for market in markets if market.venues == (Venue.SIM,)]
    return [market for market in markets if venue in market.venues]


def search_of(typed: str) -> Search:
    """Parse a search of markets; an address is none, and narrows by itself."""
    if web_place(typed) is not None:
        return Search()
    return read_search(typed, COMPARED, NAMED, NAMES)


def _matching(typed: str, markets: list[MarketView], now: Timestamp) -> list[MarketView]:
    if web_place(typed) is not None:
        return at_page(markets, typed)
    search = search_of(typed)
    if search.choices:
        # Matched once for each set of venues: there are a handful among thousands of markets.
        fits = {
            kind: search.matches_choice("venue", kind) for kind in {each.venues for each in markets}
        }
        markets = [market for market in markets if fits[market.venues]]
    if search.words or search.comparisons or search.cells:
        markets = [market for market in markets if matches(market, search, now)]
    return markets


def search_text(market: MarketView) -> str:
    """The text in which a search finds a market, folded."""
    tags = " ".join(market.tags)
    return folded(f"{market.question} {market.category} {tags} {market.event_name}".rstrip())


def matches(market: MarketView, search: Search, now: Timestamp) -> bool:
    """True if question, category and tags match the words, and the numbers compare."""
    cells = {"question": market.question, "category": market.category}
    return search.matches(
        search_text(market), lambda column: COMPARED[column](market, now), cells.__getitem__
    )


def why_empty(state: DeskState, market_filter: MarketFilter) -> str:
    """Why no market is listed, and what to do about it."""
    if state.markets:
        narrowing = [chip.words for chip in market_filter.chips() if chip.narrows]
        search = [f"/{market_filter.typed}"] if market_filter.typed else []
        return (
            f"No market of {len(state.markets):,} matches:\n\n"
            f"{'   '.join(narrowing + search)}\n\n"
            f"{cap('rows.out')} clears the search, {cap('rows.out')} again the filters."
        )
    if state.service.phase is Phase.ONLINE and not is_answered(state, Topic.MARKETS):
        return not_loaded_text("markets")
    return with_keys(_NO_MARKETS[state.service.phase]).replace(
        "{problem}", state.service.problem or "no answer"
    )


def _ends_within(market: MarketView, until_s: float, now: Timestamp) -> bool:
    left = seconds_left(market, now)
    return left is not None and left <= until_s
