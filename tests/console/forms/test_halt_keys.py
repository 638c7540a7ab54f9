"""What each key of the panel of a halt does, without an app."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from kit.console.unopened import Unopened, unopened
from kit.samples.desk import NOW, sample_state
from service_tui.console.forms import halt
from service_tui.console.forms.halt import EXIT_WORD, HaltPanel, resume_text
from service_tui.console.forms.halt_text import LISTED_MAX, exits_question, sold_and_kept
from service_tui.console.forms.typed_word import TypedWord
from service_tui.desk.commands.halt import RESUME_WORD, ExitAll, Resume
from service_tui.desk.slices.halt import AckState, AckView, HaltView
from service_tui.desk.slices.topics import Topic
from service_tui.terms import Venue
from service_tui.units import Timestamp

ACKS = (AckView("gate", "buys blocked", AckState.DONE), AckView("service", "agents refused"))
VIEW = HaltView(Timestamp(NOW - 12), ACKS)
STATE = replace(sample_state(), halt=VIEW)
Panel = Unopened[HaltPanel]


@pytest.fixture
def rested(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Why keys were told to rest."""
    found: list[str] = []
    monkeypatch.setattr(halt, "rest_keys", lambda _, why: found.append(why))
    return found


@pytest.fixture
def t() -> Iterator[Panel]:
    with unopened(HaltPanel(STATE, NOW)) as seen:
        yield seen


def test_a_halt_that_ended_closes_the_panel_once_and_rests_the_keys(
    t: Panel, rested: list[str]
) -> None:
    t.form.take(replace(STATE, halt=VIEW), NOW)
    assert (t.returned, rested) == ([], [])
    for _ in range(2):
        t.form.take(replace(STATE, halt=None), NOW)
    t.form.action_close()
    assert (t.returned, rested) == ([None], ["halt ended: last keys ignored"])


def test_leaving_closes_the_panel_once_and_sends_nothing(t: Panel, rested: list[str]) -> None:
    message = t.press("halt-close")
    t.form.action_close()
    t.form.take(replace(STATE, halt=None), NOW)
    assert message._stop_propagation
    assert (t.returned, t.given, rested) == ([None], [], [])


def test_the_panel_shows_the_newest_state_of_each_source(t: Panel) -> None:
    assert "buys blocked" in t.text("halt-text")
    late = replace(ACKS[1], what="agents refused by the service")
    t.form.take(replace(STATE, halt=replace(VIEW, acks=(ACKS[0], late))), Timestamp(NOW + 60))
    assert "agents refused by the service" in t.text("halt-text")


def test_everything_is_sold_only_after_the_word_and_only_what_was_listed(t: Panel) -> None:
    sold, _ = sold_and_kept(STATE)
    assert not t.is_disabled("halt-exit")
    t.press("halt-exit")
    ((dialog, answered),) = t.opened
    assert isinstance(dialog, TypedWord)
    assert dialog._word == EXIT_WORD
    assert answered is not None
    t.form.take(replace(STATE, positions=STATE.positions[:1]), NOW)
    for word in (None, "", "exit"):
        answered(word)
        assert t.given == []
    answered(EXIT_WORD)
    assert t.given == [ExitAll(tuple(one.key for one in sold))]


def test_a_halt_is_ended_only_after_its_word(t: Panel) -> None:
    t.press("halt-resume")
    ((dialog, answered),) = t.opened
    assert isinstance(dialog, TypedWord)
    assert dialog._word == RESUME_WORD
    assert answered is not None
    answered(None)
    assert t.given == []
    answered(RESUME_WORD)
    assert t.given == [Resume(RESUME_WORD)]
    # What is missing is told as it is when the word is typed.
    done = replace(STATE, halt=replace(VIEW, acks=ACKS[:1]))
    with unopened(dialog) as question:
        assert "Halt: 1 acknowledgement missing." in question.text("word-text")
        question.form.take(done, NOW)
        assert "missing" not in question.text("word-text")


def test_a_resumption_without_a_halt_of_this_desk_misses_nothing() -> None:
    assert "missing" not in resume_text(replace(STATE, halt=None)).plain
    two = replace(STATE, halt=replace(VIEW, acks=(*ACKS, ACKS[1])))
    assert "Halt: 2 acknowledgements missing." in resume_text(two).plain


HELD = STATE.positions[0]
ON_VENUE = replace(HELD, venue=Venue.EVM)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"halt": None}, "this desk is not halted"),
        ({"service": replace(STATE.service, read_only=True)}, "this desk is read-only: no sales"),
        ({"positions": ()}, "no open positions"),
        (
            {"positions": (), "seen": {one: NOW for one in Topic if one is not Topic.POSITIONS}},
            "positions not loaded yet",
        ),
        (
            {
                "positions": (),
                "on_venues": (ON_VENUE,),
                "wallet": replace(STATE.wallet, live=False),
            },
            "live positions cannot be sold now: LIVE is off or the market is closed",
        ),
        (
            {
                "positions": (),
                "on_venues": (ON_VENUE,),
                "wallet": replace(STATE.wallet, live=True),
            },
            "",
        ),
        ({"on_venues": (ON_VENUE,), "wallet": replace(STATE.wallet, live=False)}, ""),
    ],
)
def test_what_cannot_be_sold_now_says_why_and_its_button_is_off(
    changes: dict[str, Any], said: str
) -> None:
    known = {"seen": dict.fromkeys(Topic, NOW), **changes}
    with unopened(HaltPanel(replace(STATE, **known), NOW)) as t:
        assert t.is_disabled("halt-exit") is bool(said)
        t.form.action_exit_all()
        assert [text.startswith(said) for text in t.said] == ([True] if said else [])
        assert len(t.opened) == (not said)


def test_the_text_scrolls_by_lines(t: Panel) -> None:
    t.form.action_lines(1)
    assert t.scrolled == [("halt-body", 1.0)]


def test_of_many_positions_the_question_lists_some_and_counts_the_rest() -> None:
    for count in (LISTED_MAX, LISTED_MAX + 3):
        held = tuple(
            replace(HELD, market_id=f"m-{place}", question=f"Question {place}?")
            for place in range(count)
        )
        body = exits_question(STATE, held).plain
        assert body.count("Question ") == LISTED_MAX
        assert ("   and 3 more" in body) is (count > LISTED_MAX)
        assert f"Sells {count} positions in full" in body
