"""The sanitiser of text from outside."""

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service_tui.terms import LINE_MAX, PROSE_MAX
from service_tui.wire.text import line, prose

HOSTILE = [
    "\x1b]52;c;cGF5bG9hZA==\x07",
    "\x1b]0;payload\x1b\\",
    "\x1b]8;;https://payload.example\x07",
    "\x9d0;payload\x9c",
    "\x9d52;c;payload\x07",
    "\x1bPpayload\x1b\\",
    "\x90payload\x9c",
    "\x1b_payload\x1b\\",
    "\x1b^payload\x1b\\",
    "\x1bXpayload\x1b\\",
    "\x9fpayload\x9c",
    "\x9epayload\x1b\\",
    "\x98payload\x9c",
    "\x1b[31m",
    "\x1b[2J",
    "\x1b[?1049h",
    "\x1b[38;2;1;2;3m",
    "\x9b31m",
    "\x1bc",
    "\x1b(0",
    "\x1b#8",
    "\x1b7",
]
MARKUP = "[@click=app.quit()]x[/] [/ [link=payload]"
texts = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            "\x1b\x9b\x9d\x90\x9c\x07\r\n\t\x00\x7f\u202e\u200b\ufeff\u2028\u0301\u1161"
        ),
        st.characters(categories=["Cs", "Cf", "Cc", "Mn", "Me"]),
    ),
    max_size=400,
) | st.lists(st.sampled_from([*HOSTILE, "é", "word ", "\n"]), max_size=30).map("".join)
CONTROLS = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def controls_in(text: str) -> set[str]:
    return {letter for letter in text if unicodedata.category(letter) in CONTROLS}


@pytest.mark.slow
@given(texts)
@example("\ud800")
@example("a\u202eb")
def test_no_control_survives_in_a_line(text: str) -> None:
    clean = line(text)
    assert controls_in(clean) == set()
    assert len(clean) <= LINE_MAX
    assert clean == clean.strip()
    clean.encode()


@pytest.mark.slow
@given(texts)
def test_only_line_breaks_survive_in_prose(text: str) -> None:
    clean = prose(text)
    assert controls_in(clean) <= {"\n"}
    assert "\n\n\n" not in clean
    assert len(clean) <= PROSE_MAX
    clean.encode()


@given(texts)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert line(line(text)) == line(text)
    assert prose(prose(text)) == prose(text)


@given(st.text(st.sampled_from("aé 日  \u0308\u2019\u00ad\u2060\t"), max_size=30))
def test_a_plain_line_is_cleaned_in_short_as_in_full(text: str) -> None:
    # A mark that is taken out sends it the long way.
    assert prose(text) == prose(f"{text}\u200b")
    assert line(text) == line(f"{text}\u200b")


@pytest.mark.parametrize("clean", [line, prose])
@pytest.mark.parametrize("escape", HOSTILE)
def test_an_escape_goes_with_its_payload(escape: str, clean: Callable[[str], str]) -> None:
    assert clean(f"before{escape}after") == "beforeafter"
    assert clean(f"é{escape}{escape}after") == "éafter"


@pytest.mark.parametrize("clean", [line, prose])
def test_the_payload_of_an_escape_over_several_lines_goes_too(clean: Callable[[str], str]) -> None:
    assert clean("a\x1b]52;c;pay\nload\x07b") == "ab"


@pytest.mark.parametrize("clean", [line, prose])
@pytest.mark.parametrize("start", ["\x1b]0;", "\x9d", "\x1bP", "\x90", "\x1b[", "\x1b", "\x9b"])
def test_an_escape_without_end_takes_no_control_along(
    start: str, clean: Callable[[str], str]
) -> None:
    assert controls_in(clean(f"a{start}1;2\n3")) <= {"\n"}
    assert clean(f"a{start}").startswith("a")


@pytest.mark.slow
@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=LINE_MAX))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert line(text) == text.strip()


@pytest.mark.parametrize(
    "text", ["Zürich über 30 °C?", "東京で雨が降るか", "Ελλάδα", "دبي", "한국어", "naïve", "⚽ 2:1"]
)
def test_the_letters_of_the_world_stay(text: str) -> None:
    assert line(text) == text
    assert line(unicodedata.normalize("NFD", text)) == unicodedata.normalize("NFD", text)


@pytest.mark.slow
def test_no_letter_slips_through_among_common_ones() -> None:
    for letter in map(chr, range(0x10000)):
        category = unicodedata.category(letter)
        if category in CONTROLS | {"Mn", "Me"}:
            assert line(f"a{letter * 9}").count(letter) <= (4 if category[0] == "M" else 0)


def test_markup_is_text() -> None:
    assert line(MARKUP) == MARKUP


@given(texts)
def test_marks_never_pile_up_and_never_stand_alone(text: str) -> None:
    for clean in (line(text), *prose(text).splitlines()):
        marks, before = 0, " "
        for letter in clean:
            if unicodedata.category(letter) in {"Mn", "Me"}:
                assert not before.isspace()
                marks += 1
            else:
                marks = 0
            assert marks <= 4
            before = letter


@pytest.mark.parametrize("mark", ["\u0301", "\u20dd", "\u0488", "\u1161"])
def test_a_mark_of_any_kind_needs_a_letter(mark: str) -> None:
    assert line(f"{mark}a {mark}b") == "a b"
    assert prose(f"a\n{mark}b") == "a\nb"
    assert line(f"a{mark * 9}") == f"a{mark * 4}"


@pytest.mark.parametrize("unseen", ["\u3164", "\u115f", "\uffa0", "\ufe0f", "\u200d", "\U000e0100"])
def test_what_cannot_be_seen_is_not_kept(unseen: str) -> None:
    assert line(f"a{unseen}b") == "ab"
    assert line(unseen * 3) == ""


def test_stacked_syllables_stop_after_four() -> None:
    assert line("\uac00" + "\u1161" * 50) == "\uac00" + "\u1161" * 4


def test_tabs_and_breaks_separate_words() -> None:
    assert line("one\ttwo\r\nthree\u2028four\x0bfive") == "one two three four five"
    assert prose("one\r\n\r\n\r\n\r\ntwo\tthree") == "one\n\ntwo three"


@pytest.mark.parametrize("size", [10**5, 10**6])
def test_a_giant_text_is_cut(size: int) -> None:
    assert line("é" * size) == "é" * (LINE_MAX - 1) + "…"
    assert line("\x1b]" * size) == ""
    assert len(prose("word\n" * size)) <= PROSE_MAX
