"""What is dear to make and the same for every test is made once a process."""

import sys
from functools import cache, lru_cache
from typing import Any, Final

NOT_THERE: Any = None

BRIDGE_MAX: Final = 50_000
"""Points of the worlds' bridges that are kept: a world in which a test begins has two thousand."""

PAST_MAX: Final = 5_000
"""Markets whose first prices are kept, and refreshes of books."""

_parsed: dict[tuple[object, ...], Any] = {}
_patched: set[str] = set()


def patch() -> None:
    """Keep parsed style sheets, loaded certificates, paths of routes and what worlds drew.

    Each where it is used. Most tests begin in the world of one seed, at one moment.
    """
    # httpx and schemathesis ask with each request whether these are there, and look through every
    # folder for them.
    for name in ("sniffio", "flask"):
        sys.modules.setdefault(name, NOT_THERE)
    for name, keep in (
        ("textual.css.stylesheet", _keep_style_sheets),
        ("textual.css.model", _hash_rules_quickly),
        ("httpx._transports.default", _keep_certificates),
        ("service_tui.engine.tape.belief", _keep_bridges),
        ("starlette.routing", _keep_paths),
        ("service_tui.engine.world", _keep_first_prices),
        ("service_tui.engine.books.book", _keep_quotes),
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


def _hash_rules_quickly(module: Any) -> None:
    # By identity as before, but not by a function in Python: each node asks for every rule.
    module.RuleSet.__hash__ = object.__hash__


def _keep_bridges(module: Any) -> None:
    module._bridge = lru_cache(maxsize=BRIDGE_MAX)(module._bridge)


def _keep_paths(module: Any) -> None:
    module.compile_path = cache(module.compile_path)


def _keep_first_prices(module: Any) -> None:
    module.first_beliefs = lru_cache(maxsize=PAST_MAX)(module.first_beliefs)


def _keep_quotes(module: Any) -> None:
    module.background = lru_cache(maxsize=PAST_MAX)(module.background)


def _keep_certificates(module: Any) -> None:
    module.create_ssl_context = cache(module.create_ssl_context)
