"""One method of a class at a time, on a self that has what the test gives it and notes the rest.

    it = Self(state=STATE, front=Self(name_in_keys="agents"))
    called(ConsoleApp.action_privacy, it)
    assert it.did == [("give", SetPreference("privacy", "on"))]

No app runs: a test of what a key does in a whole console takes a hundred times as long.
"""

from types import SimpleNamespace
from typing import Any


class Self(SimpleNamespace):
    """Attributes as given; whatever else is called is noted in `did`, and gives nothing back."""

    def __init__(self, **given: Any) -> None:
        super().__init__(did=[], **given)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def note(*given: Any, **more: Any) -> None:
            self.did.append((name, *given, *([more] if more else [])))

        return note

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


def called(method: Any, it: Any, *given: Any, **more: Any) -> Any:
    """Call a method, or read a property, with this self."""
    function = method.fget if isinstance(method, property) else method
    return function(it, *given, **more)
