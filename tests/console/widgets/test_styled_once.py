"""What opens is styled as it is mounted, with the classes of its size, and not again."""

from collections import Counter
from typing import Any

import pytest
from textual.app import App
from textual.css.stylesheet import Stylesheet
from textual.screen import Screen
from textual.widget import Widget

from kit.console.doors import Running, running, seen_before
from kit.samples.desk import sample_state
from service_tui.console.forms.trade_form import TradeForm
from service_tui.console.widgets.plain_input import PlainInput

STATE = seen_before(sample_state())


def styled(monkeypatch: pytest.MonkeyPatch) -> Counter[Widget]:
    """How often each widget is styled from now on."""
    done = Counter[Widget]()
    apply = Stylesheet.apply

    def counting(sheet: Any, node: Any, **named: Any) -> None:
        done[node] += 1
        apply(sheet, node, **named)

    monkeypatch.setattr(Stylesheet, "apply", counting)
    return done


def rules(part: Widget) -> list[dict[str, Any]]:
    """The rules of a widget and of all within."""
    return [dict(one.styles.base.get_rules()) for one in part.walk_children(Widget, with_self=True)]


async def opened(seen: Running, *keys: str) -> Screen[Any]:
    await seen.press(*keys)
    await seen.until(lambda: len(seen.app.screen_stack) > 1)
    return seen.app.screen


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_most_of_a_dialog_is_styled_once_as_it_opens_and_as_it_stays(
    monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    async with running(STATE, first="markets", size=size) as seen:
        done = styled(monkeypatch)
        dialog = await opened(seen, "b")
        assert isinstance(dialog, TradeForm)
        assert dialog.has_class("-tall") == (size[1] >= 26)
        parts = list(dialog.walk_children(Widget))
        # What has the focus, or is disabled, is styled by that.
        assert sorted(done[one] for one in parts)[len(parts) * 2 // 3] == 1
        before = rules(dialog)
        dialog.update_node_styles(animate=False)
        assert rules(dialog) == before


@pytest.mark.slow
@pytest.mark.parametrize("name", ["markets", "agents"])
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (160, 50)])
async def test_most_of_a_screen_is_styled_once_as_it_opens_and_as_it_stays(
    monkeypatch: pytest.MonkeyPatch, name: str, size: tuple[int, int]
) -> None:
    done = styled(monkeypatch)
    async with running(STATE, first=name, size=size) as seen:
        parts = list(seen.app.front.walk_children(Widget))
        assert sorted(done[one] for one in parts)[len(parts) // 2] == 1
        before = rules(seen.app.screen)
        seen.app.screen.update_node_styles(animate=False)
        assert rules(seen.app.screen) == before


async def test_a_line_of_text_is_not_styled_before_it_has_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done = styled(monkeypatch)
    app = App[None]()
    async with app.run_test():
        line = PlainInput("some text", compact=True)
        assert done[line] == 0
        await app.mount(line)
        assert done[line] > 0
        assert line.has_class("-textual-compact")
