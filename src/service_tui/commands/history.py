"""The command for histories: recorded markets on which an offline world can run."""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from service_tui.app.histories import day, folder_of, folders_of, moment_at
from service_tui.commands.json_text import json_text
from service_tui.evaluation import forecasts
from service_tui.histories.importer import ImportReport, import_history
from service_tui.histories.staging import OnProgress
from service_tui.storage.history_file import (
    HistoryError,
    HistoryFile,
    HistorySummary,
    MarketRow,
    cut,
    history_path,
    names,
    remove,
)
from service_tui.terms import counted

MOST: Final = 12
"""Groups that are listed by name; the rest are counted together."""

_Z: Final = 1.959964
"""Of a 95 % interval."""


class CalibrationRow(NamedTuple):
    """Markets whose price at the middle of their life lay in a tenth of 0 to 1.

    `share` is how many of them ended YES, `low` and `high` its 95 % interval by Wilson's formula.
    """

    low_price: float
    high_price: float
    markets: int
    mean_price: float
    share: float
    low: float
    high: float


FROM_S: Final = 3.0
"""How long an import must have run before its time left is more than a guess."""


def progress_text(what: str, share: float, elapsed_s: float) -> str:
    """What an import is doing, how much of it is done, and about how long it still takes."""
    text = f"{what}; {share:.0%} done"
    if elapsed_s < FROM_S or not share:
        return text
    left = round(elapsed_s * (1 - share) / share)
    return f"{text}, about {left // 60} min {left % 60} s left"


def run_history(
    data_dir: Path,
    arguments: argparse.Namespace,
    *,
    on_progress: Callable[[str], None],
    clock: Callable[[], float],
) -> Sequence[str]:
    """Carry out an action of `history`.

    Args:
        data_dir: where histories are kept.
        arguments: the action and its words.
        on_progress: called with the progress.
        clock: seconds since any moment, for how long an import has run.

    Returns:
        Lines for a person, or one line of JSON.

    Raises:
        StorageError: it cannot be done; gives the reason.
    """
    if arguments.act == "import":
        begun = clock()
        return tuple(
            _imported(
                data_dir,
                arguments,
                lambda what, share: on_progress(progress_text(what, share, clock() - begun)),
            )
        )
    if arguments.act == "list":
        return tuple(_listed(folders_of(data_dir), as_json=arguments.json))
    folder = folder_of(arguments.name, folders_of(data_dir))
    if arguments.act == "cut":
        return tuple(_cut(data_dir, folder, arguments))
    if arguments.act == "remove":
        remove(folder, arguments.name)
        return (
            f"the history {arguments.name} is removed; a world on it needs the same files again",
        )
    with HistoryFile(history_path(folder, arguments.name)) as file:
        return tuple(_shown(file, arguments))


def _imported(
    data_dir: Path, arguments: argparse.Namespace, on_progress: OnProgress
) -> Iterator[str]:
    first = arguments.paths[0].resolve()
    name = arguments.name or (first.stem if first.is_file() else first.name).lower()
    if name in names(data_dir) and not arguments.replace:
        raise HistoryError(
            f"there is a history {name}: --replace makes it anew, and the worlds on it end with it;"
            " or give another --name"
        )
    report = import_history(data_dir, name, arguments.paths, on_progress=on_progress)
    yield from report_lines(report)


def _cut(data_dir: Path, folder: Path, arguments: argparse.Namespace) -> Iterator[str]:
    new_name = arguments.new_name
    path = history_path(data_dir, new_name)
    if new_name in names(data_dir):
        raise HistoryError(f"there is a history {new_name}: give another name, or remove it first")
    until = moment_at(arguments.until, "--until")
    with HistoryFile(history_path(folder, arguments.name)) as source:
        about = cut(source, until, path, new_name)
    yield f"history {about.name}: {_summary(about)}"
    yield f"it knows nothing later than {arguments.until}"


def report_lines(report: ImportReport) -> Iterator[str]:
    """What an import has done, for a person."""
    about = report.about
    yield f"history {about.name}: {_summary(about)}"
    for reason, count in report.taken.left_out.items():
        yield f"  left out: {count} x {reason}"
    for path, reason in report.passed_over:
        yield f"  passed over: {path} ({reason})"
    if report.taken.left_out:
        yield f"  which rows: service-tui history show {about.name} --left-out"
    yield f"trade on it: service-tui --history {about.name} --from {day(about.begins_at)}"


def _summary(about: HistorySummary) -> str:
    return (
        f"{about.markets:,} markets, {about.points:,} prices, {day(about.begins_at)} to "
        f"{day(about.ends_at)}, {about.size / 1e6:.1f} MB; {about.sources}"
    )


def _listed(folders: Sequence[Path], *, as_json: bool) -> Iterator[str]:
    found = {name: folder for folder in reversed(folders) for name in names(folder)}
    rows: list[HistorySummary] = []
    for name, folder in sorted(found.items()):
        with HistoryFile(history_path(folder, name)) as file:
            rows.append(file.about)
    if as_json:
        yield json.dumps([one._asdict() for one in rows])
        return
    if not rows:
        yield "no history yet: service-tui history import PATH (docs/history.md)"
    for one in rows:
        yield f"{one.name}: {_summary(one)}"


def _shown(file: HistoryFile, arguments: argparse.Namespace) -> Iterator[str]:
    if arguments.left_out:
        for row in file.left_out():
            yield f"{row.reason}: {row.place}: {row.what}"
        return
    markets = list(file.markets())
    rows = calibration(file, markets)
    ends = Counter(map(_end_of, markets))
    if arguments.json:
        whole: dict[str, object] = {
            **file.about._asdict(),
            "ends": ends,
            "left_out": file.left_out_counts(),
            "calibration": [row._asdict() for row in rows],
        }
        yield json_text("one-history", whole)
        return
    yield f"history {file.about.name}: {_summary(file.about)}"
    yield f"  ends: {_counted(ends)}"
    yield f"  categories: {_counted(Counter(one.category or 'none' for one in markets))}"
    events = Counter(one.event for one in markets if one.event)
    several = Counter({name: count for name, count in events.items() if count > 1})
    yield f"  events of several markets: {len(several)}; {_counted(several)}"
    yield f"  without an announced end: {sum(one.closes_at is None for one in markets)} markets"
    same = sum(one.closes_at is not None and one.closes_at == one.ends_at for one in markets)
    yield (
        f"  announced end equal to the outcome's: {same} markets; the source may have changed it "
        "afterwards"
    )
    yield f"  bid and ask recorded: {counted(file.quoted_count(), 'market')}"
    trades, wallets = file.traded_count()
    yield f"  trades of wallets: {trades:,}, of {counted(wallets, 'wallet')}"
    for reason, count in file.left_out_counts().items():
        yield f"  left out: {count} x {reason}"
    yield "  calibration at half life (price of YES, markets, mean price, share YES, 95 %):"
    for row in rows:
        yield (
            f"    {row.low_price:.1f} to {row.high_price:.1f}  {row.markets:5}  "
            f"{row.mean_price:.2f}  {row.share:.2f}  {row.low:.2f} to {row.high:.2f}"
        )


def _end_of(row: MarketRow) -> str:
    if row.settles_at is None:
        return "open at the end of the recording"
    names_of = {1.0: "YES", 0.0: "NO", -1.0: "money back"}
    return names_of.get(row.settles_at, "a fraction")


def _counted(counts: Counter[str]) -> str:
    named = [f"{name} {count}" for name, count in counts.most_common(MOST)]
    rest = len(counts) - len(named)
    return ", ".join([*named, *([f"{rest} more"] if rest > 0 else [])]) or "none"


def calibration(file: HistoryFile, markets: Sequence[MarketRow]) -> list[CalibrationRow]:
    """How often markets ended YES, by their price at the middle of their life.

    Args:
        file: their prices.
        markets: those that ended YES or NO count.

    Returns:
        A row for each tenth of the prices in which there are any.
    """
    pairs = [
        (file.price_at(one.number, (one.opens_at + one.ends_at) / 2), one.settles_at)
        for one in markets
        if one.ends_at is not None and one.settles_at in {0.0, 1.0}
    ]
    return [
        CalibrationRow(one.low, one.high, one.forecasts, one.stated, one.came, *one.interval)
        for one in forecasts.calibration([(price, came or 0.0) for price, came in pairs], _Z)
    ]
