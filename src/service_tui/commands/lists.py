"""`service-tui status`, `markets`, `positions`, ...: the screens' lists, for scripts and shells.

The directory is read as by `report`, without a desk.
"""

import json

from service_tui.app.options import Options
from service_tui.clock import SystemClock
from service_tui.commands.report_data import ReportData, local_state
from service_tui.console.need_rows import LISTINGS
from service_tui.desk.audit.exports import Row, Rows
from service_tui.folding import folded


def listed(options: Options, name: str, *, find: str = "", limit: int | None = None) -> Rows:
    """The rows of a list.

    Args:
        options: which directory.
        name: one of LISTINGS.
        find: only rows whose texts contain each of these words.
        limit: rows at most; None for all.

    Returns:
        The rows, as the screens order them.

    Raises:
        ReportError: the service does not answer, or does not have this list.
        DeskClosedError: the directory cannot be used.
    """
    listing = LISTINGS[name]
    if listing.wanted.is_nothing:
        # It lies in the directory: no service is asked.
        data = ReportData(local_state(options.data_dir), {}, SystemClock().now())
    else:
        # With it comes the service, which the notes of a directory do not need.
        from service_tui.commands.report import load  # noqa: PLC0415

        data = load(options, listing.wanted)
    rows = rows_in(data, name, find)
    return rows if limit is None else rows[:limit]


def rows_in(data: ReportData, name: str, find: str = "") -> Rows:
    """The rows of a list among what was read, as by `listed`."""
    made = LISTINGS[name].rows(data.state, data.pasts, data.at)
    return [row for row in made if _matches(row, find)]


def _matches(row: Row, find: str) -> bool:
    text = " ".join(cell for cell in row.values() if isinstance(cell, str))
    return all(word in folded(text) for word in folded(find).split())


def as_json(name: str, rows: Rows) -> str:
    """One object for `status`, else a list of objects; whole, and with stable keys."""
    if name == "status":
        # A table has no form.
        from service_tui.commands.json_text import json_text  # noqa: PLC0415

        return json_text(name, rows[0])
    return json.dumps([dict(row) for row in rows], indent=1, ensure_ascii=False, allow_nan=False)
