"""Features that old versions of the published client lack. Source: spec, "Versioning"."""

from typing import Final

Version = tuple[int, ...]

LACKS: Final[tuple[tuple[Version, str], ...]] = (
    ((0, 9, 17), "trade() takes signal_data, which backtests need, from 0.9.17 on"),
    ((0, 9, 21), "the reactor skill needs 0.9.21 or newer"),
)
"""What a version below these cannot do."""

LEAST: Final = ".".join(str(part) for part in LACKS[-1][0])
"""The oldest version that can do everything here."""


def lacks_of(sdk_version: str) -> list[str]:
    """What a version, numbers with dots between, cannot do; one that is none lacks nothing."""
    parts = sdk_version.split(".")
    if not all(part.isascii() and part.isdigit() for part in parts):
        return []
    # 0.10 is 0.10.0.
    version = tuple(int(part) for part in parts) + (0,) * (3 - len(parts))
    return [text for since, text in LACKS if version < since]
