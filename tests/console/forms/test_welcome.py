"""The welcome page says in which world its agents trade."""

import pytest

from service_tui.console.forms.welcome import Welcome


@pytest.mark.parametrize("has_demo", [False, True])
@pytest.mark.parametrize(
    ("is_recorded", "world"),
    [
        (False, "an invented world on this machine"),
        (True, "a history of real questions on this"),
        # Before the world has told what it runs on, nothing is said of it.
        (None, " a world on this machine"),
    ],
)
def test_it_names_the_world(world: str, *, has_demo: bool, is_recorded: bool | None) -> None:
    page = Welcome(is_embedded=True, has_demo=has_demo, is_recorded=is_recorded)
    assert world in page.text().plain
