"""Translates SQLite statements for PostgreSQL's driver."""

import re
from functools import lru_cache
from typing import Final

_PARAMETER: Final = re.compile(r"(?<!:):([a-z_]\w*)")
_HINT: Final = re.compile(r" INDEXED BY \w+| LIMIT -1\b")
"""What only SQLite's planner needs."""


@lru_cache(maxsize=512)
def translated(sql: str) -> str:
    """A statement with its parameters as the driver names them: `%(name)s` for `:name`."""
    return _PARAMETER.sub(r"%(\1)s", _HINT.sub("", sql.replace("%", "%%")))
