"""Styles of a widget: made once a theme and ground, and anew where either has changed."""

from types import SimpleNamespace
from typing import Any

import pytest
from rich.style import Style
from textual.color import Color

from service_tui.console.widgets import paint as module
from service_tui.console.widgets.paint import Paint


def test_a_change_of_theme_or_ground_forgets_the_styles_of_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "variable_defaults", lambda _: {"profit": "#00ff00"})
    app = SimpleNamespace(theme_variables={"profit": "#00ff00"}, current_theme=None)
    widget: Any = SimpleNamespace(
        app=app, rich_style=Style(), background_colors=(None, Color(0, 0, 9))
    )
    paint = Paint(widget)
    monkeypatch.setattr(paint, "_app", lambda: app)

    assert paint.prepare()
    first = paint.style("profit")
    assert not paint.prepare()
    assert paint.style("profit") is first

    app.theme_variables = {"profit": "#00ee00"}
    assert paint.prepare()
    assert paint.style("profit").color != first.color

    widget.background_colors, widget.rich_style = (None, Color(9, 0, 0)), Style(color="red")
    assert paint.prepare()
    assert paint.ground.bgcolor == Color(9, 0, 0).rich_color
