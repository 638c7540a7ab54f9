"""The plan of an agent: what a digit chooses, and what closing keeps."""

import pytest

from service_tui.console.forms.choose_plan import PLANS, ChoosePlan
from service_tui.terms import Plan


def test_a_digit_chooses_the_plan_at_its_place_and_closing_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dialog, results = ChoosePlan("ebb", Plan.PRO), list[Plan | None]()
    monkeypatch.setattr(dialog, "dismiss", results.append)
    actions = [binding.action for binding in dialog.BINDINGS if binding.key in {"1", "2", "3"}]
    assert actions == [f"take({place})" for place in range(len(PLANS))]
    for place in range(len(PLANS)):
        dialog.action_take(place)
    dialog.action_close()
    assert results == [Plan.FREE, Plan.PRO, Plan.ELITE, None]
