"""Pages of text: what they show, what renews them, and what stays masked on them."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from textual import events

from kit.console.unopened import Unopened, unopened
from kit.samples.desk import NOW, sample_state
from service_tui.console.forms import welcome
from service_tui.console.forms.drill import DrillBrief, DrillEnd, result_text, timeline
from service_tui.console.forms.help import Help, matches
from service_tui.console.forms.quote_text import quote_figures
from service_tui.console.forms.report import Report
from service_tui.console.forms.secret import Secret
from service_tui.console.forms.team import TeamPage
from service_tui.console.forms.welcome import Welcome
from service_tui.console.forms.why import WIDTH, chain_text
from service_tui.console.keys import KEYS, key_named, keys_of
from service_tui.console.widgets.filter_line import FilterLine
from service_tui.desk.audit.why import LabelledValue, Link, TradeHistory, Unit
from service_tui.desk.slices.agents import RevealedView
from service_tui.desk.slices.drill import DrillLine, DrillResult, DrillView
from service_tui.desk.slices.quote import QuoteView
from service_tui.terms import Action, Venue
from service_tui.units import ONE, Micros, Timestamp

STATE = sample_state()


def text(t: Unopened[Any]) -> str:
    return str(t.form._text_block.content)


# -- help -----------------------------------------------------------------------------------------


def helped(typed: str = "", *, off: str = "") -> Help:
    return Help(
        "portfolio", "Portfolio", lambda key: off if key.group == "rows" else "",
        (("buy MARKET", "Opens the ticket"),), typed=typed,
    )  # fmt: skip


def test_the_help_has_the_keys_of_the_screen_first_then_all_that_work_everywhere() -> None:
    with unopened(helped(off="no rows here")) as t:
        titles = [
            "Portfolio", "lists", "everywhere", "commands, after :", "order ticket", "forms",
            "halt",
        ]  # fmt: skip
        assert [line for line in text(t).splitlines() if line in titles] == titles
        for key in (*keys_of("portfolio"), *keys_of("app"), *keys_of("price_alert")):
            assert f" {key.label}" in text(t)
        assert text(t).count("(no rows here)") == len(keys_of("rows"))
        assert "buy MARKET" in text(t)
        assert str(t.form.query_one("#frame").border_title).strip() == "Keys on Portfolio"


def test_a_search_shows_what_matches_and_begins_at_the_top() -> None:
    with unopened(helped()) as t:
        line: Any = t.form._search
        line._line.value = "opens the"
        message = FilterLine.Typed("opens the")
        t.tell(message)
        assert message._stop_propagation
        assert text(t).splitlines()[0] == "commands, after :"
        assert len(text(t).splitlines()) == 2


def test_a_search_that_finds_nothing_here_looks_on_other_screens_and_then_says_so() -> None:
    with unopened(helped("revoke")) as t:
        t.form.show()
        head, _, rest = text(t).partition("\n\n")
        assert head == "Not on Portfolio. On other screens:"
        groups = {key.group for key in KEYS if "revoke" in f"{key.label} {key.tooltip}".lower()}
        assert groups
        assert "portfolio" not in rest.splitlines()[0]
    with unopened(helped("zzz")) as t:
        t.form.show()
        assert text(t) == "No key matches /zzz. esc shows all."


def test_closing_clears_a_search_first_and_leaving_it_returns_to_the_page() -> None:
    with unopened(helped("buy")) as t:
        cleared: list[bool] = []
        search: Any = t.form._search
        search.action_clear = lambda: cleared.append(True)
        t.form.action_close()
        assert (cleared, t.returned) == ([True], [])
        search._line.value = ""
        t.form.action_close()
        assert (cleared, t.returned) == ([True], [None])
        message = FilterLine.Left()
        t.tell(message)
        assert (message._stop_propagation, t.focused) == (True, ["frame"])
        t.form.action_filter()
        assert t.focused[-1] == "filter-typed"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["p"], True), (["a"], False), (["pause"], True), (["pau", "world"], True),
        (["p", "sun"], False), ([], True),
    ],
)  # fmt: skip
def test_one_letter_is_a_key_and_more_are_a_part_of_a_word(
    words: list[str], *, found: bool
) -> None:
    assert matches("   p  Pause  Stops the world", words) is found


# -- pages of the state ----------------------------------------------------------------------------


@pytest.mark.parametrize("page", [TeamPage, Report])
def test_a_page_is_renewed_by_what_it_shows_and_by_the_mask(
    page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    module = page.__module__
    name = "team_text" if page is TeamPage else "report_text"
    monkeypatch.setattr(
        f"{module}.{name}", lambda state, now, **more: made.append((state, now, more)) or "text"
    )
    monkeypatch.setattr("service_tui.console.widgets.text_block.TextBlock.show_text", print)
    t = page(STATE, NOW)
    t.take(replace(STATE, stars=frozenset({"x"})), NOW)
    assert made == []
    masked = replace(STATE, preferences={"privacy": "on"})
    t.take(masked, Timestamp(NOW + 5))
    t.take(masked, Timestamp(NOW + 6))
    assert [one[:2] for one in made] == [(masked, NOW + 5)]  # type: ignore[index]
    changed = {"team": SimpleNamespace()} if page is TeamPage else {"trades": ()}
    t.take(replace(masked, **changed), Timestamp(NOW + 7))
    assert len(made) == 2


def test_a_page_scrolls_by_lines_and_closes() -> None:
    with unopened(TeamPage(replace(STATE, team=None), NOW)) as t:
        assert text(t) == "Loading the team"
        t.form.action_lines(1)
        assert t.scrolled == [("frame", 1.0)]
        t.form.action_close()
        assert t.returned == [None]


# -- drills ---------------------------------------------------------------------------------------


DRILL = DrillView("flood", "Flood", "Watch the gauge.", 5)
RESULT = DrillResult(
    "r1", "flood", "Flood", NOW, score=80, yours=Micros(12 * ONE), best=Micros(20 * ONE),
    worst=Micros(0), minutes=5, played_s=90.0, currency="$SIM", figure="P&L",
    lines=(DrillLine(61.0, "you", "bought"), DrillLine(5.0, "service", "halted")),
    best_lines=(), advice=("Sell early", "Read on"),
)  # fmt: skip


def test_enter_begins_a_drill_and_closing_the_brief_does_not() -> None:
    with unopened(DrillBrief(DRILL)) as t:
        assert "Watch the gauge." in text(t)
        assert "lasts 5 minutes" in text(t)
        t.form.action_close()
        assert (t.returned, t.form.has_begun) == ([None], False)
    with unopened(DrillBrief(DRILL)) as t:
        t.form.action_begin()
        assert (t.returned, t.form.has_begun) == ([None], True)


def test_the_end_of_a_drill_has_its_score_its_advice_and_what_happened() -> None:
    with unopened(DrillEnd(DRILL, RESULT)) as t:
        shown = text(t)
        for part in ("Score 80 of 100", "12.00 $SIM P&L", "• Sell early\n", "• Read on", "nothing"):
            assert part in shown
        assert shown.index("bought") < shown.index("halted")
    with unopened(DrillEnd(DRILL, RESULT, masked=True)) as t:
        assert "12.00" not in text(t)
        assert "20.00" not in text(t)
    bare = result_text(replace(RESULT, score=None)).plain
    assert bare.startswith("No score: ended after 1:30 of 5:00")
    own, other = timeline(RESULT.lines).split("\n")
    assert any("accent" in str(span.style) for span in own.spans)
    assert not any("accent" in str(span.style) for span in other.spans)


# -- why, secret, welcome, quote ------------------------------------------------------------------


def test_a_history_has_a_rail_until_its_last_link_and_no_line_is_too_wide() -> None:
    values = tuple(LabelledValue(f"figure {place}", 0.5, Unit.PRICE) for place in range(6))
    long = LabelledValue("said", "word " * 60)
    links = (
        Link("agent", at=NOW, values=(*values, long)),
        Link("market", missing="not recorded"),
        Link("trade", when="unknown time", values=(LabelledValue("edge", 0.05, Unit.POINTS),)),
    )
    lines = chain_text(TradeHistory("Why", links), Timestamp(NOW + 60), masked=False).plain
    shown = lines.splitlines()
    assert shown[0] == "Why"
    assert max(len(line) for line in shown[3:]) <= WIDTH + 2
    heads = [line for line in shown if line[:2] in {"● ", "○ "}]
    assert [line[:8].strip() for line in heads] == ["● agent", "○ market", "● trade"]
    assert heads[2].rstrip().endswith("unknown time")
    assert shown[-1].startswith("  ")
    assert all(line.startswith("│ ") for line in shown[3:-2] if line not in heads)
    assert shown.count("│ not recorded") == 1
    # Two figures at least stand on one line, where they have room.
    assert any(line.count("figure") > 1 for line in shown)
    assert "+5.0" in shown[-1]


def test_a_secret_is_shown_as_it_is() -> None:
    revealed = RevealedView("a-2", "heron", True, "abc-123")  # noqa: FBT003 - its key
    with unopened(Secret(revealed)) as t:
        assert "abc-123" in text(t)


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("action", Action)
def test_the_figures_of_a_quote_are_masked_with_the_amounts(
    action: Action, *, masked: bool
) -> None:
    quote = QuoteView(
        1, ok=True, shares=Micros(51 * ONE), money=Micros(25 * ONE), fee=Micros(3 * ONE),
        cash_after=Micros(900 * ONE), max_loss=Micros(28 * ONE), max_win=Micros(26 * ONE),
    )  # fmt: skip
    shown = dict(quote_figures(quote, (action, Venue.EVM), None, masked=masked))
    amounts = {"shares": "51", "notional": "25", "fee": "3", "cash after": "900"}
    if action is Action.BUY:
        amounts |= {"max loss": "28", "max profit": "26"}
    for label, amount in amounts.items():
        assert (amount in shown[label].plain) is not masked


@pytest.mark.parametrize("embedded", [True, False])
def test_a_key_that_the_first_page_names_closes_it_and_is_given_again(
    monkeypatch: pytest.MonkeyPatch, *, embedded: bool
) -> None:
    monkeypatch.setattr(welcome, "KeyQueue", SimpleNamespace)
    for name in ("app.markets", "markets.buy", "app.command", "app.pause", "app.theme"):
        is_named = name != "app.theme" and (embedded or name != "app.pause")
        with unopened(Welcome(is_embedded=embedded)) as t:
            assert ("pauses the world" in text(t)) is embedded
            given: list[events.Key] = []
            app: Any = t.form.app
            app.give_again = given.append
            key = events.Key(key_named(name).keys[0], None)
            t.form.on_key(key)
            assert given == ([key] if is_named else [])
            assert t.returned == ([None] if is_named else [])
            assert (key._stop_propagation, key._no_default_action) == (is_named, is_named)
