"""A screen has all its parts from the start: what is known later fills them, and adds none."""

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from textual.compose import compose

from kit.console.textual_private import active_app, children_to_come
from kit.samples.desk import NOW
from kit.samples.filled import filled
from kit.samples.whole import whole_desk
from service_tui.console.shell.views import SCREENS
from service_tui.desk.slices.world import AbsenceView
from service_tui.desk.state import DeskState

DESK = whole_desk()
assert DESK.world is not None
WHOLE = replace(DESK, world=replace(DESK.world, meanwhile=filled(AbsenceView, 3)))
BARE = DeskState(service=DESK.service)


@pytest.fixture(autouse=True)
def app() -> Iterator[None]:
    """What widgets that hold others ask an app for while they are composed."""
    stub: Any = SimpleNamespace(
        _compose_stacks=[], _composed=[], update_styles=lambda *_, **__: None
    )
    before = active_app.set(stub)
    yield
    active_app.reset(before)


def parts(widget: Any) -> tuple[str, str | None, list[Any]]:
    return type(widget).__name__, widget.id, [parts(one) for one in children_to_come(widget)]


@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_has_the_same_parts_whatever_is_known_when_it_opens(name: str) -> None:
    module, kind = SCREENS[name]
    screen = getattr(import_module(module), kind)
    bare, whole = ([parts(one) for one in compose(screen(state, NOW))] for state in (BARE, WHOLE))
    assert bare == whole
    assert bare
