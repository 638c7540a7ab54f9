"""What a command prints with `--json`: one object, with the name and the version of its form."""

import json
from collections.abc import Mapping


def json_text(form: str, facts: Mapping[str, object]) -> str:
    """An object whose `schema` names its form; a later version of it has another number."""
    whole = {"schema": f"service-tui/{form}/1", **facts}
    return json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False)
