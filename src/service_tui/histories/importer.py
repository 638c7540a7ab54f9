"""One import: find the files, read each by its format, and write one history."""

import importlib
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from service_tui.extras import needs
from service_tui.histories.formats import MORE_TABLES, MORE_WORDS, Format, format_of, source_of
from service_tui.histories.json_formats import NO_SENSE, read_json
from service_tui.histories.staging import READ_SHARE, ImportCounts, OnProgress, understand, write
from service_tui.histories.words import CREATE
from service_tui.storage.errors import as_storage_error
from service_tui.storage.history_file import (
    HistoryError,
    HistorySummary,
    HistoryWriter,
    history_path,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY: Final = "700MB"
THREADS: Final = 2

TABLES_OF: Final = frozenset({".csv", ".parquet"})
READ: Final = TABLES_OF | {".json"}


class ImportReport(NamedTuple):
    """The history that was written, what is in it, and files that were passed over, with why."""

    about: HistorySummary
    taken: ImportCounts
    passed_over: tuple[tuple[str, str], ...]


def import_history(
    folder: Path, name: str, paths: Sequence[Path], *, on_progress: OnProgress
) -> ImportReport:
    """Make one history of files and folders, in the place of an older one of its name.

    Args:
        folder: the data directory in which it is kept.
        name: what it is called.
        paths: files, or folders with files at any depth.
        on_progress: called with the step and the share done.

    Returns:
        What was taken, and what was not.

    Raises:
        HistoryError: nothing in them is understood, or one of them cannot be read. An older history
            of this name stays as it was.
    """
    try:
        duckdb = importlib.import_module("duckdb")
    except ImportError as error:
        raise HistoryError(needs("history")) from error
    path = history_path(folder, name)
    files = list(_files(paths))
    if not files:
        raise HistoryError(f"no .csv, .json or .parquet in {', '.join(map(str, paths))}")
    # Locked from the start: a second import of the name is refused before it reads anything.
    with (
        as_storage_error(),
        _writing(path) as writer,
        tempfile.TemporaryDirectory(prefix="service-tui-") as rest,
    ):
        settings = {"memory_limit": MEMORY, "threads": THREADS, "temp_directory": rest}
        database = duckdb.connect(str(Path(rest) / "staging"), config=settings)
        try:
            # A time without a zone is one of UTC, wherever the machine stands.
            database.execute("SET TimeZone = 'UTC'")
            passed_over = _read_all(_Import(database, Path(rest), duckdb.Error, on_progress), files)
            understand(database, on_progress)
            taken = write(database, writer, on_progress)
            _refuse_nothing(database, taken)
            about = writer.finish(name)
        except duckdb.Error as error:
            raise HistoryError(f"the files cannot be read: {_first_line(error)}") from error
        except RuntimeError as error:
            if "interrupted" not in str(error).lower():
                raise
            # DuckDB takes the ctrl+c that comes while it works for itself.
            raise KeyboardInterrupt from error
        finally:
            database.close()
    return ImportReport(about, taken, passed_over)


def _refuse_nothing(database: "DuckDBPyConnection", taken: ImportCounts) -> None:
    """Name the first row that cannot be read where nothing else was there."""
    unread = database.execute("SELECT place || ': ' || what FROM unread LIMIT 1").fetchone()
    if not taken.markets and unread is not None:
        raise HistoryError(f"nothing was taken: no row can be read; {unread[0][:200]}")


@contextmanager
def _writing(path: Path) -> Generator[HistoryWriter]:
    """A writer that leaves nothing behind where it has not finished."""
    writer = HistoryWriter(path)
    try:
        yield writer
    finally:
        writer.give_up()


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    """Every file that may be read, a folder's in the order of their names."""
    for path in paths:
        if path.is_dir():
            yield from sorted(
                one for one in path.rglob("*") if one.suffix in READ and one.is_file()
            )
        elif path.is_file():
            yield path
        else:
            raise HistoryError(f"there is no {path}")


class _Import(NamedTuple):
    """An import that runs: the tables, a folder for files between, DuckDB's errors, who is told."""

    database: "DuckDBPyConnection"
    rest: Path
    broken: type[Exception]
    on_progress: OnProgress


def _read_all(running: _Import, files: Sequence[Path]) -> tuple[tuple[str, str], ...]:
    """Read every file that is understood into the staging tables.

    Returns:
        Files that were passed over, with the reason.
    """
    for part in (CREATE, MORE_TABLES):
        running.database.execute(part)
    passed_over: list[tuple[str, str]] = []
    sizes = [file.stat().st_size for file in files]
    total = max(1, sum(sizes))
    read_before = accumulate(sizes, initial=0)
    for place, (file, before) in enumerate(zip(files, read_before, strict=False), 1):
        share = READ_SHARE * before / total
        running.on_progress(f"reading {file.name}, file {place:,} of {len(files):,}", share)
        try:
            known = _read(running, file)
        except (running.broken, *NO_SENSE) as error:
            raise HistoryError(f"{file.name} cannot be read: {_first_line(error)}") from error
        if known is None:
            passed_over.append((str(file), "no format that is known"))
    if len(passed_over) == len(files):
        raise HistoryError(
            f"{files[0].name} and the rest are of no format that is known: docs/history.md lists "
            "them, with the columns of our own"
        )
    running.database.execute(MORE_WORDS)
    return tuple(passed_over)


def _read(running: _Import, file: Path) -> str | None:
    """Read a file; the name of its format, None where it is of none."""
    if file.suffix not in TABLES_OF:
        return read_json(running.database, file, running.rest)
    source = source_of(running.database, file)
    found = format_of(source.columns)
    if found is None:
        return None
    running.database.execute("BEGIN")
    try:
        found.read(running.database, source)
    except running.broken as error:
        running.database.execute("ROLLBACK")
        if file.suffix != ".csv" or not _read_rest(running, file, found):
            raise HistoryError(f"{file.name} cannot be read: {_first_line(error)}") from error
    else:
        running.database.execute("COMMIT")
    return found.name


def _read_rest(running: _Import, file: Path, found: Format) -> bool:
    """Read a table without its rows that cannot be read; False where none of them is the cause."""
    found.read(running.database, source_of(running.database, file, leaves_out=True))
    running.database.execute(
        "INSERT INTO unread SELECT DISTINCT 'a row that cannot be read', ? || ':' || line,"
        " error_message || ': ' || left(csv_line, 120) FROM reject_errors",
        [file.name],
    )
    (count,) = running.database.execute("SELECT count(*) FROM reject_errors").fetchone() or (0,)
    running.database.execute("DROP TABLE reject_errors")
    running.database.execute("DROP TABLE reject_scans")
    return bool(count)


def _first_line(error: Exception) -> str:
    """What went wrong; of a table, with the line it went wrong at and the cause."""
    lines = [line for line in str(error).splitlines() if line and line[:13] != "Original Line"]
    return "; ".join(lines[: 2 if " CSV " in lines[0] else 1])[:300] if lines else ""
