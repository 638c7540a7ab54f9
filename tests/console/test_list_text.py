"""Lists for scripts: stable keys, the figures of the screens, harmless text."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kit.console.doors import running, seen_before
from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import fleet_state, trade_of
from service_tui.app.options import Options
from service_tui.commands.lists import as_json, listed
from service_tui.commands.report import ReportData
from service_tui.console import formats
from service_tui.console.list_text import as_lines
from service_tui.console.questions import short_question
from service_tui.desk.audit.exports import Row
from service_tui.desk.audit.listings import LISTINGS, status_row
from service_tui.desk.audit.report_rows import plain as report_markdown_cell
from service_tui.desk.slices.supervision import AgentDetailView
from service_tui.desk.state import DeskState
from service_tui.units import ONE, Micros

STATE = seen_before(sample_state())


def rows_of(name: str, state: DeskState = STATE) -> list[Row]:
    return list(LISTINGS[name].rows(state, {}, NOW))


def micros(value: object) -> Micros:
    assert isinstance(value, float)
    return Micros(round(value * ONE))


@pytest.mark.parametrize("name", LISTINGS)
def test_rows_are_json_with_the_same_keys_in_each(name: str) -> None:
    state = fleet_state() if name == "agents" else STATE
    rows = rows_of(name, state)
    assert len({tuple(row) for row in rows}) <= 1
    assert set(LISTINGS[name].columns) <= set(rows[0] if rows else LISTINGS[name].columns)
    value = json.loads(as_json(name, rows))
    assert isinstance(value, dict if name == "status" else list)
    shown = [row for row in rows if name != "markets" or row["status"] == "active"]
    assert len(as_lines(name, rows)) > len(shown) or not rows


@pytest.mark.slow
async def test_the_figures_are_those_of_the_screens() -> None:
    """One moment: each row's figures stand in the line of the screen that lists it."""
    async with running(STATE, first="portfolio", size=(200, 60)) as seen:
        head = seen.lines[0]
        status = status_row(STATE)
        for key in ("equity", "cash"):
            assert formats.money(micros(status[key])).plain in head
        for row in rows_of("positions"):
            if row["money"] != "$SIM":
                continue
            figures = formats.money(micros(row["unrealized"])).plain, f"{row['average']:.3f}"
            assert in_one_line(seen.lines, str(row["question"]), *figures)
        await seen.press("2")
        await seen.until(lambda: seen.app.front.name_in_keys == "markets")
        for row in [row for row in rows_of("markets") if row["status"] == "active"][:10]:
            assert in_one_line(seen.lines, str(row["question"]), f"{row['yes']:.3f}")


def in_one_line(lines: list[str], question: str, *figures: str) -> bool:
    wanted = short_question(question)[-12:], *figures
    return any(all(part in line for part in wanted) for line in lines)


def test_unknown_is_null_and_never_a_figure() -> None:
    bare = replace(STATE, account=None, limits=None, world=None, seen={})
    status = status_row(bare)
    assert {key for key, value in status.items() if value is not None} == {"service", "money"}
    text = "\n".join(as_lines("status", [status]))
    assert "0.00" not in text
    assert [line.split()[-1] for line in text.split("\n") if line.startswith("equity")] == ["-"]


def test_words_find_rows_and_a_limit_ends_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service_tui.commands.report.load", lambda *_: ReportData(STATE, {}, NOW))
    options = Options(Path(), Path(), Path())
    every = listed(options, "markets")
    found = listed(options, "markets", find="gauge ANSELM")
    assert 0 < len(found) < len(every)
    assert all("Anselm" in str(row["question"]) for row in found)
    assert listed(options, "markets", find="gauge anselm", limit=2) == found[:2]
    assert listed(options, "markets", find="no such words") == []
    assert as_lines("markets", []) == ["no markets"]


def test_a_list_begins_with_numbered_names_and_has_ids_where_asked() -> None:
    rows = rows_of("markets")
    head, first, *_, last = as_lines("markets", rows)
    assert head.split()[:3] == ["#", "market", "YES"]
    assert first.split()[0] == "1"
    assert short_question(str(rows[0]["question"])) in first
    ended = sum(row["status"] != "active" for row in rows)
    assert last == f"{ended} ended, left out; --json has them"
    assert not any(str(rows[0]["market"]) in line for line in as_lines("markets", rows))
    assert str(rows[0]["market"]) in as_lines("markets", rows, ids=True)[1]


def test_a_fill_has_the_name_of_its_agent_and_its_id_where_asked() -> None:
    state = fleet_state()
    agent = state.fleet.agents[0]
    pasts = {agent.agent_id: AgentDetailView(agent.agent_id, (trade_of(1),), ())}
    rows = list(LISTINGS["fills"].rows(state, pasts, NOW))
    assert (rows[0]["agent"], rows[0]["agent_name"]) == (agent.agent_id, agent.name)
    head, line = as_lines("fills", rows)
    assert head.split()[:4] == ["#", "market", "at", "agent"]
    assert agent.name in line
    assert agent.agent_id not in line.split()
    assert agent.agent_id in as_lines("fills", rows, ids=True)[1].split()


def test_the_fields_of_an_agent_begin_with_its_name_and_have_its_id_where_asked() -> None:
    rows = rows_of("agents", fleet_state())
    lines = as_lines("agents", rows)
    assert lines[0].split() == ["name", str(rows[0]["name"])]
    assert not any(line.startswith("agent ") for line in lines)
    assert any(line.startswith("agent ") for line in as_lines("agents", rows, ids=True))


@pytest.mark.parametrize(
    ("name", "titles"),
    [("positions", "market side shares avg mark"), ("markets", "market YES")],
)
def test_a_list_has_the_titles_of_its_screen(name: str, titles: str) -> None:
    head = as_lines(name, rows_of(name))[0]
    assert " ".join(head.split()[1:]).startswith(titles)


def test_a_long_name_is_wrapped_at_its_words() -> None:
    rows = rows_of("positions")
    whole = as_lines("positions", rows)
    lines = as_lines("positions", rows, width=110)
    assert max(map(len, whole)) > 110 >= max(map(len, lines))
    words = " ".join(" ".join(line.split()) for line in lines)
    for row in rows:
        for word in short_question(str(row["question"])).split():
            assert word in words


def test_a_moment_is_written_to_the_minute_and_any_other_text_as_it_is() -> None:
    moment = "2027-01-15T08:00:59+00:00"
    row: Row = {"at": moment, "note": moment, "is_own": True, "yes": 0.5, "cost": 1_234.5}
    # A list without columns of its own has its fields below one another.
    assert as_lines("status", [row]) == [
        "at      2027-01-15 08:00 UTC", f"note    {moment}", "is own  yes", "YES     0.500",
        "amount  1,234.50",
    ]  # fmt: skip


def test_a_hostile_question_stays_one_harmless_line() -> None:
    market = next(one for one in STATE.markets.values() if one.is_open)
    hostile = replace(market, question="Will \x1b[2J[red]it\nrain\u202e?")
    lines = as_lines("markets", rows_of("markets", replace(STATE, markets={"m": hostile})))
    assert len(lines) == 2
    assert not any(letter in lines[1] for letter in "\x1b\u202e")


def test_a_loss_that_rounds_to_zero_has_no_sign() -> None:
    row = {**rows_of("positions")[0], "unrealized": -0.00001}
    assert "-0.00" not in as_lines("positions", [row])[-1]
    assert "-0.00" not in report_markdown_cell(-0.00001)
