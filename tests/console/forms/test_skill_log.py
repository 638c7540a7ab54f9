"""The output of a skill: lines of successive tails, as a table, followed, searched and saved."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from kit.console.doors import Running, running, seen_before
from kit.samples.desk import sample_state
from kit.samples.fleet import run_of, sample_supervision
from service_tui.console.forms.skill_log import SkillLog
from service_tui.console.log_lines import LogLines, as_table, has_json, matches, unwrapped, wrapped
from service_tui.desk.commands.agents import SaveOutput, WatchAgent
from service_tui.desk.slices.supervision import LogTailView
from service_tui.desk.state import DeskState

STATE = seen_before(sample_state())
RUN = run_of()


@pytest.mark.parametrize(
    ("tails", "kept"),
    [
        ([("a", "b"), ("a", "b", "c")], ("a", "b", "c")),
        ([("a", "b"), ("b", "c")], ("a", "b", "c")),
        ([("a", "b"), ("c", "d")], ("a", "b", "c", "d")),
        ([("a", "b"), ("a", "b")], ("a", "b")),
        ([("a", "hal"), ("a", "half", "c")], ("a", "half", "c")),
        ([("x", "x"), ("x", "x", "x")], ("x", "x", "x")),
        ([("a",), (), ("b",)], ("a", "b")),
    ],
)
def test_successive_tails_join_without_a_gap_or_a_double(
    tails: Sequence[tuple[str, ...]], kept: tuple[str, ...]
) -> None:
    log = LogLines()
    for tail in tails:
        log.feed(tail)
    assert log.lines == kept


def test_memory_is_bounded_and_the_newest_lines_stay() -> None:
    log = LogLines(3)
    assert [log.feed(tail) for tail in (("a", "b"), ("b", "c", "d"), ("d", "e"))] == [2, 2, 1]
    assert (log.lines, log.dropped) == (("c", "d", "e"), 2)


def test_wrapped_lines_know_their_source_and_wide_letters_take_two_cells() -> None:
    assert [(line.source, line.text) for line in wrapped(("abcde", "", "日本語"), 4)] == [
        (0, "abcd"), (0, "e"), (1, ""), (2, "日本"), (2, "語"),
    ]  # fmt: skip


@pytest.mark.parametrize("width", [-1, 0, 1, 2])
def test_a_view_too_narrow_for_a_wide_letter_still_ends(width: int) -> None:
    assert [line.text for line in wrapped(("日本",), width)] == ["日", "本"]


def test_a_line_breaks_behind_a_space_if_one_is_near_the_edge() -> None:
    assert [line.text for line in wrapped(("buy at 0.30 now", "abcdefg hi"), 8)] == [
        "buy at ", "0.30 now", "abcdefg ", "hi",
    ]  # fmt: skip
    assert [line.text for line in wrapped(("a bcdefghijk",), 8)] == ["a bcdefg", "hijk"]


def test_a_report_in_one_key_is_a_row_of_its_inner_fields() -> None:
    head, (row,) = as_table(('{"automaton": {"signals": 2, "skip_reason": "buys wait"}}',))
    assert head.split() == ["signals", "skip_reason"]
    assert row.text.split() == ["2", "buys", "wait"]
    assert as_table(('{"a": 1}',))[0] == "a"


def test_a_search_ignores_case_and_no_text_matches_nothing() -> None:
    lines = unwrapped(("Buy YES", "hold", "BUY NO"))
    assert (matches(lines, "buy"), matches(lines, "")) == ((0, 2), ())


def test_json_lines_are_a_table_and_other_lines_stay_between_the_rows() -> None:
    head, rows = as_table((
        '{"at": 5, "edge": 0.25, "note": "low"}',
        "starting",
        '{"at": 17, "more": {"a": [1, null]}, "note": "high", "edge": null}',
        '{"at": "broken',
    ))
    assert head == "at  edge  note  more"
    assert [row.text for row in rows] == [
        " 5  0.25  low",
        "starting",
        '17        high  {"a":[1,null]}',
        '{"at": "broken',
    ]


@pytest.mark.parametrize("line", ["[1, 2]", "3", "{", "", '{"a": ' * 2_000 + "1" + "}" * 2_000])
def test_what_is_no_object_is_no_row(line: str) -> None:
    if len(line) < 100:
        assert not has_json((line,))
    assert len(as_table((line,))[1]) == 1


@pytest.mark.parametrize(
    "hostile", ["\x1b]52;c;eA==\x07", "\x9b31m", "\u202eabc", "\ud800", "\u200b"]
)
def test_an_escape_that_json_hides_reaches_the_screen_as_its_code(hostile: str) -> None:
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in hostile)
    lines = (
        f'{{"{escaped}": 1, "text": "{escaped}", "deep": {{"{escaped}": ["{escaped}"]}}}}',
        f'{{"text": "日本 {escaped}", "a": 2}}',
    )
    head, rows = as_table(lines)
    for text in (head, *(row.text for row in rows)):
        assert text.isprintable()
        text.encode()
    assert len(rows) == 2
    # What a terminal can show is not written as codes.
    assert "日本" in as_table(('{"a": {"b": "日本"}, "c": 1}',))[1][0].text


def with_lines(*lines: str, masked: bool = False) -> DeskState:
    view = replace(sample_supervision(), runs=(RUN,), tail=LogTailView(RUN.run_id, lines))
    preferences = {**STATE.preferences, **({"privacy": "on"} if masked else {})}
    return replace(STATE, supervision=view, preferences=preferences)


def numbered(count: int) -> tuple[str, ...]:
    return tuple(f"line {place}" for place in range(count))


async def opened(seen: Running) -> SkillLog:
    seen.app.front.focus_row(RUN.agent_id)
    await seen.press("v")
    await seen.until(lambda: isinstance(seen.app.screen, SkillLog))
    await seen.pilot.pause()
    assert isinstance(seen.app.screen, SkillLog)
    return seen.app.screen


@pytest.mark.slow
async def test_it_follows_and_scrolling_up_stops_and_counts_what_is_below() -> None:
    async with running(with_lines(*numbered(100)), first="agents", size=(80, 24)) as seen:
        await opened(seen)
        await seen.until(lambda: "line 99" in seen.text)
        assert "following  100 lines" in seen.text
        await seen.press("k")
        assert "not following" in seen.text
        await seen.bring(with_lines(*numbered(107)))
        assert "7 new below" in seen.text
        assert "line 106" not in seen.text
        await seen.press("f")
        await seen.until(lambda: "line 106" in seen.text)
        assert "new below" not in seen.text
        await seen.bring(with_lines(*numbered(120)))
        await seen.until(lambda: "line 119" in seen.text)


@pytest.mark.slow
async def test_the_output_is_read_although_another_screen_had_an_agent_read_before() -> None:
    async with running(with_lines("one"), first="agents", size=(80, 24)) as seen:
        await opened(seen)
        wanted = WatchAgent(RUN.agent_id, RUN.run_id)
        assert wanted in seen.doors.submitted
        await seen.press("escape", "ampersand")
        await seen.until(lambda: seen.app.front.name_in_keys == "approvals")
        seen.doors.submitted.clear()
        await seen.press("7")
        await seen.until(lambda: wanted in seen.doors.submitted)


@pytest.mark.slow
async def test_it_searches_and_goes_from_match_to_match() -> None:
    async with running(with_lines(*numbered(100)), first="agents", size=(80, 24)) as seen:
        await opened(seen)
        await seen.press("slash", *"ine 1", "enter")
        await seen.until(lambda: "match 1 of 11" in seen.text)
        await seen.press("p")
        assert "match 11 of 11" in seen.text
        assert "line 19" in seen.text
        await seen.press("n", "n")
        assert "match 2 of 11" in seen.text
        await seen.press("escape")
        await seen.until(lambda: not isinstance(seen.app.screen, SkillLog))


@pytest.mark.slow
async def test_it_wraps_shows_json_as_a_table_and_saves() -> None:
    lines = ("x" * 100 + "end", '{"at": 1, "edge": 0.5}')
    async with running(with_lines(*lines), first="agents", size=(80, 24)) as seen:
        await opened(seen)
        await seen.until(lambda: "end" in seen.text)
        await seen.press("w")
        assert "xend" not in seen.text
        await seen.press("t")
        assert "at  edge" in seen.text
        await seen.press("ctrl+s")
        assert SaveOutput(RUN.skill_slug, lines) in seen.doors.submitted


@pytest.mark.slow
async def test_without_json_or_matches_the_key_says_so() -> None:
    async with running(with_lines("plain [/red]"), first="agents", size=(80, 24)) as seen:
        await opened(seen)
        await seen.press("t")
        assert "plain [/red]" in seen.text
        assert "! no JSON lines in this output" in seen.toasts
        await seen.press("n")
        assert any("searches" in toast for toast in seen.toasts)


@pytest.mark.slow
async def test_masked_amounts_are_hidden_in_lines_and_in_the_table() -> None:
    state = with_lines('{"cash": 731.25, "side": "yes"}', "cash 731.25", masked=True)
    async with running(state, first="agents", size=(80, 24)) as seen:
        await opened(seen)
        await seen.until(lambda: "side" in seen.text)
        assert "731" not in seen.text
        await seen.press("t")
        assert "731" not in seen.text


async def test_cut_lines_move_aside_and_a_table_or_wrapping_begins_at_the_left_again() -> None:
    lines = ("".join(f"{place:04}" for place in range(50)), '{"at": 1, "edge": 0.5}')
    async with running(with_lines(*lines), first="agents", size=(80, 24)) as seen:
        await opened(seen)
        await seen.press("right")
        assert "00000001" in seen.text
        await seen.press("w", "right", "right", "left")
        assert "00000001" not in seen.text
        assert "00020003" in seen.text
        await seen.press("t")
        assert "at  edge" in seen.text
        await seen.press("t", "w")
        assert "00000001" in seen.text
        await seen.press("right", "w")
        assert "00000001" in seen.text


async def test_another_text_is_looked_for_anew_and_leaving_the_line_goes_to_its_first_match() -> (
    None
):
    async with running(with_lines(*numbered(100)), first="agents", size=(80, 24)) as seen:
        await opened(seen)
        await seen.press("slash", *"ine 1", "enter", "n")
        assert "match 2 of 11" in seen.text
        await seen.press("slash", *"0")
        assert "matches: 1" in seen.text
        await seen.press("enter")
        assert "match 1 of 1" in seen.text


async def test_cut_lines_in_sight_stay_where_they_are_when_old_ones_are_left_out() -> None:
    async with running(with_lines(*numbered(5_000)), first="agents", size=(80, 24)) as seen:
        await opened(seen)
        await seen.press("w", "ctrl+u")
        await seen.until(lambda: "line 4975" in seen.text)
        before = [row[:40] for row in seen.text.splitlines() if "line 4" in row]
        await seen.bring(with_lines(*(f"line {place}" for place in range(100, 5_100))))
        assert [row[:40] for row in seen.text.splitlines() if "line 4" in row] == before
