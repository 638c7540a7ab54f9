"""Results of `:` by text: actions, markets, positions, agents, settings, sessions, themes."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from heapq import nlargest
from typing import Final

from rich.text import Text
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.message import Message
from textual.style import Style

from service_tui.console import formats
from service_tui.console.keys import KeyBinding, key_named, keys_of, shown_key
from service_tui.console.market_pages import meant_by, page_name
from service_tui.console.messages import (
    NEW_SESSION,
    CommandGiven,
    DrillRequested,
    GoTo,
    KeyChosen,
    OwnCommandChosen,
    TourRequested,
)
from service_tui.console.screens.settings.table import THEME, settings
from service_tui.console.theme import content
from service_tui.console.widgets.deck import Deck
from service_tui.console.widgets.key_bar import screen_keys
from service_tui.console.widgets.numbered_view import NumberedView
from service_tui.desk.commands.agents import ExportData
from service_tui.desk.commands.research import EndSession, ResetSession
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.own_notes import day_text, notes_of
from service_tui.desk.slices.own_notes import NoteOn
from service_tui.folding import folded, folded_with_places

HITS_MAX: Final = 15
"""Most rows of one kind: a person still looks through these."""

CHUNK: Final = 250
"""Candidates between two turns of the loop: a few milliseconds."""

NAME_MAX: Final = 64
"""Letters of a name that fit beside the rest."""

SLASH: Final = "/autoresearch"

_CATEGORY_CELLS: Final = 10
"""Cells before the name: its category and a figure."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One possible result.

    Args:
        name: matched and shown.
        category: shown before it.
        message: posted when it is chosen.
        tail: shown behind it.
        also: more words by which it is found, not shown as its name.
    """

    name: str
    category: Text
    message: Message
    tail: Text = field(default_factory=Text)
    also: str = ""


class DeskProvider(Provider):
    """A provider that ranks candidates, shows the best, and posts the message of the chosen one."""

    @property
    def front(self) -> NumberedView:
        """The screen that the palette was opened over."""
        return self.screen.query_one(Deck).front

    def candidates(self) -> Iterable[Candidate]:
        """All candidates."""
        return ()

    async def search(self, query: str) -> Hits:
        """The best matches; the console responds during the search.

        Yields:
            At most `HITS_MAX` hits.
        """
        text = folded(meant_by(query)).split()
        ranked: list[tuple[float, int, Candidate]] = []
        for place, candidate in enumerate(self.candidates()):
            if place % CHUNK == CHUNK - 1:
                await asyncio.sleep(0)
            score = score_of(candidate, text)
            if score > 0:
                ranked.append((score, -place, candidate))
        for score, _, result in nlargest(HITS_MAX, ranked, key=lambda each: each[:2]):
            line = hit_line(result, matched_places(result.name, text), self.match_style or "bold")
            yield Hit(score, line, self._post(result.message), text=result.name)

    def _post(self, message: Message) -> partial[bool]:
        return partial(self.screen.post_message, message)


class ActionsProvider(DeskProvider):
    """Every action that a key performs here, and disabled ones with the reason."""

    def candidates(self) -> Iterable[Candidate]:
        """The actions of the screen in front, of lists, and of the app."""
        keys = self._keys()
        candidates = [_action(key, self._disabled_reason(key)) for key in keys]
        export = key_named("agents.export")
        if export not in keys:
            # It needs no row: it works from everywhere.
            given = CommandGiven(ExportData())
            shown = Text(f"{shown_key(key_named('app.agents'))} {shown_key(export)}", "accent")
            candidates.append(Candidate(export.label, shown, given, Text(export.tooltip, "muted")))
        return [*candidates, *self._own(), *self._elsewhere()]

    def _own(self) -> Iterator[Candidate]:
        """The commands of the person's own that work on the screen in front."""
        for name, cap, does in self.front.program.own_commands():
            tail = Text(formats.plain(does, NAME_MAX).plain, "muted")
            yield Candidate(name, Text(cap, "accent"), OwnCommandChosen(name), tail, does)

    def _elsewhere(self) -> Iterator[Candidate]:
        """The actions of the other screens; a choice shows the screen, where the key works."""
        for screen in screen_keys():
            # The action is `go('NAME')`.
            name = screen.action.split("'")[1]
            if name == self.front.name_in_keys:
                continue
            for key in keys_of(name):
                keys = Text(f"{shown_key(screen)} {shown_key(key)}", "accent")
                tail = Text(f"on {screen.label}; {key.tooltip or key.label}", "muted")
                yield Candidate(key.label, keys, GoTo(name), tail, key.tooltip)

    async def discover(self) -> Hits:
        """The actions that work here, before anything is typed.

        Yields:
            The actions in the order of the key table, the screen's own first.
        """
        for key in self._keys():
            if not self._disabled_reason(key):
                result = _action(key, "")
                yield DiscoveryHit(hit_line(result), self._post(result.message), text=result.name)

    def _keys(self) -> tuple[KeyBinding, ...]:
        groups = (self.front.name_in_keys, "rows", "app")
        return tuple(key for group in groups for key in keys_of(group))

    def _disabled_reason(self, key: KeyBinding) -> str:
        return "" if key.group == "app" else self.front.disabled_reason(key)


class MarketsProvider(DeskProvider):
    """Any market by its question; a choice shows it on the markets screen."""

    def candidates(self) -> Iterable[Candidate]:
        """All markets."""
        for market in self.front.state.markets.values():
            where = GoTo("markets", market.market_id)
            tail = formats.price(market.price)
            name = page_name(market)
            yield Candidate(market.question, Text("market", "muted"), where, tail, name)


class NotesProvider(DeskProvider):
    """Any note of one's own by its text; a choice shows what it is on."""

    def candidates(self) -> Iterable[Candidate]:
        """The notes of the person at this console, unless amounts are masked."""
        if self.front.view.masked:
            return
        for note in notes_of(self.front.state):
            noted = note.noted
            if noted.on is NoteOn.DAY:
                where, tail = GoTo("timeline"), day_text(noted.key)
            else:
                where, tail = GoTo("markets", noted.market_id), noted.about
            shown = Text(formats.plain(tail, NAME_MAX).plain, "muted")
            yield Candidate(note.text, Text("own note", "muted"), where, shown, tail)


class PositionsProvider(DeskProvider):
    """Any open position by its question; a choice shows it in the portfolio."""

    def candidates(self) -> Iterable[Candidate]:
        """All open positions."""
        state = self.front.state
        for held in (
            *state.positions,
            *(position for position in state.on_venues if not position.is_closed),
        ):
            side = Text(held.side.value.upper(), held.side.value)
            where = GoTo("portfolio", held.key)
            yield Candidate(held.question, Text("position", "muted"), where, side)


class AgentsProvider(DeskProvider):
    """Any agent by its name; a choice shows it on the agents screen."""

    def candidates(self) -> Iterable[Candidate]:
        """All agents of the service."""
        fleet = self.front.state.fleet
        for agent in () if fleet is None else fleet.agents:
            where = GoTo("agents", agent.agent_id)
            yield Candidate(agent.name, Text("agent", "muted"), where)


class SettingsProvider(DeskProvider):
    """Every setting by its name; a choice shows it on the settings screen."""

    def candidates(self) -> Iterable[Candidate]:
        """The rows of the settings."""
        front = self.front
        theme = front.state.preferences.get(THEME, "")
        for row in settings(front.view, theme):
            where = GoTo("settings", row.key)
            tail = Text(row.value.plain, "muted")
            yield Candidate(row.name, Text("setting", "muted"), where, tail, row.meaning)


class DrillsProvider(DeskProvider):
    """The tour, and every drill by its title; a drill ends this console and plays in its place."""

    def candidates(self) -> Iterable[Candidate]:
        """The drills, or in a drill its page and its end."""
        category = Text("drill", "muted")
        if self.front.state.drill is not None:
            yield Candidate("drill: brief or result", category, DrillRequested())
            yield Candidate("drill: end now, without a score", category, DrillRequested(ends=True))
            return
        tour = Text("step by step, with play money", "muted")
        yield Candidate(
            "tour: allow, pause, halt, replay, trade", Text("tour", "muted"), TourRequested(), tour
        )
        tail = Text("ends this console", "muted")
        for name, title in self.front.program.drills():
            yield Candidate(f"drill: {title}", category, DrillRequested(name), tail, name)


class SessionsProvider(DeskProvider):
    """The old slash commands of autoresearch, for each session whose repository is here.

    Source: spec, "Autoresearch MCP server".
    """

    def candidates(self) -> Iterable[Candidate]:
        """The status of sessions, a new session, and for each its end and its new baseline."""
        category = Text("research", "muted")
        status = Text("session status", "muted")
        yield Candidate(f"{SLASH} status", category, GoTo("research"), status)
        for session in self.front.state.research.sessions:
            skill = session.skill
            begin = GoTo("research", f"{NEW_SESSION}{session.key}")
            yield Candidate(f"{SLASH} {skill}", category, begin, Text("a new session", "muted"))
            if session.repository:
                off = CommandGiven(EndSession(skill))
                reset = CommandGiven(ResetSession(skill))
                until = Text("until a new session", "muted")
                yield Candidate(f"{SLASH} off {skill}", category, off, until)
                fresh = Text("new baseline, clears a pause", "muted")
                yield Candidate(f"{SLASH} reset {skill}", category, reset, fresh)
        if not self.front.state.research.sessions:
            begin = GoTo("research", NEW_SESSION)
            yield Candidate(f"{SLASH} SKILL", category, begin, Text("a new session", "muted"))


class ThemesProvider(DeskProvider):
    """The themes; a choice stores one."""

    def candidates(self) -> Iterable[Candidate]:
        """The present theme first, so that opening changes nothing."""
        names = self.front.program.theme_names
        used = self.front.state.preferences.get("theme", "")
        for name in sorted(names, key=lambda name: name != used):
            yield Candidate(name, Text(), CommandGiven(SetPreference("theme", name)))

    async def discover(self) -> Hits:
        """All themes.

        Yields:
            The themes.
        """
        for result in self.candidates():
            yield DiscoveryHit(hit_line(result), self._post(result.message), text=result.name)


def _action(key: KeyBinding, why: str) -> Candidate:
    tail = Text(key.tooltip, "muted")
    if why:
        tail.append(f" ({why})")
    shown = Text(shown_key(key), "accent")
    return Candidate(key.label, shown, KeyChosen(key), tail, key.tooltip)


def hit_line(candidate: Candidate, offsets: Sequence[int] = (), style: str | Style = "") -> Content:
    """One hit on one line: its category, its name with the matched letters, the tail."""
    name = formats.plain(candidate.name, NAME_MAX).plain
    shown = Content(name)
    for offset in offsets:
        if offset < len(name):
            shown = shown.stylize(style, offset, offset + 1)
    if not candidate.category.plain:
        return shown
    category = content(candidate.category)
    gap = " " * max(1, _CATEGORY_CELLS - category.cell_length)
    return Content.assemble(category, gap, shown, "  ", content(candidate.tail))


def score_of(candidate: Candidate, terms: Sequence[str]) -> float:
    """Score of a candidate: all words must occur; beginnings of words score best.

    Returns:
        0 if a word is missing; more for words of the name than for those beside it.
    """
    name, also, score = folded(candidate.name), folded(candidate.also), 0.0
    for word in terms:
        begins = f" {word}"
        if word in name:
            score += 4.0 if begins in f" {name}" else 2.0
        elif word in also:
            score += 1.0 if begins in f" {also}" else 0.5
        else:
            return 0.0
    return score + len("".join(terms)) / (1 + len(name))


def matched_places(name: str, terms: Sequence[str]) -> list[int]:
    """Places of the matched letters, at the first match of each word."""
    text, places = folded_with_places(name)
    starts = ((text.find(word), len(word)) for word in terms)
    return [place for start, size in starts if start >= 0 for place in places[start : start + size]]
