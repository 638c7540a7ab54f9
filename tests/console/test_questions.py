"""A question in a table: shorter where a column has the rest, and whole at both ends."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from service_tui.console.questions import short_question
from service_tui.console.widgets.columns import fitted
from service_tui.units import Timestamp


def at(*moment: int) -> Timestamp:
    return Timestamp(datetime(*moment, tzinfo=UTC).timestamp())


END = at(2026, 1, 15, 18, 5)


@pytest.mark.parametrize(
    ("question", "ends_at", "shown"),
    [
        ("Will the Kestrels win the second leg?", None, "The Kestrels win the second leg"),
        ("Will Vesta dock with the station by 18:05 UTC?", END, "Vesta dock with the station"),
        ("Will Vesta dock by 18:05 UTC?", None, "Vesta dock by 18:05 UTC"),
        # Another time than the column's is part of the question.
        ("Will Vesta dock by 18:15 UTC?", END, "Vesta dock by 18:15 UTC"),
        ("Will Lumen trade above $40 at 18:05 UTC on 15 Jan?", END, "Lumen trade above $40"),
        (
            "Will Lumen trade above $40 at 18:05 UTC on 25 Jan?",
            END,
            "Lumen trade above $40 at 18:05 UTC on 25 Jan",
        ),
        ("Will the bridge open by 15 January?", END, "The bridge open"),
        ("Will the bridge open by 3 March?", END, "The bridge open by 3 March"),
        ("Will rates be cut by January 15, 2026?", END, "Rates be cut"),
        ("Will rates be cut by January 15, 2027?", END, "Rates be cut by January 15, 2027"),
        ("Will rates be cut on 31 December 2025?", at(2026, 1, 1), "Rates be cut"),
        ("Will it rain on 30 February?", END, "Will it rain on 30 February"),
        ("Will there be a strike by 18:05 UTC?", END, "Will there be a strike"),
        ("Will any poll put them ahead?", None, "Will any poll put them ahead"),
        ("Will Italy win?", None, "Italy win"),
        ("Will I. Castel draw?", None, "I. Castel draw"),
        ("Who wins the cup?", END, "Who wins the cup"),
        ("Will by 18:05 UTC?", END, "By 18:05 UTC"),
        ("Will ?", None, "Will ?"),
        ("", None, ""),
    ],
)
def test_a_table_leaves_out_what_every_row_or_a_column_has(
    question: str, ends_at: Timestamp | None, shown: str
) -> None:
    assert short_question(question, ends_at) == shown


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
