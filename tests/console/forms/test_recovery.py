"""What a desk that cannot be opened offers instead."""

import pytest

from kit.console.opened import opened
from service_tui.console.closed_desk import RecoveryOption
from service_tui.console.forms.recovery import OPTIONS_MAX, RecoveryDialog
from service_tui.console.widgets.dialog import ARMED_AFTER_S, EARLY

pytestmark = pytest.mark.slow

OPTIONS = tuple(
    RecoveryOption(f"way {place}", f"details {place}", lambda: None) for place in range(1, 12)
)


async def test_a_digit_or_a_click_takes_the_option_at_its_place_once_it_was_seen() -> None:
    for place in (0, 2):
        for take in ("digit", "click"):
            async with opened(RecoveryDialog("No desk.", OPTIONS[:3])) as t:
                await t.pilot.pause(2 * ARMED_AFTER_S)
                t.dialog.is_armed = False
                await t.press(f"{place + 1}")
                assert (t.returned, t.app.said) == ([], [EARLY])
                t.dialog.arm_soon()
                await t.pilot.pause(2 * ARMED_AFTER_S)
                # A digit without an option does nothing.
                await t.press("4", "enter")
                assert (t.returned, t.app.said) == ([], [EARLY])
                await (t.press(f"{place + 1}") if take == "digit" else t.click(f"way-{place + 1}"))
                assert t.returned == [OPTIONS[place]]


async def test_every_option_is_told_with_its_digit_and_leaving_takes_none() -> None:
    async with opened(RecoveryDialog("No desk.", OPTIONS), size=(120, 40)) as t:
        assert t.told("confirm-body").split("\n\n") == [
            "No desk.",
            *(f"{place} way {place}\ndetails {place}" for place in range(1, OPTIONS_MAX + 1)),
        ]
        await t.pilot.resize_terminal(120, 16)
        await t.pilot.pause()
        # The buttons keep their room, however long the text.
        assert t.dialog.region.contains_region(t.dialog.query_one("#way-1").region)
        await t.press("escape")
        assert t.returned == [None]
