"""What the palette offers, in which order, and what a choice posts."""

from dataclasses import replace

import pytest
from rich.text import Text

from kit.console.doors import Running, running, seen_before
from kit.samples.fleet import fleet_state
from kit.samples.research import session_of
from service_tui.console.keys import KeyBinding, key_named, keys_of
from service_tui.console.messages import (
    NEW_SESSION,
    CommandGiven,
    DrillRequested,
    GoTo,
    KeyChosen,
    TourRequested,
)
from service_tui.console.shell.palette import (
    HITS_MAX,
    ActionsProvider,
    AgentsProvider,
    Candidate,
    DeskProvider,
    DrillsProvider,
    MarketsProvider,
    PositionsProvider,
    SessionsProvider,
    SettingsProvider,
    ThemesProvider,
    hit_line,
    matched_places,
    score_of,
)
from service_tui.desk.commands.agents import ExportData
from service_tui.desk.commands.research import EndSession, ResetSession
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.slices.drill import DrillView
from service_tui.terms import MarketStatus, Venue

STATE = seen_before(replace(fleet_state(), preferences={"theme": "paper"}, drill=None))


def named(name: str, also: str = "") -> Candidate:
    return Candidate(name, Text("kind", "muted"), GoTo("markets", name), Text("tail"), also)


def test_whole_words_of_the_name_score_best_and_the_shorter_name_first() -> None:
    ranked = [
        named("rain"),
        named("it will rain at dawn"),
        named("drains"),
        named("a word that holds brain"),
        named("snow two", "rain"),
        named("snow", "brain"),
    ]
    scores = [score_of(one, ["rain"]) for one in ranked]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0


def test_every_word_must_occur_in_the_name_or_beside_it() -> None:
    dawn = named("rain at dawn", "wet")
    assert score_of(dawn, ["rain", "dawn"]) > score_of(dawn, ["rain", "wet"]) > 0
    assert score_of(dawn, ["rain", "dry"]) == 0


def test_a_hit_marks_its_letters_between_its_kind_and_its_tail() -> None:
    places = matched_places("brain rain", ["rain", "br"])
    assert set(places) == {0, 1, 2, 3, 4}
    line = hit_line(named("brain rain"), places, "bold")
    # A category, two cells at least before the name, and the tail behind it.
    assert line.plain == "kind      brain rain  tail"
    marked = {
        place
        for span in line.spans if span.style == "bold"
        for place in range(span.start, span.end)
    }  # fmt: skip
    assert marked == {10, 11, 12, 13, 14}


def offered(seen: Running, kind: type[DeskProvider]) -> tuple[Candidate, ...]:
    return tuple(kind(seen.app.screen).candidates())


def leads(candidates: tuple[Candidate, ...]) -> list[tuple[str, str | None]]:
    messages = [one.message for one in candidates]
    return [(one.screen_name, one.row) for one in messages if isinstance(one, GoTo)]


async def test_every_action_is_offered_with_its_key_and_only_what_works_is_listed_first() -> None:
    async with running(STATE, first="settings") as seen:
        candidates = offered(seen, ActionsProvider)
        by_key: dict[KeyBinding, Candidate] = {
            one.message.key: one for one in candidates if isinstance(one.message, KeyChosen)
        }
        keys = (*keys_of("settings"), *keys_of("rows"), *keys_of("app"))
        assert list(by_key) == list(keys)
        off = [key for key in keys if key.group != "app" and seen.app.front.disabled_reason(key)]
        assert off
        for key, one in by_key.items():
            why = f" ({seen.app.front.disabled_reason(key)})" if key in off else ""
            assert (one.name, one.tail.plain) == (key.label, f"{key.tooltip}{why}")
        (export,) = (one for one in candidates if isinstance(one.message, CommandGiven))
        assert export.name == key_named("agents.export").label
        assert isinstance(export.message, CommandGiven)
        assert export.message.command == ExportData()
        hits = [hit async for hit in ActionsProvider(seen.app.screen).discover()]
        assert [hit.text for hit in hits] == [key.label for key in keys if key not in off]


async def test_actions_of_other_screens_are_found_and_lead_there() -> None:
    async with running(STATE, first="portfolio") as seen:
        await seen.press("ctrl+p")
        await seen.press(*"follow a wallet")
        await seen.until(lambda: "on reactor" in seen.text)
        await seen.press("down", "enter")
        await seen.until(lambda: seen.app.front.name_in_keys == "reactor")
        await seen.press("ctrl+p")
        await seen.press(*"zzqqzz")
        await seen.until(lambda: "No matches found" in seen.text)


async def test_markets_positions_agents_and_settings_lead_to_their_rows() -> None:
    assert STATE.fleet is not None
    held = replace(STATE.positions[0], venue=Venue.EVM, status=MarketStatus.ACTIVE)
    closed = replace(held, market_id="gone", status=MarketStatus.RESOLVED)
    async with running(replace(STATE, on_venues=(held, closed))) as seen:
        shown = (*STATE.positions, held)
        positions = offered(seen, PositionsProvider)
        assert leads(positions) == [("portfolio", one.key) for one in shown]
        assert [one.tail.plain for one in positions] == [one.side.value.upper() for one in shown]
        assert leads(offered(seen, MarketsProvider)) == [("markets", one) for one in STATE.markets]
        agents = offered(seen, AgentsProvider)
        assert leads(agents) == [("agents", one.agent_id) for one in STATE.fleet.agents]
        assert [one.name for one in agents] == [one.name for one in STATE.fleet.agents]
        rows = offered(seen, SettingsProvider)
        assert all(name == "settings" and row for name, row in leads(rows))
        assert any(one.tail.plain == "paper" for one in rows)
        await seen.bring(replace(STATE, fleet=None))
        assert offered(seen, AgentsProvider) == ()


async def test_the_tour_is_offered_and_in_a_drill_its_page_and_its_end() -> None:
    async with running(STATE) as seen:
        (tour,) = offered(seen, DrillsProvider)
        assert isinstance(tour.message, TourRequested)
        await seen.bring(replace(STATE, drill=DrillView("crash", "Crash", "It falls.", 8)))
        asked = [one.message for one in offered(seen, DrillsProvider)]
        assert [(one.name, one.ends) for one in asked if isinstance(one, DrillRequested)] == [
            ("", False),
            ("", True),
        ]


async def test_a_session_is_begun_and_where_its_repository_is_ended_and_begun_anew() -> None:
    here = session_of(skill="momentum", repository="/r")
    away = session_of(skill="news", repository="")
    research = replace(STATE.research, sessions=(here, away))
    async with running(replace(STATE, research=research)) as seen:
        candidates = offered(seen, SessionsProvider)
        assert [one.name for one in candidates] == [
            "/autoresearch status", "/autoresearch momentum", "/autoresearch off momentum",
            "/autoresearch reset momentum", "/autoresearch news",
        ]  # fmt: skip
        assert [row for _, row in leads(candidates)] == [
            None, f"{NEW_SESSION}{here.key}", f"{NEW_SESSION}{away.key}",
        ]  # fmt: skip
        given = [one.message.command for one in candidates if isinstance(one.message, CommandGiven)]
        assert given == [EndSession("momentum"), ResetSession("momentum")]
        await seen.bring(replace(STATE, research=replace(research, sessions=())))
        bare = offered(seen, SessionsProvider)
        assert [one.name for one in bare][1:] == ["/autoresearch SKILL"]
        assert leads(bare)[1] == ("research", NEW_SESSION)


async def test_the_present_theme_is_first_so_that_opening_changes_nothing() -> None:
    async with running(STATE) as seen:
        hits = [hit async for hit in ThemesProvider(seen.app.screen).discover()]
        assert [hit.text for hit in hits][:2] == ["paper", seen.app.theme_names[0]]
        assert str(hits[0].display) == "paper"
        hits[1].command()
        await seen.until(lambda: bool(seen.doors.submitted))
        assert seen.doors.submitted == [SetPreference("theme", seen.app.theme_names[0])]


@pytest.mark.parametrize("typed", ["ilkay", "\u0130lkay", "score's", "score\u2019s 2026-27",
                                   "https://evm-venue.example/event/will-ilkay-3-5",
                                   "<evm-venue.example/event/WILL-ILKAY-3-5>"])  # fmt: skip
async def test_a_market_is_found_by_what_looks_like_it_and_by_its_address(typed: str) -> None:
    first = next(iter(STATE.markets.values()))
    market = replace(
        first,
        market_id="m-1",
        question="Will \u0130lkay\u2019s score\u2019s 2026\u201327 be best?",
        url="https://evm-venue.example/event/will-ilkay-3-5",
    )
    many = {
        f"m-{place}": replace(first, market_id=f"m-{place}", question=f"Rain {place}?", url="")
        for place in range(2, 2 * HITS_MAX)
    }
    async with running(replace(STATE, markets={"m-1": market, **many})) as seen:
        provider = MarketsProvider(seen.app.screen)
        (hit,) = [hit async for hit in provider.search(typed)]
        assert hit.text == market.question
        style = provider.match_style or "bold"
        assert hit.match_display.plain.startswith("market    Will")
        assert any(span.style == style for span in hit.match_display.spans) is ("/" not in typed)
        # No more are shown than a person looks through, and equal ones keep their order.
        rain = [hit async for hit in provider.search("rain")]
        assert len(rain) == HITS_MAX
        assert [hit.text for hit in rain[:3]] == ["Rain 2?", "Rain 3?", "Rain 4?"]
        scores = [hit.score for hit in rain]
        assert scores == sorted(scores, reverse=True)
        rain[1].command()
        await seen.until(lambda: seen.app.front.current_row() == "m-3")


@pytest.mark.slow
async def test_who_looks_for_stop_finds_the_halt() -> None:
    async with running(STATE, first="portfolio", size=(120, 40)) as seen:
        await seen.press("ctrl+p", *"stop")
        await seen.until(lambda: "Stop all buys at once" in seen.text)
        (line,) = (line for line in seen.lines if "Stop all buys at once" in line)
        assert line.split()[1:3] == ["F9", "halt"]
