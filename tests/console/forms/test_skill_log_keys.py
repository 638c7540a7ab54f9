"""What each key does to the output of a skill, without an app."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from textual.geometry import Size

from kit.console.unopened import Unopened, unopened
from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import run_of, sample_supervision
from service_tui.console.forms.skill_log import SkillLog
from service_tui.console.widgets.filter_line import FilterLine
from service_tui.console.widgets.output_view import OutputView
from service_tui.desk.commands.agents import SaveOutput, WatchAgent
from service_tui.desk.slices.supervision import LogTailView
from service_tui.desk.state import DeskState

RUN = run_of()
STATE = replace(sample_state(), supervision=sample_supervision())
LINES = tuple(f"line {number}" for number in range(30))
Log = Unopened[SkillLog]


def telling(*lines: str, run_id: str = RUN.run_id, **other: Any) -> DeskState:
    view = replace(STATE.supervision, tail=LogTailView(run_id, lines))
    return replace(STATE, supervision=view, **other)


@pytest.fixture
def t(monkeypatch: pytest.MonkeyPatch) -> Iterator[Log]:
    """An open output, ten lines of forty cells of it in sight."""
    monkeypatch.setattr(OutputView, "size", Size(40, 10))
    with unopened(SkillLog(telling(*LINES), NOW, RUN)) as seen:
        view = seen.form._view
        monkeypatch.setattr(view, "scroll_to", lambda **to: _scrolled(view, to["y"]))
        seen.form._renew()
        view.follow(on=True)
        yield seen


def _scrolled(view: OutputView, y: int) -> None:
    view.set_reactive(OutputView.scroll_y, float(y))


def head(t: Log) -> str:
    return t.text("log-head")


def bring(t: Log, *lines: str, **other: Any) -> None:
    t.form.take(telling(*lines, **other), NOW)


def search(t: Log, text: str) -> None:
    line: Any = t.form._search
    line._line.value = text
    message = t.tell(FilterLine.Typed(text))
    assert message._stop_propagation


def shown(t: Log) -> list[str]:
    return [line.text for line in t.form._shown]


def test_it_asks_for_the_output_of_its_run_and_takes_the_keys(t: Log) -> None:
    assert t.given == [WatchAgent(RUN.agent_id, RUN.run_id)]
    assert t.focused == [None]
    assert head(t) == "following  30 lines  wrapped"
    assert (shown(t), t.form._view.top) == (list(LINES), 20)


def test_the_output_of_another_run_is_not_its_own(t: Log) -> None:
    bring(t, "a", run_id="r9")
    assert shown(t) == list(LINES)


def test_what_is_new_is_counted_while_it_does_not_follow_and_seen_at_the_end(t: Log) -> None:
    t.form.action_lines(-5)
    t.tell(OutputView.Scrolled())
    assert (t.form._view.top, head(t)) == (15, "not following  30 lines  wrapped")
    bring(t, *LINES, "a", "b")
    bring(t, *LINES, "a", "b", "c")
    assert (t.form._view.top, head(t)) == (15, "not following  3 new below  33 lines  wrapped")
    t.form.action_lines(100)
    told = OutputView.Scrolled()
    t.tell(told)
    assert told._stop_propagation
    assert head(t) == "not following  33 lines  wrapped"
    # What was seen once is not new again.
    t.form.action_lines(-5)
    t.tell(OutputView.Scrolled())
    assert head(t) == "not following  33 lines  wrapped"
    t.form.action_lines(100)
    bring(t, *LINES, "a", "b", "c", "d")
    assert head(t) == "not following  1 new below  34 lines  wrapped"
    t.form.action_turn("follow")
    assert (t.form._view.top, head(t)) == (24, "following  34 lines  wrapped")
    bring(t, *LINES, "a", "b", "c", "d", "e")
    assert (t.form._view.top, head(t)) == (25, "following  35 lines  wrapped")
    t.form.action_turn("follow")
    assert head(t) == "not following  35 lines  wrapped"


def test_a_scroll_in_the_middle_forgets_nothing_that_is_new(t: Log) -> None:
    t.form.action_lines(-5)
    bring(t, *LINES, "a", "b")
    t.form.action_lines(-1)
    t.tell(OutputView.Scrolled())
    assert head(t) == "not following  2 new below  32 lines  wrapped"


def test_lines_that_are_cut_move_aside_and_come_back_with_the_wrapping(t: Log) -> None:
    long = "0123456789" * 6
    bring(t, long)
    assert shown(t)[-2:] == [long[:39], long[39:]]
    t.form.action_aside(1)
    assert t.form._view.left == 0
    t.form.action_turn("wrap")
    assert (shown(t)[-1], head(t)) == (long, "following  31 lines  cut at the edge")
    for by, left in ((1, 8), (1, 16), (-1, 8), (-1, 0), (-1, 0), (1, 8)):
        t.form.action_aside(by)
        assert t.form._view.left == left
    t.form.action_turn("wrap")
    assert (t.form._view.left, shown(t)[-1]) == (0, long[39:])


def test_a_table_needs_json_and_comes_and_goes(t: Log) -> None:
    t.form.action_turn("table")
    assert (t.said, head(t)) == (["no JSON lines in this output"], "following  30 lines  wrapped")
    bring(t, '{"name":"heron","count":3}', "plain", '{"name":"owl","count":12}')
    t.form.action_turn("table")
    assert head(t).endswith("table")
    assert shown(t)[-3:] == ["heron      3", "plain", "owl       12"]
    assert t.text("log-columns") == "name   count"
    assert t.is_shown("log-columns")
    t.form.action_aside(1)
    assert t.text("log-columns") == "ount"
    t.form.action_turn("table")
    assert (head(t)[-7:], t.form._view.left, t.is_shown("log-columns")) == ("wrapped", 0, False)
    assert len(t.said) == 1


def test_the_search_goes_from_match_to_match_round_and_round(t: Log) -> None:
    search(t, "LINE 2")
    # 2, and 20 to 29.
    assert head(t) == "following  30 lines  matches: 11  wrapped"
    for by, at, place in ((1, 1, 2), (1, 2, 20), (-1, 1, 2), (-1, 11, 29), (1, 1, 2)):
        t.form.action_match(by)
        assert f"match {at} of 11" in head(t)
        assert (t.form._view._at, t.form._view.top) == (place, min(20, max(0, place - 5)))
    assert head(t).startswith("not following")
    search(t, "line 29")
    assert "matches: 1" in head(t)
    assert t.form._view._at == -1


def test_the_match_in_focus_stays_one_when_the_lines_change(t: Log) -> None:
    search(t, "line 2")
    for _ in range(11):
        t.form.action_match(1)
    assert "match 11 of 11" in head(t)
    bring(t, *LINES, "line 2, again")
    assert "match 11 of 12" in head(t)


def test_without_a_match_the_key_says_why(t: Log) -> None:
    t.form.action_match(1)
    search(t, "no such")
    t.form.action_match(1)
    assert [text.split(" ", 1)[1] for text in t.said] == ["searches", "line contains no such"]


def test_leaving_the_search_goes_to_the_first_match_once(t: Log) -> None:
    search(t, "line 1")
    t.focused.clear()
    message = FilterLine.Left()
    t.tell(message)
    assert message._stop_propagation
    assert (t.focused, "match 1 of 11" in head(t)) == ([None], True)
    t.tell(FilterLine.Left())
    assert "match 1 of 11" in head(t)
    search(t, "")
    t.tell(FilterLine.Left())
    assert t.said == []


def test_the_key_for_a_search_opens_its_line(t: Log) -> None:
    t.focused.clear()
    t.form.action_search()
    assert (t.focused, t.form._search.has_class("-on")) == (["filter-typed"], True)


def test_another_width_lays_the_lines_out_anew(t: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OutputView, "size", Size(6, 10))
    message = OutputView.WidthChanged()
    t.tell(message)
    assert message._stop_propagation
    assert shown(t)[:2] == ["line ", "0"]


def test_what_is_there_is_saved_and_nothing_is_not(t: Log) -> None:
    t.posted.clear()
    t.form.action_save()
    assert (t.given, t.said) == ([SaveOutput(RUN.skill_slug, LINES)], [])
    with unopened(SkillLog(telling(), NOW, RUN)) as none:
        none.posted.clear()
        none.form.action_save()
        assert (none.given, none.said) == ([], ["no output to save"])
        assert none.text("log-head").startswith("following  no output yet")
        none.form.action_close()
        assert none.returned == [None]


@pytest.mark.parametrize("what", [None, "wrap", "table"])
def test_masked_amounts_are_hidden_at_once_however_the_lines_are_shown(
    t: Log, what: str | None
) -> None:
    line = '{"said":"bought for 25.00 $SIM"}'
    bring(t, line)
    if what is not None:
        t.form.action_turn(what)
    assert "25.00" in "".join(shown(t))
    tail = t.form._state.supervision
    t.form.take(replace(STATE, supervision=tail, preferences={"privacy": "on"}), NOW)
    assert "25.00" not in "".join(shown(t))
    t.form.take(replace(STATE, supervision=tail, preferences={}), NOW)
    assert "25.00" in "".join(shown(t))


@pytest.mark.slow
def test_one_line_is_one(t: Log) -> None:
    with unopened(SkillLog(telling("a"), NOW, RUN)) as one:
        assert one.text("log-head") == "following  1 line  wrapped"
    bring(t, *(f"row {number}" for number in range(1_200)))
    assert "1,230 lines" in head(t)


def test_cut_lines_in_sight_stay_where_they_are_when_old_ones_are_left_out(t: Log) -> None:
    bring(t, *(f"row {number}" for number in range(4_970)))
    t.form.action_turn("wrap")
    t.form.action_lines(-1_000)
    top, first = t.form._view.top, shown(t)[t.form._view.top]
    bring(t, *(f"more {number}" for number in range(100)))
    assert (t.form._view.top, shown(t)[t.form._view.top]) == (top - 100, first)
