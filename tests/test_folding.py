"""Text that looks alike is compared as one text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service_tui.folding import folded, folded_with_places


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("\u0130lkay G\u00fcndo\u011fan", "ilkay gundogan"),
        ("\u0131lkay", "ilkay"),
        ("Trump\u2019s", "trump's"),
        ("Trump\u2018s \u2032s \u02bcs `s", "trump's 's 's 's"),
        ("\u201cYes\u201d \u00abno\u00bb", '"yes" "no"'),
        ("2024\u20132025 \u2014 \u2212 \u2011", "2024-2025 - - -"),
        ("\u0141\u00f3d\u017a", "lodz"),
        ("\u00d8rsted \u0110okovi\u0107", "orsted dokovic"),
        ("Stra\u00dfe", "strasse"),
        ("\u00c6r\u00f8 \u0152uvre", "aero oeuvre"),
        ("e\u0301", "e"),
        ("\uff21\uff22", "ab"),
        ("\ufb01nal", "final"),
        ("zero\u200bwidth", "zerowidth"),
        ("PLAIN - it's", "plain - it's"),
        ("\u0395\u03bb\u03bb\u03ac\u03c2", "\u03b5\u03bb\u03bb\u03b1\u03c3"),
        ("\u6771\u4eac", "\u6771\u4eac"),
        ("", ""),
    ],
)
def test_what_looks_alike_folds_to_one_text(text: str, found: str) -> None:
    assert folded(text) == found


@given(st.text(max_size=40))
def test_a_folded_text_stays_as_it_is_in_any_case(text: str) -> None:
    once = folded(text)
    assert folded(once) == once


@given(st.text(max_size=40))
def test_each_letter_of_a_folded_text_has_the_place_that_it_came_from(text: str) -> None:
    shown, places = folded_with_places(text)
    assert len(shown) == len(places)
    assert list(places) == sorted(places)
    assert all(0 <= place < len(text) for place in places)


def test_a_match_is_marked_in_the_text_as_it_is_written() -> None:
    shown, places = folded_with_places("x \u0130lkay")
    start = shown.find("ilkay")
    assert places[start : start + 5] == (2, 3, 4, 5, 6)
