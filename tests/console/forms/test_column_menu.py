"""The columns of a table: shown, hidden and moved by keys, and kept for the next start."""

from dataclasses import replace

import pytest

from kit.console.doors import Running, running, seen_before
from kit.samples.guarded import guarded_state
from service_tui.console.parts.table_screen import REST_S
from service_tui.console.parts.view_memory import ViewMemory
from service_tui.console.screens.markets.table import MARKETS
from service_tui.console.shell.views import SCREENS
from service_tui.console.widgets.columns import Column, ColumnChoice, arranged, whole_order
from service_tui.desk.commands.settings import SetPreference

STATE = seen_before(guarded_state())
COLUMNS = MARKETS.columns


def ids(columns: tuple[Column, ...]) -> list[str]:
    return [column.id for column in columns]


def titles(seen: Running) -> list[str]:
    """The titles of the table in front, from left to right."""
    header = next(line for line in seen.lines if "market  " in line and "ends" in line)
    return header.replace("↓", " ").replace("24h pt", "24h-pt").replace("24h $", "24h-$").split()


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ((), ids(COLUMNS)),
        ((ColumnChoice("price", shown=False),), [one for one in ids(COLUMNS) if one != "price"]),
        # The name stays, whatever a file says, and a column of no name is none.
        ((ColumnChoice("question", shown=False), ColumnChoice("gone")), ids(COLUMNS)),
        # A later program has further columns: each behind its usual neighbour.
        (
            (ColumnChoice("price"), ColumnChoice("question")),
            ["sign", "price", "change", "spark", "volume", "left", "venue", "category", "question"],
        ),
        ((ColumnChoice("price"), ColumnChoice("price")), ids(COLUMNS)),
    ],
)
def test_a_table_has_the_columns_that_were_chosen_in_their_order(
    choices: tuple[ColumnChoice, ...], expected: list[str]
) -> None:
    assert ids(arranged(COLUMNS, choices)) == expected
    assert sorted(ids(whole_order(COLUMNS, choices))) == sorted(ids(COLUMNS))


def test_a_column_that_is_always_shown_waits_for_no_width() -> None:
    spark = next(one for one in arranged(COLUMNS, [ColumnChoice("spark", shown=True)]) if one.tier)
    assert spark.id != "spark"


async def test_keys_hide_and_move_columns_and_the_next_start_has_them() -> None:
    async with running(STATE, first="markets", size=(80, 24)) as seen:
        assert titles(seen)[:4] == ["market", "YES", "24h-pt", "24h-$"]
        await seen.press(
            "number_sign", "j", "space", "j", "shift+down", "greater_than_sign", "enter"
        )
        assert titles(seen)[:3] == ["market", "24h-$", "24h-pt"]
        await seen.until(lambda: "always" not in seen.text)
        seen.clock[0] += REST_S
        await seen.bring(STATE)
        seen.clock[0] += REST_S
        await seen.press("minus", "1")
        kept = seen.doors.views["view.markets"]
        chosen = ViewMemory.from_text(kept).list_at(0)
        assert chosen is not None
        assert ColumnChoice("price", shown=False) in chosen.columns
    again = {**STATE.preferences, "view.markets": kept}
    async with running(replace(STATE, preferences=again), first="markets", size=(80, 24)) as seen:
        assert titles(seen)[:3] == ["market", "24h-$", "24h-pt"]
        await seen.press("number_sign", "0")
        assert titles(seen)[:4] == ["market", "YES", "24h-pt", "24h-$"]


async def test_the_name_of_a_row_cannot_be_hidden() -> None:
    async with running(STATE, first="portfolio", size=(80, 24)) as seen:
        await seen.press("number_sign", "space")
        assert "it stays" in seen.toasts[-1]
        await seen.press("escape")
        assert SetPreference not in map(type, seen.doors.submitted)


@pytest.mark.slow
@pytest.mark.parametrize("screen", sorted(SCREENS.keys() - {"settings"}))
async def test_every_table_has_the_menu(screen: str) -> None:
    async with running(STATE, first=screen, size=(120, 40)) as seen:
        await seen.press("number_sign")
        assert "Columns" in seen.text
        await seen.press("enter")
        assert not [toast for toast in seen.toasts if "failed" in toast]
