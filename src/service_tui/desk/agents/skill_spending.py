"""Today's spending of skills at a service without permissions, kept over a restart."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from service_tui.plain_files import read_plain
from service_tui.units import Micros

SPENDING: Final = "skill-spending.json"
DAY_MAX: Final = 10_000_000
"""ours: of days since 1970."""

_BROKEN: Final = f"cannot read {SPENDING}: today's budget is unknown until it is repaired"


@dataclass(frozen=True, slots=True)
class SkillSpending:
    """The file of a data directory. Every method blocks; one writes at a time."""

    data_dir: Path

    def keep(self, name: str, day: int, spent: Micros) -> None:
        """Store one skill's spending; raises OSError or ValueError if that fails."""
        rows = {one: row for one, row in self.rows().items() if row[0] >= day}
        rows[name] = (day, spent)
        draft = self.data_dir / f"{SPENDING}.new"
        draft.unlink(missing_ok=True)
        made = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(made, "w", encoding="utf-8") as file:
            json.dump(rows, file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.data_dir / SPENDING)

    def rows(self) -> dict[str, tuple[int, Micros]]:
        """Spending of every skill on the latest day.

        Returns:
            The day and the money, by names.

        Raises:
            OSError: the file cannot be read.
            ValueError: something else stands in it.
        """
        try:
            stored: object = json.loads(read_plain(self.data_dir / SPENDING))
        except FileNotFoundError:
            return {}
        except (ValueError, RecursionError) as error:
            raise ValueError(_BROKEN) from error
        if not isinstance(stored, dict):
            raise ValueError(_BROKEN)  # noqa: TRY004 - the file's fault, no caller's
        pairs: dict[object, object] = {**stored}
        return {str(name): _row(row) for name, row in pairs.items()}


def _row(row: object) -> tuple[int, Micros]:
    match row:
        case [int(day), int(spent)] if (
            type(day) is type(spent) is int and 0 <= day <= DAY_MAX and 0 <= spent < 2**63
        ):
            return day, Micros(spent)
        case _:
            raise ValueError(_BROKEN)
