"""Puts a question, its criteria and its headlines into words.

Two open markets never read the same: the slots of a category share out the subjects of every topic,
and a slot takes another topic each time.
"""

import math
from datetime import UTC, datetime
from typing import Final, NamedTuple
from zlib import crc32

from service_tui.engine.tape.draws import Draws, mix, unit
from service_tui.engine.tape.slots import SHARES, Slot
from service_tui.engine.tape.topics import Level, QuestionTopic, Scope, Topics
from service_tui.units import Timestamp

_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
# Not strftime: its month names follow the machine's language.

_FIGURES: Final = 3
"""Digits that a level without a step shows."""


class Wording(NamedTuple):
    """A market in plain English, and what its headlines need to stay with the same story."""

    question: str
    criteria: str
    tags: tuple[str, ...]
    topic: QuestionTopic
    gaps: dict[str, str]
    level: float


def word(topics: Topics, slot: Slot, number: int, *, seed: int, closes: Timestamp) -> Wording:
    """The question of the slot's market of this number.

    Args:
        topics: what the markets of the world are about.
        slot: its place; the category, the length and the share of subjects come from it.
        number: which market of the slot.
        seed: the world.
        closes: when it may resolve; on a whole minute.

    Returns:
        The texts; the same for the same arguments.
    """
    scope = slot.clock.scope
    draws = Draws(seed, slot.index, number, crc32(b"words"))
    own = topics.of(slot.category, scope)
    # In turn, not by lot: the next market of a slot, which may open early, is about something else.
    turn = slot.share if slot.event is None else slot.event
    topic = own[(number + 3 * turn + seed) % len(own)]
    subject = _subject(topic, slot, seed=seed, draws=draws)
    level = 0.0
    gaps = {
        "subject": subject,
        "rival": _rival(topic, subject, draws),
        **{gap: draws.pick(words) for gap, words in topic.words.items()},
        **_dates(closes, scope),
    }
    if topic.level is not None:
        level = _level(topic.level, usual=unit(mix(seed, crc32(subject.encode())), 1), draws=draws)
        gaps["level"] = figure(level, topic.level.step)
    return Wording(
        _filled(draws.pick(topic.questions), gaps),
        _filled(topic.criteria, gaps),
        (slot.category.value, topic.tag, scope.value),
        topic,
        gaps,
        level,
    )


def headline(wording: Wording, *, rising: bool, chance: float, turn: int) -> str:
    """A line of news about a market.

    Args:
        wording: the market's words.
        rising: whether the news speaks for YES.
        chance: the chance of YES after it; figures in the line stand where this puts them.
        turn: counts the lines of a market, so that they differ.

    Returns:
        One line, at most 160 characters.
    """
    topic = wording.topic
    lines = topic.raises if rising else topic.lowers
    gaps = wording.gaps
    if topic.level is not None:
        level = topic.level
        share = level.unlikely + (level.likely - level.unlikely) * chance
        gaps = {**gaps, "reading": figure(wording.level * share, level.step)}
    text = _filled(lines[turn % len(lines)], gaps)
    return text[0].upper() + text[1:]


def figure(value: float, step: float) -> str:
    """A number in whole steps, or in three figures where the step is 0; thousands set apart."""
    if step <= 0:
        digits = _FIGURES - 1 - math.floor(math.log10(value))
        return f"{round(value, digits):,.{max(0, digits)}f}"
    digits = max(0, math.ceil(-math.log10(step)))
    return f"{round(value / step) * step:,.{digits}f}"


def _filled(template: str, gaps: dict[str, str]) -> str:
    """A template with its gaps filled; names in s take the short possessive."""
    return template.format_map(gaps).replace("s's ", "s' ")


def _subject(topic: QuestionTopic, slot: Slot, *, seed: int, draws: Draws) -> str:
    """One of the slot's own subjects."""
    subjects = topic.subjects
    own = range(slot.share, len(subjects), SHARES)
    # Each topic shares its subjects out from another place, so that a slot does not stay in one
    # part of the country.
    shift = mix(seed, crc32(topic.tag.encode())) % len(subjects)
    return subjects[(draws.pick(own) + shift) % len(subjects)]


def _rival(topic: QuestionTopic, subject: str, draws: Draws) -> str:
    rival = draws.pick(topic.subjects)
    while rival == subject:
        rival = draws.pick(topic.subjects)
    return rival


def _level(level: Level, *, usual: float, draws: Draws) -> float:
    """The figure in the question: near what is usual for the subject."""
    # A subject has one place between low and high in all topics, so that two questions about the
    # same price agree on where it stands.
    anchor = level.low * (level.high / level.low) ** usual
    return anchor * (1.0 + level.spread * draws.between(-1.0, 1.0))


def _dates(closes: Timestamp, scope: Scope) -> dict[str, str]:
    """The deadline in the words that its distance calls for."""
    then = datetime.fromtimestamp(closes, UTC)
    month = _MONTHS[then.month - 1]
    clock = f"{then:%H:%M} UTC"
    match scope:
        case Scope.MINUTES | Scope.HOURS:
            deadline, at = clock, f"at {clock}"
        case Scope.DAYS:
            deadline = f"{clock} on {then.day} {month[:3]}"
            at = f"at {deadline}"
        case Scope.WEEKS:
            deadline = f"{then.day} {month}"
            at = f"on {deadline}"
    return {
        "deadline": deadline,
        "by": f"by {deadline}",
        "at": at,
        "close": f"{clock} on {then.day} {month} {then.year}",
    }
