"""The heartbeat's content in both shapes a service may send."""

from pathlib import Path

import pytest

from kit.desk.faults import at_work, said, until
from service_tui.client.reply import decode
from service_tui.desk.briefing.translate import briefing_view
from service_tui.desk.slices.briefing import BriefingView, VenueBriefing
from service_tui.desk.slices.topics import Topic
from service_tui.wire.briefing import BriefingBody
from service_tui.wire.endpoints.public import BRIEFING

AT = "2027-01-15T08:00:00Z"
ATTENTION = {
    "market_id": "m", "question": "?", "side": "yes", "shares": 1.0, "current_price": 0.5,
    "pnl": -1.0, "move_pct": -0.2,
}  # fmt: skip


def view_of(text: str) -> BriefingView:
    return briefing_view(decode(BriefingBody, text.encode())[0])


def test_both_shapes_of_a_heartbeat_say_the_same() -> None:
    block = '{"currency": "USDC", "actions": ["redeem m"], "redeemable_count": 2}'
    whole = VenueBriefing("evm_venue", ("redeem m",), 2)
    ways = (
        f'{{"venues": {{"evm_venue": {block}}}, "checked_at": "{AT}"}}',
        f'{{"venues": {{"polymarket": {block}, "sim": null}}, "checked_at": "{AT}"}}',
        f'{{"venues": {{}}, "evm_venue": {block}, "checked_at": "{AT}"}}',
        f'{{"venues": {{"evm_venue": {block}}}, "evm_venue": {block}, "checked_at": "{AT}"}}',
    )
    for text in ways:
        assert view_of(text).venues == (whole,)
        assert view_of(text).redeemable_count == 2


def test_an_alert_is_told_whichever_way_it_is_said() -> None:
    parts = '{"market_id": "m", "side": "yes", "shares": 5, "exit_reason": "stop loss"}'
    text = (
        f'{{"venues": {{"sim": null}}, "checked_at": "{AT}", "risk_alerts": ["sell m", {parts}],'
        f'"triggered_risk_alerts": [{parts}, {{"message": "gone"}}], "risk_warnings": ["thin"],'
        '"actions": ["look", "look", ""]}'
    )
    view = view_of(text)
    assert view.alerts == ("sell m", "stop loss: YES of m", "gone")
    assert (view.warnings, view.actions, view.venues) == (("thin",), ("look",), ())
    nulls = f'{{"venues": {{}}, "checked_at": "{AT}", "risk_alerts": null, "actions": null}}'
    assert view_of(nulls).alerts == ()


def test_the_name_of_a_venue_is_harmless() -> None:
    name = "\\u001b]0;x\\u0007a\\u202eb"
    text = f'{{"venues": {{"{name}": {{"actions": ["x"]}}}}, "checked_at": "{AT}"}}'
    assert view_of(text).venues == (VenueBriefing("ab", ("x",)),)


@pytest.mark.slow
async def test_the_heartbeat_is_kept_with_its_age(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        await until(desk, lambda s: s.briefing, stage)
        sim = {"currency": "$SIM", "positions_needing_attention": [ATTENTION, {"side": 5}]}
        told = {"venues": {"sim": sim}, "checked_at": AT, "risk_warnings": ["one market is all"]}
        line.fault = lambda request: said(told) if request.url.path == BRIEFING.path else None
        state = await until(desk, lambda s: s.briefing and s.briefing.warnings, stage)
        assert state.briefing is not None
        assert state.briefing.warnings == ("one market is all",)
        assert state.briefing.venues == (VenueBriefing("sim", attention_count=1),)
        assert state.service.dropped[Topic.BRIEFING] == 1
        seen = state.seen[Topic.BRIEFING]
        line.fault = lambda request: (
            said({"error": "no"}, 500) if request.url.path == BRIEFING.path else None
        )
        await stage.clock.advance(40)
        assert desk.state.briefing == state.briefing
        assert desk.state.seen[Topic.BRIEFING] == seen
