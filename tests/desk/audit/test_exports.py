"""Exports: cells that no spreadsheet calculates, numbers that stay numbers."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import sample_supervision
from service_tui.desk.audit.exports import TABLES, as_json, day_in_markdown, files_of, safe_cell
from service_tui.desk.audit.new_files import write_files, write_new
from service_tui.desk.audit.report import day_reports, known_pasts, midnight, totals
from service_tui.desk.audit.report_rows import report_markdown, report_rows
from service_tui.desk.slices.agents import AgentDetailView, ReasonedTradeView, VenueMoneyView
from service_tui.desk.slices.research import ExperimentView, ResearchView
from service_tui.terms import ExperimentStatus, Venue
from service_tui.units import ONE, Micros, Timestamp

STATE = replace(sample_state(), supervision=sample_supervision())


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "  =cmd|' /C calc'!A0", "\n@x", "\tx", "\r"]
)
def test_a_formula_becomes_text(text: str) -> None:
    assert safe_cell(text) == f"'{text}"


@pytest.mark.parametrize("value", [-1.5, 0, 3, "plain", "a=b", ""])
def test_what_is_none_stays(value: str | float) -> None:
    assert safe_cell(value) == value


TRADE = STATE.trades[0]


def traded(**change: object) -> ReasonedTradeView:
    return ReasonedTradeView(
        replace(TRADE, **{"at": Timestamp(NOW - 60), **change}), "gauge", {"edge": 0.1}
    )


PASTS = {
    "a-2": AgentDetailView(
        "a-2",
        (
            traded(trade_id="t-3", action="sell", cost=Micros(9 * ONE), pnl=Micros(-2 * ONE)),
            traded(trade_id="t-2", action="sell", cost=Micros(30 * ONE), pnl=Micros(5 * ONE)),
            traded(trade_id="t-1", action="buy", cost=Micros(25 * ONE), pnl=None,
                   reasoning="=cheap\n# enough"),
            ReasonedTradeView(replace(TRADE, trade_id="t-0", at=Timestamp(midnight(NOW) - 1))),
        ),
        (),
    ),
    "a-3": AgentDetailView("a-3", (), (), "refused with 404"),
}  # fmt: skip
EXPERIMENT = ExperimentView(
    "gauge", 1, 4, ExperimentStatus.KEEP, 1.25, "@wider", NOW, {"sharpe": 0.5}, session="s",
)  # fmt: skip
FULL = replace(STATE, research=ResearchView(experiments=(EXPERIMENT,)))


@pytest.mark.parametrize("name", ["agents", "trades", "positions", *TABLES])
def test_every_table_reads_back_in_both_forms(name: str) -> None:
    files = files_of(FULL, NOW, PASTS)
    read = list(csv.DictReader(io.StringIO(files[f"{name}.csv"])))
    told = json.loads(files[f"{name}.json"])
    assert len(read) == len(told)
    assert name == "alerts" or read
    assert as_json(told) == files[f"{name}.json"]
    for before, after in zip(told, read, strict=True):
        assert [str(safe_cell(cell)) for cell in before.values()] == list(after.values())


@pytest.mark.parametrize("history", ["", "oslo", None])
def test_each_row_says_what_world_it_is_of(history: str | None) -> None:
    assert FULL.world is not None
    world = None if history is None else replace(FULL.world, history=history)
    word = {"": "invented", "oslo": "history oslo", None: None}[history]
    files = files_of(replace(FULL, world=world), NOW, PASTS)
    for name in ("agents", "trades", "positions", "experiments"):
        assert {row["world"] for row in json.loads(files[f"{name}.json"])} == {word}


def test_experiments_are_exported_with_numbers_that_stay_numbers() -> None:
    (row,) = json.loads(files_of(FULL, NOW, PASTS)["experiments.json"])
    assert (row["metric"], row["number"], row["description"]) == (1.25, 4, "@wider")
    assert "'@wider" in files_of(FULL, NOW, PASTS)["experiments.csv"]


def test_the_trades_of_every_agent_are_exported_with_their_reasons() -> None:
    rows = json.loads(files_of(FULL, NOW, PASTS)["trades.json"])
    assert {row["agent"] for row in rows} == {"a-2"}
    assert json.loads(rows[0]["signal_data"]) == {"edge": 0.1}


def test_a_fee_has_its_own_column_and_is_empty_where_it_is_not_told() -> None:
    past = AgentDetailView(
        "a-2", (traded(fee=Micros(1_080_000)), traded(fee=Micros(0)), traded(fee=None)), ()
    )
    files = files_of(FULL, NOW, {"a-2": past})
    assert [row["fee"] for row in json.loads(files["trades.json"])] == [1.08, 0.0, None]
    read = csv.DictReader(io.StringIO(files["trades.csv"]))
    assert [row["fee"] for row in read] == ["1.08", "0.0", ""]


def test_a_day_counts_what_happened_since_midnight() -> None:
    reports = {one.agent.agent_id: one for one in day_reports(FULL, NOW, PASTS)}
    day = reports["a-2"]
    (play,) = day.monies
    assert (play.buys, play.bought, play.sales, play.sold) == (1, 25 * ONE, 2, 39 * ONE)
    assert play.realized == 3 * ONE
    assert (play.best.trade.trade_id, play.worst.trade.trade_id) == ("t-2", "t-3")
    assert reports["a-3"].problem == "refused with 404"
    assert reports["a-1"].problem == "trades not read"
    assert "a-1" in known_pasts(FULL)


def test_an_order_of_which_nothing_was_filled_is_no_buy_and_no_sale() -> None:
    idle = tuple(
        traded(trade_id=f"o-{action}", action=action, shares=Micros(0), cost=Micros(0), pnl=None)
        for action in ("buy", "sell")
    )
    pasts = PASTS | {"a-2": replace(PASTS["a-2"], trades=(*idle, *PASTS["a-2"].trades))}
    assert totals(day_reports(FULL, NOW, pasts)) == totals(day_reports(FULL, NOW, PASTS))
    (with_idle,) = [one for one in day_reports(FULL, NOW, pasts) if one.agent.agent_id == "a-2"]
    (without,) = [one for one in day_reports(FULL, NOW, PASTS) if one.agent.agent_id == "a-2"]
    assert with_idle.monies == without.monies


def test_a_sale_that_names_no_skill_belongs_to_the_first_buyer_of_its_side() -> None:
    sold = replace(traded(trade_id="t-9", action="sell", pnl=Micros(-2 * ONE)), skill_slug="")
    earlier = traded(trade_id="t-4", action="buy", pnl=None, at=Timestamp(midnight(NOW) - 9))
    other = traded(trade_id="t-5", action="buy", pnl=None, at=Timestamp(midnight(NOW) - 99))
    elsewhere = traded(trade_id="t-6", action="buy", pnl=None, market_id="elsewhere")
    trades = (
        sold,
        replace(elsewhere, skill_slug="hare"),
        earlier,
        replace(other, skill_slug="hare"),
    )
    pasts = {"a-2": AgentDetailView("a-2", trades, ())}
    (day,) = (one for one in day_reports(FULL, NOW, pasts) if one.agent.agent_id == "a-2")
    assert {one.skill_slug: (one.trades_count, one.pnl) for one in day.monies[0].skills} == {
        "hare": (2, -2 * ONE),
    }  # fmt: skip
    pasts = {"a-2": AgentDetailView("a-2", (sold,), ())}
    (day,) = (one for one in day_reports(FULL, NOW, pasts) if one.agent.agent_id == "a-2")
    assert [one.skill_slug for one in day.monies[0].skills] == [""]


def test_no_sum_holds_two_monies() -> None:
    real = traded(trade_id="t-7", action="buy", pnl=None, venue=Venue.EVM, cost=Micros(4 * ONE))
    sold = traded(
        trade_id="t-8", action="sell", venue=Venue.EVM, cost=Micros(6 * ONE), pnl=Micros(2 * ONE)
    )
    past = AgentDetailView("a-2", (sold, real, *PASTS["a-2"].trades), ())
    agents = tuple(
        replace(one, venues=(EVM_MONEY,) if one.agent_id in {"a-1", "a-2"} else ())
        for one in FULL.fleet.agents
    )
    state = replace(FULL, fleet=replace(FULL.fleet, agents=agents))
    reports = day_reports(state, NOW, {"a-2": past})
    (day,) = (one for one in reports if one.agent.agent_id == "a-2")
    play, usdc = day.monies
    assert (play.money, play.bought, play.sold, play.realized) == (
        "$SIM", 25 * ONE, 39 * ONE, 3 * ONE,
    )  # fmt: skip
    assert (usdc.money, usdc.bought, usdc.sold, usdc.realized) == (
        "USDC.e", 4 * ONE, 6 * ONE, 2 * ONE,
    )  # fmt: skip
    assert {one.skill_slug: one.pnl for one in usdc.skills} == {"gauge": 2 * ONE}
    sums = {one.money: one for one in totals(reports)}
    assert sums["USDC.e"].equity == 2 * EVM_MONEY.equity
    assert sums["$SIM"].equity == sum(one.equity for one in agents)
    assert (sums["USDC.e"].bought, sums["USDC.e"].day_pnl) == (4 * ONE, None)
    rows = [row for row in report_rows(reports) if row["agent"] == "a-2"]
    assert [row["money"] for row in rows] == ["$SIM", "USDC.e"]
    # What has no money stands once, or a sum over the column would count it twice.
    assert rows[1]["waiting"] is rows[1]["approved"] is None
    assert "- Traded in USDC.e: 1 buy for 4.00, 1 sale for 6.00" in report_markdown(reports)
    assert "| all |  |  | USDC.e | 1,974.00 |" in day_in_markdown(state, NOW, {"a-2": past})


EVM_MONEY = VenueMoneyView(
    Venue.EVM, Micros(950 * ONE), Micros(0), Micros(987 * ONE), Micros(-13 * ONE), 1, 0
)


def test_a_day_tells_of_each_agent_and_no_text_breaks_out_of_it() -> None:
    told = report_markdown(day_reports(FULL, NOW, PASTS))
    assert "Traded in $SIM: 1 buy for 25.00, 2 sales for 39.00; realized +3.00" in told
    assert "- Best in $SIM: +5.00" in told
    assert "- Reason: =cheap \\# enough" in told
    assert "- Unknown: refused with 404" in told
    assert [line for line in told.splitlines() if line.startswith("#")] == [
        f"## {one.agent.name}".replace("[", "\\[").replace("]", "\\]")
        for one in day_reports(FULL, NOW, PASTS)
    ]


def test_a_day_is_a_table_that_no_name_breaks() -> None:
    text = day_in_markdown(STATE, NOW, PASTS)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    monies = [day for one in day_reports(STATE, NOW, PASTS) for day in one.monies]
    assert len(rows) == 1 + len(monies) + len(totals(day_reports(STATE, NOW, PASTS)))
    assert "tide \\[/red\\]" in text
    assert "2 trades need approval." in text
    one = day_in_markdown(STATE, NOW, PASTS, "heron")
    assert "## heron" in one
    assert "## moss-runner" not in one


# -- on the disk --------------------------------------------------------------------------------


def test_files_are_whole_private_and_never_over_another(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "out"
    write_files(folder, {"a.csv": "1\n", "b.csv": "2\n"})
    assert [path.name for path in sorted(folder.iterdir())] == ["a.csv", "b.csv"]
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    with pytest.raises(FileExistsError, match=r"b\.csv exists already: nothing written"):
        write_files(folder, {"c.csv": "3", "b.csv": "9"})
    assert not (folder / "c.csv").exists()
    assert (folder / "b.csv").read_text() == "2\n"


def test_a_link_in_the_way_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    (tmp_path / "day.md").symlink_to(target)
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "day.md", "x")
    assert not target.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["day.md"]


def test_a_file_system_without_links_still_keeps_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise PermissionError(1, "no links here")

    monkeypatch.setattr("os.link", no_links)
    write_new(tmp_path / "one", "1")
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "one", "2")
    assert (tmp_path / "one").read_text() == "1"
    assert len(list(tmp_path.iterdir())) == 1
