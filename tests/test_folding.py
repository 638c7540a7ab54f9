"""Text that looks alike is compared as one text."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service_tui.folding import folded, folded_name, folded_with_places, looks_of

MARKED: Final = (
    "ae\u03b1\u0e01\u0915\u304c\u0301\u0345\u0e35\u0e38\u0e3a\u094d\u200d\ufe0f\u00b2\u0130 "
)
TEXTS: Final = st.text(max_size=40) | st.text(MARKED, max_size=9)


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
        ("\u00b4s", "'s"),
        ("\u0439\u0451", "\u0438\u0435"),
        ("\u2764\ufe0f", "\u2764"),
        ("10\u00b2", "102"),
        ("", ""),
    ],
)
def test_what_looks_alike_folds_to_one_text(text: str, found: str) -> None:
    assert folded(text) == found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("\u0e01\u0e35", "\u0e01\u0e39"),  # Thai
        ("\u0915\u0941", "\u0915\u0947"),  # Devanagari
        ("\u0915\u0941", "\u0915"),
        ("\u304c", "\u304b"),  # Hiragana
        ("\u05d1\u05b8", "\u05d1\u05b4"),  # Hebrew
    ],
)
def test_a_mark_that_makes_another_word_stays(one: str, other: str) -> None:
    assert folded(one) != folded(other)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("10\u00b2", "102", False),
        ("H\u2082O", "H2O", False),
        ("2\u00bd", "21/2", False),
        ("1\u2460", "11", False),
        ("10\u00b2 JOS\u00c9", "10\u00b2 jose", True),
        ("\uff11\uff10", "10", True),
        ("\u0e01\u0e35", "\u0e01\u0e39", False),
        ("d\u2019Or \u2013", "D'or -", True),
    ],
)
def test_names_are_the_same_or_not(one: str, other: str, *, is_same: bool) -> None:
    assert (folded_name(one) == folded_name(other)) is is_same


@given(TEXTS)
def test_a_folded_text_stays_as_it_is_in_any_case(text: str) -> None:
    once = folded(text)
    assert folded(once) == once


@given(TEXTS)
def test_each_letter_of_a_folded_text_has_the_place_that_it_came_from(text: str) -> None:
    shown, places = folded_with_places(text)
    assert len(shown) == len(places)
    assert list(places) == sorted(places)
    assert all(0 <= place < len(text) for place in places)


def test_a_match_is_marked_in_the_text_as_it_is_written() -> None:
    shown, places = folded_with_places("x \u0130lkay")
    start = shown.find("ilkay")
    assert places[start : start + 5] == (2, 3, 4, 5, 6)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("e\u0301a", ("ea", (0, 2))),
        ("x\u0e01\u0e35a", ("x\u0e01\u0e35a", (0, 1, 2, 3))),
        ("\u304ca", ("\u304b\u3099a", (0, 0, 1))),
    ],
)
def test_a_mark_belongs_to_the_letter_before_it(
    text: str, found: tuple[str, tuple[int, ...]]
) -> None:
    assert folded_with_places(text) == found


@given(TEXTS)
def test_the_text_with_places_is_the_folded_text(text: str) -> None:
    assert folded_with_places(text)[0] == folded(text)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("desk", "d\u0435sk", True),
        ("desk", "DE\u0405K", True),
        ("heron", "h\u03b5r\u03bfn", True),
        ("momentum", "mo mentum", True),
        ("cop", "\u0441\u043e\u0440", True),
        ("\u043c\u0438\u0440", "\u043c\u0438\u0440", True),
        ("\u043c\u0438\u0440", "mir", False),
        ("desk", "\u1d05\u1d07s\u1d0b", True),
        ("desk", "de\u3164s\u2800k\u115f", True),
        ("desk", "d\u212es\u0138", True),
        ("desk-1", "desk-2", False),
        ("heron", "her0n", False),
    ],
)
def test_letters_of_another_alphabet_pass_for_latin_ones(
    one: str, other: str, *, is_same: bool
) -> None:
    assert (looks_of(one) == looks_of(other)) is is_same
