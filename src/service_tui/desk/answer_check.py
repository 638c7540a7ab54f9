"""Compares the fields of a requested change with the service's answer. Pure."""

import math
from typing import Final, cast

from pydantic import BaseModel

from service_tui.wire.base import WireModel

_Row = tuple[object, ...]

_NEAR: Final = 1e-6
"""Relative; a service may round what it stores."""


def unmet(sent: WireModel, answer: BaseModel) -> tuple[str, ...]:
    """Names of the requested fields that the answer reports with another value.

    A field that the answer leaves out proves nothing, and is not among them.
    """
    return tuple(
        name
        for name in sent.model_fields_set & answer.model_fields_set
        if (sent.sends_null or getattr(sent, name) is not None)
        and not is_same(getattr(sent, name), getattr(answer, name))
    )


def is_same(requested: object, reported: object) -> bool:
    """Whether two values of a field are equal; 0 and None are both "off"."""
    if isinstance(requested, bool) or isinstance(reported, bool):
        return requested is reported
    if isinstance(requested, int | float | None) and isinstance(reported, int | float | None):
        return math.isclose(requested or 0.0, reported or 0.0, rel_tol=_NEAR)
    if isinstance(requested, tuple) and isinstance(reported, tuple):
        # A watchlist: a service may sort it, and write addresses in its own case.
        return _folded(cast("_Row", requested)) == _folded(cast("_Row", reported))
    return requested == reported


def _folded(rows: _Row) -> frozenset[str]:
    return frozenset(str(row).casefold() for row in rows)
