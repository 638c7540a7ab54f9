"""The day of each agent as a page: figures, reasons, and what was not read says so."""

import re
from dataclasses import replace

import pytest

from kit.console.doors import running
from kit.samples.desk import NOW
from kit.samples.fleet import leash_of
from kit.samples.report import PASTS, PLAIN, STATE
from service_tui.console.forms.report import Report, report_text
from service_tui.desk.commands.agents import ReadDay
from service_tui.terms import Venue
from service_tui.units import ONE, Micros


def test_the_page_tells_each_agents_day_the_one_in_focus_first() -> None:
    text = report_text(STATE, NOW, first="a-3").plain
    lines = text.split("\n")
    table = next(place for place, line in enumerate(lines) if line.startswith("agent"))
    assert lines[table + 1].startswith("moss-runner")
    assert "30.00" in text
    assert "the gauge rises [red]" in text
    assert re.search(r"no data +refused with 404", text)
    assert lines[table + 1].split()[1:2] == ["$SIM"]
    assert lines[table + 1].split()[3:] == ["1", "25.00", "1", "30.00"]


def test_what_was_not_read_is_a_question_and_no_nought() -> None:
    bare = replace(PLAIN, trades=(), account=None)
    lines = report_text(bare, NOW).plain.split("\n")
    row = next(line for line in lines if line.startswith("heron "))
    assert row.split()[3:] == ["?", "?", "?", "?"]
    assert "loading trades" in lines[0]
    assert "its own dashboard" in report_text(replace(PLAIN, fleet=None), NOW).plain


def test_play_money_and_real_money_have_lines_and_sums_of_their_own() -> None:
    past = PASTS[0]
    real = tuple(
        replace(one, trade=replace(one.trade, venue=Venue.EVM, cost=Micros(7 * ONE)))
        for one in past.trades
    )
    pasts = (replace(past, trades=past.trades + real), *PASTS[1:3])
    read = replace(STATE, supervision=replace(STATE.supervision, pasts=pasts))
    lines = report_text(replace(read, fleet=replace(read.fleet, agents=read.fleet.agents[:3])), NOW)
    told = [line.split() for line in lines.plain.split("\n")]
    owner = PLAIN.fleet.agents[0].name
    place = next(place for place, words in enumerate(told) if words[:2] == [owner, "$SIM"])
    assert told[place][3:] == ["1", "25.00", "1", "30.00"]
    assert told[place + 1][0] == "USDC.e"
    assert told[place + 1][2:] == ["1", "7.00", "1", "7.00"]
    sums = {words[1]: words[3:] for words in told if words[:1] == ["all"]}
    assert sums == {
        "$SIM": ["3", "75.00", "3", "90.00"],
        "USDC.e": ["1", "7.00", "1", "7.00"],
    }


def test_a_skill_has_its_trades_its_result_and_the_share_of_those_that_won() -> None:
    lines = report_text(STATE, NOW, first="a-2").plain.split("\n")
    assert "mean-reversion +1.00 $SIM  2 trades, won 1 of 1 closed" in lines
    assert "best           +1.00 $SIM  sell NO: Marlow Vale council passes the…" in lines


def test_what_names_no_skill_is_by_hand_for_a_person() -> None:
    pasts = tuple(
        replace(past, trades=tuple(replace(one, skill_slug="") for one in past.trades))
        for past in PASTS
    )
    state = replace(STATE, supervision=replace(STATE.supervision, pasts=pasts))
    text = report_text(state, NOW).plain
    own, _, others = text.partition("\n\nheron\n")
    assert "by hand        +3.00 $SIM  2 trades" in own
    assert "no skill named +1.00 $SIM  2 trades" in others
    assert "by hand" not in others


def test_amounts_are_masked() -> None:
    text = report_text(replace(STATE, preferences={"privacy": "on"}), NOW).plain
    assert "30.00" not in text
    assert "25.00" not in text


def test_the_budget_of_a_leash_is_told_and_masked_with_the_amounts() -> None:
    agent = PLAIN.fleet.agents[0]
    leash = leash_of(agent.agent_id, budget=Micros(613 * ONE), spent=Micros(321 * ONE))
    state = replace(STATE, supervision=replace(STATE.supervision, leashes=(leash,)))
    shown = report_text(state, NOW, first=agent.agent_id).plain
    assert re.search(r"permissions +ask, [0-9,.]+ of 613\.00 a day", shown)
    masked = report_text(replace(state, preferences={"privacy": "on"}), NOW).plain
    assert re.search(r"permissions +ask, (\S+) of \1 a day", masked)
    assert "613" not in masked


@pytest.mark.slow
async def test_the_key_reads_the_day_and_shows_it_as_it_comes() -> None:
    async with running(PLAIN, first="agents", size=(100, 40)) as seen:
        seen.app.front.focus_row("a-2")
        await seen.press("f5")
        assert isinstance(seen.app.screen, Report)
        assert any(isinstance(one, ReadDay) for one in seen.doors.submitted)
        assert "loading trades" in seen.text
        await seen.bring(STATE)
        assert "updated 2s ago" in seen.text
        await seen.press("escape")
        assert not isinstance(seen.app.screen, Report)
