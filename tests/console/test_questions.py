"""What lists call a market: shorter where a column has the rest, and whole at both ends."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from service_tui.app.topics import load_topics
from service_tui.console.formats import date_time
from service_tui.console.questions import (
    FORMS,
    names_of,
    short_question,
    shorter_names,
    side_question,
)
from service_tui.console.widgets.columns import fitted
from service_tui.engine.tape.questions import word
from service_tui.engine.tape.slots import SLOTS, times_of
from service_tui.terms import Side
from service_tui.units import Timestamp


def at(*moment: int) -> Timestamp:
    return Timestamp(datetime(*moment, tzinfo=UTC).timestamp())


END = at(2026, 1, 15, 18, 5)


@pytest.mark.parametrize(
    ("question", "ends_at", "shown"),
    [
        ("Will Vesta dock with the station by 18:05 UTC?", END, "Vesta docks with the station"),
        ("Will Curlew 3 lift off by 18:05 UTC?", None, "Curlew 3 lifts off by 18:05"),
        # Another time than the column's is part of the question.
        ("Will Curlew 3 lift off by 18:15 UTC?", END, "Curlew 3 lifts off by 18:15"),
        ("Will Lumen trade above $40 at 18:05 UTC on 15 Jan?", END, "Lumen trades above $40"),
        (
            "Will Lumen trade above $40 at 18:05 UTC on 25 Jan?",
            END,
            "Lumen trades above $40 at 18:05 on 25 Jan",
        ),
        (
            "Will storm Isolde strengthen to 181 km/h by 15 January?",
            END,
            "Storm Isolde strengthens to 181 km/h",
        ),
        (
            "Will storm Isolde strengthen to 181 km/h by 3 March?",
            END,
            "Storm Isolde strengthens to 181 km/h by 3 March",
        ),
        (
            "Will Tavland pass the rent bill by 31 December?",
            at(2026, 1, 1),
            "Tavland passes the rent bill",
        ),
        (
            "Will Orlowens' captain return from knee trouble by 3 March?",
            None,
            "Orlowens' captain returns from knee trouble by 3 March",
        ),
        ("Will it be raining in Vessby at 18:05 UTC?", END, "It is raining in Vessby"),
        # Whoever else asks says it in his own words.
        ("Will the Kestrels win the second leg?", None, "Will the Kestrels win the second leg?"),
        ("Will rates be cut by January 15, 2026?", END, "Will rates be cut by January 15, 2026?"),
        ("Who wins the cup?", END, "Who wins the cup?"),
        ("Will ?", None, "Will ?"),
        ("", None, ""),
    ],
)
def test_a_table_leaves_out_what_every_row_or_a_column_has(
    question: str, ends_at: Timestamp | None, shown: str
) -> None:
    assert short_question(question, ends_at) == shown


SHORT_FORMS = dict(
    line.split(" | ") for line in FORMS.read_text("utf-8").splitlines() if not line.startswith("#")
)


def filled(template: str, gaps: dict[str, str]) -> str:
    """A template with the gaps of a question, as the world and the lists write it."""
    try:
        text = template.format_map(gaps).replace("s's ", "s' ")
    except KeyError:
        return ""
    shorter = text if template.startswith("Will ") else text.replace(" UTC", "")
    return shorter[:1].upper() + shorter[1:]


def test_every_question_of_the_offline_world_has_a_short_form() -> None:
    """Each wording of each topic, beside its end and alone."""
    topics = load_topics()
    for seed in range(6):
        for slot in SLOTS:
            for number in range(4):
                closes = times_of(seed, slot, number).resolves_at
                wording = word(topics, slot, number, seed=seed, closes=closes)
                short = short_question(wording.question)
                beside = short_question(wording.question, closes)
                assert not short.startswith("Will "), wording.question
                assert not {"?", "{"} & set(short), wording.question
                assert short.startswith(beside), wording.question
                own = [
                    filled(kept, wording.gaps)
                    for asked, kept in SHORT_FORMS.items()
                    if filled(asked, wording.gaps) == wording.question
                ]
                assert short in own, wording.question


def test_a_topic_and_its_short_forms_go_together() -> None:
    asked = {
        question
        for topics in load_topics().table.values()
        for topic in topics
        for question in topic.questions
    }
    assert SHORT_FORMS.keys() == asked


def test_two_names_that_would_be_equal_keep_their_deadlines() -> None:
    first, second = "Will Vessby pass 18 °C by 18:05 UTC?", "Will Vessby pass 18 °C by 19:05 UTC?"
    other = "Will Vessby pass 19 °C by 18:05 UTC?"
    later = at(2026, 1, 15, 19, 5)
    names = names_of([("1", first, END), ("2", second, later), ("3", other, END)])
    assert [names[each].beside_end for each in "123"] == [
        "Vessby passes 18 °C by 18:05",
        "Vessby passes 18 °C by 19:05",
        "Vessby passes 19 °C",
    ]
    assert [names[each].alone for each in "123"] == [
        "Vessby passes 18 °C by 18:05",
        "Vessby passes 18 °C by 19:05",
        "Vessby passes 19 °C by 18:05",
    ]


def test_equal_questions_are_told_apart_by_their_ends() -> None:
    asked, later = "Will Harborne win?", at(2026, 1, 16, 9, 0)
    names = names_of([("1", asked, END), ("2", asked, later), ("3", asked, None)])
    ends = [date_time(one).plain for one in (END, later)]
    assert [names[each].alone for each in "123"] == [
        f"{asked} ({ends[0]})", f"{asked} ({ends[1]})", asked,
    ]  # fmt: skip
    # One market on two venues has one name: the mark of the venue tells them apart.
    assert {one.alone for one in names_of([("1", asked, END), ("2", asked, END)]).values()} == {
        asked
    }


def test_a_side_stands_before_the_name() -> None:
    asked = "Will Curlew 3 lift off by 12:55 UTC?"
    assert side_question(Side.NO, asked) == "NO: Curlew 3 lifts off by 12:55"


@given(question=st.text(max_size=80), ends_at=st.none() | st.floats(0, 4e9))
def test_any_question_becomes_one_line(question: str, ends_at: float | None) -> None:
    shown = short_question(question, None if ends_at is None else Timestamp(ends_at))
    assert shown.isprintable()


def cut(text: str, width: int) -> str:
    return "".join(piece for piece, _ in fitted(text, width, right=False, keeps_end=True))


def test_a_long_question_keeps_the_end_that_tells_it_from_the_next() -> None:
    text = "The river gauge at Anselm Bridge read above {} m at dawn ({})"
    assert cut(text.format("3.2", 48), 40) == "The river gauge at Anselm…m at dawn (48)"
    first, second = (cut(text.format("3.2", number), 34) for number in (48, 51))
    assert first != second
    assert cut("The Kestrels win", 40) == "The Kestrels win".ljust(40)
    # Too narrow for two ends: as everywhere.
    assert cut(text, 12) == "The river g…"


@pytest.mark.slow
@given(text=st.text(max_size=60), width=st.integers(0, 40))
def test_a_text_cut_in_the_middle_fills_its_cell_exactly(text: str, width: int) -> None:
    assert cell_len(cut(text, width)) == width


def test_a_text_cut_in_the_middle_keeps_its_colours() -> None:
    cell = Text.assemble(("EVM ", "live"), ("a question that is much too long for its cell", ""))
    pieces = fitted(cell, 24, right=False, keeps_end=True)
    assert pieces[0] == ("EVM ", "live")
    assert "".join(text for text, _ in pieces).rstrip().endswith("its cell")


STATES = ("Ohio", "Georgia", "North Carolina", "North Dakota")
ELECTED = {place: f"Will a Republican win {place} Presidential Election?" for place in STATES}


def test_names_that_differ_in_their_middle_lose_the_long_ending_they_share() -> None:
    found = shorter_names(frozenset(ELECTED.values()))
    assert found == {
        name: f"Will a Republican win {place}…" for place, name in ELECTED.items()
    }  # fmt: skip


@pytest.mark.parametrize(
    "names",
    [
        # A date is the end that the middle cut keeps.
        ("Will Israel strike Iran by June 30, 2026?", "Will Israel strike Iran by March 31, 2026?"),
        # Nothing is like it.
        ("Will a Republican win Ohio Presidential Election?", "Is it over?"),
        # One name is the beginning of the other: what is left would be no name of its own.
        (
            "Will a Republican win Ohio?",
            "Will a Republican win Ohio and the Presidential Election?",
        ),
    ],
)
def test_other_names_stay_whole(names: tuple[str, ...]) -> None:
    assert not shorter_names(frozenset(names))


WORDS = st.lists(st.sampled_from(["a", "b", "presidential", "election"]), min_size=1, max_size=7)


@given(st.frozensets(WORDS.map(" ".join), max_size=12))
def test_no_two_names_get_the_same_shorter_one(names: frozenset[str]) -> None:
    shown = [shorter_names(names).get(name, name) for name in names]
    assert len(set(shown)) == len(names)
