"""The import endpoints: filters, addresses and daily limits."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from kit.clock import leap
from kit.engine.bare import AT, bare_world, listed
from kit.engine.recorded import PARTS, write
from kit.engine.topics import TOPICS
from kit.service.line import Line, change, line_to
from kit.service.stage import Stage, open_stage
from service_tui.clock import ManualClock
from service_tui.engine.books.catalogue import (
    CatalogueMatch,
    condition_of,
    event_of,
    event_url,
    importable_at,
    slug_of,
    ticker_of,
    url_of,
)
from service_tui.engine.codec.events import dumps
from service_tui.engine.codec.snapshot import fields_of
from service_tui.engine.listing import Listing
from service_tui.engine.tape.recorded import SLOT
from service_tui.engine.tape.slots import EVENT_SIZE, IMPORT_SLOTS
from service_tui.server.http.refusals import Denied
from service_tui.server.routes.importing import fresh_of, outcomes_with, venue_of
from service_tui.server.world_store import restore
from service_tui.terms import Plan, Venue
from service_tui.units import Timestamp
from service_tui.wire.endpoints.public import (
    CHECK_MARKET,
    IMPORT_MARKET,
    IMPORT_TICKER,
    IMPORT_TICKER_EVENT,
    IMPORTABLE,
    MARKET,
    PLACE_TRADE,
)


async def offered(line: Line, **params: object) -> list[dict[str, Any]]:
    return (await line.said(IMPORTABLE, **({"limit": 100, "min_volume": 0} | params)))["markets"]


def alone(stage: Stage, home: Venue = Venue.EVM) -> list[Listing]:
    """Questions that may be imported and belong to no event."""
    world = stage.world
    found = importable_at(world.tape, world.world_at)
    return [one for one in found if one.home is home and event_of(one) is None]


async def import_url(line: Line, url: str | None, code: int = 200) -> dict[str, Any]:
    return await line.said(IMPORT_MARKET, code, json={"polymarket_url": url})


@pytest.mark.slow
async def test_what_may_be_imported_is_filtered_as_asked(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        every = await offered(line)
        assert len(every) >= len(IMPORT_SLOTS)
        assert len({one["question"] for one in every}) == len(every)
        volumes = [one["volume_24h"] for one in every]
        assert volumes == sorted(volumes, reverse=True)
        assert min(volumes) >= 1_000
        usual = await offered(line, min_volume=10_000)
        assert [one for one in every if one["volume_24h"] >= 10_000] == usual
        assert (await line.said(IMPORTABLE))["markets"] == usual[:50]
        assert await offered(line, limit=3) == every[:3]
        assert await offered(line, category="Weather ") == [
            one for one in every if one["category"] == "weather"
        ]
        for venue, public in (("evm_venue", "polymarket"), ("sol_venue", "kalshi")):
            own = [one for one in every if one["venue"] == venue]
            assert await offered(line, venue=venue) == own
            # Whoever names a venue as the public does is answered likewise.
            named = [one | {"venue": public} for one in own]
            assert await offered(line, venue=public) == named
        assert await offered(line, venue="sim") == []
        assert await offered(line, q="zzzz") == []
        assert all("will" in one["question"].lower() for one in await offered(line, q="WILL"))


@pytest.mark.slow
async def test_an_import_lists_the_question_once_and_a_repeat_is_free(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await change(stage, claimed=True)
        listing = alone(stage)[0]
        row = next(one for one in await offered(line) if one["question"] == listing.question)
        names = ({"url": row["url"]}, {"condition_id": row["condition_id"]})
        for name in names:
            assert (await line.said(CHECK_MARKET, **name))["exists"] is False
        response = await line.ask(IMPORT_MARKET, json={"polymarket_url": row["url"]})
        said = response.json()
        assert (said["success"], said["status"]) == (True, "imported")
        assert (said["market_id"], said["question"]) == (listing.market_id, listing.question)
        assert response.headers["X-Imports-Remaining"] == "99"
        assert response.headers["X-Imports-Limit"] == "100"
        again = await line.ask(IMPORT_MARKET, json={"polymarket_url": row["url"]})
        assert again.json()["status"] == "already_exists"
        assert again.json()["market_id"] == listing.market_id
        assert again.headers["X-Imports-Remaining"] == "99"
        for name in names:
            found = await line.said(CHECK_MARKET, **name)
            assert (found["exists"], found["market_id"]) == (True, listing.market_id)
            assert (found["question"], found["status"]) == (listing.question, "active")
            assert (found["outcomes"], found["event_name"], found["hint"]) == ([], None, None)
        assert row["question"] not in {one["question"] for one in await offered(line)}


@pytest.mark.slow
async def test_an_imported_market_starts_at_the_price_of_its_venue_and_lives_like_any_other(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=60) as stage:
        line = line_to(stage)
        await change(stage, claimed=True)
        listing = min(alone(stage), key=lambda one: one.resolved_at)
        said = await import_url(line, url_of(listing))
        assert said["current_probability"] == pytest.approx(said["external_price_yes"], abs=0.011)
        order = {"market_id": listing.market_id, "side": "yes", "amount": 10}
        assert (await line.said(PLACE_TRADE, json=order))["success"] is True
        assert stage.world.ledger.total() == 0
        await line.wait((listing.resolved_at - stage.world.world_at) / 60 + 1)
        one = (await line.said(MARKET, path={"market_id": listing.market_id}))["market"]
        assert (one["status"], one["outcome"]) == ("resolved", listing.outcome)
        assert (await line.said(CHECK_MARKET, url=url_of(listing)))["status"] == "resolved"
        over = await import_url(line, url_of(listing))
        assert (over["success"], over["status"]) == (False, "resolved")
        assert stage.world.ledger.total() == 0


@pytest.mark.slow
async def test_an_event_is_imported_with_its_outcomes_as_one_import(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await change(stage, claimed=True)
        rows = [one for one in await offered(line) if one["event_url"]]
        event_url, name = rows[0]["event_url"], rows[0]["event_name"]
        members = [one for one in rows if one["event_url"] == event_url]
        assert len(members) == 4
        chosen = [one["condition_id"] for one in members[:2]]
        request = {"polymarket_url": event_url, "market_ids": chosen}
        response = await line.ask(IMPORT_MARKET, json=request)
        part = response.json()
        assert (part["event_name"], part["status"]) == (name, "imported")
        assert {one["question"] for one in part["markets"]} == {
            one["question"] for one in members[:2]
        }
        assert (part["markets_imported"], part["markets_skipped"]) == (2, 0)
        assert response.headers["X-Imports-Remaining"] == "99"
        whole = await import_url(line, event_url)
        assert (whole["markets_imported"], whole["markets_skipped"]) == (2, 2)
        assert {one["question"] for one in whole["markets"]} == {one["question"] for one in members}
        assert all(one["outcome_name"] in one["question"] for one in whole["markets"])
        last = await line.ask(IMPORT_MARKET, json={"polymarket_url": event_url})
        assert last.json()["status"] == "already_exists"
        assert last.headers["X-Imports-Remaining"] == "98"
        wrong = {"polymarket_url": event_url, "market_ids": ["0x00"]}
        assert (await line.ask(IMPORT_MARKET, json=wrong)).status_code == 422


@pytest.mark.slow
async def test_the_solana_venue_takes_an_address_or_a_bare_ticker(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await change(stage, claimed=True)
        by_ticker, by_url = (await offered(line, venue="sol_venue"))[:2]
        assert (await line.said(CHECK_MARKET, ticker=by_ticker["ticker"]))["exists"] is False
        for name in (by_ticker["ticker"], by_url["url"]):
            said = await line.said(IMPORT_TICKER, json={"kalshi_url": name})
            assert said["status"] == "imported"
            assert said["kalshi_ticker"] in {by_ticker["ticker"], by_url["ticker"]}
            assert (await line.said(CHECK_MARKET, ticker=said["kalshi_ticker"]))["exists"] is True
        other = alone(stage)[0]
        for name in (url_of(other), "WEATHER-9999-1", slug_of(other)):
            said = await line.said(IMPORT_TICKER, 404, json={"kalshi_url": name})
            assert said["fix"]


ADDRESSES: Final = {
    "https://evm-venue.example/event/x-1-2": (Venue.EVM, "x-1-2"),
    "http://www.polymarket.com/event/x-1-2/?tid=5#top": (Venue.EVM, "x-1-2"),
    "https://KALSHI.com/markets/a/X-1-2": (Venue.SOL, "X-1-2"),
    "https://sol-venue.example/event/X-1-2": (Venue.SOL, "X-1-2"),
    "https://polymarket.com.evil.example/event/x-1-2": None,
    "https://polymarket.com@evil.example/event/x-1-2": None,
    "ftp://polymarket.com/event/x-1-2": None,
    "javascript:alert(1)": None,
    "file:///etc/passwd": None,
    "https://[::1/event/x": None,
    "polymarket.com/event/x-1-2": (Venue.EVM, "x-1-2"),
    "<https://m.polymarket.com/event/x-1-2>).": (Venue.EVM, "x-1-2"),
    "": None,
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_is_taken_apart_as_text(address: str) -> None:
    assert venue_of(address) == ADDRESSES[address]


PASTED: Final = (
    "{host}/event/{name}",
    "<https://{host}/event/{name}>",
    "(https://{host}/event/{name}).",
    "https://{host}/event/{name}%20",
    "https://{host}/event/{name}\u200b",
    "https://m.{host}/event/{name}/?tid=5",
    "HTTPS://WWW.{upper}/EVENT/{shouted}",
)
"""How one address arrives after it was copied."""


@pytest.mark.parametrize("form", PASTED)
async def test_an_address_as_it_was_pasted_names_its_market(tmp_path: Path, form: str) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await change(stage, claimed=True)
        for home, endpoint, field in (
            (Venue.EVM, IMPORT_MARKET, "polymarket_url"),
            (Venue.SOL, IMPORT_TICKER, "kalshi_url"),
        ):
            listing = alone(stage, home)[0]
            host, _, name = (url_of(listing) or "").removeprefix("https://").partition("/event/")
            text = form.format(host=host, name=name, upper=host.upper(), shouted=name.upper())
            assert (await line.said(endpoint, json={field: text}))["status"] == "imported"
            found = await line.said(CHECK_MARKET, url=text)
            assert (found["exists"], found["market_id"]) == (True, listing.market_id)


@pytest.mark.parametrize("form", ["{}", "{} ", "'{}'", "{}.", "{}\u200b", "{}%20", "<{}>"])
async def test_a_ticker_as_it_was_pasted_names_its_market(tmp_path: Path, form: str) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await change(stage, claimed=True)
        listing = alone(stage, Venue.SOL)[0]
        for text in (
            form.format(name) for name in (ticker_of(listing), ticker_of(listing).lower())
        ):
            await line.said(IMPORT_TICKER, json={"kalshi_url": text})
            found = await line.said(CHECK_MARKET, ticker=text)
            assert (found["exists"], found["market_id"]) == (True, listing.market_id)


# -- events: several outcomes are no market ------------------------------------------------


def whole_event(stage: Stage, home: Venue) -> list[Listing]:
    """The outcomes of one event of a venue that can be imported now."""
    world = stage.world
    found = [
        one
        for one in importable_at(world.tape, world.world_at)
        if one.home is home and event_of(one) is not None
    ]
    first = event_of(found[0])
    return [one for one in found if event_of(one) == first]


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize(
    ("home", "name"), [(Venue.EVM, "url"), (Venue.SOL, "url"), (Venue.SOL, "ticker")]
)
async def test_the_address_of_an_event_is_no_market_and_names_its_outcomes(
    tmp_path: Path, home: Venue, name: str, *, listed: bool
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await change(stage, claimed=True)
        outcomes = whole_event(stage, home)
        event = event_of(outcomes[0])
        assert event is not None
        url = event_url(event, home)
        if listed:
            await line.said(IMPORT_MARKET, json={"polymarket_url": url})
        found = await line.said(CHECK_MARKET, **{name: url if name == "url" else event.slug})
        # Listed or not: which outcome is meant is known to nobody.
        assert (found["exists"], found["market_id"]) == (False, None)
        assert found["event_name"] == event.name
        assert "4 outcomes" in found["hint"]
        questions = {one["question"]: one["exists"] for one in found["outcomes"]}
        assert questions == dict.fromkeys((one.question for one in outcomes), listed)
        # Each of the outcomes is named by what the answer says of it.
        for one in found["outcomes"]:
            names = ({"url": one["url"]}, {"condition_id": one["condition_id"]})
            again = [(await line.said(CHECK_MARKET, **said))["market_id"] for said in names]
            assert again == [one["market_id"]] * 2


async def test_a_ticker_or_address_of_an_event_is_not_imported_as_a_market(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await change(stage, claimed=True)
        outcomes = whole_event(stage, Venue.SOL)
        event = event_of(outcomes[0])
        assert event is not None
        count = len(stage.world.markets)
        for text in (event.slug, event.slug.upper(), event_url(event, Venue.SOL)):
            said = await line.said(IMPORT_TICKER, 422, json={"kalshi_url": text})
            assert "an event with 4 outcomes, not a market" in said["detail"]
            assert all(ticker_of(one) in said["fix"] for one in outcomes)
            assert IMPORT_TICKER_EVENT.path in said["fix"]
        assert len(stage.world.markets) == count
        # Its own endpoint takes the event, by its ticker, its address or an outcome's ticker.
        for text in (event_url(event, Venue.SOL), event.slug.upper(), ticker_of(outcomes[0])):
            made = await line.said(IMPORT_TICKER_EVENT, json={"event_ticker": text})
            assert len(made["markets"]) == EVENT_SIZE


@pytest.mark.slow
async def test_only_the_questions_own_words_name_it(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await change(stage, claimed=True)
        listing = alone(stage)[0]
        slot, number = listing.slot, listing.number
        before = dumps(fields_of(stage.world))
        for name in (
            f"something-else-{slot}-{number}",
            slug_of(listing).replace(f"-{number}", f"-{number + 50}"),
            f"{slug_of(listing)}-1",
            "will-it-rain-2026-05",
            f"x-{slot}-999999999999",
        ):
            url = f"https://evm-venue.example/event/{name}"
            await import_url(line, url, 404)
            assert (await line.said(CHECK_MARKET, url=url))["exists"] is False
        assert dumps(fields_of(stage.world)) == before


@pytest.mark.slow
async def test_an_unclaimed_agent_imports_nothing_and_is_shown_its_claim_link(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        count = len(stage.world.markets)
        for asked in (
            {"endpoint": IMPORT_MARKET, "json": {"polymarket_url": url_of(alone(stage)[0])}},
            {"endpoint": IMPORT_TICKER, "json": {"kalshi_url": url_of(alone(stage, Venue.SOL)[0])}},
        ):
            said = await line.said(asked["endpoint"], 403, json=asked["json"])
            assert stage.agent.claim_code in said["claim_url"]
            assert said["fix"]
        assert len(stage.world.markets) == count


@pytest.mark.slow
async def test_the_days_imports_end_with_a_429_and_begin_again_at_midnight(
    tmp_path: Path,
) -> None:
    # A minute before midnight, so that the wait is short.
    clock = ManualClock(Timestamp(21_000 * 86_400 - 60.0))
    async with open_stage(tmp_path, clock, speed=0, plan=Plan.FREE) as stage:
        line = line_to(stage)
        await change(stage, claimed=True)
        urls = [url_of(one) for one in [*alone(stage), *alone(stage, Venue.SOL)]]
        assert len(urls) > 11
        for left, url in zip(range(9, -1, -1), urls, strict=False):
            response = await line.ask(IMPORT_MARKET, json={"polymarket_url": url})
            assert (response.status_code, response.headers["X-Imports-Remaining"]) == (
                200,
                str(left),
            )
        refused = await line.ask(IMPORT_MARKET, json={"polymarket_url": urls[10]})
        said = refused.json()
        assert (refused.status_code, said["error"]) == (429, "Rate limit exceeded")
        assert (said["limit"], said["x402_price"]) == (10, "$0.005")
        assert said["x402_url"].endswith(IMPORT_MARKET.path)
        assert said["fix"]
        # What is listed already stays free.
        assert (await import_url(line, urls[0]))["status"] == "already_exists"
        wait_s = int(refused.headers["Retry-After"])
        assert 0 < wait_s <= 61
        await leap(stage.clock, wait_s)
        assert (await import_url(line, urls[10]))["status"] == "imported"


@pytest.mark.slow
async def test_imports_and_their_count_are_there_after_a_restart(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await change(stage, claimed=True)
        for listing in alone(stage)[:3]:
            await import_url(line, url_of(listing))
        found = restore(stage.at_rest, TOPICS)
        assert found is not None
        again, _ = found
        assert dumps(fields_of(again)) == dumps(fields_of(stage.world))
        assert again.agents[stage.agent_id].imports_today(stage.clock.now()) == 3


@pytest.mark.slow
async def test_an_event_of_the_solana_venue_is_imported_by_any_of_its_tickers(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        await change(stage, claimed=True)
        line, world = line_to(stage), stage.world
        found = importable_at(world.tape, world.world_at)
        events = [one for one in found if one.home is Venue.SOL and event_of(one) is not None]
        first = events[0]
        made = await line.said(IMPORT_TICKER_EVENT, json={"event_ticker": ticker_of(first)})
        assert (made["success"], made["status"]) == (True, "imported")
        assert made["markets_imported"] == len(made["markets"]) == EVENT_SIZE
        assert first.market_id in {one["market_id"] for one in made["markets"]}
        again = await line.said(IMPORT_TICKER_EVENT, json={"event_ticker": ticker_of(first)})
        assert (again["status"], again["markets_imported"]) == ("already_exists", 0)
        assert stage.agent.imports_today(stage.clock.now()) == 1
        single = next(iter(alone(stage, Venue.SOL)))
        await line.said(IMPORT_TICKER_EVENT, 404, json={"event_ticker": ticker_of(single)})


def test_outcomes_are_chosen_by_either_of_their_ids_and_kept_in_order() -> None:
    world = bare_world()
    listings = tuple(listed(world, name).listing for name in ("m1", "m2", "m3"))
    match = CatalogueMatch(listings)
    chosen = outcomes_with(match, [condition_of("m3"), "m1", condition_of("m1")])
    assert [one.market_id for one in chosen] == ["m1", "m3"]
    with pytest.raises(Denied, match="422"):
        outcomes_with(match, ["m1", "m4"])


@pytest.mark.parametrize("text", ["http://[::1", "ftp://polymarket.com/a", "polymarket.org/a", ""])
def test_what_is_no_address_of_a_venue_is_none(text: str) -> None:
    assert venue_of(text) is None


def test_what_is_listed_or_over_is_not_listed_again() -> None:
    world = bare_world()
    listings = [
        listed(world, name, resolves_at=Timestamp(AT + left_s)).listing
        for name, left_s in (("m1", 60.0), ("m2", 60.0), ("m3", 0.0), ("m4", 0.001))
    ]
    assert [one.market_id for one in fresh_of(listings, {"m1"}, world.tape, AT)] == ["m2", "m4"]


async def test_a_recorded_question_that_has_ended_is_not_listed_by_its_address(
    tmp_path: Path,
) -> None:
    begin = datetime.fromtimestamp(PARTS, UTC).isoformat()
    recorded = replace(write(tmp_path, 1, 2, 24), history_from=begin)
    async with open_stage(tmp_path / "world", recorded=recorded) as stage:
        line = line_to(stage)
        await change(stage, claimed=True)
        tape, at = stage.world.tape, stage.world.world_at
        known = [tape.known(SLOT, number, at) for number in range(24)]
        ended = [
            one for one in known
            if one is not None and one.home is Venue.EVM and tape.resolution(one, at) is not None
        ]  # fmt: skip
        assert any(one.resolves_at > at for one in ended)
        before = set(stage.world.markets)
        for one in ended:
            said = await import_url(line, url_of(one))
            assert (said["success"], said["status"], said["market_id"]) == (False, "resolved", None)
            assert said["resolves_at"] is None or one.origin is None or one.origin.has_end
        assert set(stage.world.markets) == before
