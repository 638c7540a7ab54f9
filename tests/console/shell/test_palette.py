"""What the palette offers, in which order, and what a choice posts."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from rich.text import Text
from textual.command import DiscoveryHit, Hit

from kit.one_method import Self
from kit.samples.desk import NOW
from kit.samples.fleet import fleet_state
from service_tui.console.keys import KeyBinding, key_named, keys_of
from service_tui.console.messages import (
    NEW_SESSION,
    CommandGiven,
    DrillRequested,
    GoTo,
    KeyChosen,
    TourRequested,
)
from service_tui.console.shell import palette
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
)
from service_tui.console.view_context import ViewContext
from service_tui.desk.commands.agents import ExportData
from service_tui.desk.commands.research import EndSession, ResetSession
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.state import DeskState
from service_tui.terms import MarketStatus, Venue

STATE = replace(fleet_state(), preferences={"theme": "paper"}, drill=None)
TOLD = ("app.theme", "rows.filter")


def over(kind: type[DeskProvider], state: DeskState = STATE, **other: Any) -> Any:
    """A provider over a screen in front."""
    front = Self(
        state=state, view=ViewContext.of(state, NOW), name_in_keys="portfolio",
        program=SimpleNamespace(
            theme_names=("night", "paper", "day"), drills=lambda: [("d1", "Flood")],
        ),
        disabled_reason=lambda key: "no rows" if key.group == "rows" else "",
        **other,
    )  # fmt: skip
    made = kind.__new__(kind)
    posted: list[Any] = []
    screen = Self(query_one=lambda _: Self(front=front), post_message=posted.append)
    made.__dict__.update({"_Provider__screen": screen, "screen_": screen, "posted": posted})
    return made


@pytest.fixture(autouse=True)
def screens(monkeypatch: pytest.MonkeyPatch) -> None:
    """The screen is the one that a test gives; no app styles the matches."""
    monkeypatch.setattr(DeskProvider, "screen", property(lambda it: it.screen_))
    monkeypatch.setattr(DeskProvider, "match_style", None)


class Given(DeskProvider):
    """Candidates that a test gives."""

    given: tuple[Candidate, ...] = ()

    def candidates(self) -> tuple[Candidate, ...]:
        return self.given


def named(name: str, also: str = "") -> Candidate:
    return Candidate(name, Text("kind", "muted"), GoTo("markets", name), Text("tail"), also)


async def found(query: str, *given: Candidate) -> list[Hit]:
    made = over(Given)
    made.given = given
    return [hit async for hit in made.search(query)]


async def test_nothing_is_offered_where_there_is_nothing() -> None:
    assert tuple(over(DeskProvider).candidates()) == ()
    assert await found("rain", named("snow")) == []


async def test_the_best_match_is_first_and_equal_ones_keep_their_order() -> None:
    given = (
        named("a word that holds brain", ""), named("snow", "brain"), named("snow two", "rain"),
        named("it will rain at dawn"), named("rain"), named("rain"), named("it will rain at noon"),
        named("drains"),
    )  # fmt: skip
    hits = await found("rain", *given)
    assert [hit.text for hit in hits] == [
        # Whole words of the name, the shorter first; then beginnings inside; then what is beside.
        "rain", "rain", "it will rain at dawn", "it will rain at noon", "drains",
        "a word that holds brain", "snow two", "snow",
    ]  # fmt: skip
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)


async def test_every_word_must_occur_in_the_name_or_beside_it() -> None:
    given = (named("rain at dawn", "wet"), named("rain at noon"))
    assert [hit.text for hit in await found("RAIN dawn", *given)] == ["rain at dawn"]
    assert [hit.text for hit in await found("rain wet", *given)] == ["rain at dawn"]
    assert await found("rain dry", *given) == []


async def test_no_more_are_shown_than_a_person_looks_through() -> None:
    hits = await found("rain", *(named(f"rain {place}") for place in range(2 * HITS_MAX)))
    assert [hit.text for hit in hits] == [f"rain {place}" for place in range(HITS_MAX)]


async def test_other_work_gets_its_turn_while_many_are_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(palette, "CHUNK", 2)
    turns: list[float] = []

    async def turn(seconds: float) -> None:
        turns.append(seconds)

    monkeypatch.setattr(palette, "asyncio", SimpleNamespace(sleep=turn))
    await found("rain", *(named("rain") for _ in range(10)))
    assert turns == [0] * 5


async def test_a_hit_marks_its_letters_and_posts_its_message() -> None:
    made = over(Given)
    made.given = (named("brain rain"),)
    (hit,) = [hit async for hit in made.search("rain br")]
    # A category, two cells at least before the name, and the tail behind it.
    assert hit.match_display.plain == "kind      brain rain  tail"
    marked = [
        (span.start - 10, span.end - 10) for span in hit.match_display.spans if span.style == "bold"
    ]
    letters = {place for start, end in marked for place in range(start, end)}
    assert letters == {0, 1, 2, 3, 4}
    hit.command()
    (message,) = made.posted
    assert (message.screen_name, message.row) == ("markets", "brain rain")


def told(candidates: Any) -> list[tuple[str, str, str]]:
    return [(one.name, one.category.plain, one.tail.plain) for one in candidates]


def test_every_action_is_offered_with_its_key_and_why_it_is_off() -> None:
    candidates = over(ActionsProvider).candidates()
    keys = (*keys_of("portfolio"), *keys_of("rows"), *keys_of("app"))
    by_key: dict[KeyBinding, Candidate] = {
        one.message.key: one for one in candidates if isinstance(one.message, KeyChosen)
    }
    assert list(by_key) == list(keys)
    for key, one in by_key.items():
        why = " (no rows)" if key.group == "rows" else ""
        assert (one.name, one.tail.plain) == (key.label, f"{key.tooltip}{why}")
    (export,) = (one for one in candidates if not isinstance(one.message, KeyChosen))
    assert export.name == key_named("agents.export").label
    assert export.message.command == ExportData()


async def test_before_anything_is_typed_only_what_works_here_is_listed() -> None:
    made = over(ActionsProvider)
    hits: list[DiscoveryHit] = [hit async for hit in made.discover()]
    keys = (*keys_of("portfolio"), *keys_of("app"))
    assert [hit.text for hit in hits] == [key.label for key in keys]
    hits[0].command()
    assert made.posted[0].key == keys[0]


def test_markets_positions_agents_and_settings_lead_to_their_rows() -> None:
    closed = replace(STATE.positions[0], venue=Venue.EVM, status=MarketStatus.RESOLVED)
    held = replace(STATE.positions[0], venue=Venue.EVM, status=MarketStatus.ACTIVE)
    for on_venues, more in (((), ()), ((held,), (held,)), ((closed,), ())):
        state = replace(STATE, on_venues=on_venues)
        candidates = tuple(over(PositionsProvider, state).candidates())
        shown = (*state.positions, *more)
        if on_venues and on_venues[0].is_closed:
            assert not more
        assert [(one.message.screen_name, one.message.row) for one in candidates] == [
            ("portfolio", one.key) for one in shown
        ]
        assert [one.tail.plain for one in candidates] == [one.side.value.upper() for one in shown]
    markets = tuple(over(MarketsProvider).candidates())
    assert [one.message.row for one in markets] == list(STATE.markets)
    assert {one.message.screen_name for one in markets} == {"markets"}
    assert STATE.fleet is not None
    agents = tuple(over(AgentsProvider).candidates())
    assert [(one.name, one.message.row) for one in agents] == [
        (one.name, one.agent_id) for one in STATE.fleet.agents
    ]
    assert tuple(over(AgentsProvider, replace(STATE, fleet=None)).candidates()) == ()
    rows = tuple(over(SettingsProvider).candidates())
    assert {one.message.screen_name for one in rows} == {"settings"}
    assert all(one.also and one.message.row for one in rows)
    assert any(one.tail.plain == "paper" for one in rows)


def test_drills_and_the_tour_are_offered_and_in_a_drill_its_page_and_its_end() -> None:
    tour, drill = over(DrillsProvider).candidates()
    assert isinstance(tour.message, TourRequested)
    assert (drill.name, drill.also) == ("drill: Flood", "d1")
    assert isinstance(drill.message, DrillRequested)
    assert (drill.message.name, drill.message.ends) == ("d1", False)
    within = replace(STATE, drill=Self())  # type: ignore[arg-type]
    page, end = over(DrillsProvider, within).candidates()
    assert [(one.message.name, one.message.ends) for one in (page, end)] == [
        ("", False), ("", True),
    ]  # fmt: skip


def test_a_session_is_begun_and_where_its_repository_is_ended_and_begun_anew() -> None:
    sessions = (
        Self(skill="momentum", key="k1", repository="/r"),
        Self(skill="news", key="k2", repository=""),
    )  # fmt: skip
    research = replace(STATE.research, sessions=sessions)  # type: ignore[arg-type]
    candidates = tuple(over(SessionsProvider, replace(STATE, research=research)).candidates())
    assert [name for name, *_ in told(candidates)] == [
        "/autoresearch status", "/autoresearch momentum", "/autoresearch off momentum",
        "/autoresearch reset momentum", "/autoresearch news",
    ]  # fmt: skip
    assert [one.message.row for one in candidates if isinstance(one.message, GoTo)] == [
        None, f"{NEW_SESSION}k1", f"{NEW_SESSION}k2",
    ]  # fmt: skip
    given = [one.message.command for one in candidates if isinstance(one.message, CommandGiven)]
    assert given == [EndSession("momentum"), ResetSession("momentum")]
    none = replace(STATE, research=replace(STATE.research, sessions=()))
    bare = tuple(over(SessionsProvider, none).candidates())
    assert told(bare)[1:] == [("/autoresearch SKILL", "research", "a new session")]
    assert bare[1].message.row == NEW_SESSION


async def test_the_present_theme_is_first_so_that_opening_changes_nothing() -> None:
    made = over(ThemesProvider)
    hits = [hit async for hit in made.discover()]
    assert [hit.text for hit in hits] == ["paper", "night", "day"]
    assert str(hits[0].display) == "paper"
    hits[1].command()
    assert made.posted[0].command == SetPreference("theme", "night")


@pytest.mark.parametrize(
    "typed",
    [
        "ilkay", "\u0130lkay", "score's", "score\u2019s 2026-27",
        "https://evm-venue.example/event/will-ilkay-3-5",
        "<evm-venue.example/event/WILL-ILKAY-3-5>",
    ],
)  # fmt: skip
async def test_a_market_is_found_by_what_looks_like_it_and_by_its_address(typed: str) -> None:
    market = replace(
        next(iter(STATE.markets.values())),
        market_id="m-1",
        question="Will \u0130lkay\u2019s score\u2019s 2026\u201327 be best?",
        url="https://evm-venue.example/event/will-ilkay-3-5",
    )
    other = replace(market, market_id="m-2", question="Will it rain?", url="")
    provider = over(MarketsProvider, replace(STATE, markets={"m-1": market, "m-2": other}))
    hits = [hit async for hit in provider.search(typed)]
    assert [hit.text for hit in hits] == [market.question]
