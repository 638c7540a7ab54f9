"""What commands print with `--json`: the name and the version of each form, and objects of one."""

import json
from collections.abc import Mapping

VERSIONS: Mapping[str, int] = {}
"""Versions of forms above the first; see `form_of`."""


def form_of(name: str) -> str:
    """The name and version of a form.

    Within a version fields are only added. Another meaning, type or absence of one is the next
    version, which stands in VERSIONS.
    """
    return f"service-tui/{name}/{VERSIONS.get(name, 1)}"


def json_text(form: str, facts: Mapping[str, object]) -> str:
    """An object whose `schema` names its form."""
    whole = {"schema": form_of(form), **facts}
    return json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False)
