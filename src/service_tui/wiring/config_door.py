"""Each setting with its value and where it comes from, to read or as JSON; secrets stay hidden."""

import json
from collections.abc import Sequence
from pathlib import Path

from service_tui.settings import EffectiveSetting, shown


def as_lines(settled: Sequence[EffectiveSetting], data_dir: str) -> tuple[str, ...]:
    """A line for each setting: its key, its value, its source; and which data folder that makes."""
    rows = [
        (
            one.setting.key,
            data_dir if one.setting.key == "data_dir" else shown(one),
            f"{one.source} ({one.note})" if one.note else one.source,
        )
        for one in settled
    ]
    key, value = (max(len(row[column]) for row in rows) for column in (0, 1))
    return tuple(f"{row[0]:<{key}}  {row[1]:<{value}}  {row[2]}" for row in rows)


def as_json(settled: Sequence[EffectiveSetting]) -> tuple[str, ...]:
    """The same as one JSON list; null is a default, or a secret."""
    return (
        json.dumps(
            [
                {
                    "key": one.setting.key,
                    "value": None if one.setting.is_secret else _plain(one.value),
                    "is_set": one.value is not None,
                    "source": one.source,
                    "note": one.note or None,
                    "flag": one.setting.flag or None,
                    "variable": one.setting.variable or None,
                }
                for one in settled
            ],
            indent=2,
        ),
    )


def _plain(value: object) -> object:
    return str(value) if isinstance(value, Path) else value
