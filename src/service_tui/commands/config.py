"""Each setting with its value and its source, as text or JSON; secrets stay hidden."""

import json
from collections.abc import Sequence
from pathlib import Path

from service_tui.settings import EffectiveSetting, shown


def as_lines(settled: Sequence[EffectiveSetting], data_dir: str) -> tuple[str, ...]:
    """A line for each setting (key, value, source), and the data folder that results."""
    rows = [
        (
            effective.setting.key,
            data_dir if effective.setting.key == "data_dir" else shown(effective),
            f"{effective.source} ({effective.note})" if effective.note else effective.source,
        )
        for effective in settled
    ]
    key, value = (max(len(row[column]) for row in rows) for column in (0, 1))
    return tuple(f"{row[0]:<{key}}  {row[1]:<{value}}  {row[2]}" for row in rows)


def as_json(settled: Sequence[EffectiveSetting]) -> tuple[str, ...]:
    """The settings as a JSON list; null is a default, or a secret."""
    return (
        json.dumps(
            [
                {
                    "key": effective.setting.key,
                    "value": None if effective.setting.is_secret else _plain(effective.value),
                    "is_set": effective.value is not None,
                    "source": effective.source,
                    "note": effective.note or None,
                    "flag": effective.setting.flag or None,
                    "variable": effective.setting.variable or None,
                }
                for effective in settled
            ],
            indent=2,
        ),
    )


def _plain(value: object) -> object:
    return str(value) if isinstance(value, Path) else value
