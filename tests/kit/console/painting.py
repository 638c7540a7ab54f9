"""A console without a terminal is painted when a test looks at it, not at each frame before.

Nobody sees those frames: Textual throws them away where there is no terminal. What a frame takes
together stays marked as dirty, and is painted in one go when a test waits for the console to rest,
and when the console ends: a fault of a widget's painting still fails the test. Between two keys
typed at once nothing is painted. Pictures are made by Textual itself, whole. The storms paint each
frame, as a terminal does.
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

_owed: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
_state: dict[str, Any] = {"each": False, "paint": None}


@contextmanager
def each_frame() -> Generator[None]:
    """Paint as with a terminal."""
    _state["each"] = True
    try:
        yield
    finally:
        _state["each"] = False


def at_rest() -> None:
    """Paint what the screens in sight owe."""
    while _owed:
        compositor, stack = _owed.popitem()
        if compositor.root is not None and compositor.root.is_current:
            _state["paint"](compositor, screen_stack=stack)


def patch() -> None:
    """Paint so from now on, where Textual is used at all."""
    module = sys.modules.get("textual._compositor")
    if module is None or _state["paint"] is not None:
        return
    _state["paint"] = really = module.Compositor.render_update

    def render_update(self: Any, **named: Any) -> Any:
        if named.get("full") or _state["each"]:
            return really(self, **named)
        _owed[self] = named["screen_stack"]
        return None

    module.Compositor.render_update = render_update
    app: Any = sys.modules["textual.app"].App
    close = app._shutdown

    async def shut_down(self: Any) -> None:
        at_rest()
        await close(self)

    app._shutdown = shut_down
