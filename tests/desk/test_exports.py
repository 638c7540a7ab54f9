"""Exports: cells that no spreadsheet calculates, numbers that stay numbers."""

import csv
import io
import json
from dataclasses import replace

import pytest

from fleet_samples import sample_supervision
from samples import NOW, sample_state
from service_tui.desk.exports import TABLES, as_csv, as_json, day_in_markdown, safe_cell

STATE = replace(sample_state(), supervision=sample_supervision())


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "  =cmd|' /C calc'!A0", "\n@x"]
)
def test_a_formula_becomes_text(text: str) -> None:
    assert safe_cell(text) == f"'{text}"


@pytest.mark.parametrize("value", [-1.5, 0, 3, "plain", "a=b", ""])
def test_what_is_none_stays(value: str | float) -> None:
    assert safe_cell(value) == value


@pytest.mark.parametrize("name", TABLES)
def test_every_table_reads_back_in_both_forms(name: str) -> None:
    rows = TABLES[name](STATE)
    read = list(csv.DictReader(io.StringIO(as_csv(rows))))
    told = json.loads(as_json(rows))
    assert len(read) == len(told) == len(rows)
    assert name == "alerts" or rows
    for before, after in zip(rows, told, strict=True):
        assert dict(before) == after


def test_a_day_is_a_table_that_no_name_breaks() -> None:
    text = day_in_markdown(STATE, NOW)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + len(STATE.fleet.agents)
    assert "tide \\[/red\\]" in text
    assert "2 trades wait for approval." in text
