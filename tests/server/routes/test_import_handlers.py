"""Imports: what an address or ticker means, what is listed of it, and what it costs."""

from types import SimpleNamespace
from typing import Any

import pytest

from kit.engine.bare import AT, bare_world, listed
from kit.service.bare import bare_service, request_to
from service_tui.engine.books.catalogue import HOSTS, CatalogueMatch, condition_of, ticker_of
from service_tui.engine.errors import DayImports
from service_tui.engine.limits import PLANS
from service_tui.engine.listing import Listing
from service_tui.server.http.refusals import Denied
from service_tui.server.routes import importing
from service_tui.server.routes.importing import EVENT_MAX
from service_tui.storage.errors import StorageFullError
from service_tui.terms import Plan, Venue
from service_tui.units import Timestamp
from service_tui.wire.importing import (
    CheckBody,
    CheckQuery,
    ImportableQuery,
    ImportBody,
    ImportEventRequest,
    ImportRequest,
    ImportTickerRequest,
)

EVM, SOL = Venue.EVM, Venue.SOL


def question(name: str, home: Venue = EVM, ends_s: float = 60.0) -> Listing:
    """A question that is not listed here."""
    end = Timestamp(AT + ends_s)
    return listed(bare_world(), name, home=home, resolves_at=end, subject=f"team {name}").listing


class Desk:
    """A service and the venues' catalogue, of which a test gives the names."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> None:
        world = bare_world("ada", **{"claimed": True, "plan": Plan.PRO, **settings})
        world.world_at = AT
        self.service = bare_service(world)
        self.known: dict[str, CatalogueMatch] = {}
        self.asked: list[tuple[object, ...]] = []
        self.refusal: DayImports | None = None
        monkeypatch.setattr(importing, "named_by", lambda _, name, at: self.named(name, at))
        monkeypatch.setattr(importing, "import_listings", self.listed)
        monkeypatch.setattr(importing, "outside_price", lambda *_: 0.3)

    def named(self, name: str, at: object) -> CatalogueMatch | None:
        assert at == self.service.world.world_at
        # Capitals or not: the venue's own names are found in either.
        return next((self.known[one] for one in self.known if one.lower() == name.lower()), None)

    def listed(
        self, world: Any, agent: Any, fresh: list[Listing], at: object, *, unlimited: bool
    ) -> list[str]:
        if self.refusal is not None:
            raise self.refusal
        names = [one.market_id for one in fresh]
        self.asked.append((agent.agent_id, names, at, unlimited))
        for one in fresh:
            listed(world, one.market_id, home=one.home, subject=one.subject)
        return [f"listed {name}" for name in names]

    def list_now(self, name: str, **fields: Any) -> None:
        listed(self.service.world, name, **fields)

    def request(self, **given: Any) -> Any:
        return request_to(self.service, "ada", **given)

    async def by_address(self, url: str, **more: Any) -> ImportBody:
        body = ImportRequest(polymarket_url=url, **more)
        return await importing.import_market(self.request(body=body))

    async def by_ticker(self, text: str) -> ImportBody:
        return await importing.import_ticker(
            self.request(body=ImportTickerRequest(kalshi_url=text))
        )

    async def event(self, ticker: str) -> ImportBody:
        body = ImportEventRequest(event_ticker=ticker)
        return await importing.import_ticker_event(self.request(body=body))

    async def checked(self, **name: str) -> CheckBody:
        return await importing.check(self.request(query=CheckQuery(**name)))

    @property
    def written(self) -> list[object]:
        return self.service.world_store.written


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(monkeypatch)


def url(home: Venue, name: str) -> str:
    return f"https://www.{HOSTS[home]}/event/{name}/"


# -- what is meant ------------------------------------------------------------------------------


async def test_a_question_is_imported_by_its_address(desk: Desk) -> None:
    desk.known["cup"] = CatalogueMatch((question("m1"),))
    request = desk.request(body=ImportRequest(polymarket_url=url(EVM, "cup")))
    told = await importing.import_market(request)
    assert desk.asked == [("ada", ["m1"], AT, False)]
    assert (told.success, told.status, told.market_id, told.import_source) == (
        True, "imported", "m1", EVM,
    )  # fmt: skip
    assert (told.external_price_yes, told.current_probability, told.kalshi_ticker) == (
        0.3, 0.4, None,
    )  # fmt: skip
    assert desk.written == ["listed m1"]
    limit = PLANS[Plan.PRO].imports_per_day
    assert request.headers == {"X-Imports-Remaining": str(limit), "X-Imports-Limit": str(limit)}


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("cup", 422), ("https://elsewhere.example/cup", 422), ("ftp://x/cup", 422),
        (url(EVM, "none"), 404), (url(SOL, "cup"), 404), (url(EVM, "empty"), 404),
    ],
)  # fmt: skip
async def test_an_address_that_means_nothing_here_is_refused(
    desk: Desk, text: str, status: int
) -> None:
    desk.known = {"cup": CatalogueMatch((question("m1"),)), "empty": CatalogueMatch(())}
    with pytest.raises(Denied, match=str(status)):
        await desk.by_address(text)
    assert (desk.asked, desk.written) == ([], [])


@pytest.mark.parametrize("text", ["CUP-1", f"  {url(SOL, 'CUP-1')} "])
async def test_a_question_of_the_other_venue_is_imported_by_ticker_or_address(
    desk: Desk, text: str
) -> None:
    listing = question("m1", SOL)
    desk.known["CUP-1"] = CatalogueMatch((listing,))
    told = await desk.by_ticker(text)
    assert (told.status, told.kalshi_ticker, told.import_source) == (
        "imported", ticker_of(listing), SOL,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("CUP-2", 404), ("EVM-1", 404), ("http://elsewhere.example/CUP-1", 422),
        (url(EVM, "EVM-1"), 404), ("a/b", 422),
    ],
)  # fmt: skip
async def test_a_ticker_of_nothing_or_of_another_venue_is_refused(
    desk: Desk, text: str, status: int
) -> None:
    desk.known = {
        "CUP-1": CatalogueMatch((question("m1", SOL),)), "EVM-1": CatalogueMatch((question("m2"),)),
    }  # fmt: skip
    with pytest.raises(Denied, match=str(status)):
        await desk.by_ticker(text)


def cup(*listings: Listing) -> CatalogueMatch:
    event: Any = SimpleNamespace(event_id="e1", name="The cup", slug="cup")
    return CatalogueMatch(listings, event)


async def test_an_event_is_imported_by_its_ticker_or_that_of_one_outcome(desk: Desk) -> None:
    whole = cup(question("m1", SOL), question("m2", SOL))
    desk.known = {"cup": whole, "CUP-1": cup(question("m1", SOL))}
    told = await desk.event(" CUP-1 ")
    assert [one.market_id for one in told.markets] == ["m1", "m2"]
    assert (told.event_id, told.event_name, told.markets_imported) == ("e1", "The cup", 2)
    assert [(one.outcome_name, one.current_probability) for one in told.markets] == [
        ("team m1", 0.4), ("team m2", 0.4),
    ]  # fmt: skip


async def test_an_event_of_one_outcome_is_an_event_where_it_was_asked_for(desk: Desk) -> None:
    desk.known["cup"] = cup(question("m1", SOL))
    assert (await desk.event("cup")).event_id == "e1"
    # By an address or a ticker it is the question.
    assert (await desk.by_ticker("cup")).market_id == "m1"


async def test_what_is_no_event_is_not_imported_as_one(desk: Desk) -> None:
    desk.known["CUP-1"] = CatalogueMatch((question("m1", SOL),))
    for name in ("CUP-1", "none"):
        with pytest.raises(Denied, match="404"):
            await desk.event(name)


async def test_of_an_event_the_outcomes_that_were_named_are_listed(desk: Desk) -> None:
    desk.known["cup"] = cup(*(question(f"m{one}") for one in range(3)))
    told = await desk.by_address(url(EVM, "cup"), market_ids=["m2", condition_of("m0")])
    assert [one.market_id for one in told.markets] == ["m0", "m2"]
    with pytest.raises(Denied, match="422"):
        await desk.by_address(url(EVM, "cup"), market_ids=["m1", "m9"])
    # One of several is answered as the question that it is.
    told = await desk.by_address(url(EVM, "cup"), market_ids=["m1"])
    assert (told.market_id, told.event_id, told.markets) == ("m1", None, ())


# -- what is listed -----------------------------------------------------------------------------


async def test_at_most_so_many_outcomes_of_an_event_are_listed(desk: Desk) -> None:
    desk.known["cup"] = cup(*(question(f"m{one}") for one in range(EVENT_MAX + 2)))
    told = await desk.by_address(url(EVM, "cup"))
    assert (told.markets_imported, len(told.markets)) == (EVENT_MAX, EVENT_MAX)


async def test_what_is_listed_or_over_is_left_out_and_costs_nothing(desk: Desk) -> None:
    desk.list_now("m1")
    desk.known["cup"] = cup(
        question("m1"), question("m2"), question("m3", ends_s=0.0), question("m4", ends_s=0.001)
    )
    told = await desk.by_address(url(EVM, "cup"))
    assert desk.asked == [("ada", ["m2", "m4"], AT, False)]
    assert (told.status, told.markets_imported, told.markets_skipped) == ("imported", 2, 2)
    desk.asked.clear()
    desk.written.clear()
    again = await desk.by_address(url(EVM, "cup"))
    assert (again.status, again.success, again.markets_imported) == ("already_exists", True, 0)
    assert (desk.asked, desk.written) == ([], [])
    desk.known["old"] = cup(question("m7", ends_s=-5), question("m8", ends_s=-5))
    over = await desk.by_address(url(EVM, "old"))
    assert (over.status, over.success, over.markets) == ("resolved", False, ())


async def test_an_agent_that_nobody_has_claimed_imports_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    desk = Desk(monkeypatch, claimed=False)
    desk.known["cup"] = CatalogueMatch((question("m1"),))
    with pytest.raises(Denied, match="403"):
        await desk.by_address(url(EVM, "cup"))
    assert desk.asked == []


async def test_a_used_up_day_and_a_full_disk_list_nothing(desk: Desk) -> None:
    desk.known["cup"] = CatalogueMatch((question("m1"),))
    desk.refusal = DayImports("no more today")
    with pytest.raises(Denied, match="429") as refused:
        await desk.by_address(url(EVM, "cup"))
    body = refused.value.body
    assert (body.detail, body.fix) == ("no more today", desk.refusal.fix)
    assert (body.limit, bool(body.x402_price)) == (PLANS[Plan.PRO].imports_per_day, True)
    assert body.x402_url == f"{desk.service.address}{importing.IMPORT_MARKET.path}"
    desk.refusal = None
    desk.service.world_store.refuses = StorageFullError("full")
    with pytest.raises(StorageFullError):
        await desk.by_address(url(EVM, "cup"))
    assert (desk.asked, desk.written) == ([], [])


# -- what could be ------------------------------------------------------------------------------


async def test_a_question_that_is_listed_is_told_with_its_state(desk: Desk) -> None:
    desk.list_now("m1")
    desk.known["cup"] = cup(question("m1"))
    told = await desk.checked(url=url(EVM, "cup"))
    assert told == CheckBody(
        exists=True, market_id="m1", question="Does m1 end well?", status="active"
    )
    for name in ({"url": url(EVM, "none")}, {"ticker": "cup"}, {"condition_id": "0x1"}):
        assert await desk.checked(**name) == CheckBody(exists=False)


async def test_what_can_be_imported_is_listed_most_traded_first(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [question("m1"), question("m2", SOL), question("m3")]
    volumes = {"m1": 20_000.0, "m2": 50_000.0, "m3": 30_000.0}
    monkeypatch.setattr(importing, "importable_at", lambda *_: found)
    monkeypatch.setattr(importing, "outside_volume", lambda one: volumes[one.market_id])
    event = SimpleNamespace(name="The cup", slug="cup", event_id="e1")
    monkeypatch.setattr(importing, "event_of", lambda one: event if one.market_id == "m3" else None)
    monkeypatch.setattr(importing, "event_url", lambda _, home: f"event at {home.value}")
    body = await importing.importable(desk.request(query=ImportableQuery(limit=2)))
    assert body.total == 3
    first, second = body.markets
    assert (first.question, first.venue, first.ticker, first.volume_24h) == (
        "Does m2 end well?", SOL, ticker_of(found[1]), 50_000.0,
    )  # fmt: skip
    assert (first.event_name, first.event_url, first.current_price) == (None, None, 0.3)
    assert (second.condition_id, second.category) == (condition_of("m3"), "politics")
    assert (second.event_name, second.event_url) == ("The cup", f"event at {EVM.value}")
