"""The screens that are made from data."""

import importlib
from collections.abc import Iterator
from typing import Any

from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.shell.views import SCREENS


def made_from_data() -> Iterator[type[TableScreen[Any]]]:
    for module, kind in SCREENS.values():
        found = getattr(importlib.import_module(module), kind)
        if issubclass(found, TableScreen):
            yield found


MADE = list(made_from_data())
