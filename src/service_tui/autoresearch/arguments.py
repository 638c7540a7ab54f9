"""Validates the arguments of a tool; errors name each problem and the known parameters."""

import json
from collections.abc import Mapping
from typing import TypeVar

from pydantic import ValidationError

from service_tui.autoresearch.errors import ToolError
from service_tui.wire.base import WireModel

Given = TypeVar("Given", bound=WireModel)


def arguments(kind: type[Given], given: Mapping[str, object]) -> Given:
    """The arguments of a tool as its type.

    Returns:
        The validated arguments.

    Raises:
        ToolError: one is missing, unknown, of another type or out of range; the text names it.
    """
    try:
        return kind.model_validate_json(json.dumps(given))
    except ValidationError as error:
        rows = error.errors(include_input=False, include_url=False)
        named = [(".".join(str(part) for part in row["loc"]) or "arguments", row) for row in rows]
        problems = "; ".join(f"{name}: {row['msg']}" for name, row in named[:8])
        known = ", ".join(kind.model_fields)
        raise ToolError(problems, f"the parameters are {known}") from error
    except ValueError as error:
        raise ToolError(f"the arguments are no JSON ({error})") from error
