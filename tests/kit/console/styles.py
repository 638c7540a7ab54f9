"""Styles are parsed once a process: two fifths of what the start of a console in a test did.

Textual parses every style anew for each app. Rules are only read once they are made.
"""

import sys
from typing import Any

_parsed: dict[object, Any] = {}


def patch() -> None:
    """Have all apps of this process share what was parsed of the same text and colours."""
    module = sys.modules.get("textual.css.stylesheet")
    if module is None or _parsed:
        return
    parse = module.Stylesheet._parse_rules

    def parsed(self: Any, css: str, read_from: object, *given: object, **named: object) -> Any:
        colours = tuple(self._variables.items())
        key = (css, read_from, given, tuple(named.items()), colours)
        if key not in _parsed:
            _parsed[key] = parse(self, css, read_from, *given, **named)
        return _parsed[key]

    _parsed[None] = None
    module.Stylesheet._parse_rules = parsed
