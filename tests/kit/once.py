"""What is dear to make and the same for every test is made once a process."""

import sys
from functools import cache
from typing import Any

NOT_THERE: Any = None
_parsed: dict[tuple[object, ...], Any] = {}
_patched: set[str] = set()


def patch() -> None:
    """Keep style sheets that Textual parsed and certificates that httpx loaded, where used."""
    # httpx asks with each request whether trio is there, and looks through every folder for it.
    sys.modules.setdefault("sniffio", NOT_THERE)
    for name, keep in (
        ("textual.css.stylesheet", _keep_style_sheets),
        ("httpx._transports.default", _keep_certificates),
    ):
        module = sys.modules.get(name)
        if module is not None and name not in _patched:
            _patched.add(name)
            keep(module)


def _keep_style_sheets(module: Any) -> None:
    sheet = module.Stylesheet
    parse = sheet._parse_rules

    def parse_once(self: Any, *args: Any, **named: Any) -> Any:
        key = (tuple(self._variables.items()), args, tuple(named.items()))
        if key not in _parsed:
            _parsed[key] = parse(self, *args, **named)
        return _parsed[key]

    sheet._parse_rules = parse_once


def _keep_certificates(module: Any) -> None:
    module.create_ssl_context = cache(module.create_ssl_context)
