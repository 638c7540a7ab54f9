"""What a command prints with `--json`: one object, with the name and the version of its form."""

import json
from collections.abc import Mapping

from service_tui.commands.forms import form_of


def json_text(form: str, facts: Mapping[str, object]) -> str:
    """An object whose `schema` names its form."""
    whole = {"schema": form_of(form), **facts}
    return json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False)
